//! Generated from `math` in `folio-device` by the test `soft_math` of `folio-macros`: change that,
//! and run the test with `FOLIO_BLESS=1`. What is said there of errors holds here, since each
//! operation is the same.

pub mod arc {
    use super::super::super::code::N;

    pub const FRAC_PI_4_LOW: f64 = 3.061_616_997_868_383e-17;

    pub fn angle<'c>(y: N<'c>, x: N<'c>, series: impl Fn(N<'c>) -> N<'c>) -> N<'c> {
        let code = y.code;
        let (rise, run) = (y.abs(), x.abs());
        let steep = rise.gt(run);
        let corner = rise.eq(code.f64(f64::INFINITY)) & run.eq(code.f64(f64::INFINITY));
        let great = rise.gt(code.f64(1e300)) | run.gt(code.f64(1e300));
        let scale = great.pick(code.f64(0.25), code.f64(1.0));
        let (rise, run) = (rise * scale, run * scale);
        let (rise, run) = corner.pick((code.f64(1.0), code.f64(1.0)), (rise, run));
        let (less, more) = steep.pick((run, rise), (rise, run));
        let more = (more.eq(code.f64(0.0)) & less.eq(code.f64(0.0))).pick(code.f64(1.0), more);
        let beyond = less.gt(more * code.f64(0.414_213_562_373_095));
        let (above, below) = beyond.pick((less - more, less + more), (less, more));
        let t = above / below;
        let z = t * t;
        let tail = (t * z) * series(z);
        let (eighths, sign) = (beyond.pick(code.f64(1.0), code.f64(0.0)), code.f64(1.0));
        let (eighths, sign) = steep.pick((code.f64(2.0) - eighths, -sign), (eighths, sign));
        let left = x.is_negative();
        let (eighths, sign) = left.pick((code.f64(4.0) - eighths, -sign), (eighths, sign));
        let (high, low) = super::pairs::sum(eighths * code.f64(std::f64::consts::FRAC_PI_4), sign * t);
        (high + (low + ((sign * tail) + (eighths * code.f64(FRAC_PI_4_LOW))))).copysign(y)
    }
}

pub mod double {

    pub mod arc {
        use super::super::super::super::code::N;

        pub const FRAC_PI_2_LOW: f64 = 6.123_233_995_736_766e-17;

        pub const PI_LOW: f64 = 1.224_646_799_147_353_2e-16;

