//! Names that are no variables of a function: they are constants, or the function cannot see them.

use super::Walk;
use crate::foreign;
use syn::ExprPath;
use syn::ext::IdentExt;

impl Walk {
    /// Why this is no constant, as far as its spelling says; and what is told once of all that have
    /// it in common.
    pub(super) fn no_constant(&self, path: &ExprPath) -> Option<(String, String)> {
        let segments = &path.path.segments;
        let last = segments.last().filter(|_| path.qself.is_none())?;
        let name = last.ident.unraw().to_string();
        let owner = segments.iter().rev().nth(1).map(|owner| owner.ident.unraw().to_string());
        if owner.is_none() {
            if let Some(text) = foreign::value(&name) {
                return Some((text.to_owned(), format!("there is no `{name}` here; {text}")));
            }
            if name.starts_with(char::is_lowercase) && name != "self" {
                let text = match self.scopes.like(&name) {
                    Some(near) => format!("`{name}` is no variable here; there is `{near}`"),
                    None => {
                        let ty = if COUNTS.contains(&name.as_str()) { "usize" } else { "f32" };
                        format!(
                            "`{name}` is no variable here, where parameters are seen and constants, whose names have \
                             capitals; pass it as a parameter: `{name}: {ty}`"
                        )
                    }
                };
                return Some((name, text));
            }
        }
        (owner.is_none() && is_variant(&name)).then(|| {
            let text = format!("write a variant with its enum's name, `Mode::{name}`");
            (format!("enum {name}"), text)
        })
    }
}

/// Names that variables with counts have, as a rule.
const COUNTS: &[&str] =
    &["n", "m", "k", "len", "size", "count", "rows", "columns", "width", "height"];

/// Variants are spelt so, and constants are not.
pub(super) fn is_variant(name: &str) -> bool {
    name.starts_with(char::is_uppercase) && name.contains(char::is_lowercase)
}
