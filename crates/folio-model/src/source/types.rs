//! Types of random kernels: their names in Rust, their sizes, and values of them.

use crate::rng::Rng;
use folio_kernel::Scalar;

/// A type of numbers, as Rust names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Num {
    pub name: &'static str,
    pub scalar: Scalar,
}

const fn num(name: &'static str, scalar: Scalar) -> Num {
    Num { name, scalar }
}

pub(super) const I32: Num = num("i32", Scalar::I32);
pub(super) const U32: Num = num("u32", Scalar::U32);
pub(super) const USIZE: Num = num("usize", Scalar::U64);
pub(super) const F32: Num = num("f32", Scalar::F32);

pub(super) const INTEGERS: [Num; 10] = [
    num("i8", Scalar::I8),
    num("u8", Scalar::U8),
    num("i16", Scalar::I16),
    num("u16", Scalar::U16),
    I32,
    U32,
    num("i64", Scalar::I64),
    num("u64", Scalar::U64),
    num("isize", Scalar::I64),
    USIZE,
];

pub(super) const FLOATS: [Num; 4] =
    [num("f16", Scalar::F16), num("bf16", Scalar::Bf16), F32, num("f64", Scalar::F64)];

/// Types of one size at which a generic kernel is compiled.
pub(super) const TWINS: [[Num; 2]; 6] = [
    [F32, I32],
    [U32, F32],
    [I32, U32],
    [num("f64", Scalar::F64), num("i64", Scalar::I64)],
    [num("u64", Scalar::U64), num("f64", Scalar::F64)],
    [num("i16", Scalar::I16), num("f16", Scalar::F16)],
];

impl Num {
    /// Any of all.
    pub fn any(rng: &mut Rng) -> Num {
        if rng.chance(65) { rng.pick(&INTEGERS) } else { rng.pick(&FLOATS) }
    }

    /// The type of this name.
    pub fn of_name(name: &str) -> Option<Num> {
        INTEGERS.iter().chain(&FLOATS).copied().find(|num| num.name == name)
    }

    pub fn is_float(self) -> bool {
        self.scalar.is_float()
    }

    pub fn is_signed(self) -> bool {
        self.scalar.is_signed()
    }

    pub fn is_half(self) -> bool {
        matches!(self.scalar, Scalar::F16 | Scalar::Bf16)
    }
}

/// A type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Ty {
    Bool,
    Num(Num),
    Array(Num, usize),
    /// A struct, by its number, with two fields `a` and `b`.
    Struct(usize, [Num; 2]),
    /// The type parameter `T: Number`, whose types are all of this size.
    Any(Num),
}

impl Ty {
    pub fn name(&self) -> String {
        match self {
            Ty::Bool => "bool".to_owned(),
            Ty::Num(num) => num.name.to_owned(),
            Ty::Array(num, n) => format!("[{}; {n}]", num.name),
            Ty::Struct(at, _) => format!("S{at}"),
            Ty::Any(_) => "T".to_owned(),
        }
    }

    /// The numbers that it consists of.
    pub fn numbers(&self) -> Vec<Num> {
        match self {
            Ty::Bool => vec![],
            Ty::Num(num) | Ty::Any(num) => vec![*num],
            Ty::Array(num, n) => vec![*num; *n],
            Ty::Struct(_, fields) => fields.to_vec(),
        }
    }

    /// Its parts: how each is written behind the whole, and its type.
    pub fn parts(&self) -> Vec<(String, Num)> {
        match self {
            Ty::Bool | Ty::Num(_) | Ty::Any(_) => vec![],
            Ty::Array(num, n) => (0..*n).map(|at| (format!("[{at}]"), *num)).collect(),
            Ty::Struct(_, [a, b]) => vec![(".a".to_owned(), *a), (".b".to_owned(), *b)],
        }
    }

    /// Bytes of `count` values: small numbers, extreme ones, and any.
    pub fn values(&self, count: usize, rng: &mut Rng) -> Vec<u8> {
        let numbers = self.numbers();
        let mut bytes = vec![];
        for num in (0..count).flat_map(|_| &numbers) {
            let size = num.scalar.size() as usize;
            bytes.extend(&value(num.scalar, rng).to_le_bytes()[..size]);
        }
        bytes
    }
}

/// The bits of a number.
fn value(scalar: Scalar, rng: &mut Rng) -> u64 {
    let width = 8 * scalar.size();
    let small = rng.below(40) as i128 - 12;
    match rng.below(8) {
        0 => rng.next(),
        1 => rng.pick(&[0, u64::MAX, 1, 1 << (width - 1), (1 << (width - 1)) - 1]),
        2 if scalar.is_float() => {
            let number = (rng.below(4000) as f64 - 2000.0) / 64.0;
            crate::interp::float::from_f64(scalar, number)
        }
        _ if scalar.is_float() => crate::interp::float::from_int(scalar, small),
        _ => small as u64,
    }
}
