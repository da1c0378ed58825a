//! The cost model: whether kernels gain by sharing a launch (FUSE-14). Only
//! [`Mode::Enable`](super::Mode::Enable) asks it.
//!
//! A pure function of two values. [`Costs`] are constants of a device. A [`Load`] is what kernels
//! do: launches, bytes, what these bytes are of, and what a launch of them takes of a unit. Fusion
//! gains the launches and the bytes that it saves. Fewer items in flight than of the kernels by
//! themselves are a loss: memory answers late, and only many items at once keep it busy. Kernels
//! that share a loop compute nothing twice; `inline` weighs what is computed again.

use super::local::local_bytes;
use super::pair::{Joint, View};
use super::touch::{PreparedCall, Touch};
use crate::flow::Use;
use crate::words::{bytes, count, nanoseconds};
use std::fmt;

/// A device's prices of launches and bytes.
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
///     units: 4,
///     unit_items: 1024,
///     unit_local: 64 << 10,
/// };
/// let load = Load {
///     launches: 1,
///     traffic: 16_000,
///     stretched: 16_000,
///     saved: 4_000,
///     working_set: 12_000,
///     registers: 10,
///     registers_alone: 8,
///     items: 4096,
///     group: 1,
///     local: 0,
/// };
/// let balance = costs.weigh(&load);
/// assert_eq!((balance.gained_ns, balance.lost_ns, balance.unfused_ns), (6000, 0, 20_000));
/// assert!(balance.is_gain());
///
/// // Each group takes all local memory of a unit: a sixteenth of the items are in flight.
/// let balance = costs.weigh(&Load { group: 64, local: 64 << 10, ..load });
/// assert_eq!((balance.in_flight, balance.wanted, balance.lost_ns), (256, 4096, 180_000));
/// assert!(!balance.is_gain());
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
    /// Compute units, which have groups of items in flight at once.
    pub units: u32,
    /// Items that a unit has in flight while memory is as fast as it can be. With 1, a unit takes
    /// one group or item after the other, as a thread of a CPU does.
    pub unit_items: u32,
    /// Bytes of local memory that the groups in flight in a unit share.
    pub unit_local: u64,
}

impl Costs {
    /// Near an H100's: 3 TB/s of 50 MiB of cache at 5.5 TB/s, a launch in a row of 2 us. Its 132
    /// processors have 65536 registers and 228 KiB of local memory each; half of their 2048 items
    /// keep memory busy.
    pub const GPU: Costs = Costs {
        launch_ns: 2000,
        memory_rate: 3_000_000,
        cache_rate: 5_500_000,
        cache_bytes: 50 << 20,
        registers: 64,
        units: 132,
        unit_items: 1024,
        unit_local: 228 << 10,
    };

    /// Near those of a few cores: 20 GB/s, 2 MiB of private caches at 60 GB/s, threads woken in
    /// 2 us. The kernels run one after the other in a piece, and each has all registers. Local
    /// memory is memory.
    pub const CPU: Costs = Costs {
        launch_ns: 2000,
        memory_rate: 20_000,
        cache_rate: 60_000,
        cache_bytes: 2 << 20,
        registers: u32::MAX,
        units: 4,
        unit_items: 1,
        unit_local: u64::MAX,
    };

    /// The gain and the loss of a load by fusion.
    pub fn weigh(&self, load: &Load) -> Balance {
        let cached = load.working_set <= self.cache_bytes;
        let rate = if cached { self.cache_rate } else { self.memory_rate };
        let moving = |bytes: u64| ns_of(bytes, rate);
        let launches = |count: u64| self.launch_ns.saturating_mul(count);
        let left = load.traffic.saturating_sub(load.saved);
        // Each kernel by itself moves about the same part of the remaining bytes.
        let alone = load.stretched_of(left);
        let flight = self.flight(load);
        Balance {
            load: *load,
            cached,
            in_flight: flight.items,
            wanted: flight.wanted,
            limit: flight.limit,
            gained_ns: launches(load.launches)
                .saturating_add(moving(load.stretched.saturating_sub(alone))),
            lost_ns: moving(flight.stretched(left).saturating_sub(alone)),
            unfused_ns: launches(load.launches.saturating_add(1))
                .saturating_add(moving(load.stretched)),
        }
    }

