//! Blocks as lists: a block that a queue has had before is one command.
//!
//! A block with the arguments of a list is that list. Other scalars are exchanged in the list that
//! has the block's memory; other commands in the one that was not used for the longest. A block
//! whose memory comes back, and one of which all lists are on their way to the device, get a list
//! of their own, until a class has [several](super::store::LISTS).

use super::Inner;
use super::batch::Batches;
use super::pool::Temporaries;
use super::store::{Block, Entry, LISTS, StoredList};
use super::trail::{Trail, is_internal, is_marked};
use super::why::WhyNot;
use crate::buffer::StorageHandle;
use crate::engine::runs::list::{Exchange, List, Members, NotExchanged};
pub(super) use crate::engine::runs::run::On;
use crate::order::stamp::Stamp;
use smallvec::SmallVec;
use std::sync::Arc;

/// How often a block has its list compiled again, which another thread's work outdates at once.
const TRIES: usize = 4;

/// The list of a block that is looked for.
pub(super) struct Search<'b> {
    pub(super) graph: &'b Inner,
    pub(super) batches: &'b Batches,
    pub(super) entry: Arc<Entry>,
    /// The block, once it is known.
    pub(super) block: Option<Block>,
    /// Or the commands that it is made of.
    pub(super) trail: Option<&'b mut Trail>,
    /// Lists that other pieces of the block are.
    pub(super) taken: &'b [Arc<StoredList>],
}

/// A list, and whether commands were exchanged in it for this.
pub(super) type Found = (Arc<StoredList>, bool);

impl Batches {
    /// Runs a block of a queue as a list, by its trail, if that can be one. `made`: it has made
    /// buffers. One with temporaries has those of the list.
    pub(super) fn run(
        &self,
        (graph, made): (&Inner, bool),
        on: On<'_>,
        trail: &mut Trail,
    ) -> Option<Stamp> {
        let entry = trail.found()?;
        let fuses = entry.class.fuses;
        // A plan of fusion depends on marks, and a list does not forget what it leaves in memory.
        let is_other = trail.uses(if fuses { is_marked } else { is_internal });
        if entry.why_not.is_some() || is_other {
            return None;
        }
        let temporaries = if made { trail.temporaries() } else { Temporaries::new() };
        let mut search = Search {
            graph,
            batches: self,
            entry,
            block: None,
            trail: Some(&mut *trail),
            taken: &[],
        };
        let found = match search.list(&temporaries).ok()? {
            Some(found) => found,
            // Other kernels may gain by being joined.
            None if fuses || !temporaries.is_empty() => return None,
            None => search.with_commands().ok()?,
        };
        if !temporaries.is_empty() {
            // A list of these commands would be of no use to the next block.
            search.trail = None;
        }
        let _memories = self.memories(graph, &temporaries, &found.0.block)?;
        search.run(on, found)
    }

    /// The memory of a list for a block's temporaries, until the block is submitted. None if it is
    /// there no more, or if these cannot be there.
    fn memories(
        &self,
        graph: &Inner,
        own: &Temporaries,
        of: &Block,
    ) -> Option<Vec<Arc<StorageHandle>>> {
        let Some(others) = of.temporaries().filter(|_| !own.is_empty()) else {
            self.kept.lock().report.temporaries = 0;
            return Some(Vec::new());
        };
        let can_share = graph
            .core
            .engine
            .enter(|ledger| own.keys().all(|id| ledger.storages.can_share_memory(*id)));
        if can_share { self.place_again(others) } else { None }
    }

    /// A block was a list by its trail.
    fn count(&self, entry: &Entry, known: &StoredList, exchanged: bool) {
        let report = &mut self.kept.lock().report;
        report.batches += 1;
        report.found += 1;
        report.replayed += 1;
        report.exchanged += u64::from(exchanged);
        report.why_not = None;
        let Entry { class, .. } = entry;
        (report.kernels, report.launches) = (class.kernels, class.kernels - known.block.joined());
        report.commands = class.nodes.len() - known.block.joined();
        entry.note_used(known, report.batches);
    }
}

