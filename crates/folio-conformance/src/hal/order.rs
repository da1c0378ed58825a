//! Ticks, waits, progress.

use super::Test;
use super::rig::{
    Map, Outcome, PATIENCE, Queue, Rig, Seat, ensure, geometry, host, host_mut, line, noise, run,
    unsupported,
};
use folio_core::hal::{LaneKind, Wait};
use std::time::Instant;

pub(super) const TESTS: &[Test] = &[
    ("completed_rises_to_what_was_issued", completed_rises_to_what_was_issued),
    ("a_lane_runs_in_order", a_lane_runs_in_order),
    ("a_lane_takes_many_operations", a_lane_takes_many_operations),
    ("lanes_wait_for_each_other", lanes_wait_for_each_other),
    ("devices_wait_for_each_other", devices_wait_for_each_other),
    ("free_operations_keep_to_their_waits", free_operations_keep_to_their_waits),
    ("a_wait_ends_at_its_deadline", a_wait_ends_at_its_deadline),
    ("flushed_work_ends_without_a_wait", flushed_work_ends_without_a_wait),
    ("lanes_take_work_from_several_threads", lanes_take_work_from_several_threads),
    ("progress_is_told", progress_is_told),
    ("operations_are_timed", operations_are_timed),
];

fn completed_rises_to_what_was_issued(rig: &Rig) -> Outcome {
    rig.each(|seat| {
        let memory = seat.memory(64)?;
        let mut queue = seat.queue(LaneKind::Compute)?;
        ensure!(queue.lane.completed()? == 0, "a new lane has completed something");
        let mut last = 0;
        for _ in 0..32 {
            queue.fill(&[run(memory.at(0), 64)], &[1])?;
            let now = queue.lane.completed()?;
            ensure!((last..=queue.last).contains(&now), "{now} after {last} of {}", queue.last);
            last = now;
        }
        queue.finish()?;
        let now = queue.lane.completed()?;
        ensure!(now == queue.last, "waited for {}, completed {now}", queue.last);
        let failures = queue.failures();
        ensure!(failures.is_empty(), "{failures:?}");
        Ok(())
    })
}

fn a_lane_runs_in_order(rig: &Rig) -> Outcome {
    rig.each(|seat| {
        let (a, b) = (seat.memory(256)?, seat.memory(256)?);
        let (data, mut back) = (noise(256, 3), vec![0; 256]);
        let mut queue = seat.queue(LaneKind::Compute)?;
        for round in 0..8 {
            queue.fill(&[run(a.at(0), 256)], &[round])?;
            queue.copy(&[], &[line(host(&data), a.at(0), 256)])?;
            queue.copy(&[], &[line(a.at(0), b.at(0), 256)])?;
            queue.fill(&[run(a.at(0), 256)], &[0xEE])?;
            queue.copy(&[], &[line(b.at(0), host_mut(&mut back), 256)])?;
            queue.finish()?;
            ensure!(back == data, "round {round} read other data");
            back.fill(0);
        }
        Ok(())
    })
}

/// Upload, compute and download on lanes of their own, chained by waits.
fn chain(up: Seat<'_>, compute: Seat<'_>, down: Seat<'_>) -> Outcome {
    const N: usize = 64;
    let memory = compute.memory(4 * N as u64)?;
    let (data, mut back) = (noise(4 * N as u64, 9), vec![0; 4 * N]);
    let mut upload = up.queue(LaneKind::Upload)?;
    let mut work = compute.queue(LaneKind::Compute)?;
    let mut download = down.queue(LaneKind::Download)?;
    for round in 0..8 {
        let before = download.last;
        let up = [line(host(&data), memory.at(0), 4 * N as u64)];
        upload.copy(&[(&download, before)], &up)?;
        let uploaded = upload.last;
        if compute.device.info().caps.closures {
            let params = [memory.param([1, 1, N], true)];
            let add = Map(|old: u32, _| old.wrapping_add(1));
            work.launch(&[(&upload, uploaded)], add, &geometry([1, 1, N]), &params)?;
        } else {
            work.copy(&[(&upload, uploaded)], &up)?;
        }
        let computed = work.last;
        let down = [line(memory.at(0), host_mut(&mut back), 4 * N as u64)];
        download.copy(&[(&work, computed)], &down)?;
        download.finish()?;
        let add = u32::from(compute.device.info().caps.closures);
        for (new, old) in back.chunks_exact(4).zip(data.chunks_exact(4)) {
            let value = |b: &[u8]| b.iter().rev().fold(0u32, |n, b| n << 8 | u32::from(*b));
            ensure!(value(new) == value(old).wrapping_add(add), "round {round} read other data");
        }
        back.fill(0);
    }
    Ok(())
}

fn lanes_wait_for_each_other(rig: &Rig) -> Outcome {
    if !rig.devices.iter().any(|d| d.info().caps.wait_group.is_some()) {
        return unsupported("native waits");
    }
    rig.each(|seat| {
        if seat.device.info().caps.wait_group.is_none() {
            return Ok(());
        }
        chain(seat, seat, seat)
    })
}

fn devices_wait_for_each_other(rig: &Rig) -> Outcome {
    let (first, second) = (rig.device(0)?, rig.device(1)?);
    let group = first.device.info().caps.wait_group;
    if group.is_none() || group != second.device.info().caps.wait_group {
        return unsupported("native waits between the first two devices");
    }
    let same = first.device.info().home == second.device.info().home;
    if !same && first.device.peer(&**second.device).is_none() {
        return unsupported("access between the first two devices");
    }
    chain(first, second, first)
}

