//! Random kernels as Rust source: what rustc makes of them with and without optimisation, with
//! every instruction set, and what the interpreter makes of their IR are the same (KRN-01, KRN-04;
//! semantics 12.2).
#![allow(clippy::panic, reason = "tests")]

use crate::built;
use folio_model::source::{PLANTED, generate, program};
use folio_model::suite::{Budget, line};
use std::ops::Range;
use std::path::Path;
use std::process::{Command, Output};
use std::time::Instant;

/// How many kernels are compiled at once.
const BATCH: u64 = 100;

/// A way to compile: flags for the kernels alone, all else is what the tests are built of.
#[derive(Clone, Copy, Debug)]
struct Form {
    name: &'static str,
    flags: &'static [&'static str],
}

/// As cargo's profile for development.
const DEBUG: Form = Form { name: "debug", flags: &["-C", "opt-level=0"] };
/// As its profile for releases.
const RELEASE: Form = Form { name: "release", flags: &["-C", "opt-level=3"] };

fn output(command: &mut Command) -> Result<Output, String> {
    command.output().map_err(|error| format!("{command:?}: {error}"))
}

/// Compiles a program of these kernels; the outcome runs it, with a bug or without, and is what it
/// says of each.
fn compiled(
    seeds: impl Iterator<Item = u64> + Clone,
    (what, form): (&str, Form),
) -> Result<impl Fn(bool) -> Result<Vec<String>, String>, String> {
    let scratch = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let text = scratch.join(format!("{what}_kernels.rs"));
    std::fs::write(&text, program(seeds)).map_err(|error| error.to_string())?;
    // The other form is compiled while this one runs.
    let built = scratch.join(format!("{what}_kernels_{}", form.name));
    let mut build = built::rustc(Path::new("tests/source/program.rs"))?;
    build.current_dir(env!("CARGO_MANIFEST_DIR")).env("FOLIO_RANDOM_KERNELS", &text);
    build.args(["--cap-lints", "allow", "-o"]).arg(&built).args(form.flags);
    built::compile(&mut build).map_err(|why| format!("not compiled ({}):\n{why}", form.name))?;
    Ok(move |planted: bool| {
        let ran = output(Command::new(&built).envs(planted.then_some((PLANTED, "1"))))?;
        let (all, errors) =
            (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
        let lines = || all.lines().filter(|line| !line.starts_with(' ')).map(str::to_owned);
        match ran.status.success() {
            true => Ok(lines().collect()),
            false => Err(format!("{}: {}\n{all}\n{errors}", form.name, ran.status)),
        }
    })
}

/// What both forms of the program say. One runs while the other is compiled.
fn said(seeds: &Range<u64>) -> Result<[Vec<String>; 2], String> {
    let debug = compiled(seeds.clone(), ("random", DEBUG))?;
    std::thread::scope(|scope| {
        let debug = scope.spawn(move || debug(false));
        let release = compiled(seeds.clone(), ("random", RELEASE))?(false)?;
        let debug = debug.join().map_err(|_| "a thread panicked".to_owned())??;
        Ok([debug, release])
    })
}

/// The kernels of a batch, in all forms; an error is what differs, with the kernel's text.
fn batch(seeds: Range<u64>) -> Result<(), String> {
    let [debug, release] = said(&seeds)?;
    let lines = seeds.flat_map(|seed| generate(seed).instances.into_iter().map(move |_| seed));
    for (at, seed) in lines.enumerate() {
        let (debug, release) = (debug.get(at), release.get(at));
        let why = match [debug, release].into_iter().flatten().find(|l| l.contains("wrong")) {
            Some(line) => line.clone(),
            None if debug == release && debug.is_some() => continue,
            None => format!("without optimisation {debug:?}, with it {release:?}"),
        };
        let again =
            format!("FOLIO_SEED={seed} FOLIO_SOAK_CASES=1 cargo test -p folio-model suite_source");
        return Err(format!("{why}\n{}\nagain: {again}", generate(seed).text));
    }
    Ok(())
}

/// As many kernels as are asked for: most of the time is the compiler's.
#[test]
fn suite_source() {
    let budget = Budget::of("SOURCE");
    let (start, mut done) = (Instant::now(), 0);
    let asked = budget.cases.unwrap_or(budget.least);
    while done < asked {
        let (first, count) = (budget.seed + done, (asked - done).min(BATCH));
        if let Err(why) = batch(first..first + count) {
            println!("{}", line("source", done, start.elapsed(), 1, budget.seed));
            panic!("{why}");
        }
        done += count;
    }
    println!("{}", line("source", done, start.elapsed(), 0, budget.seed));
}

/// A device that takes guards to be decided which are not computes something else.
#[test]
fn compile_planted_guard_is_found() {
    let has_guards = |seed: &u64| {
        let text = generate(*seed).text;
        text.contains("(at0 == ") && text.contains(" &&")
    };
    let seeds = (1..).filter(has_guards).take(32);
    let run = compiled(seeds, ("guarded", DEBUG)).unwrap_or_else(|why| panic!("{why}"));
    let wrong = |planted| {
        let said = run(planted).unwrap_or_else(|why| panic!("{why}"));
        said.iter().filter(|line| line.contains("wrong")).count()
    };
    assert_eq!(wrong(false), 0);
    assert!(wrong(true) > 0, "no kernel shows it");
}

/// Kernels that have each thing, at least.
const LEAST: usize = 1;

/// What the suite's kernels are made of.
#[test]
fn random_source_has_all_kinds_of_things() {
    let all: Vec<_> = (1..=450).map(generate).collect();
    let with = |what: &str| all.iter().filter(|case| case.text.contains(what)).count();
    let things = [
        "Item<1>",
        "Item<2>",
        "Item<3>",
        "Group<1>",
        "Group<2>",
        "InOut<",
        "OutRow<",
        "InOutRow<",
        "OutColumn<",
        "InOutColumn<",
        "[i].b = ",
        "Scatter<",
        "ScatterLast<",
        "RedBlack<",
        "#[kernel(checked)]",
        ".at_most(",
        "E::Two {",
        "OutChunk<",
        "OutGroup<",
        "OutTile<",
        ".add_product(",
        ".reduce_rows::<",
        ".zip(",
        "InColumns<",
        "OutColumns<",
        "InOutColumns<",
        "p[i].a = ",
        "print!(",
        " = said(",
        ".fast_recip()",
        ".fast_exp",
        ".fast_mul_add(",
        "Atomic<",
        "Reduce<",
        "Local<",
        "LocalAtomic<",
        "f16",
        "bf16",
        "f64",
        "i8",
        "u64",
        "isize",
        "impl std::ops::Add",
        "#[device_fn]\nfn",
        "(self",
        "match ",
        "while ",
        "for ",
        ".rev()",
        ".step_by(",
        "= loop {",
        "break '",
        "continue '",
        "return;",
        "assert!(",
        "panic!(",
        "g.each(",
        "g.once(",
        "g.reduce::<",
        "clusive_scan::<",
        ".fill(|",
        "g.private(",
        "i + 1]",
        "at0 - 1",
        // Indices that are held to a border, and guards.
        "at0.max(",
        ".saturating_sub(",
        "at0 as i32",
        "if at0 > ",
        " - 1 >= at",
        ".len() / 2)",
        " * 2 < ",
        "match at0 {",
        "(!((at0",
        ".mul_add(",
        " / ",
        " << ",
        " as ",
        ".to_bits()",
        ".copysign(",
        ".sin()",
        ".give(",
        ".load(",
        // Positions, in part as well; names that hide others; loops without label.
        "let (d",
        // Generic kernels, and functions.
        "pub fn k<T: Number",
        "In<T, ",
        "<T: Number>(mut",
        "N + ",
        " as T)",
        "T::lit(",
        "let s0 = ",
        "for s0 in 0..",
        // Names that are one part or another, right sides that wait, ranges to the end of a type,
        // hidden views.
        "..=9, ",
        " == 0",
        ".rem_euclid(",
        " && bits.",
        " || bits.",
        "::MAX {if ",
        "let mut x",
        "(s0 % 24) {",
        // References, options, arrays that are gone through, several targets.
        "p0: &mut ",
        "(&mut v",
        ".iter()",
        ".enumerate()",
        ".zip(&",
        "Some(",
        "if let Some(",
        "Some(_) | None",
        "(|s",
        ") = (",
    ];
    for thing in things {
        let count = with(thing);
        println!("{count} of {} kernels have `{thing}`", all.len());
        assert!(count >= LEAST, "{count} kernels have `{thing}`, fewer than {LEAST}");
    }
    let count = |is: fn(&folio_model::source::Case) -> bool| all.iter().filter(|c| is(c)).count();
    assert!(count(|c| c.group.is_some()) > 40 && count(|c| c.inexact) < 50);
    assert!(count(|c| c.framed.contains(&true)) > 100 && count(|c| c.offset.contains(&1)) > 30);
}
