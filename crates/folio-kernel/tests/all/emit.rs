//! Emitted C: small kernels as they look, what is refused, what arguments become, what records
//! mean.
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

use crate::common::{GROUPED, GUARDED, SAXPY, read};
use folio_kernel::code::ParamPtr;
use folio_kernel::emit::{
    Capabilities, Cut, Dialect, Feature, Form, Grid, Module, Record, Texts, Threads, Word, emit,
    emit_abreast, is_narrow,
};
use folio_kernel::parse::parse;
use folio_kernel::tile::{items_per_thread, tile};
use folio_kernel::{
    Access, Atomic, Binary, Builder, Kernel, Owner, ParamKind, Place, Scalar, Site, ViolationKind,
};
use std::path::PathBuf;

/// A product and its sum, fused.
const DOT: &str = r#"kernel "dot" items 1 tile 1
param p0 = "x" view f32 1 in item
param p1 = "y" view f32 1 in item
param p2 = "total" reduce f32 add
body {
  %0 u64 = query position 0 0
  %1 f32 = load p0[%0]
  %2 f32 = load p1[%0]
  %3 f32 = mul %1, %2
  contribute p2 = %3
}"#;

fn capabilities(dialect: Dialect) -> Capabilities {
    match dialect {
        Dialect::OpenCl => Capabilities::LEAST,
        Dialect::Cuda => Capabilities::CUDA,
    }
}

fn text_of(kernel: &Kernel, dialect: Dialect, checked: bool) -> Module {
    emit(kernel, Form::new(dialect, checked), &capabilities(dialect)).unwrap()
}

/// The files in `tests/emit` are what is emitted; `FOLIO_BLESS=1` writes them anew.
#[test]
fn kernels_look_like_this() {
    let all = [
        ("saxpy", SAXPY),
        ("saxpy_of_several", SAXPY),
        ("saxpy_of_rows", SAXPY),
        ("sums_of_rows", &sums("const u64 9", "store v0 = %7")),
        ("guarded", GUARDED),
        ("guarded_of_rows", GUARDED),
        ("grouped", GROUPED),
        ("dot", DOT),
    ];
    for (name, text) in all {
        let kernel = read(text);
        for (dialect, ending) in [(Dialect::OpenCl, "cl"), (Dialect::Cuda, "cu")] {
            let checked = name == "guarded";
            let file = format!("{}/tests/emit/{name}.{ending}", env!("CARGO_MANIFEST_DIR"));
            let texts = |cut| Texts::of(&kernel, dialect, &capabilities(dialect), cut).unwrap();
            let found = match name {
                "saxpy_of_several" => {
                    texts(Cut::Gpu).several([1, 1, 1 << 20], 1).unwrap().0.text.clone()
                }
                "saxpy_of_rows" | "sums_of_rows" => texts(Cut::Cpu).text(true).text.clone(),
                "dot" => texts(Cut::Gpu).text(true).text.clone(),
                "guarded_of_rows" => texts(Cut::Cpu).text(false).text.clone(),
                _ => text_of(&kernel, dialect, checked).text,
            };
            if std::env::var_os("FOLIO_BLESS").is_some() {
                std::fs::write(&file, &found).unwrap();
            }
            let wanted = std::fs::read_to_string(PathBuf::from(&file)).unwrap();
            assert_eq!(found, wanted.replace("\r\n", "\n"), "{file}");
        }
    }
}

