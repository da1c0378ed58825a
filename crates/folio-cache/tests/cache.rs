//! The promises of a cache, by way of the files that it leaves: CACHE-01.
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

use folio_cache::{Bundle, Cache, Counts, Key};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

/// A directory of a test's own, which goes with it.
struct Folder(PathBuf);

impl Folder {
    fn new(test: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("folio-cache-{test}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        Folder(path)
    }

    fn programs(&self) -> PathBuf {
        self.0.join("programs")
    }

    fn files(&self) -> Vec<PathBuf> {
        let all = fs::read_dir(self.programs()).map(|all| all.map(|file| file.unwrap().path()));
        all.map(Iterator::collect).unwrap_or_default()
    }

    fn only(&self) -> PathBuf {
        let files = self.files();
        assert_eq!(files.len(), 1, "{files:?}");
        files[0].clone()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn key(source: &str) -> Key {
    Key::new("test").with(source).with("device").with("-O2")
}

fn at(directory: &Path) -> Cache {
    // SAFETY: a directory of a test's own.
    unsafe { Cache::at(directory) }
}

fn with_limit(directory: &Path, bytes: u64) -> Cache {
    // SAFETY: a directory of a test's own.
    unsafe { Cache::with_limit(directory, bytes) }
}

/// No driver runs what these tests store.
fn get_or_make<T, E>(
    cache: &Cache,
    key: &Key,
    load: impl FnOnce(&[u8]) -> Option<T>,
    make: impl FnOnce() -> Result<(T, Option<Vec<u8>>), E>,
) -> Result<T, E> {
    // SAFETY: see above.
    unsafe { cache.get_or_make(key, load, make) }
}

/// The bytes that "compiling" gives: any, different for each source.
fn compiled(source: &str) -> Vec<u8> {
    source.bytes().cycle().take(100).chain(*b"\0\xff").collect()
}

fn ask(cache: &Cache, source: &str) -> Vec<u8> {
    let make = || Ok::<_, ()>((compiled(source), Some(compiled(source))));
    get_or_make(cache, &key(source), |stored| Some(stored.to_vec()), make).unwrap()
}

/// Asks anew, as another process would. Whether it was there.
#[track_caller]
fn is_there(directory: &Path, source: &str) -> bool {
    let cache = at(directory);
    assert_eq!(ask(&cache, source), compiled(source));
    cache.counts() == Counts { found: 1, made: 0 }
}

/// CACHE-01
#[test]
fn the_second_time_nothing_is_compiled() {
    let folder = Folder::new("second");
    let cache = at(&folder.0);
    for _ in 0..3 {
        for source in ["a", "b", ""] {
            assert_eq!(ask(&cache, source), compiled(source));
        }
    }
    assert_eq!(cache.counts(), Counts { found: 6, made: 3 });
    assert!(is_there(&folder.0, "a") && is_there(&folder.0, ""));
    assert!(!is_there(&folder.0, "c"));
    let other = Key::new("test").with("a").with("another device").with("-O2");
    let made = get_or_make(&cache, &other, |_| Some(1), || Ok::<_, ()>((2, None)));
    assert_eq!(made, Ok(2), "another device's");
    assert!(folder.files().iter().all(|file| file.extension().is_some_and(|end| end == "bin")));
}

/// CACHE-01
#[test]
fn damaged_entries_are_passed_over_and_made_anew() {
    let folder = Folder::new("damaged");
    assert!(!is_there(&folder.0, "a"));
    let file = folder.only();
    let good = fs::read(&file).unwrap();
    for byte in 0..good.len() {
        let mut flipped = good.clone();
        flipped[byte] ^= 1 << (byte % 8);
        fs::write(&file, flipped).unwrap();
        assert!(!is_there(&folder.0, "a"), "byte {byte} of {}", good.len());
        assert_eq!(fs::read(&file).unwrap(), good, "made anew");
    }
    for len in (0..good.len()).step_by(7) {
        fs::write(&file, &good[..len]).unwrap();
        assert!(!is_there(&folder.0, "a"), "{len} bytes of {}", good.len());
    }
    fs::write(&file, [&good[..], b"x"].concat()).unwrap();
    assert!(!is_there(&folder.0, "a"), "longer than it was");
    assert!(is_there(&folder.0, "a"));
    #[cfg(unix)]
    {
        fs::remove_file(&file).unwrap();
        assert!(Command::new("mkfifo").arg(&file).status().unwrap().success());
        assert!(!is_there(&folder.0, "a"), "a pipe into which nobody writes");
    }
}

/// An undamaged entry of another key, under this one's name.
#[test]
fn an_entry_of_another_program_is_passed_over() {
    let folder = Folder::new("other");
    is_there(&folder.0, "a");
    let file = folder.only();
    let other = Folder::new("other-b");
    is_there(&other.0, "b");
    fs::copy(other.only(), &file).unwrap();
    assert!(!is_there(&folder.0, "a"));
    assert!(is_there(&folder.0, "a"));
}

#[test]
fn an_entry_that_the_driver_refuses_is_made_anew() {
    let folder = Folder::new("refused");
    is_there(&folder.0, "a");
    let cache = at(&folder.0);
    let make = || Ok::<_, ()>((vec![], Some(b"better".to_vec())));
    get_or_make(&cache, &key("a"), |_| None::<Vec<u8>>, make).unwrap();
    assert_eq!(cache.counts(), Counts { found: 0, made: 1 });
    let stored = get_or_make(&cache, &key("a"), |stored| Some(stored.to_vec()), || Err(()));
    assert_eq!(stored, Ok(b"better".to_vec()));
}

#[test]
fn an_error_of_the_compiler_is_its_own_and_not_stored() {
    let folder = Folder::new("error");
    let cache = at(&folder.0);
    let failed = get_or_make(&cache, &key("a"), |_| Some(()), || Err("a syntax error"));
    assert_eq!(failed, Err("a syntax error"));
    assert_eq!(folder.files().len(), 0);
}

/// CACHE-01
#[cfg(unix)]
#[test]
fn what_others_could_have_written_is_passed_over() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
    let folder = Folder::new("foreign");
    is_there(&folder.0, "a");
    let (file, programs) = (folder.only(), folder.programs());
    assert_eq!(programs.metadata().unwrap().mode() & 0o777, 0o700);
    for mode in [0o777, 0o750, 0o701] {
        fs::set_permissions(&programs, fs::Permissions::from_mode(mode)).unwrap();
        assert!(!is_there(&folder.0, "a"), "{mode:o}");
        assert!(!is_there(&folder.0, "b"), "nor is anything stored there");
    }
    fs::set_permissions(&programs, fs::Permissions::from_mode(0o700)).unwrap();
    assert!(is_there(&folder.0, "a"));
    // Only the superuser gives files away; what others see of it is tested above.
    if chown(&file, Some(12345), None).is_ok() {
        assert!(!is_there(&folder.0, "a"), "another user's file");
        assert!(is_there(&folder.0, "a"), "now it is ours");
        assert_ne!(file.metadata().unwrap().uid(), 12345);
        chown(&programs, Some(12345), None).unwrap();
        assert!(!is_there(&folder.0, "a"), "another user's directory");
        chown(&programs, Some(file.metadata().unwrap().uid()), None).unwrap();
        assert!(is_there(&folder.0, "a"));
    }
}

/// CACHE-01: other users cannot have entries written to, or read from, a private directory of ours
/// that is no cache.
#[cfg(unix)]
#[test]
fn links_and_directories_of_others_are_not_followed() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, lchown, symlink};
    let private = Folder::new("private");
    assert!(!is_there(&private.0, "a") && is_there(&private.0, "a"));
    let before = private.files();
    let unchanged = || {
        assert_eq!(private.files(), before, "nothing is written there");
    };

