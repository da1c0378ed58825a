//! How NVIDIA's libraries are found: by the system's loader, and where CUDA's toolkit puts them.

use crate::LibraryError;
use libloading::{Library, Symbol};
use std::ffi::{CStr, c_char, c_int, c_void};
use std::path::{Path, PathBuf};
use std::ptr::null_mut;

/// What opens a library.
pub(crate) trait Loader: Send + Sync {
    /// Opens a file, or says why that failed.
    fn open(&self, file: &Path) -> Result<Library, String>;
}

/// The system's loader.
pub(crate) struct System;

impl Loader for System {
    fn open(&self, file: &Path) -> Result<Library, String> {
        // SAFETY: the initialisers of NVIDIA's libraries are trusted.
        unsafe { Library::new(file) }.map_err(|error| error.to_string())
    }
}

/// A library, and the name by which errors tell of it.
pub(crate) struct Opened {
    name: &'static str,
    library: Library,
}

/// The folders of CUDA's toolkit: those that the environment names, and the usual one.
fn folders() -> Vec<PathBuf> {
    let named = ["CUDA_PATH", "CUDA_HOME"].into_iter().filter_map(std::env::var_os);
    let roots = named.map(PathBuf::from).chain([PathBuf::from("/usr/local/cuda")]);
    roots.map(|root| root.join("lib64")).collect()
}

impl Opened {
    /// Opens the first of some files that is there.
    pub(crate) fn first_of(
        loader: &dyn Loader,
        name: &'static str,
        files: &[&str],
    ) -> Result<Opened, LibraryError> {
        let by_name = files.iter().map(PathBuf::from);
        let by_folder = folders()
            .into_iter()
            .flat_map(|folder| files.iter().map(move |file| folder.join(file)).collect::<Vec<_>>());
        let mut why = String::new();
        for file in by_name.chain(by_folder) {
            match loader.open(&file) {
                Ok(library) => return Ok(Opened { name, library }),
                Err(_) if !why.is_empty() => {}
                Err(error) => why = error,
            }
        }
        Err(LibraryError::Missing { library: name, why })
    }

    /// A function of the library.
    ///
    /// # Safety
    /// `F` is the function's type.
    pub(crate) unsafe fn function<F: Copy>(
        &self,
        function: &'static str,
    ) -> Result<F, LibraryError> {
        // SAFETY: the caller's promise.
        let found: Result<Symbol<'_, F>, _> = unsafe { self.library.get(function.as_bytes()) };
        let library = self.name;
        found.map(|symbol| *symbol).map_err(|_| LibraryError::Function { library, function })
    }
}

/// A function that says what a status means.
pub(crate) type Words = unsafe extern "C" fn(c_int) -> *const c_char;

/// The error of a status, in the library's words.
///
/// # Safety
/// `words` takes any number, and its answer is a string that stays, or null.
pub(crate) unsafe fn checked(
    library: &'static str,
    words: Words,
    function: &'static str,
    status: c_int,
) -> Result<(), LibraryError> {
    if status == 0 {
        return Ok(());
    }
    // SAFETY: the caller's promise.
    let words = unsafe {
        let words = words(status);
        (!words.is_null()).then(|| CStr::from_ptr(words).to_string_lossy().into_owned())
    };
    let status = words.unwrap_or_else(|| format!("status {status}"));
    Err(LibraryError::Call { library, function, status })
}

/// Retains a device's primary context, so that the handles of libraries outlive runtimes.
pub(crate) fn keep_context(device: i32) -> Result<(), LibraryError> {
    type Retain = unsafe extern "C" fn(*mut *mut c_void, c_int) -> c_int;
    let function = "cuDevicePrimaryCtxRetain";
    let driver = Opened::first_of(&System, "CUDA's driver", &["libcuda.so.1"])?;
    let mut context = null_mut();
    // SAFETY: the type is that of CUDA's header; a place for the answer.
    let status = unsafe { driver.function::<Retain>(function)?(&raw mut context, device) };
    if status == 0 {
        return Ok(());
    }
    let status = format!("status {status}");
    Err(LibraryError::Call { library: "CUDA's driver", function, status })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests may panic")]
mod tests {
    use super::*;

    /// Has no file.
    struct Nothing;

    impl Loader for Nothing {
        fn open(&self, file: &Path) -> Result<Library, String> {
            Err(format!("no {}", file.display()))
        }
    }

    #[test]
    fn a_missing_library_is_an_error_with_the_loaders_words() {
        let missing = Opened::first_of(&Nothing, "cuBLAS", &["libcublas.so.13"]).err().unwrap();
        let words = "cuBLAS is not installed: no libcublas.so.13";
        assert_eq!(missing.to_string(), words);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_library_without_a_function_is_an_error_with_its_name() {
        let other = Opened::first_of(&System, "cuBLAS", &["libc.so.6"]).unwrap();
        // SAFETY: there is no such function, and a function is not called.
        let found = unsafe { other.function::<extern "C" fn()>("cublasCreate_v2") };
        let error = found.unwrap_err();
        assert_eq!(error.to_string(), "cuBLAS has no function cublasCreate_v2");
    }
}
