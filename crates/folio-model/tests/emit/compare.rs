//! Equality of results: all NaN are equal (semantics 5.3), and kernels of which all is exact.

use folio_kernel::{Binary, Composite, Kernel, Op, ParamKind, Scalar, Stmt, Type, Types, Unary};
use folio_model::interp::{Arg, float};

/// Replaces the functions of semantics 5.8, whose results differ between devices, by operations
/// whose results do not.
pub fn exact(kernel: &mut Kernel) {
    body(&mut kernel.body);
}

fn body(stmts: &mut [Stmt]) {
    for stmt in stmts {
        match stmt {
            Stmt::Let(define) => match &mut define.op {
                Op::Unary(op, _) => *op = unary(*op),
                Op::Binary(op, ..) => *op = binary(*op),
                _ => {}
            },
            Stmt::If { then, otherwise, .. } => {
                body(then);
                body(otherwise);
            }
            Stmt::For { body: inner, .. }
            | Stmt::Loop { body: inner, .. }
            | Stmt::Block { body: inner, .. }
            | Stmt::Phase { body: inner, .. }
            | Stmt::Collect { body: inner, .. } => body(inner),
            _ => {}
        }
    }
}

fn unary(op: Unary) -> Unary {
    match op {
        Unary::Rsqrt | Unary::Cbrt => Unary::Sqrt,
        Unary::Exp | Unary::Exp2 | Unary::ExpM1 => Unary::Floor,
        Unary::Ln | Unary::Log2 | Unary::Log10 | Unary::Ln1p => Unary::Ceil,
        Unary::Sin | Unary::Cos | Unary::Tan => Unary::Trunc,
        Unary::Asin | Unary::Acos | Unary::Atan => Unary::Round,
        Unary::Sinh | Unary::Cosh | Unary::Tanh => Unary::RoundEven,
        other => other,
    }
}

fn binary(op: Binary) -> Binary {
    match op {
        Binary::Pow => Binary::Rem,
        Binary::Atan2 => Binary::Min,
        // Which sign a NaN has is unspecified.
        Binary::Hypot | Binary::CopySign => Binary::Max,
        other => other,
    }
}

/// Says which argument differs.
pub fn same(kernel: &Kernel, wanted: &[Arg], found: &[Arg]) -> Result<(), String> {
    for ((param, wanted), found) in kernel.params.iter().zip(wanted).zip(found) {
        let (ParamKind::View { element, .. } | ParamKind::Reduce { element, .. }) = param.kind
        else {
            continue;
        };
        let bytes = |arg: &Arg| match arg {
            Arg::View { bytes, .. } | Arg::Reduce(bytes) | Arg::Scalar(bytes) => bytes.clone(),
            Arg::Local => vec![],
        };
        let (a, b) = (bytes(wanted), bytes(found));
        if !equal(&kernel.types, element, &a, &b) {
            return Err(format!("`{}` is {b:x?}, not {a:x?}", param.name));
        }
    }
    Ok(())
}

/// Bytes of any number of values of the type.
fn equal(types: &Types, ty: Type, a: &[u8], b: &[u8]) -> bool {
    let size = types.layout(ty).0 as usize;
    let mut pairs = a.chunks(size).zip(b.chunks(size));
    let one = |(a, b): (&[u8], &[u8])| match (ty, types.get(ty)) {
        (Type::Scalar(scalar), _) => scalars(scalar, a, b),
        (_, Some(Composite::Array { element, .. })) => equal(types, *element, a, b),
        (_, Some(Composite::Struct(s))) => s.fields.iter().all(|field| {
            let (at, len) = (field.offset as usize, types.layout(field.ty).0 as usize);
            equal(types, field.ty, &a[at..at + len], &b[at..at + len])
        }),
        (_, None) => false,
    };
    a.len() == b.len() && pairs.all(one)
}

fn scalars(scalar: Scalar, a: &[u8], b: &[u8]) -> bool {
    let bits = |bytes: &[u8]| {
        let mut word = [0; 8];
        word[..bytes.len()].copy_from_slice(bytes);
        u64::from_le_bytes(word)
    };
    let nan = |bytes| scalar.is_float() && float::value(scalar, bits(bytes)).is_nan();
    a == b || (nan(a) && nan(b))
}
