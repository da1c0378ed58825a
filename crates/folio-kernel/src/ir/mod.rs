//! The IR itself: what kernels are, how they look as text, what types their values have, and when
//! they are well formed.
//!
//! Imports nothing of the other rooms.

pub(crate) mod fault;
pub(crate) mod hash;
pub mod infer;
mod kernel;
pub(crate) mod names;
pub(crate) mod op;
pub mod print;
mod product;
pub(crate) mod types;
pub mod verify;
pub(crate) mod violation;
pub mod words;

pub use kernel::*;
pub use product::{Corner, Product, ProductForm};
