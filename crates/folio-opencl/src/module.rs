//! Kernels in IR: emitted as OpenCL C, built for one device, and launched with the arguments that the
//! emitter's layout names.

use crate::cl::{Buffer, Kernel, Program, call, check, run};
use crate::device::Core;
use crate::memory::Block;
use crate::platform::number;
use crate::program::build_emitted;
use crate::reduce::{COMBINED, Finish, LANES};
use crate::work::Commands;
use folio_core::hal::{Args, Geometry, HalError, HalErrorKind, HostPtr, MemBase, Param, ParamPtr};
use folio_core::ir;
use folio_core::ir::emit::{Capabilities, Dialect, Form, Grid, Module, Points, Threads, emit};
use opencl_sys::{
    CL_DEVICE_LOCAL_MEM_SIZE, CL_DEVICE_MAX_PARAMETER_SIZE, CL_DEVICE_MAX_WORK_GROUP_SIZE,
    CL_DEVICE_MEM_BASE_ADDR_ALIGN, CL_DEVICE_SINGLE_FP_CONFIG, CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT,
    CL_MEM_COPY_HOST_PTR, CL_MEM_READ_ONLY, cl_mem,
};
use std::ffi::c_void;
use std::ptr::{null, null_mut};
use std::sync::{Arc, Mutex, PoisonError};

/// Threads of a block along the fastest dimension, where they are the backend's choice.
const BLOCK: usize = 64;

/// What the emitter may use on this device, and whether its divisions can be exact.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Target {
    capabilities: Capabilities,
    pub(crate) exact: bool,
    /// Bytes to which parts of buffers are aligned.
    pub(crate) part_align: usize,
}

impl Target {
    /// Bytes of a group's local memory.
    pub(crate) fn local_memory(&self) -> u64 {
        self.capabilities.local_memory
    }

    pub(crate) fn of(id: crate::platform::DeviceId, extensions: &str) -> Target {
        let ask = |what| number(id, what).unwrap_or(0);
        let has = |name: &str| extensions.split(' ').any(|found| found == name);
        let capabilities = Capabilities {
            f64: has("cl_khr_fp64"),
            atomics64: has("cl_khr_int64_base_atomics") && has("cl_khr_int64_extended_atomics"),
            local_memory: ask(CL_DEVICE_LOCAL_MEM_SIZE),
            argument_bytes: ask(CL_DEVICE_MAX_PARAMETER_SIZE) as u32,
            block: (ask(CL_DEVICE_MAX_WORK_GROUP_SIZE) as u32).max(1),
        };
        let config = ask(CL_DEVICE_SINGLE_FP_CONFIG);
        let exact = config & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT != 0;
        // In bits; drivers say 1024 to 4096.
        let part_align = (ask(CL_DEVICE_MEM_BASE_ADDR_ALIGN) as usize / 8).max(1);
        Target { capabilities, exact, part_align }
    }
}

/// A kernel in IR, in both forms.
#[derive(Debug)]
pub(crate) struct Function {
    checked: Arc<Built>,
    /// For launches without an index out of bounds.
    proved: Arc<Built>,
}

/// One text of a kernel, built.
#[derive(Debug)]
pub(crate) struct Built {
    module: Module,
    /// Their arguments are set by one thread at a time.
    entries: Mutex<Entries>,
    _program: Program,
}

#[derive(Debug)]
struct Entries {
    kernel: Kernel,
    reductions: Vec<Finish>,
}

impl Function {
    pub(crate) fn new(core: &Core, kernel: &ir::Kernel) -> Result<Function, HalError> {
        let text = |checked| {
            let form = Form::new(Dialect::OpenCl, checked);
            let lacks =
                |why: ir::emit::Lacks| HalError::new(HalErrorKind::Unsupported, why.to_string());
            emit(kernel, form, &core.target.capabilities).map_err(lacks)
        };
        let (checked, proved) = (text(true)?, text(false)?);
        let same = checked == proved;
        let checked = Arc::new(Built::new(core, checked)?);
        let proved = if same { checked.clone() } else { Arc::new(Built::new(core, proved)?) };
        Ok(Function { checked, proved })
    }

    pub(crate) fn form(&self, proved: bool) -> &Arc<Built> {
        if proved { &self.proved } else { &self.checked }
    }
}

