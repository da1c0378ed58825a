//! Folio: heterogeneous compute in which data moves itself.
//!
//! Hand a kernel and its arguments to a queue, and Folio allocates where it is
//! needed, copies the fewest pages, and keeps independent work apart.
//!
//! ```
//! use folio::prelude::*;
//!
//! #[kernel]
//! fn saxpy(i: Item, a: f32, x: In<f32>, y: InOut<f32>) {
//!     y[i] = a * x[i] + y[i];
//! }
//!
//! #[folio::main]
//! fn main() -> folio::Result<()> {
//!     let rt = folio::runtime()?;
//!     let q = rt.queue()?;
//!     let x = rt.buffer_from(&[1.0f32; 1000])?;
//!     let mut y = rt.buffer(1000)?; // allocated where it is first used; reads as zero
//!     q.run(y.range(), saxpy(2.0, &x, &mut y))?;
//!     assert_eq!(y.read()?[0], 2.0); // waits for exactly what it needs
//!     Ok(())
//! }
//! ```
//!
//! Backends are Cargo features: `cpu`, which is on by default, `opencl`, `cuda`, `vulkan`. Others,
//! yours too, are added with [`RuntimeBuilder::backend`]. The feature `algorithms` has reductions,
//! scans, sorts, random numbers, and `linalg` products of matrices and solvers.
//!
//! # Where to find what
//!
//! | to | use |
//! | --- | --- |
//! | start | [`runtime`], [`builder`], [`main`], [`Runtime`], [`RuntimeBuilder`] |
//! | choose a device | [`Selector`], [`DeviceRef`], [`sched`] |
//! | make data | [`Runtime::buffer`], [`Runtime::buffer_from`], [`Runtime::buffer_with`], [`Contents`], [`Coords`], [`BufferOptions`] |
//! | hold data | [`Buffer`], [`Shared`], [`DeviceType`]; parts and policies are in [`buffer`](mod@buffer) |
//! | say where memory is | [`memory`]: links, eviction, allocators, advice |
//! | use a part of it | [`Slice`], [`SliceMut`] |
//! | have memory that stays | [`Usm`], [`UsmPtr`] |
//! | exchange data with other libraries | [`dlpack`], [`arrow`], `arrays` with the feature `ndarray`; [`DeviceRef::lend`] gives an address |
//! | move data by hand | [`managed`]: [`ManagedPtr`](managed::ManagedPtr), [`Executor`](managed::Executor) |
//! | submit work | [`Queue`], [`CommandGroup`] |
//! | write kernels | [`kernel`], [`device_fn`], [`Item`], [`In`], [`Out`], [`InOut`] |
//! | run them | [`KernelCall`], [`Items`], [`Queue::run`], [`Queue::run_each`], [`Queue::spread`], [`CommandGroup::run`] |
//! | test them | [`HostArgument`]: each has a function `host` for slices |
//! | sort, scan, draw numbers | `algorithms`, with the feature of that name |
//! | multiply matrices, solve systems | `linalg`, with the feature of that name |
//! | write kernels as closures | [`CommandGroup::host_kernel`], [`ClosureItem`], [`ClosureIn`] |
//! | launch kernels in OpenCL C, CUDA C, PTX | [`DeviceRef::load`], [`CommandGroup::run_opaque`], [`opaque`] |
//! | run the same commands again and again | [`Runtime::graph`], [`Graph`], [`Executable`], [`Parameter`], [`Queue::run_graph`], [`Queue::batch`]; options and reports are in [`graph`](mod@graph) |
//! | call libraries over a driver | [`CommandGroup::interop`] |
//! | write host tasks | [`HostRead`], [`HostWrite`] |
//! | wait for it | [`Event`], [`Buffer::get`], [`ReadGuard`], [`WriteGuard`], [`ReadFuture`](buffer::ReadFuture) |
//! | know what went wrong | [`Error`], [`Failure`], [`Violation`], [`error`](mod@error) |
//! | know what was done | [`Counters`] |
//! | write a backend | [`hal`] |
//! | write a page tracker | [`pages`] |
//!
//! [`by_example`] and [`by_example::kernels`] have a small program for each of them. The
//! repository's `docs/guide` is the longer way to the same places.

// What macros make names the crate so.
extern crate self as folio;

pub use folio_core::ir::device::{Float, Int, Number};
pub use folio_core::*;
pub use folio_layers::{Capsule, CapsuleError, Capsules};
#[doc(hidden)]
pub use folio_macros::kernel_of_columns;
pub use folio_macros::{Columns, DeviceType, device_fn, kernel, main};

