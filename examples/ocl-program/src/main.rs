//! A program that was written with the crate `ocl`, and what it takes to run it over Folio's
//! buffers: its functions stay what they are.

use folio::opencl::{Native, OpenClBackend};
use folio::prelude::*;
use folio::{DeviceRef, Usm, memory::RawMemory};
use std::error::Error as AnyError;

const TEXT: &str = "
__kernel void saxpy(float a, __global const float *x, __global float *y) {
    size_t i = get_global_id(0);
    y[i] = a * x[i] + y[i];
}
";
const N: usize = 1 << 16;

/// The existing program: `ocl` alone, as it was.
mod existing {
    /// `y = a * x + y`, by this queue.
    pub fn saxpy(
        (queue, program): (&ocl::Queue, &ocl::Program),
        a: f32,
        (x, y): (&ocl::Buffer<f32>, &ocl::Buffer<f32>),
    ) -> ocl::Result<()> {
        let kernel = ocl::Kernel::builder()
            .program(program)
            .name("saxpy")
            .queue(queue.clone())
            .global_work_size(x.len())
            .arg(a)
            .arg(x)
            .arg(y)
            .build()?;
        // SAFETY: the kernel's parameters; each item has its own element, and there are so many.
        unsafe { kernel.enq() }
    }

    pub fn program(context: &ocl::Context, device: ocl::Device) -> ocl::Result<ocl::Program> {
        ocl::Program::builder().src(super::TEXT).devices(device).build(context)
    }
}

#[kernel]
fn halve(i: Item, y: InOut<f32>) {
    y[i] *= 0.5;
}

/// Without Folio: what the others have to compute, but for `halve`.
fn alone(context: &ocl::Context, device: ocl::Device) -> ocl::Result<Vec<f32>> {
    let queue = ocl::Queue::new(context, device, None)?;
    let program = existing::program(context, device)?;
    let buffer =
        |value: f32| ocl::Buffer::builder().queue(queue.clone()).len(N).fill_val(value).build();
    let (x, y) = (buffer(1.0)?, buffer(2.0)?);
    existing::saxpy((&queue, &program), 0.5, (&x, &y))?;
    let mut result = vec![0.0; N];
    y.read(&mut result).enq()?;
    Ok(result)
}

/// The same function as a command of Folio's, which orders it with a kernel before and after.
fn within(rt: &Runtime, device: &DeviceRef) -> folio::Result<Vec<f32>> {
    let q = rt.queue_on(device)?;
    let x = rt.buffer_from(vec![2.0f32; N])?;
    let mut y = rt.buffer_from(vec![8.0f32; N])?;
    q.run(N, halve(&mut y))?;
    q.submit(|g| {
        let accesses = (g.read(&x), g.read_write(&mut y));
        let saxpy = |cl: &Native| -> ocl::Result<()> {
            let cl = cl.ocl()?;
            let program = existing::program(&cl.context, cl.device)?;
            // SAFETY: both have elements of this type, and the task keeps no buffer.
            let (x, y) = unsafe { (cl.buffer(0)?, cl.buffer(1)?) };
            existing::saxpy((&cl.queue, &program), 0.5, (&x, &y))
        };
        // SAFETY: it reads `x` and changes `y`, on the task's queue.
        unsafe { g.label("saxpy").interop(accesses, saxpy) };
        Ok(())
    })?;
    q.run(N, halve(&mut y))?;
    y.to_vec()
}

/// Memory of `ocl` in a kernel of Folio's, on a device of the program's own context.
fn over(
    rt: &Runtime,
    device: &DeviceRef,
    queue: &ocl::Queue,
) -> Result<Vec<f32>, Box<dyn AnyError>> {
    let memory = ocl::Buffer::builder().queue(queue.clone()).len(N).fill_val(5.0f32).build()?;
    queue.finish()?;
    let raw = RawMemory::Object(memory.as_ptr().cast());
    // SAFETY: so many numbers, which are all written; nothing else uses them until the end.
    let mut usm: Usm<f32> = unsafe { Usm::from_raw(device, raw, N) }?;
    let q = rt.queue_on(device)?;
    q.run(N, halve(&mut usm))?;
    q.wait()?;
    let mut result = vec![0.0; N];
    memory.read(&mut result).queue(queue).enq()?;
    Ok(result)
}

fn main() -> Result<(), Box<dyn AnyError>> {
    run().map(drop)
}

/// An element of each of the results, which are the same.
fn run() -> Result<Vec<f32>, Box<dyn AnyError>> {
    let rt = Runtime::builder().backend(OpenClBackend::new()).build()?;
    let Some(device) = rt.devices().into_iter().next() else {
        println!("no OpenCL device: {}", rt.missing_backends().join("; "));
        return Ok(vec![]);
    };
    let computed = within(&rt, &device)?;
    println!("on {device:?}: {}", computed[N - 1]);

    // The same with the program's own context: then its buffers are Folio's as well.
    let context = ocl::Context::builder().build()?;
    let own = context.devices()[0];
    let expected = alone(&context, own)?;
    let queue = ocl::Queue::new(&context, own, None)?;
    let rt = Runtime::builder().backend(OpenClBackend::of_ocl(&context)?).build()?;
    let device = &rt.devices()[0];
    println!("in the program's context, on {device:?}: {}", within(&rt, device)?[N - 1]);
    println!("over the program's memory: {}", over(&rt, device, &queue)?[N - 1]);
    println!("by `ocl` alone: {}", expected[N - 1]);
    let results = [computed, within(&rt, device)?, over(&rt, device, &queue)?];
    assert!(results.iter().all(|result| *result == expected), "{}", expected[N - 1]);
    Ok(results.iter().map(|result| result[N - 1]).collect())
}

#[cfg(test)]
mod tests;
