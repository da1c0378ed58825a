//! Types of the IR. A [`Type`] is a small `Copy` value; structs and arrays are entries in the
//! kernel's [`Types`], where equal ones are entered once.

use crate::names::names;

names! {
    /// A scalar type. `usize` is [`Scalar::U64`], `isize` is [`Scalar::I64`].
    pub enum Scalar {
        Bool = "bool", I8 = "i8", U8 = "u8", I16 = "i16", U16 = "u16", I32 = "i32", U32 = "u32",
        I64 = "i64", U64 = "u64", F16 = "f16", Bf16 = "bf16", F32 = "f32", F64 = "f64",
    }
}

impl Scalar {
    /// Width in bits; a `bool` counts as 1.
    pub fn bits(self) -> u32 {
        match self {
            Scalar::Bool => 1,
            Scalar::I8 | Scalar::U8 => 8,
            Scalar::I16 | Scalar::U16 | Scalar::F16 | Scalar::Bf16 => 16,
            Scalar::I32 | Scalar::U32 | Scalar::F32 => 32,
            Scalar::I64 | Scalar::U64 | Scalar::F64 => 64,
        }
    }

    /// Bytes in memory; a `bool` has one.
    pub fn size(self) -> u64 {
        u64::from(self.bits()).div_ceil(8)
    }

    /// Whether this is a float type.
    pub fn is_float(self) -> bool {
        matches!(self, Scalar::F16 | Scalar::Bf16 | Scalar::F32 | Scalar::F64)
    }

    /// Whether this is an integer type.
    pub fn is_int(self) -> bool {
        !self.is_float() && self != Scalar::Bool
    }

    /// A signed integer.
    pub fn is_signed(self) -> bool {
        matches!(self, Scalar::I8 | Scalar::I16 | Scalar::I32 | Scalar::I64)
    }

    /// The unsigned integer type of the same width; other types as they are.
    pub fn unsigned(self) -> Scalar {
        match self {
            Scalar::I8 => Scalar::U8,
            Scalar::I16 => Scalar::U16,
            Scalar::I32 => Scalar::U32,
            Scalar::I64 => Scalar::U64,
            other => other,
        }
    }

    /// The least and the greatest value of an integer type or `bool`.
    pub fn limits(self) -> Option<(i128, i128)> {
        let bits = self.bits();
        match self {
            _ if self.is_float() => None,
            _ if self.is_signed() => Some((-(1 << (bits - 1)), (1 << (bits - 1)) - 1)),
            _ => Some((0, (1 << bits) - 1)),
        }
    }

    /// The integer value that these bits mean; 0 for floats.
    pub fn int(self, bits: u64) -> i128 {
        match self {
            Scalar::I8 => i128::from(bits as i8),
            Scalar::I16 => i128::from(bits as i16),
            Scalar::I32 => i128::from(bits as i32),
            Scalar::I64 => i128::from(bits as i64),
            Scalar::Bool | Scalar::U8 | Scalar::U16 | Scalar::U32 | Scalar::U64 => {
                i128::from(bits & self.mask())
            }
            Scalar::F16 | Scalar::Bf16 | Scalar::F32 | Scalar::F64 => 0,
        }
    }

    /// The low bits that count.
    pub fn mask(self) -> u64 {
        u64::MAX >> (64 - self.bits())
    }
}

/// A type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Type {
    /// A scalar.
    Scalar(Scalar),
    /// A struct or an array: an entry of [`Types`].
    Composite(u32),
}

impl From<Scalar> for Type {
    fn from(scalar: Scalar) -> Type {
        Type::Scalar(scalar)
    }
}

impl Type {
    /// The scalar, if it is one.
    pub fn scalar(self) -> Option<Scalar> {
        match self {
            Type::Scalar(scalar) => Some(scalar),
            Type::Composite(_) => None,
        }
    }
}

/// A field of a struct.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Field {
    /// Its name; `0`, `1`, .. in tuples.
    pub name: String,
    /// Its type.
    pub ty: Type,
    /// Bytes from the start of the struct.
    pub offset: u64,
}

/// A struct or a tuple.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Struct {
    /// Its name; of no meaning but for readers. Equal names with other fields are other structs.
    pub name: String,
    /// The fields, by rising offset.
    pub fields: Vec<Field>,
    /// Bytes.
    pub size: u64,
    /// Alignment in bytes, a power of two.
    pub align: u64,
}

