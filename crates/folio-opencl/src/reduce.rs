//! Launch-wide reductions. A kernel's blocks or groups leave one value each in memory of the lane;
//! further launches combine them until one is left, where it belongs. A lane is in order, so the
//! next launch uses the same memory.

use crate::cl::{Buffer, Kernel, Program};
use crate::graph::{Making, Ready};
use crate::memory::{Pointer, with_room};
use crate::module::{Arguments, Built};
use crate::platform::Shared;
use crate::work::Commands;
use folio_core::hal::HalError;
use folio_core::ir::emit::{self, Module, Reduction};

/// Values of which a block makes one.
const COMBINED: usize = emit::COMBINED as usize;
/// Bytes that a lane keeps for the next launch.
const KEPT: usize = 4 << 20;

/// How a reduction of a kernel ends.
#[derive(Debug)]
pub(crate) struct Finish {
    /// Its parameter's number among those that are memory.
    pub(crate) memory: usize,
    /// Of a value.
    bytes: usize,
    pub(crate) kernel: Kernel,
    /// Its name.
    entry: String,
}

/// Memory of the driver's own, and how much it is.
#[derive(Debug)]
struct Piece {
    buffer: Buffer,
    bytes: usize,
}

/// Pieces that a lane has and does not use in the launch that it enqueues.
#[derive(Debug, Default)]
pub(crate) struct Scratch(
    /// The smallest first.
    Vec<Piece>,
);

/// Where the values of a launch are: as its blocks leave them, and, in turn with that, combined.
pub(crate) struct Values([Piece; 2]);

impl Values {
    /// Where blocks leave theirs.
    pub(crate) fn first(&self) -> &Buffer {
        &self.0[0].buffer
    }

    /// The memory.
    pub(crate) fn into_buffers(self) -> [Buffer; 2] {
        self.0.map(|piece| piece.buffer)
    }

    /// Each launch that combines so many values until one is left: what it reads, where the first
    /// of its values goes, and how many there are before and after it.
    fn steps(
        &self,
        mut left: usize,
        end: (Pointer, usize),
        mut each: impl FnMut(&Buffer, (Pointer, usize), [usize; 2]) -> Result<(), HalError>,
    ) -> Result<(), HalError> {
        let (mut from, mut into) = (&self.0[0].buffer, &self.0[1].buffer);
        while left > 1 {
            let next = left.div_ceil(COMBINED);
            let target = if next == 1 { end } else { (Pointer::Buffer(into.0), 0) };
            each(from, target, [left, next])?;
            (from, into) = (into, from);
            left = next;
        }
        Ok(())
    }
}

/// Sets the arguments of a launch that combines.
fn set(
    kernel: &Kernel,
    from: &Buffer,
    (target, at): (Pointer, usize),
    left: usize,
) -> Result<(), HalError> {
    let mut arguments = Arguments::of(kernel);
    arguments.memory(from.0)?;
    arguments.pointer(target)?;
    arguments.word(left as u64)?;
    arguments.word(at as u64)
}

impl Finish {
    pub(crate) fn new(
        program: &Program,
        module: &Module,
        reduction: &Reduction,
    ) -> Result<Finish, HalError> {
        let memory = module.layout.pointers.iter().position(|param| *param == reduction.param);
        let missing = || HalError::unsupported("a reduction without its parameter");
        Ok(Finish {
            memory: memory.ok_or_else(missing)?,
            bytes: reduction.bytes as usize,
            kernel: Kernel::new(program, &reduction.entry)?,
            entry: reduction.entry.clone(),
        })
    }

    /// Room for so many values.
    pub(crate) fn room(
        &self,
        shared: &Shared,
        scratch: &mut Scratch,
        values: usize,
    ) -> Result<Values, HalError> {
        let mut take = |values: usize| {
            let beyond = || HalError::unsupported("a reduction of this size");
            let bytes = values.checked_mul(self.bytes).ok_or_else(beyond)?;
            scratch.take(shared, bytes)
        };
        Ok(Values([take(values)?, take(values.div_ceil(COMBINED))?]))
    }

    /// Combines so many values until one is left, which is the element `place` of a buffer.
    pub(crate) fn combine(
        &self,
        commands: &mut Commands<'_>,
        (values, left): (Values, usize),
        threads: usize,
        end: (Pointer, usize),
    ) -> Result<(), HalError> {
        values.steps(left, end, |from, target, [left, next]| {
            set(&self.kernel, from, target, left)?;
            commands.launch(&self.kernel, [1, 1, next * threads], Some([1, 1, threads]))
        })?;
        values.0.into_iter().for_each(|piece| commands.scratch.keep(piece));
        Ok(())
    }

    /// Prepares the same for replays, in memory of the graph's.
    pub(crate) fn prepare(
        &self,
        making: &mut Making<'_>,
        built: &Built,
        (values, left): (&Values, usize),
        end: (Pointer, usize),
    ) -> Result<(), HalError> {
        let threads = built.lanes();
        values.steps(left, end, |from, target, [left, next]| {
            let kernel = built.kernel(&self.entry)?;
            set(&kernel, from, target, left)?;
            making.add(Ready::new(kernel, [1, 1, next * threads], Some([1, 1, threads])));
            Ok(())
        })
    }
}

impl Scratch {
    /// A piece with room for so many bytes. One that is dropped goes when the commands that use it
    /// have ended: they hold it.
    fn take(&mut self, shared: &Shared, bytes: usize) -> Result<Piece, HalError> {
        if let Some(at) = self.0.iter().position(|piece| piece.bytes >= bytes) {
            return Ok(self.0.remove(at));
        }
        let beyond = || HalError::unsupported("a reduction of this size");
        let bytes = bytes.checked_next_power_of_two().ok_or_else(beyond)?.max(COMBINED);
        Ok(Piece { buffer: with_room(|| Buffer::new(&shared.context, bytes))?, bytes })
    }

    /// For a later launch; of too many, the largest go.
    fn keep(&mut self, piece: Piece) {
        let at = self.0.partition_point(|other| other.bytes < piece.bytes);
        self.0.insert(at, piece);
        while self.0.iter().map(|piece| piece.bytes).sum::<usize>() > KEPT {
            self.0.pop();
        }
    }
}
