//! Group kernels: phases, what items keep between them, what they give together; and elements that
//! are contributed to or used atomically.

use super::super::tree::{At, Expr};
use super::{Lower, LowerError, Operand, Result};
use crate::ir::{Owner, ParamId, ParamKind, Place, Stmt, Value};
use crate::op::{Atomic, Binary, Combine, Fold, Query};
use crate::types::{Scalar, Type};

impl Lower {
    /// The expressions of group kernels.
    pub(super) fn grouped(&mut self, expr: &Expr) -> Result<Operand> {
        match expr {
            Expr::Each(item, body) => self.phase(false, Some(*item), body),
            Expr::Once(body) => self.phase(true, None, body),
            Expr::Collect(fold, combine, item, body) => self.collect(*fold, *combine, *item, body),
            Expr::Private(value) => {
                let value = self.of(value)?;
                let ty = self.builder.type_of(value);
                let var = self.builder.var("private", ty, false);
                self.builder.phase(|b| b.set(var, value));
                Ok(Operand::Private(var, ty))
            }
            Expr::Fill(array, slot, value) => self.fill(array, *slot, value),
            _ => Err(LowerError::Unsupported("this expression")),
        }
    }

    /// The three numbers of a [`Subgroup::Match`](crate::op::Subgroup::Match).
    pub(super) fn matched(&mut self, value: Value) -> Result<Operand> {
        let byte = |lower: &mut Self, shift| {
            let (shift, byte) =
                (lower.builder.int(Scalar::U32, shift), lower.builder.int(Scalar::U32, 255));
            let shifted = lower.builder.binary(Binary::Shr, value, shift);
            lower.builder.binary(Binary::And, shifted, byte)
        };
        let parts = [0, 8, 16].map(|shift| byte(self, shift));
        self.array(parts.to_vec())
    }

    /// Lowers what items do, between `begin` and what this gives to end it.
    pub(super) fn of_items(
        &mut self,
        fill: impl FnOnce(&mut Self) -> Result<()>,
    ) -> Result<Vec<Stmt>> {
        self.builder.begin(true);
        let uniform = std::mem::replace(&mut self.uniform, false);
        let done = fill(self);
        self.uniform = uniform;
        let body = self.builder.end();
        done.map(|()| body)
    }

    fn phase(&mut self, once: bool, item: Option<u16>, body: &Expr) -> Result<Operand> {
        let body = self.of_items(|lower| {
            if let Some(item) = item {
                lower.frame.locals.insert(item, Operand::Item);
            }
            lower.expr(body).map(|_| ())
        })?;
        self.builder.push(Stmt::Phase { once, body });
        Ok(Operand::Unit)
    }

    fn collect(&mut self, fold: Fold, combine: u16, item: u16, body: &Expr) -> Result<Operand> {
        let combine = self.combine(combine)?;
        let mut value = None;
        let body = self.of_items(|lower| {
            lower.frame.locals.insert(item, Operand::Item);
            lower.gives = true;
            let given = lower.of(body);
            lower.gives = false;
            value = Some(given?);
            Ok(())
        })?;
        let value = value.ok_or(LowerError::Unsupported("this reduction"))?;
        let ty = self.builder.type_of(value);
        let uniform = fold == Fold::Reduce;
        let into = self.builder.var("collected", ty, uniform);
        self.builder.push(Stmt::Collect { fold, combine, body, value, into });
        Ok(match uniform {
            true => Operand::Value(self.builder.get(into)),
            false => Operand::Private(into, ty),
        })
    }

    pub(super) fn combine(&self, entry: u16) -> Result<Combine> {
        match self.frame.table.get(usize::from(entry)) {
            Some(super::Entry::Combine(combine)) => Ok(*combine),
            _ => Err(LowerError::Unsupported("this reduction")),
        }
    }

    /// Slot k is computed by the item with number k modulo the number of items.
    fn fill(&mut self, array: &Expr, slot: u16, value: &Expr) -> Result<Operand> {
        let Operand::View(param) = self.expr(array)? else {
            return Err(LowerError::Unsupported("fill"));
        };
        let Some(ParamKind::Local { len, .. }) = self.kind(param) else {
            return Err(LowerError::Unsupported("fill"));
        };
        let body = self.of_items(|lower| {
            let (local, items) = (lower.local_index(), lower.items());
            // How many slots there are from the item's first one on, in steps of the group.
            let last = lower.builder.index(u64::from(len) - 1);
            let ahead = lower.builder.binary(Binary::Add, last, items);
            let ahead = lower.builder.binary(Binary::Sub, ahead, local);
            let count = lower.builder.binary(Binary::Div, ahead, items);
            let (label, turn) = (lower.builder.label(), lower.builder.value(Scalar::U64.into()));
            lower.builder.begin(false);
            let step = lower.builder.binary(Binary::Mul, turn, items);
            let at = lower.builder.binary(Binary::Add, step, local);
            lower.frame.locals.insert(slot, Operand::Value(at));
            let value = lower.of(value)?;
            lower.builder.store_at(param, [at], value);
            let body = lower.builder.end();
            let start = lower.builder.index(0);
            lower.builder.push(Stmt::For { label, index: turn, start, end: count, body });
            Ok(())
        })?;
        self.builder.push(Stmt::Phase { once: false, body });
        Ok(Operand::Unit)
    }

