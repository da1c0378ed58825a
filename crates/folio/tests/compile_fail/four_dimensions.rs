//! BUF-01: one to three dimensions.
use folio::prelude::*;

fn main() -> folio::Result<()> {
    let rt = folio::runtime()?;
    let _ = rt.buffer_with::<f32, 4>([2, 2, 2, 2], BufferOptions::new())?;
    Ok(())
}
