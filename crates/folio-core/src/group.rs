//! Command groups: what a command accesses, and what it does.

mod interop;
mod opaque;
mod run;

pub(crate) use run::grouped;

use crate::buffer::{AsPart, AsPartMut, Part, View};
use crate::call::Function;
use crate::element::{DeviceType, bytes_of};
use crate::engine::access::{Access, Mode};
use crate::engine::command::{Action, Command, End, HostBody, Place, Shape};
use crate::engine::launch::Launch;
use crate::engine::staging::Staging;
use crate::engine::stamp::Stamp;
use crate::error::{Cause, Error, Label, Result};
use crate::event::Event;
use crate::geom::{Box3, Dims};
use crate::hal::{Advice, Geometry, Hint, HostPtr, MemBase, MemRef, NativeKernel, Param, ParamPtr};
use crate::pages::DomainId;
use crate::runtime::Core;
use crate::usm::{UsmPtr, UsmRows};
use crate::views::{ClosureItem, ClosureKernel, HostArgs, KernelArgs, Token};
use smallvec::SmallVec;
use std::cell::Cell;
use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Names a command group, so that its accesses cannot be used in another one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct GroupId(u64);

impl GroupId {
    /// From a range of the thread's own, so that threads do not share a counter.
    pub(crate) fn next() -> GroupId {
        const RANGE: u64 = 1 << 20;
        static NEXT: AtomicU64 = AtomicU64::new(0);
        thread_local!(static LAST: Cell<u64> = const { Cell::new(0) });
        let last = LAST.get();
        let next = match last % RANGE {
            0 => NEXT.fetch_add(RANGE, Ordering::Relaxed),
            _ => last,
        };
        LAST.set(next + 1);
        GroupId(next)
    }
}

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

/// One access as it was made.
struct Made {
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
enum Doing {
    Nothing,
    /// Bring the data to the host.
    OnHost,
    /// Until the command has it.
    Kernel(Option<Box<Launch>>),
    Copy {
        from: usize,
        to: usize,
    },
    Upload {
        from: Arc<Staging>,
        to: usize,
    },
    Fill {
        to: usize,
        pattern: SmallVec<[u8; 16]>,
    },
    Hint {
        at: usize,
        hint: Hint,
    },
    /// With raw memory: known from the start.
    Raw(Box<Action>),
    Task {
        body: HostBody,
        args: SmallVec<[Token; 2]>,
    },
}

/// A command being described; see [`Queue::submit`](crate::Queue::submit).
pub struct CommandGroup {
    pub(crate) core: Arc<Core>,
    pub(crate) device: u16,
    id: GroupId,
    label: Label,
    timed: bool,
    made: SmallVec<[Made; 4]>,
    after: SmallVec<[Stamp; 4]>,
    /// Of the events that those stamps are from.
    pins: Vec<Arc<u32>>,
    doing: Doing,
    actions: usize,
    wrong: Option<Error>,
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
            pins: Vec::new(),
            doing: Doing::Nothing,
            actions: 0,
            wrong: None,
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

    /// Asks for [`Event::timing`].
    pub fn timed(&mut self) -> &mut Self {
        self.timed = true;
        self
    }

    /// The command starts after `event`, and fails if that failed.
    pub fn after(&mut self, event: &Event) -> &mut Self {
        if event.core.same(&self.core) {
            self.after.push(event.stamp);
            self.pins.extend(event.pin.clone());
        } else {
            self.refuse(Error::WrongRuntime { what: "event", label: Label::NONE });
        }
        self
    }

    fn refuse(&mut self, error: Error) {
        self.wrong.get_or_insert(error);
    }

    fn access(&mut self, part: Part, mode: Mode) -> Token {
        if !part.view.storage.core.same(&self.core) {
            let label = part.view.storage.label.clone();
            self.refuse(Error::WrongRuntime { what: "buffer", label });
        }
        self.made.push(Made { part, mode });
        Token { group: self.id, at: self.made.len() - 1 }
    }

