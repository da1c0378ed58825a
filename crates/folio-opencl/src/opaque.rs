//! Kernels in OpenCL C that the user wrote.

use crate::cl::{Buffer, Kernel, Program, run};
use crate::device::Core;
use crate::memory::with_room;
use crate::module::Arguments;
use crate::program::build;
use crate::work::Commands;
use folio_core::geom::Dims;
use folio_core::hal::{Args, Argument, Geometry, HalError, HalErrorKind, MemBase, Param};
use folio_core::ir::emit::narrowed;
use opencl_sys::{
    CL_KERNEL_ARG_ADDRESS_LOCAL, CL_KERNEL_ARG_ADDRESS_PRIVATE, CL_KERNEL_ARG_ADDRESS_QUALIFIER,
    CL_KERNEL_COMPILE_WORK_GROUP_SIZE, CL_KERNEL_LOCAL_MEM_SIZE, CL_KERNEL_NUM_ARGS,
    CL_KERNEL_WORK_GROUP_SIZE,
};
use std::ffi::c_void;
use std::fmt::Display;
use std::ptr::{null, null_mut};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Without this a driver may know nothing of a kernel's parameters.
const TELL: &str = "-cl-kernel-arg-info";

/// A kernel of the user's.
#[derive(Debug)]
pub(crate) struct Opaque {
    /// Its arguments are set by one thread at a time.
    entry: Mutex<Entry>,
    params: Vec<Kind>,
    most: Most,
    /// The only groups in which it runs, if it says so (`reqd_work_group_size`).
    group: Option<Dims>,
    _program: Program,
}

#[derive(Debug)]
struct Entry {
    kernel: Kernel,
    /// What was found to be right.
    checked: Option<Vec<Argument>>,
}

/// What a parameter takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Memory,
    Value,
    Local,
    /// The driver does not tell.
    Unknown,
}

impl Kind {
    fn takes(self, argument: &Argument) -> bool {
        match self {
            Kind::Memory => matches!(argument, Argument::Memory(_)),
            Kind::Value => matches!(argument, Argument::Value(_)),
            Kind::Local => matches!(argument, Argument::Local(_)),
            Kind::Unknown => true,
        }
    }

    fn words(self) -> &'static str {
        match self {
            Kind::Memory => "a pointer to memory",
            Kind::Value => "a value",
            Kind::Local => "a pointer to local memory",
            Kind::Unknown => "something else",
        }
    }
}

fn misfit(why: String) -> HalError {
    HalError::new(HalErrorKind::Arguments, why)
}

/// What the driver refuses because of what the user has given it, unless it says that something else is in its way.
fn of_the_user(refused: HalError, kind: HalErrorKind, what: String) -> HalError {
    match refused.kind {
        HalErrorKind::Lost | HalErrorKind::OutOfMemory { .. } => refused,
        _ => HalError::new(kind, what),
    }
}

impl Opaque {
    pub(crate) fn new(
        core: &Core,
        name: &str,
        text: &str,
        options: &[&str],
    ) -> Result<Opaque, HalError> {
        let options: Vec<&str> = options.iter().copied().chain([TELL]).collect();
        let program = build(core, text, &options)?;
        let kernel = Kernel::new(&program, name).map_err(|error| {
            let what = format!("there is no kernel `{name}` in the code ({})", error.message);
            of_the_user(error, HalErrorKind::Build, what)
        })?;
        let params = (0..count(&kernel)?).map(|nth| kind(&kernel, nth)).collect();
        let most = Most::of(core, &kernel)?;
        let [x, y, z] = ask(core, &kernel, CL_KERNEL_COMPILE_WORK_GROUP_SIZE, [0usize; 3])?;
        let group = (x != 0).then_some([z, y, x]);
        let entry = Mutex::new(Entry { kernel, checked: None });
        Ok(Opaque { entry, params, most, group, _program: program })
    }

