//! Guards: what keeps items at a border from reading beyond it, `if r > 0 && r + 1 < rows`,
//! `(r + 1).min(rows - 1)`. Each is a comparison of a position with what is the same for all items,
//! or a limit that a position is held to. All items of the interior are on one side of it, which is
//! decided for a block by the [`Ends`](super::ends) of both: there the comparison is a constant,
//! and the limit leaves the position as it is.
//!
//! Which side that is, is a guess by how guards are written. A wrong one costs speed alone: nothing
//! is decided then.

use super::Walk;
use super::ends::{length, names};
use super::strip::divides;
use proc_macro2::{TokenStream, TokenTree};
use quote::quote;
use syn::{BinOp, Block, Expr, ExprBinary, ExprCast, ExprIf, ExprMethodCall, Stmt, Type};

/// Ends of two, of which one is of a position; and whether that is the first.
struct Sides {
    first: TokenStream,
    second: TokenStream,
    position_first: bool,
}

impl Walk {
    /// A comparison: what it is in the interior, if that is looked at from now on.
    pub(super) fn guard(&mut self, binary: &ExprBinary) -> Option<bool> {
        let (a, b) = (&*binary.left, &*binary.right);
        let equal = matches!(binary.op, BinOp::Eq(_) | BinOp::Ne(_));
        let ordered =
            matches!(binary.op, BinOp::Lt(_) | BinOp::Le(_) | BinOp::Gt(_) | BinOp::Ge(_));
        if !(equal || ordered) {
            return None;
        }
        let Sides { first, second, position_first } = self.sides(a, b)?;
        if equal {
            self.look(quote!(#first.unless_apart(#second)));
            return Some(matches!(binary.op, BinOp::Ne(_)));
        }
        // As `low < high` or `low <= high`.
        let turned = matches!(binary.op, BinOp::Gt(_) | BinOp::Ge(_));
        let (low, high) = if turned { (&second, &first) } else { (&first, &second) };
        let position_low = position_first != turned;
        let other = if position_first { &second } else { &first };
        // Numbers are near to the first item, extents to the last one.
        let holds = if names(other, &["shape", "len"]) {
            position_low
        } else if !names(other, &["of"]) {
            !position_low
        } else {
            !self.unlikely
        };
        let strict = matches!(binary.op, BinOp::Lt(_) | BinOp::Gt(_));
        self.look(match (holds, strict) {
            (true, true) => quote!(#low.unless_below(#high)),
            (true, false) => quote!(#low.unless_up_to(#high)),
            (false, true) => quote!(#high.unless_up_to(#low)),
            (false, false) => quote!(#high.unless_below(#low)),
        });
        Some(holds)
    }

    /// A method that holds a position to a limit: the function that it becomes, if that is looked
    /// at from now on.
    pub(super) fn limited(&mut self, call: &ExprMethodCall) -> Option<TokenStream> {
        let (of, name) = (&*call.receiver, &call.method);
        let function = quote!(::folio::ir::device::interior::#name);
        let mut arguments = call.args.iter();
        match (name.to_string().as_str(), arguments.next(), arguments.next()) {
            (limit @ ("min" | "max"), Some(by), None) => {
                let Sides { first, second, position_first } = self.sides(of, by)?;
                self.look(match (limit == "min") == position_first {
                    true => quote!(#first.unless_up_to(#second)),
                    false => quote!(#second.unless_up_to(#first)),
                });
                Some(quote!(#function::<__M, #position_first, _>))
            }
            ("clamp", Some(least), Some(most)) => {
                let (above, below) = (self.sides(of, least)?, self.sides(of, most)?);
                let known = above.position_first && below.position_first;
                let (position, least, most) = (above.first, above.second, below.second);
                known.then(|| {
                    self.look(quote!(#least.unless_up_to(#position)));
                    self.look(quote!(#position.unless_up_to(#most)));
                    quote!(#function::<__M, _>)
                })
            }
            (within @ ("saturating_add" | "saturating_sub"), Some(by), None) => {
                let Sides { first, second, .. } = self.sides(of, by)?;
                self.look(match within {
                    "saturating_add" => quote!(#first.unless_sum(#second)),
                    _ => quote!(#first.unless_difference(#second)),
                });
                Some(quote!(#function::<__M, _>))
            }
            _ => None,
        }
    }

    /// A position that is made a narrower number: whether that is looked at from now on. The
    /// `unsafe` of [`cast`](folio_device::interior::cast) rests on it.
    pub(super) fn narrowed(&mut self, cast: &ExprCast) -> bool {
        let narrow = |ty: &Type| matches!(ty, Type::Path(ty) if ["i32", "u32"].iter().any(|of| ty.path.is_ident(of)));
        // Of nothing else than the position: LLVM is told that it is small.
        let position =
            (!self.known.is_grouped() && narrow(&cast.ty)).then(|| self.ends(&cast.expr));
        let position = position.flatten().filter(is_position);
        position.map(|position| self.look(quote!(#position.unless_small()))).is_some()
    }

    /// The ends of two, one of which is of a position, and the other of what is the same for all
    /// items. Neither does anything, so it makes no difference whether they are computed.
    fn sides(&self, a: &Expr, b: &Expr) -> Option<Sides> {
        // Blocks of groups are not taken apart.
        if self.known.is_grouped() || divides(a) || divides(b) {
            return None;
        }
        let (first, second) = (self.ends(a)?, self.ends(b)?);
        let [position_first, position_second] =
            [&first, &second].map(|ends| names(ends, &["__at"]));
        let periodic = [&first, &second].iter().any(|ends| names(ends, &["modulo"]));
        let sides = Sides { first, second, position_first };
        (position_first != position_second && !periodic).then_some(sides)
    }

    /// Counts this guard, if it is undecided.
    fn look(&mut self, guard: TokenStream) {
        if self.known.is_new(&guard) {
            self.known.undecided.push(guard);
        }
    }

    /// Walks the condition of a branch.
    pub(super) fn condition<T>(&mut self, branch: &ExprIf, walk: impl FnOnce(&mut Walk) -> T) -> T {
        let unlikely = match &branch.else_branch {
            None => leaves(&branch.then_branch),
            Some((_, otherwise)) => {
                let then = &branch.then_branch;
                length(&quote!(#then)) < length(&quote!(#otherwise))
            }
        };
        let before = std::mem::replace(&mut self.unlikely, unlikely);
        let walked = walk(self);
        self.unlikely = before;
        walked
    }
}

/// `__at[0]`
fn is_position(ends: &TokenStream) -> bool {
    let mut tokens = ends.clone().into_iter();
    let at = matches!(tokens.next(), Some(TokenTree::Ident(name)) if name == "__at");
    at && matches!(tokens.next(), Some(TokenTree::Group(_))) && tokens.next().is_none()
}

/// It ends the item, or the turn of a loop.
fn leaves(block: &Block) -> bool {
    let leave = |expr: &Expr| matches!(expr, Expr::Return(_) | Expr::Continue(_) | Expr::Break(_));
    matches!(block.stmts.last(), Some(Stmt::Expr(expr, _)) if leave(expr))
}
