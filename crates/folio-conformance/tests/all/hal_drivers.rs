//! The backends over drivers under the suite of the HAL's contract, bare and validated, where there
//! are devices, in each form of their memory.
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

use crate::support::{gpus, hal};
use folio_core::hal::{AllocKind, AllocReq, Backend, DeviceInfo, DeviceKind, Notify};
use folio_model::drivers::{CUDA, Driver, Form};
use folio_model::on_each_form;

/// What one device alone cannot show.
const PAIRS: [&str; 2] = ["devices_wait_for_each_other", "copies_between_devices"];

/// A case for devices that share memory with the host.
const SHARED: (&str, &str) =
    ("every_kind_is_usm", "without fine-grained SVM host and device share no memory");

on_each_form! {
    /// Nothing is left out but what the form lacks, and what needs two devices where there is one.
    #[test]
    fn the_contract_is_kept(driver, form) {
        let devices = (form.open)().devices().unwrap();
        let lacks = lacks(driver, form, &devices);
        let expected = if all_share(&(form.open)()) { &[][..] } else { &[SHARED] };
        hal::passes(form.open, expected, |summary| {
            assert!(summary.passed.len() >= 20, "{summary}");
            for (name, why) in &summary.unsupported {
                let of_one = devices.len() == 1 && PAIRS.contains(name);
                assert!(of_one || lacks.contains(&why.as_str()), "{name}: {why}");
            }
        });
    }
}

/// Reasons for which cases are left out: memory is linked on CPUs only, and CUDA knows links
/// between its devices.
fn lacks(driver: &Driver, form: &Form, devices: &[DeviceInfo]) -> Vec<&'static str> {
    let mut lacks = form.lacks.to_vec();
    if form.is_discrete || devices.iter().any(|device| device.kind != DeviceKind::Cpu) {
        lacks.push("linked memory");
    }
    if driver.name == CUDA.name && gpus::all_are_peers(devices.len()) {
        lacks.retain(|what| *what != "links between devices");
    }
    lacks
}

/// Whether all devices have memory that they share with the host.
pub(crate) fn all_share(backend: &dyn Backend) -> bool {
    let mut devices = 0..backend.devices().unwrap().len();
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
    devices.all(share)
}
