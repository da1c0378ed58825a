//! The straight way against the general one: random commands are given to two engines, of which one
//! must take the general way for all of them. After each, both must know the same.
#![allow(clippy::expect_used, reason = "helpers of tests may panic")]

use super::*;
use crate::engine::lanes::Lanes;
use crate::engine::null::{LaneProgress, Null, number};
use crate::order::hazards::RestingPages;
use crate::pages::testing::Rng;
use crate::{Buffer, Event, Queue, Result, Runtime};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Elements of each buffer.
const N: usize = 4;

/// An engine whose operations end when the test says so.
struct Side {
    null: Null,
    rt: Runtime,
    queues: Vec<Queue>,
    buffers: Vec<Buffer<u32>>,
    /// What all commands come after, where none is to go straight. It is done.
    after: Option<Event>,
}

/// What a command does to three different buffers.
type Submit = fn(&Queue, [&mut Buffer<u32>; 3], Option<&Event>) -> Result<Event>;

/// A command of these accesses.
macro_rules! command {
    ($($mode:ident $at:literal),*) => {
        |q, [a, b, c], after| {
            let mut all = [Some(a), Some(b), Some(c)];
            q.submit(|cg| {
                after.into_iter().for_each(|event| { cg.after(event); });
                let args = ($(command!($mode, cg, all[$at].take()),)*);
                cg.host_kernel([N], args, |_, _| {});
                Ok(())
            })
        }
    };
    (read, $cg:ident, $x:expr) => { $cg.read(&*$x.expect("each is used once")) };
    ($mode:ident, $cg:ident, $x:expr) => { $cg.$mode($x.expect("each is used once")) };
}

const COMMANDS: [Submit; 8] = [
    command!(read_write 0),
    command!(discard 0),
    command!(read 0, read_write 1),
    command!(read 0, discard 1),
    command!(read 0, read 1, read_write 2),
    command!(read 0, read 1, discard 2),
    command!(discard 0, read_write 1),
    command!(read 0, write 1, discard 2),
];

impl Side {
    fn new(general: bool) -> Result<Side> {
        let null = Null { held: Some(Arc::default()), ..Null::new(2) };
        // What it leaves unfinished is no news.
        let rt = Runtime::builder().backend(null.clone()).on_failure(|_| ()).build()?;
        let queues = vec![
            rt.queue_on("null:0")?,
            rt.queue_on("null:0")?,
            rt.in_order_queue_on("null:0")?,
            rt.queue_on("null:1")?,
        ];
        let done = queues[0].barrier()?;
        let buffers = (0..5).map(|_| rt.buffer(N)).collect::<Result<Vec<_>>>()?;
        Ok(Side { null, rt, queues, buffers, after: general.then_some(done) })
    }

    fn submit(&mut self, queue: usize, command: usize, at: [usize; 3]) -> Result<Event> {
        let mut all: Vec<Option<&mut Buffer<u32>>> = self.buffers.iter_mut().map(Some).collect();
        let picked = at.map(|at| all[at].take().expect("all different"));
        COMMANDS[command](&self.queues[queue], picked, self.after.as_ref())
    }

    /// Lets a part of what a lane was given end, the last of it with a failure.
    fn advance(&self, lane: usize, part: usize, fails: bool) {
        let lanes = self.null.lanes();
        let Some(lane) = lanes.get(lane) else { return };
        let (given, ended) =
            (lane.enqueued.load(Ordering::Acquire), lane.ended.load(Ordering::Acquire));
        let end = ended + (given - ended) * part as u64 / 4;
        // Under the ledger's lock, or else the reaper may see it first: what had been deferred
        // would then be handed over by that thread, at some later time.
        self.rt.core.engine.enter(|ledger| {
            if fails && end > ended {
                lane.failing.lock().expect("nobody panics").push(end);
            }
            lane.ended.store(end, Ordering::Release);
            ledger.poll_all();
        });
    }

    /// What the command that got `own` waits for on other lanes, and the place of its own.
    fn waits(&self, own: Stamp) -> (usize, Vec<(usize, Tick)>) {
        let When::Placed(lane, tick) = own.when() else { return (usize::MAX, Vec::new()) };
        let shared = self.rt.core.engine.table.shared(lane).expect("it has an operation");
        let lane = number(&*shared.native);
        let waits = self.null.lanes()[lane].waits.lock().expect("nobody panics").clone();
        (lane, waits[tick as usize - 1].clone())
    }

