//! ERR-04: the death of the process is the loss of the device, and of nothing else.

use folio::prelude::*;
use folio_core::Cause;
use folio_core::hal::HalErrorKind;
use remote_backend::RemoteBackend;
use std::process::Command;

#[kernel]
fn add(i: Item, n: i32, x: InOut<i32>) {
    x[i] += n;
}

/// Whether this says that the device is lost, at once or later.
fn is_loss<T>(result: Result<T, Error>) -> bool {
    match result {
        Err(Error::Failed(failure)) => match failure.cause() {
            Cause::Backend(error) => matches!(error.kind, HalErrorKind::Lost),
            cause => matches!(cause, Cause::DataLost),
        },
        Err(Error::Device { cause, .. }) => matches!(cause.kind, HalErrorKind::Lost),
        _ => false,
    }
}

#[test]
fn a_process_that_dies_is_a_lost_device() -> Result<(), Error> {
    let backend = RemoteBackend::new(env!("CARGO_BIN_EXE_remote-device"));
    let processes = backend.processes();
    let rt = Runtime::builder().backend(backend).on_failure(|_| ()).build()?;
    let q = rt.queue()?;
    let (mut x, mut y) = (rt.buffer_from(&[1; 100])?, rt.buffer_from(&[5; 100])?);
    for buffer in [&mut x, &mut y] {
        q.run(buffer.range(), add(1, buffer))?;
    }
    assert_eq!(x.to_vec()?, [2; 100]);

    let process = processes.lock().unwrap()[0].to_string();
    assert!(Command::new("kill").args(["-9", &process]).status().unwrap().success());

    let next = q.run(y.range(), add(1, &mut y)).and_then(|event| event.wait());
    assert!(is_loss(next.clone()), "{next:?}");
    let read = y.to_vec();
    assert!(is_loss(read.clone()), "what it alone had is gone: {read:?}");
    assert_eq!(x.to_vec()?, [2; 100], "what the host has, too, is left");
    Ok(())
}

#[test]
fn a_program_that_is_not_there_is_no_device() -> Result<(), Error> {
    let rt = Runtime::builder().backend(RemoteBackend::new("/nowhere/remote-device")).build()?;
    let error = rt.queue().map(drop).unwrap_err().to_string();
    assert!(error.contains("there is no program /nowhere/remote-device"), "{error}");
    Ok(())
}