/// Branches on CPUs have no barrier where that can be behind them: PoCL's compiler takes twice as
/// long for each.
#[test]
fn barriers_are_behind_branches() {
    let before = "kernel \"k\" groups 1 tile 1\nparam p0 = \"x\" view u32 1 in item\n\
        param p1 = \"y\" view u32 1 out item\nparam p2 = \"t\" local u32 64\nsite @0 = \"k.rs\" 1 1\nbody {\n\
        %0 u64 = query group_id 0 0\n%1 u32 = load p0[%0]\n%2 u32 = const u32 0\n\
        %3 bool = eq %1, %2\n%9 u64 = const u64 0\n";
    let phase =
        |at: u32| format!("phase {{\n%{at} u64 = query local_id 0 0\nstore p2[%{at}] = %1\n}}\n");
    let (one, two) = (phase(4), phase(5));
    let look = "%6 u32 = load p2[%9]\n%7 bool = eq %6, %2\n";
    let read_all = "phase {\n%8 u64 = query position 0 0\n%10 u64 = query local_id 0 0\n\
        %11 u32 = load p2[%10]\nstore p1[%8] = %11\n}\n}";
    let form = Form { rows: true, ..Form::new(Dialect::OpenCl, false) };
    let emitted = |branch: &str| {
        let kernel = read(&format!("{before}{branch}{read_all}"));
        emit(&kernel, form, &Capabilities::LEAST).unwrap().text
    };
    let is_turns = |text: &str| text.contains("volatile");
    // How far in each is.
    let barriers = |text: &str| -> Vec<usize> {
        let lines = text.lines().filter(|line| line.trim() == "BARRIER;");
        lines.map(|line| line.len() - line.trim_start().len()).collect()
    };
    let plain = emitted(&one);
    let behind = [
        format!("if %3 {{\n{one}}}\n"),
        format!("if %3 {{\n{one}}} else {{\n{two}}}\n"),
        format!("if %3 {{\nif %3 {{\n{one}}}\n}}\n"),
    ];
    for branch in &behind {
        let text = emitted(branch);
        assert!(!is_turns(&text) && text.contains("  if (t3) {"), "{text}");
        assert_eq!(barriers(&text), barriers(&plain), "{text}");
    }
    // Two phases; what the branch itself has seen of what its phase writes; ways out.
    let within = [
        format!("if %3 {{\n{one}{two}}}\n"),
        format!("if %3 {{\n{look}{one}}}\n"),
        format!("block l0 {{\nif %3 {{\nif %3 {{\nbreak l0\n}}\n{one}}}\n}}\n"),
        format!("if %3 {{\nif %3 {{\nreturn\n}}\n{one}}}\n"),
        format!("if %3 {{\nassert %3 @0\n{one}}}\n"),
    ];
    for branch in &within {
        let text = emitted(branch);
        assert!(is_turns(&text) && barriers(&text).iter().any(|far| *far > 2), "{text}");
    }
    // What was seen before a branch is not written before everybody has seen it.
    let text = emitted(&format!("{one}{look}if %7 {{\n{two}}}\n"));
    let seen = &text[text.find("= t_p2[").unwrap()..];
    assert!(seen.find("BARRIER;").unwrap() < seen.find("if (").unwrap(), "{text}");
}

/// Several items of a thread are a block's width apart, which may be known; their loads come first.
#[test]
fn several_items_of_a_thread() {
    let kernel = read(SAXPY);
    let tiled = tile(&kernel, items_per_thread(&kernel).unwrap()).unwrap();
    let form = Form { width: Some(256), ..Form::new(Dialect::Cuda, false) };
    let text = emit(&tiled, form, &Capabilities::CUDA).unwrap().text;
    assert!(text.contains("const u64 pos0_3 = own + 256 * 3;"), "{text}");
    let at = |what: &str| text.rfind(what).unwrap();
    assert!(at("= x_p1[") < text.find("y_p2[pos0_0 - y_p2_low0] = ").unwrap(), "{text}");
    assert_eq!(items_per_thread(&read(GROUPED)), None, "of a kernel of groups");
    assert_eq!(items_per_thread(&tiled), None, "twice");
}

/// GPUs compute positions in 32 bits, where no test needs more.
#[test]
fn positions_of_32_bits() {
    let gpu = |checked: bool| {
        let texts = Texts::of(&read(SAXPY), Dialect::Cuda, &Capabilities::CUDA, Cut::Gpu);
        let texts: Texts<Module> = texts.unwrap();
        texts.text(!checked).text.clone()
    };
    assert!(gpu(false).contains("const u64 pos0 = (u32)(first0 + "), "{}", gpu(false));
    assert!(!gpu(true).contains("(u32)("), "{}", gpu(true));
}

