//! Runs a program on a runtime, and records what could be seen of it. Judges nothing but hangs,
//! leaks and broken contracts; the rest is the oracle's.

use crate::compute;
use crate::program::{Action, Ends, Program, Step, Ty, View, What};
use crate::typed::{self, Any3, Digest, Job};
use crate::with_handle;
use crate::world::{Told, World, Wrap, chosen, frozen};
use folio_core::{CommandGroup, Counters, Error, Event, Moves, Result, Status};
use std::any::Any;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::{Duration, Instant};

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

    fn from_error(error: &Error) -> Outcome {
        match error {
            Error::Failed(failure) => Outcome::Failed(failure.id(), failure.label().to_owned()),
            Error::Aliasing { .. } => Outcome::Aliasing,
            Error::HostAccessHeld { .. } => Outcome::Held,
            other => Outcome::Other(other.to_string()),
        }
    }
}

/// What was seen of a step.
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
    /// What the host read, element by element.
    pub data: Vec<u64>,
    /// The digest of what a host task read.
    pub digest: u64,
    /// What was moved for each buffer that it names.
    pub moved: Vec<(usize, Moves)>,
}

/// What was seen of a program.
#[derive(Clone, Debug, Default)]
pub struct Record {
    /// Its steps, in the order of the program; without those that had no effect.
    pub steps: Vec<Seen>,
    /// The buffers at the end.
    pub finals: Vec<Option<(Outcome, Vec<u64>)>>,
    /// What each queue's `wait` returned until it returned nothing.
    pub queues: Vec<Vec<(u64, String)>>,
    /// What the handler was told.
    pub told: Vec<Told>,
    /// What is wrong whatever the oracle says.
    pub wrong: Vec<String>,
    /// Transfers of the runtime, and what simulated devices did.
    pub sums: Option<(Counters, folio_sim::Counters)>,
}

/// A step on its way.
struct Doing {
    seen: Seen,
    event: Option<Event>,
    digest: Option<Digest>,
}

struct Runner<'p> {
    program: &'p Program,
    world: World,
    buffers: Vec<Mutex<Option<Any3>>>,
    events: Mutex<Vec<(u32, Event)>>,
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
    for (at, spec) in program.buffers.iter().enumerate() {
        match typed::buffer(&world.rt, at, spec) {
            Ok(buffer) => buffers.push(Mutex::new(Some(buffer))),
            Err(error) => return Record { wrong: vec![error.to_string()], ..record },
        }
    }
    let runner = Runner { program, world, buffers, events: Mutex::default() };
    let mut all = runner.steps();
    runner.finish(&mut all, &mut record);
    wrap.seen(&mut record);
    record
}

