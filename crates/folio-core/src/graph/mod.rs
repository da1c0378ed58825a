//! From accesses to dependencies. Pure.

pub(crate) mod hazards;
