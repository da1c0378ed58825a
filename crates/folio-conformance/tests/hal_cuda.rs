//! The CUDA backend under the suite of the HAL's contract, bare and validated, where there is a GPU.
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

use folio_conformance::hal::run_hal;
use folio_core::hal::Backend;
use folio_cuda::CudaBackend;
use folio_layers::Validate;
use std::cell::RefCell;

#[path = "support/gpus.rs"]
mod gpus;

/// What one device alone cannot show.
const PAIRS: [&str; 2] = ["devices_wait_for_each_other", "copies_between_devices"];

#[test]
fn cuda_keeps_the_contract() {
    if !gpus::are_there() {
        return;
    }
    let devices = CudaBackend::new().devices().unwrap().len();
    let reports = RefCell::new(Vec::new());
    let bare = || -> Box<dyn Backend> { Box::new(CudaBackend::new()) };
    let validated = || -> Box<dyn Backend> {
        let validate = Validate::new();
        reports.borrow_mut().push(validate.report());
        Box::new(validate.over(CudaBackend::new()))
    };
    let factories: [&dyn Fn() -> Box<dyn Backend>; 2] = [&bare, &validated];
    for factory in factories {
        let summary = run_hal(factory, &[]);
        println!("{summary}");
        assert!(summary.is_ok(), "{summary}");
        for (name, why) in &summary.unsupported {
            // It runs no code of the host, is asked instead of telling, and has memory of its own.
            let lacks = ["closures", "notifications", "linked memory"];
            let lacks = lacks.contains(&why.as_str());
            assert!(lacks || (devices == 1 && PAIRS.contains(name)), "{name}: {why}");
        }
    }
    for report in reports.borrow().iter() {
        assert!(report.is_silent(), "{report:?}");
    }
}
