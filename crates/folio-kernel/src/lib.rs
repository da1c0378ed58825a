//! The kernel IR of Folio.
//!
//! A [`Kernel`] is a value: made by a [`Builder`] or read from text ([`parse()`](parse::parse)),
//! checked by [`verify()`](verify::verify), printed with `{}`. What it means is written in
//! `docs/semantics.md`, and nowhere else. Nothing here does I/O, starts threads, or depends on a
//! device.
//!
//! # The IR in one look
//!
//! ```text
//! kernel "saxpy" items 1 tile 1
//! param p0 = "a" scalar f32
//! param p1 = "x" view f32 1 in item
//! param p2 = "y" view f32 1 inout item
//! body {
//!   %0 f32 = arg p0
//!   %1 u64 = query position 0 0
//!   %2 f32 = load p1[%1]
//!   %3 f32 = mul %0, %2
//!   %4 f32 = load p2[%1]
//!   %5 f32 = add %3, %4
//!   store p2[%1] = %5
//! }
//! ```
//!
//! Values are assigned once, and every operation is a statement: the order of loads and stores is
//! on the page. Loops, branches, phases are trees; there are no jumps but `break`, `continue`,
//! `return`. There are no calls: device functions are inlined when the IR is made, each in a block
//! that its returns leave. What changes is in variables and memory, reached by a [`Place`].
//!
//! # What to rely on
//!
//! A verified kernel has operands of the right types, values only where they are visible, labels
//! that enclose, phases only in uniform code, no effects on memory there, and no access that a
//! parameter does not allow. [`Builder::finish`] shows besides that each output is written by its
//! owner only, and each `Out` as a whole ([`outputs`]). Analyses, passes and emitters take verified
//! kernels; with others they may give wrong answers.
//!
//! # What is known of a kernel
//!
//! | question | answer |
//! | --- | --- |
//! | which elements does a launch touch, and need any accesses checks? | [`access::of_launch`] |
//! | what is a parameter's halo? which box does a launch read? | [`access::Summary`], computed once for a kernel |
//! | own item, own group, anywhere? | [`access::Scope`], in the answer for a launch |
//! | which run-time checks are left in a launch? | [`checks`] |
//! | how does each single access index? | [`flow::analyse`], in the order of statements |
//! | is it the same kernel? | [`Kernel::content_hash`] |
//! | which kernels can be one, and what is that kernel? | [`fuse::plan()`] |
//! | what is it in C? | [`emit`](mod@emit) |
//!
//! # From Rust
//!
//! `#[kernel]` of `folio-macros` writes a function's body twice: as Rust over [`device`], which
//! rustc types and compiles, and as a tree of [`source`], which [`source::lower`] makes IR of.

mod build;
mod fault;
mod hash;
mod ir;
mod names;
mod op;
mod types;
mod violation;

pub mod access;
pub mod checks;
mod computed;
pub mod contract;
pub mod device;
pub mod emit;
pub mod flow;
pub mod fuse;
pub mod infer;
pub mod interval;
pub mod launch;
pub mod linear;
#[macro_use]
pub mod math;
pub mod outputs;
pub mod parse;
pub mod print;
pub mod rename;
pub mod soft;
pub mod source;
pub mod tile;
pub mod verify;

pub use build::Builder;
pub use fault::{Fault, VerifyError};
pub use hash::ContentHash;
pub use ir::{
    Access, Body, Kernel, Label, Let, Owner, Param, ParamId, ParamKind, Place, Root, Shape, Site,
    SiteId, Step, Stmt, Value, VarDecl, VarId, walk,
};
pub use op::{Atomic, Binary, Combine, Compare, Fold, Op, Query, Subgroup, Unary};
pub use types::{Composite, Field, Scalar, Struct, Type, Types};
pub use violation::{Violation, ViolationKind};
