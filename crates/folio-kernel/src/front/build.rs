//! The builder: makes kernels value by value. The builder never fails on the way; errors come out
//! of [`Builder::finish`], from the verifier.

use crate::fault::VerifyError;
use crate::infer;
use crate::ir::{
    Access, Body, Collision, Kernel, Label, Let, Owner, Param, ParamId, ParamKind, Place, Shape,
    Site, SiteId, Stmt, Value, VarDecl, VarId,
};
use crate::op::{Atomic, Binary, Combine, Compare, Fold, Op, Query, Unary};
use crate::types::{Scalar, Type, Types};
use crate::{outputs, verify};
use std::collections::HashMap;

/// Makes one kernel.
///
/// ```
/// use folio_kernel::{Access, Binary, Builder, Owner, Scalar};
/// let mut b = Builder::items("double", 1);
/// let x = b.view("x", Scalar::F32, 1, Access::In, Owner::Item);
/// let y = b.view("y", Scalar::F32, 1, Access::Out, Owner::Item);
/// let i = b.position(0);
/// let value = b.load_at(x, [i]);
/// let twice = b.binary(Binary::Add, value, value);
/// b.store_at(y, [i], twice);
/// let kernel = b.finish()?;
/// assert!(kernel.to_string().contains("add %1, %1"));
/// # Ok::<(), folio_kernel::VerifyError>(())
/// ```
#[derive(Debug)]
pub struct Builder {
    kernel: Kernel,
    /// The blocks around what comes next, innermost last.
    open: Vec<Block>,
    /// Where in the source the next statements are; entered when one of them keeps it.
    site: Option<Site>,
}

#[derive(Debug, Default)]
struct Block {
    stmts: Body,
    /// Values that were asked for in this block and hold throughout it, to be defined at its
    /// start: so the same question has the same value, which analyses rely on.
    first: Vec<Let>,
    known: HashMap<Op, Value>,
    /// The start of items' code or of the kernel: questions are answered here.
    root: bool,
}

impl Builder {
    fn new(name: &str, rank: u8, groups: bool) -> Builder {
        let kernel = Kernel {
            name: name.to_owned(),
            shape: Shape { rank, groups, group: 0, block: [0; 3], tile: 1 },
            types: Types::default(),
            params: vec![],
            vars: vec![],
            sites: vec![],
            values: vec![],
            labels: 0,
            body: vec![],
        };
        let root = Block { root: true, ..Block::default() };
        Builder { kernel, open: vec![root], site: None }
    }

    /// An item kernel.
    pub fn items(name: &str, rank: u8) -> Builder {
        Builder::new(name, rank, false)
    }

    /// Every launch has groups of so many items.
    pub fn of_group(mut self, items: u32) -> Builder {
        self.kernel.shape.group = items;
        self
    }

    /// The kernel would have blocks of so many threads, the slowest dimension first.
    pub fn of_block(mut self, threads: [u32; 3]) -> Builder {
        self.kernel.shape.block = threads;
        self
    }

    /// A group kernel.
    pub fn groups(name: &str, rank: u8) -> Builder {
        Builder::new(name, rank, true)
    }

    /// The structs and arrays of this kernel.
    pub fn types(&mut self) -> &mut Types {
        &mut self.kernel.types
    }

    /// The type of a value; that of an unknown one is `bool`.
    pub fn type_of(&self, value: Value) -> Type {
        self.kernel.type_of(value).unwrap_or(Scalar::Bool.into())
    }

    /// The kernel as far as it is built.
    pub fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    /// Adds a parameter.
    pub fn param(&mut self, name: &str, kind: ParamKind) -> ParamId {
        self.kernel.params.push(Param { name: name.to_owned(), kind });
        ParamId(self.kernel.params.len() as u32 - 1)
    }

    /// Adds a view.
    pub fn view(
        &mut self,
        name: &str,
        element: impl Into<Type>,
        rank: u8,
        access: Access,
        owner: Owner,
    ) -> ParamId {
        self.param(name, ParamKind::View { element: element.into(), rank, access, owner })
    }

    /// Adds a scalar, and gives its value.
    pub fn scalar(&mut self, name: &str, ty: impl Into<Type>) -> Value {
        let param = self.param(name, ParamKind::Scalar(ty.into()));
        self.once(Op::Arg(param), true)
    }

    /// Adds a variable: of each item, or of the group.
    pub fn var(&mut self, name: &str, ty: impl Into<Type>, uniform: bool) -> VarId {
        self.kernel.vars.push(VarDecl { name: name.to_owned(), ty: ty.into(), uniform });
        VarId(self.kernel.vars.len() as u32 - 1)
    }

    /// Says where in the source the next statements are.
    pub fn at(&mut self, site: Site) {
        self.site = Some(site);
    }

    /// Enters a site, unless an equal one is there.
    pub fn site(&mut self, site: Site) -> SiteId {
        let known = self.kernel.sites.iter().position(|have| *have == site);
        let at = known.unwrap_or_else(|| {
            self.kernel.sites.push(site);
            self.kernel.sites.len() - 1
        });
        SiteId(at as u32)
    }

