//! Commands on their way to a device: one command, the fast path of one, several as one
//! operation, and conditions.

pub(super) mod branch;
pub(crate) mod command;
pub(crate) mod conditional;
mod lane_choice;
pub(crate) mod list;
mod payload;
pub(crate) mod run;
pub(crate) mod straight;
