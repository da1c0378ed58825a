//! `as` (semantics 4).

/// Types that `as` can cast an `A` to.
///
/// # Safety
/// Both forms of a kernel compute the same: what the semantics define for the operation.
#[diagnostic::on_unimplemented(
    message = "`{A}` cannot be cast `as {Self}` in a kernel",
    label = "no cast to `{Self}`",
    note = "`as` is between numbers, and from `bool` to integers"
)]
pub unsafe trait CastFrom<A>: Sized {
    /// `a as Self`
    fn cast_from(a: A) -> Self;
}

macro_rules! matrix {
    ($($to:ident)*; $from:tt) => {
        $(matrix! { @one $to $from })*
    };
    (@one $to:ident ($($from:ident)*)) => {
        $(#[diagnostic::do_not_recommend]
        // SAFETY: it computes what the semantics define; the kernel suite compares both forms.
        unsafe impl CastFrom<$from> for $to {
            #[inline(always)]
            fn cast_from(a: $from) -> $to {
                a as $to
            }
        })*
        #[diagnostic::do_not_recommend]
        // SAFETY: it computes what the semantics define; the kernel suite compares both forms.
        unsafe impl Cast for $to {}
    };
}
matrix! {
    i8 u8 i16 u16 i32 u32 i64 u64 isize usize f32 f64;
    (i8 u8 i16 u16 i32 u32 i64 u64 isize usize f32 f64)
}

macro_rules! from_bool {
    ($($to:ident)*) => {$(
        #[diagnostic::do_not_recommend]
        // SAFETY: it computes what the semantics define; the kernel suite compares both forms.
        unsafe impl CastFrom<bool> for $to {
            #[inline(always)]
            fn cast_from(a: bool) -> $to {
                a as $to
            }
        }
    )*};
}
from_bool! { i8 u8 i16 u16 i32 u32 i64 u64 isize usize }

/// The casts that every number has.
///
/// # Safety
/// Both forms of a kernel compute the same: what the semantics define for the operation.
pub unsafe trait Cast:
    CastFrom<i8>
    + CastFrom<u8>
    + CastFrom<i16>
    + CastFrom<u16>
    + CastFrom<i32>
    + CastFrom<u32>
    + CastFrom<i64>
    + CastFrom<u64>
    + CastFrom<isize>
    + CastFrom<usize>
    + CastFrom<f32>
    + CastFrom<f64>
    + CastFrom<half::f16>
    + CastFrom<half::bf16>
{
}

/// `a as B`
#[inline(always)]
pub fn cast<A, B: CastFrom<A>>(a: A) -> B {
    B::cast_from(a)
}
