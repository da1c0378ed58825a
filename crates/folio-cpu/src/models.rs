//! Loom models of how threads find work and sleep; those of rounds are in `crew`. Run with
//! `RUSTFLAGS="--cfg loom" cargo test -p folio-cpu --release --lib loom_`.
//!
//! What is not modelled: time, of which none passes (see `sync`), and the pool that starts threads.

use crate::bed::Bed;
use crate::rest::{Ready, Rest};
use crate::sync::{AtomicUsize, Ordering};
use folio_core::loom_model::check;
use loom::thread;
use std::sync::Arc;
use std::time::Duration;

#[test]
fn loom_a_sleeper_sees_a_word_or_is_woken() {
    check(Some(3), || {
        let all = Arc::new((Bed::default(), AtomicUsize::new(0)));
        let other = all.clone();
        let sleeper = thread::spawn(move || {
            let (bed, word) = &*other;
            while word.load(Ordering::SeqCst) < 2 {
                bed.sleep_unless(|| word.load(Ordering::SeqCst) == 2);
            }
        });
        let (bed, word) = &*all;
        (1..=2).for_each(|next| bed.rouse(|order| word.store(next, order)));
        sleeper.join().unwrap();
    });
}

/// Threads that take pieces of work: the ways of `pool`.
#[derive(Clone)]
struct Threads(Arc<(Rest, Ready<usize>, AtomicUsize)>);

impl Threads {
    fn new(asleep: usize) -> Threads {
        Threads(Arc::new((Rest::new(asleep), Ready::default(), AtomicUsize::new(0))))
    }

    /// Calls a thread, if there may be none awake.
    fn tell(&self) -> Option<thread::JoinHandle<()>> {
        let (rest, ..) = &*self.0;
        rest.tell();
        (!rest.has_sentinel() && rest.take_sleeper()).then(|| {
            let threads = self.clone();
            thread::spawn(move || threads.serve())
        })
    }

    fn bring(&self, work: usize) -> Option<thread::JoinHandle<()>> {
        self.0.1.push(work);
        self.tell()
    }

    /// Takes all work that is there, and falls asleep.
    fn serve(&self) {
        let (rest, ready, done) = &*self.0;
        loop {
            let seen = rest.news();
            if let Some(work) = ready.oldest() {
                let called = if ready.is_crowded() { self.tell() } else { None };
                done.fetch_add(work, Ordering::Relaxed);
                called.into_iter().for_each(|thread| thread.join().unwrap());
            } else if !rest.look(seen, Duration::ZERO, || ()) && rest.falls_asleep(seen) {
                return;
            }
        }
    }

    fn is_done(&self, work: usize) -> bool {
        let (_, ready, done) = &*self.0;
        ready.is_empty() && done.load(Ordering::Relaxed) == work
    }
}

/// A thread that is about to sleep, while work is brought.
#[test]
fn loom_work_finds_a_thread_that_falls_asleep() {
    check(Some(3), || {
        let threads = Threads::new(0);
        let other = threads.clone();
        let awake = thread::spawn(move || other.serve());
        let called = threads.bring(1);
        awake.join().unwrap();
        called.into_iter().for_each(|thread| thread.join().unwrap());
        assert!(threads.is_done(1));
    });
}

/// Two pieces of work, and a thread for one of them: it takes both.
#[test]
fn loom_work_that_two_threads_bring_is_taken() {
    check(Some(2), || {
        let threads = Threads::new(1);
        let other = threads.clone();
        let bringer = thread::spawn(move || other.bring(1));
        let called = threads.bring(2);
        let also_called = bringer.join().unwrap();
        for thread in called.into_iter().chain(also_called) {
            thread.join().unwrap();
        }
        assert!(threads.is_done(3));
    });
}
