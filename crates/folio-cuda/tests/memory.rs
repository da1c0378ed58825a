//! A full device: who asks for more is told, and what is freed is anyone's.
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

use cudarc::driver::sys;
use folio_core::hal::Backend;
use folio_core::{DeviceRef, Error, Runtime, Usm, UsmKind};
use folio_cuda::CudaBackend;

const PIECE: usize = 4 << 30;

fn runtime() -> (Runtime, DeviceRef) {
    let rt = Runtime::builder().backend(CudaBackend::new()).build().unwrap();
    let device = rt.devices().into_iter().next().unwrap();
    (rt, device)
}

/// As many pieces as there is room for, and the error of the one for which there is none.
fn fill(rt: &Runtime, device: &DeviceRef) -> (Vec<Usm<u8>>, Error) {
    let mut pieces = Vec::new();
    loop {
        match rt.usm::<u8>(device, UsmKind::Device, PIECE) {
            Ok(piece) => pieces.push(piece),
            Err(error) => return (pieces, error),
        }
    }
}

/// ERR-01
#[test]
fn cuda_memory_may_be_full() {
    if let Err(why) = CudaBackend::new().devices() {
        return println!("skipped: cuda: {}", why.reason);
    }
    let (rt, device) = runtime();
    let total = device.info().memory;
    let too_much = rt.usm::<u8>(&device, UsmKind::Device, total as usize + PIECE);
    assert!(matches!(too_much, Err(Error::OutOfMemory { .. })), "{too_much:?}");
    let (mut pieces, error) = fill(&rt, &device);
    let held = (pieces.len() * PIECE) as u64;
    assert!(held > total / 2 && held <= total, "{held} of {total}");
    let Error::OutOfMemory { asked, in_use, .. } = error else { panic!("{error}") };
    assert!(asked == PIECE as u64 && in_use >= held, "{asked} beside {in_use}");
    // The memory that is there works on.
    let q = rt.queue_on(&device).unwrap();
    let last = pieces.last_mut().unwrap();
    let filled = q.submit(|cg| {
        cg.fill(&mut *last, 7);
        Ok(())
    });
    filled.unwrap().wait().unwrap();
    let mut end = rt.buffer::<u8, 1>(4).unwrap();
    q.submit(|cg| {
        cg.copy(last.slice(PIECE - 4, 4)?, &mut end);
        Ok(())
    })
    .unwrap();
    assert_eq!(end.to_vec().unwrap(), [7; 4]);
    // A piece that is freed is there again, for this runtime and for others, which have pools of
    // their own.
    pieces.truncate(1);
    let (other, its_device) = runtime();
    let (theirs, _) = fill(&other, &its_device);
    assert!(theirs.len() as u64 * PIECE as u64 + 2 * PIECE as u64 > held, "{}", theirs.len());
    drop(theirs);
    let (again, _) = fill(&rt, &device);
    assert!((again.len() + 2) as u64 * PIECE as u64 >= held, "{}", again.len());
}

/// The bytes that a driver has left of its first device's memory.
fn left() -> usize {
    let (mut context, mut left, mut total) = (std::ptr::null_mut(), 0, 0);
    // SAFETY: places for the answers; the runtime has the context, too.
    let asked = unsafe {
        [
            sys::cuDevicePrimaryCtxRetain(&raw mut context, 0),
            sys::cuCtxSetCurrent(context),
            sys::cuMemGetInfo_v2(&raw mut left, &raw mut total),
            sys::cuDevicePrimaryCtxRelease_v2(0),
        ]
    };
    assert_eq!(asked, [sys::CUresult::CUDA_SUCCESS; 4]);
    left
}

/// Of what is kept the driver has back what a lower budget does not allow.
#[test]
fn cuda_has_freed_memory_back_beyond_a_lower_budget() {
    if let Err(why) = CudaBackend::new().devices() {
        return println!("skipped: cuda: {}", why.reason);
    }
    let (rt, device) = runtime();
    let free = |made: Usm<u8>| {
        let in_use = device.budget().1 - made.len() as u64;
        drop(made);
        while device.budget().1 > in_use {
            std::thread::yield_now();
        }
    };
    let [first, second] = [(); 2].map(|()| rt.usm::<u8>(&device, UsmKind::Device, PIECE).unwrap());
    let full = left();
    let pieces = || (left() as i64 - full as i64 + PIECE as i64 / 2) / PIECE as i64;
    free(first);
    device.set_budget(2 * PIECE as u64);
    assert_eq!(pieces(), 0);
    device.set_budget(PIECE as u64);
    assert_eq!(pieces(), 1);
    free(second);
    assert_eq!(pieces(), 1);
    device.set_budget(0);
    assert_eq!(pieces(), 2);
}
