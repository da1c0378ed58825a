//! Host guards: the host's access to a buffer, for as long as they live.

mod index;
mod loan;

pub use loan::Loan;

use super::View;
use super::part::Part;
use crate::element::DeviceType;
use crate::engine::guard::{GuardGrant, GuardPlace};
use crate::engine::pages::tracker::leaks_inside;
use crate::engine::terms::access::Mode;
use crate::error::{Error, Result};
use crate::event::Event;
use crate::geom::{Box3, linear};
use crate::managed::whereabouts::HostAccess;
use std::future::Future;
use std::marker::PhantomData;
use std::ops::DerefMut;
use std::pin::Pin;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll};

/// A guard that is held: gives itself back when dropped.
struct GuardLease {
    view: View,
    part: Box3,
    taken: GuardGrant,
    _managed: Option<HostAccess>,
}

impl GuardLease {
    /// On the host.
    fn take(part: &Part, mode: Mode) -> Result<GuardLease> {
        let reachable = part.view.storage.host_reachable.load(Ordering::Relaxed);
        GuardLease::take_at(part, mode, GuardPlace::Host { reachable })
    }

    fn take_at(part: &Part, mode: Mode, at: GuardPlace) -> Result<GuardLease> {
        let (elements, mode, managed) = GuardLease::asked(part, mode)?;
        let storage = &part.view.storage;
        let taken = storage.core.engine.take_guard(storage.id, elements, mode, at)?;
        Ok(GuardLease { view: part.view.clone(), part: part.part, taken, _managed: managed })
    }

    /// The error of a guard that would be refused.
    fn check(part: &Part, mode: Mode, at: GuardPlace) -> Result<()> {
        let (elements, mode, _managed) = GuardLease::asked(part, mode)?;
        let storage = &part.view.storage;
        storage.core.engine.check_guard(storage.id, elements, mode, at)
    }

    /// What a guard accesses, if it may be asked for.
    fn asked(part: &Part, mode: Mode) -> Result<(Box3, Mode, Option<HostAccess>)> {
        if part.view.storage.borrowed.load(Ordering::Relaxed) {
            let what = "host guards of a view; use `to_vec`, or a host task".to_owned();
            return Err(Error::Unsupported { device: "a scope".to_owned(), what });
        }
        let (elements, exact) = part.view.in_storage(&part.part);
        let mode = if exact { mode } else { widened(mode) };
        let storage = &part.view.storage;
        let managed = HostAccess::begin(storage)?;
        storage.core.recordings.check(storage, &elements, mode)?;
        Ok((elements, mode, managed))
    }

    /// The part as a slice.
    fn run(&self) -> (usize, usize) {
        run_of(&self.view, &self.part).unwrap_or((0, 0))
    }

    fn shape<const D: usize>(&self) -> [usize; D] {
        let extent = self.part.extent();
        std::array::from_fn(|dim| extent[3 - D + dim])
    }
}

/// First element and length of a part that is contiguous in memory.
pub(super) fn run_of(view: &View, part: &Box3) -> Option<(usize, usize)> {
    if part.is_empty() {
        return Some((0, 0));
    }
    let (e, d) = (part.extent(), view.dims);
    let one_run = (e[0] == 1 || (e[1] == d[1] && e[2] == d[2])) && (e[1] == 1 || e[2] == d[2]);
    one_run.then(|| (linear(d, part.min), part.volume()))
}

/// Copies a part to a new vector, row after row, in the order of the commands: no guard is held.
pub(crate) fn vec_of<T: DeviceType>(part: &Part) -> Result<Vec<T>> {
    let _managed = HostAccess::begin(&part.view.storage)?;
    vec_from_anywhere(part)
}

/// As [`vec_of`], wherever a managed pointer is accessible.
pub(crate) fn vec_from_anywhere<T: DeviceType>(part: &Part) -> Result<Vec<T>> {
    let Part { view, part, .. } = part;
    let (storage, (elements, _)) = (&view.storage, view.in_storage(part));
    let (engine, len) = (&storage.core.engine, part.volume());
    storage.core.recordings.check(storage, &elements, Mode::Read)?;
    let mut all = Vec::new();
    all.try_reserve_exact(len).map_err(|_| Error::OutOfMemory {
        device: "host".to_owned(),
        what: "vector of buffer",
        label: storage.label.clone(),
        asked: (len * size_of::<T>()) as u64,
        in_use: engine.host_budget.in_use(),
        limit: engine.host_budget.limit(),
    })?;
    let reachable = storage.host_reachable.load(Ordering::Relaxed);
    engine.read_on_host(storage.id, elements, reachable, |host| {
        let mut copy = |(start, len)| {
            // SAFETY: the part lies in the host allocation, whose data has arrived; no command
            // writes it before this operation is over; every bit pattern is a `T`.
            all.extend_from_slice(unsafe {
                std::slice::from_raw_parts(host.0.cast::<T>().add(start), len)
            });
        };
        match run_of(view, part) {
            Some(run) => copy(run),
            None => (0..).map_while(|at| row_of(view, part, at)).for_each(copy),
        }
    })?;
    Ok(all)
}

