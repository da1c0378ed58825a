//! Random programs of which parts are graphs: built by hand or by recording, within other graphs,
//! and as batches; run several times between ordinary commands and guards, with updates between
//! runs, command by command and by lists. Compared with the same commands in turn
//! (GRAPH-01, GRAPH-03, GRAPH-07, GRAPH-08). In a quarter of them [something goes wrong](
//! graphs_faults).
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

use crate::graphs_chosen::{Choice, Kind};
use crate::graphs_steps::{BUFFERS, FLAGS, Log, N, Step, What};
use crate::graphs_world::{Made, Seen, Way, World, builder, exchange, reorder, see};
use crate::{graphs_faults, graphs_mishaps};
use folio::prelude::*;
use folio_core::{
    Result, RuntimeBuilder,
    graph::{Replay, ReplayReport},
};
use folio_cpu::CpuBackend;
use folio_model::rng::Rng;
use folio_model::suite::{Budget, cases, line};
use std::time::Instant;

fn see_replays(seen: &Seen, report: &ReplayReport) {
    see(seen, "lists", report.replays);
    see(seen, "runs that are cut", (report.parts.len() > 1).into());
}

pub(crate) fn case(rt: Runtime, seed: u64, seen: &Seen) -> Result<(), String> {
    let told = |error: Error| format!("{error}");
    let mut rng = Rng::new(seed);
    let mut world = World::new(rt, &mut rng).map_err(told)?;
    let devices = world.rt.devices();
    let queues =
        devices.iter().flat_map(|on| [world.rt.queue_on(on), world.rt.in_order_queue_on(on)]);
    let queues = queues.collect::<Result<Vec<_>>>().map_err(told)?;
    for block in 0..rng.within(1, 4) {
        let way = [Way::Ordinary, Way::ByHand, Way::Recorded, Way::Nested, Way::Split, Way::Batch];
        let way = rng.pick(&way);
        let mut steps = Step::block(&mut rng);
        // A loop whose blocks are of one kind.
        let is_loop = matches!(way, Way::Batch) && rng.chance(60);
        if is_loop {
            steps.retain(|step| !step.fixed && !matches!(step.what, What::Task));
            steps.iter_mut().for_each(|step| step.after = None);
        }
        let (least, most, exchanges) = if is_loop { (4, 16, 70) } else { (1, 8, 35) };
        let only_values = is_loop && rng.chance(60);
        let at = rng.below(devices.len());
        let (on, queue) = (&devices[at], &queues[2 * at + rng.below(2)]);
        world.at = at;
        for step in &mut steps {
            if let What::RawCopy(pointers) = &mut step.what {
                match world.pointers(on) {
                    Ok(both) => *pointers = Some(both),
                    // Without addresses it is a copy between buffers.
                    Err(Error::Unsupported { .. }) => step.what = What::Copy,
                    Err(other) => return Err(told(other)),
                }
            }
        }
        see_steps(seen, way, &steps);
        let mut made = world.make(on, way, &steps, &mut rng).map_err(told)?;
        if let Made::Graph { runs, .. } = &made {
            let how = if rng.chance(20) { Replay::Commands } else { Replay::Lists };
            runs.iter().for_each(|run| run.replay_as(how));
        }
        let times = if rng.chance(4) { rng.within(9, 64) } else { rng.within(least, most) };
        see(seen, "many runs", (times > most).into());
        for run in 0..times {
            let doing =
                |why: String| format!("block {block}, {way:?}, run {run}: {why}\n{steps:#?}");
            world.run(queue, &made, &steps, &mut Vec::new()).map_err(told).map_err(doing)?;
            steps.iter().for_each(|step| step.run(&mut world.data));
            if rng.chance(30) {
                world.check(&mut rng).map_err(doing)?;
            }
            if rng.chance(30) {
                let (step, at) = (Step::random(&mut rng, 0), rng.below(devices.len()));
                let other = world.rt.queue_on(&devices[at]).map_err(told)?;
                let log = Log::default();
                other.submit(|cg| step.describe((0, &world.all, &log), cg)).map_err(told)?;
                step.run(&mut world.data);
            }
            if rng.chance(15) {
                let (at, i, value) = (rng.below(BUFFERS), rng.below(N), rng.below(1000) as i64);
                world.all[at].write().map_err(told)?[i] = value;
                world.data[at][i] = value;
            }
            if only_values {
                for step in &mut steps {
                    let most = if step.to == FLAGS { 4 } else { 1000 };
                    step.term = if rng.chance(50) { rng.below(most) as i64 } else { step.term };
                }
            } else if rng.chance(exchanges) {
                exchange(&mut made, (way, on), &mut steps, &world, (&mut rng, seen))
                    .map_err(told)?;
            }
            if let Made::Direct(_) | Made::Batch(_) = made
                && rng.chance(30)
            {
                let order = world.check_order(&steps);
                order.map_err(|why| format!("block {block}, {way:?}, run {run}: {why}"))?;
                reorder(&mut steps, &mut rng);
            }
            if let Made::Graph { runs, .. } = &made
                && rng.chance(10)
            {
                let how = rng.pick(&[Replay::Lists, Replay::Commands]);
                runs.iter().for_each(|run| run.replay_as(how));
            }
        }
        world.check_order(&steps).map_err(|why| format!("block {block}, {way:?}: {why}"))?;
        let runs = if let Made::Graph { runs, .. } = &made { &runs[..] } else { &[] };
        for run in runs {
            see_replays(seen, &run.replay_report());
            let memory = run.memory().map_err(told)?;
            see(seen, "temporaries", memory.temporaries as u64);
            see(seen, "shared memory", (memory.temporaries - memory.memories) as u64);
        }
        see(seen, "temporaries of batches", queue.batch_report().temporaries as u64);
        see(seen, "blocks as one operation", queue.batch_report().replayed);
        see(seen, "blocks with other arguments", queue.batch_report().exchanged);
        if runs.iter().any(|run| run.device().name() != on.name()) {
            return Err("a graph of another device".to_owned());
        }
    }
    for _ in 0..2 * BUFFERS {
        world.check(&mut rng)?;
    }
    world.rt.wait().map_err(told)
}

