//! The memory that may not be readable when one thing has gone wrong in a random program of graphs.

use crate::graphs_chosen::Choice;
use crate::graphs_faults::Verdict;
use crate::graphs_steps::{BUFFERS, FLAGS, N, PAGE, RAW, Step, What, name};
use folio::Event;
use folio_core::Failure;
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

/// A step's use of a buffer; it may write all of that without looking at it.
pub(crate) struct Use {
    pub(crate) buffer: usize,
    pub(crate) of: Range<usize>,
    pub(crate) overwrites: bool,
}

impl Use {
    pub(crate) fn whole(buffer: usize) -> Use {
        Use { buffer, of: 0..N, overwrites: false }
    }
}

pub(crate) fn uses(step: &Step) -> Vec<Use> {
    let Step { from, to, at, n, .. } = *step;
    let part = |buffer, overwrites| Use { buffer, of: at..at + n, overwrites };
    match step.what {
        What::Turns(_) => vec![part(to, false)],
        What::Puts | What::Fill => vec![part(to, true)],
        What::Copy => vec![part(from, false), part(to, true)],
        What::Prefetch => vec![part(from, false)],
        What::Joins | What::Task | What::Reaches { .. } | What::RawCopy(_) => {
            vec![part(from, false), part(to, false)]
        }
        What::Chosen(choice) => choice.uses(),
    }
}

impl Step {
    pub(crate) fn text(&self) -> String {
        let Step { what, from, to, at, n, after, .. } = self;
        format!("{what:?} {from} to {to} at {at} of {n} after {after:?}")
    }
}

impl Choice {
    pub(crate) fn uses(&self) -> Vec<Use> {
        let bodies = self.steps().into_iter();
        let both = bodies.flat_map(|step| [step.from, step.to]);
        both.chain([FLAGS]).map(Use::whole).collect()
    }
}

/// The elements of a page of a buffer.
pub(crate) fn page_len(buffer: usize) -> usize {
    if buffer < FLAGS { PAGE } else { N }
}

/// The pages that may not be readable.
#[derive(Clone)]
pub(crate) struct Doubts {
    /// By buffer and page.
    pub(crate) pages: Vec<Vec<bool>>,
    /// A change of the side that uses memory is one of all of a buffer.
    pub(crate) links: bool,
}

impl Doubts {
    pub(crate) fn none(links: bool) -> Doubts {
        let pages = (0..=RAW[1]).map(|at| vec![false; N.div_ceil(page_len(at))]).collect();
        Doubts { pages, links }
    }

    pub(crate) fn pages(&self, part: &Use) -> Range<usize> {
        let len = page_len(part.buffer);
        part.of.start / len..part.of.end.div_ceil(len)
    }

    pub(crate) fn has(&self, part: &Use) -> bool {
        self.pages[part.buffer][self.pages(part)].iter().any(|doubt| *doubt)
    }

    pub(crate) fn add(&mut self, part: &Use) {
        let pages =
            if self.links { self.pages(&Use::whole(part.buffer)) } else { self.pages(part) };
        self.pages[part.buffer][pages].fill(true);
        // Temporaries share memory.
        if (BUFFERS..FLAGS).contains(&part.buffer) {
            self.pages[BUFFERS..FLAGS].iter_mut().for_each(|made| made.fill(true));
        }
    }

    /// Pages that are written as a whole.
    pub(crate) fn overwrite(&mut self, part: &Use) {
        let len = page_len(part.buffer);
        for page in self.pages(part).filter(|_| part.overwrites) {
            if part.of.start <= page * len && part.of.end >= N.min((page + 1) * len) {
                self.pages[part.buffer][page] = false;
            }
        }
    }
}

/// Which commands fail with one of them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Joins {
    /// The commands that use its outputs.
    Commands,
    /// All of a run: which of its commands are of one list is not asked.
    All,
}

/// Commands that were submitted, of which it has not been looked how they ended.
pub(crate) struct Pending {
    pub(crate) steps: Vec<Step>,
    /// The number of the first of them in their block.
    pub(crate) base: usize,
    pub(crate) joins: Joins,
    /// Each run of a block has a number.
    pub(crate) run: usize,
    /// They fail with those before them in that run.
    pub(crate) chained: bool,
    /// Where in their block graphs within the graph begin, which fail with those before them.
    pub(crate) inner: Vec<usize>,
    pub(crate) event: Event,
    /// A command of the launch reaches outside.
    pub(crate) must_fail: bool,
}

impl Doubts {
    /// Notes the pages that may not be readable after these commands.
    pub(crate) fn spread(
        &mut self,
        one: &Pending,
        ended: Option<(Arc<Failure>, bool)>,
        failed: &mut BTreeSet<usize>,
    ) -> Verdict {
        let (count, before) = (one.steps.len(), failed.clone());
        let mut hit = vec![false; count];
        if let Some((failure, is_new)) = &ended {
            let own = (0..count).find(|at| failure.label() == name(one.base + at));
            match own {
                Some(own) if *is_new => hit[own] = true,
                // The page is not known.
                None if *is_new => hit.fill(true),
                _ => {}
            }
            if one.joins == Joins::All || (one.chained && !before.is_empty()) {
                hit.fill(true);
            }
        }
        let start = self.clone();
        loop {
            let mut grows = false;
            *self = start.clone();
            for (at, step) in one.steps.iter().enumerate() {
                let parts = uses(step);
                let graph = one.inner.iter().rfind(|begins| **begins <= one.base + at);
                let after = step.after.is_some_and(|before| failed.contains(&before))
                    || graph.is_some_and(|begins| failed.range(..begins).next().is_some());
                if ended.is_some() && !hit[at] && (after || parts.iter().any(|p| self.has(p))) {
                    (hit[at], grows) = (true, true);
                }
                match hit[at] {
                    true => {
                        failed.insert(one.base + at);
                        parts.iter().for_each(|part| self.add(part));
                    }
                    false => parts.iter().for_each(|part| self.overwrite(part)),
                }
            }
            if !grows {
                break;
            }
        }
        // A graph of nothing fails with the one before it, or when the device does not take it.
        let is_new = ended.as_ref().is_some_and(|(_, is_new)| *is_new);
        let of_nothing = one.steps.is_empty() && (is_new || one.chained && !before.is_empty());
        if of_nothing {
            failed.insert(one.base);
        }
        if ended.is_some() && !hit.contains(&true) && !of_nothing {
            let steps = &one.steps;
            return Err(format!("it failed, and uses nothing that has: {ended:?}\n{steps:#?}"));
        }
        Ok(())
    }
}
