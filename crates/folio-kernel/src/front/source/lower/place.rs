//! Elements of views and arrays, and what is written to.

use super::super::OTHERS_CELL;
use super::super::tree::{At, Expr, Pattern};
use super::{Lower, LowerError, Operand, Result, U64};
use crate::ir::{Hop, ParamId, ParamKind, Place, Root, Value};
use crate::op::{Binary, Compare, Op, Query};
use crate::types::{Composite, Scalar};

impl Lower {
    /// The element that an expression means, of a view. Of cells that have a colour, an item means
    /// its own, and other indices are those of the other colour.
    fn element_of(&mut self, param: ParamId, index: &Expr, at: At) -> Result<Vec<Value>> {
        let Some(colour) = self.colours.get(&param).copied() else {
            return self.indices(param, index);
        };
        let given = self.expr(index)?;
        let is_own = matches!(given, Operand::Item);
        let mut indices = self.indices_of(param, given)?;
        let one = self.builder.bits(Scalar::U64, 1);
        let mut sum = self.builder.bits(Scalar::U64, colour.into());
        let others = if is_own { indices.len().saturating_sub(1) } else { indices.len() };
        for index in &indices[..others] {
            sum = self.builder.binary(Binary::Add, sum, *index);
        }
        let odd = self.builder.binary(Binary::And, sum, one);
        match indices.last_mut() {
            Some(last) if is_own => {
                let first = self.builder.binary(Binary::Add, *last, *last);
                *last = self.builder.binary(Binary::Add, first, odd);
            }
            _ => {
                let is_other = self.builder.compare(Compare::Eq, odd, one);
                let site = self.site_of(at, Some(OTHERS_CELL));
                self.builder.assert(is_other, site);
            }
        }
        Ok(indices)
    }

    /// The indices that an expression means, for a view.
    pub(super) fn indices(&mut self, param: ParamId, index: &Expr) -> Result<Vec<Value>> {
        let given = self.expr(index)?;
        self.indices_of(param, given)
    }

    fn indices_of(&mut self, param: ParamId, given: Operand) -> Result<Vec<Value>> {
        let rank = self.builder.kernel().elements(param).map_or(1, |(_, rank)| rank);
        match given {
            Operand::Item => match self.kind(param) {
                Some(ParamKind::Local { .. }) => Ok(vec![self.local_index()]),
                _ => Ok((0..rank).map(|dim| self.builder.position(dim)).collect()),
            },
            Operand::Group => Ok(self.asked(Query::GroupId)),
            Operand::Tuple(parts) => parts
                .into_iter()
                .map(|part| {
                    if let Operand::Item = part {
                        return Ok(self.builder.position(0));
                    }
                    let part = self.value(part)?;
                    Ok(self.cast(part, Scalar::U64))
                })
                .collect(),
            other => {
                let value = self.value(other)?;
                let ty = self.builder.type_of(value);
                match self.builder.types().get(ty) {
                    None => Ok(vec![self.cast(value, Scalar::U64)]),
                    // A tuple or array in a variable.
                    Some(_) => Ok((0..rank)
                        .map(|dim| {
                            let part = self.builder.op(Op::Part(value, dim.into()));
                            self.cast(part, Scalar::U64)
                        })
                        .collect()),
                }
            }
        }
    }

    pub(super) fn index(&mut self, base: &Expr, index: &Expr, at: At) -> Result<Operand> {
        let given = self.element(base, index, at)?;
        // Loaded at once: what follows may store there.
        self.resolve(given)
    }

