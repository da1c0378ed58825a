//! The interpreter as what runs the kernels of simulated devices.
//!
//! The interpreter works on copies of the accessed boxes, which have the extents that the kernel
//! sees, and puts back what is written. The copies show the engine's errors: a kernel that reaches
//! for more than its launch declared, or that leaves the bounds though that was proved to be
//! impossible.

use super::{Arg, Device, Order, Ran, Touched, run_like};
use folio_core::hal::{Geometry, HalError, HalErrorKind, ParamPtr};
use folio_kernel::launch::Launch;
use folio_kernel::{Access, Kernel, ParamKind, ViolationKind};
use folio_sim::{IrKernel, IrRunner};
use std::sync::Arc;

/// Statements of one launch. More would take minutes.
const BUDGET: u64 = 1 << 32;

/// Items of a group: all of them are computed at once.
const MOST_ITEMS: usize = 1 << 20;

/// Runs kernels in IR for [`DeviceSpec::ir`](folio_sim::DeviceSpec::ir): slowly, and as
/// `docs/semantics.md` says.
///
/// ```
/// use folio_core::Runtime;
/// use folio_interp::interp::Interpreter;
/// use folio_sim::{DeviceSpec, SimBackend};
/// use std::sync::Arc;
///
/// let spec = DeviceSpec::new().closures(false).ir(Arc::new(Interpreter));
/// let rt = Runtime::builder().backend(SimBackend::builder().device(spec).build()).build()?;
/// assert!(rt.device("sim:0")?.info().caps.ir);
/// # Ok::<(), folio_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Interpreter;

impl IrRunner for Interpreter {
    fn load(&self, kernel: &Kernel) -> Result<Arc<dyn IrKernel>, HalError> {
        InSubgroups(1).load(kernel)
    }
}

/// The interpreter with sub-groups of so many items (semantics 11.1); not 0.
#[derive(Clone, Copy, Debug)]
pub struct InSubgroups(pub u32);

impl IrRunner for InSubgroups {
    fn load(&self, kernel: &Kernel) -> Result<Arc<dyn IrKernel>, HalError> {
        Ok(Arc::new(Loaded(kernel.clone(), Device { width: self.0.into(), ..Device::default() })))
    }

    fn subgroup(&self) -> u32 {
        self.0
    }
}

struct Loaded(Kernel, Device);

/// Dimensions as the kernel numbers them: its own first, and then ones.
fn leading(dims: [usize; 3], rank: usize) -> [u64; 3] {
    std::array::from_fn(|dim| dims.get(3 - rank + dim).map_or(1, |n| *n as u64))
}

/// The rows of an accessed box: their first bytes in memory, and where they are in a copy that has
/// the extent that the kernel sees; and the bytes of one.
fn rows(param: &ParamPtr, size: usize) -> (impl Iterator<Item = (*mut u8, usize)>, usize) {
    let ParamPtr { base, dims, origin, extent, index, shape } = *param;
    let all = if extent.contains(&0) { [0; 3] } else { extent };
    let at = (0..all[0]).flat_map(move |z| (0..all[1]).map(move |y| (z, y)));
    let row = at.map(move |(z, y)| {
        let place = |dims: [usize; 3], first: [usize; 3]| {
            (((first[0] + z) * dims[1] + first[1] + y) * dims[2] + first[2]) * size
        };
        (base.wrapping_add(place(dims, origin)), place(shape, index))
    });
    (row, all[2] * size)
}

impl Loaded {
    fn driver(&self, what: impl std::fmt::Display) -> HalError {
        HalError::new(HalErrorKind::Driver, format!("kernel `{}`: {what}", self.0.name))
    }

    /// # Safety
    /// As for [`IrKernel::run`].
    unsafe fn args(&self, blob: &[u8], params: &[ParamPtr]) -> Result<Vec<Arg>, HalError> {
        let size = |ty| self.0.types.layout(ty).0 as usize;
        let lacking = || self.driver("arguments are missing");
        let (mut word, mut memory) = (0, params.iter());
        let mut args = Vec::with_capacity(self.0.params.len());
        for param in &self.0.params {
            args.push(match param.kind {
                ParamKind::Scalar(ty) => {
                    let bytes = blob.get(word..word + size(ty)).ok_or_else(lacking)?;
                    word += size(ty).next_multiple_of(8);
                    Arg::Scalar(bytes.to_vec())
                }
                ParamKind::View { element, rank, .. } => {
                    let param = memory.next().ok_or_else(lacking)?;
                    let extent = leading(param.shape, rank.into())[..rank.into()].to_vec();
                    // SAFETY: the caller's promise.
                    let bytes = unsafe { copy_of(param, size(element)) };
                    Arg::View { extent, bytes }
                }
                ParamKind::Reduce { element, .. } => {
                    let param = memory.next().ok_or_else(lacking)?;
                    // SAFETY: the caller's promise.
                    Arg::Reduce(unsafe { copy_of(param, size(element)) })
                }
                ParamKind::Local { .. } => Arg::Local,
            });
        }
        Ok(args)
    }

