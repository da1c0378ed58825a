//! The shapes of tiles are types.

use folio::prelude::*;

#[kernel(group = [8, 8])]
fn shapes(g: Group<2>, x: In<f32, 2>, n: In<i32, 2>, c: OutTile<f32, 16, 16>) {
    let mut sum = Tile::<f32, 16, 16>::zero();
    sum.add_product(&x.tile::<16, 24>((0, 0)), &x.tile::<16, 16>((0, 0)));
    sum.add_product(&n.tile::<16, 16>((0, 0)), &n.tile::<16, 16>((0, 0)));
    c.put(g, x.tile::<16, 32>((0, 0)));
}

fn main() {}
