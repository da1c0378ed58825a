//! Shapes of launches that are found by measuring. A device can cut the items of a launch into
//! blocks and threads in several ways, its *shapes* ([`Caps::shapes`](crate::hal::Caps::shapes)),
//! whose results have the same bits. Where a program asks for it, launches that it makes anyway
//! take one shape after the other and are timed by the device; none runs once more for it. The
//! answer is kept on disk, beside compiled programs.
//!
//! [`Trial`] decides, and is a value: numbers in, a shape out.

use crate::call::{AnyCall, RunsIn};
use crate::error::Result;
use crate::event::Event;
use crate::hal::{DeviceInfo, Geometry};
use crate::items::IntoItems;
use crate::queue::Queue;
use crate::runtime::Runtime;
use crate::sync::Mutex;
use crate::sync::atomic::{AtomicBool, Ordering};
use folio_cache::{Cache, Key};
use folio_kernel::code::Code;
use std::collections::HashMap;

/// Each shape is measured so often before one is chosen, and has to be better each time.
const ROUNDS: usize = 2;
/// Another shape than the default is chosen where it takes less than so many hundredths.
const WORTH: u128 = 98;

/// Whose launches are alike: of one kernel on one device, with about as many items.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Alike {
    /// The address of its code, which lives as long as the program.
    code: usize,
    device: u16,
    /// The logarithm of the number of items.
    size: u32,
}

impl Alike {
    fn new(code: &'static Code, device: u16, items: usize) -> Alike {
        let size = items.checked_ilog2().unwrap_or(0);
        Alike { code: std::ptr::from_ref(code).addr(), device, size }
    }
}

/// Measurements of a kernel's shapes, and what follows from them.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Trial {
    /// Nanoseconds of launches so far, of one shape after the other, round after round.
    Open(Vec<u64>),
    /// A shape, after so many measurements: none where it was found on disk.
    Chosen(u8, usize),
}

impl Trial {
    /// The shape to be measured next.
    fn next(&self, shapes: u8) -> Option<u8> {
        match self {
            Trial::Open(times) => Some((times.len() % usize::from(shapes.max(1))) as u8),
            Trial::Chosen(..) => None,
        }
    }

    /// Adds a measurement of a shape, unless another thread has just measured it. Tells whether
    /// that was the last one.
    fn note(&mut self, shape: u8, shapes: u8, nanoseconds: u64) -> bool {
        if self.next(shapes) != Some(shape) {
            return false;
        }
        let Trial::Open(times) = self else { return false };
        times.push(nanoseconds);
        if times.len() < ROUNDS * usize::from(shapes) {
            return false;
        }
        *self = Trial::Chosen(best(times, usize::from(shapes)), times.len());
        true
    }
}

/// The best of so many shapes: better than the default in each round, and the fastest of those in
/// all rounds together; or else the default.
fn best(times: &[u64], shapes: usize) -> u8 {
    let of =
        |shape: usize| times.iter().skip(shape).step_by(shapes.max(1)).copied().map(u128::from);
    let better =
        |shape: &usize| of(*shape).zip(of(0)).all(|(own, usual)| 100 * own < WORTH * usual);
    (1..shapes).filter(better).min_by_key(|shape| of(*shape).sum::<u128>()).unwrap_or(0) as u8
}

/// What a runtime has measured.
#[derive(Debug, Default)]
pub(crate) struct Tunings {
    /// Each launch is measured until its shape is chosen.
    all: bool,
    /// Something was chosen that is not the default. Until then a launch asks nothing more.
    any: AtomicBool,
    trials: Mutex<HashMap<Alike, (Trial, &'static str)>>,
}

/// A shape that a runtime has chosen, or is about to: see [`Runtime::shapes`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TunedShape {
    /// The kernel's name.
    pub kernel: &'static str,
    /// The device's name.
    pub device: String,
    /// Launches of so many items, and of up to twice as many.
    pub items: usize,
    /// How many launches have been measured by this runtime.
    pub measured: usize,
    /// The number of the shape, where one is chosen; 0 is the device's usual one.
    pub chosen: Option<u8>,
}

