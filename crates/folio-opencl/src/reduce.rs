//! Launch-wide reductions, whose values are combined in memory of the lane, or of a graph.

use crate::cl::{Buffer, Kernel, Program};
use crate::graph::Ready;
use crate::memory::{Pointer, with_room};
use crate::module::{Arguments, Built, Way};
use crate::platform::Shared;
use folio_core::hal::HalError;
use folio_core::ir::emit::{Module, Reduction};
use folio_driver::reduce::{Room, Scratch, memory_of};

/// How a reduction of a kernel ends.
#[derive(Debug)]
pub(crate) struct Finish {
    /// Its parameter's number among those that are memory.
    pub(crate) memory: usize,
    /// Of a value.
    bytes: u64,
    pub(crate) kernel: Kernel,
    /// Its name.
    entry: String,
}

/// Sets the arguments of a launch that combines.
fn set(
    kernel: &Kernel,
    from: &Buffer,
    (target, at): (Pointer, u64),
    left: u64,
) -> Result<(), HalError> {
    let mut arguments = Arguments::of(kernel);
    arguments.memory(from.0)?;
    arguments.pointer(target)?;
    arguments.word(left)?;
    arguments.word(at)
}

impl Finish {
    pub(crate) fn new(
        program: &Program,
        module: &Module,
        reduction: &Reduction,
    ) -> Result<Finish, HalError> {
        Ok(Finish {
            memory: memory_of(&module.layout, reduction.param)?,
            bytes: reduction.bytes.into(),
            kernel: Kernel::new(program, &reduction.entry)?,
            entry: reduction.entry.clone(),
        })
    }

    /// Room for so many values. A buffer that is dropped goes when the commands that use it have
    /// ended: they hold it.
    pub(crate) fn room(
        &self,
        shared: &Shared,
        scratch: &mut Scratch<Buffer>,
        values: u64,
    ) -> Result<Room<Buffer>, HalError> {
        scratch.room(values, self.bytes, |bytes| {
            with_room(|| Buffer::new(&shared.context, bytes as usize))
        })
    }

    /// Combines so many values until one is left, which goes to an element of a buffer.
    pub(crate) fn combine(
        &self,
        way: &mut Way<'_, '_>,
        (built, room): (&Built, &Room<Buffer>),
        values: u64,
        end: (Pointer, u64),
    ) -> Result<(), HalError> {
        let threads = built.lanes();
        room.passes(values, |from, into, [left, next]| {
            let target = into.map_or(end, |into| (Pointer::Buffer(into.0), 0));
            let (global, local) = ([1, 1, next as usize * threads], Some([1, 1, threads]));
            match way {
                Way::Lane(commands) => {
                    set(&self.kernel, from, target, left)?;
                    commands.launch(&self.kernel, global, local)
                }
                Way::Graph(making) => {
                    let kernel = built.kernel(&self.entry)?;
                    set(&kernel, from, target, left)?;
                    making.add(Ready::new(kernel, global, local));
                    Ok(())
                }
            }
        })
    }
}