fn contiguous(part: &Part) -> Result<()> {
    if run_of(&part.view, &part.part).is_some() {
        return Ok(());
    }
    Err(part.not_contiguous())
}

/// A write whose bytes are rounded up must keep what it does not cover.
pub(crate) fn widened(mode: Mode) -> Mode {
    if mode.discards() { Mode::Update } else { mode }
}

impl Drop for GuardLease {
    fn drop(&mut self) {
        if leaks_inside() {
            return;
        }
        self.view.storage.core.engine.give_guard(self.view.storage.id, self.taken.id);
    }
}

/// The host's access to read a part of a buffer that is contiguous in memory, as a slice.
///
/// ```
/// # fn main() -> folio_core::Result<()> {
/// # let rt = folio_core::Runtime::builder().build()?;
/// let mut x = rt.buffer_from(&[1, 2, 3])?;
/// for x in &mut x.write()? {
///     *x += 1;
/// }
/// assert_eq!(format!("{:?}", x.read()?), "[2, 3, 4]");
/// assert_eq!(x.read()?.iter().sum::<i32>(), 9);
/// # Ok(())
/// # }
/// ```
pub struct ReadGuard<T: DeviceType, const D: usize = 1> {
    held: GuardLease,
    _elements: PhantomData<T>,
}

/// The host's only access to a part of a buffer that is contiguous in memory, as a slice.
pub struct WriteGuard<T: DeviceType, const D: usize = 1> {
    held: GuardLease,
    _elements: PhantomData<T>,
}

/// The host's access to read a part of a buffer, row after row.
pub struct ReadRows<T: DeviceType, const D: usize = 1>(ReadGuard<T, D>);

/// The host's only access to a part of a buffer, row after row.
pub struct WriteRows<T: DeviceType, const D: usize = 1>(WriteGuard<T, D>);

fn wait(held: GuardLease) -> Result<GuardLease> {
    held.view.storage.core.engine.wait_guard(&held.taken)?;
    Ok(held)
}

impl<T: DeviceType, const D: usize> ReadGuard<T, D> {
    pub(crate) fn take(part: &Part) -> Result<ReadGuard<T, D>> {
        contiguous(part)?;
        Ok(ReadGuard { held: wait(GuardLease::take(part, Mode::Read)?)?, _elements: PhantomData })
    }
}

macro_rules! rows {
    ($name:ident) => {
        impl<T: DeviceType, const D: usize> $name<T, D> {
            /// Number of rows, in all slices together.
            pub fn rows(&self) -> usize {
                let [slices, rows, _] = self.0.held.part.extent();
                slices * rows
            }

            /// Number of elements.
            pub fn len(&self) -> usize {
                self.0.held.part.volume()
            }

            /// True when there are no elements.
            pub fn is_empty(&self) -> bool {
                self.len() == 0
            }

            /// Row `index` of the part, counted through all slices.
            pub fn row(&self, index: usize) -> Option<&[T]> {
                let (start, len) = row_of(&self.0.held.view, &self.0.held.part, index)?;
                // SAFETY: the guard's part lies in the host allocation, whose data has arrived;
                // no command writes it while the guard lives; every bit pattern is a `T`.
                Some(unsafe { slice_of(&self.0.held, start, len) })
            }
        }
    };
}
rows!(ReadRows);
rows!(WriteRows);

impl<T: DeviceType, const D: usize> ReadRows<T, D> {
    pub(crate) fn take(part: &Part) -> Result<ReadRows<T, D>> {
        let held = wait(GuardLease::take(part, Mode::Read)?)?;
        Ok(ReadRows(ReadGuard { held, _elements: PhantomData }))
    }

