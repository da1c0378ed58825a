//! Moves and tasks as commands: what all executors have in common.

use super::future::ManagedFuture;
use super::pointer::{ManagedPtr, Permission, ReadOnly, ReadWrite};
use super::whereabouts::{Ticket, held};
use super::{ManagedArray, ManagedVec};
use crate::buffer::StorageHandle;
use crate::element::DeviceType;
use crate::engine::threads::wait::in_task_of;
use crate::error::{Error, Result};
use crate::event::Event;
use crate::foreign::in_kernel;
use crate::group::{CommandGroup, Read, ReadWrite as ReadWriteAccess};
use crate::pages::DomainId;
use crate::queue::Queue;
use crate::views::HostArgs;
use smallvec::SmallVec;
use std::sync::Arc;

/// Managed pointers that move together: one by reference, a tuple, an array or a slice of them.
///
/// Containers count as pointers: [`ManagedVec`], [`ManagedArray`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no managed pointer, and no tuple or slice of such",
    note = "write `&pointer`, `(&a, &b)` or `[&a, &b]`"
)]
pub trait Pointers {
    /// Declares them as what a command brings.
    #[doc(hidden)]
    fn declare(&self, cg: &mut CommandGroup);
}

/// What a task on the host gets: `&ManagedPtr<T>` is a view to write, `&ManagedPtr<T, ReadOnly>`
/// one to read; also a tuple or an array of them.
#[diagnostic::on_unimplemented(
    message = "a task cannot be given `{Self}`",
    note = "write `&pointer`, `(&a, &b)` or `[&a, &b]`"
)]
pub trait TaskArgs {
    /// The accesses that they become.
    type Accesses: HostArgs;
    /// Declares them as what a command accesses.
    #[doc(hidden)]
    fn accesses(self, cg: &mut CommandGroup) -> Self::Accesses;
}

/// Pointers and containers by reference.
macro_rules! pointers {
    ($([$($g:tt)*] $of:ty;)*) => {$(
        impl<T: DeviceType, $($g)*> Pointers for &$of {
            fn declare(&self, cg: &mut CommandGroup) {
                cg.read(*self);
            }
        }
    )*};
}
pointers! {
    [U: Permission] ManagedPtr<T, U>;
    [const N: usize] ManagedArray<T, N>;
    [] ManagedVec<T>;
}

/// The same, as what a task gets.
macro_rules! task_args {
    ($([$($g:tt)*] $of:ty: $access:ident, $declare:ident;)*) => {$(
        impl<T: DeviceType, $($g)*> TaskArgs for &$of {
            type Accesses = $access<T>;
            fn accesses(self, cg: &mut CommandGroup) -> $access<T> {
                cg.$declare(self)
            }
        }
    )*};
}
task_args! {
    [] ManagedPtr<T, ReadWrite>: ReadWriteAccess, read_write;
    [] ManagedPtr<T, ReadOnly>: Read, read;
    [const N: usize] ManagedArray<T, N>: ReadWriteAccess, read_write;
    [] ManagedVec<T>: ReadWriteAccess, read_write;
}

impl<P: Pointers> Pointers for &[P] {
    fn declare(&self, cg: &mut CommandGroup) {
        self.iter().for_each(|pointers| pointers.declare(cg));
    }
}

impl<P: Pointers, const N: usize> Pointers for [P; N] {
    fn declare(&self, cg: &mut CommandGroup) {
        self.iter().for_each(|pointers| pointers.declare(cg));
    }
}

impl<A: TaskArgs, const N: usize> TaskArgs for [A; N] {
    type Accesses = [A::Accesses; N];
    fn accesses(self, cg: &mut CommandGroup) -> Self::Accesses {
        self.map(|pointer| pointer.accesses(cg))
    }
}

impl Pointers for () {
    fn declare(&self, _: &mut CommandGroup) {}
}

impl TaskArgs for () {
    type Accesses = ();
    fn accesses(self, _: &mut CommandGroup) {}
}

macro_rules! tuples {
    ($($($name:ident)+;)*) => {$(
        #[allow(non_snake_case, reason = "the type parameters name the values")]
        impl<$($name: Pointers),+> Pointers for ($($name,)+) {
            fn declare(&self, cg: &mut CommandGroup) {
                let ($($name,)+) = self;
                $($name.declare(cg);)+
            }
        }
        #[allow(non_snake_case, reason = "the type parameters name the values")]
        impl<$($name: TaskArgs),+> TaskArgs for ($($name,)+) {
            type Accesses = ($($name::Accesses,)+);
            fn accesses(self, cg: &mut CommandGroup) -> Self::Accesses {
                let ($($name,)+) = self;
                ($($name.accesses(cg),)+)
            }
        }
    )*};
}
tuples! {
    A; A B; A B C; A B C D; A B C D E; A B C D E F; A B C D E F G; A B C D E F G H;
}

/// An [`Executor`](super::Executor) or a [`HostExecutor`](super::HostExecutor), with any policies.
pub trait AnyExecutor: sealed::Sealed {
    #[doc(hidden)]
    fn agent(&self) -> &Agent;
}

pub(super) mod sealed {
    pub trait Sealed {}
}

