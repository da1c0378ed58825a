//! A kernel that writes where nothing is, or stops for good, takes its GPU with it: what is on
//! other devices is right, whoever waits is told soon, and nothing hangs. NVIDIA's driver (580)
//! then refuses to work with any GPU of the process, whether they share memory or not: a program
//! over the driver alone says here what it does, and by Folio the other GPUs are right where theirs
//! are, and lost, and say so, where the driver takes them. Other processes go on with all of them.
//! On simulated devices `engine_lost` shows that the loss of one device leaves the others, at any
//! time.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests may panic")]

use cudarc::driver::sys::{self, CUresult};
use folio::prelude::*;
use folio_core::Cause;
use folio_core::hal::Source;
use folio_core::hal::{Backend, HalErrorKind};
use folio_cpu::CpuBackend;
use folio_cuda::CudaBackend;
use std::ffi::CString;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::ptr::null_mut;
use std::time::{Duration, Instant};

const TEST: &str = "several_lost::cuda_fault_leaves_others";
/// What a process is to do: `DRIVER`, `RIGHT` or `LOST`, and by which kernel.
const CHILD: &str = "FOLIO_TEST_FAULT";
/// The fault by the driver alone. Ends with `TAKES` if it takes the process's other GPUs, and with
/// `LEAVES` if not: a process that ran no test would end with 0.
const DRIVER: &str = "driver";
const TAKES: i32 = 17;
const LEAVES: i32 = 18;
/// The fault by Folio, where the driver leaves the other GPUs, and where it takes them.
const RIGHT: &str = "right";
const LOST: &str = "lost";
const SECOND: Duration = Duration::from_secs(1);
const N: usize = 1 << 16;

/// Kernels that fail: by an address where nothing is, and by an instruction that says so.
const FAULTS: [&str; 2] = ["wild", "stops"];
const CODE: &str = "
.version 7.0
.target sm_50
.address_size 64
.visible .entry wild() {
    .reg .u32 %r<2>;
    .reg .u64 %d<2>;
    mov.u64 %d1, 16;
    mov.u32 %r1, 1;
    st.global.u32 [%d1], %r1;
    ret;
}
.visible .entry stops() {
    trap;
    ret;
}
";

#[kernel]
fn add(i: Item, n: u32, x: InOut<u32>) {
    x[i] = x[i] + n;
}

/// The loss of a device, or of data that was there only.
#[track_caller]
fn is_lost(error: &Error) {
    let lost = match error {
        Error::Failed(failure) => match failure.cause() {
            Cause::Backend(error) => matches!(error.kind, HalErrorKind::Lost),
            cause => matches!(cause, Cause::DataLost),
        },
        Error::Device { cause, .. } => matches!(cause.kind, HalErrorKind::Lost),
        _ => false,
    };
    assert!(lost, "{error}");
}

fn ok(result: CUresult) {
    assert_eq!(result, CUresult::CUDA_SUCCESS);
}

/// The same fault on the first GPU, and a word written on each of the others, before and after it:
/// the driver's functions, contexts that share nothing, and nothing else. Whether all others still
/// work.
fn by_the_driver_alone(fault: &str) -> bool {
    let count = CudaBackend::new().devices().unwrap().len() as i32;
    let [code, fault] = [CODE, fault].map(|text| CString::new(text).unwrap());
    let write = |context, at| {
        // SAFETY: a live context, and memory of it, of one word.
        unsafe {
            ok(sys::cuCtxSetCurrent(context));
            match sys::cuMemsetD32_v2(at, 1, 1) {
                CUresult::CUDA_SUCCESS => sys::cuCtxSynchronize(),
                refused => refused,
            }
        }
    };
    // SAFETY: the backend has initialised the driver; text that ends with a zero, places for
    // answers, a kernel without arguments. What it does wrong the device's protection of memory
    // stops. It is the test.
    unsafe {
        let places: Vec<_> = (0..count)
            .map(|device| {
                let (mut context, mut at) = (null_mut(), 0);
                ok(sys::cuDevicePrimaryCtxRetain(&raw mut context, device));
                ok(sys::cuCtxSetCurrent(context));
                ok(sys::cuMemAlloc_v2(&raw mut at, 4));
                ok(write(context, at));
                (context, at)
            })
            .collect();
        let (mut module, mut wild, none) = (null_mut(), null_mut(), null_mut());
        ok(sys::cuCtxSetCurrent(places[0].0));
        ok(sys::cuModuleLoadData(&raw mut module, code.as_ptr().cast()));
        ok(sys::cuModuleGetFunction(&raw mut wild, module, fault.as_ptr()));
        ok(sys::cuLaunchKernel(wild, 1, 1, 1, 1, 1, 1, 0, null_mut(), null_mut(), none));
        assert_ne!(sys::cuCtxSynchronize(), CUresult::CUDA_SUCCESS);
        let after: Vec<_> = places[1..].iter().map(|&(context, at)| write(context, at)).collect();
        println!("{fault:?} by the driver alone: of the others' work becomes {after:?}");
        after.iter().all(|result| *result == CUresult::CUDA_SUCCESS)
    }
}

