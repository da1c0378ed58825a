//! What own transforms look up, made once for each length.

use super::Real;
use crate::prelude::*;
use folio::ir::device::CastFrom;
use folio::{Runtime, Shared};
use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::f64::consts::TAU;
use std::sync::{Mutex, PoisonError};

/// Angles of the fine table: an angle is a multiple of so many, and a rest.
pub(super) const FINE: usize = 4096;

/// `exp(-2 pi i k / n)`, as the product of a coarse and a fine one.
#[derive(Clone)]
pub(super) struct Roots<T: DeviceType> {
    pub(super) fine: Shared<[T; 2]>,
    pub(super) coarse: Shared<[T; 2]>,
}

/// `exp(-2 pi i k / n)`.
pub(super) fn root<T: Real>(k: usize, n: usize) -> [T; 2] {
    let angle = TAU * (k % n) as f64 / n as f64;
    let of = |x: f64| <T as CastFrom<f64>>::cast_from(x);
    [of(angle.cos()), of(-angle.sin())]
}

/// The chirps of a length that is no power of two, and their transform.
#[derive(Clone)]
pub(super) struct Chirps<T: DeviceType> {
    /// `exp(-pi i k k / n)`.
    pub(super) chirp: Shared<[T; 2]>,
    /// The forward transform of what is convolved with, in the last dimension; for each direction.
    pub(super) transformed: [Shared<[T; 2], 3>; 2],
}

/// Tables by type and length.
#[derive(Default)]
pub(crate) struct Tables(Mutex<HashMap<(TypeId, usize), Box<dyn Any + Send>>>);

impl Tables {
    fn known<V: Clone + Send + 'static>(
        &self,
        n: usize,
        make: impl FnOnce() -> Result<V>,
    ) -> Result<V> {
        let key = (TypeId::of::<V>(), n);
        let all = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let found = all().get(&key).and_then(|known| known.downcast_ref::<V>().cloned());
        if let Some(known) = found {
            return Ok(known);
        }
        // Without the lock: other tables are made of this one.
        let made = make()?;
        all().insert(key, Box::new(made.clone()));
        Ok(made)
    }

    pub(super) fn roots<T: Real>(&self, rt: &Runtime, n: usize) -> Result<Roots<T>> {
        self.known(n, || {
            let fine: Vec<[T; 2]> = (0..FINE.min(n)).map(|k| root(k, n)).collect();
            let coarse: Vec<[T; 2]> = (0..n.div_ceil(FINE)).map(|k| root(k * FINE, n)).collect();
            Ok(Roots {
                fine: rt.buffer_from(&fine)?.into_shared(),
                coarse: rt.buffer_from(&coarse)?.into_shared(),
            })
        })
    }

    pub(super) fn chirps<T: Real>(
        &self,
        n: usize,
        make: impl FnOnce() -> Result<Chirps<T>>,
    ) -> Result<Chirps<T>> {
        self.known(n, make)
    }
}