#[cfg(feature = "ndarray")]
pub mod arrays;
pub mod arrow;
pub mod by_example;
pub mod dlpack;
mod outside;
pub mod vector;

#[cfg(feature = "algorithms")]
pub use folio_algorithms as algorithms;
#[cfg(feature = "cpu")]
pub use folio_cpu as cpu;
#[cfg(feature = "cuda")]
pub use folio_cuda as cuda;
#[cfg(feature = "linalg")]
pub use folio_linalg as linalg;
#[cfg(feature = "mpi")]
pub use folio_mpi as mpi;
#[cfg(feature = "opencl")]
pub use folio_opencl as opencl;
#[cfg(feature = "trace")]
pub use folio_trace as trace;
#[cfg(feature = "vulkan")]
pub use folio_vulkan as vulkan;

/// The names that most programs need.
///
/// Kernels know what combines by its name: `Reduce<f32, Add>`, `g.reduce::<Max>(..)`. `Add` and
/// `Mul` are also traits of [`std::ops`], so they are values only here, for
/// `algorithms::reduce(&q, Add, &x)`; types outside of kernels say `combine::Add`.
///
/// ```
/// use folio::prelude::*;
/// use std::ops::Add;
///
/// #[derive(Clone, Copy, DeviceType)]
/// #[repr(C)]
/// struct Money {
///     cents: i64,
/// }
///
/// impl Add for Money {
///     type Output = Money;
///     fn add(self, other: Money) -> Money {
///         Money { cents: self.cents + other.cents }
///     }
/// }
///
/// #[kernel]
/// fn total(i: Item, x: In<i64>, sum: Reduce<i64, Add>) {
///     sum.give(x[i]);
/// }
///
/// fn sum<T: Number>(x: T, y: T) -> T
/// where
///     combine::Add: folio::ir::device::Combine<T>,
/// {
///     <combine::Add as folio::ir::device::Combine<T>>::combine(x, y)
/// }
/// ```
pub mod prelude {
    pub use folio_core::combine::{And, Max, Min, Or, Xor};
    pub use folio_core::ir::device::Number;
    pub use folio_core::{
        Atomic, Buffer, BufferOptions, Columns, CommandGroup, DeviceType, Error, Event, Group, In,
        InColumns, InOut, InOutColumn, InOutColumns, InOutGroup, InOutRow, Item, Items, Local,
        LocalAtomic, Log, Out, OutChunk, OutColumn, OutColumns, OutGroup, OutRow, OutTile, Queue,
        Racy, RedBlack, Reduce, Runtime, Scatter, ScatterLast, Selector, Shared, Status, Tile,
        Timing, bf16, combine, f16,
    };
    pub use folio_macros::{Columns, DeviceType, device_fn, kernel};

    /// [`combine::Add`] as a value.
    #[allow(non_upper_case_globals, reason = "the name of a unit struct")]
    pub const Add: combine::Add = combine::Add;
    /// [`combine::Mul`] as a value.
    #[allow(non_upper_case_globals, reason = "the name of a unit struct")]
    pub const Mul: combine::Mul = combine::Mul;
}

/// The backends that are Cargo features, and whether the program is built with them.
///
/// ```
/// assert!(folio::BACKENDS.contains(&("cpu", cfg!(feature = "cpu"))));
/// ```
pub const BACKENDS: [(&str, bool); 4] = [
    ("cpu", cfg!(feature = "cpu")),
    ("opencl", cfg!(feature = "opencl")),
    ("cuda", cfg!(feature = "cuda")),
    ("vulkan", cfg!(feature = "vulkan")),
];

