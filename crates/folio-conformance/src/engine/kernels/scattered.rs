//! Elements that items write anywhere: each by one item, or by the last one of several (KRN-02).
#![forbid(unsafe_code)]

use super::agree::*;
use crate::engine::graphs::graph;
use crate::engine::rig::*;
use folio::prelude::*;
use folio_core::{Cause, ViolationKind};

#[derive(Clone, Copy, Debug, PartialEq, DeviceType)]
#[repr(C)]
struct Pair {
    x: f32,
    n: u32,
}

/// Some items write nothing, and others twice.
#[kernel]
fn spreads(i: Item, at: In<u32>, x: In<f32>, y: Scatter<f32>) {
    if i.index() % 7 == 3 {
        return;
    }
    y[at[i]] = x[i];
    if i.index() % 2 == 0 {
        y[at[i] as usize] = x[i] + 1.0;
    }
}

/// By a row and a column, structs, and two scatters in a kernel.
#[kernel]
fn places(i: Item, at: In<u32>, y: Scatter<Pair, 2>, z: Scatter<u64>, n: Out<u32>) {
    let k = at[i] as usize;
    let [rows, columns] = y.shape();
    n[i] = rows as u32;
    y[(k / columns, k % columns)] = Pair { x: k as f32, n: i.index() as u32 };
    z[i + 1] = k as u64;
}

#[kernel]
fn last_of(i: Item, at: In<u32>, x: In<f32>, y: ScatterLast<f32>, n: Out<u32>) {
    n[i] = at[i] + 1;
    y[at[i]] = x[i];
}

#[kernel]
fn last_in_rows(i: Item, at: In<u32>, y: ScatterLast<Pair, 2>, z: Scatter<u32>) {
    let i = i.index();
    let k = at[i] as usize % 6;
    for c in 0..2 {
        y[(k, c)] = Pair { x: c as f32, n: i as u32 };
    }
    z[at.len() - 1 - i] = k as u32;
}

/// Items of two dimensions, whose launch does not begin at 0.
#[kernel]
fn spreads_planes(i: Item<2>, at: In<u32>, y: Scatter<u32>, z: Scatter<u32, 2>) {
    let (r, c) = i.pos();
    let [_, columns] = z.shape();
    y[at[r * columns + c]] = (r * 100 + c) as u32;
    z[(r, columns - 1 - c)] = at[r * columns + c];
}

#[kernel]
fn last_of_boxes(i: Item<3>, at: In<u32>, y: ScatterLast<u32>) {
    let (a, b, c) = i.pos();
    y[at[(a * 4 + b) * 5 + c] % 7] = ((a * 4 + b) * 5 + c) as u32;
}

/// Groups: in phases, whose items may leave.
#[kernel(group = 20)]
fn spreads_groups(g: Group, at: In<u32>, y: Scatter<u32>, sums: OutGroup<u32>) {
    let first = g.private(0u32);
    g.each(|i| {
        first[i] = i.index() as u32;
        if at[i] % 3 == 0 {
            return;
        }
        y[at[i]] = first[i];
    });
    let sum = g.reduce::<Add>(|i| first[i]);
    g.each(|i| {
        if at[i] % 3 == 0 {
            y[at[i]] = sum;
        }
    });
    sums[g] = sum;
}

#[kernel(group = [2, 5])]
fn last_of_groups(g: Group<2>, at: In<u32>, y: ScatterLast<u32>) {
    g.each(|i| {
        let (r, c) = i.pos();
        y[at[r * 10 + c] % 4] = (r * 10 + c) as u32;
    });
}

const N: usize = 200;

/// A permutation: 77 and 200 have no common factor.
fn anywhere(k: usize) -> u32 {
    (k * 77 % N) as u32
}

/// The claims that items of a launch leave, which write at these places.
fn claims(len: usize, of: impl Iterator<Item = (usize, usize)>) -> Vec<u8> {
    let mut claims = vec![0u32; len];
    of.for_each(|(item, at)| claims[at] = item as u32 + 1);
    claims.iter().flat_map(|claim| claim.to_ne_bytes()).collect()
}

