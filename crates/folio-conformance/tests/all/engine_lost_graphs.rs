//! The loss of a device while graphs, conditions and blocks run: ERR-04. On simulated devices.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests may panic")]

use crate::engine_lost::{KINDS, LONG, SECOND, eventually, kinds, lost, on, open};
use folio::prelude::*;
use folio_core::hal::Link;
use folio_core::{Executable, Graph, Result, graph::Replay};
use folio_sim::{Builder, DeviceSpec, SimBackend};
use std::sync::mpsc;
use std::time::Instant;

#[kernel]
fn adds(i: Item, n: i32, x: InOut<i32>) {
    x[i] += n;
}

/// What is at an index may be out of bounds, so a host thread runs loops of this.
#[kernel]
fn gathers(i: Item, at: In<u32>, x: In<i32>, y: InOut<i32>) {
    y[i] += x[at[i] as usize];
}

type Run = Box<dyn Fn(&Queue) -> Result<Event> + Send>;

/// Something that runs as often as asked, what it writes, and the value that it writes.
struct Way {
    name: &'static str,
    run: Run,
    result: Shared<i32>,
    want: i32,
    /// From some run on it is one operation of a device that has graphs.
    is_one: bool,
}

fn graph(rt: &Runtime) -> Result<Graph> {
    rt.graph(&rt.devices()[0])
}

fn of(run: Executable) -> Run {
    Box::new(move |q| q.run_graph(&run))
}

/// A chain of commands: a list, or one by one.
fn chain(rt: &Runtime, how: Replay, name: &'static str) -> Result<Way> {
    let (x, y) = (rt.buffer(8)?.into_shared(), rt.buffer(8)?.into_shared());
    let graph = graph(rt)?;
    graph.add(|cg| cg.fill(&x, 1))?;
    graph.add(|cg| cg.run(8, adds(1, &x)))?;
    graph.add(|cg| cg.copy(&x, &y))?;
    let run = graph.finalize()?;
    run.replay_as(how);
    Ok(Way { name, run: of(run), result: y, want: 2, is_one: how == Replay::Lists })
}

/// A loop of three iterations; by the device, if it can.
fn turns(rt: &Runtime, by_device: bool, name: &'static str) -> Result<Way> {
    let (x, y, left) =
        (rt.buffer(8)?.into_shared(), rt.buffer(8)?.into_shared(), rt.buffer(1)?.into_shared());
    let (at, body, graph) = (rt.buffer_from(&[7u32; 8])?, graph(rt)?, graph(rt)?);
    match by_device {
        true => body.add(|cg| cg.run(8, adds(1, &y)))?,
        false => body.add(|cg| cg.run(8, gathers(&at, &x, &y)))?,
    };
    body.add(|cg| cg.run(1, adds(-1, &left)))?;
    graph.add(|cg| cg.fill(&x, 1))?;
    graph.add(|cg| cg.fill(&y, 5))?;
    graph.add(|cg| cg.fill(&left, 3))?;
    graph.while_(&[], &left, 10, &body.finalize()?)?;
    Ok(Way { name, run: of(graph.finalize()?), result: y, want: 8, is_one: by_device })
}

/// A block that comes again.
fn block(rt: &Runtime) -> Result<Way> {
    let (x, y) = (rt.buffer_from(&[1; 8])?.into_shared(), rt.buffer(8)?.into_shared());
    let result = y.clone();
    let run = move |q: &Queue| {
        let block = |q: &Queue| {
            q.copy(&x, &y)?;
            q.run(8, adds(1, &y))
        };
        q.batch(block).map(|(_, event)| event)
    };
    Ok(Way { name: "a known block", run: Box::new(run), result, want: 2, is_one: true })
}

fn ways(rt: &Runtime) -> Result<Vec<Way>> {
    Ok(vec![
        chain(rt, Replay::Lists, "a list")?,
        chain(rt, Replay::Commands, "commands")?,
        turns(rt, true, "a loop of the device")?,
        turns(rt, false, "a loop of the host")?,
        block(rt)?,
    ])
}

