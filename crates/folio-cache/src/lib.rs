//! A cache of compiled programs on disk, for backends: what a driver's compiler has made once, no
//! later process has to make again.
//!
//! * An entry is found by its whole [`Key`]: what the program is made of, for which device, by
//!   which driver, with which options, for which version of Folio.
//! * The directory is private to a user. Entries of other users are passed over, and so is
//!   everything in a directory that others could write to, read, or exchange: a link in its place
//!   is not followed.
//! * Entries have a checksum. A damaged entry, or an entry that the driver refuses, is made anew.
//! * Entries are written beside their place and renamed, so any number of processes may use one
//!   directory.
//! * There is a limit: those that nobody has used for longest go first.
//! * The programs of a cache can be packed into a [`Bundle`], for machines that lack the compiler.
//!
//! A cache never fails. Where nothing can be read or written, each program is compiled.
//!
//! Drivers run what a cache has. A caller that opens a directory, or stores a program, promises
//! what is in it in `unsafe` code; all else is safe.
//!
//! ```
//! use folio_cache::{Cache, Key};
//!
//! let directory = std::env::temp_dir().join(format!("folio-doc-{}", std::process::id()));
//! let key = || Key::new("doc").with("the source").with("the device and its driver");
//! for _ in 0..2 {
//!     // SAFETY: a directory of our own.
//!     let cache = unsafe { Cache::at(&directory) };
//!     let load = |stored: &[u8]| Some(stored.to_vec());
//!     let make = || Ok::<_, ()>((b"compiled".to_vec(), Some(b"compiled".to_vec())));
//!     // SAFETY: no driver runs programs of this kind.
//!     let program = unsafe { cache.get_or_make(&key(), load, make) };
//!     assert_eq!(program, Ok(b"compiled".to_vec()));
//!     println!("{:?}", cache.counts());
//! }
//! # std::fs::remove_dir_all(directory)?;
//! # Ok::<(), std::io::Error>(())
//! ```

mod bundle;
mod entry;
mod store;

pub use bundle::{Bundle, NoBundle};

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};
use store::Store;

/// Bytes of all entries, unless more or less is asked for.
const LIMIT: u64 = 256 << 20;

/// A cache, or none. Clones are the same one.
#[derive(Clone, Debug, Default)]
pub struct Cache(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    store: Option<Store>,
    found: AtomicU64,
    made: AtomicU64,
}

/// The questions to a cache since it was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Programs that were there.
    pub found: u64,
    /// Programs that were not, or not in order: they had to be compiled.
    pub made: u64,
}

/// A program that is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// For whom: a backend's name, or what else [`Key::new`] was given.
    pub kind: String,
    /// The name for people: the kernel's name, or nothing.
    pub name: String,
    /// Folio's version.
    pub version: String,
    /// Bytes of its file.
    pub bytes: u64,
    /// When it was used last.
    pub used: SystemTime,
}

/// The name of a program in the cache. Two keys are equal if they are of the same kind and have the
/// same parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key(Vec<u8>);

impl Key {
    /// For programs of a kind: a backend's name. Folio's version is part of it.
    pub fn new(kind: &str) -> Key {
        Key::named(kind, "")
    }

    /// The same with a name by which people know the program again: its kernel's.
    pub fn named(kind: &str, name: &str) -> Key {
        Key(Vec::new()).with(env!("CARGO_PKG_VERSION")).with(kind).with(name)
    }

    /// Adds a part on which the program depends.
    #[must_use]
    pub fn with(mut self, part: impl AsRef<[u8]>) -> Key {
        let part = part.as_ref();
        self.0.extend_from_slice(&(part.len() as u64).to_le_bytes());
        self.0.extend_from_slice(part);
        self
    }
}

impl Cache {
    /// None: everything is compiled.
    pub fn off() -> Cache {
        Cache::default()
    }

    /// In a directory, which is made when something is stored: programs are in `programs` there.
    /// The cache has 256 MiB.
    ///
    /// # Safety
    /// Only programs of this user that the user trusts as their own code write there: drivers run
    /// what is in it. A checksum finds damage, not malice.
    pub unsafe fn at(directory: impl Into<PathBuf>) -> Cache {
        Cache::in_directory(directory.into(), LIMIT)
    }

    /// The same with another limit in bytes.
    ///
    /// # Safety
    /// As of [`Cache::at`].
    pub unsafe fn with_limit(directory: impl Into<PathBuf>, bytes: u64) -> Cache {
        Cache::in_directory(directory.into(), bytes)
    }

    fn in_directory(directory: PathBuf, bytes: u64) -> Cache {
        let store = Store::new(directory.join("programs"), bytes);
        Cache(Arc::new(Inner { store: Some(store), ..Inner::default() }))
    }

    /// Where the environment says: none with `FOLIO_CACHE=off`; in `FOLIO_CACHE_DIR`; or else among
    /// the user's caches (`XDG_CACHE_HOME`, `~/.cache`, `~/Library/Caches`, `%LOCALAPPDATA%`), if
    /// that is somewhere. The directory is the user's, as are the libraries that the environment
    /// names: who sets it says what the process runs.
    pub fn from_environment() -> Cache {
        let own = directory(|name| std::env::var_os(name));
        own.map_or_else(Cache::off, |own| Cache::in_directory(own, LIMIT))
    }

