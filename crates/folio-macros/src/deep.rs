//! Source that is nested so deep that it would overflow the compiler's stack is refused before it
//! is parsed, or while it is walked. A chain of 390 `&&`, which takes the most, needed between 4.5
//! and 8 MiB with a macro that is compiled without optimisation, and rustc has 8 MiB.

use proc_macro2::{Delimiter, Span, TokenStream, TokenTree};

/// Brackets within brackets.
const BRACKETS: usize = 160;
/// Operators before one operand, and `else` of one `if`: the parser calls itself for each.
const CHAIN: usize = 400;
/// Expressions within expressions: each operand of a sum is one further in than the one after it.
pub const EXPRESSIONS: usize = 400;

pub const TEXT: &str = "this is nested too deep for the compiler; give parts of it names with `let`, write loops, or several \
    functions";

/// Where something is nested too deep for the parser.
pub fn find(tokens: &TokenStream) -> Option<Span> {
    within(tokens.clone(), BRACKETS)
}

fn within(tokens: TokenStream, left: usize) -> Option<Span> {
    let (mut marks, mut branches) = (0, 0);
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        let mut mark = false;
        match &token {
            TokenTree::Group(group) => {
                let Some(left) = left.checked_sub(1) else { return Some(group.span_open()) };
                if let Some(found) = within(group.stream(), left) {
                    return Some(found);
                }
                let more = matches!(tokens.peek(), Some(TokenTree::Ident(word)) if word == "else");
                match (more, group.delimiter()) {
                    (true, _) => branches += 1,
                    (false, Delimiter::Brace) => branches = 0,
                    (false, _) => {}
                }
            }
            TokenTree::Punct(_) => mark = true,
            TokenTree::Ident(_) | TokenTree::Literal(_) => {}
        }
        marks = if mark { marks + 1 } else { 0 };
        if marks > CHAIN || branches > CHAIN {
            return Some(token.span());
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::str::FromStr;

    fn is_deep(text: &str) -> bool {
        find(&TokenStream::from_str(text).unwrap()).is_some()
    }

    #[test]
    fn what_the_parser_nests_is_limited() {
        let nested = |count: usize, [open, close]: [&str; 2]| {
            is_deep(&[&open.repeat(count), "1", &close.repeat(count)].concat())
        };
        for brackets in [["(", ")"], ["{", "}"], ["a[", "]"], ["if c {", "} else { 0 }"]] {
            assert!(!nested(BRACKETS, brackets) && nested(BRACKETS + 1, brackets), "{brackets:?}");
        }
        for chain in [["-", ""], ["if c { 1 } else ", ""]] {
            assert!(!nested(CHAIN, chain) && nested(CHAIN + 1, chain), "{chain:?}");
        }
        assert!(!nested(10 * CHAIN, ["a(b); if c {} f - ", ""]));
    }
}