/// Runs everything several times. Each answer is right or says that the device is lost. Returns how
/// many say so.
fn program(rt: &Runtime) -> usize {
    let mut errors = 0;
    let mut is_lost = |result: Result<()>, what: &str| {
        if result.is_err() {
            lost(result, what);
            errors += 1;
        }
    };
    let ways = match ways(rt) {
        Ok(ways) => ways,
        Err(error) => {
            is_lost(Err(error), "what is to run");
            return errors;
        }
    };
    let q = on(rt, 0);
    for Way { name, run, result, want, .. } in &ways {
        for _ in 0..4 {
            let event = match run(&q) {
                Ok(event) => event,
                // Nothing has been submitted.
                Err(error) => {
                    is_lost(Err(error), name);
                    continue;
                }
            };
            is_lost(event.wait(), name);
            let right = |got: Vec<i32>| assert_eq!(got, [*want; 8], "{name}");
            is_lost(result.to_vec().map(right), name);
        }
    }
    errors
}

/// ERR-04, ERR-02: a device is lost in place of each of its operations in turn. No hang, no wrong
/// answer, nothing leaked, and the contract is kept.
#[test]
fn a_loss_at_any_operation_of_graphs_is_survived() {
    let (mut failing, mut fine) = (0, 0);
    let builder =
        |at| SimBackend::builder().device(DeviceSpec::new().lose_at(at)).device(DeviceSpec::new());
    let cases = (1..60).chain((60..600).step_by(9)).flat_map(|at| {
        [builder(at), builder(at).peers(Link::default())].map(|builder| (at, builder))
    });
    for (at, builder) in cases {
        let (rt, sim) = open(&builder);
        let start = Instant::now();
        match program(&rt) {
            0 => fine += 1,
            _ => failing += 1,
        }
        rt.shutdown(LONG).unwrap();
        assert!(start.elapsed() < SECOND, "{at}: {:?}", start.elapsed());
        drop(rt);
        eventually("everything is given back", || sim.live_allocations() == (0, 0));
        assert_eq!(sim.violations(), [], "lost at {at}");
    }
    assert!(failing > 60 && fine > 0, "{failing} programs met the loss, and {fine} did not");
}

/// Runs one of the ways until it is one operation if it ever is, and once more while the device
/// does nothing; then loses the device.
fn loses_in_flight(kind: &str, builder: &Builder, nth: usize) {
    let (rt, sim) = open(builder);
    let way = ways(&rt).unwrap().swap_remove(nth);
    let (q, what) = (on(&rt, 0), format!("{kind}: {}", way.name));
    for _ in 0..4 {
        (way.run)(&q).unwrap().wait().unwrap();
        assert_eq!(way.result.to_vec().unwrap(), [way.want; 8], "{what}");
    }
    let replays = q.counters().replays;
    assert!(replays > 0 || !way.is_one, "{what} is never one operation");
    KINDS.iter().for_each(|lane| sim.hold(0, *lane));
    let event = (way.run)(&q).unwrap();
    assert!(!event.is_done(), "{what} has ended");
    assert!(q.counters().replays > replays || !way.is_one, "{what} is not one operation");
    let (tell, told) = mpsc::channel();
    let waiting = std::thread::spawn({
        let (event, q, result) = (event.clone(), q.clone(), way.result.clone());
        move || {
            let all = [event.wait(), q.wait(), result.to_vec().map(drop)];
            let _ = tell.send((all, Instant::now()));
        }
    });
    let start = Instant::now();
    sim.lose(0);
    let ([event, queue, read], end) =
        told.recv_timeout(LONG).unwrap_or_else(|_| panic!("{what} hangs"));
    assert!(end.duration_since(start) < SECOND, "{what}: {:?}", end.duration_since(start));
    waiting.join().unwrap();
    lost(event, &what);
    lost(queue, &what);
    lost(read, &what);
    // What comes later does not begin, and the other device works.
    lost((way.run)(&q).and_then(|event| event.wait()), &what);
    let x = rt.buffer_from(&[1; 8]).unwrap().into_shared();
    on(&rt, 1).run(8, adds(1, &x)).unwrap();
    assert_eq!(x.to_vec().unwrap(), [2; 8], "{what}");
    drop((way, x));
    rt.shutdown(LONG).unwrap();
    drop((q, rt));
    eventually("everything is given back", || sim.live_allocations() == (0, 0));
    assert_eq!(sim.violations(), [], "{what}");
}

/// ERR-04
#[test]
fn a_loss_ends_what_is_in_flight_of_graphs() {
    for (kind, builder) in kinds() {
        (0..5).for_each(|nth| loses_in_flight(kind, &builder, nth));
    }
}
