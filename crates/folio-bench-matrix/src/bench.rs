//! A workload, and the devices that it is given: each twice, by way of Folio and by hand.

use crate::error::{Error, Result};
use crate::hand::{Call, Hand, Native};
use crate::record::Work;
use folio::prelude::*;
use folio::{DeviceRef, UsmKind};
use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How much is measured.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effort {
    /// Minutes.
    Quick,
    /// The amount without an option.
    Normal,
    /// Every size.
    Full,
}

/// A kind of work, in modes and sizes. Adding one is adding a file; see `workloads/mod.rs`.
pub trait Workload: Sync {
    /// Its name in filters, tables and files.
    fn name(&self) -> &'static str;
    /// Its work, in a sentence.
    fn about(&self) -> &'static str;
    /// The things that a size counts.
    fn unit(&self) -> &'static str;
    /// The ways in which it is done; one of them may be empty.
    fn modes(&self) -> &'static [&'static str];
    /// The sizes of a mode for such a device. The size of a quick run comes first.
    fn sizes(&self, mode: &str, site: Site) -> Vec<usize>;
    /// Both sides of a row, with their data in place. An error for which
    /// [`is_skip`](Error::is_skip) holds leaves the row out, with the reason.
    fn prepare(&self, bench: &Bench, case: Case) -> Result<Pair>;
    /// Both sides are the same code, so that the ratio must read 1.0.
    fn is_control(&self) -> bool {
        false
    }
}

/// The facts on which sizes depend.
#[derive(Clone, Copy, Debug)]
pub struct Site {
    /// How much is measured.
    pub effort: Effort,
    /// The device has memory of its own, and much of it.
    pub is_gpu: bool,
}

impl Site {
    /// The first `quick` of these sizes, the first `normal` of them, or all.
    pub fn some(self, sizes: &[usize], quick: usize, normal: usize) -> Vec<usize> {
        let count = match self.effort {
            Effort::Quick => quick,
            Effort::Normal => normal,
            Effort::Full => sizes.len(),
        };
        sizes[..count.min(sizes.len())].to_vec()
    }

    /// As [`some`](Self::some) of powers of two, of those for CPUs or for GPUs.
    pub fn powers(self, cpu: &[u32], gpu: &[u32], quick: usize, normal: usize) -> Vec<usize> {
        let powers = if self.is_gpu { gpu } else { cpu };
        let sizes: Vec<usize> = powers.iter().map(|p| 1 << p).collect();
        self.some(&sizes, quick, normal)
    }
}

/// Which row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Case {
    /// The mode, of [`Workload::modes`].
    pub mode: &'static str,
    /// The size, of [`Workload::sizes`].
    pub size: usize,
}

/// Does its work so many times, and waits until all of it has ended.
pub type Run = Box<dyn FnMut(usize) -> Result<()>>;
/// Tells one side's results so far.
pub type Tell = Box<dyn FnMut() -> Result<Values>>;

/// A side of a row.
pub struct Side {
    /// Runs it.
    pub run: Run,
    /// Its results.
    pub results: Tell,
    /// The time that counts, where that is not all of it. The side adds to it.
    pub counted: Option<Counted>,
}

/// A part of a side's time.
#[derive(Clone, Default)]
pub struct Counted(Rc<Cell<Duration>>);

impl Counted {
    /// Does what counts.
    pub fn count<T>(&self, work: impl FnOnce() -> T) -> T {
        let started = Instant::now();
        let done = work();
        self.add(started.elapsed());
        done
    }

    /// Adds time that counts.
    pub fn add(&self, time: Duration) {
        self.0.set(self.0.get() + time);
    }

    /// How long that took since the last time this was asked.
    pub fn take(&self) -> Duration {
        self.0.take()
    }
}

impl Side {
    /// Only this counts of its time.
    pub fn counting(self, counted: &Counted) -> Side {
        Side { counted: Some(counted.clone()), ..self }
    }
}

