//! Views that items write anywhere, each element by one item: a word for each element tells which
//! item has claimed it.
//!
//! A claim is the number of an item's position and one more, and 0 is none. Claims are another
//! parameter of the kernel, atomic and of the same shape, which is zero before the launch. An item
//! writes an element after it has found its own claim there, or none. A claim never changes while
//! elements are written, so no two items write one element, whatever the indices are.

use super::atomic::{Atom, AtomInt};
use super::verdict::{Seen, note};
use super::view::write;
use super::{Atomic, Scatter, ScatterLast, Shared, Spot, View};

type Claims<'m, const D: usize> = View<'m, Atomic<u32, D>, u32, D>;

/// `v[at] = value`, where no other item has claimed the element; false, and a violation, where one
/// has. Beyond the extent that is noted, and nothing is written.
///
/// # Safety
/// The claims are those of the view, and `own` is that of the item that runs.
#[inline(always)]
#[track_caller]
pub unsafe fn scatter<T: Shared, const D: usize>(
    view: &View<'_, Scatter<T, D>, T, D>,
    claims: &Claims<'_, D>,
    own: u32,
    at: impl Spot<D>,
    value: T,
) -> bool {
    let at = at.spot();
    let Some(claim) = claims.element(at) else { return true };
    // SAFETY: an element of an atomic view, which is live, aligned, and used atomically.
    let holder = unsafe { AtomInt::compare_exchange(claim, 0, own, false) };
    if holder != 0 && holder != own {
        collide(view.number(), at, [holder, own]);
        return false;
    }
    write(view.element(at), value);
    true
}

/// `v[at] = value`, in a kernel that runs twice: at first the last item claims the element, then it
/// writes. Beyond the extent that is noted, and nothing is written.
///
/// # Safety
/// As for [`scatter`]; `turn` is that of the launch.
#[inline(always)]
#[track_caller]
pub unsafe fn scatter_last<T: Shared, const D: usize>(
    view: &View<'_, ScatterLast<T, D>, T, D>,
    claims: &Claims<'_, D>,
    (own, turn): (u32, u32),
    at: impl Spot<D>,
    value: T,
) {
    let at = at.spot();
    let Some(claim) = claims.element(at) else { return };
    // SAFETY: an element of an atomic view, which is live, aligned, and used atomically.
    let holder = unsafe {
        match turn {
            0 => AtomInt::max(claim, own, false),
            _ => Atom::load(claim, false),
        }
    };
    if turn != 0 && holder == own {
        write(view.element(at), value);
    }
}

#[cold]
#[inline(never)]
#[track_caller]
fn collide<const D: usize>(param: usize, at: [usize; D], claims: [u32; 2]) {
    let items = claims.map(|claim| claim.wrapping_sub(1) as usize);
    note(|| Seen::WrittenTwice { param, index: at.to_vec(), items });
}
