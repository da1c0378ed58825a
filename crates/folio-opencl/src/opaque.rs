//! Kernels in OpenCL C that the user wrote.

use crate::cl::{Buffer, Kernel, Program, run};
use crate::copy::Commands;
use crate::device::Core;
use crate::graph::{LaunchBuilder, Ready};
use crate::memory::with_room;
use crate::module::Arguments;
use crate::platform::Shared;
use crate::program::build;
use crate::threads::MOST_BLOCKS;
use folio_core::error::Label;
use folio_core::geom::Dims;
use folio_core::hal::{Args, Argument, Geometry, HalError, HalErrorKind, MemBase, Param};
use folio_core::ir::emit::narrowed;
use folio_driver::arguments::{Passing, check_count, local_bytes, misfit, passing};
use folio_driver::launch::volume;
use folio_driver::lock;
use opencl_sys::{
    CL_KERNEL_ARG_ACCESS_NONE, CL_KERNEL_ARG_ACCESS_QUALIFIER, CL_KERNEL_ARG_ADDRESS_LOCAL,
    CL_KERNEL_ARG_ADDRESS_PRIVATE, CL_KERNEL_ARG_ADDRESS_QUALIFIER, CL_KERNEL_ARG_NAME,
    CL_KERNEL_ARG_TYPE_NAME, CL_KERNEL_COMPILE_WORK_GROUP_SIZE, CL_KERNEL_LOCAL_MEM_SIZE,
    CL_KERNEL_NUM_ARGS, CL_KERNEL_WORK_GROUP_SIZE,
};
use std::ffi::{CStr, c_void};
use std::fmt::Display;
use std::ptr::{null, null_mut};
use std::sync::{Mutex, MutexGuard};

/// Without this a driver may know nothing of a kernel's parameters.
const TELL: &str = "-cl-kernel-arg-info";

/// A kernel of the user's.
#[derive(Debug)]
pub(crate) struct Opaque {
    /// Its arguments are set by one thread at a time.
    entry: Mutex<Entry>,
    params: Vec<Parameter>,
    most: GroupLimits,
    /// The only groups in which it runs, if it says so (`reqd_work_group_size`).
    group: Option<Dims>,
    name: Box<str>,
    program: Program,
}

#[derive(Debug)]
struct Entry {
    kernel: Kernel,
    /// Arguments that were found to be right.
    checked: Option<Vec<Argument>>,
}

/// A parameter, as far as the driver tells.
#[derive(Debug)]
struct Parameter {
    kind: Kind,
    /// Its type and name; empty if the driver does not tell.
    said: String,
    /// Bytes of a value, where OpenCL says how many its type has.
    bytes: Option<usize>,
}

/// The kind of argument that a parameter takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Memory,
    Value,
    Local,
    /// An image, a sampler, a pipe or a queue: nothing that arguments are.
    Other,
    /// The driver does not tell.
    Unknown,
}

impl Parameter {
    fn of(kernel: &Kernel, nth: u32) -> Parameter {
        let qualifier = |what| tell::<u32>(kernel, nth, what, 1).map(|answer| answer[0]);
        let text = |what| {
            let bytes = tell::<u8>(kernel, nth, what, 0)?;
            CStr::from_bytes_until_nul(&bytes).ok()?.to_str().ok().map(str::to_owned)
        };
        let of = text(CL_KERNEL_ARG_TYPE_NAME).unwrap_or_default();
        let access = qualifier(CL_KERNEL_ARG_ACCESS_QUALIFIER);
        let kind = match qualifier(CL_KERNEL_ARG_ADDRESS_QUALIFIER) {
            _ if access.is_some_and(|access| access != CL_KERNEL_ARG_ACCESS_NONE) => Kind::Other,
            _ if matches!(&*of, "sampler_t" | "queue_t") => Kind::Other,
            None => Kind::Unknown,
            Some(CL_KERNEL_ARG_ADDRESS_PRIVATE) => Kind::Value,
            Some(CL_KERNEL_ARG_ADDRESS_LOCAL) => Kind::Local,
            Some(_) => Kind::Memory,
        };
        let said = format!("{of} {}", text(CL_KERNEL_ARG_NAME).unwrap_or_default());
        Parameter { kind, said: said.trim().to_owned(), bytes: bytes_of(&of) }
    }

