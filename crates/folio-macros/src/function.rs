//! Functions under an attribute: each is read, walked, and written as what it becomes; or refused.

use crate::body::Walk;
use crate::columns::{self, Columns};
use crate::parameter::{Role, role_of};
use crate::signature::{Asked, Signature};
use crate::{
    combine, conditions, deep, fragments, inside, methods, outputs, positions, stub, traits,
};
use proc_macro2::{Ident, TokenStream, TokenTree};
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::spanned::Spanned;
use syn::{Attribute, FnArg, Generics, ItemFn, Pat, Token, Visibility, parse_quote};

/// The two uses of a function.
#[derive(Clone, Copy, PartialEq)]
pub enum Kind {
    /// Launched.
    Kernel,
    /// Called by kernels.
    Device,
    /// The same, in an `impl`.
    Method,
}

/// Expands an attribute.
pub fn expand(arguments: TokenStream, item: TokenStream, kind: Kind) -> TokenStream {
    if kind == Kind::Kernel
        && let Some(asked) = columns::asked(&arguments, &item)
    {
        return asked;
    }
    expand_with(arguments, item, kind, vec![])
}

/// The same, of a kernel with these columns.
pub fn expand_with(
    arguments: TokenStream,
    item: TokenStream,
    kind: Kind,
    columns: Vec<Columns>,
) -> TokenStream {
    if let Some(at) = deep::find(&arguments).or_else(|| deep::find(&item)) {
        return syn::Error::new(at, format!("kernel: {}", deep::TEXT)).to_compile_error();
    }
    let (arguments, item) = (fragments::opened(arguments), fragments::opened(item));
    let item = positions::opened(item);
    let mut function = match syn::parse2::<ItemFn>(item.clone()) {
        Ok(function) => function,
        Err(error) => {
            if let Ok((vis, name)) = name_of.parse2(item.clone()) {
                let nothing = (&Generics::default(), 0);
                return stub::of_function(&vis, &name, nothing, &named(&error));
            }
            let is_impl = |token| matches!(token, TokenTree::Ident(word) if word == "impl");
            if kind == Kind::Device && item.clone().into_iter().any(is_impl) {
                return match syn::parse2(item) {
                    Ok(item) => methods::expand(arguments, &item),
                    Err(error) => named(&error).to_compile_error(),
                };
            }
            let is_trait = |token| matches!(token, TokenTree::Ident(word) if word == "trait");
            if kind == Kind::Device && item.clone().into_iter().any(is_trait) {
                return match syn::parse2(item) {
                    Ok(item) => traits::expand_trait(item),
                    Err(error) => named(&error).to_compile_error(),
                };
            }
            let text = match kind {
                Kind::Kernel => "kernel: this attribute is for functions: `fn name(..) { .. }`",
                Kind::Device | Kind::Method => {
                    "kernel: this attribute is for functions, traits and `impl`s"
                }
            };
            return syn::Error::new(item.span(), text).to_compile_error();
        }
    };
    if let Some(around) = inside::around(function.sig.fn_token.span) {
        return stub::within(around, &function, kind);
    }
    combine::resolve(&mut function.sig);
    if kind == Kind::Device {
        name_patterns(&mut function);
    }
    let mut walk = Walk::default();
    walk.ends_items = kind == Kind::Kernel;
    walk.name = Some(function.sig.ident.clone());
    let parameters = function.sig.generics.type_params();
    walk.kinds.parameters = parameters.map(|ty| ty.ident.to_string()).collect();
    walk.generic = !walk.kinds.parameters.is_empty();
    let asked = Asked::read(arguments, kind, &mut walk);
    (walk.deny_checks, walk.checked) = (asked.deny_checks, asked.checked);
    let mut parts = Signature::read(&function.sig, kind, asked, &mut walk);
    parts.columns = columns;
    let (native, tree) = walk.whole(&function.sig, &function.block);
    if kind == Kind::Kernel {
        outputs::check(&function.sig, &function.block, &mut walk.errors);
    }
    if let Some(error) = std::mem::take(&mut walk.errors).take() {
        let takes = (&function.sig.generics, given(&function.sig, kind));
        return stub::of_function(&function.vis, &function.sig.ident, takes, &error);
    }
    conditions::add(&mut function.sig);
    parts.emit(&function, kind, &walk, &native, tree)
}

/// Parameters that are patterns get names, and the body a `let` for each.
pub fn name_patterns(function: &mut ItemFn) {
    let mut lets = vec![];
    for (at, argument) in function.sig.inputs.iter_mut().enumerate() {
        if let FnArg::Typed(typed) = argument
            && let Pat::Tuple(_) | Pat::Slice(_) = &*typed.pat
        {
            let name = Ident::new(&format!("{NAMED}{at}"), typed.pat.span());
            let pattern = std::mem::replace(&mut *typed.pat, parse_quote!(#name));
            lets.push(parse_quote!(let #pattern = #name;));
        }
    }
    function.block.stmts.splice(0..0, lets);
}

/// The names of parameters that are patterns begin with this.
pub const NAMED: &str = "__argument";

/// The parser's error, with advice where an index has a comma.
fn named(error: &syn::Error) -> syn::Error {
    let text = error.to_string();
    let advice = match text.ends_with("expected `]`") {
        true => "; an index of several dimensions is a tuple: `x[(row, column)]`",
        false => "",
    };
    syn::Error::new(error.span(), format!("kernel: {text}{advice}"))
}

/// The name of a function whose rest is of any form.
fn name_of(input: ParseStream<'_>) -> syn::Result<(Visibility, Ident)> {
    input.call(Attribute::parse_outer)?;
    let vis = input.parse()?;
    while !input.peek(Token![fn]) {
        input.call(Ident::parse_any)?;
    }
    input.parse::<Token![fn]>()?;
    let name = input.parse()?;
    input.parse::<TokenStream>()?;
    Ok((vis, name))
}

/// How many arguments calls have. A kernel's item or group, and its local memory, are none.
pub fn given(signature: &syn::Signature, kind: Kind) -> usize {
    let is_given = |input: &&FnArg| match input {
        FnArg::Typed(typed) if kind == Kind::Kernel => {
            matches!(role_of(&typed.ty).0, Role::View | Role::Reduce | Role::Value)
        }
        _ => true,
    };
    signature.inputs.iter().filter(is_given).count()
}
