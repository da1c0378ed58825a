//! Programs over backends of which one call fails.

use crate::blame;
use crate::features::Tally;
use crate::generate::{self, Menu, Target};
use crate::oracle::{self, Leeway};
use crate::program::{Program, What};
use crate::rng::Rng;
use crate::run::{self, Outcome, PATIENCE, Record};
use crate::suite::kind;
use crate::world::Wrap;
use folio_core::Cause;
use folio_core::hal::{Backend, HalError, HalErrorKind};
use folio_layers::{Fault, FaultHandle, Faults, Layer, Site};
use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// A fault: of which backend, at which call, and what.
#[derive(Clone, Debug)]
pub struct Planned {
    /// The backend's place in the runtime.
    pub backend: usize,
    /// The kind of call.
    pub site: Site,
    /// Which of them.
    pub nth: u64,
    /// The fault.
    pub fault: Fault,
}

/// Wraps each backend in a layer that makes calls fail.
#[derive(Default)]
pub struct Faulty {
    planned: Option<Planned>,
    misnamed: Option<Misnamed>,
    lies: AtomicUsize,
    handles: Mutex<Vec<FaultHandle>>,
}

/// A bug on purpose: what the handler was told of, or a call has returned, has a wrong name.
#[derive(Clone, Copy, Debug)]
pub enum Misnamed {
    /// Another device of the program, or none.
    Device,
    /// The operation that was not done.
    Operation,
    /// The label that is missing.
    Label,
    /// Another kind of failure.
    Cause,
}

impl Misnamed {
    /// Plants it in all that was seen of a failure; how often.
    fn plant(self, record: &mut Record) -> usize {
        let mut lies = record.told.len();
        for told in &mut record.told {
            match self {
                Misnamed::Device => told.device = another(&told.device),
                Misnamed::Operation => told.what = "barrier",
                Misnamed::Label => told.label.push('0'),
                Misnamed::Cause => told.cause = Cause::Backend(HalError::unsupported("this")),
            }
        }
        let finals = record.finals.iter_mut().flatten().map(|(call, _)| call);
        let calls = record.steps.iter_mut().map(|seen| &mut seen.call);
        for call in calls.chain(&mut record.made).chain(finals) {
            lies += 1;
            match (call, self) {
                (
                    Outcome::Refused { device, .. } | Outcome::OutOfMemory { device, .. },
                    Misnamed::Device,
                ) => *device = another(device),
                (Outcome::Refused { doing, .. }, Misnamed::Operation) => doing.insert(0, '?'),
                (Outcome::Refused { doing, .. }, Misnamed::Label) if names_buffer(doing) => {
                    *doing = doing.replace('`', "`0");
                }
                (Outcome::OutOfMemory { label, .. }, Misnamed::Label) => label.push('0'),
                (Outcome::Refused { kind, .. }, Misnamed::Cause) => kind.push('0'),
                _ => lies -= 1,
            }
        }
        lies
    }
}

/// Whether the text of a call names the buffer that the call was for.
fn names_buffer(doing: &str) -> bool {
    doing.contains('`') && !doing.starts_with("load kernel ")
}

/// The name of a device beside this one.
fn another(device: &str) -> String {
    let (backend, at) = device.split_once(':').unwrap_or((device, ""));
    format!("{backend}:{}", if at == "0" { "1" } else { "0" })
}

impl Wrap for Faulty {
    fn fails(&self) -> bool {
        self.planned.is_some()
    }

    fn told(&self) -> bool {
        self.handles().iter().any(FaultHandle::told_of_loss)
    }

    fn seen(&self, record: &mut Record) {
        if let Some(misnamed) = self.misnamed {
            self.lies.store(misnamed.plant(record), Ordering::Relaxed);
        }
    }

