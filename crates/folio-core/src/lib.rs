//! The heart of Folio, free of vendor code.
pub mod geom;
pub mod hal;
pub mod pages;
mod element;
mod engine;
mod error;
mod graph;
mod report;
mod sync;
pub use element::DeviceType;
pub use error::{Cause, Error, Failure, Label, Result};
pub use report::{Counters, Moves};
