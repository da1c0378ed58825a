//! DEP-05: one command cannot write one buffer through two accesses.
use folio::prelude::*;

fn main() -> folio::Result<()> {
    let rt = folio::runtime()?;
    let mut x = rt.buffer::<f32, 1>(8)?;
    let parts = (x.slice_mut([0], [5])?, x.slice_mut([3], [5])?);
    rt.queue()?.submit(|cg| {
        let (a, b) = (cg.write(parts.0), cg.write(parts.1));
        cg.host_kernel([5], (a, b), |i, (mut a, mut b)| {
            a.put(i, 1.0);
            b.put(i, 2.0);
        });
        Ok(())
    })?;
    Ok(())
}
