//! The devices of this machine, each by way of Folio and by hand.

use crate::bench::{Bench, Site};
use crate::error::{Error, Result};
use crate::hand::Hand;
use crate::options::{Options, backend};
use crate::probe;
use crate::record::{Device, LeftOut, Machine};
use folio::{DeviceRef, Runtime};

/// A device that is measured.
pub struct Subject {
    /// Both sides of it.
    pub bench: Bench,
    /// The device, as it is saved.
    pub device: Device,
    /// The facts on which sizes depend.
    pub site: Site,
}

/// Every device of every backend, also one that another backend has: they are compared.
pub fn runtime() -> Result<Runtime> {
    Ok(folio::builder()?.keep_twins().build()?)
}

/// Backends that are compiled in.
pub fn backends() -> Vec<String> {
    let there = folio::BACKENDS.iter().filter(|(_, there)| *there);
    there.map(|(name, _)| (*name).to_owned()).collect()
}

/// Checks that each backend or device asked for is there.
fn check(rt: &Runtime, options: &Options) -> Result<()> {
    for name in &options.backend {
        if !backends().iter().any(|known| known == backend(name)) {
            return Err(Error::UnknownBackend { name: name.clone(), known: backends() });
        }
        if !rt
            .devices()
            .iter()
            .any(|device| device.name() == name || backend(device.name()) == name)
        {
            let why = rt.missing_backends().iter().find(|why| why.starts_with(backend(name)));
            let found: Vec<_> = rt.devices().iter().map(|d| d.name().to_owned()).collect();
            let why = why.cloned().unwrap_or_else(|| format!("there are {}", found.join(", ")));
            return Err(Error::NoDevice { name: name.clone(), why });
        }
    }
    Ok(())
}

/// Finds them, and notes what is absent.
pub fn find(rt: &Runtime, options: &Options) -> Result<(Vec<DeviceRef>, Vec<LeftOut>)> {
    check(rt, options)?;
    let absent = rt.missing_backends().iter().map(|why| {
        let (what, reason) = why.split_once(": ").unwrap_or((why, "absent"));
        LeftOut { what: what.to_owned(), reason: reason.to_owned() }
    });
    let mut left_out: Vec<LeftOut> = absent.collect();
    let (wanted, others): (Vec<_>, Vec<_>) =
        rt.devices().into_iter().partition(|device| options.wants_device(device.name()));
    left_out.extend(others.iter().map(|device| LeftOut {
        what: device.name().to_owned(),
        reason: "not asked for (--backend)".to_owned(),
    }));
    Ok((wanted, left_out))
}

/// Opens a device on both sides, and probes it.
pub fn open(
    rt: &Runtime,
    device: &DeviceRef,
    machine: &Machine,
    options: &Options,
) -> Result<Subject> {
    let q = rt.queue_on(device)?;
    let hand = by_hand(rt, device)?;
    let bench = Bench { rt: rt.clone(), q, device: device.clone(), hand, seed: options.seed };
    let cache = match &bench.hand {
        Hand::Host => machine.cache,
        // A driver knows less of a processor's caches than the system does.
        Hand::Native(native) if !bench.is_gpu() => machine.cache.max(native.cache_bytes()),
        Hand::Native(native) => native.cache_bytes(),
    };
    let info = device.info();
    let saved = Device {
        name: device.name().to_owned(),
        backend: backend(device.name()).to_owned(),
        product: info.name.trim().to_owned(),
        driver: info.driver.clone(),
        by_hand: bench.against().to_owned(),
        is_cpu: !bench.is_gpu(),
        cache,
        peaks: probe::peaks(&bench, cache)?,
    };
    let site = Site { effort: options.effort(), is_gpu: bench.is_gpu() };
    Ok(Subject { bench, device: saved, site })
}

/// The same device by its driver's calls; the host's cores for any other backend.
#[allow(unused_variables, reason = "without features of drivers nothing is looked up")]
fn by_hand(rt: &Runtime, device: &DeviceRef) -> Result<Hand> {
    let (name, of) = (device.name(), device.info().name.trim());
    #[cfg(any(feature = "opencl", feature = "vulkan"))]
    let nth = || {
        let same = rt.devices().into_iter().filter(|other| {
            backend(other.name()) == backend(name) && other.info().name.trim() == of
        });
        same.take_while(|other| other.name() != name).count()
    };
    #[cfg(feature = "opencl")]
    if backend(name) == "opencl" {
        let native = crate::hand::opencl::OpenCl::open(of, nth())?;
        return Ok(Hand::Native(std::sync::Arc::new(native)));
    }
    #[cfg(feature = "vulkan")]
    if backend(name) == "vulkan" {
        let native = crate::hand::vulkan::Vulkan::open(of, nth())?;
        return Ok(Hand::Native(std::sync::Arc::new(native)));
    }
    #[cfg(feature = "cuda")]
    if backend(name) == "cuda" {
        let ordinal = name.split(':').nth(1).and_then(|text| text.parse().ok()).unwrap_or(0);
        let native = crate::hand::cuda::Cuda::open(ordinal)?;
        return Ok(Hand::Native(std::sync::Arc::new(native)));
    }
    Ok(Hand::Host)
}
