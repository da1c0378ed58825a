//! A kernel that writes where nothing is takes its GPU with it, and nothing else: what is on other devices is right,
//! whoever waits is told soon, and nothing hangs. On simulated devices `engine_lost` shows the same, at any time.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests may panic")]

use folio::prelude::*;
use folio_core::Cause;
use folio_core::hal::Source;
use folio_core::hal::{Backend, HalErrorKind};
use folio_cpu::CpuBackend;
use folio_cuda::CudaBackend;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const CHILD: &str = "FOLIO_TEST_FAULT";
const SECOND: Duration = Duration::from_secs(1);
const N: usize = 1 << 16;

const WILD: &str = "
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

/// What the child does. The other device is the second GPU, or the CPU.
fn child(other: &str) {
    let cpu = CpuBackend::builder().domains(2).build().unwrap();
    let rt = Runtime::builder().backend(CudaBackend::new()).backend(cpu).build().unwrap();
    let (broken, fine) = (rt.queue_on("cuda:0").unwrap(), rt.queue_on(other).unwrap());
    let ones = vec![1u32; N];
    let buffer = || rt.buffer_from(&ones).unwrap();
    let (mut lost, mut kept, mut both) = (buffer(), buffer(), buffer());
    for _ in 0..10 {
        broken.run(N, add(1, &mut lost)).unwrap();
        broken.run(N, add(1, &mut both)).unwrap();
        fine.run(N, add(1, &mut kept)).unwrap();
    }
    rt.wait().unwrap();
    assert_eq!(both.to_vec().unwrap(), [11; N]);
    // Work is under way on both when it happens.
    for _ in 0..100 {
        fine.run(N, add(1, &mut kept)).unwrap();
    }
    let wild = broken.device().load(Source::Ptx(WILD), "wild").unwrap();
    let begun = Instant::now();
    let event = broken.submit(|g| {
        // SAFETY: what it does wrong the device's protection of memory stops. It is the test.
        unsafe { g.run_opaque(1, &wild, []) };
        Ok(())
    });
    let told = event.unwrap().wait_for(SECOND).unwrap_err();
    let took = begun.elapsed();
    println!("after {took:?}: {told}");
    is_lost(&told);
    assert!(took < SECOND, "it took {took:?}");
    let later = broken.run(N, add(1, &mut lost)).and_then(|event| event.wait_for(SECOND));
    is_lost(&later.unwrap_err());
    is_lost(&lost.to_vec().unwrap_err());
    for _ in 0..100 {
        fine.run(N, add(1, &mut kept)).unwrap();
    }
    assert_eq!(kept.to_vec().unwrap(), [211; N], "the other device's work");
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

/// Runs a test of this binary in a process of its own, which ends in time.
fn in_a_process(test: &str, other: &str) {
    if std::env::var_os(CHILD).is_some() {
        return child(other);
    }
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", test, "--nocapture"]).env(CHILD, "1").stdin(Stdio::null());
    let mut process = command.spawn().unwrap();
    let begun = Instant::now();
    let ended = loop {
        match process.try_wait().unwrap() {
            Some(status) => break Some(status),
            None if begun.elapsed() > Duration::from_secs(60) => break None,
            None => std::thread::sleep(Duration::from_millis(20)),
        }
    };
    if ended.is_none() {
        process.kill().unwrap();
        process.wait().unwrap();
    }
    assert!(ended.is_some_and(|status| status.success()), "the process ended with {ended:?}");
}

fn gpus() -> usize {
    match CudaBackend::new().devices() {
        Ok(devices) => devices.len(),
        Err(why) => {
            println!("skipped: cuda: {}", why.reason);
            0
        }
    }
}

#[test]
fn cuda_fault_leaves_the_cpu() {
    if gpus() > 0 {
        in_a_process("cuda_fault_leaves_the_cpu", "cpu:1");
    }
}

#[test]
fn cuda_fault_leaves_the_other_gpu() {
    match gpus() {
        0 => {}
        1 => println!("skipped: gpus: there is one"),
        _ => in_a_process("cuda_fault_leaves_the_other_gpu", "cuda:1"),
    }
}
