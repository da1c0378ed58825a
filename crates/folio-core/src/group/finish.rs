//! The end of a description: what is checked without the ledger, and the command that comes of it.

use super::run::MANY_ITEMS;
use super::task::timed_task;
use super::{CommandGroup, GroupAccess, GroupWork, Seen};
use crate::buffer::{Part, View};
use crate::call::{checks, deny_checks, group_beyond, proves};
use crate::engine::kernels::launch::{Function, Launch};
use crate::engine::runs::command::{Action, Command, End, MemRect, Shape};
use crate::engine::terms::access::{Access, Mode};
use crate::error::{Error, Label, Result};
use crate::event::Event;
use crate::foreign::listening;
use crate::geom::{Box3, Dims};
use crate::hal::{Geometry, HostPtr, MemBase, MemRef, NativeKernel, Param};
use crate::pages::DomainId;
use crate::planted::Planted;
use crate::token::Token;
use smallvec::SmallVec;
use std::sync::atomic::Ordering;

impl CommandGroup {
    /// Checks everything that does not need the ledger, and completes the command.
    pub(crate) fn finish(&mut self, command: &mut Command) -> Result<()> {
        if !self.is_plain() {
            self.check_described()?;
        }
        self.check_lease()?;
        if self.actions > 1 {
            return Err(Error::Actions { command: self.label.clone(), actions: self.actions });
        }
        let on_host = self.is_on_host();
        let place = self.domain();
        let (mut homes, mut imports, mut managed) = (false, false, false);
        for made in &self.made {
            let storage = &*made.part.view.storage;
            let home = storage.home();
            homes |= home.is_some();
            imports |= storage.imported.load(Ordering::Relaxed);
            managed |= storage.managed.get().is_some();
            let domain = home.unwrap_or(place);
            let which = (storage.id, &storage.grid);
            command.accesses.push(if made.part.whole {
                Access::whole(which, made.mode, domain)
            } else {
                let (elements, exact) = made.part.view.in_storage(&made.part.part);
                let mode = if exact { made.mode } else { crate::buffer::widened(made.mode) };
                Access::new(which, elements, mode, domain)
            });
        }
        self.check_aliasing(&command.accesses)?;
        if imports {
            self.check_imports()?;
        }
        if homes {
            self.check_homes(&command.accesses, place, on_host)?;
        }
        if managed && !self.moves {
            self.check_managed(place)?;
        }
        match &mut self.work {
            // Taken from where it lies: what is done is large.
            GroupWork::Kernel(launch) => {
                let launch = launch.take();
                self.launch(command, launch)?;
            }
            _ => {
                self.check_raw(place)?;
                self.action(command)?;
            }
        }
        if !self.is_plain() {
            self.part_accesses(command);
        }
        command.device = (!on_host).then_some(self.device);
        command.label = std::mem::take(&mut self.label);
        command.timed = self.timed;
        command.after = std::mem::take(&mut self.after);
        Ok(())
    }

    /// Two accesses that share a byte, one of which writes, are an error (whatever the handles).
    fn check_aliasing(&self, accesses: &[Access]) -> Result<()> {
        if self.core.engine.plant.is(Planted::AliasCheck) {
            return Ok(());
        }
        let mut seen = Seen::default();
        for (at, access) in accesses.iter().enumerate() {
            if seen.first(access.storage.0 as usize) {
                continue;
            }
            let same = |(_, other): &(usize, &Access)| other.storage == access.storage;
            for (before, _) in accesses[..at].iter().enumerate().filter(same) {
                let (a, b) = (&self.made[at], &self.made[before]);
                if (a.mode.writes() || b.mode.writes())
                    && a.part.view.shares(&a.part.part, &b.part.view, &b.part.part)
                {
                    let names = [before, at].map(|at| self.parameter_name(at));
                    return Err(self.aliasing(at, [before, at], names));
                }
            }
        }
        Ok(())
    }

