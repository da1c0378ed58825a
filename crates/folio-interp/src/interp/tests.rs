//! The interpreter against hand-computed results, section by section of `docs/semantics.md`.

use super::{Arg, Device, Order, Ran, Stop, run, run_like};
use folio_kernel::launch::Launch;
use folio_kernel::parse::parse;
use folio_kernel::{Kernel, ViolationKind, outputs, verify::verify};

fn read(text: &str) -> Kernel {
    let kernel = parse(text).map_err(|e| e.to_string());
    let checked = kernel.and_then(|kernel| {
        let fine = verify(&kernel).and_then(|()| outputs::check(&kernel));
        fine.map(|()| kernel).map_err(|e| e.to_string())
    });
    assert!(checked.is_ok(), "{checked:?}\n{text}");
    checked.unwrap_or_else(|_| unreachable!())
}

fn bytes<const N: usize>(of: &[[u8; N]]) -> Vec<u8> {
    of.concat()
}

fn f32s(values: &[f32]) -> Arg {
    let all: Vec<_> = values.iter().map(|x| x.to_le_bytes()).collect();
    Arg::View { extent: vec![values.len() as u64], bytes: bytes(&all) }
}

fn i32s(values: &[i32]) -> Arg {
    let all: Vec<_> = values.iter().map(|x| x.to_le_bytes()).collect();
    Arg::View { extent: vec![values.len() as u64], bytes: bytes(&all) }
}

fn launch(range: u64, group: u64) -> Launch {
    Launch { range: [range, 1, 1], group: [group, 1, 1], ..Launch::default() }
}

fn go(kernel: &Kernel, launch: &Launch, args: &mut [Arg]) -> Ran {
    run(kernel, launch, args, Order::Forward, 1_000_000).unwrap()
}

/// `y[i] = op(a[i], b[i])` over pairs, of a scalar type.
fn pairs(ty: &str, op: &str, a: &[i64], b: &[i64]) -> (Vec<i64>, Option<ViolationKind>) {
    let size = folio_kernel::Scalar::of_name(ty).unwrap().size() as usize;
    let view = |values: &[i64]| Arg::View {
        extent: vec![values.len() as u64],
        bytes: values.iter().flat_map(|x| x.to_le_bytes()[..size].to_vec()).collect(),
    };
    let text = format!(
        r#"kernel "pairs" items 1 tile 1
param p0 = "a" view {ty} 1 in item
param p1 = "b" view {ty} 1 in item
param p2 = "y" view {ty} 1 out item
body {{
  %0 u64 = query position 0 0 %1 {ty} = load p0[%0] %2 {ty} = load p1[%0]
  %3 {ty} = {op} %1, %2 store p2[%0] = %3
}}"#
    );
    let zeros = vec![0; a.len()];
    let mut args = [view(a), view(b), view(&zeros)];
    let ran = go(&read(&text), &launch(a.len() as u64, 0), &mut args);
    let Arg::View { bytes, .. } = &args[2] else { unreachable!() };
    let scalar = folio_kernel::Scalar::of_name(ty).unwrap();
    let value = |chunk: &[u8]| {
        let mut word = [0; 8];
        word[..size].copy_from_slice(chunk);
        scalar.int(u64::from_le_bytes(word)) as i64
    };
    (bytes.chunks(size).map(value).collect(), ran.failure.map(|f| f.kind))
}

fn same(ty: &str, op: &str, a: &[i64], b: &[i64], wanted: &[i64]) {
    assert_eq!(pairs(ty, op, a, b), (wanted.to_vec(), None), "{op} {ty}");
}

/// semantics 3.1, 3.2, 3.4
#[test]
fn integers_wrap_and_shifts_are_masked() {
    let (min, max) = (i64::from(i32::MIN), i64::from(i32::MAX));
    same("i32", "add", &[max, 1], &[1, 2], &[min, 3]);
    same("i32", "mul", &[max, 65536], &[2, 65536], &[-2, 0]);
    same("u8", "sub", &[3], &[4], &[255]);
    same("i32", "shl", &[1, 1, 1], &[31, 32, 33], &[min, 1, 2]);
    same("i32", "shl", &[1], &[-1], &[min]);
    same("i8", "shr", &[-128, -128], &[7, 9], &[-1, -64]);
    same("u8", "shr", &[128, 128], &[7, 9], &[1, 64]);
    same("u16", "rotate_left", &[0x8001, 5], &[1, 16], &[3, 5]);
    same("u16", "rotate_right", &[0x8001], &[1], &[0xc000]);
    same("i8", "sat_add", &[100, -100], &[100, -100], &[127, -128]);
    same("i64", "mul_hi", &[i64::MIN, -1], &[i64::MIN, 1], &[1 << 62, -1]);
    same("u64", "mul_hi", &[-1], &[-1], &[-2]);
    same("i8", "min", &[-1, 5], &[1, 3], &[-1, 3]);
    same("u8", "min", &[255], &[1], &[1]);
}

