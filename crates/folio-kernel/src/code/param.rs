//! A launch's arguments, as backends and the engine see them.

/// Memory of a view parameter. Shapes have three dimensions, the slowest first, and begin with ones
/// where a view has fewer.
#[derive(Clone, Copy, Debug)]
pub struct ParamPtr {
    /// Start of the allocation.
    pub base: *mut u8,
    /// Shape of the allocation in elements.
    pub dims: [usize; 3],
    /// First element of the accessed box.
    pub origin: [usize; 3],
    /// Extent of the accessed box.
    pub extent: [usize; 3],
    /// The index, as the kernel counts, of the accessed box's first element.
    pub index: [usize; 3],
    /// The extent that the kernel sees: that of its argument, of which it may access a part.
    pub shape: [usize; 3],
}

impl ParamPtr {
    /// Elements from the start of the allocation to the accessed box.
    pub fn start(&self) -> u64 {
        let ([_, rows, columns], [z, y, x]) = (self.dims, self.origin);
        let row = z.wrapping_mul(rows).wrapping_add(y);
        row.wrapping_mul(columns).wrapping_add(x) as u64
    }
}

// SAFETY: a `ParamPtr` is an address and shapes; the kernel that dereferences it answers for it.
unsafe impl Send for ParamPtr {}
// SAFETY: as above.
unsafe impl Sync for ParamPtr {}
