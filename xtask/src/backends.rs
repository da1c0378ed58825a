//! The backends, and which of them a machine without a GPU can still run.

use std::path::Path;

use crate::cargo::crate_exists;
use crate::outcome::{Report, Status};

/// A backend.
pub struct Backend {
    /// Its name in `--require` and in `skipped: NAME: reason`.
    pub name: &'static str,
    /// The crate that is there once its tests are.
    pub in_crate: &'static str,
    /// Every machine has a device of it, if need be by a driver in software.
    pub software: bool,
    /// The crates that the facade's Cargo feature of this name brings, the backend's first; none if
    /// there is no such feature.
    pub brings: &'static [&'static str],
    /// Its tests run on GPUs, too.
    pub on_gpus: bool,
    /// The group of `gpu-test` in which the matrix of benchmarks measures it.
    pub measured_in: Option<&'static str>,
}

const fn backend(name: &'static str, in_crate: &'static str, software: bool) -> Backend {
    Backend { name, in_crate, software, brings: &[], on_gpus: false, measured_in: None }
}

impl Backend {
    /// The same with a Cargo feature of the facade, which brings these crates.
    const fn with_feature(self, brings: &'static [&'static str]) -> Backend {
        Backend { brings, ..self }
    }

    /// The same, whose tests also run on GPUs.
    const fn on_gpus(self) -> Backend {
        Backend { on_gpus: true, ..self }
    }

    /// The same, which the matrix measures on GPUs.
    const fn measured_in(self, group: &'static str) -> Backend {
        Backend { measured_in: Some(group), ..self }
    }
}

/// The backends. Adding one is adding a row.
pub const BACKENDS: &[Backend] = &[
    backend("cpu", "folio-cpu", true).with_feature(&["folio-cpu", "rayon-core"]),
    backend("sim", "folio-sim", true),
    backend("opencl", "folio-opencl", true)
        .with_feature(&["folio-opencl", "cl3"])
        .on_gpus()
        .measured_in("opencl"),
    backend("cuda", "folio-cuda", false)
        .with_feature(&["folio-cuda", "cudarc"])
        .on_gpus()
        .measured_in("bench"),
    backend("vulkan", "folio-vulkan", true).with_feature(&["folio-vulkan", "ash"]).on_gpus(),
    backend("nvrtc", "folio-model", true),
];

/// The backends that are Cargo features of the facade.
pub fn features() -> Vec<&'static str> {
    BACKENDS.iter().filter(|of| !of.brings.is_empty()).map(|of| of.name).collect()
}

/// The crates of the backends that the facade has features for.
pub fn behind_features() -> Vec<&'static str> {
    BACKENDS.iter().filter(|of| !of.brings.is_empty()).map(|of| of.in_crate).collect()
}

/// The backends whose tests run on GPUs.
pub fn on_gpus() -> impl Iterator<Item = &'static Backend> {
    BACKENDS.iter().filter(|of| of.on_gpus)
}

/// The backends that continuous integration requires: every backend built so far that has a
/// software device.
pub fn required(root: &Path) -> Vec<String> {
    let built = BACKENDS.iter().filter(|b| b.software && crate_exists(root, b.in_crate));
    built.map(|b| b.name.to_owned()).filter(|name| name != "sim").collect()
}

/// A line `skipped: NAME: reason`, where the name's first word may be followed by what the backend
/// lacks.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Skipped {
    /// The backend, and what it lacks.
    pub backend: String,
    /// Why.
    pub reason: String,
}

impl Skipped {
    /// True for `opencl` if it is `opencl` or, for instance, `opencl svm`.
    fn is_of(&self, backend: &str) -> bool {
        self.backend.split_whitespace().next() == Some(backend)
    }
}

/// Reads a line by which a test says that a backend has no device, or not what the test needs.
pub fn parse_skipped(line: &str) -> Option<Skipped> {
    let said = line.trim().strip_prefix("skipped: ")?;
    let (backend, reason) = said.split_once(": ").unwrap_or((said, "without a reason"));
    Some(Skipped { backend: backend.trim().to_owned(), reason: reason.trim().to_owned() })
}

/// Complaints about required backends that were skipped or that no test ran on.
pub fn check(required: &[String], report: &Report) -> Vec<String> {
    let skipped = report.skipped_backends();
    let mut complaints = Vec::new();
    for name in required {
        let reasons = skipped.iter().filter(|s| s.is_of(name));
        let before = complaints.len();
        complaints.extend(
            reasons.map(|s| format!("required backend {} skipped: {}", s.backend, s.reason)),
        );
        let ran =
            report.outcomes.iter().any(|o| o.status == Status::Passed && is_of(o.name(), name));
        if !ran && complaints.len() == before {
            complaints.push(format!("required backend {name}: no test of it ran"));
        }
    }
    complaints
}

/// True when a part of the test's full name is the backend's, as in `folio-cpu lane::order` or
/// `folio-conformance::suite cpu_2::fills`.
pub fn is_of(test: &str, backend: &str) -> bool {
    test.split(|c: char| !c.is_ascii_alphanumeric()).any(|part| part == backend)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::Outcome;

    fn report(tests: &[(&str, Status, &str)]) -> Report {
        let outcome = |(test, status, output): &(&str, Status, &str)| {
            Outcome::new("folio-conformance::all", test, *status, 0.1, output)
        };
        Report { outcomes: tests.iter().map(outcome).collect(), ..Report::default() }
    }

    #[test]
    fn a_required_backend_must_run() {
        let cpu = ["cpu".to_owned()];
        assert!(check(&cpu, &report(&[("cpu_2::fills", Status::Passed, "")])).is_empty());
        let none = check(&cpu, &report(&[("sim::fills", Status::Passed, "")]));
        assert_eq!(none, ["required backend cpu: no test of it ran"]);
        let skipped = report(&[("cpu::fills", Status::Passed, "skipped: cpu: no cores\n")]);
        assert_eq!(check(&cpu, &skipped), ["required backend cpu skipped: no cores"]);
    }

    #[test]
    fn what_a_required_backend_lacks_is_told() {
        let opencl = ["opencl".to_owned()];
        let checked = |said| {
            let fills = ("opencl_fills", Status::Passed, "");
            check(&opencl, &report(&[fills, ("opencl_more", Status::Passed, said)]))
        };
        assert_eq!(
            checked("skipped: opencl svm: there is none"),
            ["required backend opencl svm skipped: there is none"]
        );
        assert_eq!(
            checked("test x ... skipped: opencl\nok"),
            ["required backend opencl skipped: without a reason"]
        );
        for others in ["skipped: cuda: no driver", "skipped: gpus: there is one"] {
            assert!(checked(others).is_empty());
        }
        assert!(checked("skipped: openclx: none").is_empty());
    }

    #[test]
    fn skip_lines_are_read() {
        let read = parse_skipped("skipped: cuda: no driver: libcuda.so.1").unwrap();
        assert_eq!(
            (read.backend.as_str(), read.reason.as_str()),
            ("cuda", "no driver: libcuda.so.1")
        );
        let read = parse_skipped("  skipped: opencl links: no memory is shared: none\n").unwrap();
        assert_eq!(
            (read.backend.as_str(), read.reason.as_str()),
            ("opencl links", "no memory is shared: none")
        );
        let read = parse_skipped("skipped: opencl").unwrap();
        assert_eq!((read.backend.as_str(), read.reason.as_str()), ("opencl", "without a reason"));
        assert_eq!(parse_skipped("skipped the rest"), None);
    }
}
