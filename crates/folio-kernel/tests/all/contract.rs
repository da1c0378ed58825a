//! Contraction of kernels that ask for it.

use crate::common::{SAXPY, read};
use folio_kernel::contract::contract;
use folio_kernel::verify::verify;

/// KRN-04: products that only a sum or difference uses are joined with it, and no others.
#[test]
fn products_are_joined_with_sums_and_differences() {
    let text = r#"kernel "sums" items 1 tile 1
param p0 = "x" view f32 1 in item
param p1 = "y" view f32 1 out item
body {
  %0 u64 = query position 0 0
  %1 f32 = load p0[%0]
  %2 f32 = mul %1, %1
  %3 f32 = add %1, %2
  %4 f32 = mul %1, %3
  %5 f32 = sub %4, %1
  %6 f32 = mul %5, %3
  %7 f32 = sub %1, %6
  %8 f32 = mul %7, %7
  %9 f32 = add %8, %8
  %10 f32 = add %9, %1
  store p1[%0] = %10
}
"#;
    let kernel = contract(read(text));
    verify(&kernel).unwrap();
    let lines: Vec<String> = kernel.to_string().lines().map(|l| l.trim().to_owned()).collect();
    let has = |what: &str| lines.iter().any(|line| line.contains(what));
    assert!(has("%3 f32 = fma %1, %1, %1"), "{kernel}");
    assert!(has("%11 f32 = neg %1") && has("%5 f32 = fma %1, %3, %11"), "{kernel}");
    assert!(has("%12 f32 = neg %5") && has("%7 f32 = fma %12, %3, %1"), "{kernel}");
    assert!(has("%9 f32 = add %8, %8"), "used twice: {kernel}");
    assert!(has("%10 f32 = add %9, %1"), "no product: {kernel}");
}

#[test]
fn integers_stay_and_so_does_everything_without_products() {
    let saxpy = read(SAXPY);
    let contracted = contract(saxpy.clone());
    assert_ne!(contracted, saxpy);
    assert_eq!(contract(contracted.clone()), contracted, "once is enough");
    let integers = read(&SAXPY.replace("f32", "i32"));
    assert_eq!(contract(integers.clone()), integers);
}
