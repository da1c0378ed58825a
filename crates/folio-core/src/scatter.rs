//! Launches of kernels that scatter: the commands that clear the claims, and those that run the
//! kernel, once or twice.
//!
//! Claims are memory of the launch alone, in each run of a graph, too: so they are cleared by
//! commands, and no launch sees those of another one.

use crate::buffer::{AsPartMut, Buffer, BufferOptions, View};
use crate::call::{AnyCall, Passed};
use crate::engine::kernels::launch::Scalars;
use crate::error::{Error, Label, Result};
use crate::geom::Dims;
use crate::group::{CommandGroup, Empty};
use crate::hal::Geometry;
use crate::runtime::Runtime;
use folio_device::put_scalar;
use smallvec::SmallVec;

/// Positions of a launch whose items scatter, from the first on: a claim is the number of a
/// position and one more, in 32 bits.
const MOST: usize = u32::MAX as usize;

/// The refusal of items at positions that are no claims.
pub(crate) const BEYOND: &str = "items that scatter are among the first 4,294,967,295 positions";

impl AnyCall {
    /// Gives the claims memory of their own.
    fn claim_memory(&mut self, runtime: &Runtime) -> Result<SmallVec<[Buffer<u32, 3>; 1]>> {
        let mut memory = SmallVec::new();
        for at in &self.claims.of {
            let Some(Passed { part, .. }) = self.given.get_mut(*at) else { continue };
            let options = BufferOptions::new().own_tracker();
            let of = runtime.buffer_with(part.part.extent(), options)?;
            let (storage, dims) = (of.view.storage.clone(), of.view.dims);
            let rank = usize::from(part.view.rank);
            *part = View::new(storage, (dims, rank), size_of::<u32>()).whole();
            memory.push(of);
        }
        Ok(memory)
    }

    /// The call of a turn, whose claims have memory, in a launch that ends there.
    fn in_turn(&self, turn: u32, ends: &Dims) -> AnyCall {
        let mut call = self.clone();
        let turn = call.claims.twice.then_some(turn);
        put_ends(&mut call.scalars, call.claims.ends, ends, turn);
        call.claims.of.clear();
        call
    }
}

/// The groups of commands that run a call for several boxes of items, each of an empty one. The
/// claims of all boxes are the same: items of different boxes meet, too.
pub(crate) fn groups_of(
    runtime: &Runtime,
    empty: Empty<'_>,
    boxes: &[Geometry],
    mut call: AnyCall,
) -> Result<Vec<CommandGroup>> {
    let scatters = call.scatters();
    let ends = if scatters { ends_of(call.kernel.function.name, boxes)? } else { [0; 3] };
    let mut groups = vec![];
    for mut claims in call.claim_memory(runtime)? {
        let (mut group, mut claims) = (empty(), &mut claims);
        group.fill(&mut claims.slice_all_mut(), 0u32);
        groups.push(group);
    }
    for turn in 0..1 + u32::from(call.claims.twice) {
        let call = call.in_turn(turn, &ends);
        for items in boxes {
            let mut group = empty();
            group.run_here(items, &mut call.clone());
            groups.push(group);
        }
    }
    Ok(groups)
}

/// Replaces the last scalars of a call: as many ends of its items as it has, in the last
/// dimensions, and the turn.
pub(crate) fn put_ends(scalars: &mut Scalars, count: usize, ends: &Dims, turn: Option<u32>) {
    let others = scalars.len().saturating_sub(count + usize::from(turn.is_some()));
    scalars.truncate(others);
    for end in &ends[ends.len().saturating_sub(count)..] {
        put_scalar(*end as u32, scalars);
    }
    if let Some(turn) = turn {
        put_scalar(turn, scalars);
    }
}

/// The ends of all boxes of items. Refuses items that have no claims: those of positions whose
/// number does not fit.
pub(crate) fn ends_of(kernel: &str, boxes: &[Geometry]) -> Result<Dims> {
    let mut ends = [0; 3];
    for Geometry { rank, offset, range, .. } in boxes {
        let own = offset.iter().zip(range).map(|(first, n)| first.checked_add(*n));
        for (all, own) in ends.iter_mut().zip(own) {
            *all = own.map_or(usize::MAX, |own| own.max(*all));
        }
        let count = ends.iter().try_fold(1usize, |count, n| count.checked_mul(*n));
        if count.is_none_or(|count| count > MOST) {
            let visible = |dims: &Dims| dims[3 - usize::from(*rank)..].to_vec();
            return Err(Error::LaunchRange {
                command: Label::from(kernel),
                launch: visible(range),
                offset: visible(offset),
                why: BEYOND,
            });
        }
    }
    Ok(ends)
}
