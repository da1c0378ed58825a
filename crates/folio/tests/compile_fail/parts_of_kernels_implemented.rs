//! KRN-02: on what these say memory rests, so they are implemented by unsafe code alone.
#![forbid(unsafe_code)]
use folio::ir::device::asks::{Index, LocalPos};
use folio::ir::device::{
    GroupItem, Kernel, LocalParam, Method, NeedsVariable, ReduceParam, Shared, ViewParam,
};
use folio::ir::source::Entry;
use folio::prelude::{DeviceType, Group, Item};

/// An array of fewer slots than it says.
struct Local;
impl LocalParam for Local {
    type Array<'g> = <folio::Local<u32, 16> as LocalParam>::Array<'g>;
    const SLOTS: usize = 1 << 40;
    fn entry() -> Entry {
        <folio::Local<u32, 16> as LocalParam>::entry()
    }
    fn array<const D: usize>(group: Group<'_, D>, number: usize) -> Self::Array<'_> {
        <folio::Local<u32, 16> as LocalParam>::array(group, number)
    }
}

struct In;
impl ViewParam for In {}

struct Reduce;
impl ReduceParam for Reduce {
    type Value = u64;
    type Combine = folio::combine::Add;
}

#[derive(Clone, Copy)]
struct Element(&'static u32);
impl Shared for Element {}
impl DeviceType for Element {}

struct Launched;
impl Kernel for Launched {}

/// Another position than the one that is looked at: `i.index()`, and `i.local_pos().0`.
struct Position(usize);
impl Index<Position> for Item<'_, 1> {
    fn index(self) -> Position {
        Position(1 << 40)
    }
}
impl LocalPos<Position> for GroupItem<'_, 1> {
    fn local_pos(self) -> Position {
        Position(1 << 40)
    }
}

/// Another function than the description's, where a method changes what is no variable.
impl Method<Position> for NeedsVariable {
    type Bound = fn(usize) -> usize;
    fn bound(self, _: Position) -> Self::Bound {
        |at| at + 1
    }
}

fn main() {}
