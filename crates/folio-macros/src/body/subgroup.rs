//! Sub-groups: what their items do together, which is only where all of them are (semantics 11.3).

use super::{Both, Walk, place_of};
use crate::combine;
use crate::tree::Tree;
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{ExprMethodCall, GenericArgument};

/// Methods of items that combine values, and the folds that they are.
const FOLDS: &[(&str, &str)] = &[
    ("subgroup_reduce", "Reduce"),
    ("subgroup_inclusive_scan", "Inclusive"),
    ("subgroup_exclusive_scan", "Exclusive"),
];

/// The others.
const OTHERS: &[&str] = &[
    "subgroup_any",
    "subgroup_all",
    "subgroup_broadcast",
    "subgroup_shuffle_xor",
    "subgroup_match",
];

/// Whether this is the name of an operation that the items of a sub-group do together.
pub(super) fn is_together(name: &str) -> bool {
    OTHERS.contains(&name) || FOLDS.iter().any(|(fold, _)| *fold == name)
}

impl Walk {
    /// Walks what not all items may come to.
    pub(super) fn apart(&mut self, walk: impl FnOnce(&mut Walk) -> Both) -> Both {
        let together = std::mem::replace(&mut self.together, false);
        let both = walk(self);
        self.together = together && !self.left;
        both
    }

    /// From here on, items may have left the phase.
    pub(super) fn may_be_gone(&mut self) {
        (self.together, self.left) = (false, true);
        self.skips();
    }

    /// A call of such a method.
    pub(super) fn subgroup(&mut self, call: &ExprMethodCall, name: &str) -> Both {
        let method = &call.method;
        if !self.together {
            let text = format!(
                "`{name}` is for all items at once: write it in a `let` of its own, directly in \
                 `g.each(|i| ..)`, before `return` and `assert!`"
            );
            return self.refuse(method.span(), text);
        }
        let (of, of_tree) = self.expr(&call.receiver);
        let args: Vec<Both> = call.args.iter().map(|arg| self.expr(arg)).collect();
        let (natives, trees): (Vec<_>, Vec<_>) = args.into_iter().unzip();
        let given = quote!(#of #(, #natives)*);
        let given = super::call::arguments(call.paren_token.span.join(), given);
        let function = quote_spanned!(method.span() => ::folio::ir::device::GroupItem::#method);
        let Some((_, fold)) = FOLDS.iter().find(|(fold, _)| *fold == name) else {
            let tree = Tree::method(&of_tree, name, &trees, place_of(method.span()));
            return (quote!(#function #given), tree);
        };
        let generics = call.turbofish.as_ref().and_then(|generics| generics.args.first());
        let (Some(GenericArgument::Type(combine)), Some(tree)) = (generics, trees.first()) else {
            let text = format!("say what combines which value: `i.{name}::<Add>(x)`");
            return self.refuse(method.span(), text);
        };
        let combine = combine::resolved(combine);
        let entry = self.entry(quote_spanned! {combine.span()=>
            <#combine as ::folio::ir::device::Combining>::entry as fn() -> __s::Entry
        });
        let native = quote_spanned!(method.span() => #function::<#combine, _>);
        (quote!(#native #given), Tree::of("subgroup").word(fold).word(entry).part(tree))
    }
}
