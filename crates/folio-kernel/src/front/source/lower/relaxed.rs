//! Relaxed products: of two matrices over any depth, in a block that says what it computes. The
//! block's body is that product as steps of tiles, which every device can have.

use super::super::tree::Expr;
use super::tile::{Held, MOST_STAGED, Source, Tile};
use super::{Lower, LowerError, Operand, Result};
use crate::ir::{Corner, Product, Stmt, Value};
use crate::op::{Binary, Compare, Op};
use crate::types::Scalar;

/// Elements of the depth that a step takes at most.
const MOST_DEEP: u32 = 32;

const WRONG: LowerError = LowerError::Unsupported("this product");

impl Lower {
    /// `sum.add_relaxed_product(a.corner(..), b.corner(..), depth)`
    pub(super) fn add_relaxed(&mut self, sum: &Tile, args: &[Expr]) -> Result<()> {
        let [a, first, a_turned, b, second, b_turned, depth] = args else { return Err(WRONG) };
        let factors = [self.corner(a, first, a_turned)?, self.corner(b, second, b_turned)?];
        let Held::Items(var) = sum.held else { return Err(WRONG) };
        let given = self.of(depth)?;
        let given = self.cast(given, Scalar::U64);
        let depth = self.common_depth(&factors, given);
        self.builder.begin(false);
        let done = self.relaxed_steps(sum, &factors, depth);
        let body = self.builder.end();
        let product = Some(Box::new(Product { sum: var, factors, depth }));
        let label = self.builder.label();
        self.builder.push(Stmt::Block { label, body, product });
        done
    }

    fn corner(&mut self, view: &Expr, at: &Expr, turned: &Expr) -> Result<Corner> {
        let (Operand::View(view), Expr::Bool(turned)) = (self.expr(view)?, turned) else {
            return Err(WRONG);
        };
        // As written, these are indices of the transpose.
        let mut at = self.indices(view, at)?;
        let rank = at.len();
        if *turned && rank > 1 {
            at.swap(rank - 2, rank - 1);
        }
        Ok(Corner { view, at, turned: *turned })
    }

    /// The dimension of a factor's view that its products are added over.
    fn deep(factor: usize, corner: &Corner) -> usize {
        corner.at.len() - if (factor == 0) == corner.turned { 2 } else { 1 }
    }

    /// So much of a depth as both factors have: nothing if one of them begins outside.
    fn common_depth(&mut self, factors: &[Corner; 2], mut depth: Value) -> Value {
        for (number, corner) in factors.iter().enumerate() {
            let dim = Self::deep(number, corner);
            let across = 2 * corner.at.len() - 3 - dim;
            let extent = self.builder.extent(corner.view, across as u8);
            let begins = self.builder.compare(Compare::Lt, corner.at[across], extent);
            let none = self.builder.index(0);
            depth = self.builder.op(Op::Select(begins, depth, none));
            let (extent, first) = (self.builder.extent(corner.view, dim as u8), corner.at[dim]);
            let left = self.builder.binary(Binary::Sub, extent, first);
            let none = self.builder.index(0);
            let begins = self.builder.compare(Compare::Le, first, extent);
            let left = self.builder.op(Op::Select(begins, left, none));
            let less = self.builder.compare(Compare::Lt, left, depth);
            depth = self.builder.op(Op::Select(less, left, depth));
        }
        depth
    }

    fn relaxed_steps(&mut self, sum: &Tile, factors: &[Corner; 2], depth: Value) -> Result<()> {
        let side = self.side()?;
        let bytes =
            |deep: u32| u64::from(sum.rows.max(side) + sum.columns.max(side)) * 4 * u64::from(deep);
        let deep = [MOST_DEEP, 16, 8]
            .into_iter()
            .find(|deep| deep.is_multiple_of(side) && bytes(*deep) <= MOST_STAGED);
        let deep = deep.unwrap_or(side);
        let width = self.builder.index(deep.into());
        let steps = self.builder.binary(Binary::Div, depth, width);
        let rest = self.builder.binary(Binary::Rem, depth, width);
        let (none, one) = (self.builder.index(0), self.builder.index(1));
        let whole = self.builder.compare(Compare::Eq, rest, none);
        let more = self.builder.op(Op::Select(whole, none, one));
        let steps = self.builder.binary(Binary::Add, steps, more);
        let (label, step) = (self.builder.label(), self.builder.value(Scalar::U64.into()));
        self.builder.begin(false);
        let ahead = self.builder.binary(Binary::Mul, step, width);
        let mut part = |number: usize| {
            let corner = &factors[number];
            let dim = Self::deep(number, corner);
            let mut at = corner.at.clone();
            let end = self.builder.binary(Binary::Add, at[dim], depth);
            at[dim] = self.builder.binary(Binary::Add, at[dim], ahead);
            let rank = at.len();
            if corner.turned {
                at.swap(rank - 2, rank - 1);
            }
            let (view, turned, end) = (corner.view, corner.turned, Some((dim, end)));
            let held = Held::Memory(Source { view, at, turned, end });
            let (rows, columns) = match number {
                0 => (sum.rows, deep),
                _ => (deep, sum.columns),
            };
            let (ty, _) = self.builder.kernel().elements(view).ok_or(WRONG)?;
            let element = ty.scalar().ok_or(WRONG)?;
            Ok(Tile { element, rows, columns, held })
        };
        let parts = part(0).and_then(|a| Ok((a, part(1)?)));
        let done = parts.and_then(|(a, b)| self.add_tiles(sum, &a, &b));
        let body = self.builder.end();
        self.builder.push(Stmt::For { label, index: step, start: none, end: steps, body });
        done
    }
}
