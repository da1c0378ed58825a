//! A kernel computed within others, at each access of what passes between them: the passes of
//! `inline`, which says where that is right.

use super::edit::{accessed, place, place_mut, replace, returns, walk_mut};
use super::input::{MemoryId, Region};
use super::intern::narrow_access;
use super::join::{JoinedKernel, Parameter, Source, named, region, same_elements};
use super::made::Made;
use super::plan::own;
use super::tidy::{numbers_for_extents, pass_on, share, tidy};
use crate::ir::{
    Body, Kernel, Label, Let, Param, ParamId, ParamKind, Place, Root, SiteId, Stmt, Value, VarDecl,
    VarId, walk,
};
use crate::op::{Op, Query};
use crate::outputs;
use crate::rename::{Renamer, append};
use crate::types::{Scalar, Type};
use crate::verify::verify;

/// A kernel that is computed within others: at each access of a view that it has in common with
/// them, for the item whose position is the index.
pub(crate) struct Guest<'s, 'g> {
    pub made: &'s Made<'g>,
    pub memory: MemoryId,
    /// The parameter by which it gives, or takes, the elements.
    pub view: ParamId,
    pub region: Region,
    /// Its items come before those of the kernel that it is in: it is a producer.
    pub is_first: bool,
}

/// A guest's body, as it is copied to each access.
struct Template {
    body: Body,
    /// Its values, variables and labels in the host's kernel: the first, and one past the last.
    values: [usize; 2],
    vars: [usize; 2],
    labels: [u32; 2],
    /// The values that are positions, and of which dimension.
    positions: Vec<(Value, u8)>,
    element: Type,
    name: String,
}

impl Made<'_> {
    /// The kernel with a guest at each access of the view in common.
    pub fn with(&self, of: &Guest<'_, '_>) -> Option<JoinedKernel> {
        let view = self.param_of(of.memory)?;
        let mut joined = self.joined(if of.is_first { of.made.nodes().len() } else { 0 })?;
        let template = self.template(of, &mut joined, view)?;
        let mut inliner = Inliner { kernel: joined.kernel, view, template, outs: vec![] };
        let mut body = std::mem::take(&mut inliner.kernel.body);
        let is_uniform = inliner.kernel.shape.groups;
        inliner.body(&mut body, is_uniform);
        inliner.kernel.body = body;
        joined.kernel = inliner.kernel;
        let node = joined.parameters[view.index()].stands_for.first().copied()?;
        without_view(&mut joined, view, node);
        share(&mut joined.kernel);
        pass_on(&mut joined.kernel, &inliner.outs);
        tidy(&mut joined, &inliner.outs);
        narrow_access(&mut joined);
        own(&mut joined.kernel);
        let mut kernels = [self.kernel()?, of.made.kernel()?];
        kernels.rotate_left(usize::from(of.is_first));
        joined.kernel.name = named(kernels.into_iter());
        let is_sound = verify(&joined.kernel).is_ok() && outputs::check(&joined.kernel).is_ok();
        is_sound.then_some(joined)
    }

    /// Adds the guest's parts to the kernel.
    fn template(
        &self,
        of: &Guest<'_, '_>,
        joined: &mut JoinedKernel,
        view: ParamId,
    ) -> Option<Template> {
        let behind = if of.is_first { 0 } else { self.nodes().len() };
        let JoinedKernel { kernel: guest, parameters: given } = of.made.joined(behind)?;
        let JoinedKernel { kernel, parameters } = joined;
        let (values, vars, labels) = (kernel.values.len(), kernel.vars.len(), kernel.labels);
        let calls: Vec<_> = self.calls.iter().chain(&of.made.calls).cloned().collect();
        let renamer = append(kernel, &guest, &mut |into, id, param| {
            if id == of.view {
                return view;
            }
            let own = &given[id.index()];
            let known = parameters.iter().zip(&into.params).position(|(known, there)| {
                let both = (region(known, &calls), region(own, &calls));
                let is_same = matches!(both, (Some(a), Some(b)) if a == b);
                known.source == own.source || is_same && same_elements(&there.kind, &param.kind)
            });
            if let Some(known) = known {
                parameters[known].stands_for.extend(own.stands_for.iter().copied());
                return ParamId(known as u32);
            }
            into.params.push(param);
            parameters.push(own.clone());
            ParamId(into.params.len() as u32 - 1)
        });
        let mut body = renamer.body(&guest.body);
        ranges(&mut body, (kernel, parameters), of.made);
        let mut positions = vec![];
        replace(&mut body, &mut |stmt, out| match &stmt {
            Stmt::Let(Let { value, op: Op::Query { query: Query::Position, dim, .. }, .. }) => {
                positions.push((*value, *dim));
            }
            _ => out.push(stmt),
        });
        let (element, _) = kernel.elements(view)?;
        Some(Template {
            body,
            values: [values, kernel.values.len()],
            vars: [vars, kernel.vars.len()],
            labels: [labels, kernel.labels],
            positions,
            element,
            name: kernel.params[view.index()].name.clone(),
        })
    }
}

/// The guest's own range becomes a number.
fn ranges(
    body: &mut Body,
    (kernel, parameters): (&mut Kernel, &mut Vec<Parameter>),
    of: &Made<'_>,
) {
    let whole = of.calls.iter().find(|call| call.call.geometry.range == of.geometry.range);
    let Some(node) = whole.map(|call| call.node) else { return };
    walk_mut(body, &mut |stmt| {
        let Stmt::Let(Let { op, .. }) = stmt else { return };
        let Op::Query { query: Query::Range, dim, .. } = *op else { return };
        let source = Source::Range { node, dim };
        let known = parameters.iter().position(|param| param.source == source);
        let at = known.unwrap_or_else(|| {
            let name = format!("{node}.guest.range.{dim}");
            kernel.params.push(Param { name, kind: ParamKind::Scalar(Scalar::U64.into()) });
            parameters.push(Parameter { source, stands_for: vec![], discards: false });
            parameters.len() - 1
        });
        *op = Op::Arg(ParamId(at as u32));
    });
}

