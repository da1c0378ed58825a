//! Branches, loops, and ways out.

use super::{Both, NOTHING_RETURNED, Walk, Zone};
use crate::pattern::context;
use crate::tree::Tree;
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Block, Expr, ExprForLoop, ExprIf, ExprRange, Label, Lifetime, RangeLimits};

/// A loop or labelled block around.
pub struct Around {
    label: Option<Lifetime>,
    /// The label in Rust, which reads like no other around: so both forms have the same loop.
    own: Option<Lifetime>,
    number: u16,
    /// `break` and `continue` without label are for loops.
    is_loop: bool,
}

/// The number of a loop or labelled block, and its label in Rust.
type Inside = (u16, Option<Label>);

impl Around {
    /// Its label reads like this one.
    fn is(&self, label: &Lifetime) -> bool {
        self.label.as_ref() == Some(label)
    }
}

impl Walk {
    pub(super) fn branch(&mut self, branch: &ExprIf) -> Both {
        if let Some(anew) = self.if_let(branch) {
            return self.anew(anew);
        }
        let ((cond, cond_tree), there) = self.condition(branch, |walk| {
            let there = walk.decided(&branch.cond);
            (walk.decision(&branch.cond), there)
        });
        let ((then, then_tree), then_on) =
            self.reached(there != Some(false), |walk| walk.block(&branch.then_branch));
        let Some((_, otherwise)) = &branch.else_branch else {
            self.unreached |= there == Some(true) && !then_on;
            return (quote!(if #cond #then), Tree::branch(&cond_tree, &then_tree, None));
        };
        let ((native, tree), else_on) =
            self.reached(there != Some(true), |walk| match &**otherwise {
                Expr::Block(block) => walk.block(&block.block),
                other => {
                    let (native, tree) = walk.expr(other);
                    (native, Tree::gives(&tree))
                }
            });
        self.unreached |= !(then_on || else_on);
        let tree = Tree::branch(&cond_tree, &then_tree, Some(&tree));
        (quote!(if #cond #then else #native), tree)
    }

    /// The condition of an `if` or `while`.
    fn decision(&mut self, cond: &Expr) -> Both {
        let (native, tree) = self.expr(cond);
        (self.decides(cond, native), tree)
    }

    pub(super) fn flow(&mut self, expr: &Expr) -> Both {
        match expr {
            Expr::ForLoop(_) => {}
            Expr::While(_) | Expr::Loop(_) => self.plan.turns_freely(expr.span()),
            _ => self.plan.give_up(expr.span()),
        }
        if !matches!(expr, Expr::Break(_) | Expr::Continue(_) | Expr::Return(_)) {
            // Behind a loop is where it ends, however its turns do.
            return self.reached(true, |walk| walk.flow_within(expr)).0;
        }
        self.skips();
        let both = self.flow_within(expr);
        self.unreached = true;
        both
    }

    fn flow_within(&mut self, expr: &Expr) -> Both {
        match expr {
            Expr::While(repeat) => {
                if let Some(anew) = self.while_let(repeat) {
                    return self.anew(anew);
                }
                let (cond, cond_tree) = self.decision(&repeat.cond);
                let ((number, label), body, tree) =
                    self.inside(repeat.label.as_ref(), true, &repeat.body);
                let tree = Tree::of("while").word(number).part(&cond_tree).part(&tree);
                (quote!(#label while #cond #body), tree)
            }
            Expr::Loop(repeat) => {
                let ((number, label), body, tree) =
                    self.inside(repeat.label.as_ref(), true, &repeat.body);
                (quote!(#label loop #body), Tree::of("loop").word(number).part(&tree))
            }
            Expr::Block(block) => {
                let ((number, label), body, tree) =
                    self.inside(block.label.as_ref(), false, &block.block);
                (quote!(#label #body), Tree::of("scope").word(number).part(&tree))
            }
            Expr::ForLoop(repeat) => self.counted(repeat),
            Expr::Break(leave) => {
                let Some((number, label)) = self.named(leave.label.as_ref(), leave.span()) else {
                    return (quote!(break), Tree::unit());
                };
                let Some(value) = &leave.expr else {
                    let tree = Tree::of("break").word(number).maybe(None);
                    return (quote!(break #label), tree);
                };
                let (native, tree) = self.expr(value);
                let tree = Tree::of("break").word(number).maybe(Some(&tree));
                (quote!(break #label (#native)), tree)
            }
            Expr::Continue(again) => {
                let Some((number, label)) = self.named(again.label.as_ref(), again.span()) else {
                    return (quote!(continue), Tree::unit());
                };
                (quote!(continue #label), Tree::of("continue").word(number))
            }
            Expr::Return(leave) if self.in_closure => {
                self.refuse(leave.span(), "a closure gives its last value, and does not return")
            }
            Expr::Return(leave) if self.zone == Zone::Gives => {
                self.may_leave(leave.span(), "`return`");
                (quote!(()), Tree::unit())
            }
            Expr::Return(leave) => match &leave.expr {
                None if self.zone != Zone::Uniform => {
                    self.may_be_gone();
                    (quote!(return), Tree::of("return").maybe(None))
                }
                None => (quote!(return), Tree::of("return").maybe(None)),
                Some(value) if self.gives_nothing => self.refuse(value.span(), NOTHING_RETURNED),
                Some(value) => {
                    let (native, tree) = self.expr(value);
                    (quote!(return #native), Tree::of("return").maybe(Some(&tree)))
                }
            },
            other => self.unsupported(other),
        }
    }

    /// The body of a loop or labelled block with its label in Rust, and its number.
    fn inside(
        &mut self,
        label: Option<&Label>,
        is_loop: bool,
        block: &Block,
    ) -> (Inside, TokenStream, Tree) {
        let number = self.loops;
        self.loops = self.loops.saturating_add(1);
        let mut own = label.cloned();
        if let Some(Label { name, .. }) = &mut own
            && self.around.iter().any(|around| around.is(name))
        {
            name.ident = Ident::new(&format!("__{}_{number}", name.ident), name.ident.span());
        }
        let (label, name) = (label.map(|l| l.name.clone()), own.as_ref().map(|l| l.name.clone()));
        self.around.push(Around { label, own: name, number, is_loop });
        let (body, tree) = self.block(block);
        self.around.pop();
        ((number, own), body, tree)
    }

    /// The number of what a `break` or `continue` names, and the label that it has in Rust.
    fn named(&mut self, label: Option<&Lifetime>, at: Span) -> Option<(u16, Option<Lifetime>)> {
        let found = match label {
            None => self.around.iter().rev().find(|around| around.is_loop),
            Some(label) => {
                let same = self.around.iter().rev().filter(|around| around.is(label));
                // Of those that come from the same macro, if there are any.
                let of = context(&label.ident);
                let own = |around: &&Around| {
                    around.label.as_ref().is_some_and(|have| context(&have.ident) == of)
                };
                same.clone().find(own).or_else(|| same.clone().next())
            }
        };
        if let Some(around) = found {
            let own = label.zip(around.own.as_ref()).map(|(label, own)| {
                let mut own = own.clone();
                own.ident.set_span(own.ident.span().located_at(label.ident.span()));
                own
            });
            return Some((around.number, own));
        }
        match label {
            Some(label) => {
                let text = format!(
                    "there is no `{label}` around; write it before a loop: `{label}: loop {{ .. }}`"
                );
                self.refuse(label.span(), text)
            }
            None => self.refuse(at, "there is no loop around; to end here, write `return`"),
        };
        None
    }

    fn counted(&mut self, repeat: &ExprForLoop) -> Both {
        if let Some(anew) = self.over_arrays(repeat) {
            return self.expr(&anew);
        }
        let (mut over, mut reversed, mut step) = (&*repeat.expr, false, None);
        loop {
            over = match over {
                Expr::Paren(inner) => &inner.expr,
                Expr::Group(inner) => &inner.expr,
                Expr::MethodCall(call) if call.method == "rev" && !reversed => {
                    reversed = true;
                    &call.receiver
                }
                Expr::MethodCall(call) if call.method == "step_by" && call.args.len() == 1 => {
                    if reversed || step.is_some() {
                        let text = "write `.rev()` before `.step_by(..)`, each once";
                        return self.refuse(call.method.span(), text);
                    }
                    step = call.args.first();
                    &call.receiver
                }
                _ => break,
            };
        }
        let spine = self.spine_loop(repeat);
        let Expr::Range(range) = over else {
            return self.refuse(repeat.expr.span(), self.no_range(over));
        };
        let (Some(start), Some(end)) = (&range.start, &range.end) else {
            return self.refuse(range.span(), "give the range both ends");
        };
        let (first, first_tree) = self.expr(start);
        let (last, last_tree) = self.expr(end);
        let (from, to) = (self.ends(start), self.ends(end));
        let step = step.map(|step| self.expr(step));
        let over = self.range(range, (first, last), reversed, step.as_ref().map(|both| &both.0));
        let inclusive = is_closed(&range.limits);
        self.scopes.enter();
        let pattern = self.scopes.pattern(&repeat.pat, &mut self.errors);
        let known = from.is_some() && to.is_some();
        if let (Some(start), Some(end)) = (from, to) {
            self.learn_as(&repeat.pat, quote!(__Ends::turns(#start, #end, #inclusive)));
        }
        self.learn_turns(&repeat.pat, (start, end));
        self.enter_loop(repeat);
        if spine {
            self.enter_spine_loop(&repeat.pat);
        }
        let body = |walk: &mut Walk| walk.inside(repeat.label.as_ref(), true, &repeat.body);
        let ((number, label), body, tree) = if known { body(self) } else { self.perhaps(body) };
        self.scopes.leave();
        let pat = &repeat.pat;
        if spine {
            self.leave_spine_loop(quote!(#pat), over.clone());
        }
        let counted = Tree::of("for").word(number).part(&pattern).part(&first_tree);
        let counted = counted.part(&last_tree).flag(inclusive).flag(reversed);
        let tree = counted.maybe(step.as_ref().map(|(_, tree)| tree)).part(&tree);
        (quote!(#label for #pat in #over #body), tree)
    }

    /// The advice against a `for` over something else than a range.
    fn no_range(&self, over: &Expr) -> String {
        let mut of = over;
        loop {
            of = match of {
                Expr::Reference(inner) => &inner.expr,
                Expr::Paren(inner) => &inner.expr,
                Expr::MethodCall(call) => &call.receiver,
                _ => break,
            };
        }
        let text = "`for` runs over numbers here";
        match of {
            Expr::Path(path) if self.number(of).is_some() => {
                let name = path.to_token_stream();
                format!("{text}: write `for k in 0..{name}.len()`, and `{name}[k]`")
            }
            _ => format!("{text}: write `for k in a..b`, with `.rev()`, `.step_by(n)`"),
        }
    }

    /// The range of a `for`, in Rust.
    fn range(
        &mut self,
        range: &ExprRange,
        (first, last): (TokenStream, TokenStream),
        reversed: bool,
        step: Option<&TokenStream>,
    ) -> TokenStream {
        let slot = self.new_slot(range.span());
        let limits = &range.limits;
        // Not as a method: a trait of the user's may have one of this name.
        let turned = |range: TokenStream| match reversed {
            true => quote!(::folio::ir::device::rust::iter::Iterator::rev(#range)),
            false => range,
        };
        let Some(step) = step else {
            let (range, closed) = (quote!((#first) #limits (#last)), is_closed(limits));
            return match closed && !reversed {
                true => quote!(#slot.closed::<__M>(#range)),
                false => turned(quote!(#slot.range(#range))),
            };
        };
        let at = Span::mixed_site().located_at(step.span());
        let [from, to, by] = ["__from", "__to", "__by"].map(|name| Ident::new(name, at));
        let stepped = quote_spanned!(step.span() => ::folio::ir::device::stepped);
        let range = turned(quote!(#slot.range(#from #limits #to)));
        quote! {{
            let (#from, #to, #by) = (#first, #last, #step);
            #stepped(#range, #by)
        }}
    }
}

/// `a..=b`
fn is_closed(limits: &RangeLimits) -> bool {
    matches!(limits, RangeLimits::Closed(_))
}
