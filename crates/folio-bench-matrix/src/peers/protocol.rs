//! The lines between the matrix and a peer: JSON objects, one a line.
//!
//! Requests name the row and the data. Each line of an answer has the protocol's number and a kind:
//!
//! - `result`: a form of the library, with its version, its samples in nanoseconds and its check;
//! - `failed`: a form that does not work here, with the reason;
//! - `done`: the row has no more lines. A peer says so for rows that it does not know, too;
//! - `absent`: the library is not here, with the reason. No other line follows.

use crate::bench::Values;
use crate::record::{Device, Row};
use serde::{Deserialize, Serialize};

/// The number of the protocol. A peer of another number is refused.
pub const PROTOCOL: u64 = 1;

/// The element of a check value that has the scale of the results: their root mean square.
pub const SCALE: usize = 1;

/// Elements of the results that are part of a check value.
const PLACES: usize = 16;

/// Samples that a peer takes of each form.
const ROUNDS: usize = 15;

/// The least time of a sample, in nanoseconds.
const SAMPLE: u64 = 5_000_000;

/// A row that a peer is asked for.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Request {
    /// The protocol's number.
    pub protocol: u64,
    /// The workload.
    pub workload: String,
    /// The mode.
    pub mode: String,
    /// The size.
    pub size: u64,
    /// Of the data.
    pub seed: u64,
    /// `cpu` or `gpu`.
    pub on: String,
    /// Samples of each form.
    pub rounds: usize,
    /// The least nanoseconds of a sample.
    pub sample: u64,
}

impl Request {
    /// The request for a row.
    pub fn of(row: &Row, device: &Device, seed: u64) -> Request {
        Request {
            protocol: PROTOCOL,
            workload: row.workload.clone(),
            mode: row.mode.clone(),
            size: row.size,
            seed,
            on: if device.is_cpu { "cpu" } else { "gpu" }.to_owned(),
            rounds: ROUNDS,
            sample: SAMPLE,
        }
    }
}

/// A line of an answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Line {
    /// A measured form.
    Result {
        /// The workload.
        workload: String,
        /// The mode.
        mode: String,
        /// The size.
        size: u64,
        /// The library and its form.
        name: String,
        /// The library's version.
        version: String,
        /// Nanoseconds of one run, in each round.
        samples: Vec<f64>,
        /// The check value after one run.
        check: Vec<f64>,
    },
    /// A form that does not work.
    Failed {
        /// The library and its form.
        name: String,
        /// Why.
        reason: String,
    },
    /// The row has no more lines.
    Done,
    /// The library is not here.
    Absent {
        /// The library.
        name: String,
        /// Why.
        reason: String,
    },
}

/// Reads a line. The number comes first: the rest of another protocol's line is unknown.
pub fn parse(text: &str) -> Result<Line, String> {
    #[derive(Deserialize)]
    struct Head {
        protocol: u64,
    }
    let not = |why| format!("it prints a line that is none of the protocol: {why}");
    let Head { protocol } = serde_json::from_str(text).map_err(not)?;
    match protocol == PROTOCOL {
        true => serde_json::from_str(text).map_err(not),
        false => Err(format!("it speaks protocol {protocol}, and this program {PROTOCOL}")),
    }
}

/// A line as text, with the protocol's number.
pub fn print(line: &Line) -> String {
    #[derive(Serialize)]
    struct Numbered<'l> {
        protocol: u64,
        #[serde(flatten)]
        line: &'l Line,
    }
    serde_json::to_string(&Numbered { protocol: PROTOCOL, line }).unwrap_or_default()
}

/// The check value of results: a weighted mean, the root mean square, and elements at equal
/// distances. The weights find results in a wrong order.
pub fn check(values: &Values) -> Vec<f64> {
    let n = values.count();
    let count = n.max(1) as f64;
    let weight = |at: usize| 1.0 + (at % 1024) as f64 / 1024.0;
    let (mut mean, mut square) = (0.0, 0.0);
    for at in 0..n {
        let value = values.at(at);
        mean += value * weight(at);
        square += value * value;
    }
    let places = (0..PLACES).map(|k| k * n.saturating_sub(1) / (PLACES - 1));
    let places = places.filter(|_| n > 0).map(|at| values.at(at));
    [mean / count, (square / count).sqrt()].into_iter().chain(places).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_check_value_depends_on_the_order_of_results() {
        let forth = check(&Values::U32((0..100).collect()));
        let back = check(&Values::U32((0..100).rev().collect()));
        assert_eq!(forth.len(), 2 + PLACES);
        assert_eq!((forth[2], forth[17], back[2]), (0.0, 99.0, 99.0));
        assert!(forth[0] > back[0] && forth[SCALE] == back[SCALE]);
    }

    #[test]
    fn lines_are_read_as_they_are_printed() {
        let failed = Line::Failed { name: "a".to_owned(), reason: "b".to_owned() };
        for line in [failed, Line::Done] {
            assert_eq!(parse(&print(&line)), Ok(line));
        }
        assert_eq!(
            parse("{\"protocol\": 7, \"kind\": \"song\"}"),
            Err("it speaks protocol 7, and this program 1".to_owned())
        );
        assert!(parse("{\"protocol\": 1, \"kind\": \"song\"}").is_err());
        assert!(parse("hello").is_err());
    }
}
