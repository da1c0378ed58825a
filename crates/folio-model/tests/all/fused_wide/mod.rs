//! Wide random graphs: of one to three dimensions, four types of numbers, parts, offsets, groups
//! with local memory, marks of scope, kernels that assert, count atomically, reduce, and kernels
//! without IR, with copies, fills and host tasks between them.
//!
//! Each is run four times: command by command on a CPU, and on a device so, as one graph that is
//! fused, and cut at random into graphs and blocks that are fused or not. All leave the same bits
//! (FUSE-11).
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests may panic")]

mod kernels;

use crate::graphs_fused::{Seen, builder, interpreted, note, suite};
use folio::prelude::*;
use folio_core::combine::{Add, Max};
use folio_core::ir::device::Combine;
use folio_core::planted::Planted;
use folio_core::{
    Cause, Error, Event, Result, RuntimeBuilder,
    buffer::Marks,
    error::GraphError,
    graph::{AccessScope, FinalizeOptions},
    opaque::Source,
};
use folio_cpu::CpuBackend;
use folio_model::rng::Rng;
use kernels::{Element, Of, Opaque, Ranked, opencl_text};
use std::ops::Range;

/// Buffers of which the program keeps handles, and those that a block makes.
const KEPT: usize = 3;
const MADE: usize = 3;

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum What {
    Puts,
    Sums,
    Joins,
    Beside,
    Diverges,
    Loops,
    Asserts,
    Counts,
    Reduces,
    Tops,
    Tiles,
    Mirrors,
    Fill,
    Copy,
    Task,
    Opaque,
}

/// A command over buffers by their numbers.
#[derive(Clone, Copy, Debug)]
pub struct Step<const D: usize> {
    what: What,
    from: [usize; 2],
    to: usize,
    first: [usize; D],
    extent: [usize; D],
    /// Items begin at `first` of whole buffers, and not at the beginning of parts.
    at_offset: bool,
    term: i64,
    /// Of one of the kernel's arguments.
    marks: Marks,
}

impl<const D: usize> Step<D> {
    fn random(rng: &mut Rng, shape: [usize; D]) -> Step<D> {
        use What::*;
        let often = [Puts, Sums, Sums, Joins, Joins, Diverges, Loops, Loops];
        let all = [
            Beside, Asserts, Counts, Reduces, Tops, Tiles, Tiles, Mirrors, Mirrors, Fill, Copy,
            Task, Opaque,
        ];
        let what = if rng.chance(60) { rng.pick(&often) } else { rng.pick(&all) };
        let to = rng.below(KEPT + MADE);
        let mut other = || (to + rng.within(1, KEPT + MADE - 1)) % (KEPT + MADE);
        let from = [other(), other()];
        let whole = matches!(what, Tops | Tiles | Mirrors | Opaque | Task) || rng.chance(75);
        let (mut first, mut extent) = ([0; D], shape);
        if !whole {
            let from_start = rng.chance(40);
            for dim in 0..D {
                first[dim] = if from_start { 0 } else { rng.below(shape[dim]) };
                extent[dim] = rng.within(1, shape[dim] - first[dim]);
            }
        }
        let scope = match rng.below(10) {
            0 => Some(AccessScope::Item),
            1 | 2 => Some(AccessScope::Group),
            _ => None,
        };
        let marks = scope.map_or(Marks::new(), |scope| Marks::new().access_scope(scope));
        let (at_offset, term) = (!whole && rng.chance(50), rng.below(4) as i64);
        Step { what, from, to, first, extent, at_offset, term, marks }
    }

    /// Where its arguments begin, and how large they are.
    fn part(&self, shape: [usize; D]) -> ([usize; D], [usize; D]) {
        if self.at_offset { ([0; D], shape) } else { (self.first, self.extent) }
    }

    fn items(&self) -> [Range<usize>; D] {
        let first = if self.at_offset { self.first } else { [0; D] };
        std::array::from_fn(|dim| first[dim]..first[dim] + self.extent[dim])
    }
}

/// The buffers of one of the runs: those kept, then those made by a block.
pub struct Buffers<T: Element, const D: usize> {
    of: Vec<Shared<T, D>>,
    counts: Shared<u32>,
    sum: Shared<T>,
}

/// The parts of a case that kernels do not tell.
pub struct Env {
    opaque: Opaque,
    /// The limit below which kernels assert their values to be.
    most: i64,
}

