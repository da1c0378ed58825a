//! Bundles: what a cache has, in one piece that goes along with a program. Its bytes are a word
//! that says what it is, and entries, each after its length.

use crate::{Cache, Key, entry};
use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::ops::Bound;
use std::sync::Arc;

/// The bytes with which a bundle begins.
const MAGIC: [u8; 8] = *b"folio\0b\x01";

/// Compiled programs that were recorded, for machines that lack the compiler. Clones share them.
///
/// ```
/// use folio_cache::{Bundle, Cache, Key};
///
/// # let directory = std::env::temp_dir().join(format!("folio-doc-bundle-{}", std::process::id()));
/// // Where there is a compiler, a run of the program fills a cache; that is packed.
/// // SAFETY: a directory of our own.
/// let cache = unsafe { Cache::at(&directory) };
/// let program = || Ok::<_, ()>(((), Some(b"compiled".to_vec())));
/// let key = Key::new("doc").with("source").with("driver 1");
/// // SAFETY: no driver runs programs of this kind.
/// unsafe { cache.get_or_make(&key, |_| Some(()), program) }.unwrap();
/// let file = cache.bundle()?.to_bytes();
///
/// // Where there is none, it is found by what it was made of; here, whatever the driver was.
/// // SAFETY: it is ours, from above.
/// let bundle = unsafe { Bundle::from_bytes(&file) }?;
/// assert_eq!(bundle.matching(&Key::new("doc").with("source")).next(), Some(&b"compiled"[..]));
/// # std::fs::remove_dir_all(directory)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Bundle(Arc<BTreeMap<Vec<u8>, Vec<u8>>>);

/// The bytes are no bundle, or a damaged one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoBundle(());

impl fmt::Display for NoBundle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "these bytes are no bundle of compiled programs of this layout, or it is damaged",
        )
    }
}

impl std::error::Error for NoBundle {}

impl Bundle {
    /// From what [`Bundle::to_bytes`] gave.
    ///
    /// # Safety
    /// The bundle is of somebody whom the program trusts as it does its own code: drivers run what
    /// is in it. A checksum finds damage, not malice.
    pub unsafe fn from_bytes(bytes: &[u8]) -> Result<Bundle, NoBundle> {
        let mut rest = bytes.strip_prefix(&MAGIC).ok_or(NoBundle(()))?;
        let mut all = BTreeMap::new();
        while !rest.is_empty() {
            let (len, after) = rest.split_first_chunk().ok_or(NoBundle(()))?;
            let len = usize::try_from(u64::from_le_bytes(*len)).map_err(|_| NoBundle(()))?;
            let (bytes, after) = after.split_at_checked(len).ok_or(NoBundle(()))?;
            let (key, program) = entry::parse(bytes).ok_or(NoBundle(()))?;
            all.insert(key.to_vec(), program.to_vec());
            rest = after;
        }
        Ok(Bundle(Arc::new(all)))
    }

    /// The bytes of a file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        for (key, program) in &*self.0 {
            let entry = entry::write(key, program);
            bytes.extend_from_slice(&(entry.len() as u64).to_le_bytes());
            bytes.extend_from_slice(&entry);
        }
        bytes
    }

    /// The programs whose keys begin with these parts.
    pub fn matching(&self, key: &Key) -> impl Iterator<Item = &[u8]> {
        let begin = key.0.clone();
        let from = self.0.range::<[u8], _>((Bound::Included(&*key.0), Bound::Unbounded));
        from.take_while(move |(key, _)| key.starts_with(&begin)).map(|(_, program)| &**program)
    }

    /// The programs of both.
    #[must_use]
    pub fn with(mut self, other: &Bundle) -> Bundle {
        let more = other.0.iter().map(|(key, program)| (key.clone(), program.clone()));
        Arc::make_mut(&mut self.0).extend(more);
        self
    }

    /// How many programs there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Cache {
    /// The undamaged programs of the cache: of our own, which who opened the cache trusts.
    pub fn bundle(&self) -> io::Result<Bundle> {
        let all = self.0.store.as_ref().map(|store| store.all()).transpose()?;
        Ok(Bundle(Arc::new(all.unwrap_or_default().into_iter().collect())))
    }
}
