//! The layers within this crate: a module below the API imports only what stands before it in
//! [`LAYERS`].
//!
//! The test reads the sources as the compiler does: from `lib.rs` along `mod`, without what only
//! tests have. Of each file it takes the paths that begin with `crate`, `super` or `self`, in `use`
//! and anywhere else.
#![allow(clippy::expect_used, reason = "helpers of tests may panic")]

use std::fs;
use std::path::{Path, PathBuf};

/// Modules below the API, from the ground up. Each imports itself and earlier ones. A longer path
/// stands for itself, and not for the module that it is in.
const LAYERS: &[&str] = &[
    "sync",
    "canary",
    "panics",
    "geom",
    "element",
    "token",
    "report",
    "planted",
    "metrics",
    "allocator",
    "foreign",
    "notice",
    "progress",
    "program",
    "hal",
    "pages",
    "order",
    "sched",
    "error",
    // The rooms of the engine, in the order of `engine/mod.rs`.
    "engine::terms",
    "engine::pages",
    "engine::kernels",
    "engine::lanes",
    "engine::ledger",
    "engine::plan",
    "engine::threads",
    "engine::memory",
    "engine::runs",
    "engine",
];

/// Imports that run upwards all the same: from where, what, and why.
const EXCEPTIONS: &[(&str, &str, &str)] = &[
    ("engine", "engine::Engine", "each room has the verbs of the engine that are its own"),
    ("engine", "tune::Tunings", "what was measured of launches lives as long as the engine"),
];

/// A token of Rust.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    Name(String),
    Text(String),
    Sign(char),
}

/// Tokens with their lines. Comments, lifetimes and numbers are left out.
fn tokens(source: &str) -> Vec<(usize, Token)> {
    let chars: Vec<char> = source.chars().collect();
    let at = |i: usize| chars.get(i).copied().unwrap_or('\0');
    let (mut out, mut i, mut line) = (Vec::new(), 0, 1);
    while i < chars.len() {
        let (start, c) = (i, at(i));
        if c == '/' && at(i + 1) == '/' {
            i += chars[i..].iter().take_while(|c| **c != '\n').count();
        } else if c == '/' && at(i + 1) == '*' {
            i = end_of_comment(&chars, i);
        } else if let Some((text, end)) = raw_text(&chars, i) {
            out.push((line, Token::Text(text)));
            i = end;
        } else if c == '"' {
            i = end_of_text(&chars, i, '"');
            out.push((line, Token::Text(chars[start + 1..i - 1].iter().collect())));
        } else if c == '\'' {
            // A lifetime has no second quote.
            let is_char = at(i + 1) == '\\' || at(i + 2) == '\'';
            i = if is_char { end_of_text(&chars, i, '\'') } else { i + 1 };
        } else if c.is_alphanumeric() || c == '_' {
            i += chars[i..].iter().take_while(|c| c.is_alphanumeric() || **c == '_').count();
            if !c.is_numeric() {
                out.push((line, Token::Name(chars[start..i].iter().collect())));
            }
        } else {
            if !c.is_whitespace() {
                out.push((line, Token::Sign(c)));
            }
            i += 1;
        }
        line += chars[start..i].iter().filter(|c| **c == '\n').count();
    }
    out
}

fn end_of_comment(chars: &[char], mut i: usize) -> usize {
    let mut depth = 0;
    while i < chars.len() {
        match (chars[i], chars.get(i + 1)) {
            ('/', Some('*')) => (depth, i) = (depth + 1, i + 1),
            ('*', Some('/')) => (depth, i) = (depth - 1, i + 1),
            _ => {}
        }
        i += 1;
        if depth == 0 {
            break;
        }
    }
    i
}

/// Behind the closing quote of a text that begins at `i`.
fn end_of_text(chars: &[char], mut i: usize, quote: char) -> usize {
    i += 1;
    while i < chars.len() && chars[i] != quote {
        i += if chars[i] == '\\' { 2 } else { 1 };
    }
    i + 1
}

