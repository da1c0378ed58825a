//! Calls of the driver that tests refuse.

use crate::{CudaBackend, Native, driver, progress};
use cudarc::driver::sys::{self, CUresult};
use folio_core::hal::{
    AllocKind, AllocReq, Args, Backend, CopyRect, Device, FillRect, Geometry, Graph, Head, HostPtr,
    KernelRef, KernelSource, Lane, LaneKind, MemBase, MemRef, Node, Notify, Op, Order, Param,
    Source, Wait,
};
use std::any::Any;
use std::cell::Cell;
use std::ffi::c_void;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

/// The answer to this thread's calls of a name.
#[derive(Clone, Copy)]
struct Refusal {
    name: &'static str,
    /// Calls that go through before, and then how many are refused.
    after: u32,
    times: u32,
    answer: CUresult,
}

thread_local! {
    static REFUSAL: Cell<Option<Refusal>> = const { Cell::new(None) };
}

pub(crate) fn refused(name: &str) -> Option<CUresult> {
    let refusal = REFUSAL.get().filter(|refusal| refusal.name == name)?;
    let mut next = refusal;
    if next.after > 0 {
        next.after -= 1;
    } else if next.times > 0 {
        next.times -= 1;
    }
    REFUSAL.set(Some(next));
    (refusal.after == 0 && refusal.times > 0).then_some(refusal.answer)
}

/// Refuses during a call; whether there was anything to refuse.
fn refusing<R>(refusal: Refusal, during: impl FnOnce() -> R) -> (R, bool) {
    REFUSAL.set(Some(refusal));
    let result = during();
    let left = REFUSAL.take();
    (result, left.is_some_and(|left| left.times < refusal.times))
}

/// How often this thread calls the driver so in the meantime.
fn counting<R>(name: &'static str, during: impl FnOnce() -> R) -> (R, u32) {
    let answer = CUresult::CUDA_SUCCESS;
    REFUSAL.set(Some(Refusal { name, after: u32::MAX, times: 0, answer }));
    let result = during();
    (result, REFUSAL.take().map_or(0, |left| u32::MAX - left.after))
}

struct Rig {
    device: Arc<dyn Device>,
    lanes: [Arc<dyn Lane>; 2],
    /// The last tick of each.
    ticks: [u64; 2],
    /// Device memory, of [`SIZE`] each.
    memory: [u64; 2],
}

const SIZE: u64 = 12 << 20;

fn rig() -> Option<Rig> {
    let backend = CudaBackend::new();
    if let Err(why) = backend.devices() {
        println!("skipped: cuda: {}", why.reason);
        return None;
    }
    // SAFETY: memory is freed when the lanes have ended.
    let device = unsafe { backend.open(0, Notify::none()) }.unwrap();
    let lanes = [(); 2].map(|()| device.lane(LaneKind::Compute, 0).unwrap());
    let memory = [(); 2].map(|()| alloc(&*device, AllocKind::Device).unwrap());
    Some(Rig { device, lanes, ticks: [0; 2], memory })
}

fn alloc(device: &dyn Device, kind: AllocKind) -> Result<u64, folio_core::hal::HalError> {
    let label = "refusals";
    let req = AllocReq {
        kind,
        size: SIZE,
        align: 256,
        import: None,
        zeroed: false,
        linked: false,
        exported: false,
        label,
    };
    device.usm().alloc(&req).map(|made| made.handle)
}

impl Rig {
    fn on_device(&self, nth: usize) -> MemRef {
        MemRef { base: MemBase::Device { device: 0, handle: self.memory[nth] }, offset: 0 }
    }

    /// Copies, so many times, on a lane, behind what the other has.
    fn copy(&mut self, lane: usize, src: MemRef, dst: MemRef, times: usize) -> bool {
        let (pitch, extent) = ([SIZE; 2], [1, 1, SIZE]);
        let rect = CopyRect { src, src_pitch: pitch, dst, dst_pitch: pitch, extent };
        self.behind(lane, Op::Copy(&vec![rect; times]))
    }

    /// What comes later on a lane waits until something is sent; for some seconds at most, after
    /// which nobody takes it.
    fn gate(&mut self, lane: usize) -> Sender<()> {
        unsafe extern "C" fn wait(opened: *mut c_void) {
            // SAFETY: the box that was given to the driver, once.
            let opened = unsafe { Box::from_raw(opened.cast::<Receiver<()>>()) };
            let _ = opened.recv_timeout(Duration::from_secs(5));
        }
        let (gate, opened) = channel();
        let opened = Box::into_raw(Box::new(opened)).cast();
        let task = |native: &dyn Any| {
            let stream = native.downcast_ref::<Native>().unwrap().stream.cast();
            // SAFETY: the task's stream; the function gets what it expects.
            let result = unsafe { sys::cuLaunchHostFunc(stream, Some(wait), opened) };
            assert_eq!(result, CUresult::CUDA_SUCCESS);
            Ok(())
        };
        assert!(self.launch(lane, KernelRef::Foreign(&task)));
        gate
    }

