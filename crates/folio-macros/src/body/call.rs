//! Methods, calls, and macros within kernels.

use super::subgroup::is_together;
use super::{Both, Special, Walk, lent, place_of};
use crate::foreign::{self, NOT_HERE};
use crate::tree::Tree;
use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Expr, ExprCall, ExprMethodCall, Lit, Macro, Token};

/// Methods of numbers, which become functions of `device::ops`.
pub const NUMBERS: &[&str] = &[
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
    "fast_mul_add",
    "fast_recip",
    "fast_div",
    "fast_sqrt",
    "fast_rsqrt",
    "fast_exp",
    "fast_exp2",
    "fast_ln",
    "fast_log2",
    "fast_sin",
    "fast_cos",
    "fast_powf",
    "mul_hi",
    "pow",
    "rem_euclid",
    "div_ceil",
    "powf",
    "atan2",
    "hypot",
    "copysign",
    "recip",
    "fract",
    "signum",
    "powi",
    "is_nan",
    "is_infinite",
    "is_finite",
    "wrapping_add",
    "wrapping_sub",
    "wrapping_mul",
    "saturating_add",
    "saturating_sub",
    "saturating_mul",
    "checked_add",
    "checked_sub",
    "checked_mul",
    "checked_div",
    "checked_rem",
    "rotate_left",
    "rotate_right",
    "wrapping_neg",
    "wrapping_pow",
    "abs_diff",
    "unsigned_abs",
    "count_ones",
    "count_zeros",
    "leading_ones",
    "trailing_ones",
    "leading_zeros",
    "trailing_zeros",
    "reverse_bits",
    "swap_bytes",
    "to_bits",
    "to_f32",
    "to_f64",
    "dot4_i8",
    "dot4_u8",
    "total_lt",
    "total_le",
    "total_gt",
    "total_ge",
    "total_eq",
    "total_ne",
    "printed_kind",
    "printed_low",
    "printed_high",
];

/// Methods of items, groups and views that are functions of `device::asks`.
const QUESTIONS: &[&str] = &[
    "pos",
    "index",
    "local_pos",
    "local_index",
    "size",
    "count",
    "subgroup_size",
    "subgroup_index",
    "subgroup_lane",
    "len",
    "shape",
];

/// Types whose functions convert.
pub const FLOATS_AND_INTEGERS: &[&str] = &[
    "i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "isize", "usize", "f32", "f64", "f16",
    "bf16",
];

/// Methods that are written as other code.
const REWRITTEN: &[&str] = &["sin_cos", "is_some", "is_none", "unwrap_or"];

/// A method of numbers, which computes and does nothing else.
pub(super) fn is_of_numbers(name: &str) -> bool {
    NUMBERS.contains(&name)
}

/// A method with this name would not be called.
pub fn is_taken(name: &str) -> bool {
    is_together(name)
        || REWRITTEN.contains(&name)
        || NUMBERS.contains(&name)
        || QUESTIONS.contains(&name)
        || NOT_HERE.iter().any(|(not, _)| *not == name)
}

/// A name for the called function that users do not see.
pub fn hidden(what: &str, name: &Ident) -> Ident {
    Ident::new(&format!("{what}_{}", name.unraw()), name.span())
}

