//! KRN-02: what the macro writes is made of, and what a body is given, only unsafe code makes.
#![forbid(unsafe_code)]
use folio::ir::device::{
    Block, Folding, Give, Gives, LocalParam, ParamPtr, Positions, Proof, Proved, Room, Takes, View,
    ViewParam, scalar,
};
use folio::{combine, prelude::*};

#[kernel]
fn far(i: Item, x: In<f32>, y: Out<f32>) {
    y[i] = x[i + 1000];
}

/// Runs a body that checks nothing.
fn body(i: Item) {
    let (x, y) = (<In<f32> as ViewParam>::none(), <Out<f32> as ViewParam>::none());
    far::__body::<Proved<0, false>>(Proof::new(), i, x, y);
}

/// Makes what has pointers.
fn pointers(g: Group) {
    Gives::<u32, combine::Add>::none().first().give(1);
    Give::<u32, combine::Add>::none().give(1);
    folio::ir::device::at(&<Local<f32, 16> as LocalParam>::none(), 3usize);
    let room = Room::<u32>::new();
    g.private(&room, 1);
    g.strips(100, true, &[]);
}

fn takes(takes: Takes<u32, combine::Add>) {
    takes.take(1 << 40, 1);
}

fn closes(g: Group, mut folding: Folding<u32, combine::Add>, gives: Gives<u32, combine::Add>) {
    g.close(&mut folding, gives);
}

/// Makes items.
fn items(positions: Positions) {
    positions.each::<1>(|_| ());
    Block::new(positions).strips::<1>(&[]);
}

/// Gives more arguments than there are parameters, or others.
fn arguments(x: &Buffer<f32>, y: &mut Buffer<f32>) {
    let mut call = far(x, y);
    call.value(1u64);
    call.memory::<In<f32>>(x);
    call.local();
    call.claims(0);
    call.turn();
}

/// Writes with claims of its own.
fn scatters(y: View<'_, Scatter<u32>, u32, 1>, claims: View<'_, Atomic<u32>, u32, 1>) {
    folio::ir::device::scatter(&y, &claims, 1, 0usize, 7);
}

/// Runs a kernel on whatever memory.
fn launched(memory: ParamPtr, positions: Positions) {
    let launch = folio::ir::device::Launched::plain();
    let _: f32 = scalar(&[1]);
    folio::ir::device::run::<far>(&[], &[memory], &positions, &launch);
}

fn main() {}
