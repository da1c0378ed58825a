//! Kernels of which a launch runs as many items as a count says that lies in memory, read where the
//! launch runs. On a CPU, blocks are cut at the count.

use super::instance::code_by;
use super::view::{View, read};
use super::{Gaps, Kernel, Launched, Mode, ParamPtr, Positions, Shared};
use folio_kernel::Scalar;
use folio_kernel::code::Built;
use folio_kernel::source::Function;
use std::marker::PhantomData;

/// The type of a count of items: `u32` or `u64`.
///
/// # Safety
/// `SCALAR` is this type, and `items` the same number.
#[diagnostic::on_unimplemented(message = "items are counted by `u32` or `u64`, not by `{Self}`")]
pub unsafe trait Count: Shared {
    /// Its type in IR.
    const SCALAR: Scalar;
    /// So many, or more than any launch has.
    fn items(self) -> usize;
}

// SAFETY: the same scalar.
unsafe impl Count for u32 {
    const SCALAR: Scalar = Scalar::U32;
    fn items(self) -> usize {
        usize::try_from(self).unwrap_or(usize::MAX)
    }
}

// SAFETY: the same scalar.
unsafe impl Count for u64 {
    const SCALAR: Scalar = Scalar::U64;
    fn items(self) -> usize {
        usize::try_from(self).unwrap_or(usize::MAX)
    }
}

/// A kernel of items whose launch has one more argument, a count: items from it on do not run.
#[derive(Debug)]
pub struct Limited<K, C>(PhantomData<fn() -> (K, C)>);

// SAFETY: `K` keeps what it promises for the items that run, and `Code::limited` has the others do
// nothing. `K` finds its own arguments before the count.
unsafe impl<K: Kernel, C: Count> Kernel for Limited<K, C> {
    const FUNCTION: &'static Function = K::FUNCTION;
    const GUARDED: bool = K::GUARDED;
    const IN_DEVELOPMENT: bool = K::IN_DEVELOPMENT;

    fn code() -> &'static Built {
        code_by::<Self>(|| match K::code() {
            Ok(code) => code.limited(C::SCALAR),
            Err(error) => Err(error.clone()),
        })
    }

    unsafe fn part(memory: &[ParamPtr], block: &Positions) -> Positions {
        let Some((count, others)) = memory.split_last() else { return *block };
        let mut part = *block;
        // As devices do, a limit of `K`'s own is read by items alone that this one lets run.
        let end = read(View::<(), C, 1>::new(count, others.len(), block).element([0])).items();
        part.max[2] = part.max[2].min(end).max(part.min[2]);
        match part.min[2] < part.max[2] {
            // SAFETY: the caller's promise, of a part of the block, and of `K`'s own arguments.
            true => unsafe { K::part(others, &part) },
            false => part,
        }
    }

    unsafe fn unproved(
        scalars: &[u64],
        memory: &[ParamPtr],
        block: &Positions,
        launch: &Launched,
        gaps: &Gaps,
    ) -> usize {
        // SAFETY: the caller's promise.
        unsafe { K::unproved(scalars, memory, block, launch, gaps) }
    }

    unsafe fn undecided(
        scalars: &[u64],
        memory: &[ParamPtr],
        block: &Positions,
        launch: &Launched,
        gaps: &Gaps,
    ) -> usize {
        // SAFETY: the caller's promise.
        unsafe { K::undecided(scalars, memory, block, launch, gaps) }
    }

    unsafe fn interior(scalars: &[u64], memory: &[ParamPtr], block: &Positions, launch: &Launched) {
        // SAFETY: the caller's promise.
        unsafe { K::interior(scalars, memory, block, launch) }
    }

    unsafe fn items<M: Mode>(
        scalars: &[u64],
        memory: &[ParamPtr],
        block: &Positions,
        launch: &Launched,
    ) {
        // SAFETY: the caller's promise.
        unsafe { K::items::<M>(scalars, memory, block, launch) }
    }
}
