//! The suite that every Folio backend passes, ours and users'.
//!
//! A backend joins with one small test file:
//!
//! ```
//! use folio_conformance::hal::run_hal;
//! use folio_sim::SimBackend;
//!
//! let summary = run_hal(&|| Box::new(SimBackend::builder().build()), &[]);
//! assert!(summary.is_ok(), "{summary}");
//! ```
//!
//! [`engine::run_engine`] runs whole programs over it in the same way. [`CASE_VARIABLE`] names one
//! case that is to run alone.

mod case;
pub mod engine;
pub mod hal;
#[doc(hidden)]
pub mod paths;
#[doc(hidden)]
pub mod pool;
mod suite;

pub use case::CASE_VARIABLE;