impl Search<'_> {
    fn run(&mut self, on: On<'_>, (mut known, mut exchanged): Found) -> Option<Stamp> {
        for _ in 0..TRIES {
            if let Some(ran) = self.graph.core.engine.run_list(on, &known.list) {
                self.batches.count(&self.entry, &known, exchanged);
                return Some(ran);
            }
            // Its memory is elsewhere, another thread has exchanged its commands, or one of them is
            // refused: that is told when they are submitted one by one.
            let block = self.block().ok()?.clone();
            known = self.compiled(block, Some(&known)).ok()?;
            exchanged = false;
        }
        None
    }

    /// The list that the block is by its trail: with its memory, and with its scalars by now.
    fn list(&mut self, temporaries: &Temporaries) -> Result<Option<Found>, WhyNot> {
        let trail = self.trail.as_deref();
        let found = trail.and_then(|trail| Some((trail.list(temporaries)?, trail.scalars())));
        match found {
            Some(((known, true), _)) => Ok(Some((known, false))),
            Some(((known, false), scalars)) => self.with_scalars(&known, scalars),
            None => Ok(None),
        }
    }

    /// A list with these scalars. None if it does not take them now.
    fn with_scalars(&self, known: &Arc<StoredList>, all: &[u64]) -> Result<Option<Found>, WhyNot> {
        let class = &self.entry.class;
        if let Some(why) = known.may_fail(class, all) {
            return Err(WhyNot::MayFail(why));
        }
        let exchange = known.other_scalars(class, all);
        let new = |list: List| {
            let mut block = known.block.clone();
            block.described.scalars = all.to_vec();
            StoredList::new(block, list)
        };
        Ok(self.exchanged(known, exchange, new).map(|known| (known, true)))
    }

    /// A list with the block's commands: one more, or one of the class in which they are exchanged.
    pub(super) fn with_commands(&mut self) -> Result<Found, WhyNot> {
        let block = self.block()?.clone();
        let Entry { class, lists, .. } = &*self.entry;
        let oldest_first = self.entry.oldest_first();
        let has_room = lists.len() < LISTS;
        let exchanges = !has_room || !self.entry.comes_back(&block.described.arguments);
        let is_free = |known: &Arc<StoredList>| {
            let is_it =
                |taken: &Arc<StoredList>| Arc::ptr_eq(&taken.list.native, &known.list.native);
            !self.taken.iter().any(is_it)
        };
        let free = || oldest_first.iter().map(|at| &lists[*at]).filter(|known| is_free(known));
        let others = free().filter_map(|known| Some((known, known.other_commands(class, &block)?)));
        let others: SmallVec<[_; LISTS]> = others.collect();
        // A block with temporaries has other arguments than a list that does the same.
        if let Some((known, _)) = others.iter().find(|(_, other)| other.changed.is_empty()) {
            return Ok(((*known).clone(), false));
        }
        for (known, exchange) in others.into_iter().filter(|_| exchanges) {
            let made = |list| StoredList::new(block.clone(), list);
            if let Some(known) = self.exchanged(known, exchange, made) {
                return Ok((known, true));
            }
        }
        if has_room {
            return self.compiled(block, None).map(|known| (known, false));
        }
        let oldest = free().next().cloned();
        match oldest.filter(|oldest| oldest.list.native.is_idle()) {
            Some(oldest) => self.compiled(block, Some(&oldest)).map(|known| (known, false)),
            None => Err(WhyNot::Busy),
        }
    }

    /// Exchanges commands of a list. None if that is not possible now.
    fn exchanged(
        &self,
        known: &Arc<StoredList>,
        exchange: Exchange<'_>,
        new: impl FnOnce(List) -> StoredList,
    ) -> Option<Arc<StoredList>> {
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
                self.batches.kept.lock().store.give_up(known);
                None
            }
            // Errors of memory are told when the commands are submitted.
            Ok(Err(NotExchanged::NotNow)) | Err(_) => None,
        }
    }

    /// The block, none of whose commands may fail by itself.
    fn block(&mut self) -> Result<&Block, WhyNot> {
        if self.block.is_none() && !self.entry.class.fuses {
            let described = self.trail.as_mut().and_then(|trail| trail.take());
            self.block = described.map(|described| Block { described, units: None });
        }
        let block = self.block.as_ref().ok_or(WhyNot::First)?;
        match block.commands().into_iter().find_map(|command| self.graph.why_not(command)) {
            Some(why) => Err(why),
            None => Ok(block),
        }
    }

    /// A list of a block's commands, in the place of another one if that is there.
    fn compiled(
        &self,
        block: Block,
        old: Option<&Arc<StoredList>>,
    ) -> Result<Arc<StoredList>, WhyNot> {
        let class = &self.entry.class;
        let members = Members { commands: block.commands(), after: block.after(class) };
        let made = self.graph.core.engine.compile(self.graph.device, members);
        // Errors of memory are told when the commands are submitted.
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
        let known = Arc::new(StoredList::new(block, list));
        kept.report.graphs += 1;
        let old = kept.store.keep(class, (&known, old));
        drop(kept);
        drop(old);
        Ok(known)
    }
}
