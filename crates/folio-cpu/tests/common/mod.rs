//! Helpers of the tests: closures as kernels, and lanes that count their own ticks.
#![allow(dead_code, reason = "each test binary uses a part")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "test support")]

use folio_core::geom::Dims;
use folio_core::hal::{
    Args, Backend, Block, BlockKernel, Device, Geometry, HalError, Head, HostPtr, KernelRef, Lane,
    LaneKind, MemBase, MemRef, NativeKernel, Notify, Op, Order, Param, ParamPtr, Tick, Verdict,
    Wait,
};
use folio_cpu::CpuBackend;
use std::cell::Cell;
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

/// After this a test has hung.
pub const HUNG: Duration = Duration::from_secs(30);

pub struct Body<F>(pub F);

impl<F: Fn(&[ParamPtr], &Block) + Send + Sync + 'static> BlockKernel for Body<F> {
    unsafe fn run(&self, params: &[ParamPtr], block: &Block) -> Verdict {
        (self.0)(params, block);
        Ok(())
    }
}

pub fn kernel(f: impl Fn(&[ParamPtr], &Block) + Send + Sync + 'static) -> NativeKernel {
    NativeKernel::new(Body(f))
}

pub fn geometry(range: Dims) -> Geometry {
    Geometry::new(3, range)
}

pub const ONE: Dims = [1; 3];

pub fn backend(threads: usize) -> CpuBackend {
    CpuBackend::builder().threads(threads).build().unwrap()
}

pub fn device(backend: &CpuBackend, index: usize) -> Arc<dyn Device> {
    // SAFETY: tests keep the contract of the HAL.
    unsafe { backend.open(index, Notify::none()) }.unwrap()
}

/// A lane and the tick of its last operation.
pub struct Script {
    pub lane: Arc<dyn Lane>,
    pub tick: Tick,
    pub timed: bool,
}

impl Script {
    pub fn new(device: &Arc<dyn Device>) -> Script {
        Script { lane: device.lane(LaneKind::Compute, 0).unwrap(), tick: 0, timed: false }
    }

    /// Calls `enqueue` with the next head; does not drive.
    pub fn enqueue<R>(
        &mut self,
        waits: &[Wait<'_>],
        enqueue: impl FnOnce(&dyn Lane, &Head<'_>) -> R,
    ) -> R {
        self.tick += 1;
        let order = Order::AfterPrevious;
        let head = Head { tick: self.tick, order, waits, label: "test", timed: self.timed };
        enqueue(&*self.lane, &head)
    }

    pub fn launch_only(
        &mut self,
        range: Dims,
        waits: &[Wait<'_>],
        kernel: NativeKernel,
    ) -> Result<(), HalError> {
        self.launch(waits, kernel, &geometry(range), &Args::new(&[]))
    }

    /// Does not drive. A kernel that is refused is dropped.
    pub fn launch(
        &mut self,
        waits: &[Wait<'_>],
        kernel: NativeKernel,
        geometry: &Geometry,
        args: &Args<'_>,
    ) -> Result<(), HalError> {
        let kernel = Cell::new(Some(kernel));
        let kernel = KernelRef::Native(&kernel);
        self.enqueue(waits, |lane, head| lane.enqueue(head, Op::Launch(kernel, geometry, *args)))
    }

    pub fn run(&mut self, range: Dims, f: impl Fn(&Block) + Send + Sync + 'static) -> Tick {
        self.run_after(range, &[], f)
    }

    pub fn run_after(
        &mut self,
        range: Dims,
        waits: &[Wait<'_>],
        f: impl Fn(&Block) + Send + Sync + 'static,
    ) -> Tick {
        self.launch_only(range, waits, kernel(move |_, block| f(block))).unwrap();
        self.lane.drive();
        self.tick
    }

    /// Waits for everything.
    pub fn finish(&self) {
        let done = self.lane.wait(self.tick, Some(Instant::now() + HUNG)).unwrap();
        assert!(done, "hung at {:?} of {}", self.lane.completed(), self.tick);
        assert!(self.lane.completed().unwrap() >= self.tick);
    }

    pub fn failures(&self) -> Vec<(Tick, HalError)> {
        let mut all = Vec::new();
        self.lane.failures(&mut |tick, error| all.push((tick, error)));
        all
    }
}

pub fn host<T>(memory: &mut [T]) -> MemRef {
    MemRef { base: MemBase::Host(HostPtr(memory.as_mut_ptr().cast())), offset: 0 }
}

pub fn param(mem: MemRef, dims: Dims) -> Param {
    Param {
        mem,
        size: 8,
        write: true,
        dims,
        origin: [0; 3],
        extent: dims,
        index: [0; 3],
        shape: dims,
    }
}

/// Runs `body` on a thread of its own and fails when it does not end.
pub fn within_time<R: Send + 'static>(body: impl FnOnce() -> R + Send + 'static) -> R {
    let (sender, receiver) = mpsc::channel();
    let thread = std::thread::spawn(move || sender.send(body()));
    let result = match receiver.recv_timeout(HUNG) {
        Ok(result) => result,
        Err(mpsc::RecvTimeoutError::Timeout) => {
            eprintln!("hung: {:?}", std::thread::current().name());
            std::process::abort()
        }
        Err(mpsc::RecvTimeoutError::Disconnected) => {
            std::panic::resume_unwind(thread.join().unwrap_err())
        }
    };
    drop(thread.join());
    result
}

/// Keeps a thread busy for longer than anything tiny.
pub fn burn(time: Duration) {
    let start = Instant::now();
    while start.elapsed() < time {
        std::hint::spin_loop();
    }
}

/// A small random number generator.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % n
    }
}
