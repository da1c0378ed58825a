//! What a program gives is dropped without a lock: captures, descriptions and functions that go
//! where something is refused, or replaced, may use what refused them. ERR-04
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use folio::cpu::CpuBackend;
use folio::error::GraphError;
use folio::geom::Box3;
use folio::prelude::*;
use folio::sched::Split;
use folio::{Executable, Parameter, UsmKind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

const N: usize = 64;

/// Calls a function when it is dropped.
struct OnDrop<F: Fn()>(F);

impl<F: Fn()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

fn cpu(domains: usize) -> Runtime {
    let backend = CpuBackend::builder().domains(domains).build().unwrap();
    Runtime::builder().backend(backend).build().unwrap()
}

#[kernel]
fn adds(i: Item, y: InOut<u32>) {
    y[i] += 1;
}

#[test]
fn captures_of_refused_nodes_may_use_the_graph() {
    let (rt, drops) = (cpu(1), Arc::new(AtomicUsize::new(0)));
    let (graph, other) = (rt.graph("cpu").unwrap(), rt.graph("cpu").unwrap());
    let (q, foreign) = (rt.queue().unwrap(), other.add(|_| ()).unwrap());
    let capture = || {
        let (graph, drops) = (graph.clone(), drops.clone());
        OnDrop(move || _ = drops.fetch_add(1 + graph.len(), Ordering::Relaxed))
    };
    let task = |cg: &mut folio::CommandGroup, captured: OnDrop<_>| {
        cg.each_run().host_task((), move |()| _ = &captured);
    };
    let mut refused = vec![graph.add_after(&[foreign], |cg| task(cg, capture())).map(drop)];
    let recorded = other.record([&rt.queue().unwrap()]).unwrap();
    let elsewhere = rt.queue().unwrap();
    let recording = (recorded, other.record([&elsewhere]).unwrap());
    let event = elsewhere.barrier().unwrap();
    let own = graph.record([&q]).unwrap();
    refused.push(graph.add(|cg| task(cg, capture())).map(drop));
    let captured = capture();
    let described = graph.add_updatable(&[], move |_| {
        let _ = &captured;
        Ok(())
    });
    refused.push(described.map(drop));
    refused.push(
        q.submit(|cg| {
            task(cg.after(&event), capture());
            Ok(())
        })
        .map(drop),
    );
    drop((own, recording));
    for error in &refused {
        let Err(Error::Graph { why, .. }) = error else { panic!("{error:?}") };
        assert!(
            matches!(**why, GraphError::ForeignNode { .. } | GraphError::BeingRecorded),
            "{why}"
        );
    }
    assert_eq!((refused.len(), drops.load(Ordering::Relaxed), graph.len()), (4, 4, 0));
}

#[test]
fn captures_of_commands_after_their_block_may_submit() {
    let (rt, drops) = (cpu(1), Arc::new(AtomicUsize::new(0)));
    let queue = rt.queue().unwrap();
    let (ended, _) = queue.batch(|q| Ok(q.clone())).unwrap();
    let is_ended = |result: folio::Result<folio::Event>| {
        let Err(Error::Graph { why, .. }) = result else { return false };
        matches!(*why, GraphError::BlockEnded { .. })
    };
    let (q, counted) = (ended.clone(), drops.clone());
    let captured = OnDrop(move || {
        assert!(is_ended(q.submit(|cg| {
            cg.host_task((), |()| ());
            Ok(())
        })));
        counted.fetch_add(1, Ordering::Relaxed);
    });
    let refused = ended.submit(|cg| {
        cg.host_task((), move |()| _ = &captured);
        Ok(())
    });
    assert!(is_ended(refused));
    assert_eq!(drops.load(Ordering::Relaxed), 1);
}

/// Of threads that describe a node again at once, one is first.
#[test]
fn captures_of_descriptions_that_come_late_may_use_the_executable() {
    let rt = cpu(1);
    let (graph, number) = (rt.graph("cpu").unwrap(), Parameter::new(0));
    let known: Arc<Mutex<Option<Executable>>> = Arc::default();
    let (read, kept) = (number.clone(), known.clone());
    let describe = move |cg: &mut folio::CommandGroup| {
        cg.parameter(&read);
        std::thread::yield_now();
        let kept = kept.clone();
        let captured = OnDrop(move || {
            let executable = kept.lock().unwrap().clone();
            let _ = executable.map(|executable| executable.runs());
        });
        cg.each_run().host_task((), move |()| _ = &captured);
        Ok(())
    };
    graph.add_updatable(&[], describe).unwrap();
    let executable = graph.finalize().unwrap();
    *known.lock().unwrap() = Some(executable.clone());
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let q = rt.queue().unwrap();
                for value in 0..100 {
                    number.set(value);
                    q.run_graph(&executable).unwrap();
                }
            });
        }
    });
    rt.wait().unwrap();
    assert_eq!(executable.runs(), 400);
    let last = known.lock().unwrap().take();
    drop(last);
}

#[test]
fn function_of_a_split_may_use_the_buffer_when_it_goes() {
    let (rt, drops) = (cpu(2), Arc::new(AtomicUsize::new(0)));
    let x = Arc::new(rt.buffer_from(&[0u32; N]).unwrap().into_shared());
    let rows = rt.queue_over(&rt.devices(), Split::rows()).unwrap();
    let (q, shared, counted) = (rows.clone(), x.clone(), drops.clone());
    let captured = OnDrop(move || {
        q.spread(N, adds(&*shared)).unwrap();
        counted.fetch_add(1, Ordering::Relaxed);
    });
    let split = Split::by(move |items, devices| {
        let _ = &captured;
        let mut parts = vec![Box3::EMPTY; devices];
        parts[0] = *items;
        parts
    });
    let first = rt.queue_over(&rt.devices(), split).unwrap();
    first.spread(N, adds(&*x)).unwrap().wait().unwrap();
    // The buffer still knows that division.
    drop(first);
    assert_eq!(drops.load(Ordering::Relaxed), 0);
    rows.spread(N, adds(&*x)).unwrap().wait().unwrap();
    assert_eq!(drops.load(Ordering::Relaxed), 1);
    assert_eq!(x.to_vec().unwrap(), [3; N]);
}

/// As many as there are, they go one by one, not one within the other.
#[test]
fn a_million_owners_of_memory_go_without_a_deep_stack() {
    let rt = cpu(1);
    let owner = Arc::new(());
    let mut usm = rt.usm::<u32>(&rt.devices()[0], UsmKind::Host, 1).unwrap();
    for _ in 0..1_000_000 {
        usm = usm.keeping(owner.clone());
    }
    assert_eq!(Arc::strong_count(&owner), 1_000_001);
    drop(usm);
    assert_eq!(Arc::strong_count(&owner), 1);
}