/// A raw string that begins at `i`, and where it ends.
fn raw_text(chars: &[char], i: usize) -> Option<(String, usize)> {
    let is_name = |c: &char| c.is_alphanumeric() || *c == '_';
    if i > 0 && chars.get(i - 1).is_some_and(is_name) {
        return None;
    }
    let first = i + usize::from(chars[i] == 'b');
    let hashes = chars.get(first + 1..)?.iter().take_while(|c| **c == '#').count();
    let start = first + 1 + hashes;
    if chars.get(first) != Some(&'r') || chars.get(start) != Some(&'"') {
        return None;
    }
    let close: Vec<char> = std::iter::once('"').chain(std::iter::repeat_n('#', hashes)).collect();
    let len = chars[start + 1..].windows(close.len()).position(|end| end == close)?;
    let text = chars[start + 1..start + 1 + len].iter().collect();
    Some((text, start + 1 + len + close.len()))
}

/// A path that a file names, in full.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Import {
    /// The module that names it.
    from: String,
    to: String,
    line: usize,
}

/// Another file of a module.
struct Child {
    name: String,
    /// `#[path]`.
    file: Option<String>,
}

/// Reads one file.
struct Reader<'t> {
    tokens: &'t [(usize, Token)],
    at: usize,
    module: Vec<String>,
    imports: Vec<Import>,
    children: Vec<Child>,
}

impl Reader<'_> {
    fn sign(&self, ahead: usize) -> Option<char> {
        match self.tokens.get(self.at + ahead)?.1 {
            Token::Sign(sign) => Some(sign),
            _ => None,
        }
    }

    fn name(&self, ahead: usize) -> Option<&str> {
        match &self.tokens.get(self.at + ahead)?.1 {
            Token::Name(name) => Some(name),
            _ => None,
        }
    }

    fn is_path_sign(&self, ahead: usize) -> bool {
        self.sign(ahead) == Some(':') && self.sign(ahead + 1) == Some(':')
    }

    /// Goes behind the bracket that closes the one here.
    fn skip_brackets(&mut self) {
        let mut depth = 0;
        while self.at < self.tokens.len() {
            match self.sign(0) {
                Some('(' | '[' | '{') => depth += 1,
                Some(')' | ']' | '}') => depth -= 1,
                _ => {}
            }
            self.at += 1;
            if depth == 0 {
                return;
            }
        }
    }

    /// Goes behind the item, field or statement here.
    fn skip_item(&mut self) {
        while self.at < self.tokens.len() {
            match self.sign(0) {
                Some(';' | ',') => return self.at += 1,
                Some('}' | ')') => return,
                Some('{') => return self.skip_brackets(),
                Some('(' | '[') => self.skip_brackets(),
                _ => self.at += 1,
            }
        }
    }

    /// Reads items until the end of the module.
    fn module(&mut self) {
        let mut file = None;
        let mut depth = 0;
        while self.at < self.tokens.len() {
            match (self.sign(0), self.name(0)) {
                (Some('#'), _) => {
                    let from = self.at;
                    self.at += 1 + usize::from(self.sign(1) == Some('!'));
                    self.skip_brackets();
                    let attribute = &self.tokens[from..self.at];
                    if is_test(attribute) {
                        self.skip_attributes();
                        self.skip_item();
                    } else if let Some(path) = path_of(attribute) {
                        file = Some(path);
                    }
                }
                (Some('{'), _) => (depth, self.at) = (depth + 1, self.at + 1),
                (Some('}'), _) if depth == 0 => return self.at += 1,
                (Some('}'), _) => (depth, self.at) = (depth - 1, self.at + 1),
                // A visibility imports nothing.
                (_, Some("pub")) if self.sign(1) == Some('(') => {
                    self.at += 1;
                    self.skip_brackets();
                }
                (_, Some("mod")) if self.name(1).is_some() => self.child(file.take()),
                (_, Some("use")) => {
                    self.at += 1;
                    self.tree(&[]);
                }
                (_, Some("crate" | "super" | "self")) if self.is_path_sign(1) => self.inline(),
                _ => self.at += 1,
            }
        }
    }

    fn skip_attributes(&mut self) {
        while self.sign(0) == Some('#') {
            self.at += 1;
            self.skip_brackets();
        }
    }

    fn child(&mut self, file: Option<String>) {
        let name = self.name(1).unwrap_or_default().to_owned();
        let is_here = self.sign(2) == Some('{');
        self.at += 3;
        if is_here {
            self.module.push(name);
            self.module();
            self.module.pop();
        } else {
            self.children.push(Child { name, file });
        }
    }

    /// A tree of `use`, behind `before`.
    fn tree(&mut self, before: &[String]) {
        let mut path = before.to_vec();
        loop {
            if self.sign(0) == Some('{') {
                self.at += 1;
                while self.at < self.tokens.len() && self.sign(0) != Some('}') {
                    self.tree(&path);
                    self.at += usize::from(self.sign(0) == Some(','));
                }
                return self.at += 1;
            }
            if let Some(name) = self.name(0) {
                path.push(name.to_owned());
            }
            // A name, or `*`.
            self.at += 1;
            if !self.is_path_sign(0) {
                break;
            }
            self.at += 2;
        }
        self.note(&path);
        if self.name(0) == Some("as") {
            self.at += 2;
        }
    }

    fn inline(&mut self) {
        let mut path = Vec::new();
        while let Some(name) = self.name(0) {
            path.push(name.to_owned());
            self.at += 1;
            if !self.is_path_sign(0) {
                break;
            }
            self.at += 2;
        }
        self.note(&path);
    }

    fn note(&mut self, path: &[String]) {
        let Some(first) = path.first().map(String::as_str) else { return };
        let mut to = match first {
            "crate" => Vec::new(),
            "self" | "super" => self.module.clone(),
            // Another crate, or a name of this module.
            _ => return,
        };
        for name in path {
            match name.as_str() {
                "crate" | "self" => {}
                "super" => drop(to.pop()),
                name => to.push(name.to_owned()),
            }
        }
        let line = self.tokens.get(self.at.saturating_sub(1)).map_or(0, |token| token.0);
        self.imports.push(Import { from: self.module.join("::"), to: to.join("::"), line });
    }
}

