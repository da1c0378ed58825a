//! Random programs of launches that several devices share compute what one device computes, bit for
//! bit: on simulated devices of random latency, on CPUs, and on both.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests may panic")]

use folio::prelude::*;
use folio::sched::Split;
use folio_core::canary::Canary;
use folio_core::geom::Box3;
use folio_core::hal::Link;
use folio_core::ir::device::Kernel;
use folio_core::planted::Planted;
use folio_core::{BufferOptions, Items, KernelCall, RuntimeBuilder};
use folio_cpu::CpuBackend;
use folio_model::interp::Interpreter;
use folio_model::suite::{Budget, cases, line};
use folio_sim::{DeviceSpec, Script, SimBackend};
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Instant;

#[kernel]
fn five(i: Item<2>, x: In<f32, 2>, y: Out<f32, 2>) {
    let (r, c) = i.pos();
    y[i] = 0.2 * (x[(r - 1, c)] + x[(r, c - 1)] + x[(r, c)] + x[(r, c + 1)] + x[(r + 1, c)]);
}

#[kernel]
fn smooth(i: Item, x: In<u32>, y: Out<u32>) {
    let at = i.index();
    y[i] = x[at - 1] + 3 * x[at] + x[at + 2];
}

#[kernel]
fn gather(i: Item, at: In<u32>, x: In<u32>, y: InOut<u32>) {
    y[i] = 3 * y[i] + x[at[i] as usize];
}

#[kernel]
fn fills(i: Item, value: u32, y: Out<u32>) {
    y[i] = value;
}

#[kernel]
fn row_sums(i: Item, x: In<u32, 2>, y: OutRow<u32>) {
    let mut sum = 0;
    for c in 0..y.shape()[1] {
        sum += x[(i.index(), c)];
        y[(i, c)] = sum;
    }
}

#[kernel(group = 4)]
fn group_sums(g: Group, x: In<u32>, y: OutGroup<u32>) {
    let sum = g.reduce::<Add>(|i| x[i]);
    y[g] = sum;
}

#[kernel]
fn total(i: Item<2>, x: In<f32, 2>, sum: Reduce<f32, Add>) {
    sum.give(x[i]);
}

#[kernel]
fn line_total(i: Item, x: In<f32>, sum: Reduce<f32, Add>, most: Reduce<f32, Max>) {
    sum.give(x[i]);
    most.give(x[i]);
}

#[kernel(group = 4)]
fn group_totals(g: Group, x: In<u32>, sum: Reduce<u32, Xor>) {
    g.each(|i| sum.give(x[i]));
}

#[kernel]
fn histogram(i: Item, x: In<u32>, bins: Atomic<u32>, least: Atomic<i32>) {
    bins.add(x[i] % bins.len() as u32, 1);
    least.min(x[i] % 2, x[i] as i32);
}

/// A place for a launch: a queue, and how that runs it.
pub(crate) type Place = (Queue, How);

/// How a queue runs a launch.
#[derive(Clone, Copy)]
pub(crate) enum How {
    /// On one device.
    Run,
    /// On all of them.
    Spread,
    /// So in a batch, and as a group.
    Batch,
    /// So as a graph that is recorded and run.
    Graph,
}

/// Runs a call there.
fn start<K: Kernel, const D: usize>(
    (q, how): &Place,
    items: impl Into<Items<D>>,
    call: KernelCall<K, D>,
) {
    let items = items.into();
    let in_group = |q: &Queue, call| {
        q.submit(|cg| {
            cg.spread(items, call);
            Ok(())
        })
    };
    match how {
        How::Run => drop(q.run(items, call).unwrap()),
        How::Spread => drop(q.spread(items, call).unwrap()),
        How::Batch => drop(q.batch(|q| in_group(q, call)).unwrap()),
        How::Graph => {
            let graph = q.runtime().graph(&q.device()).unwrap();
            let recording = graph.record([q]).unwrap();
            q.spread(items, call).unwrap();
            drop(recording);
            q.run_graph(&graph.finalize().unwrap()).unwrap();
        }
    }
}

/// A sequence of numbers.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn below(&mut self, n: usize) -> usize {
        let Dice(state) = self;
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
        (*state >> 33) as usize % n
    }

    fn range(&mut self, n: usize) -> Range<usize> {
        let [a, b] = [self.below(n + 1), self.below(n + 1)];
        a.min(b)..a.max(b)
    }
}

/// Elements of a line.
const N: usize = 61;

fn numbers(n: usize) -> Vec<u32> {
    (0..n as u32).map(|k| k.wrapping_mul(2_654_435_761) >> 7).collect()
}

fn floats(n: usize) -> Vec<f32> {
    numbers(n).into_iter().map(|k| (k % 1000) as f32 / 7.0 - 50.0).collect()
}

/// Elements of a line of some leaves of a reduction.
const LONG: usize = 10_000;