fn free_operations_keep_to_their_waits(rig: &Rig) -> Outcome {
    rig.each(|seat| {
        let memory = seat.memory(1024)?;
        let (data, mut back) = (noise(1024, 5), vec![0; 1024]);
        let mut queue = seat.queue(LaneKind::Compute)?;
        let lane = queue.lane.clone();
        for part in 0..4 {
            let part = 256 * part;
            let bytes = &data[part as usize..];
            queue.copy_free(&[], &[line(host(bytes), memory.at(part), 256)])?;
        }
        let waits = [Wait { lane: &lane, tick: queue.last }];
        queue.copy_free(&waits, &[line(memory.at(0), host_mut(&mut back), 1024)])?;
        queue.finish()?;
        ensure!(back == data, "a free operation overtook what it waits for");
        Ok(())
    })
}

fn a_wait_ends_at_its_deadline(rig: &Rig) -> Outcome {
    rig.each(|seat| {
        let memory = seat.memory(64)?;
        let mut queue = seat.queue(LaneKind::Compute)?;
        ensure!(queue.lane.wait(0, Some(Instant::now()))?, "tick 0 is not reached");
        queue.fill(&[run(memory.at(0), 64)], &[1])?;
        // Either answer is right; hanging is not, nor a `true` that `completed` contradicts.
        if queue.lane.wait(1, Some(Instant::now()))? {
            ensure!(queue.lane.completed()? == 1, "waited for 1, not completed");
        }
        queue.finish()
    })
}

/// As many as the device says, one after another and without a look at how far it is.
fn a_lane_takes_many_operations(rig: &Rig) -> Outcome {
    rig.each(|seat| {
        let memory = seat.memory(64)?;
        let mut queue = seat.queue(LaneKind::Compute)?;
        let most = seat.device.info().caps.max_in_flight.min(1000);
        for k in 0..most {
            queue.fill(&[run(memory.at(0), 64)], &[k as u8])?;
        }
        queue.finish()?;
        let last = (most - 1) as u8;
        ensure!(queue.read(&memory)? == [last; 64], "the last of {most} fills is not there");
        Ok(())
    })
}

fn flushed_work_ends_without_a_wait(rig: &Rig) -> Outcome {
    rig.each(|seat| {
        let memory = seat.memory(64)?;
        let mut queue = seat.queue(LaneKind::Compute)?;
        queue.fill(&[run(memory.at(0), 64)], &[7])?;
        queue.lane.flush();
        let start = Instant::now();
        while queue.lane.completed()? < 1 {
            ensure!(start.elapsed() < PATIENCE, "flushed work does not end");
            queue.lane.drive();
            std::thread::yield_now();
        }
        ensure!(queue.read(&memory)?.iter().all(|b| *b == 7), "the fill is not there");
        Ok(())
    })
}

fn lanes_take_work_from_several_threads(rig: &Rig) -> Outcome {
    rig.each(|seat| {
        let work = |seed: u8| -> Outcome {
            let memory = seat.memory(512)?;
            let mut queue: Queue = seat.queue(LaneKind::Compute)?;
            for round in 0..32 {
                let data = noise(512, seed ^ round);
                queue.write(&memory, &data)?;
                ensure!(queue.read(&memory)? == data, "thread {seed} read other data");
            }
            Ok(())
        };
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4).map(|seed| scope.spawn(move || work(seed))).collect();
            threads.into_iter().try_for_each(|t| {
                t.join().unwrap_or_else(|_| {
                    Err(super::Stop::Failed("a thread of the test panicked".into()))
                })
            })
        })
    })
}

fn progress_is_told(rig: &Rig) -> Outcome {
    if !rig.devices.iter().any(|d| d.info().caps.notifies) {
        return unsupported("notifications");
    }
    rig.each(|seat| {
        if !seat.device.info().caps.notifies {
            return Ok(());
        }
        let memory = seat.memory(64)?;
        let mut queue = seat.queue(LaneKind::Compute)?;
        for round in 1..=32 {
            queue.fill(&[run(memory.at(0), 64)], &[round])?;
            // As the engine does when it has handed something over.
            queue.lane.flush();
            queue.lane.drive();
            loop {
                rig.notify.arm();
                if queue.lane.completed()? >= queue.last {
                    break;
                }
                let told = rig.told.recv_timeout(PATIENCE);
                ensure!(told.is_ok(), "round {round}: nobody tells of progress");
            }
        }
        Ok(())
    })
}

fn operations_are_timed(rig: &Rig) -> Outcome {
    if !rig.devices.iter().any(|d| d.info().caps.timing) {
        return unsupported("timing");
    }
    rig.each(|seat| {
        if !seat.device.info().caps.timing {
            return Ok(());
        }
        let memory = seat.memory(64)?;
        let mut queue = seat.queue(LaneKind::Compute)?;
        let mut last = 0;
        for tick in 1..=4 {
            queue.fill(&[run(memory.at(0), 64)], &[1])?;
            queue.finish()?;
            let timing = queue.lane.timing(tick);
            let rises = timing
                .is_some_and(|t| t.queued <= t.started && t.started <= t.ended && last <= t.ended);
            ensure!(rises, "tick {tick} after {last}: {timing:?}");
            last = timing.map_or(0, |t| t.ended);
        }
        Ok(())
    })
}