    /// The command reads this.
    pub fn read<T: DeviceType, const D: usize>(&mut self, part: impl AsPart<T, D>) -> Read<T, D> {
        let token = self.access(part.as_part(), Mode::Read);
        Read { token, _elements: PhantomData }
    }

    /// The command writes this, and what it does not write keeps its value.
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

    fn act(&mut self, doing: Doing) {
        self.actions += 1;
        self.doing = doing;
    }

    /// Runs `kernel` for every item of `range`, on the queue's device.
    ///
    /// `args` are accesses of this group, one or a tuple; the kernel gets views of them. A view
    /// reads anywhere in its access, and writes at its own item only, so kernels are free of data
    /// races. Reading outside of an access fails the command.
    ///
    /// A kernel computes and does not block. A backend may run it on any thread that is in a call of
    /// the runtime: on the CPU a short kernel that is ready runs before `submit` returns, because
    /// passing it on would take longer. So a kernel must not take a lock that a thread holds while it
    /// submits or waits; that can be a deadlock. What blocks or locks is a
    /// [`host_task`](Self::host_task), which has a thread of its own.
    ///
    /// It cannot wait for the runtime, nor can what it captured when that is dropped:
    /// [`Error::WaitInKernel`].
    pub fn host_kernel<const D: usize, A, F>(&mut self, range: [usize; D], args: A, kernel: F)
    where
        A: KernelArgs<D>,
        F: for<'v> Fn(ClosureItem<'v, D>, A::Views<'v>) + Send + Sync + 'static,
    {
        let range: Dims = crate::buffer::widen(range);
        let geometry = Geometry::new(D as u8, range);
        let kernel = NativeKernel::new(ClosureKernel::<F, A, D>::new(kernel));
        let mut launch = Launch::new(geometry);
        launch.kernel = Some(kernel);
        args.tokens(&mut launch.tokens);
        self.act(Doing::Kernel(Some(launch)));
    }

    /// Runs `task` once on a thread of the host, with the accesses' data in the host's memory.
    ///
    /// The task may block and may use the runtime. It may return `()` or a `Result`, or not at all; an
    /// error and a panic are failures of the command.
    pub fn host_task<A, F, R>(&mut self, args: A, task: F)
    where
        A: HostArgs,
        F: for<'v> FnOnce(A::Views<'v>) -> R + Send + 'static,
        R: TaskResult,
    {
        let mut tokens = SmallVec::new();
        args.tokens(&mut tokens);
        let body = move |params: &[ParamPtr]| {
            // SAFETY: the engine gives the parameters in the order of the tokens, has brought their
            // data, and keeps everybody else away while the task runs.
            let views = unsafe { A::views(params) };
            task(views).into_cause()
        };
        self.act(Doing::Task { body: Box::new(body), args: tokens });
    }

