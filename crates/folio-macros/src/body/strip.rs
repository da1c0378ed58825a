//! A second Rust form of kernels with loops whose ends are the same for all items: those loops run
//! once for a strip of items ([`Strip`](folio_device)), and what is between them for each
//! lane of it. Written of the same pieces as the first form, each in its order.
//!
//! The body is taken apart at its *spine*: the body's block, and those of such loops directly in
//! it. There a statement is one of these: a loop; a `let` of what is the same for all items; a
//! `let` of positions, which is repeated wherever it is needed; or anything else, which is done by
//! each lane. A kernel with anything whose meaning could depend on where it is (a way out, an index
//! that lanes would check, other views) has none.
//!
//! Of an array that lanes keep and only index, each element lies beside those of the neighbours.
//! Where it is indexed, one element is read or written.
//!
//! Phases of groups have such a form as kernels have it, with what the group has for what is the
//! same for all.

use super::call::is_of_numbers;
use super::lanes::{Bound, SpineStatement, Strips, perhaps_unused, words};
use super::lent::bare;
use super::number::is_assignment;
use super::{Walk, place_of};
use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;
use std::collections::{BTreeMap, BTreeSet};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{
    BinOp, Block, Expr, ExprArray, ExprForLoop, ExprMethodCall, ExprTuple, Lit, Local, Pat,
    PatSlice, PatTuple, RangeLimits, Stmt, UnOp,
};

/// Loops with so many turns at most, which rustc unrolls, are left to the items.
const SHORT: i128 = 16;

/// The strip's statements, as the walk finds them.
#[derive(Default)]
pub struct Plan {
    /// The item of a kernel for which there may be one.
    item: Option<Ident>,
    /// Where something is with which there is none.
    unfit: Option<(u32, u32)>,
    /// Where an index is the same for all items and checked, in the statement that is walked.
    checked: Option<(u32, u32)>,
    /// There is a loop of the spine.
    loops: bool,
    /// There is a loop with more than a few turns.
    long: bool,
    /// Rustc knows how many turns the first one has.
    fixed: bool,
    /// The next block is of the spine.
    next: bool,
    /// The loop that is walked next is a statement of the spine.
    statement: bool,
    /// Blocks of the spine that are open, innermost last.
    open: Vec<Vec<SpineStatement>>,
    /// The block that was left last.
    left: Vec<SpineStatement>,
    /// Variables that are the same for all items.
    same: BTreeSet<u16>,
    /// Variables of loops so short that they are unrolled.
    unrolled: BTreeSet<u16>,
    /// Arrays, or what has them, with an index that is only known when the kernel runs, and where
    /// the first one is.
    indexed: BTreeMap<u16, (u32, u32)>,
    /// How often a variable is used otherwise than to index it.
    whole: BTreeMap<u16, i32>,
    /// Of a phase: the number of its item. Variables of the group have lower numbers.
    phase: Option<u16>,
    /// Names of the spine's other variables that are visible, and whether those are `mut`.
    visible: Vec<(Ident, bool)>,
    /// By open block of the spine: all words of what is repeated there.
    again: Vec<BTreeSet<String>>,
}

impl Plan {
    /// The function's body may have one.
    pub fn begin(&mut self, item: &Ident) {
        (self.item, self.next) = (Some(item.clone()), true);
        self.visible.push((item.clone(), false));
    }

    /// A phase's body may have a strip, of this item.
    pub(super) fn of_phase(item: &Ident, number: u16) -> Plan {
        let mut plan = Plan { phase: Some(number), ..Plan::default() };
        plan.begin(item);
        plan
    }

    /// A parameter that nobody assigns to.
    pub fn same(&mut self, at: u16) {
        self.same.insert(at);
    }

    /// There is none because of what is there.
    pub fn give_up(&mut self, at: Span) {
        self.unfit.get_or_insert(place_of(at));
    }

