//! Round trips with NumPy, in a Python that this program embeds: where `python3`, or the one that
//! `FOLIO_PYTHON` names, has a shared library and NumPy. A binary of its own: Python is there once.
//! POL-08
#![cfg(all(unix, feature = "cpu"))]
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use folio::dlpack::{DLManagedTensorVersioned, Refusal, Tensor};
use folio::prelude::*;
use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_NOW};
use std::ffi::{CString, c_char, c_int, c_void};
use std::process::Command;

/// Names the shared library, and the folders of its modules.
const WHERE: &str = "
import os, sys, sysconfig, numpy
name = sysconfig.get_config_var('INSTSONAME') or ''
print(os.path.join(sysconfig.get_config_var('LIBDIR') or '', name))
print(os.pathsep.join(path for path in sys.path if path))
";

/// What scripts begin with. The name of a capsule has to stay where it is.
const BEGIN: &str = "
import ctypes, numpy
api = ctypes.pythonapi
api.PyCapsule_New.restype = ctypes.py_object
api.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
api.PyCapsule_GetPointer.restype = ctypes.c_void_p
api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
api.PyCapsule_SetName.argtypes = [ctypes.py_object, ctypes.c_char_p]
NAME, USED = b'dltensor_versioned', b'used_dltensor_versioned'

class Exported:
    def __init__(self, pointer):
        self.pointer = pointer
    def __dlpack_device__(self):
        return (1, 0)
    def __dlpack__(self, **_):
        return api.PyCapsule_New(self.pointer, NAME, None)

def give(array, to):
    capsule = array.__dlpack__(max_version=(1, 0))
    ctypes.c_uint64.from_address(to).value = api.PyCapsule_GetPointer(capsule, NAME)
    api.PyCapsule_SetName(capsule, USED)
";

struct Python {
    ensure: unsafe extern "C" fn() -> c_int,
    release: unsafe extern "C" fn(c_int),
    run: unsafe extern "C" fn(*const c_char) -> c_int,
}

impl Python {
    /// Starts it, or says why not.
    fn start() -> Result<Python, String> {
        let name = std::env::var("FOLIO_PYTHON").unwrap_or_else(|_| "python3".to_owned());
        let said = Command::new(&name).args(["-c", WHERE]).output();
        let said = said.map_err(|why| format!("{name}: {why}"))?;
        let text = String::from_utf8_lossy(&said.stdout).into_owned();
        let mut lines = text.lines();
        let (Some(library), Some(path)) = (lines.next(), lines.next()) else {
            let why = String::from_utf8_lossy(&said.stderr).into_owned();
            return Err(format!("{name}: {}", why.lines().last().unwrap_or("no answer")));
        };
        // SAFETY: Python's own library; nothing else has started it, and there is one thread.
        unsafe {
            let library = Library::open(Some(library), RTLD_NOW | RTLD_GLOBAL);
            let library = Box::leak(Box::new(library.map_err(|why| why.to_string())?));
            let get = |name: &str| library.get::<*mut c_void>(name.as_bytes()).map(|at| *at);
            let all = ["Py_InitializeEx", "PyEval_SaveThread", "PyGILState_Ensure"].map(get);
            let rest = ["PyGILState_Release", "PyRun_SimpleString"].map(get);
            let [Ok(start), Ok(save), Ok(ensure)] = all else { return Err("no Python".to_owned()) };
            let [Ok(release), Ok(run)] = rest else { return Err("no Python".to_owned()) };
            std::mem::transmute::<*mut c_void, unsafe extern "C" fn(c_int)>(start)(0);
            let python = Python {
                ensure: std::mem::transmute::<*mut c_void, unsafe extern "C" fn() -> c_int>(ensure),
                release: std::mem::transmute::<*mut c_void, unsafe extern "C" fn(c_int)>(release),
                run: std::mem::transmute::<*mut c_void, unsafe extern "C" fn(*const c_char) -> c_int>(
                    run,
                ),
            };
            // Other threads of the runtime may end NumPy's arrays.
            std::mem::transmute::<*mut c_void, unsafe extern "C" fn() -> *mut c_void>(save)();
            let path = path.replace('\'', "\\'");
            python.run(&format!("import sys\nsys.path[:0] = '{path}'.split(':')\n{BEGIN}"));
            Ok(python)
        }
    }

