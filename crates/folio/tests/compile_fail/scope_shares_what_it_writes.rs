//! While a scope writes a slice, no other code uses it. POL-05
fn main() {
    let rt = folio::runtime().unwrap();
    let mut data = vec![1u32; 4];
    let _ = rt.scope(|scope| {
        let _view = scope.view_mut(&mut data);
        println!("{}", data[0]);
    });
}
