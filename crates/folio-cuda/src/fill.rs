//! Fills. The driver knows patterns of 1, 2 and 4 bytes; others are written once, and then doubled.

use crate::copy::{CopyEnd, enqueue_rect};
use crate::driver::Context;
use crate::host::Job;
use crate::way::{Set, Way};
use folio_core::hal::{FillRect, HalError};
use folio_driver::host::Rows;
use folio_driver::rect::{Rect, span};

/// How much is written by the driver's small fills before it is doubled.
const SEED: u64 = 4096;

/// Puts a fill where it goes, in the current context.
///
/// # Safety
/// When it is its turn, the memory is live and nobody else uses it.
pub(crate) unsafe fn enqueue(
    context: &Context,
    way: Way<'_>,
    fill: &FillRect,
    pattern: &[u8],
) -> Result<(), HalError> {
    let FillRect { dst, pitch, extent } = *fill;
    let pattern = period(pattern);
    let at = match CopyEnd::of(dst, span(pitch, extent)) {
        CopyEnd::Pageable(at) => {
            let job = Job::Fill { to: Rows { at, pitch }, extent, pattern: pattern.to_vec() };
            let stream = way.stream("fills of the host's memory")?;
            // SAFETY: the caller's promise.
            return unsafe { job.enqueue(context, stream) };
        }
        CopyEnd::Reached(at) | CopyEnd::Locked(at) => at,
    };
    let into = Fill { context, way, pattern };
    // Both ends are the same: rows join as those of a copy do.
    let rect = Rect { src: at, dst: at, ..Rect::from(fill) }.joined();
    let [slices, rows, bytes] = rect.extent;
    let [slice_pitch, row_pitch] = rect.dst_pitch;
    // SAFETY: the caller's promise, in each case.
    unsafe {
        if into.is_simple(at, row_pitch) {
            return (0..slices)
                .try_for_each(|slice| into.rows(at + slice * slice_pitch, row_pitch, bytes, rows));
        }
        into.row(at, bytes)?;
        into.again(at, rect.extent, rect.dst_pitch, By::Rows)?;
        into.again(at, rect.extent, rect.dst_pitch, By::Slices)
    }
}

/// The shortest pattern that gives the same bytes.
fn period(pattern: &[u8]) -> &[u8] {
    let repeats = |len: usize| pattern.iter().zip(&pattern[len..]).all(|(a, b)| a == b);
    let len = (1..=pattern.len()).find(|&len| pattern.len().is_multiple_of(len) && repeats(len));
    &pattern[..len.unwrap_or(pattern.len())]
}

/// The parts that are doubled.
#[derive(Clone, Copy)]
enum By {
    Rows,
    Slices,
}

struct Fill<'f> {
    context: &'f Context,
    way: Way<'f>,
    pattern: &'f [u8],
}

impl Fill<'_> {
    /// The driver can do it by itself.
    fn is_simple(&self, at: u64, pitch: u64) -> bool {
        let len = self.pattern.len() as u64;
        matches!(len, 1 | 2 | 4) && at.is_multiple_of(len) && pitch.is_multiple_of(len)
    }

    /// Rows, with a pattern that the driver knows.
    unsafe fn rows(&self, at: u64, pitch: u64, bytes: u64, rows: u64) -> Result<(), HalError> {
        let value = match *self.pattern {
            [a] => a.into(),
            [a, b] => u16::from_ne_bytes([a, b]).into(),
            [a, b, c, d] => u32::from_ne_bytes([a, b, c, d]),
            _ => return Err(HalError::unsupported("this pattern at once")),
        };
        let size = self.pattern.len() as u32;
        let (pitch, width) = (pitch as usize, (bytes / u64::from(size)) as usize);
        let set = Set { at, pitch, value, size, width, rows: rows as usize };
        // SAFETY: the caller's promise.
        unsafe { self.way.set(self.context, &set) }
    }

    /// Fills a row with any pattern.
    unsafe fn row(&self, at: u64, bytes: u64) -> Result<(), HalError> {
        let len = self.pattern.len() as u64;
        // Each byte of the pattern, again and again, is a column of a rectangle.
        let times = (SEED / len).max(1).min(bytes / len);
        for (column, byte) in self.pattern.iter().enumerate() {
            let one = Fill { pattern: std::slice::from_ref(byte), ..*self };
            // SAFETY: the caller's promise.
            unsafe { one.rows(at + column as u64, len, 1, times)? };
        }
        let mut have = times * len;
        while have < bytes {
            let more = have.min(bytes - have);
            // SAFETY: the caller's promise; what is there does not overlap what comes.
            unsafe { self.copy(at, at + have, [0; 2], [1, 1, more])? };
            have += more;
        }
        Ok(())
    }

    /// Doubles what is at `at` until there are `count` of it, `step` apart: rows of one slice, or
    /// slices of `rows` rows.
    unsafe fn again(
        &self,
        at: u64,
        [slices, rows, bytes]: [u64; 3],
        pitch: [u64; 2],
        by: By,
    ) -> Result<(), HalError> {
        let (count, step) = match by {
            By::Rows => (rows, pitch[1]),
            By::Slices => (slices, pitch[0]),
        };
        let mut have = 1;
        while have < count {
            let more = have.min(count - have);
            let extent = match by {
                By::Rows => [1, more, bytes],
                By::Slices => [more, rows, bytes],
            };
            // SAFETY: as in `row`.
            unsafe { self.copy(at, at + have * step, pitch, extent)? };
            have += more;
        }
        Ok(())
    }

    unsafe fn copy(
        &self,
        src: u64,
        dst: u64,
        pitch: [u64; 2],
        extent: [u64; 3],
    ) -> Result<(), HalError> {
        let rect = Rect { src, src_pitch: pitch, dst, dst_pitch: pitch, extent };
        // SAFETY: the caller's promise.
        unsafe { enqueue_rect(&rect, self.context, self.way) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_have_a_shortest_form() {
        assert_eq!(period(&[7; 12]), [7]);
        assert_eq!(period(&[1, 2, 1, 2]), [1, 2]);
        assert_eq!(period(&[1, 2, 1]), [1, 2, 1]);
        assert_eq!(period(&[0, 0, 0, 1]), [0, 0, 0, 1]);
        assert_eq!(period(&[]), []);
    }
}