    /// The items in flight of one launch of a load.
    fn flight(&self, load: &Load) -> Flight {
        let (units, full) = (u64::from(self.units.max(1)), u64::from(self.unit_items.max(1)));
        let group = load.group.max(1);
        // A unit that takes groups one after the other is as busy with a small one.
        let of_group = group.min(full);
        let wanted = units.saturating_mul(full);
        let over = u64::from(load.registers.max(self.registers).max(1));
        let of_registers = wanted.saturating_mul(self.registers.max(1).into()) / over;
        let groups = self.unit_local.checked_div(load.local).unwrap_or(u64::MAX).max(1);
        let of_local = groups.saturating_mul(of_group).saturating_mul(units);
        let of_launch = load.items.div_ceil(group).saturating_mul(of_group);
        let limits = [
            (wanted, Limit::None),
            (of_launch, Limit::Launch),
            (of_registers, Limit::Registers),
            (of_local, Limit::Local),
        ];
        let least = limits.into_iter().min_by_key(|(items, _)| *items);
        let (items, limit) = least.unwrap_or((wanted, Limit::None));
        Flight { items: items.max(1), wanted, limit }
    }
}

/// How long so many bytes take.
fn ns_of(bytes: u64, bytes_per_us: u64) -> u64 {
    let ns = u128::from(bytes) * 1000 / u128::from(bytes_per_us.max(1));
    u64::try_from(ns).unwrap_or(u64::MAX)
}

/// `of * by / parts`
fn part(of: u64, by: u64, parts: u64) -> u64 {
    let part = u128::from(of) * u128::from(by) / u128::from(parts.max(1));
    u64::try_from(part).unwrap_or(u64::MAX)
}

/// The limit to the items of a launch that are in flight.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Limit {
    /// Nothing: as many are as memory needs.
    #[default]
    None,
    /// The launch has no more items, or on a CPU groups.
    Launch,
    /// Their registers.
    Registers,
    /// The local memory of their groups.
    Local,
}

/// Items of a launch in flight.
struct Flight {
    items: u64,
    wanted: u64,
    limit: Limit,
}

impl Flight {
    /// Bytes by the time that they take: as many as could have been moved meanwhile.
    fn stretched(&self, bytes: u64) -> u64 {
        part(bytes, self.wanted, self.items)
    }
}

/// The estimated work of kernels that may share a launch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Load {
    /// Launches that are saved.
    pub launches: u64,
    /// Bytes that the kernels load and store, each for itself.
    pub traffic: u64,
    /// The same by the time that they take: those of a kernel that has only half of the items in
    /// flight that memory needs count twice.
    pub stretched: u64,
    /// Bytes of the traffic that are not loaded or stored in one launch.
    pub saved: u64,
    /// Bytes of the memories that they use: small ones stay in a cache between launches.
    pub working_set: u64,
    /// 32-bit registers of an item in one launch.
    pub registers: u32,
    /// The same for that of the kernels which needs most.
    pub registers_alone: u32,
    /// Items of one launch.
    pub items: u64,
    /// Items of its groups; 1 without groups.
    pub group: u64,
    /// Bytes of local memory of its groups.
    pub local: u64,
}

impl Load {
    /// A part of the traffic, each byte as it is stretched on average.
    fn stretched_of(&self, bytes: u64) -> u64 {
        if self.traffic == 0 { 0 } else { part(self.stretched, bytes, self.traffic) }
    }
}

/// The gain and the loss of fusion: the numbers behind a decision.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Balance {
    /// The weighed load.
    pub load: Load,
    /// The memories stay in the cache between launches, so their bytes cost less.
    pub cached: bool,
    /// Items of the one launch that are in flight at once.
    pub in_flight: u64,
    /// Items in flight with which memory is as fast as it can be.
    pub wanted: u64,
    /// Why they are fewer.
    pub limit: Limit,
    /// Nanoseconds that launches and bytes take that are saved.
    pub gained_ns: u64,
    /// Nanoseconds more of the bytes that are left, because fewer items are in flight.
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
        let Balance { load, gained_ns, lost_ns, unfused_ns, in_flight, wanted, .. } = self;
        let Load { launches, saved, registers, registers_alone, group, local, .. } = load;
        let place = if self.cached { "a cache" } else { "memory" };
        let [gained, unfused, lost] =
            [gained_ns, unfused_ns, lost_ns].map(|ns| nanoseconds(*ns as f64));
        let (launches, saved) = (count(*launches, "launch"), bytes(*saved));
        let registers = count((*registers).into(), "register");
        write!(f, "about {gained} of {unfused} less for {launches} and {saved} of {place}, ")?;
        write!(f, "{lost} more for {registers} ")?;
        write!(f, "instead of {registers_alone}")?;
        if self.limit == Limit::None {
            return Ok(());
        }
        write!(f, "; {in_flight} of {wanted} in flight: ")?;
        match self.limit {
            Limit::Launch if *group > 1 => {
                write!(f, "it has {} groups of {group}", load.items.div_ceil(*group))
            }
            Limit::None | Limit::Launch => write!(f, "it has {} items", load.items),
            Limit::Registers => f.write_str("its registers"),
            Limit::Local => write!(f, "{} of local memory for a group of {group}", bytes(*local)),
        }
    }
}

