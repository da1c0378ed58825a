//! What a subscriber of `tracing` is told of transfers.
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

use folio_core::{BufferOptions, Destination, Runtime};
use folio_sim::{DeviceSpec, SimBackend};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

type SpanFields = BTreeMap<String, String>;

/// Keeps the events that the engine calls `transfer`, field by field.
#[derive(Clone, Default)]
struct Transfers(Arc<Mutex<Vec<SpanFields>>>);

struct Fields<'a>(&'a mut SpanFields);

impl Visit for Fields<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        self.0.insert(field.name().to_owned(), format!("{value:?}").replace('"', ""));
    }
}

impl Subscriber for Transfers {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "folio"
    }

    fn event(&self, event: &Event<'_>) {
        let mut told = SpanFields::new();
        event.record(&mut Fields(&mut told));
        if told.get("message").is_some_and(|message| message == "transfer") {
            self.0.lock().unwrap().push(told);
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

/// XFER-06: each transfer is an event that says what went from where to where, and how much;
/// buffer, queue and runtime count the same.
#[test]
fn each_transfer_is_told_and_counted() {
    let transfers = Transfers::default();
    let told = transfers.clone();
    tracing::subscriber::with_default(transfers, || {
        let backend = SimBackend::builder().devices(2, DeviceSpec::new()).build();
        let rt = Runtime::builder().backend(backend).build().unwrap();
        let (a, b) = (rt.queue_on("sim:0").unwrap(), rt.queue_on("sim:1").unwrap());
        let options = BufferOptions::new().page([2]).label("data");
        let mut x = rt.buffer_with(&[1u32; 8], options).unwrap();
        a.submit(|cg| {
            cg.prefetch(&x, Destination::Device);
            Ok(())
        })
        .unwrap();
        a.submit(|cg| {
            cg.fill(x.slice_mut([2], [2])?, 2);
            Ok(())
        })
        .unwrap();
        b.submit(|cg| {
            cg.prefetch(x.slice([2], [2])?, Destination::Device);
            Ok(())
        })
        .unwrap();
        assert_eq!(x.to_vec().unwrap(), [1, 1, 2, 2, 1, 1, 1, 1]);
        let all = x.counters();
        assert_eq!((all.host_to_device.operations, all.host_to_device.bytes), (1, 32));
        assert_eq!((all.device_to_device.operations, all.device_to_device.bytes), (1, 8));
        assert_eq!((all.device_to_host.operations, all.device_to_host.bytes), (1, 8));
        assert_eq!(rt.counters().transfers(), all.transfers());
        assert_eq!(a.counters().transfers(), all.host_to_device);
        assert_eq!(b.counters().transfers(), all.device_to_device);
        // What was there is not moved again, and not told.
        assert_eq!(x.to_vec().unwrap().len(), 8);
    });
    let told = told.0.lock().unwrap();
    let of = |at: usize, name: &str| told[at][name].as_str();
    assert_eq!(told.len(), 3, "{told:?}");
    let want = [("the host", "sim:0", "32", "4"), ("sim:0", "sim:1", "8", "1")];
    for (at, (from, to, bytes, pages)) in want.into_iter().enumerate() {
        assert_eq!((of(at, "from"), of(at, "to")), (from, to));
        assert_eq!((of(at, "bytes"), of(at, "pages"), of(at, "rects")), (bytes, pages, "1"));
        assert_eq!(of(at, "label"), "`data`");
    }
    assert_eq!((of(2, "to"), of(2, "bytes"), of(2, "pages")), ("the host", "8", "1"));
}
