//! The cost of one operation of a dependent chain of one-item closures: launch, drive, completed.
//!
//! `cargo run --release -p folio-cpu --example lane_overhead`

use folio_core::hal::{
    Args, Backend, Block, BlockKernel, Geometry, Head, KernelRef, LaneKind, MemBase, MemRef,
    NativeKernel, Notify, Op, Order, Param, ParamPtr, Tick, Verdict,
};
use folio_cpu::CpuBackend;
use std::cell::Cell;
use std::error::Error;
use std::time::Instant;

struct Increment;

impl BlockKernel for Increment {
    unsafe fn run(&self, params: &[ParamPtr], _: &Block) -> Verdict {
        for param in params {
            let at = param.base.cast::<u64>();
            // SAFETY: every parameter is a `u64` that only this lane touches.
            unsafe { at.write(at.read() + 1) };
        }
        Ok(())
    }
}

fn head(tick: Tick) -> Head<'static> {
    Head { tick, order: Order::AfterPrevious, waits: &[], label: "", timed: false }
}

fn measure(params: usize, drive_each: usize) -> Result<f64, Box<dyn Error>> {
    const OPS: u64 = 1_000_000;
    let backend = CpuBackend::builder().build()?;
    // SAFETY: ticks rise by one, and the parameters' cells live until the last has ended.
    let device = unsafe { backend.open(0, Notify::none()) }?;
    let lane = device.lane(LaneKind::Compute, 0)?;
    let mut cells = vec![0u64; params];
    let list: Vec<Param> = cells
        .iter_mut()
        .map(|cell| {
            let base = MemBase::Host(folio_core::hal::HostPtr(std::ptr::from_mut(cell).cast()));
            let mem = MemRef { base, offset: 0 };
            Param {
                mem,
                size: 8,
                write: true,
                dims: [1; 3],
                origin: [0; 3],
                extent: [1; 3],
                index: [0; 3],
                shape: [1; 3],
            }
        })
        .collect();
    let geometry = Geometry::new(1, [1; 3]);
    let mut best = f64::INFINITY;
    let mut tick = 0;
    for _ in 0..10 {
        let start = Instant::now();
        for _ in 0..OPS / 10 {
            tick += 1;
            let kernel = KernelRef::Native(&Cell::new(Some(NativeKernel::new(Increment))));
            lane.enqueue(&head(tick), Op::Launch(kernel, &geometry, Args::new(&list)))?;
            if tick.is_multiple_of(drive_each as u64) {
                lane.drive();
            }
            std::hint::black_box(lane.completed().map_err(|lost| lost.reason.to_string())?);
        }
        best = best.min(start.elapsed().as_nanos() as f64 / (OPS / 10) as f64);
        lane.wait(tick, None).map_err(|lost| lost.reason.to_string())?;
    }
    assert!(cells.iter().all(|&cell| cell == OPS));
    Ok(best)
}

fn main() -> Result<(), Box<dyn Error>> {
    for params in [0, 1, 2, 8, 16] {
        println!("{params:2} parameters: {:6.1} ns/op", measure(params, 1)?);
    }
    println!(" 1 parameter, driven every 8 operations: {:6.1} ns/op", measure(1, 8)?);
    Ok(())
}
