//! KRN-03: what says what a type is in a kernel's description, or computes what the description
//! says, is implemented by unsafe code alone: indices are proved, and kernels fused on the host, by
//! what the description says.
#![forbid(unsafe_code)]
use folio::ir::device::ops::{Equal, Float, Functions, Int, Negated, Number, Plus};
use folio::ir::device::{
    At, Called, CastFrom, Change, Elements, BodyResult, Mode, Put, PutField, PutSlot, Slots,
    Slotted, Spot, Variants,
};
use folio::ir::source::Entry;
use folio::prelude::{DeviceType, In, InOut};

/// An index that is `usize` in the description, and the next one in Rust.
#[derive(Clone, Copy)]
struct Next(usize);
impl Slotted for Next {
    fn entry() -> Entry {
        <usize as Slotted>::entry()
    }
}
impl Equal for Next {
    fn equals(self, _: Next) -> bool {
        true
    }
}
impl CastFrom<usize> for Next {
    fn cast_from(at: usize) -> Next {
        Next(at + 1)
    }
}
type View<'m, P> = folio::ir::device::View<'m, P, f32, 1>;
impl At<Next> for View<'_, In<f32>> {
    fn at(&self, at: Next) -> f32 {
        folio::ir::device::at(self, at.0)
    }
}
impl Put<Next> for View<'_, InOut<f32>> {
    fn put(&mut self, _: Next, _: f32) {}
}
impl Change<Next> for View<'_, InOut<f32>> {}
impl Spot<1> for Next {
    fn spot(self) -> [usize; 1] {
        [self.0]
    }
}
impl Elements for Next {
    type Element = f32;
}
impl Slots for Next {
    type Slot = f32;
}
impl PutSlot<usize> for Next {
    fn put_slot(&mut self, _: usize, _: usize, _: f32) {}
}
impl PutField<usize> for Next {
    fn place(&self, _: usize) -> Option<*mut f32> {
        None
    }
    fn place_proved(&self, _: usize) -> *mut f32 {
        std::ptr::null_mut()
    }
}
impl BodyResult for Next {
    fn nothing() -> Next {
        Next(1)
    }
}

/// A function that is another one in the description.
struct Other;
impl Called for Other {
    fn called() -> Entry {
        Entry::Unit
    }
}

/// A mode in which nothing is checked.
#[derive(Clone, Copy)]
struct Unchecked;
impl Mode for Unchecked {
    const PROVED: bool = true;
}

/// A number with other operators.
#[derive(Clone, Copy, PartialEq, PartialOrd, DeviceType)]
#[repr(C)]
struct Odd {
    bits: u32,
}
impl Plus for Odd {
    fn plus<M: Mode>(self, _: Odd) -> Odd {
        self
    }
}
impl Negated for Odd {
    fn negated<M: Mode>(self) -> Odd {
        self
    }
}
impl Variants for Odd {
    fn number(_: &str) -> Entry {
        Entry::Unit
    }
    fn field(_: &str, _: &str) -> Entry {
        Entry::Unit
    }
}
impl Number for Odd {}
impl Int for Odd {}
impl Functions for Odd {}
impl Float for Odd {}

fn main() {}
