//! Memory that a kernel writes as a whole.

use super::{AsPartMut, Part, SealedMut};
use crate::element::DeviceType;

/// Memory of which a launch writes every element. Fresh memory is not zeroed before such a launch,
/// and contents elsewhere are not brought.
#[derive(Debug)]
pub struct Overwritten<A>(A);

impl<A> Overwritten<A> {
    /// Takes what can be passed for a parameter that is written: `&mut` a buffer or slice, or a
    /// shared one.
    ///
    /// # Safety
    /// Each launch that it is passed to and that does not fail writes every element, and reads none
    /// before.
    pub unsafe fn new(memory: A) -> Overwritten<A> {
        Overwritten(memory)
    }
}

#[diagnostic::do_not_recommend]
impl<T, const D: usize, A: SealedMut<T, D>> SealedMut<T, D> for Overwritten<A> {}

#[diagnostic::do_not_recommend]
impl<T: DeviceType, const D: usize, A: AsPartMut<T, D>> AsPartMut<T, D> for Overwritten<A> {
    fn as_part_mut(&mut self) -> Part {
        Part { overwritten: true, ..self.0.as_part_mut() }
    }
}
