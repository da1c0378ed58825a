//! The content hash: equal for equal kernels, on every machine and in every build.

use crate::ir::Kernel;
use std::fmt;

/// 128 bits that name a kernel's content; for caches, not against forgery.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ContentHash(pub u128);

impl fmt::Display for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl fmt::Debug for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl ContentHash {
    /// The hash of these bytes: FNV-1a, 128 bits wide (offset basis and prime are those of its
    /// definition).
    pub fn of(bytes: &[u8]) -> ContentHash {
        let step =
            |hash: u128, byte: &u8| (hash ^ u128::from(*byte)).wrapping_mul((1 << 88) + 0x13b);
        ContentHash(bytes.iter().fold(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d, step))
    }
}

impl Kernel {
    /// The hash of its text form.
    pub fn content_hash(&self) -> ContentHash {
        ContentHash::of(self.to_string().as_bytes())
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn it_is_fnv_1a() {
        // The published test vector of the letter "a".
        assert_eq!(super::ContentHash::of(b"a").to_string(), "d228cb696f1a8caf78912b704e4a8964");
    }
}
