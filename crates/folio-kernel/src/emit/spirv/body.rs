//! Statements.

use super::super::abi::Fails;
use super::super::unroll::{UNROLL, is_worth_unrolling};
use super::assembly::{id, literal};
use super::fails::Check;
use super::stride::InTurns;
use super::writer::{Open, Writer};
use crate::ir::{Body, Collision, Label, Let, Place, SiteId, Stmt, Value, walk};
use crate::op::{Binary, Op as IrOp};
use crate::types::Scalar;
use rspirv::spirv::{Capability, GlslStd450Op, Op, Word};
use std::collections::BTreeSet;

/// Something in a body leaves its item, phase or group.
pub fn returns(body: &Body) -> bool {
    let mut returns = false;
    walk(body, &mut |stmt| returns |= matches!(stmt, Stmt::Return | Stmt::Assert { .. }));
    returns
}

/// How a compiler is to see the turns of a loop.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Turns {
    Plain,
    /// Of which there are at most [`UNROLL`]: all joined.
    Few,
}

/// Statements of a loop that is written down [`UNROLL`] times, at most.
const UNROLLED: usize = 24;

impl Writer<'_> {
    /// True if the end of a body can be reached.
    pub fn body(&mut self, body: &Body) -> bool {
        body.iter().all(|stmt| self.stmt(stmt))
    }

    /// True if what follows can be reached.
    pub fn stmt(&mut self, stmt: &Stmt) -> bool {
        match stmt {
            Stmt::Let(define) => self.define(define),
            Stmt::Store { place, value, site } => self.store(place, *value, *site),
            Stmt::If { cond, then, otherwise } => {
                let cond = self.value(*cond);
                return self.branches(cond, |w| w.body(then), |w| w.body(otherwise));
            }
            Stmt::For { .. } | Stmt::Loop { .. } => {
                return self.loops(stmt, &mut |w, body| w.body(body));
            }
            Stmt::Block { label, body, .. } => return self.blocked(Some(*label), |w| w.body(body)),
            Stmt::Break(label) => return self.leave(Some(*label), false),
            Stmt::Continue(label) => return self.leave(Some(*label), true),
            Stmt::Return => return self.exit(),
            Stmt::Assert { cond, site, collision } => {
                self.assert(*cond, *site, collision.as_ref());
            }
            Stmt::Contribute { param, value } => self.contribute(*param, *value),
            // In uniform code only, which is written elsewhere.
            Stmt::Phase { .. } | Stmt::Collect { .. } => {}
        }
        true
    }

    fn assert(&mut self, cond: Value, site: SiteId, collision: Option<&Collision>) {
        let what = collision.map_or(Fails::Assertion, |Collision { param, index, .. }| {
            Fails::Collision(*param, index.len() as u8)
        });
        let point = self.point(what, Some(site));
        let holds = self.value(cond);
        let collision = collision.map(|Collision { index, items, .. }| {
            let index = index.iter().map(|at| self.value(*at)).collect();
            let extent = items.iter().map(|item| self.value(*item)).collect();
            Check { holds, point, index, extent }
        });
        let otherwise = |w: &mut Self| {
            match &collision {
                None => w.fail(point),
                Some(collision) => w.outside(collision),
            }
            w.exit()
        };
        self.branches(holds, |_| true, otherwise);
    }

    // Loops and blocks.

    /// A loop, of whose body `write` says whether its end can be reached.
    pub fn loops(&mut self, stmt: &Stmt, write: &mut dyn FnMut(&mut Self, &Body) -> bool) -> bool {
        match stmt {
            Stmt::For { label, index, start, end, body } => {
                let of = self.scalar(*index);
                let (from, to) = (self.value(*start), self.value(*end));
                let less = if of.is_signed() { Op::SLessThan } else { Op::ULessThan };
                let (index, short) = (*index, is_worth_unrolling(body) && !self.form.checked);
                let turns = self.few_turns(short && self.is_few(*start, *end));
                let turn = |w: &mut Self, at| {
                    w.is(index, at);
                    write(w, body)
                };
                if short && turns == Turns::Plain && body.len() <= UNROLLED {
                    let literal =
                        |value: Value| self.literals.get(value.index()).copied().flatten();
                    self.turns = Some(InTurns::new(index, body, literal));
                    self.unrolled(of, (from, to), less, turn);
                } else {
                    let bounds = (from, to, self.asm.constant(of, 1));
                    self.repeated((Some(*label), turns), of, bounds, less, turn);
                }
                true
            }
            Stmt::Loop { label, body } => {
                // Whether it ends is not known: semantics 6.2.
                let bounds = [0, 1 << 63, 1].map(|number| self.asm.u64(number));
                let [from, to, step] = bounds;
                let (label, less) = ((Some(*label), Turns::Plain), Op::ULessThan);
                self.repeated(label, Scalar::U64, (from, to, step), less, |w, _| write(w, body));
                true
            }
            _ => true,
        }
    }

    /// A loop is known to have at most [`UNROLL`] turns.
    fn is_few(&self, start: Value, end: Value) -> bool {
        let ends = self.literal(start).zip(self.literal(end));
        let count = ends.map(|(start, end)| end.wrapping_sub(start));
        count.is_some_and(|count| count <= u64::from(UNROLL))
    }

    /// How a loop of at most [`UNROLL`] turns is unrolled, if it loads and does little else.
    pub fn few_turns(&self, is_short: bool) -> Turns {
        if is_short && !self.form.checked { Turns::Few } else { Turns::Plain }
    }

    /// A straight loop that counts, of whose turns [`UNROLL`] are written down one after the other,
    /// so that their loads stand together, and those that are left are a loop.
    fn unrolled(
        &mut self,
        of: Scalar,
        (from, to): (Word, Word),
        less: Op,
        mut turn: impl FnMut(&mut Self, Word) -> bool,
    ) {
        let (ty, bool) = (self.asm.scalar(of), self.asm.bool());
        let counter = self.local(ty);
        self.set(counter, from);
        let goes_on = |w: &mut Self, at| w.asm.of(less, bool, &[at, to]);
        let has_many = |w: &mut Self, at| {
            let (some, most) = (goes_on(w, at), w.asm.constant(of, u64::from(UNROLL) - 1));
            let left = w.asm.of(Op::ISub, ty, &[to, at]);
            let many = w.asm.of(Op::UGreaterThan, bool, &[left, most]);
            w.asm.of(Op::LogicalAnd, bool, &[some, many])
        };
        let all = self.asm.constant(of, u64::from(UNROLL));
        self.turning((None, Turns::Plain), (of, counter, all), has_many, |w, at| {
            (0..UNROLL).all(|ahead| {
                let ahead = w.asm.constant(of, ahead.into());
                let at = w.asm.of(Op::IAdd, ty, &[at, ahead]);
                let falls = turn(w, at);
                w.next_turn();
                falls
            })
        });
        self.turns = None;
        let step = self.asm.constant(of, 1);
        self.turning((None, Turns::Plain), (of, counter, step), goes_on, turn);
    }

    /// A loop of the emitter's own that counts.
    pub fn counted(
        &mut self,
        of: Scalar,
        bounds: (Word, Word, Word),
        write: impl FnOnce(&mut Self, Word) -> bool,
    ) {
        self.repeated((None, Turns::Plain), of, bounds, Op::ULessThan, write);
    }

    /// A loop that counts, of whose body `write` says whether its end can be reached.
    pub fn repeated(
        &mut self,
        how: (Option<Label>, Turns),
        of: Scalar,
        (from, to, step): (Word, Word, Word),
        less: Op,
        write: impl FnOnce(&mut Self, Word) -> bool,
    ) {
        let (ty, bool) = (self.asm.scalar(of), self.asm.bool());
        let counter = self.local(ty);
        self.set(counter, from);
        let goes_on = |w: &mut Self, at| w.asm.of(less, bool, &[at, to]);
        self.turning(how, (of, counter, step), goes_on, write);
    }

    /// A loop over a counter that is there, while it `goes_on`.
    fn turning(
        &mut self,
        (label, turns): (Option<Label>, Turns),
        (of, counter, step): (Scalar, Word, Word),
        goes_on: impl FnOnce(&mut Self, Word) -> Word,
        write: impl FnOnce(&mut Self, Word) -> bool,
    ) {
        let ty = self.asm.scalar(of);
        let [head, test, body, next, merge] = [(); 5].map(|()| self.asm.id());
        self.asm.branch(head);
        self.asm.label(head);
        match turns {
            Turns::Plain => self.asm.repetition(merge, next),
            Turns::Few => self.asm.unrolled_repetition(merge, next, UNROLL),
        }
        self.asm.branch(test);
        self.asm.label(test);
        let at = self.get(ty, counter);
        let goes_on = goes_on(self, at);
        self.asm.branch_if(goes_on, body, merge);
        self.asm.label(body);
        self.open(label, merge, Some(next));
        if write(self, at) {
            self.asm.branch(next);
        }
        self.asm.label(next);
        let at = self.get(ty, counter);
        let after = self.asm.of(Op::IAdd, ty, &[at, step]);
        self.set(counter, after);
        self.asm.branch(head);
        self.close(true);
    }

    /// A block that ways out leave: a loop of one turn.
    pub fn blocked(&mut self, label: Option<Label>, write: impl FnOnce(&mut Self) -> bool) -> bool {
        let [head, body, next, merge] = [(); 4].map(|()| self.asm.id());
        self.asm.branch(head);
        self.asm.label(head);
        self.asm.repetition(merge, next);
        self.asm.branch(body);
        self.asm.label(body);
        self.open(label, merge, None);
        let falls = write(self);
        if falls {
            self.asm.branch(merge);
        }
        self.asm.label(next);
        self.asm.branch(head);
        self.close(falls)
    }

    fn open(&mut self, label: Option<Label>, merge: Word, next: Option<Word>) {
        let open = Open { label, merge, next, left: false, passes: BTreeSet::new() };
        self.open.push(open);
    }

    /// Ends the innermost loop or block, whose own end `falls`; true if what follows can be
    /// reached.
    fn close(&mut self, falls: bool) -> bool {
        let Some(open) = self.open.pop() else { return falls };
        self.asm.label(open.merge);
        let falls = falls || open.left;
        if !open.passes.is_empty() {
            self.pass(&open.passes);
        }
        if !falls {
            self.asm.act(Op::Unreachable, vec![]);
        }
        falls
    }

    /// Behind a loop or block: those that lead further do so.
    fn pass(&mut self, passes: &BTreeSet<(usize, bool)>) {
        let [onwards, rest] = [(); 2].map(|()| self.asm.id());
        let (ty, bool, zero) = (self.asm.int(32), self.asm.bool(), self.asm.u32(0));
        let leave = self.leaving();
        let way = self.get(ty, leave);
        let stays = self.asm.of(Op::IEqual, bool, &[way, zero]);
        self.asm.selection(rest);
        self.asm.branch_if(stays, rest, onwards);
        self.asm.label(onwards);
        let depth = self.open.len().saturating_sub(1);
        let own = |repeats| passes.contains(&(depth, repeats));
        let merge = self.open.last().map_or(0, |open| open.merge);
        let next = self.open.last().and_then(|open| open.next);
        if let (true, Some(next)) = (own(true), next) {
            let [repeats, other] = [(); 2].map(|()| self.asm.id());
            let code = self.way(depth, true);
            let matches = self.asm.of(Op::IEqual, bool, &[way, code]);
            self.asm.selection(other);
            self.asm.branch_if(matches, repeats, other);
            self.asm.label(repeats);
            self.set(leave, zero);
            self.asm.branch(next);
            self.asm.label(other);
        }
        if own(false) {
            let code = self.way(depth, false);
            let matches = self.asm.of(Op::IEqual, bool, &[way, code]);
            let after = self.asm.of(Op::Select, ty, &[matches, zero, way]);
            self.set(leave, after);
        }
        self.asm.branch(merge);
        self.asm.label(rest);
    }

    fn way(&mut self, depth: usize, repeats: bool) -> Word {
        self.asm.u32(2 * depth as u32 + u32::from(repeats) + 1)
    }

    /// The variable that says what is being left: zero where nothing is.
    fn leaving(&mut self) -> Word {
        if let Some(leave) = self.leave {
            return leave;
        }
        let ty = self.asm.int(32);
        let own = self.local(ty);
        let zero = self.asm.u32(0);
        self.first(|w| w.set(own, zero));
        self.leave = Some(own);
        own
    }

    /// `break` and `continue`.
    fn leave(&mut self, label: Option<Label>, repeats: bool) -> bool {
        let Some(depth) = self.open.iter().rposition(|open| open.label == label) else {
            self.asm.act(Op::Unreachable, vec![]);
            return false;
        };
        let last = self.open.len() - 1;
        self.open[depth].left |= !repeats;
        if depth == last {
            let open = &self.open[depth];
            let to = if repeats { open.next.unwrap_or(open.merge) } else { open.merge };
            self.asm.branch(to);
            return false;
        }
        for open in &mut self.open[depth + 1..] {
            open.passes.insert((depth, repeats));
        }
        let (leave, way) = (self.leaving(), self.way(depth, repeats));
        self.set(leave, way);
        let merge = self.open[last].merge;
        self.asm.branch(merge);
        false
    }

    /// Ends the item, the phase or the group (semantics 1.5).
    pub fn exit(&mut self) -> bool {
        if self.open.iter().any(|open| open.label.is_none()) {
            return self.leave(None, false);
        }
        self.asm.act(Op::Return, vec![]);
        false
    }

    // Definitions.

    fn literal(&self, value: Value) -> Option<u64> {
        self.literals.get(value.index()).copied().flatten()
    }

    fn define(&mut self, define: &Let) {
        let value = define.value;
        match &define.op {
            IrOp::Const(scalar, bits) => {
                if let Some(known) = self.literals.get_mut(value.index()) {
                    *known = Some(*bits);
                }
                let own = self.asm.constant(*scalar, *bits);
                self.is(value, own);
            }
            IrOp::Zero(ty) => {
                if let Some(known) = self.literals.get_mut(value.index()) {
                    *known = Some(0);
                }
                let own = self.zero(*ty);
                self.is(value, own);
            }
            IrOp::Load(place) => self.load(define, place),
            IrOp::Atomic(_, place, _) => self.atomic(define, place),
            IrOp::Binary(op @ (Binary::Div | Binary::Rem), a, b) if self.scalar(*a).is_int() => {
                self.divide(define, *op, *a, *b);
            }
            IrOp::Subgroup(op, args) => self.subgroup(define, *op, args),
            IrOp::SubgroupFold(fold, combine, a) => {
                self.subgroup_fold(define, *fold, *combine, *a);
            }
            op => {
                if self.is_live(value)
                    && let Some(own) = self.expression(op, value)
                {
                    self.is(value, own);
                }
            }
        }
    }

    /// An integer division (semantics 3.3).
    fn divide(&mut self, define: &Let, op: Binary, a: Value, b: Value) {
        let of = self.scalar(a);
        let (ty, bool) = (self.asm.scalar(of), self.asm.bool());
        let zero = self.asm.constant(of, 0);
        let (x, y) = (self.value(a), self.value(b));
        if let Some(bits) = self.literal(b).map(|bits| bits & of.mask()).filter(|bits| *bits != 0) {
            let own = match (op, bits) {
                (Binary::Rem, 2) if !of.is_signed() => self.lowest_bit(of, x),
                _ => self.quotient(op, of, x, y),
            };
            return self.is(define.value, own);
        }
        let point = self.point(Fails::DivisionByZero, define.site);
        let fails = self.asm.of(Op::IEqual, bool, &[y, zero]);
        self.when(fails, |w| w.fail(point));
        let one = self.asm.constant(of, 1);
        let divisor = self.asm.of(Op::Select, ty, &[fails, one, y]);
        let quotient = self.quotient(op, of, x, divisor);
        let own = self.asm.of(Op::Select, ty, &[fails, zero, quotient]);
        self.is(define.value, own);
    }

    /// A word that is 1 for odd integers, else 0. NVIDIA's driver recognises an integer and 1, and
    /// makes wrong products of it (docs/drivers.md); the result of a comparison it takes as it is.
    fn lowest_bit(&mut self, of: Scalar, a: Word) -> Word {
        let (ty, bool) = (self.asm.scalar(of), self.asm.bool());
        let (zero, one) = (self.asm.constant(of, 0), self.asm.constant(of, 1));
        let bit = self.asm.of(Op::BitwiseAnd, ty, &[a, one]);
        let odd = self.asm.of(Op::INotEqual, bool, &[bit, zero]);
        self.asm.of(Op::Select, ty, &[odd, one, zero])
    }

    /// By what is not zero; the least integer by -1 is itself.
    fn quotient(&mut self, op: Binary, of: Scalar, a: Word, b: Word) -> Word {
        let (ty, bool) = (self.asm.scalar(of), self.asm.bool());
        let rest = op == Binary::Rem;
        if !of.is_signed() {
            let op = if rest { Op::UMod } else { Op::UDiv };
            return self.asm.of(op, ty, &[a, b]);
        }
        let (minus_one, one) = (self.asm.constant(of, of.mask()), self.asm.constant(of, 1));
        let turns = self.asm.of(Op::IEqual, bool, &[b, minus_one]);
        let divisor = self.asm.of(Op::Select, ty, &[turns, one, b]);
        let quotient = self.asm.of(Op::SDiv, ty, &[a, divisor]);
        if rest {
            // A remainder of negative operands is not defined everywhere; by 1 it is 0.
            let whole = self.asm.of(Op::IMul, ty, &[quotient, divisor]);
            return self.asm.of(Op::ISub, ty, &[a, whole]);
        }
        let negated = self.negated(of, a);
        self.asm.of(Op::Select, ty, &[turns, negated, quotient])
    }

    /// An operation without effect; none for those that [`define`](Self::define) writes itself.
    fn expression(&mut self, op: &IrOp, value: Value) -> Option<Word> {
        Some(match op {
            IrOp::Arg(param) => self.argument(*param),
            IrOp::Extent(param, dim) => self.extent(*param, *dim),
            IrOp::Query { query, dim, copy } => self.query(*query, *dim, *copy),
            IrOp::Unary(op, a) => {
                let (of, a) = (self.scalar(*a), self.value(*a));
                self.unary(*op, of, a)
            }
            IrOp::Binary(Binary::And, a, one) | IrOp::Binary(Binary::And, one, a)
                if self.scalar(*a).is_int() && self.literal(*one) == Some(1) =>
            {
                let (of, a) = (self.scalar(*a), self.value(*a));
                self.lowest_bit(of, a)
            }
            IrOp::Binary(op, a, b) => {
                let (of, amount) = (self.scalar(*a), self.scalar(*b));
                let (a, b) = (self.value(*a), self.value(*b));
                self.binary(*op, of, a, b, amount)
            }
            IrOp::Fma(a, b, c) => {
                let of = self.scalar(*a);
                let all = [a, b, c].map(|value| self.value(*value));
                let ty = self.asm.scalar(of);
                if if of == Scalar::F64 { self.fma.f64 } else { self.fma.f32 } {
                    self.asm.needs(Capability::FMAKHR);
                    return Some(self.asm.of(Op::FmaKHR, ty, &all));
                }
                self.asm.glsl(GlslStd450Op::Fma, ty, &all)
            }
            IrOp::Dot4(a, b, c) => {
                let of = self.scalar(*c);
                let all = [a, b, c].map(|value| self.value(*value));
                self.dot4(of, all)
            }
            IrOp::Compare(op, a, b) => {
                let of = self.scalar(*a);
                let (a, b) = (self.value(*a), self.value(*b));
                self.compare(*op, of, a, b)
            }
            IrOp::Select(cond, a, b) => {
                let all = [self.value(*cond), self.value(*a), self.value(*b)];
                match self.ty(value).scalar() {
                    Some(of) => self.pick(of, all),
                    None => {
                        let ty = self.ty(value);
                        let ty = self.type_of(ty);
                        self.asm.of(Op::Select, ty, &all)
                    }
                }
            }
            IrOp::Cast(a, to) => {
                let (from, a) = (self.scalar(*a), self.value(*a));
                self.cast(from, a, *to)
            }
            IrOp::Bits(a, to) => {
                let (from, a) = (self.scalar(*a), self.value(*a));
                self.bits(from, a, *to)
            }
            IrOp::Make(ty, parts) => {
                let ty = self.type_of(*ty);
                let parts: Vec<_> = parts.iter().map(|part| self.value(*part)).collect();
                self.asm.of(Op::CompositeConstruct, ty, &parts)
            }
            IrOp::Part(a, part) => {
                let ty = self.ty(value);
                let (ty, a) = (self.type_of(ty), self.value(*a));
                self.asm.op(Op::CompositeExtract, ty, vec![id(a), literal(*part)])
            }
            IrOp::Const(..)
            | IrOp::Zero(_)
            | IrOp::Load(_)
            | IrOp::Atomic(..)
            | IrOp::Subgroup(..)
            | IrOp::SubgroupFold(..) => return None,
        })
    }

    /// Variables of the kernel that are named become zero (semantics 7.4).
    pub fn clear_variables(&mut self) {
        let named = super::super::live::variables(self.kernel);
        for (at, var) in self.kernel.vars.iter().enumerate() {
            if named.get(at).copied().unwrap_or_default() {
                let zero = self.zero(var.ty);
                let pointer = self.var(at);
                self.set(pointer, zero);
            }
        }
    }

    /// The whole of a variable of the kernel.
    pub fn set_variable(&mut self, var: crate::ir::VarId, value: Word) {
        let spot = self.spot(&Place::var(var), None);
        self.store_at(&spot.at, spot.ty, value);
    }
}