/// `#[cfg]` of what only tests have.
fn is_test(attribute: &[(usize, Token)]) -> bool {
    let names = attribute.iter().filter_map(|(_, token)| match token {
        Token::Name(name) => Some(name.as_str()),
        _ => None,
    });
    let names: Vec<&str> = names.collect();
    let is_not = names.windows(2).any(|pair| pair == ["not", "test"]);
    names.first() == Some(&"cfg") && names.contains(&"test") && !is_not
}

fn path_of(attribute: &[(usize, Token)]) -> Option<String> {
    match attribute {
        [_, _, (_, Token::Name(name)), _, (_, Token::Text(path)), _] if name == "path" => {
            Some(path.clone())
        }
        _ => None,
    }
}

/// What a source of this module names, and its files.
fn read(module: &[String], source: &str) -> (Vec<Import>, Vec<Child>) {
    let tokens = tokens(source);
    let mut reader = Reader {
        tokens: &tokens,
        at: 0,
        module: module.to_vec(),
        imports: Vec::new(),
        children: Vec::new(),
    };
    while reader.at < tokens.len() {
        reader.module();
    }
    (reader.imports, reader.children)
}

/// What all files from this one on name, and how many there are.
fn walk(file: &Path, module: &[String], out: &mut Vec<Import>) -> usize {
    let (imports, children) = read(module, &fs::read_to_string(file).expect("a source"));
    out.extend(imports);
    let folder = file.parent().expect("a folder");
    // `a/mod.rs` and `lib.rs` have their files beside them, `a.rs` in `a/`.
    let is_root = file.ends_with("mod.rs") || module.is_empty();
    let mut files = 1;
    for Child { name, file: path } in children {
        let place = match (is_root, file.file_stem()) {
            (false, Some(stem)) => folder.join(stem),
            _ => folder.to_owned(),
        };
        let found: Vec<PathBuf> = match path {
            Some(path) => vec![folder.join(path)],
            None => vec![place.join(format!("{name}.rs")), place.join(&name).join("mod.rs")],
        };
        let found = found.iter().find(|file| file.is_file()).expect("the file of a module");
        let mut module = module.to_vec();
        module.push(name);
        files += walk(found, &module, out);
    }
    files
}

/// The layer of a path: the longest of the list that it is in.
fn layer(path: &str) -> Option<usize> {
    let is_in = |layer: &&&str| {
        path.strip_prefix(**layer).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
    };
    let found = LAYERS.iter().filter(is_in).max_by_key(|layer| layer.len())?;
    LAYERS.iter().position(|layer| layer == found)
}

fn is_exception(import: &Import) -> bool {
    let is = |wanted: &str, path: &str| {
        path.strip_prefix(wanted).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
    };
    EXCEPTIONS.iter().any(|(from, to, _)| is(from, &import.from) && is(to, &import.to))
}