impl Runner<'_> {
    fn steps(&self) -> Vec<Doing> {
        let threads = self.program.threads();
        if threads == 1 {
            return self.thread(0);
        }
        let mut all: Vec<Doing> = std::thread::scope(|scope| {
            let handles: Vec<_> =
                (0..threads).map(|t| scope.spawn(move || self.thread(t))).collect();
            handles.into_iter().filter_map(|h| h.join().ok()).flatten().collect()
        });
        let place = |id: u32| self.program.steps.iter().position(|s| s.id == id);
        all.sort_by_key(|d| place(d.seen.id));
        all
    }

    fn thread(&self, thread: usize) -> Vec<Doing> {
        let mut held: Vec<Box<dyn Any>> = Vec::new();
        let steps = self.program.steps.iter().filter(|s| s.thread == thread);
        let done = steps.filter_map(|step| self.step(step, &mut held)).collect();
        self.world.thaw();
        done
    }

    fn buffer(&self, at: usize) -> Option<Any3> {
        lock(self.buffers.get(at)?).clone()
    }

    fn counters(&self, at: usize) -> Moves {
        let any = self.buffer(at);
        any.map(|any| with_handle!(any, h => h.counters().transfers())).unwrap_or_default()
    }

    fn step(&self, step: &Step, held: &mut Vec<Box<dyn Any>>) -> Option<Doing> {
        let named: Vec<usize> = match &step.what {
            What::Submit { action, .. } => {
                action.accesses().iter().map(|(a, _)| a.view.buffer).collect()
            }
            What::Read { view } | What::Write { view, .. } | What::Hold { view, .. } => {
                vec![view.buffer]
            }
            _ => Vec::new(),
        };
        if named.iter().any(|b| self.buffer(*b).is_none()) {
            return None;
        }
        if !matches!(step.what, What::Submit { .. } | What::Barrier { .. } | What::Freeze { .. }) {
            self.world.thaw();
        }
        let before: Vec<Moves> = named.iter().map(|b| self.counters(*b)).collect();
        let mut doing = self.perform(step, held)?;
        for (at, before) in named.iter().zip(before) {
            let after = self.counters(*at);
            let mut moved = Moves::default();
            moved.operations = after.operations - before.operations;
            moved.bytes = after.bytes - before.bytes;
            moved.pages = after.pages - before.pages;
            doing.seen.moved.push((*at, moved));
        }
        if let Some(event) = &doing.event {
            lock(&self.events).push((step.id, event.clone()));
        }
        Some(doing)
    }

    fn event(&self, step: u32) -> Option<Event> {
        lock(&self.events).iter().find(|(id, _)| *id == step).map(|(_, e)| e.clone())
    }

    fn perform(&self, step: &Step, held: &mut Vec<Box<dyn Any>>) -> Option<Doing> {
        let mut doing = Doing {
            seen: Seen {
                id: step.id,
                call: Outcome::Fine,
                end: Outcome::Fine,
                device: 0,
                data: Vec::new(),
                digest: 0,
                moved: Vec::new(),
            },
            event: None,
            digest: None,
        };
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
                let after: Vec<Event> = after.iter().filter_map(|s| self.event(*s)).collect();
                let queue = self.world.queues.get(*queue)?;
                let result = queue.submit(|cg| {
                    cg.label(Program::label(step.id));
                    after.iter().for_each(|event| {
                        cg.after(event);
                    });
                    self.describe(cg, step.id, action, &digest)
                });
                doing.seen.call = Outcome::of(&result);
                doing.seen.device = if queue.devices().len() > 1 { chosen() } else { 0 };
                doing.event = result.ok();
                doing.digest = Some(digest);
            }
            What::Read { view } => guarded(&mut doing.seen, self.read(view), false),
            What::Hold { view, writes: false } => {
                guarded(&mut doing.seen, self.read(view), true);
            }
            What::Hold { view, writes: true } => {
                guarded(&mut doing.seen, self.write(view, false, None), true);
            }
            What::Write { view, overwrite, skip } => {
                guarded(&mut doing.seen, self.write(view, *overwrite, job(*skip)), false);
            }
            What::Unhold => held.clear(),
            What::Drop { buffer } => drop(lock(self.buffers.get(*buffer)?).take()),
            What::WaitQueue { queue } => {
                let queue = self.world.queues.get(*queue)?;
                // Which failure it returns depends on time; `finish` takes the rest.
                doing.seen.call = Outcome::of(&queue.wait());
            }
            What::WaitEvent { step } => doing.seen.call = Outcome::of(&self.event(*step)?.wait()),
            What::Barrier { queue } => {
                let result = self.world.queues.get(*queue)?.barrier();
                doing.seen.call = Outcome::of(&result);
                doing.event = result.ok();
            }
            What::Freeze { device, copies } => {
                let sim = self.world.sim.as_ref()?;
                let device = device % self.world.simulated;
                frozen(*copies).iter().for_each(|kind| sim.hold(device as u32, *kind));
            }
        }
        Some(doing)
    }

    fn read(&self, view: &View) -> Result<(Vec<u64>, Box<dyn Any>)> {
        let Some(any) = self.buffer(view.buffer) else { return Err(Error::ShutDown) };
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
                dispatch::kernel(cg, *rank, &all, *range, job)
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
            Action::Update { view } | Action::UpdateHost { view } => {
                let Some(any) = self.buffer(view.buffer) else { return Ok(()) };
                let host = matches!(action, Action::UpdateHost { .. });
                match view.ty {
                    Ty::U32 => dispatch::update::<u32>(cg, view, &any, host),
                    Ty::U64 => dispatch::update::<u64>(cg, view, &any, host),
                }
            }
        }
    }

    /// Reads everything, waits for everything, drops everything, and looks for what is left.
    fn finish(self, all: &mut Vec<Doing>, record: &mut Record) {
        for (at, spec) in self.program.buffers.iter().enumerate() {
            let part = folio_core::geom::Box3::whole(spec.dims);
            let view = View { buffer: at, ty: spec.ty, dims: spec.dims, part };
            let read = self.buffer(at).map(|_| self.read(&view));
            record
                .finals
                .push(read.map(|r| (Outcome::of(&r), r.map(|(data, _)| data).unwrap_or_default())));
        }
        for doing in all.iter_mut() {
            if let Some(event) = &doing.event {
                let waited = event.wait();
                doing.seen.end = Outcome::of(&waited);
                let sticky = match event.status() {
                    Status::Failed(error) => Outcome::from_error(&error),
                    Status::Done => Outcome::Fine,
                    _ => Outcome::Other("pending after a wait".to_owned()),
                };
                if sticky != doing.seen.end {
                    let now = (&doing.seen.end, sticky);
                    record.wrong.push(format!("step {}: wait and status: {now:?}", doing.seen.id));
                }
            }
            if let Some(digest) = &doing.digest {
                doing.seen.digest = digest.load(Ordering::SeqCst);
            }
        }
        for queue in &self.world.queues {
            let mut told = Vec::new();
            while let Err(error) = queue.wait() {
                match Outcome::from_error(&error) {
                    Outcome::Failed(id, label) if told.len() < 1000 => told.push((id, label)),
                    other => {
                        record.wrong.push(format!("queue wait: {other:?}"));
                        break;
                    }
                }
            }
            record.queues.push(told);
        }
        if let Err(error) = self.world.rt.wait() {
            record.wrong.push(format!("runtime wait: {error}"));
        }
        let sums = self.world.sim.as_ref().map(|s| (self.world.rt.counters(), s.counters()));
        record.sums = sums;
        record.steps = all.drain(..).map(|d| d.seen).collect();
        let Runner { world, buffers, events, .. } = self;
        drop((buffers, events));
        leaks(&world, record);
        let World { rt, queues, sim, reports, told, .. } = world;
        drop((rt, queues));
        if let Some(sim) = &sim {
            record.wrong.extend(sim.violations().iter().map(|v| format!("simulator: {v}")));
        }
        for report in reports {
            record.wrong.extend(report.violations().iter().map(|v| format!("validate: {v}")));
        }
        await_reports(&told, record);
    }
}

