//! Kernels of work-groups, and of all owners.
#![forbid(unsafe_code)]

use folio::prelude::*;

pub const TILE: usize = 8;

#[kernel(group = [TILE, TILE])]
pub fn matmul(
    g: Group<2>,
    a: In<f32, 2>,
    b: In<f32, 2>,
    ta: Local<f32, 64>,
    tb: Local<f32, 64>,
    c: Out<f32, 2>,
) {
    let acc = g.private(0.0);
    for t in 0..a.shape()[1] / TILE {
        g.each(|i| {
            let (r, k) = i.local_pos();
            let (row, column) = i.pos();
            ta[i] = a[(row, t * TILE + k)];
            tb[i] = b[(t * TILE + r, column)];
        });
        g.each(|i| {
            let (r, k) = i.local_pos();
            let mut sum = acc[i];
            for j in 0..TILE {
                sum += ta[r * TILE + j] * tb[j * TILE + k];
            }
            acc[i] = sum;
        });
    }
    g.each(|i| c[i] = acc[i]);
}

/// Three reductions and two scans of each group.
#[kernel]
pub fn folds(
    g: Group,
    x: In<f32>,
    n: In<u32>,
    sums: OutGroup<f32>,
    most: OutGroup<u32>,
    scans: Out<f32>,
    before: Out<u32>,
) {
    let sum = g.reduce::<Add>(|i| x[i]);
    sums[g] = sum;
    let (low, high) = (g.reduce::<Min>(|i| n[i]), g.reduce::<Max>(|i| n[i] ^ 5));
    most[g] = high - low;
    let up = g.inclusive_scan::<Add>(|i| x[i] + sum);
    let earlier = g.exclusive_scan::<Xor>(|i| n[i]);
    g.each(|i| {
        scans[i] = up[i];
        before[i] = earlier[i] + i.local_index() as u32 + g.index() as u32;
    });
}

/// The queries of sub-groups: their size, index and lane; and the result of each operation.
#[kernel(group = 40)]
pub fn subgroups(g: Group, x: In<u32>, y: Out<[u32; 13]>, halves: Out<f32>) {
    let size = g.subgroup_size();
    g.each(|i| {
        let v = x[i];
        let sum = i.subgroup_reduce::<Add>(v);
        let up = i.subgroup_inclusive_scan::<Add>(v);
        let before = i.subgroup_exclusive_scan::<Max>(v);
        let (any, all) = (i.subgroup_any(v % 7 == 0), i.subgroup_all(v % 7 != 0));
        let third = i.subgroup_broadcast(v, 2);
        let other = i.subgroup_shuffle_xor(v, 1);
        let [alike, count, first] = i.subgroup_match((v % 5) as u8);
        let [wide, _, _] = i.subgroup_match((v as u64) << 29);
        halves[i] = i.subgroup_shuffle_xor(v as f32 / 2.0, 3);
        let (index, lane) = (i.subgroup_index() as u32, i.subgroup_lane() as u32);
        let (any, all) = (any as u32, all as u32);
        let alike = alike + 1000 * wide;
        y[i] = [
            size as u32,
            index,
            lane,
            sum,
            up,
            before,
            any,
            all,
            third,
            other,
            alike,
            count,
            first,
        ];
    });
}

/// Sums of floats by sub-groups, which depend on the order; in groups of several rows.
#[kernel]
pub fn subgroup_sums(g: Group<2>, x: In<f32, 2>, y: Out<[f32; 6], 2>) {
    g.each(|i| {
        let v = x[i];
        let sum = i.subgroup_reduce::<Add>(v);
        let up = i.subgroup_inclusive_scan::<Add>(v);
        let before = i.subgroup_exclusive_scan::<Add>(v);
        let least = i.subgroup_reduce::<Min>(v);
        let (size, lane) = (i.subgroup_size() as f32, i.subgroup_lane() as f32);
        y[i] = [sum, up, before, least, size, lane];
    });
}