        pub fn acos<'c>(x: N<'c>) -> N<'c> {
            let code = x.code;
            let (great, s, z) = asin_argument(x);
            let tail = s * asin_tail(z);
            let angle = (s + tail).copysign(x);
            let near_ends = x.lt(code.f64(0.0)).pick(code.f64(std::f64::consts::PI) - ((code.f64(2.0) * (s + tail)) - code.f64(PI_LOW)), code.f64(2.0) * (s + tail));
            great.pick(near_ends, code.f64(std::f64::consts::FRAC_PI_2) - (angle - code.f64(FRAC_PI_2_LOW)))
        }

        pub fn asin<'c>(x: N<'c>) -> N<'c> {
            let code = x.code;
            let (great, s, z) = asin_argument(x);
            let tail = s * asin_tail(z);
            let y = great.pick(code.f64(std::f64::consts::FRAC_PI_2) - ((code.f64(2.0) * (s + tail)) - code.f64(FRAC_PI_2_LOW)), s + tail);
            y.copysign(x)
        }

        pub fn asin_argument<'c>(x: N<'c>) -> (N<'c>, N<'c>, N<'c>) {
            let code = x.code;
            let size = x.abs();
            let great = size.gt(code.f64(0.5));
            let half = (code.f64(1.0) - size) * code.f64(0.5);
            let z = great.pick(half, x * x);
            (great, great.pick(half.sqrt(), size), z)
        }

        pub fn asin_tail<'c>(z: N<'c>) -> N<'c> {
            let code = z.code;
            z * code.poly_f64(z, &[0.166_666_666_666_666_69, 0.074_999_999_999_984_33, 0.044_642_857_146_355_43, 0.030_381_944_138_531_247, 0.022_372_172_942_149_89, 0.017_352_392_720_869_973, 0.013_971_212_973_552_933, 0.011_479_177_415_184_906, 0.010_322_814_350_185_78, 0.005_457_506_718_640_358, 0.017_400_879_442_694_02, -0.014_851_887_071_247_204, 0.028_757_851_367_421_566])
        }

        pub fn atan<'c>(x: N<'c>) -> N<'c> {
            let code = x.code;
            super::super::arc::angle(x, code.f64(1.0), atan_tail)
        }

        pub fn atan2<'c>(y: N<'c>, x: N<'c>) -> N<'c> {
            super::super::arc::angle(y, x, atan_tail)
        }

        pub fn atan_tail<'c>(z: N<'c>) -> N<'c> {
            let code = z.code;
            code.poly_f64(z, &[-0.333_333_333_333_333_3, 0.199_999_999_999_955_13, -0.142_857_142_846_651_8, 0.111_111_110_151_467_14, -0.090_909_045_736_690_6, 0.076_921_830_873_420_26, -0.066_645_099_898_180_45, 0.058_581_362_519_061_465, -0.050_853_834_888_428_31, 0.039_229_744_536_612_23, -0.019_174_543_572_021_332])
        }
    }

    pub mod exp {
        use super::super::super::super::code::N;
        use crate::types::Scalar;

        pub const LN_2_HIGH: f64 = 0.693_147_180_559_890_3;

        pub const LN_2_LOW: f64 = 5.497_923_018_708_371e-14;

        pub const SHIFT: f64 = 6_755_399_441_055_744.0;

        pub fn both_exp_m1_near_0<'c>(r: N<'c>) -> (N<'c>, N<'c>) {
            let code = r.code;
            let z = r * r;
            let even = code.poly_f64(z, &[0.500_000_000_000_000_1, 0.041_666_666_666_623_74, 0.001_388_888_891_740_644_7, 2.480_152_099_682_569_7e-05, 2.762_023_056_750_69e-07]);
            let odd = r * code.poly_f64(z, &[0.166_666_666_666_666_69, 0.008_333_333_333_330_032, 0.000_198_412_698_632_018_28, 2.755_726_822_996_322_7e-06, 2.510_049_478_890_504_2e-08]);
            (r + (z * (even + odd)), (z * (even - odd)) - r)
        }

        pub fn cosh<'c>(x: N<'c>) -> N<'c> {
            let code = x.code;
            let (above, up, below, down) = hyperbolic(x);
            code.f64(2.0) * (((up * above) + (down * below)) + (up + down))
        }

        pub fn exp<'c>(x: N<'c>) -> N<'c> {
            let code = x.code;
            let (k, r) = reduce(super::super::round::double::within(x, code.f64(-746.0), code.f64(710.0)));
            scale(code.f64(1.0) + exp_m1_near_0(r), k)
        }

        pub fn exp2<'c>(x: N<'c>) -> N<'c> {
            let code = x.code;
            let x = super::super::round::double::within(x, code.f64(-1076.0), code.f64(1025.0));
            let k = nearest(x);
            scale(code.f64(1.0) + exp_m1_near_0((x - k) * code.f64(std::f64::consts::LN_2)), k)
        }

        pub fn exp_m1<'c>(x: N<'c>) -> N<'c> {
            let code = x.code;
            let (k, r) = reduce(super::super::round::double::within(x, code.f64(-40.0), code.f64(710.0)));
            let half = power(k - code.f64(1.0));
            let y = code.f64(2.0) * ((half * exp_m1_near_0(r)) + (half - code.f64(0.5)));
            x.abs().lt(code.f64(5e-17)).pick(x, y)
        }

        pub fn exp_m1_near_0<'c>(r: N<'c>) -> N<'c> {
            both_exp_m1_near_0(r).0
        }

        pub fn hyperbolic<'c>(x: N<'c>) -> (N<'c>, N<'c>, N<'c>, N<'c>) {
            let code = x.code;
            let (k, r) = reduce(super::super::round::double::within(x.abs(), code.f64(0.0), code.f64(710.6)));
            let (above, below) = both_exp_m1_near_0(r);
            (above, power(k - code.f64(2.0)), below, power(super::super::round::double::within((-k) - code.f64(2.0), code.f64(-1022.0), code.f64(0.0))))
        }

        pub fn nearest<'c>(x: N<'c>) -> N<'c> {
            let code = x.code;
            (x + code.f64(SHIFT)) - code.f64(SHIFT)
        }

        pub fn power<'c>(k: N<'c>) -> N<'c> {
            let code = k.code;
            ((k + code.f64(SHIFT + 1023.0)).raw() << code.u64(52)).as_bits(Scalar::F64)
        }

        pub fn reduce<'c>(x: N<'c>) -> (N<'c>, N<'c>) {
            let code = x.code;
            let k = nearest(x * code.f64(std::f64::consts::LOG2_E));
            (k, (x - (k * code.f64(LN_2_HIGH))) - (k * code.f64(LN_2_LOW)))
        }

        pub fn scale<'c>(y: N<'c>, k: N<'c>) -> N<'c> {
            let code = y.code;
            let half = nearest(k * code.f64(0.5));
            (y * power(half)) * power(k - half)
        }

        pub fn sinh<'c>(x: N<'c>) -> N<'c> {
            let code = x.code;
            let (above, up, below, down) = hyperbolic(x);
            let y = code.f64(2.0) * (((up * above) - (down * below)) + (up - down));
            x.abs().lt(code.f64(1e-8)).pick(x, y.copysign(x))
        }

        pub fn tanh<'c>(x: N<'c>) -> N<'c> {
            let code = x.code;
            let twice = exp_m1(code.f64(2.0) * super::super::round::double::within(x.abs(), code.f64(0.0), code.f64(20.0)));
            let y = twice / (twice + code.f64(2.0));
            x.abs().lt(code.f64(1e-8)).pick(x, y.copysign(x))
        }
    }

    pub mod ln {
        use super::super::super::super::code::N;
        use crate::types::Scalar;

        pub const LEAST: u64 = std::f64::consts::FRAC_1_SQRT_2.to_bits();

        pub const LN_2_HIGH: f64 = 0.693_147_180_559_890_3;

        pub const LN_2_LOW: f64 = 5.497_923_018_708_371e-14;

        pub const LOG10_2_HIGH: f64 = 0.301_029_995_663_952_83;

        pub const LOG10_2_LOW: f64 = 2.836_339_455_104_496_4e-14;

        pub fn join<'c>(k: N<'c>, f: N<'c>) -> N<'c> {
            let code = k.code;
            (k * code.f64(LN_2_HIGH)) + (f + (rest(f) + (k * code.f64(LN_2_LOW))))
        }

        pub fn ln<'c>(x: N<'c>) -> N<'c> {
            let (k, f) = split(x);
            with_ends(x, join(k, f))
        }

        pub fn ln_1p<'c>(x: N<'c>) -> N<'c> {
            let code = x.code;
            let sum = code.f64(1.0) + x;
            let lost = x.lt(code.f64(1.0)).pick(x - (sum - code.f64(1.0)), code.f64(1.0) - (sum - x));
            let (k, f) = split(sum);
            let f = f + (lost * super::exp::power(super::super::round::double::within(-k, code.f64(-1022.0), code.f64(1022.0))));
            let y = with_ends(sum, join(k, f));
            x.eq(code.f64(0.0)).pick(x, y)
        }

        pub fn log10<'c>(x: N<'c>) -> N<'c> {
            let code = x.code;
            let (k, f) = split(x);
            with_ends(x, (k * code.f64(LOG10_2_HIGH)) + (((f + rest(f)) * code.f64(std::f64::consts::LOG10_E)) + (k * code.f64(LOG10_2_LOW))))
        }

        pub fn log2<'c>(x: N<'c>) -> N<'c> {
            let code = x.code;
            let (k, f) = split(x);
            with_ends(x, k + ((f + rest(f)) * code.f64(std::f64::consts::LOG2_E)))
        }

        pub fn rest<'c>(f: N<'c>) -> N<'c> {
            let code = f.code;
            let s = f / (code.f64(2.0) + f);
            let z = s * s;
            let tail = z * code.poly_f64(z, &[0.666_666_666_666_667, 0.399_999_999_998_994_44, 0.285_714_286_260_032_7, 0.222_222_111_302_598_78, 0.181_828_894_556_749_47, 0.153_317_106_182_107_73, 0.146_165_854_248_886_23]);
            let half = (code.f64(0.5) * f) * f;
            (s * (half + tail)) - half
        }

        pub fn split<'c>(x: N<'c>) -> (N<'c>, N<'c>) {
            let code = x.code;
            let denormal = x.lt(code.f64(f64::MIN_POSITIVE));
            let bits = denormal.pick(x * code.f64(18_014_398_509_481_984.0), x).raw();
            let above = (bits - code.u64(LEAST)) + code.u64(1023 << 52);
            let biased = ((above >> code.u64(52)) | code.u64(0x4330_0000_0000_0000)).as_bits(Scalar::F64);
            let bias = code.f64(4_503_599_627_370_496.0) + denormal.pick(code.f64(1077.0), code.f64(1023.0));
            let m = ((above & code.u64(0x000f_ffff_ffff_ffff)) + code.u64(LEAST)).as_bits(Scalar::F64);
            (biased - bias, m - code.f64(1.0))
        }

        pub fn with_ends<'c>(x: N<'c>, y: N<'c>) -> N<'c> {
            let code = x.code;
            let y = x.lt(code.f64(f64::INFINITY)).pick(y, x);
            let ends = x.eq(code.f64(0.0)).pick(code.f64(f64::NEG_INFINITY), code.f64(f64::NAN));
            x.gt(code.f64(0.0)).pick(y, ends)
        }
    }

    pub mod pow {
        use super::super::super::super::code::N;

        pub const THIRD: (f64, f64) = (0.333_333_333_333_333_3, 1.850_371_707_708_594e-17);

        pub const TWO_LOG2_E: (f64, f64) = (2.885_390_081_777_926_8, 4.071_054_748_186_206_6e-17);

        pub fn exp2_of_product<'c>(y: N<'c>, (log, low): (N<'c>, N<'c>)) -> N<'c> {
            let code = y.code;
            let y = super::super::round::double::within(y, code.f64(-1e20), code.f64(1e20));
            let (exponent, rest) = super::super::pairs::product(y, log);
            let rest = rest + (y * low);
            let inside = exponent.abs().lt(code.f64(1100.0));
            let exponent = super::super::round::double::within(exponent, code.f64(-1100.0), code.f64(1100.0));
            let k = super::exp::nearest(exponent);
            let r = (exponent - k) + inside.pick(rest, code.f64(0.0));
            super::exp::scale(code.f64(1.0) + super::exp::exp_m1_near_0(r * code.f64(std::f64::consts::LN_2)), k)
        }

        pub fn log2<'c>(x: N<'c>) -> (N<'c>, N<'c>) {
            let code = x.code;
            let (k, f) = super::ln::split(x);
            let (below, below_low) = super::super::pairs::sum(code.f64(2.0), f);
            let s = f / below;
            let (near, near_low) = super::super::pairs::product(s, below);
            let s_low = (((f - near) - near_low) - (s * below_low)) / below;
            let (z, z_low) = super::super::pairs::product(s, s);
            let z_low = z_low + ((code.f64(2.0) * s) * s_low);
            let tail = (z * z) * code.poly_f64(z, &[0.200_000_000_000_000_12, 0.142_857_142_856_692_54, 0.111_111_111_355_511_7, 0.090_909_041_237_722_71, 0.076_927_873_982_310_16, 0.066_429_787_175_966_76, 0.064_568_088_360_911_25]);
            let (t, t_low) = super::super::pairs::product(z, code.f64(THIRD.0));
            let (t, t_low) = super::super::pairs::sum(t, tail + (t_low + ((z * code.f64(THIRD.1)) + (z_low * code.f64(THIRD.0)))));
            let (a, a_low) = super::super::pairs::product(s, code.f64(TWO_LOG2_E.0));
            let a_low = a_low + ((s * code.f64(TWO_LOG2_E.1)) + (s_low * code.f64(TWO_LOG2_E.0)));
            let (b, b_low) = super::super::pairs::product(a, t);
            let (c, c_low) = super::super::pairs::sum(a, b);
            let c_low = c_low + (a_low + (b_low + ((a * t_low) + (a_low * t))));
            let (log, low) = super::super::pairs::sum(k, c);
            (log, low + c_low)
        }

        pub fn powf<'c>(x: N<'c>, y: N<'c>) -> N<'c> {
            let code = x.code;
            let size = x.abs();
            let result = exp2_of_product(y, log2(size));
            let end = (!(size.eq(code.f64(0.0)) ^ y.lt(code.f64(0.0)))).pick(code.f64(f64::INFINITY), code.f64(0.0));
            let result = (size.eq(code.f64(0.0)) | size.eq(code.f64(f64::INFINITY))).pick(end, result);
            let result = (x.is_nan() | y.is_nan()).pick(x + y, result);
            let whole = super::super::round::double::round_ties_even(y).eq(y);
            let half = y * code.f64(0.5);
            let odd = whole & super::super::round::double::round_ties_even(half).ne(half);
            let no_number = (x.lt(code.f64(0.0)) & x.gt(code.f64(f64::NEG_INFINITY))) & (!whole);
            let signed = odd.pick(result.copysign(x), result);
            let defined = no_number.pick(code.f64(f64::NAN), signed);
            ((y.eq(code.f64(0.0)) | x.eq(code.f64(1.0))) | (size.eq(code.f64(1.0)) & y.abs().eq(code.f64(f64::INFINITY)))).pick(code.f64(1.0), defined)
        }
    }

    pub mod root {
        use super::super::super::super::code::N;

        pub const TWO_TO_600: f64 = f64::from_bits((1023 + 600) << 52);

        pub fn cbrt<'c>(x: N<'c>) -> N<'c> {
            let code = x.code;
            let size = x.abs();
            let denormal = size.lt(code.f64(f64::MIN_POSITIVE));
            let size = denormal.pick(size * code.f64(18_014_398_509_481_984.0), size);
            let great = size.gt(code.f64(1e300));
            let size = great.pick(size * code.f64(0.125), size);
            let near = super::super::root::cube_root_step(size, super::super::root::near_cube_root(size));
            let y = super::super::root::cube_root_step(size, super::super::root::cube_root_step(size, near));
            let y = denormal.pick(y / code.f64(262_144.0), y);
            let y = great.pick(y * code.f64(2.0), y).copysign(x);
            (x.ne(code.f64(0.0)) & x.abs().lt(code.f64(f64::INFINITY))).pick(y, x)
        }

        pub fn hypot<'c>(x: N<'c>, y: N<'c>) -> N<'c> {
            let code = x.code;
            let (a, b) = (x.abs(), y.abs());
            let (less, more) = a.gt(b).pick((b, a), (a, b));
            let up = more.lt(code.f64(1e-140)).pick(code.f64(TWO_TO_600), code.f64(1.0));
            let scale = more.gt(code.f64(1e140)).pick(code.f64(1.0 / TWO_TO_600), up);
            let (s, t) = (less * scale, more * scale);
            let y = ((s * s) + (t * t)).sqrt() / scale;
            (a.eq(code.f64(f64::INFINITY)) | b.eq(code.f64(f64::INFINITY))).pick(code.f64(f64::INFINITY), y)
        }

        pub fn rsqrt<'c>(x: N<'c>) -> N<'c> {
            let code = x.code;
            code.f64(1.0) / x.sqrt()
        }
    }

    pub mod trig {
        use super::super::super::super::code::N;
        use crate::types::Scalar;

        pub fn cos<'c>(x: N<'c>) -> N<'c> {
            let code = x.code;
            sin_from(x, code.u64(1))
        }

        pub fn near_0<'c>(r: N<'c>, low: N<'c>) -> (N<'c>, N<'c>) {
            let code = r.code;
            let z = r * r;
            let sin = code.poly_f64(z, &[-0.166_666_666_666_666_66, 0.008_333_333_333_330_946, -0.000_198_412_698_367_549_7, 2.755_731_610_068_303e-06, -2.505_113_145_542_794_6e-08, 1.591_810_123_027_412e-10]);
            let cos = code.poly_f64(z, &[0.041_666_666_666_666_664, -0.001_388_888_888_888_739_5, 2.480_158_729_876_343_3e-05, -2.755_731_727_056_032_6e-07, 2.087_614_602_468_974_7e-09, -1.138_261_486_855_632_5e-11]);
            let half = code.f64(0.5) * z;
            let near = code.f64(1.0) - half;
            let rest = ((code.f64(1.0) - near) - half) + (((z * z) * cos) - (r * low));
            (r + (((r * z) * sin) + (low * near)), near + rest)
        }

        pub fn sin<'c>(x: N<'c>) -> N<'c> {
            let code = x.code;
            let sign = x.raw() & code.u64(1 << 63);
            let y = (sin_from(x, code.u64(0)).raw() ^ sign).as_bits(Scalar::F64);
            x.abs().lt(code.f64(1e-8)).pick(x, y)
        }

        pub fn sin_from<'c>(x: N<'c>, more: N<'c>) -> N<'c> {
            let code = x.code;
            let (quarters, r, low) = super::super::turns::quarter_wide(x);
            let quarters = quarters + more;
            let (sin, cos) = near_0(r, low);
            let size = (quarters & code.u64(1)).eq(code.u64(0)).pick(sin, cos);
            let sign = (quarters & code.u64(2)) << code.u64(62);
            (size.raw() ^ sign).as_bits(Scalar::F64)
        }

        pub fn tan<'c>(x: N<'c>) -> N<'c> {
            let code = x.code;
            let (quarters, r, low) = super::super::turns::quarter_wide(x);
            let (sin, cos) = near_0(r, low);
            let odd = (quarters & code.u64(1)).eq(code.u64(1));
            let (above, below) = odd.pick((cos, sin), (sin, cos));
            let sign = (x.raw() & code.u64(1 << 63)) ^ ((quarters & code.u64(1)) << code.u64(63));
            let y = ((above / below).raw() ^ sign).as_bits(Scalar::F64);
            x.abs().lt(code.f64(1e-8)).pick(x, y)
        }
    }
}

