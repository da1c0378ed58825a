//! Random programs of graphs in which one thing goes wrong: a call of a backend fails, at once or
//! later, or takes its device with it; a task fails or panics; a kernel reaches outside. That
//! happens while a graph is made, in a run or a batch, after an exchange, or when the host reads.
//!
//! Runs leave the same data as the same commands in turn, or data that cannot be read. Data can be
//! read unless they follow from the failed command (ERR-01 to ERR-04). A failure is one, told once,
//! and named. When all has been overwritten, the same graph runs as ever. All memory comes back.
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

use crate::graphs;
use crate::graphs_doubts::{Doubts, Joins, Pending, Use};
use crate::graphs_mishaps::{Mishap, Moment, Plan, during, happened};
use crate::graphs_steps::{BUFFERS, FLAGS, Log, N, Step, Tasks, What};
use crate::graphs_world::{
    Backends, Made, Seen, Submitted, Way, World, backends, builder, exchange, renew, see,
};
use folio::prelude::*;
use folio_core::canary::Canary;
use folio_core::hal::{Backend, HalErrorKind};
use folio_core::planted::Planted;
use folio_core::{Cause, DeviceRef, Failure, Result, RuntimeBuilder, graph::Replay, memory::Links};
use folio_layers::{Fault, FaultHandle, Faults, Fired, Layer, Report, Validate};
use folio_model::interp::Interpreter;
use folio_model::rng::Rng;
use folio_model::run::{Outcome, PATIENCE};
use folio_sim::{DeviceSpec, SimBackend, SimHandle};
use std::collections::BTreeSet;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, mpsc};
use std::time::{Duration, Instant};

/// The failures that the handler was told of.
type Failures = Arc<Mutex<Vec<Arc<Failure>>>>;

struct Case<'s> {
    world: World,
    handles: Vec<FaultHandle>,
    reports: Vec<Report>,
    handler: Failures,
    plan: Plan,
    armed: bool,
    doubts: Doubts,
    pending: Vec<Pending>,
    /// The failures that something has ended with.
    roots: BTreeSet<u64>,
    /// A call has returned what a backend's call has.
    refused: bool,
    /// The submitted commands, and how each ended.
    history: Vec<String>,
    seen: &'s Seen,
}

pub(crate) type Verdict<T = ()> = std::result::Result<T, String>;

/// With faults around each backend, and what watches over them around that.
fn open(
    builder: RuntimeBuilder,
    backends: Vec<Arc<dyn Backend>>,
) -> Result<(Runtime, Vec<FaultHandle>, Vec<Report>, Failures)> {
    let (told, mut handles, mut reports) = (Failures::default(), Vec::new(), Vec::new());
    let (sink, canary) = (told.clone(), Canary::new("the handler"));
    let mut builder = builder.on_failure(move |failure| {
        canary.runs();
        sink.lock().unwrap().push(failure.clone());
    });
    for backend in backends {
        let (faults, validate) = (Faults::new(), Validate::new());
        handles.push(faults.handle());
        reports.push(validate.report());
        let faulty: Arc<dyn Backend> = Arc::new(Layer::new(faults, backend));
        builder = builder.shared_backend(Arc::new(Layer::new(validate, faulty)));
    }
    Ok((builder.build()?, handles, reports, told))
}

