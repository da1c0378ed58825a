//! KRN-02: the launch has the rank of what it writes.

fn main() -> folio::Result<()> {
    let rt = folio::runtime()?;
    let mut x = rt.buffer::<f32, 2>([8, 8])?;
    rt.queue()?.submit(|cg| {
        let x = cg.discard(&mut x);
        cg.host_kernel([8], x, |i, mut x| x.put(i, 1.0));
        Ok(())
    })?;
    Ok(())
}
