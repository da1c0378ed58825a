//! Kernels in IR: emitted as OpenCL C, built for one device, and launched with the arguments that
//! the emitter's layout names. How a launch is cut into threads is `threads`.

use crate::cl::{Buffer, Kernel, Program, memory_gone, run};
use crate::copy::Commands;
use crate::device::Core;
use crate::graph::{LaunchBuilder, Ready};
use crate::launch_batch::LaunchArguments;
use crate::memory::{Pointer, with_room};
use crate::opaque::GroupLimits;
use crate::platform::{DeviceId, Shared, number, widest};
use crate::program::build_emitted;
use crate::reduce::Finish;
use crate::threads::Threaded;
use folio_core::geom::Dims;
use folio_core::hal::{Args, Caps, DeviceKind, Geometry, HalError, HalErrorKind, Param, ParamPtr};
use folio_core::ir;
use folio_core::ir::emit::{Capabilities, Cut, Dialect, Lacks, Module, Points, Texts, Threads};
use folio_driver::launch::{self, Parts};
use folio_driver::lock;
use folio_driver::reduce::{Room, Scratch};
use opencl_sys::{
    CL_DEVICE_LOCAL_MEM_SIZE, CL_DEVICE_MAX_PARAMETER_SIZE, CL_DEVICE_MAX_WORK_GROUP_SIZE,
    CL_DEVICE_MEM_BASE_ADDR_ALIGN, CL_DEVICE_SINGLE_FP_CONFIG, CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT,
    CL_FP_DENORM, CL_MEM_COPY_HOST_PTR, CL_MEM_READ_ONLY, cl_mem,
};
use std::ffi::c_void;
use std::ops::Range;
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

/// Bytes of the variables of a group's items on a device that is a CPU, where one thread has them
/// on its stack (PoCL 3.1): more of them may be beyond that, and whatever is there is overwritten.
const STACK: u64 = 1 << 20;

/// The emitter's capabilities on this device, and whether its divisions can be exact.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Target {
    capabilities: Capabilities,
    pub(crate) exact: bool,
    pub(crate) denormals: bool,
    /// Bytes to which parts of buffers are aligned.
    pub(crate) part_align: usize,
    /// Items of a group in each dimension, at most.
    pub(crate) group: Dims,
}

impl Target {
    /// Tells what kernels can use.
    pub(crate) fn tell(&self, caps: &mut Caps) {
        let Capabilities { f64, atomics64, local_memory, block, .. } = self.capabilities;
        (caps.f64, caps.atomics64) = (f64, atomics64);
        (caps.group_items, caps.local_memory) = (block.into(), local_memory);
    }

    /// Bytes of a group's local memory.
    pub(crate) fn local_memory(&self) -> u64 {
        self.capabilities.local_memory
    }

    /// The same device, as if it could do no more than this.
    pub(crate) fn limited_to(self, limit: Capabilities) -> Target {
        let has = self.capabilities;
        let capabilities = Capabilities {
            f64: has.f64 && limit.f64,
            atomics64: has.atomics64 && limit.atomics64,
            local_memory: has.local_memory.min(limit.local_memory),
            argument_bytes: has.argument_bytes.min(limit.argument_bytes),
            block: has.block.min(limit.block).max(1),
            units: 0,
        };
        Target { capabilities, ..self }
    }

    pub(crate) fn of(id: DeviceId, extensions: &str) -> Result<Target, HalError> {
        let ask = |what| number(id, what);
        let has = |name: &str| extensions.split(' ').any(|found| found == name);
        let capabilities = Capabilities {
            f64: has("cl_khr_fp64"),
            atomics64: has("cl_khr_int64_base_atomics") && has("cl_khr_int64_extended_atomics"),
            local_memory: ask(CL_DEVICE_LOCAL_MEM_SIZE)?,
            argument_bytes: ask(CL_DEVICE_MAX_PARAMETER_SIZE)? as u32,
            block: (ask(CL_DEVICE_MAX_WORK_GROUP_SIZE)? as u32).max(1),
            units: 0,
        };
        let config = ask(CL_DEVICE_SINGLE_FP_CONFIG)?;
        let exact = config & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT != 0;
        let denormals = config & CL_FP_DENORM != 0;
        // In bits; drivers say 1024 to 4096.
        let part_align = (ask(CL_DEVICE_MEM_BASE_ADDR_ALIGN)? as usize / 8).max(1);
        Ok(Target { capabilities, exact, denormals, part_align, group: widest(id) })
    }
}

