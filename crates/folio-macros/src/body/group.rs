//! Group kernels: phases as closures, what items keep between them; and methods of parameters that
//! are atomic, local, or reductions.
//!
//! In Rust a phase is a closure that is an `Fn`, so it changes nothing of the group's. The closure
//! takes its own copies of the views that it names, and the rights that the phase has to local
//! arrays: each item writes its own slot, and no item reads others in a phase that writes.

use super::strip::Plan;
use super::subgroup::is_together;
use super::{Both, Strips, Walk, place_of};
use crate::combine;
use crate::tree::Tree;
use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Expr, ExprMethodCall, GenericArgument, Pat};

/// The special ways to use a parameter.
#[derive(Clone, Copy, PartialEq)]
pub enum Special {
    None,
    /// A view that is written at the item.
    Written,
    /// A view whose elements are written slot by slot.
    Chunk,
    /// A view that the group writes.
    OfGroup,
    /// A view of which the group writes a tile.
    OfTile,
    Atomic,
    Local,
    LocalAtomic,
    Reduce,
    /// The group, of this rank.
    Group(u8),
}

/// Whose code something is.
#[derive(Clone, Copy, Default, PartialEq)]
pub enum Zone {
    /// An item's: a kernel's of items, a device function's, a phase's.
    #[default]
    Items,
    /// The group's.
    Uniform,
    /// An item's, that gives a value to a reduction or scan.
    Gives,
    /// Of an element of a tile.
    Element,
    /// The first item's.
    Once,
}

const ATOMICS: &[&str] =
    &["load", "add", "sub", "min", "max", "and", "or", "xor", "exchange", "compare_exchange"];

/// A closure's parameter, its body, and the copies that it begins with.
struct Closure {
    /// Its name in Rust, and its number.
    item: Option<(Ident, u16)>,
    copies: Vec<TokenStream>,
    body: Both,
    /// The body for strips of items, if it has such a form.
    strips: Option<Strips>,
}

impl Walk {
    /// Uniform code follows.
    pub fn begin_group(&mut self) {
        self.zone = Zone::Uniform;
    }

    /// Whether the walk is in the group's code, and not in its items'.
    pub(super) fn is_uniform_code(&self) -> bool {
        self.zone == Zone::Uniform
    }

    pub(super) fn number(&self, expr: &Expr) -> Option<u16> {
        match expr {
            Expr::Path(path) => path.path.get_ident().and_then(|name| self.scopes.find(name)),
            Expr::Paren(inner) => self.number(&inner.expr),
            _ => None,
        }
    }

    pub(super) fn special_of(&self, expr: &Expr) -> Special {
        let number = self.number(expr).map(usize::from);
        number.and_then(|at| self.params.get(at)).map_or(Special::None, |(_, special)| *special)
    }

    pub(super) fn is_local_memory(&self, expr: &Expr) -> bool {
        matches!(self.special_of(expr), Special::Local | Special::LocalAtomic)
    }

    /// Of such an array it is known by its name what items of a phase do with it.
    pub(super) fn is_known_by_name(&self, expr: &Expr) -> bool {
        let kept = |number| self.privates.iter().any(|(kept, _)| *kept == number);
        self.is_local_memory(expr) || self.number(expr).is_some_and(kept)
    }

    /// Walks an expression that may name such an array as a whole: as the base of an index or a
    /// receiver.
    pub(super) fn as_whole(&mut self, expr: &Expr) -> Both {
        self.as_whole = self.is_known_by_name(expr);
        self.expr(expr)
    }

    /// An element is written.
    pub(super) fn writes(&mut self, of: &Expr, at: Span) {
        self.written.extend(self.number(of));
        if self.special_of(of) == Special::Local && self.zone == Zone::Uniform {
            let text =
                "items write local memory: in `g.each(|i| ..)`, `g.once(|| ..)`, or by `fill`";
            self.refuse(at, text);
        }
        if self.special_of(of) == Special::OfGroup
            && !matches!(self.zone, Zone::Uniform | Zone::Once)
        {
            let text = "the group's element is written once for the group: outside of phases, or in `g.once(|| ..)`";
            self.refuse(at, text);
        }
    }

    /// A variable is changed. Rustc would say that the phase is an `Fn`.
    pub(super) fn changes(&mut self, number: u16, at: Span) {
        if !self.may_change(number) {
            let text = "a phase does not change the group's variables; items keep theirs in `let x = g.private(..)`, and share `Local`";
            self.refuse(at, text);
        }
    }

