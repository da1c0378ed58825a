//! Types that the signatures of kernels cannot have, with what to write instead.

use crate::body::Walk;
use crate::parameter::path_of;
use syn::spanned::Spanned;
use syn::{GenericArgument, PathArguments, Type};

/// What has no layout that devices agree on; at the top, or as the element of a view.
pub fn refuse_in_memory(ty: &Type, walk: &mut Walk) {
    match ty {
        Type::Tuple(_) => {
            walk.refuse(ty.span(), "a tuple cannot be in memory; pass its parts, or a struct");
        }
        Type::Path(path) if path.path.is_ident("bool") => {
            walk.refuse(ty.span(), "a `bool` cannot be in memory; pass a `u32`, and compare it");
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

/// What has no such dimensions.
pub fn refuse_rank(ty: &Type, walk: &mut Walk) {
    const OF_RANK: [&str; 9] =
        ["Item", "Group", "In", "Out", "InOut", "OutGroup", "InOutGroup", "Atomic", "Racy"];
    let Some((name, rank)) = path_of(ty) else { return };
    let Some(rank) = rank else {
        let says = ["Item", "Group"].contains(&name.as_str()) && has_arguments(ty);
        if says {
            walk.refuse(ty.span(), "write how many dimensions it has as a number: `Item<2>`");
        }
        return;
    };
    if OF_RANK.contains(&name.as_str()) && !(1..=3).contains(&rank) {
        walk.refuse(ty.span(), "there are one, two or three dimensions");
    }
}

fn has_arguments(ty: &Type) -> bool {
    let Type::Path(path) = ty else { return false };
    path.path.segments.last().is_some_and(|last| !last.arguments.is_empty())
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
    ("Option", "pass a value that stands for none"),
    ("Buffer", "take a view: `In<T>`, `Out<T>`"),
    ("i128", "pass two `u64`"),
    ("u128", "pass two `u64`"),
];

/// What no kernel has.
pub fn refuse_type(ty: &Type, walk: &mut Walk) {
    match ty {
        Type::Reference(_) => {
            let text = "references are not supported; take the value, or a view: `In<T>`, `Out<T>`";
            walk.refuse(ty.span(), text);
        }
        Type::Ptr(_) => {
            walk.refuse(ty.span(), "pointers are not supported; take a view: `In<T>`, `Out<T>`");
        }
        Type::Slice(_) => {
            walk.refuse(ty.span(), "slices are not supported; take a view: `In<T>`, `Out<T>`");
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
                return drop(walk.refuse(ty.span(), format!("`{name}` is of the host; {instead}")));
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
