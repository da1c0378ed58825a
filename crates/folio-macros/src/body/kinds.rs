//! Types of numbers, as far as the source tells them. Nothing is refused by them alone, since a
//! type of the user's may have the name of another: where two differ, the Rust form asks rustc once
//! more, in words of Folio's.

use super::{FLOATS_AND_INTEGERS, Walk};
use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use std::collections::HashMap;
use syn::spanned::Spanned;
use syn::{
    BinOp, Expr, ExprArray, ExprBinary, ExprMethodCall, ExprTuple, GenericArgument, Lit, Pat,
    PatSlice, PatTuple, PathArguments, Type, UnOp,
};

/// A number's type, as far as the source tells.
#[derive(Clone)]
pub(super) enum Kind {
    /// Its name, and the type in Rust.
    Named(String, TokenStream),
    /// A literal says that it is a float, or an integer, or one that is less than 0.
    Float,
    Integer,
    Negative,
}

impl Kind {
    fn of(ty: &Type) -> Option<Kind> {
        let Type::Path(path) = ty else { return None };
        let name = path.path.get_ident()?.to_string();
        let known = FLOATS_AND_INTEGERS.contains(&name.as_str());
        known.then(|| Kind::Named(name, ty.to_token_stream()))
    }

    /// `usize`, whatever has its name here.
    pub(super) fn position() -> Kind {
        Kind::Named("usize".to_owned(), quote!(::folio::ir::device::rust::primitive::usize))
    }

    pub(super) fn is_float(&self) -> bool {
        match self {
            Kind::Named(name, _) => name.contains('f'),
            Kind::Float => true,
            Kind::Integer | Kind::Negative => false,
        }
    }

    pub(super) fn is_integer(&self) -> bool {
        !self.is_float()
    }

    /// Where this is wanted, rustc suggests nothing of use for the other. To cast an integer to a
    /// float it does.
    fn differs(&self, other: &Kind) -> bool {
        match (self, other) {
            (Kind::Named(a, _), Kind::Named(b, _)) => {
                a != b && (other.is_float() || !self.is_float())
            }
            (Kind::Named(..), Kind::Float) => !self.is_float(),
            _ => false,
        }
    }
}

/// Functions of a number that give one of its type.
const SAME: &[&str] = &[
    "sqrt", "exp", "ln", "sin", "cos", "tan", "floor", "ceil", "trunc", "round", "abs", "min",
    "max", "clamp", "mul_add", "pow", "powf", "powi",
];

/// Questions that a number for each dimension answers.
const PARTS: &[&str] = &["pos", "local_pos", "shape", "size", "count"];

/// Questions that a number answers.
const POSITIONS: &[&str] = &["index", "local_index", "len", "subgroup_size"];

/// The kinds of local variables, and of the elements of parameters.
#[derive(Default)]
pub struct Kinds {
    locals: HashMap<u16, Kind>,
    elements: HashMap<u16, Kind>,
    /// The names of the function's type parameters, and the variables and elements of these types.
    pub parameters: Vec<String>,
    generic_locals: HashMap<u16, String>,
    generic_elements: HashMap<u16, String>,
}

impl Kinds {
    /// A parameter of this type.
    pub fn parameter(&mut self, at: u16, ty: &Type) {
        if let Some(kind) = Kind::of(ty) {
            self.locals.insert(at, kind);
            return;
        }
        self.generic_locals.extend(self.parameter_of(ty).map(|name| (at, name)));
        let Type::Path(path) = ty else { return };
        let Some(last) = path.path.segments.last() else { return };
        let PathArguments::AngleBracketed(list) = &last.arguments else { return };
        if let Some(GenericArgument::Type(element)) = list.args.first() {
            self.elements.extend(Kind::of(element).map(|kind| (at, kind)));
            self.generic_elements.extend(self.parameter_of(element).map(|name| (at, name)));
        }
    }
}