impl Tunings {
    pub(crate) fn new(all: bool) -> Tunings {
        Tunings { all, ..Tunings::default() }
    }

    /// The shape of a launch that does not ask for one.
    pub(crate) fn chosen(&self, code: &'static Code, device: u16, geometry: &Geometry) -> u8 {
        if !self.any.load(Ordering::Acquire) {
            return 0;
        }
        let alike = Alike::new(code, device, geometry.items());
        match self.trials.lock().get(&alike) {
            Some((Trial::Chosen(shape, _), _)) => *shape,
            _ => 0,
        }
    }

    /// Has it used, if there is a choice.
    fn put(&self, alike: Alike, trial: Trial, name: &'static str) {
        let other = matches!(trial, Trial::Chosen(1.., _));
        self.trials.lock().insert(alike, (trial, name));
        if other {
            self.any.store(true, Ordering::Release);
        }
    }

    /// The shape that the next launch is to measure, if one is.
    fn next(
        &self,
        alike: Alike,
        shapes: u8,
        name: &'static str,
        stored: impl FnOnce() -> Option<u8>,
    ) -> Option<u8> {
        if let Some((trial, _)) = self.trials.lock().get(&alike) {
            return trial.next(shapes);
        }
        // Without the lock: the answer may be on disk.
        let trial = stored().map_or(Trial::Open(Vec::new()), |shape| Trial::Chosen(shape, 0));
        let next = trial.next(shapes);
        self.put(alike, trial, name);
        next
    }

    /// Adds a measurement, and tells of the choice if it follows from this one.
    fn note(&self, alike: Alike, shapes: u8, shape: u8, nanoseconds: u64) -> Option<u8> {
        let mut trials = self.trials.lock();
        let (trial, _) = trials.get_mut(&alike)?;
        let ended = trial.note(shape, shapes, nanoseconds);
        let Trial::Chosen(shape, _) = trial else { return None };
        if *shape != 0 {
            self.any.store(true, Ordering::Release);
        }
        ended.then_some(*shape)
    }
}

/// The name of a choice on disk. A driver's update may change what is best.
fn key_of(info: &DeviceInfo, code: &Code, alike: Alike) -> Key {
    let DeviceInfo { name, driver, uuid, compute_units, .. } = info;
    Key::named("shape", &code.name)
        .with(code.ir.to_string())
        .with(name)
        .with(driver)
        .with(uuid.unwrap_or_default())
        .with(format!("{compute_units} {} {}", info.caps.shapes, alike.size))
}

/// The choice of an earlier process.
fn stored(cache: &Cache, key: &Key, shapes: u8) -> Option<u8> {
    let load = |bytes: &[u8]| match bytes {
        [shape] if *shape < shapes => Some(*shape),
        _ => None,
    };
    // SAFETY: nothing is stored.
    unsafe { cache.get_or_make(key, load, || Err(())) }.ok()
}

/// Keeps a choice for later processes, if that is possible.
fn store(cache: &Cache, key: &Key, shape: u8) {
    let make = || Ok::<_, ()>(((), Some(vec![shape])));
    // SAFETY: of this kind are numbers, which no driver runs.
    let _ = unsafe { cache.get_or_make(key, |_| None, make) };
}

/// A launch that measures.
struct Measured {
    code: &'static Code,
    alike: Alike,
    shape: u8,
}

