//! Command groups: what a command accesses, and what it does.

mod finish;
mod graphs;
mod interop;
mod opaque;
mod rare;
mod raw;
pub(crate) mod run;
mod several;
mod task;

pub(crate) use graphs::{Leases, Purpose};
pub(crate) use rare::Rare;
pub(crate) use run::{grouped, out_of_range};
pub(crate) use several::{Empty, Several};
pub use task::{EachRun, TaskResult};
pub(crate) use task::{TaskTiming, timed_task};

use crate::buffer::{AsPart, AsPartMut, Part, StorageHandle};
use crate::coords::Coords;
use crate::element::{DeviceType, bytes_of};
use crate::engine::kernels::launch::Launch;
use crate::engine::runs::command::{Action, End, HostBody, MemRect, Shape};
use crate::engine::terms::access::{Access, Mode};
use crate::engine::terms::staging::Staging;
use crate::error::{Error, Label, Result, UseSite};
use crate::event::Event;
use crate::geom::{Box3, Dims};
use crate::hal::{Advice, Geometry, Hint, NativeKernel};
use crate::order::stamp::Stamp;
use crate::pages::DomainId;
use crate::runtime::Core;
use crate::token::{GroupId, Token};
use crate::views::{ClosureItem, ClosureKernel, KernelArgs};
use folio_kernel::words::count;
use smallvec::SmallVec;
use std::marker::PhantomData;
use std::sync::Arc;

/// An access to read.
#[derive(Clone, Copy, Debug)]
pub struct Read<T, const D: usize = 1> {
    pub(crate) token: Token,
    _elements: PhantomData<fn() -> T>,
}

/// An access to write; what the command does not write keeps its value.
#[derive(Clone, Copy, Debug)]
pub struct Write<T, const D: usize = 1> {
    pub(crate) token: Token,
    _elements: PhantomData<fn() -> T>,
}

/// An access to read and write.
#[derive(Clone, Copy, Debug)]
pub struct ReadWrite<T, const D: usize = 1> {
    pub(crate) token: Token,
    _elements: PhantomData<fn() -> T>,
}

/// Where [`CommandGroup::prefetch`] brings data.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Destination {
    /// To the queue's device.
    Device,
    /// To the host.
    Host,
}

/// One access as it was made.
struct GroupAccess {
    part: Part,
    mode: Mode,
}

/// Tells most numbers that come for the first time from those that may have come before, so that
/// looking for pairs among many that differ costs little.
#[derive(Default)]
struct Seen(u64);

impl Seen {
    /// True when `number` comes for the first time; `false` is a maybe.
    #[inline]
    fn first(&mut self, number: usize) -> bool {
        let bit = 1 << (number % 64);
        let first = self.0 & bit == 0;
        self.0 |= bit;
        first
    }
}

/// What the group does, before its memory is known.
enum GroupWork {
    Nothing,
    /// Bring the data to the host.
    OnHost,
    /// Until the command has it.
    Kernel(Option<Box<Launch>>),
    /// A copy, a fill or a hint; nothing if it is of no bytes.
    Memory(Box<Action>),
    Task {
        body: HostBody,
        args: SmallVec<[Token; 2]>,
    },
}

/// Drops what another action has replaced, which is an error in the end.
#[cold]
fn apart(before: GroupWork) {
    drop(before);
}

/// A command being described; see [`Queue::submit`](crate::Queue::submit).
pub struct CommandGroup {
    pub(crate) core: Arc<Core>,
    pub(crate) device: u16,
    id: GroupId,
    label: Label,
    timed: bool,
    made: SmallVec<[GroupAccess; 4]>,
    after: SmallVec<[Stamp; 4]>,
    work: GroupWork,
    actions: usize,
    /// Managed pointers that it accesses move with it.
    moves: bool,
    pub(crate) purpose: Purpose,
    /// What few groups have.
    rare: Option<Box<Rare>>,
}

impl CommandGroup {
    pub(crate) fn new(core: &Arc<Core>, device: u16, id: GroupId) -> CommandGroup {
        CommandGroup {
            core: core.clone(),
            device,
            id,
            label: Label::NONE,
            timed: false,
            made: SmallVec::new(),
            after: SmallVec::new(),
            work: GroupWork::Nothing,
            actions: 0,
            moves: false,
            purpose: Purpose::default(),
            rare: None,
        }
    }

    /// That this is group `id`: `build` may have swapped it for one of another runtime.
    pub(crate) fn expect(&self, id: GroupId) -> Result<()> {
        if self.id == id {
            return Ok(());
        }
        Err(Error::ForeignAccess { command: self.label.clone() })
    }