/// Runs upwards: to a later layer, or out of the list.
fn is_upward(import: &Import) -> bool {
    let Some(own) = layer(&import.from) else { return false };
    let later = layer(&import.to).is_none_or(|to| to > own);
    later && !is_exception(import)
}

#[test]
fn imports_run_downwards() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/lib.rs");
    let mut imports = Vec::new();
    let files = walk(&root, &[], &mut imports);
    assert!(files > 150, "{files} files read");
    let upward = imports.iter().filter(|import| is_upward(import));
    let upward = upward.map(|i| format!("{}: {} (line {})", i.from, i.to, i.line));
    let upward: Vec<String> = upward.collect();
    assert!(upward.is_empty(), "imports that run upwards:\n{}", upward.join("\n"));
}

/// What a source of this module imports upwards.
fn upward(module: &str, source: &str) -> Vec<String> {
    let module: Vec<String> = module.split("::").map(str::to_owned).collect();
    let (imports, _) = read(&module, source);
    imports.into_iter().filter(is_upward).map(|import| import.to).collect()
}

#[test]
fn planted_import_is_found() {
    let planted = [
        ("engine::kernels::fused", "use crate::probe;", "probe"),
        ("engine::kernels", "pub(crate) use crate::{geom::Dims, probe::{self as p, q}};", "probe"),
        ("engine::kernels", "use crate::{probe::{remembered}};", "probe::remembered"),
        ("error", "use crate::engine::kernels::blame::*;", "engine::kernels::blame"),
        ("engine::pages::residency", "use super::super::ledger::Ledger;", "engine::ledger::Ledger"),
        ("engine::lanes", "fn f(x: crate::queue::Queue) { g::<'a, u8>('\\'', x) }", "queue::Queue"),
        ("engine::lanes", "mod inner { use super::super::runs; }", "engine::runs"),
        ("engine::plan", "const C: char = '\"'; use crate::graph::{self};", "graph"),
        ("hal", "fn f() -> u8 { let s = r#\"\"\"#; crate::Runtime::of(s) }", "Runtime::of"),
        ("hal", "#[cfg(not(test))] use crate::usm;", "usm"),
    ];
    for (module, source, to) in planted {
        let found = upward(module, source);
        assert!(found.contains(&to.to_owned()), "{source}: {found:?}");
    }
}

#[test]
fn import_that_runs_downwards_is_not_found() {
    let fine = [
        (
            "engine::ledger",
            "use crate::engine::lanes::{Lanes, port::LaneTable}; use super::Engine;",
        ),
        (
            "engine::pages",
            "// crate::probe\n/* crate::probe /* */ crate::queue */ use crate::geom;",
        ),
        ("engine::pages", "const TEXT: &str = \"crate::probe \\\" crate::queue\";"),
        ("engine::pages", "pub(in crate::engine) fn f() {} pub(in crate::graph) struct S;"),
        ("engine::pages", "#[cfg(test)] mod tests { use crate::Runtime; fn f() { if x { } } }"),
        ("engine::pages", "#[cfg(all(test, not(loom)))] #[path = \"t.rs\"] mod t; fn f() {}"),
        ("engine::pages", "#[cfg(test)] use crate::Runtime;"),
        // The API may import everything.
        ("queue", "use crate::probe; use crate::engine::Engine;"),
    ];
    for (module, source) in fine {
        assert_eq!(upward(module, source), [""; 0], "{source}");
    }
}

#[test]
fn file_of_a_module_is_found_by_its_attribute() {
    let (_, children) =
        read(&[], "mod a; #[path = \"b_c.rs\"] mod b; #[cfg(test)] mod c; mod d {}");
    let names: Vec<_> = children.iter().map(|c| (c.name.as_str(), c.file.as_deref())).collect();
    assert_eq!(names, [("a", None), ("b", Some("b_c.rs"))]);
}

#[test]
fn exceptions_are_all_needed() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/lib.rs");
    let mut imports = Vec::new();
    walk(&root, &[], &mut imports);
    for (from, to, why) in EXCEPTIONS {
        let is_it = |import: &Import| import.from.starts_with(from) && import.to.starts_with(to);
        assert!(imports.iter().any(is_it), "{from} imports {to} no more: {why}");
    }
}
