//! Joins kernels into one: parameters that are the same memory or value are one parameter, kernels
//! of smaller ranges run under guards, item kernels become phases where groups are needed.

use super::edit::{Maker, leave, replace, returns, walk_mut};
use super::input::{Argument, Call, Options, Planted, Region};
use super::pair::Joint;
use super::touch::PreparedCall;
use crate::ir::{
    Access, Body, Kernel, Label, Let, Owner, Param, ParamId, ParamKind, Shape, Stmt, Value,
};
use crate::op::{Binary, Op, Query};
use crate::rename::append;
use crate::types::{Scalar, Types};
use std::collections::HashSet;

/// Where the value of a fused kernel's parameter comes from. Dimensions are the kernel's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Source {
    /// An argument of a node; local memory has none.
    Argument {
        /// The node.
        node: usize,
        /// Its parameter.
        param: ParamId,
    },
    /// One past the last position of a node's items, `u64`: a guard's.
    Limit {
        /// The node.
        node: usize,
        /// The dimension.
        dim: u8,
    },
    /// A node's range, `u64`, where its kernel asks for it.
    Range {
        /// The node.
        node: usize,
        /// The dimension.
        dim: u8,
    },
    /// The extent of an argument's view, `u64`, where the view itself is no parameter any more.
    Extent {
        /// The node.
        node: usize,
        /// Its parameter.
        param: ParamId,
        /// The dimension.
        dim: u8,
    },
    /// A temporary in local memory: no argument.
    Scratch(super::input::MemoryId),
}

/// A parameter of a fused kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Where its value comes from.
    pub source: Source,
    /// The arguments for which it stands: nodes and their parameters.
    pub stands_for: Vec<(usize, ParamId)>,
    /// Of a view: each element of the launch is written before it is read, so earlier contents do
    /// not matter.
    pub discards: bool,
}

/// A kernel that is being made.
pub(crate) struct JoinedKernel {
    pub kernel: Kernel,
    /// By parameter.
    pub parameters: Vec<Parameter>,
}

/// The longest name of a fused kernel; names are for readers.
const LONGEST: usize = 60;

/// The parameters of a kernel that is being made.
struct Bindings<'g> {
    joint: Joint,
    /// By parameter.
    parameters: Vec<Parameter>,
    /// By parameter: what it was given, to find equal ones.
    given: Vec<Option<&'g Argument>>,
}

struct Joiner<'g> {
    joint: Joint,
    kernel: Kernel,
    bindings: Bindings<'g>,
    /// Statements with the number of the kernel that they are of.
    body: Vec<(usize, Stmt)>,
}

/// The name of kernels that are one.
pub(crate) fn named<'k>(kernels: impl Iterator<Item = &'k Kernel>) -> String {
    let names: Vec<&str> = kernels.map(|kernel| &*kernel.name).collect();
    names.join("+").chars().take(LONGEST).collect()
}