/// A running sum of each group, in an element of its own.
#[kernel]
pub fn accumulates(g: Group<2>, x: In<i32, 2>, sums: InOutGroup<i32, 2>, seen: InOutGroup<i32, 2>) {
    let sum = g.reduce::<Add>(|i| x[i]);
    sums[g] += sum;
    if sums[g] > 100 {
        let last = sums[g];
        g.once(|| seen[g] = seen[g] + last);
    }
}

#[kernel(group = 64)]
pub fn bitonic(g: Group, x: InOut<u32>, keys: Local<u32, 64>, next: Local<u32, 64>) {
    g.each(|i| keys[i] = x[i]);
    let mut size = 2;
    while size <= g.size()[0] {
        let mut by = size / 2;
        while by > 0 {
            g.each(|i| {
                let k = i.local_index();
                let (mine, other) = (keys[k], keys[k ^ by]);
                let up = k & size == 0;
                let first = k & by == 0;
                next[i] = if up == first { mine.min(other) } else { mine.max(other) };
            });
            g.each(|i| keys[i] = next[i.local_index()]);
            by /= 2;
        }
        size *= 2;
    }
    g.each(|i| x[i] = keys[i]);
}

#[kernel(group = [4, 4])]
pub fn transpose(g: Group<2>, x: In<i32, 2>, tile: Local<i32, 16>, y: Out<i32, 2>) {
    let (gr, gc) = g.pos();
    g.each(|i| {
        let (r, c) = i.local_pos();
        tile[i] = x[(gc * 4 + r, gr * 4 + c)];
    });
    g.each(|i| {
        let (r, c) = i.local_pos();
        y[i] = tile[c * 4 + r];
    });
}

/// A tile that is larger than its group: the neighbours on both sides.
#[kernel]
pub fn halo(g: Group, x: In<i32>, tile: Local<i32, 18>, y: Out<i32>) {
    let first = g.index() * g.size()[0];
    tile.fill(|k| {
        let at = first + k;
        if k < g.size()[0] + 2 && at > 0 && at <= x.len() { x[at - 1] } else { 0 }
    });
    g.each(|i| {
        let k = i.local_index();
        y[i] = tile[k] + 10 * tile[k + 1] + 100 * tile[k + 2];
    });
}

#[device_fn]
fn least(a: i32, b: i32) -> i32 {
    assert!(b > -1_000_000);
    match (a < b, a == b) {
        (true, _) => a,
        _ => b,
    }
}

/// `match`, labels, values of `loop`, and parameters that change: in uniform code and in phases.
#[kernel]
pub fn spoken(g: Group, mut turns: u32, x: In<i32>, tile: Local<i32, 8>, y: Out<i32>) {
    let kept = g.private(0);
    let by = loop {
        g.each(|i| tile[i] = x[i] + turns as i32);
        'turn: for t in (0..5usize).rev().step_by(2) {
            match t {
                4 => continue 'turn,
                0 => break 'turn,
                _ => {}
            }
            let total = g.reduce::<Add>(|i| match x[i] {
                -9..=9 => x[i],
                other => other % 10,
            });
            g.each(|i| {
                let low = least(tile[0], tile[i.local_index()]);
                let steps = 'find: {
                    for k in (1..=7).step_by(3) {
                        if low < k {
                            break 'find k;
                        }
                    }
                    total
                };
                kept[i] += steps + t as i32;
            });
        }
        turns -= 1;
        if turns == 0 {
            break g.index() as i32;
        }
    };
    g.each(|i| y[i] = kept[i] * 100 + by);
}

#[kernel]
pub fn histogram(i: Item, x: In<u32>, bins: Atomic<u32>) {
    bins.add(x[i] % bins.len() as u32, 1);
}

#[kernel]
pub fn local_histogram(g: Group, x: In<u32>, counts: LocalAtomic<u32, 16>, bins: Atomic<u32>) {
    g.each(|i| {
        counts.add(x[i] % 16, 1);
    });
    g.once(|| {
        for k in 0..16 {
            bins.add(k, counts.load(k));
        }
    });
}

