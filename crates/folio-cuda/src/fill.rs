//! Fills. The driver knows patterns of 1, 2 and 4 bytes; others are written once, and then doubled.

use crate::copy::{Place, Rect, span};
use crate::driver::Context;
use crate::host::{Job, Rows};
use cudarc::driver::sys;
use folio_core::hal::{FillRect, HalError};

/// How much is written by the driver's small fills before it is doubled.
const SEED: u64 = 4096;

/// Puts a fill into a stream of the current context.
///
/// # Safety
/// When the stream comes to it, the memory is live and nobody else uses it.
pub(crate) unsafe fn enqueue(
    context: &Context,
    stream: sys::CUstream,
    fill: &FillRect,
    pattern: &[u8],
) -> Result<(), HalError> {
    let FillRect { dst, pitch, extent } = *fill;
    let pattern = period(pattern);
    let at = match Place::of(dst, span(pitch, extent)) {
        Place::Pageable(at) => {
            let job = Job::Fill { to: Rows { at, pitch }, extent, pattern: pattern.to_vec() };
            // SAFETY: the caller's promise.
            return unsafe { job.enqueue(context, stream) };
        }
        Place::Reached(at) | Place::Locked(at) => at,
    };
    let into = Fill { context, stream, pattern };
    // Both ends are the same: rows join as those of a copy do.
    let rect = Rect { src: at, src_pitch: pitch, dst: at, dst_pitch: pitch, extent }.joined();
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

/// What is doubled.
#[derive(Clone, Copy)]
enum By {
    Rows,
    Slices,
}

struct Fill<'f> {
    context: &'f Context,
    stream: sys::CUstream,
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
        let n = (bytes / self.pattern.len() as u64) as usize;
        let (pitch, rows, stream) = (pitch as usize, rows as usize, self.stream);
        // SAFETY: the caller's promise.
        let result = unsafe {
            match (self.pattern, rows) {
                (&[a], 1) => sys::cuMemsetD8Async(at, a, n, stream),
                (&[a], _) => sys::cuMemsetD2D8Async(at, pitch, a, n, rows, stream),
                (&[a, b], 1) => sys::cuMemsetD16Async(at, u16::from_ne_bytes([a, b]), n, stream),
                (&[a, b], _) => {
                    let value = u16::from_ne_bytes([a, b]);
                    sys::cuMemsetD2D16Async(at, pitch, value, n, rows, stream)
                }
                (&[a, b, c, d], 1) => {
                    sys::cuMemsetD32Async(at, u32::from_ne_bytes([a, b, c, d]), n, stream)
                }
                (&[a, b, c, d], _) => {
                    let value = u32::from_ne_bytes([a, b, c, d]);
                    sys::cuMemsetD2D32Async(at, pitch, value, n, rows, stream)
                }
                _ => return Err(HalError::unsupported("this pattern at once")),
            }
        };
        self.context.check("cuMemsetAsync", result)
    }

    /// One row with any pattern.
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
        unsafe { rect.enqueue(self.context, self.stream) }
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
