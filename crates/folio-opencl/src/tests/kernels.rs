//! Kernels: what is built, and in which groups they run.

use super::*;
use crate::cl::memory_gone;
use crate::device::Loaded;
use crate::module::Text;
use crate::platform::{platforms, version};
use folio_core::hal::Op;
use folio_core::ir::emit::Dialect;
use opencl_sys::CL_BUILD_PROGRAM_FAILURE;

/// A kernel that runs in smaller groups than the device does is launched in those.
#[test]
fn blocks_are_what_the_kernel_takes() {
    for (most, tiles) in [(usize::MAX, true), (256, true), (255, false), (3, false), (1, false)] {
        MOST_ITEMS.set(most);
        let Some(bench) = Bench::open(1 << 20) else { return };
        bench.copy(&mut vec![1.0; 1 << 20], true);
        bench.launch(bench.len, true);
        bench.launch(bench.len, false);
        bench.holds(2);
        let device = bench.device.downcast_ref::<OpenClDevice>().unwrap();
        let loaded = device.0.loaded(bench.twice).unwrap();
        let Loaded::Kernel(twice) = loaded else { panic!("it is a function") };
        let threads = twice.0.text(true).built.get().unwrap().as_ref().unwrap().block;
        assert!(threads.iter().product::<u64>() <= most as u64, "{threads:?}");
        let units = u64::from(device.0.info.compute_units);
        let tiled = twice.0.several([1, 1, bench.len as u64], units);
        let tiled = tiled.map(|(text, _)| text.built.get().is_some_and(Result::is_ok));
        assert_eq!(tiled.unwrap_or(tiles), tiles);
        assert!(bench.failures().is_empty());
    }
    MOST_ITEMS.set(usize::MAX);
}

/// CACHE-02: preparing builds all that launches take, and enqueues nothing; neither a second time
/// nor the launches build anything.
#[test]
fn what_is_prepared_is_built_once() {
    let Some(bench) = Bench::open(1 << 20) else { return };
    bench.copy(&mut vec![1.0; 1 << 20], true);
    let built = |act: &dyn Fn()| {
        let calls = calls_of(act);
        let of = |name: &str| calls.get(name).copied().unwrap_or(0);
        (of("clBuildProgram"), of("clEnqueueNDRangeKernel"))
    };
    let device = bench.device.downcast_ref::<OpenClDevice>().unwrap();
    let prepare = || device.prepare(bench.twice).unwrap();
    let (first, again) = (built(&prepare), built(&prepare));
    assert!(first.0 > 0 && first.1 == 0, "{first:?}");
    assert_eq!(again, (0, 0));
    let launches = || [true, false].into_iter().for_each(|proved| bench.launch(bench.len, proved));
    assert_eq!(built(&launches).0, 0);
    bench.holds(2);
    assert!(bench.failures().is_empty());
}

/// Code that is unloaded is gone. Other code stays, and its handle does not come again.
#[test]
fn unloading_drops_one_kernel_only() {
    let Some(bench) = Bench::open(64) else { return };
    let load = || bench.device.load(&KernelSource::Ir(&parse(TWICE).unwrap())).unwrap();
    let (first, device) = (load(), bench.device.downcast_ref::<OpenClDevice>().unwrap());
    bench.device.unload(first);
    assert!(device.0.loaded(first).is_err());
    assert!(![first, bench.twice].contains(&load()));
    bench.copy(&mut [1.0; 64], true);
    bench.launch(64, true);
    bench.holds(1);
    assert!(bench.failures().is_empty());
}

