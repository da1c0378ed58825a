//! A kernel that writes where nothing is takes its GPU with it: what is on other devices is right, whoever waits is
//! told soon, and nothing hangs. NVIDIA's driver (580) then refuses to work with any GPU of the process, whether
//! they share memory or not: those are lost, and say so. Other processes go on with all of them. On simulated devices
//! `engine_lost` shows that the loss of one device leaves the others, at any time.
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

/// What the child does, beside work on the CPU and on the other GPUs.
fn child() {
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
    assert!(told.to_string().contains("`wild`"), "{told}");
    assert!(took < SECOND, "it took {took:?}");
    let later = |queue: &Queue, buffer: &mut Buffer<u32>| {
        let begun = Instant::now();
        let ended = queue.run(N, add(1, &mut *buffer)).and_then(|event| event.wait_for(SECOND));
        let left = buffer.to_vec();
        assert!(begun.elapsed() < SECOND, "{:?}", queue.device().name());
        (ended, left)
    };
    let (ended, left) = later(&broken, &mut lost);
    is_lost(&ended.unwrap_err());
    is_lost(&left.unwrap_err());
    // The driver takes the others, too, or leaves them: they are lost, or right.
    for (queue, buffer) in others.iter().zip(&mut theirs) {
        match later(queue, buffer) {
            (Ok(ended), left) => assert!(ended && left.unwrap() == [12; N]),
            (Err(error), left) => {
                println!("{} is lost, too", queue.device().name());
                is_lost(&error);
                is_lost(&left.unwrap_err());
            }
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

/// In a process of its own, which ends in time, while this one works on all GPUs.
#[test]
fn cuda_fault_leaves_others() {
    const TEST: &str = "cuda_fault_leaves_others";
    if let Err(why) = CudaBackend::new().devices() {
        return println!("skipped: cuda: {}", why.reason);
    }
    if std::env::var_os(CHILD).is_some() {
        return child();
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
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", TEST, "--nocapture"]).env(CHILD, "1").stdin(Stdio::null());
    let mut process = command.spawn().unwrap();
    let begun = Instant::now();
    let ended = loop {
        work();
        match process.try_wait().unwrap() {
            Some(status) => break Some(status),
            None if begun.elapsed() > Duration::from_secs(60) => break None,
            None => std::thread::sleep(Duration::from_millis(1)),
        }
    };
    if ended.is_none() {
        process.kill().unwrap();
        process.wait().unwrap();
    }
    assert!(ended.is_some_and(|status| status.success()), "the process ended with {ended:?}");
    work();
    for buffer in &ours {
        assert!(buffer.to_vec().unwrap() == [1 + rounds; N], "{rounds} rounds");
    }
}
