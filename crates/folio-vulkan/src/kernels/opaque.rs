//! Kernels in SPIR-V that somebody else has made, which find their arguments as emitted ones do:
//! the push constant is the address of `u64` words, one for each argument that is memory, and as
//! many as a value has begun. Threads of a group are the specialization constants 0 to 2.

use crate::device::Core;
use crate::kernels::module::{Pipelines, check_threads, sizes};
use crate::kernels::outline::{Entry, Wrong, entry};
use crate::kernels::threads::dispatch;
use crate::lane::barriers::{Kind, Kinds};
use crate::lane::jobs::LaunchRequest;
use crate::lane::{LaneState, VulkanLane};
use folio_core::geom::Dims;
use folio_core::hal::{Argument, Geometry, HalError, HalErrorKind, HostPtr, MemBase};
use folio_driver::arguments::{self, Passing, passing};

/// A kernel of the user's.
#[derive(Debug)]
pub(crate) struct Opaque {
    name: String,
    entry: Entry,
    pipelines: Pipelines,
}

impl Opaque {
    pub(crate) fn new(core: &Core, name: &str, bytes: &[u8]) -> Result<Opaque, HalError> {
        let (words, entry) = entry(bytes, name, &core.target.offered).map_err(|wrong| {
            let (kind, why) = match wrong {
                Wrong::Module(why) => (HalErrorKind::Build, why),
                Wrong::Device(lacks) => {
                    let device = &core.info.name;
                    (HalErrorKind::Unsupported, format!("{lacks}, which {device} does not have"))
                }
            };
            HalError::new(kind, format!("`{name}`: {why}"))
        })?;
        let pipelines = Pipelines::new(core, &words, name, None)?;
        let threads = entry.threads.unwrap_or([1; 3]);
        let opaque = Opaque { name: name.to_owned(), entry, pipelines };
        if let Err(error) = opaque.pipelines.get(core, 0, name, threads) {
            // SAFETY: nothing has used it.
            unsafe { opaque.destroy(&core.device) };
            return Err(error);
        }
        Ok(opaque)
    }

    /// The reason to refuse a launch.
    pub(crate) fn check(
        &self,
        core: &Core,
        geometry: &Geometry,
        arguments: &[Argument],
    ) -> Result<(), HalError> {
        let wrong = |what: String| Err(arguments::misfit(format!("`{}`: {what}", self.name)));
        if arguments.iter().any(|argument| matches!(argument, Argument::Local(_))) {
            let what = "local memory as an argument (modules of SPIR-V declare their own)";
            return wrong(what.to_owned());
        }
        let bytes = |argument: &Argument| match argument {
            Argument::Value(bytes) => u64::from(*bytes).next_multiple_of(8),
            _ => 8,
        };
        let given: u64 = arguments.iter().map(bytes).sum();
        if let Some(reads) = self.entry.arguments.filter(|reads| *reads > given) {
            return wrong(format!("arguments of {given} bytes, of which it reads {reads}"));
        }
        let group = self.group_of(core, geometry);
        if let Some([x, y, z]) = self.entry.threads
            && group != [z, y, x].map(|n| n as usize)
        {
            return wrong(format!("groups of {group:?} where its own are {:?}", [z, y, x]));
        }
        check_threads(core, group)
    }

    /// The groups of a launch: those that were asked for, or its own, or rows that divide the
    /// range.
    fn group_of(&self, core: &Core, geometry: &Geometry) -> Dims {
        let own = || self.entry.threads.map(|[x, y, z]| [z, y, x].map(|n| n as usize));
        geometry.group.or_else(own).unwrap_or_else(|| {
            let most = (core.target.capabilities.base.block as usize).min(256);
            let columns = geometry.range[2].max(1);
            let fits = (0..=most.ilog2()).rev().map(|bits| 1usize << bits);
            let row = fits.into_iter().find(|row| columns.is_multiple_of(*row)).unwrap_or(1);
            [1, 1, row]
        })
    }

    /// # Safety
    /// As [`LoadedKernel::destroy`](crate::kernels::module::LoadedKernel::destroy).
    pub(crate) unsafe fn destroy(&self, device: &ash::Device) {
        // SAFETY: the caller's promise.
        unsafe { self.pipelines.destroy(device) };
    }
}

impl VulkanLane {
    pub(crate) fn launch_opaque(
        &self,
        state: &mut LaneState,
        (opaque, launch): (&Opaque, &LaunchRequest<'_>),
    ) -> Result<(), HalError> {
        let core = &*self.core;
        opaque.check(core, launch.geometry, launch.arguments)?;
        let (mut words, mut accesses) = (vec![], vec![]);
        for passing in passing(&launch.args()) {
            match passing? {
                Passing::Memory(param) => words.push(match param.mem.base {
                    MemBase::Device { handle, .. } => {
                        let block = core.memory.find(handle)?;
                        accesses.push((block.key(), param.write));
                        (block.address + param.mem.offset).wrapping_add_signed(param.ahead())
                    }
                    MemBase::Host(HostPtr(at)) if at.is_null() => 0,
                    MemBase::Host(_) => return Err(HalError::unsupported("memory of the host")),
                }),
                Passing::Value(value) => words.extend(arguments::words(value)),
                Passing::Local(_) => {}
            }
        }
        let group = opaque.group_of(core, launch.geometry);
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
        dispatch(core, batch, pipeline, piece.address, sizes(blocks.map(|n| n as u64)));
        Ok(())
    }
}
