//! KRN-02, POL-05: a view lives as long as its kernel's call.
use folio::ClosureOut;
use std::cell::RefCell;

thread_local!(static KEPT: RefCell<Vec<ClosureOut<'static, f32>>> = const { RefCell::new(Vec::new()) });

fn main() -> folio::Result<()> {
    let rt = folio::runtime()?;
    let mut x = rt.buffer::<f32, 1>(8)?;
    rt.queue()?.submit(|cg| {
        let x = cg.discard(&mut x);
        cg.host_kernel([8], x, |_, x| KEPT.with_borrow_mut(|kept| kept.push(x)));
        Ok(())
    })?;
    Ok(())
}