    /// Names the command, for errors and traces.
    pub fn label(&mut self, label: impl Into<Arc<str>>) -> &mut Self {
        self.label = Label::from(label);
        self
    }

    /// Names the command by a name of the program, without an allocation.
    pub(crate) fn named(&mut self, name: &'static &'static str) -> &mut Self {
        self.label = Label::of(name);
        self
    }

    /// Asks for [`Event::timing`]: of what runs on a device by its clock, of a host task by the
    /// host's. A node of a graph has it in each run: [`Event::timing_of`].
    pub fn timed(&mut self) -> &mut Self {
        self.timed = true;
        self
    }

    /// The command starts after `event`, and fails if that failed.
    pub fn after(&mut self, event: &Event) -> &mut Self {
        if let Some(recorded) = event.recorded() {
            self.rare().follows.push(recorded.clone());
        } else if event.core.same(&self.core) {
            self.after.push(event.stamp);
        } else {
            let by = self.used(None, Label::NONE);
            self.refuse(Error::WrongRuntime { what: "event", label: Label::NONE, by });
        }
        self
    }

    /// As [`after`](Self::after), for several.
    pub(crate) fn after_all<'e>(&mut self, events: impl IntoIterator<Item = &'e Event>) {
        for event in events {
            self.after(event);
        }
    }

    /// Where it runs.
    pub(crate) fn domain(&self) -> DomainId {
        match self.is_on_host() {
            true => DomainId::HOST,
            false => self.core.engine.devices[usize::from(self.device)].domain,
        }
    }

    /// The host does it, and not the queue's device.
    pub(crate) fn is_on_host(&self) -> bool {
        matches!(self.work, GroupWork::OnHost | GroupWork::Task { .. })
    }

    /// Its data goes to the host.
    pub(crate) fn bring_to_host(&mut self) -> &mut Self {
        self.act(GroupWork::OnHost);
        self
    }

    /// The managed pointers that it accesses, each once. Its caller moves them with it.
    pub(crate) fn take_managed(&mut self) -> SmallVec<[Arc<StorageHandle>; 4]> {
        self.moves = true;
        let mut all: SmallVec<[Arc<StorageHandle>; 4]> = SmallVec::new();
        for GroupAccess { part, .. } in &self.made {
            let storage = &part.view.storage;
            let known = |other: &Arc<StorageHandle>| other.id == storage.id;
            if storage.managed.get().is_some() && !all.iter().any(known) {
                all.push(storage.clone());
            }
        }
        all
    }

    #[cold]
    fn refuse(&mut self, error: Error) {
        self.rare().wrong.get_or_insert(error);
    }

    /// Where this command uses something, for errors.
    fn used(&self, access: Option<usize>, parameter: Label) -> Option<UseSite> {
        Some(UseSite { command: self.label.clone(), access, parameter })
    }

    fn access(&mut self, part: Part, mode: Mode) -> Token {
        self.access_for(part, mode, || Label::NONE)
    }

    /// An access for a kernel's parameter.
    fn access_for(&mut self, part: Part, mode: Mode, parameter: impl FnOnce() -> Label) -> Token {
        if !part.view.storage.core.same(&self.core) {
            let label = part.view.storage.label.clone();
            let by = self.used(Some(self.made.len()), parameter());
            self.refuse(Error::WrongRuntime { what: "buffer", label, by });
        }
        self.made.push(GroupAccess { part, mode });
        Token { group: self.id, at: self.made.len() - 1 }
    }

    /// The command reads this.
    pub fn read<T: DeviceType, const D: usize>(&mut self, part: impl AsPart<T, D>) -> Read<T, D> {
        let token = self.access(part.as_part(), Mode::Read);
        Read { token, _elements: PhantomData }
    }

    /// The command writes this, and what it does not write keeps its value. So the contents are
    /// copied to where the command runs, although it reads none:
    /// [`discard`](Self::discard) copies nothing.
    pub fn write<T: DeviceType, const D: usize>(
        &mut self,
        mut part: impl AsPartMut<T, D>,
    ) -> Write<T, D> {
        let token = self.access(part.as_part_mut(), Mode::Update);
        Write { token, _elements: PhantomData }
    }

    /// The command reads and writes this.
    pub fn read_write<T: DeviceType, const D: usize>(
        &mut self,
        mut part: impl AsPartMut<T, D>,
    ) -> ReadWrite<T, D> {
        let token = self.access(part.as_part_mut(), Mode::Update);
        ReadWrite { token, _elements: PhantomData }
    }

    /// The command writes this and does not care for what was there: nothing is copied. Elements
    /// that it does not write read as zero or as an earlier value of the buffer.
    pub fn discard<T: DeviceType, const D: usize>(
        &mut self,
        mut part: impl AsPartMut<T, D>,
    ) -> Write<T, D> {
        let token = self.access(part.as_part_mut(), Mode::Discard { whole: false });
        Write { token, _elements: PhantomData }
    }

    /// A host task over these parts.
    pub(crate) fn task_over(
        &mut self,
        parts: impl IntoIterator<Item = (Part, Mode)>,
        body: HostBody,
    ) {
        let args = parts.into_iter().map(|(part, mode)| self.access(part, mode)).collect();
        self.act(GroupWork::Task { body, args });
    }

    /// Sets all of a part to an element, by its bytes.
    pub(crate) fn fill_bytes(&mut self, part: Part, pattern: &[u8]) {
        let to = self.access(part, Mode::Discard { whole: true }).at;
        let pattern = SmallVec::from_slice(pattern);
        self.act_on(Action::Fill { to: self.at(to), pattern });
    }

    fn act(&mut self, work: GroupWork) {
        self.actions += 1;
        let before = std::mem::replace(&mut self.work, work);
        match before {
            // There is nothing to drop, which a look at the variant alone tells here.
            GroupWork::Nothing => std::mem::forget(before),
            _ => apart(before),
        }
    }

    /// Works on memory.
    fn act_on(&mut self, action: Action) {
        self.act(GroupWork::Memory(Box::new(action)));
    }

    fn hint(&mut self, at: usize, hint: Hint) {
        self.act_on(Action::Hint { at: self.at(at), hint });
    }

    /// Runs `kernel` for every item of `range`, on the queue's device.
    ///
    /// `args` are accesses of this group, one or a tuple; the kernel gets views of them. A view
    /// reads anywhere in its access, and writes at its own item only, so kernels are free of data
    /// races. Reading outside of an access fails the command.
    ///
    /// A kernel computes and does not block. A backend may run it on any thread that is in a call
    /// of the runtime: on the CPU a kernel that is ready, and short by what its earlier launches
    /// took, runs before `submit` returns, because passing it on would take longer. So a kernel
    /// must not take a lock that a thread holds while it submits or waits; that can be a deadlock.
    /// What blocks or locks is a [`host_task`](Self::host_task), which has a thread of its own.
    ///
    /// It cannot wait for the runtime, nor can what it captured when that is dropped:
    /// [`Error::WaitInKernel`].
    pub fn host_kernel<const D: usize, A, F>(&mut self, range: impl Coords<D>, args: A, kernel: F)
    where
        A: KernelArgs<D>,
        F: for<'v> Fn(ClosureItem<'v, D>, A::Views<'v>) + Send + Sync + 'static,
    {
        let range: Dims = crate::buffer::widen(range.coords());
        let geometry = Geometry::new(D as u8, range);
        let kernel = NativeKernel::new(ClosureKernel::<F, A, D>::new(kernel));
        let mut launch = Launch::new(geometry);
        launch.kernel = Some(kernel);
        args.tokens(&mut launch.tokens);
        self.act(GroupWork::Kernel(Some(launch)));
    }

    /// Copies a part to another one of the same extent.
    pub fn copy<T: DeviceType, const D: usize, const E: usize>(
        &mut self,
        from: impl AsPart<T, D>,
        mut to: impl AsPartMut<T, E>,
    ) {
        self.copy_part(from.as_part(), to.as_part_mut());
    }

    /// Copies a part to one of as many elements.
    pub(crate) fn copy_part(&mut self, from: Part, to: Part) {
        let from = self.access(from, Mode::Read).at;
        let to = self.access(to, Mode::Discard { whole: true }).at;
        self.check_copy(from, to);
        self.act_on(Action::Copy { from: self.at(from), to: self.at(to) });
    }

    /// Copies a slice, row after row, to a part with as many elements. The slice is free at once.
    pub fn copy_from_slice<T: DeviceType, const D: usize>(
        &mut self,
        from: &[T],
        mut to: impl AsPartMut<T, D>,
    ) {
        let to = self.access(to.as_part_mut(), Mode::Discard { whole: true }).at;
        let target = self.made[to].part.clone();
        if target.part.volume() != from.len() {
            self.refuse(Error::Mismatch {
                what: "command",
                label: self.label.clone(),
                source_extent: vec![from.len()],
                target: target.view.visible(target.part.extent()),
                needed: None,
            });
        }
        match Staging::of(bytes_of(from)) {
            Some(staging) => {
                let target = self.shape(to);
                let dims = target.part.extent();
                let source = Shape { dims, part: Box3::whole(dims), ..target };
                let from = MemRect::of(End::Host(Arc::new(staging)), &source);
                self.act_on(Action::Copy { from, to: self.at(to) });
            }
            None => self.refuse(Error::OutOfMemory {
                device: "host".to_owned(),
                what: "copy of a slice",
                label: self.label.clone(),
                asked: size_of_val(from) as u64,
                in_use: self.core.engine.host_budget.in_use(),
                limit: self.core.engine.host_budget.limit(),
            }),
        }
    }

    fn check_copy(&mut self, from: usize, to: usize) {
        let (from, to) = (&self.made[from].part, &self.made[to].part);
        if from.part.extent() != to.part.extent() {
            let source_extent = from.view.visible(from.part.extent());
            let target = to.view.visible(to.part.extent());
            let label = self.label.clone();
            let what = "command";
            self.refuse(Error::Mismatch { what, label, source_extent, target, needed: None });
        }
    }

    /// Sets every element of a part to `value`.
    pub fn fill<T: DeviceType, const D: usize>(&mut self, mut to: impl AsPartMut<T, D>, value: T) {
        let to = self.access(to.as_part_mut(), Mode::Discard { whole: true }).at;
        let pattern = SmallVec::from_slice(bytes_of(&[value]));
        self.act_on(Action::Fill { to: self.at(to), pattern });
    }

    /// Brings a part of a buffer to the queue's device or to the host, ahead of its use. Of a
    /// [`Usm`](crate::Usm), which stays where it is, the backend is told that its device is going
    /// to use the part.
    ///
    /// ```
    /// # fn example(q: &folio_core::Queue, x: &folio_core::Buffer<f32>) -> folio_core::Result<()> {
    /// use folio_core::Destination;
    ///
    /// q.submit(|cg| {
    ///     cg.prefetch(x, Destination::Host);
    ///     Ok(())
    /// })?; // a later `x.read()` finds its data there
    /// # Ok(())
    /// # }
    /// ```
    pub fn prefetch<T: DeviceType, const D: usize>(
        &mut self,
        part: impl AsPart<T, D>,
        to: Destination,
    ) {
        let part = part.as_part();
        let stays = part.view.storage.home().is_some();
        let at = self.access(part, Mode::Read).at;
        match to {
            Destination::Device if stays => self.hint(at, Hint::Prefetch),
            Destination::Device => self.act(GroupWork::Nothing),
            Destination::Host => self.act(GroupWork::OnHost),
        }
    }

    /// Names a part for the engine, which reads its place out of the command.
    pub(crate) fn name_part<T: DeviceType, const D: usize>(&mut self, part: impl AsPart<T, D>) {
        let at = self.access(part.as_part(), Mode::Read).at;
        self.hint(at, Hint::Prefetch);
    }

    /// Tells the backend how a part of a [`Usm`](crate::Usm) is going to be used.
    pub fn advise<T: DeviceType, const D: usize>(
        &mut self,
        part: impl AsPart<T, D>,
        advice: Advice,
    ) {
        let part = part.as_part();
        if part.view.storage.home().is_none() {
            let why = format!("buffer {} moves, and is no USM", part.view.storage.label);
            self.refuse(Error::Configuration { what: "advice", why });
        }
        let at = self.access(part, Mode::Read).at;
        self.hint(at, Hint::Advise(advice));
    }

    /// What a scheduler may know: the name, the launch range, and what is accessed.
    pub(crate) fn for_scheduler(&self) -> (&str, Option<Dims>, SmallVec<[Access; 4]>) {
        let accesses = self.made.iter().map(|made| {
            let (elements, _) = made.part.view.in_storage(&made.part.part);
            let storage = &made.part.view.storage;
            Access::new((storage.id, &storage.grid), elements, made.mode, DomainId::HOST)
        });
        let range = match &self.work {
            GroupWork::Kernel(launch) => launch.as_ref().map(|launch| launch.geometry.range),
            _ => None,
        };
        (self.label.as_str(), range, accesses.collect())
    }
}

impl CommandGroup {
    /// The kernel function that it launches, and for how many items.
    pub(crate) fn kernel(&self) -> Option<(Arc<str>, usize)> {
        let GroupWork::Kernel(Some(launch)) = &self.work else { return None };
        Some((launch.function.as_ref()?.code.name.clone(), launch.geometry.items()))
    }
}

impl std::fmt::Debug for CommandGroup {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let accesses = count(self.made.len() as u64, "access");
        write!(f, "CommandGroup {} with {accesses}", self.label)
    }
}
