//! The nouns that travel between rooms: accesses, pieces of host memory. No logic, no lock.

pub(crate) mod access;
pub(crate) mod staging;
