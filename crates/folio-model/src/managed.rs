//! Random programs of managed pointers, beside a sequential model that says where each pointer is
//! accessible and what it holds.
//!
//! A program and its model run step by step. The right answer of a call is known when it is made: a
//! move that is under way counts for what is submitted after it. Only whether the host has access
//! is asked after a wait.

use crate::rng::Rng;
use folio::managed::{Channel, Stream};
use folio::prelude::*;
use folio_core::{
    Error, RuntimeBuilder,
    managed::{Executor, HostExecutor, ManagedFuture, ManagedPtr},
};
use std::time::{Duration, Instant};

const MODULUS: i64 = 1_000_003;
const STEPS: usize = 40;
/// How long memory may take to be free.
const PATIENCE: Duration = Duration::from_secs(20);

#[kernel]
fn adds(i: Item, n: i64, x: InOut<i64>) {
    x[i] += n;
}

#[kernel]
fn mixes(i: Item, x: In<i64>, y: InOut<i64>) {
    y[i] = (y[i] * 3 + x[i]) % 1_000_003;
}

#[kernel]
fn replaces(i: Item, x: In<i64>, y: Out<i64>) {
    y[i] = x[i] + 1;
}

/// A pointer, and what it must be.
struct Pointer {
    handle: ManagedPtr<i64>,
    values: Vec<i64>,
    /// The memory in which it is accessible: that of the executor with this number, 0 the host's.
    at: usize,
    /// Of the latest call that may have moved it.
    last: Option<ManagedFuture>,
}

/// A program that runs.
struct Run {
    rng: Rng,
    rt: Runtime,
    host: HostExecutor,
    executors: Vec<Executor>,
    /// The memory of each executor.
    memories: Vec<usize>,
    pointers: Vec<Pointer>,
    /// Futures of calls that end well.
    futures: Vec<ManagedFuture>,
    len: usize,
    /// The model has a mistake, which must be found.
    mistaken: bool,
}

type Outcome = Result<(), String>;

macro_rules! ensure {
    ($ok:expr, $($why:tt)+) => {
        if !$ok {
            return Err(format!($($why)+));
        }
    };
}

