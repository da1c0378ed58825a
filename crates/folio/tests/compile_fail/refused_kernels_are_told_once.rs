//! KRN-06: what is refused is told once, and its uses are told of no more.
use folio::prelude::*;

#[kernel]
fn closures(i: Item, x: In<f32>, y: Out<f32>) {
    let f = |a| a + 1.0;
    y[i] = f(x[i]);
}

#[kernel]
pub(crate) fn generic<T: Number, const N: usize>(i: Item, x: &[T], (a, b): (T, T), y: Out<T>) {
    y[i] = x[i];
}

#[device_fn]
fn called(x: f32) -> f32 {
    x.to_degrees()
}

#[derive(Clone, Copy, DeviceType)]
#[repr(C)]
struct Pair {
    a: f32,
    b: f32,
}

#[device_fn]
impl Pair {
    fn by_reference(&self, other: Pair) -> f32 {
        self.a + other.a
    }
    fn new(a: f32) -> Pair {
        println!("new");
        Pair { a, b: a }
    }
    fn fine(self) -> f32 {
        self.a
    }
}

#[device_fn]
impl std::ops::Add for Pair {
    type Output = Pair;
    fn add(self, b: Pair) -> Pair {
        let name = "sum";
        Pair { a: self.a + b.a, b: self.b + b.b }
    }
}

/// All that is refused above.
#[kernel]
fn uses(i: Item, x: In<f32>, p: In<Pair>, y: Out<f32>) {
    let made = Pair::new(x[i]);
    let sum = (p[i] + p[i + 1]).a;
    y[i] = called(x[i]).sqrt() + made.b + sum + p[i].fine() + p[i].by_reference(made);
}

#[derive(Clone, Copy, DeviceType)]
struct WithoutLayout {
    a: f32,
}

#[derive(DeviceType)]
#[repr(C)]
struct WithoutCopy {
    a: f32,
}

#[derive(Clone, Copy)]
#[repr(C)]
struct Plain {
    a: f32,
}

#[derive(Clone, Copy, DeviceType)]
#[repr(C)]
struct OfPlain {
    plain: Plain,
}

#[derive(Clone, Copy, DeviceType)]
#[repr(C)]
struct Borrows<'a> {
    a: &'a f32,
}

#[kernel]
fn of_refused_types(i: Item, x: In<WithoutLayout>, y: Out<f32>) {
    y[i] = x[i].a;
}

fn main() -> folio::Result<()> {
    let (rt, v) = (folio::runtime()?, vec![1.0f32; 8]);
    let q = rt.queue()?;
    let (x, mut y) = (rt.buffer::<f32, 1>(8)?, rt.buffer::<f32, 1>(8)?);
    q.run(8, closures(&x, &mut y))?;
    q.run([8, 8], generic::<f32, 5>(&x, (1.0, 2.0), &mut y))?;
    q.submit(|cg| {
        cg.run(y.range(), closures(&x, &mut y));
        Ok(())
    })?;
    closures::host(8, &v, &mut [1.0])?;
    let sum = Pair::new(called(1.0) + 1.0) + Pair { a: 1.0, b: 2.0 };
    println!("{}", sum.by_reference(sum) + sum.fine());
    let records = rt.buffer::<WithoutLayout, 1>(8)?;
    q.run(8, of_refused_types(&records, &mut y))?;
    Ok(())
}
