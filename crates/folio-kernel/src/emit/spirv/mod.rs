//! The SPIR-V emitter: kernels as modules of Vulkan 1.3. Pure: IR in, words out; equal kernels give
//! equal words. With the feature `spirv`.
//!
//! [`emit`] makes a [`Module`] as [`emit`](super::emit) does for C: how its entry is called is told
//! by a [`Layout`], what a record of a failed launch means by [`Points`], and what the device lacks
//! is the same typed error.
//!
//! # How an entry is called
//!
//! - The push constant is one `u64`: the device address of the *block*, which consists of `u64`
//!   words: for each of [`Layout::pointers`] the address at which its allocation begins; the
//!   address of a [`Record`](super::Record), of no meaning without a [`verdict`](Layout::verdict);
//!   and those of [`Layout::words`]. A block can so be changed without recording anything again.
//!   The block begins at a multiple of 16 bytes, and so does what is behind it: words are loaded in
//!   pairs. For an entry that finishes a reduction ([`Reduction`]), the words are the addresses of
//!   values and results, how many values, and at which place of the results the first one goes.
//! - Threads of a block are the specialization constants 0 to 2, for the axes x to z. Where a
//!   kernel depends on sub-groups, the pipeline must have those of [`Module::subgroup`].
//! - There are no descriptor sets, and no memory of groups to pass.
//!
//! # The code
//!
//! The kernel is [softened](crate::soft) first, so what is emitted are operations on which all
//! devices agree; each operation of floats is decorated against contraction.
//!
//! | semantics | in SPIR-V |
//! | --- | --- |
//! | 2.2, 4.4 | `f16` and `bf16` are their bits |
//! | 3.3 | the divisor is looked at first; remainders are made of quotients |
//! | 5.1 | `mul_add` that rounds once is `OpFmaKHR` where the device has it (`VK_KHR_shader_fma`), else GLSL's `Fma` |
//! | 6.1 | blocks are loops of one turn; a way out of several says in a variable where it leads; long chains of branches are cut |
//! | 6.2 | loops other than `for` count to 2^63; a driver that ends loops sooner is found out (`turns`) |
//! | 7 | memory of devices by address, of which each scalar is an access of its own |
//! | 7.5, 10 | as in C |
//! | 8.2 to 8.4 | as in C; memory of groups holds unsigned integers |
//! | 9 | atomic operations of the memory model's queue family; `add` of floats by compare-and-exchange where the device has none that rounds |
//! | 11 | shuffles and votes; of one item where the device has none |

mod assembly;
mod atomic;
mod body;
mod entry;
mod fails;
mod flat;
mod group;
mod lacks;
mod memory;
mod query;
mod reduce;
mod scalar;
mod stride;
mod subgroup;
mod texts;
mod turns;
mod writer;

pub use lacks::{Adds, Capabilities, Control, Controls};
pub use texts::texts;

use super::{Lacks, Layout, Points, Reduction};
use crate::ir::Kernel;

/// Which module of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Form {
    /// With tests of indices; without, for launches of which all accesses are proved.
    pub checked: bool,
}

/// A kernel's words, and all that is needed to run it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Module {
    /// The module.
    pub words: Vec<u32>,
    /// The name of the entry.
    pub entry: String,
    /// How it is called.
    pub layout: Layout,
    /// The meaning of a failed launch's record.
    pub points: Points,
    /// The entries that follow this one, for each launch-wide reduction.
    pub reductions: Vec<Reduction>,
    /// Threads that a sub-group of the pipeline must have, if the kernel depends on it. Its blocks
    /// are then rows: the threads that the constants tell are all along the device's first axis.
    pub subgroup: Option<u32>,
}

/// The module of a verified kernel for devices with these capabilities.
pub fn emit(kernel: &Kernel, form: Form, capabilities: &Capabilities) -> Result<Module, Lacks> {
    entry::emit(kernel, form, capabilities)
}
