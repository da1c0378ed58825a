//! Shapes of blocks: the same commands in the same order, over whichever buffers. Their order is
//! found once, and it is remembered with which arguments they have been there.

use super::conflicts::{After, IdMap, number_of};
use super::template::Work;
use crate::engine::command::{Action, Command};
use crate::engine::replay::Order;
use crate::hal::Geometry;
use std::collections::VecDeque;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// Of how many different blocks of a shape it is known that they have been there.
const DIGESTS: usize = 8;

/// Blocks of the same commands in the same order, over whichever buffers.
pub(super) struct Shape {
    pub(super) key: Vec<u64>,
    pub(super) order: Arc<Order>,
    /// The arguments of the latest blocks.
    digests: VecDeque<u64>,
    /// No such block is one operation.
    pub(super) apart: bool,
}

/// What is done with a block.
pub(super) struct Found {
    pub(super) order: Arc<Order>,
    /// Its arguments are those of an earlier one: it is worth being one operation.
    pub(super) again: bool,
}

impl Shape {
    pub(super) fn new(key: Vec<u64>, order: Arc<Order>) -> Shape {
        Shape { key, order, digests: VecDeque::with_capacity(DIGESTS), apart: false }
    }

    /// What is done with a block of this shape.
    pub(super) fn found(&mut self, commands: &[Command], is_plain: bool) -> Found {
        let mut again = false;
        if is_plain && !self.apart {
            let digest = digest_of(commands);
            again = self.digests.contains(&digest);
            if !again {
                self.digests.truncate(DIGESTS - 1);
                self.digests.push_front(digest);
            }
        }
        Found { order: self.order.clone(), again }
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

/// A number for the memory and the values that commands use.
fn digest_of(commands: &[Command]) -> u64 {
    let mut mixed = Mixed(commands.len() as u64);
    for command in commands {
        command.accesses.iter().for_each(|access| mixed.add(u64::from(access.storage.0)));
        match &command.action {
            Action::Launch(Some(launch)) => {
                launch.scalars.iter().for_each(|word| mixed.add(*word));
                let Geometry { offset, range, .. } = launch.geometry;
                offset.iter().chain(&range).for_each(|n| mixed.add(*n as u64));
            }
            Action::Fill { pattern, .. } => mixed.write(pattern),
            _ => {}
        }
    }
    mixed.finish()
}

/// All that the order of commands follows from. Storages are named by where they come first.
pub(super) fn key_of(commands: &[Command], works: &[Work], after: &After) -> Vec<u64> {
    let mut names: IdMap<u64> = IdMap::default();
    let mut key = Vec::with_capacity(16 * commands.len());
    for ((command, work), after) in commands.iter().zip(works).zip(after) {
        let mut hasher = Mixed(0);
        (command.action.name(), work).hash(&mut hasher);
        key.extend([hasher.finish(), after.len() as u64, command.accesses.len() as u64]);
        key.extend(after.iter().map(|(at, uses)| u64::from(*at) << 1 | u64::from(*uses)));
        for access in &command.accesses {
            let next = names.len() as u64;
            let name = *names.entry(access.storage).or_insert(next);
            key.push(name << 2 | number_of(access.mode));
            let corners = access.elements.min.iter().chain(&access.elements.max);
            key.extend(corners.map(|n| *n as u64));
        }
    }
    key
}
