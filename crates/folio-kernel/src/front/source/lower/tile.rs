//! Tiles: values of a whole group, as its items hold them, and the phases that compute them.
//!
//! The items of a group are a square of `side` x `side`. Item (u, v) holds the elements of a tile
//! whose rows are `u` and whose columns are `v` modulo `side`, in a variable of its own. A tile of
//! one row or column is held by all items of that row or column alike. Memory is read where a tile
//! of it is used: a product reads it into local memory, all else into variables.

use super::super::Entry;
use super::super::tree::Expr;
use super::{Closure, Lower, LowerError, Operand, Result};
use crate::ir::{ParamId, ParamKind, Place, Stmt, Value, VarId};
use crate::op::{Binary, Combine, Compare, Op, Query};
use crate::types::{Scalar, Type};
use std::rc::Rc;

/// Bytes that devices load from local memory at once.
const PIECE_BYTES: u64 = 16;

/// Bytes of local memory that the operands of a product take whole, where these are in memory:
/// several groups run beside each other in 32 KiB. Larger ones take as many as a step of the side.
pub(super) const MOST_STAGED: u64 = 16 << 10;

/// Values of neighbours that a reduction reads together.
const FOLDED: u32 = 4;

/// A tile.
#[derive(Clone, Debug)]
pub(super) struct Tile {
    pub(super) element: Scalar,
    pub(super) rows: u32,
    pub(super) columns: u32,
    pub(super) held: Held,
}

/// Where a tile is.
#[derive(Clone, Debug)]
pub(super) enum Held {
    /// Each item has its part in a variable.
    Items(VarId),
    /// In memory that does not change.
    Memory(Source),
}

/// A part of a view.
#[derive(Clone, Debug)]
pub(super) struct Source {
    pub(super) view: ParamId,
    /// The index of its first element; the last two are row and column.
    pub(super) at: Vec<Value>,
    /// Rows of the tile are columns of the view.
    pub(super) turned: bool,
    /// A dimension of the view, and an index in it from which on elements are taken for zeros.
    pub(super) end: Option<(usize, Value)>,
}

/// An item's row and column in the square of its group.
type Spot = (Value, Value);

/// The sides of a product.
#[derive(Clone, Copy, PartialEq)]
enum Side {
    Left,
    Right,
}

/// An operand of a product in local memory, in pieces of elements that one item reads together.
/// They are ordered by depth, then by their number, then by lane. A piece is left out after each
/// depth, so that neighbours that write one lane at several depths use other banks.
#[derive(Clone, Copy)]
struct Staged {
    array: ParamId,
    /// What an item has of a depth.
    own: u32,
    /// Elements of a piece.
    piece: u32,
    ty: Type,
}

/// A step of a product.
#[derive(Clone, Copy)]
struct DepthStep {
    /// Columns of the left side that it takes.
    depth: u32,
    /// The first of them.
    first: Value,
    /// Which one it is, if that is known.
    number: u32,
    /// Type of the sum.
    sum: Scalar,
}

impl Source {
    /// The index of its first element in the view.
    fn first(&self) -> Vec<Value> {
        let (mut at, rank) = (self.at.clone(), self.at.len());
        if self.turned {
            at.swap(rank - 2, rank - 1);
        }
        at
    }

    /// Where elements of a dimension end, if before the view's end.
    fn end_in(&self, dim: usize) -> Option<Value> {
        self.end.filter(|(of, _)| *of == dim).map(|(_, end)| end)
    }
}

impl Tile {
    /// Rows and columns that an item holds.
    fn own(&self, side: u32) -> (u32, u32) {
        ((self.rows / side).max(1), (self.columns / side).max(1))
    }

    fn in_memory(&self) -> bool {
        matches!(self.held, Held::Memory(_))
    }
}

