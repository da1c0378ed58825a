//! Devices that run no code of the host: kernel functions are loaded there as IR, once, and
//! launched by handle. The devices are simulated, and the interpreter runs what is loaded.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests may panic")]

use crate::support;
use folio::prelude::*;
use folio_core::hal::{HalError, HalErrorKind, LaneKind, Link, MemoryHome};
use folio_core::{
    Cause, Error, Executable,
    error::GraphError,
    graph::{FinalizeOptions, Replay},
    ir,
};
use folio_cpu::CpuBackend;
use folio_layers::{Fault, Faults, Site};
use folio_model::interp::Interpreter;
use folio_model::rng::Rng;
use folio_sim::{Builder, DeviceSpec, IrKernel, IrRunner, Script, SimBackend, SimHandle};
use std::sync::{Arc, Mutex};

#[kernel]
fn step(i: Item, n: i32, x: In<i32>, y: InOut<i32>) {
    y[i] = y[i] * 3 + x[i] - n;
}

#[kernel]
fn smooth(i: Item, x: In<i32>, y: Out<i32>) {
    let n = x.len();
    let k = i.index();
    if k == 0 || k + 1 == n {
        y[i] = x[i];
    } else {
        y[i] = x[k - 1] ^ x[k] ^ x[k + 1];
    }
}

#[kernel]
fn twice(i: Item, y: InOut<i32>) {
    y[i] = y[i] + y[i];
}

#[kernel]
fn picks(i: Item, at: In<u32>, y: InOut<i32>) {
    let from = at[i];
    y[i] = y[i] / (from as i32 - 2);
}

fn spec() -> DeviceSpec {
    DeviceSpec::new().closures(false).ir(Arc::new(Interpreter))
}

/// The suite; the devices must be silent, and have loaded kernels.
#[track_caller]
fn passes(builder: &Builder) {
    let handles: Arc<Mutex<Vec<SimHandle>>> = Arc::default();
    let (builder, own) = (builder.clone(), handles.clone());
    let build = move || {
        let sim = builder.clone().build();
        own.lock().unwrap().push(sim.handle());
        sim
    };
    support::passes(build, &[]);
    let handles = handles.lock().unwrap();
    assert!(handles.iter().any(|handle| handle.counters().loads > 0));
    for handle in &*handles {
        assert_eq!(handle.violations(), []);
    }
}

/// KRN-04, KRN-08
#[test]
fn a_device_that_loads_kernels_passes() {
    passes(&SimBackend::builder().device(spec()));
}

/// KRN-04, KRN-08
#[test]
fn devices_with_both_forms_of_kernels_pass() {
    passes(&SimBackend::builder().device(DeviceSpec::new()).devices(2, spec()));
}

/// KRN-04, KRN-08
#[test]
fn devices_that_load_kernels_pass_in_chaos() {
    let chaos = Script::new().seed(3).jitter(9).overlap(true).visible_every(3);
    passes(&SimBackend::builder().devices(3, spec()).peers(Link::default()).script(chaos));
}

/// KRN-04, KRN-08
#[test]
fn devices_that_load_kernels_pass_in_the_hosts_memory() {
    passes(&SimBackend::builder().device(spec().home(MemoryHome::Host)).device(spec().batch(5)));
}

fn on(rt: &Runtime, name: &str) -> Queue {
    rt.queue_on(name).unwrap()
}

