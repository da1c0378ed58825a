//! The modules of the source: their functions, constants, and the names that they import.

use std::collections::HashMap;
use std::path::Path;
use syn::{File, Item, ItemConst, ItemFn, UseTree};

/// A path from the root of the source, with `::`.
pub type Name = String;

/// A function or a constant, and the module that it is in.
pub struct Found<'p> {
    pub name: Name,
    pub item: &'p Item,
}

/// All modules, by their paths; the root's is empty.
pub struct Program {
    modules: HashMap<Name, Module>,
}

#[derive(Default)]
struct Module {
    items: HashMap<String, Item>,
    /// What a name stands for: a path as it is written.
    uses: HashMap<String, Vec<String>>,
}

pub fn join(module: &str, name: &str) -> Name {
    if module.is_empty() { name.to_owned() } else { format!("{module}::{name}") }
}

/// The module of a name, and what it is called there.
pub fn split(name: &str) -> (&str, &str) {
    name.rsplit_once("::").unwrap_or(("", name))
}

impl Program {
    /// Reads a folder with all that is in it.
    pub fn read(folder: &Path) -> Program {
        let mut program = Program { modules: HashMap::new() };
        program.folder(folder, "");
        program
    }

    fn folder(&mut self, folder: &Path, module: &str) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let stem = path.file_stem().unwrap().to_str().unwrap();
            let own = if stem == "mod" { module.to_owned() } else { join(module, stem) };
            match path.is_dir() {
                true => self.folder(&path, &own),
                false => self.file(&std::fs::read_to_string(&path).unwrap(), &own),
            }
        }
    }

    fn file(&mut self, text: &str, module: &str) {
        let file: File = syn::parse_str(&expanded(text)).unwrap();
        self.items(file.items, module);
    }

    fn items(&mut self, items: Vec<Item>, module: &str) {
        self.modules.entry(module.to_owned()).or_default();
        for item in items {
            let own = self.modules.get_mut(module).unwrap();
            match item {
                Item::Use(one) => imports(&one.tree, &mut vec![], &mut own.uses),
                Item::Mod(inner) => {
                    if let Some((_, items)) = inner.content {
                        self.items(items, &join(module, &inner.ident.to_string()));
                    }
                }
                Item::Fn(ItemFn { ref sig, .. }) => {
                    own.items.insert(sig.ident.to_string(), item);
                }
                Item::Const(ItemConst { ref ident, .. }) => {
                    own.items.insert(ident.to_string(), item);
                }
                _ => {}
            }
        }
    }

    /// What a path in a module stands for; none if that is not of the source.
    pub fn find(&self, module: &str, path: &[String]) -> Option<Found<'_>> {
        let (mut module, mut rest) = (module.to_owned(), path);
        while let [first, after @ ..] = rest
            && first == "super"
        {
            module = split(&module).0.to_owned();
            rest = after;
        }
        let own = self.modules.get(&module)?;
        let [first, after @ ..] = rest else { return None };
        if after.is_empty()
            && let Some(item) = own.items.get(first)
        {
            return Some(Found { name: join(&module, first), item });
        }
        let inner = join(&module, first);
        if !after.is_empty() && self.modules.contains_key(&inner) {
            return self.find(&inner, after);
        }
        let whole: Vec<String> = own.uses.get(first)?.iter().chain(after).cloned().collect();
        self.find(&module, &whole)
    }

    /// A path as a module's imports complete it.
    pub fn completed(&self, module: &str, path: &[String]) -> Vec<String> {
        let import = self.modules.get(module).and_then(|own| own.uses.get(&path[0]));
        match import {
            Some(import) => import.iter().chain(&path[1..]).cloned().collect(),
            None => path.to_vec(),
        }
    }
}

/// The text with `rounding!` expanded.
fn expanded(text: &str) -> String {
    let Some(begin) = text.find("macro_rules! rounding") else { return text.to_owned() };
    let body = begin + text[begin..].find("=> {").unwrap() + "=> {".len();
    let end = body + text[body..].find("\n    };").unwrap();
    let mut rest = text[end..].to_owned();
    while let Some(call) = rest.find("rounding! {") {
        let close = call + rest[call..].find('}').unwrap();
        let args: Vec<&str> = rest[call + "rounding! {".len()..close].split(',').collect();
        let one = text[body..end].replace("$float", args[0].trim()).replace("$whole", args[1]);
        rest.replace_range(call..=close, &one);
    }
    text[..begin].to_owned() + rest.split_once("};\n}").unwrap().1
}

fn imports(tree: &UseTree, path: &mut Vec<String>, uses: &mut HashMap<String, Vec<String>>) {
    match tree {
        UseTree::Path(one) => {
            path.push(one.ident.to_string());
            imports(&one.tree, path, uses);
            path.pop();
        }
        UseTree::Name(one) => {
            let name = one.ident.to_string();
            let whole = path.iter().cloned().chain([name.clone()]).collect();
            uses.insert(name, whole);
        }
        UseTree::Group(group) => group.items.iter().for_each(|tree| imports(tree, path, uses)),
        // Of modules with tests.
        UseTree::Rename(_) | UseTree::Glob(_) => {}
    }
}
