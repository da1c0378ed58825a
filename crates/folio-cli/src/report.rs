//! `folio doctor --report`: what a maintainer needs to know of a machine, as one file with nothing
//! private in it.

use crate::devices;
use folio::Runtime;
use serde_json::{Map, Value, json};
use std::ffi::OsString;
use std::fs;

/// Variables that are not Folio's, and decide which devices there are or how they work.
const OF_DRIVERS: &[&str] = &[
    "CUDA_DEVICE_ORDER",
    "CUDA_HOME",
    "CUDA_LAUNCH_BLOCKING",
    "CUDA_VISIBLE_DEVICES",
    "LD_LIBRARY_PATH",
    "LIBGL_ALWAYS_SOFTWARE",
    "MESA_VK_DEVICE_SELECT",
    "NVIDIA_VISIBLE_DEVICES",
    "OCL_ICD_FILENAMES",
    "OCL_ICD_VENDORS",
    "OMP_NUM_THREADS",
    "POCL_DEVICES",
    "POCL_EXTRA_BUILD_FLAGS",
    "RAYON_NUM_THREADS",
    "VK_DRIVER_FILES",
    "VK_ICD_FILENAMES",
    "VK_INSTANCE_LAYERS",
];

/// The report, from what the doctor has found.
pub fn of(rt: &Runtime, doctor: &Value) -> Value {
    let devices = rt.devices().into_iter().map(|device| {
        let mut record = devices::record(&device);
        // It tells one card from all others of its kind.
        record.as_object_mut().map(|all| all.remove("uuid"));
        record
    });
    let devices: Vec<_> = devices.collect();
    let built = folio::BACKENDS.iter().map(|(name, there)| ((*name).to_owned(), (*there).into()));
    let report = json!({
        "folio": env!("CARGO_PKG_VERSION"),
        "built_with": Value::Object(Map::from_iter(built)),
        "machine": machine(),
        "environment": environment(std::env::vars_os()),
        "devices": devices,
        "doctor": doctor,
    });
    Private::here().hide(report)
}

fn machine() -> Value {
    let read = |file: &str| fs::read_to_string(file).unwrap_or_default();
    let field = |text: &str, name: &str, between: char| {
        let value = text.lines().find_map(|line| {
            let (key, value) = line.split_once(between)?;
            (key.trim() == name).then(|| value.trim().trim_matches('"').to_owned())
        });
        value.map_or(Value::Null, Value::from)
    };
    let (system, processor) = (read("/etc/os-release"), read("/proc/cpuinfo"));
    let memory = read("/proc/meminfo");
    json!({
        "system": std::env::consts::OS,
        "architecture": std::env::consts::ARCH,
        "distribution": field(&system, "PRETTY_NAME", '='),
        "kernel": read("/proc/sys/kernel/osrelease").trim(),
        "processor": field(&processor, "model name", ':'),
        "threads": std::thread::available_parallelism().map_or(0, usize::from),
        "memory": field(&memory, "MemTotal", ':'),
    })
}

/// The variables that matter to Folio and to drivers, sorted.
fn environment(all: impl Iterator<Item = (OsString, OsString)>) -> Value {
    let mut found: Vec<_> = all
        .map(|(name, value)| [name, value].map(|text| text.to_string_lossy().into_owned()))
        .filter(|[name, _]| name.starts_with("FOLIO_") || OF_DRIVERS.contains(&&**name))
        .collect();
    found.sort();
    Value::Object(Map::from_iter(found.into_iter().map(|[name, value]| (name, value.into()))))
}

/// Texts that say whose machine this is, and what stands in their place.
struct Private(Vec<(String, &'static str)>);

impl Private {
    fn here() -> Private {
        let variable = |name| std::env::var(name).unwrap_or_default();
        let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
        let host = if host.is_empty() { variable("COMPUTERNAME") } else { host };
        Private::of([
            (variable("HOME"), "~"),
            (variable("USERPROFILE"), "~"),
            (host, "HOST"),
            (variable("USER"), "USER"),
            (variable("USERNAME"), "USER"),
        ])
    }

    /// Of the names of machines and people those that are no words of a report. The folder comes
    /// before the name that it contains.
    fn of(all: impl IntoIterator<Item = (String, &'static str)>) -> Private {
        let all = all.into_iter().map(|(text, instead)| (text.trim().to_owned(), instead));
        Private(all.filter(|(text, _)| text.len() > 2 && text != "root").collect())
    }

    fn hide(&self, value: Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.hide_text(text)),
            Value::Array(all) => all.into_iter().map(|value| self.hide(value)).collect(),
            Value::Object(all) => {
                let all = all.into_iter().map(|(key, value)| (key, self.hide(value)));
                Value::Object(all.collect())
            }
            other => other,
        }
    }

    fn hide_text(&self, mut text: String) -> String {
        for (private, instead) in &self.0 {
            text = between_words(&text, private, instead);
        }
        text
    }
}

/// The text with another one for `private`, where that is not a part of a longer word.
fn between_words(text: &str, private: &str, instead: &str) -> String {
    let is_of_a_word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric());
    let (mut changed, mut rest) = (String::new(), text);
    while let Some(at) = rest.find(private) {
        let (before, after) = (&rest[..at], &rest[at + private.len()..]);
        let last = before.chars().next_back().or_else(|| changed.chars().next_back());
        let is_whole = !is_of_a_word(last) && !is_of_a_word(after.chars().next());
        changed += before;
        changed += if is_whole { instead } else { private };
        rest = after;
    }
    changed + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_people_and_machines_are_not_in_a_report() {
        let private = Private::of([
            ("/users/ada".to_owned(), "~"),
            ("loom\n".to_owned(), "HOST"),
            ("ada".to_owned(), "USER"),
            ("root".to_owned(), "USER"),
            (String::new(), "HOST"),
        ]);
        let found = json!({
            "cache": "/users/ada/.cache", "other": ["/srv/ada-2/loom", 3, null],
            "words": "Canada, adapter, heirloom, loom.local, /root, ada",
        });
        let hidden = json!({
            "cache": "~/.cache", "other": ["/srv/USER-2/HOST", 3, null],
            "words": "Canada, adapter, heirloom, HOST.local, /root, USER",
        });
        assert_eq!(private.hide(found), hidden);
    }

    #[test]
    fn the_environment_has_what_matters_here_alone() {
        let all =
            [("PATH", "/bin"), ("FOLIO_DEVICE", "cpu"), ("API_TOKEN", "x"), ("CUDA_HOME", "")];
        let all = all.map(|(name, value)| (name.into(), value.into()));
        let found = environment(all.into_iter());
        assert_eq!(found, json!({"CUDA_HOME": "", "FOLIO_DEVICE": "cpu"}));
    }
}
