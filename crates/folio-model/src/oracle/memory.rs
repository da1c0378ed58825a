//! The bytes of one buffer, and what is known of each.
//!
//! Bytes are *exact*, or *loose* (a discard did not write them: zero or any earlier value of them),
//! or *wild* (computed from loose ones, or raw memory left by a failed command: nothing is known).
//! The outputs of a failed command are loose: it may have written some of it, on the right data,
//! and nothing else. That tells values from memory in which nothing was, and from what was computed
//! of it.

use super::Verdict;
use crate::compute;
use crate::place;
use crate::program::{BufferSpec, Memory, View};
use crate::residency::Residency;
use folio_core::UsmKind;
use folio_core::geom::{Box3, Dims, linear};

/// The knowledge of a byte.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Certainty {
    Exact,
    Loose,
    Wild,
}

pub(super) struct Storage {
    pub(super) spec: BufferSpec,
    bytes: Vec<u8>,
    known: Vec<Certainty>,
    /// Every value that each byte ever had.
    past: Vec<[u64; 4]>,
    pub(super) pages: Residency,
    pub(super) dropped: bool,
    /// Where it is, as long as it is USM; otherwise commands have it where they run.
    pub(super) home: Option<usize>,
    /// The scope of a view is over.
    pub(super) closed: bool,
    /// The host may use it there.
    pub(super) reachable: bool,
}

impl Storage {
    /// As the program makes it.
    pub(super) fn new(at: usize, spec: &BufferSpec, domains: &[usize]) -> Storage {
        let volume: usize = spec.dims.iter().product();
        let size = spec.ty.size();
        let mut bytes = vec![0; volume * size];
        let mut past = vec![[0; 4]; volume * size];
        past.iter_mut().for_each(|p| p[0] |= 1);
        if spec.initialised {
            for element in 0..volume {
                let value = compute::initial(at, element).to_le_bytes();
                bytes[element * size..][..size].copy_from_slice(&value[..size]);
            }
            for (byte, past) in bytes.iter().zip(&mut past) {
                past[usize::from(*byte >> 6)] |= 1 << (byte & 63);
            }
        }
        let (mut current, mut home, mut reachable) = (u64::from(spec.initialised), None, false);
        match spec.memory {
            Memory::Usm(device, kind) => {
                home = Some(domains[device]);
                current = 1 << domains[device];
                reachable = kind != UsmKind::Device || domains[device] == 0;
            }
            Memory::Over(Some((device, _))) => current <<= domains[device],
            _ => {}
        }
        let pages = Residency::new(place::grid(spec), size, current);
        let known = vec![Certainty::Exact; bytes.len()];
        Storage {
            spec: spec.clone(),
            bytes,
            known,
            past,
            pages,
            dropped: false,
            closed: false,
            home,
            reachable,
        }
    }

    fn range(view: &View, cell: Dims) -> std::ops::Range<usize> {
        let start = linear(view.dims, cell) * view.ty.size();
        start..start + view.ty.size()
    }

    /// The value of an element, if it is known.
    pub(super) fn get(&self, view: &View, cell: Dims) -> Option<u64> {
        let range = Storage::range(view, cell);
        let exact = self.known[range.clone()].iter().all(|k| *k == Certainty::Exact);
        exact.then(|| self.raw(range))
    }

    fn raw(&self, range: std::ops::Range<usize>) -> u64 {
        let bytes = self.bytes[range].iter().rev();
        bytes.fold(0, |value, byte| value << 8 | u64::from(*byte))
    }

    pub(super) fn put(&mut self, view: &View, cell: Dims, value: Option<u64>) {
        for (nth, at) in Storage::range(view, cell).enumerate() {
            match value {
                Some(value) => {
                    let byte = (value >> (8 * nth)) as u8;
                    self.bytes[at] = byte;
                    self.known[at] = Certainty::Exact;
                    self.past[at][usize::from(byte >> 6)] |= 1 << (byte & 63);
                }
                None => self.forget_byte(at),
            }
        }
    }

    fn forget_byte(&mut self, at: usize) {
        self.known[at] = Certainty::Wild;
        self.past[at] = [u64::MAX; 4];
    }

    /// An element has this value now, or keeps what it had.
    pub(super) fn may_put(&mut self, view: &View, cell: Dims, value: Option<u64>) {
        for (nth, at) in Storage::range(view, cell).enumerate() {
            match value {
                Some(value) => {
                    let byte = (value >> (8 * nth)) as u8;
                    self.past[at][usize::from(byte >> 6)] |= 1 << (byte & 63);
                }
                None => self.forget_byte(at),
            }
        }
    }

    /// Nothing is known of a part any more.
    pub(super) fn forget(&mut self, view: &View) {
        for start in place::offsets(view) {
            (start..start + view.ty.size()).for_each(|at| self.forget_byte(at));
        }
    }

    /// A part is zero or something earlier now.
    pub(super) fn loosen(&mut self, view: &View) {
        for start in place::offsets(view) {
            self.loosen_bytes(start..start + view.ty.size());
        }
    }

    /// The pages that hold one of these elements become loose, too.
    pub(super) fn loosen_pages(&mut self, elements: &Box3) {
        let (grid, size) = (place::grid(&self.spec), self.spec.ty.size());
        for element in grid.elements_of(&grid.pages_of(elements)).cells() {
            let start = linear(self.spec.dims, element) * size;
            self.loosen_bytes(start..start + size);
        }
    }

    fn loosen_bytes(&mut self, range: std::ops::Range<usize>) {
        for known in &mut self.known[range] {
            *known = if *known == Certainty::Wild { Certainty::Wild } else { Certainty::Loose };
        }
    }

    /// Compares a part with what was read of it. `earlier`: an earlier value will do.
    pub(super) fn compare(&self, view: &View, found: &[u64], earlier: bool) -> Verdict {
        if found.len() != view.part.volume() {
            return Err(format!("{} elements, expected {}", found.len(), view.part.volume()));
        }
        for (cell, found) in view.part.cells().zip(found) {
            for (nth, at) in Storage::range(view, cell).enumerate() {
                let byte = (found >> (8 * nth)) as u8;
                let past = self.past[at][usize::from(byte >> 6)] & 1 << (byte & 63) != 0;
                let right = match self.known[at] {
                    Certainty::Exact => byte == self.bytes[at] || (earlier && past),
                    Certainty::Loose => past,
                    Certainty::Wild => true,
                };
                if !right {
                    let (known, b) = (self.known[at], view.buffer);
                    let expected = self.raw(Storage::range(view, cell));
                    return Err(format!(
                        "buffer {b} at {cell:?}: {found:#x}, expected {expected:#x} ({known:?})"
                    ));
                }
            }
        }
        Ok(())
    }
}
