//! The cost of a submission: tiny closures over buffers, on the CPU backend with one domain.

use folio::prelude::{InOut, Item, kernel};
use folio_core::{Buffer, BufferOptions, Error, Event, Queue, Result, Runtime};
use folio_cpu::CpuBackend;
use std::sync::{Barrier, mpsc};
use std::time::{Duration, Instant};

/// Increments each element.
#[kernel]
pub fn increments(i: Item, x: InOut<u64>) {
    x[i] += 1;
}

/// A runtime with one CPU device.
pub fn runtime() -> Result<Runtime> {
    let backend = CpuBackend::builder().domains(1).build().map_err(|e| Error::Environment {
        variable: e.setting,
        value: e.value,
        allowed: e.allowed,
    })?;
    Runtime::builder().backend(backend).build()
}

/// Submits an increment of every element.
pub fn increment(q: &Queue, x: &mut Buffer<u64>, range: usize) -> Result<Event> {
    q.submit(|cg| {
        let x = cg.read_write(x);
        cg.host_kernel([range], x, |i, mut x| x[i] += 1);
        Ok(())
    })
}

fn buffers(rt: &Runtime, count: usize, len: usize) -> Result<Vec<Buffer<u64>>> {
    (0..count).map(|_| rt.buffer(len)).collect()
}

/// Runs `n` times `step`, after some to warm up; until everything is done.
fn timed(q: &Queue, n: usize, mut step: impl FnMut(usize) -> Result<()>) -> Result<Duration> {
    let started = Instant::now();
    for i in 0..n {
        step(i)?;
    }
    q.wait()?;
    Ok(started.elapsed())
}

/// A submitter's shape.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Commands take turns with so many buffers: 1 is a dependent chain.
    pub buffers: usize,
    /// Elements of a buffer, and items of a launch.
    pub range: usize,
    /// Through a queue in order.
    pub in_order: bool,
}

/// A dependent chain of increments of one element.
pub const CHAIN: Shape = Shape { buffers: 1, range: 1, in_order: false };

/// `n` commands of one access each.
pub fn stream(n: usize, shape: Shape) -> Result<Duration> {
    let rt = runtime()?;
    let cpu = "cpu:0";
    let q = if shape.in_order { rt.in_order_queue_on(cpu)? } else { rt.queue_on(cpu)? };
    let mut all = buffers(&rt, shape.buffers, shape.range)?;
    let mut step = |i: usize| increment(&q, &mut all[i % shape.buffers], shape.range).map(drop);
    let warm = 64 * shape.buffers;
    timed(&q, warm, &mut step)?;
    let time = timed(&q, n, &mut step)?;
    let done: u64 = all.iter().map(|x| x.to_vec().map(|v| v[0])).sum::<Result<u64>>()?;
    assert_eq!(done, (n + warm) as u64);
    Ok(time)
}

/// `n` dependent calls of a kernel function, each an increment of one element.
pub fn kernel_chain(n: usize) -> Result<Duration> {
    let rt = runtime()?;
    let q = rt.queue_on("cpu:0")?;
    let mut x = rt.buffer::<u64, 1>(1)?;
    let mut step = |_| q.run(1, increments(&mut x)).map(drop);
    timed(&q, 64, &mut step)?;
    let time = timed(&q, n, &mut step)?;
    assert_eq!(x.to_vec()?, [n as u64 + 64]);
    Ok(time)
}

/// `n` dependent increments of one element of USM.
pub fn usm_chain(n: usize) -> Result<Duration> {
    let rt = runtime()?;
    let q = rt.queue_on("cpu:0")?;
    let mut x = rt.usm::<u64>(&rt.device("cpu:0")?, folio_core::UsmKind::Shared, 1)?;
    let mut step = |_| {
        q.submit(|cg| {
            let x = cg.read_write(x.slice_mut(0, 1)?);
            cg.host_kernel([1], x, |i, mut x| x[i] += 1);
            Ok(())
        })
        .map(drop)
    };
    timed(&q, 64, &mut step)?;
    timed(&q, n, &mut step)
}

