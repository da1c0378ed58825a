//! KRN-03: a kernel runs the function that its description has. What hides the macro's own items by
//! their names has no form of another function: unsafe code alone makes one.
#![forbid(unsafe_code)]
#![allow(non_camel_case_types, reason = "names of functions")]
use folio::ir::device::{Form, Method, Mode};
use folio::prelude::*;

#[device_fn]
fn own(i: Item, x: In<u32>) -> u32 {
    x[i]
}

fn next(i: Item, x: folio::ir::device::View<'_, In<u32>, u32, 1>) -> u32 {
    folio::ir::device::at(&x, i.index() + 1)
}

type Reads = fn(Item<'_>, folio::ir::device::View<'_, In<u32>, u32, 1>) -> u32;

/// In place of a free function: made, and bare.
struct forge;
impl forge {
    fn __at<M: Mode>() -> Form<own, M, Reads> {
        Form::new(next)
    }
}

struct bare;
impl bare {
    fn __at<M: Mode>() -> Reads {
        next
    }
}

/// In place of a function of a mode: the honest one, of another mode.
struct probed;
impl probed {
    fn __at<M: Mode>() -> Form<own, folio::ir::device::Probe, Reads> {
        own::__at()
    }
}

#[kernel]
fn by_another_mode(i: Item, x: In<u32>, y: Out<u32>) {
    y[i] = probed(i, x);
}

#[kernel]
fn by_a_forge(i: Item, x: In<u32>, y: Out<u32>) {
    y[i] = forge(i, x);
}

#[kernel]
fn by_a_bare_function(i: Item, x: In<u32>, y: Out<u32>) {
    y[i] = bare(i, x);
}

/// In place of an associated function.
struct Owner;
impl Owner {
    fn device_fn_read<M: Mode>() -> Form<own, M, Reads> {
        Form::new(next)
    }
}

#[kernel]
fn by_an_owner(i: Item, x: In<u32>, y: Out<u32>) {
    y[i] = Owner::read(i, x);
}

/// In place of a method: the form of another type's, of another value.
#[derive(Clone, Copy, DeviceType)]
#[repr(C)]
struct Place {
    at: u32,
}

#[device_fn]
impl Place {
    fn here(self) -> u32 {
        self.at
    }
}

#[derive(Clone, Copy, DeviceType)]
#[repr(C)]
struct Beside {
    at: u32,
}

impl Beside {
    fn device_method_here<M: Mode>(self) -> Form<own, M, impl Method<Self, Bound = impl Fn() -> u32>> {
        Form::new(|_: Self| || 1)
    }
}

#[kernel]
fn by_a_method(i: Item, x: In<u32>, y: Out<u32>) {
    let beside = Beside { at: i.index() as u32 };
    y[i] = x[beside.here()];
}

/// The honest form of a method, for another type.
#[derive(Clone, Copy, DeviceType)]
#[repr(C)]
struct Another {
    at: u32,
}

impl Another {
    fn device_method_here<M: Mode>(self) -> impl Into<Self> {
        let _ = Place { at: self.at + 1 }.device_method_here::<M>();
        self
    }
}

#[kernel]
fn by_another_value(i: Item, x: In<u32>, y: Out<u32>) {
    let another = Another { at: i.index() as u32 };
    y[i] = x[another.here()];
}

/// In place of what no type of the host has.
impl folio::ir::device::host::DeviceMethod for Owner {
    type Function = Reads;
    fn function() -> Reads {
        next
    }
}

fn main() {}
