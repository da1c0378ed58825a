//! The kernel IR of Folio.
//!
//! A [`Kernel`] is a value: made by a [`Builder`] or read from text ([`parse()`](parse::parse)),
//! checked by [`verify()`](verify::verify), printed with `{}`. The meaning of kernels is written in
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
//! that its returns leave. Mutable data is in variables and memory, reached by a [`Place`].
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
//! `#[kernel]` of `folio-macros` writes a function's body twice: as Rust over `folio-device`, which
//! rustc types and compiles, and as a tree of [`source`], which [`source::lower`] makes IR of. That
//! crate knows this one, and not the other way round.
//!
//! # Rooms
//!
//! Each folder is a room, whose first comment says what it is for. A room imports those in its row,
//! and no others; the test `rooms_import_what_they_may` reads that table.
//!
//! | room | has | imports |
//! | --- | --- | --- |
//! | `ir` | kernels, operations, types, the text form, typing rules, the verifier | |
//! | `analysis` | what a kernel does: ranges, accesses, checks, outputs | `ir` |
//! | `pass` | kernels of kernels: renaming, contraction, fast forms, limits, tiles, soft arithmetic, fusion | `ir`, `analysis` |
//! | `front` | what makes kernels: the builder, the parser, the macro's trees | `ir`, `analysis` |
//! | `code` | a kernel with all that launches ask of it | `ir`, `analysis`, `pass`, `front` |
//! | `emit` | C and SPIR-V | `ir`, `pass`, `code` |
//!
//! The names of modules are the crate's own, whichever room they are in: `folio_kernel::access`.

mod analysis;
pub mod code;
pub mod emit;
mod front;
mod ir;
mod pass;

pub use analysis::{access, checks, divide, flow, interval, launch, linear, outputs};
pub use front::{build::Builder, parse, source};
#[doc(hidden)]
pub use ir::words;
pub use ir::{
    Access, Body, Collision, Corner, Hop, Kernel, Label, Let, Owner, Param, ParamId, ParamKind,
    Place, Product, ProductForm, Root, Shape, Site, SiteId, Stmt, Value, VarDecl, VarId,
    fault::{Fault, VerifyError},
    hash::ContentHash,
    infer,
    op::{Atomic, Binary, Combine, Compare, Fold, Op, Query, Subgroup, Unary},
    print,
    types::{Composite, Field, Scalar, Struct, Type, Types},
    verify,
    violation::{Violation, ViolationKind},
    walk,
};
pub use pass::{contract, fast, fuse, limit, rename, soft, tile};

// So that rooms name each other's modules as programs do.
use analysis::computed;
use front::build;
use ir::{fault, hash, names, op, types, violation};
