//! Which memory of a device is in use, by its addresses.

use crate::frames::Frames;
use cudarc::driver::sys;
use folio_core::hal::{AllocKind, PointerInfo};
use std::collections::BTreeMap;
use std::ops::Range;

#[derive(Default)]
pub(crate) struct Allocations {
    /// Bytes, without what is imported.
    in_use: u64,
    /// Of these, in the host's own memory.
    on_host: u64,
    /// By address. An entry that is not imported is apart from all others that are not.
    all: BTreeMap<u64, (Block, Users)>,
}

/// Allocations of one address: the same memory may be imported again, and the driver may give an
/// address anew while nobody has noted yet that memory which was imported from there has been let
/// go.
type Users = u32;

/// Memory at an address.
pub(crate) struct Block {
    pub(crate) kind: AllocKind,
    pub(crate) size: u64,
    /// The driver's address.
    pub(crate) base: u64,
    pub(crate) imported: bool,
    /// Of memory in frames, which of them have some.
    pub(crate) frames: Option<Frames>,
    /// The memory that `base` is mapped from, if that is another driver's: given back with it.
    pub(crate) external: Option<External>,
}

/// Another driver's memory.
#[derive(Clone, Copy)]
pub(crate) struct External(pub(crate) sys::CUexternalMemory);

// SAFETY: the driver's objects may be used by any thread.
unsafe impl Send for External {}

impl External {
    /// Lets go of it. The context is current, and nothing is mapped from it.
    pub(crate) fn destroy(self) {
        // SAFETY: imported once, and destroyed once: where mapping it failed, or with the last user
        // of its entry. An answer other than success means that the device is lost.
        let _ = unsafe { sys::cuDestroyExternalMemory(self.0) };
    }
}

impl Block {
    fn charged(&self) -> u64 {
        let own = self.frames.as_ref().map_or(self.size, Frames::in_use);
        if self.imported || self.external.is_some() { 0 } else { own }
    }

    fn charged_to_host(&self) -> u64 {
        if self.kind == AllocKind::Host { self.charged() } else { 0 }
    }
}

impl Allocations {
    pub(crate) fn in_use(&self) -> u64 {
        self.in_use
    }

    /// Without the host's own memory.
    pub(crate) fn on_device(&self) -> u64 {
        self.in_use - self.on_host
    }

    /// Of an address that is in use already, what is ours stays what it is; of two imports the
    /// longer one stands for both until both are gone.
    pub(crate) fn add(&mut self, address: u64, entry: Block) {
        self.in_use += entry.charged();
        self.on_host += entry.charged_to_host();
        let Some((known, users)) = self.all.get_mut(&address) else {
            self.all.insert(address, (entry, 1));
            return;
        };
        *users += 1;
        if known.imported && (!entry.imported || entry.size > known.size) {
            *known = entry;
        }
    }

    /// A user has gone; the entry, if it was the last.
    pub(crate) fn remove(&mut self, address: u64) -> Option<Block> {
        let (_, users) = self.all.get_mut(&address)?;
        *users -= 1;
        if *users > 0 {
            return None;
        }
        let (entry, _) = self.all.remove(&address)?;
        self.in_use -= entry.charged();
        self.on_host -= entry.charged_to_host();
        Some(entry)
    }

    /// The frames of the memory that begins at an address, if it comes in frames.
    pub(crate) fn frames_at(&self, address: u64) -> Option<&Frames> {
        self.all.get(&address)?.0.frames.as_ref()
    }

    /// Frames of the memory at an address have got memory, or have given it back.
    pub(crate) fn back(&mut self, address: u64, bytes: &Range<u64>, backed: bool) {
        let Some((entry, _)) = self.all.get_mut(&address) else { return };
        let Some(frames) = &mut entry.frames else { return };
        self.in_use -= frames.in_use();
        frames.set(bytes, backed);
        self.in_use += frames.in_use();
    }

