//! CACHE-01: drivers run what a cache of compiled programs has, and what a bundle has. So a program
//! under another one's key, and a directory of others, are what unsafe code alone brings.
#![forbid(unsafe_code)]
use folio_cache::{Bundle, Cache, Key};

/// Another kernel's binary, where the driver looks for this one's.
fn stored(cache: &Cache, key: &Key, other: &[u8]) {
    let made = || Ok::<_, ()>(((), Some(other.to_vec())));
    let _ = cache.get_or_make(key, |_| None, made);
}

/// A directory into which anyone has written.
fn opened() -> [Cache; 2] {
    [Cache::at("/tmp/found"), Cache::with_limit("/tmp/found", 1 << 20)]
}

/// The same by a bundle.
fn packed(bytes: &[u8]) -> Option<Bundle> {
    Bundle::from_bytes(bytes).ok()
}

fn main() {}