/// A driver refuses the text of several items for each thread: launches take the one of one item.
/// Where there is no other text the launch has failed, and says why.
#[test]
fn a_text_that_the_driver_refuses() {
    let Some(bench) = Bench::open(1 << 21) else { return };
    bench.copy(&mut vec![1.0; 1 << 21], true);
    let device = bench.device.downcast_ref::<OpenClDevice>().unwrap();
    let loaded = device.0.loaded(bench.twice).unwrap();
    let Loaded::Kernel(twice) = loaded else { panic!("it is a function") };
    let refuse = |text: &Text| {
        let error = HalError::new(HalErrorKind::Build, "the driver's reason");
        text.built.set(Err(error)).unwrap();
    };
    let (range, units) = ([1, 1, bench.len as u64], device.0.info.compute_units);
    refuse(twice.0.several(range, u64::from(units)).unwrap().0);
    bench.launch(bench.len, true);
    bench.holds(1);
    // With tests; nothing else has them.
    refuse(twice.0.text(false));
    bench.launch(bench.len, false);
    bench.launch(bench.len, true);
    bench.holds(2);
    let failures = bench.failures();
    let [(tick, error)] = &failures[..] else { panic!("{failures:?}") };
    assert!(matches!(error.kind, HalErrorKind::Build), "{error}");
    assert_eq!((*tick, &*error.message), (4, "the driver's reason"));
}

/// A text that the driver cannot build for want of something it can build later; the compiler's
/// answer stays.
#[test]
fn what_cannot_be_built_now_may_be_later() {
    let fails = |bench: &Bench| {
        bench.launch(256, false);
        bench.finish();
        let failures = bench.failures();
        let [(tick, error)] = &failures[..] else { panic!("{failures:?}") };
        assert_eq!(*tick, bench.last.get());
        error.kind.clone()
    };
    // Whatever is kept is given back, and the driver asked again.
    let _one = ONE_COUNTS.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(bench) = Bench::open(256) else { return };
    bench.copy(&mut [1.0; 256], true);
    for _ in 0..2 {
        refuse_for("clBuildProgram", 0..2, CL_OUT_OF_RESOURCES);
        assert!(matches!(fails(&bench), HalErrorKind::OutOfMemory { .. }));
        REFUSED.take();
    }
    bench.launch(256, false);
    bench.holds(1);
    let Some(bench) = Bench::open(256) else { return };
    refuse_for("clBuildProgram", 0..1, CL_BUILD_PROGRAM_FAILURE);
    for _ in 0..2 {
        assert!(matches!(fails(&bench), HalErrorKind::Build));
        was_refused();
    }
}

/// The text of several items for each thread, if the driver refuses it whenever it is asked, is
/// asked for by few of the launches that do without it; and taken once it can be had.
#[test]
fn a_text_that_launches_can_do_without_is_asked_for_rarely() {
    let _one = ONE_COUNTS.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(bench) = Bench::open(1 << 20) else { return };
    bench.copy(&mut vec![1.0; 1 << 20], true);
    let device = bench.device.downcast_ref::<OpenClDevice>().unwrap();
    let loaded = device.0.loaded(bench.twice).unwrap();
    let Loaded::Kernel(twice) = loaded else { panic!("it is a function") };
    let units = u64::from(device.0.info.compute_units);
    let Some((tiled, _)) = twice.0.several([1, 1, bench.len as u64], units) else { return };
    refuse_for("clBuildProgram", 0..usize::MAX, CL_OUT_OF_RESOURCES);
    let calls = calls_of(|| (0..31).for_each(|_| bench.launch(bench.len, true)));
    // Five times; and again where somebody has given back what was kept.
    assert!((5..=10).contains(&calls["clCreateProgramWithSource"]), "{calls:?}");
    assert!(tiled.built.get().is_none());
    REFUSED.take();
    let calls = calls_of(|| (0..31).for_each(|_| bench.launch(bench.len, true)));
    assert_eq!(calls.get("clCreateProgramWithSource"), Some(&1), "{calls:?}");
    assert!(tiled.built.get().is_some_and(Result::is_ok));
    bench.holds(62);
    assert!(bench.failures().is_empty());
}

