//! Guards: what keeps items at a border from reading beyond it, `if r > 0 && r + 1 < rows`, `(r +
//! 1).min(rows - 1)`, or gives some items more to do, `if r == source && c == 3`. Each is made of
//! comparisons of a position with what is the same for all items, by `&&`, `||` and `!`; or it is a
//! limit that a position is held to. All items of the interior are on one side of it, which is
//! decided for a block by the [`Ends`](super::ends) of what is compared: there the condition is a
//! constant, and the limit leaves the position as it is.
//!
//! Which side that is, is a guess by how guards are written. A wrong one costs speed alone: nothing
//! is decided then. Of what the guess leaves out in the interior no guard is looked at.

use super::Walk;
use super::choice::is_constant;
use super::ends::{length, names};
use super::strip::divides;
use proc_macro2::{TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::{
    BinOp, Block, Expr, ExprBinary, ExprCast, ExprIf, ExprMethodCall, Pat, RangeLimits, Stmt,
    Token, Type, UnOp,
};

/// Ends of two, of which one is of a position; and whether that is the first.
struct Sides {
    first: TokenStream,
    second: TokenStream,
    position_first: bool,
}

/// The value of a condition for most items.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Guess {
    Is(bool),
    /// Many items seem to be on each side.
    Open,
}

impl Guess {
    fn not(self) -> Guess {
        match self {
            Guess::Is(holds) => Guess::Is(!holds),
            Guess::Open => Guess::Open,
        }
    }

    /// Of `a && b`. Who tests for one border tests for the others.
    fn and(self, b: Guess) -> Guess {
        match (self, b) {
            (Guess::Open, other) | (other, Guess::Open) => other,
            (Guess::Is(a), Guess::Is(b)) => Guess::Is(a && b),
        }
    }
}

impl Walk {
    /// A condition: what it is in the interior, if that is looked at from now on.
    pub(super) fn guard(&mut self, condition: &Expr) -> Option<bool> {
        let there = self.guessed(condition).filter(|_| !self.unreached)?;
        let open = self.open(condition, there)?;
        self.look(open);
        Some(there)
    }

    /// The value of a condition of guards and other conditions in the interior, as far as guards
    /// tell.
    pub(super) fn decided(&self, condition: &Expr) -> Option<bool> {
        if let Some(there) = self.guessed(condition) {
            return Some(there);
        }
        match condition {
            Expr::Paren(inner) => self.decided(&inner.expr),
            Expr::Group(inner) => self.decided(&inner.expr),
            Expr::Unary(unary) if matches!(unary.op, UnOp::Not(_)) => {
                self.decided(&unary.expr).map(|holds| !holds)
            }
            Expr::Binary(binary) => {
                let ends = match binary.op {
                    BinOp::And(_) => false,
                    BinOp::Or(_) => true,
                    _ => return None,
                };
                let both = [&binary.left, &binary.right].map(|of| self.decided(of));
                match both {
                    [Some(a), Some(b)] if a == b => Some(a),
                    both => both.contains(&Some(ends)).then_some(ends),
                }
            }
            Expr::Path(_) => self.known.decided.get(&self.local_of(condition)?).copied(),
            _ => None,
        }
    }

    /// `let name = condition;`, whose names are bound already.
    pub(super) fn learn_decided(&mut self, pattern: &Pat, condition: &Expr) {
        if let Pat::Ident(name) = pattern
            && name.mutability.is_none()
            && let (Some(at), Some(holds)) =
                (self.scopes.find(&name.ident), self.decided(condition))
        {
            self.known.decided.insert(at, holds);
        }
    }

    /// A pattern of what is matched, before the last one: it fits no item of the interior, which is
    /// looked at from now on.
    pub(super) fn fits_nowhere(&mut self, pattern: &Pat, matched: &Expr) -> bool {
        let Some(Some(test)) = test_of(pattern, matched) else { return false };
        self.guessed(&test) == Some(false) && self.guard(&test).is_some()
    }

    /// The guessed value of a guard in the interior.
    fn guessed(&self, condition: &Expr) -> Option<bool> {
        match self.guess(condition)? {
            Guess::Is(holds) => Some(holds),
            Guess::Open => self.likely,
        }
    }

    fn guess(&self, condition: &Expr) -> Option<Guess> {
        match condition {
            Expr::Paren(inner) => self.guess(&inner.expr),
            Expr::Group(inner) => self.guess(&inner.expr),
            Expr::Unary(unary) if matches!(unary.op, UnOp::Not(_)) => {
                Some(self.guess(&unary.expr)?.not())
            }
            Expr::Binary(binary) => match binary.op {
                BinOp::And(_) => Some(self.guess(&binary.left)?.and(self.guess(&binary.right)?)),
                BinOp::Or(_) => {
                    let [a, b] = [&binary.left, &binary.right].map(|of| self.guess(of));
                    Some(a?.not().and(b?.not()).not())
                }
                _ => self.guess_comparison(binary),
            },
            _ => None,
        }
    }

