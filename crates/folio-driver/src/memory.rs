//! Allocations by handle, and requests that are repeated when there is room.

use folio_core::hal::{HalError, HalErrorKind};
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A map by handles, which drivers and backends choose: so a hash may be one that costs little.
pub type Handles<K, T> = HashMap<K, T, BuildHasherDefault<HandleHasher>>;

/// Hashes a handle: an address, or a number that counts.
#[derive(Debug, Default)]
pub struct HandleHasher(u64);

impl Hasher for HandleHasher {
    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.write_u64(u64::from_le_bytes(word));
        }
    }

    fn write_usize(&mut self, n: usize) {
        self.write_u64(n as u64);
    }

    fn write_u64(&mut self, n: u64) {
        // 2^64 divided by the golden ratio. Tables look at the highest and the lowest bits.
        self.0 = (self.0 ^ n).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(32);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// Whether a request was refused for want of memory, so that it may be granted later.
pub fn is_short(refused: &HalError) -> bool {
    matches!(refused.kind, HalErrorKind::OutOfMemory { .. })
}

/// Makes what needs memory. If there is too little, `give_back` gives back what is kept of freed
/// memory and says whether that may help; then the request is made once more.
pub fn with_room<T>(
    mut make: impl FnMut() -> Result<T, HalError>,
    give_back: impl FnOnce() -> Result<bool, HalError>,
) -> Result<T, HalError> {
    match make() {
        Err(error) if is_short(&error) => {
            if give_back()? {
                make()
            } else {
                Err(error)
            }
        }
        made => made,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handles_in_a_row_hash_apart() {
        let mut all = Handles::default();
        for handle in 0..10_000u64 {
            all.insert(handle << 12, handle);
        }
        assert!((0..10_000u64).all(|handle| all.get(&(handle << 12)) == Some(&handle)));
        let hash = |handle: u64| {
            let mut hasher = HandleHasher::default();
            hasher.write_u64(handle);
            hasher.finish()
        };
        // As many as chance would give: 128 values of the highest seven bits.
        let highest: std::collections::BTreeSet<u64> =
            (0..10_000).map(|handle| hash(handle << 12) >> 57).collect();
        assert_eq!(highest.len(), 128);
    }

    #[test]
    fn a_request_is_repeated_when_there_is_room() {
        for (fails, room, expected) in
            [(0, true, Ok(1)), (1, true, Ok(2)), (1, false, Err(1)), (2, true, Err(2))]
        {
            let mut asked = 0;
            let made = with_room(
                || {
                    asked += 1;
                    if asked <= fails { Err(HalError::out_of_memory(8, 0, 0)) } else { Ok(asked) }
                },
                || Ok(room),
            );
            assert_eq!(made.map_err(|_| asked), expected);
        }
        let refused = || Err::<(), _>(HalError::unsupported("this"));
        let made = with_room(refused, || Err(HalError::unsupported("giving back")));
        assert_eq!(made.unwrap_err().to_string(), "not supported: this");
    }
}
