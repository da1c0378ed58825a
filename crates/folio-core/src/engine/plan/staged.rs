//! Copies between devices that do not reach each other: by way of the host, in chunks, so that one
//! is received while the one before is sent.
//!
//! Chunk k goes down into stop k mod n, and up from there; a stop is used again when the chunk that
//! was in it has gone up. Each chunk's way up comes after that of the chunk before, and depends on
//! it: the last one stands for all, and fails if any of them fails. Stops live as long as the
//! operations that name them.

use crate::engine::lanes::Payload;
use crate::engine::ledger::{Body, Ledger, NewOp};
use crate::engine::plan::copies::CopyJob;
use crate::engine::terms::staging::Staging;
use crate::error::Cause;
use crate::hal::{CopyRect, HalError, MemBase, MemRef};
use crate::order::hazards::{Deps, add_dep};
use crate::order::stamp::{LaneId, Stamp};
use smallvec::SmallVec;
use std::sync::Arc;

/// Bytes of a chunk, and how many of them are under way at most.
const CHUNK: u64 = 4 << 20;
const STOPS: usize = 4;

impl Ledger {
    /// Copies by way of the host: down on one lane, up on the other.
    pub(super) fn copy_staged(
        &mut self,
        job: CopyJob<'_>,
        (down, up): (LaneId, LaneId),
        rects: &[CopyRect],
    ) -> Stamp {
        let mut chunks: Vec<CopyRect> = Vec::new();
        rects.iter().for_each(|rect| cut(rect, CHUNK, &mut chunks));
        let most = chunks.iter().map(CopyRect::bytes).max().unwrap_or(0);
        // All stops before the first operation: there is no way back from half a copy.
        let mut stops: SmallVec<[(Arc<Staging>, Stamp); STOPS]> = SmallVec::new();
        while stops.len() < STOPS.min(chunks.len()) {
            let Some(stop) = Staging::within(&self.host_budget, most as usize) else { break };
            stops.push((Arc::new(stop), Stamp::DONE));
        }
        if stops.is_empty() && !chunks.is_empty() {
            let (in_use, limit) = (self.host_budget.in_use(), self.host_budget.limit());
            let cause = Cause::Backend(HalError::out_of_memory(most, in_use, limit));
            let failure = self.fail(job.what, job.who.label, "host", cause);
            return self.timeline.failed_stamp(failure, &mut self.outbox);
        }
        let count = chunks.len();
        self.count(job.storages.first().copied(), job.who.queue, |c| c.chunks += count as u64);
        let mut last = Stamp::DONE;
        for (at, chunk) in chunks.into_iter().enumerate() {
            let n = at % stops.len();
            let (staging, free) = stops[n].clone();
            let stop = MemRef { base: MemBase::Host(staging.ptr()), offset: 0 };
            let close = [chunk.extent[1] * chunk.extent[2], chunk.extent[2]];
            let mut deps = job.deps.clone();
            add_dep(&mut deps, free, false);
            let to_host = CopyRect { dst: stop, dst_pitch: close, ..chunk };
            // A stop that has not been filled holds what came before, or nothing.
            let leg = NewOp { defines: true, ..job.leg(deps, down, to_host, &staging) };
            let received = self.submit(leg);
            let mut deps = job.deps.clone();
            add_dep(&mut deps, received, true);
            add_dep(&mut deps, last, true);
            let from_host = CopyRect { src: stop, src_pitch: close, ..chunk };
            last = self.submit(job.leg(deps, up, from_host, &staging));
            stops[n].1 = last;
        }
        last
    }
}

impl CopyJob<'_> {
    /// A half of a chunk's way.
    fn leg(&self, deps: Deps, lane: LaneId, rect: CopyRect, staging: &Arc<Staging>) -> NewOp {
        NewOp {
            what: self.what,
            label: self.who.label.clone(),
            queue: self.who.queue,
            timed: self.timed,
            deps,
            storages: self.storages.clone(),
            staging: Some(staging.clone()),
            defines: self.defines,
            nodes: None,
            body: Body::Lane(lane, Payload::Copy(vec![rect])),
        }
    }
}

/// Cuts a rectangle into pieces of at most `most` bytes.
fn cut(rect: &CopyRect, most: u64, out: &mut Vec<CopyRect>) {
    if rect.bytes() <= most {
        out.push(*rect);
        return;
    }
    // The slowest dimension with more than one step.
    let d = (0..3).find(|&d| rect.extent[d] > 1).unwrap_or(2);
    let (src_step, dst_step) = match d {
        0 => (rect.src_pitch[0], rect.dst_pitch[0]),
        1 => (rect.src_pitch[1], rect.dst_pitch[1]),
        _ => (1, 1),
    };
    let step = rect.bytes() / rect.extent[d];
    let at_once = (most / step).max(1);
    let mut at = 0;
    while at < rect.extent[d] {
        let mut piece = *rect;
        piece.extent[d] = at_once.min(rect.extent[d] - at);
        piece.src.offset += at * src_step;
        piece.dst.offset += at * dst_step;
        cut(&piece, most, out);
        at += at_once;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hal::HostPtr;

    /// XFER-05: the chunks are the rectangle, none is larger than asked for, and no byte is in two.
    #[test]
    fn chunks_are_the_rectangle() {
        let base = MemBase::Host(HostPtr(std::ptr::null_mut()));
        let place = |offset| MemRef { base, offset };
        for extent in [[1, 1, 100], [1, 7, 13], [5, 3, 4], [2, 1, 50], [3, 9, 1]] {
            for most in [1, 2, 3, 10, 16, 39, 1000] {
                let (src_pitch, dst_pitch) = ([2000, 150], [700, 100]);
                let whole = CopyRect { src: place(5), src_pitch, dst: place(9), dst_pitch, extent };
                let mut chunks = Vec::new();
                cut(&whole, most, &mut chunks);
                let bytes = |rects: &[CopyRect]| {
                    let mut all = Vec::new();
                    for r in rects {
                        for (z, y, x) in (0..r.extent[0])
                            .flat_map(|z| (0..r.extent[1]).map(move |y| (z, y)))
                            .flat_map(|(z, y)| (0..r.extent[2]).map(move |x| (z, y, x)))
                        {
                            let from = r.src.offset + z * r.src_pitch[0] + y * r.src_pitch[1] + x;
                            let to = r.dst.offset + z * r.dst_pitch[0] + y * r.dst_pitch[1] + x;
                            all.push((from, to));
                        }
                    }
                    all.sort_unstable();
                    all
                };
                assert_eq!(bytes(&chunks), bytes(&[whole]), "{extent:?} by {most}");
                assert!(chunks.iter().all(|c| c.bytes() <= most), "{extent:?} by {most}");
            }
        }
    }
}
