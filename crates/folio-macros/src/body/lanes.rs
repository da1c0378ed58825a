//! The form for strips of items, as it is written of a body that [`strip`](super::strip) has taken
//! apart: statements for all, and loops over the lanes around statements for each. Values that
//! lanes keep from one such loop to the next lie in `Lanes`.

use crate::pattern::same;
use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::{format_ident, quote};
use std::collections::BTreeSet;
use syn::ext::IdentExt;

/// A name that is bound.
#[derive(Clone)]
pub(super) struct Bound {
    pub(super) name: Ident,
    pub(super) mutable: bool,
    /// The variable's number.
    pub(super) at: Option<u16>,
}

/// A statement of the spine.
pub(super) enum SpineStatement {
    /// A statement that is the same for all.
    Same(TokenStream),
    /// Positions, by this name or these.
    Again(Vec<Ident>, TokenStream),
    /// For each lane; the names that it binds.
    Each(Vec<Bound>, TokenStream),
    /// `for .. in ..`, its pattern and its range; and its body.
    Loop(TokenStream, TokenStream, Vec<SpineStatement>),
}

/// A variable of the spine, while code is written.
#[derive(Clone)]
pub(super) enum Variable {
    Again(Vec<Ident>, TokenStream),
    Kept { name: Ident, lanes: Ident, mutable: bool, array: bool },
}

/// The form, as it is written.
pub struct Strips {
    /// `let` of the item.
    pub(super) item: TokenStream,
    /// The name of the lane.
    pub(super) lane: Ident,
    /// The name of the strip.
    pub strip: Ident,
    /// In a phase: the name of a row of the strip. Kernels of items have strips of one row.
    pub(super) row: Option<Ident>,
    /// `let` of where lanes keep each of their variables, and for how many there is room.
    pub memory: Vec<TokenStream>,
    pub rooms: Vec<TokenStream>,
    /// The numbers of those variables.
    pub(super) numbers: Vec<u16>,
    /// Arrays that are only indexed.
    pub(super) arrays: BTreeSet<u16>,
    /// The code of a strip.
    pub each: TokenStream,
    /// How many turns the first loop has.
    pub turns: TokenStream,
    /// Whether rustc knows how many.
    pub fixed: bool,
}