    /// Launches what has no arguments.
    fn launch(&mut self, lane: usize, kernel: KernelRef<'_>) -> bool {
        self.ticks[lane] += 1;
        let (tick, order) = (self.ticks[lane], Order::AfterPrevious);
        let head = Head { tick, order, waits: &[], label: "", timed: false };
        let (geometry, args) = (Geometry::new(1, [1; 3]), Args::new(&[]));
        self.lanes[lane].enqueue(&head, Op::Launch(kernel, &geometry, args)).is_ok()
    }

    /// Up and down again by way of both memories; what came back, if no operation failed.
    fn round(&mut self, seed: u8) -> Option<bool> {
        let data: Vec<u8> = (0..SIZE).map(|k| (k % 251) as u8 ^ seed).collect();
        let mut back = vec![0u8; SIZE as usize];
        let host = |at: *mut u8| MemRef { base: MemBase::Host(HostPtr(at)), offset: 0 };
        let (first, second) = (self.on_device(0), self.on_device(1));
        let went = [
            self.copy(0, host(data.as_ptr().cast_mut()), first, 1),
            self.copy(1, first, second, 1),
            self.copy(0, second, host(back.as_mut_ptr()), 1),
        ];
        self.all_end();
        (went == [true; 3]).then(|| data == back)
    }

    /// Behind what the other lane has.
    fn behind(&mut self, lane: usize, op: Op<'_>) -> bool {
        let other = 1 - lane;
        let wait = [Wait { lane: &self.lanes[other], tick: self.ticks[other] }];
        self.ticks[lane] += 1;
        let waits = if self.ticks[other] > 0 { &wait[..] } else { &[] };
        let (order, tick) = (Order::AfterPrevious, self.ticks[lane]);
        let head = Head { tick, order, waits, label: "", timed: false };
        self.lanes[lane].enqueue(&head, op).is_ok()
    }

    fn replay(&mut self, lane: usize, graph: &Arc<dyn Graph>) -> bool {
        self.behind(lane, Op::Replay(graph))
    }

    /// With zeros.
    fn fill(&mut self, dst: MemRef) -> bool {
        let rect = FillRect { dst, pitch: [SIZE; 2], extent: [1, 1, SIZE] };
        self.behind(0, Op::Fill(&[rect], &[0]))
    }

    /// Every tick is reached, whatever failed, and nothing is lost.
    fn all_end(&self) {
        for (lane, tick) in self.lanes.iter().zip(self.ticks) {
            let until = Instant::now() + Duration::from_secs(10);
            assert!(lane.wait(tick, Some(until)).unwrap(), "a tick is not reached");
            assert!(lane.completed().unwrap() >= tick);
        }
    }
}

impl Drop for Rig {
    fn drop(&mut self) {
        self.memory.iter().for_each(|handle| self.device.usm().free(*handle));
    }
}

const ANSWERS: [CUresult; 2] =
    [CUresult::CUDA_ERROR_OUT_OF_MEMORY, CUresult::CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED];

/// Who waits for an operation relies on what it waited for, also where the driver refused to have
/// it wait.
#[test]
fn cuda_refused_waits_are_waited_for() {
    let Some(mut rig) = rig() else { return };
    let mut seen = 0;
    for answer in ANSWERS {
        for name in ["cuStreamWaitEvent", "cuEventRecord", "cuEventCreate"] {
            let [first, second] = [rig.on_device(0), rig.on_device(1)];
            // So long that it would not have ended.
            assert!(rig.copy(1, first, second, 2000));
            let after = rig.ticks[1];
            let refusal = Refusal { name, after: 0, times: 1, answer };
            let (went, refused) = refusing(refusal, || rig.copy(0, second, first, 1));
            assert!(went, "{name}: the host has waited");
            assert!(rig.lanes[0].wait(rig.ticks[0], None).unwrap());
            let ended = rig.lanes[1].wait(after, Some(Instant::now())).unwrap();
            assert!(ended, "{name}: it was not waited for");
            seen += usize::from(refused);
        }
    }
    // Events are made once.
    assert!(seen >= 4, "{seen} calls were refused");
}

