//! Equality of what kernels leave: all NaN are equal (semantics 5.3).

use super::{Arg, float};
use folio_kernel::{Composite, Kernel, ParamKind, Scalar, Type, Types};

/// Says which argument differs.
pub fn same(kernel: &Kernel, wanted: &[Arg], found: &[Arg]) -> Result<(), String> {
    for ((param, wanted), found) in kernel.params.iter().zip(wanted).zip(found) {
        let (ParamKind::View { element, .. } | ParamKind::Reduce { element, .. }) = param.kind
        else {
            continue;
        };
        let (a, b) = (bytes(wanted), bytes(found));
        if with_one_nan(&kernel.types, element, a) != with_one_nan(&kernel.types, element, b) {
            return Err(format!("`{}` is {b:x?}, not {a:x?}", param.name));
        }
    }
    Ok(())
}

/// All bytes of views, with the same NaN in place of each.
pub fn plain(kernel: &Kernel, args: &[Arg]) -> Vec<u8> {
    let element = |kind: &ParamKind| match kind {
        ParamKind::View { element, .. } | ParamKind::Reduce { element, .. } => Some(*element),
        ParamKind::Scalar(_) | ParamKind::Local { .. } => None,
    };
    let views =
        kernel.params.iter().zip(args).filter_map(|(p, arg)| Some((element(&p.kind)?, arg)));
    views.flat_map(|(element, arg)| with_one_nan(&kernel.types, element, bytes(arg))).collect()
}

fn bytes(arg: &Arg) -> &[u8] {
    match arg {
        Arg::View { bytes, .. } | Arg::Reduce(bytes) | Arg::Scalar(bytes) => bytes,
        Arg::Local => &[],
    }
}

/// Bytes of any number of values of the type.
fn with_one_nan(types: &Types, ty: Type, bytes: &[u8]) -> Vec<u8> {
    let mut all = bytes.to_vec();
    for value in all.chunks_mut(types.layout(ty).0.max(1) as usize) {
        replace(types, ty, value);
    }
    all
}

fn replace(types: &Types, ty: Type, bytes: &mut [u8]) {
    match (ty, types.get(ty)) {
        (Type::Scalar(scalar), _) => replace_scalar(scalar, bytes),
        (_, Some(Composite::Array { element, .. })) => {
            let size = types.layout(*element).0.max(1) as usize;
            bytes.chunks_mut(size).for_each(|value| replace(types, *element, value));
        }
        (_, Some(Composite::Struct(of))) => {
            for field in &of.fields {
                let (at, len) = (field.offset as usize, types.layout(field.ty).0 as usize);
                replace(types, field.ty, &mut bytes[at..at + len]);
            }
        }
        (_, None) => {}
    }
}

fn replace_scalar(scalar: Scalar, bytes: &mut [u8]) {
    let mut word = [0; 8];
    word[..bytes.len()].copy_from_slice(bytes);
    if scalar.is_float() && float::value(scalar, u64::from_le_bytes(word)).is_nan() {
        bytes.fill(0xff);
    }
}
