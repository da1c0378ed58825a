//! How much local memory a kernel's groups take.

use crate::ir::walk;
use crate::{Kernel, ParamKind, Stmt};

/// Bytes for a value that an item gives to be combined, whatever its type is.
const COMBINED_BYTES: u64 = 8;

/// The local memory of a kernel's groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LocalMemory {
    /// Bytes of local arrays.
    pub arrays: u64,
    /// Bytes more for each item of a group, in which its values are combined.
    pub item: u64,
}

impl LocalMemory {
    /// That of a kernel.
    pub fn of(kernel: &Kernel) -> LocalMemory {
        let arrays = kernel.params.iter().filter_map(|param| match param.kind {
            // Memory of groups has a word for each `bool`.
            ParamKind::Local { element, len } => {
                let bytes = kernel.types.layout(element).0.saturating_mul(u64::from(len));
                Some(bytes.next_multiple_of(8))
            }
            _ => None,
        });
        let arrays = arrays.fold(0, u64::saturating_add);
        let is_reduced = |param: &crate::Param| matches!(param.kind, ParamKind::Reduce { .. });
        let mut combines = kernel.shape.groups && kernel.params.iter().any(is_reduced);
        walk(&kernel.body, &mut |stmt| combines |= matches!(stmt, Stmt::Collect { .. }));
        LocalMemory { arrays, item: if combines { COMBINED_BYTES } else { 0 } }
    }

    /// Bytes for a group of so many items.
    pub fn of_group(self, items: u64) -> u64 {
        self.arrays.saturating_add(self.item.saturating_mul(items))
    }
}
