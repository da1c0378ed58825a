//! `derive(DeviceType)` of enums with data: for devices a struct of the variant's number and the
//! fields of all variants, of which those of other variants are zero. It is in no memory.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Attribute, DataEnum, DeriveInput, Error, Fields, Index, Member, Type, Variant};

/// Attributes that change nothing of an enum. Others could, after it was read here.
const HARMLESS: &[&str] =
    &["repr", "doc", "derive", "allow", "expect", "warn", "deny", "must_use", "non_exhaustive"];

/// A field of a variant.
struct Data<'d> {
    variant: &'d Variant,
    member: Member,
    ty: &'d Type,
    /// The variable that it is bound to.
    own: Ident,
}

impl Data<'_> {
    fn member(&self) -> String {
        match &self.member {
            Member::Named(name) => name.unraw().to_string(),
            Member::Unnamed(at) => at.index.to_string(),
        }
    }
}

fn refuse(input: &DeriveInput, data: &DataEnum) -> syn::Result<()> {
    let foreign = |of: &&Attribute| !HARMLESS.iter().any(|name| of.path().is_ident(name));
    if let Some(attribute) = input.attrs.iter().find(foreign) {
        let text = "DeviceType: an enum with data has no attribute here that could change it; write it above the derive";
        return Err(Error::new(attribute.span(), text));
    }
    for variant in &data.variants {
        if let Some((_, number)) = &variant.discriminant {
            let text = "DeviceType: variants of an enum with data are numbered from 0; leave the number out";
            return Err(Error::new(number.span(), text));
        }
        if !matches!(variant.fields, Fields::Unit) && variant.fields.is_empty() {
            let text = "DeviceType: this variant has no data; leave out its brackets";
            return Err(Error::new(variant.span(), text));
        }
    }
    Ok(())
}

fn fields(data: &DataEnum) -> Vec<Data<'_>> {
    let all = data.variants.iter().flat_map(|variant| {
        variant.fields.iter().enumerate().map(move |(at, field)| {
            let member = match &field.ident {
                Some(name) => Member::Named(name.clone()),
                None => Member::Unnamed(Index::from(at)),
            };
            (variant, member, &field.ty)
        })
    });
    all.enumerate()
        .map(|(at, (variant, member, ty))| {
            let own = format_ident!("__field{at}", span = Span::mixed_site());
            Data { variant, member, ty, own }
        })
        .collect()
}

/// An arm that appends the numbers of a value of this variant, the `nth`.
fn arm(name: &Ident, variant: &Variant, number: u32, all: &[Data<'_>], to: &Ident) -> TokenStream {
    let is_own = |data: &&Data<'_>| data.variant.ident == variant.ident;
    let own = all.iter().filter(is_own).map(|Data { member, own, .. }| quote!(#member: #own));
    let bits = all.iter().map(|data| {
        let Data { ty, own, .. } = data;
        let value = match is_own(&data) {
            true => quote!(#own),
            false => quote!(::folio::ir::device::zeroed::<#ty>()),
        };
        quote!(<#ty as ::folio::ir::device::Shared>::bits(#value, #to);)
    });
    let variant = &variant.ident;
    quote! {
        #name::#variant { #(#own),* } => {
            #to.push(#number as ::folio::ir::device::rust::primitive::u64);
            #(#bits)*
        }
    }
}

/// Expands the derive; the enum has no parameters, and a representation.
pub fn with_data(input: &DeriveInput, data: &DataEnum) -> syn::Result<TokenStream> {
    refuse(input, data)?;
    let (name, text) = (&input.ident, input.ident.unraw().to_string());
    let site = Span::mixed_site().located_at(name.span());
    let [table, to, of, field] =
        ["__types", "__all", "__variant", "__field"].map(|name| Ident::new(name, site));
    let all = fields(data);
    let variants: Vec<_> = data.variants.iter().zip(0u32..).collect();
    let arms = variants.iter().map(|(variant, nth)| arm(name, variant, *nth, &all, &to));
    let numbers = variants.iter().map(|(variant, nth)| {
        let variant = variant.ident.unraw().to_string();
        quote!(#variant => ::folio::ir::device::constant::<::folio::ir::device::rust::primitive::u32>(#nth),)
    });
    let (mut described, mut entries) = (vec![], vec![]);
    for data in &all {
        let (variant, member) = (data.variant.ident.unraw().to_string(), data.member());
        let (of, ty) = (format!("{variant}.{member}"), data.ty);
        described.push(quote_spanned! {ty.span()=>
            (#of, <#ty as ::folio::ir::device::Shared>::describe(#table))
        });
        entries.push(quote_spanned! {ty.span()=>
            (#variant, #member) => <#ty as ::folio::ir::device::Slotted>::entry(),
        });
    }
    let types = all.iter().map(|data| data.ty);
    Ok(quote_spanned! {site=>
        #[diagnostic::do_not_recommend]
        // SAFETY: it has the layout of its representation, which numbers variants from 0 on. All
        // fields are of types whose zero bytes are values, so zero bytes are the first variant.
        unsafe impl ::folio::ir::device::Shared for #name
        where
            #name: ::folio::ir::device::rust::marker::Copy,
            #(#types: ::folio::ir::device::Shared,)*
        {
            const IN_MEMORY: bool = false;
            fn describe(#table: &mut ::folio::ir::Types) -> ::folio::ir::Type {
                let fields = [
                    ("#", <::folio::ir::device::rust::primitive::u32 as ::folio::ir::device::Shared>::describe(#table)),
                    #(#described),*
                ];
                #table.structure(#text, &fields)
            }
            fn bits(self, #to: &mut ::folio::ir::device::rust::vec::Vec<::folio::ir::device::rust::primitive::u64>) {
                match self { #(#arms)* }
            }
        }
        #[diagnostic::do_not_recommend]
        // SAFETY: the variants and fields of the enum, as `Shared` describes them.
        unsafe impl ::folio::ir::device::Variants for #name {
            fn number(#of: &::folio::ir::device::rust::primitive::str) -> ::folio::ir::source::Entry {
                match #of {
                    #(#numbers)*
                    _ => ::folio::ir::source::Entry::Unit,
                }
            }
            fn field(
                #of: &::folio::ir::device::rust::primitive::str,
                #field: &::folio::ir::device::rust::primitive::str,
            ) -> ::folio::ir::source::Entry {
                match (#of, #field) {
                    #(#entries)*
                    _ => ::folio::ir::source::Entry::Unit,
                }
            }
        }
        impl ::folio::ir::device::NoDeref for #name {}
    })
}
