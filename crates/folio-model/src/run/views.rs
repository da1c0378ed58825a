//! Views that own their memory: what comes back when they are dropped.

use super::{Outcome, PendingStep, Record, Runner, Seen, lock};
use crate::handle::Kept;

/// The memory that came back of a view; `None` if it was never made.
pub(super) fn take(kept: &Kept, buffer: usize) -> Option<(Outcome, Vec<u64>)> {
    let mut back = lock(&kept.backs).remove(&buffer)?;
    Some(match back.take() {
        Ok((data, result)) => (Outcome::of(&result), data),
        Err(error) => (Outcome::Other(format!("nothing came back: {error}")), Vec::new()),
    })
}

/// Takes what views give back that were dropped by a step.
pub(super) fn take_coming(kept: &Kept, coming: &[(u32, usize)], seen: &mut Seen) {
    let dropped = coming.iter().find(|(step, _)| *step == seen.id);
    if let Some((call, data)) = dropped.and_then(|(_, buffer)| take(kept, *buffer)) {
        (seen.call, seen.data) = (call, data);
    }
}

impl Runner<'_> {
    /// Drops the handle of a buffer. The drop of a sync view waits, and so its memory is there.
    pub(super) fn let_go(&self, buffer: usize, seen: &mut Seen) -> Option<()> {
        let handle = lock(self.buffers.get(buffer)?).take()?;
        drop(handle);
        let policy = self.program.buffers[buffer].policy;
        if !policy.is_view() {
            return Some(());
        }
        if !policy.drop_blocks() {
            lock(&self.coming).push((seen.id, buffer));
            return Some(());
        }
        let there = lock(&self.kept.backs).get(&buffer).is_some_and(|back| back.is_back());
        (seen.call, seen.data) = match there {
            true => take(&self.kept, buffer)?,
            false => (Outcome::Other("it is not back after its drop".to_owned()), Vec::new()),
        };
        Some(())
    }

    /// Drops the views that are left, and takes what they give back.
    pub(super) fn last_views(&self, all: &mut [PendingStep], record: &mut Record) {
        let coming = std::mem::take(&mut *lock(&self.coming));
        all.iter_mut().for_each(|pending| take_coming(&self.kept, &coming, &mut pending.seen));
        for (at, spec) in self.program.buffers.iter().enumerate() {
            if spec.policy.is_view() {
                drop(lock(&self.buffers[at]).take());
            }
        }
        record.backs = (0..self.buffers.len()).map(|at| take(&self.kept, at)).collect();
    }
}
