//! What kernels print: records in a buffer of words, which `print!` of `folio-macros` writes, and
//! the lines that are made of them.

use crate::ir::device::printed::kind;
use crate::sync::Mutex;
use crate::{BufferOptions, Result, Runtime, Shared};
use half::{bf16, f16};
use std::collections::BTreeMap;
use std::fmt::{self, Display, Write};

/// Words before the first record: how many are taken, and how many records had no room.
const HEAD: usize = 2;
/// Words of a record before the position: its length, the number of its text, the rank.
const RECORD_HEAD: usize = 3;
/// Words of a value: its kind, and its bits.
const VALUE: usize = 3;

/// What a kernel prints to: it has a parameter `log: Log` and the macro `print!`, which takes a
/// text and numbers as [`std::print!`] does.
///
/// ```
/// # use folio_core::{KernelCall, Log, Queue, Result, Runtime};
/// # use folio_device::Kernel;
/// # fn example<K: Kernel>(q: &Queue, call: impl Fn(&Log) -> KernelCall<K, 1>) -> Result<()> {
/// let log = Log::new(&q.runtime(), 10_000)?;
/// q.run(1000, call(&log))?;
/// eprint!("{}", log.take()?);
/// # Ok(())
/// # }
/// ```
pub struct Log {
    words: Shared<u32>,
    texts: Mutex<BTreeMap<u32, &'static str>>,
}

/// A line that an item has printed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Line {
    /// The item's position.
    pub item: Vec<u64>,
    /// The text with its values.
    pub text: String,
}

/// Lines that kernels have printed, by the items' positions, and of an item in its order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Lines {
    /// The lines.
    pub lines: Vec<Line>,
    /// So many more had no room, modulo 2^32.
    pub lost: u32,
}

impl Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} {}", self.item, self.text)
    }
}

impl Display for Lines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.lines.iter().try_for_each(|line| writeln!(f, "{line}"))?;
        match self.lost {
            0 => Ok(()),
            lost => writeln!(f, "{lost} more lines had no room"),
        }
    }
}

impl fmt::Debug for Log {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Log of {:?}", self.words)
    }
}

impl Log {
    /// A log with room for so many words of 32 bits. A line takes 3, 2 for each dimension of the
    /// item's position, and 3 for each value.
    pub fn new(runtime: &Runtime, words: usize) -> Result<Log> {
        let all = words.saturating_add(HEAD);
        let words = runtime.buffer_with::<u32, 1>([all], BufferOptions::new().label("log"))?;
        Ok(Log { words: words.into_shared(), texts: Mutex::new(BTreeMap::new()) })
    }

    /// Waits for the kernels that print to this, gives what they have printed since the last time,
    /// and makes room. Of a launch that failed there are no lines, but its failure.
    pub fn take(&self) -> Result<Lines> {
        let mut words = match self.words.write() {
            Ok(words) => words,
            Err(failed) => {
                self.words.discard()?.fill(0);
                return Err(failed);
            }
        };
        let lines = self.lines(&words);
        words.fill(0);
        Ok(lines)
    }

    pub(crate) fn words(&self) -> &Shared<u32> {
        &self.words
    }

    /// Remembers a kernel's texts.
    pub(crate) fn learn(&self, texts: &[(u32, &'static str)]) {
        let mut all = self.texts.lock();
        all.extend(texts.iter().copied());
    }

    fn lines(&self, words: &[u32]) -> Lines {
        let texts = self.texts.lock();
        let (mut lines, mut rest) = (vec![], words.get(HEAD..).unwrap_or(&[]));
        while let Some((record, after)) = first_record(rest) {
            let text = record.get(1).and_then(|number| texts.get(number));
            lines.extend(line(record, text.copied().unwrap_or("")));
            rest = after;
        }
        // Records of an item stay in the order of their places, which is that of time.
        lines.sort_by(|a, b| a.item.cmp(&b.item));
        Lines { lines, lost: words.get(1).copied().unwrap_or(0) }
    }
}

/// The first record, and what comes after it.
fn first_record(words: &[u32]) -> Option<(&[u32], &[u32])> {
    let length = *words.first()? as usize;
    (length >= RECORD_HEAD).then(|| words.split_at_checked(length)).flatten()
}

/// The line of a record.
fn line(record: &[u32], text: &str) -> Option<Line> {
    let rank = *record.get(2)? as usize;
    let (position, values) = record.get(RECORD_HEAD..)?.split_at_checked(2 * rank)?;
    let (position, _) = position.as_chunks::<2>();
    let (values, _) = values.as_chunks::<VALUE>();
    let item = position.iter().map(|[low, high]| wide(*low, *high)).collect();
    Some(Line { item, text: filled(text, values) })
}

fn wide(low: u32, high: u32) -> u64 {
    u64::from(low) | u64::from(high) << 32
}

/// The text, with values in place of `{..}`.
fn filled(text: &str, values: &[[u32; VALUE]]) -> String {
    let (mut out, mut rest, mut values) = (String::new(), text, values.iter());
    while let Some(at) = rest.find(['{', '}']) {
        let (before, from) = rest.split_at(at);
        out += before;
        if let Some(after) = from.strip_prefix("{{").or_else(|| from.strip_prefix("}}")) {
            out += &from[..1];
            rest = after;
            continue;
        }
        let Some((form, after)) = from[1..].split_once('}') else { break };
        if let Some([of, low, high]) = values.next() {
            show(&mut out, form.trim_start_matches(':'), *of, wide(*low, *high));
        }
        rest = after;
    }
    out + rest
}

/// Writes a value in a form: none, `x`, `b`, or `.` and digits.
fn show(out: &mut String, form: &str, of: u32, bits: u64) {
    let digits = form.strip_prefix('.').and_then(|digits| digits.parse::<usize>().ok());
    let float = match of {
        kind::F32 => Some(f64::from(f32::from_bits(bits as u32))),
        kind::F64 => Some(f64::from_bits(bits)),
        kind::F16 => Some(f16::from_bits(bits as u16).to_f64()),
        kind::BF16 => Some(bf16::from_bits(bits as u16).to_f64()),
        _ => None,
    };
    // A `String` takes all that is written.
    let _ = match (form, digits, float) {
        ("x", ..) => write!(out, "{bits:x}"),
        ("b", ..) => write!(out, "{bits:b}"),
        (_, Some(digits), Some(float)) => write!(out, "{float:.digits$}"),
        _ => match of {
            kind::BOOL => write!(out, "{}", bits != 0),
            kind::SIGNED => write!(out, "{}", bits as i64),
            kind::F32 => write!(out, "{:?}", f32::from_bits(bits as u32)),
            kind::F64 | kind::F16 | kind::BF16 => write!(out, "{:?}", float.unwrap_or(f64::NAN)),
            _ => write!(out, "{bits}"),
        },
    };
}
