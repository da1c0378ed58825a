//! What analyses find out about kernels: bounds, boxes, halos, scopes (KRN-03, KRN-09).

use crate::common::{GROUPED, GUARDED, SAXPY, read};
use folio_kernel::access::{Scope, Summary, of_launch};
use folio_kernel::interval::Interval;
use folio_kernel::launch::Launch;
use folio_kernel::{ParamId, flow};

fn launch(offset: u64, range: u64, extents: &[u64]) -> Launch {
    Launch {
        range: [range, 1, 1],
        offset: [offset, 0, 0],
        group: [0; 3],
        extents: extents.iter().map(|n| [*n, 1, 1]).collect(),
        scalars: vec![],
    }
}

#[test]
fn accesses_at_the_own_item_are_proved() {
    let kernel = read(SAXPY);
    let used = of_launch(&kernel, &launch(0, 100, &[0, 100, 100]));
    let (x, y) = (&used.params[1], &used.params[2]);
    assert!(x.proved && x.read && !x.written && x.scope == Scope::Item);
    assert!(y.proved && y.read && y.written && y.scope == Scope::Item);
    assert_eq!(x.hull, Some(vec![Interval::new(0, 99)]));
    let used = of_launch(&kernel, &launch(5, 96, &[0, 100, 101]));
    assert!(!used.params[1].proved && used.params[2].proved);
}

/// A box, and whether it holds all reads: of the first parameter, in one dimension.
fn reads(of: &Summary, launch: &Launch) -> (Option<(u64, u64)>, bool) {
    let all = launch.extents[0];
    let reads = of.read_box(ParamId(0), &all, &|symbol| launch.symbol(symbol));
    (reads.ends.map(|ends| ends[0]), reads.proved)
}

#[test]
fn conditions_prove_what_they_guard() {
    let kernel = read(GUARDED);
    let used = of_launch(&kernel, &launch(0, 100, &[100, 100]));
    assert!(used.params[0].proved, "{used:?}");
    assert_eq!(used.params[0].scope, Scope::Anywhere);
    // Without the guard's branch, over the interior, too; and not over everything.
    let bare = read(&GUARDED.replacen("if %7", "if %4", 1));
    assert!(of_launch(&bare, &launch(1, 98, &[100, 100])).params[0].proved);
    assert!(!of_launch(&bare, &launch(1, 99, &[100, 100])).params[0].proved);
    let interior = flow::analyse(&kernel, &launch(1, 98, &[100, 100]));
    assert_eq!(interior.accesses.iter().filter(|a| a.never).count(), 2, "the guarded branch");
}

/// A kernel that reads `x` at the last of these values.
fn reading(values: &str) -> Summary {
    Summary::of(&read(&format!(
        "kernel \"k\" items 1 tile 1
        param p0 = \"x\" view f32 1 in item
        param p1 = \"at\" view u8 1 in item
        param p2 = \"n\" scalar i32
        body {{ %0 u64 = query position 0 0 %1 u64 = extent p0 0 %2 u64 = const u64 1 {values} }}"
    )))
}