    /// The site of the next statement, if it keeps one.
    fn here(&mut self, keeps: bool) -> Option<SiteId> {
        let site = self.site.clone().filter(|_| keeps)?;
        Some(self.site(site))
    }

    fn block(&mut self) -> &mut Block {
        if self.open.is_empty() {
            self.open.push(Block::default());
        }
        let last = self.open.len() - 1;
        &mut self.open[last]
    }

    /// Adds any statement.
    pub fn push(&mut self, stmt: Stmt) {
        self.block().stmts.push(stmt);
    }

    fn fresh(&mut self, op: &Op) -> Value {
        let ty = infer::result(&self.kernel, op).unwrap_or(Scalar::Bool.into());
        self.value(ty)
    }

    /// A value without a definition yet.
    pub fn value(&mut self, ty: Type) -> Value {
        self.kernel.values.push(ty);
        Value(self.kernel.values.len() as u32 - 1)
    }

    /// A label without a statement yet.
    pub fn label(&mut self) -> Label {
        self.kernel.labels += 1;
        Label(self.kernel.labels - 1)
    }

    /// Adds any operation.
    pub fn op(&mut self, op: Op) -> Value {
        let value = self.fresh(&op);
        let located = match &op {
            Op::Load(_) | Op::Atomic(..) => true,
            Op::Binary(Binary::Div | Binary::Rem, a, _) => {
                self.type_of(*a).scalar().is_some_and(Scalar::is_int)
            }
            _ => false,
        };
        let site = self.here(located);
        self.push(Stmt::Let(Let { value, op, site }));
        value
    }

    /// An operation without operands, defined once for the whole kernel, or phase.
    fn once(&mut self, op: Op, uniform: bool) -> Value {
        let known = |block: &Block| block.known.get(&op).copied();
        if let Some(value) = self.open.iter().rev().find_map(known) {
            return value;
        }
        let value = self.fresh(&op);
        let at = match uniform {
            true => 0,
            false => self.open.iter().rposition(|block| block.root).unwrap_or(0),
        };
        if let Some(block) = self.open.get_mut(at) {
            block.first.push(Let { value, op: op.clone(), site: None });
            block.known.insert(op, value);
        }
        value
    }

    /// A question about where an item is.
    pub fn query(&mut self, query: Query, dim: u8) -> Value {
        self.once(Op::Query { query, dim, copy: 0 }, query.is_uniform())
    }

    /// The item's position.
    pub fn position(&mut self, dim: u8) -> Value {
        self.query(Query::Position, dim)
    }

    /// The extent of a view.
    pub fn extent(&mut self, param: ParamId, dim: u8) -> Value {
        self.once(Op::Extent(param, dim), true)
    }

    /// A literal, by its bits.
    pub fn bits(&mut self, scalar: Scalar, bits: u64) -> Value {
        self.op(Op::Const(scalar, bits & scalar.mask()))
    }

    /// An integer literal.
    pub fn int(&mut self, scalar: Scalar, value: i128) -> Value {
        self.bits(scalar, value as u64)
    }

    /// An index.
    pub fn index(&mut self, value: u64) -> Value {
        self.bits(Scalar::U64, value)
    }

    /// An `f32`.
    pub fn f32(&mut self, value: f32) -> Value {
        self.bits(Scalar::F32, u64::from(value.to_bits()))
    }

    /// An `f64`.
    pub fn f64(&mut self, value: f64) -> Value {
        self.bits(Scalar::F64, value.to_bits())
    }

    /// An operation on a single operand.
    pub fn unary(&mut self, op: Unary, a: Value) -> Value {
        self.op(Op::Unary(op, a))
    }

    /// Two operands.
    pub fn binary(&mut self, op: Binary, a: Value, b: Value) -> Value {
        self.op(Op::Binary(op, a, b))
    }

    /// A comparison.
    pub fn compare(&mut self, op: Compare, a: Value, b: Value) -> Value {
        self.op(Op::Compare(op, a, b))
    }

    /// A conversion; none if the type is that already.
    pub fn cast(&mut self, a: Value, to: Scalar) -> Value {
        if self.type_of(a) == to.into() { a } else { self.op(Op::Cast(a, to)) }
    }

    /// The value at a place.
    pub fn load(&mut self, place: Place) -> Value {
        self.op(Op::Load(place))
    }

    /// An element.
    pub fn load_at(&mut self, param: ParamId, at: impl Into<Vec<Value>>) -> Value {
        self.load(Place::element(param, at))
    }

    /// A variable's value.
    pub fn get(&mut self, var: VarId) -> Value {
        self.load(Place::var(var))
    }

    /// Puts a value to a place.
    pub fn store(&mut self, place: Place, value: Value) {
        let site = self.here(place.is_indexed());
        self.push(Stmt::Store { place, value, site });
    }

