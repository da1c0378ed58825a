//! Knowledge by an id outlives the thing that had the id: another buffer, another block, another
//! thread. And what is handed on keeps what it has promised. BUF-06, GRAPH-07, GRAPH-08, MEM-01
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use folio::cpu::CpuBackend;
use folio::hal::LaneKind;
use folio::prelude::*;
use folio::{
    Destination, UsmKind,
    buffer::{Reclaim, ViewPolicy},
    error::GraphError,
    memory::Evict,
};
use folio_sim::{DeviceSpec, SimBackend};
use std::sync::{Arc, Barrier, Mutex, mpsc};

const N: usize = 16;

#[kernel]
fn adds(i: Item, y: InOut<u32>) {
    y[i] = y[i] + 1;
}

fn cpu() -> (Runtime, Queue) {
    let cpu = CpuBackend::builder().domains(1).build().unwrap();
    let rt = Runtime::builder().backend(cpu).build().unwrap();
    let q = rt.queue_on("cpu").unwrap();
    (rt, q)
}

/// A block that the queue knows, over a buffer that goes.
fn known(rt: &Runtime, q: &Queue, options: BufferOptions) {
    let mut x = rt.buffer_with::<u32, 1>(N, options).unwrap();
    q.fill(&mut x, 0).unwrap();
    for _ in 0..4 {
        q.batch(|q| {
            q.run(N, adds(&mut x))?;
            q.run(N, adds(&mut x))
        })
        .unwrap();
    }
    rt.wait().unwrap();
    assert!(q.batch_report().graphs > 0, "not known");
}

#[test]
fn a_known_block_has_no_pages_of_a_buffer_that_has_gone() {
    let (rt, q) = cpu();
    known(&rt, &q, BufferOptions::new());
    let y = rt.buffer_with::<u32, 1>(N, BufferOptions::new().page([4])).unwrap().into_shared();
    q.fill(&y, 0).unwrap().wait().unwrap();
    let mut part = y.slice_mut([8], [8]).unwrap();
    let guard = part.write().unwrap();
    let done = q.batch(|q| q.run(N, adds(&y)));
    assert!(matches!(done, Err(Error::HostAccessHeld { .. })), "{:?}", done.err());
    assert_eq!(*guard, [0; 8]);
}

#[test]
fn a_known_block_of_other_pages_runs() {
    let (rt, q) = cpu();
    known(&rt, &q, BufferOptions::new().page([4]));
    let mut y = rt.buffer::<u32, 1>(N).unwrap();
    q.fill(&mut y, 0).unwrap();
    q.batch(|q| q.run(N, adds(&mut y))).unwrap().1.wait().unwrap();
    assert_eq!(y.to_vec().unwrap(), [1; N]);
}

#[test]
fn memory_that_a_block_uses_is_not_taken_over_as_idle() {
    const N: usize = 1024;
    let backend = SimBackend::builder().device(DeviceSpec::new()).build();
    let sim = backend.handle();
    let rt = Runtime::builder().backend(backend).budget("sim:0", 8 * N as u64).build().unwrap();
    let (p, q) = (rt.queue_on("sim:0").unwrap(), rt.queue_on("sim:0").unwrap());
    let evictable = |value: i32| {
        let options = BufferOptions::new().evict(Evict::clean());
        rt.buffer_with(vec![value; N], options).unwrap()
    };
    let (a, b) = (evictable(1), evictable(2));
    let mut out = rt.buffer_from(vec![0i32; N]).unwrap();
    let mut block = || {
        q.batch(|q| {
            q.copy(&a, &mut out)?;
            q.copy(&a, &mut out)
        })
        .unwrap()
        .1
    };
    (0..4).for_each(|_| block().wait().unwrap());
    let before = q.batch_report().replayed;
    sim.hold(0, LaneKind::Compute);
    block();
    assert_eq!(q.batch_report().replayed, before + 1, "{:?}", q.batch_report().why_not);
    // Refused, or behind the block.
    let taken = p.submit(|cg| {
        cg.prefetch(&b, Destination::Device);
        Ok(())
    });
    drop((taken, b, a));
    sim.step(100);
    sim.release(0, LaneKind::Compute);
    rt.wait().unwrap();
    assert_eq!(out.to_vec().unwrap(), [1; N]);
    assert!(sim.violations().is_empty(), "{:?}", sim.violations());
}