fn without_view(joined: &mut JoinedKernel, view: ParamId, (node, param): (usize, ParamId)) {
    let JoinedKernel { kernel, parameters } = joined;
    let name = kernel.params[view.index()].name.clone();
    numbers_for_extents(kernel, view, &mut |kernel, dim| {
        let name = format!("{name}.extent.{dim}");
        kernel.params.push(Param { name, kind: ParamKind::Scalar(Scalar::U64.into()) });
        let source = Source::Extent { node, param, dim };
        parameters.push(Parameter { source, stands_for: vec![], discards: false });
        ParamId(kernel.params.len() as u32 - 1)
    });
}

/// Puts a copy of a guest to each access.
struct Inliner {
    kernel: Kernel,
    view: ParamId,
    template: Template,
    /// The variables that have elements.
    outs: Vec<VarId>,
}

impl Inliner {
    fn body(&mut self, body: &mut Body, is_uniform: bool) {
        for mut stmt in std::mem::take(body) {
            let of_items = matches!(stmt, Stmt::Phase { .. } | Stmt::Collect { .. });
            for inner in stmt.bodies_mut() {
                self.body(inner, is_uniform && !of_items);
            }
            match &stmt {
                Stmt::Let(Let { value, op: Op::Load(Place { root, path }), .. }) => {
                    if let Root::Element(view, at) = root
                        && *view == self.view
                    {
                        let out = self.evaluate((at, None), is_uniform, body);
                        let place = Place { root: Root::Var(out), path: path.clone() };
                        let site = site_of(&stmt).filter(|_| place.is_indexed());
                        let (value, op) = (*value, Op::Load(place));
                        stmt = Stmt::Let(Let { value, op, site });
                    }
                }
                Stmt::Store {
                    place: Place { root: Root::Element(view, at), .. }, value, ..
                } if *view == self.view => {
                    self.evaluate((at, Some(*value)), is_uniform, body);
                    continue;
                }
                _ => {}
            }
            body.push(stmt);
        }
    }

    /// Adds a copy for the item at this position, which takes a value, if one is given; the
    /// variable that has its element.
    fn evaluate(
        &mut self,
        (at, given): (&[Value], Option<Value>),
        uniform: bool,
        into: &mut Body,
    ) -> VarId {
        let Template { values, vars, labels, .. } = self.template;
        let kernel = &mut self.kernel;
        let mut renamer = Renamer::identity(kernel);
        for old in values[0]..values[1] {
            renamer.values[old] = Value(kernel.values.len() as u32);
            kernel.values.push(kernel.values[old]);
        }
        for (value, dim) in &self.template.positions {
            renamer.values[value.index()] = at[usize::from(*dim)];
        }
        let mut fresh = vec![];
        for old in vars[0]..vars[1] {
            renamer.vars[old] = VarId(kernel.vars.len() as u32);
            fresh.push(renamer.vars[old]);
            kernel.vars.push(VarDecl { uniform, ..kernel.vars[old].clone() });
        }
        for old in labels[0]..labels[1] {
            renamer.labels[old as usize] = Label(kernel.labels);
            kernel.labels += 1;
        }
        let out = VarId(kernel.vars.len() as u32);
        let (name, ty) = (self.template.name.clone(), self.template.element);
        kernel.vars.push(VarDecl { name, ty, uniform });
        self.outs.push(out);
        let in_parts = stores_parts(&self.template.body, self.view);
        // Variables are zero where an item begins, and this is one more item.
        for var in fresh.into_iter().chain(in_parts.then_some(out)) {
            let value = Value(kernel.values.len() as u32);
            let ty = kernel.vars[var.index()].ty;
            kernel.values.push(ty);
            into.push(Stmt::Let(Let { value, op: Op::Zero(ty), site: None }));
            into.push(Stmt::Store { place: Place::var(var), value, site: None });
        }
        if let Some(value) = given {
            into.push(Stmt::Store { place: Place::var(out), value, site: None });
        }
        let leaves = returns(&self.template.body);
        if leaves {
            renamer.exit = Some(Label(kernel.labels));
            kernel.labels += 1;
        }
        let mut body = renamer.body(&self.template.body);
        walk_mut(&mut body, &mut |stmt| in_variable(stmt, self.view, out));
        match renamer.exit {
            Some(label) => into.push(Stmt::Block { label, body, product: None }),
            None => into.extend(body),
        }
        out
    }
}

/// An access of the view becomes one of a variable.
fn in_variable(stmt: &mut Stmt, view: ParamId, var: VarId) {
    if accessed(stmt) != Some(view) {
        return;
    }
    let Some(place) = place_mut(stmt) else { return };
    place.root = Root::Var(var);
    let is_indexed = place.is_indexed();
    if let Stmt::Store { site, .. } | Stmt::Let(Let { site, .. }) = stmt {
        *site = site.filter(|_| is_indexed);
    }
}

fn site_of(stmt: &Stmt) -> Option<SiteId> {
    match stmt {
        Stmt::Let(Let { site, .. }) => *site,
        _ => None,
    }
}

/// A store is to a part of an element.
fn stores_parts(body: &[Stmt], view: ParamId) -> bool {
    let mut found = false;
    walk(body, &mut |stmt| {
        found |= accessed(stmt) == Some(view) && place(stmt).is_some_and(|at| !at.path.is_empty());
    });
    found
}
