//! Rectangles of copies and fills: rows that touch become one, and large rectangles are cut.

use folio_core::hal::{CopyRect, FillRect};

/// Bytes between two places: slices of rows, with pitches at both ends.
///
/// The places are numbers of the backend's choice: addresses, or bytes from an allocation's start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rect {
    /// The first byte of the source.
    pub src: u64,
    /// Bytes from one slice, and from one row, to the next at the source.
    pub src_pitch: [u64; 2],
    /// The first byte of the destination.
    pub dst: u64,
    /// The same pitches at the destination.
    pub dst_pitch: [u64; 2],
    /// Slices, rows, bytes; none is 0.
    pub extent: [u64; 3],
}

/// Contiguous bytes of a [`Rect`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// Where the source begins.
    pub src: u64,
    /// Where the destination begins.
    pub dst: u64,
    /// How many bytes there are.
    pub bytes: u64,
}

/// How large the parts of a rectangle are.
#[derive(Clone, Copy, Debug)]
pub struct Cut {
    /// A rectangle is cut into so many parts if each has [`least`](Self::least) bytes.
    pub parts: u64,
    /// Bytes of a part at least, where the rectangle has as many.
    pub least: u64,
    /// Bytes of a part at most.
    pub most: u64,
    /// Rows of a part at most.
    pub rows: u64,
}

/// Both places are offsets in their allocations.
impl From<&CopyRect> for Rect {
    fn from(copy: &CopyRect) -> Rect {
        let &CopyRect { src, src_pitch, dst, dst_pitch, extent } = copy;
        Rect { src: src.offset, src_pitch, dst: dst.offset, dst_pitch, extent }
    }
}

/// A fill is a copy onto itself, so its rows join as those of a copy do.
impl From<&FillRect> for Rect {
    fn from(fill: &FillRect) -> Rect {
        let (at, pitch) = (fill.dst.offset, fill.pitch);
        Rect { src: at, src_pitch: pitch, dst: at, dst_pitch: pitch, extent: fill.extent }
    }
}

/// Bytes from the first to the last of a rectangle in memory of this pitch.
pub fn span(pitch: [u64; 2], [slices, rows, bytes]: [u64; 3]) -> u64 {
    slices.saturating_sub(1) * pitch[0] + rows.saturating_sub(1) * pitch[1] + bytes
}

impl Rect {
    /// Rows that follow one another without a gap at both ends become one row; so do slices.
    #[must_use]
    pub fn joined(mut self) -> Rect {
        let [slices, rows, bytes] = self.extent;
        let is_close = |rect: &Rect, step| [rect.src_pitch[1], rect.dst_pitch[1]] == [step; 2];
        if rows == 1 || is_close(&self, bytes) {
            // A single row of each slice: the slices are the rows.
            let bytes = rows * bytes;
            self.extent = [1, slices, bytes];
            (self.src_pitch[1], self.dst_pitch[1]) = (self.src_pitch[0], self.dst_pitch[0]);
            if is_close(&self, bytes) {
                self.extent = [1, 1, slices * bytes];
            }
        }
        self
    }

    /// The slice at this place.
    #[must_use]
    pub fn slice(&self, at: u64) -> Rect {
        let [_, rows, bytes] = self.extent;
        self.within([at, 0, 0], [1, rows, bytes])
    }

    /// The box of this extent, which begins at a slice, a row and a byte.
    fn within(&self, [slice, row, byte]: [u64; 3], extent: [u64; 3]) -> Rect {
        let ahead = |pitch: [u64; 2]| slice * pitch[0] + row * pitch[1] + byte;
        let (src, dst) = (self.src + ahead(self.src_pitch), self.dst + ahead(self.dst_pitch));
        Rect { src, dst, extent, ..*self }
    }

    /// The same bytes from memory without gaps, which begins here.
    #[must_use]
    pub fn from_packed(self, src: u64) -> Rect {
        Rect { src, src_pitch: self.packed(), ..self }
    }

    /// The same bytes into memory without gaps, which begins here.
    #[must_use]
    pub fn to_packed(self, dst: u64) -> Rect {
        Rect { dst, dst_pitch: self.packed(), ..self }
    }

    fn packed(&self) -> [u64; 2] {
        let [_, rows, bytes] = self.extent;
        [rows * bytes, bytes]
    }

    /// The contiguous bytes, as few rows as there are.
    pub fn rows(&self) -> impl Iterator<Item = Row> + use<> {
        let rect = self.joined();
        let [slices, rows, bytes] = rect.extent;
        (0..slices).flat_map(move |slice| {
            (0..rows).map(move |row| {
                let Rect { src, dst, .. } = rect.within([slice, row, 0], [1, 1, bytes]);
                Row { src, dst, bytes }
            })
        })
    }

    /// Parts that have all bytes once: whole slices, rows of one slice, or bytes of one row, after
    /// rows that touch have been joined.
    pub fn parts(&self, cut: &Cut) -> Parts {
        let rect = self.joined();
        let [slices, rows, bytes] = rect.extent;
        let most = (slices * rows * bytes / cut.parts).clamp(cut.least, cut.most);
        let whole = (most / (rows * bytes)).min(cut.rows / rows).clamp(1, slices);
        let together = (most / bytes).min(cut.rows).clamp(1, rows);
        Parts { rect, step: [whole, together, bytes.min(most)], next: Some([0; 3]) }
    }
}

