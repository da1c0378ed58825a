//! `folio explain`: a table of the commands in a trace, and of each what it moved and allocated,
//! what it waited for, which run-time checks it had, and which fusion it took part in; and a
//! picture of what waited for what.

use crate::terminal::{Table, Tone, say, say_json, say_parts};
use crate::{Error, trace};
use folio::ir::words::{bytes, count, nanoseconds};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::path::Path;

/// The order of commands.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Sort {
    /// Those that began first.
    Begin,
    /// Those that took longest.
    Time,
    /// Those whose label took longest in all.
    Total,
    /// Those that moved most.
    Bytes,
}

/// Which commands are told of, and how.
#[derive(clap::Args)]
pub struct Wish {
    /// Only commands with this label, of this kernel, or with this number in the table.
    pub command: Option<String>,
    /// The order of commands.
    #[arg(long, value_enum, default_value = "begin")]
    pub sort: Sort,
    /// Only the table.
    #[arg(long, conflicts_with = "json")]
    pub table: bool,
    /// As JSON.
    #[arg(long)]
    pub json: bool,
    /// All of them as a graph for Graphviz: what each waited for.
    #[arg(long, conflicts_with_all = ["json", "command", "sort", "table"])]
    pub dot: bool,
}

/// A command, or what was done for one.
fn is_operation(event: &Value) -> bool {
    event["ph"] == "X" && event["cat"] != "call"
}

/// The work for the commands of one submission.
#[derive(Default)]
struct Done {
    moves: Vec<Value>,
    allocations: Vec<Value>,
}

