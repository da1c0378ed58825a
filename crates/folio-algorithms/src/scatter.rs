//! Elements by index: gathered from their places, and scattered to them.

use crate::prelude::*;
use crate::{of_32_bits, of_one_length};
use folio::RacyMemory;

#[kernel]
fn gathered<T: Value>(i: Item, at: In<u32>, x: In<T>, y: Out<T>) {
    y[i] = x[at[i]];
}

/// No place that two indices name.
const NONE: u32 = u32::MAX;

/// Writes where no other item has claimed the place: each place has a bit. The least place that is
/// claimed twice is the first of `twice`, less than [`NONE`] by so much.
#[kernel]
fn scattered<T: Value>(
    i: Item,
    at: In<u32>,
    x: In<T>,
    claims: Atomic<u32>,
    twice: Atomic<u32>,
    y: Racy<T>,
) {
    let k = at[i];
    let bit = 1 << (k % 32);
    // A place outside of `y` fails there, with its number.
    let claimed = if (k as usize) < y.len() { claims.or(k / 32, bit) } else { 0 };
    if claimed & bit == 0 {
        y[k] = x[i];
    } else {
        twice.max(0, NONE - k);
    }
}

/// Items that look for the indices of a place, and how many indices each looks at.
const LOOK: usize = 1 << 12;

/// Finds the first and the last index that names the place that is claimed twice.
#[kernel]
fn claimants(i: Item, at: In<u32>, twice: Atomic<u32>) {
    let place = NONE - twice.load(0);
    if place != NONE {
        let end = ((i.index() + 1) * LOOK).min(at.len());
        for k in i.index() * LOOK..end {
            if at[k] == place {
                twice.max(1, NONE - k as u32);
                twice.max(2, k as u32);
            }
        }
    }
}

/// Fails by an index that is the two indices of a place.
#[kernel]
fn refused<T: Value>(i: Item, twice: In<u32>, indices_of_one_place: In<u32, 2>, y: Racy<T>) {
    let place = NONE - twice[0];
    if place != NONE {
        let first = NONE - twice[1];
        let is_there = indices_of_one_place[(first as usize, twice[2] as usize)];
        if is_there != 0 {
            y[i.index()] = y[place];
        }
    }
}

/// `y[i] = x[at[i]]`. An index beyond `x` fails the command.
///
/// ```
/// let rt = folio::runtime()?;
/// let q = rt.queue()?;
/// let (at, x) = (rt.buffer_from(&[2u32, 0, 2])?, rt.buffer_from(&[0.5, 1.5, 2.5])?);
/// let mut y = rt.buffer::<f64, 1>(3)?;
/// folio::algorithms::gather(&q, &at, &x, &mut y)?;
/// assert_eq!(y.to_vec()?, [2.5, 0.5, 2.5]);
/// # Ok::<(), folio::Error>(())
/// ```
pub fn gather<T: DeviceType + Value>(
    q: &Queue,
    at: impl AsPart<u32, 1>,
    x: impl AsPart<T, 1>,
    mut y: impl AsPartMut<T, 1>,
) -> Result<()> {
    let (at, x, mut y) = (at.slice_all(), x.slice_all(), y.slice_all_mut());
    of_one_length("gather", at.len(), y.len())?;
    q.run(y.range(), gathered::<T>(&at, &x, &mut y))?;
    Ok(())
}

/// `y[at[i]] = x[i]`; elements that no index names stay. An index beyond `y` fails the command, and
/// so do two equal indices: the failure is an index outside of `indices_of_one_place`, which
/// consists of the two places in `at`.
///
/// ```
/// let rt = folio::runtime()?;
/// let q = rt.queue()?;
/// let (at, x) = (rt.buffer_from(&[2u32, 0])?, rt.buffer_from(&[0.5, 1.5])?);
/// let mut y = rt.buffer_from(&[9.0f64, 9.0, 9.0])?;
/// folio::algorithms::scatter(&q, &at, &x, &mut y)?;
/// assert_eq!(y.to_vec()?, [1.5, 9.0, 0.5]);
///
/// let at = rt.buffer_from(&[1u32, 1])?;
/// folio::algorithms::scatter(&q, &at, &x, &mut y)?;
/// let failure = y.to_vec().unwrap_err().to_string();
/// assert!(failure.contains("[0, 1] is outside of `indices_of_one_place`"), "{failure}");
/// # Ok::<(), folio::Error>(())
/// ```
pub fn scatter<T: DeviceType + Value>(
    q: &Queue,
    at: impl AsPart<u32, 1>,
    x: impl AsPart<T, 1>,
    mut y: impl AsPartMut<T, 1>,
) -> Result<()> {
    let (at, x, mut y, rt) = (at.slice_all(), x.slice_all(), y.slice_all_mut(), q.runtime());
    of_one_length("scatter", at.len(), x.len())?;
    of_32_bits::<T>("scatter of", at.len())?;
    let (mut claims, mut twice) = (rt.buffer(y.len().div_ceil(32))?, rt.buffer(3)?);
    let (nowhere, q) = (rt.buffer([1, 1])?, &q.undivided());
    // By commands, so that each run of a graph begins so.
    q.fill(&mut claims, 0)?;
    q.fill(&mut twice, 0)?;
    // SAFETY: an item writes a place after it has set the place's bit, which one item alone finds
    // unset, and reads none.
    let shared = unsafe { RacyMemory::new(&mut y) };
    q.run(at.len(), scattered::<T>(&at, &x, &mut claims, &mut twice, shared))?;
    q.run(at.len().div_ceil(LOOK), claimants(&at, &mut twice))?;
    // SAFETY: there is one item.
    let shared = unsafe { RacyMemory::new(&mut y) };
    q.run(1, refused::<T>(&twice, &nowhere, shared))?;
    Ok(())
}