    /// Puts a value to an element.
    pub fn store_at(&mut self, param: ParamId, at: impl Into<Vec<Value>>, value: Value) {
        self.store(Place::element(param, at), value);
    }

    /// Puts a value to a variable.
    pub fn set(&mut self, var: VarId, value: Value) {
        self.store(Place::var(var), value);
    }

    /// An atomic operation.
    pub fn atomic(&mut self, op: Atomic, place: Place, args: &[Value]) -> Value {
        self.op(Op::Atomic(op, place, args.to_vec()))
    }

    /// Begins a block of its own; with `root`, the body of a phase. [`Builder::end`] ends it.
    pub fn begin(&mut self, root: bool) {
        self.open.push(Block { root, ..Block::default() });
    }

    /// Ends the block that was begun last, and gives it.
    pub fn end(&mut self) -> Body {
        self.open.pop().map(Block::close).unwrap_or_default()
    }

    fn inside(&mut self, root: bool, fill: impl FnOnce(&mut Builder)) -> Body {
        self.begin(root);
        fill(self);
        self.end()
    }

    /// Two branches.
    pub fn if_else(
        &mut self,
        cond: Value,
        then: impl FnOnce(&mut Builder),
        otherwise: impl FnOnce(&mut Builder),
    ) {
        let then = self.inside(false, then);
        let otherwise = self.inside(false, otherwise);
        self.push(Stmt::If { cond, then, otherwise });
    }

    /// A branch without `else`.
    pub fn if_then(&mut self, cond: Value, then: impl FnOnce(&mut Builder)) {
        self.if_else(cond, then, |_| ());
    }

    /// A counted loop; the body gets the index and the label.
    pub fn for_range(
        &mut self,
        start: Value,
        end: Value,
        body: impl FnOnce(&mut Builder, Value, Label),
    ) {
        let label = self.label();
        let index = self.value(self.type_of(start));
        let body = self.inside(false, |b| body(b, index, label));
        self.push(Stmt::For { label, index, start, end, body });
    }

    /// A loop until something leaves it.
    pub fn repeat(&mut self, body: impl FnOnce(&mut Builder, Label)) {
        let label = self.label();
        let body = self.inside(false, |b| body(b, label));
        self.push(Stmt::Loop { label, body });
    }

    /// A loop while the condition, computed anew each time, is true.
    pub fn while_loop(
        &mut self,
        cond: impl FnOnce(&mut Builder) -> Value,
        body: impl FnOnce(&mut Builder, Label),
    ) {
        self.repeat(|b, label| {
            let go = cond(b);
            b.if_else(go, |_| (), |b| b.push(Stmt::Break(label)));
            body(b, label);
        });
    }

    /// A block that can be left.
    pub fn scope(&mut self, body: impl FnOnce(&mut Builder, Label)) {
        let label = self.label();
        let body = self.inside(false, |b| body(b, label));
        self.push(Stmt::Block { label, body, product: None });
    }

    /// A phase.
    pub fn phase(&mut self, body: impl FnOnce(&mut Builder)) {
        let body = self.inside(true, body);
        self.push(Stmt::Phase { once: false, body });
    }

    /// A phase of the first item.
    pub fn once_phase(&mut self, body: impl FnOnce(&mut Builder)) {
        let body = self.inside(true, body);
        self.push(Stmt::Phase { once: true, body });
    }

    /// A group's reduction or scan into a variable.
    pub fn collect(
        &mut self,
        fold: Fold,
        combine: Combine,
        into: VarId,
        body: impl FnOnce(&mut Builder) -> Value,
    ) {
        let mut gives = Value(u32::MAX);
        let body = self.inside(true, |b| gives = body(b));
        self.push(Stmt::Collect { fold, combine, body, value: gives, into });
    }

    /// An `assert!`.
    pub fn assert(&mut self, cond: Value, site: Site) {
        let site = self.site(site);
        self.push(Stmt::Assert { cond, site, collision: None });
    }

    /// An item may write an element, unless another one does, too.
    pub fn claimed(&mut self, cond: Value, site: Site, collision: Collision) {
        let (site, collision) = (self.site(site), Some(collision));
        self.push(Stmt::Assert { cond, site, collision });
    }

    /// The kernel as built, unchecked.
    pub fn finish_unchecked(mut self) -> Kernel {
        while self.open.len() > 1 {
            let inner = self.open.pop().map(Block::close).unwrap_or_default();
            self.block().stmts.extend(inner);
        }
        self.kernel.body = self.open.pop().map(Block::close).unwrap_or_default();
        self.kernel
    }

    /// The kernel, verified; `Out` parameters are shown to be written, and written views to be
    /// written by their owners.
    pub fn finish(self) -> Result<Kernel, VerifyError> {
        let kernel = self.finish_unchecked();
        verify::verify(&kernel)?;
        outputs::check(&kernel)?;
        Ok(kernel)
    }
}

impl Block {
    fn close(self) -> Body {
        let first = self.first.into_iter().map(Stmt::Let);
        first.chain(self.stmts).collect()
    }
}
