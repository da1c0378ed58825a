//! NVIDIA's run-time compiler, found when the tests run: where `cargo xtask test --setup` puts it,
//! or where the system has it.

use libloading::Library;
use std::ffi::{CString, c_char, c_void};
use std::path::{Path, PathBuf};
use std::ptr::null;

type Program = *mut c_void;
type Create = unsafe extern "C" fn(
    *mut Program,
    *const c_char,
    *const c_char,
    i32,
    *const *const c_char,
    *const *const c_char,
) -> i32;
type Compile = unsafe extern "C" fn(Program, i32, *const *const c_char) -> i32;
type Size = unsafe extern "C" fn(Program, *mut usize) -> i32;
type Text = unsafe extern "C" fn(Program, *mut c_char) -> i32;
type Destroy = unsafe extern "C" fn(*mut Program) -> i32;

/// The compiler.
pub struct Nvrtc {
    create: Create,
    compile: Compile,
    log_size: Size,
    log: Text,
    ptx_size: Size,
    ptx: Text,
    destroy: Destroy,
    _library: Library,
}

/// The target folder: the test's executable is in `<target>/<profile>/deps`.
fn target() -> Option<PathBuf> {
    let exe = std::env::current_exe().ok()?;
    exe.ancestors().nth(3).map(Path::to_owned)
}

fn candidates() -> Vec<PathBuf> {
    let name = if cfg!(windows) { "nvrtc64_120_0.dll" } else { "libnvrtc.so.12" };
    let inside = target().map(|target| target.join("nvrtc/nvidia/cuda_nvrtc/lib").join(name));
    inside.into_iter().chain([PathBuf::from(name)]).collect()
}

impl Nvrtc {
    /// Loads it; an error says why it is not there.
    pub fn load() -> Result<Nvrtc, String> {
        let mut why = String::new();
        for path in candidates() {
            // SAFETY: the compiler's initialisation asks nothing of its caller.
            match unsafe { Library::new(&path) } {
                Ok(library) => return Nvrtc::of(library),
                Err(error) => why = error.to_string(),
            }
        }
        Err(why)
    }

    fn of(library: Library) -> Result<Nvrtc, String> {
        // SAFETY: these are the types that NVRTC's documentation gives the functions; the library
        // is kept as long as they are.
        unsafe {
            let wrong = |error: libloading::Error| error.to_string();
            Ok(Nvrtc {
                create: *library.get(b"nvrtcCreateProgram\0").map_err(wrong)?,
                compile: *library.get(b"nvrtcCompileProgram\0").map_err(wrong)?,
                log_size: *library.get(b"nvrtcGetProgramLogSize\0").map_err(wrong)?,
                log: *library.get(b"nvrtcGetProgramLog\0").map_err(wrong)?,
                ptx_size: *library.get(b"nvrtcGetPTXSize\0").map_err(wrong)?,
                ptx: *library.get(b"nvrtcGetPTX\0").map_err(wrong)?,
                destroy: *library.get(b"nvrtcDestroyProgram\0").map_err(wrong)?,
                _library: library,
            })
        }
    }

    /// Compiles a text to PTX; with it comes what the compiler said.
    pub fn compile(&self, text: &str, options: &[&str]) -> Result<(String, String), String> {
        let ended = |text: &str| CString::new(text).map_err(|error| error.to_string());
        let text = ended(text)?;
        let options = options.iter().map(|option| ended(option));
        let options = options.collect::<Result<Vec<_>, _>>()?;
        let options: Vec<_> = options.iter().map(|option| option.as_ptr()).collect();
        let mut program = std::ptr::null_mut();
        // SAFETY: texts that end with a zero; no headers.
        let code = unsafe { (self.create)(&mut program, text.as_ptr(), null(), 0, null(), null()) };
        if code != 0 {
            return Err(format!("no program: NVRTC error {code}"));
        }
        // SAFETY: as many options as are said, each ending with a zero.
        let code = unsafe { (self.compile)(program, options.len() as i32, options.as_ptr()) };
        let log = self.text(program, self.log_size, self.log);
        let ptx =
            if code == 0 { self.text(program, self.ptx_size, self.ptx) } else { String::new() };
        // SAFETY: it is ours, and not used again.
        unsafe { (self.destroy)(&mut program) };
        if code == 0 { Ok((ptx, log)) } else { Err(format!("not compiled ({code}): {log}")) }
    }

    fn text(&self, program: Program, size: Size, get: Text) -> String {
        let mut len = 0;
        // SAFETY: the program lives; one number.
        let code = unsafe { size(program, &mut len) };
        let mut bytes = vec![0u8; len + 1];
        // SAFETY: there is room for as many bytes as were announced.
        if code == 0 && unsafe { get(program, bytes.as_mut_ptr().cast()) } == 0 {
            bytes.truncate(len.saturating_sub(1));
        }
        String::from_utf8_lossy(&bytes).trim_matches('\0').trim().to_owned()
    }
}
