//! What items scatter: each write claims its element first, by a parameter that no source names.

use super::ends::names;
use super::group::Zone;
use super::print::positions;
use super::{Both, Walk, place_of};
use crate::parameter::{Hidden, Parameter, Role, path_of, rank_of};
use crate::tree::Tree;
use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Expr, ExprIndex, Stmt, Type, parse_quote, parse_quote_spanned};

/// A parameter that items scatter to.
pub(super) struct Scattered {
    name: Ident,
    view: u16,
    /// The parameter that has its claims: the name and the number.
    claims: (Ident, u16),
    /// Its last item writes, in the kernel's second turn.
    last: bool,
}

/// What a write of an element knows.
struct Claim {
    view: (TokenStream, Tree),
    claims: (Ident, u16),
    /// The index in Rust, and as variables.
    index: (TokenStream, Tree),
    /// The value in Rust, and the variable that has it.
    value: (Ident, Tree),
    /// The item's claim.
    own: Both,
    at: (u32, u32),
    span: Span,
}

/// The names of the own claim, of the turn, and of the launch's end in a dimension.
fn own(at: Span) -> Ident {
    Ident::new("__claim", Span::mixed_site().located_at(at))
}
fn end(dim: u8) -> Ident {
    Ident::new(&format!("__end{dim}"), Span::mixed_site())
}

