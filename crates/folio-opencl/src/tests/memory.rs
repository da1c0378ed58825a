//! What is kept of freed memory.

use super::*;

/// Calls of `clSVMAlloc` and of `clSVMFree` meanwhile.
fn svm(run: impl FnOnce()) -> [usize; 2] {
    let calls = calls_of(run);
    ["clSVMAlloc", "clSVMFree"].map(|function| calls.get(function).copied().unwrap_or(0))
}

/// A device on which nothing is in use, if its memory has addresses.
fn with_addresses() -> Option<(Arc<OpenClDevice>, MutexGuard<'static, ()>)> {
    let one = ONE_COUNTS.lock().unwrap_or_else(PoisonError::into_inner);
    let backend = OpenClBackend::new();
    if let Err(why) = backend.devices() {
        println!("skipped: opencl: {}", why.reason);
        return None;
    }
    // SAFETY: the tests keep the HAL's contract.
    let core = unsafe { backend.open(0, Notify::none()) }.unwrap();
    let core = core.as_any().downcast_ref::<OpenClDevice>().unwrap().0.clone();
    let device = Arc::new(OpenClDevice(core));
    if device.0.svm == crate::platform::Svm::None {
        println!("skipped: opencl memory: it has no addresses");
        return None;
    }
    Some((device, one))
}

const MIB: u64 = 1 << 20;

/// Of what is allocated and freed again and again the driver hears once, and in the end it has all of it back.
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

/// What is asked for as zeros is zeros, also where something else was before.
#[test]
fn memory_that_is_allocated_again_is_zeroed() {
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

/// What a command still holds that is being enqueued nobody else gets.
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

/// A driver that has no more memory is asked again when nothing is kept; what fails then leaves no trace.
#[test]
fn what_is_kept_is_given_back_where_memory_is_short() {
    let Some((device, _one)) = with_addresses() else { return };
    let usm = device.usm();
    let some = [8, 2].map(|size| usm.alloc(&request(size * MIB)).unwrap().handle);
    assert_eq!(svm(|| some.iter().for_each(|handle| usm.free(*handle))), [0, 0]);
    // The larger piece goes so that no more is held than was in use; the other one, because it is refused.
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

/// What one runtime keeps another one gets, if the driver has no more.
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
    let rt = Runtime::builder().backend(OpenClBackend::new()).build().unwrap();
    let q = rt.queue().unwrap();
    let asked = svm(|| {
        for turn in 0..100 {
            let mut x = rt.buffer::<u32>(10_000).unwrap();
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
    // One more to see what buffers over such memory are, in each context.
    assert_eq!(asked[0], 2);
}