/// A kernel in IR, in all forms of its text.
#[derive(Debug)]
pub(crate) struct LoadedKernel(pub(crate) Texts<Text>);

/// A text of a kernel, which is built when a launch takes it.
#[derive(Debug)]
pub(crate) struct Text {
    module: Arc<Module>,
    block: [u64; 3],
    pub(crate) built: OnceLock<Result<Arc<Built>, HalError>>,
    /// Held by whoever compiles it.
    building: Mutex<()>,
    /// Launches that would have taken it while it was not there, and took another one.
    missed: AtomicU64,
}

/// The texts that a launch takes, built, and the columns that each computes.
pub(crate) type Chosen<'f> = Parts<&'f Arc<Built>>;

/// Where launches go.
pub(crate) enum Way<'w, 'c> {
    Lane(&'w mut Commands<'c>),
    /// Into an operation of a graph.
    Graph(&'w mut LaunchBuilder<'c>),
}

/// A text of a kernel, built.
#[derive(Debug)]
pub(crate) struct Built {
    pub(crate) module: Arc<Module>,
    /// Threads of a block, where they are items and no groups.
    pub(crate) block: [u64; 3],
    pub(crate) compute_units: u64,
    pub(crate) most: GroupLimits,
    /// Its arguments are set by one thread at a time.
    entry: Mutex<Entry>,
    /// Likewise.
    reductions: Mutex<Vec<Finish>>,
    program: Program,
}

#[derive(Debug)]
struct Entry {
    kernel: Kernel,
    /// The words by value that it has. Some drivers allocate memory whenever they are given such.
    words: Vec<u64>,
    /// The pointers that it has, as far as known, and how much memory was [gone](memory_gone) by
    /// then.
    pointers: Vec<Option<Pointer>>,
    gone: u64,
}

/// Parameters of a launch, and pointers to their memory: null where nothing is accessed.
type Passed<'p> = folio_driver::arguments::Passed<'p, Pointer>;

impl LoadedKernel {
    pub(crate) fn new(core: &Core, kernel: &ir::Kernel) -> Result<LoadedKernel, HalError> {
        let lacks = |why: Lacks| HalError::new(HalErrorKind::Unsupported, why.to_string());
        let mut capabilities = core.target.capabilities;
        if core.has_addresses() {
            // No words are passed by value.
            capabilities.argument_bytes = 0;
        }
        let texts = Texts::of(kernel, Dialect::OpenCl, &capabilities, core.cut).map_err(lacks)?;
        let block = texts.block;
        let text = |module| {
            let (module, built, building) = (Arc::new(module), OnceLock::new(), Mutex::new(()));
            Text { module, block, built, building, missed: AtomicU64::new(0) }
        };
        let texts = texts.load(|module| Ok::<_, HalError>(text(module)))?;
        // The first text is built at once, so that the compiler's refusal comes where the kernel is
        // loaded.
        texts.text(true).built(core)?;
        Ok(LoadedKernel(texts))
    }

    /// Whether the device runs groups of this size. Of a text that is not built yet its launch
    /// tells.
    pub(crate) fn check(&self, core: &Core, geometry: &Geometry) -> Result<(), HalError> {
        let built = self.0.text(true).built(core)?;
        geometry.group.map_or(Ok(()), |group| built.check(group))
    }

    /// Builds all that launches may take. A refusal of texts that they do not need all the same is
    /// no error.
    pub(crate) fn prepare(&self, core: &Core) -> Result<(), HalError> {
        self.0.each(&mut |text| drop(text.built(core)));
        self.0.text(false).built(core).map(drop)
    }

    /// The texts of a launch, built here where they have not been needed before.
    pub(crate) fn texts<'f>(
        &'f self,
        core: &Core,
        geometry: &Geometry,
        args: &Args<'_>,
    ) -> Result<Chosen<'f>, HalError> {
        let units = u64::from(core.info.compute_units);
        let proved = match core.cut {
            Cut::Gpu => launch::is_proved(geometry, args),
            Cut::Cpu => args.proved,
        };
        // A driver that refuses the larger text may take the other one.
        let several = |text: &'f Text| text.if_there(core);
        launch::parts(&self.0, geometry, (units, proved), several, |text| text.built(core))
    }
}

/// Enqueues a launch, or prepares it for replays.
pub(crate) fn launch(
    chosen: Chosen<'_>,
    mut way: Way<'_, '_>,
    geometry: &Geometry,
    args: &Args<'_>,
) -> Result<(), HalError> {
    let mut passed = Passed::new(args.blob);
    for param in args.params {
        passed.params.push(placed(param)?);
    }
    way.pointers(args.params, |to| passed.pointers.push(to))?;
    let mut parts = chosen.into_iter().flatten();
    parts.try_for_each(|(built, columns)| built.launch(&mut way, geometry, columns, &mut passed))
}

