//! Atomic operations (semantics 9.1), relaxed, all of them yielding the old value.

use super::memory::At;
use super::writer::Writer;
use crate::op::Atomic;
use crate::types::Scalar;
use rspirv::spirv::{Capability, Op, Scope, StorageClass, Word};

impl Writer<'_> {
    /// The operation on the scalar at a place.
    pub fn atomically(&mut self, op: Atomic, of: Scalar, at: &At, args: &[Word]) -> Word {
        let scope = match at {
            At::Variable(StorageClass::Workgroup, ..) => Scope::Workgroup,
            _ => Scope::QueueFamily,
        };
        let (scope, relaxed) = (self.asm.u32(scope as u32), self.asm.u32(0));
        if op == Atomic::Add
            && let (At::Address(place), Some(capability)) = (at, self.float_adds(of))
        {
            self.asm.needs(capability);
            let (pointer, ty) = (self.float_pointer(place, of), self.asm.scalar(of));
            let by = args.first().copied().unwrap_or(0);
            return self.asm.of(Op::AtomicFAddEXT, ty, &[pointer, scope, relaxed, by]);
        }
        if of.bits() == 64 {
            self.asm.needs(Capability::Int64Atomics);
        }
        let (pointer, ty) = (self.pointer(at, of), self.asm.stored(of));
        if of.is_float() && op == Atomic::Add {
            return self.float_add(of, pointer, scope, args.first().copied().unwrap_or(0));
        }
        let mut words = vec![];
        for arg in args {
            words.push(self.stored_bits(of, *arg));
        }
        let signed = of.is_signed();
        let own = match op {
            Atomic::Load => Op::AtomicLoad,
            Atomic::Add => Op::AtomicIAdd,
            Atomic::Sub => Op::AtomicISub,
            Atomic::Min if signed => Op::AtomicSMin,
            Atomic::Min => Op::AtomicUMin,
            Atomic::Max if signed => Op::AtomicSMax,
            Atomic::Max => Op::AtomicUMax,
            Atomic::And => Op::AtomicAnd,
            Atomic::Or => Op::AtomicOr,
            Atomic::Xor => Op::AtomicXor,
            Atomic::Exchange => Op::AtomicExchange,
            Atomic::CompareExchange => Op::AtomicCompareExchange,
        };
        let mut operands = vec![pointer, scope, relaxed];
        if let (Atomic::CompareExchange, [expected, new]) = (op, &words[..]) {
            operands.extend([relaxed, *new, *expected]);
        } else {
            operands.extend(words);
        }
        let old = self.asm.of(own, ty, &operands);
        self.loaded_bits(of, old)
    }

    /// The capability to add such floats by one instruction, if the device has it.
    fn float_adds(&self, of: Scalar) -> Option<Capability> {
        match of {
            Scalar::F32 if self.adds.f32 => Some(Capability::AtomicFloat32AddEXT),
            Scalar::F64 if self.adds.f64 => Some(Capability::AtomicFloat64AddEXT),
            _ => None,
        }
    }

    /// Addition of floats, of comparing and exchanging.
    fn float_add(&mut self, of: Scalar, pointer: Word, scope: Word, by: Word) -> Word {
        let (stored, float, bool) = (self.asm.stored(of), self.asm.scalar(of), self.asm.bool());
        let relaxed = self.asm.u32(0);
        let first = self.asm.of(Op::AtomicLoad, stored, &[pointer, scope, relaxed]);
        let before = self.asm.block;
        let [head, body, next, merge] = [(); 4].map(|()| self.asm.id());
        let seen = self.asm.id();
        self.asm.branch(head);
        self.asm.label(head);
        let old = self.asm.of(Op::Phi, stored, &[first, before, seen, next]);
        self.asm.repetition(merge, next);
        self.asm.branch(body);
        self.asm.label(body);
        let value = self.asm.of(Op::Bitcast, float, &[old]);
        let sum = self.asm.of(Op::FAdd, float, &[value, by]);
        let new = self.asm.of(Op::Bitcast, stored, &[sum]);
        let operands = [pointer, scope, relaxed, relaxed, new, old].map(super::assembly::id);
        self.asm.code.push(rspirv::dr::Instruction::new(
            Op::AtomicCompareExchange,
            Some(stored),
            Some(seen),
            operands.to_vec(),
        ));
        let done = self.asm.of(Op::IEqual, bool, &[seen, old]);
        self.asm.branch_if(done, merge, next);
        self.asm.label(next);
        self.asm.branch(head);
        self.asm.label(merge);
        value
    }
}
