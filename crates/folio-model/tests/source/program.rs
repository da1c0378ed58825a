//! The program that `source.rs` makes of random kernels.
#![allow(warnings, reason = "nobody wrote it")]

mod kernels {
    pub use folio::prelude::*;
    pub use folio::{bf16, f16};
    pub use folio_model::source::{LaunchCase, Harness};
    include!(env!("FOLIO_RANDOM_KERNELS"));
}

fn main() {
    kernels::main();
}
