//! Enums with data: for devices a struct of a number, and of the data of each variant.

use super::Shared;
use folio_kernel::source::Entry;

/// An enum with data, which is described as a struct: its number, `#`, and each field of a variant,
/// `Variant.field`.
///
/// # Safety
/// The entries are of the variants and fields that the type has, in its description, too. A name
/// that it has not gives [`Entry::Unit`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no enum with data that kernels know",
    label = "no such enum",
    note = "kernels know enums of one's own with #[derive(Clone, Copy, DeviceType)] and #[repr(u32)], and `Option`"
)]
pub unsafe trait Variants: Shared {
    /// A variant's number, as a constant's entry.
    fn number(variant: &str) -> Entry;

    /// The type of a variant's field.
    fn field(variant: &str, field: &str) -> Entry;
}