pub mod pairs {
    use super::super::super::code::N;
    use crate::types::Scalar;

    pub fn halves<'c>(x: N<'c>) -> (N<'c>, N<'c>) {
        let code = x.code;
        let high = (x.raw() & code.u64(0xffff_ffff_f800_0000)).as_bits(Scalar::F64);
        (high, x - high)
    }

    pub fn product<'c>(a: N<'c>, b: N<'c>) -> (N<'c>, N<'c>) {
        let ((a1, a2), (b1, b2)) = (halves(a), halves(b));
        let product = a * b;
        (product, ((((a1 * b1) - product) + (a1 * b2)) + (a2 * b1)) + (a2 * b2))
    }

    pub fn sum<'c>(a: N<'c>, b: N<'c>) -> (N<'c>, N<'c>) {
        let sum = a + b;
        (sum, b - (sum - a))
    }
}

pub mod root {
    use super::super::super::code::N;
    use crate::types::Scalar;

    pub fn cube_root_step<'c>(x: N<'c>, t: N<'c>) -> N<'c> {
        let cube = (t * t) * t;
        t - (t * ((cube - x) / ((cube + cube) + x)))
    }

    pub fn near_cube_root<'c>(x: N<'c>) -> N<'c> {
        let code = x.code;
        const BIAS: u64 = 715_094_163;
        let third = ((x.raw() >> code.u64(32)) * code.u64(0xaaaa_aaab)) >> code.u64(33);
        ((third + code.u64(BIAS)) << code.u64(32)).as_bits(Scalar::F64)
    }
}