    /// Runs a script, in which no exception may remain.
    fn run(&self, script: &str) {
        let text = CString::new(script).unwrap();
        // SAFETY: Python has started, and this thread has its lock meanwhile.
        let result = unsafe {
            let state = (self.ensure)();
            let result = (self.run)(text.as_ptr());
            (self.release)(state);
            result
        };
        assert_eq!(result, 0, "{script}");
    }

    /// The tensor of an array.
    fn tensor(&self, array: &str) -> Tensor {
        let mut raw = 0u64;
        self.run(&format!("{array}\ngive(a, {})\ndel a", (&raw mut raw) as usize));
        let raw = std::ptr::with_exposed_provenance_mut::<DLManagedTensorVersioned>(raw as usize);
        // SAFETY: NumPy's tensor, taken out of its capsule; nothing writes the array any more.
        unsafe { Tensor::from_raw(raw) }.unwrap()
    }
}

#[test]
fn arrays_go_to_numpy_and_back_without_a_copy() {
    let python = match Python::start() {
        Ok(python) => python,
        Err(why) => return println!("skipped: {why}"),
    };
    let rt = folio::runtime().unwrap();
    let q = rt.queue_on("cpu:0").unwrap();
    let device = q.device();

    // Out, to write and to read.
    let mut x = rt.buffer_from((&[0.0f32, 1.0, 2.0, 3.0, 4.0, 5.0], [2, 3])).unwrap();
    let address = device.lend(&x).unwrap().address();
    let raw = Tensor::<DLManagedTensorVersioned>::export_mut(&mut x, &device).unwrap().into_raw();
    python.run(&format!(
        "a = numpy.from_dlpack(Exported({}))
assert a.shape == (2, 3) and a.dtype == numpy.float32 and a.flags.writeable
assert a.ctypes.data == {address} and a[1, 0] == 3
a[1, 2] = 42",
        raw as usize
    ));
    assert!(matches!(q.fill(&mut x, 0.0), Err(Error::HostAccessHeld { .. })));
    python.run("del a");
    assert_eq!(x.to_vec().unwrap(), [0.0, 1.0, 2.0, 3.0, 4.0, 42.0]);
    let raw = Tensor::export(&x, &device).unwrap().into_raw();
    python.run(&format!(
        "a = numpy.from_dlpack(Exported({}))\nassert not a.flags.writeable and a.sum() == 52\ndel a",
        raw as usize
    ));
    q.fill(&mut x, 1.0).unwrap();

    // In, to write: the array has what the buffer had.
    let tensor = python.tensor("kept = numpy.arange(6, dtype=numpy.int64).reshape(3, 2)\na = kept");
    let mut y = tensor.import::<i64, 2>(&rt).unwrap();
    assert_eq!(y.to_vec().unwrap(), [0, 1, 2, 3, 4, 5]);
    q.fill(y.slice_mut([1, 0], [1, 2]).unwrap(), -7).unwrap();
    assert_eq!(y.counters().allocations, 0);
    drop(y);
    python.run("assert kept.tolist() == [[0, 1], [-7, -7], [4, 5]]");

    // Read-only, and in another order.
    let tensor = python.tensor("a = numpy.ones(5, dtype=numpy.uint8)\na.flags.writeable = False");
    let refused = tensor.import::<u8, 1>(&rt).err().unwrap();
    assert_eq!(refused.refusal, Some(Refusal::ReadOnly));
    let z = refused.tensor.unwrap().import_read_only::<u8, 1>(&rt).unwrap();
    assert_eq!(z.to_vec().unwrap(), [1; 5]);
    let tensor =
        python.tensor("a = numpy.arange(12, dtype=numpy.float64).reshape(3, 4)[::-1, ::2]");
    let copied = tensor.to_buffer::<f64, 2>(&rt).unwrap();
    assert_eq!(copied.to_vec().unwrap(), [8.0, 10.0, 4.0, 6.0, 0.0, 2.0]);
    let refused = tensor.import::<f64, 2>(&rt).err().unwrap();
    assert_eq!(refused.refusal, Some(Refusal::Strides { strides: vec![-4, 2] }));
    let tensor = python.tensor("a = numpy.zeros((2, 2), dtype=numpy.complex64)");
    assert!(matches!(
        tensor.import::<f32, 2>(&rt).err().unwrap().refusal,
        Some(Refusal::Type { .. })
    ));
    drop(z);
    rt.wait().unwrap();
}
