//! Renaming: a body under other names, and a second kernel's parts added to a first one's.
//!
//! Every pass that copies code uses this: several items per thread ([`crate::tile`]), two forms in
//! one text ([`crate::emit`]), and fusion ([`crate::fuse`]).

use crate::ir::{
    Body, Collision, Kernel, Label, Let, Param, ParamId, ParamKind, Place, Product, Root, SiteId,
    Stmt, Value, VarId,
};
use crate::op::{Op, Query};
use crate::types::{Composite, Type, Types};

/// The new names of a kernel, by number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Renamer {
    /// Values.
    pub values: Vec<Value>,
    /// Variables.
    pub vars: Vec<VarId>,
    /// Labels.
    pub labels: Vec<Label>,
    /// Parameters.
    pub params: Vec<ParamId>,
    /// Structs and arrays; `types[k]` is what `Type::Composite(k)` becomes.
    pub types: Vec<Type>,
    /// Places in the source.
    pub sites: Vec<SiteId>,
    /// Which of a thread's items positions are of; none leaves that as it is.
    pub copy: Option<u8>,
    /// The block that a `return` outside of phases leaves; none keeps the `return`.
    pub exit: Option<Label>,
}

fn numbers<T>(first: usize, count: usize, of: impl Fn(u32) -> T) -> Vec<T> {
    (first..first + count).map(|at| of(at as u32)).collect()
}

impl Renamer {
    /// Every name stays.
    pub fn identity(of: &Kernel) -> Renamer {
        Renamer {
            values: numbers(0, of.values.len(), Value),
            vars: numbers(0, of.vars.len(), VarId),
            labels: numbers(0, of.labels as usize, Label),
            params: numbers(0, of.params.len(), ParamId),
            types: numbers(0, of.types.all().len(), Type::Composite),
            sites: numbers(0, of.sites.len(), SiteId),
            copy: None,
            exit: None,
        }
    }

    /// A second copy of a body within the same kernel `into`: values, variables and labels are new
    /// ones, which are declared there; parameters, types and places stay.
    pub fn duplicate(into: &mut Kernel, of: &Kernel) -> Renamer {
        let (values, vars, labels) = (into.values.len(), into.vars.len(), into.labels as usize);
        into.values.extend(of.values.iter().copied());
        into.vars.extend(of.vars.iter().cloned());
        into.labels += of.labels;
        Renamer {
            values: numbers(values, of.values.len(), Value),
            vars: numbers(vars, of.vars.len(), VarId),
            labels: numbers(labels, of.labels as usize, Label),
            ..Renamer::identity(of)
        }
    }

    /// A type.
    pub fn ty(&self, ty: Type) -> Type {
        match ty {
            Type::Scalar(_) => ty,
            Type::Composite(at) => self.types.get(at as usize).copied().unwrap_or(ty),
        }
    }

    /// A parameter's declaration.
    pub fn kind(&self, kind: &ParamKind) -> ParamKind {
        let mut kind = kind.clone();
        match &mut kind {
            ParamKind::Scalar(ty)
            | ParamKind::View { element: ty, .. }
            | ParamKind::Reduce { element: ty, .. }
            | ParamKind::Local { element: ty, .. } => *ty = self.ty(*ty),
        }
        kind
    }

    /// A body.
    pub fn body(&self, body: &[Stmt]) -> Body {
        body.iter().map(|stmt| self.stmt(stmt)).collect()
    }

    /// A value.
    pub fn value(&self, value: Value) -> Value {
        self.values.get(value.index()).copied().unwrap_or(value)
    }

    fn var(&self, var: VarId) -> VarId {
        self.vars.get(var.index()).copied().unwrap_or(var)
    }

    fn param(&self, param: ParamId) -> ParamId {
        self.params.get(param.index()).copied().unwrap_or(param)
    }

    fn label(&self, label: Label) -> Label {
        self.labels.get(label.index()).copied().unwrap_or(label)
    }

    fn site(&self, site: SiteId) -> SiteId {
        self.sites.get(site.index()).copied().unwrap_or(site)
    }

    fn collision(&self, of: &Collision) -> Collision {
        let mut of = of.clone();
        of.param = self.param(of.param);
        of.map(&mut |value| *value = self.value(*value));
        of
    }

    fn product(&self, of: &Product) -> Product {
        let mut of = of.clone();
        of.sum = self.var(of.sum);
        of.factors.iter_mut().for_each(|corner| corner.view = self.param(corner.view));
        of.map(&mut |value| *value = self.value(*value));
        of
    }

    fn place(&self, place: &mut Place) {
        place.map(&mut |value| *value = self.value(*value));
        match &mut place.root {
            Root::Var(var) => *var = self.var(*var),
            Root::Element(param, _) => *param = self.param(*param),
        }
    }

