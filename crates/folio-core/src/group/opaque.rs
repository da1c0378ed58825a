//! Launches of opaque kernels in command groups.

use super::{CommandGroup, GroupWork};
use crate::buffer::{widen, widen_at};
use crate::engine::kernels::launch::{Launch, Opaque};
use crate::error::{Error, Label, Result};
use crate::geom::Dims;
use crate::hal::{Argument, Geometry, HalError, HalErrorKind, Param};
use crate::items::{IntoItems, Items};
use crate::opaque::{OpaqueArg, OpaqueKernel, OpaqueValue};
use crate::pages::DomainId;
use crate::usm::UsmPtr;
use folio_kernel::words::Plain;
use smallvec::SmallVec;
use std::sync::Arc;

impl CommandGroup {
    /// Runs an opaque kernel for `items`, on the queue's device, which has loaded it.
    ///
    /// `args` are the kernel's arguments in their order:
    ///
    /// - An access of this group passes where its *buffer* begins, whatever part of it is accessed:
    ///   elements are where they always are, and the distance between rows is the buffer's own.
    ///   (The same in a reinterpreted buffer; it is the same memory.) In OpenCL C it is a
    ///   `__global` parameter.
    /// - A [`UsmPtr`] passes its place. It is no access: order is the caller's, with
    ///   [`after`](Self::after).
    /// - [`OpaqueArg::value`] and [`OpaqueArg::local`].
    ///
    /// The last dimension of `items` is OpenCL's dimension 0 and CUDA's `x`. In
    /// [groups](Items::groups), which divide `items`, there are as many threads as items. Without,
    /// OpenCL takes those that the kernel requires or else chooses some that divide, and CUDA has
    /// blocks of 256 in `x`, of which the last may reach beyond `items`: such a kernel looks where
    /// it is. Items begin at position 0.
    ///
    /// What is wrong with the arguments, as far as the driver tells, is an [`Error::Device`] of the
    /// submission: their number, what they are and how large values are. (OpenCL tells this of
    /// kernels that it has compiled, but PoCL takes structs of any size; CUDA tells sizes, from
    /// driver 12.4 on.) By OpenCL a launch has 2^31 groups at most or, without a size of groups, so
    /// many items. Without a [`label`](Self::label) the command has the kernel's name.
    ///
    /// # Safety
    /// The kernel takes these arguments. For these items, in any order, it reads no more than what
    /// is declared as read, writes no more than what is declared as written, stays within memory
    /// that pointers name and that nobody uses against it, has no data race, and ends. In a
    /// [graph](crate::Graph) this holds for each run.
    pub unsafe fn run_opaque<const D: usize>(
        &mut self,
        items: impl IntoItems<D>,
        kernel: &OpaqueKernel,
        args: impl IntoIterator<Item = OpaqueArg>,
    ) {
        if !kernel.core.same(&self.core) {
            let label = Label::from(kernel.name.clone());
            let by = self.used(None, Label::NONE);
            return self.refuse(Error::WrongRuntime { what: "kernel", label, by });
        }
        if self.label == Label::NONE {
            self.label = Label::from(kernel.name.clone());
        }
        let geometry = match geometry(&kernel.name, &items.into_items()) {
            Ok(geometry) => geometry,
            Err(error) => return self.refuse(error),
        };
        let mut launch = Launch::new(geometry);
        match self.pass(&mut launch, kernel, args) {
            Ok(()) => self.act(GroupWork::Kernel(Some(launch))),
            Err(error) => {
                launch.recycle();
                self.refuse(error);
            }
        }
    }