impl Lower {
    /// The expressions that make tiles.
    pub(super) fn tiled(&mut self, expr: &Expr) -> Result<Operand> {
        match expr {
            Expr::Tile(entry, value) => {
                let (element, rows, columns) = self.tile_entry(*entry)?;
                let value = match value {
                    Some(value) => self.of(value)?,
                    None => self.builder.op(Op::Zero(element.into())),
                };
                let tile = self.items_tile(element, rows, columns)?;
                self.filled(&tile, value)?;
                Ok(Operand::Tile(tile))
            }
            Expr::TileOf(view, index, entry, turned) => {
                let (element, rows, columns) = self.tile_entry(*entry)?;
                self.side_for(rows, columns)?;
                let Operand::View(view) = self.expr(view)? else {
                    return Err(LowerError::Unsupported("this tile"));
                };
                let at = self.indices(view, index)?;
                let held = Held::Memory(Source { view, at, turned: *turned, end: None });
                Ok(Operand::Tile(Tile { element, rows, columns, held }))
            }
            Expr::TileFold(tile, entry, rows) => {
                let Operand::Tile(tile) = self.expr(tile)? else {
                    return Err(LowerError::Unsupported("this reduction"));
                };
                let combine = self.combine(*entry)?;
                self.folded(&tile, combine, *rows).map(Operand::Tile)
            }
            _ => Err(LowerError::Unsupported("this expression")),
        }
    }

    /// A method of a tile.
    pub(super) fn tile_method(
        &mut self,
        tile: &Tile,
        name: &str,
        args: &[Expr],
    ) -> Result<Operand> {
        if name == "add_relaxed_product" {
            self.add_relaxed(tile, args)?;
            return Ok(Operand::Unit);
        }
        let mut given = Vec::with_capacity(args.len());
        for arg in args {
            given.push(self.expr(arg)?);
        }
        match (name, &given[..]) {
            ("map", [Operand::Closure(f)]) => self.mapped(&[tile], f, false),
            ("map_indexed", [Operand::Closure(f)]) => self.mapped(&[tile], f, true),
            ("zip", [Operand::Tile(other), Operand::Closure(f)]) => {
                self.mapped(&[tile, other], f, false)
            }
            ("clone", []) => self.copied(tile).map(Operand::Tile),
            ("add_product", [Operand::Tile(a), Operand::Tile(b)]) => {
                self.add_tiles(tile, a, b)?;
                Ok(Operand::Unit)
            }
            _ => Err(LowerError::Unsupported("this method of a tile")),
        }
    }

    /// A variable that is a tile: what its value is is its own, and may change.
    pub(super) fn own_tile(&mut self, tile: Tile) -> Result<Tile> {
        if tile.in_memory() { self.loaded(&tile) } else { Ok(tile) }
    }

    /// Replaces a tile by another.
    pub(super) fn assign_tile(&mut self, to: &Tile, from: &Tile) -> Result<()> {
        let Held::Items(to_var) = to.held else {
            return Err(LowerError::Unsupported("this assignment"));
        };
        let from = self.loaded(from)?;
        let Held::Items(from) = from.held else { return Ok(()) };
        self.tile_phase(|lower, _| {
            let value = lower.builder.get(from);
            lower.builder.set(to_var, value);
            Ok(())
        })
    }

    fn tile_entry(&mut self, at: u16) -> Result<(Scalar, u32, u32)> {
        let Some(Entry::Tile(ty, rows, columns)) = self.frame.table.get(usize::from(at)) else {
            return Err(LowerError::Unsupported("this tile"));
        };
        let (ty, rows, columns) = (*ty, *rows, *columns);
        let element = ty(self.builder.types()).scalar();
        Ok((element.ok_or(LowerError::Unsupported("this tile"))?, rows, columns))
    }

    /// Items of a group in each dimension of the square.
    pub(super) fn side(&self) -> Result<u32> {
        let items: usize = self.frame.function.group.iter().product();
        [8u32, 16, 32]
            .into_iter()
            .find(|side| items == (side * side) as usize)
            .filter(|_| !self.frame.function.group.is_empty())
            .ok_or(LowerError::TileGroup)
    }

