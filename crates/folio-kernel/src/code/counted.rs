//! The arrays in which a kernel only counts: for launches that count in copies of them.

use crate::ir::{Kernel, ParamKind, Root, Stmt, walk};
use crate::op::{Atomic, Combine, Op};
use crate::types::Scalar;

/// An array in which a kernel only counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counted {
    /// Where it is among the parameters that are memory.
    pub memory: usize,
    /// The type of its elements.
    pub scalar: Scalar,
    /// The operation of each addition.
    pub combine: Combine,
}

impl Counted {
    /// The bytes of an element.
    pub fn bytes(&self) -> usize {
        self.scalar.size() as usize
    }
}

/// The arrays in which a verified kernel only counts: it has one operation for them, and asks for
/// no result.
pub(super) fn counted(kernel: &Kernel) -> Vec<Counted> {
    let (mut used, mut uses) = (vec![false; kernel.values.len()], vec![]);
    walk(&kernel.body, &mut |stmt| {
        stmt.operands().iter().for_each(|value| used[value.index()] = true);
        if let Stmt::Let(define) = stmt
            && let Op::Atomic(op, place, _) = &define.op
            && let Root::Element(param, _) = place.root
        {
            uses.push((param, combine(*op).filter(|_| place.path.is_empty()), define.value));
        }
    });
    let is_memory =
        |kind: &ParamKind| matches!(kind, ParamKind::View { .. } | ParamKind::Reduce { .. });
    let memory = kernel.params.iter().enumerate().filter(|(_, param)| is_memory(&param.kind));
    let counted = memory.enumerate().filter_map(|(memory, (param, kind))| {
        let mut own = uses.iter().filter(|(of, ..)| of.index() == param);
        let (_, combine, _) = *own.clone().next()?;
        let same = own.all(|(_, op, value)| *op == combine && !used[value.index()]);
        let ParamKind::View { element, .. } = kind.kind else { return None };
        let scalar = element.scalar().filter(|scalar| scalar.is_int() && scalar.bits() >= 32)?;
        combine.filter(|_| same).map(|combine| Counted { memory, scalar, combine })
    });
    counted.collect()
}

/// The combining operation that an atomic operation is, if its order does not matter.
fn combine(op: Atomic) -> Option<Combine> {
    match op {
        Atomic::Add | Atomic::Sub => Some(Combine::Add),
        Atomic::Min => Some(Combine::Min),
        Atomic::Max => Some(Combine::Max),
        Atomic::And => Some(Combine::And),
        Atomic::Or => Some(Combine::Or),
        Atomic::Xor => Some(Combine::Xor),
        Atomic::Load | Atomic::Exchange | Atomic::CompareExchange => None,
    }
}
