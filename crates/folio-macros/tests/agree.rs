//! The Rust form of each kernel, and the interpreter on its IR, give the same bits (KRN-01, KRN-04).

use folio_kernel::device::{In, InOut, Item, Kernel, Memory, Number, Out, watch};
use folio_kernel::launch::Launch;
use folio_kernel::source::lower;
use folio_macros::{DeviceType, device_fn, kernel};
use folio_model::interp::{Arg, Order, Ran, run};

#[kernel]
fn saxpy(i: Item, a: f32, x: In<f32>, y: InOut<f32>) {
    y[i] = a * x[i] + y[i];
}

#[kernel]
fn guarded(i: Item, x: In<f32>, y: Out<f32>) {
    let n = x.len();
    if i.index() == 0 || i.index() + 1 >= n {
        y[i] = x[i];
        return;
    }
    y[i] = 0.5 * (x[i - 1] + x[i + 1]);
}

#[kernel]
fn stencil(i: Item<2>, x: In<f32, 2>, y: Out<f32, 2>) {
    let (r, c) = i.pos();
    let n = x.shape();
    if r == 0 || c == 0 || r + 1 == n[0] || c + 1 == n[1] {
        y[i] = x[i];
    } else {
        y[i] = 0.25 * (x[(r - 1, c)] + x[(r + 1, c)] + x[(r, c - 1)] + x[(r, c + 1)]);
    }
}

#[kernel]
fn shifted(i: Item<3>, x: In<i32, 3>, y: Out<i32, 3>) {
    let (a, b, c) = i.pos();
    y[i] = x[(a, b, c)] * 3 + (a as i32 - b as i32) * c as i32;
}

const LIMIT: u32 = 50;

#[kernel]
fn mandelbrot(i: Item<2>, w: f32, h: f32, out: Out<u32, 2>) {
    let (r, c) = i.pos();
    let (cx, cy) = (c as f32 / w * 3.0 - 2.0, r as f32 / h * 2.0 - 1.0);
    let (mut x, mut y) = (0.0, 0.0);
    let mut n = 0;
    while n < LIMIT {
        let (x2, y2) = (x * x, y * y);
        if x2 + y2 > 4.0 {
            break;
        }
        y = 2.0 * x * y + cy;
        x = x2 - y2 + cx;
        n += 1;
    }
    out[i] = n;
}

#[derive(Clone, Copy, Debug, DeviceType)]
#[repr(C)]
struct Vec3 {
    x: f32,
    y: f32,
    z: f32,
}

#[derive(Clone, Copy, Debug, DeviceType)]
#[repr(C)]
struct Body {
    pos: Vec3,
    mass: f32,
    vel: Vec3,
    spare: f32,
}

#[device_fn]
fn minus(a: Vec3, b: Vec3) -> Vec3 {
    Vec3 { x: a.x - b.x, y: a.y - b.y, z: a.z - b.z }
}

#[device_fn]
fn axpy(s: f32, a: Vec3, b: Vec3) -> Vec3 {
    Vec3 { x: s * a.x + b.x, y: s * a.y + b.y, z: s * a.z + b.z }
}

#[kernel]
fn nbody(i: Item, dt: f32, p: In<Body>, out: Out<Body>) {
    let mut me = p[i];
    let mut acc = Vec3 { x: 0.0, y: 0.0, z: 0.0 };
    for j in 0..p.len() {
        let other = p[j];
        let d = minus(other.pos, me.pos);
        let r2 = d.x * d.x + d.y * d.y + d.z * d.z + 1e-3;
        let inv = 1.0 / r2.sqrt();
        acc = axpy(other.mass * inv * inv * inv, d, acc);
    }
    me.vel = axpy(dt, acc, me.vel);
    me.pos = axpy(dt, me.vel, me.pos);
    me.vel.x += 0.5;
    out[i] = me;
}

#[device_fn]
fn lerp<T: Number>(a: T, b: T, t: T) -> T {
    a + (b - a) * t
}

#[kernel]
fn blend<T: Number>(i: Item, t: T, a: In<T>, b: In<T>, o: Out<T>) {
    o[i] = lerp(a[i], b[i], t) + T::lit(1.0);
}

#[device_fn]
fn pick(v: In<i32>, k: usize) -> i32 {
    if k < v.len() { v[k] } else { -1 }
}

/// A bit of everything.
#[kernel]
fn zoo<const N: usize>(i: Item, x: In<i32>, o: InOut<i32>) {
    let k = i.index();
    let mut h = [0; N];
    for j in 0..N {
        h[j] = x[k] + j as i32;
    }
    let mut s = 0;
    let mut j = 0;
    loop {
        if j >= N {
            break;
        }
        j += 1;
        if j % 2 == 0 {
            continue;
        }
        s += h[j - 1] << 3;
    }
    for m in (0..=3).rev() {
        s ^= m << 7;
    }
    let big = s * 1103515245 + 12345;
    let f = big as f32 * 1.5;
    let q = if f > 0.0 && big != 7 {
        (f / 3.0).sqrt() as i32
    } else if f < -1e9 {
        -1
    } else {
        (big >> 2) ^ 0x55
    };
    let t = (q, f);
    if t.1 == 0.0 {
        o[i] = 5;
        return;
    }
    o[i] += t.0.min(1000) + pick(x, k + 1);
    o[i] -= big.abs().max(3) % 17;
    h[1] &= 0xff;
    o[i] ^= h[1] + h[N - 1];
}