    /// A loop whose turns nothing counts.
    pub(super) fn turns_freely(&mut self, at: Span) {
        self.long = true;
        self.give_up(at);
    }

    /// This is checked when it is indexed, with an index that may be the `same` for all items: a
    /// check that is done once for them costs nothing.
    pub(super) fn checks(&mut self, at: Span, same: bool) {
        match same {
            true => _ = self.checked.get_or_insert(place_of(at)),
            false => self.give_up(at),
        }
    }

    /// A variable is used, or by `-1` indexed.
    pub(super) fn uses(&mut self, at: u16, times: i32) {
        *self.whole.entry(at).or_default() += times;
    }

    /// Where an array is indexed that lanes would copy.
    fn in_memory(&self, at: u16) -> Option<(u32, u32)> {
        self.indexed.get(&at).filter(|_| !self.is_array(at)).copied()
    }

    /// An array that is only indexed.
    fn is_array(&self, at: u16) -> bool {
        self.indexed.contains_key(&at) && self.whole.get(&at).is_none_or(|times| *times == 0)
    }

    /// A visible variable has this name, or one of another macro that reads the same; whether it is
    /// `mut`.
    fn sees(&self, name: &Ident) -> Option<bool> {
        let mut all = self.visible.iter().rev();
        all.find(|(have, _)| have.unraw() == name.unraw()).map(|(_, mutable)| *mutable)
    }

    /// A statement of the spine binds these names. Repeated statements behind it must not mean
    /// them.
    fn binds(&mut self, names: &[(Ident, bool)]) {
        let means =
            |name: &Ident| self.again.iter().any(|all| all.contains(&name.unraw().to_string()));
        if let Some((name, _)) = names.iter().find(|(name, _)| means(name)) {
            self.give_up(name.span());
        }
    }

    fn push(&mut self, step: SpineStatement) {
        let checked = self.checked.take();
        if !matches!(step, SpineStatement::Same(_)) {
            self.unfit = self.unfit.or(checked);
        }
        if let (SpineStatement::Again(_, native), Some(all)) = (&step, self.again.last_mut()) {
            words(native, all);
        }
        if let Some(block) = self.open.last_mut() {
            block.push(step);
        }
    }
}

impl Walk {
    /// A block begins. Tells how many names are visible, if it is of the spine.
    pub(super) fn enter_spine(&mut self) -> Option<usize> {
        let plan = &mut self.plan;
        plan.statement = false;
        std::mem::take(&mut plan.next).then(|| {
            plan.open.push(vec![]);
            plan.again.push(BTreeSet::new());
            plan.visible.len()
        })
    }

    /// A block ends.
    pub(super) fn leave_spine(&mut self, spine: Option<usize>) {
        if let Some(visible) = spine {
            self.plan.left = self.plan.open.pop().unwrap_or_default();
            self.plan.visible.truncate(visible);
            self.plan.again.pop();
        }
    }

    /// An expression of a block is walked next. Tells how many statements were before, if it is of
    /// the spine.
    pub(super) fn enter_statement(&mut self, spine: Option<usize>, expr: &Expr) -> Option<usize> {
        self.plan.statement = spine.is_some() && matches!(expr, Expr::ForLoop(_));
        spine.map(|_| self.plan.open.last().map_or(0, Vec::len))
    }

