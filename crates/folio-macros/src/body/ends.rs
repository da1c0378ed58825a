//! Indices that are looked at for a whole block: `x[i - 1]`, `m[(r, k)]`. What does not change but for
//! positions and loop variables has [`Ends`](folio_kernel::device::Ends), written here; where those of an
//! index are inside, the body does not check it.
//!
//! Safety rests on this: an expression here means what it means in the body. So only names have ends that
//! cannot be assigned to, and of which it is certain (hygiene) which variable they are; and only operations
//! with which ends compute.

use super::Walk;
use proc_macro2::{TokenStream, TokenTree};
use quote::quote;
use std::collections::HashMap;
use syn::{BinOp, Expr, ExprMethodCall, Lit, Member, Pat, Type};

/// Tokens of what is known of a name. It is written wherever the name is, so that names made of names would grow
/// without end.
const LONGEST: usize = 400;

fn length(tokens: &TokenStream) -> usize {
    let of = |token| match token {
        TokenTree::Group(group) => 2 + length(&group.stream()),
        _ => 1,
    };
    tokens.clone().into_iter().map(of).sum()
}

/// What is known of names, and the indices that are looked at.
#[derive(Default)]
pub struct Known {
    /// By local: the ends of its value, an expression of those of positions and parameters.
    ends: HashMap<u16, TokenStream>,
    /// The item, and its rank.
    item: Option<(u16, u8)>,
    /// Views, and their ranks.
    views: HashMap<u16, u8>,
    /// Counts what may be outside, for each view and index.
    pub unproved: Vec<TokenStream>,
}

impl Known {
    /// A kernel's item.
    pub fn item(&mut self, at: u16, rank: u8) {
        self.item = Some((at, rank));
    }

    /// A kernel's view.
    pub fn view(&mut self, at: u16, rank: u8) {
        self.views.insert(at, rank);
    }

