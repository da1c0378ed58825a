//! Fusion of a time step: a string of masses, in ten kernels. Two of them read neighbours, so the
//! ten become two launches. After a hundred steps all is as with ten launches, bit for bit.
#![forbid(unsafe_code)]

use folio::prelude::*;
use folio::{Executable, graph::FinalizeOptions};

/// How far each mass is from the next one.
#[kernel]
fn stretches(i: Item, x: In<f32>, stretch: Out<f32>) {
    let (k, last) = (i.index(), x.len() - 1);
    stretch[i] = x[(k + 1).min(last)] - x[k];
}

#[kernel]
fn tightens(i: Item, stiffness: f32, stretch: In<f32>, tension: Out<f32>) {
    tension[i] = stiffness * stretch[i];
}

#[kernel]
fn pulls(i: Item, tension: In<f32>, force: Out<f32>) {
    let k = i.index();
    let left = if k > 0 { tension[k - 1] } else { 0.0 };
    force[i] = tension[k] - left;
}

#[kernel]
fn rubs(i: Item, by: f32, v: In<f32>, drag: Out<f32>) {
    drag[i] = -by * v[i];
}

#[kernel]
fn adds(i: Item, a: In<f32>, b: In<f32>, sum: Out<f32>) {
    sum[i] = a[i] + b[i];
}

#[kernel]
fn accelerates(i: Item, mass: In<f32>, force: In<f32>, a: Out<f32>) {
    a[i] = force[i] / mass[i];
}

#[kernel]
fn kicks(i: Item, dt: f32, a: In<f32>, v: InOut<f32>) {
    v[i] += dt * a[i];
}

#[kernel]
fn drifts(i: Item, dt: f32, v: In<f32>, x: InOut<f32>) {
    x[i] += dt * v[i];
}

#[kernel]
fn moves(i: Item, mass: In<f32>, v: In<f32>, energy: Out<f32>) {
    energy[i] = 0.5 * mass[i] * v[i] * v[i];
}

#[kernel]
fn sums(i: Item, x: In<f32>, sum: Reduce<f32, Add>) {
    sum.give(x[i]);
}

const MASSES: usize = 20_000;
const STEPS: u64 = 100;

struct Masses {
    mass: Buffer<f32>,
    x: Buffer<f32>,
    v: Buffer<f32>,
    energy: Buffer<f32>,
}

impl Masses {
    fn new(rt: &Runtime) -> folio::Result<Masses> {
        let named = |name: &str, of: fn(usize) -> f32| {
            let data: Vec<f32> = (0..MASSES).map(of).collect();
            rt.buffer_with(data, BufferOptions::new().label(name))
        };
        Ok(Masses {
            mass: named("mass", |k| 1.0 + (k % 7) as f32)?,
            x: named("x", |k| k as f32 + (k % 13) as f32 * 0.02)?,
            v: named("v", |_| 0.0)?,
            energy: rt.buffer(1)?,
        })
    }

    /// Records a step. The buffers between its kernels are made here, and gone at the end.
    fn recorded(&mut self, q: &Queue, options: FinalizeOptions) -> folio::Result<Executable> {
        let rt = q.runtime();
        let graph = rt.graph(&q.device())?;
        let recording = graph.record([q])?;
        let passed = |name: &str| {
            let buffer = rt.buffer_with(MASSES, BufferOptions::new().label(name));
            buffer.map(Buffer::into_shared)
        };
        let (stretch, tension) = (passed("stretch")?, passed("tension")?);
        let (force, drag, all) = (passed("force")?, passed("drag")?, passed("all")?);
        let (a, moving) = (passed("a")?, passed("moving")?);
        let Masses { mass, x, v, energy } = self;
        q.run(MASSES, stretches(&*x, &stretch))?;
        q.run(MASSES, tightens(40.0, &stretch, &tension))?;
        q.run(MASSES, pulls(&tension, &force))?;
        q.run(MASSES, rubs(0.1, &*v, &drag))?;
        q.run(MASSES, adds(&force, &drag, &all))?;
        q.run(MASSES, accelerates(&*mass, &all, &a))?;
        q.run(MASSES, kicks(0.01, &a, &mut *v))?;
        q.run(MASSES, drifts(0.01, &*v, x))?;
        q.run(MASSES, moves(&*mass, &*v, &moving))?;
        q.run(MASSES, sums(&moving, energy))?;
        drop((recording, stretch, tension, force, drag, all, a, moving));
        graph.finalize_with(options)
    }

    fn bits(&self) -> folio::Result<Vec<u32>> {
        let all = [self.x.to_vec()?, self.v.to_vec()?, self.energy.to_vec()?];
        Ok(all.concat().into_iter().map(f32::to_bits).collect())
    }
}

fn main() -> folio::Result<()> {
    let rt = folio::runtime()?;
    let q = rt.queue()?;
    let mut left = vec![];
    for (options, launches) in
        [(FinalizeOptions::new(), 10), (FinalizeOptions::new().enable_fusion(), 2)]
    {
        let mut all = Masses::new(&rt)?;
        let step = all.recorded(&q, options)?;
        if let Some(report) = step.fusion_report()? {
            print!("{}: {report}", q.device().name());
            assert_eq!((report.launches, report.launches_left), (10, 2));
        }
        let before = rt.counters().launches;
        for _ in 0..STEPS {
            q.run_graph(&step)?;
        }
        q.wait()?;
        assert_eq!(rt.counters().launches - before, launches * STEPS);
        left.push(all.bits()?);
    }
    assert!(left[0] == left[1]);
    Ok(())
}
