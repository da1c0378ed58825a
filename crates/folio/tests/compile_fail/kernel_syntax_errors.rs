//! KRN-06: what is no Rust is told where it stands, and uses of the kernel are not told of.
use folio::prelude::*;

#[kernel]
fn operand(i: Item, y: Out<f32>) {
    let a = 1.0 + ;
    y[i] = a;
}

#[device_fn]
pub(crate) fn comma(a: f32 b: f32) -> f32 {
    a + b
}

struct Pair {
    a: f32,
}

#[device_fn]
impl Pair {
    fn brackets(self) -> f32 {
        self.a +
    }
}

#[kernel]
struct Nothing;

fn main() {
    let _ = (operand, comma);
}
