//! A body as read from its text: syntax without types.

use crate::op::Fold;
use std::rc::Rc;

/// Line and column, from 1.
pub(super) type At = (u32, u32);

/// An expression.
#[derive(Debug)]
pub(super) enum Expr {
    /// `()`
    Unit,
    /// A number: its digits, and its type's entry in the table.
    Number(&'static str, u16),
    /// `true`, `false`
    Bool(bool),
    /// A local variable or parameter, by number.
    Local(u16),
    /// A constant's entry in the table.
    Const(u16),
    /// `+`, `<`, `&&`, ..; the operator's entry in the table, where structs may have it.
    Binary(&'static str, Box<Expr>, Box<Expr>, Option<u16>, At),
    /// `-`, `!`; as above.
    Unary(char, Box<Expr>, Option<u16>),
    /// `as`; the type's entry in the table.
    Cast(Box<Expr>, u16),
    /// From bits of the same width; the type's entry in the table.
    FromBits(Box<Expr>, u16),
    /// `x.f(..)`
    Method(Box<Expr>, &'static str, Vec<Expr>, At),
    /// A device function's entry in the table.
    Call(u16, Vec<Expr>),
    /// A closure that a function is given: its parameters, and what it gives.
    Closure(Rc<(Pattern, Expr)>),
    /// The call of a parameter that is a closure.
    Apply(u16, Vec<Expr>),
    /// `x.f`
    Field(Box<Expr>, &'static str),
    /// `x[i]`
    Index(Box<Expr>, Box<Expr>, At),
    /// `(a, b)`
    Tuple(Vec<Expr>),
    /// A struct literal: the type's entry in the table, and the fields as written.
    Struct(u16, Vec<(&'static str, Expr)>),
    /// `[a, b]`
    Array(Vec<Expr>),
    /// `[a; N]`: N's entry in the table.
    Repeat(Box<Expr>, u16),
    /// `if`, with all `else if` after it: tests and what is done where they hold, the last one
    /// first; and what is done where none does.
    If(Vec<(Expr, Block)>, Option<Block>),
    /// `{ }`
    Block(Block),
    /// `'a: { }`: its number, which `break` names.
    Scope(u16, Block),
    /// `x = e`
    Assign(Box<Expr>, Box<Expr>, At),
    /// `x += e`, by the operator without `=`; its entry as in [`Expr::Binary`].
    AssignOp(&'static str, Box<Expr>, Box<Expr>, Option<u16>, At),
    /// `while`: its number, which `break` and `continue` name; the condition.
    While(u16, Box<Expr>, Block),
    /// `loop`, numbered likewise.
    Loop(u16, Block),
    /// `for` over a range, numbered likewise.
    For(u16, Box<Counted>, Block),
    /// `break` of what has this number, perhaps with a value.
    Break(u16, Option<Box<Expr>>),
    /// `continue` of the loop with this number.
    Continue(u16),
    /// `return`
    Return(Option<Box<Expr>>),
    /// `assert!`
    Assert(Box<Expr>, &'static str, At),
    /// An element that an item claims: its place, the claim that was there, and the own one.
    Claimed(Box<Expr>, Box<Expr>, Box<Expr>, At),
    /// `panic!`
    Panic(&'static str, At),
    /// `g.each(|i| ..)`: the item's local, and what items do.
    Each(u16, Box<Expr>),
    /// `g.once(|| ..)`
    Once(Box<Expr>),
    /// `g.reduce::<O>(|i| ..)`, or a scan: the operation's entry in the table, the item's local,
    /// and what items give.
    Collect(Fold, u16, u16, Box<Expr>),
    /// `i.subgroup_reduce::<O>(x)`, or a scan: the operation's entry in the table, and the value.
    SubgroupFold(Fold, u16, Box<Expr>),
    /// `g.private(x)`
    Private(Box<Expr>),
    /// `tile.fill(|k| ..)`: the array, the slot's local, and its value.
    Fill(Box<Expr>, u16, Box<Expr>),
    /// A tile of equal elements, or of zeros: its type's entry in the table.
    Tile(u16, Option<Box<Expr>>),
    /// A tile of a view: where it begins, its type's entry, and whether its rows are columns there.
    TileOf(Box<Expr>, Box<Expr>, u16, bool),
    /// The rows of a tile, or its columns, each as one value: the operation's entry.
    TileFold(Box<Expr>, u16, bool),
}

/// The numbers of a `for`: `start..end`, `start..=end`, then `.rev()`, then `.step_by(step)`.
#[derive(Debug)]
pub(super) struct Counted {
    /// The pattern that each turn binds.
    pub(super) pattern: Pattern,
    /// The first value.
    pub(super) start: Expr,
    /// Where it ends.
    pub(super) end: Expr,
    /// `..=`
    pub(super) inclusive: bool,
    /// `.rev()`
    pub(super) reversed: bool,
    /// `.step_by(..)`
    pub(super) step: Option<Expr>,
}

/// The pattern of a `let`.
#[derive(Debug)]
pub(super) enum Pattern {
    /// A local, and whether it is `mut`.
    Local(u16, bool),
    /// `_`
    Wild,
    /// A tuple.
    Tuple(Vec<Pattern>),
}

/// A statement.
#[derive(Debug)]
pub(super) enum Statement {
    /// `let`
    Let(Pattern, Expr),
    /// `e;`
    Expr(Expr),
}

/// A block.
#[derive(Debug)]
pub(super) struct Block {
    /// Statements.
    pub(super) statements: Vec<Statement>,
    /// Its value.
    pub(super) tail: Option<Box<Expr>>,
}
