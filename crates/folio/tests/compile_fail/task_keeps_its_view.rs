//! POL-05: what a host task sees ends with it.
use folio::prelude::*;
use folio::HostRead;
use std::sync::mpsc::Sender;

fn later(cg: &mut CommandGroup, x: &Buffer<f32>, to: Sender<HostRead<'static, f32>>) {
    let x = cg.read(x);
    cg.host_task(x, move |x| drop(to.send(x)));
}

fn main() {
    let _ = later;
}
