//! Launches that several devices share: bits are those of one device, and bytes those that must
//! move, counted here element by element.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests may panic")]

use folio::prelude::*;
use folio::sched::{Model, RoundRobin, Scheduler, Split};
use folio_core::geom::Box3;
use folio_core::hal::{Link, OpKind};
use folio_core::{Items, KernelCall, RacyMemory, RunsIn, Spread};
use folio_cpu::CpuBackend;
use folio_model::interp::Interpreter;
use folio_opencl::OpenClBackend;
use folio_sim::{DeviceSpec, Script, SimBackend};
use folio_vulkan::VulkanBackend;
use std::sync::Arc;

#[kernel]
fn five(i: Item<2>, x: In<f32, 2>, y: Out<f32, 2>) {
    let (r, c) = i.pos();
    y[i] = 0.2 * (x[(r - 1, c)] + x[(r, c - 1)] + x[(r, c)] + x[(r, c + 1)] + x[(r + 1, c)]);
}

#[kernel]
fn nine(i: Item<2>, x: In<f32, 2>, y: Out<f32, 2>) {
    let (r, c) = i.pos();
    let mut sum = 0.0;
    for a in 0..3 {
        for b in 0..3 {
            sum += x[(r + a - 1, c + b - 1)];
        }
    }
    y[i] = sum / 9.0;
}

#[kernel]
fn seven(i: Item<3>, x: In<f32, 3>, y: Out<f32, 3>) {
    let (z, r, c) = i.pos();
    let near = x[(z - 1, r, c)] + x[(z + 1, r, c)] + x[(z, r - 1, c)] + x[(z, r + 1, c)];
    y[i] = 0.25 * near - 0.5 * (x[(z, r, c - 1)] + x[(z, r, c + 1)]) + x[(z, r, c)];
}

