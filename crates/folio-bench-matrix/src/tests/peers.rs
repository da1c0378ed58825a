//! Peers that are planted: shell scripts that answer by the protocol, well or badly.
#![cfg(unix)]

use super::files::folder;
use super::{matrix, row};
use crate::options::Options;
use crate::output::{page::page, table::table};
use crate::peers::program::Program;
use crate::peers::protocol::{Line, Request};
use crate::peers::{ask, protocol, rust};
use crate::record::Matrix;
use clap::Parser;
use std::path::Path;
use std::process::Command;

/// Functions of the scripts. `result NAME NS CHECK` answers for the row of `$line`.
const FUNCTIONS: &str = r#"#!/bin/sh
say() { echo "{\"protocol\": ${protocol:-1}, $1}"; }
done_() { say '"kind": "done"'; }
part() { echo "$line" | sed "s/.*\"$1\":\"\([^\"]*\)\".*/\1/"; }
result() {
    say "\"kind\": \"result\", \"workload\": \"$(part workload)\", \"mode\": \"$(part mode)\", \
\"size\": 65536, \"name\": \"$1\", \"version\": \"2.5\", \"samples\": [$2, $2, $2], \"check\": [$3]"
}
"#;

/// A check value that agrees with that of the rows.
const RIGHT: &str = "2.0, 1.0, 3.0001";

/// A program with these functions. A process of its own writes the file: no process that starts
/// meanwhile has the file open.
fn planted(folder: &Path, body: &str) -> Program {
    let (text, script) = (folder.join("text"), folder.join("planted"));
    std::fs::write(&text, format!("{FUNCTIONS}{body}")).unwrap();
    let copied = Command::new("cp").arg(&text).arg(&script).status().unwrap();
    let made = Command::new("chmod").arg("+x").arg(&script).status().unwrap();
    assert!(copied.success() && made.success());
    Program::of_file(&script, folder)
}

/// A matrix of two rows whose peer has such a body, and a limit of so many seconds for a row.
fn asked(name: &str, body: &str, seconds: u64) -> Matrix {
    let folder = folder(&format!("peer-{name}"));
    let mut options = Options::parse_from(["x", "--peers"]);
    (options.out, options.peer_seconds) = (folder.clone(), seconds);
    let mut all = matrix(vec![row("copy", [100.0, 90.0], 1), row("mul", [100.0, 110.0], 1)]);
    let device = all.devices[0].clone();
    ask(&mut all, &device, &planted(&folder, body), &options);
    std::fs::remove_dir_all(&folder).unwrap();
    all
}

/// Nothing is ranked, and the first fault is this one.
fn refused(name: &str, body: &str, what: &str, reason: &str) {
    let all = asked(name, body, 60);
    assert!(all.rows.iter().all(|row| row.peers.is_empty()), "{name}");
    assert!(all.failed.is_empty(), "{name}: a peer's fault is not ours");
    let first = &all.left_out[0];
    assert_eq!(first.what, what, "{name}");
    assert!(first.reason.starts_with(reason), "{name}: {}", first.reason);
}

/// BENCH-02: results that agree are ranked, the best one first, in the table, the page, the JSON.
#[test]
fn peers_that_are_right_are_ranked_by_their_time() {
    let body = format!(
        "while read -r line; do result slow 400 '{RIGHT}'; result quick 50 '{RIGHT}'; done_; done"
    );
    let all = asked("right", &body, 60);
    assert!(all.left_out.is_empty(), "{:?}", all.left_out);
    for row in &all.rows {
        let peers: Vec<_> = row.peers.iter().map(|peer| (&*peer.name, peer.ns)).collect();
        assert_eq!(peers, [("quick", 50.0), ("slow", 400.0)]);
        assert_eq!(row.peers[0].ratio, row.ours_ns / 50.0);
    }
    let text = table(&all, None);
    assert!(text.contains("best peer") && text.contains("2.02 quick 2.5"), "{text}");
    let page = page(&all, &[]).unwrap();
    assert!(page.contains("to best peer</button>") && page.contains("<small>quick 2.5</small>"));
    let read: Matrix = serde_json::from_str(&all.json()).unwrap();
    assert_eq!(read.rows[0].peers, all.rows[0].peers);
}

