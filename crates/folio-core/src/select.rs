//! Choosing a device.

use crate::error::{Error, Label, Result};
use crate::hal::{DeviceInfo, DeviceKind};
use crate::runtime::{DeviceRef, Runtime};
use crate::text::Plain;
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
}

impl Selector {
    /// Any device.
    pub fn any() -> Selector {
        Selector::default()
    }

    /// `cpu:1`, or only the backend: `cpu`; or a part of the product's name. Upper or lower case
    /// makes no difference.
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
            Ok(name) if !name.trim().is_empty() => Ok(Selector::any().named(name.trim())),
            Ok(value) => Err(Error::Environment {
                variable: DEVICE_VARIABLE.to_owned(),
                value,
                allowed: "the name of a device or backend, such as cpu or cpu:0".to_owned(),
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
        let named = |name: &String| {
            let own = device.name();
            let backend = backend_of(own);
            let within = || info.name.to_lowercase().contains(&name.to_lowercase());
            own.eq_ignore_ascii_case(name)
                || backend.eq_ignore_ascii_case(name)
                || (!name.is_empty() && within())
        };
        self.name.as_ref().is_none_or(named)
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
        // `sim:1` is also a part of the name of `sim:10`, and `cpu` of what another backend calls
        // one.
        let wanted = self.name.as_deref();
        let exact = |d: &DeviceRef| match wanted {
            Some(name) if name.eq_ignore_ascii_case(d.name()) => 0,
            Some(name) if name.eq_ignore_ascii_case(backend_of(d.name())) => 1,
            _ => 2,
        };
        fitting
            .min_by_key(|d| (exact(d), rank(d)))
            .ok_or_else(|| runtime.not_found(self.to_string()))
    }
}

/// What comes before the number.
fn backend_of(name: &str) -> &str {
    name.split(':').next().unwrap_or(name)
}

impl std::fmt::Display for Selector {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (&self.name, self.kind) {
            (Some(name), None) => write!(f, "`{}`", Plain(name))?,
            (Some(name), Some(kind)) => write!(f, "`{}` of kind {kind:?}", Plain(name))?,
            (None, Some(kind)) => write!(f, "a device of kind {kind:?}")?,
            (None, None) => f.write_str("any device")?,
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