impl Case<'_> {
    /// Something may go wrong from here on.
    fn about_to(&mut self, moment: Moment) -> bool {
        if self.armed || self.plan.moment != moment {
            return false;
        }
        if self.plan.passed > 0 {
            self.plan.passed -= 1;
            return false;
        }
        self.armed = true;
        match &self.plan.mishap {
            Mishap::Call { site, ahead, fault } => {
                for handle in &self.handles {
                    let calls = handle.counts().get(site).copied().unwrap_or_default();
                    handle.inject(*site, calls + ahead, fault.clone());
                }
            }
            Mishap::Task(calls) => self.world.log.fuse.store(*calls, Ordering::SeqCst),
            Mishap::Outside => {}
        }
        true
    }

    /// The error, with all that led to it.
    fn told(&self, why: String) -> String {
        let (plan, history) = (&self.plan, self.history.join("\n"));
        format!("{why}\n{plan:?}, {:?}\n{history}", self.fired())
    }

    fn fired(&self) -> Option<Fired> {
        self.handles.iter().find_map(|handle| handle.fired().pop())
    }

    fn loses(&self) -> bool {
        self.plan.loses() && self.fired().is_some()
    }

    /// Whether this is the failure that was planned, by its names.
    fn known(&mut self, failure: &Failure) -> Verdict {
        if self.loses() {
            self.roots.insert(failure.id());
            return Ok(());
        }
        if !self.roots.is_empty() {
            return match self.roots.contains(&failure.id()) {
                true => Ok(()),
                false => Err(format!("another failure: {failure:#?}")),
            };
        }
        let (label, cause) = (failure.label(), failure.cause());
        let named = label.strip_prefix("step ").and_then(|at| at.parse::<usize>().ok());
        let is_planned = match (&self.plan.mishap, self.fired()) {
            (Mishap::Call { fault, .. }, Some(fired)) => {
                let (Fault::Now(kind) | Fault::Later(kind)) = fault else {
                    return Err(format!("no device is lost: {failure:#?}"));
                };
                let is_kind = matches!(cause, Cause::Backend(error)
                    if format!("{:?}", error.kind) == format!("{kind:?}"));
                is_kind && fired.label == label && self.is_device(&fired, failure.device())
            }
            (Mishap::Task(_), _) => match (named, cause) {
                (Some(own), Cause::Panic(_)) => own % 2 == 0,
                (Some(own), Cause::Task(_)) => own % 2 == 1,
                _ => false,
            },
            (Mishap::Outside, _) => named.is_some() && matches!(cause, Cause::Kernel(_)),
            _ => false,
        };
        if !is_planned {
            return Err(format!("not what was planned: {failure:#?}, {:?}", self.fired()));
        }
        self.roots.insert(failure.id());
        Ok(())
    }

    fn is_device(&self, fired: &Fired, name: &str) -> bool {
        name.rsplit(':').next() == fired.device.map(|at| at.to_string()).as_deref()
    }

    /// A call has returned an error: it is what was planned.
    fn excuse(&mut self, error: &Error) -> Verdict {
        if let Error::Failed(failure) = error {
            return self.known(failure);
        }
        let outcome = Outcome::from_error(error);
        let Some(fired) = self.fired() else { return Err(format!("{outcome:?}: {error}")) };
        let (Mishap::Call { fault, .. }, Outcome::Refused { .. } | Outcome::OutOfMemory { .. }) =
            (&self.plan.mishap, &outcome)
        else {
            return Err(format!("{outcome:?}: {error}; {fired:?}"));
        };
        let expected = match fault {
            Fault::Now(kind) | Fault::Later(kind) => kind.clone(),
            Fault::Lose => HalErrorKind::Lost,
        };
        let fits = match &outcome {
            Outcome::Refused { device, kind, .. } => {
                *kind == format!("{expected:?}") && self.is_device(&fired, device)
            }
            Outcome::OutOfMemory { device, .. } => {
                matches!(expected, HalErrorKind::OutOfMemory { .. })
                    && self.is_device(&fired, device)
            }
            _ => false,
        };
        let twice = self.refused && !self.loses();
        self.refused = true;
        match fits && !twice {
            true => Ok(()),
            false => Err(format!("{outcome:?}, twice: {twice}; {fired:?}")),
        }
    }

    /// Whether a call was made; if not, for the reason that was planned.
    fn is_done<T>(&mut self, result: Result<T>) -> Verdict<Option<T>> {
        match result {
            Ok(done) => Ok(Some(done)),
            Err(error) => self.excuse(&error).map(|()| None),
        }
    }

    /// Notes what was submitted of a run.
    fn submitted(
        &mut self,
        done: Vec<Submitted>,
        (steps, inner): (&[Step], &[usize]),
        (way, joins, run): (Way, Joins, usize),
    ) {
        for Submitted { of, event } in done {
            let (chained, inner) = (way == Way::Split, inner.to_vec());
            let (base, steps) = (of.start, steps[of].to_vec());
            steps.iter().for_each(|step| step.run(&mut self.world.data));
            let must_fail =
                steps.iter().any(|step| matches!(step.what, What::Reaches { outside: true }));
            self.pending.push(Pending {
                steps,
                base,
                joins,
                run,
                chained,
                inner,
                event,
                must_fail,
            });
        }
    }

    /// Waits for all that was submitted, and looks at how it ended.
    fn settle(&mut self) -> Verdict {
        // The failed nodes of the latest run, by numbers in the block.
        let (mut latest, mut failed): (usize, BTreeSet<usize>) = (usize::MAX, BTreeSet::new());
        for one in std::mem::take(&mut self.pending) {
            if one.run != latest {
                (latest, failed) = (one.run, BTreeSet::new());
            }
            let is_new = self.roots.is_empty();
            let ended = match one.event.wait() {
                Ok(()) => None,
                Err(Error::Failed(failure)) => {
                    self.known(&failure)?;
                    Some(failure)
                }
                Err(other) => return Err(format!("an event ended with {other}")),
            };
            let (run, base, joins) = (one.run, one.base, one.joins);
            let steps: Vec<String> = one.steps.iter().map(Step::text).collect();
            let how = ended.as_ref().map(|failure| failure.to_string()).unwrap_or_default();
            let text =
                format!("run {run}, {joins:?}, from {base}: {how}\n  {}", steps.join("\n  "));
            self.history.push(text);
            if self.loses() {
                continue;
            }
            if one.must_fail && ended.is_none() {
                return Err("a kernel that reaches outside did not fail".to_owned());
            }
            see(self.seen, "runs that failed", ended.is_some().into());
            self.doubts.spread(&one, ended.map(|failure| (failure, is_new)), &mut failed)?;
        }
        Ok(())
    }

    /// The host reads a buffer: it has what it should, or it cannot be read.
    fn check(&mut self, at: usize) -> Verdict {
        self.about_to(Moment::Read);
        let got = self.world.all[at].to_vec();
        self.settle()?;
        let whole = Use::whole(at);
        match got {
            Ok(got) if got == self.world.data[at] => {
                self.history.push(format!("buffer {at} was read"));
                Ok(())
            }
            Ok(got) => {
                let (data, doubts) = (&self.world.data[at], &self.doubts.pages[at]);
                Err(format!("buffer {at} is\n{got:?}, and not\n{data:?}\n{doubts:?}"))
            }
            Err(error) => {
                self.excuse(&error)?;
                self.history.push(format!("buffer {at} was not read: {error}"));
                let own = match &error {
                    Error::Failed(failure) => failure.label() == format!("buffer {at}"),
                    _ => true,
                };
                if !self.loses() && !own && !self.doubts.has(&whole) {
                    return Err(format!("buffer {at} cannot be read: {error}"));
                }
                if own && matches!(error, Error::Failed(_)) {
                    self.doubts.add(&whole);
                }
                see(self.seen, "reads that failed", 1);
                Ok(())
            }
        }
    }
}

