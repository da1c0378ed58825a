//! Sparse matrices by rows, and their products.

use crate::prelude::*;
use crate::{Library, Linalg, mismatch};
use folio::combine::Add;
use folio::ir::device::Combine;
use folio::{RacyMemory, Runtime};

/// Items of a group, and rows that it computes at most.
const ITEMS: usize = 256;
/// Products that a group has in local memory.
const SLAB: usize = 2048;

/// A sparse matrix, row after row ("CSR"). It does not change, so that its indices are tested once.
///
/// ```
/// use folio::linalg::{Csr, Linalg};
///
/// let rt = folio::runtime()?;
/// let linalg = Linalg::new(&rt.queue()?)?;
/// // 1 0 2
/// // 0 3 0
/// let a = Csr::from_triplets(&rt, [2, 3], [(0, 0, 1.0f32), (0, 2, 2.0), (1, 1, 3.0)])?;
/// let x = rt.buffer_from(&[1.0f32, 10.0, 100.0])?;
/// let mut y = rt.buffer(2)?;
/// linalg.spmv(&a, &x, &mut y)?;
/// assert_eq!(y.to_vec()?, [201.0, 30.0]);
/// # Ok::<(), folio::Error>(())
/// ```
#[derive(Debug)]
pub struct Csr<T: DeviceType> {
    pub(crate) shape: [usize; 2],
    /// Where each row begins, and the end.
    pub(crate) offsets: Buffer<u32>,
    pub(crate) columns: Buffer<u32>,
    pub(crate) values: Buffer<T>,
    /// Rows that a group computes: their values fill its local memory about.
    rows_of_group: usize,
    #[cfg(feature = "cuda")]
    pub(crate) prepared: crate::cuda::Preparations,
}

/// Zeros, one more than there are rows.
fn offsets_of(shape: [usize; 2]) -> Result<Vec<u32>> {
    let (mut offsets, len) = (Vec::new(), shape[0].saturating_add(1));
    let room = offsets.try_reserve_exact(len);
    room.map_err(|why| refused(format!("no memory for {shape:?}: {why}")))?;
    offsets.resize(len, 0);
    Ok(offsets)
}

/// A matrix that is none.
fn refused(why: impl Into<String>) -> folio::Error {
    folio::Error::Configuration { what: "sparse matrix", why: why.into() }
}

impl<T: Number + DeviceType> Csr<T> {
    /// The matrix of `(row, column, value)` in any order. Values at the same place are added, in
    /// their order.
    pub fn from_triplets(
        rt: &Runtime,
        shape: [usize; 2],
        triplets: impl IntoIterator<Item = (usize, usize, T)>,
    ) -> Result<Csr<T>>
    where
        Add: Combine<T>,
    {
        let mut all: Vec<(usize, usize, T)> = triplets.into_iter().collect();
        all.sort_by_key(|(row, column, _)| (*row, *column));
        let mut offsets = offsets_of(shape)?;
        let (mut columns, mut values) = (vec![], Vec::<T>::new());
        let mut before = None;
        for (row, column, value) in all {
            if row >= shape[0] || column >= shape[1] {
                return Err(refused(format!("({row}, {column}) is outside of {shape:?}")));
            }
            match values.last_mut().filter(|_| before == Some((row, column))) {
                Some(last) => *last = Add::combine(*last, value),
                None => {
                    columns.push(column as u32);
                    values.push(value);
                    offsets[row + 1] += 1;
                }
            }
            before = Some((row, column));
        }
        let mut end = 0;
        for offset in &mut offsets {
            end += *offset;
            *offset = end;
        }
        Csr::from_rows(rt, shape, &offsets, &columns, &values)
    }

