//! The configuration of a CPU backend: the builder, and the environment that sets its defaults.

use crate::cores;
use crate::device::CpuBackend;
use folio_core::ir::device::MOST_GROUP_BYTES;
use folio_core::ir::emit::Capabilities;
use std::ffi::OsString;
use std::fmt;

/// Most domains: a domain is a page-state bit elsewhere, and nobody has more sockets.
const MAX_DOMAINS: usize = 64;
/// Most threads of the pool.
const MAX_THREADS: usize = 4096;

/// A setting that cannot be. `Debug` shows its text, for a `main` that returns it.
#[derive(Clone, PartialEq, Eq)]
pub struct ConfigError {
    /// The environment variable, or the builder's method.
    pub setting: String,
    /// The value that it was set to.
    pub value: String,
    /// The allowed values.
    pub allowed: String,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is {:?}, allowed is {}", self.setting, self.value, self.allowed)
    }
}

impl fmt::Debug for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for ConfigError {}

/// How large the groups of kernels may be. The CPU itself has room for groups that no GPU takes; a
/// program that is to run on GPUs, too, is tested with less.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupLimits {
    /// Items of a group, in all its dimensions together.
    pub items: u64,
    /// Bytes of local memory of a group.
    pub local_memory: u64,
}

impl GroupLimits {
    /// The limits of the CPU itself.
    pub const CPU: GroupLimits = GroupLimits { items: u64::MAX, local_memory: MOST_GROUP_BYTES };
    /// The limits of nearly every GPU, by whichever driver.
    pub const GPU: GroupLimits = GroupLimits {
        items: Capabilities::LEAST.block as u64,
        local_memory: Capabilities::LEAST.local_memory,
    };
}

/// Makes a [`CpuBackend`].
#[derive(Clone, Debug)]
#[must_use]
pub struct Builder {
    pub(crate) name: String,
    pub(crate) domains: usize,
    pub(crate) threads: usize,
    pub(crate) unified: bool,
    pub(crate) peer: bool,
    pub(crate) memory_limit: Option<u64>,
    pub(crate) group_limits: GroupLimits,
}

impl Default for Builder {
    fn default() -> Builder {
        Builder {
            name: "cpu".into(),
            domains: 1,
            threads: cores::threads(),
            unified: false,
            peer: true,
            memory_limit: None,
            group_limits: GroupLimits::CPU,
        }
    }
}

impl Builder {
    /// The defaults, changed by `FOLIO_CPU_DOMAINS`, `FOLIO_CPU_THREADS` and `FOLIO_CPU_LIMITS`
    /// (`gpu`, or `cpu`) where they are set.
    pub fn from_env() -> Result<Builder, ConfigError> {
        Builder::from_lookup(|name| std::env::var_os(name))
    }

    fn from_lookup(lookup: impl Fn(&str) -> Option<OsString>) -> Result<Builder, ConfigError> {
        let mut builder = Builder::default();
        if let Some(text) = lookup("FOLIO_CPU_DOMAINS") {
            builder.domains = number("FOLIO_CPU_DOMAINS", &text, MAX_DOMAINS)?;
        }
        if let Some(text) = lookup("FOLIO_CPU_THREADS") {
            builder.threads = number("FOLIO_CPU_THREADS", &text, MAX_THREADS)?;
        }
        if let Some(text) = lookup("FOLIO_CPU_LIMITS") {
            builder.group_limits = match text.to_str() {
                Some("cpu") => GroupLimits::CPU,
                Some("gpu") => GroupLimits::GPU,
                _ => {
                    return Err(ConfigError {
                        setting: "FOLIO_CPU_LIMITS".into(),
                        value: text.to_string_lossy().into_owned(),
                        allowed: "`gpu` (groups as GPUs take them), or `cpu`".into(),
                    });
                }
            };
        }
        Ok(builder)
    }

    /// The backend's name, the part before the colon in `cpu:0`; for a second CPU backend in one
    /// runtime.
    pub fn name(mut self, name: impl Into<String>) -> Builder {
        self.name = name.into();
        self
    }

    /// How many devices the CPU presents. The first computes in the host's memory, each other one
    /// in separate memory of its own, with real copies between them.
    pub fn domains(mut self, domains: usize) -> Builder {
        self.domains = domains;
        self
    }

    /// How many threads the pool has that all devices share. Without it: one for each physical core
    /// that this process may use, where the system tells which they are.
    pub fn threads(mut self, threads: usize) -> Builder {
        self.threads = threads;
        self
    }

