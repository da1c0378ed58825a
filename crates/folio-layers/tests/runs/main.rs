//! Runs of graphs and blocks as text: a graph, or blocks one after the other, go in, and what the
//! lanes are given is compared.
//!
//! ```text
//! 1 a.up: copy x h->a
//! 2 a0: replay [a: run x; b: run y(x) after a] after 1
//! ```
//!
//! Each operation has a number, its lane and the numbers that it waits for. Devices are `a`, `b`
//! and so on, the host is `h`. A kernel is named by its writes, and in brackets its reads. The
//! nodes of a replay have letters. Nothing ends while a test looks, so every wait is seen.
//!
//! `rule` has what follows from the rule that a run is one command.
//!
//! The tests are above the engine and below the layers: they know the public API and the HAL, and
//! nothing in between.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests may panic")]

mod book;
#[macro_use]
mod scene;

mod blocks;
mod cuts;
mod devices;
mod exchanges;
mod fused;
mod graphs;
mod rule;
mod traced;
