//! Elements of matrices.

use crate::prelude::*;
use folio::{bf16, f16};

/// Numbers that matrices are made of: `f32`, `f64`, and `f16` and `bf16`, whose products are `f32`.
pub trait Element: Number + DeviceType + sealed::Sealed {
    /// The numbers in which products are added up.
    type Sum: Element + Float + CastFrom<Self> + CastFrom<f64>;
    #[doc(hidden)]
    const KIND: Kind;
}

/// Which number an [`Element`] is.
#[doc(hidden)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    F32,
    F64,
    F16,
    Bf16,
}

mod sealed {
    pub trait Sealed {}
}

macro_rules! elements {
    ($($element:ident $sum:ident $kind:ident;)*) => {$(
        impl sealed::Sealed for $element {}
        impl Element for $element {
            type Sum = $sum;
            const KIND: Kind = Kind::$kind;
        }
    )*};
}
elements! {
    f32 f32 F32;
    f64 f64 F64;
    f16 f32 F16;
    bf16 f32 Bf16;
}
