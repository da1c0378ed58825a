//! Fusion: several kernels become one, or a value says why not.
//!
//! A pure function, [`plan`]: nodes, properties and what the device can do go in, and a [`Plan`] or
//! a [`FuseError`] comes out. It starts nothing and knows no device, buffer or handle. It relies on
//! verified kernels and on dependencies that hold those by data. It never gives up bits: a fused
//! launch leaves what the unfused ones leave, except what nothing can read.
//!
//! How the passes compose, each with code before and after, is in `README.md` in this folder.
//!
//! | file | what it is about |
//! | --- | --- |
//! | `input` | the question: nodes, memories, the device's facts |
//! | `scope` | properties, and how they combine |
//! | `touch` | each access as a map from items to elements |
//! | `pair` | which two kernels may share a launch |
//! | `cluster` | order, and who goes with whom |
//! | `join` | one kernel of several: parameters, guards, phases, constants |
//! | `intern`, `assign` | temporaries in registers and in local memory; forwarding |
//! | `tidy` | what nothing uses is gone |
//! | `plan`, `explain`, `reason` | the answer, for programs and for people |

mod assign;
mod cluster;
mod edit;
mod explain;
mod input;
mod intern;
mod join;
mod pair;
mod plan;
mod reason;
mod scope;
mod tidy;
mod touch;

pub use cluster::Refusal;
pub use explain::{ClusterReport, Explanation, MemoryReport, PairReport};
pub use input::{
    Argument, Call, Facts, Geometry, Graph, Memory, MemoryId, Mode, Node, Options, OtherWork,
    Planted, Region, Work,
};
pub use intern::{Fate, Outcome};
pub use join::{Parameter, Source};
pub use plan::{FusedKernel, Plan, Step, plan, planted};
pub use reason::{
    Between, Elements, FuseError, Hazard, Incompatible, Obstacle, Reason, Refutation,
};
pub use scope::{AccessScope, Wishes, of_access, of_both};