impl Built {
    fn new(core: &Core, module: Module) -> Result<Built, HalError> {
        let program = build_emitted(core, &module.text)?;
        let finish = |reduction| Finish::new(&program, &module, reduction);
        let reductions = module.reductions.iter().map(finish).collect::<Result<_, _>>()?;
        let entries = Entries { kernel: Kernel::new(&program, &module.entry)?, reductions };
        Ok(Built { module, entries: Mutex::new(entries), _program: program })
    }

    /// What the records of its launches mean.
    pub(crate) fn points(&self) -> &Points {
        &self.module.points
    }

    /// Enqueues a launch.
    pub(crate) fn launch(
        self: &Arc<Built>,
        commands: &mut Commands<'_>,
        geometry: &Geometry,
        args: &Args<'_>,
    ) -> Result<(), HalError> {
        let shape = self.shape(geometry)?;
        let placed = args.params.iter().map(placed).collect::<Result<Vec<_>, _>>()?;
        let blocks = commands.blocks(&placed)?;
        let entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let count = shape.blocks().iter().product();
        let reductions = entries.reductions.iter().filter(|_| count > 1);
        let rooms = reductions.map(|finish| finish.room(commands, count));
        let rooms = rooms.collect::<Result<Vec<_>, _>>()?;
        let mut params: Vec<_> = placed.iter().map(|param| param.at(null_mut())).collect();
        let mut buffers: Vec<_> =
            blocks.iter().map(|block| block.as_ref().map(|block| &block.buffer)).collect();
        for (finish, room) in entries.reductions.iter().zip(&rooms) {
            params[finish.memory].origin = [0; 3];
            buffers[finish.memory] = Some(room.first());
        }
        self.enqueue(commands, &entries.kernel, (geometry, &shape), &params, args.blob, &buffers)?;
        for (finish, room) in entries.reductions.iter().zip(rooms) {
            let place = start_of(&placed[finish.memory]);
            let Some(block) = &blocks[finish.memory] else { continue };
            finish.combine(commands, (room, count), self.lanes(), (&block.buffer, place))?;
        }
        Ok(())
    }

    /// Enqueues the kernel's own threads.
    fn enqueue(
        self: &Arc<Built>,
        commands: &mut Commands<'_>,
        kernel: &Kernel,
        (geometry, shape): (&Geometry, &Threaded),
        params: &[ParamPtr],
        scalars: &[u8],
        buffers: &[Option<&Buffer>],
    ) -> Result<(), HalError> {
        let layout = &self.module.layout;
        let mut words: Vec<u64> = Vec::with_capacity(layout.words.len());
        layout.fill(&self.grid(geometry, shape), params, scalars, &mut words);
        let mut arguments = Arguments::of(kernel);
        // Goes when its commands have ended: they hold it.
        let apart = if words.is_empty() {
            None
        } else if layout.by_value {
            arguments.put(words.len() * 8, words.as_ptr().cast())?;
            None
        } else {
            let buffer = constant(commands, &words)?;
            arguments.memory(Some(&buffer))?;
            Some(buffer)
        };
        for buffer in buffers {
            arguments.memory(*buffer)?;
        }
        if layout.verdict {
            let slot = commands.verdicts.slot(commands.shared, commands.queue)?;
            arguments.memory(Some(slot))?;
        }
        if layout.scratch != 0 {
            let threads: usize = shape.local.iter().product();
            arguments.put(layout.scratch as usize * threads, null())?;
        }
        commands.launch(kernel, shape.global, Some(shape.local))?;
        drop(apart);
        if layout.verdict {
            commands.verdicts.used(self.clone());
        }
        Ok(())
    }

