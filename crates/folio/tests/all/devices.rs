//! Which devices a program has, and what it is told of others (BACK-01, BACK-04).
#![allow(clippy::unwrap_used, reason = "tests")]

use folio::Error;
use folio::cpu::{CpuBackend, GroupLimits};
use folio::prelude::*;

#[kernel]
fn lasts(g: Group, tile: Local<u32, 16_384>, y: Out<u32>) {
    g.each(|i| {
        tile[i] = i.local_index() as u32;
    });
    g.each(|i| {
        y[i] = tile[g.size()[0] - 1];
    });
}

#[kernel]
fn counted(g: Group, y: Out<u32>) {
    g.each(|i| {
        y[i] = g.size()[0] as u32;
    });
}

/// BACK-01: a device tells what kernels can use on it. A CPU that is held to a GPU's limits refuses
/// larger groups, and more local memory, as a GPU does, and changes nothing.
#[test]
fn groups_beyond_the_limits_of_a_gpu_are_refused_on_request() {
    let on = |limits: GroupLimits| {
        let cpu = CpuBackend::builder().group_limits(limits).build().unwrap();
        Runtime::builder().backend(cpu).build().unwrap()
    };
    let (cpu, gpu) = (on(GroupLimits::CPU), on(GroupLimits::GPU));
    let limits = cpu.devices()[0].limits();
    assert!(limits.f64 && limits.f16 && limits.atomics64 && limits.memory > 0, "{limits:?}");
    assert_eq!((limits.group_items, limits.subgroup), (u64::MAX, 1));
    let limits = gpu.devices()[0].limits();
    assert_eq!((limits.group_items, limits.local_memory), (256, 32 << 10));

    let n = 512;
    for (rt, allowed) in [(&cpu, true), (&gpu, false)] {
        let q = rt.queue().unwrap();
        let mut y = rt.buffer_from(vec![9u32; n]).unwrap();
        let wide = q.run(Items::from(n).groups([n]), counted(&mut y)).map(drop);
        assert_eq!(y.to_vec().unwrap(), vec![if allowed { n as u32 } else { 9 }; n]);
        let local = q.run(Items::from(n).groups([128]), lasts(&mut y)).map(drop);
        assert_eq!(y.to_vec().unwrap(), vec![if allowed { 127 } else { 9 }; n]);
        if allowed {
            wide.and(local).unwrap();
            continue;
        }
        let told = [wide, local].map(|refused| refused.unwrap_err().to_string());
        assert!(told[0].contains("kernel `counted`: a group of"), "{told:?}");
        assert!(told[0].contains("(the device has groups of 256 items at most)"), "{told:?}");
        assert!(told[1].contains("64 KiB of local memory for a group of"), "{told:?}");
        assert!(told[1].contains("(the device has 32 KiB at most)"), "{told:?}");
        q.run(Items::from(n).groups([256]), counted(&mut y)).unwrap();
        assert_eq!(y.to_vec().unwrap(), vec![256; n]);
    }
}

/// Names are those of devices, of backends, or parts of the product's, in upper or lower case.
#[test]
fn names_are_found_in_any_case() {
    let rt = folio::runtime().unwrap();
    let device = rt.device("cpu:0").unwrap();
    let product = device.info().name.clone();
    for name in ["CPU:0".to_owned(), "Cpu".to_owned(), product.to_uppercase()] {
        assert_eq!(rt.device(&name).unwrap().name(), "cpu:0", "{name}");
    }
}

/// A device that is not there is an error that says what is, by both of its names, and why a
/// backend is not: it may be a Cargo feature away.
#[test]
fn what_is_not_there_is_told() {
    let rt = folio::runtime().unwrap();
    let found = rt.device("toaster").err().unwrap();
    assert!(matches!(found, Error::DeviceNotFound { .. }), "{found}");
    let (text, product) = (found.to_string(), rt.device("cpu:0").unwrap().info().name.clone());
    assert!(text.contains(&format!("cpu:0 ({product})")), "{text}");
    for (name, there) in folio::BACKENDS {
        let feature = format!("without Folio's feature `{name}`");
        assert_eq!(text.contains(&feature), !there, "{text}");
        assert_eq!(rt.missing_backends().iter().any(|why| why.contains(&feature)), !there);
    }
}
