//! Launch-wide reductions. A kernel's blocks leave one value each in memory of the lane; further
//! launches combine the values until one is left, where it belongs. A lane is in order, so the next
//! launch uses the same memory.

use folio_core::hal::HalError;
use folio_kernel::ParamId;
use folio_kernel::emit::{COMBINED, Layout};

/// Bytes that a lane keeps for the next launch.
const KEPT: u64 = 4 << 20;
/// Bytes of a piece, at least.
const LEAST: u64 = 4096;

/// Memory, and how much it is.
#[derive(Debug)]
pub struct Piece<T> {
    /// The memory.
    pub memory: T,
    bytes: u64,
}

/// Pieces that a lane has and does not use in the launch that it makes, the smallest first.
#[derive(Debug)]
pub struct Scratch<T>(Vec<Piece<T>>);

impl<T> Default for Scratch<T> {
    fn default() -> Scratch<T> {
        Scratch(vec![])
    }
}

/// Where the values of a launch are: as its blocks leave them, and, in turn with that, combined.
#[derive(Debug)]
pub struct Room<T>(pub [Piece<T>; 2]);

fn beyond() -> HalError {
    HalError::unsupported("a reduction of this size")
}

impl<T> Scratch<T> {
    /// Room for so many values of so many bytes. `make` allocates what there is not.
    pub fn room(
        &mut self,
        values: u64,
        bytes: u64,
        mut make: impl FnMut(u64) -> Result<T, HalError>,
    ) -> Result<Room<T>, HalError> {
        let mut take =
            |values: u64| self.take(values.checked_mul(bytes).ok_or_else(beyond)?, &mut make);
        Ok(Room([take(values)?, take(values.div_ceil(COMBINED))?]))
    }

    fn take(
        &mut self,
        bytes: u64,
        make: impl FnOnce(u64) -> Result<T, HalError>,
    ) -> Result<Piece<T>, HalError> {
        if let Some(at) = self.0.iter().position(|piece| piece.bytes >= bytes) {
            return Ok(self.0.remove(at));
        }
        let bytes = bytes.checked_next_power_of_two().ok_or_else(beyond)?.max(LEAST);
        Ok(Piece { memory: make(bytes)?, bytes })
    }

    /// Keeps a room for a later launch. Returns the largest pieces, where there are too many: they
    /// go when the launch has ended.
    pub fn keep(&mut self, room: Room<T>) -> Vec<T> {
        for piece in room.0 {
            let at = self.0.partition_point(|other| other.bytes < piece.bytes);
            self.0.insert(at, piece);
        }
        let mut gone = vec![];
        while self.0.iter().map(|piece| piece.bytes).sum::<u64>() > KEPT {
            gone.extend(self.0.pop().map(|piece| piece.memory));
        }
        gone
    }

    /// All pieces, when the lane goes.
    pub fn drain(&mut self) -> impl Iterator<Item = T> {
        self.0.drain(..).map(|piece| piece.memory)
    }
}

impl<T> Room<T> {
    /// Where blocks leave their values.
    pub fn first(&self) -> &T {
        &self.0[0].memory
    }

    /// See [`passes`].
    pub fn passes(
        &self,
        values: u64,
        each: impl FnMut(&T, Option<&T>, [u64; 2]) -> Result<(), HalError>,
    ) -> Result<(), HalError> {
        let [first, second] = &self.0;
        passes([&first.memory, &second.memory], values, each)
    }
}

/// Each launch that combines so many values until one is left: from where, where to (nothing of
/// the last one, whose value goes where the result belongs), and how many values there are before
/// and after it, which is how many blocks it has.
pub fn passes<T>(
    [mut from, mut into]: [&T; 2],
    mut values: u64,
    mut each: impl FnMut(&T, Option<&T>, [u64; 2]) -> Result<(), HalError>,
) -> Result<(), HalError> {
    while values > 1 {
        let next = values.div_ceil(COMBINED);
        each(from, Some(into).filter(|_| next > 1), [values, next])?;
        (from, into) = (into, from);
        values = next;
    }
    Ok(())
}

/// The number of a reduction's parameter among those that are memory.
pub fn memory_of(layout: &Layout, param: ParamId) -> Result<usize, HalError> {
    let missing = || HalError::unsupported("a reduction without its parameter");
    layout.pointers.iter().position(|of| *of == param).ok_or_else(missing)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests may panic")]
mod tests {
    use super::*;

    #[test]
    fn passes_end_with_one_value() {
        for (values, expected) in [
            (1, vec![]),
            (2, vec![("a", None, [2, 1])]),
            (COMBINED, vec![("a", None, [COMBINED, 1])]),
            (COMBINED + 1, vec![("a", Some("b"), [COMBINED + 1, 2]), ("b", None, [2, 1])]),
        ] {
            let mut seen = vec![];
            passes([&"a", &"b"], values, |from, into, counts| {
                seen.push((*from, into.copied(), counts));
                Ok(())
            })
            .unwrap();
            assert_eq!(seen, expected, "{values}");
        }
    }

    #[test]
    fn pieces_are_used_again_and_are_not_too_many() {
        let (mut scratch, mut made) = (Scratch::default(), 0);
        let mut make = |bytes: u64| {
            made += 1;
            Ok((made, bytes))
        };
        let room = scratch.room(1000, 8, &mut make).unwrap();
        assert_eq!(room.first(), &(1, 8192));
        assert!(scratch.keep(room).is_empty());
        let again = scratch.room(1000, 8, &mut make).unwrap();
        assert_eq!((again.first(), made), (&(1, 8192), 2));
        let large = scratch.room(1 << 20, 8, |bytes| Ok((9, bytes))).unwrap();
        assert_eq!(scratch.keep(large), [(9, 8 << 20)]);
        assert!(scratch.keep(again).is_empty());
        assert_eq!(scratch.drain().count(), 3);
        assert!(scratch.room(u64::MAX, 8, |_| Ok((0, 0))).is_err());
    }
}
