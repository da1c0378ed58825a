//! Traces: of a program, which is this test again, by `folio trace`.
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

use folio::prelude::*;
use serde_json::Value;
use std::collections::HashMap;
use std::path::PathBuf;
use std::process::{Command, Output};

/// Set where this is the program.
const PROGRAM: &str = "FOLIO_TEST_TRACED";
const N: usize = 1000;

#[kernel]
fn add(i: Item, n: u32, x: InOut<u32>) {
    x[i] += n;
}

#[kernel]
fn divide(i: Item, n: u32, x: InOut<u32>) {
    assert!(n > 0, "no zeros");
    x[i] /= n;
    x[i] = x[i].max((n as f32).fast_recip() as u32);
}

/// Four commands on two devices, each after the one before.
fn program() -> folio::Result<()> {
    let rt = folio::runtime()?;
    let mut x = rt.buffer_with(&[1; N], BufferOptions::new().label("data"))?;
    for device in ["cpu:0", "cpu:1", "cpu:0"] {
        rt.queue_on(device)?.run(N, add(1, &mut x))?;
    }
    rt.queue_on("cpu:1")?.run(N, divide(2, &mut x))?;
    assert_eq!(x.to_vec()?, [2; N]);
    rt.wait()
}

#[kernel]
fn scale(i: Item, by: u32, x: In<u32>, y: Out<u32>) {
    y[i] = by * x[i];
}

#[kernel]
fn look_left(i: Item, x: In<u32>, y: Out<u32>) {
    let k = i.index();
    y[i] = if k > 0 { x[k - 1] } else { 0 };
}

/// Two kernels that become one launch, and a third that reads its neighbours' results.
fn fusion() -> folio::Result<()> {
    let rt = folio::runtime()?;
    let q = rt.queue_on("cpu:0")?;
    let (x, mut y) = (rt.buffer_from(&[1; N])?, rt.buffer(N)?);
    q.batch_fused(|q| {
        let between = BufferOptions::new().label("between");
        let mut first = rt.buffer_with::<u32, 1>([N], between)?;
        let mut second = rt.buffer_with::<u32, 1>([N], BufferOptions::new().label("second"))?;
        q.run(N, scale(2, &x, &mut first))?;
        q.run(N, scale(3, &first, &mut second))?;
        q.run(N, look_left(&second, &mut y))
    })?;
    assert_eq!(y.to_vec()?[..3], [0, 6, 6]);
    rt.wait()
}

/// Rows of a domain of the stencil, and floats of a row, which is a page.
const BAND: usize = 16;
const COLUMNS: usize = 64;
const STEPS: usize = 5;

#[kernel]
fn heat(i: Item<2>, old: In<f32, 2>, new: Out<f32, 2>) {
    let (r, c) = i.pos();
    new[i] = 0.5 * old[(r + 1, c)] + 0.25 * (old[(r, c)] + old[(r + 2, c)]);
}

/// Steps over bands of rows on four domains, between which only rows at the borders move.
fn stencil() -> folio::Result<()> {
    let rt = folio::runtime()?;
    let shape = [4 * BAND + 2, COLUMNS];
    let plate = |label| {
        let options = BufferOptions::new().label(label).page([1, COLUMNS]);
        rt.buffer_with((vec![1.0f32; shape[0] * shape[1]], shape), options)
    };
    let (mut old, mut new) = (plate("a")?, plate("b")?);
    for _ in 0..STEPS {
        for (band, device) in ["cpu:0", "cpu:1", "cpu:2", "cpu:3"].into_iter().enumerate() {
            let from = old.slice([band * BAND, 0], [BAND + 2, COLUMNS])?;
            let to = new.slice_mut([1 + band * BAND, 0], [BAND, COLUMNS])?;
            rt.queue_on(device)?.run([BAND, COLUMNS], heat(from, to))?;
        }
        std::mem::swap(&mut old, &mut new);
    }
    assert_eq!(old.to_vec()?, [1.0; (4 * BAND + 2) * COLUMNS]);
    rt.wait()
}

fn folio(words: &[&str]) -> Output {
    folio_on("2", words)
}

fn folio_on(domains: &str, words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_folio"));
    command.args(words).env("FOLIO_CPU_DOMAINS", domains).env(PROGRAM, "1").output().unwrap()
}

fn number(of: &Value) -> f64 {
    of.as_f64().unwrap_or(f64::NAN)
}