    /// Gives a launch its arguments.
    fn pass(
        &self,
        launch: &mut Launch,
        kernel: &OpaqueKernel,
        args: impl IntoIterator<Item = OpaqueArg>,
    ) -> Result<()> {
        let args: SmallVec<[OpaqueArg; 8]> = args.into_iter().collect();
        let is_access = |arg: &&OpaqueArg| matches!(arg.0, OpaqueValue::Access(_));
        let accesses = args.iter().filter(is_access).count();
        let mut pointers: SmallVec<[UsmPtr; 2]> = SmallVec::new();
        let mut arguments: SmallVec<[Argument; 8]> = SmallVec::new();
        for (nth, OpaqueArg(given)) in args.into_iter().enumerate() {
            let beyond = |why: String| {
                let cause = HalError::new(HalErrorKind::Arguments, why);
                self.refused(kernel.device, &kernel.name, cause)
            };
            let size = |bytes: usize| {
                let why = |_| format!("argument {nth} has {bytes} bytes, more than any kernel's");
                u32::try_from(bytes).map_err(why).map_err(beyond)
            };
            let memory = |at: usize| {
                let why = |_| format!("argument {nth} comes later than any kernel's");
                u16::try_from(at).map(Argument::Memory).map_err(why).map_err(beyond)
            };
            arguments.push(match given {
                OpaqueValue::Access(token) if token.group != self.id => {
                    return Err(Error::ForeignAccess { command: self.label.clone() });
                }
                OpaqueValue::Access(token) => {
                    let param = self.param(token.at);
                    launch.params.push(Param { index: param.origin, shape: param.dims, ..param });
                    launch.tokens.push(token);
                    memory(launch.params.len() - 1)?
                }
                OpaqueValue::Pointer(pointer) => {
                    pointer.check_runtime(&self.core)?;
                    pointers.push(pointer);
                    memory(accesses + pointers.len() - 1)?
                }
                OpaqueValue::Value(words, bytes) => {
                    launch.scalars.extend(words);
                    Argument::Value(size(bytes)?)
                }
                OpaqueValue::Local(bytes) => Argument::Local(size(bytes)?),
            });
        }
        launch.params.extend(pointers.iter().map(|pointer| Param {
            mem: pointer.at.mem,
            size: 1,
            write: true,
            dims: [1, 1, pointer.bytes_left()],
            origin: [0; 3],
            // What of it is used, nobody is told.
            extent: [0; 3],
            index: [0; 3],
            shape: [1, 1, pointer.bytes_left()],
        }));
        launch.loaded = Some(kernel.loaded.handle);
        launch.opaque = Some(Box::new(Opaque {
            device: kernel.device,
            loaded: kernel.loaded.clone(),
            name: kernel.name.clone(),
            arguments,
            pointers: pointers.iter().map(|pointer| pointer.at).collect(),
        }));
        Ok(())
    }

    /// What speaks against a launch of an opaque kernel on the group's device.
    pub(super) fn check_opaque(&self, launch: &Launch) -> Result<()> {
        let (Some(opaque), Some(handle)) = (&launch.opaque, launch.loaded) else { return Ok(()) };
        let engine = &self.core.engine;
        if opaque.device != self.device {
            let there = &engine.devices[usize::from(opaque.device)].name;
            let what = format!("kernel `{}`, which is loaded on {there}", Plain(&opaque.name));
            return Err(self.unsupported(what));
        }
        let entry = &engine.devices[usize::from(self.device)];
        let name = |domain: DomainId| engine.domain_name(domain);
        if let Some(raw) = opaque.pointers.iter().find(|raw| raw.domain != entry.domain) {
            let (label, home) = (Label::from("raw pointer"), name(raw.domain));
            return Err(Error::NotAccessible { label, home, device: name(entry.domain) });
        }
        let checked = engine.open(self.device)?.check(handle, &launch.geometry, &opaque.arguments);
        let checked = checked.map_err(|cause| self.refused(opaque.device, &opaque.name, cause));
        engine.noting_loss(checked)
    }

    pub(super) fn refused(&self, device: u16, kernel: &str, cause: HalError) -> Error {
        let device = self.core.engine.devices[usize::from(device)].name.clone();
        Error::Device { device, doing: format!("launch kernel `{}`", Plain(kernel)), cause }
    }
}

/// The launch of these items.
fn geometry<const D: usize>(kernel: &Arc<str>, items: &Items<D>) -> Result<Geometry> {
    let refuse = |why| {
        let (launch, group) = (items.range.to_vec(), items.group.map(Vec::from));
        let (kernel, group) = (kernel.clone(), group.unwrap_or_default());
        Err(Error::GroupSize { kernel, launch, group, why })
    };
    if widen_at(items.offset) != [0; 3] {
        return refuse(
            "an opaque kernel counts its items from 0: pass where they begin as a value",
        );
    }
    let group: Option<Dims> = items.group.map(widen);
    match group {
        Some(group) if group.contains(&0) => refuse("a group has at least one item"),
        Some(group) if (0..3).any(|d| !widen(items.range)[d].is_multiple_of(group[d])) => {
            refuse("the size does not divide the number of items")
        }
        _ => Ok(Geometry { group, ..Geometry::new(D as u8, widen(items.range)) }),
    }
}
