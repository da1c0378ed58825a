//! KRN-10: what is tested at run time is an error where it stands, in a kernel that denies checks.
use folio::prelude::*;

const WIDTH: usize = 8;

#[kernel(deny_checks)]
fn gathers(i: Item, by: In<u32>, x: In<f32>, y: Out<f32>) {
    y[i] = x[by[i] as usize];
}

#[kernel(deny_checks)]
fn searches(i: Item, x: In<u32>, y: Out<u32>) {
    let mut k = 0;
    while x[k] > 0 {
        k += 1;
    }
    y[i] = x[i.index() / WIDTH * WIDTH];
}

#[kernel(deny_checks)]
fn counts(i: Item, x: In<u32>, bins: Atomic<u32>) {
    bins.add(x[i] as usize, 1);
    bins.add(0, 1);
}

#[kernel(deny_checks)]
fn divides(i: Item, n: u32, x: In<u32>, y: Out<u32>) {
    assert!(n > 0, "no zeros");
    let mut of = x[i] % n;
    of /= x[i];
    y[i] = of / 4 + of % (WIDTH as u32) + of / 0;
}

#[kernel(deny_checks)]
fn gives_up(i: Item, x: In<f32>, y: Out<f32>) {
    if x[i] < 0.0 {
        panic!("negative");
    }
    y[i] = 1.0 / x[i];
}

#[kernel(deny_checks, group = 8)]
fn shuffles(g: Group, x: In<u32>, tile: Local<u32, 8>, y: Out<u32>) {
    g.each(|i| tile[i] = x[i]);
    g.each(|i| y[i] = tile[(x[i] & 7) as usize] + tile[i.local_index()]);
}

#[device_fn(deny_checks)]
fn one() -> u32 {
    1
}

fn main() {}
