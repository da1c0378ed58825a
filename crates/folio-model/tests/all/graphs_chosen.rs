//! Conditions in random programs of graphs: what one is, as a graph of its own and without Folio.

use crate::graphs_steps::{BUFFERS, FLAGS, N, Step, What, turns};
use folio::prelude::*;
use folio_core::{DeviceRef, Executable, Result};
use folio_model::rng::Rng;

/// Which of its bodies runs, and how often.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kind {
    If,
    IfElse,
    /// So often as the value says, which counts down.
    While,
    Switch,
}

/// A condition on an element of the flags. Its bodies are a command each.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Choice {
    pub(crate) kind: Kind,
    flag: usize,
    bodies: [Body; 2],
}

#[derive(Clone, Copy, Debug)]
enum Does {
    Turns,
    Joins,
    Puts,
    Fill,
    Copy,
}

#[derive(Clone, Copy, Debug)]
struct Body {
    does: Does,
    from: usize,
    to: usize,
    at: usize,
    n: usize,
    term: i64,
}

impl Body {
    fn random(rng: &mut Rng) -> Body {
        let Step { from, to, at, n, term, .. } = Step::random(rng, 0);
        let does = rng.pick(&[Does::Turns, Does::Joins, Does::Puts, Does::Fill, Does::Copy]);
        Body { does, from, to, at, n, term }
    }

    fn step(self) -> Step {
        let Body { does, from, to, at, n, term } = self;
        let what = match does {
            Does::Turns => What::Turns(5),
            Does::Joins => What::Joins,
            Does::Puts => What::Puts,
            Does::Fill => What::Fill,
            Does::Copy => What::Copy,
        };
        Step { from, to, at, n, term, ..Step::of(what) }
    }
}

impl Choice {
    pub(crate) fn random(rng: &mut Rng, flag: usize) -> Choice {
        let kind = rng.pick(&[Kind::If, Kind::IfElse, Kind::While, Kind::Switch]);
        Choice { kind, flag, bodies: [Body::random(rng), Body::random(rng)] }
    }

    /// As a program without Folio does it.
    pub(crate) fn run(&self, data: &mut [Vec<i64>]) {
        let value = data[FLAGS][self.flag];
        let [first, second] = self.steps();
        match (self.kind, value) {
            (Kind::If, 0) => {}
            (Kind::If, _) | (Kind::IfElse, 1..) | (Kind::Switch, 0) => first.run(data),
            (Kind::IfElse, _) | (Kind::Switch, 1) => second.run(data),
            (Kind::Switch, _) => {}
            (Kind::While, times) => {
                (0..times).for_each(|_| first.run(data));
                data[FLAGS][self.flag] = 0;
            }
        }
    }

    /// What its bodies do.
    pub(crate) fn steps(&self) -> [Step; 2] {
        self.bodies.map(Body::step)
    }

    /// A graph of the condition alone.
    pub(crate) fn made(
        &self,
        rt: &Runtime,
        on: &DeviceRef,
        all: &[Shared<i64>],
    ) -> Result<Executable> {
        let log = Default::default();
        let mut bodies = Vec::new();
        for body in self.bodies {
            let graph = rt.graph(on)?;
            graph.add(|cg| body.step().describe((0, all, &log), cg))?;
            if self.kind == Kind::While {
                let flag = all[FLAGS].slice_mut([self.flag], [1])?;
                graph.add(|cg| cg.run(1, turns(1, -1, flag)))?;
            }
            bodies.push(graph.finalize()?);
        }
        let graph = rt.graph(on)?;
        let value = all[FLAGS].slice([self.flag], [1])?;
        match self.kind {
            Kind::If => graph.if_(&[], value, &bodies[0])?,
            Kind::IfElse => graph.if_else(&[], value, &bodies[0], &bodies[1])?,
            Kind::While => graph.while_(&[], value, 10, &bodies[0])?,
            Kind::Switch => graph.switch(&[], value, &[&bodies[0], &bodies[1]])?,
        };
        graph.finalize()
    }
}

/// Sets a flag, in most cases, and then has it choose.
pub(crate) fn chosen(rng: &mut Rng) -> Vec<Step> {
    let flag = rng.below(N);
    let what = if rng.chance(50) { What::Puts } else { What::Fill };
    let term = rng.below(4) as i64;
    let sets =
        Step { to: FLAGS, at: flag, n: 1, term, updatable: rng.chance(50), ..Step::of(what) };
    let chooses = Step { fixed: true, ..Step::of(What::Chosen(Choice::random(rng, flag))) };
    let mut steps = vec![sets, chooses];
    if rng.chance(20) {
        steps.remove(0);
    }
    steps
}

/// Commands over pointers between others over the same memory: only the first and the last of all
/// that use it are ordered by data.
pub(crate) fn by_pointer(rng: &mut Rng, nth: usize) -> Vec<Step> {
    let [first, second] = crate::graphs_steps::RAW;
    let (term, to) = (rng.below(1000) as i64, rng.below(BUFFERS));
    let step = |what, from, to| Step { from, to, term, fixed: true, ..Step::of(what) };
    let behind = |before, step: Step| Step { after: Some(before), ..step };
    vec![
        step(What::Puts, second, first),
        behind(nth, step(What::RawCopy(None), first, second)),
        behind(nth + 1, step(What::Joins, second, first)),
        step(What::Joins, first, to),
    ]
}
