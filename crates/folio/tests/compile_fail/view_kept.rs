//! KRN-02, POL-05: a view lives as long as its kernel's call.
use folio::prelude::*;
use folio::Out;
use std::sync::Mutex;

fn main() -> folio::Result<()> {
    let rt = folio::runtime()?;
    let mut x = rt.buffer::<f32>(8)?;
    let kept: &'static Mutex<Vec<Out<'static, f32>>> = Box::leak(Box::default());
    rt.queue()?.submit(|cg| {
        let x = cg.discard(&mut x);
        cg.host_kernel([8], x, |_, x| kept.lock().unwrap().push(x));
        Ok(())
    })?;
    Ok(())
}
