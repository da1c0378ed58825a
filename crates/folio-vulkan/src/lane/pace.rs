//! When a batch is submitted though no thread waits: a choice by what is in it, and nothing else.
//!
//! A submission costs some microseconds, so short operations are gathered. A batch is submitted
//! when it is worth a submission: by an estimate of how long it runs, or by how many operations it
//! has. Before that, a device without work is given what there is when its driver is offered the
//! thread: the first operation at once, and then twice as many each time ([`Burst`]). Many short
//! operations in a row are thus some submissions, also where the device ends each sooner than the
//! next operation comes.

/// Nanoseconds of the device's work after which a batch is submitted: some ten times what a
/// submission costs.
const ENOUGH: u64 = 100_000;
/// Operations of a batch, at most.
const MOST: u32 = 512;
/// The least time of an operation, in nanoseconds.
const LEAST: u64 = 1_000;
/// The operations of items that a unit of a GPU, and a core of a CPU, does in a nanosecond.
/// Guesses, and rather too much: what is estimated too short is only submitted later.
const PER_NS: [u64; 2] = [64, 4];
/// Bytes that are copied in a nanosecond, by a GPU and by a CPU.
const BYTES_PER_NS: [u64; 2] = [500, 10];

/// How fast a device is, about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Speed {
    operations: u64,
    bytes: u64,
}

impl Speed {
    pub(crate) fn new(units: u32, is_cpu: bool) -> Speed {
        let kind = usize::from(is_cpu);
        Speed {
            operations: u64::from(units.max(1)).saturating_mul(PER_NS[kind]),
            bytes: BYTES_PER_NS[kind],
        }
    }

    /// How long a launch of so many items runs, each of which does so many operations.
    pub(crate) fn launch(&self, items: u64, operations: u64) -> u64 {
        LEAST.max(items.saturating_mul(operations) / self.operations)
    }

    /// How long so many bytes are copied or filled.
    pub(crate) fn bytes(&self, bytes: u64) -> u64 {
        LEAST.max(bytes / self.bytes)
    }
}

/// The operations of a batch.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Load {
    pub(crate) operations: u32,
    nanoseconds: u64,
}

impl Load {
    /// Adds an operation, which runs about so long.
    pub(crate) fn add(&mut self, nanoseconds: u64) {
        self.operations += 1;
        self.nanoseconds = self.nanoseconds.saturating_add(nanoseconds);
    }

    /// Whether it is worth a submission.
    pub(crate) fn is_enough(&self) -> bool {
        self.nanoseconds >= ENOUGH || self.operations >= MOST
    }
}

/// How many operations a device without work is given: more each time, until what there is has been
/// flushed. The engine flushes what it does not add to all the time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Burst(u32);

impl Default for Burst {
    fn default() -> Burst {
        Burst(1)
    }
}

impl Burst {
    /// A device without work is given this.
    pub(crate) fn is_enough(self, load: &Load) -> bool {
        load.operations >= self.0
    }

    /// The load was submitted: the next one must be twice as large.
    pub(crate) fn grow(&mut self) {
        self.0 = self.0.saturating_mul(2).min(MOST);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Many short operations are gathered, long ones are not; and there is a limit to their number.
    #[test]
    fn batches_are_submitted_by_time_and_by_number() {
        let speed = Speed::new(100, false);
        let until_enough = |each: u64| {
            let mut load = Load::default();
            while !load.is_enough() {
                load.add(each);
            }
            load.operations
        };
        assert_eq!(until_enough(speed.launch(100, 10)), 100, "short ones, by the least time");
        assert_eq!(until_enough(speed.launch(1 << 20, 10)), 62, "of 1.6 us");
        assert_eq!(until_enough(speed.launch(1 << 28, 10)), 1, "a long one");
        assert_eq!(until_enough(speed.launch(u64::MAX, u64::MAX)), 1, "more than can be counted");
        assert_eq!(until_enough(speed.bytes(64 << 20)), 1, "a long copy");
        assert_eq!(until_enough(0), MOST);
        let cpu = Speed::new(2, true);
        assert!(cpu.launch(1 << 20, 10) > speed.launch(1 << 20, 10));
        assert_eq!(Speed::new(0, true), Speed::new(1, true));
    }
}
