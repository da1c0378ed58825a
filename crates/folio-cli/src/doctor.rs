//! `folio doctor`: what is missing, and what to do about it.

use crate::output::Output;
use crate::terminal::{Tone, say, say_json, say_parts};
use crate::{Error, report};
use folio::DeviceRef;
use folio::hal::DeviceKind;
use folio::prelude::*;
use folio_cache::Cache;
use serde_json::{Value, json};
use std::fmt::Display;
use std::path::Path;
use std::process::ExitCode;
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// A device that has not answered after this counts as hanging. Some drivers compile for seconds.
const PATIENCE: Duration = Duration::from_secs(30);

/// How packages are installed here, as far as that is known.
#[derive(Clone, Copy)]
enum System {
    Debian,
    Fedora,
    Arch,
    Other,
}

impl System {
    fn here() -> System {
        System::of(&std::fs::read_to_string("/etc/os-release").unwrap_or_default())
    }

    /// By the text of `/etc/os-release`.
    fn of(text: &str) -> System {
        let ids = text
            .lines()
            .filter_map(|line| line.strip_prefix("ID=").or_else(|| line.strip_prefix("ID_LIKE=")));
        let ids: Vec<_> = ids.flat_map(|ids| ids.trim_matches('"').split(' ')).collect();
        let is = |names: &[&str]| ids.iter().any(|id| names.contains(id));
        match () {
            () if is(&["debian", "ubuntu"]) => System::Debian,
            () if is(&["fedora", "rhel"]) => System::Fedora,
            () if is(&["arch"]) => System::Arch,
            () => System::Other,
        }
    }

    fn loader(self) -> &'static str {
        match self {
            System::Debian => "apt-get install ocl-icd-libopencl1",
            System::Fedora => "dnf install ocl-icd",
            System::Arch => "pacman -S ocl-icd",
            System::Other => {
                "install an OpenCL loader (ocl-icd), or a vendor's driver that has one"
            }
        }
    }

    fn pocl(self) -> &'static str {
        match self {
            System::Debian => "apt-get install pocl-opencl-icd",
            System::Fedora => "dnf install pocl",
            System::Arch => "pacman -S pocl",
            System::Other => "install PoCL",
        }
    }

    fn vulkan_loader(self) -> &'static str {
        match self {
            System::Debian => "apt-get install libvulkan1",
            System::Fedora => "dnf install vulkan-loader",
            System::Arch => "pacman -S vulkan-icd-loader",
            System::Other => "install the Vulkan loader (libvulkan)",
        }
    }

    fn mesa(self) -> &'static str {
        match self {
            System::Debian => "apt-get install mesa-vulkan-drivers",
            System::Fedora => "dnf install mesa-vulkan-drivers",
            System::Arch => "pacman -S vulkan-radeon vulkan-intel vulkan-swrast",
            System::Other => "install Mesa's Vulkan drivers",
        }
    }

    fn nvidia(self) -> &'static str {
        match self {
            System::Debian => {
                "with a GPU of NVIDIA's: apt-get install nvidia-driver, or on Ubuntu ubuntu-drivers install"
            }
            System::Fedora => "with a GPU of NVIDIA's: dnf install akmod-nvidia (RPM Fusion)",
            System::Arch => "with a GPU of NVIDIA's: pacman -S nvidia",
            System::Other => "with a GPU of NVIDIA's: install its driver, 470 or later",
        }
    }
}

/// The advice, by the reason that a backend gives.
fn advice(reason: &str, system: System) -> String {
    let drivers = "a GPU's vendor has its OpenCL driver; for the processor";
    if reason.contains("no OpenCL loader") {
        format!("{}; then a driver: {drivers} {}", system.loader(), system.pocl())
    } else if reason.contains("no OpenCL platform") {
        let named = std::env::var("OCL_ICD_VENDORS");
        let named =
            named.map(|at| format!("OCL_ICD_VENDORS={at} is where drivers are looked for; "));
        format!("{}{drivers} {}", named.unwrap_or_default(), system.pocl())
    } else if reason.contains("libcuda") || reason.contains("older than CUDA") {
        system.nvidia().to_owned()
    } else if reason.contains("no Vulkan loader") {
        format!("{}; then a driver: {}", system.vulkan_loader(), vulkan_driver(system))
    } else if reason.starts_with("vulkan: ") {
        let named = ["VK_DRIVER_FILES", "VK_ICD_FILENAMES"].into_iter().find_map(|name| {
            let at = std::env::var(name).ok()?;
            Some(format!("{name}={at} is where drivers are looked for; "))
        });
        format!("{}{}", named.unwrap_or_default(), vulkan_driver(system))
    } else if reason.contains("feature `") {
        // Of the way in which this program was made, and not of the machine.
        "this build of `folio` leaves it out; the default features have every backend".to_owned()
    } else {
        "see docs/drivers.md".to_owned()
    }
}

