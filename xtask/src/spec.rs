//! `cargo xtask spec`: which test proves which requirement.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::args::Args;
use crate::items::{self, Function};
use crate::lex;
use crate::tree::{self, File};
use crate::{Result, cargo, invariants, json};

/// The text of `--help`.
pub const HELP: &str = "\
cargo xtask spec [--json]

Prints each requirement of docs/spec.md with the tests that name it. Fails for a requirement that
has no test and is not marked planned, and for a test that names an unknown requirement.

A test names an ID in the comments above it or inside it. So do: the module comment (//!) of a
file under tests/, for all of its tests; the module comment of an example; a compile-fail case,
anywhere; a function of folio-conformance's library that something else there calls or lists.
Ignored tests prove nothing.

Fails, too, when an invariant of docs/ARCHITECTURE.md or a row of docs/drivers.md names a test that
is not there, or none.

  --json    the same as JSON";

const SPEC: &str = "docs/spec.md";

/// A requirement.
#[derive(Debug, PartialEq)]
pub struct Requirement {
    /// Such as `BUF-01`.
    pub id: String,
    /// The words behind `planned: `, when it is not built yet.
    pub planned: Option<String>,
}

/// Tests by the ID that they name.
type Proofs = BTreeMap<String, BTreeSet<String>>;

/// Runs the command.
pub fn run(mut args: Args) -> Result<bool> {
    let as_json = args.flag("--json");
    args.finish_empty()?;
    let (root, _) = cargo::places()?;
    if !as_json {
        return report(&root);
    }
    let (requirements, proofs, files) = read(&root)?;
    println!("{}", to_json(&requirements, &proofs));
    Ok(all_problems(&requirements, &proofs, &files).is_empty())
}

/// Prints the table and the problems; true when there are none.
pub fn report(root: &Path) -> Result<bool> {
    let (requirements, proofs, files) = read(root)?;
    for requirement in &requirements {
        let tests = proofs.get(&requirement.id);
        let count = tests.map_or(0, BTreeSet::len);
        let state = match &requirement.planned {
            Some(when) => format!("planned: {when}"),
            None => "built".to_owned(),
        };
        println!("{:<10} {state:<16} {count:>3} tests", requirement.id);
        tests.into_iter().flatten().for_each(|test| println!("             {test}"));
    }
    let problems = all_problems(&requirements, &proofs, &files);
    problems.iter().for_each(|problem| println!("error: {problem}"));
    let built = requirements.iter().filter(|r| r.planned.is_none()).count();
    println!("spec: {built} of {} built, {} problems", requirements.len(), problems.len());
    Ok(problems.is_empty())
}

fn read(root: &Path) -> Result<(Vec<Requirement>, Proofs, Vec<File>)> {
    let files = tree::files(root)?;
    let text = files.iter().find(|file| file.path == SPEC).map(|file| file.text.as_str());
    let requirements = parse(text.ok_or_else(|| format!("there is no {SPEC}"))?)?;
    let families: BTreeSet<&str> =
        requirements.iter().filter_map(|r| r.id.split('-').next()).collect();
    let proofs = proofs(&files, &families);
    Ok((requirements, proofs, files))
}

fn all_problems(requirements: &[Requirement], proofs: &Proofs, files: &[File]) -> Vec<String> {
    let mut all = problems(requirements, proofs);
    all.extend(invariants::problems(files, &test_names(files)));
    all
}

/// The names of all tests that are not ignored.
fn test_names(files: &[File]) -> BTreeSet<String> {
    let library = Conformance::of(files);
    let of_file = |file: &File| {
        let functions = items::functions(&lex::split(&file.text));
        functions.into_iter().filter(|f| library.is_test(file, f)).map(|f| f.name).collect()
    };
    files
        .iter()
        .filter(|file| is_scanned(file))
        .flat_map(|f| -> Vec<String> { of_file(f) })
        .collect()
}

/// Reads lines `- **BUF-01** text` and `- **BUF-01** (planned: part 2) text`.
pub fn parse(text: &str) -> Result<Vec<Requirement>> {
    let mut requirements: Vec<Requirement> = Vec::new();
    for line in text.lines() {
        let Some((id, rest)) = line.strip_prefix("- **").and_then(|l| l.split_once("**")) else {
            continue;
        };
        if ids(id) != [id] {
            return Err(format!("{SPEC}: '{id}' is not an ID such as BUF-01"));
        }
        if requirements.iter().any(|r| r.id == id) {
            return Err(format!("{SPEC}: {id} is there twice"));
        }
        let planned = rest.trim().strip_prefix("(planned: ").and_then(|r| r.split_once(')'));
        let planned = planned.map(|(when, _)| when.to_owned());
        requirements.push(Requirement { id: id.to_owned(), planned });
    }
    Ok(requirements)
}

/// The words of the form `LETTERS-DD` in a text.
fn ids(text: &str) -> Vec<&str> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '-');
    let is_id = |word: &&str| {
        word.split_once('-').is_some_and(|(family, number)| {
            !family.is_empty()
                && family.bytes().all(|b| b.is_ascii_uppercase())
                && number.len() == 2
                && number.bytes().all(|b| b.is_ascii_digit())
        })
    };
    words.filter(is_id).collect()
}

