//! Products of square matrices by tiles: exact ones, and relaxed ones, for which devices use their
//! matrix units; beside the library's with the feature `linalg`.
//!
//! `cargo run --release --example products [side]`; `FOLIO_DEVICE=cuda` and the like choose the
//! device.

use folio::ir::device::CastFrom;
use folio::ir::device::tile::Relaxed;
use folio::prelude::*;
use std::time::{Duration, Instant};

/// Rows and columns of a tile.
const ROWS: usize = 128;
const COLUMNS: usize = 128;
const WIDE: usize = 256;

#[kernel(group = [16, 16])]
fn exact(g: Group<2>, a: In<f32, 2>, b: In<f32, 2>, c: OutTile<f32, ROWS, COLUMNS>) {
    let (row, column) = g.pos();
    let mut sum = Tile::<f32, ROWS, COLUMNS>::zero();
    for k in 0..a.shape()[1].div_ceil(16) {
        let x = a.tile::<ROWS, 16>((row * ROWS, k * 16));
        sum.add_product(&x, &b.tile::<16, COLUMNS>((k * 16, column * COLUMNS)));
    }
    c.put(g, sum);
}

#[kernel(group = [16, 16])]
fn relaxed<T: Relaxed>(g: Group<2>, a: In<T, 2>, b: In<T, 2>, c: OutTile<f32, ROWS, COLUMNS>) {
    let (row, column) = g.pos();
    let mut sum = Tile::<f32, ROWS, COLUMNS>::zero();
    let depth = a.shape()[1];
    sum.add_relaxed_product(a.corner((row * ROWS, 0)), b.corner((0, column * COLUMNS)), depth);
    c.put(g, sum);
}

#[kernel(group = [16, 16])]
fn relaxed_wide<T: Relaxed>(g: Group<2>, a: In<T, 2>, b: In<T, 2>, c: OutTile<f32, ROWS, WIDE>) {
    let (row, column) = g.pos();
    let mut sum = Tile::<f32, ROWS, WIDE>::zero();
    let depth = a.shape()[1];
    sum.add_relaxed_product(a.corner((row * ROWS, 0)), b.corner((0, column * WIDE)), depth);
    c.put(g, sum);
}

/// How long the shortest of some runs takes.
fn measured(queue: &Queue, run: &mut dyn FnMut() -> folio::Result<()>) -> folio::Result<Duration> {
    run()?;
    queue.wait()?;
    let mut least = Duration::MAX;
    for _ in 0..5 {
        let start = Instant::now();
        for _ in 0..10 {
            run()?;
        }
        queue.wait()?;
        least = least.min(start.elapsed() / 10);
    }
    Ok(least)
}

struct Bench<'b> {
    rt: &'b Runtime,
    queue: &'b Queue,
    n: usize,
}

