//! Programs: text that the driver compiles, or what it has compiled before.

use crate::cl::{Program, answer, call, check, run};
use crate::device::Core;
use folio_cache::Key;
use folio_core::hal::{HalError, HalErrorKind, compiling};
use folio_core::ir::emit::Dialect;
use opencl_sys::{
    CL_PROGRAM_BINARIES, CL_PROGRAM_BINARY_SIZES, CL_PROGRAM_BUILD_LOG, CL_PROGRAM_DEVICES,
    cl_device_id, cl_program_info,
};
use std::ffi::{CStr, CString, c_void};
use std::ptr::null_mut;

/// The program of an emitted text for a device: of one kernel, whose name the cache tells.
pub(crate) fn build_emitted(core: &Core, name: &str, text: &str) -> Result<Program, HalError> {
    let options = Dialect::OpenCl.options(core.target.exact);
    let name = name.strip_prefix("folio_").unwrap_or(name);
    build_named(core, (name, Key::named("opencl", name)), text, options)
}

/// The program of a text that may have several kernels, for a device. `name` is for messages.
pub(crate) fn build(
    core: &Core,
    name: &str,
    text: &str,
    options: &[&str],
) -> Result<Program, HalError> {
    build_named(core, (name, Key::new("opencl")), text, options)
}

fn build_named(
    core: &Core,
    (name, key): (&str, Key),
    text: &str,
    options: &[&str],
) -> Result<Program, HalError> {
    let options = options.join(" ");
    // Drivers may end a text at a zero byte, and read an empty one up to such.
    let c_string = |text: &str, what| {
        let nul = |_| HalError::new(HalErrorKind::Build, format!("{what} a zero byte"));
        CString::new(text).map_err(nul)
    };
    let source = c_string(text, "the text has")?;
    let options = c_string(&options, "options have")?;
    let info = &core.info;
    let device = [&info.name, &info.vendor, &info.driver];
    let key = key.with(text).with(options.as_bytes());
    let key = device.into_iter().fold(key, Key::with);
    let load = |stored: &[u8]| from_binary(core, stored, &options).ok();
    let make = || {
        let program = compiling(&info.name, name, || from_text(core, &source, &options))?;
        // A driver may have none.
        let binary = binary(core, &program).ok().filter(|binary| !binary.is_empty());
        Ok((program, binary))
    };
    // SAFETY: the driver that the key names has made what is stored, of the text in the key.
    unsafe { core.cache.get_or_make(&key, load, make) }
}

fn from_text(core: &Core, text: &CStr, options: &CStr) -> Result<Program, HalError> {
    let (start, len, mut status) = (text.as_ptr(), text.to_bytes().len(), 0);
    let context = core.shared.context.0;
    // SAFETY: a live context, one text of this length, behind which is a zero byte.
    let made = unsafe {
        call!(clCreateProgramWithSource(
            context,
            1,
            &raw const start,
            &raw const len,
            &raw mut status
        ))
    }?;
    check("clCreateProgramWithSource", status)?;
    finish(core, Program(made), options)
}

fn from_binary(core: &Core, binary: &[u8], options: &CStr) -> Result<Program, HalError> {
    let (start, len) = (binary.as_ptr(), binary.len());
    let (context, device) = (core.shared.context.0, core.id.0);
    let (mut valid, mut status) = (0, 0);
    // SAFETY: a live context, one of its devices, so many bytes. They are what this driver gave for
    // this device, and undamaged, as far as the cache can know.
    let made = unsafe {
        call!(clCreateProgramWithBinary(
            context,
            1,
            &raw const device,
            &raw const len,
            &raw const start,
            &raw mut valid,
            &raw mut status
        ))
    }?;
    check("clCreateProgramWithBinary", status)?;
    let program = Program(made);
    check("clCreateProgramWithBinary", valid)?;
    finish(core, program, options)
}

/// Compiles, or makes ready what was compiled.
fn finish(core: &Core, program: Program, options: &CStr) -> Result<Program, HalError> {
    // SAFETY: a device of the program's context; no callback, so the call waits.
    let built = unsafe {
        run!(clBuildProgram(program.0, 1, &raw const core.id.0, options.as_ptr(), None, null_mut()))
    };
    built.map_err(|error| with_log(error, &log(core, &program).unwrap_or_default()))?;
    Ok(program)
}

