//! Allocators of the program: who gives buffers and managed pointers their memory on the host.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::fmt;
use std::ptr::NonNull;
use std::sync::Arc;

/// An allocator of the program, for the memory that buffers and managed pointers have on the host:
/// a pool, huge pages, memory that another library owns.
///
/// [`BufferOptions::allocator`](crate::BufferOptions::allocator) names one for a buffer or a
/// managed pointer, [`Runtime::managed_in`](crate::Runtime::managed_in) for a managed pointer.
///
/// - The engine gives each piece of memory back exactly once, after the last command, guard and
///   device that uses it: also when a command fails, a device is lost, or the runtime is dropped
///   with work under way. Memory of a handle that is forgotten stays given.
/// - Any thread may call, several at once, and none holds a lock of the runtime: an allocator may
///   use the runtime. While it blocks, the caller does, which may be the thread that finds the end
///   of commands.
/// - Memory counts against the host's budget. The allocator lives as long as memory of it.
/// - A panic ends in the call: in [`allocate`](Self::allocate) it is
///   [`Error::Allocator`](crate::Error::Allocator), in [`deallocate`](Self::deallocate) nothing.
///
/// ```
/// use folio_core::{memory::{HostAllocator, HostBlock}, BufferOptions};
/// use std::alloc::{Layout, alloc, dealloc};
/// use std::ptr::NonNull;
/// use std::sync::Arc;
///
/// struct Pool;
///
/// // SAFETY: `alloc` gives memory of the layout, which is freed by `deallocate` only.
/// unsafe impl HostAllocator for Pool {
///     fn allocate(&self, layout: Layout) -> Option<HostBlock> {
///         // SAFETY: the layout's size is never 0.
///         Some(HostBlock::unknown(unsafe { alloc(layout) }))
///     }
///     unsafe fn deallocate(&self, at: NonNull<u8>, layout: Layout) {
///         // SAFETY: `allocate` gave it, by this layout.
///         unsafe { dealloc(at.as_ptr(), layout) }
///     }
/// }
///
/// # fn main() -> folio_core::Result<()> {
/// # let rt = folio_core::Runtime::builder().build()?;
/// let options = BufferOptions::new().allocator(Arc::new(Pool));
/// let x = rt.buffer_with((&[1, 2, 3], 3), options)?;
/// assert_eq!(x.to_vec()?, [1, 2, 3]);
/// # Ok(())
/// # }
/// ```
///
/// # Safety
/// The engine, its devices and the program's kernels read and write what
/// [`allocate`](Self::allocate) gives, and believe what it says:
/// - The memory is valid for reads and writes of `layout.size()` bytes, from all threads, until
///   [`deallocate`](Self::deallocate) is called with it, wherever this allocator is moved.
/// - Nothing else reads or writes it until then.
/// - A block that [`zeroed`](HostBlock::zeroed) made holds zeros.
pub unsafe trait HostAllocator: Send + Sync {
    /// Memory for this layout, whose size is not 0; `None` refuses. The engine then asks once more,
    /// after giving back what no command needs, and after evictions where buffers allow them.
    ///
    /// A null pointer and one that is not aligned are [`Error::Allocator`](crate::Error::Allocator)
    /// too; memory that is not aligned is given back.
    fn allocate(&self, layout: Layout) -> Option<HostBlock>;

    /// Takes memory back.
    ///
    /// # Safety
    /// [`allocate`](Self::allocate) gave it for this layout, it is given back once, and nothing
    /// uses it any more.
    unsafe fn deallocate(&self, at: NonNull<u8>, layout: Layout);
}

/// Memory that a [`HostAllocator`] gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostBlock {
    pub(crate) at: *mut u8,
    pub(crate) zeroed: bool,
}

impl HostBlock {
    /// Memory that holds anything, or nothing yet. The engine zeroes what a command reads before it
    /// is written, and no more.
    pub fn unknown(at: *mut u8) -> HostBlock {
        HostBlock { at, zeroed: false }
    }

    /// Memory that holds zeros: fresh pages of the system, for one.
    pub fn zeroed(at: *mut u8) -> HostBlock {
        HostBlock { at, zeroed: true }
    }
}

/// The fault of a program's allocator that gave no memory.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AllocatorFault {
    /// The allocator refused.
    Refused,
    /// The allocator gave a null pointer.
    Null,
    /// The allocator gave memory at this address, which is not aligned, and has got it back.
    Misaligned(u64),
    /// The allocator panicked, with this message.
    Panicked(Arc<str>),
}

impl fmt::Display for AllocatorFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AllocatorFault::Refused => f.write_str("it refused"),
            AllocatorFault::Null => f.write_str("it gave a null pointer"),
            AllocatorFault::Misaligned(at) => write!(f, "it gave memory at {at:#x}"),
            AllocatorFault::Panicked(message) => {
                write!(f, "it panicked: {}", folio_kernel::words::Plain(message))
            }
        }
    }
}

/// The global allocator of Rust programs: the allocator of buffers that name none. Large requests
/// cost nothing until touched.
pub(crate) struct Global;

// SAFETY: memory of the global allocator is valid until `dealloc`, and given to one caller. The
// memory was zeroed.
unsafe impl HostAllocator for Global {
    fn allocate(&self, layout: Layout) -> Option<HostBlock> {
        // SAFETY: callers ask for no empty layout.
        let at = unsafe { alloc_zeroed(layout) };
        (!at.is_null()).then_some(HostBlock::zeroed(at))
    }

    unsafe fn deallocate(&self, at: NonNull<u8>, layout: Layout) {
        // SAFETY: the caller's promise: it came from the global allocator by this layout.
        unsafe { dealloc(at.as_ptr(), layout) };
    }
}
