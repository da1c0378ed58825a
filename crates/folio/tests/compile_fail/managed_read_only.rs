//! A read-only managed pointer fits nothing that writes, and a kernel moves no pointer. MPTR-03,
//! MPTR-07
use folio::managed::{ManagedPtr, ReadOnly};
use folio::prelude::*;

#[kernel]
fn adds(i: Item, x: InOut<i32>) {
    x[i] += 1;
}

fn written(gpu: &folio::managed::Executor, table: &ManagedPtr<i32, ReadOnly>) {
    gpu.run(table.len(), adds(table));
    table.write().unwrap();
}

#[kernel]
fn gets(i: Item, x: InOut<i32>) {
    x.get();
    x[i] = 1;
}

fn main() {}