impl Strips {
    pub(super) fn block(
        &mut self,
        steps: &[SpineStatement],
        variables: &mut Vec<Variable>,
    ) -> TokenStream {
        let outer = variables.len();
        let mut written = vec![];
        let mut rest = steps;
        while let Some((step, after)) = rest.split_first() {
            match step {
                SpineStatement::Same(native) => written.push(native.clone()),
                // Where no lane comes after it, it is for nothing, but what it says of types is
                // needed.
                SpineStatement::Again(names, native)
                    if after.iter().any(SpineStatement::has_lanes) =>
                {
                    variables.push(Variable::Again(names.clone(), native.clone()));
                }
                SpineStatement::Loop(pattern, over, body) => {
                    let body = self.block(body, variables);
                    written.push(quote!(for #pattern in #over { #body }));
                }
                SpineStatement::Each(..) | SpineStatement::Again(..) => {
                    let is_lanes = |step: &SpineStatement| {
                        matches!(step, SpineStatement::Each(..) | SpineStatement::Again(..))
                    };
                    let count = rest.iter().take_while(|step| is_lanes(step)).count();
                    let (together, after) = rest.split_at(count);
                    written.push(self.lanes(together, after, variables));
                    rest = after;
                    continue;
                }
            }
            rest = after;
        }
        variables.truncate(outer);
        quote!(#(#written)*)
    }

    /// Memory for a variable of each lane.
    fn keep(&mut self, lanes: &Ident, array: bool) {
        let of = match array {
            true => quote!(ArrayLanes),
            false => quote!(Lanes),
        };
        self.memory.push(quote!(let mut #lanes = ::folio::ir::device::#of::new();));
        self.rooms.push(quote!(::folio::ir::device::#of::most(&#lanes)));
    }

    /// Statements that each lane does one after the other.
    fn lanes(
        &mut self,
        steps: &[SpineStatement],
        after: &[SpineStatement],
        variables: &mut Vec<Variable>,
    ) -> TokenStream {
        let (mut named, mut later) = (BTreeSet::new(), BTreeSet::new());
        steps.iter().for_each(|step| step.names(&mut named));
        after.iter().for_each(|step| step.names(&mut later));
        let (lane, item) = (self.lane.clone(), &self.item);
        let (mut before, mut natives, mut set) = (vec![], vec![], vec![]);
        for (at, variable) in variables.iter().enumerate() {
            match variable {
                Variable::Again(_, native) => before.push(perhaps_unused(native)),
                Variable::Kept { name, lanes, mutable, array } => {
                    let hidden = variables.iter().skip(at + 1).any(|other| other.is(name));
                    if hidden || !named.contains(&name.unraw().to_string()) {
                        continue;
                    }
                    let token = mutable.then(|| quote!(mut));
                    if *array {
                        before.push(quote! {
                            // SAFETY: each lane has set it where it is declared, and has it alone.
                            #[allow(unused_mut, unused_variables, reason = "here, where it may be used elsewhere")]
                            let #token #name = unsafe { ::folio::ir::device::ArrayLanes::array(&mut #lanes, #lane) };
                        });
                        continue;
                    }
                    before.push(quote! {
                        // SAFETY: each lane has set it where it is declared.
                        #[allow(unused_mut, unused_variables, reason = "here, where it may be used elsewhere")]
                        let #token #name = unsafe { ::folio::ir::device::Lanes::get(&#lanes, #lane) };
                    });
                    if *mutable {
                        set.push((name.clone(), lanes.clone(), false));
                    }
                }
            }
        }
        let item = item.clone();
        for (at, step) in steps.iter().enumerate() {
            match step {
                SpineStatement::Again(names, native) => {
                    natives.push(perhaps_unused(native));
                    variables.push(Variable::Again(names.clone(), native.clone()));
                }
                SpineStatement::Each(names, native) => {
                    // Variables that one loop over the lanes leaves as they are, a later one may
                    // change.
                    let changed = names.iter().any(|bound| bound.mutable);
                    let allowed = changed.then(
                        || quote!(#[allow(unused_mut, reason = "it may be changed elsewhere")]),
                    );
                    natives.push(quote!(#allowed #native));
                    for (nth, Bound { name, mutable, at: number }) in names.iter().enumerate() {
                        let hidden =
                            names.iter().skip(nth + 1).any(|other| same(&other.name, name))
                                || steps.iter().skip(at + 1).any(|step| step.binds(name));
                        if hidden || !later.contains(&name.unraw().to_string()) {
                            continue;
                        }
                        let lanes =
                            format_ident!("__lanes{}", self.memory.len(), span = lane.span());
                        let array = number.is_some_and(|number| self.arrays.contains(&number));
                        self.keep(&lanes, array);
                        self.numbers.extend(number);
                        set.push((name.clone(), lanes.clone(), array));
                        let (name, mutable) = (name.clone(), *mutable);
                        variables.push(Variable::Kept { name, lanes, mutable, array });
                    }
                }
                SpineStatement::Same(_) | SpineStatement::Loop(..) => {}
            }
        }
        let set = set.iter().map(|(name, lanes, array)| {
            let of = if *array { quote!(ArrayLanes) } else { quote!(Lanes) };
            quote! {
                // SAFETY: a strip has no more lanes than there is memory for in each variable.
                unsafe { ::folio::ir::device::#of::set(&mut #lanes, #lane, #name) };
            }
        });
        let (strip, row) = (&self.strip, self.row.iter());
        let of = self.row.as_ref().unwrap_or(strip);
        let lanes = quote! {
            for #lane in #of.lanes() {
                #item
                #(#before)*
                #(#natives)*
                #(#set)*
            }
        };
        quote!(#(for #row in #strip.rows())* { #lanes })
    }
}

impl SpineStatement {
    /// There is something that lanes do.
    fn has_lanes(&self) -> bool {
        match self {
            SpineStatement::Each(..) => true,
            SpineStatement::Loop(.., body) => body.iter().any(SpineStatement::has_lanes),
            SpineStatement::Same(_) | SpineStatement::Again(..) => false,
        }
    }

    /// The step binds this name.
    fn binds(&self, name: &Ident) -> bool {
        match self {
            SpineStatement::Again(names, _) => names.iter().any(|own| same(own, name)),
            SpineStatement::Each(names, _) => names.iter().any(|own| same(&own.name, name)),
            SpineStatement::Same(_) | SpineStatement::Loop(..) => false,
        }
    }

    /// All names that are in it.
    fn names(&self, into: &mut BTreeSet<String>) {
        match self {
            SpineStatement::Same(native)
            | SpineStatement::Again(_, native)
            | SpineStatement::Each(_, native) => words(native, into),
            SpineStatement::Loop(pattern, over, steps) => {
                words(pattern, into);
                words(over, into);
                steps.iter().for_each(|step| step.names(into));
            }
        }
    }
}

impl Variable {
    /// The variable has this name.
    fn is(&self, name: &Ident) -> bool {
        match self {
            Variable::Again(names, _) => names.iter().any(|own| same(own, name)),
            Variable::Kept { name: own, .. } => same(own, name),
        }
    }
}

/// A `let` that is written in several places, not all of which use it.
pub(super) fn perhaps_unused(native: &TokenStream) -> TokenStream {
    quote! {
        #[allow(unused_variables, reason = "here, where it may be used elsewhere")]
        #native
    }
}

pub(super) fn words(tokens: &TokenStream, into: &mut BTreeSet<String>) {
    for token in tokens.clone() {
        match token {
            TokenTree::Ident(name) => {
                into.insert(name.unraw().to_string());
            }
            TokenTree::Group(group) => words(&group.stream(), into),
            _ => {}
        }
    }
}
