//! Whether each path of a kernel writes its `Out`s, as far as its syntax tells.
//! `folio_kernel::outputs` shows it of the IR, when a kernel is first used. What is surely refused
//! there is told here, where it is compiled, at the path that does not write.

use crate::body::is_assignment;
use crate::errors::Errors;
use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Block, Expr, ExprMethodCall, FnArg, Lifetime, Pat, Stmt};

use crate::parameter::path_of;

/// Refuses what some path of the body does not write.
pub fn check(signature: &syn::Signature, block: &Block, errors: &mut Errors) {
    let item = item_of(signature);
    let params = signature.inputs.iter().filter_map(|input| Param::of(input, &item));
    let params: Vec<_> = params.collect();
    if params.is_empty() {
        return;
    }
    let written = vec![false; params.len()];
    let start = params.iter().map(|_| Seen::Not(None)).collect();
    let returns = (None, None);
    let mut flow = Flow { params, written, around: vec![], returns, once: false };
    let end = flow.block(block, Some(start));
    let left = std::mem::take(&mut flow.returns);
    let leaves = left.1;
    let Some(all) = join((end, None), left) else { return };
    for (at, seen) in all.iter().enumerate() {
        let param = &flow.params[at];
        match seen {
            Seen::Written => {}
            Seen::Not(_) if !flow.written[at] => {
                let Param { name, ty, place, .. } = param;
                let text = format!(
                    "`{name}` is `{ty}`, and nothing writes it; write `{place} = ..`, or remove it"
                );
                errors.add(name.span(), text);
            }
            // Where no way is known, the IR tells.
            Seen::Not(gap) => gap.or(leaves).into_iter().for_each(|gap| {
                errors.add(gap.at, gap.text(param));
            }),
        }
    }
}

/// The name of the item. That of a group's items is a closure's.
fn item_of(signature: &syn::Signature) -> String {
    let named = |input: &FnArg| match input {
        FnArg::Typed(typed) => match (&*typed.pat, path_of(&typed.ty)) {
            (Pat::Ident(name), Some((ty, _))) if ty == "Item" => Some(name.ident.to_string()),
            _ => None,
        },
        FnArg::Receiver(_) => None,
    };
    signature.inputs.iter().find_map(named).unwrap_or_else(|| "i".to_owned())
}

/// A parameter that is written as a whole.
struct Param {
    name: Ident,
    /// The name of its type.
    ty: String,
    /// Its own element.
    place: String,
    /// The type to declare instead, if there is such.
    instead: Option<String>,
    /// Its element is written in parts, by loops.
    in_parts: bool,
    /// The group's.
    of_group: bool,
}

impl Param {
    /// An input that is one, in a kernel of this item.
    fn of(input: &FnArg, item: &str) -> Option<Param> {
        let FnArg::Typed(typed) = input else { return None };
        let Pat::Ident(name) = &*typed.pat else { return None };
        let (ty, _) = path_of(&typed.ty)?;
        let text = typed.ty.to_token_stream().to_string().replace(' ', "");
        let name = &name.ident;
        let (place, in_parts) = match ty.as_str() {
            "Out" => (format!("{name}[{item}]"), false),
            "OutChunk" => (format!("{name}[{item}]"), true),
            "OutRow" => (format!("{name}[({item}, k)]"), true),
            "OutColumn" => (format!("{name}[(k, {item})]"), true),
            "OutGroup" => (format!("{name}[g]"), false),
            _ => return None,
        };
        let instead = (ty != "OutChunk").then(|| text.replacen("Out", "InOut", 1));
        let of_group = ty == "OutGroup";
        Some(Param { name: name.clone(), ty, place, instead, in_parts, of_group })
    }

    fn is(&self, name: &Ident) -> bool {
        self.name.unraw() == name.unraw()
    }
}

/// A path on which something is not written.
#[derive(Clone, Copy)]
struct Gap {
    at: Span,
    way: Way,
}

