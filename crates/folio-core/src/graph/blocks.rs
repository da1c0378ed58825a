//! Blocks as lists: a block that a queue has had before is one command.
//!
//! A block with the arguments of a list is that list. Other scalars are exchanged in the list that
//! has the block's memory; other commands in the one that was not used for the longest. A block
//! whose memory comes back, and one of which all lists are on their way to the device, get a list of
//! their own, until a class has [several](super::store::LISTS).

use super::Inner;
use super::batch::Batches;
use super::replay::{before_of, can_fail_with};
use super::store::{Entry, Known, LISTS, Node};
use super::trail::{Taken, Trail};
use super::why::WhyNot;
use crate::engine::runs::command::{Action, Command};
use crate::engine::runs::list::{Exchange, List, Members, NotExchanged};
pub(super) use crate::engine::runs::run::On;
use crate::order::stamp::Stamp;
use std::sync::Arc;

/// How often a block has its list compiled again, which another thread's work outdates at once.
const TRIES: usize = 4;

/// A block that is to be a list.
struct Block<'b> {
    graph: &'b Inner,
    batches: &'b Batches,
    entry: Entry,
    trail: &'b mut Trail,
}

impl Batches {
    /// Runs a block of a queue as a list, if that can be one. `made`: it has made buffers.
    pub(super) fn run(
        &self,
        (graph, made): (&Inner, bool),
        on: On<'_>,
        trail: &mut Trail,
    ) -> Result<Stamp, WhyNot> {
        let entry = trail.found().ok_or(WhyNot::First)?;
        if let Some(why) = &entry.why_not {
            return Err(why.clone());
        }
        if made && trail.has_temporary() {
            return Err(WhyNot::MakesBuffers);
        }
        let engine = &graph.core.engine;
        let mut block = Block { graph, batches: self, entry, trail };
        let (mut known, mut exchanged) = block.list()?;
        for _ in 0..TRIES {
            if let Some(ran) = engine.run_list(on, &known.list) {
                self.count(&block.entry, &known, exchanged);
                return Ok(ran);
            }
            // Its memory is elsewhere, another thread has exchanged its commands, or one of them is
            // refused: that is told when they are submitted one by one.
            known = block.compiled(Some(&known))?;
            exchanged = false;
        }
        Err(WhyNot::Busy)
    }

    /// A block was a list.
    fn count(&self, entry: &Entry, known: &Known, exchanged: bool) {
        let report = &mut self.kept.lock().report;
        report.batches += 1;
        report.found += 1;
        report.replayed += 1;
        report.exchanged += u64::from(exchanged);
        report.why_not = None;
        report.temporaries = 0;
        report.commands = entry.class.nodes.len();
        (report.kernels, report.launches) = (entry.class.kernels, entry.class.kernels);
        entry.note_used(known, report.batches);
    }
}

