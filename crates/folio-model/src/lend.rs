//! Memory that programs lend to views, and what gives it back.

use crate::handle::{self, Elem};
use crate::program::BufferSpec;
use folio_core::canary::Canary;
use folio_core::{
    Buffer, BufferOptions, Queue, Result, Runtime,
    buffer::{HostStorage, Policy, Reclaim, ReclaimError, ViewPolicy},
};
use std::marker::PhantomData;

/// Elements that are aligned as whatever a buffer is reinterpreted as; every second time as links
/// of simulated devices need it.
pub struct Words<T> {
    lines: Box<[Line]>,
    /// Words before the elements.
    skip: usize,
    len: usize,
    of: PhantomData<T>,
    _canary: Canary,
}

#[derive(Clone, Copy)]
#[repr(align(64))]
struct Line(#[expect(dead_code, reason = "it is read by address")] [u64; 8]);

impl<T: Elem> Words<T> {
    fn new(values: &[T], skip: usize) -> Words<T> {
        let bytes = size_of_val(values) + 8 * skip;
        let lines = vec![Line([0; 8]); bytes.div_ceil(64)].into_boxed_slice();
        let (of, _canary) = (PhantomData, Canary::new("a storage"));
        let mut words: Words<T> = Words { lines, skip, len: values.len(), of, _canary };
        // SAFETY: the lines have as many bytes, are aligned for any element, and are new.
        unsafe { words.as_mut_ptr().copy_from_nonoverlapping(values.as_ptr(), values.len()) };
        words
    }

    fn values(&self) -> Vec<u64> {
        let start = self.lines.as_ptr().cast::<u64>().wrapping_add(self.skip).cast::<T>();
        // SAFETY: there are as many elements, which have been values from the beginning.
        (0..self.len).map(|at| unsafe { start.add(at).read() }.wide()).collect()
    }
}

// SAFETY: the lines are on the heap, are the box's alone, and have as many elements.
unsafe impl<T: Elem> HostStorage for Words<T> {
    type Element = T;

    fn as_mut_ptr(&mut self) -> *mut T {
        self.lines.as_mut_ptr().cast::<u64>().wrapping_add(self.skip).cast()
    }

    fn len(&self) -> usize {
        self.len
    }
}

/// The handle that gives the memory of a view back.
pub enum Back {
    /// Of `u32`.
    U32(Reclaim<Words<u32>>),
    /// Of `u64`.
    U64(Reclaim<Words<u64>>),
}

/// The contents that came back, and how the view ended.
pub type Came = (Vec<u64>, Result<()>);

fn take<T: Elem>(back: &mut Reclaim<Words<T>>) -> Result<Came> {
    match back.take() {
        Ok(words) => Ok((words.values(), Ok(()))),
        Err(ReclaimError { error, storage: Some(words) }) => Ok((words.values(), Err(error))),
        Err(refused) => Err(refused.into()),
    }
}

impl Back {
    /// Waits for the memory.
    pub fn take(&mut self) -> Result<Came> {
        match self {
            Back::U32(back) => take(back),
            Back::U64(back) => take(back),
        }
    }

    /// Whether the memory is back.
    pub fn is_back(&self) -> bool {
        match self {
            Back::U32(back) => back.is_back(),
            Back::U64(back) => back.is_back(),
        }
    }
}

/// A view of new memory with the contents of the buffer that a program describes.
pub fn view<T: Elem, const D: usize>(
    rt: &Runtime,
    queue: &Queue,
    (at, spec): (usize, &BufferSpec),
    options: BufferOptions,
) -> Result<(Buffer<T, D>, Back)> {
    let policy = match spec.policy {
        Policy::SyncView => ViewPolicy::Sync,
        Policy::AsyncWritebackView => ViewPolicy::AsyncWriteback(queue),
        Policy::SyncWritebackView => ViewPolicy::SyncWriteback,
        _ => ViewPolicy::Async,
    };
    let storage = Words::new(&handle::contents::<T>(at, spec), at % 2);
    let (buffer, back) = rt.view(handle::cut::<D>(spec.dims), storage, policy.with(options))?;
    Ok((buffer, T::back(back)))
}
