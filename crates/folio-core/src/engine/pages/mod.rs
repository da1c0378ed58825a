//! Where the contents of one storage are: its pages, pieces and fragments in each memory.

pub(super) mod cut;
pub(super) mod fragments;
pub(crate) mod frames;
pub(super) mod layout;
pub(crate) mod pieces;
pub(crate) mod residency;
pub(crate) mod storage;
pub(crate) mod tracker;