/// Counts what steps are.
fn see_steps(seen: &Seen, way: Way, steps: &[Step]) {
    see(seen, "graphs one behind the other", (way == Way::Split).into());
    for step in steps {
        see(seen, "barriers in batches", (way == Way::Batch && step.barrier).into());
        match step.what {
            What::Prefetch => see(seen, "prefetches", 1),
            What::RawCopy(_) => see(seen, "copies by pointers", 1),
            What::Chosen(Choice { kind: Kind::While, .. }) => see(seen, "loops", 1),
            What::Chosen(_) => see(seen, "conditions", 1),
            _ => {}
        }
    }
}

/// How many cases there were, and what occurred in them.
fn suite(name: &str, case: &(dyn Fn(u64, &Seen) -> Result<(), String> + Sync)) -> (u64, Seen) {
    let budget = Budget::of(name);
    let (start, seen) = (Instant::now(), Seen::default());
    let with_seed = |seed| case(seed, &seen).map_err(|why| format!("seed {seed}: {why}"));
    let (done, wrong) = cases(budget, 2, &with_seed);
    println!("{}", line(&name.to_lowercase(), done, start.elapsed(), wrong.len(), budget.seed));
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    let least = budget.cases.unwrap_or(budget.least);
    assert!(done >= least, "{done} cases, at least {least} asked");
    println!("{:?}", seen.lock().unwrap());
    (done, seen)
}

/// Over backends alone, and beside the memories of a CPU; one runtime of each for all cases. Each
/// process compiles three kernels for each device.
pub(crate) fn over(name: &str, builder: &dyn Fn() -> RuntimeBuilder) {
    let cpu = CpuBackend::builder().domains(2).threads(1).build().unwrap();
    let all = [builder(), builder().backend(cpu)].map(|builder| builder.build().unwrap());
    let (done, seen) =
        suite(name, &|seed, seen| case(all[seed as usize % all.len()].clone(), seed, seen));
    let seen = seen.lock().unwrap();
    let absent: Vec<_> = ["lists"].into_iter().filter(|w| !seen.contains_key(w)).collect();
    assert!(done < 100 || absent.is_empty(), "no case of {absent:?}");
}

#[test]
fn suite_graphs() {
    let (done, seen) = suite("GRAPHS", &|seed, seen| match seed % 4 {
        0 => graphs_faults::case(seed / 4, None, seen),
        _ => case(builder(seed).build().map_err(|error| error.to_string())?, seed, seen),
    });
    let seen = seen.lock().unwrap();
    let all = [
        "lists",
        "runs that are cut",
        "temporaries",
        "shared memory",
        "temporaries of batches",
        "blocks as one operation",
        "many runs",
        "graphs one behind the other",
        "updates within graphs",
        "updates of a whole graph",
        "prefetches",
        "copies by pointers",
        "conditions",
        "loops",
        "barriers in batches",
        "blocks with other arguments",
    ];
    let absent = |all: &[&str]| -> Vec<String> {
        let absent = all.iter().filter(|what| !seen.contains_key(*what));
        absent.map(|what| (*what).to_owned()).collect()
    };
    let none = absent(&all);
    assert!(done < 500 || none.is_empty(), "no case of {none:?}");
    let none = absent(graphs_mishaps::ALL);
    assert!(done < 10_000 || none.is_empty(), "no case of {none:?}");
}
