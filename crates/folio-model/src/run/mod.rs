//! Runs a program on a runtime, and records what could be seen of it. Judges nothing but hangs,
//! leaks and broken contracts; the rest is the oracle's.

mod dispatch;
mod finish;
mod scope;
mod views;

use crate::functions;
use crate::handle::{self, Handle, Kept};
use crate::order::Order;
use crate::program::{Action, Ends, Memory, Program, Step, Ty, View, What};
use crate::typed::{self, Digest, Job, Place};
use crate::world::{ReportedFailure, World, Wrap, chosen, frozen};
use folio_core::canary::{self, Canary};
use folio_core::{CommandGroup, Counters, Error, Event, Moves, Result, Runtime};
use std::any::Any;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::task::{Context, Waker};
use std::time::Duration;

/// How a call ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Well.
    Fine,
    /// With the failure of this command: its number and label.
    Failed(u64, String),
    /// Two accesses overlap.
    Aliasing,
    /// A host guard holds the data.
    Held,
    /// USM of another place.
    NotAccessible,
    /// Memory is in use.
    InUse,
    /// Memory is the only one to hold some data.
    OnlyCopy,
    /// The scope of a view is over.
    Ended,
    /// A backend has failed a call.
    Refused {
        /// Which device did.
        device: String,
        /// The call that failed.
        doing: String,
        /// The kind of failure, in words.
        kind: String,
    },
    /// For want of memory.
    OutOfMemory {
        /// Whose.
        device: String,
        /// The name of what it was for.
        label: String,
        /// Bytes that were asked for, in use, and allowed.
        bytes: [u64; 3],
    },
    /// In some other way.
    Other(String),
}

impl Outcome {
    fn of<T>(result: &Result<T>) -> Outcome {
        match result {
            Ok(_) => Outcome::Fine,
            Err(error) => Outcome::from_error(error),
        }
    }

    /// A backend has failed a call, or had no memory.
    pub fn is_refused(&self) -> bool {
        matches!(self, Outcome::Refused { .. } | Outcome::OutOfMemory { .. })
    }

    /// How a call with this error has ended.
    pub fn from_error(error: &Error) -> Outcome {
        match error {
            Error::Failed(failure) => Outcome::Failed(failure.id(), failure.label().to_owned()),
            Error::Aliasing { .. } => Outcome::Aliasing,
            Error::HostAccessHeld { .. } => Outcome::Held,
            Error::NotAccessible { .. } => Outcome::NotAccessible,
            Error::InUse { .. } => Outcome::InUse,
            Error::OnlyCopy { .. } => Outcome::OnlyCopy,
            Error::ScopeEnded { .. } => Outcome::Ended,
            Error::Device { device, doing, cause } => {
                let (device, doing) = (device.clone(), doing.clone());
                Outcome::Refused { device, doing, kind: format!("{:?}", cause.kind) }
            }
            Error::OutOfMemory { device, label, asked, in_use, limit, .. } => {
                let (device, label) = (device.clone(), label.as_str().to_owned());
                Outcome::OutOfMemory { device, label, bytes: [*asked, *in_use, *limit] }
            }
            other => Outcome::Other(other.to_string()),
        }
    }
}

/// Waits for everything, whatever has failed; the failures that nothing else has told.
fn idle(rt: &Runtime) -> Option<Vec<u64>> {
    let mut untold = Vec::new();
    loop {
        match rt.wait() {
            Ok(()) => return Some(untold),
            Err(Error::Failed(failure)) => untold.push(failure.id()),
            Err(_) => return None,
        }
    }
}

/// The record of a step.
#[derive(Clone, Debug)]
pub struct Seen {
    /// The step.
    pub id: u32,
    /// How the call ended.
    pub call: Outcome,
    /// How the command ended.
    pub end: Outcome,
    /// On which device of the queue it ran.
    pub device: usize,
    /// The elements that the host read.
    pub data: Vec<u64>,
    /// The digest of what a host task read.
    pub digest: u64,
    /// The transfers of each buffer that it names.
    pub moved: Vec<(usize, Moves)>,
}

impl Seen {
    fn new(id: u32) -> Seen {
        let (call, end) = (Outcome::Fine, Outcome::Fine);
        Seen { id, call, end, device: 0, data: Vec::new(), digest: 0, moved: Vec::new() }
    }

    /// The record after all steps.
    pub fn at_the_end(call: Outcome, data: Vec<u64>) -> Seen {
        Seen { call, data, ..Seen::new(u32::MAX) }
    }
}

