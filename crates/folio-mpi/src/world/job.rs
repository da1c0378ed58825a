//! An operation, from when it is given to a lane of the world until it has ended.

use super::commands::Key;
use super::device::{Place, place_of};
use super::note::LaneName;
use folio_core::hal::*;
use std::cell::Cell;

/// An operation of a lane.
pub(crate) struct Job {
    pub(crate) tick: Tick,
    pub(crate) key: Key,
    pub(crate) order: Order,
    pub(crate) waits: Vec<(LaneName, Tick)>,
    pub(crate) label: Box<str>,
    pub(crate) work: Work,
}

/// Its action.
pub(crate) enum Work {
    /// The device's own lane does it.
    Own(OwnedOp),
    /// The conductor copies, sends and receives, all of it at once if it can.
    Copies(Copies),
    /// A launch elsewhere, whose rank tells when it has ended.
    Verdict,
}

/// An operation of a device's own lane, with all that it names.
pub(crate) enum OwnedOp {
    Copy(Box<[CopyRect]>),
    Fill(Box<[FillRect]>, Box<[u8]>),
    Launch(Box<OwnedLaunch>),
    Join,
}

pub(crate) struct OwnedLaunch {
    pub(crate) kernel: OwnedKernel,
    pub(crate) geometry: Geometry,
    pub(crate) params: Vec<Param>,
    pub(crate) blob: Vec<u8>,
    pub(crate) proved: bool,
}

pub(crate) enum OwnedKernel {
    Loaded(KernelHandle),
    Native(Cell<Option<NativeKernel>>),
}

impl OwnedOp {
    /// Gives it to a lane; what the lane has not taken of it stays.
    pub(crate) fn give(&self, lane: &dyn Lane, head: &Head<'_>) -> Result<(), HalError> {
        match self {
            OwnedOp::Copy(rects) => lane.enqueue(head, Op::Copy(rects)),
            OwnedOp::Fill(rects, pattern) => lane.enqueue(head, Op::Fill(rects, pattern)),
            OwnedOp::Join => lane.enqueue(head, Op::Join),
            OwnedOp::Launch(launch) => {
                let OwnedLaunch { kernel, geometry, params, blob, proved } = &**launch;
                let args = Args { blob, params, proved: *proved, arguments: &[] };
                let kernel = match kernel {
                    OwnedKernel::Loaded(handle) => KernelRef::Loaded(*handle),
                    OwnedKernel::Native(cell) => KernelRef::Native(cell),
                };
                lane.enqueue(head, Op::Launch(kernel, geometry, args))
            }
        }
    }

    /// The kernel that a lane has not taken.
    pub(crate) fn left(self) -> Option<NativeKernel> {
        match self {
            OwnedOp::Launch(launch) => match launch.kernel {
                OwnedKernel::Native(cell) => cell.into_inner(),
                OwnedKernel::Loaded(_) => None,
            },
            _ => None,
        }
    }
}

/// A copy, as this rank takes part in it.
#[derive(Default)]
pub(crate) struct Copies {
    /// Within this rank's devices, and between these and the host, by devices of the rank.
    pub(crate) local: Vec<CopyRect>,
    pub(crate) sent: Vec<Sent>,
    pub(crate) received: Vec<Received>,
}

/// Memory of a device here that goes to other ranks.
pub(crate) struct Sent {
    /// To all others, if no rank is named.
    pub(crate) to: Option<Rank>,
    pub(crate) device: u32,
    pub(crate) rects: Vec<CopyRect>,
}

/// Memory of another rank that comes here.
pub(crate) struct Received {
    pub(crate) from: Rank,
    /// To a device here, or to the host.
    pub(crate) device: Option<u32>,
    pub(crate) rects: Vec<CopyRect>,
}