/// KRN-09: what is held to limits at the border has the halo of what is not.
#[test]
fn limits_keep_the_halo() {
    let near =
        [launch(0, 20, &[100, 100]), launch(10, 20, &[100, 100]), launch(90, 10, &[100, 100])];
    let of = |values: &str| near.clone().map(|launch| reads(&reading(values), &launch));
    let found = |ends: [(u64, u64); 3]| ends.map(|ends| (Some(ends), true));
    // `x[i.max(1) - 1]`, `x[i.saturating_sub(1)]`
    let before = found([(0, 19), (9, 29), (89, 99)]);
    assert_eq!(of("%3 u64 = max %0, %2 %4 u64 = sub %3, %2 %5 f32 = load p0[%4]"), before);
    assert_eq!(of("%4 u64 = sat_sub %0, %2 %5 f32 = load p0[%4]"), before);
    // `x[(i + 1).min(x.len() - 1)]`
    let after = "%3 u64 = add %0, %2 %4 u64 = sub %1, %2 %5 u64 = min %3, %4 %6 f32 = load p0[%5]";
    assert_eq!(of(after), found([(1, 21), (11, 31), (91, 100)]));
    // `for k in -1..2 { x[(i as i32 + k).max(0) as usize] }`, and without the limit.
    let loops = |limit: &str| {
        format!(
            "%3 i32 = const i32 -1 %4 i32 = const i32 2 %5 i32 = cast %0 i32 %6 i32 = const i32 0
             for l0 %7 in %3, %4 {{
               %8 i32 = add %5, %7 {limit} %10 u64 = cast %9 u64 %11 f32 = load p0[%10]
             }}"
        )
    };
    let around = [(0, 21), (9, 31), (89, 100)];
    let open = of(&loops("%9 i32 = max %8, %6"));
    assert_eq!(open, [(Some(around[0]), true), (Some(around[1]), true), (Some(around[2]), false)]);
    let open = of(&loops("%9 i32 = add %8, %6"));
    assert_eq!(open, [(Some(around[0]), false), (Some(around[1]), true), (Some(around[2]), false)]);
    // With 64 bits, too: `for k in -1..2 { x[(i as isize + k) as usize] }`
    let wide = "%3 i64 = const i64 -1 %4 i64 = const i64 2 %5 i64 = cast %0 i64
        for l0 %6 in %3, %4 { %7 i64 = add %5, %6 %8 u64 = cast %7 u64 %9 f32 = load p0[%8] }";
    assert_eq!(of(wide), open);
    // `x[at[i] as usize % 10 + i]`, `x[at[i] as usize]`, of 8 bits; a scalar.
    let data = "%3 u8 = load p1[%0] %4 u64 = cast %3 u64 %5 u64 = const u64 10";
    let far = format!("{data} %6 u64 = rem %4, %5 %7 u64 = add %6, %0 %8 f32 = load p0[%7]");
    assert_eq!(of(&far)[1], (Some((10, 39)), true));
    assert_eq!(of(&format!("{data} %6 f32 = load p0[%4]"))[1], (Some((0, 100)), false));
    let mut long = launch(0, 10, &[1000, 10]);
    long.scalars = vec![None, None, Some(-7)];
    assert_eq!(
        reads(&reading(&format!("{data} %6 f32 = load p0[%4]")), &long),
        (Some((0, 256)), true)
    );
    let scalar = "%3 i32 = arg p2 %4 i32 = cast %0 i32 %5 i32 = sub %4, %3 %6 u64 = cast %5 u64
        %7 f32 = load p0[%6]";
    assert_eq!(reads(&reading(scalar), &long), (Some((7, 17)), true));
}

/// KRN-09: the halo and the box of a stencil.
#[test]
fn halos_and_boxes_are_derived() {
    let kernel = read(GUARDED);
    let summary = Summary::of(&kernel);
    assert_eq!(summary.halo(ParamId(0)), Some(vec![(-1, 1)]));
    assert_eq!(summary.halo(ParamId(1)), None, "it is not read");
    let part = launch(10, 20, &[100, 100]);
    assert_eq!(reads(&summary, &part), (Some((9, 31)), true));
    let end = launch(90, 10, &[100, 100]);
    assert_eq!(reads(&summary, &end), (Some((89, 100)), false));
    let gather =
        GUARDED.replace("%9 u64 = sub %0, %3", "%20 f32 = load p0[%0] %9 u64 = cast %20 u64");
    let summary = Summary::of(&read(&gather));
    assert_eq!(reads(&summary, &part), (Some((0, 100)), false));
    // `for k in i..i + 8 { for j in 0..k - 2 { .. x[j + 3] .. } }`
    let loops = GUARDED.replace(
        "%9 u64 = sub %0, %3",
        "%20 u64 = const u64 8 %21 u64 = add %0, %20 %22 u64 = const u64 0 %23 u64 = const u64 2
         %27 u64 = const u64 3
         for l0 %24 in %0, %21 {
           %25 u64 = sub %24, %23
           for l1 %26 in %22, %25 { %28 u64 = add %26, %27 %29 f32 = load p0[%28] }
         }
         %9 u64 = sub %0, %3",
    );
    let summary = Summary::of(&read(&loops));
    assert_eq!(reads(&summary, &part), (Some((3, 37)), true));
}