/// The record of a program.
#[derive(Clone, Debug, Default)]
pub struct Record {
    /// How the buffers were made.
    pub made: Vec<Outcome>,
    /// Its steps, in the order of the program; without those that had no effect.
    pub steps: Vec<Seen>,
    /// The memory that views gave back at the end.
    pub backs: Vec<Option<(Outcome, Vec<u64>)>>,
    /// The buffers at the end.
    pub finals: Vec<Option<(Outcome, Vec<u64>)>>,
    /// The transfers of the buffers, all in all.
    pub moved: Vec<Option<Moves>>,
    /// The failures that each queue's `wait` returned until it returned nothing.
    pub queues: Vec<Vec<(u64, String)>>,
    /// The failures that the handler was told.
    pub told: Vec<ReportedFailure>,
    /// Errors, whatever the oracle says.
    pub wrong: Vec<String>,
    /// Transfers of the runtime, and what simulated devices did.
    pub sums: Option<(Counters, folio_sim::Counters)>,
}

/// A step on its way.
struct PendingStep {
    seen: Seen,
    event: Option<Event>,
    digest: Option<Digest>,
}

impl PendingStep {
    fn new(id: u32) -> PendingStep {
        PendingStep { seen: Seen::new(id), event: None, digest: None }
    }
}

/// The transfers between two looks.
fn between(before: Moves, after: Moves) -> Moves {
    let mut moved = Moves::default();
    moved.operations = after.operations - before.operations;
    moved.bytes = after.bytes - before.bytes;
    moved.pages = after.pages - before.pages;
    moved
}

struct Runner<'p> {
    program: &'p Program,
    wrap: &'p dyn Wrap,
    world: World,
    buffers: Vec<Mutex<Option<Handle>>>,
    /// Memory that must outlive everything that uses it.
    kept: Kept,
    events: Mutex<Vec<(u32, Event)>>,
    /// Steps that have dropped views, and these views, whose memory is not taken back yet.
    coming: Mutex<Vec<(u32, usize)>>,
}

/// A thread's knowledge of its own steps.
struct Mine {
    held: Vec<Box<dyn Any>>,
    order: Order,
    /// The buffers of scopes, innermost last.
    scopes: Vec<usize>,
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How long a program may take before it counts as hanging.
pub const PATIENCE: Duration = Duration::from_secs(20);

/// Runs a program in a thread of its own; an error is a hang.
pub fn run(program: &Program, wrap: &Arc<dyn Wrap>, patience: Duration) -> Option<Record> {
    let (send, receive) = mpsc::channel();
    let (program, wrap) = (program.clone(), wrap.clone());
    let spawned = std::thread::Builder::new().name("program".to_owned()).spawn(move || {
        let _ = send.send(run_here(&program, &*wrap));
    });
    spawned.ok()?;
    match receive.recv_timeout(patience) {
        Ok(record) => Some(record),
        Err(mpsc::RecvTimeoutError::Timeout) => None,
        Err(mpsc::RecvTimeoutError::Disconnected) => Some(Record {
            wrong: vec!["the program's thread panicked".to_owned()],
            ..Record::default()
        }),
    }
}

fn run_here(program: &Program, wrap: &dyn Wrap) -> Record {
    let world = match World::new(&program.config, wrap) {
        Ok(world) => world,
        Err(why) => return Record { wrong: vec![why], ..Record::default() },
    };
    let mut record = Record::default();
    let mut buffers = Vec::new();
    let mut kept = Kept::default();
    for (at, spec) in program.buffers.iter().enumerate() {
        let queue = &world.queues[program.queue_of(at)];
        let spec = wrap.spec(spec.clone());
        let made = handle::make((&world.rt, queue), at, &spec, &mut kept);
        record.made.push(Outcome::of(&made));
        buffers.push(Mutex::new(made.ok().flatten()));
    }
    let (events, coming) = (Mutex::default(), Mutex::default());
    let runner = Runner { program, wrap, world, buffers, kept, events, coming };
    let mut all = runner.steps();
    match program.config.abrupt {
        true => runner.abandon(all, &mut record),
        false => runner.finish(&mut all, &mut record),
    }
    wrap.seen(&mut record);
    record.wrong.extend(canary::noted());
    record
}

/// Leaves a waker with a future, which is waited for next.
fn poll(future: &mut (impl Future + Unpin)) {
    let waker = Waker::from(Arc::new(Canary::new("a waker")));
    _ = Pin::new(future).poll(&mut Context::from_waker(&waker));
}

impl Runner<'_> {
    fn steps(&self) -> Vec<PendingStep> {
        let threads = self.program.threads();
        if threads == 1 {
            return self.thread(0);
        }
        let mut all: Vec<PendingStep> = std::thread::scope(|scope| {
            let handles: Vec<_> =
                (0..threads).map(|t| scope.spawn(move || self.thread(t))).collect();
            handles.into_iter().filter_map(|h| h.join().ok()).flatten().collect()
        });
        let place = |id: u32| self.program.steps.iter().position(|s| s.id == id);
        all.sort_by_key(|d| place(d.seen.id));
        all
    }