/// BENCH-02: a result that disagrees has no rank.
#[test]
fn peers_that_are_wrong_are_told_and_not_ranked() {
    let of = "cpu:0: stream, copy, 2^16 f32: odd";
    let each = |check: &str| format!("while read -r line; do result odd 50 '{check}'; done_; done");
    refused("wrong", &each("2.0, 1.0, 3.1"), of, "its check value 2 is 3.1, ours 3: ");
    refused("short", &each("2.0, 1.0"), of, "its check has 2 values, ours 3");
    refused("nan", &each("2.0, 1.0, 1e999"), "cpu:0: stream, copy, 2^16 f32: planted", "it prints");
    let body = format!("while read -r line; do result odd 0 '{RIGHT}'; done_; done");
    refused("no-time", &body, of, "it has no samples");
}

/// BENCH-02: what is no line of the protocol ends a peer.
#[test]
fn peers_that_break_the_protocol_are_refused() {
    let of = "cpu:0: stream, copy, 2^16 f32: planted";
    refused("garbage", "echo hello", of, "it prints a line that is none of the protocol");
    refused("endless", "yes hello", of, "it prints a line that is none of the protocol");
    refused("one-line", "yes hello | tr -d '\\n'", of, "it prints a line that is none of");
    let body = format!("protocol=0; read -r line; result old 50 '{RIGHT}'");
    refused("old", &body, of, "it speaks protocol 0, and this program 1");
    let body = format!("line='\"workload\":\"w\"\"mode\":\"m\"'; result other 50 '{RIGHT}'");
    refused("other-row", &body, of, "it answers for w, m, 65536");
    let body = "while :; do say '\"kind\": \"failed\", \"name\": \"n\", \"reason\": \"r\"'; done";
    let all = asked("talker", body, 60);
    assert!(all.left_out.iter().any(|one| one.reason == "it has said more than 64 lines"));
}

/// BENCH-02: a peer that hangs on a row is killed with its children, and asked for the next row.
#[test]
fn peers_that_hang_are_killed_and_asked_for_the_rows_behind() {
    let body = format!(
        "while read -r line; do case $line in *copy*) sleep 1000 & wait;; esac; \
         result late 50 '{RIGHT}'; done_; done"
    );
    let all = asked("hang", &body, 3);
    assert_eq!(all.left_out[0].what, "cpu:0: stream, copy, 2^16 f32: planted");
    assert_eq!(all.left_out[0].reason, "no answer in 3 s");
    assert!(all.rows[0].peers.is_empty());
    assert_eq!(all.rows[1].peers[0].name, "late");
}

/// BENCH-02: what is not there, or ends, is told with its last words.
#[test]
fn peers_that_are_absent_or_end_are_told() {
    let body = "say '\"kind\": \"absent\", \"name\": \"Lib\", \"reason\": \"no module\"'";
    refused("absent", body, "cpu:0: Lib", "no module");
    let of = "cpu:0: stream, copy, 2^16 f32: planted";
    refused("ends", "echo 'cannot open it' >&2; exit 3", of, "it ended; cannot open it");
    let none = folder("peer-none");
    let mut options = Options::parse_from(["x", "--peers"]);
    options.out = none.clone();
    let mut all = matrix(vec![row("copy", [100.0, 90.0], 1)]);
    let device = all.devices[0].clone();
    ask(&mut all, &device, &Program::of_file(&none.join("nothing"), &none), &options);
    assert_eq!(all.left_out[0].what, "cpu:0: nothing");
    assert!(all.left_out[0].reason.starts_with("it does not start: "));
    std::fs::remove_dir_all(&none).unwrap();
}

