//! The directory: whose it is, how entries come and go.

use super::{Entry, entry};
use std::fs::{self, File, Metadata};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

/// A file that is being written and is older than this, nobody writes any more.
const ABANDONED: Duration = Duration::from_secs(3600);

#[derive(Debug)]
pub(super) struct Store {
    directory: PathBuf,
    /// Bytes of all entries.
    limit: u64,
}

impl Store {
    pub(super) fn new(directory: PathBuf, limit: u64) -> Store {
        Store { directory, limit }
    }

    /// The program of a key, if there is an undamaged entry of our own.
    pub(super) fn get(&self, key: &[u8]) -> Option<Vec<u8>> {
        self.check().ok()?;
        let (file, bytes) = self.read(&self.directory.join(entry::name(key)))?;
        let program = entry::read(key, &bytes)?;
        // The entry was used now. Without this time it is only dropped earlier. Without that it
        // only goes earlier.
        let _ = file.set_modified(SystemTime::now());
        Some(program)
    }

    /// Every undamaged entry of our own: key and program.
    pub(super) fn all(&self) -> io::Result<Vec<(Vec<u8>, Vec<u8>)>> {
        self.check()?;
        let mut all = Vec::new();
        for file in fs::read_dir(&self.directory)? {
            let file = file?;
            let is_entry = file.file_name().to_str().is_some_and(entry::is_name);
            let read = if is_entry { self.read(&file.path()) } else { None };
            if let Some((key, program)) = read.as_ref().and_then(|(_, bytes)| entry::parse(bytes)) {
                all.push((key.to_vec(), program.to_vec()));
            }
        }
        Ok(all)
    }

    pub(super) fn directory(&self) -> &Path {
        &self.directory
    }

    /// The files that may be entries.
    fn files(&self) -> io::Result<Vec<PathBuf>> {
        match fs::symlink_metadata(&self.directory) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            _ => self.check()?,
        }
        let all = fs::read_dir(&self.directory)?.collect::<io::Result<Vec<_>>>()?;
        let is_entry = |file: &fs::DirEntry| file.file_name().to_str().is_some_and(entry::is_name);
        Ok(all.into_iter().filter(is_entry).map(|file| file.path()).collect())
    }

    pub(super) fn entries(&self) -> io::Result<Vec<Entry>> {
        let mut all = Vec::new();
        for path in self.files()? {
            let Some((file, bytes)) = self.read(&path) else { continue };
            let head = entry::parse(&bytes).and_then(|(key, _)| entry::head(key));
            let Some([version, kind, name]) = head else { continue };
            let (used, bytes) = (file.metadata()?.modified()?, bytes.len() as u64);
            all.push(Entry { kind, name, version, bytes, used });
        }
        all.sort_by_key(|entry| std::cmp::Reverse(entry.used));
        Ok(all)
    }

    pub(super) fn clear(&self, age: Duration) -> io::Result<usize> {
        let now = SystemTime::now();
        let mut gone = 0;
        for file in self.files()? {
            let used = fs::symlink_metadata(&file)?.modified()?;
            if now.duration_since(used).unwrap_or_default() >= age {
                fs::remove_file(&file)?;
                gone += 1;
            }
        }
        Ok(gone)
    }

    pub(super) fn remove(&self, key: &[u8]) -> io::Result<()> {
        fs::remove_file(self.directory.join(entry::name(key)))
    }

    /// A file that may be an entry, if it is ours.
    fn read(&self, path: &Path) -> Option<(File, Vec<u8>)> {
        // To open what is no file may wait for somebody.
        if !fs::metadata(path).ok()?.is_file() {
            return None;
        }
        let mut file = File::open(path).ok()?;
        let metadata = file.metadata().ok()?;
        if !metadata.is_file() || !is_ours(&metadata) || metadata.len() > self.limit {
            return None;
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).ok()?;
        Some((file, bytes))
    }

    /// Stores a program, and removes the oldest ones if they are too many.
    pub(super) fn put(&self, key: &[u8], program: &[u8]) -> io::Result<()> {
        let bytes = entry::write(key, program);
        if bytes.len() as u64 > self.limit {
            return Ok(());
        }
        self.create()?;
        let beside = self.directory.join(beside());
        let written = File::create_new(&beside)
            .and_then(|mut file| file.write_all(&bytes))
            .and_then(|()| fs::rename(&beside, self.directory.join(entry::name(key))));
        if written.is_err() {
            let _ = fs::remove_file(&beside);
        }
        written.and_then(|()| self.trim())
    }

    fn create(&self) -> io::Result<()> {
        let mut builder = fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        if let Some(parent) = self.directory.parent() {
            builder.create(parent)?;
            check_parent(parent)?;
        }
        builder.create(&self.directory)?;
        self.check()
    }

    /// Whether the directory is ours alone, and no other user can put one in its place. A link has
    /// no place here: another user could have it lead to any directory that is private to us.
    fn check(&self) -> io::Result<()> {
        if let Some(parent) = self.directory.parent() {
            check_parent(parent)?;
        }
        let metadata = fs::symlink_metadata(&self.directory)?;
        allowed(metadata.is_dir() && is_ours(&metadata) && is_private(&metadata))
    }

    /// Removes the entries that were not used for longest, and what was never finished. Another
    /// process may do the same now, so nothing need be there any more.
    fn trim(&self) -> io::Result<()> {
        let now = SystemTime::now();
        let mut entries = Vec::new();
        for file in fs::read_dir(&self.directory)? {
            let file = file?;
            let Ok(metadata) = file.metadata() else { continue };
            let Ok(modified) = metadata.modified() else { continue };
            let name = file.file_name();
            match Path::new(&name).extension().and_then(|end| end.to_str()) {
                Some("new") if now.duration_since(modified).is_ok_and(|age| age > ABANDONED) => {
                    let _ = fs::remove_file(file.path());
                }
                Some(_) if name.to_str().is_some_and(entry::is_name) => {
                    entries.push((modified, metadata.len(), file.path()));
                }
                _ => {}
            }
        }
        let mut sum = entries.iter().map(|(_, len, _)| len).sum::<u64>();
        entries.sort();
        for (_, len, path) in entries {
            if sum <= self.limit {
                break;
            }
            let _ = fs::remove_file(path);
            sum -= len;
        }
        Ok(())
    }
}