    /// The same, if tiles can have these extents.
    fn side_for(&self, rows: u32, columns: u32) -> Result<u32> {
        let side = self.side()?;
        let fits = |extent: u32| extent == 1 || extent.is_multiple_of(side);
        if fits(rows) && fits(columns) {
            return Ok(side);
        }
        Err(LowerError::TileExtents(rows, columns, side))
    }

    /// A tile in variables, whose value is yet to be set.
    fn items_tile(&mut self, element: Scalar, rows: u32, columns: u32) -> Result<Tile> {
        let side = self.side_for(rows, columns)?;
        let mut tile = Tile { element, rows, columns, held: Held::Items(VarId(0)) };
        let ty = self.part_type(&tile, side);
        tile.held = Held::Items(self.builder.var("tile", ty, false));
        Ok(tile)
    }

    /// What an item holds of a tile: an array of rows.
    fn part_type(&mut self, tile: &Tile, side: u32) -> Type {
        let (rows, columns) = tile.own(side);
        let row = self.builder.types().array(tile.element, columns);
        self.builder.types().array(row, rows)
    }

    /// A phase of tiles: `fill` is given where the item is.
    fn tile_phase(&mut self, fill: impl FnOnce(&mut Self, Spot) -> Result<()>) -> Result<()> {
        let body = self.of_items(|lower| {
            let spot = lower.spot()?;
            fill(lower, spot)
        })?;
        self.builder.push(Stmt::Phase { once: false, body });
        Ok(())
    }

    fn spot(&mut self) -> Result<Spot> {
        let side = self.side()?;
        if let [.., u, v] = *self.frame.function.group
            && (u, v) == (side as usize, side as usize)
        {
            let rank = self.frame.function.group.len() as u8;
            let [u, v] = [2, 1].map(|back| self.builder.query(Query::LocalId, rank - back));
            return Ok((u, v));
        }
        let (number, side) = (self.local_index(), self.builder.index(side.into()));
        let u = self.builder.binary(Binary::Div, number, side);
        Ok((u, self.builder.binary(Binary::Rem, number, side)))
    }

    /// A loop of known turns; none for a single turn.
    fn turns(
        &mut self,
        turns: u32,
        body: impl FnOnce(&mut Self, Value) -> Result<()>,
    ) -> Result<()> {
        let start = self.builder.index(0);
        if turns == 1 {
            return body(self, start);
        }
        let end = self.builder.index(turns.into());
        let (label, index) = (self.builder.label(), self.builder.value(Scalar::U64.into()));
        self.builder.begin(false);
        let done = body(self, index);
        let body = self.builder.end();
        self.builder.push(Stmt::For { label, index, start, end, body });
        done
    }

    /// Loops over an item's part of a tile.
    fn each_own(
        &mut self,
        tile: &Tile,
        body: impl FnOnce(&mut Self, Value, Value) -> Result<()>,
    ) -> Result<()> {
        let (rows, columns) = tile.own(self.side()?);
        self.turns(rows, |lower, p| lower.turns(columns, |lower, q| body(lower, p, q)))
    }

    fn sum_of(&mut self, a: Value, b: Value) -> Value {
        self.builder.binary(Binary::Add, a, b)
    }

    /// `lane + side * turn`; 0 for the single row or column that all lanes have.
    fn along(&mut self, extent: u32, lane: Value, turn: Value) -> Result<Value> {
        if extent == 1 {
            return Ok(self.builder.index(0));
        }
        let side = self.builder.index(self.side()?.into());
        let ahead = self.builder.binary(Binary::Mul, turn, side);
        Ok(self.sum_of(lane, ahead))
    }

