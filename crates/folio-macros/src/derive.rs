//! `derive(DeviceType)`.
//!
//! Attributes that stand below the derive change the struct after it was read here. The description
//! of the struct is checked again where it is compiled: that these are its fields, all of them, of
//! these types, and where they are. The checks are named by way of `folio`, as all is: a program's
//! own crate may be called `core`.

use crate::{conditions, enums};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Data, DeriveInput, Error, Fields, Generics, Meta, Token, Type, WherePredicate};

/// Expands the derive.
pub fn expand(item: TokenStream) -> TokenStream {
    let input = match syn::parse2::<DeriveInput>(item) {
        Ok(input) => input,
        Err(error) => return error.to_compile_error(),
    };
    implement(&input).unwrap_or_else(|error| {
        let (error, stub) = (error.to_compile_error(), stub(&input));
        quote!(#error #stub)
    })
}

/// A type that is refused is a device type to what uses it, of which rustc then tells nothing.
fn stub(input: &DeriveInput) -> TokenStream {
    let (name, (params, arguments, conditions)) = (&input.ident, input.generics.split_for_impl());
    if input.generics.lifetimes().next().is_some() {
        return TokenStream::new();
    }
    quote! {
        #[diagnostic::do_not_recommend]
        // SAFETY: no program has it.
        unsafe impl #params ::folio::DeviceType for #name #arguments #conditions {}
        #[diagnostic::do_not_recommend]
        // SAFETY: as above.
        unsafe impl #params ::folio::ir::device::Shared for #name #arguments #conditions {
            fn describe(_: &mut ::folio::ir::Types) -> ::folio::ir::Type {
                loop {}
            }
            fn bits(self, _: &mut ::folio::ir::device::rust::vec::Vec<::folio::ir::device::rust::primitive::u64>) {}
        }
    }
}

