//! Conditions on the types in a function's signature, for all items that are written of it. Where a
//! type is none for devices rustc says so once, at the user's type, and takes it for one everywhere
//! else, also where the function is called: see `folio_device::Shared`.

use proc_macro2::{TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use std::collections::HashSet;
use syn::spanned::Spanned;
use syn::{
    FnArg, GenericArgument, Generics, PathArguments, ReturnType, Signature, Type, TypeParam,
    TypeParamBound, WherePredicate,
};

/// Types of which nothing has to be asked: the language's own, and what has no values in memory.
const KNOWN: &[&str] = &[
    "bool", "i8", "i16", "i32", "i64", "isize", "u8", "u16", "u32", "u64", "usize", "f32", "f64",
    "f16", "bf16", "Self", "Item", "Group", "Log",
];

/// Views and others, of which the first argument is the type of an element.
const OF_ELEMENTS: &[&str] = &[
    "In",
    "Out",
    "InOut",
    "OutRow",
    "InOutRow",
    "OutColumn",
    "InOutColumn",
    "OutChunk",
    "OutGroup",
    "InOutGroup",
    "OutTile",
    "Atomic",
    "Racy",
    "RedBlack",
    "Scatter",
    "ScatterLast",
    "Reduce",
    "Local",
    "LocalAtomic",
];

/// Adds the conditions. Generic types have those that the user writes; what is a `DeviceType` is a
/// type of devices.
pub fn add(signature: &mut Signature) {
    let mut types = vec![];
    for ty in signature.generics.type_params_mut().filter(|ty| is_value(ty)) {
        let shared = quote_spanned!(ty.ident.span() => ::folio::ir::device::Shared);
        ty.bounds.extend(syn::parse2::<TypeParamBound>(shared));
    }
    for argument in &signature.inputs {
        if let FnArg::Typed(typed) = argument {
            collect(&typed.ty, &mut types);
        }
    }
    if let ReturnType::Type(_, ty) = &signature.output {
        collect(ty, &mut types);
    }
    let mut seen = HashSet::new();
    types.retain(|ty| seen.insert(ty.to_token_stream().to_string()));
    let generic = |ty: &Type| mentions(ty.to_token_stream(), &signature.generics);
    let conditions: Vec<WherePredicate> = types
        .iter()
        .filter(|ty| !generic(ty))
        .filter_map(|ty| {
            let asks = quote_spanned!(ty.span() => ::folio::ir::device::asked::<#ty>());
            // With `<>` rustc proposes no type parameter for an unknown type.
            let asked = quote! {{
                const fn asked<>() -> ::folio::ir::device::rust::primitive::usize {
                    #asks
                }
                asked()
            }};
            let condition = quote_spanned!(ty.span() => #ty: ::folio::ir::device::Shared<#asked>);
            syn::parse2(condition).ok()
        })
        .collect();
    if !conditions.is_empty() {
        signature.generics.make_where_clause().predicates.extend(conditions);
    }
}

/// The type parameter stands for what is in memory.
pub fn is_value(ty: &TypeParam) -> bool {
    ty.bounds.iter().any(|bound| match bound {
        TypeParamBound::Trait(of) => {
            of.path.segments.last().is_some_and(|last| last.ident == "DeviceType")
        }
        _ => false,
    })
}

/// The structs that a type is made of.
fn collect(ty: &Type, all: &mut Vec<Type>) {
    match ty {
        Type::Array(array) => collect(&array.elem, all),
        Type::Reference(of) => collect(&of.elem, all),
        Type::Paren(inner) => collect(&inner.elem, all),
        Type::Tuple(tuple) => tuple.elems.iter().for_each(|ty| collect(ty, all)),
        Type::Path(path) => {
            let Some(last) = path.path.segments.last() else { return };
            let is_of = |names: &[&str]| names.iter().any(|name| last.ident == name);
            if is_of(OF_ELEMENTS) || is_of(&["Option"]) {
                let PathArguments::AngleBracketed(list) = &last.arguments else { return };
                if let Some(GenericArgument::Type(element)) = list.args.first() {
                    collect(element, all);
                }
            } else if !is_of(KNOWN) {
                all.push(ty.clone());
            }
        }
        _ => {}
    }
}

/// A parameter of the function occurs in this.
pub fn mentions(tokens: TokenStream, generics: &Generics) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(name) => {
            let types = generics.type_params().map(|ty| &ty.ident);
            types.chain(generics.const_params().map(|n| &n.ident)).any(|own| *own == name)
        }
        TokenTree::Group(group) => mentions(group.stream(), generics),
        TokenTree::Punct(_) | TokenTree::Literal(_) => false,
    })
}

/// Traits of the standard library, which say nothing to a device: not even all of them together
/// make a number.
const OF_RUST: &[&str] = &[
    "Copy",
    "Clone",
    "Sized",
    "Send",
    "Sync",
    "Debug",
    "Display",
    "Default",
    "PartialEq",
    "Eq",
    "PartialOrd",
    "Ord",
    "Hash",
    "Add",
    "Sub",
    "Mul",
    "Div",
    "Rem",
    "Neg",
    "Not",
    "AddAssign",
    "SubAssign",
    "MulAssign",
    "DivAssign",
    "RemAssign",
    "BitAnd",
    "BitOr",
    "BitXor",
    "Shl",
    "Shr",
    "Sum",
    "Product",
    "From",
    "Into",
];

/// A trait of the standard library, as its name says.
pub fn is_of_rust(path: &syn::Path) -> bool {
    path.segments.last().is_some_and(|last| OF_RUST.iter().any(|name| last.ident == name))
}

/// Something is said to devices of what this parameter can be: a trait that may be Folio's, or has
/// one of its traits as a condition.
pub fn is_bound(ty: &TypeParam, generics: &Generics) -> bool {
    let conditions = generics.where_clause.iter().flat_map(|clause| &clause.predicates);
    let of_it = conditions.filter_map(|predicate| match predicate {
        WherePredicate::Type(of) if ty.ident == of.bounded_ty.to_token_stream().to_string() => {
            Some(&of.bounds)
        }
        _ => None,
    });
    let says = |bound: &TypeParamBound| match bound {
        TypeParamBound::Trait(of) => !of.path.segments.is_empty() && !is_of_rust(&of.path),
        _ => false,
    };
    std::iter::once(&ty.bounds).chain(of_it).flatten().any(says)
}
