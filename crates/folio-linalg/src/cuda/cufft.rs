//! cuFFT: its functions, plans, and transforms.

use super::OnCuda;
use super::loader::{Loader, Opened, keep_context};
use crate::LibraryError;
use crate::element::Kind;
use crate::fft::{Extents, Real, Transform};
use crate::prelude::*;
use folio::Shared;
use folio_cuda::Native;
use std::collections::HashMap;
use std::ffi::{c_int, c_void};
use std::ptr::with_exposed_provenance_mut;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

const NAME: &str = "cuFFT";
/// Files of the major versions with the functions that are called here: of CUDA 13, 12 and 11.
const FILES: [&str; 4] = ["libcufft.so.12", "libcufft.so.11", "libcufft.so.10", "libcufft.so"];

/// `cufftType` and the directions of cuFFT.
const R2C: c_int = 0x2a;
const C2R: c_int = 0x2c;
const C2C: c_int = 0x29;
const D2Z: c_int = 0x6a;
const Z2D: c_int = 0x6c;
const Z2Z: c_int = 0x69;
const FORWARD: c_int = -1;
const INVERSE: c_int = 1;

/// `cufftResult`, where 0 is success.
type Status = c_int;
type Handle = c_int;
type Execute = unsafe extern "C" fn(Handle, *mut c_void, *mut c_void, c_int) -> Status;
/// As [`Execute`], of transforms whose direction is that of their types.
type ExecuteReal = unsafe extern "C" fn(Handle, *mut c_void, *mut c_void) -> Status;

/// The functions that are called.
struct Functions {
    create: unsafe extern "C" fn(*mut Handle) -> Status,
    set_auto_allocation: unsafe extern "C" fn(Handle, c_int) -> Status,
    make_plan_many: unsafe extern "C" fn(
        Handle,
        c_int,
        *mut c_int,
        *mut c_int,
        c_int,
        c_int,
        *mut c_int,
        c_int,
        c_int,
        c_int,
        c_int,
        *mut usize,
    ) -> Status,
    set_stream: unsafe extern "C" fn(Handle, *mut c_void) -> Status,
    set_work_area: unsafe extern "C" fn(Handle, *mut c_void) -> Status,
    c2c: Execute,
    z2z: Execute,
    r2c: ExecuteReal,
    d2z: ExecuteReal,
    c2r: ExecuteReal,
    z2d: ExecuteReal,
    /// Holds the functions in memory.
    _library: Option<Opened>,
}

/// The words of a status, which the library does not have.
fn words(status: Status) -> String {
    let words = match status {
        1 => "an invalid plan",
        2 => "no memory",
        4 => "an invalid value",
        5 => "an internal error",
        6 => "no execution on the GPU",
        7 => "no set-up",
        8 => "an invalid size",
        _ => return format!("status {status}"),
    };
    format!("{words} (status {status})")
}

fn check(function: &'static str, status: Status) -> Result<(), LibraryError> {
    match status {
        0 => Ok(()),
        _ => Err(LibraryError::Call { library: NAME, function, status: words(status) }),
    }
}

/// Opens the library, and closes it.
pub(super) fn find(loader: &dyn Loader) -> Result<(), LibraryError> {
    Functions::open(loader).map(drop)
}

impl Functions {
    fn open(loader: &dyn Loader) -> Result<Functions, LibraryError> {
        let library = Opened::first_of(loader, NAME, &FILES)?;
        // SAFETY: the types are those of cuFFT's header.
        unsafe {
            Ok(Functions {
                create: library.function("cufftCreate")?,
                set_auto_allocation: library.function("cufftSetAutoAllocation")?,
                make_plan_many: library.function("cufftMakePlanMany")?,
                set_stream: library.function("cufftSetStream")?,
                set_work_area: library.function("cufftSetWorkArea")?,
                c2c: library.function("cufftExecC2C")?,
                z2z: library.function("cufftExecZ2Z")?,
                r2c: library.function("cufftExecR2C")?,
                d2z: library.function("cufftExecD2Z")?,
                c2r: library.function("cufftExecC2R")?,
                z2d: library.function("cufftExecZ2D")?,
                _library: Some(library),
            })
        }
    }
}

