//! Arguments of launches in graphs. A node has those with which it was added, until they are
//! exchanged, by a call of the driver for each node.
//!
//! Where many nodes get other words again and again, that is slow: 100 calls take 70 us on an H200,
//! the graph itself 96. Such nodes become ones of a second text of their kernel, which reads its
//! words from the graph's [`GraphWords`] of device memory. All words that have changed are then one
//! launch of [a few lines of PTX](TEXT), before the graph's.

use crate::driver::{Context, call};
use crate::memory::Memory;
use crate::program::{Entry, Ready};
use crate::progress::new_event;
use crate::way::Start;
use cudarc::driver::sys;
use folio_core::hal::{HalError, HalErrorKind};
use folio_kernel::emit::{Layout, Word};
use smallvec::SmallVec;
use std::ffi::c_void;
use std::ops::Range;
use std::ptr::null_mut;
use std::sync::Arc;

/// With a zero at its end, for the driver.
const TEXT: &str = concat!(include_str!("write.ptx"), "\0");

/// Words of one launch, at most: with their numbers they fit the 4 KiB that every device takes.
const PAIRS: usize = 248;

/// The number of calls that exchange a node before its words are worth a text of their own.
const TRIES: u32 = 2;
/// The number of nodes exchanged between two replays that are worth it: for fewer, the calls take
/// less time.
const MANY: usize = 8;

/// The kernel that writes words.
pub(crate) fn writer() -> Ready {
    Ready::new(TEXT, "write")
}

/// The arguments of a launch's node.
#[derive(Clone, PartialEq)]
pub(crate) struct NodeArguments {
    pub(crate) start: Start,
    pub(crate) words: SmallVec<[u64; 16]>,
    /// Pointers and other arguments, behind the words.
    pub(crate) rest: SmallVec<[u64; 8]>,
    /// Where its words are in the block, if it reads them there.
    pub(crate) place: Option<Range<usize>>,
    /// Then: which of the words are scalars, and which of these they are.
    pub(crate) scalars: SmallVec<[(u32, u32); 4]>,
}

/// See [`NodeArguments::scalars`].
pub(crate) fn scalars_of(layout: &Layout) -> SmallVec<[(u32, u32); 4]> {
    let scalar = |(at, word): (u32, &Word)| match word {
        Word::Scalar(nth) => Some((at, *nth)),
        _ => None,
    };
    (0..).zip(&layout.words).filter_map(scalar).collect()
}

impl NodeArguments {
    /// All is the same, but perhaps the words.
    pub(crate) fn is_same_but_for_words(&self, other: &NodeArguments) -> bool {
        self.start == other.start && self.rest == other.rest && self.place == other.place
    }

    /// Gives it other scalars. False if it does not read them from the block.
    pub(crate) fn set_scalars(&mut self, block: &mut GraphWords, scalars: &[u64]) -> bool {
        let Some(place) = &self.place else { return self.words.is_empty() };
        for (at, nth) in &self.scalars {
            if let (Some(word), Some(scalar)) =
                (self.words.get_mut(*at as usize), scalars.get(*nth as usize))
            {
                *word = *scalar;
            }
        }
        block.put(Some(place.clone()), &self.words).is_some()
    }
}

/// How often a graph's words are exchanged, and whether by writing them.
#[derive(Default)]
pub(crate) struct Exchanges {
    /// Nodes that a call has given other words since the last replay.
    calls: usize,
    /// There were [`MANY`] of them before a replay.
    many: bool,
    /// Memory for the block was asked for.
    asked: bool,
    pub(crate) block: Option<GraphWords>,
}

impl Exchanges {
    /// A call gives a node other words.
    pub(crate) fn call(&mut self) {
        self.calls += 1;
    }

    /// An operation that was given other words so often is worth a block, which is not there.
    pub(crate) fn wants_block(&self, times: u32) -> bool {
        times >= TRIES && self.many && !self.asked
    }

    /// An operation that was given other words so often reads them from the block.
    pub(crate) fn has_block(&self, times: u32) -> bool {
        times >= TRIES && self.block.is_some()
    }

    /// The block is there, or there is no memory for one, which is asked for once.
    pub(crate) fn begin(&mut self, block: Option<GraphWords>) {
        self.asked = true;
        self.block = block;
    }

    fn is_replayed(&mut self) {
        self.many |= std::mem::take(&mut self.calls) >= MANY;
    }

