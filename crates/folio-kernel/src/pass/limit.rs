//! A kernel of items of which a launch runs as many as a count says that lies in memory. The count
//! is one more parameter, the last, and items from it on leave before anything else.
//!
//! An `Out` of such a kernel is an `InOut`: elements of items that leave keep what they had.

use crate::fault::VerifyError;
use crate::ir::{Access, Kernel, Let, Owner, Param, ParamId, ParamKind, Place, Stmt, Value, walk};
use crate::op::{Compare, Op, Query};
use crate::types::{Scalar, Type};
use crate::{outputs, verify};

/// Why a launch of a kernel cannot be limited so, if it cannot.
pub fn why_not(kernel: &Kernel) -> Option<&'static str> {
    let mut reduces = false;
    walk(&kernel.body, &mut |stmt| reduces |= matches!(stmt, Stmt::Contribute { .. }));
    match (kernel.shape.groups, kernel.shape.rank, reduces) {
        (true, ..) => Some("it is a kernel of groups"),
        (_, 2.., _) => Some("its items have several dimensions"),
        (.., true) => Some("it combines values of all items"),
        (false, _, false) => None,
    }
}

/// The same kernel with a limit, a count of this type.
pub fn limit(mut kernel: Kernel, count: Scalar) -> Result<Kernel, VerifyError> {
    for param in &mut kernel.params {
        if let ParamKind::View { access: access @ Access::Out, .. } = &mut param.kind {
            *access = Access::InOut;
        }
    }
    let memory = ParamId(kernel.params.len() as u32);
    let (element, access) = (count.into(), Access::In);
    let kind = ParamKind::View { element, rank: 1, access, owner: Owner::Item };
    kernel.params.push(Param { name: "count".to_owned(), kind });
    let (asked, position) = position(&kernel);
    let mut head = Head { kernel: &mut kernel, stmts: vec![] };
    let position = position.unwrap_or_else(|| {
        head.define(Op::Query { query: Query::Position, dim: 0, copy: 0 }, Scalar::U64)
    });
    let first = head.define(Op::Const(Scalar::U64, 0), Scalar::U64);
    let mut end = head.define(Op::Load(Place::element(memory, [first])), count);
    if count != Scalar::U64 {
        end = head.define(Op::Cast(end, Scalar::U64), Scalar::U64);
    }
    let cond = head.define(Op::Compare(Compare::Ge, position, end), Scalar::Bool);
    head.stmts.push(Stmt::If { cond, then: vec![Stmt::Return], otherwise: vec![] });
    let stmts = head.stmts;
    kernel.body.splice(asked..asked, stmts);
    verify::verify(&kernel)?;
    outputs::check(&kernel)?;
    Ok(kernel)
}

/// How many statements at the start are questions, and which value is the item's position there:
/// analyses rely on one value for each question.
fn position(kernel: &Kernel) -> (usize, Option<Value>) {
    let questions = kernel.body.iter().map_while(|stmt| match stmt {
        Stmt::Let(Let { value, op: op @ Op::Query { .. }, .. }) => Some((*value, op)),
        Stmt::Let(Let { value, op: op @ (Op::Arg(_) | Op::Extent(..)), .. }) => Some((*value, op)),
        _ => None,
    });
    let (mut asked, mut position) = (0, None);
    for (value, op) in questions {
        asked += 1;
        if matches!(op, Op::Query { query: Query::Position, .. }) {
            position = Some(value);
        }
    }
    (asked, position)
}

/// The statements before a kernel's own.
struct Head<'k> {
    kernel: &'k mut Kernel,
    stmts: Vec<Stmt>,
}

impl Head<'_> {
    fn define(&mut self, op: Op, ty: impl Into<Type>) -> Value {
        let value = Value(self.kernel.values.len() as u32);
        self.kernel.values.push(ty.into());
        self.stmts.push(Stmt::Let(Let { value, op, site: None }));
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::Builder;
    use crate::op::Binary;

    fn doubles() -> Kernel {
        let mut b = Builder::items("doubles", 1);
        let x = b.view("x", Scalar::F32, 1, Access::In, Owner::Item);
        let y = b.view("y", Scalar::F32, 1, Access::Out, Owner::Item);
        let i = b.position(0);
        let value = b.load_at(x, [i]);
        let twice = b.binary(Binary::Add, value, value);
        b.store_at(y, [i], twice);
        b.finish().expect("a kernel")
    }

    #[test]
    fn items_from_the_count_on_leave_before_anything_else() {
        let limited = limit(doubles(), Scalar::U32).expect("a kernel");
        let text = limited.to_string();
        let at = |what: &str| text.find(what).unwrap_or_else(|| panic!("no {what}: {text}"));
        assert!(at("load p2[") < at("return") && at("return") < at("load p0["), "{text}");
        assert!(text.contains("view f32 1 inout item") && !text.contains(" out item"), "{text}");
        assert_eq!(text.matches("query position").count(), 1, "{text}");
    }

    #[test]
    fn kernels_that_need_all_items_are_not_limited() {
        assert_eq!(why_not(&doubles()), None);
        let mut groups = doubles();
        groups.shape.groups = true;
        assert!(why_not(&groups).is_some());
        let mut plane = doubles();
        plane.shape.rank = 2;
        assert!(why_not(&plane).is_some());
        let mut sum = doubles();
        sum.body.push(Stmt::Contribute { param: ParamId(1), value: Value(0) });
        assert!(why_not(&sum).is_some());
    }
}
