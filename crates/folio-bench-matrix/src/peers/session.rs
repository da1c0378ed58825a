//! A conversation with one program: its answers, and the faults that end it.
//!
//! A program has a limit of time for each row. A program that passes it is killed, and
//! started again for the rows behind the one that it hung on, at most `STARTS` times in all.

use super::program::Program;
use super::protocol::{Line, Request, parse};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, Command};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::Duration;

/// How often a program is started at most.
const STARTS: usize = 3;
/// Bytes that a program may print.
const MOST_OUTPUT: u64 = 16 << 20;
/// Lines that a program may print for a row.
const MOST_LINES: usize = 64;

/// A result of a program.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The request's place.
    pub request: usize,
    /// The library and its form.
    pub name: String,
    /// The library's version.
    pub version: String,
    /// Nanoseconds of each round.
    pub samples: Vec<f64>,
    /// The check value.
    pub check: Vec<f64>,
}

/// A row or a program without a result.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// The request's place; none for all of them.
    pub request: Option<usize>,
    /// The library and its form, or the program.
    pub name: String,
    /// Why.
    pub reason: String,
}

/// All that a program has said.
struct Talk<'r> {
    requests: &'r [Request],
    /// The request that is being answered.
    next: usize,
    answers: Vec<Answer>,
    faults: Vec<Fault>,
}

/// Whether a conversation goes on.
enum Then {
    Continue,
    /// With the requests that are left.
    Restart,
    End,
}

/// Asks a program for rows. Its log is beside its files, below `out`.
pub fn ask(
    program: &Program,
    requests: &[Request],
    limit: Duration,
    out: &Path,
) -> (Vec<Answer>, Vec<Fault>) {
    let mut talk = Talk { requests, next: 0, answers: Vec::new(), faults: Vec::new() };
    let prepared = program.command(out);
    let mut command = match prepared {
        Ok(command) => command,
        Err(reason) => {
            talk.fault(None, program.name(), reason);
            return (talk.answers, talk.faults);
        }
    };
    for _ in 0..STARTS {
        if talk.next >= requests.len() || !talk.run(&mut command, program, limit) {
            break;
        }
    }
    (talk.answers, talk.faults)
}

impl Talk<'_> {
    fn fault(&mut self, request: Option<usize>, name: &str, reason: String) {
        self.faults.push(Fault { request, name: name.to_owned(), reason });
    }

    /// Starts the program for the requests that are left; true if it is to be started again.
    fn run(&mut self, command: &mut Command, program: &Program, limit: Duration) -> bool {
        let mut child = match command.spawn() {
            Ok(child) => child,
            Err(why) => {
                self.fault(None, program.name(), format!("it does not start: {why}"));
                return false;
            }
        };
        tell(&mut child, &self.requests[self.next..]);
        let lines = listen(&mut child);
        let mut of_row = 0;
        let then = loop {
            let next = self.next;
            let then = match lines.recv_timeout(limit) {
                Ok(text) => self.line(&text, program.name()),
                Err(RecvTimeoutError::Timeout) => {
                    self.stuck(program, format!("no answer in {} s", limit.as_secs()))
                }
                Err(RecvTimeoutError::Disconnected) if self.next >= self.requests.len() => {
                    Then::End
                }
                Err(RecvTimeoutError::Disconnected) => {
                    self.stuck(program, format!("it ended; {}", program.last_words()))
                }
            };
            of_row = if self.next == next { of_row + 1 } else { 0 };
            if of_row > MOST_LINES {
                break self.stuck(program, format!("it has said more than {MOST_LINES} lines"));
            }
            if !matches!(then, Then::Continue) {
                break then;
            }
        };
        end(&mut child);
        matches!(then, Then::Restart)
    }

    /// The program gives no answer to a request: it is asked for those behind it.
    fn stuck(&mut self, program: &Program, reason: String) -> Then {
        self.fault(Some(self.next), program.name(), reason);
        self.next += 1;
        Then::Restart
    }

    fn line(&mut self, text: &str, program: &str) -> Then {
        let request = self.next;
        let Some(asked) = self.requests.get(request) else {
            self.fault(None, program, "it goes on after the last row".to_owned());
            return Then::End;
        };
        match parse(text) {
            Ok(Line::Result { workload, mode, size, name, version, samples, check }) => {
                if (&workload, &mode, size) != (&asked.workload, &asked.mode, asked.size) {
                    let reason = format!("it answers for {workload}, {mode}, {size}");
                    self.fault(Some(request), program, reason);
                    return Then::End;
                }
                self.answers.push(Answer { request, name, version, samples, check });
            }
            Ok(Line::Failed { name, reason }) => self.fault(Some(request), &name, reason),
            Ok(Line::Done) => self.next += 1,
            Ok(Line::Absent { name, reason }) => {
                self.fault(None, &name, reason);
                return Then::End;
            }
            Err(reason) => {
                self.fault(Some(request), program, reason);
                return Then::End;
            }
        }
        if self.next == self.requests.len() { Then::End } else { Then::Continue }
    }
}

/// Writes the requests from a thread of its own: a program may answer before it has read all.
fn tell(child: &mut Child, requests: &[Request]) {
    let lines = requests.iter().map(|one| serde_json::to_string(one).unwrap_or_default() + "\n");
    let (text, input) = (lines.collect::<String>(), child.stdin.take());
    std::thread::spawn(move || {
        // A program that reads nothing has its own fault.
        let _ = input.map(|mut input| input.write_all(text.as_bytes()));
    });
}

/// The lines of the program's output, by a thread that ends with it.
fn listen(child: &mut Child) -> Receiver<String> {
    let (lines, receiver) = sync_channel(MOST_LINES);
    let output = child.stdout.take();
    std::thread::spawn(move || output.map(|output| pass_on(output, &lines)));
    receiver
}

fn pass_on(output: impl Read, lines: &SyncSender<String>) {
    let output = BufReader::new(output.take(MOST_OUTPUT));
    let mut texts = output.split(b'\n').map_while(Result::ok);
    let _ = texts.try_for_each(|text| lines.send(String::from_utf8_lossy(&text).into_owned()));
}

/// Ends a program with all that it has started, which are one process group.
fn end(child: &mut Child) {
    #[cfg(unix)]
    {
        let group = format!("-{}", child.id());
        let _ = Command::new("kill")
            .args(["-9", "--", &group])
            .stderr(std::process::Stdio::null())
            .status();
    }
    let _ = child.kill();
    let _ = child.wait();
}
