//! Names: what is a local variable, and which.

use crate::errors::Errors;
use crate::tree::Tree;
use std::collections::HashSet;
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Ident, Pat, PatSlice, PatTuple};

/// The local variables that are visible, innermost last, with their numbers.
#[derive(Default)]
pub struct Scopes {
    open: Vec<Vec<(Ident, u16)>>,
    next: u16,
    /// Variables that are `mut`.
    mutable: HashSet<u16>,
}

impl Scopes {
    /// A block begins.
    pub fn enter(&mut self) {
        self.open.push(vec![]);
    }

    /// Ends a scope; returns its names.
    pub fn leave(&mut self) -> Vec<(Ident, u16)> {
        self.open.pop().unwrap_or_default()
    }

    /// A new variable.
    pub fn bind(&mut self, name: &Ident) -> u16 {
        let at = self.unnamed();
        self.bind_to(name, at);
        at
    }

    /// A new variable that no source names.
    pub fn unnamed(&mut self) -> u16 {
        let at = self.next;
        self.next = self.next.saturating_add(1);
        at
    }

    /// A variable is `mut`.
    pub fn changes(&mut self, at: u16) {
        self.mutable.insert(at);
    }

    /// Whether a variable is `mut`.
    pub fn is_mutable(&self, at: u16) -> bool {
        self.mutable.contains(&at)
    }

    /// The number of the variable that is new next.
    pub fn next(&self) -> u16 {
        self.next
    }

    /// No number is left: the last one would be that of all that follow.
    pub fn is_full(&self) -> bool {
        self.next == u16::MAX
    }

    /// Another name of a variable.
    pub fn bind_to(&mut self, name: &Ident, at: u16) {
        if let Some(scope) = self.open.last_mut() {
            scope.push((name.clone(), at));
        }
    }

    /// The number of the variable with this name: of those that come from the same macro, if there
    /// are any.
    pub fn find(&self, name: &Ident) -> Option<u16> {
        let of = context(name);
        let same = self.named(name).find(|(have, _)| context(have) == of);
        same.or_else(|| self.named(name).next()).map(|(_, at)| *at)
    }

    /// Whether a variable of this name comes from the same macro as the name.
    pub fn is_own(&self, name: &Ident) -> bool {
        let of = context(name);
        self.named(name).any(|(have, _)| context(have) == of)
    }

    /// All that have this name, as text, the innermost first.
    pub fn named(&self, name: &Ident) -> impl Iterator<Item = &(Ident, u16)> {
        let all = self.open.iter().rev().flat_map(|scope| scope.iter().rev());
        let name = name.unraw();
        all.filter(move |(have, _)| have.unraw() == name)
    }

    /// The visible name that is most like this one, if it may have been meant.
    pub fn like(&self, name: &str) -> Option<String> {
        let all = self.open.iter().flatten().map(|(have, _)| have.unraw().to_string());
        let near = |have: String| {
            let distance = distance(&have, name);
            (distance * 3 <= name.len()).then_some((distance, have))
        };
        all.filter_map(near).min().map(|(_, have)| have)
    }

    /// The name of this variable.
    pub fn name_of(&self, number: u16) -> Option<&Ident> {
        let mut all = self.open.iter().rev().flatten();
        all.find(|(_, at)| *at == number).map(|(name, _)| name)
    }

    /// Rustc finds the same variable for sure: all of this name come from the same macro as the
    /// name.
    pub fn is_plain(&self, name: &Ident) -> bool {
        let of = context(name);
        of.is_some() && self.named(name).all(|(have, _)| context(have) == of)
    }

    /// The names that a pattern binds, for the tree.
    pub fn pattern(&mut self, pattern: &Pat, errors: &mut Errors) -> Tree {
        match pattern {
            Pat::Ident(p) if p.by_ref.is_none() && p.subpat.is_none() => {
                let (at, mutable) = (self.bind(&p.ident), p.mutability.is_some());
                if mutable {
                    self.changes(at);
                }
                Tree::of(if mutable { "mut" } else { "name" }).word(at)
            }
            Pat::Wild(_) => Tree::of("_"),
            Pat::Type(p) => self.pattern(&p.pat, errors),
            Pat::Paren(p) => self.pattern(&p.pat, errors),
            Pat::Tuple(PatTuple { elems, .. }) | Pat::Slice(PatSlice { elems, .. }) => {
                let parts: Vec<_> = elems.iter().map(|p| self.pattern(p, errors)).collect();
                Tree::of("names").parts(&parts)
            }
            other => {
                let text = "this pattern is not supported; bind a name or a tuple of names";
                errors.add(other.span(), text);
                Tree::of("_")
            }
        }
    }
}

/// How many letters are to be added, left out or changed to make one word of the other.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (before, own) in a.chars().enumerate() {
        let mut diagonal = before;
        row[0] = before + 1;
        for (at, other) in b.iter().enumerate() {
            let changed = diagonal + usize::from(own != *other);
            diagonal = row[at + 1];
            row[at + 1] = changed.min(diagonal + 1).min(row[at] + 1);
        }
    }
    row[b.len()]
}

/// Whether both are the same name of the same macro.
pub fn same(a: &Ident, b: &Ident) -> bool {
    a.unraw() == b.unraw() && context(a) == context(b)
}

/// The macro that a name comes from. There is no other way to ask than what a span prints,
/// `#0 bytes(3..4)`. Outside of rustc spans print none: in tests all names come from one.
pub fn context(name: &Ident) -> Option<String> {
    if cfg!(test) {
        return Some(String::new());
    }
    let text = format!("{:?}", name.span());
    let (context, _) = text.strip_prefix('#')?.split_once(' ')?;
    Some(context.to_owned())
}