/// An entry of [`Types`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Composite {
    /// A struct.
    Struct(Struct),
    /// An array.
    Array {
        /// Of what.
        element: Type,
        /// How many; at least one.
        len: u32,
    },
}

/// The structs and arrays of one kernel. An entry names only earlier ones, so types are finite.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Types {
    pub(crate) list: Vec<Composite>,
}

impl Types {
    /// Enters a composite, unless an equal one is there.
    pub fn enter(&mut self, composite: Composite) -> Type {
        let at = self.list.iter().position(|have| *have == composite).unwrap_or_else(|| {
            self.list.push(composite);
            self.list.len() - 1
        });
        Type::Composite(at as u32)
    }

    /// The array type.
    pub fn array(&mut self, element: impl Into<Type>, len: u32) -> Type {
        self.enter(Composite::Array { element: element.into(), len })
    }

    /// A struct with its fields laid out as `repr(C)` does it.
    pub fn structure(&mut self, name: &str, fields: &[(&str, Type)]) -> Type {
        let (mut end, mut align) = (0u64, 1u64);
        let mut laid = Vec::with_capacity(fields.len());
        for (field, ty) in fields {
            let (size, needs) = self.layout(*ty);
            let offset = end.next_multiple_of(needs);
            laid.push(Field { name: (*field).to_owned(), ty: *ty, offset });
            end = offset.saturating_add(size);
            align = align.max(needs);
        }
        let size = end.next_multiple_of(align);
        self.enter(Composite::Struct(Struct { name: name.to_owned(), fields: laid, size, align }))
    }

    /// The entry of a composite type; none for scalars and for types of other kernels.
    pub fn get(&self, ty: Type) -> Option<&Composite> {
        match ty {
            Type::Scalar(_) => None,
            Type::Composite(at) => self.list.get(at as usize),
        }
    }

    /// All entries; `Type::Composite(k)` is the k-th.
    pub fn all(&self) -> &[Composite] {
        &self.list
    }

    /// Size and alignment in bytes.
    pub fn layout(&self, ty: Type) -> (u64, u64) {
        match (ty, self.get(ty)) {
            (Type::Scalar(scalar), _) => (scalar.size(), scalar.size()),
            (_, Some(Composite::Struct(s))) => (s.size, s.align),
            (_, Some(Composite::Array { element, len })) => {
                let (size, align) = self.layout(*element);
                (size.saturating_mul(u64::from(*len)), align)
            }
            (_, None) => (0, 1),
        }
    }

    /// How many parts a composite has, and the type of part `at`. A scalar has none.
    pub fn part(&self, ty: Type, at: u32) -> Option<Type> {
        match self.get(ty)? {
            Composite::Struct(s) => Some(s.fields.get(at as usize)?.ty),
            Composite::Array { element, len } => (at < *len).then_some(*element),
        }
    }

    /// How many parts a composite has; a scalar has none.
    pub fn parts(&self, ty: Type) -> u32 {
        match self.get(ty) {
            Some(Composite::Struct(s)) => s.fields.len() as u32,
            Some(Composite::Array { len, .. }) => *len,
            None => 0,
        }
    }

    /// True if a value of the type can be in memory that is shared with the host: no `bool`, no
    /// padding, the layout of `repr(C)`.
    pub fn shareable(&self, ty: Type) -> bool {
        self.is_shareable(ty, &mut vec![None; self.list.len()])
    }

    /// As [`shareable`](Self::shareable). An entry that is in many others is looked at once.
    fn is_shareable(&self, ty: Type, known: &mut [Option<bool>]) -> bool {
        let at = match ty {
            Type::Scalar(scalar) => return scalar != Scalar::Bool,
            Type::Composite(at) => at as usize,
        };
        if let Some(Some(known)) = known.get(at) {
            return *known;
        }
        let is = match self.get(ty) {
            Some(Composite::Array { element, .. }) => self.is_shareable(*element, known),
            Some(Composite::Struct(s)) => {
                let mut end = 0;
                s.fields.iter().all(|field| {
                    let follows = field.offset == end;
                    end = field.offset + self.layout(field.ty).0;
                    follows && self.is_shareable(field.ty, known)
                }) && end == s.size
            }
            None => return false,
        };
        known[at] = Some(is);
        is
    }
}
