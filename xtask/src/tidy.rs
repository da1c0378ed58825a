//! `cargo xtask tidy`: house rules that neither compiler nor clippy checks.

use std::path::Path;

use crate::args::Args;
use crate::items::{self, words};
use crate::lex::{self, Split};
use crate::tree::{self, File};
use crate::{Result, cargo, prose, sentences, suites, wrap};

/// The text of `--help`.
pub const HELP: &str = "\
cargo xtask tidy [--wrap] [--vague PATH]

Fails for: `unsafe` without a SAFETY comment; todo!, unimplemented!, dbg! and FIXME; an ignored
test or an `allow` without a reason; a suite_ test that has no row in xtask/src/suites.rs; a library
that prints; paths of a single machine; comments over 100 columns. In documents: lines over 160
columns, more than 30 KB, links that lead nowhere, pages that docs/SUMMARY.md does not name once,
and words that name no actor (whoever, nobody); in comments more of these than xtask/src/prose.rs allows, and a larger share of sentences that begin
with `what`, `it`, `those`, `one`, `so` or `these` than xtask/src/sentences.rs does. Reports, without failing, files over 500
lines and functions over 60.

  --wrap    first wraps the comments over 100 columns, but for those behind code, and those of
            compile-fail cases, whose messages have line numbers
  --vague PATH
            only lists the sentences that begin so, in files whose path has PATH in it";

/// A file longer than this is worth a look.
const FILE_LINES: usize = 500;
/// A function longer than this is worth a look.
const FUNCTION_LINES: usize = 60;
/// How far above its `unsafe` a SAFETY comment may start.
const SAFETY_REACH: usize = 12;

/// Sources that may print: the one place of the library's, modules of tests, and two that read
/// what other programs print.
const PRINTING: &[&str] = &[
    "/notice.rs",
    "/tests.rs",
    "/refusals.rs",
    "/loom_model.rs",
    "matrix/src/machine.rs",
    "matrix/src/peers/session.rs",
    "folio-cli/src/terminal.rs",
    // Kernels that print.
    "kernels/associated.rs",
    "kernels/printed.rs",
];

/// Texts that belong to a single machine. Split, so that this file does not contain them.
const PRIVATE: &[&str] = &[
    concat!("/wo", "rk/"),
    concat!("/ro", "ot/"),
    concat!("/ho", "me/"),
    concat!("/Us", "ers/"),
    concat!("/tm", "p/wt"),
    concat!("/tm", "p/target"),
    concat!("sha", "red/SPEC"),
    concat!("sha", "red/DESIGN"),
    concat!("sha", "red/STYLE"),
    concat!("DEVELOP", "ERS.md"),
    concat!("issues ", "show"),
];

/// Runs the command.
pub fn run(mut args: Args) -> Result<bool> {
    let wraps = args.flag("--wrap");
    let vague = args.value("--vague")?;
    args.finish_empty()?;
    let (root, _) = cargo::places()?;
    if let Some(within) = vague {
        sentences::vague(&tree::files(&root)?, &within)
            .iter()
            .for_each(|found| println!("{found}"));
        return Ok(true);
    }
    if wraps {
        wrap_all(&root)?;
    }
    report(&root)
}

/// Wraps the comments of all Rust sources.
fn wrap_all(root: &Path) -> Result<()> {
    let files = tree::files(root)?;
    let has_messages = |path: &str| {
        let messages = path.replace(".rs", ".stderr");
        files.iter().any(|file| file.path == messages)
    };
    for file in files.iter().filter(|file| file.is_rust() && !has_messages(&file.path)) {
        let text = wrap::comments(&file.text);
        if text != file.text {
            tree::replace(&root.join(&file.path), &text)?;
            println!("wrapped: {}", file.path);
        }
    }
    Ok(())
}

/// Prints sizes and problems; true when there are no problems.
pub fn report(root: &Path) -> Result<bool> {
    let files = tree::files(root)?;
    files.iter().flat_map(sizes).for_each(|size| println!("note: {size}"));
    let (problems, notes) = all_problems(&files);
    notes.iter().for_each(|note| println!("note: {note}"));
    problems.iter().for_each(|problem| println!("error: {problem}"));
    println!("tidy: {} files, {} problems", files.len(), problems.len());
    Ok(problems.is_empty())
}

