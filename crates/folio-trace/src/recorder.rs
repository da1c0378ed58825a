//! Puts together what the engine tells of an operation, and writes it once that has ended.
//!
//! Several threads tell: what belongs together is found by its stamp, in whatever order it comes.

use crate::fields::{Fields, Value};
use std::collections::{BTreeSet, HashMap, VecDeque};
use std::fs::File;
use std::io::{self, Write};
use std::time::Instant;

/// The most ended operations that are remembered, for arrows from them.
const REMEMBERED: usize = 1 << 16;

/// An operation that has not ended, as far as it has been told of.
#[derive(Default)]
struct Operation {
    /// Of its plan: what it is, what it moves.
    fields: Fields,
    after: Vec<String>,
    /// When it was handed over.
    begun: Option<Instant>,
    /// When it ended, if another thread told that first.
    ended: Option<Instant>,
}

/// A row of the picture.
struct Track {
    number: usize,
    /// When the last operation on it ended.
    free: Instant,
}

pub(crate) struct Recorder {
    file: Option<File>,
    error: Option<io::Error>,
    start: Instant,
    tracks: HashMap<String, Track>,
    /// The rows of the host, by when they are free.
    hosts: BTreeSet<(Instant, usize)>,
    operations: HashMap<String, Operation>,
    /// By stamp: track and end of operations that have ended.
    ended: HashMap<String, (usize, Instant)>,
    order: VecDeque<String>,
    arrows: u64,
}

impl Recorder {
    pub(crate) fn new(mut file: File) -> io::Result<Recorder> {
        write!(file, "[{}", naming("process_name", "Folio"))?;
        Ok(Recorder {
            file: Some(file),
            error: None,
            start: Instant::now(),
            tracks: HashMap::new(),
            hosts: BTreeSet::new(),
            operations: HashMap::new(),
            ended: HashMap::new(),
            order: VecDeque::new(),
            arrows: 0,
        })
    }

    pub(crate) fn finish(&mut self) -> io::Result<()> {
        if let Some(mut file) = self.file.take() {
            self.keep(file.write_all(b"\n]\n"));
        }
        self.error.take().map_or(Ok(()), Err)
    }

    fn keep(&mut self, written: io::Result<()>) {
        if let Err(error) = written {
            self.error.get_or_insert(error);
        }
    }

    fn write(&mut self, event: &Fields) {
        if let Some(file) = &mut self.file {
            // In one call, so that no line is ever there in part.
            let written = file.write_all(format!(",\n{event}").as_bytes());
            self.keep(written);
        }
    }

    /// Microseconds since the start.
    fn at(&self, time: Instant) -> f64 {
        time.saturating_duration_since(self.start).as_nanos() as f64 / 1e3
    }

    /// The number of the track of this name, and when it is free.
    fn track(&mut self, name: &str) -> (usize, Instant) {
        if let Some(track) = self.tracks.get(name) {
            return (track.number, track.free);
        }
        let (number, free) = (self.tracks.len() + 1, self.start);
        self.tracks.insert(name.to_owned(), Track { number, free });
        self.write(&naming("thread_name", name).with("tid", Value::Number(number as u64)));
        (number, free)
    }

    /// A call of the program's that submitted something.
    pub(crate) fn call(&mut self, name: &str, fields: &Fields, entered: Instant) {
        let thread = std::thread::current();
        let thread = match thread.name() {
            Some(name) => format!("thread {name}"),
            None => format!("{:?}", thread.id()),
        };
        let (track, _) = self.track(&thread);
        let name = format!("{name} {}", fields.text("label"));
        self.slice(&name, "call", track, (entered, Instant::now()), fields.clone());
    }

    fn slice(
        &mut self,
        name: &str,
        kind: &str,
        track: usize,
        (from, to): (Instant, Instant),
        args: Fields,
    ) {
        let (at, length) = (self.at(from), self.at(to) - self.at(from));
        let event = event("X", name.trim(), kind, track).with("args", Value::Object(args));
        self.write(&event.with("ts", Value::Time(at)).with("dur", Value::Time(length)));
    }