/// Fails unless a result is this error.
macro_rules! refused {
    ($result:expr, $error:ident) => {
        match $result {
            Err(Error::$error { .. }) => {}
            other => {
                return Err(format!(
                    "{} gave {other:?}, not {}",
                    stringify!($result),
                    stringify!($error)
                ))
            }
        }
    };
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

/// Runs the program of a seed; an error is how it and its model differ.
pub fn case(seed: u64, builder: RuntimeBuilder) -> Outcome {
    run(seed, builder, false)
}

/// As [`case`], with a model that forgets one addition in some programs.
pub fn mistaken(seed: u64, builder: RuntimeBuilder) -> Outcome {
    run(seed, builder, true)
}

fn run(seed: u64, builder: RuntimeBuilder, mistaken: bool) -> Outcome {
    let mut rng = Rng::new(seed);
    let rt = builder.build().map_err(text)?;
    let host = rt.host_executor().map_err(text)?;
    let executors: Vec<Executor> =
        rt.devices().iter().map(|d| rt.executor(d)).collect::<Result<_, _>>().map_err(text)?;
    let memory = |executor: &Executor| {
        let same = |other: &Executor| executor.shares_memory_with(other);
        let first = || executors.iter().position(same).map_or(0, |at| at + 1);
        if executor.shares_memory_with(&host) { 0 } else { first() }
    };
    let memories = executors.iter().map(memory).collect();
    let len = rng.within(1, 300);
    let (pointers, futures) = (Vec::new(), Vec::new());
    let mut run = Run { rng, rt, host, executors, memories, pointers, futures, len, mistaken };
    for step in 0..STEPS {
        run.step().map_err(|why| format!("seed {seed}, step {step}: {why}"))?;
    }
    run.end().map_err(|why| format!("seed {seed}, at the end: {why}"))
}

impl Run {
    fn step(&mut self) -> Outcome {
        if self.pointers.len() < 2 || self.rng.chance(3) {
            return self.make();
        }
        match self.rng.below(14) {
            0 => self.put(),
            1 => self.get(),
            2 | 3 => self.add(),
            4 => self.mix(),
            5 => self.task(),
            6 => self.read(),
            7 => self.write(),
            8 => self.on_a_queue(),
            9 => self.fail(),
            10 => self.without_memory(),
            11 => self.send(),
            12 => self.stream(),
            _ => self.held(),
        }?;
        if self.rng.chance(20) {
            let at = self.rng.below(self.pointers.len());
            self.look(at)?;
        }
        self.futures.truncate(6);
        Ok(())
    }

    /// A new pointer, maybe in place of another one, whose work may be under way.
    fn make(&mut self) -> Outcome {
        let values: Vec<i64> = (0..self.len).map(|_| self.rng.below(1000) as i64).collect();
        let page = self.rng.within(1, self.len);
        let options = BufferOptions::new().page([page]);
        let executor = self.rng.below(self.executors.len());
        let (made, values, at) = match self.rng.below(4) {
            0 => (self.rt.managed(self.len), vec![0; self.len], 0),
            1 => {
                let allocator = self.executors[executor].allocator();
                let made = self.rt.managed_in(&allocator, self.len);
                (made, vec![0; self.len], self.memories[executor])
            }
            2 => (self.rt.managed_with(values.clone(), options), values, 0),
            _ => {
                let shared: std::sync::Arc<[i64]> = values.clone().into();
                (self.rt.managed_from(shared), values, 0)
            }
        };
        let pointer = Pointer { handle: made.map_err(text)?, values, at, last: None };
        if self.pointers.len() < 4 {
            self.pointers.push(pointer);
        } else {
            let at = self.rng.below(4);
            self.pointers[at] = pointer;
        }
        Ok(())
    }

    /// Some executor, a pointer, and another one.
    fn pick(&mut self) -> (usize, usize, usize) {
        let n = self.pointers.len();
        let (e, a) = (self.rng.below(self.executors.len()), self.rng.below(n));
        (e, a, (a + 1 + self.rng.below(n - 1)) % n)
    }

    /// A future to continue, sometimes.
    fn before(&mut self) -> Option<ManagedFuture> {
        let n = self.futures.len();
        (n > 0 && self.rng.chance(40)).then(|| self.futures[self.rng.below(n)].clone())
    }

    /// A call has moved a pointer to a memory.
    fn moved(&mut self, pointer: usize, at: usize, by: &ManagedFuture) {
        self.pointers[pointer].at = at;
        self.pointers[pointer].last = Some(by.clone());
        if self.rng.chance(50) {
            self.futures.insert(0, by.clone());
        }
    }

    fn put(&mut self) -> Outcome {
        let (e, a, b) = self.pick();
        let (executor, at) = (self.executors[e].clone(), self.memories[e]);
        let [x, y] = [a, b].map(|p| self.pointers[p].handle.clone());
        let done = match (self.before(), self.rng.chance(50)) {
            (Some(before), true) => before.then_put(&executor, (&x, &y)),
            (Some(before), false) => executor.then_put(&before, [&x, &y]),
            (None, true) => executor.put((&x, &y)),
            (None, false) => folio::managed::put(&executor, [&x, &y]),
        };
        done.event().map_err(text)?;
        self.moved(a, at, &done);
        self.moved(b, at, &done);
        Ok(())
    }

    fn get(&mut self) -> Outcome {
        let (e, a, _) = self.pick();
        let (executor, x) = (self.executors[e].clone(), self.pointers[a].handle.clone());
        let done = match self.before() {
            Some(before) => before.then_get(&executor, &x),
            None if self.rng.chance(50) => x.get(),
            None => executor.get(&x),
        };
        done.event().map_err(text)?;
        self.moved(a, 0, &done);
        Ok(())
    }

    fn add(&mut self) -> Outcome {
        let (e, a, _) = self.pick();
        let (executor, x) = (self.executors[e].clone(), self.pointers[a].handle.clone());
        let n = self.rng.below(100) as i64;
        let done = match self.before() {
            Some(before) => before.then_async(&executor, self.len, adds(n, &x)),
            None => executor.run(self.len, adds(n, &x)),
        };
        done.event().map_err(text)?;
        if !self.mistaken {
            self.pointers[a].values.iter_mut().for_each(|v| *v += n);
        }
        self.moved(a, self.memories[e], &done);
        Ok(())
    }

    fn mix(&mut self) -> Outcome {
        let (e, a, b) = self.pick();
        let executor = self.executors[e].clone();
        let [x, y] = [a, b].map(|p| self.pointers[p].handle.clone());
        let replace = self.rng.chance(40);
        let done = match replace {
            true => executor.run(self.len, replaces(&x, &y)),
            false => executor.run(self.len, mixes(&x, &y)),
        };
        done.event().map_err(text)?;
        let from = self.pointers[a].values.clone();
        for (y, x) in self.pointers[b].values.iter_mut().zip(from) {
            *y = if replace { x + 1 } else { (*y * 3 + x) % MODULUS };
        }
        self.moved(a, self.memories[e], &done);
        self.moved(b, self.memories[e], &done);
        Ok(())
    }

    fn task(&mut self) -> Outcome {
        let (_, a, b) = self.pick();
        let [x, y] = [a, b].map(|p| self.pointers[p].handle.clone());
        let done = self.host.run((&x, &y), |(mut x, y)| {
            x.iter_mut().zip(y.iter()).for_each(|(x, y)| *x = (*x * 5 + y) % MODULUS);
        });
        let from = self.pointers[b].values.clone();
        for (x, y) in self.pointers[a].values.iter_mut().zip(from) {
            *x = (*x * 5 + y) % MODULUS;
        }
        self.moved(a, 0, &done);
        self.moved(b, 0, &done);
        Ok(())
    }

    /// Waits for what moves a pointer; then all that can be asked of it is as in the model.
    fn look(&mut self, at: usize) -> Outcome {
        let Pointer { handle, values, at, last } = &self.pointers[at];
        if let Some(last) = last {
            last.wait().map_err(text)?;
        }
        ensure!(handle.is_accessible() == (*at == 0), "it is in memory {at}, and the host differs");
        for (executor, memory) in self.executors.iter().zip(&self.memories) {
            let there = handle.is_accessible_on(executor);
            ensure!(there == (memory == at), "in memory {at}, and {executor:?} says {there}");
        }
        if *at != 0 {
            refused!(handle.read(), Inaccessible);
            refused!(handle.write(), Inaccessible);
            return Ok(());
        }
        let seen = handle.read().map_err(text)?;
        ensure!(seen[..] == values[..], "it holds {:?}, not {values:?}", &seen[..]);
        Ok(())
    }

    fn read(&mut self) -> Outcome {
        let (_, a, b) = self.pick();
        if self.pointers[a].at != 0 {
            refused!(self.pointers[a].handle.to_vec(), Inaccessible);
        }
        self.look(a)?;
        self.look(b)
    }

    fn write(&mut self) -> Outcome {
        let (_, a, _) = self.pick();
        self.look(a)?;
        let Pointer { handle, values, at, .. } = &mut self.pointers[a];
        if *at != 0 {
            refused!(handle.discard(), Inaccessible);
            return Ok(());
        }
        let (place, value) = (self.rng.below(self.len), self.rng.below(1000) as i64);
        handle.write().map_err(text)?[place] = value;
        values[place] = value;
        Ok(())
    }

    /// A command of a plain queue: where the pointer is, or refused.
    fn on_a_queue(&mut self) -> Outcome {
        let (e, a, _) = self.pick();
        let (x, q) = (self.pointers[a].handle.clone(), self.executors[e].queue().clone());
        let ran = q.run(self.len, adds(7, &x));
        if self.pointers[a].at != self.memories[e] {
            refused!(ran, Inaccessible);
            return Ok(());
        }
        ran.map_err(text)?;
        self.pointers[a].values.iter_mut().for_each(|v| *v += 7);
        Ok(())
    }

    /// Moves after what fails: nothing moves.
    fn fail(&mut self) -> Outcome {
        let (e, a, b) = self.pick();
        let executor = self.executors[e].clone();
        let [x, y] = [a, b].map(|p| self.pointers[p].handle.clone());
        let failed = self.host.run((), |()| Err::<(), _>("on purpose"));
        let put = failed.then_put(&executor, &x);
        let next = put.clone().then_get(&executor, (&x, &y));
        refused!(next.wait(), Failed);
        refused!(put.wait(), Failed);
        self.look(a)?;
        self.look(b)
    }

    /// A move without memory for it: it fails as a whole, or needs none.
    fn without_memory(&mut self) -> Outcome {
        let (e, a, b) = self.pick();
        let (executor, memory) = (self.executors[e].clone(), self.memories[e]);
        if memory == 0 {
            return Ok(());
        }
        let [x, y] = [a, b].map(|p| self.pointers[p].handle.clone());
        let device = executor.device();
        let (limit, _) = device.budget();
        device.set_budget(0);
        let done = match self.rng.chance(50) {
            true => executor.put((&x, &y)),
            false => executor.run(self.len, adds(0, &x)),
        };
        let both = done.wait().is_ok();
        device.set_budget(limit);
        match done.event() {
            Err(Error::OutOfMemory { .. }) => {}
            Err(other) => return Err(format!("{other}, not out of memory")),
            Ok(_) => ensure!(both, "it failed in another way"),
        }
        if both {
            self.moved(a, memory, &done);
            // Only a put has moved both.
            self.pointers[b].at =
                if y.is_accessible_on(&executor) { memory } else { self.pointers[b].at };
        }
        self.look(a)?;
        self.look(b)
    }

    fn send(&mut self) -> Outcome {
        let (e, a, _) = self.pick();
        let to = self.rng.below(self.executors.len());
        let (from, to_executor) = (self.executors[e].clone(), self.executors[to].clone());
        let x = self.pointers[a].handle.clone();
        let done = Channel::new(&from, &to_executor).send(&x);
        if self.pointers[a].at != self.memories[e] {
            refused!(done.wait(), Inaccessible);
            return self.look(a);
        }
        done.event().map_err(text)?;
        self.moved(a, self.memories[to], &done);
        Ok(())
    }

    fn stream(&mut self) -> Outcome {
        let (e, a, _) = self.pick();
        let (executor, x) = (self.executors[e].clone(), self.pointers[a].handle.clone());
        let chunk = self.rng.within(1, 2000);
        if self.rng.chance(50) {
            let values: Vec<i64> = (0..self.len).map(|_| self.rng.below(1000) as i64).collect();
            let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_ne_bytes()).collect();
            let stream = Stream(&bytes[..]);
            let done = Channel::new(stream, &executor).chunk_bytes(chunk).send(&x);
            done.event().map_err(text)?;
            self.pointers[a].values = values;
            self.moved(a, self.memories[e], &done);
            return Ok(());
        }
        let mut out = Vec::new();
        let sent = Channel::new(&executor, Stream(&mut out)).chunk_bytes(chunk).send(&x);
        if self.pointers[a].at != self.memories[e] {
            refused!(sent, Inaccessible);
            return Ok(());
        }
        sent.map_err(text)?;
        let values: Vec<u8> =
            self.pointers[a].values.iter().flat_map(|v| v.to_ne_bytes()).collect();
        ensure!(out == values, "the stream has other bytes");
        Ok(())
    }

    /// A move while the host holds the pointer.
    fn held(&mut self) -> Outcome {
        let (e, a, _) = self.pick();
        self.look(a)?;
        let (executor, memory) = (self.executors[e].clone(), self.memories[e]);
        if self.pointers[a].at != 0 {
            return Ok(());
        }
        let x = self.pointers[a].handle.clone();
        let guard = x.read().map_err(text)?;
        let done = executor.put(&x);
        if memory == 0 {
            done.wait().map_err(text)?;
        } else {
            refused!(done.wait(), HostAccessHeld);
        }
        drop(guard);
        self.look(a)
    }

    /// Everything comes home, and leaves nothing.
    fn end(mut self) -> Outcome {
        for at in 0..self.pointers.len() {
            let done = self.pointers[at].handle.get();
            self.moved(at, 0, &done);
        }
        for at in 0..self.pointers.len() {
            self.look(at)?;
        }
        self.rt.wait().map_err(text)?;
        self.pointers.clear();
        let until = Instant::now() + PATIENCE;
        let devices = self.rt.devices();
        let away = |(_, memory): &(_, &usize)| **memory != 0;
        for (device, _) in devices.iter().zip(&self.memories).filter(away) {
            while device.budget().1 > 0 {
                ensure!(Instant::now() < until, "{device:?} still has {} bytes", device.budget().1);
                std::thread::yield_now();
            }
        }
        Ok(())
    }
}