/// Arguments are given to the driver where they differ from those that the kernel has, or where it
/// may have none; a buffer also where one of its name may have been another.
#[test]
fn arguments_are_set_where_they_differ() {
    const SET: &str = "clSetKernelArg";
    let Some(bench) = Bench::open(256) else { return };
    let memory = || {
        let made = bench.device.usm().alloc(&request(4 * 256)).unwrap();
        let base = MemBase::Device { device: 0, handle: made.handle };
        Bench { memory: MemRef { base, offset: 0 }, last: Cell::new(0), ..bench.beside() }
    };
    let launch = |of: &Bench, items| {
        let (params, geometry) = ([of.param(256)], Geometry::new(1, [1, 1, items]));
        let args = Args { proved: true, ..Args::new(&params) };
        let (head, kernel) = (of.head(&[]), KernelRef::Loaded(of.twice));
        let calls = calls_of(|| {
            of.lane.enqueue(&head, Op::Launch(kernel, &geometry, args)).unwrap();
            of.enqueue();
        });
        calls.get(SET).copied().unwrap_or(0)
    };
    let holds = |of: &Bench, first: i32, second: i32| {
        let mut values = [0.0; 256];
        of.copy(&mut values, false);
        let expected = [first, second].map(|launches| [2f32.powi(launches); 128]);
        assert!(values == *expected.concat(), "{values:?}");
    };
    let other = memory();
    // Buffers of other tests may go meanwhile, in the same process.
    let undisturbed = (0..100).any(|_| {
        bench.copy(&mut [1.0; 256], true);
        other.copy(&mut [1.0; 256], true);
        let gone = memory_gone();
        launch(&bench, 256);
        let both = [&bench, &bench, &bench, &other, &other, &bench];
        let items = [256, 128, 128, 128, 128, 256];
        let set: Vec<usize> = both.into_iter().zip(items).map(|(of, n)| launch(of, n)).collect();
        refuse(SET, 0);
        launch(&other, 128);
        was_refused();
        let again = [launch(&other, 128), launch(&other, 128)];
        let (still, failures) = (memory_gone() == gone, other.failures());
        holds(&bench, 5, 3);
        holds(&other, 4, 0);
        assert_eq!(failures.len() + other.failures().len(), 1);
        if still {
            assert_eq!((&set[..], again), (&[0, 1, 0, 1, 0, 2][..], [2, 0]));
        }
        still
    });
    assert!(undisturbed);
    // Memory that comes after one that is gone may have its name.
    for _ in 0..20 {
        let next = memory();
        next.copy(&mut [1.0; 256], true);
        let gone = memory_gone();
        assert!(launch(&next, 256) > 0);
        let set = launch(&next, 256);
        assert!(set == 0 || memory_gone() != gone);
        holds(&next, 2, 2);
        let MemBase::Device { handle, .. } = next.memory.base else { unreachable!() };
        next.device.usm().free(handle);
    }
}

/// The device's floats are as it says: denormals, divisions, square roots.
#[test]
fn floats_are_what_the_device_says() {
    const FLOATS: &str = "__kernel void floats(__global float *x) {
        x[0] *= 0.5f; x[1] /= 3.0f; x[2] = sqrt(x[2]);
    }";
    let Some(bench) = Bench::open(3) else { return };
    let caps = bench.device.info().caps.clone();
    let device = bench.device.downcast_ref::<OpenClDevice>().unwrap();
    let options = Dialect::OpenCl.options(device.0.target.exact);
    let (name, source) = ("floats", Source::OpenClC(FLOATS));
    let floats = bench.device.load(&KernelSource::Opaque { name, source, options }).unwrap();
    let mut values = [f32::MIN_POSITIVE, 10.0, 2.0];
    bench.copy(&mut values, true);
    let (params, arguments) = ([bench.param(3)], [Argument::Memory(0)]);
    let args = Args { arguments: &arguments, ..Args::new(&params) };
    let (head, kernel) = (bench.head(&[]), KernelRef::Loaded(floats));
    bench.lane.enqueue(&head, Op::Launch(kernel, &Geometry::new(1, [1; 3]), args)).unwrap();
    bench.copy(&mut values, false);
    assert!(bench.failures().is_empty());
    let [half, third, root] = values;
    assert!(half == f32::MIN_POSITIVE / 2.0 || half == 0.0 && !caps.denormals, "{half}");
    for (is, exact) in [(third, 10.0 / 3.0), (root, 2.0f32.sqrt())] {
        let off = (is.to_bits() as i32 - exact.to_bits() as i32).abs();
        assert!(off <= if caps.exact_div_sqrt { 0 } else { 3 }, "{is} for {exact}");
    }
}

