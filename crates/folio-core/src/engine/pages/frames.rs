//! Memory in frames: which parts of an allocation have memory. The addresses of all of it are
//! reserved.
//!
//! A page that is current or defined on a domain lies in frames that have memory there: so nothing
//! is looked up for commands whose pages are defined where they run, and only what brings pages
//! anew asks for frames. Pure; [`memory::frames`](crate::engine::memory::frames) calls devices.

use crate::engine::pages::storage::StorageState;
use crate::engine::terms::access::{Access, FrameSpan};
use crate::geom::{Box3, Dims};
use crate::pages::{DomainId, DomainSet};
use std::ops::Range;

/// The frames of an allocation.
pub(crate) struct Frames {
    /// Whose memory.
    pub(crate) domain: DomainId,
    /// Bytes of a frame.
    pub(crate) size: u64,
    /// By frame, whether it has memory.
    backed: Vec<bool>,
    /// How many have.
    count: usize,
}

impl Frames {
    /// Frames without memory for so many bytes.
    pub(crate) fn new(domain: DomainId, size: u64, bytes: usize) -> Frames {
        let count = (bytes as u64).div_ceil(size) as usize;
        Frames { domain, size, backed: vec![false; count], count: 0 }
    }

    /// All frames.
    pub(crate) fn all(&self) -> FrameSpan {
        FrameSpan { from: 0, to: self.backed.len() as u32 }
    }

    /// All frames have memory.
    pub(crate) fn is_full(&self) -> bool {
        self.count == self.backed.len()
    }

    /// Bytes of the frames that have memory.
    pub(crate) fn in_use(&self) -> u64 {
        self.count as u64 * self.size
    }

    /// The frames of a span that have memory, or that have none, in runs.
    pub(crate) fn runs(&self, span: FrameSpan, backed: bool, out: &mut dyn FnMut(FrameSpan)) {
        let mut from = None;
        for frame in span.from..=span.to {
            let is = frame < span.to && self.backed.get(frame as usize) == Some(&backed);
            match (from, is) {
                (None, true) => from = Some(frame),
                (Some(start), false) => {
                    out(FrameSpan { from: start, to: frame });
                    from = None;
                }
                _ => {}
            }
        }
    }

    /// The frames have memory from now on, or have none.
    pub(crate) fn set(&mut self, span: FrameSpan, backed: bool) {
        for own in &mut self.backed[span.from as usize..span.to as usize] {
            if std::mem::replace(own, backed) != backed {
                self.count = if backed { self.count + 1 } else { self.count - 1 };
            }
        }
    }

    /// The bytes of frames, in the allocation.
    pub(crate) fn bytes(&self, span: FrameSpan) -> Range<u64> {
        u64::from(span.from) * self.size..u64::from(span.to) * self.size
    }
}

/// The frames of `size` bytes in which elements of a storage of this shape lie, in runs.
fn frames_of(
    (dims, element_bytes): (Dims, usize),
    elements: &Box3,
    size: u64,
    out: &mut dyn FnMut(FrameSpan),
) {
    if elements.is_empty() {
        return;
    }
    let row = dims[2] * element_bytes;
    let pitch = [dims[1] * row, row];
    let start = |at: Dims| crate::geom::linear(dims, at) * element_bytes;
    let [slices, rows, columns] = elements.extent();
    let row_bytes = columns * element_bytes;
    let slice_bytes = (rows - 1) * pitch[1] + row_bytes;
    // Where the gaps between rows, or between slices, hide no frame, they are one run.
    let close = |gap: usize| (gap as u64) < size;
    let joined = close(pitch[1] - row_bytes);
    let of = |from: usize, bytes: usize| {
        let to = (from + bytes) as u64;
        FrameSpan { from: (from as u64 / size) as u32, to: to.div_ceil(size) as u32 }
    };
    if joined && close(pitch[0] - slice_bytes) {
        return out(of(start(elements.min), (slices - 1) * pitch[0] + slice_bytes));
    }
    for slice in 0..slices {
        let first = start(elements.min) + slice * pitch[0];
        if joined {
            out(of(first, slice_bytes));
            continue;
        }
        (0..rows).for_each(|row| out(of(first + row * pitch[1], row_bytes)));
    }
}

impl StorageState {
    /// The frames of its memory on a domain, if that comes in frames.
    #[inline]
    pub(crate) fn frames(&self, domain: DomainId) -> Option<&Frames> {
        self.frames.iter().find(|frames| frames.domain == domain)
    }

    /// The same, to be changed.
    pub(crate) fn frames_mut(&mut self, domain: DomainId) -> Option<&mut Frames> {
        self.frames.iter_mut().find(|frames| frames.domain == domain)
    }

    /// Bytes of memory that its allocation on a domain has.
    pub(crate) fn backed_bytes(&self, domain: DomainId) -> usize {
        self.frames(domain).map_or(self.bytes(), |frames| frames.in_use() as usize)
    }

    /// The frames in which the pages of an access lie, in runs that may overlap.
    fn frames_of_pages(&self, pages: &Box3, size: u64, out: &mut dyn FnMut(FrameSpan)) {
        let grid = &self.residency.grid;
        frames_of((grid.dims, self.element_bytes), &grid.elements_of(pages), size, out);
    }

