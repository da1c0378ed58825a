//! Indices that are looked at for a whole block: `x[i - 1]`, `m[(r, k)]`. Expressions that depend
//! on positions, loop variables and constants alone have [`Ends`](folio_device::Ends), written
//! here; where those of an index are inside, the body does not check it.
//!
//! Safety rests on this: an expression here means what it means in the body. Only names have ends
//! that cannot be assigned to, and of which it is certain (hygiene) which variable they are; only
//! constants whose paths do not have the names of what is around the body alone, such as its mode
//! ([`names`]); and only operations with which ends compute.

use super::Walk;
use super::known::Knowledge;
use crate::names;
use proc_macro2::{Literal, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{
    BinOp, Block, Expr, ExprArray, ExprIf, ExprLit, ExprMethodCall, ExprTuple, Lit, Pat, PatSlice,
    PatTuple, Stmt, Type, UnOp, parse_quote,
};

/// Tokens of the ends of a name. Ends are written wherever the name is, so that names made of names
/// would grow without end.
const LONGEST: usize = 400;

/// Types of integers of which ends are known.
const TYPES: [&str; 6] = ["usize", "isize", "u32", "i32", "u64", "i64"];

pub(super) fn length(tokens: &TokenStream) -> usize {
    let of = |token| match token {
        TokenTree::Group(group) => 2 + length(&group.stream()),
        _ => 1,
    };
    tokens.clone().into_iter().map(of).sum()
}

/// Knowledge at the beginning of a phase, to be restored behind the phase.
pub(super) struct Before {
    item: Option<(u16, u8)>,
    skipped: bool,
}

/// Whether a method that gives a part for each dimension gives a tuple, and not an array.
pub(super) fn is_tuple(call: &ExprMethodCall) -> bool {
    call.method == "pos" || call.method == "local_pos"
}

/// A literal index.
fn number_of(dim: &ExprLit) -> Option<usize> {
    let Lit::Int(number) = &dim.lit else { return None };
    number.base10_parse().ok()
}

/// Whether one of these names is in the tokens.
pub(super) fn names(tokens: &TokenStream, all: &[&str]) -> bool {
    tokens.clone().into_iter().any(|token| match token {
        TokenTree::Group(group) => names(&group.stream(), all),
        TokenTree::Ident(name) => all.iter().any(|of| name.unraw() == of),
        _ => false,
    })
}

/// Whether ends are those of something that changes from item to item, or from turn to turn.
fn varies(ends: &TokenStream) -> bool {
    names(ends, &["__at", "__in", "turns"])
}

/// The only expression of a block.
fn only(block: &Block) -> Option<&Expr> {
    match block.stmts.as_slice() {
        [Stmt::Expr(expr, None)] => Some(expr),
        _ => None,
    }
}

impl Walk {
    /// A phase of this item begins; or of these slots of a local array.
    pub(super) fn enter_phase(&mut self, item: Option<u16>, filled: Option<u16>) -> Before {
        let known = &mut self.known;
        let before = Before { item: known.item, skipped: known.skipped };
        if let (Some(slot), Some(filled)) = (item, filled) {
            let slots = known.locals.get(&filled).map(|of| quote!(__Ends::of(#of::SLOTS)));
            let ends = slots.map(|slots| quote!(__Ends::turns(__Ends::literal(0), #slots, false)));
            known.ends.extend(ends.map(|ends| (slot, ends)));
        } else if let (Some(item), Some((_, rank))) = (item, known.group) {
            known.item = Some((item, rank));
        }
        before
    }

    /// A phase ends.
    pub(super) fn leave_phase(&mut self, before: Before) {
        (self.known.item, self.known.skipped) = (before.item, before.skipped);
    }

    /// Walks what perhaps no item comes to.
    pub(super) fn perhaps<T>(&mut self, walk: impl FnOnce(&mut Walk) -> T) -> T {
        let before = std::mem::replace(&mut self.known.perhaps, true);
        let result = walk(self);
        self.known.perhaps = before;
        result
    }

    /// Who has come here may not come to what follows.
    pub(super) fn skips(&mut self) {
        self.known.skipped = true;
    }

    /// The variable that an expression surely is.
    pub(super) fn local_of(&self, expr: &Expr) -> Option<u16> {
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
    pub(super) fn rank_of_item(&self, expr: &Expr) -> Option<u8> {
        let (at, rank) = self.known.item?;
        (self.local_of(expr)? == at).then_some(rank)
    }

    /// The rank of the group, if that is what the expression is.
    fn rank_of_group(&self, expr: &Expr) -> Option<u8> {
        let (at, rank) = self.known.group?;
        (self.local_of(expr)? == at).then_some(rank)
    }

    /// The array or tuple, with a part for each dimension, that a call gives, and how many parts.
    pub(super) fn parts_of_call(&self, call: &ExprMethodCall) -> Option<(TokenStream, usize)> {
        let of = &call.receiver;
        let (item, group) = (self.rank_of_item(of), self.rank_of_group(of));
        let (parts, rank) = match (call.method.to_string().as_str(), item, group) {
            ("pos", Some(rank), _) => (quote!(__at), rank),
            ("local_pos", Some(rank), _) => (quote!(__in.local), rank),
            ("pos", _, Some(rank)) => (quote!(__in.index), rank),
            ("size", _, Some(rank)) => (quote!(__in.size), rank),
            ("count", _, Some(rank)) => (quote!(__in.count), rank),
            _ => return None,
        };
        call.args.is_empty().then_some((parts, rank.into()))
    }

    pub(super) fn rank_of_view(&self, expr: &Expr) -> Option<u8> {
        self.known.views.get(&self.local_of(expr)?).copied()
    }

    pub(super) fn is_view(&self, expr: &Expr) -> bool {
        self.rank_of_view(expr).is_some()
    }

    pub(super) fn is_known_view(&self, local: u16) -> bool {
        self.known.views.contains_key(&local)
    }

    /// Whether the call asks a group for something that all of its items share.
    pub(super) fn asks_group(&self, call: &ExprMethodCall) -> bool {
        let asks = ["index", "pos", "size", "count"].iter().any(|name| call.method == name);
        asks && call.args.is_empty() && self.rank_of_group(&call.receiver).is_some()
    }

    /// Ends are known of a variable.
    pub(super) fn has_ends(&self, local: u16) -> bool {
        self.known.ends.contains_key(&local)
    }

    /// An index that is not looked at for a whole block: where lanes check it, strips would not
    /// become vectors.
    pub(super) fn unproved(&mut self, view: &Expr, index: &Expr) {
        if self.is_given_memory(view) {
            let same = self.is_view(view) && self.is_same(index);
            self.plan.checks(index.span(), same);
        }
    }

    /// An argument, which a function may index.
    pub(super) fn passes(&mut self, arg: &Expr) {
        if self.is_given_memory(arg) {
            self.plan.give_up(arg.span());
        }
    }

    fn is_given_memory(&self, expr: &Expr) -> bool {
        let array = self.local_of(expr).is_some_and(|at| self.known.locals.contains_key(&at));
        array || self.is_view(expr)
    }

    /// Whether a name may be that of a kernel's view, local array, group or item. Such a name is
    /// not assigned to: its value is that of the beginning.
    pub(super) fn may_be_parameter(&self, expr: &Expr) -> bool {
        let path = match expr {
            Expr::Paren(inner) => return self.may_be_parameter(&inner.expr),
            Expr::Group(inner) => return self.may_be_parameter(&inner.expr),
            Expr::Path(path) => path,
            _ => return false,
        };
        let Some(name) = path.path.get_ident() else { return false };
        let Knowledge { item, group, views, locals, .. } = &self.known;
        let places = [item, group].map(|of| of.map(|(at, _)| at));
        let is = |at: u16| {
            places.contains(&Some(at)) || views.contains_key(&at) || locals.contains_key(&at)
        };
        match self.scopes.is_plain(name) {
            true => self.scopes.find(name).is_some_and(is),
            false => self.scopes.named(name).any(|(_, at)| is(*at)),
        }
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
            Expr::Unary(unary) => match (&unary.op, &*unary.expr) {
                (UnOp::Neg(_), Expr::Lit(ExprLit { lit: Lit::Int(number), .. })) => {
                    let value: u64 = number.base10_digits().parse().ok()?;
                    Some(quote!(__Ends::minus_literal(#value)))
                }
                _ => None,
            },
            Expr::Path(path) => match path.path.get_ident().and_then(|n| self.scopes.find(n)) {
                Some(_) if self.rank_of_item(expr) == Some(1) => Some(quote!(__at[0])),
                Some(_) => self.known.ends.get(&self.local_of(expr)?).cloned(),
                None if names::is_inferred(path.to_token_stream()) => None,
                None => Some(quote!(__Ends::of(#path))),
            },
            Expr::Binary(binary) => {
                let (a, b) = (self.ends(&binary.left)?, self.ends(&binary.right)?);
                match binary.op {
                    BinOp::Add(_) => Some(quote!(#a.plus(#b))),
                    // Of two that change together, the difference would be too far to be of use.
                    BinOp::Sub(_) if self.known.group.is_some() && varies(&a) && varies(&b) => None,
                    BinOp::Sub(_) => Some(quote!(#a.minus(#b))),
                    BinOp::Mul(_) => Some(quote!(#a.times(#b))),
                    BinOp::Div(_) => Some(quote!(#a.over(#b))),
                    BinOp::Rem(_) => Some(quote!(#a.modulo(#b))),
                    _ => None,
                }
            }
            Expr::MethodCall(call) => self.ends_of_call(call),
            Expr::Field(field) => self.ends_of_part(field),
            Expr::Index(index) => match (&*index.expr, &*index.index) {
                (Expr::MethodCall(call), Expr::Lit(dim)) if call.method == "shape" => {
                    let view = &call.receiver;
                    let (rank, dim) = (self.rank_of_view(view)?, number_of(dim)?);
                    let shape = quote!(::folio::ir::device::asks::shape(#view));
                    let there = rank == 0 || dim < rank.into();
                    there.then(|| quote!(__Ends::of(#shape[#dim])))
                }
                (Expr::MethodCall(call), Expr::Lit(dim)) if !is_tuple(call) => {
                    let (parts, rank) = self.parts_of_call(call)?;
                    let dim = number_of(dim)?;
                    (dim < rank).then(|| quote!(#parts[#dim]))
                }
                _ => self.part_of_position(index).and_then(|part| self.ends(&part)),
            },
            Expr::Cast(cast) => match (&*cast.ty, &*cast.expr) {
                (Type::Path(ty), value) if TYPES.iter().any(|of| ty.path.is_ident(of)) => {
                    // The name may be that of another type.
                    let ends = self.ends(value)?;
                    Some(quote!(#ends.cast::<#ty>()))
                }
                _ => None,
            },
            Expr::If(branch) => self.ends_of_choice(branch),
            _ => None,
        }
    }

    /// The ends of `if test { a } else { b }`.
    fn ends_of_choice(&self, branch: &ExprIf) -> Option<TokenStream> {
        let (_, otherwise) = branch.else_branch.as_ref()?;
        let otherwise = match &**otherwise {
            Expr::Block(block) if block.label.is_none() => only(&block.block)?,
            other => other,
        };
        let (a, b) = (self.ends(only(&branch.then_branch)?)?, self.ends(otherwise)?);
        self.is_test(&branch.cond).then(|| quote!(#a.or(#b)))
    }

    /// Comparisons of what has ends: nothing happens there.
    fn is_test(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Paren(inner) => self.is_test(&inner.expr),
            Expr::Group(inner) => self.is_test(&inner.expr),
            Expr::Unary(unary) => matches!(unary.op, UnOp::Not(_)) && self.is_test(&unary.expr),
            Expr::Binary(binary) => match binary.op {
                BinOp::And(_) | BinOp::Or(_) => {
                    self.is_test(&binary.left) && self.is_test(&binary.right)
                }
                _ => self.ends(&binary.left).is_some() && self.ends(&binary.right).is_some(),
            },
            _ => false,
        }
    }

    fn ends_of_call(&self, call: &ExprMethodCall) -> Option<TokenStream> {
        let view = &call.receiver;
        match (call.method.to_string().as_str(), call.args.first()) {
            ("index", None) if self.rank_of_item(view) == Some(1) => Some(quote!(__at[0])),
            ("index", None) if self.rank_of_group(view) == Some(1) => Some(quote!(__in.index[0])),
            ("local_index", None) => self.rank_of_item(view).map(|_| quote!(__in.number)),
            ("len", None) if self.rank_of_view(view) == Some(1) => {
                Some(quote!(__Ends::of(::folio::ir::device::asks::len(#view))))
            }
            ("len", None) => self.ends(&self.product_of_extents(call)?),
            ("wrapping_add", Some(b)) => {
                let (a, b) = (self.ends(view)?, self.ends(b)?);
                Some(quote!(#a.plus(#b)))
            }
            ("wrapping_sub", Some(b)) => {
                let (a, b) = (self.ends(view)?, self.ends(b)?);
                Some(quote!(#a.minus(#b)))
            }
            ("max", Some(b)) => {
                let (a, b) = (self.ends(view)?, self.ends(b)?);
                Some(quote!(#a.at_least(#b)))
            }
            ("min", Some(b)) => {
                let (a, b) = (self.ends(view)?, self.ends(b)?);
                Some(quote!(#a.at_most(#b)))
            }
            ("clamp", Some(least)) => {
                let (a, least) = (self.ends(view)?, self.ends(least)?);
                let most = self.ends(call.args.get(1)?)?;
                Some(quote!(#a.at_least(#least).at_most(#most)))
            }
            ("saturating_add", Some(b)) => {
                let (a, b) = (self.ends(view)?, self.ends(b)?);
                Some(quote!(#a.plus_within(#b)))
            }
            ("saturating_sub", Some(b)) => {
                let (a, b) = (self.ends(view)?, self.ends(b)?);
                Some(quote!(#a.minus_within(#b)))
            }
            _ => None,
        }
    }

    /// `let pattern = value;`, whose names are bound already.
    pub(super) fn learn(&mut self, pattern: &Pat, value: &Expr) {
        // First all of them: what a name was is not what it is.
        let mut learnt = vec![];
        self.learnt(pattern, value, &mut learnt);
        for (name, ends) in learnt {
            self.learn_as(name, ends);
        }
    }

    fn learnt<'p>(&self, pattern: &'p Pat, value: &Expr, all: &mut Vec<(&'p Pat, TokenStream)>) {
        match (pattern, value) {
            (
                Pat::Tuple(PatTuple { elems: names, .. }),
                Expr::Tuple(ExprTuple { elems: values, .. }),
            )
            | (
                Pat::Slice(PatSlice { elems: names, .. }),
                Expr::Array(ExprArray { elems: values, .. }),
            ) if names.len() == values.len() => {
                for (name, value) in names.iter().zip(values) {
                    self.learnt(name, value, all);
                }
            }
            (Pat::Slice(names), Expr::MethodCall(call)) => {
                for (dim, name) in names.elems.iter().enumerate() {
                    let dim = Literal::usize_unsuffixed(dim);
                    let ends = self.ends(&parse_quote!(#call[#dim]));
                    all.extend(ends.map(|ends| (name, ends)));
                }
            }
            (Pat::Tuple(names), Expr::MethodCall(call)) if is_tuple(call) => {
                if let Some((parts, rank)) = self.parts_of_call(call)
                    && names.elems.len() == rank
                {
                    let dims = names.elems.iter().enumerate();
                    all.extend(dims.map(|(dim, name)| (name, quote!(#parts[#dim]))));
                }
            }
            _ => all.extend(self.ends(value).map(|ends| (pattern, ends))),
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
            if self.known.is_new(&count) {
                self.known.unproved.push(count);
            }
            true
        })
    }

    fn proof(&self, view: &Expr, index: &Expr) -> Option<TokenStream> {
        let array = self.known.locals.get(&self.local_of(view)?);
        if let (Some(of), Some(_)) = (array, self.rank_of_item(index)) {
            return Some(quote!(#of::unproved(__in.number, __gaps)));
        }
        // Blocks of groups are not taken apart, so what is looked at has to be what is done.
        if self.known.group.is_some() && (self.known.perhaps || self.known.skipped) {
            return None;
        }
        if let Some(of) = array {
            let ends = self.ends(index)?;
            return Some(quote!(#of::unproved(#ends, __gaps)));
        }
        let rank = usize::from(self.rank_of_view(view)?);
        if let Some(of_item) = self.rank_of_item(index) {
            return (usize::from(of_item) == rank).then(|| quote!(#view.unproved(__at, __gaps)));
        }
        let ends = match index {
            Expr::Tuple(tuple) => tuple.elems.iter().map(|e| self.ends(e)).collect(),
            other => self.ends(other).map(|ends| vec![ends]),
        };
        let ends: Vec<_> = ends?;
        (ends.len() == rank).then(|| quote!(#view.unproved([#(#ends),*], __gaps)))
    }
}
