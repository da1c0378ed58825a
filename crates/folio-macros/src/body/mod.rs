//! The walk over a body: each expression becomes Rust and tree. Here: its state, blocks, and which
//! expressions there are; beside it `group` for phases, `number` for literals and operators,
//! `place` for what is indexed and written, `ends` for what indices can be, `flow` for branches and
//! loops, `call` for functions, methods and macros.

mod attributes;
pub mod call;
mod choice;
mod constant;
mod denied;
mod ends;
mod flow;
mod group;
mod guards;
mod kinds;
mod known;
mod lanes;
mod lent;
mod number;
mod parts;
mod place;
mod print;
mod rights;
mod scatter;
mod strip;
mod subgroup;
mod sugar;
mod through;
mod tile;
mod variant;

pub use call::FLOATS_AND_INTEGERS;
pub use group::{Special, Zone};
pub use kinds::Kinds;
pub use lanes::Strips;
pub(crate) use number::is_assignment;
pub use rights::Rights;

use self::ends::length;
use self::known::Knowledge;
use self::rights::Access;
use self::strip::Plan;
use crate::deep;
use crate::errors::Errors;
use crate::names;
use crate::parameter::Grid;
use crate::pattern::Scopes;
use crate::positions;
use crate::refused::refuse_type;
use crate::tree::Tree;
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use std::collections::{BTreeSet, HashMap, HashSet};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{BinOp, Block, Expr, ExprPath, ExprStruct, Member, Pat, Stmt};

/// Rust, and tree.
pub type Both = (TokenStream, Tree);

/// Line and column, from 1.
pub fn place_of(span: Span) -> (u32, u32) {
    let start = span.start();
    (start.line as u32, start.column as u32 + 1)
}

/// The state of the walk.
#[derive(Default)]
pub struct Walk {
    /// Names.
    pub scopes: Scopes,
    pub errors: Errors,
    /// `let` of each slot.
    pub slots: Vec<TokenStream>,
    /// Entries of the table.
    pub entries: Vec<TokenStream>,
    /// The name of the item, in one dimension: `x[i + 1]` is a neighbour.
    pub item: Option<u16>,
    /// Views of numbers in several dimensions.
    pub grids: Vec<(u16, Grid)>,
    /// Views, and what their names allow.
    pub rights: Vec<(u16, Rights)>,
    /// Types of numbers.
    pub kinds: Kinds,
    pub known: Knowledge,
    /// Whether the condition that is walked holds for most items, as far as the code around tells.
    likely: Option<bool>,
    /// No item of the interior comes to what is walked.
    unreached: bool,
    /// Tokens of the block that is walked.
    block_length: usize,
    /// The form for strips of items.
    pub plan: Plan,
    /// The number of the first of them.
    pub first: usize,
    /// Parameters that items scatter to.
    scattered: Vec<scatter::Scattered>,
    /// The parameter that says which turn of a kernel that runs twice this is.
    turn: Option<u16>,
    /// The function is a kernel, not called by one.
    pub ends_items: bool,
    /// Sums, differences and products of integers fail beyond their type.
    pub checked: bool,
    /// A test at run time is refused.
    pub deny_checks: bool,
    /// Where indices are written that are looked at for blocks.
    pub looked_at: Vec<(u32, u32)>,
    /// There is an item or a group.
    pub placed: bool,
    /// The function is a kernel that is not refused for what it returns.
    gives_nothing: bool,
    /// The function has type parameters.
    pub generic: bool,
    /// The name of the function, which may not call itself.
    pub name: Option<Ident>,
    /// Parameters that are `mut`: in the tree the body begins with variables of them.
    mutable: Vec<(Ident, u16)>,
    /// Variables of what is in options that are matched, by those.
    parts: HashMap<(u16, String), u16>,
    /// Parameters that are closures.
    pub closures: HashSet<u16>,
    /// What is walked is in a closure that is given to a function.
    in_closure: bool,
    /// The function's item, and its rank.
    pub own_item: Option<(Ident, u8)>,
    /// What `print!` writes to, and what it has written.
    pub log: Option<print::Log>,
    /// Blocks around.
    blocks: usize,
    /// Constants of the function's block, with their names.
    constants: Vec<(Ident, TokenStream)>,
    /// Variables that are references, or stand for one.
    lent: HashMap<u16, lent::Alias>,
    /// By number: the parameters, and what is special about them.
    params: Vec<(Ident, Special)>,
    /// Whose code this is.
    zone: Zone,
    /// In a phase: variables of lower numbers are the group's.
    phase: u16,
    /// Variables that items keep between phases: number and name.
    privates: Vec<(u16, Ident)>,
    /// Variables that are tiles.
    tiles: HashSet<u16>,
    /// Locals that the phase names, and those of which it writes elements.
    used: BTreeSet<u16>,
    written: BTreeSet<u16>,
    /// Uses of local arrays, and of kept variables, at computed indices, in the phase.
    elsewhere: Vec<(u16, Span)>,
    /// Every item of the group gets here, or some may have left the phase.
    together: bool,
    left: bool,
    /// Variables whose value was refused, and parameters whose type was.
    pub spoilt: BTreeSet<u16>,
    /// The next name may be that of local memory, or of a kept variable.
    as_whole: bool,
    /// The entry of `usize`, once an index needs it.
    usize_entry: Option<u16>,
    /// Indices that are written to, so far.
    targets: usize,
    /// Calls and assignments so far: what is not the same when it is done twice.
    acts: usize,
    /// Expressions around.
    depth: usize,
    /// Loops and labelled blocks around, innermost last.
    around: Vec<flow::Around>,
    /// How many there were so far.
    loops: u16,
}

