//! Running other programs: shown as they run, captured, or stopped after a time.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use crate::Result;

/// How often a running child is looked at.
const POLL: Duration = Duration::from_millis(5);

/// The command as a person would type it.
pub fn shown(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let mut words = words.map(|w| w.to_string_lossy().into_owned());
    let program = words.next().unwrap_or_default();
    let name = Path::new(&program).file_name().map(|n| n.to_string_lossy().into_owned());
    std::iter::once(name.unwrap_or(program)).chain(words).collect::<Vec<_>>().join(" ")
}

fn start_error(command: &Command, error: &std::io::Error) -> String {
    format!("cannot start `{}`: {error}", shown(command))
}

/// What processors have done for programs that have ended, and for theirs. Linux tells.
pub fn work_of_children() -> Option<Duration> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The name, in parentheses, may have spaces.
    let (_, after) = stat.rsplit_once(')')?;
    let ticks = |at| after.split_whitespace().nth(at)?.parse::<u32>().ok();
    // A tick is a hundredth of a second wherever Linux runs.
    Some(Duration::from_millis(10) * ticks(13)?.saturating_add(ticks(14)?))
}

/// Runs with output to the terminal; true on success.
pub fn show(command: &mut Command) -> Result<bool> {
    println!("$ {}", shown(command));
    let status = command.stdin(Stdio::null()).status();
    status.map(|s| s.success()).map_err(|e| start_error(command, &e))
}

/// Runs with input and output as they are; returns the exit code.
pub fn code(command: &mut Command) -> Result<i32> {
    let status = command.status().map_err(|e| start_error(command, &e))?;
    status.code().ok_or_else(|| format!("`{}` was killed: {status}", shown(command)))
}

/// Runs and returns what it wrote to stdout; errors of the program are errors here.
pub fn capture(command: &mut Command) -> Result<String> {
    let output = command.stdin(Stdio::null()).output();
    let output = output.map_err(|e| start_error(command, &e))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.success() {
        return Ok(text);
    }
    let errors = String::from_utf8_lossy(&output.stderr);
    Err(format!("`{}` failed ({}):\n{text}{errors}", shown(command), output.status))
}

/// Which output of a program is read while it runs. The other goes to the terminal.
#[derive(Clone, Copy, PartialEq)]
pub enum Take {
    /// Stdout, shown too.
    ShownOut,
    /// Stdout, not shown.
    HiddenOut,
    /// Stderr, shown too.
    ShownErrors,
}

/// Runs and returns whether it succeeded and what was read.
pub fn stream(command: &mut Command, take: Take) -> Result<(bool, String)> {
    println!("$ {}", shown(command));
    command.stdin(Stdio::null());
    match take {
        Take::ShownErrors => command.stderr(Stdio::piped()),
        _ => command.stdout(Stdio::piped()),
    };
    let mut child = command.spawn().map_err(|e| start_error(command, &e))?;
    let show = take != Take::HiddenOut;
    let text = match (child.stdout.take(), child.stderr.take()) {
        (Some(pipe), _) => echo(pipe, show),
        (_, Some(pipe)) => echo(pipe, show),
        _ => String::new(),
    };
    let status = child.wait().map_err(|e| format!("lost a child process: {e}"))?;
    Ok((status.success(), text))
}

fn echo(pipe: impl Read, show: bool) -> String {
    let mut text = String::new();
    let mut reader = BufReader::new(pipe);
    let mut line = Vec::new();
    while matches!(reader.read_until(b'\n', &mut line), Ok(n) if n > 0) {
        let piece = String::from_utf8_lossy(&line);
        if show {
            print!("{piece}");
        }
        text.push_str(&piece);
        line.clear();
    }
    text
}

/// How a watched child ended.
pub struct Ended {
    /// `None` when it ran past its time and was stopped.
    pub status: Option<ExitStatus>,
    /// How long it ran.
    pub time: Duration,
    /// Everything it wrote.
    pub output: String,
}

/// Runs with a time limit; its output goes through `log`, so no open pipe can hold us up.
pub fn watch(command: &mut Command, limit: Duration, log: &Path) -> Result<Ended> {
    let file_error = |e: std::io::Error| format!("{}: {e}", log.display());
    let file = File::create(log).map_err(file_error)?;
    let errors = file.try_clone().map_err(file_error)?;
    command.stdin(Stdio::null()).stdout(file).stderr(errors);
    own_group(command);
    let start = Instant::now();
    let mut child = command.spawn().map_err(|e| start_error(command, &e))?;
    let status = loop {
        match child.try_wait().map_err(|e| format!("lost a child process: {e}"))? {
            Some(status) => break Some(status),
            None if start.elapsed() > limit => break None,
            None => std::thread::sleep(POLL),
        }
    };
    if status.is_none() {
        stop(&mut child);
    }
    let output = std::fs::read(log).map_err(file_error)?;
    let output = String::from_utf8_lossy(&output).into_owned();
    Ok(Ended { status, time: start.elapsed(), output })
}

#[cfg(unix)]
fn own_group(command: &mut Command) {
    std::os::unix::process::CommandExt::process_group(command, 0);
}

#[cfg(not(unix))]
fn own_group(_: &mut Command) {}

/// Ends the child and, where there are process groups, all that it started.
fn stop(child: &mut std::process::Child) {
    if cfg!(unix) {
        let group = format!("-{}", child.id());
        let mut kill = Command::new("kill");
        // Best effort: the child itself is killed below in any case.
        let _ = kill.args(["-KILL", "--", &group]).stderr(Stdio::null()).status();
    }
    let _ = child.kill();
    let _ = child.wait();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    fn log(name: &str) -> std::path::PathBuf {
        std::env::temp_dir().join(format!("xtask-{name}-{}.log", std::process::id()))
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn what_a_child_has_done_is_told_when_it_has_ended() {
        let before = work_of_children().unwrap();
        let mut busy = Command::new("sh");
        busy.args(["-c", "n=0; while [ $n -lt 200000 ]; do n=$((n + 1)); done"]);
        assert!(busy.status().unwrap().success());
        assert!(work_of_children().unwrap() - before >= Duration::from_millis(20));
    }

    #[test]
    #[cfg(unix)]
    fn a_hanging_child_is_stopped_and_its_output_kept() {
        let log = log("hang");
        let mut command = Command::new("sh");
        command.args(["-c", "echo early; sleep 600 & wait"]);
        let ended = watch(&mut command, Duration::from_millis(300), &log).unwrap();
        assert!(ended.status.is_none());
        assert_eq!(ended.output, "early\n");
        std::fs::remove_file(log).unwrap();
    }

    #[test]
    #[cfg(unix)]
    fn a_failure_keeps_both_streams() {
        let log = log("fail");
        let mut command = Command::new("sh");
        command.args(["-c", "echo out; echo err >&2; exit 3"]);
        let ended = watch(&mut command, Duration::from_secs(60), &log).unwrap();
        assert_eq!(ended.status.and_then(|s| s.code()), Some(3));
        assert_eq!(ended.output, "out\nerr\n");
        std::fs::remove_file(log).unwrap();
    }

    #[test]
    fn a_missing_program_is_an_error_with_its_name() {
        let error = capture(&mut Command::new("no-such-program-here")).unwrap_err();
        assert!(error.contains("no-such-program-here"), "{error}");
    }
}
