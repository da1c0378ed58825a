//! Atomic operations on elements (semantics 9), all of them relaxed. The macro makes calls of the
//! functions here of methods of atomic parameters.

use super::{Elements, Shared};
use std::sync::atomic::{
    AtomicI32, AtomicI64, AtomicIsize, AtomicU32, AtomicU64, AtomicUsize, Ordering::Relaxed,
};

/// A number with atomic operations, each of which gives what was there before.
///
/// # Safety
/// Zero and every other pattern of bits is a value, and each operation is that of semantics 9.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no atomic operations",
    label = "not atomic",
    note = "integers and floats of 32 or 64 bits are"
)]
pub unsafe trait Atom: Shared {
    /// Loads the value.
    ///
    /// # Safety
    /// Of this and the other functions: the element is live and aligned, and all who use it at the
    /// time do so atomically. If it is used `alone`, no other thread does.
    unsafe fn load(at: *mut Self, alone: bool) -> Self;
    /// Adds.
    ///
    /// # Safety
    /// As for `load`.
    unsafe fn add(at: *mut Self, value: Self, alone: bool) -> Self;
    /// Replaces.
    ///
    /// # Safety
    /// As for `load`.
    unsafe fn exchange(at: *mut Self, value: Self, alone: bool) -> Self;
}

/// An integer with atomic operations.
///
/// # Safety
/// As of [`Atom`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no such atomic operation",
    label = "no integer of 32 or 64 bits",
    note = "floats have `load`, `add` and `exchange`"
)]
#[expect(missing_docs, clippy::missing_safety_doc, reason = "named as what they do; as in `Atom`")]
pub unsafe trait AtomInt: Atom {
    unsafe fn sub(at: *mut Self, value: Self, alone: bool) -> Self;
    unsafe fn min(at: *mut Self, value: Self, alone: bool) -> Self;
    unsafe fn max(at: *mut Self, value: Self, alone: bool) -> Self;
    unsafe fn and(at: *mut Self, value: Self, alone: bool) -> Self;
    unsafe fn or(at: *mut Self, value: Self, alone: bool) -> Self;
    unsafe fn xor(at: *mut Self, value: Self, alone: bool) -> Self;
    unsafe fn compare_exchange(at: *mut Self, expected: Self, value: Self, alone: bool) -> Self;
}

/// Replaces an element by what `new` makes of it, without atomic operations: no other thread uses
/// it.
///
/// # Safety
/// The element is live and aligned, and no other code uses it.
#[inline(always)]
unsafe fn change<T: Copy>(at: *mut T, new: impl FnOnce(T) -> T) -> T {
    // SAFETY: the caller's promise.
    unsafe {
        let old = at.read();
        at.write(new(old));
        old
    }
}

macro_rules! operations {
    ($atomic:ident: $($name:ident = $fetch:ident |$old:ident, $value:ident| $new:expr;)*) => {$(
        #[inline(always)]
        unsafe fn $name(at: *mut Self, $value: Self, alone: bool) -> Self {
            if alone {
                // SAFETY: live, aligned, and of this thread alone: the caller's promise.
                return unsafe { change(at, |$old| $new) };
            }
            // SAFETY: live, aligned, and used atomically: the caller's promise.
            unsafe { $atomic::from_ptr(at) }.$fetch($value, Relaxed)
        }
    )*};
}

macro_rules! integers {
    ($($ty:ident $atomic:ident),*) => {$(
        #[diagnostic::do_not_recommend]
        // SAFETY: a number with the operations of semantics 9.
        unsafe impl Atom for $ty {
            #[inline(always)]
            unsafe fn load(at: *mut Self, _: bool) -> Self {
                // SAFETY: as above.
                unsafe { $atomic::from_ptr(at) }.load(Relaxed)
            }
            operations! { $atomic:
                add = fetch_add |old, value| old.wrapping_add(value);
                exchange = swap |_old, value| value;
            }
        }
        #[diagnostic::do_not_recommend]
        // SAFETY: a number with the operations of semantics 9.
        unsafe impl AtomInt for $ty {
            operations! { $atomic:
                sub = fetch_sub |old, value| old.wrapping_sub(value);
                min = fetch_min |old, value| Ord::min(old, value);
                max = fetch_max |old, value| Ord::max(old, value);
                and = fetch_and |old, value| old & value;
                or = fetch_or |old, value| old | value;
                xor = fetch_xor |old, value| old ^ value;
            }
            #[inline(always)]
            unsafe fn compare_exchange(
                at: *mut Self,
                expected: Self,
                value: Self,
                alone: bool,
            ) -> Self {
                if alone {
                    // SAFETY: as above.
                    return unsafe { change(at, |old| if old == expected { value } else { old }) };
                }
                // SAFETY: as above.
                let element = unsafe { $atomic::from_ptr(at) };
                let old = element.compare_exchange(expected, value, Relaxed, Relaxed);
                old.unwrap_or_else(|other| other)
            }
        }
    )*};
}
integers! { u32 AtomicU32, i32 AtomicI32, u64 AtomicU64, i64 AtomicI64, usize AtomicUsize,
isize AtomicIsize }

