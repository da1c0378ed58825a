//! `folio explain`: what a command in a trace moved and allocated, what it waited for, which
//! run-time checks it had, and which fusion it took part in; and a picture of what waited for what.

use crate::{Error, say, trace};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::path::Path;

/// The commands, and what was done for them.
fn operations(events: &[Value]) -> impl Iterator<Item = &Value> {
    events.iter().filter(|e| e["ph"] == "X" && e["cat"] != "call")
}

/// The record of each command, in the order in which they ended.
fn records(events: &[Value]) -> Vec<Value> {
    let operations = || operations(events);
    let names: HashMap<_, _> = operations()
        .filter_map(|e| e["args"]["stamp"].as_str().map(|of| (of, &e["name"])))
        .collect();
    let record = |command: &Value| {
        let args = &command["args"];
        let submission = &args["submission"];
        let moves = operations().filter(|e| {
            e["args"]["kind"] != "plan"
                && !submission.is_null()
                && e["args"]["submission"] == *submission
        });
        let moves = moves.map(|e| {
            let args = &e["args"];
            json!({
                "what": args["kind"], "buffer": args["label"], "from": args["from"], "to": args["to"],
                "bytes": args["bytes"], "pages": args["pages"], "rectangles": args["rects"],
                "microseconds": e["dur"],
            })
        });
        let moves: Vec<_> = moves.collect();
        let allocated = events.iter().filter(|e| {
            let is = |name: &str| name.split(' ').next() == Some("allocate");
            e["ph"] == "i"
                && e["name"].as_str().is_some_and(is)
                && !submission.is_null()
                && e["args"]["submission"] == *submission
        });
        let allocated = allocated.map(|e| {
            let args = &e["args"];
            json!({ "buffer": args["label"], "on": args["device"], "bytes": args["bytes"] })
        });
        let allocated: Vec<_> = allocated.collect();
        let after = args["after"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let after: Vec<_> = after
            .map(|stamp| names.get(stamp).map_or_else(|| json!(stamp), |name| (*name).clone()))
            .collect();
        json!({
            "command": args["what"], "label": args["label"], "device": args["device"], "lane": args["lane"],
            "accesses": args["accesses"], "begin_microseconds": command["ts"], "microseconds": command["dur"],
            "failed": args["failed"], "waited_for": after, "moves": moves, "allocations": allocated,
            "checks": args["checks"], "fusion": args["fusion"],
        })
    };
    let planned = operations().filter(|e| e["args"]["kind"] == "plan");
    let mut records: Vec<_> = planned.map(record).collect();
    // Threads tell what ends, each when it gets to that.
    let begin = |record: &Value| record["begin_microseconds"].as_f64().unwrap_or(0.0);
    records.sort_by(|a, b| begin(a).total_cmp(&begin(b)));
    records
}

pub fn run(file: &Path, label: Option<&str>, json: bool) -> Result<(), Error> {
    let mut all = records(&trace::read(file)?);
    if let Some(label) = label {
        let mut known: Vec<_> =
            all.iter().filter_map(|of| of["label"].as_str()).map(str::to_owned).collect();
        known.sort();
        known.dedup();
        all.retain(|record| record["label"] == label);
        if all.is_empty() {
            return Err(format!(
                "no command has the label '{label}'; there are {}",
                known.join(", ")
            )
            .into());
        }
    }
    if json {
        say(format_args!("{:#}", Value::from(all)));
    } else {
        all.iter().for_each(show);
    }
    Ok(())
}

/// Commands and copies with what each waited for, for Graphviz.
pub fn dot(file: &Path) -> Result<(), Error> {
    let events = trace::read(file)?;
    let all: Vec<_> = operations(&events).collect();
    let mut numbers = HashMap::new();
    for (number, operation) in all.iter().enumerate() {
        numbers.insert(operation["args"]["stamp"].as_str().unwrap_or(""), number);
    }
    say("digraph \"trace\" {");
    for (number, operation) in all.iter().enumerate() {
        let args = &operation["args"];
        let shape = if args["kind"] == "plan" { "box" } else { "ellipse" };
        let places = [&args["device"], &args["from"], &args["to"]];
        let places: Vec<_> = places.into_iter().filter_map(Value::as_str).collect();
        let name = operation["name"].as_str().unwrap_or("?");
        let name = format!("{name}\n{}", places.join(", "));
        // As a string of JSON, which is one of DOT.
        say(format_args!("  n{number} [shape={shape}, label={}];", json!(name)));
        let before = args["after"].as_array().into_iter().flatten().filter_map(Value::as_str);
        for from in before.filter_map(|stamp| numbers.get(stamp)) {
            say(format_args!("  n{from} -> n{number};"));
        }
    }
    say("}");
    Ok(())
}

fn show(record: &Value) {
    let text = |name: &str| match &record[name] {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let (us, failed) = (record["microseconds"].as_f64().unwrap_or(0.0), record["failed"] == true);
    let ended = if failed { "failed after" } else { "took" };
    say(format_args!(
        "{} `{}` on {}: {ended} {us:.1} us",
        text("command"),
        text("label"),
        text("device")
    ));
    let list = |name: &str| record[name].as_array().cloned().unwrap_or_default();
    for before in list("waited_for") {
        say(format_args!("  waited for {}", before.as_str().unwrap_or("?")));
    }
    for moved in list("moves") {
        let text = |name: &str| moved[name].as_str().unwrap_or("").to_owned();
        let (bytes, pages) = (&moved["bytes"], &moved["pages"]);
        match text("what").as_str() {
            "transfer" => say(format_args!(
                "  moved {bytes} bytes, {pages} pages, of `{}` from {} to {}",
                text("buffer"),
                text("from"),
                text("to")
            )),
            what => say(format_args!("  {what} of `{}`", text("buffer"))),
        }
    }
    if list("moves").is_empty() {
        say("  moved nothing");
    }
    for memory in list("allocations") {
        let text = |name: &str| memory[name].as_str().unwrap_or("").to_owned();
        let (bytes, buffer, on) = (&memory["bytes"], text("buffer"), text("on"));
        say(format_args!("  allocated {bytes} bytes for `{buffer}` on {on}"));
    }
    if record["checks"] == json!([]) {
        say("  has no run-time checks");
    }
    for check in list("checks") {
        say(format_args!("  checks {}", check.as_str().unwrap_or("?")));
    }
    for line in list("fusion") {
        say(format_args!("  {}", line.as_str().unwrap_or("?")));
    }
}
