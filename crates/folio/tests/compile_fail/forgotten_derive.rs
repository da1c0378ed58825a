//! KRN-06: a struct that is no device type is told where a kernel takes it, and not again at calls.
use folio::prelude::*;

#[derive(Clone, Copy)]
#[repr(C)]
struct Pair {
    a: f32,
    b: f32,
}

#[derive(Clone, Copy)]
enum Mode {
    Fast,
    Slow,
}

#[kernel]
fn sums(i: Item, mode: Mode, p: In<Pair>, y: Out<f32>) {
    y[i] = match mode {
        Mode::Fast => p[i].a,
        Mode::Slow => p[i].a + p[i].b,
    };
}

#[kernel]
fn fills(i: Item, p: Pair, y: Out<Pair>, last: InOut<Pair>) {
    y[i] = Pair { a: p.a, b: i.index() as f32 };
    last[i].b = y.len() as f32;
}

fn all(q: &Queue, x: &mut Buffer<Pair>, y: &mut Buffer<f32>) -> folio::Result<()> {
    q.run(8, fills(Pair { a: 1.0, b: 2.0 }, &mut *x, &mut *x))?;
    q.run(8, sums(Mode::Slow, &*x, &mut *y))?;
    let call = sums(Mode::Fast, x, y);
    println!("{:?}", call.checks(8)?);
    q.submit(|cg| {
        cg.run(8, call);
        Ok(())
    })?;
    Ok(())
}

fn main() {}
