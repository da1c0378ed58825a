//! Tiles: which expressions are one, and what is done with them. A tile is the whole group's, so
//! that happens in the group's code.

use super::group::{Special, Zone};
use super::lent::bare;
use super::{Both, Walk, place_of};
use crate::combine;
use crate::tree::Tree;
use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Expr, ExprCall, ExprMethodCall, GenericArgument, Ident, Pat, PathArguments};

/// Methods of views that give a tile, and whether its rows are the view's columns.
const LOADS: &[(&str, &str, bool)] =
    &[("tile", "load", false), ("tile_transposed", "load_transposed", true)];

/// Methods of tiles that give another one.
const GIVES: &[&str] = &["map", "map_indexed", "zip", "clone", "reduce_rows", "reduce_columns"];

/// Methods that change a tile.
const CHANGES: &[&str] = &["add_product", RELAXED];

/// The one that takes parts of matrices.
const RELAXED: &str = "add_relaxed_product";

/// Methods of views that give such a part, and whether its rows are the view's columns.
const CORNERS: &[(&str, bool)] = &[("corner", false), ("corner_transposed", true)];

const WHOLE: &str = "a tile is the whole group's, and so is what is done with it: write it outside of `g.each(|i| ..)`, \
     and of what is done with an element";

const RELAXED_TAKES: &str = "a relaxed product takes parts of two matrices and its depth: \
     `sum.add_relaxed_product(a.corner((row, 0)), b.corner((0, column)), depth)`";

/// The function of `Tile` that makes one, with the arguments of the type.
fn maker(call: &ExprCall) -> Option<(&Ident, &PathArguments)> {
    let Expr::Path(path) = &*call.func else { return None };
    let [.., of, function] = path.path.segments.iter().collect::<Vec<_>>()[..] else { return None };
    let makes = of.ident == "Tile" && ["zero", "fill"].iter().any(|name| function.ident == name);
    makes.then_some((&function.ident, &of.arguments))
}

impl Walk {
    /// Whether an expression is a tile.
    pub(super) fn is_tile(&self, expr: &Expr) -> bool {
        match bare(expr) {
            Expr::Path(_) => self.number(expr).is_some_and(|at| self.tiles.contains(&at)),
            Expr::Reference(of) => self.is_tile(&of.expr),
            Expr::Call(call) => maker(call).is_some(),
            Expr::MethodCall(call) => {
                let gives = GIVES.iter().any(|name| call.method == name);
                self.load_of(call).is_some() || (gives && self.is_tile(&call.receiver))
            }
            _ => false,
        }
    }

    fn load_of(&self, call: &ExprMethodCall) -> Option<(&'static str, bool)> {
        let (_, function, turned) = LOADS.iter().find(|(name, ..)| call.method == name)?;
        self.is_view(&call.receiver).then_some((*function, *turned))
    }

    /// A name that is a tile's is used where items are.
    pub(super) fn refuse_tile(&mut self, expr: &Expr) -> Option<Both> {
        let apart = self.is_tile(expr) && self.zone != Zone::Uniform;
        apart.then(|| self.refuse(expr.span(), self.why_no_tile()))
    }

