//! Whether a launch may be computed in parts: boxes of its items, as launches of their own that
//! begin at other positions. Then all that a kernel computes must follow from positions.

use crate::ir::{Kernel, Owner, ParamId, ParamKind, Place, Root, Stmt, Value, walk};
use crate::op::{Op, Query};

/// What a kernel asks for that is another value in a part of its launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Indivisible {
    /// The parameter, if it is one's.
    pub param: Option<ParamId>,
    /// What stands in the way.
    pub why: &'static str,
}

/// Why launches of a verified kernel cannot be computed in parts, if they cannot. The index of a
/// group may be asked for to reach the group's own element.
pub fn indivisible(kernel: &Kernel) -> Option<Indivisible> {
    let is_of_groups = |param: ParamId| {
        let kind = kernel.params.get(param.index()).map(|param| &param.kind);
        matches!(kind, Some(ParamKind::View { owner: Owner::Group, .. }))
    };
    let (mut groups, mut found): (Vec<Value>, Option<Indivisible>) = (vec![], None);
    walk(&kernel.body, &mut |stmt| {
        let mut refuse = |param, why| {
            found.get_or_insert(Indivisible { param, why });
        };
        if let Stmt::Let(define) = stmt {
            match define.op {
                Op::Query { query: Query::Range | Query::Offset, .. } => {
                    refuse(None, "it asks for the range of its launch");
                }
                Op::Query { query: Query::GroupCount, .. } => {
                    refuse(None, "it asks for the number of groups of its launch");
                }
                Op::Query { query: Query::GroupId, .. } => groups.push(define.value),
                Op::Extent(param, _) if is_of_groups(param) => {
                    refuse(Some(param), "its extent is asked for, of which a part has a part");
                }
                _ => {}
            }
        }
        let is_group = |value: &&Value| groups.contains(value);
        let own = place_of(stmt).map_or(0, |place| match &place.root {
            Root::Element(param, at) if is_of_groups(*param) => at.iter().filter(is_group).count(),
            _ => 0,
        });
        if stmt.operands().iter().filter(is_group).count() > own {
            refuse(None, "it computes with the index of a group");
        }
    });
    found
}

fn place_of(stmt: &Stmt) -> Option<&Place> {
    match stmt {
        Stmt::Store { place, .. } => Some(place),
        Stmt::Let(define) => define.op.place(),
        _ => None,
    }
}