/// The devices and queues of a program.
struct Places {
    devices: Vec<DeviceRef>,
    /// By device: one in order, and one not.
    queues: Vec<Queue>,
}

impl Places {
    fn of(rt: &Runtime) -> Result<Places> {
        let devices = rt.devices();
        let both = |on: &DeviceRef| [rt.queue_on(on), rt.in_order_queue_on(on)];
        let queues = devices.iter().flat_map(both).collect::<Result<_>>()?;
        Ok(Places { devices, queues })
    }
}

/// A block on its way.
struct Block<'p> {
    way: Way,
    steps: Vec<Step>,
    on: &'p DeviceRef,
    queue: &'p Queue,
    how: Replay,
}

impl Block<'_> {
    /// Which commands of the latest run fail together.
    fn joins(&self, made: &Made) -> Joins {
        match (made, self.how) {
            (Made::Direct(_), _) | (Made::Graph { .. }, Replay::Commands) => Joins::Commands,
            _ => Joins::All,
        }
    }
}

impl Case<'_> {
    fn random_block<'p>(&mut self, places: &'p Places, rng: &mut Rng) -> Result<Block<'p>> {
        let way = [Way::Ordinary, Way::ByHand, Way::Recorded, Way::Nested, Way::Split, Way::Batch];
        let (way, mut steps) = (rng.pick(&way), Step::block(rng));
        if matches!(self.plan.mishap, Mishap::Outside) || rng.chance(20) {
            let at = rng.below(BUFFERS);
            let what = What::Reaches { outside: false };
            steps.insert(0, Step { to: at, from: (at + 1) % BUFFERS, ..Step::of(what) });
            steps.iter_mut().for_each(|step| step.after = step.after.map(|at| at + 1));
        }
        let at = rng.below(places.devices.len());
        let (on, queue) = (&places.devices[at], &places.queues[2 * at + rng.below(2)]);
        self.world.at = at;
        for step in &mut steps {
            if let What::RawCopy(pointers) = &mut step.what {
                let [first, second] = &self.world.raw[at];
                *pointers = Some([first.pointer(on)?, second.pointer(on)?]);
            }
        }
        let how = rng.pick(&[Replay::Lists, Replay::Lists, Replay::Lists, Replay::Commands]);
        Ok(Block { way, steps, on, queue, how })
    }

    /// One run, which may be that in which a kernel reaches outside.
    fn run(&mut self, block: &mut Block<'_>, made: &Made, run: usize) -> Verdict {
        let is_outside = self.about_to(Moment::Run) && matches!(self.plan.mishap, Mishap::Outside);
        let reaches = |step: &Step| matches!(step.what, What::Reaches { .. }) && !step.fixed;
        let at = block.steps.iter().position(reaches).filter(|_| is_outside);
        let told = |error: Error| format!("{error}");
        if let Some(at) = at {
            block.steps[at].what = What::Reaches { outside: true };
            renew(made, (at, &block.steps[at]), &self.world).map_err(told)?;
        }
        let mut done = Vec::new();
        if let Made::Direct(_) | Made::Batch(_) = made {
            self.doubts.pages[BUFFERS..FLAGS].iter_mut().for_each(|made| made.fill(false));
        }
        let ran = self.world.run(block.queue, made, &block.steps, &mut done);
        self.submitted(done, (&block.steps, made.inner()), (block.way, block.joins(made), run));
        self.is_done(ran)?;
        if let Some(at) = at {
            block.steps[at].what = What::Reaches { outside: false };
            renew(made, (at, &block.steps[at]), &self.world).map_err(told)?;
        }
        Ok(())
    }

    /// The commands that other threads of a program might submit between two runs.
    fn beside(&mut self, places: &Places, rng: &mut Rng, run: usize) -> Verdict {
        if rng.chance(25) {
            self.check(rng.below(BUFFERS))?;
        }
        if rng.chance(25) {
            let (step, at) = (Step::random(rng, 0), rng.below(places.queues.len()));
            let log: Log = Arc::new(Tasks { named: true, ..Tasks::default() });
            let all = &self.world.all;
            let sent = places.queues[at].submit(|cg| step.describe((999, all, &log), cg));
            if let Some(event) = self.is_done(sent)? {
                let done = vec![Submitted { of: 0..1, event }];
                self.submitted(
                    done,
                    (&[step], &[]),
                    (Way::Ordinary, Joins::Commands, usize::MAX - run),
                );
                self.pending.iter_mut().last().unwrap().base = 999;
            }
        }
        if rng.chance(10) {
            let (at, i, value) = (rng.below(BUFFERS), rng.below(N), rng.below(1000) as i64);
            let all = self.world.all.clone();
            self.about_to(Moment::Read);
            let got = all[at].write().map(|mut guard| guard[i] = value);
            self.settle()?;
            match got {
                Ok(()) => self.world.data[at][i] = value,
                Err(error) => {
                    self.excuse(&error)?;
                    self.doubts.add(&Use::whole(at));
                }
            }
        }
        Ok(())
    }

    /// Everything is overwritten. If what was planned has occurred, all is well from here on.
    fn mend(&mut self, places: &Places, rng: &mut Rng) -> Verdict {
        self.settle()?;
        self.world.log.fuse.store(0, Ordering::SeqCst);
        let over = self.is_over();
        let q = &places.queues[2 * rng.below(places.devices.len())];
        let log: Log = Arc::new(Tasks { named: true, ..Tasks::default() });
        for to in (0..BUFFERS).chain([FLAGS]) {
            let step = Step { to, from: (to + 1) % BUFFERS, term: 1, ..Step::of(What::Fill) };
            let sent = q.submit(|cg| step.describe((999, &self.world.all, &log), cg));
            if let Some(event) = self.is_done(sent)? {
                let done = vec![Submitted { of: 0..1, event }];
                self.submitted(
                    done,
                    (&[step], &[]),
                    (Way::Ordinary, Joins::Commands, usize::MAX - to),
                );
                self.pending.iter_mut().last().unwrap().base = 999;
            }
        }
        let raw = self.world.raw.clone();
        for (both, queues) in raw.iter().zip(places.queues.chunks(2)) {
            for raw in both {
                let filled = queues[0].fill(raw, 0).and_then(|event| event.wait());
                self.is_done(filled)?;
            }
        }
        self.settle()?;
        if over {
            self.doubts.pages[BUFFERS..].iter_mut().for_each(|pages| pages.fill(false));
        }
        Ok(())
    }

    /// Whether the planned mishap has occurred.
    fn is_over(&self) -> bool {
        self.fired().is_some() || !self.roots.is_empty()
    }

    fn blocks(&mut self, places: &Places, rng: &mut Rng) -> Verdict {
        let told = |error: Error| format!("{error}");
        for number in 0..rng.within(1, 3) {
            let mut block = self.random_block(places, rng).map_err(told)?;
            let Some(mut made) = self.make(&block, rng)? else { continue };
            let times = if rng.chance(50) { rng.within(4, 9) } else { rng.within(1, 5) };
            for run in 0..times {
                let id = 100 * number + run;
                let doing = |why: String, block: &Block<'_>, of: &str| {
                    let (way, how) = (block.way, block.how);
                    format!("block {number}, {way:?}, {how:?}, {of} {run}: {why}")
                };
                self.run(&mut block, &made, id).map_err(|why| doing(why, &block, "run"))?;
                self.beside(places, rng, id).map_err(|why| doing(why, &block, "beside run"))?;
                self.about_to(Moment::Exchange);
                if rng.chance(35) {
                    let (way, on, steps) = (block.way, block.on, &mut block.steps);
                    let with = (&mut *rng, self.seen);
                    let changed = exchange(&mut made, (way, on), steps, &self.world, with);
                    if self.is_done(changed)?.is_none() {
                        break;
                    }
                }
                if rng.chance(10) {
                    block.how = rng.pick(&[Replay::Lists, Replay::Commands]);
                    if let Made::Graph { runs, .. } = &made {
                        runs.iter().for_each(|run| run.replay_as(block.how));
                    }
                }
            }
            let doing = |why: String, block: &Block<'_>, of: &str| {
                let (way, how) = (block.way, block.how);
                format!("block {number}, {way:?}, {how:?}, {of}: {why}")
            };
            if rng.chance(50) {
                (0..BUFFERS)
                    .try_for_each(|at| self.check(at))
                    .map_err(|why| doing(why, &block, "at the end"))?;
            }
            if self.is_over() && !self.loses() {
                self.mend(places, rng).map_err(|why| doing(why, &block, "overwritten"))?;
                for run in 0..2 {
                    self.run(&mut block, &made, 100 * number + 90 + run)
                        .and_then(|()| self.settle())
                        .map_err(|why| doing(why, &block, "again"))?;
                }
                (0..BUFFERS)
                    .try_for_each(|at| self.check(at))
                    .map_err(|why| doing(why, &block, "read again"))?;
                see(self.seen, "runs after a failure", 1);
            }
        }
        (0..BUFFERS).try_for_each(|at| self.check(at))?;
        self.settle()
    }

    /// The graph of a block. If a call fails, it is made when that is over.
    fn make(&mut self, block: &Block<'_>, rng: &mut Rng) -> Verdict<Option<Made>> {
        for _ in 0..2 {
            self.about_to(Moment::Make);
            let made = self.world.make(block.on, block.way, &block.steps, rng);
            let Some(made) = self.is_done(made)? else {
                see(self.seen, "graphs that could not be made", 1);
                continue;
            };
            if let Made::Graph { runs, .. } = &made {
                runs.iter().for_each(|run| run.replay_as(block.how));
            }
            return Ok(Some(made));
        }
        match self.loses() {
            true => Ok(None),
            false => Err("a graph cannot be made".to_owned()),
        }
    }

    /// What was told of failures, when all has ended.
    fn tellings(&mut self) -> Verdict {
        let until = Instant::now() + Duration::from_secs(5);
        let told = loop {
            let told = self.handler.lock().unwrap().clone();
            let ids: Vec<u64> = told.iter().map(|failure| failure.id()).collect();
            let all = self.roots.iter().all(|id| ids.contains(id));
            if all || Instant::now() > until {
                break told;
            }
            std::thread::yield_now();
        };
        let mut ids: Vec<u64> = told.iter().map(|failure| failure.id()).collect();
        ids.sort_unstable();
        if ids.windows(2).any(|two| two[0] == two[1]) {
            return Err(format!("told twice: {ids:?}"));
        }
        if let Some(missing) = self.roots.iter().find(|id| !ids.contains(id)) {
            return Err(format!("not told of {missing}: {ids:?}"));
        }
        told.iter().try_for_each(|failure| self.known(failure))?;
        let must = self.fired().is_some_and(|fired| {
            let planned = &fired.planned;
            match planned.fault {
                Fault::Lose => self.handles.iter().any(FaultHandle::told_of_loss),
                // For want of memory an allocation is tried again, and without a graph of the
                // device's commands are submitted one by one.
                Fault::Now(_) | Fault::Later(_) => planned.site.is_operation(),
            }
        });
        if must && told.is_empty() && !self.refused {
            return Err(format!("nothing was told of {:?}", self.fired()));
        }
        Ok(())
    }
}