pub mod round {

    pub mod double {
        use super::super::super::super::code::N;

        pub const WHOLE: f64 = 4_503_599_627_370_496.0;

        pub fn round_ties_even<'c>(x: N<'c>) -> N<'c> {
            let code = x.code;
            let size = x.abs();
            let near = (size + code.f64(WHOLE)) - code.f64(WHOLE);
            size.lt(code.f64(WHOLE)).pick(near, x).copysign(x)
        }

        pub fn within<'c>(x: N<'c>, lo: N<'c>, hi: N<'c>) -> N<'c> {
            let x = x.lt(lo).pick(lo, x);
            x.gt(hi).pick(hi, x)
        }
    }

    pub mod single {
        use super::super::super::super::code::N;

        pub const WHOLE: f32 = 8_388_608.0;

        pub fn round_ties_even<'c>(x: N<'c>) -> N<'c> {
            let code = x.code;
            let size = x.abs();
            let near = (size + code.f32(WHOLE)) - code.f32(WHOLE);
            size.lt(code.f32(WHOLE)).pick(near, x).copysign(x)
        }

        pub fn within<'c>(x: N<'c>, lo: N<'c>, hi: N<'c>) -> N<'c> {
            let x = x.lt(lo).pick(lo, x);
            x.gt(hi).pick(hi, x)
        }
    }
}

