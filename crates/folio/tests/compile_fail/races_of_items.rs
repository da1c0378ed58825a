//! KRN-02: an item of a kernel function writes its own element, whatever it tries.
use folio::prelude::*;

static KEPT: std::sync::Mutex<Option<Item>> = std::sync::Mutex::new(None);

#[kernel]
fn neighbour(i: Item, y: Out<i32>) {
    y[i + 1] = 1;
}

#[kernel]
fn two_items_one_slot(i: Item, y: Out<i32>) {
    y[i.index() / 2] = 1;
}

#[kernel]
fn everyone_the_first(i: Item, y: InOut<i32>) {
    y[0] += 1;
}

#[kernel]
fn reads_what_a_neighbour_writes(i: Item, y: InOut<i32>) {
    y[i] = y[i + 1];
}

#[kernel]
fn reads_what_it_only_writes(i: Item, y: Out<i32>) {
    y[i] = y[i] + 1;
}

#[kernel]
fn neighbours_chunk(i: Item, y: OutChunk<i32, 4>) {
    y[i + 1][0] = 1;
}

#[kernel]
fn first_chunk(i: Item, y: OutChunk<i32, 4>) {
    y[0][i.index()] = 1;
}

#[kernel]
fn items_of_two_dimensions(i: Item<2>, y: Out<i32>) {
    y[i] = 1;
}

#[kernel]
fn items_of_one_dimension(i: Item, y: Out<i32, 2>) {
    y[i] = 1;
}

#[kernel]
fn another_items_row(i: Item, y: InOutRow<i32>) {
    y[(i, 0)] = y[(0, 0)];
}

#[kernel]
fn keeps_an_item(i: Item, y: Out<i32>) {
    KEPT = i;
    y[i] = 1;
}

#[kernel]
fn keeps_an_item_for_the_next_phase(g: Group, y: Out<i32>) {
    let mut kept;
    g.once(|i| kept = i);
    g.each(|i| y[kept] = 1);
}

#[kernel]
fn every_item_as_the_group(g: Group, sums: InOutGroup<i32>) {
    g.each(|i| sums[g] = sums[g] + 1);
}

#[device_fn]
fn writes_at(k: usize, y: Out<i32>) {
    y[k] = 1;
}

#[kernel]
fn by_a_function(i: Item, y: Out<i32>) {
    writes_at(0, y);
}

fn main() -> folio::Result<()> {
    let rt = folio::runtime()?;
    let mut y = rt.buffer::<i32, 1>(8)?;
    let q = rt.queue()?;
    q.run([2, 4], neighbour(&mut y))?;
    let made = Item::<1> { index: [3] };
    Ok(())
}