/// A buffer goes from device to device, in both forms of kernels, and is always right.
#[test]
fn buffers_wander_between_the_forms_of_kernels() {
    for seed in 0..8 {
        let mut rng = Rng::new(seed);
        let sim = SimBackend::builder()
            .devices(2, spec())
            .script(Script::new().seed(seed).jitter(5))
            .build();
        let handle = sim.handle();
        let cpu = CpuBackend::builder().domains(2).threads(1).build().unwrap();
        let rt = Runtime::builder().backend(sim).backend(cpu).build().unwrap();
        let queues = ["sim:0", "sim:1", "cpu:0", "cpu:1"].map(|name| on(&rt, name));
        let n = 40;
        let start: Vec<i32> = (0..n).map(|_| rng.below(1 << 20) as i32).collect();
        let (mut x, mut y) = (start.clone(), vec![7; n as usize]);
        let (mut a, mut b) = (rt.buffer_from(&x).unwrap(), rt.buffer_from(&y).unwrap());
        for turn in 0..30 {
            let q = &queues[rng.below(4)];
            if rng.below(2) == 0 {
                q.run(b.range(), step(turn, &a, &mut b)).unwrap();
                for (y, x) in y.iter_mut().zip(&x) {
                    *y = y.wrapping_mul(3).wrapping_add(*x).wrapping_sub(turn);
                }
            } else {
                q.run(a.range(), smooth(&b, &mut a)).unwrap();
                for k in 0..n as usize {
                    let inside = k > 0 && k + 1 < n as usize;
                    x[k] = if inside { y[k - 1] ^ y[k] ^ y[k + 1] } else { y[k] };
                }
            }
        }
        assert_eq!(a.to_vec().unwrap(), x, "seed {seed}");
        assert_eq!(b.to_vec().unwrap(), y, "seed {seed}");
        assert!(handle.counters().launches > 0 && handle.counters().loads <= 4);
        assert_eq!(handle.violations(), []);
    }
}

/// One load for each kernel and device, whoever launches it.
#[test]
fn a_kernel_is_loaded_once_on_each_device() {
    let sim = SimBackend::builder().devices(2, spec()).notifies(true).build();
    let handle = sim.handle();
    let rt = Runtime::builder().backend(sim).build().unwrap();
    let nothing = on(&rt, "sim:0").run(0, twice(&mut rt.buffer::<i32, 1>(1).unwrap())).unwrap();
    nothing.wait().unwrap();
    assert_eq!(handle.counters().loads, 0, "what is not launched is not loaded");
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let rt = &rt;
            scope.spawn(move || {
                let q = on(rt, ["sim:0", "sim:1"][thread % 2]);
                let mut y = rt.buffer_from(&[1; 8]).unwrap();
                for _ in 0..5 {
                    q.run(8, twice(&mut y)).unwrap();
                }
                assert_eq!(y.to_vec().unwrap(), [32; 8]);
            });
        }
    });
    assert_eq!((handle.counters().loads, handle.counters().launches), (2, 20));
    let (x, mut y) = (rt.buffer::<i32, 1>(8).unwrap(), rt.buffer::<i32, 1>(8).unwrap());
    on(&rt, "sim:1").run(8, step(1, &x, &mut y)).unwrap();
    assert_eq!(y.to_vec().unwrap(), [-1; 8]);
    assert_eq!(handle.counters().loads, 3);
}

/// KRN-03: a violation of a loaded kernel fails its command, with its name and place, and what it
/// wrote is poisoned.
#[test]
fn violations_of_loaded_kernels_have_a_name_and_a_place() {
    let sim = SimBackend::builder().device(spec()).build();
    let rt = Runtime::builder().backend(sim).build().unwrap();
    let q = on(&rt, "sim:0");
    let (at, mut y) = (rt.buffer_from(&[1u32, 2, 3]).unwrap(), rt.buffer_from(&[8; 3]).unwrap());
    let event = q.run(3, picks(&at, &mut y)).unwrap();
    let after = q.run(3, twice(&mut y)).unwrap();
    for event in [event, after] {
        let Err(Error::Failed(failure)) = event.wait() else { panic!("no failure") };
        let Cause::Kernel(violation) = failure.cause() else { panic!("{failure}") };
        assert_eq!((&*violation.kernel, failure.label()), ("picks", "picks"));
        assert!(violation.site.file.ends_with("engine_ir.rs"), "{violation}");
    }
    assert!(y.to_vec().is_err());
    q.run(3, twice(&mut rt.buffer_from(&[1; 3]).unwrap())).unwrap().wait().unwrap();
}

/// Does not load one kernel.
#[derive(Debug)]
struct Picky;

impl IrRunner for Picky {
    fn load(&self, kernel: &ir::Kernel) -> Result<Arc<dyn IrKernel>, HalError> {
        match kernel.name.as_str() {
            "twice" => Err(HalError::new(HalErrorKind::Build, "too wide")),
            _ => Interpreter.load(kernel),
        }
    }
}