pub mod single {

    pub mod arc {
        use super::super::super::super::code::N;
        use crate::types::Scalar;

        pub const FRAC_PI_2_LOW: f32 = -4.371_139e-8;

        pub const FRAC_PI_4_LOW: f32 = -2.185_569_4e-8;

        pub const PI_LOW: f32 = -8.742_278e-8;

        pub fn acos<'c>(x: N<'c>) -> N<'c> {
            let code = x.code;
            let (great, s, z) = asin_argument(x);
            let tail = s * asin_tail(z);
            let angle = (s + tail).copysign(x);
            let near_ends = x.lt(code.f32(0.0)).pick(code.f32(std::f32::consts::PI) - ((code.f32(2.0) * (s + tail)) - code.f32(PI_LOW)), code.f32(2.0) * (s + tail));
            great.pick(near_ends, code.f32(std::f32::consts::FRAC_PI_2) - (angle - code.f32(FRAC_PI_2_LOW)))
        }

        pub fn asin<'c>(x: N<'c>) -> N<'c> {
            let code = x.code;
            let (great, s, z) = asin_argument(x);
            let tail = s * asin_tail(z);
            let y = great.pick(code.f32(std::f32::consts::FRAC_PI_2) - ((code.f32(2.0) * (s + tail)) - code.f32(FRAC_PI_2_LOW)), s + tail);
            y.copysign(x)
        }

        pub fn asin_argument<'c>(x: N<'c>) -> (N<'c>, N<'c>, N<'c>) {
            let code = x.code;
            let size = x.abs();
            let great = size.gt(code.f32(0.5));
            let half = (code.f32(1.0) - size) * code.f32(0.5);
            let z = great.pick(half, x * x);
            (great, great.pick(half.sqrt(), size), z)
        }

        pub fn asin_tail<'c>(z: N<'c>) -> N<'c> {
            let code = z.code;
            z * code.poly_f32(z, &[0.166_666_67, 0.075_000_95, 0.044_599_4, 0.031_100_663, 0.017_149_238, 0.033_690_847])
        }

        pub fn atan<'c>(x: N<'c>) -> N<'c> {
            let code = x.code;
            let size = x.abs();
            let (some, more) = (size.gt(code.f32(0.414_213_57)), size.gt(code.f32(2.414_213_7)));
            let above = more.pick(code.f32(-1.0), size - code.f32(1.0));
            let below = more.pick(size, size + code.f32(1.0));
            let (above, below) = some.pick((above, below), (size, code.f32(1.0)));
            let t = above / below;
            let z = t * t;
            let tail = (t * z) * code.poly_f32(z, &[-0.333_333_34, 0.199_995_4, -0.142_639_46, 0.107_436_32, -0.064_515_97]);
            let eighths = some.pick(code.f32(1.0), code.f32(0.0));
            let eighths = more.pick(code.f32(2.0), eighths);
            ((eighths * code.f32(std::f32::consts::FRAC_PI_4)) + (t + (tail + (eighths * code.f32(FRAC_PI_4_LOW))))).copysign(x)
        }

        pub fn atan2<'c>(y: N<'c>, x: N<'c>) -> N<'c> {
            let code = y.code;
            super::super::arc::angle(y.cast(Scalar::F64), x.cast(Scalar::F64), |z| code.poly_f64(z, &[-0.333_333_317_6, 0.199_995_402_2, -0.142_639_463_6, 0.107_436_316_3, -0.064_515_972_59])).cast(Scalar::F32)
        }
    }

    pub mod exp {
        use super::super::super::super::code::N;
        use crate::types::Scalar;

        pub const LN_2_HIGH: f32 = 0.693_145_75;

        pub const LN_2_LOW: f32 = 1.428_606_8e-6;

        pub const SHIFT: f32 = 12_582_912.0;

        pub fn both_exp_m1_near_0<'c>(r: N<'c>) -> (N<'c>, N<'c>) {
            let code = r.code;
            let z = r * r;
            let even = code.poly_f32(z, &[0.5, 0.041_666_464, 0.001_393_375_1]);
            let odd = r * code.poly_f32(z, &[0.166_666_67, 0.008_333_311, 0.000_198_911_03]);
            (r + (z * (even + odd)), (z * (even - odd)) - r)
        }

        pub fn cosh<'c>(x: N<'c>) -> N<'c> {
            let code = x.code;
            let (above, up, below, down) = hyperbolic(x);
            code.f32(2.0) * (((up * above) + (down * below)) + (up + down))
        }

        pub fn exp<'c>(x: N<'c>) -> N<'c> {
            let code = x.code;
            let (k, r) = reduce(super::super::round::single::within(x, code.f32(-104.0), code.f32(89.0)));
            scale(code.f32(1.0) + exp_m1_near_0(r), k)
        }

        pub fn exp2<'c>(x: N<'c>) -> N<'c> {
            let code = x.code;
            let x = super::super::round::single::within(x, code.f32(-151.0), code.f32(129.0));
            let k = nearest(x);
            scale(code.f32(1.0) + exp_m1_near_0((x - k) * code.f32(std::f32::consts::LN_2)), k)
        }

        pub fn exp_m1<'c>(x: N<'c>) -> N<'c> {
            let code = x.code;
            let (k, r) = reduce(super::super::round::single::within(x, code.f32(-18.0), code.f32(89.0)));
            let half = power(k - code.f32(1.0));
            let y = code.f32(2.0) * ((half * exp_m1_near_0(r)) + (half - code.f32(0.5)));
            x.abs().lt(code.f32(3e-8)).pick(x, y)
        }

        pub fn exp_m1_near_0<'c>(r: N<'c>) -> N<'c> {
            both_exp_m1_near_0(r).0
        }

        pub fn hyperbolic<'c>(x: N<'c>) -> (N<'c>, N<'c>, N<'c>, N<'c>) {
            let code = x.code;
            let (k, r) = reduce(super::super::round::single::within(x.abs(), code.f32(0.0), code.f32(89.5)));
            let (above, below) = both_exp_m1_near_0(r);
            (above, power(k - code.f32(2.0)), below, power(super::super::round::single::within((-k) - code.f32(2.0), code.f32(-126.0), code.f32(0.0))))
        }

        pub fn nearest<'c>(x: N<'c>) -> N<'c> {
            let code = x.code;
            (x + code.f32(SHIFT)) - code.f32(SHIFT)
        }

        pub fn power<'c>(k: N<'c>) -> N<'c> {
            let code = k.code;
            ((k + code.f32(SHIFT + 127.0)).raw() << code.u32(23)).as_bits(Scalar::F32)
        }

        pub fn reduce<'c>(x: N<'c>) -> (N<'c>, N<'c>) {
            let code = x.code;
            let k = nearest(x * code.f32(std::f32::consts::LOG2_E));
            (k, (x - (k * code.f32(LN_2_HIGH))) - (k * code.f32(LN_2_LOW)))
        }

        pub fn scale<'c>(y: N<'c>, k: N<'c>) -> N<'c> {
            let code = y.code;
            let half = nearest(k * code.f32(0.5));
            (y * power(half)) * power(k - half)
        }

        pub fn sinh<'c>(x: N<'c>) -> N<'c> {
            let code = x.code;
            let (above, up, below, down) = hyperbolic(x);
            let y = code.f32(2.0) * (((up * above) - (down * below)) + (up - down));
            x.abs().lt(code.f32(2e-4)).pick(x, y.copysign(x))
        }

        pub fn tanh<'c>(x: N<'c>) -> N<'c> {
            let code = x.code;
            let twice = exp_m1(code.f32(2.0) * super::super::round::single::within(x.abs(), code.f32(0.0), code.f32(10.0)));
            let y = twice / (twice + code.f32(2.0));
            x.abs().lt(code.f32(2e-4)).pick(x, y.copysign(x))
        }
    }

    pub mod ln {
        use super::super::super::super::code::N;
        use crate::types::Scalar;

        pub const LN_2_HIGH: f32 = 0.693_145_75;

        pub const LN_2_LOW: f32 = 1.428_606_8e-6;

        pub const LOG10_2_HIGH: f32 = 0.301_025_4;

        pub const LOG10_2_LOW: f32 = 4.605_039e-6;

        pub const TWO_THIRDS: u32 = 0x3f2a_aaab;

        pub fn join<'c>(k: N<'c>, f: N<'c>) -> N<'c> {
            let code = k.code;
            (k * code.f32(LN_2_HIGH)) + (f + (rest(f) + (k * code.f32(LN_2_LOW))))
        }

        pub fn ln<'c>(x: N<'c>) -> N<'c> {
            let (k, f) = split(x);
            with_ends(x, join(k, f))
        }

        pub fn ln_1p<'c>(x: N<'c>) -> N<'c> {
            let code = x.code;
            let sum = code.f32(1.0) + x;
            let lost = x.lt(code.f32(1.0)).pick(x - (sum - code.f32(1.0)), code.f32(1.0) - (sum - x));
            let (k, f) = split(sum);
            let f = f + (lost * super::exp::power(super::super::round::single::within(-k, code.f32(-126.0), code.f32(126.0))));
            let y = with_ends(sum, join(k, f));
            x.eq(code.f32(0.0)).pick(x, y)
        }

        pub fn log10<'c>(x: N<'c>) -> N<'c> {
            let code = x.code;
            let (k, f) = split(x);
            with_ends(x, (k * code.f32(LOG10_2_HIGH)) + (((f + rest(f)) * code.f32(std::f32::consts::LOG10_E)) + (k * code.f32(LOG10_2_LOW))))
        }

        pub fn log2<'c>(x: N<'c>) -> N<'c> {
            let code = x.code;
            let (k, f) = split(x);
            with_ends(x, k + ((f + rest(f)) * code.f32(std::f32::consts::LOG2_E)))
        }

        pub fn rest<'c>(f: N<'c>) -> N<'c> {
            let code = f.code;
            let z = f * f;
            let tail = code.poly_f32(f, &[0.333_333_34, -0.249_999_45, 0.199_999_48, -0.166_733_16, 0.142_918_67, -0.122_887_22, 0.109_156_55, -0.124_222, 0.113_306_18]);
            ((f * z) * tail) - (code.f32(0.5) * z)
        }

        pub fn split<'c>(x: N<'c>) -> (N<'c>, N<'c>) {
            let code = x.code;
            let denormal = x.lt(code.f32(f32::MIN_POSITIVE));
            let bits = denormal.pick(x * code.f32(8_388_608.0), x).raw();
            let above = bits - code.u32(TWO_THIRDS);
            let k = (above.as_bits(Scalar::I32) >> code.u32(23)).cast(Scalar::F32) - denormal.pick(code.f32(23.0), code.f32(0.0));
            let m = ((above & code.u32(0x007f_ffff)) + code.u32(TWO_THIRDS)).as_bits(Scalar::F32);
            (k, m - code.f32(1.0))
        }

        pub fn with_ends<'c>(x: N<'c>, y: N<'c>) -> N<'c> {
            let code = x.code;
            let y = x.lt(code.f32(f32::INFINITY)).pick(y, x);
            let ends = x.eq(code.f32(0.0)).pick(code.f32(f32::NEG_INFINITY), code.f32(f32::NAN));
            x.gt(code.f32(0.0)).pick(y, ends)
        }
    }

    pub mod pow {
        use super::super::super::super::code::N;
        use crate::types::Scalar;

        pub const SHIFT: f64 = 6_755_399_441_055_744.0;

        pub fn exp2<'c>(x: N<'c>) -> N<'c> {
            let code = x.code;
            let x = super::super::round::double::within(x, code.f64(-200.0), code.f64(200.0));
            let shifted = x + code.f64(SHIFT + 1023.0);
            let r = (x - (shifted - code.f64(SHIFT + 1023.0))) * code.f64(std::f64::consts::LN_2);
            let tail = code.poly_f64(r, &[0.500_000_001_4, 0.166_666_666_8, 0.041_666_464_01, 0.008_333_310_824, 0.001_393_375_139, 0.000_198_911_034_2]);
            (code.f64(1.0) + (r + ((r * r) * tail))) * (shifted.raw() << code.u64(52)).as_bits(Scalar::F64)
        }

        pub fn log2<'c>(x: N<'c>) -> N<'c> {
            let code = x.code;
            let above = (x.raw() - code.u64((std::f64::consts::SQRT_2 * 0.5).to_bits())) + code.u64(1023 << 52);
            let k = ((above >> code.u64(52)) | code.u64(0x4330_0000_0000_0000)).as_bits(Scalar::F64) - code.f64(4_503_599_627_370_496.0 + 1023.0);
            let m = (above & code.u64(0x000f_ffff_ffff_ffff)) + code.u64((std::f64::consts::SQRT_2 * 0.5).to_bits());
            let f = m.as_bits(Scalar::F64) - code.f64(1.0);
            let s = f / (f + code.f64(2.0));
            let z = s * s;
            let tail = code.poly_f64(z, &[0.666_666_666_673_754_5, 0.399_999_987_968_486_75, 0.285_717_546_357_327_6, 0.221_913_944_931_750_58, 0.193_627_768_367_475_33]);
            k + (((code.f64(2.0) * s) + ((s * z) * tail)) * code.f64(std::f64::consts::LOG2_E))
        }

        pub fn powf<'c>(x: N<'c>, y: N<'c>) -> N<'c> {
            let code = x.code;
            let size = x.abs();
            let log = log2(size.cast(Scalar::F64));
            let log = size.gt(code.f32(0.0)).pick(log, code.f64(f64::NEG_INFINITY));
            let log = size.lt(code.f32(f32::INFINITY)).pick(log, code.f64(f64::INFINITY));
            let result = exp2(y.cast(Scalar::F64) * log).cast(Scalar::F32);
            let result = x.is_nan().pick(x, result);
            let whole = super::super::round::single::round_ties_even(y).eq(y);
            let half = y * code.f32(0.5);
            let odd = whole & super::super::round::single::round_ties_even(half).ne(half);
            let no_number = (x.lt(code.f32(0.0)) & x.gt(code.f32(f32::NEG_INFINITY))) & (!whole);
            let signed = odd.pick(result.copysign(x), result);
            let defined = no_number.pick(code.f32(f32::NAN), signed);
            ((y.eq(code.f32(0.0)) | x.eq(code.f32(1.0))) | (size.eq(code.f32(1.0)) & y.abs().eq(code.f32(f32::INFINITY)))).pick(code.f32(1.0), defined)
        }
    }

    pub mod root {
        use super::super::super::super::code::N;
        use crate::types::Scalar;

        pub fn cbrt<'c>(x: N<'c>) -> N<'c> {
            let code = x.code;
            let size = x.abs().cast(Scalar::F64);
            let near = super::super::root::cube_root_step(size, super::super::root::near_cube_root(size));
            let y = super::super::root::cube_root_step(size, near).cast(Scalar::F32).copysign(x);
            (x.ne(code.f32(0.0)) & x.abs().lt(code.f32(f32::INFINITY))).pick(y, x)
        }

        pub fn hypot<'c>(x: N<'c>, y: N<'c>) -> N<'c> {
            let code = x.code;
            let (a, b) = (x.cast(Scalar::F64), y.cast(Scalar::F64));
            let infinite = x.abs().eq(code.f32(f32::INFINITY)) | y.abs().eq(code.f32(f32::INFINITY));
            infinite.pick(code.f32(f32::INFINITY), ((a * a) + (b * b)).sqrt().cast(Scalar::F32))
        }

        pub fn rsqrt<'c>(x: N<'c>) -> N<'c> {
            let code = x.code;
            code.f32(1.0) / x.sqrt()
        }
    }

    pub mod trig {
        use super::super::super::super::code::N;
        use crate::types::Scalar;

        pub fn cos<'c>(x: N<'c>) -> N<'c> {
            let code = x.code;
            sin_from(x, code.u32(1))
        }

        pub fn near_0<'c>(r: N<'c>) -> (N<'c>, N<'c>) {
            let code = r.code;
            let z = r * r;
            let sin = code.poly_f32(z, &[-0.166_666_65, 0.008_332_748, -0.000_195_878_4]);
            let cos = code.poly_f32(z, &[0.041_666_664, -0.001_388_830_3, 0.000_024_547_892]);
            (r + ((r * z) * sin), code.f32(1.0) + (z * ((z * cos) - code.f32(0.5))))
        }

        pub fn sin<'c>(x: N<'c>) -> N<'c> {
            let code = x.code;
            let y = sin_from(x, code.u32(0));
            x.eq(code.f32(0.0)).pick(x, y)
        }

        pub fn sin_from<'c>(x: N<'c>, more: N<'c>) -> N<'c> {
            let code = x.code;
            let (quarters, r) = super::super::turns::quarter(x);
            let quarters = quarters + more;
            let (sin, cos) = near_0(r);
            let size = (quarters & code.u32(1)).eq(code.u32(0)).pick(sin, cos);
            (size.raw() ^ ((quarters & code.u32(2)) << code.u32(30))).as_bits(Scalar::F32)
        }

        pub fn tan<'c>(x: N<'c>) -> N<'c> {
            let code = x.code;
            let (quarters, r) = super::super::turns::quarter(x);
            let (sin, cos) = near_0(r);
            let odd = (quarters & code.u32(1)).eq(code.u32(1));
            let y = odd.pick(-cos, sin) / odd.pick(sin, cos);
            x.eq(code.f32(0.0)).pick(x, y)
        }
    }
}

