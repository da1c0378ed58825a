//! Commands on their way to a device: one command, the fast path of one, several as one
//! operation, and conditions.

pub(crate) mod block;
pub(super) mod branch;
pub(crate) mod command;
pub(crate) mod conditional;
pub(crate) mod exchange;
pub(crate) mod part;
pub(crate) mod replay;
pub(crate) mod straight;
pub(crate) mod whole;
