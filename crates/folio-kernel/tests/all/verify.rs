//! The verifier refuses what emitters and the interpreter rely on not to meet, and says where.

use crate::common::{GROUPED, SAXPY, read};
use folio_kernel::parse::parse;
use folio_kernel::{outputs, verify::verify};

/// `text` with a change is refused with words of the message.
#[track_caller]
fn refused(text: &str, from: &str, to: &str, words: &[&str]) {
    assert!(text.contains(from), "{from}");
    let changed = text.replacen(from, to, 1);
    let checked = parse(&changed).map_err(|e| format!("not read: {e}")).and_then(|kernel| {
        verify(&kernel).and_then(|()| outputs::check(&kernel)).map_err(|e| e.to_string())
    });
    let message = checked.err().unwrap_or_default();
    for word in words {
        assert!(message.contains(word), "{message}\nhas no `{word}`\n{changed}");
    }
}

#[test]
fn operands_have_the_right_types() {
    read(SAXPY);
    refused(SAXPY, "mul %0, %2", "mul %0, %1", &["body 3", "the right operand", "u64", "f32"]);
    refused(SAXPY, "mul %0, %2", "and %0, %2", &["`and` is not defined for f32"]);
    refused(SAXPY, "%3 f32 = mul", "%3 f64 = mul", &["%3 is declared f64", "f32"]);
    refused(SAXPY, "load p1[%1]", "load p1[%1, %1]", &["indices: 2 given, 1 needed"]);
    refused(SAXPY, "load p1[%1]", "load p1[%0]", &["an index has type f32"]);
    refused(SAXPY, "load p1[%1]", "load p7[%1]", &["no parameter 7"]);
    refused(SAXPY, "load p1[%1]", "load p1[%1].0", &["f32 has no part 0"]);
    refused(SAXPY, "load p1[%1]", "load p0[%1]", &["parameter 0 (a) is no view"]);
    refused(SAXPY, "arg p0", "arg p1", &["parameter 1 (x) is no scalar"]);
    refused(SAXPY, "arg p0", "cast %1 bool", &["%1 is not visible"]);
    refused(SAXPY, "position 0 0", "position 1 0", &["dimension 1 of a rank of 1"]);
    refused(SAXPY, "position 0 0", "position 0 1", &["copy 1"]);
    refused(SAXPY, "position 0 0", "local_id 0 0", &["`local_id` has no answer here"]);
    refused(SAXPY, "arg p0", "zero t3", &["no type Composite(3)"]);
}

#[test]
fn values_are_defined_once_and_before() {
    refused(SAXPY, "%4 f32", "%2 f32", &["%2 is defined twice"]);
    refused(SAXPY, "mul %0, %2", "mul %0, %4", &["%4 is not visible here"]);
    refused(
        SAXPY,
        "store p2[%1] = %5",
        "block l0 { %6 f32 = neg %5 } store p2[%1] = %6",
        &["body 7", "%6"],
    );
    let index = "for l0 %6 in %1, %1 { } %7 u64 = neg %6";
    refused(SAXPY, "store p2[%1] = %5", index, &["%6 is not visible"]);
}

#[test]
fn labels_enclose() {
    let end = "store p2[%1] = %5";
    refused(SAXPY, end, "break l0", &["label 0"]);
    refused(SAXPY, end, "block l0 { continue l0 }", &["body 6.0", "a loop around this"]);
    refused(SAXPY, end, "block l0 { } block l0 { }", &["label 0 is used twice"]);
    let phase = "loop l0 { phase { break l0 } }";
    refused(GROUPED, "once {\n", &format!("{phase}\nonce {{\n"), &["label 0 does not name"]);
}

#[test]
fn parameters_allow_what_is_done() {
    refused(SAXPY, "x\" view f32 1 in", "x\" view f32 1 out", &["parameter 1 (x) cannot be read"]);
    refused(SAXPY, "store p2", "store p1", &["parameter 1 (x) cannot be written: it is `In`"]);
    refused(SAXPY, "store p2[%1] = %5", "contribute p2 = %5", &["it is no `reduce`"]);
    let atomic = "%6 f32 = atomic add p2[%1] (%5)";
    refused(SAXPY, "store p2[%1] = %5", atomic, &["used atomically: it is not `atomic`"]);
    refused(SAXPY, "inout item", "inout atomic", &["read but by atomic operations"]);
    refused(SAXPY, "inout item", "inout row", &["rows and columns are of a view of rank 2"]);
    refused(SAXPY, "inout item", "inout group", &["an item kernel has no groups"]);
    refused(SAXPY, "\"a\" scalar f32", "\"a\" scalar bool", &["padding or a bool"]);
}