/// semantics 3.3, KRN-07: 0, and a failure.
#[test]
fn division_is_defined() {
    let min = i64::from(i32::MIN);
    same("i32", "div", &[7, -7, min], &[-2, 2, -1], &[-3, -3, min]);
    same("i32", "rem", &[7, -7, min], &[-2, 2, -1], &[1, -1, 0]);
    let by_zero = Some(ViolationKind::DivisionByZero);
    assert_eq!(pairs("i32", "div", &[5, 6], &[0, 3]), (vec![0, 2], by_zero.clone()));
    assert_eq!(pairs("u64", "rem", &[5, 6], &[0, 4]), (vec![0, 2], by_zero));
}

/// semantics 5.5, 5.6, by the bits.
#[test]
fn minima_of_floats_know_nan_and_signed_zeros() {
    let wanted = |a: f32, b: f32, op: &str, y: f32| {
        let (got, _) = pairs_f32(op, a, b);
        assert_eq!(got.to_bits(), y.to_bits(), "{op} {a} {b}");
    };
    for (a, b) in [(0.0, -0.0), (-0.0, 0.0)] {
        wanted(a, b, "min", -0.0);
        wanted(a, b, "max", 0.0);
    }
    for (a, b) in [(f32::NAN, 2.0), (2.0, f32::NAN)] {
        wanted(a, b, "min", 2.0);
        wanted(a, b, "max", 2.0);
    }
    wanted(-7.5, 2.0, "rem", -1.5);
    assert!(pairs_f32("min", f32::NAN, f32::NAN).0.is_nan());
    assert!(pairs_f32("rem", 1.0, 0.0).0.is_nan());
}

fn pairs_f32(op: &str, a: f32, b: f32) -> (f32, Option<ViolationKind>) {
    let text = format!(
        r#"kernel "pairs" items 1 tile 1
param p0 = "a" view f32 1 in item
param p1 = "y" view f32 1 inout item
body {{
  %0 u64 = query position 0 0 %1 f32 = load p0[%0] %2 f32 = load p1[%0]
  %3 f32 = {op} %1, %2 store p1[%0] = %3
}}"#
    );
    let mut args = [f32s(&[a]), f32s(&[b])];
    let ran = go(&read(&text), &launch(1, 0), &mut args);
    let Arg::View { bytes, .. } = &args[1] else { unreachable!() };
    let word = [bytes[0], bytes[1], bytes[2], bytes[3]];
    (f32::from_le_bytes(word), ran.failure.map(|f| f.kind))
}

/// semantics 4.1 to 4.4
#[test]
fn casts_saturate_extend_and_round_once() {
    let cast = |value: &str, from: &str, to: &str, wanted: &str| {
        let text = format!(
            r#"kernel "cast" items 1 tile 1
param p0 = "y" view {to} 1 inout item
site @0 = "k.rs" 1 1
body {{
  %0 {from} = const {from} {value} %1 {to} = cast %0 {to} %2 {to} = const {to} {wanted}
  %3 bool = eq %1, %2 assert %3 @0
}}"#
        );
        let size = folio_kernel::Scalar::of_name(to).unwrap().size() as usize;
        let mut args = [Arg::View { extent: vec![1], bytes: vec![0; size] }];
        assert_eq!(go(&read(&text), &launch(1, 0), &mut args).failure, None, "{value} {to}");
    };
    cast("-1", "i8", "u32", "4294967295");
    cast("255", "u8", "i8", "-1");
    cast("200", "u8", "i32", "200");
    cast("300.7", "f32", "u8", "255");
    cast("-300.7", "f32", "i8", "-128");
    cast("-3.9", "f64", "i32", "-3");
    cast("-3.9", "f64", "u64", "0");
    cast("0x7fc00000", "f32", "i32", "0");
    cast("0x7f800000", "f32", "i64", "9223372036854775807");
    cast("16777217", "i32", "f32", "16777216.0");
    cast("70000.0", "f32", "f16", "0x7c00");
    cast("-1", "i32", "f16", "0xbc00");
}