/// One call of each kind is refused, each in its turn: no operation is wrong without saying so, all
/// ticks are reached, nothing is lost, and what comes later is right.
#[test]
fn cuda_refused_calls_lose_nothing() {
    const NAMES: [&str; 6] = [
        "cuStreamWaitEvent",
        "cuEventRecord",
        "cuEventCreate",
        "cuLaunchHostFunc",
        "cuMemcpyAsync",
        "cuMemHostAlloc",
    ];
    let mut total = 0;
    for answer in ANSWERS {
        for name in NAMES {
            for after in 0.. {
                // Each time anew, so that events and pieces are made.
                let Some(mut rig) = rig() else { return };
                let refusal = Refusal { name, after, times: 1, answer };
                let (right, refused) = refusing(refusal, || rig.round(after as u8));
                assert_ne!(right, Some(false), "{name} {after}: wrong without an error");
                assert_eq!(rig.round(7), Some(true), "{name} {after}: not right afterwards");
                if !refused {
                    assert_eq!(right, Some(true));
                    break;
                }
                total += 1;
            }
        }
    }
    assert!(total >= 60, "{total} calls were refused");
}

/// Whether it was taken.
type Operation<'o> = dyn Fn(&mut Rig) -> bool + 'o;

/// A kernel that does nothing.
const NOTHING: &str =
    ".version 7.0\n.target sm_50\n.address_size 64\n.visible .entry nothing() { ret; }";