/// `n` commands with 64 accesses each, of `range` items.
pub fn wide(n: usize, range: usize) -> Result<Duration> {
    let rt = runtime()?;
    let q = rt.queue_on("cpu:0")?;
    let mut all = buffers(&rt, 64, range)?;
    let mut step = |_| {
        q.submit(|cg| {
            let mut each = all.iter_mut();
            let args: [_; 64] = std::array::from_fn(|_| each.next().map(|x| cg.read_write(x)));
            let Some(args) = all_of(args) else { return Ok(()) };
            cg.host_kernel([range], args, |i, views| views.into_iter().for_each(|mut x| x[i] += 1));
            Ok(())
        })
        .map(drop)
    };
    timed(&q, 10, &mut step)?;
    let time = timed(&q, n, &mut step)?;
    assert_eq!(all[63].to_vec()?, vec![n as u64 + 10; range]);
    Ok(time)
}

fn all_of<T: Copy, const N: usize>(from: [Option<T>; N]) -> Option<[T; N]> {
    let first = from[0]?;
    from.iter().all(Option::is_some).then(|| from.map(|t| t.unwrap_or(first)))
}

/// `n` commands by each of so many threads, each on a buffer and a queue of its own.
pub fn threads(n: usize, count: usize) -> Result<Duration> {
    let rt = runtime()?;
    let start = Barrier::new(count + 1);
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..count)
            .map(|_| {
                scope.spawn(|| -> Result<()> {
                    let q = rt.queue_on("cpu:0")?;
                    let mut x = rt.buffer(1)?;
                    timed(&q, 64, |_| increment(&q, &mut x, 1).map(drop))?;
                    start.wait();
                    timed(&q, n, |_| increment(&q, &mut x, 1).map(drop))?;
                    assert_eq!(x.to_vec()?, [n as u64 + 64]);
                    Ok(())
                })
            })
            .collect();
        start.wait();
        let started = Instant::now();
        for worker in workers {
            worker.join().map_err(|_| Error::ShutDown)??;
        }
        Ok(started.elapsed())
    })
}

/// Submits `n` commands behind a host task that ends afterwards: the time of the submissions, and
/// that until everything is done.
pub fn outstanding(n: usize) -> Result<[Duration; 2]> {
    let rt = runtime()?;
    let q = rt.queue_on("cpu:0")?;
    let mut x = rt.buffer::<u64, 1>(1)?;
    increment(&q, &mut x, 1)?.wait()?;
    let (open, gate) = mpsc::channel::<()>();
    q.submit(|cg| {
        let x = cg.read_write(&mut x);
        cg.host_task(x, move |_| gate.recv().map_or((), |()| ()));
        Ok(())
    })?;
    let started = Instant::now();
    for _ in 0..n {
        increment(&q, &mut x, 1)?;
    }
    let submitted = started.elapsed();
    drop(open);
    q.wait()?;
    let done = started.elapsed() - submitted;
    assert_eq!(x.to_vec()?, [n as u64 + 1]);
    Ok([submitted, done])
}

/// As [`outstanding`], with accesses to different elements of one page.
pub fn outstanding_in_one_page(n: usize) -> Result<Duration> {
    let rt = runtime()?;
    let q = rt.queue_on("cpu:0")?;
    let mut x = rt.buffer_with::<u64, 1>([n], BufferOptions::new().page([n]))?;
    let (open, gate) = mpsc::channel::<()>();
    q.submit(|cg| {
        let x = cg.read_write(&mut x);
        cg.host_task(x, move |_| gate.recv().map_or((), |()| ()));
        Ok(())
    })?;
    let started = Instant::now();
    for at in 0..n {
        q.submit(|cg| {
            let x = cg.read_write(x.slice_mut([at], [1])?);
            cg.host_kernel([1], x, |i, mut x| x[i] += 1);
            Ok(())
        })?;
    }
    let submitted = started.elapsed();
    drop(open);
    q.wait()?;
    assert!(x.to_vec()?.iter().all(|x| *x == 1));
    Ok(submitted)
}
