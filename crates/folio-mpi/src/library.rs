//! Libraries of MPI: which there are, how each is called, and what its constants are.
//!
//! There are three binary interfaces: the standard one of MPI 5, that of MPICH (which Intel's and
//! others share), and Open MPI's. A library is known by what it says of itself, not by its name.

use crate::error::{Error, Tried};
use crate::launcher::Launcher;
use crate::wire::MpiWire;
use folio_core::hal::Wire;
use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_LAZY};
use std::ffi::{c_char, c_int, c_void};
use std::sync::atomic::{AtomicBool, Ordering};

/// Where the standard interface, MPICH's, and Open MPI's are found. Debian gives MPICH's another
/// name.
const STANDARD: [&str; 2] = ["libmpi_abi.so.1", "libmpi_abi.so.0"];
const MPICH: [&str; 2] = ["libmpi.so.12", "libmpich.so.12"];
const OPEN_MPI: [&str; 1] = ["libmpi.so.40"];

/// The longest text of any library.
const WORDS: usize = 8192;

/// Handles are addresses, or numbers.
pub(crate) trait Handle: Copy + PartialEq + 'static {}

impl Handle for *mut c_void {}
impl Handle for c_int {}

/// Room for the status of each interface, at most 28 bytes.
#[repr(C, align(8))]
#[derive(Clone, Copy, Default)]
pub(crate) struct Status(pub(crate) [c_int; 8]);

/// The constants of an interface.
pub(crate) struct Constants<H> {
    pub(crate) world: H,
    pub(crate) byte: H,
    pub(crate) errors_return: H,
    pub(crate) no_request: H,
    pub(crate) any_source: c_int,
    /// The level of threads at which one thread makes all calls.
    pub(crate) funneled: c_int,
    /// Where a status has its source; its tag and its error follow.
    pub(crate) source_at: usize,
}

macro_rules! calls {
    ($($name:ident = $symbol:literal: fn($($arg:ty),*);)*) => {
        /// The calls of a library with handles `H`.
        pub(crate) struct Calls<H> {
            $(pub(crate) $name: unsafe extern "C" fn($($arg),*) -> c_int,)*
        }

        impl<H: Handle> Calls<H> {
            /// Looks each of them up.
            ///
            /// # Safety
            /// The library has an interface with such handles.
            unsafe fn of(library: &Library) -> Result<Calls<H>, String> {
                Ok(Calls {
                    // SAFETY: the standard of MPI has these parameters for this name.
                    $($name: *unsafe { library.get($symbol.as_bytes()) }
                        .map_err(|_| concat!("it has no ", $symbol).to_owned())?,)*
                })
            }
        }
    };
}

calls! {
    initialized = "MPI_Initialized": fn(*mut c_int);
    init_thread = "MPI_Init_thread": fn(*mut c_int, *mut *mut *mut c_char, c_int, *mut c_int);
    finalize = "MPI_Finalize": fn();
    abort = "MPI_Abort": fn(H, c_int);
    comm_dup = "MPI_Comm_dup": fn(H, *mut H);
    comm_rank = "MPI_Comm_rank": fn(H, *mut c_int);
    comm_size = "MPI_Comm_size": fn(H, *mut c_int);
    set_errhandler = "MPI_Comm_set_errhandler": fn(H, H);
    error_string = "MPI_Error_string": fn(c_int, *mut c_char, *mut c_int);
    isend = "MPI_Isend": fn(*const c_void, c_int, H, c_int, c_int, H, *mut H);
    irecv = "MPI_Irecv": fn(*mut c_void, c_int, H, c_int, c_int, H, *mut H);
    test = "MPI_Test": fn(*mut H, *mut c_int, *mut Status);
    improbe = "MPI_Improbe": fn(c_int, c_int, H, *mut c_int, *mut H, *mut Status);
    mrecv = "MPI_Mrecv": fn(*mut c_void, c_int, H, *mut H, *mut Status);
    get_count = "MPI_Get_count": fn(*const Status, H, *mut c_int);
    ibarrier = "MPI_Ibarrier": fn(H, *mut H);
}

/// A library that was opened, and what it says of itself.
struct Opened {
    library: Library,
    words: String,
}

