//! Random programs over the devices of several ranks compute what one device computes, bit for bit,
//! on each of them, however late messages come.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests may panic")]

use crate::spread::{Dice, How, program, split};
use folio::prelude::*;
use folio_core::RuntimeBuilder;
use folio_core::hal::Wire;
use folio_cpu::CpuBackend;
use folio_model::suite::{Budget, cases, line};
use folio_mpi::World;
use folio_sim::SimWorld;
use std::thread;
use std::time::{Duration, Instant};

/// A rank's devices, of each rank as many.
fn machine(seed: u64) -> RuntimeBuilder {
    let (devices, threads) = (1 + seed as usize / 8 % 2, 1 + seed as usize / 2 % 2);
    let cpu = CpuBackend::builder().domains(devices).threads(threads).build().unwrap();
    Runtime::builder().backend(cpu)
}

/// What a rank finds.
fn rank(seed: u64, me: u32, sim: &SimWorld) -> Vec<u32> {
    let wire = sim.clone();
    let open = move || Ok::<Box<dyn Wire>, folio_mpi::Error>(Box::new(wire.wire(me)));
    let world = World::with(open, Duration::from_secs(60)).unwrap();
    let rt = machine(seed).layer(|backend| world.over(backend)).build().unwrap();
    let devices = rt.devices();
    let mut dice = Dice(seed.wrapping_add(1000));
    let over = |dice: &mut Dice| rt.queue_over(&devices, split(devices.len(), dice)).unwrap();
    let mut queues: Vec<Queue> = (0..3).map(|_| over(&mut dice)).collect();
    queues.extend(devices.iter().map(|device| rt.queue_on(device).unwrap()));
    let found = program(&rt, seed, || {
        let how =
            [How::Run, How::Run, How::Spread, How::Spread, How::Spread, How::Batch, How::Graph]
                [dice.below(7)];
        let among = if let How::Run = how { queues.len() } else { 3 };
        (queues[dice.below(among)].clone(), how)
    });
    drop((queues, devices, rt));
    world.leave();
    found
}

fn case(seed: u64) -> Result<(), String> {
    let ranks = [1, 2, 2, 3, 4, 5, 8, 16][seed as usize / 2 % 8];
    let one = CpuBackend::builder().domains(1).threads(1).build().unwrap();
    let one = Runtime::builder().backend(one).build().unwrap();
    let alone = one.queue().unwrap();
    let wanted = program(&one, seed, || (alone.clone(), How::Run));
    let sim = SimWorld::new(ranks).late(seed / 3 % 40).seed(seed);
    let found: Vec<_> = thread::scope(|scope| {
        let start = |me| {
            let sim = &sim;
            scope.spawn(move || rank(seed, me, sim))
        };
        let all: Vec<_> = (0..ranks).map(start).collect();
        all.into_iter().map(|rank| rank.join()).collect()
    });
    for (me, found) in found.into_iter().enumerate() {
        match found {
            Ok(found) if found == wanted => {}
            Ok(_) => return Err(format!("seed {seed}: other results on rank {me} of {ranks}")),
            Err(_) => return Err(format!("seed {seed}: rank {me} of {ranks} panicked")),
        }
    }
    Ok(())
}

/// KRN-02, DEP-01
#[test]
fn suite_ranks() {
    let budget = Budget::of("RANKS");
    let begun = Instant::now();
    let (done, wrong) = cases(budget, 1, &case);
    println!("{}", line("ranks", done, begun.elapsed(), wrong.len(), budget.seed));
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    let least = budget.cases.unwrap_or(budget.least);
    assert!(done >= least, "{done} cases, at least {least} asked");
}
