//! NVRTC, which makes cubins of CUDA C, and what it has made before.

use crate::program::build;
use cudarc::nvrtc::sys as nvrtc;
use folio_cache::{Bundle, Cache, Key};
use folio_core::error::Label;
use folio_core::hal::{HalError, compiling};
use std::ffi::{CStr, CString, c_char};
use std::ptr::{null, null_mut};
use std::sync::OnceLock;

/// A device's compiler.
pub(crate) struct Compiler {
    architecture: String,
    /// The driver's version.
    driver: String,
    kept: CompiledPrograms,
    /// The programs of the cache, if there is no NVRTC.
    cached: OnceLock<Bundle>,
}

/// The programs that were compiled before.
#[derive(Clone, Debug)]
pub(crate) struct CompiledPrograms {
    /// On this machine.
    pub(crate) cache: Cache,
    /// Elsewhere, for devices of this kind.
    pub(crate) bundle: Bundle,
}

/// A version, major and minor.
type Version = (i32, i32);

impl Compiler {
    /// For devices of this capability.
    pub(crate) fn new((major, minor): Version, driver: &str, kept: CompiledPrograms) -> Compiler {
        let architecture = format!("--gpu-architecture=sm_{major}{minor}");
        Compiler { architecture, driver: driver.to_owned(), kept, cached: OnceLock::new() }
    }

    /// The result of `load` from the cubin of a text. `name` is for messages.
    pub(crate) fn cubin<T>(
        &self,
        name: &str,
        text: &CStr,
        options: &[&str],
        load: impl Fn(&[u8]) -> Result<T, HalError>,
    ) -> Result<T, HalError> {
        self.cubin_of(version, name, text, options, load)
    }

    /// The same where NVRTC's version is what `version` says.
    fn cubin_of<T>(
        &self,
        version: fn() -> Result<Version, HalError>,
        name: &str,
        text: &CStr,
        options: &[&str],
        load: impl Fn(&[u8]) -> Result<T, HalError>,
    ) -> Result<T, HalError> {
        let options: Vec<&str> = options.iter().copied().chain([&*self.architecture]).collect();
        // A cubin depends on this, and runs with any driver that takes it.
        let key = Key::named("cuda", name).with(options.len().to_string());
        let key = options.iter().fold(key, |key, option| key.with(option));
        let key = key.with(text.to_bytes());
        let first =
            |bundle: &Bundle, key: &Key| bundle.matching(key).find_map(|cubin| load(cubin).ok());
        if let Some(found) = first(&self.kept.bundle, &key) {
            return Ok(found);
        }
        // The driver is in the key, so that another driver may bring another compiler's code.
        let key = key.with(&self.driver);
        let (major, minor) = match version() {
            Ok(version) => version,
            Err(why) => {
                let all = || self.kept.cache.bundle().unwrap_or_default();
                let nothing =
                    || build(format!("{}; and {} is kept nowhere", why.message, Label::from(name)));
                return first(self.cached.get_or_init(all), &key).ok_or_else(nothing);
            }
        };
        let key = key.with(format!("NVRTC {major}.{minor}"));
        let make = || {
            let cubin = compiling("CUDA", name, || compile(name, text, &options))?;
            Ok((load(&cubin)?, Some(cubin)))
        };
        // SAFETY: NVRTC of the key's version has made what is stored, of the text in the key.
        unsafe { self.kept.cache.get_or_make(&key, |stored| load(stored).ok(), make) }
    }
}