    /// The statement was walked; a loop of the spine is there already.
    pub(super) fn leave_statement(&mut self, before: Option<usize>, native: &TokenStream) {
        let count = self.plan.open.last().map_or(0, Vec::len);
        if before == Some(count) {
            self.plan.push(SpineStatement::Each(vec![], quote!(#native;)));
        }
    }

    /// A `let` of a block, whose names are bound, of what may be the `same` for all items.
    pub(super) fn let_of_spine(&mut self, local: &Local, same: bool, native: &TokenStream) {
        let at = local.pat.span();
        let Some(init) = &local.init else { return self.plan.give_up(at) };
        let mut names = vec![];
        bound(&local.pat, &mut names);
        let numbers: Vec<_> = names.iter().filter_map(|(name, _)| self.scopes.find(name)).collect();
        let hides: Vec<_> = names.iter().filter_map(|(name, _)| self.plan.sees(name)).collect();
        if hides.contains(&true) {
            // The lanes would have to tell the one from the other.
            self.plan.give_up(at);
        }
        self.plan.binds(&names);
        if !is_known(&local.pat) {
            self.plan.give_up(at);
        }
        let fixed = names.iter().all(|(_, mutable)| !mutable);
        if same && fixed && hides.is_empty() && !names.is_empty() {
            self.plan.same.extend(numbers);
            return self.plan.push(SpineStatement::Same(native.clone()));
        }
        self.plan.visible.extend(names.iter().cloned());
        let positions = fixed && numbers.iter().all(|at| self.has_ends(*at));
        if !positions && numbers.iter().any(|at| self.has_ends(*at)) {
            // A repeated expression could contain a part that only lanes have.
            self.plan.give_up(at);
        }
        if positions && divides(&init.expr) {
            // A failure is told here, also where nothing needs the value.
            let native = perhaps_unused(native);
            self.plan.push(SpineStatement::Each(vec![], quote!({ #native })));
        }
        self.plan.push(match positions && !names.is_empty() {
            true => SpineStatement::Again(
                names.into_iter().map(|(name, _)| name).collect(),
                native.clone(),
            ),
            false => {
                let bind = |(name, mutable): (Ident, bool)| {
                    let at = self.scopes.find(&name);
                    Bound { name, mutable, at }
                };
                SpineStatement::Each(names.into_iter().map(bind).collect(), native.clone())
            }
        });
    }

    /// A counted loop: whether it is one of the spine's.
    pub(super) fn spine_loop(&mut self, repeat: &ExprForLoop) -> bool {
        let statement = std::mem::take(&mut self.plan.statement);
        if self.plan.item.is_none() || (is_short(&repeat.expr) && repeat.label.is_none()) {
            return false;
        }
        self.plan.long = true;
        let mut names = vec![];
        bound(&repeat.pat, &mut names);
        let plain = repeat.label.is_none()
            && (is_name(&repeat.pat) || names.is_empty())
            && names.iter().all(|(name, mutable)| !mutable && self.plan.sees(name).is_none());
        let taken = statement && plain && self.is_same_range(&repeat.expr);
        self.plan.checked = self.plan.checked.filter(|_| !taken);
        if !taken {
            self.plan.give_up(repeat.for_token.span);
        } else if !std::mem::replace(&mut self.plan.loops, true) {
            self.plan.fixed = self.is_fixed(&repeat.expr);
        }
        taken
    }

    /// Its body comes next, and its names are bound.
    pub(super) fn enter_spine_loop(&mut self, pattern: &Pat) {
        let mut names = vec![];
        bound(pattern, &mut names);
        self.plan.binds(&names);
        let same = names.iter().filter_map(|(name, _)| self.scopes.find(name));
        self.plan.same.extend(same);
        self.plan.next = true;
    }

    /// The names of any counted loop are bound.
    pub(super) fn enter_loop(&mut self, repeat: &ExprForLoop) {
        if is_short(&repeat.expr) {
            let mut names = vec![];
            bound(&repeat.pat, &mut names);
            let numbers = names.iter().filter_map(|(name, _)| self.scopes.find(name));
            self.plan.unrolled.extend(numbers);
        }
    }

    /// This is indexed. An array with such an index is in memory, and lanes would copy all of it
    /// for each element.
    pub(super) fn indexes(&mut self, of: &Expr, at: &Expr) {
        if let (Expr::Path(_), Some(at)) = (bare(of), self.number(bare(of))) {
            self.plan.uses(at, -1);
        }
        let array = root(of).and_then(|name| self.scopes.find(name));
        if let Some(array) = array.filter(|_| !self.is_unrolled(at)) {
            self.plan.indexed.entry(array).or_insert(place_of(at.span()));
        }
    }

    /// Only numbers, and what is a number once loops are unrolled.
    fn is_unrolled(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Lit(_) => true,
            Expr::Paren(inner) => self.is_unrolled(&inner.expr),
            Expr::Group(inner) => self.is_unrolled(&inner.expr),
            Expr::Cast(cast) => self.is_unrolled(&cast.expr),
            Expr::Binary(binary) => {
                self.is_unrolled(&binary.left) && self.is_unrolled(&binary.right)
            }
            Expr::Path(path) => path
                .path
                .get_ident()
                .and_then(|name| self.scopes.find(name))
                .is_some_and(|at| self.plan.unrolled.contains(&at)),
            _ => false,
        }
    }

    /// A loop of the spine was walked.
    pub(super) fn leave_spine_loop(&mut self, pattern: TokenStream, over: TokenStream) {
        let steps = std::mem::take(&mut self.plan.left);
        self.plan.push(SpineStatement::Loop(pattern, over, steps));
    }

    fn is_same_range(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Paren(inner) => self.is_same_range(&inner.expr),
            Expr::Group(inner) => self.is_same_range(&inner.expr),
            Expr::MethodCall(call) => {
                self.is_same_range(&call.receiver) && call.args.iter().all(|arg| self.is_same(arg))
            }
            Expr::Range(range) => {
                let end =
                    |end: &Option<Box<Expr>>| end.as_ref().is_some_and(|end| self.is_same(end));
                end(&range.start) && end(&range.end)
            }
            _ => false,
        }
    }

    /// A range between numbers and constants, or such an end.
    fn is_fixed(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Lit(_) => true,
            Expr::Unary(unary) => self.is_fixed(&unary.expr),
            Expr::Paren(inner) => self.is_fixed(&inner.expr),
            Expr::Group(inner) => self.is_fixed(&inner.expr),
            Expr::Cast(cast) => self.is_fixed(&cast.expr),
            Expr::Path(path) => {
                path.path.get_ident().is_none_or(|name| self.scopes.find(name).is_none())
            }
            Expr::Binary(binary) => self.is_fixed(&binary.left) && self.is_fixed(&binary.right),
            // Of a range: `rev`, `step_by`.
            Expr::MethodCall(call) => self.is_fixed(&call.receiver),
            Expr::Range(range) => {
                [&range.start, &range.end].into_iter().flatten().all(|end| self.is_fixed(end))
            }
            _ => false,
        }
    }

    /// An expression is the same for all items, and does nothing.
    pub(super) fn is_same(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Lit(_) => true,
            Expr::Unary(unary) => match unary.op {
                UnOp::Neg(_) | UnOp::Not(_) => self.is_same(&unary.expr),
                _ => false,
            },
            Expr::Paren(inner) => self.is_same(&inner.expr),
            Expr::Group(inner) => self.is_same(&inner.expr),
            Expr::Cast(cast) => self.is_same(&cast.expr),
            Expr::Tuple(tuple) => tuple.elems.iter().all(|part| self.is_same(part)),
            Expr::Array(array) => array.elems.iter().all(|part| self.is_same(part)),
            Expr::If(branch) => {
                let otherwise = branch.else_branch.as_ref();
                self.is_same(&branch.cond)
                    && self.gives_same(&branch.then_branch)
                    && otherwise.is_some_and(|(_, otherwise)| self.is_same(otherwise))
            }
            Expr::Block(block) => block.label.is_none() && self.gives_same(&block.block),
            Expr::Path(path) => match path.path.get_ident() {
                Some(name) => match self.scopes.find(name) {
                    Some(at) => {
                        let known = self.plan.same.contains(&at) || self.is_of_group(at);
                        known && self.scopes.is_plain(name)
                    }
                    None => true,
                },
                None => true,
            },
            Expr::Binary(binary) => {
                !is_assignment(&binary.op)
                    && self.is_same(&binary.left)
                    && self.is_same(&binary.right)
            }
            Expr::MethodCall(call) => {
                let of_number = || {
                    is_of_numbers(&call.method.to_string())
                        && self.is_same(&call.receiver)
                        && call.args.iter().all(|arg| self.is_same(arg))
                };
                self.is_extent(call, "len") || self.asks_group(call) || of_number()
            }
            Expr::Index(index) => match (&*index.expr, &*index.index) {
                (Expr::MethodCall(call), Expr::Lit(_)) => self.is_extent(call, "shape"),
                // Only an `In` can be read at anything but the item.
                (view, at) if self.is_view(view) => match at {
                    Expr::Tuple(tuple) => tuple.elems.iter().all(|at| self.is_same(at)),
                    at => self.is_same(at),
                },
                (array, at) => self.is_same(array) && self.is_same(at),
            },
            Expr::Field(field) => self.is_same(&field.base),
            _ => false,
        }
    }

    /// A block of one expression.
    fn gives_same(&self, block: &Block) -> bool {
        matches!(block.stmts.as_slice(), [Stmt::Expr(expr, None)] if self.is_same(expr))
    }

    /// In a phase, a variable of the group, or a parameter that is a value.
    fn is_of_group(&self, at: u16) -> bool {
        self.plan.phase.is_some_and(|item| at < item) && self.is_uniform(at)
    }

    fn is_extent(&self, call: &ExprMethodCall, name: &str) -> bool {
        call.method == name && call.args.is_empty() && self.is_view(&call.receiver)
    }

    /// Where something is for which a kernel with loops has one form only.
    pub fn unfit(&self) -> Option<(u32, u32)> {
        let plan = &self.plan;
        let kept = |strips: Strips| strips.numbers.iter().find_map(|at| plan.in_memory(*at));
        match plan.item {
            Some(_) if plan.long => plan.unfit.or_else(|| self.written().and_then(kept)),
            _ => None,
        }
    }

    /// The second form, if there is one.
    pub fn strips(&self) -> Option<Strips> {
        let strips = self.written()?;
        let in_memory = |at: &u16| self.plan.in_memory(*at).is_some();
        (!strips.numbers.iter().any(in_memory)).then_some(strips)
    }

    fn written(&self) -> Option<Strips> {
        let plan = &self.plan;
        let item = plan.item.as_ref().filter(|_| plan.loops && plan.unfit.is_none())?;
        let [strip, lane, row] =
            ["__strip", "__lane", "__row"].map(|name| Ident::new(name, Span::mixed_site()));
        let row = plan.phase.map(|_| row);
        let of = row.as_ref().unwrap_or(&strip);
        let is_loop = |step: &&SpineStatement| !matches!(step, SpineStatement::Loop(..));
        let before = plan.left.iter().take_while(is_loop).filter_map(|step| match step {
            SpineStatement::Same(native) => Some(perhaps_unused(native)),
            _ => None,
        });
        let over = plan.left.iter().find_map(|step| match step {
            SpineStatement::Loop(_, over, _) => Some(over),
            _ => None,
        })?;
        let mut strips = Strips {
            turns: quote!({ #(#before)* ::folio::ir::device::rust::iter::Iterator::size_hint(&#over).0 }),
            fixed: plan.fixed,
            item: quote! {
                #[allow(unused_variables, reason = "here, where it may be used elsewhere")]
                let #item = #of.item(#lane);
            },
            row,
            strip,
            lane,
            memory: vec![],
            rooms: vec![],
            numbers: vec![],
            arrays: plan.indexed.keys().copied().filter(|at| plan.is_array(*at)).collect(),
            each: quote!(),
        };
        strips.each = strips.block(&plan.left, &mut vec![]);
        Some(strips)
    }
}

/// The variable that an element is of.
fn root(expr: &Expr) -> Option<&Ident> {
    match expr {
        Expr::Path(path) => path.path.get_ident(),
        Expr::Paren(inner) => root(&inner.expr),
        Expr::Group(inner) => root(&inner.expr),
        Expr::Field(field) => root(&field.base),
        Expr::Index(index) => root(&index.expr),
        _ => None,
    }
}

/// A name, perhaps with its type.
fn is_name(pattern: &Pat) -> bool {
    match pattern {
        Pat::Ident(_) => true,
        Pat::Type(typed) => is_name(&typed.pat),
        _ => false,
    }
}

/// A pattern of which [`bound`] finds all names.
fn is_known(pattern: &Pat) -> bool {
    match pattern {
        Pat::Ident(_) | Pat::Wild(_) => true,
        Pat::Type(typed) => is_known(&typed.pat),
        Pat::Paren(inner) => is_known(&inner.pat),
        Pat::Tuple(PatTuple { elems, .. }) | Pat::Slice(PatSlice { elems, .. }) => {
            elems.iter().all(is_known)
        }
        _ => false,
    }
}

/// Something may be divided by zero, in what positions are made of.
pub(super) fn divides(expr: &Expr) -> bool {
    match expr {
        Expr::If(_) => true,
        Expr::Paren(inner) => divides(&inner.expr),
        Expr::Group(inner) => divides(&inner.expr),
        Expr::Cast(cast) => divides(&cast.expr),
        Expr::Tuple(ExprTuple { elems, .. }) | Expr::Array(ExprArray { elems, .. }) => {
            elems.iter().any(divides)
        }
        Expr::MethodCall(call) => divides(&call.receiver) || call.args.iter().any(divides),
        Expr::Binary(binary) => {
            let by_any = matches!(binary.op, BinOp::Div(_) | BinOp::Rem(_))
                && !matches!(&*binary.right, Expr::Lit(lit) if is_not_zero(&lit.lit));
            by_any || divides(&binary.left) || divides(&binary.right)
        }
        _ => false,
    }
}

fn is_not_zero(lit: &Lit) -> bool {
    matches!(lit, Lit::Int(number) if number.base10_parse::<u64>().is_ok_and(|n| n != 0))
}

/// The names that a pattern binds, and whether they are `mut`.
fn bound(pattern: &Pat, into: &mut Vec<(Ident, bool)>) {
    match pattern {
        Pat::Ident(name) => into.push((name.ident.clone(), name.mutability.is_some())),
        Pat::Type(typed) => bound(&typed.pat, into),
        Pat::Paren(inner) => bound(&inner.pat, into),
        Pat::Tuple(PatTuple { elems, .. }) | Pat::Slice(PatSlice { elems, .. }) => {
            elems.iter().for_each(|part| bound(part, into));
        }
        _ => {}
    }
}

/// A literal, perhaps with a minus.
fn literal(expr: &Expr) -> Option<i128> {
    match expr {
        Expr::Paren(inner) => literal(&inner.expr),
        Expr::Group(inner) => literal(&inner.expr),
        Expr::Unary(unary) => match unary.op {
            UnOp::Neg(_) => Some(-literal(&unary.expr)?),
            _ => None,
        },
        Expr::Lit(lit) => match &lit.lit {
            Lit::Int(number) => number.base10_parse::<u64>().ok().map(i128::from),
            _ => None,
        },
        _ => None,
    }
}

/// A loop with literal ends and few turns.
fn is_short(range: &Expr) -> bool {
    match range {
        Expr::Paren(inner) => is_short(&inner.expr),
        Expr::Group(inner) => is_short(&inner.expr),
        Expr::MethodCall(call) => is_short(&call.receiver),
        Expr::Range(range) => {
            let end = |end: &Option<Box<Expr>>| literal(end.as_deref()?);
            let more = i128::from(matches!(range.limits, RangeLimits::Closed(_)));
            match (end(&range.start), end(&range.end)) {
                (Some(start), Some(end)) => end - start + more <= SHORT,
                _ => false,
            }
        }
        _ => false,
    }
}