    /// Before a replay: the words that have changed are written in the stream. The context is
    /// current.
    pub(crate) fn before(
        &mut self,
        context: &Context,
        writer: &Ready,
        stream: sys::CUstream,
    ) -> Result<(), HalError> {
        self.is_replayed();
        match &mut self.block {
            Some(block) => block.write(context, writer.entry(context)?, stream),
            None => Ok(()),
        }
    }

    /// Behind a replay, which reads the block.
    pub(crate) fn behind(&self, context: &Context, stream: sys::CUstream) -> Result<(), HalError> {
        let Some(block) = &self.block else { return Ok(()) };
        // SAFETY: both are live.
        let result = call("cuEventRecord", || unsafe { sys::cuEventRecord(block.read, stream) });
        match context.check("cuEventRecord", result) {
            // No later write could wait for the replay.
            Err(error) if !matches!(error.kind, HalErrorKind::Lost) => {
                // SAFETY: it is live.
                let waited = unsafe { sys::cuStreamSynchronize(stream) };
                context.check("cuStreamSynchronize", waited)
            }
            recorded => recorded,
        }
    }
}

/// Words in device memory that kernels of one graph read.
pub(crate) struct GraphWords {
    context: Arc<Context>,
    /// Of the memory, which the graph keeps.
    address: u64,
    words: Words,
    /// The last replay has read the block.
    read: sys::CUevent,
}

// SAFETY: events may be used by any thread.
unsafe impl Send for GraphWords {}

impl GraphWords {
    /// For so many words; and the memory, which is the caller's to free. The context is current.
    pub(crate) fn new(
        context: &Arc<Context>,
        memory: &Memory,
        room: usize,
    ) -> Result<(GraphWords, [u64; 2]), HalError> {
        let kept = memory.keep([8 * room as u64, 0])?;
        let read = match new_event(context) {
            Ok(event) => event,
            Err(error) => {
                memory.free_kept(kept);
                return Err(error);
            }
        };
        let (context, address, words) = (context.clone(), kept[0], Words::new(room));
        Ok((GraphWords { context, address, words, read }, kept))
    }

    /// See [`Words::put`].
    pub(crate) fn put(&mut self, had: Option<Range<usize>>, words: &[u64]) -> Option<Range<usize>> {
        self.words.put(had, words)
    }

    pub(crate) fn address(&self, place: &Range<usize>) -> u64 {
        self.address + 8 * place.start as u64
    }

    /// Writes what has changed, behind the last replay.
    fn write(
        &mut self,
        context: &Context,
        writer: Entry,
        stream: sys::CUstream,
    ) -> Result<(), HalError> {
        if self.words.changed.is_empty() {
            return Ok(());
        }
        // SAFETY: both are live. An event that was never recorded has ended.
        let result =
            call("cuStreamWaitEvent", || unsafe { sys::cuStreamWaitEvent(stream, self.read, 0) });
        context.check("cuStreamWaitEvent", result)?;
        for (count, pairs) in self.words.pairs() {
            // SAFETY: the kernel's three arguments; the words are in the block.
            unsafe { launch(context, writer, stream, (self.address, count as u64, pairs))? };
        }
        self.words.are_written();
        Ok(())
    }
}

/// The words of a block's memory, once all changes are written.
struct Words {
    words: Vec<u64>,
    room: usize,
    /// Words that have changed, each once.
    changed: Vec<usize>,
    is_changed: Vec<bool>,
}

impl Words {
    fn new(room: usize) -> Words {
        Words { words: Vec::new(), room, changed: Vec::new(), is_changed: Vec::new() }
    }

    /// A node's words are these from the next replay on. Returns their place: the one that it had,
    /// if they fit there. None if there is no room.
    fn put(&mut self, had: Option<Range<usize>>, words: &[u64]) -> Option<Range<usize>> {
        let place = match had.filter(|had| had.len() == words.len()) {
            Some(had) => had,
            None => self.more(words.len())?,
        };
        for (at, word) in place.clone().zip(words) {
            if self.words[at] != *word {
                self.words[at] = *word;
                self.change(at);
            }
        }
        Some(place)
    }

    /// A place of so many words, which are to be written whatever they are.
    fn more(&mut self, count: usize) -> Option<Range<usize>> {
        let begin = self.words.len();
        let end = begin.checked_add(count).filter(|end| *end <= self.room)?;
        self.words.resize(end, 0);
        self.is_changed.resize(end, false);
        (begin..end).for_each(|at| self.change(at));
        Some(begin..end)
    }

    fn change(&mut self, at: usize) {
        if !std::mem::replace(&mut self.is_changed[at], true) {
            self.changed.push(at);
        }
    }

