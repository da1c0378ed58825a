//! Too little memory: chunks that are four times what the device has room for go through it.
//!
//! By hand, two pieces of the device's memory take turns: one is uploaded while the other is used.
//! The chunks are in page-locked memory on both sides, or in pageable memory on both.

use super::transfer::HostMemory;
use crate::bench::{Bench, Case, Pair, Side, Site, Workload, read, side};
use crate::error::{Error, Result};
use crate::hand::{Arg, Call, End, Hand, Memory, Native, Rows};
use crate::record::Work;
use folio::memory::{Evict, Links};
use folio::prelude::*;
use std::sync::Arc;

/// The workload.
pub struct Pressure;

const CHUNKS: usize = 16;
/// Chunks that the device has room for, and one for the sum.
const ROOM: u64 = 4;
const UP: usize = 1;

#[kernel]
fn add(i: Item, x: In<f32>, sum: InOut<f32>) {
    sum[i] = 0.5 * sum[i] + x[i];
}

const TEXT: &str = "
KERNEL add(uint n, GLOBAL const float *RESTRICT x, GLOBAL float *RESTRICT sum) {
    WITHIN(X, n);
    sum[X] = 0.5f * sum[X] + x[X];
}
";

impl Workload for Pressure {
    fn name(&self) -> &'static str {
        "pressure"
    }

    fn about(&self) -> &'static str {
        "16 chunks go through a device with room for 4: earlier copies give way to later ones"
    }

    fn unit(&self) -> &'static str {
        "f32 a chunk"
    }

    fn modes(&self) -> &'static [&'static str] {
        &["page-locked", "pageable"]
    }

    fn sizes(&self, _: &str, site: Site) -> Vec<usize> {
        site.powers(&[16, 12, 20], &[22, 20, 24], 1, 2)
    }

    fn prepare(&self, bench: &Bench, case: Case) -> Result<Pair> {
        let Hand::Native(native) = &bench.hand else {
            return Err(Error::NotHere("the device computes in the host's memory".to_owned()));
        };
        let bytes = (4 * case.size * CHUNKS) as f64;
        let work =
            Work { upload: bytes, bytes: 3.0 * bytes, launches: CHUNKS as f64, ..Work::default() };
        let chunks: Vec<Vec<f32>> =
            (0..CHUNKS).map(|at| bench.floats(case.size, at as u64)).collect();
        let is_locked = case.mode == "page-locked";
        let ours = ours(bench, &chunks, is_locked)?;
        Ok(bench.pair(work, ours, driver(native, chunks, is_locked)?))
    }
}

/// In a runtime of its own, which has the budget.
fn ours(bench: &Bench, chunks: &[Vec<f32>], is_locked: bool) -> Result<Side> {
    let n = chunks[0].len();
    let name = bench.device.name();
    // A link's memory is the host's, too: nothing would be copied.
    let builder = folio::builder()?.keep_twins().links(Links::Off);
    let rt = builder.budget(name, (ROOM + 1) * 4 * n as u64).build()?;
    let q = rt.queue_on(name)?;
    let device = q.device();
    let options = || {
        let options = BufferOptions::new().evict(Evict::clean());
        if is_locked { options.page_locked(&device) } else { options }
    };
    let of = |values: &Vec<f32>| rt.buffer_with((values.as_slice(), n), options());
    let chunks = chunks.iter().map(of).collect::<folio::Result<Vec<Buffer<f32>>>>()?;
    let sum = rt.buffer::<f32, 1>(n)?.into_shared();
    let told = sum.clone();
    let run = move |times| {
        for _ in 0..times {
            for chunk in &chunks {
                q.run(n, add(chunk, &sum))?;
            }
        }
        Ok(q.wait()?)
    };
    // The runtime lives as long as the row.
    Ok(side(
        run,
        Box::new(move || {
            Ok({
                let _ = &rt;
                told.to_vec()?
            }
            .into())
        }),
    ))
}

fn driver(native: &Arc<dyn Native>, chunks: Vec<Vec<f32>>, is_locked: bool) -> Result<Side> {
    let n = chunks[0].len();
    let zeros = vec![0.0f32; n];
    let sum = Arc::new(Memory::of(native, &zeros)?);
    let make = || Memory::of(native, &zeros).map(Arc::new);
    let pieces = [make()?, make()?];
    let first = Call::new(native, (TEXT, "add"), [n], args(n, &pieces[0], &sum))?;
    let calls = [first.clone(), first.with(args(n, &pieces[1], &sum))];
    let of = |values| HostMemory::of(native, values, is_locked);
    let chunks = chunks.into_iter().map(of).collect::<Result<Vec<HostMemory>>>()?;
    let (native, tell) = (native.clone(), read::<f32>(&sum, n));
    let run = move |times| {
        let mut used = [None; 2];
        for at in 0..times * CHUNKS {
            let (chunk, piece) = (&chunks[at % CHUNKS], at % 2);
            if let Some(event) = used[piece].take() {
                native.wait(UP, event)?;
                native.forget(event);
            }
            let rows = Rows { offset: 0, pitch: 4 * n };
            let to = (End::Device(pieces[piece].place), rows);
            let from = (End::Host(chunk.at.cast()), rows);
            // SAFETY: both have so many bytes, and the chunk outlives the run.
            unsafe { native.copy(UP, to, from, [1, 4 * n]) }?;
            let there = native.record(UP)?;
            native.wait(0, there)?;
            native.forget(there);
            native.launch(0, &calls[piece])?;
            used[piece] = Some(native.record(0)?);
        }
        used.into_iter().flatten().for_each(|event| native.forget(event));
        native.finish(UP)?;
        native.finish(0)
    };
    Ok(side(run, tell))
}

fn args(n: usize, chunk: &Arc<Memory>, sum: &Arc<Memory>) -> [Arg; 3] {
    [n.into(), Arg::from(chunk), Arg::from(sum)]
}