/// The statement that makes the own claim of the item's position: its number among all that the
/// launch may have, in row-major order, and one more.
pub(super) fn own_claim(rank: u8) -> Stmt {
    let own = own(Span::mixed_site());
    let mut number = quote!(0u32);
    for (dim, position) in (0u8..).zip(positions(rank)) {
        let end = end(dim);
        number = match dim {
            0 => quote!(#position as u32),
            _ => quote!((#number) * #end + #position as u32),
        };
    }
    parse_quote!(let #own = #number + 1u32;)
}
fn turn(at: Span) -> Ident {
    Ident::new("__turn_of_kernel", Span::mixed_site().located_at(at))
}

const READS_AND_WRITES: &[&str] =
    &["InOut", "InOutRow", "InOutColumn", "InOutGroup", "Atomic", "Racy", "RedBlack"];

impl Walk {
    /// Adds the parameters that a kernel has besides, to those that were read.
    pub fn hidden(&mut self, parameters: &mut Vec<Parameter>) {
        let name_of = |ty: &Type| path_of(ty).map(|(name, _)| name).unwrap_or_default();
        let scattered: Vec<(usize, Ident, Type)> = parameters
            .iter()
            .enumerate()
            .filter(|(_, of)| ["Scatter", "ScatterLast"].contains(&&*name_of(&of.ty)))
            .map(|(at, of)| (at, of.name.clone(), of.ty.clone()))
            .collect();
        let mut twice = None;
        let rank_of_launch = match parameters.first().map(|first| first.role) {
            Some(Role::Item(rank) | Role::Group(rank)) if !scattered.is_empty() => rank,
            _ => 0,
        };
        for (view, name, ty) in scattered {
            let last = name_of(&ty) == "ScatterLast";
            if last {
                twice = Some(ty.span());
            }
            let rank = usize::from(rank_of(&ty));
            if rank == 0 {
                self.refuse(
                    ty.span(),
                    "write its number of dimensions as a number: `Scatter<f32, 2>`",
                );
            }
            let at = ty.span();
            let claims = format!("__claims{view}");
            let claims = Ident::new(&claims, Span::mixed_site().located_at(name.span()));
            let of: Type = parse_quote_spanned!(at=> ::folio::ir::device::Atomic<u32, #rank>);
            let memory = parameters[..view].iter().filter(|of| of.is_memory()).count();
            let hidden = Hidden::Claims { of: name.clone(), memory };
            let number = self.hide(parameters, (claims.clone(), of), hidden);
            let (view, claims) = (view as u16, (claims, number));
            self.scattered.push(Scattered { name, view, claims, last });
        }
        for dim in 1..rank_of_launch {
            self.hide(parameters, (end(dim), parse_quote!(u32)), Hidden::End);
        }
        let Some(at) = twice else { return };
        for of in parameters.iter().filter(|of| READS_AND_WRITES.contains(&&*name_of(&of.ty))) {
            if of.hidden.is_none() {
                let text = format!(
                    "a kernel with a `ScatterLast` runs twice, so it changes nothing that it reads: `{}` is to be an `In`, an `Out` or \
                     a scatter",
                    of.name
                );
                self.refuse(of.ty.span(), text);
            }
        }
        let ty: Type = parse_quote_spanned!(at=> u32);
        let number = self.hide(parameters, (turn(at), ty), Hidden::Turn);
        self.turn = Some(number);
    }

    fn hide(
        &mut self,
        parameters: &mut Vec<Parameter>,
        (name, ty): (Ident, Type),
        hidden: Hidden,
    ) -> u16 {
        let (role, special) = crate::parameter::role_of(&ty);
        let number = self.parameter(&name, special, false);
        parameters.push(Parameter { name, ty, role, mutable: false, hidden: Some(hidden) });
        number
    }

    /// Items of the kernel scatter.
    pub(super) fn scatters(&self) -> bool {
        !self.scattered.is_empty()
    }

    /// This code names what items scatter to.
    pub(super) fn scatters_to(&self, code: &TokenStream) -> bool {
        self.scattered.iter().any(|of| names(code, &[&of.name.to_string()]))
    }

    pub(super) fn is_scattered(&self, view: u16) -> bool {
        self.scattered.iter().any(|of| of.view == view)
    }

    /// `y[..] = value`, of what is scattered; none for other targets.
    pub(super) fn scatter(&mut self, to: &Expr, from: &Expr) -> Option<Both> {
        let Expr::Index(index) = super::lent::bare(to) else { return None };
        let view = self.number(&index.expr)?;
        let at = self.scattered.iter().position(|of| of.view == view)?;
        self.plan.give_up(index.span());
        let span = index.span();
        if self.deny_checks {
            let text = "deny_checks: claims are tested while the kernel runs; gather, `y[i] = x[from[i]]`, or promise by a `Racy` \
                that no two items write one element";
            self.errors.add(span, text);
        }
        if self.known.is_grouped() && self.zone != Zone::Items {
            let text = "items scatter, not the group: write it in `g.each(|i| ..)`";
            return Some(self.refuse(span, text));
        }
        if let Some(refused) = self.refuse_element(index, super::Access::Write) {
            return Some(refused);
        }
        if let Some((at, text)) = self.no_literal(to, from) {
            return Some(self.refuse(at, text));
        }
        let (value, value_tree) = self.expr(from);
        let value = self.fits(self.kind(to), from, value);
        let mut lets = vec![Tree::bound(self.scopes.next(), &value_tree)];
        let kept = Tree::local(self.scopes.unnamed());
        let own_name = own(Span::mixed_site());
        let own_name: Expr = parse_quote!(#own_name);
        let claim = Claim {
            view: self.expr(&index.expr),
            claims: self.scattered[at].claims.clone(),
            index: self.kept_index(index, &mut lets),
            value: (Ident::new("__w", Span::mixed_site().located_at(from.span())), kept),
            own: self.expr(&own_name),
            at: place_of(span),
            span,
        };
        self.may_be_gone();
        let name = &claim.value.0;
        let (native, tree) = match self.scattered[at].last {
            true => self.in_turn(&claim),
            false => self.claimed(&claim),
        };
        lets.extend(tree);
        let native = quote_spanned!(span => { let #name = #value; #native });
        Some((native, Tree::of_block(&Tree::block(&lets, None))))
    }

    /// The index, in variables for devices.
    fn kept_index(&mut self, index: &ExprIndex, lets: &mut Vec<Tree>) -> (TokenStream, Tree) {
        let parts: Vec<&Expr> = match &*index.index {
            Expr::Tuple(tuple) => tuple.elems.iter().collect(),
            one => vec![one],
        };
        let one = parts.len() == 1;
        let (natives, trees): (Vec<_>, Vec<_>) = parts
            .into_iter()
            .map(|part| {
                let (native, tree) = match one {
                    true => self.index(&index.expr, part),
                    false => self.index_part(part),
                };
                let number = self.scopes.unnamed();
                lets.push(Tree::bound(number, &tree));
                (native, Tree::local(number))
            })
            .unzip();
        match &trees[..] {
            [tree] if one => (quote!(#(#natives)*), tree.clone()),
            _ => (quote!((#(#natives,)*)), Tree::of("tuple").parts(&trees)),
        }
    }

    /// One item may write.
    fn claimed(&mut self, claim: &Claim) -> (TokenStream, Vec<Tree>) {
        let Claim { view, claims, index, value, own: (own, own_tree), at, span } = claim;
        let word = self.type_entry(&quote!(::folio::ir::device::rust::primitive::u32));
        let [holder, mine] = [self.scopes.unnamed(), self.scopes.unnamed()];
        let asked = [index.1.clone(), Tree::number("0", word), Tree::local(mine)];
        let asked = Tree::method(&Tree::local(claims.1), "compare_exchange", &asked, *at);
        let place = Tree::of("index").part(&view.1).part(&index.1).at(*at);
        let trees = vec![
            Tree::bound(mine, own_tree),
            Tree::bound(holder, &asked),
            Tree::of("claimed")
                .part(&place)
                .part(&Tree::local(holder))
                .part(&Tree::local(mine))
                .at(*at),
            Tree::of("assign").part(&place).part(&value.1).at(*at),
        ];
        let (view, claims, index, value) = (&view.0, &claims.0, &index.0, &value.0);
        let [at_index, wrote] =
            ["__i", "__wrote"].map(|name| Ident::new(name, Span::mixed_site().located_at(*span)));
        let call = quote_spanned! {*span=>
            ::folio::ir::device::scatter(&#view, &#claims, #own, #at_index, #value)
        };
        // The macro's own unsafe code.
        let hidden = at_index.span();
        let native = quote_spanned! {hidden=>
            let #at_index = #index;
            // SAFETY: the claims of this view, and the item's own.
            let #wrote = unsafe { #call };
            if !#wrote {
                return ::folio::ir::device::nothing();
            }
        };
        (native, trees)
    }

    /// In the first turn the item claims, in the second one it writes.
    fn in_turn(&mut self, claim: &Claim) -> (TokenStream, Vec<Tree>) {
        let Claim { view, claims, index, value, own: (own, own_tree), at, span } = claim;
        let word = self.type_entry(&quote!(::folio::ir::device::rust::primitive::u32));
        let [mine, other] = [self.scopes.unnamed(), self.scopes.unnamed()];
        let (turn, number) = (turn(*span), self.turn.unwrap_or(0));
        let of = Tree::local(claims.1);
        let highest = Tree::method(&of, "max", &[index.1.clone(), Tree::local(mine)], *at);
        let found = Tree::method(&of, "load", std::slice::from_ref(&index.1), *at);
        let place = Tree::of("index").part(&view.1).part(&index.1).at(*at);
        let write = Tree::of("assign").part(&place).part(&value.1).at(*at);
        let is_own = Tree::binary("==", &Tree::local(other), &Tree::local(mine));
        let writes = Tree::branch(&is_own, &Tree::block(&[write], None), None);
        let second = Tree::block(&[Tree::bound(other, &found), writes], None);
        let is_first = Tree::binary("==", &Tree::local(number), &Tree::number("0", word));
        let trees = vec![
            Tree::bound(mine, own_tree),
            Tree::branch(&is_first, &Tree::block(&[highest], None), Some(&second)),
        ];
        let (view, claims, index, value) = (&view.0, &claims.0, &index.0, &value.0);
        let at_index = Ident::new("__i", Span::mixed_site().located_at(*span));
        let call = quote_spanned! {*span=>
            ::folio::ir::device::scatter_last(&#view, &#claims, (#own, #turn), #at_index, #value)
        };
        // The macro's own unsafe code.
        let hidden = at_index.span();
        let native = quote_spanned! {hidden=>
            let #at_index = #index;
            // SAFETY: the claims of this view, the item's own, and the launch's turn.
            unsafe { #call };
        };
        (native, trees)
    }
}