    pub(crate) fn event(&mut self, mut fields: Fields) {
        let what = fields.take("message");
        let stamp = fields.text("stamp").to_owned();
        match what.as_str() {
            "plan" | "transfer" | "zero fill" | "switch" => {
                let after = fields.take("after");
                let list = after.trim_matches(['[', ']']).split(", ").filter(|a| !a.is_empty());
                let operation = self.operations.entry(stamp).or_default();
                operation.after = list.map(str::to_owned).collect();
                fields.put("kind", Value::Text(what));
                fields.split("checks");
                fields.split("fusion");
                operation.fields.0.extend(fields.0);
            }
            "launch" => {
                let operation = self.operations.entry(stamp.clone()).or_default();
                operation.begun = Some(Instant::now());
                for (name, value) in fields.0 {
                    operation.fields.0.entry(name).or_insert(value);
                }
                if operation.ended.is_some() {
                    self.complete(&stamp, Fields::default());
                }
            }
            "member" => {
                let member = format!("{} {}", fields.text("what"), fields.text("label"));
                let operation = self.operations.entry(stamp).or_default();
                let members = operation.fields.0.entry("members".to_owned());
                if let Value::List(all) = members.or_insert(Value::List(Vec::new())) {
                    all.push(member.trim().to_owned());
                }
            }
            "complete" => self.complete(&stamp, fields),
            _ => self.moment(&what, fields),
        }
    }

    /// An event without length: an allocation, a failure.
    fn moment(&mut self, what: &str, fields: Fields) {
        let (track, _) = self.track("memory and messages");
        let name = format!("{what} {}", fields.text("label"));
        let at = Value::Time(self.at(Instant::now()));
        let event = event("i", name.trim(), "moment", track).with("s", Value::text("t"));
        self.write(&event.with("ts", at).with("args", Value::Object(fields)));
    }

    fn complete(&mut self, stamp: &str, fields: Fields) {
        let mut operation = self.operations.remove(stamp).unwrap_or_default();
        let now = operation.ended.unwrap_or_else(Instant::now);
        for (name, value) in fields.0 {
            // Where this is told is another call than where it was planned.
            operation.fields.0.entry(name).or_insert(value);
        }
        let failed = operation.fields.0.get("failed") == Some(&Value::Flag(true));
        let has_place = operation.fields.0.contains_key("lane");
        if operation.begun.is_none() && has_place && !failed {
            // The thread that handed it over has yet to tell so.
            operation.ended = Some(now);
            self.operations.insert(stamp.to_owned(), operation);
            return;
        }
        let after = operation.after.clone();
        let fields = operation.fields;
        let Some(begun) = operation.begun.map(|begun| begun.min(now)) else {
            // Some of the host's have no length: a wait for data that is there.
            let what = fields.text("what").to_owned();
            return self.moment(if failed { "never began:" } else { &what }, fields);
        };
        let (name, host) = self.row(&fields, begun);
        let (track, free) = self.track(&name);
        let before = after.iter().filter_map(|stamp| self.ended.get(stamp).copied());
        let before: Vec<_> = before.collect();
        let ready = before.iter().map(|(_, end)| *end).max();
        let (from, to) = (begun.max(free).max(ready.unwrap_or(begun)).min(now), now);
        let kind = match fields.text("kind") {
            "" | "plan" => fields.text("what").to_owned(),
            kind => kind.to_owned(),
        };
        let name_of = format!("{kind} {}", fields.text("label"));
        self.slice(&name_of, &kind, track, (from, to), fields.with("after", Value::List(after)));
        if let Some(track) = self.tracks.get_mut(&name) {
            track.free = to;
        }
        self.hosts.extend(host.map(|row| (to, row)));
        for end in before {
            self.arrow(end, (track, from));
        }
        self.ended.insert(stamp.to_owned(), (track, to));
        self.order.push_back(stamp.to_owned());
        if self.order.len() > REMEMBERED
            && let Some(oldest) = self.order.pop_front()
        {
            self.ended.remove(&oldest);
        }
    }

