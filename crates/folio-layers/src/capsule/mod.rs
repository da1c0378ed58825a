//! Keeps each launch that fails as a file: the kernel, its arguments, the memory that it reads from
//! before it ran, and the memory that it wrote.
//!
//! The layer gives every operation three ticks of the lane below: for the copy of what a launch
//! reads, for the operation, and for the copy of what the launch has written. The engine sees one
//! tick, which ends with the last of the three, so whatever the engine orders after the operation
//! is also after the copies. Graphs of a device are refused, and so their commands run one by one.

mod file;
#[cfg(test)]
mod tests;

pub use file::{Capsule, CapsuleError, Memory};

use crate::layer::{DeviceRef, HeadRef, Hooks, LaneRef, Layer};
use folio_core::geom::linear;
use folio_core::hal::{
    Args, Backend, CopyRect, DeviceInfo, Geometry, Graph, HalError, Head, HostPtr, KernelHandle,
    KernelRef, KernelSource, Lost, MemBase, MemRef, Node, Op, Order, Param, Tick, Timing,
    Unavailable, Wait,
};
use folio_core::ir::Kernel;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;
use std::{fs, io, mem};

/// Ticks of the lane below for each tick of the engine.
const TICKS: Tick = 3;
/// Bytes of memory in one capsule, files of a process, and bytes that launches under way may have.
const CAPSULE_BYTES: u64 = 64 << 20;
const FILES: usize = 16;
const FLIGHT_BYTES: u64 = 256 << 20;

/// A layer that writes a file of each launch that fails, for `folio replay`. Clones share their
/// folder and their limits.
///
/// ```
/// use folio_layers::Capsules;
/// use folio_sim::SimBackend;
///
/// let folder = std::env::temp_dir().join(format!("capsules-{}", std::process::id()));
/// let capsules = Capsules::new(&folder)?.most_bytes(1 << 20).most_files(4);
/// let backend = capsules.over(SimBackend::builder().build());
/// assert!(capsules.files().is_empty(), "nothing has failed yet");
/// # drop(backend);
/// # std::fs::remove_dir(folder)?;
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone)]
pub struct Capsules {
    bytes: u64,
    most: usize,
    shared: Arc<Shared>,
}

struct Shared {
    folder: PathBuf,
    /// Capsules that have begun to be written.
    begun: AtomicUsize,
    /// Bytes of launches under way.
    flight: AtomicU64,
    files: Mutex<Vec<PathBuf>>,
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Capsules {
    /// Capsules are files in this folder, which is made if there is none.
    ///
    /// # Errors
    /// There is no folder, and it cannot be made.
    pub fn new(folder: impl AsRef<Path>) -> io::Result<Capsules> {
        let folder = std::path::absolute(folder)?;
        fs::create_dir_all(&folder)?;
        let (begun, flight, files) = Default::default();
        let shared = Arc::new(Shared { folder, begun, flight, files });
        Ok(Capsules { bytes: CAPSULE_BYTES, most: FILES, shared })
    }

    /// So many bytes of memory in one capsule at most. A capsule of a larger launch has none.
    #[must_use]
    pub fn most_bytes(self, bytes: u64) -> Capsules {
        Capsules { bytes, ..self }
    }

    /// So many files at most.
    #[must_use]
    pub fn most_files(self, most: usize) -> Capsules {
        Capsules { most, ..self }
    }

    /// The files that were written, the oldest first.
    pub fn files(&self) -> Vec<PathBuf> {
        lock(&self.shared.files).clone()
    }

    /// Around this backend.
    pub fn over(&self, inner: impl Backend) -> impl Backend {
        Layer::new(Keeper::new(self), Arc::new(inner))
    }

    /// Around a backend that is shared, as
    /// [`RuntimeBuilder::layer`](folio_core::RuntimeBuilder::layer) gives it.
    pub fn over_shared(&self, inner: Arc<dyn Backend>) -> Arc<dyn Backend> {
        Arc::new(Layer::new(Keeper::new(self), inner))
    }
}

/// The layer over one backend.
struct Keeper {
    capsules: Capsules,
    /// By device: the kernels that it has loaded.
    kernels: Mutex<HashMap<(u32, KernelHandle), Arc<Kernel>>>,
    /// By number.
    lanes: Mutex<BTreeMap<u32, Arc<Mutex<Flight>>>>,
    /// The backend's name.
    name: Mutex<String>,
}

/// The launches of a lane that are under way.
#[derive(Default)]
struct Flight {
    launches: VecDeque<Kept>,
    /// Failures of ticks that the engine does not know to have ended, or has not asked for.
    failed: VecDeque<(Tick, HalError)>,
    /// The last tick below that is known to have ended.
    reached: Tick,
    lost: bool,
}

/// A launch under way.
struct Kept {
    /// As the engine counts.
    tick: Tick,
    label: String,
    kernel: Arc<Kernel>,
    geometry: Geometry,
    scalars: Vec<u8>,
    memory: Vec<Piece>,
    /// Bytes that it has of what may be under way.
    bytes: u64,
    /// Whether the copies before and after the launch were accepted, and did not fail.
    copied: [bool; 2],
}

/// A parameter's memory, and its copies on the host.
struct Piece {
    param: Param,
    /// Before and after; empty where there is nothing to copy.
    copies: [Vec<u8>; 2],
}

impl Piece {
    /// With room for what is copied: before the launch, and after it where the kernel may write.
    fn new(param: Param, bytes: u64) -> Piece {
        let room = |wanted: bool| vec![0; if wanted { bytes as usize } else { 0 }];
        Piece { param, copies: [room(true), room(param.write)] }
    }

