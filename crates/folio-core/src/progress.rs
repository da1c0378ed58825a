//! A line on the terminal while drivers compile kernels: the first run of a program can be silent
//! for many seconds otherwise. A program asks for it ([`show_progress`]); nothing is shown before a
//! second has passed, and nothing where standard error is no terminal.
//!
//! A *phase* begins with the first compilation and ends when none has been under way for a moment.
//! It has a thread of its own, which writes the line.
//!
//! [`show_progress`]: crate::RuntimeBuilder::show_progress

use crate::notice;
use folio_kernel::words::{Plain, count, nanoseconds};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// A wait that is longer needs a reason.
const PATIENCE: Duration = Duration::from_secs(1);
/// Between two kernels of one phase.
const GAP: Duration = Duration::from_millis(500);
/// Between two lines.
const INTERVAL: Duration = Duration::from_millis(250);

/// A program has asked for it, and there is a terminal.
static SHOWN: AtomicBool = AtomicBool::new(false);
static PHASE: Mutex<Option<Phase>> = Mutex::new(None);

/// Shows progress from now on, in this process.
pub(crate) fn show() {
    if notice::has_terminal() && !notice::quiet() {
        SHOWN.store(true, Ordering::Relaxed);
    }
}

fn phase() -> MutexGuard<'static, Option<Phase>> {
    PHASE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Compilations that follow one another.
struct Phase {
    begun: Instant,
    /// By number: kernel and device.
    under_way: Vec<(u64, String, String)>,
    done: u64,
    last: Instant,
    /// A line has been written.
    written: bool,
}

impl Phase {
    fn new(now: Instant) -> Phase {
        Phase { begun: now, under_way: Vec::new(), done: 0, last: now, written: false }
    }

    fn is_over(&self, now: Instant) -> bool {
        self.under_way.is_empty() && now.saturating_duration_since(self.last) >= GAP
    }

    /// What is told now, if that is worth a line yet.
    fn line(&self, now: Instant) -> Option<String> {
        let time = now.saturating_duration_since(self.begun);
        let (_, kernel, device) = self.under_way.first().filter(|_| time >= PATIENCE)?;
        let more = match self.under_way.len() {
            1 => String::new(),
            all => format!(" and {} more", all - 1),
        };
        let (kernel, device) = (Plain(kernel), Plain(device));
        let (done, time) = (count(self.done, "kernel"), nanoseconds(time.as_nanos() as f64));
        Some(format!("compiling kernel `{kernel}`{more} for {device}; {done} compiled, {time}"))
    }

    /// What is told at the end, if something has been before.
    fn last_line(&self) -> Option<String> {
        let time = self.last.saturating_duration_since(self.begun).as_nanos() as f64;
        let done = count(self.done, "kernel");
        self.written.then(|| format!("{done} compiled in {}", nanoseconds(time)))
    }
}

/// A compilation that is under way, until this is dropped.
pub(crate) struct UnderWay(u64);

/// Notes a compilation, where progress is shown.
pub(crate) fn begin(device: &str, kernel: &str) -> Option<UnderWay> {
    if !SHOWN.load(Ordering::Relaxed) {
        return None;
    }
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let mut phase = phase();
    let begins = phase.is_none();
    let phase = phase.get_or_insert_with(|| Phase::new(Instant::now()));
    phase.under_way.push((number, kernel.to_owned(), device.to_owned()));
    if begins {
        // Without a thread there is no line.
        let _ = std::thread::Builder::new().name("folio progress".to_owned()).spawn(watch);
    }
    Some(UnderWay(number))
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        if let Some(phase) = &mut *phase() {
            phase.under_way.retain(|(number, ..)| *number != self.0);
            phase.done += 1;
            phase.last = Instant::now();
        }
    }
}

/// Writes lines until the phase is over.
fn watch() {
    loop {
        let now = Instant::now();
        let mut guard = phase();
        let Some(phase) = &mut *guard else { return };
        if phase.is_over(now) {
            let line = phase.last_line();
            *guard = None;
            drop(guard);
            return line.into_iter().for_each(|line| notice::write_over(&line, true));
        }
        let line = phase.line(now);
        phase.written |= line.is_some();
        drop(guard);
        line.into_iter().for_each(|line| notice::write_over(&line, false));
        std::thread::sleep(INTERVAL);
    }
}

#[cfg(all(test, not(loom), not(miri)))]
mod tests {
    use super::*;

    #[test]
    fn a_phase_is_told_after_a_second_and_ends_with_its_sum() {
        let begun = Instant::now();
        let at = |milliseconds| begun + Duration::from_millis(milliseconds);
        let mut phase = Phase::new(begun);
        let running = |number, kernel: &str| (number, kernel.to_owned(), "a device".to_owned());
        phase.under_way.push(running(0, "first"));
        assert_eq!(phase.line(at(999)), None);
        let line = "compiling kernel `first` for a device; 0 kernels compiled, 1 s";
        assert_eq!(phase.line(at(1000)).as_deref(), Some(line));
        assert_eq!(phase.last_line(), None, "nothing was written");
        (phase.written, phase.done) = (true, 1);
        phase.under_way.push(running(1, "b\u{1b}"));
        phase.under_way.remove(0);
        phase.under_way.push(running(2, "third"));
        let line = "compiling kernel `b\\u{1b}` and 1 more for a device; 1 kernel compiled, 2.4 s";
        assert_eq!(phase.line(at(2400)).as_deref(), Some(line));
        phase.under_way.clear();
        (phase.done, phase.last) = (3, at(12_400));
        assert!(!phase.is_over(at(12_400)) && phase.is_over(at(12_900)));
        assert_eq!(phase.line(at(12_500)), None);
        assert_eq!(phase.last_line().as_deref(), Some("3 kernels compiled in 12.4 s"));
    }
}
