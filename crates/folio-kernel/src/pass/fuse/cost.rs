//! The cost model: whether kernels gain by sharing a launch (FUSE-14). Only
//! [`Mode::Enable`](super::Mode::Enable) asks it.
//!
//! A pure function of two values. [`Costs`] are constants of a device. A [`Load`] is what kernels
//! do: launches, bytes, what these bytes are of, registers. Fusion gains the launches and the bytes
//! that it saves. It loses where the fused kernel needs so many registers that fewer items are in
//! flight. Nothing is computed twice, so there is no recomputation to weigh.

use super::pair::View;
use super::touch::{PreparedCall, Touch};
use crate::flow::Use;
use std::fmt;

/// What a device takes for what fusion saves.
///
/// ```
/// use folio_kernel::fuse::{Costs, Load};
///
/// // Memory moves a byte in a nanosecond.
/// let costs = Costs {
///     launch_ns: 2000,
///     memory_rate: 1000,
///     cache_rate: 4000,
///     cache_bytes: 1 << 10,
///     registers: 64,
/// };
/// let load = Load {
///     launches: 1,
///     traffic: 16_000,
///     saved: 4_000,
///     working_set: 12_000,
///     registers: 10,
///     registers_alone: 8,
/// };
/// let balance = costs.weigh(&load);
/// assert_eq!((balance.gained_ns, balance.lost_ns, balance.unfused_ns), (6000, 0, 20_000));
/// assert!(balance.is_gain());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Costs {
    /// Nanoseconds of one launch more.
    pub launch_ns: u64,
    /// Bytes that memory moves in a microsecond.
    pub memory_rate: u64,
    /// Bytes that the cache moves in a microsecond that all items share.
    pub cache_rate: u64,
    /// Bytes of that cache.
    pub cache_bytes: u64,
    /// 32-bit registers that an item can have while as many items are in flight as memory needs.
    pub registers: u32,
}

impl Costs {
    /// Near an H100's: 3 TB/s of 50 MiB of cache at 5.5 TB/s, a launch in a row of 2 us. Its
    /// processors have 65536 registers; half of their 2048 items keep memory busy.
    pub const GPU: Costs = Costs {
        launch_ns: 2000,
        memory_rate: 3_000_000,
        cache_rate: 5_500_000,
        cache_bytes: 50 << 20,
        registers: 64,
    };

    /// Near those of a few cores: 20 GB/s, 2 MiB of private caches at 60 GB/s, threads woken in
    /// 2 us. The kernels run one after the other in a piece, and each has all registers.
    pub const CPU: Costs = Costs {
        launch_ns: 2000,
        memory_rate: 20_000,
        cache_rate: 60_000,
        cache_bytes: 2 << 20,
        registers: u32::MAX,
    };

    /// What a load gains and loses by fusion.
    pub fn weigh(&self, load: &Load) -> Balance {
        let cached = load.working_set <= self.cache_bytes;
        let rate = if cached { self.cache_rate } else { self.memory_rate };
        let moving = |bytes: u64| ns_of(bytes, rate);
        let launches = |count: u64| self.launch_ns.saturating_mul(count);
        // Latency is hidden by items in flight, of which there are fewer for each register more.
        let over = |registers: u32| u128::from(registers.max(self.registers).max(1));
        let (fused, alone) = (over(load.registers), over(load.registers_alone));
        let left = moving(load.traffic.saturating_sub(load.saved));
        let slower = u128::from(left) * fused.saturating_sub(alone) / alone;
        Balance {
            load: *load,
            cached,
            gained_ns: launches(load.launches).saturating_add(moving(load.saved)),
            lost_ns: u64::try_from(slower).unwrap_or(u64::MAX),
            unfused_ns: launches(load.launches.saturating_add(1))
                .saturating_add(moving(load.traffic)),
        }
    }
}

/// How long so many bytes take.
fn ns_of(bytes: u64, bytes_per_us: u64) -> u64 {
    let ns = u128::from(bytes) * 1000 / u128::from(bytes_per_us.max(1));
    u64::try_from(ns).unwrap_or(u64::MAX)
}

/// What kernels do that may share a launch, about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Load {
    /// Launches that are saved.
    pub launches: u64,
    /// Bytes that the kernels load and store, each for itself.
    pub traffic: u64,
    /// Those of them that are not, in one launch.
    pub saved: u64,
    /// Bytes of the memories that they use: small ones stay in a cache between launches.
    pub working_set: u64,
    /// 32-bit registers of an item in one launch.
    pub registers: u32,
    /// The same for that of the kernels which needs most.
    pub registers_alone: u32,
}

