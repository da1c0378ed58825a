//! KRN-02: a buffer's elements have one type; `reinterpret` gives another.
use folio::prelude::*;

fn main() -> folio::Result<()> {
    let rt = folio::runtime()?;
    let x = rt.buffer::<u32, 1>(8)?;
    let mut y = rt.buffer::<f32, 1>(8)?;
    rt.queue()?.submit(|cg| {
        cg.copy(&x, &mut y);
        Ok(())
    })?;
    Ok(())
}