/// Devices that kernels are loaded into.
fn interpreted() -> Backends {
    let spec = DeviceSpec::new().closures(false).ir(Arc::new(Interpreter));
    let sim = SimBackend::builder().devices(2, spec).build();
    let handle = sim.handle();
    (vec![Arc::new(sim)], Some(handle))
}

/// One case: a program in which something goes wrong.
fn run_here(seed: u64, bug: Option<Planted>, seen: &Seen) -> Verdict {
    let told = |error: Error| format!("{error}");
    let mut rng = Rng::new(seed);
    let plan = Plan::random(&mut rng);
    let links = if rng.chance(30) { Links::On } else { Links::Off };
    let (backends, sim) = if rng.chance(20) { interpreted() } else { backends(seed) };
    let builder = Runtime::builder().links(links);
    let builder = match bug {
        // SAFETY: the bug leaves wrong numbers in buffers, within their bounds.
        Some(bug) => unsafe { builder.plant(bug) },
        None => builder,
    };
    let (rt, handles, reports, told_of) = open(builder, backends).map_err(told)?;
    let mut world = World::new(rt.clone(), &mut rng).map_err(told)?;
    world.log = Arc::new(Tasks { named: true, ..Tasks::default() });
    let places = Places::of(&rt).map_err(told)?;
    let mut case = Case {
        world,
        handles,
        reports,
        handler: told_of,
        plan,
        armed: false,
        doubts: Doubts::none(links == Links::On),
        pending: Vec::new(),
        roots: BTreeSet::new(),
        refused: false,
        history: Vec::new(),
        seen,
    };
    let ran = case.blocks(&places, &mut rng);
    ran.map_err(|why| case.told(why))?;
    let waited = rt.wait();
    case.is_done(waited).map_err(|why| case.told(why))?;
    case.tellings().map_err(|why| case.told(why))?;
    if let Some(fired) = case.fired() {
        see(seen, happened(&fired), 1);
    }
    if case.is_over() {
        see(seen, during(case.plan.moment), 1);
    }
    let Case { world, reports, plan, handles, .. } = case;
    drop((world, places));
    let until = Instant::now() + Duration::from_secs(5);
    loop {
        let bytes: u64 = rt.devices().iter().map(|device| device.budget().1).sum();
        let live = sim.as_ref().map(SimHandle::live_labels).unwrap_or_default();
        if bytes == 0 && live.is_empty() {
            break;
        }
        if Instant::now() > until {
            let fired: Vec<_> = handles.iter().flat_map(FaultHandle::fired).collect();
            return Err(format!("{bytes} bytes are left, {live:?}: {plan:?} {fired:?}"));
        }
        std::thread::yield_now();
    }
    drop(rt);
    let mut wrong: Vec<String> =
        reports.iter().flat_map(Report::violations).map(|v| format!("validate: {v}")).collect();
    let broken = sim.iter().flat_map(SimHandle::violations);
    wrong.extend(broken.map(|v| format!("simulator: {v}")));
    if wrong.is_empty() { Ok(()) } else { Err(format!("{wrong:?}: {plan:?}")) }
}