/// semantics 7.5, KRN-03: a violation touches nothing, reads zero, and is told.
#[test]
fn out_of_bounds_is_a_verdict() {
    let text = r#"kernel "gather" items 1 tile 1
param p0 = "at" view i32 1 in item
param p1 = "x" view f32 1 in item
param p2 = "y" view f32 1 out item
site @0 = "k.rs" 3 9
body {
  %0 u64 = query position 0 0 %1 i32 = load p0[%0] %2 u64 = cast %1 u64
  %3 f32 = load p1[%2] @0 store p2[%0] = %3
}"#;
    let mut args = [i32s(&[2, -1, 0]), f32s(&[1.0, 2.0, 3.0]), f32s(&[9.0, 9.0, 9.0])];
    let ran = go(&read(text), &launch(3, 0), &mut args);
    let failure = ran.failure.unwrap();
    let kind =
        ViolationKind::OutOfBounds { param: Some("x".into()), index: vec![-1], extent: vec![3] };
    assert_eq!((failure.kind, failure.site.unwrap().line), (kind, 3));
    assert_eq!(args[2], f32s(&[3.0, 0.0, 1.0]));
    assert_eq!(ran.touched[1], Some(vec![(0, u64::MAX)]));
}

const GROUPS: &str = r#"kernel "groups" groups 1 tile 1
param p0 = "x" view f32 1 in item
param p1 = "sums" view f32 1 out group
param p2 = "y" view f32 1 out item
param p3 = "total" reduce f32 add
param p4 = "scratch" local f32 4
var v0 = uniform "sum" f32
var v1 = "mine" f32
var v2 = "before" f32
body {
  %0 u64 = query group_id 0 0 %1 u64 = query group_size 0 0 %2 u64 = const u64 1
  phase {
    %3 u64 = query position 0 0 %4 u64 = query local_id 0 0 %5 f32 = load p0[%3]
    store v1 = %5 store p4[%4] = %5 contribute p3 = %5
  }
  collect reduce add %6 into v0 { %6 f32 = load v1 }
  collect exclusive_scan add %7 into v2 { %7 f32 = load v1 }
  once { %8 f32 = load v0 store p1[%0] = %8 }
  phase {
    %9 u64 = query position 0 0 %10 u64 = query local_id 0 0
    %11 u64 = sub %1, %10 %12 u64 = sub %11, %2 %13 f32 = load p4[%12] %14 f32 = load v2
    %15 f32 = add %13, %14 store p2[%9] = %15
  }
}"#;

/// semantics 1.3, 1.4, 7.4, 8.1 to 8.4
#[test]
fn groups_work_in_phases() {
    let kernel = read(GROUPS);
    for order in [Order::Forward, Order::Backward] {
        let x: Vec<_> = (1..=8).map(|x| x as f32).collect();
        let sum = Arg::Reduce(9f32.to_le_bytes().to_vec());
        let mut args = [f32s(&x), f32s(&[0.0; 2]), f32s(&[0.0; 8]), sum, Arg::Local];
        let ran = run(&kernel, &launch(8, 4), &mut args, order, 10_000).unwrap();
        assert_eq!(ran.failure, None);
        assert_eq!(args[1], f32s(&[10.0, 26.0]));
        // The scan before the item, plus the mirrored item's.
        assert_eq!(args[2], f32s(&[4.0, 4.0, 5.0, 7.0, 8.0, 12.0, 17.0, 23.0]));
        assert_eq!(args[3], Arg::Reduce(36f32.to_le_bytes().to_vec()));
    }
}

