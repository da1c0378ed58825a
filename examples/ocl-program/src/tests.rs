//! The program runs, and parts of buffers are what they should be. There has to be a device of
//! OpenCL, such as PoCL's.

use super::*;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Folio asks drivers for devices one thread at a time, because not all can be asked by two when
/// they come up. `ocl` does not, so the tests take turns.
fn turn() -> MutexGuard<'static, ()> {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner)
}

#[test]
fn the_program_computes_the_same_with_and_without_folio() {
    let _turn = turn();
    assert_eq!(run().unwrap(), vec![2.5; 3]);
}

/// What a task says of its accesses: lengths, first elements, errors.
fn told(
    rt: &Runtime,
    device: &DeviceRef,
    first: usize,
) -> (folio::Result<()>, Vec<Result<f32, String>>) {
    let q = rt.queue_on(device).unwrap();
    let x = rt.buffer_from((0..N).map(|at| at as f32).collect::<Vec<_>>()).unwrap();
    let told = Arc::new(Mutex::new(Vec::new()));
    let of_task = told.clone();
    let event = q.submit(|g| {
        let part = g.read(x.slice([first], [N - first])?);
        let task = move |cl: &Native| -> ocl::Result<()> {
            let cl = cl.ocl()?;
            for at in 0..2 {
                // SAFETY: numbers of this type, which are read in the task.
                let read = unsafe { cl.buffer::<f32>(at) }.and_then(|part| {
                    let mut all = vec![0.0; part.len()];
                    part.read(&mut all).enq()?;
                    assert_eq!(all.len(), N - first);
                    Ok(all[0])
                });
                of_task.lock().unwrap().push(read.map_err(|error| error.to_string()));
            }
            Ok(())
        };
        // SAFETY: it reads `x`, on the task's queue.
        unsafe { g.interop(part, task) };
        Ok(())
    });
    let ended = event.and_then(|event| event.wait());
    let told = told.lock().unwrap().clone();
    (ended, told)
}

#[test]
fn parts_begin_where_the_device_lets_them() {
    let _turn = turn();
    let rt = Runtime::builder().backend(OpenClBackend::new()).build().unwrap();
    assert!(!rt.devices().is_empty(), "{:?}", rt.missing_backends());
    for device in rt.devices() {
        for first in [0, 1024] {
            let (ended, told) = told(&rt, &device, first);
            ended.unwrap();
            assert_eq!(told[0], Ok(first as f32));
            assert!(told[1].as_ref().unwrap_err().contains("by its argument 1"), "{told:?}");
        }
        let (_, told) = told(&rt, &device, 1);
        assert!(told[0].as_ref().unwrap_err().contains("begins at byte 4"), "{told:?}");
    }
}

#[test]
fn contexts_are_those_of_the_program() {
    let _turn = turn();
    let context = ocl::Context::builder().build().unwrap();
    let backend = OpenClBackend::of_ocl(&context).unwrap();
    let rt = Runtime::builder().backend(backend).build().unwrap();
    assert_eq!(rt.devices().len(), context.devices().len());
    for device in rt.devices() {
        let mut x = rt.buffer::<f32, 1>(N).unwrap();
        let own = context.as_ptr() as usize;
        let event = rt.queue_on(&device).unwrap().submit(|g| {
            let x = g.discard(&mut x);
            let same = move |cl: &Native| -> ocl::Result<()> {
                assert_eq!(cl.context as usize, own);
                // SAFETY: numbers of this type, all of which are written in the task.
                unsafe { cl.ocl()?.buffer::<f32>(0) }?.cmd().fill(3.0, None).enq()
            };
            // SAFETY: it writes all of `x`, on the task's queue.
            unsafe { g.interop(x, same) };
            Ok(())
        });
        event.unwrap().wait().unwrap();
        assert_eq!(x.to_vec().unwrap(), [3.0; N]);
    }
    // The context outlives the program's object.
    drop(context);
    rt.wait().unwrap();
}
