//! KRN-02: what is read cannot be written.
use folio::prelude::*;

fn main() -> folio::Result<()> {
    let rt = folio::runtime()?;
    let x = rt.buffer::<f32, 1>(8)?;
    rt.queue()?.submit(|cg| {
        let x = cg.read(&x);
        cg.host_kernel([8], x, |i, mut x| x[i] = 1.0);
        Ok(())
    })?;
    Ok(())
}
