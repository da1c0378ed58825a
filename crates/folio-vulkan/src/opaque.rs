//! Kernels in SPIR-V that somebody else has made, which find their arguments as emitted ones do:
//! the push constant is the address of `u64` words, one for each argument that is memory, and as
//! many as a value has begun. Threads of a group are the specialization constants 0 to 2.

use crate::barriers::{Kind, Kinds};
use crate::device::Core;
use crate::lane::jobs::Launch;
use crate::lane::{State, VulkanLane};
use crate::module::{Pipelines, check_threads, sizes};
use crate::threads::dispatch;
use folio_core::geom::Dims;
use folio_core::hal::{Argument, Geometry, HalError, HalErrorKind, HostPtr, MemBase};

/// What a module of SPIR-V begins with.
const MAGIC: u32 = 0x0723_0203;

/// A kernel of the user's.
#[derive(Debug)]
pub(crate) struct Opaque {
    name: String,
    pipelines: Pipelines,
}

impl Opaque {
    pub(crate) fn new(core: &Core, name: &str, bytes: &[u8]) -> Result<Opaque, HalError> {
        let build = |why: &str| HalError::new(HalErrorKind::Build, format!("`{name}`: {why}"));
        let (words, rest) = bytes.as_chunks::<4>();
        let words: Vec<u32> = words.iter().map(|word| u32::from_le_bytes(*word)).collect();
        if !rest.is_empty() || words.first() != Some(&MAGIC) {
            return Err(build("the code is no SPIR-V"));
        }
        if !entries(&words).iter().any(|entry| entry == name) {
            return Err(build(&format!("there is no such entry; there are {:?}", entries(&words))));
        }
        let pipelines = Pipelines::new(core, &words, name, None)?;
        let opaque = Opaque { name: name.to_owned(), pipelines };
        if let Err(error) = opaque.pipelines.get(core, 0, name, [1; 3]) {
            // SAFETY: nothing has used it.
            unsafe { opaque.destroy(&core.device) };
            return Err(error);
        }
        Ok(opaque)
    }

    /// What speaks against a launch.
    pub(crate) fn check(
        &self,
        core: &Core,
        geometry: &Geometry,
        arguments: &[Argument],
    ) -> Result<(), HalError> {
        if arguments.iter().any(|argument| matches!(argument, Argument::Local(_))) {
            let what = "local memory as an argument (modules of SPIR-V declare their own)";
            return Err(HalError::new(HalErrorKind::Arguments, format!("`{}`: {what}", self.name)));
        }
        check_threads(core, group_of(core, geometry))
    }

    /// # Safety
    /// As [`Function::destroy`](crate::module::Function::destroy).
    pub(crate) unsafe fn destroy(&self, device: &ash::Device) {
        // SAFETY: the caller's promise.
        unsafe { self.pipelines.destroy(device) };
    }
}

/// The names of a module's entries.
fn entries(words: &[u32]) -> Vec<String> {
    const ENTRY_POINT: u32 = 15;
    let (mut at, mut names) = (5, vec![]);
    while let Some(first) = words.get(at) {
        let len = (first >> 16).max(1) as usize;
        if first & 0xffff == ENTRY_POINT {
            let name = words.get(at + 3..at + len).unwrap_or_default();
            let bytes = name.iter().flat_map(|word| word.to_le_bytes());
            let bytes: Vec<u8> = bytes.take_while(|byte| *byte != 0).collect();
            names.push(String::from_utf8_lossy(&bytes).into_owned());
        }
        at += len;
    }
    names
}

/// The groups of a launch: those that were asked for, or rows that divide the range.
fn group_of(core: &Core, geometry: &Geometry) -> Dims {
    geometry.group.unwrap_or_else(|| {
        let most = (core.target.capabilities.base.block as usize).min(256);
        let columns = geometry.range[2].max(1);
        let fits = (0..=most.ilog2()).rev().map(|bits| 1usize << bits);
        let row = fits.into_iter().find(|row| columns.is_multiple_of(*row)).unwrap_or(1);
        [1, 1, row]
    })
}

impl VulkanLane {
    pub(crate) fn launch_opaque(
        &self,
        state: &mut State,
        (opaque, launch): (&Opaque, &Launch),
    ) -> Result<(), HalError> {
        let core = &*self.core;
        opaque.check(core, &launch.geometry, &launch.arguments)?;
        let (mut words, mut accesses, mut from) = (vec![], vec![], 0);
        for argument in &launch.arguments {
            match argument {
                Argument::Memory(at) => {
                    let missing = || HalError::new(HalErrorKind::Arguments, "no such parameter");
                    let param = launch.params.get(usize::from(*at)).ok_or_else(missing)?;
                    words.push(match param.mem.base {
                        MemBase::Device { handle, .. } => {
                            let block = core.memory.find(handle)?;
                            accesses.push((block.key(), param.write));
                            let start = block.address + param.mem.offset;
                            start.wrapping_add_signed(param.ahead())
                        }
                        MemBase::Host(HostPtr(at)) if at.is_null() => 0,
                        MemBase::Host(_) => {
                            return Err(HalError::unsupported("memory of the host"));
                        }
                    });
                }
                Argument::Value(bytes) => {
                    let own = launch.scalars.get(from..from + *bytes as usize);
                    let own = own.unwrap_or_default();
                    words.extend(own.chunks(8).map(|chunk| {
                        let mut word = [0; 8];
                        word[..chunk.len()].copy_from_slice(chunk);
                        u64::from_le_bytes(word)
                    }));
                    from += (*bytes as usize).next_multiple_of(8);
                }
                Argument::Local(_) => {}
            }
        }
        let group = group_of(core, &launch.geometry);
        let blocks: [usize; 3] =
            std::array::from_fn(|d| launch.geometry.range[d].div_ceil(group[d].max(1)));
        let [x, y, z] = core.target.most_blocks;
        if (0..3).any(|d| blocks[d] as u64 > [z, y, x][d]) {
            return Err(HalError::unsupported(&format!("a launch of {blocks:?} groups")));
        }
        let threads = sizes(group.map(|n| n as u64));
        let pipeline = opaque.pipelines.get(core, 0, &opaque.name, threads)?;
        let piece = self.piece(state, words.len().max(1))?;
        piece.write(&words);
        let batch = self.open_now(state)?;
        batch.accesses(core, Kinds::of(Kind::Compute), &accesses);
        dispatch(core, batch, pipeline, piece.address, blocks_of(blocks));
        Ok(())
    }
}

fn blocks_of([z, y, x]: Dims) -> [u32; 3] {
    [x as u32, y as u32, z as u32]
}
