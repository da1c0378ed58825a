//! Freed memory that is kept.

use super::faults::TOTAL;
use super::*;
use crate::Capabilities;
use crate::cl::{Buffer, memory_gone};
use crate::memory::{LOOKED_UP, Pointer, PointerCache};
use folio_core::hal::Op;
use folio_core::{Usm, UsmKind};
use opencl_sys::{CL_MEM_READ_ONLY, CL_MEM_READ_WRITE, CL_MEM_WRITE_ONLY};

/// Calls of `clSVMAlloc` and of `clSVMFree` meanwhile.
fn svm(run: impl FnOnce()) -> [usize; 2] {
    let calls = calls_of(run);
    ["clSVMAlloc", "clSVMFree"].map(|function| calls.get(function).copied().unwrap_or(0))
}

fn all_svm() -> OpenClBackend {
    OpenClBackend::new().with_all_svm()
}

/// A device on which nothing is in use, if its memory has addresses.
fn with_addresses() -> Option<(Arc<OpenClDevice>, MutexGuard<'static, ()>)> {
    let one = ONE_COUNTS.lock().unwrap_or_else(PoisonError::into_inner);
    let backend = all_svm();
    if let Err(why) = backend.devices() {
        println!("skipped: opencl: {}", why.reason);
        return None;
    }
    // SAFETY: the tests keep the HAL's contract.
    let core = unsafe { backend.open(0, Notify::none()) }.unwrap();
    let core = core.downcast_ref::<OpenClDevice>().unwrap().0.clone();
    let device = Arc::new(OpenClDevice(core));
    if device.0.svm == Svm::None {
        println!("skipped: opencl memory: it has no addresses");
        return None;
    }
    Some((device, one))
}

const MIB: u64 = 1 << 20;

/// Of what is allocated and freed again and again the driver hears once, and in the end it has all
/// of it back.
#[test]
fn freed_memory_is_allocated_again() {
    let Some((device, _one)) = with_addresses() else { return };
    let usm = device.usm();
    let again = |sizes: &[u64]| {
        svm(|| {
            for _ in 0..100 {
                let made = sizes.iter().map(|size| usm.alloc(&request(*size)).unwrap().handle);
                let made: Vec<_> = made.collect();
                made.into_iter().for_each(|handle| usm.free(handle));
            }
        })
    };
    assert_eq!(again(&[MIB]), [1, 0]);
    assert_eq!(again(&[MIB, 3 * MIB, 7]), [2, 0]);
    // A little less is done with what is there.
    assert_eq!(again(&[3 * MIB - MIB / 4]), [0, 0]);
    assert_eq!(usm.memory().in_use, 0);
    // No more than the 4 MiB and something that were in use at once: both large pieces go.
    let all = svm(|| assert!(usm.alloc(&request(3 * MIB + MIB / 2)).is_ok()));
    assert_eq!(all, [1, 2]);
    assert_eq!(svm(|| drop(device)), [0, 2]);
}

/// Memory that is asked for as zeros is zeros, also where something else was before.
#[test]
fn memory_that_is_allocated_again_is_zeroed() {
    let _one = ONE_COUNTS.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(bench) = Bench::open(256) else { return };
    bench.copy(&mut [1.0; 256], true);
    let MemBase::Device { handle, .. } = bench.memory.base else { unreachable!() };
    bench.device.usm().free(handle);
    let request = AllocReq { zeroed: true, ..request(4 * 256) };
    let mut made = None;
    let asked = svm(|| made = Some(bench.device.usm().alloc(&request).unwrap()));
    let made = made.unwrap();
    assert!(made.address.is_none() || asked == [0, 0]);
    let base = MemBase::Device { device: 0, handle: made.handle };
    let bench = Bench { memory: MemRef { base, offset: 0 }, ..bench };
    let mut values = [2.0; 256];
    bench.copy(&mut values, false);
    assert_eq!(values, [0.0; 256]);
}

/// Memory of a command that is being enqueued is nobody else's.
#[test]
fn memory_that_is_held_is_not_allocated_again() {
    let Some((device, _one)) = with_addresses() else { return };
    let usm = device.usm();
    let first = usm.alloc(&request(MIB)).unwrap();
    let held = device.0.shared.memory.find(first.handle).unwrap();
    let mut second = None;
    let again = svm(|| {
        usm.free(first.handle);
        second = Some(usm.alloc(&request(MIB)).unwrap());
    });
    let second = second.unwrap();
    assert_eq!(again, [1, 0]);
    assert_ne!(first.address, second.address);
    assert_eq!(svm(|| drop(held)), [0, 1]);
    usm.free(second.handle);
}

