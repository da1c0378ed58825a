//! How alike two commands are: the same, or of one *kind*, so that a node of a device's graph that
//! does the one can do the other.

use crate::buffer::Part;
use crate::call::Passed;
use crate::engine::kernels::launch::Launch;
use crate::engine::runs::command::{Action, Command, End, Place};
use crate::engine::terms::access::RawMem;
use crate::error::Label;
use crate::geom::Box3;
use crate::hal::{Geometry, Param};
use crate::runtime::Core;
use folio_device::Code;
use folio_kernel::ParamKind;
use std::sync::atomic::Ordering;

/// Both do the same with the same memory.
pub(super) fn is_same(a: &Command, b: &Command) -> bool {
    let accesses = || {
        let mut pairs = a.accesses.iter().zip(&b.accesses);
        pairs.all(|(a, b)| (a.storage, a.elements, a.pages) == (b.storage, b.elements, b.pages))
    };
    is_alike(a, b) && accesses() && has_same_values(&a.action, &b.action)
}

/// Both are of one kind: they differ at most in memory, places and values. A command of which it is
/// not known what it does is of no kind, not even its own.
pub(super) fn is_alike(a: &Command, b: &Command) -> bool {
    let accesses = || {
        let mut pairs = a.accesses.iter().zip(&b.accesses);
        pairs.all(|(a, b)| (a.mode, a.domain) == (b.mode, b.domain))
    };
    (a.device, a.timed, a.accesses.len()) == (b.device, b.timed, b.accesses.len())
        && a.after.is_empty()
        && b.after.is_empty()
        && a.label == b.label
        && accesses()
        && is_action_alike(&a.action, &b.action)
}

fn is_action_alike(a: &Action, b: &Action) -> bool {
    match (a, b) {
        (Action::Launch(Some(a)), Action::Launch(Some(b))) => is_launch_alike(a, b),
        (Action::Fill { to: a, pattern }, Action::Fill { to: b, pattern: other }) => {
            pattern.len() == other.len() && is_end_alike(a, b)
        }
        (Action::Copy { from: a, to: b }, Action::Copy { from: c, to: d }) => {
            is_end_alike(a, c) && is_end_alike(b, d)
        }
        (Action::Hint { at: a, hint }, Action::Hint { at: b, hint: other }) => {
            hint == other && is_end_alike(a, b)
        }
        (Action::Nothing, Action::Nothing) => true,
        _ => false,
    }
}

/// What pointers name is fixed. Of memory of which the engine knows nothing it cannot tell whether
/// it is there still.
fn is_end_alike(a: &Place, b: &Place) -> bool {
    match (&a.end, &b.end) {
        (End::Access(a), End::Access(b)) => a == b,
        (End::Raw(a), End::Raw(b)) => {
            let place = |raw: &RawMem| (raw.mem, raw.domain, raw.storage);
            a.storage.is_some() && place(a) == place(b)
        }
        _ => false,
    }
}

/// Only kernel functions are compared: of nothing else is it known what it does.
fn is_launch_alike(a: &Launch, b: &Launch) -> bool {
    let (Some(f), Some(g)) = (&a.function, &b.function) else { return false };
    let plain = |launch: &Launch| {
        launch.opaque.is_none() && launch.fused.is_none() && launch.foreign.is_none()
    };
    let grouped = |geometry: &Geometry| (geometry.rank, geometry.group.is_some());
    std::ptr::eq(f.code, g.code)
        && plain(a)
        && plain(b)
        && grouped(&a.geometry) == grouped(&b.geometry)
        && a.loaded == b.loaded
        && a.scalars.len() == b.scalars.len()
        && a.tokens.len() == b.tokens.len()
        && a.tokens.iter().zip(&b.tokens).all(|(a, b)| a.at == b.at)
        && a.params.len() == b.params.len()
        && a.params.iter().zip(&b.params).all(|(a, b)| (a.size, a.write) == (b.size, b.write))
}

/// Actions of one kind have the same places and values.
fn has_same_values(a: &Action, b: &Action) -> bool {
    let param = |a: &Param, b: &Param| {
        (a.dims, a.origin, a.extent, a.index, a.shape)
            == (b.dims, b.origin, b.extent, b.index, b.shape)
    };
    match (a, b) {
        (Action::Launch(Some(a)), Action::Launch(Some(b))) => {
            a.geometry == b.geometry
                && a.scalars == b.scalars
                && a.params.iter().zip(&b.params).all(|(a, b)| param(a, b))
        }
        (Action::Fill { to: a, pattern }, Action::Fill { to: b, pattern: other }) => {
            pattern == other && is_same_place(a, b)
        }
        (Action::Copy { from: a, to: b }, Action::Copy { from: c, to: d }) => {
            is_same_place(a, c) && is_same_place(b, d)
        }
        (Action::Hint { at: a, .. }, Action::Hint { at: b, .. }) => is_same_place(a, b),
        _ => true,
    }
}

fn is_same_place(a: &Place, b: &Place) -> bool {
    (a.offset, a.pitch, a.extent) == (b.offset, b.pitch, b.extent)
}

/// A call of a kernel function, as it was made.
#[derive(Clone, Copy)]
pub(crate) struct Called<'c> {
    pub(crate) name: &'static &'static str,
    pub(crate) code: &'static Code,
    pub(crate) geometry: Geometry,
    pub(crate) scalars: &'c [u64],
}

/// An argument of which a command depends only on what [`makes`] compares.
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

/// The call becomes this command, but for its scalars.
pub(super) fn makes(command: &Command, device: u16, called: Called<'_>, given: &[Passed]) -> bool {
    let Action::Launch(Some(launch)) = &command.action else { return false };
    let Called { name, code, geometry, .. } = called;
    let Some(function) = &launch.function else { return false };
    let argument = |nth: usize, passed: &Passed| {
        let Passed { param: number, part: Part { view, part, .. }, mode } = passed;
        let (Some(access), Some(param)) = (command.accesses.get(nth), launch.params.get(nth))
        else {
            return false;
        };
        let extent = match code.ir.params.get(*number).map(|param| &param.kind) {
            // Of these only the first element counts.
            Some(ParamKind::Reduce { .. }) => [1; 3],
            _ => part.extent(),
        };
        let begins = |dim: usize| part.min[dim] == param.origin[dim].wrapping_sub(param.index[dim]);
        access.storage == view.storage.id
            && access.mode == *mode
            && param.shape == extent
            && param.dims == view.dims
            && param.size as usize == view.element_bytes
            && begins(0)
            && begins(1)
            && begins(2)
            && !part.is_empty()
    };
    std::ptr::eq(function.code, code)
        && (command.device, command.timed) == (Some(device), false)
        && command.label == Label::of(name)
        && launch.geometry == geometry
        && launch.params.len() == given.len()
        && command.accesses.len() == given.len()
        && given.iter().enumerate().all(|(nth, passed)| argument(nth, passed))
}
