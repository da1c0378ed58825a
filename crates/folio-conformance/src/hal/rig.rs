//! Helpers of tests: opened devices, memory that frees itself, queues that count ticks.

pub(super) use crate::suite::{Outcome, Stop, ensure, unsupported};
use folio_core::geom::Box3;
use folio_core::hal::{
    AllocKind, AllocReq, Allocation, Args, Backend, BlockKernel, CopyRect, Device, FillRect,
    Geometry, Graph, HalError, Head, Hint, HostPtr, KernelRef, Lane, LaneKind, Lost, MemBase,
    MemRef, NativeKernel, Notify, Op, Order, Param, ParamPtr, Side, Tick, Verdict, Wait,
};
use std::cell::Cell;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long anything may take before the test calls it a hang.
pub(super) const PATIENCE: Duration = Duration::from_secs(30);

impl From<HalError> for Stop {
    fn from(error: HalError) -> Stop {
        Stop::Failed(error.to_string())
    }
}

impl From<Lost> for Stop {
    fn from(lost: Lost) -> Stop {
        HalError::from(lost).into()
    }
}

/// A backend with all its devices open.
pub(super) struct Rig {
    pub(super) devices: Vec<Arc<dyn Device>>,
    /// Shared by all devices; does nothing until a test arms it.
    pub(super) notify: Notify,
    pub(super) told: std::sync::mpsc::Receiver<()>,
    _backend: Box<dyn Backend>,
}

impl Rig {
    pub(super) fn open(backend: Box<dyn Backend>) -> Result<Rig, Stop> {
        let infos = backend.devices().map_err(|why| Stop::Unsupported(why.reason))?;
        let (tell, told) = std::sync::mpsc::channel();
        let notify = Notify::new(move || {
            // Nobody listens any more: the test is over.
            let _ = tell.send(());
        });
        // SAFETY: the suite keeps the contract.
        let open = |i| unsafe { backend.open(i, notify.clone()) };
        let devices = (0..infos.len()).map(open).collect::<Result<_, _>>()?;
        Ok(Rig { devices, notify, told, _backend: backend })
    }

    pub(super) fn device(&self, index: usize) -> Result<Seat<'_>, Stop> {
        let Some(device) = self.devices.get(index) else {
            return Err(Stop::Unsupported(format!("there is no device {index}")));
        };
        Ok(Seat { index: index as u32, device })
    }

    /// Every device; a test on all of them.
    pub(super) fn each(&self, mut test: impl FnMut(Seat<'_>) -> Outcome) -> Outcome {
        ensure!(!self.devices.is_empty(), "no devices");
        (0..self.devices.len()).try_for_each(|i| test(self.device(i)?))
    }

    /// Every device that runs closures.
    pub(super) fn each_with_closures(&self, mut test: impl FnMut(Seat<'_>) -> Outcome) -> Outcome {
        if !self.devices.iter().any(|d| d.info().caps.closures) {
            return unsupported("closures");
        }
        self.each(|seat| if seat.device.info().caps.closures { test(seat) } else { Ok(()) })
    }
}

/// A device and its index.
#[derive(Clone, Copy)]
pub(super) struct Seat<'a> {
    pub(super) index: u32,
    pub(super) device: &'a Arc<dyn Device>,
}

impl<'a> Seat<'a> {
    pub(super) fn queue(&self, kind: LaneKind) -> Result<Queue, Stop> {
        Ok(Queue { lane: self.device.lane(kind, 0)?, last: 0 })
    }

    pub(super) fn memory(&self, size: u64) -> Result<Memory<'a>, Stop> {
        self.memory_of(AllocKind::Device, size)
    }

    pub(super) fn memory_of(&self, kind: AllocKind, size: u64) -> Result<Memory<'a>, Stop> {
        let (align, label) = (64, "conformance");
        self.memory_for(&AllocReq {
            kind,
            size,
            align,
            import: None,
            zeroed: false,
            linked: false,
            exported: false,
            label,
        })
    }

    pub(super) fn memory_for(&self, req: &AllocReq<'_>) -> Result<Memory<'a>, Stop> {
        Ok(Memory { seat: *self, given: self.device.usm().alloc(req)?, size: req.size })
    }
}

