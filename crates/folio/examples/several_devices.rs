//! Several devices, and a queue that chooses among them.
//!
//! The builder makes the CPU act as three devices (`FOLIO_CPU_DOMAINS=3` does the same to a program
//! that uses `folio::runtime()`). Six buffers are written on the three devices. Then two queues
//! over all devices read them: one that goes where the data is, one that takes turns.
#![forbid(unsafe_code)]

use folio::cpu::CpuBackend;
use folio::prelude::*;
use folio::sched::{Candidate, Locality, RoundRobin, Scheduler, Task};
use std::error::Error;
use std::sync::{Arc, Mutex};

const BUFFERS: usize = 6;
const LEN: usize = 1 << 16;
const BYTES: u64 = (LEN * size_of::<u32>()) as u64;

/// A scheduler of our own: leaves the choice to another one and notes it.
struct Noted<S> {
    inner: S,
    choices: Arc<Mutex<Vec<String>>>,
}

impl<S: Scheduler> Scheduler for Noted<S> {
    fn choose(&self, task: &Task<'_>, candidates: &[Candidate<'_>]) -> usize {
        let choice = self.inner.choose(task, candidates);
        if let (Ok(mut choices), Some(chosen)) = (self.choices.lock(), candidates.get(choice)) {
            choices.push(chosen.name.to_owned());
        }
        choice
    }
}

/// Doubles each buffer, last one first, on a queue over all devices; says what that moved.
fn double(
    rt: &Runtime,
    buffers: &mut [Buffer<u32>],
    name: &str,
    scheduler: impl Scheduler + 'static,
) -> Result<u64, Box<dyn Error>> {
    let choices = Arc::new(Mutex::new(Vec::new()));
    let q = rt.queue_over(&[], Noted { inner: scheduler, choices: choices.clone() })?;
    for buffer in buffers.iter_mut().rev() {
        q.submit(|cg| {
            let x = cg.read_write(buffer);
            cg.host_kernel([LEN], x, |i, mut x| x[i] *= 2);
            Ok(())
        })?;
    }
    q.wait()?;
    let moved = q.counters().transfers();
    println!("{name}: ran on {:?}", choices.lock().map_err(|e| e.to_string())?);
    println!("{name}: moved {} bytes in {} copies", moved.bytes, moved.operations);
    Ok(moved.bytes)
}

fn main() -> Result<(), Box<dyn Error>> {
    let rt = Runtime::builder().backend(CpuBackend::builder().domains(3).build()?).build()?;
    let queues: Vec<Queue> =
        rt.devices().iter().map(|d| rt.queue_on(d)).collect::<Result<_, _>>()?;

    let mut buffers = Vec::new();
    for at in 0..BUFFERS {
        let mut buffer = rt.buffer::<u32, 1>(LEN)?;
        queues[at % queues.len()].submit(|cg| {
            let x = cg.discard(&mut buffer);
            cg.host_kernel([LEN], x, move |i, mut x| x.put(i, (at + i.index()) as u32));
            Ok(())
        })?;
        buffers.push(buffer);
    }
    println!("written on the devices: {} bytes moved", rt.counters().transfers().bytes);

    // Each kernel runs where its data is.
    if double(&rt, &mut buffers, "locality", Locality)? != 0 {
        return Err("nothing had to move".into());
    }
    // Last buffer first, devices in turn: of six buffers two meet their own device by chance.
    if double(&rt, &mut buffers, "in turn", RoundRobin)? != 4 * BYTES {
        return Err("four buffers had to move".into());
    }

    for (at, buffer) in buffers.iter().enumerate() {
        let values = buffer.read()?;
        if let Some(i) = (0..LEN).find(|&i| values[i] != 4 * (at + i) as u32) {
            return Err(format!("buffer {at}: element {i} is {}", values[i]).into());
        }
    }
    println!("all {BUFFERS} buffers are right");
    Ok(())
}