    /// All memory in frames, by its address.
    pub(crate) fn in_frames(&self) -> impl Iterator<Item = (u64, Frames)> {
        let frames = |(at, (entry, _)): (&u64, &(Block, Users))| Some((*at, entry.frames.clone()?));
        self.all.iter().filter_map(frames)
    }

    /// The memory around an address: of several, one inside another, that which begins the latest.
    pub(crate) fn around(&self, address: u64) -> Option<PointerInfo> {
        for (start, (Block { kind, size, imported, .. }, _)) in self.all.range(..=address).rev() {
            let (offset, size) = (address - start, *size);
            if offset < size {
                return Some(PointerInfo { kind: *kind, handle: *start, offset, size });
            }
            if !imported {
                // Imports are within what is one's own, or apart from it.
                return None;
            }
        }
        None
    }

    pub(crate) fn each(&self) -> impl Iterator<Item = &Block> {
        self.all.values().map(|(entry, _)| entry)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(size: u64, imported: bool) -> Block {
        Block { kind: AllocKind::Device, size, base: 16, imported, frames: None, external: None }
    }

    /// Memory of ours is given back, whoever came first and whoever goes last, and counts with its
    /// own size.
    #[test]
    fn an_address_is_given_back_by_its_last_user() {
        for sizes in [[8, 8], [8, 100], [100, 8]] {
            for imported in [[false, true], [true, false]] {
                let mut live = Allocations::default();
                let all = [0, 1].map(|at| entry(sizes[at], imported[at]));
                let own = if imported[0] { sizes[1] } else { sizes[0] };
                all.into_iter().for_each(|entry| live.add(16, entry));
                assert_eq!(live.in_use(), own);
                assert_eq!(live.around(16).map(|found| found.size), Some(own));
                assert!(live.remove(16).is_none());
                assert!(live.remove(16).is_some_and(|entry| !entry.imported));
                assert_eq!(live.in_use(), 0);
                assert!(live.remove(16).is_none());
            }
        }
    }

    #[test]
    fn the_host_s_memory_is_not_the_device_s() {
        let mut live = Allocations::default();
        for (at, kind) in
            [AllocKind::Device, AllocKind::Host, AllocKind::Shared].into_iter().enumerate()
        {
            live.add(1000 * at as u64, Block { kind, ..entry(10 + at as u64, false) });
        }
        assert_eq!((live.in_use(), live.on_device()), (33, 22));
        live.remove(1000);
        assert_eq!((live.in_use(), live.on_device()), (22, 22));
    }

    #[test]
    fn of_two_imports_the_longer_stands_for_both() {
        for sizes in [[8, 100], [100, 8]] {
            let mut live = Allocations::default();
            sizes.into_iter().for_each(|size| live.add(16, entry(size, true)));
            assert_eq!(live.around(50).map(|found| (found.handle, found.size)), Some((16, 100)));
            assert!(live.remove(16).is_none());
            assert!(live.remove(16).is_some_and(|entry| entry.imported));
            assert!(live.around(16).is_none());
            assert_eq!(live.in_use(), 0);
        }
    }

    /// An import within an allocation hides no more of that than it is long; nor does one within
    /// another.
    #[test]
    fn addresses_are_found_around_imports() {
        let mut live = Allocations::default();
        live.add(1000, entry(1000, false));
        live.add(1100, entry(200, true));
        live.add(1150, entry(10, true));
        live.add(3000, entry(10, true));
        let found = |at| live.around(at).map(|found| (found.handle, found.offset));
        let expected = [
            (999, None),
            (1000, Some((1000, 0))),
            (1100, Some((1100, 0))),
            (1155, Some((1150, 5))),
            (1160, Some((1100, 60))),
            (1300, Some((1000, 300))),
            (1999, Some((1000, 999))),
            (2000, None),
            (3009, Some((3000, 9))),
            (3010, None),
        ];
        assert_eq!(expected.map(|(at, _)| (at, found(at))), expected);
    }
}