impl Way<'_, '_> {
    /// The memory that parameters lead to.
    fn pointers(&mut self, params: &[Param], each: impl FnMut(Pointer)) -> Result<(), HalError> {
        match self {
            Way::Lane(commands) => {
                let addresses = commands.words.is_some();
                commands.known.pointers(&commands.shared.memory, params, addresses, each)
            }
            Way::Graph(making) => making.pointers(params, each),
        }
    }

    /// Room for the values of a reduction. A graph's operation owns its room.
    fn room(&mut self, finish: &Finish, values: u64) -> Result<Room<Buffer>, HalError> {
        match self {
            Way::Lane(commands) => finish.room(commands.shared, commands.scratch, values),
            Way::Graph(making) => finish.room(making.shared(), &mut Scratch::default(), values),
        }
    }

    /// The room is not used by what comes next.
    fn keep(&mut self, room: Room<Buffer>) {
        match self {
            Way::Lane(commands) => drop(commands.scratch.keep(room)),
            Way::Graph(making) => making.keep(room.0.map(|piece| piece.memory)),
        }
    }
}

impl Text {
    /// Compiled by the first who asks. The compiler's answer stays; another obstacle, such as too
    /// little memory, may be gone when a caller asks again.
    fn built(&self, core: &Core) -> Result<&Arc<Built>, HalError> {
        let known = || self.built.get().map(|built| built.as_ref().map_err(Clone::clone));
        if let Some(known) = known() {
            return known;
        }
        let _one = lock(&self.building);
        if let Some(known) = known() {
            return known;
        }
        let built = with_room(|| Built::new(core, self.module.clone(), self.block).map(Arc::new));
        let built = core.told(built);
        if let Err(error) = &built
            && !matches!(error.kind, HalErrorKind::Build | HalErrorKind::Unsupported)
        {
            return Err(error.clone());
        }
        self.built.get_or_init(|| built).as_ref().map_err(Clone::clone)
    }

    /// The same for launches that can do without it: compilers take long, so what they refuse is
    /// asked for by the first such launch, the second, the fourth, the eighth, and so on.
    fn if_there(&self, core: &Core) -> Option<&Arc<Built>> {
        if let Some(built) = self.built.get() {
            return built.as_ref().ok();
        }
        let missed = self.missed.fetch_add(1, Ordering::Relaxed) + 1;
        if missed.is_power_of_two() { self.built(core).ok() } else { None }
    }
}

impl Built {
    fn new(core: &Core, module: Arc<Module>, block: [u64; 3]) -> Result<Built, HalError> {
        let program = build_emitted(core, &module.entry, &module.text)?;
        let finish = |reduction| Finish::new(&program, &module, reduction);
        let reductions = module.reductions.iter().map(finish).collect::<Result<Vec<_>, _>>()?;
        let kernel = Kernel::new(&program, &module.entry)?;
        let mut most = GroupLimits::of(core, &kernel)?.with_local(module.layout.local);
        most.check_local(0, "")?;
        most.items = most.items.min(module.layout.most_threads as usize);
        if core.info.kind == DeviceKind::Cpu {
            let (private, items) = (module.layout.private, most.items);
            most.items = items.min((STACK / private.max(1)) as usize);
            if most.items == 0 {
                let what =
                    format!("variables of {private} bytes (a thread's stack has {STACK} for them)");
                return Err(HalError::unsupported(&what));
            }
        }
        for finish in &reductions {
            let of_finish = GroupLimits::of(core, &finish.kernel)?;
            of_finish.check_local(0, "")?;
            most.items = most.items.min(of_finish.items);
        }
        // The text of several items for each thread is one for blocks of this size.
        let within = most.within(block);
        if within != block && matches!(module.layout.threads, Threads::Items { tile: 2.. }) {
            let what = format!("blocks of {block:?} (of this kernel, {within:?})");
            return Err(HalError::unsupported(&what));
        }
        let block = within;
        let compute_units = u64::from(core.info.compute_units).max(1);
        let (words, pointers) = (Vec::new(), Vec::new());
        let entry = Mutex::new(Entry { kernel, words, pointers, gone: 0 });
        let reductions = Mutex::new(reductions);
        Ok(Built { module, block, compute_units, most, entry, reductions, program })
    }

