//! Shapes and kinds of blocks. Those of a shape are the same commands in the same order, over
//! whichever buffers and ranges that lie alike: their order is found once. Ranges of a kind may lie
//! otherwise, too: it is remembered with which arguments its blocks have been there.

use super::conflicts::{After, IdMap, number_of};
use super::known::KNOWN;
use super::template::Work;
use crate::engine::runs::command::{Action, Command};
use crate::engine::runs::part::Apart;
use crate::engine::runs::replay::Order;
use crate::engine::terms::access::Access;
use crate::engine::terms::access::RawMem;
use crate::geom::Box3;
use crate::hal::Geometry;
use smallvec::SmallVec;
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

/// Blocks of the same commands in the same order, over whichever buffers, and ranges that overlap
/// in the same way.
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

/// The corners of a storage's accesses along each dimension, in order.
#[derive(Default)]
struct Corners([SmallVec<[usize; 4]>; 3]);

/// How many known corners a new one is compared with: those of most storages are few.
const COMPARED: usize = 4;

impl Corners {
    fn add(&mut self, elements: &Box3) {
        for (dim, known) in self.0.iter_mut().enumerate() {
            for corner in [elements.min[dim], elements.max[dim]] {
                if !known.iter().rev().take(COMPARED).any(|other| *other == corner) {
                    known.push(corner);
                }
            }
        }
    }

    fn sort(&mut self) {
        for corners in &mut self.0 {
            corners.sort_unstable();
            corners.dedup();
        }
    }

    /// The places of a box's corners among all of them.
    fn places(&self, elements: &Box3) -> impl Iterator<Item = u64> {
        let both = [elements.min, elements.max].into_iter();
        both.flat_map(|corner| self.0.iter().zip(corner)).map(|(known, corner)| {
            let (Ok(place) | Err(place)) = known.binary_search(&corner);
            place as u64
        })
    }
}

/// All that the order of commands follows from; and a number for the commands without what they
/// use. Storages are named by where they come first, corners by their places among all corners of
/// the storage: which boxes overlap, and which cover others, follows from these. So commands over
/// other ranges that lie alike have the same order.
pub(super) fn key_of(commands: &[Command], works: &[Work], after: &After) -> (Vec<u64>, u64) {
    let mut storages: IdMap<(u64, Corners)> = IdMap::default();
    for access in commands.iter().flat_map(|command| &command.accesses) {
        let next = storages.len() as u64;
        let (_, corners) =
            storages.entry(access.storage).or_insert_with(|| (next, Corners::default()));
        corners.add(&access.elements);
    }
    storages.values_mut().for_each(|(_, corners)| corners.sort());
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
            let Some((name, corners)) = storages.get(&access.storage) else { continue };
            key.push(name << 2 | number_of(access.mode));
            kind.add(number_of(access.mode));
            key.extend(corners.places(&access.elements));
        }
    }
    (key, kind.finish())
}

#[cfg(all(test, not(loom), not(miri)))]
mod tests {
    use super::*;
    use crate::Runtime;
    use crate::engine::null::Null;
    use crate::engine::pages::storage::StorageId;
    use crate::engine::terms::access::Mode;
    use crate::geom::Grid;
    use crate::graph::order::order_of;
    use crate::pages::DomainId;
    use std::collections::HashMap;

    /// Commands by numbers that look random, over a row of these places.
    fn some(seed: &mut u64, places: &[usize]) -> Vec<Command> {
        let mut next = |most: usize| {
            *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695);
            (*seed >> 33) as usize % most
        };
        let grid = Grid::new([1, 1, 1000], [1, 1, 10]);
        let mut access = || {
            let (from, length) = (next(places.len() - 2), next(3));
            let elements = Box3 { min: [0, 0, places[from]], max: [1, 1, places[from + length]] };
            let mode = [Mode::Read, Mode::Update, Mode::Discard { whole: true }][next(3)];
            let which = (StorageId(next(2) as u32, 0), &grid);
            Access::new(which, elements, mode, DomainId(1))
        };
        let mut command = || {
            let mut command = Command::new(None, false);
            command.accesses.push(access());
            command
        };
        (0..3).map(|_| command()).collect()
    }

    fn key_and_order(commands: &[Command]) -> (Vec<u64>, Order) {
        let (after, works) = (vec![Default::default(); 3], [Work::None; 3]);
        let accesses = commands.iter().map(|command| &command.accesses[..]);
        (key_of(commands, &works, &after).0, order_of(after, &[], accesses))
    }

    /// GRAPH-08
    #[test]
    fn commands_over_ranges_that_lie_alike_have_one_key_and_one_order() {
        let (mut known, mut same) = (HashMap::new(), 0);
        for seed in 0..5000u64 {
            let narrow = some(&mut seed.clone(), &[0, 1, 2, 3, 4]);
            let wide = some(&mut seed.clone(), &[7, 9, 100, 101, 900]);
            let (key, order) = key_and_order(&narrow);
            assert_eq!((&key, &order), (&key_and_order(&wide).0, &key_and_order(&wide).1));
            if let Some(other) = known.insert(key, order.clone()) {
                same += 1;
                assert_eq!(other, order, "seed {seed}");
            }
        }
        assert!(known.len() > 1000 && same > 100, "{}, {same}", known.len());
    }

    /// GRAPH-08: on devices, too, that take the commands of such blocks one by one.
    #[test]
    fn blocks_over_other_ranges_are_found_again() {
        let rt = Runtime::builder().backend(Null::new(1)).build().unwrap();
        let q = rt.queue_on("null:0").unwrap();
        let (x, y) =
            (rt.buffer::<u32, 1>(100).unwrap().into_shared(), rt.buffer::<u32, 1>(100).unwrap());
        let y = y.into_shared();
        for at in 0..30 {
            q.batch(|q| {
                let mut part = x.slice_mut([at], [8 + at])?;
                q.fill(&mut part, 1)?;
                q.copy(&part, y.slice_mut([1 + 2 * at], [8 + at])?)?;
                q.fill(&y, 2)
            })
            .unwrap();
        }
        let report = q.batch_report();
        assert_eq!((report.found, report.made, report.evicted), (29, 1, 0), "{report:?}");
        // One that overlaps another part comes after it.
        let block = |first: usize| {
            q.batch(|q| {
                q.fill(&mut x.slice_mut([0], [10])?, 1)?;
                q.fill(&mut x.slice_mut([first], [10])?, 2)
            })
            .unwrap()
        };
        for first in [10, 20, 9, 8, 0] {
            block(first);
        }
        let report = q.batch_report();
        assert_eq!((report.found, report.made), (30, 5), "{report:?}");
    }
}
