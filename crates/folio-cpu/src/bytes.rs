//! Copies and fills of rectangles.

use crate::memory::resolve;
use folio_core::hal::{CopyRect, FillRect, HostPtr};
use std::ops::Range;

/// The bytes that a thread takes at a time of a copy that is spread over the pool: small enough to
/// share out evenly, large enough that taking it costs nothing.
const CHUNK: usize = 256 << 10;
/// How much of a pattern is laid out before it is copied on: stays in the first-level cache.
const PATTERN_BLOCK: usize = 16 << 10;

/// Slices, rows, and contiguous bytes.
type Extent = [usize; 3];
/// Bytes from one slice, and from one row, to the next.
type Pitch = [usize; 2];

/// A rectangle with everything resolved; for a fill, the source is the destination.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rect {
    src: HostPtr,
    dst: HostPtr,
    src_pitch: Pitch,
    dst_pitch: Pitch,
    extent: Extent,
}

/// Some rows of a rectangle, or some bytes of one row.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Piece {
    rows: Range<usize>,
    from: usize,
    bytes: usize,
}

fn narrow<const N: usize>(wide: [u64; N]) -> [usize; N] {
    // Sizes of live memory fit.
    wide.map(|n| usize::try_from(n).unwrap_or(usize::MAX))
}

impl Rect {
    pub(crate) fn copy(rect: &CopyRect) -> Rect {
        let mut out = Rect {
            src: resolve(&rect.src),
            dst: resolve(&rect.dst),
            src_pitch: narrow(rect.src_pitch),
            dst_pitch: narrow(rect.dst_pitch),
            extent: narrow(rect.extent),
        };
        out.merge();
        out
    }

    pub(crate) fn fill(rect: &FillRect) -> Rect {
        let (dst, pitch) = (resolve(&rect.dst), narrow(rect.pitch));
        let extent = narrow(rect.extent);
        let mut out = Rect { src: dst, dst, src_pitch: pitch, dst_pitch: pitch, extent };
        out.merge();
        out
    }

    /// Makes rows that touch one row, first within slices, then slices.
    fn merge(&mut self) {
        let [slices, rows, bytes] = self.extent;
        if rows == 1 {
            self.extent = [1, slices, bytes];
            (self.src_pitch[1], self.dst_pitch[1]) = (self.src_pitch[0], self.dst_pitch[0]);
        } else if self.src_pitch[1] == bytes && self.dst_pitch[1] == bytes {
            self.extent = [1, slices, rows * bytes];
            (self.src_pitch[1], self.dst_pitch[1]) = (self.src_pitch[0], self.dst_pitch[0]);
        }
        let [slices, rows, bytes] = self.extent;
        if slices == 1 && (rows == 1 || self.src_pitch[1] == bytes && self.dst_pitch[1] == bytes) {
            self.extent = [1, 1, rows * bytes];
        }
    }

    pub(crate) fn rows(&self) -> usize {
        self.extent[0] * self.extent[1]
    }

    pub(crate) fn bytes(&self) -> usize {
        self.rows() * self.extent[2]
    }

    fn whole(&self) -> Piece {
        Piece { rows: 0..self.rows(), from: 0, bytes: self.extent[2] }
    }

    /// Into how many pieces of about [`CHUNK`] bytes the rectangle falls, cut at multiples of
    /// `unit` bytes within a row.
    pub(crate) fn pieces(&self, unit: usize) -> usize {
        let (chunk, bytes) = (chunk(unit), self.extent[2]);
        if bytes > chunk {
            self.rows() * bytes.div_ceil(chunk)
        } else {
            self.rows().div_ceil(chunk / bytes.max(1))
        }
    }

    fn piece(&self, unit: usize, index: usize) -> Piece {
        let (chunk, bytes) = (chunk(unit), self.extent[2]);
        if bytes > chunk {
            let per_row = bytes.div_ceil(chunk);
            let (row, from) = (index / per_row, index % per_row * chunk);
            Piece { rows: row..row + 1, from, bytes: chunk.min(bytes - from) }
        } else {
            let rows = chunk / bytes.max(1);
            let start = index * rows;
            Piece { rows: start..(start + rows).min(self.rows()), from: 0, bytes }
        }
    }

    /// Calls `row` with the offsets in source and destination of each row's part in `piece`.
    fn each_row(&self, piece: &Piece, mut row: impl FnMut(usize, usize)) {
        let per_slice = self.extent[1].max(1);
        let (mut z, mut y) = (piece.rows.start / per_slice, piece.rows.start % per_slice);
        for _ in piece.rows.clone() {
            let at = |pitch: &Pitch| z * pitch[0] + y * pitch[1] + piece.from;
            row(at(&self.src_pitch), at(&self.dst_pitch));
            y += 1;
            if y == per_slice {
                (z, y) = (z + 1, 0);
            }
        }
    }

    /// Runs piece `index` of [`Rect::pieces`], or everything.
    ///
    /// # Safety
    /// The rectangle lies in live memory that nobody else touches meanwhile, except that others
    /// may read the source of a copy; source and destination of a copy do not overlap.
    pub(crate) unsafe fn run(&self, pattern: &[u8], index: Option<usize>) {
        let piece = index.map_or(self.whole(), |index| self.piece(pattern.len(), index));
        self.each_row(&piece, |src, dst| {
            let to = self.dst.0.wrapping_add(dst);
            if pattern.is_empty() {
                let from = self.src.0.wrapping_add(src);
                // SAFETY: the caller's promise; a piece lies within its rectangle.
                unsafe { from.copy_to_nonoverlapping(to, piece.bytes) };
            } else {
                // SAFETY: as above; pieces start at multiples of the pattern.
                unsafe { fill_row(to, piece.bytes, pattern) };
            }
        });
    }
}

