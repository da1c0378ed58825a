//! Programs under `#[folio::main]`: what they write at their end, and their status. ERR-05
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests, and panics on purpose")]

use crate::scene::{lines, play};
use folio::prelude::*;
use folio::{Error, Event, Result};
use std::process::ExitCode;
use std::sync::mpsc::{self, Sender};
use std::time::Duration;

/// Long enough for anything.
const PATIENCE: Duration = Duration::from_secs(100);

#[kernel]
fn halves(i: Item, x: InOut<u32>) {
    assert!(x[i] % 2 == 0, "odd");
    x[i] /= 2;
}

/// The end of a program.
struct Ended {
    status: Option<i32>,
    /// Of Folio's.
    lines: Vec<String>,
    errors: String,
    output: String,
}

/// Runs a program, which is what `#[folio::main]` has made, in a process of its own: the test of
/// this name.
fn run(name: &str, program: fn() -> ExitCode) -> Ended {
    let quiet = [("FOLIO_QUIET", Some("1"))];
    let output = play(&format!("programs::{name}"), &quiet, || {
        let status = program();
        let number = (0..=255).find(|number| status == ExitCode::from(*number));
        std::process::exit(number.map_or(-1, i32::from));
    });
    Ended {
        status: output.status.code(),
        lines: lines(&output),
        errors: String::from_utf8_lossy(&output.stderr).into_owned(),
        output: String::from_utf8_lossy(&output.stdout).into_owned(),
    }
}

fn builder() -> folio::RuntimeBuilder {
    Runtime::builder().backend(folio::cpu::CpuBackend::builder().domains(1).build().unwrap())
}

/// Submits a kernel that fails.
fn fail(rt: &Runtime) -> Result<Event> {
    let mut x = rt.buffer_from(&[2, 3, 4])?;
    rt.queue()?.run(x.range(), halves(&mut x))
}

/// Submits a host task that fails when it is allowed to.
fn fail_later(rt: &Runtime) -> Result<Sender<()>> {
    let (open, gate) = mpsc::channel::<()>();
    rt.queue()?.submit(|cg| {
        cg.label("late").host_task((), move |()| {
            let _ = gate.recv_timeout(PATIENCE);
            println!("the late task runs");
            Err("too late")
        });
        Ok(())
    })?;
    Ok(open)
}

#[folio::main]
fn forgets_a_failure() -> Result<()> {
    fail(&builder().build()?).map(drop)
}

#[test]
fn a_failure_that_nothing_asks_for_is_the_programs() {
    let ended = run("a_failure_that_nothing_asks_for_is_the_programs", forgets_a_failure);
    assert_eq!(ended.status, Some(1));
    assert!(ended.lines.len() == 1 && ended.lines[0].contains("`halves`"), "{:?}", ended.lines);
    assert!(ended.lines[0].contains("odd"), "{:?}", ended.lines);
}

#[folio::main]
fn asks_for_all() {
    let rt = builder().build().unwrap();
    assert!(matches!(fail(&rt).unwrap().wait(), Err(Error::Failed(_))));
    let mut x = rt.buffer_from(&[2, 4]).unwrap();
    rt.queue().unwrap().run(2, halves(&mut x)).unwrap();
    assert_eq!(x.to_vec().unwrap(), [1, 2]);
}

#[test]
fn a_program_that_asks_for_its_failures_succeeds() {
    let ended = run("a_program_that_asks_for_its_failures_succeeds", asks_for_all);
    assert_eq!((ended.status, ended.lines.len()), (Some(0), 0), "{}", ended.errors);
}

#[folio::main]
fn returns_an_error() -> Result<()> {
    let rt = builder().build()?;
    fail(&rt)?.wait()
}

#[test]
fn an_error_of_main_is_told_once() {
    let ended = run("an_error_of_main_is_told_once", returns_an_error);
    assert_eq!((ended.status, ended.lines.len()), (Some(1), 0), "{}", ended.errors);
    assert!(ended.errors.contains("Error: kernel `halves`"), "{}", ended.errors);
}

#[folio::main]
fn has_a_status_of_its_own() -> ExitCode {
    let rt = builder().build().unwrap();
    fail(&rt).unwrap();
    ExitCode::from(3)
}

#[test]
fn a_status_of_mains_own_stays() {
    let ended = run("a_status_of_mains_own_stays", has_a_status_of_its_own);
    assert_eq!((ended.status, ended.lines.len()), (Some(3), 1), "{}", ended.errors);
}

/// The handle of the first runtime is gone, the second is leaked; both have work that ends after
/// `main`.
#[folio::main]
fn leaves_work() -> Result<()> {
    let (first, second) = (builder().build()?, builder().build()?);
    let opens = [fail_later(&first)?, fail_later(&second)?];
    std::mem::forget(second);
    drop(first);
    std::thread::spawn(move || drop(opens));
    Ok(())
}

/// No hint that work is left: the program's end waits for it.
#[test]
fn the_end_of_a_program_waits_for_all_runtimes() {
    let ended = run("the_end_of_a_program_waits_for_all_runtimes", leaves_work);
    assert_eq!(ended.status, Some(1));
    assert_eq!(ended.lines, ["folio: host task `late` on host failed: too late"; 2]);
    assert_eq!(ended.output.matches("the late task runs").count(), 2);
    assert!(!ended.errors.contains("had not ended"), "{}", ended.errors);
}

#[folio::main]
fn has_a_handler() -> Result<()> {
    let rt = builder().on_failure(|why| println!("handled {}", why.label())).build()?;
    let open = fail_later(&rt)?;
    drop(rt);
    std::thread::spawn(move || drop(open));
    Ok(())
}

/// A handler replaces the line, and is called before the program ends. The status is the same.
#[test]
fn a_handler_does_not_make_a_program_succeed() {
    let ended = run("a_handler_does_not_make_a_program_succeed", has_a_handler);
    assert_eq!((ended.status, ended.lines.len()), (Some(1), 0), "{}", ended.errors);
    assert_eq!(ended.output.matches("handled late").count(), 1, "{}", ended.output);
}

#[folio::main]
fn panics() {
    let rt = builder().build().unwrap();
    fail(&rt).unwrap().wait().unwrap();
}

#[test]
fn a_panic_of_main_stays_a_panic() {
    let ended = run("a_panic_of_main_stays_a_panic", panics);
    assert!(!matches!(ended.status, Some(0 | 1)), "{:?}", ended.status);
}
