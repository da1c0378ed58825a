//! `folio devices`.

use crate::{Error, links, say};
use folio::hal::{DeviceInfo, MemoryHome};
use folio::{DeviceRef, Runtime};
use serde_json::{Value, json};

/// What a device can do beyond what all can, by name.
pub fn features(info: &DeviceInfo) -> Vec<&'static str> {
    let caps = &info.caps;
    let all = [
        ("closures", caps.closures),
        ("kernels in IR", caps.ir),
        ("interop tasks", caps.native.is_some()),
        ("native waits", caps.wait_group.is_some()),
        ("copy lanes", caps.copy_lanes),
        ("timing", caps.timing),
        ("hints", caps.hints),
        ("linked memory", caps.links.is_some()),
        ("exported memory", caps.exports),
        ("denormals", caps.denormals),
        ("exact division", caps.exact_div_sqrt),
    ];
    all.into_iter().filter(|(_, has)| *has).map(|(name, _)| name).collect()
}

fn is_unified(info: &DeviceInfo) -> bool {
    info.caps.unified || info.home == MemoryHome::Host
}

pub fn record(device: &DeviceRef) -> Value {
    let info = device.info();
    let uuid = info.uuid.map(|id| id.iter().map(|byte| format!("{byte:02x}")).collect::<String>());
    let link = info.caps.host_link;
    json!({
        "name": device.name(),
        "product": info.name,
        "vendor": info.vendor,
        "driver": info.driver,
        "kind": format!("{:?}", info.kind).to_lowercase(),
        "uuid": uuid,
        "memory_bytes": info.memory,
        "unified_memory": is_unified(info),
        "compute_units": info.compute_units,
        "features": features(info),
        "host_link": {"estimated_megabytes_per_second": link.bytes_per_us, "estimated_nanoseconds_per_copy": link.op_ns},
    })
}

pub fn run(json: bool, measure: bool) -> Result<(), Error> {
    let rt: Runtime = folio::runtime()?;
    let devices = rt.devices();
    let links = if measure { links::all(&rt) } else { Vec::new() };
    if json {
        let all: Vec<_> = devices.iter().map(record).collect();
        let found = json!({"folio": env!("CARGO_PKG_VERSION"), "devices": all, "absent": rt.absent(), "links": links});
        say(format_args!("{found:#}"));
        return Ok(());
    }
    let width = devices.iter().map(|d| d.info().name.chars().count()).max().unwrap_or(0).max(7);
    say(format_args!(
        "{:<10} {:<width$} {:<11} {:>10} {:<8} units",
        "device", "product", "kind", "memory", "where"
    ));
    for device in &devices {
        let info = device.info();
        let kind = format!("{:?}", info.kind).to_lowercase();
        let memory = format!("{:.1} GiB", info.memory as f64 / f64::from(1 << 30));
        let home = if is_unified(info) { "shared" } else { "its own" };
        let row = format!("{:<10} {:<width$} {kind:<11} {memory:>10}", device.name(), info.name);
        say(format_args!("{row} {home:<8} {}", info.compute_units));
        say(format_args!("{:<10} {}; {}", "", info.driver, features(info).join(", ")));
    }
    if devices.is_empty() {
        say("no devices");
    }
    for link in &links {
        let (from, to) = (link["from"].as_str().unwrap_or(""), link["to"].as_str().unwrap_or(""));
        match link["megabytes_per_second"].as_f64() {
            Some(speed) => say(format_args!("{from} to {to}: {speed:.0} MB/s")),
            None => say(format_args!("{from} to {to}: {}", link["error"].as_str().unwrap_or(""))),
        }
    }
    rt.absent().iter().for_each(|why| say(format_args!("absent: {why}")));
    Ok(())
}
