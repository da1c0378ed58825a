//! Memory that a program has from OpenCL or CUDA itself, as USM and as a buffer's memory.
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

use cl3::command_queue::{create_command_queue, enqueue_read_buffer, release_command_queue};
use cl3::device::{
    CL_DEVICE_SVM_CAPABILITIES, CL_DEVICE_SVM_COARSE_GRAIN_BUFFER, CL_DEVICE_SVM_FINE_GRAIN_BUFFER,
    CL_DEVICE_VENDOR_ID, get_device_info,
};
use cl3::event::release_event;
use cl3::memory::{CL_MEM_COPY_HOST_PTR, CL_MEM_READ_WRITE, create_buffer, release_mem_object};
use cl3::memory::{svm_alloc, svm_free};
use cudarc::driver::sys::{self, CUresult};
use folio::prelude::*;
use folio::{Usm, UsmKind, memory::RawMemory};
use folio_core::hal::{Backend, HalErrorKind, HostPtr};
use folio_cpu::CpuBackend;
use folio_cuda::CudaBackend;
use folio_layers::{Fault, Faults, Site, Validate};
use folio_opencl::{Native, OpenClBackend};
use folio_sim::{DeviceSpec, SimBackend};
use std::ffi::c_void;
use std::ptr::{null, null_mut};
use std::sync::Arc;
use std::sync::mpsc::channel;

const N: usize = 1000;

#[kernel]
fn grow(i: Item, by: i32, x: InOut<i32>) {
    x[i] = x[i] * 3 + by;
}

fn values() -> Vec<i32> {
    (0..N as i32).collect()
}

fn grown(values: &[i32], by: i32) -> Vec<i32> {
    values.iter().map(|x| x * 3 + by).collect()
}

/// Runs a test in a runtime of an OpenCL device and the CPU, watched; not where there is no device.
#[track_caller]
fn on(build: fn() -> OpenClBackend, test: fn(&Runtime)) {
    if let Err(why) = build().devices() {
        return println!("skipped: opencl: {}", why.reason);
    }
    let validate = Validate::new();
    let report = validate.report();
    let backend: Arc<dyn Backend> = Arc::new(validate.over(build()));
    let cpu = CpuBackend::builder().threads(1).build().unwrap();
    let rt = Runtime::builder().shared_backend(backend).backend(cpu).build().unwrap();
    test(&rt);
    drop(rt);
    assert!(report.is_silent(), "{report:?}");
}

/// Folio's context of OpenCL, and the first device in it.
fn context(rt: &Runtime) -> [*mut c_void; 2] {
    native(&rt.queue_on(&rt.devices()[0]).unwrap())
}

/// The context and the device of a queue.
fn native(q: &Queue) -> [*mut c_void; 2] {
    let (tell, told) = channel();
    let task = move |cl: &Native| {
        tell.send([cl.context as usize, cl.device as usize]).unwrap();
        Ok::<(), String>(())
    };
    q.submit(|g| {
        // SAFETY: the task enqueues nothing.
        unsafe { g.interop((), task) };
        Ok(())
    })
    .unwrap()
    .wait()
    .unwrap();
    told.recv().unwrap().map(|at| at as *mut c_void)
}

/// A buffer of a context, with values.
fn object(context: *mut c_void) -> *mut c_void {
    let (values, flags) = (values(), CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR);
    let from = values.as_ptr().cast_mut().cast();
    // SAFETY: the values are copied in the call.
    unsafe { create_buffer(context, flags, 4 * N, from) }.unwrap()
}

fn release(object: *mut c_void) {
    // SAFETY: ours.
    unsafe { release_mem_object(object) }.unwrap();
}

fn adopt(rt: &Runtime, memory: RawMemory, len: usize) -> folio::Result<Usm<i32>> {
    // SAFETY: the tests' memory, which they keep and do not use meanwhile.
    unsafe { Usm::from_raw(&rt.devices()[0], memory, len) }
}

