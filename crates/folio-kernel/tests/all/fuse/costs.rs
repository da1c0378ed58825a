//! The cost model: constants and loads in, decisions and their reasons out. Nothing is measured.

use super::graph::{ADD, Chain, DOUBLE, FIVE};
use crate::common::read;
use folio_kernel::fuse::{
    Argument, Balance, Costs, Facts, Geometry, Limit, Load, Mode, Options, Plan, Reason, plan,
};

/// Round numbers: memory moves a byte in 1 ns, the cache of 1 MB four times that. 8 units have 1024
/// items each in flight.
const COSTS: Costs = Costs {
    launch_ns: 2000,
    memory_rate: 1000,
    cache_rate: 4000,
    cache_bytes: 1_000_000,
    registers: 64,
    units: 8,
    unit_items: 1024,
    unit_local: 64 << 10,
};

/// Two kernels of which one stores 4 MB that the other one loads.
const LOAD: Load = Load {
    launches: 1,
    traffic: 16_000_000,
    stretched: 16_000_000,
    saved: 4_000_000,
    working_set: 12_000_000,
    registers: 12,
    registers_alone: 10,
    items: 1_000_000,
    group: 1,
    local: 0,
};

fn check(costs: Costs, load: Load, fuses: bool, wanted: &str) {
    let balance = costs.weigh(&load);
    assert_eq!((balance.to_string().as_str(), balance.is_gain()), (wanted, fuses));
}

/// FUSE-14: each of the numbers that the model knows decides somewhere.
#[test]
fn launches_bytes_registers_and_caches_decide() {
    let of = "3.81 MiB of memory, 0 ns more for 12 registers instead of 10";
    check(COSTS, LOAD, true, &format!("about 4 ms of 16 ms less for 1 launch and {of}"));
    // Nothing passes between them: the launch alone is no gain for kernels of 16 ms, but is one
    // for kernels of 16 us.
    let apart = Load { saved: 0, ..LOAD };
    let of = "0 bytes of memory, 0 ns more for 12 registers instead of 10";
    check(COSTS, apart, false, &format!("about 2 us of 16 ms less for 1 launch and {of}"));
    let small = Load { traffic: 16_000, stretched: 16_000, ..apart };
    check(COSTS, small, true, &format!("about 2 us of 20 us less for 1 launch and {of}"));
    // Where launches cost nothing, they are none either.
    let free = Costs { launch_ns: 0, ..COSTS };
    check(free, small, false, &format!("about 0 ns of 16 us less for 1 launch and {of}"));
    // What stays in a cache is loaded again four times as fast.
    let cached = Load { working_set: 1_000_000, ..LOAD };
    let of = "3.81 MiB of a cache, 0 ns more for 12 registers instead of 10";
    check(COSTS, cached, true, &format!("about 1 ms of 4 ms less for 1 launch and {of}"));
    // A third more registers than one of them has alone, which are more than are free: what is left
    // takes a third more.
    let of = "3.81 MiB of memory, 4.5 ms more for 96 registers instead of 72; 5461 of \
              8192 in flight: its registers";
    let many = Load { stretched: 18_000_000, registers: 96, registers_alone: 72, ..LOAD };
    check(COSTS, many, false, &format!("about 4.5 ms of 18 ms less for 1 launch and {of}"));
    // Registers that are free cost nothing, nor do those that the kernels need anyway.
    let of = "3.81 MiB of memory, 0 ns more for 64 registers instead of 10";
    let free = Load { registers: 64, ..LOAD };
    check(COSTS, free, true, &format!("about 4 ms of 16 ms less for 1 launch and {of}"));
    let of = "3.81 MiB of memory, 0 ns more for 128 registers instead of 128; 4096 of \
              8192 in flight: its registers";
    let many = Load { stretched: 32_000_000, registers: 128, registers_alone: 128, ..LOAD };
    check(COSTS, many, true, &format!("about 8 ms of 32 ms less for 1 launch and {of}"));
}

/// FUSE-14: a launch keeps memory busy only with enough items in flight, which its size, its groups
/// and their local memory limit.
#[test]
fn items_in_flight_decide() {
    // Half of the items that memory needs, in one launch as in each of the two.
    let of = "3.81 MiB of memory, 0 ns more for 12 registers instead of 10; 4096 of 8192 in \
              flight: it has 4096 items";
    let few = Load { items: 4096, stretched: 32_000_000, ..LOAD };
    check(COSTS, few, true, &format!("about 8 ms of 32 ms less for 1 launch and {of}"));
    // By themselves the kernels have all in flight; as one launch of groups that take a unit's
    // local memory, an eighth.
    let of = "3.81 MiB of memory, 84 ms more for 12 registers instead of 10; 1024 of 8192 \
              in flight: 39.1 KiB of local memory for a group of 128";
    let local = Load { group: 128, local: 40_000, ..LOAD };
    check(COSTS, local, false, &format!("about 4 ms of 16 ms less for 1 launch and {of}"));
    // Twice the groups fit with half of that.
    assert_eq!(COSTS.weigh(&Load { local: 20_000, ..local }).in_flight, 3 * 1024);
    // Threads of a CPU take group by group: two groups are work for two of eight.
    let threads = Costs { unit_items: 1, ..COSTS };
    let of = "3.81 MiB of memory, 36 ms more for 12 registers instead of 10; 2 of 8 in \
              flight: it has 2 groups of 500000";
    let large = Load { group: 500_000, ..LOAD };
    check(threads, large, false, &format!("about 4 ms of 16 ms less for 1 launch and {of}"));
    let balance = threads.weigh(&Load { group: 1000, ..LOAD });
    assert_eq!((balance.limit, balance.in_flight, balance.lost_ns), (Limit::None, 8, 0));
}