/// A refusal with what the compiler has said: then it has found something, unless the device is
/// lost or memory is short, whatever it has said until then.
fn with_log(refused: HalError, log: &str) -> HalError {
    let kind = match refused.kind {
        HalErrorKind::Driver if !log.is_empty() => HalErrorKind::Build,
        kind => kind,
    };
    HalError::new(kind, format!("{}\n{log}", refused.message))
}

fn log(core: &Core, program: &Program) -> Result<String, HalError> {
    let (program, device, what) = (program.0, core.id.0, CL_PROGRAM_BUILD_LOG);
    // SAFETY: there is room for so many bytes.
    let bytes = answer(0u8, |size, to, len| unsafe {
        run!(clGetProgramBuildInfo(program, device, what, size, to, len))
    })?;
    Ok(String::from_utf8_lossy(&bytes).trim_end_matches('\0').trim().to_owned())
}

/// The driver's binary of a text for this device, in a form that it takes back.
fn binary(core: &Core, program: &Program) -> Result<Vec<u8>, HalError> {
    let devices: Vec<cl_device_id> = ask(program, CL_PROGRAM_DEVICES, null_mut())?;
    let sizes: Vec<usize> = ask(program, CL_PROGRAM_BINARY_SIZES, 0)?;
    let at = devices.iter().position(|device| *device == core.id.0);
    let own = at.and_then(|at| Some((at, *sizes.get(at)?)));
    let (at, size) = own.ok_or_else(|| HalError::unsupported("a program of another device"))?;
    let mut binary = vec![0u8; size];
    // Nothing is written where there is no place for it.
    let mut places = vec![null_mut(); devices.len()];
    places[at] = binary.as_mut_ptr();
    let (bytes, to) = (size_of_val(&*places), places.as_mut_ptr().cast::<c_void>());
    // SAFETY: a place for each of the program's devices; there is room for so many bytes at the
    // only one that is not null.
    unsafe { run!(clGetProgramInfo(program.0, CL_PROGRAM_BINARIES, bytes, to, null_mut())) }?;
    Ok(binary)
}

/// An answer that is a list of `T`, which any bits are.
fn ask<T: Copy>(program: &Program, what: cl_program_info, zero: T) -> Result<Vec<T>, HalError> {
    // SAFETY: there is room for so many bytes, and the answer is of names or of sizes.
    answer(zero, |size, to, len| unsafe { run!(clGetProgramInfo(program.0, what, size, to, len)) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use opencl_sys::{
        CL_BUILD_PROGRAM_FAILURE, CL_DEVICE_NOT_AVAILABLE, CL_INVALID_VALUE, CL_OUT_OF_HOST_MEMORY,
        CL_OUT_OF_RESOURCES,
    };

    /// The compiler's answer to a text stays; not beside a want of memory, and a loss is one.
    #[test]
    fn a_log_makes_no_want_of_memory_final() {
        for (status, log, expected) in [
            (CL_BUILD_PROGRAM_FAILURE, "", "Build"),
            (CL_BUILD_PROGRAM_FAILURE, "a reason", "Build"),
            (CL_INVALID_VALUE, "", "Driver"),
            (CL_INVALID_VALUE, "a reason", "Build"),
            (CL_OUT_OF_RESOURCES, "", "OutOfMemory"),
            (CL_OUT_OF_RESOURCES, "a reason", "OutOfMemory"),
            (CL_OUT_OF_HOST_MEMORY, "a reason", "OutOfMemory"),
            (CL_DEVICE_NOT_AVAILABLE, "a reason", "Lost"),
        ] {
            let refused = check("clBuildProgram", status).map_err(|error| with_log(error, log));
            let Err(error) = refused else { panic!("{status} is an error") };
            assert!(format!("{:?}", error.kind).starts_with(expected), "{status}, {log}: {error}");
            assert!(error.message.contains(&format!("({status})")), "{error}");
            assert!(error.message.ends_with(log), "{error}");
        }
    }
}