    fn guess_comparison(&self, binary: &ExprBinary) -> Option<Guess> {
        let turned = matches!(binary.op, BinOp::Gt(_) | BinOp::Ge(_));
        let holds = match binary.op {
            BinOp::Eq(_) => Some(false),
            BinOp::Ne(_) => Some(true),
            BinOp::Lt(_) | BinOp::Le(_) | BinOp::Gt(_) | BinOp::Ge(_) => None,
            _ => return None,
        };
        let Sides { first, second, position_first } = self.sides(&binary.left, &binary.right)?;
        let position_low = position_first != turned;
        let other = if position_first { &second } else { &first };
        // Numbers are near to the first item, extents to the last one. A part of an extent is
        // anywhere, as a parameter is.
        let ordered = match other {
            other if names(other, &["over"]) => Guess::Open,
            other if names(other, &["shape", "len"]) => Guess::Is(position_low),
            other if names(other, &["of"]) => Guess::Open,
            _ => Guess::Is(!position_low),
        };
        Some(holds.map_or(ordered, Guess::Is))
    }

    /// Counts what is open of a guard, until it holds for all items or for none.
    fn open(&self, condition: &Expr, holds: bool) -> Option<TokenStream> {
        match condition {
            Expr::Paren(inner) => self.open(&inner.expr, holds),
            Expr::Group(inner) => self.open(&inner.expr, holds),
            Expr::Unary(unary) => self.open(&unary.expr, !holds),
            Expr::Binary(binary) => match binary.op {
                BinOp::And(_) | BinOp::Or(_) => {
                    let a = self.open(&binary.left, holds)?;
                    let b = self.open(&binary.right, holds)?;
                    Some(match matches!(binary.op, BinOp::And(_)) == holds {
                        true => quote!((#a + #b)),
                        false => quote!(__gaps.any([#a, #b])),
                    })
                }
                _ => self.open_comparison(binary, holds),
            },
            _ => None,
        }
    }

    fn open_comparison(&self, binary: &ExprBinary, holds: bool) -> Option<TokenStream> {
        let Sides { first, second, .. } = self.sides(&binary.left, &binary.right)?;
        let (equal, strict) = (quote!(unless_equal), quote!(unless_below));
        let (apart, weak) = (quote!(unless_apart), quote!(unless_up_to));
        let (low, unless, high) = match (&binary.op, holds) {
            (BinOp::Eq(_), true) | (BinOp::Ne(_), false) => (first, equal, second),
            (BinOp::Eq(_), false) | (BinOp::Ne(_), true) => (first, apart, second),
            (BinOp::Lt(_), true) | (BinOp::Ge(_), false) => (first, strict, second),
            (BinOp::Le(_), true) | (BinOp::Gt(_), false) => (first, weak, second),
            (BinOp::Gt(_), true) | (BinOp::Le(_), false) => (second, strict, first),
            (BinOp::Ge(_), true) | (BinOp::Lt(_), false) => (second, weak, first),
            _ => return None,
        };
        Some(quote!(#low.#unless(#high, __gaps)))
    }

    /// A method that holds a position to a limit: the function that it becomes, if that is looked
    /// at from now on.
    pub(super) fn limited(&mut self, call: &ExprMethodCall) -> Option<TokenStream> {
        if self.unreached {
            return None;
        }
        let (of, name) = (&*call.receiver, &call.method);
        let function = quote!(::folio::ir::device::interior::#name);
        let mut arguments = call.args.iter();
        match (name.to_string().as_str(), arguments.next(), arguments.next()) {
            (limit @ ("min" | "max"), Some(by), None) => {
                let Sides { first, second, position_first } = self.sides(of, by)?;
                self.look(match (limit == "min") == position_first {
                    true => quote!(#first.unless_up_to(#second, __gaps)),
                    false => quote!(#second.unless_up_to(#first, __gaps)),
                });
                Some(quote!(#function::<__M, #position_first, _>))
            }
            ("clamp", Some(least), Some(most)) => {
                let (above, below) = (self.sides(of, least)?, self.sides(of, most)?);
                let known = above.position_first && below.position_first;
                let (position, least, most) = (above.first, above.second, below.second);
                known.then(|| {
                    self.look(quote!(#least.unless_up_to(#position, __gaps)));
                    self.look(quote!(#position.unless_up_to(#most, __gaps)));
                    quote!(#function::<__M, _>)
                })
            }
            (within @ ("saturating_add" | "saturating_sub"), Some(by), None) => {
                let Sides { first, second, .. } = self.sides(of, by)?;
                self.look(match within {
                    "saturating_add" => quote!(#first.unless_sum(#second, __gaps)),
                    _ => quote!(#first.unless_difference(#second, __gaps)),
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
        let position = (!self.unreached && !self.known.is_grouped() && narrow(&cast.ty))
            .then(|| self.ends(&cast.expr));
        let position = position.flatten().filter(is_position);
        position.map(|position| self.look(quote!(#position.unless_small(__gaps)))).is_some()
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

    /// Walks the condition of a branch, of which there may be more to do where it holds, or where
    /// it does not.
    pub(super) fn condition<T>(&mut self, branch: &ExprIf, walk: impl FnOnce(&mut Walk) -> T) -> T {
        let then = length_of(&branch.then_branch);
        let likely = match &branch.else_branch {
            Some((_, otherwise)) => {
                let otherwise = length_of(otherwise);
                let [more, less] = [then >= 2 * otherwise, otherwise >= 2 * then];
                (more != less).then_some(more)
            }
            None if leaves(&branch.then_branch) => Some(false),
            // Most of the block around, or an addition for some items or for many.
            None => (2 * then >= self.block_length).then_some(true),
        };
        let before = std::mem::replace(&mut self.likely, likely);
        let walked = walk(self);
        self.likely = before;
        walked
    }

    /// Walks what is reached in the interior, or not. Tells whether what follows it is.
    pub(super) fn reached<T>(&mut self, is: bool, walk: impl FnOnce(&mut Walk) -> T) -> (T, bool) {
        let before = self.unreached;
        self.unreached |= !is;
        let walked = walk(self);
        let after = std::mem::replace(&mut self.unreached, before);
        (walked, !after)
    }
}

/// `__at[0]`
fn is_position(ends: &TokenStream) -> bool {
    let mut tokens = ends.clone().into_iter();
    let at = matches!(tokens.next(), Some(TokenTree::Ident(name)) if name == "__at");
    at && matches!(tokens.next(), Some(TokenTree::Group(_))) && tokens.next().is_none()
}

/// Whether the block ends the item, or the turn of a loop.
fn leaves(block: &Block) -> bool {
    let leave = |expr: &Expr| matches!(expr, Expr::Return(_) | Expr::Continue(_) | Expr::Break(_));
    matches!(block.stmts.last(), Some(Stmt::Expr(expr, _)) if leave(expr))
}

fn length_of(of: &impl ToTokens) -> usize {
    length(&of.to_token_stream())
}

/// The condition under which a pattern fits what is matched, none if it always does; unknown for
/// others than numbers. The condition is asked, and not written.
fn test_of(pattern: &Pat, matched: &Expr) -> Option<Option<Expr>> {
    let test = |op, by: &Expr| joined(matched.clone(), op, by.clone());
    match (pattern, matched) {
        (_, Expr::Paren(inner)) => test_of(pattern, &inner.expr),
        (Pat::Paren(inner), _) => test_of(&inner.pat, matched),
        (Pat::Lit(number), _) => {
            Some(Some(test(BinOp::Eq(<Token![==]>::default()), &Expr::Lit(number.clone()))))
        }
        (Pat::Path(path), _) => {
            Some(Some(test(BinOp::Eq(<Token![==]>::default()), &Expr::Path(path.clone()))))
        }
        (Pat::Range(range), _) => {
            let below = match range.limits {
                RangeLimits::Closed(_) => BinOp::Le(<Token![<=]>::default()),
                RangeLimits::HalfOpen(_) => BinOp::Lt(<Token![<]>::default()),
            };
            let from = range.start.as_ref();
            let from = from.map(|start| test(BinOp::Ge(<Token![>=]>::default()), start));
            Some(both(from, range.end.as_ref().map(|end| test(below, end))))
        }
        (Pat::Tuple(parts), Expr::Tuple(values)) if parts.elems.len() == values.elems.len() => {
            let parts = parts.elems.iter().zip(&values.elems);
            parts
                .map(|(part, value)| test_of(part, value))
                .try_fold(None, |all, test| Some(both(all, test?)))
        }
        (Pat::Or(or), _) => {
            let tests: Option<Vec<_>> =
                or.cases.iter().map(|case| test_of(case, matched)).collect();
            // A case that always fits makes the others needless.
            let tests: Option<Vec<Expr>> = tests?.into_iter().collect();
            let either = |a, b| joined(a, BinOp::Or(<Token![||]>::default()), b);
            Some(tests.and_then(|tests| tests.into_iter().reduce(either)))
        }
        (pattern, _) => fits_all(pattern).then_some(None),
    }
}

fn both(a: Option<Expr>, b: Option<Expr>) -> Option<Expr> {
    match (a, b) {
        (Some(a), Some(b)) => Some(joined(a, BinOp::And(<Token![&&]>::default()), b)),
        (a, b) => a.or(b),
    }
}

fn joined(a: Expr, op: BinOp, b: Expr) -> Expr {
    Expr::Binary(ExprBinary { attrs: vec![], left: Box::new(a), op, right: Box::new(b) })
}

/// A pattern that fits everything: `_`, or a name.
pub(super) fn fits_all(pattern: &Pat) -> bool {
    match pattern {
        Pat::Wild(_) => true,
        Pat::Ident(name) => name.subpat.is_none() && !is_constant(&name.ident),
        _ => false,
    }
}