    /// The copy at one of the two times.
    fn rect(&mut self, time: usize) -> Option<CopyRect> {
        let Param { mem, size, dims, origin, extent, .. } = self.param;
        let size = u64::from(size);
        let copy = self.copies.get_mut(time).filter(|copy| !copy.is_empty())?;
        let pitch = |dims: [usize; 3]| [dims[1] * dims[2], dims[2]].map(|n| n as u64 * size);
        let src = MemRef { offset: mem.offset + linear(dims, origin) as u64 * size, ..mem };
        let base = MemBase::Host(HostPtr(copy.as_mut_ptr()));
        let [slices, rows, elements] = extent.map(|n| n as u64);
        Some(CopyRect {
            src,
            src_pitch: pitch(dims),
            dst: MemRef { base, offset: 0 },
            dst_pitch: pitch(extent),
            extent: [slices, rows, elements * size],
        })
    }
}

impl Kept {
    fn rects(&mut self, time: usize) -> Vec<CopyRect> {
        self.memory.iter_mut().filter_map(|piece| piece.rect(time)).collect()
    }

    /// As what is written, as far as the copies have ended.
    fn capsule(self, device: String, subgroup: u32, failure: String, ended: [bool; 2]) -> Capsule {
        let Kept { label, kernel, geometry, scalars, memory, copied, bytes, .. } = self;
        // Nothing was copied where the launch has too much.
        let had = |time: usize| copied[time] && ended[time] && bytes > 0;
        let numbers = |dims: [usize; 3]| dims.map(|n| n as u64);
        let memory = memory.into_iter().map(|Piece { param, copies: [before, after] }| Memory {
            size: param.size.into(),
            write: param.write,
            extent: numbers(param.extent),
            index: numbers(param.index),
            shape: numbers(param.shape),
            before: had(0).then_some(before),
            after: (had(1) && param.write).then_some(after),
        });
        Capsule {
            device,
            label,
            failure,
            subgroup,
            offset: numbers(geometry.offset),
            range: numbers(geometry.range),
            group: geometry.group.map(numbers),
            kernel: Arc::unwrap_or_clone(kernel),
            scalars,
            memory: memory.collect(),
        }
    }

    /// The driver may still write the copies: they are not freed.
    fn abandon(self) {
        self.memory.into_iter().flat_map(|piece| piece.copies).for_each(mem::forget);
    }
}

impl Drop for Keeper {
    /// Lanes may go with work under way, and a lost device may still write.
    fn drop(&mut self) {
        for flight in lock(&self.lanes).values() {
            lock(flight).launches.drain(..).for_each(Kept::abandon);
        }
    }
}

impl Keeper {
    fn new(capsules: &Capsules) -> Keeper {
        let (kernels, lanes, name) = Default::default();
        Keeper { capsules: capsules.clone(), kernels, lanes, name }
    }

    fn flight(&self, lane: &LaneRef) -> Arc<Mutex<Flight>> {
        lock(&self.lanes).entry(lane.id).or_default().clone()
    }

    /// The launch that an operation is, if its kernel is one that can be replayed.
    fn kept(&self, lane: &LaneRef, head: &Head<'_>, op: Op<'_>) -> Option<Kept> {
        let Op::Launch(kernel, geometry, args) = op else { return None };
        let shared = &self.capsules.shared;
        if shared.begun.load(Ordering::Relaxed) >= self.capsules.most {
            return None;
        }
        let (kernel, scalars) = self.described(lane, kernel, &args)?;
        let sizes = args.params.iter().map(|param| {
            let elements = param.extent.iter().try_fold(1u64, |all, n| all.checked_mul(*n as u64));
            elements.and_then(|elements| elements.checked_mul(u64::from(param.size)))
        });
        let sizes: Option<Vec<u64>> = sizes.collect();
        let copies = |(param, bytes): (&Param, &u64)| bytes.checked_mul(1 + u64::from(param.write));
        let sizes = sizes.unwrap_or_default();
        let mut bytes = args.params.iter().zip(&sizes).map(copies);
        let bytes = bytes.try_fold(0u64, |all, bytes| all.checked_add(bytes?));
        let bytes = bytes.filter(|bytes| *bytes <= self.capsules.bytes && self.reserve(*bytes));
        let piece = |(nth, param): (usize, &Param)| {
            Piece::new(
                *param,
                if bytes.is_some() { sizes.get(nth).copied().unwrap_or(0) } else { 0 },
            )
        };
        Some(Kept {
            tick: head.tick,
            label: head.label.to_owned(),
            memory: args.params.iter().enumerate().map(piece).collect(),
            kernel,
            geometry: *geometry,
            scalars,
            bytes: bytes.unwrap_or(0),
            copied: [true; 2],
        })
    }