/// What the child does, beside work on the CPU and on the other GPUs, which the driver takes, or
/// leaves.
fn child(are_taken: bool, fault: &str) {
    let cpu = CpuBackend::builder().domains(2).build().unwrap();
    let rt = Runtime::builder().backend(CudaBackend::new()).backend(cpu).build().unwrap();
    let (broken, fine) = (rt.queue_on("cuda:0").unwrap(), rt.queue_on("cpu:1").unwrap());
    let others: Vec<_> = (rt.devices().iter())
        .filter(|device| device.name().starts_with("cuda") && device.name() != "cuda:0")
        .map(|device| rt.queue_on(device).unwrap())
        .collect();
    let ones = vec![1u32; N];
    let buffer = || rt.buffer_from(&ones).unwrap();
    let (mut lost, mut kept, mut both) = (buffer(), buffer(), buffer());
    let mut theirs: Vec<_> = others.iter().map(|_| buffer()).collect();
    for _ in 0..10 {
        broken.run(N, add(1, &mut lost)).unwrap();
        broken.run(N, add(1, &mut both)).unwrap();
        fine.run(N, add(1, &mut kept)).unwrap();
        for (other, buffer) in others.iter().zip(&mut theirs) {
            other.run(N, add(1, buffer)).unwrap();
        }
    }
    rt.wait().unwrap();
    assert_eq!(both.to_vec().unwrap(), [11; N]);
    // Work is under way when it happens.
    for _ in 0..100 {
        fine.run(N, add(1, &mut kept)).unwrap();
    }
    let wild = broken.device().load(Source::Ptx(CODE), fault).unwrap();
    let begun = Instant::now();
    let event = broken.submit(|g| {
        // SAFETY: what it does wrong the device's protection of memory stops. It is the test.
        unsafe { g.run_opaque(1, &wild, []) };
        Ok(())
    });
    let told = event.unwrap().wait_timeout(SECOND).unwrap_err();
    let took = begun.elapsed();
    println!("after {took:?}: {told}");
    is_lost(&told);
    assert!(told.to_string().contains(&format!("`{fault}`")), "{told}");
    assert!(took < SECOND, "it took {took:?}");
    let later = |queue: &Queue, buffer: &mut Buffer<u32>| {
        let begun = Instant::now();
        let ended = queue.run(N, add(1, &mut *buffer)).and_then(|event| event.wait_timeout(SECOND));
        let left = buffer.to_vec();
        assert!(begun.elapsed() < SECOND, "{:?}", queue.device().name());
        (ended, left)
    };
    let (ended, left) = later(&broken, &mut lost);
    is_lost(&ended.unwrap_err());
    is_lost(&left.unwrap_err());
    for (queue, buffer) in others.iter().zip(&mut theirs) {
        let (ended, left) = later(queue, buffer);
        if are_taken {
            is_lost(&ended.unwrap_err());
            is_lost(&left.unwrap_err());
        } else {
            assert!(ended.unwrap(), "{:?}", queue.device().name());
            assert_eq!(left.unwrap(), [12; N]);
        }
    }
    for _ in 0..100 {
        fine.run(N, add(1, &mut kept)).unwrap();
    }
    assert_eq!(kept.to_vec().unwrap(), [211; N], "the CPU's work");
    assert_eq!(both.to_vec().unwrap(), [11; N], "what is on the host, too");
    // What was lost can be written anew, elsewhere.
    fine.submit(|cg| {
        cg.fill(&mut lost, 5);
        Ok(())
    })
    .unwrap();
    fine.run(N, add(2, &mut lost)).unwrap();
    assert_eq!(lost.to_vec().unwrap(), [7; N]);
}

/// A process that does this. Its output is this one's.
fn process(what: &str, fault: &str) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", TEST, "--nocapture"])
        .env(CHILD, format!("{what} {fault}"))
        .stdin(Stdio::null());
    command.spawn().unwrap()
}

/// How a process ends, with something to do meanwhile; it has a minute.
fn ended(mut process: Child, mut meanwhile: impl FnMut()) -> ExitStatus {
    let begun = Instant::now();
    loop {
        meanwhile();
        match process.try_wait().unwrap() {
            Some(status) => return status,
            None if begun.elapsed() < Duration::from_secs(60) => {
                std::thread::sleep(Duration::from_millis(1));
            }
            None => {
                process.kill().unwrap();
                process.wait().unwrap();
                panic!("the process does not end");
            }
        }
    }
}

/// In a process of its own, which ends in time, while this one works on all GPUs.
#[test]
fn cuda_fault_leaves_others() {
    if let Err(why) = CudaBackend::new().devices() {
        return println!("skipped: cuda: {}", why.reason);
    }
    if let Ok(what) = std::env::var(CHILD) {
        match what.split_once(' ').unwrap() {
            (DRIVER, fault) => {
                std::process::exit(if by_the_driver_alone(fault) { LEAVES } else { TAKES })
            }
            (what, fault) => return child(what == LOST, fault),
        }
    }
    let rt = Runtime::builder().backend(CudaBackend::new()).build().unwrap();
    let queues: Vec<_> = rt.devices().iter().map(|gpu| rt.queue_on(gpu).unwrap()).collect();
    let ones = vec![1u32; N];
    let mut ours: Vec<_> = queues.iter().map(|_| rt.buffer_from(&ones).unwrap()).collect();
    let mut rounds = 0;
    let mut work = || {
        for (queue, buffer) in queues.iter().zip(&mut ours) {
            queue.run(N, add(1, buffer)).unwrap().wait().unwrap();
        }
        rounds += 1;
    };
    // Before, during and after.
    work();
    for fault in FAULTS {
        let driver = ended(process(DRIVER, fault), &mut work);
        let what = match driver.code() {
            Some(LEAVES) => RIGHT,
            Some(TAKES) => LOST,
            _ => panic!("{fault} by the driver alone: {driver}"),
        };
        let folio = ended(process(what, fault), &mut work);
        assert!(folio.success(), "{fault} by Folio: {folio}");
    }
    work();
    for buffer in &ours {
        assert!(buffer.to_vec().unwrap() == [1 + rounds; N], "{rounds} rounds");
    }
    if queues.len() == 1 {
        println!("skipped: gpus: there is one; it was used");
    }
}
