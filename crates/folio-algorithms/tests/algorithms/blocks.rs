//! Random blocks of kernels of items, of groups and of algorithms: fused, and in a graph that runs
//! twice, they give what they give one by one.

use super::Rig;
use folio::RacyMemory;
use folio::algorithms::{self, Direction};
use folio::buffer::Overwritten;
use folio::graph::{FinalizeOptions, FusionCosts};
use folio::prelude::*;
use folio_cpu::CpuBackend;
use folio_model::interp::{InSubgroups, Interpreter};
use folio_model::rng::Rng;
use folio_model::suite::{Budget, cases, line};
use folio_sim::{DeviceSpec, IrRunner, SimBackend};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

#[kernel]
fn scales(i: Item, by: u32, x: In<u32>, y: Out<u32>) {
    y[i] = x[i] * 3 + by;
}

#[kernel]
fn gathers(i: Item, at: In<u32>, x: In<u32>, y: Out<u32>) {
    y[i] = x[at[i] as usize % x.len()] + 1;
}

#[kernel]
fn smooths(i: Item, x: In<u32>, y: Out<u32>) {
    y[i] = x[i.index().max(1) - 1] + 2 * x[i] + x[(i.index() + 1).min(x.len() - 1)];
}

/// Variables begin with zero for each element.
#[kernel]
fn loops(i: Item, x: In<u32>, y: Out<u32>) {
    let mut sum = 0;
    let mut k = 0;
    while k < x[i] % 7 {
        k += if k == 3 { 2 } else { 1 };
        sum += k * x[i];
    }
    y[i] = sum;
}

#[kernel]
fn returns(i: Item, x: In<u32>, y: Out<u32>) {
    if x[i] % 3 == 0 {
        y[i] = 7;
        return;
    }
    y[i] = x[i] + i.index() as u32 + y.len() as u32;
}

#[kernel]
fn reverses(i: Item, x: In<u32>, y: Out<u32>) {
    y[i] = x[(x.len() - 1 - i.index()) % x.len()] + 1;
}

#[kernel]
fn chooses(i: Item, flags: In<u32>, x: In<u32>, y: Out<u32>) {
    let mut own = 1;
    if flags[i] % 2 == 0 {
        own = x[(x.len() - 1 - i.index()) % x.len()];
    }
    y[i] = own;
}

#[kernel]
fn fours(i: Item, x: In<u32>, y: Out<u32>) {
    let mut sum = 0;
    for k in 0..4 {
        sum = sum * 31 + x[i.index() * 4 + k];
    }
    y[i] = sum;
}

#[kernel]
fn adds(i: Item, x: In<u32>, y: InOut<u32>) {
    y[i] += x[(x.len() - 1 - i.index()) % x.len()];
}

/// Items write elements of others, each once.
#[kernel]
fn turns(i: Item, x: In<u32>, y: Racy<u32>) {
    y[y.len() - 1 - i.index()] = x[i] + 2;
}

#[kernel(group = 8)]
fn mirrors(g: Group, x: In<u32>, tile: Local<u32, 8>, y: Out<u32>) {
    g.each(|i| tile[i] = x[i.index()]);
    g.each(|i| {
        y[i] = tile[7 - i.local_index()] + x[(x.len() - 1 - i.index()) % x.len()];
    });
}

#[kernel(group = 8)]
fn sums(g: Group, x: In<u32>, y: OutGroup<u32>) {
    let first = x[g.index() * 8];
    let mut all = g.reduce::<Add>(|i| x[i]);
    while all % 3 != 0 {
        all += 1;
    }
    y[g] = all + first;
}

/// A step of a block: what is computed, of which of the arrays so far, and a number.
type Step = [usize; 4];

/// Runs a step over some of the arrays, and adds what it gives to these.
fn run(rig: &Rig, q: &Queue, step: Step, all: &mut Vec<Buffer<u32>>) -> folio::Result<()> {
    let [what, a, b, by] = step;
    let count = all.len();
    let (x, other) = (&all[a % count], &all[b % count]);
    let n = x.len().min(other.len());
    let in_groups = x.len() == n && n.is_multiple_of(8);
    let of = |n: usize| rig.rt.buffer::<u32, 1>(n);
    let y = match what % 16 {
        0 => made(of(n)?, |y| q.run(n, scales(by as u32, x, y)))?,
        1 => made(of(n)?, |y| q.run(n, gathers(other, x, y)))?,
        2 => made(of(n)?, |y| q.run(n, smooths(x, y)))?,
        3 => made(of(n)?, |y| q.run(n, loops(x, y)))?,
        4 => made(of(n)?, |y| q.run(n, returns(x, y)))?,
        5 => made(of(n)?, |y| q.run(n, chooses(other, x, y)))?,
        6 if in_groups => made(of(n)?, |y| q.run(n, mirrors(x, y)))?,
        7 if in_groups => made(of(n / 8)?, |y| q.run(n, sums(x, y)))?,
        8 if in_groups => made(of(n / 4)?, |y| q.run(n / 4, fours(x, y)))?,
        9 => algorithms::histogram(q, x, 64)?,
        10 if x.len() == other.len() => algorithms::compact(q, x, other)?.0,
        11 => algorithms::reduce(q, Max, x)?,
        12 => made(of(x.len())?, |y| algorithms::inclusive_scan(q, Add, x, y))?,
        13 if a % count != b % count && x.len() == n => {
            // Kernels that have read the array may be computed later.
            let mut x = all.remove(a % count);
            let other = &all[if b % count > a % count { b % count - 1 } else { b % count }];
            q.run(n, adds(other, &mut x))?;
            x
        }
        14 => algorithms::sort_order(q, Direction::Ascending, x)?,
        15 => made(of(n)?, |y| {
            // SAFETY: there is an item for each element, which no item reads.
            let y = unsafe { RacyMemory::new(Overwritten::new(y)) };
            q.run(n, turns(x, y))
        })?,
        _ => made(of(n)?, |y| q.run(n, reverses(x, y)))?,
    };
    all.push(y);
    Ok(())
}

