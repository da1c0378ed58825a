//! Kernels: what they access, and how that is made to fit.

use super::Maker;
use crate::functions;
use crate::place;
use crate::program::{Access, Action, Memory, Mode, Ty};

impl Maker {
    pub(super) fn kernel(&mut self, thread: usize) -> Action {
        let first = self.own(thread, None).unwrap_or(0);
        let ty = if self.rng.chance(90) { self.buffers[first].ty } else { Ty::U64 };
        let mut accesses: Vec<Access> = Vec::new();
        for _ in 0..self.rng.pick(&[0, 1, 1, 1, 2]) {
            accesses.push(Access { view: self.view(thread, Some(ty)), mode: Mode::Read });
        }
        let modes = [Mode::Write, Mode::ReadWrite, Mode::ReadWrite, Mode::Discard, Mode::Discard];
        let writes = self.rng.pick(&[1, 1, 1, 2]);
        for _ in 0..writes {
            let mut mode = self.rng.pick(&modes);
            if self.config.functions && mode == Mode::Discard && self.rng.chance(50) {
                mode = Mode::Overwrite;
            }
            accesses.push(Access { view: self.view(thread, Some(ty)), mode });
        }
        if !self.rng.chance(3) {
            self.part_aliases(thread, &mut accesses);
        }
        if self.config.functions {
            self.borrow_once(&mut accesses);
        }
        let written = || accesses.iter().filter(|a| a.mode != Mode::Read).map(|a| &a.view);
        let mut range = [usize::MAX; 3];
        let mut rank = 1;
        for view in written() {
            let e = view.part.extent();
            (0..3).for_each(|d| range[d] = range[d].min(e[d]));
            rank = rank.max(if view.dims[0] > 1 { 3 } else { 1 + usize::from(view.dims[1] > 1) });
        }
        // Where an extent is empty, no item may be outside.
        if range.contains(&0) {
            range = [1, 1, 0];
        }
        if self.rng.chance(8) {
            range[2] = self.rng.within(0, range[2]);
        }
        let skip = self.skip();
        if self.config.functions {
            functions::fit(&mut accesses, range, skip);
        }
        Action::Kernel { rank, range, accesses, skip, ends: self.ends(thread, false) }
    }

    /// The arguments of a call are borrowed at once, and a handle of USM cannot be borrowed twice.
    fn borrow_once(&self, accesses: &mut Vec<Access>) {
        let usm = |b: usize| {
            matches!(self.buffers[b].memory, Memory::Usm(..)) && !self.adopted.contains(&b)
        };
        let mut later: Vec<usize> = Vec::new();
        accesses.reverse();
        accesses.retain(|access| {
            let buffer = access.view.buffer;
            let again = usm(buffer) && later.contains(&buffer);
            later.push(buffer);
            !again
        });
        accesses.reverse();
    }

    /// Makes overlapping accesses disjoint, one way or the other.
    fn part_aliases(&mut self, thread: usize, accesses: &mut Vec<Access>) {
        let clash = |a: &Access, b: &Access| {
            (a.mode != Mode::Read || b.mode != Mode::Read) && place::overlap(&a.view, &b.view)
        };
        let mut kept: Vec<Access> = Vec::new();
        for a in std::mem::take(accesses).into_iter().rev() {
            let mut a = a;
            for _ in 0..4 {
                if kept.iter().any(|b| clash(&a, b)) {
                    a.view.part = self.part(thread, a.view.buffer, a.view.dims, None);
                }
            }
            if !kept.iter().any(|b| clash(&a, b)) {
                kept.push(a);
            }
        }
        kept.reverse();
        *accesses = kept;
    }
}