impl Queue {
    /// Runs a kernel call as [`run`](Self::run) does, and measures a *shape* of its launches: how
    /// the device cuts their items into blocks and threads. Each such call takes the next shape,
    /// waits for its end, and notes the device's time. When all shapes have been measured twice,
    /// the best one is chosen for all launches of this kernel with about as many items, if it took
    /// less than 0.98 of the usual one's time both times. From then on, and where the device has
    /// no choice, this is `run`. The choice is kept in the cache of compiled programs: a later
    /// process that calls this takes it from there, and measures nothing.
    ///
    /// Results have the same bits in every shape. With `FOLIO_TUNE=on` each `run` is such a call.
    /// Measured are kernels of items that combine no values, whose device compiles them and tells
    /// times, in queues of one device that are not recorded.
    ///
    /// ```
    /// use folio_core::ir::device::Kernel;
    /// use folio_core::{KernelCall, Queue, Result};
    ///
    /// fn steps<K: Kernel>(q: &Queue, call: impl Fn() -> KernelCall<K, 1>) -> Result<()> {
    ///     for _ in 0..100 {
    ///         q.tune(1 << 20, call())?; // after the first few, the same as `run`
    ///     }
    ///     for tuned in q.runtime().shapes() {
    ///         println!("{}: shape {:?}", tuned.kernel, tuned.chosen);
    ///     }
    ///     Ok(())
    /// }
    /// ```
    pub fn tune<const D: usize>(
        &self,
        items: impl IntoItems<D>,
        call: impl RunsIn<D>,
    ) -> Result<Event> {
        self.tune_call(&items.into_items().geometry(), &mut call.call().any)
    }

    /// Each launch is measured.
    #[inline]
    pub(crate) fn tunes(&self) -> bool {
        self.inner.core.engine.tunings.all
    }

    pub(crate) fn tune_call(&self, items: &Geometry, call: &mut AnyCall) -> Result<Event> {
        let count = items.range.iter().copied().try_fold(1, usize::checked_mul);
        let grouped = items.group.is_some() || !call.kernel.function.group.is_empty();
        let has_shapes = !grouped && !call.scatters();
        let code = call.kernel.code().ok();
        let code = code.filter(|code| has_shapes && code.reductions == 0);
        let measured = code.zip(count).and_then(|(code, count)| self.measured(code, count));
        let Some(measured) = measured else { return self.run_call(items, call) };
        self.measure(&measured, &mut |cg| cg.run_here(items, call))
    }

    /// What a launch of so many items of this kernel is to measure.
    fn measured(&self, code: &'static Code, items: usize) -> Option<Measured> {
        let [device] = *self.on_devices() else { return None };
        let engine = &self.inner.core.engine;
        let info = &engine.devices.get(usize::from(device))?.info;
        let shapes = info.caps.shapes;
        let fits = shapes > 1 && info.caps.timing && !info.caps.closures;
        if !fits || code.ir.shape.groups || self.recorder().ok()?.is_some() {
            return None;
        }
        let alike = Alike::new(code, device, items);
        let of_disk = || stored(&Cache::from_environment(), &key_of(info, code, alike), shapes);
        let shape = engine.tunings.next(alike, shapes, &code.name, of_disk)?;
        Some(Measured { code, alike, shape })
    }

    fn measure(
        &self,
        measured: &Measured,
        act: &mut dyn FnMut(&mut crate::group::CommandGroup),
    ) -> Result<Event> {
        let Measured { code, alike, shape } = *measured;
        let event = self.timed().submit(|cg| {
            act(cg);
            cg.set_shape(shape);
            Ok(())
        })?;
        // A thread that may not wait measures nothing, and a failed launch says nothing.
        let timing = event.wait_untold().then(|| event.timing()).flatten();
        let timing = timing.filter(|_| event.ended_well() == Some(true));
        let engine = &self.inner.core.engine;
        if let (Some(timing), Some(of)) = (timing, engine.devices.get(usize::from(alike.device))) {
            let (info, took) = (&of.info, timing.ended.saturating_sub(timing.started));
            if let Some(shape) = engine.tunings.note(alike, info.caps.shapes, shape, took) {
                store(&Cache::from_environment(), &key_of(info, code, alike), shape);
            }
        }
        Ok(event)
    }
}

