//! Identifiers: the user's names, each with an ending that makes it unique and keeps it apart from
//! every word of the dialects.

use crate::ir::{Kernel, ParamId, Site, VarId};
use crate::types::{Composite, Type};

/// Longer names are cut.
const LONGEST: usize = 40;

/// Letters, digits and `_` of a name, beginning with a letter.
pub fn word(name: &str) -> String {
    let fits = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    let word: String = name.chars().take(LONGEST).map(fits).collect();
    match word.chars().next() {
        Some(first) if first.is_ascii_alphabetic() => word,
        _ => format!("n{word}"),
    }
}

/// A parameter's.
pub fn param(kernel: &Kernel, param: ParamId) -> String {
    let name = kernel.params.get(param.index()).map_or("", |p| p.name.as_str());
    format!("{}_p{}", word(name), param.0)
}

/// A variable's.
pub fn var(kernel: &Kernel, var: VarId) -> String {
    let name = kernel.vars.get(var.index()).map_or("", |v| v.name.as_str());
    format!("{}_v{}", word(name), var.0)
}

/// A field's.
pub fn field(name: &str, at: usize) -> String {
    format!("{}_f{at}", word(name))
}

/// A struct's or array's.
pub fn composite(kernel: &Kernel, at: u32) -> String {
    match kernel.types.get(Type::Composite(at)) {
        // The entry is `folio_` and the kernel's name, whatever that is.
        Some(Composite::Struct(s)) if s.name.starts_with("folio") => {
            format!("of_{}_t{at}", word(&s.name))
        }
        Some(Composite::Struct(s)) => format!("{}_t{at}", word(&s.name)),
        _ => format!("array_t{at}"),
    }
}

/// A place in the source, for a comment: nothing in it can end or continue one.
pub fn site(site: &Site) -> String {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '/' | '-');
    let file: String = site.file.chars().map(|c| if fits(c) { c } else { '_' }).collect();
    format!("{file}:{}:{}", site.line, site.column)
}
