//! Errors, collected: one function's are reported together.

use proc_macro2::Span;

/// What is wrong so far.
#[derive(Default)]
pub struct Errors(Option<syn::Error>);

impl Errors {
    /// One more.
    pub fn add(&mut self, at: Span, text: impl std::fmt::Display) {
        let error = syn::Error::new(at, format!("kernel: {text}"));
        match &mut self.0 {
            Some(all) => all.combine(error),
            None => self.0 = Some(error),
        }
    }

    /// All, if there are any.
    pub fn take(self) -> Option<syn::Error> {
        self.0
    }
}
