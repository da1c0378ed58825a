//! By which names things may fail where one call of a backend has: the device that it happened to,
//! what was done there, and the command or buffer for which that was. Without planned failures
//! nothing else fails in such a program.

use crate::program::{Action, Memory, Program, What};
use crate::run::{Outcome, Record};
use crate::world::ReportedFailure;
use folio_core::Cause;
use folio_core::hal::HalErrorKind;
use folio_layers::{Fault, Fired, OpKind, Site};

struct Blame<'a> {
    program: &'a Program,
    fault: &'a Fault,
    fired: &'a Fired,
    /// The name of the device that it happened to.
    device: String,
}

/// Says which error has a wrong name, if one has. The fault happened in this backend of the
/// program.
pub fn check(
    program: &Program,
    backend: usize,
    fired: &Fired,
    record: &Record,
) -> Result<(), String> {
    let backends = program.config.backends();
    let (Some((name, _)), Some(at)) = (backends.get(backend), fired.device) else {
        return Err(format!("no device of the program: {fired:?}"));
    };
    let device = format!("{name}:{at}");
    let blame = Blame { program, fault: &fired.planned.fault, fired, device };
    let told = |what: &str| format!("{what}, but it was {} in {fired:?}", blame.device);
    for (calls, buffers) in calls(program, record) {
        if !blame.allows(calls, &buffers) {
            return Err(told(&format!("{calls:?} for buffers {buffers:?}")));
        }
    }
    match record.told.iter().find(|failure| !blame.explains(failure)) {
        Some(failure) => Err(told(&format!("the handler was told of {failure:?}"))),
        None => Ok(()),
    }
}

/// Every call, and the buffers that it was about.
fn calls<'a>(program: &Program, record: &'a Record) -> Vec<(&'a Outcome, Vec<usize>)> {
    let steps = record.steps.iter().map(|seen| {
        let step = program.steps.iter().find(|step| step.id == seen.id);
        (&seen.call, step.map(|step| step.what.buffers()).unwrap_or_default())
    });
    let made = record.made.iter().enumerate().map(|(at, call)| (call, vec![at]));
    let finals = record.finals.iter().enumerate();
    let finals = finals.filter_map(|(at, last)| Some((&last.as_ref()?.0, vec![at])));
    steps.chain(made).chain(finals).collect()
}

impl Blame<'_> {
    fn loses(&self) -> bool {
        matches!(self.fault, Fault::Lose)
    }

    /// The kind of a failure is that of the fault.
    fn is_fault(&self, kind: &str) -> bool {
        match self.fault {
            Fault::Now(fault) | Fault::Later(fault) => kind == format!("{fault:?}"),
            Fault::Lose => kind == format!("{:?}", HalErrorKind::Lost),
        }
    }

    /// A label is that of one of these buffers, or of what it is over.
    fn is_of(&self, label: &str, buffers: &[usize]) -> bool {
        let below = |at: usize| match self.program.buffers[at].memory {
            Memory::Over(Some((device, _))) => {
                label == Memory::usm_label(&self.program.config, device)
            }
            _ => false,
        };
        buffers.iter().any(|at| below(*at) || label == self.program.buffer_label(*at))
    }

    /// A label is that of what failed. After a loss more may fail.
    fn is_fired(&self, label: &str) -> bool {
        self.loses() || self.fired.label == label
    }

    /// How a call may have ended that was about these buffers.
    fn allows(&self, call: &Outcome, buffers: &[usize]) -> bool {
        match call {
            Outcome::Refused { device, doing, kind } => {
                *device == self.device && self.is_fault(kind) && self.was_doing(doing, buffers)
            }
            Outcome::OutOfMemory { device, label, bytes: [_, in_use, limit] } => {
                let config = &self.program.config;
                let of_budget = |(at, most)| config.device_name(at) == *device && *limit == most;
                let injected = match self.fault {
                    Fault::Now(HalErrorKind::OutOfMemory { in_use: used, limit: most, .. }) => {
                        [used, most] == [in_use, limit] && *device == self.device
                    }
                    _ => false,
                };
                let right = match injected {
                    true => self.fired.planned.site == Site::Alloc && self.is_fired(label),
                    false => config.budget.is_some_and(of_budget),
                };
                right && self.is_of(label, buffers)
            }
            _ => true,
        }
    }

    /// Whether the failed call was doing this.
    fn was_doing(&self, doing: &str, buffers: &[usize]) -> bool {
        let site = self.fired.planned.site;
        let at = |sites: &[Site]| self.loses() || sites.contains(&site);
        if doing == "open" {
            return at(&[Site::Open, Site::Lane]);
        }
        if doing.starts_with("load kernel `") {
            return at(&[Site::Load]);
        }
        let label = doing.split('`').nth(1).unwrap_or("");
        let allocates = doing.starts_with("allocate ") && at(&[Site::Alloc]);
        let writes = doing.starts_with("write buffer ") && self.loses();
        (allocates || writes) && self.is_fired(label) && self.is_of(label, buffers)
    }

    /// Whether the handler was told of this fault, or of a consequence.
    fn explains(&self, told: &ReportedFailure) -> bool {
        let kind = match &told.cause {
            Cause::Backend(error) => format!("{:?}", error.kind),
            Cause::DataLost => {
                let mut buffers = 0..self.program.buffers.len();
                let label = buffers.any(|at| self.program.buffer_label(at) == told.label);
                let named = label && told.what == "buffer" && told.device == self.device;
                return self.loses() && named;
            }
            _ => return false,
        };
        let named = match self.loses() {
            true => told.what == "device" && told.label.is_empty(),
            false => told.label == self.fired.label && self.was(told.what, &told.label),
        };
        told.device == self.device && self.is_fault(&kind) && named
    }

    /// An operation with this label that failed at the fault's site is called so.
    fn was(&self, what: &str, label: &str) -> bool {
        let (transfer, command) = match self.fired.planned.site {
            Site::Op(OpKind::Copy) => ("transfer", "copy"),
            Site::Op(OpKind::Fill) => ("zero fill", "fill"),
            Site::Op(OpKind::Launch) => ("", "kernel"),
            // Of a buffer that is linked, whose label it has.
            Site::Op(OpKind::Switch) => return matches!(what, "map" | "unmap"),
            Site::Op(kind) => ("", kind.name()),
            _ => return false,
        };
        let own = |action: &Action| match action {
            Action::Kernel { .. } | Action::RawRun { on_host: false, .. } => "kernel",
            Action::Copy { .. } | Action::Upload { .. } | Action::RawCopy { .. } => "copy",
            Action::Fill { .. } | Action::RawFill { .. } => "fill",
            Action::Prefetch { .. } | Action::Advise { .. } | Action::RawHint { .. } => "hint",
            _ => "",
        };
        let of_command = self.program.steps.iter().any(|step| match &step.what {
            What::Submit { action, .. } => Program::label(step.id) == label && own(action) == what,
            _ => false,
        });
        what == transfer || (what == command && of_command)
    }
}