/// ERR-01: a kernel that a device does not build is an error of the call, which changes nothing.
#[test]
fn a_kernel_that_does_not_load_is_refused() {
    let sim = SimBackend::builder().device(spec().ir(Arc::new(Picky))).build();
    let rt = Runtime::builder().backend(sim).build().unwrap();
    let q = on(&rt, "sim:0");
    let (x, mut y) = (rt.buffer_from(&[5; 4]).unwrap(), rt.buffer_from(&[1; 4]).unwrap());
    let before = rt.counters();
    match q.run(4, twice(&mut y)) {
        Err(error @ Error::Device { .. }) => {
            let text = error.to_string();
            assert_eq!(text, "sim:0: load kernel `twice`: build failed: too wide");
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(rt.counters(), before);
    q.run(4, step(0, &x, &mut y)).unwrap();
    assert_eq!(y.to_vec().unwrap(), [8; 4]);
}

/// Closures are of the host.
#[test]
fn closures_are_refused() {
    let rt = Runtime::builder().backend(SimBackend::builder().device(spec()).build()).build();
    let rt = rt.unwrap();
    let refused = on(&rt, "sim:0").submit(|cg| {
        cg.host_kernel([1], (), |_, ()| {});
        Ok(())
    });
    match refused {
        Err(Error::Unsupported { device, what }) => {
            assert!(device == "sim:0" && what.contains("closures"), "{what}");
        }
        other => panic!("{other:?}"),
    }
}

/// ERR-01: the n-th load fails, or takes the device away; a later attempt may do better.
#[test]
fn loads_may_fail() {
    let kinds = [Fault::Now(HalErrorKind::Driver), Fault::Later(HalErrorKind::Build), Fault::Lose];
    for (nth, fault) in (1..=3).flat_map(|nth| kinds.iter().map(move |kind| (nth, kind))) {
        let faults = Faults::new();
        let plan = faults.handle();
        plan.inject(Site::Load, nth, fault.clone());
        let sim = SimBackend::builder().device(spec()).build();
        let rt = Runtime::builder().backend(faults.over(sim)).build().unwrap();
        let q = on(&rt, "sim:0");
        let (x, mut y) = (rt.buffer_from(&[5; 4]).unwrap(), rt.buffer_from(&[1; 4]).unwrap());
        let mut refused = 0;
        for turn in 0..6 {
            let ran = match turn % 3 {
                0 => q.run(4, step(0, &x, &mut y)),
                1 => q.run(4, twice(&mut y)),
                _ => q.run(4, smooth(&x, &mut y)),
            };
            match ran {
                Ok(_) => {}
                Err(Error::Device { doing, .. }) => {
                    let loading = doing.starts_with("load kernel `");
                    assert!(loading || matches!(fault, Fault::Lose), "{doing}");
                    refused += 1;
                }
                Err(other) => panic!("{other}"),
            }
        }
        let lost = matches!(fault, Fault::Lose);
        if lost {
            assert!(refused > 0, "{nth}");
        } else {
            assert_eq!((plan.counts()[&Site::Load], refused), (4, 1), "{nth} {fault:?}");
            assert_eq!(y.to_vec().unwrap(), [5; 4]);
        }
    }
}

/// The loss of a device takes what ran there; kernels that were loaded there run elsewhere still.
#[test]
fn a_device_is_lost_with_what_it_has_loaded() {
    let sim = SimBackend::builder().devices(2, spec()).build();
    let handle = sim.handle();
    let rt = Runtime::builder().backend(sim).build().unwrap();
    let (a, b) = (on(&rt, "sim:0"), on(&rt, "sim:1"));
    let (mut x, mut y) = (rt.buffer_from(&[1; 4]).unwrap(), rt.buffer_from(&[1; 4]).unwrap());
    a.run(4, twice(&mut x)).unwrap().wait().unwrap();
    b.run(4, twice(&mut y)).unwrap().wait().unwrap();
    handle.lose(0);
    let refused = a.run(4, twice(&mut x)).and_then(|event| event.wait());
    assert!(refused.is_err());
    b.run(4, twice(&mut y)).unwrap();
    assert_eq!(y.to_vec().unwrap(), [4; 4]);
    assert!(x.to_vec().is_err(), "its only copy is gone");
    let mut z = rt.buffer_from(&[3; 4]).unwrap();
    assert!(a.run(4, picks(&rt.buffer_from(&[1u32; 4]).unwrap(), &mut z)).is_err());
    assert_eq!(z.to_vec().unwrap(), [3; 4]);
}

/// FUSE-01: a device that runs no kernels fuses none.
#[test]
fn fusion_on_a_device_without_it_is_a_typed_error() {
    let spec = DeviceSpec::new().closures(false);
    let sim = SimBackend::builder().devices(1, spec).build();
    let rt = Runtime::builder().backend(sim).build().unwrap();
    let q = rt.queue().unwrap();
    assert!(!q.device().fuses());
    let (graph, x) =
        (rt.graph(&q.device()).unwrap(), rt.buffer::<i32, 1>(4).unwrap().into_shared());
    graph.add(|cg| cg.fill(&x, 3)).unwrap();
    let refused = graph.finalize_with(FinalizeOptions::new().require_fusion());
    let Err(Error::Graph { why, .. }) = refused else { panic!("{refused:?}") };
    assert!(matches!(*why, GraphError::FeatureNotSupported { .. }), "{why}");
    let run = graph.finalize_with(FinalizeOptions::new().enable_fusion()).unwrap();
    let report = run.fusion_report().unwrap().unwrap();
    assert!(report.to_string().contains("does not fuse"), "{report}");
    q.run_graph(&run).unwrap();
    assert_eq!(x.to_vec().unwrap(), [3; 4]);
}

/// One kernel of seven, of which a number says which: there are 128, no two of them alike.
fn one_of_seven(q: &Queue, n: u32, x: &Buffer<i32>, y: &mut Buffer<i32>) -> Executable {
    let graph = q.runtime().graph(&q.device()).unwrap();
    let recording = graph.record([q]).unwrap();
    for bit in 0..7 {
        match n >> bit & 1 {
            0 => q.run(8, twice(&mut *y)).unwrap(),
            _ => q.run(8, step(1, x, &mut *y)).unwrap(),
        };
    }
    drop(recording);
    graph.finalize_with(FinalizeOptions::new().require_fusion()).unwrap()
}

fn computed(n: u32, x: i32, y: i32) -> i32 {
    (0..7).fold(y, |y: i32, bit| match n >> bit & 1 {
        0 => y.wrapping_add(y),
        _ => y.wrapping_mul(3).wrapping_add(x - 1),
    })
}

/// FUSE-08: the code of fused kernels stays on a device for as long as graphs and runs use it; of
/// code that nothing uses it keeps the latest 64.
#[test]
fn fused_kernels_are_unloaded_when_nothing_uses_them() {
    const UNUSED: u32 = 64;
    const OLD: u32 = 5;
    for how in [Replay::Lists, Replay::Commands] {
        let sim = SimBackend::builder().device(spec()).build();
        let handle = sim.handle();
        let rt = Runtime::builder().backend(sim).build().unwrap();
        let q = on(&rt, "sim:0");
        let (x, mut y) = (rt.buffer_from(&[3; 8]).unwrap(), rt.buffer_from(&[1; 8]).unwrap());
        let used = one_of_seven(&q, 0, &x, &mut y);
        let run = one_of_seven(&q, 1, &x, &mut y);
        run.replay_as(how);
        q.run_graph(&run).unwrap().wait().unwrap();
        let functions = 2;
        assert_eq!(handle.counters().loads, functions + 2);
        handle.hold(0, LaneKind::Compute);
        let under_way = q.run_graph(&run).unwrap();
        drop(run);
        let last = 1 + UNUSED + OLD;
        (2..=last).for_each(|n| drop(one_of_seven(&q, n, &x, &mut y)));
        let counts = || (handle.counters().loads - functions, handle.counters().unloads);
        let all = u64::from(last) + 1;
        assert_eq!(counts(), (all, u64::from(OLD)), "one is used, and one under way");
        handle.release(0, LaneKind::Compute);
        under_way.wait().unwrap();
        // The thread that has seen its end unloads it, after those who waited were told.
        while handle.counters().unloads == u64::from(OLD) {
            std::thread::yield_now();
        }
        drop((one_of_seven(&q, 0, &x, &mut y), one_of_seven(&q, last, &x, &mut y)));
        assert_eq!(counts().0, all, "both are there");
        q.run_graph(&used).unwrap();
        let wanted = computed(0, 3, computed(1, 3, computed(1, 3, 1)));
        assert_eq!(y.to_vec().unwrap(), [wanted; 8]);
        drop(one_of_seven(&q, 2, &x, &mut y));
        assert_eq!(counts().0, all + 1, "it is loaded anew");
        assert_eq!(handle.violations(), []);
    }
}
