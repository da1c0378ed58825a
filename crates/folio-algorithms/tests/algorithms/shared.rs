//! Algorithms that the devices of a queue share: the bits of one device, and few bytes moved.

use super::{Check, Rig, draws, floats, folds, moves};
use folio::algorithms::{self, Direction};
use folio::geom::Box3;
use folio::hal::Link;
use folio::prelude::*;
use folio::sched::Split;
use folio_cpu::CpuBackend;
use folio_model::rng::Rng;
use folio_sim::{DeviceSpec, SimBackend};

/// Checks of algorithms that devices share.
const SHARED: &[Check] = &[
    folds::reductions,
    folds::indices_of_extremes,
    folds::scans,
    folds::scans_of_parts,
    folds::shapes_are_taken_row_after_row,
    moves::rows_become_columns,
    moves::axes_are_permuted,
    moves::memory_of_a_failed_gather_is_not_shown,
    draws::uniform_numbers,
    draws::normal_numbers,
];

/// Simulated devices that run kernels as a CPU does, and exchange memory without the host.
fn simulated(n: usize) -> SimBackend {
    SimBackend::builder().devices(n, DeviceSpec::new()).peers(Link::default()).build()
}

/// From 1 to 8 devices: simulated ones, CPUs, and both.
fn machines() -> Vec<Runtime> {
    let cpu = |n| CpuBackend::builder().domains(n).threads(n).build().unwrap();
    let mut all: Vec<Runtime> =
        [2, 3, 8].map(|n| Runtime::builder().backend(simulated(n)).build().unwrap()).into();
    all.extend([1, 4].map(|n| Runtime::builder().backend(cpu(n)).build().unwrap()));
    all.push(Runtime::builder().backend(simulated(3)).backend(cpu(2)).build().unwrap());
    all
}

/// The last device has the first elements, and the first device all others.
fn crossed() -> Split {
    Split::by(|items, n| {
        let mut parts = vec![Box3::EMPTY; n];
        parts[0] = *items;
        if n > 1 {
            let at = items.min[2] + items.extent()[2] / 3;
            (parts[0].min[2], parts[n - 1]) = (at, *items);
            parts[n - 1].max[2] = at;
        }
        parts
    })
}

/// Beside plain Rust, to the bit: also of fewer elements than devices.
#[test]
fn algorithms_of_all_devices_are_those_of_one() {
    for rt in machines().split_off(2) {
        for split in [Split::rows(), crossed()] {
            let q = rt.queue_over(&rt.devices(), split).unwrap();
            let rig = Rig { rt: rt.clone(), q, most: 2049, few: true };
            SHARED.iter().for_each(|check| check(&rig).unwrap());
        }
    }
}

/// All devices compute, and their results are those of one device in another order of work, too.
#[test]
fn large_inputs_are_work_for_all_devices() {
    const N: usize = 70_001;
    for rt in machines() {
        let devices = rt.devices().len() as u64;
        let of = |q: &Queue| {
            let launches = q.counters().launches;
            let x = rt.buffer_from(floats(&mut Rng::new(5), N)).unwrap();
            let (mut y, mut z) = (rt.buffer::<f32, 1>(N).unwrap(), rt.buffer(N).unwrap());
            algorithms::fill_uniform(q, 7, &mut y).unwrap();
            algorithms::exclusive_scan(q, Add, &y, &mut z).unwrap();
            let sum = algorithms::dot(q, &y, &z).unwrap();
            let most = algorithms::reduce(q, Max, &x).unwrap();
            let all = [y.to_vec(), z.to_vec(), sum.to_vec(), most.to_vec()];
            let bits: Vec<u32> =
                all.into_iter().flat_map(Result::unwrap).map(f32::to_bits).collect();
            (bits, q.counters().launches - launches)
        };
        let (wanted, _) = of(&rt.queue_on(&rt.devices()[0]).unwrap());
        let (found, launches) = of(&rt.queue_over(&rt.devices(), Split::rows()).unwrap());
        assert!(found == wanted, "other bits on {devices} devices");
        // The fill, both passes over the elements, the product, the greatest: each is for all.
        assert!(devices == 1 || launches > 5 * devices, "{launches} launches, {devices} devices");
    }
}