/// What fusion gains and loses: the numbers behind a decision.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Balance {
    /// What was weighed.
    pub load: Load,
    /// The memories stay in the cache between launches, so their bytes cost less.
    pub cached: bool,
    /// Nanoseconds that launches and bytes take that are saved.
    pub gained_ns: u64,
    /// Nanoseconds more of the bytes that are left, because of the registers.
    pub lost_ns: u64,
    /// Nanoseconds of all, unfused.
    pub unfused_ns: u64,
}

/// A gain of less than one in so many is within what runs differ by.
const NOISE: u64 = 32;

impl Balance {
    /// More is gained than lost, by more than runs differ.
    pub fn is_gain(&self) -> bool {
        let net = self.gained_ns.saturating_sub(self.lost_ns);
        net > 0 && net.saturating_mul(NOISE) >= self.unfused_ns
    }
}

impl fmt::Display for Balance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Balance { load, gained_ns, lost_ns, unfused_ns, .. } = self;
        let Load { launches, saved, registers, registers_alone, .. } = load;
        let plural = if *launches == 1 { "" } else { "es" };
        let place = if self.cached { "a cache" } else { "memory" };
        write!(f, "about {gained_ns} of {unfused_ns} ns less for {launches} launch{plural} and ")?;
        write!(f, "{saved} bytes of {place}, {lost_ns} ns more for {registers} registers ")?;
        write!(f, "instead of {registers_alone}")
    }
}

/// Bytes that a kernel loads from a view, and that it stores there.
fn moved(call: &PreparedCall<'_>, view: &View<'_>) -> [u64; 2] {
    let items = call.call.geometry.range.iter().fold(1u64, |all, n| all.saturating_mul(*n));
    let of = |is: &dyn Fn(&Touch) -> bool| {
        let touches = view.touches.iter().filter(|touch| is(touch)).count() as u64;
        view.bytes().min(items.saturating_mul(touches).saturating_mul(view.element_bytes()))
    };
    [of(&|touch| touch.does != Use::Write), of(&|touch| touch.writes())]
}

/// A kernel alone.
pub(crate) fn load_of(call: &PreparedCall<'_>, registers: u32) -> Load {
    let traffic = View::all(call).flat_map(|view| moved(call, &view));
    Load {
        traffic: traffic.fold(0, u64::saturating_add),
        working_set: working_set(&[call]),
        registers,
        registers_alone: registers,
        ..Load::default()
    }
}

/// Bytes of all memories that some kernels use.
fn working_set(calls: &[&PreparedCall<'_>]) -> u64 {
    let mut seen: Vec<View<'_>> = vec![];
    for view in calls.iter().flat_map(|call| View::all(call)) {
        if !seen.iter().any(|known| known.may_overlap(&view)) {
            seen.push(view);
        }
    }
    seen.iter().map(View::bytes).fold(0, u64::saturating_add)
}

/// Kernels that share a launch, and one more. Gives the load of that step, and that of all steps.
pub(crate) fn joined(
    (members, so_far): (&[&PreparedCall<'_>], &Load),
    (more, alone): (&PreparedCall<'_>, &Load),
) -> (Load, Load) {
    let (mut saved, mut carried) = (0u64, 0u64);
    for view in View::all(more) {
        let mut others = members.iter().flat_map(|member| View::all(member));
        if others.any(|other| view.may_overlap(&other)) {
            // What is loaded is there already; what is stored again need not have been stored.
            let [loaded, stored] = moved(more, &view);
            saved = saved.saturating_add(loaded).saturating_add(stored);
            carried = carried.saturating_add(view.element_bytes().div_ceil(4));
        }
    }
    let most = so_far.registers_alone.max(alone.registers_alone);
    let registers = most.saturating_add(u32::try_from(carried).unwrap_or(u32::MAX));
    let calls: Vec<&PreparedCall<'_>> = members.iter().copied().chain([more]).collect();
    let all = Load {
        launches: so_far.launches + 1,
        traffic: so_far.traffic.saturating_add(alone.traffic),
        saved: so_far.saved.saturating_add(saved),
        working_set: working_set(&calls),
        registers: registers.max(so_far.registers),
        registers_alone: most,
    };
    let step = Load {
        launches: 1,
        traffic: all.traffic.saturating_sub(so_far.saved),
        saved,
        registers_alone: so_far.registers.max(alone.registers),
        ..all
    };
    (step, all)
}