impl Block<'_> {
    /// The list that the block is, and whether commands were exchanged for that.
    fn list(&mut self) -> Result<(Arc<Known>, bool), WhyNot> {
        match self.trail.list() {
            Some((known, true)) => Ok((known, false)),
            Some((known, false)) => match self.with_scalars(&known)? {
                Some(known) => Ok((known, true)),
                None => self.with_commands(),
            },
            None => self.with_commands(),
        }
    }

    /// A list with the block's scalars. None if it does not take them now.
    fn with_scalars(&self, known: &Arc<Known>) -> Result<Option<Arc<Known>>, WhyNot> {
        let class = &self.entry.class;
        let exchange = known.other_scalars(class, self.trail.scalars());
        let fails = |(_, command, words): &(usize, &Command, Option<&[u64]>)| match (
            &command.action,
            words,
        ) {
            (Action::Launch(Some(launch)), Some(words)) => can_fail_with(launch, words),
            _ => None,
        };
        if let Some(why) = exchange.changed.iter().find_map(fails) {
            return Err(WhyNot::MayFail(why));
        }
        let new = |list: List| {
            let (templates, arguments) = (known.templates.clone(), known.arguments.clone());
            Known::new(templates, arguments, self.trail.scalars().to_vec(), list)
        };
        Ok(self.exchanged(known, exchange, new))
    }

    /// A list with the block's commands: one more, or one of the class in which they are exchanged.
    fn with_commands(&mut self) -> Result<(Arc<Known>, bool), WhyNot> {
        let new = self.taken()?;
        let has_room = self.entry.lists.len() < LISTS;
        let exchanges = !has_room || !self.entry.comes_back(&new.arguments);
        for at in self.entry.oldest_first().into_iter().filter(|_| exchanges) {
            let known = &self.entry.lists[at];
            let Some(exchange) = known.other_commands(&self.entry.class, &new) else { continue };
            let (templates, arguments) = (new.templates.clone(), new.arguments.clone());
            let made = |list| Known::new(templates, arguments, new.scalars.clone(), list);
            if let Some(known) = self.exchanged(known, exchange, made) {
                return Ok((known, true));
            }
        }
        if has_room {
            return self.compiled(None).map(|known| (known, false));
        }
        let oldest = self.entry.oldest_first().first().map(|at| self.entry.lists[*at].clone());
        match oldest.filter(|oldest| oldest.list.native.is_idle()) {
            Some(oldest) => self.compiled(Some(&oldest)).map(|known| (known, false)),
            None => Err(WhyNot::Busy),
        }
    }

    /// Exchanges commands of a list. None if that is not possible now.
    fn exchanged(
        &self,
        known: &Arc<Known>,
        exchange: Exchange<'_>,
        new: impl FnOnce(List) -> Known,
    ) -> Option<Arc<Known>> {
        let class = &self.entry.class;
        let done = self.graph.core.engine.exchange(&known.list, exchange);
        match done {
            Ok(Ok(list)) => {
                let new = Arc::new(new(list));
                let old = self.batches.kept.lock().store.keep(class, (&new, Some(known)));
                drop(old);
                Some(new)
            }
            Ok(Err(NotExchanged::Refused)) => {
                self.batches.kept.lock().store.give_up(class, known);
                None
            }
            // What is wrong with memory is told when the commands are submitted.
            Ok(Err(NotExchanged::NotNow)) | Err(_) => None,
        }
    }

    /// The block's commands, none of which may fail by itself.
    fn taken(&mut self) -> Result<Taken, WhyNot> {
        let taken = self.trail.take().ok_or(WhyNot::First)?;
        let why = |at: usize| self.graph.why_not(&taken.templates.get(at)?.command);
        match (0..taken.templates.len()).find_map(why) {
            Some(why) => Err(why),
            None => Ok(taken),
        }
    }

    /// A list of the block's commands, in the place of another one if that is there.
    fn compiled(&mut self, old: Option<&Arc<Known>>) -> Result<Arc<Known>, WhyNot> {
        let new = self.taken()?;
        let class = &self.entry.class;
        let commands: Vec<_> = new.templates.iter().map(|template| &template.command).collect();
        let accesses = commands.iter().map(|command| &command.accesses[..]);
        let before = before_of(class.nodes.iter().map(|node: &Node| &node.edges), accesses);
        let before = before.iter().map(|edges| edges.iter().map(|(from, _)| *from as usize));
        let after = before.map(Iterator::collect).collect();
        let made = self.graph.core.engine.compile(self.graph.device, Members { commands, after });
        // What is wrong with memory is told when the commands are submitted.
        let made = made.map_err(|_| WhyNot::First)?;
        let mut kept = self.batches.kept.lock();
        let list = match made {
            Ok(list) => list,
            Err(refused) => {
                let why = WhyNot::Refused(refused.to_string().into());
                kept.store.refuse(class, why.clone());
                return Err(why);
            }
        };
        let Taken { templates, arguments, scalars } = new;
        let known = Arc::new(Known::new(templates, arguments, scalars, list));
        kept.report.graphs += 1;
        let old = kept.store.keep(class, (&known, old));
        drop(kept);
        drop(old);
        Ok(known)
    }
}