impl Kinds {
    /// The type parameter that this is.
    fn parameter_of(&self, ty: &Type) -> Option<String> {
        let Type::Path(path) = ty else { return None };
        let name = path.path.get_ident()?;
        self.parameters.iter().find(|own| name == *own).cloned()
    }
}

impl Walk {
    /// The type parameter that this is a value of, as far as the source tells.
    fn generic(&self, expr: &Expr) -> Option<&String> {
        match expr {
            Expr::Paren(inner) => self.generic(&inner.expr),
            Expr::Group(inner) => self.generic(&inner.expr),
            Expr::Path(_) => self.kinds.generic_locals.get(&self.number(expr)?),
            Expr::Index(index) => self.kinds.generic_elements.get(&self.number(&index.expr)?),
            Expr::Unary(unary) => self.generic(&unary.expr),
            Expr::Binary(binary) => {
                self.generic(&binary.left).or_else(|| self.generic(&binary.right))
            }
            Expr::MethodCall(call) => {
                let same = SAME.iter().any(|name| call.method == name);
                same.then(|| self.generic(&call.receiver)).flatten()
            }
            _ => None,
        }
    }

    /// Why a literal cannot be beside this: its type is a parameter, and literals have none.
    pub(super) fn no_literal(&self, beside: &Expr, literal: &Expr) -> Option<(Span, String)> {
        let (Expr::Lit(number), name) = (literal, self.generic(beside)?) else { return None };
        let value = match &number.lit {
            Lit::Int(number) if number.suffix().is_empty() => {
                format!("{}.0", number.base10_digits())
            }
            Lit::Float(number) if number.suffix().is_empty() => number.base10_digits().to_owned(),
            _ => return None,
        };
        let text = format!(
            "this is to be a `{name}`, which has no literals; write `{name}::lit({value})`"
        );
        Some((literal.span(), text))
    }

    /// The elements of this parameter are floats.
    pub(super) fn is_of_floats(&self, view: &Expr) -> bool {
        let kind = self.number(view).and_then(|at| self.kinds.elements.get(&at));
        kind.is_some_and(Kind::is_float)
    }

    /// The variable is a number.
    pub(super) fn is_number(&self, local: u16) -> bool {
        self.kinds.locals.contains_key(&local)
    }

    /// The kind of this expression, as far as the source tells.
    pub(super) fn kind(&self, expr: &Expr) -> Option<Kind> {
        match expr {
            Expr::Paren(inner) => self.kind(&inner.expr),
            Expr::Group(inner) => self.kind(&inner.expr),
            Expr::Lit(lit) => match &lit.lit {
                Lit::Int(number) if number.suffix().is_empty() => Some(Kind::Integer),
                Lit::Float(number) if number.suffix().is_empty() => Some(Kind::Float),
                _ => None,
            },
            Expr::Unary(unary) => match (unary.op, self.kind(&unary.expr)?) {
                (UnOp::Neg(_), Kind::Integer) => Some(Kind::Negative),
                (_, kind) => Some(kind),
            },
            Expr::Path(_) => self.kinds.locals.get(&self.number(expr)?).cloned(),
            Expr::Cast(cast) => Kind::of(&cast.ty),
            Expr::Index(index) => match &*index.expr {
                Expr::MethodCall(call) if call.method == "shape" => Some(Kind::position()),
                view => self.kinds.elements.get(&self.number(view)?).cloned(),
            },
            Expr::MethodCall(call) => self.kind_of_call(call),
            Expr::Binary(binary) => match binary.op {
                BinOp::Add(_) | BinOp::Sub(_) | BinOp::Mul(_) | BinOp::Div(_) | BinOp::Rem(_) => {
                    let (a, b) = (self.operand(&binary.left), self.operand(&binary.right));
                    match (a, b) {
                        // A product may be of a struct on the right.
                        (Some(Kind::Named(..)), None) if matches!(binary.op, BinOp::Mul(_)) => None,
                        (a @ Some(Kind::Named(..)), _) => a,
                        (_, b @ Some(Kind::Named(..))) => b,
                        (Some(Kind::Float), Some(Kind::Float)) => Some(Kind::Float),
                        (Some(Kind::Integer), Some(Kind::Integer)) => Some(Kind::Integer),
                        _ => None,
                    }
                }
                _ => None,
            },
            _ => None,
        }
    }

