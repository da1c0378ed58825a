//! KRN-02: what a kernel's body is given lives for one turn of it, also where a function by hand gets it, which
//! a kernel finds in place of a `#[device_fn]`.
#![forbid(unsafe_code)]
use folio::ir::device::{Callee, Mode, Slot};
use folio::prelude::*;
use std::cell::Cell;
use std::sync::Mutex;

static ITEM: Mutex<Option<Item<'static>>> = Mutex::new(None);

thread_local! {
    static GROUP: Cell<Option<Group<'static>>> = const { Cell::new(None) };
}

struct Kept;

impl Kept {
    fn device_fn_item<M: Mode>(_: &Slot<Callee<first>>) -> fn(Item) -> u32 {
        |i| {
            *ITEM.lock().unwrap() = Some(i);
            0
        }
    }
    fn device_fn_group<M: Mode>(_: &Slot<Callee<first>>) -> fn(Group) {
        |g| GROUP.set(Some(g))
    }
    fn device_fn_another<M: Mode>(_: &Slot<Callee<first>>) -> fn(Item) -> Item {
        |_| ITEM.lock().unwrap().unwrap()
    }
}

#[device_fn]
fn first(i: Item) -> u32 {
    i.index() as u32
}

#[kernel]
fn keeps(i: Item, y: Out<u32>) {
    y[i] = Kept::item(i);
    y[Kept::another(i)] = 1;
}

#[kernel]
fn keeps_groups(g: Group, y: Out<u32>) {
    Kept::group(g);
    g.each(|i| y[i] = 1);
}

fn main() {}
