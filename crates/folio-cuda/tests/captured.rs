//! Interop tasks as nodes of a device's own graphs: called once, and repeated (GRAPH-06).
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

use cudarc::cublas::{result as blas, sys as blas_sys};
use cudarc::driver::sys::{self, CUresult};
use folio_core::hal::Backend;
use folio_core::{Executable, Queue, Runtime, Shared};
use folio_cuda::{CudaBackend, Native};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

const N: usize = 1 << 12;

fn queue() -> Option<(Runtime, Queue)> {
    if let Err(why) = CudaBackend::new().devices() {
        println!("skipped: cuda: {}", why.reason);
        return None;
    }
    let rt = Runtime::builder().backend(CudaBackend::new()).build().unwrap();
    let queue = rt.queue_on("cuda:0").unwrap();
    Some((rt, queue))
}

fn ok(what: &str, result: CUresult) -> Result<(), String> {
    if result == CUresult::CUDA_SUCCESS { Ok(()) } else { Err(format!("{what}: {result:?}")) }
}

/// A graph that fills the first buffer, has a task set the first half of the second, and copies
/// that to the third.
fn graph(
    rt: &Runtime,
    q: &Queue,
    all: &[Shared<u32>; 3],
    task: impl Fn(&Native) -> Result<(), String> + Send + Sync + 'static,
) -> Executable {
    let graph = rt.graph(&q.device()).unwrap();
    graph.add(|g| g.fill(&all[0], 1)).unwrap();
    graph.add(|g| g.copy(&all[0], &all[1])).unwrap();
    let part = || all[1].slice_mut([0], [N / 2]);
    graph
        .add(|g| {
            let part = g.label("task").read_write(part()?);
            // SAFETY: it writes what it says, on the task's stream, and the same each time.
            unsafe { g.each_run().capturable().interop(part, task) };
            Ok(())
        })
        .unwrap();
    graph.add(|g| g.copy(&all[1], &all[2])).unwrap();
    graph.add(|g| g.copy(&all[2], &all[0])).unwrap();
    graph.finalize().unwrap()
}

/// Sets what is accessed to 7.
fn set(cuda: &Native) -> Result<(), String> {
    let place = &cuda.memory[0];
    // SAFETY: the stream is the task's; as many elements are accessed.
    let result =
        unsafe { sys::cuMemsetD32Async(place.address, 7, place.extent[2], cuda.stream.cast()) };
    ok("cuMemsetD32Async", result)
}

fn buffers(rt: &Runtime) -> [Shared<u32>; 3] {
    std::array::from_fn(|_| rt.buffer::<u32, 1>(N).unwrap().into_shared())
}

fn check(all: &[Shared<u32>; 3]) {
    let last = all[0].to_vec().unwrap();
    assert_eq!((last[0], last[N / 2 - 1], last[N / 2], last[N - 1]), (7, 7, 1, 1));
}

/// GRAPH-06: without being asked.
#[test]
fn cuda_captures_an_interop_task() {
    let Some((rt, q)) = queue() else { return };
    let (all, calls) = (buffers(&rt), Arc::new(AtomicU32::new(0)));
    let count = calls.clone();
    let run = graph(&rt, &q, &all, move |cuda| {
        count.fetch_add(1, Ordering::Relaxed);
        set(cuda)
    });
    for turn in 0..5 {
        q.fill(&all[0], turn).unwrap();
        q.run_graph(&run).unwrap().wait().unwrap();
        check(&all);
    }
    let report = run.replay_report();
    assert!(report.parts.len() == 1 && report.why_not().is_none(), "{report:?}");
    assert_eq!((report.replays, calls.load(Ordering::Relaxed)), (5, 1));
}

