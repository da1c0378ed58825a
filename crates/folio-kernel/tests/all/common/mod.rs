//! Kernels that several tests look at.

#![allow(dead_code, reason = "each test uses some of these")]

use folio_kernel::parse::parse;
use folio_kernel::{Kernel, verify::verify};

/// `y[i] = a * x[i] + y[i]`
pub const SAXPY: &str = r#"
kernel "saxpy" items 1 tile 1
param p0 = "a" scalar f32
param p1 = "x" view f32 1 in item
param p2 = "y" view f32 1 inout item
body {
  %0 f32 = arg p0
  %1 u64 = query position 0 0
  %2 f32 = load p1[%1]
  %3 f32 = mul %0, %2
  %4 f32 = load p2[%1]
  %5 f32 = add %3, %4
  store p2[%1] = %5
}"#;

/// A three-point stencil, guarded at its ends.
pub const GUARDED: &str = r#"
kernel "guarded" items 1 tile 1
param p0 = "x" view f32 1 in item
param p1 = "y" view f32 1 out item
body {
  %0 u64 = query position 0 0
  %1 u64 = extent p0 0
  %2 u64 = const u64 0
  %3 u64 = const u64 1
  %4 bool = eq %0, %2
  %5 u64 = add %0, %3
  %6 bool = ge %5, %1
  %7 bool = or %4, %6
  if %7 {
    %8 f32 = load p0[%0]
    store p1[%0] = %8
    return
  }
  %9 u64 = sub %0, %3
  %10 f32 = load p0[%9]
  %11 f32 = load p0[%5]
  %12 f32 = add %10, %11
  store p1[%0] = %12
}"#;

/// Sums of groups, by phases.
pub const GROUPED: &str = r#"
kernel "grouped" groups 1 tile 1
param p0 = "x" view f32 1 in item
param p1 = "sums" view f32 1 out group
param p2 = "all" reduce f32 add
param p3 = "scratch" local f32 256
var v0 = uniform "sum" f32
var v1 = "mine" f32
body {
  %0 u64 = query group_id 0 0
  phase {
    %1 u64 = query position 0 0
    %2 u64 = query local_id 0 0
    %3 f32 = load p0[%1]
    store v1 = %3
    store p3[%2] = %3
    contribute p2 = %3
  }
  collect reduce add %4 into v0 {
    %4 f32 = load v1
  }
  once {
    %5 f32 = load v0
    store p1[%0] = %5
  }
}"#;

/// A kernel in text, verified.
#[track_caller]
pub fn read(text: &str) -> Kernel {
    let verified = parse(text).map_err(|e| e.to_string()).and_then(|kernel| {
        verify(&kernel).map_err(|e| e.to_string())?;
        Ok(kernel)
    });
    assert!(verified.is_ok(), "{verified:?}\n{text}");
    verified.unwrap_or_else(|_| unreachable!())
}
