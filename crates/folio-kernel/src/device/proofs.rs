//! Which launches of a kernel need no tests of indices, by [`crate::flow`]. An analysis costs tens of
//! microseconds, so its answers are kept, and launches that are always others are not all analysed.

use super::code::Reach;
use crate::access::of_launch;
use crate::ir::{Kernel, ParamKind};
use crate::launch::Launch;
use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

/// How many launches are remembered.
const KEPT: usize = 16;
/// So many analyses a kernel has at once, and one more for so many launches.
const AT_ONCE: u64 = 64;
const ONE_IN: u64 = 64;

/// What was found out about a kernel's launches.
#[derive(Debug, Default)]
pub(super) struct Proofs(Mutex<Found>);

#[derive(Debug, Default)]
struct Found {
    launches: u64,
    analyses: u64,
    /// The last ones analysed.
    kept: VecDeque<(Owned, bool)>,
}

/// A launch that is remembered.
#[derive(Debug)]
struct Owned {
    offset: [u64; 3],
    range: [u64; 3],
    group: [u64; 3],
    shapes: Vec<[u64; 3]>,
    scalars: Vec<u64>,
}

impl Owned {
    fn of(launch: &Reach<'_>) -> Owned {
        let Reach { offset, range, group, shapes, scalars } = *launch;
        Owned { offset, range, group, shapes: shapes.to_vec(), scalars: scalars.to_vec() }
    }

    fn is(&self, launch: &Reach<'_>) -> bool {
        let Reach { offset, range, group, shapes, scalars } = *launch;
        (self.offset, self.range, self.group) == (offset, range, group)
            && self.shapes == shapes
            && self.scalars == scalars
    }
}

impl Proofs {
    /// No access of this launch can be out of bounds. Of launches that do not come again, not all are
    /// looked at.
    pub(super) fn hold(&self, kernel: &Kernel, launch: &Reach<'_>) -> bool {
        let mut found = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        found.launches += 1;
        if let Some((_, proved)) = found.kept.iter().find(|(known, _)| known.is(launch)) {
            return *proved;
        }
        if found.analyses >= AT_ONCE + found.launches / ONE_IN {
            return false;
        }
        found.analyses += 1;
        let proved = prove(kernel, launch);
        if found.kept.len() == KEPT {
            found.kept.pop_front();
        }
        found.kept.push_back((Owned::of(launch), proved));
        proved
    }
}

fn prove(kernel: &Kernel, launch: &Reach<'_>) -> bool {
    let used = of_launch(kernel, &known(kernel, launch));
    used.arrays_proved && used.params.iter().all(|param| param.proved)
}

/// A launch as analyses know it.
fn known(kernel: &Kernel, launch: &Reach<'_>) -> Launch {
    let Reach { offset, range, group, shapes, scalars } = *launch;
    let mut word = 0;
    let scalars = kernel.params.iter().map(|param| {
        let ParamKind::Scalar(ty) = param.kind else { return None };
        let first = word;
        word += kernel.types.layout(ty).0.div_ceil(8) as usize;
        let scalar = ty.scalar().filter(|scalar| scalar.is_int())?;
        Some(scalar.int(*scalars.get(first)?))
    });
    Launch { range, offset, group, extents: shapes.to_vec(), scalars: scalars.collect() }
}
