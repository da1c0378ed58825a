//! `#[kernel(deny_checks)]` (KRN-10): an access that needs a test at run time is refused where it
//! stands. A launch refuses accesses that depend on its extents and scalars.

use super::Walk;
use super::group::Special;
use proc_macro2::Span;
use quote::ToTokens;
use syn::spanned::Spanned;
use syn::{BinOp, Expr, ExprBinary, Lit, UnOp};

impl Walk {
    /// An element of this is named by this index.
    pub(super) fn deny_index(&mut self, of: &Expr, index: &Expr) {
        if !self.deny_checks || !self.is_memory(of) || self.may_be_proved(index) {
            return;
        }
        let (of, at) = (of.to_token_stream(), index.to_token_stream());
        let text = format!(
            "deny_checks: `{of}` may have no element `{at}`; an index without a check is made of positions, extents, \
             parameters, constants and variables of `for`, by `+`, `-`, `*`, `min`, `max`, `clamp`"
        );
        self.errors.add(index.span(), text);
    }

    /// A view's memory, or a group's.
    fn is_memory(&self, of: &Expr) -> bool {
        let atomic = matches!(self.special_of(of), Special::Atomic | Special::LocalAtomic);
        let local = self.local_of(of).is_some_and(|at| self.known.locals.contains_key(&at));
        atomic || local || self.is_view(of)
    }

    fn may_be_proved(&self, index: &Expr) -> bool {
        match index {
            Expr::Paren(inner) => self.may_be_proved(&inner.expr),
            Expr::Group(inner) => self.may_be_proved(&inner.expr),
            Expr::Tuple(parts) => parts.elems.iter().all(|part| self.may_be_proved(part)),
            Expr::Array(parts) => parts.elems.iter().all(|part| self.may_be_proved(part)),
            _ => self.rank_of_item(index).is_some() || self.ends(index).is_some(),
        }
    }

    /// A division, or a remainder.
    pub(super) fn deny_division(&mut self, binary: &ExprBinary) {
        let divides = matches!(
            binary.op,
            BinOp::Div(_) | BinOp::Rem(_) | BinOp::DivAssign(_) | BinOp::RemAssign(_)
        );
        let (a, b) = (&binary.left, &binary.right);
        let integers =
            || [a, b].iter().any(|of| self.kind(of).is_some_and(|kind| kind.is_integer()));
        if !self.deny_checks || !divides || self.is_divisor(b) || !integers() {
            return;
        }
        let by = b.to_token_stream();
        let text = format!(
            "deny_checks: `{by}` may be zero; an integer is divided without a check by a literal or a `const`, such as \
             one of the kernel's own: `fn k<const N: usize>(..)`"
        );
        self.errors.add(b.span(), text);
    }

    /// A constant that is not zero, as far as it shows.
    fn is_divisor(&self, by: &Expr) -> bool {
        match by {
            Expr::Paren(inner) => self.is_divisor(&inner.expr),
            Expr::Group(inner) => self.is_divisor(&inner.expr),
            Expr::Cast(cast) => self.is_divisor(&cast.expr),
            Expr::Unary(unary) => matches!(unary.op, UnOp::Neg(_)) && self.is_divisor(&unary.expr),
            Expr::Lit(lit) => match &lit.lit {
                Lit::Int(number) => number.base10_digits().bytes().any(|digit| digit != b'0'),
                _ => true,
            },
            Expr::Path(path) => match path.path.get_ident() {
                Some(name) => self.scopes.find(name).is_none(),
                None => true,
            },
            _ => false,
        }
    }

    /// `assert!`, `panic!`
    pub(super) fn deny_assertion(&mut self, name: &str, at: Span) {
        if self.deny_checks {
            let text = format!(
                "deny_checks: `{name}!` is a check; test it before the launch, or write what is wrong to an output"
            );
            self.errors.add(at, text);
        }
    }
}