    fn wrap(&self, backend: Arc<dyn Backend>) -> Arc<dyn Backend> {
        let faults = Faults::new();
        let handle = faults.handle();
        let mut handles = self.handles.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(p) = self.planned.as_ref().filter(|p| p.backend == handles.len()) {
            handle.inject(p.site, p.nth, p.fault.clone());
        }
        handles.push(handle);
        Arc::new(Layer::new(faults, backend))
    }
}

impl Faulty {
    /// With this fault.
    pub fn with(planned: Planned) -> Faulty {
        Faulty { planned: Some(planned), ..Faulty::default() }
    }

    /// Whose failures are misnamed.
    pub fn misnamed(self, misnamed: Misnamed) -> Faulty {
        Faulty { misnamed: Some(misnamed), ..self }
    }

    /// How many names of its failures were wrong.
    pub fn lies(&self) -> usize {
        self.lies.load(Ordering::Relaxed)
    }

    fn handles(&self) -> Vec<FaultHandle> {
        self.handles.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// The faults of a call.
pub fn faults(site: Site) -> Vec<Fault> {
    if site.only_loses() {
        return vec![Fault::Lose];
    }
    let out_of_memory = || HalErrorKind::OutOfMemory { asked: 1, in_use: 2, limit: 3 };
    let mut all = vec![Fault::Now(HalErrorKind::Driver), Fault::Now(out_of_memory()), Fault::Lose];
    if site.is_operation() {
        all.push(Fault::Later(HalErrorKind::Driver));
        all.push(Fault::Later(out_of_memory()));
    }
    all
}

/// The runtimes that faults are tried in where there are no others.
pub const USUAL: &[Target] = &[Target::Sim, Target::Sim, Target::Cpu, Target::Mixed];

/// The program of a seed, without what could not be repeated.
pub fn program(seed: u64, targets: &[Target]) -> Program {
    let target = targets[(seed % targets.len() as u64) as usize];
    let menu = Menu { failures: 0, threads: 0, steady: true, ..Menu::of(target) };
    let mut program = generate::program(seed, menu);
    // To lose a device waits for it.
    program.steps.retain(|s| !matches!(s.what, What::Freeze { .. }));
    program
}

/// Every call of a program, with everything that can go wrong there.
pub fn plans(program: &Program) -> Result<Vec<Planned>, String> {
    let counting = Arc::new(Faulty::default());
    let wrap: Arc<dyn Wrap> = counting.clone();
    let Some(record) = run::run(program, &wrap, PATIENCE) else {
        return Err("it hangs without a fault".to_owned());
    };
    oracle::check(program, &record)?;
    let mut plans = Vec::new();
    for (backend, handle) in counting.handles().iter().enumerate() {
        for (site, calls) in handle.counts().into_iter().filter(|(s, _)| *s != Site::Devices) {
            for nth in 1..=calls {
                let each = faults(site).into_iter();
                plans.extend(each.map(|fault| Planned { backend, site, nth, fault }));
            }
        }
    }
    Ok(plans)
}

/// Runs a program with a fault and says what is wrong.
pub fn verdict(program: &Program, planned: &Planned, patience: Duration) -> Result<(), String> {
    verdict_of(program, &Arc::new(Faulty::with(planned.clone())), patience, &Tally::default())
}

/// As [`verdict`], of the fault that is planned there; counts what occurred.
pub fn verdict_of(
    program: &Program,
    faulty: &Arc<Faulty>,
    patience: Duration,
    tally: &Tally,
) -> Result<(), String> {
    let Some(planned) = &faulty.planned else { return Err("no fault is planned".to_owned()) };
    let wrap: Arc<dyn Wrap> = faulty.clone();
    let Some(record) = run::run(program, &wrap, patience) else {
        return Err("it hangs".to_owned());
    };
    tally.add(program, &record);
    let leeway = if matches!(planned.fault, Fault::Lose) { Leeway::Loss } else { Leeway::Fault };
    oracle::check_with(program, &record, leeway)?;
    // The fault must have been told, at submission or to the handler, and by its name.
    let handles = faulty.handles();
    let fired = handles.get(planned.backend).and_then(|handle| handle.fired().pop());
    if let Some(fired) = &fired {
        blame::check(program, planned.backend, fired, &record)?;
    }
    let refused = Outcome::is_refused;
    let finals = record.finals.iter().flatten().map(|(o, _)| o);
    let calls = record.steps.iter().map(|s| &s.call);
    let seen = calls.chain(finals).chain(&record.made).any(refused);
    let tellings = tellings(program, planned, faulty.told());
    if fired.is_some() && !seen && !tellings.contains(&record.told.len()) {
        return Err(format!("told of {:?}", record.told));
    }
    Ok(())
}

/// How often the handler is told of a fault that no call has returned; `told`: but a lane.
fn tellings(program: &Program, planned: &Planned, told: bool) -> RangeInclusive<usize> {
    // A loss may fail what it leaves without data, too.
    let most = if matches!(planned.fault, Fault::Lose) { usize::MAX } else { 1 };
    // For want of memory an allocation is tried again.
    let out = matches!(planned.fault, Fault::Now(HalErrorKind::OutOfMemory { .. }));
    let retried = out && planned.site == Site::Alloc;
    // Nobody may ask for the device any more, nor for what was dropped with the runtime.
    let unasked = planned.site.only_loses() || program.config.abrupt;
    usize::from(told || !(retried || unasked))..=most
}

/// A case of the suite: a program, and one of the faults that it could meet; each kind of call as
/// often as any other.
pub fn sample(seed: u64, targets: &[Target], tally: &Tally) -> Result<(), String> {
    let program = program(seed / 8, targets);
    let plans = plans(&program).map_err(|why| format!("{why}\n{program:?}"))?;
    let mut sites: Vec<(usize, Site)> = plans.iter().map(|p| (p.backend, p.site)).collect();
    sites.dedup();
    if sites.is_empty() {
        return Ok(());
    }
    let mut rng = Rng::new(seed);
    let site = rng.pick(&sites);
    let there: Vec<&Planned> = plans.iter().filter(|p| (p.backend, p.site) == site).collect();
    judge(&program, rng.pick(&there), tally)
}

/// All faults that a program could meet, one after the other.
pub fn sweep(seed: u64, targets: &[Target], tally: &Tally) -> Result<(), String> {
    let program = program(seed, targets);
    let plans = plans(&program).map_err(|why| format!("{why}\n{program:?}"))?;
    plans.iter().try_for_each(|planned| judge(&program, planned, tally))
}

/// Runs a program with a fault, and explains what is wrong with that by a small one.
fn judge(program: &Program, planned: &Planned, tally: &Tally) -> Result<(), String> {
    let faulty = Arc::new(Faulty::with(planned.clone()));
    let Err(why) = verdict_of(program, &faulty, PATIENCE, tally) else { return Ok(()) };
    let hangs = why == "it hangs";
    let (patience, most) = if hangs { (Duration::from_secs(2), 60) } else { (PATIENCE, 500) };
    let fails = |p: &Program| {
        verdict(p, planned, patience)
            .is_err_and(|found| (found == "it hangs") == hangs && kind(&found) == kind(&why))
    };
    let small = crate::shrink::shrink(program, most, &fails);
    let now = verdict(&small, planned, patience).err();
    let seen = run::run(&small, &(Arc::new(Faulty::with(planned.clone())) as _), patience);
    let ends: Vec<_> = (seen.iter().flat_map(|record| &record.steps))
        .map(|step| format!("\n  {}: {:?}, {:?}", step.id, step.call, step.end))
        .collect();
    Err(format!(
        "{why}\nwith {planned:?}; smallest program found: {now:?}\n{small:?}\n\
         how calls and commands ended:{}\n\
         again: the same test with FOLIO_SEED={} FOLIO_SOAK_CASES=1",
        ends.concat(),
        program.seed,
    ))
}
