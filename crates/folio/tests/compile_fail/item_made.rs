//! KRN-02: nobody but a launch makes items.
use folio::Item;

fn main() {
    let item = Item::<1> { index: [3], _kernel: std::marker::PhantomData };
    println!("{item:?}");
}
