//! `#[device_fn]` on an `impl`: methods and functions of structs, and operators.

use crate::body::call::{hidden, is_taken};
use crate::body::{FLOATS_AND_INTEGERS, Walk};
use crate::called::Forms;
use crate::errors::Errors;
use crate::forms::{attributes, lints};
use crate::function::Kind;
use crate::parameter::path_of;
use crate::signature::{Asked, Signature};
use crate::tree::Tree;
use crate::{associated, conditions, stub, traits};
use proc_macro2::{Group, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{FnArg, ImplItem, ImplItemFn, ItemImpl, Pat, ReturnType};

/// Expands the attribute.
pub fn expand(arguments: TokenStream, item: &ItemImpl) -> TokenStream {
    let mut asked = Walk::default();
    let Asked { checked, .. } = Asked::read(arguments, Kind::Method, &mut asked);
    let mut errors = asked.errors;
    let all = |inner, errors: &mut _| inherent((item, checked), inner, errors);
    let parts = match &item.trait_ {
        None => item.items.iter().map(|inner| all(inner, &mut errors)).collect(),
        Some((_, path, _)) if is_operator(item) => operator((item, checked), path, &mut errors),
        Some((_, path, _)) if conditions::is_of_rust(path) => {
            let text = "of Rust's traits, only `Add`, `Sub`, `Mul`, `Div`, `Rem` and `Neg` can be device functions, each with its \
                one function; `a += b` is `a = a + b`";
            errors.add(path.span(), text);
            TokenStream::new()
        }
        Some((_, path, _)) => traits::implement((item, checked), path, &mut errors),
    };
    match (errors.take(), &item.trait_) {
        (None, _) => parts,
        (Some(error), None) => stub::of_impl(item, &error),
        (Some(error), Some(_)) if !is_operator(item) => {
            let error = error.to_compile_error();
            quote!(#item #error)
        }
        (Some(error), Some((_, path, _))) => {
            let (error, stub) = (error.to_compile_error(), operator_stub(item, path));
            quote!(#stub #error)
        }
    }
}

/// A function, read and walked.
pub struct Read {
    pub signature: Signature,
    pub walk: Walk,
    pub native: TokenStream,
    pub tree: Tree,
}

/// An `impl`, and whether its functions are `checked`.
pub type Impl<'i> = (&'i ItemImpl, bool);

pub fn read((item, checked): Impl<'_>, function: &ImplItemFn, errors: &mut Errors) -> Read {
    let mut walk = Walk::default();
    walk.checked = checked;
    walk.generic = item.generics.type_params().next().is_some();
    walk.errors = std::mem::take(errors);
    let name = &function.sig.ident;
    if !function.sig.generics.params.is_empty() {
        let text =
            "functions in an `impl` have its parameters and no own; write a free #[device_fn]";
        walk.refuse(function.sig.generics.span(), text);
    }
    let signature = Signature::read(&function.sig, Kind::Method, Asked::default(), &mut walk);
    if signature.has_views() {
        walk.refuse(
            name.span(),
            "views and items are for free functions; write a free #[device_fn]",
        );
    }
    let (native, tree) = walk.whole(&function.sig, &function.block);
    *errors = std::mem::take(&mut walk.errors);
    Read { signature, walk, native, tree }
}

/// An item of an `impl` of a struct.
fn inherent(of_all: Impl<'_>, inner: &ImplItem, errors: &mut Errors) -> TokenStream {
    let (item, _) = of_all;
    let (params, _, conditions) = item.generics.split_for_impl();
    let (attrs, of) = (&item.attrs, &item.self_ty);
    let ImplItem::Fn(function) = inner else {
        return quote!(#(#attrs)* impl #params #of #conditions { #inner });
    };
    if let Some(kernel) = associated::kernel(item, function, errors) {
        return kernel;
    }
    let name = &function.sig.ident;
    if is_taken(&name.unraw().to_string()) {
        let text = format!("`{name}` is what numbers or views have; give it another name");
        errors.add(name.span(), text);
    }
    let Read { signature, walk, native, tree } = read(of_all, function, errors);
    let (names, output) = (signature.names(), &function.sig.output);
    let body = signature.body(&walk, output, &native);
    let rust = hidden("__body", name);
    let described = hidden("__DESCRIBED", name);
    let value = outside(
        &signature.described(name, tree, &signature.probe(&quote!(<#of>::#rust)), None),
        of,
    );
    let marker = marker(item, name, &quote!(&<#of>::#described));
    let (vis, attributes, own) = (&function.vis, attributes(), &function.attrs);
    let lints = lints(own);
    let [inputs, outer] = [false, true].map(|all| without_mut(&function.sig, all));
    let (made, marked) = (marker.tokens, marker.ty);
    let forms = Forms::of(&function.sig).functions(name, &marked, &quote!(Self::#rust));
    let forms = forms.into_iter().map(|[head, value]| {
        quote! {
            #[doc(hidden)]
            #[inline(always)]
            #[allow(missing_docs, unused_variables, reason = "hidden")]
            #vis #head {
                // SAFETY: both forms are of one body.
                unsafe { ::folio::ir::device::Form::new(#value) }
            }
        }
    });
    // Nothing is there without the function.
    let there = own.iter().filter(|attribute| attribute.path().is_ident("cfg"));
    quote! {
        #(#there)*
        const _: () = {
            #made
            #(#attrs)*
            #attributes
            impl #params #of #conditions {
                #lints
                #[inline(always)]
                fn #rust<__M: ::folio::ir::device::Mode>(#inputs) #output #body
                const #described: ::folio::ir::source::Function = #value;
                #(#own)*
                #vis fn #name(#outer) #output {
                    Self::#rust::<::folio::ir::device::Checked>(#(#names),*)
                }
                #(#forms)*
            }
        };
    }
}

/// By its function, of which there is one: the trait may be imported by another name.
fn is_operator(item: &ItemImpl) -> bool {
    let mut functions = item.items.iter().filter_map(|item| match item {
        ImplItem::Fn(function) => Some(&function.sig.ident),
        _ => None,
    });
    let first = functions.next();
    functions.next().is_none()
        && first.is_some_and(|first| OPERATORS.iter().any(|(name, ..)| first == name))
}

/// The `impl` of an operator.
fn operator(of_all: Impl<'_>, path: &syn::Path, errors: &mut Errors) -> TokenStream {
    let (item, _) = of_all;
    let functions = item.items.iter().filter_map(|item| match item {
        ImplItem::Fn(function) => Some(function),
        _ => None,
    });
    let mut functions = functions.collect::<Vec<_>>();
    // By its function: the trait may be imported by another name.
    let known = functions.first().and_then(|only| {
        let (_, ours, function, mark) =
            OPERATORS.iter().find(|(name, ..)| only.sig.ident == name)?;
        let arguments = path.segments.last().map(|last| &last.arguments);
        Some((Ident::new(ours, Span::mixed_site()), *function, *mark, arguments))
    });
    let (Some((ours, function, mark, arguments)), Some(method), true) =
        (known, functions.pop(), functions.is_empty())
    else {
        let text = "of traits, only `Add`, `Sub`, `Mul`, `Div`, `Rem` and `Neg` can be device functions; write \
            an `impl` of the struct";
        errors.add(path.span(), text);
        return TokenStream::new();
    };
    // A number on the left: the product is of the type on the right.
    let right =
        path_of(&item.self_ty).is_some_and(|(name, _)| FLOATS_AND_INTEGERS.contains(&&*name));
    if right && mark != '*' {
        let text = "a number on the left of a struct is for `*` alone: of others, on the left of an operator is a struct of the program's";
        errors.add(item.self_ty.span(), text);
        return TokenStream::new();
    }
    let (ours, function) = match right {
        true => (Ident::new("TimesRight", Span::mixed_site()), "times_right"),
        false => (ours, function),
    };
    let Read { signature, walk, native, tree } = read(of_all, method, errors);
    let (params, _, conditions) = item.generics.split_for_impl();
    let (attrs, of) = (&item.attrs, &item.self_ty);
    let (names, output) = (signature.names(), &method.sig.output);
    let [inputs, outer] = [false, true].map(|all| without_mut(&method.sig, all));
    let result = if right { output.clone() } else { by_value(output) };
    let body = signature.body(&walk, &result, &native);
    let ours = quote!(::folio::ir::device::ops::#ours #arguments);
    let function = Ident::new(function, Span::mixed_site());
    let form = quote!(<#of as #ours>::#function);
    let described =
        outside(&signature.described(&method.sig.ident, tree, &signature.probe(&form), None), of);
    let marker = marker(item, &method.sig.ident, &quote!(&#described));
    let (made, marked) = (marker.tokens, marker.ty);
    let others = item.items.iter().filter(|item| !matches!(item, ImplItem::Fn(_)));
    let (attributes, own, name) = (attributes(), &method.attrs, &method.sig.ident);
    let (same_trait, lints) = (same_trait(item, path, mark), lints(own));
    quote! {
        const _: () = {
            #made
            #same_trait
            #(#attrs)*
            impl #params #path for #of #conditions {
                #(#others)*
                #(#own)*
                #[inline]
                fn #name(#outer) #output {
                    #form::<::folio::ir::device::Checked>(#(#names),*)
                }
            }
            #attributes
            // SAFETY: both forms are of one body.
            #[diagnostic::do_not_recommend]
            unsafe impl #params #ours for #of #conditions {
                #lints
                #[inline(always)]
                fn #function<__M: ::folio::ir::device::Mode>(#inputs) #result #body
                fn entry() -> ::folio::ir::source::Entry {
                    ::folio::ir::source::Entry::Function(
                        <#marked as ::folio::ir::device::Inlined>::FUNCTION,
                    )
                }
            }
        };
    }
}

/// Parameters without `mut`: the body binds them again, all but `self`. Who only passes them on has
/// none at all.
pub fn without_mut(signature: &syn::Signature, all: bool) -> TokenStream {
    let mut inputs = signature.inputs.clone();
    for input in &mut inputs {
        match input {
            FnArg::Typed(typed) => {
                if let Pat::Ident(name) = &mut *typed.pat {
                    name.mutability = None;
                }
            }
            FnArg::Receiver(receiver) if all && receiver.reference.is_none() => {
                receiver.mutability = None;
            }
            FnArg::Receiver(_) => {}
        }
    }
    inputs.to_token_stream()
}

/// The rest of an operator that is refused: an operator that computes nothing. Of another trait,
/// all.
fn operator_stub(item: &ItemImpl, path: &syn::Path) -> TokenStream {
    let (mut empty, mut errors) = (item.clone(), Errors::default());
    for inner in &mut empty.items {
        if let ImplItem::Fn(function) = inner {
            function.block = syn::parse_quote!({ loop {} });
        }
    }
    let parts = operator((&empty, false), path, &mut errors);
    let parts = quote!(#[allow(unused_variables, unreachable_code, reason = "a stub")] #parts);
    errors.take().map_or(parts, |_| quote!(#item))
}

/// The function of Rust's trait, ours, its function, and the operator.
const OPERATORS: &[(&str, &str, &str, char)] = &[
    ("add", "Plus", "plus", '+'),
    ("sub", "Minus", "minus", '-'),
    ("mul", "Times", "times", '*'),
    ("div", "Over", "over", '/'),
    ("rem", "Modulo", "modulo", '%'),
    ("neg", "Negated", "negated", '!'),
];

/// Compiles if the trait of an `impl` is Rust's of this operator, whatever it is called there.
fn same_trait(item: &ItemImpl, path: &syn::Path, mark: char) -> TokenStream {
    let (params, conditions) = (&item.generics.params, &item.generics.where_clause);
    let separator = (!params.empty_or_trailing()).then(|| quote!(,));
    let of = Ident::new("__Operand", Span::mixed_site().located_at(path.span()));
    let arguments = path.segments.last().map(|last| &last.arguments);
    let by = match arguments {
        Some(syn::PathArguments::AngleBracketed(list)) => list.args.to_token_stream(),
        _ => quote!(#of),
    };
    let tokens = quote_spanned! {path.span()=>
        #[allow(dead_code, reason = "it is there to be compiled")]
        fn __same_trait<#params #separator #of: #path>() #conditions {
            ::folio::ir::device::ops::is_operator::<#mark, ::folio::ir::device::ops::Operand<#of>, #by>();
        }
    };
    outside(&tokens, &item.self_ty)
}

/// `-> Self`, whatever it is called: operators give the type of their left side.
fn by_value(output: &ReturnType) -> ReturnType {
    let span = output.span();
    syn::parse2(quote_spanned!(span=> -> Self)).unwrap_or(ReturnType::Default)
}

/// A type that stands for a function, with the parameters of the `impl`.
pub struct Marker {
    pub tokens: TokenStream,
    pub ty: TokenStream,
}

pub fn marker(item: &ItemImpl, name: &Ident, described: &TokenStream) -> Marker {
    let (params, arguments, conditions) = item.generics.split_for_impl();
    let markers = item.generics.type_params().map(|p| &p.ident);
    let (of, attributes) = (hidden("function", name), attributes());
    let tokens = quote! {
        #[allow(non_camel_case_types, missing_debug_implementations, unreachable_pub,
            reason = "named after the function, and hidden")]
        pub struct #of #params #conditions { __of: ::folio::ir::device::rust::marker::PhantomData<(#(#markers,)*)> }
        #attributes
        // SAFETY: both forms are of one body.
        unsafe impl #params ::folio::ir::device::Inlined for #of #arguments #conditions {
            const FUNCTION: &'static ::folio::ir::source::Function = #described;
        }
    };
    Marker { tokens, ty: quote!(#of #arguments) }
}

/// The same with `Self` spelled out, for where it would mean something else.
pub fn outside(tokens: &TokenStream, of: &syn::Type) -> TokenStream {
    let replace = |token| match token {
        TokenTree::Ident(name) if name == "Self" => quote!(#of),
        TokenTree::Group(group) => {
            let mut inner = Group::new(group.delimiter(), outside(&group.stream(), of));
            inner.set_span(group.span());
            inner.to_token_stream()
        }
        other => other.to_token_stream(),
    };
    tokens.clone().into_iter().flat_map(replace).collect()
}
