//! The content hash: equal for equal kernels, on every machine and in every build.

use crate::ir::Kernel;
use std::fmt::{self, Write};

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

/// FNV-1a, 128 bits wide (offset basis and prime are those of its definition).
struct Fnv(u128);

impl Write for Fnv {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for byte in text.bytes() {
            self.0 = (self.0 ^ u128::from(byte)).wrapping_mul((1 << 88) + 0x13b);
        }
        Ok(())
    }
}

/// The hash of a text.
pub fn text(text: &str) -> ContentHash {
    let mut hash = Fnv(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d);
    // A hasher accepts everything.
    let _ = hash.write_str(text);
    ContentHash(hash.0)
}

impl Kernel {
    /// The hash of its text form.
    pub fn content_hash(&self) -> ContentHash {
        text(&self.to_string())
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn it_is_fnv_1a() {
        // The published test vector of the letter "a".
        assert_eq!(super::text("a").to_string(), "d228cb696f1a8caf78912b704e4a8964");
    }
}
