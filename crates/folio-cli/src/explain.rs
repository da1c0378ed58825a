//! `folio explain`: what a command in a trace moved and allocated, what it waited for, which
//! run-time checks it had, and which fusion it took part in; and a picture of what waited for what.

use crate::{Error, say, trace};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::path::Path;

/// A command, or what was done for one.
fn is_operation(event: &Value) -> bool {
    event["ph"] == "X" && event["cat"] != "call"
}

/// What was done for the commands of one submission.
#[derive(Default)]
struct Done {
    moves: Vec<Value>,
    allocations: Vec<Value>,
}

/// The events of a trace, by what commands name them by.
#[derive(Default)]
struct Index<'t> {
    commands: Vec<&'t Value>,
    /// The names of operations, by stamp.
    names: HashMap<&'t str, &'t Value>,
    /// By submission.
    done: HashMap<u64, Done>,
}

impl<'t> Index<'t> {
    /// The events come as an iterator, which goes through them once.
    fn of(events: impl Iterator<Item = &'t Value>) -> Index<'t> {
        let mut index = Index::default();
        for event in events {
            let args = &event["args"];
            let submission = args["submission"].as_u64();
            let done = submission.map(|number| index.done.entry(number).or_default());
            if is_operation(event) {
                index.names.extend(args["stamp"].as_str().map(|stamp| (stamp, &event["name"])));
                match args["kind"] == "plan" {
                    true => index.commands.push(event),
                    false => done.into_iter().for_each(|done| done.moves.push(moved(event))),
                }
            } else if is_allocation(event) {
                done.into_iter().for_each(|done| done.allocations.push(allocated(event)));
            }
        }
        index
    }

    fn record(&self, command: &Value) -> Value {
        let args = &command["args"];
        let none = Done::default();
        let done = args["submission"].as_u64().and_then(|number| self.done.get(&number));
        let Done { moves, allocations } = done.unwrap_or(&none);
        let name =
            |stamp| self.names.get(stamp).map_or_else(|| json!(stamp), |name| (*name).clone());
        let after = args["after"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let after: Vec<_> = after.map(name).collect();
        json!({
            "command": args["what"], "label": args["label"], "device": args["device"], "lane": args["lane"],
            "accesses": args["accesses"], "begin_microseconds": command["ts"], "microseconds": command["dur"],
            "failed": args["failed"], "waited_for": after, "moves": moves, "allocations": allocations,
            "checks": args["checks"], "fusion": args["fusion"],
        })
    }
}

fn is_allocation(event: &Value) -> bool {
    let name = event["name"].as_str().unwrap_or("");
    event["ph"] == "i" && name.split(' ').next() == Some("allocate")
}

fn moved(event: &Value) -> Value {
    let args = &event["args"];
    json!({
        "what": args["kind"], "buffer": args["label"], "from": args["from"], "to": args["to"],
        "bytes": args["bytes"], "pages": args["pages"], "rectangles": args["rects"],
        "microseconds": event["dur"],
    })
}

fn allocated(event: &Value) -> Value {
    let args = &event["args"];
    json!({ "buffer": args["label"], "on": args["device"], "bytes": args["bytes"] })
}

/// The record of each command, in the order in which they began.
fn records<'t>(events: impl Iterator<Item = &'t Value>) -> Vec<Value> {
    let index = Index::of(events);
    let records = index.commands.iter().map(|command| index.record(command));
    let mut records: Vec<_> = records.collect();
    // Threads tell what ends, each when it gets to that.
    let begin = |record: &Value| record["begin_microseconds"].as_f64().unwrap_or(0.0);
    records.sort_by(|a, b| begin(a).total_cmp(&begin(b)));
    records
}

pub fn run(file: &Path, label: Option<&str>, json: bool) -> Result<(), Error> {
    let mut all = records(trace::read(file)?.iter());
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
    let all: Vec<_> = events.iter().filter(|event| is_operation(event)).collect();
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

#[cfg(test)]
mod tests {
    use super::*;

    /// So many commands, each with a copy and an allocation, and after the one before it.
    fn trace(commands: u64) -> Vec<Value> {
        let event = |ph: &str, name: String, ts: u64, args: Value| json!({"ph": ph, "cat": "", "name": name, "ts": ts, "dur": 1, "args": args});
        let of = |at: u64| {
            let (stamp, label) = (format!("s{at}"), format!("k{at}"));
            let after: Vec<_> =
                at.checked_sub(1).map(|from| format!("s{from}")).into_iter().collect();
            let plan = json!({
                "kind": "plan", "what": "kernel", "label": label, "stamp": stamp,
                "submission": at, "after": after,
            });
            let copy = json!({"kind": "transfer", "stamp": format!("c{at}"), "submission": at, "bytes": at});
            let memory = json!({"submission": at, "bytes": 2 * at});
            [
                event("i", format!("allocate {label}"), 3 * at, memory),
                event("X", format!("transfer {label}"), 3 * at + 1, copy),
                event("X", format!("kernel {label}"), 3 * at + 2, plan),
            ]
        };
        (0..commands).rev().flat_map(of).collect()
    }

    /// OBS-02: each event is read once, and each command has what was done for it alone.
    #[test]
    fn explaining_reads_each_event_once() {
        for commands in [1000, 20_000] {
            let (events, mut read) = (trace(commands), 0);
            let records = records(events.iter().inspect(|_| read += 1));
            assert_eq!((read, records.len() as u64), (3 * commands, commands));
            for (at, record) in records.iter().enumerate() {
                assert_eq!(record["label"], format!("k{at}"));
                let moved = record["moves"].as_array().map(Vec::len);
                let allocated = record["allocations"].as_array().map(Vec::len);
                assert_eq!((moved, allocated), (Some(1), Some(1)), "{record}");
                assert_eq!(record["moves"][0]["bytes"], at, "{record}");
                assert_eq!(record["allocations"][0]["bytes"], 2 * at, "{record}");
                let before = at.checked_sub(1).map(|from| json!([format!("kernel k{from}")]));
                assert_eq!(record["waited_for"], before.unwrap_or(json!([])));
            }
        }
    }
}
