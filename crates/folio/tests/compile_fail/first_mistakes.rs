//! KRN-06: what newcomers write, each told once, where it stands, with what to write instead.
use folio::prelude::*;
use std::sync::atomic::AtomicU32;

static COUNT: AtomicU32 = AtomicU32::new(0);
static mut TOTAL: u32 = 0;

// What a view's name allows.

#[kernel]
fn writes_in(i: Item, x: In<f32>, y: InOut<f32>) {
    x[i] = 1.0;
    x[i] += y[i];
}

#[kernel]
fn reads_out(i: Item, y: Out<f32>, z: Out<f32, 1>) {
    y[i] = y[i] + 1.0;
    z[i] = 0.0;
    z[i] *= 2.0;
}

#[kernel]
fn at_another_item(i: Item, x: In<f32>, k: usize, y: InOut<f32>, z: Out<f32>) {
    y[i] = y[i - 1];
    z[i.index()] = x[i];
    z[k] = x[k];
    y[0] = 1.0;
}

#[kernel]
fn at_another_place(j: Item<2>, x: In<f32, 2>, y: Out<f32, 2>) {
    let (r, c) = j.pos();
    y[(r, c)] = x[(r, c)];
    y[j] = x[r * 2] + x[(r, c, 0)];
}

#[kernel]
fn ranks(i: Item, x: In<f32, 2>, j: Out<f32, 2>) {
    j[i] = x[i];
}

#[kernel]
fn rows_of_others(i: Item, x: In<f32, 2>, y: InOutRow<f32>) {
    for k in 0..x.shape()[1] {
        y[(i, k)] = y[(k, 0)];
    }
    y[i] = 1.0;
}

#[kernel]
fn groups_of_others(g: Group, x: In<f32>, y: OutGroup<f32>, z: Out<f32>) {
    y[0] = x[0];
    z[0] = 1.0;
    g.each(|i| z[i] = x[i]);
    g.barrier();
}

// What some path does not write.

#[kernel]
fn nothing_writes(i: Item, x: In<f32>, y: Out<f32>) {}

#[kernel]
fn without_else(i: Item, x: In<f32>, y: Out<f32>) {
    if x[i] > 0.0 {
        y[i] = x[i];
    }
}

#[kernel]
fn a_branch(k: Item, x: In<f32>, n: In<u32>, y: Out<f32>, z: Out<f32>) {
    y[k] = if x[k] > 0.0 {
        z[k] = 1.0;
        1.0
    } else if x[k] < -1.0 {
        2.0
    } else {
        z[k] = 2.0;
        3.0
    };
    match n[k] {
        0 => z[k] = 5.0,
        1 | 2 => {}
        _ => z[k] = 6.0,
    }
}

#[kernel]
fn leaves(i: Item, n: usize, x: In<f32>, y: Out<f32>) {
    if i.index() >= n {
        return;
    }
    y[i] = x[i];
}

#[kernel]
fn without_turns(i: Item, n: usize, x: In<f32>, y: Out<f32>) {
    for k in 0..n {
        y[i] = x[k];
    }
}

#[kernel]
fn breaks(i: Item, x: In<f32>, y: Out<f32>, z: OutRow<f32>) {
    loop {
        if x[i] > 0.0 {
            break;
        }
        y[i] = 1.0;
        break;
    }
    if x[i] > 1.0 {
        return;
    }
    for k in 0..z.shape()[1] {
        z[(i, k)] = 0.0;
    }
}

#[kernel]
fn groups_leave(g: Group, x: In<f32>, y: Out<f32>, sums: OutGroup<f32>) {
    g.each(|i| {
        if x[i] < 0.0 {
            return;
        }
        y[i] = x[i];
    });
    if g.index() > 0 {
        sums[g] = 1.0;
    }
}

// What is not outside of a kernel, and what it does not give.

#[kernel]
fn counts(i: Item, x: In<u32>) {
    TOTAL += x[i];
    COUNT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
}

#[kernel]
fn gives(i: Item, x: In<f32>) -> f32 {
    x[i] * 2.0
}

#[kernel]
fn returns(i: Item, x: In<f32>, y: Out<f32>) {
    y[i] = x[i];
    if x[i] > 0.0 {
        return x[i];
    }
    x[i]
}

// What is of the host.

#[kernel]
fn owners(i: Item, x: Vec<f32>, y: &[u32], z: &mut [f32], a: &f32, b: &mut Out<f32>, s: &str) {}

#[kernel]
fn iterates(i: Item, x: In<f32>, y: Out<f32>) {
    let mut sum = x.iter().map(|x| x * 2.0).sum();
    for v in x {
        sum += v;
    }
    for (k, v) in x.iter().enumerate() {
        sum += *v;
    }
    for v in [1.0, 2.0] {
        sum += v;
    }
    y[i] = sum;
}

#[kernel]
fn options(i: Item, x: In<f32>, y: Out<f32>) {
    let mut double = |x| x * 2.0;
    y[i] = match x.get(i.index() + 1) {
        Some(x) => double(x),
        None => 0.0,
    };
    if let Some(x) = x.get(0) {
        y[i] = x;
    }
    let first = match i.index() {
        Some(k) => 1,
        _ => 2,
    };
}

#[kernel]
fn asks(i: Item, j: In<f32, 2>, x: In<f32>, y: Out<f32>) {
    let n = j.len() + x.length() + i.pos().0 + i.id();
    y[i] = i as f32 + x.sum() + i.0;
}

#[kernel]
fn without_item(x: In<f32>, y: Out<f32>) {
    y[0] = x[0];
}

fn main() {}