/// What memory holds counts, kernels use it where it is, other devices get copies, and it is there
/// still when Folio has done with it.
fn serves(rt: &Runtime, memory: impl Fn() -> RawMemory) {
    let q = rt.queue_on(&rt.devices()[0]).unwrap();
    let mut usm = adopt(rt, memory(), N).unwrap();
    let before = rt.counters();
    q.run(N, grow(1, &mut usm)).unwrap();
    let mut buffer = usm.into_buffer();
    q.run(N, grow(2, &mut buffer)).unwrap();
    let after = rt.counters();
    let bytes = |counters: &folio::Counters| {
        [counters.host_to_device.bytes, counters.device_to_host.bytes, counters.allocated_bytes]
    };
    assert_eq!(bytes(&before), bytes(&after));
    rt.queue_on("cpu").unwrap().run(N, grow(3, &mut buffer)).unwrap();
    q.run(N, grow(4, &mut buffer)).unwrap();
    let expected = [1, 2, 3, 4].into_iter().fold(values(), |x, by| grown(&x, by));
    assert_eq!(buffer.to_vec().unwrap(), expected);
    drop(buffer);
    rt.wait().unwrap();
    let again = adopt(rt, memory(), N).unwrap().into_buffer();
    assert_eq!(again.to_vec().unwrap(), expected);
}

/// BUF-03, USM-01
#[test]
fn compile_raw_buffers_of_opencl() {
    for build in [OpenClBackend::new, OpenClBackend::without_svm] {
        on(build, |rt| {
            let memory = object(context(rt)[0]);
            serves(rt, || RawMemory::Object(memory));
            // Folio keeps it, too.
            let kept = adopt(rt, RawMemory::Object(memory), N).unwrap().into_buffer();
            release(memory);
            assert_eq!(kept.to_vec().unwrap().len(), N);
        });
    }
}

/// Shared virtual memory, where there is any; elsewhere its addresses are refused.
#[test]
fn compile_raw_addresses_of_opencl() {
    on(
        || OpenClBackend::new().with_all_svm(),
        |rt| {
            let Some(_) =
                rt.usm::<i32>(&rt.devices()[0], UsmKind::Device, 1).unwrap().pointer().address()
            else {
                return println!("skipped: opencl svm: the device has no shared virtual memory");
            };
            let context = context(rt)[0];
            // SAFETY: a live context.
            let at = unsafe { svm_alloc(context, CL_MEM_READ_WRITE, 4 * N, 0) }.unwrap();
            // Whether the host reaches it or not, Folio writes it.
            let mut usm = adopt(rt, RawMemory::Address(at as u64), N).unwrap();
            assert_eq!(usm.pointer().address(), Some(at as u64));
            assert_eq!(usm.raw_memory().unwrap(), RawMemory::Address(at as u64));
            let q = rt.queue_on(&rt.devices()[0]).unwrap();
            let fill = q.submit(|g| {
                g.copy_from_slice(&values(), &mut usm);
                Ok(())
            });
            fill.unwrap().wait().unwrap();
            drop(usm);
            serves(rt, || RawMemory::Address(at as u64));
            rt.wait().unwrap();
            // SAFETY: ours, and nobody uses it any more.
            unsafe { svm_free(context, at) }.unwrap();
        },
    );
    on(OpenClBackend::without_svm, |rt| {
        refused(adopt(rt, RawMemory::Address(4096), 1), "an address of somebody else's");
    });
}

