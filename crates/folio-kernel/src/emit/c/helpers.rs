//! Functions that emitted code calls: only those that a text needs are in it, each after those
//! that it needs itself.

use super::dialect::Dialect;
use crate::types::Scalar;
use std::collections::BTreeSet;

/// The functions `lanes` where all warps have 32 threads.
const WHOLE_WARPS: &str = "\
FN u32 lanes(u32 thread, u32 threads) { return 32u; }
FN u32 lanes_mask(u32 thread, u32 threads) { return ~0u; }
";

/// The functions of one text.
pub struct Helpers {
    dialect: Dialect,
    /// All warps have 32 threads.
    whole_warps: bool,
    there: BTreeSet<String>,
    pub text: String,
}

impl Helpers {
    /// For groups of so many items, or of any number, which is 0.
    pub fn new(dialect: Dialect, group: u32) -> Helpers {
        let whole_warps = group > 0 && group.is_multiple_of(32);
        Helpers { dialect, whole_warps, there: BTreeSet::new(), text: String::new() }
    }

    /// Puts a function in, unless it is there; `make` may put in others before.
    pub fn made(&mut self, name: &str, make: impl FnOnce(&mut Helpers) -> String) {
        if !self.there.contains(name) {
            self.there.insert(name.to_owned());
            let text = make(self);
            self.text.push_str(&text);
        }
    }

    /// Puts in one of the functions that are always the same; returns its name.
    pub fn fixed(&mut self, name: &'static str) -> &'static str {
        self.made(name, |helpers| {
            let (needs, opencl, cuda) = fixed(name);
            for need in needs {
                helpers.fixed(need);
            }
            match helpers.dialect {
                _ if name == "lanes" && helpers.whole_warps => WHOLE_WARPS.to_owned(),
                Dialect::OpenCl => opencl.to_owned(),
                Dialect::Cuda => cuda.to_owned(),
            }
        });
        name
    }

    /// Division or remainder of signed integers: C leaves the least value by -1 undefined.
    pub fn divide(&mut self, scalar: Scalar, rest: bool) -> String {
        let t = scalar.name();
        let u = if scalar == Scalar::I64 { "u64" } else { "u32" };
        let (name, by_minus_one, op) = match rest {
            true => (format!("rem_{t}"), "0".to_owned(), '%'),
            false => (format!("div_{t}"), format!("({t})(({u})0 - ({u})a)"), '/'),
        };
        self.made(&name, |_| {
            let by = format!("({t})(a {op} b)");
            format!("FN {t} {name}({t} a, {t} b) {{ return b == -1 ? {by_minus_one} : {by}; }}\n")
        });
        name
    }

    /// `x` clamped to an integer type of less than 64 bits.
    pub fn clamp(&mut self, to: Scalar) -> String {
        let (t, name) = (to.name(), format!("clamp_{to}"));
        let (lo, hi) = limits(self.dialect, to);
        self.made(&name, |_| {
            format!(
                "FN {t} {name}(i64 x) {{ return x < {lo} ? {lo} : x > {hi} ? {hi} : ({t})x; }}\n"
            )
        });
        name
    }

    /// A float to an integer, saturating, NaN to 0 (semantics 4.3).
    pub fn round_to(&mut self, from: Scalar, to: Scalar) -> String {
        let (f, t, name) = (from.name(), to.name(), format!("{to}_of_{from}"));
        let (lo, hi) = limits(self.dialect, to);
        // A power of two: exact in every float type.
        let beyond = match to.limits() {
            Some((_, hi)) => format!("{:?}{}", (hi + 1) as f64, if f == "f32" { "f" } else { "" }),
            None => "0".to_owned(),
        };
        self.made(&name, |_| {
            let body = match to.is_signed() {
                false => format!("x > 0 ? x < {beyond} ? ({t})x : {hi} : 0"),
                true => format!("x >= -{beyond} ? x < {beyond} ? ({t})x : {hi} : x < 0 ? {lo} : 0"),
            };
            format!("FN {t} {name}({f} x) {{ return {body}; }}\n")
        });
        name
    }

    /// The lesser or greater of floats (semantics 5.5).
    pub fn extreme(&mut self, of: Scalar, least: bool) -> String {
        let t = of.name();
        let sign = match (of, self.dialect) {
            (Scalar::F64, _) => "BITS_F64(x) >> 63",
            _ => "BITS_F32(x) >> 31",
        };
        let (name, op, own) = match least {
            true => (format!("min_{t}"), '<', format!("({}) != 0", sign.replace('x', "a"))),
            false => (format!("max_{t}"), '>', format!("({}) == 0", sign.replace('x', "a"))),
        };
        self.made(&name, |_| {
            let first = format!("b != b || a {op} b || (a == b && {own})");
            format!("FN {t} {name}({t} a, {t} b) {{ return {first} ? a : b; }}\n")
        });
        name
    }
}

/// The least and the greatest value, as literals of a type that has both.
fn limits(dialect: Dialect, of: Scalar) -> (String, String) {
    let (lo, hi) = of.limits().unwrap_or((0, 0));
    let literal = |value: i128| super::types::literal(dialect, of, value as u64 & of.mask());
    match of {
        // Compared with an `i64`, an unsigned literal of 32 bits is extended as it should be.
        Scalar::U32 => ("0".to_owned(), literal(hi)),
        _ => (literal(lo), literal(hi)),
    }
}

type Fixed = (&'static [&'static str], &'static str, &'static str);

