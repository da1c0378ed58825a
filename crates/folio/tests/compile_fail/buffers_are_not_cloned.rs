//! DEP-05: a buffer has one owner; `share` is for several.
fn main() -> folio::Result<()> {
    let rt = folio::runtime()?;
    let x = rt.buffer::<f32, 1>(8)?;
    let y = x.clone();
    drop((x, y));
    Ok(())
}
