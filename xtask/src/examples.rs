//! Builds the examples, the first as users do, and runs each of them, on each device that is there.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::Result;
use crate::cargo::{TESTED, cargo, executable, target_dir};
use crate::json::Json;
use crate::outcome::{Outcome, Report, Status};
use crate::process::{self, Ended, Take};

/// An example shows something; it does not compute for minutes.
const LIMIT: Duration = Duration::from_secs(120);

/// The program that the README starts with: a package of its own, without what tests need.
const FIRST: &str = "quickstart";

/// The example that prints the devices that are there, and why others are not.
const DEVICES: &str = "devices";

/// The calls by which an example uses the device that `FOLIO_DEVICE` names. Others choose their
/// own.
const ASKS: [&str; 2] = [".queue()?", "Selector::from_env()?"];

/// A program that was built.
struct Example {
    name: String,
    file: PathBuf,
    /// Whether it uses the device that `FOLIO_DEVICE` names.
    asks: bool,
}

/// Builds the first program, with the README's words.
pub fn first(root: &Path) -> Command {
    cargo(root, &["build", "--release", "--example", FIRST])
}

/// Builds the examples, then runs each. The first program is built with the README's words, in
/// release, and runs once; the others beside the tests, with what those have compiled, which has
/// every backend.
pub fn run(root: &Path) -> Result<Report> {
    let first = built(first(root))?;
    let [first] = &first[..] else {
        return Err(format!("there is no program '{FIRST}'"));
    };
    let mut others = cargo(root, &["build", "--profile", "test", "--examples"]);
    // The benchmarks' is what one of them compiles.
    others.args(TESTED);
    let others = built(others)?;
    if let Some(lost) =
        of_facade(root)?.iter().find(|name| !others.iter().any(|e| e.name == **name))
    {
        return Err(format!("the example '{lost}' is not built: are its features in use?"));
    }
    let log = target_dir(root).join("xtask").join("example.log");
    std::fs::create_dir_all(log.with_file_name(""))
        .map_err(|e| format!("{}: {e}", log.display()))?;
    let watch = |example: &Example, device: Option<&str>| {
        let mut command = Command::new(&example.file);
        command.current_dir(root);
        if let Some(device) = device {
            command.env("FOLIO_DEVICE", device);
        }
        process::watch(&mut command, LIMIT, &log)
    };
    let mut report = Report::default();
    report.outcomes.push(outcome(FIRST, &watch(first, None)?, true));
    let Some(devices) = others.iter().find(|example| example.name == DEVICES) else {
        return Err(format!("there is no example '{DEVICES}'"));
    };
    let found = watch(devices, None)?;
    report.outcomes.push(outcome(DEVICES, &found, true));
    let devices = devices_of(&found.output);
    for example in others.iter().filter(|example| example.name != DEVICES) {
        if !example.asks {
            report.outcomes.push(outcome(&example.name, &watch(example, None)?, false));
            continue;
        }
        for device in &devices {
            let name = format!("{} on {device}", example.name);
            report.outcomes.push(outcome(&name, &watch(example, Some(device))?, false));
        }
    }
    Ok(report)
}

/// The names of the facade's examples. One that needs features may not be among those built.
fn of_facade(root: &Path) -> Result<Vec<String>> {
    let folder = root.join("crates/folio/examples");
    let list = std::fs::read_dir(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let paths = list.filter_map(|entry| Some(entry.ok()?.path()));
    let sources = paths.filter(|path| path.extension().is_some_and(|end| end == "rs"));
    Ok(sources.filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned())).collect())
}

/// Says how an example has ended; what it wrote is shown if it failed, or if it `is_shown` anyway.
fn outcome(name: &str, ended: &Ended, is_shown: bool) -> Outcome {
    let status = match ended.status {
        None => Status::TimedOut,
        Some(status) if status.success() => Status::Passed,
        Some(_) => Status::Failed,
    };
    let secs = ended.time.as_secs_f64();
    let outcome = Outcome::new("example", name, status, secs, &ended.output);
    println!("{name}: {:?} after {secs:.2} s", outcome.status);
    if outcome.failed() || is_shown {
        println!("{}", outcome.output);
    }
    outcome
}