/// Whoever notices a failure tells of it when it holds no lock any more: soon after.
fn await_reports(told: &Mutex<Vec<Told>>, record: &mut Record) {
    let finals = record.finals.iter().flatten().map(|(call, _)| call);
    let ends = record.steps.iter().flat_map(|s| [&s.call, &s.end]).chain(finals);
    let failed: Vec<u64> = ends
        .filter_map(|end| match end {
            Outcome::Failed(id, _) => Some(*id),
            _ => None,
        })
        .collect();
    let until = Instant::now() + Duration::from_secs(5);
    loop {
        record.told = lock(told).clone();
        let all = failed.iter().all(|id| record.told.iter().any(|t| t.0 == *id));
        if all || Instant::now() > until {
            return;
        }
        std::thread::yield_now();
    }
}

/// All memory of devices comes back: soon, since other threads may be giving it back.
fn leaks(world: &World, record: &mut Record) {
    let until = Instant::now() + Duration::from_secs(5);
    loop {
        let sim = world.sim.as_ref().map_or(0, |s| s.live_allocations().0);
        let budgets: u64 = world.rt.devices().iter().map(|d| d.budget().1).sum();
        if sim == 0 && budgets == 0 {
            return;
        }
        if Instant::now() > until {
            let labels = world.sim.as_ref().map(|s| s.live_labels());
            record.wrong.push(format!("leaked {budgets} bytes, {sim} allocations: {labels:?}"));
            return;
        }
        std::thread::yield_now();
    }
}

/// From values to types.
mod dispatch {
    use super::*;
    use crate::program::{Access, Mode};

