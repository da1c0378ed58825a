//! OpenCL devices under the suite of the HAL's contract, bare and validated: with shared virtual memory, with such as
//! the host does not reach, and without.
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

use folio_conformance::hal::run_hal;
use folio_core::hal::{AllocKind, AllocReq, Backend, Notify};
use folio_layers::Validate;
use folio_opencl::OpenClBackend;
use std::cell::RefCell;

/// Whether there is a device.
fn there_is_one() -> bool {
    match OpenClBackend::new().devices() {
        Ok(_) => true,
        Err(why) => {
            println!("skipped: opencl: {}", why.reason);
            false
        }
    }
}

/// Whether all devices have memory that they share with the host.
fn all_share(backend: &OpenClBackend) -> bool {
    (0..backend.devices().unwrap().len()).all(|at| {
        // SAFETY: one allocation, which nobody uses.
        let device = unsafe { backend.open(at, Notify::none()) }.unwrap();
        let kind = AllocKind::Shared;
        let wanted = AllocReq {
            kind,
            size: 64,
            align: 64,
            import: None,
            zeroed: false,
            linked: false,
            label: "probe",
        };
        let made = device.usm().alloc(&wanted);
        made.iter().for_each(|made| device.usm().free(made.handle));
        made.is_ok()
    })
}

#[track_caller]
fn passes(build: fn() -> OpenClBackend) {
    if !there_is_one() {
        return;
    }
    let usm = [("every_kind_is_usm", "without fine-grained SVM host and device share no memory")];
    let expected = if all_share(&build()) { &usm[..0] } else { &usm[..] };
    let reports = RefCell::new(Vec::new());
    let bare = || -> Box<dyn Backend> { Box::new(build()) };
    let validated = || -> Box<dyn Backend> {
        let validate = Validate::new();
        reports.borrow_mut().push(validate.report());
        Box::new(validate.over(build()))
    };
    let factories: [&dyn Fn() -> Box<dyn Backend>; 2] = [&bare, &validated];
    for factory in factories {
        let summary = run_hal(factory, expected);
        println!("{summary}");
        assert!(summary.is_ok(), "{summary}");
        assert!(summary.passed.len() >= 20, "{summary}");
    }
    for report in reports.borrow().iter() {
        assert!(report.is_silent(), "{report:?}");
    }
}

#[test]
fn opencl() {
    passes(OpenClBackend::new);
}

/// Memory has addresses, which the host does not reach.
#[test]
fn opencl_without_fine_svm() {
    let build = || OpenClBackend::without_fine_svm().with_all_svm();
    assert!(!there_is_one() || !all_share(&build()));
    passes(build);
}

#[test]
fn opencl_without_svm() {
    assert!(!there_is_one() || !all_share(&OpenClBackend::without_svm()));
    passes(OpenClBackend::without_svm);
}
