//! Scopes: what comes between their two steps is done inside.

use super::{Mine, Outcome, PendingStep, Runner, between, lock};
use crate::handle::{self, Elem, Handle};
use crate::program::{Step, Ty, What};
use folio_core::Moves;

/// The rest of a thread's steps.
pub(super) type Rest<'r, 'p> = &'r mut dyn Iterator<Item = &'p Step>;

impl Runner<'_> {
    /// Does steps until the innermost scope ends; returns the one that ends it.
    pub(super) fn walk<'p>(
        &self,
        rest: Rest<'_, 'p>,
        mine: &mut Mine,
        done: &mut Vec<PendingStep>,
    ) -> Option<&'p Step> {
        while let Some(step) = rest.next() {
            match &step.what {
                What::Leave { buffer } if mine.scopes.last() == Some(buffer) => return Some(step),
                What::Enter { buffer } if self.buffer(*buffer).is_none() => {
                    match self.program.buffers[*buffer].ty {
                        Ty::U32 => self.scope::<u32>(*buffer, step, rest, mine, done),
                        Ty::U64 => self.scope::<u64>(*buffer, step, rest, mine, done),
                    }
                }
                _ => done.extend(self.step(step, mine)),
            }
        }
        None
    }

    fn scope<T: Elem>(
        &self,
        at: usize,
        enter: &Step,
        rest: Rest<'_, '_>,
        mine: &mut Mine,
        done: &mut Vec<PendingStep>,
    ) {
        let mut data: Vec<T> = handle::contents(at, &self.program.buffers[at]);
        let slice = data.as_mut_slice();
        let early = self.wrap.leaves_scopes_early();
        let (mut end, mut before) = (None, Moves::default());
        let result = self.world.rt.scope(|scope| {
            let view = scope.view_mut(slice).and_then(Handle::of_view);
            let mut pending = PendingStep::new(enter.id);
            pending.seen.call = Outcome::of(&view);
            done.push(pending);
            *lock(&self.buffers[at]) = view.ok();
            mine.scopes.push(at);
            end = self.walk(rest, mine, done);
            mine.scopes.pop();
            self.world.thaw();
            before = self.counters(at);
            if early {
                // Nobody writes it while it is looked at below, and a scope that waits does not
                // end.
                self.world.freeze();
            }
        });
        let contents = data.iter().copied().map(T::wide).collect();
        if early {
            // The memory is written later: that is the bug.
            std::mem::forget(data);
            self.world.thaw();
        }
        let Some(leave) = end else { return };
        let mut pending = PendingStep::new(leave.id);
        pending.seen.call = Outcome::of(&result);
        pending.seen.data = contents;
        pending.seen.moved.push((at, between(before, self.counters(at))));
        mine.order.note(leave, &pending.seen);
        done.push(pending);
    }
}