/// The slices by kind, and that those of a track do not overlap but by nesting.
fn slices(events: &[Value]) -> HashMap<String, Vec<Value>> {
    let mut all: HashMap<_, Vec<_>> = HashMap::new();
    let mut ends: HashMap<String, f64> = HashMap::new();
    for slice in events.iter().filter(|e| e["ph"] == "X") {
        let (from, length) = (number(&slice["ts"]), number(&slice["dur"]));
        assert!(from >= 0.0 && length >= 0.0, "{slice}");
        if slice["cat"] != "call" {
            let end = ends.entry(slice["tid"].to_string()).or_default();
            assert!(from >= *end - 0.01, "{slice} begins before {end}");
            *end = from + length;
        }
        all.entry(slice["cat"].as_str().unwrap().to_owned()).or_default().push(slice.clone());
    }
    all
}

/// OBS-01: a program's trace has a track for each lane, its copies with their bytes, and arrows
/// from what a command waited for. OBS-02: its commands can be explained. KRN-10: so can the
/// checks that are left in them.
#[test]
fn a_program_is_traced_and_explained() {
    if std::env::var_os(PROGRAM).is_some() {
        return program().unwrap();
    }
    let file = std::env::temp_dir().join(format!("folio-traced-{}.json", std::process::id()));
    let file = Gone(file);
    let (out, this) = (file.0.to_str().unwrap(), std::env::current_exe().unwrap());
    let again = ["a_program_is_traced_and_explained", "--exact"];
    let traced = folio(&[&["trace", "-o", out, this.to_str().unwrap()], &again[..]].concat());
    assert!(traced.status.success(), "{traced:?}");

    let text = std::fs::read_to_string(&file.0).unwrap();
    let events: Vec<Value> = serde_json::from_str(&text).unwrap();
    let slices = slices(&events);
    assert_eq!(slices["kernel"].len(), 4, "{slices:#?}");
    let names = events.iter().filter(|e| e["name"] == "thread_name");
    let names: HashMap<_, _> = names.map(|e| (e["tid"].to_string(), &e["args"]["name"])).collect();
    for kernel in &slices["kernel"] {
        let args = &kernel["args"];
        let lane = format!("{} lane {}", args["device"].as_str().unwrap(), args["lane"]);
        assert_eq!(names[&kernel["tid"].to_string()], &Value::from(lane));
    }
    assert!(names.len() > 2, "{names:?}");
    // To the second device, back, and there again: the first one has the host's memory.
    let bytes = slices["transfer"].iter().map(|s| s["args"]["bytes"].as_u64().unwrap());
    assert!(
        slices["transfer"].len() >= 3 && bytes.clone().all(|b| b == 4 * N as u64),
        "{slices:#?}"
    );

    // Each arrow leads from the end of one slice to the beginning of another.
    let arrows = |ph: &str| {
        let all = events.iter().filter(|e| e["ph"] == ph);
        all.map(|e| (e["id"].to_string(), e.clone())).collect::<HashMap<_, _>>()
    };
    let (from, to) = (arrows("s"), arrows("f"));
    assert!(!from.is_empty() && from.len() == to.len(), "{events:#?}");
    for (id, from) in &from {
        let within = |arrow: &Value| {
            slices.values().flatten().any(|slice| {
                let (at, begin) = (number(&arrow["ts"]), number(&slice["ts"]));
                let end = begin + number(&slice["dur"]);
                slice["tid"] == arrow["tid"] && begin <= at + 0.01 && at <= end + 0.01
            })
        };
        assert!(within(from) && within(&to[id]), "{from} {}", to[id]);
        assert!(number(&from["ts"]) <= number(&to[id]["ts"]), "{from} {}", to[id]);
    }

    let explained = folio(&["explain", out, "add", "--json"]);
    let records: Value = serde_json::from_slice(&explained.stdout).unwrap();
    let records = records.as_array().unwrap();
    assert_eq!(records.len(), 3, "{records:#?}");
    assert_eq!(records[1]["device"], "cpu:1");
    assert_eq!(records[1]["moves"][0]["bytes"], 4 * N, "{records:#?}");
    assert_eq!(records[1]["moves"][0]["buffer"], "data");
    assert!(!records[1]["waited_for"].as_array().unwrap().is_empty(), "{records:#?}");
    assert_eq!(records[1]["allocations"][0]["on"], "cpu:1", "{records:#?}");
    assert_eq!(records[2]["allocations"], Value::Array(vec![]), "{records:#?}");
    assert!(records.iter().all(|record| record["checks"] == Value::Array(vec![])), "{records:#?}");
    let text = String::from_utf8(folio(&["explain", out]).stdout).unwrap();
    for line in [
        "moved 4000 bytes",
        "allocated 4000 bytes for `data` on cpu:1",
        "has no run-time checks",
        "trace.rs:22:5: a divisor is no constant, and may be zero",
        "trace.rs:21:5: an assertion: no zeros",
        "has fast functions: its bits may differ between devices",
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
    let dot = String::from_utf8(folio(&["explain", out, "--dot"]).stdout).unwrap();
    graph_has_the_chain(&dot);
    the_table_has_every_command(out);
    let none = folio(&["explain", out, "nothing"]);
    assert!(String::from_utf8_lossy(&none.stderr).contains("there are add, divide"), "{none:?}");
}

/// OBS-02: what commands took is by their devices' clocks, where that was asked for.
#[test]
fn device_times_are_explained() {
    let file = std::env::temp_dir().join(format!("folio-timed-{}.json", std::process::id()));
    let file = Gone(file);
    let (out, this) = (file.0.to_str().unwrap(), std::env::current_exe().unwrap());
    let mut traced = Command::new(env!("CARGO_BIN_EXE_folio"));
    traced.args(["trace", "-o", out, this.to_str().unwrap()]);
    traced.args(["a_program_is_traced_and_explained", "--exact"]).env(PROGRAM, "1");
    traced.env("FOLIO_CPU_DOMAINS", "2").env("FOLIO_DEVICE_TIMES", "on");
    assert!(traced.output().unwrap().status.success());
    let explained = folio(&["explain", out, "add", "--json"]);
    let records: Value = serde_json::from_slice(&explained.stdout).unwrap();
    let is_timed = |record: &Value| record["device_nanoseconds"].as_u64() > Some(0);
    assert!(records.as_array().unwrap().iter().all(is_timed), "{records:#?}");
    let text = String::from_utf8(folio(&["explain", out]).stdout).unwrap();
    assert_eq!(text.matches(" by the device's clock").count(), 4, "{text}");
}

/// OBS-02: explaining begins with a table; commands go by label, kernel and number, and are sorted
/// on request.
fn the_table_has_every_command(trace: &str) {
    let rows = |words: &[&str]| {
        let output = folio(&[&["explain", trace, "--table"], words].concat());
        let text = String::from_utf8(output.stdout).unwrap();
        let lines = text.lines().map(|line| line.split("  ").map(str::trim));
        let cells = |line: std::iter::Map<_, _>| -> Vec<String> {
            line.filter(|cell: &&str| !cell.is_empty()).map(str::to_owned).collect()
        };
        lines.map(cells).collect::<Vec<_>>()
    };
    let all = rows(&[]);
    assert_eq!(all[0], ["#", "command", "kernel", "device", "began", "took", "in all", "moved"]);
    let named: Vec<_> = all[1..].iter().map(|row| row[..4].join(" ")).collect();
    let expected =
        ["1 add add cpu:0", "2 add add cpu:1", "3 add add cpu:0", "4 divide divide cpu:1"];
    assert_eq!(named[..4], expected, "{all:?}");
    assert_eq!((all[1][4].as_str(), all[1][7].as_str()), ("0 ns", "0 bytes"), "{all:?}");
    assert_eq!(all[2][7], "4000 bytes");
    assert_eq!(all[1][6], all[3][6], "one label, one sum: {all:?}");
    let one = |word: &str| rows(&[word])[1..].iter().map(|row| row[0].clone()).collect::<Vec<_>>();
    assert_eq!(
        (one("divide"), one("#3"), one("add")),
        (vec!["4".into()], vec!["3".into()], vec!["1".into(), "2".into(), "3".into()])
    );
    let moved = rows(&["--sort", "bytes"]);
    assert_eq!(moved[1][7], "4000 bytes", "{moved:?}");
    assert_eq!(moved.last().unwrap()[7], "0 bytes", "{moved:?}");
}

/// OBS-02: a command tells which fusion it took part in, or why it did not, as text and as JSON.
#[test]
fn commands_tell_of_their_fusion() {
    if std::env::var_os(PROGRAM).is_some() {
        return fusion().unwrap();
    }
    let file = std::env::temp_dir().join(format!("folio-fusion-{}.json", std::process::id()));
    let file = Gone(file);
    let (out, this) = (file.0.to_str().unwrap(), std::env::current_exe().unwrap());
    let again = ["commands_tell_of_their_fusion", "--exact"];
    let traced = folio(&[&["trace", "-o", out, this.to_str().unwrap()], &again[..]].concat());
    assert!(traced.status.success(), "{traced:?}");

    let explained = folio(&["explain", out, "--json"]);
    let records: Value = serde_json::from_slice(&explained.stdout).unwrap();
    let of = |label: &str| {
        let all = records.as_array().unwrap();
        let record = all.iter().find(|record| record["label"] == label).unwrap();
        let lines = record["fusion"].as_array().cloned().unwrap_or_default();
        lines.iter().map(|line| line.as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let fused = of("scale+scale");
    assert!(fused[0].starts_with("fused `scale+scale`: scale, scale"), "{fused:?}");
    assert!(fused.iter().any(|line| line.starts_with("`between`: register, ")), "{fused:?}");
    let why = "`second`: the second reads what the first writes, at an item's neighbour (-1)";
    let alone = of("look_left");
    assert_eq!(alone, [format!("not fused with `scale`: {why}")]);
    let text = String::from_utf8(folio(&["explain", out]).stdout).unwrap();
    for line in fused.iter().chain(&alone) {
        assert!(text.contains(line.as_str()), "{line}: {text}");
    }
}

/// OBS-01: the halo copies of a stencil are on tracks of their own beside its kernels, a row each.
#[test]
fn halo_copies_of_a_stencil_are_beside_its_kernels() {
    if std::env::var_os(PROGRAM).is_some() {
        return stencil().unwrap();
    }
    let file = std::env::temp_dir().join(format!("folio-stencil-{}.json", std::process::id()));
    let file = Gone(file);
    let (out, this) = (file.0.to_str().unwrap(), std::env::current_exe().unwrap());
    let again = ["halo_copies_of_a_stencil_are_beside_its_kernels", "--exact"];
    let words = [&["trace", "-o", out, this.to_str().unwrap()], &again[..]].concat();
    let traced = folio_on("4", &words);
    assert!(traced.status.success(), "{traced:?}");

    let text = std::fs::read_to_string(&file.0).unwrap();
    let slices = slices(&serde_json::from_str::<Vec<Value>>(&text).unwrap());
    let (kernels, copies) = (&slices["kernel"], &slices["transfer"]);
    assert_eq!(kernels.len(), 4 * STEPS);
    let beside = |copy: &Value| kernels.iter().all(|kernel| kernel["tid"] != copy["tid"]);
    assert!(copies.iter().all(beside), "{slices:#?}");
    let place =
        |of: &Value| if *of == "the host" { 0 } else { of.as_str().unwrap()[4..].parse().unwrap() };
    for (from, to) in [(0, 1), (1, 0), (1, 2), (2, 1), (2, 3), (3, 2i32)] {
        let is_halo = |copy: &&Value| {
            let args = &copy["args"];
            (place(&args["from"]), place(&args["to"])) == (from, to)
                && args["bytes"] == COLUMNS * size_of::<f32>()
        };
        // The first step's data come from the host with all the rest.
        assert!(copies.iter().filter(is_halo).count() >= STEPS - 1, "{from} to {to}: {copies:#?}");
    }
}

/// OBS-01: the task graph, in which a path leads from the first command to the last.
fn graph_has_the_chain(dot: &str) {
    assert!(dot.starts_with("digraph \"trace\" {\n") && dot.ends_with("}\n"), "{dot}");
    let node = |label: &str| {
        let is = |line: &&str| line.contains(&format!("label=\"{label}"));
        let found: Vec<_> = dot.lines().filter(is).collect();
        found.iter().map(|line| line.split_whitespace().next().unwrap()).collect::<Vec<_>>()
    };
    let edges: Vec<_> = dot
        .lines()
        .filter_map(|line| line.trim().trim_end_matches(';').split_once(" -> "))
        .collect();
    let (adds, last) = (node("kernel add\\n"), node("kernel divide\\ncpu:1"));
    assert_eq!((adds.len(), last.len()), (3, 1), "{dot}");
    assert!(node("transfer data\\n").len() >= 3, "{dot}");
    let mut reached = vec![adds[0]];
    while let Some((_, to)) =
        edges.iter().find(|(from, to)| reached.contains(from) && !reached.contains(to))
    {
        reached.push(to);
    }
    assert!(reached.contains(&last[0]), "{dot}");
}

/// A file that goes.
struct Gone(PathBuf);

impl Drop for Gone {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}