#[kernel]
fn integers(i: Item, x: In<i32>, y: In<i32>, o: Out<i64>) {
    let (a, b) = (x[i], y[i]);
    let narrow = (a as i8) as i32 + (b as u8) as i32;
    let wide = (a as i64) << (b as u32) | (b as u32 as i64) >> 3;
    let float = a as f32 / b as f32;
    o[i] = wide
        + (a * b - narrow.rotate_left(5)) as i64
        + (float as i32).wrapping_mul(a) as i64
        + (!a).count_ones() as i64
        + (float as u8) as i64;
}

#[kernel]
fn divides(i: Item, x: In<i32>, y: In<i32>, o: Out<i32>) {
    o[i] = x[i] / y[i] + x[i] % y[i];
}

#[kernel]
fn gathers(i: Item, at: In<i32>, x: In<f32>, o: Out<f32>) {
    o[i] = x[at[i]];
}

#[kernel]
fn asserts(i: Item, x: In<f32>, o: InOut<f32>) {
    assert!(x[i] >= 0.0, "no negative numbers");
    o[i] = x[i].sqrt();
}

trait Bytes: Copy {
    fn bytes(self) -> Vec<u8>;
}
macro_rules! bytes {
    ($($ty:ty)*) => {$(impl Bytes for $ty {
        fn bytes(self) -> Vec<u8> {
            self.to_le_bytes().to_vec()
        }
    })*};
}
bytes! { i32 u32 i64 u64 f32 f64 }

fn scalar(value: impl Bytes) -> Arg {
    Arg::Scalar(value.bytes())
}

fn view<T: Bytes>(extent: &[u64], values: impl Fn(usize) -> T) -> Arg {
    let count = extent.iter().product::<u64>() as usize;
    Arg::View {
        extent: extent.to_vec(),
        bytes: (0..count).flat_map(|k| values(k).bytes()).collect(),
    }
}

/// Runs the Rust form on copies of the arguments.
fn native<K: Kernel>(range: [u64; 3], args: &[Arg]) -> (bool, Vec<Arg>) {
    // In words, so that elements are aligned.
    let mut memory: Vec<Vec<u64>> = vec![];
    let mut entries = vec![];
    for arg in args {
        let (extent, bytes) = match arg {
            Arg::Scalar(bytes) => (vec![], bytes),
            Arg::View { extent, bytes } => (extent.clone(), bytes),
            _ => unreachable!("not in these tests"),
        };
        let mut words = vec![0u64; bytes.len() / 8 + 1];
        for (at, byte) in bytes.iter().enumerate() {
            words[at / 8] |= u64::from(*byte) << (at % 8 * 8);
        }
        let size: Vec<usize> = extent.iter().map(|n| *n as usize).collect();
        let pitch = match size[..] {
            [_, b] => [b, 1],
            [_, b, c] => [b * c, c],
            _ => [1, 1],
        };
        let mut extent = [1; 3];
        extent[..size.len()].copy_from_slice(&size);
        memory.push(words);
        let first = memory.last_mut().map_or(std::ptr::null_mut(), |w| w.as_mut_ptr().cast());
        entries.push(Memory { first, pitch, extent });
    }
    let verdict = watch(|| {
        for a in 0..range[0] as usize {
            for b in 0..range[1] as usize {
                for c in 0..range[2] as usize {
                    // SAFETY: the memory above, of the arguments' shapes, each position once.
                    unsafe { K::run(&entries, [a, b, c]) };
                }
            }
        }
    });
    let after = args.iter().zip(memory).map(|(arg, words)| {
        let bytes = |len: usize| {
            words.iter().flat_map(|word| word.to_le_bytes()).take(len).collect::<Vec<u8>>()
        };
        match arg {
            Arg::View { extent, bytes: b } => {
                Arg::View { extent: extent.clone(), bytes: bytes(b.len()) }
            }
            other => other.clone(),
        }
    });
    (verdict.is_some(), after.collect())
}

/// Both forms give the same; returns what the interpreter says.
#[track_caller]
fn agree<K: Kernel>(range: &[u64], args: Vec<Arg>) -> (Ran, Vec<Arg>) {
    let lowered = lower(K::FUNCTION);
    assert!(lowered.is_ok(), "{lowered:?}");
    let kernel = lowered.unwrap_or_else(|_| unreachable!());
    let mut launch = Launch { range: [1; 3], ..Launch::default() };
    launch.range[..range.len()].copy_from_slice(range);
    let (failed, ours) = native::<K>(launch.range, &args);
    let mut theirs = args;
    let ran = run(&kernel, &launch, &mut theirs, Order::Forward, 10_000_000);
    let ran = ran.unwrap_or_else(|stop| unreachable!("{stop:?}\n{kernel}"));
    assert_eq!(failed, ran.failure.is_some(), "{:?}\n{kernel}", ran.failure);
    if !failed {
        assert!(ours == theirs, "{ours:?}\n{theirs:?}\n{kernel}");
    }
    (ran, theirs)
}

