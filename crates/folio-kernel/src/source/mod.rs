//! What `#[kernel]` and `#[device_fn]` say of a function's body, and how it becomes IR.
//!
//! The macro writes the body twice from one walk over its syntax: as Rust, which rustc types and
//! compiles, and as a static [`Expr`] without types. Where the types cannot be known from the syntax
//! (literals without suffix, called functions, struct literals, constants, `as`), the Rust form has
//! zero-sized *slots*, whose types rustc infers; [`Function::table`] tells them. All else follows
//! bottom-up. As rustc has accepted the Rust form, an ill-typed body cannot get here.

mod lower;

pub use lower::{LowerError, lower};

use crate::ir::{Access, Owner};
use crate::op::{Combine, Fold};
use crate::types::{Type, Types};

/// Line and column, from 1.
pub type At = (u32, u32);

/// An expression.
#[derive(Debug)]
pub enum Expr {
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
    Binary(&'static str, &'static Expr, &'static Expr, Option<u16>, At),
    /// `-`, `!`; as above.
    Unary(char, &'static Expr, Option<u16>),
    /// `as`; the type's entry in the table.
    Cast(&'static Expr, u16),
    /// From bits of the same width; the type's entry in the table.
    FromBits(&'static Expr, u16),
    /// `x.f(..)`
    Method(&'static Expr, &'static str, &'static [Expr], At),
    /// A device function's entry in the table.
    Call(u16, &'static [Expr]),
    /// `x.f`
    Field(&'static Expr, &'static str),
    /// `x[i]`
    Index(&'static Expr, &'static Expr, At),
    /// `(a, b)`
    Tuple(&'static [Expr]),
    /// A struct literal: the type's entry in the table, and the fields as written.
    Struct(u16, &'static [(&'static str, Expr)]),
    /// `[a, b]`
    Array(&'static [Expr]),
    /// `[a; N]`: N's entry in the table.
    Repeat(&'static Expr, u16),
    /// `if`
    If(&'static Expr, &'static Block, Option<&'static Block>),
    /// `{ }`
    Block(&'static Block),
    /// `'a: { }`: its number, which `break` names.
    Scope(u16, &'static Block),
    /// `x = e`
    Assign(&'static Expr, &'static Expr, At),
    /// `x += e`, by the operator without `=`; its entry as in [`Expr::Binary`].
    AssignOp(&'static str, &'static Expr, &'static Expr, Option<u16>, At),
    /// `while`: its number, which `break` and `continue` name; the condition.
    While(u16, &'static Expr, &'static Block),
    /// `loop`, numbered likewise.
    Loop(u16, &'static Block),
    /// `for` over a range, numbered likewise.
    For(u16, &'static Counted, &'static Block),
    /// `break` of what has this number, perhaps with a value.
    Break(u16, Option<&'static Expr>),
    /// `continue` of the loop with this number.
    Continue(u16),
    /// `return`
    Return(Option<&'static Expr>),
    /// `assert!`
    Assert(&'static Expr, &'static str, At),
    /// `panic!`
    Panic(&'static str, At),
    /// `g.each(|i| ..)`: the item's local, and what items do.
    Each(u16, &'static Expr),
    /// `g.once(|| ..)`
    Once(&'static Expr),
    /// `g.reduce::<O>(|i| ..)`, or a scan: the operation's entry in the table, the item's local, and
    /// what items give.
    Collect(Fold, u16, u16, &'static Expr),
    /// `i.subgroup_reduce::<O>(x)`, or a scan: the operation's entry in the table, and the value.
    SubgroupFold(Fold, u16, &'static Expr),
    /// `g.private(x)`
    Private(&'static Expr),
    /// `tile.fill(|k| ..)`: the array, the slot's local, and its value.
    Fill(&'static Expr, u16, &'static Expr),
}

/// What a `for` counts: `start..end`, `start..=end`, then `.rev()`, then `.step_by(step)`.
#[derive(Debug)]
pub struct Counted {
    /// What is bound in each turn.
    pub pattern: Pattern,
    /// The first value.
    pub start: &'static Expr,
    /// Where it ends.
    pub end: &'static Expr,
    /// `..=`
    pub inclusive: bool,
    /// `.rev()`
    pub reversed: bool,
    /// `.step_by(..)`
    pub step: Option<&'static Expr>,
}

/// What a `let` binds.
#[derive(Debug)]
pub enum Pattern {
    /// A local, and whether it is `mut`.
    Local(u16, bool),
    /// `_`
    Wild,
    /// A tuple.
    Tuple(&'static [Pattern]),
}

/// A statement.
#[derive(Debug)]
pub enum Statement {
    /// `let`
    Let(Pattern, Expr),
    /// `e;`
    Expr(Expr),
}

/// A block.
#[derive(Debug)]
pub struct Block {
    /// Statements.
    pub statements: &'static [Statement],
    /// What it gives.
    pub tail: Option<&'static Expr>,
}

/// The type of a view parameter.
#[derive(Clone, Copy, Debug)]
pub struct ViewType {
    /// Type of an element.
    pub element: fn(&mut Types) -> Type,
    /// Number of dimensions.
    pub rank: u8,
    /// What may be done.
    pub access: Access,
    /// By whom.
    pub owner: Owner,
}

/// An entry of the table.
#[derive(Clone, Debug)]
pub enum Entry {
    /// Nothing: `()`; or an operator of numbers.
    Unit,
    /// A type.
    Type(fn(&mut Types) -> Type),
    /// A constant: its type, and the bits of its numbers in order.
    Const(fn(&mut Types) -> Type, Vec<u64>),
    /// A called device function.
    Function(&'static Function),
    /// The item, of this rank.
    Item(u8),
    /// The work-group, of this rank.
    Group(u8),
    /// Local memory: type of an element, and how many.
    Local(fn(&mut Types) -> Type, u32),
    /// A reduction: type of the value.
    Reduce(fn(&mut Types) -> Type, Combine),
    /// What values are combined with.
    Combine(Combine),
    /// A view.
    View(ViewType),
}

/// A kernel or device function.
#[derive(Debug)]
pub struct Function {
    /// Its name.
    pub name: &'static str,
    /// Its file.
    pub file: &'static str,
    /// Items of a group in each dimension, if the kernel says.
    pub group: &'static [usize],
    /// Whether it asks for contraction.
    pub contract: bool,
    /// Names of its parameters.
    pub params: &'static [&'static str],
    /// Its body.
    pub body: &'static Block,
    /// The types: of the parameters, of the result, and then of what the body's entries ask for.
    pub table: fn() -> Vec<Entry>,
}
