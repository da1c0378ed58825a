//! References: parameters `&T` and `&mut T` of device functions, `&x` and `&mut x` where they are
//! called, and variables that stand for elements of arrays. In the tree there are none: what is
//! lent to be read is its value, and what is lent to be changed is the caller's variable.

use super::rights::Access;
use super::{Both, Walk};
use crate::parameter::By;
use crate::refused::refuse_type;
use crate::tree::Tree;
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Expr, ExprClosure, ExprMethodCall, ExprPath, ExprReference, Pat, ReturnType};

/// A variable that the source takes for a reference.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Alias {
    /// It is one: `&`, or with `true` `&mut`.
    Reference(bool),
    /// It is a value, of an array that is gone through.
    Copy,
}

impl Walk {
    /// A parameter is taken like this.
    pub fn takes(&mut self, at: u16, by: By) {
        let lent = match by {
            By::Value => return,
            By::Reference => Alias::Reference(false),
            By::Change => Alias::Reference(true),
        };
        self.lent.insert(at, lent);
    }

    /// What this variable is taken for.
    fn lent(&self, of: &Expr) -> Option<Alias> {
        self.lent.get(&self.number(bare(of))?).copied()
    }

    /// Whether `*of` is what `of` refers to.
    pub(super) fn is_lent(&self, of: &Expr) -> bool {
        self.lent(of).is_some()
    }

    /// `let x = &..`: a variable of its own, as what is lent does not change meanwhile.
    pub(super) fn lets_reference(&mut self, pat: &Pat) {
        match pat {
            Pat::Wild(_) => {}
            Pat::Ident(name) if name.mutability.is_none() => {
                let at = self.scopes.find(&name.ident);
                self.lent.extend(at.map(|at| (at, Alias::Copy)));
            }
            _ => {
                self.refuse(pat.span(), "a reference has a name without `mut` and type here");
            }
        }
    }

