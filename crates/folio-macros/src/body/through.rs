//! Loops over arrays and views of one dimension, which are written as loops over their indices
//! before they are walked.

use super::known::is_alike;
use super::lent::bare;
use super::sugar::hidden;
use super::{Special, Walk};
use crate::pattern::same;
use proc_macro2::{Group, Ident, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Expr, ExprForLoop, ExprMethodCall, Pat, parse_quote};

/// What a loop over arrays goes through.
struct Through {
    /// How many turns there are.
    turns: TokenStream,
    element: Element,
}

/// What a turn has, by its number.
enum Element {
    One(Box<dyn Fn(TokenStream) -> TokenStream>, Borrowed),
    Pair(Box<[Element; 2]>),
}

impl Element {
    /// That of another turn.
    fn moved(self, to: impl Fn(TokenStream) -> TokenStream + Clone + 'static) -> Element {
        match self {
            Element::One(of, borrowed) => {
                Element::One(Box::new(move |turn| of(to(turn))), borrowed)
            }
            Element::Pair(parts) => {
                Element::Pair(Box::new(parts.map(|part| part.moved(to.clone()))))
            }
        }
    }

    /// The value of a turn.
    fn value(&self, turn: &Ident) -> TokenStream {
        match self {
            Element::One(of, _) => of(turn.to_token_stream()),
            Element::Pair(parts) => {
                let [first, second] = [&parts[0], &parts[1]].map(|part| part.value(turn));
                quote!((#first, #second))
            }
        }
    }

    /// The patterns of a turn, and the value of each.
    fn bind<'p>(self, pat: &'p Pat, turn: &Ident, all: &mut Vec<(&'p Pat, TokenStream)>) {
        match (pat, self) {
            (Pat::Paren(inner), element) => element.bind(&inner.pat, turn, all),
            (Pat::Tuple(tuple), Element::Pair(parts)) if tuple.elems.len() == 2 => {
                let parts = IntoIterator::into_iter(*parts);
                tuple.elems.iter().zip(parts).for_each(|(pat, part)| part.bind(pat, turn, all));
            }
            (Pat::Reference(of), element @ Element::One(_, Borrowed::Yes)) => {
                all.push((&of.pat, element.value(turn)));
            }
            (pat, element) => {
                let value = element.value(turn);
                let borrow = matches!(element, Element::One(_, Borrowed::Yes)).then(|| quote!(&));
                all.push((pat, quote!(#borrow #value)));
            }
        }
    }
}

/// The statements that bind these. A name that is bound hides the array of this name from those
/// that follow, which go through a copy that `before` makes.
fn in_order(parts: &[(&Pat, TokenStream)], before: &mut Vec<TokenStream>) -> Vec<TokenStream> {
    let mut bound = vec![];
    let mut bind = |(pat, value): &(&Pat, TokenStream)| {
        let value = apart(value, &bound, before);
        bound.extend(words(pat.to_token_stream()));
        quote!(let #pat = #value;)
    };
    parts.iter().map(&mut bind).collect()
}

/// The value, where names that are hidden are those of copies.
fn apart(value: &TokenStream, hidden_by: &[Ident], before: &mut Vec<TokenStream>) -> TokenStream {
    let mut token = |token| match token {
        TokenTree::Group(group) => {
            let mut inner =
                Group::new(group.delimiter(), apart(&group.stream(), hidden_by, before));
            inner.set_span(group.span());
            inner.into()
        }
        TokenTree::Ident(name) if hidden_by.iter().any(|of| same(of, &name)) => {
            let copy = hidden(&format!("__hidden{}", before.len()), name.span());
            before.push(quote!(let #copy = #name;));
            copy.into()
        }
        other => other,
    };
    value.clone().into_iter().map(&mut token).collect()
}

/// All words of a pattern.
fn words(tokens: TokenStream) -> Vec<Ident> {
    let of = |token| match token {
        TokenTree::Ident(name) => vec![name],
        TokenTree::Group(group) => words(group.stream()),
        TokenTree::Punct(_) | TokenTree::Literal(_) => vec![],
    };
    tokens.into_iter().flat_map(of).collect()
}

/// Whether it is a reference to the element.
#[derive(Clone, Copy, PartialEq)]
enum Borrowed {
    No,
    Yes,
}

impl Walk {
    /// A `for` over arrays, written with their indices; none if this is no such loop.
    pub(super) fn over_arrays(&mut self, repeat: &ExprForLoop) -> Option<Expr> {
        let mut lets = vec![];
        let over = self.through(&repeat.expr, &mut lets)?;
        let span = repeat.expr.span();
        let turn = hidden("__turn", span);
        let (mut parts, turns) = (vec![], over.turns);
        over.element.bind(&repeat.pat, &turn, &mut parts);
        let parts = in_order(&parts, &mut lets);
        let (label, statements) = (&repeat.label, &repeat.body.stmts);
        let body =
            quote_spanned!(repeat.body.brace_token.span.join() => { #(#parts)* #(#statements)* });
        let counted = quote_spanned!(span => 0..#turns);
        Some(parse_quote!({
            #(#lets)*
            #label for #turn in #counted #body
        }))
    }

    fn through(&mut self, over: &Expr, lets: &mut Vec<TokenStream>) -> Option<Through> {
        match bare(over) {
            Expr::Reference(of) if of.mutability.is_none() => {
                self.array(&of.expr, Borrowed::Yes, lets)
            }
            Expr::MethodCall(call) => self.adapted(call, lets),
            of => self.array(of, self.borrowed(of), lets),
        }
    }

    /// An iterator's method, of something that is gone through.
    fn adapted(&mut self, call: &ExprMethodCall, lets: &mut Vec<TokenStream>) -> Option<Through> {
        let (of, name) = (&*call.receiver, call.method.to_string());
        let given = call.args.first();
        match (name.as_str(), given) {
            ("iter", None) => self.array(of, Borrowed::Yes, lets),
            ("into_iter", None) => self.array(of, self.borrowed(of), lets),
            ("copied" | "cloned", None) => {
                let Through { turns, element } = self.through(of, lets)?;
                let Element::One(of, Borrowed::Yes) = element else { return None };
                Some(Through { turns, element: Element::One(of, Borrowed::No) })
            }
            ("enumerate", None) => {
                let Through { turns, element } = self.through(of, lets)?;
                let number = Element::One(Box::new(|turn| turn), Borrowed::No);
                let element = Element::Pair(Box::new([number, element]));
                Some(Through { turns, element })
            }
            ("rev", None) => {
                let Through { turns, element } = self.through(of, lets)?;
                let all = turns.clone();
                let element = element.moved(move |turn| quote!((#all - 1 - #turn)));
                Some(Through { turns, element })
            }
            ("skip" | "take" | "step_by", Some(count)) => {
                let Through { turns, element } = self.through(of, lets)?;
                let n = hidden(&format!("__count{}", lets.len()), call.method.span());
                lets.push(quote!(let #n = #count;));
                let by = n.clone();
                let (turns, element) = match name.as_str() {
                    "skip" => {
                        let element = element.moved(move |turn| quote!((#turn + #by)));
                        (quote!((#turns).saturating_sub(#n)), element)
                    }
                    "take" => (quote!((#turns).min(#n)), element),
                    _ => {
                        let element = element.moved(move |turn| quote!((#turn * #by)));
                        (quote!((#turns).div_ceil(#n)), element)
                    }
                };
                Some(Through { turns, element })
            }
            ("zip", Some(other)) => {
                let first = self.through(of, lets)?;
                let second = self.through(other, lets)?;
                let (a, b) = (first.turns, second.turns);
                let turns = match is_alike(&a, &b) {
                    true => a,
                    false => quote_spanned!(call.span() => (#a).min(#b)),
                };
                let element = Element::Pair(Box::new([first.element, second.element]));
                Some(Through { turns, element })
            }
            _ => None,
        }
    }

    /// Whether going through it gives references: it is one itself.
    fn borrowed(&self, of: &Expr) -> Borrowed {
        match self.is_lent(of) {
            true => Borrowed::Yes,
            false => Borrowed::No,
        }
    }

    /// An array, or a view of one dimension. An expression is computed once; a loop that takes the
    /// elements themselves goes through the ones that were there when it began.
    fn array(
        &mut self,
        of: &Expr,
        borrowed: Borrowed,
        lets: &mut Vec<TokenStream>,
    ) -> Option<Through> {
        let of = bare(of);
        let number = self.number(of);
        let stays =
            number.is_some_and(|at| borrowed == Borrowed::Yes || !self.scopes.is_mutable(at));
        let array = match of {
            Expr::Path(_) if stays && self.special_of(of) == Special::None => of.to_token_stream(),
            Expr::Path(_) | Expr::Field(_) | Expr::Array(_) | Expr::Repeat(_) | Expr::Index(_)
                if !self.is_view(of) && !self.is_known_by_name(of) =>
            {
                let name = hidden(&format!("__array{}", lets.len()), of.span());
                lets.push(quote!(let #name = #of;));
                name.to_token_stream()
            }
            _ => return None,
        };
        let turns = quote_spanned!(of.span() => #array.len());
        let element = move |turn: TokenStream| quote!(#array[#turn]);
        Some(Through { turns, element: Element::One(Box::new(element), borrowed) })
    }
}