/// A program: steps over buffers.
struct Program<const D: usize> {
    shape: [usize; D],
    data: Vec<Vec<i64>>,
    steps: Vec<Step<D>>,
    marks: Vec<Marks>,
    runs: usize,
    options: FinalizeOptions,
    most: i64,
}

impl<const D: usize> Program<D> {
    fn random(rng: &mut Rng, group: [usize; D]) -> Program<D> {
        let most = [20, 5, 3];
        let shape: [usize; D] = std::array::from_fn(|dim| group[dim] * rng.within(1, most[D - 1]));
        let len: usize = shape.iter().product();
        let data = (0..KEPT).map(|_| (0..len).map(|_| rng.below(1000) as i64).collect()).collect();
        let options = FinalizeOptions::new();
        let marks = (0..KEPT + MADE).map(|_| match rng.below(8) {
            0 => Marks::new().access_scope(AccessScope::Group),
            1 => Marks::new().access_scope(AccessScope::Item),
            _ => Marks::new(),
        });
        Program {
            shape,
            data,
            marks: marks.collect(),
            steps: (0..rng.within(2, 9)).map(|_| Step::random(rng, shape)).collect(),
            runs: rng.within(1, 2),
            options: if rng.chance(50) { options.insert_barriers() } else { options },
            most: rng.pick(&[1500, 1 << 30, i64::from(i32::MAX)]),
        }
    }

    fn buffers<T: Element>(&self, rt: &Runtime) -> Result<Buffers<T, D>> {
        let of = self.data.iter().zip(&self.marks).map(|(data, marks)| {
            let data: Vec<T> = data.iter().map(|value| T::of(*value)).collect();
            let mut buffer = rt.buffer_from((data, self.shape))?;
            buffer.mark(*marks);
            Ok(buffer.into_shared())
        });
        let of = of.collect::<Result<_>>()?;
        Ok(Buffers { of, counts: rt.buffer(11)?.into_shared(), sum: rt.buffer(1)?.into_shared() })
    }

    /// With new buffers of a block.
    fn of_block<T: Element>(&self, rt: &Runtime, all: &Buffers<T, D>) -> Result<Buffers<T, D>> {
        let mut of = all.of.clone();
        for marks in &self.marks[KEPT..] {
            let mut buffer = rt.buffer(self.shape)?;
            buffer.mark(*marks);
            of.push(buffer.into_shared());
        }
        Ok(Buffers { of, counts: all.counts.clone(), sum: all.sum.clone() })
    }
}

/// The contents of a buffer at the end: bits, or nothing that can be read.
type Left = std::result::Result<Vec<u64>, String>;

/// The contents at the end of a run, and the names of kernels whose violations it was told of.
#[derive(Debug)]
struct Outcome {
    left: Vec<Left>,
    failed: Vec<String>,
    failures: usize,
}

impl Outcome {
    fn of<T: Element, const D: usize>(all: &Buffers<T, D>) -> Outcome {
        let told = |error: Error| error.to_string();
        let bits = |of: Vec<T>| of.into_iter().map(Element::bits).collect();
        let mut left: Vec<Left> =
            all.of[..KEPT].iter().map(|x| x.to_vec().map(bits).map_err(told)).collect();
        left.push(all.sum.to_vec().map(bits).map_err(told));
        let counts = all.counts.to_vec();
        left.push(counts.map(|n| n.into_iter().map(u64::from).collect()).map_err(told));
        Outcome { left, failed: vec![], failures: 0 }
    }

    fn add(&mut self, ended: Result<()>) -> Result<()> {
        let Err(error) = ended else { return Ok(()) };
        let Error::Failed(failure) = &error else { return Err(error) };
        self.failures += 1;
        if let Cause::Kernel(violation) = failure.cause() {
            self.failed.push(violation.kernel.clone());
        }
        Ok(())
    }

    /// This one is right if `plain` is: equal bits. Where kernels fail, those of their launch have
    /// no contents, which may be more.
    fn same_as(&self, plain: &Outcome) -> std::result::Result<(), String> {
        let names = |failed: &[String]| failed.iter().all(|name| name == "asserts");
        if (self.failures > 0) != (plain.failures > 0) || !names(&self.failed) {
            return Err(format!("failures: {:?}, and {:?} unfused", self.failed, plain.failed));
        }
        for (at, pair) in self.left.iter().zip(&plain.left).enumerate() {
            match pair {
                (Ok(own), Ok(other)) if own != other => {
                    let k = own.iter().zip(other).position(|(a, b)| a != b).unwrap_or_default();
                    return Err(format!(
                        "buffer {at}: [{k}] is {:#x}, not {:#x}",
                        own[k], other[k]
                    ));
                }
                (Ok(_), Err(why)) => return Err(format!("buffer {at}: it is there: {why}")),
                (Err(why), Ok(_)) if plain.failures == 0 => {
                    return Err(format!("buffer {at}: {why}"));
                }
                _ => {}
            }
        }
        Ok(())
    }
}

