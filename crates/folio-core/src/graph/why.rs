//! Why commands are submitted one by one.

use std::fmt;
use std::sync::Arc;

/// Why the commands of a block were submitted one by one: see
/// [`BatchReport`](crate::graph::BatchReport). Prints as a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WhyNot {
    /// The queue has had no block of these commands, or not lately.
    First,
    /// One of the commands may fail by itself: a check is left in a kernel, or it calls a closure.
    MayFail(Arc<str>),
    /// One of the commands needs the host.
    OnHost(&'static str),
    /// One of the commands uses memory of another place than the device.
    Elsewhere(&'static str),
    /// One of the commands was described as timed.
    Timed,
    /// The device does not decide on a condition.
    Condition(Arc<str>),
    /// The device does not do these commands as one.
    Refused(Arc<str>),
    /// An earlier block is on its way to the device, and this one was to take its place.
    Busy,
}

impl fmt::Display for WhyNot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            WhyNot::First => "it is the first of its kind",
            WhyNot::MayFail(why) | WhyNot::Condition(why) | WhyNot::Refused(why) => why,
            WhyNot::OnHost(why) | WhyNot::Elsewhere(why) => why,
            WhyNot::Timed => "it is timed",
            WhyNot::Busy => "what it would replace is still on its way to the device",
        })
    }
}