impl Bench<'_> {
    fn say(&self, what: &str, took: Duration) {
        let rate = 2.0 * (self.n as f64).powi(3) / took.as_secs_f64() / 1.0e12;
        println!("{what}: {took:.1?}, {rate:.3} TFLOP/s");
    }

    /// Some elements beside a sum in `f64`, of numbers whose relative error is `error` at most.
    fn check(&self, [a, b, c]: [&[f32]; 3], error: f64) {
        let n = self.n;
        for at in (0..n * n).step_by(1 + n * n / 97) {
            let products =
                (0..n).map(|k| f64::from(a[at / n * n + k]) * f64::from(b[k * n + at % n]));
            let (mut sum, mut size) = (0.0, 0.0);
            products.for_each(|product| (sum, size) = (sum + product, size + product.abs()));
            let limit = size * (error + (n + 1) as f64 * 2f64.powi(-22));
            assert!((f64::from(c[at]) - sum).abs() <= limit, "{at}: {}, {sum}", c[at]);
        }
    }

    fn of<T>(&self, name: &str, narrow: impl Fn(f32) -> T, error: f64) -> folio::Result<()>
    where
        T: Relaxed + DeviceType + folio::ir::device::Number,
        f32: CastFrom<T>,
    {
        let n = self.n;
        let made = |seed: u32| -> Vec<T> {
            let number = |k: usize| (k as u32 ^ seed).wrapping_mul(0x9e37_79b1) >> 8;
            (0..n * n).map(|k| narrow(number(k) as f32 / (1 << 24) as f32 - 0.5)).collect()
        };
        let (x, y) = (made(1), made(2));
        let wide = |of: &[T]| of.iter().map(|x| f32::cast_from(*x)).collect::<Vec<_>>();
        let (a, b) = (self.rt.buffer_from((&x, [n, n]))?, self.rt.buffer_from((&y, [n, n]))?);
        let mut c = self.rt.buffer::<f32, 2>([n, n])?;
        let (x, y) = (wide(&x), wide(&y));
        let items = |columns: usize| [n.div_ceil(ROWS) * 16, n.div_ceil(columns) * 16];
        let took = measured(self.queue, &mut || {
            self.queue.run(items(COLUMNS), relaxed(&a, &b, &mut c)).map(drop)
        })?;
        self.say(&format!("{name}, relaxed, {ROWS} x {COLUMNS}"), took);
        self.check([&x, &y, &c.to_vec()?], error);
        let took = measured(self.queue, &mut || {
            self.queue.run(items(WIDE), relaxed_wide(&a, &b, &mut c)).map(drop)
        })?;
        self.say(&format!("{name}, relaxed, {ROWS} x {WIDE}"), took);
        self.check([&x, &y, &c.to_vec()?], error);
        Ok(())
    }

    fn exact(&self) -> folio::Result<()> {
        let n = self.n;
        let x = vec![0.5f32; n * n];
        let (a, b) = (self.rt.buffer_from((&x, [n, n]))?, self.rt.buffer_from((&x, [n, n]))?);
        let mut c = self.rt.buffer::<f32, 2>([n, n])?;
        let items = [n.div_ceil(ROWS) * 16, n.div_ceil(COLUMNS) * 16];
        let took =
            measured(self.queue, &mut || self.queue.run(items, exact(&a, &b, &mut c)).map(drop))?;
        self.say("f32, exact", took);
        self.check([&x, &x, &c.to_vec()?], 0.0);
        Ok(())
    }

    #[cfg(feature = "linalg")]
    fn library<T: folio::linalg::Element>(&self, name: &str, one: T) -> folio::Result<()> {
        let (n, linalg) = (self.n, folio::linalg::Linalg::new(self.queue)?);
        let ones = vec![one; n * n];
        let (a, b) = (self.rt.buffer_from((&ones, [n, n]))?, self.rt.buffer_from((&ones, [n, n]))?);
        let mut c = self.rt.buffer::<T::Sum, 2>([n, n])?;
        let mut by = None;
        let took = measured(self.queue, &mut || {
            by = Some(linalg.matmul(&a, &b, &mut c)?);
            Ok(())
        })?;
        let by = by.map_or_else(String::new, |by| by.to_string());
        self.say(&format!("{name}, {by}"), took);
        Ok(())
    }
}

fn main() -> folio::Result<()> {
    let n = std::env::args().nth(1).and_then(|of| of.parse().ok()).unwrap_or(256);
    let rt = folio::runtime()?;
    let queue = rt.queue()?;
    let bench = Bench { rt: &rt, queue: &queue, n };
    println!("{n} x {n}; matrix units: {:?}", queue.device().tiles());
    bench.of("bf16", bf16::from_f32, 0.0)?;
    bench.of("f16", f16::from_f32, 0.0)?;
    bench.of("f32", |x| x, 2f64.powi(-10))?;
    bench.exact()?;
    #[cfg(feature = "linalg")]
    {
        bench.library("bf16", bf16::ONE)?;
        bench.library("f16", f16::ONE)?;
        bench.library("f32", 1.0f32)?;
    }
    Ok(())
}