    /// The reason against an argument.
    fn check(&self, argument: &Argument) -> Result<(), String> {
        let takes = match (self.kind, argument) {
            (_, Argument::Local(0)) => return Err("is given no local memory at all".to_owned()),
            (Kind::Value, Argument::Value(bytes)) => match self.bytes {
                Some(takes) if takes != *bytes as usize => {
                    return Err(format!("takes {takes} bytes, and is given {bytes}"));
                }
                _ => return Ok(()),
            },
            (Kind::Memory, Argument::Memory(_)) | (Kind::Local, Argument::Local(_)) => {
                return Ok(());
            }
            (Kind::Other | Kind::Unknown, _) => return Ok(()),
            (Kind::Memory, _) => "a pointer to memory",
            (Kind::Value, _) => "a value",
            (Kind::Local, _) => "a pointer to local memory",
        };
        let given = match argument {
            Argument::Memory(_) => "memory",
            Argument::Value(_) => "a value",
            Argument::Local(_) => "local memory",
        };
        Err(format!("is {takes}, and is given {given}"))
    }

    /// How messages name it.
    fn named(&self, nth: usize) -> String {
        match &*self.said {
            "" => format!("argument {nth}"),
            said => format!("argument {nth} (`{said}`)"),
        }
    }
}

/// How many bytes values of an OpenCL type have.
fn bytes_of(of: &str) -> Option<usize> {
    let digits = of.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    let (scalar, lanes) = of.split_at(digits);
    let scalar = scalar.strip_prefix("unsigned ").unwrap_or(scalar);
    let each = match scalar.strip_prefix('u').unwrap_or(scalar) {
        "char" => 1,
        "short" | "half" => 2,
        "int" | "float" => 4,
        "long" | "double" => 8,
        _ => return None,
    };
    match lanes {
        "" => Some(each),
        // Three are as far apart as four.
        "3" => Some(4 * each),
        "2" | "4" | "8" | "16" => lanes.parse::<usize>().ok().map(|lanes| lanes * each),
        _ => None,
    }
}