pub(super) fn scattered_elements_have_one_writer(rig: &Rig) -> Outcome {
    let (at, x) = (data([N], anywhere), data([N], wave));
    let (y, none) = (data([N], |k| k as f32), data([N], |_| 0u32));
    let args = vec![at.arg(), x.arg(), y.arg(), none.arg()];
    fine(agree::<spreads>(rig, &[N], args, |rt, q| {
        let (at, x, mut y) = (at.buffer(rt)?, x.buffer(rt)?, y.buffer(rt)?);
        q.run(N, spreads(&at, &x, &mut y))?;
        let writers = (0..N).filter(|k| k % 7 != 3).map(|k| (k, anywhere(k) as usize));
        Ok(vec![contents(&y)?, claims(N, writers)])
    })?)?;
    let (y, none) = (data([10, 20], |_| Pair { x: 0.5, n: 9 }), data([10, 20], |_| 0u32));
    let (z, more) = (data([N + 1], |k| k as u64), data([N + 1], |_| 0u32));
    let counts = data([N], |_| 0u32);
    let args = vec![at.arg(), y.arg(), z.arg(), counts.arg(), none.arg(), more.arg()];
    fine(agree::<places>(rig, &[N], args, |rt, q| {
        let (at, mut y, mut z) = (at.buffer(rt)?, y.buffer(rt)?, z.buffer(rt)?);
        let mut n = rt.buffer::<u32, 1>(N)?;
        q.run(N, places(&at, &mut y, &mut z, &mut n))?;
        let first = claims(N, (0..N).map(|k| (k, anywhere(k) as usize)));
        let second = claims(N + 1, (0..N).map(|k| (k, k + 1)));
        Ok(vec![contents(&y)?, contents(&z)?, contents(&n)?, first, second])
    })?)
}

/// The violation names the place and both items, whichever came first.
pub(super) fn two_writers_of_one_element_fail(rig: &Rig) -> Outcome {
    let meet = |k: usize| if k == 151 { anywhere(30) } else { anywhere(k) };
    let (at, x) = (data([N], meet), data([N], wave));
    let (y, none) = (data([N], |k| k as f32), data([N], |_| 0u32));
    let args = vec![at.arg(), x.arg(), y.arg(), none.arg()];
    let failed = agree::<spreads>(rig, &[N], args, |rt, q| {
        let (at, x, mut y) = (at.buffer(rt)?, x.buffer(rt)?, y.buffer(rt)?);
        q.run(N, spreads(&at, &x, &mut y))?;
        Ok(vec![contents(&y)?, vec![]])
    })?;
    let index = vec![anywhere(30) as usize];
    let twice = ViolationKind::WrittenTwice { param: "y".to_owned(), index, items: [30, 151] };
    ensure_eq!(failed.map(|violation| violation.kind), Some(twice));

    let beyond = data([N], |k| if k == 60 { 1000 } else { anywhere(k) });
    let args = vec![beyond.arg(), x.arg(), y.arg(), none.arg()];
    let failed = agree::<spreads>(rig, &[N], args, |rt, q| {
        let (at, x, mut y) = (beyond.buffer(rt)?, x.buffer(rt)?, y.buffer(rt)?);
        q.run(N, spreads(&at, &x, &mut y))?;
        Ok(vec![contents(&y)?, vec![]])
    })?;
    let (index, extent) = (vec![1000], vec![N]);
    let outside = ViolationKind::OutOfBounds { param: Some("y".to_owned()), index, extent };
    ensure_eq!(failed.map(|violation| violation.kind), Some(outside));
    Ok(())
}

/// The highest item, on every device and on the host.
pub(super) fn the_last_item_writes(rig: &Rig) -> Outcome {
    let (at, x): (Vec<u32>, Vec<f32>) = (0..N).map(|k| ((noise(k) as u32) % 40, wave(k))).unzip();
    let (mut wanted, mut rows) = (vec![-1.0f32; 50], vec![Pair { x: 0.0, n: 0 }; 12]);
    for k in 0..N {
        wanted[at[k] as usize] = x[k];
        for c in 0..2 {
            rows[at[k] as usize % 6 * 2 + c] = Pair { x: c as f32, n: k as u32 };
        }
    }
    let (mut y, mut n) = (vec![-1.0f32; 50], vec![0; N]);
    last_of::host(N, &at, &x, &mut y, &mut n)?;
    ensure_eq!((&y, n[3]), (&wanted, at[3] + 1));
    for device in 0..rig.rt.devices().len() {
        let (rt, q) = (&rig.rt, rig.on(device)?);
        let (at, x) = (rt.buffer_from(&at)?, rt.buffer_from(&x)?);
        let (mut y, mut n) = (rt.buffer_from(&[-1.0f32; 50])?, rt.buffer(N)?);
        q.run(N, last_of(&at, &x, &mut y, &mut n))?;
        ensure_eq!(y.to_vec()?, wanted);
        let (mut y, mut z) = (rt.buffer([6, 2])?, rt.buffer(N)?);
        q.run(N, last_in_rows(&at, &mut y, &mut z))?;
        ensure_eq!(y.to_vec()?, rows);
        ensure_eq!(z.to_vec()?[N - 1], at.get(0)? % 6);
    }
    Ok(())
}

