//! Operations: as they were given, as they are ready to run, and running them.
//!
//! A job runs without any lock, at its place on the timeline, one at a time per backend. The job
//! never unwinds, and it has dropped everything that it owned when it is done.

use crate::ir::IrKernel;
use crate::memory::{Block as Bytes, Memory, address};
use crate::script::Random;
use folio_core::geom::{Box3, linear};
use folio_core::hal::{
    self, Block, Choice, CopyRect, FillRect, Geometry, HalError, HalErrorKind, MemBase, MemRef,
    NativeKernel, OpKind, Order, Param, ParamPtr, Side, Tick,
};
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// The work of an operation, in the engine's terms.
#[derive(Clone)]
pub(crate) enum Work {
    Copy(Vec<CopyRect>),
    Fill(Vec<FillRect>, Vec<u8>),
    Launch(Arc<Launch>),
    Hint(MemRef, u64),
    Switch(MemRef, u64, Side),
    /// The work of the nodes of a graph, one after the other.
    Replay(Vec<Work>),
    /// The work that a value chooses.
    Branch(Branched<Work>),
    /// Only the tick: a join, or a call that was refused.
    Nothing,
}

impl Work {
    /// The work of an operation that is the same on a lane and in a graph, and has no code.
    pub(crate) fn plain(op: hal::Op<'_>) -> Option<Work> {
        match op {
            hal::Op::Copy(rects) => Some(Work::Copy(rects.to_vec())),
            hal::Op::Fill(rects, pattern) => Some(Work::Fill(rects.to_vec(), pattern.to_vec())),
            hal::Op::Join => Some(Work::Nothing),
            hal::Op::Launch(..)
            | hal::Op::Hint(..)
            | hal::Op::Switch(..)
            | hal::Op::Replay(_)
            | hal::Op::Branch(_) => None,
        }
    }

    /// The memory that it names, and how many bytes; `None` where these overflow.
    pub(crate) fn memory(&self) -> Vec<(MemRef, Option<u64>)> {
        match self {
            Work::Copy(rects) => {
                let both = |r: &CopyRect| {
                    [(r.src, span(r.src_pitch, r.extent)), (r.dst, span(r.dst_pitch, r.extent))]
                };
                rects.iter().flat_map(both).collect()
            }
            Work::Fill(rects, _) => {
                rects.iter().map(|r| (r.dst, span(r.pitch, r.extent))).collect()
            }
            Work::Launch(launch) => launch.params.iter().map(|p| (p.mem, param_span(p))).collect(),
            Work::Hint(mem, bytes) | Work::Switch(mem, bytes, _) => vec![(*mem, Some(*bytes))],
            Work::Replay(nodes) => nodes.iter().flat_map(Work::memory).collect(),
            Work::Branch(branch) => {
                let value = (branch.value, Some(branch.bytes as u64));
                std::iter::once(value).chain(branch.steps().flat_map(Work::memory)).collect()
            }
            Work::Nothing => Vec::new(),
        }
    }

    /// Calls `f` with the rows that its copies and fills use, themselves and in what it replays or
    /// chooses: an allocation, and bytes of that.
    pub(crate) fn each_row(&self, f: &mut dyn FnMut(MemRef, Range<u64>)) {
        let mut rows = |mem: MemRef, pitch: [u64; 2], [slices, rows, bytes]: [u64; 3]| {
            for at in (0..slices).flat_map(|slice| (0..rows).map(move |row| [slice, row])) {
                let start = mem.offset + at[0] * pitch[0] + at[1] * pitch[1];
                f(mem, start..start + bytes);
            }
        };
        match self {
            Work::Copy(rects) => rects.iter().for_each(|r| {
                rows(r.src, r.src_pitch, r.extent);
                rows(r.dst, r.dst_pitch, r.extent);
            }),
            Work::Fill(rects, _) => rects.iter().for_each(|r| rows(r.dst, r.pitch, r.extent)),
            Work::Replay(nodes) => nodes.iter().for_each(|node| node.each_row(f)),
            Work::Branch(branch) => branch.steps().for_each(|step| step.each_row(f)),
            Work::Launch(_) | Work::Hint(..) | Work::Switch(..) | Work::Nothing => {}
        }
    }