    /// The matrix of which row `r` has the values from `offsets[r]` to `offsets[r + 1]`, in these
    /// columns.
    pub fn from_rows(
        rt: &Runtime,
        shape: [usize; 2],
        offsets: &[u32],
        columns: &[u32],
        values: &[T],
    ) -> Result<Csr<T>> {
        let [rows, width] = shape;
        if u32::try_from(width).is_err() || u32::try_from(values.len()).is_err() {
            return Err(refused("32 bits cannot number its columns or its values"));
        }
        let ends = (offsets.first(), offsets.last());
        if offsets.len() != rows.saturating_add(1)
            || ends != (Some(&0), Some(&(values.len() as u32)))
        {
            return Err(refused("offsets are one more than rows, from 0 to the number of values"));
        }
        if !offsets.is_sorted() || columns.len() != values.len() {
            return Err(refused("offsets rise, and each value has a column"));
        }
        if let Some(column) = columns.iter().find(|column| **column as usize >= width) {
            return Err(refused(format!("column {column} is outside of {shape:?}")));
        }
        let per_row = values.len().div_ceil(rows.max(1)).max(1);
        Ok(Csr {
            shape,
            offsets: rt.buffer_from(offsets)?,
            columns: rt.buffer_from(columns)?,
            values: rt.buffer_from(values)?,
            rows_of_group: (SLAB / per_row).clamp(1, ITEMS),
            #[cfg(feature = "cuda")]
            prepared: Default::default(),
        })
    }

    /// Rows and columns.
    pub fn shape(&self) -> [usize; 2] {
        self.shape
    }

    /// Values that it has.
    pub fn values(&self) -> usize {
        self.values.len()
    }
}

#[kernel]
fn rows<T: Number>(
    i: Item,
    offsets: In<u32>,
    columns: In<u32>,
    values: In<T>,
    x: In<T>,
    y: Out<T>,
) {
    let mut sum = T::ZERO;
    for k in offsets[i] as usize..offsets[i + 1] as usize {
        sum += values[k] * x[columns[k]];
    }
    y[i] = sum;
}

/// A group's values are read one after the other, whatever rows they are of. Then each item adds up
/// the products of its row, in their order.
///
/// A [`Csr`] was checked when it was made. Indices are held to the extents although none is
/// outside: a device then tests none, and reads many elements at a time.
#[kernel(group = ITEMS)]
fn slabs<T: Number>(
    g: Group,
    rows_of_group: usize,
    offsets: In<u32>,
    columns: In<u32>,
    values: In<T>,
    x: In<T>,
    products: Local<T, SLAB>,
    y: Racy<T>,
) {
    let (last_offset, last_value) = (offsets.len() - 1, values.len() - 1);
    let first = (g.index() * rows_of_group).min(last_offset);
    let end = (first + rows_of_group).min(last_offset);
    let (start, stop) = (offsets[first] as usize, offsets[end] as usize);
    let sums = g.private(T::ZERO);
    let mut from = start;
    while from < stop {
        products.fill(|k| {
            let at = (from + k).min(last_value);
            values[at] * x[(columns[at] as usize).min(x.len() - 1)]
        });
        g.each(|i| {
            let row = first + i.local_index();
            if row < end {
                let low = (offsets[row.min(last_offset)] as usize).max(from) - from;
                let high = (offsets[(row + 1).min(last_offset)] as usize).max(from) - from;
                let mut sum = sums[i];
                for k in low..high.min(SLAB) {
                    sum += products[k.min(SLAB - 1)];
                }
                sums[i] = sum;
            }
        });
        from += SLAB;
    }
    g.each(|i| {
        let row = first + i.local_index();
        if row < end && row < y.len() {
            y[row] = sums[i];
        }
    });
}

#[kernel]
fn rows_by_columns<T: Number>(
    i: Item<2>,
    offsets: In<u32>,
    columns: In<u32>,
    values: In<T>,
    x: In<T, 2>,
    y: Out<T, 2>,
) {
    let (row, column) = i.pos();
    let mut sum = T::ZERO;
    for k in offsets[row] as usize..offsets[row + 1] as usize {
        sum += values[k] * x[(columns[k] as usize, column)];
    }
    y[i] = sum;
}

