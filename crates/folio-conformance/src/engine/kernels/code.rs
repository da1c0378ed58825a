//! The kernels of the suite.
#![forbid(unsafe_code)]

use folio::prelude::*;

#[kernel]
pub fn saxpy(i: Item, a: f32, x: In<f32>, y: InOut<f32>) {
    y[i] = a * x[i] + y[i];
}

#[kernel]
pub fn guarded(i: Item, x: In<f32>, y: Out<f32>) {
    let n = x.len();
    if i.index() == 0 || i.index() + 1 >= n {
        y[i] = x[i];
        return;
    }
    y[i] = 0.5 * (x[i - 1] + x[i + 1]);
}

#[kernel]
pub fn stencil(i: Item<2>, x: In<f32, 2>, y: Out<f32, 2>) {
    let (r, c) = i.pos();
    let n = x.shape();
    if r == 0 || c == 0 || r + 1 == n[0] || c + 1 == n[1] {
        y[i] = x[i];
    } else {
        y[i] = 0.25 * (x[(r - 1, c)] + x[(r + 1, c)] + x[(r, c - 1)] + x[(r, c + 1)]);
    }
}

#[kernel]
pub fn shifted(i: Item<3>, x: In<i32, 3>, y: Out<i32, 3>) {
    let (a, b, c) = i.pos();
    y[i] = x[(a, b, c)] * 3 + (a as i32 - b as i32) * c as i32;
}

/// Shows how often an item was there, and where it thought it was; some end early.
#[kernel]
pub fn stamped_line(i: Item, y: InOut<u32>) {
    let c = i.index();
    if c % 7 == 0 {
        return;
    }
    y[i] = y[i] * 3 + c as u32;
}

#[kernel]
pub fn stamped_plane(i: Item<2>, y: InOut<u32, 2>) {
    let (b, c) = i.pos();
    if c % 7 == 0 {
        return;
    }
    y[i] = y[i] * 3 + (b * 5000 + c) as u32;
}

#[kernel]
pub fn stamped_space(i: Item<3>, y: InOut<u32, 3>) {
    let (a, b, c) = i.pos();
    if c % 7 == 0 {
        return;
    }
    y[i] = y[i] * 3 + ((a * 4 + b) * 5000 + c) as u32;
}

pub const LIMIT: u32 = 50;

