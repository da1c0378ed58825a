//! Columns of Apache Arrow, by its C data interface: primitive arrays in and out, without copies.
//!
//! A [`Column`] is an array with its type, whichever library has made it. Its values are a buffer,
//! and so are the bits that say which values are there: element `k` is, if bit `offset + k` is set,
//! the lowest bit of a byte first.
//!
//! ```
//! use folio::arrow::Column;
//!
//! let rt = folio::runtime()?;
//! let (x, bits) = (rt.buffer_from(&[1.5f64, 2.5, 3.5])?, rt.buffer_from(&[0b101u8])?);
//! let (mut schema, mut array) = Column::export_nullable(&x, &bits)?.into_raw();
//!
//! // SAFETY: the column from above, which nothing else has.
//! let column = unsafe { Column::from_raw(&raw mut schema, &raw mut array) }?;
//! let imported = column.import::<f64>(&rt)?;
//! assert_eq!(imported.values.to_vec()?, [1.5, 2.5, 3.5]);
//! let validity = imported.validity.as_ref().unwrap();
//! assert_eq!((validity.bits.get(0)?, validity.offset), (0b101, 0));
//! # Ok::<(), folio::Error>(())
//! ```

use crate::buffer::{AsPart, ReadGuard, ViewPolicy};
use crate::outside::{OwnedElements, ReadOnly};
use crate::{BufferOptions, DeviceType, Error, Result, Runtime, f16};
use std::ffi::{CStr, c_char, c_void};
use std::sync::Arc;

/// The type of an array, as C has it.
#[derive(Debug)]
#[repr(C)]
pub struct ArrowSchema {
    /// The type, as text.
    pub format: *const c_char,
    /// The field's name, or null.
    pub name: *const c_char,
    /// What programs have added, or null.
    pub metadata: *const c_char,
    /// See [`NULLABLE`](Self::NULLABLE).
    pub flags: i64,
    /// How many children there are.
    pub n_children: i64,
    /// The types of the children.
    pub children: *mut *mut ArrowSchema,
    /// The type of a dictionary's values, or null.
    pub dictionary: *mut ArrowSchema,
    /// Called once, with this struct, by its last owner. `None`: it has been moved.
    pub release: Option<unsafe extern "C" fn(*mut ArrowSchema)>,
    /// The producer's.
    pub private_data: *mut c_void,
}

impl ArrowSchema {
    /// Of [`flags`](Self::flags): some values may not be there.
    pub const NULLABLE: i64 = 2;
}

/// An array, as C has it.
#[derive(Debug)]
#[repr(C)]
pub struct ArrowArray {
    /// How many elements there are.
    pub length: i64,
    /// How many of them are not there; -1: not counted.
    pub null_count: i64,
    /// Elements of the buffers before the first one.
    pub offset: i64,
    /// How many buffers there are.
    pub n_buffers: i64,
    /// How many children there are.
    pub n_children: i64,
    /// The buffers: of a primitive array the bits, or null, and the values.
    pub buffers: *mut *const c_void,
    /// The children.
    pub children: *mut *mut ArrowArray,
    /// A dictionary's values, or null.
    pub dictionary: *mut ArrowArray,
    /// Called once, with this struct, by its last owner. `None`: it has been moved.
    pub release: Option<unsafe extern "C" fn(*mut ArrowArray)>,
    /// The producer's.
    pub private_data: *mut c_void,
}

/// A number that Arrow has a name for.
pub trait Primitive: DeviceType {
    /// The name.
    const FORMAT: &'static CStr;
}

macro_rules! primitives {
    ($($ty:ty: $format:literal;)*) => {$(
        impl Primitive for $ty {
            const FORMAT: &'static CStr = $format;
        }
    )*};
}
primitives! {
    i8: c"c"; u8: c"C"; i16: c"s"; u16: c"S"; i32: c"i"; u32: c"I"; i64: c"l"; u64: c"L";
    f16: c"e"; f32: c"f"; f64: c"g";
}

