//! Kernels in IR: emitted as CUDA C, compiled, and launched with the arguments that the emitter
//! laid out.

use crate::driver::{Context, Relaxed};
use crate::memory::Memory;
use crate::program::{DYNAMIC, Entry, Module, Target, build};
use crate::way::{Start, Way};
use cudarc::driver::sys::CUfunction_attribute;
use folio_core::hal::{Args, Geometry, HalError, HalErrorKind};
use folio_core::ir::device::MOST_REDUCED;
use folio_driver::arguments::Passed;
use folio_driver::launch::{self, Blocks, Fit};
use folio_driver::reduce::{memory_of, passes};
use folio_kernel::Kernel;
use folio_kernel::emit::{
    COMBINED, Capabilities, Cut, Dialect, Grid, LANES, Lacks, Layout, Points, Texts, Threads,
};
use smallvec::SmallVec;
use std::ffi::CString;
use std::ops::Range;
use std::ptr::null_mut;
use std::sync::{Arc, OnceLock};

/// Blocks of a grid, at most, by dimension, slowest first.
const GRID: [u64; 3] = [65_535, 65_535, (1 << 31) - 1];
/// Threads of a block in its slowest dimension, at most; in the others the number of all is what
/// limits them.
const SLICES: u64 = 64;
/// Threads of a block that combines values.
const COMBINING: [u64; 3] = [1, 1, LANES as u64];

/// A kernel, in all forms of its text.
pub(crate) struct LoadedKernel {
    texts: Texts<Text>,
    /// The same kernel, whose words are in memory; none if the compiler does not take that.
    by_address: OnceLock<Option<Texts<Text>>>,
    kernel: Kernel,
    multiprocessors: u64,
}

/// A text of a kernel, compiled.
struct Text {
    entry: Entry,
    /// Threads of a block, where they are items and no groups.
    block: [u64; 3],
    /// Bytes of dynamic shared memory of a block, at most.
    shared: u64,
    layout: Layout,
    points: Arc<Points>,
    reductions: Vec<Finish>,
    _module: Module,
}

/// How a launch-wide reduction ends.
struct Finish {
    /// Its parameter's number among those that are memory.
    memory: usize,
    /// Of a value.
    bytes: u64,
    entry: Entry,
}

/// Where a launch goes.
#[derive(Clone, Copy)]
pub(crate) struct Destination<'t> {
    pub(crate) context: &'t Context,
    pub(crate) memory: &'t Memory,
    pub(crate) way: Way<'t>,
}

impl LoadedKernel {
    /// Emits and compiles a kernel. The context is current.
    pub(crate) fn new(
        context: &Context,
        target: &Target,
        kernel: &Kernel,
    ) -> Result<LoadedKernel, HalError> {
        let texts = Text::all(context, target, kernel, target.argument_bytes)?;
        let (by_address, kernel) = (OnceLock::new(), kernel.clone());
        Ok(LoadedKernel {
            texts,
            by_address,
            kernel,
            multiprocessors: u64::from(target.multiprocessors),
        })
    }

    /// The texts for a launch. The context is current.
    fn texts(&self, way: Way<'_>) -> &Texts<Text> {
        let Some(device) = way.by_address() else { return &self.texts };
        let compile = || {
            let _relaxed = Relaxed::begin();
            Text::all(&device.context, &device.target, &self.kernel, 0).ok()
        };
        self.by_address.get_or_init(compile).as_ref().unwrap_or(&self.texts)
    }

    /// Whether the device runs groups of this size.
    pub(crate) fn check(&self, geometry: &Geometry) -> Result<(), HalError> {
        self.texts.text(true).blocks(geometry, 0..geometry.range[2] as u64).map(drop)
    }

    /// Launches it. `address` is that of the allocation of a parameter; `record` gives that of a
    /// clear record, for a text in which something can fail. The context is current.
    pub(crate) fn launch(
        &self,
        to: Destination<'_>,
        geometry: &Geometry,
        args: &Args<'_>,
        address: impl Fn(usize) -> u64,
        record: impl FnOnce(&Arc<Points>) -> Result<u64, HalError>,
    ) -> Result<(), HalError> {
        let texts = self.texts(to.way);
        let proved = launch::is_proved(geometry, args);
        let text = texts.text(proved);
        let record = if text.layout.verdict { Some(record(&text.points)?) } else { None };
        let mut passed = Passed::new(args.blob);
        passed.params.extend(args.params.iter().map(|param| param.at(null_mut())));
        passed.pointers.extend((0..args.params.len()).map(address));
        let mut launch = Launch { to, passed, record };
        let device = (self.multiprocessors, proved);
        let parts = launch::parts(texts, geometry, device, Some, Ok)?;
        parts.into_iter().flatten().try_for_each(|(text, columns)| {
            let blocks = text.blocks(geometry, columns)?;
            match text.reductions.is_empty() {
                true => text.run(&launch, &blocks),
                false => text.reduce(&mut launch, &blocks),
            }
        })
    }
}

