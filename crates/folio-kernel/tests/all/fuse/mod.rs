//! Fusion as a pure function: legality and its reasons, properties, what the code becomes.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests may panic")]

mod costs;
mod docs;
mod graph;
mod inlined;
mod passes;
mod reasons;
mod scopes;
mod time;