    /// Another object of one of its entries, with arguments of its own.
    pub(crate) fn kernel(&self, entry: &str) -> Result<Kernel, HalError> {
        with_room(|| Kernel::new(&self.program, entry))
    }

    /// Whether it runs in such groups, which have local memory for each item to combine what they
    /// collect.
    pub(crate) fn check(&self, group: Dims) -> Result<(), HalError> {
        self.most.check(group)?;
        let items: usize = group.iter().product();
        let scratch = u64::from(self.module.layout.scratch) * items as u64;
        self.most.check_local(scratch, format_args!(" for a group of {group:?}"))
    }

    /// The meaning of its launches' records.
    pub(crate) fn points(&self) -> &Points {
        &self.module.points
    }

    /// The launch, as far as it is of these columns.
    fn launch(
        self: &Arc<Built>,
        way: &mut Way<'_, '_>,
        geometry: &Geometry,
        columns: Range<u64>,
        passed: &mut Passed<'_>,
    ) -> Result<(), HalError> {
        let threads = self.threads(geometry, columns)?;
        let values = threads.blocks;
        if values <= 1 || self.module.reductions.is_empty() {
            return self.own(way, &threads, passed);
        }
        let reductions = lock(&self.reductions);
        if reductions.iter().any(|finish| passed.leaves(finish.memory)) {
            return self.own(way, &threads, passed);
        }
        let mut finished = Vec::new();
        for finish in &*reductions {
            let room = way.room(finish, values)?;
            let end = passed.redirect(finish.memory, Pointer::Buffer(room.first().0))?;
            finished.push((finish, room, end));
        }
        self.own(way, &threads, passed)?;
        if let Way::Lane(commands) = way {
            commands.now()?;
        }
        for (finish, room, end) in finished {
            if end.0 != Pointer::NULL {
                finish.combine(way, (self, &room), values, end)?;
            }
            way.keep(room);
        }
        Ok(())
    }

    /// The kernel's own threads.
    fn own(
        self: &Arc<Built>,
        way: &mut Way<'_, '_>,
        threads: &Threaded,
        passed: &Passed<'_>,
    ) -> Result<(), HalError> {
        match way {
            Way::Lane(commands) => self.hold(commands, threads, passed),
            Way::Graph(making) => self.ready(making, threads, passed),
        }
    }

    /// Prepares the kernel's own threads. All arguments are set but the place of the record.
    fn ready(
        self: &Arc<Built>,
        making: &mut LaunchBuilder<'_>,
        threads: &Threaded,
        passed: &Passed<'_>,
    ) -> Result<(), HalError> {
        let (layout, mut words) = (&self.module.layout, Vec::new());
        layout.fill(&threads.grid, &passed.params, passed.scalars, &mut words);
        let kernel = self.kernel(&self.module.entry)?;
        let mut arguments = Arguments::of(&kernel);
        if layout.by_value && !words.is_empty() {
            arguments.put(size_of_val(&*words), words.as_ptr().cast())?;
        } else if !words.is_empty() {
            arguments.pointer(making.words(&words)?)?;
        }
        passed.pointers.iter().try_for_each(|to| arguments.pointer(*to))?;
        let record = layout.verdict.then(|| (arguments.skip(), self.clone()));
        let scratch = layout.scratch as usize;
        if scratch != 0 {
            arguments.put(scratch * threads.local.iter().product::<usize>(), null())?;
        }
        let mut ready = Ready::new(kernel, threads.global, Some(threads.local));
        ready.record = record;
        making.add(ready);
        Ok(())
    }

    /// Has the kernel's own threads enqueued after those that are held.
    fn hold(
        self: &Arc<Built>,
        commands: &mut Commands<'_>,
        threads: &Threaded,
        passed: &Passed<'_>,
    ) -> Result<(), HalError> {
        let layout = &self.module.layout;
        let record = match layout.verdict {
            true => {
                Some(Pointer::Buffer(commands.verdicts.slot(commands.shared, commands.queue)?.0))
            }
            false => None,
        };
        let (words, pointers) = commands.batch.begin();
        let from = words.len();
        layout.fill(&threads.grid, &passed.params, passed.scalars, words);
        let mut apart = None;
        if !layout.by_value && words.len() > from {
            let made = &words[from..];
            pointers.push(match &mut commands.words {
                Some(to) => Pointer::Address(to.put(commands.shared, commands.kept, made)?),
                None => Pointer::Buffer(apart.insert(constant(commands.shared, made)?).0),
            });
            words.truncate(from);
        }
        pointers.extend_from_slice(&passed.pointers);
        pointers.extend(record);
        let dims = [threads.global, threads.local];
        commands.batch.push(commands.tick, self.clone(), apart, dims);
        if layout.verdict {
            commands.verdicts.used(self.clone());
        }
        commands.added();
        Ok(())
    }

