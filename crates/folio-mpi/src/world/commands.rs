//! The commands of a device, as all ranks know them.
//!
//! Each rank gives a device the same commands, but not always in the same order: of two that are
//! independent, the ready one goes first. So a command's name follows from its action, its memory,
//! and how often it has come. Two with one action on the same memory depend on each other, and have
//! one order everywhere. Memory is named by the order in which it was allocated.

use folio_core::hal::{CopyRect, Geometry, MemBase, MemRef, Op, Param, Rank};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A command that only one of two ranks has is on its way to the other, for so long.
const LAG: Duration = Duration::from_secs(2);

/// A command's name, which is the same on all ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Key(pub(crate) u64);

/// A device's commands so far.
pub(crate) struct Commands {
    /// The device's.
    rank: Rank,
    /// Another rank has it, whose commands are compared with those of this one.
    is_elsewhere: bool,
    /// How many allocations there were; what is allocated, by handles, with its number.
    allocations: u64,
    live: HashMap<u64, u64>,
    /// How often each command was given, by the allocation of which it is.
    seen: HashMap<u64, HashMap<u64, u64>>,
    /// Of a device here, what has not been told the other ranks.
    untold: Vec<u32>,
    /// Of a device elsewhere, the commands that only one of the two ranks has.
    open: HashMap<u32, Open>,
}

/// A command that only one of two ranks has.
struct Open {
    /// How often this rank has it more, or less if this is negative.
    more: i32,
    since: Instant,
    name: Arc<str>,
}

/// A command's action.
pub(crate) struct Described {
    /// To which memory.
    content: u64,
    /// With which scalars.
    full: u64,
    /// An allocation of its own device, or 0.
    allocation: u64,
    name: Arc<str>,
}

impl Commands {
    /// Of a device of this rank, seen by rank `me`.
    pub(crate) fn new(rank: Rank, me: Rank) -> Commands {
        let (live, seen, untold, open) = Default::default();
        let is_elsewhere = rank != me;
        Commands { rank, is_elsewhere, allocations: 0, live, seen, untold, open }
    }

    /// The rank that has the device.
    pub(crate) fn rank(&self) -> Rank {
        self.rank
    }

    /// An allocation.
    pub(crate) fn allocated(&mut self, handle: u64) {
        self.allocations += 1;
        self.live.insert(handle, self.allocations);
    }

    /// An allocation is gone, and with it all that was done to it.
    pub(crate) fn freed(&mut self, handle: u64) {
        if let Some(number) = self.live.remove(&handle) {
            self.seen.remove(&number);
        }
    }

    /// The number of an allocation.
    pub(crate) fn number(&self, handle: u64) -> u64 {
        self.live.get(&handle).copied().unwrap_or(0)
    }

    /// A command is given.
    pub(crate) fn add(&mut self, command: &Described) -> Key {
        let Described { content, full, allocation, name } = command;
        let times = self.seen.entry(*allocation).or_default().entry(*content).or_default();
        *times += 1;
        let (key, full) = (mixed(*content, *times), mixed(*full, *times) as u32);
        match self.is_elsewhere {
            true => self.open(full, 1, name),
            false => self.untold.push(full),
        }
        Key(key)
    }

    fn open(&mut self, key: u32, more: i32, name: &Arc<str>) {
        match self.open.entry(key) {
            Entry::Vacant(place) => {
                let (since, name) = (Instant::now(), name.clone());
                place.insert(Open { more, since, name });
            }
            Entry::Occupied(mut open) => {
                open.get_mut().more += more;
                if open.get().more == 0 {
                    open.remove();
                }
            }
        }
    }

    /// The commands of a device here that the other ranks do not know of.
    pub(crate) fn untold(&mut self) -> Vec<u32> {
        std::mem::take(&mut self.untold)
    }

    /// The commands that the device's own rank has.
    pub(crate) fn told(&mut self, keys: &[u32]) {
        let nameless: Arc<str> = "".into();
        keys.iter().for_each(|key| self.open(*key, -1, &nameless));
    }

    /// What this rank has done and the device's own has not, if the two do not do the same: each
    /// has something for long that the other has not; or one of them has, and `both_wait`. Else
    /// what is missing may come.
    pub(crate) fn differs(&self, both_wait: bool) -> Option<Arc<str>> {
        let old = self.open.values().filter(|open| open.since.elapsed() > LAG);
        let (ours, theirs): (Vec<&Open>, Vec<&Open>) = old.partition(|open| open.more > 0);
        let first = ours.iter().min_by_key(|open| open.since).map(|open| open.name.clone());
        match (first, theirs.is_empty()) {
            (Some(name), false) => Some(name),
            (Some(name), true) if both_wait => Some(name),
            (None, false) if both_wait => Some("nothing".into()),
            _ => None,
        }
    }
}

fn mixed(hash: u64, word: u64) -> u64 {
    let bytes = word.to_le_bytes();
    bytes
        .iter()
        .fold(hash, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3))
}

/// A hash of a command's content, without what differs from rank to rank.
struct Content<'n> {
    hash: u64,
    /// The number of an allocation of a device.
    number: &'n dyn Fn(u32, u64) -> u64,
}

impl Content<'_> {
    fn word(&mut self, word: u64) {
        self.hash = mixed(self.hash, word);
    }

    fn words(&mut self, words: impl IntoIterator<Item = usize>) {
        words.into_iter().for_each(|word| self.word(word as u64));
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.word(bytes.len() as u64);
        bytes.chunks(8).for_each(|chunk| {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.word(u64::from_le_bytes(word));
        });
    }

    /// Addresses of the host are a rank's own.
    fn memory(&mut self, memory: &MemRef) {
        match memory.base {
            MemBase::Host(_) => self.word(u64::MAX),
            MemBase::Device { device, handle } => {
                self.word(u64::from(device));
                self.word((self.number)(device, handle));
                self.word(memory.offset);
            }
        }
    }

    fn param(&mut self, param: &Param) {
        let Param { mem, size, write, dims, origin, extent, index, shape } = param;
        self.memory(mem);
        self.words([*size as usize, usize::from(*write)]);
        self.words([dims, origin, extent, index, shape].into_iter().flatten().copied());
    }
}