/// The error of a refusal that is due to the user's arguments, unless the driver says that
/// something else is in its way.
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
        let program = build(core, name, text, &options)?;
        let kernel = Kernel::new(&program, name).map_err(|error| {
            let name = Label::from(name);
            let what = format!("there is no kernel {name} in the code ({})", error.message);
            of_the_user(error, HalErrorKind::Build, what)
        })?;
        let params: Vec<Parameter> =
            (0..count(&kernel)?).map(|nth| Parameter::of(&kernel, nth)).collect();
        if let Some(nth) = params.iter().position(|takes| takes.kind == Kind::Other) {
            let what = format!(
                "{} of kernel {} is no number, struct or pointer, and nothing else can be passed",
                params[nth].named(nth),
                Label::from(name)
            );
            return Err(HalError::new(HalErrorKind::Build, what));
        }
        let most = GroupLimits::of(core, &kernel)?;
        let [x, y, z] = ask(core, &kernel, CL_KERNEL_COMPILE_WORK_GROUP_SIZE, [0usize; 3])?;
        let group = (x != 0).then_some([z, y, x]);
        let entry = Mutex::new(Entry { kernel, checked: None });
        Ok(Opaque { entry, params, most, group, name: name.into(), program })
    }

    fn entry(&self) -> MutexGuard<'_, Entry> {
        lock(&self.entry)
    }

    /// The reason against a launch.
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
        check_count(arguments.len(), self.params.len())?;
        self.most.check_local(local_bytes(arguments), "")?;
        let mut set = Arguments::of(&entry.kernel);
        for (nth, (param, argument)) in self.params.iter().zip(arguments).enumerate() {
            let named = || param.named(nth);
            param.check(argument).map_err(|why| misfit(format!("{} {why}", named())))?;
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
                    Argument::Value(bytes) => {
                        format!("{} is no value of {bytes} bytes ({})", named(), error.message)
                    }
                    _ => format!("{}: {}", named(), error.message),
                };
                of_the_user(error, HalErrorKind::Arguments, what)
            })?;
        }
        entry.checked = Some(arguments.to_vec());
        Ok(())
    }

    fn check_group(&self, geometry: &Geometry) -> Result<(), HalError> {
        let Geometry { group, range, .. } = *geometry;
        match (group, self.group) {
            (Some(group), Some(only)) if group != only => {
                let what = format!("groups of {group:?} for a kernel of groups of {only:?}");
                return Err(misfit(what));
            }
            (None, Some(only)) if (0..3).any(|d| !range[d].is_multiple_of(only[d])) => {
                let what = format!("{range:?} items for a kernel of groups of {only:?}");
                return Err(misfit(what));
            }
            _ => {}
        }
        let group = group.or(self.group);
        if let Some(group) = group {
            self.most.check(group)?;
        }
        // Of which size the driver's own are, nobody knows.
        let size = group.unwrap_or([1; 3]);
        let groups = std::array::from_fn(|d| (range[d] / size[d].max(1)) as u64);
        if volume(groups).is_none_or(|all| all > MOST_BLOCKS) {
            let what = match group {
                Some(_) => "a launch in more than 2^31 groups",
                None => "a launch of more than 2^31 items, and no size of groups",
            };
            return Err(HalError::unsupported(what));
        }
        Ok(())
    }

    /// Enqueues a launch.
    pub(crate) fn launch(
        &self,
        commands: &mut Commands<'_>,
        geometry: &Geometry,
        args: &Args<'_>,
    ) -> Result<(), HalError> {
        let entry = self.entry();
        let memory = (commands.shared, commands.part_align);
        // Until the launch has them.
        let _parts = set(&entry.kernel, memory, args)?;
        commands.launch(&entry.kernel, geometry.range, geometry.group.or(self.group))
    }

    /// Prepares a launch for replays.
    pub(crate) fn prepare(
        &self,
        making: &mut LaunchBuilder<'_>,
        geometry: &Geometry,
        args: &Args<'_>,
    ) -> Result<(), HalError> {
        let kernel = with_room(|| Kernel::new(&self.program, &self.name))?;
        let parts = set(&kernel, (making.shared(), making.part_align()), args)?;
        making.keep(parts);
        making.add(Ready::new(kernel, geometry.range, geometry.group.or(self.group)));
        Ok(())
    }
}

/// Sets the arguments of a kernel. Returns what was made of memory for them.
fn set(kernel: &Kernel, memory: (&Shared, u64), args: &Args<'_>) -> Result<Vec<Buffer>, HalError> {
    let (mut set, mut parts) = (Arguments::of(kernel), Vec::new());
    for passing in passing(args) {
        match passing? {
            Passing::Memory(param) => parts.extend(place_argument(memory, &mut set, param)?),
            Passing::Value(value) => set.put(value.len(), value.as_ptr().cast())?,
            Passing::Local(bytes) => set.put(bytes as usize, null())?,
        }
    }
    Ok(parts)
}