/// Local sizes as the kernel sees them.
const SIZES: &str = "__kernel __attribute__((reqd_work_group_size(16, 4, 2)))
void sizes(__global float *x) {
    size_t at = get_global_id(0) + get_global_size(0) * (get_global_id(1) + get_global_size(1) * get_global_id(2));
    x[at] = get_local_size(0) + 100 * get_local_size(1) + 10000 * get_local_size(2);
}";

/// A kernel that says which groups it wants runs in those and in no others, which the call tells.
#[test]
fn kernels_run_in_the_groups_that_they_ask_for() {
    let Some(bench) = Bench::open(4 * 8 * 32) else { return };
    let (name, source, options) = ("sizes", Source::OpenClC(SIZES), &[][..]);
    let sizes = bench.device.load(&KernelSource::Opaque { name, source, options }).unwrap();
    let arguments = [Argument::Memory(0)];
    let speaks_against = |range, group| {
        let geometry = Geometry { group, ..Geometry::new(3, range) };
        let mut checked = Ok(());
        let calls = calls_of(|| checked = bench.device.check(sizes, &geometry, &arguments));
        assert!(!calls.contains_key("clGetKernelWorkGroupInfo"), "{calls:?}");
        checked.err().map(|error| {
            assert!(matches!(error.kind, HalErrorKind::Arguments), "{error}");
            error.message.to_string()
        })
    };
    let range = [4, 8, 32];
    for group in [[1, 1, 1], [16, 4, 2], [4, 4, 16], [2, 8, 32]] {
        let why = speaks_against(range, Some(group)).unwrap();
        assert_eq!(why, format!("groups of {group:?} for a kernel of groups of [2, 4, 16]"));
    }
    for range in [[3, 8, 32], [4, 6, 32], [4, 8, 31], [1, 1, 1024]] {
        let why = speaks_against(range, None).unwrap();
        assert_eq!(why, format!("{range:?} items for a kernel of groups of [2, 4, 16]"));
    }
    for group in [None, Some([2, 4, 16])] {
        assert_eq!(speaks_against(range, group), None);
        let geometry = Geometry { group, ..Geometry::new(3, range) };
        let params = [bench.param(bench.len)];
        let args = Args { arguments: &arguments, ..Args::new(&params) };
        bench.copy(&mut vec![0.0; bench.len], true);
        bench
            .lane
            .enqueue(&bench.head(&[]), Op::Launch(KernelRef::Loaded(sizes), &geometry, args))
            .unwrap();
        let mut values = vec![0.0; bench.len];
        bench.copy(&mut values, false);
        assert!(values == vec![20416.0; bench.len], "{:?}", &values[..4]);
        assert!(bench.failures().is_empty());
    }
}

/// A driver whose platform is another one builds anew.
#[test]
fn what_another_version_has_built_is_not_taken() {
    let mut found = match find(Svm::None, false, false) {
        Ok(found) => found,
        Err(why) => return println!("skipped: opencl: {}", why.reason),
    };
    let found = &mut found[0];
    let says = platforms().unwrap().into_iter().map(|platform| version(platform).unwrap());
    let versions: Vec<_> = says.collect();
    let driver = found.info.driver.clone();
    assert!(versions.iter().any(|version| driver.starts_with(version)), "{driver}: {versions:?}");
    let folder = std::env::temp_dir().join(format!("folio-opencl-{}", std::process::id()));
    // SAFETY: the test's own directory.
    let cache = unsafe { Cache::at(&folder) };
    let mut built = |driver: &str| {
        found.info.driver = driver.to_owned();
        let device = OpenClDevice::open(found, 0, (found.target, Cut::Gpu), cache.clone()).unwrap();
        let calls = calls_of(|| {
            device.load(&KernelSource::Ir(&parse(TWICE).unwrap())).unwrap();
        });
        calls.get("clCreateProgramWithSource").copied().unwrap_or(0)
    };
    let other = format!("{driver}!");
    let all = [&driver, &driver, &other, &other, &driver].map(|driver| built(driver));
    std::fs::remove_dir_all(&folder).unwrap();
    assert_eq!(all, [1, 0, 1, 0, 0]);
}
