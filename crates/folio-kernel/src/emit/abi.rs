//! How an entry is called: which arguments it has, and what is in the words of its argument block.
//!
//! An entry has these arguments, in this order:
//!
//! 1. the *block*, if it has words: one struct of `u64` by value, or, where that would be more than
//!    the device takes, a pointer to the same words in device memory ([`Layout::by_value`]);
//! 2. for each parameter of the kernel that is memory (views and reductions), in their order, a
//!    pointer to the start of its allocation;
//! 3. a pointer to a [`Record`], if anything can fail ([`Layout::verdict`]);
//! 4. in OpenCL C, local memory of [`Layout::scratch`] bytes for each thread of a block, if that is
//!    not 0; in CUDA, the same as the launch's dynamic shared memory.
//!
//! Only words that the text reads are in the block, so it is short: that of
//! `y[i] = a * x[i] + y[i]` has eight. A launcher fills it with [`Layout::fill`], once for each
//! grid.
//!
//! Shapes have three dimensions, the slowest first, and begin with ones where a kernel or view has
//! fewer, as everywhere in launches. The fastest dimension is the device's axis 0 (`x`).

use super::lacks::Capabilities;
use crate::code::ParamPtr;
use crate::ir::{Kernel, ParamId, ParamKind, Site, SiteId};
use crate::violation::{Violation, ViolationKind};

/// Values, or items of [`Threads::Linear`], of which a block makes one.
pub const COMBINED: u64 = 4096;
/// Threads of such a block, where the device has so many.
pub const LANES: u32 = 256;

/// A word of the argument block. A `u8` is a dimension of three; a `u32` counts the parameters that
/// are memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Word {
    /// In item kernels, the position of the grid's first thread; in group kernels, the index of its
    /// first group; for [`Threads::Linear`], in dimension 2, that of its first block.
    First(u8),
    /// Items of the launch.
    Range(u8),
    /// The launch's offset.
    Offset(u8),
    /// Groups of the launch.
    Groups(u8),
    /// Elements from the start of the allocation to the accessed box.
    Start(u32),
    /// The index of the accessed box's first element.
    Low(u32, u8),
    /// The extent of the accessed box.
    Size(u32, u8),
    /// The extent that the kernel sees.
    Shape(u32, u8),
    /// Elements from one index to the next.
    Pitch(u32, u8),
    /// The word of the scalars with this number.
    Scalar(u32),
}

/// The part of a launch that one grid of threads computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grid {
    /// See [`Word::First`].
    pub first: [u64; 3],
    /// Items of the launch.
    pub range: [u64; 3],
    /// Position of the launch's first item.
    pub offset: [u64; 3],
    /// Groups of the launch, for group kernels.
    pub groups: [u64; 3],
}

/// The items of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Threads {
    /// A thread for each `tile` items along the last dimension, in blocks of any shape. A grid may
    /// have more than there are items; but with `tile` > 1 the last dimension of the grid is a
    /// multiple of `tile` times the block's threads, all of them items: the rest is a grid of the
    /// entry for one.
    Items {
        /// Items of a thread.
        tile: u8,
    },
    /// Any number along the last dimension, in blocks of one: they share the items of a row evenly,
    /// and compute them one by one or several at a time. In the others one for each row. A grid is
    /// all of a launch. The form of item kernels on CPUs.
    Rows,
    /// A thread for each item, in blocks that are the groups.
    Groups,
    /// Any number in blocks along axis 0, of which block `k` computes 4096 items in row-major
    /// order, those from `4096 * k` on: the form of item kernels with launch-wide reductions.
    Linear,
}

/// How an entry is called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The words of the block.
    pub words: Vec<Word>,
    /// The block is passed by value.
    pub by_value: bool,
    /// The parameters that are memory, one pointer each.
    pub pointers: Vec<ParamId>,
    /// There is a pointer to a [`Record`].
    pub verdict: bool,
    /// Bytes of local memory for each thread of a block, for what groups combine.
    pub scratch: u32,
    /// The items of a thread.
    pub threads: Threads,
    /// More threads than this a block must not have.
    pub most_threads: u32,
    /// Bytes of a thread's variables, at most.
    pub private: u64,
    /// Bytes of a group's local arrays.
    pub local: u64,
}

