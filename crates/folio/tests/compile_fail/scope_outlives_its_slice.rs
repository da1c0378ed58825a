//! A view is of storage that outlives the scope. POL-05
fn main() {
    let rt = folio::runtime().unwrap();
    let _ = rt.scope(|scope| {
        let data = vec![1u32; 4];
        let _view = scope.view(&data);
    });
}
