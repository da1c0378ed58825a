//! Copies of rectangles, as few calls of the driver as they need.

use crate::driver::{Context, call, present};
use crate::host::Job;
use crate::memory::location;
use crate::pageable::Staging;
use crate::way::Way;
use cudarc::driver::sys::{self, CUmemorytype, CUresult};
use folio_core::hal::{CopyRect, HalError, HostPtr, MemBase, MemRef};
use folio_driver::host::Rows;
use folio_driver::rect::{Rect, span};
use std::ptr::{null, null_mut};

/// The greatest pitch of the driver's own rectangles.
const MAX_PITCH: u64 = (1 << 31) - 1;

/// Where memory is, as the driver sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum CopyEnd {
    /// The driver reaches it by its address.
    Reached(u64),
    /// Page-locked memory of the host: the same, and the host reaches it, too.
    Locked(u64),
    /// Memory of the host that may be paged out.
    Pageable(HostPtr),
}

impl CopyEnd {
    /// Of `bytes` bytes from here on.
    pub(crate) fn of(mem: MemRef, bytes: u64) -> CopyEnd {
        match mem.base {
            MemBase::Device { handle, .. } => CopyEnd::Reached(handle + mem.offset),
            MemBase::Host(HostPtr(at)) => {
                let at = at.wrapping_add(mem.offset as usize);
                let address = at.expose_provenance() as u64;
                match is_known(address) && is_known(address + bytes.saturating_sub(1)) {
                    true => CopyEnd::Locked(address),
                    false => CopyEnd::Pageable(HostPtr(at)),
                }
            }
        }
    }

    fn on_host(self) -> Option<HostPtr> {
        match self {
            CopyEnd::Reached(_) => None,
            CopyEnd::Locked(at) => {
                Some(HostPtr(std::ptr::with_exposed_provenance_mut(at as usize)))
            }
            CopyEnd::Pageable(at) => Some(at),
        }
    }
}

/// The driver has page-locked, or manages, this address.
fn is_known(address: u64) -> bool {
    let mut kind: u32 = 0;
    let which = sys::CUpointer_attribute::CU_POINTER_ATTRIBUTE_MEMORY_TYPE;
    // SAFETY: a place for the answer; any address may be asked for.
    let result = unsafe { sys::cuPointerGetAttribute((&raw mut kind).cast(), which, address) };
    result == CUresult::CUDA_SUCCESS
}

/// Puts a rectangle between two addresses that the driver reaches where it goes, in the current
/// context.
///
/// # Safety
/// When it is its turn, the memory is live and nobody else uses it against its mode.
pub(crate) unsafe fn enqueue_rect(
    rect: &Rect,
    context: &Context,
    way: Way<'_>,
) -> Result<(), HalError> {
    let rect = rect.joined();
    let [slices, rows, bytes] = rect.extent;
    if slices == 1 && rows == 1 {
        // SAFETY: the caller's promise.
        return unsafe { way.copy(context, &plain(&rect, [bytes; 2], [1; 2])) };
    }
    let [src, dst] = [rect.src_pitch, rect.dst_pitch];
    if src[1].max(dst[1]) > MAX_PITCH {
        for (slice, row) in (0..slices).flat_map(|s| (0..rows).map(move |r| (s, r))) {
            let one = rect.slice(slice);
            let (src, dst) = (one.src + row * src[1], one.dst + row * dst[1]);
            // SAFETY: the caller's promise, for one row.
            unsafe {
                enqueue_rect(&Rect { src, dst, extent: [1, 1, bytes], ..one }, context, way)?
            };
        }
        return Ok(());
    }
    // The driver wants slices to be whole rows apart.
    let even = |pitch: [u64; 2]| pitch[0].is_multiple_of(pitch[1]);
    if slices > 1 && !(even(src) && even(dst)) {
        // SAFETY: the caller's promise, for one slice.
        return (0..slices)
            .try_for_each(|at| unsafe { enqueue_rect(&rect.slice(at), context, way) });
    }
    let height = |pitch: [u64; 2]| if slices > 1 { pitch[0] / pitch[1] } else { rows };
    let heights = [height(src), height(dst)];
    // SAFETY: the caller's promise.
    unsafe { way.copy(context, &plain(&rect, [src[1], dst[1]], heights)) }
}

/// As the driver has it: with the pitch of rows, and rows from slice to slice, at the source
/// and at the destination.
fn plain(rect: &Rect, pitch: [u64; 2], height: [u64; 2]) -> sys::CUDA_MEMCPY3D {
    let [slices, rows, bytes] = rect.extent;
    sys::CUDA_MEMCPY3D {
        srcMemoryType: CUmemorytype::CU_MEMORYTYPE_UNIFIED,
        srcDevice: rect.src,
        srcPitch: pitch[0] as usize,
        srcHeight: height[0] as usize,
        dstMemoryType: CUmemorytype::CU_MEMORYTYPE_UNIFIED,
        dstDevice: rect.dst,
        dstPitch: pitch[1] as usize,
        dstHeight: height[1] as usize,
        WidthInBytes: bytes as usize,
        Height: rows as usize,
        Depth: slices as usize,
        // Of no meaning here, or not used.
        srcXInBytes: 0,
        srcY: 0,
        srcZ: 0,
        srcLOD: 0,
        srcHost: null(),
        srcArray: null_mut(),
        reserved0: null_mut(),
        dstXInBytes: 0,
        dstY: 0,
        dstZ: 0,
        dstLOD: 0,
        dstHost: null_mut(),
        dstArray: null_mut(),
        reserved1: null_mut(),
    }
}

