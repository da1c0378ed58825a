//! Launches that take several commands, as a command group describes them. Each is all that its
//! group does.

use super::CommandGroup;
use crate::call::AnyCall;
use crate::error::{Error, Label, Result};
use crate::event::Event;
use crate::hal::Geometry;
use crate::queue::Queue;
use crate::runtime::Runtime;
use crate::scatter::groups_of;
use std::sync::Arc;

/// Why a node that is described again, or a condition's body, has no launch that scatters.
const SEVERAL: &str =
    "a kernel that scatters takes several commands: run it by a queue, or `add` it to a graph";
const ALONE: &str = "its command group has other accesses";
const OF_DEVICES: &str = "a node is a command of one device; a queue over several can be recorded";

/// Submits the parts of a launch that devices share.
type Spread = dyn FnOnce(&Queue, &CommandGroup) -> Result<Event> + Send;
/// Makes a group that describes nothing yet.
pub(crate) type Empty<'e> = &'e (dyn Fn() -> CommandGroup + 'e);

enum Work {
    Spread(Box<Spread>),
    Scatter(Box<(Geometry, AnyCall)>),
}

/// A launch of several commands.
pub(crate) struct Several {
    kernel: &'static str,
    work: Work,
}

impl Several {
    /// All devices of a queue share it.
    pub(crate) fn spread(
        kernel: &'static str,
        submit: impl FnOnce(&Queue, &CommandGroup) -> Result<Event> + Send + 'static,
    ) -> Several {
        Several { kernel, work: Work::Spread(Box::new(submit)) }
    }

    /// Its kernel scatters.
    pub(crate) fn scatter(places: Geometry, call: AnyCall) -> Several {
        let kernel = call.kernel.function.name;
        Several { kernel, work: Work::Scatter(Box::new((places, call))) }
    }

    /// The name of its kernel.
    pub(crate) fn kernel(&self) -> &'static str {
        self.kernel
    }

    /// Submits it, as the rest of the group says.
    pub(crate) fn submit(self, q: &Queue, group: &CommandGroup) -> Result<Event> {
        if let Work::Spread(submit) = self.work {
            return submit(q, group);
        }
        let mut groups = self.groups(&q.runtime(), &|| q.empty_group())?;
        groups.iter_mut().for_each(|part| group.describe_part(part));
        q.run_groups(groups)
    }

    /// The groups of its commands, each of an empty one, for a graph.
    pub(crate) fn groups(self, runtime: &Runtime, empty: Empty<'_>) -> Result<Vec<CommandGroup>> {
        match self.work {
            Work::Scatter(of) => {
                let (places, call) = *of;
                groups_of(runtime, empty, &[places], call)
            }
            Work::Spread(_) => Err(self.refused(OF_DEVICES)),
        }
    }

    /// The refusal of a group that has other accesses.
    pub(super) fn not_alone(&self) -> Error {
        self.refused(ALONE)
    }

    /// The refusal where there can be one command only.
    pub(super) fn not_one(&self) -> Error {
        self.refused(match self.work {
            Work::Spread(_) => OF_DEVICES,
            Work::Scatter(_) => SEVERAL,
        })
    }

    fn refused(&self, why: &'static str) -> Error {
        let kernel = self.kernel;
        match self.work {
            Work::Spread(_) => {
                let (kernel, parameter) = (Arc::from(kernel), Label::NONE);
                Error::NotSpread { kernel, parameter, why: why.into() }
            }
            Work::Scatter(_) => {
                let (launch, offset) = (vec![], vec![]);
                Error::LaunchRange { command: Label::from(kernel), launch, offset, why }
            }
        }
    }
}