    /// # Safety
    /// As for [`IrKernel::run`].
    unsafe fn put_back(&self, args: &[Arg], params: &[ParamPtr]) {
        let mut memory = params.iter();
        for (param, arg) in self.0.params.iter().zip(args) {
            let (element, written, bytes) = match (&param.kind, arg) {
                (ParamKind::View { element, access, .. }, Arg::View { bytes, .. }) => {
                    (*element, *access != Access::In, bytes)
                }
                (ParamKind::Reduce { element, .. }, Arg::Reduce(bytes)) => (*element, true, bytes),
                _ => continue,
            };
            let Some(param) = memory.next() else { return };
            let (rows, row) = rows(param, self.0.types.layout(element).0 as usize);
            for (to, at) in rows.filter(|_| written) {
                // SAFETY: a row of the accessed box, which this launch may write (the caller).
                unsafe { to.copy_from_nonoverlapping(bytes[at..at + row].as_ptr(), row) };
            }
        }
    }

    /// Fails if the run contradicts what the engine declared and proved.
    fn check(&self, ran: &Ran, params: &[ParamPtr], proved: bool) -> Result<(), HalError> {
        if let Some(failure) = &ran.failure {
            let outside = matches!(&failure.kind, ViolationKind::OutOfBounds { .. });
            return match proved && outside {
                true => Err(self.driver(format_args!("{failure:?}, but the launch is proved"))),
                false => Ok(()),
            };
        }
        let is_memory = |(param, _): &(&folio_kernel::Param, _)| {
            matches!(param.kind, ParamKind::View { .. } | ParamKind::Reduce { .. })
        };
        let touched = self.0.params.iter().zip(&ran.touched).filter(is_memory);
        for ((param, touched), memory) in touched.zip(params) {
            if touched.as_ref().is_some_and(|touched| !within(touched, memory)) {
                let what = format_args!("`{}`: {touched:?} is not in {memory:?}", param.name);
                return Err(self.driver(what));
            }
        }
        Ok(())
    }
}

/// The bytes of what the kernel sees; zeros outside of the accessed box.
///
/// # Safety
/// The memory is live, and nobody writes it.
unsafe fn copy_of(param: &ParamPtr, size: usize) -> Vec<u8> {
    // The product of what is not 0 may overflow.
    let count = if param.shape.contains(&0) { 0 } else { param.shape.iter().product() };
    let mut bytes = vec![0; count * size];
    let (rows, row) = rows(param, size);
    for (from, at) in rows {
        // SAFETY: a row of the accessed box, which lies in live memory (the caller).
        unsafe { bytes[at..at + row].as_mut_ptr().copy_from_nonoverlapping(from, row) };
    }
    bytes
}

fn within(touched: &Touched, memory: &ParamPtr) -> bool {
    touched.iter().enumerate().all(|(dim, (first, last))| {
        let dim = 3 - touched.len() + dim;
        let (low, size) = (memory.index[dim] as u64, memory.extent[dim] as u64);
        *first >= low && *last - low < size
    })
}

impl IrKernel for Loaded {
    fn check(&self, geometry: &Geometry) -> Result<(), HalError> {
        let group = geometry.group.unwrap_or([1; 3]);
        let items = group.iter().try_fold(1, |items: usize, n| items.checked_mul(*n));
        if items.is_some_and(|items| items <= MOST_ITEMS) {
            return Ok(());
        }
        let limit = format!("the interpreter has {MOST_ITEMS} items at most");
        Err(HalError::large_group(format!("{group:?}"), MOST_ITEMS, limit))
    }

    unsafe fn run(
        &self,
        geometry: &Geometry,
        blob: &[u8],
        params: &[ParamPtr],
        proved: bool,
    ) -> Result<(), HalError> {
        let rank = usize::from(self.0.shape.rank);
        let launch = Launch {
            range: leading(geometry.range, rank),
            offset: leading(geometry.offset, rank),
            group: leading(geometry.group.unwrap_or([1; 3]), rank),
            ..Launch::default()
        };
        // SAFETY: the caller's promise.
        let mut args = unsafe { self.args(blob, params) }?;
        let ran = run_like(&self.0, &launch, &mut args, Order::Forward, self.1, BUDGET);
        let ran = ran.map_err(|stop| self.driver(format_args!("{stop:?}")))?;
        self.check(&ran, params, proved)?;
        // SAFETY: the caller's promise.
        unsafe { self.put_back(&args, params) };
        let Some(failure) = ran.failure else { return Ok(()) };
        let what = failure.violation(&self.0).ok_or_else(|| self.driver("failed somewhere"))?;
        Err(HalError::violation(Box::new(what)))
    }
}