    /// The same of two storages, where one was made over memory that the other one may have.
    #[cold]
    fn check_imports(&self) -> Result<()> {
        let engine = &self.core.engine;
        for (at, a) in self.made.iter().enumerate() {
            let one = &a.part.view.storage;
            for (before, b) in self.made[..at].iter().enumerate() {
                let other = &b.part.view.storage;
                let imports = [one, other].iter().any(|s| s.imported.load(Ordering::Relaxed));
                if one.id == other.id || !imports || !(a.mode.writes() || b.mode.writes()) {
                    continue;
                }
                let mut far =
                    engine.enter(|ledger| ledger.storages.distances(one.id, other.id)).into_iter();
                let (a, b) = (&a.part, &b.part);
                if far.any(|bytes| a.view.shares_at(&a.part, &b.view, &b.part, bytes)) {
                    let names = [before, at].map(|at| self.parameter_name(at));
                    return Err(self.aliasing(at, [before, at], names));
                }
            }
        }
        Ok(())
    }

    /// Kernels reach USM only where it is, even from a device in the host's memory: it is another
    /// backend's to find. Host tasks reach what the host does.
    fn check_homes(&self, accesses: &[Access], place: DomainId, on_host: bool) -> Result<()> {
        let is_own = |action: &Action| action.raw().next().is_none();
        let copies = |action: &Action| matches!(action, Action::Copy { .. }) && is_own(action);
        if matches!(&self.work, GroupWork::Memory(action) if copies(action)) {
            return Ok(());
        }
        for (made, access) in self.made.iter().zip(accesses) {
            let reachable = access.domain == place
                || (on_host && made.part.view.storage.host_reachable.load(Ordering::Relaxed));
            if !reachable && !access.elements.is_empty() {
                let engine = &self.core.engine;
                return Err(Error::NotAccessible {
                    label: made.part.view.storage.label.clone(),
                    home: engine.domain_name(access.domain),
                    device: engine.domain_name(place),
                });
            }
        }
        Ok(())
    }

    /// Managed pointers are used where they are accessible, after the move that brings them there.
    #[cold]
    fn check_managed(&mut self, place: DomainId) -> Result<()> {
        let mut moves: SmallVec<[Event; 4]> = SmallVec::new();
        for GroupAccess { part, .. } in &self.made {
            let storage = &*part.view.storage;
            if let Some(managed) = storage.managed.get() {
                let before = managed.before_command(place);
                moves.extend(before.map_err(|elsewhere| elsewhere.error(storage, place))?);
            }
        }
        self.after_all(&moves);
        self.check_described()
    }

    /// Fills and hints are for memory of the device itself.
    fn check_raw(&self, place: DomainId) -> Result<()> {
        let GroupWork::Memory(action) = &self.work else { return Ok(()) };
        if matches!(**action, Action::Copy { .. }) {
            return Ok(());
        }
        match action.raw().find(|raw| raw.domain != place) {
            Some(raw) => {
                let name = |domain| self.core.engine.domain_name(domain);
                let (label, home) = (Label::from("raw pointer"), name(raw.domain));
                Err(Error::NotAccessible { label, home, device: name(place) })
            }
            None => Ok(()),
        }
    }

    /// An access as a kernel gets it, of memory that is not known yet.
    #[inline]
    pub(super) fn param(&self, at: usize) -> Param {
        let GroupAccess { part: Part { view, part, .. }, mode } = &self.made[at];
        param(view, part, *mode)
    }

    pub(super) fn shape(&self, at: usize) -> Shape {
        let part = &self.made[at].part;
        let (dims, element_bytes) = (part.view.dims, part.view.element_bytes);
        Shape { dims, element_bytes, part: part.part }
    }

    pub(super) fn at(&self, access: usize) -> MemRect {
        MemRect::of(End::Access(access), &self.shape(access))
    }

    /// The name of the parameter that an access is for, if the command calls a `#[kernel]`.
    fn parameter_name(&self, at: usize) -> Label {
        match &self.work {
            GroupWork::Kernel(Some(launch)) => launch.parameter(at),
            _ => Label::NONE,
        }
    }

