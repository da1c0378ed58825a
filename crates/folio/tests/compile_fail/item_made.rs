//! KRN-02: only a launch makes items.
use folio::ClosureItem;

fn main() {
    let item = ClosureItem::<1> { index: [3], _kernel: std::marker::PhantomData };
    println!("{item:?}");
}