/// Why a column is no buffer.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// It has been moved or released.
    #[error("it has been released")]
    Released,
    /// A pointer is null.
    #[error("its {what} is null")]
    Null {
        /// Which one.
        what: &'static str,
    },
    /// It has elements of another type.
    #[error("its type is `{found}`, and that of the buffer `{expected}`")]
    Type {
        /// Its format.
        found: String,
        /// That of the buffer.
        expected: &'static str,
    },
    /// It is no primitive array.
    #[error(
        "it is no primitive array: it has {buffers} buffers and {children} children, dictionary: {has_dictionary}"
    )]
    Structure {
        /// How many buffers it has.
        buffers: i64,
        /// How many children it has, in the array or its type.
        children: i64,
        /// It has a dictionary.
        has_dictionary: bool,
    },
    /// A number is negative, or beyond all memory.
    #[error("its length is {length}, its offset {offset}, and {null_count} values are not there")]
    Range {
        /// How many elements it has.
        length: i64,
        /// Elements before the first one.
        offset: i64,
        /// How many are not there.
        null_count: i64,
    },
    /// The first element is not aligned.
    #[error("its elements begin at {at:#x}, which is not aligned to {align} bytes")]
    Alignment {
        /// The address.
        at: usize,
        /// The alignment of the type.
        align: usize,
    },
}

impl From<Refusal> for Error {
    fn from(why: Refusal) -> Error {
        Error::Configuration { what: "Arrow column", why: why.to_string() }
    }
}

/// An array and its type. The drop releases both.
#[derive(Debug)]
pub struct Column {
    schema: ArrowSchema,
    array: ArrowArray,
}

// SAFETY: who makes one from pointers says that any thread may read and release it (`from_raw`);
// ours own guards, which are `Send`, and nothing changes in them.
unsafe impl Send for Column {}
// SAFETY: as above.
unsafe impl Sync for Column {}

/// A column as buffers. The column is released when all of them are dropped and what uses them is
/// done.
pub struct Imported<T: DeviceType> {
    /// The values.
    pub values: ReadOnly<T>,
    /// Which of them are there. `None`: all.
    pub validity: Option<Validity>,
    /// How many are not there, if the producer has counted them.
    pub null_count: Option<usize>,
}

/// Which values are there: a bit for each.
pub struct Validity {
    /// The bits, the lowest of a byte first.
    pub bits: ReadOnly<u8>,
    /// The bit of the first value, below 8.
    pub offset: usize,
}

/// What an exported column keeps.
struct Export {
    /// Null, or the bits; and the values.
    buffers: [*const c_void; 2],
    _guards: (Box<dyn Send>, Option<ReadGuard<u8>>),
}

unsafe extern "C" fn release_schema(schema: *mut ArrowSchema) {
    // SAFETY: Arrow's rule: the owner calls it, with the struct. Nothing of it is allocated.
    unsafe { (*schema).release = None };
}

unsafe extern "C" fn release_array(array: *mut ArrowArray) {
    // SAFETY: Arrow's rule: the owner calls it once, with the struct, whose data `exported` has
    // made by `Box::into_raw`.
    unsafe {
        (*array).release = None;
        drop(Box::from_raw((*array).private_data.cast::<Export>()));
    }
}

impl Column {
    /// The latest contents of a buffer or a part of it, on the host, for a library that reads them.
    /// Waits until they are there. Until the library releases the column, commands that would write
    /// are refused with [`Error::HostAccessHeld`].
    pub fn export<T: Primitive>(values: impl AsPart<T, 1>) -> Result<Column> {
        Ok(exported(values.slice_all().read()?, None))
    }

    /// As [`export`](Self::export), with a bit for each value that says whether it is there. Bytes
    /// that are too few are [`Error::Mismatch`].
    pub fn export_nullable<T: Primitive>(
        values: impl AsPart<T, 1>,
        bits: impl AsPart<u8, 1>,
    ) -> Result<Column> {
        let (values, bits) = (values.slice_all(), bits.slice_all());
        if bits.len() < values.len().div_ceil(8) {
            return Err(Error::Mismatch {
                what: "bits of column",
                label: "".into(),
                source_extent: vec![bits.len()],
                target: vec![values.len()],
                needed: Some(vec![values.len().div_ceil(8)]),
            });
        }
        let values = values.read()?;
        Ok(exported(values, Some(bits.read()?)))
    }