pub mod turns {
    use super::super::super::code::N;
    use crate::types::Scalar;

    pub const SHIFT: f64 = 6_755_399_441_055_744.0;

    pub const SHIFT_4: f64 = 4.0 * SHIFT;

    pub const TWO_OVER_PI: [u64; 20] = [
        0xa2f9_836e_4e44_1529,
        0xfc27_57d1_f534_ddc0,
        0xdb62_9599_3c43_9041,
        0xfe51_63ab_debb_c561,
        0xb724_6e3a_424d_d2e0,
        0x0649_2eea_09d1_921c,
        0xfe1d_eb1c_b129_a73e,
        0xe882_35f5_2ebb_4484,
        0xe99c_7026_b45f_7e41,
        0x3991_d639_8353_39f4,
        0x9c84_5f8b_bdf9_283b,
        0x1ff8_97ff_de05_980f,
        0xef2f_118b_5a0a_6d1f,
        0x6d36_7ecf_27cb_09b7,
        0x4f46_3f66_9e5f_ea2d,
        0x7527_bac7_ebe5_f17b,
        0x3d07_39f7_8a52_92ea,
        0x6bfb_5fb1_1f8d_5d08,
        0x5603_3046_fc7b_6bab,
        0xf0cf_bc20_9af4_361d,
    ];