    fn entry(&self) -> MutexGuard<'_, Entry> {
        self.entry.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What speaks against a launch.
    pub(crate) fn check(
        &self,
        geometry: &Geometry,
        arguments: &[Argument],
    ) -> Result<(), HalError> {
        self.check_group(geometry)?;
        let mut entry = self.entry();
        if entry.checked.as_deref() == Some(arguments) {
            return Ok(());
        }
        if arguments.len() != self.params.len() {
            let (given, takes) = (arguments.len(), self.params.len());
            return Err(misfit(format!("{given} arguments for a kernel that takes {takes}")));
        }
        let given: u64 = arguments
            .iter()
            .map(|argument| match argument {
                Argument::Local(bytes) => u64::from(*bytes),
                _ => 0,
            })
            .sum();
        self.most.check_local(given, "")?;
        let mut set = Arguments::of(&entry.kernel);
        for (nth, (param, argument)) in self.params.iter().zip(arguments).enumerate() {
            if !param.takes(argument) {
                return Err(misfit(format!("argument {nth} of the kernel is {}", param.words())));
            }
            let put = match argument {
                Argument::Memory(_) => set.memory(null_mut()),
                Argument::Value(bytes) => {
                    let zeros = vec![0u8; *bytes as usize];
                    set.put(zeros.len(), zeros.as_ptr().cast())
                }
                Argument::Local(bytes) => set.put(*bytes as usize, null()),
            };
            put.map_err(|error| {
                let what = match argument {
                    Argument::Value(bytes) => format!(
                        "argument {nth} of the kernel is no value of {bytes} bytes ({})",
                        error.message
                    ),
                    _ => format!("argument {nth}: {}", error.message),
                };
                of_the_user(error, HalErrorKind::Arguments, what)
            })?;
        }
        entry.checked = Some(arguments.to_vec());
        Ok(())
    }

    fn check_group(&self, geometry: &Geometry) -> Result<(), HalError> {
        let Geometry { group, range, .. } = geometry;
        match (group, self.group) {
            (Some(group), Some(only)) if *group != only => {
                Err(misfit(format!("groups of {group:?} for a kernel of groups of {only:?}")))
            }
            (None, Some(only)) if (0..3).any(|d| !range[d].is_multiple_of(only[d])) => {
                Err(misfit(format!("{range:?} items for a kernel of groups of {only:?}")))
            }
            (Some(group), _) => self.most.check(*group),
            (None, _) => Ok(()),
        }
    }

    /// Enqueues a launch.
    pub(crate) fn launch(
        &self,
        commands: &mut Commands<'_>,
        geometry: &Geometry,
        args: &Args<'_>,
    ) -> Result<(), HalError> {
        let missing = || misfit("an argument without its memory or value".to_owned());
        let entry = self.entry();
        let mut set = Arguments::of(&entry.kernel);
        let mut values = args.blob;
        // Until the launch has them.
        let mut parts = Vec::new();
        for argument in args.arguments {
            match *argument {
                Argument::Memory(at) => {
                    let param = args.params.get(usize::from(at)).ok_or_else(missing)?;
                    parts.extend(commands.place_argument(&mut set, param)?);
                }
                Argument::Value(bytes) => {
                    let bytes = bytes as usize;
                    let value = values.get(..bytes).ok_or_else(missing)?;
                    set.put(bytes, value.as_ptr().cast())?;
                    values = values.get(bytes.next_multiple_of(8)..).unwrap_or(&[]);
                }
                Argument::Local(bytes) => set.put(bytes as usize, null())?,
            }
        }
        commands.launch(&entry.kernel, geometry.range, geometry.group.or(self.group))
    }
}

impl Commands<'_> {
    /// Passes a parameter's memory: as a buffer where it begins there, otherwise by address, or as the rest of the
    /// buffer, which is made for it.
    fn place_argument(
        &self,
        set: &mut Arguments<'_>,
        param: &Param,
    ) -> Result<Option<Buffer>, HalError> {
        let MemBase::Device { handle, .. } = param.mem.base else {
            return match param.extent.contains(&0) {
                true => set.memory(null_mut()).map(|()| None),
                false => Err(HalError::unsupported("a parameter in the host's memory")),
            };
        };
        let block = self.shared.memory.find(handle)?;
        let ahead = param.mem.offset.wrapping_add_signed(param.ahead());
        match block.address {
            _ if ahead == 0 => set.memory(block.buffer.0).map(|()| None),
            Some(address) => set.address(address.wrapping_add(ahead)).map(|()| None),
            None if ahead < block.size && ahead.is_multiple_of(self.part_align) => {
                let (from, size) = (ahead as usize, (block.size - ahead) as usize);
                let rest = with_room(|| block.buffer.part(from, size))?;
                set.memory(rest.0)?;
                Ok(Some(rest))
            }
            None if ahead >= block.size => {
                Err(HalError::unsupported("passing the end of memory that has no address"))
            }
            None => {
                let what = format!(
                    "passing a place {ahead} bytes into memory that has no address, and parts only \
                     at multiples of {} bytes",
                    self.part_align
                );
                Err(HalError::unsupported(&what))
            }
        }
    }
}

