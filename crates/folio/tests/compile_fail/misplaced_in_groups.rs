//! KRN-02, KRN-06: what would make barriers diverge, or mixes up who does something, is refused.
use folio::prelude::*;

#[kernel]
fn phase_in_a_phase(g: Group, y: Out<f32>) {
    g.each(|i| {
        let sum = g.reduce::<Add>(|j| 1.0);
        y[i] = sum;
    });
}

#[kernel]
fn group_element_by_items(g: Group, y: OutGroup<i32>) {
    g.each(|i| y[g] = 1);
}

#[kernel]
fn atomics_of_the_group(g: Group, n: Atomic<u32>, total: Reduce<u32, Add>) {
    n.add(0, 1);
    total.give(1);
}

#[kernel]
fn leaves_without_a_value(g: Group, x: In<f32>, y: OutGroup<f32>) {
    y[g] = g.reduce::<Max>(|i| {
        if x[i] < 0.0 {
            return 0.0;
        }
        assert!(x[i] < 9.0);
        x[i]
    });
}

#[kernel]
fn combines_with_nothing(g: Group, y: OutGroup<i32>) {
    y[g] = g.reduce(|i| 1);
}

#[kernel]
fn keeps_without_a_name(g: Group, y: Out<i32>) {
    g.each(|i| y[i] = 1);
    g.private(2);
}

#[kernel]
fn no_closure(g: Group, y: Out<i32>) {
    g.each(y);
}

#[kernel]
fn local_memory_of_items(i: Item, tile: Local<i32, 4>, y: Out<i32>) {
    y[i] = tile[0];
}

#[kernel(group = [8, 8])]
fn another_rank(g: Group, y: Out<i32>) {
    g.each(|i| y[i] = 1);
}

#[kernel(group = 8)]
fn group_of_items(i: Item, y: Out<i32>) {
    y[i] = 1;
}

#[kernel(tile = 8)]
fn another_argument(i: Item, y: Out<i32>) {
    y[i] = 1;
}

#[device_fn]
fn device_function_of_groups(g: Group) -> usize {
    g.index()
}

#[kernel]
fn neighbours_in_local_memory(g: Group, x: In<i32>, tile: Local<i32, 16>, n: LocalAtomic<u32, 16>, y: Out<i32>) {
    g.each(|i| {
        tile[i] = x[i];
        tile[i + 1] = x[i + 1];
        n.add(i - 2, 1);
    });
    g.each(|i| y[i] = tile[i - 1]);
}

fn main() {}
