//! Parts of messages.

use super::{Label, PendingWork, UseSite};
use folio_kernel::checks::Check;
use folio_kernel::source::LowerError;
use folio_kernel::words::{bytes, count as count_of};

/// What comes first in a message.
pub(super) fn used(by: &Option<UseSite>) -> String {
    match by {
        None => String::new(),
        Some(UseSite { command, access: None, .. }) => format!("command {command}: "),
        Some(UseSite { command, access: Some(access), parameter }) => {
            format!("command {command}, {}: ", access_name(*access, parameter))
        }
    }
}

pub(super) fn by_way_of(tasks: &[Label]) -> String {
    tasks.iter().map(|task| format!(", by way of host task {task}, which waits")).collect()
}

/// A kernel's parameter by its name, any other access by its position.
pub(super) fn access_name(position: usize, parameter: &Label) -> String {
    match parameter.name() {
        Some(_) => format!("parameter {parameter}"),
        None => format!("access {position}"),
    }
}

/// The same, and its buffer where that has a name of its own.
pub(super) fn access_to(position: usize, parameter: &Label, buffer: &Label) -> String {
    let access = access_name(position, parameter);
    if buffer == parameter { access } else { format!("{access} to buffer {buffer}") }
}

/// A buffer, with how to name it if it has no name.
pub(super) fn buffer_name(label: &Label) -> String {
    match label.name() {
        Some(_) => format!("buffer {label}"),
        None => "a buffer without a name (`BufferOptions::label` gives one)".to_owned(),
    }
}

/// The same; one without a name that a kernel's parameter tells is that parameter's.
pub(super) fn used_buffer(label: &Label, by: &Option<UseSite>) -> String {
    match (label.name(), by) {
        (None, Some(UseSite { parameter, .. })) if parameter.name().is_some() => {
            "its buffer".to_owned()
        }
        _ => buffer_name(label),
    }
}

/// One element by its position, a part by where it begins and how far it reaches.
pub(super) fn place(offset: &[usize], extent: &[usize]) -> String {
    match extent.iter().all(|extent| *extent == 1) {
        true => format!("position {offset:?}"),
        false => format!("offset {offset:?} + extent {extent:?}"),
    }
}

pub(super) fn mismatch(
    what: &str,
    source: &[usize],
    target: &[usize],
    needed: &Option<Vec<usize>>,
) -> String {
    match needed {
        Some(needed) => {
            format!("the source is {source:?}, so the target must be {needed:?}; it is {target:?}")
        }
        None if what == "command" => {
            format!("extents do not match: from {source:?} to {target:?}")
        }
        None => format!("extents {source:?} and {target:?} do not match"),
    }
}

pub(super) fn one_buffer(label: &Label) -> String {
    label.name().map_or_else(|| "one buffer".to_owned(), |_| format!("buffer {label}"))
}

pub(super) fn in_groups(group: &[usize]) -> String {
    if group.is_empty() { String::new() } else { format!(" in groups of {group:?}") }
}

/// What is wrong with a parameter, or with the kernel where it has no name.
pub(super) fn of_parameter(parameter: &Label, why: &str) -> String {
    match parameter.name() {
        Some(_) => format!("{parameter}: {why}"),
        None => why.to_owned(),
    }
}

pub(super) fn of_limit(limit: u64) -> String {
    if limit == u64::MAX { String::new() } else { format!(" of {}", bytes(limit)) }
}

/// Where a launch begins, if not at the beginning.
pub(super) fn from_offset(offset: &[usize]) -> String {
    match offset.iter().all(|at| *at == 0) {
        true => String::new(),
        false => format!(" from {offset:?} on"),
    }
}

/// Why memory is not there any more.
pub(super) fn gone(what: &str) -> &'static str {
    match what {
        "view" => "its storage has been taken already",
        _ => "the memory of a raw pointer has been freed",
    }
}

/// What is wrong with a kernel whose name has been said.
pub(super) fn of_kernel(cause: &LowerError) -> String {
    match cause {
        LowerError::Refused(error) => format!("{}: {}", error.at, error.fault),
        other => other.to_string(),
    }
}

/// The checks of a launch.
pub(super) fn checks_left(checks: &[Check]) -> String {
    let all: Vec<_> = checks.iter().map(ToString::to_string).collect();
    all.join("; ")
}

/// So many operations, and what is said of one and of several.
pub(crate) fn operations(count: usize, [one, several]: [&str; 2]) -> String {
    format!("{} {}", count_of(count as u64, "operation"), if count == 1 { one } else { several })
}

/// Some of `count` things that are left.
pub(crate) fn listed(left: &[PendingWork], count: usize) -> String {
    let mut text = left.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    if count > left.len() {
        text.push_str(", ..");
    }
    text
}
