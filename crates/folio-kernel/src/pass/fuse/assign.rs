//! The element of a memory that each item has to itself, in a variable: forwarding of stores to
//! loads, and internalisation to registers.

use super::edit::accessed;
use crate::ir::{Body, Label, Let, ParamId, Root, Stmt, VarId};
use crate::op::Op;
use std::collections::HashMap;

/// The accesses of one view, all of which are to the item's own element, made accesses of a
/// variable.
pub(crate) struct Assign {
    /// The view.
    pub param: ParamId,
    /// The variable for its element.
    pub var: VarId,
    /// Stores reach the memory as well.
    pub keeps_stores: bool,
    /// All loads are of the variable, which has the earlier contents at the beginning. Else those
    /// that follow a store of the whole element on every path.
    pub takes_loads: bool,
    /// A load that no store precedes on every path.
    pub missed: bool,
    /// Loads that are of the variable now.
    pub loads: u32,
    breaks: HashMap<Label, State>,
    left: State,
}

/// Whether the variable has what the memory would have; none where nothing gets.
type State = Option<bool>;

fn join(a: State, b: State) -> State {
    match (a, b) {
        (Some(a), Some(b)) => Some(a && b),
        (a, None) => a,
        (None, b) => b,
    }
}

impl Assign {
    pub fn new(param: ParamId, var: VarId, keeps_stores: bool, takes_loads: bool) -> Assign {
        let breaks = HashMap::new();
        let (missed, loads, left) = (false, 0, None);
        Assign { param, var, keeps_stores, takes_loads, missed, loads, breaks, left }
    }

    /// Changes a body.
    pub fn run(&mut self, body: &mut Body) {
        self.body(body, Some(false));
    }

    fn body(&mut self, body: &mut Body, mut state: State) -> State {
        for stmt in std::mem::take(body) {
            state = self.stmt(stmt, state, body);
        }
        state
    }

    fn stmt(&mut self, mut stmt: Stmt, state: State, out: &mut Body) -> State {
        if accessed(&stmt) == Some(self.param) {
            return self.access(stmt, state, out);
        }
        let after = match &mut stmt {
            Stmt::If { then, otherwise, .. } => {
                let yes = self.body(then, state);
                let no = self.body(otherwise, state);
                join(yes, no)
            }
            Stmt::Block { label, body, .. } => {
                let label = *label;
                let end = self.body(body, state);
                join(end, self.breaks.remove(&label).flatten())
            }
            Stmt::Loop { label, body } => {
                // A view that is written at the entry is written in every turn: stores take nothing
                // away.
                let label = *label;
                self.body(body, state);
                self.breaks.remove(&label).flatten()
            }
            Stmt::For { label, body, .. } => {
                let label = *label;
                self.body(body, state);
                join(state, self.breaks.remove(&label).flatten())
            }
            Stmt::Phase { once, body } => {
                let once = *once;
                let outside = self.left.take();
                let end = self.body(body, state);
                let end = join(end, std::mem::replace(&mut self.left, outside));
                if once { join(state, end) } else { end }
            }
            Stmt::Collect { body, .. } => self.body(body, state),
            Stmt::Break(label) => {
                let before = self.breaks.remove(label).flatten();
                self.breaks.insert(*label, join(before, state));
                None
            }
            Stmt::Return => {
                self.left = join(self.left, state);
                None
            }
            Stmt::Continue(_) => None,
            _ => state,
        };
        out.push(stmt);
        after
    }

    fn access(&mut self, mut stmt: Stmt, state: State, out: &mut Body) -> State {
        let known = self.takes_loads || state != Some(false);
        match &mut stmt {
            Stmt::Let(Let { op: Op::Load(place), .. }) => {
                self.missed |= state == Some(false);
                if known {
                    place.root = Root::Var(self.var);
                    self.loads += 1;
                }
                out.push(stmt);
                state
            }
            Stmt::Store { place, .. } => {
                let whole = place.path.is_empty();
                if whole || known {
                    let mut own = stmt.clone();
                    if let Stmt::Store { place, site, .. } = &mut own {
                        place.root = Root::Var(self.var);
                        if !place.is_indexed() {
                            *site = None;
                        }
                    }
                    out.push(own);
                }
                if self.keeps_stores {
                    out.push(stmt);
                }
                if whole { state.map(|_| true) } else { state }
            }
            // Atomic operations are not in such views.
            _ => {
                out.push(stmt);
                state
            }
        }
    }
}

/// Removes stores of a view's element that a later one, on the same level, overwrites as a whole
/// before any load: how many. (Items have elements of their own, and all accesses are in bounds.)
pub(crate) fn drop_overwritten(body: &mut Body, param: ParamId) -> u32 {
    let mut dropped = 0;
    let mut kept = vec![];
    let mut overwritten = false;
    for mut stmt in std::mem::take(body).into_iter().rev() {
        match &stmt {
            Stmt::Store { place, .. } if accessed(&stmt) == Some(param) => {
                if overwritten {
                    dropped += 1;
                    continue;
                }
                overwritten = place.path.is_empty();
            }
            _ => overwritten &= !loads_or_leaves(std::slice::from_ref(&stmt), param),
        }
        for inner in stmt.bodies_mut() {
            dropped += drop_overwritten(inner, param);
        }
        kept.push(stmt);
    }
    kept.reverse();
    *body = kept;
    dropped
}

/// Something in it loads the view, or may skip what follows it.
fn loads_or_leaves(body: &[Stmt], param: ParamId) -> bool {
    let mut found = false;
    crate::ir::walk(body, &mut |stmt| {
        let leaves = matches!(stmt, Stmt::Return | Stmt::Break(_) | Stmt::Continue(_));
        let is_let = matches!(stmt, Stmt::Let(_));
        found |= leaves || (is_let && accessed(stmt) == Some(param));
    });
    found
}
