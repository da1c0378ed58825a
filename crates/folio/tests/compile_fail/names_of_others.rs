//! KRN-06: Folio and the language say what a kernel's names mean, not the user's own items.
use folio::prelude::*;

const D: usize = 2;

/// What one dimension has not.
trait Place {
    fn pos(self) -> (usize,);
}
impl Place for Item<'_> {
    fn pos(self) -> (usize,) {
        (1 << 40,)
    }
}

#[kernel]
fn by_a_trait(i: Item, x: In<f32>, y: Out<f32>) {
    let j = i;
    y[i] = x[j.pos().0];
}

/// What two dimensions have not.
trait Length {
    fn len(&self) -> usize;
}
impl<T> Length for T {
    fn len(&self) -> usize {
        1 << 40
    }
}

#[kernel]
fn by_a_trait_of_all(i: Item<2>, x: In<f32>, z: In<f32, 2>, y: Out<f32, 2>) {
    let all = z;
    y[i] = x[all.len()];
}

/// What only integers have.
trait Ones: Number {
    fn count_ones(self) -> u32;
}
impl Ones for u32 {
    fn count_ones(self) -> u32 {
        77
    }
}

#[kernel]
fn by_a_bound<T: Ones>(i: Item, x: In<T>, y: Out<u32>) {
    y[i] = x[i].count_ones();
}

mod plane {
    use folio::prelude::{InOut, kernel};
    type Item<'i> = folio::Item<'i, 2>;

    #[kernel]
    fn by_an_alias(i: Item, y: InOut<f32>) {
        y[i] = 1.0;
    }
}

#[kernel]
fn by_a_constant(i: Item<D>, y: InOut<f32, D>) {
    y[i] = 1.0;
}

#[kernel]
fn left_out(i: Item, y: InOut<f32>) {
    #[cfg(any())]
    return;
    y[i] = 1.0;
}

fn main() {}