#[derive(Clone, Copy)]
enum Way {
    /// An `if` without `else`.
    NoElse,
    /// A branch.
    Branch,
    /// The item leaves.
    Leaves,
    /// A loop, which may have no turns.
    Loop,
}

impl Gap {
    fn branch(of: &impl Spanned) -> Gap {
        Gap { at: of.span(), way: Way::Branch }
    }

    fn text(self, param: &Param) -> String {
        let Param { name, ty, place, instead, .. } = param;
        let text = match self.way {
            Way::NoElse => {
                format!("without `else` this one does not: add `else {{ {place} = ..; }}`")
            }
            Way::Branch => format!("this branch does not: write `{place} = ..` here"),
            Way::Leaves => format!("this leaves before: write `{place} = ..` before"),
            Way::Loop => format!("this loop may have no turns: write `{place} = ..` outside of it"),
        };
        let text = format!("`{name}` is `{ty}`, which every path writes; {text}");
        match instead {
            Some(instead) => {
                format!("{text}, or declare `{name}: {instead}`, which keeps what was there")
            }
            None => text,
        }
    }
}

#[derive(Clone, Copy)]
enum Seen {
    Written,
    /// Not on each path: on this one, if it is known.
    Not(Option<Gap>),
}

/// By parameter; none where nothing gets.
type PathOutputs = Option<Vec<Seen>>;
/// Where ways meet, and the gap that they are if no other way is one.
type Ways = (PathOutputs, Option<Gap>);

/// Adds a state to these ways.
fn add(ways: &mut Ways, state: PathOutputs, gap: Gap) {
    let first = ways.1.or(Some(gap));
    *ways = (join(std::mem::take(ways), (state, Some(gap))), first);
}

/// Where two ways meet, each with the gap that it is if it alone does not write.
fn join((a, of_a): Ways, (b, of_b): Ways) -> PathOutputs {
    let meet = |(a, b): (Seen, Seen)| match (a, b) {
        (Seen::Written, Seen::Written) => Seen::Written,
        (Seen::Written, Seen::Not(gap)) => Seen::Not(gap.or(of_b)),
        (Seen::Not(gap), Seen::Written) => Seen::Not(gap.or(of_a)),
        (Seen::Not(gap), Seen::Not(further)) => Seen::Not(gap.or(further)),
    };
    match (a, b) {
        (Some(a), Some(b)) => Some(a.into_iter().zip(b).map(meet).collect()),
        (a, None) => a,
        (None, b) => b,
    }
}

/// A loop or labelled block.
struct Around {
    label: Option<Lifetime>,
    is_loop: bool,
    /// Where it is left, and the first of these ways.
    breaks: Ways,
}

struct Flow {
    params: Vec<Param>,
    /// Anything writes them.
    written: Vec<bool>,
    around: Vec<Around>,
    /// Where the kernel or phase is left, and the first of these ways.
    returns: Ways,
    once: bool,
}

impl Flow {
    fn block(&mut self, block: &Block, mut state: PathOutputs) -> PathOutputs {
        for stmt in &block.stmts {
            state = match stmt {
                Stmt::Local(local) => match &local.init {
                    Some(init) => self.expr(&init.expr, state),
                    None => state,
                },
                Stmt::Expr(expr, _) => self.expr(expr, state),
                Stmt::Macro(mac) => self.mentions(&mac.mac.tokens, state),
                Stmt::Item(_) => state,
            };
        }
        state
    }