/// An exchange takes a GPU more than a store does.
#[test]
fn exchanges_whose_answer_is_not_used_are_stores() {
    let exchange = |used: &str| {
        let kernel = read(&format!(
            r#"kernel "puts" items 1 tile 1
            param p0 = "x" view u32 1 inout atomic
            param p1 = "y" view u32 1 inout item
            body {{
              %0 u64 = query position 0 0
              %1 u32 = const u32 7
              %2 u32 = atomic exchange p0[%0] (%1)
              {used}
            }}"#
        ));
        let text = text_of(&kernel, Dialect::Cuda, true).text;
        (text.contains("atomicExch("), text.contains("*(volatile u32 *)&x_p0["))
    };
    assert_eq!(exchange(""), (false, true));
    assert_eq!(exchange("store p1[%0] = %2"), (true, false));
}

/// Sums of one launch share the barriers of their trees.
#[test]
fn trees_of_reductions_share_their_steps() {
    let barriers = |more: &str, gives: &str| {
        let kernel = read(&format!(
            r#"kernel "sums" items 1 tile 1
            param p0 = "x" view f32 1 in item
            param p1 = "sum" reduce f32 add
            {more}
            body {{
              %0 u64 = query position 0 0
              %1 f32 = load p0[%0]
              contribute p1 = %1
              {gives}
            }}"#
        ));
        let text = text_of(&kernel, Dialect::Cuda, false).text;
        let entry = text.split("_finish_").next().unwrap().matches("BARRIER;").count();
        (entry, text.matches("own1 = ").count() > 0)
    };
    let (one, two) =
        (barriers("", ""), barriers("param p2 = \"most\" reduce f32 max", "contribute p2 = %1"));
    assert_eq!((one.0, one.1, two.1), (two.0, false, true));
    assert!(one.0 > 0);
}

#[test]
fn launches_that_are_narrow() {
    let param = |dims: [usize; 3], extent: [usize; 3], shape: [usize; 3], index: [usize; 3]| {
        ParamPtr { base: std::ptr::null_mut(), dims, origin: [0; 3], extent, index, shape }
    };
    let all = |dims: [usize; 3]| param(dims, dims, dims, [0; 3]);
    let (few, half) = ([1, 1, 100], 1 << 31);
    for (range, offset, of, narrow) in [
        (few, [0; 3], all([1, 1, half - 1]), true),
        (few, [0; 3], all([1, 1, half + 1]), false),
        (few, [0; 3], all([2, 1 << 10, 1 << 20]), true),
        (few, [0; 3], all([2, 1 << 11, 1 << 20]), false),
        // Far apart, of which one row is accessed, and two.
        (few, [0; 3], param([1, 9, 1 << 40], [1, 1, 9], [1, 1, 9], [0; 3]), true),
        (few, [0; 3], param([1, 9, 1 << 40], [1, 2, 9], [1, 2, 9], [0; 3]), false),
        (few, [0; 3], param([usize::MAX; 3], [2; 3], [2; 3], [0; 3]), false),
        // Nothing is accessed of what has no elements.
        (few, [0; 3], param([0, 1, 1 << 20], [0, 1, 1 << 20], [0, 1, half], [0; 3]), false),
        (few, [0; 3], param([0, 1, 1 << 20], [0, 1, 1 << 20], [0, 1, 9], [0; 3]), true),
        (few, [0; 3], param(few, few, few, [half, 0, 0]), false),
        ([1, 1, half], [0; 3], all(few), false),
        ([1, 1 << 16, 1 << 16], [0; 3], all(few), false),
        (few, [0, 0, half - 1000], all(few), false),
        (few, [0, 0, usize::MAX], all(few), false),
    ] {
        assert_eq!(is_narrow(range, offset, [of]), narrow, "{range:?} {offset:?} {of:?}");
    }
}

