//! Types and literals in C.

use super::dialect::Dialect;
use super::lacks::Needs;
use super::names;
use crate::ir::Kernel;
use crate::types::{Composite, Scalar, Type};
use std::fmt::Write;

/// The name of a type.
pub fn name(kernel: &Kernel, ty: Type) -> String {
    match ty {
        Type::Scalar(scalar) => scalar.name().to_owned(),
        Type::Composite(at) => names::composite(kernel, at),
    }
}

/// The declarations of the kernel's structs and arrays that it `needs`, and the names of their
/// fields. Arrays are structs with one field `at`, so that they are values. Others may be of what a
/// device has not.
pub fn declarations(kernel: &Kernel, needs: &Needs) -> String {
    let mut text = String::new();
    let all = kernel.types.all().iter().zip(&needs.composites).enumerate();
    for (at, (composite, _)) in all.filter(|(_, (_, needed))| **needed) {
        let own = names::composite(kernel, at as u32);
        // Writing to a string does not fail.
        let _ = match composite {
            Composite::Array { element, len } => {
                writeln!(text, "typedef struct {{ {} at[{len}]; }} {own};", name(kernel, *element))
            }
            Composite::Struct(s) if s.fields.is_empty() => {
                writeln!(text, "typedef struct {{ u8 nothing; }} {own};")
            }
            Composite::Struct(s) => {
                let field = |(at, field): (usize, &crate::Field)| {
                    format!("{} {};", name(kernel, field.ty), names::field(&field.name, at))
                };
                let fields: Vec<_> = s.fields.iter().enumerate().map(field).collect();
                writeln!(text, "typedef struct {{ {} }} {own};", fields.join(" "))
            }
        };
    }
    text
}

/// How a part that is known is named after a value of the type.
pub fn part(kernel: &Kernel, ty: Type, at: u32) -> String {
    match kernel.types.get(ty) {
        Some(Composite::Struct(s)) => {
            let name = s.fields.get(at as usize).map_or("", |field| field.name.as_str());
            format!(".{}", names::field(name, at as usize))
        }
        _ => format!(".at[{at}]"),
    }
}

/// The parts of a composite in the braces of an initialiser.
pub fn initialiser(kernel: &Kernel, ty: Type, parts: &[String]) -> String {
    match kernel.types.get(ty) {
        Some(Composite::Array { .. }) => format!("{{ {{ {} }} }}", parts.join(", ")),
        _ if parts.is_empty() => zero(kernel, ty),
        _ => format!("{{ {} }}", parts.join(", ")),
    }
}

/// The initialiser of all zeros.
pub fn zero(kernel: &Kernel, ty: Type) -> String {
    match (ty, kernel.types.get(ty)) {
        (Type::Scalar(Scalar::Bool), _) => "false".to_owned(),
        (Type::Scalar(scalar), _) => literal(Dialect::OpenCl, scalar, 0),
        (_, Some(Composite::Array { element, .. })) => {
            format!("{{ {{ {} }} }}", zero(kernel, *element))
        }
        (_, Some(Composite::Struct(s))) if !s.fields.is_empty() => {
            let fields: Vec<_> = s.fields.iter().map(|field| zero(kernel, field.ty)).collect();
            format!("{{ {} }}", fields.join(", "))
        }
        _ => "{ 0 }".to_owned(),
    }
}

/// A scalar by its bits, as an operand of anything.
pub fn literal(dialect: Dialect, scalar: Scalar, bits: u64) -> String {
    let (long, ulong) = dialect.long();
    match scalar {
        Scalar::Bool => (bits & 1 == 1).to_string(),
        Scalar::F16 | Scalar::Bf16 => format!("{:#x}", bits & 0xffff),
        Scalar::F32 => float(f64::from(f32::from_bits(bits as u32)), bits, 32)
            .unwrap_or_else(|| format!("F32_BITS({:#x}u)", bits as u32)),
        Scalar::F64 => float(f64::from_bits(bits), bits, 64)
            .unwrap_or_else(|| format!("F64_BITS({bits:#x}{ulong})")),
        Scalar::U32 => format!("{}u", bits as u32),
        Scalar::U64 => format!("{bits}{ulong}"),
        Scalar::U8 | Scalar::U16 => scalar.int(bits).to_string(),
        Scalar::I8 | Scalar::I16 | Scalar::I32 | Scalar::I64 => {
            let (value, end) = (scalar.int(bits), if scalar == Scalar::I64 { long } else { "" });
            match value {
                0.. => format!("{value}{end}"),
                // The least value has no literal of its own.
                _ => format!("(-{}{end} - 1{end})", -(value + 1)),
            }
        }
    }
}

/// Decimal digits that are read as exactly this number; none for numbers that are better told by
/// their bits.
fn float(value: f64, bits: u64, width: u32) -> Option<String> {
    let (normal, digits) = match width {
        32 => {
            let value = f32::from_bits(bits as u32);
            (value == 0.0 || value.is_normal(), format!("{value:?}f"))
        }
        _ => (value == 0.0 || value.is_normal(), format!("{value:?}")),
    };
    let text = if value.is_sign_negative() { format!("({digits})") } else { digits };
    normal.then_some(text)
}
