//! POL-05: what a guard shows ends with the guard.
fn main() -> folio::Result<()> {
    let rt = folio::runtime()?;
    let mut x = rt.buffer::<f32, 1>(8)?;
    let first = {
        let mut guard = x.write()?;
        &mut guard[0]
    };
    *first = 1.0;
    Ok(())
}