/// Arrays of a thread are in registers where each index is known: on GPUs, with tests or without.
#[test]
fn few_turns_over_an_array_are_written_down() {
    let unrolled = |turns: u64, form: Form| {
        let kernel = read(&format!(
            r#"kernel "keeps" items 1 tile 1
            type t0 = array f32 40
            param p0 = "x" view f32 1 in item
            param p1 = "y" view f32 1 inout item
            var v0 = "own" t0
            body {{
              %0 u64 = query position 0 0
              %1 u64 = const u64 0
              %2 u64 = const u64 {turns}
              for l0 %3 in %1, %2 {{
                %4 f32 = load p0[%3]
                %5 f32 = sin %4
                store v0[%3] = %5
              }}
              %6 f32 = load v0[%0]
              store p1[%0] = %6
            }}"#
        ));
        emit(&kernel, form, &Capabilities::LEAST).unwrap().text.contains("#pragma unroll\n")
    };
    for checked in [true, false] {
        let form = Form::new(Dialect::OpenCl, checked);
        assert!(unrolled(16, form) && !unrolled(17, form));
        assert!(!unrolled(16, Form { rows: true, ..form }));
    }
}

/// A sum for each item, of as many turns of a loop as `end` says, which end with `turn`.
fn sums(end: &str, turn: &str) -> String {
    format!(
        r#"kernel "sums" items 1 tile 1
        param p0 = "x" view f32 2 in item
        param p1 = "y" view f32 1 inout item
        var v0 = "sum" f32
        body {{
          %0 u64 = query position 0 0
          %1 f32 = const f32 0
          store v0 = %1
          %2 u64 = const u64 0
          %3 u64 = {end}
          for l0 %4 in %2, %3 {{
            %5 f32 = load p0[%4, %0]
            %6 f32 = load v0
            %7 f32 = add %5, %6
            {turn}
          }}
          %8 f32 = load v0
          store p1[%0] = %8
        }}"#
    )
}

/// A loop of equal turns, in which neighbours compute with floats and nothing else, is one for
/// eight of them on CPUs.
#[test]
fn neighbours_share_a_loop() {
    let items = |text: &str, cut| {
        let kernel = read(text);
        let texts = Texts::of(&kernel, Dialect::OpenCl, &Capabilities::LEAST, cut).unwrap();
        let [proved, checked] = [true, false].map(|proved| texts.text(proved).text.clone());
        assert!(!checked.contains("turn += "), "{checked}");
        assert_eq!(
            proved.matches("for (u64 k4").count(),
            if proved.contains("turn +=") { 2 } else { 1 }
        );
        [8, 1].into_iter().find(|n| proved.contains(&format!("turn += {n}"))).unwrap_or(1)
    };
    let stores = "store v0 = %7";
    for end in ["const u64 9", "extent p0 0", "query range 0 0"] {
        assert_eq!(items(&sums(end, stores), Cut::Cpu), 8, "{end}");
        assert_eq!(items(&sums(end, stores), Cut::Gpu), 1, "{end}");
    }
    // As many turns as the item says; not only sums; a vector of each turn's would be calls; a way
    // out.
    let own = sums("query position 0 0", stores);
    let branch = sums("const u64 9", "%9 bool = lt %5, %6 if %9 { store v0 = %7 } else { }");
    let call = sums("const u64 9", "%9 f32 = sin %7 store v0 = %9");
    let leaves = sums("const u64 9", "%9 bool = lt %5, %6 if %9 { break l0 } else { }");
    let counts = sums("const u64 9", stores).replace("f32", "i32");
    // What each item has beside that is much, so that eight have too much for a thread.
    let of = |elements| {
        let ty = format!("type t0 = array f32 {elements}\n");
        let param = "param p2 = \"z\" view t0 1 inout item\nvar v0";
        let moved = "%0 u64 = query position 0 0 %20 t0 = load p2[%0] store p2[%0] = %20";
        let text = sums("const u64 9", stores).replace("var v0", param);
        let text = text.replace("param p0", &format!("{ty}param p0"));
        text.replace("%0 u64 = query position 0 0", moved)
    };
    assert_eq!(items(&of(16), Cut::Cpu), 8);
    for text in [own, branch, call, leaves, counts, of(100)] {
        assert_eq!(items(&text, Cut::Cpu), 1, "{text}");
    }
}

