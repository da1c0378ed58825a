//! What the parts of a launch leave, as one: for launches that several devices share. Results are
//! those of the launch as a whole, since parts end at leaves of its tree (semantics 8.4), and what
//! is only counted may be counted in any order (semantics 9.2).

use super::combine::{Add, And, Combine, Max, Min, Mul, Or, Xor};
use super::reduce::{reduced, value_of, word_of};
use super::shared::Shared;
use folio_kernel::{self as ir, Scalar};

/// An operation on values of a type, as bytes.
#[derive(Clone, Copy, Debug)]
pub struct Combiner {
    fold: fn(&[u8]) -> [u8; 8],
    merge: fn(&mut [u8], &[u8]),
    bytes: usize,
}

impl Combiner {
    /// That of an operation on a type, if there is one.
    pub fn of(scalar: Scalar, combine: ir::Combine) -> Option<Combiner> {
        let (fold, merge) = functions(scalar, combine)?;
        Some(Combiner { fold, merge, bytes: scalar.size() as usize })
    }

    /// The result of a launch-wide reduction whose leaves have these values: in the first bytes.
    pub fn fold(&self, values: &[u8]) -> [u8; 8] {
        (self.fold)(values)
    }

    /// Combines values with as many others.
    pub fn merge(&self, into: &mut [u8], from: &[u8]) {
        (self.merge)(into, from);
    }

    /// The bytes of a value.
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

type Functions = (fn(&[u8]) -> [u8; 8], fn(&mut [u8], &[u8]));

fn functions(scalar: Scalar, combine: ir::Combine) -> Option<Functions> {
    macro_rules! functions {
        ($($of:ident $ty:ty: $($op:ident)*;)*) => {
            match (scalar, combine) {
                $($((Scalar::$of, ir::Combine::$op) => {
                    Some((fold_as::<$op, $ty>, merge_as::<$op, $ty>))
                })*)*
                _ => None,
            }
        };
    }
    functions! {
        I8 i8: Add Mul Min Max And Or Xor;
        U8 u8: Add Mul Min Max And Or Xor;
        I16 i16: Add Mul Min Max And Or Xor;
        U16 u16: Add Mul Min Max And Or Xor;
        I32 i32: Add Mul Min Max And Or Xor;
        U32 u32: Add Mul Min Max And Or Xor;
        I64 i64: Add Mul Min Max And Or Xor;
        U64 u64: Add Mul Min Max And Or Xor;
        F32 f32: Add Mul Min Max;
        F64 f64: Add Mul Min Max;
    }
}

fn value<T: Shared>(bytes: &[u8]) -> T {
    let mut word = [0; 8];
    word[..bytes.len()].copy_from_slice(bytes);
    value_of(u64::from_ne_bytes(word))
}

fn fold_as<O: Combine<T>, T: Shared>(values: &[u8]) -> [u8; 8] {
    let values = values.chunks_exact(size_of::<T>()).map(value::<T>).collect();
    word_of(reduced::<O, T>(values).unwrap_or(O::IDENTITY)).to_ne_bytes()
}

fn merge_as<O: Combine<T>, T: Shared>(into: &mut [u8], from: &[u8]) {
    let size = size_of::<T>();
    for (into, from) in into.chunks_exact_mut(size).zip(from.chunks_exact(size)) {
        let both = O::combine(value::<T>(into), value::<T>(from));
        into.copy_from_slice(&word_of(both).to_ne_bytes()[..size]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_folded_as_a_launch_folds_its_blocks() {
        let values: Vec<f32> = (1..9000u32).map(|k| 1.0 / k as f32).collect();
        let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_ne_bytes()).collect();
        let folded = Combiner::of(Scalar::F32, ir::Combine::Add).unwrap().fold(&bytes);
        let wanted = reduced::<Add, f32>(values.clone()).unwrap();
        assert_eq!(folded[..4], wanted.to_ne_bytes());
        assert_ne!(wanted, values.iter().sum::<f32>(), "the order shows");
        let none = Combiner::of(Scalar::I16, ir::Combine::Min).unwrap().fold(&[]);
        assert_eq!(none[..2], i16::MAX.to_ne_bytes());
        assert!(Combiner::of(Scalar::F64, ir::Combine::Xor).is_none());
    }

    #[test]
    fn counts_are_merged() {
        let [mut a, b] = [[1u16, 0xffff, 7], [2, 3, 0]].map(|v| v.map(u16::to_ne_bytes).concat());
        let add = Combiner::of(Scalar::U16, ir::Combine::Add).unwrap();
        add.merge(&mut a, &b);
        assert_eq!((a, add.bytes()), ([3u16, 2, 7].map(u16::to_ne_bytes).concat(), 2));
    }
}