/// The devices that the example [`DEVICES`] has printed.
fn devices_of(output: &str) -> Vec<&str> {
    let names = output.lines().filter_map(|line| Some(line.split_once(": ")?.0));
    names.filter(|name| name.contains(':')).collect()
}

/// The examples that a command builds.
fn built(mut command: Command) -> Result<Vec<Example>> {
    command.arg("--message-format=json-render-diagnostics");
    let (built, messages) = process::stream(&mut command, Take::HiddenOut)?;
    if !built {
        return Err("the examples do not build".to_owned());
    }
    messages.lines().filter_map(example).collect()
}

/// The example that one of cargo's messages is about.
fn example(line: &str) -> Option<Result<Example>> {
    let (name, file) = executable(line, "example")?;
    let source = PathBuf::from(Json::parse(line)?.get("target")?.text("src_path")?);
    let read = std::fs::read_to_string(&source).map_err(|e| format!("{}: {e}", source.display()));
    Some(read.map(|text| Example { asks: asks(&text), name, file }))
}

/// True for the text of an example that uses the device that `FOLIO_DEVICE` names.
fn asks(text: &str) -> bool {
    ASKS.iter().any(|call| text.contains(call))
}

/// The manifests of the packages under `examples`, which are no members of the workspace: as what
/// users write is none.
pub fn outside(root: &Path) -> Result<Vec<PathBuf>> {
    let folder = root.join("examples");
    let list = std::fs::read_dir(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let manifest = |entry: std::io::Result<std::fs::DirEntry>| {
        entry.ok().map(|entry| entry.path().join("Cargo.toml")).filter(|path| path.exists())
    };
    let mut found: Vec<_> = list.filter_map(manifest).collect();
    found.sort();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree;

    #[test]
    fn devices_are_read_and_reasons_are_not() {
        let text = "cpu:0: Some CPU: 2 cores\nopencl:0: Portable\nnot there: cuda: no driver\n";
        assert_eq!(devices_of(text), ["cpu:0", "opencl:0"]);
    }

    /// Each picture of the gallery is what an example of its name writes, and no page is slow.
    #[test]
    fn pictures_of_the_gallery_have_programs() {
        let root = tree::root().unwrap();
        let programs = of_facade(&root).unwrap();
        let files = tree::files(&root).unwrap();
        let page = files.iter().find(|file| file.path == "docs/guide/gallery.md").unwrap();
        let pictures = files.iter().filter_map(|f| f.path.strip_prefix("docs/gallery/"));
        let pictures: Vec<_> = pictures.filter_map(|name| name.strip_suffix(".png")).collect();
        assert_eq!(pictures.len(), 12);
        for name in pictures {
            assert!(programs.iter().any(|program| program == name), "{name}");
            let links = [format!("(../gallery/{name}.png)"), format!("examples/{name}.rs)")];
            assert!(links.iter().all(|link| page.text.contains(link)), "{name}");
            let path = root.join(format!("docs/gallery/{name}.png"));
            assert!(path.metadata().unwrap().len() <= 60_000, "{name}");
        }
    }

    /// A new way to ask for a device would leave all examples on one.
    #[test]
    fn examples_that_ask_for_a_device_are_known() {
        let files = tree::files(&tree::root().unwrap()).unwrap();
        let all = files.iter().filter(|f| {
            f.is_rust() && f.path.contains("crates/folio/examples/") && !f.path.ends_with("/mod.rs")
        });
        let (asking, own): (Vec<_>, Vec<_>) = all.partition(|file| asks(&file.text));
        assert!(asking.len() >= 6, "{}", asking.len());
        for file in own {
            let chooses = ["CpuBackend", "queue_on(", "rt.devices()"];
            assert!(chooses.iter().any(|call| file.text.contains(call)), "{}", file.path);
        }
    }
}