    let folder = Folder::new("link");
    fs::create_dir(&folder.0).unwrap();
    let made_none = |what: &str| {
        assert!(!is_there(&folder.0, "a") && !is_there(&folder.0, "b"), "{what}");
        unchanged();
    };
    symlink(private.programs(), folder.programs()).unwrap();
    made_none("`programs` is a link");
    fs::remove_file(folder.programs()).unwrap();

    fs::set_permissions(&folder.0, fs::Permissions::from_mode(0o777)).unwrap();
    made_none("anybody may put something else in its place");
    assert!(!folder.programs().exists());
    fs::set_permissions(&folder.0, fs::Permissions::from_mode(0o1777)).unwrap();
    assert!(!is_there(&folder.0, "a") && is_there(&folder.0, "a"), "as in `/tmp`");

    let ours = folder.0.metadata().unwrap().uid();
    // Only the superuser gives directories away.
    if chown(&folder.0, Some(12345), None).is_ok() {
        made_none("another user's directory");
        fs::remove_dir_all(folder.programs()).unwrap();
        made_none("another user's directory, in which nothing is made");
        assert!(!folder.programs().exists());
        chown(&folder.0, Some(ours), None).unwrap();

        let link = Folder::new("link-to");
        symlink(&private.0, &link.0).unwrap();
        assert!(is_there(&link.0, "a"), "a link of our own to a directory of our own");
        lchown(&link.0, Some(12345), None).unwrap();
        assert!(!is_there(&link.0, "a"), "another user's link");
        unchanged();
        fs::remove_file(&link.0).unwrap();
    }
}

#[test]
fn nothing_fails_where_nothing_can_be_written() {
    let folder = Folder::new("unwritable");
    fs::create_dir_all(&folder.0).unwrap();
    let file = folder.0.join("a file");
    fs::write(&file, "").unwrap();
    for directory in [file.clone(), file.join("below")] {
        assert!(!is_there(&directory, "a"));
        assert!(!is_there(&directory, "a"));
    }
    let off = Cache::off();
    ask(&off, "a");
    ask(&off, "a");
    assert_eq!(off.counts(), Counts { found: 0, made: 2 });
}

