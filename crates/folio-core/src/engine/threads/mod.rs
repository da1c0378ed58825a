//! The threads that work beside those that call: couriers, the reaper, waiters, host tasks.

pub(crate) mod courier;
pub(crate) mod host;
pub(crate) mod reaper;
pub(crate) mod wait;
