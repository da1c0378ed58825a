//! KRN-02: items share what the kernel captures.
use folio::prelude::*;

fn main() -> folio::Result<()> {
    let rt = folio::runtime()?;
    rt.queue()?.submit(|cg| {
        let mut count = 0;
        cg.host_kernel([8], (), move |_, ()| count += 1);
        Ok(())
    })?;
    Ok(())
}
