//! Indexed places, and targets of assignments.

use super::kinds::Kind;
use super::rights::Access;
use super::{Both, Special, Walk, call, name_of, place_of};
use crate::tree::Tree;
use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{
    BinOp, Expr, ExprBinary, ExprIndex, ExprLit, ExprRange, ExprUnary, Lit, LitInt, Member, UnOp,
};

impl Walk {
    pub(super) fn assign(&mut self, to: &Expr, from: &Expr, token: Span) -> Both {
        self.acts += 1;
        if let Some(both) = self.assign_several(to, from) {
            return both;
        }
        if let Some(both) = self.scatter(to, from) {
            return both;
        }
        let (native, tree) = self.expr(from);
        if matches!(to, Expr::Infer(_)) {
            return (quote!(_ = #native), tree);
        }
        if let Some((at, text)) = self.no_literal(to, from) {
            return self.refuse(at, text);
        }
        let native = self.fits(self.kind(to), from, native);
        self.refuse_reference(to);
        let (target, place) = self.target(to, Access::Write);
        // Errors of the index, of rustc and at run time, are told at the index.
        let token = index_of(to).unwrap_or(token);
        let tree = Tree::of("assign").part(&place).part(&tree).at(place_of(token));
        if let Target::Name(name) = &target {
            if self.may_be_parameter(to) {
                self.refuse(to.span(), "views and items stay what they are; write `x[i] = ..`");
            }
            return (quote_spanned!(token => #name = #native), tree);
        }
        // The value first: its operands may be what is written.
        let value = Ident::new("__w", Span::mixed_site().located_at(end(from)));
        let (before, write) = (target.before(false), target.write(quote!(#value), 0, token));
        (quote!({ let #value = #native; #before #write; }), tree)
    }

    /// The target of an assignment, and its tree.
    pub(super) fn target(&mut self, expr: &Expr, access: Access) -> (Target, Tree) {
        match expr {
            Expr::Path(path)
                if let Some(at) = path.path.get_ident().and_then(|n| self.scopes.find(n)) =>
            {
                if self.special_of(expr) == Special::Reduce {
                    let text = format!(
                        "what items give is combined; write `{0}.give(..)`",
                        path.to_token_stream()
                    );
                    let (native, tree) = self.refuse(path.span(), text);
                    return (Target::Name(native), tree);
                }
                self.changes(at, path.span());
                let (native, tree) = self.as_whole(expr);
                (Target::Name(native), tree)
            }
            Expr::Unary(ExprUnary { op: UnOp::Deref(_), expr: inner, .. })
                if self.is_lent(inner) =>
            {
                self.target(inner, access)
            }
            Expr::Paren(inner) => self.target(&inner.expr, access),
            Expr::Group(inner) => self.target(&inner.expr, access),
            Expr::Field(field) => {
                let alone = access == Access::Write && self.is_in_fields(&field.base);
                let inner = if alone { access } else { Access::Change };
                let (base, tree) = self.target(&field.base, inner);
                let name = name_of(&field.member);
                let tree = Tree::of("field").part(&tree).word(name);
                (base.field(field.member.clone(), alone), tree)
            }
            Expr::Index(index) => {
                if let Some((native, tree)) = self.refuse_element(index, access) {
                    return (Target::Name(native), tree);
                }
                self.writes(&index.expr, index.span());
                self.slot_of(&index.expr, &index.index);
                let chunk = self.chunk(&index.expr);
                let inner = if chunk { access } else { Access::Change };
                let (base, base_tree) = self.target(&index.expr, inner);
                let (native, tree) = self.index(&index.expr, &index.index);
                self.deny_index(&index.expr, &index.index);
                let tree = Tree::of("index").part(&base_tree).part(&tree);
                let tree = tree.at(place_of(index.span()));
                let span = index.index.span();
                let name = format!("__i{}", self.targets);
                self.targets += 1;
                let name = Ident::new(&name, Span::mixed_site().located_at(span));
                let base = Box::new(base);
                let target = match chunk {
                    true => Target::Slot { element: base, slot: native, name },
                    false => {
                        let proved = self.proves(&index.expr, &index.index);
                        match proved {
                            // The operator is there, and the assignment at the index.
                            true => self
                                .looked_at
                                .extend([index.span(), index.index.span()].map(place_of)),
                            false => self.unproved(&index.expr, &index.index),
                        }
                        let at = Spot::of(index);
                        Target::Index { base, index: native, name, proved, at }
                    }
                };
                (target, tree)
            }
            other => {
                let text = match other {
                    Expr::Path(path) => format!(
                        "`{}` is no variable of this kernel, which changes nothing outside but its views; pass an \
                         `Atomic` and add to it, `n.add(0, 1)`, or a `Reduce`",
                        path.to_token_stream()
                    ),
                    _ => "cannot assign to this; assign to a variable, a field, or an element"
                        .to_owned(),
                };
                let (native, tree) = self.refuse(other.span(), text);
                (Target::Name(native), tree)
            }
        }
    }

    /// Refuses an index that, as it is written, gives no element.
    pub(super) fn refuse_element(&mut self, index: &ExprIndex, access: Access) -> Option<Both> {
        if let Some((at, text)) = self.no_memory(index) {
            return Some(self.refuse(at, text));
        }
        if let Expr::Range(range) = &*index.index {
            let of = index.expr.to_token_stream();
            let mut turns = range_text(range);
            if range.end.is_none() {
                turns = format!("{turns}{of}.len()");
            }
            let text = format!(
                "devices have no slices; loop over it: `for k in {turns} {{ .. {of}[k] .. }}`"
            );
            return Some(self.refuse(range.span(), text));
        }
        let refused = self.refuse_atomic(index).or_else(|| self.refuse_rows(index));
        let refused = refused.or_else(|| self.refuse_place(index));
        refused.or_else(|| self.refuse_access(index, access))
    }

    /// `x[row][column]`, as if views had rows.
    fn refuse_rows(&mut self, index: &ExprIndex) -> Option<Both> {
        let (mut of, mut indices) = (&*index.expr, vec![&*index.index]);
        while let Expr::Index(outer) = of {
            indices.insert(0, &outer.index);
            of = &outer.expr;
        }
        let number = self.number(of)?;
        let (_, grid) = *self.grids.iter().find(|(at, _)| *at == number)?;
        if indices.len() < 2 || matches!(indices[0], Expr::Tuple(_)) {
            return None;
        }
        let mut all: Vec<_> = indices.iter().map(|at| at.to_token_stream().to_string()).collect();
        all.resize(grid.rank.into(), "..".to_owned());
        let (of, all, rank) = (of.to_token_stream(), all.join(", "), grid.rank);
        let text = match grid.own {
            true => {
                format!("items have their own element of `{of}` alone; write the item, `{of}[i]`")
            }
            false => format!("`{of}` has one index of {rank} numbers; write `{of}[({all})]`"),
        };
        Some(self.refuse(index.span(), text))
    }

    /// An element of what is atomic, as if it were not.
    fn refuse_atomic(&mut self, index: &ExprIndex) -> Option<Both> {
        let of = &index.expr;
        if !matches!(self.special_of(of), Special::Atomic | Special::LocalAtomic) {
            return None;
        }
        let of = of.to_token_stream();
        let text = format!(
            "`{of}` is atomic; write `{of}.load(at)`, `{of}.exchange(at, value)`, `{of}.add(at, value)`"
        );
        Some(self.refuse(index.span(), text))
    }

    /// A value as if it were a view, and an index below zero.
    fn refuse_place(&mut self, index: &ExprIndex) -> Option<Both> {
        let (of, place) = (index.expr.to_token_stream(), &*index.index);
        let is_value = self.number(&index.expr).is_some_and(|at| {
            let known = self.is_view(&index.expr) || self.spoilt.contains(&at);
            usize::from(at) < self.params.len() && !known
        });
        if is_value
            && self.special_of(&index.expr) == Special::None
            && self.rank_of_item(place).is_some()
        {
            let text = format!(
                "`{of}` is a value; items index views, whose types are written by their own names, `{of}: In<f32>`; an array \
                 is indexed by a number"
            );
            return Some(self.refuse(index.expr.span(), text));
        }
        let parts: Vec<&Expr> = match place {
            Expr::Tuple(tuple) => tuple.elems.iter().collect(),
            place => vec![place],
        };
        let negative = parts.into_iter().find(|part| is_negative(part))?;
        let text = format!(
            "an index is not below 0: the first element is `{of}[0]`, and the last one `{of}[{of}.len() - 1]`"
        );
        Some(self.refuse(negative.span(), text))
    }

    /// The index of a neighbour: `i + 1` with the item.
    pub(super) fn neighbour<'e>(&self, index: &'e Expr) -> Option<&'e ExprBinary> {
        let Expr::Binary(binary) = index else { return None };
        let item = match &*binary.left {
            Expr::Path(path) => path.path.get_ident().and_then(|name| self.scopes.find(name)),
            _ => None,
        };
        let near = matches!(binary.op, BinOp::Add(_) | BinOp::Sub(_));
        (near && item.is_some() && item == self.item).then_some(binary)
    }

    /// Whatever is indexed by a number is by a `usize`: there is nothing to infer.
    fn literal_index(&mut self, number: &LitInt) -> Both {
        let (digits, span) = (number.base10_digits(), number.span());
        let entry = match self.usize_entry {
            Some(entry) => entry,
            None => self.type_entry(&quote!(::folio::ir::device::rust::primitive::usize)),
        };
        self.usize_entry = Some(entry);
        let typed = LitInt::new(&format!("{digits}usize"), span);
        (typed.to_token_stream(), Tree::number(digits, entry))
    }

    /// An index that is no neighbour's.
    fn plain_index(&mut self, index: &Expr) -> Both {
        let Expr::Tuple(tuple) = index else {
            let (native, tree) = self.expr(index);
            return (self.fits_index(index, native), tree);
        };
        let parts = tuple.elems.iter().map(|part| self.index_part(part));
        let (natives, trees): (Vec<_>, Vec<_>) = parts.unzip();
        let tuple = call::arguments(tuple.paren_token.span.join(), quote!(#(#natives,)*));
        (tuple.to_token_stream(), Tree::of("tuple").parts(&trees))
    }

    /// A part of an index of several dimensions.
    pub(super) fn index_part(&mut self, part: &Expr) -> Both {
        let (native, tree) = self.expr(part);
        (self.fits(Some(Kind::position()), part, native), tree)
    }

    /// An index of this.
    pub(super) fn index(&mut self, of: &Expr, index: &Expr) -> Both {
        if let Expr::Lit(ExprLit { lit: Lit::Int(number), .. }) = index
            && number.suffix().is_empty()
        {
            self.indexes(of, index);
            return self.literal_index(number);
        }
        self.indexes(of, index);
        let Some(binary) = self.neighbour(index) else { return self.plain_index(index) };
        if self.is_local_memory(of) {
            let (tile, item) = (of.to_token_stream(), binary.left.to_token_stream());
            let (op, by) = (binary.op.to_token_stream(), binary.right.to_token_stream());
            let text = format!(
                "`{item} {op} ..` is a position in the launch, and `{tile}` is the group's; write \
                 `{tile}[{item}.local_index() {op} {by}]`"
            );
            return self.refuse(index.span(), text);
        }
        let (name, op) = match binary.op {
            BinOp::Add(_) => ("plus", "+"),
            _ => ("minus", "-"),
        };
        if self.refuse_distance(&binary.left, &binary.right) {
            return (quote!(0), Tree::unit());
        }
        let (native, tree) = self.expr(&binary.right);
        let (left, left_tree) = self.expr(&binary.left);
        let (left, native) =
            self.alike((&binary.left, quote!(#left.index())), (&binary.right, native));
        let slot = self.new_slot(binary.op.span());
        let name = Ident::new(name, slot.span());
        let at = place_of(binary.op.span());
        let own = Tree::method(&left_tree, "index", &[], at);
        let tree = Tree::of("binary").word(op).part(&own).part(&tree).entry(None).at(at);
        (quote_spanned!(slot.span() => #slot.#name::<__M>(#left, #native)), tree)
    }
}

fn is_negative(index: &Expr) -> bool {
    let Expr::Unary(unary) = index else { return false };
    matches!((&unary.op, &*unary.expr), (UnOp::Neg(_), Expr::Lit(_)))
}

/// Where an element is written: all of it, its index, and where it ends.
#[derive(Clone, Copy)]
pub(super) struct Spot {
    all: Span,
    index: Span,
    end: Span,
}

impl Spot {
    pub(super) fn of(index: &ExprIndex) -> Spot {
        Spot { all: index.span(), index: index.index.span(), end: end(index) }
    }
}

/// Something that is written to, in Rust.
pub(super) enum Target {
    Name(TokenStream),
    Field(Box<Target>, Member),
    Index {
        base: Box<Target>,
        index: TokenStream,
        /// The name of the variable that holds it.
        name: Ident,
        /// The index is looked at for the whole block.
        proved: bool,
        /// Where it is written.
        at: Spot,
    },
    /// A field of an element, which is not read: from the element to it.
    Part {
        element: Box<Target>,
        fields: Vec<Member>,
    },
    /// A slot of an element, which is not read.
    Slot {
        element: Box<Target>,
        slot: TokenStream,
        /// The name of the variable that holds it.
        name: Ident,
    },
}

/// A range as its user would write it.
pub(super) fn range_text(range: &ExprRange) -> String {
    let text = range.to_token_stream().to_string();
    let text = text.replace(" ..= ", "..=").replace("..= ", "..=");
    let text = text.replace(" .. ", "..").replace(".. ", "..").replace(" ..", "..");
    let text = text.replace(" [", "[");
    // A loop begins somewhere.
    if range.start.is_none() { format!("0{text}") } else { text }
}

/// The index of what is written to.
fn index_of(to: &Expr) -> Option<Span> {
    match to {
        Expr::Index(index) => Some(index.index.span()),
        Expr::Field(field) => index_of(&field.base),
        Expr::Paren(inner) => index_of(&inner.expr),
        Expr::Group(inner) => index_of(&inner.expr),
        _ => None,
    }
}

/// The end of what the user has written, before which compilers put what they suggest to write
/// behind it.
pub(super) fn end(of: &impl ToTokens) -> Span {
    match of.to_token_stream().into_iter().last() {
        Some(TokenTree::Group(group)) => group.span_close(),
        Some(token) => token.span(),
        None => Span::call_site(),
    }
}

/// A call with these arguments that is the user's from where it begins to there.
pub(super) fn called(function: &TokenStream, arguments: TokenStream, end: Span) -> TokenStream {
    let mut arguments = Group::new(Delimiter::Parenthesis, arguments);
    arguments.set_span(end);
    quote!(#function #arguments)
}

/// Reads at the index that a variable holds. The call is the user's from where the element begins:
/// that is where a violation is. Rustc tells at the index which type of index a view takes.
pub(super) fn read(base: &TokenStream, name: &Ident, proved: bool, spot: Spot) -> TokenStream {
    let Spot { all: at, index, end } = spot;
    let arguments = quote_spanned!(at => &#base, #name);
    if proved {
        let read = quote_spanned!(at => ::folio::ir::device);
        let read = quote_spanned!(index => #read::at_proved::<__M, _, _>);
        let read = called(&read, arguments, end);
        // The macro's `unsafe`, not the user's, who may forbid it.
        quote_spanned! {Span::mixed_site().located_at(name.span())=>
            // SAFETY: `Kernel::unproved` looks at this index.
            unsafe { #read }
        }
    } else {
        let read = quote_spanned!(at => ::folio::ir::device);
        called(&quote_spanned!(index => #read::at), arguments, end)
    }
}

/// Puts a value to a field of an own element, which is not read. The call is the user's `at`.
fn put_field(
    (view, index): (&TokenStream, &Ident),
    fields: &[Member],
    proved: bool,
    (value, at): (TokenStream, Span),
) -> TokenStream {
    let hidden = Span::mixed_site().located_at(value.span());
    let [new, element] = ["__new", "__element"].map(|name| Ident::new(name, hidden));
    let put = match proved {
        true => quote_spanned!(at => ::folio::ir::device::put_field_proved::<__M, _, _, _>),
        false => quote_spanned!(at => ::folio::ir::device::put_field),
    };
    let field = quote_spanned!(hidden => |#element| &raw mut (*#element) #(.#fields)*);
    let write = quote_spanned!(at => #put(&mut #view, #index, #field, #new));
    quote_spanned! {index.span()=>
        {
            let #new = #value;
            // SAFETY: a field of the element, as a device type has no `Deref`. Where the index is
            // not tested, `Kernel::unproved` looks at it.
            unsafe { #write }
        }
    }
}

impl Target {
    /// A field of this; `alone` of an element that is not read.
    fn field(self, member: Member, alone: bool) -> Target {
        match self {
            Target::Part { element, mut fields } => {
                fields.push(member);
                Target::Part { element, fields }
            }
            element @ Target::Index { .. } if alone => {
                Target::Part { element: Box::new(element), fields: vec![member] }
            }
            base => Target::Field(Box::new(base), member),
        }
    }

    /// Rust can assign to it directly.
    pub(super) fn is_variable(&self) -> bool {
        match self {
            Target::Name(_) => true,
            Target::Field(base, _) => base.is_variable(),
            Target::Index { .. } | Target::Slot { .. } | Target::Part { .. } => false,
        }
    }

    /// Computes the indices, once; `changes` says that what is there is read, too.
    pub(super) fn before(&self, changes: bool) -> TokenStream {
        match self {
            Target::Name(_) => quote!(),
            Target::Field(base, _) => base.before(true),
            Target::Index { base, index, name, at, .. } => {
                let at = at.all;
                let before = base.before(true);
                let index = match changes && base.is_variable() {
                    true => {
                        let base = base.read();
                        quote_spanned!(at => ::folio::ir::device::changed(&#base, #index))
                    }
                    false => index.clone(),
                };
                quote!(#before let #name = #index;)
            }
            Target::Slot { element, slot, name } => {
                let before = element.before(changes);
                quote!(#before let #name = #slot;)
            }
            Target::Part { element, .. } => element.before(changes),
        }
    }

    /// The value of the target.
    pub(super) fn read(&self) -> TokenStream {
        match self {
            Target::Name(name) => name.clone(),
            Target::Field(base, member) => {
                let base = base.read();
                quote!(#base.#member)
            }
            Target::Index { base, name, proved, at, .. } => read(&base.read(), name, *proved, *at),
            Target::Slot { element, name, .. } => {
                let at = name.span();
                read(&element.read(), name, false, Spot { all: at, index: at, end: at })
            }
            Target::Part { element, fields } => {
                let element = element.read();
                quote!(#element #(.#fields)*)
            }
        }
    }

    /// Puts a value there: into a copy of what is around, where Rust cannot assign directly. The
    /// call is the user's `at`.
    pub(super) fn write(&self, value: TokenStream, depth: usize, at: Span) -> TokenStream {
        let whole = Ident::new(&format!("__whole{depth}"), Span::mixed_site());
        match self {
            _ if self.is_variable() => {
                let place = self.read();
                quote_spanned!(place.span() => #place = #value)
            }
            Target::Name(_) => quote!(),
            Target::Field(base, member) => {
                let (read, write) = (base.read(), base.write(quote!(#whole), depth + 1, at));
                quote!({ let mut #whole = #read; #whole.#member = #value; #write })
            }
            Target::Slot { element, name, .. } => {
                let Target::Index { base, name: index, .. } = &**element else { return quote!() };
                let (base, span) = (base.read(), name.span());
                let put = quote_spanned!(at => ::folio::ir::device::PutSlot::put_slot);
                let new = Ident::new("__new", Span::mixed_site().located_at(span));
                let write = quote_spanned!(at => #put(&mut #base, #index, #name, #new));
                quote_spanned!(span => { let #new = #value; #write })
            }
            Target::Part { element, fields } => {
                let Target::Index { base, name, proved, .. } = &**element else { return quote!() };
                put_field((&base.read(), name), fields, *proved, (value, at))
            }
            Target::Index { base, name, proved, .. } => {
                let put = quote_spanned!(at => ::folio::ir::device::put);
                let put_proved = quote_spanned!(at => ::folio::ir::device::put_proved::<__M, _, _>);
                if base.is_variable() {
                    let base = base.read();
                    let new = Ident::new("__new", Span::mixed_site().located_at(value.span()));
                    // The value first: it may read what is written.
                    let write = match proved {
                        true => {
                            let write = quote_spanned!(at => #put_proved(&mut #base, #name, #new));
                            quote_spanned! {name.span()=>
                                // SAFETY: `Kernel::unproved` looks at this index.
                                unsafe { #write }
                            }
                        }
                        false => quote_spanned!(at => #put(&mut #base, #name, #new)),
                    };
                    return quote_spanned!(name.span() => { let #new = #value; #write });
                }
                let (read, write) = (base.read(), base.write(quote!(#whole), depth + 1, at));
                let put = quote_spanned!(at => #put(&mut #whole, #name, #value));
                quote!({ let mut #whole = #read; #put; #write })
            }
        }
    }
}