fn proofs(files: &[File], families: &BTreeSet<&str>) -> Proofs {
    let mut proofs = Proofs::new();
    let mut add = |comments: &str, test: String| {
        let known = |id: &&str| families.contains(id.split('-').next().unwrap_or(""));
        for id in ids(comments).into_iter().filter(known) {
            proofs.entry(id.to_owned()).or_default().insert(test.clone());
        }
    };
    let library = Conformance::of(files);
    for file in files.iter().filter(|file| is_scanned(file)) {
        let split = lex::split(&file.text);
        let everything = split.comments.join("\n");
        let functions = items::functions(&split);
        let module: String =
            split.comments.iter().filter_map(|l| l.trim().strip_prefix("//!")).collect();
        if file.path.contains("/examples/") {
            add(&module, file.path.clone());
        } else if files
            .iter()
            .any(|f| Some(f.path.as_str()) == expected_errors(&file.path).as_deref())
        {
            add(&everything, file.path.clone());
        }
        for function in functions.iter().filter(|f| library.is_test(file, f)) {
            let test = format!("{}::{}", file.path.trim_end_matches(".rs"), function.name);
            add(&function.comments, test.clone());
            if file.path.contains("/tests/") {
                add(&module, test);
            }
        }
    }
    proofs
}

fn is_scanned(file: &File) -> bool {
    let places = ["crates/", "xtask/", "examples/"];
    file.is_rust() && places.iter().any(|place| file.path.starts_with(place))
}

/// The file that holds a compile-fail case's expected message.
fn expected_errors(path: &str) -> Option<String> {
    path.strip_suffix(".rs").map(|stem| format!("{stem}.stderr"))
}

/// The conformance suite's code: its functions are tests when something names them.
struct Conformance {
    code: String,
}

impl Conformance {
    const PLACE: &str = "crates/folio-conformance/src/";

    fn of(files: &[File]) -> Conformance {
        let own = files.iter().filter(|f| f.is_rust() && f.path.starts_with(Self::PLACE));
        let code = own.map(|f| lex::split(&f.text).code.join("\n")).collect::<Vec<_>>().join("\n");
        Conformance { code }
    }

    fn is_test(&self, file: &File, function: &Function) -> bool {
        let listed = file.path.starts_with(Self::PLACE)
            && items::words(&self.code, &function.name).len() > 1;
        (function.is_test || listed) && !function.ignored
    }
}

/// The contradictions between requirements and tests.
fn problems(requirements: &[Requirement], proofs: &Proofs) -> Vec<String> {
    let unproved = requirements
        .iter()
        .filter(|r| r.planned.is_none() && !proofs.contains_key(&r.id))
        .map(|r| format!("{} is built, and no test names it", r.id));
    let unknown =
        proofs.iter().filter(|(id, _)| !requirements.iter().any(|r| r.id == **id)).flat_map(
            |(id, tests)| tests.iter().map(move |t| format!("{t} names {id}, not in {SPEC}")),
        );
    unproved.chain(unknown).collect()
}

