//! Which indices are of rows: `row * width + column`.

use crate::ir::{Kernel, Let, Stmt, Value, walk};
use crate::op::{Binary, Op, Query};
use crate::types::Scalar;

/// Numbers below do not wrap when two of them are multiplied.
const SMALL: u64 = 1 << 31;

/// By value: the row, a width that the text says, and the column. Row and column are positions in a
/// group, numbers, or what a loop between numbers counts: so nothing has wrapped, and no row begins
/// behind the index.
pub fn in_rows(kernel: &Kernel) -> Vec<Option<(Value, u64, Value)>> {
    let count = kernel.values.len();
    let mut numbers = vec![None; count];
    let mut small = vec![false; count];
    let mut products = vec![None; count];
    let mut found = vec![None; count];
    walk(&kernel.body, &mut |stmt| match stmt {
        Stmt::Let(Let { value, op, .. }) => match *op {
            Op::Const(Scalar::U64, number) if number < SMALL => {
                (numbers[value.index()], small[value.index()]) = (Some(number), true);
            }
            Op::Query { query: Query::LocalId, .. } => small[value.index()] = true,
            Op::Binary(Binary::Mul, a, b) => {
                let by = |a: Value, b: Value| {
                    let width = numbers[b.index()].filter(|width| *width > 1)?;
                    small[a.index()].then_some((a, width))
                };
                products[value.index()] = by(a, b).or_else(|| by(b, a));
            }
            Op::Binary(Binary::Add, a, b) => {
                let and = |a: Value, b: Value| {
                    let (row, width) = products[a.index()]?;
                    small[b.index()].then_some((row, width, b))
                };
                found[value.index()] = and(a, b).or_else(|| and(b, a));
            }
            _ => {}
        },
        Stmt::For { index, start, end, .. } => {
            let known = |at: &Value| numbers[at.index()].is_some();
            small[index.index()] = known(start) && known(end);
        }
        _ => {}
    });
    found
}