    pub const TWO_TO_MINUS: [f64; 4] = [
        f64::from_bits((1023 - 30) << 52),
        f64::from_bits((1023 - 62) << 52),
        f64::from_bits((1023 - 94) << 52),
        f64::from_bits((1023 - 126) << 52),
    ];

    pub const WHOLE: f64 = 4_503_599_627_370_496.0;

    pub fn float<'c>(x: N<'c>, bias: N<'c>) -> N<'c> {
        let code = x.code;
        (x | code.u64(0x4330_0000_0000_0000)).as_bits(Scalar::F64) - bias
    }

    pub fn low<'c>(x: N<'c>) -> N<'c> {
        let code = x.code;
        x & code.u64(0xffff_ffff)
    }

    pub const fn part(first: i32, count: u32) -> f64 {
        let last = first + count as i32 - 1;
        (window(first) >> (64 - count)) as f64 * f64::from_bits(((1023 - last) as u64) << 52)
    }

    pub fn part_for<'c, const AT: usize>(size: N<'c>) -> N<'c> {
        let code = size.code;
        let low = size.lt(code.f32(4_294_967_296.0)).pick(code.f64(const { parts(0)[AT] }), code.f64(const { parts(32 - 23)[AT] }));
        let high = size.lt(code.f32(7.922_816_3e28)).pick(code.f64(const { parts(64 - 23)[AT] }), code.f64(const { parts(96 - 23)[AT] }));
        size.lt(code.f32(18_446_744_073_709_551_616.0)).pick(low, high)
    }

    pub const fn parts(least: i32) -> [f64; 3] {
        let first = if least > 2 { least - 1 } else { 1 };
        [part(first, 29), part(first + 29, 29), part(first + 58, 53)]
    }

    pub fn product<'c>(x: N<'c>, [a, b, c]: [N<'c>; 3]) -> [N<'c>; 4] {
        let code = x.code;
        let w = [a >> code.u64(32), low(a), b >> code.u64(32), low(b), c >> code.u64(32), low(c)];
        let (x0, x1) = (low(x), x >> code.u64(32));
        let p = [w[0] * x0, w[1] * x0, w[2] * x0, w[3] * x0, w[4] * x0];
        let q = [code.u64(0), w[1] * x1, w[2] * x1, w[3] * x1, w[4] * x1, w[5] * x1];
        let column = |at: usize| (low(p[at]) + low(q[at + 1])) + (p[at + 1] >> code.u64(32));
        let s3 = column(3) + (q[5] >> code.u64(32));
        let s2 = (column(2) + (q[4] >> code.u64(32))) + (s3 >> code.u64(32));
        let s1 = (column(1) + (q[3] >> code.u64(32))) + (s2 >> code.u64(32));
        let s0 = (column(0) + (q[2] >> code.u64(32))) + (s1 >> code.u64(32));
        [low(s0), low(s1), low(s2), low(s3)]
    }

    pub fn quarter<'c>(x: N<'c>) -> (N<'c>, N<'c>) {
        let code = x.code;
        let (x, size) = (x.cast(Scalar::F64), x.abs());
        let first = x * part_for::<0>(size);
        let first = first - ((first + code.f64(SHIFT_4)) - code.f64(SHIFT_4));
        let (second, third) = (x * part_for::<1>(size), x * part_for::<2>(size));
        let shifted = ((first + second) + third) + code.f64(SHIFT);
        let beyond = ((first - (shifted - code.f64(SHIFT))) + second) + third;
        (shifted.raw().cast(Scalar::U32), (beyond * code.f64(std::f64::consts::FRAC_PI_2)).cast(Scalar::F32))
    }

    pub fn quarter_wide<'c>(x: N<'c>) -> (N<'c>, N<'c>, N<'c>) {
        let code = x.code;
        let size = x.abs();
        let bits = size.raw();
        let place = (bits >> code.u64(52)).saturating_sub(code.u64(1022));
        let integer = ((bits & code.u64(0x000f_ffff_ffff_ffff)) | code.u64(0x0010_0000_0000_0000)) << (place & code.u64(7));
        let [r0, r1, r2, r3] = product(integer, words(place));
        let top = r0 + code.u64(1 << 29);
        let quarters = (top >> code.u64(30)) & code.u64(3);
        let (a, b) = (float(top & code.u64(0x3fff_ffff), code.f64(WHOLE + 536_870_912.0)), float(r1, code.f64(WHOLE)));
        let (c, d) = (float(r2, code.f64(WHOLE)), float(r3, code.f64(WHOLE)));
        let (a, b) = (a * code.f64(TWO_TO_MINUS[0]), b * code.f64(TWO_TO_MINUS[1]));
        let high = a + b;
        let lost = b - (high - a);
        let rest = lost + ((c * code.f64(TWO_TO_MINUS[2])) + (d * code.f64(TWO_TO_MINUS[3])));
        let sum = high + rest;
        let (y, low) = times_quarter(sum, rest - (sum - high));
        let little = size.le(code.f64(std::f64::consts::FRAC_PI_4));
        let finite = size.lt(code.f64(f64::INFINITY)).pick(y, code.f64(f64::NAN));
        little.pick((code.u64(0), size, code.f64(0.0)), (quarters, finite, low))
    }

    pub fn times_quarter<'c>(high: N<'c>, low: N<'c>) -> (N<'c>, N<'c>) {
        let code = high.code;
        const LOW: f64 = 6.123_233_995_736_766e-17;
        let (product, lost) = super::pairs::product(high, code.f64(std::f64::consts::FRAC_PI_2));
        (product, lost + ((high * code.f64(LOW)) + (low * code.f64(std::f64::consts::FRAC_PI_2))))
    }

    pub const fn window(first: i32) -> u64 {
        let (word, bit) = ((first - 1).div_euclid(64), (first - 1).rem_euclid(64));
        let high = if word >= 0 { TWO_OVER_PI[word as usize] } else { 0 };
        let low = if word >= -1 { TWO_OVER_PI[(word + 1) as usize] } else { 0 };
        if bit == 0 { high } else { high << bit | low >> (64 - bit) }
    }

    use super::super::words;
}