/// A launch's arguments.
struct Launch<'l> {
    to: Destination<'l>,
    passed: Passed<'l, u64>,
    record: Option<u64>,
}

impl Text {
    /// All texts of a kernel, for launches with so many bytes of arguments: with 0, words are in
    /// memory.
    fn all(
        context: &Context,
        target: &Target,
        kernel: &Kernel,
        argument_bytes: u32,
    ) -> Result<Texts<Text>, HalError> {
        let lacks = |lacks: Lacks| HalError::new(HalErrorKind::Unsupported, lacks.to_string());
        let units = target.units;
        let capabilities = Capabilities { argument_bytes, units, ..Capabilities::CUDA };
        let texts = Texts::of(kernel, Dialect::Cuda, &capabilities, Cut::Gpu).map_err(lacks)?;
        let block = texts.block;
        texts.load(|module| Text::new(context, target, (kernel, argument_bytes), block, module))
    }

    fn new(
        context: &Context,
        target: &Target,
        (kernel, most): (&Kernel, u32),
        block: [u64; 3],
        text: folio_kernel::emit::Module,
    ) -> Result<Text, HalError> {
        if !text.layout.by_value && most > 0 {
            let name = &kernel.name;
            let what =
                format!("kernel `{name}` has more arguments than the {most} bytes of a launch");
            return Err(HalError::new(HalErrorKind::Unsupported, what));
        }
        let code = CString::new(text.text).map_err(|_| build("the text has a zero byte"))?;
        let options = Dialect::Cuda.options(true);
        let module = Module::compiled(context, &target.compiler, &kernel.name, &code, options)?;
        let finish = |reduction: &folio_kernel::emit::Reduction| {
            Ok(Finish {
                memory: memory_of(&text.layout, reduction.param)?,
                bytes: u64::from(reduction.bytes),
                entry: module.entry(context, &reduction.entry)?,
            })
        };
        let entry = module.entry(context, &text.entry)?;
        let shared = text.layout.scratch * text.layout.most_threads;
        Ok(Text {
            entry,
            block,
            shared: u64::from(shared_memory(context, target, entry, shared)?),
            reductions: text.reductions.iter().map(finish).collect::<Result<_, HalError>>()?,
            layout: text.layout,
            points: Arc::new(text.points),
            _module: module,
        })
    }

    /// The blocks of a launch, as far as it is of these columns: groups, or of our choice.
    fn blocks(&self, geometry: &Geometry, columns: Range<u64>) -> Result<Blocks, HalError> {
        let fit = Fit { block: self.block, lanes: LANES.into(), units: 1 };
        let blocks = Blocks::new(self.layout.threads, &fit, geometry, columns)?;
        if self.layout.threads == Threads::Linear {
            return Ok(blocks);
        }
        let block = blocks.threads;
        let threads = block.iter().product::<u64>();
        if block[0] > SLICES {
            let what = format!("a group of {} slices (the device has {SLICES} at most)", block[0]);
            return Err(HalError::unsupported(&what));
        }
        if threads > u64::from(self.layout.most_threads) {
            let most = self.layout.most_threads;
            let (group, limit) =
                (format!("{threads} items"), format!("the device has {most} at most"));
            return Err(HalError::large_group(group, most as usize, limit));
        }
        let shared = u64::from(self.layout.scratch) * threads;
        if shared > self.shared {
            let what = format!(
                "{shared} bytes of shared memory to combine the values of a group of {threads} items (beside \
                 the kernel's own, the device has {})",
                self.shared
            );
            return Err(HalError::unsupported(&what));
        }
        Ok(blocks)
    }

    /// The launch, in as many grids as the device's limits make of it.
    fn run(&self, launch: &Launch<'_>, blocks: &Blocks) -> Result<(), HalError> {
        blocks.split(GRID, |grid, count| self.grid(launch, grid, count, blocks.threads))
    }

