//! The parts of a kernel's Rust form: arithmetic as `docs/semantics.md` defines it, views of
//! memory, and the slots that learn types. Programs find it as `folio::ir::device`.
//!
//! The other form of a kernel is IR, of `folio_kernel`. From there this crate takes the words in
//! which a body asks for types ([`source`](folio_kernel::source)), and what was found out about a
//! kernel ([`Code`]). Nothing here makes IR or looks at it, and nothing there knows this crate.
//!
//! The macro's output names these; people do not, and neither what is hidden here nor what is in
//! its modules is an API. All the same, nothing here reaches memory from safe code that the macro
//! has not written:
//!
//! - Items, groups, and what points into memory live for one turn of what runs them, by their
//!   lifetimes. A function that a kernel finds in place of a `#[device_fn]` may get them, and
//!   cannot keep them.
//! - They are made by `unsafe` functions alone, and so are [`Proof`] and [`Block`], without which
//!   no kernel's body runs.
//! - A trait by whose answers a body runs, or its table is made, is an `unsafe` one.
//! - A called function runs by a [`Form`], which has the type of which the table tells; `unsafe`
//!   code alone makes one.
//!
//! There is one Rust form, a generic function over a [`Mode`]: run, or asked for its types.

mod arena;
pub mod asks;
pub mod atomic;
mod block;
mod cast;
mod cells;
mod change;
mod chunk;
mod combine;
mod ends;
mod fast;
mod functions;
mod gaps;
mod group;
mod group_strip;
mod half;
pub mod host;
mod instance;
pub mod interior;
mod launched;
mod limited;
mod local;
#[macro_use]
pub mod math;
mod operators;
pub mod ops;
mod outside;
mod owned;
mod param;
mod parts;
pub mod printed;
mod reduce;
mod rows;
mod scan;
mod scatter;
mod shared;
mod slot;
mod spot;
mod strip;
mod subgroup;
mod tally;
pub mod tile;
mod variants;
mod verdict;
mod versions;
mod view;

pub use block::{items_by_form, run};
pub use combine::{Add, And, Combine, Combining, Max, Min, Mul, Or, Xor};
pub use folio_kernel::code::{Built, Code, ParamPtr, Reach, built};
#[doc(hidden)]
pub use group::item_of;
pub use group::{Group, GroupItem, Private};
pub use instance::code_of;
pub use launched::{LEAF, Launched, MOST_GROUP_BYTES, MOST_REDUCED};
pub use limited::{Count, Limited};
pub use local::{Array, LocalParam};
pub use ops::{Arith, Float, Functions, Int, Number};
pub use param::{Positions, put_scalar, scalar, words};
#[doc(hidden)]
pub use parts::Combiner;
pub use reduce::{Folding, Give, Gives, ReduceParam, Takes};
pub use rows::Row;
pub use shared::Shared;
pub use tile::Tile;
pub use verdict::{Verdict, assert_failed, end_item, watch};
pub use versions::{Instructions, best};
pub use view::{Elements, View, ViewParam};

#[doc(hidden)]
pub use folio_kernel::code::Counted;

#[cfg(feature = "planted")]
#[doc(hidden)]
pub use gaps::planted;

// The parts with which bodies are written.
#[doc(hidden)]
pub use self::{
    cast::{Cast, CastFrom, cast},
    change::{Change, changed},
    ends::{Ends, InGroups},
    gaps::Gaps,
    group::Room,
    owned::{PutSlot, Slots},
    scatter::{scatter, scatter_last},
    shared::{NoDeref, asked},
    slot::{
        BodyResult, Called, Callee, Form, Inlined, Method, NeedsVariable, Slot, Slotted, constant,
        form, in_place, method, nothing, place, probe, record, stepped, zeroed,
    },
    spot::Spot,
    strip::{ArrayLanes, Block, Lane, LaneArray, Lanes, Strip, Strips},
    tally::Tallied,
    variants::Variants,
    view::{At, Put, PutField, at, at_proved, put, put_field, put_field_proved, put_proved},
};

/// Rust's library, by a name that a program cannot give to another one.
#[doc(hidden)]
pub use ::std as rust;

use std::marker::PhantomData;

/// How a kernel's Rust form is used.
///
/// # Safety
/// A body computes the same in every mode but [`PROBE`](Mode::PROBE). `PROVED` and `INTERIOR` say
/// what the [`Proof`] of this mode says.
pub unsafe trait Mode: Copy + 'static {
    /// Only asked for its types; no statement of the body is run.
    const PROBE: bool = false;
    /// Indices that [`Kernel::unproved`] has looked at are not checked again.
    const PROVED: bool = false;
    /// Guards that [`Kernel::undecided`] has looked at are taken to be as they are in the interior.
    const INTERIOR: bool = false;
}

/// The body is run, and each index checked.
#[derive(Clone, Copy, Debug)]
pub struct Checked;
// SAFETY: only `Proved` has it, which `Proof` guards.
unsafe impl Mode for Checked {}

