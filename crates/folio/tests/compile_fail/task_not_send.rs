//! POL-07: a host task runs on another thread, and borrows nothing.
use folio::prelude::*;
use std::rc::Rc;

fn main() -> folio::Result<()> {
    let rt = folio::runtime()?;
    let count = Rc::new(0);
    rt.queue()?.submit(|cg| {
        cg.host_task((), move |()| println!("{count}"));
        Ok(())
    })?;
    Ok(())
}
