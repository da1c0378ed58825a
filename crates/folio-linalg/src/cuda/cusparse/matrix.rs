//! What cuSPARSE keeps of a matrix, and products with it.

use super::{CuSparse, Places, Product, R_32F, R_64F, Seen};
use crate::cuda::OnCuda;
use crate::prelude::*;
use crate::{Csr, LibraryError};
use folio::Shared;
use folio_cuda::{Native, NativeMemory};
use std::any::TypeId;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// What the library keeps of a matrix on one device, for products of one shape.
pub(crate) struct Prepared {
    cusparse: Arc<CuSparse>,
    product: Product,
    /// The descriptor of the matrix. It goes before the buffer, which it names.
    seen: Mutex<Option<Seen>>,
    buffer: Shared<u8>,
}

impl Prepared {
    fn enqueue(&self, cuda: &Native) -> Result<(), LibraryError> {
        let [offsets, columns, values, x, y, buffer] = &cuda.memory[..] else {
            return Err(LibraryError::None { what: "a sparse product of other operands" });
        };
        let at = places(cuda, [offsets, columns, values, buffer], x, y);
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        self.cusparse.enqueue(self.product, &at, &mut seen)
    }
}

fn places(cuda: &Native, matrix: [&NativeMemory; 4], x: &NativeMemory, y: &NativeMemory) -> Places {
    let dense = |m: &NativeMemory| [m.address, m.pitch[1] as u64];
    Places {
        stream: cuda.stream,
        matrix: matrix.map(|memory| memory.address),
        x: dense(x),
        y: dense(y),
    }
}

/// What libraries keep of a matrix, on each device and for each shape of products.
#[derive(Default)]
pub(crate) struct Preparations(Mutex<Vec<Arc<Prepared>>>);

impl std::fmt::Debug for Preparations {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Preparations")
    }
}

impl Preparations {
    fn known(&self, cusparse: &Arc<CuSparse>, product: Product) -> Option<Arc<Prepared>> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_it = |known: &&Arc<Prepared>| {
            Arc::ptr_eq(&known.cusparse, cusparse) && known.product == product
        };
        all.iter().find(is_it).cloned()
    }
}

/// The product, if the library takes it: numbers of 32 bits, and types that it has.
fn product_of<T: DeviceType>(a: &Csr<T>, columns: Option<usize>) -> Option<Product> {
    let of = |type_id| TypeId::of::<T>() == type_id;
    let kind = match () {
        () if of(TypeId::of::<f32>()) => R_32F,
        () if of(TypeId::of::<f64>()) => R_64F,
        () => return None,
    };
    let number = |n: usize| i32::try_from(n).ok().map(i64::from);
    let [rows, width] = a.shape.map(number);
    let columns = match columns {
        Some(columns) => Some(number(columns)?),
        None => None,
    };
    Some(Product { rows: rows?, width: width?, values: number(a.values.len())?, columns, kind })
}

impl OnCuda {
    /// Submits a product, if the library is there and takes it. Else `false`.
    pub(crate) fn multiply_sparse<T: DeviceType, const D: usize>(
        &self,
        q: &Queue,
        a: &Csr<T>,
        x: &Slice<'_, T, D>,
        y: &mut SliceMut<'_, T, D>,
    ) -> Result<bool> {
        let columns = (D == 2).then(|| y.range()[D - 1]);
        let (Some(cusparse), Some(product)) = (&self.cusparse, product_of(a, columns)) else {
            return Ok(false);
        };
        let prepared = match a.prepared.known(cusparse, product) {
            Some(known) => known,
            None => prepared(q, cusparse, product, a)?,
        };
        let label = if D == 2 { "spmm (cuSPARSE)" } else { "spmv (cuSPARSE)" };
        let buffer = prepared.buffer.clone();
        let task = move |cuda: &Native| prepared.enqueue(cuda);
        q.submit(|cg| {
            cg.label(label);
            let matrix = (cg.read(&a.offsets), cg.read(&a.columns), cg.read(&a.values));
            let (x, y, buffer) = (cg.read(x), cg.discard(&mut *y), cg.read_write(&buffer));
            let args = (matrix.0, matrix.1, matrix.2, x, y, buffer);
            // SAFETY: the library reads the matrix and `x`, and writes `y` and the buffer, on the
            // stream of the task. The handle lives until the process ends, the descriptor as long
            // as the task.
            unsafe { cg.each_run().capturable().interop(args, task) };
            Ok(())
        })?;
        Ok(true)
    }
}

/// Runs a task over the matrix on a queue of its own: the other one may be recorded.
fn over<T: DeviceType>(
    q: &Queue,
    a: &Csr<T>,
    buffer: Option<&Shared<u8>>,
    task: impl FnOnce(&Native) -> Result<(), LibraryError> + Send + 'static,
) -> Result<()> {
    let command = q.runtime().queue_on(&q.device())?.submit(|cg| {
        cg.label("set-up of cuSPARSE");
        let matrix = (cg.read(&a.offsets), cg.read(&a.columns), cg.read(&a.values));
        match buffer {
            Some(buffer) => {
                let args = (matrix.0, matrix.1, matrix.2, cg.read_write(buffer));
                // SAFETY: the task reads the matrix, and writes the buffer on its stream.
                unsafe { cg.interop(args, task) };
            }
            // SAFETY: the task enqueues nothing.
            None => unsafe { cg.interop(matrix, task) },
        }
        Ok(())
    })?;
    command.wait()
}

/// Has the library say how much memory it needs, and look at the matrix.
fn prepared<T: DeviceType>(
    q: &Queue,
    cusparse: &Arc<CuSparse>,
    product: Product,
    a: &Csr<T>,
) -> Result<Arc<Prepared>> {
    let answer = Arc::new(OnceLock::new());
    let (told, of) = (answer.clone(), cusparse.clone());
    over(q, a, None, move |cuda| {
        let _ = told.set(of.bytes(product, &beside(cuda, product)?)?);
        Ok(())
    })?;
    let bytes = answer.get().copied().unwrap_or(0);
    let buffer = q.runtime().buffer(bytes.max(1))?.into_shared();
    let (cusparse, seen) = (cusparse.clone(), Mutex::default());
    let prepared = Arc::new(Prepared { cusparse, product, seen, buffer });
    let of = prepared.clone();
    over(q, a, Some(&prepared.buffer), move |cuda| {
        let at = beside(cuda, of.product)?;
        let mut seen = of.seen.lock().unwrap_or_else(PoisonError::into_inner);
        *seen = Some(of.cusparse.seen(of.product, &at)?);
        Ok(())
    })?;
    let mut all = a.prepared.0.lock().unwrap_or_else(PoisonError::into_inner);
    all.push(prepared.clone());
    Ok(prepared)
}

/// Places of a matrix without other operands. The values are in their place, and not accessed.
fn beside(cuda: &Native, product: Product) -> Result<Places, LibraryError> {
    let [offsets, columns, values, buffer @ ..] = &cuda.memory[..] else {
        return Err(LibraryError::None { what: "a sparse matrix without memory" });
    };
    let buffer = buffer.first().unwrap_or(values);
    let dense = [values.address, product.columns.unwrap_or(1) as u64];
    let matrix = [offsets, columns, values, buffer].map(|memory| memory.address);
    Ok(Places { stream: cuda.stream, matrix, x: dense, y: dense })
}
