//! Peers: the libraries that a user would take in place of Folio, measured in the same run.
//!
//! A peer is a program that reads requests from its standard input, a JSON line for each row, and
//! answers in lines of the [`protocol`]. [`program`] has the programs and starts them,
//! [`session`] reads their answers and ends a program that hangs, [`rust`] is the program for
//! libraries of Rust, with `arrays` for `ndarray`, and this module ranks the answers. A result
//! counts after its check value agrees with ours. A peer's fault is listed and never ours.

mod arrays;
pub mod program;
pub mod protocol;
pub mod rust;
pub mod session;

use crate::bench::is_near;
use crate::options::Options;
use crate::output::title;
use crate::record::{Device, LeftOut, Matrix, Peer, Row};
use crate::stats::median;
use indicatif::ProgressBar;
use program::Program;
use protocol::Request;
use session::{Answer, Fault};
use std::time::Duration;

/// The least tolerance of check values: a sum of many elements depends on their order.
const LEAST_TOLERANCE: f64 = 1e-6;

/// Runs the opponents of all rows. Rows keep the results that agree, the best one first.
pub fn challenge(matrix: &mut Matrix, programs: &[Program], options: &Options) {
    let asked = ProgressBar::new_spinner();
    asked.enable_steady_tick(Duration::from_millis(500));
    for device in matrix.devices.clone() {
        for program in programs.iter().filter(|program| program.fits(&device)) {
            asked.set_message(format!("{}: asks {}", device.name, program.name()));
            ask(matrix, &device, program, options);
        }
    }
    asked.finish_and_clear();
}

/// Asks one program for all rows of a device.
pub fn ask(matrix: &mut Matrix, device: &Device, program: &Program, options: &Options) {
    let is_asked = |row: &Row| row.device == device.name && !row.is_control;
    let rows: Vec<usize> =
        (0..matrix.rows.len()).filter(|at| is_asked(&matrix.rows[*at])).collect();
    let requests: Vec<Request> =
        rows.iter().map(|at| Request::of(&matrix.rows[*at], device, matrix.seed)).collect();
    let limit = Duration::from_secs(options.peer_seconds);
    let (answers, faults) = session::ask(program, &requests, limit, &options.out);
    for answer in answers {
        let row = &mut matrix.rows[rows[answer.request]];
        let what = format!("{}: {}: {}", row.device, title(row), answer.name);
        match judge(row, answer) {
            Ok(peer) => {
                row.peers.push(peer);
                row.peers.sort_by(|a, b| a.ns.total_cmp(&b.ns));
            }
            Err(reason) => matrix.left_out.push(LeftOut { what, reason }),
        }
    }
    for Fault { request, name, reason } in faults {
        let row = request.map(|at| format!("{}: ", title(&matrix.rows[rows[at]])));
        let what = format!("{}: {}{name}", device.name, row.unwrap_or_default());
        matrix.left_out.push(LeftOut { what, reason });
    }
}

/// Ranks a result whose check value agrees with ours.
fn judge(row: &Row, answer: Answer) -> std::result::Result<Peer, String> {
    let Answer { name, version, samples, check, .. } = answer;
    let ns = median(&samples);
    if !(ns > 0.0 && ns.is_finite()) {
        return Err("it has no samples, or samples that are no times".to_owned());
    }
    disagreement(&row.check, &check, row.tolerance).map_or(Ok(()), Err)?;
    Ok(Peer { name, version, ns, ratio: row.ours_ns / ns, samples })
}

/// The first value in which two check values differ, in words.
fn disagreement(ours: &[f64], theirs: &[f64], tolerance: f64) -> Option<String> {
    if ours.len() != theirs.len() {
        return Some(format!("its check has {} values, ours {}", theirs.len(), ours.len()));
    }
    let scale = ours.get(protocol::SCALE).copied().unwrap_or(0.0);
    let tolerance = tolerance.max(LEAST_TOLERANCE);
    let differs =
        |(_, (ours, theirs)): &(usize, (&f64, &f64))| !is_near(**ours, **theirs, tolerance, scale);
    let (at, (ours, theirs)) = ours.iter().zip(theirs).enumerate().find(differs)?;
    Some(format!("its check value {at} is {theirs}, ours {ours}: the result is not ranked"))
}