    /// The frames without memory that an access needs.
    pub(crate) fn missing_frames(&self, a: &Access, out: &mut dyn FnMut(FrameSpan)) {
        let Some(frames) = self.frames(a.domain).filter(|frames| !frames.is_full()) else {
            return;
        };
        let pages = self.residency.pages(a);
        if !self.residency.is_defined(&pages, a.place) {
            let run = &mut |span| frames.runs(span, false, out);
            self.frames_of_pages(&pages, frames.size, run);
        }
    }

    /// The frames with memory that can give it back: none of their pages is current on `domain`, or
    /// all that are so are current elsewhere, too, and the program has allowed to give way. The
    /// frames of `uses` stay.
    pub(crate) fn spare_frames(
        &self,
        domain: DomainId,
        lost: DomainSet,
        uses: &[Access],
    ) -> Vec<FrameSpan> {
        let Some(frames) = self.frames(domain) else { return Vec::new() };
        let mut stays = vec![false; frames.backed.len()];
        let mut keep = |pages: &Box3| {
            self.frames_of_pages(pages, frames.size, &mut |span| {
                stays[span.from as usize..span.to as usize].fill(true);
            });
        };
        let needed = |set: DomainSet| {
            let alone = set.minus(lost).without(domain).is_empty();
            set.contains(domain) && (alone || self.evict.is_none())
        };
        let residency = &self.residency;
        let all = residency.grid.all();
        residency.tracker().visit(&all, &mut |run, set| {
            if needed(set) {
                keep(&run);
            }
        });
        residency.pieces.visit(&all, &mut |run, fragments| {
            if fragments.iter().any(|fragment| needed(fragment.on())) {
                keep(&run);
            }
        });
        uses.iter().for_each(|a| keep(&residency.pages(a)));
        let mut spare = Vec::new();
        frames.runs(frames.all(), true, &mut |run| {
            let mut from = run.from;
            for frame in run.from..=run.to {
                if frame == run.to || stays[frame as usize] {
                    if from < frame {
                        spare.push(FrameSpan { from, to: frame });
                    }
                    from = frame + 1;
                }
            }
        });
        spare
    }

    /// Frames have no memory any more: pages of which a part is in them hold nothing there.
    pub(crate) fn give_back(&mut self, domain: DomainId, spans: &[FrameSpan]) {
        let Some(frames) = self.frames_mut(domain) else { return };
        let size = frames.size;
        spans.iter().for_each(|span| frames.set(*span, false));
        let mut gone = Vec::new();
        let all = self.residency.grid.all();
        self.residency.defined.visit(&all, &mut |run, set: DomainSet| {
            if set.contains(domain) {
                gone.extend(run.cells().map(Box3::cell).filter(|page| {
                    let mut hit = false;
                    self.frames_of_pages(page, size, &mut |own| {
                        hit |= spans.iter().any(|span| own.from < span.to && span.from < own.to);
                    });
                    hit
                }));
            }
        });
        gone.iter().for_each(|page| self.residency.leave(page, domain));
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn span(from: u32, to: u32) -> FrameSpan {
        FrameSpan { from, to }
    }

    /// Against a count byte by byte, for boxes of all kinds.
    #[test]
    fn frames_of_a_box_are_those_of_its_bytes() {
        let dims = [3, 4, 5];
        for (element, size) in
            [(1usize, 1usize), (1, 3), (2, 7), (4, 16), (4, 64), (8, 480), (8, 1000)]
        {
            for at in Box3::whole(dims).cells() {
                for to in (Box3 { min: at, max: dims }).cells() {
                    let elements = Box3 { min: at, max: to.map(|d| d + 1) };
                    let mut expected = vec![false; (60 * element).div_ceil(size)];
                    for cell in elements.cells() {
                        let from = crate::geom::linear(dims, cell) * element;
                        (from..from + element).for_each(|byte| expected[byte / size] = true);
                    }
                    let mut found = vec![false; expected.len()];
                    frames_of((dims, element), &elements, size as u64, &mut |span| {
                        found[span.from as usize..span.to as usize].fill(true);
                    });
                    assert_eq!(found, expected, "{elements:?} of {element} bytes in {size}");
                }
            }
        }
    }

    #[test]
    fn runs_tell_what_has_memory() {
        let mut frames = Frames::new(DomainId(1), 10, 95);
        assert_eq!((frames.all(), frames.in_use()), (span(0, 10), 0));
        frames.set(span(2, 5), true);
        frames.set(span(4, 6), true);
        frames.set(span(9, 10), true);
        frames.set(span(3, 4), false);
        let runs = |backed, of| {
            let mut runs = Vec::new();
            frames.runs(of, backed, &mut |run| runs.push(run));
            runs
        };
        assert_eq!(runs(true, frames.all()), [span(2, 3), span(4, 6), span(9, 10)]);
        assert_eq!(runs(false, span(1, 9)), [span(1, 2), span(3, 4), span(6, 9)]);
        assert_eq!((frames.in_use(), frames.bytes(span(4, 6))), (40, 40..60));
        assert!(!frames.is_full());
    }
}
