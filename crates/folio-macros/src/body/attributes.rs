//! Attributes within a function. The walk does not look at them, and what it writes has none: that
//! is fine for those that only lints and tools read. Others, such as `cfg`, would silently do
//! nothing.

use crate::errors::Errors;
use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// Attributes that change nothing.
const FINE: &[&str] = &["allow", "expect", "warn", "deny", "forbid", "doc", "rustfmt"];

/// Refuses the others.
pub(super) fn refuse(tokens: TokenStream, errors: &mut Errors) {
    let mut before = None;
    for token in tokens {
        if let TokenTree::Group(group) = &token {
            let is_attribute = before == Some('#') && group.delimiter() == Delimiter::Bracket;
            match (is_attribute, group.stream().into_iter().next()) {
                (true, Some(TokenTree::Ident(name))) if FINE.iter().any(|fine| name == fine) => {}
                (true, first) => {
                    let at = first.map_or(group.span(), |first| first.span());
                    let text = "attributes within a kernel do nothing; write them on functions, or an `if` on a \
                        constant";
                    errors.add(at, text);
                }
                (false, _) => refuse(group.stream(), errors),
            }
        }
        before = match &token {
            TokenTree::Punct(mark) => Some(mark.as_char()),
            _ => None,
        };
    }
}
