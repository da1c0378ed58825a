//! What a subscriber is told of how long operations took by their devices' clocks: OBS-01. In a
//! process of its own, for all of its threads.
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

use folio::prelude::*;
use folio_core::hal::Backend;
use folio_cpu::CpuBackend;
use folio_model::on_each_driver;
use folio_sim::SimBackend;
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::{Mutex, Once};
use std::time::Instant;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Metadata, Subscriber};

type SpanFields = BTreeMap<&'static str, String>;

/// The ends of all operations.
static ENDS: Mutex<Vec<SpanFields>> = Mutex::new(Vec::new());

struct Ends;

struct Fields<'a>(&'a mut SpanFields);

impl Visit for Fields<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.0.insert(field.name(), format!("{value:?}"));
    }
}

impl Subscriber for Ends {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "folio"
    }

    fn event(&self, event: &tracing::Event<'_>) {
        let mut told = SpanFields::new();
        event.record(&mut Fields(&mut told));
        if told.get("message").is_some_and(|message| message == "complete") {
            ENDS.lock().unwrap().push(told);
        }
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

/// Takes long enough to be measured.
#[kernel]
fn spins(i: Item, turns: u32, x: InOut<u32>) {
    let mut value = x[i];
    for _ in 0..turns {
        value = value.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
    }
    x[i] = value;
}

/// The end of a kernel of this label, and how many nanoseconds the host waited for it.
fn end_of(backend: impl Backend, on: bool, label: &'static str) -> (SpanFields, u64) {
    static LISTEN: Once = Once::new();
    LISTEN.call_once(|| tracing::subscriber::set_global_default(Ends).unwrap());
    let rt = Runtime::builder().backend(backend).device_times(on).build().unwrap();
    let q = rt.queue_on(&rt.devices()[0]).unwrap();
    let x = rt.buffer_with(vec![1u32; 1 << 12], BufferOptions::new()).unwrap().into_shared();
    // Compiles it, and brings its data.
    q.run(x.len(), spins(1, &x)).unwrap().wait().unwrap();
    let begun = Instant::now();
    let event = q.submit(|cg| {
        cg.label(label).run(x.len(), spins(2000, &x));
        Ok(())
    });
    event.unwrap().wait().unwrap();
    let took = begun.elapsed().as_nanos() as u64;
    rt.wait().unwrap();
    let ends = ENDS.lock().unwrap();
    let end = ends.iter().find(|told| told["label"].contains(label));
    (end.unwrap().clone(), took)
}

/// A device with a clock of its own tells a time that is no longer than the host's.
fn is_timed(backend: impl Backend, label: &'static str) {
    let (told, took) = end_of(backend, true, label);
    let device = told["device_ns"].parse::<u64>().unwrap();
    assert!(device > 0 && device <= took, "{device} of {took} ns: {told:?}");
    assert!(told["device_begin"].parse::<u64>().is_ok(), "{told:?}");
}

#[test]
fn device_times_of_sim_are_in_its_own_time() {
    let (told, _) = end_of(SimBackend::builder().build(), true, "timed by sim");
    assert!(told["device_ns"].parse::<u64>().unwrap() > 0, "{told:?}");
}

#[test]
fn device_times_are_told_where_they_were_asked_for() {
    let (told, _) = end_of(SimBackend::builder().build(), false, "not timed");
    assert!(!told.contains_key("device_ns") && told.contains_key("tick"), "{told:?}");
}

#[test]
fn device_times_of_cpu() {
    is_timed(CpuBackend::builder().threads(2).build().unwrap(), "timed by the CPU");
}

on_each_driver! {
    #[test]
    fn device_times_of_a_driver(driver) {
        is_timed(driver.open(), driver.name);
    }
}
