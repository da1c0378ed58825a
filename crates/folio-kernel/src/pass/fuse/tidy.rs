//! The joined kernel is made small: values that variables only pass on are used directly;
//! variables, values, labels, parameters and types that nothing uses are gone, and the rest is
//! numbered anew.

use super::edit::{accessed, map_operands, place, replace, walk_mut};
use super::join::JoinedKernel;
use crate::ir::{Body, Kernel, Label, Let, ParamId, ParamKind, Root, Stmt, Value, VarId, walk};
use crate::op::{Binary, Op};
use crate::rename::Renamer;
use std::collections::{HashMap, HashSet};

/// Loads of these variables, which fusion has made, become the value that was stored, where that is
/// one and visible.
pub(crate) fn pass_on(kernel: &mut Kernel, vars: &[VarId]) {
    let mut pass = Pass { vars, became: HashMap::new() };
    let mut body = std::mem::take(&mut kernel.body);
    pass.body(&mut body, &mut HashMap::new());
    kernel.body = body;
}

struct Pass<'v> {
    vars: &'v [VarId],
    /// Values that are others now.
    became: HashMap<Value, Value>,
}

type Known = HashMap<VarId, Value>;

impl Pass<'_> {
    fn body(&mut self, body: &mut Body, known: &mut Known) {
        for mut stmt in std::mem::take(body) {
            let became = &self.became;
            map_operands(&mut stmt, &mut |value| {
                *value = became.get(value).copied().unwrap_or(*value);
            });
            match self.own(&stmt) {
                Some((var, true)) => match &stmt {
                    Stmt::Store { value, .. } => {
                        known.insert(var, *value);
                    }
                    Stmt::Let(define) => match known.get(&var) {
                        Some(value) => {
                            self.became.insert(define.value, *value);
                            continue;
                        }
                        // A second load gives the same.
                        None => {
                            known.insert(var, define.value);
                        }
                    },
                    _ => {}
                },
                Some((var, false)) if matches!(stmt, Stmt::Store { .. }) => {
                    known.remove(&var);
                }
                _ => {}
            }
            self.inside(&mut stmt, known);
            body.push(stmt);
        }
    }

    /// One of the variables, and whether it is meant as a whole.
    fn own(&self, stmt: &Stmt) -> Option<(VarId, bool)> {
        let place = place(stmt)?;
        match place.root {
            Root::Var(var) if self.vars.contains(&var) => Some((var, place.path.is_empty())),
            _ => None,
        }
    }

    fn inside(&mut self, stmt: &mut Stmt, known: &mut Known) {
        // The value that a phase gives is defined in it.
        let phase = matches!(stmt, Stmt::Phase { .. } | Stmt::Collect { .. });
        let mut stored = HashSet::new();
        for body in stmt.bodies() {
            walk(body, &mut |stmt| {
                if let Stmt::Store { place, .. } = stmt
                    && let Root::Var(var) = place.root
                {
                    stored.insert(var);
                }
            });
        }
        let repeats = matches!(stmt, Stmt::For { .. } | Stmt::Loop { .. });
        if phase {
            known.clear();
        } else if repeats {
            known.retain(|var, _| !stored.contains(var));
        }
        for body in stmt.bodies_mut() {
            self.body(body, &mut known.clone());
        }
        known.retain(|var, _| !stored.contains(var));
        if let Stmt::Collect { value, .. } = stmt {
            *value = self.became.get(value).copied().unwrap_or(*value);
        }
    }
}

/// Numbers, questions, arguments, and loads of what the kernel only reads, are there once where the
/// first of equal ones is visible.
pub(crate) fn share(kernel: &mut Kernel) {
    let only_read = |param: &crate::Param| {
        matches!(param.kind, ParamKind::View { access: crate::Access::In, .. })
    };
    let only_read: Vec<bool> = kernel.params.iter().map(only_read).collect();
    let mut body = std::mem::take(&mut kernel.body);
    let mut share = Share { only_read, became: HashMap::new() };
    share.body(&mut body, &mut HashMap::new());
    kernel.body = body;
}