    /// Whether it uses some of these bytes of an allocation, itself or in what it replays or
    /// chooses.
    pub(crate) fn uses(&self, base: MemBase, part: &Range<u64>) -> bool {
        let meets = |mem: MemRef, bytes: Range<u64>| {
            mem.base == base && bytes.start < part.end && part.start < bytes.end
        };
        let from = |mem: MemRef, bytes: u64| mem.offset..mem.offset.saturating_add(bytes);
        let mut found = false;
        self.each_row(&mut |mem, bytes| found |= meets(mem, bytes));
        found
            || self.any(&|work| match work {
                Work::Launch(launch) => launch
                    .params
                    .iter()
                    .any(|param| rows_of(param).any(|bytes| meets(param.mem, bytes))),
                Work::Hint(mem, bytes) | Work::Switch(mem, bytes, _) => {
                    meets(*mem, from(*mem, *bytes))
                }
                Work::Branch(branch) => {
                    meets(branch.value, from(branch.value, branch.bytes as u64))
                }
                Work::Copy(_) | Work::Fill(..) | Work::Replay(_) | Work::Nothing => false,
            })
    }

    /// Whether one of its operations is such, itself or in what it replays or chooses.
    pub(crate) fn any(&self, is: &dyn Fn(&Work) -> bool) -> bool {
        let inner = match self {
            Work::Replay(nodes) => nodes.iter().any(|node| node.any(is)),
            Work::Branch(branch) => branch.steps().any(|step| step.any(is)),
            _ => false,
        };
        inner || is(self)
    }

    /// Whether it has such a launch, itself or in what it replays or chooses.
    fn launches(&self, is: &dyn Fn(&Launch) -> bool) -> bool {
        self.any(&|work| matches!(work, Work::Launch(launch) if is(launch)))
    }

    /// Whether it runs this kernel.
    pub(crate) fn runs(&self, kernel: &Arc<dyn IrKernel>) -> bool {
        self.launches(
            &|launch| matches!(&launch.code, Code::Ir(own, ..) if Arc::ptr_eq(own, kernel)),
        )
    }

    /// Whether it runs, or drops, what is the user's.
    pub(crate) fn has_code(&self) -> bool {
        self.launches(&|_| true)
    }
}

/// A conditional node of a graph.
#[derive(Clone)]
pub(crate) struct Branched<T> {
    pub(crate) choice: Choice,
    pub(crate) value: MemRef,
    pub(crate) bytes: usize,
    pub(crate) number: u32,
    pub(crate) bodies: Vec<Vec<T>>,
}

impl<T> Branched<T> {
    pub(crate) fn steps(&self) -> impl Iterator<Item = &T> {
        self.bodies.iter().flatten()
    }

    /// The same with other steps.
    fn map<U, E>(self, mut step: impl FnMut(T) -> Result<U, E>) -> Result<Branched<U>, E> {
        let Branched { choice, value, bytes, number, bodies } = self;
        let bodies = bodies.into_iter().map(|body| body.into_iter().map(&mut step).collect());
        Ok(Branched { choice, value, bytes, number, bodies: bodies.collect::<Result<_, _>>()? })
    }
}

