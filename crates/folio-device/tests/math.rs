//! The functions of `math` in loops: the same bits for every instruction set, and vectors
//! (semantics 5.8).

#![cfg(target_arch = "x86_64")]

use folio_device::math::{double, single};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Gives a macro the names of all functions, those of one argument first.
macro_rules! with_names {
    ($with:ident) => {
        $with! {
            exp exp2 exp_m1 ln log2 log10 ln_1p sin cos tan asin acos atan sinh cosh tanh cbrt rsqrt
            floor ceil trunc round round_ties_even;
            powf atan2 hypot
        }
    };
}

type Loop<T> = (&'static str, unsafe fn(&[T], &[T], &mut [T]));

/// A loop over each function, compiled with these features.
macro_rules! loops {
    ($set:ident, $float:ident, $module:ident, [$feature:meta]; $($one:ident)*; $($two:ident)*) => {
        mod $set {
            $(
                #[$feature]
                pub unsafe fn $one(x: &[$float], _: &[$float], out: &mut [$float]) {
                    out.iter_mut().zip(x).for_each(|(out, x)| *out = super::$module::$one(*x));
                }
            )*
            $(
                #[$feature]
                pub unsafe fn $two(x: &[$float], y: &[$float], out: &mut [$float]) {
                    for ((out, x), y) in out.iter_mut().zip(x).zip(y) {
                        *out = super::$module::$two(*x, *y);
                    }
                }
            )*
            pub const ALL: &[super::Loop<$float>] =
                &[$((stringify!($one), $one),)* $((stringify!($two), $two),)*];
        }
    };
}
macro_rules! all_loops {
    ($($names:tt)*) => {
        loops! { plain_single, f32, single, [inline(never)]; $($names)* }
        loops! { plain_double, f64, double, [inline(never)]; $($names)* }
        loops! { avx2_single, f32, single, [target_feature(enable = "avx2,fma")]; $($names)* }
        loops! { avx2_double, f64, double, [target_feature(enable = "avx2,fma")]; $($names)* }
        loops! { avx512_single, f32, single,
            [target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")]; $($names)* }
        loops! { avx512_double, f64, double,
            [target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")]; $($names)* }
    };
}
with_names! { all_loops }

/// Floats of all sizes, ordinary and special.
fn arguments(count: usize, mut state: u64) -> Vec<f64> {
    let special =
        [0.0, -0.0, 1.0, -1.0, 0.5, 1e-310, 1e-40, f64::INFINITY, -f64::INFINITY, f64::NAN];
    let mut next = || {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        let bits = state ^ state >> 29;
        let fraction = (bits >> 11) as f64 / 4_503_599_627_370_496.0 - 1.0;
        match bits % 5 {
            0 => f64::from_bits(state),
            1 => f64::from(f32::from_bits(bits as u32)),
            2 => special[(bits >> 8) as usize % special.len()],
            3 => fraction,
            _ => fraction * 200.0,
        }
    };
    (0..count).map(|_| next()).collect()
}

/// Asserts that two versions of the same loops give the same bits; NaN are equal.
fn agree<T: Copy + Default>(
    plain: &[Loop<T>],
    other: &[Loop<T>],
    x: &[T],
    y: &[T],
    bits: fn(T) -> u64,
) {
    for ((name, plain), (_, other)) in plain.iter().zip(other) {
        let (mut a, mut b) = (vec![T::default(); x.len()], vec![T::default(); x.len()]);
        // SAFETY: the caller has asked the processor for the features.
        unsafe { plain(x, y, &mut a) };
        // SAFETY: as above.
        unsafe { other(x, y, &mut b) };
        for (at, (a, b)) in a.iter().zip(&b).enumerate() {
            assert_eq!(bits(*a), bits(*b), "{name} of {:#x}, {:#x}", bits(x[at]), bits(y[at]));
        }
    }
}

#[test]
fn every_instruction_set_gives_the_same_bits() {
    // Odd counts, so that ends of loops are seen, too.
    let (x, y) = (arguments(20_011, 1), arguments(20_011, 2));
    let narrow = |v: &[f64]| v.iter().map(|x| *x as f32).collect::<Vec<_>>();
    let (narrow_x, narrow_y) = (narrow(&x), narrow(&y));
    let single_bits = |x: f32| u64::from(if x.is_nan() { 1 << 31 | 1 } else { x.to_bits() });
    let double_bits = |x: f64| if x.is_nan() { 1 << 63 | 1 } else { x.to_bits() };
    if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
        agree(plain_single::ALL, avx2_single::ALL, &narrow_x, &narrow_y, single_bits);
        agree(plain_double::ALL, avx2_double::ALL, &x, &y, double_bits);
    } else {
        println!("left out: AVX2, which this processor lacks");
    }
    let wide = is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512dq");
    if wide && is_x86_feature_detected!("avx512bw") && is_x86_feature_detected!("avx512vl") {
        agree(plain_single::ALL, avx512_single::ALL, &narrow_x, &narrow_y, single_bits);
        agree(plain_double::ALL, avx512_double::ALL, &x, &y, double_bits);
    } else {
        println!("left out: AVX-512, which this processor lacks");
    }
}

/// The source of loops over all functions that says nothing of vectors.
fn source() -> String {
    let module = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/math/mod.rs");
    let mut text = format!("#[path = {module:?}]\npub mod math;\n");
    let mut add = |name: &str, two: bool| {
        for (module, float) in [("single", "f32"), ("double", "f64")] {
            let call = if two { "x[k], y[k]" } else { "x[k]" };
            text += &format!(
                "#[unsafe(no_mangle)]\n\
                 pub fn {module}_{name}(x: &[{float}; 4096], y: &[{float}; 4096], out: &mut [{float}; 4096]) {{\n\
                 for k in 0..4096 {{ out[k] = math::{module}::{name}({call}); }}\n}}\n"
            );
        }
    };
    macro_rules! names {
        ($($one:ident)*; $($two:ident)*) => {
            $(add(stringify!($one), false);)*
            $(add(stringify!($two), true);)*
        };
    }
    with_names! { names }
    // The test has to find a call for each element.
    text + "#[unsafe(no_mangle)]\n\
        pub fn planted(x: &[f64; 4096], out: &mut [f64; 4096]) {\n\
        for k in 0..4096 { out[k] = x[k].sin(); }\n}\n"
}

/// Instructions of a function in a compiler's output.
fn body<'a>(assembly: &'a str, function: &str) -> Option<&'a str> {
    let rest = &assembly[assembly.find(&format!("\n{function}:\n"))?..];
    Some(&rest[..rest.find(".Lfunc_end")?])
}

/// Operations on whole vectors of AVX2, and calls.
fn vectors_and_calls(body: &str) -> (usize, usize) {
    let operation = |line: &str| line.split_whitespace().next().unwrap_or("").to_owned();
    let is_vector = |line: &&str| {
        let operation = operation(line);
        line.contains("%ymm")
            && (operation.ends_with("ps") || operation.ends_with("pd"))
            && ["vadd", "vsub", "vmul", "vdiv"].iter().any(|start| operation.starts_with(start))
    };
    let calls = body.lines().filter(|line| operation(line).starts_with("call"));
    (body.lines().filter(is_vector).count(), calls.count())
}

/// Each loop computes with whole vectors of AVX2 and calls nothing.
#[test]
fn compile_loops_and_find_vectors() {
    let dir = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let (from, to) = (dir.join("math_loops.rs"), dir.join("math_loops.s"));
    std::fs::write(&from, source()).unwrap();
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let ran = Command::new(rustc)
        .args(["--edition", "2024", "--crate-type", "lib", "--emit", "asm", "-A", "warnings"])
        .args(["-C", "opt-level=3", "-C", "target-feature=+avx2", "-C", "codegen-units=1", "-o"])
        .arg(&to)
        .arg(&from)
        .output()
        .unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let assembly = std::fs::read_to_string(&to).unwrap();
    let (mut count, mut wrong) = (0, vec![]);
    let both = plain_single::ALL.iter().flat_map(|(name, _)| [("single", name), ("double", name)]);
    for (module, name) in both {
        let (vectors, calls) =
            vectors_and_calls(body(&assembly, &format!("{module}_{name}")).unwrap());
        count += 1;
        println!("{module} {name}: {vectors} operations on vectors");
        if vectors == 0 || calls > 0 {
            wrong.push(format!("{module} {name}: {vectors} operations on vectors, {calls} calls"));
        }
    }
    assert!(wrong.is_empty() && count == 52, "{count} loops\n{}", wrong.join("\n"));
    let (vectors, calls) = vectors_and_calls(body(&assembly, "planted").unwrap());
    assert!(vectors == 0 && calls > 0, "a loop of calls passes for vectors");
}