/// A driver that has no more memory is asked again when nothing is kept; what fails then leaves no
/// trace.
#[test]
fn what_is_kept_is_given_back_where_memory_is_short() {
    let Some((device, _one)) = with_addresses() else { return };
    let usm = device.usm();
    let some = [8, 2].map(|size| usm.alloc(&request(size * MIB)).unwrap().handle);
    assert_eq!(svm(|| some.iter().for_each(|handle| usm.free(*handle))), [0, 0]);
    // The larger piece goes so that no more is held than was in use; the other one, because it is
    // refused.
    refuse_for("clSVMAlloc", 0..1, CL_MEM_OBJECT_ALLOCATION_FAILURE);
    let mut made = None;
    assert_eq!(svm(|| made = Some(usm.alloc(&request(3 * MIB)).unwrap())), [1, 2]);
    let before = usm.memory();
    refuse_for("clSVMAlloc", 0..2, CL_MEM_OBJECT_ALLOCATION_FAILURE);
    let error = usm.alloc(&request(3 * MIB)).unwrap_err();
    assert!(matches!(error.kind, HalErrorKind::OutOfMemory { asked, .. } if asked == 3 * MIB));
    assert_eq!(usm.memory(), before);
    usm.free(made.unwrap().handle);
    assert_eq!(usm.memory().in_use, 0);
}

/// Memory that one runtime keeps another one gets, if the driver has no more.
#[test]
fn what_is_kept_is_given_back_for_others() {
    let (Some((device, one)), ()) = (with_addresses(), ()) else { return };
    drop(one);
    let Some((other, _one)) = with_addresses() else { return };
    let first = device.usm().alloc(&request(MIB)).unwrap();
    assert_eq!(svm(|| device.usm().free(first.handle)), [0, 0]);
    // Drivers may say it when memory is first used.
    refuse_for("clEnqueueFillBuffer", 0..1, CL_MEM_OBJECT_ALLOCATION_FAILURE);
    let zeroed = AllocReq { zeroed: true, ..request(2 * MIB) };
    let mut made = None;
    assert_eq!(svm(|| made = other.usm().alloc(&zeroed).ok()), [2, 2]);
    was_refused();
    other.usm().free(made.unwrap().handle);
    assert_eq!(other.usm().memory().in_use, 0);
}

/// The same by buffers of a runtime, which read as zero each time.
#[test]
fn buffers_come_and_go() {
    let Some(_one) = with_addresses() else { return };
    let rt = Runtime::builder()
        .backend(all_svm())
        .links(folio_core::memory::Links::Off)
        .build()
        .unwrap();
    let q = rt.queue().unwrap();
    let asked = svm(|| {
        for turn in 0..100 {
            let mut x = rt.buffer::<u32, 1>(10_000).unwrap();
            q.submit(|g| {
                g.fill(x.slice_mut([1], [500])?, turn);
                Ok(())
            })
            .unwrap();
            let values = x.to_vec().unwrap();
            assert_eq!(values[..2], [0, turn]);
            assert!(values[501..].iter().all(|value| *value == 0));
            drop(x);
            while q.device().budget().1 > 0 {
                std::thread::yield_now();
            }
        }
    });
    // The second call is to see what buffers over such memory are, in each context.
    assert_eq!(asked[0], 2);
}

/// Of what is kept the driver has back what a lower budget does not allow, at once and when more is
/// freed.
#[test]
fn a_lower_budget_is_one_for_what_is_kept() {
    let Some((_, _one)) = with_addresses() else { return };
    let rt = Runtime::builder().backend(all_svm()).build().unwrap();
    let device = rt.queue().unwrap().device().clone();
    let made = |size: u64| rt.usm::<u8>(&device, UsmKind::Device, size as usize).unwrap();
    // Another thread may free.
    let free = |made: Usm<u8>| {
        let left = device.budget().1 - made.len() as u64;
        drop(made);
        while device.budget().1 > left {
            std::thread::yield_now();
        }
    };
    let (small, large) = (made(MIB), made(3 * MIB));
    free(large);
    assert_eq!(svm(|| device.set_budget(5 * MIB)), [0, 0]);
    assert_eq!(svm(|| device.set_budget(2 * MIB)), [0, 1]);
    assert_eq!(svm(|| device.set_budget(MIB / 2)), [0, 0]);
    free(small);
    // Nothing of that has been kept.
    assert_eq!(svm(|| device.set_budget(0)), [0, 0]);
    device.set_budget(u64::MAX);
    free(made(MIB));
    assert_eq!(svm(|| device.set_budget(0)), [0, 1]);
}