    /// Takes so many of the bytes that may be under way, if they are there.
    fn reserve(&self, bytes: u64) -> bool {
        let more = |flight: u64| Some(flight + bytes).filter(|all| *all <= FLIGHT_BYTES);
        let flight = &self.capsules.shared.flight;
        flight.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).is_ok()
    }

    fn described(
        &self,
        lane: &LaneRef,
        kernel: KernelRef<'_>,
        args: &Args<'_>,
    ) -> Option<(Arc<Kernel>, Vec<u8>)> {
        match kernel {
            KernelRef::Loaded(handle) => {
                let kernel = lock(&self.kernels).get(&(lane.device.index, handle)).cloned()?;
                Some((kernel, args.blob.to_vec()))
            }
            KernelRef::Native(cell) => {
                let native = cell.take()?;
                let described = native.described().map(|of| {
                    let words = of.scalars.iter().flat_map(|word| word.to_ne_bytes());
                    (of.ir.clone(), words.collect())
                });
                cell.set(Some(native));
                described
            }
            KernelRef::Foreign(_) => None,
        }
    }

    /// Looks at the lane: writes what has failed, and drops what has ended. The last tick below
    /// that has ended.
    fn settle(&self, lane: &LaneRef) -> Result<Tick, Lost> {
        let flight = self.flight(lane);
        let mut flight = lock(&flight);
        let reached = lane.inner.completed();
        lane.inner.failures(&mut |tick, error| flight.note(tick, error));
        let reached = match reached {
            Ok(reached) => reached,
            Err(lost) => {
                self.lose(lane, &mut flight, &lost);
                return Err(lost);
            }
        };
        flight.reached = flight.reached.max(reached);
        while let Some(kept) = flight.launches.pop_front_if(|kept| kept.tick * TICKS <= reached) {
            self.capsules.shared.flight.fetch_sub(kept.bytes, Ordering::Relaxed);
            let launch = kept.tick * TICKS - 1;
            let failed = flight.failed.iter().find(|(tick, _)| *tick == launch);
            if let Some((_, error)) = failed {
                self.write(lane, kept, error, [true; 2]);
            }
        }
        Ok(reached)
    }

    /// Of a lost device, the oldest launch that has not ended is written.
    fn lose(&self, lane: &LaneRef, flight: &mut Flight, lost: &Lost) {
        if mem::replace(&mut flight.lost, true) {
            return;
        }
        let mut launches = mem::take(&mut flight.launches).into_iter();
        if let Some(mut kept) = launches.next() {
            let before = kept.tick * TICKS - 2 <= flight.reached;
            // The driver may write what it has not ended to copy.
            for copies in kept.memory.iter_mut().map(|piece| &mut piece.copies) {
                mem::forget(mem::take(&mut copies[1]));
                if !before {
                    mem::forget(mem::take(&mut copies[0]));
                }
            }
            self.write(lane, kept, &HalError::from(lost.clone()), [before, false]);
        }
        launches.for_each(Kept::abandon);
    }

    fn write(&self, lane: &LaneRef, kept: Kept, error: &HalError, ended: [bool; 2]) {
        let Shared { begun, folder, files, .. } = &*self.capsules.shared;
        let number = begun.fetch_add(1, Ordering::Relaxed);
        if number >= self.capsules.most {
            return;
        }
        let device = format!("{}:{}", lock(&self.name), lane.device.index);
        let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
        let name: String = kept.kernel.name.chars().take(64).map(plain).collect();
        let path = folder.join(format!("{name}-{}-{number}.capsule", std::process::id()));
        let subgroup = lane.device.inner.info().caps.subgroup;
        let capsule = kept.capsule(device, subgroup, error.to_string(), ended);
        match capsule.write(&path) {
            Ok(()) => {
                let name = &capsule.kernel.name;
                let path_text = path.display();
                folio_core::note(&format!(
                    "a launch of kernel `{name}` failed, and is kept: folio replay {path_text}"
                ));
                lock(files).push(path);
            }
            Err(why) => folio_core::note(&format!(
                "a launch that failed could not be kept as {}: {why}",
                path.display()
            )),
        }
    }
}