/// How rank `me` takes part in copies of these rectangles, where each rank has `each` devices.
pub(crate) fn copies_of(rects: &[CopyRect], me: Rank, each: u32) -> Copies {
    let mut all = Copies::default();
    for rect in rects {
        let (src, dst) = (place_of(&rect.src, me, each), place_of(&rect.dst, me, each));
        let here = |memory: MemRef, place: Place| match (place, memory.base) {
            (Place::Here(device), MemBase::Device { handle, .. }) => {
                MemRef { base: MemBase::Device { device, handle }, ..memory }
            }
            _ => memory,
        };
        let rect = CopyRect { src: here(rect.src, src), dst: here(rect.dst, dst), ..*rect };
        match (src, dst) {
            (Place::There(_), Place::There(_)) | (Place::Host, Place::There(_)) => {}
            (Place::Here(_) | Place::Host, Place::Here(_)) | (Place::Host, Place::Host) => {
                all.local.push(rect);
            }
            (Place::Here(device), Place::There(rank)) => all.send(Some(rank), device, rect),
            (Place::Here(device), Place::Host) => {
                all.local.push(rect);
                all.send(None, device, rect);
            }
            (Place::There(from), Place::Here(device)) => all.receive(from, Some(device), rect),
            (Place::There(from), Place::Host) => all.receive(from, None, rect),
        }
    }
    all
}

impl Copies {
    fn send(&mut self, to: Option<Rank>, device: u32, rect: CopyRect) {
        let same = |sent: &&mut Sent| sent.to == to && sent.device == device;
        match self.sent.iter_mut().find(same) {
            Some(sent) => sent.rects.push(rect),
            None => self.sent.push(Sent { to, device, rects: vec![rect] }),
        }
    }

    fn receive(&mut self, from: Rank, device: Option<u32>, rect: CopyRect) {
        let same = |one: &&mut Received| one.from == from && one.device == device;
        match self.received.iter_mut().find(same) {
            Some(one) => one.rects.push(rect),
            None => self.received.push(Received { from, device, rects: vec![rect] }),
        }
    }
}

/// Bytes of all rectangles.
pub(crate) fn bytes_of(rects: &[CopyRect]) -> usize {
    rects.iter().map(|rect| rect.bytes() as usize).sum()
}

/// The same copies, with dense memory of the host, rectangle after rectangle, as their destination.
pub(crate) fn packing(rects: &[CopyRect], memory: &mut [u8]) -> Vec<CopyRect> {
    dense(rects, memory, |rect, at, pitch| CopyRect { dst: at, dst_pitch: pitch, ..*rect })
}

/// The same, with such memory as their source.
pub(crate) fn unpacking(rects: &[CopyRect], memory: &mut [u8]) -> Vec<CopyRect> {
    dense(rects, memory, |rect, at, pitch| CopyRect { src: at, src_pitch: pitch, ..*rect })
}

fn dense(
    rects: &[CopyRect],
    memory: &mut [u8],
    with: impl Fn(&CopyRect, MemRef, [u64; 2]) -> CopyRect,
) -> Vec<CopyRect> {
    let base = MemBase::Host(HostPtr(memory.as_mut_ptr()));
    let mut offset = 0;
    let place = |rect: &CopyRect| {
        let [_, rows, bytes] = rect.extent;
        let made = with(rect, MemRef { base, offset }, [rows * bytes, bytes]);
        offset += rect.bytes();
        made
    };
    rects.iter().map(place).collect()
}

