//! The table of what must be refused: each call with bad input gives the error of its kind, at
//! once, and changes nothing: no counter, no memory, no contents, no failure to be told later.

use super::kernels::{circles, copies, counts, forgets, items_counted, neighbours};
use super::rig::*;
use super::tests;
use folio_core::hal::{DeviceKind, MemoryHome};
use folio_core::sched::{Locality, RoundRobin};
use folio_core::{
    Buffer, BufferOptions, Counters, Destination, DeviceRef, Error, Event, Items, Queue, Read,
    Runtime, Selector, Shared, Usm, UsmKind, WriteGuard, error::UseSite,
};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

tests![
    bad_input_is_refused_and_changes_nothing,
    after_a_shutdown_everything_is_refused,
    memory_in_use_is_not_released,
    released_memory_holds_no_parts_of_pages,
    panics_of_schedulers_and_builders_pass_through,
    nothing_at_all_is_legal,
];

/// The objects that the calls use.
struct World {
    rt: Runtime,
    q: Queue,
    device: DeviceRef,
    x: Shared<i32>,
    square: Shared<i32, 2>,
    usm: Usm<i32>,
    /// Written by the host for as long as the world lives.
    held: Shared<i32>,
    /// Of a scope that is over.
    ended: Shared<i32>,
    /// Of a group that is over.
    access: Read<i32>,
    event: Event,
    theirs: Foreign,
    told: Arc<AtomicUsize>,
    _guard: WriteGuard<i32>,
}

/// Counters, budgets, contents, and failures told.
type State = (Counters, Vec<(u64, u64)>, Vec<i32>, Vec<i32>, usize);

/// Things of another runtime.
struct Foreign {
    _rt: Runtime,
    x: Shared<i32>,
    usm: Usm<i32>,
    event: Event,
    device: DeviceRef,
}

/// More than anybody has.
const HUGE: usize = isize::MAX as usize / 4;

impl World {
    fn new(rig: &Rig, at: usize) -> Result<World, Stop> {
        let told = Arc::new(AtomicUsize::new(0));
        let own = told.clone();
        let note = move |_: &_| {
            own.fetch_add(1, Ordering::Relaxed);
        };
        let rt = rig.builder().on_failure(note).build()?;
        let q = on(&rt, at)?;
        let device = q.device();
        let options = || BufferOptions::new().label("x");
        let x =
            rt.buffer_with((&[1, 2, 3, 4, 5, 6, 7, 8], [8]), options().page([2]))?.into_shared();
        let square =
            rt.buffer_with((&[1, 2, 3, 4, 5, 6, 7, 8, 9], [3, 3]), options())?.into_shared();
        let mut usm = rt.usm::<i32>(&device, UsmKind::Device, 8)?;
        q.submit(|cg| {
            cg.fill(&mut usm, 4);
            Ok(())
        })?;
        let held = rt.buffer_with(&[7; 4], options().label("held"))?.into_shared();
        // Each on its device, so that no call here is the first to need memory.
        let mut access = None;
        let event = q.submit(|cg| {
            access = Some(cg.read(&x));
            let _ = (cg.read(&square), cg.read(&held));
            Ok(())
        })?;
        let Some(access) = access else { return Err(Stop::Failed("no access".into())) };
        let mut borrowed = [3; 4];
        let ended =
            rt.scope(|scope| Ok::<_, Error>(scope.view_mut(&mut borrowed)?.into_shared()))??;
        let guard = held.write()?;
        let other = rig.builder().build()?;
        let their = other.devices().remove(at);
        let theirs = Foreign {
            x: other.buffer_from(&[1; 8])?.into_shared(),
            usm: other.usm(&their, UsmKind::Device, 8)?,
            event: on(&other, at)?.submit(|_| Ok(()))?,
            device: their,
            _rt: other,
        };
        rt.wait()?;
        let _guard = guard;
        Ok(World {
            rt,
            q,
            device,
            x,
            square,
            usm,
            held,
            ended,
            access,
            event,
            theirs,
            told,
            _guard,
        })
    }

    /// All that a refused call must leave as it is.
    fn state(&self) -> Result<State, Stop> {
        let budgets = self.rt.devices().iter().map(|d| d.budget()).collect();
        let (x, square) = (self.x.to_vec()?, self.square.to_vec()?);
        let told = self.told.load(Ordering::Relaxed);
        Ok((self.rt.counters(), budgets, x, square, told))
    }

