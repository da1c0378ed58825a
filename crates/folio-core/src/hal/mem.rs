//! Memory as a backend sees it: references (allocation and offset), rectangles, requests.

use std::ffi::{c_int, c_void};

/// An address in the host's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct HostPtr(pub *mut u8);

// SAFETY: a `HostPtr` is an address; whoever dereferences it answers for the access.
unsafe impl Send for HostPtr {}
// SAFETY: as above.
unsafe impl Sync for HostPtr {}

/// Where a memory reference starts counting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MemBase {
    /// Host memory, not necessarily page-locked.
    Host(HostPtr),
    /// An allocation of a device of the lane's own backend.
    Device {
        /// The device's index in [`super::Backend::devices`].
        device: u32,
        /// The handle from [`super::UsmAllocator::alloc`].
        handle: u64,
    },
}

/// A place in an allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MemRef {
    /// The allocation.
    pub base: MemBase,
    /// Bytes from its start.
    pub offset: u64,
}

/// A rectangle to copy: `extent[2]` contiguous bytes, `extent[1]` rows, `extent[0]` slices.
/// Source and destination never overlap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CopyRect {
    /// From here.
    pub src: MemRef,
    /// Bytes from one slice, and from one row, to the next in the source.
    pub src_pitch: [u64; 2],
    /// To here.
    pub dst: MemRef,
    /// Bytes from one slice, and from one row, to the next in the destination.
    pub dst_pitch: [u64; 2],
    /// Slices, rows, bytes; none is 0.
    pub extent: [u64; 3],
}

impl CopyRect {
    /// Bytes moved.
    pub fn bytes(&self) -> u64 {
        self.extent[0] * self.extent[1] * self.extent[2]
    }

    /// Rows that are apart; those that follow one another without a gap at both ends are one.
    pub fn rows(&self) -> u64 {
        let [slices, rows, bytes] = self.extent;
        let close = |d: usize, step| [self.src_pitch[d], self.dst_pitch[d]] == [step; 2];
        let rows_of_slice = if close(1, bytes) { 1 } else { rows };
        if rows_of_slice == 1 && close(0, rows * bytes) { 1 } else { slices * rows_of_slice }
    }
}

/// A rectangle to fill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FillRect {
    /// Here.
    pub dst: MemRef,
    /// Bytes from one slice, and from one row, to the next.
    pub pitch: [u64; 2],
    /// Slices, rows, bytes; none is 0.
    pub extent: [u64; 3],
}

impl FillRect {
    /// Bytes written.
    pub fn bytes(&self) -> u64 {
        self.extent[0] * self.extent[1] * self.extent[2]
    }
}

/// Which kind of unified shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AllocKind {
    /// In the device's memory.
    Device,
    /// In the host's memory, page-locked, reachable from the device.
    Host,
    /// Reachable from both, moved by the driver.
    Shared,
}

/// Who uses linked memory ([`AllocReq::linked`]), and for what.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Side {
    /// The device: the memory is not mapped.
    Device,
    /// The host reads what is mapped.
    HostReads,
    /// The host reads and writes what is mapped.
    HostWrites,
    /// The host writes all of what is mapped, whatever it held.
    HostOverwrites,
}

/// A program's hint about its use of memory. Results do not depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Hint {
    /// The lane's device is going to use it.
    Prefetch,
    /// How it is going to be used from now on.
    Advise(Advice),
}

/// How memory is going to be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Advice {
    /// Read often and written rarely, by device and host.
    ReadMostly,
    /// The memory should be on the device.
    PreferDevice,
    /// The memory should be on the host.
    PreferHost,
    /// The device uses it wherever it is.
    UsedByDevice,
    /// Takes back what was advised before.
    Nothing,
}

/// Memory that somebody else has allocated, and keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RawMemory {
    /// The host's.
    Host(HostPtr),
    /// The device's, at its address there: a `CUdeviceptr`, or a pointer to shared virtual memory
    /// of the context of OpenCL, on a device whose memory has addresses.
    Address(u64),
    /// A driver's object: a `cl_mem` of the context, a buffer.
    Object(*mut c_void),
    /// Memory that another driver of the same device has exported ([`Exported`]), as a file
    /// descriptor that is open during the call and stays the caller's.
    File {
        /// The file descriptor.
        file: c_int,
        /// [`Exported::bytes`].
        bytes: u64,
    },
}