    /// Whether [`changes`](Self::changes) refuses nothing.
    pub(super) fn may_change(&self, number: u16) -> bool {
        number >= self.phase || !self.is_uniform(number) || self.is_known_view(number)
    }

    /// A slot of a local array, or of what items keep. At a name, types tell whether it is the
    /// item's own.
    pub(super) fn slot_of(&mut self, of: &Expr, index: &Expr) {
        if self.is_local_memory(of) && self.neighbour(index).is_some() {
            // Refused where the index is walked.
            return;
        }
        let phase = matches!(self.zone, Zone::Items | Zone::Gives);
        if let (Some(number), None, true) = (self.number(of), self.number(index), phase) {
            self.elsewhere.push((number, index.span()));
        }
    }

    /// Refuses what items of one phase could race for.
    fn refuse_elsewhere(&mut self, filled: Option<u16>) {
        for (number, at) in std::mem::take(&mut self.elsewhere) {
            let local = self.params.get(usize::from(number));
            let local = local.is_some_and(|(_, special)| *special == Special::Local);
            let text = if self.privates.iter().any(|(kept, _)| *kept == number) {
                "an item has what it keeps itself and nobody else's: write the item, `x[i]`"
            } else if local && filled == Some(number) {
                "what is filled is not read until it is full; fill another array from this one"
            } else if local && self.written.contains(&number) {
                "in a phase that writes this array, items have their own slots alone, `tile[i]`; use others in another phase"
            } else {
                continue;
            };
            self.refuse(at, text);
        }
    }

    /// An element of what is written slot by slot.
    pub(super) fn chunk(&self, expr: &Expr) -> bool {
        matches!(expr, Expr::Index(index) if self.special_of(&index.expr) == Special::Chunk)
    }

    /// Refuses what may end an item that has to give a value.
    pub(super) fn may_leave(&mut self, at: Span, what: &str) {
        if matches!(self.zone, Zone::Gives | Zone::Element) {
            let text =
                format!("{what} may leave an item without a value; write it in a phase before");
            self.refuse(at, text);
        }
    }