/// Numbers that no device has are no panics.
#[test]
fn extreme_numbers_are_weighed() {
    let none = Costs {
        memory_rate: 0,
        cache_rate: 0,
        cache_bytes: 0,
        launch_ns: 0,
        registers: 0,
        units: 0,
        unit_items: 0,
        unit_local: 0,
    };
    assert!(!none.weigh(&Load::default()).is_gain());
    let most = Load {
        launches: u64::MAX,
        traffic: u64::MAX,
        stretched: u64::MAX,
        saved: u64::MAX,
        working_set: u64::MAX,
        registers: u32::MAX,
        registers_alone: 0,
        items: u64::MAX,
        group: u64::MAX,
        local: u64::MAX,
    };
    assert!(none.weigh(&most).is_gain());
    assert!(Costs { launch_ns: u64::MAX, ..none }.weigh(&most).is_gain());
    let all = Costs { units: u32::MAX, unit_items: u32::MAX, unit_local: u64::MAX, ..COSTS };
    assert!(!all.weigh(&Load { launches: 1, items: 0, group: 0, saved: 0, ..most }).is_gain());
}

fn planned(chain: &Chain, costs: Costs, mode: Mode) -> Plan {
    plan(&chain.graph, &Facts { costs, ..Facts::GPU }, Options::new(mode)).unwrap()
}

fn no_gain(plan: &Plan) -> Balance {
    match plan.unfused[..] {
        [ref pair] => match &pair.reason {
            Reason::NoGain(balance) => **balance,
            other => panic!("{other}"),
        },
        ref other => panic!("{other:?}"),
    }
}

/// FUSE-10, FUSE-14: the same graph under other constants. The report has the numbers behind each
/// decision, as text and as JSON. What is required is not asked of the model.
#[test]
fn plans_follow_the_constants_that_they_are_given() {
    let n = 1 << 20;
    let mut chain = Chain::new();
    let [x, y, z, out] = ["x", "y", "z", "out"].map(|name| chain.memory(name, n));
    let tmp = chain.temporary("tmp", n);
    chain.call("first", ADD, n, &[x, y, tmp]);
    chain.call("second", ADD, n, &[tmp, z, out]);
    let plenty = planned(&chain, COSTS, Mode::Enable);
    assert_eq!(plenty.steps.len(), 1);
    let report = plenty.explain(&chain.graph);
    let line = "4 MiB of memory, 0 ns more for 4 registers instead of 4";
    assert!(report.to_string().contains(line), "{report}");
    assert!(
        report.json().contains("\"saved\":4194304,\"working_set\":20971520"),
        "{}",
        report.json()
    );

    let rare = Costs { launch_ns: 0, registers: 4, ..COSTS };
    let few = planned(&chain, rare, Mode::Enable);
    assert_eq!(few.steps.len(), 2);
    let balance = no_gain(&few);
    assert!(balance.lost_ns > balance.gained_ns, "{balance}");
    let report = few.explain(&chain.graph);
    assert!(report.to_string().contains(&format!("no gain: {balance}")), "{report}");
    assert_eq!(report.unfused[0].balance, Some(balance));
    assert!(report.json().contains("\"balance\":{\"gained_ns\":4194304"), "{}", report.json());
    assert!(report.json().contains("\"limit\":\"registers\""), "{}", report.json());
    assert_eq!(planned(&chain, rare, Mode::Require).steps.len(), 1);
}

/// FUSE-14: one element that all items read is little to share.
#[test]
fn kernels_that_share_next_to_nothing_stay_apart() {
    let n = 1 << 20;
    let mut chain = Chain::new();
    let [a, b, c, d] = ["a", "b", "c", "d"].map(|name| chain.memory(name, n));
    chain.call("one", FIVE, n, &[a, b]);
    chain.call("two", FIVE, n, &[c, d]);
    let apart = planned(&chain, COSTS, Mode::Enable);
    assert_eq!((apart.steps.len(), no_gain(&apart).load.saved), (2, 0));
    let slow = Costs { launch_ns: 1_000_000_000, ..COSTS };
    assert_eq!(planned(&chain, slow, Mode::Enable).steps.len(), 1);
}

