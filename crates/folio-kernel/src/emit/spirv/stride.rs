//! Addresses in turns of a loop that are written down one after the other: the first turn computes
//! them, each other one adds to those of the turn before. Compilers of drivers are not seen to find
//! that in products of 64 bits.

use super::super::abi::Word as ArgumentWord;
use super::memory::Address;
use super::writer::Writer;
use crate::ir::{Body, Let, ParamId, Stmt, Value};
use crate::op::{Binary, Op as IrOp};
use rspirv::spirv::Word;
use std::collections::HashMap;

/// The turns of a straight loop that are written down.
#[derive(Default)]
pub struct InTurns {
    /// Which one is.
    turn: u32,
    /// The growth of each value of the body from a turn to the next, if that is known. Others are
    /// the same in all turns.
    growth: HashMap<Value, Option<u64>>,
    /// By parameter and indices: in which turn an element was accessed last, where it was, and how
    /// far away the next one is.
    elements: HashMap<(ParamId, Vec<Value>), (u32, Address, Stride)>,
}

/// How far away an element is in the next turn, in bytes.
#[derive(Clone, Copy)]
enum Stride {
    Known(u64),
    Computed(Word),
}

impl InTurns {
    /// Of a loop over `index`. `literal`: bits of literals that are known before.
    pub fn new(index: Value, body: &Body, literal: impl Fn(Value) -> Option<u64>) -> InTurns {
        let mut literals = HashMap::new();
        let mut growth: HashMap<Value, Option<u64>> = HashMap::from([(index, Some(1))]);
        for stmt in body {
            let Stmt::Let(Let { value, op, .. }) = stmt else { continue };
            let of = |value: &Value| growth.get(value).copied().unwrap_or(Some(0));
            let number = |value: &Value| literals.get(value).copied().or_else(|| literal(*value));
            let grows = match op {
                IrOp::Const(_, bits) => {
                    literals.insert(*value, *bits);
                    Some(0)
                }
                IrOp::Binary(Binary::Add, a, b) => of(a).zip(of(b)).map(|(a, b)| a.wrapping_add(b)),
                IrOp::Binary(Binary::Sub, a, b) => of(a).zip(of(b)).map(|(a, b)| a.wrapping_sub(b)),
                IrOp::Binary(Binary::Mul, a, b) => match (of(a), of(b)) {
                    (Some(0), Some(0)) => Some(0),
                    (Some(grows), Some(0)) => number(b).map(|by| grows.wrapping_mul(by)),
                    (Some(0), Some(grows)) => number(a).map(|by| grows.wrapping_mul(by)),
                    _ => None,
                },
                IrOp::Arg(_) | IrOp::Extent(..) | IrOp::Query { .. } => Some(0),
                IrOp::Unary(_, a) | IrOp::Cast(a, _) => of(a).filter(|grows| *grows == 0),
                _ => None,
            };
            growth.insert(*value, grows);
        }
        InTurns { turn: 0, growth, elements: HashMap::new() }
    }
}

impl Writer<'_> {
    /// The next turn is written.
    pub fn next_turn(&mut self) {
        if let Some(turns) = &mut self.turns {
            turns.turn += 1;
        }
    }

    /// Where an element is, by what an earlier turn has found.
    pub fn stepped(&mut self, param: ParamId, indices: &[Value]) -> Option<Address> {
        let turns = self.turns.as_mut()?;
        let now = turns.turn;
        let (turn, at, stride) = turns.elements.get(&(param, indices.to_vec())).copied()?;
        let next = match stride {
            _ if turn == now => at,
            Stride::Known(bytes) => at.behind(bytes.wrapping_mul(u64::from(now - turn))),
            // Each turn accesses what the first one does, since there are no branches.
            Stride::Computed(stride) => at.at(self.add(at.base(), stride)),
        };
        self.turns.as_mut()?.elements.insert((param, indices.to_vec()), (now, next, stride));
        Some(next)
    }

    /// An element is there in this turn.
    pub fn note_element(&mut self, param: ParamId, indices: &[Value], at: Address, size: u64) {
        let Some(stride) = self.stride(param, indices, size) else { return };
        if let Some(turns) = &mut self.turns {
            turns.elements.insert((param, indices.to_vec()), (turns.turn, at, stride));
        }
    }

    fn stride(&mut self, param: ParamId, indices: &[Value], size: u64) -> Option<Stride> {
        let turns = self.turns.as_ref()?;
        let growth = |index: &Value| turns.growth.get(index).copied().unwrap_or(Some(0));
        let all: Option<Vec<u64>> = indices.iter().map(growth).collect();
        let all = all?;
        // Numbers of 64 bits only: others begin again at their end.
        if !indices.iter().all(|index| self.scalar(*index).bits() == 64) {
            return None;
        }
        let (last, before) = all.split_last()?;
        let near = last.wrapping_mul(size);
        let mut far = None;
        let rank = all.len() as u8;
        for (dim, growth) in (0u8..).zip(before).filter(|(_, growth)| **growth != 0) {
            let pitch = self.view_word(param, ArgumentWord::Pitch, rank, dim);
            let bytes = self.times(pitch, growth.wrapping_mul(size));
            far = Some(far.map_or(bytes, |far| self.add(far, bytes)));
        }
        Some(match far {
            None => Stride::Known(near),
            Some(far) if near == 0 => Stride::Computed(far),
            Some(far) => {
                let near = self.asm.u64(near);
                Stride::Computed(self.add(far, near))
            }
        })
    }
}
