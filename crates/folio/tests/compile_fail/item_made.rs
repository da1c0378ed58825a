//! KRN-02: nobody but a launch makes items.
use folio::ClosureItem;

fn main() {
    let item = ClosureItem::<1> { index: [3], _kernel: std::marker::PhantomData };
    println!("{item:?}");
}