#[derive(Clone, Copy, DeviceType)]
#[repr(C, align(64))]
struct Line {
    bytes: [u8; 64],
}

#[test]
fn temporaries_of_other_alignment_share_no_memory() {
    let (rt, q) = cpu();
    let graph = rt.graph("cpu").unwrap();
    let mut a = rt.buffer::<[u8; 64], 1>(4).unwrap();
    let mut b = rt.buffer::<Line, 1>(4).unwrap();
    let out_a = rt.buffer::<[u8; 64], 1>(4).unwrap().into_shared();
    let out_b = rt.buffer::<Line, 1>(4).unwrap().into_shared();
    graph.add_last(|cg| cg.fill(&mut a, [1; 64])).unwrap();
    graph.add_last(|cg| cg.copy(&a, &out_a)).unwrap();
    graph.add_last(|cg| cg.fill(&mut b, Line { bytes: [2; 64] })).unwrap();
    graph.add_last(|cg| cg.copy(&b, &out_b)).unwrap();
    drop((a, b));
    let run = graph.finalize().unwrap();
    let memory = run.memory().unwrap();
    assert_eq!((memory.temporaries, memory.memories), (2, 2));
    q.run_graph(&run).unwrap().wait().unwrap();
    assert_eq!(out_a.to_vec().unwrap(), [[1; 64]; 4]);
    assert!(out_b.to_vec().unwrap().iter().all(|line| line.bytes == [2; 64]));
}

#[test]
fn a_users_buffer_is_no_temporary() {
    let (rt, q) = cpu();
    let [keep, out, out2, out3] = [0; 4].map(|_| rt.buffer::<i32, 1>(N).unwrap().into_shared());
    let outer = rt.graph("cpu").unwrap();
    {
        let sub = rt.graph("cpu").unwrap();
        let mut t = rt.buffer::<i32, 1>(N).unwrap();
        let first = sub.add(|cg| cg.fill(&mut t, 1)).unwrap();
        let second = sub.add(|cg| cg.copy(&t, &out)).unwrap();
        drop(t);
        let run = sub.finalize().unwrap();
        run.update(first, |cg| cg.fill(&keep, 1)).unwrap();
        run.update(second, |cg| cg.copy(&keep, &out)).unwrap();
        outer.add_graph(&[], &run).unwrap();
    }
    // The buffer has the place of what the inner graph had for itself.
    let u = rt.buffer::<i32, 1>(N).unwrap().into_shared();
    let mut w = rt.buffer::<i32, 1>(N).unwrap();
    outer.add_last(|cg| cg.fill(&mut w, 3)).unwrap();
    outer.add_last(|cg| cg.copy(&w, &out3)).unwrap();
    outer.add_last(|cg| cg.fill(&u, 7)).unwrap();
    outer.add_last(|cg| cg.copy(&u, &out2)).unwrap();
    drop(w);
    let run = outer.finalize().unwrap();
    q.run_graph(&run).unwrap().wait().unwrap();
    assert_eq!((out3.to_vec().unwrap(), out2.to_vec().unwrap()), (vec![3; N], vec![7; N]));
    assert_eq!(u.to_vec().unwrap(), vec![7; N]);
}

#[test]
fn memory_that_the_program_points_to_is_not_evicted() {
    let backend = SimBackend::builder().device(DeviceSpec::new().memory(1 << 20)).build();
    let rt = Runtime::builder().backend(backend).evict(Evict::dirty()).build().unwrap();
    let q = rt.queue_on("sim:0").unwrap();
    let usm = rt.usm::<u8>(&q.device(), UsmKind::Device, 600 << 10).unwrap();
    let raw = usm.raw_memory().unwrap();
    let buffer = usm.into_buffer();
    let update = |cg: &mut CommandGroup| {
        cg.prefetch(&buffer, Destination::Host);
        Ok(())
    };
    q.submit(update).unwrap().wait().unwrap();
    let x = rt.buffer_from(vec![1u8; 600 << 10]).unwrap();
    let asked = q.submit(|cg| {
        cg.prefetch(&x, Destination::Device);
        Ok(())
    });
    assert!(asked.and_then(|event| event.wait()).is_err());
    assert!(buffer.allocations().iter().any(|a| a.device.is_some()), "{raw:?} was freed");
}

