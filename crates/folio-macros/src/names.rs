//! Names that the macro's own output has. Rust's hygiene keeps variables apart, and neither types
//! nor modules; and a user's body stands in their scope. By such a name a constant could have one
//! value where an index is looked at for a block, and another where it is used. User code that has
//! such names is refused.

use crate::body::place_of;
use crate::errors::Errors;
use proc_macro2::{Ident, TokenStream, TokenTree};
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

/// Refuses the user's macros in what is written of a function, each once. The walk has taken those
/// that stand for expressions; what is left stands for types, constants and patterns. Such a macro
/// may write names of this one's output, unseen: so a constant could have one value in the table
/// and another in the body.
pub fn refuse_macros(tokens: TokenStream, found: &mut HashSet<(u32, u32)>, errors: &mut Errors) {
    let all: Vec<_> = tokens.into_iter().collect();
    for (at, token) in all.iter().enumerate() {
        let TokenTree::Group(group) = token else { continue };
        if let Some(name) = macro_before(&all[..at])
            && found.insert(place_of(name.span()))
        {
            let text = format!(
                "what `{name}!` stands for is not seen here; give it a name outside: `type T = ..`, `const N: .. = ..`"
            );
            errors.add(name.span(), text);
        }
        refuse_macros(group.stream(), found, errors);
    }
}

/// Whether the word can be a part of a path.
fn is_segment(word: &Ident) -> bool {
    syn::parse2::<syn::PathSegment>(TokenTree::from(word.clone()).into()).is_ok()
}

/// The name of the macro that ends before a group, if it is the user's.
fn macro_before(before: &[TokenTree]) -> Option<&Ident> {
    let is_mark = |from_end: usize, mark: char| match before.iter().rev().nth(from_end) {
        Some(TokenTree::Punct(punct)) => punct.as_char() == mark,
        _ => false,
    };
    let (true, Some(TokenTree::Ident(name))) = (is_mark(0, '!'), before.iter().rev().nth(1)) else {
        return None;
    };
    // A keyword is no name, and neither is a label: `if !(..)`, `break 'a !(..)`.
    if !is_segment(name) || is_mark(2, '\'') {
        return None;
    }
    let (mut first, mut end) = (name, 2);
    while is_mark(end, ':') && is_mark(end + 1, ':') {
        end += 2;
        match before.iter().rev().nth(end) {
            Some(TokenTree::Ident(before)) if is_segment(before) => {
                (first, end) = (before, end + 1);
            }
            _ => break,
        }
    }
    // Paths of this crate begin so.
    (first != "folio" || !is_mark(end - 1, ':')).then_some(name)
}

/// Whether rustc infers the meaning of this path.
pub fn is_inferred(tokens: TokenStream) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Group(group) => is_inferred(group.stream()),
        TokenTree::Ident(name) => name == "_",
        TokenTree::Punct(_) | TokenTree::Literal(_) => false,
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
    fn macros_of_the_user_are_refused_and_those_of_folio_are_not() {
        let count = |tokens: TokenStream| {
            let (mut errors, mut found) = (Errors::default(), HashSet::new());
            refuse_macros(tokens, &mut found, &mut errors);
            errors.count()
        };
        assert_eq!(count(quote!(x[<m!() as Pick>::AT + n])), 1);
        assert_eq!(count(quote!(f::<{ m![] }>(x))), 1);
        assert_eq!(count(quote!(as a::b::m!{})), 1);
        assert_eq!(count(quote!(as folio::m!())), 1);
        assert_eq!(
            count(quote!(
                ({
                    ::folio::ir::host_function!(f);
                    a != (b)
                })
            )),
            0
        );
        assert_eq!(count(quote!(return ::folio::ir::device::rust::panic!())), 0);
        assert_eq!(count(quote!(if !(a) { break 'a !(b); } return !{ c })), 0);
    }

    #[test]
    fn what_is_not_written_is_found_within_paths() {
        assert!(is_inferred(quote!(<u32 as Pick<_>>::AT)));
        assert!(!is_inferred(quote!(<[f32; N] as Pick>::AT)));
    }
}
