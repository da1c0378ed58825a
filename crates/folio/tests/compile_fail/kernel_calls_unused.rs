//! KRN-06: a call alone runs nothing; the warning says what does.
#![deny(unused_must_use)]
use folio::prelude::*;

#[kernel]
fn doubles(i: Item, y: InOut<f32>) {
    y[i] = 2.0 * y[i];
}

fn main() -> folio::Result<()> {
    let rt = folio::runtime()?;
    let mut y = rt.buffer::<f32, 1>(8)?;
    doubles(&mut y);
    Ok(())
}
