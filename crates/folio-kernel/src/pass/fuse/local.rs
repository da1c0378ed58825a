//! A work-group's elements of a memory, in local memory.

use super::edit::{Maker, accessed, place_mut};
use crate::ir::{Body, Kernel, ParamId, ParamKind, Place, Root, Stmt, Value};
use crate::op::{Binary, Op, Query};
use crate::types::Scalar;

/// Bytes of local memory that a kernel has.
pub(crate) fn local_bytes(kernel: &Kernel) -> u64 {
    let bytes = kernel.params.iter().map(|param| match param.kind {
        ParamKind::Local { element, len } => {
            kernel.types.layout(element).0.saturating_mul(len.into())
        }
        _ => 0,
    });
    bytes.fold(0, u64::saturating_add)
}

/// The slots of local memory that stand for a group's elements of a view.
pub(crate) struct Slots<'s> {
    pub view: ParamId,
    pub local: ParamId,
    /// By dimension of the view: as many slots as the group has items there, or one.
    pub classes: &'s [bool],
    pub sizes: &'s [u64],
    /// Stores reach the view, too.
    pub stored: bool,
}

impl Slots<'_> {
    /// The slot of an element: its place within the group, in row-major order. `items`: in a phase,
    /// where an index is as far from the item's position as its place is from the local index.
    fn slot(&self, maker: &mut Maker<'_>, at: &[Value], items: bool) -> Value {
        let mut slot: Option<Value> = None;
        for (dim, index) in at.iter().enumerate().filter(|(dim, _)| self.classes[*dim]) {
            let query = |query| Op::Query { query, dim: dim as u8, copy: 0 };
            let size = Op::Const(Scalar::U64, self.sizes[dim]);
            let here = if items {
                let position = maker.index(query(Query::Position));
                let local = maker.index(query(Query::LocalId));
                let from = maker.binary(Binary::Sub, *index, position);
                maker.binary(Binary::Add, from, local)
            } else {
                let group = maker.index(query(Query::GroupId));
                let size = maker.index(size.clone());
                let offset = maker.index(query(Query::Offset));
                let start = maker.binary(Binary::Mul, group, size);
                let start = maker.binary(Binary::Add, start, offset);
                maker.binary(Binary::Sub, *index, start)
            };
            slot = Some(match slot {
                None => here,
                Some(row) => {
                    let width = maker.index(size);
                    let row = maker.binary(Binary::Mul, row, width);
                    maker.binary(Binary::Add, row, here)
                }
            });
        }
        slot.unwrap_or_else(|| maker.index(Op::Const(Scalar::U64, 0)))
    }

    /// All accesses of the view become accesses of the slots.
    pub fn redirect(&self, kernel: &mut Kernel) {
        let mut body = std::mem::take(&mut kernel.body);
        self.redirect_in(kernel, &mut body, false);
        kernel.body = body;
    }

    fn redirect_in(&self, kernel: &mut Kernel, body: &mut Body, items: bool) {
        for mut stmt in std::mem::take(body) {
            let phase = matches!(stmt, Stmt::Phase { .. } | Stmt::Collect { .. });
            for inner in stmt.bodies_mut() {
                self.redirect_in(kernel, inner, items || phase);
            }
            if accessed(&stmt) == Some(self.view) {
                if self.stored && matches!(stmt, Stmt::Store { .. }) {
                    body.push(stmt.clone());
                }
                let mut maker = Maker { kernel: &mut *kernel, body: vec![] };
                if let Some(place) = place_mut(&mut stmt)
                    && let Root::Element(param, at) = &mut place.root
                {
                    let slot = self.slot(&mut maker, at, items);
                    (*param, *at) = (self.local, vec![slot]);
                }
                body.extend(maker.body);
            }
            body.push(stmt);
        }
    }

    /// A phase that loads what the elements had before.
    pub fn reload(&self, kernel: &mut Kernel, element: crate::Type) -> Stmt {
        let mut maker = Maker { kernel, body: vec![] };
        let (mut at, mut conditions) = (vec![], vec![]);
        for dim in 0..self.classes.len() as u8 {
            let position = maker.index(Op::Query { query: Query::Position, dim, copy: 0 });
            let extent = maker.index(Op::Extent(self.view, dim));
            conditions.push(maker.below(position, extent));
            at.push(position);
        }
        let cond = maker.all(&conditions);
        let outer = std::mem::take(&mut maker.body);
        let slot = self.slot(&mut maker, &at, true);
        let value = maker.op(element, Op::Load(Place::element(self.view, at)));
        let place = Place::element(self.local, [slot]);
        maker.body.push(Stmt::Store { place, value, site: None });
        let then = maker.body;
        let mut body = outer;
        match cond {
            Some(cond) => body.push(Stmt::If { cond, then, otherwise: vec![] }),
            None => body.extend(then),
        }
        Stmt::Phase { once: false, body }
    }
}