/// Each change of sides is one call, and nothing is copied: on a CPU the bytes would be right
/// without.
#[test]
fn linked_memory_is_mapped_and_not_copied() {
    let _one = ONE_COUNTS.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(bench) = Bench::open(256) else { return };
    let usm = bench.device.usm();
    if bench.device.info().caps.links.is_none() {
        println!("skipped: opencl links: the device shares no memory with the host");
        return;
    }
    let (used, linked) = (usm.memory().in_use, AllocReq { linked: true, ..request(4096) });
    let made = usm.alloc(&linked).unwrap();
    // Where memory that both reach has an address, this has one, which is both sides'.
    let shared = usm.alloc(&AllocReq { kind: AllocKind::Shared, ..request(64) });
    let host = made.host.map(|host| host.0 as u64);
    assert_eq!(made.address, host.filter(|_| shared.is_ok()));
    shared.into_iter().for_each(|shared| usm.free(shared.handle));
    let mem = MemRef { base: MemBase::Device { device: 0, handle: made.handle }, offset: 0 };
    let sides =
        [Side::HostReads, Side::Device, Side::HostWrites, Side::Device, Side::HostOverwrites];
    let calls = calls_of(|| {
        for to in sides {
            bench.lane.enqueue(&bench.head(&[]), Op::Switch(mem, 4096, to)).unwrap();
        }
    });
    assert_eq!(calls.get("clEnqueueMapBuffer"), Some(&3), "{calls:?}");
    assert_eq!(calls.get("clEnqueueUnmapMemObject"), Some(&2), "{calls:?}");
    let copies = |name: &&&str| ["Copy", "Read", "Write"].iter().any(|what| name.contains(what));
    assert_eq!(calls.keys().filter(copies).count(), 0, "{calls:?}");
    bench.finish();
    assert!(bench.failures().is_empty());
    usm.free(made.handle);
    // Memory that is not linked is not mapped, and a driver without memory is told with the sizes.
    bench.lane.enqueue(&bench.head(&[]), Op::Switch(bench.memory, 1024, Side::HostReads)).unwrap();
    bench.finish();
    assert!(
        matches!(bench.failures()[..], [(_, ref e)] if matches!(e.kind, HalErrorKind::Unsupported))
    );
    refuse_for("clCreateBuffer", 0..2, CL_OUT_OF_RESOURCES);
    let refused = usm.alloc(&linked).map_err(|error| error.kind);
    REFUSED.take();
    assert!(matches!(refused, Err(HalErrorKind::OutOfMemory { asked: 4096, .. })), "{refused:?}");
    assert_eq!(usm.memory().in_use, used);
}

/// An operation of a lane.
#[derive(Clone, Copy, Debug)]
enum Does {
    Launch {
        proved: bool,
    },
    /// Adds all up.
    Total,
    Upload,
    /// From the host's memory to the host's.
    Aside,
}

/// The objects of these tests, whose elements are all 1 before them.
struct Scene {
    bench: Bench,
    total: KernelHandle,
    sum: Param,
    host: [MemRef; 2],
}

impl Scene {
    fn new(bench: Bench) -> Scene {
        let total = bench.device.load(&KernelSource::Ir(&parse(TOTAL).unwrap())).unwrap();
        let handle = bench.device.usm().alloc(&request(4)).unwrap().handle;
        let at = |base| MemRef { base, offset: 0 };
        let mem = at(MemBase::Device { device: 0, handle });
        let sum = Param { mem, dims: [1; 3], ..bench.param(1) };
        let host = [2.0f32, 0.0].map(|value| {
            let values = vec![value; bench.len].leak();
            at(MemBase::Host(HostPtr(values.as_mut_ptr().cast())))
        });
        Scene { bench, total, sum, host }
    }

