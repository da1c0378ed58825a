//! What the tests of backends have in common: the engine's suite over a backend, bare and
//! validated.
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]
#![allow(dead_code, reason = "not each binary has devices of all kinds")]

pub mod gpus;
pub mod hal;
pub mod items;
pub mod pair;
pub mod turns;

use folio_conformance::engine::{Factory, names, run_engine_where};
use folio_core::hal::{AllocKind, AllocReq, Backend, DeviceKind, MemoryHome, Notify};
use folio_layers::{Report, Validate};
use std::collections::{BTreeMap, HashSet};
use std::sync::{Arc, Mutex};
use std::time::Instant;

/// So many cases need what there is not, by its name.
pub type LeftOut = (&'static str, usize);

/// What devices without addresses leave out.
pub const ADDRESSES: [LeftOut; 3] =
    [("addresses", 1), ("addresses that the host reaches", 1), ("memory with addresses", 2)];

/// What the devices of a backend leave out because memory of one has no addresses, or that of none
/// has any that the host reaches.
pub fn addresses(backend: &dyn Backend) -> Vec<LeftOut> {
    let devices = backend.devices().unwrap().len();
    let has = |kind| (0..devices).map(move |at| has_address(backend, at, kind));
    let all = has(AllocKind::Device).all(|has| has);
    let reached = has(AllocKind::Host).any(|has| has);
    let [one, host, more] = ADDRESSES;
    let reasons = [(one, !all), (host, !reached), (more, !all)];
    reasons.into_iter().filter(|reason| reason.1).map(|reason| reason.0).collect()
}

/// Whether memory of this kind has an address, if the device has that.
fn has_address(backend: &dyn Backend, at: usize, kind: AllocKind) -> bool {
    // SAFETY: one allocation, which nobody uses.
    let device = unsafe { backend.open(at, Notify::none()) }.unwrap();
    let (size, align) = (64, 64);
    let wanted = AllocReq {
        kind,
        size,
        align,
        import: None,
        zeroed: false,
        linked: false,
        exported: false,
        label: "probe",
    };
    let Ok(made) = device.usm().alloc(&wanted) else { return false };
    device.usm().free(made.handle);
    made.address.is_some()
}

/// Cases that take the devices of a backend to be of one kind.
pub const OF_ONE_KIND: [&str; 3] = [
    "devices_are_found_by_what_they_are",
    "a_views_own_memory_is_not_released",
    "released_memory_holds_no_parts_of_pages",
];

/// What the devices of a backend leave out, being such as they are, and what they do for `further`
/// reasons.
pub fn left_out(backend: &dyn Backend, further: &[LeftOut]) -> BTreeMap<&'static str, usize> {
    let devices = backend.devices().unwrap();
    let homes = || devices.iter().map(|device| device.home);
    let links =
        |d: &folio_core::hal::DeviceInfo| d.caps.links.is_some() && d.home != MemoryHome::Host;
    let linked = || (0..devices.len()).filter(|at| links(&devices[*at]));
    let linked_without_address = linked().any(|at| !has_address(backend, at, AllocKind::Device));
    let own: HashSet<_> = homes().filter(|home| *home != MemoryHome::Host).collect();
    let reasons = [
        ("1 devices with memory of their own", 58, own.is_empty()),
        ("2 devices with memory of their own", 3, own.len() < 2),
        ("3 devices with memory of their own", 2, own.len() < 3),
        ("several devices", 2, devices.len() < 2),
        ("linked memory with addresses", 8, linked_without_address),
        (
            "a device in the host's memory beside one that links",
            1,
            devices.iter().any(&links) && !homes().any(|home| home == MemoryHome::Host),
        ),
        ("a device in the host's memory", 3, !homes().any(|home| home == MemoryHome::Host)),
        ("devices with a UUID", 1, devices.iter().any(|device| device.uuid.is_none())),
        ("devices that link", 25, !devices.iter().any(&links)),
        ("2 devices that link", 1, devices.iter().filter(|d| links(d)).count() == 1),
        (
            "a device that needs aligned memory",
            1,
            devices.iter().any(|d| links(d) && d.caps.links < Some(5)),
        ),
        ("devices that run closures", 13, devices.iter().any(|device| !device.caps.closures)),
        // On simulated ones nothing ends before somebody looks.
        (
            "work that ends without being looked at",
            1,
            devices.iter().any(|device| device.kind == DeviceKind::Simulated),
        ),
    ];
    let reasons = reasons.into_iter().filter(|reason| reason.2).map(|(why, count, _)| (why, count));
    reasons.chain(further.iter().copied()).collect()
}

