//! The IR itself: a kernel is a tree of statements over values that are assigned once.
//!
//! Every operation is a statement of its own ([`Let`]), so the order of evaluation is the order of
//! statements, and no pass can move a load past a store by accident. Values that a program changes
//! over time are in variables ([`VarDecl`]) and memory, both reached through a [`Place`].

use super::product::Product;
use crate::names::names;
use crate::op::{Combine, Fold, Op};
use crate::types::{Type, Types};

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident),*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub u32);

        impl $name {
            /// As an index.
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    )*};
}
ids! {
    /// A value: the result of one [`Let`], or the index of a loop. Assigned once, visible from
    /// there to the end of the block that it is in.
    Value,
    /// A variable.
    VarId,
    /// A parameter.
    ParamId,
    /// The name of a loop or block, for `break` and `continue`.
    Label,
    /// A place in the source.
    SiteId
}

names! {
    /// The accesses that a view allows.
    pub enum Access { In = "in", Out = "out", InOut = "inout" }
}

names! {
    /// Which elements of an `Out` or `InOut` view an item may touch (semantics 7.2). A chunk is an
    /// item's element of array type.
    pub enum Owner {
        Item = "item", Row = "row", Column = "column", Group = "group", Atomic = "atomic",
        /// Freedom from races was promised by unsafe code.
        Anyone = "anyone",
    }
}

impl Owner {
    /// Of a row or column: the dimension that the item's position is the index of.
    pub fn line(self) -> Option<usize> {
        match self {
            Owner::Row => Some(0),
            Owner::Column => Some(1),
            Owner::Item | Owner::Group | Owner::Atomic | Owner::Anyone => None,
        }
    }

    /// Each element is one item's alone.
    pub fn is_of_items(self) -> bool {
        self == Owner::Item || self.line().is_some()
    }
}

/// The kinds of parameters.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ParamKind {
    /// A single value.
    Scalar(Type),
    /// Elements in 1 to 3 dimensions.
    View {
        /// Type of an element.
        element: Type,
        /// Number of dimensions.
        rank: u8,
        /// Read, written, or both.
        access: Access,
        /// Who touches what; of no meaning for `In`.
        owner: Owner,
    },
    /// A single element, which the launch's contributions replace.
    Reduce {
        /// Type of the value.
        element: Type,
        /// How contributions are combined.
        combine: Combine,
    },
    /// An array of each group.
    Local {
        /// Type of an element.
        element: Type,
        /// Number of elements.
        len: u32,
    },
}

/// A parameter.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Param {
    /// Its name in the source.
    pub name: String,
    /// Its kind.
    pub kind: ParamKind,
}

/// A variable. The variable is zero when its item, or for a uniform one its group, begins.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct VarDecl {
    /// Its name in the source.
    pub name: String,
    /// Its type.
    pub ty: Type,
    /// In a group kernel: one for the group, written by uniform code, and not one for each item.
    pub uniform: bool,
}

/// A place in the source, for failures.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Site {
    /// File.
    pub file: String,
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1.
    pub column: u32,
    /// The message of an `assert!` or `panic!`.
    pub message: Option<String>,
}

/// Where a place begins.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Root {
    /// A variable.
    Var(VarId),
    /// An element of a view or of local memory, by as many `u64` as it has dimensions.
    Element(ParamId, Vec<Value>),
}

/// A hop into a struct or an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Hop {
    /// A part that is known.
    Part(u32),
    /// An element of an array, by a `u64`.
    At(Value),
}

/// Something that can be loaded and stored.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    /// Where it begins.
    pub root: Root,
    /// From there to the part that is meant.
    pub path: Vec<Hop>,
}

impl Place {
    /// A whole variable.
    pub fn var(var: VarId) -> Place {
        Place { root: Root::Var(var), path: vec![] }
    }

    /// A whole element.
    pub fn element(param: ParamId, at: impl Into<Vec<Value>>) -> Place {
        Place { root: Root::Element(param, at.into()), path: vec![] }
    }

    /// An index leads there, which may be out of bounds.
    pub fn is_indexed(&self) -> bool {
        let at = |step: &Hop| matches!(step, Hop::At(_));
        matches!(self.root, Root::Element(..)) || self.path.iter().any(at)
    }

    /// A part of this.
    #[must_use]
    pub fn part(mut self, at: u32) -> Place {
        self.path.push(Hop::Part(at));
        self
    }