/// Joins the kernels of a cluster, in order.
pub(crate) fn join(
    calls: &[PreparedCall<'_>],
    joint: Joint,
    options: Options,
    planted: Planted,
) -> JoinedKernel {
    let kernel = Kernel {
        name: named(calls.iter().map(|call| &*call.call.kernel)),
        shape: Shape { rank: joint.rank, groups: joint.groups, group: 0, block: [0; 3], tile: 1 },
        types: Types::default(),
        params: vec![],
        vars: vec![],
        sites: vec![],
        values: vec![],
        labels: 0,
        body: vec![],
    };
    let bindings = Bindings { joint, parameters: vec![], given: vec![] };
    let mut joiner = Joiner { joint, kernel, bindings, body: vec![] };
    let mut guarded: Option<([u64; 3], Body)> = None;
    for (at, call) in calls.iter().enumerate() {
        let body = joiner.append(at, call);
        let range = call.call.geometry.range;
        let partial = range != joint.range && !planted.no_guards;
        if let Some((of, mut earlier)) = guarded.take() {
            if partial && of == range && !joint.groups {
                // One guard for neighbours of one range.
                earlier.extend(body);
                guarded = Some((of, earlier));
                continue;
            }
            joiner.guard(at - 1, &calls[at - 1], earlier);
        }
        match partial {
            true => guarded = Some((range, body)),
            false => joiner.place(at, call.call, body),
        }
    }
    if let Some((_, body)) = guarded
        && let Some(last) = calls.last()
    {
        joiner.guard(calls.len() - 1, last, body);
    }
    let Joiner { mut kernel, bindings, body, .. } = joiner;
    kernel.body = match joint.groups && !options.insert_barriers {
        true => merge_phases(&mut kernel, body),
        false => body.into_iter().map(|(_, stmt)| stmt).collect(),
    };
    JoinedKernel { kernel, parameters: bindings.parameters }
}

fn access(a: Access, b: Access) -> Access {
    if a == b { a } else { Access::InOut }
}

fn owner(a: (Access, Owner), b: (Access, Owner)) -> Owner {
    match (a, b) {
        ((Access::In, _), (Access::In, owner)) => owner,
        ((Access::In, _), (_, owner)) | ((_, owner), (Access::In, _)) => owner,
        ((_, a), (_, b)) if a == b => a,
        _ => Owner::Anyone,
    }
}

impl<'g> Bindings<'g> {
    /// The parameter for a number, by where that comes from.
    fn number(&mut self, into: &mut Kernel, name: String, source: Source) -> ParamId {
        let known = self.parameters.iter().position(|param| param.source == source);
        let at = known.unwrap_or_else(|| {
            into.params.push(Param { name, kind: ParamKind::Scalar(Scalar::U64.into()) });
            self.parameters.push(Parameter { source, stands_for: vec![], discards: false });
            self.given.push(None);
            self.given.len() - 1
        });
        ParamId(at as u32)
    }

    fn bind(
        &mut self,
        into: &mut Kernel,
        (at, node, call): (usize, usize, &'g Call),
        id: ParamId,
        mut param: Param,
    ) -> ParamId {
        let argument = call.arguments.get(id.index());
        let partial = call.geometry.range != self.joint.range;
        let mut discards = false;
        if let ParamKind::View { access, owner, .. } = &mut param.kind
            && *access == Access::Out
        {
            // A part of the items does not write all elements.
            discards = !partial && *owner != Owner::Anyone;
            *access = if partial { Access::InOut } else { Access::Out };
        }
        let known = argument.and_then(|given| self.known(into, given, &param.kind));
        let bound = match known {
            Some(known) => {
                merge(&mut into.params[known.index()].kind, &param.kind);
                known
            }
            None => {
                into.params.push(Param { name: format!("{at}.{}", param.name), kind: param.kind });
                let source = Source::Argument { node, param: id };
                self.parameters.push(Parameter { source, stands_for: vec![], discards });
                self.given.push(argument);
                ParamId(self.given.len() as u32 - 1)
            }
        };
        self.parameters[bound.index()].stands_for.push((node, id));
        bound
    }

    /// The parameter that stands for an equal argument (FUSE-07).
    fn known(&self, into: &Kernel, given: &Argument, kind: &ParamKind) -> Option<ParamId> {
        let fits = |(known, param): (&Option<&Argument>, &Param)| match (known, given) {
            (Some(Argument::View { region: a, .. }), Argument::View { region: b, .. }) => {
                a == b && same_elements(&param.kind, kind)
            }
            (
                Some(Argument::Scalar { bytes: a, fixed: true }),
                Argument::Scalar { bytes: b, fixed: true },
            ) => a == b && param.kind == *kind,
            _ => false,
        };
        let at = self.given.iter().zip(&into.params).position(fits)?;
        Some(ParamId(at as u32))
    }
}

impl<'g> Joiner<'g> {
    /// Adds a kernel's parts; its body, without a guard.
    fn append(&mut self, at: usize, prepared: &PreparedCall<'g>) -> Body {
        let (node, call) = (prepared.node, prepared.call);
        let Joiner { kernel, bindings, .. } = self;
        let first_site = kernel.sites.len();
        let renamer = append(kernel, &call.kernel, &mut |into, id, param| {
            bindings.bind(into, (at, node, call), id, param)
        });
        for site in &mut kernel.sites[first_site..] {
            site.file = format!("{at}:{}", site.file);
        }
        let mut body = renamer.body(&call.kernel.body);
        self.ranges(at, node, call, &mut body);
        // A phase of its own is left by `return`; else the next kernel follows.
        if returns(&body) && (call.kernel.shape.groups || !self.joint.groups) {
            let label = Label(self.kernel.labels);
            self.kernel.labels += 1;
            leave_outside_of_phases(&mut body, label);
            body = vec![Stmt::Block { label, body, product: None }];
        }
        body
    }

    /// A kernel's own range, where the launch's is another one.
    fn ranges(&mut self, at: usize, node: usize, call: &Call, body: &mut Body) {
        let joint = self.joint.range;
        let differs: [bool; 3] = std::array::from_fn(|dim| call.geometry.range[dim] != joint[dim]);
        let mut asked = vec![];
        crate::ir::walk(body, &mut |stmt| {
            if let Stmt::Let(Let { op: Op::Query { query: Query::Range, dim, .. }, .. }) = stmt
                && differs[usize::from(*dim)]
                && !asked.contains(dim)
            {
                asked.push(*dim);
            }
        });
        let Joiner { kernel, bindings, .. } = self;
        let number = |dim| {
            // No parameter of a kernel's has a dot in its name.
            let name = format!("{at}.range.{dim}");
            (dim, bindings.number(kernel, name, Source::Range { node, dim }))
        };
        let numbers: Vec<_> = asked.into_iter().map(number).collect();
        walk_mut(body, &mut |stmt| {
            if let Stmt::Let(Let { op, .. }) = stmt
                && let Op::Query { query: Query::Range, dim, .. } = op
                && let Some((_, param)) = numbers.iter().find(|(known, _)| known == dim)
            {
                *op = Op::Arg(*param);
            }
        });
    }

    /// Adds a kernel's body under a guard: its items are those below its limits.
    fn guard(&mut self, at: usize, prepared: &PreparedCall<'g>, then: Body) {
        let (node, range) = (prepared.node, prepared.call.geometry.range);
        let dims = (0..self.joint.rank).filter(|dim| {
            let dim = usize::from(*dim);
            range[dim] != self.joint.range[dim]
        });
        let dims: Vec<u8> = dims.collect();
        let Joiner { kernel, bindings, .. } = self;
        let limit = |dim| {
            let name = format!("{at}.limit.{dim}");
            (dim, bindings.number(kernel, name, Source::Limit { node, dim }))
        };
        let limits: Vec<_> = dims.into_iter().map(limit).collect();
        let mut maker = Maker { kernel: &mut self.kernel, body: vec![] };
        let mut conditions = vec![];
        for (dim, limit) in limits {
            let position = maker.index(Op::Query { query: Query::Position, dim, copy: 0 });
            let limit = maker.index(Op::Arg(limit));
            conditions.push(maker.below(position, limit));
        }
        let cond = maker.all(&conditions);
        let mut body = maker.body;
        match cond {
            Some(cond) => body.push(Stmt::If { cond, then, otherwise: vec![] }),
            None => body.extend(then),
        }
        self.place(at, prepared.call, body);
    }

    fn place(&mut self, at: usize, call: &Call, body: Body) {
        if self.joint.groups && !call.kernel.shape.groups {
            self.body.push((at, Stmt::Phase { once: false, body }));
        } else {
            self.body.extend(body.into_iter().map(|stmt| (at, stmt)));
        }
    }
}

/// A parameter's view is used by one more kernel.
fn merge(known: &mut ParamKind, more: &ParamKind) {
    if let ParamKind::View { access: a, owner: x, .. } = known
        && let ParamKind::View { access: b, owner: y, .. } = more
    {
        *x = owner((*a, *x), (*b, *y));
        *a = access(*a, *b);
    }
}

/// Views of the same elements, whatever is done with them.
pub(crate) fn same_elements(a: &ParamKind, b: &ParamKind) -> bool {
    match (a, b) {
        (
            ParamKind::View { element: a, rank: m, .. },
            ParamKind::View { element: b, rank: n, .. },
        ) => a == b && m == n,
        _ => false,
    }
}

fn leave_outside_of_phases(body: &mut Body, label: Label) {
    for stmt in body {
        match stmt {
            Stmt::Return => *stmt = Stmt::Break(label),
            Stmt::Phase { .. } | Stmt::Collect { .. } => {}
            other => {
                for inner in other.bodies_mut() {
                    leave_outside_of_phases(inner, label);
                }
            }
        }
    }
}

/// An operation that may be done earlier.
fn is_pure(op: &Op) -> bool {
    !matches!(
        op,
        Op::Load(_)
            | Op::Atomic(..)
            | Op::Subgroup(..)
            | Op::SubgroupFold(..)
            | Op::Binary(Binary::Div | Binary::Rem, ..)
    )
}

/// Phases of different kernels that follow each other become one, without a barrier between them:
/// their items do not meet (FUSE-02). Uniform values between them come before both.
fn merge_phases(kernel: &mut Kernel, body: Vec<(usize, Stmt)>) -> Body {
    let mut out: Vec<(usize, Stmt)> = vec![];
    // Uniform values that are not there before the last phase.
    let mut late: HashSet<Value> = HashSet::new();
    for (of, stmt) in body {
        let after_phase = matches!(out.last(), Some((_, Stmt::Phase { once: false, .. })));
        match stmt {
            Stmt::Let(define) => {
                let early = after_phase
                    && is_pure(&define.op)
                    && !define.op.operands().iter().any(|value| late.contains(value));
                if early {
                    out.insert(out.len() - 1, (of, Stmt::Let(define)));
                } else {
                    late.insert(define.value);
                    out.push((of, Stmt::Let(define)));
                }
            }
            Stmt::Phase { once: false, body } => {
                let joins = matches!(
                    out.last(),
                    Some((before, Stmt::Phase { once: false, body: first }))
                        if *before != of && may_follow(first, &body)
                );
                match out.pop() {
                    Some((_, Stmt::Phase { body: first, .. })) if joins => {
                        let body = one_after_other(kernel, first, body);
                        out.push((of, Stmt::Phase { once: false, body }));
                    }
                    last => {
                        out.extend(last);
                        late.clear();
                        out.push((of, Stmt::Phase { once: false, body }));
                    }
                }
            }
            other => out.push((of, other)),
        }
    }
    out.into_iter().map(|(_, stmt)| stmt).collect()
}

/// Sub-group operations stay where every item arrives.
fn may_follow(first: &Body, second: &Body) -> bool {
    let (mut together, mut leaves) = (false, false);
    for body in [first, second] {
        crate::ir::walk(body, &mut |stmt| {
            let Stmt::Let(define) = stmt else { return };
            together |= matches!(define.op, Op::Subgroup(..) | Op::SubgroupFold(..));
        });
    }
    crate::ir::walk(first, &mut |stmt| {
        leaves |= matches!(stmt, Stmt::Return | Stmt::Assert { .. });
    });
    !(together && leaves)
}

fn one_after_other(kernel: &mut Kernel, mut first: Body, second: Body) -> Body {
    if returns(&first) {
        let label = Label(kernel.labels);
        kernel.labels += 1;
        leave(&mut first, label);
        first = vec![Stmt::Block { label, body: first, product: None }];
    }
    first.extend(second);
    first
}

/// Fixed scalars that bound loops or divide become constants; their parameters stay, unused.
pub(crate) fn bake(joined: &mut JoinedKernel, calls: &[PreparedCall<'_>]) -> u32 {
    let kernel = &mut joined.kernel;
    let mut wanted: HashSet<Value> = HashSet::new();
    crate::ir::walk(&kernel.body, &mut |stmt| match stmt {
        Stmt::For { start, end, .. } => wanted.extend([*start, *end]),
        Stmt::Let(Let { op: Op::Binary(Binary::Div | Binary::Rem, _, by), .. }) => {
            wanted.insert(*by);
        }
        _ => {}
    });
    let known = |param: ParamId| {
        let Source::Argument { node, param } = joined.parameters.get(param.index())?.source else {
            return None;
        };
        let call = calls.iter().find(|call| call.node == node)?;
        match call.call.arguments.get(param.index())? {
            Argument::Scalar { bytes, fixed: true } => Some(super::touch::word(bytes)),
            _ => None,
        }
    };
    let types = kernel.values.clone();
    let mut baked = 0;
    replace(&mut kernel.body, &mut |mut stmt, out| {
        if let Stmt::Let(Let { value, op, .. }) = &mut stmt
            && let Op::Arg(param) = *op
            && wanted.contains(value)
            && let Some(scalar) = types.get(value.index()).and_then(|ty| ty.scalar())
            && let Some(bits) = known(param)
        {
            *op = Op::Const(scalar, bits & scalar.mask());
            baked += 1;
        }
        out.push(stmt);
    });
    baked
}

/// The region of a fused view.
pub(crate) fn region<'g>(
    parameter: &Parameter,
    calls: &'g [PreparedCall<'_>],
) -> Option<&'g Region> {
    let Source::Argument { node, param } = parameter.source else { return None };
    let call = calls.iter().find(|call| call.node == node)?;
    call.call.region(param)
}
