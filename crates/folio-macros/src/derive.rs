//! `derive(DeviceType)`.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote_spanned;
use syn::ext::IdentExt;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Data, DeriveInput, Error, Fields, Meta, Token};

/// Expands the derive.
pub fn expand(item: TokenStream) -> TokenStream {
    match syn::parse2::<DeriveInput>(item).and_then(|input| implement(&input)) {
        Ok(tokens) => tokens,
        Err(error) => error.to_compile_error(),
    }
}

/// Whether the struct's `repr` has this part.
fn has_repr(input: &DeriveInput, part: &str) -> bool {
    let all = input.attrs.iter().filter(|attribute| attribute.path().is_ident("repr"));
    // What cannot be read is none; rustc reports it.
    let parts = all.filter_map(|attribute| {
        attribute.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated).ok()
    });
    parts.flatten().any(|meta| meta.path().is_ident(part))
}

/// The parameters, with a condition on each of these types.
fn with(
    generics: &syn::Generics,
    types: &[&syn::Type],
    condition: impl Fn(&syn::Type) -> TokenStream,
) -> syn::Result<syn::Generics> {
    let mut generics = generics.clone();
    let all = generics.make_where_clause();
    for ty in types {
        all.predicates.push(syn::parse2(condition(ty))?);
    }
    Ok(generics)
}

fn implement(input: &DeriveInput) -> syn::Result<TokenStream> {
    let name = &input.ident;
    let Data::Struct(data) = &input.data else {
        return Err(Error::new(name.span(), "DeviceType: only structs can be device types"));
    };
    let Fields::Named(fields) = &data.fields else {
        return Err(Error::new(name.span(), "DeviceType: give the fields names"));
    };
    if !has_repr(input, "C") {
        let text =
            "DeviceType: write #[repr(C)] on the struct, so that devices agree on its layout";
        return Err(Error::new(name.span(), text));
    }
    if has_repr(input, "packed") {
        let text = "DeviceType: devices have fields where they are aligned; remove `packed`, and order them by size";
        return Err(Error::new(name.span(), text));
    }
    let text = name.unraw().to_string();
    let (mut idents, mut names, mut types) = (vec![], vec![], vec![]);
    for field in &fields.named {
        let Some(ident) = &field.ident else { continue };
        idents.push(ident);
        names.push(ident.unraw().to_string());
        types.push(&field.ty);
    }
    let shared = with(
        &input.generics,
        &types,
        |ty| quote_spanned!(ty.span()=> #ty: ::folio::ir::device::Shared),
    )?;
    let in_memory = with(
        &input.generics,
        &types,
        |ty| quote_spanned!(ty.span()=> #ty: ::folio::DeviceType + ::folio::ir::device::Shared),
    )?;
    let (params, arguments, conditions) = in_memory.split_for_impl();
    let (_, _, described) = shared.split_for_impl();
    let table = Ident::new("__types", Span::mixed_site());
    let all = Ident::new("__all", Span::mixed_site());
    let each = types.iter().map(
        |ty| quote_spanned!(ty.span() => <#ty as ::folio::ir::device::Shared>::describe(#table)),
    );
    let sizes: Vec<_> =
        types.iter().map(|ty| quote_spanned!(ty.span() => ::core::mem::size_of::<#ty>())).collect();
    let padding = "a device type has no padding: add fields, or order them by size";
    let empty =
        "a device type has no field without bytes: languages of devices know none; leave it out";
    let site = Span::mixed_site().located_at(name.span());
    // What is generic is checked where it is used.
    let now = in_memory
        .params
        .is_empty()
        .then(|| quote_spanned!(site=> const _: () = <#name as ::folio::DeviceType>::CHECKED;));
    Ok(quote_spanned! {site=>
        // SAFETY: the fields are device types; that there is no padding between them is asserted.
        unsafe impl #params ::folio::DeviceType for #name #arguments #conditions {
            const CHECKED: () = {
                #(<#types as ::folio::DeviceType>::CHECKED;)*
                ::core::assert!(true #(&& #sizes > 0)*, #empty);
                ::core::assert!(<Self as ::folio::ir::device::Shared>::IN_MEMORY, #padding);
            };
        }
        // SAFETY: `repr(C)` lays fields out as the description does; it says whether there is padding.
        unsafe impl #params ::folio::ir::device::Shared for #name #arguments #described {
            const IN_MEMORY: bool = ::core::mem::size_of::<Self>() == 0 #(+ #sizes)*
                #(&& #sizes > 0 && <#types as ::folio::ir::device::Shared>::IN_MEMORY)*;
            fn describe(#table: &mut ::folio::ir::Types) -> ::folio::ir::Type {
                #(let #idents = #each;)*
                #table.structure(#text, &[#((#names, #idents)),*])
            }
            fn bits(self, #all: &mut ::std::vec::Vec<::core::primitive::u64>) {
                #(::folio::ir::device::Shared::bits(self.#idents, #all);)*
            }
        }
        #now
    })
}
