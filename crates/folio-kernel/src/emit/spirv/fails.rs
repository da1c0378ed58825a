//! The conditions under which places are there (semantics 7.5), and how a failure is noted (section
//! 10).

use super::memory::{At, Spot};
use super::writer::Writer;
use crate::types::{Scalar, Type};
use rspirv::spirv::{Op, Scope, Word};

/// The functions of a module that note failures, if they are there.
#[derive(Default)]
pub struct Functions {
    fail: Option<Word>,
    outside: Option<Word>,
}

/// A condition that must hold, and the failure that is noted otherwise.
#[derive(Clone)]
pub struct Check {
    pub holds: Word,
    pub point: Word,
    pub index: Vec<Word>,
    pub extent: Vec<Word>,
}

impl Writer<'_> {
    /// A function that says whether this failure is the first.
    fn fail_function(&mut self) -> Word {
        if let Some(known) = self.functions.fail {
            return known;
        }
        let own = self.asm.id();
        self.functions.fail = Some(own);
        let (word, narrow) = (self.asm.int(64), self.asm.int(32));
        let outer = std::mem::take(&mut self.asm.code);
        let block = self.asm.block;
        let parameters = self.asm.function(own, &[word, narrow]);
        let label = self.asm.id();
        self.asm.label(label);
        self.note(parameters[0], parameters[1]);
        self.asm.act(Op::Return, vec![]);
        let code = std::mem::replace(&mut self.asm.code, outer);
        self.asm.end_function(code);
        self.asm.block = block;
        own
    }

    /// Notes a point, if none is noted: what was there.
    fn note(&mut self, record: Word, point: Word) -> Word {
        let (narrow, zero) = (self.asm.int(32), self.asm.u32(0));
        let pointer_type = self.asm.device_pointer(32);
        let pointer = self.asm.of(Op::ConvertUToPtr, pointer_type, &[record]);
        let scope = self.asm.u32(Scope::QueueFamily as u32);
        let operands = [pointer, scope, zero, zero, point, zero];
        self.asm.of(Op::AtomicCompareExchange, narrow, &operands)
    }

    /// A function that notes an index out of bounds.
    fn outside_function(&mut self) -> Word {
        if let Some(known) = self.functions.outside {
            return known;
        }
        let own = self.asm.id();
        self.functions.outside = Some(own);
        let (word, narrow, bool) = (self.asm.int(64), self.asm.int(32), self.asm.bool());
        let outer = std::mem::take(&mut self.asm.code);
        let block = self.asm.block;
        let types = [word, narrow, word, word, word, word, word, word];
        let parameters = self.asm.function(own, &types);
        let label = self.asm.id();
        self.asm.label(label);
        let (record, point) = (parameters[0], parameters[1]);
        let before = self.note(record, point);
        let zero = self.asm.u32(0);
        let first = self.asm.of(Op::IEqual, bool, &[before, zero]);
        self.when(first, |w| {
            for (at, value) in parameters[2..].iter().enumerate() {
                let at = At::behind(record, 8 * (at as u64 + 1));
                w.store_scalar(&at, Scalar::U64, *value);
            }
        });
        self.asm.act(Op::Return, vec![]);
        let code = std::mem::replace(&mut self.asm.code, outer);
        self.asm.end_function(code);
        self.asm.block = block;
        own
    }

    /// Notes a failure that has no index.
    pub fn fail(&mut self, point: Word) {
        let (record, function, void) = (self.record(), self.fail_function(), self.asm.void());
        self.asm.of(Op::FunctionCall, void, &[function, record, point]);
    }

    /// Notes a failure at an index.
    pub fn outside(&mut self, check: &Check) {
        let (record, function, void) = (self.record(), self.outside_function(), self.asm.void());
        let zero = self.asm.u64(0);
        let three = |of: &[Word]| [0, 1, 2].map(|dim| of.get(dim).copied().unwrap_or(zero));
        let operands =
            [&[function, record, check.point][..], &three(&check.index), &three(&check.extent)];
        self.asm.of(Op::FunctionCall, void, &operands.concat());
    }

    /// Notes the first check that does not hold.
    fn first_failure(&mut self, checks: &[Check]) {
        match checks {
            [] => {}
            [last] => self.outside(last),
            [check, rest @ ..] => {
                let otherwise = |w: &mut Self| {
                    w.outside(check);
                    true
                };
                let then = |w: &mut Self| {
                    w.first_failure(rest);
                    true
                };
                self.branches(check.holds, then, otherwise);
            }
        }
    }

    fn all_hold(&mut self, checks: &[Check]) -> Option<Word> {
        let ty = self.asm.bool();
        let all = checks.iter().map(|check| check.holds);
        all.reduce(|a, b| self.asm.of(Op::LogicalAnd, ty, &[a, b]))
    }

    /// Does something if all checks hold, and else says which does not.
    pub fn guarded(&mut self, checks: &[Check], action: impl FnOnce(&mut Self)) {
        match self.all_hold(checks) {
            None => action(self),
            Some(hold) => {
                let then = |w: &mut Self| {
                    action(w);
                    true
                };
                let otherwise = |w: &mut Self| {
                    w.first_failure(checks);
                    true
                };
                self.branches(hold, then, otherwise);
            }
        }
    }

    /// A value that is zero if a check does not hold.
    pub fn guarded_value(
        &mut self,
        spot: &Spot,
        ty: Type,
        action: impl FnOnce(&mut Self) -> Word,
    ) -> Word {
        match self.all_hold(&spot.checks) {
            None => action(self),
            Some(hold) => {
                let (zero, word) = (self.zero(ty), self.type_of(ty));
                let otherwise = |w: &mut Self| {
                    w.first_failure(&spot.checks);
                    zero
                };
                self.chosen(hold, word, action, otherwise)
            }
        }
    }
}
