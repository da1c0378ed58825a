//! `match`: a chain of tests (semantics 12.4).

use super::constant::is_variant;
use super::guards::fits_all;
use super::{Both, Walk};
use crate::pattern::same;
use crate::tree::Tree;
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Arm, Expr, ExprMatch, ExprPath, Lit, Pat, RangeLimits};

/// The matched value: a local variable of the tree, or a tuple of such.
pub(super) enum Subject {
    /// Its number, its type's entry, and the slot that tells it.
    One(u16, u16, Ident),
    Parts(Vec<Subject>),
}

/// A test; none if it always holds.
pub(super) type Test = Option<Tree>;

impl Walk {
    pub(super) fn choice(&mut self, choice: &ExprMatch) -> Both {
        // As Rust has checked, arms without guard cover all: the last of them needs no test, and
        // what follows it is never reached.
        let Some(last) = choice.arms.iter().rposition(|arm| arm.guard.is_none()) else {
            return self.refuse(choice.span(), "this `match` needs an arm without `if`");
        };
        // Arms that fit no item of the interior, as another one takes what they leave.
        let aside: Vec<bool> = match choice.arms.get(last) {
            Some(rest) if fits_all(&rest.pat) => {
                let arms = choice.arms.iter().take(last);
                arms.map(|arm| self.fits_nowhere(&arm.pat, &choice.expr)).collect()
            }
            _ => vec![],
        };
        self.scopes.enter();
        let mut lets = vec![];
        let parts = std::mem::take(&mut self.parts);
        let before = self.errors.count();
        let (of, subject) = self.subject(&choice.expr, &mut lets);
        if self.errors.count() > before {
            // Patterns of a refused value are not looked at.
            self.parts = parts;
            self.scopes.leave();
            return (of, Tree::unit());
        }
        let arms = choice.arms.iter().enumerate().map(|(nth, arm)| {
            let aside = aside.get(nth) == Some(&true);
            self.reached(!aside, |walk| walk.arm(arm, aside, &subject, &mut lets)).0
        });
        let arms: Vec<_> = arms.collect();
        self.parts = parts;
        self.scopes.leave();
        let natives = arms.iter().map(|(native, ..)| native);
        let native = quote!(match #of { #(#natives)* });
        let always = Tree::bool(true);
        let mut chain = arms.get(last).map_or_else(Tree::unit, |(_, _, body)| Tree::gives(body));
        for (_, test, body) in arms.iter().take(last).rev() {
            let (test, body) = (test.as_ref().unwrap_or(&always), Tree::gives(body));
            chain = Tree::gives(&Tree::branch(test, &body, Some(&chain)));
        }
        let tree = Tree::block(&lets, Some(&Tree::of_block(&chain)));
        (native, Tree::of_block(&tree))
    }

    /// The matched value, in Rust and as variables; `lets` gets their statements.
    fn subject(&mut self, expr: &Expr, lets: &mut Vec<Tree>) -> (TokenStream, Subject) {
        match expr {
            Expr::Paren(inner) => self.subject(&inner.expr, lets),
            Expr::Tuple(tuple) if !tuple.elems.is_empty() => {
                let parts = tuple.elems.iter().map(|part| self.subject(part, lets));
                let (natives, parts): (Vec<_>, Vec<_>) = parts.unzip();
                (quote!((#(#natives,)*)), Subject::Parts(parts))
            }
            expr => {
                let (native, tree) = self.expr(expr);
                let (slot, entry) = self.slot(expr.span());
                let value = Ident::new("__v", Span::mixed_site().located_at(expr.span()));
                let at = self.scopes.unnamed();
                let ends = self.ends(expr);
                self.known.ends.extend(ends.map(|ends| (at, ends)));
                lets.push(Tree::bound(at, &tree));
                let native = quote!({ let #value = #native; #slot.is(#value); #value });
                (native, Subject::One(at, entry, slot))
            }
        }
    }

    /// An arm: in Rust, its test, and what it gives. With `aside`, the interior does not come here.
    fn arm(
        &mut self,
        arm: &Arm,
        aside: bool,
        subject: &Subject,
        lets: &mut Vec<Tree>,
    ) -> (TokenStream, Test, Tree) {
        self.scopes.enter();
        let before = lets.len() - self.parts.len();
        let (pat, mut test) = self.test(&arm.pat, subject, lets);
        let mut condition = TokenStream::new();
        if let Some((token, guard)) = &arm.guard {
            if lets.len() - self.parts.len() > before {
                // Rust asks for each alternative that matches.
                let text = "with `if`, all alternatives bind a name in one place; write an arm for each of them";
                self.refuse(arm.pat.span(), text);
            }
            let acts = self.acts;
            let (native, tree) = self.expr(guard);
            if self.acts > acts && may_fit_twice(&arm.pat) {
                let text = "Rust asks this for each alternative that matches, so it may be done twice; write an arm \
                    for each of them";
                self.refuse(guard.span(), text);
            }
            condition = quote!(#token #native);
            test = and(test, Some(tree));
        }
        if aside {
            let is = quote!(::folio::ir::device::interior::is::<__M>(false, true));
            let guard =
                arm.guard.as_ref().map(|_| condition.into_iter().skip(1).collect::<TokenStream>());
            let guard = guard.map(|guard| quote!(&& (#guard)));
            condition = quote!(if #is #guard);
        }
        let (body, tree) = self.expr(&arm.body);
        self.scopes.leave();
        (quote!(#pat #condition => #body,), test, tree)
    }

    /// A pattern in Rust, and its test. Names are bound to the variable that is matched; `lets`
    /// gets those of names that are one variable or another.
    pub(super) fn test(
        &mut self,
        pat: &Pat,
        subject: &Subject,
        lets: &mut Vec<Tree>,
    ) -> (TokenStream, Test) {
        let whole = pat.to_token_stream();
        if let Subject::One(at, _, slot) = subject
            && let Some(found) = self.test_variant(pat, (*at, slot), lets)
        {
            return found;
        }
        match (pat, subject) {
            (Pat::Wild(_), _) => (whole, None),
            (Pat::Paren(inner), _) => self.test(&inner.pat, subject, lets),
            (Pat::Or(or), _) => {
                let (mut natives, mut tests, mut names) = (vec![], vec![], vec![]);
                for case in &or.cases {
                    self.scopes.enter();
                    let (native, test) = self.test(case, subject, lets);
                    natives.push(native);
                    tests.push(test);
                    names.push(self.scopes.leave());
                }
                self.bind_either(&tests, &names, lets);
                let mut tests = tests.into_iter();
                let first = tests.next().flatten();
                let any = tests.fold(first, |all, test| {
                    let (all, test) = (all?, test?);
                    Some(Tree::binary("||", &all, &test))
                });
                (quote!((#(#natives)|*)), any)
            }
            (Pat::Tuple(tuple), Subject::Parts(parts)) if tuple.elems.len() == parts.len() => {
                let (mut natives, mut all) = (vec![], None);
                for (pat, part) in tuple.elems.iter().zip(parts) {
                    let (native, test) = self.test(pat, part, lets);
                    natives.push(native);
                    all = and(all, test);
                }
                (quote!((#(#natives,)*)), all)
            }
            (Pat::Ident(name), Subject::One(at, ..)) if name.ident == "None" => {
                let none =
                    quote_spanned!(name.span() => ::folio::ir::device::rust::option::Option::None);
                let there = Tree::of("field").part(&Tree::local(*at)).word("0");
                (none, Some(Tree::of("unary").word('!').part(&there).entry(None)))
            }
            (Pat::TupleStruct(some), Subject::One(at, _, slot))
                if some.path.is_ident("Some") && some.elems.len() == 1 =>
            {
                let part = self.part_of(*at, "1", lets);
                let entry = self.entry(quote!(#slot.some()));
                // What is in it is no option, so its slot is not asked.
                let inner = Subject::One(part, entry, slot.clone());
                let (native, test) = self.test(&some.elems[0], &inner, lets);
                let there = Tree::of("field").part(&Tree::local(*at)).word("0");
                let path = quote_spanned!(some.path.span() => ::folio::ir::device::rust::option::Option::Some);
                (quote!(#path(#native)), and(Some(there), test))
            }
            (Pat::Ident(name), Subject::One(at, ..)) if name.by_ref.is_none() => {
                let ident = &name.ident;
                if name.mutability.is_some() {
                    let (native, _) = self.refuse(pat.span(), "bind it without `mut`, and copy it");
                    return (native, None);
                }
                if name.subpat.is_none() && is_variant(&ident.unraw().to_string()) {
                    let path = syn::parse_quote!(#ident);
                    return self.no_variant(&path);
                }
                if name.subpat.is_none() && is_constant(ident) {
                    let entry = self.const_entry(ident);
                    let constant = Tree::constant(entry);
                    return (whole, Some(Tree::binary("is", &Tree::local(*at), &constant)));
                }
                self.scopes.bind_to(ident, *at);
                match &name.subpat {
                    Some((_, inner)) => {
                        let (native, test) = self.test(inner, subject, lets);
                        (quote!(#ident @ #native), test)
                    }
                    // With `@`, rustc refuses a constant of this name, which one form alone would
                    // compare with.
                    None => (quote!(#ident @ _), None),
                }
            }
            (Pat::Path(path), _) if self.no_constant(path).is_some() => self.no_variant(path),
            (Pat::Lit(_) | Pat::Path(_), Subject::One(at, entry, _)) => {
                match self.bound(pat, *entry) {
                    Some(value) => (whole, Some(Tree::binary("is", &Tree::local(*at), &value))),
                    None => self.no_pattern(pat),
                }
            }
            (Pat::Range(range), Subject::One(at, entry, _)) => {
                let mut all = None;
                let op = if matches!(range.limits, RangeLimits::Closed(_)) { "<=" } else { "<" };
                for (end, op) in [(&range.start, ">="), (&range.end, op)] {
                    let Some(end) = end else { continue };
                    let Some(value) = self.limit(end, *entry) else { return self.no_pattern(pat) };
                    all = and(all, Some(Tree::binary(op, &Tree::local(*at), &value)));
                }
                (whole, all)
            }
            _ => self.no_pattern(pat),
        }
    }

    /// Binds what all alternatives bind, as Rust has checked: each name to its variable in the
    /// first of them that matches.
    fn bind_either(&mut self, tests: &[Test], names: &[Vec<(Ident, u16)>], lets: &mut Vec<Tree>) {
        let Some((first, others)) = names.split_first() else { return };
        for (name, own) in first {
            let find = |all: &Vec<(Ident, u16)>| {
                all.iter().find(|(other, _)| same(other, name)).map_or(*own, |(_, at)| *at)
            };
            let all: Vec<_> = std::iter::once(*own).chain(others.iter().map(find)).collect();
            let mut at = *own;
            if all.iter().any(|other| other != own) {
                let ways = tests.iter().zip(&all).rev();
                let either = ways.fold(None, |rest: Option<Tree>, (test, at)| {
                    let here = Tree::local(*at);
                    Some(match (rest, test) {
                        (Some(rest), Some(test)) => {
                            Tree::branch(test, &Tree::gives(&here), Some(&Tree::gives(&rest)))
                        }
                        _ => here,
                    })
                });
                at = self.scopes.unnamed();
                lets.extend(either.map(|either| Tree::bound(at, &either)));
            }
            self.scopes.bind_to(name, at);
        }
    }

    /// The variable of a field of what `at` is: an option, or an enum with data.
    pub(super) fn part_of(&mut self, at: u16, field: &str, lets: &mut Vec<Tree>) -> u16 {
        if let Some(part) = self.parts.get(&(at, field.to_owned())) {
            return *part;
        }
        let part = self.scopes.unnamed();
        lets.push(Tree::bound(part, &Tree::of("field").part(&Tree::local(at)).word(field)));
        self.parts.insert((at, field.to_owned()), part);
        part
    }

    fn no_variant(&mut self, path: &ExprPath) -> (TokenStream, Test) {
        if let Some((key, text)) = self.no_constant(path) {
            self.refuse_once(path.span(), &key, text);
        }
        (quote!(_), None)
    }

    fn no_pattern(&mut self, pat: &Pat) -> (TokenStream, Test) {
        let text = match pat {
            Pat::TupleStruct(_) | Pat::Struct(_) => NO_ENUMS,
            _ => {
                "this pattern is not supported; match on numbers, `bool`, constants, ranges, and tuples \
                 written in the `match`"
            }
        };
        self.refuse(pat.span(), text);
        (quote!(_), None)
    }

    fn bound(&mut self, pat: &Pat, entry: u16) -> Option<Tree> {
        match pat {
            Pat::Lit(lit) => self.limit(&Expr::Lit(lit.clone()), entry),
            Pat::Path(path) => self.limit(&Expr::Path(path.clone()), entry),
            _ => None,
        }
    }

    /// A literal of the matched type, or a constant.
    fn limit(&mut self, expr: &Expr, entry: u16) -> Option<Tree> {
        match expr {
            Expr::Lit(lit) => match &lit.lit {
                Lit::Bool(value) => Some(Tree::bool(value.value)),
                Lit::Int(number) => Some(Tree::number(number.base10_digits(), entry)),
                Lit::Float(number) => Some(Tree::number(number.base10_digits(), entry)),
                _ => None,
            },
            Expr::Path(path) => {
                let entry = self.const_entry(path);
                Some(Tree::constant(entry))
            }
            _ => None,
        }
    }
}

const NO_ENUMS: &str = "kernels match on `Option` and on enums of one's own, whose variants are written with the enum's name: `Shape::Circle(r)`";

pub(super) fn and(a: Test, b: Test) -> Test {
    match (a, b) {
        (Some(a), Some(b)) => Some(Tree::binary("&&", &a, &b)),
        (a, b) => a.or(b),
    }
}

/// Several alternatives of a pattern may match one value.
fn may_fit_twice(pat: &Pat) -> bool {
    match pat {
        Pat::Or(or) => {
            let cases: Vec<_> = or.cases.iter().collect();
            let twice = |(at, case): (usize, &&Pat)| {
                may_fit_twice(case) || cases.iter().take(at).any(|other| !differ(case, other))
            };
            cases.iter().enumerate().any(twice)
        }
        Pat::Paren(inner) => may_fit_twice(&inner.pat),
        Pat::Tuple(tuple) => tuple.elems.iter().any(may_fit_twice),
        Pat::TupleStruct(of) => of.elems.iter().any(may_fit_twice),
        Pat::Struct(of) => of.fields.iter().any(|field| may_fit_twice(&field.pat)),
        Pat::Ident(name) => name.subpat.as_ref().is_some_and(|(_, inner)| may_fit_twice(inner)),
        _ => false,
    }
}

/// Nothing matches both, as far as literals say.
fn differ(a: &Pat, b: &Pat) -> bool {
    match (a, b) {
        (Pat::Paren(a), b) => differ(&a.pat, b),
        (a, Pat::Paren(b)) => differ(a, &b.pat),
        (Pat::Or(a), b) => a.cases.iter().all(|a| differ(a, b)),
        (a, Pat::Or(b)) => b.cases.iter().all(|b| differ(a, b)),
        (Pat::Ident(a), b) => a.subpat.as_ref().is_some_and(|(_, a)| differ(a, b)),
        (a, Pat::Ident(b)) => b.subpat.as_ref().is_some_and(|(_, b)| differ(a, b)),
        (Pat::Tuple(a), Pat::Tuple(b)) => a.elems.iter().zip(&b.elems).any(|(a, b)| differ(a, b)),
        (Pat::Lit(a), Pat::Lit(b)) => match (&a.lit, &b.lit) {
            (Lit::Int(a), Lit::Int(b)) => a.base10_digits() != b.base10_digits(),
            (Lit::Bool(a), Lit::Bool(b)) => a.value != b.value,
            _ => false,
        },
        _ => false,
    }
}

/// By its spelling, as Rust has it.
pub(super) fn is_constant(name: &Ident) -> bool {
    name.to_string().starts_with(char::is_uppercase)
}
