//! Launches, and replays of nothing else, that are ready to be enqueued. A lane collects a few and
//! then gives them to the driver one right after the other: so the driver's code is run from warm
//! caches, and ours as well; and the thread of a device that is a CPU finds the next kernel there,
//! where it would otherwise sleep after each and be woken for the next. The first launch of a lane
//! that is seen to have ended all is not held, and then two are, and four: it begins while those
//! after it come.
//!
//! Whatever else is enqueued comes after them (`Commands`, `LaneState::mark`, `LaneState::flush`).
//! A launch that the driver refuses fails, and is told when the lane looks how far it is.

use crate::cl::{Buffer, Event, Queue};
use crate::copy::enqueue;
use crate::graph::Nodes;
use crate::memory::{Pointer, with_room};
use crate::module::Built;
use folio_core::hal::{DeviceKind, HalError, Tick};
use std::mem::take;
use std::ptr::null_mut;
use std::sync::Arc;

/// The most launches that are enqueued together to a device that is a CPU, whose threads contend
/// for locks with whoever enqueues.
pub(crate) const MOST: usize = 64;
/// The same of other devices: what they are stays in the caches.
pub(crate) const FEW: usize = 16;

/// Launches in order, and what was refused of earlier ones.
pub(crate) struct LaunchBatch {
    /// How many are enqueued together, at most, and now.
    most: usize,
    enough: usize,
    operations: Vec<Operation>,
    /// Launches of all operations.
    launches: usize,
    /// Of all operations, one after the other.
    words: Vec<u64>,
    pointers: Vec<Pointer>,
    refused: Vec<(Tick, HalError)>,
}

/// An operation, whose words and pointers end there.
struct Operation {
    tick: Tick,
    what: OperationKind,
    words: usize,
    pointers: usize,
}

enum OperationKind {
    Launch(Launch),
    Replay(Arc<Nodes>),
}

struct Launch {
    built: Arc<Built>,
    /// Numbers that are too many for arguments by value. Goes when its commands have ended: they
    /// hold it.
    _apart: Option<Buffer>,
    global: [usize; 3],
    local: [usize; 3],
}

/// The arguments of a launch's entry.
pub(crate) struct LaunchArguments<'h> {
    /// By value, unless they are in memory.
    pub(crate) words: &'h [u64],
    /// To words, parameters, and a record.
    pub(crate) pointers: &'h [Pointer],
    /// Threads of a group.
    pub(crate) threads: usize,
}

impl LaunchBatch {
    /// Of a lane of such a device.
    pub(crate) fn new(kind: DeviceKind) -> LaunchBatch {
        let (operations, words, pointers, refused) = Default::default();
        LaunchBatch {
            most: if kind == DeviceKind::Cpu { MOST } else { FEW },
            enough: 1,
            operations,
            launches: 0,
            words,
            pointers,
            refused,
        }
    }

    /// They are to be enqueued, and of the next ones more are to be held.
    pub(crate) fn is_full(&mut self) -> bool {
        let full = self.launches >= self.enough;
        if full {
            self.enough = self.most.min(2 * self.enough);
        }
        full
    }

    /// All that was enqueued is seen to have ended.
    pub(crate) fn rest(&mut self) {
        self.enough = 1;
    }

    /// How many operations there are.
    pub(crate) fn len(&self) -> usize {
        self.operations.len()
    }

    /// Where the next launch's words and pointers are put, before it is [added](LaunchBatch::push).
    pub(crate) fn begin(&mut self) -> (&mut Vec<u64>, &mut Vec<Pointer>) {
        // Of one that was not added something may be left.
        let (words, pointers) =
            self.operations.last().map_or((0, 0), |last| (last.words, last.pointers));
        self.words.truncate(words);
        self.pointers.truncate(pointers);
        (&mut self.words, &mut self.pointers)
    }

    /// Adds the launch whose words and pointers have been put.
    pub(crate) fn push(
        &mut self,
        tick: Tick,
        built: Arc<Built>,
        _apart: Option<Buffer>,
        [global, local]: [[usize; 3]; 2],
    ) {
        let (words, pointers) = (self.words.len(), self.pointers.len());
        let what = OperationKind::Launch(Launch { built, _apart, global, local });
        self.operations.push(Operation { tick, what, words, pointers });
        self.launches += 1;
    }

    /// Adds a replay of launches.
    pub(crate) fn push_replay(&mut self, tick: Tick, nodes: &Arc<Nodes>) {
        let (words, pointers) = self.begin();
        let (words, pointers) = (words.len(), pointers.len());
        let what = OperationKind::Replay(nodes.clone());
        self.operations.push(Operation { tick, what, words, pointers });
        self.launches += nodes.launches;
    }

    /// Enqueues them; the last one with an event, if it is to be told of.
    pub(crate) fn enqueue(&mut self, queue: &Queue, told: bool) -> Option<Event> {
        let (mut words, mut pointers, mut last) = (0, 0, None);
        let count = self.operations.len();
        for (at, operation) in self.operations.drain(..).enumerate() {
            let mut event = null_mut();
            let to = if told && at + 1 == count { &raw mut event } else { null_mut() };
            let done = match &operation.what {
                OperationKind::Replay(nodes) => nodes.enqueue(queue, to),
                OperationKind::Launch(launch) => {
                    let given = LaunchArguments {
                        words: &self.words[words..operation.words],
                        pointers: &self.pointers[pointers..operation.pointers],
                        threads: launch.local.iter().product(),
                    };
                    launch.built.given(&given, |kernel| {
                        with_room(|| enqueue(queue, kernel, launch.global, Some(launch.local), to))
                    })
                }
            };
            (words, pointers) = (operation.words, operation.pointers);
            match done {
                // A replay may have no launch.
                Ok(()) if !event.is_null() => last = Some(Event(event)),
                Ok(()) => {}
                Err(error) => self.refused.push((operation.tick, error)),
            }
        }
        self.launches = 0;
        self.words.clear();
        self.pointers.clear();
        last
    }

    /// The launches do not run, for this reason.
    pub(crate) fn give_up(&mut self, why: &HalError) {
        self.refused.extend(self.operations.drain(..).map(|held| (held.tick, why.clone())));
        self.launches = 0;
        self.words.clear();
        self.pointers.clear();
    }

    /// Why the last launch was refused, if it is of this tick; it is not told again.
    pub(crate) fn was_refused(&mut self, tick: Tick) -> Option<HalError> {
        let last = self.refused.pop_if(|(refused, _)| *refused == tick);
        last.map(|(_, error)| error)
    }

    /// Refusals since this was last asked.
    pub(crate) fn refused(&mut self) -> Vec<(Tick, HalError)> {
        take(&mut self.refused)
    }
}
