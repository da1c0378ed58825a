//! Names: what is a local variable, and which.

use crate::errors::Errors;
use proc_macro2::TokenStream;
use quote::quote;
use syn::spanned::Spanned;
use syn::{Ident, Pat};

/// The local variables that are visible, innermost last, with their numbers.
#[derive(Default)]
pub struct Scopes {
    open: Vec<Vec<(Ident, u16)>>,
    next: u16,
}

impl Scopes {
    /// A block begins.
    pub fn enter(&mut self) {
        self.open.push(vec![]);
    }

    /// It ends.
    pub fn leave(&mut self) {
        self.open.pop();
    }

    /// A new variable. `Ident`s compare with their hygiene, so a macro's own names stay apart.
    pub fn bind(&mut self, name: &Ident) -> u16 {
        let at = self.next;
        self.next = self.next.saturating_add(1);
        if let Some(scope) = self.open.last_mut() {
            scope.push((name.clone(), at));
        }
        at
    }

    /// The number of the variable with this name.
    pub fn find(&self, name: &Ident) -> Option<u16> {
        let all = self.open.iter().rev().flat_map(|scope| scope.iter().rev());
        all.into_iter().find(|(have, _)| have == name).map(|(_, at)| *at)
    }

    /// What a pattern binds, for the tree.
    pub fn pattern(&mut self, pattern: &Pat, errors: &mut Errors) -> TokenStream {
        match pattern {
            Pat::Ident(p) if p.by_ref.is_none() && p.subpat.is_none() => {
                let (at, mutable) = (self.bind(&p.ident), p.mutability.is_some());
                quote!(__s::Pattern::Local(#at, #mutable))
            }
            Pat::Wild(_) => quote!(__s::Pattern::Wild),
            Pat::Type(p) => self.pattern(&p.pat, errors),
            Pat::Paren(p) => self.pattern(&p.pat, errors),
            Pat::Tuple(p) => {
                let parts: Vec<_> = p.elems.iter().map(|p| self.pattern(p, errors)).collect();
                quote!(__s::Pattern::Tuple(&[#(#parts),*]))
            }
            other => {
                let text = "this pattern is not supported; bind a name or a tuple of names";
                errors.add(other.span(), text);
                quote!(__s::Pattern::Wild)
            }
        }
    }
}