struct Share {
    /// By parameter.
    only_read: Vec<bool>,
    /// Values that are others now.
    became: HashMap<Value, Value>,
}

impl Share {
    fn is_shared(&self, op: &Op) -> bool {
        match op {
            Op::Const(..) | Op::Zero(_) | Op::Arg(_) | Op::Extent(..) | Op::Query { .. } => true,
            Op::Load(place) => match place.root {
                Root::Element(param, _) => self.only_read[param.index()],
                Root::Var(_) => false,
            },
            _ => false,
        }
    }

    fn value(&self, value: &mut Value) {
        *value = self.became.get(value).copied().unwrap_or(*value);
    }

    fn body(&mut self, body: &mut Body, known: &mut HashMap<Op, Value>) {
        for mut stmt in std::mem::take(body) {
            map_operands(&mut stmt, &mut |value| self.value(value));
            if let Stmt::Let(define) = &stmt
                && self.is_shared(&define.op)
            {
                if let Some(value) = known.get(&define.op) {
                    self.became.insert(define.value, *value);
                    continue;
                }
                known.insert(define.op.clone(), define.value);
            }
            for inner in stmt.bodies_mut() {
                self.body(inner, &mut known.clone());
            }
            if let Stmt::Collect { value, .. } = &mut stmt {
                self.value(value);
            }
            body.push(stmt);
        }
    }
}

/// The operation has no effect but its result, and an unused result is not missed.
fn is_idle(kernel: &Kernel, op: &Op) -> bool {
    match op {
        Op::Load(place) => !place.is_indexed(),
        Op::Atomic(..) | Op::Subgroup(..) | Op::SubgroupFold(..) => false,
        Op::Binary(Binary::Div | Binary::Rem, a, _) => {
            let scalar = kernel.type_of(*a).and_then(|ty| ty.scalar());
            scalar.is_some_and(|scalar| scalar.is_float())
        }
        _ => true,
    }
}

/// Removes what nothing uses, and numbers the rest anew.
pub(crate) fn tidy(joined: &mut JoinedKernel, vars: &[VarId]) {
    drop_unread(&mut joined.kernel, vars);
    drop_unused(&mut joined.kernel);
    compact(joined);
}

/// Stores to variables of fusion's that nothing loads.
fn drop_unread(kernel: &mut Kernel, vars: &[VarId]) {
    let mut read = HashSet::new();
    walk(&kernel.body, &mut |stmt| {
        if let Stmt::Let(Let { op: Op::Load(place), .. }) = stmt
            && let Root::Var(var) = place.root
        {
            read.insert(var);
        }
    });
    replace(&mut kernel.body, &mut |stmt, out| {
        let unread = match &stmt {
            Stmt::Store { place, .. } => match place.root {
                Root::Var(var) => vars.contains(&var) && !read.contains(&var),
                Root::Element(..) => false,
            },
            _ => false,
        };
        if !unread {
            out.push(stmt);
        }
    });
}

/// Values without effect that nothing uses. Definitions come before uses, so from the end on one
/// pass is enough, for what loops use is visible in them.
fn drop_unused(kernel: &mut Kernel) {
    let mut used = vec![false; kernel.values.len()];
    let mut body = std::mem::take(&mut kernel.body);
    backwards(kernel, &mut body, &mut used);
    kernel.body = body;
}

fn backwards(kernel: &Kernel, body: &mut Body, used: &mut [bool]) {
    let mut kept = vec![];
    for mut stmt in std::mem::take(body).into_iter().rev() {
        if let Stmt::Let(define) = &stmt
            && !used[define.value.index()]
            && is_idle(kernel, &define.op)
        {
            continue;
        }
        for value in stmt.operands() {
            used[value.index()] = true;
        }
        for inner in stmt.bodies_mut().into_iter().rev() {
            backwards(kernel, inner, used);
        }
        kept.push(stmt);
    }
    kept.reverse();
    *body = kept;
}

