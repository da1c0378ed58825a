//! Types that the signatures of kernels cannot have, with what to write instead.

use crate::body::Walk;
use crate::parameter::{Role, path_of, role_of};
use quote::ToTokens;
use syn::spanned::Spanned;
use syn::{GenericArgument, PathArguments, Type, TypeArray, TypeReference, TypeSlice};

/// Refuses types without a layout that devices agree on; at the top, or as the element of a view.
pub fn refuse_in_memory(ty: &Type, walk: &mut Walk) {
    match ty {
        Type::Tuple(_) => {
            walk.refuse(ty.span(), "a tuple cannot be in memory; pass its parts, or a struct");
        }
        Type::Path(path) if path.path.is_ident("bool") => {
            walk.refuse(ty.span(), "a `bool` cannot be in memory; pass a `u32`, and compare it");
        }
        Type::Path(path) if path.path.segments.last().is_some_and(|of| of.ident == "Option") => {
            let text = "an `Option` cannot be in memory; pass a value that stands for none";
            walk.refuse(ty.span(), text);
        }
        Type::Array(array) => refuse_in_memory(&array.elem, walk),
        Type::Path(path) => {
            let Some(last) = path.path.segments.last() else { return };
            let PathArguments::AngleBracketed(list) = &last.arguments else { return };
            for argument in &list.args {
                if let GenericArgument::Type(inner) = argument {
                    refuse_in_memory(inner, walk);
                }
            }
        }
        _ => {}
    }
}

/// Numbers that devices do not change atomically.
const NOT_ATOMIC: &[&str] = &["i8", "u8", "i16", "u16", "f16", "bf16"];

/// Refuses atomic elements of types that cannot be atomic.
pub fn refuse_atomic(ty: &Type, walk: &mut Walk) {
    let Some((name, _)) = path_of(ty) else { return };
    let Type::Path(path) = ty else { return };
    let Some(PathArguments::AngleBracketed(list)) =
        path.path.segments.last().map(|last| &last.arguments)
    else {
        return;
    };
    let Some(GenericArgument::Type(element)) = list.args.first() else { return };
    let of = element.to_token_stream().to_string();
    if ["Atomic", "LocalAtomic"].contains(&name.as_str()) && NOT_ATOMIC.contains(&of.as_str()) {
        let text = format!(
            "devices change integers and floats of 32 and 64 bits atomically, and no `{of}`; write `{name}<u32>`, and \
             `as u32` for what is added"
        );
        walk.refuse(element.span(), text);
    }
}

/// Refuses numbers of dimensions that a type does not have.
pub fn refuse_rank(ty: &Type, walk: &mut Walk) {
    const OF_RANK: [&str; 11] = [
        "Item",
        "Group",
        "In",
        "Out",
        "InOut",
        "OutGroup",
        "InOutGroup",
        "Atomic",
        "Racy",
        "Scatter",
        "ScatterLast",
    ];
    let Some((name, rank)) = path_of(ty) else { return };
    let Some(rank) = rank else {
        let says = ["Item", "Group"].contains(&name.as_str()) && has_arguments(ty);
        if says {
            walk.refuse(ty.span(), "write how many dimensions it has as a number: `Item<2>`");
        }
        return;
    };
    if ["OutRow", "InOutRow", "OutColumn", "InOutColumn"].contains(&name.as_str()) {
        let text = format!(
            "an `{name}` is of two dimensions by itself, rows and columns, and the item of one: write `{name}<T>`"
        );
        walk.refuse(ty.span(), text);
    }
    if OF_RANK.contains(&name.as_str()) && !(1..=3).contains(&rank) {
        walk.refuse(ty.span(), "there are one, two or three dimensions");
    }
}

fn has_arguments(ty: &Type) -> bool {
    let Type::Path(path) = ty else { return false };
    path.path.segments.last().is_some_and(|last| !last.arguments.is_empty())
}

/// A type as its user would write it.
fn text_of(ty: &Type) -> String {
    ty.to_token_stream().to_string().replace(" <", "<").replace("< ", "<").replace(" >", ">")
}

/// The advice against a reference.
fn instead_of(reference: &TypeReference) -> String {
    let of = text_of(&reference.elem);
    match (&*reference.elem, reference.mutability) {
        (Type::Slice(TypeSlice { elem, .. }) | Type::Array(TypeArray { elem, .. }), mutable) => {
            let of = text_of(elem);
            match mutable {
                Some(_) => {
                    format!("take a view: `InOut<{of}>`, or `Out<{of}>` if all of it is written")
                }
                None => format!("take a view: `In<{of}>`"),
            }
        }
        (ty, _) if role_of(ty).0 != Role::Value => format!("views and items are values: `{of}`"),
        (Type::Path(path), _) if path.path.is_ident("str") => "pass its bytes: `In<u8>`".to_owned(),
        (_, Some(_)) => format!("take a view: `InOut<{of}>`"),
        (_, None) => format!("take the value, `{of}`, or a view, `In<{of}>`"),
    }
}

/// Types that devices have not, with what to write.
const OF_THE_HOST: &[(&str, &str)] = &[
    ("String", "pass its bytes: `In<u8>`"),
    ("str", "pass its bytes: `In<u8>`"),
    ("char", "pass it as a `u32`"),
    ("Vec", "take a view: `In<T>`, `Out<T>`"),
    ("Box", "take the value, or a view: `In<T>`, `Out<T>`"),
    ("Rc", "take the value, or a view: `In<T>`, `Out<T>`"),
    ("Arc", "take the value, or a view: `In<T>`, `Out<T>`"),
    ("Buffer", "take a view: `In<T>`, `Out<T>`"),
    ("i128", "devices have integers of up to 64 bits: pass two `u64`"),
    ("u128", "devices have integers of up to 64 bits: pass two `u64`"),
];

/// Refuses types that no kernel has.
pub fn refuse_type(ty: &Type, walk: &mut Walk) {
    match ty {
        Type::Reference(reference) => {
            let text = format!("references are not supported; {}", instead_of(reference));
            walk.refuse(ty.span(), text);
        }
        Type::Ptr(_) => {
            walk.refuse(ty.span(), "pointers are not supported; take a view: `In<T>`, `Out<T>`");
        }
        Type::Slice(slice) => {
            let of = text_of(&slice.elem);
            let text = format!("slices are not supported; take a view: `In<{of}>`, `Out<{of}>`");
            walk.refuse(ty.span(), text);
        }
        Type::ImplTrait(_) => {
            walk.refuse(ty.span(), "`impl Trait` is not supported; name the type parameter");
        }
        Type::BareFn(_) | Type::TraitObject(_) => {
            walk.refuse(ty.span(), "functions as values are not supported; call a #[device_fn]");
        }
        Type::Array(array) => refuse_type(&array.elem, walk),
        Type::Path(path) => {
            let Some(last) = path.path.segments.last() else { return };
            let name = last.ident.to_string();
            if let Some((_, instead)) = OF_THE_HOST.iter().find(|(host, _)| *host == name) {
                let mut text = format!("`{name}` is of the host; {instead}");
                if let PathArguments::AngleBracketed(list) = &last.arguments
                    && let Some(GenericArgument::Type(of)) = list.args.first()
                {
                    text = text.replace("<T>", &format!("<{}>", text_of(of)));
                }
                return drop(walk.refuse(ty.span(), text));
            }
            let PathArguments::AngleBracketed(list) = &last.arguments else { return };
            for argument in &list.args {
                if let GenericArgument::Type(inner) = argument {
                    refuse_type(inner, walk);
                }
            }
        }
        _ => {}
    }
}