/// Passes a parameter's memory: as a buffer where it begins there, otherwise by address, or as the
/// rest of the buffer, which is made for it.
fn place_argument(
    (shared, part_align): (&Shared, u64),
    set: &mut Arguments<'_>,
    param: &Param,
) -> Result<Option<Buffer>, HalError> {
    let MemBase::Device { handle, .. } = param.mem.base else {
        return match param.extent.contains(&0) {
            true => set.memory(null_mut()).map(|()| None),
            false => Err(HalError::unsupported("a parameter in the host's memory")),
        };
    };
    let block = shared.memory.find(handle)?;
    let ahead = param.mem.offset.wrapping_add_signed(param.ahead());
    match block.address {
        _ if ahead == 0 => set.memory(block.buffer.0).map(|()| None),
        Some(address) => set.address(address.wrapping_add(ahead)).map(|()| None),
        None if ahead < block.size && ahead.is_multiple_of(part_align) => {
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
                 at multiples of {part_align} bytes"
            );
            Err(HalError::unsupported(&what))
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

/// The driver's property of a parameter, as so many numbers of that type, or (none) as many as it
/// has.
fn tell<N: Copy + Default>(kernel: &Kernel, nth: u32, what: u32, many: usize) -> Option<Vec<N>> {
    let mut bytes = many * size_of::<N>();
    let (no, to) = (null_mut::<c_void>(), &raw mut bytes);
    if many == 0 {
        // SAFETY: a live kernel that has so many parameters; the answer is how long it would be.
        unsafe { run!(clGetKernelArgInfo(kernel.0, nth, what, 0, no, to)) }.ok()?;
    }
    let mut answer = vec![N::default(); bytes.div_ceil(size_of::<N>())];
    let to = answer.as_mut_ptr().cast::<c_void>();
    // SAFETY: as above; the answer, of that many bytes, is numbers.
    unsafe { run!(clGetKernelArgInfo(kernel.0, nth, what, bytes, to, null_mut())) }.ok()?;
    (!answer.is_empty()).then_some(answer)
}

/// A kernel's need of the device, as numbers of that type.
fn ask<N: Copy>(core: &Core, kernel: &Kernel, what: u32, none: N) -> Result<N, HalError> {
    let (mut answer, device) = (none, core.id.0);
    let (to, bytes) = ((&raw mut answer).cast::<c_void>(), size_of::<N>());
    // SAFETY: a live kernel, built for the device; the answer, of that many bytes, is numbers.
    unsafe { run!(clGetKernelWorkGroupInfo(kernel.0, device, what, bytes, to, null_mut())) }?;
    Ok(answer)
}

/// The groups in which a kernel runs, and the local memory that they have.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GroupLimits {
    /// Items of a group, at most: fewer than the device has, if each needs much.
    pub(crate) items: usize,
    /// The same in each dimension, the slowest first.
    dims: Dims,
    /// Bytes of local memory that a group needs beside what arguments ask for, and what there is.
    local: [u64; 2],
}

impl GroupLimits {
    /// Of a kernel whose arguments nobody has set yet: the driver counts what they ask for.
    pub(crate) fn of(core: &Core, kernel: &Kernel) -> Result<GroupLimits, HalError> {
        let items = ask(core, kernel, CL_KERNEL_WORK_GROUP_SIZE, 0usize)?;
        #[cfg(test)]
        let items = items.min(crate::tests::MOST_ITEMS.get());
        let local =
            [ask(core, kernel, CL_KERNEL_LOCAL_MEM_SIZE, 0u64)?, core.target.local_memory()];
        Ok(GroupLimits { items, dims: core.target.group, local })
    }

    /// Of a kernel whose text asks for so much local memory: PoCL 5.0 counts none of it.
    pub(crate) fn with_local(mut self, text: u64) -> GroupLimits {
        self.local[0] = self.local[0].max(text);
        self
    }

    /// Whether there is so much local memory beside what the kernel needs itself; `of` says whose
    /// it is.
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
        let GroupLimits { items: most, dims, .. } = *self;
        let items = group.iter().try_fold(1, |n: usize, d| n.checked_mul(*d));
        let narrow = group.iter().zip(dims).all(|(items, most)| *items <= most);
        if narrow && items.is_some_and(|items| items <= most) {
            return Ok(());
        }
        let limit = match narrow {
            true => format!("of this kernel, {most} items at most"),
            false => format!("of the device, {dims:?} at most"),
        };
        Err(HalError::large_group(format!("{group:?}"), most, limit))
    }

    /// A block in which it runs, of these threads or fewer.
    pub(crate) fn within(&self, block: [u64; 3]) -> [u64; 3] {
        let block = narrowed(block, self.items.try_into().unwrap_or(u32::MAX));
        std::array::from_fn(|d| block[d].min(self.dims[d] as u64))
    }
}