/// A plan: the extents, how many of the last ones are transformed, and the `cufftType`.
type Key = ([c_int; 3], usize, c_int);

/// cuFFT on one GPU. Its plans are kept until the process ends, as is the GPU's context.
pub(crate) struct CuFft {
    functions: Functions,
    plans: Mutex<HashMap<Key, Arc<Plan>>>,
}

/// A plan, and how much memory it works in.
struct Plan {
    /// The library takes one call at a time for a plan.
    handle: Mutex<Handle>,
    work_bytes: usize,
}

/// What a call uses.
struct Call {
    stream: *mut c_void,
    x: u64,
    y: u64,
    work: u64,
    kind: c_int,
    /// Of complex numbers.
    direction: c_int,
}

/// The extents in memory of what is transformed, and of what that becomes: rows of frequencies of
/// real numbers are half as long.
fn layouts(lengths: &[c_int], kind: c_int) -> [Vec<c_int>; 2] {
    let half = || {
        let mut all = lengths.to_vec();
        all.iter_mut().next_back().into_iter().for_each(|last| *last = *last / 2 + 1);
        all
    };
    match kind {
        R2C | D2Z => [lengths.to_vec(), half()],
        C2R | Z2D => [half(), lengths.to_vec()],
        _ => [lengths.to_vec(), lengths.to_vec()],
    }
}

impl CuFft {
    /// Opens the library for a device, whose primary context is current.
    pub(crate) fn open(device: i32, loader: &dyn Loader) -> Result<CuFft, LibraryError> {
        let functions = Functions::open(loader)?;
        keep_context(device)?;
        Ok(CuFft { functions, plans: Mutex::default() })
    }

    fn known(&self, key: &Key) -> Option<Arc<Plan>> {
        self.plans.lock().unwrap_or_else(PoisonError::into_inner).get(key).cloned()
    }

    /// Makes a plan in the current context.
    fn plan(&self, key: Key) -> Result<Arc<Plan>, LibraryError> {
        let (shape, dimensions, kind) = key;
        let (mut batches, mut lengths) = (shape, shape);
        let (batches, lengths) = (&mut batches[..3 - dimensions], &mut lengths[3 - dimensions..]);
        let [mut from, mut to] = layouts(lengths, kind);
        let distance = |of: &[c_int]| of.iter().product::<c_int>();
        let (apart, apart_to) = (distance(&from), distance(&to));
        let (functions, mut handle, mut work_bytes) = (&self.functions, 0, 0);
        // SAFETY: places for the answers; the plan is one of contiguous arrays; lengths are read.
        unsafe {
            check("cufftCreate", (functions.create)(&raw mut handle))?;
            let own = (functions.set_auto_allocation)(handle, 0);
            check("cufftSetAutoAllocation", own)?;
            let made = (functions.make_plan_many)(
                handle,
                dimensions as c_int,
                lengths.as_mut_ptr(),
                from.as_mut_ptr(),
                1,
                apart,
                to.as_mut_ptr(),
                1,
                apart_to,
                kind,
                batches.iter().product(),
                &raw mut work_bytes,
            );
            check("cufftMakePlanMany", made)?;
        }
        let plan = Arc::new(Plan { handle: Mutex::new(handle), work_bytes });
        let mut all = self.plans.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(all.entry(key).or_insert(plan).clone())
    }