    fn thread(&self, thread: usize) -> Vec<PendingStep> {
        let order = Order::new(self.program);
        let mut mine = Mine { held: Vec::new(), order, scopes: Vec::new() };
        let mut steps = self.program.steps.iter().filter(|s| s.thread == thread);
        let mut done = Vec::new();
        self.walk(&mut steps, &mut mine, &mut done);
        self.world.thaw();
        done
    }

    fn buffer(&self, at: usize) -> Option<Handle> {
        lock(self.buffers.get(at)?).clone()
    }

    fn counters(&self, at: usize) -> Moves {
        self.buffer(at).map(|handle| handle.moves()).unwrap_or_default()
    }

    fn step(&self, step: &Step, mine: &mut Mine) -> Option<PendingStep> {
        let named = match &step.what {
            // The buffer may be gone.
            What::Drop { .. } => Vec::new(),
            what => what.buffers(),
        };
        if named.iter().any(|b| self.buffer(*b).is_none())
            || !self.typed(step)
            || !self.in_order(step, &mine.order)
        {
            return None;
        }
        if !matches!(step.what, What::Submit { .. } | What::Barrier { .. } | What::Freeze { .. }) {
            self.world.thaw();
        }
        let before: Vec<Moves> = named.iter().map(|b| self.counters(*b)).collect();
        let mut pending = self.perform(step, &mut mine.held)?;
        mine.order.note(step, &pending.seen);
        for (at, before) in named.iter().zip(before) {
            pending.seen.moved.push((*at, between(before, self.counters(*at))));
        }
        if let Some(event) = &pending.event {
            lock(&self.events).push((step.id, event.clone()));
        }
        Some(pending)
    }

    /// USM that was to become a buffer has done so, or is seen as what it is made of.
    fn typed(&self, step: &Step) -> bool {
        let fits = |view: &View| {
            let usm = matches!(self.buffer(view.buffer), Some(Handle::Usm(_)));
            !usm || view.ty == self.program.buffers[view.buffer].ty
        };
        match &step.what {
            // Only USM can be advised of.
            What::Submit { action: Action::Advise { view }, .. } => {
                fits(view) && matches!(self.buffer(view.buffer), Some(Handle::Usm(_)))
            }
            What::Submit { action, .. } => {
                let fit = action.accesses().iter().all(|(a, _)| fits(&a.view));
                fit && !(self.program.config.functions && self.borrows_twice(action))
            }
            What::Read { view } | What::Write { view, .. } | What::Hold { view, .. } => fits(view),
            _ => true,
        }
    }

    /// A handle of USM cannot be borrowed for two arguments of a kernel function.
    fn borrows_twice(&self, action: &Action) -> bool {
        let Action::Kernel { accesses, .. } = action else { return false };
        let usm = |buffer: usize| matches!(self.buffer(buffer), Some(Handle::Usm(_)));
        let buffers = accesses.iter().map(|access| access.view.buffer);
        let again = |(at, b): (usize, usize)| accesses[..at].iter().any(|a| a.view.buffer == b);
        buffers.enumerate().any(|(at, buffer)| again((at, buffer)) && usm(buffer))
    }

    /// Nothing that the runtime does not see is in the way of a step.
    fn in_order(&self, step: &Step, order: &Order) -> bool {
        let lent = |view: &View| matches!(self.buffer(view.buffer), Some(Handle::Lent(_)));
        match &step.what {
            What::Submit { queue, action, after } => {
                order.missing(action, *queue, after).is_some_and(|missing| missing.is_empty())
            }
            What::Read { view } => order.host_needs(view, false).is_empty(),
            What::Write { view, .. } | What::Hold { view, .. } => {
                !lent(view) && order.host_needs(view, true).is_empty()
            }
            What::Drop { buffer } => order.handle_needs(*buffer, false).is_empty(),
            What::Adopt { buffer } => {
                let usm = matches!(self.buffer(*buffer), Some(Handle::Usm(_)));
                usm && order.handle_needs(*buffer, true).is_empty()
            }
            _ => true,
        }
    }

    fn event(&self, step: u32) -> Option<Event> {
        lock(&self.events).iter().find(|(id, _)| *id == step).map(|(_, e)| e.clone())
    }

