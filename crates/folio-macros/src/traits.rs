//! `#[device_fn]` on a trait and on its `impl`s: functions and methods that generic kernels call by
//! a bound. For each function the trait has a type that stands for it, which each `impl` chooses,
//! and the forms of that.

use crate::body::call::hidden;
use crate::called::Forms;
use crate::errors::Errors;
use crate::forms::{attributes, lints};
use crate::methods::{Impl, Read, marker, outside, read, without_mut};
use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::spanned::Spanned;
use syn::{ImplItem, ImplItemFn, ItemTrait, TraitItem, TraitItemFn};

/// Expands the attribute of a trait.
pub fn expand_trait(mut item: ItemTrait) -> TokenStream {
    let mut errors = Errors::default();
    if let Some(generic) = item.generics.params.first() {
        errors.add(generic.span(), "a trait of device functions has no parameters of its own");
    }
    let mut made = vec![];
    for inner in &mut item.items {
        let TraitItem::Fn(TraitItemFn { sig, default, .. }) = inner else { continue };
        if let Some(body) = default {
            let text = "a device function of a trait has its body in each `impl`, and none here";
            errors.add(body.span(), text);
        }
        if let Some(generic) = sig.generics.params.first() {
            errors.add(generic.span(), "a device function of a trait has no parameters of its own");
        }
        let (of, forms) = (hidden("function", &sig.ident), Forms::of(sig));
        made.push(quote! {
            #[doc(hidden)]
            #[allow(non_camel_case_types, missing_docs, reason = "hidden")]
            type #of: ::folio::ir::device::Inlined;
        });
        let functions = forms.functions(&sig.ident, &quote!(Self::#of), &TokenStream::new());
        let copied = quote!(where Self: ::folio::ir::device::rust::marker::Copy);
        let copied = forms.own.is_some().then_some(copied);
        made.extend(functions.into_iter().map(|[head, _]| {
            quote! {
                #[doc(hidden)]
                #[allow(missing_docs, reason = "hidden")]
                #head #copied;
            }
        }));
    }
    let error = errors.take().map(|error| error.to_compile_error());
    let (attrs, vis, unsafety, name) = (&item.attrs, &item.vis, &item.unsafety, &item.ident);
    let (params, conditions) = (&item.generics.params, &item.generics.where_clause);
    let (bounds, items) = (item.supertraits.iter(), &item.items);
    let made = error.is_none().then_some(made).into_iter().flatten();
    quote! {
        #error
        #(#attrs)*
        #vis #unsafety trait #name<#params>: 'static #(+ #bounds)* #conditions {
            #(#items)*
            #(#made)*
        }
    }
}

/// The `impl` of such a trait.
pub fn implement(of_all: Impl<'_>, path: &syn::Path, errors: &mut Errors) -> TokenStream {
    let (item, _) = of_all;
    let (params, _, conditions) = item.generics.split_for_impl();
    let (attrs, of) = (&item.attrs, &item.self_ty);
    let (mut outer, mut bodies) = (TokenStream::new(), TokenStream::new());
    for inner in &item.items {
        match inner {
            ImplItem::Fn(function) => {
                let (own, body) = function_of(of_all, function, errors);
                outer.extend(own);
                bodies.extend(body);
            }
            other => other.to_tokens(&mut outer),
        }
    }
    let unsafety = &item.unsafety;
    let attributes = attributes();
    quote! {
        const _: () = {
            #bodies
            #(#attrs)*
            #attributes
            #unsafety impl #params #path for #of #conditions { #outer }
        };
    }
}

/// A function of the trait: what the `impl` has of it, and beside that its body.
fn function_of(
    of_all: Impl<'_>,
    function: &ImplItemFn,
    errors: &mut Errors,
) -> (TokenStream, TokenStream) {
    let (item, _) = of_all;
    let name = &function.sig.ident;
    let (params, arguments, conditions) = item.generics.split_for_impl();
    let (of, output) = (&item.self_ty, &function.sig.output);
    let Read { signature, walk, native, tree } = read(of_all, function, errors);
    let [inputs, without] = [false, true].map(|all| without_mut(&function.sig, all));
    let body = signature.body(&walk, output, &native);
    let (holder, rust) = (hidden("__Body", name), hidden("__body", name));
    let call = quote!(<Self as #holder #arguments>::#rust);
    let outside_call = quote!(<#of as #holder #arguments>::#rust);
    let probe = signature.probe(&outside_call);
    let described = outside(&signature.described(name, tree, &probe, None), of);
    let marker = marker(item, name, &quote!(&#described));
    let (made, marked) = (marker.tokens, marker.ty);
    let (forms, associated) = (Forms::of(&function.sig), hidden("function", name));
    let functions = forms.functions(name, &quote!(Self::#associated), &call);
    let functions = functions.into_iter().map(|[head, value]| {
        quote! {
            #[inline(always)]
            #head {
                // SAFETY: both forms are of one body.
                unsafe { ::folio::ir::device::Form::new(#value) }
            }
        }
    });
    let (own, lints, names) = (&function.attrs, lints(&function.attrs), signature.names());
    let attributes = attributes();
    let head = outside(&quote!(<__M: ::folio::ir::device::Mode>(#inputs) #output), of);
    (
        quote! {
            #(#own)*
            #[inline]
            fn #name(#without) #output { #call::<::folio::ir::device::Checked>(#(#names),*) }
            #[doc(hidden)]
            type #associated = #marked;
            #(#functions)*
        },
        quote! {
            #made
            #attributes
            #[allow(non_camel_case_types, reason = "it has the function's name")]
            trait #holder #params: ::folio::ir::device::rust::marker::Sized #conditions {
                fn #rust #head;
            }
            #attributes
            impl #params #holder #arguments for #of #conditions {
                #lints
                #[inline(always)]
                fn #rust<__M: ::folio::ir::device::Mode>(#inputs) #output #body
            }
        },
    )
}
