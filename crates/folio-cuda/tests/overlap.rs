//! Uploads, downloads and kernels run beside each other: shown by a kernel that does not end before
//! the others have. And what lanes of a higher priority are.
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

use cudarc::driver::sys::{self, CUresult};
use folio_core::hal::{
    Args, Backend, Geometry, Head, KernelRef, LaneKind, Notify, Op, Order, Source,
};
use folio_core::{
    Event, Queue, Runtime, Usm, UsmKind,
    opaque::{OpaqueArg, OpaqueKernel},
};
use folio_cuda::{CudaBackend, Native};
use std::cell::Cell;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// Waits for the first word, and then sets the second; gives up after 20 seconds.
const HOLD: &str = "
.version 7.0
.target sm_50
.address_size 64
.visible .entry hold(.param .u64 gate) {
    .reg .pred %p<3>;
    .reg .u32 %r<3>;
    .reg .u64 %d<4>;
    ld.param.u64 %d1, [gate];
    mov.u64 %d2, %globaltimer;
    add.u64 %d2, %d2, 20000000000;
AGAIN:
    ld.volatile.u32 %r1, [%d1];
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra OPEN;
    mov.u64 %d3, %globaltimer;
    setp.lt.u64 %p2, %d3, %d2;
    @%p2 bra AGAIN;
    ret;
OPEN:
    mov.u32 %r2, 1;
    st.volatile.u32 [%d1+4], %r2;
    ret;
}
";

/// Longer than anything here takes, and shorter than the kernel waits.
const PATIENCE: Duration = Duration::from_secs(10);

fn is_there() -> bool {
    match CudaBackend::new().devices() {
        Ok(_) => true,
        Err(why) => {
            println!("skipped: cuda: {}", why.reason);
            false
        }
    }
}

/// Words that the host and a kernel use at the same time: whether it may end, and whether it was
/// let go.
struct Gate(Usm<u32>);

impl Gate {
    fn word(&self, at: u64) -> &AtomicU32 {
        let address = self.0.pointer().address().unwrap() + 4 * at;
        // SAFETY: of two words that live as long as `self`, in the host's memory, which the kernel
        // accesses whole, and nobody else does.
        unsafe { AtomicU32::from_ptr(std::ptr::with_exposed_provenance_mut(address as usize)) }
    }

    /// Starts a kernel that waits here.
    fn hold(&self, q: &Queue, hold: &OpaqueKernel) -> Event {
        let address = self.0.pointer().address().unwrap();
        let event = q.submit(|g| {
            g.timed();
            // SAFETY: two words, which outlive the kernel: whoever makes a gate waits for it.
            unsafe { g.run_opaque(1, hold, [OpaqueArg::value(address)]) };
            Ok(())
        });
        event.unwrap()
    }
}

/// A kernel, an upload, a download and a fill are submitted to one queue, with nothing in common;
/// the kernel ends when the host has seen all others end.
#[test]
fn cuda_copies_beside_kernels() {
    if !is_there() {
        return;
    }
    const N: usize = 1 << 20;
    let rt = Runtime::builder().backend(CudaBackend::new()).build().unwrap();
    let q = rt.queue_on("cuda:0").unwrap();
    let on_host = |n| rt.usm::<u32>(&q.device(), UsmKind::Host, n).unwrap();
    let (from, mut to, gates) = (on_host(N), on_host(N), [on_host(2), on_host(2)].map(Gate));
    let (mut up, mut down) = (rt.buffer::<u32, 1>(N).unwrap(), rt.buffer::<u32, 1>(N).unwrap());
    let mut filled = rt.buffer::<u32, 1>(N).unwrap();
    let hold = q.device().load(Source::Ptx(HOLD), "hold").unwrap();
    q.submit(|g| {
        g.fill(&mut down, 5);
        Ok(())
    })
    .unwrap();
    let mut beside = || {
        let copy = q.submit(|g| {
            g.timed().copy(&from, &mut up);
            Ok(())
        });
        let back = q.submit(|g| {
            g.timed().copy(&down, &mut to);
            Ok(())
        });
        let fill = q.submit(|g| {
            g.timed().fill(&mut filled, 7);
            Ok(())
        });
        [copy, back, fill].map(Result::unwrap)
    };
    // Once without a gate, so that afterwards nothing is allocated, zeroed or loaded, which may
    // wait for kernels.
    gates[0].word(0).store(1, Ordering::Release);
    let first = gates[0].hold(&q, &hold);
    let _ = beside();
    q.wait().unwrap();
    assert!(first.is_done() && gates[0].word(1).load(Ordering::Acquire) == 1);
    // And now in earnest.
    let holds = gates[1].hold(&q, &hold);
    let events = beside();
    let ended: Vec<bool> =
        events.iter().map(|event| event.wait_timeout(PATIENCE).unwrap()).collect();
    let still = !holds.is_done();
    gates[1].word(0).store(1, Ordering::Release);
    q.wait().unwrap();
    assert_eq!(gates[1].word(1).load(Ordering::Acquire), 1, "the kernel gave up");
    assert!(still && ended == [true; 3], "upload, download, fill: {ended:?}");
    let end = |event: &Event| event.timing().unwrap().ended;
    let last = events.iter().map(end).max().unwrap();
    assert!(last <= end(&holds), "{last} and {}", end(&holds));
    drop(up);
    let to = to.read().unwrap();
    assert!(to.iter().all(|v| *v == 5));
}

fn ok(result: CUresult) {
    assert_eq!(result, CUresult::CUDA_SUCCESS);
}

/// A lane's priority is its stream's, as far as the driver has so many: 0 is normal, and nothing is
/// less.
#[test]
fn cuda_lanes_have_priorities() {
    if !is_there() {
        return;
    }
    // SAFETY: lanes get a task that enqueues nothing.
    let device = unsafe { CudaBackend::new().open(0, Notify::none()) }.unwrap();
    let range = Cell::new((0, 0));
    let of = |priority| {
        let lane = device.lane(LaneKind::Compute, priority).unwrap();
        let found = Cell::new(None);
        let task = |native: &dyn std::any::Any| {
            let stream = native.downcast_ref::<Native>().unwrap().stream;
            let (mut priority, mut least, mut greatest) = (0, 0, 0);
            // SAFETY: the task's stream and context; places for the answers.
            unsafe {
                ok(sys::cuStreamGetPriority(stream.cast(), &raw mut priority));
                ok(sys::cuCtxGetStreamPriorityRange(&raw mut least, &raw mut greatest));
            }
            range.set((least, greatest));
            found.set(Some(priority));
            Ok(())
        };
        let order = Order::AfterPrevious;
        let head = Head { tick: 1, order, waits: &[], label: "", timed: false };
        let task = KernelRef::Foreign(&task);
        lane.enqueue(&head, Op::Launch(task, &Geometry::new(1, [1; 3]), Args::new(&[]))).unwrap();
        assert!(lane.wait(1, None).unwrap());
        found.get().unwrap()
    };
    let found = [-1, 0, 1, i8::MAX].map(of);
    let (least, greatest) = range.get();
    assert!(greatest < least, "the driver has priorities");
    assert_eq!(found, [least.min(1), 0, -1, greatest]);
}
