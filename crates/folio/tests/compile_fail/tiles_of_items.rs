//! A tile is the whole group's: not an item's, and not an element's.

use folio::prelude::*;

#[kernel]
fn of_items(i: Item, y: Out<f32>) {
    let sum = Tile::<f32, 16, 16>::zero();
    y[i] = 1.0;
}

#[kernel(group = [8, 8])]
fn in_a_branch_of_items(g: Group<2>, x: In<f32, 2>, c: OutTile<f32, 16, 16>) {
    let mut sum = Tile::<f32, 16, 16>::zero();
    let other = x.tile::<16, 16>((0, 0));
    g.each(|i| {
        if i.local_index() < 8 {
            sum.add_product(&other, &x.tile::<16, 16>((0, 0)));
        }
    });
    let all = sum.map(|x| x + sum);
    c.put(g, all.transpose());
}

#[kernel(group = [8, 8])]
fn without_a_combination(g: Group<2>, x: In<f32, 2>, counts: Atomic<u32>, c: OutTile<f32, 16, 1>) {
    let tile = x.tile::<16, 16>((0, 0)).map(|x| {
        counts.add(0, 1);
        x
    });
    c.put(g, tile.reduce_rows());
}

#[kernel(group = [8, 8])]
fn of_no_corners(g: Group<2>, x: In<f32, 2>, c: OutTile<f32, 16, 16>) {
    let mut sum = Tile::<f32, 16, 16>::zero();
    let corner = x.corner((0, 0));
    sum.add_relaxed_product(&x.tile::<16, 16>((0, 0)), x.corner((0, 0)), 16);
    sum.add_relaxed_product(x.corner((0, 0)), x.corner((0, 0)));
    c.put(g, sum);
}

fn main() {}