    /// Sets what the entry is given and does not have, and has it enqueued.
    pub(crate) fn given(
        &self,
        given: &LaunchArguments<'_>,
        enqueue: impl FnOnce(&Kernel) -> Result<(), HalError>,
    ) -> Result<(), HalError> {
        let mut entry = lock(&self.entry);
        let Entry { kernel, words, pointers, gone } = &mut *entry;
        let mut arguments = Arguments::of(kernel);
        if !given.words.is_empty() {
            if **words == *given.words {
                arguments.skip();
            } else {
                words.clear();
                arguments.put(size_of_val(given.words), given.words.as_ptr().cast())?;
                words.extend_from_slice(given.words);
            }
        }
        let now = memory_gone();
        if std::mem::replace(gone, now) != now {
            pointers.clear();
        }
        pointers.resize(given.pointers.len(), None);
        for (has, to) in pointers.iter_mut().zip(given.pointers) {
            if *has == Some(*to) {
                arguments.skip();
            } else {
                *has = None;
                arguments.pointer(*to)?;
                *has = Some(*to);
            }
        }
        let scratch = self.module.layout.scratch as usize;
        if scratch != 0 {
            arguments.put(scratch * given.threads, null())?;
        }
        enqueue(kernel)
    }
}

/// A kernel's arguments, set one after the other.
pub(crate) struct Arguments<'k> {
    kernel: &'k Kernel,
    next: u32,
}

impl<'k> Arguments<'k> {
    /// Of a kernel whose arguments nobody else sets now.
    pub(crate) fn of(kernel: &'k Kernel) -> Arguments<'k> {
        Arguments { kernel, next: 0 }
    }

    /// Of such a kernel, from this one on.
    pub(crate) fn from(kernel: &'k Kernel, next: u32) -> Arguments<'k> {
        Arguments { kernel, next }
    }

    /// The kernel has the next one, or is given it later. Returns its number.
    fn skip(&mut self) -> u32 {
        self.next += 1;
        self.next - 1
    }

    pub(crate) fn word(&mut self, word: u64) -> Result<(), HalError> {
        self.put(8, (&raw const word).cast())
    }

    pub(crate) fn put(&mut self, bytes: usize, at: *const c_void) -> Result<(), HalError> {
        let number = self.next;
        self.next += 1;
        // SAFETY: so many bytes are there, or none for local memory; they are copied in the call.
        unsafe { run!(clSetKernelArg(self.kernel.0, number, bytes, at)) }
    }

    /// A buffer, or null for none.
    pub(crate) fn memory(&mut self, buffer: cl_mem) -> Result<(), HalError> {
        self.put(size_of::<cl_mem>(), (&raw const buffer).cast())
    }

    pub(crate) fn pointer(&mut self, to: Pointer) -> Result<(), HalError> {
        match to {
            Pointer::Buffer(buffer) => self.memory(buffer),
            Pointer::Address(address) => self.address(address),
        }
    }

    /// A place in shared virtual memory.
    pub(crate) fn address(&mut self, address: u64) -> Result<(), HalError> {
        let number = self.next;
        self.next += 1;
        let at = std::ptr::with_exposed_provenance::<c_void>(address as usize);
        // SAFETY: an address within an allocation of this context.
        unsafe { run!(clSetKernelArgSVMPointer(self.kernel.0, number, at)) }
    }
}

/// A parameter whose origin has what lies before its memory in the allocation, too: kernels are
/// given allocations, and no addresses.
fn placed(param: &Param) -> Result<ParamPtr, HalError> {
    let mut placed = param.at(null_mut());
    let (before, size) = (param.mem.offset, u64::from(param.size));
    if before != 0 {
        if !before.is_multiple_of(size) {
            return Err(HalError::unsupported("a parameter that begins within an element's size"));
        }
        placed.origin[2] += (before / size) as usize;
    }
    Ok(placed)
}

/// Words that are too many for arguments by value.
pub(crate) fn constant(shared: &Shared, words: &[u64]) -> Result<Buffer, HalError> {
    let flags = CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR;
    let (bytes, from) = (size_of_val(words), words.as_ptr().cast_mut().cast::<c_void>());
    // SAFETY: the words are copied in the call.
    with_room(|| unsafe { Buffer::over(&shared.context, flags, bytes, from) })
}
