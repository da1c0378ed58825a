//! Methods, calls, and macros within kernels.

use super::{Both, Walk, place_of};
use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Expr, ExprCall, ExprMethodCall, Lit, Macro, Token};

/// Methods of numbers, which become functions of `device::ops`.
const NUMBERS: &[&str] = &[
    "sqrt",
    "rsqrt",
    "cbrt",
    "exp",
    "exp2",
    "exp_m1",
    "ln",
    "log2",
    "log10",
    "ln_1p",
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "sinh",
    "cosh",
    "tanh",
    "floor",
    "ceil",
    "trunc",
    "round",
    "round_ties_even",
    "abs",
    "min",
    "max",
    "clamp",
    "mul_add",
    "powf",
    "atan2",
    "hypot",
    "copysign",
    "recip",
    "fract",
];

/// Methods that are what they are in Rust.
const PLAIN: &[&str] = &[
    "pos",
    "index",
    "len",
    "shape",
    "wrapping_add",
    "wrapping_sub",
    "wrapping_mul",
    "saturating_add",
    "saturating_sub",
    "rotate_left",
    "rotate_right",
    "count_ones",
    "leading_zeros",
    "trailing_zeros",
    "reverse_bits",
    "swap_bytes",
    "to_bits",
];

impl Walk {
    /// `x.f(..)`
    pub fn method(&mut self, call: &ExprMethodCall) -> Both {
        let name = call.method.to_string();
        let (receiver, tree) = self.expr(&call.receiver);
        let args: Vec<Both> = call.args.iter().map(|arg| self.expr(arg)).collect();
        let (natives, trees): (Vec<_>, Vec<_>) = args.into_iter().unzip();
        let method = &call.method;
        let (line, column) = place_of(method.span());
        let tree = quote!(__s::Expr::Method(&#tree, #name, &[#(#trees),*], (#line, #column)));
        if NUMBERS.contains(&name.as_str()) {
            let function = quote_spanned!(method.span() => ::folio::ir::device::ops::#method);
            let given = arguments(call.paren_token.span.join(), quote!(#receiver #(, #natives)*));
            return (quote!(#function #given), tree);
        }
        if PLAIN.contains(&name.as_str()) {
            let given = arguments(call.paren_token.span.join(), quote!(#(#natives),*));
            return (quote!(#receiver.#method #given), tree);
        }
        let text =
            format!("method `{name}` is not known on devices; write a #[device_fn] and call it");
        self.refuse(method.span(), text)
    }

    /// `f(..)`
    pub fn call(&mut self, call: &ExprCall) -> Both {
        let Expr::Path(path) = &*call.func else {
            return self.refuse(call.func.span(), "call a #[device_fn] by its name");
        };
        let args: Vec<Both> = call.args.iter().map(|arg| self.expr(arg)).collect();
        let (natives, trees): (Vec<_>, Vec<_>) = args.into_iter().unzip();
        let Some(last) = path.path.segments.last() else {
            return self.refuse(path.span(), "call a #[device_fn] by its name");
        };
        let segments = &path.path.segments;
        let before = segments.len().checked_sub(2).and_then(|at| segments.get(at));
        if let Some(owner) = before
            && owner.ident.to_string().starts_with(char::is_uppercase)
        {
            if last.ident == "lit" && segments.len() == 2 && natives.len() == 1 {
                let entry = self.type_entry(&owner.ident);
                let given = arguments(call.paren_token.span.join(), quote!(#(#natives),*));
                return (quote!(#path #given), quote!(__s::Expr::Cast(#(&#trees),*, #entry)));
            }
            let text = "functions of types are not supported; write a free #[device_fn]";
            return self.refuse(path.span(), text);
        }
        let (slot, entry) = self.slot(last.ident.span(), true);
        let at = Ident::new("__at", last.ident.span());
        let callee = quote_spanned!(last.ident.span() => #path::#at::<__M>(&#slot));
        let given = arguments(call.paren_token.span.join(), quote!(#(#natives),*));
        (quote!(#callee #given), quote!(__s::Expr::Call(#entry, &[#(#trees),*])))
    }

    /// `assert!`, `panic!`
    pub fn macro_call(&mut self, mac: &Macro) -> Both {
        let name = mac.path.get_ident().map(ToString::to_string).unwrap_or_default();
        let parsed = mac.parse_body_with(Punctuated::<Expr, Token![,]>::parse_terminated);
        let Ok(parts) = parsed else {
            let text = format!("`{name}!` takes expressions and a literal text here");
            return self.refuse(mac.span(), text);
        };
        let mut parts = parts.into_iter();
        let span = mac.path.span();
        let (line, column) = place_of(span);
        let at = quote!((#line, #column));
        match name.as_str() {
            "assert" | "debug_assert" => {
                let Some(cond) = parts.next() else {
                    return self.refuse(span, "`assert!` needs a condition");
                };
                let shown = cond.to_token_stream().to_string();
                let Some(text) = self.message(parts, &format!("assertion failed: {shown}")) else {
                    return (quote!(()), quote!(__s::Expr::Unit));
                };
                let (native, tree) = self.expr(&cond);
                let native = quote_spanned! {span=>
                    if !(#native) {
                        ::folio::ir::device::assert_failed(#text);
                        return ::folio::ir::device::nothing();
                    }
                };
                (native, quote!(__s::Expr::Assert(&#tree, #text, #at)))
            }
            "panic" | "unreachable" | "todo" | "unimplemented" => {
                let Some(text) = self.message(parts, &name) else {
                    return (quote!(()), quote!(__s::Expr::Unit));
                };
                let native = quote_spanned! {span=> {
                    ::folio::ir::device::assert_failed(#text);
                    return ::folio::ir::device::nothing();
                }};
                (native, quote!(__s::Expr::Panic(#text, #at)))
            }
            "assert_eq" | "assert_ne" => self.refuse(span, "write `assert!(a == b)`"),
            "println" | "print" | "eprintln" | "eprint" | "dbg" => {
                let text = format!("`{name}!` cannot run on a device; write to a buffer instead");
                self.refuse(span, text)
            }
            "vec" | "format" => {
                let text = format!("`{name}!` allocates, which devices cannot; use an array");
                self.refuse(span, text)
            }
            _ => self.refuse(span, format!("macro `{name}!` cannot run on a device; remove it")),
        }
    }

    /// A literal message, or the default.
    fn message(&mut self, mut rest: impl Iterator<Item = Expr>, default: &str) -> Option<String> {
        let text = match rest.next() {
            None => return Some(default.to_owned()),
            Some(Expr::Lit(lit)) => match &lit.lit {
                Lit::Str(text) => Ok(text.value()),
                _ => Err(lit.span()),
            },
            Some(other) => Err(other.span()),
        };
        match (text, rest.next()) {
            (Ok(text), None) if !text.contains('{') => Some(text),
            (Ok(_), extra) => {
                let span = extra.map_or_else(Span::call_site, |extra| extra.span());
                self.refuse(span, "the message is a literal text without arguments on devices");
                None
            }
            (Err(span), _) => {
                self.refuse(span, "the message is a literal text on devices");
                None
            }
        }
    }
}

/// Arguments in parentheses of the user's, so that rustc's messages about them point there.
fn arguments(span: Span, tokens: TokenStream) -> Group {
    let mut group = Group::new(Delimiter::Parenthesis, tokens);
    group.set_span(span);
    group
}