    pub(super) fn kind(&self, param: ParamId) -> Option<ParamKind> {
        self.builder.kernel().params.get(param.index()).map(|param| param.kind.clone())
    }

    fn rank(&self) -> u8 {
        self.builder.kernel().shape.rank
    }

    /// A question, for each dimension.
    pub(super) fn asked(&mut self, query: Query) -> Vec<Value> {
        (0..self.rank()).map(|dim| self.builder.query(query, dim)).collect()
    }

    fn items(&mut self) -> Value {
        let sizes = self.asked(Query::GroupSize);
        self.product(sizes)
    }

    fn product(&mut self, values: Vec<Value>) -> Value {
        let both = |a, b| self.builder.binary(Binary::Mul, a, b);
        values.into_iter().reduce(both).unwrap_or(Value(u32::MAX))
    }

    /// The item's number in its group.
    pub(super) fn local_index(&mut self) -> Value {
        let (local, sizes) = (self.asked(Query::LocalId), self.asked(Query::GroupSize));
        let mut number = local[0];
        for (at, size) in local.iter().zip(sizes).skip(1) {
            number = self.builder.binary(Binary::Mul, number, size);
            number = self.builder.binary(Binary::Add, number, *at);
        }
        number
    }

    /// A method of the group, or of an item of one.
    pub(super) fn asks(&mut self, given: &Operand, name: &str) -> Option<Operand> {
        let values = |all: Vec<Value>| all.into_iter().map(Operand::Value).collect();
        Some(match (given, name) {
            (Operand::Item, "local_index") => Operand::Value(self.local_index()),
            (Operand::Item, "local_pos") => Operand::Tuple(values(self.asked(Query::LocalId))),
            (Operand::Item | Operand::Group, "subgroup_size") => {
                Operand::Value(self.builder.query(Query::SubgroupSize, 0))
            }
            (Operand::Item, "subgroup_index") => {
                Operand::Value(self.builder.query(Query::Subgroup, 0))
            }
            (Operand::Item, "subgroup_lane") => Operand::Value(self.builder.query(Query::Lane, 0)),
            (Operand::Group, "index") => Operand::Value(self.builder.query(Query::GroupId, 0)),
            (Operand::Group, "pos") => Operand::Tuple(values(self.asked(Query::GroupId))),
            (Operand::Group, "size") => Operand::Shape(self.asked(Query::GroupSize)),
            (Operand::Group, "count") => Operand::Shape(self.asked(Query::GroupCount)),
            _ => return None,
        })
    }

    /// A method of a parameter: an atomic operation, or a contribution.
    pub(super) fn parameter(
        &mut self,
        param: ParamId,
        name: &'static str,
        args: &[Expr],
        at: At,
    ) -> Result<Option<Operand>> {
        match self.kind(param) {
            Some(ParamKind::Reduce { .. }) if name == "give" => {
                let value = self.of(args.first().ok_or(LowerError::Unsupported(name))?)?;
                self.builder.push(Stmt::Contribute { param, value });
                Ok(Some(Operand::Unit))
            }
            Some(ParamKind::View { owner: Owner::Anyone, .. }) if name == "put" => {
                let Some(tile) = args.get(1) else { return Ok(None) };
                let Operand::Tile(tile) = self.expr(tile)? else { return Ok(None) };
                self.put_tile(param, &tile)?;
                Ok(Some(Operand::Unit))
            }
            Some(ParamKind::View { owner: Owner::Atomic, .. } | ParamKind::Local { .. }) => {
                let Some(op) = Atomic::of_name(name) else { return Ok(None) };
                let (index, rest) = args.split_first().ok_or(LowerError::Unsupported(name))?;
                let indices = self.indices(param, index)?;
                let rest: Result<Vec<_>> = rest.iter().map(|arg| self.of(arg)).collect();
                self.site(at);
                let place = Place::element(param, indices);
                Ok(Some(Operand::Value(self.builder.atomic(op, place, &rest?))))
            }
            _ => Ok(None),
        }
    }

    /// A variable of what runs here: of the group in uniform code, else of the item.
    pub(super) fn var(&mut self, name: &str, ty: impl Into<Type>) -> crate::ir::VarId {
        self.builder.var(name, ty, self.uniform)
    }
}