/// semantics 11.1, 11.2: of groups of five items in sub-groups of three and two; and alone.
#[test]
fn subgroups_do_things_together() {
    let text = r#"
kernel "subgroups" groups 1 tile 1
type t0 = array u32 8
param p0 = "x" view u32 1 in item
param p1 = "y" view t0 1 out item
body {
  phase {
    %0 u64 = query position 0 0 %1 u32 = load p0[%0] %2 u32 = const u32 1 %3 u32 = const u32 2
    %4 u32 = subgroup_fold reduce add %1 %5 u32 = subgroup_fold inclusive_scan add %1
    %6 u32 = subgroup_fold exclusive_scan mul %1 %7 u32 = subgroup broadcast (%1, %3)
    %8 u32 = subgroup shuffle_xor (%1, %2) %9 bool = gt %1, %3 %10 bool = subgroup any (%9)
    %11 bool = subgroup all (%9) %12 u32 = cast %10 u32 %13 u32 = cast %11 u32
    %14 u64 = query lane 0 0 %15 u64 = query subgroup 0 0 %16 u64 = query subgroup_size 0 0
    %17 u64 = add %14, %15 %18 u64 = add %17, %16 %19 u32 = cast %18 u32
    %20 t0 = make t0 (%4, %5, %6, %7, %8, %12, %13, %19) store p1[%0] = %20
  }
}"#;
    let kernel = read(text);
    let zeros = || Arg::View { extent: vec![5], bytes: vec![0; 5 * 32] };
    for (width, wanted) in [
        (
            3,
            [
                [6, 1, 1, 3, 2, 1, 0, 3],
                [6, 3, 1, 3, 1, 1, 0, 4],
                [6, 6, 2, 3, 3, 1, 0, 5],
                [9, 4, 1, 4, 5, 1, 1, 4],
                [9, 9, 4, 5, 4, 1, 1, 5],
            ],
        ),
        (
            1,
            [
                [1, 1, 1, 1, 1, 0, 0, 1],
                [2, 2, 1, 2, 2, 0, 0, 2],
                [3, 3, 1, 3, 3, 1, 1, 3],
                [4, 4, 1, 4, 4, 1, 1, 4],
                [5, 5, 1, 5, 5, 1, 1, 5],
            ],
        ),
    ] {
        for order in [Order::Forward, Order::Backward] {
            let mut args = [i32s(&[1, 2, 3, 4, 5]), zeros()];
            let device = Device { width, ..Device::default() };
            let ran = run_like(&kernel, &launch(5, 5), &mut args, order, device, 10_000);
            assert_eq!(ran.unwrap().failure, None);
            let wanted: Vec<_> =
                wanted.as_flattened().iter().map(|x: &u32| x.to_le_bytes()).collect();
            assert_eq!(args[1], Arg::View { extent: vec![5], bytes: bytes(&wanted) }, "{width}");
        }
    }
}

/// semantics 8.1, 8.4: the order can be seen with floats.
#[test]
fn reductions_have_a_fixed_tree() {
    use super::fold::{launch, scan, tree};
    use folio_kernel::{Combine, Fold, Scalar};
    let bits = |values: &[f32]| values.iter().map(|x| x.to_bits().into()).collect::<Vec<u64>>();
    let value = |bits: u64| f32::from_bits(bits as u32);
    let big = 16_777_216.0f32;
    // ((big + -big) + (1 + 0)): neighbours at distance 2 first.
    let x = bits(&[big, 1.0, -big, 0.0]);
    assert_eq!(value(tree(Combine::Add, Scalar::F32, &x)), 1.0);
    // ((big + 1) + -big): at distance 1 first, 1 would be lost.
    let x = bits(&[big, -big, 1.0, 0.0]);
    assert_eq!(value(tree(Combine::Add, Scalar::F32, &x)), 0.0);
    // Lane 0 of 256 has items 0, 256, 512.
    let mut x = vec![0.0f32; 600];
    (x[0], x[256], x[512]) = (big, 1.0, -big);
    assert_eq!(value(launch(Combine::Add, Scalar::F32, &bits(&x))), 0.0);
    (x[256], x[512]) = (-big, 1.0);
    assert_eq!(value(launch(Combine::Add, Scalar::F32, &bits(&x))), 1.0);
    let ones = vec![1u64; 10_000];
    assert_eq!(launch(Combine::Add, Scalar::U64, &ones), 10_000);
    assert_eq!(launch(Combine::Min, Scalar::I8, &[]), 127);
    let x = [3u64, 1, 4, 1, 5];
    assert_eq!(scan(Fold::Inclusive, Combine::Add, Scalar::U64, &x), [3, 4, 8, 9, 14]);
    assert_eq!(scan(Fold::Exclusive, Combine::Max, Scalar::U8, &x), [0, 3, 3, 4, 4]);
}