    fn kind_of_call(&self, call: &ExprMethodCall) -> Option<Kind> {
        let is = |names: &[&str]| names.iter().any(|name| call.method == name);
        if is(POSITIONS) && call.args.is_empty() {
            return Some(Kind::position());
        }
        is(SAME).then(|| self.kind(&call.receiver)).flatten()
    }

    /// An item is its position, where something is added to it.
    fn operand(&self, expr: &Expr) -> Option<Kind> {
        match self.rank_of_item(expr) {
            Some(_) => Some(Kind::position()),
            None => self.kind(expr),
        }
    }

    /// `let pattern = value;`, whose names are bound already.
    pub(super) fn learn_kind(&mut self, pattern: &Pat, value: &Expr) {
        let kind = match (pattern, value) {
            (
                Pat::Tuple(PatTuple { elems: names, .. }),
                Expr::Tuple(ExprTuple { elems: values, .. }),
            )
            | (
                Pat::Slice(PatSlice { elems: names, .. }),
                Expr::Array(ExprArray { elems: values, .. }),
            ) => {
                for (name, value) in names.iter().zip(values) {
                    self.learn_kind(name, value);
                }
                return;
            }
            (
                Pat::Tuple(PatTuple { elems, .. }) | Pat::Slice(PatSlice { elems, .. }),
                Expr::MethodCall(call),
            ) if PARTS.iter().any(|name| call.method == name) => {
                for name in elems {
                    self.name_is(name, Kind::position());
                }
                return;
            }
            (Pat::Type(_), _) => Walk::said(pattern),
            _ => self.kind(value),
        };
        if let Some(kind) = kind {
            self.name_is(pattern, kind);
        }
    }

    /// `for pattern in start..end`
    pub(super) fn learn_turns(&mut self, pattern: &Pat, (start, end): (&Expr, &Expr)) {
        let kind = match (self.kind(start), self.kind(end)) {
            (Some(Kind::Named(..)), _) | (_, None) => self.kind(start),
            (Some(Kind::Negative), Some(Kind::Integer)) => Some(Kind::Negative),
            (_, end) => end,
        };
        if let Some(kind) = kind {
            self.name_is(pattern, kind);
        }
    }

    fn name_is(&mut self, pattern: &Pat, kind: Kind) {
        match pattern {
            Pat::Type(typed) => self.name_is(&typed.pat, kind),
            Pat::Paren(inner) => self.name_is(&inner.pat, kind),
            Pat::Ident(name) => {
                if let Some(at) = self.scopes.find(&name.ident) {
                    self.kinds.locals.insert(at, kind);
                }
            }
            _ => {}
        }
    }

    /// Two operands, in Rust; where their types differ, rustc says so at the one that is to be
    /// cast.
    pub(super) fn alike(
        &self,
        (left, a): (&Expr, TokenStream),
        (right, b): (&Expr, TokenStream),
    ) -> (TokenStream, TokenStream) {
        let (Some(of_a), Some(of_b)) = (self.operand(left), self.operand(right)) else {
            return (a, b);
        };
        match (&of_a, &of_b) {
            // An integer beside a float is to be one, too; on the right rustc says so.
            (Kind::Named(..), Kind::Named(..)) if !of_a.is_float() && of_b.is_float() => {
                (asked(&of_b, left, a), b)
            }
            (Kind::Float, Kind::Named(..)) if of_b.differs(&of_a) => (asked(&of_b, left, a), b),
            _ if of_a.differs(&of_b) => (a, asked(&of_a, right, b)),
            _ => (a, b),
        }
    }

