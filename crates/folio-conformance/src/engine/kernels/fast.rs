//! Fast forms (semantics 5.9): each result is as near to the exact one as the table says, on every
//! device.

use super::*;
use folio_core::ir::{Scalar, Unary};
use folio_interp::exact;

/// A function, its argument, what a device gives, and the greatest distance.
struct Point {
    name: &'static str,
    at: f32,
    exact: f64,
    found: f32,
    most: f64,
}

impl Point {
    fn check(&self, device: &str) -> Outcome {
        let Point { name, at, exact, found, most } = self;
        let apart = (f64::from(*found) - exact).abs();
        // Denormals may be zeros.
        let near = apart <= most + f64::from(f32::MIN_POSITIVE);
        ensure!(near, "{device}: {name}({at:e}) is {found:e}, not {exact:e}: {apart:e} apart");
        Ok(())
    }
}

const PART: f64 = 1.0 / (1 << 21) as f64;

fn exactly(op: Unary, x: f64) -> f64 {
    let bits = exact::unary(op, x).map_or(f64::NAN.to_bits(), |exact| exact.rounded(Scalar::F64));
    f64::from_bits(bits)
}

#[kernel]
fn by_name(i: Item, x: In<f32>, y: Out<[f32; 12]>) {
    let v = x[i];
    y[i] = [
        v.fast_recip(),
        v.fast_div(3.0),
        v.fast_sqrt(),
        v.fast_rsqrt(),
        (v.min(80.0)).fast_exp(),
        (-v.min(80.0)).fast_exp2(),
        v.fast_ln(),
        v.fast_log2(),
        (v % 3.0).fast_sin(),
        (v % 3.0).fast_cos(),
        v.fast_powf(0.25),
        v.fast_mul_add(3.0, -v),
    ];
}

/// The same, by a kernel that asks for fast forms as a whole.
#[kernel(fast)]
fn as_a_whole(i: Item, x: In<f32>, y: Out<[f32; 12]>) {
    let v = x[i];
    y[i] = [
        1.0 / v,
        v / 3.0,
        v.sqrt(),
        v.rsqrt(),
        (v.min(80.0)).exp(),
        (-v.min(80.0)).exp2(),
        v.ln(),
        v.log2(),
        (v % 3.0).sin(),
        (v % 3.0).cos(),
        v.powf(0.25),
        v * 3.0 - v,
    ];
}

/// The table of semantics 5.9, for one argument above zero.
fn table(x: f32, y: [f32; 12]) -> [Point; 12] {
    let (v, short) = (f64::from(x), f64::from(x.min(80.0)));
    let angle = f64::from(x % 3.0);
    let (log, root) = (exactly(Unary::Log2, v), v.sqrt());
    let (power, half) = (exactly(Unary::Exp, short), exactly(Unary::Exp2, -short));
    let rows = [
        ("fast_recip", 1.0 / v, PART / v),
        ("fast_div", v / 3.0, 2.0 * PART * v),
        ("fast_sqrt", root, PART * root),
        ("fast_rsqrt", 1.0 / root, PART / root),
        ("fast_exp", power, PART * (2.0 + short) * power),
        ("fast_exp2", half, PART * (2.0 + short) * half),
        ("fast_ln", exactly(Unary::Ln, v), 2.0 * PART * log.abs().max(1.0)),
        ("fast_log2", log, 2.0 * PART * log.abs().max(1.0)),
        ("fast_sin", exactly(Unary::Sin, angle), 1024.0f64.recip()),
        ("fast_cos", exactly(Unary::Cos, angle), 1024.0f64.recip()),
        ("fast_powf", root.sqrt(), 4.0 * PART * (1.0 + log.abs().max(1.0)) * root.sqrt()),
        ("fast_mul_add", 2.0 * v, PART * v),
    ];
    let mut points = rows.into_iter().zip(y);
    [(); 12].map(|()| match points.next() {
        Some(((name, exact, most), found)) => Point { name, at: x, exact, found, most },
        None => Point { name: "", at: x, exact: 0.0, found: 0.0, most: 0.0 },
    })
}

/// Numbers of many sizes.
fn arguments() -> Vec<f32> {
    let sizes = (0..400u32).map(|k| f32::from_bits(0x2000_0000 + k * 0x0029_4b1f));
    let near_one = (0..200u32).map(|k| 0.5 + k as f32 / 100.0);
    sizes.chain(near_one).collect()
}

type Form = fn(&Queue, &Buffer<f32, 1>, &mut Buffer<[f32; 12], 1>) -> folio_core::Result<()>;

fn near(rig: &Rig, run: Form) -> Outcome {
    let x = arguments();
    for device in rig.rt.devices() {
        let given = rig.rt.buffer_from(&x)?;
        let mut y = rig.rt.buffer::<[f32; 12], 1>(x.len())?;
        run(&rig.rt.queue_on(&device)?, &given, &mut y)?;
        for (x, y) in x.iter().zip(y.to_vec()?) {
            for point in table(*x, y) {
                point.check(&device.info().name)?;
            }
        }
    }
    Ok(())
}

/// semantics 5.9: functions by name.
pub(super) fn fast_functions_are_near(rig: &Rig) -> Outcome {
    near(rig, |q, x, y| q.run(y.range(), by_name(x, y)).map(drop))
}

/// semantics 5.9: kernels as a whole.
pub(super) fn fast_kernels_are_near(rig: &Rig) -> Outcome {
    near(rig, |q, x, y| q.run(y.range(), as_a_whole(x, y)).map(drop))
}