    fn submit<R>(
        &self,
        build: impl FnOnce(&mut folio_core::CommandGroup) -> Result<R, Error>,
    ) -> Result<(), Error> {
        self.q.submit(build).map(drop)
    }

    fn buffer(&self, n: usize) -> Result<Buffer<i32>, Error> {
        self.rt.buffer(n)
    }
}

type Case = (&'static str, fn(&World) -> Result<(), Error>, fn(&Error) -> bool);

/// Rows of the table: a name, a call, the error's kind.
macro_rules! table {
    ($($name:literal, |$w:ident| $call:expr => $($kind:pat_param)|+,)*) => {
        &[$(($name, |$w| { $call }, |error| matches!(error, $($kind)|+))),*]
    };
}

const CASES: &[Case] = table![
    // Ranges.
    "a slice past the end", |w| w.x.slice([0], [9]).map(drop) => Error::OutOfRange { .. },
    "a slice behind the end", |w| w.x.slice([9], [0]).map(drop) => Error::OutOfRange { .. },
    "a slice whose end overflows", |w| w.x.slice([2], [usize::MAX]).map(drop) => Error::OutOfRange { .. },
    "a slice that begins nowhere", |w| w.x.slice([usize::MAX], [1]).map(drop) => Error::OutOfRange { .. },
    "a writable slice past the end", |w| w.x.slice_mut([8], [1]).map(drop) => Error::OutOfRange { .. },
    "a slice too wide", |w| w.square.slice([1, 1], [1, 3]).map(drop) => Error::OutOfRange { .. },
    "a slice too high", |w| w.square.slice_mut([2, 0], [2, 1]).map(drop) => Error::OutOfRange { .. },
    "a cut past the end", |w| w.buffer(4)?.split_at_mut(5).map(drop) => Error::OutOfRange { .. },
    "a cut far past the end", |w| w.buffer(4)?.split_at_mut(usize::MAX).map(drop) => Error::OutOfRange { .. },
    "USM past the end", |w| w.usm.slice(5, 4).map(drop) => Error::OutOfRange { .. },
    "USM whose end overflows", |w| w.usm.slice(usize::MAX, 2).map(drop) => Error::OutOfRange { .. },
    "a write announced past the end", |w| {
        // SAFETY: it is refused.
        unsafe { w.buffer(4)?.assume_written([3], [2], &w.device) }
    } => Error::OutOfRange { .. },
    "a raw copy of too much", |w| w.submit(|cg| {
        let p = w.usm.pointer();
        // SAFETY: it is refused.
        unsafe { cg.copy_raw(p, p, [33]) };
        Ok(())
    }) => Error::OutOfRange { .. },
    "a buffer over too little USM", |w| {
        // SAFETY: it is refused.
        unsafe { w.usm.pointer().buffer::<i32>(&w.rt, 9, false) }.map(drop)
    } => Error::Configuration { .. },
    "a buffer over USM whose size overflows", |w| {
        // SAFETY: it is refused.
        unsafe { w.usm.pointer().buffer::<i32>(&w.rt, usize::MAX / 2, false) }.map(drop)
    } => Error::TooLarge { .. },
    "a buffer between elements of USM", |w| {
        let inside = w.usm.pointer().offset(2).ok_or(Error::ShutDown)?;
        // SAFETY: it is refused.
        unsafe { inside.buffer::<i32>(&w.rt, 4, false) }.map(drop)
    } => Error::Misaligned { .. },
    "a part with gaps as one slice", |w| w.square.slice([0, 1], [2, 2])?.read().map(drop) => Error::NotContiguous { .. },
    "a part with gaps to await", |w| w.square.slice([0, 1], [2, 2])?.read_async().map(drop) => Error::NotContiguous { .. },
    "a part with gaps to write", |w| w.square.slice_mut([0, 1], [2, 2])?.write().map(drop) => Error::NotContiguous { .. },
    "a part with gaps to discard", |w| w.square.slice_mut([0, 1], [2, 2])?.discard().map(drop) => Error::NotContiguous { .. },
    // Sizes and shapes.
    "a buffer that is too large", |w| w.rt.buffer::<u64, 1>(usize::MAX / 8).map(drop) => Error::TooLarge { .. },
    "a shape whose volume overflows", |w| w.rt.buffer::<u8, 3>([1 << 22; 3]).map(drop) => Error::TooLarge { .. },
    "USM that is too large", |w| w.rt.usm::<u64>(&w.device, UsmKind::Device, usize::MAX / 4).map(drop) => Error::TooLarge { .. },
    "a kernel launched beyond its output", |w| w.q.run(9, counts(&w.x)).map(drop) => Error::LaunchTooLarge { .. },
    "a kernel launched beyond its output's slice", |w| w.q.run(2..5, counts(w.x.slice_mut([0], [4])?)).map(drop) => Error::LaunchTooLarge { .. },
    "a kernel launched where positions overflow", |w| w.q.run(Items { offset: [usize::MAX], range: [2], group: None }, counts(&w.x)).map(drop) => Error::LaunchRange { .. },
    "a reduction over more than there can be", |w| w.q.run((1 << 40) + 1, items_counted(&w.x)).map(drop) => Error::LaunchRange { .. },
    "a kernel that does not write all of its output", |w| w.q.run(8, forgets(&w.x)).map(drop) => Error::Kernel { .. },
    "a kernel whose functions call each other", |w| w.q.run(8, circles(&w.x)).map(drop) => Error::Kernel { .. },
    "data of another size than the shape", |w| w.rt.buffer_from((&[1, 2, 3], [2, 2])).map(drop) => Error::Mismatch { what: "data for buffer", .. },
    "a copy to another extent", |w| w.submit(|cg| {
        cg.copy(w.x.slice([0], [3])?, w.x.slice_mut([4], [4])?);
        Ok(())
    }) => Error::Mismatch { .. },
    "a copy from a slice of another length", |w| w.submit(|cg| {
        cg.copy_from_slice(&[9; 7], &w.x);
        Ok(())
    }) => Error::Mismatch { .. },
    "a page with an extent of 0", |w| w.rt.buffer_with::<i32, 1>([4], BufferOptions::new().page([0])).map(drop) => Error::Configuration { .. },
    "a page of other dimensions", |w| w.rt.buffer_with::<i32, 1>([4], BufferOptions::new().page([2, 2])).map(drop) => Error::Configuration { .. },
    "elements without a size", |w| w.rt.buffer::<[u32; 0], 1>(4).map(drop) => Error::Configuration { .. },
    "an alignment that is no power of two", |w| Usm::<i32>::aligned(&w.device, UsmKind::Device, 4, 48).map(drop) => Error::Configuration { .. },
    "an alignment of 0", |w| Usm::<i32>::aligned(&w.device, UsmKind::Device, 4, 0).map(drop) => Error::Configuration { .. },
    "an alignment that nobody has", |w| Usm::<i32>::aligned(&w.device, UsmKind::Device, 4, 1 << 63).map(drop)
        => Error::Unsupported { .. },
    "a reinterpretation with other bytes", |w| w.x.reinterpret::<u64, 1>([5]).map(drop) => Error::Reinterpret { .. },
    "a reinterpretation that overflows", |w| w.x.reinterpret::<u16, 2>([usize::MAX, 2]).map(drop) => Error::Reinterpret { .. },
    "a reinterpretation without size", |w| w.x.reinterpret::<[u8; 0], 1>([32]).map(drop) => Error::Reinterpret { .. },
    // Aliasing.
    "one buffer given twice to a kernel", |w| w.q.run(8, copies(&w.x, &w.x)).map(drop) => Error::Aliasing { .. },
    "a halo that reaches into what is written", |w| w.q.run(1..4, neighbours(w.x.slice([0], [6])?, w.x.slice_mut([3], [5])?)).map(drop)
        => Error::Aliasing { .. },
    "one buffer written twice in a task", |w| w.submit(|cg| {
        let (a, b) = (cg.discard(w.x.slice_mut([0], [5])?), cg.discard(w.x.slice_mut([4], [4])?));
        cg.host_task((a, b), |_| {});
        Ok(())
    }) => Error::Aliasing { .. },
    "a copy onto itself", |w| w.submit(|cg| {
        cg.copy(w.x.slice([0], [4])?, w.x.slice_mut([2], [4])?);
        Ok(())
    }) => Error::Aliasing { .. },
    "an access of another group in a task", |w| w.submit(|cg| {
        cg.host_task(w.access, |_| {});
        Ok(())
    }) => Error::ForeignAccess { .. },
    "two actions", |w| w.submit(|cg| {
        cg.fill(&w.x, 9);
        cg.host_task((), |()| {});
        Ok(())
    }) => Error::Actions { .. },
    // Of another runtime.
    "a buffer of another runtime", |w| w.submit(|cg| {
        cg.copy(&w.theirs.x, &w.x);
        Ok(())
    }) => Error::WrongRuntime { what: "buffer", .. },
    "a kernel's argument of another runtime", |w| w.q.run(8, copies(&w.theirs.x, &w.x)).map(drop) => Error::WrongRuntime { what: "buffer", by: Some(UseSite { access: Some(0), .. }), .. },
    "a kernel's output of another runtime", |w| w.q.run(8, counts(&w.theirs.x)).map(drop) => Error::WrongRuntime { what: "buffer", .. },
    "an event of another runtime", |w| w.submit(|cg| {
        cg.after(&w.theirs.event).fill(&w.x, 9);
        Ok(())
    }) => Error::WrongRuntime { what: "event", .. },
    "a queue of another runtime's device", |w| w.rt.queue_on(&w.theirs.device).map(drop) => Error::WrongRuntime { what: "device", .. },
    "an in-order queue of another runtime's device", |w| w.rt.in_order_queue_on(&w.theirs.device).map(drop) => Error::WrongRuntime { what: "device", .. },
    "a queue over another runtime's device", |w| w.rt.queue_over(&[w.device.clone(), w.theirs.device.clone()], RoundRobin).map(drop) => Error::WrongRuntime { what: "device", .. },
    "another runtime's device", |w| w.rt.device(&w.theirs.device).map(drop) => Error::WrongRuntime { what: "device", .. },
    "USM on another runtime's device", |w| w.rt.usm::<i32>(&w.theirs.device, UsmKind::Device, 4).map(drop) => Error::WrongRuntime { what: "device", .. },
    "a pointer on another runtime's device", |w| w.buffer(4)?.pointer(&w.theirs.device).map(drop) => Error::WrongRuntime { what: "device", .. },
    "a release on another runtime's device", |w| w.buffer(4)?.release(&w.theirs.device) => Error::WrongRuntime { what: "device", .. },
    "a write announced on another runtime's device", |w| {
        // SAFETY: it is refused.
        unsafe { w.buffer(4)?.assume_written([0], [2], &w.theirs.device) }
    } => Error::WrongRuntime { what: "device", .. },
    // Devices.
    "a device that is not there", |w| w.rt.device("toaster").map(drop) => Error::DeviceNotFound { .. },
    "a device without a name", |w| w.rt.queue_on("").map(drop) => Error::DeviceNotFound { .. },
    "a number that is not there", |w| w.rt.in_order_queue_on(format!("{}9", w.device.name())).map(drop) => Error::DeviceNotFound { .. },
    "a kind that is not there", |w| w.rt.queue_on(absent_kind(&w.rt)).map(drop) => Error::DeviceNotFound { .. },
    "a capability that nobody has", |w| w.rt.device(Selector::any().that(|_| false)).map(drop) => Error::DeviceNotFound { .. },
    "a budget of nobody", |w| Runtime::builder().budget(w.device.name(), 1).build().map(drop) => Error::Configuration { what: "budget", .. },
    "no device at all", |_w| Runtime::builder().build()?.queue_over(&[], Locality).map(drop) => Error::DeviceNotFound { .. },
    // Memory.
    "more memory than there is", |w| w.submit(|cg| {
        let mut huge = w.rt.buffer::<u8, 1>(HUGE)?;
        cg.fill(huge.slice_mut([3], [1])?, 1);
        Ok(())
    }) => Error::OutOfMemory { .. },
    "more memory than there is, on the host", |w| w.rt.buffer::<u8, 1>(HUGE)?.discard().map(drop) => Error::OutOfMemory { .. },
    "more memory than there is, in a task", |w| w.submit(|cg| {
        let huge = w.rt.buffer::<u8, 1>(HUGE)?;
        let huge = cg.read(&huge);
        cg.host_task(huge, |_| {});
        Ok(())
    }) => Error::OutOfMemory { .. },
    "more USM than there is", |w| w.rt.usm::<u8>(&w.device, UsmKind::Shared, HUGE).map(drop) => Error::OutOfMemory { .. },
    // Guards.
    "a kernel call on what the host writes", |w| w.q.run(4, counts(&w.held)).map(drop) => Error::HostAccessHeld { by: Some(UseSite { access: Some(0), .. }), .. },
    "a task on what the host writes", |w| w.submit(|cg| {
        let x = cg.read(&w.held);
        cg.host_task(x, |_| {});
        Ok(())
    }) => Error::HostAccessHeld { .. },
    "a fill of what the host writes", |w| w.submit(|cg| {
        cg.fill(&w.held, 9);
        Ok(())
    }) => Error::HostAccessHeld { .. },
    "a copy from what the host writes", |w| w.submit(|cg| {
        cg.copy(&w.held, w.x.slice_mut([0], [4])?);
        Ok(())
    }) => Error::HostAccessHeld { .. },
    "a copy from a slice to what the host writes", |w| w.submit(|cg| {
        cg.copy_from_slice(&[9; 4], &w.held);
        Ok(())
    }) => Error::HostAccessHeld { .. },
    "an update of what the host writes", |w| w.submit(|cg| {
        cg.prefetch(&w.held, Destination::Device);
        Ok(())
    }) => Error::HostAccessHeld { .. },
    "an update of the host from what it writes", |w| w.submit(|cg| {
        cg.prefetch(&w.held, Destination::Host);
        Ok(())
    }) => Error::HostAccessHeld { .. },
    "a second guard to read", |w| w.held.read().map(drop) => Error::HostAccessHeld { by: None, .. },
    "a second guard to await", |w| w.held.read_async().map(drop) => Error::HostAccessHeld { .. },
    "a second guard to write", |w| w.held.write().map(drop) => Error::HostAccessHeld { .. },
    "a second guard to discard", |w| w.held.discard().map(drop) => Error::HostAccessHeld { .. },
    "a vector of what the host writes", |w| w.held.to_vec().map(drop) => Error::HostAccessHeld { .. },
    "rows of what the host writes", |w| w.held.slice([0], [2])?.read_rows().map(drop) => Error::HostAccessHeld { .. },
    // Scopes.
    "a command on a view whose scope is over", |w| w.submit(|cg| {
        cg.fill(&w.ended, 9);
        Ok(())
    }) => Error::ScopeEnded { .. },
    "a kernel call on a view whose scope is over", |w| w.q.run(4, counts(&w.ended)).map(drop) => Error::ScopeEnded { .. },
    "a vector of a view whose scope is over", |w| w.ended.to_vec().map(drop) => Error::ScopeEnded { .. },
    "a reinterpreted view whose scope is over", |w| w.submit(|cg| {
        let bytes = w.ended.reinterpret::<u8, 1>([16])?;
        let bytes = cg.read(&bytes);
        cg.host_task(bytes, |_| {});
        Ok(())
    }) => Error::ScopeEnded { .. },
    "a guard on a view", |w| {
        let mut data = [1; 4];
        w.rt.scope(|scope| scope.view_mut(&mut data)?.read().map(drop))?
    } => Error::Unsupported { .. },
    "a writing guard on a view", |w| {
        let mut data = [1; 4];
        w.rt.scope(|scope| scope.view_mut(&mut data)?.slice_mut([0], [2])?.write_rows().map(drop))?
    } => Error::Unsupported { .. },
    "the builder's own error", |w| w.submit(|cg| -> Result<(), Error> {
        cg.fill(&w.x, 9);
        Err(Error::WaitInKernel)
    }) => Error::WaitInKernel,
];

/// The cases that need closures.
const OF_CLOSURES: &[Case] = table![
    "a launch that is too large", |w| w.submit(|cg| {
        cg.host_kernel([usize::MAX, 2, 2], (), |_, ()| {});
        Ok(())
    }) => Error::LaunchRange { .. },
    "a launch larger than its output", |w| w.submit(|cg| {
        let x = cg.discard(&w.x);
        cg.host_kernel([9], x, |i, mut x| x.put(i, 9));
        Ok(())
    }) => Error::LaunchTooLarge { .. },
    "one buffer read and written", |w| w.submit(|cg| {
        let (a, b) = (cg.read(&w.x), cg.write(&w.x.clone()));
        cg.host_kernel([8], (a, b), |_, _| {});
        Ok(())
    }) => Error::Aliasing { .. },
    "one element through two types", |w| w.submit(|cg| {
        let bytes = w.x.reinterpret::<u8, 1>([32])?;
        let (a, b) = (cg.read(w.x.slice([1], [1])?), cg.write(bytes.slice_mut([7], [9])?));
        let _ = b;
        cg.host_kernel([1], a, |_, _| {});
        Ok(())
    }) => Error::Aliasing { .. },
    "one access used twice", |w| w.submit(|cg| {
        let x = cg.read_write(&w.x);
        cg.host_kernel([8], (x, x), |_, _| {});
        Ok(())
    }) => Error::Aliasing { .. },
    "an access of another group", |w| w.submit(|cg| {
        cg.host_kernel([1], w.access, |_, _| {});
        Ok(())
    }) => Error::ForeignAccess { .. },
    "USM of another runtime", |w| w.submit(|cg| {
        let u = cg.read(&w.theirs.usm);
        cg.host_kernel([1], u, |_, _| {});
        Ok(())
    }) => Error::WrongRuntime { .. },
    "a kernel on what the host writes", |w| w.submit(|cg| {
        let x = cg.read(&w.held);
        cg.host_kernel([1], x, |_, _| {});
        Ok(())
    }) => Error::HostAccessHeld { .. },
];

/// The cases that need a second memory: USM that is out of reach.
const OUT_OF_REACH: &[Case] = table![
    "the host reads a device's USM", |w| w.usm.read().map(drop) => Error::NotAccessible { .. },
    "a task reads a device's USM", |w| w.submit(|cg| {
        let u = cg.read(&w.usm);
        cg.host_task(u, |_| {});
        Ok(())
    }) => Error::NotAccessible { .. },
];

/// A kind of which the backend has no device.
fn absent_kind(rt: &Runtime) -> DeviceKind {
    let there = |kind| rt.devices().iter().any(|device| device.info().kind == kind);
    let all = [DeviceKind::Accelerator, DeviceKind::Simulated, DeviceKind::Gpu, DeviceKind::Cpu];
    all.into_iter().find(|kind| !there(*kind)).unwrap_or(DeviceKind::Accelerator)
}

fn refuses(w: &World, &(name, call, kind): &Case) -> Outcome {
    // The host's copies are brought once; what follows looks at them and moves nothing.
    w.state()?;
    let before = w.state()?;
    let result = catch_unwind(AssertUnwindSafe(|| call(w)));
    let result = result.map_err(|_| Stop::Failed(format!("{name}: panicked")))?;
    match result {
        Err(error) if kind(&error) => {
            ensure!(!error.to_string().is_empty(), "{name}: says nothing");
            if let Error::DeviceNotFound { .. } = error {
                let lists = w.rt.devices().iter().all(|d| error.to_string().contains(d.name()));
                ensure!(lists || error.to_string().contains("none"), "{name}: {error}");
            }
        }
        Err(error) => return Err(Stop::Failed(format!("{name}: {error:?}"))),
        Ok(()) => return Err(Stop::Failed(format!("{name}: was accepted"))),
    }
    w.rt.wait()?;
    let mut after = w.state()?;
    // Views of scopes are allocations that somebody else has made.
    let views = after.0.allocations - before.0.allocations;
    ensure!(views == 0 || name.ends_with("on a view"), "{name}: {views} allocations");
    (after.0.allocations, after.0.allocated_bytes) =
        (before.0.allocations, before.0.allocated_bytes);
    ensure_eq!(after, before, "{name}: something has changed");
    Ok(())
}

/// ERR-01, DEP-05, BUF-06, BACK-04, MEM-01, POL-05
fn bad_input_is_refused_and_changes_nothing(rig: &Rig) -> Outcome {
    for at in 0..rig.rt.devices().len() {
        let w = World::new(rig, at)?;
        for case in CASES {
            refuses(&w, case)?;
        }
        if w.device.info().caps.closures {
            for case in OF_CLOSURES {
                refuses(&w, case)?;
            }
        }
        // Of a simulated device that shares the host's memory, that has all.
        let info = w.device.info();
        let simulated = info.kind == DeviceKind::Simulated;
        if info.home != MemoryHome::Host && !(simulated && info.caps.unified) {
            for case in OUT_OF_REACH {
                refuses(&w, case)?;
            }
        }
        // All of them still work.
        w.event.wait()?;
        w.q.wait()?;
        w.q.run(8, adds(1, &w.x))?;
        ensure_eq!(w.x.to_vec()?, [2, 3, 4, 5, 6, 7, 8, 9]);
        ensure_eq!(w.told.load(Ordering::Relaxed), 0, "a refusal was told as a failure");
        ensure!(w.usm.pointer().offset(33).is_none(), "a pointer past the end");
        ensure!(w.rt.query(u64::MAX).is_none(), "something at the end of the world");
        ensure!(
            w.square.slice([0, 0], [2, 2])?.read_rows()?.row(2).is_none(),
            "a third row of two"
        );
    }
    Ok(())
}

/// ERR-01, ERR-04
fn after_a_shutdown_everything_is_refused(rig: &Rig) -> Outcome {
    let rt = rig.builder().build()?;
    let q = on(&rt, 0)?;
    let x = rt.buffer_from(&[1; 4])?.into_shared();
    rt.shutdown(PATIENCE)?;
    let before = rt.counters();
    refused!(q.submit(|_| Ok(())), Error::ShutDown);
    let filled = q.submit(|cg| {
        cg.fill(&x, 1);
        Ok(())
    });
    refused!(filled, Error::ShutDown);
    refused!(q.barrier(), Error::ShutDown);
    refused!(x.read(), Error::ShutDown);
    refused!(x.read_async(), Error::ShutDown);
    refused!(x.write(), Error::ShutDown);
    refused!(x.discard(), Error::ShutDown);
    refused!(x.to_vec(), Error::ShutDown);
    ensure_eq!(rt.counters(), before);
    // Waiting for nothing is no work.
    q.wait()?;
    rt.wait()?;
    x.written()?.wait()?;
    rt.shutdown(Duration::MAX)?;
    Ok(())
}

/// BUF-01, ERR-01
fn memory_in_use_is_not_released(rig: &Rig) -> Outcome {
    for at in 0..rig.rt.devices().len() {
        let q = rig.on(at)?;
        let device = q.device();
        let mut x = rig.rt.buffer_from(&[1; 4])?;
        add(&q, &mut x, 1)?.wait()?;
        refused!(x.release(&device), Error::OnlyCopy { .. });
        let gate = Gate::new();
        let door = gate.door();
        let task = q.submit(|cg| {
            let x = cg.read(&x);
            cg.host_task(x, move |_| door.pass());
            Ok(())
        })?;
        refused!(x.release(&device), Error::InUse { .. });
        gate.open();
        task.wait()?;
        let guard = x.read()?;
        refused!(x.release(&device), Error::InUse { .. });
        ensure_eq!(guard[..], [2; 4]);
        drop(guard);
        let home = device.info().home;
        if home != MemoryHome::Host {
            x.release(&device)?;
            x.release(&device)?;
        }
        ensure_eq!(x.to_vec()?, [2; 4]);
    }
    Ok(())
}

/// BUF-01: a page that is in pieces, some of which the released memory had.
fn released_memory_holds_no_parts_of_pages(rig: &Rig) -> Outcome {
    if rig.rt.devices().len() < 2 {
        return unsupported("several devices");
    }
    let (there, here) = (rig.on(0)?, rig.on(1)?);
    let device = here.device();
    if device.info().home == MemoryHome::Host {
        return unsupported("a device with memory of its own");
    }
    let mut x = rig.rt.buffer_from(&[1; 10])?;
    let bring = |x: &Buffer<i32>| {
        here.submit(|cg| {
            cg.prefetch(x, Destination::Device);
            Ok(())
        })
    };
    bring(&x)?.wait()?;
    set(&there, &mut x, 1, 6, 2)?.wait()?;
    x.release(&device)?;
    let moved = x.counters().transfers().bytes;
    bring(&x)?.wait()?;
    ensure_eq!(x.counters().transfers().bytes - moved, 40);
    let sum = x.to_vec()?;
    ensure_eq!(sum, [1, 2, 2, 2, 2, 2, 2, 1, 1, 1]);
    // Nor is it the only one that has a part of which it is one of two.
    bring(&x)?.wait()?;
    x.release(&device).map_err(Stop::from)
}

struct Panics;

impl folio_core::sched::Scheduler for Panics {
    fn choose(
        &self,
        _: &folio_core::sched::Task<'_>,
        _: &[folio_core::sched::Candidate<'_>],
    ) -> usize {
        panic!("the scheduler")
    }
}

/// ERR-01, BACK-03: a panic of the caller's own code on the caller's own thread is the caller's;
/// nothing is broken by it.
fn panics_of_schedulers_and_builders_pass_through(rig: &Rig) -> Outcome {
    let q = rig.rt.queue_over(&[], Panics)?;
    let x = rig.rt.buffer_from(&[1; 4])?.into_shared();
    let before = rig.rt.counters();
    let passed = |run: &mut dyn FnMut() -> Result<Event, Error>| {
        catch_unwind(AssertUnwindSafe(run)).is_err()
    };
    let mut fill = || {
        q.submit(|cg| {
            cg.fill(&x, 1);
            Ok(())
        })
    };
    ensure!(passed(&mut fill), "the scheduler's panic was lost");
    let own = rig.queue()?;
    let mut build = || own.submit(|_| -> Result<(), Error> { panic!("the builder") });
    ensure!(passed(&mut build), "the builder's panic was lost");
    ensure_eq!(rig.rt.counters(), before);
    ensure_eq!(x.to_vec()?, [1; 4]);
    let scoped = catch_unwind(AssertUnwindSafe(|| {
        let mut data = [1; 4];
        rig.rt.scope(|scope| {
            let view = scope.view_mut(&mut data);
            let view = view.map(Buffer::into_shared);
            panic!("the scope, with {:?}", view.is_ok());
        })
    }));
    ensure!(scoped.is_err(), "the scope's panic was lost");
    own.submit(|_| Ok(()))?.wait()?;
    Ok(())
}

/// BUF-01, DEP-05, XFER-02: what is empty is legal and does nothing.
fn nothing_at_all_is_legal(rig: &Rig) -> Outcome {
    for at in 0..rig.rt.devices().len() {
        let q = rig.on(at)?;
        let rt = &rig.rt;
        let before = rt.counters();
        let mut none = rt.buffer::<i32, 1>(0)?;
        let flat = rt
            .buffer_with::<i32, 3>([2, 0, 3], BufferOptions::new().page([1, 7, 1]))?
            .into_shared();
        let made = rt.buffer_from::<i32, 1>(&[])?.into_shared();
        ensure_eq!((none.len(), none.to_vec()?, flat.to_vec()?), (0, vec![], vec![]));
        ensure_eq!((made.read()?.len(), made.write()?.len()), (0, 0));
        ensure_eq!(made.read_async()?.wait()?.len(), 0);
        ensure_eq!(flat.slice([1, 0, 0], [1, 0, 3])?.read_rows()?.row(0), None);
        none.discard()?.fill(1);
        let (low, high) = none.split_at_mut(0)?;
        ensure_eq!((low.len(), high.len()), (0, 0));
        drop((low, high));
        let bytes = made.reinterpret::<u8, 2>([5, 0])?;
        // All actions, over nothing.
        q.run([2, 0, 3], places(&flat))?.wait()?;
        q.run(0, fails(0, &mut none))?;
        q.submit(|cg| {
            cg.fill(&mut none, 4);
            Ok(())
        })?;
        q.submit(|cg| {
            cg.copy(&made, &mut none);
            Ok(())
        })?;
        q.submit(|cg| {
            cg.copy_from_slice(&[], &mut none);
            Ok(())
        })?;
        q.submit(|cg| {
            cg.prefetch(&bytes, Destination::Device);
            Ok(())
        })?;
        q.submit(|cg| {
            cg.prefetch(&flat, Destination::Host);
            Ok(())
        })?;
        q.submit(|_| Ok(()))?.wait()?;
        q.barrier()?.wait()?;
        made.written()?.wait()?;
        none.release(&q.device())?;
        let done = rt.counters();
        ensure_eq!(done, before, "device {at}: something was done");
        // An empty part of a buffer with contents, beside a part that overlaps with it.
        let x = rt.buffer_from(&[1; 4])?.into_shared();
        let moved = rt.counters().transfers();
        q.run(0, adds_up(x.slice([2], [0])?, x.slice_mut([0], [4])?))?;
        ensure_eq!(rt.counters().transfers(), moved, "device {at}: a launch of nothing moved data");
        // Launches, tasks and views of nothing run.
        let ran = Arc::new(AtomicUsize::new(0));
        let own = ran.clone();
        q.submit(|cg| {
            let made = cg.read(&made);
            cg.host_task(made, move |made| own.store(1 + made.len(), Ordering::Relaxed));
            Ok(())
        })?
        .wait()?;
        ensure_eq!(ran.load(Ordering::Relaxed), 1);
        let mut usm = rt.usm::<i32>(&q.device(), UsmKind::Device, 0)?;
        q.submit(|cg| {
            cg.fill(&mut usm, 4);
            Ok(())
        })?;
        q.submit(|cg| {
            let p = usm.pointer();
            // SAFETY: no byte of it.
            unsafe { cg.copy_raw(p, p, [0]) };
            Ok(())
        })?;
        ensure_eq!((usm.len(), usm.slice(0, 0).is_ok()), (0, true));
        let mut data: [i32; 0] = [];
        rt.scope(|scope| {
            let view = scope.view_mut(&mut data)?;
            ensure_empty(&view)?;
            q.submit(|cg| {
                cg.prefetch(&view, Destination::Device);
                Ok(())
            })
        })??;
        ensure!(q.wait_timeout(Duration::ZERO)? || q.wait_timeout(PATIENCE)?, "nothing takes long");
    }
    Ok(())
}

fn ensure_empty(view: &Buffer<i32>) -> Result<(), Error> {
    if view.to_vec()?.is_empty() { Ok(()) } else { Err(Error::ShutDown) }
}