    /// The value of a variable, in Rust.
    pub(super) fn value_of(&self, at: u16, path: &ExprPath) -> TokenStream {
        match self.lent.get(&at) {
            Some(Alias::Reference(_)) => quote_spanned!(path.span() => (*#path)),
            Some(Alias::Copy) | None => path.to_token_stream(),
        }
    }

    /// Refuses an assignment to a reference, and not to what it refers to.
    pub(super) fn refuse_reference(&mut self, to: &Expr) {
        if self.is_lent(to) {
            let name = bare(to).to_token_stream();
            self.refuse(to.span(), format!("`{name}` is a reference; write `*{name} = ..`"));
        }
    }

    /// An argument of a function of the program's.
    pub(super) fn argument(&mut self, arg: &Expr) -> Both {
        match bare(arg) {
            Expr::Reference(lends) => self.lends(lends),
            Expr::Closure(closure) => self.given_closure(closure),
            of if self.is_closure(of) => {
                let (native, tree) = self.expr(arg);
                (quote_spanned!(of.span() => &#native), tree)
            }
            of if self.is_item_of_phase(of) => {
                self.plan.give_up(of.span());
                let (native, tree) = self.expr(arg);
                (quote_spanned!(of.span() => ::folio::ir::device::item_of(#native)), tree)
            }
            of => {
                let (native, tree) = self.expr(arg);
                match self.lent(of) {
                    Some(Alias::Reference(true)) => {
                        (quote_spanned!(of.span() => &mut #native), tree)
                    }
                    Some(_) => (quote_spanned!(of.span() => &#native), tree),
                    None => (native, tree),
                }
            }
        }
    }

    fn is_item_of_phase(&self, of: &Expr) -> bool {
        let item = self.known.item_number().filter(|_| self.known.is_grouped());
        item.is_some() && self.number(bare(of)) == item
    }

    /// A parameter that is a closure.
    pub(super) fn is_closure(&self, of: &Expr) -> bool {
        self.number(bare(of)).is_some_and(|at| self.closures.contains(&at))
    }

    /// Refuses a closure's name that comes from another macro than the closure: Rust looks for a
    /// function of that name, and calls another one than the description.
    pub(super) fn refuse_other(&mut self, path: &ExprPath) -> Option<Both> {
        let name = path.path.get_ident().filter(|name| !self.scopes.is_own(name))?;
        let text = format!(
            "the closure `{name}` and this name come from different macros; give the closure another name"
        );
        Some(self.refuse(path.span(), text))
    }

    /// `let f = |x| ..;`, which is inlined where it is called.
    pub(super) fn let_closure(&mut self, pat: &Pat, closure: &ExprClosure) -> Both {
        let name = match pat {
            Pat::Ident(name) if name.mutability.is_none() && name.by_ref.is_none() => name,
            other => {
                return self.refuse(other.span(), "a closure has a name without `mut` and type");
            }
        };
        if self.known.group.is_some() {
            let text = "in kernels of groups closures have no names; write a `#[device_fn]`";
            return self.refuse(closure.span(), text);
        }
        if let Some(token) = &closure.capture {
            return self.refuse(
                token.span(),
                "a closure has what is around it as it is; leave out `move`",
            );
        }
        let (native, tree) = self.given_closure(closure);
        let pattern = self.scopes.pattern(pat, &mut self.errors);
        self.closures.extend(self.scopes.find(&name.ident));
        (quote!(let #pat = #native;), Tree::of("let").part(&pattern).part(&tree))
    }

    /// A closure that a function is given. What it names is what it is around here.
    pub(super) fn given_closure(&mut self, closure: &ExprClosure) -> Both {
        let ends_items = std::mem::replace(&mut self.ends_items, false);
        let gives_nothing = std::mem::replace(&mut self.gives_nothing, false);
        let in_closure = std::mem::replace(&mut self.in_closure, true);
        let around = std::mem::take(&mut self.around);
        self.plan.give_up(closure.span());
        self.scopes.enter();
        let patterns: Vec<_> = closure
            .inputs
            .iter()
            .map(|pat| {
                if let Pat::Type(typed) = pat {
                    refuse_type(&typed.ty, self);
                }
                self.scopes.pattern(pat, &mut self.errors)
            })
            .collect();
        let (native, tree) = self.apart(|walk| walk.perhaps(|walk| walk.expr(&closure.body)));
        self.scopes.leave();
        self.around = around;
        (self.ends_items, self.gives_nothing) = (ends_items, gives_nothing);
        self.in_closure = in_closure;
        let (inputs, output) = (&closure.inputs, &closure.output);
        let native = match output {
            ReturnType::Default => quote_spanned!(closure.span() => |#inputs| #native),
            ReturnType::Type(_, ty) => {
                refuse_type(ty, self);
                quote_spanned!(closure.span() => |#inputs| #output { #native })
            }
        };
        let tree = Tree::of("closure").part(&Tree::of("names").parts(&patterns)).part(&tree);
        (native, tree)
    }

    fn lends(&mut self, lends: &ExprReference) -> Both {
        let of = &*lends.expr;
        if self.is_view(of) || self.is_known_by_name(of) {
            return self.refuse(lends.span(), "views are passed as they are; leave out the `&`");
        }
        if lends.mutability.is_none() {
            let (native, tree) = self.expr(of);
            return (quote_spanned!(lends.and_token.span => &#native), tree);
        }
        self.acts += 1;
        self.plan.give_up(lends.span());
        let (target, tree) = self.target(of, Access::Change);
        if !target.is_variable() {
            let text = "of what is in memory or in an array there is no `&mut`: copy it into a variable, and back";
            return self.refuse(lends.span(), text);
        }
        let native = target.read();
        (quote_spanned!(lends.and_token.span => &mut #native), tree)
    }

    /// The call of a method of a variable, which the method may change, and the entry of the
    /// method. Other values a method cannot change.
    pub(super) fn in_place(
        &mut self,
        call: &ExprMethodCall,
        receiver: &TokenStream,
        given: &[TokenStream],
    ) -> Option<(TokenStream, u16)> {
        let number = self.number(root(&call.receiver))?;
        let changes = match self.lent.get(&number) {
            Some(lent) => *lent == Alias::Reference(true),
            None => self.scopes.is_mutable(number),
        };
        let lends = |arg: &Expr| match bare(arg) {
            Expr::Reference(lends) => lends.mutability.is_some(),
            of => self.lent(of) == Some(Alias::Reference(true)),
        };
        if !changes || !self.may_change(number) || call.args.iter().any(lends) {
            return None;
        }
        self.plan.give_up(call.method.span());
        let span = call.method.span();
        let (slot, entry) = self.callee(span);
        let placed = super::call::hidden("device_place", &call.method);
        let [before, args] = ["__before", "__given"]
            .map(|name| Ident::new(name, Span::mixed_site().located_at(span)));
        let given = call.args.iter().zip(given).map(|(arg, native)| match bare(arg) {
            // By value, as the tuple has it.
            Expr::Reference(_) => quote!(*#native),
            of if self.is_lent(of) => quote!(*#native),
            _ => native.clone(),
        });
        let given = super::call::arguments(call.paren_token.span.join(), quote!(#(#given,)*));
        let native = quote_spanned! {span=> {
            ::folio::ir::host_function!(#placed, self);
            let #before = #receiver;
            let #args = #given;
            ::folio::ir::device::in_place::<_, __M, _, _, _>(
                &#slot, #before.#placed::<__M>(), &mut #receiver, #before, #args,
            )
        }};
        Some((native, entry))
    }
}

/// An expression without brackets around.
pub(super) fn bare(of: &Expr) -> &Expr {
    match of {
        Expr::Paren(inner) => bare(&inner.expr),
        Expr::Group(inner) => bare(&inner.expr),
        other => other,
    }
}

/// The variable of which this is a part.
fn root(of: &Expr) -> &Expr {
    match bare(of) {
        Expr::Field(field) => root(&field.base),
        other => other,
    }
}
