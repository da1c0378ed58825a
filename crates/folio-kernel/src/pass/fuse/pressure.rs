//! How many registers a kernel needs, about: for deciding whether a fused kernel still has as many
//! threads in flight as its device wants (FUSE-14).

use super::edit::place;
use crate::ir::{Body, Kernel, Let, Root, Stmt, Value, VarId, walk};
use crate::op::Op;
use crate::types::Type;
use std::collections::HashSet;

/// The most 32-bit words that values and variables of one item take at one point, in the order in
/// which the kernel is written.
///
/// Literals, arguments, extents and answers that a whole group shares count as nothing: they are
/// constants, or in registers that threads share. Compilers add addresses and reorder, so the
/// number serves to compare kernels, not to say what a device needs.
pub fn registers(kernel: &Kernel) -> u32 {
    let mut free = vec![false; kernel.values.len()];
    walk(&kernel.body, &mut |stmt| {
        if let Stmt::Let(Let { value, op, .. }) = stmt {
            free[value.index()] = match op {
                Op::Const(..) | Op::Zero(_) | Op::Arg(_) | Op::Extent(..) => true,
                Op::Query { query, .. } => query.is_uniform(),
                _ => false,
            };
        }
    });
    let mut pressure = Pressure { kernel, free, live: Live::default(), most: 0 };
    pressure.body(&kernel.body);
    pressure.most
}

#[derive(Clone, Default)]
struct Live {
    values: HashSet<Value>,
    vars: HashSet<VarId>,
}

struct Pressure<'k> {
    kernel: &'k Kernel,
    /// By value: it takes no register.
    free: Vec<bool>,
    /// What is used after this point.
    live: Live,
    most: u32,
}

impl Pressure<'_> {
    fn words(&self, ty: Type) -> u32 {
        u32::try_from(self.kernel.types.layout(ty).0.div_ceil(4)).unwrap_or(u32::MAX)
    }

    fn look(&mut self) {
        let values = self.live.values.iter().filter_map(|value| self.kernel.type_of(*value));
        let vars = self.live.vars.iter().filter_map(|var| self.kernel.vars.get(var.index()));
        let types = values.chain(vars.map(|var| var.ty));
        let words = types.map(|ty| self.words(ty)).fold(0, u32::saturating_add);
        self.most = self.most.max(words);
    }

    /// Goes through a body from its end.
    fn body(&mut self, body: &Body) {
        for stmt in body.iter().rev() {
            self.stmt(stmt);
        }
    }

    fn uses(&mut self, stmt: &Stmt) {
        let used = stmt.operands().into_iter().filter(|value| !self.free[value.index()]);
        self.live.values.extend(used);
    }

    fn stmt(&mut self, stmt: &Stmt) {
        let var = place(stmt).and_then(|place| match place.root {
            Root::Var(var) => Some((var, place.path.is_empty())),
            Root::Element(..) => None,
        });
        match (stmt, var) {
            (Stmt::Let(define), var) => {
                self.look();
                self.live.values.remove(&define.value);
                self.live.vars.extend(var.map(|(var, _)| var));
            }
            (Stmt::Store { .. }, Some((var, whole))) => {
                self.look();
                if whole {
                    self.live.vars.remove(&var);
                } else {
                    self.live.vars.insert(var);
                }
            }
            _ => {}
        }
        self.uses(stmt);
        let turns = matches!(stmt, Stmt::For { .. } | Stmt::Loop { .. });
        if turns {
            // What a turn uses, the next one does.
            self.live_in(stmt);
        }
        if let Stmt::For { index, .. } = stmt {
            self.live.values.insert(*index);
        }
        let after = self.live.clone();
        let mut before = after.clone();
        for inner in stmt.bodies() {
            self.live = after.clone();
            self.body(inner);
            before.values.extend(&self.live.values);
            before.vars.extend(&self.live.vars);
        }
        self.live = before;
        if let Stmt::For { index, .. } = stmt {
            self.live.values.remove(index);
        }
        self.look();
    }

    /// All that the bodies of a loop take from outside, and their variables.
    fn live_in(&mut self, stmt: &Stmt) {
        let (mut defined, mut used) = (HashSet::new(), HashSet::new());
        let mut vars = vec![];
        for body in stmt.bodies() {
            walk(body, &mut |stmt| {
                match stmt {
                    Stmt::Let(define) => defined.insert(define.value),
                    Stmt::For { index, .. } => defined.insert(*index),
                    _ => false,
                };
                used.extend(stmt.operands());
                if let Some(place) = place(stmt)
                    && let Root::Var(var) = place.root
                {
                    vars.push(var);
                }
            });
        }
        let outside = used.difference(&defined).filter(|value| !self.free[value.index()]);
        self.live.values.extend(outside);
        self.live.vars.extend(vars);
    }
}
