//! Runs a launch again that was kept as a [`Capsule`], by the interpreter, item by item.

use crate::interp::{Accessed, Arg, Device, Order, Ran, Stop, Who, run_item, run_like};
use folio_core::Violation;
use folio_kernel::launch::Launch;
use folio_kernel::{Access, Kernel, ParamKind};
use folio_layers::{Capsule, Memory};
use std::fmt;

/// Statements of one replay. More would take minutes.
const BUDGET: u64 = 1 << 32;
/// Items that are run at most; one of a larger launch can be run alone.
const MOST_ITEMS: u64 = 1 << 26;
/// Bytes of variables, arrays and views that are made at most.
const MOST_BYTES: u64 = 1 << 32;

/// What a replay found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replayed {
    /// The item that fails first, or the group.
    pub failed: Option<Who>,
    /// How it fails.
    pub violation: Option<Violation>,
    /// Different failures of all items.
    pub failures: usize,
    /// The memory that the item reads and writes, where one item is run alone.
    pub accesses: Vec<Accessed>,
    /// By parameter that the kernel writes, if all items ran: how the memory is like the device's.
    pub compared: Vec<Compared>,
}

/// How a parameter's memory after the replay is like what the device wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compared {
    /// The parameter's name.
    pub param: String,
    /// Elements of equal bits.
    pub equal: u64,
    /// Elements that the device left as they were, and the replay wrote: a launch that fails may
    /// leave items out.
    pub left: u64,
    /// Elements that the device wrote with other bits than the replay.
    pub different: u64,
    /// The first of these: its index as the kernel counts, slowest dimension first, the device's
    /// bytes and the replay's.
    pub first: Option<([u64; 3], Vec<u8>, Vec<u8>)>,
}

/// Why a capsule is not replayed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReplayError {
    /// The contents of this parameter's memory were not kept.
    Memory {
        /// Its name.
        param: String,
        /// Bytes that were to be kept.
        bytes: u64,
    },
    /// The launch has no item there.
    Item {
        /// The position that was asked for.
        item: [u64; 3],
    },
    /// The launch is too large for the interpreter.
    TooLarge(String),
    /// The run did not come to its end.
    Stopped(String),
}

impl fmt::Display for ReplayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReplayError::Memory { param, bytes } => write!(
                f,
                "the capsule has none of the {bytes} bytes of `{param}`: they were too many, or the device was lost before"
            ),
            ReplayError::Item { item } => write!(f, "the launch has no item {item:?}"),
            ReplayError::TooLarge(what) => {
                write!(
                    f,
                    "the launch has {what}, too many for the interpreter: `--item` runs one item"
                )
            }
            ReplayError::Stopped(why) => write!(f, "the replay stopped: {why}"),
        }
    }
}

impl std::error::Error for ReplayError {}

/// Three dimensions as the kernel numbers them: its own first, and then `beyond`.
fn leading(dims: [u64; 3], rank: usize, beyond: u64) -> [u64; 3] {
    std::array::from_fn(|dim| dims.get(3 - rank + dim).copied().unwrap_or(beyond))
}

/// Bytes of a view.
fn view_bytes(memory: &Memory) -> u64 {
    let elements = if memory.shape.contains(&0) { 0 } else { memory.shape.iter().product() };
    elements * memory.size
}

/// The rows of the accessed box: the first byte in the box and in the view, and the bytes of one.
fn rows(memory: &Memory) -> impl Iterator<Item = (usize, usize, usize)> + '_ {
    let Memory { size, extent, index, shape, .. } = memory;
    // Elements of no bytes may be more than can be counted.
    let all = if memory.bytes() == Some(0) { [0; 3] } else { *extent };
    let row = (all[2] * size) as usize;
    let at = (0..all[0]).flat_map(move |z| (0..all[1]).map(move |y| (z, y)));
    at.enumerate().map(move |(nth, (z, y))| {
        let element = ((index[0] + z) * shape[1] + index[1] + y) * shape[2] + index[2];
        (nth * row, (element * size) as usize, row)
    })
}