impl Opened {
    fn open(name: &str) -> Result<Opened, String> {
        // Parts of Open MPI are opened by itself, and look for its names among all.
        let flags = RTLD_LAZY | RTLD_GLOBAL;
        // SAFETY: the library is one of MPI, by its name or by the user's word; what such a one
        // does when it is opened has no conditions.
        let library = unsafe { Library::open(Some(name), flags) };
        let library = library.map_err(|error| cause(&error))?;
        let words = words(&library)?;
        Ok(Opened { library, words })
    }

    fn is_open_mpi(&self) -> bool {
        self.words.starts_with("Open MPI")
    }

    /// Whether the interface is the standard one. MPICH has the call in its own interface, too, and
    /// says there that it has no version.
    fn is_standard(&self) -> bool {
        type Version = unsafe extern "C" fn(*mut c_int, *mut c_int) -> c_int;
        // SAFETY: the standard of MPI has these parameters for this name.
        let Ok(version) = (unsafe { self.library.get::<Version>(b"MPI_Abi_get_version") }) else {
            return false;
        };
        let (mut major, mut minor) = (-1, -1);
        // SAFETY: both numbers may be written; the call is possible before MPI is joined.
        let status = unsafe { version(&mut major, &mut minor) };
        status == 0 && major >= 1
    }
}

/// The library's description of itself: its first line.
fn words(library: &Library) -> Result<String, String> {
    type Version = unsafe extern "C" fn(*mut c_char, *mut c_int) -> c_int;
    // SAFETY: the standard of MPI has these parameters for this name.
    let version = unsafe { library.get::<Version>(b"MPI_Get_library_version") };
    let version = version.map_err(|_| "it has no MPI_Get_library_version".to_owned())?;
    let mut text = vec![0u8; WORDS];
    let mut length = 0;
    // SAFETY: the text has room for what the longest of all libraries writes; the call is possible
    // before MPI is joined.
    unsafe { version(text.as_mut_ptr().cast(), &mut length) };
    Ok(first_line(&text, length))
}

