//! The tests of the API. Tests that count the memory of all threads, or set variables, are binaries
//! of their own beside this folder.

mod arrow;
mod attacks;
mod batches;
mod borders;
mod buffers;
mod counts;
mod devices;
mod dlpack;
mod drops;
mod errors;
mod groups;
mod hidden_names;
mod host;
mod instructions;
mod kernels;
mod managed;
mod memory;
mod programs;
mod queues;
mod reused;
mod safety;
mod scene;
mod strips;
mod subscribers;
mod untold;
