//! Mishaps in random programs of graphs, and their moments.

use folio_layers::{Fault, Fired, OpKind, Site};
use folio_model::faulty::faults;
use folio_model::rng::Rng;

/// Before what something goes wrong.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Moment {
    Make,
    Run,
    Exchange,
    Read,
}

#[derive(Clone, Debug)]
pub(crate) enum Mishap {
    /// The call of a backend that comes so many after that moment.
    Call { site: Site, ahead: u64, fault: Fault },
    /// One of the next calls of tasks.
    Task(usize),
    /// A kernel of the next run that looks where it is.
    Outside,
}

/// A mishap, and before which of such moments it occurs.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) moment: Moment,
    pub(crate) passed: usize,
    pub(crate) mishap: Mishap,
}

/// Calls that are made at a moment.
pub(crate) fn sites(moment: Moment) -> &'static [Site] {
    use OpKind::*;
    use Site::*;
    match moment {
        Moment::Make => &[Alloc, Load, Lane, Graph, Completed],
        Moment::Run | Moment::Exchange => &[
            Op(Launch),
            Op(Launch),
            Op(Copy),
            Op(Copy),
            Op(Fill),
            Op(Replay),
            Op(Replay),
            Op(Replay),
            Op(Join),
            Alloc,
            Load,
            Lane,
            Graph,
            Update,
            Update,
            Op(Hint),
            Op(Switch),
            Flush,
            Completed,
            Wait,
            Free,
        ],
        Moment::Read => {
            &[Op(Copy), Op(Copy), Alloc, Op(Join), Op(Switch), Lane, Flush, Completed, Wait]
        }
    }
}

impl Plan {
    pub(crate) fn random(rng: &mut Rng) -> Plan {
        let moments = [Moment::Make, Moment::Run, Moment::Run, Moment::Exchange, Moment::Read];
        let (mut moment, passed) = (rng.pick(&moments), rng.below(12));
        let mishap = match rng.below(100) {
            0..10 => Mishap::Task(rng.within(1, 4)),
            10..20 => Mishap::Outside,
            _ => {
                let site = rng.pick(sites(moment));
                let mut all = faults(site);
                if rng.chance(70) && all.len() > 1 {
                    all.retain(|fault| !matches!(fault, Fault::Lose));
                }
                let ahead = if rng.chance(60) { 1 } else { rng.within(2, 8) as u64 };
                Mishap::Call { site, ahead, fault: all[rng.below(all.len())].clone() }
            }
        };
        if !matches!(mishap, Mishap::Call { .. }) {
            moment = Moment::Run;
        }
        let passed = if moment == Moment::Make { passed % 3 } else { passed };
        Plan { moment, passed, mishap }
    }

    pub(crate) fn loses(&self) -> bool {
        matches!(self.mishap, Mishap::Call { fault: Fault::Lose, .. })
    }
}

pub(crate) fn during(moment: Moment) -> &'static str {
    match moment {
        Moment::Make => "while a graph is made",
        Moment::Run => "in a run",
        Moment::Exchange => "after an exchange",
        Moment::Read => "when the host reads",
    }
}

pub(crate) fn happened(fired: &Fired) -> &'static str {
    match (fired.planned.site, &fired.planned.fault) {
        (_, Fault::Lose) => "loss",
        (Site::Op(OpKind::Launch), _) => "launch",
        (Site::Op(OpKind::Copy), _) => "copy",
        (Site::Op(OpKind::Fill), _) => "fill",
        (Site::Op(OpKind::Replay), _) => "replay",
        (Site::Graph, _) => "graph",
        (Site::Update, _) => "update",
        (Site::Alloc, _) => "allocation",
        (Site::Load, _) => "load",
        (Site::Lane, _) => "lane",
        (Site::Op(OpKind::Join), _) => "join",
        (Site::Op(OpKind::Switch), _) => "switch",
        (Site::Op(OpKind::Hint), _) => "hint",
        _ => "other call",
    }
}

/// The features that must occur in enough cases.
pub(crate) const ALL: &[&str] = &[
    "runs that failed",
    "reads that failed",
    "runs after a failure",
    "while a graph is made",
    "in a run",
    "after an exchange",
    "when the host reads",
    "loss",
    "launch",
    "copy",
    "fill",
    "replay",
    "graph",
    "update",
    "allocation",
    "load",
    "switch",
];