/// The first line of a text that a library has written.
pub(crate) fn first_line(text: &[u8], length: c_int) -> String {
    let length = usize::try_from(length).unwrap_or(0).min(text.len());
    let text = String::from_utf8_lossy(&text[..length]);
    let line = text.lines().next().unwrap_or_default();
    line.trim_end_matches('\0').split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Why a library was not opened, in the words of the system.
fn cause(error: &libloading::Error) -> String {
    let mut error: &dyn std::error::Error = error;
    while let Some(source) = error.source() {
        error = source;
    }
    error.to_string()
}

/// The names to look for, the launcher's own first.
fn names(launcher: Option<&Launcher>, named: Option<String>) -> Vec<String> {
    if let Some(name) = named {
        return vec![name];
    }
    let is_open_mpi = launcher.is_some_and(|launcher| launcher.is_open_mpi);
    let order: [&[&str]; 3] = match is_open_mpi {
        true => [&OPEN_MPI, &STANDARD, &MPICH],
        false => [&STANDARD, &MPICH, &OPEN_MPI],
    };
    order.concat().into_iter().map(str::to_owned).collect()
}

/// What each library says of itself.
pub(crate) fn describe(named: Option<String>) -> Vec<Tried> {
    let tried = names(None, named).into_iter().map(|name| {
        let found = Opened::open(&name).map(|opened| {
            let standard = if opened.is_standard() { ", by the standard interface" } else { "" };
            format!("{}{standard}", opened.words)
        });
        Tried { name, found }
    });
    tried.collect()
}

/// MPI has been joined by this process, or is being joined.
static JOINED: AtomicBool = AtomicBool::new(false);

/// Opens the first library that is there, and joins the world.
pub(crate) fn join(
    launcher: Option<&Launcher>,
    named: Option<String>,
) -> Result<Box<dyn Wire>, Error> {
    let mut tried = Vec::new();
    for name in names(launcher, named) {
        match Opened::open(&name) {
            Ok(opened) => return with(opened, name, launcher),
            Err(why) => tried.push(Tried { name, found: Err(why) }),
        }
    }
    Err(Error::Missing { tried })
}

fn with(opened: Opened, name: String, launcher: Option<&Launcher>) -> Result<Box<dyn Wire>, Error> {
    if JOINED.swap(true, Ordering::SeqCst) {
        return Err(Error::Twice);
    }
    let (is_standard, is_open_mpi) = (opened.is_standard(), opened.is_open_mpi());
    // What has been joined is never closed: its threads and its exit handlers go on.
    let Opened { library, words } = opened;
    let library: &'static Library = Box::leak(Box::new(library));
    let unusable =
        |why| Error::Missing { tried: vec![Tried { name: name.clone(), found: Err(why) }] };
    if is_standard {
        // SAFETY: handles of the standard interface are addresses.
        let calls = unsafe { Calls::of(library) }.map_err(unusable)?;
        return checked(MpiWire::join(calls, standard())?, words, launcher);
    }
    if is_open_mpi {
        let constants = open_mpi(library).map_err(&unusable)?;
        // SAFETY: handles of Open MPI are addresses.
        let calls = unsafe { Calls::of(library) }.map_err(unusable)?;
        return checked(MpiWire::join(calls, constants)?, words, launcher);
    }
    // SAFETY: a library that is none of the two has MPICH's interface: its handles are numbers.
    let calls = unsafe { Calls::of(library) }.map_err(unusable)?;
    checked(MpiWire::join(calls, mpich())?, words, launcher)
}

/// A library of another launcher sees one rank in each process.
fn checked<H: Handle>(
    wire: MpiWire<H>,
    library: String,
    launcher: Option<&Launcher>,
) -> Result<Box<dyn Wire>, Error> {
    let seen = wire.ranks();
    match launcher.and_then(|launcher| launcher.ranks) {
        Some(started) if started != seen => {
            Box::new(wire).close()?;
            Err(Error::OtherLauncher { started, seen, library })
        }
        _ => Ok(Box::new(wire)),
    }
}

/// The constants of the standard interface: MPI 5.0, appendix A.
fn standard() -> Constants<*mut c_void> {
    let handle = |number: usize| std::ptr::without_provenance_mut(number);
    Constants {
        world: handle(0x101),
        byte: handle(0x247),
        errors_return: handle(0x143),
        no_request: handle(0x180),
        any_source: -1,
        funneled: 1024,
        source_at: 0,
    }
}

/// The constants of MPICH's interface.
fn mpich() -> Constants<c_int> {
    Constants {
        world: 0x4400_0000,
        byte: 0x4c00_010d,
        errors_return: 0x5400_0001,
        no_request: 0x2c00_0000,
        any_source: -2,
        funneled: 1,
        source_at: 2,
    }
}

/// The constants of Open MPI: its handles are the addresses of objects in the library.
fn open_mpi(library: &Library) -> Result<Constants<*mut c_void>, String> {
    let object = |name: &str| {
        // SAFETY: the address of an object is looked at, and nothing at it.
        let found = unsafe { library.get::<*mut c_void>(name.as_bytes()) };
        // The symbol's own address is the handle.
        found.map(|symbol| symbol.into_raw()).map_err(|_| format!("it has no {name}"))
    };
    Ok(Constants {
        world: object("ompi_mpi_comm_world")?,
        byte: object("ompi_mpi_byte")?,
        errors_return: object("ompi_mpi_errors_return")?,
        no_request: object("ompi_request_null")?,
        any_source: -1,
        funneled: 1,
        source_at: 0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn launcher_decides_which_library_comes_first() {
        let open = Launcher { is_open_mpi: true, ranks: Some(2) };
        assert_eq!(names(Some(&open), None)[0], "libmpi.so.40");
        assert_eq!(names(None, None)[0], "libmpi_abi.so.1");
        assert_eq!(names(Some(&open), Some("mine.so".to_owned())), ["mine.so"]);
    }

    #[test]
    fn library_that_is_not_there_says_why() {
        let tried = describe(Some("libno_such_mpi.so.7".to_owned()));
        let Err(why) = &tried[0].found else { panic!("{tried:?}") };
        assert!(why.contains("libno_such_mpi.so.7"), "{why}");
        // A library that is no MPI's.
        let tried = describe(Some("libc.so.6".to_owned()));
        assert_eq!(tried[0].to_string(), "libc.so.6: it has no MPI_Get_library_version");
    }

    #[test]
    fn first_line_has_no_tabs_and_no_zero() {
        let text = b"MPICH Version:\t4.0.2\nMPICH Release date:\0\0";
        assert_eq!(first_line(text, 42), "MPICH Version: 4.0.2");
        assert_eq!(first_line(b"x\0", 9000), "x");
        assert_eq!(first_line(b"x", -1), "");
    }
}