    /// The structs, as another library takes them: it moves them, and releases each once. Nothing
    /// else does.
    pub fn into_raw(self) -> (ArrowSchema, ArrowArray) {
        let column = std::mem::ManuallyDrop::new(self);
        // SAFETY: the column is not used again, and not dropped.
        unsafe {
            (std::ptr::read(&raw const column.schema), std::ptr::read(&raw const column.array))
        }
    }

    /// Moves a column of another library out of the structs, which are released ones afterwards.
    ///
    /// # Safety
    /// Each pointer is null, or a struct as Arrow's C data interface describes it; and this owns
    /// what they have from now on, which any thread may release. Until then nothing writes it:
    /// the format is a C string, `buffers` points to `n_buffers` pointers, and in a primitive array
    /// of `length` values behind `offset` others, these lie in the second buffer, and their bits in
    /// the first one, unless that is null.
    pub unsafe fn from_raw(
        schema: *mut ArrowSchema,
        array: *mut ArrowArray,
    ) -> Result<Column, Refusal> {
        if schema.is_null() || array.is_null() {
            return Err(Refusal::Null { what: "struct" });
        }
        // SAFETY: the caller's promise. A struct without a release function is moved out of.
        let column = unsafe {
            let column = Column { schema: schema.read(), array: array.read() };
            (*schema).release = None;
            (*array).release = None;
            column
        };
        match column.schema.release.is_none() || column.array.release.is_none() {
            true => Err(Refusal::Released),
            false => Ok(column),
        }
    }

    /// Where the values are, and how many; where the bits are, their bytes, and the first bit.
    fn checked<T: Primitive>(&self) -> Result<(usize, usize, Option<[usize; 3]>), Refusal> {
        let (schema, array) = (&self.schema, &self.array);
        if schema.format.is_null() {
            return Err(Refusal::Null { what: "format" });
        }
        // SAFETY: a C string (`from_raw`).
        let format = unsafe { CStr::from_ptr(schema.format) };
        if format != T::FORMAT {
            let found = format.to_string_lossy().into_owned();
            let expected = T::FORMAT.to_str().unwrap_or_default();
            return Err(Refusal::Type { found, expected });
        }
        let (buffers, children) = (array.n_buffers, array.n_children.max(schema.n_children));
        let has_dictionary = !array.dictionary.is_null() || !schema.dictionary.is_null();
        if buffers != 2 || children != 0 || has_dictionary {
            return Err(Refusal::Structure { buffers, children, has_dictionary });
        }
        let ArrowArray { length, offset, null_count, .. } = *array;
        let range = Refusal::Range { length, offset, null_count };
        let [Ok(len), Ok(first)] = [length, offset].map(usize::try_from) else { return Err(range) };
        let bytes = first.checked_add(len).and_then(|end| end.checked_mul(size_of::<T>()));
        let fits = bytes.is_some_and(|bytes| isize::try_from(bytes).is_ok());
        if !fits || !(-1..=length).contains(&null_count) {
            return Err(range);
        }
        if array.buffers.is_null() {
            return Err(Refusal::Null { what: "array of buffers" });
        }
        // SAFETY: it points to two pointers (`from_raw`).
        let [bits, values] = unsafe { array.buffers.cast::<[*const c_void; 2]>().read_unaligned() };
        if len > 0 && values.is_null() {
            return Err(Refusal::Null { what: "buffer of values" });
        }
        if null_count > 0 && bits.is_null() {
            return Err(Refusal::Null { what: "buffer of bits" });
        }
        // Both are below 2^63, and the memory is there: no sum overflows.
        let at = values.expose_provenance().wrapping_add(first * size_of::<T>());
        let align = align_of::<T>();
        if len > 0 && !at.is_multiple_of(align) {
            return Err(Refusal::Alignment { at, align });
        }
        let bits = (!bits.is_null()).then(|| {
            let at = bits.expose_provenance().wrapping_add(first / 8);
            [at, (first % 8 + len).div_ceil(8), first % 8]
        });
        Ok((at, len, bits))
    }

