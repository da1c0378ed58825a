//! Combining operations, by name: `Add` in `Reduce<T, Add>` and `g.reduce::<Add>(..)` is Folio's,
//! also where the program has imported `std::ops::Add`.

use proc_macro2::Ident;
use syn::{FnArg, GenericArgument, PathArguments, Signature, Type, parse_quote_spanned};

/// The names, of `folio::combine`.
const NAMES: &[&str] = &["Add", "And", "Max", "Min", "Mul", "Or", "Xor"];

/// Something else may not have this name.
pub fn is_one(name: &Ident) -> bool {
    NAMES.iter().any(|one| name == one)
}

/// The type that combines: Folio's, if it is one of these names alone.
pub fn resolved(ty: &Type) -> Type {
    match ty {
        Type::Path(path) if path.path.get_ident().is_some_and(is_one) => {
            let name = &path.path;
            let at = path.path.segments[0].ident.span();
            parse_quote_spanned!(at => ::folio::ir::device::#name)
        }
        other => other.clone(),
    }
}

/// Resolves what the reductions among a kernel's parameters combine with.
pub fn resolve(signature: &mut Signature) {
    for input in &mut signature.inputs {
        let FnArg::Typed(typed) = input else { continue };
        let Type::Path(path) = &mut *typed.ty else { continue };
        let Some(last) = path.path.segments.last_mut().filter(|last| last.ident == "Reduce") else {
            continue;
        };
        if let PathArguments::AngleBracketed(arguments) = &mut last.arguments
            && let Some(GenericArgument::Type(combine)) = arguments.args.iter_mut().nth(1)
        {
            *combine = resolved(combine);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use quote::{ToTokens, quote};
    use syn::parse_quote;

    #[test]
    fn names_alone_are_folios() {
        let mut signature: Signature = parse_quote!(fn k(i: Item, a: Reduce<u32, Add>, b: Reduce<f32, O>, c: Reduce<f32, my::Max>, d: In<Add>));
        resolve(&mut signature);
        let wanted = quote!(fn k(i: Item, a: Reduce<u32, ::folio::ir::device::Add>, b: Reduce<f32, O>, c: Reduce<f32, my::Max>, d: In<Add>));
        assert_eq!(signature.to_token_stream().to_string(), wanted.to_string());
    }
}