impl Walk {
    /// `x.f(..)`
    pub fn method(&mut self, call: &ExprMethodCall) -> Both {
        if let Some(both) = self.sin_cos(call) {
            return both;
        }
        if let Some(both) = self.asks_option(call) {
            return both;
        }
        if let Some(both) = self.total_order(call) {
            return both;
        }
        let name = call.method.to_string();
        if let Some(text) = of_range(call, &name) {
            return self.refuse(call.span(), text);
        }
        let before = self.errors.count();
        let (receiver, receiver_tree) = self.as_whole(&call.receiver);
        if self.errors.count() > before {
            // The receiver was refused, and the call with it.
            return (receiver, Tree::unit());
        }
        if let Some(text) = self.no_method(call, &name) {
            return self.refuse(call.method.span(), text);
        }
        call.args.iter().for_each(|arg| self.passes(arg));
        let args: Vec<Both> = call.args.iter().map(|arg| self.argument(arg)).collect();
        let (natives, trees): (Vec<_>, Vec<_>) = args.into_iter().unzip();
        let method = &call.method;
        let tree = Tree::method(&receiver_tree, &name, &trees, place_of(method.span()));
        // Not as methods: a trait of the user's may have others of these names.
        let function = match name.as_str() {
            of if NUMBERS.contains(&of) => Some(quote!(ops)),
            of if QUESTIONS.contains(&of) => Some(quote!(asks)),
            _ => None,
        };
        if let Some(module) = function {
            let function = match self.limited(call) {
                Some(limited) => limited,
                None => quote_spanned!(method.span() => ::folio::ir::device::#module::#method),
            };
            let given = arguments(call.paren_token.span.join(), quote!(#receiver #(, #natives)*));
            return (quote!(#function #given), tree);
        }
        // A method of a struct, by `#[device_fn] impl`.
        self.acts += 1;
        if let Some(native) = self.in_place(call, &receiver, &natives) {
            let (slot, entry) = native;
            let all: Vec<_> = std::iter::once(receiver_tree).chain(trees).collect();
            return (slot, Tree::of("call").word(entry).parts(&all));
        }
        let given = arguments(call.paren_token.span.join(), quote!(#(#natives),*));
        let (slot, entry) = self.callee(method.span());
        let hidden = hidden("device_method", method);
        let span = method.span();
        let this = Ident::new("__this", Span::mixed_site().located_at(span));
        // The slot's function and what runs are of one type, whatever rustc finds by the name.
        let native = quote_spanned! {span=>
            let #this = #receiver;
            ::folio::ir::device::method::<_, __M, _, _>(&#slot, #this.#hidden::<__M>(), #this)
        };
        let all: Vec<_> = std::iter::once(receiver_tree).chain(trees).collect();
        let tree = Tree::of("call").word(entry).parts(&all);
        (
            quote_spanned!(span => ({ ::folio::ir::host_function!(#hidden, self); #native }) #given),
            tree,
        )
    }

    /// Why this is no method, as far as names say.
    fn no_method(&self, call: &ExprMethodCall, name: &str) -> Option<String> {
        if let Some((_, instead)) = NOT_HERE.iter().find(|(not, _)| *not == name) {
            return Some(format!("method `{name}` is not known on devices; {instead}"));
        }
        let of = &call.receiver;
        if matches!(self.special_of(of), Special::Group(_)) && !QUESTIONS.contains(&name) {
            return Some(format!(
                "there is no `{name}` here; a group has phases, `g.each(|i| ..)` and `g.once(|| ..)`, each of which \
                 begins when the one before has ended"
            ));
        }
        let has = match (self.is_view(of), self.rank_of_item(of), name) {
            (true, _, "len" | "shape") | (_, Some(1), "index") | (_, Some(2 | 3), "pos") => {
                return None;
            }
            (true, ..) => "a view has `len()` and `shape()`, and elements: `x[k]`",
            (_, Some(_), of) if of.starts_with("local_") || of.starts_with("subgroup_") => {
                return None;
            }
            (_, Some(1), _) => "an item of one dimension has a position, `i.index()`",
            (_, Some(2), _) => {
                "an item of two dimensions has a position, `let (row, column) = i.pos();`"
            }
            (_, Some(_), _) => {
                "an item of three dimensions has a position, `let (plane, row, column) = i.pos();`"
            }
            _ => return None,
        };
        Some(format!("there is no `{name}` here; {has}"))
    }

    /// `f(..)`
    pub fn call(&mut self, call: &ExprCall) -> Both {
        let Expr::Path(path) = &*call.func else {
            return self.refuse(call.func.span(), "call a #[device_fn] by its name");
        };
        if path.path.is_ident("Some")
            && let (Some(value), 1) = (call.args.first(), call.args.len())
        {
            return self.some(path, value);
        }
        if let (None, Some(both)) = (&path.qself, self.makes_tile(call)) {
            return both;
        }
        let data = call.args.iter().enumerate();
        let data = data.map(|(at, value)| (super::variant::numbered(at, value.span()), value));
        if let (None, Some(both)) = (&path.qself, self.variant(&path.path, data)) {
            return both;
        }
        call.args.iter().for_each(|arg| self.passes(arg));
        let args: Vec<Both> = call.args.iter().map(|arg| self.argument(arg)).collect();
        let (natives, trees): (Vec<_>, Vec<_>) = args.into_iter().unzip();
        let Some(last) = path.path.segments.last() else {
            return self.refuse(path.span(), "call a #[device_fn] by its name");
        };
        let segments = &path.path.segments;
        let before = segments.len().checked_sub(2).and_then(|at| segments.get(at));
        let given = arguments(call.paren_token.span.join(), quote!(#(#natives),*));
        if let (Some(owner), [tree]) = (before, &trees[..])
            && let Some((function, tree)) =
                self.conversion(&path.path, &owner.ident, &last.ident, tree)
        {
            return (quote!(#function #given), tree);
        }
        self.acts += 1;
        if self.is_closure(&call.func)
            && let Some(at) = self.number(&call.func)
        {
            if let Some(refused) = self.refuse_other(path) {
                return refused;
            }
            let tree = Tree::of("apply").word(at).parts(&trees);
            return (quote!(#path #given), tree);
        }
        let owner = before.map(|before| before.ident.to_string()).unwrap_or_default();
        if let Some(text) = self.not_called(&path.path, &owner, &last.ident) {
            return self.refuse(path.span(), text);
        }
        let closures = call.args.iter().filter(|arg| match lent::bare(arg) {
            Expr::Closure(_) => true,
            of => self.is_closure(of),
        });
        let closures: Vec<_> = closures.map(|_| quote!(_)).collect();
        let (slot, entry) = self.callee(last.ident.span());
        let tree = Tree::of("call").word(entry).parts(&trees);
        if owner.starts_with(char::is_uppercase) || path.qself.is_some() {
            // `Vec3::new(..)`, by `#[device_fn] impl`.
            let span = path.span();
            let hidden = Ident::new(&hidden("device_fn", &last.ident).to_string(), span);
            let mut path = path.clone();
            if let Some(last) = path.path.segments.last_mut() {
                *last = syn::PathSegment::from(hidden.clone());
            }
            let callee = quote_spanned!(span => ({ ::folio::ir::host_function!(#hidden); ::folio::ir::device::form::<_, __M, _>(&#slot, #path::<__M>()) }));
            return (quote!(#callee #given), tree);
        }
        // The function's type, imported. A host function has none: the glob's is found.
        let mut imported = path.path.clone();
        let arguments =
            imported.segments.last_mut().map(|last| std::mem::take(&mut last.arguments));
        let callee = quote_spanned!(last.ident.span() => ({
            use ::folio::ir::device::host::*;
            ::folio::ir::device::form::<_, __M, _>(&#slot, {
                use #imported as __callee;
                __callee #arguments::__at::<__M #(, #closures)*>()
            })
        }));
        (quote!(#callee #given), tree)
    }

    /// Why this cannot be a device function, as far as its name says.
    fn not_called(&self, path: &syn::Path, owner: &str, name: &Ident) -> Option<String> {
        let alone = path.get_ident();
        if self.name.is_some() && self.name.as_ref() == alone {
            return Some("a function cannot call itself on devices; write a loop".to_owned());
        }
        if let Some(local) = alone.and_then(|name| self.scopes.find(name)) {
            if self.spoilt.contains(&local) {
                return None;
            }
            return Some("this is a variable; call a #[device_fn] by its name".to_owned());
        }
        if let Some(text) = alone.and_then(|name| foreign::function(&name.to_string())) {
            return Some(format!("there is no `{name}` here; {text}"));
        }
        if FLOATS_AND_INTEGERS.contains(&owner) {
            return Some(format!(
                "functions of numbers are methods here: `x.{name}(..)` for `{owner}::{name}(x, ..)`"
            ));
        }
        if let Some(instead) = foreign::type_of_the_host(owner) {
            return Some(format!("`{owner}` is of the host; {instead}"));
        }
        self.no_function(path, name).map(str::to_owned)
    }

    fn no_function(&self, path: &syn::Path, name: &Ident) -> Option<&'static str> {
        let first = path.segments.first().filter(|_| path.segments.len() > 1);
        if first.is_some_and(|first| OF_RUST.iter().any(|of| first.ident == of)) {
            return Some(
                "functions of the standard library are not for devices; numbers have their methods, `a.max(b)`, and two \
                 values change places by `let (a, b) = (b, a);`",
            );
        }
        let name = name.to_string();
        if ["Ok", "Err"].contains(&name.as_str()) {
            return Some("`Result` is of the host; give an `Option`");
        }
        name.starts_with(char::is_uppercase).then_some(
            "variants and tuple structs are not supported; write a struct with named fields",
        )
    }

    /// Functions of numbers that convert: which one it is in Rust, also where a trait of the user's
    /// has another of this name; and the tree.
    fn conversion(
        &mut self,
        path: &syn::Path,
        owner: &Ident,
        name: &Ident,
        tree: &Tree,
    ) -> Option<Both> {
        let is_number = FLOATS_AND_INTEGERS.contains(&owner.to_string().as_str());
        let mut ty = path.clone();
        ty.segments.pop();
        ty.segments.pop_punct();
        let (at, of) = (name.span(), name.to_string());
        let function = match of.as_str() {
            "lit" => quote_spanned!(at => <#ty as ::folio::ir::device::Number>::#name),
            "from" if is_number => {
                quote_spanned!(at => <#ty as ::folio::ir::device::rust::convert::From<_>>::#name)
            }
            "from_bits" | "from_f32" | "from_f64" if is_number => {
                quote_spanned!(at => ::folio::ir::device::ops::#name::<#ty>)
            }
            _ => return None,
        };
        let entry = self.type_entry(&ty);
        let kind = if of == "from_bits" { "from_bits" } else { "cast" };
        Some((function, Tree::of(kind).part(tree).word(entry)))
    }

    /// `assert!`, `panic!`
    pub fn macro_call(&mut self, mac: &Macro) -> Both {
        if mac.path.is_ident("matches")
            && let Some(both) = self.matches(mac)
        {
            return both;
        }
        if mac.path.is_ident("print") || mac.path.is_ident("println") {
            return self.print(mac);
        }
        self.plan.give_up(mac.span());
        let name = mac.path.get_ident().map(ToString::to_string).unwrap_or_default();
        let parsed = mac.parse_body_with(Punctuated::<Expr, Token![,]>::parse_terminated);
        if let Some(text) = of_the_host(&name) {
            return self.refuse(mac.path.span(), text);
        }
        let Ok(parts) = parsed else {
            let text = format!("`{name}!` takes expressions and a literal text here");
            return self.refuse(mac.span(), text);
        };
        let mut parts = parts.into_iter();
        let span = mac.path.span();
        let at = place_of(span);
        match name.as_str() {
            "assert" | "debug_assert" => {
                let Some(cond) = parts.next() else {
                    return self.refuse(span, "`assert!` needs a condition");
                };
                let shown = cond.to_token_stream().to_string();
                self.deny_assertion(&name, span);
                self.may_leave(span, "`assert!`");
                let Some(text) = self.message(parts, &format!("assertion failed: {shown}")) else {
                    return (quote!(()), Tree::unit());
                };
                let (native, tree) = self.expr(&cond);
                self.may_be_gone();
                let failed = self.failed(&text, span);
                let native = quote_spanned!(span=> if !(#native) #failed);
                (native, Tree::of("assert").part(&tree).said(&text).at(at))
            }
            "panic" | "unreachable" | "todo" | "unimplemented" => {
                self.deny_assertion(&name, span);
                self.may_leave(span, "`panic!`");
                self.may_be_gone();
                let Some(text) = self.message(parts, &name) else {
                    return (quote!(()), Tree::unit());
                };
                (self.failed(&text, span), Tree::of("panic").said(&text).at(at))
            }
            _ => self.refuse(span, "this macro is not for devices"),
        }
    }

    /// The code of a failed assertion. In a kernel `return` ends the item; in a function called by
    /// one, nothing less than unwinding does.
    fn failed(&self, text: &str, span: Span) -> TokenStream {
        match self.ends_items {
            true => quote_spanned!(span=> {
                ::folio::ir::device::assert_failed(#text);
                return ::folio::ir::device::nothing();
            }),
            false => quote_spanned!(span=> { return ::folio::ir::device::end_item(#text); }),
        }
    }

    /// A literal message, or the default.
    fn message(&mut self, mut rest: impl Iterator<Item = Expr>, default: &str) -> Option<String> {
        let text = match rest.next() {
            None => return Some(default.to_owned()),
            Some(Expr::Lit(lit)) => match &lit.lit {
                Lit::Str(text) => Ok((text.value(), lit.span())),
                _ => Err(lit.span()),
            },
            Some(other) => Err(other.span()),
        };
        match (text, rest.next()) {
            (Ok((text, _)), None) if !text.contains('{') => Some(text),
            (Ok((_, literal)), extra) => {
                let span = extra.map_or(literal, |extra| extra.span());
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

/// Crates of Rust, none of whose functions is for devices.
const OF_RUST: &[&str] = &["std", "core", "alloc"];

/// The advice against a method of a range.
fn of_range(call: &ExprMethodCall, name: &str) -> Option<String> {
    let range = match &*call.receiver {
        Expr::Paren(inner) => &inner.expr,
        other => other,
    };
    let Expr::Range(range) = range else { return None };
    let text = super::place::range_text(range);
    let end = |end: &Option<Box<Expr>>| end.as_ref().map(|end| end.to_token_stream().to_string());
    let value = call.args.first().map(|arg| match arg {
        Expr::Reference(of) => of.expr.to_token_stream().to_string(),
        arg => arg.to_token_stream().to_string(),
    });
    let compare = match range.limits {
        syn::RangeLimits::HalfOpen(_) => "<",
        syn::RangeLimits::Closed(_) => "<=",
    };
    Some(match (name, end(&range.start), end(&range.end), value) {
        ("contains", Some(from), Some(to), Some(value)) => {
            format!(
                "a range is only for `for`; compare: `{from} <= {value} && {value} {compare} {to}`"
            )
        }
        _ => format!("devices have no iterators; write a loop: `for k in {text} {{ .. }}`"),
    })
}

/// Why a macro of this name is none for devices, whatever it is given.
fn of_the_host(name: &str) -> Option<String> {
    Some(match name {
        "assert" | "debug_assert" | "panic" | "unreachable" | "todo" | "unimplemented" => {
            return None;
        }
        "assert_eq" | "debug_assert_eq" => "write `assert!(a == b)`".to_owned(),
        "assert_ne" | "debug_assert_ne" => "write `assert!(a != b)`".to_owned(),
        "eprintln" | "eprint" | "dbg" => {
            format!("`{name}!` cannot run on a device; `print!` can")
        }
        "vec" => "`vec!` allocates, which devices cannot; use an array, whose length is a constant: `[0.0; 16]`".to_owned(),
        "format" => "`format!` allocates, which devices cannot, and there are no strings".to_owned(),
        "matches" => "write `match`, or compare with `==`".to_owned(),
        _ => format!(
            "what `{name}!` stands for is not seen here; write a `#[device_fn]` of it, and call that, or let a macro write \
             the whole kernel"
        ),
    })
}

/// Arguments in parentheses of the user's, so that rustc's messages about them point there.
pub(super) fn arguments(span: Span, tokens: TokenStream) -> Group {
    let mut group = Group::new(Delimiter::Parenthesis, tokens);
    group.set_span(span);
    group
}