/// New numbers in the order of first use; what has none is gone.
#[derive(Default)]
struct Numbers {
    new: HashMap<u32, u32>,
}

impl Numbers {
    fn see(&mut self, old: u32) {
        let next = self.new.len() as u32;
        self.new.entry(old).or_insert(next);
    }

    /// By old number; those without a new one have any.
    fn list<T>(&self, count: usize, of: impl Fn(u32) -> T) -> Vec<T> {
        (0..count as u32).map(|old| of(self.new.get(&old).copied().unwrap_or(0))).collect()
    }

    /// The things that stay, in their new order.
    fn keep<T: Clone>(&self, all: &[T]) -> Vec<T> {
        let mut kept: Vec<_> = self.new.iter().collect();
        kept.sort_by_key(|(_, new)| **new);
        kept.into_iter().filter_map(|(old, _)| all.get(*old as usize).cloned()).collect()
    }
}

fn compact(joined: &mut JoinedKernel) {
    let JoinedKernel { kernel, parameters } = joined;
    let (mut values, mut vars, mut labels) =
        (Numbers::default(), Numbers::default(), Numbers::default());
    let mut used = vec![false; kernel.params.len()];
    walk(&kernel.body, &mut |stmt| {
        match stmt {
            Stmt::Let(define) => {
                values.see(define.value.0);
                if let Op::Arg(param) | Op::Extent(param, _) = define.op {
                    used[param.index()] = true;
                }
            }
            Stmt::For { label: Label(label), index, .. } => {
                labels.see(*label);
                values.see(index.0);
            }
            Stmt::Loop { label: Label(label), .. } | Stmt::Block { label: Label(label), .. } => {
                labels.see(*label);
            }
            Stmt::Collect { into, .. } => vars.see(into.0),
            _ => {}
        }
        if let Some(param) = accessed(stmt) {
            used[param.index()] = true;
        }
        if let Some(place) = place(stmt)
            && let Root::Var(var) = place.root
        {
            vars.see(var.0);
        }
    });
    let mut params = Numbers::default();
    for (at, param) in kernel.params.iter().enumerate() {
        // A reduction gives its result even where nothing contributes.
        if used[at] || matches!(param.kind, ParamKind::Reduce { .. }) {
            params.see(at as u32);
        }
    }
    let renamer = Renamer {
        values: values.list(kernel.values.len(), Value),
        vars: vars.list(kernel.vars.len(), VarId),
        labels: labels.list(kernel.labels as usize, Label),
        params: params.list(kernel.params.len(), ParamId),
        ..Renamer::identity(kernel)
    };
    kernel.body = renamer.body(&kernel.body);
    kernel.values = values.keep(&kernel.values);
    kernel.vars = vars.keep(&kernel.vars);
    kernel.labels = labels.new.len() as u32;
    kernel.params = params.keep(&kernel.params);
    *parameters = params.keep(parameters);
}

/// An extent of a view that is not accessed becomes a number: `number` gives its parameter.
pub(crate) fn numbers_for_extents(
    kernel: &mut Kernel,
    view: ParamId,
    number: &mut dyn FnMut(&mut Kernel, u8) -> ParamId,
) {
    let mut asked = vec![];
    walk(&kernel.body, &mut |stmt| {
        if let Stmt::Let(Let { op: Op::Extent(param, dim), .. }) = stmt
            && *param == view
            && !asked.contains(dim)
        {
            asked.push(*dim);
        }
    });
    let numbers: Vec<_> = asked.into_iter().map(|dim| (dim, number(kernel, dim))).collect();
    walk_mut(&mut kernel.body, &mut |stmt| {
        if let Stmt::Let(Let { op, .. }) = stmt
            && let Op::Extent(param, dim) = *op
            && param == view
            && let Some((_, param)) = numbers.iter().find(|(known, _)| *known == dim)
        {
            *op = Op::Arg(*param);
        }
    });
}
