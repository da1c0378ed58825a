//! Sets of bytes with the shape of a pitched rectangle. Pure.

use folio_core::geom::linear;
use folio_core::hal::Param;

/// `extent[0]` slices of `extent[1]` rows of `extent[2]` bytes each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Region {
    pub(super) start: u64,
    pitch: [u64; 2],
    extent: [u64; 3],
    /// Bytes from the first to one past the last.
    span: u64,
}

impl Region {
    /// `None` when it is empty or when its end overflows.
    pub(super) fn new(start: u64, pitch: [u64; 2], extent: [u64; 3]) -> Option<Region> {
        let slices = extent[0].checked_sub(1)?.checked_mul(pitch[0])?;
        let rows = extent[1].checked_sub(1)?.checked_mul(pitch[1])?;
        extent[2].checked_sub(1)?;
        let span = slices.checked_add(rows)?.checked_add(extent[2])?;
        start.checked_add(span)?;
        let (mut pitch, mut extent) = (pitch, extent);
        if extent[1] > 1 && pitch[1] == extent[2] {
            extent = [extent[0], 1, extent[1] * extent[2]];
        }
        if extent[1] == 1 {
            (pitch[1], extent) = (pitch[0], [1, extent[0], extent[2]]);
            if pitch[1] == extent[2] {
                extent = [1, 1, extent[1] * extent[2]];
            }
        }
        Some(Region { start, pitch, extent, span })
    }

    /// The region that a launch touches of a parameter, counted from the start of the allocation.
    /// `None` also when the box leaves the shape.
    pub(super) fn of_param(param: &Param) -> Option<Region> {
        let (dims, size) = (param.dims, u64::from(param.size));
        let inside = (0..3).all(|d| {
            param.origin[d].checked_add(param.extent[d]).is_some_and(|end| end <= dims[d])
        });
        let whole = folio_core::geom::checked_volume(dims)? as u64;
        whole.checked_mul(size)?;
        let row = dims[2] as u64 * size;
        let start = param.mem.offset.checked_add(linear(dims, param.origin) as u64 * size)?;
        let [slices, rows, cells] = param.extent.map(|n| n as u64);
        let region = Region::new(start, [dims[1] as u64 * row, row], [slices, rows, cells * size]);
        region.filter(|_| inside)
    }

    /// The end, behind the last byte.
    pub(super) fn end(&self) -> u64 {
        self.start + self.span
    }

    /// The same bytes counted from elsewhere.
    pub(super) fn at(mut self, start: u64) -> Region {
        self.start = start;
        self
    }

    /// A row of it overlaps another row of it.
    pub(super) fn overlaps_itself(&self) -> bool {
        let [slices, rows, bytes] = self.extent;
        if rows > 1 && self.pitch[1] < bytes {
            return true;
        }
        let slice = Region { extent: [1, rows, bytes], span: 0, ..*self };
        let slice = Region { span: (rows - 1) * self.pitch[1] + bytes, ..slice };
        let near = slice.span.div_ceil(self.pitch[0].max(1)).min(slices);
        (1..near).any(|z| slice.overlaps(&slice.at(self.start + z * self.pitch[0])))
    }

    /// They share a byte.
    pub(super) fn overlaps(&self, other: &Region) -> bool {
        if self.end() <= other.start || other.end() <= self.start {
            return false;
        }
        let rows = |r: &Region| r.extent[0] * r.extent[1];
        let (few, many) = if rows(self) <= rows(other) { (self, other) } else { (other, self) };
        let [slices, rows, bytes] = few.extent;
        (0..slices).any(|z| {
            (0..rows).any(|y| {
                let low = few.start + z * few.pitch[0] + y * few.pitch[1];
                many.touches(low, low + bytes)
            })
        })
    }

    /// Whether it has a byte in `low..high`.
    fn touches(&self, low: u64, high: u64) -> bool {
        let [slices, rows, bytes] = self.extent;
        (0..slices).any(|z| {
            let base = self.start + z * self.pitch[0];
            // The first row that ends after `low`.
            let y = match low.checked_sub(base + bytes) {
                Some(beyond) if self.pitch[1] > 0 => beyond / self.pitch[1] + 1,
                Some(_) => rows,
                None => 0,
            };
            y < rows && base + y * self.pitch[1] < high
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(start: u64, pitch: [u64; 2], extent: [u64; 3]) -> Vec<u64> {
        let mut out = Vec::new();
        for z in 0..extent[0] {
            for y in 0..extent[1] {
                let row = start + z * pitch[0] + y * pitch[1];
                out.extend(row..row + extent[2]);
            }
        }
        out
    }

    #[test]
    fn overlap_is_exact() {
        let mut shapes = Vec::new();
        for start in [0, 3, 8] {
            for pitch in [[20, 4], [9, 3], [2, 10], [16, 8], [4, 4]] {
                for extent in [[1, 1, 1], [1, 3, 2], [2, 2, 2], [2, 3, 1], [3, 1, 4], [2, 2, 4]] {
                    shapes.push((start, pitch, extent));
                }
            }
        }
        for a in &shapes {
            let (ra, ba) = (Region::new(a.0, a.1, a.2).unwrap(), bytes(a.0, a.1, a.2));
            let mut unique = ba.clone();
            unique.sort_unstable();
            unique.dedup();
            assert_eq!(ra.overlaps_itself(), unique.len() < ba.len(), "{a:?}");
            for b in &shapes {
                let (rb, bb) = (Region::new(b.0, b.1, b.2).unwrap(), bytes(b.0, b.1, b.2));
                assert_eq!(ra.overlaps(&rb), ba.iter().any(|x| bb.contains(x)), "{a:?} {b:?}");
            }
        }
    }

    #[test]
    fn empty_and_overflowing_regions_are_none() {
        assert_eq!(Region::new(0, [0; 2], [1, 0, 4]), None);
        assert_eq!(Region::new(8, [0; 2], [1, 1, u64::MAX]), None);
        assert_eq!(Region::new(0, [u64::MAX, 0], [3, 1, 1]), None);
    }
}
