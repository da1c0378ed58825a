//! An interpreter of kernels: slow, obvious, and written from `docs/semantics.md` alone. The
//! interpreter tells what a kernel means; compiled code and emitters are held against it.
//!
//! Verified kernels run one item after the other, on bytes: in sub-groups of one, and with
//! functions that give the float nearest to the exact value, where nobody asks for what another
//! [`Device`] does.

mod cpu;
mod exec;
pub mod float;
mod fold;
mod memory;
mod runner;
mod same;
mod scalar;
#[cfg(test)]
mod tests;

pub use runner::{InSubgroups, Interpreter};
pub use same::{plain, same};

use folio_kernel::launch::Launch;
use folio_kernel::{Kernel, ParamKind, Site, Violation, ViolationKind};

/// The argument of a parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Arg {
    /// The bytes of a scalar or struct.
    Scalar(Vec<u8>),
    /// The bytes of a view's elements, in row-major order.
    View {
        /// By dimension, as many as the view's rank.
        extent: Vec<u64>,
        /// The elements.
        bytes: Vec<u8>,
    },
    /// The bytes of the element of a reduction, or of one for each leaf of its tree.
    Reduce(Vec<u8>),
    /// Local memory: nothing.
    Local,
}

/// A failure of the command (semantics 10).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Why.
    pub kind: ViolationKind,
    /// Where, if the kernel says.
    pub site: Option<Site>,
}

impl Failure {
    /// As a violation of this kernel, if it says where.
    pub fn violation(self, kernel: &Kernel) -> Option<Violation> {
        let Failure { kind, site } = self;
        Some(Violation { kernel: kernel.name.clone(), kind, site: site? })
    }
}

/// Why a run did not come to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// More statements than allowed.
    Budget,
    /// Arguments that do not fit the kernel or the launch.
    Arguments(String),
}

/// The most different failures of a run that are kept.
pub const MOST_FAILURES: usize = 1000;

/// Threads that run together, for kernels of several items per thread.
pub const BLOCK: u64 = 4;

/// In which order things run whose order cannot matter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Items, and members of a group, in row-major order.
    Forward,
    /// The other way round.
    Backward,
}

/// The differences of devices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Device {
    /// Items of a sub-group (semantics 11.1); not 0.
    pub width: u64,
    /// The functions of semantics 5.8 are those that the CPU computes, bit by bit.
    pub cpu_functions: bool,
}

impl Default for Device {
    fn default() -> Device {
        Device { width: 1, cpu_functions: false }
    }
}

/// The least and greatest index in each dimension.
pub type Touched = Vec<(u64, u64)>;

/// Whose code runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Who {
    /// An item's, by its position.
    Item([u64; 3]),
    /// A group's, by its number.
    Group([u64; 3]),
}

/// An access of memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Accessed {
    /// Where, if the kernel says.
    pub site: Option<Site>,
    /// The parameter's name.
    pub param: String,
    /// The element.
    pub index: Vec<u64>,
    /// The value that is read.
    pub old: String,
    /// The value that is there afterwards, of an access that writes.
    pub new: Option<String>,
}

/// The result of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ran {
    /// The first failure of the command.
    pub failure: Option<Failure>,
    /// All of them, each once, up to [`MOST_FAILURES`].
    pub failures: Vec<Failure>,
    /// The item of the first failure, or the group, where its uniform code failed.
    pub failed: Option<Who>,
    /// Accesses of memory by the item that alone was run, the first [`MOST_FAILURES`].
    pub accesses: Vec<Accessed>,
    /// By parameter: the indices that were loaded, stored to, or used atomically; those out of
    /// bounds, too.
    pub touched: Vec<Option<Touched>>,
}

/// Runs a verified kernel for at most `budget` statements; the launch's extents are taken from the
/// arguments.
pub fn run(
    kernel: &Kernel,
    launch: &Launch,
    args: &mut [Arg],
    order: Order,
    budget: u64,
) -> Result<Ran, Stop> {
    run_like(kernel, launch, args, order, Device::default(), budget)
}

/// As [`run`], but as another device does it.
pub fn run_like(
    kernel: &Kernel,
    launch: &Launch,
    args: &mut [Arg],
    order: Order,
    device: Device,
    budget: u64,
) -> Result<Ran, Stop> {
    fits(kernel, launch, args).map_err(Stop::Arguments)?;
    exec::run(kernel, launch, args, exec::Manner { order, device, only: None }, budget)
}

/// As [`run_like`], forwards, and of one item alone, which a launch of the kernel has: in a kernel
/// of groups, of its group.
pub fn run_item(
    kernel: &Kernel,
    launch: &Launch,
    args: &mut [Arg],
    item: [u64; 3],
    device: Device,
    budget: u64,
) -> Result<Ran, Stop> {
    fits(kernel, launch, args).map_err(Stop::Arguments)?;
    let manner = exec::Manner { order: Order::Forward, device, only: Some(item) };
    exec::run(kernel, launch, args, manner, budget)
}

fn fits(kernel: &Kernel, launch: &Launch, args: &[Arg]) -> Result<(), String> {
    if kernel.params.len() != args.len() {
        return Err(format!("{} arguments for {} parameters", args.len(), kernel.params.len()));
    }
    let size = |ty| kernel.types.layout(ty).0 as usize;
    for (param, arg) in kernel.params.iter().zip(args) {
        let fine = match (&param.kind, arg) {
            (ParamKind::Scalar(ty), Arg::Scalar(bytes)) => bytes.len() == size(*ty),
            (ParamKind::Reduce { element, .. }, Arg::Reduce(bytes)) => {
                !bytes.is_empty() && bytes.len().is_multiple_of(size(*element).max(1))
            }
            (ParamKind::View { element, rank, .. }, Arg::View { extent, bytes }) => {
                // The product of what is not 0 may overflow.
                let count = if extent.contains(&0) { 0 } else { extent.iter().product::<u64>() };
                extent.len() == usize::from(*rank) && bytes.len() == count as usize * size(*element)
            }
            (ParamKind::Local { .. }, Arg::Local) => true,
            _ => false,
        };
        if !fine {
            return Err(format!("the argument of `{}` does not fit", param.name));
        }
    }
    let rank = usize::from(kernel.shape.rank);
    if launch.range[rank..].iter().any(|n| *n > 1) {
        return Err("the launch has more dimensions than the kernel".to_owned());
    }
    let step = |dim: usize| match kernel.shape.groups {
        true => launch.group[dim],
        false if dim + 1 == rank => match u64::from(kernel.shape.tile) {
            1 => 1,
            tile => tile * BLOCK,
        },
        false => 1,
    };
    match (0..rank).all(|dim| step(dim) > 0 && launch.range[dim].is_multiple_of(step(dim))) {
        true => Ok(()),
        false => Err("the range is no multiple of the group or tile".to_owned()),
    }
}