/// The parts of a rectangle that are still to come, in the order of memory.
#[derive(Clone, Debug)]
pub struct Parts {
    rect: Rect,
    step: [u64; 3],
    /// The slice, the row and the byte at which the next one begins.
    next: Option<[u64; 3]>,
}

impl Parts {
    /// No part is left.
    pub fn is_over(&self) -> bool {
        self.next.is_none()
    }
}

impl Iterator for Parts {
    type Item = Rect;

    fn next(&mut self) -> Option<Rect> {
        let Parts { rect, step, next } = self;
        let at = next.take()?;
        *next = behind(at, *step, rect.extent);
        Some(rect.within(at, std::array::from_fn(|d| step[d].min(rect.extent[d] - at[d]))))
    }
}

/// Where the part behind this one begins.
fn behind(mut at: [u64; 3], step: [u64; 3], extent: [u64; 3]) -> Option<[u64; 3]> {
    for d in (0..3).rev() {
        at[d] += step[d];
        if at[d] < extent[d] {
            return Some(at);
        }
        at[d] = 0;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rect(src_pitch: [u64; 2], dst_pitch: [u64; 2], extent: [u64; 3]) -> Rect {
        Rect { src: 1000, src_pitch, dst: 5, dst_pitch, extent }
    }

    #[test]
    fn rows_that_touch_at_both_ends_are_one() {
        for (src, dst, extent, joined) in [
            ([6, 2], [6, 2], [4, 3, 2], [1, 1, 24]),
            ([6, 2], [7, 2], [4, 3, 2], [1, 4, 6]),
            ([6, 2], [9, 3], [4, 3, 2], [4, 3, 2]),
            ([9, 1], [2, 1], [4, 1, 2], [1, 4, 2]),
            ([2, 1], [2, 1], [4, 1, 2], [1, 1, 8]),
        ] {
            let rect = rect(src, dst, extent);
            assert_eq!(rect.joined().extent, joined, "{rect:?}");
            let rows: Vec<Row> = rect.rows().collect();
            assert_eq!(rows.len() as u64, joined[0] * joined[1]);
            assert!(rows.iter().all(|row| row.bytes == joined[2]));
            let last = rows[rows.len() - 1];
            assert_eq!(last.src + last.bytes, rect.src + span(src, extent));
            assert_eq!(last.dst + last.bytes, rect.dst + span(dst, extent));
        }
    }

    #[test]
    fn parts_cover_a_rectangle_once_and_fit() {
        const MOST: u64 = 8 << 20;
        let cut = |rows| Cut { parts: 4, least: 1 << 20, most: MOST, rows };
        for (extent, rows, most) in [
            ([1, 1, 1], u64::MAX, 1),
            ([1, 1, MOST * 3 + 5], u64::MAX, 5),
            ([2, 3, MOST + 1], u64::MAX, 12),
            ([3, 70, 100_000], u64::MAX, 6),
            ([2, 9, 7], u64::MAX, 1),
            ([100_000, 2, 40], u64::MAX, 8),
            ([100_000, 2, 40], 1024, 196),
            ([3, 2000, 8], 1024, 6),
        ] {
            let [slices, all_rows, bytes] = extent;
            let (slice, row) = (all_rows * (bytes + 3) + 1, bytes + 3);
            let whole = rect([slice, row], [0, 0], extent);
            let (mut seen, mut count, mut last) = (0, 0, None);
            for part in whole.parts(&cut(rows)) {
                let size = part.extent.iter().product::<u64>();
                assert!(size <= MOST && part.extent[0] * part.extent[1] <= rows);
                assert!(part.extent[1] == 1 || part.extent[2] == bytes);
                assert!(part.extent[0] == 1 || part.extent[1] == all_rows);
                assert!(last.is_none_or(|last| last < part.src), "in the order of memory");
                last = Some(part.src);
                (seen, count) = (seen + size, count + 1);
            }
            assert_eq!(seen, slices * all_rows * bytes, "{extent:?}");
            assert!(count <= most, "{extent:?} in {count} parts");
            let mut parts = whole.parts(&cut(rows));
            assert!(!parts.is_over());
            assert_eq!((parts.by_ref().count(), parts.is_over()), (count, true));
        }
    }

    #[test]
    fn rows_that_touch_are_cut_as_one() {
        let cut = Cut { parts: 4, least: 1024, most: 8192, rows: 16 };
        let touching = rect([4000, 4], [4000, 4], [2, 1000, 4]);
        let sizes: Vec<u64> = touching.parts(&cut).map(|part| part.extent[2]).collect();
        assert_eq!(sizes, [2000; 4]);
    }

    #[test]
    fn a_packed_end_has_no_gaps() {
        let part = rect([100, 10], [200, 20], [2, 3, 4]);
        let [down, up] = [part.to_packed(7), part.from_packed(9)];
        assert_eq!((down.dst, down.dst_pitch, down.src_pitch), (7, [12, 4], [100, 10]));
        assert_eq!((up.src, up.src_pitch, up.dst_pitch), (9, [12, 4], [200, 20]));
    }
}