/// How a part of the steps is run.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Way {
    OneByOne,
    Plain,
    Fused,
    Batch,
}

struct Case<'c, const D: usize> {
    program: &'c Program<D>,
    rt: &'c Runtime,
    on: folio_core::DeviceRef,
    env: Env,
    seen: &'c Seen,
}

impl<const D: usize> Case<'_, D> {
    /// Runs pieces of the program, each in its way.
    fn run<T: Element>(&self, pieces: &[(Way, Range<usize>)]) -> Result<(Outcome, String)>
    where
        Of<D>: Ranked<T, D>,
    {
        self.run_with(pieces, Buffered::Once)
    }

    /// The same, where the block's buffers are as it says.
    fn run_with<T: Element>(
        &self,
        pieces: &[(Way, Range<usize>)],
        buffered: Buffered,
    ) -> Result<(Outcome, String)>
    where
        Of<D>: Ranked<T, D>,
    {
        let Case { program, rt, on, env, .. } = self;
        let q = rt.queue_on(on)?;
        let kept = program.buffers::<T>(rt)?;
        let (mut ended, mut reports) = (Vec::<Result<()>>::new(), String::new());
        let wait = |event: &Event| event.wait();
        let block = program.of_block(rt, &kept)?;
        let describe = |step: &Step<D>, cg: &mut CommandGroup| Of::describe(step, &block, env, cg);
        let mut made = vec![];
        for (way, range) in pieces {
            let steps = &program.steps[range.clone()];
            if !matches!(way, Way::Plain | Way::Fused) {
                made.push(None);
                continue;
            }
            let graph = rt.graph(on)?;
            for step in steps {
                graph.add(|cg| describe(step, cg))?;
            }
            made.push(Some(graph));
        }
        // The graphs have the only handles of the block's buffers, if these are all that use them.
        let only = pieces.iter().all(|(way, _)| matches!(way, Way::Plain | Way::Fused));
        let block = if only {
            drop(block);
            None
        } else {
            Some(block)
        };
        let mut runs = vec![];
        for ((way, _), graph) in pieces.iter().zip(made) {
            let Some(graph) = graph else {
                runs.push(None);
                continue;
            };
            if *way == Way::Plain {
                runs.push(Some(graph.finalize()?));
                continue;
            }
            let run = match graph.finalize_with(program.options.require_fusion()) {
                Ok(run) => {
                    note(self.seen, "required", 1);
                    run
                }
                Err(Error::Graph { why, .. })
                    if !matches!(
                        *why,
                        GraphError::KernelNotSupported { .. } | GraphError::WrongMark { .. }
                    ) =>
                {
                    panic!("{why}")
                }
                _ => graph.finalize_with(program.options.enable_fusion())?,
            };
            if let Some(report) = run.fusion_report()? {
                note(self.seen, "launches", report.launches as u64);
                note(self.seen, "launches left", report.launches_left as u64);
                for memory in report.clusters.iter().flat_map(|cluster| &cluster.memories) {
                    note(self.seen, memory.fate, 1);
                }
                reports.push_str(&report.to_string());
            }
            runs.push(Some(run));
        }
        let turns = match buffered {
            Buffered::Once => program.runs,
            Buffered::EachTime => RENEWED,
        };
        for _ in 0..turns {
            // A block makes its buffers, and drops them.
            let renew = || match buffered {
                Buffered::Once => Ok(None),
                Buffered::EachTime => program.of_block(rt, &kept).map(Some),
            };
            for ((way, range), run) in pieces.iter().zip(&runs) {
                let steps = &program.steps[range.clone()];
                match (run, &block) {
                    (Some(run), _) => ended.push(q.run_graph(run).and_then(|event| wait(&event))),
                    (None, Some(block)) if *way == Way::Batch => {
                        let done = q.batch_fused(|q| {
                            let own = renew()?;
                            let block = own.as_ref().unwrap_or(block);
                            steps.iter().try_for_each(|step| {
                                q.submit(|cg| Of::describe(step, block, env, cg)).map(drop)
                            })
                        });
                        ended.push(done.and_then(|(_, event)| wait(&event)));
                    }
                    (None, Some(block)) => {
                        let own = renew()?;
                        let block = own.as_ref().unwrap_or(block);
                        for step in steps {
                            let done = q.submit(|cg| Of::describe(step, block, env, cg));
                            ended.push(done.and_then(|event| wait(&event)));
                        }
                    }
                    (None, None) => {}
                }
            }
            if ended.iter().any(Result::is_err) {
                break;
            }
        }
        let blocks = q.batch_report();
        if buffered == Buffered::EachTime && blocks.temporaries > 0 {
            note(self.seen, "found with buffers of its own", blocks.found);
        }
        let mut outcome = Outcome::of(&kept);
        for ended in ended {
            outcome.add(ended)?;
        }
        // A failure that was told is not told again.
        let _ = rt.wait();
        Ok((outcome, reports))
    }
}