    /// An element of this array.
    #[must_use]
    pub fn at(mut self, at: Value) -> Place {
        self.path.push(Hop::At(at));
        self
    }

    /// The values that it uses.
    pub fn operands(&self) -> Vec<Value> {
        let mut all = match &self.root {
            Root::Var(_) => vec![],
            Root::Element(_, at) => at.clone(),
        };
        all.extend(self.path.iter().filter_map(|step| match step {
            Hop::Part(_) => None,
            Hop::At(value) => Some(*value),
        }));
        all
    }

    /// Applies `change` to each value that it uses.
    pub fn map(&mut self, change: &mut dyn FnMut(&mut Value)) {
        if let Root::Element(_, at) = &mut self.root {
            at.iter_mut().for_each(&mut *change);
        }
        for step in &mut self.path {
            if let Hop::At(value) = step {
                change(value);
            }
        }
    }
}

/// The definition of a value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Let {
    /// The value.
    pub value: Value,
    /// How it is computed.
    pub op: Op,
    /// Where that is written; for divisions and loads.
    pub site: Option<SiteId>,
}

/// A block of statements.
pub type Body = Vec<Stmt>;

/// A statement.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Stmt {
    /// Defines a value.
    Let(Let),
    /// Puts a value to a place.
    Store {
        /// The place.
        place: Place,
        /// The value.
        value: Value,
        /// Where that is written.
        site: Option<SiteId>,
    },
    /// The first or the second body.
    If {
        /// A `bool`.
        cond: Value,
        /// If it is true.
        then: Body,
        /// If it is not.
        otherwise: Body,
    },
    /// The body with `index` from `start` up to and without `end`.
    For {
        /// The name for `break` and `continue`.
        label: Label,
        /// Visible in the body.
        index: Value,
        /// An integer.
        start: Value,
        /// Of the same type.
        end: Value,
        /// The repeated statements.
        body: Body,
    },
    /// The body again and again.
    Loop {
        /// The name for `break` and `continue`.
        label: Label,
        /// The repeated statements.
        body: Body,
    },
    /// The body once; `break` leaves it.
    Block {
        /// The name for `break`.
        label: Label,
        /// The statements.
        body: Body,
        /// What they compute, where devices may do it otherwise.
        product: Option<Box<Product>>,
    },
    /// Leaves the loop or block.
    Break(Label),
    /// Goes to the loop's next turn.
    Continue(Label),
    /// Leaves the phase, or the kernel outside of phases.
    Return,
    /// In a group kernel: the body for each item of the group, between barriers.
    Phase {
        /// For the first item only.
        once: bool,
        /// The statements of an item.
        body: Body,
    },
    /// In a group kernel: a phase whose items each give a value, which are combined.
    Collect {
        /// Reduction or scan.
        fold: Fold,
        /// With what.
        combine: Combine,
        /// The statements of an item before it gives its value.
        body: Body,
        /// The value of each item; visible at the end of the body.
        value: Value,
        /// Where the results go: for a reduction a uniform variable, for scans one of the items.
        into: VarId,
    },
    /// Adds to a launch-wide reduction.
    Contribute {
        /// A parameter of kind [`ParamKind::Reduce`].
        param: ParamId,
        /// The contribution.
        value: Value,
    },
    /// Fails the command if the value is false, and then leaves as `Return` does.
    Assert {
        /// A `bool`.
        cond: Value,
        /// Where, and the message.
        site: SiteId,
        /// The two items that write one element, where that is what fails.
        collision: Option<Collision>,
    },
}

/// Two items that write one element. All values are `u64`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Collision {
    /// The view.
    pub param: ParamId,
    /// The element, by dimension.
    pub index: Vec<Value>,
    /// The positions of the items.
    pub items: [Value; 2],
}

impl Collision {
    /// The values that it uses.
    pub fn operands(&self) -> impl Iterator<Item = Value> + '_ {
        self.index.iter().chain(&self.items).copied()
    }

    /// Applies `change` to each value that it uses.
    pub fn map(&mut self, change: &mut dyn FnMut(&mut Value)) {
        self.index.iter_mut().chain(&mut self.items).for_each(change);
    }
}

