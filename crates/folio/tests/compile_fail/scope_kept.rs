//! A scope ends where it ends. POL-05
fn main() {
    let rt = folio::runtime().unwrap();
    let mut kept = None;
    let _ = rt.scope(|scope| kept = Some(scope));
}