/// How often the buffers of a block are made.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Buffered {
    Once,
    /// By each turn, which finds nothing of the one before in them.
    EachTime,
}

/// The turns of a block that makes its buffers: so many that an equal block's are found.
const RENEWED: usize = 6;

/// The kernel that reverses on a device, and whether the CPU that it is compared with has to.
fn opaque<T: Element>(device: &folio_core::DeviceRef) -> Result<Opaque> {
    if device.info().caps.closures {
        return Ok(Opaque::Closure);
    }
    if device.name().starts_with("opencl") {
        let text = opencl_text(T::BITS);
        return Ok(Opaque::Program(device.load(Source::OpenClC(&text), "reverses")?));
    }
    Ok(Opaque::Copy)
}

fn case_of<T: Element, const D: usize>(
    rt: &Runtime,
    rng: &mut Rng,
    seen: &Seen,
) -> std::result::Result<(), String>
where
    Of<D>: Ranked<T, D>,
{
    let told = |error: Error| format!("{error}");
    let program = Program::random(rng, <Of<D> as Ranked<T, D>>::GROUP);
    let on = rt.devices()[rng.below(rt.devices().len())].clone();
    let cpu = CpuBackend::builder().domains(1).threads(1).build().map_err(|e| e.to_string())?;
    let host = Runtime::builder().backend(cpu).build().map_err(told)?;
    let opaque = opaque::<T>(&on).map_err(told)?;
    let reverses = !matches!(opaque, Opaque::Copy);
    let wanted = Case {
        program: &program,
        rt: &host,
        on: host.devices()[0].clone(),
        env: Env {
            opaque: if reverses { Opaque::Closure } else { Opaque::Copy },
            most: program.most,
        },
        seen,
    };
    let all = 0..program.steps.len();
    let one_by_one = [(Way::OneByOne, all.clone())];
    let (renewed, _) = wanted.run_with::<T>(&one_by_one, Buffered::EachTime).map_err(told)?;
    let (wanted, _) = wanted.run::<T>(&one_by_one).map_err(told)?;
    if wanted.failures > 0 {
        note(seen, "failures", 1);
    }
    note(seen, ["1-D", "2-D", "3-D"][D - 1], 1);
    note(seen, std::any::type_name::<T>(), 1);
    for step in &program.steps {
        let what = match step.what {
            What::Opaque if reverses => "opaque",
            What::Tiles | What::Tops => "groups with local memory",
            What::Counts => "atomic",
            What::Reduces => "reducing",
            _ if step.at_offset => "offsets",
            _ => continue,
        };
        note(seen, what, 1);
    }
    let mut cuts: Vec<usize> = (0..rng.within(1, 3)).map(|_| rng.below(all.end + 1)).collect();
    cuts.extend([0, all.end]);
    cuts.sort_unstable();
    let ways = [Way::OneByOne, Way::Plain, Way::Fused, Way::Fused, Way::Batch];
    let split = cuts.windows(2).map(|cut| (rng.pick(&ways), cut[0]..cut[1]));
    let split: Vec<_> = split.filter(|(_, range)| !range.is_empty()).collect();
    let case = Case { program: &program, rt, on, env: Env { opaque, most: program.most }, seen };
    let batch = vec![(Way::Batch, all.clone())];
    for (pieces, buffered, wanted) in [
        (one_by_one.to_vec(), Buffered::Once, &wanted),
        (vec![(Way::Fused, all.clone())], Buffered::Once, &wanted),
        (batch.clone(), Buffered::Once, &wanted),
        (batch, Buffered::EachTime, &renewed),
        (split, Buffered::Once, &wanted),
    ] {
        let (found, report) = case.run_with::<T>(&pieces, buffered).map_err(told)?;
        found.same_as(wanted).map_err(|why| {
            let (on, of) = (case.on.name(), std::any::type_name::<T>());
            let Program { shape, steps, marks, runs, options, .. } = &program;
            format!(
                "{on}, {of}, {shape:?}, {pieces:?}, {buffered:?}, {runs} runs: {why}\n{report}{steps:#?}\n\
                 {marks:?}\n{options:?}"
            )
        })?;
    }
    Ok(())
}