/// What is left of a row is computed one by one, in a text that has each label once.
#[test]
fn labels_are_of_one_part() {
    let leaves =
        "block l1 { %9 bool = const bool 1 if %9 { for l2 %10 in %2, %3 { break l1 } } else { } }";
    let text = sums("const u64 9", "store v0 = %7")
        .replace("%8 f32 = load v0", &format!("{leaves} %8 f32 = load v0"));
    let form = Form { rows: true, ..Form::new(Dialect::OpenCl, false) };
    for items in [2, 8] {
        let module =
            emit_abreast(&read(&text), items, form, &Capabilities::LEAST).unwrap().unwrap();
        let labels: Vec<_> =
            module.text.lines().filter(|line| line.trim().ends_with(": ;")).collect();
        let apart: std::collections::BTreeSet<_> = labels.iter().collect();
        assert_eq!((labels.len(), apart.len()), (1 + usize::from(items), 1 + usize::from(items)));
    }
    let returns = text.replace("break l1", "return");
    assert_eq!(emit_abreast(&read(&returns), 2, form, &Capabilities::LEAST), Ok(None));
}

/// Local memory that is used as rows is an array of rows, where a group's items are a loop.
#[test]
fn local_memory_may_be_rows() {
    let place = |sum: &str, cut, proved| {
        let kernel = read(&format!(
            r#"kernel "rows" groups 1 tile 1
            param p0 = "y" view f32 1 inout item
            param p1 = "tile" local f32 256
            body {{
              phase {{
                %0 u64 = query position 0 0
                %1 u64 = query local_id 0 0
                %2 u64 = const u64 0
                %3 u64 = const u64 16
                %4 f32 = const f32 0
                store p1[%1] = %4
              }}
              phase {{
                %10 u64 = query position 0 0
                %11 u64 = query local_id 0 0
                %12 u64 = const u64 0
                %13 u64 = const u64 16
                for l0 %14 in %12, %13 {{
                  {sum}
                  %19 f32 = load p1[%18]
                  store p0[%10] = %19
                }}
              }}
            }}"#
        ));
        let texts = Texts::of(&kernel, Dialect::OpenCl, &Capabilities::LEAST, cut).unwrap();
        let text = texts.text(proved).text.clone();
        let line = text.lines().find(|line| line.contains("t19 = ")).unwrap().trim().to_owned();
        line.strip_prefix("const f32 t19 = ").map(str::to_owned).unwrap_or(text)
    };
    let rows = "((LOCAL f32 (*)[16])tile_p1)";
    for (sum, row, column) in [
        ("%17 u64 = mul %14, %13 %18 u64 = add %17, %11", "k14", "local0"),
        ("%17 u64 = mul %13, %11 %18 u64 = add %14, %17", "local0", "k14"),
    ] {
        assert_eq!(place(sum, Cut::Cpu, true), format!("{rows}[{row}][{column}];"));
        assert_eq!(place(sum, Cut::Gpu, true), "tile_p1[t18];");
        assert!(!place(sum, Cut::Cpu, false).contains(rows));
    }
    // A row, or a column, that may be any number; and what is no sum.
    for sum in [
        "%17 u64 = mul %10, %13 %18 u64 = add %17, %11",
        "%17 u64 = mul %14, %13 %18 u64 = add %17, %10",
        "%17 u64 = mul %14, %11 %18 u64 = add %17, %11",
        "%17 u64 = mul %14, %13 %18 u64 = sub %17, %11",
    ] {
        assert_eq!(place(sum, Cut::Cpu, true), "tile_p1[t18];", "{sum}");
    }
}

/// Loops that load and are short; in what GPUs are given without tests, and nowhere else.
#[test]
fn short_loops_that_load_are_unrolled() {
    let unrolled = |turn: &str, cut, proved| {
        let kernel = read(&format!(
            r#"kernel "sums" items 1 tile 1
            param p0 = "x" view f32 1 in item
            param p1 = "y" view f32 1 inout item
            var v0 = "sum" f32
            body {{
              %0 u64 = query position 0 0
              %1 f32 = const f32 0
              store v0 = %1
              %2 u64 = const u64 0
              %3 u64 = const u64 64
              for l0 %4 in %2, %3 {{
                %5 f32 = load p0[%4]
                %6 f32 = load v0
                %7 f32 = add %5, %6
                {turn}
              }}
              %8 f32 = load v0
              store p1[%0] = %8
            }}"#
        ));
        let texts = Texts::of(&kernel, Dialect::Cuda, &Capabilities::CUDA, cut).unwrap();
        texts.text(proved).text.matches("#pragma unroll 16\n").count()
    };
    let turn = "store v0 = %7";
    assert_eq!(unrolled(turn, Cut::Gpu, true), 1);
    assert_eq!(unrolled(turn, Cut::Gpu, false), 0);
    assert_eq!(unrolled(turn, Cut::Cpu, true), 0);
    for long in ["%9 f32 = sin %7", "%9 bool = lt %5, %6 if %9 { store v0 = %7 } else { }"] {
        assert_eq!(unrolled(long, Cut::Gpu, true), 0, "{long}");
    }
    let adds: String = (4..70).map(|k| format!("%{} f32 = add %7, %7 ", 100 + k)).collect();
    assert_eq!(unrolled(&adds, Cut::Gpu, true), 0);
}

