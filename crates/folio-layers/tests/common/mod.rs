//! Helpers of the tests of layers.
#![allow(dead_code, reason = "each test binary uses a part")]

use folio_core::geom::Box3;
use folio_core::hal::*;
use std::cell::Cell;
use std::sync::Arc;

pub struct Rig {
    pub backend: Box<dyn Backend>,
    pub devices: Vec<Arc<dyn Device>>,
}

pub fn rig(backend: impl Backend) -> Rig {
    let n = backend.devices().unwrap().len();
    // SAFETY: tests keep the contract of the HAL, or break it where that is found out.
    let open = |i| unsafe { backend.open(i, Notify::none()) };
    let devices = (0..n).map(|i| open(i).unwrap()).collect();
    Rig { backend: Box::new(backend), devices }
}

impl Rig {
    pub fn lane(&self, device: usize) -> Arc<dyn Lane> {
        self.devices[device].lane(LaneKind::Compute, 0).unwrap()
    }

    pub fn alloc(&self, device: usize, size: u64) -> MemRef {
        let handle = self.devices[device].usm().alloc(&request(size)).unwrap().handle;
        MemRef { base: MemBase::Device { device: device as u32, handle }, offset: 0 }
    }

    pub fn free(&self, mem: MemRef) {
        let MemBase::Device { device, handle } = mem.base else { return };
        self.devices[device as usize].usm().free(handle);
    }
}

pub fn request(size: u64) -> AllocReq<'static> {
    AllocReq {
        kind: AllocKind::Device,
        size,
        align: 16,
        import: None,
        zeroed: false,
        linked: false,
        exported: false,
        label: "test",
    }
}

pub fn host(bytes: &mut [u8]) -> MemRef {
    MemRef { base: MemBase::Host(HostPtr(bytes.as_mut_ptr())), offset: 0 }
}

pub fn head<'a>(tick: Tick, waits: &'a [Wait<'a>]) -> Head<'a> {
    Head { tick, order: Order::AfterPrevious, waits, label: "op", timed: false }
}

pub fn line(src: MemRef, dst: MemRef, bytes: u64) -> CopyRect {
    let pitch = [bytes; 2];
    CopyRect { src, src_pitch: pitch, dst, dst_pitch: pitch, extent: [1, 1, bytes] }
}

pub fn run(dst: MemRef, bytes: u64) -> FillRect {
    FillRect { dst, pitch: [bytes; 2], extent: [1, 1, bytes] }
}

pub fn fill(
    lane: &Arc<dyn Lane>,
    tick: Tick,
    waits: &[Wait<'_>],
    mem: MemRef,
) -> Result<(), HalError> {
    lane.enqueue(&head(tick, waits), Op::Fill(&[run(mem, 16)], &[1]))
}

pub struct Idle;

impl BlockKernel for Idle {
    unsafe fn run(&self, _: &[ParamPtr], _: &Box3) -> Verdict {
        Ok(())
    }
}

pub fn param(mem: MemRef, write: bool, origin: usize, extent: usize) -> Param {
    let (origin, extent) = ([0, 0, origin], [1, 1, extent]);
    Param { mem, size: 4, write, dims: [1, 1, 4], origin, extent, index: [0; 3], shape: extent }
}

pub fn launch(
    lane: &Arc<dyn Lane>,
    tick: Tick,
    waits: &[Wait<'_>],
    params: &[Param],
) -> Result<(), HalError> {
    let kernel = KernelRef::Native(&Cell::new(Some(NativeKernel::new(Idle))));
    let geometry = Geometry::new(1, [1, 1, 4]);
    lane.enqueue(&head(tick, waits), Op::Launch(kernel, &geometry, Args::new(params)))
}

pub fn failures(lane: &Arc<dyn Lane>) -> Vec<Tick> {
    let mut out = Vec::new();
    lane.failures(&mut |tick, _| out.push(tick));
    out
}
