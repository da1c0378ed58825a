//! Interop tasks on a GPU: what the driver's own functions enqueue runs in Folio's order (KRN-05).
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

use cudarc::driver::sys::{self, CUresult};
use folio_core::hal::Backend;
use folio_core::{Error, Queue, Runtime};
use folio_cuda::{CudaBackend, Native};
use std::ptr::null_mut;

fn queue() -> Option<(Runtime, Queue)> {
    if let Err(why) = CudaBackend::new().devices() {
        println!("skipped: cuda: {}", why.reason);
        return None;
    }
    let rt = Runtime::builder().backend(CudaBackend::new()).build().unwrap();
    let queue = rt.queue_on("cuda:0").unwrap();
    Some((rt, queue))
}

fn ok(what: &str, result: CUresult) -> Result<(), String> {
    if result == CUresult::CUDA_SUCCESS { Ok(()) } else { Err(format!("{what}: {result:?}")) }
}

/// Sets what is accessed, on the task's stream.
fn set(cuda: &Native, value: u32) -> Result<(), String> {
    let (place, mut context, mut device) = (&cuda.memory[0], null_mut(), -1);
    // SAFETY: places for the answers.
    unsafe {
        ok("cuCtxGetCurrent", sys::cuCtxGetCurrent(&raw mut context))?;
        ok("cuCtxGetDevice", sys::cuCtxGetDevice(&raw mut device))?;
    }
    assert_eq!((cuda.context, cuda.device), (context.cast(), device));
    // SAFETY: the stream is the task's; as many elements are accessed.
    let result =
        unsafe { sys::cuMemsetD32Async(place.address, value, place.extent[2], cuda.stream.cast()) };
    ok("cuMemsetD32Async", result)
}

/// KRN-05: between a fill before and a copy after, over a part of a buffer, without a wait.
#[test]
fn cuda_interop_comes_in_order() {
    let Some((rt, q)) = queue() else { return };
    const N: usize = 1 << 22;
    let (mut x, mut y) = (rt.buffer::<u32, 1>(N).unwrap(), rt.buffer::<u32, 1>(N).unwrap());
    for turn in 1..=50u32 {
        q.submit(|g| {
            g.fill(&mut x, turn);
            Ok(())
        })
        .unwrap();
        q.submit(|g| {
            let part = g.read_write(x.slice_mut([N / 2], [N / 4])?);
            // SAFETY: it writes what it says, on the task's stream.
            unsafe { g.interop(part, move |cuda: &Native| set(cuda, 1000 + turn)) };
            Ok(())
        })
        .unwrap();
        q.submit(|g| {
            g.copy(&x, &mut y);
            Ok(())
        })
        .unwrap();
    }
    let y = y.to_vec().unwrap();
    let expected = |i: usize| if (N / 2..N / 4 * 3).contains(&i) { 1050 } else { 50 };
    assert_eq!((0..N).find(|i| y[*i] != expected(*i)), None);
}

/// KRN-05, ERR-02: a task's error fails its command and those that depend on it.
#[test]
fn cuda_interop_may_fail() {
    let Some((rt, q)) = queue() else { return };
    let mut x = rt.buffer::<u32, 1>(16).unwrap();
    let event = q.submit(|g| {
        let x = g.read_write(&mut x);
        // SAFETY: it enqueues nothing.
        unsafe { g.interop(x, |_: &Native| Err::<(), _>("it does not like it".to_owned())) };
        Ok(())
    });
    let told = event.unwrap().wait().unwrap_err();
    assert!(
        matches!(told, Error::Failed(_)) && told.to_string().contains("does not like"),
        "{told}"
    );
    assert!(matches!(x.to_vec(), Err(Error::Failed(_))));
    q.submit(|g| {
        g.fill(&mut x, 3);
        Ok(())
    })
    .unwrap();
    assert_eq!(x.to_vec().unwrap(), [3; 16]);
}
