//! Values, and how they are in bytes.

use folio_kernel::{Composite, Scalar, Type, Types};

/// A value: the bits of a scalar, or the parts of a struct or array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Val {
    /// A scalar.
    Bits(u64),
    /// A struct or array.
    Parts(Vec<Val>),
}

impl Val {
    /// A scalar's bits.
    pub fn bits(&self) -> u64 {
        match self {
            Val::Bits(bits) => *bits,
            Val::Parts(_) => 0,
        }
    }

    /// All zero.
    pub fn zero(types: &Types, ty: Type) -> Val {
        let size = types.layout(ty).0 as usize;
        Val::read(types, ty, &vec![0; size])
    }

    /// From bytes.
    pub fn read(types: &Types, ty: Type, bytes: &[u8]) -> Val {
        match ty {
            Type::Scalar(scalar) => Val::Bits(read(scalar, bytes)),
            Type::Composite(_) => {
                let part = |(ty, at): (Type, usize)| Val::read(types, ty, &bytes[at..]);
                Val::Parts(parts(types, ty).map(part).collect())
            }
        }
    }

    /// To bytes.
    pub fn write(&self, types: &Types, ty: Type, bytes: &mut [u8]) {
        match (self, ty) {
            (Val::Bits(bits), Type::Scalar(scalar)) => {
                let size = scalar.size() as usize;
                bytes[..size].copy_from_slice(&bits.to_le_bytes()[..size]);
            }
            (Val::Parts(values), ty) => {
                for (value, (ty, at)) in values.iter().zip(parts(types, ty)) {
                    value.write(types, ty, &mut bytes[at..]);
                }
            }
            (Val::Bits(_), Type::Composite(_)) => {}
        }
    }

    /// For people: floats as numbers, and structs and arrays by their parts.
    pub fn shown(&self, types: &Types, ty: Type) -> String {
        match (self, ty) {
            (Val::Bits(bits), Type::Scalar(scalar)) => match scalar {
                Scalar::F32 => format!("{:?}", f32::from_bits(*bits as u32)),
                Scalar::F64 => format!("{:?}", f64::from_bits(*bits)),
                _ if scalar.is_float() => format!("{bits:#06x}"),
                Scalar::Bool => format!("{}", *bits == 1),
                _ => scalar.int(*bits).to_string(),
            },
            (Val::Parts(values), ty) => {
                let parts = parts(types, ty);
                let shown = values.iter().zip(parts).map(|(value, (ty, _))| value.shown(types, ty));
                format!("({})", shown.collect::<Vec<_>>().join(", "))
            }
            (Val::Bits(bits), Type::Composite(_)) => bits.to_string(),
        }
    }
}

fn read(scalar: Scalar, bytes: &[u8]) -> u64 {
    let mut word = [0; 8];
    let size = scalar.size() as usize;
    word[..size].copy_from_slice(&bytes[..size]);
    u64::from_le_bytes(word)
}

/// Type and offset of each part.
pub fn parts(types: &Types, ty: Type) -> impl Iterator<Item = (Type, usize)> {
    (0..types.parts(ty)).filter_map(move |at| part(types, ty, at))
}

/// Type and offset of a part.
pub fn part(types: &Types, ty: Type, at: u32) -> Option<(Type, usize)> {
    let offset = match types.get(ty)? {
        Composite::Struct(s) => s.fields.get(at as usize)?.offset,
        Composite::Array { element, .. } => types.layout(*element).0 * u64::from(at),
    };
    Some((types.part(ty, at)?, offset as usize))
}
