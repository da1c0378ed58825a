//! An attribute that changes a struct: what a derive above it has read is not what is compiled.

use proc_macro::{Group, TokenStream, TokenTree};

/// Gives a struct other fields.
#[proc_macro_attribute]
pub fn fields(fields: TokenStream, item: TokenStream) -> TokenStream {
    let exchanged = |token| match token {
        TokenTree::Group(group) if group.delimiter() == proc_macro::Delimiter::Brace => {
            Group::new(group.delimiter(), fields.clone()).into()
        }
        other => other,
    };
    item.into_iter().map(exchanged).collect()
}