#[kernel]
pub fn mandelbrot(i: Item<2>, w: f32, h: f32, out: Out<u32, 2>) {
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

#[derive(Clone, Copy, Debug, PartialEq, DeviceType)]
#[repr(C)]
pub struct Vec3 {
    pub x: f32,
    pub y: f32,
    pub z: f32,
}

#[derive(Clone, Copy, Debug, PartialEq, DeviceType)]
#[repr(C)]
pub struct Body {
    pub pos: Vec3,
    pub mass: f32,
    pub vel: Vec3,
    pub spare: f32,
}

#[device_fn]
pub fn minus(a: Vec3, b: Vec3) -> Vec3 {
    Vec3 { x: a.x - b.x, y: a.y - b.y, z: a.z - b.z }
}

#[device_fn]
pub fn axpy(s: f32, a: Vec3, b: Vec3) -> Vec3 {
    Vec3 { x: s * a.x + b.x, y: s * a.y + b.y, z: s * a.z + b.z }
}

#[kernel]
pub fn nbody(i: Item, dt: f32, p: In<Body>, out: Out<Body>) {
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

/// The sum of a column of a matrix and its row, each element times where it was found.
#[kernel]
pub fn walks(i: Item, x: In<u32, 2>, y: Out<u32>) {
    let (at, n) = (i.index(), x.shape()[0]);
    let mut sum = 0;
    for k in 0..n {
        sum += x[(k, at)] * k as u32;
    }
    for k in 0..n {
        sum ^= x[(at, k)] + k as u32;
    }
    y[i] = sum;
}

/// The same backwards, in steps of three, along a diagonal, and by 32 bits.
#[kernel]
pub fn strides(i: Item, x: In<u32, 2>, y: Out<u32>) {
    let (at, n) = (i.index(), x.shape()[0]);
    let mut sum = 0;
    for k in 0..n {
        sum += x[(n - 1 - k, at)] * k as u32;
    }
    for k in 2..n / 3 {
        sum ^= x[(3 * k - 2, 2 * k + 1)] + x[(at, k)];
    }
    for k in 0..n {
        sum = sum * 3 + x[(k, n - 1 - k)] % 7;
        sum %= 1000;
    }
    for k in 0..n as u32 {
        sum += x[(at, k as usize)] ^ k;
    }
    y[i] = sum;
}

#[device_fn]
pub fn lerp<T: Number>(a: T, b: T, t: T) -> T {
    a + (b - a) * t
}

#[kernel]
pub fn blend<T: Number>(i: Item, t: T, a: In<T>, b: In<T>, o: Out<T>) {
    o[i] = lerp(a[i], b[i], t) + T::lit(1.0);
}

#[device_fn]
pub fn pick(v: In<i32>, k: usize) -> i32 {
    if k < v.len() { v[k] } else { -1 }
}

/// A bit of everything.
#[kernel]
pub fn zoo<const N: usize>(i: Item, x: In<i32>, o: InOut<i32>) {
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
pub fn integers(i: Item, x: In<i32>, y: In<i32>, o: Out<i64>) {
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

/// Methods of integers of one type, and the unsigned one of its width.
macro_rules! methods_of_integers {
    ($($name:ident $t:ident $u:ident;)*) => {$(
        #[kernel]
        pub fn $name(i: Item, x: In<$t>, y: In<$t>, o: Out<[$u; 10]>) {
            let (a, b) = (x[i], y[i]);
            o[i] = [
                a.pow(b as u32) as $u,
                a.wrapping_pow(3) as $u,
                a.mul_hi(b) as $u,
                a.abs_diff(b),
                a.rem_euclid(b | 1) as $u,
                a.count_zeros() as $u,
                a.leading_ones() as $u,
                b.trailing_ones() as $u,
                a.wrapping_neg() as $u,
                b.abs() as $u,
            ];
        }
    )*};
}
methods_of_integers! {
    methods_of_i8 i8 u8;
    methods_of_i32 i32 u32;
    methods_of_u64 u64 u64;
}

#[kernel]
pub fn sizes(i: Item, x: In<i64>, f: In<f32>, o: Out<u64>, p: Out<f32>) {
    o[i] = x[i].unsigned_abs();
    p[i] = f[i].rem_euclid(0.75);
}

#[kernel]
pub fn divides(i: Item, x: In<i32>, y: In<i32>, o: Out<i32>) {
    o[i] = x[i] / y[i] + x[i] % y[i];
}

#[kernel]
pub(super) fn beyond_an_array(i: Item, x: In<i32>, y: Out<i32>) {
    let l = [x[i], 2, 3];
    y[i] = if x[i] == 3 { l[3] } else { l[0] + l[2] };
}

#[kernel]
pub fn gathers(i: Item, at: In<i32>, x: In<f32>, o: Out<f32>) {
    o[i] = x[at[i]];
}

#[kernel]
pub fn asserts(i: Item, x: In<f32>, o: InOut<f32>) {
    assert!(x[i] >= 0.0, "no negative numbers");
    o[i] = x[i].sqrt();
}

/// A kernel that reads rows at positions, and columns anywhere.
#[kernel]
pub fn row_sums(r: Item, m: In<i32, 2>, sums: Out<i32>) {
    let row = r.index();
    let mut sum = 0;
    for c in 0..m.shape()[1] {
        sum += m[(row, c)];
    }
    sums[r] = sum;
}

/// The neighbours on both sides, without a guard.
#[kernel]
pub fn neighbours(i: Item, x: In<i32>, y: Out<i32>) {
    y[i] = x[i + 1] - x[i - 1];
}

/// The one above on the left.
#[kernel]
pub fn diagonal(i: Item<2>, x: In<i32, 2>, y: InOut<i32, 2>) {
    let (r, c) = i.pos();
    y[i] = x[(r - 1, c - 1)];
}

/// At a distance that is not known before the launch.
#[kernel]
pub fn at_distance(i: Item, by: usize, x: In<i32>, y: Out<i32>) {
    y[i] = x[i + by];
}

/// Backwards.
#[kernel]
pub fn reversed(i: Item, x: In<i32>, y: Out<i32>) {
    let n = x.len();
    y[i] = x[n - 1 - i.index()];
}

/// Looks at the length only.
#[kernel]
pub fn lengths(i: Item, x: In<i32>, y: Out<u64>) {
    y[i] = x.len() as u64;
}

#[kernel]
pub fn panics(i: Item, y: InOut<i32>) {
    if i.index() == 2 {
        panic!("two is too many");
    }
    y[i] = 1;
}

#[kernel]
pub fn array(i: Item, at: In<i32>, y: InOut<i32>) {
    let mut of = [1, 2, 3];
    of[0] += y[i];
    y[i] = of[at[i]];
}

/// Some of its output only.
#[kernel]
pub fn items_counted(_i: Item, sum: Reduce<i32, Add>) {
    sum.give(1);
}

#[device_fn]
fn perhaps(i: Item, y: Out<i32>) {
    if i.index() > 0 {
        y[i] = 1;
    }
}

/// Which the macro, seeing one function at a time, does not find.
#[kernel]
pub fn forgets(i: Item, y: Out<i32>) {
    perhaps(i, y);
}

#[kernel]
pub fn counts(i: Item, y: InOut<i32>) {
    y[i] += 1;
}

#[kernel]
pub fn copies(i: Item, x: In<i32>, y: Out<i32>) {
    y[i] = x[i];
}

#[kernel]
pub fn eight(
    i: Item,
    a: In<i32>,
    b: In<i32>,
    c: In<i32>,
    d: In<i32>,
    s: i32,
    e: InOut<i32>,
    f: InOut<i32>,
    g: Out<i32>,
    t: i64,
    h: Out<i32>,
) {
    e[i] += a[i] + s;
    f[i] += b[i];
    g[i] = c[i];
    h[i] = d[i] + t as i32;
}

#[kernel]
pub fn adds_at(i: Item, at: In<i32>, n: Atomic<u32>) {
    n.add(at[i], 1);
}

#[kernel]
pub fn puts_at(i: Item, at: In<i32>, y: Racy<i32>) {
    y[at[i]] = 5;
}

/// One of the slots again, which there may not be.
#[kernel]
pub fn slots(i: Item, at: In<i32>, y: OutChunk<i32, 3>) {
    for k in 0..3 {
        y[i][k] = 1;
    }
    y[i][at[i] as usize] = 2;
}

/// One of the columns again.
#[kernel]
pub fn columns(i: Item, at: usize, y: OutRow<i32>) {
    for c in 0..y.shape()[1] {
        y[(i, c)] = 1;
    }
    y[(i, at)] = 2;
}

#[kernel]
pub fn looks_up(i: Item, at: In<[i32; 2]>, x: In<i32, 2>, y: Out<i32>) {
    y[i] = x[(at[i][0] as usize, at[i][1] as usize)];
}

#[device_fn]
fn tick(n: i32) -> i32 {
    if n > 0 { tock(n - 1) } else { 0 }
}

#[device_fn]
fn tock(n: i32) -> i32 {
    tick(n) + 1
}

/// Functions that call each other are no device's.
#[kernel]
pub fn circles(i: Item, y: Out<i32>) {
    y[i] = tick(3);
}