/// A name that no other thread or process has now.
fn beside() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let time = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    format!("{}-{number}-{}.new", std::process::id(), time.as_nanos())
}

fn allowed(fine: bool) -> io::Result<()> {
    if fine { Ok(()) } else { Err(io::ErrorKind::PermissionDenied.into()) }
}

/// Whether no other user can exchange what is in a directory, nor the directory if it is a link.
fn check_parent(directory: &Path) -> io::Result<()> {
    // A path of one relative component has an empty parent.
    let here = Path::new(".");
    let directory = if directory.as_os_str().is_empty() { here } else { directory };
    let (link, target) = (fs::symlink_metadata(directory)?, fs::metadata(directory)?);
    allowed(is_trusted(&link) && is_trusted(&target) && keeps_entries(&target))
}

/// Whether it belongs to the user that this process acts for.
#[cfg(unix)]
fn is_ours(metadata: &Metadata) -> bool {
    std::os::unix::fs::MetadataExt::uid(metadata) == user()
}

/// Whether it belongs to us or to the superuser.
#[cfg(unix)]
fn is_trusted(metadata: &Metadata) -> bool {
    [0, user()].contains(&std::os::unix::fs::MetadataExt::uid(metadata))
}

/// The user that this process acts for.
#[cfg(unix)]
fn user() -> u32 {
    // SAFETY: POSIX has this function, which asks nothing of its caller and cannot fail; `uid_t` is
    // 32 bits wide on every Unix that Rust knows.
    unsafe extern "C" {
        safe fn geteuid() -> u32;
    }
    geteuid()
}

/// Whether users other than its owner cannot remove or rename what is in a directory: not all of
/// them may write there, or each only their own (the sticky bit).
#[cfg(unix)]
fn keeps_entries(metadata: &Metadata) -> bool {
    let mode = std::os::unix::fs::PermissionsExt::mode(&metadata.permissions());
    mode & 0o002 == 0 || mode & 0o1000 != 0
}

/// Whether nobody else gets in.
#[cfg(unix)]
fn is_private(metadata: &Metadata) -> bool {
    std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o077 == 0
}

/// The user's own folder is closed to others by what it inherits.
#[cfg(not(unix))]
fn is_ours(_: &Metadata) -> bool {
    true
}

#[cfg(not(unix))]
fn is_trusted(_: &Metadata) -> bool {
    true
}

#[cfg(not(unix))]
fn keeps_entries(_: &Metadata) -> bool {
    true
}

#[cfg(not(unix))]
fn is_private(_: &Metadata) -> bool {
    true
}