/// In a loop over a row an item that ends early is followed by the next, also from within a loop of
/// its own.
#[test]
fn items_of_a_row_end_alone() {
    let ends = |body: &str| {
        let text = format!("kernel \"ends\" items 1 tile 1\nbody {{\n{body}\n}}");
        let form = Form { rows: true, ..Form::new(Dialect::OpenCl, true) };
        let module = emit(&read(&text), form, &Capabilities::LEAST).unwrap();
        assert_eq!((module.layout.threads, module.layout.most_threads), (Threads::Rows, 1));
        let count = |what: &str| module.text.matches(what).count();
        [count("continue;"), count("goto next;"), count("next: ;"), count("return;")]
    };
    assert_eq!(ends(""), [0; 4]);
    assert_eq!(ends("%0 bool = const bool 1 if %0 { return } else { }"), [1, 0, 0, 0]);
    let inner = "%0 u64 = const u64 0 %1 u64 = const u64 9 for l0 %2 in %0, %1 { return }";
    assert_eq!(ends(inner), [0, 1, 1, 0]);
}

#[test]
fn equal_kernels_have_equal_texts() {
    for text in [SAXPY, GUARDED, GROUPED] {
        let (kernel, again) = (read(text), parse(text).unwrap());
        for dialect in Dialect::ALL {
            assert_eq!(text_of(&kernel, *dialect, true), text_of(&again, *dialect, true));
        }
    }
}

/// semantics 1.4: what items keep to themselves needs no order.
#[test]
fn phases_of_private_variables_have_no_barriers() {
    let barriers = |phase: &str| {
        let text = GROUPED.replacen("phase {\n    %1", &format!("{phase} phase {{\n    %1"), 1);
        text_of(&read(&text), Dialect::Cuda, false).text.matches("BARRIER;").count()
    };
    let (own, slot) = ("%20 f32 = load v1", "%21 u64 = query local_id 0 0");
    let before = barriers("");
    assert_eq!(barriers(&format!("phase {{ {own} store v1 = %20 }}")), before);
    assert_eq!(barriers(&format!("phase {{ {own} {slot} store p3[%21] = %20 }}")), before + 1);
    assert_eq!(barriers(&format!("phase {{ {slot} %20 f32 = load p3[%21] }}")), before + 1);
}

#[test]
fn what_a_device_lacks_is_named() {
    let refused = |kernel: &Kernel, caps: &Capabilities| {
        let form = Form::new(Dialect::OpenCl, true);
        emit(kernel, form, caps).unwrap_err()
    };
    let mut b = Builder::items("wide", 1);
    let x = b.view("x", Scalar::F64, 1, Access::InOut, Owner::Item);
    let at = b.position(0);
    let value = b.load_at(x, [at]);
    b.store_at(x, [at], value);
    let lacks = refused(&b.finish().unwrap(), &Capabilities::LEAST);
    assert_eq!(lacks.feature, Feature::F64);
    let said = lacks.to_string();
    assert_eq!(said, "kernel `wide` needs `f64`, which the device lacks: parameter `x`");

    let mut b = Builder::items("count", 1);
    let n = b.view("n", Scalar::U64, 1, Access::InOut, Owner::Atomic);
    let at = b.position(0);
    b.at(Site { file: "a.rs".into(), line: 7, column: 3, message: None });
    b.atomic(Atomic::Add, Place::element(n, [at]), &[at]);
    let lacks = refused(&b.finish().unwrap(), &Capabilities::LEAST);
    assert_eq!((lacks.feature, lacks.place.as_str()), (Feature::Atomics64, "a.rs:7:3"));

    let mut b = Builder::groups("local", 1);
    b.param("much", ParamKind::Local { element: Scalar::F32.into(), len: 10_000 });
    let lacks = refused(&b.finish().unwrap(), &Capabilities::LEAST);
    assert_eq!(lacks.feature, Feature::LocalMemory { needed: 40_000, available: 32 << 10 });
}