/// An allocation that frees itself. Declare it before the queues that use it.
pub(super) struct Memory<'a> {
    seat: Seat<'a>,
    pub(super) given: Allocation,
    pub(super) size: u64,
}

impl Memory<'_> {
    pub(super) fn at(&self, offset: u64) -> MemRef {
        let base = MemBase::Device { device: self.seat.index, handle: self.given.handle };
        MemRef { base, offset }
    }

    /// As a parameter of `u32`s of this shape.
    pub(super) fn param(&self, dims: [usize; 3], write: bool) -> Param {
        Param {
            mem: self.at(0),
            size: 4,
            write,
            dims,
            origin: [0; 3],
            extent: dims,
            index: [0; 3],
            shape: dims,
        }
    }
}

impl Drop for Memory<'_> {
    fn drop(&mut self) {
        self.seat.device.usm().free(self.given.handle);
    }
}

/// A lane whose ticks are counted. Waits for its work when it goes.
pub(super) struct Queue {
    pub(super) lane: Arc<dyn Lane>,
    pub(super) last: Tick,
}

impl Queue {
    /// A head for the next tick, with these waits.
    fn head<'h>(&mut self, waits: &'h [Wait<'h>], order: Order) -> Head<'h> {
        self.last += 1;
        Head { tick: self.last, order, waits, label: "conformance", timed: true }
    }

    pub(super) fn copy(
        &mut self,
        waits: &[(&Queue, Tick)],
        rects: &[CopyRect],
    ) -> Result<(), HalError> {
        let waits = to_waits(waits);
        let head = self.head(&waits, Order::AfterPrevious);
        self.lane.enqueue(&head, Op::Copy(rects))
    }

    pub(super) fn copy_free(
        &mut self,
        waits: &[Wait<'_>],
        rects: &[CopyRect],
    ) -> Result<(), HalError> {
        let head = self.head(waits, Order::Free);
        self.lane.enqueue(&head, Op::Copy(rects))
    }

    pub(super) fn fill(&mut self, rects: &[FillRect], pattern: &[u8]) -> Result<(), HalError> {
        let head = self.head(&[], Order::AfterPrevious);
        self.lane.enqueue(&head, Op::Fill(rects, pattern))
    }

    pub(super) fn launch(
        &mut self,
        waits: &[(&Queue, Tick)],
        kernel: impl BlockKernel,
        geometry: &Geometry,
        params: &[Param],
    ) -> Result<(), HalError> {
        let kernel = Cell::new(Some(NativeKernel::new(kernel)));
        self.launch_ref(waits, KernelRef::Native(&kernel), geometry, params)
    }

    pub(super) fn launch_ref(
        &mut self,
        waits: &[(&Queue, Tick)],
        kernel: KernelRef<'_>,
        geometry: &Geometry,
        params: &[Param],
    ) -> Result<(), HalError> {
        let waits = to_waits(waits);
        let head = self.head(&waits, Order::AfterPrevious);
        self.lane.enqueue(&head, Op::Launch(kernel, geometry, Args::new(params)))
    }

    pub(super) fn replay(
        &mut self,
        waits: &[(&Queue, Tick)],
        graph: &Arc<dyn Graph>,
    ) -> Result<(), HalError> {
        let waits = to_waits(waits);
        let head = self.head(&waits, Order::AfterPrevious);
        self.lane.enqueue(&head, Op::Replay(graph))
    }

    pub(super) fn hint(&mut self, at: MemRef, bytes: u64, hint: Hint) -> Result<(), HalError> {
        let head = self.head(&[], Order::AfterPrevious);
        self.lane.enqueue(&head, Op::Hint(at, bytes, hint))
    }

    /// Switches all of linked memory, and waits.
    pub(super) fn switch(&mut self, memory: &Memory<'_>, to: Side) -> Outcome {
        let head = self.head(&[], Order::AfterPrevious);
        self.lane.enqueue(&head, Op::Switch(memory.at(0), memory.size, to))?;
        self.finish()
    }

    /// Copies `bytes` to the memory, from its start, and waits.
    pub(super) fn write(&mut self, to: &Memory<'_>, bytes: &[u8]) -> Outcome {
        self.copy(&[], &[line(host(bytes), to.at(0), bytes.len() as u64)])?;
        self.finish()
    }

    /// The whole memory, when everything so far has ended.
    pub(super) fn read(&mut self, from: &Memory<'_>) -> Result<Vec<u8>, Stop> {
        let mut out = vec![0; from.size as usize];
        self.copy(&[], &[line(from.at(0), host_mut(&mut out), from.size)])?;
        self.finish()?;
        Ok(out)
    }

    /// Waits for everything so far.
    pub(super) fn finish(&self) -> Outcome {
        let ended = self.lane.wait(self.last, Some(Instant::now() + PATIENCE))?;
        ensure!(ended, "tick {} was not reached in {PATIENCE:?}", self.last);
        Ok(())
    }

    pub(super) fn failures(&self) -> Vec<(Tick, HalError)> {
        let mut out = Vec::new();
        self.lane.failures(&mut |tick, error| out.push((tick, error)));
        out
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        // Memory must not go under the device; a failure of this wait was reported before.
        let _ = self.finish();
    }
}

fn to_waits<'a>(waits: &[(&'a Queue, Tick)]) -> Vec<Wait<'a>> {
    waits.iter().map(|&(queue, tick)| Wait { lane: &queue.lane, tick }).collect()
}

