//! Elements by index: gathered from their places, and scattered to them.

use crate::counts::too_large;
use crate::prelude::*;
use crate::{alone, of_one_length, private};
use folio::ir::device::CastFrom;
use folio::{RacyMemory, buffer::Overwritten};

#[kernel]
fn gathered<T: Value, I: Number>(i: Item, at: In<I>, x: In<T>, y: Out<T>)
where
    usize: CastFrom<I>,
{
    y[i] = x[at[i] as usize];
}

/// Writes where no other item has claimed the place: each place has a bit. `twice` has the
/// complement of the least word of bits with a place that is claimed twice.
#[kernel]
fn scattered<T: Value, I: Number>(
    i: Item,
    at: In<I>,
    x: In<T>,
    claims: Atomic<u32>,
    twice: Atomic<u32>,
    y: Racy<T>,
) where
    u64: CastFrom<I>,
{
    let k = at[i] as u64 as usize;
    let bit = 1u32 << (k % 32);
    // A place outside of `y` fails there, with its number.
    let claimed = if k < y.len() { claims.or(k / 32, bit) } else { 0 };
    if claimed & bit == 0 {
        y[k] = x[i];
    } else {
        twice.max(0, !((k / 32) as u32));
    }
}

/// Items that look for the indices of a place that is claimed twice.
const LOOK: usize = 256;

/// Fails by an index that is the first and the last index of the least place that is claimed twice.
#[kernel(group = 256)]
fn refused<T: Value, I: Number>(
    g: Group,
    at: In<I>,
    twice: In<u32>,
    claims: LocalAtomic<u32, 32>,
    indices_of_one_place: In<u32, 2>,
    y: Racy<T>,
) where
    u64: CastFrom<I>,
{
    if twice[0] > 0 {
        let word = !twice[0] as usize;
        g.each(|i| {
            for k in (i.local_index()..at.len()).step_by(LOOK) {
                let place = at[k] as u64 as usize;
                if place / 32 == word {
                    claims.add(place % 32, 1);
                }
            }
        });
        let bit = g.reduce::<Min>(|i| {
            let mut bit = 31usize;
            if i.local_index() < 32 {
                bit = if claims.load(i.local_index()) > 1 { i.local_index() } else { 31 };
            }
            bit
        });
        let place = word * 32 + bit;
        let first = g.reduce::<Min>(|i| {
            let mut first = usize::MAX;
            for k in (i.local_index()..at.len()).step_by(LOOK) {
                first = if at[k] as u64 as usize == place { first.min(k) } else { first };
            }
            first
        });
        let last = g.reduce::<Max>(|i| {
            let mut last = 0usize;
            for k in (i.local_index()..at.len()).step_by(LOOK) {
                last = if at[k] as u64 as usize == place { k } else { last };
            }
            last
        });
        g.each(|i| {
            let is_there = indices_of_one_place[(first, last)];
            if is_there != 0 {
                y[i.local_index()] = y[place];
            }
        });
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
pub fn gather<T, I>(
    q: &Queue,
    at: impl AsPart<I, 1>,
    x: impl AsPart<T, 1>,
    mut y: impl AsPartMut<T, 1>,
) -> Result<()>
where
    T: DeviceType + Value,
    I: Number + DeviceType,
    usize: CastFrom<I>,
{
    let (at, x, mut y) = (at.slice_all(), x.slice_all(), y.slice_all_mut());
    of_one_length("gather", at.len(), y.len())?;
    let items = y.range();
    // SAFETY: there is an item for each element.
    let all = unsafe { Overwritten::new(&mut y) };
    q.share(items, gathered::<T, I>(&at, &x, all))?;
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
pub fn scatter<T, I>(
    q: &Queue,
    at: impl AsPart<I, 1>,
    x: impl AsPart<T, 1>,
    mut y: impl AsPartMut<T, 1>,
) -> Result<()>
where
    T: DeviceType + Value,
    I: Number + DeviceType,
    u64: CastFrom<I>,
{
    let (at, x, mut y, rt) = (at.slice_all(), x.slice_all(), y.slice_all_mut(), q.runtime());
    of_one_length("scatter", at.len(), x.len())?;
    let words = y.len().div_ceil(32);
    // Words of bits have numbers of 32 bits.
    if u32::try_from(words).is_err() {
        return Err(too_large::<T>("scatter to", y.len()));
    }
    let mut claims = private(&rt, words)?;
    let (mut twice, nowhere) = (private(&rt, 1)?, rt.buffer([0, 0])?);
    let q = &alone(q, "scatter")?;
    // By commands, so that each run of a graph begins so.
    q.fill(&mut claims, 0)?;
    q.fill(&mut twice, 0)?;
    // SAFETY: an item writes a place after it has set the place's bit, which one item alone finds
    // unset, and reads none.
    let shared = unsafe { RacyMemory::new(&mut y) };
    q.run(at.len(), scattered::<T, I>(&at, &x, &mut claims, &mut twice, shared))?;
    // SAFETY: no index of `nowhere` is inside, so that none is written or read.
    let shared = unsafe { RacyMemory::new(&mut y) };
    q.run(LOOK, refused::<T, I>(&at, &twice, &nowhere, shared))?;
    Ok(())
}
