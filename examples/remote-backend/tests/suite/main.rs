//! The public suite over the backend, bare and with a layer that checks the contract.

mod left_out;

use folio_conformance::{engine::run_engine, hal::run_hal};
use folio_core::hal::Backend;
use folio_layers::Validate;
use remote_backend::RemoteBackend;
use std::sync::{Arc, Mutex};

fn remote() -> RemoteBackend {
    RemoteBackend::new(env!("CARGO_BIN_EXE_remote-device"))
}

/// Makes backends under validation, which has nothing to say when it is dropped.
#[derive(Default)]
struct Validated(Mutex<Vec<folio_layers::Report>>);

impl Validated {
    fn make(&self) -> Box<dyn Backend> {
        let layer = Validate::new();
        self.0.lock().unwrap().push(layer.report());
        Box::new(layer.over(remote()))
    }

    fn check(&self) {
        self.0.lock().unwrap().iter().for_each(|report| assert!(report.is_silent(), "{report:?}"));
    }
}

/// BACK-02
#[test]
fn hal() {
    let validated = Validated::default();
    for summary in [
        run_hal(&|| Box::new(remote()), left_out::FAILS),
        run_hal(&|| validated.make(), left_out::FAILS),
    ] {
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
        run_engine(Arc::new(|| Box::new(remote())), left_out::ENGINE_FAILS),
        run_engine(Arc::new(move || maker.make()), left_out::ENGINE_FAILS),
    ] {
        assert!(summary.is_ok(), "{summary}");
        assert_eq!(summary.check_left_out(left_out::ENGINE), Ok(()), "{summary}");
    }
    validated.check();
}