/// What a program works on.
struct Data {
    rt: Runtime,
    at: Buffer<u32>,
    lines: [Buffer<u32>; 3],
    plates: [Buffer<f32, 2>; 2],
    table: Buffer<u32, 2>,
    long: Buffer<f32>,
    bins: Buffer<u32>,
    xor: Buffer<u32>,
    most: Buffer<f32>,
    least: Buffer<i32>,
    sum: Buffer<f32>,
    sums: Buffer<u32>,
}

impl Data {
    fn new(rt: &Runtime) -> Data {
        // Small pages: a part of a launch is a part of them, too.
        let row = || BufferOptions::new().page([1, 9]);
        let plate = || rt.buffer_with((floats(14 * 9), [14, 9]), row()).unwrap();
        let line = || BufferOptions::new().page([4]);
        let indices: Vec<u32> = numbers(N).iter().map(|k| k % N as u32).collect();
        Data {
            rt: rt.clone(),
            at: rt.buffer_from(&indices).unwrap(),
            lines: [(); 3].map(|()| rt.buffer_with((numbers(N), N), line()).unwrap()),
            plates: [(); 2].map(|()| plate()),
            table: rt.buffer_from((numbers(63), [9, 7])).unwrap(),
            long: rt.buffer_from(floats(LONG)).unwrap(),
            bins: rt.buffer(5).unwrap(),
            xor: rt.buffer(1).unwrap(),
            most: rt.buffer(1).unwrap(),
            least: rt.buffer_from(&[7, 9]).unwrap(),
            sum: rt.buffer(1).unwrap(),
            sums: rt.buffer(20).unwrap(),
        }
    }

    /// A random step: a launch, or what leaves pages in pieces.
    fn step(&mut self, dice: &mut Dice, place: &Place) {
        let Data { at, lines: [x, y, z], plates: [p, r], .. } = self;
        match dice.below(16) {
            0 | 1 => {
                let Range { start: first, end } = dice.range(N - 3);
                start(place, first + 1..end + 1, smooth(y, z));
                self.lines.swap(1, 2);
            }
            2 => start(place, dice.range(N), gather(at, y, x)),
            3 | 4 => {
                let [rows, columns] = [dice.range(12), dice.range(7)];
                let inner = [rows, columns].map(|of| of.start + 1..of.end + 1);
                start(place, inner, five(p, r));
                self.plates.swap(0, 1);
            }
            5 => {
                let from = self.rt.buffer_from((self.table.to_vec().unwrap(), [9, 7])).unwrap();
                start(place, dice.range(9), row_sums(&from, &mut self.table));
            }
            6 => start(place, dice.range(N), histogram(x, &mut self.bins, &mut self.least)),
            7 => {
                let size = 1 + dice.below(14);
                let part = p.slice([14 - size, 0], [size, 9]).unwrap();
                start(place, [size, 9], total(part, &mut self.sum));
            }
            8 => {
                let Range { start: first, end } = dice.range(15);
                start(place, 4 * first..4 * end, group_sums(x, &mut self.sums));
            }
            9 => {
                let (part, value) = (dice.range(N), dice.below(1000) as u32);
                let mut part = y.slice_mut([part.start], [part.len()]).unwrap();
                part.write().unwrap().iter_mut().for_each(|v| *v ^= value);
            }
            10 => {
                let part = dice.range(N);
                let part = y.slice_mut([part.start], [part.len()]).unwrap();
                place.0.fill(part, dice.below(1000) as u32).unwrap();
            }
            11 => {
                let items = dice.range(LONG);
                start(place, items, line_total(&self.long, &mut self.sum, &mut self.most));
            }
            12 => {
                let Range { start: first, end } = dice.range(15);
                start(place, 4 * first..4 * end, group_totals(x, &mut self.xor));
            }
            13 => {
                // Each device copies its share to the line behind.
                for (q, own) in place.0.shares(&*y, 1 + dice.below(9)).unwrap() {
                    let (at, len) = ([own.start], [own.len()]);
                    q.copy(y.slice(at, len).unwrap(), z.slice_mut(at, len).unwrap()).unwrap();
                }
            }
            14 => {
                let (part, devices) = (dice.range(N), place.0.devices());
                let q = place.0.on(&devices[devices.len() - 1]).unwrap();
                let part = z.slice_mut([part.start], [part.len()]).unwrap();
                q.share(part.range(), fills(dice.below(1000) as u32, part)).unwrap();
            }
            _ => {
                let [rows, columns] = [dice.range(14), dice.range(9)];
                let (at, size) = ([rows.start, columns.start], [rows.len(), columns.len()]);
                let (from, to) = (p.slice(at, size).unwrap(), r.slice_mut(at, size).unwrap());
                place.0.copy(from, to).unwrap();
            }
        }
    }

    /// All elements, by their bits.
    fn bits(&self) -> Vec<u32> {
        let Data { lines: [x, y, z], bins, sums, xor, table, .. } = self;
        let numbers = [x, y, z, bins, sums, xor].map(|x| x.to_vec().unwrap());
        let mut all: Vec<u32> = numbers.concat();
        all.extend(table.to_vec().unwrap());
        all.extend(self.least.to_vec().unwrap().iter().map(|v| *v as u32));
        let [p, r] = &self.plates;
        let floats = [p.to_vec(), r.to_vec(), self.sum.to_vec(), self.most.to_vec()];
        all.extend(floats.into_iter().flat_map(Result::unwrap).map(f32::to_bits));
        all
    }
}

