//! `FOLIO_DEVICE`, in a process of its own.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests may panic")]

use folio_core::{DEVICE_VARIABLE, Error, Runtime};
use folio_sim::{DeviceSpec, SimBackend};

/// BACK-04, ERR-01
#[test]
fn the_environment_chooses_the_device() {
    let backend = SimBackend::builder().devices(12, DeviceSpec::new()).build();
    let rt = Runtime::builder().backend(backend).build().unwrap();
    let with = |value: &str| {
        // SAFETY: the only test of this process, on its only thread that looks at variables.
        unsafe { std::env::set_var(DEVICE_VARIABLE, value) };
        rt.queue().map(|q| q.device().name().to_owned())
    };
    assert_eq!(with("sim:1").unwrap(), "sim:1");
    assert_eq!(with(" sim:11 ").unwrap(), "sim:11");
    assert_eq!(with("sim").unwrap(), "sim:0");
    match with("cuda:0") {
        Err(error @ Error::DeviceNotFound { .. }) => {
            let text = error.to_string();
            let named = "`cuda:0`, which the environment variable FOLIO_DEVICE names; there are";
            assert!(text.contains(named) && text.contains("sim:11"), "{text}");
        }
        other => panic!("{other:?}"),
    }
    for bad in ["", "  "] {
        match with(bad) {
            Err(Error::Environment { variable, value, .. }) => {
                assert_eq!((variable.as_str(), value.as_str()), (DEVICE_VARIABLE, bad));
            }
            other => panic!("{other:?}"),
        }
    }
    // SAFETY: as above.
    unsafe { std::env::remove_var(DEVICE_VARIABLE) };
    assert_eq!(rt.queue().unwrap().device().name(), "sim:0");
}
