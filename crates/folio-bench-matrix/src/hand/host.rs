//! The host's cores, by hand: rayon over chunks of slices, with loops that are compiled for the
//! same instruction sets as kernels are.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Elements that a thread takes at a time.
pub const CHUNK: usize = 1 << 14;

/// Values that a baseline owns together with what checks them. Its lock is taken once for many
/// runs.
pub struct Owned<T>(Arc<Mutex<Vec<T>>>);

impl<T> Clone for Owned<T> {
    fn clone(&self) -> Owned<T> {
        Owned(self.0.clone())
    }
}

impl<T> Owned<T> {
    /// The values.
    pub fn lock(&self) -> MutexGuard<'_, Vec<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Makes some.
pub fn owned<T>(values: Vec<T>) -> Owned<T> {
    Owned(Arc::new(Mutex::new(values)))
}

/// Gives each loop a version for each instruction set, and a function that takes the best.
macro_rules! loops {
    ($($vis:vis fn $name:ident($($arg:ident: $ty:ty),* $(,)?) $body:block)*) => {$(
        $vis fn $name($($arg: $ty),*) {
            #[inline(always)]
            fn any($($arg: $ty),*) $body
            #[cfg(target_arch = "x86_64")]
            {
                use folio::ir::device::Instructions;
                #[target_feature(enable = "avx2,fma")]
                fn avx2($($arg: $ty),*) { any($($arg),*) }
                #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")]
                fn avx512($($arg: $ty),*) { any($($arg),*) }
                match Instructions::best() {
                    // SAFETY: the processor has them.
                    Instructions::Avx512 => return unsafe { avx512($($arg),*) },
                    // SAFETY: as above.
                    Instructions::Avx2 => return unsafe { avx2($($arg),*) },
                    Instructions::Any => {}
                }
            }
            any($($arg),*)
        }
    )*};
}
pub(crate) use loops;

/// Turns in order, each in a task that spawns the next: how rayon launches what depends on the last
/// launch.
pub fn chain<T: Send + ?Sized>(turns: usize, data: &mut T, turn: impl Fn(&mut T) + Sync) {
    fn next<'s, T: Send + ?Sized>(
        scope: &rayon::Scope<'s>,
        left: usize,
        data: &'s mut T,
        turn: &'s (impl Fn(&mut T) + Sync),
    ) {
        turn(data);
        if left > 1 {
            scope.spawn(move |scope| next(scope, left - 1, data, turn));
        }
    }
    let turn = &turn;
    rayon::scope(|scope| scope.spawn(move |scope| next(scope, turns, data, turn)));
}

/// Copies, on all cores where that pays.
pub fn copy<T: Copy + Send + Sync>(from: &[T], to: &mut [T]) {
    use rayon::prelude::*;
    const PAYS: usize = 1 << 18;
    if size_of_val(from) <= PAYS {
        return to.copy_from_slice(from);
    }
    let chunk = PAYS / size_of::<T>();
    to.par_chunks_mut(chunk).zip(from.par_chunks(chunk)).for_each(|(to, from)| {
        to.copy_from_slice(from);
    });
}