/// semantics 6.1, 6.2, 1.5: loops, and what leaves them.
#[test]
fn loops_and_exits() {
    let text = |exit: &str| {
        format!(
            r#"kernel "loops" items 1 tile 1
param p0 = "y" view i32 1 inout item
var v0 = "n" i32
body {{
  %0 u64 = query position 0 0 %1 i32 = const i32 0 %2 i32 = const i32 10 %3 i32 = const i32 3
  block l0 {{
    for l1 %4 in %1, %2 {{
      %5 i32 = rem %4, %3 %6 bool = ne %5, %1
      if %6 {{ continue l1 }}
      %7 i32 = load v0 %8 i32 = add %7, %4 store v0 = %8
      %9 bool = ge %4, %3
      if %9 {{ {exit} }}
    }}
    %10 i32 = const i32 100 %11 i32 = load v0 %12 i32 = add %11, %10 store v0 = %12
  }}
  %13 i32 = load v0 store p0[%0] = %13
}}"#
        )
    };
    let result = |exit: &str| {
        let mut args = [i32s(&[-5])];
        go(&read(&text(exit)), &launch(1, 0), &mut args);
        let wanted = [-5, 3, 103, 118].into_iter().find(|y| args[0] == i32s(&[*y]));
        wanted.unwrap_or(0)
    };
    assert_eq!(result("break l0"), 3);
    assert_eq!(result("break l1"), 103);
    assert_eq!(result("continue l1"), 118);
    assert_eq!(result("return"), -5);
    let text = r#"kernel "forever" items 1 tile 1
body { loop l0 { } }"#;
    let stopped = run(&read(text), &launch(1, 0), &mut [], Order::Forward, 1000);
    assert_eq!(stopped, Err(Stop::Budget));
}

/// semantics 10.1, 10.2, KRN-07: place and message of an `assert!`, and what it ends.
#[test]
fn asserts_end_their_item() {
    let text = r#"kernel "asserts" items 1 tile 1
param p0 = "y" view i32 1 inout item
site @0 = "k.rs" 7 5 "negative"
body {
  %0 u64 = query position 0 0 %1 i32 = load p0[%0] %2 i32 = const i32 0 %3 bool = ge %1, %2
  assert %3 @0
  store p0[%0] = %2
}"#;
    let mut args = [i32s(&[4, -3, 2])];
    let ran = go(&read(text), &launch(3, 0), &mut args);
    let failure = ran.failure.unwrap();
    assert_eq!(failure.kind, ViolationKind::Assertion);
    assert_eq!(failure.site.unwrap().message.as_deref(), Some("negative"));
    assert_eq!(args[0], i32s(&[0, -3, 0]));
}

/// semantics 9.1: atomics give the old value.
#[test]
fn atomics_give_what_was_there() {
    let text = |op: &str, args: &str| {
        format!(
            r#"kernel "atomics" items 1 tile 1
param p0 = "a" view i32 1 inout atomic
param p1 = "y" view i32 1 out item
body {{
  %0 u64 = query position 0 0 %1 u64 = const u64 0 %2 i32 = const i32 5 %3 i32 = const i32 9
  %4 i32 = atomic {op} p0[%1] ({args}) store p1[%0] = %4
}}"#
        )
    };
    let check = |op: &str, args: &str, after: i32, old: [i32; 2]| {
        let mut all = [i32s(&[5]), i32s(&[0, 0])];
        let ran = go(&read(&text(op, args)), &launch(2, 0), &mut all);
        assert_eq!((ran.failure, &all[0], &all[1]), (None, &i32s(&[after]), &i32s(&old)), "{op}");
    };
    check("load", "", 5, [5, 5]);
    check("add", "%2", 15, [5, 10]);
    check("sub", "%3", -13, [5, -4]);
    check("max", "%3", 9, [5, 9]);
    check("and", "%3", 1, [5, 1]);
    check("exchange", "%3", 9, [5, 9]);
    check("compare_exchange", "%2, %3", 9, [5, 9]);
}

/// Arguments that do not fit are refused, and nothing runs.
#[test]
fn arguments_fit() {
    let kernel = read(GROUPS);
    let x = f32s(&[0.0; 6]);
    let reduce = Arg::Reduce(vec![0; 4]);
    let mut args = [x.clone(), x.clone(), x, reduce, Arg::Local];
    let refused = |l: &Launch, args: &mut [Arg]| {
        matches!(run(&kernel, l, args, Order::Forward, 10), Err(Stop::Arguments(_)))
    };
    assert!(refused(&launch(6, 4), &mut args), "no multiple");
    assert!(refused(&launch(6, 0), &mut args), "no group");
    assert!(refused(&launch(6, 3), &mut args[..4]), "too few");
    args[4] = Arg::Scalar(vec![]);
    assert!(refused(&launch(6, 3), &mut args), "of another kind");
}
