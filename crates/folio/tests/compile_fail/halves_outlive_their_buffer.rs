//! DEP-05: halves borrow the buffer.
use folio::prelude::*;

fn main() -> folio::Result<()> {
    let rt = folio::runtime()?;
    let q = rt.queue()?;
    let mut x = rt.buffer::<f32, 1>(8)?;
    let (low, high) = x.split_at_mut(4)?;
    q.submit(|cg| {
        cg.fill(&mut x, 1.0);
        Ok(())
    })?;
    drop((low, high));
    let (low, _) = rt.buffer::<f32, 1>(8)?.split_at_mut(4)?;
    drop(low);
    Ok(())
}
