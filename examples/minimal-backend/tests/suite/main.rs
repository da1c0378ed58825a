//! The public suite over the backend, bare and with a layer that checks the contract.

mod left_out;

use folio_conformance::{engine::run_engine, hal::run_hal};
use folio_core::hal::Backend;
use folio_layers::Validate;
use minimal_backend::MinimalBackend;
use std::sync::{Arc, Mutex};

/// Makes backends under validation, which has nothing to say when it is dropped.
#[derive(Default)]
struct Validated(Mutex<Vec<folio_layers::Report>>);

impl Validated {
    fn make(&self) -> Box<dyn Backend> {
        let layer = Validate::new();
        self.0.lock().unwrap().push(layer.report());
        Box::new(layer.over(MinimalBackend))
    }

    fn check(&self) {
        self.0.lock().unwrap().iter().for_each(|report| assert!(report.is_silent(), "{report:?}"));
    }
}

/// BACK-02
#[test]
fn hal() {
    let validated = Validated::default();
    for summary in [run_hal(&|| Box::new(MinimalBackend), &[]), run_hal(&|| validated.make(), &[])]
    {
        assert!(summary.is_ok(), "{summary}");
        assert_eq!(summary.check_left_out(left_out::HAL), Ok(()), "{summary}");
    }
    validated.check();
}

/// BACK-02
#[test]
fn engine() {
    let validated = Arc::new(Validated::default());
    let maker = validated.clone();
    for summary in [
        run_engine(Arc::new(|| Box::new(MinimalBackend)), &[]),
        run_engine(Arc::new(move || maker.make()), &[]),
    ] {
        assert!(summary.is_ok(), "{summary}");
        assert_eq!(summary.check_left_out(left_out::ENGINE), Ok(()), "{summary}");
    }
    validated.check();
}
