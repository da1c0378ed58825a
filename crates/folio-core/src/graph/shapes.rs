//! Shapes and kinds of blocks. Those of a shape are the same commands in the same order, over
//! whichever buffers: their order is found once. Those of a kind may use other elements, too: it is
//! remembered with which arguments they have been there.

use super::conflicts::{After, IdMap, number_of};
use super::known::KNOWN;
use super::template::Work;
use crate::engine::access::Access;
use crate::engine::command::{Action, Command};
use crate::engine::memory::RawMem;
use crate::engine::part::Apart;
use crate::engine::replay::Order;
use crate::hal::Geometry;
use std::collections::VecDeque;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// Of how many different blocks of a kind it is known that they have been there.
const DIGESTS: usize = 8;

/// From this block of a kind on it is expected that each has other arguments.
const OFTEN: u64 = 3;

/// So many graphs of a kind may be given up that no block has used.
const WASTED: u32 = 2 * KNOWN as u32;

/// After so many blocks in a row whose commands could not be exchanged, it is tried less often.
const TRIES: u32 = 4;

const UNUSED: Apart = "graphs of such blocks were made and not used";

/// Blocks of the same commands in the same order, over whichever buffers.
pub(super) struct Shape {
    pub(super) key: Vec<u64>,
    pub(super) order: Arc<Order>,
}

/// Blocks of which each can take the place of another one: only arguments, and what follows from
/// them, differ.
pub(super) struct Kind {
    pub(super) key: u64,
    /// The arguments of the latest blocks.
    digests: VecDeque<u64>,
    /// How many there were that count.
    blocks: u64,
    wasted: u32,
    /// How many blocks in a row had commands that could not be exchanged, and why the latest.
    failed: (u32, Apart),
    /// Why no such block is one operation.
    pub(super) apart: Option<Apart>,
    /// The device does not exchange their commands.
    pub(super) fixed: bool,
}

/// What is expected of blocks of a kind.
#[derive(Clone, Copy, Default)]
pub(super) struct Expected {
    /// The arguments are those of an earlier one.
    pub(super) again: bool,
    /// There were several, and what they do can be exchanged.
    pub(super) often: bool,
    /// Why none is one operation.
    pub(super) apart: Option<Apart>,
}

impl Kind {
    pub(super) fn new(key: u64) -> Kind {
        let digests = VecDeque::with_capacity(DIGESTS);
        Kind { key, digests, blocks: 0, wasted: 0, failed: (0, ""), apart: None, fixed: false }
    }

    /// An earlier block had the arguments of this digest.
    pub(super) fn has(&self, digest: u64) -> bool {
        self.digests.contains(&digest)
    }

    /// That commands are to be exchanged, after this was not possible for the latest blocks: of
    /// many such in a row only some are tried.
    pub(super) fn try_again(&mut self) -> Result<(), Apart> {
        let (times, why) = self.failed;
        if times < TRIES || times.is_multiple_of(2 * TRIES) {
            return Ok(());
        }
        self.failed = (times + 1, why);
        Err(why)
    }

    /// Commands could not be exchanged.
    pub(super) fn fail(&mut self, why: Apart) {
        self.failed = (self.failed.0 + 1, why);
    }

    /// Commands were exchanged for those with these arguments.
    pub(super) fn succeed(&mut self, digest: u64) {
        self.failed.0 = 0;
        self.note(digest);
    }

    /// A block had these arguments.
    fn note(&mut self, digest: u64) {
        self.digests.truncate(DIGESTS - 1);
        self.digests.push_front(digest);
    }

    /// A block of this kind was described.
    pub(super) fn found<'c>(&mut self, commands: impl Iterator<Item = &'c Command>) -> Expected {
        if self.apart.is_some() {
            return Expected { apart: self.apart, ..Expected::default() };
        }
        self.blocks += 1;
        let digest = digest_of(commands.map(|command| (command, None)));
        let again = self.has(digest);
        if !again {
            self.note(digest);
        }
        Expected { again, often: self.blocks >= OFTEN && !self.fixed, apart: None }
    }

    /// A graph was given up that no block has used.
    pub(super) fn waste(&mut self) {
        self.wasted += 1;
        if self.wasted >= WASTED {
            self.apart = Some(UNUSED);
        }
    }

    /// A graph was given up that was used.
    pub(super) fn gain(&mut self) {
        self.wasted = 0;
    }
}

/// Mixes words. Equal results of different words cost only time.
struct Mixed(u64);

impl Mixed {
    fn add(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95);
    }
}

impl Hasher for Mixed {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.add(u64::from(*byte)));
    }

    fn write_u64(&mut self, word: u64) {
        self.add(word);
    }

    fn write_usize(&mut self, word: usize) {
        self.add(word as u64);
    }
}

/// A number for the memory and the values that commands use; of some these are the scalars.
pub(super) fn digest_of<'c>(
    commands: impl Iterator<Item = (&'c Command, Option<&'c [u64]>)>,
) -> u64 {
    let mut mixed = Mixed(0);
    for (command, scalars) in commands {
        for Access { storage, elements, .. } in &command.accesses {
            mixed.add(u64::from(storage.0));
            elements.min.iter().chain(&elements.max).for_each(|n| mixed.add(*n as u64));
        }
        match &command.action {
            Action::Launch(Some(launch)) => {
                let scalars = scalars.unwrap_or(&launch.scalars);
                scalars.iter().for_each(|word| mixed.add(*word));
                let Geometry { offset, range, .. } = launch.geometry;
                offset.iter().chain(&range).for_each(|n| mixed.add(*n as u64));
            }
            Action::Fill { pattern, .. } => mixed.write(pattern),
            _ => {}
        }
        for RawMem { mem, storage, .. } in command.action.raw() {
            mixed.add(storage.map_or(0, |storage| u64::from(storage.0)) << 32 ^ mem.offset);
        }
    }
    mixed.finish()
}

/// All that the order of commands follows from, in which storages are named by where they come
/// first; and a number for the commands without what they use.
pub(super) fn key_of(commands: &[Command], works: &[Work], after: &After) -> (Vec<u64>, u64) {
    let mut names: IdMap<u64> = IdMap::default();
    let mut key = Vec::with_capacity(16 * commands.len());
    let mut kind = Mixed(commands.len() as u64);
    for ((command, work), after) in commands.iter().zip(works).zip(after) {
        let mut hasher = Mixed(0);
        (command.action.name(), work).hash(&mut hasher);
        let first = key.len();
        key.extend([hasher.finish(), after.len() as u64, command.accesses.len() as u64]);
        key.extend(after.iter().map(|(at, uses)| u64::from(*at) << 1 | u64::from(*uses)));
        key[first..].iter().for_each(|word| kind.add(*word));
        for access in &command.accesses {
            let next = names.len() as u64;
            let name = *names.entry(access.storage).or_insert(next);
            key.push(name << 2 | number_of(access.mode));
            kind.add(number_of(access.mode));
            let corners = access.elements.min.iter().chain(&access.elements.max);
            key.extend(corners.map(|n| *n as u64));
        }
    }
    (key, kind.finish())
}