/// USM-01: memory has addresses where the driver says so, and nowhere else. NVIDIA's has them only
/// if it is asked for.
#[test]
fn opencl_svm_is_found() {
    const NVIDIA: u32 = 0x10DE;
    if let Err(why) = OpenClBackend::new().devices() {
        return println!("skipped: opencl: {}", why.reason);
    }
    let rt = Runtime::builder().backend(OpenClBackend::new()).build().unwrap();
    let mut asked = 0;
    for device in rt.devices() {
        let [_, id] = native(&rt.queue_on(&device).unwrap());
        if get_device_info(id, CL_DEVICE_VENDOR_ID).unwrap().to_uint() == NVIDIA {
            continue;
        }
        // Drivers older than OpenCL 2.0 do not know the question.
        let caps =
            get_device_info(id, CL_DEVICE_SVM_CAPABILITIES).map_or(0, |caps| caps.to_ulong());
        let buffers = CL_DEVICE_SVM_COARSE_GRAIN_BUFFER | CL_DEVICE_SVM_FINE_GRAIN_BUFFER;
        let usm = rt.usm::<i32>(&device, UsmKind::Device, N).unwrap();
        let address = usm.pointer().address();
        assert_eq!(address.is_some(), caps & buffers != 0, "{device:?}: {caps:#x}, {address:?}");
        asked += 1;
    }
    if asked == 0 {
        println!("skipped: opencl svm: there are NVIDIA's devices only");
    }
}

/// USM-01: what others know memory by; OpenCL's own functions read there what Folio has written.
#[test]
fn compile_raw_memory_of_opencl_is_for_others() {
    on(OpenClBackend::without_svm, |rt| {
        let ([context, device], q) = (context(rt), rt.queue_on(&rt.devices()[0]).unwrap());
        let mut usm = rt.usm::<i32>(&rt.devices()[0], UsmKind::Device, N).unwrap();
        let filled = q.submit(|g| {
            g.copy_from_slice(&values(), &mut usm);
            Ok(())
        });
        filled.unwrap().wait().unwrap();
        let object = match usm.raw_memory().unwrap() {
            RawMemory::Object(object) => object,
            other => unreachable!("{other:?}"),
        };
        let mut read = vec![0i32; N];
        let to = read.as_mut_ptr().cast();
        // SAFETY: a queue of ours in Folio's context; as many elements, of memory that nobody uses
        // meanwhile.
        unsafe {
            let queue = create_command_queue(context, device, 0).unwrap();
            let done = enqueue_read_buffer(queue, object, 1, 0, 4 * N, to, 0, null()).unwrap();
            release_event(done).unwrap();
            release_command_queue(queue).unwrap();
        }
        assert_eq!(read, values());
        let again = adopt(rt, RawMemory::Object(object), N).unwrap();
        assert_eq!(again.raw_memory().unwrap(), RawMemory::Object(object));
        let cpu = rt.usm::<i32>(&rt.device("cpu").unwrap(), UsmKind::Device, N).unwrap();
        let at = cpu.pointer().address().unwrap();
        assert!(
            matches!(cpu.raw_memory().unwrap(), RawMemory::Host(HostPtr(host)) if host.addr() as u64 == at)
        );
    });
    let device = DeviceSpec::new().addresses(false);
    let sim = SimBackend::builder().device(device).build();
    let rt = Runtime::builder().backend(sim).build().unwrap();
    let usm = rt.usm::<i32>(&rt.devices()[0], UsmKind::Device, N).unwrap();
    let none = usm.raw_memory();
    assert!(matches!(&none, Err(Error::Unsupported { .. })), "{none:?}");
}

#[track_caller]
fn refused(result: folio::Result<Usm<i32>>, why: &str) {
    match result {
        Err(Error::Unsupported { what, .. }) => assert!(what.contains(why), "{what}"),
        other => unreachable!("{other:?}"),
    }
}

/// What is seen to be wrong is an error, and changes nothing.
#[test]
fn raw_memory_is_refused() {
    on(OpenClBackend::new, |rt| {
        let [ours, device] = context(rt);
        let memory = object(ours);
        refused(adopt(rt, RawMemory::Object(memory), N + 1), "no buffer of 4004 bytes");
        let other = cl3::context::create_context(&[device], null(), None, null_mut()).unwrap();
        let theirs = object(other);
        refused(adopt(rt, RawMemory::Object(theirs), N), "another context");
        let odd = adopt(rt, RawMemory::Address(4097), 1);
        assert!(matches!(&odd, Err(Error::Misaligned { at: 4097, .. })), "{odd:?}");
        // SAFETY: the tests' memory; a CPU takes none.
        let cpu =
            unsafe { Usm::from_raw(&rt.device("cpu").unwrap(), RawMemory::Object(memory), N) };
        refused(cpu, "not the host's");
        release(memory);
        release(theirs);
        // SAFETY: ours.
        unsafe { cl3::context::release_context(other) }.unwrap();
    });
}