    fn grid(
        &self,
        launch: &Launch<'_>,
        grid: &Grid,
        blocks: [u64; 3],
        block: [u64; 3],
    ) -> Result<(), HalError> {
        let mut words: SmallVec<[u64; 32]> = SmallVec::new();
        let Passed { params, pointers, scalars } = &launch.passed;
        self.layout.fill(grid, params, scalars, &mut words);
        let rest: SmallVec<[u64; 8]> = pointers.iter().copied().chain(launch.record).collect();
        let threads = block.iter().product::<u64>();
        let shared = u64::from(self.layout.scratch) * threads;
        let start = start(self.entry, (blocks, block), shared as u32);
        let (context, layout) = (launch.to.context, Some(&self.layout));
        // SAFETY: the arguments are those of the text's layout, and are live.
        unsafe { launch.to.way.launch(context, &start, (&words, &rest), layout) }
    }

    /// The launch of a kernel with launch-wide reductions: values go to memory that is there
    /// for as long as the launch, and are combined until there is one.
    fn reduce(&self, launch: &mut Launch<'_>, blocks: &Blocks) -> Result<(), HalError> {
        let values = blocks.total;
        if self.reductions.iter().any(|finish| launch.passed.leaves(finish.memory)) {
            return self.run(launch, blocks);
        }
        // Memory for so many can be counted, below.
        if values > MOST_REDUCED as u64 {
            return Err(HalError::unsupported("a reduction of so many values"));
        }
        let mut ends: SmallVec<[(u64, [u64; 2]); 2]> = SmallVec::new();
        let mut made = Ok(());
        for finish in self.reductions.iter().filter(|_| values > 1) {
            let room = [values, values.div_ceil(COMBINED)].map(|n| n * finish.bytes);
            let pieces = match launch.to.way.scratch(launch.to.memory, room) {
                Ok(pieces) => pieces,
                Err(error) => {
                    made = Err(error);
                    break;
                }
            };
            let redirected = launch.passed.redirect(finish.memory, pieces[0]);
            ends.push((redirected.as_ref().map_or(0, |(at, nth)| at + nth * finish.bytes), pieces));
            if let Err(error) = redirected {
                made = Err(error);
                break;
            }
        }
        let run = made.and_then(|()| self.run(launch, blocks));
        let run = run.and_then(|()| {
            self.reductions.iter().zip(&ends).try_for_each(|(finish, (end, pieces))| {
                finish.combine(launch.to, values, *end, *pieces)
            })
        });
        let free = |(_, pieces): (u64, [u64; 2])| launch.to.way.free(launch.to.memory, pieces);
        ends.into_iter().for_each(free);
        run
    }
}

impl Finish {
    /// Combines values until one is left, which goes to `end`.
    fn combine(
        &self,
        to: Destination<'_>,
        values: u64,
        end: u64,
        pieces: [u64; 2],
    ) -> Result<(), HalError> {
        passes([&pieces[0], &pieces[1]], values, |from, into, [left, next]| {
            let rest = [*from, into.copied().unwrap_or(end), left, 0];
            let start = start(self.entry, ([1, 1, next], COMBINING), 0);
            // SAFETY: two pointers and two numbers, as the emitter says; both pieces are large
            // enough.
            unsafe { to.way.launch(to.context, &start, (&[], &rest), None) }
        })
    }
}

/// Lets a kernel have so much dynamic shared memory, or what the device has; how much that is. The
/// context is current.
fn shared_memory(
    context: &Context,
    target: &Target,
    entry: Entry,
    wanted: u32,
) -> Result<u32, HalError> {
    let usual = entry.attribute(context, DYNAMIC)?;
    let own =
        entry.attribute(context, CUfunction_attribute::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)?;
    let most = wanted.min(target.shared.saturating_sub(own));
    if most > usual && entry.allow(context, most)? { Ok(most) } else { Ok(usual) }
}

/// Blocks of threads to start; shapes have the slowest dimension first.
#[inline]
fn start(entry: Entry, (blocks, block): ([u64; 3], [u64; 3]), shared: u32) -> Start {
    let forward = |[z, y, x]: [u64; 3]| [x as u32, y as u32, z as u32];
    Start { entry, blocks: forward(blocks), block: forward(block), shared }
}
