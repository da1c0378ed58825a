//! The heart of Folio, free of vendor code.
pub mod geom;
pub mod hal;
pub mod pages;