fn wave(k: usize) -> f32 {
    (k as f32 * 0.7).sin() * 8.0
}

fn noise(k: usize) -> i32 {
    (k as i32).wrapping_mul(0x9e37_79b1u32 as i32) ^ (k as i32) << 13
}

#[test]
fn one_dimension() {
    let (_, args) = agree::<saxpy>(
        &[100],
        vec![scalar(1.5f32), view(&[100], wave), view(&[100], |k| k as f32)],
    );
    let Arg::View { bytes, .. } = &args[2] else { unreachable!() };
    assert_eq!(bytes[12..16], (1.5 * wave(3) + 3.0).to_le_bytes());
    agree::<guarded>(&[50], vec![view(&[50], wave), view(&[50], |_| 0f32)]);
}

#[test]
fn more_dimensions() {
    agree::<stencil>(&[9, 7], vec![view(&[9, 7], wave), view(&[9, 7], |_| 0f32)]);
    agree::<shifted>(&[3, 4, 5], vec![view(&[3, 4, 5], noise), view(&[3, 4, 5], |_| 0i32)]);
    let out = view(&[12, 20], |_| 0u32);
    agree::<mandelbrot>(&[12, 20], vec![scalar(20f32), scalar(12f32), out]);
}

#[test]
fn structs_and_device_functions() {
    let bodies = |k: usize| f64::from_bits((wave(k * 2).to_bits() as u64) << 32 | 0x3f80_0000);
    let all = |extent: u64| match view(&[extent * 4], bodies) {
        Arg::View { bytes, .. } => Arg::View { extent: vec![extent], bytes },
        other => other,
    };
    agree::<nbody>(&[24], vec![scalar(0.01f32), all(24), all(24)]);
}

#[test]
fn generics() {
    let f = |k: usize| k as f64 * 0.25 - 3.0;
    agree::<blend<f64>>(
        &[30],
        vec![scalar(0.3f64), view(&[30], f), view(&[30], |k| -f(k)), view(&[30], f)],
    );
    let n = |k: usize| noise(k) as u32;
    agree::<blend<u32>>(
        &[30],
        vec![scalar(7u32), view(&[30], n), view(&[30], |k| n(k + 9)), view(&[30], n)],
    );
    for _ in 0..2 {
        agree::<zoo<5>>(&[200], vec![view(&[200], noise), view(&[200], |k| k as i32)]);
        agree::<zoo<2>>(&[200], vec![view(&[200], |k| k as i32 - 90), view(&[200], noise)]);
    }
}

/// semantics 3, 4: edges of integers.
#[test]
fn edges_of_integers() {
    let edges = [0, 1, -1, i32::MIN, i32::MAX, 31, 32, 33, 255, -128, 7];
    let n = (edges.len() * edges.len()) as u64;
    let a = move |k: usize| edges[k / edges.len()];
    let b = move |k: usize| edges[k % edges.len()];
    agree::<integers>(&[n], vec![view(&[n], a), view(&[n], b), view(&[n], |_| 0i64)]);
    let ones = move |k: usize| if b(k) == 0 { 1 } else { b(k) };
    let (ran, _) = agree::<divides>(&[n], vec![view(&[n], a), view(&[n], ones), view(&[n], noise)]);
    assert_eq!(ran.failure, None);
}

/// KRN-03, KRN-07: both forms fail alike.
#[test]
fn failures() {
    let fails = |(ran, _): (Ran, Vec<Arg>)| ran.failure.map(|failure| failure.site);
    let site = fails(agree::<divides>(
        &[3],
        vec![view(&[3], noise), view(&[3], |k| k as i32), view(&[3], noise)],
    ));
    assert!(site.flatten().is_some_and(|site| site.file.ends_with("agree.rs")));
    let at = |k: usize| k as i32 * 40 - 40;
    fails(agree::<gathers>(&[3], vec![view(&[3], at), view(&[41], wave), view(&[3], wave)]))
        .unwrap();
    let (ran, _) = agree::<asserts>(&[9], vec![view(&[9], |k| 4.0 - k as f32), view(&[9], wave)]);
    let message = ran.failure.and_then(|failure| failure.site).and_then(|site| site.message);
    assert_eq!(message.as_deref(), Some("no negative numbers"));
}

#[test]
fn device_functions_are_functions() {
    assert_eq!(lerp(1.0f32, 3.0, 0.5), 2.0);
    assert_eq!(minus(Vec3 { x: 1.0, y: 2.0, z: 3.0 }, Vec3 { x: 1.0, y: 1.0, z: 1.0 }).z, 2.0);
}

#[test]
fn the_ir_of_saxpy_is_short() {
    let text = lower(<saxpy as Kernel>::FUNCTION).unwrap().to_string();
    assert_eq!(text.matches(" = load").count(), 2, "{text}");
    assert_eq!(text.lines().count(), 16, "{text}");
}