    fn op(&self, op: &Op) -> Op {
        let mut op = op.clone();
        match &mut op {
            Op::Load(place) => {
                self.place(place);
                return op;
            }
            Op::Atomic(_, place, args) => {
                self.place(place);
                args.iter_mut().for_each(|arg| *arg = self.value(*arg));
                return op;
            }
            Op::Zero(ty) | Op::Make(ty, _) => *ty = self.ty(*ty),
            Op::Arg(param) | Op::Extent(param, _) => *param = self.param(*param),
            Op::Query { query: Query::Position, copy, .. } => *copy = self.copy.unwrap_or(*copy),
            _ => {}
        }
        op.map(&mut |value| *value = self.value(*value));
        op
    }

    /// The same within a phase, which a `return` leaves alone.
    fn phase(&self, body: &[Stmt]) -> Body {
        match self.exit {
            None => self.body(body),
            Some(_) => Renamer { exit: None, ..self.clone() }.body(body),
        }
    }

    /// A statement.
    pub fn stmt(&self, stmt: &Stmt) -> Stmt {
        match stmt {
            Stmt::Let(Let { value, op, site }) => Stmt::Let(Let {
                value: self.value(*value),
                op: self.op(op),
                site: site.map(|site| self.site(site)),
            }),
            Stmt::Store { place, value, site } => {
                let mut place = place.clone();
                self.place(&mut place);
                let site = site.map(|site| self.site(site));
                Stmt::Store { place, value: self.value(*value), site }
            }
            Stmt::If { cond, then, otherwise } => Stmt::If {
                cond: self.value(*cond),
                then: self.body(then),
                otherwise: self.body(otherwise),
            },
            Stmt::For { label, index, start, end, body } => Stmt::For {
                label: self.label(*label),
                index: self.value(*index),
                start: self.value(*start),
                end: self.value(*end),
                body: self.body(body),
            },
            Stmt::Loop { label, body } => {
                Stmt::Loop { label: self.label(*label), body: self.body(body) }
            }
            Stmt::Block { label, body, product } => Stmt::Block {
                label: self.label(*label),
                body: self.body(body),
                product: product.as_ref().map(|of| Box::new(self.product(of))),
            },
            Stmt::Break(label) => Stmt::Break(self.label(*label)),
            Stmt::Continue(label) => Stmt::Continue(self.label(*label)),
            Stmt::Return => self.exit.map_or(Stmt::Return, Stmt::Break),
            Stmt::Phase { once, body } => Stmt::Phase { once: *once, body: self.phase(body) },
            Stmt::Collect { fold, combine, body, value, into } => Stmt::Collect {
                fold: *fold,
                combine: *combine,
                body: self.phase(body),
                value: self.value(*value),
                into: self.var(*into),
            },
            Stmt::Contribute { param, value } => {
                Stmt::Contribute { param: self.param(*param), value: self.value(*value) }
            }
            Stmt::Assert { cond, site, collision } => Stmt::Assert {
                cond: self.value(*cond),
                site: self.site(*site),
                collision: collision.as_ref().map(|of| self.collision(of)),
            },
        }
    }
}

/// Enters the types of `of`, equal ones once; by entry, what each is in `into`.
fn enter(into: &mut Types, of: &Types) -> Vec<Type> {
    let mut types: Vec<Type> = vec![];
    for composite in of.all() {
        let here = |ty: &mut Type| {
            if let Type::Composite(at) = *ty {
                *ty = types.get(at as usize).copied().unwrap_or(*ty);
            }
        };
        let mut composite = composite.clone();
        match &mut composite {
            Composite::Struct(s) => s.fields.iter_mut().for_each(|field| here(&mut field.ty)),
            Composite::Array { element, .. } => here(element),
        }
        let entry = into.enter(composite);
        types.push(entry);
    }
    types
}

/// Adds the types, values, variables, labels and places of `of` to `into`, and its parameters as
/// `bind` says: it gets each of them with its types as they are in `into`, and answers which
/// parameter of `into` that is, which it may have added. The answer's [`Renamer::body`] of the body
/// of `of` can then follow that of `into`.
pub fn append(
    into: &mut Kernel,
    of: &Kernel,
    bind: &mut dyn FnMut(&mut Kernel, ParamId, Param) -> ParamId,
) -> Renamer {
    let types = enter(&mut into.types, &of.types);
    let mut renamer = Renamer {
        values: numbers(into.values.len(), of.values.len(), Value),
        vars: numbers(into.vars.len(), of.vars.len(), VarId),
        labels: numbers(into.labels as usize, of.labels as usize, Label),
        params: vec![],
        types,
        sites: numbers(into.sites.len(), of.sites.len(), SiteId),
        copy: None,
        exit: None,
    };
    into.values.extend(of.values.iter().map(|ty| renamer.ty(*ty)));
    into.vars.extend(of.vars.iter().cloned().map(|mut var| {
        var.ty = renamer.ty(var.ty);
        var
    }));
    into.labels += of.labels;
    into.sites.extend(of.sites.iter().cloned());
    for (at, param) in of.params.iter().enumerate() {
        let renamed = Param { name: param.name.clone(), kind: renamer.kind(&param.kind) };
        let bound = bind(into, ParamId(at as u32), renamed);
        renamer.params.push(bound);
    }
    renamer
}
