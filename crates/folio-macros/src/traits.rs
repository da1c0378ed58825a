//! `#[device_fn]` on a trait and on its `impl`s: functions and methods that generic kernels call by
//! a bound. For each function the trait has a type that stands for it, which each `impl` chooses,
//! and the forms of that.

use crate::body::call::hidden;
use crate::errors::Errors;
use crate::forms::{attributes, lints};
use crate::methods::{Read, marker, outside, read, without_mut};
use crate::parameter::{By, taken};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote};
use syn::spanned::Spanned;
use syn::{FnArg, ImplItem, ImplItemFn, ItemImpl, ItemTrait, TraitItem, TraitItemFn, Type};

/// What is called of a function, by its receiver and parameters.
struct Forms {
    /// How `self` is taken, if it is.
    own: Option<By>,
    /// The parameters' names and types, without `self`.
    given: Vec<(Ident, Type)>,
    output: TokenStream,
}

impl Forms {
    /// Those of a signature, as far as it can be read.
    fn of(signature: &syn::Signature) -> Forms {
        let (mut own, mut given) = (None, vec![]);
        for (at, input) in signature.inputs.iter().enumerate() {
            match input {
                FnArg::Receiver(of) => {
                    own = Some(match (&of.reference, &of.mutability) {
                        (None, _) => By::Value,
                        (Some(_), None) => By::Reference,
                        (Some(_), Some(_)) => By::Change,
                    });
                }
                FnArg::Typed(typed) => {
                    let name = Ident::new(&format!("__given{at}"), Span::mixed_site());
                    given.push((name, (*typed.ty).clone()));
                }
            }
        }
        Forms { own, given, output: signature.output.to_token_stream() }
    }

    fn types(&self) -> Vec<&Type> {
        self.given.iter().map(|(_, ty)| ty).collect()
    }

    /// The hidden functions: their heads, each with the expression of its form by `rust`, the body
    /// in Rust.
    fn functions(
        &self,
        name: &Ident,
        marked: &TokenStream,
        rust: &TokenStream,
    ) -> Vec<[TokenStream; 2]> {
        let form = quote!(::folio::ir::device::Form);
        let (types, output) = (self.types(), &self.output);
        let names: Vec<_> = self.given.iter().map(|(name, _)| name).collect();
        let mode = quote!(<__M: ::folio::ir::device::Mode>);
        let mut all = vec![];
        let of_self = self.own.map(|by| match by {
            By::Value => quote!(Self,),
            By::Reference => quote!(&Self,),
            By::Change => quote!(&mut Self,),
        });
        let free = hidden("device_fn", name);
        all.push([
            quote!(fn #free #mode() -> #form<#marked, __M, fn(#of_self #(#types),*) #output>),
            quote!(#rust::<__M>),
        ]);
        let Some(by) = self.own else { return all };
        let [this, before] =
            ["__this", "__before"].map(|name| Ident::new(name, Span::mixed_site()));
        let bound = hidden("device_method", name);
        let head = |ty: TokenStream| quote!(fn #bound #mode(self) -> #form<#marked, __M, #ty>);
        all.push(match by {
            By::Change => {
                let needs = quote!(::folio::ir::device::NeedsVariable);
                [head(needs.clone()), needs]
            }
            By::Value | By::Reference => {
                let own = (by == By::Reference).then(|| quote!(&));
                [
                    head(quote! {
                        impl ::folio::ir::device::Method<
                            Self,
                            Bound = impl ::folio::ir::device::rust::ops::Fn(#(#types),*) #output,
                        >
                    }),
                    quote! {
                        |#this: Self| move |#(#names: #types),*| {
                            #rust::<__M>(#own #this #(, #names)*)
                        }
                    },
                ]
            }
        });
        let (mut inner, mut passed) = (vec![], vec![]);
        for (name, ty) in &self.given {
            let (by, ty) = taken(ty);
            inner.push(ty);
            passed.push(match by {
                By::Value => quote!(#name),
                By::Reference => quote!(&#name),
                By::Change => return all,
            });
        }
        let own = match by {
            By::Value => quote!(#before),
            By::Reference => quote!(&#before),
            By::Change => quote!(#this),
        };
        let placed = hidden("device_place", name);
        all.push([
            quote! {
                fn #placed #mode(self)
                    -> #form<#marked, __M, fn(&mut Self, Self, (#(#inner,)*)) #output>
            },
            quote! {
                |#this: &mut Self, #before: Self, (#(#names,)*): (#(#inner,)*)| {
                    #rust::<__M>(#own #(, #passed)*)
                }
            },
        ]);
        all
    }
}

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
pub fn implement(item: &ItemImpl, path: &syn::Path, errors: &mut Errors) -> TokenStream {
    let (params, _, conditions) = item.generics.split_for_impl();
    let (attrs, of) = (&item.attrs, &item.self_ty);
    let (mut outer, mut bodies) = (TokenStream::new(), TokenStream::new());
    for inner in &item.items {
        match inner {
            ImplItem::Fn(function) => {
                let (own, body) = function_of(item, function, errors);
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
    item: &ItemImpl,
    function: &ImplItemFn,
    errors: &mut Errors,
) -> (TokenStream, TokenStream) {
    let name = &function.sig.ident;
    let (params, arguments, conditions) = item.generics.split_for_impl();
    let (of, output) = (&item.self_ty, &function.sig.output);
    let Read { signature, walk, native, tree } = read(item, function, errors);
    let [inputs, without] = [false, true].map(|all| without_mut(&function.sig, all));
    let body = signature.body(&walk, output, &native);
    let (holder, rust) = (hidden("__Body", name), hidden("__body", name));
    let call = quote!(<Self as #holder #arguments>::#rust);
    let outside_call = quote!(<#of as #holder #arguments>::#rust);
    let probe = signature.probe(&outside_call);
    let described = outside(&signature.described(name, tree, &probe, &[]), of);
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