/// A single item for each operation, so that there is one answer.
#[kernel]
pub fn atomics(i: Item, x: In<i64>, bits: Atomic<i64>, f: Atomic<f32, 2>, old: Out<i64>) {
    let k = i.index();
    let v = x[i];
    let mut was = bits.load(i);
    was += bits.sub(i, v);
    was ^= bits.min(k, v);
    was += bits.max(k, v + 1);
    was ^= bits.and(k as u32, v * 3);
    was += bits.or(i, 8);
    was ^= bits.xor(i, v);
    was += bits.exchange(i, was);
    was ^= bits.compare_exchange(i, was, 7);
    f.add((0, k), 0.5);
    let before = f.exchange((0, k), v as f32);
    f.add((1, k), before);
    old[i] = was + f.load((1, k)) as i64;
}

/// Numerically stable, a row for an item.
#[kernel]
pub fn softmax(i: Item, x: In<f32, 2>, y: OutRow<f32>) {
    let mut most = x[(i, 0)];
    for c in 1..x.shape()[1] {
        most = most.max(x[(i, c)]);
    }
    let mut sum = 0.0;
    for c in 0..x.shape()[1] {
        sum += x[(i, c)] - most;
    }
    for c in 0..y.shape()[1] {
        y[(i, c)] = (x[(i, c)] - most) / sum;
    }
}

#[kernel]
pub fn prefix(i: Item, rows: InOutRow<i32>) {
    for c in 1..rows.shape()[1] {
        rows[(i, c)] += rows[(i, c - 1)];
    }
}

#[kernel]
pub fn chunks(i: Item, x: In<i32>, y: OutChunk<i32, 4>, z: OutChunk<i32, 3>) {
    for k in 0..4 {
        y[i][k] = x[i] + k as i32;
    }
    if x[i] > 0 {
        z[i] = [x[i], 1, 2];
    } else {
        z[i][0] = -1;
        z[i][1] = x[i];
        z[i][2] = 3;
    }
}

#[kernel]
pub fn dot(i: Item, x: In<f32>, y: In<f32>, sum: Reduce<f32, Add>) {
    sum.give(x[i] * y[i]);
}

/// Not every item gives, some twice; and there are several reductions.
#[kernel]
pub fn statistics(
    i: Item<2>,
    x: In<i32, 2>,
    least: Reduce<i32, Min>,
    odd: Reduce<u64, Add>,
    all: Reduce<f64, Mul>,
) {
    least.give(x[i]);
    if x[i] & 1 == 1 {
        odd.give(1);
        odd.give(2);
    }
    all.give(1.0 + x[i] as f64 / 4294967296.0);
}

#[kernel]
pub fn group_dot(
    g: Group,
    x: In<f32>,
    y: In<f32>,
    sum: Reduce<f32, Add>,
    groups: Reduce<u32, Add>,
) {
    g.each(|i| sum.give(x[i] * y[i]));
    g.each(|i| sum.give(0.125));
    g.once(|| groups.give(1));
}

#[kernel]
pub fn scatter(i: Item, at: In<u32>, y: Racy<u32>) {
    y[at[i]] = y[at[i]] + i.index() as u32;
}

/// Uniform control flow, and ways out of phases and groups.
#[kernel]
pub fn leaves(g: Group, x: In<i32>, y: InOut<i32>) {
    if g.index() == 1 {
        return;
    }
    let mut turn = 0;
    loop {
        g.each(|i| {
            if x[i] < turn {
                return;
            }
            y[i] += 1;
        });
        turn += 1;
        if turn == 5 {
            break;
        }
    }
}

#[kernel]
pub fn too_far(g: Group, tile: Local<i32, 8>, y: Out<i32>) {
    g.each(|i| tile[i] = 1);
    g.each(|i| y[i] = tile[i.local_index()]);
}