/// Items and groups of several dimensions have claims by the numbers of their positions.
pub(super) fn planes_and_groups_scatter(rig: &Rig) -> Outcome {
    let at: Vec<u32> = (0..N).map(anywhere).collect();
    for device in 0..rig.rt.devices().len() {
        let (rt, q) = (&rig.rt, rig.on(device)?);
        let places = rt.buffer_from(&at)?;
        let (mut y, mut z) = (rt.buffer::<u32, 1>(N)?, rt.buffer::<u32, 2>([10, 20])?);
        let all = Items { offset: [1, 0], range: [9, 20], group: None };
        q.run(all, spreads_planes(&places, &mut y, &mut z))?;
        let (found, rows) = (y.to_vec()?, z.to_vec()?);
        for (r, c) in (1..10).flat_map(|r| (0..20).map(move |c| (r, c))) {
            ensure_eq!(found[at[r * 20 + c] as usize], (r * 100 + c) as u32);
            ensure_eq!(rows[r * 20 + 19 - c], at[r * 20 + c]);
        }
        // Two boxes of one launch meet, and name positions by their numbers.
        let mut same = at.clone();
        same[150] = at[30];
        let same = rt.buffer_from(&same)?;
        let half = |first: usize| Items { offset: [first, 0], range: [5, 20], group: None };
        let (upper, lower) = (half(0), half(5));
        let ended = q.run_each([upper, lower], spreads_planes(&same, &mut y, &mut z))?.wait();
        meet(ended, |first, second| (first, second) == (30, 150))?;

        let mut last = rt.buffer::<u32, 1>(7)?;
        q.run([3, 4, 5], last_of_boxes(&places, &mut last))?;
        let wanted = |n: usize, of: usize| {
            let mut wanted = vec![0; n];
            (0..of).for_each(|k| wanted[at[k] as usize % n] = k as u32);
            wanted
        };
        ensure_eq!(last.to_vec()?, wanted(7, 60));
        let mut last = vec![0; 7];
        last_of_boxes::host([3, 4, 5], &at, &mut last)?;
        ensure_eq!(last, wanted(7, 60));

        let (mut y, mut sums) = (rt.buffer::<u32, 1>(N)?, rt.buffer::<u32, 1>(N / 20)?);
        q.run(N, spreads_groups(&places, &mut y, &mut sums))?;
        let sum = |group: usize| (group * 20..group * 20 + 20).sum::<usize>() as u32;
        let found = y.to_vec()?;
        for k in 0..N {
            let own = if at[k].is_multiple_of(3) { sum(k / 20) } else { k as u32 };
            ensure_eq!((k, found[at[k] as usize]), (k, own));
        }
        ensure_eq!(sums.to_vec()?[3], sum(3));
        let ended = q.run(N, spreads_groups(&same, &mut y, &mut sums))?.wait();
        meet(ended, |first, second| (first, second) == (30, 150))?;
        let mut last = rt.buffer::<u32, 1>(4)?;
        q.run([20, 10], last_of_groups(&places, &mut last))?;
        ensure_eq!(last.to_vec()?, wanted(4, N));
    }
    Ok(())
}

/// A scatter in a command group is all that the group does: submitted, or a node of a graph, which
/// clears its claims in each run.
pub(super) fn groups_and_nodes_scatter(rig: &Rig) -> Outcome {
    let (q, graph) = graph(rig)?;
    let (rt, places) = (&rig.rt, (0..N).map(anywhere).collect::<Vec<u32>>());
    let (at, x) = (rt.buffer_from(&places)?, rt.buffer_from(&[1.0f32; N])?);
    let (y, n) = (rt.buffer::<f32, 1>(N)?.into_shared(), rt.buffer::<u32, 1>(N)?.into_shared());
    let done = q.submit(|cg| {
        cg.label("named").run(N, spreads(&at, &x, &y));
        Ok(())
    })?;
    q.submit(|cg| {
        cg.after(&done).run(N, last_of(&at, &x, &y, &n));
        Ok(())
    })?
    .wait()?;
    ensure_eq!(y.to_vec()?, [1.0; N]);

    let cleared = graph.add(|cg| cg.fill(&y, 0.0))?;
    let scattered = graph.add(|cg| cg.run(N, spreads(&at, &x, &y)))?;
    let last = graph.add_after(&[scattered], |cg| cg.run(N, last_of(&at, &x, &y, &n)))?;
    ensure_eq!(graph.predecessors(scattered)?, [cleared]);
    ensure!(graph.predecessors(last)?.contains(&scattered), "it comes after");
    let all = graph.finalize()?;
    for _ in 0..3 {
        q.run_graph(&all)?;
    }
    ensure_eq!((y.to_vec()?, n.to_vec()?[5]), (vec![1.0; N], places[5] + 1));
    // A condition's body, and a node that is described again, are one command.
    let (at, x) = (at.into_shared(), x.into_shared());
    let of_node = (at.clone(), x.clone(), y.clone());
    let updated = graph.add_updatable(&[], move |cg| {
        let (at, x, y) = &of_node;
        cg.run(N, spreads(at, x, y));
        Ok(())
    });
    refused!(updated, Error::LaunchRange { .. });
    let other = q.submit(|cg| {
        cg.read(&at);
        cg.run(N, spreads(&at, &x, &y));
        Ok(())
    });
    refused!(other, Error::LaunchRange { .. });
    Ok(())
}