impl Flight {
    /// A failure below. Failures of copies are the layer's own.
    fn note(&mut self, tick: Tick, error: HalError) {
        let time = match tick % TICKS {
            1 => 0,
            0 => 1,
            _ => return self.failed.push_back((tick, error)),
        };
        let launch = self.launches.iter_mut().find(|kept| kept.tick == tick.div_ceil(TICKS));
        if let Some(kept) = launch {
            kept.copied[time] = false;
        }
    }
}

// SAFETY: passes operations on, in their order, and the copies beside them use memory of the launch
// while its tick has not ended for the engine, and memory of the layer that lives until the copies
// have ended or longer (`Kept::abandon`).
unsafe impl Hooks for Keeper {
    fn devices(&self, inner: &dyn Backend) -> Result<Vec<DeviceInfo>, Unavailable> {
        inner.name().clone_into(&mut lock(&self.name));
        inner.devices()
    }

    fn info(&self, mut info: DeviceInfo) -> DeviceInfo {
        info.caps.max_in_flight = (info.caps.max_in_flight / TICKS as u32).max(1);
        (info.caps.captures, info.caps.conditions) = (false, false);
        info
    }

    fn load(
        &self,
        device: &DeviceRef,
        source: &KernelSource<'_>,
    ) -> Result<KernelHandle, HalError> {
        let handle = device.inner.load(source)?;
        if let KernelSource::Ir(kernel) = source {
            lock(&self.kernels).insert((device.index, handle), Arc::new((*kernel).clone()));
        }
        Ok(handle)
    }

    fn unload(&self, device: &DeviceRef, handle: KernelHandle) {
        lock(&self.kernels).remove(&(device.index, handle));
        device.inner.unload(handle);
    }

    fn graph(&self, _: &DeviceRef, _: &[Node<'_>]) -> Result<Arc<dyn Graph>, HalError> {
        Err(HalError::unsupported("graphs of a device, while launches that fail are kept"))
    }

    fn operation(&self, lane: &LaneRef, head: &HeadRef<'_>, op: Op<'_>) -> Result<(), HalError> {
        let mut kept = self.kept(lane, &head.inner, op);
        let copies = [0, 1].map(|time| kept.as_mut().map_or(vec![], |kept| kept.rects(time)));
        let flight = self.flight(lane);
        lock(&flight).launches.extend(kept);
        let scaled = head.inner.waits.iter().zip(head.waits);
        let scaled = scaled.map(|(wait, (own, tick))| Wait {
            tick: if own.is_some() { tick * TICKS } else { *tick },
            ..*wait
        });
        let waits: Vec<Wait<'_>> = scaled.collect();
        let last = head.inner.tick * TICKS;
        let beside = |time: usize, tick: Tick, waits: &[Wait<'_>]| {
            let head = Head { tick, waits, label: "", timed: false, ..head.inner };
            let head = Head { order: Order::AfterPrevious, ..head };
            let rects = &copies[time];
            let op = if rects.is_empty() { Op::Join } else { Op::Copy(rects) };
            if lane.inner.enqueue(&head, op).is_err() {
                lock(&flight).note(tick, HalError::unsupported("copies beside launches"));
            }
        };
        beside(0, last - 2, &waits);
        let own = Head { tick: last - 1, order: Order::AfterPrevious, waits: &[], ..head.inner };
        let done = lane.inner.enqueue(&own, op);
        beside(1, last, &[]);
        done
    }

    fn awaited(&self, lane: &LaneRef, tick: Tick) {
        lane.inner.awaited(tick * TICKS);
    }

    fn completed(&self, lane: &LaneRef) -> Result<Tick, Lost> {
        self.settle(lane).map(|reached| reached / TICKS)
    }

    fn wait(&self, lane: &LaneRef, tick: Tick, until: Option<Instant>) -> Result<bool, Lost> {
        lane.inner.wait(tick * TICKS, until)
    }

    fn failures(&self, lane: &LaneRef, sink: &mut dyn FnMut(Tick, HalError)) {
        let reached = self.settle(lane).unwrap_or(Tick::MAX) / TICKS;
        let flight = self.flight(lane);
        let ended = |(tick, _): &mut (Tick, HalError)| *tick < reached.saturating_mul(TICKS);
        loop {
            // The engine is called without the lock.
            let Some((tick, error)) = lock(&flight).failed.pop_front_if(ended) else { return };
            sink(tick.div_ceil(TICKS), error);
        }
    }

    fn timing(&self, lane: &LaneRef, tick: Tick) -> Option<Timing> {
        lane.inner.timing(tick * TICKS - 1)
    }
}
