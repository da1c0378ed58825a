//! A kernel in OpenCL C, and commands by OpenCL's own functions, over Folio's buffers. Without a
//! device it says why there is none.

use folio_core::{
    Runtime,
    opaque::{OpaqueArg, Source},
};
use folio_opencl::{Native, OpenClBackend};
use std::error::Error;

const TEXT: &str = "
__kernel void saxpy(float a, __global const float *x, __global float *y) {
    size_t i = get_global_id(0);
    y[i] = a * x[i] + y[i];
}
";

/// Copies so many bytes of the first access to the second, by a function of OpenCL's.
fn copy(cl: &Native, bytes: usize) -> Result<(), String> {
    let [from, to] = &cl.memory[..] else { return Err("two accesses are needed".to_owned()) };
    // SAFETY: so many bytes are accessed of both; the event is given back, which nobody needs.
    let copied = unsafe {
        let (none, queue) = (std::ptr::null(), cl.queue);
        let (source, target) = (from.offset, to.offset);
        cl3::command_queue::enqueue_copy_buffer(
            queue,
            from.buffer,
            to.buffer,
            source,
            target,
            bytes,
            0,
            none,
        )
        .and_then(|event| cl3::event::release_event(event))
    };
    copied.map_err(|status| format!("OpenCL says {status}"))
}

fn main() -> Result<(), Box<dyn Error>> {
    let rt = Runtime::builder().backend(OpenClBackend::new()).build()?;
    let Some(device) = rt.devices().into_iter().next() else {
        println!("no OpenCL device: {}", rt.missing_backends().join("; "));
        return Ok(());
    };
    let saxpy = device.load(Source::OpenClC(TEXT), "saxpy")?;
    let q = rt.queue_on(&device)?;
    let n = 1 << 16;
    let mut x = rt.buffer_from(vec![1.0f32; n])?;
    let mut y = rt.buffer_from(vec![2.0f32; n])?;
    for _ in 0..3 {
        q.submit(|g| {
            let args = [OpaqueArg::value(0.5f32), g.read(&x).into(), g.read_write(&mut y).into()];
            // SAFETY: the kernel's parameters; each item has its own element, and there are `n`.
            unsafe { g.run_opaque(n, &saxpy, args) };
            Ok(())
        })?;
        q.submit(|g| {
            let accesses = (g.read(&y), g.discard(&mut x));
            // SAFETY: it copies all of `y` to `x`, on the task's queue.
            unsafe { g.interop(accesses, move |cl: &Native| copy(cl, 4 * n)) };
            Ok(())
        })?;
    }
    let out = x.to_vec()?;
    assert!(out.iter().all(|x| *x == 5.625), "{}", out[0]);
    println!("{device:?}: {} launches, {:?}", rt.counters().launches, rt.counters().transfers());
    Ok(())
}