    fn filled(&mut self, tile: &Tile, value: Value) -> Result<()> {
        let Held::Items(var) = tile.held else { return Ok(()) };
        let (rows, columns) = tile.own(self.side()?);
        let ty = self.part_type(tile, self.side()?);
        self.tile_phase(|lower, _| {
            let row = lower.array(vec![value; columns as usize])?;
            let row = lower.value(row)?;
            let all = lower.builder.op(Op::Make(ty, vec![row; rows as usize]));
            lower.builder.set(var, all);
            Ok(())
        })
    }

    /// The same tile in variables.
    fn loaded(&mut self, tile: &Tile) -> Result<Tile> {
        let Held::Memory(source) = &tile.held else { return Ok(tile.clone()) };
        let own = self.items_tile(tile.element, tile.rows, tile.columns)?;
        let Held::Items(var) = own.held else { return Ok(own) };
        let ty = self.part_type(tile, self.side()?);
        self.tile_phase(|lower, (u, v)| {
            let zero = lower.builder.op(Op::Zero(ty));
            lower.builder.set(var, zero);
            let whole = lower.is_whole(tile, source);
            lower.in_either(whole, |lower, tested| {
                lower.each_own(tile, |lower, p, q| {
                    let r = lower.along(tile.rows, u, p)?;
                    let c = lower.along(tile.columns, v, q)?;
                    let place = Place::var(var).at(p).at(q);
                    lower.fetch(source, (r, c), (place, tile.element), tested);
                    Ok(())
                })
            })
        })?;
        Ok(own)
    }

    /// The element at a row and column of the source goes to a place: where `tested`, only if there
    /// is one.
    fn fetch(&mut self, source: &Source, (r, c): Spot, (to, of): (Place, Scalar), tested: bool) {
        let (r, c) = if source.turned { (c, r) } else { (r, c) };
        self.builder.begin(false);
        let (index, mut inside) = self.within(source.view, &source.first(), (r, c));
        if let Some((dim, end)) = source.end {
            let before = self.builder.compare(Compare::Lt, index[dim], end);
            inside = self.builder.binary(Binary::And, inside, before);
        }
        self.builder.begin(false);
        let value = self.builder.load_at(source.view, index);
        let value = self.cast(value, of);
        self.builder.store(to, value);
        let then = self.builder.end();
        let mut body = self.builder.end();
        match tested {
            true => body.push(Stmt::If { cond: inside, then, otherwise: vec![] }),
            false => body.extend(then),
        }
        body.into_iter().for_each(|stmt| self.builder.push(stmt));
    }

    /// Whether all of a tile is inside of its view: one test for all of its elements.
    fn is_whole(&mut self, tile: &Tile, source: &Source) -> Value {
        let first = source.first();
        let (rows, columns) = match source.turned {
            false => (tile.rows, tile.columns),
            true => (tile.columns, tile.rows),
        };
        let mut whole = self.builder.bits(Scalar::Bool, 1);
        for (back, len) in [(2, rows), (1, columns)] {
            let dim = first.len() - back;
            let extent = self.builder.extent(source.view, dim as u8);
            let len = self.builder.index(len.into());
            let last = self.builder.binary(Binary::Sub, extent, len);
            let fits = self.builder.compare(Compare::Ge, extent, len);
            let begins = self.builder.compare(Compare::Le, first[dim], last);
            let both = self.builder.binary(Binary::And, fits, begins);
            whole = self.builder.binary(Binary::And, whole, both);
            if let Some(end) = source.end_in(dim) {
                let behind = self.sum_of(first[dim], len);
                let fits = self.builder.compare(Compare::Le, behind, end);
                whole = self.builder.binary(Binary::And, whole, fits);
            }
        }
        whole
    }

    /// A body without tests where a condition holds, and else with them.
    fn in_either(
        &mut self,
        holds: Value,
        body: impl Fn(&mut Self, bool) -> Result<()>,
    ) -> Result<()> {
        self.builder.begin(false);
        let done = body(self, false);
        let then = self.builder.end();
        self.builder.begin(false);
        let done = done.and_then(|()| body(self, true));
        let otherwise = self.builder.end();
        self.builder.push(Stmt::If { cond: holds, then, otherwise });
        done
    }

