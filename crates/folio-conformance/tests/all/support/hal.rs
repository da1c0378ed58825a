//! The suite of the HAL's contract, bare and validated.

use folio_conformance::hal::{Summary, run_hal};
use folio_core::hal::Backend;
use folio_layers::Validate;
use std::cell::RefCell;

/// Nothing fails but what is expected to, validation has nothing to report, and the rest is looked
/// at.
#[track_caller]
pub fn passes<B: Backend>(build: fn() -> B, expected: &[(&str, &str)], look: impl Fn(&Summary)) {
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
        if summary.only.is_none() {
            look(&summary);
        }
    }
    for report in reports.borrow().iter() {
        assert!(report.is_silent(), "{report:?}");
    }
}
