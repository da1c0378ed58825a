//! Drivers that end loops early, of which lavapipe is one.
//!
//! Such a driver counts the turns of all loops of an item, and of its neighbours in a vector. Once
//! there are too many, every loop ends after its first turn, as if the item had left it. A loop of
//! two turns behind the kernel's body therefore tells whether the driver has ended a loop before.

use super::super::abi::Fails;
use super::writer::Writer;
use crate::ir::{Body, Stmt, walk};
use crate::types::Scalar;
use rspirv::spirv::{Op, Scope};

/// A body has a loop of its own.
pub fn has_loops(body: &Body) -> bool {
    let mut found = false;
    walk(body, &mut |stmt| found |= matches!(stmt, Stmt::For { .. } | Stmt::Loop { .. }));
    found
}

/// A body has a loop whose end shows something about indices: analyses believe that the loop's own
/// condition has ended it.
pub fn believes_ends(body: &Body) -> bool {
    let mut found = false;
    walk(body, &mut |stmt| found |= matches!(stmt, Stmt::Loop { .. }));
    found
}

impl Writer<'_> {
    /// Behind the body: fails if the driver ends a loop of two turns after the first.
    pub fn try_turns(&mut self) {
        let Some(most) = self.turn_limit else { return };
        let (ty, bool) = (self.asm.int(32), self.asm.bool());
        let [zero, one, two] = [0, 1, 2].map(|number| self.asm.u32(number));
        // A compiler that knew the number of turns would unroll the loop.
        let two = self.veiled(Scalar::U32, two);
        let turns = self.local(ty);
        self.set(turns, zero);
        self.counted(Scalar::U32, (zero, two, one), |w, at| {
            let after = w.asm.of(Op::IAdd, ty, &[at, one]);
            w.set(turns, after);
            true
        });
        let turns = self.get(ty, turns);
        let ended = self.asm.of(Op::INotEqual, bool, &[turns, two]);
        let point = self.point(Fails::Turns(most), None);
        self.when(ended, |w| {
            // In place of other failures, which may be this one's consequences.
            let (pointer_type, record) = (w.asm.device_pointer(32), w.record());
            let pointer = w.asm.of(Op::ConvertUToPtr, pointer_type, &[record]);
            let scope = w.asm.u32(Scope::QueueFamily as u32);
            let operands = [pointer, scope, zero, point].map(super::assembly::id);
            w.asm.act(Op::AtomicStore, operands.to_vec());
        });
    }
}