macro_rules! floats {
    ($($ty:ident $atomic:ident),*) => {$(
        #[diagnostic::do_not_recommend]
        // SAFETY: a number with the operations of semantics 9.
        unsafe impl Atom for $ty {
            #[inline(always)]
            unsafe fn load(at: *mut Self, _: bool) -> Self {
                // SAFETY: as above; the integer has the float's size and alignment.
                $ty::from_bits(unsafe { $atomic::from_ptr(at.cast()) }.load(Relaxed))
            }
            #[inline(always)]
            unsafe fn add(at: *mut Self, value: Self, alone: bool) -> Self {
                if alone {
                    // SAFETY: as above.
                    return unsafe { change(at, |old| old + value) };
                }
                // SAFETY: as above.
                let element = unsafe { $atomic::from_ptr(at.cast()) };
                let mut old = element.load(Relaxed);
                loop {
                    let new = ($ty::from_bits(old) + value).to_bits();
                    match element.compare_exchange_weak(old, new, Relaxed, Relaxed) {
                        Ok(_) => return $ty::from_bits(old),
                        Err(other) => old = other,
                    }
                }
            }
            #[inline(always)]
            unsafe fn exchange(at: *mut Self, value: Self, _: bool) -> Self {
                // SAFETY: as above.
                let element = unsafe { $atomic::from_ptr(at.cast()) };
                $ty::from_bits(element.swap(value.to_bits(), Relaxed))
            }
        }
    )*};
}
floats! { f32 AtomicU32, f64 AtomicU64 }

/// Elements that are used atomically only, by an index of type `I`.
///
/// # Safety
/// The element that `element` gives is live and aligned, and all who use it at the time do so
/// atomically. If they are used `alone`, no other thread does.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no atomic operations at an index of type `{I}`",
    label = "cannot be used atomically here",
    note = "`Atomic` and `LocalAtomic` have, at numbers, tuples of `usize` and items; local memory in phases only"
)]
pub unsafe trait Atoms<I>: Elements {
    /// Where an element is, if the index is in bounds; if not, that is noted.
    #[track_caller]
    fn element(&self, at: I) -> Option<*mut Self::Element>;

    /// Nobody else uses them now.
    fn are_alone(&self) -> bool;
}

macro_rules! calls {
    ($($name:ident, $bound:ident, ($($arg:ident),*);)*) => {$(
        /// The operation of this name. Out of bounds nothing is done, and zero is given.
        #[inline(always)]
        #[track_caller]
        pub fn $name<I, V>(of: &V, at: I $(, $arg: V::Element)*) -> V::Element
        where
            V: Elements + Atoms<I>,
            V::Element: $bound,
        {
            match of.element(at) {
                // SAFETY: of the atomic elements (`Atoms`).
                Some(element) => unsafe { V::Element::$name(element $(, $arg)*, of.are_alone()) },
                // SAFETY: a device type's zero bytes are a value (`Shared`).
                None => unsafe { std::mem::zeroed() },
            }
        }
    )*};
}
calls! {
    load, Atom, ();
    add, Atom, (value);
    exchange, Atom, (value);
    sub, AtomInt, (value);
    min, AtomInt, (value);
    max, AtomInt, (value);
    and, AtomInt, (value);
    or, AtomInt, (value);
    xor, AtomInt, (value);
    compare_exchange, AtomInt, (expected, value);
}