/// Runs a random program, whose steps `place` gives to queues. Its results follow from the seed.
pub(crate) fn program(rt: &Runtime, seed: u64, mut place: impl FnMut() -> Place) -> Vec<u32> {
    let (mut dice, mut data) = (Dice(seed), Data::new(rt));
    (0..14).for_each(|_| data.step(&mut dice, &place()));
    data.bits()
}

/// Devices of a seed.
fn machine(seed: u64) -> RuntimeBuilder {
    let cpu = |n| CpuBackend::builder().domains(n).threads(n).build().unwrap();
    let device = || {
        let spec = DeviceSpec::new().closures(false).ir(Arc::new(Interpreter));
        let spec = spec.wait_group(seed.is_multiple_of(3).then_some(0));
        // Frames that no row and no page ends with.
        if seed % 7 < 5 { spec.frame([20, 28, 64, 12, 4][seed as usize % 5]) } else { spec }
    };
    let script = Script::new().seed(seed).jitter(seed / 4 % 5);
    let sim = SimBackend::builder().script(script);
    let sim = if seed % 5 < 3 { sim.peers(Link::default()) } else { sim };
    let sim = |n| sim.devices(n, device()).build();
    let builder = Runtime::builder();
    match seed % 4 {
        0 => builder.backend(cpu(1 + seed as usize / 4 % 3)),
        1 => builder.backend(sim(2)).backend(cpu(2)),
        _ => builder.backend(sim(1 + seed as usize / 4 % 8)),
    }
}

/// Ways to share launches of `n` devices, in which some have little, or nothing.
pub(crate) fn split(n: usize, dice: &mut Dice) -> Split {
    let canary = Canary::new("a function of `Split::by`");
    match dice.below(3) {
        0 => Split::rows(),
        1 => {
            let mut weights: Vec<f64> = (0..n).map(|_| dice.below(4) as f64).collect();
            weights[dice.below(n)] += 1.0;
            Split::weights(&weights)
        }
        // The last device has the first columns, and the first device the others.
        _ => Split::by(move |items, n| {
            canary.runs();
            let mut parts = vec![Box3::EMPTY; n];
            parts[0] = *items;
            if n > 1 {
                let at = items.min[2] + items.extent()[2] / 3;
                (parts[0].min[2], parts[n - 1]) = (at, *items);
                parts[n - 1].max[2] = at;
            }
            parts
        }),
    }
}

fn case(seed: u64, builder: RuntimeBuilder) -> Result<(), String> {
    let one = CpuBackend::builder().domains(1).threads(1).build().unwrap();
    let one = Runtime::builder().backend(one).build().unwrap();
    let alone = one.queue().unwrap();
    let wanted = program(&one, seed, || (alone.clone(), How::Run));
    let rt = builder.build().unwrap();
    let devices = rt.devices();
    let mut dice = Dice(seed.wrapping_add(1000));
    let over = |dice: &mut Dice| rt.queue_over(&devices, split(devices.len(), dice)).unwrap();
    let mut queues: Vec<Queue> = (0..3).map(|_| over(&mut dice)).collect();
    queues.extend(devices.iter().map(|device| rt.queue_on(device).unwrap()));
    let found = program(&rt, seed, || {
        let how =
            [How::Run, How::Run, How::Spread, How::Spread, How::Spread, How::Batch, How::Graph]
                [dice.below(7)];
        let among = if let How::Run = how { queues.len() } else { 3 };
        (queues[dice.below(among)].clone(), how)
    });
    (found == wanted).then_some(()).ok_or_else(|| format!("seed {seed}: other results"))
}

/// KRN-02, KRN-08, DEP-01
#[test]
fn suite_spread() {
    let budget = Budget::of("SPREAD");
    let begun = Instant::now();
    let (done, wrong) = cases(budget, 1, &|seed| case(seed, machine(seed)));
    println!("{}", line("spread", done, begun.elapsed(), wrong.len(), budget.seed));
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    let least = budget.cases.unwrap_or(budget.least);
    assert!(done >= least, "{done} cases, at least {least} asked");
}

/// Random programs find each mistake that spread launches could make.
#[test]
fn planted_bugs_of_spread_launches_are_found() {
    for bug in [Planted::LostPieces, Planted::FirstBox, Planted::FirstFrame] {
        let found = (1..400).find(|seed| {
            // SAFETY: the bug shows in results, or in what a simulated device refuses: memory is
            // defined all the same, also in its frames without memory.
            let builder = unsafe { machine(*seed).plant(bug) };
            // Who reads what an operation that was refused should have written panics here.
            catch_unwind(AssertUnwindSafe(|| case(*seed, builder))).map_or(true, |ran| ran.is_err())
        });
        assert!(found.is_some(), "{bug:?} is not found");
    }
}