#[test]
fn uniform_code_is_uniform() {
    read(GROUPED);
    let first = "%0 u64 = query group_id 0 0";
    refused(GROUPED, first, "%0 u64 = query local_id 0 0", &["`local_id` has no answer here"]);
    refused(GROUPED, "into v0", "into v1", &["a reduction's is uniform"]);
    refused(GROUPED, "store v1 = %3", "store v0 = %3", &["uniform, but written by an item"]);
    let load = format!("{first} %9 f32 = load v1");
    refused(GROUPED, first, &load, &["an item's, but used in uniform code"]);
    let store = format!("{first} %9 f32 = const f32 1.0 store p3[%0] = %9");
    refused(GROUPED, first, &store, &["written in uniform code"]);
    refused(GROUPED, "contribute", "phase { } contribute", &["a phase is in uniform code"]);
    refused(SAXPY, "%0 f32 = arg", "phase { } %0 f32 = arg", &["uniform code of a group kernel"]);
}

#[test]
fn sub_group_operations_are_where_all_arrive() {
    // semantics 11.3
    let sum = "%9 f32 = subgroup_fold reduce add %3";
    let mine = "store v1 = %3";
    read(&GROUPED.replacen(mine, &format!("{mine} {sum}"), 1));
    let nested = format!("{mine} block l0 {{ {sum} }}");
    refused(GROUPED, mine, &nested, &["directly in a phase"]);
    let after = format!("{mine} block l0 {{ return }} {sum}");
    refused(GROUPED, mine, &after, &["directly in a phase"]);
    refused(SAXPY, "store p2[%1] = %5", sum, &["directly in a phase"]);
}

/// KRN-02: outputs are written by their owners.
#[test]
fn outputs_are_written_by_their_owners() {
    let next = "%6 u64 = const u64 1 %7 u64 = add %1, %6 store p2[%7] = %5";
    refused(SAXPY, "store p2[%1] = %5", next, &["`y` is written at an index", "item's own"]);
    refused(SAXPY, "%4 f32 = load p2[%1]", "%9 u64 = extent p2 0 %4 f32 = load p2[%9]", &["`y`"]);
    let zero = "%6 u64 = const u64 1 %7 u64 = add %1, %6 %8 u64 = sub %7, %6 store p2[%8] = %5";
    read(&SAXPY.replace("store p2[%1] = %5", zero));
    refused(GROUPED, "once {", "phase {", &["`sums`", "group's own"]);
    let mine = "store p1[%0] = %5 %6 u64 = query group_count 0 0 store p1[%6] = %5";
    refused(GROUPED, "store p1[%0] = %5", mine, &["`sums`", "group's own"]);
}

fn out(body: &str) -> String {
    format!(
        r#"kernel "out" items 1 tile 1
type t0 = array f32 2
param p0 = "y" view f32 1 out item
param p1 = "chunks" view t0 1 out item
param p2 = "rows" view f32 2 out row
param p3 = "c" scalar u32
body {{
  %0 u64 = query position 0 0 %1 f32 = const f32 2.0 %2 u64 = const u64 0 %3 u64 = const u64 1
  %4 u64 = const u64 2 %5 u64 = extent p2 1 %6 u32 = arg p3 %7 u32 = const u32 0 %8 bool = eq %6, %7
  {body}
}}"#
    )
}

const Y: &str = "store p0[%0] = %1 ";
const CHUNKS: &str = "for l8 %80 in %2, %4 { store p1[%0].[%80] = %1 } ";
const ROWS: &str = "for l9 %90 in %2, %5 { store p2[%0, %90] = %1 } ";

