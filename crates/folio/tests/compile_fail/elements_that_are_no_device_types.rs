//! BUF-07: not every bit pattern is a `bool` or a reference.
fn main() -> folio::Result<()> {
    let rt = folio::runtime()?;
    let _ = rt.buffer::<bool, 1>(8)?;
    let _ = rt.buffer_from(&["text"])?;
    Ok(())
}