/// What moves is counted by hand: leaves, chunks and halves of bands that are no whole chunks.
#[test]
fn algorithms_leave_data_where_they_are() {
    const N: usize = 120_000;
    let rt = Runtime::builder().backend(simulated(3)).build().unwrap();
    let q = rt.queue_over(&rt.devices(), Split::rows()).unwrap();
    let moved = |run: &mut dyn FnMut() -> folio::Result<()>| {
        let before = rt.counters().transfers().bytes;
        run().unwrap();
        q.wait().unwrap();
        rt.counters().transfers().bytes - before
    };
    let (mut x, mut y) = (rt.buffer::<f32, 1>(N).unwrap(), rt.buffer::<f32, 1>(N).unwrap());
    assert_eq!(moved(&mut || algorithms::fill_uniform(&q, 1, &mut x)), 0);
    assert_eq!(moved(&mut || algorithms::fill_uniform(&q, 2, &mut y)), 0);
    // Bands of 40,000 elements; leaves of 4,096 begin before their ends. The host combines what the
    // 30 leaves leave.
    let beyond = (40_000 - 10 * 4096) as i64;
    let beyond = (beyond.unsigned_abs() + (20 * 4096 - 80_000)) * 4;
    assert_eq!(moved(&mut || algorithms::reduce(&q, Add, &x).map(drop)), beyond + 30 * 4);
    // The same elements of `y`: those of `x` have been brought.
    assert_eq!(moved(&mut || algorithms::dot(&q, &x, &y).map(drop)), beyond + 30 * 4);

    let (mut x, mut z) = (rt.buffer::<f32, 1>(N).unwrap(), rt.buffer::<f32, 1>(N).unwrap());
    algorithms::fill_uniform(&q, 1, &mut x).unwrap();
    // Chunks of 1,024 elements: shares begin at 39 and 78 of 118 chunks. The first device scans the
    // totals of the others, all but the last, and they get the starts.
    let beyond = (40_000 - 39 * 1024) + (80_000 - 78 * 1024);
    let of_chunks = (117 - 39) + 2 * 118;
    let scan = &mut || algorithms::inclusive_scan(&q, Add, &x, &mut z);
    assert_eq!(moved(scan), 4 * (beyond + of_chunks));

    // A device has 30 of 90 columns of the source as rows, and lacks them of 40 of its 60 rows.
    let (mut from, mut to) = (rt.buffer([60, 90]).unwrap(), rt.buffer([90, 60]).unwrap());
    q.share([60, 90], numbered(&mut from)).unwrap();
    assert_eq!(moved(&mut || algorithms::transpose(&q, &from, &mut to)), 4 * 3 * 30 * 40);
    assert_eq!(to.get([89, 3]).unwrap(), 3 * 90 + 89);
}

#[kernel]
fn numbered(i: Item<2>, y: Out<u32, 2>) {
    let (r, c) = i.pos();
    y[i] = (r * 90 + c) as u32;
}

/// A call with numbers, and the ends of segments of these.
type Call = fn(&Queue, &[&Buffer<u32>; 2]) -> folio::Result<()>;

