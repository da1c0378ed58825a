//! Algorithms on any device that Folio has: reduce, scan, compact, count, sort, merge, move, random
//! numbers.
//!
//! Programs use them as `folio::algorithms`, with the feature `algorithms` of `folio`:
//!
//! ```
//! use folio::algorithms::{self, Direction};
//! use folio::prelude::*;
//!
//! fn main() -> folio::Result<()> {
//!     let rt = folio::runtime()?;
//!     let q = rt.queue()?;
//!     let mut x = rt.buffer_from(&[3.0f32, -1.0, 2.0, -5.0])?;
//!     algorithms::sort(&q, Direction::Ascending, &mut x)?;
//!     let sum = algorithms::reduce(&q, Add, &x)?;
//!     assert_eq!(x.to_vec()?, [-5.0, -1.0, 2.0, 3.0]);
//!     assert_eq!(sum.to_vec()?, [-1.0]);
//!     Ok(())
//! }
//! ```
//!
//! | to | use |
//! | --- | --- |
//! | make all elements one | [`reduce`], [`dot`], [`arg_min`], [`arg_max`] |
//! | make one of all elements before each | [`exclusive_scan`], [`inclusive_scan`] |
//! | the same with functions of elements around it | [`mapped_exclusive_scan`], [`mapped_inclusive_scan`], [`Map`] |
//! | the same of each run of equal keys | [`exclusive_scan_by_key`], [`inclusive_scan_by_key`] |
//! | make the elements of each segment one | [`segmented_reduce`] |
//! | keep some, or divide them in two | [`compact`], [`compact_into`], [`unique`], [`partition`] |
//! | count how often there is what | [`bincount`], [`bincount_into`], [`histogram`], [`histogram_into`] |
//! | order them | [`sort`], [`sort_by_key`], [`sort_segments`], [`merge`] |
//! | give their order as indices | [`sort_order`], [`sort_order_into`] |
//! | move them by index | [`gather`], [`scatter`] |
//! | exchange rows and columns, or axes | [`transpose`], [`permute`] |
//! | draw random numbers | [`fill_uniform`], [`fill_normal`], and [`random`] in kernels |
//!
//! All of them have this in common:
//!
//! - **Arguments** are what kernels take: buffers, shared ones, USM, parts of these. Their lengths
//!   may be any, also 0; lengths that do not fit each other are
//!   [`Error::Mismatch`](folio::Error::Mismatch). What is written overlaps nothing that is read, as
//!   parts of a shared buffer may: that is [`Error::Aliasing`](folio::Error::Aliasing). Results
//!   that are `u32` take fewer than 2^32 elements: those of [`sort_order`], [`bincount`],
//!   [`histogram`]; more are [`Error::TooLarge`](folio::Error::TooLarge). The same functions with
//!   `_into` write `u64`, too, and then take any number.
//! - **Dimensions**: reductions, histograms and random numbers take any, and go row after row.
//!   [`transpose`] takes two, [`permute`] up to three. All else takes one: `x.flat()` and
//!   `x.flat_mut()` give the elements of a buffer of any shape in one dimension, without a copy. A
//!   part with gaps between its rows is [`Error::NotContiguous`](folio::Error::NotContiguous).
//! - **Nothing waits.** A function submits commands to the queue and returns; a result is a buffer,
//!   of which the host or further commands take what is there when it is there. If a command fails,
//!   so do those that use what it wrote.
//! - **The same bits everywhere.** The order in which floats are combined is fixed by their number
//!   alone. Only [`fill_normal`] calls functions that devices compute within limits.
//! - **Several devices** share reductions, scans (not those by key), random numbers, [`gather`],
//!   [`transpose`] and [`permute`], on a queue with a [split](folio::Queue::split). Others are
//!   [`Error::NotSpread`](folio::Error::NotSpread) there, and take
//!   [`q.on(&device)`](folio::Queue::on).
//! - **They can be recorded.** Each run of a graph begins anew. A recording that begins or ends
//!   within a call is an error: see [`Queue::undivided`](folio::Queue::undivided).
//! - **They are written in kernels**, on the public interface, as a program would write them.
//!   Memory that they need in between are buffers, which are given back when the last command that
//!   uses them has ended.

// The macros' output names everything by way of `folio`. Of that crate, which has this one in it,
// all that kernels need is in `folio-core`.
extern crate folio_core as folio;

#[cfg(test)]
mod checks;
mod compact;
mod compact_in_turn;
mod counts;
mod digits;
mod histogram;
mod keyed;
mod keyed_in_turn;
mod keys;
mod map;
mod merge;
mod passes;
mod philox;
mod reduce;
mod scan;
mod scan_in_turn;
mod scatter;
mod segmented;
mod sort;
mod tiles;
mod transpose;

