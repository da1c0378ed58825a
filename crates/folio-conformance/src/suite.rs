//! The common parts of both suites: how a test ends, and what is said of all of them.

use std::collections::BTreeSet;
use std::fmt;

/// Why a test ended early.
pub(crate) enum Stop {
    /// The backend does not claim this.
    Unsupported(String),
    /// The contract is broken.
    Failed(String),
}

pub(crate) type Outcome = Result<(), Stop>;

/// Fails the test unless `$ok`.
macro_rules! ensure {
    ($ok:expr, $($why:tt)+) => {
        if !$ok {
            let place = concat!(file!(), ":", line!());
            return Err($crate::suite::Stop::Failed(format!("{place}: {}", format_args!($($why)+))));
        }
    };
}
pub(crate) use ensure;

/// Fails the test unless both are equal.
macro_rules! ensure_eq {
    ($left:expr, $right:expr $(, $($why:tt)+)?) => {
        match (&$left, &$right) {
            (left, right) => if *left != *right {
                let place = concat!(file!(), ":", line!());
                #[allow(unused_mut, unused_assignments, reason = "not every use has a note")]
                let mut note = String::new();
                $(note = format!($($why)+);)?
                return Err($crate::suite::Stop::Failed(format!(
                    "{place}: {left:?} is not {right:?} {note}"
                )));
            }
        }
    };
}
pub(crate) use ensure_eq;

/// Ends the test: the backend does not claim `what`.
pub(crate) fn unsupported<T>(what: &str) -> Result<T, Stop> {
    Err(Stop::Unsupported(what.into()))
}

/// How a suite went.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Tests that passed.
    pub passed: Vec<&'static str>,
    /// Tests of what the backend does not claim, with the reason.
    pub unsupported: Vec<(&'static str, String)>,
    /// Tests that failed as expected, with the failure.
    pub expected: Vec<(&'static str, String)>,
    /// Tests that failed, with the failure.
    pub failed: Vec<(&'static str, String)>,
    /// Expectations that did not come true: the test passed, or there is none of that name.
    pub surprises: Vec<String>,
    /// The only case that [`CASE_VARIABLE`](crate::CASE_VARIABLE) asked for. Others did not run.
    pub only: Option<String>,
}

impl Summary {
    /// Nothing failed and nothing passed that should not.
    pub fn is_ok(&self) -> bool {
        self.failed.is_empty() && self.surprises.is_empty()
    }

    /// Holds what was left out against `reasons`: what the suite says is missing, and why that is
    /// so. Everything that is missing has a reason, and each reason is needed. A backend that
    /// learns something therefore loses a line of its list. Nothing is said of one case alone.
    pub fn check_left_out(&self, reasons: &[(&str, &str)]) -> Result<(), String> {
        if self.only.is_some() {
            return Ok(());
        }
        let told = || self.unsupported.iter().map(|(_, what)| what.as_str());
        let given = |what: &str| reasons.iter().any(|(of, _)| *of == what);
        let unexplained = told().filter(|what| !given(what)).collect::<BTreeSet<_>>();
        let stale = reasons.iter().filter(|(of, _)| !told().any(|what| what == *of));
        let unexplained =
            unexplained.iter().map(|what| format!("left out without a reason: {what}"));
        let stale = stale.map(|(of, why)| format!("no longer left out: {of} ({why})"));
        let complaints: Vec<_> = unexplained.chain(stale).collect();
        if complaints.is_empty() { Ok(()) } else { Err(complaints.join("\n")) }
    }

    pub(crate) fn add(&mut self, name: &'static str, outcome: Outcome, expected: &[(&str, &str)]) {
        let excuse = expected.iter().find(|(n, _)| *n == name);
        match (outcome, excuse) {
            (Ok(()), None) => self.passed.push(name),
            (Ok(()), Some((_, why))) => {
                self.surprises.push(format!("{name} passed, expected to fail: {why}"));
            }
            (Err(Stop::Unsupported(why)), _) => self.unsupported.push((name, why)),
            (Err(Stop::Failed(why)), None) => self.failed.push((name, why)),
            (Err(Stop::Failed(why)), Some(_)) => self.expected.push((name, why)),
        }
    }

    pub(crate) fn check_names(&mut self, known: &[&'static str], expected: &[(&str, &str)]) {
        for (name, _) in expected.iter().filter(|(n, _)| !known.contains(n)) {
            self.surprises.push(format!("there is no test {name}"));
        }
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Summary { passed, unsupported, expected, failed, surprises, only } = self;
        if let Some(only) = only {
            write!(f, "of {only} alone: ")?;
        }
        write!(f, "{} passed, {} unsupported, ", passed.len(), unsupported.len())?;
        writeln!(f, "{} failed as expected, {} failed", expected.len(), failed.len())?;
        for (kind, list) in
            [("unsupported", unsupported), ("expected", expected), ("FAILED", failed)]
        {
            for (name, why) in list {
                writeln!(f, "  {kind} {name}: {why}")?;
            }
        }
        surprises.iter().try_for_each(|what| writeln!(f, "  SURPRISE {what}"))
    }
}
