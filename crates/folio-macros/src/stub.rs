//! The stub of a function that is refused: its errors, and its names. They stand for a type that
//! rustc knows to be wrong already, so rustc says nothing of what uses them.

use crate::body::call::hidden;
use crate::function::{Kind, given};
use crate::inside::Around;
use proc_macro2::{Ident, TokenStream};
use quote::quote;
use syn::{FnArg, GenericParam, Generics, ImplItem, ItemFn, ItemImpl, Visibility};

/// Allows what a user's name and an empty body would be warned of.
fn attributes() -> TokenStream {
    quote! {
        #[allow(non_camel_case_types, non_upper_case_globals, dead_code, missing_docs, type_alias_bounds,
            unused_variables, unreachable_code, private_interfaces, clippy::all, reason = "a stub")]
    }
}

/// The errors, as a type: where an array has no length, rustc asks no more of its elements.
fn error_type(error: &syn::Error, element: &TokenStream) -> TokenStream {
    let errors = error.to_compile_error();
    quote!(<[#element; { #errors }] as ::folio::ir::device::rust::iter::IntoIterator>::Item)
}

/// The stub of a function that takes so many arguments. Without parameters of its own it takes any.
pub fn of_function(
    vis: &Visibility,
    name: &Ident,
    (generics, arguments): (&Generics, usize),
    error: &syn::Error,
) -> TokenStream {
    let attributes = attributes();
    let (mut params, mut given, mut types) = (vec![], vec![], vec![]);
    for param in &generics.params {
        match param {
            GenericParam::Type(param) => {
                let name = &param.ident;
                params.push(quote!(#name));
                given.push(name);
                types.push(name);
            }
            GenericParam::Const(param) => {
                let (name, ty) = (&param.ident, &param.ty);
                params.push(quote!(const #name: #ty));
                given.push(name);
            }
            GenericParam::Lifetime(_) => {}
        }
    }
    let refused = error_type(error, &quote!((#(#types,)*)));
    let of = quote!(#name<#(#given),*>);
    let value = match params.is_empty() {
        true => quote!(const #name: #name = loop {};),
        false => {
            let arguments = (0..arguments).map(|_| quote!(_: #of));
            quote!(fn #name<#(#params),*>(#(#arguments),*) -> #of { loop {} })
        }
    };
    quote! {
        #attributes
        #vis type #name<#(#params),*> = #refused;
        #attributes
        #vis #value
    }
}

/// A function that is not free, in the place where it is: its error, and who calls it is told
/// nothing.
pub fn within(around: Around, function: &ItemFn, kind: Kind) -> TokenStream {
    let (vis, signature) = (&function.vis, &function.sig);
    let text = match (kind, around) {
        (Kind::Kernel, Around::Impl) => {
            "kernel: a kernel in an `impl` is one of a type that kernels know: write #[device_fn] above the `impl`, and pass \
             what the kernel needs of `self` as parameters"
        }
        (Kind::Kernel, Around::Trait) => {
            "kernel: a kernel is no function of a `trait`: move it out, or to an `impl` of the struct with #[device_fn]"
        }
        (Kind::Device | Kind::Method, _) => {
            "kernel: #[device_fn] stands above the `impl` of a struct, and makes device functions of all that is in it"
        }
    };
    let error = syn::Error::new(signature.ident.span(), text);
    if around == Around::Trait {
        let error = error.to_compile_error();
        return quote!(#signature { #error });
    }
    let (name, attributes) = (&signature.ident, attributes());
    let receiver = signature.receiver().map(|receiver| quote!(#receiver,));
    let count = given(signature, kind) - usize::from(receiver.is_some());
    let given = (0..count).map(|_| quote!(_: impl ::folio::ir::device::rust::marker::Sized));
    let refused = error_type(&error, &quote!(()));
    quote! {
        #attributes
        #vis fn #name(#receiver #(#given),*) -> #refused { loop {} }
    }
}

/// The stub of an `impl` of a struct, with the names by which kernels call its functions.
pub fn of_impl(item: &ItemImpl, error: &syn::Error) -> TokenStream {
    let (params, _, conditions) = item.generics.split_for_impl();
    let (of, attributes, refused) = (&item.self_ty, attributes(), error_type(error, &quote!(())));
    let items = item.items.iter().map(|inner| {
        let ImplItem::Fn(function) = inner else { return quote!(#inner) };
        let (vis, name) = (&function.vis, &function.sig.ident);
        let generics = &function.sig.generics.params;
        let inputs = function.sig.inputs.iter().map(|input| match input {
            FnArg::Receiver(receiver) => quote!(#receiver),
            FnArg::Typed(_) => quote!(_: __Refused),
        });
        let [free, method, place] =
            ["device_fn", "device_method", "device_place"].map(|what| hidden(what, name));
        let mode = quote!(<__M: ::folio::ir::device::Mode>);
        let bound = function.sig.receiver().map(|_| {
            quote! {
                #[doc(hidden)] #vis fn #method #mode(self) -> __Refused { loop {} }
                #[doc(hidden)] #vis fn #place #mode(self) -> __Refused { loop {} }
            }
        });
        quote! {
            #vis fn #name<#generics>(#(#inputs),*) -> __Refused { loop {} }
            #[doc(hidden)]
            #vis fn #free #mode() -> __Refused { loop {} }
            #bound
        }
    });
    quote! {
        const _: () = {
            #attributes
            type __Refused = #refused;
            #attributes
            impl #params #of #conditions { #(#items)* }
        };
    }
}