/// BENCH-02: Rust's libraries answer by the same protocol, for the data of the matrix.
#[test]
fn libraries_of_rust_answer_for_the_data_of_the_matrix() {
    let _alone = super::alone();
    let all = matrix(vec![row("copy", [100.0, 90.0], 1)]);
    let of = |workload: &str, mode: &str| Request {
        workload: workload.to_owned(),
        mode: mode.to_owned(),
        size: 1000,
        rounds: 2,
        sample: 1000,
        ..Request::of(&all.rows[0], &all.devices[0], 7)
    };
    let requests = [of("algorithms", "sort"), of("no workload", "")];
    let texts = requests.map(|one| serde_json::to_string(&one).unwrap() + "\n").concat();
    let mut out = Vec::new();
    rust::serve(texts.as_bytes(), &mut out).unwrap();
    let lines = String::from_utf8(out).unwrap();
    let lines: Vec<Line> = lines.lines().map(|line| protocol::parse(line).unwrap()).collect();
    let mut sorted = crate::bench::words(7, 1000, 1);
    sorted.sort_unstable();
    let expected = protocol::check(&sorted.into());
    assert_eq!(lines.len(), 4, "two sorts, and an end of each row: {lines:?}");
    for line in &lines[..2] {
        let Line::Result { check, samples, .. } = line else { panic!("{line:?}") };
        assert_eq!((check, samples.len()), (&expected, 2));
    }
    assert_eq!(lines[2..], [Line::Done, Line::Done]);
}

/// BENCH-02: `ndarray` computes what a plain loop computes.
#[test]
fn arrays_of_a_library_hold_what_a_loop_computes() {
    let _alone = super::alone();
    let all = matrix(vec![row("copy", [100.0, 90.0], 1)]);
    let answered = |workload: &str, mode: &str, size: u64| {
        let request = Request {
            workload: workload.to_owned(),
            mode: mode.to_owned(),
            size,
            rounds: 1,
            sample: 1,
            ..Request::of(&all.rows[0], &all.devices[0], 7)
        };
        let mut out = Vec::new();
        rust::serve((serde_json::to_string(&request).unwrap() + "\n").as_bytes(), &mut out)
            .unwrap();
        let lines = String::from_utf8(out).unwrap();
        let lines = lines.lines().map(|line| protocol::parse(line).unwrap());
        let found = lines.filter_map(|line| match line {
            Line::Result { name, check, .. } if name == "ndarray" => Some(check),
            _ => None,
        });
        let found: Vec<_> = found.collect();
        assert_eq!(found.len(), 1, "{workload}, {mode}");
        found[0].clone()
    };
    let is_near = |found: Vec<f64>, expected: Vec<f32>| {
        let expected = protocol::check(&expected.into());
        assert_eq!(found.len(), expected.len());
        for (a, b) in found.iter().zip(&expected) {
            assert!((a - b).abs() <= 1e-4 * b.abs(), "{found:?} {expected:?}");
        }
    };
    const N: usize = 24;
    let [x, z] = [1, 2].map(|which| crate::bench::floats(7, N * N, which));
    let triad = x.iter().zip(&z).map(|(x, z)| x + 0.4 * z).collect();
    is_near(answered("stream", "triad", (N * N) as u64), triad);
    is_near(answered("library", "sum f32", (N * N) as u64), vec![x.iter().sum()]);
    let product = |at: usize| (0..N).map(|k| x[at / N * N + k] * z[k * N + at % N]).sum();
    is_near(answered("matmul", "tiled", N as u64), (0..N * N).map(product).collect());
    let heated = |at: usize| {
        let (r, c, last) = (at / N, at % N, N - 1);
        let of = |r: usize, c: usize| x[r.min(last) * N + c.min(last)];
        let around = of(r.max(1) - 1, c) + of(r + 1, c) + of(r, c.max(1) - 1) + of(r, c + 1);
        x[at] + 0.2 * (around - 4.0 * x[at])
    };
    let held = (0..N * N).map(heated).collect();
    is_near(answered("stencil", "5-point, held to the border", (N * N) as u64), held);
}