    fn run(&self, does: Does) {
        let Scene { bench, total, sum, host: [from, to] } = self;
        let bytes = 4 * bench.len as u64;
        let copy = |to| {
            let (src_pitch, dst_pitch) = ([bytes; 2], [bytes; 2]);
            let rect =
                CopyRect { src: *from, src_pitch, dst: to, dst_pitch, extent: [1, 1, bytes] };
            bench.lane.enqueue(&bench.head(&[]), Op::Copy(&[rect])).unwrap();
        };
        match does {
            Does::Launch { proved } => bench.launch(bench.len, proved),
            Does::Upload => copy(bench.memory),
            Does::Aside => copy(*to),
            Does::Total => {
                let params = [bench.param(bench.len), *sum];
                let args = Args { proved: true, ..Args::new(&params) };
                let (kernel, geometry) =
                    (KernelRef::Loaded(*total), Geometry::new(1, [1, 1, bench.len]));
                bench.lane.enqueue(&bench.head(&[]), Op::Launch(kernel, &geometry, args)).unwrap();
            }
        }
    }

    fn has_run(&self, does: Does) -> bool {
        let Scene { bench, sum, host: [_, to], .. } = self;
        let read = |memory, len| {
            let mut values = vec![0.0; len];
            Bench { memory, ..bench.beside() }.copy(&mut values, false);
            values
        };
        match (does, to.base) {
            (Does::Total, _) => read(sum.mem, 1) == [bench.len as f32],
            (Does::Aside, MemBase::Host(HostPtr(to))) => {
                // SAFETY: so many numbers, which nobody writes now.
                unsafe {
                    std::slice::from_raw_parts(to.cast::<f32>(), bench.len)
                        == vec![2.0f32; bench.len]
                }
            }
            _ => read(bench.memory, bench.len) == vec![2.0; bench.len],
        }
    }
}

/// A lane gets memory for itself as users get theirs: if the driver has no more, when kept memory
/// is given back. Without memory then, the command has failed, and nothing else.
#[test]
fn lanes_have_what_is_kept_given_back() {
    let Some((_, _one)) = with_addresses() else { return };
    const APART: Capabilities = Capabilities {
        f64: true,
        atomics64: true,
        local_memory: u64::MAX,
        argument_bytes: 0,
        block: u32::MAX,
        units: 0,
    };
    let [plain, constants]: [fn() -> OpenClBackend; 2] = [all_svm, || all_svm().limited_to(APART)];
    let [checked, proved] = [false, true].map(|proved| Does::Launch { proved });
    let cases = [
        (plain, checked, "clCreateBuffer", 0),
        (plain, checked, "clCreateSubBuffer", 7),
        (plain, checked, "clBuildProgram", 0),
        (constants, proved, "clCreateBuffer", 0),
        (plain, proved, "clEnqueueNDRangeKernel", 0),
        (plain, Does::Total, "clCreateBuffer", 0),
        (plain, Does::Total, "clCreateBuffer", 1),
        (plain, Does::Upload, "clEnqueueWriteBufferRect", 0),
        (plain, Does::Aside, "clCreateBuffer", 0),
    ];
    for (backend, does, function, call) in cases {
        let doing = Scene::new(Bench::by(backend(), 8192).unwrap());
        let bench = &doing.bench;
        let usm = bench.device.usm();
        // For good, once, and not.
        for refused in [2, 1, 0] {
            let what = format!("{does:?}: {function} {call}, refused {refused} times");
            bench.copy(&mut vec![1.0; bench.len], true);
            usm.free(usm.alloc(&request(MIB)).unwrap().handle);
            let in_use = usm.memory();
            if refused > 0 {
                refuse_for(function, call..call + refused, CL_MEM_OBJECT_ALLOCATION_FAILURE);
            }
            let [_, freed] = svm(|| doing.run(does));
            was_refused();
            assert_eq!(freed > 0, refused > 0, "{what}");
            bench.finish();
            let failures = bench.failures();
            let is_short = |(tick, error): &(Tick, HalError)| {
                *tick == bench.last.get() && matches!(error.kind, HalErrorKind::OutOfMemory { .. })
            };
            assert!(failures.iter().all(is_short), "{what}: {failures:?}");
            assert_eq!(failures.len(), usize::from(refused > 1), "{what}");
            assert_eq!(doing.has_run(does), refused < 2, "{what}");
            assert_eq!(usm.memory(), in_use);
        }
    }
}

