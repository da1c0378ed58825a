//! KRN-02: an output is written at the item only, not at an index.
use folio::prelude::*;

fn main() -> folio::Result<()> {
    let rt = folio::runtime()?;
    let mut x = rt.buffer::<f32, 1>(8)?;
    rt.queue()?.submit(|cg| {
        let x = cg.discard(&mut x);
        cg.host_kernel([8], x, |i, mut x| x.put(7 - i.index(), 1.0));
        Ok(())
    })?;
    Ok(())
}