/// How many parameters a kernel has.
fn count(kernel: &Kernel) -> Result<u32, HalError> {
    let mut count = 0u32;
    let to = (&raw mut count).cast::<c_void>();
    // SAFETY: a live kernel; the answer is a `cl_uint`.
    unsafe { run!(clGetKernelInfo(kernel.0, CL_KERNEL_NUM_ARGS, 4, to, null_mut())) }?;
    Ok(count)
}

fn kind(kernel: &Kernel, nth: u32) -> Kind {
    let (what, mut qualifier) = (CL_KERNEL_ARG_ADDRESS_QUALIFIER, 0u32);
    let to = (&raw mut qualifier).cast::<c_void>();
    // SAFETY: a live kernel that has so many parameters; the answer is a `cl_uint`.
    let asked = unsafe { run!(clGetKernelArgInfo(kernel.0, nth, what, 4, to, null_mut())) };
    match (asked, qualifier) {
        (Err(_), _) => Kind::Unknown,
        (Ok(()), CL_KERNEL_ARG_ADDRESS_PRIVATE) => Kind::Value,
        (Ok(()), CL_KERNEL_ARG_ADDRESS_LOCAL) => Kind::Local,
        (Ok(()), _) => Kind::Memory,
    }
}

/// What a kernel needs of the device, as numbers of that type.
fn ask<N: Copy>(core: &Core, kernel: &Kernel, what: u32, none: N) -> Result<N, HalError> {
    let (mut answer, device) = (none, core.id.0);
    let (to, bytes) = ((&raw mut answer).cast::<c_void>(), size_of::<N>());
    // SAFETY: a live kernel, built for the device; the answer, of that many bytes, is numbers.
    unsafe { run!(clGetKernelWorkGroupInfo(kernel.0, device, what, bytes, to, null_mut())) }?;
    Ok(answer)
}

/// The groups in which a kernel runs, and the local memory that they have.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Most {
    /// Items of a group, at most: fewer than the device has, if each needs much.
    pub(crate) items: usize,
    /// The same in each dimension, the slowest first.
    dims: Dims,
    /// Bytes of local memory that a group needs beside what arguments ask for, and what there is.
    local: [u64; 2],
}

impl Most {
    /// Of a kernel whose arguments nobody has set yet: the driver counts what they ask for.
    pub(crate) fn of(core: &Core, kernel: &Kernel) -> Result<Most, HalError> {
        let items = ask(core, kernel, CL_KERNEL_WORK_GROUP_SIZE, 0usize)?;
        #[cfg(test)]
        let items = items.min(crate::tests::MOST_ITEMS.get());
        let local =
            [ask(core, kernel, CL_KERNEL_LOCAL_MEM_SIZE, 0u64)?, core.target.local_memory()];
        Ok(Most { items, dims: core.target.group, local })
    }

    /// Whether there is so much local memory beside what the kernel needs itself; `of` says whose it is.
    pub(crate) fn check_local(&self, more: u64, of: impl Display) -> Result<(), HalError> {
        let [own, most] = self.local;
        let local = own.saturating_add(more);
        if local <= most {
            return Ok(());
        }
        let what = format!("{local} bytes of local memory{of} (the device has {most})");
        Err(HalError::unsupported(&what))
    }

    /// Whether it runs in such groups.
    pub(crate) fn check(&self, group: Dims) -> Result<(), HalError> {
        let Most { items: most, dims, .. } = *self;
        let items = group.iter().try_fold(1, |n: usize, d| n.checked_mul(*d));
        let narrow = group.iter().zip(dims).all(|(items, most)| *items <= most);
        if narrow && items.is_some_and(|items| items <= most) {
            return Ok(());
        }
        let what = match narrow {
            true => format!("a group of {group:?} (of this kernel, {most} items at most)"),
            false => format!("a group of {group:?} (of the device, {dims:?} at most)"),
        };
        Err(HalError::unsupported(&what))
    }

    /// A block in which it runs, of these threads or fewer.
    pub(crate) fn within(&self, block: [u64; 3]) -> [u64; 3] {
        let block = narrowed(block, self.items.try_into().unwrap_or(u32::MAX));
        std::array::from_fn(|d| block[d].min(self.dims[d] as u64))
    }
}
