//! A function's body, as `#[kernel]` and `#[device_fn]` describe it, and how it becomes IR.
//!
//! The macro writes the body twice from one walk over its syntax: as Rust, which rustc types and
//! compiles, and as a [`Text`] without types, which is read when IR is made of it. Where the types
//! cannot be known from the syntax (literals without suffix, called functions, struct literals,
//! constants, `as`), the Rust form has zero-sized *slots*, whose types rustc infers;
//! [`Function::table`] tells them. All else follows bottom-up. As rustc has accepted the Rust form,
//! an ill-typed body cannot get here.

mod lower;
mod read;
mod tree;

pub use lower::{LowerError, lower};

use crate::ir::{Access, Owner};
use crate::op::Combine;
use crate::types::{Type, Types};

/// A body as the macro has written it. An address of a text stands for one function, with all its
/// instances.
#[derive(Debug)]
pub struct Text(pub &'static str);

/// The type of a view parameter.
#[derive(Clone, Copy, Debug)]
pub struct ViewType {
    /// Type of an element.
    pub element: fn(&mut Types) -> Type,
    /// Number of dimensions.
    pub rank: u8,
    /// The allowed accesses.
    pub access: Access,
    /// By whom.
    pub owner: Owner,
    /// Items own every other cell of the last dimension, those of this colour, 0 or 1.
    pub colour: Option<u8>,
}

/// What a kernel has done of which two items write one element.
pub const WRITTEN_TWICE: &str = "two items write one element";

/// What a kernel has done that reads a cell of another item.
pub const OTHERS_CELL: &str = "an item reads its own cell, and cells of the other colour";

/// An entry of the table.
#[derive(Clone, Debug)]
pub enum Entry {
    /// Nothing: `()`; or an operator of numbers.
    Unit,
    /// A type.
    Type(fn(&mut Types) -> Type),
    /// A parameter of this type that is a place of the caller's: `&mut T`.
    Place(fn(&mut Types) -> Type),
    /// A parameter that is a closure.
    Closure,
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
    /// The operation that combines values.
    Combine(Combine),
    /// A tile: type of an element, rows and columns.
    Tile(fn(&mut Types) -> Type, u32, u32),
    /// A view.
    View(ViewType),
}

/// What a kernel asks of its floats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Floats {
    /// The results that semantics 5.1 to 5.8 define.
    Exact,
    /// Contraction (semantics 5.2).
    Contracted,
    /// Fast forms (semantics 5.9), and contraction.
    Fast,
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
    /// Threads of a block that it would have in each dimension, if it says.
    pub block: &'static [usize],
    /// What it asks of floats.
    pub floats: Floats,
    /// Whether launches in which a check is left are refused.
    pub deny_checks: bool,
    /// Lines and columns of the indices that hosts look at for blocks of items, and do not test one
    /// by one.
    pub looked_at: &'static [(u32, u32)],
    /// Line and column of what keeps a CPU from computing the loops of several items together, if
    /// it does not.
    pub item_by_item: Option<(u32, u32)>,
    /// Names of its parameters.
    pub params: &'static [&'static str],
    /// Texts that its own body prints, by their numbers.
    pub printed: &'static [(u32, &'static str)],
    /// Its body.
    pub body: &'static Text,
    /// The types: of the parameters, of the result, and then of what the body's entries ask for.
    pub table: fn() -> Vec<Entry>,
}

impl Function {
    /// Texts that it and the functions that it calls print, by their numbers.
    pub fn all_printed(&'static self) -> Vec<(u32, &'static str)> {
        let (mut all, mut seen, mut left) = (vec![], vec![], vec![self]);
        while let Some(function) = left.pop() {
            // Instances of one generic function have one text.
            if seen.iter().any(|known: &&Text| std::ptr::eq(*known, function.body)) {
                continue;
            }
            seen.push(function.body);
            all.extend(function.printed);
            left.extend((function.table)().into_iter().filter_map(|entry| match entry {
                Entry::Function(called) => Some(called),
                _ => None,
            }));
        }
        all
    }
}
