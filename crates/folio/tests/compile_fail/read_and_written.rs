//! DEP-05: nor can it read what it writes, through a slice made before.
use folio::prelude::*;

fn main() -> folio::Result<()> {
    let rt = folio::runtime()?;
    let mut x = rt.buffer::<f32, 1>(8)?;
    let part = x.slice([0], [4])?;
    rt.queue()?.submit(|cg| {
        let (a, b) = (cg.read_write(&mut x), cg.read(part));
        cg.host_kernel([4], (a, b), |i, (mut a, b)| a[i] += b[i]);
        Ok(())
    })?;
    Ok(())
}