    /// Whether the separate domains claim to share their physical memory with the host.
    pub fn unified(mut self, unified: bool) -> Builder {
        self.unified = unified;
        self
    }

    /// Whether domains copy to each other directly (they do by default) or through the host.
    pub fn peer(mut self, peer: bool) -> Builder {
        self.peer = peer;
        self
    }

    /// How many bytes each domain has; without it, what the machine has.
    pub fn memory_limit(mut self, bytes: u64) -> Builder {
        self.memory_limit = Some(bytes);
        self
    }

    /// Holds launches to groups that are no larger: [`GroupLimits::GPU`] refuses on the CPU, with
    /// the same error, what GPUs refuse.
    pub fn group_limits(mut self, limits: GroupLimits) -> Builder {
        self.group_limits = limits;
        self
    }

    /// Checks the settings. Starts no thread.
    pub fn build(self) -> Result<CpuBackend, ConfigError> {
        within("domains", self.domains, MAX_DOMAINS)?;
        within("threads", self.threads, MAX_THREADS)?;
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '_';
        if self.name.is_empty() || !self.name.chars().all(plain) {
            return Err(ConfigError {
                setting: "name".into(),
                value: self.name,
                allowed: "one or more of a-z, 0-9, '-' and '_'".into(),
            });
        }
        Ok(CpuBackend::from_builder(self))
    }
}

fn refused(setting: &str, value: String, max: usize) -> ConfigError {
    ConfigError { setting: setting.into(), value, allowed: format!("a whole number, 1 to {max}") }
}

fn within(setting: &str, value: usize, max: usize) -> Result<usize, ConfigError> {
    if (1..=max).contains(&value) {
        Ok(value)
    } else {
        Err(refused(setting, value.to_string(), max))
    }
}

fn number(setting: &str, text: &OsString, max: usize) -> Result<usize, ConfigError> {
    text.to_str()
        .filter(|text| text.bytes().all(|b| b.is_ascii_digit()))
        .and_then(|text| text.parse().ok())
        .filter(|n| (1..=max).contains(n))
        .ok_or_else(|| refused(setting, text.to_string_lossy().into_owned(), max))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(name: &str, value: &str) -> Result<(usize, usize), ConfigError> {
        Builder::from_lookup(|asked| (asked == name).then(|| value.into()))
            .map(|b| (b.domains, b.threads))
    }

    #[test]
    fn the_environment_sets_domains_and_threads() {
        let threads = Builder::default().threads;
        assert_eq!(parse("FOLIO_CPU_DOMAINS", "4"), Ok((4, threads)));
        assert_eq!(parse("FOLIO_CPU_THREADS", "7"), Ok((1, 7)));
        assert_eq!(parse("SOMETHING_ELSE", "7"), Ok((1, threads)));
    }

    #[test]
    fn bad_values_name_the_variable_the_value_and_what_is_allowed() {
        for (name, max) in [("FOLIO_CPU_DOMAINS", MAX_DOMAINS), ("FOLIO_CPU_THREADS", MAX_THREADS)]
        {
            let too_many = (max + 1).to_string();
            for value in
                ["", "0", "-1", "+2", " 2", "two", "1e3", "99999999999999999999", &too_many]
            {
                let error = parse(name, value).unwrap_err();
                assert_eq!((error.setting.as_str(), error.value.as_str()), (name, value));
                assert_eq!(error.allowed, format!("a whole number, 1 to {max}"));
                assert!(error.to_string().contains(name), "{error}");
            }
        }
    }

    #[test]
    fn the_environment_sets_the_limits_of_groups() {
        let of = |value: &str| {
            let lookup = |name: &str| (name == "FOLIO_CPU_LIMITS").then(|| value.into());
            Builder::from_lookup(lookup).map(|builder| builder.group_limits)
        };
        assert_eq!([of("cpu"), of("gpu")], [Ok(GroupLimits::CPU), Ok(GroupLimits::GPU)]);
        let refused = of("GPU").unwrap_err();
        assert_eq!((&*refused.setting, &*refused.value), ("FOLIO_CPU_LIMITS", "GPU"));
    }

    #[cfg(unix)]
    #[test]
    fn a_value_that_is_not_text_is_refused() {
        use std::os::unix::ffi::OsStringExt;
        let error = Builder::from_lookup(|_| Some(OsString::from_vec(vec![0xff]))).unwrap_err();
        assert_eq!(error.setting, "FOLIO_CPU_DOMAINS");
    }
}
