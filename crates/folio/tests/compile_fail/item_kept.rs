//! KRN-02: an item lives as long as its kernel's call: another item's is not to be had.
use folio::ClosureItem;
use std::sync::Mutex;

static KEPT: Mutex<Option<ClosureItem<'static>>> = Mutex::new(None);

fn main() -> folio::Result<()> {
    let rt = folio::runtime()?;
    rt.queue()?.submit(|cg| {
        cg.host_kernel([8], (), |i, ()| *KEPT.lock().unwrap() = Some(i));
        Ok(())
    })?;
    Ok(())
}