    /// The index so many rows and columns from another, and whether both are inside of the view.
    fn within(&mut self, view: ParamId, first: &[Value], (r, c): Spot) -> (Vec<Value>, Value) {
        let mut index = first.to_vec();
        let mut inside = vec![];
        for (dim, ahead) in (first.len() - 2..).zip([r, c]) {
            index[dim] = self.sum_of(index[dim], ahead);
            let extent = self.builder.extent(view, dim as u8);
            inside.push(self.builder.compare(Compare::Lt, index[dim], extent));
        }
        let inside = self.builder.binary(Binary::And, inside[0], inside[1]);
        (index, inside)
    }

    /// Calls a closure for each element: of one tile, or of two beside each other.
    fn mapped(&mut self, tiles: &[&Tile], f: &Rc<Closure>, indexed: bool) -> Result<Operand> {
        let mut sources = Vec::with_capacity(tiles.len());
        for tile in tiles {
            sources.push(self.loaded(tile)?);
        }
        let of = sources[0].clone();
        let mut made = None;
        self.tile_phase(|lower, (u, v)| {
            lower.each_own(&of, |lower, p, q| {
                let mut given = Vec::with_capacity(2);
                if indexed {
                    let r = lower.along(of.rows, u, p)?;
                    let c = lower.along(of.columns, v, q)?;
                    given.push(Operand::Tuple(vec![Operand::Value(r), Operand::Value(c)]));
                }
                for source in &sources {
                    given.push(Operand::Value(lower.held_at(source, p, q)?));
                }
                let value = lower.applied(f, given)?;
                let value = lower.value(value)?;
                let element = lower.builder.type_of(value).scalar();
                let element = element.ok_or(LowerError::Unsupported("this tile's element"))?;
                let tile = lower.items_tile(element, of.rows, of.columns)?;
                if let Held::Items(var) = tile.held {
                    lower.builder.store(Place::var(var).at(p).at(q), value);
                }
                made = Some(tile);
                Ok(())
            })
        })?;
        made.map(Operand::Tile).ok_or(LowerError::Unsupported("this tile"))
    }

    /// An own element: of a tile of one row or column it is that for all others.
    fn held_at(&mut self, tile: &Tile, p: Value, q: Value) -> Result<Value> {
        let Held::Items(var) = tile.held else {
            return Err(LowerError::Unsupported("this tile"));
        };
        let zero = self.builder.index(0);
        let (rows, columns) = tile.own(self.side()?);
        let (p, q) = (if rows == 1 { zero } else { p }, if columns == 1 { zero } else { q });
        Ok(self.builder.load(Place::var(var).at(p).at(q)))
    }

    /// A tile of its own, with the same elements.
    pub(super) fn copied(&mut self, tile: &Tile) -> Result<Tile> {
        if tile.in_memory() {
            return Ok(tile.clone());
        }
        let copy = self.items_tile(tile.element, tile.rows, tile.columns)?;
        self.assign_tile(&copy, tile)?;
        Ok(copy)
    }