#[test]
fn loops_are_bounded_by_their_conditions() {
    let text = |index: &str| {
        format!(
            r#"kernel "loops" items 1 tile 1
type t0 = array f32 8
param p0 = "x" view f32 1 in item
param p1 = "y" view f32 1 inout item
var v0 = "n" u64
var v1 = "a" t0
body {{
  %0 u64 = query position 0 0 %1 u64 = const u64 0 %2 u64 = const u64 1 %3 u64 = const u64 8
  store v0 = %1
  loop l0 {{
    %4 u64 = load v0
    %5 bool = lt %4, %3
    if %5 {{ }} else {{ break l0 }}
    %6 u64 = load v0
    %7 f32 = load p0[%6]
    store v1.[{index}] = %7
    %8 u64 = add %6, %2
    store v0 = %8
  }}
  %9 u64 = const u64 16
  for l1 %10 in %1, %9 {{
    %11 u64 = const u64 1
    %12 u64 = shr %10, %11
    %13 f32 = load v1.[%12]
    store p1[%0] = %13
  }}
}}"#
        )
    };
    let kernel = read(&text("%6"));
    let used = of_launch(&kernel, &launch(0, 10, &[8, 10]));
    assert!(used.params[0].proved && used.arrays_proved, "{used:?}");
    assert_eq!(used.params[0].hull, Some(vec![Interval::new(0, 7)]));
    assert!(!of_launch(&kernel, &launch(0, 10, &[7, 10])).params[0].proved);
    assert!(!of_launch(&read(&text("%0")), &launch(0, 10, &[8, 10])).arrays_proved);
}

#[test]
fn groups_reach_their_own() {
    let mut at = launch(0, 512, &[512, 2, 0, 0]);
    at.group = [256, 1, 1];
    let scopes = |text: &str, at: &Launch| {
        let used = of_launch(&read(text), at);
        used.params.iter().map(|p| p.scope).collect::<Vec<_>>()
    };
    let found = scopes(GROUPED, &at);
    assert_eq!(found, [Scope::Item, Scope::Anywhere, Scope::Unused, Scope::Anywhere]);
    // Reversed within the group (FUSE-06's example): start + size - 1 - local.
    let reversed = GROUPED.replace(
        "%3 f32 = load p0[%1]",
        "%10 u64 = query group_size 0 0 %11 u64 = sub %1, %2 %12 u64 = add %11, %10
         %13 u64 = const u64 1 %14 u64 = sub %12, %13 %15 u64 = sub %14, %2 %3 f32 = load p0[%15]",
    );
    assert_eq!(scopes(&reversed, &at)[0], Scope::Group);
    let next = reversed.replace("const u64 1", "const u64 0");
    assert_eq!(scopes(&next, &at)[0], Scope::Anywhere);
    assert!(of_launch(&read(&reversed), &at).params[0].proved);
}

/// An item whose assertion fails takes part in later phases (semantics 1.5, 10.2), so these count.
#[test]
fn failed_assertions_end_their_phase_only() {
    let mut at = launch(0, 512, &[512, 2, 0, 0]);
    at.group = [256, 1, 1];
    let site = "site @0 = \"k.rs\" 1 1\nbody {";
    let never = GROUPED.replacen("body {", site, 1);
    let never = never.replacen("phase {", "phase { %20 bool = const bool 0 assert %20 @0", 1);
    let used = of_launch(&read(&never), &at);
    assert_eq!(used.params[1].scope, Scope::Anywhere);
    assert!(used.params[1].written && !used.params[0].read);
}

/// What is said of a sum with a constant is known of what is added to:
/// `if i + 1 != n { .. x[i + 1] .. }`.
#[test]
fn conditions_on_sums_prove_what_they_guard() {
    let kernel = read(
        r#"kernel "next" items 1 tile 1
param p0 = "x" view f32 1 in item
param p1 = "y" view f32 1 inout item
body {
  %0 u64 = query position 0 0 %1 u64 = const u64 1 %2 u64 = extent p0 0
  %3 u64 = add %0, %1
  %4 bool = ne %3, %2
  if %4 { %5 u64 = add %1, %0 %6 f32 = load p0[%5] store p1[%0] = %6 }
}"#,
    );
    assert!(of_launch(&kernel, &launch(0, 9, &[9, 9])).params[0].proved);
    assert!(!of_launch(&kernel, &launch(0, 10, &[9, 10])).params[0].proved);
    // From the greatest position the sum wraps, and says nothing of it.
    let last = launch(u64::MAX - 3, 4, &[9, 9]);
    assert!(!of_launch(&kernel, &last).params[0].proved);
}