/// Both sides of a row. They begin with equal data, run equally often, and must end with equal
/// results. Results change with the first run, so that a side that does nothing is found.
pub struct Pair {
    /// The work of one run.
    pub work: Work,
    /// The other side's name.
    pub against: String,
    /// By way of Folio.
    pub ours: Side,
    /// By hand.
    pub theirs: Side,
    /// By how much results may differ, by their size.
    pub tolerance: f64,
    /// The least size of a result: smaller ones may differ as this one.
    pub scale: f64,
}

/// The size of a result of which nothing more is known.
pub const LEAST_SIZE: f64 = 1e-3;

/// Results of one side.
#[derive(Clone, PartialEq, Debug)]
pub enum Values {
    /// Floats.
    F32(Vec<f32>),
    /// Counts.
    U32(Vec<u32>),
    /// Floats of twice the size.
    F64(Vec<f64>),
    /// Keys.
    U64(Vec<u64>),
}

impl From<Vec<f32>> for Values {
    fn from(values: Vec<f32>) -> Values {
        Values::F32(values)
    }
}

impl From<Vec<u32>> for Values {
    fn from(values: Vec<u32>) -> Values {
        Values::U32(values)
    }
}

impl From<Vec<f64>> for Values {
    fn from(values: Vec<f64>) -> Values {
        Values::F64(values)
    }
}

impl From<Vec<u64>> for Values {
    fn from(values: Vec<u64>) -> Values {
        Values::U64(values)
    }
}

impl From<Vec<[f32; 2]>> for Values {
    fn from(values: Vec<[f32; 2]>) -> Values {
        Values::F32(values.into_flattened())
    }
}

impl From<Vec<[f32; 4]>> for Values {
    fn from(values: Vec<[f32; 4]>) -> Values {
        Values::F32(values.into_flattened())
    }
}

impl Values {
    /// How many.
    pub fn count(&self) -> usize {
        match self {
            Values::F32(values) => values.len(),
            Values::U32(values) => values.len(),
            Values::F64(values) => values.len(),
            Values::U64(values) => values.len(),
        }
    }

    /// The element at a place.
    pub fn at(&self, at: usize) -> f64 {
        match self {
            Values::F32(values) => f64::from(values[at]),
            Values::U32(values) => f64::from(values[at]),
            Values::F64(values) => values[at],
            Values::U64(values) => values[at] as f64,
        }
    }

    /// Checks that these, which are ours, are close to those of the other side, as [`is_near`].
    pub fn check(&self, theirs: &Values, [tolerance, scale]: [f64; 2]) -> Result<()> {
        if self.count() != theirs.count() {
            return Err(Error::Lengths { ours: self.count(), theirs: theirs.count() });
        }
        for at in 0..self.count() {
            let (ours, theirs) = (self.at(at), theirs.at(at));
            if !is_near(ours, theirs, tolerance, scale) {
                return Err(Error::Mismatch { at, ours, theirs });
            }
        }
        Ok(())
    }
}

/// Whether values are equal but for a part of the larger one, or of `scale` if that is more. False
/// for what is not a number.
pub fn is_near(ours: f64, theirs: f64, tolerance: f64, scale: f64) -> bool {
    (ours - theirs).abs() <= tolerance * ours.abs().max(theirs.abs()).max(scale)
}

/// Floats from 0.5 to 1.5, `n` of them; equal for equal `seed` and `which`.
pub fn floats(seed: u64, n: usize, which: u64) -> Vec<f32> {
    let words = words(seed, n, which);
    words.into_iter().map(|word| 0.5 + (word >> 8) as f32 / (1 << 24) as f32).collect()
}

/// Random words (SplitMix64), `n` of them.
pub fn words(seed: u64, n: usize, which: u64) -> Vec<u32> {
    let mut state = seed ^ which.wrapping_mul(0xa076_1d64_78bd_642f);
    let mut next = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 32) as u32
    };
    (0..n).map(|_| next()).collect()
}

/// A device, by way of Folio and by hand.
pub struct Bench {
    /// The runtime, with all backends.
    pub rt: Runtime,
    /// A queue of the device.
    pub q: Queue,
    /// The device.
    pub device: DeviceRef,
    /// The other side.
    pub hand: Hand,
    /// Of data.
    pub seed: u64,
}