/// [`CHUNK`], as a multiple of `unit`.
fn chunk(unit: usize) -> usize {
    let unit = unit.max(1);
    unit * (CHUNK / unit).max(1)
}

/// Repeats `pattern` over `bytes` bytes at `to`.
///
/// # Safety
/// They are live, and nobody else touches them meanwhile.
unsafe fn fill_row(to: *mut u8, bytes: usize, pattern: &[u8]) {
    if let [byte] = *pattern {
        // SAFETY: the caller's promise.
        return unsafe { to.write_bytes(byte, bytes) };
    }
    let block = pattern.len() * (PATTERN_BLOCK / pattern.len()).max(1);
    let mut done = pattern.len().min(bytes);
    // SAFETY: `done <= bytes`; the pattern is not in the memory that is filled.
    unsafe { pattern.as_ptr().copy_to_nonoverlapping(to, done) };
    while done < bytes {
        // `done` is a multiple of the pattern here, and so is `block`.
        let more = done.min(block).min(bytes - done);
        // SAFETY: the source ends at `more <= done`, the destination at `done + more <= bytes`.
        unsafe { to.copy_to_nonoverlapping(to.wrapping_add(done), more) };
        done += more;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use folio_core::hal::{MemBase, MemRef};

    fn at(memory: &mut [u8], offset: usize) -> MemRef {
        let base = MemBase::Host(HostPtr(memory.as_mut_ptr()));
        MemRef { base, offset: offset as u64 }
    }

    fn copy(src_pitch: [u64; 2], dst_pitch: [u64; 2], extent: [u64; 3]) -> Rect {
        let mut unused = [0];
        let (src, dst) = (at(&mut unused, 0), at(&mut unused, 0));
        Rect::copy(&CopyRect { src, src_pitch, dst, dst_pitch, extent })
    }

    #[test]
    fn rows_that_touch_are_one() {
        assert_eq!(copy([64, 8], [64, 8], [2, 8, 8]).extent, [1, 1, 128]);
        assert_eq!(copy([64, 8], [64, 8], [2, 4, 8]).extent, [1, 2, 32]);
        assert_eq!(copy([64, 8], [128, 16], [2, 8, 8]).extent, [2, 8, 8]);
        assert_eq!(copy([64, 8], [99, 8], [2, 8, 8]).extent, [1, 2, 64]);
        assert_eq!(copy([8, 0], [8, 0], [5, 1, 8]).extent, [1, 1, 40]);
        assert_eq!(copy([9, 0], [8, 0], [5, 1, 8]).extent, [1, 5, 8]);
        assert_eq!(copy([0, 0], [0, 0], [1, 1, 8]).extent, [1, 1, 8]);
    }

    #[test]
    fn pieces_cover_every_byte_once() {
        let shapes = [[1, 1, 1 << 20], [3, 5, 7], [2, 300, 3000], [1, 3, (CHUNK as u64) + 5]];
        for unit in [1, 3, 12, CHUNK + 1] {
            for [z, y, x] in shapes {
                let rect = copy([y * (x + 9), x + 9], [y * (x + 1), x + 1], [z, y, x]);
                let mut next = (0, 0);
                for i in 0..rect.pieces(unit) {
                    let piece = rect.piece(unit, i);
                    assert_eq!((piece.rows.start, piece.from), next);
                    assert!(piece.bytes > 0 && piece.from.is_multiple_of(unit));
                    assert!(piece.bytes * piece.rows.len() <= chunk(unit));
                    let end = piece.from + piece.bytes;
                    next = if end == rect.extent[2] { (piece.rows.end, 0) } else { (next.0, end) };
                }
                assert_eq!(next, (rect.rows(), 0));
            }
        }
    }

    #[test]
    fn rectangles_land_where_they_should() {
        for index in [None, Some(0)] {
            let mut src: Vec<u8> = (0..=255).collect();
            let mut dst = vec![0; 256];
            let rect = Rect::copy(&CopyRect {
                src: at(&mut src, 7),
                src_pitch: [50, 10],
                dst: at(&mut dst, 3),
                dst_pitch: [60, 12],
                extent: [2, 3, 4],
            });
            // SAFETY: both lie in their vectors.
            unsafe { rect.run(&[], index) };
            let mut expect = vec![0; 256];
            for (z, y, x) in (0..24).map(|i| (i / 12, i / 4 % 3, i % 4)) {
                expect[3 + z * 60 + y * 12 + x] = src[7 + z * 50 + y * 10 + x];
            }
            assert_eq!(dst, expect);
        }
    }

    #[test]
    fn patterns_of_any_length_repeat() {
        for length in [1, 2, 3, 4, 7, 16, 100, 40_000] {
            let pattern: Vec<u8> = (0..length).map(|i| (i % 251) as u8).collect();
            let bytes = length * 9;
            let mut memory = vec![255; 2 * bytes + 10];
            let rect = Rect::fill(&FillRect {
                dst: at(&mut memory, 5),
                pitch: [0, bytes as u64 + 1],
                extent: [1, 2, bytes as u64],
            });
            for i in 0..rect.pieces(length) {
                // SAFETY: the rectangle lies in `memory`.
                unsafe { rect.run(&pattern, Some(i)) };
            }
            for (i, &byte) in memory.iter().enumerate() {
                let row = i.wrapping_sub(5) % (bytes + 1);
                let outside = i < 5 || row == bytes || i > 5 + 2 * bytes;
                assert_eq!(byte, if outside { 255 } else { pattern[row % length] }, "{length} {i}");
            }
        }
    }
}