/// Files and functions that have grown.
fn sizes(file: &File) -> Vec<String> {
    if !file.is_rust() {
        return Vec::new();
    }
    let lines = file.text.lines().count();
    let functions = items::functions_of(&file.text);
    let long = functions.iter().filter(|f| f.lines > FUNCTION_LINES);
    let long =
        long.map(|f| format!("{}:{}: fn {} has {} lines", file.path, f.line + 1, f.name, f.lines));
    let file_note = (lines > FILE_LINES).then(|| format!("{}: {lines} lines", file.path));
    file_note.into_iter().chain(long).collect()
}

/// The breaches of rules, and the notes.
fn all_problems(files: &[File]) -> (Vec<String>, Vec<String>) {
    let mut problems: Vec<_> = files.iter().flat_map(|file| self::problems(file, files)).collect();
    let (pronouns, notes) = prose::pronouns(files);
    problems
        .extend(pronouns.into_iter().chain(sentences::check(files)).chain(prose::of_book(files)));
    (problems, notes)
}

/// The breaches of rules in one of the files.
fn problems(file: &File, files: &[File]) -> Vec<String> {
    let mut found: Vec<(usize, String)> = Vec::new();
    for (at, line) in file.text.lines().enumerate() {
        let private = PRIVATE.iter().filter(|text| line.contains(**text));
        found.extend(private.map(|text| (at, format!("names '{text}'"))));
    }
    if prose::is_document(file) {
        found.extend(prose::of_document(file, files));
    }
    if file.is_rust() {
        let split = lex::split(&file.text);
        let wide = prose::wide_comments(&file.text, &split);
        found.extend(wide.into_iter().map(|at| (at, "a comment over 100 columns".to_owned())));
        for at in 0..split.code.len() {
            found.extend(line_problems(&split, at).into_iter().map(|p| (at, p.to_owned())));
        }
        if is_library(&file.path) {
            found.extend(prints(&split).map(|at| (at, "a library that prints".to_owned())));
        }
        let lost = |f: &&items::Function| f.is_test && suites::is_suite(&f.name);
        for test in items::functions(&split).iter().filter(lost) {
            if suites::of_test(&test.name).is_none() {
                let why = format!("{} has no row in xtask/src/suites.rs", test.name);
                found.push((test.line, why));
            }
        }
    }
    found.sort();
    found.into_iter().map(|(at, what)| format!("{}:{}: {what}", file.path, at + 1)).collect()
}

/// The breaches of rules in one line of Rust.
fn line_problems(split: &Split, at: usize) -> Vec<&'static str> {
    let (code, comment) = (split.code[at].as_str(), split.comments[at].as_str());
    let mut found = Vec::new();
    if ["todo", "unimplemented", "dbg"].iter().any(|name| is_called(code, name)) {
        found.push("unfinished code");
    }
    if !words(comment, concat!("FIX", "ME")).is_empty() {
        found.push("a note to fix something; fix it or open an issue");
    }
    if needs_safety(code) && !has_safety(split, at) {
        found.push("unsafe without a SAFETY comment");
    }
    if code.contains("#[ignore]") {
        found.push("an ignored test without a reason");
    }
    if is_allow(code) && !has_reason(split, at) {
        found.push("an allow without a reason");
    }
    found
}

/// A source of what programs link; the generator of random programs is for tests.
fn is_library(path: &str) -> bool {
    path.starts_with("crates/")
        && path.contains("/src/")
        && !path.contains("/bin/")
        && !path.ends_with("/main.rs")
        && !path.contains("/tests/")
        && !path.starts_with("crates/folio-model/")
        && !PRINTING.iter().any(|end| path.ends_with(end))
}

/// The lines before the module of tests that write to the standard streams.
fn prints(split: &Split) -> impl Iterator<Item = usize> {
    let tests = |code: &&String| code.contains("cfg(test)") || code.contains("cfg(all(test");
    let code = split.code.iter().take_while(move |code| !tests(code)).enumerate();
    let says = |code: &str| {
        ["println", "print", "eprintln", "eprint"].iter().any(|name| is_called(code, name))
            || ["stdout", "stderr"].iter().any(|name| !words(code, name).is_empty())
    };
    code.filter(move |(_, code)| says(code)).map(|(at, _)| at)
}

/// A macro of this name.
fn is_called(code: &str, name: &str) -> bool {
    words(code, name).iter().any(|start| code[start + name.len()..].starts_with('!'))
}

/// Blocks and implementations; `unsafe fn` and `unsafe trait` say in their docs what they ask.
fn needs_safety(code: &str) -> bool {
    words(code, "unsafe").iter().any(|start| {
        let rest = code[start + "unsafe".len()..].trim_start();
        rest.starts_with('{') || rest.starts_with("impl ") || rest.starts_with("impl<")
    })
}

