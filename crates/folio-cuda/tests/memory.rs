//! A full device: who asks for more is told, and what is freed is anyone's.
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

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
    // What there is works on.
    let q = rt.queue_on(&device).unwrap();
    let last = pieces.last_mut().unwrap();
    let filled = q.submit(|cg| {
        cg.fill(&mut *last, 7);
        Ok(())
    });
    filled.unwrap().wait().unwrap();
    let mut end = rt.buffer::<u8>(4).unwrap();
    q.submit(|cg| {
        cg.copy(last.slice(PIECE - 4, 4)?, &mut end);
        Ok(())
    })
    .unwrap();
    assert_eq!(end.to_vec().unwrap(), [7; 4]);
    // A piece that is freed is there again, for this runtime and for others, which have pools of their own.
    pieces.truncate(1);
    let (other, its_device) = runtime();
    let (theirs, _) = fill(&other, &its_device);
    assert!(theirs.len() as u64 * PIECE as u64 + 2 * PIECE as u64 > held, "{}", theirs.len());
    drop(theirs);
    let (again, _) = fill(&rt, &device);
    assert!((again.len() + 2) as u64 * PIECE as u64 >= held, "{}", again.len());
}
