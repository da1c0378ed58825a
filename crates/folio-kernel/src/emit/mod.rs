//! The emitters. Of C: kernels as text of OpenCL C 1.2 or CUDA C++. Pure: IR in, text out; equal
//! kernels give equal text.
//!
//! All targets share these modules: how an entry is called (`abi`), what a device can do (`lacks`),
//! which variables are live (`live`), what phases touch (`phases`), which loops are unrolled
//! (`unroll`), and which text a launch takes (`texts`). C is in `c`, and SPIR-V in `spirv`, with
//! the feature of that name.
//!
//! Imports `ir` and `pass`, and of `code` what a launch's arguments are.
//!
//! [`emit`] makes a [`Module`] of a verified kernel: its text, how its entry is called ([`abi`]),
//! and what the record of a failed launch means ([`Points`]). A feature that a device lacks is a
//! typed error ([`Lacks`]), which names the kernel, the feature and the place.
//!
//! # Forms
//!
//! A kernel has up to four texts for a dialect: with checks and without them, of one item for each
//! thread and of several. A text without checks is for launches of which
//! [`access::of_launch`](crate::access::of_launch) proved all accesses; that of several items is
//! the same of the kernel that [`tile`](crate::tile) makes. For CPUs a text without checks is of a
//! row, of which neighbours are computed together where that makes vectors of them
//! ([`abreast`](crate::tile::abreast)). Divisions by zero and assertions are noticed in each.
//! [`Texts`] has those that a backend needs, and chooses among them.
//!
//! # The text
//!
//! The code of all dialects is the same over a few macros at the head. Values are constants `t7` in
//! the order of the IR, loops count `k9`; parameters, variables and fields have the user's names
//! with an ending (`x_p1`, `sum_v0`, `re_f0`) that keeps them apart from all else; comments say
//! from which line of the source accesses and divisions are. Unused functions and words are left
//! out.
//!
//! | semantics | in C |
//! | --- | --- |
//! | 3.1, 3.2 | signed integers computed as unsigned; amounts masked |
//! | 3.3 | a test of the divisor, then of -1; none for literals |
//! | 4 | own conversions: saturating, NaN to 0, one rounding also to `f16` and `bf16` |
//! | 5.1, 5.2 | operators, and `fma`; contraction off by pragma or option ([`Dialect::options`]) |
//! | 5.5, 5.6 | own minimum and maximum; the device's `fmod`, which is exact |
//! | 5.8 | the device's functions: OpenCL's full profile and CUDA document errors within the table, both for `f32` and `f64` |
//! | 6.1 | C's loops; `goto`, forwards and out of braces only, where `break` is not enough |
//! | 6.2 | loops other than `for` count to 2^63 |
//! | 7.5 | a test for each access, against the accessed box; a failure notes itself and goes on |
//! | 8.2, 8.3 | local memory of 8 bytes for each thread |
//! | 8.4 | blocks of 4096 items leave one value each, or groups do; a second entry combines 4096 values to one, as often as it takes ([`Reduction`]) |
//! | 9 | the device's atomics; `add` of floats by compare-and-exchange in OpenCL C |
//! | 10 | a [`Record`], written by the first thread that fails: one compare-and-exchange |
//! | 11 | sub-groups of one item in OpenCL C 1.2; warps in CUDA |
//!
//! # Example
//!
//! ```
//! use folio_kernel::emit::{Capabilities, Dialect, Form, emit};
//!
//! let kernel = folio_kernel::parse::parse(
//!     "kernel \"twice\" items 1 tile 1
//!     param p0 = \"x\" view f32 1 inout item
//!     body {
//!       %0 u64 = query position 0 0
//!       %1 f32 = load p0[%0]
//!       %2 f32 = add %1, %1
//!       store p0[%0] = %2
//!     }",
//! )?;
//! let form = Form::new(Dialect::OpenCl, false);
//! let module = emit(&kernel, form, &Capabilities::LEAST)?;
//! assert!(module.text.contains("const f32 t2 = t1 + t1;"));
//! assert_eq!(module.entry, "folio_twice");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod abi;
#[cfg(feature = "spirv")]
pub mod spirv;

mod c;
mod lacks;
mod live;
mod names;
mod phases;
mod texts;
mod unroll;

pub use abi::{COMBINED, Grid, LANES, Layout, Points, Record, Threads, Word, is_narrow};
pub use c::Dialect;
pub use lacks::{Capabilities, Feature, Lacks};
pub use texts::{Cut, Texts, narrowed};

use crate::ir::{Kernel, ParamId};

/// Which text of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Form {
    /// The language.
    pub dialect: Dialect,
    /// With tests of indices; without, for launches of which all accesses are proved.
    pub checked: bool,
    /// Threads of a block along the last dimension, where items are launched in blocks of always
    /// the same width: the distances between a thread's items are then constants of the text.
    pub width: Option<u32>,
    /// Compilers are told to unroll short loops that load, as GPUs want it: then several loads are
    /// under way, and the threads of a block do not drift apart.
    pub unroll: bool,
    /// As on CPUs, where one thread computes all items of a block: a row's items are a loop or two
    /// ([`Threads::Rows`]), of which compilers make vectors, and in blocks the first thread does
    /// alone what would take a barrier for each step.
    pub rows: bool,
    /// Without tests: positions and where rows begin are computed in 32 bits, of which GPUs
    /// multiply in one step. For launches that are [`is_narrow`].
    pub narrow: bool,
}

impl Form {
    /// A text for blocks of any width.
    pub const fn new(dialect: Dialect, checked: bool) -> Form {
        Form { dialect, checked, width: None, unroll: false, rows: false, narrow: false }
    }
}

/// How a launch-wide reduction is finished. The pointer of its parameter leads to one value for
/// each block ([`Threads::Linear`]) or group. While there is more than one value, the entry makes
/// of `n` of them `n.div_ceil(4096)`, in as many blocks of threads along axis 0: its arguments are
/// a pointer to the values, one to the results, and `n` as `u64`. Where one is left, or there was
/// only one from the beginning, it belongs into the argument's element, to which the last pointer
/// may lead at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reduction {
    /// The parameter.
    pub param: ParamId,
    /// Bytes of a value.
    pub bytes: u32,
    /// The entry.
    pub entry: String,
}

/// A kernel's text, and all that is needed to run it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Module {
    /// The text.
    pub text: String,
    /// The name of the entry.
    pub entry: String,
    /// How it is called.
    pub layout: Layout,
    /// The meaning of a failed launch's record.
    pub points: Points,
    /// The entries that follow this one, for each launch-wide reduction.
    pub reductions: Vec<Reduction>,
}

/// The text of a verified kernel for devices with these capabilities.
pub fn emit(kernel: &Kernel, form: Form, capabilities: &Capabilities) -> Result<Module, Lacks> {
    c::emit(kernel, form, capabilities)
}

/// The same of rows ([`Form::rows`]) without tests, of so many items at a time (2 to 16) whether
/// that pays or not, for tests; none where that cannot be.
pub fn emit_abreast(
    kernel: &Kernel,
    items: u8,
    form: Form,
    capabilities: &Capabilities,
) -> Result<Option<Module>, Lacks> {
    c::emit_abreast(kernel, items, form, capabilities)
}
