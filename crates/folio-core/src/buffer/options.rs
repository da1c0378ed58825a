//! How a buffer is made.

use crate::allocator::HostAllocator;
use crate::engine::terms::lender::Program;
use crate::error::Label;
use crate::memory::Evict;
use crate::pages::PageTrackerFactory;
use crate::runtime::DeviceRef;
use std::sync::Arc;

/// What can be chosen for a buffer.
#[derive(Clone, Default)]
pub struct BufferOptions {
    pub(crate) label: Label,
    pub(crate) page: Option<Vec<usize>>,
    pub(crate) tracker: Option<Arc<dyn PageTrackerFactory>>,
    /// The drop waits.
    pub(crate) sync: bool,
    pub(crate) evict: Option<Evict>,
    /// Its memory on devices comes in frames.
    pub(crate) sparse: Option<bool>,
    pub(crate) page_locked: Option<DeviceRef>,
    /// Who gives the memory on the host.
    pub(crate) allocator: Option<Program>,
    /// No tracker of a user's, whatever the runtime has.
    pub(crate) own_tracker: bool,
}

impl BufferOptions {
    /// The defaults.
    pub fn new() -> BufferOptions {
        BufferOptions::default()
    }

    /// A name, for errors and traces.
    #[must_use]
    pub fn label(mut self, label: impl Into<Arc<str>>) -> BufferOptions {
        self.label = Label::from(label);
        self
    }

    /// The shape of a page in elements, as many numbers as the buffer has dimensions. Taken as it
    /// is, but cut to the buffer's shape.
    ///
    /// Without it a buffer of up to 64 KiB is one page, and a larger one has pages of at least
    /// 64 KiB that are whole rows where that is possible.
    #[must_use]
    pub fn page(mut self, page: impl AsRef<[usize]>) -> BufferOptions {
        self.page = Some(page.as_ref().to_vec());
        self
    }

    /// The buffer's copies may be freed when memory is short; they are made again when they are
    /// needed. Without this, and without [`RuntimeBuilder::evict`](crate::RuntimeBuilder::evict),
    /// memory stays until the buffer is dropped.
    #[must_use]
    pub fn evict(mut self, how: Evict) -> BufferOptions {
        self.evict = Some(how);
        self
    }

    /// The buffer's memory on devices comes in *frames*, or does not. A frame is the least part of
    /// an allocation that a device can give memory to while the others have none
    /// ([`Allocation::frame`](crate::memory::Allocation::frame)). The addresses of all of it are
    /// reserved, and each frame gets memory when a command first uses pages that lie in it.
    ///
    /// Without this, memory comes in frames on a device that has some where the first command that
    /// needs the buffer there uses a part of it, and the buffer has at least 8 frames. Devices
    /// without frames give all of the memory, whatever is said here.
    #[must_use]
    pub fn sparse(mut self, in_frames: bool) -> BufferOptions {
        self.sparse = Some(in_frames);
        self
    }

    /// The buffer's memory on the host is page-locked by the driver of `device`, from the beginning
    /// on. That makes transfers with devices of that driver faster, and costs memory that the
    /// system cannot page out. It counts against the host's budget, and is never linked.
    ///
    /// Contents are copied into it, also those of a `Vec` by value. Where the device has no such
    /// memory, making the buffer is [`Error::Unsupported`](crate::Error::Unsupported). A view has
    /// the program's memory, for which this is
    /// [`Error::Configuration`](crate::Error::Configuration).
    #[must_use]
    pub fn page_locked(mut self, device: &DeviceRef) -> BufferOptions {
        self.page_locked = Some(device.clone());
        self
    }

    /// The buffer's memory on the host comes from an allocator of the program, from the beginning
    /// on, and goes back to it; so does memory that is made again after a
    /// [`release`](crate::Buffer::release) or an eviction. A device that shares the host's memory
    /// uses it, too.
    ///
    /// Contents are copied into it, also those of a `Vec` by value. If the allocator gives none,
    /// making the buffer is [`Error::Allocator`](crate::Error::Allocator). With
    /// [`page_locked`](Self::page_locked), which names another one who gives this memory, and for a
    /// view, which has the program's, it is
    /// [`Error::Configuration`](crate::Error::Configuration).
    #[must_use]
    pub fn allocator(mut self, allocator: Arc<dyn HostAllocator>) -> BufferOptions {
        self.allocator = Some(Program::new(allocator));
        self
    }

    /// The drop of the buffer waits until all commands that use it have ended: see
    /// [`Policy::SyncBuffer`](crate::buffer::Policy::SyncBuffer).
    #[must_use]
    pub fn sync(mut self) -> BufferOptions {
        self.sync = true;
        self
    }

    /// Who keeps track of where the pages are current.
    #[must_use]
    pub fn tracker(mut self, tracker: Arc<dyn PageTrackerFactory>) -> BufferOptions {
        self.tracker = Some(tracker);
        self
    }

    /// The pages are tracked by the engine, whatever tracker the runtime has.
    #[must_use]
    pub fn own_tracker(mut self) -> BufferOptions {
        self.own_tracker = true;
        self
    }
}

/// The least size of a page that nobody chose.
const PAGE_BYTES: usize = 64 << 10;

/// Pages of at least [`PAGE_BYTES`]: whole slices if those are small, else whole rows, else parts
/// of rows.
pub(crate) fn default_page(dims: [usize; 3], element_bytes: usize) -> [usize; 3] {
    let mut page = dims;
    for d in 0..3 {
        // An empty shape may have any extents.
        let below = dims[d + 1..].iter().fold(element_bytes, |n, d| n.saturating_mul(*d));
        page[d] = PAGE_BYTES.div_ceil(below.max(1)).clamp(1, dims[d].max(1));
        if page[d] > 1 || d == 2 {
            break;
        }
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn default_pages_have_at_least_64_kib_and_are_whole_rows_where_possible() {
        assert_eq!(default_page([1, 1, 100], 4), [1, 1, 100]);
        assert_eq!(default_page([1, 1, 1 << 20], 4), [1, 1, 1 << 14]);
        assert_eq!(default_page([1, 1000, 1000], 4), [1, 17, 1000]);
        assert_eq!(default_page([1, 10, 1 << 20], 4), [1, 1, 1 << 14]);
        assert_eq!(default_page([64, 8, 8], 4), [64, 8, 8]);
        assert_eq!(default_page([640, 64, 64], 4), [4, 64, 64]);
        assert_eq!(default_page([1, 1, 0], 4), [1, 1, 1]);
    }
}
