//! Memory in frames: addresses that the system reserves, and pages that it gives where a frame is
//! made accessible. Elsewhere than on Unix there is none.
//!
//! An access to a frame without memory ends the process; no operation makes one (the engine's part
//! of the contract).

use folio_core::hal::HostPtr;
use std::ops::Range;

/// Bytes of a frame: a large page, so that the system can use one.
pub(crate) const FRAME: u64 = 2 << 20;

/// Whether the system has frames.
pub(crate) const CAN: bool = cfg!(all(unix, not(miri)));

/// Addresses, and which frames of them have memory.
pub(crate) struct Frames {
    base: HostPtr,
    /// By frame, whether it has memory.
    backed: Vec<bool>,
}

impl Frames {
    /// Reserves addresses for so many bytes, aligned to a frame as far as the system does that by
    /// itself. `None`: there are none.
    pub(crate) fn reserve(bytes: u64) -> Option<Frames> {
        let count = usize::try_from(bytes.div_ceil(FRAME)).ok()?;
        let length = count.checked_mul(FRAME as usize)?;
        let base = system::reserve(length)?;
        Some(Frames { base: HostPtr(base), backed: vec![false; count] })
    }

    pub(crate) fn base(&self) -> HostPtr {
        self.base
    }

    /// Bytes of the frames that have memory.
    pub(crate) fn in_use(&self) -> u64 {
        self.backed.iter().filter(|backed| **backed).count() as u64 * FRAME
    }

    fn part(&mut self, bytes: &Range<u64>) -> (*mut u8, usize, &mut [bool]) {
        let [from, to] = [bytes.start, bytes.end].map(|at| (at / FRAME) as usize);
        let at = self.base.0.wrapping_add(from * FRAME as usize);
        (at, (to - from) * FRAME as usize, &mut self.backed[from..to])
    }

    /// Gives memory to frames, which holds zeros. `false`: the system has none.
    pub(crate) fn map(&mut self, bytes: &Range<u64>) -> bool {
        let (at, length, backed) = self.part(bytes);
        // SAFETY: a part of our own addresses, which nothing uses.
        let done = unsafe { system::map(at, length) };
        if done {
            backed.fill(true);
        }
        done
    }

    /// Takes memory back that nothing uses.
    pub(crate) fn unmap(&mut self, bytes: &Range<u64>) {
        let (at, length, backed) = self.part(bytes);
        backed.fill(false);
        // SAFETY: a part of our own addresses, which nothing uses (the engine's part of the
        // contract).
        unsafe { system::unmap(at, length) };
    }
}

impl Drop for Frames {
    fn drop(&mut self) {
        // SAFETY: our own addresses, all of them, which nothing uses any more.
        unsafe { system::release(self.base.0, self.backed.len() * FRAME as usize) };
    }
}

// SAFETY: a `Frames` is a range of addresses; uses of these have reasons of their own.
unsafe impl Send for Frames {}

#[cfg(all(unix, not(miri)))]
mod system {
    use libc::{
        MAP_ANON, MAP_FAILED, MAP_FIXED, MAP_NORESERVE, MAP_PRIVATE, PROT_NONE, PROT_READ,
        PROT_WRITE,
    };
    use std::ptr::null_mut;

    const OURS: libc::c_int = MAP_PRIVATE | MAP_ANON | MAP_NORESERVE;

    pub(super) fn reserve(length: usize) -> Option<*mut u8> {
        // SAFETY: new addresses, which the system chooses.
        let at = unsafe { libc::mmap(null_mut(), length, PROT_NONE, OURS, -1, 0) };
        (at != MAP_FAILED).then_some(at.cast())
    }

    /// # Safety
    /// A part of what [`reserve`] gave.
    pub(super) unsafe fn map(at: *mut u8, length: usize) -> bool {
        // SAFETY: the caller's promise.
        unsafe { libc::mprotect(at.cast(), length, PROT_READ | PROT_WRITE) == 0 }
    }

    /// # Safety
    /// A part of what [`reserve`] gave, which nothing uses.
    pub(super) unsafe fn unmap(at: *mut u8, length: usize) {
        // SAFETY: the caller's promise. Fresh addresses in place of these: the pages go back. Where
        // the system refuses, the pages stay, and a later `map` finds what they held.
        let _ = unsafe { libc::mmap(at.cast(), length, PROT_NONE, OURS | MAP_FIXED, -1, 0) };
    }

    /// # Safety
    /// All of what [`reserve`] gave, which nothing uses.
    pub(super) unsafe fn release(at: *mut u8, length: usize) {
        // SAFETY: the caller's promise.
        let _ = unsafe { libc::munmap(at.cast(), length) };
    }
}

#[cfg(not(all(unix, not(miri))))]
mod system {
    pub(super) fn reserve(_: usize) -> Option<*mut u8> {
        None
    }

    pub(super) unsafe fn map(_: *mut u8, _: usize) -> bool {
        false
    }

    pub(super) unsafe fn unmap(_: *mut u8, _: usize) {}

    pub(super) unsafe fn release(_: *mut u8, _: usize) {}
}

#[cfg(all(test, unix, not(miri), not(loom)))]
mod tests {
    use super::*;

    /// Pages come when frames get memory, and go with it: counted by the system.
    #[test]
    fn frames_have_memory_where_they_were_given_some() {
        let mut frames = Frames::reserve((1 << 40) + 1).unwrap();
        let at = frames.base().0;
        assert!(frames.map(&(4 * FRAME..6 * FRAME)));
        let middle = at.wrapping_add(5 * FRAME as usize);
        // SAFETY: both are in frames that have memory.
        unsafe {
            assert_eq!(middle.read(), 0);
            middle.write(7);
            at.wrapping_add(6 * FRAME as usize - 1).write(8);
        }
        assert_eq!(frames.in_use(), 2 * FRAME);
        frames.unmap(&(5 * FRAME..6 * FRAME));
        assert_eq!(frames.in_use(), FRAME);
        assert!(frames.map(&(5 * FRAME..6 * FRAME)));
        // SAFETY: as above.
        assert_eq!(unsafe { middle.read() }, 0, "the page went back");
    }
}