/// KRN-02: an `Out` is written on every path, as a whole.
#[test]
fn every_out_is_written() {
    let fine = |y: &str, chunks: &str, rows: &str| {
        let kernel = read(&out(&format!("{y}{chunks}{rows}")));
        assert_eq!(outputs::check(&kernel), Ok(()), "{kernel}");
    };
    let missing = |y: &str, chunks: &str, rows: &str, name: &str| {
        let text = out(&format!("{y}{chunks}{rows}"));
        let kernel = read(&text);
        let error = outputs::check(&kernel).expect_err(&text).to_string();
        let kind = if name == "rows" { "OutRow" } else { "Out" };
        assert!(error.contains(&format!("`{name}` is `{kind}`")), "{error}");
    };
    fine(Y, CHUNKS, ROWS);
    missing("", CHUNKS, ROWS, "y");
    missing(Y, "", ROWS, "chunks");
    missing(Y, CHUNKS, "", "rows");
    // Branches.
    fine(&format!("if %8 {{ {Y} }} else {{ {Y} }}"), CHUNKS, ROWS);
    missing(&format!("if %8 {{ {Y} }}"), CHUNKS, ROWS, "y");
    missing(&format!("if %8 {{ return }} {Y}"), CHUNKS, ROWS, "y");
    fine(&format!("block l0 {{ if %8 {{ {Y} break l0 }} {Y} }}"), CHUNKS, ROWS);
    missing(&format!("block l0 {{ if %8 {{ break l0 }} {Y} }}"), CHUNKS, ROWS, "y");
    fine(&format!("loop l0 {{ {Y} if %8 {{ break l0 }} }}"), CHUNKS, ROWS);
    missing(&format!("for l0 %70 in %2, %4 {{ {Y} }}"), CHUNKS, ROWS, "y");
    // Chunks by parts.
    fine(Y, "store p1[%0].0 = %1 store p1[%0].[%3] = %1 ", ROWS);
    missing(Y, "store p1[%0].0 = %1 store p1[%0].[%2] = %1 ", ROWS, "chunks");
    missing(Y, &CHUNKS.replace("in %2", "in %3"), ROWS, "chunks");
    missing(Y, &CHUNKS.replace("%4 {", "%3 {"), ROWS, "chunks");
    missing(Y, &CHUNKS.replace("{ store", "{ if %8 { break l8 } store"), ROWS, "chunks");
    missing(Y, &CHUNKS.replace("{ store", "{ if %8 { continue l8 } store"), ROWS, "chunks");
    // What leaves a block or a loop inside of the turn does not end the turn.
    fine(Y, &CHUNKS.replace("{ store", "{ block l0 { if %8 { break l0 } } store"), ROWS);
    fine(
        Y,
        &CHUNKS.replace("{ store", "{ for l0 %70 in %2, %4 { if %8 { continue l0 } } store"),
        ROWS,
    );
    let inside = "{ block l0 { if %8 { continue l8 } } store";
    missing(Y, &CHUNKS.replace("{ store", inside), ROWS, "chunks");
    missing(Y, &CHUNKS.replace("{ store", "{ block l0 { if %8 { return } } store"), ROWS, "chunks");
    // Rows as wide as the view.
    missing(Y, CHUNKS, &ROWS.replace("%5 {", "%4 {"), "rows");
    missing(Y, CHUNKS, &ROWS.replace("%0, %90", "%0, %3"), "rows");
}

/// A kernel with these types, of which the last is that of a parameter.
fn with_types(types: &[String]) -> String {
    let list: String =
        types.iter().enumerate().map(|(k, ty)| format!("type t{k} = {ty}\n")).collect();
    let last = types.len() - 1;
    let param = format!("param p0 = \"x\" view t{last} 1 in item\n");
    format!("kernel \"k\" items 1 tile 1\n{list}{param}body {{ }}")
}

/// A type that is twice in the next one is looked at once, not 2^100 times.
#[test]
fn types_of_many_parts_are_looked_at_once() {
    let twice = |k: usize| match k {
        0 => "struct \"T\" 0 1 ()".to_owned(),
        k => format!("struct \"T\" 0 1 (\"a\" t{0} 0, \"b\" t{0} 0)", k - 1),
    };
    let types: Vec<String> = (0..100).map(twice).collect();
    assert!(verify(&parse(&with_types(&types)).unwrap()).is_ok());
}

/// What walks over types calls itself for each part.
#[test]
fn types_are_nested_as_deep_as_rust_allows() {
    let array = |k: usize| match k {
        0 => "array u32 1".to_owned(),
        k => format!("array t{} 1", k - 1),
    };
    let nested = |deep| with_types(&(0..deep).map(array).collect::<Vec<_>>());
    assert!(verify(&parse(&nested(256)).unwrap()).is_ok());
    let deep = verify(&parse(&nested(10_000)).unwrap()).unwrap_err().to_string();
    assert!(deep.contains("type t256: ") && deep.contains("nested too deep"), "{deep}");
}
