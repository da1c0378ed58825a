//! The records of a graph's launches. The graph owns them, since the driver has their addresses;
//! each replay that ends takes down what is in them, and clears them for the next, in its stream.

use crate::driver::{Context, Relaxed};
use crate::verdict::STRIDE;
use cudarc::driver::sys;
use folio_core::hal::HalError;
use folio_driver::lock;
use folio_driver::verdict::Verdict;
use folio_kernel::emit::Record;
use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::{Arc, Mutex};

/// Page-locked memory of the host, zeros at first.
pub(crate) struct Page(*mut c_void);

// SAFETY: page-locked memory, which any thread may read.
unsafe impl Send for Page {}

impl Page {
    /// The context is current.
    pub(crate) fn new(context: &Context, bytes: usize) -> Result<Page, HalError> {
        let (mut at, _relaxed) = (null_mut(), Relaxed::begin());
        // SAFETY: a place for the answer. Portable and mapped: at one address for all.
        let made = unsafe { sys::cuMemHostAlloc(&raw mut at, bytes, 1 | 2) };
        context.check("cuMemHostAlloc", made)?;
        // SAFETY: memory of that size, which nobody uses yet.
        unsafe { at.cast::<u8>().write_bytes(0, bytes) };
        Ok(Page(at))
    }

    fn address(&self) -> u64 {
        self.0.expose_provenance() as u64
    }

    /// One of the records in it.
    pub(crate) fn record(&self, at: usize) -> *mut Record {
        self.0.cast::<u8>().wrapping_add(at * STRIDE).cast()
    }

    /// Gives it back. The context is current.
    ///
    /// # Safety
    /// Nothing uses it any more, and it is given back once.
    pub(crate) unsafe fn free(&self) {
        // SAFETY: the caller's promise.
        let _ = unsafe { sys::cuMemFreeHost(self.0) };
    }
}

/// The meaning of a record, and the number of the operation.
type OfNode = (Verdict, usize);

/// The records of a graph, one for each launch that can fail, and for each loop.
pub(crate) struct Sheet {
    context: Arc<Context>,
    /// The records that the kernels write.
    records: Page,
    /// By record: what it says, and of which operation of the graph.
    points: Mutex<Arc<Vec<OfNode>>>,
    most: usize,
    /// The pages of replays that have been read.
    spare: Mutex<Vec<Page>>,
}

// SAFETY: the records' memory is reached by the driver only.
unsafe impl Sync for Sheet {}

impl Sheet {
    /// For so many launches. The context is current.
    pub(crate) fn new(context: Arc<Context>, most: usize) -> Result<Sheet, HalError> {
        let records = Page::new(&context, most * STRIDE)?;
        Ok(Sheet { context, records, points: Mutex::default(), most, spare: Mutex::default() })
    }

    /// The record of a launch, and its address; `had`: the one that it had before.
    pub(crate) fn record(
        &self,
        had: Option<usize>,
        (says, node): OfNode,
    ) -> Result<(usize, u64), HalError> {
        let mut all = lock(&self.points);
        // A replay that is under way keeps those that it began with.
        let all = Arc::make_mut(&mut all);
        let at = had.unwrap_or(all.len());
        match all.get_mut(at) {
            Some(known) => *known = (says, node),
            None if at < self.most => all.push((says, node)),
            None => return Err(HalError::unsupported("more launches in a graph than operations")),
        }
        Ok((at, self.records.address() + (at * STRIDE) as u64))
    }

    /// Where the next replay's records are taken down. The context is current.
    pub(crate) fn next(self: &Arc<Sheet>) -> Result<GraphFailures, HalError> {
        let points = lock(&self.points).clone();
        let spare = lock(&self.spare).pop();
        let page = match spare {
            Some(page) => page,
            None => Page::new(&self.context, self.most * STRIDE)?,
        };
        // SAFETY: of that size; whoever used it has ended.
        unsafe { page.0.cast::<u8>().write_bytes(0, self.most * STRIDE) };
        Ok(GraphFailures { page: Some(page), points, sheet: self.clone() })
    }
}

impl Drop for Sheet {
    fn drop(&mut self) {
        let Ok(_calls) = self.context.enter() else { return };
        let _relaxed = Relaxed::begin();
        for page in lock(&self.spare).iter().chain([&self.records]) {
            // SAFETY: ours, and no replay is under way: it would hold this.
            unsafe { page.free() };
        }
    }
}

/// The records of one replay.
pub(crate) struct GraphFailures {
    page: Option<Page>,
    points: Arc<Vec<OfNode>>,
    sheet: Arc<Sheet>,
}

impl GraphFailures {
    /// Takes the records down and clears them, behind the replay. The context is current.
    ///
    /// # Safety
    /// This is dropped when the stream has come past here.
    pub(crate) unsafe fn take_down(&self, stream: sys::CUstream) -> Result<(), HalError> {
        let (Some(page), Sheet { context, records, .. }) = (&self.page, &*self.sheet) else {
            return Ok(());
        };
        let (from, bytes) = (records.address(), self.points.len() * STRIDE);
        // SAFETY: both are at least of that size, and live as long as this, by the caller's
        // promise.
        unsafe {
            let copied = sys::cuMemcpyAsync(page.address(), from, bytes, stream);
            context.check("cuMemcpyAsync", copied)?;
            context.check("cuMemsetD8Async", sys::cuMemsetD8Async(from, 0, bytes, stream))
        }
    }

    /// The first failure in the order of the graph's launches. The replay has ended.
    pub(crate) fn read(&self) -> Option<HalError> {
        let page = self.page.as_ref()?;
        self.points.iter().enumerate().find_map(|(at, (says, node))| {
            // SAFETY: one of the records, aligned to its stride; the copy has ended.
            Some(says.failure(unsafe { &*page.record(at) })?.at_node(*node))
        })
    }
}

impl Drop for GraphFailures {
    fn drop(&mut self) {
        lock(&self.sheet.spare).extend(self.page.take());
    }
}
