//! What a spread launch does, for people.

use super::{WholeLaunch, boxes};
use crate::call::Passed;
use crate::error::Label;
use crate::geom::Box3;
use crate::hal::Geometry;
use crate::queue::Queue;
use folio_kernel::words::{bytes, count};
use std::fmt;
use std::sync::Arc;

/// What [`Queue::spread`](crate::Queue::spread) does with a launch; `Display` shows it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Spread {
    /// The kernel.
    pub kernel: Arc<str>,
    /// By device of the queue.
    pub parts: Vec<SpreadPart>,
}

/// The part of a launch that a device computes.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SpreadPart {
    /// The device.
    pub device: String,
    /// Position of the part's first item.
    pub offset: Vec<usize>,
    /// Its items in each dimension.
    pub range: Vec<usize>,
    /// The inputs of which it reads more than its own items' elements.
    pub reads: Vec<SpreadRead>,
}

/// What a part of a launch reads of an input beside its own items' elements.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SpreadRead {
    /// The parameter.
    pub parameter: Label,
    /// Bytes beyond those of its own items.
    pub bytes: u64,
    /// Every part reads the same, as far as is known: the input is replicated.
    pub replicated: bool,
}

impl fmt::Display for Spread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "kernel `{}` over {}", self.kernel, count(self.parts.len() as u64, "device"))?;
        self.parts.iter().try_for_each(|part| write!(f, "\n  {part}"))
    }
}

impl fmt::Display for SpreadPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let SpreadPart { device, offset, range, reads } = self;
        if range.contains(&0) {
            return write!(f, "{device}: no items");
        }
        write!(f, "{device}: items {range:?} from {offset:?} on")?;
        reads.iter().try_for_each(|read| write!(f, "; {read}"))
    }
}

impl fmt::Display for SpreadRead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let SpreadRead { parameter, bytes: n, replicated } = self;
        match replicated {
            true => write!(f, "{parameter} is replicated: {}", bytes(*n)),
            false => write!(f, "a halo of {parameter}: {}", bytes(*n)),
        }
    }
}

impl Queue {
    /// What the part of a device is, and what that reads.
    pub(super) fn explain(
        &self,
        launch: &WholeLaunch<'_>,
        (at, part): (usize, &Box3),
        items: &Geometry,
    ) -> SpreadPart {
        let (own, first) = (super::narrow(part, items), 3 - usize::from(items.rank));
        let reads = launch.given.iter().enumerate().filter(|(_, passed)| !passed.mode.writes());
        let reads = reads.filter_map(|(nth, passed)| {
            let parameter = launch.function.parameter(nth);
            launch.read(passed, part).map(|read| SpreadRead { parameter, ..read })
        });
        let device = self.on_devices()[at];
        SpreadPart {
            device: self.inner.core.engine.devices[usize::from(device)].name.clone(),
            offset: own.offset[first..].to_vec(),
            range: own.range[first..].to_vec(),
            reads: reads.collect(),
        }
    }
}

impl WholeLaunch<'_> {
    /// What a part reads of an argument beside the elements at its items' positions, if anything.
    fn read(&self, passed: &Passed, part: &Box3) -> Option<SpreadRead> {
        if part.is_empty() || self.code.reads_own(passed.param) {
            return None;
        }
        let items = Box3::at(self.geometry.offset, self.geometry.range)?;
        let [mine, all] = [part, &items].map(|part| self.touched(passed, part));
        let replicated = mine == all && *part != items;
        let own = match passed.part.view.rank == self.geometry.rank && !replicated {
            true => part.shifted(passed.part.part.min),
            false => Box3::EMPTY,
        };
        let beyond = boxes::beyond(&mine, &own) * passed.part.view.element_bytes;
        (beyond > 0).then_some(SpreadRead {
            parameter: Label::NONE,
            bytes: beyond as u64,
            replicated,
        })
    }
}
