//! The accesses of several commands as those of one, for what the ledger takes as one operation.

use crate::engine::pages::storage::StorageId;
use crate::engine::terms::access::{Access, Mode};
use crate::geom::Box3;
use smallvec::SmallVec;
use std::collections::HashMap;

/// How many of a storage's accesses a new one is compared with. Only equal parts are found among
/// more: a union is linear in the number of accesses.
const COMPARED: usize = 4;

/// A union of accesses, which are all of one domain.
#[derive(Default)]
pub(crate) struct Union {
    all: Vec<Access>,
    equal: HashMap<(StorageId, Box3), usize>,
    first: HashMap<StorageId, SmallVec<[usize; COMPARED]>>,
}

impl Union {
    /// What commands access together, all of which run.
    pub(crate) fn of<'a>(accesses: impl Iterator<Item = &'a Access>) -> Vec<Access> {
        let mut union = Union::default();
        accesses.for_each(|access| union.add(access, true));
        union.into_accesses()
    }

    /// Adds an access of the next command. `sure`: that command runs; otherwise it may not, and
    /// what it discards may stay as it is.
    pub(crate) fn add(&mut self, access: &Access, sure: bool) {
        if access.elements.is_empty() {
            return;
        }
        let mut access = *access;
        if access.mode.discards() && !sure {
            access.mode = Mode::Update;
        }
        let first = self.first.entry(access.storage).or_default();
        if access.mode.discards() && !first.is_empty() {
            // An earlier command may use what is there.
            access.mode = Mode::Update;
        }
        let key = (access.storage, access.elements);
        if let Some(at) = self.equal.get(&key) {
            let mode = &mut self.all[*at].mode;
            if access.mode.writes() && !mode.writes() {
                *mode = Mode::Update;
            }
            return;
        }
        // A part that is only read is not to count as written, so a part of it stays apart.
        let covers = |at: &&usize| {
            let known = &self.all[**at];
            known.elements.contains(&access.elements)
                && (known.mode.writes() || !access.mode.writes())
        };
        if first.iter().find(covers).is_some() {
            return;
        }
        self.equal.insert(key, self.all.len());
        if first.len() < COMPARED {
            first.push(self.all.len());
        }
        self.all.push(access);
    }

    /// All of them.
    pub(crate) fn into_accesses(self) -> Vec<Access> {
        self.all
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::geom::Grid;
    use crate::pages::DomainId;

    const WHOLE: Mode = Mode::Discard { whole: true };

    /// What becomes of accesses, by their first element, their end and their modes.
    fn check(sure: bool, given: &[(usize, usize, Mode)], want: &[(usize, usize, Mode)]) {
        let grid = Grid::new([1, 1, 100], [1, 1, 10]);
        let mut union = Union::default();
        for &(from, to, mode) in given {
            let elements = Box3 { min: [0, 0, from], max: [1, 1, to] };
            let which = (StorageId(0, 0), &grid);
            union.add(&Access::new(which, elements, mode, DomainId(1)), sure);
        }
        let got: Vec<_> = union
            .into_accesses()
            .iter()
            .map(|a| (a.elements.min[2], a.elements.max[2], a.mode))
            .collect();
        assert_eq!(got, want);
    }

    #[test]
    fn accesses_of_commands_become_those_of_one() {
        use Mode::{Read, Update};
        check(true, &[(0, 10, WHOLE), (0, 10, Read), (2, 3, Update)], &[(0, 10, WHOLE)]);
        check(true, &[(0, 10, Read), (0, 10, WHOLE)], &[(0, 10, Update)]);
        check(true, &[(0, 10, Read), (2, 4, WHOLE)], &[(0, 10, Read), (2, 4, Update)]);
        check(true, &[(0, 10, Update), (2, 4, WHOLE)], &[(0, 10, Update)]);
        check(false, &[(0, 10, WHOLE), (5, 20, Read)], &[(0, 10, Update), (5, 20, Read)]);
        check(true, &[(4, 4, Update)], &[]);
        check(true, &[(0, 10, WHOLE), (10, 20, WHOLE)], &[(0, 10, WHOLE), (10, 20, Update)]);
    }
}