    /// The rows, or the columns, each as one value (semantics 8.1).
    fn folded(&mut self, tile: &Tile, combine: Combine, rows: bool) -> Result<Tile> {
        // All items have the only row or column alike.
        if (if rows { tile.columns } else { tile.rows }) == 1 {
            return self.copied(tile);
        }
        let tile = self.loaded(tile)?;
        let side = self.side()?;
        let (own_rows, own_columns) = tile.own(side);
        let (kept, turns) = if rows { (own_rows, own_columns) } else { (own_columns, own_rows) };
        let shape = if rows { (tile.rows, 1) } else { (1, tile.columns) };
        let result = self.items_tile(tile.element, shape.0, shape.1)?;
        let Held::Items(into) = result.held else { return Ok(result) };
        let piece = self.builder.types().array(tile.element, FOLDED);
        let array = self.staging("folded", piece, kept * side * side / FOLDED);
        self.tile_phase(|lower, (u, v)| {
            let (lane, across) = if rows { (u, v) } else { (v, u) };
            lower.turns(kept, |lower, k| {
                let mut parts = Vec::with_capacity(turns as usize);
                for turn in 0..turns {
                    let turn = lower.builder.index(turn.into());
                    let (p, q) = if rows { (k, turn) } else { (turn, k) };
                    parts.push(lower.held_at(&tile, p, q)?);
                }
                let part = lower.tree(combine, parts);
                let width = lower.builder.index(FOLDED.into());
                let first = lower.builder.binary(Binary::Div, across, width);
                let rest = lower.builder.binary(Binary::Rem, across, width);
                let slot = lower.fold_slot(k, lane, first, side);
                lower.builder.store(Place::element(array, [slot]).at(rest), part);
                Ok(())
            })
        })?;
        self.tile_phase(|lower, (u, v)| {
            let lane = if rows { u } else { v };
            lower.turns(kept, |lower, k| {
                let mut parts = Vec::with_capacity(side as usize);
                for number in 0..side / FOLDED {
                    let number = lower.builder.index(number.into());
                    let slot = lower.fold_slot(k, lane, number, side);
                    let piece = lower.builder.load_at(array, [slot]);
                    let of = (0..FOLDED).map(|part| lower.builder.op(Op::Part(piece, part)));
                    parts.extend(of);
                }
                let whole = lower.tree(combine, parts);
                let zero = lower.builder.index(0);
                let (p, q) = if rows { (k, zero) } else { (zero, k) };
                lower.builder.store(Place::var(into).at(p).at(q), whole);
                Ok(())
            })
        })?;
        Ok(result)
    }

    /// The slot for what some items have of a row or column.
    fn fold_slot(&mut self, k: Value, lane: Value, number: Value, side: u32) -> Value {
        let square = self.builder.index(side.into());
        let line = self.builder.binary(Binary::Mul, k, square);
        let line = self.sum_of(line, lane);
        let slots = self.builder.index(u64::from(side / FOLDED));
        let line = self.builder.binary(Binary::Mul, line, slots);
        self.sum_of(line, number)
    }

    /// semantics 8.1
    fn tree(&mut self, combine: Combine, mut values: Vec<Value>) -> Value {
        let mut half = values.len().next_power_of_two() / 2;
        while half > 0 {
            for at in 0..values.len().saturating_sub(half).min(half) {
                values[at] = self.builder.binary(combine.binary(), values[at], values[at + half]);
            }
            values.truncate(half);
            half /= 2;
        }
        values[0]
    }

    /// A local array, behind the parameters of the source: those, and the group.
    fn staging(&mut self, what: &str, element: Type, len: u32) -> ParamId {
        let kind = ParamKind::Local { element, len };
        let own = self.frame.function.params.len().saturating_sub(1);
        let mut params = self.builder.kernel().params.iter().enumerate().skip(own);
        let known = params.find(|(_, param)| param.kind == kind && param.name == what);
        match known {
            Some((at, _)) => ParamId(at as u32),
            None => self.builder.param(what, kind),
        }
    }

    /// Adds the product of two tiles to a third.
    pub(super) fn add_tiles(&mut self, sum: &Tile, a: &Tile, b: &Tile) -> Result<()> {
        let side = self.side()?;
        let depth = a.columns;
        let bytes = (sum.rows.max(side) + sum.columns.max(side)) * depth;
        let fits = u64::from(bytes) * sum.element.size() <= MOST_STAGED;
        let in_memory = a.in_memory() && b.in_memory();
        let step = if in_memory && fits { depth } else { side };
        let steps = depth / step;
        let taken = |first, number| DepthStep { depth: step, first, number, sum: sum.element };
        if in_memory {
            return self.turns(steps, |lower, number| {
                let width = lower.builder.index(step.into());
                let first = lower.builder.binary(Binary::Mul, number, width);
                lower.add_step(sum, a, b, taken(first, 0))
            });
        }
        for number in 0..steps {
            let first = self.builder.index(u64::from(number * step));
            self.add_step(sum, a, b, taken(first, number))?;
        }
        Ok(())
    }