fn vulkan_driver(system: System) -> String {
    let mesa = system.mesa();
    format!("of AMD's, Intel's and the processor: {mesa}; of NVIDIA's, the vendor's driver has it")
}

#[kernel]
fn triple(i: Item, x: In<u32>, y: Out<u32>) {
    y[i] = x[i] * 3;
}

/// A kernel over data that is moved there and back.
fn self_test(rt: &Runtime, device: &DeviceRef) -> Result<(), String> {
    const N: u32 = 1 << 16;
    let run = || -> folio::Result<bool> {
        let q = rt.queue_on(device)?;
        let x = rt.buffer_from(Vec::from_iter(0..N))?;
        let mut y = rt.buffer::<u32, 1>(N as usize)?;
        q.run(y.range(), triple(&x, &mut y))?;
        Ok(y.to_vec()?.into_iter().eq((0..N).map(|n| n * 3)))
    };
    match run() {
        Ok(true) => Ok(()),
        Ok(false) => Err("a kernel computed something else".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

/// The self-test, given up on after a while; and its milliseconds.
fn tested(rt: &Runtime, device: &DeviceRef) -> Result<f64, String> {
    let (tell, told) = mpsc::channel();
    let (rt, device, start) = (rt.clone(), device.clone(), Instant::now());
    // A self-test may hang, and is left then.
    std::thread::spawn(move || tell.send(self_test(&rt, &device)));
    let ended = told.recv_timeout(PATIENCE).unwrap_or_else(|_| Err("no answer".to_owned()));
    ended.map(|()| start.elapsed().as_secs_f64() * 1e3)
}

/// The report of a backend.
fn backend(rt: &Runtime, name: &str, system: System) -> Value {
    let of = |text: &str| text.split(':').next() == Some(name);
    let devices: Vec<_> = rt.devices().into_iter().filter(|d| of(d.name())).collect();
    let reasons: Vec<_> = rt.missing_backends().iter().filter(|why| of(why)).collect();
    let mut advices: Vec<_> = reasons.iter().map(|why| advice(why, system)).collect();
    if name == "opencl" && !devices.is_empty() {
        let software = |d: &DeviceRef| d.info().kind == DeviceKind::Cpu;
        if devices.iter().all(software) {
            advices.push(
                "OpenCL has the processor only; a GPU needs its vendor's OpenCL driver".to_owned(),
            );
        }
    }
    let devices = devices.iter().map(|device| {
        let test = tested(rt, device);
        let (ms, error) = (test.as_ref().ok(), test.as_ref().err());
        json!({"name": device.name(), "product": device.info().name, "self_test_ms": ms, "error": error})
    });
    let devices: Vec<_> = devices.collect();
    json!({"backend": name, "devices": devices, "reasons": reasons, "advice": advices})
}

/// Where the cache is, and what is wrong with it.
fn cache() -> Value {
    let cache = Cache::from_environment();
    let Some(directory) = cache.directory() else {
        return json!({"directory": null, "error": null});
    };
    let error = cache.check().err().map(|error| {
        format!("{error}: programs are compiled anew each time. It must be a directory of yours, private (mode 700) and writable")
    });
    json!({"directory": directory.display().to_string(), "error": error})
}

/// NVIDIA's libraries, which products and transforms call where they are.
#[cfg(feature = "cuda")]
fn libraries() -> Value {
    let all = folio_linalg::libraries().into_iter();
    let all = all.map(|(library, found)| {
        json!({"library": library.name(), "error": found.err().map(|why| why.to_string())})
    });
    all.collect()
}

/// This build calls none.
#[cfg(not(feature = "cuda"))]
fn libraries() -> Value {
    json!([])
}

/// The MPIs that are there, for programs over many machines.
#[cfg(all(feature = "mpi", unix))]
fn mpi() -> Value {
    let all = folio::mpi::libraries().into_iter();
    all.map(|tried| json!({"library": tried.name, "words": tried.found.as_ref().ok(), "error": tried.found.as_ref().err()})).collect()
}

/// This build knows none.
#[cfg(not(all(feature = "mpi", unix)))]
fn mpi() -> Value {
    json!([])
}

pub fn run(json: bool, report: Option<&Path>) -> Result<ExitCode, Error> {
    // A place where no file can be is told before the tests.
    let report = report.map(Output::beside).transpose()?;
    // Each backend is asked for every device, also for one that another backend has, too.
    let (rt, system) = (folio::builder()?.keep_twins().show_progress().build()?, System::here());
    let backends: Vec<_> =
        folio::BACKENDS.iter().map(|(name, _)| backend(&rt, name, system)).collect();
    let found =
        json!({"backends": backends, "libraries": libraries(), "mpi": mpi(), "cache": cache()});
    if json {
        say_json(&found);
    } else {
        show(&found);
    }
    if let Some(output) = report {
        output.write(format!("{:#}\n", report::of(&rt, &found)).as_bytes())?;
        output.finish()?;
    }
    let devices = || each(&found["backends"]).flat_map(|backend| each(&backend["devices"]));
    let broken = devices().any(|device| !device["error"].is_null());
    let works = devices().next().is_some() && !broken && found["cache"]["error"].is_null();
    Ok(if works { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn each(list: &Value) -> impl Iterator<Item = &Value> {
    list.as_array().into_iter().flatten()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or("")
}

fn show(found: &Value) {
    for backend in each(&found["backends"]) {
        let name = text(&backend["backend"]);
        let state: (Tone, &dyn Display) = match backend["devices"][0].is_null() {
            true => (Tone::Plain, &"no devices"),
            false => (Tone::Good, &"works"),
        };
        say_parts(&[(Tone::Plain, &format_args!("{name}: ")), state]);
        for device in each(&backend["devices"]) {
            let (name, product) = (text(&device["name"]), text(&device["product"]));
            match device["self_test_ms"].as_f64() {
                Some(ms) => say(format_args!("  {name} ({product}): self-test passed, {ms:.0} ms")),
                None => say_parts(&[
                    (Tone::Plain, &format_args!("  {name} ({product}): ")),
                    (Tone::Bad, &"FAILED"),
                    (Tone::Plain, &format_args!(": {}", text(&device["error"]))),
                ]),
            }
        }
        each(&backend["reasons"]).for_each(|why| say(format_args!("  {}", text(why))));
        each(&backend["advice"]).for_each(|what| say(format_args!("  -> {}", text(what))));
    }
    for library in each(&found["libraries"]) {
        let name = text(&library["library"]);
        match library["error"].as_str() {
            None => say(format_args!("{name}: found")),
            Some(why) => say(format_args!("{name}: {why}; `folio::linalg` computes without it")),
        }
    }
    show_mpi(found);
    let cache = &found["cache"];
    match (cache["directory"].as_str(), cache["error"].as_str()) {
        (None, _) => say("cache: off; programs are compiled anew each time"),
        (Some(at), None) => say_parts(&[
            (Tone::Plain, &"cache: "),
            (Tone::Good, &"works"),
            (Tone::Plain, &format_args!(", in {at}")),
        ]),
        (Some(at), Some(error)) => say_parts(&[
            (Tone::Plain, &"cache: "),
            (Tone::Bad, &"FAILED"),
            (Tone::Plain, &format_args!(" in {at}: {error}")),
        ]),
    }
}

/// What is there; where nothing is, what was looked for.
fn show_mpi(found: &Value) {
    let all: Vec<_> = each(&found["mpi"]).collect();
    let there = all.iter().filter(|library| library["error"].is_null());
    for library in there.clone() {
        let (name, words) = (text(&library["library"]), text(&library["words"]));
        say(format_args!("mpi: {name}, {words}"));
    }
    if !all.is_empty() && there.count() == 0 {
        let names: Vec<_> = all.iter().map(|library| text(&library["library"])).collect();
        say(format_args!("mpi: none of {}; a program runs on one machine", names.join(", ")));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_are_those_of_the_system() {
        let of = |text| advice("opencl: no OpenCL loader", System::of(text));
        assert!(of("NAME=x\nID=debian").contains("apt-get install ocl-icd-libopencl1"));
        assert!(of("ID=mint\nID_LIKE=\"ubuntu debian\"").contains("apt-get"));
        assert!(of("ID=\"fedora\"").contains("dnf install ocl-icd"));
        assert!(of("ID=arch").contains("pacman"));
        assert!(of("").contains("an OpenCL loader"));
    }
}
