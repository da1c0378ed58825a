//! Maps by handles, which drivers and this crate choose: so a hash may be one that costs little.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// By handle.
pub(crate) type Handles<K, T> = HashMap<K, T, BuildHasherDefault<Mix>>;

/// Hashes a handle: an address, or a number that counts.
#[derive(Default)]
pub(crate) struct Mix(u64);

impl Hasher for Mix {
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
        // 2^64 divided by the golden ratio.
        self.0 = (self.0 ^ n).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(32);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
