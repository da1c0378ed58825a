//! The backends over drivers under the suite of the HAL's contract, bare and validated, where there
//! are devices: CUDA; and OpenCL with shared virtual memory, with such as the host does not reach,
//! and without.
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

use crate::support::{gpus, hal, vulkan};
use folio_core::hal::{AllocKind, AllocReq, Backend, DeviceInfo, DeviceKind, Notify};
use folio_cuda::CudaBackend;
use folio_opencl::OpenClBackend;

/// What one device alone cannot show.
const PAIRS: [&str; 2] = ["devices_wait_for_each_other", "copies_between_devices"];

/// The suite, of which nothing else is left out than what needs one of these, or two devices where
/// there is one.
#[track_caller]
fn passes<B: Backend>(build: fn() -> B, expected: &[(&str, &str)], lacks: &[&str]) {
    let devices = match build().devices() {
        Ok(devices) => devices.len(),
        Err(why) => return println!("skipped: {}: {}", build().name(), why.reason),
    };
    hal::passes(build, expected, |summary| {
        assert!(summary.passed.len() >= 20, "{summary}");
        for (name, why) in &summary.unsupported {
            let of_one = devices == 1 && PAIRS.contains(name);
            assert!(of_one || lacks.contains(&why.as_str()), "{name}: {why}");
        }
    });
}

/// It runs no code of the host, is asked instead of telling, and has memory of its own.
#[test]
fn cuda_keeps_the_contract() {
    if gpus::are_there() {
        let mut lacks = vec!["closures", "notifications", "linked memory"];
        let count = CudaBackend::new().devices().unwrap().len();
        if !gpus::all_are_peers(count) {
            lacks.push("links between devices");
        }
        passes(CudaBackend::new, &[], &lacks);
    }
}

/// Whether all devices have memory that they share with the host; none where there is no device.
fn all_share(backend: &OpenClBackend) -> Option<bool> {
    let mut devices = 0..backend.devices().ok()?.len();
    let share = |at| {
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
            exported: false,
            label: "probe",
        };
        let made = device.usm().alloc(&wanted);
        made.iter().for_each(|made| device.usm().free(made.handle));
        made.is_ok()
    };
    Some(devices.all(share))
}

/// Its devices run no code of the host, are asked instead of telling, take no hints, and have no
/// links that are known; GPUs share no memory with the host.
#[track_caller]
fn opencl_passes(build: fn() -> OpenClBackend) {
    let mut lacks = vec!["closures", "notifications", "hints", "links between devices"];
    let is_cpu = |device: &DeviceInfo| device.kind == DeviceKind::Cpu;
    if !build().devices().is_ok_and(|all| all.iter().all(is_cpu)) {
        lacks.push("linked memory");
    }
    let usm = [("every_kind_is_usm", "without fine-grained SVM host and device share no memory")];
    let expected = if all_share(&build()) == Some(false) { &usm[..] } else { &usm[..0] };
    passes(build, expected, &lacks);
}

#[test]
fn opencl_keeps_the_contract() {
    opencl_passes(OpenClBackend::new);
}

/// Memory has addresses, which the host does not reach.
#[test]
fn opencl_keeps_the_contract_without_fine_svm() {
    let build = || OpenClBackend::without_fine_svm().with_all_svm();
    assert_ne!(all_share(&build()), Some(true));
    opencl_passes(build);
}

#[test]
fn opencl_keeps_the_contract_without_svm() {
    assert_ne!(all_share(&OpenClBackend::without_svm()), Some(true));
    opencl_passes(OpenClBackend::without_svm);
}

/// What Vulkan's devices have not; the last two are of several.
const LACKS_OF_VULKAN: [&str; 5] = [
    "closures",
    "notifications",
    "hints",
    "links between devices",
    "native waits between the first two devices",
];

/// Its devices run no code of the host, are asked instead of telling, take no hints, and have no
/// links between devices; the validation layer has nothing to say.
#[test]
fn vulkan_keeps_the_contract() {
    let mut lacks = LACKS_OF_VULKAN.to_vec();
    let is_cpu = |device: &DeviceInfo| device.kind == DeviceKind::Cpu;
    if !vulkan::validated().devices().is_ok_and(|all| all.iter().all(is_cpu)) {
        lacks.push("linked memory");
    }
    passes(vulkan::validated, &[], &lacks);
    vulkan::is_silent();
}

/// The same where the host does not reach the device's memory.
#[test]
fn vulkan_keeps_the_contract_as_discrete() {
    let lacks = [&LACKS_OF_VULKAN[..], &["linked memory"]].concat();
    passes(|| vulkan::validated().as_discrete(), &[], &lacks);
    vulkan::is_silent();
}