    fn enqueue(&self, plan: &Plan, call: &Call) -> Result<(), LibraryError> {
        let at = |address: u64| with_exposed_provenance_mut::<c_void>(address as usize);
        let functions = &self.functions;
        let handle = plan.handle.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: a live plan; stream and memory are the task's, which have the plan's extents.
        unsafe {
            check("cufftSetStream", (functions.set_stream)(*handle, call.stream))?;
            check("cufftSetWorkArea", (functions.set_work_area)(*handle, at(call.work)))?;
            let (x, y) = (at(call.x), at(call.y));
            let (name, status) = match call.kind {
                C2C => ("cufftExecC2C", (functions.c2c)(*handle, x, y, call.direction)),
                Z2Z => ("cufftExecZ2Z", (functions.z2z)(*handle, x, y, call.direction)),
                R2C => ("cufftExecR2C", (functions.r2c)(*handle, x, y)),
                D2Z => ("cufftExecD2Z", (functions.d2z)(*handle, x, y)),
                C2R => ("cufftExecC2R", (functions.c2r)(*handle, x, y)),
                _ => ("cufftExecZ2D", (functions.z2d)(*handle, x, y)),
            };
            check(name, status)
        }
    }
}

/// The plan, if the library takes it: numbers of 32 bits, and the last dimensions. `kinds` are
/// those of `f32` and `f64`.
fn key_of<T: Real>(extents: Extents, kinds: [c_int; 2]) -> Option<Key> {
    let number = |n: usize| c_int::try_from(n).ok();
    number(extents.shape.iter().product())?;
    let [planes, rows, columns] = extents.shape.map(number);
    let kind = kinds[usize::from(T::KIND == Kind::F64)];
    let key = ([planes?, rows?, columns?], 3 - extents.first, kind);
    (extents.end == 3).then_some(key)
}

impl OnCuda {
    /// Submits a transform, if the library takes it: parts without gaps. Else `false`.
    pub(crate) fn transform<T: Real>(
        &self,
        q: &Queue,
        transform: Transform,
        extents: Extents,
        x: &Slice<'_, [T; 2], 3>,
        y: &mut SliceMut<'_, [T; 2], 3>,
    ) -> Result<bool> {
        let direction = if transform == Transform::Forward { FORWARD } else { INVERSE };
        let (Ok(x), Ok(mut y)) = (x.flat(), y.flat_mut()) else { return Ok(false) };
        let Some(ready) = self.planned(q, key_of::<T>(extents, [C2C, Z2Z]))? else {
            return Ok(false);
        };
        ready.submit(q, direction, &x, &mut y)
    }

    /// The same of real numbers: extents are those of `x`.
    pub(crate) fn transform_real<T: Real>(
        &self,
        q: &Queue,
        extents: Extents,
        x: &Slice<'_, T, 3>,
        y: &mut SliceMut<'_, [T; 2], 3>,
    ) -> Result<bool> {
        let (Ok(x), Ok(mut y)) = (x.flat(), y.flat_mut()) else { return Ok(false) };
        let key = key_of::<T>(extents, [R2C, D2Z]).filter(|_| is_aligned(x.offset()));
        let Some(ready) = self.planned(q, key)? else { return Ok(false) };
        ready.submit(q, FORWARD, &x, &mut y)
    }

    /// The same to real numbers: extents are those of `y`.
    pub(crate) fn transform_to_real<T: Real>(
        &self,
        q: &Queue,
        extents: Extents,
        x: &Slice<'_, [T; 2], 3>,
        y: &mut SliceMut<'_, T, 3>,
    ) -> Result<bool> {
        let (Ok(x), Ok(mut y)) = (x.flat(), y.flat_mut()) else { return Ok(false) };
        let key = key_of::<T>(extents, [C2R, Z2D]).filter(|_| is_aligned(y.offset()));
        let Some(ready) = self.planned(q, key)? else { return Ok(false) };
        let (work, task) = (ready.work.clone(), ready.task(INVERSE));
        // The library overwrites what it transforms in several dimensions.
        let copy = q.runtime().buffer::<[T; 2], 1>(x.len())?.into_shared();
        q.copy(&x, &copy)?;
        q.submit(|cg| {
            let copy = cg.label("fft (cuFFT)").read_write(&copy);
            let args = (copy, cg.discard(&mut y), cg.discard(&work));
            // SAFETY: as in `submit`; the copy is written, too.
            unsafe { cg.each_run().capturable().interop(args, task) };
            Ok(())
        })?;
        Ok(true)
    }

