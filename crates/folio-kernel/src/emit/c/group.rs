//! Group kernels: uniform code, phases and the barriers between them (semantics 1.3 to 1.5), local
//! memory, and what groups combine (8.1 to 8.3). Uniform code runs in every thread alike.

use super::dialect::Dialect;
use super::names;
use super::phases::{is_private, looks, looks_in, looks_within};
use super::types;
use super::writer::{Open, Writer};
use crate::ir::{Body, Kernel, Label, ParamId, ParamKind, Stmt, Value, VarId};
use crate::op::{Combine, Fold};
use crate::types::Scalar;

/// No loop's.
const NONE: Label = Label(u32::MAX);

/// There is a barrier in it.
fn waits_within(kernel: &Kernel, body: &Body) -> bool {
    body.iter().any(|stmt| waits(kernel, stmt))
}

fn waits(kernel: &Kernel, stmt: &Stmt) -> bool {
    match stmt {
        Stmt::Phase { body, .. } => !is_private(kernel, body),
        Stmt::Collect { .. } => true,
        other => other.bodies().iter().any(|body| waits_within(kernel, body)),
    }
}

/// There is a barrier at its end, if any, and all items get there.
fn waits_at_end(kernel: &Kernel, body: &Body) -> bool {
    fn leaves(stmt: &Stmt) -> bool {
        match stmt {
            Stmt::Phase { .. } | Stmt::Collect { .. } => false,
            Stmt::Break(_) | Stmt::Continue(_) | Stmt::Return | Stmt::Assert { .. } => true,
            other => other.bodies().iter().any(|body| body.iter().any(leaves)),
        }
    }
    if body.iter().any(leaves) {
        return false;
    }
    let Some((last, ahead)) = body.split_last() else { return true };
    let straight =
        |body: &[Stmt]| body.iter().all(|stmt| !waits(kernel, stmt) && !looks_in(kernel, stmt));
    match last {
        Stmt::Phase { .. } => straight(ahead),
        Stmt::If { then, otherwise, .. } => {
            straight(ahead) && waits_at_end(kernel, then) && waits_at_end(kernel, otherwise)
        }
        _ => !waits_within(kernel, body),
    }
}

