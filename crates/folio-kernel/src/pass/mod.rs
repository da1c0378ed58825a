//! Passes: verified kernels in, verified kernels out, which compute the same.
//!
//! Imports `ir` and `analysis`.

pub mod contract;
pub mod fast;
pub mod fuse;
pub mod limit;
pub mod rename;
pub mod soft;
pub mod tile;