/// Each item of a group doubles its element, by way of so many bytes of local memory.
fn tiled(bytes: u64) -> String {
    let tile = format!("param p2 = \"tile\" local f32 {}\nbody {{", bytes / 4);
    let body = "query position 0 0
    %3 u64 = query local_id 0 0
    %1 f32 = load p0[%0]
    store p2[%3] = %1
    %4 f32 = load p2[%3]
    %2 f32 = add %4, %4";
    DOUBLE
        .replace("body {", &tile)
        .replace("query position 0 0\n    %1 f32 = load p0[%0]\n    %2 f32 = add %1, %1", body)
}

/// FUSE-14: a large launch does not join groups of which few are in flight, and does join those of
/// which there are many.
#[test]
fn large_launches_stay_apart_from_what_lowers_parallelism() {
    let n = 1 << 22;
    let of = |bytes: u64| {
        let mut chain = Chain::new();
        let [x, out] = ["x", "out"].map(|name| chain.memory(name, n));
        let tmp = chain.temporary("tmp", n);
        chain.call("five", FIVE, n, &[x, tmp]);
        chain.grouped(&tiled(bytes), n, 256, &[tmp, out]);
        chain
    };
    let many = of(1024);
    assert_eq!(planned(&many, COSTS, Mode::Enable).steps.len(), 1);
    let few = of(32 << 10);
    let apart = planned(&few, COSTS, Mode::Enable);
    assert_eq!(apart.steps.len(), 2);
    let balance = no_gain(&apart);
    // Two groups of 256 of each of 8 units.
    assert_eq!((balance.limit, balance.in_flight, balance.wanted), (Limit::Local, 4096, 8192));
    let report = apart.explain(&few.graph).to_string();
    let line = "4096 of 8192 in flight: 32 KiB of local memory for a group of 256";
    assert!(report.contains(line), "{report}");
    assert_eq!(planned(&few, COSTS, Mode::Require).steps.len(), 1);
}

/// FUSE-14: of tiny launches the report says how small they are, beside a device's units. That a
/// tiny one joins a large one is no gain of bytes, and its launch is next to nothing.
#[test]
fn tiny_launches_are_weighed_by_the_items_that_they_have() {
    let of = |first: u64, second: u64| {
        let mut chain = Chain::new();
        let [a, b, c, d] = ["a", "b", "c", "d"].map(|name| chain.memory(name, first));
        chain.call("first", FIVE, first, &[a, b]);
        chain.call("second", FIVE, second, &[c, d]);
        chain
    };
    let tiny = of(64, 64);
    let plan = planned(&tiny, COSTS, Mode::Enable);
    assert_eq!(plan.steps.len(), 1);
    let report = plan.explain(&tiny.graph).to_string();
    assert!(report.contains("; 64 of 8192 in flight: it has 64 items"), "{report}");
    let unlike = of(1 << 20, 64);
    let apart = planned(&unlike, COSTS, Mode::Enable);
    let balance = no_gain(&apart);
    assert_eq!((apart.steps.len(), balance.limit, balance.lost_ns), (2, Limit::None, 0));
    // The few items of the small one are slow by themselves: 512 bytes count 128 times.
    let Load { traffic, stretched, .. } = balance.load;
    assert_eq!((traffic, stretched), ((8 << 20) + 512, (8 << 20) + 512 * 128));
}

/// Each item sums the row of a matrix.
const ROWS: &str = r#"kernel "rows" items 1 tile 1
param p0 = "x" view f32 2 in item
param p1 = "z" view f32 1 out item
var v0 = "all" f32
body {
  %0 u64 = query position 0 0
  %1 u64 = extent p0 1
  %2 u64 = const u64 0
  for l0 %3 in %2, %1 {
    %4 f32 = load p0[%0, %3]
    %5 f32 = load v0
    %6 f32 = add %4, %5
    store v0 = %6
  }
  %7 f32 = load v0
  store p1[%0] = %7
}
"#;

/// FUSE-14: a row counts with all of its elements, and is not saved by fusion.
#[test]
fn rows_count_with_all_of_their_elements() {
    let (rows, columns) = (1 << 12, 1000);
    let mut chain = Chain::new();
    let [x, sum, more] = ["x", "sum", "more"].map(|name| chain.memory(name, rows));
    let of_rows = |chain: &mut Chain, to| {
        let kernel = read(ROWS);
        let node = chain.launch("rows", kernel, Geometry::over([rows, 1, 1]), &[x, to]);
        for argument in &mut chain.at(node).arguments[..1] {
            let Argument::View { region, .. } = argument else { panic!("a view") };
            (region.shape, region.extent) = ([rows, columns, 1], [rows, columns, 1]);
        }
    };
    of_rows(&mut chain, sum);
    of_rows(&mut chain, more);
    let plan = planned(&chain, Costs { launch_ns: 0, ..COSTS }, Mode::Enable);
    let load = no_gain(&plan).load;
    assert_eq!((load.traffic, load.saved), (2 * 4 * (rows * columns + rows), 0));
}