impl Bench {
    /// Floats from 0.5 to 1.5, `n` of them; equal for equal `which`.
    pub fn floats(&self, n: usize, which: u64) -> Vec<f32> {
        floats(self.seed, n, which)
    }

    /// Random words (SplitMix64), `n` of them.
    pub fn words(&self, n: usize, which: u64) -> Vec<u32> {
        words(self.seed, n, which)
    }

    /// A buffer with these values.
    pub fn buffer<T: DeviceType, const D: usize>(
        &self,
        shape: [usize; D],
        values: &[T],
    ) -> Result<Shared<T, D>> {
        Ok(self.rt.buffer_from((values, shape))?.into_shared())
    }

    /// Our side: a command that is submitted so many times, and a wait; and a buffer of results.
    pub fn ours<T, const D: usize>(
        &self,
        results: &Shared<T, D>,
        mut submit: impl FnMut(&Queue) -> folio::Result<()> + 'static,
    ) -> Side
    where
        T: DeviceType,
        Values: From<Vec<T>>,
    {
        let (q, results) = (self.q.clone(), results.clone());
        Side {
            run: Box::new(move |times| {
                (0..times).try_for_each(|_| submit(&q))?;
                Ok(q.wait()?)
            }),
            results: Box::new(move || Ok(results.to_vec()?.into())),
            counted: None,
        }
    }

    /// Memory of our device that stays where it is.
    pub fn usm<T: DeviceType>(&self, kind: UsmKind, n: usize) -> Result<folio::Usm<T>> {
        Ok(self.rt.usm(&self.device, kind, n)?)
    }

    /// True on a GPU.
    pub fn is_gpu(&self) -> bool {
        self.device.info().kind != folio::hal::DeviceKind::Cpu
    }

    /// A row whose results are equal but for the last digits.
    pub fn pair(&self, work: Work, ours: Side, theirs: Side) -> Pair {
        let against = self.against().to_owned();
        Pair { work, against, ours, theirs, tolerance: 1e-3, scale: LEAST_SIZE }
    }

    /// The platform of hand-written code.
    pub fn against(&self) -> &'static str {
        match &self.hand {
            Hand::Host => "rayon",
            Hand::Native(native) => native.api(),
        }
    }
}

/// Clones of Folio's handles and the like are cheap; results are told by a closure.
pub fn side(run: impl FnMut(usize) -> Result<()> + 'static, results: Tell) -> Side {
    Side { run: Box::new(run), results, counted: None }
}

/// The hand-written side on the host: a function that is called so many times, by a thread of
/// rayon's pool. From outside, each call would wait for a thread of the pool to wake up.
pub fn on_host(mut work: impl FnMut() + Send + 'static, results: Tell) -> Side {
    let run = move |times| {
        rayon::scope(|_| (0..times).for_each(|_| work()));
        Ok(())
    };
    side(run, results)
}

/// The hand-written side on a driver: launches in order, so many times, and a wait.
pub fn on_native(native: &Arc<dyn Native>, calls: Vec<Call>, results: Tell) -> Side {
    let native = native.clone();
    let run = move |times| {
        for _ in 0..times {
            calls.iter().try_for_each(|call| native.launch(0, call))?;
        }
        native.finish(0)
    };
    side(run, results)
}

/// Tells what is in a host baseline's vector.
pub fn told<T: Clone + 'static>(values: &crate::hand::host::Owned<T>) -> Tell
where
    Values: From<Vec<T>>,
{
    let values = values.clone();
    Box::new(move || Ok(values.lock().clone().into()))
}

/// Tells what is in a driver's memory.
pub fn read<T>(memory: &Arc<crate::hand::Memory>, len: usize) -> Tell
where
    T: crate::hand::Plain + Default,
    Values: From<Vec<T>>,
{
    let memory = memory.clone();
    Box::new(move || Ok(memory.read::<T>(len)?.into()))
}