/// A file descriptor that its owner closes; there are none on systems without.
#[cfg(unix)]
pub type ExportedFile = std::os::fd::OwnedFd;
/// A file descriptor that its owner closes; there are none on systems without.
#[cfg(not(unix))]
pub type ExportedFile = std::convert::Infallible;

/// A device's memory for other drivers of the same device. Each opened file and each allocation
/// keeps the memory.
#[derive(Debug)]
pub struct Exported {
    /// The file that the driver calls an opaque file descriptor (`VK_KHR_external_memory_fd`).
    pub file: ExportedFile,
    /// Bytes that a driver which opens it must be told. The allocation is at their start.
    pub bytes: u64,
}

/// A request for memory.
#[derive(Clone, Copy, Debug)]
pub struct AllocReq<'a> {
    /// Which kind.
    pub kind: AllocKind,
    /// Bytes; never 0.
    pub size: u64,
    /// A power of two.
    pub align: u64,
    /// Make the allocation over this memory, of `size` bytes, if that is possible. Freeing it
    /// leaves the memory with whoever has it.
    pub import: Option<RawMemory>,
    /// The memory must hold zeros when the call returns, by whatever way costs the least. Not with
    /// `import`.
    pub zeroed: bool,
    /// A memory that device and host use in turn, the device first ([`super::Op::Switch`]): of
    /// [`AllocKind::Device`], and only where [`super::Caps::links`] says so. Over memory of the
    /// host ([`import`](AllocReq::import)) the device finds what that holds.
    pub linked: bool,
    /// [`super::UsmAllocator::export`] works on it: of [`AllocKind::Device`], and only where
    /// [`super::Caps::exports`] says so.
    pub exported: bool,
    /// For people who look at the driver's objects.
    pub label: &'a str,
}

/// Memory that a device gave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allocation {
    /// Names it in [`MemBase::Device`] and [`super::UsmAllocator::free`].
    pub handle: u64,
    /// The address that programs know it by, where it has one: on the device, or on the host of
    /// [`AllocKind::Host`] and [`AllocKind::Shared`], where these differ. Of linked memory it
    /// counts only if it is that of [`host`](Allocation::host), too. Such a device and the host
    /// find there what the other has written: once a program has the address, the host uses the
    /// memory without a [switch](super::Op::Switch).
    pub address: Option<u64>,
    /// Its address on the host, where the host can reach it; of linked memory, where it is mapped.
    pub host: Option<HostPtr>,
    /// The memory holds zeros, asked for or not.
    pub zeroed: bool,
}

/// How much memory a device has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct MemoryInfo {
    /// All of it.
    pub total: u64,
    /// Allocated through this allocator.
    pub in_use: u64,
}

/// The memory that a pointer points to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PointerInfo {
    /// Which kind of memory.
    pub kind: AllocKind,
    /// The allocation's handle.
    pub handle: u64,
    /// Bytes from the allocation's start.
    pub offset: u64,
    /// The allocation's size in bytes.
    pub size: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(src_pitch: [u64; 2], dst_pitch: [u64; 2], extent: [u64; 3]) -> u64 {
        let place = MemRef { base: MemBase::Host(HostPtr(std::ptr::null_mut())), offset: 0 };
        CopyRect { src: place, src_pitch, dst: place, dst_pitch, extent }.rows()
    }

    /// XFER-04: rows count as one where they are one piece of memory at both ends.
    #[test]
    fn rows_that_touch_are_one() {
        let close = [50, 10];
        assert_eq!(rows(close, close, [3, 5, 10]), 1);
        assert_eq!(rows(close, close, [3, 4, 10]), 3, "slices have gaps");
        assert_eq!(rows(close, close, [3, 5, 9]), 15, "rows have gaps");
        assert_eq!(rows(close, [60, 10], [3, 5, 10]), 3, "slices have gaps at one end");
        assert_eq!(rows([55, 11], close, [3, 5, 10]), 15, "rows have gaps at one end");
        assert_eq!(rows([100, 100], [7, 7], [1, 1, 10]), 1, "there is one");
        assert_eq!(rows([10, 100], [10, 7], [3, 1, 10]), 1, "one in each slice, and they touch");
    }
}