/// Rows that the driver copies in one call.
#[derive(Debug, Default, PartialEq)]
struct Batch {
    src: Vec<u64>,
    dst: Vec<u64>,
    bytes: Vec<usize>,
}

/// From so many copies on one call is worth it.
const MANY: usize = 4;

impl Batch {
    /// Copies that are rows between addresses which the driver reaches; none if one of them is not.
    fn of(copies: &[CopyRect]) -> Option<Batch> {
        let mut batch = Batch::default();
        for copy in copies {
            let &CopyRect { src_pitch, dst_pitch, extent, .. } = copy;
            let (src, dst) = match (
                CopyEnd::of(copy.src, span(src_pitch, extent)),
                CopyEnd::of(copy.dst, span(dst_pitch, extent)),
            ) {
                (CopyEnd::Reached(src), CopyEnd::Reached(dst) | CopyEnd::Locked(dst))
                | (CopyEnd::Locked(src), CopyEnd::Reached(dst)) => (src, dst),
                _ => return None,
            };
            let rect = Rect { src, src_pitch, dst, dst_pitch, extent }.joined();
            let [1, 1, bytes] = rect.extent else { return None };
            batch.src.push(src);
            batch.dst.push(dst);
            batch.bytes.push(bytes as usize);
        }
        Some(batch)
    }

    /// # Safety
    /// As [`enqueue`]; the driver has the call.
    unsafe fn enqueue(&mut self, context: &Context, stream: sys::CUstream) -> Result<(), HalError> {
        let nowhere = || location(sys::CUmemLocationType::CU_MEM_LOCATION_TYPE_INVALID, 0);
        let mut how = sys::CUmemcpyAttributes {
            srcAccessOrder: sys::CUmemcpySrcAccessOrder::CU_MEMCPY_SRC_ACCESS_ORDER_STREAM,
            srcLocHint: nowhere(),
            dstLocHint: nowhere(),
            flags: 0,
        };
        // All of them, from the first on.
        let mut from = 0;
        let Batch { src, dst, bytes } = self;
        let (src, dst, bytes, count) =
            (src.as_mut_ptr(), dst.as_mut_ptr(), bytes.as_mut_ptr(), src.len());
        // SAFETY: as many addresses and lengths, which the driver copies; the caller's promise for
        // what is there.
        let result = call("cuMemcpyBatchAsync", || unsafe {
            sys::cuMemcpyBatchAsync_v2(
                dst,
                src,
                bytes,
                count,
                &raw mut how,
                &raw mut from,
                1,
                stream,
            )
        });
        context.check("cuMemcpyBatchAsync", result)
    }
}

/// Puts copies, all of which may run at once, where they go, in the current context: in one call,
/// if there are many and the driver has one for such.
///
/// # Safety
/// As [`enqueue`].
pub(crate) unsafe fn enqueue_all(
    context: &Context,
    stream: sys::CUstream,
    staging: &Staging,
    copies: &[CopyRect],
) -> Result<(), HalError> {
    if copies.len() >= MANY
        && present().is_ok_and(|has| has.batches)
        && let Some(mut batch) = Batch::of(copies)
        // SAFETY: the caller's promise.
        && unsafe { batch.enqueue(context, stream) }.is_ok()
    {
        return Ok(());
    }
    // The driver may do copies one by one that it refuses to do together, once more where it has
    // begun.
    copies.iter().try_for_each(|copy| {
        // SAFETY: the caller's promise.
        unsafe { enqueue(context, Way::Stream(stream), Some(staging), copy) }
    })
}

/// Puts a copy where it goes, in the current context, whatever memory it is between.
///
/// # Safety
/// When it is its turn, the memory is live and nobody else uses it against its mode.
pub(crate) unsafe fn enqueue(
    context: &Context,
    way: Way<'_>,
    staging: Option<&Staging>,
    copy: &CopyRect,
) -> Result<(), HalError> {
    let &CopyRect { src_pitch, dst_pitch, extent, .. } = copy;
    let src = CopyEnd::of(copy.src, span(src_pitch, extent));
    let dst = CopyEnd::of(copy.dst, span(dst_pitch, extent));
    let rect = |src, dst| Rect { src, src_pitch, dst, dst_pitch, extent };
    let pageable = || {
        let stream = way.stream("copies of memory that is not page-locked")?;
        staging.map(|staging| (staging, stream)).ok_or_else(|| HalError::unsupported("staging"))
    };
    // SAFETY: the caller's promise, in each case.
    unsafe {
        if let (Some(from), Some(to)) = (src.on_host(), dst.on_host()) {
            let (from, to) =
                (Rows { at: from, pitch: src_pitch }, Rows { at: to, pitch: dst_pitch });
            let stream = way.stream("copies within the host's memory")?;
            return Job::Copy { from, to, extent }.enqueue(context, stream);
        }
        match (src, dst) {
            (CopyEnd::Pageable(from), CopyEnd::Reached(to) | CopyEnd::Locked(to)) => {
                let (staging, stream) = pageable()?;
                staging.upload(stream, from, &rect(0, to).joined())
            }
            (CopyEnd::Reached(from) | CopyEnd::Locked(from), CopyEnd::Pageable(to)) => {
                let (staging, stream) = pageable()?;
                staging.download(stream, &rect(from, 0).joined(), to)
            }
            (
                CopyEnd::Reached(from) | CopyEnd::Locked(from),
                CopyEnd::Reached(to) | CopyEnd::Locked(to),
            ) => enqueue_rect(&rect(from, to), context, way),
            // Both are the host's: done above.
            (CopyEnd::Pageable(_), CopyEnd::Pageable(_)) => Ok(()),
        }
    }
}
