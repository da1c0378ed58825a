//! The commands of random programs of graphs, by Folio and without it.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests may panic")]

use crate::graphs_chosen::{Choice, by_pointer, chosen};
use folio::prelude::*;
use folio_core::canary::Canary;
use folio_core::{Destination, Result, UsmPtr};
use folio_model::rng::Rng;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// Elements of a buffer, and of a page; and how many buffers.
pub(crate) const N: usize = 24;
pub(crate) const PAGE: usize = 5;
pub(crate) const BUFFERS: usize = 5;
/// Buffers that a block makes, beside those.
pub(crate) const MADE: usize = 3;
/// Behind these: what conditions read, and two that are named by pointers, too.
pub(crate) const FLAGS: usize = BUFFERS + MADE;
pub(crate) const RAW: [usize; 2] = [FLAGS + 1, FLAGS + 2];

pub(crate) const MODULUS: i64 = 1_000_003;

#[kernel]
pub(crate) fn turns(i: Item, factor: i64, term: i64, x: InOut<i64>) {
    x[i] = (x[i] * factor + term) % 1_000_003;
}

#[kernel]
pub(crate) fn joins(i: Item, term: i64, x: In<i64>, y: InOut<i64>) {
    y[i] = (y[i] * 3 + x[i] + term) % 1_000_003;
}

#[kernel]
pub(crate) fn puts(i: Item, term: i64, x: Out<i64>) {
    x[i] = term;
}

/// Its check stays: what `at` is, only a launch knows.
#[kernel]
fn reaches(i: Item, at: usize, x: In<i64>, y: InOut<i64>) {
    y[i] = (y[i] + x[at]) % 1_000_003;
}

/// The work of a command, on the elements from `at` on.
#[derive(Clone, Copy, Debug)]
pub(crate) enum What {
    Turns(i64),
    Joins,
    Puts,
    Fill,
    Copy,
    Task,
    /// Uses an element of the other part for all; or of what lies behind that part, which fails.
    Reaches {
        outside: bool,
    },
    /// Brings what a later command may use.
    Prefetch,
    /// A copy of all, by pointers.
    RawCopy(Option<[UsmPtr; 2]>),
    Chosen(Choice),
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    pub(crate) what: What,
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) at: usize,
    pub(crate) n: usize,
    pub(crate) term: i64,
    /// The command of the same block that it comes after, though no data are shared.
    pub(crate) after: Option<usize>,
    /// The command can be described again; others are exchanged.
    pub(crate) updatable: bool,
    /// The command uses memory that the block makes, and stays as it is.
    pub(crate) fixed: bool,
    /// A barrier of its queue comes before it.
    pub(crate) barrier: bool,
}

/// The tasks of a block, and their order.
#[derive(Default)]
pub(crate) struct Tasks {
    /// By their numbers, as they have run.
    pub(crate) ran: Mutex<Vec<usize>>,
    /// Commands are called by their numbers.
    pub(crate) named: bool,
    /// After so many calls one fails. None does when this is 0.
    pub(crate) fuse: AtomicUsize,
}

pub(crate) type Log = Arc<Tasks>;

/// How a task fails whose fuse has burnt down.
const BURNT: &str = "a fuse has burnt down";

impl Tasks {
    /// A task is called.
    fn note(&self, own: usize) -> Result<(), &'static str> {
        self.ran.lock().unwrap().push(own);
        let next = |left: usize| left.checked_sub(1);
        match self.fuse.fetch_update(Ordering::SeqCst, Ordering::SeqCst, next) {
            Ok(1) if own.is_multiple_of(2) => panic!("{BURNT}"),
            Ok(1) => Err(BURNT),
            _ => Ok(()),
        }
    }
}

/// The label of a command by its number.
pub(crate) fn name(own: usize) -> String {
    format!("step {own}")
}

impl Step {
    /// Over all of the first two buffers.
    pub(crate) fn of(what: What) -> Step {
        let (after, updatable, fixed, barrier) = (None, false, false, false);
        Step { what, from: 1, to: 0, at: 0, n: N, term: 0, after, updatable, fixed, barrier }
    }

    pub(crate) fn random(rng: &mut Rng, nth: usize) -> Step {
        let what =
            [What::Turns(7), What::Turns(2), What::Joins, What::Puts, What::Fill, What::Copy];
        let what = match rng.below(100) {
            0..12 => What::Task,
            12..15 => What::Prefetch,
            15..18 => What::Reaches { outside: false },
            _ => rng.pick(&what),
        };
        let to = rng.below(BUFFERS);
        let from = (to + rng.within(1, BUFFERS - 1)) % BUFFERS;
        let (at, n) = match rng.chance(50) {
            true => (0, N),
            false => {
                let at = rng.below(N);
                (at, rng.within(1, N - at))
            }
        };
        let after = (nth > 0 && rng.chance(20)).then(|| rng.below(nth));
        let term = rng.below(1000) as i64;
        let (updatable, barrier) = (rng.chance(50), rng.chance(3));
        Step { what, from, to, at, n, term, after, updatable, fixed: false, barrier }
    }

