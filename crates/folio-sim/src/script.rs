//! When operations end: latencies, order, visibility. Values only; the timeline reads them.

use folio_core::hal::OpKind;

/// How the simulated devices of one backend pass their logical time. Times saturate: at
/// [`u64::MAX`] whatever has begun ends, and whatever has ended is visible.
///
/// ```
/// use folio_sim::{OpKind, Script};
/// let slow_copies = Script::new().latency(OpKind::Copy, 50);
/// let chaos = Script::new().seed(7).jitter(5).overlap(true).visible_every(4);
/// # let _ = (slow_copies, chaos);
/// ```
#[derive(Clone, Debug)]
pub struct Script {
    latency: [u64; OpKind::ALL.len()],
    jitter: u64,
    pub(crate) seed: Option<u64>,
    pub(crate) overlap: bool,
    pub(crate) visible_every: u64,
    lags: Vec<u64>,
}

impl Script {
    /// Everything takes one step, in the order of submission, visible at once.
    pub fn new() -> Script {
        let (jitter, seed, overlap, visible_every, lags) = (0, None, false, 1, Vec::new());
        Script { latency: [1; OpKind::ALL.len()], jitter, seed, overlap, visible_every, lags }
    }

    /// Operations of this kind end `steps` after they could begin.
    pub fn latency(mut self, kind: OpKind, steps: u64) -> Script {
        self.latency[kind as usize] = steps;
        self
    }

    /// All operations end `steps` after they could begin.
    pub fn late(mut self, steps: u64) -> Script {
        self.latency.fill(steps);
        self
    }

    /// Among operations that could end now, a random one ends first.
    pub fn seed(mut self, seed: u64) -> Script {
        self.seed = Some(seed);
        self
    }

    /// Adds a random latency of at most `steps` to each operation, so that lanes overtake each
    /// other.
    pub fn jitter(mut self, steps: u64) -> Script {
        self.jitter = steps;
        self
    }

    /// Operations with [`folio_core::hal::Order::Free`] overtake earlier ones of their lane.
    pub fn overlap(mut self, on: bool) -> Script {
        self.overlap = on;
        self
    }

    /// The end of an operation becomes visible through `completed` only at every `steps`-th step.
    pub fn visible_every(mut self, steps: u64) -> Script {
        self.visible_every = steps.max(1);
        self
    }

    /// The end of an operation becomes visible through `completed` so many steps later: `steps[n]`
    /// on lane `n`, by the order in which lanes are made, and at once on lanes beyond. A lane may
    /// thus show an operation before another lane shows what that waited for. A wait for the lane
    /// sees it at once.
    pub fn lags(mut self, steps: &[u64]) -> Script {
        self.lags = steps.to_vec();
        self
    }

    /// How much later a lane shows what has ended.
    pub(crate) fn lag(&self, lane: usize) -> u64 {
        self.lags.get(lane).copied().unwrap_or(0)
    }

    /// How long one operation takes.
    pub(crate) fn duration(&self, kind: OpKind, random: &mut Random) -> u64 {
        let extra = match self.jitter {
            0 => 0,
            most => random.below(most.saturating_add(1)),
        };
        self.latency[kind as usize].saturating_add(extra)
    }
}

impl Default for Script {
    fn default() -> Script {
        Script::new()
    }
}

/// SplitMix64: small, and equal on every machine.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        Random(seed)
    }

    /// A number in `0..n`; 0 when `n` is 0.
    pub(crate) fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % n.max(1)
    }
}
