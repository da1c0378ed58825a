//! The forms by which kernels call functions and methods of types: those of an `impl`, and those
//! that a trait asks for.

use crate::body::call::hidden;
use crate::parameter::{By, taken};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote};
use syn::{FnArg, Type};

/// A method or function of a type, as kernels call it.
pub struct Forms {
    /// How `self` is taken, if it is.
    pub own: Option<By>,
    /// The parameters' names and types, without `self`.
    given: Vec<(Ident, Type)>,
    output: TokenStream,
}

impl Forms {
    /// The forms of a signature, as far as it can be read.
    pub fn of(signature: &syn::Signature) -> Forms {
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

    /// The hidden functions that give the forms: the head of each, and the form, made of `rust`,
    /// the body in Rust. One is called by a path, one of a value, and one of a variable, with its
    /// value from before the arguments. A method that changes what its arguments refer to has none
    /// of a variable.
    pub fn functions(
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
