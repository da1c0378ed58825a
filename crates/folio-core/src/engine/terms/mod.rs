//! The nouns that travel between rooms: accesses, budgets, links, notes, pieces of host memory. No
//! lock.

pub(crate) mod access;
pub(crate) mod budget;
pub(crate) mod evict;
pub(crate) mod lane;
pub(crate) mod lender;
pub(crate) mod link;
pub(crate) mod note;
pub(crate) mod staging;