/// All that the driver allocates at once can be had, if it is aligned as it should be; no more is
/// asked of it.
#[test]
fn the_largest_allocation() {
    let Some((device, _one)) = with_addresses() else { return };
    drop(device);
    let found = &mut find(Svm::Fine, true, false).unwrap()[0];
    found.info.caps.max_alloc = MIB;
    let device = OpenClDevice::open(found, 0, (found.target, Cut::Gpu), Cache::off()).unwrap();
    let usm = device.usm();
    let mut had = 0;
    for align in [64, 256, 4096, 2 * MIB, 8 << 30] {
        let request = AllocReq { align, ..request(MIB) };
        match usm.alloc(&request) {
            Ok(made) => {
                assert!(made.address.unwrap().is_multiple_of(align));
                assert_eq!(usm.memory().in_use, MIB);
                usm.free(made.handle);
                had += 1;
            }
            Err(error) => {
                let HalErrorKind::OutOfMemory { asked, limit, .. } = error.kind else {
                    panic!("{error}");
                };
                assert_eq!((asked, limit), (MIB, MIB));
            }
        }
        assert_eq!(usm.memory().in_use, 0);
    }
    assert!((1..=4).contains(&had), "{had}");
    let error = usm.alloc(&request(MIB + 1)).unwrap_err();
    assert!(matches!(error.kind, HalErrorKind::OutOfMemory { limit: MIB, .. }), "{error}");
}

/// The pointers that a lane remembers are right for as long as the allocations are there: when any
/// is gone, all are looked up again.
#[test]
fn what_is_remembered_goes_with_the_memory() {
    let _one = ONE_COUNTS.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(bench) = Bench::open(64) else { return };
    let core = &bench.device.downcast_ref::<OpenClDevice>().unwrap().0;
    let (memory, usm) = (&core.shared.memory, bench.device.usm());
    let mut known = PointerCache::default();
    let mut pointers = |handles: &[u64]| {
        let base = |handle: &u64| MemBase::Device { device: 0, handle: *handle };
        let param = |base| Param { mem: MemRef { base, offset: 0 }, ..bench.param(1) };
        let params: Vec<_> = handles.iter().map(base).map(param).collect();
        let mut found = Vec::new();
        known.pointers(memory, &params, false, |to| found.push(to)).map(|()| found)
    };
    // More than are remembered.
    let handles: Vec<u64> = (0..200).map(|_| usm.alloc(&request(64)).unwrap().handle).collect();
    let names: Vec<_> = handles
        .iter()
        .map(|handle| Pointer::Buffer(memory.find(*handle).unwrap().buffer.0))
        .collect();
    // Buffers of other tests may go meanwhile, in the same process.
    let undisturbed = (0..100).any(|_| {
        let gone = memory_gone();
        LOOKED_UP.set(0);
        let mut looked_up = |range: std::ops::Range<usize>| {
            assert_eq!(pointers(&handles[range.clone()]).unwrap(), names[range]);
            LOOKED_UP.get()
        };
        let counts = [0..200, 150..200, 150..200, 10..11, 10..11].map(&mut looked_up);
        let still = memory_gone() == gone;
        assert!(!still || counts == [200, 200, 200, 201, 201], "{counts:?}");
        still
    });
    assert!(undisturbed);
    usm.free(handles[10]);
    let error = pointers(&[handles[8], handles[10]]).unwrap_err();
    assert!(error.message.contains(&format!("no allocation {}", handles[10])), "{error}");
    // Whose name may be that of the one that is gone.
    let fresh = usm.alloc(&request(64)).unwrap().handle;
    let name = Pointer::Buffer(memory.find(fresh).unwrap().buffer.0);
    assert_eq!(pointers(&[fresh, handles[8]]).unwrap(), [name, names[8]]);
    let host = Param {
        mem: MemRef { base: MemBase::Host(HostPtr(null_mut())), offset: 0 },
        ..bench.param(1)
    };
    let mut found = Vec::new();
    PointerCache::default().pointers(memory, &[host], false, |to| found.push(to)).unwrap();
    assert_eq!(found, [Pointer::NULL]);
    handles.iter().chain([&fresh]).for_each(|handle| usm.free(*handle));
}

/// A part is as its buffer is, and is not parted again.
#[test]
fn parts_are_as_the_whole() {
    let Some(bench) = Bench::open(1) else { return };
    let core = &bench.device.downcast_ref::<OpenClDevice>().unwrap().0;
    let (context, half) = (&core.shared.context, core.target.part_align);
    for flags in [CL_MEM_READ_WRITE, CL_MEM_READ_ONLY, CL_MEM_WRITE_ONLY] {
        // SAFETY: nothing of the host's.
        let whole = unsafe { Buffer::over(context, flags, 2 * half, null_mut()) }.unwrap();
        let part = whole.part(half, half).unwrap();
        let again = part.part(0, half).err().map(|error| error.kind);
        assert!(matches!(again, Some(HalErrorKind::Unsupported)), "{again:?}");
    }
}
