//! Ranges for NVIDIA's profilers: there, calls of the driver are within a range with their
//! command's label. The ranges are made by NVIDIA's library for that (NVTX), where it is installed
//! and a profiler says that it is attached; elsewhere there are none, and nothing is loaded.

use libloading::Library;
use std::ffi::{CString, c_char, c_int};
use std::marker::PhantomData;
use std::sync::OnceLock;

/// Profilers set it for what they start: the library to which NVTX passes everything on.
const ATTACHED: &str = "NVTX_INJECTION64_PATH";
/// As toolkits have it, up to CUDA 12 and from there on.
const NAMES: [&str; 3] = ["libnvToolsExt.so.1", "libnvtx3interop.so.1", "nvToolsExt64_1.dll"];

/// The functions that make ranges.
#[derive(Debug)]
pub(crate) struct Ranges {
    push: unsafe extern "C" fn(*const c_char) -> c_int,
    pop: unsafe extern "C" fn() -> c_int,
    /// They are of it, but in tests.
    _library: Option<Library>,
}

/// A range of the calling thread, until this is dropped; those of a thread are dropped last one
/// first.
pub(crate) struct Range<'r>(&'r Ranges, PhantomData<*const ()>);

/// The functions that make ranges, if a profiler looks.
pub(crate) fn attached() -> Option<&'static Ranges> {
    static RANGES: OnceLock<Option<Ranges>> = OnceLock::new();
    let load = || NAMES.iter().find_map(|name| Ranges::load(name));
    RANGES.get_or_init(|| std::env::var_os(ATTACHED).and_then(|_| load())).as_ref()
}

impl Ranges {
    fn load(name: &str) -> Option<Ranges> {
        // SAFETY: NVIDIA's library, whose initialisers are trusted; the functions have these types
        // in all of its versions, and are kept no longer than the library.
        unsafe {
            let library = Library::new(name).ok()?;
            let push = *library.get(b"nvtxRangePushA\0").ok()?;
            let pop = *library.get(b"nvtxRangePop\0").ok()?;
            Some(Ranges { push, pop, _library: Some(library) })
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
    use crate::CudaBackend;
    use folio_core::hal::{AllocKind, AllocReq, Backend, FillRect, Head, LaneKind, MemBase, Op};
    use folio_core::hal::{MemRef, Notify, Order};
    use std::ffi::CStr;
    use std::io::ErrorKind;
    use std::process::Command;
    use std::sync::Mutex;

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
        let built = match built {
            Err(why) if why.kind() == ErrorKind::NotFound => {
                return println!("skipped: cc: there is no C compiler");
            }
            built => built.unwrap(),
        };
        assert!(built.success());
        let ranges = Ranges::load(file.to_str().unwrap()).unwrap();
        let library = ranges._library.as_ref().unwrap();
        // SAFETY: three numbers, which nobody else uses.
        let counts = || unsafe {
            ["ranges_open\0", "ranges_made\0", "letters_seen\0"]
                .map(|name| **library.get::<*const c_int>(name.as_bytes()).unwrap())
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
    static SEEN: Mutex<Vec<String>> = Mutex::new(Vec::new());

    unsafe extern "C" fn push(label: *const c_char) -> c_int {
        // SAFETY: a text that ends with a zero.
        SEEN.lock().unwrap().push(unsafe { CStr::from_ptr(label) }.to_str().unwrap().into());
        0
    }

    unsafe extern "C" fn pop() -> c_int {
        SEEN.lock().unwrap().push("its end".into());
        0
    }

    /// Where a profiler looks, each operation of a lane is within a range with its label.
    #[test]
    fn cuda_operations_are_within_ranges() {
        static RANGES: Ranges = Ranges { push, pop, _library: None };
        let backend = CudaBackend::new().with_ranges(&RANGES);
        if let Err(why) = backend.devices() {
            return println!("skipped: cuda: {}", why.reason);
        }
        // SAFETY: the memory is freed when the lane has ended.
        let device = unsafe { backend.open(0, Notify::none()) }.unwrap();
        let (kind, label) = (AllocKind::Device, "ranges");
        let wanted = AllocReq {
            kind,
            size: 64,
            align: 64,
            import: None,
            zeroed: false,
            linked: false,
            exported: false,
            label,
        };
        let made = device.usm().alloc(&wanted).unwrap();
        let lane = device.lane(LaneKind::Compute, 0).unwrap();
        let base = MemBase::Device { device: 0, handle: made.handle };
        let dst = MemRef { base, offset: 0 };
        let rect = FillRect { dst, pitch: [64; 2], extent: [1, 1, 64] };
        for (tick, label) in [(1, "first"), (2, ""), (3, "third")] {
            let head = Head { tick, order: Order::AfterPrevious, waits: &[], label, timed: false };
            lane.enqueue(&head, Op::Fill(&[rect], &[0])).unwrap();
        }
        lane.wait(3, None).unwrap();
        device.usm().free(made.handle);
        assert_eq!(*SEEN.lock().unwrap(), ["first", "its end", "third", "its end"]);
    }
}