/// The functions that a function needs, and its text for OpenCL and CUDA.
fn fixed(name: &str) -> Fixed {
    let same = |needs: &'static [&'static str], text: &'static str| (needs, text, text);
    match name {
        "OR_NAN" => (&[], "\
#ifdef POCL_DEVICE_ADDRESS_BITS
#define OR_NAN(of, nan, x) ((of) != (of) ? (nan) : (x))
#else
#define OR_NAN(of, nan, x) x
#endif
", ""),
        "f32_of_f16" => (
            &[],
            "FN f32 f32_of_f16(f16 x) { return vload_half(0, (const half *)&x); }\n",
            "FN f32 f32_of_f16(f16 x) { f32 y; asm(\"cvt.f32.f16 %0, %1;\" : \"=f\"(y) : \"h\"(x)); return y; }\n",
        ),
        "f16_of_f32" => (
            &[],
            "FN f16 f16_of_f32(f32 x) { f16 y; vstore_half_rte(x, 0, (half *)&y); return y; }\n",
            "FN f16 f16_of_f32(f32 x) { f16 y; asm(\"cvt.rn.f16.f32 %0, %1;\" : \"=h\"(y) : \"f\"(x)); return y; }\n",
        ),
        "f32_of_bf16" => same(&[], "FN f32 f32_of_bf16(bf16 x) { return F32_BITS((u32)x << 16); }\n"),
        "bf16_of_f32" => same(&[], "\
FN bf16 bf16_of_f32(f32 x) {
  const u32 bits = BITS_F32(x);
  return x != x ? (bf16)0x7fc0 : (bf16)((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}
"),
        // To odd: what is rounded again afterwards is rounded as if once.
        "odd_of_f64" => same(&[], "\
FN f32 odd_of_f64(f64 x) {
  const f32 y = (f32)x;
  if (x != x || (f64)y == x) return y;
  const u32 bits = BITS_F32(y);
  const bool away = (f64)F32_BITS(bits & 0x7fffffffu) > (x < 0 ? -x : x);
  return F32_BITS((away ? bits - 1u : bits) | 1u);
}
"),
        "bf16_of_u64" => same(&["bf16_of_f32", "clz_u64"], "\
FN bf16 bf16_of_u64(u64 x) {
  if (x >> 24 != 0) {
    const u32 drop = 40u - clz_u64(x);
    const u64 rest = x & (((u64)1 << drop) - 1);
    x = (x >> drop | (rest != 0 ? 1 : 0)) << drop;
  }
  return bf16_of_f32((f32)x);
}
"),
        "bf16_of_i64" => same(&["bf16_of_u64"], "\
FN bf16 bf16_of_i64(i64 x) {
  return x < 0 ? (bf16)(bf16_of_u64((u64)0 - (u64)x) | 0x8000) : bf16_of_u64((u64)x);
}
"),
        // To nearest even: added to 2^23, or 2^52, there is no room for a fraction.
        "even_f32" => same(&[], "\
FN f32 even_f32(f32 x) {
  const f32 size = fabs(x);
  return size < 8388608.0f ? copysign(size + 8388608.0f - 8388608.0f, x) : x;
}
"),
        "even_f64" => same(&[], "\
FN f64 even_f64(f64 x) {
  const f64 size = fabs(x);
  return size < 4503599627370496.0 ? copysign(size + 4503599627370496.0 - 4503599627370496.0, x) : x;
}
"),
        "fast_recip" => (
            &[],
            "FN f32 fast_recip(f32 x) { return native_recip(x); }\n",
            "FN f32 fast_recip(f32 x) { f32 y; asm(\"rcp.approx.ftz.f32 %0, %1;\" : \"=f\"(y) : \"f\"(x)); return y; }\n",
        ),
        "fast_sqrt" => (
            &[],
            "FN f32 fast_sqrt(f32 x) { return native_sqrt(x); }\n",
            "FN f32 fast_sqrt(f32 x) { f32 y; asm(\"sqrt.approx.ftz.f32 %0, %1;\" : \"=f\"(y) : \"f\"(x)); return y; }\n",
        ),
        "fast_rsqrt" => (
            &[],
            "FN f32 fast_rsqrt(f32 x) { return native_rsqrt(x); }\n",
            "FN f32 fast_rsqrt(f32 x) { f32 y; asm(\"rsqrt.approx.ftz.f32 %0, %1;\" : \"=f\"(y) : \"f\"(x)); return y; }\n",
        ),
        "fast_exp2" => (
            &[],
            "FN f32 fast_exp2(f32 x) { return native_exp2(x); }\n",
            "FN f32 fast_exp2(f32 x) { f32 y; asm(\"ex2.approx.ftz.f32 %0, %1;\" : \"=f\"(y) : \"f\"(x)); return y; }\n",
        ),
        "fast_log2" => (
            &[],
            "FN f32 fast_log2(f32 x) { return native_log2(x); }\n",
            "FN f32 fast_log2(f32 x) { f32 y; asm(\"lg2.approx.ftz.f32 %0, %1;\" : \"=f\"(y) : \"f\"(x)); return y; }\n",
        ),
        "fast_sin" => (
            &[],
            "FN f32 fast_sin(f32 x) { return native_sin(x); }\n",
            "FN f32 fast_sin(f32 x) { f32 y; asm(\"sin.approx.ftz.f32 %0, %1;\" : \"=f\"(y) : \"f\"(x)); return y; }\n",
        ),
        "fast_cos" => (
            &[],
            "FN f32 fast_cos(f32 x) { return native_cos(x); }\n",
            "FN f32 fast_cos(f32 x) { f32 y; asm(\"cos.approx.ftz.f32 %0, %1;\" : \"=f\"(y) : \"f\"(x)); return y; }\n",
        ),
        "dot4_i32" => (
            &[],
            "\
FN i32 dot4_i32(u32 a, u32 b, i32 c) {
  u32 sum = (u32)c;
  for (u32 k = 0; k < 32; k += 8) sum += (u32)((i32)(i8)(a >> k) * (i32)(i8)(b >> k));
  return (i32)sum;
}
",
            "FN i32 dot4_i32(u32 a, u32 b, i32 c) { return __dp4a((i32)a, (i32)b, c); }\n",
        ),
        "dot4_u32" => (
            &[],
            "\
FN u32 dot4_u32(u32 a, u32 b, u32 c) {
  for (u32 k = 0; k < 32; k += 8) c += (a >> k & 255u) * (b >> k & 255u);
  return c;
}
",
            "FN u32 dot4_u32(u32 a, u32 b, u32 c) { return __dp4a(a, b, c); }\n",
        ),
        "ones_u32" => (
            &[],
            "FN u32 ones_u32(u32 x) { return popcount(x); }\n",
            "FN u32 ones_u32(u32 x) { return __popc(x); }\n",
        ),
        "ones_u64" => (
            &[],
            "FN u32 ones_u64(u64 x) { return (u32)popcount(x); }\n",
            "FN u32 ones_u64(u64 x) { return __popcll(x); }\n",
        ),
        "clz_u32" => (
            &[],
            "FN u32 clz_u32(u32 x) { return clz(x); }\n",
            "FN u32 clz_u32(u32 x) { return __clz((i32)x); }\n",
        ),
        "clz_u64" => (
            &[],
            "FN u32 clz_u64(u64 x) { return (u32)clz(x); }\n",
            "FN u32 clz_u64(u64 x) { return __clzll((i64)x); }\n",
        ),
        "ctz_u32" => same(
            &["clz_u32"],
            "FN u32 ctz_u32(u32 x) { return x == 0 ? 32u : 31u - clz_u32(x & (0u - x)); }\n",
        ),
        "ctz_u64" => same(
            &["clz_u64"],
            "FN u32 ctz_u64(u64 x) { return x == 0 ? 64u : 63u - clz_u64(x & ((u64)0 - x)); }\n",
        ),
        "swap_u32" => same(&[], "\
FN u32 swap_u32(u32 x) {
  x = (x >> 8 & 0xff00ffu) | (x & 0xff00ffu) << 8;
  return x >> 16 | x << 16;
}
"),
        "reverse_u32" => same(&["swap_u32"], "\
FN u32 reverse_u32(u32 x) {
  x = (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
  x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
  x = (x >> 4 & 0x0f0f0f0fu) | (x & 0x0f0f0f0fu) << 4;
  return swap_u32(x);
}
"),
        "swap_u64" => same(
            &["swap_u32"],
            "FN u64 swap_u64(u64 x) { return (u64)swap_u32((u32)x) << 32 | swap_u32((u32)(x >> 32)); }\n",
        ),
        "reverse_u64" => same(
            &["reverse_u32"],
            "FN u64 reverse_u64(u64 x) { return (u64)reverse_u32((u32)x) << 32 | reverse_u32((u32)(x >> 32)); }\n",
        ),
        "high_i64" => (
            &[],
            "FN i64 high_i64(i64 a, i64 b) { return mul_hi(a, b); }\n",
            "FN i64 high_i64(i64 a, i64 b) { return __mul64hi(a, b); }\n",
        ),
        "high_u64" => (
            &[],
            "FN u64 high_u64(u64 a, u64 b) { return mul_hi(a, b); }\n",
            "FN u64 high_u64(u64 a, u64 b) { return __umul64hi(a, b); }\n",
        ),
        "sat_add_u64" => same(&[], "\
FN u64 sat_add_u64(u64 a, u64 b) { return a + b < a ? ~(u64)0 : a + b; }
"),
        "sat_sub_u64" => same(&[], "FN u64 sat_sub_u64(u64 a, u64 b) { return a < b ? 0 : a - b; }\n"),
        "sat_add_i64" => same(&[], "\
FN i64 sat_add_i64(i64 a, i64 b) {
  const u64 sum = (u64)a + (u64)b;
  const u64 limit = ((u64)a >> 63) + (~(u64)0 >> 1);
  return (i64)((((u64)a ^ sum) & ((u64)b ^ sum)) >> 63 != 0 ? limit : sum);
}
"),
        "sat_sub_i64" => same(&[], "\
FN i64 sat_sub_i64(i64 a, i64 b) {
  const u64 rest = (u64)a - (u64)b;
  const u64 limit = ((u64)a >> 63) + (~(u64)0 >> 1);
  return (i64)((((u64)a ^ (u64)b) & ((u64)a ^ rest)) >> 63 != 0 ? limit : rest);
}
"),
        // Half of the least power of two that is not less.
        "gap_of" => same(&[], "FN u32 gap_of(u32 n) { u32 s = 1; while (s < n) s <<= 1; return s >> 1; }\n"),
        // How many lanes the thread's warp has, and as a mask.
        "lanes" => same(&[], "\
FN u32 lanes(u32 thread, u32 threads) { const u32 rest = threads - (thread & ~31u); return rest < 32u ? rest : 32u; }
FN u32 lanes_mask(u32 thread, u32 threads) { return ~0u >> (32u - lanes(thread, threads)); }
"),
        "fail" => (
            &[],
            "\
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(GLOBAL Record *verdict, u32 point) { return atomic_cmpxchg((volatile GLOBAL u32 *)&verdict->point, 0u, point) == 0u; }
",
            "\
typedef struct { u32 point; u32 unused; i64 index[3]; u64 extent[3]; } Record;
FN bool fail(Record *verdict, u32 point) { return atomicCAS(&verdict->point, 0u, point) == 0u; }
",
        ),
        "outside" => same(&["fail"], "\
FN void outside(GLOBAL Record *verdict, u32 point, u64 i, u64 j, u64 k, u64 l, u64 m, u64 n) {
  if (fail(verdict, point)) {
    verdict->index[0] = (i64)i; verdict->index[1] = (i64)j; verdict->index[2] = (i64)k;
    verdict->extent[0] = l; verdict->extent[1] = m; verdict->extent[2] = n;
  }
}
"),
        _ => same(&[], ""),
    }
}