/// A struct's name is not the entry's, whatever the user calls the two.
#[test]
fn structs_are_no_entries() {
    let mut b = Builder::items("x_t0", 1);
    let pair = b.types().structure("folio_x", &[("a", Scalar::F32.into())]);
    let x = b.view("x", pair, 1, Access::InOut, Owner::Item);
    let at = b.position(0);
    let value = b.load_at(x, [at]);
    b.store_at(x, [at], value);
    let module = text_of(&b.finish().unwrap(), Dialect::OpenCl, true);
    assert_eq!(module.entry, "folio_x_t0");
    assert!(module.text.contains("} of_folio_x_t0;\n"), "{}", module.text);
    assert_eq!(module.text.matches(" folio_x_t0").count(), 1, "{}", module.text);
}

/// What of types is not in use is not in the text: a device need not have it.
#[test]
fn types_without_values_are_not_declared() {
    let mut b = Builder::items("narrow", 1);
    let pair = |b: &mut Builder, name, of: Scalar| {
        b.types().structure(name, &[("a", of.into()), ("b", of.into())])
    };
    let wide = pair(&mut b, "Wide", Scalar::F64);
    b.types().array(wide, 3);
    let narrow = pair(&mut b, "Narrow", Scalar::F32);
    let three = b.types().array(narrow, 3);
    let x = b.view("x", three, 1, Access::InOut, Owner::Item);
    let at = b.position(0);
    let value = b.load_at(x, [at]);
    b.store_at(x, [at], value);
    let kernel = b.finish().unwrap();
    for dialect in [Dialect::OpenCl, Dialect::Cuda] {
        let text = text_of(&kernel, dialect, true).text;
        assert!(
            text.contains("} Narrow_t2;\n") && text.contains(" at[3]; } array_t3;\n"),
            "{text}"
        );
        assert!(!text.contains("Wide") && !text.contains("array_t1"), "{text}");
        assert!(dialect == Dialect::Cuda || !text.contains("f64"), "{text}");
    }
}

/// A box of 3 x 4 elements in the midst of 10 x 20, of an argument of 6 x 8.
#[test]
fn the_block_has_what_the_text_reads() {
    let kernel = read(SAXPY);
    let layout = text_of(&kernel, Dialect::OpenCl, false).layout;
    assert!(layout.by_value && !layout.verdict && layout.scratch == 0);
    assert_eq!(layout.threads, Threads::Items { tile: 1 });
    let view = |dims, origin, extent, index, shape| ParamPtr {
        base: std::ptr::null_mut(),
        dims,
        origin,
        extent,
        index,
        shape,
    };
    let x = view([1, 1, 100], [0, 0, 10], [1, 1, 50], [0, 0, 5], [1, 1, 60]);
    let y = view([1, 1, 1 << 40], [0, 0, 1 << 35], [1, 1, 7], [0, 0, 0], [1, 1, 7]);
    let grid = Grid { first: [0, 0, 3], range: [1, 1, 1 << 33], offset: [0, 0, 2], groups: [1; 3] };
    let mut block: Vec<u64> = vec![];
    layout.fill(&grid, &[x, y], &2.5f32.to_le_bytes(), &mut block);
    let of = |word| block[layout.words.iter().position(|have| *have == word).unwrap()];
    assert_eq!((of(Word::First(2)), of(Word::Range(2)), of(Word::Offset(2))), (3, 1 << 33, 2));
    assert_eq!((of(Word::Start(0)), of(Word::Low(0, 2))), (10, 5));
    assert_eq!((of(Word::Start(1)), of(Word::Low(1, 2))), (1 << 35, 0));
    assert_eq!(of(Word::Scalar(0)), u64::from(2.5f32.to_bits()));
    assert_eq!(block.len(), layout.words.len());
    assert!(!layout.words.iter().any(|word| matches!(word, Word::Size(..) | Word::Shape(..))));
}

