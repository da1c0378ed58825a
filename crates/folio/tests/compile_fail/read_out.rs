//! KRN-02: what is written only cannot be read.
use folio::prelude::*;

fn main() -> folio::Result<()> {
    let rt = folio::runtime()?;
    let mut x = rt.buffer::<f32, 1>(8)?;
    rt.queue()?.submit(|cg| {
        let x = cg.discard(&mut x);
        cg.host_kernel([8], x, |i, mut x| {
            let old = x[i];
            x.put(i, old + 1.0);
        });
        Ok(())
    })?;
    Ok(())
}