/// Operations have no event each, neither copies nor launches, although each comes after the one
/// before.
#[test]
fn cuda_operations_have_few_events() {
    let Some(mut rig) = rig() else { return };
    let [first, second] = [rig.on_device(0), rig.on_device(1)];
    let source = Source::Ptx(NOTHING);
    let source = KernelSource::Opaque { name: "nothing", source, options: &[] };
    let kernel = rig.device.load(&source).unwrap();
    let operations: [(&str, &Operation<'_>); 2] = [
        ("copies", &|rig| rig.copy(0, first, second, 1)),
        ("launches", &|rig| rig.launch(0, KernelRef::Loaded(kernel))),
    ];
    for (what, operation) in operations {
        let times = 40 * progress::EVERY;
        let (went, records) = counting("cuEventRecord", || {
            let went = (0..times).all(|_| operation(&mut rig));
            rig.all_end();
            went
        });
        assert!(went);
        // One for each mark, and those that the wait at the end asks for.
        assert!((39..=44).contains(&records), "{records} events for {times} {what}");
    }
}

/// Many rows are one call, where the driver has one for that.
#[test]
fn cuda_rows_are_copied_in_one_call() {
    let Some(mut rig) = rig() else { return };
    let [first, second] = [rig.on_device(0), rig.on_device(1)];
    let has_one = driver::present().unwrap().batches;
    for (times, together) in [(3, false), (4, true), (100, true)] {
        for (name, is_it) in [("cuMemcpyBatchAsync", true), ("cuMemcpyAsync", false)] {
            let (went, calls) = counting(name, || rig.copy(0, first, second, times));
            assert!(went);
            let wanted = match (together && has_one, is_it) {
                (true, true) => 1,
                (false, false) => times as u32,
                _ => 0,
            };
            assert_eq!(calls, wanted, "{name} for {times}");
        }
    }
    // Refused, they are done one by one.
    for answer in ANSWERS {
        let refusal = Refusal { name: "cuMemcpyBatchAsync", after: 0, times: 1, answer };
        let (went, refused) = refusing(refusal, || rig.copy(0, first, second, 4));
        assert_eq!((went, refused), (true, has_one));
        assert_eq!(rig.round(3), Some(true));
    }
    rig.all_end();
}

/// A driver that does not say how far a stream is is asked in another way.
#[test]
fn cuda_refused_questions_end() {
    let Some(mut rig) = rig() else { return };
    for answer in ANSWERS {
        let [first, second] = [rig.on_device(0), rig.on_device(1)];
        let refusal = Refusal { name: "cuEventQuery", after: 0, times: u32::MAX, answer };
        let ((), refused) = refusing(refusal, || {
            assert!(rig.copy(0, first, second, 1) && rig.copy(1, second, first, 1));
            rig.all_end();
        });
        assert!(refused);
        assert_eq!(rig.round(3), Some(true));
    }
}

/// Where the driver has no memory, pools give back what they keep, and it is asked once more.
#[test]
fn cuda_refused_memory_is_asked_for_again() {
    let Some(rig) = rig() else { return };
    let name = "cuMemAllocFromPoolAsync";
    let answer = CUresult::CUDA_ERROR_OUT_OF_MEMORY;
    let refusal = Refusal { name, after: 0, times: 1, answer };
    let (made, refused) = refusing(refusal, || alloc(&*rig.device, AllocKind::Device));
    assert!(refused);
    rig.device.usm().free(made.unwrap());
    let used = rig.device.usm().memory().in_use;
    let (made, _) =
        refusing(Refusal { times: 2, ..refusal }, || alloc(&*rig.device, AllocKind::Device));
    let said = made.unwrap_err().to_string();
    let [asked, used_text] = [SIZE, used].map(folio_core::ir::words::bytes);
    assert!(
        said.starts_with(&format!("out of memory: asked for {asked}, {used_text} of")),
        "{said}"
    );
    assert_eq!(rig.device.usm().memory().in_use, used);
}

/// Who gives memory back waits for nothing that is under way.
#[test]
fn cuda_memory_is_freed_without_waiting() {
    for kind in [AllocKind::Device, AllocKind::Host, AllocKind::Shared] {
        // Each time anew: what an earlier one gives back would wait for the gate, and hold the copy
        // up.
        let Some(mut rig) = rig() else { return };
        let [first, second] = [rig.on_device(0), rig.on_device(1)];
        let made = alloc(&*rig.device, kind).unwrap();
        let gate = rig.gate(1);
        assert!(rig.copy(1, first, second, 1));
        let begun = Instant::now();
        rig.device.usm().free(made);
        println!("{kind:?}: {:?}", begun.elapsed());
        assert!(gate.send(()).is_ok(), "{kind:?}: it was waited for");
        rig.all_end();
    }
}

/// Adds a number to each of 1024.
const ADD: &str = "kernel \"add\" items 1 tile 1
param p0 = \"by\" scalar u32
param p1 = \"y\" view u32 1 inout item
body {
  %0 u64 = query position 0 0
  %1 u32 = load p1[%0]
  %2 u32 = arg p0
  %3 u32 = add %1, %2
  store p1[%0] = %3
}";

/// Where many nodes get other words again and again, all are one write: no node is exchanged by a
/// call any more, and each replay adds what it was told last.
#[test]
fn cuda_words_of_many_nodes_are_one_write() {
    let Some(mut rig) = rig() else { return };
    let kernel = folio_kernel::parse::parse(ADD).unwrap();
    let kernel = KernelRef::Loaded(rig.device.load(&KernelSource::Ir(&kernel)).unwrap());
    let (n, nodes) = (1024, 20);
    let dims = [1, 1, n];
    let [origin, index] = [[0; 3]; 2];
    let mem = rig.on_device(0);
    let param = Param { mem, size: 4, write: true, dims, origin, extent: dims, index, shape: dims };
    let (geometry, params) = (Geometry::new(1, dims), [param]);
    let launch = |by: &[u8; 8], run: &mut dyn FnMut(Op<'_>)| {
        run(Op::Launch(kernel, &geometry, Args { blob: by, ..Args::new(&params) }));
    };
    let after: Vec<[usize; 1]> = (0..nodes).map(|k: usize| [k.saturating_sub(1)]).collect();
    let zeros = [0; 8];
    let args = Args { blob: &zeros, ..Args::new(&params) };
    let ops: Vec<Node<'_>> = (0..nodes)
        .map(|k| {
            let after = if k == 0 { &[][..] } else { &after[k][..] };
            Node { op: Op::Launch(kernel, &geometry, args), after }
        })
        .collect();
    let graph = rig.device.graph(&ops).unwrap();
    let mut calls = Vec::new();
    let (mut out, mut total) = (vec![0u32; SIZE as usize / 4], 0u32);
    assert!(rig.fill(mem));
    for turn in 0..8u32 {
        let (_, by_call) = counting("cuGraphExecKernelNodeSetParams", || {
            for k in 0..nodes {
                let by = turn * 100 + k as u32 + 1;
                total += by;
                let by = u64::from(by).to_le_bytes();
                launch(&by, &mut |op| graph.update(k, op).unwrap());
            }
        });
        calls.push(by_call);
        // In turn on both lanes, of which neither waits for more than the other's last tick.
        assert!(rig.replay(turn as usize % 2, &graph));
    }
    let host = MemRef { base: MemBase::Host(HostPtr(out.as_mut_ptr().cast())), offset: 0 };
    assert!(rig.copy(0, mem, host, 1));
    rig.all_end();
    assert_eq!(out[..n], vec![total; n]);
    let nodes = nodes as u32;
    // Twice by calls, once by calls that change the text, and then by none.
    assert_eq!(calls, [nodes, nodes, nodes, 0, 0, 0, 0, 0]);
}