    fn why_no_tile(&self) -> &'static str {
        let grouped = self.params.iter().any(|(_, of)| matches!(of, Special::Group(_)));
        if grouped { WHOLE } else { "tiles are of kernels of groups: `g: Group<2>`" }
    }

    /// `Tile::zero()`, `Tile::fill(x)`
    pub(super) fn makes_tile(&mut self, call: &ExprCall) -> Option<Both> {
        let (function, arguments) = maker(call)?;
        if self.zone != Zone::Uniform {
            return Some(self.refuse(call.span(), self.why_no_tile()));
        }
        let given = call.args.first().map(|value| self.expr(value));
        let (native, tree) = given.unzip();
        let (slot, entry) = self.slot(function.span());
        let span = call.func.span();
        let made = quote_spanned!(span => ::folio::ir::device::Tile #arguments::#function);
        let given = super::call::arguments(call.paren_token.span.join(), quote!(#native));
        let tree = Tree::of("tile").word(entry).maybe(tree.as_ref());
        Some((quote!(#slot.of(#made #given)), tree))
    }

    /// A method of a tile, or one that gives or takes a tile.
    pub(super) fn of_tile(&mut self, call: &ExprMethodCall) -> Option<Both> {
        let name = call.method.to_string();
        let load = self.load_of(call);
        let puts = self.special_of(&call.receiver) == Special::OfTile && name == "put";
        let own = self.is_tile(&call.receiver);
        let known = GIVES.contains(&&*name) || CHANGES.contains(&&*name);
        if load.is_none() && !puts && !own {
            return None;
        }
        if self.zone != Zone::Uniform {
            return Some(self.refuse(call.method.span(), self.why_no_tile()));
        }
        Some(match load {
            Some((function, turned)) => self.loads_tile(call, function, turned),
            None if puts => self.puts_tile(call),
            None if !known => self.refuse(
                call.method.span(),
                "a tile has `map`, `map_indexed`, `zip`, `reduce_rows`, `reduce_columns`, `add_product`, `add_relaxed_product` and `clone`",
            ),
            None if name == RELAXED => self.adds_relaxed(call),
            None if name.starts_with("reduce_") => self.folds_tile(call, name == "reduce_rows"),
            None => self.computes_tile(call, &name),
        })
    }

    fn loads_tile(&mut self, call: &ExprMethodCall, function: &str, turned: bool) -> Both {
        let [index] = &call.args.iter().collect::<Vec<_>>()[..] else {
            return self.refuse(
                call.span(),
                "a tile begins at an index: `x.tile::<64, 16>((row, column))`",
            );
        };
        let (view, view_tree) = self.as_whole(&call.receiver);
        let (at, at_tree) = self.expr(index);
        let span = call.method.span();
        let (slot, entry) = self.slot(span);
        let extents = match &call.turbofish {
            Some(of) => {
                let extents = of.args.iter();
                quote!(#(#extents),*)
            }
            None => quote!(_, _),
        };
        let function = Ident::new(function, span);
        let load = quote_spanned!(span => ::folio::ir::device::tile::#function::<_, #extents, _>);
        let given = super::call::arguments(call.paren_token.span.join(), quote!(#view, #at));
        let tree = Tree::of("tile_of").part(&view_tree).part(&at_tree).word(entry).flag(turned);
        (quote!(#slot.of(#load #given)), tree)
    }

    fn puts_tile(&mut self, call: &ExprMethodCall) -> Both {
        let [group, tile] = &call.args.iter().collect::<Vec<_>>()[..] else {
            return self.refuse(call.span(), "the group puts its tile: `c.put(g, tile)`");
        };
        if !matches!(self.special_of(group), Special::Group(_)) || !self.is_tile(tile) {
            return self.refuse(call.span(), "the group puts its tile: `c.put(g, tile)`");
        }
        let (of, of_tree) = self.as_whole(&call.receiver);
        let ((group, group_tree), (tile, tile_tree)) = (self.expr(group), self.expr(tile));
        let span = call.method.span();
        let put = quote_spanned!(span => ::folio::ir::device::View::put);
        let given = quote!(#of, #group, #tile);
        let given = super::call::arguments(call.paren_token.span.join(), given);
        let tree = Tree::method(&of_tree, "put", &[group_tree, tile_tree], place_of(span));
        (quote!(#put #given), tree)
    }

    fn folds_tile(&mut self, call: &ExprMethodCall, rows: bool) -> Both {
        let generics = call.turbofish.as_ref().and_then(|generics| generics.args.first());
        let Some(GenericArgument::Type(combine)) = generics else {
            let text = format!("say what combines: `x.{}::<Add>()`", call.method);
            return self.refuse(call.method.span(), text);
        };
        let (of, of_tree) = self.expr(&call.receiver);
        let combine = combine::resolved(combine);
        let entry = self.entry(quote_spanned! {combine.span()=>
            <#combine as ::folio::ir::device::Combining>::entry as fn() -> __s::Entry
        });
        let method = &call.method;
        let fold = quote_spanned!(method.span() => ::folio::ir::device::Tile::#method::<#combine>);
        let tree = Tree::of("tile_fold").part(&of_tree).word(entry).flag(rows);
        (quote!(#fold(&#of)), tree)
    }

    /// `sum.add_relaxed_product(a.corner(..), b.corner(..), depth)`
    fn adds_relaxed(&mut self, call: &ExprMethodCall) -> Both {
        let [a, b, depth] = &call.args.iter().collect::<Vec<_>>()[..] else {
            return self.refuse(call.span(), RELAXED_TAKES);
        };
        let (of, of_tree) = self.expr(&call.receiver);
        let (mut natives, mut trees) = (vec![], vec![]);
        for corner in [a, b] {
            let Some((native, parts)) = self.corner(corner) else {
                return self.refuse(corner.span(), RELAXED_TAKES);
            };
            natives.push(native);
            trees.extend(parts);
        }
        let (depth, depth_tree) = self.expr(depth);
        natives.push(depth);
        trees.push(depth_tree);
        let span = call.method.span();
        let method = &call.method;
        let function = quote_spanned!(span => ::folio::ir::device::Tile::#method);
        let given = quote!(&mut #of #(, #natives)*);
        let given = super::call::arguments(call.paren_token.span.join(), given);
        let tree = Tree::method(&of_tree, RELAXED, &trees, place_of(span));
        (quote!(#function #given), tree)
    }

    /// A part of a matrix, if it is one: its view, where it begins, and whether it is transposed.
    fn corner(&mut self, expr: &Expr) -> Option<(TokenStream, [Tree; 3])> {
        let Expr::MethodCall(call) = bare(expr) else { return None };
        let (name, turned) = CORNERS.iter().find(|(name, _)| call.method == name)?;
        let [index] = &call.args.iter().collect::<Vec<_>>()[..] else { return None };
        if !self.is_view(&call.receiver) {
            return None;
        }
        let (view, view_tree) = self.as_whole(&call.receiver);
        let (at, at_tree) = self.expr(index);
        let span = call.method.span();
        let name = Ident::new(name, span);
        let corner = quote_spanned!(span => ::folio::ir::device::tile::#name);
        let given = super::call::arguments(call.paren_token.span.join(), quote!(#view, #at));
        Some((quote!(#corner #given), [view_tree, at_tree, Tree::bool(*turned)]))
    }

    fn computes_tile(&mut self, call: &ExprMethodCall, name: &str) -> Both {
        let (of, of_tree) = self.expr(&call.receiver);
        let (mut natives, mut trees) = (vec![], vec![]);
        for arg in &call.args {
            let (native, tree) = match bare(arg) {
                Expr::Closure(_) => self.of_elements(arg),
                of => self.other_tile(of),
            };
            natives.push(native);
            trees.push(tree);
        }
        let method = &call.method;
        let changes = CHANGES.contains(&name).then(|| quote!(mut));
        let function = quote_spanned!(method.span() => ::folio::ir::device::Tile::#method);
        let given = quote!(& #changes #of #(, #natives)*);
        let given = super::call::arguments(call.paren_token.span.join(), given);
        let tree = Tree::method(&of_tree, name, &trees, place_of(method.span()));
        (quote!(#function #given), tree)
    }

    /// Another tile.
    fn other_tile(&mut self, of: &Expr) -> Both {
        if !self.is_tile(of) {
            return self.refuse(of.span(), "this is no tile");
        }
        match of {
            Expr::Reference(of) => {
                let (native, tree) = self.expr(&of.expr);
                (quote_spanned!(of.and_token.span => &#native), tree)
            }
            of => {
                let (native, tree) = self.expr(of);
                (quote_spanned!(of.span() => &#native), tree)
            }
        }
    }

    /// What is done with each element.
    fn of_elements(&mut self, arg: &Expr) -> Both {
        let Expr::Closure(closure) = bare(arg) else {
            return self.refuse(arg.span(), "this takes what an element becomes: `|x| ..`");
        };
        let phase = std::mem::replace(&mut self.phase, self.scopes.next());
        self.zone = Zone::Element;
        let both = self.given_closure(closure);
        (self.zone, self.phase) = (Zone::Uniform, phase);
        both
    }

    /// Remembers the name of a tile.
    pub(super) fn names_tile(&mut self, pat: &Pat) {
        match pat {
            Pat::Ident(name) => self.tiles.extend(self.scopes.find(&name.ident)),
            Pat::Type(typed) => self.names_tile(&typed.pat),
            other => {
                self.refuse(other.span(), "give the tile a name: `let x = ..`");
            }
        }
    }
}