    fn add_step(&mut self, sum: &Tile, a: &Tile, b: &Tile, step: DepthStep) -> Result<()> {
        let (mut left, mut right) = (None, None);
        self.tile_phase(|lower, spot| {
            left = Some(lower.stage(Side::Left, a, step, spot)?);
            right = Some(lower.stage(Side::Right, b, step, spot)?);
            Ok(())
        })?;
        let (Some(left), Some(right), Held::Items(sums)) = (left, right, &sum.held) else {
            return Err(LowerError::Unsupported("this product"));
        };
        let sums = *sums;
        self.tile_phase(|lower, (u, v)| {
            lower.turns(step.depth, |lower, k| {
                let x = lower.unstage(left, u, k, step.sum)?;
                let y = lower.unstage(right, v, k, step.sum)?;
                lower.each_own(sum, |lower, p, q| {
                    let x = lower.builder.load(Place::var(x).at(p));
                    let y = lower.builder.load(Place::var(y).at(q));
                    let place = Place::var(sums).at(p).at(q);
                    let old = lower.builder.load(place.clone());
                    let new = lower.multiplied(x, y, old, step.sum);
                    lower.builder.store(place, new);
                    Ok(())
                })
            })
        })
    }

    fn multiplied(&mut self, x: Value, y: Value, sum: Value, of: Scalar) -> Value {
        if of.is_float() {
            return self.builder.op(Op::Fma(x, y, sum));
        }
        let product = self.builder.binary(Binary::Mul, x, y);
        self.sum_of(sum, product)
    }

    /// Brings a step's part of an operand to local memory.
    fn stage(&mut self, side: Side, tile: &Tile, step: DepthStep, (u, v): Spot) -> Result<Staged> {
        let square = self.side()?;
        let (rows, columns) = tile.own(square);
        let (own, extent) = match side {
            Side::Left => (rows, tile.rows),
            Side::Right => (columns, tile.columns),
        };
        let staged = self.staged(side, own, step)?;
        let ty = self.builder.types().array(step.sum, own);
        let value = self.builder.var("own", ty, false);
        let Held::Memory(source) = &tile.held else {
            self.own_operand(side, tile, step, value)?;
            let (lane, k) = if side == Side::Left { (u, v) } else { (v, u) };
            self.store_pieces(staged, lane, k, value)?;
            return Ok(staged);
        };
        // Neighbours read neighbouring elements of memory.
        let along_depth = (side == Side::Left) != source.turned;
        let (lane, across) = if along_depth { (u, v) } else { (v, u) };
        let whole = self.is_whole(tile, source);
        self.turns(step.depth / square, |lower, m| {
            let k = lower.along(step.depth, across, m)?;
            let zero = lower.builder.op(Op::Zero(ty));
            lower.builder.set(value, zero);
            let column = lower.sum_of(k, step.first);
            lower.in_either(whole, |lower, tested| {
                lower.turns(own, |lower, j| {
                    let along = lower.along(extent, lane, j)?;
                    let at = if side == Side::Left { (along, column) } else { (column, along) };
                    lower.fetch(source, at, (Place::var(value).at(j), step.sum), tested);
                    Ok(())
                })
            })?;
            lower.store_pieces(staged, lane, k, value)
        })?;
        Ok(staged)
    }

    /// The local memory of an operand.
    fn staged(&mut self, side: Side, own: u32, step: DepthStep) -> Result<Staged> {
        let most = (PIECE_BYTES / step.sum.size()) as u32;
        let piece = [most, 2, 1].into_iter().find(|len| own.is_multiple_of(*len)).unwrap_or(1);
        let ty = self.builder.types().array(step.sum, piece);
        let name = if side == Side::Left { "left" } else { "right" };
        let line = self.side()? * (own / piece) + 1;
        Ok(Staged { array: self.staging(name, ty, line * step.depth), own, piece, ty })
    }

