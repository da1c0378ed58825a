//! KRN-06: what looks like an element or a variable and is none.
use folio::prelude::*;

#[kernel]
fn counts(i: Item, x: In<u32>, n: Atomic<u32>, y: Out<u32>) {
    n[x[i]] += 1;
    y[i] = n[i];
    n[0] = 1;
}

#[kernel]
fn sums(i: Item, x: In<u32>, total: Reduce<u32, Add>) {
    total += x[i];
    total = 5;
}

#[kernel(group = 64)]
fn counts_of_groups(g: Group, x: In<u32>, n: LocalAtomic<u32, 16>, y: OutGroup<u32>) {
    g.each(|i| n[x[i]] += 1);
    y[g] = n[0];
}

#[kernel]
fn rows(i: Item<2>, x: In<f32, 2>, cube: In<f32, 3>, y: Out<f32, 2>) {
    let (row, column) = i.pos();
    y[row][column] = x[row][column];
    y[i] = cube[row][column];
}

#[kernel]
fn whole_rows(i: Item, x: In<[f32; 2], 2>, y: OutRow<f32>) {
    y[i][0] = x[(0, 0)][1];
}

fn main() {}