impl Walk {
    /// Refuses something.
    pub fn refuse(&mut self, at: Span, text: impl std::fmt::Display) -> Both {
        self.errors.add(at, text);
        (quote!(::folio::ir::device::rust::panic!()), Tree::unit())
    }

    /// Refuses something, the first time that there is one of this key.
    pub fn refuse_once(&mut self, at: Span, key: &str, text: impl std::fmt::Display) -> Both {
        self.errors.add_once(at, key, text);
        (quote!(::folio::ir::device::rust::panic!()), Tree::unit())
    }

    /// A new slot.
    pub fn new_slot(&mut self, at: Span) -> Ident {
        let name = format!("__slot{}", self.slots.len());
        let name = Ident::new(&name, Span::mixed_site().located_at(at));
        self.slots.push(quote!(let #name = ::folio::ir::device::Slot::new();));
        name
    }

    /// A new slot of a type, and its entry's number.
    pub fn slot(&mut self, at: Span) -> (Ident, u16) {
        let name = self.new_slot(at);
        let entry = self.entry(quote_spanned!(name.span() => #name.entry()));
        (name, entry)
    }

    /// A new slot of a called function, and its entry's number.
    pub fn callee(&mut self, at: Span) -> (Ident, u16) {
        let name = self.new_slot(at);
        let entry = self.entry(quote!(#name.callee()));
        (name, entry)
    }

    /// A new entry, from an expression that gives a function that gives it.
    pub fn entry(&mut self, tokens: TokenStream) -> u16 {
        let at = self.first + self.entries.len();
        self.entries.push(tokens);
        // Beyond the last number nothing is written.
        u16::try_from(at).unwrap_or(u16::MAX)
    }

    /// Refuses a function for whose parts there are not enough numbers.
    fn refuse_excess(&mut self, at: Span) {
        let entries = self.first + self.entries.len();
        let full = self.scopes.is_full() || self.loops == u16::MAX;
        if full || entries > usize::from(u16::MAX) {
            let text = "this has more than 65,000 variables, loops, or literals and operators; write loops, or \
                several functions";
            self.refuse(at, text);
        }
    }

    /// The entry of a type.
    pub fn type_entry(&mut self, ty: &impl ToTokens) -> u16 {
        let entry = quote_spanned!(ty.span() => <#ty as ::folio::ir::device::Slotted>::entry);
        self.entry(quote!(#entry as fn() -> __s::Entry))
    }

    /// The entry of a constant.
    pub(super) fn const_entry(&mut self, value: &impl ToTokens) -> u16 {
        self.entry(quote!((|| ::folio::ir::device::constant(#value)) as fn() -> __s::Entry))
    }

    /// Binds a parameter.
    pub fn parameter(&mut self, name: &Ident, special: Special, mutable: bool) -> u16 {
        let at = self.scopes.bind(name);
        self.params.push((name.clone(), special));
        if mutable {
            self.mutable.push((name.clone(), at));
        }
        at
    }

    /// The body of a function with this signature, which was read.
    pub fn whole(&mut self, signature: &syn::Signature, block: &Block) -> Both {
        if let Some(token) = &signature.constness {
            self.refuse(token.span(), "kernels and device functions cannot be `const`; remove it");
        }
        let mut found = HashSet::new();
        for tokens in [signature.to_token_stream(), block.to_token_stream()] {
            attributes::refuse(tokens.clone(), &mut self.errors);
            names::refuse(tokens, &mut found, &mut self.errors);
        }
        self.gives_nothing =
            self.ends_items && matches!(signature.output, syn::ReturnType::Default);
        if self.gives_nothing {
            self.refuse_value(block);
        }
        let both = match self.with_position(block) {
            Some(block) => self.body(&block),
            None => self.body(block),
        };
        self.refuse_hiding(signature);
        let mut found = HashSet::new();
        // A constant is written more than once: a macro could give each another value.
        for tokens in [signature.to_token_stream(), both.0.clone(), self.constants()] {
            names::refuse_macros(tokens, &mut found, &mut self.errors);
        }
        self.refuse_excess(signature.ident.span());
        both
    }

    /// Refuses constants of the block that have a name of the signature's. In Rust a constant hides
    /// a parameter; and the types of parameters, which the table has again behind the constants,
    /// would be others there.
    fn refuse_hiding(&mut self, signature: &syn::Signature) {
        let signature = signature.to_token_stream();
        let hides = |name: &Ident| ends::names(&signature, &[&name.unraw().to_string()]);
        let names = self.constants.iter().map(|(name, _)| name).filter(|name| hides(name));
        for name in names.cloned().collect::<Vec<_>>() {
            let text =
                format!("`{name}` is in the function's signature; give the constant another name");
            self.refuse(name.span(), text);
        }
    }

    /// The variable that a path is, if it is one.
    fn variable(&mut self, path: &ExprPath) -> Option<u16> {
        let at = self.scopes.find(path.path.get_ident()?)?;
        self.plan.uses(at, 1);
        Some(at)
    }

    /// A kernel's block that ends in a value.
    fn refuse_value(&mut self, block: &Block) {
        let Some(Stmt::Expr(value, None)) = block.stmts.last() else { return };
        let gives = match value {
            Expr::Binary(binary) => !number::is_assignment(&binary.op),
            Expr::Tuple(tuple) => !tuple.elems.is_empty(),
            value => matches!(
                value,
                Expr::Lit(_)
                    | Expr::Path(_)
                    | Expr::Index(_)
                    | Expr::Unary(_)
                    | Expr::Cast(_)
                    | Expr::Field(_)
                    | Expr::Array(_)
                    | Expr::Struct(_)
            ),
        };
        if gives {
            self.refuse(value.span(), NOTHING_RETURNED);
        }
    }

    fn body(&mut self, block: &Block) -> Both {
        let mut before = vec![];
        for (name, given) in std::mem::take(&mut self.mutable) {
            let at = self.scopes.bind(&name);
            self.scopes.changes(at);
            before.push(Tree::of("let").part(&Tree::of("mut").word(at)).part(&Tree::local(given)));
        }
        let (native, tree) = self.block(block);
        if before.is_empty() {
            return (native, tree);
        }
        (native, Tree::block(&before, Some(&Tree::of_block(&tree))))
    }

    /// A block.
    pub fn block(&mut self, block: &Block) -> Both {
        self.scopes.enter();
        self.blocks += 1;
        let spine = self.enter_spine();
        let (mut natives, mut trees, mut tail) = (vec![], vec![], None);
        let last = block.stmts.len().saturating_sub(1);
        let around = std::mem::replace(&mut self.block_length, length(&block.to_token_stream()));
        for (at, stmt) in block.stmts.iter().enumerate() {
            match stmt {
                Stmt::Local(local) => {
                    // Its value may have a name that the pattern hides.
                    let init = local.init.as_ref().filter(|_| spine.is_some());
                    let same = init.is_some_and(|init| self.is_same(&init.expr));
                    let (native, tree) = self.local(local);
                    if spine.is_some() {
                        self.let_of_spine(local, same, &native);
                    }
                    natives.push(native);
                    trees.push(tree);
                }
                Stmt::Expr(expr, semi) => {
                    let before = self.enter_statement(spine, expr);
                    let (native, tree) = self.expr(expr);
                    self.leave_statement(before, &native);
                    let gives = at == last && semi.is_none() && !is_statement(expr);
                    natives.push(quote!(#native #semi));
                    if gives {
                        tail = Some(tree);
                    } else {
                        trees.push(tree);
                    }
                }
                Stmt::Macro(mac) => {
                    let (native, tree) = self.macro_call(&mac.mac);
                    natives.push(quote!(#native;));
                    trees.push(tree);
                }
                Stmt::Item(syn::Item::Const(item)) if item.generics.params.is_empty() => {
                    self.constant(item);
                }
                Stmt::Item(item) => {
                    self.refuse(
                        item.span(),
                        "of items, only a `const` can be inside a kernel; move it out",
                    );
                }
            }
        }
        self.block_length = around;
        self.leave_spine(spine);
        self.blocks -= 1;
        self.scopes.leave();
        let native = quote_spanned!(block.brace_token.span.join() => { #(#natives)* });
        (native, Tree::block(&trees, tail.as_ref()))
    }

    /// A constant of the function's block.
    fn constant(&mut self, item: &syn::ItemConst) {
        if self.blocks > 1 {
            let text = "a `const` is in the function's own block, or outside of it";
            self.refuse(item.span(), text);
        }
        if self.constants.iter().any(|(name, _)| *name == item.ident) {
            let text = "there is another constant of this name in the function; give it another";
            self.refuse(item.ident.span(), text);
        }
        self.constants.push((item.ident.clone(), item.to_token_stream()));
    }

    /// The constants of its block, for each function that is made of it.
    pub fn constants(&self) -> TokenStream {
        self.constants
            .iter()
            .map(|(_, item)| quote!(#[allow(dead_code, reason = "of a block")] #item))
            .collect()
    }

    fn local(&mut self, local: &syn::Local) -> Both {
        let pat = &local.pat;
        if let Pat::Type(typed) = pat {
            refuse_type(&typed.ty, self);
        }
        let Some(init) = &local.init else {
            // Its first assignment makes it.
            let name = match pat {
                Pat::Type(typed) => &*typed.pat,
                other => other,
            };
            if !matches!(name, Pat::Ident(_)) {
                self.refuse(pat.span(), "without a value, `let` takes one name");
            }
            self.scopes.pattern(pat, &mut self.errors);
            return (quote!(let #pat;), Tree::unit());
        };
        if let (Expr::Closure(closure), None) = (lent::bare(&init.expr), &init.diverge) {
            return self.let_closure(pat, closure);
        }
        if let (Expr::Reference(of), None) = (lent::bare(&init.expr), &init.diverge)
            && of.mutability.is_none()
            && !self.is_view(&of.expr)
        {
            let (native, tree) = self.expr(&of.expr);
            let pattern = self.scopes.pattern(pat, &mut self.errors);
            self.lets_reference(pat);
            return (quote!(let #pat = #native;), Tree::of("let").part(&pattern).part(&tree));
        }
        if let Some((_, otherwise)) = &init.diverge {
            return match sugar::let_else(pat, &init.expr, otherwise) {
                Some(anew) => self.local(&anew),
                None => {
                    self.scopes.pattern(pat, &mut Errors::default());
                    self.refuse(
                        pat.span(),
                        "with `else`, bind names without `mut`, `ref` and `@` here",
                    )
                }
            };
        }
        let fitting = positions::fitting(pat, &init.expr);
        let pat = fitting.as_ref().unwrap_or(pat);
        let private = self.kept(&init.expr);
        let is_tile = self.is_tile(&init.expr);
        let before = self.errors.count();
        let (native, tree) = match private {
            Some(call) => self.keeps(call),
            None => {
                let (native, tree) = self.expr(&init.expr);
                (self.fits(Walk::said(pat), &init.expr, native), tree)
            }
        };
        let pattern = self.scopes.pattern(pat, &mut self.errors);
        if self.errors.count() > before
            && let Pat::Ident(name) = pat
        {
            self.spoilt.extend(self.scopes.find(&name.ident));
        }
        self.learn(pat, &init.expr);
        self.learn_position(pat, &init.expr);
        self.learn_kind(pat, &init.expr);
        self.learn_decided(pat, &init.expr);
        if private.is_some() {
            self.keep(pat);
        }
        if is_tile {
            self.names_tile(pat);
        }
        (quote!(let #pat = #native;), Tree::of("let").part(&pattern).part(&tree))
    }

    /// An expression.
    pub fn expr(&mut self, expr: &Expr) -> Both {
        if self.depth == deep::EXPRESSIONS {
            return self.refuse(place::end(expr), deep::TEXT);
        }
        self.depth += 1;
        let both = self.expr_within(expr);
        self.depth -= 1;
        both
    }

    fn expr_within(&mut self, expr: &Expr) -> Both {
        match expr {
            Expr::Lit(lit) => self.literal(lit, false),
            Expr::Paren(inner) => {
                let (native, tree) = self.expr(&inner.expr);
                (quote!((#native)), tree)
            }
            Expr::Group(inner) => {
                let (native, tree) = self.expr(&inner.expr);
                (quote!((#native)), tree)
            }
            Expr::Path(path) => {
                let local = self.variable(path);
                self.used.extend(local);
                if local.is_none() && path.path.is_ident("None") {
                    return self.none(path);
                }
                if let Some(refused) = self.refuse_tile(expr) {
                    return refused;
                }
                if self.is_closure(expr)
                    && let Some(refused) = self.refuse_other(path)
                {
                    return refused;
                }
                let whole = std::mem::take(&mut self.as_whole);
                if !whole && self.is_known_by_name(expr) {
                    let text = "what items share or keep has one name, by which races are refused; index it, `tile[i]`";
                    return self.refuse(path.span(), text);
                }
                if local.is_none()
                    && let Some((key, text)) = self.no_constant(path)
                {
                    return self.refuse_once(path.span(), &key, text);
                }
                match local {
                    Some(at) => (self.value_of(at, path), Tree::local(at)),
                    None => {
                        let tree = Tree::constant(self.const_entry(path));
                        (path.to_token_stream(), tree)
                    }
                }
            }
            Expr::Unary(_) | Expr::Binary(_) => match self.guard(expr) {
                None => self.operator_or_sign(expr),
                Some(there) => {
                    let ((native, tree), _) =
                        self.reached(false, |walk| walk.operator_or_sign(expr));
                    (quote!(::folio::ir::device::interior::is::<__M>(#there, #native)), tree)
                }
            },
            Expr::Assign(assign) => self.assign(&assign.left, &assign.right, assign.eq_token.span),
            Expr::Cast(cast) => self.cast(cast),
            Expr::Field(field) => {
                if let Some((at, text)) = self.no_number(&field.base) {
                    return self.refuse(at, text);
                }
                let (native, tree) = self.expr(&field.base);
                let member = &field.member;
                let name = name_of(member);
                (quote!(#native.#member), Tree::of("field").part(&tree).word(name))
            }
            Expr::Index(index) => {
                if let Some(part) = self.part_of_position(index) {
                    return self.expr(&part);
                }
                if let Some(refused) = self.refuse_element(index, Access::Read) {
                    return refused;
                }
                self.slot_of(&index.expr, &index.index);
                let (base, base_tree) = self.as_whole(&index.expr);
                let (native, tree) = self.index(&index.expr, &index.index);
                let span = index.index.span();
                self.deny_index(&index.expr, &index.index);
                let native = if self.proves(&index.expr, &index.index) {
                    self.looked_at.push(place_of(index.span()));
                    // Not within the `unsafe` of the read, but for names of values.
                    let plain = syn::parse2::<Ident>(native.clone()).ok();
                    let plain = plain.filter(|name| {
                        self.scopes.is_plain(name) && self.scopes.find(name).is_some()
                    });
                    if let Some(name) = plain {
                        let read = place::read(&base, &name, true, place::Spot::of(index));
                        quote_spanned!(index.span() => { #read })
                    } else {
                        let value = Ident::new("__i", Span::mixed_site().located_at(span));
                        let read = place::read(&base, &value, true, place::Spot::of(index));
                        quote_spanned!(index.span() => { let #value = #native; #read })
                    }
                } else {
                    self.unproved(&index.expr, &index.index);
                    // The call begins with the view, where a violation is; what index it takes is
                    // asked at the index.
                    let at = Ident::new("at", span);
                    let at = quote_spanned!(index.span() => ::folio::ir::device::#at);
                    let arguments = quote_spanned!(index.span() => &#base, #native);
                    place::called(&at, arguments, place::end(index))
                };
                let tree = Tree::of("index").part(&base_tree).part(&tree);
                (native, tree.at(place_of(index.span())))
            }
            Expr::Tuple(tuple) if tuple.elems.is_empty() => (quote!(()), Tree::unit()),
            Expr::Tuple(tuple) => {
                let (natives, trees) = self.all(&tuple.elems);
                (quote!((#(#natives,)*)), Tree::of("tuple").parts(&trees))
            }
            Expr::Array(array) => {
                let (natives, trees) = self.all(&array.elems);
                (quote!([#(#natives),*]), Tree::of("array").parts(&trees))
            }
            Expr::Repeat(repeat) => {
                let (native, tree) = self.expr(&repeat.expr);
                let len = &repeat.len;
                // Of this type, as Rust has it: literals follow.
                let len_of = quote!({ const { ::folio::ir::device::rust::convert::identity::<::folio::ir::device::rust::primitive::usize>(#len) } });
                let entry = self.const_entry(&len_of);
                (quote!([#native; #len]), Tree::of("repeat").part(&tree).word(entry))
            }
            Expr::Struct(literal) => self.structure(literal),
            Expr::MethodCall(call) => match self.special(call) {
                Some(both) => {
                    self.acts += 1;
                    both
                }
                None => match self.product_of_extents(call) {
                    Some(product) => self.expr(&product),
                    None => self.method(call),
                },
            },
            Expr::Call(call) => self.call(call),
            Expr::Macro(mac) => self.macro_call(&mac.mac),
            Expr::If(branch) => self.apart(|walk| walk.perhaps(|walk| walk.branch(branch))),
            Expr::Match(choice) => self.apart(|walk| walk.perhaps(|walk| walk.choice(choice))),
            Expr::Block(block) if block.label.is_none() => {
                let (native, tree) = self.block(&block.block);
                (native, Tree::of_block(&tree))
            }
            Expr::ForLoop(_) => self.apart(|walk| walk.flow(expr)),
            Expr::Block(_) | Expr::While(_) | Expr::Loop(_) => {
                self.apart(|walk| walk.perhaps(|walk| walk.flow(expr)))
            }
            Expr::Break(_) | Expr::Continue(_) | Expr::Return(_) => {
                self.apart(|walk| walk.flow(expr))
            }
            Expr::Try(of) if !self.ends_items && !self.in_closure => self.asks_for_some(of),
            other => self.unsupported(other),
        }
    }

    fn operator_or_sign(&mut self, expr: &Expr) -> Both {
        match expr {
            Expr::Unary(unary) => self.unary(unary),
            Expr::Binary(binary) if matches!(binary.op, BinOp::And(_) | BinOp::Or(_)) => {
                self.apart(|walk| walk.perhaps(|walk| walk.binary(binary)))
            }
            Expr::Binary(binary) => self.binary(binary),
            other => self.unsupported(other),
        }
    }

    fn all<'e>(
        &mut self,
        exprs: impl IntoIterator<Item = &'e Expr>,
    ) -> (Vec<TokenStream>, Vec<Tree>) {
        exprs.into_iter().map(|expr| self.expr(expr)).unzip()
    }

    pub(super) fn unsupported(&mut self, expr: &Expr) -> Both {
        let text = match expr {
            Expr::Closure(_) => {
                "a closure is an argument of a #[device_fn] that takes one, `f: impl Fn(f32) -> f32`; write a #[device_fn]"
            }
            Expr::Reference(_) => {
                "references are not supported; pass the value, which is copied, or the view"
            }
            Expr::Try(_) => {
                "`?` is for device functions that give an `Option`; kernels return nothing: compare with `if`, or write `assert!`"
            }
            Expr::Let(_) => {
                "`let` is the first of the conditions of an `if` or `while` here, joined by `&&`"
            }
            Expr::Range(_) => RANGES,
            Expr::Await(_) | Expr::Async(_) => "kernels cannot be async",
            Expr::Unsafe(_) => "`unsafe` is not supported in kernels; use an opaque kernel",
            Expr::RawAddr(_) => "pointers are not supported; pass a view",
            Expr::Const(_) => "`const` blocks are not supported; write a `const` outside",
            _ => "this expression is not supported",
        };
        self.refuse(expr.span(), text)
    }

    fn structure(&mut self, literal: &ExprStruct) -> Both {
        let fields = literal.fields.iter().map(|field| (field.member.clone(), &field.expr));
        if let (None, Some(both)) = (&literal.qself, self.variant(&literal.path, fields)) {
            return both;
        }
        let (slot, entry) = self.slot(literal.path.span());
        let (mut natives, mut trees, mut names) = (vec![], vec![], vec![]);
        for field in &literal.fields {
            let (native, tree) = self.expr(&field.expr);
            let member = &field.member;
            let name = name_of(member);
            natives.push(quote!(#member: #native));
            trees.push(tree);
            names.push(name);
        }
        // The fields that are not named are those of another value.
        let base = literal.rest.as_ref().map(|rest| {
            let (native, tree) = self.expr(rest);
            trees.push(tree);
            names.push("..".to_owned());
            quote!(..#native)
        });
        let path = &literal.path;
        let value = Ident::new("__v", Span::mixed_site().located_at(literal.span()));
        let native =
            quote!({ let #value = #path { #(#natives,)* #base }; #slot.is(#value); #value });
        let tree = Tree::of("struct").word(entry).parts(&trees);
        (native, names.iter().fold(tree, Tree::word))
    }
}

/// The advice for ranges outside of `for`.
pub(super) const RANGES: &str =
    "a range is only for `for`, `for k in 0..n { .. }`; to keep one, keep its ends as two values";

/// The advice for results of kernels.
pub(crate) const NOTHING_RETURNED: &str =
    "kernels return nothing; pass an `Out`, and write to it: `y[i] = ..;`";

/// Expressions that give nothing, without a semicolon.
fn is_statement(expr: &Expr) -> bool {
    matches!(expr, Expr::While(_) | Expr::ForLoop(_) | Expr::Assign(_))
}

/// A field's name, as the tree has it.
pub(super) fn name_of(member: &Member) -> String {
    match member {
        Member::Named(name) => name.unraw().to_string(),
        Member::Unnamed(at) => at.index.to_string(),
    }
}