#[test]
fn a_handler_may_take_storage() {
    let slot: Arc<Mutex<Option<Reclaim<Vec<i32>>>>> = Arc::default();
    let (tell, told) = mpsc::channel();
    let (in_handler, tell) = (slot.clone(), Mutex::new(tell));
    let rt = Runtime::builder()
        .backend(CpuBackend::builder().domains(1).build().unwrap())
        .on_failure(move |_| {
            if let Some(mut back) = in_handler.lock().unwrap().take() {
                let came = back.take();
                tell.lock().unwrap().send(came.err().and_then(|e| e.storage)).unwrap();
            }
        })
        .build()
        .unwrap();
    let q = rt.queue_on("cpu").unwrap();
    let (mut x, back) = rt.view(4, vec![1; 4], ViewPolicy::Async).unwrap();
    *slot.lock().unwrap() = Some(back);
    let (open, gate) = mpsc::channel::<()>();
    q.submit(|cg| {
        let x = cg.read_write(&mut x);
        cg.host_task(x, move |_| {
            let _ = gate.recv();
            panic!("on purpose")
        });
        Ok(())
    })
    .unwrap();
    drop(x);
    open.send(()).unwrap();
    assert_eq!(told.recv(), Ok(Some(vec![1; 4])));
}

/// A command that another thread submits to a block's queue runs with the block, or is refused.
#[test]
fn a_command_is_of_a_block_or_refused() {
    let (rt, q) = cpu();
    let ran = Arc::new(Mutex::new(0u32));
    let mut accepted = 0;
    for _ in 0..2000 {
        let (thread, event) = q
            .batch(|q| {
                let (q, ran, go) = (q.clone(), ran.clone(), Arc::new(Barrier::new(2)));
                let other = go.clone();
                let thread = std::thread::spawn(move || {
                    other.wait();
                    q.submit(|cg| {
                        cg.host_task((), move |()| *ran.lock().unwrap() += 1);
                        Ok(())
                    })
                    .map(drop)
                });
                go.wait();
                Ok(thread)
            })
            .unwrap();
        match thread.join().unwrap() {
            Ok(()) => accepted += 1,
            Err(Error::Graph { why, .. }) if matches!(*why, GraphError::BlockEnded { .. }) => {}
            Err(other) => panic!("{other}"),
        }
        event.wait().unwrap();
    }
    rt.wait().unwrap();
    assert_eq!(*ran.lock().unwrap(), accepted);
}

/// Two threads' blocks share a queue's memories for temporaries, of which it keeps few.
#[test]
fn blocks_of_two_threads_keep_their_memory() {
    let (rt, q) = cpu();
    std::thread::scope(|scope| {
        let large = scope.spawn(|| {
            let mut out = rt.buffer::<u8, 1>(1 << 16).unwrap();
            for _ in 0..300 {
                q.batch(|q| {
                    let mut t = rt.buffer::<u8, 1>(1 << 16)?;
                    q.fill(&mut t, 7)?;
                    q.copy(&t, &mut out)
                })
                .unwrap();
                assert_eq!(out.get((1 << 16) - 1).unwrap(), 7);
            }
        });
        let many = scope.spawn(|| {
            let mut outs: Vec<_> = (0..17).map(|k| rt.buffer::<u8, 1>(100 + k).unwrap()).collect();
            for _ in 0..300 {
                q.batch(|q| {
                    for (k, out) in outs.iter_mut().enumerate() {
                        let mut t = rt.buffer::<u8, 1>(100 + k)?;
                        q.fill(&mut t, 1)?;
                        q.copy(&t, out)?;
                    }
                    Ok(())
                })
                .unwrap();
            }
        });
        large.join().unwrap();
        many.join().unwrap();
    });
    rt.wait().unwrap();
}
