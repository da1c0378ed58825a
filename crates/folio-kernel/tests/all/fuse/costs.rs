//! The cost model: constants and loads in, decisions and their reasons out. Nothing is measured.

use super::graph::{ADD, Chain, FIVE};
use folio_kernel::fuse::{Balance, Costs, Facts, Load, Mode, Options, Plan, Reason, plan};

/// Round numbers: memory moves a byte in 1 ns, the cache of 1 MB four times that.
const COSTS: Costs = Costs {
    launch_ns: 2000,
    memory_rate: 1000,
    cache_rate: 4000,
    cache_bytes: 1_000_000,
    registers: 64,
};

/// Two kernels of which one stores 4 MB that the other one loads.
const LOAD: Load = Load {
    launches: 1,
    traffic: 16_000_000,
    saved: 4_000_000,
    working_set: 12_000_000,
    registers: 12,
    registers_alone: 10,
};

fn check(costs: Costs, load: Load, fuses: bool, wanted: &str) {
    let balance = costs.weigh(&load);
    assert_eq!((balance.to_string().as_str(), balance.is_gain()), (wanted, fuses));
}

/// FUSE-14: each of the numbers that the model knows decides somewhere.
#[test]
fn launches_bytes_registers_and_caches_decide() {
    let of = "4000000 bytes of memory, 0 ns more for 12 registers instead of 10";
    check(COSTS, LOAD, true, &format!("about 4002000 of 16004000 ns less for 1 launch and {of}"));
    // Nothing passes between them: the launch alone is no gain for kernels of 16 ms, but is one
    // for kernels of 16 us.
    let apart = Load { saved: 0, ..LOAD };
    let of = "0 bytes of memory, 0 ns more for 12 registers instead of 10";
    check(COSTS, apart, false, &format!("about 2000 of 16004000 ns less for 1 launch and {of}"));
    let small = Load { traffic: 16_000, ..apart };
    check(COSTS, small, true, &format!("about 2000 of 20000 ns less for 1 launch and {of}"));
    // Where launches cost nothing, they are none either.
    let free = Costs { launch_ns: 0, ..COSTS };
    check(free, small, false, &format!("about 0 of 16000 ns less for 1 launch and {of}"));
    // What stays in a cache is loaded again four times as fast.
    let cached = Load { working_set: 1_000_000, ..LOAD };
    let of = "4000000 bytes of a cache, 0 ns more for 12 registers instead of 10";
    check(COSTS, cached, true, &format!("about 1002000 of 4004000 ns less for 1 launch and {of}"));
    // A third more registers than are free: what is left takes a third more.
    let of = "4000000 bytes of memory, 4000000 ns more for 96 registers instead of 72";
    let many = Load { registers: 96, registers_alone: 72, ..LOAD };
    check(COSTS, many, false, &format!("about 4002000 of 16004000 ns less for 1 launch and {of}"));
    // Registers that are free cost nothing, nor do those that one of the kernels needs anyway.
    let of = "4000000 bytes of memory, 0 ns more for 64 registers instead of 10";
    let free = Load { registers: 64, ..LOAD };
    check(COSTS, free, true, &format!("about 4002000 of 16004000 ns less for 1 launch and {of}"));
    let of = "4000000 bytes of memory, 0 ns more for 96 registers instead of 96";
    let same = Load { registers: 96, registers_alone: 96, ..LOAD };
    check(COSTS, same, true, &format!("about 4002000 of 16004000 ns less for 1 launch and {of}"));
}

/// Numbers that no device has are no panics.
#[test]
fn extreme_numbers_are_weighed() {
    let none = Costs { memory_rate: 0, cache_rate: 0, cache_bytes: 0, launch_ns: 0, registers: 0 };
    assert!(!none.weigh(&Load::default()).is_gain());
    let most = Load {
        launches: u64::MAX,
        traffic: u64::MAX,
        saved: u64::MAX,
        working_set: u64::MAX,
        registers: u32::MAX,
        registers_alone: 0,
    };
    assert!(none.weigh(&most).is_gain());
    assert!(Costs { launch_ns: u64::MAX, ..none }.weigh(&most).is_gain());
}

fn planned(chain: &Chain, costs: Costs, mode: Mode) -> Plan {
    plan(&chain.graph, &Facts { costs, ..Facts::GPU }, Options::new(mode)).unwrap()
}

fn no_gain(plan: &Plan) -> Balance {
    match plan.unfused[..] {
        [ref pair] => match pair.reason {
            Reason::NoGain(balance) => balance,
            ref other => panic!("{other}"),
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
    let line = "4194304 bytes of memory, 0 ns more for 4 registers instead of 4";
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
