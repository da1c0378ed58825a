//! Literals and operators.

use super::{Both, Walk, place_of};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{BinOp, Expr, ExprBinary, ExprLit, Lit, Token, Type, UnOp};

impl Walk {
    pub(super) fn literal(&mut self, lit: &ExprLit, negative: bool) -> Both {
        let span = lit.span();
        let (digits, suffix) = match &lit.lit {
            Lit::Bool(value) => {
                let value = value.value;
                return (lit.to_token_stream(), quote!(__s::Expr::Bool(#value)));
            }
            Lit::Int(number) => (number.base10_digits().to_owned(), number.suffix().to_owned()),
            Lit::Float(number) => (number.base10_digits().to_owned(), number.suffix().to_owned()),
            _ => {
                return self
                    .refuse(span, "this literal has no device type; use numbers and booleans");
            }
        };
        let digits = if negative { format!("-{digits}") } else { digits };
        let minus = negative.then(|| Token![-](span));
        if !suffix.is_empty() {
            let ty = Ident::new(&suffix, span);
            let entry = self.type_entry(&ty);
            return (quote!((#minus #lit)), quote!(__s::Expr::Number(#digits, #entry)));
        }
        let (slot, entry) = self.slot(span, false);
        let value = Ident::new("__v", Span::mixed_site().located_at(span));
        // No call around the literal: rustc's message then points at the literal alone.
        let native =
            quote_spanned!(span => { let #value = #minus #lit; #slot.is(&#value); #value });
        (native, quote!(__s::Expr::Number(#digits, #entry)))
    }

    pub(super) fn unary(&mut self, unary: &syn::ExprUnary) -> Both {
        if let (UnOp::Neg(_), Expr::Lit(lit)) = (&unary.op, &*unary.expr) {
            return self.literal(lit, true);
        }
        let (native, tree) = self.expr(&unary.expr);
        match unary.op {
            UnOp::Neg(token) => {
                let neg = quote_spanned!(token.span => ::folio::ir::device::ops::neg);
                (quote!(#neg(#native)), quote!(__s::Expr::Unary('-', &#tree)))
            }
            UnOp::Not(token) => (quote!((#token #native)), quote!(__s::Expr::Unary('!', &#tree))),
            _ => self.refuse(unary.span(), "dereferencing is not supported; values are copied"),
        }
    }

    pub(super) fn cast(&mut self, cast: &syn::ExprCast) -> Both {
        let ty = &cast.ty;
        if matches!(**ty, Type::Infer(_)) {
            return self.refuse(ty.span(), "write the type after `as`");
        }
        let (native, tree) = self.expr(&cast.expr);
        let entry = self.type_entry(ty);
        (quote!(((#native) as #ty)), quote!(__s::Expr::Cast(&#tree, #entry)))
    }

    pub(super) fn binary(&mut self, binary: &ExprBinary) -> Both {
        let op = binary.op.to_token_stream().to_string();
        let (function, assigns) = function_of(&binary.op);
        let span = binary.op.span();
        let (line, column) = place_of(binary.span());
        let at = quote!((#line, #column));
        let function = function.map(|name| {
            let name = Ident::new(name, span);
            quote_spanned!(span => ::folio::ir::device::ops::#name)
        });
        if !assigns {
            let (a, tree_a) = self.expr(&binary.left);
            let (b, tree_b) = self.expr(&binary.right);
            let tree = quote!(__s::Expr::Binary(#op, &#tree_a, &#tree_b, #at));
            let token = &binary.op;
            return match function {
                Some(function) => (quote_spanned!(binary.span() => #function(#a, #b)), tree),
                None => (quote!(((#a) #token (#b))), tree),
            };
        }
        let op = op.trim_end_matches('=');
        let (b, tree_b) = self.expr(&binary.right);
        let (target, tree_a) = self.target(&binary.left);
        let tree = quote!(__s::Expr::AssignOp(#op, &#tree_a, &#tree_b, #at));
        let by = Ident::new("__by", Span::mixed_site().located_at(span));
        let old = target.read();
        let new = match function {
            Some(function) => quote_spanned!(binary.span() => #function(#old, #by)),
            None => {
                let token: TokenStream = op.parse().unwrap_or_default();
                quote!((#old) #token #by)
            }
        };
        let (before, write) = (target.before(), target.write(new, 0));
        (quote!({ let #by = #b; #before #write; }), tree)
    }
}

/// The function that an operator becomes, and whether it assigns.
fn function_of(op: &BinOp) -> (Option<&'static str>, bool) {
    match op {
        BinOp::Add(_) => (Some("add"), false),
        BinOp::Sub(_) => (Some("sub"), false),
        BinOp::Mul(_) => (Some("mul"), false),
        BinOp::Div(_) => (Some("div"), false),
        BinOp::Rem(_) => (Some("rem"), false),
        BinOp::Shl(_) => (Some("shl"), false),
        BinOp::Shr(_) => (Some("shr"), false),
        BinOp::AddAssign(_) => (Some("add"), true),
        BinOp::SubAssign(_) => (Some("sub"), true),
        BinOp::MulAssign(_) => (Some("mul"), true),
        BinOp::DivAssign(_) => (Some("div"), true),
        BinOp::RemAssign(_) => (Some("rem"), true),
        BinOp::ShlAssign(_) => (Some("shl"), true),
        BinOp::ShrAssign(_) => (Some("shr"), true),
        BinOp::BitAndAssign(_) | BinOp::BitOrAssign(_) | BinOp::BitXorAssign(_) => (None, true),
        _ => (None, false),
    }
}
