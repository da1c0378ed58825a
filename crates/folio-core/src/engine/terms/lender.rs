//! Where memory on the host is from, and so how it goes back: the program's allocator or the global
//! one.
//!
//! A [`Lender`] goes wherever the memory goes, from one storage to another one, too. Memory of a
//! program's allocator owns a reference to that, which [`give_back`] takes: the allocator outlives
//! its memory. Here is also how a device is asked for memory, and what its refusal is called.

use crate::allocator::{AllocatorFault, Global, HostAllocator};
use crate::error::{Error, Label};
use crate::hal::{AllocKind, AllocReq, HalError, HalErrorKind, HostPtr, PanicPayload};
use crate::panics::contain;
use folio_kernel::words;
use std::alloc::Layout;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;
use std::sync::Arc;

/// The least alignment of a buffer's memory on the host: a cache line, and the widest vector.
pub(crate) const ALIGN: usize = 64;

/// Allocations are aligned to more, so that devices that share the host's memory can use it: PoCL
/// asks for this much.
pub(in crate::engine) const ALLOCATED: usize = 128;

/// Alignment of device allocations, for any element type and vector access.
pub(crate) const DEVICE_ALIGN: u64 = 256;

/// An allocator of the program.
#[derive(Clone)]
pub(crate) struct Program(Arc<Named>);

/// A thing that a thin pointer names.
struct Named(Arc<dyn HostAllocator>);

impl Program {
    pub(crate) fn new(allocator: Arc<dyn HostAllocator>) -> Program {
        Program(Arc::new(Named(allocator)))
    }

    /// Both are one allocator, whichever options named it.
    fn is(&self, other: &Named) -> bool {
        std::ptr::addr_eq(Arc::as_ptr(&self.0.0), Arc::as_ptr(&other.0))
    }
}

impl std::fmt::Debug for Program {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("an allocator of the program")
    }
}

/// Where memory on the host is from, and so how it goes back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Lender {
    layout: Layout,
    /// The program's allocator, of which this owns a reference; `None`: the global one.
    named: Option<NonNull<Named>>,
}

// SAFETY: a pointer to a `Named`, which may be used and dropped by any thread, since a
// `HostAllocator` may.
unsafe impl Send for Lender {}
// SAFETY: as above.
unsafe impl Sync for Lender {}

impl Lender {
    /// Memory of the global allocator, by this layout: the engine's own, or that of a `Vec`.
    pub(crate) fn global(layout: Layout) -> Lender {
        Lender { layout, named: None }
    }

    /// From one of these allocators.
    pub(in crate::engine) fn is_one_of(&self, programs: &[Program]) -> bool {
        // SAFETY: this owns a reference until `give_back`, which takes it.
        let named = self.named.map(|named| unsafe { named.as_ref() });
        named.is_some_and(|named| programs.iter().any(|program| program.is(named)))
    }
}

/// Memory on the host that goes to one owner.
pub(crate) struct HostMemory {
    pub(crate) at: HostPtr,
    pub(crate) lender: Lender,
    /// The memory holds zeros.
    pub(crate) clean: bool,
}

/// Takes memory from the program's allocator, or from the global one. An empty piece is no business
/// of a program's.
pub(crate) fn take(program: Option<&Program>, bytes: usize) -> Result<HostMemory, AllocatorFault> {
    let layout = layout(bytes).ok_or(AllocatorFault::Refused)?;
    let program = program.filter(|_| bytes > 0);
    let asked = match program {
        None => Global.allocate(layout),
        Some(Program(named)) => {
            let asked = catch_unwind(AssertUnwindSafe(|| named.0.allocate(layout)));
            asked.map_err(|payload| panicked(PanicPayload::new(payload)))?
        }
    };
    let block = asked.ok_or(AllocatorFault::Refused)?;
    let at = NonNull::new(block.at).ok_or(AllocatorFault::Null)?;
    // The reference is `give_back`'s to take.
    let named = program.map(|Program(named)| Arc::into_raw(named.clone()).cast_mut());
    let lender = Lender { layout, named: named.and_then(NonNull::new) };
    let at = HostPtr(at.as_ptr());
    if !at.0.addr().is_multiple_of(layout.align()) {
        // SAFETY: it was given just now, by this layout, and nothing has used it.
        unsafe { give_back(at, lender) };
        return Err(AllocatorFault::Misaligned(at.0 as u64));
    }
    Ok(HostMemory { at, lender, clean: block.zeroed })
}

/// The layout of so many bytes on the host, which may be none.
pub(in crate::engine) fn layout(bytes: usize) -> Option<Layout> {
    Layout::from_size_align(bytes.max(1), ALLOCATED).ok()
}

fn panicked(payload: PanicPayload) -> AllocatorFault {
    let message = Arc::from(payload.message());
    // Its drop is foreign code, too.
    contain(|| drop(payload));
    AllocatorFault::Panicked(message)
}

/// Gives memory back to its allocator.
///
/// # Safety
/// The memory is of this lender, is given back once, and nothing uses it any more.
pub(crate) unsafe fn give_back(at: HostPtr, lender: Lender) {
    let Some(at) = NonNull::new(at.0) else { return };
    let Some(named) = lender.named else {
        // SAFETY: the caller's promise: it came from the global allocator by this layout.
        return unsafe { Global.deallocate(at, lender.layout) };
    };
    // SAFETY: `take` has made it by `into_raw`, and this is the one call that takes it.
    let named = unsafe { Arc::from_raw(named.as_ptr()) };
    // SAFETY: the caller's promise: this allocator gave it for this layout.
    contain(|| unsafe { named.0.deallocate(at, lender.layout) });
    contain(|| drop(named));
}

/// A request for a storage's memory on a device, of which nothing else is asked.
pub(crate) fn plain_request(bytes: usize, label: &Label) -> AllocReq<'_> {
    AllocReq {
        kind: AllocKind::Device,
        size: bytes as u64,
        align: DEVICE_ALIGN,
        import: None,
        zeroed: false,
        linked: false,
        exported: false,
        label: label.as_str(),
    }
}

/// The error of memory that a device has refused. The budget is `whose`.
pub(crate) fn refused(
    (whose, device): (&str, &str),
    (kind, imported): (AllocKind, bool),
    (what, label): (&'static str, &Label),
    asked: u64,
    cause: HalError,
) -> Error {
    let device = device.to_owned();
    match cause.kind {
        HalErrorKind::OutOfMemory { in_use, limit, .. } => {
            let (device, label) = (whose.to_owned(), label.clone());
            Error::OutOfMemory { device, what, label, asked, in_use, limit }
        }
        HalErrorKind::Unsupported => {
            let (whose, why) = (if imported { " of others" } else { "" }, cause.message);
            let what = format!("{kind:?} memory{whose} for {what} {label}: {why}");
            Error::Unsupported { device, what }
        }
        _ => {
            let doing = format!("allocate {} for {what} {label}", words::bytes(asked));
            Error::Device { device, doing, cause }
        }
    }
}
