//! POL-07: a kernel that runs later borrows nothing.
use folio::prelude::*;

fn main() -> folio::Result<()> {
    let rt = folio::runtime()?;
    let factor = vec![2.0];
    let mut x = rt.buffer::<f32, 1>(8)?;
    rt.queue()?.submit(|cg| {
        let x = cg.read_write(&mut x);
        cg.host_kernel([8], x, |i, mut x| x[i] *= factor[0]);
        Ok(())
    })?;
    Ok(())
}