    #[cold]
    fn aliasing(&self, at: usize, accesses: [usize; 2], parameters: [Label; 2]) -> Error {
        let buffer = self.made[at].part.view.storage.label.clone();
        Error::Aliasing { command: self.label.clone(), buffer, accesses, parameters }
    }

    /// Where the access of a token is, given those of the tokens before it.
    #[inline]
    fn made_at(&self, token: &Token, before: &[Token], seen: &mut Seen) -> Result<usize> {
        if token.group != self.id {
            return Err(Error::ForeignAccess { command: self.label.clone() });
        }
        let made = &self.made[token.at];
        let again = || before.iter().position(|t| t.at == token.at);
        if !seen.first(token.at)
            && made.mode.writes()
            && let Some(first) = again()
        {
            let names = [Label::NONE, Label::NONE];
            return Err(self.aliasing(token.at, [first, before.len()], names));
        }
        Ok(token.at)
    }

    fn launch(&self, command: &mut Command, launch: Option<Box<Launch>>) -> Result<()> {
        let Some(mut launch) = launch else { return Ok(()) };
        let items = self.check_launch(&launch)?;
        self.check_opaque(&launch)?;
        self.check_foreign(&launch)?;
        if self.is_repeated() {
            launch.kernel = launch.kernel.take().map(NativeKernel::shared);
        }
        let Launch { tokens, params, geometry, .. } = &mut *launch;
        let mut seen = Seen::default();
        for (nth, token) in tokens.iter().enumerate() {
            let at = self.made_at(token, &tokens[..nth], &mut seen)?;
            // Those of a kernel call are there, and checked.
            if params.len() > nth {
                continue;
            }
            params.push(self.param(at));
            let GroupAccess { part, mode } = &self.made[at];
            let larger = |d: usize| geometry.range[d] > part.part.max[d] - part.part.min[d];
            if mode.writes() && items > 0 && (larger(0) || larger(1) || larger(2)) {
                return Err(self.launch_too_large(geometry, nth, part, Label::NONE));
            }
        }
        if items == 0 {
            // Legal, without effect: also no access takes place.
            command.accesses.clear();
        } else {
            self.choose_form(&mut launch)?;
            command.set_launch(launch);
        }
        Ok(())
    }

    /// Makes of a kernel function what its device runs.
    fn choose_form(&self, launch: &mut Launch) -> Result<()> {
        // It stays there: errors name its parameters.
        let Some(Function { code, native }) = launch.function else { return Ok(()) };
        let engine = &self.core.engine;
        let caps = &engine.devices[usize::from(self.device)].info.caps;
        let on_host = caps.closures;
        if code.denies_checks() {
            let Launch { geometry, params, scalars, .. } = &*launch;
            deny_checks(code, geometry, params, scalars)?;
            launch.proved = true;
        }
        if listening() {
            let Launch { geometry, params, scalars, .. } = &*launch;
            launch.checks = Some(checks(code, geometry, params, scalars, on_host).into());
        }
        if on_host {
            if let Some(group) = launch.geometry.group
                && let Some(cause) = group_beyond(caps, code, group)
            {
                return Err(self.refused(self.device, &code.name, cause));
            }
            if !self.is_node() {
                native(code, launch);
            }
        } else {
            let handle = engine.load(self.device, code)?;
            if launch.geometry.group.is_some() {
                let checked = engine.open(self.device)?.check(handle, &launch.geometry, &[]);
                let checked = checked.map_err(|cause| self.refused(self.device, &code.name, cause));
                engine.noting_loss(checked)?;
            }
            launch.loaded = Some(handle);
            if launch.geometry.shape == 0 {
                launch.geometry.shape = engine.tunings.chosen(code, self.device, &launch.geometry);
            }
            let Launch { geometry, params, scalars, .. } = &*launch;
            launch.proved = launch.proved || proves(code, geometry, params, scalars);
        }
        Ok(())
    }

