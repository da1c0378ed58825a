//! A process ends while threads of its own are in calls of drivers, which take themselves down
//! then.
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

use folio::prelude::*;
use folio_core::hal::Backend;
use folio_cpu::CpuBackend;
use folio_model::on_each_driver;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

const ENDS: &str = "FOLIO_ENDS_AFTER";

#[kernel]
fn sum(i: Item, x: In<f32>, y: InOut<f32>) {
    y[i] += x[i];
}

/// Launches, reads and allocates for ever; says each time that it has done so.
fn works(rt: &Runtime, turn: usize, done: &Sender<usize>) -> folio::Result<()> {
    let q = rt.queue()?;
    let x = rt.buffer_from(&[1.0f32; 1000])?;
    let mut y = rt.buffer_from(&[1.0f32; 1000])?;
    loop {
        for _ in 0..20 {
            q.run(1000, sum(&x, &mut y))?;
        }
        match turn % 3 {
            0 => q.wait()?,
            1 => drop(y.to_vec()?),
            _ => {
                let (more, mut z) = (rt.buffer_from(&[1.0f32; 5000])?, rt.buffer::<f32, 1>(5000)?);
                q.run(5000, sum(&more, &mut z))?;
            }
        }
        let _ = done.send(turn);
    }
}

/// The process that ends, as it would without the threads.
fn ends(rt: &Runtime, after: Duration) {
    let (say, hear) = channel();
    let threads = [0, 1, 2].map(|turn| {
        let (rt, say) = (rt.clone(), say.clone());
        thread::spawn(move || works(&rt, turn, &say))
    });
    // Each thread has done it twice: with a cold cache of Mesa's, a process that ends soon after
    // its first launches crashes in lavapipe (docs/drivers.md).
    let mut times = [0; 3];
    while times.iter().any(|times| *times < 2) {
        times[hear.recv_timeout(Duration::from_secs(60)).unwrap()] += 1;
    }
    thread::sleep(after);
    assert!(threads.iter().all(|thread| !thread.is_finished()));
    println!("{ENDS}");
}

fn ends_beside_calls<B: Backend + 'static>(test: &str, backend: impl Fn() -> B) {
    if let Some(after) = std::env::var(ENDS).ok().and_then(|text| text.parse().ok()) {
        let rt = Runtime::builder().backend(backend()).build().unwrap();
        return ends(&rt, Duration::from_millis(after));
    }
    for after in [1, 5, 20, 40, 60, 150] {
        let mut own = Command::new(std::env::current_exe().unwrap());
        let name = format!("ends::{test}");
        own.args([&name, "--exact", "--nocapture"]).env(ENDS, after.to_string());
        let mut child = own.stdout(Stdio::piped()).spawn().unwrap();
        let mut said = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
        assert!(said.any(|line| line.contains(ENDS)), "after {after} ms: {:?}", child.wait());
        let begun = Instant::now();
        assert!(said.any(|line| line.contains("1 passed")));
        let status = child.wait().unwrap();
        assert!(status.success(), "after {after} ms: {status}");
        assert!(begun.elapsed() < Duration::from_secs(4), "after {after} ms: it waits");
    }
}

#[test]
fn cpu_ends_beside_calls() {
    ends_beside_calls("cpu_ends_beside_calls", || CpuBackend::new().unwrap());
}

on_each_driver! {
    #[test]
    fn a_driver_ends_beside_calls(driver) {
        let test = format!("a_driver_ends_beside_calls::{}", driver.name);
        ends_beside_calls(&test, driver.plain);
    }
}
