//! Settings in the environment, through the facade. One test in a process of its own, since it sets
//! variables.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests may panic")]
#![cfg(feature = "cpu")]

use folio::Error;
use std::ffi::OsStr;

fn set(name: &str, value: impl AsRef<OsStr>) {
    // SAFETY: the only test of this process; no other thread reads the environment meanwhile.
    unsafe { std::env::set_var(name, value) };
}

fn unset(name: &str) {
    // SAFETY: as above.
    unsafe { std::env::remove_var(name) };
}

#[track_caller]
fn refused<T>(result: folio::Result<T>, name: &str, bad: &str, hint: &str) {
    match result.map(|_| ()) {
        Err(error @ Error::Environment { .. }) => {
            let text = error.to_string();
            assert!(text.contains(name) && text.contains(bad) && text.contains(hint), "{text}");
        }
        other => panic!("{name}={bad:?}: {other:?}"),
    }
}

/// ERR-01, BACK-04: a bad value is an error that names the variable, the value and what is allowed;
/// a good one has its effect; an unset one is the default.
#[test]
fn bad_settings_are_errors() {
    for (name, most) in [("FOLIO_CPU_DOMAINS", "64"), ("FOLIO_CPU_THREADS", "4096")] {
        for bad in ["", "0", "-1", "4097", "two", "1.5", " 2", "18446744073709551617"] {
            set(name, bad);
            refused(folio::runtime(), name, bad, most);
            refused(folio::builder(), name, bad, most);
        }
        #[cfg(unix)]
        {
            set(name, <OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(&[b'2', 0xff]));
            refused(folio::runtime(), name, "2", most);
        }
        unset(name);
    }
    set("FOLIO_LINKS", "perhaps");
    refused(folio::runtime(), "FOLIO_LINKS", "perhaps", "`on` or `off`");
    unset("FOLIO_LINKS");
    set("FOLIO_DEVICE_TIMES", "often");
    refused(folio::runtime(), "FOLIO_DEVICE_TIMES", "often", "`on` or `off`");
    set("FOLIO_DEVICE_TIMES", "on");
    assert!(folio::runtime().is_ok());
    unset("FOLIO_DEVICE_TIMES");
    set("FOLIO_TUNE", "sometimes");
    refused(folio::runtime(), "FOLIO_TUNE", "sometimes", "`on` or `off`");
    unset("FOLIO_TUNE");
    set("FOLIO_CPU_DOMAINS", "3");
    set("FOLIO_CPU_THREADS", "3");
    let rt = folio::runtime().unwrap();
    assert_eq!(rt.devices().iter().filter(|d| d.name().starts_with("cpu:")).count(), 3);
    for bad in ["", "  ", "\t"] {
        set(folio::DEVICE_VARIABLE, bad);
        refused(rt.queue(), "FOLIO_DEVICE", &bad.replace('\t', "\\t"), "cpu:0");
    }
    #[cfg(unix)]
    {
        set(folio::DEVICE_VARIABLE, <OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(&[0xff]));
        refused(rt.queue(), "FOLIO_DEVICE", "", "text");
    }
    set(folio::DEVICE_VARIABLE, "cpu:3");
    match rt.queue() {
        Err(error @ Error::DeviceNotFound { .. }) => {
            let text = error.to_string();
            assert!((0..3).all(|at| text.contains(&format!("cpu:{at} ("))), "{text}");
            assert!(text.contains("`FOLIO_CPU_DOMAINS=4`"), "{text}");
        }
        other => panic!("{other:?}"),
    }
    // Asked for by name, the environment has no say.
    assert_eq!(rt.queue_on("cpu:1").unwrap().device().name(), "cpu:1");
    set(folio::DEVICE_VARIABLE, "cpu:2");
    assert_eq!(rt.queue().unwrap().device().name(), "cpu:2");
    unset(folio::DEVICE_VARIABLE);
    assert_eq!(rt.queue().unwrap().device().name(), "cpu:0");
}
