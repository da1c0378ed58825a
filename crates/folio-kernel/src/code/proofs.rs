//! Which launches of a kernel need no tests of indices, by [`crate::flow`]. An analysis costs tens
//! of microseconds, so its answers are kept, and launches that are always others are not all
//! analysed.

use super::Reach;
use crate::Scalar;
use crate::access::of_launch;
use crate::ir::{Kernel, ParamKind, Stmt};
use crate::launch::Launch;
use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

/// How many launches are remembered.
const KEPT: usize = 32;
/// Analyses that a kernel has at once; behind them, one for each `ONE_IN` launches.
const AT_ONCE: u64 = 64;
const ONE_IN: u64 = 64;
/// Statements that an analysis may look at; a loop is gone through some times, and so is each in
/// it.
const MOST_WORK: u64 = 100_000;
const TURNS: u64 = 6;

/// The results of a kernel's analyses, by launch.
#[derive(Debug, Default)]
pub(super) struct Proofs(Mutex<Found>);

#[derive(Debug, Default)]
struct Found {
    launches: u64,
    analyses: u64,
    /// Where among the words of scalars those are that analyses know; found by the first launch.
    known: Option<Vec<usize>>,
    /// The last ones used.
    kept: VecDeque<(Owned, bool)>,
}

/// A launch that is remembered.
#[derive(Debug)]
struct Owned {
    offset: [u64; 3],
    range: [u64; 3],
    group: [u64; 3],
    shapes: Vec<[u64; 3]>,
    /// The known words.
    scalars: Vec<Option<u64>>,
}

/// The scalars of a launch that analyses know.
fn words<'l>(launch: &Reach<'l>, known: &'l [usize]) -> impl Iterator<Item = Option<u64>> + 'l {
    let scalars = launch.scalars;
    known.iter().map(|at| scalars.get(*at).copied())
}

impl Owned {
    fn of(launch: &Reach<'_>, known: &[usize]) -> Owned {
        let Reach { offset, range, group, shapes, .. } = *launch;
        let scalars = words(launch, known).collect();
        Owned { offset, range, group, shapes: shapes.to_vec(), scalars }
    }

    fn is(&self, launch: &Reach<'_>, known: &[usize]) -> bool {
        let Reach { offset, range, group, shapes, .. } = *launch;
        (self.offset, self.range, self.group) == (offset, range, group)
            && self.shapes == shapes
            && words(launch, known).eq(self.scalars.iter().copied())
    }
}

impl Proofs {
    /// No access of this launch can be out of bounds. Of launches that do not come again, not all
    /// are looked at, unless `always`.
    pub(super) fn hold(&self, kernel: &Kernel, launch: &Reach<'_>, always: bool) -> bool {
        let mut found = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Found { launches, analyses, known, kept } = &mut *found;
        *launches += 1;
        let known =
            known.get_or_insert_with(|| integers(kernel).flatten().map(|(at, _)| at).collect());
        if let Some(at) = kept.iter().rposition(|(one, _)| one.is(launch, known)) {
            if at + 1 < kept.len()
                && let Some(one) = kept.remove(at)
            {
                kept.push_back(one);
            }
            return kept.back().is_some_and(|(_, proved)| *proved);
        }
        let afforded = *analyses < AT_ONCE + *launches / ONE_IN && work(&kernel.body) <= MOST_WORK;
        if !afforded && !always {
            return false;
        }
        *analyses += 1;
        let proved = prove(kernel, launch);
        if kept.len() == KEPT {
            kept.pop_front();
        }
        kept.push_back((Owned::of(launch, known), proved));
        proved
    }
}

fn prove(kernel: &Kernel, launch: &Reach<'_>) -> bool {
    let used = of_launch(kernel, &known(kernel, launch));
    used.arrays_proved && used.params.iter().all(|param| param.proved)
}

/// How much an analysis may have to do.
fn work(body: &[Stmt]) -> u64 {
    let inner = |stmt: &Stmt| {
        let turns = if matches!(stmt, Stmt::For { .. } | Stmt::Loop { .. }) { TURNS } else { 1 };
        let inside = stmt.bodies().into_iter().map(|body| work(body));
        inside.fold(0, u64::saturating_add).saturating_mul(turns).saturating_add(1)
    };
    body.iter().map(inner).fold(0, u64::saturating_add)
}

/// Of each parameter, the word and the type of a scalar that analyses know.
fn integers(kernel: &Kernel) -> impl Iterator<Item = Option<(usize, Scalar)>> + '_ {
    let mut word = 0;
    kernel.params.iter().map(move |param| {
        let ParamKind::Scalar(ty) = param.kind else { return None };
        let first = word;
        word += kernel.types.layout(ty).0.div_ceil(8) as usize;
        Some((first, ty.scalar().filter(|scalar| scalar.is_int())?))
    })
}

/// A launch as analyses know it.
pub(super) fn known(kernel: &Kernel, launch: &Reach<'_>) -> Launch {
    let Reach { offset, range, group, shapes, scalars } = *launch;
    let value = |of: Option<(usize, Scalar)>| {
        let (at, scalar) = of?;
        Some(scalar.int(*scalars.get(at)?))
    };
    let scalars = integers(kernel).map(value).collect();
    Launch { range, offset, group, extents: shapes.to_vec(), scalars }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::Label;

    /// Loops in loops cost their product, and no kernel makes the sum overflow.
    #[test]
    fn work_multiplies_in_loops() {
        let nested = |depth: usize| {
            (0..depth).fold(Vec::new(), |body, _| vec![Stmt::Loop { label: Label(0), body }])
        };
        assert_eq!(work(&nested(0)), 0);
        assert_eq!([1, 2, 3].map(|depth| work(&nested(depth))), [1, 7, 43]);
        assert_eq!(work(&nested(60)), u64::MAX);
    }
}