/// Bytes of a view that a kernel loads and stores.
struct Moved {
    loaded: u64,
    stored: u64,
    /// The same of elements that an item can keep in registers for a later kernel: those that are
    /// not of a row.
    kept: [u64; 2],
}

fn moved(call: &PreparedCall<'_>, view: &View<'_>) -> Moved {
    let items = items_of(call.call.geometry.range);
    let of = |is: &dyn Fn(&Touch) -> bool| {
        let touches = view.touches.iter().filter(|touch| is(touch));
        let touches = touches.map(|touch| touch.walks).fold(0, u64::saturating_add);
        view.bytes().min(items.saturating_mul(touches).saturating_mul(view.element_bytes()))
    };
    let loads = |touch: &Touch| touch.does != Use::Write;
    let one = |touch: &Touch| touch.walks == 1;
    Moved {
        loaded: of(&loads),
        stored: of(&Touch::writes),
        kept: [of(&|t| one(t) && loads(t)), of(&|t| one(t) && t.writes())],
    }
}

fn items_of(range: [u64; 3]) -> u64 {
    range.iter().fold(1, |all, n| all.saturating_mul(*n))
}

/// Items of a launch, of its groups, and bytes of local memory of these.
fn shape(joint: &Joint, calls: &[&PreparedCall<'_>]) -> (u64, u64, u64) {
    let group = joint.group.filter(|_| joint.groups).map_or(1, items_of);
    let local = calls.iter().map(|call| local_bytes(&call.call.kernel));
    (items_of(joint.range), group, local.fold(0, u64::saturating_add))
}

/// A kernel alone.
pub(crate) fn load_of(call: &PreparedCall<'_>, registers: u32, costs: &Costs) -> Load {
    let moved = View::all(call).map(|view| moved(call, &view));
    let traffic = moved.map(|of| of.loaded.saturating_add(of.stored));
    let traffic = traffic.fold(0, u64::saturating_add);
    let (items, group, local) = shape(&Joint::of(call), &[call]);
    let load = Load {
        traffic,
        working_set: working_set(&[call]),
        registers,
        registers_alone: registers,
        items,
        group,
        local,
        ..Load::default()
    };
    Load { stretched: costs.flight(&load).stretched(traffic), ..load }
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
    (joint, costs): (&Joint, &Costs),
) -> (Load, Load) {
    let (mut saved, mut carried) = (0u64, 0u64);
    for view in View::all(more) {
        let mut others = members.iter().flat_map(|member| View::all(member));
        if others.any(|other| view.may_overlap(&other)) {
            // A loaded element is there already; an element that is stored again need not have been
            // stored.
            let [loaded, stored] = moved(more, &view).kept;
            saved = saved.saturating_add(loaded).saturating_add(stored);
            carried = carried.saturating_add(view.element_bytes().div_ceil(4));
        }
    }
    let most = so_far.registers_alone.max(alone.registers_alone);
    let registers = most.saturating_add(u32::try_from(carried).unwrap_or(u32::MAX));
    let calls: Vec<&PreparedCall<'_>> = members.iter().copied().chain([more]).collect();
    let (items, group, local) = shape(joint, &calls);
    let all = Load {
        launches: so_far.launches + 1,
        traffic: so_far.traffic.saturating_add(alone.traffic),
        stretched: so_far.stretched.saturating_add(alone.stretched),
        saved: so_far.saved.saturating_add(saved),
        working_set: working_set(&calls),
        registers: registers.max(so_far.registers),
        registers_alone: most,
        items,
        group,
        local,
    };
    let left = so_far.traffic.saturating_sub(so_far.saved);
    let step = Load {
        launches: 1,
        traffic: left.saturating_add(alone.traffic),
        stretched: costs.flight(so_far).stretched(left).saturating_add(alone.stretched),
        saved,
        registers_alone: so_far.registers.max(alone.registers),
        ..all
    };
    (step, all)
}
