//! Fragments of `macro_rules!`: what stands for `$e:expr` or `$t:ty` comes in groups without
//! delimiters, which are there to keep an expression together. Where nothing needs that they are
//! opened, so that the rest of the macro sees what the user wrote.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use syn::Type;

/// The same without groups that keep nothing together.
pub fn opened(tokens: TokenStream) -> TokenStream {
    let all: Vec<_> = tokens.into_iter().collect();
    let mut opened = TokenStream::new();
    for (at, token) in all.iter().enumerate() {
        let TokenTree::Group(group) = token else {
            opened.extend([token.clone()]);
            continue;
        };
        let inner = self::opened(group.stream());
        let after = &all[at + 1..];
        let alone = all[..at].last().is_none_or(begins) && ends(after);
        if group.delimiter() == Delimiter::None && (alone || is_one(&inner, after)) {
            opened.extend(inner);
            continue;
        }
        let mut same = Group::new(group.delimiter(), inner);
        same.set_span(group.span());
        opened.extend([TokenTree::from(same)]);
    }
    opened
}

/// After this comes an expression or pattern that nothing before it is a part of.
fn begins(before: &TokenTree) -> bool {
    match before {
        TokenTree::Punct(mark) => [',', ';'].contains(&mark.as_char()),
        TokenTree::Ident(word) => word == "let" || word == "for",
        TokenTree::Group(_) | TokenTree::Literal(_) => false,
    }
}

/// Before this ends an expression or pattern; also before `=>` and `=`, but not before `==`.
fn ends(after: &[TokenTree]) -> bool {
    let mark = |at: usize| match after.get(at) {
        Some(TokenTree::Punct(mark)) => Some(mark.as_char()),
        _ => None,
    };
    match (after.first(), mark(0)) {
        (None, _) | (_, Some(',' | ';')) => true,
        (_, Some('=')) => mark(1) != Some('='),
        (Some(TokenTree::Ident(word)), _) => word == "in",
        _ => false,
    }
}

/// The tokens hold together by themselves: a token, a path, a type, a visibility, a number with its
/// sign unless something is done with that.
fn is_one(tokens: &TokenStream, after: &[TokenTree]) -> bool {
    let all: Vec<_> = tokens.clone().into_iter().collect();
    match &*all {
        [] | [_] => return true,
        [TokenTree::Punct(sign), TokenTree::Literal(_)] if sign.as_char() == '-' => {
            return match after.first() {
                Some(TokenTree::Punct(mark)) => !['.', '?'].contains(&mark.as_char()),
                Some(TokenTree::Group(_)) => false,
                _ => true,
            };
        }
        [TokenTree::Ident(word), TokenTree::Group(_)] if word == "pub" => return true,
        // A label.
        [TokenTree::Punct(quote), TokenTree::Ident(_)] if quote.as_char() == '\'' => return true,
        _ => {}
    }
    syn::parse::Parser::parse2(Type::without_plus, tokens.clone()).is_ok_and(|ty| is_closed(&ty))
}

/// A type that, read as an expression, has no operators at its ends.
fn is_closed(ty: &Type) -> bool {
    matches!(ty, Type::Path(_) | Type::Array(_) | Type::Tuple(_) | Type::Paren(_) | Type::Slice(_))
}

#[cfg(test)]
mod tests {
    use super::*;
    use quote::quote;

    fn group(tokens: TokenStream) -> TokenTree {
        Group::new(Delimiter::None, tokens).into()
    }

    #[test]
    fn what_holds_together_is_opened() {
        let (f, ty, e) = (group(quote!(a::f)), group(quote!(In<f32>)), group(quote!(i + 1)));
        let minus = group(quote!(-1));
        let seen = opened(quote!(fn k(x: #ty) { y[i] = #f(x[#e], #minus) * 2; }));
        let wanted = quote!(
            fn k(x: In<f32>) {
                y[i] = a::f(x[i + 1], -1) * 2;
            }
        );
        assert_eq!(seen.to_string(), wanted.to_string());
        let nested = group(quote!(#e));
        assert_eq!(opened(quote!(x[#nested])).to_string(), quote!(x[i + 1]).to_string());
    }

    #[test]
    fn sums_stay_together() {
        let sum = group(quote!(a + b));
        let (two, minus) = (quote!(2), group(quote!(-1)));
        for tokens in [
            quote!(#two * #sum),
            quote!(#sum * #two),
            quote!(#sum.sqrt()),
            quote!(-#sum),
            quote!(#sum == #two),
            quote!(#minus.abs()),
        ] {
            let inside = |token: TokenTree| matches!(token, TokenTree::Group(group) if group.delimiter() == Delimiter::None);
            assert!(opened(tokens).into_iter().any(inside));
        }
    }
}
