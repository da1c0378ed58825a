//! The integers that results count and number elements with.

use crate::prelude::*;
use folio::ir::device::{CastFrom, Int};

/// An integer that counts elements, or numbers them: `u32` of fewer than 2^32 elements, `u64` of
/// any number.
pub trait Count: Number + Int + DeviceType + CastFrom<u32> + CastFrom<usize> {
    /// Elements at most.
    #[doc(hidden)]
    const MOST: u64;
}

impl Count for u32 {
    const MOST: u64 = u32::MAX as u64;
}

impl Count for u64 {
    const MOST: u64 = u64::MAX;
}

/// Refuses elements of a type `T` that are too many for `C`.
pub(crate) fn fits<C: Count, T>(what: &'static str, n: usize) -> Result<()> {
    if n as u64 <= C::MOST { Ok(()) } else { Err(too_large::<T>(what, n)) }
}

/// So many elements are too many.
pub(crate) fn too_large<T>(what: &'static str, n: usize) -> folio::Error {
    let (label, element_bytes) = ("elements".into(), size_of::<T>());
    folio::Error::TooLarge { what, label, extent: vec![n], element_bytes }
}
