//! Layers over any backend: [`Validate`] checks the HAL's contract at run time, [`Faults`] makes
//! calls fail, [`Trace`] records them. They compose, for layers are backends:
//!
//! ```
//! use folio_layers::{Faults, Trace, Validate};
//! use folio_sim::SimBackend;
//!
//! let validate = Validate::new();
//! let report = validate.report();
//! let sim = SimBackend::builder().build();
//! let backend = validate.over(Faults::new().over(Trace::new().over(sim)));
//! # drop(backend);
//! assert!(report.is_silent());
//! ```
//!
//! [`Capsules`] keeps launches that fail as files, for programs in use.
//!
//! [`Layer`] with [`Hooks`] is what they are made of; a test can write its own.

mod capsule;
mod faults;
mod graph;
mod layer;
mod trace;
mod validate;

pub use capsule::{Capsule, CapsuleError, Capsules, Memory};
pub use faults::{Fault, FaultHandle, Faults, Fired, Planned, Site};
pub use folio_core::hal::OpKind;
pub use graph::{GraphRef, Launched, NodeRef, Noted};
pub use layer::{DeviceRef, HeadRef, Hooks, LaneRef, Layer};
pub use trace::{Counts, Event, Issued, Trace, TraceHandle};
pub use validate::{Report, Rule, Validate, Violation};
