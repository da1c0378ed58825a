//! Ranges for NVIDIA's profilers: there, calls of the driver are within a range with their command's label. The ranges
//! are made by NVIDIA's library for that (NVTX), where it is installed and a profiler says that it is attached;
//! elsewhere there are none, and nothing is loaded.

use libloading::Library;
use std::ffi::{CString, c_char, c_int};
use std::marker::PhantomData;
use std::sync::OnceLock;

/// Profilers set it for what they start: the library to which NVTX passes everything on.
const ATTACHED: &str = "NVTX_INJECTION64_PATH";
/// As toolkits have it, up to CUDA 12 and from there on.
const NAMES: [&str; 3] = ["libnvToolsExt.so.1", "libnvtx3interop.so.1", "nvToolsExt64_1.dll"];

/// What makes ranges.
#[derive(Debug)]
pub(crate) struct Ranges {
    push: unsafe extern "C" fn(*const c_char) -> c_int,
    pop: unsafe extern "C" fn() -> c_int,
    /// They are of it.
    _library: Library,
}

/// A range of the calling thread, until this is dropped; those of a thread are dropped last one first.
pub(crate) struct Range<'r>(&'r Ranges, PhantomData<*const ()>);

/// What makes ranges, if somebody looks.
pub(crate) fn attached() -> Option<&'static Ranges> {
    static RANGES: OnceLock<Option<Ranges>> = OnceLock::new();
    let load = || NAMES.iter().find_map(|name| Ranges::load(name));
    RANGES.get_or_init(|| std::env::var_os(ATTACHED).and_then(|_| load())).as_ref()
}

impl Ranges {
    fn load(name: &str) -> Option<Ranges> {
        // SAFETY: NVIDIA's library, whose initialisers are trusted; the functions have these types in all of its
        // versions, and are kept no longer than the library.
        unsafe {
            let library = Library::new(name).ok()?;
            let push = *library.get(b"nvtxRangePushA\0").ok()?;
            let pop = *library.get(b"nvtxRangePop\0").ok()?;
            Some(Ranges { push, pop, _library: library })
        }
    }

    /// None for what has no label.
    pub(crate) fn begin(&self, label: &str) -> Option<Range<'_>> {
        let label = CString::new(label).ok().filter(|label| !label.is_empty())?;
        // SAFETY: a text that ends with a zero, which is copied.
        unsafe { (self.push)(label.as_ptr()) };
        Some(Range(self, PhantomData))
    }
}

impl Drop for Range<'_> {
    fn drop(&mut self) {
        // SAFETY: ends the thread's last range, which is this.
        unsafe { (self.0.pop)() };
    }
}

#[cfg(all(test, target_os = "linux"))]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use std::process::Command;

    /// Counts, in place of NVIDIA's.
    const COUNTING: &str = "
        int ranges_open, ranges_made, letters_seen;
        int nvtxRangePushA(const char *label) {
            while (*label++) letters_seen++;
            ranges_made++;
            return ranges_open++;
        }
        int nvtxRangePop(void) { return --ranges_open; }
    ";

    #[test]
    fn compile_ranges_begin_and_end() {
        let folder = std::env::temp_dir().join(format!("folio-nvtx-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let (text, file) = (folder.join("nvtx.c"), folder.join("libnvtx.so"));
        std::fs::write(&text, COUNTING).unwrap();
        let mut compiler = Command::new("cc");
        let built = compiler.args(["-shared", "-fPIC", "-o"]).args([&file, &text]).status();
        assert!(built.unwrap().success());
        let ranges = Ranges::load(file.to_str().unwrap()).unwrap();
        // SAFETY: three numbers, which nobody else uses.
        let counts = || unsafe {
            ["ranges_open\0", "ranges_made\0", "letters_seen\0"]
                .map(|name| **ranges._library.get::<*const c_int>(name.as_bytes()).unwrap())
        };
        let outer = ranges.begin("outer").unwrap();
        {
            let _inner = ranges.begin("in").unwrap();
            assert_eq!(counts(), [2, 2, 7]);
        }
        assert!(ranges.begin("").is_none() && ranges.begin("a\0b").is_none());
        assert_eq!(counts(), [1, 2, 7]);
        drop(outer);
        assert_eq!(counts(), [0, 2, 7]);
        assert!(Ranges::load("there is no such library").is_none());
        std::fs::remove_dir_all(folder).unwrap();
    }
}
