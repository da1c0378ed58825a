//! Relaxed products of matrices: blocks of phases that devices with matrix units may compute
//! otherwise.

use super::{Access, Kernel, ParamId, ParamKind, Value, VarId};
use crate::types::{Composite, Scalar, Type};

/// The product that a [`Block`](super::Stmt::Block) adds to a tile. The block's body is one form of
/// it, which is right everywhere; a device may compute it in another order and with other
/// intermediate roundings (semantics 5.11).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Product {
    /// What each item has of the tile: rows of elements whose row and column are its own modulo the
    /// side of the group's square.
    pub sum: VarId,
    /// The parts of two matrices.
    pub factors: [Corner; 2],
    /// Columns of the first and rows of the second that are taken, a `u64`: both matrices have as
    /// many.
    pub depth: Value,
}

/// The part of a matrix from an index on.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Corner {
    /// The view that has the matrix in its last two dimensions.
    pub view: ParamId,
    /// The index of its first element in the view, each a `u64`.
    pub at: Vec<Value>,
    /// The transpose of that part.
    pub turned: bool,
}

/// The form of a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProductForm {
    /// Rows of the tile.
    pub rows: u32,
    /// Columns of the tile.
    pub columns: u32,
    /// Items of the group in each dimension of its square.
    pub side: u32,
    /// Elements of both matrices: `f16`, `bf16` or `f32`.
    pub element: Scalar,
}

impl Product {
    /// Its form, if it is one.
    pub fn form(&self, kernel: &Kernel) -> Option<ProductForm> {
        let side = [8, 16, 32].into_iter().find(|side| side * side == kernel.shape.group)?;
        let sum = kernel.vars.get(self.sum.index()).filter(|sum| !sum.uniform)?;
        let array = |ty: Type| match kernel.types.get(ty) {
            Some(Composite::Array { element, len }) => Some((*element, len.checked_mul(side)?)),
            _ => None,
        };
        let (row, rows) = array(sum.ty)?;
        let (of, columns) = array(row)?;
        let element = |corner: &Corner| match kernel.params.get(corner.view.index())?.kind {
            ParamKind::View { element, rank: 2..=3, access: Access::In, .. } => element.scalar(),
            _ => None,
        };
        let [first, second] = [element(&self.factors[0])?, element(&self.factors[1])?];
        let narrow = [Scalar::F16, Scalar::Bf16, Scalar::F32].contains(&first);
        let fits = of == Scalar::F32.into() && first == second && narrow;
        fits.then_some(ProductForm { rows, columns, side, element: first })
    }

    /// The values that it uses.
    pub fn operands(&self) -> impl Iterator<Item = Value> + '_ {
        self.factors.iter().flat_map(|corner| &corner.at).chain([&self.depth]).copied()
    }

    /// Applies `change` to each value that it uses.
    pub fn map(&mut self, change: &mut dyn FnMut(&mut Value)) {
        let [first, second] = &mut self.factors;
        first.at.iter_mut().chain(&mut second.at).for_each(&mut *change);
        change(&mut self.depth);
    }
}
