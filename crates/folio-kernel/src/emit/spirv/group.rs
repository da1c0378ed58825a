//! Group kernels: uniform code, phases and the barriers between them (semantics 1.3 to 1.5), local
//! memory, and what groups combine (8.1 to 8.3). Uniform code runs in every thread alike.

use super::super::phases::{is_private, looks, looks_within};
use super::body::returns;
use super::memory::At;
use super::writer::Writer;
use crate::ir::{Body, ParamKind, Stmt, Value, VarId};
use crate::op::{Combine, Fold};
use crate::types::Scalar;
use rspirv::spirv::{MemorySemantics, Op, Scope, StorageClass, Word};

impl Writer<'_> {
    /// All threads of the group are here, and see what all have written.
    pub fn barrier(&mut self) {
        let semantics = MemorySemantics::ACQUIRE_RELEASE
            | MemorySemantics::UNIFORM_MEMORY
            | MemorySemantics::WORKGROUP_MEMORY
            | MemorySemantics::MAKE_AVAILABLE
            | MemorySemantics::MAKE_VISIBLE;
        let scope = self.asm.u32(Scope::Workgroup as u32);
        let semantics = self.asm.u32(semantics.bits());
        let operands = [scope, scope, semantics].map(super::assembly::id);
        self.asm.act(Op::ControlBarrier, operands.to_vec());
    }

    /// Uniform code. `looked`: since the last barrier it has seen what the next phase may write.
    pub fn uniform(&mut self, body: &Body, looked: &mut bool) -> bool {
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
                self.barrier();
                true
            }
            Stmt::Collect { fold, combine, body, value, into } => {
                self.before_phase(looked);
                self.collect(*fold, *combine, body, *value, *into);
                true
            }
            Stmt::If { cond, then, otherwise } => {
                let cond = self.value(*cond);
                let (mut first, mut second) = (*looked, *looked);
                let on = self.branches(
                    cond,
                    |w| w.uniform(then, &mut first),
                    |w| w.uniform(otherwise, &mut second),
                );
                *looked = first || second;
                on
            }
            Stmt::Block { label, body, .. } => {
                let within = looks_within(self.kernel, body);
                let on = self.blocked(Some(*label), |w| w.uniform(body, looked));
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

    fn before_phase(&mut self, looked: &mut bool) {
        if std::mem::take(looked) {
            self.barrier();
        }
    }

    /// The body of a phase, and what its items do at its end.
    fn phase(&mut self, once: bool, body: &Body, end: impl FnOnce(&mut Self)) {
        let open = std::mem::take(&mut self.open);
        let whole = |w: &mut Self| {
            let inside = |w: &mut Self| {
                let falls = w.body(body);
                if falls {
                    end(w);
                }
                falls
            };
            if returns(body) { w.blocked(None, inside) } else { inside(w) }
        };
        if once {
            let (thread, zero, bool) = (self.thread(), self.asm.u32(0), self.asm.bool());
            let first = self.asm.of(Op::IEqual, bool, &[thread, zero]);
            self.branches(first, whole, |_| true);
        } else if !whole(self) {
            // The body never ends, or fails to: the code behind it is written all the same.
            let next = self.asm.id();
            self.asm.label(next);
        }
        self.open = open;
    }

    /// A value of each thread, of 64 bits.
    fn all(&mut self) -> Word {
        if let Some(known) = self.scratch {
            return known;
        }
        let (word, len) = (self.asm.int(64), self.asm.threads());
        let array = self.asm.array(word, len);
        let own = self.asm.shared(array);
        self.uses.push(own);
        self.scratch = Some(own);
        own
    }

    fn all_at(&mut self, index: Word) -> At {
        let all = self.all();
        At::Variable(StorageClass::Workgroup, all, vec![index])
    }

    /// The value of a thread.
    pub fn get_of_all(&mut self, of: Scalar, index: Word) -> Word {
        let at = self.all_at(index);
        let word = self.load_at(&at, Scalar::U64.into());
        let narrow = match of {
            Scalar::Bool => Scalar::U32,
            _ => of.unsigned(),
        };
        let stored = match narrow.bits() {
            64 => word,
            bits => {
                let ty = self.asm.int(bits);
                self.asm.of(Op::UConvert, ty, &[word])
            }
        };
        self.loaded_bits(of, stored)
    }

    pub fn set_of_all(&mut self, of: Scalar, index: Word, value: Word) {
        let stored = self.stored_bits(of, value);
        let wide = self.asm.int(64);
        let is_wide = of.bits() == 64;
        let word = if is_wide { stored } else { self.asm.of(Op::UConvert, wide, &[stored]) };
        let at = self.all_at(index);
        self.store_at(&at, Scalar::U64.into(), word);
    }

    fn collect(&mut self, fold: Fold, combine: Combine, body: &Body, value: Value, into: VarId) {
        let of = self.scalar(value);
        let thread = self.thread();
        self.phase(false, body, |w| {
            let value = w.value(value);
            w.set_of_all(of, thread, value);
        });
        self.barrier();
        let zero = self.asm.u32(0);
        let result = match fold {
            Fold::Reduce => {
                self.tree(combine, of);
                self.get_of_all(of, zero)
            }
            Fold::Inclusive | Fold::Exclusive => {
                self.scan(combine, of);
                match fold {
                    Fold::Inclusive => self.get_of_all(of, thread),
                    _ => self.before_own(combine, of, thread),
                }
            }
        };
        self.set_variable(into, result);
        self.barrier();
    }

    /// The value of the thread ahead; of the first, the identity.
    fn before_own(&mut self, combine: Combine, of: Scalar, thread: Word) -> Word {
        let (narrow, bool) = (self.asm.int(32), self.asm.bool());
        let (zero, one) = (self.asm.u32(0), self.asm.u32(1));
        let first = self.asm.of(Op::IEqual, bool, &[thread, zero]);
        let before = self.asm.of(Op::ISub, narrow, &[thread, one]);
        let before = self.asm.of(Op::Select, narrow, &[first, zero, before]);
        let value = self.get_of_all(of, before);
        let identity = self.asm.constant(of, combine.identity(of).unwrap_or_default());
        let ty = self.asm.scalar(of);
        self.asm.of(Op::Select, ty, &[first, identity, value])
    }

    /// The greatest power of two below the number of threads; 0 for one.
    fn gap(&mut self) -> Word {
        let (narrow, bool) = (self.asm.int(32), self.asm.bool());
        let (zero, one, last) = (self.asm.u32(0), self.asm.u32(1), self.asm.u32(31));
        let threads = self.asm.threads();
        let others = self.asm.of(Op::ISub, narrow, &[threads, one]);
        let none = self.asm.of(Op::IEqual, bool, &[others, zero]);
        let leading = self.unary(crate::op::Unary::LeadingZeros, Scalar::U32, others);
        let up = self.asm.of(Op::ISub, narrow, &[last, leading]);
        let gap = self.asm.of(Op::ShiftLeftLogical, narrow, &[one, up]);
        self.asm.of(Op::Select, narrow, &[none, zero, gap])
    }

    /// A loop whose counter is shifted by one each turn, while `goes_on`.
    pub fn shifted(
        &mut self,
        from: Word,
        shift: Op,
        goes_on: impl FnOnce(&mut Self, Word) -> Word,
        turn: impl FnOnce(&mut Self, Word),
    ) {
        let (narrow, one) = (self.asm.int(32), self.asm.u32(1));
        let counter = self.local(narrow);
        self.set(counter, from);
        let [head, test, body, next, merge] = [(); 5].map(|()| self.asm.id());
        self.asm.branch(head);
        self.asm.label(head);
        self.asm.repetition(merge, next);
        self.asm.branch(test);
        self.asm.label(test);
        let at = self.get(narrow, counter);
        let on = goes_on(self, at);
        self.asm.branch_if(on, body, merge);
        self.asm.label(body);
        turn(self, at);
        self.asm.branch(next);
        self.asm.label(next);
        let after = self.asm.of(shift, narrow, &[at, one]);
        self.set(counter, after);
        self.asm.branch(head);
        self.asm.label(merge);
    }

    /// semantics 8.1, of one value of each thread.
    pub fn tree(&mut self, combine: Combine, of: Scalar) {
        let (gap, thread, threads) = (self.gap(), self.thread(), self.asm.threads());
        let (zero, bool, narrow) = (self.asm.u32(0), self.asm.bool(), self.asm.int(32));
        let goes_on = |w: &mut Self, gap| w.asm.of(Op::UGreaterThan, bool, &[gap, zero]);
        self.shifted(gap, Op::ShiftRightLogical, goes_on, |w, gap| {
            let other = w.asm.of(Op::IAdd, narrow, &[thread, gap]);
            let first = w.asm.of(Op::ULessThan, bool, &[thread, gap]);
            let there = w.asm.of(Op::ULessThan, bool, &[other, threads]);
            let both = w.asm.of(Op::LogicalAnd, bool, &[first, there]);
            w.when(both, |w| {
                let (a, b) = (w.get_of_all(of, thread), w.get_of_all(of, other));
                let sum = w.combine(combine, of, a, b);
                w.set_of_all(of, thread, sum);
            });
            w.barrier();
        });
    }

    /// semantics 8.3
    fn scan(&mut self, combine: Combine, of: Scalar) {
        let (one, thread, threads) = (self.asm.u32(1), self.thread(), self.asm.threads());
        let (bool, narrow) = (self.asm.bool(), self.asm.int(32));
        let goes_on = |w: &mut Self, step| w.asm.of(Op::ULessThan, bool, &[step, threads]);
        self.shifted(one, Op::ShiftLeftLogical, goes_on, |w, step| {
            let early = w.asm.of(Op::ULessThan, bool, &[thread, step]);
            let other = w.asm.of(Op::ISub, narrow, &[thread, step]);
            let other = w.asm.of(Op::Select, narrow, &[early, thread, other]);
            let before = w.get_of_all(of, other);
            w.barrier();
            let late = w.asm.of(Op::LogicalNot, bool, &[early]);
            w.when(late, |w| {
                let own = w.get_of_all(of, thread);
                let sum = w.combine(combine, of, before, own);
                w.set_of_all(of, thread, sum);
            });
            w.barrier();
        });
    }

    /// Memory of the group: declared, and zero when the group begins (semantics 7.4).
    pub fn declare_locals(&mut self) {
        for (at, param) in self.kernel.params.iter().enumerate() {
            let ParamKind::Local { element, len } = param.kind else { continue };
            let (ty, len) = (self.stored_type(element), self.asm.u32(len));
            let array = self.asm.array(ty, len);
            let own = self.asm.shared(array);
            self.uses.push(own);
            if let Some(base) = self.bases.get_mut(at) {
                *base = Some(own);
            }
        }
    }

    pub fn clear_locals(&mut self) {
        let mut any = false;
        for (at, param) in self.kernel.params.iter().enumerate() {
            let ParamKind::Local { element, len } = param.kind else { continue };
            let Some(base) = self.bases.get(at).copied().flatten() else { continue };
            any = true;
            let (thread, threads) = (self.thread(), self.asm.threads());
            let (len, zero) = (self.asm.u32(len), self.zero(element));
            let bounds = (thread, len, threads);
            self.counted(Scalar::U32, bounds, |w, index| {
                let at = At::Variable(StorageClass::Workgroup, base, vec![index]);
                w.store_at(&at, element, zero);
                true
            });
        }
        if any {
            self.barrier();
        }
    }
}