/// NVRTC's version, if it is there.
fn version() -> Result<Version, HalError> {
    // SAFETY: loads the library, whose initialisers are trusted.
    if !unsafe { nvrtc::is_culib_present() } {
        return Err(build(
            "CUDA C needs NVRTC (libnvrtc), which is not installed; CUDA's toolkit has it, and so has the Python \
             package `nvidia-cuda-nvrtc-cu12`, whose folder LD_LIBRARY_PATH then names",
        ));
    }
    // SAFETY: the library is there; nothing is called. cudarc panics where a function is missing.
    if unsafe { nvrtc::culib().get::<*const ()>(b"nvrtcGetCUBIN") }.is_err() {
        return Err(build("CUDA C needs NVRTC 11.1 or later, which the installed one is not"));
    }
    let (mut major, mut minor) = (0, 0);
    // SAFETY: places for the answers.
    match unsafe { nvrtc::nvrtcVersion(&raw mut major, &raw mut minor) } {
        nvrtc::nvrtcResult::NVRTC_SUCCESS => Ok((major, minor)),
        other => Err(build(format!("nvrtcVersion: {other:?}"))),
    }
}

/// CUDA C to a cubin, with an NVRTC that is there.
fn compile(name: &str, text: &CStr, options: &[&str]) -> Result<Vec<u8>, HalError> {
    let strings: Result<Vec<CString>, _> = options.iter().map(|o| CString::new(*o)).collect();
    let strings = strings.map_err(|_| build("an option has a zero byte"))?;
    let file = CString::new(format!("{name}.cu")).unwrap_or_default();
    let mut program = null_mut();
    // SAFETY: strings that end with a zero; no headers.
    let made = unsafe {
        let (text, file) = (text.as_ptr(), file.as_ptr());
        nvrtc::nvrtcCreateProgram(&raw mut program, text, file, 0, null(), null())
    };
    if made != nvrtc::nvrtcResult::NVRTC_SUCCESS {
        return Err(build(format!("nvrtcCreateProgram: {made:?}")));
    }
    let options: Vec<*const c_char> = strings.iter().map(|option| option.as_ptr()).collect();
    // SAFETY: the program is live until it is destroyed below; buffers have the sizes asked for.
    let result = unsafe {
        let result = nvrtc::nvrtcCompileProgram(program, options.len() as i32, options.as_ptr());
        let mut bytes = 0;
        let mut out = vec![];
        let (asked, got) = if result == nvrtc::nvrtcResult::NVRTC_SUCCESS {
            let asked = nvrtc::nvrtcGetCUBINSize(program, &raw mut bytes);
            out.resize(bytes, 0u8);
            (asked, nvrtc::nvrtcGetCUBIN(program, out.as_mut_ptr().cast()))
        } else {
            let asked = nvrtc::nvrtcGetProgramLogSize(program, &raw mut bytes);
            out.resize(bytes, 0u8);
            (asked, nvrtc::nvrtcGetProgramLog(program, out.as_mut_ptr().cast()))
        };
        let _ = nvrtc::nvrtcDestroyProgram(&raw mut program);
        match [result, asked, got].iter().all(|r| *r == nvrtc::nvrtcResult::NVRTC_SUCCESS) {
            // Some options ask for something else.
            true if out.is_empty() => Err((result, b"these options give no cubin".to_vec())),
            true => Ok(out),
            false => Err((result, out)),
        }
    };
    result.map_err(|(result, log)| {
        let log = String::from_utf8_lossy(&log);
        build(format!("{result:?}: {}", log.trim_end_matches('\0').trim()))
    })
}

#[cfg(test)]
mod tests {
    use super::{CompiledPrograms, Compiler};
    use folio_cache::{Bundle, Cache};
    use folio_core::hal::HalErrorKind;
    use libloading::Library;
    use std::path::Path;

    /// NVRTC where `cargo xtask test --setup` puts it; from then on it is found by its name. Or the
    /// system's.
    fn nvrtc() -> bool {
        let exe = std::env::current_exe().unwrap();
        let target = exe.ancestors().nth(3).unwrap_or(Path::new("."));
        let path = target.join("nvrtc/nvidia/cuda_nvrtc/lib/libnvrtc.so.12");
        // SAFETY: the compiler's initialisation asks nothing of its caller.
        if let Ok(library) = unsafe { Library::new(path) } {
            std::mem::forget(library);
        }
        super::version().map_err(|why| println!("skipped: nvrtc: {why}")).is_ok()
    }

    fn at(folder: &Path) -> Cache {
        // SAFETY: the test's own directory.
        unsafe { Cache::at(folder) }
    }