/// A SAFETY comment on the line, or above it with no empty line between.
fn has_safety(split: &Split, at: usize) -> bool {
    let empty = |line: &usize| {
        split.code[*line].trim().is_empty() && split.comments[*line].trim().is_empty()
    };
    let above = (0..=at).rev().take(SAFETY_REACH).take_while(|line| !empty(line));
    let mut comments = above.map(|line| split.comments[line].as_str());
    comments.any(|comment| comment.contains("SAFETY:"))
}

fn is_allow(code: &str) -> bool {
    ["#[allow(", "#![allow(", "#[expect(", "#![expect("].iter().any(|start| code.contains(start))
}

/// `reason = ".."` inside the attribute, or a comment on its line or just above.
fn has_reason(split: &Split, at: usize) -> bool {
    let attribute = split.code[at..].iter().take(6).scan(false, |closed, code| {
        let before = *closed;
        *closed |= code.contains(")]");
        (!before).then_some(code)
    });
    let mut attribute = attribute;
    let plain = |line: usize| {
        let comment = split.comments[line].trim();
        comment.starts_with("//") && !comment.starts_with("///") && !comment.starts_with("//!")
    };
    attribute.any(|code| code.contains("reason")) || plain(at) || (at > 0 && plain(at - 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[&str]) {
        let file = File { path: "crates/x/src/a.rs".to_owned(), text: text.to_owned() };
        let found = problems(&file, &[]);
        assert_eq!(found.len(), expected.len(), "{found:?}");
        for (found, expected) in found.iter().zip(expected) {
            assert!(found.contains(expected), "{found}");
        }
    }

    #[test]
    fn unsafe_needs_its_comment() {
        check("fn f() { unsafe { g() } }", &["SAFETY"]);
        check("unsafe impl Send for X {}", &["SAFETY"]);
        check("// SAFETY: because.\nlet x =\n    unsafe { g() };", &[]);
        check("// SAFETY: because.\n\nunsafe { g() }", &["SAFETY"]);
        check("unsafe fn f();\nunsafe trait T {}\n// unsafe { no }\nf(\"unsafe { no }\")", &[]);
    }

    #[test]
    fn unfinished_code_is_found() {
        check("fn f() { todo!() }", &["unfinished"]);
        check("fn f() { g(\"todo!()\"); my_todo!() } // todo!", &[]);
        check(concat!("// FIX", "ME: later"), &["fix"]);
    }

    #[test]
    fn exceptions_need_reasons() {
        check("#[ignore]\nfn f() {}", &["ignored"]);
        check("#[ignore = \"slow\"]\nfn f() {}", &[]);
        check("\n#[allow(dead_code)]\nfn f() {}", &["allow"]);
        check("/// Doc.\n#[allow(dead_code)]\nfn f() {}", &["allow"]);
        check("#[allow(dead_code, reason = \"r\")]\nfn f() {}", &[]);
        check("#[allow(\n    dead_code,\n    reason = \"r\"\n)]\nfn f() {}", &[]);
        check("// Because.\n#[allow(dead_code)]\nfn f() {}", &[]);
    }

    #[test]
    fn libraries_do_not_print() {
        check("fn f() { println!(\"a\") }", &["prints"]);
        check("fn f() { eprint!(\"a\") }\nuse std::io::stderr;", &["prints", "prints"]);
        check("fn f() { g(\"eprintln!()\") } // eprintln!()\nfn eprint() {}", &[]);
        check("#[cfg(test)]\nmod tests { fn f() { println!(\"a\") } }", &[]);
        let file = |path: &str| File { path: path.to_owned(), text: "eprintln!()".to_owned() };
        let allowed = ["crates/x/src/notice.rs", "crates/x/src/bin/a.rs", "crates/x/src/main.rs"];
        assert!(allowed.iter().all(|path| problems(&file(path), &[]).is_empty()));
    }

    #[test]
    fn suites_have_rows_and_paths_are_nobodys() {
        check("#[test]\nfn suite_programs_cpu() {}\nfn suite_else() {}", &[]);
        check("#[test]\nfn suite_else() {}", &["no row"]);
        check(&format!("// see {}x", PRIVATE[0]), &["names"]);
    }

    #[test]
    fn sizes_are_reported() {
        let body = "    g();\n".repeat(600);
        let file = File { path: "a.rs".to_owned(), text: format!("fn f() {{\n{body}}}\n") };
        assert_eq!(sizes(&file).len(), 2);
    }

    #[test]
    fn the_tree_is_tidy() {
        let files = tree::files(&tree::root().unwrap()).unwrap();
        assert_eq!(all_problems(&files).0, Vec::<String>::new());
    }
}
