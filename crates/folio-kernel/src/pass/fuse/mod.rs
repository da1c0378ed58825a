//! Fusion: several kernels become one, or a value says why not.
//!
//! A pure function, [`plan()`]: nodes, properties and what the device can do go in, and a [`Plan`]
//! or a [`FuseError`] comes out. Planning starts nothing and knows no device, buffer or handle.
//! Planning relies on verified kernels and on dependencies that hold those by data. Fusion never
//! gives up bits: a fused launch leaves what the unfused ones leave, except what nothing can read.
//!
//! ```
//! use folio_kernel::fuse::*;
//! use folio_kernel::parse::parse;
//! use std::sync::Arc;
//!
//! let kernel = Arc::new(parse(
//!     "kernel \"double\" items 1 tile 1
//!     param p0 = \"x\" view f32 1 in item
//!     param p1 = \"y\" view f32 1 out item
//!     body {
//!       %0 u64 = query position 0 0
//!       %1 f32 = load p0[%0]
//!       %2 f32 = add %1, %1
//!       store p1[%0] = %2
//!     }",
//! )?);
//! let view = |memory| Argument::View {
//!     region: Region::whole(MemoryId(memory), [100, 1, 1]),
//!     wishes: Wishes::default(),
//! };
//! let call = |from, to| Call {
//!     kernel: kernel.clone(),
//!     geometry: Geometry::over([100, 1, 1]),
//!     arguments: vec![view(from), view(to)],
//!     infallible: true,
//!     covers: vec![],
//! };
//! let node = |label: &str, call, after| {
//!     Node { label: label.to_owned(), work: Work::Kernel(call), after }
//! };
//! let temporary = Memory { temporary: true, ..Memory::default() };
//! let graph = Graph {
//!     nodes: vec![node("one", call(0, 1), vec![]), node("two", call(1, 2), vec![0])],
//!     memories: vec![Memory::default(), temporary, Memory::default()],
//! };
//! let plan = plan(&graph, &Facts::GPU, Options::new(Mode::Require))?;
//! let fused = plan.fused().next().ok_or("one launch")?;
//! assert_eq!(fused.outcomes[0].fate, Fate::Register);
//! assert_eq!(fused.parameters.len(), 2, "the temporary is none");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
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
//! | `intern`, `assign`, `local` | temporaries in registers and in local memory; forwarding |
//! | `inline`, `guest`, `made` | a kernel computed where another one loads what it gives, or stores what it takes |
//! | `tidy` | what nothing uses is gone |
//! | `plan`, `explain`, `reason` | the answer, for programs and for people |
//! | `cost` | whether kernels gain by sharing a launch |
//! | `pressure` | about how many registers a kernel needs |

mod assign;
mod cluster;
mod cost;
mod edit;
mod explain;
mod guest;
mod inline;
mod input;
mod intern;
mod join;
mod local;
mod made;
mod pair;
mod plan;
mod pressure;
mod reason;
mod scope;
mod tidy;
mod touch;

pub use cluster::Refusal;
pub use cost::{Balance, Costs, Limit, Load};
pub use explain::{ClusterReport, Explanation, MemoryReport, PairReport};
pub use input::{
    Argument, Call, Elsewhere, Facts, Geometry, Graph, Inlining, Memory, MemoryId, Mode, Node,
    Options, OtherWork, Planted, Region, Users, Work,
};
pub use intern::{Fate, Home, Outcome};
pub use join::{Parameter, Source};
pub use plan::{FusedKernel, Plan, PlanNode, plan, planted};
pub use pressure::registers;
pub use reason::{
    Between, Contradiction, Elements, FuseError, Hazard, Incompatible, Obstacle, Reason,
    Refutation, Shapes, Sharing, Shortage,
};
pub use scope::{AccessScope, Wishes, of_access, of_both};
