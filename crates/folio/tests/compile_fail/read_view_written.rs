//! A view of a shared slice can only be read. POL-05
fn main() {
    let rt = folio::runtime().unwrap();
    let q = rt.queue().unwrap();
    let data = vec![1u32; 4];
    let _ = rt.scope(|scope| {
        let mut view = scope.view(&data).unwrap();
        q.submit(|cg| {
            cg.fill(&mut view, 1);
            Ok(())
        })
    });
}