/// A builder with every backend that is compiled in, set up from the environment
/// (`FOLIO_CPU_DOMAINS`, `FOLIO_CPU_THREADS`, `FOLIO_CPU_LIMITS`, `FOLIO_PROGRESS`,
/// `FOLIO_CAPSULE`; with the feature `trace`, `FOLIO_TRACE`). Of the others it tells which Cargo
/// feature has them.
///
/// A GPU that several backends drive is there once: by CUDA, else by OpenCL, else by Vulkan.
/// [`RuntimeBuilder::keep_twins`] shows it by each.
///
/// ```
/// let rt = folio::builder()?.budget("host", 1 << 20).build()?;
/// assert!(rt.buffer_from(&[0u8; 1 << 21]).is_err());
/// # Ok::<(), folio::Error>(())
/// ```
pub fn builder() -> Result<RuntimeBuilder> {
    #[cfg(feature = "trace")]
    trace_from_env()?;
    #[cfg(not(feature = "trace"))]
    if std::env::var_os("FOLIO_TRACE").is_some_and(|file| !file.is_empty()) {
        hint(
            "FOLIO_TRACE is set, and the program is built without Folio's feature `trace`: there is no trace",
        );
    }
    let builder = Runtime::builder();
    #[cfg(feature = "cpu")]
    let builder = builder.backend(cpu_from_env()?);
    // Of a GPU that several of them drive, the first is used.
    #[cfg(feature = "cuda")]
    let builder = builder.backend(cuda::CudaBackend::new());
    #[cfg(feature = "opencl")]
    let builder = builder.backend(opencl::OpenClBackend::new());
    #[cfg(feature = "vulkan")]
    let builder = builder.backend(vulkan::VulkanBackend::new());
    let builder = if wants_progress()? { builder.show_progress() } else { builder };
    let builder = match capsules_from_env()? {
        Some(capsules) => builder.layer(|backend| capsules.over_shared(backend)),
        None => builder,
    };
    let absent = BACKENDS.iter().filter(|(_, there)| !there);
    Ok(absent.fold(builder, |builder, (name, _)| {
        builder.missing_backend(format!(
            "{name}: the program is built without Folio's feature `{name}`"
        ))
    }))
}

/// A runtime with every backend that is compiled in. Devices are found now and opened on
/// first use.
///
/// ```
/// let rt = folio::runtime()?;
/// println!("{:?}", rt.devices());
/// # Ok::<(), folio::Error>(())
/// ```
pub fn runtime() -> Result<Runtime> {
    builder()?.build()
}

/// Whether `FOLIO_PROGRESS` asks for a line on the terminal while kernels are compiled.
fn wants_progress() -> Result<bool> {
    const VARIABLE: &str = "FOLIO_PROGRESS";
    let Some(value) = std::env::var_os(VARIABLE) else { return Ok(false) };
    match value.to_str() {
        Some("on") => Ok(true),
        Some("off" | "") => Ok(false),
        _ => Err(Error::Environment {
            variable: VARIABLE.to_owned(),
            value: value.to_string_lossy().into_owned(),
            allowed: "`on` or `off`".to_owned(),
        }),
    }
}

/// The folder that `FOLIO_CAPSULE` names for launches that fail.
fn capsules_from_env() -> Result<Option<Capsules>> {
    const VARIABLE: &str = "FOLIO_CAPSULE";
    let Some(folder) = std::env::var_os(VARIABLE).filter(|folder| !folder.is_empty()) else {
        return Ok(None);
    };
    Capsules::new(&folder).map(Some).map_err(|why| Error::Environment {
        variable: VARIABLE.to_owned(),
        value: folder.to_string_lossy().into_owned(),
        allowed: format!("a folder that can be made ({why})"),
    })
}

#[cfg(feature = "cpu")]
fn cpu_from_env() -> Result<cpu::CpuBackend> {
    cpu::CpuBackend::new().map_err(|error| Error::Environment {
        variable: error.setting,
        value: error.value,
        allowed: error.allowed,
    })
}

#[cfg(feature = "trace")]
fn trace_from_env() -> Result<()> {
    let begun = trace::from_environment();
    begun.map(drop).map_err(|why| Error::Environment {
        variable: trace::VARIABLE.to_owned(),
        value: why.file.display().to_string(),
        allowed: format!("a file that can be written ({})", why.error),
    })
}

