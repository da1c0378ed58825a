//! Keys of commands: what a command is, and its arguments.
//!
//! Commands of one *kind* can take each other's place in a device's graph: they differ at most in
//! memory, places and values, which are their *arguments*. Scalars of kernels are apart, as they
//! change most often. Keys are compared by `==`, for a call of a kernel that has not been made into
//! a command as for a command. What is equal beforehand becomes equal commands.

use super::NodeKind;
use super::conflicts::number_of;
use super::template::kind_of;
use crate::buffer::Part;
use crate::call::Passed;
use crate::engine::kernels::launch::Launch;
use crate::engine::pages::storage::StorageId;
use crate::engine::runs::command::{Action, Command, End, MemRect};
use crate::engine::terms::access::RawMem;
use crate::engine::terms::access::{Access, Mode};
use crate::error::Label;
use crate::geom::{Box3, Dims};
use crate::hal::{Advice, Geometry, Hint, MemRef};
use crate::pages::DomainId;
use crate::runtime::Core;
use folio_device::Code;
use folio_kernel::ParamKind;
use smallvec::SmallVec;
use std::sync::atomic::Ordering;

/// The kind of a command.
#[derive(Clone, Default, Debug, PartialEq, Eq)]
pub(super) struct Kind {
    label: Label,
    work: Option<NodeKind>,
    words: Vec<u64>,
    /// The memory that pointers name: it is not exchanged.
    pointers: Vec<(MemRef, DomainId, Option<StorageId>)>,
    /// Not all of what it does is known: it is not compared with another one.
    unknown: bool,
}

/// The memory, places and values of a command.
#[derive(Clone, Default, Debug, PartialEq, Eq)]
pub(super) struct Arguments {
    /// In the order in which the command names them.
    pub(super) storages: SmallVec<[StorageId; 4]>,
    pub(super) words: Vec<u64>,
}

/// A command in words.
#[derive(Clone, Default, Debug, PartialEq, Eq)]
pub(super) struct Key {
    pub(super) kind: Kind,
    pub(super) arguments: Arguments,
    /// The scalars of a launch.
    pub(super) scalars: Vec<u64>,
}

/// A call of a kernel function, as it was made.
#[derive(Clone, Copy)]
pub(crate) struct Called<'c> {
    pub(crate) name: &'static &'static str,
    pub(crate) code: &'static Code,
    pub(crate) geometry: Geometry,
    pub(crate) scalars: &'c [u64],
}

/// An argument that is memory.
struct Argument {
    at: usize,
    storage: StorageId,
    mode: Mode,
    domain: DomainId,
    size: usize,
    dims: Dims,
    shape: Dims,
    begins: Dims,
}

impl Kind {
    /// The work of commands of this kind cannot be compared.
    pub(super) fn is_unknown(&self) -> bool {
        self.unknown
    }

    pub(super) fn is_launch(&self) -> bool {
        self.work == Some(NodeKind::Kernel)
    }
}

impl Key {
    pub(super) fn of(command: &Command) -> Key {
        let mut key = Key::default();
        key.set(command);
        key
    }

    fn clear(&mut self, label: Label, work: NodeKind) {
        let Key { kind, arguments, scalars } = self;
        (kind.label, kind.work) = (label, Some(work));
        kind.words.clear();
        kind.pointers.clear();
        kind.unknown = false;
        arguments.storages.clear();
        arguments.words.clear();
        scalars.clear();
    }

    /// Makes it that of a command.
    pub(super) fn set(&mut self, command: &Command) {
        self.clear(command.label.clone(), kind_of(command));
        let of = (command.device, command.timed);
        self.kind.unknown = !command.after.is_empty();
        let accesses = &command.accesses[..];
        match &command.action {
            Action::Launch(Some(launch)) if launch.function.is_some() => {
                return self.set_launch(of, launch, accesses);
            }
            Action::Copy { .. } | Action::Nothing => self.begin(of, 0),
            Action::Fill { pattern, .. } => {
                self.begin(of, pattern.len());
                self.arguments.words.extend(pattern.iter().map(|byte| u64::from(*byte)));
            }
            Action::Hint { hint, .. } => self.begin(of, number_of_hint(*hint)),
            Action::Launch(_)
            | Action::Task { .. }
            | Action::Conditional(_)
            | Action::Replay(_) => {
                self.begin(of, 0);
                self.kind.unknown = true;
            }
        }
        command.action.rects().into_iter().flatten().for_each(|place| self.place(place));
        accesses.iter().for_each(|access| self.access(access));
    }

    /// Makes it that of a call which uses memory of this domain. False if it is of no kind.
    pub(super) fn set_call(
        &mut self,
        (device, domain): (u16, DomainId),
        called: &Called<'_>,
        given: &[Passed],
    ) -> bool {
        let Called { name, code, ref geometry, scalars } = *called;
        self.clear(Label::of(name), NodeKind::Kernel);
        self.begin_launch((Some(device), false), code, (given.len(), scalars.len()), geometry);
        for (at, passed) in given.iter().enumerate() {
            let Passed { param, part: Part { view, part, .. }, mode, .. } = passed;
            let shape = match code.ir.params.get(*param).map(|param| &param.kind) {
                // Of these only the first element counts.
                Some(ParamKind::Reduce { .. }) => [1; 3],
                _ => part.extent(),
            };
            let (storage, size, dims) = (view.storage.id, view.element_bytes, view.dims);
            let (mode, begins) = (*mode, part.min);
            self.argument(&Argument { at, storage, mode, domain, size, dims, shape, begins });
            if part.is_empty() {
                return false;
            }
        }
        self.scalars.extend_from_slice(scalars);
        true
    }