    /// Everything that later commands depend on.
    fn known(&self) -> Vec<String> {
        let waits =
            |lane: &Arc<LaneProgress>| format!("{:?}", lane.waits.lock().expect("nobody panics"));
        let mut all: Vec<String> = self.null.lanes().iter().map(waits).collect();
        let ledger = self.rt.core.engine.lock();
        for (at, lane) in
            ledger.timeline.lanes.iter().enumerate().filter(|(_, lane)| lane.issued > 0)
        {
            all.push(format!("lane {at}: {} of {}", lane.retired, lane.issued));
            for Record { what, queue, storages, sources, slot, defines, .. } in &lane.records {
                let (mut uses, mut keeps) = (sources.uses.to_vec(), sources.keeps.to_vec());
                uses.sort_unstable();
                uses.dedup();
                // Whose failure comes anyway need not be asked what it spoilt.
                keeps.retain(|stamp| !uses.contains(stamp));
                keeps.sort_unstable();
                keeps.dedup();
                let ids: Vec<u32> = storages.iter().map(|id| id.0).collect();
                all.push(format!("{what} {queue:?} {ids:?} {uses:?} {keeps:?} {slot:?} {defines}"));
            }
        }
        for buffer in &self.buffers {
            let storage = &ledger.storages[buffer.view.storage.id.0];
            let (current, defined) =
                (storage.residency.tracker.flat(), storage.residency.defined.flat());
            all.push(format!("{} used, {current:?} {defined:?}", storage.in_use));
            all.extend(storage.residency.hazards.at_rest().map(told));
        }
        for queue in &self.queues {
            let queue = &ledger.queues[queue.inner.id];
            let failures: Vec<u64> = queue.failures.iter().map(|failure| failure.id()).collect();
            let (last, fence, noted) = (queue.last, queue.fence, &queue.noted);
            all.push(format!("{:?} {last:?} {fence:?} {noted:?} {failures:?}", queue.placed));
            all.push(format!("{:?}", queue.counters));
        }
        all.push(format!("{:?} {}", ledger.counters, ledger.timeline.next_failure));
        all
    }
}

fn told(pages: RestingPages<'_>) -> String {
    let RestingPages { writers, older, readers, arrivals } = pages;
    let mut readers = readers.to_vec();
    readers.sort_unstable();
    format!("{writers:?} after {older:?}, {readers:?}, {arrivals:?}")
}

impl Drop for Side {
    /// Nobody waits for what a test has left.
    fn drop(&mut self) {
        for lane in self.null.lanes() {
            lane.ended.store(u64::from(u32::MAX), Ordering::Release);
        }
    }
}

/// DEP-01, DEP-02: what goes straight leaves behind what it would have left in the general way.
#[test]
fn the_straight_way_is_the_general_one() {
    let mut went = [0, 0];
    for seed in 0..600 {
        let mut rng = Rng::new(seed);
        let mut sides = [Side::new(false).unwrap(), Side::new(true).unwrap()];
        for step in 0..60 {
            let note = format!("seed {seed}, step {step}");
            match rng.below(8) {
                0 => {
                    let queue = rng.below(4);
                    sides.iter().for_each(|side| drop(side.queues[queue].barrier().unwrap()));
                }
                1 | 2 => {
                    let (lane, part) = (rng.below(12), 1 + rng.below(4));
                    let fails = rng.below(20) == 0;
                    sides.iter().for_each(|side| side.advance(lane, part, fails));
                }
                _ => {
                    let queue = [0, 0, 0, 1, 1, 2, 2, 3][rng.below(8)];
                    let command = rng.below(COMMANDS.len());
                    let first = rng.below(5);
                    let at =
                        [first, (first + 1 + rng.below(2)) % 5, (first + 3 + rng.below(2)) % 5];
                    let [a, b] = [0, 1].map(|which| {
                        let before = TAKEN.get();
                        let event = sides[which].submit(queue, command, at).unwrap();
                        went[which] += TAKEN.get() - before;
                        event.stamp
                    });
                    if a.lane() != b.lane() {
                        // Of several lanes that would do: here that of something that it waits
                        // for, unless it waits for nothing.
                        let ((lane, waits), (_, others)) = (sides[0].waits(a), sides[1].waits(b));
                        let near = others.iter().any(|(other, _)| *other == lane);
                        assert!(near || waits.is_empty(), "{note}: {a:?} {b:?}");
                        break;
                    }
                    assert_eq!(a, b, "{note}");
                }
            }
            let [straight, general] = sides.each_ref().map(Side::known);
            for (a, b) in straight.iter().zip(&general) {
                assert_eq!(a, b, "{note}: straight, and in general");
            }
            assert_eq!(straight.len(), general.len(), "{note}");
        }
    }
    assert!(went[0] > 1000 && went[1] == 0, "{went:?} went straight");
}