fn made<R>(
    mut y: Buffer<u32>,
    by: impl FnOnce(&mut Buffer<u32>) -> folio::Result<R>,
) -> folio::Result<Buffer<u32>> {
    by(&mut y)?;
    Ok(y)
}

/// A random block, and two arrays that it begins with.
struct Block {
    first: [Buffer<u32>; 2],
    steps: Vec<Step>,
    /// How many of the arrays are no temporaries: the last ones.
    kept: usize,
}

impl Block {
    fn new(rig: &Rig, rng: &mut Rng) -> folio::Result<Block> {
        let n = [1, 24, 64, 100, 256][rng.below(5)];
        let mut array =
            || rig.rt.buffer_from((0..n).map(|_| rng.next() as u32 >> 12).collect::<Vec<_>>());
        let first = [array()?, array()?];
        let steps = 2 + rng.below(6);
        let steps = (0..steps).map(|_| std::array::from_fn(|_| rng.below(5040))).collect();
        Ok(Block { first, steps, kept: 1 + rng.below(2) })
    }

    fn run(&self, rig: &Rig, q: &Queue) -> folio::Result<Vec<Buffer<u32>>> {
        let [x, other] = &self.first;
        let copy =
            |x: &Buffer<u32>| made(rig.rt.buffer(x.len())?, |y| q.run(x.len(), returns(x, y)));
        let mut all = vec![copy(x)?, copy(other)?];
        self.steps.iter().try_for_each(|step| run(rig, q, *step, &mut all))?;
        Ok(all.split_off(all.len() - self.kept))
    }
}

fn contents(of: &[Buffer<u32>]) -> folio::Result<Vec<Vec<u32>>> {
    of.iter().map(|x| x.to_vec()).collect()
}

/// Runs a block in all ways; how many launches fusion has saved.
fn saved(rig: &Rig, seed: u64) -> Result<usize, String> {
    let block = Block::new(rig, &mut Rng::new(seed)).map_err(|why| why.to_string())?;
    let again = "FOLIO_SOAK_CASES=1 cargo test -p folio-algorithms suite_blocks";
    let told = |what: String| format!("{what}: {:?}\nFOLIO_SEED={seed} {again}", block.steps);
    compared(rig, &block).map_err(|why| told(why.to_string()))?.map_err(|what| told(what.into()))
}

fn compared(rig: &Rig, block: &Block) -> folio::Result<Result<usize, &'static str>> {
    let apart = contents(&block.run(rig, &rig.q)?)?;
    let batch = rig.q.batch_fused(|q| block.run(rig, q))?.0;
    if contents(&batch)? != apart {
        return Ok(Err("a fused batch"));
    }
    let graph = rig.rt.graph(&rig.q.device())?;
    let recording = graph.record([&rig.q])?;
    let kept = block.run(rig, &rig.q)?;
    drop(recording);
    // Launches are dear, so that each fusion is a gain.
    let costs = FusionCosts { launch_ns: 1_000_000_000, ..FusionCosts::CPU };
    let graph = graph.finalize_with(FinalizeOptions::new().enable_fusion().costs(costs))?;
    for _ in 0..2 {
        rig.q.run_graph(&graph)?;
        if contents(&kept)? != apart {
            return Ok(Err("a fused graph"));
        }
    }
    let report = graph.fusion_report()?;
    Ok(Ok(report.map_or(0, |report| report.launches - report.launches_left)))
}

/// The CPU of one and of two domains, and what interprets items one by one and eight at a time.
fn rig(seed: u64) -> Rig {
    let interpreted = |ir: Arc<dyn IrRunner>| {
        SimBackend::builder().device(DeviceSpec::new().closures(false).ir(ir)).build()
    };
    match seed % 4 {
        0 => Rig::new(CpuBackend::builder().threads(2).build().unwrap(), 256),
        1 => Rig::new(CpuBackend::builder().domains(2).threads(1).build().unwrap(), 256),
        2 => Rig::new(interpreted(Arc::new(Interpreter)), 256),
        _ => Rig::new(interpreted(Arc::new(InSubgroups(8))), 256),
    }
}

/// FUSE-11: random blocks leave the same bits, fused and not.
#[test]
fn suite_blocks() {
    let (budget, start, fewer) = (Budget::of("BLOCKS"), Instant::now(), AtomicUsize::new(0));
    let (done, wrong) = cases(budget, 2, &|seed| {
        fewer.fetch_add(saved(&rig(seed), seed)?, Ordering::Relaxed);
        Ok(())
    });
    println!("{}", line("blocks", done, start.elapsed(), wrong.len(), budget.seed));
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    let least = budget.cases.unwrap_or(budget.least);
    assert!(done >= least, "{done} blocks, at least {least} asked");
    assert!(fewer.into_inner() > 0 || done < 40, "nothing was fused in {done} blocks");
}
