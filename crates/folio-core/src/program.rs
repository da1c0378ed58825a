//! A whole program under `#[folio::main]`: it waits for its work, and fails with the failures that
//! no call has returned.

use std::process::{ExitCode, Termination};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// What the end of a program waits for: an engine.
pub(crate) trait Work: Send + Sync {
    /// Waits for all work, and tells what nothing has told.
    fn finish(&self);
}

/// The process.
static PROGRAM: Program = Program {
    is_strict: AtomicBool::new(false),
    has_failed: AtomicBool::new(false),
    engines: Mutex::new(Vec::new()),
};

struct Program {
    /// It runs under `#[folio::main]`.
    is_strict: AtomicBool,
    /// A failure was found that no call has returned, and that none can return any more.
    has_failed: AtomicBool,
    /// The engines of a strict program, also of runtimes whose handles are gone.
    engines: Mutex<Vec<Weak<dyn Work>>>,
}

impl Program {
    fn engines(&self) -> MutexGuard<'_, Vec<Weak<dyn Work>>> {
        self.engines.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// True where the program's end waits for what is left.
pub(crate) fn is_strict() -> bool {
    PROGRAM.is_strict.load(Ordering::SeqCst)
}

/// An engine was made.
pub(crate) fn add(engine: &Arc<impl Work + 'static>) {
    if is_strict() {
        let mut engines = PROGRAM.engines();
        engines.retain(|engine| engine.strong_count() > 0);
        let engine: Weak<dyn Work> = Arc::downgrade(engine) as _;
        engines.push(engine);
    }
}

/// A failure that no call has returned is left.
pub(crate) fn note_failure() {
    PROGRAM.has_failed.store(true, Ordering::SeqCst);
}

/// Runs a program's `main`, waits for all work, and tells what has failed. For `#[folio::main]`.
#[doc(hidden)]
pub fn run_main<T: Termination>(main: impl FnOnce() -> T) -> ExitCode {
    PROGRAM.is_strict.store(true, Ordering::SeqCst);
    let status = main().report();
    // Work that ends may make a runtime, too.
    loop {
        let engines = std::mem::take(&mut *PROGRAM.engines());
        if engines.is_empty() {
            break;
        }
        engines.iter().filter_map(Weak::upgrade).for_each(|engine| engine.finish());
    }
    match PROGRAM.has_failed.swap(false, Ordering::SeqCst) {
        true if status == ExitCode::SUCCESS => ExitCode::FAILURE,
        _ => status,
    }
}