impl Layout {
    /// Appends the block's words. `params` are those that are memory, with bases of no matter;
    /// `scalars` the bytes of the others, each from a multiple of 8 on, as launches have them.
    pub fn fill(
        &self,
        grid: &Grid,
        params: &[ParamPtr],
        scalars: &[u8],
        block: &mut impl Extend<u64>,
    ) {
        let param = |at: &u32| params.get(*at as usize);
        let dim = |of: &[usize; 3], dim: &u8| of[usize::from(*dim)] as u64;
        let pitch = |p: &ParamPtr, dim: usize| match dim {
            0 => p.dims[1].wrapping_mul(p.dims[2]),
            1 => p.dims[2],
            _ => 1,
        };
        block.extend(self.words.iter().map(|word| match word {
            Word::First(d) => grid.first[usize::from(*d)],
            Word::Range(d) => grid.range[usize::from(*d)],
            Word::Offset(d) => grid.offset[usize::from(*d)],
            Word::Groups(d) => grid.groups[usize::from(*d)],
            Word::Start(m) => param(m).map_or(0, ParamPtr::start),
            Word::Low(m, d) => param(m).map_or(0, |p| dim(&p.index, d)),
            Word::Size(m, d) => param(m).map_or(0, |p| {
                // A box without elements may have extents whose product overflows.
                if p.extent.contains(&0) { 0 } else { dim(&p.extent, d) }
            }),
            Word::Shape(m, d) => param(m).map_or(0, |p| dim(&p.shape, d)),
            Word::Pitch(m, d) => param(m).map_or(0, |p| pitch(p, usize::from(*d)) as u64),
            Word::Scalar(at) => {
                let from = 8 * *at as usize;
                let mut bytes = [0; 8];
                let rest = scalars.get(from..).unwrap_or_default();
                let len = rest.len().min(8);
                bytes[..len].copy_from_slice(&rest[..len]);
                u64::from_le_bytes(bytes)
            }
        }));
    }

    pub(super) fn fits(words: usize, pointers: usize, caps: &Capabilities) -> bool {
        let bytes = 8 * (words + pointers + 2);
        bytes <= caps.argument_bytes as usize
    }
}

/// Whether a launch's positions, the extents of its parameters, and the distances of elements from
/// the first one that is accessed have 31 bits, as a text that is [narrow](super::Form::narrow)
/// takes them to have. The last blocks have threads beyond the launch, whose positions must fit.
pub fn is_narrow(
    range: [usize; 3],
    offset: [usize; 3],
    params: impl IntoIterator<Item = ParamPtr>,
) -> bool {
    const REST: usize = 1 << 20;
    let small = |n: usize| n < 1 << 31;
    let product = |of: [usize; 3]| of.iter().try_fold(1usize, |all, n| all.checked_mul(*n));
    let positions = (0..3).all(|d| small(range[d].saturating_add(offset[d]).saturating_add(REST)));
    let param = |p: ParamPtr| {
        let [slices, rows, columns] = p.extent.map(|n| n.saturating_sub(1));
        let row = slices.checked_mul(p.dims[1]).and_then(|n| n.checked_add(rows));
        let reach = row.and_then(|row| row.checked_mul(p.dims[2])?.checked_add(columns));
        (0..3).all(|d| small(p.shape[d]) && small(p.index[d])) && reach.is_some_and(small)
    };
    positions && product(range).is_some_and(small) && params.into_iter().all(param)
}