    /// A value for what has this kind, in Rust.
    pub(super) fn fits(
        &self,
        wanted: Option<Kind>,
        value: &Expr,
        native: TokenStream,
    ) -> TokenStream {
        match (wanted, self.kind(value)) {
            (Some(wanted), Some(given)) if wanted.differs(&given) => asked(&wanted, value, native),
            _ => native,
        }
    }

    /// An index of one dimension, in Rust.
    pub(super) fn fits_index(&self, index: &Expr, native: TokenStream) -> TokenStream {
        match self.kind(index) {
            Some(Kind::Named(name, _)) if ["usize", "u32", "i32"].contains(&name.as_str()) => {
                native
            }
            Some(_) => self.fits(Some(Kind::position()), index, native),
            None => native,
        }
    }

    /// A condition, in Rust; where the source tells a number, rustc says that it decides nothing.
    pub(super) fn decides(&self, cond: &Expr, native: TokenStream) -> TokenStream {
        if self.kind(cond).is_none() {
            return native;
        }
        let at = cond.span();
        let function = quote_spanned!(at => ::folio::ir::device::ops::holds);
        super::place::called(&function, native, super::place::end(cond))
    }

    /// The kind that a pattern says.
    pub(super) fn said(pattern: &Pat) -> Option<Kind> {
        match pattern {
            Pat::Type(typed) => Kind::of(&typed.ty),
            _ => None,
        }
    }

    /// Refuses a number that may be less than 0 beside a number that may not. Rustc would say that
    /// `usize` has no `-`, where the range of the loop is.
    pub(super) fn below_zero(&self, binary: &ExprBinary, op: &str) -> Option<(Span, String)> {
        let (left, right) = (&*binary.left, &*binary.right);
        let (wide, other, text) = match (self.kind(left)?, self.kind(right)?) {
            (Kind::Named(wide, _), Kind::Negative) => (wide, right, true),
            (Kind::Negative, Kind::Named(wide, _)) => (wide, left, false),
            _ => return None,
        };
        let signed = format!("i{}", wide.strip_prefix('u')?);
        let [a, b] =
            [left, right].map(|side| side.to_token_stream().to_string().replace(" . ", "."));
        let [a, b] =
            [a, b].map(|side| side.replace(" (", "(").replace("( ", "(").replace(" )", ")"));
        let sum = match text {
            true => format!("{a} as {signed} {op} {b}"),
            false => format!("{a} {op} {b} as {signed}"),
        };
        let instead = match op {
            "+" | "-" | "*" | "/" | "%" => format!("({sum}) as {wide}"),
            "==" | "!=" | "<" | "<=" | ">" | ">=" => format!("({a}) as {signed} {op} {b}"),
            _ => return None,
        };
        let by = other.to_token_stream().to_string().replace("- ", "-");
        let text = format!("`{by}` may be less than 0, and a `{wide}` is not; write `{instead}`");
        Some((other.span(), text))
    }

    /// Why this is no distance from an item.
    pub(super) fn refuse_distance(&mut self, item: &Expr, distance: &Expr) -> bool {
        let text = match self.kind(distance) {
            Some(Kind::Negative) => {
                let (item, by) = (item.to_token_stream(), distance.to_token_stream());
                match distance {
                    Expr::Path(_) => format!(
                        "positions are `usize`, and `{by}` may be less than 0; count from 0 and subtract: `{item} + {by} - 1`"
                    ),
                    _ => format!("positions are `usize`; subtract: `{item} - 1`"),
                }
            }
            _ => return false,
        };
        self.refuse(distance.span(), text);
        true
    }
}

/// A value that is to be of this kind.
fn asked(kind: &Kind, value: &Expr, native: TokenStream) -> TokenStream {
    let Kind::Named(_, ty) = kind else { return native };
    let at = value.span();
    let function = quote_spanned!(at => ::folio::ir::device::ops::is::<#ty, _>);
    super::place::called(&function, native, super::place::end(value))
}
