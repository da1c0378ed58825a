//! The signal of Ctrl-C, which a terminal sends to all programs of a command line.

/// Has this process go on after Ctrl-C, so that it closes the trace of a program that the user has
/// ended. A program that is started from here ends by the signal as usual: handlers end with the
/// process image, which an ignored signal would not.
#[cfg(unix)]
pub fn outlive() {
    const SIGINT: i32 = 2;
    extern "C" fn go_on(_: i32) {}
    // SAFETY: POSIX has this function, with this signature on every Unix that Rust knows; the
    // handler does nothing, so it may run at any moment, and lives as long as the process.
    unsafe extern "C" {
        safe fn signal(number: i32, handler: extern "C" fn(i32)) -> usize;
    }
    signal(SIGINT, go_on);
}

/// Other systems end this process, too: the trace stays beside its place.
#[cfg(not(unix))]
pub fn outlive() {}