/// The arguments of the launch, with zeros around the accessed boxes.
fn arguments(capsule: &Capsule) -> Result<Vec<Arg>, ReplayError> {
    let kernel = &capsule.kernel;
    let size = |ty| kernel.types.layout(ty).0 as usize;
    let (mut word, mut memory) = (0, capsule.memory.iter());
    let mut args = Vec::with_capacity(kernel.params.len());
    let lacking = |param: &str, bytes| ReplayError::Memory { param: param.to_owned(), bytes };
    for param in &kernel.params {
        let mut next = || memory.next().ok_or_else(|| lacking(&param.name, 0));
        let before = |memory: &Memory| match (&memory.before, memory.bytes()) {
            (Some(before), _) => Ok(before.clone()),
            (None, Some(0)) => Ok(vec![]),
            (None, bytes) => Err(lacking(&param.name, bytes.unwrap_or(u64::MAX))),
        };
        args.push(match param.kind {
            ParamKind::Scalar(ty) => {
                let bytes = capsule.scalars.get(word..word + size(ty)).unwrap_or_default();
                word += size(ty).next_multiple_of(8);
                Arg::Scalar(bytes.to_vec())
            }
            ParamKind::View { rank, .. } => {
                let memory = next()?;
                let boxed = before(memory)?;
                let mut bytes = vec![0; view_bytes(memory) as usize];
                for (from, to, row) in rows(memory) {
                    if let (Some(from), Some(to)) =
                        (boxed.get(from..from + row), bytes.get_mut(to..to + row))
                    {
                        to.copy_from_slice(from);
                    }
                }
                let rank = usize::from(rank);
                Arg::View { extent: leading(memory.shape, rank, 1)[..rank].to_vec(), bytes }
            }
            ParamKind::Reduce { .. } => Arg::Reduce(before(next()?)?),
            ParamKind::Local { .. } => Arg::Local,
        });
    }
    Ok(args)
}

/// What the interpreter would have to make.
fn check_size(capsule: &Capsule, alone: bool) -> Result<(), ReplayError> {
    let kernel = &capsule.kernel;
    let size = |ty| kernel.types.layout(ty).0;
    let product = |of: [u64; 3]| of.iter().fold(1u64, |all, n| all.saturating_mul(*n));
    let group = capsule.group.filter(|_| kernel.shape.groups).map_or(1, product);
    let items = if alone { group } else { product(capsule.range) };
    if items > MOST_ITEMS {
        return Err(ReplayError::TooLarge(format!("{items} items")));
    }
    let variables = kernel.vars.iter().map(|var| size(var.ty).saturating_mul(group));
    let locals = kernel.params.iter().map(|param| match param.kind {
        ParamKind::Local { element, len } => size(element).saturating_mul(len.into()),
        _ => 0,
    });
    let views = capsule.memory.iter().map(view_bytes);
    let bytes = variables.chain(locals).chain(views).fold(0u64, u64::saturating_add);
    match bytes > MOST_BYTES {
        true => Err(ReplayError::TooLarge(format!("{bytes} bytes"))),
        false => Ok(()),
    }
}

/// The item's position as the kernel numbers dimensions.
fn position(launch: &Launch, rank: usize, item: &[u64]) -> Result<[u64; 3], ReplayError> {
    let at = std::array::from_fn(|dim| item.get(dim).copied().unwrap_or(0));
    let inside = |dim: usize| {
        let first = launch.offset[dim];
        (first..first + launch.range[dim]).contains(&at[dim])
    };
    match item.len() == rank && (0..rank).all(inside) {
        true => Ok(at),
        false => Err(ReplayError::Item { item: at }),
    }
}

fn compare(kernel: &Kernel, capsule: &Capsule, args: &[Arg]) -> Vec<Compared> {
    let memories = kernel.params.iter().zip(args).filter(|(param, _)| {
        matches!(param.kind, ParamKind::View { .. } | ParamKind::Reduce { .. })
    });
    let written = memories.zip(&capsule.memory).filter_map(|((param, arg), memory)| {
        let written = match param.kind {
            ParamKind::View { access, .. } => access != Access::In,
            _ => true,
        };
        let after = memory.after.as_ref().filter(|_| written)?;
        let (bytes, places): (_, Vec<_>) = match arg {
            Arg::View { bytes, .. } => (bytes, rows(memory).collect()),
            Arg::Reduce(bytes) => (bytes, vec![(0, 0, bytes.len())]),
            _ => return None,
        };
        Some(compare_memory(&param.name, memory, after, bytes, &places))
    });
    written.collect()
}

