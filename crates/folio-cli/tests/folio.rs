//! The program, as users call it.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests may panic")]

use folio_cache::{Bundle, Cache, Key};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// A folder that goes.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("folio-cli-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        let mut builder = fs::DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(&path).unwrap();
        Folder(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Variables by which no driver is found that is not the processor.
fn no_drivers() -> [(&'static str, &'static Path); 2] {
    ["OCL_ICD_VENDORS", "VK_DRIVER_FILES"].map(|name| (name, Path::new("/nowhere")))
}

fn folio(words: &[&str], environment: &[(&str, &Path)]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_folio"));
    command.args(words).env_remove("FOLIO_CACHE").env("FOLIO_CPU_DOMAINS", "2");
    command.envs(environment.iter().copied()).output().unwrap()
}

fn out(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn errors(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

fn json(words: &[&str], environment: &[(&str, &Path)]) -> Value {
    let output = folio(words, environment);
    serde_json::from_str(&out(&output)).unwrap_or_else(|_| panic!("{output:?}"))
}

/// OBS-01: the devices and what they can do, for people and for programs.
#[test]
fn devices_are_listed() {
    let found = json(&["devices", "--json"], &[]);
    let cpu = found["devices"].as_array().unwrap().iter().find(|d| d["name"] == "cpu:1").unwrap();
    assert_eq!(cpu["kind"], "cpu");
    assert!(cpu["memory_bytes"].as_u64().unwrap() > 0);
    assert!(cpu["features"].as_array().unwrap().contains(&"closures".into()), "{cpu}");
    let limits = &cpu["limits"];
    assert_eq!([&limits["f64"], &limits["f16"], &limits["atomics64"]], [true; 3], "{cpu}");
    assert_eq!((&limits["group_items"], &limits["subgroup_items"]), (&Value::Null, &1.into()));
    let variables = [("FOLIO_CPU_LIMITS", Path::new("gpu"))];
    let held = json(&["devices", "--json"], &variables);
    assert_eq!(held["devices"][0]["limits"]["group_items"], 256);
    assert_eq!(held["devices"][0]["limits"]["local_memory_bytes"], 32 << 10);
    let table = out(&folio(&["devices"], &variables));
    assert!(table.lines().any(|line| line.starts_with("cpu:1 ")), "{table}");
    let told = "f64, f16, 64-bit atomics; groups of 256 items at most with 32 KiB of local memory";
    assert!(table.contains(told), "{table}");
}

/// Links are measured in both directions, and between devices.
#[test]
fn links_are_measured() {
    let found = json(&["devices", "--json", "--measure"], &no_drivers());
    let links = found["links"].as_array().unwrap();
    for (from, to) in [("host", "cpu:1"), ("cpu:1", "host"), ("cpu:0", "cpu:1")] {
        let link = links.iter().find(|link| link["from"] == from && link["to"] == to).unwrap();
        assert!(link["megabytes_per_second"].as_f64().is_some_and(|speed| speed > 0.0), "{link}");
    }
}

/// A stranger's report has what a maintainer asks for, and not who the stranger is.
#[test]
fn a_report_tells_of_the_machine_and_of_nobody() {
    let folder = Folder::new("report-of-ada");
    let (file, home) = (folder.0.join("report.json"), folder.0.clone());
    let none = no_drivers();
    let variables = [none[0], none[1], ("HOME", &*home), ("USER", Path::new("ada"))];
    let output = folio(&["doctor", "--report", file.to_str().unwrap()], &variables);
    assert!(out(&output).contains("cpu: works"), "{output:?}");
    let text = fs::read_to_string(&file).unwrap();
    let report: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(report["environment"]["FOLIO_CPU_DOMAINS"], "2");
    assert!(report["machine"]["threads"].as_u64().unwrap() > 0, "{report}");
    let device = &report["devices"][0];
    assert!(device["name"] == "cpu:0" && device.get("uuid").is_none(), "{device}");
    assert!(backend(&report["doctor"], "cpu")["devices"][1]["self_test_ms"].is_number());
    assert!(!text.contains(home.to_str().unwrap()), "{text}");
    let refused = folio(&["doctor", "--report", home.to_str().unwrap()], &variables);
    assert_eq!(refused.status.code(), Some(2));
    assert!(errors(&refused).contains("no plain file") && out(&refused).is_empty(), "{refused:?}");
}

/// The doctor's report of one backend.
fn backend(found: &Value, name: &str) -> Value {
    let all = found["backends"].as_array().unwrap();
    all.iter().find(|of| of["backend"] == name).unwrap().clone()
}

/// A machine without a loader has no OpenCL, and is told which package has one.
#[cfg(target_os = "linux")]
#[test]
fn doctor_without_a_loader_names_its_package() {
    let folder = Folder::new("loader");
    fs::write(folder.0.join("libOpenCL.so.1"), "no library").unwrap();
    let environment = [("LD_LIBRARY_PATH", &*folder.0), ("FOLIO_CACHE_DIR", &*folder.0)];
    let found = json(&["doctor", "--json"], &environment);
    let opencl = backend(&found, "opencl");
    assert_eq!(opencl["devices"], Value::Array(vec![]));
    assert!(opencl["reasons"][0].as_str().unwrap().contains("no OpenCL loader"), "{opencl}");
    assert!(opencl["advice"][0].as_str().unwrap().contains("ocl-icd"), "{opencl}");
    // The others are none the worse.
    assert!(backend(&found, "cpu")["devices"][1]["self_test_ms"].as_f64().is_some(), "{found}");
    assert_eq!(found["cache"]["error"], Value::Null);
    let text = out(&folio(&["doctor"], &environment));
    assert!(text.contains("opencl: no devices") && text.contains("self-test passed"), "{text}");
}

/// A library that does not load is named with the loader's words, unless the toolkit's folder has
/// another one.
#[cfg(all(target_os = "linux", feature = "cuda"))]
#[test]
fn doctor_names_a_library_that_does_not_load() {
    let folder = Folder::new("libraries");
    for file in ["libcublas.so.13", "libcublas.so.12", "libcublas.so"] {
        fs::write(folder.0.join(file), "no library").unwrap();
    }
    let environment = [("LD_LIBRARY_PATH", &*folder.0), ("FOLIO_CACHE_DIR", &*folder.0)];
    let found = json(&["doctor", "--json"], &environment);
    let [cublas, cufft, cusparse] = [0, 1, 2].map(|at| &found["libraries"][at]);
    let names = [cublas, cufft, cusparse].map(|of| &of["library"]);
    assert_eq!(names, ["cuBLAS", "cuFFT", "cuSPARSE"]);
    let is_in_toolkit = Path::new("/usr/local/cuda/lib64/libcublas.so").exists();
    let error = cublas["error"].as_str().unwrap_or("");
    assert_eq!(error.starts_with("cuBLAS is not installed: "), !is_in_toolkit, "{found}");
}

/// Whether this machine has an OpenCL loader.
#[cfg(target_os = "linux")]
fn has_loader() -> bool {
    let found = json(&["doctor", "--json"], &[("OCL_ICD_VENDORS", Path::new("/nowhere"))]);
    !backend(&found, "opencl")["reasons"].to_string().contains("no OpenCL loader")
}

/// A loader that finds no driver is told from no loader.
#[cfg(target_os = "linux")]
#[test]
fn doctor_without_a_driver_names_the_folder_and_a_package_opencl() {
    if !has_loader() {
        return;
    }
    let environment = [("OCL_ICD_VENDORS", Path::new("/nowhere"))];
    let opencl = backend(&json(&["doctor", "--json"], &environment), "opencl");
    assert!(opencl["reasons"][0].as_str().unwrap().contains("no OpenCL platform"), "{opencl}");
    let advice = opencl["advice"][0].as_str().unwrap();
    assert!(advice.contains("OCL_ICD_VENDORS=/nowhere") && advice.to_lowercase().contains("pocl"));
}

/// Vulkan is one of the backends; without a loader or a driver, its packages are named.
#[cfg(target_os = "linux")]
#[test]
fn doctor_without_vulkan_names_its_packages() {
    let folder = Folder::new("vulkan");
    fs::write(folder.0.join("libvulkan.so.1"), "no library").unwrap();
    let variables = [("LD_LIBRARY_PATH", &*folder.0), ("FOLIO_CACHE_DIR", &*folder.0)];
    let vulkan = backend(&json(&["doctor", "--json"], &variables), "vulkan");
    assert!(vulkan["reasons"][0].as_str().unwrap().contains("no Vulkan loader"), "{vulkan}");
    let advice = vulkan["advice"][0].as_str().unwrap().to_lowercase();
    assert!(advice.contains("vulkan") && advice.contains("mesa"), "{vulkan}");
    // Where there is a loader, a driver is what is missing.
    let vulkan = backend(&json(&["doctor", "--json"], &no_drivers()), "vulkan");
    let advice = vulkan["advice"][0].as_str().unwrap();
    let has_loader = !vulkan["reasons"].to_string().contains("no Vulkan loader");
    assert!(!has_loader || advice.contains("VK_DRIVER_FILES=/nowhere"), "{vulkan}");
}

/// PoCL alone works, and is told to be the processor.
#[cfg(target_os = "linux")]
#[test]
fn doctor_with_pocl_only_says_that_it_is_the_processor_opencl() {
    let folder = Folder::new("pocl");
    let found = json(&["doctor", "--json"], &[("FOLIO_CACHE_DIR", &folder.0)]);
    let opencl = backend(&found, "opencl");
    let devices = opencl["devices"].as_array().unwrap();
    let pocl = |d: &Value| d["product"].as_str().unwrap_or("").to_lowercase().contains("cpu");
    if devices.is_empty() || !devices.iter().all(pocl) {
        return;
    }
    assert!(devices.iter().all(|device| device["self_test_ms"].is_number()), "{opencl}");
    assert!(opencl["advice"][0].as_str().unwrap().contains("the processor only"), "{opencl}");
}

/// A cache that others can read is not used, and the doctor says what it has to be.
#[cfg(unix)]
#[test]
fn doctor_with_an_unusable_cache_fails_with_the_reason() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new("cache");
    let programs = folder.0.join("programs");
    fs::create_dir(&programs).unwrap();
    fs::set_permissions(&programs, fs::Permissions::from_mode(0o755)).unwrap();
    let output = folio(&["doctor"], &[("FOLIO_CACHE_DIR", &folder.0)]);
    assert_eq!(output.status.code(), Some(1));
    let text = out(&output);
    assert!(text.contains("cache: FAILED") && text.contains("mode 700"), "{text}");
    let listed = folio(&["cache", "list"], &[("FOLIO_CACHE_DIR", &folder.0)]);
    assert_eq!(listed.status.code(), Some(2));
    assert!(errors(&listed).contains("permission denied"), "{listed:?}");
    // A file where the directory should be.
    let file = folder.0.join("file");
    fs::write(&file, "").unwrap();
    let found = json(&["doctor", "--json"], &[("FOLIO_CACHE_DIR", &file)]);
    assert!(found["cache"]["error"].is_string(), "{found}");
}

/// Stores a program there.
fn fill(folder: &Path) -> Key {
    let key = Key::named("test", "saxpy").with("source");
    let program = || Ok::<_, ()>(((), Some(b"compiled".to_vec())));
    // SAFETY: the test's own directory, and no driver runs programs of this kind.
    unsafe { Cache::at(folder).get_or_make(&key, |_| Some(()), program) }.unwrap();
    key
}

/// CACHE-01: the cache is listed, measured, cleared.
#[test]
fn the_cache_is_listed_and_cleared() {
    let folder = Folder::new("list");
    let here: &[(&str, &Path)] = &[("FOLIO_CACHE_DIR", &folder.0)];
    assert!(out(&folio(&["cache", "size"], here)).starts_with("0 programs, 0 bytes"));
    fill(&folder.0);
    let found = json(&["cache", "list", "--json"], here);
    assert_eq!(found["programs"].as_array().unwrap().len(), 1);
    assert_eq!(found["programs"][0]["kind"], "test");
    let list = out(&folio(&["cache", "list"], here));
    let row: Vec<_> = list.lines().nth(1).unwrap().split_whitespace().collect();
    let version = env!("CARGO_PKG_VERSION");
    assert_eq!(
        (&row[..3], &row[4..]),
        (&["saxpy", "test", version][..], &["bytes", "just", "now"][..])
    );
    assert!(list.ends_with(&format!("1 program in {}/programs\n", folder.0.display())), "{list}");
    assert!(out(&folio(&["cache", "size"], here)).starts_with("1 program, "));
    // No person is there who could be asked.
    let asked = folio(&["cache", "clear"], here);
    assert!(errors(&asked).contains("--yes") && asked.status.code() == Some(2), "{asked:?}");
    let young = folio(&["cache", "clear", "--yes", "--older-than", "1h"], here);
    assert!(out(&young).starts_with("0 programs removed"), "{young:?}");
    let wrong = folio(&["cache", "clear", "--yes", "--older-than", "soon"], here);
    assert!(errors(&wrong).contains("`90m`, `12h`, `30d`"), "{wrong:?}");
    assert!(out(&folio(&["cache", "clear", "--yes"], here)).starts_with("1 program removed"));
    assert!(out(&folio(&["cache", "list"], here)).contains("0 programs in"));
    let off = folio(&["cache", "size"], &[("FOLIO_CACHE", Path::new("off"))]);
    assert_eq!(off.status.code(), Some(2));
}

/// The command packs directories, and says what is wrong with its words.
#[test]
fn directories_are_packed() {
    let folder = Folder::new("pack");
    let key = fill(&folder.0);
    let (file, at) = (folder.0.join("bundle"), folder.0.to_str().unwrap());
    let file = file.to_str().unwrap();
    assert!(folio(&["bundle", file, at], &[]).status.success());
    // SAFETY: nothing runs what is in it.
    let bundle = unsafe { Bundle::from_bytes(&fs::read(file).unwrap()) }.unwrap();
    assert_eq!(bundle.matching(&key).next(), Some(&b"compiled"[..]));
    for wrong in [&[][..], &[file], &[file, "/no such directory"], &["/nowhere/file", at]] {
        let output = folio(&[&["bundle"], wrong].concat(), &[]);
        assert_eq!(output.status.code(), Some(2), "{wrong:?}");
        assert!(!output.stderr.is_empty(), "{wrong:?}");
    }
}

/// Bad input is an error that names it, and nothing is lost.
#[test]
fn bad_input_is_told() {
    let folder = Folder::new("bad");
    let (text, trace) = (folder.0.join("text"), folder.0.join("trace.json"));
    fs::write(&text, "no trace").unwrap();
    let (text, trace) = (text.to_str().unwrap(), trace.to_str().unwrap());
    let cases: &[(&[&str], &str)] = &[
        (&["fly"], "fly"),
        (&["explain", "/nowhere/trace.json"], "/nowhere/trace.json"),
        (&["explain", text], "no trace of Folio's"),
        (&["trace", "-o", "/nowhere/trace.json", "true"], "/nowhere/trace.json"),
        (&["trace", "-o", trace, "/nowhere/program"], "/nowhere/program"),
        (&["trace", "-o", trace], "PROGRAM"),
    ];
    for (words, what) in cases {
        let output = folio(words, &[]);
        assert_eq!(output.status.code(), Some(2), "{words:?}");
        assert!(errors(&output).contains(what), "{words:?}: {}", errors(&output));
    }
    assert_eq!(fs::read_to_string(text).unwrap(), "no trace");
    let wrong = folio(&["devices"], &[("FOLIO_CPU_DOMAINS", Path::new("many"))]);
    assert!(errors(&wrong).contains("FOLIO_CPU_DOMAINS"), "{wrong:?}");
}

/// A program without the feature is told of.
#[cfg(unix)]
#[test]
fn a_program_that_traces_nothing_is_told() {
    let folder = Folder::new("nothing");
    let file = folder.0.join("trace.json");
    let output = folio(&["trace", "-o", file.to_str().unwrap(), "true"], &[]);
    assert_eq!(output.status.code(), Some(2));
    assert!(errors(&output).contains("feature `trace`"), "{output:?}");
    assert!(!file.exists());
}

/// A place that is no plain file is refused before the program runs, and stays; so does an old
/// trace until there is a new one.
#[cfg(unix)]
#[test]
fn trace_to_what_is_no_plain_file_is_refused() {
    use std::os::unix::fs::FileTypeExt;
    let folder = Folder::new("places");
    let [pipe, old, ran] = ["pipe", "old.json", "ran"].map(|name| folder.0.join(name));
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    // A reader, so that who opens the pipe to write does not wait.
    let _reader = fs::File::options().read(true).write(true).open(&pipe).unwrap();
    let touch = ["touch", ran.to_str().unwrap()];
    for place in [&pipe, &folder.0] {
        let place = place.to_str().unwrap();
        let refused = folio(&[&["trace", "-o", place], &touch[..]].concat(), &[]);
        assert_eq!(refused.status.code(), Some(2), "{refused:?}");
        assert!(errors(&refused).contains(&format!("{place}: this is no plain file")));
    }
    assert!(fs::metadata(&pipe).unwrap().file_type().is_fifo() && !ran.exists());
    fs::write(&old, "[]").unwrap();
    let nothing = folio(&[&["trace", "-o", old.to_str().unwrap()], &touch[..]].concat(), &[]);
    assert_eq!(nothing.status.code(), Some(2), "{nothing:?}");
    assert!(ran.exists() && fs::read_to_string(&old).unwrap() == "[]");
    let cache = folder.0.join("cache");
    fill(&cache);
    let [pipe, cache] = [&pipe, &cache].map(|path| path.to_str().unwrap());
    for words in [["bundle", pipe, cache, cache], ["draw", "-o", pipe, cache]] {
        assert!(errors(&folio(&words, &[])).contains("this is no plain file"), "{words:?}");
    }
    assert_eq!(fs::read_dir(&folder.0).unwrap().count(), 4);
}

/// A trace of so many commands with this label.
fn trace_of(commands: usize, label: &str) -> Value {
    let event = |at: usize| {
        let args = serde_json::json!({
            "kind": "plan", "what": "kernel", "label": label, "kernel": "saxpy", "device": "cpu:0",
            "stamp": at.to_string(), "failed": at == 1, "submission": at, "after": [],
        });
        serde_json::json!({"ph": "X", "cat": "plan", "name": "kernel", "ts": at, "dur": 12.5, "args": args})
    };
    (0..commands).map(event).collect()
}

/// A name in a trace does nothing to the terminal; colours are there when asked for.
#[test]
fn explain_escapes_names_and_has_colours_on_request() {
    let folder = Folder::new("names");
    let file = folder.0.join("trace.json");
    fs::write(&file, trace_of(2, "a\u{1b}[2J\u{9b}\rb").to_string()).unwrap();
    let file = file.to_str().unwrap();
    let explained = |words: &[&str], colours| {
        let variables = [("CLICOLOR_FORCE", Path::new(colours))];
        out(&folio(&[&["explain", file], words].concat(), &variables))
    };
    let text = explained(&[], "0");
    assert!(!text.contains(|c: char| c.is_control() && c != '\n'), "{text:?}");
    assert!(
        text.contains("#1 kernel `a\\u{1b}[2J\\u{9b}\\rb` (`saxpy`) on cpu:0: took 12.5 us"),
        "{text}"
    );
    assert!(text.contains("on cpu:0: FAILED after 12.5 us"), "{text}");
    assert!(explained(&[], "1").contains("\u{1b}[1;31mFAILED\u{1b}[0m"));
    let json = explained(&["--json"], "1");
    assert!(!json.contains(|c: char| c.is_control() && c != '\n'), "{json:?}");
    let read: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(read[0]["label"], "a\u{1b}[2J\u{9b}\rb");
}

/// A reader that has seen enough is no failure.
#[test]
fn output_into_a_closed_pipe_is_no_failure() {
    let folder = Folder::new("pipe");
    let file = folder.0.join("trace.json");
    fs::write(&file, trace_of(3000, "many").to_string()).unwrap();
    for words in [&["--json"][..], &[], &["--dot"]] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_folio"));
        command.arg("explain").arg(&file).args(words);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success() && output.stderr.is_empty(), "{words:?}: {output:?}");
    }
}