/// The events of a trace, by what commands name them by.
#[derive(Default)]
struct Index<'t> {
    /// In the order in which they began.
    commands: Vec<&'t Value>,
    /// The names of operations, by stamp.
    names: HashMap<&'t str, String>,
    /// By submission.
    done: HashMap<u64, Done>,
    /// Microseconds, by label.
    totals: HashMap<&'t str, f64>,
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
                let name = || text(&event["name"]).to_owned();
                index.names.extend(args["stamp"].as_str().map(|stamp| (stamp, name())));
                match args["kind"] == "plan" {
                    true => index.commands.push(event),
                    false => done.into_iter().for_each(|done| done.moves.push(moved(event))),
                }
            } else if is_allocation(event) {
                done.into_iter().for_each(|done| done.allocations.push(allocated(event)));
            }
        }
        // Threads tell what ends, each when it gets to that.
        index.commands.sort_by(|a, b| number(&a["ts"]).total_cmp(&number(&b["ts"])));
        for (at, command) in index.commands.iter().enumerate() {
            *index.totals.entry(called(&command["args"])).or_default() += number(&command["dur"]);
            if let Some(name) = index.names.get_mut(text(&command["args"]["stamp"])) {
                *name = format!("#{} {name}", at + 1);
            }
        }
        index
    }

    /// The record of a command, by its place in the order.
    fn record(&self, at: usize) -> Value {
        let command = self.commands[at];
        let args = &command["args"];
        let none = Done::default();
        let done = args["submission"].as_u64().and_then(|number| self.done.get(&number));
        let Done { moves, allocations } = done.unwrap_or(&none);
        let name = |stamp| self.names.get(stamp).map_or(stamp, String::as_str);
        let after = args["after"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let after: Vec<_> = after.map(name).collect();
        let bytes: u64 = moves.iter().filter_map(|moved| moved["bytes"].as_u64()).sum();
        json!({
            "number": at + 1, "command": args["what"], "label": args["label"], "kernel": args["kernel"],
            "device": args["device"], "lane": args["lane"],
            "accesses": args["accesses"], "begin_microseconds": command["ts"], "microseconds": command["dur"],
            "total_microseconds": self.totals.get(called(args)), "bytes_moved": bytes,
            "device_nanoseconds": args["device_ns"], "failed": args["failed"], "waited_for": after, "moves": moves, "allocations": allocations,
            "checks": args["checks"], "fast": args["fast"], "fusion": args["fusion"],
        })
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or("")
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or(0.0)
}

/// Microseconds, for a person.
fn time(value: &Value) -> String {
    nanoseconds(number(value) * 1e3)
}

/// How long a command ran: by its device's clock, if that timed it.
fn took(record: &Value) -> String {
    match record["device_nanoseconds"].as_f64() {
        Some(device) => nanoseconds(device),
        None => time(&record["microseconds"]),
    }
}

/// A command's label, or else the kernel's name, or what the command is.
fn called(args: &Value) -> &str {
    let names = [&args["label"], &args["kernel"], &args["what"], &args["command"]];
    names.into_iter().find_map(Value::as_str).unwrap_or("?")
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
    (0..index.commands.len()).map(|at| index.record(at)).collect()
}

pub fn run(file: &Path, wish: &Wish) -> Result<(), Error> {
    let events = trace::read(file)?;
    if wish.dot {
        dot(&events);
        return Ok(());
    }
    let mut all = records(events.iter());
    if let Some(command) = &wish.command {
        let count = all.len();
        let labels: Vec<_> = all.iter().filter_map(|of| of["label"].as_str()).collect();
        let refused = no_command(command, labels, count);
        all.retain(|record| is_called(record, command));
        if all.is_empty() {
            return Err(refused);
        }
    }
    let by = match wish.sort {
        Sort::Begin => None,
        Sort::Time => Some("microseconds"),
        Sort::Total => Some("total_microseconds"),
        Sort::Bytes => Some("bytes_moved"),
    };
    if let Some(by) = by {
        all.sort_by(|a, b| number(&b[by]).total_cmp(&number(&a[by])));
    }
    if wish.json {
        say_json(&Value::from(all));
        return Ok(());
    }
    table(&all);
    if !wish.table {
        say("");
        all.iter().for_each(show);
    }
    Ok(())
}

/// Whether a user means this command.
fn is_called(record: &Value, name: &str) -> bool {
    let is_number = || {
        let number = name.strip_prefix('#').unwrap_or(name).parse::<u64>().ok();
        number.is_some() && record["number"].as_u64() == number
    };
    record["label"] == name || record["kernel"] == name || is_number()
}

fn no_command(name: &str, mut labels: Vec<&str>, number: usize) -> Error {
    labels.sort_unstable();
    labels.dedup();
    let labels = match labels[..] {
        [] => "no command has a label".to_owned(),
        _ => format!("there are {}", labels.join(", ")),
    };
    let there = count(number as u64, "command");
    format!("no command has the label, kernel or number '{name}'; {labels}; the trace has {there}")
        .into()
}

fn table(all: &[Value]) {
    let columns = [">#", "command", "kernel", "device", ">began", ">took", ">in all", ">moved"];
    let mut table = Table::new(&columns);
    let first = all.iter().map(|record| number(&record["begin_microseconds"]));
    let first = first.min_by(f64::total_cmp).unwrap_or(0.0);
    for record in all {
        let began = number(&record["begin_microseconds"]) - first;
        let tone = if record["failed"] == true { Tone::Bad } else { Tone::Plain };
        let cells = vec![
            record["number"].to_string(),
            called(record).to_owned(),
            text(&record["kernel"]).to_owned(),
            text(&record["device"]).to_owned(),
            nanoseconds(began * 1e3),
            took(record),
            time(&record["total_microseconds"]),
            bytes(record["bytes_moved"].as_u64().unwrap_or(0)),
        ];
        table.row(tone, cells);
    }
    table.say();
}

/// Commands and copies with what each waited for, for Graphviz.
fn dot(events: &[Value]) {
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
}

fn show(record: &Value) {
    let name = match (&record["label"], &record["kernel"]) {
        (Value::String(label), Value::String(kernel)) if label != kernel => {
            format!(" `{label}` (`{kernel}`)")
        }
        (Value::String(name), _) | (_, Value::String(name)) => format!(" `{name}`"),
        _ => String::new(),
    };
    let head = format!(
        "#{} {}{name} on {}: ",
        record["number"],
        text(&record["command"]),
        text(&record["device"])
    );
    let took = match &record["device_nanoseconds"] {
        Value::Null => took(record),
        _ => format!("{} by the device's clock", took(record)),
    };
    match record["failed"] == true {
        true => say_parts(&[
            (Tone::Plain, &head),
            (Tone::Bad, &"FAILED"),
            (Tone::Plain, &format_args!(" after {took}")),
        ]),
        false => say(format_args!("{head}took {took}")),
    }
    let list = |name: &str| record[name].as_array().into_iter().flatten();
    for before in list("waited_for") {
        say(format_args!("  waited for {}", text(before)));
    }
    let amount = |value: &Value| bytes(value.as_u64().unwrap_or(0));
    for moved in list("moves") {
        let buffer = text(&moved["buffer"]);
        match text(&moved["what"]) {
            "transfer" => say(format_args!(
                "  moved {}, {}, of `{buffer}` from {} to {}",
                amount(&moved["bytes"]),
                count(moved["pages"].as_u64().unwrap_or(0), "page"),
                text(&moved["from"]),
                text(&moved["to"])
            )),
            what => say(format_args!("  {what} of `{buffer}`")),
        }
    }
    if list("moves").next().is_none() {
        say("  moved nothing");
    }
    for memory in list("allocations") {
        let (buffer, on) = (text(&memory["buffer"]), text(&memory["on"]));
        say(format_args!("  allocated {} for `{buffer}` on {on}", amount(&memory["bytes"])));
    }
    if record["checks"] == json!([]) {
        say("  has no run-time checks");
    }
    for check in list("checks") {
        say(format_args!("  checks {}", text(check)));
    }
    if record["fast"] == json!(true) {
        say("  has fast functions: its bits may differ between devices");
    }
    for line in list("fusion") {
        say(format_args!("  {}", text(line)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A trace of so many commands, each with a copy and an allocation, and after the one before
    /// it.
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
                let before = at.checked_sub(1).map(|from| json!([format!("#{at} kernel k{from}")]));
                assert_eq!(record["waited_for"], before.unwrap_or(json!([])));
            }
        }
    }
}