/// CACHE-01
#[test]
fn the_oldest_go_where_there_are_too_many() {
    let folder = Folder::new("limit");
    is_there(&folder.0, "a");
    let entry = folder.only().metadata().unwrap().len();
    let cache = with_limit(&folder.0, 3 * entry);
    let old = SystemTime::now() - Duration::from_secs(1000);
    for (k, source) in ["a", "b", "c"].into_iter().enumerate() {
        ask(&cache, source);
        let age = Duration::from_secs(k as u64);
        let newest =
            folder.files().into_iter().max_by_key(|f| f.metadata().unwrap().modified().unwrap());
        fs::File::options()
            .write(true)
            .open(newest.unwrap())
            .unwrap()
            .set_modified(old + age)
            .unwrap();
    }
    // Used again, so that it is not the oldest any more.
    assert!(is_there(&folder.0, "a"));
    ask(&cache, "d");
    assert_eq!(folder.files().len(), 3);
    assert!(is_there(&folder.0, "a") && is_there(&folder.0, "c") && is_there(&folder.0, "d"));
    assert!(!is_there(&folder.0, "b"), "the one that was not used for longest");
    // A program that is too large for the whole cache is not stored, and drives nothing out.
    let small = with_limit(&folder.0, entry - 1);
    let before = folder.files().len();
    ask(&small, "e");
    assert_eq!(folder.files().len(), before);
}

#[test]
fn what_was_never_finished_goes() {
    let folder = Folder::new("unfinished");
    is_there(&folder.0, "a");
    let (left, fresh) = (folder.programs().join("1-0-0.new"), folder.programs().join("2-0-0.new"));
    for file in [&left, &fresh] {
        fs::write(file, "half").unwrap();
    }
    let long_ago = SystemTime::now() - Duration::from_secs(7200);
    fs::File::options().write(true).open(&left).unwrap().set_modified(long_ago).unwrap();
    is_there(&folder.0, "b");
    assert!(!left.exists() && fresh.exists());
}

/// The work of a process of the test below: asks for everything, again and again, in a cache that
/// is too small, so that entries come and go all the time.
fn work(directory: &Path) {
    let cache = with_limit(directory, 3_000);
    for turn in 0..400 {
        let source = format!("source {}", turn * 7 % 31);
        assert_eq!(ask(&cache, &source), compiled(&source));
    }
}

const DIRECTORY: &str = "FOLIO_TEST_CACHE";

/// CACHE-01
#[test]
fn processes_share_a_directory() {
    if let Some(directory) = std::env::var_os(DIRECTORY) {
        return work(Path::new(&directory));
    }
    let folder = Folder::new("processes");
    let exe = std::env::current_exe().unwrap();
    let start = |_| {
        let mut command = Command::new(&exe);
        command.args(["--exact", "processes_share_a_directory"]).env(DIRECTORY, &folder.0);
        command.spawn().unwrap()
    };
    let children: Vec<_> = (0..3).map(start).collect();
    work(&folder.0);
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    let left: u64 = folder.files().iter().map(|file| file.metadata().unwrap().len()).sum();
    assert!(left > 0 && left <= 3_000, "{left} bytes");
    assert!(folder.files().iter().all(|file| file.extension().is_some_and(|end| end == "bin")));
}

/// A recorded program is found by the beginning of its key, and a bundle that is damaged anywhere,
/// or cut off, or of something else, is none.
#[test]
fn bundles_have_what_was_recorded() {
    let (one, other) = (Folder::new("bundle-one"), Folder::new("bundle-other"));
    let (first, second) = (at(&one.0), at(&other.0));
    for (cache, source) in [(&first, "a"), (&first, "ab"), (&second, "b"), (&second, "ab")] {
        ask(cache, source);
    }
    fs::write(one.programs().join(format!("{:032x}.bin", 7)), b"not an entry").unwrap();
    let both = first.bundle().unwrap().with(&second.bundle().unwrap());
    assert_eq!((both.len(), both.is_empty()), (3, false));
    let bytes = both.to_bytes();
    // SAFETY: nothing runs what is in it, here and below.
    let read = |bytes: &[u8]| unsafe { Bundle::from_bytes(bytes) };
    let bundle = read(&bytes).unwrap();
    for source in ["a", "b", "ab"] {
        let begin = Key::new("test").with(source);
        assert_eq!(bundle.matching(&begin).collect::<Vec<_>>(), [compiled(source)]);
        assert_eq!(bundle.matching(&key(source)).count(), 1);
        assert_eq!(bundle.matching(&key(source).with("more")).count(), 0);
        assert_eq!(bundle.matching(&begin.with("another device")).count(), 0);
    }
    assert_eq!(bundle.matching(&Key::new("test")).count(), 3);
    assert_eq!(bundle.matching(&Key::new("tes")).count(), 0);
    for at in 0..bytes.len() {
        let mut wrong = bytes.clone();
        wrong[at] ^= 0x11;
        assert!(read(&wrong).is_err(), "byte {at} is another one");
        // Bytes that end after a whole entry are a bundle of fewer.
        assert!(read(&bytes[..at]).is_ok_and(|less| less.len() < 3) || read(&bytes[..at]).is_err());
    }
    assert!(read(b"").is_err() && read(b"folio").is_err());
    assert!(Cache::off().bundle().unwrap().is_empty());
}