/// By parameter: its number among those that are memory, or its first word among the scalars.
pub(super) fn numbers(kernel: &Kernel) -> Vec<u32> {
    let (mut memory, mut words) = (0, 0);
    let mut number = |kind: &ParamKind| match kind {
        ParamKind::Scalar(ty) => {
            let at = words;
            words += kernel.types.layout(*ty).0.div_ceil(8) as u32;
            at
        }
        ParamKind::View { .. } | ParamKind::Reduce { .. } => {
            memory += 1;
            memory - 1
        }
        ParamKind::Local { .. } => 0,
    };
    kernel.params.iter().map(|param| number(&param.kind)).collect()
}

/// A point of the text at which a command can fail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Point {
    pub what: Fails,
    pub site: Option<SiteId>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Fails {
    /// An index of so many dimensions into a parameter, or into an array in one or in a variable.
    Bounds(Option<ParamId>, u8),
    DivisionByZero,
    Assertion,
    /// Two items write an element, of so many dimensions, of a parameter.
    Collision(ParamId, u8),
    /// A loop that the driver ended, after so many turns.
    #[cfg(feature = "spirv")]
    Turns(u32),
}

/// The record that a launch leaves in device memory: all zero if nothing failed, and else the first
/// failure. The record is zeroed before the launch. Its first 32 bits are the number of the point
/// of failure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(transparent)]
pub struct Record(pub [u64; Record::WORDS]);

impl Record {
    /// Its length in words of 64 bits: the point, three indices, three extents.
    pub const WORDS: usize = 7;

    /// Nothing has failed.
    pub fn is_clear(&self) -> bool {
        self.0[0] as u32 == 0
    }
}

/// The points of failure of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Points {
    pub(super) kernel: String,
    pub(super) all: Vec<(ViolationKind, usize, Site)>,
}

impl Points {
    pub(super) fn of(kernel: &Kernel, points: &[Point]) -> Points {
        let name = |param: &ParamId| kernel.params.get(param.index()).map(|p| p.name.clone());
        let nowhere = || Site { file: String::new(), line: 0, column: 0, message: None };
        let all = points.iter().map(|point| {
            let site = point.site.and_then(|site| kernel.sites.get(site.index()).cloned());
            let (kind, rank) = match &point.what {
                Fails::Bounds(param, rank) => {
                    let param = param.as_ref().and_then(name);
                    let (index, extent) = (vec![], vec![]);
                    (ViolationKind::OutOfBounds { param, index, extent }, *rank)
                }
                Fails::DivisionByZero => (ViolationKind::DivisionByZero, 0),
                Fails::Assertion => (ViolationKind::Assertion, 0),
                Fails::Collision(param, rank) => {
                    let param = name(param).unwrap_or_default();
                    (ViolationKind::written_twice(param, vec![], [0; 2]), *rank)
                }
                #[cfg(feature = "spirv")]
                Fails::Turns(most) => (ViolationKind::LoopEnded { most: *most }, 0),
            };
            (kind, usize::from(rank), site.unwrap_or_else(nowhere))
        });
        Points { kernel: kernel.name.clone(), all: all.collect() }
    }

    /// The violation that a launch's record tells; none if nothing failed, or if no launch of this
    /// text can have left such a record.
    pub fn violation(&self, record: &Record) -> Option<Violation> {
        let at = (record.0[0] as u32).checked_sub(1)?;
        let (kind, rank, site) = self.all.get(at as usize)?;
        let mut kind = kind.clone();
        let (first, second) = (record.0[1..4].iter().take(*rank), record.0[4..7].iter());
        match &mut kind {
            ViolationKind::OutOfBounds { index, extent, .. } => {
                index.extend(first.map(|i| *i as i64));
                extent.extend(second.take(*rank).map(|n| *n as usize));
            }
            ViolationKind::WrittenTwice { param, .. } => {
                let items = [record.0[4], record.0[5]].map(|item| item as usize);
                let at = first.map(|i| *i as usize).collect();
                kind = ViolationKind::written_twice(std::mem::take(param), at, items);
            }
            _ => {}
        }
        Some(Violation { kernel: self.kernel.clone(), kind, site: site.clone() })
    }
}
