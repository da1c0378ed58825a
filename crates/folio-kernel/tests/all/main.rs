//! The tests of the kernel's representation and of what is made of it.

mod analysis;
mod common;
mod contract;
mod emit;
mod fuse;
mod products;
mod rename;
mod rooms;
mod text;
mod verify;