    /// A call that gives what items keep: `g.private(..)`, or a scan.
    pub(super) fn kept<'e>(&self, expr: &'e Expr) -> Option<&'e ExprMethodCall> {
        let Expr::MethodCall(call) = expr else { return None };
        let name = call.method.to_string();
        let keeps = ["private", "inclusive_scan", "exclusive_scan"].contains(&name.as_str());
        let group = matches!(self.special_of(&call.receiver), Special::Group(_));
        (keeps && group).then_some(call)
    }

    /// The items keep the value of this name.
    pub(super) fn keep(&mut self, pattern: &Pat) {
        match pattern {
            Pat::Ident(name) => {
                if let Some(number) = self.scopes.find(&name.ident) {
                    self.privates.push((number, name.ident.clone()));
                }
            }
            other => {
                self.refuse(other.span(), "give what items keep a name: `let x = g.private(..);`");
            }
        }
    }

    /// The Rust and the tree of such a call.
    pub(super) fn keeps(&mut self, call: &ExprMethodCall) -> Both {
        if self.zone != Zone::Uniform {
            return self.nested(call);
        }
        match call.method.to_string().as_str() {
            "private" => self.private(call),
            "inclusive_scan" => self.collect(call, "Inclusive"),
            _ => self.collect(call, "Exclusive"),
        }
    }

    /// A method of a parameter that has methods of its own.
    pub(super) fn special(&mut self, call: &ExprMethodCall) -> Option<Both> {
        if let Some(both) = self.of_tile(call) {
            return Some(both);
        }
        let name = call.method.to_string();
        if is_together(&name) {
            return Some(self.subgroup(call, &name));
        }
        match self.special_of(&call.receiver) {
            Special::Group(_) => self.of_group(call, &name),
            Special::Atomic | Special::LocalAtomic if ATOMICS.contains(&name.as_str()) => {
                let of_floats = ["load", "add", "exchange"].contains(&name.as_str());
                if !of_floats && self.is_of_floats(&call.receiver) {
                    let text = format!(
                        "`{name}` is for integers; atomic floats have `load`, `add` and `exchange`, and a `Reduce` has \
                         `Min` and `Max`"
                    );
                    return Some(self.refuse(call.method.span(), text));
                }
                Some(self.atomic(call, &name))
            }
            Special::Reduce => Some(self.give(call, &name)),
            Special::Local if name == "fill" => Some(self.fill(call)),
            _ => None,
        }
    }

    fn of_group(&mut self, call: &ExprMethodCall, name: &str) -> Option<Both> {
        let phases = ["each", "once", "reduce", "inclusive_scan", "exclusive_scan", "private"];
        if phases.contains(&name) && self.zone != Zone::Uniform {
            return Some(self.nested(call));
        }
        match name {
            "each" => Some(self.each(call)),
            "once" => Some(self.once(call)),
            "reduce" => Some(self.collect(call, "Reduce")),
            "inclusive_scan" | "exclusive_scan" | "private" => {
                let text = format!("give what items keep a name: `let x = g.{name}(..);`");
                Some(self.refuse(call.span(), text))
            }
            _ => None,
        }
    }

    fn nested(&mut self, call: &ExprMethodCall) -> Both {
        let text = "a phase is the whole group's; it cannot be inside of another one";
        self.refuse(call.method.span(), text)
    }

    fn uniform(&mut self, call: &ExprMethodCall) -> Option<Both> {
        let text = "items do this, not the group: write it in `g.each(|i| ..)` or `g.once(|| ..)`";
        matches!(self.zone, Zone::Uniform | Zone::Element)
            .then(|| self.refuse(call.method.span(), text))
    }

    fn atomic(&mut self, call: &ExprMethodCall, name: &str) -> Both {
        if let Some(refused) = self.uniform(call) {
            return refused;
        }
        let (of, of_tree) = self.as_whole(&call.receiver);
        let mut args = call.args.iter();
        if let Some(index) = call.args.first() {
            self.deny_index(&call.receiver, index);
        }
        let index = args.next().map(|index| self.index(&call.receiver, index));
        let rest = args.map(|arg| self.expr(arg)).collect::<Vec<_>>();
        let (natives, trees): (Vec<_>, Vec<_>) = index.into_iter().chain(rest).unzip();
        let (method, at) = (&call.method, place_of(call.method.span()));
        let function = quote_spanned!(method.span() => ::folio::ir::device::atomic::#method);
        let given =
            super::call::arguments(call.paren_token.span.join(), quote!(&#of #(, #natives)*));
        let tree = Tree::method(&of_tree, name, &trees, at);
        (quote!(#function #given), tree)
    }

    fn give(&mut self, call: &ExprMethodCall, name: &str) -> Both {
        if let Some(refused) = self.uniform(call) {
            return refused;
        }
        if name != "give" {
            let text = "a reduction is only added to: `total.give(x)`";
            return self.refuse(call.method.span(), text);
        }
        let (of, of_tree) = self.as_whole(&call.receiver);
        let (natives, trees): (Vec<_>, Vec<_>) = call.args.iter().map(|arg| self.expr(arg)).unzip();
        let (method, at) = (&call.method, place_of(call.method.span()));
        let function = quote_spanned!(method.span() => ::folio::ir::device::Give::#method);
        let given =
            super::call::arguments(call.paren_token.span.join(), quote!(&#of #(, #natives)*));
        let tree = Tree::method(&of_tree, "give", &trees, at);
        (quote!(#function #given), tree)
    }

    fn each(&mut self, call: &ExprMethodCall) -> Both {
        let Some(closure) = self.closure(call, Zone::Items, "|i| ..") else { return nothing() };
        let (
            Closure { item: Some((item, number)), copies, body: (body, tree), strips },
            (group, _),
        ) = (closure, self.expr(&call.receiver))
        else {
            return nothing();
        };
        let method = &call.method;
        let each = quote_spanned!(method.span() => #group.#method(|#item| { #(#copies)* #body; }));
        let native = match strips {
            None => each,
            Some(Strips { strip, memory, rooms: room, each: lanes, turns, fixed, .. }) => {
                let [all, many, rooms] = ["__strips", "__turns", "__rooms"]
                    .map(|name| Ident::new(name, Span::mixed_site()));
                quote! {{
                    #(#memory)*
                    let (#many, #rooms) = (#turns, [#(#room),*]);
                    // SAFETY: lanes are of the strip that is asked for their items.
                    match unsafe {
                        ::folio::ir::device::Group::strips(#group, #many, #fixed, &#rooms)
                    } {
                        ::folio::ir::device::rust::option::Option::Some(#all)
                            if <__M as ::folio::ir::device::Mode>::PROVED =>
                        {
                            #(#copies)*
                            for #strip in #all { #lanes }
                        }
                        _ => #each,
                    }
                }}
            }
        };
        (native, Tree::of("each").word(number).part(&tree))
    }

    fn once(&mut self, call: &ExprMethodCall) -> Both {
        let Some(closure) = self.closure(call, Zone::Once, "|| ..") else { return nothing() };
        let (Closure { copies, body: (body, tree), .. }, (group, _)) =
            (closure, self.expr(&call.receiver));
        let method = &call.method;
        let native = quote_spanned!(method.span() => #group.#method(|| { #(#copies)* #body; }));
        (native, Tree::of("once").part(&tree))
    }

    /// Memory for values of the items.
    fn room(&mut self) -> Ident {
        let room = Ident::new(&format!("__room{}", self.slots.len()), Span::mixed_site());
        self.slots.push(quote! {
            // SAFETY: it is named in one place.
            let #room = unsafe { ::folio::ir::device::Room::new() };
        });
        room
    }

    fn private(&mut self, call: &ExprMethodCall) -> Both {
        let Some(value) = call.args.first().filter(|_| call.args.len() == 1) else {
            return self
                .refuse(call.span(), "what items keep begins with a value: `g.private(0.0)`");
        };
        let ((native, tree), (group, _)) = (self.expr(value), self.expr(&call.receiver));
        let (room, method) = (self.room(), &call.method);
        (quote!(#group.#method(&#room, #native)), Tree::of("private").part(&tree))
    }

    fn collect(&mut self, call: &ExprMethodCall, fold: &str) -> Both {
        let generics = call.turbofish.as_ref().and_then(|generics| generics.args.first());
        let Some(GenericArgument::Type(combine)) = generics else {
            let text = format!("say what combines: `g.{}::<Add>(|i| ..)`", call.method);
            return self.refuse(call.method.span(), text);
        };
        let Some(closure) = self.closure(call, Zone::Gives, "|i| ..") else { return nothing() };
        let (Closure { item: Some((item, number)), copies, body: (body, tree), .. }, (group, _)) =
            (closure, self.expr(&call.receiver))
        else {
            return nothing();
        };
        let (room, method) = (self.room(), &call.method);
        let combine = combine::resolved(combine);
        let entry = self.entry(quote_spanned! {combine.span()=>
            <#combine as ::folio::ir::device::Combining>::entry as fn() -> __s::Entry
        });
        let native = quote_spanned! {method.span()=>
            #group.#method::<#combine, _>(&#room, |#item| { #(#copies)* #body })
        };
        (native, Tree::of("collect").word(fold).word(entry).word(number).part(&tree))
    }

    fn fill(&mut self, call: &ExprMethodCall) -> Both {
        if self.zone != Zone::Uniform {
            return self.nested(call);
        }
        let filled = self.number(&call.receiver);
        let Some(closure) = self.closure_of(call, Zone::Gives, "|k| ..", filled) else {
            return nothing();
        };
        let (Closure { item: Some((slot, number)), copies, body: (body, tree), .. }, (array, of)) =
            (closure, self.as_whole(&call.receiver))
        else {
            return nothing();
        };
        let method = &call.method;
        let native = quote_spanned!(method.span() => #array.#method(|#slot: ::folio::ir::device::rust::primitive::usize| { #(#copies)* #body }));
        (native, Tree::of("fill").part(&of).word(number).part(&tree))
    }

    /// Whatever the phase has used, it used at its items' own places, or read it.
    fn is_apart(&self) -> bool {
        self.used.iter().all(|number| {
            match self.params.get(usize::from(*number)).map(|(_, special)| special) {
                Some(Special::Written) => self.is_known_view(*number),
                Some(special) => {
                    matches!(special, Special::None | Special::Local | Special::Group(_))
                }
                None => true,
            }
        })
    }

    /// A variable of the group that is the same for all of its items: a number, for one.
    pub(super) fn is_uniform(&self, number: u16) -> bool {
        let special = self.params.get(usize::from(number)).map(|(_, special)| *special);
        let kept = self.privates.iter().any(|(kept, _)| *kept == number);
        !kept && special.is_none_or(|special| special == Special::None)
    }

    fn closure(&mut self, call: &ExprMethodCall, zone: Zone, form: &str) -> Option<Closure> {
        self.closure_of(call, zone, form, None)
    }

    /// The closure of a phase; `filled` is the local array that it gives the slots of.
    fn closure_of(
        &mut self,
        call: &ExprMethodCall,
        zone: Zone,
        form: &str,
        filled: Option<u16>,
    ) -> Option<Closure> {
        let wants = usize::from(zone != Zone::Once);
        let closure = match call.args.first() {
            Some(Expr::Closure(closure)) if call.args.len() == 1 => Some(closure),
            _ => None,
        };
        let closure = closure.filter(|closure| closure.inputs.len() == wants);
        let Some(closure) = closure else {
            self.refuse(
                call.span(),
                format!("this takes what items do: `{}({form})`", call.method),
            );
            return None;
        };
        let name = match closure.inputs.first() {
            None => None,
            Some(Pat::Ident(name)) if name.by_ref.is_none() && name.subpat.is_none() => {
                Some(name.ident.clone())
            }
            Some(Pat::Wild(wild)) => {
                Some(Ident::new("__item", Span::mixed_site().located_at(wild.span())))
            }
            Some(other) => {
                self.refuse(other.span(), "give the item a name: `|i| ..`");
                return None;
            }
        };
        let outer = (std::mem::take(&mut self.used), std::mem::take(&mut self.written));
        // No loop goes on through a phase.
        let around = std::mem::take(&mut self.around);
        self.scopes.enter();
        self.phase = self.scopes.next();
        let item = name.map(|name| {
            let number = self.scopes.bind(&name);
            (name, number)
        });
        let line = self.params.iter().any(|(_, special)| *special == Special::Group(1));
        let number = item.as_ref().map(|(_, number)| *number);
        self.item = number.filter(|_| line && filled.is_none());
        let before = self.enter_phase(number, filled);
        let whole = std::mem::take(&mut self.plan);
        if let (Zone::Items, Some((name, number)), Expr::Block(_)) = (zone, &item, &*closure.body) {
            self.plan = Plan::of_phase(name, *number);
        }
        self.zone = zone;
        (self.together, self.left) = (zone != Zone::Once && filled.is_none(), false);
        let printing = match &item {
            Some((name, _)) if zone == Zone::Items => self.with_position_of(name, &closure.body),
            _ => None,
        };
        let body = self.expr(printing.as_ref().unwrap_or(&closure.body));
        self.together = false;
        self.leave_phase(before);
        let strips = self.strips().filter(|_| self.is_apart());
        self.plan = whole;
        self.refuse_elsewhere(filled);
        (self.zone, self.phase) = (Zone::Uniform, 0);
        self.item = None;
        self.around = around;
        self.scopes.leave();
        let copies = self.copies(zone, item.as_ref().map(|(name, _)| name), filled);
        (self.used, self.written) = outer;
        Some(Closure { item, copies, body, strips })
    }

    /// The statements with which a phase's closure begins.
    fn copies(&self, zone: Zone, item: Option<&Ident>, filled: Option<u16>) -> Vec<TokenStream> {
        let named = self.params.iter().enumerate().filter_map(|(at, (name, special))| {
            let number = u16::try_from(at).ok().filter(|at| self.used.contains(at))?;
            let array = || match number {
                _ if Some(number) == filled => quote!(filled),
                _ if zone == Zone::Once => quote!(once),
                _ if self.written.contains(&number) => quote!(writing),
                _ => quote!(reading),
            };
            match special {
                Special::Written | Special::Chunk | Special::OfGroup => {
                    Some(quote!(let mut #name = #name;))
                }
                Special::Local => {
                    let array = array();
                    Some(quote!(let mut #name = #name.#array();))
                }
                Special::LocalAtomic => Some(quote!(let #name = #name.counting();)),
                Special::Reduce => Some(match item {
                    Some(item) => quote!(let #name = #name.of(#item);),
                    None => quote!(let #name = #name.first();),
                }),
                Special::None | Special::OfTile | Special::Atomic | Special::Group(_) => None,
            }
        });
        let kept = self.privates.iter().filter(|(number, _)| self.used.contains(number));
        named.chain(kept.map(|(_, name)| quote!(let mut #name = #name;))).collect()
    }
}

fn nothing() -> Both {
    (quote!(()), Tree::unit())
}