    /// What an item holds of an operand's step.
    fn own_operand(&mut self, side: Side, tile: &Tile, step: DepthStep, to: VarId) -> Result<()> {
        let (rows, columns) = tile.own(self.side()?);
        let number = self.builder.index(step.number.into());
        let count = if side == Side::Left { rows } else { columns };
        self.turns(count, |lower, j| {
            let (p, q) = if side == Side::Left { (j, number) } else { (number, j) };
            let value = lower.held_at(tile, p, q)?;
            let value = lower.cast(value, step.sum);
            lower.builder.store(Place::var(to).at(j), value);
            Ok(())
        })
    }

    /// The slot of an item's first piece at a depth; the next is as many slots on as the side has.
    fn first_piece(&mut self, staged: Staged, lane: Value, k: Value) -> Result<Value> {
        let line = self.side()? * (staged.own / staged.piece) + 1;
        let line = self.builder.index(line.into());
        let before = self.builder.binary(Binary::Mul, k, line);
        Ok(self.sum_of(before, lane))
    }

    fn next_piece(&mut self, first: Value, number: u32) -> Result<Value> {
        let ahead = self.builder.index(u64::from(number * self.side()?));
        Ok(self.sum_of(first, ahead))
    }

    fn store_pieces(&mut self, staged: Staged, lane: Value, k: Value, from: VarId) -> Result<()> {
        let first = self.first_piece(staged, lane, k)?;
        for number in 0..staged.own / staged.piece {
            let parts = (0..staged.piece)
                .map(|part| {
                    let part = Place::var(from).part(number * staged.piece + part);
                    self.builder.load(part)
                })
                .collect();
            let piece = self.builder.op(Op::Make(staged.ty, parts));
            let slot = self.next_piece(first, number)?;
            self.builder.store_at(staged.array, [slot], piece);
        }
        Ok(())
    }

    /// The elements of a lane at a depth, in a variable.
    fn unstage(&mut self, staged: Staged, lane: Value, k: Value, of: Scalar) -> Result<VarId> {
        let ty = self.builder.types().array(of, staged.own);
        let var = self.builder.var("beside", ty, false);
        let first = self.first_piece(staged, lane, k)?;
        for number in 0..staged.own / staged.piece {
            let slot = self.next_piece(first, number)?;
            let piece = self.builder.load_at(staged.array, [slot]);
            for part in 0..staged.piece {
                let value = self.builder.op(Op::Part(piece, part));
                self.builder.store(Place::var(var).part(number * staged.piece + part), value);
            }
        }
        Ok(var)
    }

    /// Puts a tile to the group's part of a view.
    pub(super) fn put_tile(&mut self, view: ParamId, tile: &Tile) -> Result<()> {
        let tile = self.loaded(tile)?;
        let mut at = self.asked(Query::GroupId);
        let rank = at.len();
        for (dim, extent) in [(rank - 2, tile.rows), (rank - 1, tile.columns)] {
            let extent = self.builder.index(extent.into());
            at[dim] = self.builder.binary(Binary::Mul, at[dim], extent);
        }
        self.tile_phase(|lower, (u, v)| {
            lower.each_own(&tile, |lower, p, q| {
                let r = lower.along(tile.rows, u, p)?;
                let c = lower.along(tile.columns, v, q)?;
                let (index, inside) = lower.within(view, &at, (r, c));
                lower.builder.begin(false);
                let value = lower.held_at(&tile, p, q)?;
                lower.builder.store_at(view, index, value);
                let then = lower.builder.end();
                lower.builder.push(Stmt::If { cond: inside, then, otherwise: vec![] });
                Ok(())
            })
        })
    }
}