    fn perform(&self, step: &Step, held: &mut Vec<Box<dyn Any>>) -> Option<PendingStep> {
        let mut pending = PendingStep::new(step.id);
        let mut guarded = |seen: &mut Seen, result: Result<(Vec<u64>, Box<dyn Any>)>, keep| {
            seen.call = Outcome::of(&result);
            if let Ok((data, guard)) = result {
                seen.data = data;
                if keep {
                    held.push(guard);
                }
            }
        };
        let job = |skip| Some(Job { salt: step.id, skip, ends: Ends::Well });
        match &step.what {
            What::Submit { queue, action, after } => {
                let digest = Digest::default();
                let mut after: Vec<Event> = after.iter().filter_map(|s| self.event(*s)).collect();
                self.wrap.after(action, &mut after);
                let queue = self.world.queues.get(*queue)?;
                let result = queue.submit(|cg| {
                    cg.label(Program::label(step.id));
                    after.iter().for_each(|event| {
                        cg.after(event);
                    });
                    self.describe(cg, step.id, action, &digest)
                });
                pending.seen.call = Outcome::of(&result);
                pending.seen.device = if queue.devices().len() > 1 { chosen() } else { 0 };
                pending.event = result.ok();
                pending.digest = Some(digest);
            }
            What::Read { view } => {
                // Every second one is a `to_vec`, which is no guard.
                let read = self.read(view, step.id.is_multiple_of(2));
                guarded(&mut pending.seen, read, false);
            }
            What::Hold { view, writes: false } => {
                guarded(&mut pending.seen, self.read(view, false), true);
            }
            What::Hold { view, writes: true } => {
                guarded(&mut pending.seen, self.write(view, false, None), true);
            }
            What::Write { view, overwrite, skip } => {
                guarded(&mut pending.seen, self.write(view, *overwrite, job(*skip)), false);
            }
            What::Unhold => held.clear(),
            What::Enter { .. } | What::Leave { .. } => return None,
            What::Release { buffer, device } => {
                let device = self.world.rt.devices().get(*device)?.clone();
                // The release of memory in use would depend on time.
                idle(&self.world.rt)?;
                pending.seen.call = Outcome::of(&self.buffer(*buffer)?.release(&device)?);
            }
            What::Assume { view, device } => {
                let device = self.world.rt.devices().get(*device)?.clone();
                idle(&self.world.rt)?;
                let handle = self.buffer(view.buffer)?;
                pending.seen.call = Outcome::of(&handle.assume(view, &device, step.id)?);
            }
            What::Adopt { buffer } => {
                let mut place = lock(self.buffers.get(*buffer)?);
                let adopted = place.take()?.adopt()?;
                pending.seen.call = Outcome::of(&adopted);
                *place = adopted.ok();
            }
            What::Drop { buffer } => {
                // A guard would keep it.
                let view = self.program.buffers.get(*buffer)?.policy.is_view();
                if view && !held.is_empty() {
                    return None;
                }
                self.let_go(*buffer, &mut pending.seen)?;
            }
            What::WaitQueue { queue } => {
                let queue = self.world.queues.get(*queue)?;
                // Which failure it returns depends on time; `finish` takes the rest.
                pending.seen.call = Outcome::of(&queue.wait());
            }
            What::WaitEvent { step } => {
                let mut event = self.event(*step)?;
                poll(&mut event);
                pending.seen.call = Outcome::of(&event.wait());
            }
            What::Barrier { queue } => {
                let result = self.world.queues.get(*queue)?.barrier();
                pending.seen.call = Outcome::of(&result);
                pending.event = result.ok();
            }
            What::Freeze { device, copies } => {
                let sim = self.world.sim.as_ref()?;
                let device = device % self.world.simulated;
                frozen(*copies).iter().for_each(|kind| sim.hold(device as u32, *kind));
            }
        }
        Some(pending)
    }

    fn read(&self, view: &View, as_vec: bool) -> Result<(Vec<u64>, Box<dyn Any>)> {
        let Some(any) = self.buffer(view.buffer) else { return Err(Error::ShutDown) };
        let lent = matches!(any, Handle::Lent(_));
        // There are no guards of views.
        if self.program.buffers[view.buffer].memory == Memory::Borrowed || (as_vec && !lent) {
            let data = match view.ty {
                Ty::U32 => typed::copied::<u32>(&any, view)?,
                Ty::U64 => typed::copied::<u64>(&any, view)?,
            };
            return Ok((data, Box::new(())));
        }
        match view.ty {
            Ty::U32 => typed::read::<u32>(&any, view),
            Ty::U64 => typed::read::<u64>(&any, view),
        }
    }