    /// The values and their bits as buffers in the column's memory. A refusal returns the column.
    pub fn import<T: Primitive>(self, rt: &Runtime) -> Result<Imported<T>, Box<ImportError>> {
        let (at, len, bits) = match self.checked::<T>() {
            Ok(found) => found,
            Err(why) => {
                let (error, refusal) = (why.clone().into(), Some(why));
                return Err(Box::new(ImportError { error, refusal, column: Some(self) }));
            }
        };
        let null_count = usize::try_from(self.array.null_count).ok();
        let column = Arc::new(self);
        // SAFETY: as many values, and aligned, as checked above; the column keeps them, and nothing
        // writes them (`from_raw`).
        let values = unsafe { OwnedElements::<T, _>::new(at, len, column.clone()) };
        let values = read_only(rt, values, len);
        let bits = bits.map(|[at, bytes, offset]| {
            // SAFETY: as above, and bytes are aligned.
            let bits = unsafe { OwnedElements::<u8, _>::new(at, bytes, column.clone()) };
            Ok(Validity { bits: read_only(rt, bits, bytes)?, offset })
        });
        match (values, bits.transpose()) {
            (Ok(values), Ok(validity)) => Ok(Imported { values, validity, null_count }),
            (Err(error), _) | (_, Err(error)) => {
                Err(Box::new(ImportError { error, refusal: None, column: Arc::into_inner(column) }))
            }
        }
    }
}

/// A view that nothing writes.
fn read_only<T: DeviceType>(
    rt: &Runtime,
    elements: OwnedElements<T, Arc<Column>>,
    len: usize,
) -> Result<ReadOnly<T>> {
    // A program's own tracker could have data copied into the memory.
    let policy = ViewPolicy::Async.with(BufferOptions::new().own_tracker());
    Ok(ReadOnly::new(rt.view(len, elements, policy)?.0))
}

fn exported<T: Primitive>(values: ReadGuard<T>, bits: Option<ReadGuard<u8>>) -> Column {
    let (length, is_nullable) = (values.len() as i64, bits.is_some());
    let of_bits = bits.as_ref().map_or(std::ptr::null(), |bits| bits.as_ptr().cast());
    let buffers = [of_bits, values.as_ptr().cast()];
    let export = Box::into_raw(Box::new(Export { buffers, _guards: (Box::new(values), bits) }));
    let schema = ArrowSchema {
        format: T::FORMAT.as_ptr(),
        name: c"".as_ptr(),
        metadata: std::ptr::null(),
        flags: if is_nullable { ArrowSchema::NULLABLE } else { 0 },
        n_children: 0,
        children: std::ptr::null_mut(),
        dictionary: std::ptr::null_mut(),
        release: Some(release_schema),
        private_data: std::ptr::null_mut(),
    };
    let array = ArrowArray {
        length,
        null_count: if is_nullable { -1 } else { 0 },
        offset: 0,
        n_buffers: 2,
        n_children: 0,
        // SAFETY: the box from above, which stays where it is until it is released.
        buffers: unsafe { &raw mut (*export).buffers }.cast(),
        children: std::ptr::null_mut(),
        dictionary: std::ptr::null_mut(),
        release: Some(release_array),
        private_data: export.cast(),
    };
    Column { schema, array }
}

impl Drop for Column {
    fn drop(&mut self) {
        // SAFETY: the structs are this one's, and this is their end.
        unsafe {
            if let Some(release) = self.array.release {
                release(&raw mut self.array);
            }
            if let Some(release) = self.schema.release {
                release(&raw mut self.schema);
            }
        }
    }
}

/// A column that has become no buffer, and why. With `?` it becomes an [`Error`].
#[derive(Debug)]
pub struct ImportError {
    /// Why.
    pub error: Error,
    /// The reason, if it is in the column.
    pub refusal: Option<Refusal>,
    /// The column as it was. `None` if it has been released.
    pub column: Option<Column>,
}

impl From<Box<ImportError>> for Error {
    fn from(refused: Box<ImportError>) -> Error {
        refused.error
    }
}

impl std::fmt::Display for ImportError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(&self.error, f)
    }
}

impl std::error::Error for ImportError {}
