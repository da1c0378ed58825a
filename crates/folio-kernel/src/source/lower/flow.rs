//! Branches, loops, and ways out.

use super::super::{Block, Expr, Pattern};
use super::{Given, Lower, LowerError, Result};
use crate::ir::{Stmt, Value, VarId};
use crate::op::{Binary, Compare, Op};
use crate::types::Scalar;

impl Lower {
    /// What gives nothing.
    pub(super) fn statement(&mut self, expr: &'static Expr) -> Result<()> {
        match expr {
            Expr::Assign(to, from, at) => {
                let value = self.of(from)?;
                self.assign(to, value, *at)
            }
            Expr::AssignOp(op, to, from, at) => {
                // As Rust orders operands of numbers: the right side first.
                let by = self.of(from)?;
                let Given::Place(place, _) = self.place(to)? else {
                    return Err(LowerError::Unsupported("this assignment"));
                };
                let old = self.builder.load(place.clone());
                self.site(*at);
                let new = self.operator(op, old, by)?;
                self.builder.store(place, new);
                Ok(())
            }
            Expr::While(cond, body) => self.repeat(Some(cond), body),
            Expr::Loop(body) => self.repeat(None, body),
            Expr::For(pattern, start, end, inclusive, reversed, body) => {
                self.counted(pattern, start, end, (*inclusive, *reversed), body)
            }
            Expr::Break | Expr::Continue => {
                let label = self.frame.loops.last().copied();
                let label = label.ok_or(LowerError::Unsupported("break"))?;
                let leaves = matches!(expr, Expr::Break);
                self.builder.push(if leaves { Stmt::Break(label) } else { Stmt::Continue(label) });
                Ok(())
            }
            Expr::Return(given) => {
                let value = match given {
                    Some(expr) => Some(self.expr(expr)?),
                    None => None,
                };
                self.leave(value)
            }
            Expr::Assert(cond, message, at) => {
                let cond = self.of(cond)?;
                let site = self.site_of(*at, Some(message));
                self.builder.assert(cond, site);
                Ok(())
            }
            Expr::Panic(message, at) => {
                let cond = self.builder.bits(Scalar::Bool, 0);
                let site = self.site_of(*at, Some(message));
                self.builder.assert(cond, site);
                Ok(())
            }
            _ => Err(LowerError::Unsupported("this expression")),
        }
    }

    pub(super) fn leave(&mut self, given: Option<Given>) -> Result<()> {
        let Some((label, result)) = self.frame.exit else {
            self.builder.push(Stmt::Return);
            return Ok(());
        };
        if let (Some(var), Some(given)) = (result, given) {
            let value = self.value(given)?;
            self.builder.set(var, value);
        }
        self.builder.push(Stmt::Break(label));
        Ok(())
    }

    pub(super) fn branch(
        &mut self,
        cond: &'static Expr,
        then: &'static Block,
        otherwise: Option<&'static Block>,
    ) -> Result<Given> {
        let cond = self.of(cond)?;
        let mut result = None;
        self.builder.begin(false);
        let given = self.block(then)?;
        self.keep(&mut result, given)?;
        let then = self.builder.end();
        self.builder.begin(false);
        if let Some(block) = otherwise {
            let given = self.block(block)?;
            self.keep(&mut result, given)?;
        }
        let otherwise = self.builder.end();
        self.builder.push(Stmt::If { cond, then, otherwise });
        Ok(match result {
            Some(var) => Given::Value(self.builder.get(var)),
            None => Given::Unit,
        })
    }

    /// Puts a branch's value to the variable that both branches share.
    pub(super) fn keep(&mut self, result: &mut Option<VarId>, given: Given) -> Result<()> {
        if matches!(given, Given::Unit) {
            return Ok(());
        }
        let value = self.value(given)?;
        let ty = self.builder.type_of(value);
        let var = *result.get_or_insert_with(|| self.builder.var("if", ty, false));
        self.builder.set(var, value);
        Ok(())
    }

    pub(super) fn repeat(
        &mut self,
        cond: Option<&'static Expr>,
        body: &'static Block,
    ) -> Result<()> {
        let label = self.builder.label();
        self.builder.begin(false);
        if let Some(cond) = cond {
            let go = self.of(cond)?;
            let otherwise = vec![Stmt::Break(label)];
            self.builder.push(Stmt::If { cond: go, then: vec![], otherwise });
        }
        self.frame.loops.push(label);
        self.block(body)?;
        self.frame.loops.pop();
        let body = self.builder.end();
        self.builder.push(Stmt::Loop { label, body });
        Ok(())
    }

    pub(super) fn counted(
        &mut self,
        pattern: &'static Pattern,
        start: &'static Expr,
        end: &'static Expr,
        (inclusive, reversed): (bool, bool),
        body: &'static Block,
    ) -> Result<()> {
        let (from, to) = (self.of(start)?, self.of(end)?);
        let ty = self.builder.type_of(from);
        let scalar = ty.scalar().ok_or(LowerError::Unsupported("this range"))?;
        let label = self.builder.label();
        let plain = !inclusive && !reversed;
        let (first, last) = if plain { (from, to) } else { self.count(from, to, inclusive) };
        let index = self.builder.value(self.builder.type_of(first));
        self.builder.begin(false);
        let item = if plain {
            index
        } else {
            // Counted from 0: `from + k`, or `last - k`.
            let by = self.cast(index, scalar);
            if !reversed {
                self.builder.binary(Binary::Add, from, by)
            } else if inclusive {
                self.builder.binary(Binary::Sub, to, by)
            } else {
                let one = self.builder.int(scalar, 1);
                let last = self.builder.binary(Binary::Sub, to, one);
                self.builder.binary(Binary::Sub, last, by)
            }
        };
        self.bind(pattern, Given::Value(item))?;
        self.frame.loops.push(label);
        self.block(body)?;
        self.frame.loops.pop();
        let body = self.builder.end();
        self.builder.push(Stmt::For { label, index, start: first, end: last, body });
        Ok(())
    }

    /// 0, and how many values a range has.
    pub(super) fn count(&mut self, from: Value, to: Value, inclusive: bool) -> (Value, Value) {
        let (wide_from, wide_to) = (self.cast(from, Scalar::U64), self.cast(to, Scalar::U64));
        let mut count = self.builder.binary(Binary::Sub, wide_to, wide_from);
        if inclusive {
            let one = self.builder.index(1);
            count = self.builder.binary(Binary::Add, count, one);
        }
        let op = if inclusive { Compare::Le } else { Compare::Lt };
        let any = self.builder.compare(op, from, to);
        let zero = self.builder.index(0);
        (zero, self.builder.op(Op::Select(any, count, zero)))
    }
}