/// The body is run for items of which nothing is unproved, and in the interior nothing undecided.
/// There is a mode for each set of instructions, so that all of a body, with the closures in it, is
/// compiled for that one alone.
#[derive(Clone, Copy, Debug)]
pub struct Proved<const SET: u8, const INTERIOR: bool>;
// SAFETY: only `Proved` has it, which `Proof` guards.
unsafe impl<const SET: u8, const INTERIOR: bool> Mode for Proved<SET, INTERIOR> {
    const PROVED: bool = true;
    const INTERIOR: bool = INTERIOR;
}

/// The body is asked for its types.
#[derive(Clone, Copy, Debug)]
pub struct Probe;
// SAFETY: only `Proved` has it, which `Proof` guards.
unsafe impl Mode for Probe {
    const PROBE: bool = true;
}

/// That a body may run in a mode. Bodies take one, so that nothing but a launch runs them.
#[derive(Clone, Copy, Debug)]
pub struct Proof<M>(PhantomData<M>);

impl<M: Mode> Proof<M> {
    /// In this mode.
    ///
    /// # Safety
    /// In the mode [`Proved`], nothing is unproved ([`Kernel::unproved`]) for the items or groups
    /// that the body is given, and in its interior nothing undecided ([`Kernel::undecided`]).
    #[inline(always)]
    pub unsafe fn new() -> Proof<M> {
        Proof(PhantomData)
    }
}

/// A parameter that is read, anywhere.
#[derive(Debug)]
pub struct In<T, const D: usize = 1>(PhantomData<T>);
/// A parameter of which each item writes its own element.
#[derive(Debug)]
pub struct Out<T, const D: usize = 1>(PhantomData<T>);
/// A parameter of which each item reads and writes its own element.
#[derive(Debug)]
pub struct InOut<T, const D: usize = 1>(PhantomData<T>);
/// A parameter of which each item writes its own row: of rank 2, in a launch of rank 1.
#[derive(Debug)]
pub struct OutRow<T>(PhantomData<T>);
/// A parameter of which each item reads and writes its own row: of rank 2, in a launch of rank 1.
#[derive(Debug)]
pub struct InOutRow<T>(PhantomData<T>);
/// A parameter of which each item writes its own column: of rank 2, in a launch of rank 1.
#[derive(Debug)]
pub struct OutColumn<T>(PhantomData<T>);
/// A parameter of which each item reads and writes its own column: of rank 2, in a launch of rank
/// 1.
#[derive(Debug)]
pub struct InOutColumn<T>(PhantomData<T>);
/// A parameter of which each item writes its own element, an array, slot by slot.
#[derive(Debug)]
pub struct OutChunk<T, const N: usize, const D: usize = 1>(PhantomData<T>);
/// A parameter of which each work-group writes the element at its index.
#[derive(Debug)]
pub struct OutGroup<T, const D: usize = 1>(PhantomData<T>);
/// A parameter of which each work-group reads and writes the element at its index.
#[derive(Debug)]
pub struct InOutGroup<T, const D: usize = 1>(PhantomData<T>);
/// A parameter of which each work-group writes the tile at its index: `R` rows and `C` columns, and
/// of three dimensions those of one matrix. What is outside of the argument is not written, and
/// what no group writes stays as it is.
#[derive(Debug)]
pub struct OutTile<T, const R: usize, const C: usize, const D: usize = 2>(PhantomData<T>);
/// The threads of a block that a kernel asks for: at least one in each dimension, which is known
/// when the kernel is compiled.
///
/// ```
/// const THREADS: [usize; 2] = folio_device::block([4, 32]);
/// ```
///
/// ```compile_fail,E0080
/// const THREADS: [usize; 2] = folio_device::block([4, 0]);
/// ```
#[doc(hidden)]
pub const fn block<const D: usize>(threads: [usize; D]) -> [usize; D] {
    let mut dim = 0;
    while dim < D {
        assert!(threads[dim] > 0, "a block has at least one thread in each dimension");
        dim += 1;
    }
    threads
}