/// Arguments that are more than a device takes by value are passed in memory.
#[test]
fn many_parameters() {
    let mut b = Builder::items("many", 3);
    let at: Vec<_> = (0..3).map(|dim| b.position(dim)).collect();
    for k in 0..64 {
        let view = b.view(&format!("v{k}"), Scalar::I32, 3, Access::InOut, Owner::Item);
        let value = b.load_at(view, at.clone());
        b.store_at(view, at.clone(), value);
    }
    let module = text_of(&b.finish().unwrap(), Dialect::OpenCl, true);
    assert!(!module.layout.by_value && module.layout.pointers.len() == 64);
    assert!(module.text.contains("GLOBAL const u64 *RESTRICT block"));
}

#[test]
fn records_say_what_failed() {
    let mut b = Builder::items("fails", 1);
    let x = b.view("x", Scalar::U64, 1, Access::InOut, Owner::Item);
    let at = b.position(0);
    b.at(Site { file: "f.rs".into(), line: 3, column: 9, message: None });
    let value = b.load_at(x, [at]);
    let quotient = b.binary(Binary::Div, at, value);
    b.store_at(x, [at], quotient);
    let points = text_of(&b.finish().unwrap(), Dialect::Cuda, true).points;
    assert_eq!(points.violation(&Record::default()), None);
    let found = points.violation(&Record([1, 9, 0, 0, 8, 0, 0])).unwrap();
    let param = Some("x".to_owned());
    assert_eq!(found.kind, ViolationKind::OutOfBounds { param, index: vec![9], extent: vec![8] });
    assert_eq!(
        found.to_string(),
        "kernel `fails`, f.rs:3:9: index [9] is outside of `x`, which has extent [8]"
    );
    let found = points.violation(&Record([2, 0, 0, 0, 0, 0, 0])).unwrap();
    assert_eq!(found.kind, ViolationKind::DivisionByZero);
    // What no launch can have left.
    assert_eq!(points.violation(&Record([77, 0, 0, 0, 0, 0, 0])), None);
}

/// A value that nobody uses is not loaded, but each of its indices is tested.
#[test]
fn unused_loads_are_tested() {
    let mut b = Builder::items("unused", 1);
    let pair = b.types().array(Scalar::U32, 2);
    let x = b.view("x", pair, 1, Access::In, Owner::Item);
    let at = b.position(0);
    b.load(Place::element(x, [at]).at(at));
    let text = text_of(&b.finish().unwrap(), Dialect::Cuda, true).text;
    let tests = text.lines().filter(|line| line.contains("outside(verdict"));
    assert_eq!(tests.clone().count(), 2, "{text}");
    assert!(tests.clone().all(|line| line.contains("if (!(")), "{text}");
}

/// No name of a user's can be read as anything but a name.
#[test]
fn names_and_places_are_tame() {
    let mut b = Builder::items("a\"; } int main() {", 1);
    let view = b.view("1 \\\n*/ float", Scalar::I32, 1, Access::InOut, Owner::Item);
    let var = b.var("__global", Scalar::I32, false);
    let at = b.position(0);
    b.at(Site { file: "a.rs\nint x; //??/\\".into(), line: 1, column: 1, message: None });
    let value = b.load_at(view, [at]);
    b.set(var, value);
    let module = text_of(&b.finish().unwrap(), Dialect::OpenCl, true);
    assert_eq!(module.entry, "folio_a_____int_main____");
    assert!(module.text.contains("n1______float_p0"), "{}", module.text);
    assert!(module.text.contains("// a.rs_int_x__//__/_:1:1\n"), "{}", module.text);
    let body = module.text.split("ENTRY(256)").nth(1).unwrap();
    assert!(!body.contains(['\\', '"', '?']), "{body}");
}