    /// Steps of a block. Some pass what the block makes from one to the next.
    pub(crate) fn block(rng: &mut Rng) -> Vec<Step> {
        let (mut steps, mut late): (Vec<Step>, Vec<Step>) = (Vec::new(), Vec::new());
        let count = rng.within(1, 12);
        while steps.len() < count {
            let nth = steps.len();
            let mut step = Step::random(rng, nth);
            if let What::Task = step.what
                && let Some(other) = steps.iter().rposition(|s| matches!(s.what, What::Task))
                && rng.chance(70)
            {
                step.after = Some(other);
            }
            match rng.below(100) {
                0..75 => steps.push(step),
                75..82 => steps.extend(chosen(rng)),
                82..85 => steps.extend(by_pointer(rng, nth)),
                _ => {}
            }
            if steps.len() > nth {
                continue;
            }
            let made = BUFFERS + rng.below(MADE);
            let all = Step { at: 0, n: N, after: None, updatable: false, fixed: true, ..step };
            let what = if rng.chance(50) { What::Puts } else { What::Fill };
            steps.push(Step { what, to: made, ..all });
            let mut last = made;
            for _ in 0..rng.below(4) {
                let next = BUFFERS + (last - BUFFERS + rng.within(1, MADE - 1)) % MADE;
                steps.push(Step { what: What::Copy, from: last, to: next, ..all });
                steps.push(Step { what: What::Turns(7), from: last, to: next, ..all });
                last = next;
            }
            let joined = Step { what: What::Joins, to: rng.below(BUFFERS), ..all };
            steps.push(Step { from: last, ..joined });
            if rng.chance(50) {
                late.push(Step { from: made, ..joined });
            }
        }
        steps.append(&mut late);
        steps
    }

    /// With other values; half of the time with other places, too.
    pub(crate) fn exchange(&mut self, rng: &mut Rng) {
        if self.fixed {
            return;
        }
        let other = Step::random(rng, 0);
        if self.to == FLAGS {
            self.term = other.term % 4;
            return;
        }
        self.term = other.term;
        if rng.chance(50) {
            (self.from, self.to, self.at, self.n) = (other.from, other.to, other.at, other.n);
        }
    }

    /// As a program without Folio does it.
    pub(crate) fn run(&self, data: &mut [Vec<i64>]) {
        if let What::Chosen(choice) = self.what {
            return choice.run(data);
        }
        for i in self.at..self.at + self.n {
            let chosen = data[self.from][self.at + self.term as usize % self.n];
            let (x, y) = (data[self.from][i], &mut data[self.to][i]);
            *y = match self.what {
                What::Turns(factor) => (*y * factor + self.term) % MODULUS,
                What::Joins => (*y * 3 + x + self.term) % MODULUS,
                What::Puts | What::Fill => self.term,
                What::Copy | What::RawCopy(_) => x,
                What::Task => (*y + 2 * x + self.term) % MODULUS,
                What::Reaches { .. } => (*y + chosen) % MODULUS,
                What::Prefetch | What::Chosen(_) => *y,
            };
        }
    }

    pub(crate) fn describe(
        &self,
        (own, all, log): (usize, &[Shared<i64>], &Log),
        cg: &mut CommandGroup,
    ) -> Result<()> {
        let Step { at, n, term, .. } = *self;
        if log.named {
            cg.label(name(own));
        }
        let from = all[self.from].slice([at], [n])?;
        let mut to = all[self.to].slice_mut([at], [n])?;
        match self.what {
            What::Turns(factor) => cg.run(n, turns(factor, term, to)),
            What::Joins => cg.run(n, joins(term, &from, to)),
            What::Puts => cg.run(n, puts(term, to)),
            What::Fill => cg.fill(to, term),
            What::Copy => cg.copy(&from, to),
            What::Reaches { outside } => {
                let at = if outside { n + 7 } else { term as usize % n };
                cg.run(n, reaches(at, &from, to))
            }
            What::Prefetch => cg.prefetch(&from, Destination::Device),
            // SAFETY: both hold so many elements, which the program uses on this device only; the
            // commands before and after it that use them are in order.
            What::RawCopy(Some([from, to])) => unsafe { cg.copy_raw(from, to, [1, 1, 8 * N]) },
            // A condition is a graph.
            What::RawCopy(None) | What::Chosen(_) => {}
            What::Task => {
                let (from, to, log) = (cg.read(&from), cg.read_write(&mut to), log.clone());
                let canary = Canary::new("a task");
                cg.each_run().host_task((from, to), move |(from, mut to)| {
                    canary.runs();
                    log.note(own)?;
                    for i in 0..n {
                        to[i] = (to[i] + 2 * from[i] + term) % MODULUS;
                    }
                    Ok::<(), &str>(())
                });
            }
        }
        Ok(())
    }
}