impl Stmt {
    /// The values that it uses itself, without those of the bodies in it.
    pub fn operands(&self) -> Vec<Value> {
        match self {
            Stmt::Let(define) => define.op.operands(),
            Stmt::Store { place, value, .. } => {
                let mut all = place.operands();
                all.push(*value);
                all
            }
            Stmt::If { cond, .. } => vec![*cond],
            Stmt::Assert { cond, collision, .. } => {
                [*cond].into_iter().chain(collision.iter().flat_map(Collision::operands)).collect()
            }
            Stmt::For { start, end, .. } => vec![*start, *end],
            Stmt::Collect { value, .. } | Stmt::Contribute { value, .. } => vec![*value],
            Stmt::Block { product, .. } => {
                product.iter().flat_map(|product| product.operands()).collect()
            }
            Stmt::Loop { .. }
            | Stmt::Break(_)
            | Stmt::Continue(_)
            | Stmt::Return
            | Stmt::Phase { .. } => vec![],
        }
    }

    /// The bodies in it, in order, to change.
    pub fn bodies_mut(&mut self) -> Vec<&mut Body> {
        match self {
            Stmt::If { then, otherwise, .. } => vec![then, otherwise],
            Stmt::For { body, .. }
            | Stmt::Loop { body, .. }
            | Stmt::Block { body, .. }
            | Stmt::Phase { body, .. }
            | Stmt::Collect { body, .. } => vec![body],
            Stmt::Let(_)
            | Stmt::Store { .. }
            | Stmt::Break(_)
            | Stmt::Continue(_)
            | Stmt::Return
            | Stmt::Contribute { .. }
            | Stmt::Assert { .. } => vec![],
        }
    }

    /// The bodies in it, in order.
    pub fn bodies(&self) -> Vec<&Body> {
        match self {
            Stmt::If { then, otherwise, .. } => vec![then, otherwise],
            Stmt::For { body, .. }
            | Stmt::Loop { body, .. }
            | Stmt::Block { body, .. }
            | Stmt::Phase { body, .. }
            | Stmt::Collect { body, .. } => vec![body],
            Stmt::Let(_)
            | Stmt::Store { .. }
            | Stmt::Break(_)
            | Stmt::Continue(_)
            | Stmt::Return
            | Stmt::Contribute { .. }
            | Stmt::Assert { .. } => vec![],
        }
    }
}

/// Calls `see` for each statement of a body and of the bodies in it, outer ones first.
pub fn walk<'b>(body: &'b [Stmt], see: &mut dyn FnMut(&'b Stmt)) {
    for stmt in body {
        see(stmt);
        for inner in stmt.bodies() {
            walk(inner, see);
        }
    }
}

/// The launch's dimensions, groups and tiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    /// Dimensions of the launch, 1 to 3.
    pub rank: u8,
    /// A group kernel: the body is uniform code.
    pub groups: bool,
    /// Items of a group in every launch, or 0 where the launch says: compilers of devices give the
    /// items of small groups more registers.
    pub group: u32,
    /// Threads of a block that the kernel would have, of a kernel of items: the slowest dimension
    /// first, and ones before its own. Zeros where it says nothing.
    pub block: [u32; 3],
    /// Items that one run of the body computes; 1 but after [`crate::tile`].
    pub tile: u8,
}

/// A kernel.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Kernel {
    /// Its name.
    pub name: String,
    /// The launch's dimensions, groups and tiles.
    pub shape: Shape,
    /// Structs and arrays.
    pub types: Types,
    /// Parameters, in the order of the call.
    pub params: Vec<Param>,
    /// Variables.
    pub vars: Vec<VarDecl>,
    /// Places in the source.
    pub sites: Vec<Site>,
    /// The type of each value.
    pub values: Vec<Type>,
    /// How many labels there are.
    pub labels: u32,
    /// The statements.
    pub body: Body,
}

impl Kernel {
    /// The type of a value, if it exists.
    pub fn type_of(&self, value: Value) -> Option<Type> {
        self.values.get(value.index()).copied()
    }

    /// Type of element and rank of a view or local array.
    pub fn elements(&self, param: ParamId) -> Option<(Type, u8)> {
        match &self.params.get(param.index())?.kind {
            ParamKind::View { element, rank, .. } => Some((*element, *rank)),
            ParamKind::Local { element, .. } => Some((*element, 1)),
            ParamKind::Scalar(_) | ParamKind::Reduce { .. } => None,
        }
    }
}