/// Runs the suite over what `build` makes, bare and validated. Nothing fails, validation has
/// nothing to report, and no more cases are left out than is known.
#[track_caller]
pub fn passes<B: Backend>(
    build: impl Fn() -> B + Clone + Send + Sync + 'static,
    further: &[LeftOut],
) {
    let left_out = left_out(&build(), further);
    passes_where(build, &|_| true, &left_out);
}

/// As [`passes`], with the `wanted` cases, of which so many are left out for each reason.
#[track_caller]
pub fn passes_where<B: Backend>(
    build: impl Fn() -> B + Clone + Send + Sync + 'static,
    wanted: &dyn Fn(&str) -> bool,
    left_out: &BTreeMap<&'static str, usize>,
) {
    passes_bare(build.clone(), wanted, left_out);
    passes_validated(build, wanted, left_out);
}

/// As [`passes_where`], only bare.
#[track_caller]
pub fn passes_bare<B: Backend>(
    build: impl Fn() -> B + Clone + Send + Sync + 'static,
    wanted: &dyn Fn(&str) -> bool,
    left_out: &BTreeMap<&'static str, usize>,
) {
    passes_by(Arc::new(move || -> Box<dyn Backend> { Box::new(build()) }), wanted, left_out);
}

/// As [`passes_where`], only validated.
#[track_caller]
pub fn passes_validated<B: Backend>(
    build: impl Fn() -> B + Clone + Send + Sync + 'static,
    wanted: &dyn Fn(&str) -> bool,
    left_out: &BTreeMap<&'static str, usize>,
) {
    let reports: Arc<Mutex<Vec<Report>>> = Arc::default();
    let all = reports.clone();
    let validated = move || -> Box<dyn Backend> {
        let validate = Validate::new();
        all.lock().unwrap().push(validate.report());
        Box::new(validate.over(build()))
    };
    passes_by(Arc::new(validated), wanted, left_out);
    for report in &*reports.lock().unwrap() {
        assert!(report.is_silent(), "{report:?}");
    }
}

#[track_caller]
fn passes_by(
    factory: Factory,
    wanted: &dyn Fn(&str) -> bool,
    left_out: &BTreeMap<&'static str, usize>,
) {
    // For who waits: which case has begun, and when.
    let (tells, begun) = (std::env::var_os("FOLIO_TESTS_TELL").is_some(), Instant::now());
    let told = |name: &str| {
        if tells && wanted(name) {
            eprintln!("{:7.1} s {name}", begun.elapsed().as_secs_f64());
        }
        wanted(name)
    };
    let summary = run_engine_where(factory, &[], &told);
    println!("{summary}");
    assert!(summary.is_ok(), "{summary}");
    if summary.only.is_some() {
        return;
    }
    let mut reasons = BTreeMap::new();
    for (_, why) in &summary.unsupported {
        *reasons.entry(why.as_str()).or_insert(0) += 1;
    }
    assert_eq!(&reasons, left_out, "{summary}");
    let wanted = names().into_iter().filter(|name| wanted(name)).count();
    assert_eq!(summary.passed.len() + summary.unsupported.len(), wanted, "{summary}");
}
