//! The walk's knowledge of a kernel's names, and the indices and guards that are looked at for a
//! whole block.

use super::parts::Position;
use crate::pattern::context;
use proc_macro2::{TokenStream, TokenTree};
use quote::quote;
use std::collections::{HashMap, HashSet};
use syn::Type;

/// Knowledge of names, and the indices that are looked at.
#[derive(Default)]
pub struct Knowledge {
    /// By local: the ends of its value, an expression of those of positions and parameters.
    pub(super) ends: HashMap<u16, TokenStream>,
    /// The item, and its rank: a kernel's, or a phase's.
    pub(super) item: Option<(u16, u8)>,
    /// The group, and its rank.
    pub(super) group: Option<(u16, u8)>,
    /// Views, and their ranks.
    pub(super) views: HashMap<u16, u8>,
    /// Local arrays, and their types.
    pub(super) locals: HashMap<u16, TokenStream>,
    /// In kernels of groups: not all items get here, nor has the walk come out of what only some
    /// get to.
    pub(super) perhaps: bool,
    /// Some may have left before: a loop, or the phase.
    pub(super) skipped: bool,
    /// Counts what may be outside, for each view and index.
    pub unproved: Vec<TokenStream>,
    /// Counts guards that are undecided: each, if so.
    pub undecided: Vec<TokenStream>,
    /// The text of these counts.
    looked_at: HashSet<String>,
    /// Conditions by name: what they are in the interior.
    pub(super) decided: HashMap<u16, bool>,
    /// Variables that are positions.
    pub(super) positions: HashMap<u16, Position>,
}

impl Knowledge {
    /// A kernel's item.
    pub fn item(&mut self, at: u16, rank: u8) {
        self.item = Some((at, rank));
    }

    /// The number of the item.
    pub(super) fn item_number(&self) -> Option<u16> {
        self.item.map(|(at, _)| at)
    }

    /// A kernel's group.
    pub fn group(&mut self, at: u16, rank: u8) {
        self.group = Some((at, rank));
    }

    /// Whether it is a kernel of groups.
    pub(super) fn is_grouped(&self) -> bool {
        self.group.is_some()
    }

    /// A kernel's local array.
    pub fn local(&mut self, at: u16, ty: &Type) {
        self.locals.insert(at, quote!(<#ty as ::folio::ir::device::LocalParam>));
    }

    /// A kernel's view.
    pub fn view(&mut self, at: u16, rank: u8) {
        self.views.insert(at, rank);
    }

    /// Nothing that is looked at is the same as this. Tokens without a key of their own are looked
    /// at once more.
    pub(super) fn is_new(&mut self, count: &TokenStream) -> bool {
        let mut key = String::new();
        key_of(count, &mut key).is_none() || self.looked_at.insert(key)
    }

    /// A kernel's parameter that nobody assigns to.
    pub fn value(&mut self, at: u16, name: &syn::Ident) {
        self.ends.insert(at, quote!(__Ends::of(#name)));
    }
}

/// Whether both are the same tokens, with names of the same macros.
pub(super) fn is_alike(a: &TokenStream, b: &TokenStream) -> bool {
    let [mut of_a, mut of_b] = [String::new(), String::new()];
    key_of(a, &mut of_a).is_some() && key_of(b, &mut of_b).is_some() && of_a == of_b
}

/// Appends what tells these tokens from others: their text, and from which macro each name comes.
/// The same path of two macros may be two constants.
fn key_of(tokens: &TokenStream, key: &mut String) -> Option<()> {
    for token in tokens.clone() {
        match token {
            TokenTree::Group(group) => {
                key.push_str(&format!("{:?}(", group.delimiter()));
                key_of(&group.stream(), key)?;
                key.push(')');
            }
            TokenTree::Ident(name) => {
                let of = context(&name)?;
                key.push_str(&format!("{name}#{of}"));
            }
            other => key.push_str(&other.to_string()),
        }
        key.push(' ');
    }
    Some(())
}
