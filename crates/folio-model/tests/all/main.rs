//! Random programs and random kernels against their oracles, and what the oracles can be relied on
//! for. One binary: most of what a test is made of is the same for all.
//!
//! Apart from it is `leaks`, which counts what its process has allocated. `source/program.rs` and
//! `vectors/kernels.rs` are programs that tests compile.

mod built;
mod drivers;
mod emit;
mod faults;
mod fused_wide;
mod fusion;
mod fusion_costs;
mod graphs;
mod graphs_chosen;
mod graphs_doubts;
mod graphs_faults;
mod graphs_fused;
mod graphs_mishaps;
mod graphs_planted;
mod graphs_steps;
mod graphs_world;
mod kernels;
mod machines;
mod managed;
mod math;
mod names;
mod order;
mod planted;
mod programs;
mod ranks;
mod seeds;
mod soft;
mod source;
mod spirv;
mod spread;
mod vectors;
