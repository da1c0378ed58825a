//! KRN-02: what is read and written is at the item only.
use folio::prelude::*;

fn main() -> folio::Result<()> {
    let rt = folio::runtime()?;
    let mut x = rt.buffer::<f32, 1>(8)?;
    rt.queue()?.submit(|cg| {
        let x = cg.read_write(&mut x);
        cg.host_kernel([8], x, |_, mut x| x[0] = 1.0);
        Ok(())
    })?;
    Ok(())
}