    /// The row of an operation: its lane, or one of the host's that was free when it began, and
    /// its number. Of several the one that was used last leaves the others to longer operations.
    fn row(&mut self, fields: &Fields, begun: Instant) -> (String, Option<usize>) {
        if let Some(Value::Number(lane)) = fields.0.get("lane") {
            return (format!("{} lane {lane}", fields.text("device")), None);
        }
        let free = self.hosts.range(..=(begun, usize::MAX)).next_back().copied();
        let row = match free.filter(|free| self.hosts.remove(free)) {
            Some((_, row)) => row,
            None => self.hosts.len(),
        };
        (format!("host {row}"), Some(row))
    }

    fn arrow(&mut self, (from, end): (usize, Instant), (to, begin): (usize, Instant)) {
        self.arrows += 1;
        // Within the slices: from before the end of the one, to the beginning of the other.
        let (end, begin) = (self.at(end) - 0.001, self.at(begin));
        for (how, track, at) in [("s", from, end), ("f", to, begin.max(end))] {
            let event = event(how, "after", "dependency", track);
            let event = event.with("id", Value::Number(self.arrows)).with("ts", Value::Time(at));
            self.write(&event.with("bp", Value::text("e")));
        }
    }
}

/// The fields that all events have.
fn event(how: &str, name: &str, kind: &str, track: usize) -> Fields {
    Fields::default()
        .with("ph", Value::text(how))
        .with("name", Value::text(name))
        .with("cat", Value::text(kind))
        .with("pid", Value::Number(1))
        .with("tid", Value::Number(track as u64))
}

/// Gives a row or the process a name.
fn naming(what: &str, name: &str) -> Fields {
    let args = Fields::default().with("name", Value::text(name));
    event("M", what, "naming", 0).with("args", Value::Object(args))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tell(recorder: &mut Recorder, what: &str, at: usize) {
        let fields = Fields::default()
            .with("message", Value::text(what))
            .with("stamp", Value::Text(format!("{at}")))
            .with("what", Value::text("host task"));
        recorder.event(fields);
    }

    /// OBS-01: another thread than the one that hands an operation over may tell of its end first.
    #[test]
    fn an_end_that_is_told_first_waits_for_its_beginning() {
        let path = std::env::temp_dir().join(format!("folio-ends-{}.json", std::process::id()));
        let mut recorder = Recorder::new(File::create(&path).unwrap()).unwrap();
        for what in ["complete", "launch"] {
            let fields = Fields::default().with("message", Value::text(what));
            let fields = fields.with("stamp", Value::text("7")).with("what", Value::text("kernel"));
            recorder
                .event(fields.with("device", Value::text("cpu:0")).with("lane", Value::Number(3)));
        }
        assert!(recorder.operations.is_empty() && recorder.tracks.contains_key("cpu:0 lane 3"));
        drop(recorder);
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(text.matches(r#""ph":"X""#).count(), 1, "{text}");
        std::fs::remove_file(path).unwrap();
    }

    /// OBS-01: the host has as many rows as it does things at once, however many it does.
    #[test]
    fn host_operations_at_once_have_a_row_each() {
        const AT_ONCE: usize = 20_000;
        let path = std::env::temp_dir().join(format!("folio-rows-{}.json", std::process::id()));
        let mut recorder = Recorder::new(File::create(&path).unwrap()).unwrap();
        for turn in 0..2 {
            (0..AT_ONCE).for_each(|at| tell(&mut recorder, "launch", turn * AT_ONCE + at));
            (0..AT_ONCE).for_each(|at| tell(&mut recorder, "complete", turn * AT_ONCE + at));
            assert_eq!((recorder.hosts.len(), recorder.tracks.len()), (AT_ONCE, AT_ONCE));
        }
        for at in 0..10 {
            tell(&mut recorder, "launch", at);
            tell(&mut recorder, "complete", at);
        }
        assert_eq!(recorder.hosts.len(), AT_ONCE);
        std::fs::remove_file(path).unwrap();
    }
}
