//! The program that `source.rs` makes of random kernels; without them, a program that does nothing.
#![allow(warnings, unexpected_cfgs, clippy::all, reason = "nobody wrote it")]

#[cfg(random_kernels)]
mod kernels {
    pub use folio::prelude::*;
    pub use folio::{bf16, f16};
    pub use folio_model::source::{Given, Harness};
    include!(env!("FOLIO_RANDOM_KERNELS"));
}

fn main() {
    #[cfg(random_kernels)]
    kernels::main();
}
