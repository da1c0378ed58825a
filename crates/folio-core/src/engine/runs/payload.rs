//! From the action of a command to the operation of a lane: the same for commands that go to a
//! lane, for those of a list, and for bodies of conditions.

use crate::engine::lanes::list::List;
use crate::engine::lanes::native::Replaying;
use crate::engine::lanes::{Filling, Payload};
use crate::engine::ledger::Ledger;
use crate::engine::ledger::storages::Storages;
use crate::engine::runs::command::{Action, End, MemRect};
use crate::engine::terms::access::{Access, RawMem};
use crate::hal::{CopyRect, FillRect, HostPtr, MemBase, MemRef, OpKind};
use crate::pages::DomainId;
use crate::report::Counters;

impl Storages {
    /// What a lane does for an action all of whose memory is where it runs, and which has these
    /// accesses. `None` where the memory is missing, and for what no lane does.
    pub(crate) fn payload(&self, action: &mut Action, accesses: &[Access]) -> Option<Payload> {
        Some(match action {
            Action::Launch(launch) => {
                // Taken from where it lies: the action is large.
                let mut launch = launch.take()?;
                for (param, at) in launch.places() {
                    param.mem = self.first_byte(&accesses[at]);
                }
                Payload::Launch(Some(launch))
            }
            Action::Copy { from, to } => Payload::Copy(vec![self.rect(accesses, from, to)?.0]),
            Action::Fill { to, pattern } => {
                let (dst, _) = self.memory_of(accesses, to)?;
                let rects = vec![FillRect { dst, pitch: to.pitch, extent: to.extent }];
                Payload::Fill(Box::new(Filling { rects, pattern: std::mem::take(pattern) }))
            }
            Action::Hint { at, hint } => {
                let (mem, _) = self.memory_of(accesses, at)?;
                Payload::Hint(Box::new((mem, at.span(), *hint)))
            }
            Action::Replay(list) => Payload::Replay(Some(Replaying::new(list.clone()))),
            Action::Task { .. } | Action::Conditional(_) | Action::Nothing => return None,
        })
    }

    /// What an action does as a node of a list, or in a body. Advice is left out.
    pub(super) fn node_payload(&self, action: &mut Action, accesses: &[Access]) -> Option<Payload> {
        match action {
            Action::Hint { .. } => None,
            action => self.payload(action, accesses),
        }
    }

    /// A copy, and the memories at its ends.
    pub(super) fn rect(
        &self,
        accesses: &[Access],
        from: &MemRect,
        to: &MemRect,
    ) -> Option<(CopyRect, [DomainId; 2])> {
        let ((src, source), (dst, target)) =
            (self.memory_of(accesses, from)?, self.memory_of(accesses, to)?);
        let (src_pitch, dst_pitch, extent) = (from.pitch, to.pitch, from.extent);
        Some((CopyRect { src, src_pitch, dst, dst_pitch, extent }, [source, target]))
    }

    /// Where the memory of an access begins; an empty one may have none.
    #[inline(always)] // For each parameter, and its result is a struct.
    pub(crate) fn first_byte(&self, access: &Access) -> MemRef {
        match self[access.storage.0].alloc(access.domain) {
            // USM of another memory may be named where nothing of it is used: no lane reaches it.
            Some(alloc) if !access.elements.is_empty() => alloc.mem,
            _ => MemRef { base: MemBase::Host(HostPtr(std::ptr::null_mut())), offset: 0 },
        }
    }

    /// Where a place is.
    fn memory_of(&self, accesses: &[Access], place: &MemRect) -> Option<(MemRef, DomainId)> {
        match &place.end {
            End::Access(at) => {
                let a = &accesses[*at];
                let alloc = self[a.storage.0].alloc(a.domain)?;
                Some((alloc.at(place.offset), a.domain))
            }
            End::Raw(RawMem { mem, domain, .. }) => {
                Some((MemRef { offset: mem.offset + place.offset, ..*mem }, *domain))
            }
            End::Host(staging) => {
                let base = MemBase::Host(staging.ptr());
                Some((MemRef { base, offset: place.offset }, DomainId::HOST))
            }
        }
    }
}

impl Ledger {
    /// Counts an operation for its queue.
    pub(super) fn count_payload(&mut self, payload: &mut Payload, queue: Option<u32>) {
        match payload {
            Payload::Launch(_) => self.queues.count_launches(queue, 1),
            Payload::Replay(Some(replay)) => self.count_list(queue, replay.list()),
            payload => {
                let kind = payload.op().map(|op| op.kind());
                kind.into_iter().for_each(|kind| self.count_kind(queue, kind, 1));
            }
        }
    }

    /// Counts a list's operations for its queue, and its run.
    pub(super) fn count_list(&mut self, queue: Option<u32>, list: &List) {
        self.count_kind(queue, OpKind::Replay, 1);
        let all = OpKind::ALL.iter().zip(list.fixed.counts).filter(|(_, count)| *count > 0);
        all.for_each(|(kind, count)| self.count_kind(queue, *kind, count));
    }

    fn count_kind(&mut self, queue: Option<u32>, kind: OpKind, count: u64) {
        let counter = |counters: &mut Counters| match kind {
            OpKind::Copy => counters.copies += count,
            OpKind::Fill => counters.fills += count,
            OpKind::Hint => counters.hints += count,
            OpKind::Replay => counters.replays += count,
            // Launches are the queue's. The rest is no command of the program's.
            OpKind::Launch | OpKind::Switch | OpKind::Branch | OpKind::Join => {}
        };
        match kind {
            OpKind::Launch => self.queues.count_launches(queue, count),
            _ => self.count(None, queue, counter),
        }
    }
}
