//! The description of a tensor, written by another library: nothing of it is believed before it is
//! checked.

use super::Refusal;
use super::abi::{DLDataType, DLTensor};
use crate::{DeviceType, bf16, f16};

/// A number that DLPack has a name for.
pub trait Element: DeviceType {
    /// The name.
    const TYPE: DLDataType;
}

macro_rules! elements {
    ($($code:ident: $($ty:ty)*;)*) => {$($(
        impl Element for $ty {
            const TYPE: DLDataType = DLDataType {
                code: DLDataType::$code,
                bits: size_of::<$ty>() as u8 * 8,
                lanes: 1,
            };
        }
    )*)*};
}
elements! {
    INT: i8 i16 i32 i64;
    UINT: u8 u16 u32 u64;
    FLOAT: f16 f32 f64;
    BFLOAT: bf16;
}

/// Where the elements of a tensor are, as its description says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Layout<const D: usize> {
    /// The extent of each dimension.
    pub shape: [usize; D],
    /// From one element of a dimension to the next, in elements.
    pub strides: [i64; D],
    /// The address of the first element.
    pub start: usize,
    /// The first address of all elements' bytes, and the first address behind them.
    pub bytes: (usize, usize),
}

impl<const D: usize> Layout<D> {
    /// How many elements there are.
    pub fn len(&self) -> usize {
        self.shape.iter().product()
    }

    /// True when there are none.
    pub fn is_empty(&self) -> bool {
        self.shape.contains(&0)
    }

    /// Elements lie row after row, without gaps.
    pub fn is_compact(&self) -> bool {
        let compact = rows(self.shape);
        (0..D).all(|dim| self.shape[dim] < 2 || self.strides[dim] == compact[dim])
            || self.is_empty()
    }

    /// Reads a description.
    ///
    /// # Safety
    /// `shape` points to `ndim` numbers, unless it is null or `ndim` is not `D`, and so does
    /// `strides`.
    pub(super) unsafe fn read<T: Element>(tensor: &DLTensor) -> Result<Layout<D>, Refusal> {
        if usize::try_from(tensor.ndim) != Ok(D) {
            return Err(Refusal::Dimensions { found: tensor.ndim, expected: D });
        }
        if tensor.dtype != T::TYPE {
            return Err(Refusal::Type { found: tensor.dtype, expected: T::TYPE });
        }
        if tensor.shape.is_null() {
            return Err(Refusal::Null { what: "shape" });
        }
        // SAFETY: the caller's promise; arrays of C need not be aligned for a reference here.
        let extents = unsafe { tensor.shape.cast::<[i64; D]>().read_unaligned() };
        let strides = match tensor.strides.is_null() {
            true => None,
            // SAFETY: as above.
            false => Some(unsafe { tensor.strides.cast::<[i64; D]>().read_unaligned() }),
        };
        Layout::checked(tensor, size_of::<T>(), extents, strides)
    }

    fn checked(
        tensor: &DLTensor,
        size: usize,
        extents: [i64; D],
        strides: Option<[i64; D]>,
    ) -> Result<Layout<D>, Refusal> {
        let mut shape = [0; D];
        for (dim, extent) in extents.into_iter().enumerate() {
            shape[dim] =
                usize::try_from(extent).map_err(|_| Refusal::Extent { dimension: dim, extent })?;
        }
        let too_large = Refusal::Range { shape: extents.to_vec(), strides: strides.map(Vec::from) };
        let is_empty = shape.contains(&0);
        let len = shape.iter().try_fold(1usize, |len, extent| len.checked_mul(*extent));
        let len = if is_empty { Some(0) } else { len };
        let all = len.and_then(|len| len.checked_mul(size));
        if all.is_none_or(|all| isize::try_from(all).is_err()) {
            return Err(too_large);
        }
        let strides = strides.filter(|_| !is_empty).unwrap_or_else(|| rows(shape));
        let start = (tensor.data as usize as u64).checked_add(tensor.byte_offset);
        let Some(start) = start.and_then(|start| usize::try_from(start).ok()) else {
            return Err(too_large);
        };
        if is_empty {
            return Ok(Layout { shape, strides, start, bytes: (start, start) });
        }
        if tensor.data.is_null() {
            return Err(Refusal::Null { what: "data" });
        }
        let [mut low, mut high] = [0i128; 2];
        for (extent, stride) in shape.into_iter().zip(strides) {
            // An extent is below 2^63, and so is the sum of them, since their product is.
            let reach = (extent as i128 - 1) * i128::from(stride);
            let end = if reach < 0 { &mut low } else { &mut high };
            *end += reach;
        }
        let at = |elements: i128| {
            let bytes = elements.checked_mul(size as i128)?;
            usize::try_from(bytes.checked_add(start as i128)?).ok()
        };
        let ends = at(low).filter(|first| *first > 0).zip(at(high + 1));
        match ends.filter(|(first, end)| isize::try_from(end - first).is_ok()) {
            Some(bytes) => Ok(Layout { shape, strides, start, bytes }),
            None => Err(too_large),
        }
    }

    /// The address of an element, by its number row after row.
    pub(super) fn address(&self, size: usize, mut number: usize) -> usize {
        let mut elements = 0;
        for dim in (0..D).rev() {
            elements += (number % self.shape[dim]) as i64 * self.strides[dim];
            number /= self.shape[dim];
        }
        // The elements lie in `bytes`, so that this is below 2^63.
        self.start.wrapping_add_signed(elements as isize * size as isize)
    }
}

/// The strides of elements that lie row after row.
pub(super) fn rows<const D: usize>(shape: [usize; D]) -> [i64; D] {
    let mut strides = [1i64; D];
    for dim in (1..D).rev() {
        strides[dim - 1] = strides[dim].saturating_mul(shape[dim].max(1) as i64);
    }
    strides
}