fn ok(result: CUresult) {
    assert_eq!(result, CUresult::CUDA_SUCCESS);
}

/// USM-01, BUF-03: memory of the primary context, from the driver and from one of its pools.
#[test]
fn cuda_adopts_raw_addresses() {
    let backend = CudaBackend::new();
    if let Err(why) = backend.devices() {
        return println!("skipped: cuda: {}", why.reason);
    }
    let validate = Validate::new();
    let report = validate.report();
    let cpu = CpuBackend::builder().threads(1).build().unwrap();
    let watched: Arc<dyn Backend> = Arc::new(validate.over(backend));
    let rt = Runtime::builder().shared_backend(watched).backend(cpu).build().unwrap();
    let (mut context, mut plain, mut pooled, mut host) = (null_mut(), 0, 0, null_mut());
    let (n, values) = (4 * N, values());
    // SAFETY: the backend has initialised the driver; places for the answers, and as many values.
    unsafe {
        ok(sys::cuDevicePrimaryCtxRetain(&raw mut context, 0));
        ok(sys::cuCtxSetCurrent(context));
        ok(sys::cuMemAlloc_v2(&raw mut plain, n));
        ok(sys::cuMemAllocAsync(&raw mut pooled, n, null_mut()));
        ok(sys::cuMemHostAlloc(&raw mut host, n, 0));
        for at in [plain, pooled] {
            ok(sys::cuMemcpyHtoD_v2(at, values.as_ptr().cast(), n));
        }
    }
    for at in [plain, pooled] {
        let usm = adopt(&rt, RawMemory::Address(at), N).unwrap();
        assert_eq!(usm.pointer().address(), Some(at));
        assert_eq!(usm.raw_memory().unwrap(), RawMemory::Address(at));
        drop(usm);
        serves(&rt, || RawMemory::Address(at));
        refused(adopt(&rt, RawMemory::Address(at), 64 << 20), "bytes where");
    }
    refused(adopt(&rt, RawMemory::Address(host.addr() as u64), N), "no device's");
    refused(adopt(&rt, RawMemory::Address(4096), 1), "this address");
    refused(adopt(&rt, RawMemory::Object(host), 1), "memory of this kind");
    let odd = adopt(&rt, RawMemory::Address(plain + 1), 1);
    assert!(matches!(&odd, Err(Error::Misaligned { .. })), "{odd:?}");
    rt.wait().unwrap();
    drop(rt);
    assert!(report.is_silent(), "{report:?}");
    // SAFETY: ours, and nobody uses it any more.
    unsafe {
        ok(sys::cuMemFree_v2(plain));
        ok(sys::cuMemFreeAsync(pooled, null_mut()));
        ok(sys::cuMemFreeHost(host));
        ok(sys::cuDevicePrimaryCtxRelease_v2(0));
    }
}

/// USM-01: a kind of memory that a device does not have.
#[test]
fn memory_of_a_kind_that_a_device_lacks_is_unsupported() {
    let faults = Faults::new();
    faults.handle().inject(Site::Alloc, 1, Fault::Now(HalErrorKind::Unsupported));
    let rt =
        Runtime::builder().backend(faults.over(SimBackend::builder().build())).build().unwrap();
    match rt.usm::<i32>(&rt.devices()[0], UsmKind::Shared, N) {
        Err(Error::Unsupported { device, what }) => {
            assert!(device == "sim:0" && what.contains("Shared memory"), "{device}: {what}");
        }
        other => unreachable!("{other:?}"),
    }
    rt.usm::<i32>(&rt.devices()[0], UsmKind::Device, N).unwrap();
}