    macro_rules! counts {
        ($t:ty, $d:literal, $cg:expr, $all:expr, $range:expr, $job:expr, $n:expr,
         $($r:literal $w:literal $x:literal),*) => {
            match $n {
                $(($r, $w, $x) => typed::kernel::<$t, $d, $r, $w, $x>($cg, $all, $range, $job),)*
                _ => Ok(()),
            }
        };
    }

    pub(super) fn kernel(
        cg: &mut CommandGroup,
        rank: usize,
        all: &[(Access, Any3)],
        range: [usize; 3],
        job: Job,
    ) -> Result<()> {
        let count = |f: fn(Mode) -> bool| all.iter().filter(|(a, _)| f(a.mode)).count();
        let n = (
            count(|m| m == Mode::Read),
            count(|m| matches!(m, Mode::Write | Mode::Discard)),
            count(|m| m == Mode::ReadWrite),
        );
        let ty = all.first().map_or(Ty::U32, |(a, _)| a.view.ty);
        macro_rules! ranked {
            ($t:ty, $d:literal) => {
                counts!($t, $d, cg, all, range, job, n,
                    0 1 0, 0 0 1, 0 1 1, 0 2 0, 0 0 2, 1 1 0, 1 0 1, 1 1 1, 1 2 0, 1 0 2,
                    2 1 0, 2 0 1, 2 1 1, 2 2 0, 2 0 2)
            };
        }
        match (ty, rank) {
            (Ty::U32, 1) => ranked!(u32, 1),
            (Ty::U32, 2) => ranked!(u32, 2),
            (Ty::U32, _) => ranked!(u32, 3),
            (Ty::U64, 1) => ranked!(u64, 1),
            (Ty::U64, 2) => ranked!(u64, 2),
            (Ty::U64, _) => ranked!(u64, 3),
        }
    }

    pub(super) fn task(
        cg: &mut CommandGroup,
        r: Option<(View, &Any3)>,
        w: Option<(Access, &Any3)>,
        job: Job,
        digest: Digest,
    ) -> Result<()> {
        let types =
            (r.as_ref().map_or(Ty::U32, |r| r.0.ty), w.as_ref().map_or(Ty::U32, |w| w.0.view.ty));
        match types {
            (Ty::U32, Ty::U32) => typed::task::<u32, u32>(cg, r, w, job, digest),
            (Ty::U32, Ty::U64) => typed::task::<u32, u64>(cg, r, w, job, digest),
            (Ty::U64, Ty::U32) => typed::task::<u64, u32>(cg, r, w, job, digest),
            (Ty::U64, Ty::U64) => typed::task::<u64, u64>(cg, r, w, job, digest),
        }
    }

    pub(super) fn copy<T: typed::Elem>(
        cg: &mut CommandGroup,
        from: (&View, &Any3),
        to: (&View, &Any3),
    ) -> Result<()> {
        let source = typed::seen_as::<T, 3>(from.1, from.0)?;
        let target = typed::seen_as::<T, 3>(to.1, to.0)?;
        let source = source.slice(from.0.part.min, from.0.part.extent())?;
        cg.copy(source, target.slice_mut(to.0.part.min, to.0.part.extent())?);
        Ok(())
    }

    pub(super) fn give<T: typed::Elem>(
        cg: &mut CommandGroup,
        to: &View,
        any: &Any3,
        salt: u32,
        fill: bool,
    ) -> Result<()> {
        let handle = typed::seen_as::<T, 3>(any, to)?;
        let part = handle.slice_mut(to.part.min, to.part.extent())?;
        if fill {
            cg.fill(part, T::narrow(compute::given(salt, 0)));
        } else {
            let data: Vec<T> =
                (0..to.part.volume()).map(|i| T::narrow(compute::given(salt, i))).collect();
            cg.copy_from_slice(&data, part);
        }
        Ok(())
    }

    pub(super) fn update<T: typed::Elem>(
        cg: &mut CommandGroup,
        view: &View,
        any: &Any3,
        host: bool,
    ) -> Result<()> {
        let handle = typed::seen_as::<T, 3>(any, view)?;
        let part = handle.slice(view.part.min, view.part.extent())?;
        if host {
            cg.update_host(part);
        } else {
            cg.update(part);
        }
        Ok(())
    }
}