impl Writer<'_> {
    /// Uniform code. `looked`: since the last barrier it has seen what the next phase may write.
    pub(super) fn uniform(&mut self, body: &Body, looked: &mut bool) -> bool {
        body.iter().all(|stmt| self.uniform_stmt(stmt, looked))
    }

    fn uniform_stmt(&mut self, stmt: &Stmt, looked: &mut bool) -> bool {
        match stmt {
            Stmt::Phase { once, body } if is_private(self.kernel, body) => {
                self.phase(*once, body, |_| ());
                true
            }
            Stmt::Phase { once, body } => {
                self.before_phase(looked);
                self.phase(*once, body, |_| ());
                self.line("BARRIER;");
                true
            }
            Stmt::Collect { fold, combine, body, value, into } => {
                self.before_phase(looked);
                self.collect(*fold, *combine, body, *value, *into);
                true
            }
            Stmt::If { cond, then, otherwise } => {
                let ways = [then, otherwise];
                let turns =
                    self.form.rows && ways.iter().any(|body| waits_within(self.kernel, body));
                if turns && ways.iter().all(|body| waits_at_end(self.kernel, body)) {
                    self.before_phase(looked);
                    self.quiet_stmt(stmt);
                    self.line("BARRIER;");
                    return true;
                }
                let cond = self.atom(*cond);
                let (mut first, mut second) = (*looked, *looked);
                let first_way = |w: &mut Self| w.uniform(then, &mut first);
                let second_way = |w: &mut Self| w.uniform(otherwise, &mut second);
                let on = match turns {
                    true => self.turns(&cond, first_way, second_way),
                    false => self.branches(&cond, first_way, second_way),
                };
                *looked = first || second;
                on
            }
            Stmt::Block { product: Some(product), .. } if self.by_units(product) => true,
            Stmt::Block { label, body, .. } => {
                let within = looks_within(self.kernel, body);
                let on = self.blocked(*label, |w| w.uniform(body, looked));
                *looked |= within;
                on
            }
            Stmt::For { body, .. } | Stmt::Loop { body, .. } => {
                // The next turn's phases may write places that this turn has read.
                *looked |= looks_within(self.kernel, body);
                let after = *looked;
                self.loops(stmt, &mut |w, body| w.uniform(body, looked));
                *looked |= after;
                true
            }
            other => {
                *looked |= looks(self.kernel, other);
                self.stmt(other)
            }
        }
    }

    /// Writes a body that [waits at its end](waits_at_end), without that barrier: behind a branch,
    /// it is in none.
    fn quiet(&mut self, body: &Body) -> bool {
        body.iter().all(|stmt| self.quiet_stmt(stmt))
    }

    fn quiet_stmt(&mut self, stmt: &Stmt) -> bool {
        match stmt {
            Stmt::Phase { once, body } => {
                self.phase(*once, body, |_| ());
                true
            }
            Stmt::If { cond, then, otherwise } => {
                let cond = self.atom(*cond);
                self.branches(&cond, |w| w.quiet(then), |w| w.quiet(otherwise))
            }
            other => self.uniform_stmt(other, &mut false),
        }
    }

    /// A branch with barriers in it, as loops of one turn or none, of which the compiler knows no
    /// more than that. Where threads are loops between barriers, a barrier in a branch is what
    /// PoCL's compiler gets wrong.
    fn turns(
        &mut self,
        cond: &str,
        then: impl FnOnce(&mut Self) -> bool,
        otherwise: impl FnOnce(&mut Self) -> bool,
    ) -> bool {
        self.phases += 1;
        let way = format!("way{}", self.phases);
        // A statement that leaves a loop around leaves more than this.
        let open = || Open { label: NONE, is_loop: true, breaks: false, continues: false };
        self.open.push(open());
        let (first_lines, first) = self.apart(then);
        let (second_lines, second) = self.apart(otherwise);
        self.open.pop();
        self.line(format!("const volatile u32 {way} = {cond} ? 1u : 0u;"));
        for (from, to, lines) in [("0u", &*way, first_lines), (&*way, "1u", second_lines)] {
            if !lines.is_empty() {
                self.line(format!("for (u32 turn = {from}; turn < {to}; turn++) {{"));
                self.lines(&lines);
                self.line("}");
            }
        }
        first || second
    }

    fn before_phase(&mut self, looked: &mut bool) {
        if std::mem::take(looked) {
            self.line("BARRIER;");
        }
    }

    /// The body of a phase, and what its items do at its end.
    fn phase(&mut self, once: bool, body: &Body, end: impl FnOnce(&mut Self)) {
        self.phases += 1;
        let open = std::mem::take(&mut self.open);
        let exit = self.exit.replace("phase");
        let left = std::mem::take(&mut self.left);
        if once {
            self.thread();
            self.open("if (thread == 0u) {");
        } else {
            self.open("{");
        }
        if self.body(body) {
            end(self);
        }
        self.close("}");
        if self.left {
            let label = self.exit_label("phase");
            self.line(format!("{label}: ;"));
        }
        (self.exit, self.left, self.open) = (exit, left, open);
    }

    fn collect(&mut self, fold: Fold, combine: Combine, body: &Body, value: Value, into: VarId) {
        let (of, t) = (self.scalar(value), self.type_name(self.ty(value)));
        let into = names::var(self.kernel, into);
        self.open("{");
        self.all(&t);
        self.phase(false, body, |w| {
            let value = w.atom(value);
            w.line(format!("all[thread] = {value};"));
        });
        self.line("BARRIER;");
        match fold {
            Fold::Reduce => {
                self.tree(combine, of);
                self.line(format!("{into} = all[0];"));
            }
            Fold::Inclusive | Fold::Exclusive => {
                self.scan(combine, of, &t);
                let result = match fold {
                    Fold::Inclusive => "all[thread]".to_owned(),
                    _ => {
                        let identity = combine.identity(of).unwrap_or_default();
                        format!("thread == 0u ? {} : all[thread - 1u]", self.literal(of, identity))
                    }
                };
                self.line(format!("{into} = {result};"));
            }
        }
        self.line("BARRIER;");
        self.close("}");
    }

    /// The memory in which a group combines.
    pub(super) fn all(&mut self, ty: &str) {
        self.scratch = self.scratch.max(8);
        self.line(format!("LOCAL {ty} *all = (LOCAL {ty} *)scratch;"));
    }

    /// The index of the thread in its block.
    pub(super) fn thread(&mut self) {
        self.thread = true;
    }

    /// semantics 8.1, of one value of each thread.
    pub(super) fn tree(&mut self, combine: Combine, of: Scalar) {
        self.thread();
        self.threads = true;
        let gap_of = self.helpers.fixed("gap_of");
        if self.form.rows {
            let both = self.scalars().combine(combine, of, "all[lane]", "all[lane + gap]");
            let first = format!("{gap_of}(threads)");
            self.tree_of_one(&first, "threads", &format!("all[lane] = {both};"));
            return self.line("BARRIER;");
        }
        let both = self.scalars().combine(combine, of, "all[thread]", "all[thread + gap]");
        let step = format!("if (thread < gap && thread + gap < threads) all[thread] = {both};");
        if self.form.dialect == Dialect::Cuda {
            return self.tree_of_warps(combine, of, &step);
        }
        self.open(format!("for (u32 gap = {gap_of}(threads); gap > 0u; gap >>= 1) {{"));
        self.line(step);
        self.line("BARRIER;");
        self.close("}");
    }

    /// The steps between values of one warp are in its registers, without barriers.
    fn tree_of_warps(&mut self, combine: Combine, of: Scalar, step: &str) {
        let (t, lane_of) = (of.name(), self.lane_of(of));
        let both = self.scalars().combine(combine, of, "own", "other");
        self.open("{");
        self.line("u32 gap = gap_of(threads);");
        self.open("for (; gap >= 32u; gap >>= 1) {");
        self.line(step);
        self.line("BARRIER;");
        self.close("}");
        self.open("if (thread < 32u) {");
        self.line(format!("{t} own = all[thread];"));
        self.open("for (; gap > 0u; gap >>= 1) {");
        self.line(format!("const {t} other = {lane_of}(own, thread + gap, thread, threads);"));
        self.line(format!("if (thread < gap && thread + gap < threads) own = {both};"));
        self.close("}");
        self.line("if (thread == 0u) all[0] = own;");
        self.close("}");
        self.line("BARRIER;");
        self.close("}");
    }

    /// semantics 8.3
    fn scan(&mut self, combine: Combine, of: Scalar, ty: &str) {
        self.thread();
        self.threads = true;
        let both = self.scalars().combine(combine, of, "before", "all[thread]");
        self.open("{");
        self.line("u32 step = 1;");
        if self.form.dialect == Dialect::Cuda {
            self.first_steps(combine, of);
        }
        self.open("for (; step < threads; step <<= 1) {");
        self.line(format!("const {ty} before = all[thread < step ? thread : thread - step];"));
        self.line("BARRIER;");
        self.line(format!("if (thread >= step) all[thread] = {both};"));
        self.line("BARRIER;");
        self.close("}");
        self.close("}");
    }

    /// The steps by less than a warp are in registers, without barriers. They bring values of a
    /// warp and of the one before together; each warp therefore takes the steps of that one, too,
    /// as far as it needs them.
    fn first_steps(&mut self, combine: Combine, of: Scalar) {
        let (t, lane_of) = (of.name(), self.lane_of(of));
        let own = self.scalars().combine(combine, of, "before", "own");
        let earlier = self.scalars().combine(combine, of, "b", "earlier");
        self.open("if ((threads & 31u) == 0u) {");
        self.line("const u32 lane = thread & 31u;");
        self.line(format!("{t} own = all[thread];"));
        self.line(format!("{t} earlier = all[thread < 32u ? thread : thread - 32u];"));
        self.line("#pragma unroll");
        self.open("for (; step < 32u; step <<= 1) {");
        for (name, from) in [("a", "own"), ("b", "earlier")] {
            let value = format!("{lane_of}({from}, lane - step & 31u, thread, threads)");
            self.line(format!("const {t} {name} = {value};"));
        }
        self.line(format!("const {t} before = lane < step ? b : a;"));
        self.line(format!("if (thread >= step) own = {own};"));
        self.line(format!("if (lane >= step) earlier = {earlier};"));
        self.close("}");
        self.line("BARRIER;");
        self.line("all[thread] = own;");
        self.line("BARRIER;");
        self.close("}");
    }

    /// Local memory: declared, and zero when the group begins (semantics 7.4).
    pub(super) fn locals(&mut self) {
        let locals = self.kernel.params.iter().enumerate().filter_map(|(at, param)| {
            let param_id = ParamId(at as u32);
            match param.kind {
                ParamKind::Local { element, len } if self.params.contains(&param_id) => {
                    Some((names::param(self.kernel, param_id), element, len))
                }
                _ => None,
            }
        });
        let locals: Vec<_> = locals.collect();
        for (name, element, len) in &locals {
            self.line(format!("SHARED {} {name}[{len}];", self.type_name(*element)));
        }
        for (name, element, len) in &locals {
            let (ty, zero) = (self.type_name(*element), types::zero(self.kernel, *element));
            self.thread();
            self.threads = true;
            // As a loop of its own where threads are one.
            self.open(match self.form.rows {
                true => format!("for (u32 k = 0u; thread == 0u && k < {len}u; k++) {{"),
                false => format!("for (u32 k = thread; k < {len}u; k += threads) {{"),
            });
            self.line(format!("const {ty} zero = {zero};"));
            self.line(format!("{name}[k] = zero;"));
            self.close("}");
        }
        if !locals.is_empty() {
            self.line("BARRIER;");
        }
    }
}
