//! The suites over all backends, and what each backend promises beyond them. One binary: most of
//! what a test is made of is the same for all.
//!
//! Apart from it are what sets a variable of the environment, what listens to all events of the
//! process, what counts on the name of its crate, and what `profiles` compiles once more.

mod allocations;
mod backends;
mod bundle;
mod emitted;
mod ends;
mod engine_drivers;
mod engine_foreign;
mod engine_given_back;
mod engine_held;
mod engine_ir;
mod engine_late;
mod engine_lost;
mod engine_lost_graphs;
mod engine_sim;
mod engine_spoilt;
mod engine_staged;
mod engine_traced;
mod frames;
mod hal_cpu;
mod hal_drivers;
mod hal_sim;
mod interop;
mod large;
mod left_out;
mod one_case;
mod opaque;
mod opencl_limited;
mod opencl_platforms;
mod opencl_programs;
mod profiles;
mod raw_memory;
mod several;
mod several_lost;
mod spread;
mod support;