    /// Copies everything, row after row.
    pub fn to_vec(&self) -> Vec<T> {
        if self.0.held.part.is_empty() {
            // It may have any number of empty rows.
            return Vec::new();
        }
        (0..).map_while(|r| self.row(r)).flatten().copied().collect()
    }
}

impl<T: DeviceType, const D: usize> WriteRows<T, D> {
    pub(crate) fn take(part: &Part, mode: Mode) -> Result<WriteRows<T, D>> {
        let held = wait(GuardLease::take(part, mode)?)?;
        Ok(WriteRows(WriteGuard { held, _elements: PhantomData }))
    }

    /// As [`row`](Self::row), to write.
    pub fn row_mut(&mut self, index: usize) -> Option<&mut [T]> {
        let (start, len) = row_of(&self.0.held.view, &self.0.held.part, index)?;
        let host = self.0.held.taken.host.0.cast::<T>();
        // SAFETY: as in `row`; and no other guard or command reads while a write guard lives.
        Some(unsafe { std::slice::from_raw_parts_mut(host.wrapping_add(start), len) })
    }
}

/// # Safety
/// The elements lie in the held part, whose data has arrived and holds `T`s.
unsafe fn slice_of<T>(held: &GuardLease, start: usize, len: usize) -> &[T] {
    // SAFETY: the caller's promise; the allocation lives as long as the guard.
    unsafe { std::slice::from_raw_parts(held.taken.host.0.cast::<T>().wrapping_add(start), len) }
}

fn row_of(view: &View, part: &Box3, index: usize) -> Option<(usize, usize)> {
    let [slices, rows, columns] = part.extent();
    let (slice, row) = (index.checked_div(rows)?, index % rows);
    let [z, y, x] = part.min;
    (slice < slices).then(|| (linear(view.dims, [z + slice, y + row, x]), columns))
}

impl<'g, T: DeviceType, const D: usize> IntoIterator for &'g mut WriteGuard<T, D> {
    type Item = &'g mut T;
    type IntoIter = std::slice::IterMut<'g, T>;
    fn into_iter(self) -> Self::IntoIter {
        self.iter_mut()
    }
}

impl<T: DeviceType, const D: usize> WriteGuard<T, D> {
    pub(crate) fn take(part: &Part, mode: Mode) -> Result<WriteGuard<T, D>> {
        contiguous(part)?;
        Ok(WriteGuard { held: wait(GuardLease::take(part, mode)?)?, _elements: PhantomData })
    }
}

impl<T: DeviceType, const D: usize> DerefMut for WriteGuard<T, D> {
    fn deref_mut(&mut self) -> &mut [T] {
        let (start, len) = self.held.run();
        let host = self.held.taken.host.0.cast::<T>();
        // SAFETY: as in `WriteRows::row_mut`.
        unsafe { std::slice::from_raw_parts_mut(host.wrapping_add(start), len) }
    }
}

/// A [`ReadGuard`] that is on its way. Holds the guard from the start: commands that would write
/// are refused while it lives.
pub struct ReadFuture<T: DeviceType, const D: usize = 1> {
    held: Option<GuardLease>,
    event: Event,
    _elements: PhantomData<fn() -> T>,
}

impl<T: DeviceType, const D: usize> ReadFuture<T, D> {
    pub(crate) fn take(part: &Part) -> Result<ReadFuture<T, D>> {
        contiguous(part)?;
        let held = GuardLease::take(part, Mode::Read)?;
        let event = Event::new(part.view.storage.core.clone(), held.taken.stamp);
        Ok(ReadFuture { held: Some(held), event, _elements: PhantomData })
    }

    /// Waits for it.
    pub fn wait(self) -> Result<ReadGuard<T, D>> {
        self.event.wait()?;
        self.finish()
    }

    fn finish(mut self) -> Result<ReadGuard<T, D>> {
        self.held
            .take()
            .map_or(Err(Error::ShutDown), |held| Ok(ReadGuard { held, _elements: PhantomData }))
    }
}

impl<T: DeviceType, const D: usize> Future for ReadFuture<T, D> {
    type Output = Result<ReadGuard<T, D>>;
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match Pin::new(&mut self.event).poll(cx) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(Err(error)) => {
                self.held = None;
                Poll::Ready(Err(error))
            }
            Poll::Ready(Ok(())) => Poll::Ready(match self.held.take() {
                Some(held) => Ok(ReadGuard { held, _elements: PhantomData }),
                None => Err(Error::ShutDown),
            }),
        }
    }
}