    /// Copies a part to another one of the same extent.
    pub fn copy<T: DeviceType, const D: usize, const E: usize>(
        &mut self,
        from: impl AsPart<T, D>,
        mut to: impl AsPartMut<T, E>,
    ) {
        let from = self.access(from.as_part(), Mode::Read).at;
        let to = self.access(to.as_part_mut(), Mode::Discard { whole: true }).at;
        self.check_copy(from, to);
        self.act(Doing::Copy { from, to });
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
                command: self.label.clone(),
                source_extent: vec![from.len()],
                target: target.view.visible(target.part.extent()),
            });
        }
        match Staging::of(bytes_of(from)) {
            Some(staging) => self.act(Doing::Upload { from: Arc::new(staging), to }),
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
            self.refuse(Error::Mismatch { command: self.label.clone(), source_extent, target });
        }
    }

    /// Sets every element of a part to `value`.
    pub fn fill<T: DeviceType, const D: usize>(&mut self, mut to: impl AsPartMut<T, D>, value: T) {
        let to = self.access(to.as_part_mut(), Mode::Discard { whole: true }).at;
        let pattern = SmallVec::from_slice(bytes_of(&[value]));
        self.act(Doing::Fill { to, pattern });
    }

    /// Says that the queue's device is going to use a part: brings it there, as
    /// [`update`](Self::update) does, and passes the hint on to the backend.
    pub fn prefetch<T: DeviceType, const D: usize>(&mut self, part: impl AsPart<T, D>) {
        let at = self.access(part.as_part(), Mode::Read).at;
        self.act(Doing::Hint { at, hint: Hint::Prefetch });
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
        self.act(Doing::Hint { at, hint: Hint::Advise(advice) });
    }

    /// Copies between raw memory: `extent` is bytes; rows and bytes; or slices, rows and bytes.
    ///
    /// # Safety
    /// The source is initialised. The two do not overlap, and nobody else uses their memory against
    /// the command: order is the caller's, with [`after`](Self::after). Memory of
    /// [`Runtime::host_pointer`](crate::Runtime::host_pointer) lives until the command is done.
    pub unsafe fn copy_raw<const D: usize>(
        &mut self,
        from: impl Into<UsmRows>,
        to: impl Into<UsmRows>,
        extent: [usize; D],
    ) {
        let extent = crate::buffer::widen(extent);
        let (from, to) = (self.place(from.into(), extent), self.place(to.into(), extent));
        self.raw(from.and_then(|from| Ok(Action::Copy { from, to: to? })));
    }

    /// Sets elements in raw memory of the queue's device to `value`: `extent` is elements; rows and
    /// elements; or slices, rows and elements.
    ///
    /// # Safety
    /// As for [`copy_raw`](Self::copy_raw).
    pub unsafe fn fill_raw<T: DeviceType, const D: usize>(
        &mut self,
        to: impl Into<UsmRows>,
        extent: [usize; D],
        value: T,
    ) {
        let to = to.into();
        let pattern = SmallVec::from_slice(bytes_of(&[value]));
        let filled = self.fill_place::<T>(to, crate::buffer::widen(extent));
        self.raw(filled.map(|to| Action::Fill { to, pattern }));
    }

    /// As [`prefetch`](Self::prefetch), of raw memory of the queue's device.
    ///
    /// # Safety
    /// The memory of a [`Runtime::host_pointer`](crate::Runtime::host_pointer) lives until the command
    /// is done.
    pub unsafe fn prefetch_raw(&mut self, at: UsmPtr, bytes: usize) {
        let at = self.place(at.into(), [1, 1, bytes]);
        self.raw(at.map(|at| Action::Hint { at, hint: Hint::Prefetch }));
    }

    /// As [`advise`](Self::advise), of raw memory of the queue's device.
    ///
    /// # Safety
    /// As for [`prefetch_raw`](Self::prefetch_raw).
    pub unsafe fn advise_raw(&mut self, at: UsmPtr, bytes: usize, advice: Advice) {
        let at = self.place(at.into(), [1, 1, bytes]);
        self.raw(at.map(|at| Action::Hint { at, hint: Hint::Advise(advice) }));
    }

    fn raw(&mut self, action: Result<Action>) {
        match action {
            Ok(action) => self.act(Doing::Raw(Box::new(action))),
            Err(error) => self.refuse(error),
        }
    }

    /// A place to fill with elements of type `T`.
    fn fill_place<T: DeviceType>(&self, to: UsmRows, extent: Dims) -> Result<Place> {
        let align = align_of::<T>();
        let steps =
            [Some(to.pointer.place()), to.row.map(|n| n as u64), to.slice.map(|n| n as u64)];
        if let Some(at) =
            steps.into_iter().flatten().find(|step| !step.is_multiple_of(align as u64))
        {
            let label = self.label.clone();
            return Err(Error::Misaligned { what: "command", label, at, align });
        }
        let Some(bytes) = extent[2].checked_mul(size_of::<T>()) else {
            return Err(self.too_large(extent, size_of::<T>()));
        };
        self.place(to, [extent[0], extent[1], bytes])
    }

    fn too_large(&self, extent: Dims, element_bytes: usize) -> Error {
        let (label, extent) = (self.label.clone(), extent.to_vec());
        Error::TooLarge { what: "command", label, extent, element_bytes }
    }

    /// A rectangle of raw memory, in bytes.
    fn place(&self, rows: UsmRows, extent: Dims) -> Result<Place> {
        let UsmRows { pointer, row, slice } = rows;
        pointer.check_runtime(&self.core)?;
        let [slices, count, bytes] = extent;
        let row = row.unwrap_or(bytes);
        let sizes = || {
            let close = row.checked_mul(count)?;
            let slice = slice.unwrap_or(close);
            let one = row.checked_mul(count.saturating_sub(1))?.checked_add(bytes)?;
            let all = slice.checked_mul(slices.saturating_sub(1))?.checked_add(one)?;
            Some((slice, one, all))
        };
        let (slice, one, all) = sizes().ok_or_else(|| self.too_large(extent, 1))?;
        if (count > 1 && row < bytes) || (slices > 1 && slice < one) {
            let why = format!("rows {row} and slices {slice} bytes apart overlap in {extent:?}");
            return Err(Error::Configuration { what: "pitch", why });
        }
        if !extent.contains(&0) && all > pointer.bytes_left() {
            return Err(Error::OutOfRange {
                buffer: Label::from("raw pointer"),
                offset: vec![pointer.at.mem.offset as usize],
                extent: vec![all],
                range: vec![pointer.at.mem.offset as usize + pointer.bytes_left()],
            });
        }
        Ok(Place {
            end: End::Raw(pointer.at),
            offset: 0,
            pitch: [slice as u64, row as u64],
            extent: extent.map(|n| n as u64),
        })
    }

    /// Brings a part to the queue's device, for later.
    pub fn update<T: DeviceType, const D: usize>(&mut self, part: impl AsPart<T, D>) {
        self.access(part.as_part(), Mode::Read);
        self.act(Doing::Nothing);
    }

    /// Brings a part to the host, for later.
    pub fn update_host<T: DeviceType, const D: usize>(&mut self, part: impl AsPart<T, D>) {
        self.access(part.as_part(), Mode::Read);
        self.act(Doing::OnHost);
    }

    /// What a scheduler may know: the name, the launch range, and what is accessed.
    pub(crate) fn for_scheduler(&self) -> (&str, Option<Dims>, SmallVec<[Access; 4]>) {
        let accesses = self.made.iter().map(|made| {
            let (elements, _) = made.part.view.in_storage(&made.part.part);
            let storage = &made.part.view.storage;
            Access::new((storage.id, &storage.grid), elements, made.mode, DomainId::HOST)
        });
        let range = match &self.doing {
            Doing::Kernel(launch) => launch.as_ref().map(|launch| launch.geometry.range),
            _ => None,
        };
        (self.label.as_str(), range, accesses.collect())
    }

    /// Checks everything that does not need the ledger, and completes the command.
    pub(crate) fn finish(&mut self, command: &mut Command) -> Result<()> {
        if let Some(error) = self.wrong.take() {
            return Err(error);
        }
        if self.actions > 1 {
            return Err(Error::Actions { command: self.label.clone(), actions: self.actions });
        }
        let on_host = matches!(self.doing, Doing::OnHost | Doing::Task { .. });
        let entry = &self.core.engine.devices[usize::from(self.device)];
        let place = if on_host { DomainId::HOST } else { entry.domain };
        let mut homes = false;
        for made in &self.made {
            let storage = &*made.part.view.storage;
            let home = storage.home();
            homes |= home.is_some();
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
        if homes {
            self.check_homes(&command.accesses, place, on_host)?;
        }
        match &mut self.doing {
            // Taken from where it lies: what is done is large.
            Doing::Kernel(launch) => {
                let launch = launch.take();
                self.launch(command, launch)?;
            }
            _ => {
                self.check_raw(place)?;
                self.action(command)?;
            }
        }
        command.device = (!on_host).then_some(self.device);
        command.label = std::mem::take(&mut self.label);
        command.timed = self.timed;
        command.after = std::mem::take(&mut self.after);
        Ok(())
    }

    /// Two accesses that share a byte, one of which writes, are an error (whatever the handles).
    fn check_aliasing(&self, accesses: &[Access]) -> Result<()> {
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
                    let buffer = a.part.view.storage.label.clone();
                    return Err(Error::Aliasing { command: self.label.clone(), buffer });
                }
            }
        }
        Ok(())
    }

    /// Kernels reach USM only where it is, even from a device in the host's memory: it is another
    /// backend's to find. Host tasks reach what the host does.
    fn check_homes(&self, accesses: &[Access], place: DomainId, on_host: bool) -> Result<()> {
        if matches!(self.doing, Doing::Copy { .. } | Doing::Upload { .. }) {
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

    /// Fills and hints are for memory of the device itself.
    fn check_raw(&self, place: DomainId) -> Result<()> {
        let Doing::Raw(action) = &self.doing else { return Ok(()) };
        let (Action::Fill { to: at, .. } | Action::Hint { at, .. }) = &**action else {
            return Ok(());
        };
        match &at.end {
            End::Raw(raw) if raw.domain != place => {
                let (home, device) = (raw.domain, place);
                let name = |domain| self.core.engine.domain_name(domain);
                let label = Label::from("raw pointer");
                Err(Error::NotAccessible { label, home: name(home), device: name(device) })
            }
            _ => Ok(()),
        }
    }

    /// An access as a kernel gets it, of memory that is not known yet.
    #[inline]
    fn param(&self, at: usize) -> Param {
        let Made { part: Part { view, part, .. }, mode } = &self.made[at];
        param(view, part, *mode)
    }

    fn shape(&self, at: usize) -> Shape {
        let part = &self.made[at].part;
        let (dims, element_bytes) = (part.view.dims, part.view.element_bytes);
        Shape { dims, element_bytes, part: part.part }
    }

    fn at(&self, access: usize) -> Place {
        Place::of(End::Access(access), &self.shape(access))
    }

    /// Where the access of a token is, given those of the tokens before it.
    fn made_at(&self, token: &Token, before: &[Token], seen: &mut Seen) -> Result<usize> {
        if token.group != self.id {
            return Err(Error::ForeignAccess { command: self.label.clone() });
        }
        let made = &self.made[token.at];
        let again = !seen.first(token.at) && before.iter().any(|t| t.at == token.at);
        if again && made.mode.writes() {
            let buffer = made.part.view.storage.label.clone();
            return Err(Error::Aliasing { command: self.label.clone(), buffer });
        }
        Ok(token.at)
    }

    fn launch(&self, command: &mut Command, launch: Option<Box<Launch>>) -> Result<()> {
        let Some(mut launch) = launch else { return Ok(()) };
        let items = self.check_launch(&launch)?;
        self.check_opaque(&launch)?;
        self.check_foreign(&launch)?;
        let Launch { tokens, params, geometry, .. } = &mut *launch;
        let mut seen = Seen::default();
        for (nth, token) in tokens.iter().enumerate() {
            let at = self.made_at(token, &tokens[..nth], &mut seen)?;
            // Those of a kernel call are there, and checked.
            if params.len() > nth {
                continue;
            }
            params.push(self.param(at));
            let Made { part, mode } = &self.made[at];
            let larger = |d: usize| geometry.range[d] > part.part.max[d] - part.part.min[d];
            if mode.writes() && items > 0 && (larger(0) || larger(1) || larger(2)) {
                return Err(self.launch_too_large(geometry, nth, part));
            }
        }
        if items == 0 {
            // Legal, without effect: also no access takes place.
            command.accesses.clear();
        } else {
            self.choose_form(&mut launch)?;
            command.action = Action::Launch(Some(launch));
        }
        Ok(())
    }

    /// Makes of a kernel function what its device runs.
    fn choose_form(&self, launch: &mut Launch) -> Result<()> {
        let Some(Function { code, native }) = launch.function.take() else { return Ok(()) };
        let engine = &self.core.engine;
        if engine.devices[usize::from(self.device)].info.caps.closures {
            native(code, launch);
        } else {
            launch.loaded = Some(engine.load(self.device, code)?);
        }
        Ok(())
    }

    fn action(&mut self, command: &mut Command) -> Result<()> {
        let accesses = &command.accesses;
        let empty = |at: usize| accesses[at].elements.is_empty();
        command.action = match std::mem::replace(&mut self.doing, Doing::Nothing) {
            Doing::Nothing | Doing::OnHost => Action::Nothing,
            Doing::Kernel(launch) => Action::Launch(launch),
            Doing::Copy { from, .. } if empty(from) => Action::Nothing,
            Doing::Copy { from, to } => Action::Copy { from: self.at(from), to: self.at(to) },
            Doing::Upload { to, .. } | Doing::Fill { to, .. } if empty(to) => Action::Nothing,
            Doing::Upload { from, to } => {
                let target = self.shape(to);
                let dims = target.part.extent();
                let source = Shape { dims, part: Box3::whole(dims), ..target };
                Action::Copy { from: Place::of(End::Host(from), &source), to: self.at(to) }
            }
            Doing::Fill { to, pattern } => Action::Fill { to: self.at(to), pattern },
            Doing::Hint { at, .. } if empty(at) => Action::Nothing,
            Doing::Hint { at, hint } => Action::Hint { at: self.at(at), hint },
            Doing::Raw(action) => match *action {
                Action::Copy { to: at, .. }
                | Action::Fill { to: at, .. }
                | Action::Hint { at, .. }
                    if at.extent.contains(&0) =>
                {
                    Action::Nothing
                }
                action => action,
            },
            Doing::Task { body, args } => {
                let (mut params, mut seen) = (SmallVec::new(), Seen::default());
                for (nth, token) in args.iter().enumerate() {
                    let at = self.made_at(token, &args[..nth], &mut seen)?;
                    params.push((at, self.shape(at)));
                }
                Action::Task { body, params }
            }
        };
        Ok(())
    }

    #[cold]
    fn launch_too_large(&self, geometry: &Geometry, access: usize, part: &Part) -> Error {
        let visible = |dims: &Dims| dims[3 - usize::from(geometry.rank)..].to_vec();
        Error::LaunchTooLarge {
            command: self.label.clone(),
            launch: visible(&geometry.range),
            offset: visible(&geometry.offset),
            access,
            buffer: part.view.storage.label.clone(),
            extent: part.view.visible(part.part.extent()),
        }
    }

    #[cold]
    fn unsupported(&self, what: String) -> Error {
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
            return Err(self.unsupported("kernels that are closures of the host".to_owned()));
        }
        let count = tokens.len() + launch.pointers().len();
        if count > caps.max_params {
            let most = caps.max_params;
            return Err(self.unsupported(format!("{count} parameters, but {most}")));
        }
        crate::geom::checked_volume(geometry.range).ok_or_else(|| Error::TooLarge {
            what: "launch",
            label: self.label.clone(),
            extent: geometry.range.to_vec(),
            element_bytes: 1,
        })
    }
}

/// An access of a part as a kernel gets it, of memory that is not known yet.
#[inline]
fn param(view: &View, part: &Box3, mode: Mode) -> Param {
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

/// What a host task may return.
pub trait TaskResult {
    #[doc(hidden)]
    fn into_cause(self) -> std::result::Result<(), Cause>;
}

impl TaskResult for () {
    fn into_cause(self) -> std::result::Result<(), Cause> {
        Ok(())
    }
}

/// The type `!`, which cannot be written in its place on stable Rust.
type Never = <fn() -> ! as Returns>::Output;

#[doc(hidden)]
pub trait Returns {
    type Output;
}

impl<R> Returns for fn() -> R {
    type Output = R;
}

impl TaskResult for Never {
    fn into_cause(self) -> std::result::Result<(), Cause> {
        self
    }
}

impl<E: Into<Box<dyn std::error::Error + Send + Sync>>> TaskResult for std::result::Result<(), E> {
    fn into_cause(self) -> std::result::Result<(), Cause> {
        self.map_err(|error| Cause::Task(Arc::from(error.into())))
    }
}

impl std::fmt::Debug for CommandGroup {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "CommandGroup {} with {} accesses", self.label, self.made.len())
    }
}
