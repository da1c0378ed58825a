//! Kernels that the user wrote, in CUDA C, in PTX or compiled.

use crate::compiler::Compiler;
use crate::driver::Context;
use crate::memory::address;
use crate::program::{DYNAMIC, Entry, Module};
use crate::way::{Start, Way};
use cudarc::driver::sys::{self, CUfunction_attribute as Attribute};
use folio_core::hal::{Args, Argument, Geometry, HalError, Source};
use folio_driver::arguments::{self, Passing, check_count, local_bytes, misfit, passing};
use folio_driver::lock;
use smallvec::SmallVec;
use std::ffi::c_void;
use std::sync::Mutex;

/// Threads of a block where the launch does not say.
const BLOCK: usize = 256;
/// Threads of a block in each dimension, at most, fastest first.
const MOST: [usize; 3] = [1024, 1024, 64];

/// A kernel of the user's.
pub(crate) struct Opaque {
    entry: Entry,
    /// Bytes of each of its parameters, where the driver tells.
    sizes: Option<Vec<usize>>,
    /// Threads of a block, at most.
    most: usize,
    /// Dynamic shared memory that it may have; more once that was asked for.
    shared: Mutex<u32>,
    _module: Module,
}

impl Opaque {
    /// The context is current.
    pub(crate) fn new(
        context: &Context,
        compiler: &Compiler,
        (name, source): (&str, &Source<'_>),
        options: &[&str],
    ) -> Result<Opaque, HalError> {
        let module = Module::new(context, compiler, name, source, options)?;
        let entry = module.entry(context, name)?;
        let threads =
            entry.attribute(context, Attribute::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?;
        let shared = entry.attribute(context, DYNAMIC)?;
        Ok(Opaque {
            entry,
            sizes: sizes(context, entry),
            most: threads.max(1) as usize,
            shared: Mutex::new(shared),
            _module: module,
        })
    }

    /// The reason to refuse a launch. The context is current.
    pub(crate) fn check(
        &self,
        context: &Context,
        geometry: &Geometry,
        arguments: &[Argument],
    ) -> Result<(), HalError> {
        let (_, block) = grid(geometry)?;
        let threads = block.iter().map(|n| *n as usize).product::<usize>();
        if threads > self.most {
            let what =
                format!("a block of {threads} threads (of this kernel, {} at most)", self.most);
            return Err(HalError::unsupported(&what));
        }
        if let Some(sizes) = &self.sizes {
            fits(sizes, arguments)?;
        }
        let bytes = shared(arguments)?;
        let mut most = lock(&self.shared);
        if bytes > *most {
            if !self.entry.allow(context, bytes)? {
                return Err(HalError::unsupported(&format!("{bytes} bytes of shared memory")));
            }
            *most = bytes;
        }
        Ok(())
    }

    /// Enqueues a launch. The context is current.
    pub(crate) fn launch(
        &self,
        context: &Context,
        way: Way<'_>,
        geometry: &Geometry,
        args: &Args<'_>,
    ) -> Result<(), HalError> {
        let (blocks, block) = grid(geometry)?;
        if blocks.contains(&0) {
            return Ok(());
        }
        let start = Start { entry: self.entry, blocks, block, shared: shared(args.arguments)? };
        let mut words: SmallVec<[u64; 32]> = SmallVec::new();
        let mut starts: SmallVec<[usize; 32]> = SmallVec::new();
        for passing in passing(args) {
            match passing? {
                Passing::Memory(param) => {
                    starts.push(words.len());
                    words.push(address(&param.mem).wrapping_add_signed(param.ahead()));
                }
                Passing::Value(value) => {
                    starts.push(words.len());
                    words.extend(arguments::words(value));
                }
                Passing::Local(_) => {}
            }
        }
        let base = words.as_mut_ptr();
        let mut pointers: SmallVec<[*mut c_void; 32]> =
            starts.iter().map(|at| base.wrapping_add(*at).cast()).collect();
        // SAFETY: as many arguments of as many bytes as the kernel has, which `check` has found or,
        // where the driver does not tell, the caller of `run_opaque` has promised; the driver
        // copies them.
        unsafe { way.start(context, &start, pointers.as_mut_ptr()) }
    }
}

/// Whether arguments are as many as parameters, and as large.
fn fits(sizes: &[usize], arguments: &[Argument]) -> Result<(), HalError> {
    let given: SmallVec<[usize; 8]> = arguments
        .iter()
        .filter_map(|argument| match argument {
            Argument::Memory(_) => Some(8),
            Argument::Value(bytes) => Some(*bytes as usize),
            Argument::Local(_) => None,
        })
        .collect();
    check_count(given.len(), sizes.len())?;
    match given.iter().zip(sizes).position(|(given, takes)| given != takes) {
        Some(nth) => {
            let (given, takes) = (given[nth], sizes[nth]);
            let what =
                format!("parameter {nth} of the kernel takes {takes} bytes, and gets {given}");
            Err(misfit(what))
        }
        None => Ok(()),
    }
}

/// Dynamic shared memory, in bytes.
fn shared(arguments: &[Argument]) -> Result<u32, HalError> {
    let bytes = local_bytes(arguments);
    let beyond = |_| HalError::unsupported(&format!("{bytes} bytes of shared memory"));
    i32::try_from(bytes).map(i32::cast_unsigned).map_err(beyond)
}

/// Blocks in each dimension of the grid, and threads of a block, fastest dimension first.
fn grid(geometry: &Geometry) -> Result<([u32; 3], [u32; 3]), HalError> {
    let block = geometry.group.unwrap_or([1, 1, BLOCK]);
    let blocks = |dim: usize| geometry.range[dim].div_ceil(block[dim]);
    let limits = [(1usize << 31) - 1, 65_535, 65_535];
    let mut made = ([0; 3], [0; 3]);
    for (at, dim) in [2, 1, 0].into_iter().enumerate() {
        if blocks(dim) > limits[at] || block[dim] > MOST[at] {
            let what = format!("a launch of {:?} in blocks of {block:?}", geometry.range);
            return Err(HalError::unsupported(&what));
        }
        (made.0[at], made.1[at]) = (blocks(dim) as u32, block[dim] as u32);
    }
    Ok(made)
}

fn sizes(context: &Context, entry: Entry) -> Option<Vec<usize>> {
    let size = |at| {
        let (mut offset, mut size) = (0, 0);
        // SAFETY: places for the answers; the function exists, and so does what asks.
        let result =
            unsafe { sys::cuFuncGetParamInfo(entry.0, at, &raw mut offset, &raw mut size) };
        (result == sys::CUresult::CUDA_SUCCESS).then_some(size)
    };
    context.optional.arguments.then(|| (0..).map_while(size).collect())
}

#[cfg(test)]
mod tests {
    use super::{fits, grid, shared};
    use folio_core::hal::{Argument, Geometry, HalErrorKind};

    #[test]
    fn arguments_are_compared_with_parameters() {
        let given = [Argument::Memory(0), Argument::Local(64), Argument::Value(4)];
        assert!(fits(&[8, 4], &given).is_ok());
        for (sizes, said) in [
            (&[8][..], "2 arguments for a kernel that takes 1"),
            (&[8, 8][..], "parameter 1 of the kernel takes 8 bytes, and gets 4"),
        ] {
            let error = fits(sizes, &given).unwrap_err();
            assert!(matches!(error.kind, HalErrorKind::Arguments), "{error}");
            assert_eq!(error.to_string(), said);
        }
        assert_eq!(shared(&given).unwrap(), 64);
        assert!(shared(&[Argument::Local(u32::MAX)]).is_err());
    }

    #[test]
    fn the_last_dimension_is_x() {
        let launch = |group| Geometry { group, ..Geometry::new(3, [2, 8, 1000]) };
        assert_eq!(grid(&launch(None)).unwrap(), ([4, 8, 2], [256, 1, 1]));
        assert_eq!(grid(&launch(Some([1, 2, 100]))).unwrap(), ([10, 4, 2], [100, 2, 1]));
        for beyond in [[1, 1, 2000], [1, 1025, 1], [65, 1, 1]] {
            assert!(grid(&launch(Some(beyond))).is_err(), "{beyond:?}");
        }
        assert!(grid(&launch(Some([64, 1024, 1024]))).is_ok(), "each for itself");
    }
}