/// Whether the struct's `repr` has this part.
fn has_repr(input: &DeriveInput, part: &str) -> bool {
    let all = input.attrs.iter().filter(|attribute| attribute.path().is_ident("repr"));
    // Rustc reports attributes that cannot be read.
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

/// Conditions on the fields' types: once for both traits, so that rustc reports each error once.
struct Asked {
    /// Parameters and conditions of `Shared` and of `DeviceType`.
    shared: Generics,
    in_memory: Generics,
    /// By field: its type as one of each.
    of_shared: Vec<TokenStream>,
    of_memory: Vec<TokenStream>,
}

impl Asked {
    fn of(input: &DeriveInput, types: &[&Type]) -> syn::Result<Asked> {
        let [shared, in_memory] =
            [quote!(::folio::ir::device::Shared), quote!(::folio::DeviceType)];
        // A generic field is in memory where its parameters are.
        let generic = |ty: &Type| conditions::mentions(ty.to_token_stream(), &input.generics);
        let field = |ty: &Type, of: &TokenStream| match generic(ty) {
            true => of.clone(),
            false => quote_spanned!(ty.span() => ::folio::fields::Field),
        };
        let each = |of: &TokenStream| -> Vec<TokenStream> {
            let of = |ty: &Type| {
                let of = field(ty, of);
                quote_spanned!(ty.span() => <#ty as #of>)
            };
            types.iter().map(|ty| of(ty)).collect()
        };
        let with = |of: &TokenStream| {
            with(&input.generics, types, |ty| {
                let of = field(ty, of);
                quote_spanned!(ty.span() => #ty: #of)
            })
        };
        let (of_shared, of_memory) = (each(&shared), each(&in_memory));
        let mut asked = Asked {
            shared: with(&shared)?,
            in_memory: with(&quote!(#in_memory + #shared))?,
            of_shared,
            of_memory,
        };
        let name = &input.ident;
        if input.generics.params.is_empty() {
            let copied =
                quote_spanned!(name.span() => #name: ::folio::ir::device::rust::marker::Copy);
            let copied: WherePredicate = syn::parse2(copied)?;
            for generics in [&mut asked.shared, &mut asked.in_memory] {
                generics.make_where_clause().predicates.push(copied.clone());
            }
        }
        Ok(asked)
    }
}

fn implement(input: &DeriveInput) -> syn::Result<TokenStream> {
    let name = &input.ident;
    let data = match &input.data {
        Data::Struct(data) => data,
        Data::Enum(data) => return variants(input, data),
        Data::Union(_) => {
            return Err(Error::new(name.span(), "DeviceType: for structs and enums"));
        }
    };
    let Fields::Named(fields) = &data.fields else {
        return Err(Error::new(name.span(), "DeviceType: give the fields names"));
    };
    if let Some(lifetime) = input.generics.lifetimes().next() {
        let text = "DeviceType: devices have no references; keep values, and pass views to kernels: `In<T>`";
        return Err(Error::new(lifetime.span(), text));
    }
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
    let Asked { shared, in_memory, of_shared, of_memory } = Asked::of(input, &types)?;
    let (own_params, _, own_conditions) = input.generics.split_for_impl();
    let (params, arguments, conditions) = in_memory.split_for_impl();
    let (_, _, described) = shared.split_for_impl();
    let [table, all, end, fits] =
        ["__types", "__all", "__end", "__fits"].map(|name| Ident::new(name, Span::mixed_site()));
    let own = (0..idents.len()).map(|at| format_ident!("__field{at}", span = Span::mixed_site()));
    let own: Vec<_> = own.collect();
    let of = |ty: &syn::Type, what: &str| {
        let what = Ident::new(what, ty.span());
        quote_spanned!(ty.span() => ::folio::ir::device::rust::mem::#what::<#ty>())
    };
    let sizes: Vec<_> = types.iter().map(|ty| of(ty, "size_of")).collect();
    let aligns: Vec<_> = types.iter().map(|ty| of(ty, "align_of")).collect();
    let padding = "a device type has no padding: add fields, or order them by size";
    let empty =
        "a device type has no field without bytes: languages of devices know none; leave it out";
    let site = Span::mixed_site().located_at(name.span());
    // Generic fields are checked where they are used. Errors of the struct's own fields are told
    // first, and here: where `CHECKED` fails rustc also tells where that was asked for.
    let now = in_memory.params.is_empty().then(|| {
        let filled = quote_spanned! {site=>
            ::folio::ir::device::rust::mem::size_of::<#name>() == 0 #(+ #sizes)*
        };
        quote_spanned! {site=>
            const _: () = {
                use ::folio::fields::Unchecked as _;
                ::folio::ir::device::rust::assert!(true #(&& #sizes > 0)*, #empty);
                ::folio::ir::device::rust::assert!(#filled, #padding);
                ::folio::fields::Checked::<#name, { true #(&& #sizes > 0)* && #filled }>::LAYOUT
            };
        }
    });
    Ok(quote_spanned! {site=>
        #[diagnostic::do_not_recommend]
        // SAFETY: the fields are device types; that there is no padding between them is asserted.
        unsafe impl #params ::folio::DeviceType for #name #arguments #conditions {
            const CHECKED: () = {
                #(let () = #of_memory::CHECKED;)*
                ::folio::ir::device::rust::assert!(true #(&& #sizes > 0)*, #empty);
                ::folio::ir::device::rust::assert!(<Self as ::folio::ir::device::Shared>::IN_MEMORY, #padding);
            };
        }
        #[diagnostic::do_not_recommend]
        // SAFETY: `bits` does not compile but for these fields, zero bytes of which are values. The
        // struct is `IN_MEMORY` if they follow each other as in the description, without padding.
        unsafe impl #params ::folio::ir::device::Shared for #name #arguments #described {
            const IN_MEMORY: bool = {
                let (mut #fits, mut #end) = (true, 0);
                #(
                    #fits = #fits && #sizes > 0 && #of_shared::IN_MEMORY
                        && ::folio::ir::device::rust::mem::align_of::<Self>() >= #aligns
                        && ::folio::ir::device::rust::mem::offset_of!(Self, #idents) == #end;
                    #end += #sizes;
                )*
                #fits && ::folio::ir::device::rust::mem::size_of::<Self>() == #end
            };
            fn describe(#table: &mut ::folio::ir::Types) -> ::folio::ir::Type {
                #(let #idents = #of_shared::describe(#table);)*
                #table.structure(#text, &[#((#names, #idents)),*])
            }
            fn bits(self, #all: &mut ::folio::ir::device::rust::vec::Vec<::folio::ir::device::rust::primitive::u64>) {
                let Self { #(#idents: #own),* } = self;
                #(#of_shared::bits(#own, #all);)*
            }
        }
        impl #own_params ::folio::ir::device::NoDeref for #name #arguments #own_conditions {}
        #now
    })
}

/// The integers that can be an enum's representation.
const REPRESENTATIONS: &[&str] = &["u8", "i8", "u16", "i16", "u32", "i32"];

/// An enum: without data, for devices a struct of its number. It is in no buffer, where there could
/// be numbers of no variant.
fn variants(input: &DeriveInput, data: &syn::DataEnum) -> syn::Result<TokenStream> {
    let name = &input.ident;
    if !input.generics.params.is_empty() {
        return Err(Error::new(
            input.generics.span(),
            "DeviceType: an enum has no parameters here",
        ));
    }
    let Some(repr) = REPRESENTATIONS.iter().find(|repr| has_repr(input, repr)) else {
        let text =
            "DeviceType: write #[repr(u32)] on the enum, so that devices agree on its numbers";
        return Err(Error::new(name.span(), text));
    };
    if data.variants.iter().any(|variant| !matches!(variant.fields, Fields::Unit)) {
        return enums::with_data(input, data);
    }
    let site = Span::mixed_site().located_at(name.span());
    let [repr, all, other] = [repr, "__all", "__other"].map(|name| Ident::new(name, site));
    let repr = quote!(::folio::ir::device::rust::primitive::#repr);
    let numbers = data.variants.iter().map(|variant| {
        let variant = &variant.ident;
        quote!(#name::#variant as #repr == 0)
    });
    let (text, table) = (name.unraw().to_string(), Ident::new("__types", site));
    let zero = "one variant of an enum for devices has the number 0";
    Ok(quote_spanned! {site=>
        const _: () = {
            ::folio::ir::device::rust::assert!(false #(|| #numbers)*, #zero);
            // Attributes below the derive may have changed it.
            ::folio::ir::device::rust::assert!(
                ::folio::ir::device::rust::mem::size_of::<#name>()
                    == ::folio::ir::device::rust::mem::size_of::<#repr>()
            );
        };
        #[diagnostic::do_not_recommend]
        // SAFETY: zero bytes are a variant, as is asserted, and the enum has the layout of its
        // representation.
        unsafe impl ::folio::ir::device::Shared for #name
        where
            #name: ::folio::ir::device::rust::marker::Copy
        {
            fn describe(#table: &mut ::folio::ir::Types) -> ::folio::ir::Type {
                let number = <#repr as ::folio::ir::device::Shared>::describe(#table);
                #table.structure(#text, &[("number", number)])
            }
            fn bits(self, #all: &mut ::folio::ir::device::rust::vec::Vec<::folio::ir::device::rust::primitive::u64>) {
                <#repr as ::folio::ir::device::Shared>::bits(self as #repr, #all);
            }
        }
        // SAFETY: by their numbers, whatever else the enum's traits say.
        unsafe impl ::folio::ir::device::ops::Equal for #name {
            #[inline(always)]
            fn equals(self, #other: Self) -> ::folio::ir::device::rust::primitive::bool {
                self as #repr == #other as #repr
            }
        }
        impl ::folio::ir::device::NoDeref for #name {}
    })
}