    /// A plan, if the library is there and takes it.
    fn planned(&self, q: &Queue, key: Option<Key>) -> Result<Option<Ready>> {
        let (Some(cufft), Some(key)) = (self.cufft.clone(), key) else { return Ok(None) };
        let plan = match cufft.known(&key) {
            Some(known) => known,
            None => made(q, &cufft, key)?,
        };
        let work = self.work(q, plan.work_bytes)?;
        Ok(Some(Ready { cufft, plan, kind: key.2, work }))
    }

    /// Memory of at least so many bytes for the library, which calls take turns to use.
    fn work(&self, q: &Queue, bytes: usize) -> Result<Shared<u8>> {
        if bytes <= self.workspace.len() {
            return Ok(self.workspace.clone());
        }
        let mut all = self.work.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = all.as_ref().filter(|work| work.len() >= bytes) {
            return Ok(known.clone());
        }
        let work = q.runtime().buffer(bytes)?.into_shared();
        Ok(all.insert(work).clone())
    }
}

/// The library reads and writes pairs of real numbers.
fn is_aligned([first]: [usize; 1]) -> bool {
    first.is_multiple_of(2)
}

/// A plan, and the memory in which it works.
struct Ready {
    cufft: Arc<CuFft>,
    plan: Arc<Plan>,
    kind: c_int,
    work: Shared<u8>,
}

impl Ready {
    /// Submits the transform, which leaves `x` as it is. True, since the library has taken it.
    fn submit<X: DeviceType, Y: DeviceType>(
        self,
        q: &Queue,
        direction: c_int,
        x: &Slice<'_, X>,
        y: &mut SliceMut<'_, Y>,
    ) -> Result<bool> {
        let (work, task) = (self.work.clone(), self.task(direction));
        q.submit(|cg| {
            let x = cg.label("fft (cuFFT)").read(x);
            let args = (x, cg.discard(y), cg.discard(&work));
            // SAFETY: the library reads `x`, and writes `y` and the work area, on the stream of the
            // task. Plans live until the process ends.
            unsafe { cg.each_run().capturable().interop(args, task) };
            Ok(())
        })?;
        Ok(true)
    }

    /// Enqueues the transform: what is transformed, what that becomes, and the work area.
    fn task(
        self,
        direction: c_int,
    ) -> impl Fn(&Native) -> Result<(), LibraryError> + Send + Sync + 'static {
        move |cuda| {
            let [x, y, work] = &cuda.memory[..] else {
                return Err(LibraryError::None { what: "a transform of other operands" });
            };
            let [x, y, work] = [x.address, y.address, work.address];
            let call = Call { stream: cuda.stream, x, y, work, direction, kind: self.kind };
            self.cufft.enqueue(&self.plan, &call)
        }
    }
}