/// In blocks, fused or not, in a graph's runs, limited by a count, and over several boxes: claims
/// are those of a launch.
pub(super) fn launches_have_claims_of_their_own(rig: &Rig) -> Outcome {
    let places: Vec<u32> = (0..N).map(anywhere).collect();
    for device in 0..rig.rt.devices().len() {
        let (rt, q) = (&rig.rt, rig.on(device)?);
        let (at, x) = (rt.buffer_from(&places)?, rt.buffer_from(&[2.5f32; N])?);
        let (mut y, mut n) = (rt.buffer_from(&[0.0f32; N])?, rt.buffer(N)?);
        for fused in [false, true, false] {
            let both = |q: &Queue| {
                q.run(N, last_of(&at, &x, &mut y, &mut n))?;
                q.run(N, spreads(&at, &x, &mut y))?;
                q.run(N, spreads(&at, &x, &mut y)).map(drop)
            };
            match fused {
                true => q.batch_fused(both)?,
                false => q.batch(both)?,
            };
            let wanted = |k: usize| if k % 7 != 3 && k.is_multiple_of(2) { 3.5 } else { 2.5 };
            let all = y.to_vec()?;
            ensure!((0..N).all(|k| all[anywhere(k) as usize] == wanted(k)), "{fused}");
        }
        let count = rt.buffer_from(&[100u32])?;
        let twice: Vec<u32> = (0..N).map(|k| k as u32 % 100).collect();
        let twice = rt.buffer_from(&twice)?;
        q.run(N, spreads(&twice, &x, &mut y).at_most(&count))?.wait()?;
        let apart = [Items::from(0..50), Items::from(100..150)];
        let ended = q.run_each(apart, spreads(&twice, &x, &mut y))?.wait();
        meet(ended, |first, second| first + 100 == second)?;
    }
    let (q, graph) = graph(rig)?;
    let at = rig.rt.buffer_from(&places)?.into_shared();
    let x = rig.rt.buffer_from(&[1.0f32; N])?;
    let y = rig.rt.buffer::<f32, 1>(N)?.into_shared();
    let recording = graph.record([&q])?;
    q.run(N, spreads(&at, &x, &y))?;
    drop(recording);
    let graph = graph.finalize()?;
    for _ in 0..3 {
        q.run_graph(&graph)?.wait()?;
    }
    ensure_eq!(y.to_vec()?[anywhere(1) as usize], 1.0);
    q.fill(at.slice_mut([4], [2])?, 7)?;
    let place = |item: usize| if [4, 5].contains(&item) { 7 } else { anywhere(item) };
    meet(q.run_graph(&graph)?.wait(), |first, second| place(first) == place(second))
}

/// Two such items have written one element.
fn meet<T>(ended: Result<T, Error>, such: impl Fn(usize, usize) -> bool) -> Outcome {
    let Err(Error::Failed(failure)) = ended else {
        return Err(Stop::Failed("two items write one element".to_owned()));
    };
    match failure.cause() {
        Cause::Kernel(violation) => match &violation.kind {
            ViolationKind::WrittenTwice { items: [first, second], .. } => {
                ensure!(first < second && such(*first, *second), "{violation}");
                Ok(())
            }
            _ => Err(Stop::Failed(violation.to_string())),
        },
        _ => Err(Stop::Failed(failure.to_string())),
    }
}

pub(super) fn what_cannot_scatter_is_refused(rig: &Rig) -> Outcome {
    let (rt, q) = (&rig.rt, rig.on(0)?);
    let (at, x, mut y) = (rt.buffer_from(&[0u32])?, rt.buffer_from(&[0f32])?, rt.buffer(1)?);
    let last = u32::MAX as usize;
    refused!(q.run(last - 1..last + 1, spreads(&at, &x, &mut y)), Error::LaunchRange { .. });
    q.run(0, spreads(&at, &x, &mut y))?.wait()?;
    let (mut of, mut z) = (rt.buffer(1)?, rt.buffer([1, 1])?);
    let wide = Items { offset: [0, 1 << 20], range: [1 << 13, 1], group: None };
    refused!(q.run(wide, spreads_planes(&at, &mut of, &mut z)), Error::LaunchRange { .. });
    Ok(())
}
