//! The modules of a kernel that launches choose among.

use super::super::texts::{Texts, block_of, narrowed};
use super::{Capabilities, Form, Lacks, Module, emit};
use crate::ir::Kernel;
use crate::tile::{items_per_thread, tile};

/// Emits a kernel: with tests of indices, without them where that differs, and of several items for
/// each thread where that is worth it.
pub fn texts(kernel: &Kernel, capabilities: &Capabilities) -> Result<Texts<Module>, Lacks> {
    let block = narrowed(block_of(kernel), capabilities.base.block);
    let module = |kernel: &Kernel, checked| emit(kernel, Form { checked }, capabilities);
    let (checked, proved) = (module(kernel, true)?, module(kernel, false)?);
    let several = items_per_thread(kernel).filter(|_| !proved.layout.verdict);
    let tiled = several.and_then(|several| Some((several, tile(kernel, several).ok()?)));
    let tiled = tiled.map(|(several, kernel)| Ok((several, module(&kernel, false)?)));
    let proved = (checked.words != proved.words).then_some(proved);
    Ok(Texts::new(block, checked, proved, tiled.transpose()?))
}