fn compare_memory(
    param: &str,
    memory: &Memory,
    after: &[u8],
    bytes: &[u8],
    places: &[(usize, usize, usize)],
) -> Compared {
    let (equal, left, different, first) = (0, 0, 0, None);
    let mut all = Compared { param: param.to_owned(), equal, left, different, first };
    let size = (memory.size as usize).max(1);
    for &(boxed, view, row) in places {
        for at in (0..row).step_by(size) {
            let old =
                memory.before.as_deref().and_then(|old| old.get(boxed + at..boxed + at + size));
            let device = after.get(boxed + at..boxed + at + size);
            let own = bytes.get(view + at..view + at + size);
            let (Some(device), Some(own)) = (device, own) else { continue };
            match (device == own, old == Some(device)) {
                (true, _) => all.equal += 1,
                (false, true) => all.left += 1,
                (false, false) => {
                    all.different += 1;
                    let element = ((boxed + at) / size) as u64;
                    let [_, b, c] = memory.extent;
                    let [x, y, z] = memory.index;
                    let index = [x + element / (b * c), y + element / c % b, z + element % c];
                    all.first.get_or_insert_with(|| (index, device.to_vec(), own.to_vec()));
                }
            }
        }
    }
    all
}

/// Runs the launch of a capsule again: all of its items, or one of them alone.
///
/// # Errors
/// The capsule lacks the memory, the launch has no such item, or is too large.
pub fn replay(capsule: &Capsule, item: Option<&[u64]>) -> Result<Replayed, ReplayError> {
    let kernel = &capsule.kernel;
    let rank = usize::from(kernel.shape.rank);
    let launch = Launch {
        range: leading(capsule.range, rank, 1),
        offset: leading(capsule.offset, rank, 0),
        group: leading(capsule.group.unwrap_or([1; 3]), rank, 1),
        ..Launch::default()
    };
    let item = item.map(|item| position(&launch, rank, item)).transpose()?;
    check_size(capsule, item.is_some())?;
    let mut args = arguments(capsule)?;
    let device = Device {
        width: u64::from(capsule.subgroup.max(1)),
        cpu_functions: capsule.device.starts_with("cpu:"),
    };
    let ran = match item {
        Some(item) => run_item(kernel, &launch, &mut args, item, device, BUDGET),
        None => run_like(kernel, &launch, &mut args, Order::Forward, device, BUDGET),
    };
    let Ran { failure, failures, failed, accesses, .. } = ran.map_err(|stop| {
        ReplayError::Stopped(match stop {
            Stop::Budget => format!("it has computed {BUDGET} statements"),
            Stop::Arguments(why) => why,
        })
    })?;
    let compared = if item.is_none() { compare(kernel, capsule, &args) } else { vec![] };
    let violation = failure.and_then(|failure| failure.violation(kernel));
    Ok(Replayed { failed, violation, failures: failures.len(), accesses, compared })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    /// Elements of no bytes are in no box that is checked, since no memory is there.
    #[test]
    fn a_capsule_of_elements_without_bytes_is_replayed() {
        let kernel = "kernel \"k\" items 1 tile 1\n\
            type t0 = struct \"E\" 0 1 ()\n\
            param p0 = \"x\" view t0 1 in item\n\
            param p1 = \"y\" view u32 1 out item\n\
            body { %0 u64 = query position 0 0 %1 u32 = cast %0 u32 store p1[%0] = %1 }";
        let memory = |write: bool| Memory {
            size: if write { 4 } else { 0 },
            write,
            extent: if write { [1, 1, 3] } else { [1 << 20; 3] },
            index: if write { [0; 3] } else { [u64::MAX; 3] },
            shape: [1, 1, 3],
            before: Some(vec![0; if write { 12 } else { 0 }]),
            after: write.then(|| [0u32, 1, 2].map(u32::to_le_bytes).concat()),
        };
        let capsule = Capsule {
            device: "sim:0".to_owned(),
            label: String::new(),
            failure: String::new(),
            subgroup: 1,
            offset: [0; 3],
            range: [1, 1, 3],
            group: None,
            kernel: folio_kernel::parse::parse(kernel).unwrap(),
            scalars: vec![],
            memory: vec![memory(false), memory(true)],
        };
        let read = Capsule::from_bytes(&capsule.to_bytes()).unwrap();
        let replayed = replay(&read, None).unwrap();
        assert_eq!((replayed.failures, replayed.compared[0].equal), (0, 3));
    }
}