fn of_type<T: Element>(rt: &Runtime, rng: &mut Rng, seen: &Seen) -> std::result::Result<(), String>
where
    Add: Combine<T>,
    Max: Combine<T>,
{
    match rng.below(3) {
        0 => case_of::<T, 1>(rt, rng, seen),
        1 => case_of::<T, 2>(rt, rng, seen),
        _ => case_of::<T, 3>(rt, rng, seen),
    }
}

fn case(rt: &Runtime, seed: u64, seen: &Seen) -> std::result::Result<(), String> {
    let mut rng = Rng::new(seed);
    match rng.below(4) {
        0 => of_type::<u32>(rt, &mut rng, seen),
        1 => of_type::<i64>(rt, &mut rng, seen),
        2 => of_type::<f32>(rt, &mut rng, seen),
        _ => of_type::<f64>(rt, &mut rng, seen),
    }
}

const ALL: &[&str] = &[
    "required",
    "register",
    "local",
    "forwarded",
    "memory",
    "failures",
    "1-D",
    "2-D",
    "3-D",
    "u32",
    "i64",
    "f32",
    "f64",
    "opaque",
    "groups with local memory",
    "atomic",
    "reducing",
    "offsets",
    "found with buffers of its own",
];

/// FUSE-11
#[test]
fn suite_graphs_fused_wide() {
    suite("GRAPHS_FUSED_WIDE", ALL, &|seed, seen| {
        let builder = if seed.is_multiple_of(4) { interpreted() } else { builder(seed) };
        let rt = builder.build().map_err(|error| error.to_string())?;
        case(&rt, seed, seen)
    });
}

/// The suite on the devices of a driver.
pub(crate) fn over(name: &str, builder: RuntimeBuilder) {
    let rt = builder.build().unwrap();
    suite(name, &[], &|seed, seen| case(&rt, seed, seen));
}

/// Runs cases with the bug until one shows it.
fn caught(bug: Planted) {
    let seen = Seen::default();
    let caught = (1..=1500).any(|seed| {
        let cpu = CpuBackend::builder().domains(1).threads(2).build().unwrap();
        // SAFETY: the bug leaves wrong numbers in buffers, within their bounds.
        let rt = unsafe { Runtime::builder().backend(cpu).plant(bug) }.build().unwrap();
        case(&rt, seed, &seen).is_err()
    });
    assert!(caught, "{bug:?} was not caught: {:?}", seen.lock().unwrap());
}

/// On a CPU a stage of a smaller range runs over the whole piece.
#[test]
fn planted_missing_bound_of_a_stage_on_a_cpu_is_caught() {
    caught(Planted::StageBound);
}

/// On a CPU a piece has scratch for what is needed later.
#[test]
fn planted_scratch_for_what_is_needed_on_a_cpu_is_caught() {
    let bug = folio_kernel::fuse::Planted { nothing_is_needed: true, ..Default::default() };
    caught(Planted::Fusion(bug));
}

/// On a CPU a stage finds what it has itself left in its piece, and not what others have.
#[test]
fn planted_forwarding_across_items_on_a_cpu_is_caught() {
    let bug = folio_kernel::fuse::Planted { no_read_after_write: true, ..Default::default() };
    caught(Planted::Fusion(bug));
}

/// A kernel overwrites what other items of the launch read before.
#[test]
fn planted_write_before_a_neighbour_reads_on_a_cpu_is_caught() {
    let bug = folio_kernel::fuse::Planted { no_write_after_read: true, ..Default::default() };
    caught(Planted::Fusion(bug));
}
