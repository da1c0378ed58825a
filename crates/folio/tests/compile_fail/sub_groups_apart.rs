//! What the items of a sub-group do together stands where all of them are.

use folio::prelude::*;

#[kernel]
fn in_a_branch(g: Group, x: In<f32>, y: Out<f32>) {
    g.each(|i| y[i] = if x[i] > 0.0 { i.subgroup_reduce::<Add>(x[i]) } else { 0.0 });
}

#[kernel]
fn in_a_loop(g: Group, x: In<f32>, y: Out<f32>) {
    g.each(|i| {
        let mut sum = 0.0;
        for k in 0..4 {
            sum += i.subgroup_broadcast(x[i], k);
        }
        y[i] = sum;
    });
}

#[kernel]
fn where_it_may_not_be_asked(g: Group, x: In<f32>, y: Out<u32>) {
    g.each(|i| {
        let all = x[i] > 0.0 && i.subgroup_any(x[i] > 1.0);
        y[i] = all as u32;
    });
}

#[kernel]
fn after_some_have_left(g: Group, x: In<f32>, y: InOut<f32>) {
    g.each(|i| {
        if x[i] < 0.0 {
            return;
        }
        y[i] = i.subgroup_shuffle_xor(x[i], 1);
    });
}

#[kernel]
fn after_an_assertion(g: Group, x: In<f32>, y: InOut<f32>) {
    g.each(|i| {
        assert!(x[i] < 0.0);
        y[i] = i.subgroup_inclusive_scan::<Max>(x[i]);
    });
}

#[kernel]
fn combined_with_nothing(g: Group, x: In<f32>, y: Out<f32>) {
    g.each(|i| y[i] = i.subgroup_reduce(x[i]));
}

#[kernel]
fn bits_of_floats(g: Group, x: In<f32>, y: Out<f32>) {
    g.each(|i| y[i] = i.subgroup_reduce::<Xor>(x[i]));
}

#[kernel]
fn of_no_group(i: Item, x: In<f32>, y: Out<f32>) {
    y[i] = i.subgroup_reduce::<Add>(x[i]);
}

#[kernel]
fn of_the_group(g: Group, x: In<f32>, y: OutGroup<f32>) {
    y[g] = g.subgroup_reduce::<Add>(x[0]);
}

fn main() {}
