//! Positions as arrays and as tuples: `x[[r, c]]` is `x[(r, c)]`, and `let` takes what gives either apart as either. All
//! else in the macro knows one form of each.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use syn::{Expr, Ident, Pat, PatSlice, PatTuple, token};

/// The same with tuples for arrays that are an index.
pub fn opened(tokens: TokenStream) -> TokenStream {
    let mut all: Vec<TokenTree> = vec![];
    for token in tokens {
        let TokenTree::Group(group) = token else {
            all.push(token);
            continue;
        };
        let inner = opened(group.stream());
        let index = group.delimiter() == Delimiter::Bracket && is_indexed(&all);
        let inner = if index { tuple(inner) } else { inner };
        let mut same = Group::new(group.delimiter(), inner);
        same.set_span(group.span());
        all.push(same.into());
    }
    all.into_iter().collect()
}

/// Brackets behind this hold an index, and begin no array.
fn is_indexed(before: &[TokenTree]) -> bool {
    let mark = |from_end: usize, mark: char| match before.iter().rev().nth(from_end) {
        Some(TokenTree::Punct(punct)) => punct.as_char() == mark,
        _ => false,
    };
    match before.last() {
        // A keyword is no name; a label has its array behind it.
        Some(TokenTree::Ident(name)) => {
            syn::parse2::<Ident>(TokenTree::from(name.clone()).into()).is_ok() && !mark(1, '\'')
        }
        Some(TokenTree::Group(group)) => match group.delimiter() {
            Delimiter::Parenthesis | Delimiter::None => true,
            Delimiter::Bracket => !mark(1, '#'),
            Delimiter::Brace => false,
        },
        _ => false,
    }
}

/// An array of listed elements, and nothing else, as a tuple.
fn tuple(index: TokenStream) -> TokenStream {
    let mut tokens = index.clone().into_iter();
    let (Some(TokenTree::Group(array)), None) = (tokens.next(), tokens.next()) else {
        return index;
    };
    let repeats =
        |token: TokenTree| matches!(token, TokenTree::Punct(mark) if mark.as_char() == ';');
    if array.delimiter() != Delimiter::Bracket || array.stream().into_iter().any(repeats) {
        return index;
    }
    let mut tuple = Group::new(Delimiter::Parenthesis, array.stream());
    tuple.set_span(array.span());
    TokenTree::from(tuple).into()
}

/// The form of a pattern that this value has, if that is the other one: positions are tuples, extents are arrays.
pub fn fitting(pattern: &Pat, value: &Expr) -> Option<Pat> {
    let call = match value {
        Expr::Paren(inner) => return fitting(pattern, &inner.expr),
        Expr::MethodCall(call) if call.args.is_empty() => call,
        _ => return None,
    };
    match (pattern, call.method.to_string().as_str()) {
        (Pat::Slice(PatSlice { attrs, bracket_token, elems }), "pos" | "local_pos") => {
            let (attrs, elems) = (attrs.clone(), elems.clone());
            let paren_token = token::Paren(bracket_token.span.join());
            Some(Pat::Tuple(PatTuple { attrs, paren_token, elems }))
        }
        (Pat::Tuple(PatTuple { attrs, paren_token, elems }), "shape" | "size" | "count") => {
            let (attrs, elems) = (attrs.clone(), elems.clone());
            let bracket_token = token::Bracket(paren_token.span.join());
            Some(Pat::Slice(PatSlice { attrs, bracket_token, elems }))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use quote::quote;

    #[test]
    fn arrays_that_index_are_tuples() {
        let written = quote! {
            x[[r, c]] + f(y)[[0, x[[1, i]]]] + a[0][[2]] + assert!(z[[r, c + 1]] > 0);
        };
        let wanted = quote! {
            x[(r, c)] + f(y)[(0, x[(1, i)])] + a[0][(2)] + assert!(z[(r, c + 1)] > 0);
        };
        assert_eq!(opened(written).to_string(), wanted.to_string());
    }

    #[test]
    fn other_arrays_stay() {
        let others = quote! {
            fn f(x: In<[f32; 2]>, y: [[u8; 2]; 3]) -> [[u8; 1]; 1] {
                let a = [[1, 2]];
                let b = [[0; 2]; 2][[1, 2][0]];
                if c {} [[1]];
                'l: loop { break 'l [[1]]; }
                #[attribute] [[1]];
                vec![[1]];
                x[[0; 2]];
                return [[1]];
            }
        };
        assert_eq!(opened(others.clone()).to_string(), others.to_string());
    }
}
