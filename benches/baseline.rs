//! Hand-written equivalents: what somebody would write who knows everything beforehand.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Barrier, Mutex};
use std::time::{Duration, Instant};

type Task = Box<dyn FnOnce() + Send>;

/// Tasks in order, behind a lock, with a counter of those that have ended. No data tracking.
#[derive(Default)]
pub struct Fifo {
    tasks: Mutex<VecDeque<Task>>,
    done: AtomicU64,
}

impl Fifo {
    fn lock(&self) -> std::sync::MutexGuard<'_, VecDeque<Task>> {
        self.tasks.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Queues a task, and runs what is queued.
    pub fn submit(&self, task: impl FnOnce() + Send + 'static) {
        self.push(task);
        self.run();
    }

    /// Queues a task.
    pub fn push(&self, task: impl FnOnce() + Send + 'static) {
        self.lock().push_back(Box::new(task));
    }

    /// Runs what is queued.
    pub fn run(&self) {
        loop {
            let next = self.lock().pop_front();
            let Some(task) = next else { return };
            task();
            self.done.fetch_add(1, Ordering::Release);
        }
    }

    /// Tasks that have ended.
    pub fn done(&self) -> u64 {
        self.done.load(Ordering::Acquire)
    }
}

/// Elements that tasks own in turn.
#[derive(Clone, Copy)]
struct Cells(*mut u64);
// SAFETY: the fifo runs one task at a time, and whoever made the cells outlives it.
unsafe impl Send for Cells {}

impl Cells {
    fn increment(self, range: usize) {
        for i in 0..range {
            // SAFETY: the callers below give a range inside their vector, which lives until the
            // fifo is empty.
            unsafe { *self.0.add(i) += 1 };
        }
    }
}

/// `n` dependent increments of `range` elements through a fifo.
pub fn fifo_chain(n: usize, range: usize) -> Duration {
    let fifo = Fifo::default();
    let mut cells = vec![0u64; range];
    let at = Cells(cells.as_mut_ptr());
    let started = Instant::now();
    for _ in 0..n {
        fifo.submit(move || at.increment(range));
    }
    let time = started.elapsed();
    assert_eq!((fifo.done(), cells[range - 1]), (n as u64, n as u64));
    time
}

/// `n` increments by each of so many threads, each through a fifo of its own.
pub fn fifo_threads(n: usize, count: usize) -> Duration {
    let start = Barrier::new(count + 1);
    std::thread::scope(|scope| {
        for _ in 0..count {
            scope.spawn(|| {
                start.wait();
                fifo_chain(n, 1)
            });
        }
        start.wait();
        // Until all have ended.
        Instant::now()
    })
    .elapsed()
}

/// As [`fifo_chain`], with everything queued first: the time of queueing.
pub fn fifo_outstanding(n: usize) -> Duration {
    let fifo = Fifo::default();
    let mut cells = vec![0u64; 1];
    let at = Cells(cells.as_mut_ptr());
    let started = Instant::now();
    for _ in 0..n {
        fifo.push(move || at.increment(1));
    }
    let time = started.elapsed();
    fifo.run();
    assert_eq!(cells[0], n as u64);
    time
}

/// `n` tasks of a rayon pool, each of which spawns the next one.
pub fn rayon_chain(n: usize) -> Duration {
    fn next<'s>(scope: &rayon::Scope<'s>, left: usize, cell: &'s AtomicU64) {
        if left > 0 {
            cell.store(cell.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
            scope.spawn(move |scope| next(scope, left - 1, cell));
        }
    }
    let cell = AtomicU64::new(0);
    let started = Instant::now();
    rayon::scope(|scope| next(scope, n, &cell));
    let time = started.elapsed();
    assert_eq!(cell.into_inner(), n as u64);
    time
}

/// `n` increments of one cell after the other, each of which looks up and replaces the last writer
/// of its page in a plain array.
pub fn page_array(n: usize, pages: usize) -> Duration {
    let mut writers = vec![0u64; pages];
    let mut cells = vec![0u32; pages];
    let mut waited = 0;
    let started = Instant::now();
    for i in 0..n {
        let at = crate::pages::scatter(i, pages);
        waited += u64::from(writers[at] != 0);
        writers[at] = i as u64 + 1;
        cells[at] += 1;
    }
    let time = started.elapsed();
    assert!(cells.iter().map(|c| u64::from(*c)).sum::<u64>() == n as u64 && waited <= n as u64);
    time
}
