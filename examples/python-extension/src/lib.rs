//! A Python module with kernels in Rust, over arrays of NumPy, PyTorch, CuPy or JAX.
//!
//! `kernels` has the kernels, `exchange` takes arrays and gives them by DLPack, and this file has
//! the functions that Python calls. Replace the kernels and these functions by yours.

mod exchange;
mod kernels;

use exchange::{Array, Input};
use folio::{Queue, Runtime};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use std::sync::OnceLock;

pyo3::create_exception!(folio_example, FolioError, PyRuntimeError, "An error of Folio's.");

/// An error with Folio's text.
fn told(error: impl std::fmt::Display) -> PyErr {
    FolioError::new_err(error.to_string())
}

/// The runtime of the process, which finds devices when it is first asked for: an import needs no
/// driver.
fn runtime() -> PyResult<&'static Runtime> {
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    if let Some(rt) = RUNTIME.get() {
        return Ok(rt);
    }
    let rt = folio::runtime().map_err(told)?;
    Ok(RUNTIME.get_or_init(|| rt))
}

/// The queue where an array is: its GPU, or the best device for an array of the host.
fn queue_at(rt: &Runtime, place: exchange::Place) -> folio::Result<Queue> {
    match place {
        exchange::Place::Host => rt.queue(),
        exchange::Place::Cuda(number) => rt.queue_on(format!("cuda:{number}").as_str()),
    }
}

/// The devices that there are: names and products.
#[pyfunction]
fn devices() -> PyResult<Vec<(String, String)>> {
    let devices = runtime()?.devices().into_iter();
    Ok(devices.map(|d| (d.name().to_owned(), d.info().name.clone())).collect())
}

/// Why backends have no device.
#[pyfunction]
fn missing() -> PyResult<Vec<String>> {
    Ok(runtime()?.missing_backends().iter().map(|why| why.to_string()).collect())
}

/// `y += a * x`, in the memory of `y`, which is of `float32` and lies row after row.
#[pyfunction]
fn saxpy(py: Python<'_>, a: f32, x: &Bound<'_, PyAny>, y: &Bound<'_, PyAny>) -> PyResult<()> {
    let rt = runtime()?;
    let (x, y) = (Input::take(x)?, Input::take(y)?);
    x.is_apart::<1, 1>(&y)?;
    let place = y.place();
    // Others may use Python until this is done.
    let done = py.detach(move || -> folio::Result<()> {
        let q = queue_at(rt, place)?;
        let (x, mut y) = (x.read::<1>(rt)?, y.write::<1>(rt)?);
        let event = q.run(y.range(), kernels::saxpy(a, x.buffer(), &mut y))?;
        event.wait()?;
        // The drop leaves the latest contents in the array's memory.
        drop(y);
        Ok(())
    });
    done.map_err(told)
}

/// A step of heat conduction: a new array. Borders stay as they are.
#[pyfunction]
fn heat(py: Python<'_>, rate: f32, x: &Bound<'_, PyAny>) -> PyResult<Array> {
    let rt = runtime()?;
    let x = Input::take(x)?;
    let place = x.place();
    let made = py.detach(move || -> folio::Result<Array> {
        let q = queue_at(rt, place)?;
        let x = x.read::<2>(rt)?;
        let mut y = rt.buffer(x.buffer().shape())?;
        let event = q.run(y.range(), kernels::heat(rate, x.buffer(), &mut y))?;
        event.wait()?;
        Ok(Array::new(y, place))
    });
    made.map_err(told)
}

/// The module.
#[pymodule]
fn folio_example(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("FolioError", module.py().get_type::<FolioError>())?;
    module.add_class::<Array>()?;
    module.add_function(wrap_pyfunction!(devices, module)?)?;
    module.add_function(wrap_pyfunction!(missing, module)?)?;
    module.add_function(wrap_pyfunction!(saxpy, module)?)?;
    module.add_function(wrap_pyfunction!(heat, module)?)
}