/// GRAPH-06: what cannot be captured splits the run, which says so.
#[test]
fn cuda_interop_task_that_waits_splits_a_replay() {
    let Some((rt, q)) = queue() else { return };
    let (all, calls) = (buffers(&rt), Arc::new(AtomicU32::new(0)));
    let count = calls.clone();
    let run = graph(&rt, &q, &all, move |cuda| {
        count.fetch_add(1, Ordering::Relaxed);
        set(cuda)?;
        // SAFETY: the stream is the task's.
        ok("cuStreamSynchronize", unsafe { sys::cuStreamSynchronize(cuda.stream.cast()) })
    });
    for _ in 0..5 {
        q.run_graph(&run).unwrap().wait().unwrap();
        check(&all);
    }
    let report = run.replay_report();
    let parts: Vec<_> =
        report.parts.iter().map(|part| (part.commands, part.why_not.is_none())).collect();
    assert_eq!(parts, [(2, true), (1, false), (2, true)], "{report:?}");
    let why = report.why_not().unwrap();
    assert!(why.contains("cannot be captured"), "{why}");
    // Once in vain, and once for each run.
    assert_eq!((report.replays, calls.load(Ordering::Relaxed)), (10, 6));
}

/// A handle of cuBLAS, for tasks that are called one at a time.
struct Blas(blas_sys::cublasHandle_t);

// SAFETY: any thread may use the handle, one at a time.
unsafe impl Send for Blas {}
// SAFETY: as above: the test has one task.
unsafe impl Sync for Blas {}

impl Blas {
    /// Multiplies what is accessed.
    fn scale(&self, cuda: &Native, by: f32) -> Result<(), String> {
        let (place, n) = (&cuda.memory[0], N as i32);
        let at = std::ptr::with_exposed_provenance_mut(place.address as usize);
        // SAFETY: the task's stream; as many elements are accessed.
        let done = unsafe {
            blas::set_stream(self.0, cuda.stream.cast())
                .and_then(|()| blas_sys::cublasSscal_v2(self.0, n, &raw const by, at, 1).result())
        };
        done.map_err(|error| error.to_string())
    }
}

/// GRAPH-06: a library's call between commands of Folio's.
#[test]
fn cuda_captures_cublas() {
    let Some((rt, q)) = queue() else { return };
    // SAFETY: the library's initialisers are trusted.
    if !unsafe { blas_sys::is_culib_present() } {
        return println!("skipped: cublas: it is not installed");
    }
    // It makes the device's context, in which the handle is made, the thread's.
    let x = rt.buffer_from(&[1.0f32; N]).unwrap().into_shared();
    let (y, made) =
        (rt.buffer::<f32, 1>(N).unwrap().into_shared(), Arc::new(std::sync::OnceLock::new()));
    let calls = Arc::new(AtomicU32::new(0));
    let graph = rt.graph(&q.device()).unwrap();
    graph.add(|g| g.copy(&x, &y)).unwrap();
    let (count, handle) = (calls.clone(), made.clone());
    graph
        .add(|g| {
            let y = g.label("scale").read_write(&y);
            let scale = move |cuda: &Native| {
                count.fetch_add(1, Ordering::Relaxed);
                let made = handle.get_or_init(|| blas::create_handle().ok().map(Blas));
                made.as_ref().ok_or("no handle of cuBLAS")?.scale(cuda, 3.0)
            };
            // SAFETY: it writes what it says, on the task's stream, and the same each time; the
            // handle is there as long as the graph.
            unsafe { g.each_run().capturable().interop(y, scale) };
            Ok(())
        })
        .unwrap();
    graph.add(|g| g.copy(&y, &x)).unwrap();
    let run = graph.finalize().unwrap();
    for _ in 0..5 {
        q.run_graph(&run).unwrap().wait().unwrap();
    }
    assert_eq!(x.to_vec().unwrap(), [243.0; N]);
    let report = run.replay_report();
    assert!(report.why_not().is_none(), "{report:?}");
    assert_eq!((report.replays, calls.load(Ordering::Relaxed)), (5, 1));
    drop((run, graph));
    if let Some(Some(Blas(handle))) = made.get() {
        // SAFETY: nothing uses it any more.
        unsafe { blas::destroy_handle(*handle) }.unwrap();
    }
}