    fn begin(&mut self, (device, timed): (Option<u16>, bool), more: usize) {
        let device = device.map_or(u64::from(u16::MAX) + 1, u64::from);
        self.kind.words.extend([device << 1 | u64::from(timed), more as u64]);
    }

    fn begin_launch(
        &mut self,
        of: (Option<u16>, bool),
        code: &'static Code,
        (params, scalars): (usize, usize),
        geometry: &Geometry,
    ) {
        // A list is the same in whatever shape its launches are.
        let Geometry { rank, offset, range, group, .. } = *geometry;
        self.begin(of, std::ptr::from_ref(code).addr());
        let counts = (params as u64) << 32 | scalars as u64;
        self.kind.words.extend([u64::from(rank) << 1 | u64::from(group.is_some()), counts]);
        self.dims(offset);
        self.dims(range);
        group.into_iter().for_each(|group| self.dims(group));
    }

    /// The launch of a kernel function. What a fused or an opaque one does is not known.
    fn set_launch(&mut self, of: (Option<u16>, bool), launch: &Launch, accesses: &[Access]) {
        let Some(function) = &launch.function else { return };
        let counts = (launch.params.len(), launch.scalars.len());
        self.begin_launch(of, function.code, counts, &launch.geometry);
        self.kind.unknown |=
            launch.opaque.is_some() || launch.fused.is_some() || launch.foreign.is_some();
        for (param, token) in launch.params.iter().zip(&launch.tokens) {
            let Some(access) = accesses.get(token.at) else {
                self.kind.unknown = true;
                return;
            };
            let begins = |dim: usize| param.origin[dim].wrapping_sub(param.index[dim]);
            let Access { storage, mode, domain, .. } = *access;
            self.argument(&Argument {
                at: token.at,
                storage,
                mode,
                domain,
                size: param.size as usize,
                dims: param.dims,
                shape: param.shape,
                begins: [begins(0), begins(1), begins(2)],
            });
        }
        let is_argument = |at: usize| launch.tokens.iter().any(|token| token.at == at);
        for (at, access) in accesses.iter().enumerate() {
            if !is_argument(at) {
                self.access(access);
            }
        }
        self.scalars.extend_from_slice(&launch.scalars);
    }

    fn argument(&mut self, argument: &Argument) {
        let Argument { at, storage, mode, domain, size, dims, shape, begins } = *argument;
        let used = number_of(mode) << 32 | u64::from(domain.0);
        self.kind.words.extend([at as u64, used, size as u64]);
        self.arguments.storages.push(storage);
        self.dims(dims);
        self.dims(shape);
        self.dims(begins);
    }

    /// An access by which a command uses elements.
    fn access(&mut self, access: &Access) {
        self.kind.words.push(number_of(access.mode) << 32 | u64::from(access.domain.0));
        self.arguments.storages.push(access.storage);
        self.bounds(&access.elements);
    }

    fn place(&mut self, place: &MemRect) {
        let MemRect { end, offset, pitch, extent } = place;
        match end {
            End::Access(at) => self.kind.words.push(*at as u64),
            End::Raw(RawMem { mem, domain, storage }) => {
                self.kind.words.push(u64::MAX);
                self.kind.pointers.push((*mem, *domain, *storage));
                // Whether memory is there of which the engine knows nothing cannot be told.
                self.kind.unknown |= storage.is_none();
            }
            End::Host(_) => self.kind.unknown = true,
        }
        self.arguments.words.push(*offset);
        self.arguments.words.extend(pitch.iter().chain(extent));
    }

    fn dims(&mut self, dims: Dims) {
        self.arguments.words.extend(dims.map(|n| n as u64));
    }

    fn bounds(&mut self, bounds: &Box3) {
        self.dims(bounds.min);
        self.dims(bounds.max);
    }
}

fn number_of_hint(hint: Hint) -> usize {
    match hint {
        Hint::Prefetch => 0,
        Hint::Advise(Advice::ReadMostly) => 1,
        Hint::Advise(Advice::PreferDevice) => 2,
        Hint::Advise(Advice::PreferHost) => 3,
        Hint::Advise(Advice::UsedByDevice) => 4,
        Hint::Advise(Advice::Nothing) => 5,
    }
}

/// An argument of which a command depends only on what its key has.
pub(super) fn is_plain(passed: &Passed, core: &Core) -> bool {
    let Part { view, marks, .. } = &passed.part;
    let storage = &*view.storage;
    marks.is_none()
        && storage.core.same(core)
        && storage.home().is_none()
        && !storage.imported.load(Ordering::Relaxed)
        && storage.managed.get().is_none()
}

/// What a command of this call accesses, and that it accesses nothing else, follows without its
/// scalars: each item uses its own elements, and these are there.
pub(super) fn is_free_of_scalars(called: &Called<'_>, given: &[Passed]) -> bool {
    let Called { code, geometry: Geometry { offset, range, group, .. }, .. } = called;
    let own = |passed: &Passed| match passed.mode.writes() {
        true => code.is_own(passed.param),
        false => code.reads_own(passed.param),
    };
    let items = Box3::at(*offset, *range);
    let is_within = |passed: &Passed| {
        let all = Box3::whole(passed.part.part.extent());
        items.is_some_and(|items| all.contains(&items))
    };
    group.is_none()
        && !code.indexes_arrays
        && !code.denies_checks()
        && given.iter().all(|passed| own(passed) && is_within(passed))
}