    /// The changes: numbers of words and their values, so many pairs at a time.
    fn pairs(&self) -> impl Iterator<Item = (usize, [u64; 2 * PAIRS])> {
        self.changed.chunks(PAIRS).map(|some| {
            let mut pairs = [0; 2 * PAIRS];
            for (pair, at) in pairs.chunks_exact_mut(2).zip(some) {
                pair.copy_from_slice(&[*at as u64, self.words[*at]]);
            }
            (some.len(), pairs)
        })
    }

    fn are_written(&mut self) {
        self.changed.drain(..).for_each(|at| self.is_changed[at] = false);
    }
}

impl Drop for GraphWords {
    fn drop(&mut self) {
        let Ok(_calls) = self.context.enter() else { return };
        // SAFETY: ours, and used for no call any more.
        let _ = unsafe { sys::cuEventDestroy_v2(self.read) };
    }
}

/// # Safety
/// `writer` is the kernel of [`TEXT`], and the words' numbers are of memory at the address.
unsafe fn launch(
    context: &Context,
    writer: Entry,
    stream: sys::CUstream,
    (mut address, mut count, mut pairs): (u64, u64, [u64; 2 * PAIRS]),
) -> Result<(), HalError> {
    let pointers = [(&raw mut address).cast(), (&raw mut count).cast(), (&raw mut pairs).cast()];
    let mut arguments: [*mut c_void; 3] = pointers;
    let (threads, none) = (PAIRS as u32, null_mut());
    // SAFETY: the caller's promise; the driver copies the arguments.
    let result = call("cuLaunchKernel", || unsafe {
        let arguments = arguments.as_mut_ptr();
        sys::cuLaunchKernel(writer.0, 1, 1, 1, threads, 1, 1, 0, stream, arguments, none)
    });
    context.check("cuLaunchKernel", result)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The kernel's arguments are those that it is launched with.
    #[test]
    fn the_kernel_that_writes_words_has_room_for_all_pairs() {
        assert!(TEXT.contains(&format!(".align 8 .b8 p_pairs[{}]", size_of::<[u64; 2 * PAIRS]>())));
        assert_eq!(TEXT.matches('\0').count(), 1);
    }

    #[test]
    fn words_that_stay_are_not_written_again() {
        let mut words = Words::new(6);
        let place = words.put(None, &[0, 7]);
        assert_eq!(place, Some(0..2));
        let written = |words: &Words| -> Vec<Vec<u64>> {
            words.pairs().map(|(count, pairs)| pairs[..2 * count].to_vec()).collect()
        };
        // A new place is written, also where it is 0.
        assert_eq!(written(&words), [[0, 0, 1, 7]]);
        words.are_written();
        assert_eq!(words.put(place.clone(), &[0, 7]), Some(0..2));
        assert!(written(&words).is_empty());
        // The last value counts, once.
        assert_eq!(words.put(place.clone(), &[0, 8]), Some(0..2));
        assert_eq!(words.put(place.clone(), &[0, 9]), Some(0..2));
        assert_eq!(written(&words), [[1, 9]]);
        // More words are in another place, until there is no room.
        assert_eq!(words.put(place, &[1, 2, 3]), Some(2..5));
        assert_eq!(words.put(None, &[1, 2]), None);
    }

    #[test]
    fn many_words_are_several_writes() {
        let mut words = Words::new(1000);
        let all: Vec<u64> = (0..600).collect();
        assert_eq!(words.put(None, &all), Some(0..600));
        let counts: Vec<usize> = words.pairs().map(|(count, _)| count).collect();
        assert_eq!(counts, [PAIRS, PAIRS, 600 - 2 * PAIRS]);
    }

    /// Few nodes, or nodes that are exchanged now and then, are exchanged by calls.
    #[test]
    fn few_exchanges_want_no_block() {
        let mut exchanges = Exchanges::default();
        let turn = |exchanges: &mut Exchanges, calls| {
            (0..calls).for_each(|_| exchanges.call());
            exchanges.is_replayed();
        };
        (0..100).for_each(|_| turn(&mut exchanges, MANY - 1));
        assert!(!exchanges.wants_block(100));
        turn(&mut exchanges, MANY);
        assert!(exchanges.wants_block(TRIES) && !exchanges.wants_block(TRIES - 1));
        exchanges.begin(None);
        assert!(!exchanges.wants_block(TRIES) && !exchanges.has_block(TRIES));
    }
}
