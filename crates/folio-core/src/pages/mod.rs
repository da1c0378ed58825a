//! Which memory holds the current contents of which pages, and which copies make it so elsewhere.
//!
//! Responsible for: sets of memory domains ([`DomainSet`]), a value for each page of a grid that
//! costs what differs and not what there is ([`PageMap`]), the replaceable trackers on top of it
//! ([`PageTracker`]), and the choice of sources and rectangles for a transfer ([`Planner`]).
//! Relies on [`crate::geom`] alone. Never touches memory, threads, clocks or devices: everything
//! here is data in, data out, and is tested so.

mod apart;
mod block;
mod dense;
mod domains;
mod map;
mod ordered;
mod planner;
mod rects;
mod runs;
mod sources;
mod store;
#[cfg(test)]
pub(crate) mod testing;
mod tracker;

pub use block::{BlockTracker, BlockTrackers};
pub use dense::{DenseTracker, DenseTrackers};
pub use domains::{DomainId, DomainIter, DomainSet};
pub use map::PageMap;
#[cfg(all(test, not(loom), not(miri)))]
pub(crate) use map::steps_taken;
pub use planner::{Need, Planner, Transfer};
pub use tracker::{PageTracker, PageTrackerFactory};