/// A subscriber that listens, and keeps the fields of plans.
#[derive(Clone, Default)]
struct Plans(Arc<std::sync::Mutex<Vec<String>>>);

struct Text<'a>(&'a mut String);

impl tracing::field::Visit for Text<'_> {
    fn record_debug(&mut self, field: &tracing::field::Field, value: &dyn std::fmt::Debug) {
        self.0.push_str(&format!("{}={value:?} ", field.name()));
    }
}

impl tracing::Subscriber for Plans {
    fn enabled(&self, metadata: &tracing::Metadata<'_>) -> bool {
        metadata.target() == "folio"
    }

    fn event(&self, event: &tracing::Event<'_>) {
        let mut text = String::new();
        event.record(&mut Text(&mut text));
        if text.contains("message=plan") && text.contains("what=\"kernel\"") {
            self.0.lock().expect("nobody panics").push(text);
        }
    }

    fn new_span(&self, _: &tracing::span::Attributes<'_>) -> tracing::span::Id {
        tracing::span::Id::from_u64(1)
    }

    fn record(&self, _: &tracing::span::Id, _: &tracing::span::Record<'_>) {}
    fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}
    fn enter(&self, _: &tracing::span::Id) {}
    fn exit(&self, _: &tracing::span::Id) {}
}

/// Commands of which none has data to bring. Tells how many went straight, and what all left
/// behind.
fn steady(general: bool) -> (u64, Vec<String>) {
    let mut side = Side::new(general).expect("it opens");
    let mut submit = |command| side.submit(0, command, [0, 1, 2]).expect("it is taken");
    (0..COMMANDS.len()).for_each(|command| drop(submit(command)));
    let before = TAKEN.get();
    (0..COMMANDS.len()).for_each(|command| drop(submit(command)));
    (TAKEN.get() - before, side.known())
}

/// OBS-01: a subscriber changes nothing of a command that goes straight, and is told of it what it
/// would be told in general.
#[test]
fn a_subscriber_turns_no_command_from_the_straight_way() {
    // While a process has one subscriber, `tracing` lets the thread that meets a place first decide
    // for all threads whether it is listened to there. The reaper has no subscriber.
    let _others = [(); 2].map(|()| tracing::Dispatch::new(Plans::default()));
    let (went, known) = steady(false);
    assert_eq!(went, COMMANDS.len() as u64);
    let traced = |general| {
        let plans = Plans::default();
        let told = plans.0.clone();
        let (went, known) = tracing::subscriber::with_default(plans, || steady(general));
        let told = told.lock().expect("nobody panics").clone();
        (went, known, told)
    };
    let ((straight, same, told), (_, _, general)) = (traced(false), traced(true));
    assert_eq!((straight, same), (went, known));
    assert_eq!(told.len(), 2 * COMMANDS.len());
    assert_eq!(told, general);
}

/// DEP-03: what is on one lane and does not depend on each other may overlap, if the device can.
#[test]
fn independent_operations_of_a_lane_may_overlap() {
    for general in [false, true] {
        let mut side = Side::new(general).unwrap();
        // There are fewer lanes for kernels than buffers.
        let mut round = || -> Vec<bool> {
            let events = (0..5).map(|x| side.submit(0, 0, [x, (x + 1) % 5, (x + 2) % 5]).unwrap());
            let stamps: Vec<Stamp> = events.map(|event| event.stamp).collect();
            stamps.into_iter().map(|stamp| side.waits(stamp).1.is_empty()).collect()
        };
        assert_eq!(round(), [true; 5], "general: {general}");
        assert_eq!(round(), [false; 5], "general: {general}");
    }
}