impl Branched<Ready> {
    /// Does what the value at this place chooses.
    fn run(&self, value: *const u8) -> Result<(), HalError> {
        let read = || {
            let mut word = [0u8; 8];
            let bytes = self.bytes.min(word.len());
            // SAFETY: as in `copy_rect`; the value has so many bytes.
            unsafe { value.copy_to_nonoverlapping(word.as_mut_ptr(), bytes) };
            let shift = if cfg!(target_endian = "big") { 8 * (8 - bytes as u32) } else { 0 };
            u64::from_ne_bytes(word) >> shift
        };
        let body = |number: usize| {
            let steps = self.bodies.get(number).map_or(&[][..], Vec::as_slice);
            steps.iter().try_for_each(|Ready(step)| step())
        };
        match self.choice {
            Choice::If => body(usize::from(read() == 0)),
            Choice::Switch => body(usize::try_from(read()).unwrap_or(usize::MAX)),
            Choice::While { limit } => {
                let mut turns = 0;
                while read() != 0 {
                    if turns == limit {
                        return Err(HalError::limit(self.number));
                    }
                    turns += 1;
                    body(0)?;
                }
                Ok(())
            }
        }
    }
}

pub(crate) struct Launch {
    pub(crate) code: Code,
    pub(crate) geometry: Geometry,
    pub(crate) params: Vec<Param>,
}

impl Launch {
    /// The same with other scalars, where a kernel that was loaded has them.
    pub(crate) fn with_scalars(&self, words: &[u64]) -> Option<Launch> {
        let Code::Ir(kernel, _, proved) = &self.code else { return None };
        let blob = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
        let code = Code::Ir(kernel.clone(), blob, *proved);
        Some(Launch { code, geometry: self.geometry, params: self.params.clone() })
    }
}

/// The code of a launch.
pub(crate) enum Code {
    Native(NativeKernel),
    /// With the scalars, and whether its accesses are proved to be in bounds.
    Ir(Arc<dyn IrKernel>, Box<[u8]>, bool),
}

/// Where an operation is on its way.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    /// For its dependencies.
    Waiting,
    /// They have ended; it ends at `due`.
    Started { due: u64 },
    /// A thread executes it.
    Running,
    /// The job has ended; earlier jobs of its lane may not have.
    Ended,
}

/// An operation on its lane.
pub(crate) struct Op {
    pub(crate) tick: Tick,
    pub(crate) kind: OpKind,
    pub(crate) order: Order,
    /// Lanes and the ticks up to which they must have ended.
    pub(crate) waits: Vec<(usize, Tick)>,
    pub(crate) work: Work,
    pub(crate) label: Box<str>,
    pub(crate) timed: bool,
    pub(crate) phase: Phase,
    pub(crate) queued: u64,
    pub(crate) started: u64,
}

/// Bytes from the first to one past the last of a rectangle; `None` when they overflow.
pub(crate) fn span(pitch: [u64; 2], extent: [u64; 3]) -> Option<u64> {
    let slices = extent[0].checked_sub(1)?.checked_mul(pitch[0])?;
    let rows = extent[1].checked_sub(1)?.checked_mul(pitch[1])?;
    slices.checked_add(rows)?.checked_add(extent[2])
}

/// The rows of a launch parameter's box: bytes of its allocation.
fn rows_of(param: &Param) -> impl Iterator<Item = Range<u64>> {
    let Param { mem, size, dims, origin: [z, y, x], extent, .. } = *param;
    let [slices, rows, columns] = extent;
    let rows = (0..slices).flat_map(move |slice| (0..rows).map(move |row| [z + slice, y + row, x]));
    rows.map(move |at| {
        let first = mem.offset + linear(dims, at) as u64 * u64::from(size);
        first..first + columns as u64 * u64::from(size)
    })
}

/// Bytes of a launch parameter's whole shape.
pub(crate) fn param_span(param: &Param) -> Option<u64> {
    let elements = folio_core::geom::checked_volume(param.dims)? as u64;
    let inside = Box3::at(param.origin, param.extent)
        .is_some_and(|access| Box3::whole(param.dims).contains(&access));
    if inside { elements.checked_mul(u64::from(param.size)) } else { None }
}

/// The work of an operation, with its addresses. Steps of a body are done more than once.
struct Ready(Box<dyn Fn() -> Result<(), HalError>>);