fn to_json(requirements: &[Requirement], proofs: &Proofs) -> String {
    let entry = |r: &Requirement| {
        let tests = proofs.get(&r.id).into_iter().flatten().map(|test| json::quote(test));
        let tests = tests.collect::<Vec<_>>().join(",");
        let planned = r.planned.as_deref().map_or("null".to_owned(), json::quote);
        format!("{{\"id\":{},\"planned\":{planned},\"tests\":[{tests}]}}", json::quote(&r.id))
    };
    format!("[{}]", requirements.iter().map(entry).collect::<Vec<_>>().join(",\n "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, text: &str) -> File {
        File { path: path.to_owned(), text: text.to_owned() }
    }

    fn found(files: &[File]) -> Vec<String> {
        let proofs = proofs(files, &BTreeSet::from(["BUF"]));
        let pairs =
            proofs.iter().flat_map(|(id, tests)| tests.iter().map(move |t| format!("{id} {t}")));
        pairs.collect()
    }

    #[test]
    fn the_specification_is_read() {
        let text =
            "# T\n- **BUF-01** (planned: part 2) Text.\n- **BUF-02** Text (planned: no).\n- x";
        let read = parse(text).unwrap();
        assert_eq!(read[0].planned.as_deref(), Some("part 2"));
        assert_eq!((read[1].id.as_str(), read[1].planned.as_ref()), ("BUF-02", None));
        assert!(parse("- **BUF-01** a\n- **BUF-01** b").is_err());
        assert!(parse("- **Buffers** a").is_err());
    }

    #[test]
    fn tests_name_ids_in_their_comments_only() {
        let text = "//! BUF-09\n/// BUF-01, UTF-16.\n#[test]\nfn a() {\n// BUF-02\nf(\"BUF-03\"); }\n\
                    #[test]\n#[ignore = \"r\"]\nfn b() { /* BUF-04 */ }\n/// BUF-05\nfn c() {}";
        assert_eq!(
            found(&[file("crates/x/src/a.rs", text)]),
            ["BUF-01 crates/x/src/a::a", "BUF-02 crates/x/src/a::a"]
        );
        assert_eq!(found(&[file("crates/x/tests/a.rs", text)]).len(), 3);
        assert!(found(&[file("docs/a.rs", text)]).is_empty());
    }

    #[test]
    fn examples_compile_failures_and_listed_cases_count() {
        let main = "//! BUF-01\nfn main() {}\n// BUF-02\n";
        assert_eq!(
            found(&[file("crates/x/examples/e.rs", main)]),
            ["BUF-01 crates/x/examples/e.rs"]
        );
        let case = [file("crates/x/tests/ui/e.rs", main), file("crates/x/tests/ui/e.stderr", "")];
        assert_eq!(found(&case).len(), 2);
        let library = "/// BUF-03\npub fn fills() {}\n/// BUF-04\npub fn alone() {}\nlist![fills];";
        let place = "crates/folio-conformance/src/mem.rs";
        assert_eq!(
            found(&[file(place, library)]),
            ["BUF-03 crates/folio-conformance/src/mem::fills"]
        );
    }

    #[test]
    fn unproved_and_unknown_are_problems() {
        let requirements = parse("- **BUF-01** a\n- **BUF-02** (planned: part 2) b").unwrap();
        let proofs = Proofs::from([("BUF-07".to_owned(), BTreeSet::from(["t".to_owned()]))]);
        let problems = problems(&requirements, &proofs);
        assert_eq!(problems.len(), 2, "{problems:?}");
        assert!(problems[0].contains("BUF-01") && problems[1].contains("BUF-07"));
    }

    #[test]
    fn every_built_requirement_has_a_test() {
        let (requirements, proofs, files) = read(&tree::root().unwrap()).unwrap();
        assert!(requirements.len() >= 80);
        assert_eq!(all_problems(&requirements, &proofs, &files), Vec::<String>::new());
    }
}
