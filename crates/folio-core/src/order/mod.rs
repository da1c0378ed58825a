//! From accesses to dependencies. Pure.

pub(crate) mod hazards;
pub(crate) mod stamp;
