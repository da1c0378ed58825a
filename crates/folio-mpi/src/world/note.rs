//! The notes of ranks to each other.

use super::commands::Key;
use folio_core::hal::{LaneKind, NOTE};

/// A lane, by the same number on all ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct LaneName(u64);

impl LaneName {
    /// The `nth` lane of its kind of a device, which is of one of the world's backends.
    pub(crate) fn new(backend: u32, device: u32, kind: LaneKind, nth: u32) -> LaneName {
        let kind: u64 = match kind {
            LaneKind::Compute => 0,
            LaneKind::Upload => 1,
            LaneKind::Download => 2,
            LaneKind::Peer => 3,
        };
        let number = u64::from(backend & 0xff) << 56 | u64::from(device & 0xffff) << 40;
        LaneName(number | kind << 32 | u64::from(nth))
    }

    /// The number of its backend.
    pub(crate) fn backend(self) -> u32 {
        (self.0 >> 56) as u32
    }

    /// The device's number in its backend.
    pub(crate) fn device(self) -> u32 {
        (self.0 >> 40) as u32 & 0xffff
    }
}

/// The most keys of a note.
pub(crate) const KEYS: usize = (NOTE - 9) / 4;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Note {
    /// A device that the sender has, of so many.
    Hello { backend: u32, count: u32, index: u32, memory: u64 },
    /// A piece is on its way, for the operation that is named, as this number.
    Pilot { key: Key, number: u64, bytes: u64 },
    /// A launch has ended, with these words if it failed.
    Verdict { key: Key, failure: Option<String> },
    /// The sender lives; whether it does nothing but wait for others.
    Beat { waits: bool },
    /// Commands of a device, by its backend's number and its own.
    Keys { device: (u32, u32), keys: Vec<u32> },
    /// The sender needs nothing any more.
    Bye,
    /// The ranks do not do the same.
    Apart(String),
}

impl Note {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut keys: &[u32] = &[];
        let (tag, words, text): (u8, Vec<u64>, &str) = match self {
            Note::Hello { backend, count, index, memory } => {
                let small = [*backend, *count, *index].map(u64::from);
                (0, [&small[..], &[*memory]].concat(), "")
            }
            Note::Pilot { key, number, bytes } => (1, vec![key.0, *number, *bytes], ""),
            Note::Verdict { key, failure } => {
                let tag = if failure.is_some() { 3 } else { 2 };
                (tag, vec![key.0], failure.as_deref().unwrap_or(""))
            }
            Note::Beat { waits } => (if *waits { 8 } else { 4 }, vec![], ""),
            Note::Keys { device, keys: all } => {
                keys = all;
                (5, vec![u64::from(device.0) << 32 | u64::from(device.1)], "")
            }
            Note::Bye => (6, vec![], ""),
            Note::Apart(why) => (7, vec![], why),
        };
        let mut note = vec![tag];
        note.extend(words.into_iter().flat_map(u64::to_le_bytes));
        note.extend(keys.iter().flat_map(|key| key.to_le_bytes()));
        let room = NOTE - note.len();
        let mut end = text.len().min(room);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        note.extend(&text.as_bytes()[..end]);
        note
    }

    /// None if it is no note of ours.
    pub(crate) fn decode(note: &[u8]) -> Option<Note> {
        let (tag, mut rest) = note.split_first()?;
        let mut word = || {
            let (word, more) = rest.split_first_chunk::<8>()?;
            rest = more;
            Some(u64::from_le_bytes(*word))
        };
        let mut small = || u32::try_from(word()?).ok();
        let note = match tag {
            0 => {
                let (backend, count, index) = (small()?, small()?, small()?);
                Note::Hello { backend, count, index, memory: word()? }
            }
            1 => Note::Pilot { key: Key(word()?), number: word()?, bytes: word()? },
            2 => Note::Verdict { key: Key(word()?), failure: None },
            3 => {
                let key = Key(word()?);
                Note::Verdict { key, failure: Some(String::from_utf8_lossy(rest).into_owned()) }
            }
            4 | 8 => Note::Beat { waits: *tag == 8 },
            5 => {
                let device = word()?;
                let (keys, _) = rest.as_chunks::<4>();
                let keys = keys.iter().map(|key| u32::from_le_bytes(*key)).collect();
                Note::Keys { device: ((device >> 32) as u32, device as u32), keys }
            }
            6 => Note::Bye,
            7 => Note::Apart(String::from_utf8_lossy(rest).into_owned()),
            _ => return None,
        };
        Some(note)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_are_read_as_they_were_written() {
        let lane = LaneName::new(1, 300, LaneKind::Peer, 7);
        assert_eq!((lane.backend(), lane.device()), (1, 300));
        let keys = Note::Keys { device: (2, 7), keys: (0..KEYS as u32).collect() };
        let (key, failure) = (Key(9), Some("at 3: äöü".to_owned()));
        let all = [
            Note::Hello { backend: 2, count: 4, index: 3, memory: 1 << 40 },
            Note::Pilot { key, number: 5, bytes: 6 },
            Note::Verdict { key, failure: None },
            Note::Verdict { key, failure },
            Note::Beat { waits: false },
            Note::Beat { waits: true },
            keys,
            Note::Bye,
            Note::Apart("why".into()),
        ];
        for note in all {
            assert_eq!(Note::decode(&note.encode()), Some(note));
        }
    }

    #[test]
    fn long_texts_are_cut_between_letters() {
        let note = Note::Apart("ä".repeat(NOTE)).encode();
        assert!(note.len() <= NOTE);
        assert_eq!(Note::decode(&note), Some(Note::Apart("ä".repeat((NOTE - 1) / 2))));
    }

    #[test]
    fn other_bytes_are_no_notes() {
        for note in [&[][..], &[9], &[0, 1], &[1; 20], &[2], &[5; 8]] {
            assert_eq!(Note::decode(note), None, "{note:?}");
        }
    }
}