    /// The threads of a launch.
    fn shape(&self, geometry: &Geometry) -> Result<Threaded, HalError> {
        let beyond = || HalError::unsupported("a launch of this size");
        let most = (self.module.layout.most_threads as usize).max(1);
        let mut range = geometry.range;
        let local = match (self.module.layout.threads, geometry.group) {
            (Threads::Items { tile: 1 }, _) => [1, 1, BLOCK.min(most)],
            (Threads::Linear, _) => {
                let items = range.iter().try_fold(1, |n: usize, d| n.checked_mul(*d));
                let threads = self.lanes();
                let blocks = items.ok_or_else(beyond)?.div_ceil(COMBINED);
                range = [1, 1, blocks.checked_mul(threads).ok_or_else(beyond)?];
                [1, 1, threads]
            }
            (Threads::Groups, Some(group)) => {
                if group.iter().product::<usize>() > most {
                    return Err(HalError::unsupported(&format!("a group of {group:?}")));
                }
                group
            }
            (Threads::Groups, None) => return Err(HalError::unsupported("groups of no size")),
            _ => return Err(HalError::unsupported("threads of several items")),
        };
        let mut global = [0; 3];
        for (d, threads) in global.iter_mut().enumerate() {
            *threads = range[d].checked_next_multiple_of(local[d]).ok_or_else(beyond)?;
        }
        Ok(Threaded { global, local })
    }

    /// Threads of a block that combines.
    fn lanes(&self) -> usize {
        LANES.min(self.module.layout.most_threads as usize).max(1)
    }

    /// What the text is told of the launch.
    fn grid(&self, geometry: &Geometry, shape: &Threaded) -> Grid {
        let long = |dims: [usize; 3]| dims.map(|n| n as u64);
        let first = match self.module.layout.threads {
            Threads::Items { .. } => geometry.offset,
            Threads::Groups | Threads::Linear => [0; 3],
        };
        Grid {
            first: long(first),
            range: long(geometry.range),
            offset: long(geometry.offset),
            groups: long(shape.blocks()),
        }
    }
}

/// Threads, and those of a block; the slowest dimension first.
pub(crate) struct Threaded {
    pub(crate) global: [usize; 3],
    pub(crate) local: [usize; 3],
}

impl Threaded {
    fn blocks(&self) -> [usize; 3] {
        std::array::from_fn(|d| self.global[d] / self.local[d].max(1))
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

    pub(crate) fn word(&mut self, word: u64) -> Result<(), HalError> {
        self.put(8, (&raw const word).cast())
    }

    pub(crate) fn put(&mut self, bytes: usize, at: *const c_void) -> Result<(), HalError> {
        let number = self.next;
        self.next += 1;
        // SAFETY: so many bytes are there, or none for local memory; they are copied in the call.
        unsafe { run!(clSetKernelArg(self.kernel.0, number, bytes, at)) }
    }

    pub(crate) fn memory(&mut self, buffer: Option<&Buffer>) -> Result<(), HalError> {
        let raw: cl_mem = buffer.map_or(null_mut(), |buffer| buffer.0);
        self.put(size_of::<cl_mem>(), (&raw const raw).cast())
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

/// A parameter whose origin has what lies before its memory in the allocation, too: kernels are given
/// allocations, and no addresses.
fn placed(param: &Param) -> Result<Param, HalError> {
    let (before, size) = (param.mem.offset, u64::from(param.size));
    if !before.is_multiple_of(size) {
        return Err(HalError::unsupported("a parameter that begins within an element's size"));
    }
    let mut param = *param;
    param.origin[2] += (before / size) as usize;
    Ok(param)
}

/// Elements from the start of an allocation to what is accessed.
fn start_of(param: &Param) -> usize {
    let ([_, rows, columns], [z, y, x]) = (param.dims, param.origin);
    (z * rows + y) * columns + x
}

/// Words that are too many for arguments by value.
fn constant(commands: &Commands<'_>, words: &[u64]) -> Result<Buffer, HalError> {
    let flags = CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR;
    let (bytes, from) = (size_of_val(words), words.as_ptr().cast_mut().cast::<c_void>());
    let (context, mut status) = (commands.shared.context.0, 0);
    // SAFETY: a live context; the words are copied in the call.
    let made = unsafe { call!(clCreateBuffer(context, flags, bytes, from, &raw mut status)) }?;
    check("clCreateBuffer", status)?;
    Ok(Buffer(made))
}

impl Commands<'_> {
    /// The memory of parameters; none where nothing is accessed.
    pub(crate) fn blocks(&self, params: &[Param]) -> Result<Vec<Option<Arc<Block>>>, HalError> {
        let find = |param: &Param| match param.mem.base {
            MemBase::Device { handle, .. } => self.shared.memory.find(handle).map(Some),
            MemBase::Host(HostPtr(at)) if at.is_null() => Ok(None),
            _ => Err(HalError::unsupported("a parameter in the host's memory")),
        };
        params.iter().map(find).collect()
    }
}
