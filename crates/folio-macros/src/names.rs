//! Names that the macro's own output has. Rust's hygiene does not keep types and modules apart, and a user's body stands
//! in their scope: under such a name a constant could have one value where an index is looked at for a block, and another
//! where it is used. So what users write does not have these names.

use crate::errors::Errors;
use proc_macro2::{TokenStream, TokenTree};
use std::collections::HashSet;
use syn::ext::IdentExt;

/// All that the macro names begins so.
const OWN: &str = "__";

/// Refuses the macro's names in what a user has written, but for what was `found` before.
pub fn refuse(tokens: TokenStream, found: &mut HashSet<String>, errors: &mut Errors) {
    let all: Vec<_> = tokens.into_iter().collect();
    let mark = |at: Option<usize>, mark: char| {
        let token = at.and_then(|at| all.get(at));
        matches!(token, Some(TokenTree::Punct(punct)) if punct.as_char() == mark)
    };
    for (at, token) in all.iter().enumerate() {
        let name = match token {
            TokenTree::Group(group) => {
                refuse(group.stream(), found, errors);
                continue;
            }
            TokenTree::Ident(name) => name.unraw().to_string(),
            TokenTree::Punct(_) | TokenTree::Literal(_) => continue,
        };
        // A field's is looked for in its struct alone.
        let given = mark(Some(at + 1), ':') && !mark(Some(at + 2), ':');
        let field = mark(at.checked_sub(1), '.') || given;
        if name.starts_with(OWN) && !field && found.insert(name) {
            let text = "names that begin with `__` are the macro's; use another";
            errors.add(token.span(), text);
        }
    }
}

/// A macro is called in this type or path: what that writes is not known here, and may have the macro's names.
pub fn has_macro(tokens: TokenStream) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Punct(mark) => mark.as_char() == '!',
        TokenTree::Group(group) => has_macro(group.stream()),
        TokenTree::Ident(_) | TokenTree::Literal(_) => false,
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
        assert!(!refused(quote!(Padded { a: 1, __pad: -1 }.__pad + M__ + _a)));
    }

    #[test]
    fn macros_are_found_within_types() {
        assert!(has_macro(quote!(In<<m!() as Pick>::T>)));
        assert!(has_macro(quote!([f32; { n![] }])));
        assert!(!has_macro(quote!(In<[f32; N], 2>)));
    }
}
