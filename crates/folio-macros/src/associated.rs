//! `#[kernel]` on a function of an `impl` with `#[device_fn]`: a free kernel, which has no name
//! elsewhere, and a function of the `impl` that makes calls of it.

use crate::columns::columns_of;
use crate::conditions::is_value;
use crate::errors::Errors;
use crate::function::{self, Kind};
use crate::methods::outside;
use crate::parameter::{Role, argument_of, is_log, role_of};
use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Attribute, FnArg, ImplItemFn, ItemFn, ItemImpl, Meta, Pat, PatType, Token, Type};

/// The kernel, if the function has the attribute.
pub fn kernel(item: &ItemImpl, function: &ImplItemFn, errors: &mut Errors) -> Option<TokenStream> {
    let own = function.attrs.iter().position(is_kernel)?;
    let mut attrs = function.attrs.clone();
    let arguments = match attrs.remove(own).meta {
        Meta::List(list) => list.tokens,
        _ => TokenStream::new(),
    };
    if let Some(receiver) = function.sig.receiver() {
        let text = "a kernel has no `self`: its first parameter is its item, and it is given what it needs";
        errors.add(receiver.span(), text);
        return Some(TokenStream::new());
    }
    let mut sig = function.sig.clone();
    if !sig.generics.params.is_empty() && !item.generics.params.is_empty() {
        let text = "a kernel in an `impl` that has parameters has no own ones";
        errors.add(sig.generics.span(), text);
        return Some(TokenStream::new());
    }
    if sig.generics.params.is_empty() {
        sig.generics = item.generics.clone();
    }
    // The kernel stands where the attribute of the `impl` does.
    sig.fn_token = Token![fn](Span::call_site());
    let (vis, block) = (function.vis.clone(), Box::new(function.block.clone()));
    let free = ItemFn { attrs: vec![], vis, sig, block };
    let free = outside(&free.to_token_stream(), &item.self_ty);
    let kernel = function::expand(arguments, free, Kind::Kernel);
    let maker = maker(item, function, &attrs);
    let there = attrs.iter().filter(|attribute| attribute.path().is_ident("cfg"));
    Some(quote! {
        #(#there)*
        const _: () = {
            #kernel
            #maker
        };
    })
}

fn is_kernel(attribute: &Attribute) -> bool {
    attribute.path().segments.last().is_some_and(|last| last.ident == "kernel")
}

/// The function of the `impl` that makes a call.
fn maker(item: &ItemImpl, function: &ImplItemFn, attrs: &[Attribute]) -> TokenStream {
    let (of, name, vis) = (&item.self_ty, &function.sig.ident, &function.vis);
    let (params, arguments, conditions) = item.generics.split_for_impl();
    let (own, own_arguments, own_conditions) = function.sig.generics.split_for_impl();
    let given = match item.generics.params.is_empty() {
        true => own_arguments,
        false => arguments,
    };
    let turbofish = given.as_turbofish();
    let typed = function.sig.inputs.iter().filter_map(|input| match input {
        FnArg::Typed(typed) => Some(typed),
        FnArg::Receiver(_) => None,
    });
    let typed: Vec<_> = typed.collect();
    let rank = typed.first().and_then(|first| match role_of(&first.ty).0 {
        Role::Item(rank) | Role::Group(rank) => Some(usize::from(rank)),
        _ => None,
    });
    // As the kernel asks it (`conditions::add`).
    let own_conditions = own_conditions.into_iter().flat_map(|all| &all.predicates);
    let shared = item.generics.type_params().filter(|ty| is_value(ty)).map(|ty| &ty.ident);
    // A kernel without an item is refused.
    let rank = rank.unwrap_or(1);
    let passed = typed.iter().filter_map(|typed| argument(typed));
    let (names, types): (Vec<_>, Vec<_>) = passed.unzip();
    quote! {
        impl #params #of #conditions {
            #(#attrs)*
            #[allow(clippy::too_many_arguments, reason = "kernels take what they need")]
            #vis fn #name #own (#(#names: #types),*)
                -> ::folio::KernelCall<#name #given, #rank>
            where
                #(#own_conditions,)*
                #(#shared: ::folio::ir::device::Shared,)*
            {
                #name #turbofish(#(#names),*)
            }
        }
    }
}

/// The name and type of an argument of calls, if the parameter is one.
fn argument(PatType { pat, ty, .. }: &PatType) -> Option<(TokenStream, TokenStream)> {
    let Pat::Ident(name) = &**pat else { return None };
    let name = name.ident.to_token_stream();
    if let Some((of, view)) = columns_of(ty) {
        let changes = (view != "In").then(|| quote!(mut));
        return Some((
            name,
            quote_spanned!(ty.span()=> &#changes <#of as ::folio::Columns>::Buffers),
        ));
    }
    Some((name, argument_type(ty)?))
}

fn argument_type(ty: &Type) -> Option<TokenStream> {
    if is_log(ty) {
        return Some(quote!(&::folio::Log));
    }
    match role_of(ty).0 {
        Role::View | Role::Reduce => {
            let kind = argument_of(ty);
            Some(quote_spanned!(ty.span()=> impl ::folio::arguments::#kind<#ty>))
        }
        Role::Value => Some(ty.to_token_stream()),
        _ => None,
    }
}
