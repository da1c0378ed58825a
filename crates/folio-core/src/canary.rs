//! Canaries, for tests: values that stand for a program's, and note when they are used or dropped
//! on a thread that holds a lock of the engine's. Code of the program's may use the runtime, and
//! would wait for that lock for ever.
//!
//! A note and not a panic: most such code runs where the engine contains panics.

use crate::sync::locks_held;
use std::backtrace::Backtrace;
use std::error::Error;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Wake;

/// More notes say nothing new.
const MOST: usize = 4;

static NOTES: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// A value that stands for one of a program's.
#[derive(Debug)]
pub struct Canary(&'static str);

impl Canary {
    /// `what` says what it stands for.
    pub const fn new(what: &'static str) -> Canary {
        Canary(what)
    }

    /// Code of the program's runs.
    pub fn runs(&self) {
        note(self.0, "runs");
    }
}

impl Clone for Canary {
    fn clone(&self) -> Canary {
        note(self.0, "is cloned");
        Canary(self.0)
    }
}

impl Drop for Canary {
    fn drop(&mut self) {
        note(self.0, "is dropped");
    }
}

impl Wake for Canary {
    fn wake(self: Arc<Canary>) {
        self.runs();
    }
}

impl fmt::Display for Canary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        note(self.0, "is displayed");
        f.write_str(self.0)
    }
}

impl Error for Canary {}

/// Notes where a lock is held.
pub(crate) fn note(what: &str, how: &str) {
    let held = locks_held();
    if held == 0 {
        return;
    }
    let mut notes = NOTES.lock().unwrap_or_else(PoisonError::into_inner);
    if notes.len() < MOST {
        let trace = Backtrace::force_capture().to_string();
        let ours = trace.lines().filter(|line| line.contains("folio"));
        let ours: Vec<&str> = ours.collect();
        notes.push(format!("{what} {how} under a lock ({held} are held):\n{}", ours.join("\n")));
    }
}

/// Takes the notes of the process. Each says what was under a lock, and where.
pub fn noted() -> Vec<String> {
    std::mem::take(&mut *NOTES.lock().unwrap_or_else(PoisonError::into_inner))
}