    /// The program of a key: what `load` makes of the stored bytes, or else what `make` compiles,
    /// with the bytes to store, if they are known. If `load` refuses, the entry is made anew.
    ///
    /// # Safety
    /// The bytes that `make` gives to store are a program of the key: made of what the key names,
    /// by the driver that it names. A backend hands to that driver what is stored, and the driver
    /// runs it.
    pub unsafe fn get_or_make<T, E>(
        &self,
        key: &Key,
        load: impl FnOnce(&[u8]) -> Option<T>,
        make: impl FnOnce() -> Result<(T, Option<Vec<u8>>), E>,
    ) -> Result<T, E> {
        let Inner { store, found, made } = &*self.0;
        let stored = store.as_ref().and_then(|store| store.get(&key.0));
        if let Some(program) = stored.and_then(|stored| load(&stored)) {
            found.fetch_add(1, Ordering::Relaxed);
            return Ok(program);
        }
        made.fetch_add(1, Ordering::Relaxed);
        let (program, bytes) = make()?;
        if let (Some(store), Some(bytes)) = (store, bytes) {
            // A program that cannot be stored is compiled again.
            let _ = store.put(&key.0, &bytes);
        }
        Ok(program)
    }

    /// Where the programs are, if there is a cache.
    pub fn directory(&self) -> Option<&Path> {
        self.0.store.as_ref().map(Store::directory)
    }

    /// The undamaged programs of our own, the last used first. A directory that is not there yet
    /// has none.
    pub fn entries(&self) -> io::Result<Vec<Entry>> {
        self.0.store.as_ref().map_or_else(|| Ok(Vec::new()), Store::entries)
    }

    /// Removes all programs, and tells how many there were.
    pub fn clear(&self) -> io::Result<usize> {
        self.clear_unused_for(Duration::ZERO)
    }

    /// Removes the programs that were not used for so long, and tells how many there were.
    pub fn clear_unused_for(&self, age: Duration) -> io::Result<usize> {
        self.0.store.as_ref().map_or(Ok(0), |store| store.clear(age))
    }

    /// Whether a program could be stored and found again: [`get_or_make`](Cache::get_or_make)
    /// compiles in silence where not.
    pub fn check(&self) -> io::Result<()> {
        let Some(store) = &self.0.store else { return Ok(()) };
        let key = Key::new("check");
        store.put(&key.0, b"check")?;
        let found = store.get(&key.0);
        store.remove(&key.0)?;
        match found.as_deref() {
            Some(b"check") => Ok(()),
            _ => Err(io::ErrorKind::InvalidData.into()),
        }
    }

    /// How often it helped.
    pub fn counts(&self) -> Counts {
        let Inner { found, made, .. } = &*self.0;
        Counts { found: found.load(Ordering::Relaxed), made: made.load(Ordering::Relaxed) }
    }
}

/// The directory that the variables of an environment name.
fn directory(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let path = |name| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let off = |value: OsString| {
        let words = ["off", "0", "false", "no"];
        words.iter().any(|word| value.eq_ignore_ascii_case(word))
    };
    if variable("FOLIO_CACHE").is_some_and(off) {
        return None;
    }
    if let Some(own) = path("FOLIO_CACHE_DIR") {
        return Some(own);
    }
    // Relative paths there are to be passed over.
    let absolute = |name| path(name).filter(|path| path.is_absolute());
    let caches = if cfg!(windows) {
        absolute("LOCALAPPDATA")
    } else if cfg!(target_os = "macos") {
        absolute("HOME").map(|home| home.join("Library/Caches"))
    } else {
        absolute("XDG_CACHE_HOME").or_else(|| absolute("HOME").map(|home| home.join(".cache")))
    };
    caches.map(|caches| caches.join("folio"))
}

#[cfg(test)]
mod tests {
    use super::{Key, directory};
    use std::ffi::OsString;
    use std::path::PathBuf;

    #[test]
    fn the_environment_names_the_directory() {
        let of = |all: &[(&str, &str)]| {
            directory(|name| all.iter().find(|(n, _)| *n == name).map(|(_, v)| OsString::from(v)))
        };
        let home = if cfg!(windows) { ("LOCALAPPDATA", "C:\\me") } else { ("HOME", "/me") };
        assert_eq!(of(&[]), None);
        assert_eq!(of(&[(home.0, "me")]), None);
        let default = of(&[home]).unwrap();
        assert!(default.starts_with(home.1) && default.ends_with("folio"), "{default:?}");
        let own = ("FOLIO_CACHE_DIR", "here");
        assert_eq!(of(&[home, own]), Some(PathBuf::from("here")));
        assert_eq!(of(&[home, ("FOLIO_CACHE_DIR", "")]), Some(default));
        for off in ["off", "OFF", "0", "false", "no"] {
            assert_eq!(of(&[home, own, ("FOLIO_CACHE", off)]), None);
        }
        assert_eq!(of(&[home, own, ("FOLIO_CACHE", "on")]), of(&[home, own]));
        #[cfg(target_os = "linux")]
        assert_eq!(of(&[home, ("XDG_CACHE_HOME", "/c")]), Some(PathBuf::from("/c/folio")));
    }

    #[test]
    fn parts_of_keys_do_not_run_together() {
        let key = |parts: [&str; 2]| Key::new("k").with(parts[0]).with(parts[1]);
        assert_ne!(key(["ab", "c"]), key(["a", "bc"]));
        assert_eq!(key(["ab", "c"]), key(["ab", "c"]));
        assert_ne!(Key::new("a"), Key::new("b"));
    }
}