    fn all<'e>(
        &mut self,
        all: impl IntoIterator<Item = &'e Expr>,
        state: PathOutputs,
    ) -> PathOutputs {
        all.into_iter().fold(state, |state, expr| self.expr(expr, state))
    }

    fn expr(&mut self, expr: &Expr, state: PathOutputs) -> PathOutputs {
        match expr {
            Expr::Lit(_) => state,
            Expr::Assign(assign) => {
                let state = self.expr(&assign.right, state);
                self.write(&assign.left, state)
            }
            Expr::Index(index) => {
                let state = self.base(&index.expr, state);
                self.expr(&index.index, state)
            }
            Expr::Paren(inner) => self.expr(&inner.expr, state),
            Expr::Group(inner) => self.expr(&inner.expr, state),
            Expr::Unary(unary) => self.expr(&unary.expr, state),
            Expr::Cast(cast) => self.expr(&cast.expr, state),
            Expr::Field(field) => self.expr(&field.base, state),
            // Refused where it is read, too.
            Expr::Binary(binary) if is_assignment(&binary.op) => {
                let state = self.expr(&binary.right, state);
                self.write(&binary.left, state)
            }
            Expr::If(branch) if matches!(*branch.cond, Expr::Let(_)) => {
                self.mentions(&branch.to_token_stream(), state)
            }
            Expr::Binary(binary) => self.all([&*binary.left, &*binary.right], state),
            Expr::Tuple(tuple) => self.all(&tuple.elems, state),
            Expr::Array(array) => self.all(&array.elems, state),
            Expr::Call(call) => self.all(&call.args, state),
            Expr::Struct(literal) => self.all(literal.fields.iter().map(|f| &f.expr), state),
            Expr::MethodCall(call) => self.method(call, state),
            Expr::If(branch) => {
                let state = self.expr(&branch.cond, state);
                let then = self.block(&branch.then_branch, state.clone());
                let (otherwise, gap) = match &branch.else_branch {
                    None => (state, Gap { at: branch.if_token.span, way: Way::NoElse }),
                    Some((_, block)) => (self.expr(block, state), Gap::branch(block)),
                };
                join((then, Some(Gap::branch(&branch.then_branch))), (otherwise, Some(gap)))
            }
            Expr::Match(choice) => {
                let state = self.expr(&choice.expr, state);
                let mut all = (None, None);
                for arm in &choice.arms {
                    let own = (self.expr(&arm.body, state.clone()), Some(Gap::branch(&arm.body)));
                    // The first way is none of two.
                    all = match all {
                        (None, _) => own,
                        all => (join(all, own), None),
                    };
                }
                all.0
            }
            Expr::Block(block) => match &block.label {
                None => self.block(&block.block, state),
                Some(label) => {
                    let label = Some(label.name.clone());
                    let (end, left) = self.inside(label, false, &block.block, state);
                    join((end, None), left)
                }
            },
            Expr::Loop(repeat) => {
                let label = repeat.label.as_ref().map(|label| label.name.clone());
                self.inside(label, true, &repeat.body, state).1.0
            }
            Expr::While(repeat) => {
                let state = self.expr(&repeat.cond, state);
                let label = repeat.label.as_ref().map(|label| label.name.clone());
                self.turns(label, repeat.while_token.span, &repeat.body, state)
            }
            Expr::ForLoop(repeat) => {
                let state = self.expr(&repeat.expr, state);
                let label = repeat.label.as_ref().map(|label| label.name.clone());
                self.turns(label, repeat.for_token.span, &repeat.body, state)
            }
            Expr::Break(leave) => {
                let state = self.all(leave.expr.as_deref(), state);
                let to = self.around.iter_mut().rev().find(|around| match &leave.label {
                    None => around.is_loop,
                    Some(label) => around.label.as_ref() == Some(label),
                });
                if let Some(to) = to {
                    let gap = Gap { at: leave.break_token.span, way: Way::Leaves };
                    add(&mut to.breaks, state, gap);
                }
                None
            }
            Expr::Continue(_) => None,
            Expr::Return(leave) => {
                let state = self.all(leave.expr.as_deref(), state);
                let gap = Gap { at: leave.return_token.span, way: Way::Leaves };
                add(&mut self.returns, state, gap);
                None
            }
            other => self.mentions(&other.to_token_stream(), state),
        }
    }

    /// The base of an index or a call is not written by it.
    fn base(&mut self, base: &Expr, state: PathOutputs) -> PathOutputs {
        match base {
            Expr::Path(_) => state,
            other => self.expr(other, state),
        }
    }

    fn method(&mut self, call: &ExprMethodCall, state: PathOutputs) -> PathOutputs {
        const PHASES: &[&str] =
            &["each", "once", "reduce", "inclusive_scan", "exclusive_scan", "fill"];
        let mut state = self.base(&call.receiver, state);
        for arg in &call.args {
            state = match arg {
                Expr::Closure(phase) if PHASES.iter().any(|name| call.method == name) => {
                    let outside = std::mem::take(&mut self.returns);
                    let once = std::mem::replace(&mut self.once, call.method == "once");
                    let end = self.expr(&phase.body, state);
                    self.once = once;
                    join((end, None), std::mem::replace(&mut self.returns, outside))
                }
                arg => self.expr(arg, state),
            };
        }
        state
    }

    /// The body of a loop or labelled block: its end, and where it is left.
    fn inside(
        &mut self,
        label: Option<Lifetime>,
        is_loop: bool,
        block: &Block,
        state: PathOutputs,
    ) -> (PathOutputs, Ways) {
        self.around.push(Around { label, is_loop, breaks: (None, None) });
        let end = self.block(block, state);
        (end, self.around.pop().map(|around| around.breaks).unwrap_or_default())
    }

    /// A loop that may have no turns.
    fn turns(
        &mut self,
        label: Option<Lifetime>,
        at: Span,
        block: &Block,
        state: PathOutputs,
    ) -> PathOutputs {
        let before = std::mem::replace(&mut self.written, vec![false; self.params.len()]);
        self.inside(label, true, block, state.clone());
        let inside = std::mem::replace(&mut self.written, before);
        let mut after = state?;
        for (at_param, seen) in after.iter_mut().enumerate().filter(|(at, _)| inside[*at]) {
            self.written[at_param] = true;
            match seen {
                // All of its parts, perhaps: the IR knows.
                seen if self.params[at_param].in_parts => *seen = Seen::Written,
                Seen::Not(gap @ None) => *gap = Some(Gap { at, way: Way::Loop }),
                _ => {}
            }
        }
        Some(after)
    }

    /// Writes to this.
    fn write(&mut self, to: &Expr, state: PathOutputs) -> PathOutputs {
        let Expr::Index(index) = to else { return self.mentions(&to.to_token_stream(), state) };
        let state = self.expr(&index.index, state);
        let Expr::Path(path) = &*index.expr else {
            return self.mentions(&index.expr.to_token_stream(), state);
        };
        let name = path.path.get_ident();
        let at = name.and_then(|name| self.params.iter().position(|param| param.is(name)));
        match at {
            // A single item of the group writes, and not each of them.
            Some(at) if self.once && !self.params[at].of_group => {
                self.written[at] = true;
                state
            }
            Some(at) => self.wrote(at, state),
            None => state,
        }
    }

    fn wrote(&mut self, at: usize, state: PathOutputs) -> PathOutputs {
        self.written[at] = true;
        let mut all = state?;
        all[at] = Seen::Written;
        Some(all)
    }

    /// A device function, or a refused expression, may write the outputs that its tokens name.
    fn mentions(&mut self, tokens: &TokenStream, mut state: PathOutputs) -> PathOutputs {
        for token in tokens.clone() {
            state = match token {
                TokenTree::Group(group) => self.mentions(&group.stream(), state),
                TokenTree::Ident(name) => {
                    match self.params.iter().position(|param| param.is(&name)) {
                        Some(at) => self.wrote(at, state),
                        None => state,
                    }
                }
                TokenTree::Punct(_) | TokenTree::Literal(_) => state,
            };
        }
        state
    }
}
