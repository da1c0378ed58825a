//! Marks: what a program says of memory that passes data between kernels, for their fusion.

use crate::buffer::{AsPart, AsPartMut, Buffer, Part, Sealed, SealedMut};
use crate::element::DeviceType;
use crate::usm::Usm;
use folio_kernel::fuse::{AccessScope, Wishes};

/// What a program says of a buffer, of a [`Usm`], or of one argument of a kernel call.
/// [Fusion](crate::Graph::finalize_with) reads it; nothing else does.
///
/// Few programs need marks. That a kernel accesses only elements of its own items is found without
/// them, and a buffer that only the graph holds is a temporary without them. An argument has its
/// memory's marks and its own. A scope that contradicts the memory's is
/// [`GraphError::WrongMark`](crate::error::GraphError::WrongMark) if fusion is required. If it is
/// enabled, the call stays alone.
///
/// ```
/// # use folio_core::{buffer::Marks, graph::AccessScope, Result, Runtime};
/// fn of_items(rt: &Runtime) -> Result<()> {
///     let mut x = rt.buffer::<f32, 1>(1000)?;
///     x.mark(Marks::new().access_scope(AccessScope::Item).internal_memory().no_init());
///     Ok(())
/// }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[must_use = "marks do nothing until they are on memory: `x.mark(..)`, `marks.on(&x)`"]
pub struct Marks(pub(crate) Wishes);

impl Marks {
    /// Says nothing.
    pub fn new() -> Marks {
        Marks::default()
    }

    /// No element is accessed by more than one work-item, or work-group. Fusion checks it: where it
    /// is wrong, that is an error under `require_fusion`, and in the report under `enable_fusion`.
    pub fn access_scope(self, scope: AccessScope) -> Marks {
        Marks(Wishes { scope: Some(scope), ..self.0 })
    }

    /// The program does not use what a run of the graph leaves there. If the run writes it, fused
    /// or not, it counts as never written from then on: a read finds zeros.
    ///
    /// On an argument it counts only if all of the graph's arguments of that memory have it, and
    /// each is all of the memory. It says nothing of memory that the program has lent.
    pub fn internal_memory(self) -> Marks {
        Marks(Wishes { internal: true, ..self.0 })
    }

    /// The kernels do not use what was there before.
    pub fn no_init(self) -> Marks {
        Marks(Wishes { no_init: true, ..self.0 })
    }

    /// Kernels share a launch by the [scope](Self::access_scope) where its analysis neither shows
    /// nor refutes it.
    ///
    /// # Safety
    /// The scope is right in every run.
    pub unsafe fn trusted(self) -> Marks {
        Marks(Wishes { trusted: true, ..self.0 })
    }

    /// An argument of a kernel call with these marks: `scales(2, &x, marks.on(&mut y))`.
    pub fn on<A>(self, argument: A) -> MarkedArgument<A> {
        MarkedArgument { argument, marks: self }
    }

    pub(crate) fn is_none(self) -> bool {
        self == Marks::default()
    }
}

/// A kernel's argument with [`Marks`].
#[derive(Debug)]
pub struct MarkedArgument<A> {
    argument: A,
    marks: Marks,
}

impl<T, const D: usize, A: Sealed<T, D>> Sealed<T, D> for MarkedArgument<A> {}
#[diagnostic::do_not_recommend]
impl<T, const D: usize, A: SealedMut<T, D>> SealedMut<T, D> for MarkedArgument<A> {}

#[diagnostic::do_not_recommend]
impl<T: DeviceType, const D: usize, A: AsPart<T, D>> AsPart<T, D> for MarkedArgument<A> {
    fn as_part(&self) -> Part {
        Part { marks: self.marks, ..self.argument.as_part() }
    }
}

#[diagnostic::do_not_recommend]
impl<T: DeviceType, const D: usize, A: AsPartMut<T, D>> AsPartMut<T, D> for MarkedArgument<A> {
    fn as_part_mut(&mut self) -> Part {
        Part { marks: self.marks, ..self.argument.as_part_mut() }
    }
}

impl<T: DeviceType, const D: usize> Buffer<T, D> {
    /// Marks the buffer, for all kernels that use it; in place of its marks so far.
    pub fn mark(&mut self, marks: Marks) {
        *self.view.storage.marks.lock() = marks;
    }
}

impl<T: DeviceType> Usm<T> {
    /// Marks the allocation, for all kernels that use it; in place of its marks so far.
    pub fn mark(&mut self, marks: Marks) {
        *self.view.storage.marks.lock() = marks;
    }
}
