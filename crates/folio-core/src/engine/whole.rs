//! Runs of command graphs as one operation of a lane, by the backend's own graphs.
//!
//! For the ledger such a run is one command, which uses what all commands of the graph use. So what
//! it waits for, and what has to be moved before it, is found as for any command. The backend's
//! graph names memory. It holds while all allocations are those for which it was made, which each
//! run compares under the ledger's lock: otherwise it is made again.

use super::access::Access;
use super::command::{Action, Command};
use super::lanes::Payload;
use super::ledger::Ledger;
use super::loaded::LoadedKernel;
use super::memory::RawMem;
use super::replay::Run;
use super::storage::StorageId;
use super::union::Union;
use super::{Engine, Missing, trace};
use crate::element::bytes_of;
use crate::error::{Error, Label};
use crate::hal::{
    Args, CopyRect, FillRect, Geometry, Graph, HalError, HostPtr, KernelRef, MemRef, Node, Op,
};
use crate::metrics::Hold;
use crate::order::stamp::Stamp;
use crate::panics::contain;
use crate::sync::Mutex;
use smallvec::SmallVec;
use std::cell::Cell;
use std::sync::Arc;

/// The commands of a graph as one of the backend's.
pub(crate) struct Whole {
    pub(crate) graph: Arc<dyn Graph>,
    accesses: SmallVec<[Access; 4]>,
    /// Where the memory of the accesses was.
    memory: Vec<Option<Place>>,
    /// The code that its launches name.
    _code: Vec<Arc<LoadedKernel>>,
    /// What its commands name by pointers.
    pub(crate) raw: Vec<RawMem>,
    /// What its nodes are called in failures.
    names: Vec<(&'static str, Label)>,
    pub(crate) launches: u64,
    pub(crate) copies: u64,
    pub(crate) fills: u64,
}

/// An allocation: how the device, its kernels and the host name it.
type Place = (MemRef, Option<u64>, Option<HostPtr>);

impl Whole {
    /// What a node is, and its label.
    pub(crate) fn name(&self, node: u32) -> Option<&(&'static str, Label)> {
        self.names.get(node as usize)
    }
}

/// What a node does, until the graph is made.
enum Part<'a> {
    Launch(KernelRef<'a>, &'a Geometry, Args<'a>),
    Copy(&'a [CopyRect]),
    Fill(&'a [FillRect], &'a [u8]),
    Join,
}

impl<'a> Part<'a> {
    fn of(payload: &'a mut Option<Payload>) -> Part<'a> {
        match payload {
            Some(Payload::Launch(Some(launch))) => {
                let launch = &mut **launch;
                let kernel = match launch.loaded {
                    Some(handle) => KernelRef::Loaded(handle),
                    None => KernelRef::Native(Cell::from_mut(&mut launch.kernel)),
                };
                let arguments = launch.opaque.as_ref().map_or(&[][..], |opaque| &opaque.arguments);
                let (blob, params, proved) =
                    (bytes_of(&launch.scalars), &launch.params, launch.proved);
                Part::Launch(kernel, &launch.geometry, Args { blob, params, proved, arguments })
            }
            Some(Payload::Copy(rects)) => Part::Copy(rects),
            Some(Payload::Fill(fill)) => Part::Fill(&fill.rects, &fill.pattern),
            // Advice is left out. The others are in no whole run (`why_not_whole`).
            Some(
                Payload::Launch(None) | Payload::Hint(_) | Payload::Switch(_) | Payload::Replay(_),
            )
            | None => Part::Join,
        }
    }

    fn op(&self) -> Op<'_> {
        match self {
            Part::Launch(kernel, geometry, args) => Op::Launch(*kernel, geometry, args),
            Part::Copy(rects) => Op::Copy(rects),
            Part::Fill(rects, pattern) => Op::Fill(rects, pattern),
            Part::Join => Op::Join,
        }
    }
}

impl Engine {
    /// Makes a graph of the device's of commands all of whose memory is there. The inner error is
    /// the device's, which cannot have such a graph.
    pub(crate) fn whole(
        &self,
        device: u16,
        mut commands: Vec<Command>,
        after: &[Vec<usize>],
    ) -> Result<Result<Whole, HalError>, Error> {
        let native = self.open(device)?.clone();
        let (mut union, mut raw) = (Union::default(), Vec::new());
        for command in &commands {
            command.accesses.iter().for_each(|access| union.add(access, true));
            raw.extend(command.action.raw().copied());
        }
        let accesses: SmallVec<[Access; 4]> = union.into_accesses().into();
        let keep: Vec<StorageId> = accesses.iter().map(|access| access.storage).collect();
        let reserved = self.reserve(self.lock(), &keep, |ledger| {
            commands.iter().try_for_each(|command| ledger.check(command))?;
            Ok(ledger.missing(&accesses))
        });
        let ledger = reserved?;
        let memory = ledger.places(&accesses);
        let mut payloads: Vec<_> = commands.iter_mut().map(|c| ledger.payload(c)).collect();
        self.leave(ledger);
        let count = |is: fn(&Payload) -> bool| {
            payloads.iter().flatten().filter(|payload| is(payload)).count() as u64
        };
        let launches = count(|payload| matches!(payload, Payload::Launch(_)));
        let copies = count(|payload| matches!(payload, Payload::Copy(_)));
        let fills = count(|payload| matches!(payload, Payload::Fill(_)));
        let graph = {
            let parts: Vec<Part<'_>> = payloads.iter_mut().map(Part::of).collect();
            let nodes = parts.iter().zip(after).map(|(part, after)| Node { op: part.op(), after });
            native.graph(&nodes.collect::<Vec<_>>())
        };
        let code =
            payloads.iter().flatten().filter_map(|payload| payload.uses().cloned()).collect();
        // What the device has not taken is the user's.
        contain(|| drop(payloads));
        let names = commands.iter_mut();
        let names = names.map(|c| (c.action.name(), std::mem::take(&mut c.label))).collect();
        let made = graph.map(|graph| Whole {
            graph,
            accesses,
            memory,
            _code: code,
            raw,
            names,
            launches,
            copies,
            fills,
        });
        Ok(made)
    }

    /// Submits a run; nothing, if it is refused. `None` if its memory is elsewhere by now.
    pub(crate) fn replay_whole(
        &self,
        run: &Run<'_>,
        whole: &Arc<Whole>,
        label: &Label,
    ) -> Result<Option<(Stamp, super::failures::EpochPin)>, Error> {
        let traced = trace::listening();
        let mut command = Command::new(Some(run.queue), run.in_order);
        command.device = Some(run.device);
        command.label = label.clone();
        command.accesses.clone_from(&whole.accesses);
        command.action = Action::Replay(whole.clone());
        let mut ledger = self.lock();
        let hold = Hold::begin();
        ledger.look_at(run.device);
        let keep: Vec<StorageId> = whole.accesses.iter().map(|access| access.storage).collect();
        let reserved = self.reserve(ledger, &keep, |ledger| {
            ledger.check(&command)?;
            Ok::<Missing, Error>(ledger.missing(&command.accesses))
        });
        let mut ledger = match reserved {
            Ok(ledger) => ledger,
            Err(error) => {
                // Looking at the lanes may have left something to do.
                self.enter(|_| ());
                return Err(error);
            }
        };
        if ledger.places(&whole.accesses) != whole.memory {
            self.leave(ledger);
            return Ok(None);
        }
        ledger.traced = traced;
        if traced {
            let all: Vec<&str> = run.fusion.iter().flatten().map(|text| &**text).collect();
            command.fusion = (!all.is_empty()).then(|| all.join("\n").into());
        }
        let mut latest = run.latest.map(Mutex::lock);
        command.after.extend_from_slice(run.after);
        command.behind.extend(latest.as_deref().copied());
        let end = ledger.run(&mut command);
        ledger.forget(run.internal);
        if let Some(latest) = &mut latest {
            **latest = end;
        }
        drop(latest);
        let pin = ledger.timeline.failures.pin();
        hold.end();
        self.leave(ledger);
        Ok(Some((end, pin)))
    }
}

impl Ledger {
    fn places(&self, accesses: &[Access]) -> Vec<Option<Place>> {
        let place = |access: &Access| {
            let alloc = self.storages[access.storage.0].alloc(access.domain)?;
            Some((alloc.mem, alloc.address, alloc.host))
        };
        accesses.iter().map(place).collect()
    }

    /// Counts a run's operations for its queue.
    pub(crate) fn count_whole(&mut self, queue: Option<u32>, whole: &Whole) {
        self.count(None, queue, |c| {
            c.copies += whole.copies;
            c.fills += whole.fills;
        });
        // As for each launch: in one place.
        match queue.and_then(|id| self.queues.get_mut(id)) {
            Some(queue) => queue.counters.launches += whole.launches,
            None => self.counters.launches += whole.launches,
        }
    }
}