/// What executors have in common.
#[doc(hidden)]
#[derive(Clone, Debug)]
pub struct Agent {
    pub(super) queue: Queue,
    /// It runs tasks on the host, whatever the queue's device.
    pub(super) on_host: bool,
}

impl Agent {
    /// The memory that its tasks use.
    pub(super) fn domain(&self) -> DomainId {
        if self.on_host {
            return DomainId::HOST;
        }
        let device = self.queue.device();
        device.core.engine.devices[usize::from(device.at)].domain
    }

    /// Moves pointers here.
    pub(super) fn put(
        &self,
        after: Option<&ManagedFuture>,
        pointers: &dyn Pointers,
    ) -> ManagedFuture {
        if self.on_host {
            return self.get(after, pointers);
        }
        self.submit(after, true, &mut |cg| {
            cg.named(&"put");
            pointers.declare(cg);
            Ok(())
        })
    }

    /// Moves pointers to the host.
    pub(super) fn get(
        &self,
        after: Option<&ManagedFuture>,
        pointers: &dyn Pointers,
    ) -> ManagedFuture {
        self.submit(after, true, &mut |cg| {
            cg.named(&"get").bring_to_host();
            pointers.declare(cg);
            Ok(())
        })
    }

    /// Submits what `build` describes, after a future; with `moves`, the managed pointers that it
    /// accesses move there with it.
    pub(super) fn submit(
        &self,
        after: Option<&ManagedFuture>,
        moves: bool,
        build: &mut dyn FnMut(&mut CommandGroup) -> Result<()>,
    ) -> ManagedFuture {
        ManagedFuture { result: self.try_submit(after, moves, build) }
    }

    fn try_submit(
        &self,
        after: Option<&ManagedFuture>,
        moves: bool,
        build: &mut dyn FnMut(&mut CommandGroup) -> Result<()>,
    ) -> Result<Event> {
        let after = after.map(ManagedFuture::event).transpose()?;
        let mut trip = Trip::default();
        let event = self.queue.submit(|cg| {
            cg.after_all(after);
            build(cg)?;
            refuse_known_failure(cg, after)?;
            if moves { trip.begin(cg) } else { Ok(()) }
        })?;
        trip.end(&event, &self.queue);
        Ok(event)
    }
}

/// Refuses what is known to fail, of a lost device or after a failed future. Submitted, it would
/// leave all that it writes unknown.
fn refuse_known_failure(cg: &CommandGroup, after: Option<&Event>) -> Result<()> {
    let device = (!cg.domain().is_host()).then_some(usize::from(cg.device));
    let after = after.filter(|event| event.core.same(&cg.core));
    let failure = cg.core.engine.enter(|ledger| {
        let lost = device.and_then(|at| ledger.topology.device_lost[at].clone());
        lost.or_else(|| ledger.timeline.failure(after?.stamp).cloned())
    });
    failure.map_or(Ok(()), |failure| Err(Error::failed(failure)))
}

/// Whether a device, or the host, can have access to a pointer. One in memory that a device and the
/// host share stays there: a backend does not know the memory of another one's device.
pub(super) fn reaches(storage: &StorageHandle, on_host: bool, domain: DomainId) -> bool {
    storage.home().is_none_or(|home| on_host || home == domain)
}

/// The error of a pointer in memory that a device shares, on another device.
#[cold]
pub(super) fn out_of_reach(storage: &StorageHandle, device: &str) -> Error {
    let home = storage.home().map(|home| storage.core.engine.domain_name(home));
    let place = format!("in memory that {} and the host share", home.unwrap_or_default());
    Error::Inaccessible { pointer: storage.label.clone(), wanted: device.to_owned(), place }
}

/// Tasks do not move pointers: they may be using them, and a move would wait for the task itself.
pub(super) fn refuse_in_task(storage: &StorageHandle) -> Result<()> {
    if in_kernel() || in_task_of(&storage.core.engine) {
        return Err(Error::MoveInTask { pointer: storage.label.clone() });
    }
    Ok(())
}

/// The pointers that one command moves. Dropped before its end, they stay where they were.
#[derive(Default)]
struct Trip(SmallVec<[(Arc<StorageHandle>, Option<Ticket>); 4]>);

impl Trip {
    fn begin(&mut self, cg: &mut CommandGroup) -> Result<()> {
        let to = cg.domain();
        for storage in cg.take_managed() {
            let Some(managed) = storage.managed.get() else { continue };
            refuse_in_task(&storage)?;
            if !reaches(&storage, cg.is_on_host(), to) {
                let device = &cg.core.engine.devices[usize::from(cg.device)];
                return Err(out_of_reach(&storage, &device.name));
            }
            let ticket = managed.begin(to).map_err(|_| held(&storage.label))?;
            self.0.push((storage, ticket));
        }
        Ok(())
    }

    fn end(mut self, event: &Event, by: &Queue) {
        for (storage, ticket) in self.0.drain(..) {
            if let Some(managed) = storage.managed.get() {
                managed.moved(ticket, event, by);
            }
        }
    }
}

impl Drop for Trip {
    fn drop(&mut self) {
        for (storage, ticket) in &self.0 {
            if let Some(managed) = storage.managed.get() {
                managed.stayed(*ticket);
            }
        }
    }
}