/// The host's memory at `bytes`, to read from.
pub(super) fn host(bytes: &[u8]) -> MemRef {
    MemRef { base: MemBase::Host(HostPtr(bytes.as_ptr().cast_mut())), offset: 0 }
}

/// The host's memory at `bytes`, to write to.
pub(super) fn host_mut(bytes: &mut [u8]) -> MemRef {
    MemRef { base: MemBase::Host(HostPtr(bytes.as_mut_ptr())), offset: 0 }
}

/// A contiguous copy.
pub(super) fn line(src: MemRef, dst: MemRef, bytes: u64) -> CopyRect {
    let pitch = [bytes; 2];
    CopyRect { src, src_pitch: pitch, dst, dst_pitch: pitch, extent: [1, 1, bytes] }
}

/// A contiguous fill.
pub(super) fn run(dst: MemRef, bytes: u64) -> FillRect {
    FillRect { dst, pitch: [bytes; 2], extent: [1, 1, bytes] }
}

/// Bytes that differ from their neighbours and from fresh memory.
pub(super) fn noise(n: u64, seed: u8) -> Vec<u8> {
    (0..n).map(|i| (i.wrapping_mul(31) as u8) ^ ((i >> 8) as u8) ^ seed).collect()
}

/// A kernel that sets each `u32` of its first parameter to `f(old, index)`.
pub(super) struct Map<F>(pub(super) F);

impl<F: Fn(u32, usize) -> u32 + Send + Sync + 'static> BlockKernel for Map<F> {
    unsafe fn run(&self, params: &[ParamPtr], block: &Box3) -> Verdict {
        let Some(p) = params.first() else { return Ok(()) };
        for cell in block.cells() {
            let at = std::array::from_fn(|d| p.origin[d] + cell[d]);
            let index = folio_core::geom::linear(p.dims, at);
            // SAFETY: the launch's range is the parameter's extent, which lies in its shape.
            unsafe {
                let place = p.base.cast::<u32>().add(index);
                place.write((self.0)(place.read(), index));
            }
        }
        Ok(())
    }
}

/// The launch of one item per element of `dims`.
pub(super) fn geometry(dims: [usize; 3]) -> Geometry {
    let rank = if dims[0] > 1 {
        3
    } else if dims[1] > 1 {
        2
    } else {
        1
    };
    Geometry::new(rank, dims)
}