/// As [`run_here`], for so long as it may take.
pub(crate) fn case(seed: u64, bug: Option<Planted>, seen: &Seen) -> Verdict {
    let (send, receive) = mpsc::channel();
    let seen_there = seen.clone();
    let run = move || {
        let _ = send.send(run_here(seed, bug, &seen_there));
    };
    std::thread::Builder::new().name("program".to_owned()).spawn(run).unwrap();
    let ended = match receive.recv_timeout(PATIENCE) {
        Ok(ended) => ended,
        Err(mpsc::RecvTimeoutError::Timeout) => Err("it hangs".to_owned()),
        Err(mpsc::RecvTimeoutError::Disconnected) => Err("its thread panicked".to_owned()),
    };
    ended.map_err(|why| format!("with a fault: {why}"))
}

/// Without a failure nothing shows it.
#[test]
fn planted_run_that_forgets_a_failure_of_its_first_part_is_caught() {
    let (bug, seen) = (Planted::LostFailure, Seen::default());
    for seed in 1..=50 {
        // SAFETY: nothing fails.
        let rt = unsafe { builder(seed).plant(bug) }.build().unwrap();
        graphs::case(rt, seed, &seen).unwrap();
    }
    let caught = (1..=1000).find(|seed| case(*seed, Some(bug), &seen).is_err());
    assert!(caught.is_some(), "not caught: {:?}", seen.lock().unwrap());
}
