//! Statements.

use super::abi::Fails;
use super::names;
use super::types;
use super::unroll::{LISTED, UNROLL, feeds_loops, is_worth_listing, is_worth_unrolling};
use super::writer::{Open, Writer};
use crate::ir::{Body, Collision, Label, Let, ParamKind, SiteId, Stmt, Value};
use crate::op::{Binary, Op};
use crate::types::Scalar;

impl Writer<'_> {
    /// A body in braces that are there; true if its end can be reached.
    pub(super) fn body(&mut self, body: &Body) -> bool {
        body.iter().all(|stmt| self.stmt(stmt))
    }

    /// True if what follows can be reached.
    pub(super) fn stmt(&mut self, stmt: &Stmt) -> bool {
        match stmt {
            Stmt::Let(define) => {
                self.define(define);
                true
            }
            Stmt::Store { place, value, site } => {
                self.at(*site);
                self.store(place, *value, *site);
                true
            }
            Stmt::If { cond, then, otherwise } => self.branch(*cond, then, otherwise),
            Stmt::For { .. } | Stmt::Loop { .. } => self.loops(stmt, &mut |w, body| w.body(body)),
            Stmt::Block { label, body, .. } => self.blocked(*label, |w| w.body(body)),
            Stmt::Break(label) => self.leave(*label, false),
            Stmt::Continue(label) => self.leave(*label, true),
            Stmt::Return => {
                self.exit();
                false
            }
            Stmt::Assert { cond, site, collision } => {
                self.assert(*cond, *site, collision.as_ref());
                true
            }
            Stmt::Contribute { param, value } => {
                if let Some(ParamKind::Reduce { element, combine }) =
                    self.kernel.params.get(param.index()).map(|p| p.kind.clone())
                {
                    let own = format!("{}_own", names::param(self.kernel, *param));
                    let scalar = element.scalar().unwrap_or(Scalar::U64);
                    let value = self.atom(*value);
                    let sum = self.scalars().combine(combine, scalar, &own, &value);
                    self.line(format!("{own} = {sum};"));
                }
                true
            }
            // In uniform code only, which is written elsewhere.
            Stmt::Phase { .. } | Stmt::Collect { .. } => true,
        }
    }

    fn branch(&mut self, cond: Value, then: &Body, otherwise: &Body) -> bool {
        let cond = self.atom(cond);
        self.branches(&cond, |w| w.body(then), |w| w.body(otherwise))
    }

    /// `if`, with bodies that say whether their end can be reached.
    pub(super) fn branches(
        &mut self,
        cond: &str,
        then: impl FnOnce(&mut Self) -> bool,
        otherwise: impl FnOnce(&mut Self) -> bool,
    ) -> bool {
        let (first_lines, first) = self.apart(then);
        let (second_lines, second) = self.apart(otherwise);
        match first_lines.is_empty() && !second_lines.is_empty() {
            true => self.line(format!("if (!{cond}) {{")),
            false => self.line(format!("if ({cond}) {{")),
        }
        self.lines(&first_lines);
        if !first_lines.is_empty() && !second_lines.is_empty() {
            self.line("} else {");
        }
        self.lines(&second_lines);
        self.line("}");
        first || second
    }

    /// A loop, of whose body `write` says whether its end can be reached.
    pub(super) fn loops(
        &mut self,
        stmt: &Stmt,
        write: &mut dyn FnMut(&mut Self, &Body) -> bool,
    ) -> bool {
        match stmt {
            Stmt::For { label, index, start, end, body } => {
                let (from, to) = (self.atom(*start), self.atom(*end));
                let (ty, i) = (self.type_name(self.ty(*index)), format!("k{}", index.0));
                self.is(*index, i.clone());
                let few = self.known(&to).is_some_and(|end| end <= LISTED);
                let few = few && self.known(&from).is_some();
                if few && (is_worth_listing(*index, body) || feeds_loops(body)) {
                    self.unroll_all();
                } else {
                    self.unroll(body);
                }
                let head = format!("for ({ty} {i} = {from}; {i} < {to}; {i}++) {{");
                self.repeated(*label, &head, |w| write(w, body))
            }
            Stmt::Loop { label, body } => {
                // Whether it ends is not known: semantics 6.2.
                let turn = format!("turn{}", label.0);
                let head = format!("for (u64 {turn} = 0; {turn} >> 63 == 0; {turn}++) {{");
                self.repeated(*label, &head, |w| write(w, body))
            }
            _ => true,
        }
    }

    /// Before a loop with few turns, each of which is written down.
    fn unroll_all(&mut self) {
        // CPUs have too few registers for arrays.
        if !self.form.rows {
            self.line("#pragma unroll");
        }
    }

    /// Before a loop with this body.
    pub(super) fn unroll(&mut self, body: &Body) {
        if is_worth_unrolling(body) {
            self.unroll_short();
        }
    }

    /// Before a loop that loads, and does little else.
    pub(super) fn unroll_short(&mut self) {
        if self.form.unroll {
            self.line(format!("#pragma unroll {UNROLL}"));
        }
    }

    fn repeated(&mut self, label: Label, head: &str, body: impl FnOnce(&mut Self) -> bool) -> bool {
        self.open.push(Open { label, is_loop: true, breaks: false, continues: false });
        let (lines, _) = self.apart(body);
        let Some(open) = self.open.pop() else { return true };
        self.line(head);
        if open.continues {
            // Braces, so that no jump passes over a definition.
            self.line("{");
            self.lines(&lines);
            self.line("}");
            self.line(format!("next{}: ;", label.0));
        } else {
            self.lines(&lines);
        }
        self.line("}");
        if open.breaks {
            self.line(format!("end{}: ;", label.0));
        }
        true
    }

    /// A block that `break` leaves.
    pub(super) fn blocked(&mut self, label: Label, body: impl FnOnce(&mut Self) -> bool) -> bool {
        self.open.push(Open { label, is_loop: false, breaks: false, continues: false });
        self.open("{");
        let falls = body(self);
        self.close("}");
        let left = self.open.pop().is_some_and(|open| open.breaks);
        if left {
            self.line(format!("end{}: ;", label.0));
        }
        falls || left
    }

    /// `break` and `continue`: C's own where they mean the same.
    fn leave(&mut self, label: Label, repeats: bool) -> bool {
        let innermost = self.open.iter().rev().find(|open| open.is_loop).map(|open| open.label);
        let own = innermost == Some(label);
        let Some(open) = self.open.iter_mut().find(|open| open.label == label) else {
            return false;
        };
        match (own, repeats) {
            (true, true) => self.line("continue;"),
            (true, false) => self.line("break;"),
            (false, true) => {
                open.continues = true;
                self.line(format!("goto next{};", label.0));
            }
            (false, false) => {
                open.breaks = true;
                self.line(format!("goto end{};", label.0));
            }
        }
        false
    }

    /// Ends the item, the phase or the group (semantics 1.5).
    fn exit(&mut self) {
        match self.exit {
            None => self.line("return;"),
            // Of the loop over a row.
            Some("next") if !self.open.iter().any(|open| open.is_loop) => self.line("continue;"),
            Some(to) => {
                self.left = true;
                let to = self.exit_label(to);
                self.line(format!("goto {to};"));
            }
        }
    }

    /// The label of what is left now.
    pub(super) fn exit_label(&self, to: &'static str) -> String {
        if to == "phase" { format!("phase{}", self.phases) } else { to.to_owned() }
    }

    fn assert(&mut self, cond: Value, site: SiteId, collision: Option<&Collision>) {
        self.at(Some(site));
        let fails = match collision {
            None => {
                let point = self.point(Fails::Assertion, Some(site));
                format!("{}(verdict, {point}u);", self.helpers.fixed("fail"))
            }
            Some(Collision { param, index, items }) => {
                let what = Fails::Collision(*param, index.len() as u8);
                let index: Vec<_> = index.iter().map(|at| self.atom(*at)).collect();
                let items = items.map(|item| self.atom(item));
                self.outside(what, &index, &items, Some(site))
            }
        };
        let cond = self.atom(cond);
        self.open(format!("if (!{cond}) {{"));
        self.line(fails);
        self.exit();
        self.close("}");
    }

    pub(super) fn define(&mut self, define: &Let) {
        let value = define.value;
        match &define.op {
            Op::Const(scalar, bits) => self.is(value, self.literal(*scalar, *bits)),
            Op::Zero(ty) => match ty.scalar() {
                Some(scalar) => self.is(value, self.literal(scalar, 0)),
                None => self.constant(define, &types::zero(self.kernel, *ty)),
            },
            Op::Arg(param) => {
                self.params.insert(*param);
                self.is(value, names::param(self.kernel, *param));
            }
            Op::Extent(param, dim) if self.is_live(value) => {
                let extent = self.extent(*param, *dim);
                self.is(value, extent);
            }
            Op::Query { query, dim, copy } if self.is_live(value) => {
                let name = self.query(*query, *dim, *copy);
                self.is(value, name);
            }
            Op::Extent(..) | Op::Query { .. } => {}
            Op::Load(place) => {
                self.at(define.site);
                self.load(define, place);
            }
            Op::Atomic(op, place, args) => {
                self.at(define.site);
                self.atomic(define, *op, place, args);
            }
            Op::Binary(op @ (Binary::Div | Binary::Rem), a, b) if self.scalar(*a).is_int() => {
                self.at(define.site);
                self.divide(define, *op, *a, *b);
            }
            Op::Subgroup(op, args) => self.subgroup(define, *op, args),
            Op::SubgroupFold(fold, combine, a) => self.subgroup_fold(define, *fold, *combine, *a),
            op => {
                if self.is_live(value)
                    && let Some(expression) = self.expression(op)
                {
                    self.constant(define, &expression);
                }
            }
        }
    }

    /// An integer division (semantics 3.3).
    fn divide(&mut self, define: &Let, op: Binary, a: Value, b: Value) {
        let scalar = self.scalar(a);
        let (a, b) = (self.atom(a), self.atom(b));
        let quotient = self.scalars().binary(op, scalar, &a, &b);
        let digits: String = b.chars().filter(char::is_ascii_digit).collect();
        let is_literal = !b.starts_with(|c: char| c.is_ascii_alphabetic());
        if is_literal && digits.chars().any(|c| c != '0') {
            return self.constant(define, &quotient);
        }
        let point = self.point(Fails::DivisionByZero, define.site);
        let name = self.helpers.fixed("fail");
        self.line(format!("if ({b} == 0) {name}(verdict, {point}u);"));
        if !is_literal {
            self.constant(define, &format!("{b} == 0 ? 0 : {quotient}"));
        } else {
            self.is(define.value, self.literal(scalar, 0));
        }
    }

    /// An operation without effect, of values alone; none for those that [`define`](Self::define)
    /// writes itself.
    fn expression(&mut self, op: &Op) -> Option<String> {
        let scalar = |w: &Self, v: &Value| w.scalar(*v);
        let atom = |w: &Self, v: &Value| w.atom(*v);
        Some(match op {
            Op::Unary(op, a) => {
                let (of, a) = (scalar(self, a), atom(self, a));
                self.scalars().unary(*op, of, &a)
            }
            Op::Binary(op, a, b) => {
                let (of, a, b) = (scalar(self, a), atom(self, a), atom(self, b));
                self.scalars().binary(*op, of, &a, &b)
            }
            Op::Compare(op, a, b) => {
                let (of, a, b) = (scalar(self, a), atom(self, a), atom(self, b));
                self.scalars().compare(*op, of, &a, &b)
            }
            Op::Fma(a, b, c) => {
                let of = scalar(self, a);
                let (a, b, c) = (atom(self, a), atom(self, b), atom(self, c));
                self.scalars().fma(of, &a, &b, &c)
            }
            Op::Dot4(a, b, c) => {
                let signed = scalar(self, c).is_signed();
                let (a, b, c) = (atom(self, a), atom(self, b), atom(self, c));
                self.scalars().dot4(signed, &a, &b, &c)
            }
            Op::Select(cond, a, b) => {
                format!("{} ? {} : {}", atom(self, cond), atom(self, a), atom(self, b))
            }
            Op::Cast(a, to) => {
                let (from, a) = (scalar(self, a), atom(self, a));
                self.scalars().cast(from, &a, *to)
            }
            Op::Bits(a, to) => {
                let (from, a) = (scalar(self, a), atom(self, a));
                self.scalars().bits(from, &a, *to)
            }
            Op::Make(ty, parts) => {
                let parts: Vec<_> = parts.iter().map(|part| atom(self, part)).collect();
                types::initialiser(self.kernel, *ty, &parts)
            }
            Op::Part(a, part) => {
                let part = types::part(self.kernel, self.ty(*a), *part);
                format!("{}{part}", atom(self, a))
            }
            Op::Const(..)
            | Op::Zero(_)
            | Op::Arg(_)
            | Op::Extent(..)
            | Op::Query { .. }
            | Op::Load(_)
            | Op::Atomic(..)
            | Op::Subgroup(..)
            | Op::SubgroupFold(..) => return None,
        })
    }
}
