//! Loaded code by its handles. A launch looks a handle up without a lock.

use crate::lock;
use folio_core::hal::{HalError, HalErrorKind, KernelHandle};
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Mutex, OnceLock};

/// Room for 16 million kernels.
const SHELVES: usize = 24;

/// The loaded kernels, by the numbers of handles, which do not come again. Shelf `s` has room for
/// `2^s`.
#[derive(Debug)]
pub struct Kernels<T> {
    shelves: [OnceLock<Box<[AtomicPtr<T>]>>; SHELVES],
    /// How many numbers have been given.
    count: Mutex<u64>,
}

impl<T> Default for Kernels<T> {
    fn default() -> Kernels<T> {
        Kernels { shelves: [const { OnceLock::new() }; SHELVES], count: Mutex::new(0) }
    }
}

/// The shelf of a number, and its place there.
fn place(number: u64) -> (usize, usize) {
    let shelf = number.saturating_add(1).ilog2();
    (shelf as usize, (number.saturating_add(1) - (1 << shelf)) as usize)
}

impl<T> Kernels<T> {
    fn place(&self, number: u64) -> Option<&AtomicPtr<T>> {
        let (shelf, at) = place(number);
        self.shelves.get(shelf)?.get()?.get(at)
    }

    /// The kernel of a handle.
    pub fn get(&self, handle: KernelHandle) -> Result<&T, HalError> {
        let at = self.place(handle.0).map(|place| place.load(Ordering::Acquire));
        // SAFETY: null, or from `add`; `remove` takes it back when nothing uses this number any
        // more, which its caller promises.
        let found = at.and_then(|at| unsafe { at.as_ref() });
        found.ok_or_else(|| HalError::new(HalErrorKind::Driver, "a kernel that is not loaded"))
    }

    /// A handle for code that has been loaded.
    pub fn add(&self, loaded: T) -> Result<KernelHandle, HalError> {
        let full = || HalError::unsupported("more kernels");
        let mut count = lock(&self.count);
        let (number, (shelf, _)) = (*count, place(*count));
        let places = || (0..1usize << shelf).map(|_| AtomicPtr::default()).collect();
        self.shelves.get(shelf).ok_or_else(full)?.get_or_init(places);
        let place = self.place(number).ok_or_else(full)?;
        place.store(Box::into_raw(Box::new(loaded)), Ordering::Release);
        *count += 1;
        Ok(KernelHandle(number))
    }

    /// Takes back what a handle stands for.
    ///
    /// # Safety
    /// No reference that [`get`](Self::get) has given for this handle is used any more.
    pub unsafe fn remove(&self, handle: KernelHandle) -> Option<Box<T>> {
        let at = self.place(handle.0)?.swap(std::ptr::null_mut(), Ordering::AcqRel);
        // SAFETY: `add` made it from a box, and the swap has taken it once; the caller's promise.
        (!at.is_null()).then(|| unsafe { Box::from_raw(at) })
    }

    /// Takes back all that is still loaded, when the device goes.
    pub fn drain(&mut self) -> impl Iterator<Item = Box<T>> {
        let count = *lock(&self.count);
        // SAFETY: the borrow is exclusive, so there are no references.
        (0..count).filter_map(|number| unsafe { self.remove(KernelHandle(number)) })
    }
}

impl<T> Drop for Kernels<T> {
    fn drop(&mut self) {
        self.drain().for_each(drop);
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests may panic")]
mod tests {
    use super::*;

    #[test]
    fn kernels_have_places_of_their_own() {
        let places = (0..5000).map(place).collect::<Vec<_>>();
        assert_eq!(places[..4], [(0, 0), (1, 0), (1, 1), (2, 0)]);
        assert!(places.is_sorted() && places.windows(2).all(|two| two[0] != two[1]));
        assert!(places.iter().all(|(shelf, at)| *at < 1 << shelf));

        let mut kernels = Kernels::default();
        let get =
            |kernels: &Kernels<String>, number| kernels.get(KernelHandle(number)).ok().cloned();
        for number in 0..100 {
            assert_eq!(get(&kernels, number), None);
            assert_eq!(kernels.add(number.to_string()).unwrap(), KernelHandle(number));
        }
        assert!((0..100).all(|number| get(&kernels, number) == Some(number.to_string())));
        for number in [100, 5000, u64::from(u32::MAX), u64::MAX - 1, u64::MAX] {
            assert_eq!(get(&kernels, number), None);
        }
        // SAFETY: nothing of it is borrowed.
        let taken = [0, 1].map(|_| unsafe { kernels.remove(KernelHandle(7)) }.map(|taken| *taken));
        assert_eq!(taken, [Some("7".to_owned()), None]);
        assert_eq!((get(&kernels, 7), get(&kernels, 8)), (None, Some("8".to_owned())));
        let new = kernels.add("new".to_owned()).unwrap();
        assert_eq!(new, KernelHandle(100), "numbers do not come again");
        assert_eq!(kernels.drain().count(), 100);
        assert_eq!(get(&kernels, 8), None);
    }
}