    fn kept(cache: &Cache) -> CompiledPrograms {
        CompiledPrograms { cache: cache.clone(), bundle: Bundle::default() }
    }

    /// A recorded program is used where there is no NVRTC, with any driver; a program of the cache,
    /// with the same one; and a program in neither is an error that says so.
    #[test]
    fn compile_what_is_bundled_needs_no_compiler() {
        if !nvrtc() {
            return;
        }
        let folder = std::env::temp_dir().join(format!("folio-bundle-{}", std::process::id()));
        let text = c"extern \"C\" __global__ void f(float *x) { x[threadIdx.x] *= 2.0f; }";
        let load = |cubin: &[u8]| Ok(cubin.to_vec());
        let recorded = at(&folder);
        let compiler = Compiler::new((9, 0), "13.0", kept(&recorded));
        let cubin = compiler.cubin("f", text, &[], load).unwrap();
        let bytes = recorded.bundle().unwrap().to_bytes();
        // SAFETY: nothing runs what is in it.
        let bundle = unsafe { Bundle::from_bytes(&bytes) }.unwrap();
        let ask = |capability, driver, kept: CompiledPrograms, name| {
            Compiler::new(capability, driver, kept).cubin_of(
                || Err(super::build("no NVRTC")),
                name,
                text,
                &[],
                load,
            )
        };
        let bundled = || CompiledPrograms { cache: Cache::off(), bundle: bundle.clone() };
        assert_eq!(ask((9, 0), "13.1", bundled(), "f").unwrap(), cubin);
        assert_eq!(ask((9, 0), "13.0", kept(&at(&folder)), "f").unwrap(), cubin);
        for missing in [
            ask((8, 0), "13.0", bundled(), "f"),
            ask((9, 0), "13.0", bundled(), "g"),
            ask((9, 0), "13.1", kept(&at(&folder)), "f"),
        ] {
            let error = missing.unwrap_err();
            assert!(matches!(error.kind, HalErrorKind::Build), "{error}");
            assert!(error.message.contains("no NVRTC; and `"), "{error}");
        }
        std::fs::remove_dir_all(folder).unwrap();
    }

    /// CACHE-01
    #[test]
    fn compile_what_was_compiled_before_is_found() {
        if !nvrtc() {
            return;
        }
        let folder = std::env::temp_dir().join(format!("folio-cuda-{}", std::process::id()));
        let text = c"extern \"C\" __global__ void f(float *x) { x[threadIdx.x] *= 2.0f; }";
        let ask = |capability, driver, load: fn(&[u8]) -> bool| {
            let cache = at(&folder);
            let compiler = Compiler::new(capability, driver, kept(&cache));
            let load = |cubin: &[u8]| match load(cubin) {
                true => Ok(cubin.to_vec()),
                false => Err(super::build("refused")),
            };
            (compiler.cubin("f", text, &["--fmad=false"], load), cache.counts().made)
        };
        let (first, made) = ask((9, 0), "13.0", |_| true);
        let first = first.unwrap();
        assert!(first.starts_with(b"\x7fELF") && made == 1);
        let (second, made) = ask((9, 0), "13.0", |_| true);
        assert_eq!((second.unwrap(), made), (first, 0), "another process's");
        assert_eq!(ask((8, 0), "13.0", |_| true).1, 1, "another device's");
        assert_eq!(ask((9, 0), "13.1", |_| true).1, 1, "another driver's");
        let (refused, made) = ask((9, 0), "13.0", |_| false);
        assert!(refused.is_err() && made == 1, "the driver's refusal of what was just made");
        let wrong = Compiler::new((9, 0), "13.0", kept(&at(&folder)));
        let wrong = wrong.cubin("g", c"no C", &[], |_| Ok(())).unwrap_err();
        assert!(
            matches!(wrong.kind, HalErrorKind::Build) && wrong.message.contains("g.cu"),
            "{wrong}"
        );
        std::fs::remove_dir_all(folder).unwrap();
    }
}
