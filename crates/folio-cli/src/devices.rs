//! `folio devices`.

use crate::terminal::{Table, Tone, say, say_json};
use crate::{Error, links};
use folio::hal::{DeviceInfo, MemoryHome};
use folio::ir::words::bytes;
use folio::{DeviceRef, Runtime};
use serde_json::{Value, json};

/// A device's features beyond those that all devices have, by name.
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
    let (info, limits) = (device.info(), device.limits());
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
        "limits": {
            "f64": limits.f64, "f16": limits.f16, "atomics64": limits.atomics64,
            "group_items": (limits.group_items < u64::MAX).then_some(limits.group_items),
            "local_memory_bytes": limits.local_memory, "subgroup_items": limits.subgroup,
            "matrix_units": tiles(device),
        },
        "host_link": {"estimated_megabytes_per_second": link.bytes_per_us, "estimated_nanoseconds_per_copy": link.op_ns},
    })
}

/// The types of which it has matrix units.
fn tiles(device: &DeviceRef) -> Vec<String> {
    device.tiles().iter().map(ToString::to_string).collect()
}

/// The features that kernels can use, in words.
fn limits(device: &DeviceRef) -> String {
    let limits = device.limits();
    let all = [("f64", limits.f64), ("f16", limits.f16), ("64-bit atomics", limits.atomics64)];
    let has = all.iter().map(|(name, has)| format!("{}{name}", if *has { "" } else { "no " }));
    let group = match limits.group_items {
        u64::MAX => "of any size".to_owned(),
        most => format!("of {most} items at most"),
    };
    let subgroups = match limits.subgroup {
        1 => "no sub-groups".to_owned(),
        items => format!("sub-groups of {items}"),
    };
    let has: Vec<_> = has.collect();
    let local = bytes(limits.local_memory);
    let units = match &tiles(device)[..] {
        [] => "no matrix units".to_owned(),
        all => format!("matrix units for {}", all.join(", ")),
    };
    let has = has.join(", ");
    format!("{has}; groups {group} with {local} of local memory; {subgroups}; {units}")
}

pub fn run(json: bool, measure: bool) -> Result<(), Error> {
    let rt: Runtime = folio::runtime()?;
    let devices = rt.devices();
    let links = if measure { links::all(&rt) } else { Vec::new() };
    if json {
        let all: Vec<_> = devices.iter().map(record).collect();
        let found = json!({"folio": env!("CARGO_PKG_VERSION"), "devices": all, "absent": rt.missing_backends(), "links": links});
        say_json(&found);
        return Ok(());
    }
    let mut table = Table::new(&["device", "product", "kind", ">memory", "where", ">units"]);
    for device in &devices {
        let info = device.info();
        let home = if is_unified(info) { "shared" } else { "its own" };
        let (kind, memory) = (format!("{:?}", info.kind).to_lowercase(), bytes(info.memory));
        let units = info.compute_units.to_string();
        let cells = vec![device.name().into(), info.name.clone(), kind, memory, home.into(), units];
        table.row(Tone::Plain, cells);
    }
    if !devices.is_empty() {
        table.say();
    }
    for device in &devices {
        let info = device.info();
        say(format_args!("{}: {}; {}", device.name(), info.driver, features(info).join(", ")));
        say(format_args!("  kernels: {}", limits(device)));
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
    rt.missing_backends().iter().for_each(|why| say(format_args!("absent: {why}")));
    Ok(())
}
