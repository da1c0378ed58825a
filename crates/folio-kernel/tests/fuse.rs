//! Fusion as a pure function: legality and its reasons, properties, what the code becomes.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests may panic")]

mod common;

#[path = "fuse/docs.rs"]
mod docs;
#[path = "fuse/graph.rs"]
mod graph;
#[path = "fuse/passes.rs"]
mod passes;
#[path = "fuse/reasons.rs"]
mod reasons;
#[path = "fuse/scopes.rs"]
mod scopes;