impl Runtime {
    /// The shapes of launches that were measured or found on disk since this runtime was made, by
    /// kernel and number of items: see [`Queue::tune`].
    pub fn shapes(&self) -> Vec<TunedShape> {
        let engine = &self.core.engine;
        let trials = engine.tunings.trials.lock();
        let shape = |(alike, (trial, kernel)): (&Alike, &(Trial, &'static str))| {
            let device = engine.devices.get(usize::from(alike.device));
            let (measured, chosen) = match trial {
                Trial::Open(times) => (times.len(), None),
                Trial::Chosen(shape, measured) => (*measured, Some(*shape)),
            };
            let device = device.map(|device| device.name.clone()).unwrap_or_default();
            TunedShape { kernel, device, items: 1 << alike.size, measured, chosen }
        };
        let mut shapes: Vec<_> = trials.iter().map(shape).collect();
        shapes.sort_by(|a, b| (a.kernel, &a.device, a.items).cmp(&(b.kernel, &b.device, b.items)));
        shapes
    }
}

#[cfg(all(test, not(loom)))]
#[allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "helpers of tests may panic"
)]
mod tests {
    use super::*;

    /// The choice after these measurements, each of all shapes.
    fn choice(rounds: [&[u64]; ROUNDS]) -> u8 {
        let (mut trial, shapes) = (Trial::Open(Vec::new()), rounds[0].len() as u8);
        for (at, time) in rounds.concat().into_iter().enumerate() {
            let last = at + 1 == ROUNDS * usize::from(shapes);
            let shape = trial.next(shapes).expect("one is to be measured");
            assert_eq!(usize::from(shape), at % usize::from(shapes));
            assert_eq!(trial.note(shape, shapes, time), last);
        }
        assert_eq!(trial.next(shapes), None);
        let Trial::Chosen(shape, _) = trial else { panic!("nothing is chosen: {trial:?}") };
        shape
    }

    #[test]
    fn a_shape_is_chosen_that_is_better_each_time() {
        assert_eq!(choice([&[100, 60, 50], &[100, 60, 50]]), 2);
        assert_eq!(choice([&[100, 60, 50], &[100, 60, 99]]), 1, "once is not enough");
        assert_eq!(choice([&[500, 99], &[100, 99]]), 0, "the first launch may have been slow");
        assert_eq!(choice([&[100, 98, 200], &[100, 98, 10]]), 0, "0.98 is not worth a change");
        assert_eq!(choice([&[100, 97], &[100, 97]]), 1);
        assert_eq!(choice([&[0, 0], &[0, 0]]), 0);
        assert_eq!(choice([&[u64::MAX, 1], &[u64::MAX, 1]]), 1);
        assert_eq!(choice([&[7], &[7]]), 0);
    }

    #[test]
    fn a_shape_that_another_thread_has_measured_is_not_noted_twice() {
        let mut trial = Trial::Open(Vec::new());
        assert!(!trial.note(0, 2, 10) && !trial.note(0, 2, 99));
        assert_eq!(trial, Trial::Open(vec![10]));
    }

    #[test]
    fn a_damaged_choice_is_no_choice() {
        let directory = std::env::temp_dir().join(format!("folio-shapes-{}", std::process::id()));
        // SAFETY: the test's own directory.
        let cache = unsafe { Cache::at(&directory) };
        let key = |name| Key::named("shape", name);
        store(&cache, &key("k"), 2);
        assert_eq!(stored(&cache, &key("k"), 4), Some(2));
        assert_eq!(stored(&cache, &key("k"), 2), None, "a shape that the device does not have");
        assert_eq!(stored(&cache, &key("other"), 4), None);
        for bytes in [vec![], vec![1, 1]] {
            let make = || Ok::<_, ()>(((), Some(bytes)));
            // SAFETY: no driver runs it.
            unsafe { cache.get_or_make(&key("odd"), |_| None, make) }.unwrap();
            assert_eq!(stored(&cache, &key("odd"), 4), None);
        }
        let files = std::fs::read_dir(directory.join("programs")).unwrap();
        for file in files.map(|file| file.unwrap().path()).filter(|path| path.is_file()) {
            std::fs::write(file, b"damaged").unwrap();
        }
        assert_eq!(stored(&cache, &key("k"), 4), None);
        store(&cache, &key("k"), 1);
        assert_eq!(stored(&cache, &key("k"), 4), Some(1));
        std::fs::remove_dir_all(directory).unwrap();
        assert_eq!(stored(&Cache::off(), &key("k"), 4), None);
    }
}
