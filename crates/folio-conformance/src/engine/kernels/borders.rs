//! Stencils in two launches, the interior without guards and the edge, beside the guarded ones.
#![forbid(unsafe_code)]

use super::*;

#[kernel]
fn inner_line(i: Item, x: In<f32>, y: Out<f32>) {
    y[i] = 0.5 * (x[i - 1] + x[i + 1]);
}

#[kernel]
fn line(i: Item, x: In<f32>, y: Out<f32>) {
    y[i] = x[i];
}

#[kernel]
fn inner_plane(i: Item<2>, x: In<f32, 2>, y: Out<f32, 2>) {
    let (r, c) = i.pos();
    y[i] = 0.25 * (x[(r - 1, c)] + x[(r + 1, c)] + x[(r, c - 1)] + x[(r, c + 1)]);
}

#[kernel]
fn plane(i: Item<2>, x: In<f32, 2>, y: Out<f32, 2>) {
    y[i] = x[i];
}

#[kernel]
fn guarded_space(i: Item<3>, x: In<f32, 3>, y: Out<f32, 3>) {
    let (a, b, c) = i.pos();
    let n = x.shape();
    let (first, last) = (a < 1 || c < 2, a + 1 >= n[0] || c + 1 >= n[2]);
    if first || last {
        y[i] = -x[i];
    } else {
        y[i] = x[(a - 1, b, c)] + x[(a + 1, b, c - 2)] + x[(a, b, c + 1)];
    }
}

#[kernel]
fn inner_space(i: Item<3>, x: In<f32, 3>, y: Out<f32, 3>) {
    let (a, b, c) = i.pos();
    y[i] = x[(a - 1, b, c)] + x[(a + 1, b, c - 2)] + x[(a, b, c + 1)];
}

#[kernel]
fn space(i: Item<3>, x: In<f32, 3>, y: Out<f32, 3>) {
    y[i] = -x[i];
}

/// Both ways of a stencil over buffers of some shapes are equal, and the second one takes as many
/// launches as there are boxes with items.
macro_rules! two_ways {
    ($rig:ident, $margin:expr, [$($shape:expr),*], $whole:ident, $inner:ident, $edge:ident) => {
        for (at, shape) in (0..$rig.rt.devices().len()).flat_map(|at| [$((at, $shape)),*]) {
            let (q, count) = ($rig.on(at)?, shape.iter().product());
            let x: Vec<f32> = (0..count).map(|k| (k * k % 17) as f32).collect();
            let x = $rig.rt.buffer_from((&x, shape))?;
            let mut once = $rig.rt.buffer(shape)?;
            let mut twice = $rig.rt.buffer(shape)?;
            q.run(x.range(), $whole(&x, &mut once))?;
            let before = q.counters().launches;
            let (inner, edge) = (twice.interior($margin), twice.edge($margin));
            let launches = usize::from(!inner.range.contains(&0)) + edge.len();
            q.run(inner, $inner(&x, &mut twice))?;
            q.run_each(edge, $edge(&x, &mut twice))?.wait()?;
            ensure_eq!(q.counters().launches - before, launches as u64, "{shape:?}");
            ensure_eq!(twice.to_vec()?, once.to_vec()?, "{shape:?}");
        }
    };
}

pub fn interiors_and_edges(rig: &Rig) -> Outcome {
    two_ways!(rig, 1, [[0], [1], [2], [3], [100]], guarded, inner_line, line);
    two_ways!(rig, 1, [[1, 1], [2, 9], [3, 3], [9, 2], [20, 30]], stencil, inner_plane, plane);
    let margin = [(1, 1), (0, 0), (2, 1)];
    two_ways!(rig, margin, [[3, 1, 4], [2, 3, 4], [5, 4, 7]], guarded_space, inner_space, space);
    Ok(())
}

/// The event of several boxes fails if one does; nothing is submitted if one cannot be.
pub fn boxes_fail_together(rig: &Rig) -> Outcome {
    for at in 0..rig.rt.devices().len() {
        let q = rig.on(at)?;
        let x = rig.rt.buffer_from(&[1.0f32; 10])?;
        let mut y = paged(&rig.rt, &[0.0f32; 10])?;
        let none = q.run_each(y.edge(0), inner_line(&x, &mut y))?;
        none.wait()?;
        let both = [Items::from(3..5), Items::from(8..10)];
        let (_, violation) = violation(q.run_each(both, inner_line(&x, &mut y))?.wait())?;
        ensure!(matches!(violation.kind, ViolationKind::OutOfBounds { .. }), "{violation}");
        ensure_eq!(y.slice([3], [2])?.to_vec()?, [1.0; 2]);
        ensure!(failure(y.slice([8], [2])?.to_vec()).is_ok(), "what failed can be read");
        let (_, before) = (q.wait(), q.counters().launches);
        let both = [Items::from(3..5), Items::from(8..11)];
        let refused = q.run_each(both, line(&x, &mut y));
        ensure!(matches!(refused, Err(Error::LaunchTooLarge { .. })), "{refused:?}");
        ensure_eq!(q.counters().launches, before);
    }
    Ok(())
}