impl Ready {
    fn new(work: impl Fn() -> Result<(), HalError> + 'static) -> Ready {
        Ready(Box::new(work))
    }
}

/// An operation with its addresses, ready to run.
pub(crate) struct Job {
    pub(crate) lane: usize,
    pub(crate) tick: Tick,
    /// Or why it cannot run.
    ready: Result<Ready, HalError>,
    /// Memory that is freed under a running operation stays mapped.
    pins: Vec<Arc<Bytes>>,
}

/// How a job ended.
pub(crate) struct Outcome {
    pub(crate) lane: usize,
    pub(crate) tick: Tick,
    pub(crate) failure: Option<HalError>,
}

impl Job {
    /// Finds the addresses of `work`. The error is a memory that went away since it was given.
    pub(crate) fn new(
        lane: usize,
        tick: Tick,
        work: Work,
        memory: &Memory,
        random: &mut Random,
    ) -> Job {
        let mut pins = Vec::new();
        let ready = resolve(work, memory, random, &mut pins);
        Job { lane, tick, ready, pins }
    }

    pub(crate) fn failure(&self) -> Option<&HalError> {
        self.ready.as_ref().err()
    }

    /// Does it. Panics of kernels become failures.
    pub(crate) fn run(self) -> Outcome {
        let Job { lane, tick, ready, pins } = self;
        let ran = ready.and_then(|ready| {
            let ran = ready.0();
            ran.and(drop_contained(ready))
        });
        let failure = ran.err();
        drop(pins);
        Outcome { lane, tick, failure }
    }
}

/// Drops what may hold a user's closure; a panic there is contained.
pub(crate) fn drop_contained<T>(value: T) -> Result<(), HalError> {
    catch_unwind(AssertUnwindSafe(|| drop(value))).map_err(HalError::panic)
}

fn resolve(
    work: Work,
    memory: &Memory,
    random: &mut Random,
    pins: &mut Vec<Arc<Bytes>>,
) -> Result<Ready, HalError> {
    let overflow = || HalError::new(HalErrorKind::Driver, "overflow");
    Ok(match work {
        Work::Copy(rects) => {
            let mut moves = Vec::with_capacity(rects.len());
            for r in rects {
                let from = span(r.src_pitch, r.extent).ok_or_else(overflow)?;
                let to = span(r.dst_pitch, r.extent).ok_or_else(overflow)?;
                let src = address(memory, &r.src, from, pins)?;
                moves.push((src, address(memory, &r.dst, to, pins)?, r));
            }
            Ready::new(move || {
                moves.iter().for_each(|(src, dst, rect)| copy_rect(*src, *dst, rect));
                Ok(())
            })
        }
        Work::Fill(rects, pattern) => {
            let mut places = Vec::with_capacity(rects.len());
            for r in rects {
                let to = span(r.pitch, r.extent).ok_or_else(overflow)?;
                places.push((address(memory, &r.dst, to, pins)?, r));
            }
            Ready::new(move || {
                places.iter().for_each(|(dst, rect)| fill_rect(*dst, rect, &pattern));
                Ok(())
            })
        }
        Work::Launch(launch) => {
            let mut found = Vec::with_capacity(launch.params.len());
            for p in &launch.params {
                let bytes = param_span(p).ok_or_else(overflow)?;
                found.push(p.at(address(memory, &p.mem, bytes, pins)?));
            }
            let blocks = blocks(&launch.geometry, random);
            Ready::new(move || run(&launch, &found, &blocks))
        }
        Work::Hint(mem, bytes) => {
            address(memory, &mem, bytes, pins)?;
            Ready::new(|| Ok(()))
        }
        Work::Switch(mem, bytes, to) => {
            let wrong = |what| HalError::new(HalErrorKind::Driver, what);
            let MemBase::Device { device, handle } = mem.base else {
                return Err(wrong("the host's memory is switched".to_owned()));
            };
            let block = memory.find(device, handle, mem.offset, bytes).map_err(wrong)?.clone();
            Ready::new(move || {
                block.switch(to).map_err(|what| HalError::new(HalErrorKind::Driver, what))
            })
        }
        Work::Replay(nodes) => {
            let ready = nodes.into_iter().map(|node| resolve(node, memory, random, pins));
            let ready: Vec<Ready> = ready.collect::<Result<_, _>>()?;
            // Nodes behind the one that failed do not run.
            Ready::new(move || {
                let mut all = ready.iter().enumerate();
                all.try_for_each(|(at, Ready(node))| node().map_err(|error| error.at_node(at)))
            })
        }
        Work::Branch(branch) => {
            let value = address(memory, &branch.value, branch.bytes as u64, pins)?;
            let branch = branch.map(|step| resolve(step, memory, random, pins))?;
            Ready::new(move || branch.run(value))
        }
        Work::Nothing => Ready::new(|| Ok(())),
    })
}

