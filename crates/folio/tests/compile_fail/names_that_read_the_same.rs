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

fn main() {}
