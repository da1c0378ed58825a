//! Literals and operators.

use super::group::Zone;
use super::kinds::Kind;
use super::rights::Access;
use super::{Both, Walk, place_of};
use crate::refused::refuse_type;
use crate::tree::Tree;
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{BinOp, Expr, ExprBinary, ExprLit, Lit, Token, Type, UnOp};

impl Walk {
    pub(super) fn literal(&mut self, lit: &ExprLit, negative: bool) -> Both {
        let span = lit.span();
        let (digits, suffix) = match &lit.lit {
            Lit::Bool(value) => {
                let value = value.value;
                return (lit.to_token_stream(), Tree::bool(value));
            }
            Lit::Int(number) => (number.base10_digits().to_owned(), number.suffix().to_owned()),
            Lit::Float(number) => (number.base10_digits().to_owned(), number.suffix().to_owned()),
            _ => {
                return self
                    .refuse(span, "this literal has no device type; use numbers and booleans");
            }
        };
        let digits = if negative { format!("-{digits}") } else { digits };
        let minus = negative.then(|| Token![-](span));
        if !suffix.is_empty() {
            let ty = Ident::new(&suffix, span);
            // A suffix names the language's type, whatever has its name here.
            let entry =
                self.type_entry(&quote_spanned!(span => ::folio::ir::device::rust::primitive::#ty));
            return (quote!((#minus #lit)), Tree::number(&digits, entry));
        }
        let (slot, entry) = self.slot(span);
        let value = Ident::new("__v", Span::mixed_site().located_at(span));
        // No call around the literal: rustc's message then points at the literal alone.
        let native = quote_spanned!(span => { let #value = #minus #lit; #slot.is(#value); #value });
        (native, Tree::number(&digits, entry))
    }

    pub(super) fn unary(&mut self, unary: &syn::ExprUnary) -> Both {
        if let (UnOp::Neg(_), Expr::Lit(lit)) = (&unary.op, &*unary.expr) {
            return self.literal(lit, true);
        }
        if let (UnOp::Deref(_), true) = (&unary.op, self.is_lent(&unary.expr)) {
            return self.expr(&unary.expr);
        }
        let turns = matches!(unary.op, UnOp::Not(_));
        let likely = self.likely;
        self.likely = likely.map(|likely| likely != turns);
        let (native, tree) = self.expr(&unary.expr);
        self.likely = likely;
        match unary.op {
            UnOp::Neg(token) => {
                let (slot, entry) = self.operator(token.span, "neg");
                let tree = Tree::of("unary").word('-').part(&tree).entry(entry);
                (quote_spanned!(slot.span() => #slot.negated::<__M>(#native)), tree)
            }
            UnOp::Not(token) => {
                let tree = Tree::of("unary").word('!').part(&tree).entry(None);
                (quote!((#token #native)), tree)
            }
            _ => self.refuse(
                unary.span(),
                "only references are dereferenced, and this is a value; leave out the `*`",
            ),
        }
    }

    /// The slot of an operator that structs may have, and its entry.
    fn operator(&mut self, at: Span, function: &str) -> (Ident, Option<u16>) {
        let name = self.new_slot(at);
        let function = Ident::new(function, name.span());
        let entry = self.entry(quote_spanned!(at => #name.#function()));
        (name, Some(entry))
    }

    pub(super) fn cast(&mut self, cast: &syn::ExprCast) -> Both {
        let ty = &cast.ty;
        if matches!(**ty, Type::Infer(_)) {
            return self.refuse(ty.span(), "write the type after `as`");
        }
        refuse_type(ty, self);
        if let Some((at, text)) = self.no_number(&cast.expr) {
            return self.refuse(at, text);
        }
        let (native, tree) = self.expr(&cast.expr);
        let entry = self.type_entry(ty);
        let tree = Tree::of("cast").part(&tree).word(entry);
        if self.narrowed(cast) {
            let at = Ident::new("__at", Span::mixed_site().located_at(cast.as_token.span));
            let native = quote_spanned! {at.span()=> {
                let #at = #native;
                // SAFETY: `Kernel::undecided` counts this position where it is not small.
                unsafe { ::folio::ir::device::interior::cast::<__M, #ty>(#at) }
            }};
            return (native, tree);
        }
        let function = quote_spanned!(cast.as_token.span => ::folio::ir::device::cast::<_, #ty>);
        let cast = quote_spanned!(cast.as_token.span => #function(#native));
        (cast, tree)
    }

    pub(super) fn binary(&mut self, binary: &ExprBinary) -> Both {
        let op = binary.op.to_token_stream().to_string();
        if let (BinOp::Mul(_), Expr::Unary(power)) = (&binary.op, &*binary.right)
            && let (UnOp::Deref(_), Expr::Lit(by)) = (&power.op, &*power.expr)
        {
            let of = binary.left.to_token_stream().to_string().replace(" [", "[");
            let by = by.to_token_stream();
            let text = format!(
                "Rust has no operator for powers; write `{of}.powi({by})`, or `powf`, of integers `pow`"
            );
            return self.refuse(power.span(), text);
        }
        self.deny_division(binary);
        if is_assignment(&binary.op) {
            return self.assign_operation(binary, op.trim_end_matches('='));
        }
        if let Some((at, text)) =
            self.no_number(&binary.left).or_else(|| self.no_number(&binary.right))
        {
            return self.refuse(at, text);
        }
        if let Some((at, text)) =
            self.no_literals(binary, &op).or_else(|| self.below_zero(binary, &op))
        {
            return self.refuse(at, text);
        }
        let (a, tree_a) = self.expr(&binary.left);
        let ends = match binary.op {
            BinOp::And(_) => Some(false),
            BinOp::Or(_) => Some(true),
            _ => None,
        };
        let reached = ends.is_none() || self.decided(&binary.left) != ends;
        let ((b, tree_b), _) = self.reached(reached, |walk| walk.expr(&binary.right));
        let (a, b) = match op.as_str() {
            "<<" | ">>" | "&&" | "||" => (a, b),
            _ => self.alike((&binary.left, a), (&binary.right, b)),
        };
        let (native, entry) = match self.compared(binary, &op) {
            Some(function) => (quote_spanned!(binary.span() => #function(#a, #b)), None),
            None if op == "*" && self.may_be_of_struct(binary) => {
                let (slot, entry) = self.operator(binary.op.span(), "mul_right");
                (quote_spanned!(slot.span() => #slot.times_right::<__M>(#a, #b)), entry)
            }
            None => self.operation(binary, &op, a, b),
        };
        let tree = Tree::of("binary").word(self.word_of(&op)).part(&tree_a).part(&tree_b);
        let tree = tree.entry(entry).at(place_of(binary.span()));
        (native, tree)
    }

    /// The function that a comparison becomes where structs may be compared: rustc says of them
    /// what to write. No trait of the user's says what is equal, also where a type has the name of
    /// a number's. The order of a type parameter is that of its bounds: devices have none of
    /// others than numbers.
    fn compared(&self, binary: &ExprBinary, op: &str) -> Option<TokenStream> {
        let (_, name) = COMPARISONS.iter().find(|(comparison, _)| *comparison == op)?;
        let kinds = [&binary.left, &binary.right].map(|of| self.kind(of));
        let is_number = |kind: &Option<Kind>| match kind {
            Some(Kind::Named(..)) => !matches!(op, "==" | "!="),
            kind => kind.is_some(),
        };
        let ordered = self.generic && !matches!(op, "==" | "!=");
        if ordered || kinds.iter().any(is_number) {
            return None;
        }
        let name = Ident::new(name, binary.op.span());
        Some(quote_spanned!(binary.op.span() => ::folio::ir::device::ops::#name))
    }

    /// A float is multiplied by what may be a struct.
    fn may_be_of_struct(&self, binary: &ExprBinary) -> bool {
        let float = self.kind(&binary.left).is_some_and(|kind| kind.is_float());
        float && !self.generic && self.kind(&binary.right).is_none()
    }

    /// Why this is no operand, as far as its name says.
    pub(super) fn no_number(&self, operand: &Expr) -> Option<(Span, String)> {
        let name = operand.to_token_stream();
        let text = match (self.is_view(operand), self.rank_of_item(operand)) {
            (true, _) => format!("`{name}` is a view; write its element: `{name}[i]`"),
            (_, Some(1)) => format!("`{name}` is the item; write its position: `{name}.index()`"),
            (_, Some(_)) => format!("`{name}` is the item; write its position: `{name}.pos()`"),
            _ => return None,
        };
        Some((operand.span(), text))
    }

    /// A literal beside a value of a type parameter.
    fn no_literals(&self, binary: &ExprBinary, op: &str) -> Option<(Span, String)> {
        if ["<<", ">>", "&&", "||"].contains(&op) {
            return None;
        }
        let right = self.no_literal(&binary.left, &binary.right);
        right.or_else(|| self.no_literal(&binary.right, &binary.left))
    }

    fn assign_operation(&mut self, binary: &ExprBinary, op: &str) -> Both {
        self.acts += 1;
        if let Some((at, text)) = self.no_literals(binary, op) {
            return self.refuse(at, text);
        }
        let (b, tree_b) = self.expr(&binary.right);
        let b = match op {
            "<<" | ">>" => b,
            _ => self.fits(self.kind(&binary.left), &binary.right, b),
        };
        self.refuse_reference(&binary.left);
        let (target, tree_a) = self.target(&binary.left, Access::Change);
        let by = Ident::new("__by", Span::mixed_site().located_at(binary.op.span()));
        let (new, entry) = self.operation(binary, op, target.read(), by.to_token_stream());
        let tree = Tree::of("assign_op").word(self.word_of(op)).part(&tree_a).part(&tree_b);
        let tree = tree.entry(entry).at(place_of(binary.span()));
        let (before, write) = (target.before(true), target.write(new, 0, binary.span()));
        (quote!({ let #by = #b; #before #write; }), tree)
    }

    /// Integers fail beyond their type here: not where an item has to give a value.
    fn checks(&self) -> bool {
        self.checked && !matches!(self.zone, Zone::Gives | Zone::Element)
    }

    /// An operator in the tree: integers fail beyond their type where the kernel is `checked`.
    fn word_of(&self, op: &str) -> String {
        let check = if self.checks() && checked_of(op).is_some() { "?" } else { "" };
        format!("{op}{check}")
    }

    /// An operator between two values, and its entry.
    fn operation(
        &mut self,
        binary: &ExprBinary,
        op: &str,
        a: TokenStream,
        b: TokenStream,
    ) -> (TokenStream, Option<u16>) {
        let span = binary.op.span();
        let Some((name, by_slot)) = function_of(op) else {
            let token: TokenStream = op.parse().unwrap_or_default();
            let token = respanned(token, span);
            return (quote!(((#a) #token (#b))), None);
        };
        let (function, by_slot) = match checked_of(op).filter(|_| self.checks()) {
            Some(checked) => (checked, BySlot::Told),
            None => (name, by_slot),
        };
        let function = Ident::new(function, span);
        let function = quote_spanned!(span => ::folio::ir::device::ops::#function);
        match by_slot {
            BySlot::No => (quote_spanned!(binary.span() => #function(#a, #b)), None),
            BySlot::Told => {
                let (slot, entry) = self.operator(span, name);
                (quote_spanned!(binary.span() => #function::<__M, _, _>(&#slot, #a, #b)), entry)
            }
            BySlot::Computed(name_there) => {
                let (slot, entry) = self.operator(span, name);
                let computed = Ident::new(name_there, slot.span());
                (quote_spanned!(slot.span() => #slot.#computed::<__M>(#a, #b)), entry)
            }
        }
    }
}

fn respanned(tokens: TokenStream, span: Span) -> TokenStream {
    tokens
        .into_iter()
        .map(|mut token| {
            token.set_span(span);
            token
        })
        .collect()
}

pub(crate) fn is_assignment(op: &BinOp) -> bool {
    matches!(
        op,
        BinOp::AddAssign(_)
            | BinOp::SubAssign(_)
            | BinOp::MulAssign(_)
            | BinOp::DivAssign(_)
            | BinOp::RemAssign(_)
            | BinOp::ShlAssign(_)
            | BinOp::ShrAssign(_)
            | BinOp::BitAndAssign(_)
            | BinOp::BitOrAssign(_)
            | BinOp::BitXorAssign(_)
    )
}

/// Comparisons, and the functions of `device::ops` for them.
const COMPARISONS: &[(&str, &str)] =
    &[("==", "eq"), ("!=", "ne"), ("<", "lt"), ("<=", "le"), (">", "gt"), (">=", "ge")];

/// The part of a slot in an operator.
enum BySlot {
    /// Nothing: structs cannot have it.
    No,
    /// The slot tells the types. A function computes, since the operation may fail: its place is
    /// that of a call in the user's tokens.
    Told,
    /// The slot computes as well, by this name, in the macro's tokens: errors of types are then
    /// reported once.
    Computed(&'static str),
}

/// The function that an operator becomes. The others mean in kernels what they mean in Rust.
fn function_of(op: &str) -> Option<(&'static str, BySlot)> {
    match op {
        "+" => Some(("add", BySlot::Computed("plus"))),
        "-" => Some(("sub", BySlot::Computed("minus"))),
        "*" => Some(("mul", BySlot::Computed("times"))),
        "/" => Some(("div", BySlot::Told)),
        "%" => Some(("rem", BySlot::Told)),
        "<<" => Some(("shl", BySlot::No)),
        ">>" => Some(("shr", BySlot::No)),
        _ => None,
    }
}

/// The function that an operator becomes in a function that is `checked`, if it can leave the type.
fn checked_of(op: &str) -> Option<&'static str> {
    match op {
        "+" => Some("checked_plus"),
        "-" => Some("checked_minus"),
        "*" => Some("checked_times"),
        _ => None,
    }
}