/// Algorithms that devices cannot share name themselves, and run on one of the devices.
#[test]
fn others_are_refused() {
    let rt = Runtime::builder().backend(simulated(2)).build().unwrap();
    let q = rt.queue_over(&rt.devices(), Split::rows()).unwrap();
    let on = q.on(&rt.devices()[1]).unwrap();
    let x = rt.buffer_from(&[3u32, 1, 2, 0]).unwrap();
    let offsets = rt.buffer_from(&[0u32, 3, 4]).unwrap();
    let ran: &[(&str, Call)] = &[
        ("sort", |q, _| {
            algorithms::sort(q, Direction::Ascending, &mut q.runtime().buffer::<u32, 1>(4)?)
        }),
        ("sort_by_key", |q, [x, _]| {
            let mut keys = q.runtime().buffer_from(x.to_vec()?)?;
            let mut values = q.runtime().buffer_from(x.to_vec()?)?;
            algorithms::sort_by_key(q, Direction::Ascending, &mut keys, &mut values)
        }),
        ("sort_order", |q, [x, _]| algorithms::sort_order(q, Direction::Ascending, *x).map(drop)),
        ("sort_segments", |q, [x, offsets]| {
            let mut keys = q.runtime().buffer_from(x.to_vec()?)?;
            algorithms::sort_segments(q, Direction::Ascending, *offsets, &mut keys)
        }),
        ("merge", |q, [x, _]| {
            algorithms::merge(q, Direction::Ascending, *x, *x, &mut q.runtime().buffer(8)?)
        }),
        ("compact", |q, [x, _]| algorithms::compact(q, *x, *x).map(drop)),
        ("partition", |q, [x, _]| {
            algorithms::partition(q, *x, *x, &mut q.runtime().buffer(4)?).map(drop)
        }),
        ("unique", |q, [x, _]| algorithms::unique(q, *x).map(drop)),
        ("histogram", |q, [x, _]| algorithms::histogram(q, *x, 4).map(drop)),
        ("histogram", |q, [x, _]| {
            algorithms::bincount_into(q, *x, &mut q.runtime().buffer::<u64, 1>(4)?)
        }),
        ("scatter", |q, [x, _]| algorithms::scatter(q, *x, *x, &mut q.runtime().buffer(4)?)),
        ("scan_by_key", |q, [x, _]| {
            algorithms::inclusive_scan_by_key(q, Add, *x, *x, &mut q.runtime().buffer(4)?)
        }),
        ("segmented_reduce", |q, [x, offsets]| {
            algorithms::segmented_reduce(q, Add, *offsets, *x, &mut q.runtime().buffer(2)?)
        }),
    ];
    for (name, run) in ran {
        let error = run(&q, &[&x, &offsets]).unwrap_err();
        let wanted = format!(
            "kernel `{name}` cannot be spread over devices: this algorithm runs on one device so \
             far; give it `q.on(&device)`"
        );
        assert!(matches!(error, Error::NotSpread { .. }), "{error:?}");
        assert_eq!((error.to_string(), rt.counters().launches), (wanted, 0));
    }
    ran.iter().for_each(|(_, run)| run(&on, &[&x, &offsets]).unwrap());
    on.wait().unwrap();
    assert!(rt.counters().launches >= ran.len() as u64);
}

/// A recording of all devices has an algorithm as it runs, each time anew.
#[test]
fn shared_algorithms_are_recorded() {
    const N: usize = 70_000;
    for rt in machines() {
        let q = rt.queue_over(&rt.devices(), Split::rows()).unwrap();
        let mut x = rt.buffer_from(vec![1u32; N]).unwrap();
        let mut y = rt.buffer::<u32, 1>(N).unwrap();
        let graph = rt.graph(&q.device()).unwrap();
        let recording = graph.record([&q]).unwrap();
        algorithms::inclusive_scan(&q, Add, &x, &mut y).unwrap();
        let sum = algorithms::reduce(&q, Add, &y).unwrap();
        drop(recording);
        let run = graph.finalize().unwrap();
        for value in [1, 3] {
            q.fill(&mut x, value).unwrap();
            q.run_graph(&run).unwrap().wait().unwrap();
            assert_eq!(y.get(N - 1).unwrap(), value * N as u32);
            let wanted = (1..=N as u32).fold(0u32, |all, k| all.wrapping_add(k * value));
            assert_eq!(sum.get(0).unwrap(), wanted);
        }
    }
}