/// The programs in the README, the guide and the macros' pages, compiled and run as tests.
#[cfg(doctest)]
mod documents {
    #[doc = include_str!("../../folio-macros/src/docs/kernel.md")]
    mod kernel {}
    #[doc = include_str!("../../folio-macros/src/docs/device_fn.md")]
    mod device_fn {}
    #[doc = include_str!("../../folio-macros/src/docs/device_type.md")]
    mod device_type {}
    #[doc = include_str!("../../folio-macros/src/docs/main.md")]
    mod main {}
    #[doc = include_str!("../../../README.md")]
    mod readme {}
    #[doc = include_str!("../../../docs/guide/first-program.md")]
    mod first_program {}
    #[doc = include_str!("../../../docs/guide/kernels.md")]
    mod kernels {}
    #[doc = include_str!("../../../docs/guide/functions.md")]
    mod functions {}
    #[doc = include_str!("../../../docs/guide/numbers.md")]
    mod numbers {}
    #[doc = include_str!("../../../docs/guide/groups.md")]
    mod groups {}
    #[doc = include_str!("../../../docs/guide/tiles.md")]
    mod tiles {}
    #[doc = include_str!("../../../docs/guide/buffers-and-pages.md")]
    mod buffers_and_pages {}
    #[doc = include_str!("../../../docs/guide/queues-and-events.md")]
    mod queues_and_events {}
    #[doc = include_str!("../../../docs/guide/usm.md")]
    mod usm {}
    #[doc = include_str!("../../../docs/guide/errors.md")]
    mod errors {}
    #[doc = include_str!("../../../docs/guide/cookbook.md")]
    mod cookbook {}
    #[doc = include_str!("../../../docs/guide/policies.md")]
    mod policies {}
    #[doc = include_str!("../../../docs/guide/memory.md")]
    mod memory {}
    #[doc = include_str!("../../../docs/guide/opaque.md")]
    mod opaque {}
    #[doc = include_str!("../../../docs/guide/managed.md")]
    mod managed {}
    #[doc = include_str!("../../../docs/guide/graphs.md")]
    mod graphs {}
    #[doc = include_str!("../../../docs/guide/fusion.md")]
    mod fusion {}
    #[doc = include_str!("../../../docs/guide/several-devices.md")]
    mod several_devices {}
    #[cfg(feature = "mpi")]
    #[doc = include_str!("../../../docs/guide/many-machines.md")]
    mod many_machines {}
    #[doc = include_str!("../../../docs/guide/exchange.md")]
    mod exchange {}
    #[doc = include_str!("../../../docs/guide/slow.md")]
    mod slow {}
    #[doc = include_str!("../../../docs/guide/tools.md")]
    mod tools {}
    #[doc = include_str!("../../../docs/guide/from-rayon.md")]
    mod from_rayon {}
    #[doc = include_str!("../../../docs/guide/from-cuda.md")]
    mod from_cuda {}
    #[doc = include_str!("../../../docs/guide/from-pytorch.md")]
    mod from_pytorch {}
    #[doc = include_str!("../../../docs/guide/wrong.md")]
    mod wrong {}
    #[doc = include_str!("../../../docs/sycl.md")]
    mod sycl {}
}

/// KRN-01, POL-05: a generic struct is checked for padding where it is used, by whatever takes
/// memory or bytes of values. Each program compiles with a pair that has none, and not with one
/// that has some.
#[cfg(doctest)]
mod generic_structs {
    macro_rules! programs {
        ($($name:ident: $body:literal;)*) => {
            $(programs! { @ $name, $body, "no_run", "u32" })*
            mod with_padding { $(programs! { @ $name, $body, "compile_fail", "u8" })* }
        };
        (@ $name:ident, $body:literal, $how:literal, $small:literal) => {
            #[doc = concat!(
                "```", $how, "\n",
                "use folio::prelude::*;\n",
                "#[derive(Clone, Copy, DeviceType)]\n",
                "#[repr(C)]\n",
                "struct Pair<A, B> {\n    a: A,\n    b: B,\n}\n",
                "fn main() -> folio::Result<()> {\n",
                "    let rt = folio::runtime()?;\n",
                "    let q = rt.queue()?;\n",
                "    let mut pairs = [Pair { a: 1", $small, ", b: 2u32 }];\n    ",
                $body, "\n    drop((q, pairs));\n    Ok(())\n}\n```"
            )]
            mod $name {}
        };
    }
    programs! {
        views: "rt.scope(|s| s.view(&pairs).map(drop))??;";
        mutable_views: "rt.scope(|s| s.view_mut(&mut pairs).map(drop))??;";
        buffers: "drop(rt.buffer_from(&pairs)?);";
        usm: "rt.usm(&q.device(), folio::UsmKind::Device, 1)?.slice_mut(0, 1)?.write()?.copy_from_slice(&pairs);";
        raw_fills: "q.submit(|cg| {
                let at = folio::UsmPtr::of_host(&rt, std::ptr::dangling_mut(), 8);
                // SAFETY: it does not run.
                unsafe { cg.fill_raw(at, [1], pairs[0]) };
                Ok(())
            })?;";
        opaque_arguments: "drop(folio::opaque::OpaqueArg::value(pairs[0]));";
    }
}