    fn action(&mut self, command: &mut Command) -> Result<()> {
        command.action = match std::mem::replace(&mut self.work, GroupWork::Nothing) {
            GroupWork::Nothing | GroupWork::OnHost => Action::Nothing,
            GroupWork::Kernel(launch) => Action::Launch(launch),
            GroupWork::Memory(action) if action.extent().contains(&0) => Action::Nothing,
            GroupWork::Memory(action) => *action,
            GroupWork::Task { body, args } => {
                let (mut params, mut seen) = (SmallVec::new(), Seen::default());
                for (nth, token) in args.iter().enumerate() {
                    let at = self.made_at(token, &args[..nth], &mut seen)?;
                    params.push((at, self.shape(at)));
                }
                // Of a node, each run has its own.
                let body = match self.timed && !self.is_repeated() {
                    true => {
                        let (body, timing) = timed_task(body, self.core.engine.host.epoch());
                        self.rare().timing = Some(timing);
                        body
                    }
                    false => body,
                };
                Action::Task { body, params }
            }
        };
        Ok(())
    }

    #[cold]
    pub(super) fn launch_too_large(
        &self,
        geometry: &Geometry,
        access: usize,
        part: &Part,
        parameter: Label,
    ) -> Error {
        let visible = |dims: &Dims| dims[3 - usize::from(geometry.rank)..].to_vec();
        let label = &part.view.storage.label;
        let buffer = if label.as_str().is_empty() { &parameter } else { label }.clone();
        Error::LaunchTooLarge {
            command: self.label.clone(),
            launch: visible(&geometry.range),
            offset: visible(&geometry.offset),
            access,
            parameter,
            buffer,
            extent: part.view.visible(part.part.extent()).into(),
        }
    }

    #[cold]
    pub(super) fn launch_range(&self, geometry: &Geometry, why: &'static str) -> Error {
        let visible = |dims: &Dims| dims[3 - usize::from(geometry.rank)..].to_vec();
        let (launch, offset) = (visible(&geometry.range), visible(&geometry.offset));
        Error::LaunchRange { command: self.label.clone(), launch, offset, why }
    }

    #[cold]
    pub(super) fn no_element(&self, access: usize, part: &Part, parameter: Label) -> Error {
        let label = &part.view.storage.label;
        let buffer = if label.as_str().is_empty() { &parameter } else { label }.clone();
        Error::NoElement { command: self.label.clone(), access, parameter, buffer }
    }

    #[cold]
    pub(super) fn unsupported(&self, what: String) -> Error {
        let entry = &self.core.engine.devices[usize::from(self.device)];
        let what = format!("{what} (command {})", self.label);
        Error::Unsupported { device: entry.name.clone(), what }
    }

    /// The number of items. The device must run such a kernel, and so many parameters.
    fn check_launch(&self, launch: &Launch) -> Result<usize> {
        let Launch { geometry, tokens, .. } = launch;
        let entry = &self.core.engine.devices[usize::from(self.device)];
        let caps = &entry.info.caps;
        // Whoever has loaded an opaque kernel runs it.
        let runs = caps.ir && launch.function.is_some() || launch.opaque.is_some();
        if launch.foreign.is_none() && !(caps.closures || runs) {
            return Err(self.unsupported(
                "kernels that are closures of the host: a `#[kernel]` is for every device"
                    .to_owned(),
            ));
        }
        let count = tokens.len() + launch.pointers().len();
        if count > caps.max_params {
            let most = caps.max_params;
            return Err(self.unsupported(format!("{count} parameters, but {most}")));
        }
        crate::geom::checked_volume(geometry.range)
            .ok_or_else(|| self.launch_range(geometry, MANY_ITEMS))
    }
}

/// An access of a part as a kernel gets it, of memory that is not known yet.
#[inline]
pub(super) fn param(view: &View, part: &Box3, mode: Mode) -> Param {
    Param {
        mem: MemRef { base: MemBase::Host(HostPtr(std::ptr::null_mut())), offset: 0 },
        size: view.element_bytes as u32,
        write: mode.writes(),
        dims: view.dims,
        origin: part.min,
        extent: part.extent(),
        index: [0; 3],
        shape: part.extent(),
    }
}
