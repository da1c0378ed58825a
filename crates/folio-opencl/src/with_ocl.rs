//! Folio beside the crate `ocl` (Cargo feature `ocl`): what an interop task gets as objects of that
//! crate, and the devices of its contexts.
//!
//! Both crates call the same loader, so the handles of one are those of the other.

use crate::OpenClBackend;
use crate::native::{Native, NativeMemory};
use folio_core::hal::HalError;
use ocl::core::{BufferRegion, CommandQueue, Context as RawContext, DeviceId, Mem};
use ocl::{Buffer, Context, Device, MemFlags, OclPrm, Queue};

/// The objects of an interop task ([`Native`]), as those of the crate `ocl`.
#[derive(Debug)]
#[non_exhaustive]
pub struct Ocl<'n> {
    native: &'n Native,
    /// The context of the platform's devices, for programs and further buffers.
    pub context: Context,
    /// The device.
    pub device: Device,
    /// The command's queue.
    pub queue: Queue,
}

impl Native {
    /// The same as objects of the crate `ocl`, which keep the driver's objects as `ocl` does.
    ///
    /// ```no_run
    /// use folio_core::{Buffer, Queue, Result};
    /// use folio_opencl::Native;
    ///
    /// fn clear(q: &Queue, x: &mut Buffer<f32>) -> Result<()> {
    ///     let clear = |cl: &Native| -> ocl::Result<()> {
    ///         let cl = cl.ocl()?;
    ///         // SAFETY: the access has numbers of this type, and the task keeps no buffer.
    ///         let x = unsafe { cl.buffer::<f32, 1>(0) }?;
    ///         x.cmd().fill(0.0, None).enq()
    ///     };
    ///     q.submit(|g| {
    ///         let x = g.discard(x);
    ///         // SAFETY: it writes all of `x`, on the task's queue.
    ///         unsafe { g.interop(x, clear) };
    ///         Ok(())
    ///     })?;
    ///     Ok(())
    /// }
    /// ```
    ///
    /// # Errors
    /// The errors of `ocl`, where the driver refuses what is asked.
    pub fn ocl(&self) -> ocl::Result<Ocl<'_>> {
        if self.context.is_null() || self.device.is_null() || self.queue.is_null() {
            return Err("the device has no context or queue".into());
        }
        // SAFETY: objects of a live device, which are not null; `ocl` retains what it keeps.
        let (context, device, queue) = unsafe {
            (
                RawContext::from_raw_copied_ptr(self.context.cast()),
                DeviceId::from_raw(self.device.cast()),
                CommandQueue::from_raw_copied_ptr(self.queue.cast()),
            )
        };
        let (context, device) = (Context::from(context), Device::from(device));
        // `ocl` makes no queue of one that is there, but lets its handle be exchanged.
        let mut of_task = Queue::new(&context, device, None)?;
        *of_task = queue;
        Ok(Ocl { native: self, context, device, queue: of_task })
    }
}

impl Ocl<'_> {
    /// The elements of access `at`, in the order of the task's arguments: from its first element to
    /// its last, with what lies between them. Its commands go to the task's queue.
    ///
    /// `ocl` has no buffer without memory, so memory of this size is made and released again.
    ///
    /// # Errors
    /// There is no such access, or nothing is accessed. The access begins where the device can have
    /// no buffer begin ([`part_align`](Self::part_align)). Or it is the driver's error.
    ///
    /// # Safety
    /// `T` is the type of the elements. The buffer and what is made of it are used during the task
    /// only, for what the access allows.
    pub unsafe fn buffer<T: OclPrm>(&self, at: usize) -> ocl::Result<Buffer<T>> {
        let place = self.native.memory.get(at);
        let Some(place) = place.filter(|place| !place.buffer.is_null()) else {
            return Err(format!("the task accesses no memory by its argument {at}").into());
        };
        let len = span(place);
        // SAFETY: a live buffer; `ocl` retains it.
        let mut memory = unsafe { Mem::from_raw_copied_ptr(place.buffer.cast()) };
        if place.offset != 0 {
            let (size, align) = (size_of::<T>().max(1), self.part_align()?);
            if place.offset % size != 0 || place.offset % align != 0 {
                let offset = place.offset;
                let text = format!(
                    "access {at} begins at byte {offset} of its buffer, and a buffer of the device's at multiples of {align}"
                );
                return Err(text.into());
            }
            let region = BufferRegion::<T>::new(place.offset / size, len);
            memory = ocl::core::create_sub_buffer(&memory, MemFlags::empty(), &region)?;
        }
        let mut buffer = Buffer::builder().queue(self.queue.clone()).len(len).build()?;
        *buffer = memory;
        Ok(buffer)
    }

    /// Buffers of the device's that are parts of others begin at multiples of so many bytes.
    ///
    /// # Errors
    /// The driver's.
    pub fn part_align(&self) -> ocl::Result<usize> {
        use ocl::core::{DeviceInfo, DeviceInfoResult};
        match self.device.info(DeviceInfo::MemBaseAddrAlign)? {
            DeviceInfoResult::MemBaseAddrAlign(bits) => Ok((bits as usize / 8).max(1)),
            other => Err(format!("the device says {other:?} of its buffers").into()),
        }
    }
}

/// Elements from the first that is accessed to the last.
fn span(place: &NativeMemory) -> usize {
    let [slices, rows, columns] = place.extent;
    let before = |count: usize, pitch: usize| count.saturating_sub(1) * pitch;
    before(slices, place.pitch[0]) + before(rows, place.pitch[1]) + columns
}

impl OpenClBackend {
    /// The devices of a context of the crate `ocl`, and this context in place of an own one: see
    /// [`of_context`](Self::of_context).
    ///
    /// # Errors
    /// The driver's, if it does not know the context.
    pub fn of_ocl(context: &Context) -> Result<OpenClBackend, HalError> {
        // SAFETY: a context that lives as long as `ocl`'s object.
        unsafe { OpenClBackend::of_context(context.as_ptr().cast()) }
    }
}
