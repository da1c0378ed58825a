//! A launch, as far as analyses know it.

use crate::interval::Interval;
use crate::ir::ParamId;
use crate::linear::Symbol;
use crate::op::Query;

/// A launch's shape and arguments, as far as they are known. Arrays are by dimension of the launch
/// or view, dimension 0 first; what is beyond the rank does not matter.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Launch {
    /// Items.
    pub range: [u64; 3],
    /// Position of the first item.
    pub offset: [u64; 3],
    /// Items of a group, for group kernels.
    pub group: [u64; 3],
    /// By parameter: the extent of views.
    pub extents: Vec<[u64; 3]>,
    /// By parameter: the value of integer scalars, where it is known.
    pub scalars: Vec<Option<i128>>,
}

impl Launch {
    /// The range of a query's answers; none for those of the sub-group.
    pub fn query(&self, query: Query, dim: u8) -> Option<Interval> {
        let dim = usize::from(dim);
        let at = |of: &[u64; 3]| of.get(dim).map(|n| i128::from(*n));
        let (range, offset, group) = (at(&self.range)?, at(&self.offset)?, at(&self.group)?);
        let below = |n: i128| Interval::new(0, (n - 1).max(0));
        let exactly = |n| Some(Interval::exactly(n));
        match query {
            Query::Position => Some(Interval::new(offset, offset + (range - 1).max(0))),
            Query::Range => exactly(range),
            Query::Offset => exactly(offset),
            Query::GroupSize => exactly(group),
            Query::LocalId => Some(below(group)),
            Query::GroupCount if group > 0 => exactly(range / group),
            Query::GroupId if group > 0 => Some(below(range / group)),
            Query::SubgroupSize => Some(Interval::new(1, 128)),
            Query::Lane => Some(Interval::new(0, 127)),
            Query::GroupCount | Query::GroupId | Query::Subgroup => None,
        }
    }

    /// The range of a symbol; none for values.
    pub fn symbol(&self, symbol: Symbol) -> Option<Interval> {
        match symbol {
            Symbol::Query(query, dim, _) => self.query(query, dim),
            Symbol::Extent(param, dim) => {
                self.extent(param, dim).map(|extent| Interval::exactly(extent.into()))
            }
            Symbol::Arg(param) => {
                self.scalars.get(param.index()).copied().flatten().map(Interval::exactly)
            }
            Symbol::Value(_) => None,
        }
    }

    /// The extent of a view.
    pub fn extent(&self, param: ParamId, dim: u8) -> Option<u64> {
        self.extents.get(param.index())?.get(usize::from(dim)).copied()
    }
}
