//! Errors, collected: one function's are reported together.

use proc_macro2::Span;
use std::collections::HashSet;

/// The errors so far.
#[derive(Default)]
pub struct Errors(Option<syn::Error>, usize, HashSet<String>);

impl Errors {
    pub fn add(&mut self, at: Span, text: impl std::fmt::Display) {
        let error = syn::Error::new(at, format!("kernel: {text}"));
        self.1 += 1;
        match &mut self.0 {
            Some(all) => all.combine(error),
            None => self.0 = Some(error),
        }
    }

    /// Adds an error, unless one of this key was told before, of another place.
    pub fn add_once(&mut self, at: Span, key: &str, text: impl std::fmt::Display) {
        if self.2.insert(key.to_owned()) {
            self.add(at, text);
        }
    }

    /// How many there are: what follows from an error is none.
    pub fn count(&self) -> usize {
        self.1
    }

    /// All, if there are any.
    pub fn take(self) -> Option<syn::Error> {
        self.0
    }
}