/// Ctrl-C ends the program, and `folio trace` closes what it has traced, to its last whole line.
#[cfg(unix)]
#[test]
fn a_trace_of_an_interrupted_program_is_closed() {
    let folder = Folder::new("interrupted");
    let file = folder.0.join("trace.json");
    let program = "printf '[{\"ph\":\"M\"},\\n{\"ph\":\"M\"},\\n{\"ph' > \"$FOLIO_TRACE\"; kill -INT $PPID; exit 7";
    let output = folio(&["trace", "-o", file.to_str().unwrap(), "sh", "-c", program], &[]);
    assert_eq!(output.status.code(), Some(7), "{output:?}");
    let events: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    assert_eq!(events.as_array().unwrap().len(), 2);
    assert_eq!(fs::read_dir(&folder.0).unwrap().count(), 1);
}

/// GRAPH-04: pictures, where Graphviz is installed; without it, what to install.
#[test]
fn graphs_are_drawn_by_graphviz() {
    let folder = Folder::new("draw");
    let [file, picture] = ["graph.dot", "graph.svg"].map(|name| folder.0.join(name));
    fs::write(&file, "digraph \"g\" { n0 [label=\"0: fill `clear`\"]; }").unwrap();
    let [from, to] = [&file, &picture].map(|path| path.to_str().unwrap());
    let absent = folio(&["draw", from, "-o", to, "--dot", "/nowhere/dot"], &[]);
    assert_eq!(absent.status.code(), Some(2));
    let told = errors(&absent);
    assert!(told.contains("/nowhere/dot") && told.contains("`graphviz`"), "{told}");
    let no_file = folio(&["draw", "/nowhere/graph.dot", "-o", to], &[]);
    assert!(errors(&no_file).contains("/nowhere/graph.dot"), "{no_file:?}");
    assert!(!picture.exists());
    if Command::new("dot").arg("-V").output().is_err() {
        return println!("skipped: Graphviz is not installed");
    }
    let drawn = folio(&["draw", from, "-o", to], &[]);
    assert!(drawn.status.success(), "{drawn:?}");
    let picture = fs::read_to_string(&picture).unwrap();
    assert!(picture.contains("<svg") && picture.contains("clear"), "{picture}");
    fs::write(&file, "no graph").unwrap();
    assert_eq!(folio(&["draw", from, "-o", to], &[]).status.code(), Some(2));
}
