//! Host tasks: closures in the middle of the graph, their errors, and events as futures.
#![forbid(unsafe_code)]

use std::error::Error;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;

const N: usize = 1000;

/// The smallest executor: any other one does as well.
fn block_on<F: Future>(future: F) -> F::Output {
    struct Unpark(Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(output) => return output,
            Poll::Pending => std::thread::park(),
        }
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    // The handler is told of each failure once, wherever else it shows.
    let rt = folio::builder()?.on_failure(|failure| println!("handler: {failure}")).build()?;
    // Kernels that are closures run on the CPU.
    let q = rt.queue_on("cpu:0")?;
    let mut x = rt.buffer::<u64, 1>(N)?;
    let mut sum = rt.buffer::<u64, 1>(1)?;

    // Kernel, host task, kernel. The accesses say in which order.
    q.submit(|cg| {
        let x = cg.discard(&mut x);
        cg.host_kernel([N], x, |i, mut x| x.put(i, i.index() as u64));
        Ok(())
    })?;
    let summed = q.submit(|cg| {
        cg.label("sum");
        let (x, sum) = (cg.read(&x), cg.discard(&mut sum));
        // Runs on a thread of its own, with the data in the host's memory; it may block.
        cg.host_task((x, sum), |(x, mut sum)| sum[0] = x.iter().sum());
        Ok(())
    })?;
    q.submit(|cg| {
        let (sum, x) = (cg.read(&sum), cg.read_write(&mut x));
        cg.host_kernel([N], (sum, x), |i, (sum, mut x)| x[i] += sum[0]);
        Ok(())
    })?;

    // An event is a future, and so is a read.
    let total = (N * (N - 1) / 2) as u64;
    block_on(async {
        summed.await?;
        let values = x.read_async()?.await?;
        println!("sum {total}; x[1] is {}", values[1]);
        if values[1] == total + 1 { Ok(()) } else { Err(Box::<dyn Error>::from("wrong sum")) }
    })?;

    // A task that fails: what depends on it fails with it, all else goes on.
    let mut y = rt.buffer::<u64, 1>(N)?;
    let failed = q.submit(|cg| {
        cg.label("parse");
        let y = cg.write(&mut y);
        cg.host_task(y, |mut y| {
            y[0] = "forty-two".parse()?;
            Ok::<(), std::num::ParseIntError>(())
        });
        Ok(())
    })?;
    let dependent = q.submit(|cg| {
        let y = cg.read_write(&mut y);
        cg.host_kernel([N], y, |i, mut y| y[i] += 1);
        Ok(())
    })?;
    let unrelated = q.submit(|cg| {
        let x = cg.read_write(&mut x);
        cg.host_kernel([N], x, |i, mut x| x[i] = 0);
        Ok(())
    })?;
    unrelated.wait()?;
    for event in [&failed, &dependent] {
        match event.wait() {
            Err(folio::Error::Failed(failure)) if failure.label() == "parse" => {}
            other => return Err(format!("expected the failure of `parse`, found {other:?}").into()),
        }
    }
    // A queue gives each root failure once, then is well again.
    println!("queue: {}", q.wait().err().ok_or("the failure is lost")?);
    q.wait()?;
    // The failed task's output cannot be read, until it is written anew.
    println!("read:  {}", y.read().err().ok_or("failed data was shown")?);
    q.submit(|cg| {
        cg.fill(&mut y, 5);
        Ok(())
    })?;
    if y.to_vec()? != [5; N] || x.to_vec()? != [0; N] {
        return Err("the rest should have gone on".into());
    }
    println!("overwritten, it reads as {} again", y.read()?[0]);
    Ok(())
}