    pub(super) fn element(&mut self, base: &Expr, index: &Expr, at: At) -> Result<Operand> {
        let base = match base {
            // Of an element that is an array only the part is loaded.
            Expr::Index(base, index, at) => self.element(base, index, *at)?,
            _ => self.expr(base)?,
        };
        match base {
            Operand::View(param) => {
                let indices = self.element_of(param, index, at)?;
                self.site(at);
                let ty = self.builder.kernel().elements(param).map_or(U64, |(ty, _)| ty);
                Ok(Operand::Place(Place::element(param, indices), ty))
            }
            Operand::Private(var, ty) => Ok(Operand::Place(Place::var(var), ty)),
            Operand::Place(place, ty) => {
                let value = self.of(index)?;
                let value = self.cast(value, Scalar::U64);
                self.site(at);
                let inner = self.builder.types().part(ty, 0);
                let inner = inner.ok_or(LowerError::Unsupported("this index"))?;
                Ok(Operand::Place(place.at(value), inner))
            }
            Operand::Shape(extents) if known(index).is_some_and(|at| at < extents.len()) => {
                Ok(Operand::Value(extents[known(index).unwrap_or(0)]))
            }
            other => {
                // An array that is a value: only variables can be indexed by values.
                let array = self.value(other)?;
                let ty = self.builder.type_of(array);
                let var = self.var("array", ty);
                self.builder.set(var, array);
                let value = self.of(index)?;
                let value = self.cast(value, Scalar::U64);
                self.site(at);
                let inner = self.builder.types().part(ty, 0);
                let inner = inner.ok_or(LowerError::Unsupported("this index"))?;
                Ok(Operand::Place(Place::var(var).at(value), inner))
            }
        }
    }

    /// Something that is written to.
    pub(super) fn place(&mut self, expr: &Expr) -> Result<Operand> {
        match expr {
            Expr::Index(base, index, at) => {
                let base = self.place(base)?;
                match base {
                    Operand::View(param) => {
                        let indices = self.element_of(param, index, *at)?;
                        self.site(*at);
                        let ty = self.builder.kernel().elements(param).map_or(U64, |(ty, _)| ty);
                        Ok(Operand::Place(Place::element(param, indices), ty))
                    }
                    Operand::Private(var, ty) => Ok(Operand::Place(Place::var(var), ty)),
                    Operand::Place(mut place, ty) => {
                        let value = self.of(index)?;
                        let value = self.cast(value, Scalar::U64);
                        self.site(*at);
                        let inner = self.builder.types().part(ty, 0);
                        let inner = inner.ok_or(LowerError::Unsupported("this index"))?;
                        place.path.push(Hop::At(value));
                        Ok(Operand::Place(place, inner))
                    }
                    _ => Err(LowerError::Unsupported("this assignment")),
                }
            }
            Expr::Field(base, name) => match self.place(base)? {
                Operand::Place(place, ty) => {
                    let found = match self.builder.types().get(ty) {
                        Some(Composite::Struct(s)) => {
                            s.fields.iter().position(|field| field.name == *name)
                        }
                        _ => None,
                    };
                    let part = found.ok_or(LowerError::Unsupported("this field"))? as u32;
                    let inner = self.builder.types().part(ty, part).unwrap_or(ty);
                    Ok(Operand::Place(place.part(part), inner))
                }
                _ => Err(LowerError::Unsupported("this assignment")),
            },
            Expr::Local(_) => self.expr(expr),
            _ => Err(LowerError::Unsupported("this assignment")),
        }
    }

    pub(super) fn assign(&mut self, to: &Expr, value: Value, at: At) -> Result<()> {
        if let Expr::Local(local) = to
            && !self.frame.locals.contains_key(local)
        {
            // The first assignment of a `let` without a value.
            return self.bind(&Pattern::Local(*local, true), Operand::Value(value));
        }
        match self.place(to)? {
            Operand::Place(place, _) => {
                if place.is_indexed() {
                    self.site(at);
                }
                self.store(place, value);
                Ok(())
            }
            _ => Err(LowerError::Unsupported("this assignment")),
        }
    }

    /// Memory is written in phases: what uniform code writes, one item does.
    pub(super) fn store(&mut self, place: Place, value: Value) {
        let once = self.uniform && matches!(place.root, Root::Element(..));
        match once {
            true => self.builder.once_phase(|b| b.store(place, value)),
            false => self.builder.store(place, value),
        }
    }
}

/// A literal index.
pub(super) fn known(index: &Expr) -> Option<usize> {
    match index {
        Expr::Number(digits, _) => digits.parse().ok(),
        _ => None,
    }
}
