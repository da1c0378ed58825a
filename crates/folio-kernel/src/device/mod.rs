//! What the Rust form of a kernel is made of: arithmetic as `docs/semantics.md` defines it, views
//! of memory, and the slots that learn types.
//!
//! The macro's output names these; people do not. There is one Rust form, a generic function over
//! a [`Mode`]: run, or asked for its types.

pub mod ops;
mod shared;
mod slot;
mod verdict;
mod view;

pub use ops::{Arith, Float, Int, Number};
pub use shared::Shared;
pub use slot::{Callee, Given, Inlined, Slot, Slotted, constant, nothing, probe, record};
pub use verdict::{Verdict, Violation, assert_failed, watch};
pub use view::{At, Elements, Memory, Put, View, ViewParam, at, at_mut, put};

/// How a kernel's Rust form is used.
pub trait Mode: Copy + 'static {
    /// Only asked for its types; no statement of the body is run.
    const PROBE: bool;
}

/// The body is run.
#[derive(Clone, Copy, Debug)]
pub struct Run;
impl Mode for Run {
    const PROBE: bool = false;
}

/// The body is asked for its types.
#[derive(Clone, Copy, Debug)]
pub struct Probe;
impl Mode for Probe {
    const PROBE: bool = true;
}

/// A parameter that is read, anywhere.
#[derive(Debug)]
pub struct In<T, const D: usize = 1>(std::marker::PhantomData<T>);
/// A parameter of which each item writes its own element.
#[derive(Debug)]
pub struct Out<T, const D: usize = 1>(std::marker::PhantomData<T>);
/// A parameter of which each item reads and writes its own element.
#[derive(Debug)]
pub struct InOut<T, const D: usize = 1>(std::marker::PhantomData<T>);

/// The item that a kernel computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Item<const D: usize = 1> {
    at: [usize; D],
}

impl<const D: usize> Item<D> {
    /// The item at a position.
    ///
    /// # Safety
    /// Only what runs a launch makes items, and each once: who has one may write its elements.
    #[inline(always)]
    pub unsafe fn new(at: [usize; D]) -> Item<D> {
        Item { at }
    }
}

impl Item<1> {
    /// Its position.
    #[inline(always)]
    pub fn index(self) -> usize {
        self.at[0]
    }
}

impl Item<2> {
    /// Its position.
    #[inline(always)]
    pub fn pos(self) -> (usize, usize) {
        (self.at[0], self.at[1])
    }
}

impl Item<3> {
    /// Its position.
    #[inline(always)]
    pub fn pos(self) -> (usize, usize, usize) {
        (self.at[0], self.at[1], self.at[2])
    }
}

/// A kernel as a type: its IR, and its Rust form.
///
/// # Safety
/// `run` does what the IR says, and touches no memory but what its views allow.
pub unsafe trait Kernel: 'static {
    /// What the macro says of it.
    const FUNCTION: &'static crate::source::Function;

    /// Computes the item at `at` (dimension 0 first; only the kernel's dimensions count).
    ///
    /// # Safety
    /// `memory` has an entry for each parameter but the item: of views live memory of their shape,
    /// which nobody else uses against the access's mode, and of scalars one value. Each position is
    /// computed once in a launch, and lies within each view that is written.
    unsafe fn run(memory: &[Memory], at: [usize; 3]);
}
