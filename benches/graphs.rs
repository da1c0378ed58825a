//! The cost of graphs of tiny tasks, on the CPU backend with one domain: making them, and running
//! them.

use crate::submit::{increments, runtime};
use folio::prelude::{InOut, Item, kernel};
use folio_core::{Graph, Queue, Result, Runtime, Shared};
use std::time::{Duration, Instant};

/// Buffers, which tasks take in turn: as many chains.
const BUFFERS: usize = 8;

/// Increases each element.
#[kernel]
fn increases(i: Item, by: u64, x: InOut<u64>) {
    x[i] += by;
}

/// Tasks of one item, each an increment.
pub struct Tasks {
    rt: Runtime,
    q: Queue,
    graph: Graph,
    all: Vec<Shared<u64>>,
    count: usize,
}

impl Tasks {
    /// A program of so many.
    pub fn new(count: usize) -> Result<Tasks> {
        let rt = runtime()?;
        let (q, graph) = (rt.queue_on("cpu:0")?, rt.graph("cpu:0")?);
        // One more than take turns in a block, for buffers that change.
        let all = (0..=BUFFERS).map(|_| Ok(rt.buffer::<u64, 1>(1)?.into_shared()));
        let all = all.collect::<Result<Vec<_>>>()?;
        let mut tasks = Tasks { rt, q, graph, all, count };
        tasks.record()?;
        Ok(tasks)
    }

    fn each(&self, q: &Queue) -> Result<()> {
        (0..self.count).try_for_each(|at| q.run(1, increments(&self.all[at % BUFFERS])).map(drop))
    }

    /// The same with a scalar, in this turn of a loop: the scalars of so many tasks, or the buffers
    /// of all, are others in each turn.
    fn turn(&self, q: &Queue, turn: usize, (scalars, buffers): (usize, bool)) -> Result<()> {
        (0..self.count).try_for_each(|at| {
            let by = if at < scalars { turn as u64 } else { 1 };
            let x = at % BUFFERS + if buffers { turn } else { 0 };
            q.run(1, increases(by, &self.all[x % self.all.len()])).map(drop)
        })
    }

    fn record(&mut self) -> Result<()> {
        let graph = self.rt.graph("cpu:0")?;
        let recording = graph.record([&self.q])?;
        self.each(&self.q)?;
        drop(recording);
        self.graph = graph;
        Ok(())
    }

    /// How long each of so many runs takes, all of the same way.
    pub fn runs(&mut self, way: &str, runs: usize) -> Result<Duration> {
        let made = self.graph.finalize()?;
        let started = Instant::now();
        let changing = |way: &str| match way {
            "scalar" => Some((1, false)),
            "scalars" => Some((self.count, false)),
            "buffers" => Some((0, true)),
            _ => None,
        };
        let (in_block, apart) = (changing(way), changing(way.trim_start_matches("one-")));
        for turn in 0..runs {
            match (way, in_block, apart) {
                (_, Some(what), _) => self.q.batch(|q| self.turn(q, turn, what)).map(drop)?,
                (_, _, Some(what)) => self.turn(&self.q, turn, what)?,
                ("batch", ..) => self.q.batch(|q| self.each(q)).map(drop)?,
                ("replay", ..) => self.q.run_graph(&made).map(drop)?,
                ("record", ..) => self.record()?,
                ("finalize", ..) => self.graph.finalize().map(drop)?,
                _ => self.each(&self.q)?,
            }
        }
        self.q.wait()?;
        let time = started.elapsed() / runs as u32;
        println!("{:?}", self.q.batch_report());
        Ok(time)
    }
}