/// A parameter that all items use, with atomic operations only.
#[derive(Debug)]
pub struct Atomic<T, const D: usize = 1>(PhantomData<T>);
/// A parameter that all items read and write anywhere. Who passes it promises, in unsafe code, that
/// no two items use one element while one of them writes it.
#[derive(Debug)]
pub struct Racy<T, const D: usize = 1>(PhantomData<T>);
/// A parameter of which an item owns every other cell of the last dimension, those of a colour, 0
/// or 1, and reads its own cell and those of the other colour.
#[derive(Debug)]
pub struct RedBlack<T, const COLOUR: usize, const D: usize = 2>(PhantomData<T>);
/// A parameter that all items write anywhere, each element by one item: two items that write one
/// element fail the command. In kernels of groups items write in phases.
#[derive(Debug)]
pub struct Scatter<T, const D: usize = 1>(PhantomData<T>);
/// A parameter that all items write anywhere. Of several items that write one element, it is the
/// last one, at the highest position, whose value stays; of several dimensions that is the last one
/// in row-major order. The kernel runs twice: it finds the last items, then they write.
#[derive(Debug)]
pub struct ScatterLast<T, const D: usize = 1>(PhantomData<T>);
/// A parameter of one element, which becomes what all items' values come to.
#[derive(Debug)]
pub struct Reduce<T, O>(PhantomData<(T, O)>);
/// An array of each work-group, zero when it begins. The array is no argument.
#[derive(Debug)]
pub struct Local<T, const N: usize>(PhantomData<T>);
/// An array of each work-group, zero when it begins, that its items use with atomic operations
/// only. The array is no argument.
#[derive(Debug)]
pub struct LocalAtomic<T, const N: usize>(PhantomData<T>);

/// The item that a kernel computes. An item lives as long as its turn, so nothing keeps it for
/// another: who has an item may write its elements. Parameters are written without its lifetime:
/// `i: Item`, `i: Item<2>`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Item<'i, const D: usize = 1> {
    at: [usize; D],
    _turn: PhantomData<&'i ()>,
}

impl<const D: usize> Item<'_, D> {
    /// At this position. Callers make each item once: see [`Positions::each`].
    #[inline(always)]
    fn new(at: [usize; D]) -> Self {
        Item { at, _turn: PhantomData }
    }
}

impl Item<'_, 1> {
    /// Its position.
    #[inline(always)]
    pub fn index(self) -> usize {
        self.at[0]
    }
}

impl Item<'_, 2> {
    /// Its position.
    #[inline(always)]
    pub fn pos(self) -> (usize, usize) {
        (self.at[0], self.at[1])
    }
}

impl Item<'_, 3> {
    /// Its position.
    #[inline(always)]
    pub fn pos(self) -> (usize, usize, usize) {
        (self.at[0], self.at[1], self.at[2])
    }
}

/// A kernel as a type: its IR, and its Rust form.
///
/// # Safety
/// `items` does what the IR says, and touches no memory but what its views allow; `unproved` counts
/// each index that it may leave unchecked, and `undecided` each guard that it takes to be as in the
/// interior.
pub unsafe trait Kernel: Sized + 'static {
    /// The macro's description of it.
    const FUNCTION: &'static folio_kernel::source::Function;
    /// The body has guards, so that [`interior`](Kernel::interior) is a form of its own.
    const GUARDED: bool = false;
    /// The kernel's crate is compiled with debug assertions, for those who change it: its loop is
    /// compiled for AVX2 alone, and runs checked elsewhere.
    const IN_DEVELOPMENT: bool;

    /// The code that was made of it, at the first call.
    fn code() -> &'static Built;

    /// The items of a block that run: all of them, but where a count in memory says how many. That
    /// is read once for a block; its other items are in none of what follows.
    ///
    /// # Safety
    /// That of [`run`].
    #[inline(always)]
    unsafe fn part(_memory: &[ParamPtr], block: &Positions) -> Positions {
        *block
    }

    /// How many of the indices that the body does not check in the mode [`Proved`] may be outside
    /// of what is accessed, for some item of the block. `gaps` is told by how much.
    ///
    /// # Safety
    /// That of [`run`].
    unsafe fn unproved(
        scalars: &[u64],
        memory: &[ParamPtr],
        block: &Positions,
        launch: &Launched,
        gaps: &Gaps,
    ) -> usize;

    /// How many guards are not for each item of the block what they are in the interior:
    /// comparisons of positions with what is the same for all items, what is made of them by `&&`,
    /// `||` and `!`, and limits that positions are held to. `gaps` is told by how much.
    ///
    /// # Safety
    /// That of [`run`].
    unsafe fn undecided(
        _scalars: &[u64],
        _memory: &[ParamPtr],
        _block: &Positions,
        _launch: &Launched,
        _gaps: &Gaps,
    ) -> usize {
        0
    }

    /// Computes the items of a block of which nothing is unproved or undecided, with the best
    /// instructions.
    ///
    /// # Safety
    /// That of [`run`]; nothing is unproved or undecided for this block.
    unsafe fn interior(scalars: &[u64], memory: &[ParamPtr], block: &Positions, launch: &Launched) {
        // SAFETY: the caller's promise. Without guards, nothing more is known than that.
        unsafe { best::<Self, false>(scalars, memory, block, launch) }
    }

    /// Computes the items or groups of a block, in a loop that is inlined into a version for each
    /// instruction set.
    ///
    /// # Safety
    /// That of [`run`]; in the mode [`Proved`], nothing is unproved for this block, and in its
    /// interior undecided.
    unsafe fn items<M: Mode>(
        scalars: &[u64],
        memory: &[ParamPtr],
        block: &Positions,
        launch: &Launched,
    );
}