pub use compact::{compact, compact_into, partition, unique};
pub use counts::Count;
pub use histogram::{bincount, bincount_into, histogram, histogram_into};
pub use keyed::{exclusive_scan_by_key, inclusive_scan_by_key};
pub use keys::{Bits, Format, Key};
pub use map::{Map, Same};
pub use merge::merge;
pub use philox::{
    Normal, Uniform, fill_normal, fill_uniform, normal_f32, normal_f64, philox4x32, random,
    uniform_f32, uniform_f64,
};
pub use reduce::{arg_max, arg_min, dot, reduce};
pub use scan::{exclusive_scan, inclusive_scan, mapped_exclusive_scan, mapped_inclusive_scan};
pub use scatter::{gather, scatter};
pub use segmented::segmented_reduce;
pub use sort::{Direction, sort, sort_by_key, sort_order, sort_order_into, sort_segments};
pub use transpose::{permute, transpose};

/// Memory whose contents other code relies on: no tracker of the program's can lie about it.
fn private<T: folio::DeviceType>(rt: &folio::Runtime, n: usize) -> folio::Result<folio::Buffer<T>> {
    rt.buffer_with(n, folio::BufferOptions::new().own_tracker())
}

/// Memory of a [`Racy`](folio::Racy) parameter, of which the launch writes every element.
///
/// # Safety
/// As of [`RacyMemory::new`](folio::RacyMemory::new) and
/// [`Overwritten::new`](folio::buffer::Overwritten::new).
unsafe fn racy_whole<A>(memory: A) -> folio::RacyMemory<folio::buffer::Overwritten<A>> {
    // SAFETY: that is the caller's promise.
    unsafe { folio::RacyMemory::new(folio::buffer::Overwritten::new(memory)) }
}

/// The queue, for commands that rely on each other, of an algorithm whose kernels write wherever
/// they like: several devices do not share it.
fn alone(q: &folio::Queue, algorithm: &'static str) -> folio::Result<folio::Queue> {
    let why = "this algorithm runs on one device so far; give it `q.on(&device)`";
    match q.split() {
        None => Ok(q.undivided()),
        Some(_) => Err(folio::Error::NotSpread {
            kernel: algorithm.into(),
            parameter: folio::error::Label::NONE,
            why: why.into(),
        }),
    }
}

/// Refuses what is written and overlaps what is read. A command by itself refuses that; of several
/// commands the first ones may have written some by then.
fn apart<T: folio::DeviceType, U: folio::DeviceType>(
    command: &'static str,
    read: &folio::Slice<'_, T>,
    written: &folio::Slice<'_, U>,
) -> folio::Result<()> {
    if !read.overlaps(written) {
        return Ok(());
    }
    let (command, buffer, parameters) = (command.into(), "".into(), ["".into(), "".into()]);
    Err(folio::Error::Aliasing { command, buffer, accesses: [0, 1], parameters })
}

/// Refuses what is not of one length.
fn of_one_length(command: &'static str, source: usize, target: usize) -> folio::Result<()> {
    of_one_shape(command, [source], [target])
}

/// Refuses what is not of one shape.
fn of_one_shape<const D: usize>(
    command: &'static str,
    source: [usize; D],
    target: [usize; D],
) -> folio::Result<()> {
    if source == target {
        return Ok(());
    }
    Err(folio::Error::Mismatch {
        what: "command",
        label: command.into(),
        source_extent: source.to_vec(),
        target: target.to_vec(),
        needed: None,
    })
}

/// What [`map!`] writes.
#[doc(hidden)]
pub mod hidden {
    pub use folio::ir::device::{Called, Form, Method, Mode};
}

/// Whether items take elements in turn: on CPUs whose groups are loops. A CPU with sub-groups is a
/// GPU's driver in software, whose compiler takes minutes for large arrays of an item.
fn takes_in_turn(q: &folio::Queue) -> bool {
    let device = q.device();
    device.info().kind == folio::hal::DeviceKind::Cpu && device.limits().subgroup == 1
}

/// The names with which the kernels here are written.
mod prelude {
    pub(crate) use folio::combine::*;
    pub(crate) use folio::ir::device::{Combine, Number, Shared as Value};
    pub(crate) use folio::{
        Atomic, Buffer, DeviceType, Group, In, InOut, Item, Items, Local, LocalAtomic, Out,
        OutGroup, Queue, Racy, Reduce, Result, Slice, SliceMut,
        buffer::{AsPart, AsPartMut},
    };
    pub(crate) use folio_macros::{device_fn, kernel};
}

/// The programs of the guide, compiled and run as tests.
#[cfg(doctest)]
mod documents {
    #[doc = include_str!("../../../docs/guide/algorithms.md")]
    mod algorithms {}
    #[doc = include_str!("../../../docs/guide/cookbook/compaction.md")]
    mod compaction {}
    #[doc = include_str!("../../../docs/guide/cookbook/histograms.md")]
    mod histograms {}
    #[doc = include_str!("../../../docs/guide/cookbook/merges.md")]
    mod merges {}
    #[doc = include_str!("../../../docs/guide/cookbook/moves.md")]
    mod moves {}
    #[doc = include_str!("../../../docs/guide/cookbook/reductions.md")]
    mod reductions {}
    #[doc = include_str!("../../../docs/guide/cookbook/scans.md")]
    mod scans {}
    #[doc = include_str!("../../../docs/guide/cookbook/segments.md")]
    mod segments {}
    #[doc = include_str!("../../../docs/guide/cookbook/sorts.md")]
    mod sorts {}
}