/// Cuts a launch into a few blocks, whole work-groups each, in random order.
fn blocks(geometry: &Geometry, random: &mut Random) -> Vec<Block> {
    let whole = Box3::whole(geometry.range);
    let unit = geometry.group.unwrap_or([1; 3]);
    let Some(d) = (0..3).find(|d| geometry.range[*d] > unit[*d]) else { return vec![whole] };
    let step = geometry.range[d].div_ceil(unit[d]).div_ceil(4) * unit[d];
    let mut out = Vec::new();
    for start in (0..geometry.range[d]).step_by(step) {
        let mut block = whole;
        block.min[d] = start;
        block.max[d] = (start + step).min(geometry.range[d]);
        out.insert(random.below(out.len() as u64 + 1) as usize, block);
    }
    out
}

/// Byte offsets of the rows of a rectangle.
fn rows(pitch: [u64; 2], extent: [u64; 3]) -> impl Iterator<Item = usize> {
    (0..extent[0])
        .flat_map(move |z| (0..extent[1]).map(move |y| (z * pitch[0] + y * pitch[1]) as usize))
}

fn copy_rect(src: *mut u8, dst: *mut u8, rect: &CopyRect) {
    let from = rows(rect.src_pitch, rect.extent);
    for (s, d) in from.zip(rows(rect.dst_pitch, rect.extent)) {
        // SAFETY: device memory: the span was checked against a block that the job keeps alive.
        // Host memory: the engine answers for it until the tick is reached (HAL contract).
        unsafe { std::ptr::copy(src.add(s), dst.add(d), rect.extent[2] as usize) };
    }
}

fn fill_rect(dst: *mut u8, rect: &FillRect, pattern: &[u8]) {
    for row in rows(rect.pitch, rect.extent) {
        // SAFETY: as in `copy_rect`.
        let row = unsafe { dst.add(row) };
        for (i, byte) in pattern.iter().cycle().take(rect.extent[2] as usize).enumerate() {
            // SAFETY: as above; `i` is less than the row's length.
            unsafe { row.add(i).write(*byte) };
        }
    }
}

/// Runs a kernel: native code block by block, others as a whole.
fn run(launch: &Launch, params: &[ParamPtr], blocks: &[Block]) -> Result<(), HalError> {
    let ran = catch_unwind(AssertUnwindSafe(|| match &launch.code {
        Code::Native(kernel) => {
            // A graph's node runs more than once.
            kernel.begin();
            blocks.iter().try_for_each(|block| {
                // SAFETY: the parameters' shapes lie inside blocks that the job keeps alive; the
                // timeline runs one job at a time, and the blocks partition the launch range.
                unsafe { kernel.run(params, block) }.map_err(HalError::violation)
            })
        }
        Code::Ir(kernel, blob, proved) => {
            // SAFETY: as above; the engine gives the memory of the kernel's parameters in their
            // order.
            unsafe { kernel.run(&launch.geometry, blob, params, *proved) }
        }
    }));
    ran.map_err(HalError::panic).and_then(|ran| ran)
}
