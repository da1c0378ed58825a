//! Names that the macro's own output has. Rust's hygiene keeps variables apart, and neither types
//! nor modules; and a user's body stands in their scope. By such a name a constant could have one
//! value where an index is looked at for a block, and another where it is used. So what users write
//! does not have these names.

use crate::errors::Errors;
use proc_macro2::{TokenStream, TokenTree};
use std::collections::HashSet;
use syn::ext::IdentExt;

/// Types and modules that are visible in what users write: the mode, what tables are made of, ends,
/// and what is called.
const OWN: [&str; 4] = ["__M", "__s", "__Ends", "__callee"];

/// Refuses the macro's names in what a user has written, each once.
pub fn refuse(tokens: TokenStream, found: &mut HashSet<String>, errors: &mut Errors) {
    for token in tokens {
        match &token {
            TokenTree::Group(group) => refuse(group.stream(), found, errors),
            TokenTree::Ident(name) => {
                let name = name.unraw().to_string();
                if OWN.contains(&&*name) && found.insert(name.clone()) {
                    let text = format!("`{name}` is a name of the macro's; use another");
                    errors.add(token.span(), text);
                }
            }
            TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
    }
}

/// What this type or path means is not written here: a macro writes it, perhaps with the macro's
/// names, or rustc infers it from what is around.
pub fn is_open(tokens: TokenStream) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Punct(mark) => mark.as_char() == '!',
        TokenTree::Group(group) => is_open(group.stream()),
        TokenTree::Ident(name) => name == "_",
        TokenTree::Literal(_) => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use quote::quote;

    fn refused(tokens: TokenStream) -> bool {
        let mut errors = Errors::default();
        refuse(tokens, &mut HashSet::new(), &mut errors);
        errors.take().is_some()
    }

    #[test]
    fn own_names_are_refused_wherever_they_are() {
        assert!(refused(quote!(x[<__M as Pick>::AT + n])));
        assert!(refused(quote!(f::<{ r#__M::AT }>(x))));
        assert!(refused(quote!(
            fn k(x: In<<__M as Pick>::T>) {}
        )));
        assert!(refused(quote!(a::__s)));
        assert!(!refused(quote!(Padded { __v, __pad: -1 }.__pad + M__ + _a)));
    }

    #[test]
    fn what_is_not_written_is_found_within_types() {
        assert!(is_open(quote!(In<<m!() as Pick>::T>)));
        assert!(is_open(quote!([f32; { n![] }])));
        assert!(is_open(quote!(<u32 as Pick<_>>::AT)));
        assert!(!is_open(quote!(In<[f32; N], 2>)));
    }
}
