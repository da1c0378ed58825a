//! Choosing a device.

use crate::error::{Error, Label, Result};
use crate::hal::{DeviceInfo, DeviceKind};
use crate::runtime::{DeviceRef, Runtime};
use folio_kernel::words::Plain;
use std::sync::Arc;

/// The environment variable that chooses the device of [`Runtime::queue`].
pub const DEVICE_VARIABLE: &str = "FOLIO_DEVICE";

type Filter = Arc<dyn Fn(&DeviceInfo) -> bool + Send + Sync>;

/// Says which device is wanted. Among those that fit, a GPU comes before any other accelerator,
/// that before a CPU, and that before a simulated device; then the first.
#[derive(Clone, Default)]
pub struct Selector {
    device: Option<DeviceRef>,
    name: Option<String>,
    kind: Option<DeviceKind>,
    filter: Option<Filter>,
    /// The environment gave the name.
    of_environment: bool,
}

impl Selector {
    /// Any device.
    pub fn any() -> Selector {
        Selector::default()
    }

    /// `cpu:1`, or only the backend: `cuda`; or a kind, `gpu`, `cpu` or `accelerator`; or a part of
    /// the product's name. What fits better comes first, in this order; upper or lower case makes
    /// no difference.
    #[must_use]
    pub fn named(mut self, name: impl Into<String>) -> Selector {
        self.name = Some(name.into());
        self
    }

    /// Of this kind.
    #[must_use]
    pub fn kind(mut self, kind: DeviceKind) -> Selector {
        self.kind = Some(kind);
        self
    }

    /// Of which this is true.
    #[must_use]
    pub fn that(mut self, f: impl Fn(&DeviceInfo) -> bool + Send + Sync + 'static) -> Selector {
        self.filter = Some(Arc::new(f));
        self
    }

    /// What `FOLIO_DEVICE` says; any device without it.
    pub fn from_env() -> Result<Selector> {
        match std::env::var(DEVICE_VARIABLE) {
            Ok(name) if !name.trim().is_empty() => {
                Ok(Selector { of_environment: true, ..Selector::any().named(name.trim()) })
            }
            Ok(value) => Err(Error::Environment {
                variable: DEVICE_VARIABLE.to_owned(),
                value,
                allowed: "the name of a device, backend or kind, such as cpu:0, cuda or gpu"
                    .to_owned(),
            }),
            Err(std::env::VarError::NotPresent) => Ok(Selector::any()),
            Err(std::env::VarError::NotUnicode(value)) => Err(Error::Environment {
                variable: DEVICE_VARIABLE.to_owned(),
                value: value.to_string_lossy().into_owned(),
                allowed: "text".to_owned(),
            }),
        }
    }

    fn fits(&self, device: &DeviceRef) -> bool {
        let info = device.info();
        self.name.as_ref().is_none_or(|name| likeness(name, device).is_some())
            && self.kind.is_none_or(|kind| info.kind == kind)
            && self.filter.as_ref().is_none_or(|filter| filter(info))
    }

    pub(crate) fn find(&self, runtime: &Runtime) -> Result<DeviceRef> {
        if let Some(device) = &self.device {
            if device.core.same(&runtime.core) {
                return Ok(device.clone());
            }
            let label = Label::from(device.name());
            return Err(Error::WrongRuntime { what: "device", label, by: None });
        }
        let rank = |d: &DeviceRef| match d.info().kind {
            DeviceKind::Gpu => 0,
            DeviceKind::Accelerator => 1,
            DeviceKind::Cpu => 2,
            DeviceKind::Simulated => 3,
        };
        let fitting = runtime.devices().into_iter().filter(|d| self.fits(d));
        let wanted = self.name.as_deref();
        fitting
            .min_by_key(|d| (wanted.map(|name| likeness(name, d)), rank(d)))
            .ok_or_else(|| runtime.not_found(self.to_string()))
    }
}

/// How well a name fits a device. `sim:1` is also a part of the name of `sim:10`, and `cpu` of what
/// another backend calls one.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Likeness {
    Name,
    Backend,
    Kind,
    Product,
}

fn likeness(name: &str, device: &DeviceRef) -> Option<Likeness> {
    let info = device.info();
    Likeness::of(name, (device.name(), &info.name, info.kind))
}

impl Likeness {
    /// Of a name, and a device's name, product and kind.
    fn of(name: &str, (own, product, kind): (&str, &str, DeviceKind)) -> Option<Likeness> {
        let backend = own.split(':').next().unwrap_or(own);
        let kind = match kind {
            DeviceKind::Gpu => "gpu",
            DeviceKind::Accelerator => "accelerator",
            DeviceKind::Cpu => "cpu",
            DeviceKind::Simulated => "simulated",
        };
        let is = |of: &str| of.eq_ignore_ascii_case(name);
        let within = || product.to_lowercase().contains(&name.to_lowercase());
        match () {
            () if is(own) => Some(Likeness::Name),
            () if is(backend) => Some(Likeness::Backend),
            () if is(kind) => Some(Likeness::Kind),
            () => (!name.is_empty() && within()).then_some(Likeness::Product),
        }
    }
}

impl std::fmt::Display for Selector {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (&self.name, self.kind) {
            (Some(name), None) => write!(f, "`{}`", Plain(name))?,
            (Some(name), Some(kind)) => write!(f, "`{}` of kind {kind:?}", Plain(name))?,
            (None, Some(kind)) => write!(f, "a device of kind {kind:?}")?,
            (None, None) => f.write_str("any device")?,
        }
        if self.of_environment {
            write!(f, ", which the environment variable {DEVICE_VARIABLE} names")?;
        }
        if self.filter.is_some() { f.write_str(" with the wanted capability") } else { Ok(()) }
    }
}

impl From<&str> for Selector {
    fn from(name: &str) -> Selector {
        Selector::any().named(name)
    }
}

impl From<String> for Selector {
    fn from(name: String) -> Selector {
        Selector::any().named(name)
    }
}

impl From<&String> for Selector {
    fn from(name: &String) -> Selector {
        Selector::any().named(name)
    }
}

impl From<DeviceKind> for Selector {
    fn from(kind: DeviceKind) -> Selector {
        Selector::any().kind(kind)
    }
}

impl From<&DeviceRef> for Selector {
    fn from(device: &DeviceRef) -> Selector {
        Selector { device: Some(device.clone()), ..Selector::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// BACK-04
    #[test]
    fn names_fit_devices_backends_kinds_and_products_in_this_order() {
        let gpu = ("cuda:0", "NVIDIA H200", DeviceKind::Gpu);
        let cpu = ("opencl:1", "pthread-skylake, no GPU", DeviceKind::Cpu);
        for (name, of_gpu, of_cpu) in [
            ("CUDA:0", Some(Likeness::Name), None),
            ("cuda", Some(Likeness::Backend), None),
            ("gpu", Some(Likeness::Kind), Some(Likeness::Product)),
            ("Cpu", None, Some(Likeness::Kind)),
            ("h200", Some(Likeness::Product), None),
            ("accelerator", None, None),
            ("", None, None),
        ] {
            assert_eq!(Likeness::of(name, gpu), of_gpu, "{name}");
            assert_eq!(Likeness::of(name, cpu), of_cpu, "{name}");
        }
        let best = [Likeness::Product, Likeness::Name, Likeness::Kind, Likeness::Backend];
        assert_eq!(best.into_iter().min(), Some(Likeness::Name));
    }
}
