//! KRN-02: items run on many threads.
use folio::prelude::*;
use std::cell::Cell;

fn main() -> folio::Result<()> {
    let rt = folio::runtime()?;
    rt.queue()?.submit(|cg| {
        let count = Cell::new(0);
        cg.host_kernel([8], (), move |_, ()| count.set(count.get() + 1));
        Ok(())
    })?;
    Ok(())
}