    /// A kernel's parameter that nobody assigns to.
    pub fn value(&mut self, at: u16, name: &syn::Ident) {
        self.ends.insert(at, quote!(__Ends::of(#name)));
    }
}

impl Walk {
    /// The variable that an expression surely is.
    fn local_of(&self, expr: &Expr) -> Option<u16> {
        match expr {
            Expr::Path(path) => {
                let name = path.path.get_ident().filter(|name| self.scopes.is_plain(name))?;
                self.scopes.find(name)
            }
            Expr::Paren(inner) => self.local_of(&inner.expr),
            _ => None,
        }
    }

    /// The rank of the item, if that is what the expression is.
    fn rank_of_item(&self, expr: &Expr) -> Option<u8> {
        let (at, rank) = self.known.item?;
        (self.local_of(expr)? == at).then_some(rank)
    }

    pub(super) fn is_view(&self, expr: &Expr) -> bool {
        self.local_of(expr).is_some_and(|at| self.known.views.contains_key(&at))
    }

    /// Ends are known of a variable.
    pub(super) fn has_ends(&self, local: u16) -> bool {
        self.known.ends.contains_key(&local)
    }

    /// An index that is not looked at for a whole block: strips would not become vectors.
    pub(super) fn unproved(&mut self, view: &Expr) {
        if self.is_view(view) {
            self.plan.give_up();
        }
    }

    /// Whether a name may be that of a kernel's view or item. Those are not assigned to: all that is said
    /// of them is said of what they are at the beginning.
    pub(super) fn may_be_parameter(&self, expr: &Expr) -> bool {
        let Expr::Path(path) = expr else { return false };
        let Some(name) = path.path.get_ident() else { return false };
        let item = self.known.item.map(|(at, _)| at);
        let is = |at: u16| Some(at) == item || self.known.views.contains_key(&at);
        self.scopes.named(name).any(|(_, at)| is(*at))
    }

    /// The ends of an expression.
    pub(super) fn ends(&self, expr: &Expr) -> Option<TokenStream> {
        match expr {
            Expr::Paren(inner) => self.ends(&inner.expr),
            Expr::Group(inner) => self.ends(&inner.expr),
            Expr::Lit(lit) => match &lit.lit {
                Lit::Int(number) => {
                    let value: u64 = number.base10_digits().parse().ok()?;
                    Some(quote!(__Ends::literal(#value)))
                }
                _ => None,
            },
            Expr::Path(path) => match path.path.get_ident().and_then(|n| self.scopes.find(n)) {
                Some(_) if self.rank_of_item(expr) == Some(1) => Some(quote!(__at[0])),
                Some(_) => self.known.ends.get(&self.local_of(expr)?).cloned(),
                None => Some(quote!(__Ends::of(#path))),
            },
            Expr::Binary(binary) => {
                let (a, b) = (self.ends(&binary.left)?, self.ends(&binary.right)?);
                match binary.op {
                    BinOp::Add(_) => Some(quote!(#a.plus(#b))),
                    BinOp::Sub(_) => Some(quote!(#a.minus(#b))),
                    BinOp::Mul(_) => Some(quote!(#a.times(#b))),
                    _ => None,
                }
            }
            Expr::MethodCall(call) => self.ends_of_call(call),
            Expr::Field(field) => match (&*field.base, &field.member) {
                (Expr::MethodCall(call), Member::Unnamed(dim)) if call.method == "pos" => {
                    let rank = self.rank_of_item(&call.receiver)?;
                    let dim = dim.index as usize;
                    (dim < usize::from(rank)).then(|| quote!(__at[#dim]))
                }
                _ => None,
            },
            Expr::Index(index) => match (&*index.expr, &*index.index) {
                (Expr::MethodCall(call), Expr::Lit(dim)) if call.method == "shape" => {
                    let view = &call.receiver;
                    self.is_view(view).then(|| quote!(__Ends::of(#view.shape()[#dim])))
                }
                _ => None,
            },
            Expr::Cast(cast) => match (&*cast.ty, &*cast.expr) {
                (Type::Path(ty), value) if ty.path.is_ident("usize") => {
                    let ends = self.ends(value)?;
                    Some(quote!(#ends.as_usize()))
                }
                _ => None,
            },
            _ => None,
        }
    }

    fn ends_of_call(&self, call: &ExprMethodCall) -> Option<TokenStream> {
        let view = &call.receiver;
        match (call.method.to_string().as_str(), call.args.first()) {
            ("index", None) if self.rank_of_item(view) == Some(1) => Some(quote!(__at[0])),
            ("len", None) if self.is_view(view) => Some(quote!(__Ends::of(#view.len()))),
            ("wrapping_add", Some(b)) => {
                let (a, b) = (self.ends(view)?, self.ends(b)?);
                Some(quote!(#a.plus(#b)))
            }
            ("wrapping_sub", Some(b)) => {
                let (a, b) = (self.ends(view)?, self.ends(b)?);
                Some(quote!(#a.minus(#b)))
            }
            _ => None,
        }
    }

    /// `let pattern = value;`, whose names are bound already.
    pub(super) fn learn(&mut self, pattern: &Pat, value: &Expr) {
        match (pattern, value) {
            (Pat::Tuple(names), Expr::MethodCall(call)) if call.method == "pos" => {
                let Some(rank) = self.rank_of_item(&call.receiver) else { return };
                if names.elems.len() == usize::from(rank) {
                    for (dim, name) in names.elems.iter().enumerate() {
                        self.learn_as(name, quote!(__at[#dim]));
                    }
                }
            }
            _ => {
                if let Some(ends) = self.ends(value) {
                    self.learn_as(pattern, ends);
                }
            }
        }
    }

    /// A name that cannot be assigned to has these ends.
    pub(super) fn learn_as(&mut self, pattern: &Pat, ends: TokenStream) {
        match pattern {
            Pat::Type(typed) => self.learn_as(&typed.pat, ends),
            Pat::Paren(inner) => self.learn_as(&inner.pat, ends),
            Pat::Ident(name) if name.mutability.is_none() => {
                if let Some(at) = self.scopes.find(&name.ident)
                    && length(&ends) <= LONGEST
                {
                    self.known.ends.insert(at, ends);
                }
            }
            _ => {}
        }
    }

    /// Whether an index is looked at for a whole block; if so, it is from now on.
    pub(super) fn proves(&mut self, view: &Expr, index: &Expr) -> bool {
        self.proof(view, index).is_some_and(|count| {
            let text = count.to_string();
            if self.known.unproved.iter().all(|known| known.to_string() != text) {
                self.known.unproved.push(count);
            }
            true
        })
    }

    fn proof(&self, view: &Expr, index: &Expr) -> Option<TokenStream> {
        let rank = usize::from(*self.known.views.get(&self.local_of(view)?)?);
        if let Some(of_item) = self.rank_of_item(index) {
            return (usize::from(of_item) == rank).then(|| quote!(#view.unproved(__at)));
        }
        let ends = match index {
            Expr::Tuple(tuple) => tuple.elems.iter().map(|e| self.ends(e)).collect(),
            other => self.ends(other).map(|ends| vec![ends]),
        };
        let ends: Vec<_> = ends?;
        (ends.len() == rank).then(|| quote!(#view.unproved([#(#ends),*])))
    }
}
