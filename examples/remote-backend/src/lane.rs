//! A lane: what it hands to the courier, and how far the courier is.

use crate::courier::{Courier, Task, Work};
use crate::{lock, wire::words};
use folio_core::hal::*;
use std::time::{Duration, Instant};

pub struct RemoteLane {
    courier: Courier,
    number: u64,
}

impl RemoteLane {
    pub fn new(courier: Courier, number: u64) -> RemoteLane {
        lock(&courier.shared.0).lanes.entry(number).or_default();
        RemoteLane { courier, number }
    }
}

impl Drop for RemoteLane {
    fn drop(&mut self) {
        lock(&self.courier.shared.0).lanes.remove(&self.number);
    }
}

/// The request for a launch.
fn launch(
    KernelHandle(kernel): KernelHandle,
    geometry: &Geometry,
    args: &Args<'_>,
) -> Vec<Vec<u8>> {
    let Geometry { rank, offset, range, group, .. } = *geometry;
    let flags = [u64::from(group.is_some()), u64::from(args.proved)];
    let sizes = [offset, range, group.unwrap_or([1; 3])];
    let numbers = [kernel, rank.into()].into_iter().chain(flags);
    let numbers = numbers.chain(sizes.into_iter().flatten().map(|n| n as u64));
    let mut request = vec![b"launch".to_vec(), words(numbers), args.blob.to_vec()];
    for p in args.params {
        let handle = match p.mem.base {
            MemBase::Device { handle, .. } => handle,
            MemBase::Host(_) => 0,
        };
        let dims = [p.dims, p.origin, p.extent, p.index, p.shape].into_iter().flatten();
        request.push(words([handle, p.mem.offset].into_iter().chain(dims.map(|n| n as u64))));
    }
    request
}

// SAFETY: the courier does one operation after the other, and ends each or the device is lost.
unsafe impl Lane for RemoteLane {
    fn enqueue(&self, head: &Head<'_>, op: Op<'_>) -> Result<(), HalError> {
        let work = match op {
            Op::Copy(rects) => Work::Copy(rects.into()),
            Op::Fill(rects, pattern) => Work::Fill(rects.into(), pattern.into()),
            Op::Launch(KernelRef::Loaded(kernel), geometry, args) => {
                Work::Launch(launch(kernel, geometry, &args))
            }
            Op::Join => Work::Join,
            other => return self.refuse(head, HalError::unsupported(other.name())),
        };
        let (lane, tick) = (self.number, head.tick);
        self.courier.give(Task::Operation { lane, tick, work })
    }
    fn completed(&self) -> Result<Tick, Lost> {
        let progress = lock(&self.courier.shared.0);
        match &progress.lost {
            Some(lost) => Err(lost.clone()),
            None => Ok(progress.lanes.get(&self.number).map_or(0, |lane| lane.ended)),
        }
    }
    fn wait(&self, tick: Tick, until: Option<Instant>) -> Result<bool, Lost> {
        let (progress, ended) = &*self.courier.shared;
        loop {
            let progress = lock(progress);
            if let Some(lost) = &progress.lost {
                return Err(lost.clone());
            }
            let left = until.map_or(Duration::MAX, |until| until.duration_since(Instant::now()));
            let reached = progress.lanes.get(&self.number).is_some_and(|lane| lane.ended >= tick);
            if reached || left.is_zero() {
                return Ok(reached);
            }
            drop(ended.wait_timeout(progress, left));
        }
    }
    fn failures(&self, sink: &mut dyn FnMut(Tick, HalError)) {
        let mut progress = lock(&self.courier.shared.0);
        let told =
            progress.lanes.get_mut(&self.number).map(|lane| std::mem::take(&mut lane.failures));
        drop(progress);
        told.into_iter().flatten().for_each(|(tick, error)| sink(tick, error));
    }
}