/// Describes a command of `device`; of a launch with the name and the scalars of its kernel.
/// `number` gives the number of an allocation.
pub(crate) fn described(
    device: u32,
    op: &Op<'_>,
    kernel: Option<(&str, &[u64])>,
    label: &str,
    number: &dyn Fn(u32, u64) -> u64,
) -> Described {
    let mut content = Content { hash: 0xcbf2_9ce4_8422_2325 ^ op.kind() as u64, number };
    content.word(u64::from(device));
    content.bytes(label.as_bytes());
    let own = |memory: &MemRef| match memory.base {
        MemBase::Device { device: of, handle } if of == device => Some(number(of, handle)),
        _ => None,
    };
    let mut allocation = None;
    let mut scalars: Vec<u64> = Vec::new();
    match op {
        Op::Copy(rects) => {
            for CopyRect { src, dst, extent, .. } in *rects {
                allocation = allocation.or_else(|| own(dst)).or_else(|| own(src));
                content.memory(src);
                content.memory(dst);
                extent.iter().for_each(|n| content.word(*n));
            }
        }
        Op::Fill(rects, pattern) => {
            content.bytes(pattern);
            for rect in *rects {
                allocation = allocation.or_else(|| own(&rect.dst));
                content.memory(&rect.dst);
                rect.extent.iter().for_each(|n| content.word(*n));
            }
        }
        Op::Launch(_, geometry, args) => {
            let Geometry { rank, offset, range, group, .. } = geometry;
            content.word(u64::from(*rank));
            content.words([offset, range].into_iter().flatten().copied());
            content.words(group.iter().flatten().copied());
            let written = args.params.iter().filter(|param| param.write);
            allocation = written.chain(args.params).find_map(|param| own(&param.mem));
            args.params.iter().for_each(|param| content.param(param));
            scalars.extend(
                args.blob
                    .chunks_exact(8)
                    .map(|word| u64::from_le_bytes(word.try_into().unwrap_or_default())),
            );
            if let Some((name, words)) = kernel {
                content.bytes(name.as_bytes());
                scalars.extend(words);
            }
        }
        _ => {}
    }
    let full = scalars.into_iter().fold(content.hash, mixed);
    let name = match kernel {
        _ if !label.is_empty() => format!("'{label}'"),
        Some((name, _)) => format!("kernel `{name}`"),
        None => format!("a {}", op.name()),
    };
    let (content, allocation) = (content.hash, allocation.unwrap_or(0));
    Described { content, full, allocation, name: name.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command(name: &str, allocation: u64) -> Described {
        let content = name.bytes().fold(allocation, |hash, byte| mixed(hash, u64::from(byte)));
        Described { content, full: content, allocation, name: name.into() }
    }

    fn both() -> [Commands; 2] {
        [Commands::new(1, 1), Commands::new(1, 0)]
    }

    /// As if all of it had been a while ago.
    fn age(commands: &mut Commands) {
        commands.open.values_mut().for_each(|open| open.since -= 2 * LAG);
    }

    #[test]
    fn commands_in_another_order_are_the_same() {
        let [mut here, mut there] = both();
        let keys = [("a", 1), ("b", 2), ("a", 1)].map(|(name, at)| here.add(&command(name, at)));
        let others = [("b", 2), ("a", 1), ("a", 1)].map(|(name, at)| there.add(&command(name, at)));
        assert_eq!([keys[0], keys[1], keys[2]], [others[1], others[0], others[2]]);
        assert_ne!(keys[0], keys[2]);
        age(&mut there);
        there.told(&here.untold());
        assert!(there.open.is_empty());
        assert_eq!(here.untold(), []);
    }

    #[test]
    fn another_command_is_told_by_its_name() {
        let [mut here, mut there] = both();
        for name in ["first", "second", "third"] {
            here.add(&command(name, 1));
            there.add(&command(if name == "second" { "other" } else { name }, 1));
        }
        there.told(&here.untold());
        assert_eq!(there.differs(true), None, "there may be more to come");
        age(&mut there);
        assert_eq!(there.differs(false).as_deref(), Some("other"));
    }

    /// One that has done less is late, unless both wait.
    #[test]
    fn ranks_that_wait_for_each_other_differ() {
        let [mut here, mut there] = both();
        here.add(&command("first", 1));
        ["first", "more"].iter().for_each(|name| assert!(there.add(&command(name, 1)).0 > 0));
        there.told(&here.untold());
        age(&mut there);
        assert_eq!(there.differs(false), None);
        assert_eq!(there.differs(true).as_deref(), Some("more"));
        here.add(&command("more", 1));
        here.add(&command("most", 1));
        there.told(&here.untold());
        age(&mut there);
        assert_eq!(there.differs(false), None);
        assert_eq!(there.differs(true).as_deref(), Some("nothing"));
    }

    #[test]
    fn memory_is_named_by_its_order_and_forgotten() {
        let mut all = Commands::new(0, 0);
        [90, 80, 70].into_iter().for_each(|handle| all.allocated(handle));
        assert_eq!([90, 80, 70, 60].map(|handle| all.number(handle)), [1, 2, 3, 0]);
        all.add(&command("a", 2));
        all.freed(80);
        all.allocated(80);
        assert_eq!(all.number(80), 4);
        assert!(all.seen.is_empty());
    }
}
