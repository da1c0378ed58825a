//! Parts of positions by their number: `i.pos()[0]`, and `p[0]` where `p` is a position; and the
//! number of elements of a view in several dimensions.

use super::Walk;
use super::ends::is_tuple;
use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote};
use syn::spanned::Spanned;
use syn::{
    Expr, ExprField, ExprIndex, ExprLit, ExprMethodCall, Index, Lit, Member, Pat, parse_quote,
};

/// A variable that is a position, and its parts.
#[derive(Clone)]
pub(super) struct Position(Option<(TokenStream, usize)>);

impl Walk {
    /// `let pattern = value;`, whose names are bound already: a name of a whole position.
    pub(super) fn learn_position(&mut self, pattern: &Pat, value: &Expr) {
        let name = match pattern {
            Pat::Type(typed) => return self.learn_position(&typed.pat, value),
            Pat::Ident(name) => name,
            _ => return,
        };
        let call = match value {
            Expr::Paren(inner) => return self.learn_position(pattern, &inner.expr),
            Expr::MethodCall(call) if is_tuple(call) && call.args.is_empty() => call,
            _ => return,
        };
        // A variable that changes is a tuple still, whose parts are not those of the item.
        let parts = self.parts_of_call(call).filter(|_| name.mutability.is_none());
        if let Some(at) = self.scopes.find(&name.ident) {
            self.known.positions.insert(at, Position(parts));
        }
    }

    /// The position that this expression is.
    fn position(&self, expr: &Expr) -> Option<Position> {
        match expr {
            Expr::Paren(inner) => self.position(&inner.expr),
            Expr::Group(inner) => self.position(&inner.expr),
            Expr::MethodCall(call) if is_tuple(call) && call.args.is_empty() => {
                Some(Position(self.parts_of_call(call)))
            }
            Expr::Path(_) => self.known.positions.get(&self.local_of(expr)?).cloned(),
            _ => None,
        }
    }

    /// A part of a position by an index, as the field of a tuple that it is in Rust.
    pub(super) fn part_of_position(&self, index: &ExprIndex) -> Option<Expr> {
        self.position(&index.expr)?;
        let Expr::Lit(ExprLit { lit: Lit::Int(number), .. }) = &*index.index else { return None };
        let member =
            Member::Unnamed(Index { index: number.base10_parse().ok()?, span: number.span() });
        Some(Expr::Field(ExprField {
            attrs: vec![],
            base: index.expr.clone(),
            dot_token: syn::Token![.](index.bracket_token.span.open()),
            member,
        }))
    }

    /// The ends of a part of a position.
    pub(super) fn ends_of_part(&self, field: &ExprField) -> Option<TokenStream> {
        let Member::Unnamed(dim) = &field.member else { return None };
        let (parts, rank) = self.position(&field.base)?.0?;
        let dim = dim.index as usize;
        (dim < rank).then(|| quote!(#parts[#dim]))
    }

    /// Why this is no element: a position or the item, indexed as if it were memory.
    pub(super) fn no_memory(&self, index: &ExprIndex) -> Option<(Span, String)> {
        let of = index.expr.to_token_stream();
        let text = match (self.rank_of_item(&index.expr), self.position(&index.expr)) {
            (Some(1), _) => {
                format!("`{of}` is the item, which is no memory; its position is `{of}.index()`")
            }
            (Some(_), _) => format!(
                "`{of}` is the item, which is no memory; its position is `let (row, column) = {of}.pos();`, a part of \
                 it `{of}.pos()[0]`"
            ),
            (None, Some(_)) => format!(
                "the parts of a position have numbers: `{of}[0]`; to compute with all of them, name them: \
                 `let (row, column) = ..;`"
            ),
            _ => return None,
        };
        Some((index.span(), text))
    }

    /// How many elements a view of several dimensions has: the product of its extents.
    pub(super) fn product_of_extents(&self, call: &ExprMethodCall) -> Option<Expr> {
        if call.method != "len" || !call.args.is_empty() {
            return None;
        }
        let (view, rank) = (&call.receiver, self.rank_of_view(&call.receiver)?);
        match rank {
            2 => Some(parse_quote!((#view.shape()[0] * #view.shape()[1]))),
            3 => Some(parse_quote!((#view.shape()[0] * #view.shape()[1] * #view.shape()[2]))),
            _ => None,
        }
    }
}
