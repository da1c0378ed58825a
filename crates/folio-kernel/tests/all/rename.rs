//! Bodies under other names, and one kernel's parts added to another's.
#![allow(clippy::unwrap_used, reason = "tests may panic")]

use crate::common::{GROUPED, GUARDED, SAXPY, read};
use folio_kernel::rename::{Renamer, append};
use folio_kernel::{Kernel, Label, ParamId, Stmt, Type, verify::verify, walk};

/// Two kernels that use structs, arrays, variables, labels and places.
const PAIRS: &str = r#"
kernel "pairs" items 1 tile 1
type t0 = array f32 2
type t1 = struct "Pair" 12 4 ("a" t0 0, "b" i32 8)
param p0 = "x" view t1 1 in item
param p1 = "y" view f32 1 inout item
param p2 = "n" scalar i32
var v0 = "sum" t1
site @0 = "pairs.rs" 3 4
site @1 = "pairs.rs" 5 6 "odd"
body {
  %0 u64 = query position 0 0
  %1 t1 = load p0[%0] @0
  store v0 = %1
  %2 i32 = arg p2
  %3 i32 = const i32 0
  for l0 %4 in %3, %2 {
    %5 u64 = cast %4 u64
    %6 f32 = load v0.0.[%5] @0
    %7 bool = eq %4, %2
    if %7 {
      continue l0
    }
    store p1[%0] = %6 @0
  }
  %8 t0 = zero t0
  %9 t1 = make t1 (%8, %3)
  %10 i32 = part %9 1
  %11 bool = eq %10, %3
  assert %11 @1
}"#;

/// `first` with the parts of `second`, all parameters apart.
fn joined(first: &Kernel, second: &Kernel) -> (Kernel, Renamer) {
    let mut all = first.clone();
    let renamer = append(&mut all, second, &mut |into, _, param| {
        into.params.push(param);
        ParamId(into.params.len() as u32 - 1)
    });
    let body = renamer.body(&second.body);
    all.body.extend(body);
    (all, renamer)
}

#[test]
fn identity_changes_nothing() {
    for text in [SAXPY, GUARDED, GROUPED, PAIRS] {
        let kernel = read(text);
        assert_eq!(Renamer::identity(&kernel).body(&kernel.body), kernel.body);
    }
}

#[test]
fn joined_kernels_are_well_formed() {
    for (first, second) in [(SAXPY, PAIRS), (PAIRS, SAXPY), (PAIRS, PAIRS), (GROUPED, GROUPED)] {
        let (first, second) = (read(first), read(second));
        let (all, renamer) = joined(&first, &second);
        verify(&all).unwrap();
        assert_eq!(all.params.len(), first.params.len() + second.params.len());
        assert_eq!(all.labels, first.labels + second.labels);
        assert_eq!(renamer.values[0].index(), first.values.len());
        assert_eq!(all.sites[first.sites.len()..], second.sites);
    }
}

#[test]
fn equal_types_are_entered_once_and_others_are_renumbered() {
    let (first, second) = (
        read(PAIRS),
        read(&PAIRS.replace("array f32 2", "array f32 3").replace(
            r#""Pair" 12 4 ("a" t0 0, "b" i32 8)"#,
            r#""Pair" 16 4 ("a" t0 0, "b" i32 12)"#,
        )),
    );
    assert_eq!(joined(&first, &first).0.types, first.types);
    let (all, renamer) = joined(&first, &second);
    assert_eq!(all.types.all().len(), 4);
    assert_eq!(renamer.types, [Type::Composite(2), Type::Composite(3)]);
    verify(&all).unwrap();
}

/// A body whose `return` is a jump can be followed by another one.
#[test]
fn returns_become_breaks_outside_of_phases_only() {
    let kernel = read(GUARDED);
    let renamer = Renamer { exit: Some(Label(7)), ..Renamer::identity(&kernel) };
    let count = |body: &[Stmt]| {
        let mut found = (0, 0);
        walk(body, &mut |stmt| {
            found.0 += usize::from(matches!(stmt, Stmt::Return));
            found.1 += usize::from(matches!(stmt, Stmt::Break(Label(7))));
        });
        found
    };
    assert_eq!(count(&kernel.body), (1, 0));
    assert_eq!(count(&renamer.body(&kernel.body)), (0, 1));
    let phase = vec![Stmt::Phase { once: false, body: vec![Stmt::Return] }, Stmt::Return];
    assert_eq!(count(&renamer.body(&phase)), (1, 1));
}
