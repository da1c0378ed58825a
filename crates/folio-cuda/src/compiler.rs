//! NVRTC, which makes cubins of CUDA C, and what it has made before.

use crate::code::build;
use cudarc::nvrtc::sys as nvrtc;
use folio_cache::{Cache, Key};
use folio_core::hal::HalError;
use std::ffi::{CStr, CString, c_char};
use std::ptr::{null, null_mut};

/// A device's compiler.
pub(crate) struct Compiler {
    architecture: String,
    /// The driver's version.
    driver: String,
    cache: Cache,
}

impl Compiler {
    /// For devices of this capability.
    pub(crate) fn new((major, minor): (i32, i32), driver: &str, cache: Cache) -> Compiler {
        let architecture = format!("--gpu-architecture=sm_{major}{minor}");
        Compiler { architecture, driver: driver.to_owned(), cache }
    }

    /// What `load` makes of the cubin of a text. `name` is for messages.
    pub(crate) fn cubin<T>(
        &self,
        name: &str,
        text: &CStr,
        options: &[&str],
        load: impl Fn(&[u8]) -> Result<T, HalError>,
    ) -> Result<T, HalError> {
        let options: Vec<&str> = options.iter().copied().chain([&*self.architecture]).collect();
        let (major, minor) = version()?;
        let key = Key::new("cuda").with(&self.driver).with(format!("NVRTC {major}.{minor}"));
        let key = key.with(name).with(text.to_bytes()).with(options.join(" "));
        self.cache.get_or_make(
            &key,
            |stored| load(stored).ok(),
            || {
                let cubin = compile(name, text, &options)?;
                Ok((load(&cubin)?, Some(cubin)))
            },
        )
    }
}

/// NVRTC's version, if it is there.
fn version() -> Result<(i32, i32), HalError> {
    // SAFETY: loads the library, whose initialisers are trusted.
    if !unsafe { nvrtc::is_culib_present() } {
        return Err(build("CUDA C needs NVRTC (libnvrtc), which is not installed"));
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
    let strings = options.iter().filter_map(|option| CString::new(*option).ok());
    let strings: Vec<CString> = strings.collect();
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
    use super::Compiler;
    use folio_cache::Cache;
    use folio_core::hal::HalErrorKind;
    use libloading::Library;
    use std::path::Path;

    /// NVRTC where `cargo xtask test --setup` puts it; from then on it is found by its name. Or the system's.
    fn nvrtc() -> bool {
        let exe = std::env::current_exe().unwrap();
        let target = exe.ancestors().nth(3).unwrap_or(Path::new("."));
        let path = target.join("nvrtc/nvidia/cuda_nvrtc/lib/libnvrtc.so.12");
        // SAFETY: the compiler's initialisation asks nothing of its caller.
        if let Ok(library) = unsafe { Library::new(path) } {
            std::mem::forget(library);
        }
        super::version().map_err(|why| println!("skipped: {why}")).is_ok()
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
            let cache = Cache::at(&folder);
            let compiler = Compiler::new(capability, driver, cache.clone());
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
        let wrong = Compiler::new((9, 0), "13.0", Cache::at(&folder));
        let wrong = wrong.cubin("g", c"no C", &[], |_| Ok(())).unwrap_err();
        assert!(
            matches!(wrong.kind, HalErrorKind::Build) && wrong.message.contains("g.cu"),
            "{wrong}"
        );
        std::fs::remove_dir_all(folder).unwrap();
    }
}