/// Copies memory of the host.
///
/// # Safety
/// All of it is live, and no other thread uses it against its mode.
pub(crate) unsafe fn copy_on_host(rect: &CopyRect) {
    let start = |memory: &MemRef| match memory.base {
        MemBase::Host(HostPtr(base)) => base.wrapping_add(memory.offset as usize),
        MemBase::Device { .. } => std::ptr::null_mut(),
    };
    let (src, dst) = (start(&rect.src), start(&rect.dst));
    if src.is_null() || dst.is_null() {
        return;
    }
    let [slices, rows, bytes] = rect.extent;
    for slice in 0..slices {
        for row in 0..rows {
            let at = |pitch: [u64; 2]| (slice * pitch[0] + row * pitch[1]) as usize;
            let (from, to) =
                (src.wrapping_add(at(rect.src_pitch)), dst.wrapping_add(at(rect.dst_pitch)));
            // SAFETY: the caller's promise; the engine gives rectangles within allocations.
            unsafe { std::ptr::copy(from, to, bytes as usize) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn on(device: u32) -> MemRef {
        MemRef { base: MemBase::Device { device, handle: 7 }, offset: 8 }
    }

    fn host() -> MemRef {
        MemRef { base: MemBase::Host(HostPtr(std::ptr::null_mut())), offset: 0 }
    }

    fn rect(src: MemRef, dst: MemRef) -> CopyRect {
        CopyRect { src, src_pitch: [64, 16], dst, dst_pitch: [64, 16], extent: [1, 2, 8] }
    }

    /// What a copy is on rank 1 of worlds with two devices each: local, sent, received.
    fn kinds(src: MemRef, dst: MemRef) -> [usize; 3] {
        let all = copies_of(&[rect(src, dst); 2], 1, 2);
        [all.local.len(), all.sent.len(), all.received.len()]
    }

    #[test]
    fn copies_are_messages_between_ranks_alone() {
        assert_eq!(kinds(on(2), on(3)), [2, 0, 0]);
        assert_eq!(kinds(host(), on(3)), [2, 0, 0]);
        assert_eq!(kinds(host(), on(0)), [0, 0, 0]);
        assert_eq!(kinds(on(0), on(4)), [0, 0, 0]);
        assert_eq!(kinds(on(0), on(2)), [0, 0, 1]);
        assert_eq!(kinds(on(2), on(0)), [0, 1, 0]);
        assert_eq!(kinds(on(5), host()), [0, 0, 1]);
        assert_eq!(kinds(on(2), host()), [2, 1, 0]);
    }

    #[test]
    fn devices_here_have_their_own_numbers() {
        let all = copies_of(&[rect(on(3), on(0))], 1, 2);
        let sent = &all.sent[0];
        assert_eq!((sent.to, sent.device), (Some(0), 1));
        assert_eq!(sent.rects[0].src.base, MemBase::Device { device: 1, handle: 7 });
    }

    #[test]
    fn rows_are_packed_one_after_the_other() {
        let from: Vec<u8> = (0..64).collect();
        let memory = |at: &[u8], offset| {
            let base = MemBase::Host(HostPtr(at.as_ptr().cast_mut()));
            MemRef { base, offset }
        };
        let extent = [2, 2, 3];
        let one = CopyRect {
            src: memory(&from, 1),
            src_pitch: [32, 8],
            dst: host(),
            dst_pitch: [0; 2],
            extent,
        };
        let two = CopyRect { src: memory(&from, 20), extent: [1, 1, 2], ..one };
        let mut packed = vec![0; bytes_of(&[one, two])];
        for rect in packing(&[one, two], &mut packed) {
            // SAFETY: both are arrays of this test, large enough.
            unsafe { copy_on_host(&rect) };
        }
        assert_eq!(packed, [1, 2, 3, 9, 10, 11, 33, 34, 35, 41, 42, 43, 20, 21]);
        let mut back = vec![0u8; 64];
        let mut place = |rect: CopyRect, offset| CopyRect {
            dst: MemRef { base: MemBase::Host(HostPtr(back.as_mut_ptr())), offset },
            dst_pitch: [32, 8],
            ..rect
        };
        let (one, two) = (place(one, 1), CopyRect { dst: memory(&[], 0), ..two });
        let two = CopyRect { dst: MemRef { offset: 20, ..one.dst }, ..two };
        for rect in unpacking(&[one, two], &mut packed) {
            // SAFETY: as above.
            unsafe { copy_on_host(&rect) };
        }
        let same = [1, 2, 3, 9, 10, 11, 33, 34, 35, 41, 42, 43, 20, 21];
        assert!(same.iter().all(|at| back[*at as usize] == *at), "{back:?}");
        assert_eq!(back.iter().filter(|byte| **byte != 0).count(), same.len());
    }
}
