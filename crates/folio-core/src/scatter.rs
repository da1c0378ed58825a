//! Launches of kernels that scatter: the commands that clear the claims, and those that run the
//! kernel, once or twice.
//!
//! Claims are memory of the launch alone, in each run of a graph, too: so they are cleared by
//! commands, and no launch sees those of another one.

use crate::buffer::{AsPartMut, Buffer, BufferOptions, View};
use crate::call::{KernelCall, Passed};
use crate::error::{Error, Label, Result};
use crate::group::CommandGroup;
use crate::items::Items;
use crate::queue::Queue;
use crate::token::GroupId;
use folio_device::{Kernel, put_scalar};
use smallvec::SmallVec;

/// Items have positions below this one: a claim is a position and one more, in 32 bits.
const MOST: usize = u32::MAX as usize;

/// The refusal of items at positions that are no claims.
pub(crate) const BEYOND: &str = "items that scatter have positions below 4,294,967,295";

impl<K: Kernel, const D: usize> KernelCall<K, D> {
    /// Gives the claims memory of their own.
    fn claim(&mut self, queue: &Queue) -> Result<SmallVec<[Buffer<u32, 3>; 1]>> {
        let mut memory = SmallVec::new();
        for at in &self.claims.of {
            let Some(Passed { part, .. }) = self.given.get_mut(*at) else { continue };
            let options = BufferOptions::new().own_tracker();
            let of = queue.runtime().buffer_with(part.part.extent(), options)?;
            let (storage, dims) = (of.view.storage.clone(), of.view.dims);
            let rank = usize::from(part.view.rank);
            *part = View::new(storage, (dims, rank), size_of::<u32>()).whole();
            memory.push(of);
        }
        Ok(memory)
    }

    /// The scalars of a turn of a kernel that runs twice.
    fn in_turn(&self, turn: u32) -> Self {
        let mut call = self.again();
        if self.claims.twice {
            call.scalars.pop();
            put_scalar(turn, &mut call.scalars);
        }
        // They have memory.
        call.claims.of.clear();
        call
    }
}

impl Queue {
    /// The groups of commands that run a call for several boxes of items. The claims of all boxes
    /// are the same: items of different boxes meet, too.
    pub(crate) fn groups_of<K: Kernel, const D: usize>(
        &self,
        boxes: &[Items<D>],
        mut call: KernelCall<K, D>,
    ) -> Result<Vec<CommandGroup>> {
        let mut groups = vec![];
        for mut claims in call.claim(self)? {
            let (mut group, mut claims) = (self.group(GroupId::next()), &mut claims);
            group.fill(&mut claims.slice_all_mut(), 0u32);
            groups.push(group);
        }
        let scatters = call.scatters();
        for turn in 0..1 + u32::from(call.claims.twice) {
            let call = call.in_turn(turn);
            for items in boxes {
                if scatters {
                    within::<K, D>(items)?;
                }
                let mut group = self.group(GroupId::next());
                group.run_here(*items, &mut call.again());
                groups.push(group);
            }
        }
        Ok(groups)
    }
}

/// Refuses items that have no claims.
pub(crate) fn within<K: Kernel, const D: usize>(items: &Items<D>) -> Result<()> {
    let ends = items.offset.iter().zip(&items.range).map(|(first, n)| first.checked_add(*n));
    match ends.max().flatten() {
        Some(end) if end <= MOST => Ok(()),
        _ => Err(Error::LaunchRange {
            command: Label::from(K::FUNCTION.name),
            launch: items.range.to_vec(),
            offset: items.offset.to_vec(),
            why: BEYOND,
        }),
    }
}
