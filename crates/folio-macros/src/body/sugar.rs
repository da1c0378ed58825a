//! Code that is written in other words before it is walked: assignments of several values, options,
//! `let` in conditions, `matches!`, `sin_cos`.

use super::lent::bare;
use super::{Both, Walk};
use crate::tree::Tree;
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::parse::{ParseStream, Parser};
use syn::spanned::Spanned;
use syn::{
    BinOp, Expr, ExprBinary, ExprIf, ExprLet, ExprMethodCall, ExprPath, ExprTry, ExprWhile, Local,
    Macro, Pat, Token, parse_quote, parse_quote_spanned,
};

pub(super) fn hidden(name: &str, at: Span) -> Ident {
    Ident::new(name, Span::mixed_site().located_at(at))
}

impl Walk {
    /// `(a, b) = ..`, as Rust has it: all values first. None for another target.
    pub(super) fn assign_several(&mut self, to: &Expr, from: &Expr) -> Option<Both> {
        if !matches!(to, Expr::Tuple(_) | Expr::Array(_)) {
            return None;
        }
        let (mut names, mut assigned) = (0, vec![]);
        let pattern = target_pattern(to, &mut names, &mut assigned)?;
        let whole: Expr = parse_quote_spanned!(to.span()=> { let #pattern = #from; #(#assigned)* });
        Some(self.expr(&whole))
    }

    /// `None`, whose type is inferred.
    pub(super) fn none(&mut self, path: &ExprPath) -> Both {
        let slot = self.new_slot(path.span());
        let entry = self.entry(quote!(#slot.none()));
        let value = hidden("__v", path.span());
        let none = quote_spanned!(path.span() => ::folio::ir::device::rust::option::Option::None);
        (quote!({ let #value = #none; #slot.is(#value); #value }), Tree::constant(entry))
    }

    /// `Some(..)`: that there is a value, and the value.
    pub(super) fn some(&mut self, path: &ExprPath, value: &Expr) -> Both {
        let (native, tree) = self.expr(value);
        let some = quote_spanned!(path.span() => ::folio::ir::device::rust::option::Option::Some);
        (quote!(#some(#native)), Tree::of("tuple").parts(&[Tree::bool(true), tree]))
    }

    /// `x?`, in a function that gives an option.
    pub(super) fn asks_for_some(&mut self, of: &ExprTry) -> Both {
        let (given, at) = (&of.expr, of.question_token.span());
        let value = hidden("__some", at);
        let whole: Expr = parse_quote_spanned! {at=>
            match #given { Some(#value) => #value, None => return None }
        };
        self.expr(&whole)
    }

    /// What can be asked of an option.
    pub(super) fn asks_option(&mut self, call: &ExprMethodCall) -> Option<Both> {
        let (of, at) = (&call.receiver, call.method.span());
        let whole: Expr = match (call.method.to_string().as_str(), call.args.first()) {
            ("is_some", None) => {
                parse_quote_spanned!(at=> match #of { Some(_) => true, None => false })
            }
            ("is_none", None) => {
                parse_quote_spanned!(at=> match #of { Some(_) => false, None => true })
            }
            ("unwrap_or", Some(other)) => {
                let [value, otherwise, inner] =
                    ["__option", "__otherwise", "__inner"].map(|name| hidden(name, at));
                parse_quote_spanned! {at=> {
                    let (#value, #otherwise) = (#of, #other);
                    match #value { Some(#inner) => #inner, None => #otherwise }
                }}
            }
            _ => return None,
        };
        Some(self.expr(&whole))
    }

    /// What is walked instead.
    pub(super) fn anew(&mut self, anew: Anew) -> Both {
        match anew {
            Ok(anew) => self.expr(&anew),
            Err((at, text)) => self.refuse(at, text),
        }
    }

    /// `if let`, as a `match`; none for another `if`.
    pub(super) fn if_let(&self, branch: &ExprIf) -> Option<Anew> {
        let (condition, guard) = match let_of(&branch.cond)? {
            Ok(parts) => parts,
            Err(refused) => return Some(Err(refused)),
        };
        let (pat, of, then) = (&condition.pat, &condition.expr, &branch.then_branch);
        let otherwise = match &branch.else_branch {
            Some((_, otherwise)) => otherwise.to_token_stream(),
            None => quote!({}),
        };
        Some(Ok(parse_quote! { match #of { #pat #guard => #then, _ => #otherwise } }))
    }

    /// `while let`, as a `loop` with a `match`; none for another `while`.
    pub(super) fn while_let(&self, repeat: &ExprWhile) -> Option<Anew> {
        let (condition, guard) = match let_of(&repeat.cond)? {
            Ok(parts) => parts,
            Err(refused) => return Some(Err(refused)),
        };
        let (pat, of, body, label) = (&condition.pat, &condition.expr, &repeat.body, &repeat.label);
        Some(Ok(parse_quote! {
            #label loop { match #of { #pat #guard => #body, _ => break } }
        }))
    }

    /// `x.sin_cos()`
    pub(super) fn sin_cos(&mut self, call: &ExprMethodCall) -> Option<Both> {
        if call.method != "sin_cos" || !call.args.is_empty() {
            return None;
        }
        let (of, at) = (&call.receiver, call.method.span());
        let value = hidden("__angle", at);
        let [sin, cos] = ["sin", "cos"].map(|name| Ident::new(name, at));
        let whole: Expr = parse_quote!({ let #value = #of; (#value.#sin(), #value.#cos()) });
        Some(self.expr(&whole))
    }

    /// `a.total_cmp(&b).is_lt()`, and the others.
    pub(super) fn total_order(&mut self, call: &ExprMethodCall) -> Option<Both> {
        let Expr::MethodCall(order) = bare(&call.receiver) else { return None };
        let asked = call.method.to_string();
        let asks = ["is_lt", "is_le", "is_gt", "is_ge", "is_eq", "is_ne"];
        if order.method != "total_cmp" || !call.args.is_empty() || !asks.contains(&&*asked) {
            return None;
        }
        let (1, Some(Expr::Reference(other))) = (order.args.len(), order.args.first()) else {
            return None;
        };
        let (of, other) = (&order.receiver, &other.expr);
        let function = Ident::new(&asked.replace("is_", "total_"), call.method.span());
        let whole: Expr = parse_quote!(#of.#function(#other));
        Some(self.expr(&whole))
    }

    /// `matches!(..)`; none if it is not written like that.
    pub(super) fn matches(&mut self, mac: &Macro) -> Option<Both> {
        let parse = |input: ParseStream<'_>| {
            let of: Expr = input.parse()?;
            input.parse::<Token![,]>()?;
            let pat = Pat::parse_multi_with_leading_vert(input)?;
            let guard = match input.peek(Token![if]) {
                true => Some((input.parse::<Token![if]>()?, input.parse::<Expr>()?)),
                false => None,
            };
            input.parse::<Option<Token![,]>>()?;
            Ok((of, pat, guard))
        };
        let (of, pat, guard) = parse.parse2(mac.tokens.clone()).ok()?;
        let guard = guard.map(|(token, guard)| quote!(#token #guard));
        let whole: Expr = parse_quote_spanned! {mac.path.span()=>
            match #of { #pat #guard => true, _ => false }
        };
        Some(self.expr(&whole))
    }
}

/// What is walked instead, or why it is refused.
pub(super) type Anew = Result<Expr, (Span, &'static str)>;

/// The `let` that a condition begins with, and what else it asks, as the guard of an arm.
#[expect(clippy::type_complexity, reason = "read where it is made")]
fn let_of(condition: &Expr) -> Option<Result<(&ExprLet, TokenStream), (Span, &'static str)>> {
    match condition {
        Expr::Let(condition) => Some(Ok((condition, TokenStream::new()))),
        Expr::Binary(ExprBinary { left, op: BinOp::And(_), right, .. }) => {
            let found = let_of(left)?;
            if has_let(right) {
                let text = "there is one `let` in a condition here; write an `if` in the other";
                return Some(Err((right.span(), text)));
            }
            Some(found.map(|(condition, guard)| {
                let guard = match guard.is_empty() {
                    true => quote!(if #right),
                    false => quote!(#guard && #right),
                };
                (condition, guard)
            }))
        }
        _ => None,
    }
}

fn has_let(condition: &Expr) -> bool {
    match condition {
        Expr::Let(_) => true,
        Expr::Binary(binary) => has_let(&binary.left) || has_let(&binary.right),
        _ => false,
    }
}

/// `let .. else`, as a `let` of a `match`; none for patterns with more than names.
pub(super) fn let_else(pat: &Pat, of: &Expr, otherwise: &Expr) -> Option<Local> {
    let mut names = vec![];
    if !names_of(pat, &mut names) {
        return None;
    }
    let given = match &names[..] {
        [one] => quote!(#one),
        all => quote!((#(#all,)*)),
    };
    let statement: syn::Stmt = parse_quote! {
        let #given = match #of { #pat => #given, _ => #otherwise };
    };
    match statement {
        syn::Stmt::Local(local) => Some(local),
        _ => None,
    }
}

/// The names that a pattern binds, if it is one of plain names.
fn names_of(pat: &Pat, names: &mut Vec<Ident>) -> bool {
    match pat {
        Pat::Ident(name) if name.ident == "None" => true,
        Pat::Ident(name) => {
            let plain = name.by_ref.is_none() && name.mutability.is_none() && name.subpat.is_none();
            if plain && !super::choice::is_constant(&name.ident) {
                names.push(name.ident.clone());
            }
            plain
        }
        Pat::Paren(inner) => names_of(&inner.pat, names),
        Pat::Tuple(tuple) => tuple.elems.iter().all(|pat| names_of(pat, names)),
        Pat::TupleStruct(of) => of.elems.iter().all(|pat| names_of(pat, names)),
        Pat::Struct(of) => of.fields.iter().all(|field| names_of(&field.pat, names)),
        Pat::Wild(_) | Pat::Rest(_) | Pat::Lit(_) | Pat::Path(_) | Pat::Range(_) => true,
        _ => false,
    }
}

/// The pattern that takes the values of several targets, and their assignments.
fn target_pattern(
    to: &Expr,
    names: &mut usize,
    assigned: &mut Vec<TokenStream>,
) -> Option<TokenStream> {
    let mut all = |parts: &syn::punctuated::Punctuated<Expr, Token![,]>| -> Option<Vec<_>> {
        parts.iter().map(|part| target_pattern(part, names, assigned)).collect()
    };
    match to {
        Expr::Tuple(tuple) => {
            let parts = all(&tuple.elems)?;
            Some(quote!((#(#parts,)*)))
        }
        Expr::Array(array) => {
            let parts = all(&array.elems)?;
            Some(quote!([#(#parts),*]))
        }
        Expr::Infer(_) => Some(quote!(_)),
        Expr::Paren(inner) => target_pattern(&inner.expr, names, assigned),
        Expr::Range(_) | Expr::Call(_) | Expr::Struct(_) => None,
        place => {
            let name = hidden(&format!("__part{names}"), place.span());
            *names += 1;
            assigned.push(quote_spanned!(place.span() => #place = #name;));
            Some(name.to_token_stream())
        }
    }
}
