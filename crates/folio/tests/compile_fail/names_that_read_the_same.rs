//! Names of which Rust and the description might take different ones. KRN-02
#![allow(non_upper_case_globals, reason = "a constant that reads like a parameter")]

use folio::prelude::*;

/// In Rust the constant, in the description the parameter.
#[device_fn]
fn hides_a_parameter(n: usize) -> usize {
    const n: usize = 1;
    n
}

const WIDTH: usize = 4;

/// Chunks of four to the launch, and of one element to the description.
#[kernel]
fn hides_a_length(i: Item, y: OutChunk<u32, WIDTH>) {
    const WIDTH: usize = 1;
    y[i][0] = 7;
}

#[device_fn]
fn hides_a_parameter_of_its_type<const N: usize>(x: [u32; N]) -> u32 {
    const r#N: usize = 100;
    x[99]
}

/// In Rust a function of the host, in the description the closure: called, and passed on.
macro_rules! calls {
    ($name:ident, $f:ident) => {
        #[kernel]
        fn $name(i: Item, x: In<u32>, y: Out<u32>) {
            let f = |at: usize| at;
            y[i] = x[$f(i.index())];
        }
    };
}

macro_rules! passes {
    ($name:ident, $f:ident) => {
        #[kernel]
        fn $name(i: Item, x: In<u32>, y: Out<u32>) {
            let f = |at: usize| at;
            y[i] = x[applied($f, i.index())];
        }
    };
}

fn f(at: usize) -> usize {
    at + 1
}

#[device_fn]
fn applied(f: impl Fn(usize) -> usize, at: usize) -> usize {
    f(at)
}

calls!(calls_a_function, f);
passes!(passes_a_function, f);

fn main() {}