/// Makes a plan by a task on a queue of its own: the other one may be recorded.
fn made(q: &Queue, cufft: &Arc<CuFft>, key: Key) -> Result<Arc<Plan>> {
    let answer = Arc::new(OnceLock::new());
    let (told, of) = (answer.clone(), cufft.clone());
    let task = move |_: &Native| {
        let _ = told.set(of.plan(key)?);
        Ok::<(), LibraryError>(())
    };
    let command = q.runtime().queue_on(&q.device())?.submit(|cg| {
        // SAFETY: the task enqueues nothing that uses memory of the program.
        unsafe { cg.label("plan of cuFFT").interop((), task) };
        Ok(())
    })?;
    command.wait()?;
    answer.get().cloned().ok_or_else(|| {
        let why = format!("{NAME} has made no plan");
        folio::Error::Configuration { what: "transform", why }
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests may panic")]
mod tests {
    use super::*;

    unsafe extern "C" fn create(handle: *mut Handle) -> Status {
        // SAFETY: a place for the answer.
        unsafe { *handle = 3 };
        0
    }

    unsafe extern "C" fn set_auto_allocation(handle: Handle, _: c_int) -> Status {
        Status::from(handle != 3)
    }

    /// Fails for 13 columns; the work area is as large as what the batch becomes.
    unsafe extern "C" fn make_plan_many(
        _: Handle,
        rank: c_int,
        lengths: *mut c_int,
        _: *mut c_int,
        _: c_int,
        _: c_int,
        _: *mut c_int,
        _: c_int,
        distance: c_int,
        kind: c_int,
        batches: c_int,
        bytes: *mut usize,
    ) -> Status {
        // SAFETY: as many lengths as dimensions, and a place for the answer.
        unsafe {
            *bytes = (batches * distance) as usize;
            let last = *lengths.add(rank as usize - 1);
            if last == 13 || ![C2C, R2C, C2R].contains(&kind) { 8 } else { 0 }
        }
    }

    unsafe extern "C" fn set_stream(_: Handle, stream: *mut c_void) -> Status {
        stream.addr() as Status
    }

    unsafe extern "C" fn set_work_area(_: Handle, _: *mut c_void) -> Status {
        0
    }

    unsafe extern "C" fn execute_real(_: Handle, x: *mut c_void, _: *mut c_void) -> Status {
        x.addr() as Status
    }

    unsafe extern "C" fn execute(_: Handle, x: *mut c_void, _: *mut c_void, _: c_int) -> Status {
        x.addr() as Status
    }

    fn fake() -> CuFft {
        let functions = Functions {
            create,
            set_auto_allocation,
            make_plan_many,
            set_stream,
            set_work_area,
            c2c: execute,
            z2z: execute,
            r2c: execute_real,
            d2z: execute_real,
            c2r: execute_real,
            z2d: execute_real,
            _library: None,
        };
        CuFft { functions, plans: Mutex::default() }
    }

    #[test]
    fn a_plan_is_made_once() {
        let cufft = fake();
        let key = ([2, 3, 5], 2, C2C);
        let made = cufft.plan(key).unwrap();
        assert_eq!(made.work_bytes, 30);
        assert!(Arc::ptr_eq(&made, &cufft.known(&key).unwrap()));
        assert!(cufft.known(&([2, 3, 5], 1, C2C)).is_none());
        // Rows of frequencies of real numbers are half as long.
        assert_eq!(cufft.plan(([2, 3, 5], 2, R2C)).unwrap().work_bytes, 18);
        assert_eq!(cufft.plan(([2, 3, 5], 2, C2R)).unwrap().work_bytes, 30);
    }

    #[test]
    fn a_failing_function_is_an_error_with_words() {
        let cufft = fake();
        let failed = cufft.plan(([1, 1, 13], 1, C2C)).err().unwrap().to_string();
        assert_eq!(failed, "cuFFT: cufftMakePlanMany failed: an invalid size (status 8)");
        let plan = cufft.plan(([1, 1, 4], 1, C2C)).unwrap();
        let enqueue = |stream, x, kind| {
            let stream = with_exposed_provenance_mut(stream);
            let call = Call { stream, x, y: 0, work: 0, direction: FORWARD, kind };
            cufft.enqueue(&plan, &call)
        };
        assert_eq!(enqueue(0, 0, C2C), Ok(()));
        let words = |failed: Result<(), LibraryError>| failed.unwrap_err().to_string();
        let wanted = "cuFFT: cufftSetStream failed: an invalid plan (status 1)";
        assert_eq!(words(enqueue(1, 0, R2C)), wanted);
        let kinds = [(Z2Z, "Z2Z"), (R2C, "R2C"), (D2Z, "D2Z"), (C2R, "C2R"), (Z2D, "Z2D")];
        for (kind, name) in kinds {
            let wanted = format!("cuFFT: cufftExec{name} failed: status 77");
            assert_eq!(words(enqueue(0, 77, kind)), wanted);
        }
    }
}
