//! KRN-02: what items of one group could race for is refused by types, where it is written.
use folio::prelude::*;

#[kernel]
fn neighbours_slot(g: Group, tile: Local<i32, 64>, y: Out<i32>) {
    g.each(|i| tile[i.local_index() + 1] = 1);
    g.each(|i| y[i] = tile[i]);
}

#[kernel]
fn reads_what_others_write(g: Group, tile: Local<i32, 64>, y: Out<i32>) {
    g.each(|i| tile[i] = tile[i.local_index() + 1]);
    g.each(|i| y[i] = tile[i]);
}

#[kernel]
fn fills_from_itself(g: Group, tile: Local<i32, 64>, y: Out<i32>) {
    tile.fill(|k| tile[k + 1]);
    g.each(|i| y[i] = tile[i]);
}

#[kernel]
fn writes_uniform_variables(g: Group, y: Out<u32>) {
    let mut last = 0;
    g.each(|i| last = i.local_index());
    g.each(|i| y[i] = last as u32);
}

#[kernel]
fn writes_uniform_arrays(g: Group, y: Out<u32>) {
    let mut all = [0; 4];
    g.each(|i| all[i.local_index()] = 1);
    g.each(|i| y[i] = all[0]);
}

#[kernel]
fn private_of_another(g: Group, y: Out<i32>) {
    let mine = g.private(0);
    g.each(|i| y[i] = mine[i.local_index() + 1]);
}

#[kernel]
fn uniform_code_writes(g: Group, tile: Local<i32, 64>, y: Out<i32>) {
    tile[0] = 1;
    g.each(|i| y[i] = tile[i]);
}

#[kernel]
fn local_by_another_name(g: Group, x: In<u32>, tile: Local<u32, 8>, y: Out<u32>) {
    let other = tile;
    g.each(|i| {
        tile[i] = x[i];
        y[i] = other[i.local_index() ^ 7];
    });
}

#[kernel]
fn local_of_a_block(g: Group, x: In<u32>, tile: Local<u32, 8>, y: Out<u32>) {
    let (other, _) = ({ tile }, 3);
    g.each(|i| {
        tile[i] = x[i];
        y[i] = other[i.local_index() ^ 7];
    });
}

#[kernel]
fn private_by_another_name(g: Group, y: Out<i32>) {
    let mine = g.private(0);
    let other = mine;
    g.each(|i| {
        mine[i] = 1;
        y[i] = other[i.local_index() ^ 1];
    });
}

#[kernel]
fn neighbours_row(i: Item, y: OutRow<i32>) {
    for c in 0..y.shape()[1] {
        y[(i.index() + 1, c)] = 0;
    }
}

#[kernel]
fn atomic_and_not(i: Item, n: Atomic<u32>, y: Out<u32>) {
    n.add(0, 1);
    y[i] = n[0];
}

#[kernel]
fn atomic_bytes(i: Item, n: Atomic<f32>) {
    n.max(i, 1.0);
}

#[kernel]
fn anyone(i: Item, y: Racy<i32>) {
    y[0] = i.index() as i32;
}

fn main() -> folio::Result<()> {
    let rt = folio::runtime()?;
    let mut y = rt.buffer::<i32, 1>(8)?;
    rt.queue()?.run(8, anyone(&mut y))?;
    Ok(())
}