#[kernel]
fn all_around(i: Item<3>, x: In<f32, 3>, y: Out<f32, 3>) {
    let (z, r, c) = i.pos();
    let mut sum = 0.0;
    for a in 0..3 {
        for b in 0..3 {
            for d in 0..3 {
                sum += x[(z + a - 1, r + b - 1, c + d - 1)];
            }
        }
    }
    y[i] = sum / 27.0;
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
fn row_sums(i: Item, x: In<u32, 2>, y: OutRow<u32>) {
    let mut sum = 0;
    for c in 0..y.shape()[1] {
        sum += x[(i.index(), c)];
        y[(i, c)] = sum;
    }
}

#[kernel]
fn column_sums(i: Item, x: In<u32, 2>, y: OutColumn<u32>) {
    let mut sum = 0;
    for r in 0..y.shape()[0] {
        sum += x[(r, i.index())];
        y[(r, i)] = sum;
    }
}

#[kernel(group = 4)]
fn group_sums(g: Group, x: In<u32>, y: OutGroup<u32>) {
    let sum = g.reduce::<Add>(|i| x[i]);
    y[g] = sum;
}

#[kernel]
fn totals(i: Item, x: In<f32>, y: Out<f32>, sum: Reduce<f32, Add>, most: Reduce<i64, Max>) {
    y[i] = 2.0 * x[i];
    sum.give(x[i]);
    most.give(x[i] as i64);
}

#[kernel]
fn total(i: Item<2>, x: In<f32, 2>, sum: Reduce<f32, Add>) {
    sum.give(x[i]);
}

#[kernel]
fn line_total(i: Item, x: In<f32>, sum: Reduce<f32, Add>) {
    sum.give(x[i]);
}

#[kernel(group = 4)]
fn group_totals(g: Group, x: In<f32>, sum: Reduce<f32, Add>) {
    g.each(|i| sum.give(x[i]));
}

#[kernel]
fn histogram(i: Item, x: In<u32>, bins: Atomic<u32>, least: Atomic<i32>) {
    bins.add(x[i] % bins.len() as u32, 1);
    least.min(x[i] % 2, x[i] as i32);
}

#[kernel]
fn numbered(i: Item, next: Atomic<u32>, y: Out<u32>) {
    y[i] = next.add(0, 1);
}

#[kernel(group = 4)]
fn asks(g: Group, y: OutGroup<u32>) {
    y[g] = g.count()[0] as u32;
}

#[kernel(group = 4)]
fn asks_of_groups(g: Group, y: OutGroup<u32>) {
    y[g] = g.index() as u32;
}

#[kernel]
fn adds_floats(i: Item, y: Atomic<f32>) {
    y.add(i.index() % 2, 1.0);
}

#[kernel]
fn writes_anywhere(i: Item, y: Racy<u32>) {
    y[i.index() + 1] = 1;
}

fn simulated(n: usize) -> SimBackend {
    let spec = || DeviceSpec::new().closures(false).ir(Arc::new(Interpreter));
    SimBackend::builder().devices(n, spec()).peers(Link::default()).build()
}

/// Runtimes with devices of all kinds.
fn machines() -> Vec<Runtime> {
    let runtime = || Runtime::builder();
    let cpu = |n| CpuBackend::builder().domains(n).threads(n).build().unwrap();
    let mut all: Vec<Runtime> =
        [1, 2, 3, 5, 8].map(|n| runtime().backend(simulated(n)).build().unwrap()).into();
    all.extend([2, 3].map(|n| runtime().backend(cpu(n)).build().unwrap()));
    let mixed = runtime().backend(simulated(2)).backend(cpu(2));
    let mixed = mixed.backend(OpenClBackend::new()).backend(VulkanBackend::new());
    all.push(mixed.build().unwrap());
    all
}

/// Splits that give `n` devices something; also very little, and nothing.
fn splits(n: usize) -> Vec<Split> {
    let weights: Vec<f64> = (0..n).map(|k| [1.0, 0.0, 2.5][(k + n) % 3]).collect();
    let mut all = vec![Split::rows()];
    if weights.iter().sum::<f64>() > 0.0 {
        all.push(Split::weights(&weights));
    }
    all.push(Split::by(|items, n| {
        let mut parts = vec![Box3::EMPTY; n];
        let (mut first, mut last) = (*items, *items);
        let at = items.min[2] + items.extent()[2] / 8 * 4;
        (first.max[2], last.min[2]) = (at, at);
        (parts[n - 1], parts[0]) = (first, last);
        if n == 1 {
            parts[0] = *items;
        }
        parts
    }));
    all
}

fn over(rt: &Runtime, scheduler: impl Scheduler + 'static) -> Queue {
    rt.queue_over(&rt.devices(), scheduler).unwrap()
}

fn numbers(n: usize) -> Vec<u32> {
    (0..n as u32).map(|k| k.wrapping_mul(2_654_435_761) >> 7).collect()
}

fn floats(n: usize) -> Vec<f32> {
    numbers(n).into_iter().map(|k| (k % 1000) as f32 / 7.0 - 50.0).collect()
}

/// Calls `check` with each machine and split: two queues, one of a single device.
fn each(mut check: impl FnMut(&Queue, &Queue)) {
    for rt in machines() {
        let one = rt.queue_on(&rt.devices()[0]).unwrap();
        for split in splits(rt.devices().len()) {
            check(&one, &over(&rt, split));
        }
    }
}

/// Steps of a stencil from one buffer to another and back, by `spread` and by `run`.
fn same_bits<const D: usize, K>(extent: [usize; D], call: K)
where
    K: for<'a> Fn(&'a Buffer<f32, D>, &'a mut Buffer<f32, D>) -> Box<dyn Call<D> + 'a>,
{
    each(|one, all| {
        let rt = one.runtime();
        let contents = floats(extent.iter().product());
        let ran = |all: &Queue, spread: bool| {
            let options = BufferOptions::new;
            let mut x = rt.buffer_with((contents.clone(), extent), options()).unwrap();
            let mut y = rt.buffer_with((contents.clone(), extent), options()).unwrap();
            for _ in 0..3 {
                let items = Items::from(extent).interior(1);
                call(&x, &mut y).start(all, items, spread);
                std::mem::swap(&mut x, &mut y);
            }
            x.to_vec().unwrap().iter().map(|v| v.to_bits()).collect::<Vec<_>>()
        };
        assert_eq!(ran(all, true), ran(one, false));
    });
}

/// A call of some kernel.
trait Call<const D: usize> {
    fn start(self: Box<Self>, q: &Queue, items: Items<D>, spread: bool);
    fn explained(&self, q: &Queue, items: Items<D>) -> Spread;
}

impl<K: folio_core::ir::device::Kernel, const D: usize> Call<D> for KernelCall<K, D> {
    fn start(self: Box<Self>, q: &Queue, items: Items<D>, spread: bool) {
        match spread {
            true => drop(q.spread(items, *self).unwrap()),
            false => drop(q.run(items, *self).unwrap()),
        }
    }

    fn explained(&self, q: &Queue, items: Items<D>) -> Spread {
        q.explain_spread(items, self).unwrap()
    }
}

#[test]
fn stencils_are_those_of_one_device() {
    same_bits([12, 13], |x, y| Box::new(five(x, y)));
    same_bits([9, 21], |x, y| Box::new(nine(x, y)));
    same_bits([5, 6, 19], |x, y| Box::new(seven(x, y)));
    same_bits([6, 5, 18], |x, y| Box::new(all_around(x, y)));
}

#[test]
fn lines_are_those_of_one_device() {
    each(|one, all| {
        let rt = one.runtime();
        let n = 37;
        let start = numbers(n);
        let ran = |q: &Queue, spread: bool| {
            let x = rt.buffer_from(&start).unwrap();
            let at = rt.buffer_from(start.iter().map(|k| k % n as u32).collect::<Vec<_>>());
            let mut y = rt.buffer_from(&start).unwrap();
            let (at, mut z) = (at.unwrap(), rt.buffer::<u32, 1>(n).unwrap());
            for _ in 0..2 {
                for items in [5..n, 0..n - 5] {
                    Box::new(gather(&at, &x, &mut y)).start(q, items.into(), spread);
                }
                Box::new(smooth(&y, &mut z)).start(q, (1..n - 2).into(), spread);
                Box::new(gather(&at, &z, &mut y)).start(q, n.into(), spread);
            }
            (y.to_vec().unwrap(), z.to_vec().unwrap())
        };
        assert_eq!(ran(all, true), ran(one, false));
    });
}

#[test]
fn rows_columns_and_groups_are_those_of_one_device() {
    each(|one, all| {
        let rt = one.runtime();
        let extent = [10, 7];
        let ran = |q: &Queue, spread: bool| {
            let x = rt.buffer_from((numbers(70), extent)).unwrap();
            let mut rows = rt.buffer::<u32, 2>(extent).unwrap();
            let mut columns = rt.buffer::<u32, 2>(extent).unwrap();
            let mut sums = rt.buffer::<u32, 1>(9).unwrap();
            let y = rt.buffer_from(numbers(40)).unwrap();
            Box::new(row_sums(&x, &mut rows)).start(q, 10.into(), spread);
            Box::new(column_sums(&rows, &mut columns)).start(q, (1..7).into(), spread);
            Box::new(group_sums(&y, &mut sums)).start(q, (4..40).into(), spread);
            (rows.to_vec().unwrap(), columns.to_vec().unwrap(), sums.to_vec().unwrap())
        };
        assert_eq!(ran(all, true), ran(one, false));
    });
}

/// Where each element of a buffer is current: a bit for each device, and one for the host.
struct Places {
    extent: [usize; 3],
    on: Vec<u32>,
}

const HOST: u32 = 1 << 31;

impl Places {
    fn new(extent: [usize; 3]) -> Places {
        Places { extent, on: vec![HOST; extent.iter().product()] }
    }

    fn at(&mut self, [z, r, c]: [usize; 3]) -> &mut u32 {
        &mut self.on[(z * self.extent[1] + r) * self.extent[2] + c]
    }

    /// How many elements a device lacks, of those that it reads; then it has them.
    fn read(&mut self, device: usize, elements: impl Iterator<Item = [usize; 3]>) -> usize {
        let bit = 1 << device;
        let lacks = |at| {
            let on = self.at(at);
            let lacks = *on & bit == 0;
            *on |= bit;
            usize::from(lacks)
        };
        elements.map(lacks).sum()
    }

    fn write(&mut self, device: usize, part: &Box3) {
        part.cells().for_each(|at| *self.at(at) = 1 << device);
    }
}

/// The items of each device.
fn parts<const D: usize>(spread: &Spread) -> Vec<Box3> {
    let widen = |dims: &[usize], fill: usize| -> [usize; 3] {
        std::array::from_fn(|d| if d < 3 - D { fill } else { dims[d - (3 - D)] })
    };
    let of = |part: &folio_core::SpreadPart| {
        let (offset, range) = (widen(&part.offset, 0), widen(&part.range, 1));
        Box3::at(offset, range).unwrap()
    };
    spread.parts.iter().map(of).collect()
}

/// Steps of a stencil move what a program by hand would move, in each step.
fn least_bytes<const D: usize, K>(extent: [usize; D], points: &[[isize; 3]], call: K)
where
    K: for<'a> Fn(&'a Buffer<f32, D>, &'a mut Buffer<f32, D>) -> Box<dyn Call<D> + 'a>,
{
    let wide: [usize; 3] = std::array::from_fn(|d| if d < 3 - D { 1 } else { extent[d - (3 - D)] });
    for n in 1..=8 {
        let rt = Runtime::builder().backend(simulated(n)).build().unwrap();
        let mut all = splits(n);
        if D == 2 && n % 2 == 0 {
            all.push(Split::blocks([2, n / 2]));
        }
        for split in all {
            let q = over(&rt, split.clone());
            let contents = floats(extent.iter().product());
            let made = || rt.buffer_with((contents.clone(), extent), BufferOptions::new()).unwrap();
            let (mut x, mut y) = (made(), made());
            let (mut in_x, mut in_y) = (Places::new(wide), Places::new(wide));
            let items = Items::from(extent).interior(1);
            for step in 0..5 {
                let before = rt.counters().transfers().bytes;
                let divided = call(&x, &mut y).explained(&q, items);
                call(&x, &mut y).start(&q, items, true);
                let moved = rt.counters().transfers().bytes - before;
                let mut least = 0;
                let parts = parts::<D>(&divided);
                for (device, part) in parts.iter().enumerate() {
                    let around = |at: [usize; 3]| {
                        let near = move |by: &[isize; 3]| {
                            std::array::from_fn(|d| at[d].wrapping_add_signed(by[d]))
                        };
                        points.iter().map(near)
                    };
                    least += in_x.read(device, part.cells().flat_map(around));
                }
                parts.iter().enumerate().for_each(|(device, part)| in_y.write(device, part));
                assert_eq!(moved, 4 * least as u64, "{n} devices, {split:?}, step {step}");
                std::mem::swap(&mut x, &mut y);
                std::mem::swap(&mut in_x, &mut in_y);
            }
            rt.wait().unwrap();
        }
    }
}

/// The neighbours at distances of at most 1 in each of the last `D` dimensions.
fn neighbours<const D: usize>() -> Vec<[isize; 3]> {
    let near = Box3::whole(std::array::from_fn(|d| if d < 3 - D { 1 } else { 3 }));
    let by =
        |at: [usize; 3]| std::array::from_fn(|d| if d < 3 - D { 0 } else { at[d] as isize - 1 });
    near.cells().map(by).collect()
}

#[test]
fn stencils_move_their_halos_and_nothing_else() {
    least_bytes([11, 14], &neighbours::<2>(), |x, y| Box::new(nine(x, y)));
    let near = |by: &[isize; 3]| by.iter().filter(|by| **by != 0).count() <= 1;
    let star = |all: Vec<[isize; 3]>| all.into_iter().filter(near).collect::<Vec<_>>();
    least_bytes([11, 14], &star(neighbours::<2>()), |x, y| Box::new(five(x, y)));
    least_bytes([6, 5, 18], &star(neighbours::<3>()), |x, y| Box::new(seven(x, y)));
    least_bytes([4, 40], &neighbours::<2>(), |x, y| Box::new(nine(x, y)));
    least_bytes([6, 5, 18], &neighbours::<3>(), |x, y| Box::new(all_around(x, y)));
}

/// Machines on which launches of some thousands of items are no burden.
fn some_machines() -> Vec<Runtime> {
    let mut all = machines();
    all.split_off(all.len() - 2).into_iter().chain(all.into_iter().skip(2).take(1)).collect()
}

/// KRN-08: reductions have the bits of one launch on one device, wherever their leaves are.
#[test]
fn reductions_are_those_of_one_device() {
    for rt in some_machines() {
        let one = rt.queue_on(&rt.devices()[0]).unwrap();
        for split in splits(rt.devices().len()) {
            let all = over(&rt, split);
            let n = 3 * 4096 + 123;
            let ran = |q: &Queue, spread: bool| {
                let x = rt.buffer_from(floats(n)).unwrap();
                let plate = rt.buffer_from((floats(9000), [75, 120])).unwrap();
                let wide = rt.buffer_from((floats(8320), [130, 64])).unwrap();
                let mut y = rt.buffer::<f32, 1>(n).unwrap();
                let odd = rt.buffer_from((floats(12_360), [1030, 12])).unwrap();
                let mut sums = [(); 5].map(|()| rt.buffer_from(&[3.0f32; 2]).unwrap());
                let mut most = rt.buffer::<i64, 1>(1).unwrap();
                Box::new(totals(&x, &mut y, &mut sums[0], &mut most)).start(
                    q,
                    (5..n).into(),
                    spread,
                );
                // One leaf, and leaves that are some rows.
                let small = plate.slice([3, 2], [30, 100]).unwrap();
                Box::new(total(small, &mut sums[1])).start(q, [30, 100].into(), spread);
                Box::new(total(&wide, &mut sums[2])).start(q, [130, 64].into(), spread);
                Box::new(group_totals(&x, &mut sums[3])).start(q, (8..400).into(), spread);
                // Only each 1024th row begins with a leaf.
                Box::new(total(&odd, &mut sums[4])).start(q, [1030, 12].into(), spread);
                let bits = |x: &Buffer<f32>| {
                    x.to_vec().unwrap().iter().map(|v| v.to_bits()).collect::<Vec<_>>()
                };
                let [a, b, c, d, e] = &sums;
                let bits = [&y, a, b, c, d, e].map(bits);
                (bits, most.to_vec().unwrap())
            };
            assert_eq!(ran(&all, true), ran(&one, false));
        }
    }
}

/// A part of a reduction is one command, however many leaves it has, and a copy brings what it has
/// left.
#[test]
fn a_part_of_a_reduction_is_one_command() {
    let rt = Runtime::builder().backend(simulated(3)).build().unwrap();
    let q = over(&rt, Split::rows());
    let x = rt.buffer_from(floats(9 * 4096)).unwrap();
    let mut sum = rt.buffer::<f32, 1>(1).unwrap();
    for group in [false, true] {
        let before = rt.counters();
        match group {
            true => q.spread(9 * 4096, group_totals(&x, &mut sum)).unwrap(),
            false => q.spread(9 * 4096, line_total(&x, &mut sum)).unwrap(),
        }
        .wait()
        .unwrap();
        let after = rt.counters();
        assert_eq!(after.launches - before.launches, 3);
        let values = if group { 9 * 1024 } else { 9 };
        let inputs = if group { 0 } else { 9 * 4096 };
        let moved = after.transfers().bytes - before.transfers().bytes;
        assert_eq!(moved, 4 * (values + inputs));
    }
}

/// Rows of which no run is made of whole leaves are computed by one device.
#[test]
fn leaves_are_not_cut() {
    let rt = Runtime::builder().backend(simulated(3)).build().unwrap();
    let plate = rt.buffer_from((floats(10_000), [100, 100])).unwrap();
    let mut sum = rt.buffer::<f32, 1>(1).unwrap();
    let q = over(&rt, Split::rows());
    let told = q.explain_spread([100, 100], &total(&plate, &mut sum)).unwrap();
    let ranges: Vec<_> = told.parts.iter().map(|part| part.range.clone()).collect();
    assert_eq!(ranges.iter().filter(|range| **range == [100, 100]).count(), 1, "{ranges:?}");
}

#[test]
fn counts_are_those_of_one_device() {
    each(|one, all| {
        let rt = one.runtime();
        let ran = |q: &Queue, spread: bool| {
            let x = rt.buffer_from(numbers(100)).unwrap();
            let mut bins = rt.buffer_from((vec![9u32; 20], [20])).unwrap();
            let mut least = rt.buffer_from(&[i32::MAX; 2]).unwrap();
            for _ in 0..2 {
                let some = bins.slice_mut([3], [11]).unwrap();
                Box::new(histogram(&x, some, &mut least)).start(q, (3..100).into(), spread);
            }
            (bins.to_vec().unwrap(), least.to_vec().unwrap())
        };
        assert_eq!(ran(all, true), ran(one, false));
    });
}

/// A part that fails fails the launch, and names its device.
#[test]
fn failures_of_parts_name_their_device() {
    let rt = Runtime::builder().backend(simulated(3)).build().unwrap();
    let mut at = numbers(30).iter().map(|k| k % 30).collect::<Vec<_>>();
    at[14] = 1000;
    let (at, x) = (rt.buffer_from(&at).unwrap(), rt.buffer_from(numbers(30)).unwrap());
    let mut y = rt.buffer::<u32, 1>(30).unwrap();
    let event = over(&rt, Split::rows()).spread(30, gather(&at, &x, &mut y)).unwrap();
    let error = event.wait().unwrap_err().to_string();
    assert!(error.contains("sim:1") && error.contains("1000"), "{error}");
    assert!(y.slice([0], [10]).unwrap().read().is_ok() && y.read().is_err());
}

#[test]
fn what_stands_in_the_way_is_told() {
    let rt = Runtime::builder().backend(simulated(2)).build().unwrap();
    let q = over(&rt, RoundRobin);
    let (mut x, mut floats) = (rt.buffer::<u32, 1>(16).unwrap(), rt.buffer::<f32, 1>(2).unwrap());
    let check = |refused: folio::Result<Event>, wanted: &str| {
        let error = refused.unwrap_err();
        assert!(matches!(error, folio::Error::NotSpread { .. }), "{error:#?}");
        assert_eq!(error.to_string(), wanted);
    };
    check(
        q.spread(16, asks(&mut x)),
        "kernel `asks` cannot be spread over devices: it asks for the number of groups of its launch",
    );
    check(
        q.spread(16, asks_of_groups(&mut x)),
        "kernel `asks_of_groups` cannot be spread over devices: it computes with the index of a \
         group",
    );
    check(
        q.spread(16, adds_floats(&mut floats)),
        "kernel `adds_floats` cannot be spread over devices: `y`: what its items find there depends \
         on other items",
    );
    let mut next = rt.buffer::<u32, 1>(1).unwrap();
    check(
        q.spread(16, numbered(&mut next, &mut x)),
        "kernel `numbered` cannot be spread over devices: `next`: what its items find there depends \
         on other items",
    );
    // SAFETY: no item writes an element of another one.
    let racy = unsafe { RacyMemory::new(&mut x) };
    check(
        q.spread(15, writes_anywhere(racy)),
        "kernel `writes_anywhere` cannot be spread over devices: `y`: any item may write any \
         element, so parts may race",
    );
    assert_eq!(rt.counters().launches, 0);
}

#[kernel]
fn double(i: Item, x: In<f32>, y: Out<f32>) {
    y[i] = 2.0 * x[i];
}

#[kernel]
fn grow(i: Item, y: InOut<u32>) {
    y[i] = 3 * y[i] + 1;
}

/// GRAPH-03: in a graph each device has one list, until it needs what another one has computed.
#[test]
fn graphs_have_a_list_for_each_device() {
    for n in 1..=3 {
        let rt = Runtime::builder().backend(simulated(n)).build().unwrap();
        let q = over(&rt, Split::rows());
        let graph = rt.graph(&q.device()).unwrap();
        let mut y = rt.buffer_from(numbers(50)).unwrap();
        let recording = graph.record([&q]).unwrap();
        (0..100).for_each(|_| drop(q.spread(50, grow(&mut y)).unwrap()));
        drop(recording);
        assert_eq!(graph.len(), 100 * n);
        let run = graph.finalize().unwrap();
        for _ in 0..2 {
            q.run_graph(&run).unwrap().wait().unwrap();
            let report = run.replay_report();
            assert_eq!((report.parts.len(), report.made), (n, n as u64), "{report:?}");
        }
        assert_eq!(run.replay_report().replays, 2 * n as u64);
        let step = |y: u32| y.wrapping_mul(3).wrapping_add(1);
        let grown = |y: u32| (0..200).fold(y, |y, _| step(y));
        assert_eq!(y.to_vec().unwrap(), numbers(50).into_iter().map(grown).collect::<Vec<_>>());
    }
}

/// Runs of graphs and batches of shared launches compute what one device computes, again and again.
#[test]
fn graphs_and_batches_of_shared_launches_are_those_of_one_device() {
    for rt in some_machines() {
        let one = rt.queue_on(&rt.devices()[0]).unwrap();
        for split in splits(rt.devices().len()) {
            let all = over(&rt, split);
            let start = || {
                let x = rt.buffer_from((floats(156), [12, 13])).unwrap();
                let y = rt.buffer_from((floats(156), [12, 13])).unwrap();
                let line = rt.buffer_from(numbers(5000)).unwrap();
                let (bins, least) = (rt.buffer::<u32, 1>(7).unwrap(), rt.buffer::<i32, 1>(2));
                let (sum, z) = (rt.buffer::<f32, 1>(1).unwrap(), rt.buffer_from(floats(5000)));
                (x, y, line, bins, least.unwrap(), sum, z.unwrap())
            };
            let inner = Items::from([12, 13]).interior(1);
            type Data = (
                Buffer<f32, 2>,
                Buffer<f32, 2>,
                Buffer<u32>,
                Buffer<u32>,
                Buffer<i32>,
                Buffer<f32>,
                Buffer<f32>,
            );
            let steps = |q: &Queue, data: &mut Data, spread: bool| {
                let (x, y, line, bins, least, sum, z) = data;
                Box::new(five(&*x, &mut *y)).start(q, inner, spread);
                Box::new(five(&*y, &mut *x)).start(q, inner, spread);
                Box::new(grow(&mut *line)).start(q, 5000.into(), spread);
                Box::new(histogram(&*line, bins, least)).start(q, 5000.into(), spread);
                Box::new(line_total(&*z, sum)).start(q, 5000.into(), spread);
            };
            let bits = |data: &Data| {
                let (x, y, line, bins, least, sum, _) = data;
                let floats = [x.to_vec(), y.to_vec(), sum.to_vec()].map(|of| of.unwrap());
                let floats: Vec<u32> = floats.concat().into_iter().map(f32::to_bits).collect();
                (floats, line.to_vec().unwrap(), bins.to_vec().unwrap(), least.to_vec().unwrap())
            };
            let mut wanted = start();
            (0..3).for_each(|_| steps(&one, &mut wanted, false));
            let wanted = bits(&wanted);
            let mut batched = start();
            for _ in 0..3 {
                all.batch(|q| {
                    steps(q, &mut batched, true);
                    Ok(())
                })
                .unwrap();
            }
            assert_eq!(bits(&batched), wanted);
            let mut recorded = start();
            let graph = rt.graph(&all.device()).unwrap();
            let recording = graph.record([&all]).unwrap();
            steps(&all, &mut recorded, true);
            drop(recording);
            let options = folio::graph::FinalizeOptions::new().enable_fusion();
            for run in [graph.finalize().unwrap(), graph.finalize_with(options).unwrap()] {
                let mut fresh = start();
                let (x, y, line, bins, least, ..) = &mut recorded;
                all.copy(&fresh.0, x).unwrap();
                all.copy(&fresh.1, y).unwrap();
                all.copy(&fresh.2, line).unwrap();
                all.copy(&fresh.3, bins).unwrap();
                all.copy(&fresh.4, least).unwrap();
                (0..3).for_each(|_| drop(all.run_graph(&run).unwrap()));
                fresh.5 = rt.buffer(1).unwrap();
                assert_eq!(bits(&recorded), wanted);
            }
        }
    }
}

/// A shared launch is one command of its queue: it has a name, comes after events, is in order, and
/// its time is that of its longest part.
#[test]
fn a_shared_launch_is_a_command() {
    let rt = Runtime::builder().backend(simulated(3)).build().unwrap();
    let q = over(&rt, Split::rows());
    let mut at = numbers(30).iter().map(|k| k % 30).collect::<Vec<_>>();
    at[14] = 1000;
    let (at, x) = (rt.buffer_from(&at).unwrap(), rt.buffer_from(numbers(30)).unwrap());
    let mut y = rt.buffer::<u32, 1>(30).unwrap();
    let mut z = rt.buffer::<u32, 1>(30).unwrap();
    let failing = q.submit(|cg| {
        cg.label("all parts").spread(30, gather(&at, &x, &mut y));
        Ok(())
    });
    let failing = failing.unwrap();
    let error = failing.wait().unwrap_err().to_string();
    assert!(error.contains("all parts") && error.contains("sim:1"), "{error}");
    let after = q.submit(|cg| {
        cg.after(&failing).spread(1..27, smooth(&x, &mut z));
        Ok(())
    });
    assert!(after.unwrap().wait().is_err());
    let timed = q.timed().spread(1..27, smooth(&x, &mut z)).unwrap();
    timed.wait().unwrap();
    assert!(timed.timing().is_some() && timed.device().is_none());
    let untimed = q.spread(1..27, smooth(&x, &mut z)).unwrap();
    untimed.wait().unwrap();
    assert!(untimed.timing().is_none());
    let refused = q.submit(|cg| {
        cg.read(&x);
        cg.spread(1..27, smooth(&x, &mut z));
        Ok(())
    });
    assert!(matches!(refused, Err(folio::Error::NotSpread { .. })), "{refused:?}");
    let refused = q.submit(|cg| {
        cg.spread(1..27, smooth(&x, &mut z));
        cg.fill(&mut y, 1);
        Ok(())
    });
    assert!(matches!(refused, Err(folio::Error::Actions { actions: 2, .. })), "{refused:?}");
    let graph = rt.graph(&q.device()).unwrap();
    let refused = graph.add(|cg| cg.spread(1..27, smooth(&x, &mut z)));
    assert!(matches!(refused, Err(folio::Error::NotSpread { .. })), "{refused:?}");
}

/// Fills and copies go where the data are.
#[test]
fn fills_and_copies_are_shared() {
    for rt in some_machines() {
        let one = rt.queue_on(&rt.devices()[0]).unwrap();
        for split in splits(rt.devices().len()) {
            let all = over(&rt, split);
            let n = 9000;
            let ran = |q: &Queue| {
                let mut x = rt.buffer_from(floats(n)).unwrap();
                let mut y = rt.buffer::<f32, 1>(n).unwrap();
                q.share(n, double(&x, &mut y)).unwrap();
                q.copy(y.slice([100], [8000]).unwrap(), x.slice_mut([3], [8000]).unwrap()).unwrap();
                q.fill(y.slice_mut([5], [4000]).unwrap(), 2.5f32).unwrap();
                q.share(n, double(&y, &mut x)).unwrap();
                let all = [x.to_vec(), y.to_vec()].map(Result::unwrap).concat();
                all.into_iter().map(f32::to_bits).collect::<Vec<u32>>()
            };
            assert_eq!(ran(&all), ran(&one));
        }
    }
}

/// Divisions and devices that are chosen by measured times change no result.
#[test]
fn measured_splits_and_models_are_those_of_one_device() {
    for rt in some_machines() {
        let one = rt.queue_on(&rt.devices()[0]).unwrap();
        let ran = |q: &Queue, spread: bool| {
            let mut x = rt.buffer_from(floats(3000)).unwrap();
            let mut y = rt.buffer::<f32, 1>(3000).unwrap();
            for _ in 0..6 {
                Box::new(double(&x, &mut y)).start(q, 3000.into(), spread);
                q.wait().unwrap();
                std::mem::swap(&mut x, &mut y);
            }
            x.to_vec().unwrap().into_iter().map(f32::to_bits).collect::<Vec<_>>()
        };
        let wanted = ran(&one, false);
        assert_eq!(ran(&over(&rt, Split::measured()), true), wanted);
        assert_eq!(ran(&over(&rt, Model), false), wanted);
    }
}

/// A device that takes a hundred times as long has a part of the first launch, and of no later one
/// whose data are worth to move.
#[test]
fn slow_devices_are_left_out_when_they_are_known() {
    let simulated = |name: &str, steps: u64| {
        let spec = DeviceSpec::new().closures(false).ir(Arc::new(Interpreter));
        let script = Script::new().latency(OpKind::Launch, steps);
        SimBackend::builder().name(name).script(script).devices(1, spec).build()
    };
    let builder = Runtime::builder().backend(simulated("fast", 10));
    let rt = builder.backend(simulated("slow", 1000)).build().unwrap();
    let q = over(&rt, Split::measured());
    let x = rt.buffer_from(floats(1000)).unwrap();
    let mut ranges = vec![];
    for _ in 0..2 {
        let mut y = rt.buffer::<f32, 1>(1000).unwrap();
        let told = q.explain_spread(1000, &double(&x, &mut y)).unwrap();
        ranges.push(told.parts.iter().map(|part| part.range[0]).collect::<Vec<_>>());
        q.spread(1000, double(&x, &mut y)).unwrap().wait().unwrap();
    }
    assert_eq!(ranges, [[500, 500], [1000, 0]]);
}

/// A fill of what devices have moves nothing, and one command is for each device.
#[test]
fn fills_and_copies_stay_where_data_are() {
    let rt = Runtime::builder().backend(simulated(3)).build().unwrap();
    let q = over(&rt, Split::rows());
    let (mut x, mut y) =
        (rt.buffer::<u32, 1>(90_000).unwrap(), rt.buffer::<u32, 1>(90_000).unwrap());
    for (fills, value) in [(3, 1), (6, 2)] {
        q.fill(&mut x, value).unwrap().wait().unwrap();
        assert_eq!((rt.counters().fills, rt.counters().transfers().bytes), (fills, 0));
    }
    q.copy(&x, &mut y).unwrap().wait().unwrap();
    assert_eq!(rt.counters().transfers().bytes, 0);
    q.fill(y.slice_mut([10], [50]).unwrap(), 3).unwrap().wait().unwrap();
    assert_eq!(rt.counters().transfers().bytes, 0);
    // A read brings pages of two parts, and leaves the parts where they are.
    assert_eq!(y.slice([29_998], [4]).unwrap().to_vec().unwrap(), [2; 4]);
    let read = rt.counters().transfers().bytes;
    assert!((16..=2 << 16).contains(&read), "{read}");
    q.fill(&mut y, 4).unwrap().wait().unwrap();
    assert_eq!((rt.counters().fills, rt.counters().transfers().bytes), (10, read));
}

#[test]
fn a_spread_launch_is_explained() {
    let rt = Runtime::builder().backend(simulated(3)).build().unwrap();
    let q = over(&rt, Split::rows());
    let x = rt.buffer_from((floats(32), [8, 4])).unwrap();
    let mut y = rt.buffer::<f32, 2>([8, 4]).unwrap();
    let told = q.explain_spread(Items::from([8, 4]).interior(1), &five(&x, &mut y)).unwrap();
    assert_eq!(
        told.to_string(),
        "kernel `five` over 3 devices\n  \
         sim:0: items [2, 2] from [1, 1] on; a halo of `x`: 32 bytes\n  \
         sim:1: items [2, 2] from [3, 1] on; a halo of `x`: 32 bytes\n  \
         sim:2: items [2, 2] from [5, 1] on; a halo of `x`: 32 bytes"
    );
    let (at, z) = (rt.buffer::<u32, 1>(2).unwrap(), rt.buffer::<u32, 1>(9).unwrap());
    let mut y = rt.buffer::<u32, 1>(2).unwrap();
    assert_eq!(
        q.explain_spread(2, &gather(&at, &z, &mut y)).unwrap().to_string(),
        "kernel `gather` over 3 devices\n  \
         sim:0: items [1] from [0] on; `x` is replicated: 36 bytes\n  \
         sim:1: no items\n  \
         sim:2: items [1] from [1] on; `x` is replicated: 36 bytes"
    );
}

/// A launch without items, and one over a single device.
#[test]
fn spreads_of_nothing_do_nothing() {
    let rt = Runtime::builder().backend(simulated(3)).build().unwrap();
    let (x, mut y) = (rt.buffer_from(&[7u32; 9]).unwrap(), rt.buffer::<u32, 1>(9).unwrap());
    over(&rt, Split::rows()).spread(3..3, smooth(&x, &mut y)).unwrap().wait().unwrap();
    rt.queue().unwrap().spread(1..7, smooth(&x, &mut y)).unwrap().wait().unwrap();
    assert_eq!(y.to_vec().unwrap(), [0, 35, 35, 35, 35, 35, 35, 0, 0]);
    let wrong = over(&rt, Split::blocks([2])).spread(1..7, smooth(&x, &mut y)).unwrap_err();
    assert_eq!(wrong.to_string(), "split: blocks of [2] for 3 devices and 1 dimensions");
    fn is_call<const D: usize>(_: &impl RunsIn<D>) {}
    is_call::<1>(&smooth(&x, &mut y));
}
