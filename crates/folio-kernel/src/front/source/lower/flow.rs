//! Branches, loops, and ways out.

use super::super::WRITTEN_TWICE;
use super::super::tree::{Block, Counted, Expr};
use super::{Around, Lower, LowerError, Operand, Result};
use crate::ir::{Body, Collision, Place, Root, Site, Stmt, Value, VarId};
use crate::op::{Binary, Compare, Op};
use crate::types::Scalar;

/// Links of a chain of `else if` that may be in each other.
const MOST_NESTED: usize = 64;

/// A test of such a chain, and what is done where it holds.
type Link = (Expr, Block);

impl Lower {
    /// An expression that gives no value.
    pub(super) fn statement(&mut self, expr: &Expr) -> Result<()> {
        match expr {
            Expr::Assign(to, from, at) => match self.expr(from)? {
                Operand::Tile(from) => match self.expr(to)? {
                    Operand::Tile(to) => self.assign_tile(&to, &from),
                    _ => Err(LowerError::Unsupported("this assignment")),
                },
                from => {
                    let value = self.value(from)?;
                    self.assign(to, value, *at)
                }
            },
            Expr::AssignOp(op, to, from, function, at) => {
                // As Rust orders operands of numbers: the right side first.
                let by = self.of(from)?;
                let Operand::Place(place, _) = self.place(to)? else {
                    return Err(LowerError::Unsupported("this assignment"));
                };
                let old = self.builder.load(place.clone());
                let new = self.operated(op, old, by, *function, *at)?;
                if place.is_indexed() {
                    // An operator that is a function has places of its own.
                    self.site(*at);
                }
                self.store(place, new);
                Ok(())
            }
            Expr::While(number, cond, body) => self.repeat(*number, Some(cond), body).map(|_| ()),
            Expr::For(number, counted, body) => self.counted(*number, counted, body),
            Expr::Break(number, value) => {
                let value = match value {
                    Some(expr) => self.expr(expr)?,
                    None => Operand::Unit,
                };
                let at = self.around(*number)?;
                let mut result = self.frame.around[at].result;
                self.keep(&mut result, value)?;
                let around = &mut self.frame.around[at];
                around.result = result;
                let label = around.label;
                self.builder.push(Stmt::Break(label));
                Ok(())
            }
            Expr::Continue(number) => {
                let at = self.around(*number)?;
                let label = self.frame.around[at].label;
                self.builder.push(Stmt::Continue(label));
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
            Expr::Claimed(place, holder, own, at) => {
                let [holder, own] = [self.of(holder)?, self.of(own)?];
                let site = self.site_of(*at, Some(WRITTEN_TWICE));
                self.claimed(place, [holder, own], site)
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

    /// An item may write where no other has claimed the place. Claims are positions of items, and
    /// one more; 0 is none.
    fn claimed(&mut self, place: &Expr, [holder, own]: [Value; 2], site: Site) -> Result<()> {
        let Operand::Place(Place { root: Root::Element(param, index), .. }, _) =
            self.place(place)?
        else {
            return Err(LowerError::Unsupported("this claim"));
        };
        let [none, one] = [0, 1].map(|bits| self.builder.bits(Scalar::U32, bits));
        let is_free = self.builder.compare(Compare::Eq, holder, none);
        let is_own = self.builder.compare(Compare::Eq, holder, own);
        let fits = self.builder.binary(Binary::Or, is_free, is_own);
        let items = [holder, own].map(|claim| {
            let item = self.builder.binary(Binary::Sub, claim, one);
            self.builder.cast(item, Scalar::U64)
        });
        self.builder.claimed(fits, site, Collision { param, index, items });
        Ok(())
    }

    /// Which of those around has this number.
    fn around(&self, number: u16) -> Result<usize> {
        let found = self.frame.around.iter().rposition(|around| around.number == number);
        found.ok_or(LowerError::Unsupported("break"))
    }

    fn leave(&mut self, given: Option<Operand>) -> Result<()> {
        let Some((label, result)) = self.frame.exit else {
            self.builder.push(Stmt::Return);
            return Ok(());
        };
        if let (Some(var), Some(given)) = (result, given)
            && !matches!(given, Operand::Unit)
        {
            let value = self.value(given)?;
            self.builder.set(var, value);
        }
        self.builder.push(Stmt::Break(label));
        Ok(())
    }

    pub(super) fn branch(&mut self, links: &[Link], otherwise: Option<&Block>) -> Result<Operand> {
        let Some(((cond, then), further)) = links.split_last() else {
            return otherwise.map_or(Ok(Operand::Unit), |block| self.block(block));
        };
        if further.len() > MOST_NESTED {
            return self.chain(links, otherwise);
        }
        let cond = self.of(cond)?;
        let mut result = None;
        self.builder.begin(false);
        let given = self.block(then)?;
        self.keep(&mut result, given)?;
        let then = self.builder.end();
        self.builder.begin(false);
        let given = self.branch(further, otherwise)?;
        self.keep(&mut result, given)?;
        let otherwise = self.builder.end();
        self.builder.push(Stmt::If { cond, then, otherwise });
        Ok(self.kept(result))
    }

    /// A long chain of `else if`: tests one after the other, in a block that each way leaves, since
    /// compilers take only so many braces in each other.
    fn chain(&mut self, links: &[Link], otherwise: Option<&Block>) -> Result<Operand> {
        let label = self.builder.label();
        let mut result = None;
        self.builder.begin(false);
        for (cond, then) in links.iter().rev() {
            let cond = self.of(cond)?;
            self.builder.begin(false);
            let given = self.block(then)?;
            self.keep(&mut result, given)?;
            self.builder.push(Stmt::Break(label));
            let then = self.builder.end();
            self.builder.push(Stmt::If { cond, then, otherwise: vec![] });
        }
        if let Some(block) = otherwise {
            let given = self.block(block)?;
            self.keep(&mut result, given)?;
        }
        let body = self.builder.end();
        self.builder.push(Stmt::Block { label, body, product: None });
        Ok(self.kept(result))
    }

    /// Puts a way's value to the variable that all ways share.
    fn keep(&mut self, result: &mut Option<VarId>, given: Operand) -> Result<()> {
        if matches!(given, Operand::Unit) {
            return Ok(());
        }
        let value = self.value(given)?;
        let ty = self.builder.type_of(value);
        let var = *result.get_or_insert_with(|| self.var("if", ty));
        self.builder.set(var, value);
        Ok(())
    }

    /// The value of that variable.
    fn kept(&mut self, result: Option<VarId>) -> Operand {
        match result {
            Some(var) => Operand::Value(self.builder.get(var)),
            None => Operand::Unit,
        }
    }

    /// The statements of a loop or labelled block, what `first` adds before them, and what it
    /// gives.
    fn inside(
        &mut self,
        number: u16,
        block: &Block,
        first: impl FnOnce(&mut Lower, crate::ir::Label) -> Result<()>,
    ) -> Result<(crate::ir::Label, Body, Option<VarId>)> {
        let label = self.builder.label();
        self.builder.begin(false);
        first(self, label)?;
        self.frame.around.push(Around { number, label, result: None });
        let gives = self.block(block)?;
        let mut result = self.frame.around.pop().and_then(|around| around.result);
        self.keep(&mut result, gives)?;
        Ok((label, self.builder.end(), result))
    }

    /// `loop`, or `while` with a condition.
    pub(super) fn repeat(
        &mut self,
        number: u16,
        cond: Option<&Expr>,
        block: &Block,
    ) -> Result<Operand> {
        let (label, body, result) = self.inside(number, block, |this, label| {
            let Some(cond) = cond else { return Ok(()) };
            let go = this.of(cond)?;
            let otherwise = vec![Stmt::Break(label)];
            this.builder.push(Stmt::If { cond: go, then: vec![], otherwise });
            Ok(())
        })?;
        self.builder.push(Stmt::Loop { label, body });
        Ok(self.kept(result))
    }

    /// A labelled block.
    pub(super) fn scope(&mut self, number: u16, block: &Block) -> Result<Operand> {
        let (label, body, result) = self.inside(number, block, |_, _| Ok(()))?;
        self.builder.push(Stmt::Block { label, body, product: None });
        Ok(self.kept(result))
    }

    fn counted(&mut self, number: u16, counted: &Counted, block: &Block) -> Result<()> {
        let Counted { pattern, start, end, inclusive, reversed, step } = counted;
        let (from, to) = (self.of(start)?, self.of(end)?);
        let step = step.as_ref().map(|step| self.of(step)).transpose()?;
        let scalar = self.builder.type_of(from).scalar();
        let scalar = scalar.ok_or(LowerError::Unsupported("this range"))?;
        let plain = !inclusive && !reversed && step.is_none();
        let (first, last) = match plain {
            true => (from, to),
            false => (self.builder.index(0), self.count(from, to, *inclusive, step)),
        };
        let index = self.builder.value(self.builder.type_of(first));
        let (label, body, _) = self.inside(number, block, |this, _| {
            let item = match plain {
                true => index,
                false => this.nth(index, scalar, (from, to), counted, step),
            };
            this.bind(pattern, Operand::Value(item))
        })?;
        self.builder.push(Stmt::For { label, index, start: first, end: last, body });
        Ok(())
    }

    /// How many values a range has, every `step`th of them.
    fn count(&mut self, from: Value, to: Value, inclusive: bool, step: Option<Value>) -> Value {
        let (wide_from, wide_to) = (self.cast(from, Scalar::U64), self.cast(to, Scalar::U64));
        let mut count = self.builder.binary(Binary::Sub, wide_to, wide_from);
        let (zero, one) = (self.builder.index(0), self.builder.index(1));
        // The first, and each after a step that is still inside.
        let after = if inclusive { count } else { self.builder.binary(Binary::Sub, count, one) };
        if inclusive || step.is_some() {
            let steps = match step {
                Some(step) => {
                    let by = self.cast(step, Scalar::U64);
                    let by = self.builder.binary(Binary::Max, by, one);
                    self.builder.binary(Binary::Div, after, by)
                }
                None => after,
            };
            // All values of 64 bits are one more than can be counted: the last turn is one that no
            // item gets to.
            count = self.builder.binary(Binary::SatAdd, steps, one);
        }
        let op = if inclusive { Compare::Le } else { Compare::Lt };
        let mut any = self.builder.compare(op, from, to);
        if let Some(step) = step {
            let by = self.cast(step, Scalar::U64);
            let moves = self.builder.compare(Compare::Ne, by, zero);
            any = self.builder.binary(Binary::And, any, moves);
        }
        self.builder.op(Op::Select(any, count, zero))
    }

    /// The value number `index`: `from + index * step`, or so much before the last.
    fn nth(
        &mut self,
        index: Value,
        scalar: Scalar,
        (from, to): (Value, Value),
        counted: &Counted,
        step: Option<Value>,
    ) -> Value {
        let far = match step {
            Some(step) => {
                let step = self.cast(step, Scalar::U64);
                self.builder.binary(Binary::Mul, index, step)
            }
            None => index,
        };
        let by = self.cast(far, scalar);
        if !counted.reversed {
            return self.builder.binary(Binary::Add, from, by);
        }
        let last = match counted.inclusive {
            true => to,
            false => {
                let one = self.builder.int(scalar, 1);
                self.builder.binary(Binary::Sub, to, one)
            }
        };
        self.builder.binary(Binary::Sub, last, by)
    }
}