    fn write(
        &self,
        view: &View,
        overwrite: bool,
        job: Option<Job>,
    ) -> Result<(Vec<u64>, Box<dyn Any>)> {
        let Some(any) = self.buffer(view.buffer) else { return Err(Error::ShutDown) };
        match view.ty {
            Ty::U32 => typed::write::<u32>(&any, view, overwrite, job),
            Ty::U64 => typed::write::<u64>(&any, view, overwrite, job),
        }
    }

    fn describe(
        &self,
        cg: &mut CommandGroup,
        salt: u32,
        action: &Action,
        digest: &Digest,
    ) -> Result<()> {
        match action {
            Action::Kernel { rank, range, accesses, skip, ends } => {
                let job = Job { salt, skip: *skip, ends: *ends };
                let of = |a: &crate::program::Access| Some((*a, self.buffer(a.view.buffer)?));
                let all: Vec<_> = accesses.iter().filter_map(of).collect();
                match self.program.config.functions {
                    true => functions::kernel(&self.world.rt, cg, &all, *range, job),
                    false => dispatch::kernel(cg, *rank, &all, *range, job),
                }
            }
            Action::Task { read, write, skip, ends } => {
                let job = Job { salt, skip: *skip, ends: *ends };
                let r = read.and_then(|v| Some((v, self.buffer(v.buffer)?)));
                let w = write.and_then(|w| Some((w, self.buffer(w.view.buffer)?)));
                let (r, w) =
                    (r.as_ref().map(|(v, any)| (*v, any)), w.as_ref().map(|(w, any)| (*w, any)));
                dispatch::task(cg, r, w, job, digest.clone())
            }
            Action::Copy { from, to } => {
                let (Some(a), Some(b)) = (self.buffer(from.buffer), self.buffer(to.buffer)) else {
                    return Ok(());
                };
                match from.ty {
                    Ty::U32 => dispatch::copy::<u32>(cg, (from, &a), (to, &b)),
                    Ty::U64 => dispatch::copy::<u64>(cg, (from, &a), (to, &b)),
                }
            }
            Action::Upload { to } | Action::Fill { to } => {
                let Some(any) = self.buffer(to.buffer) else { return Ok(()) };
                let fill = matches!(action, Action::Fill { .. });
                match to.ty {
                    Ty::U32 => dispatch::give::<u32>(cg, to, &any, salt, fill),
                    Ty::U64 => dispatch::give::<u64>(cg, to, &any, salt, fill),
                }
            }
            Action::UpdateHost { view } | Action::Prefetch { view } | Action::Advise { view } => {
                let Some(any) = self.buffer(view.buffer) else { return Ok(()) };
                match view.ty {
                    Ty::U32 => dispatch::bring::<u32>(cg, view, &any, action),
                    Ty::U64 => dispatch::bring::<u64>(cg, view, &any, action),
                }
            }
            Action::RawCopy { .. }
            | Action::RawFill { .. }
            | Action::RawRun { .. }
            | Action::RawHint { .. } => {
                self.describe_raw(cg, salt, action);
                Ok(())
            }
        }
    }

    /// Says what a raw command does. Whoever calls has found it in order.
    fn describe_raw(&self, cg: &mut CommandGroup, salt: u32, action: &Action) {
        let rt = &self.world.rt;
        let rows = |view: &View| self.buffer(view.buffer)?.rows(rt, view);
        let place = |view: &View| {
            let address = self.buffer(view.buffer)?.pointer(rt)?.address()? as usize;
            Some(Place { address, view: *view })
        };
        match action {
            Action::RawCopy { from, to } => {
                if let (Some(source), Some(target)) = (rows(from), rows(to)) {
                    dispatch::raw_copy(cg, source, target, from);
                }
            }
            Action::RawFill { to } => {
                if let Some(target) = rows(to) {
                    dispatch::raw_fill(cg, target, to, salt);
                }
            }
            Action::RawHint { view } => {
                let pointer = self.buffer(view.buffer).and_then(|handle| handle.span(rt, view));
                if let Some((start, bytes)) = pointer {
                    // SAFETY: the program keeps the memory.
                    unsafe { cg.prefetch_raw(start, bytes) };
                }
            }
            Action::RawRun { on_host, read, write, ends } => {
                let job = Job { salt, skip: None, ends: *ends };
                if let Some(target) = place(write) {
                    typed::by_address(cg, *on_host, read.as_ref().and_then(place), target, job);
                }
            }
            _ => {}
        }
    }
}