impl Linalg {
    /// Writes the product of a sparse matrix and a vector to `y`.
    ///
    /// The own kernel adds each row's products in the order of its values. cuSPARSE looks at a
    /// matrix in the first call, which waits for that, and keeps a buffer beside it.
    pub fn spmv<T: Number + DeviceType>(
        &self,
        a: &Csr<T>,
        x: impl AsPart<T, 1>,
        mut y: impl AsPartMut<T, 1>,
    ) -> Result<Library> {
        let (x, mut y) = (x.slice_all(), y.slice_all_mut());
        if [y.len(), x.len()] != a.shape {
            return Err(mismatch("spmv", &[y.len(), x.len()], &a.shape));
        }
        #[cfg(feature = "cuda")]
        if self.takes_sparse(a, &x, &mut y)? {
            return Ok(Library::CuSparse);
        }
        self.without_library("spmv")?;
        if y.is_empty() {
            return Ok(Library::Own);
        }
        if a.values.is_empty() {
            self.q.fill(&mut y, T::ZERO)?;
        } else if self.is_on_host() {
            let call = rows(&a.offsets, &a.columns, &a.values, &x, &mut y);
            self.labelled("spmv (own)", a.shape[0], call)?;
        } else {
            self.by_slabs(a, &x, &mut y)?;
        }
        Ok(Library::Own)
    }

    /// The library computes it, where it is chosen and there is something to compute.
    #[cfg(feature = "cuda")]
    fn takes_sparse<T: DeviceType, const D: usize>(
        &self,
        a: &Csr<T>,
        x: &Slice<'_, T, D>,
        y: &mut SliceMut<'_, T, D>,
    ) -> Result<bool> {
        let is_empty = a.values.is_empty() || y.is_empty();
        match self.nvidia() {
            Some(cuda) if !is_empty => cuda.multiply_sparse(&self.q, a, x, y),
            _ => Ok(false),
        }
    }

    fn by_slabs<T: Number + DeviceType>(
        &self,
        a: &Csr<T>,
        x: &Slice<'_, T>,
        y: &mut SliceMut<'_, T>,
    ) -> Result<()> {
        let groups = a.shape[0].div_ceil(a.rows_of_group);
        // SAFETY: an item writes the element of its own row, and reads none.
        let y = unsafe { RacyMemory::new(y) };
        let call = slabs(a.rows_of_group, &a.offsets, &a.columns, &a.values, x, y);
        self.labelled("spmv (own)", groups * ITEMS, call)
    }

    /// Writes the product of a sparse matrix and a dense one to `y`; see [`spmv`](Self::spmv).
    ///
    /// ```
    /// use folio::linalg::{Csr, Linalg};
    ///
    /// let rt = folio::runtime()?;
    /// let linalg = Linalg::new(&rt.queue()?)?;
    /// let a = Csr::from_triplets(&rt, [1, 2], [(0, 0, 2.0f64), (0, 1, 3.0)])?;
    /// let x = rt.buffer_from((&[1.0f64, 2.0, 10.0, 20.0], [2, 2]))?;
    /// let mut y = rt.buffer([1, 2])?;
    /// linalg.spmm(&a, &x, &mut y)?;
    /// assert_eq!(y.to_vec()?, [32.0, 64.0]);
    /// # Ok::<(), folio::Error>(())
    /// ```
    pub fn spmm<T: Number + DeviceType>(
        &self,
        a: &Csr<T>,
        x: impl AsPart<T, 2>,
        mut y: impl AsPartMut<T, 2>,
    ) -> Result<Library> {
        let (x, mut y) = (x.slice_all(), y.slice_all_mut());
        let ([depth, columns], [rows, wanted]) = (x.shape(), y.shape());
        if [rows, depth] != a.shape || columns != wanted {
            return Err(mismatch(
                "spmm",
                &[rows, depth, columns],
                &[a.shape[0], a.shape[1], wanted],
            ));
        }
        #[cfg(feature = "cuda")]
        if self.takes_sparse(a, &x, &mut y)? {
            return Ok(Library::CuSparse);
        }
        self.without_library("spmm")?;
        if !y.is_empty() {
            let call = rows_by_columns(&a.offsets, &a.columns, &a.values, &x, &mut y);
            self.labelled("spmm (own)", [rows, columns], call)?;
        }
        Ok(Library::Own)
    }

    fn labelled<const D: usize>(
        &self,
        label: &'static str,
        items: impl folio::IntoItems<D>,
        call: impl folio::RunsIn<D>,
    ) -> Result<()> {
        self.q.submit(|cg| {
            cg.label(label).run(items, call);
            Ok(())
        })?;
        Ok(())
    }
}
