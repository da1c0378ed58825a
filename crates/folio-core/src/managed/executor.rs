//! Executors: where tasks over managed pointers run, and where pointers move.

use super::future::ManagedFuture;
use super::moves::{Agent, AnyExecutor, Pointers, TaskArgs, sealed};
use super::policy::{ByAccess, Implicit, Movement, Ordering};
use crate::allocator::HostAllocator;
use crate::call::{AnyCall, KernelCall};
use crate::engine::terms::lender::Program;
use crate::error::Result;
use crate::group::{CommandGroup, TaskResult};
use crate::hal::Geometry;
use crate::items::IntoItems;
use crate::pages::DomainId;
use crate::queue::Queue;
use crate::runtime::{DeviceRef, Runtime};
use crate::select::Selector;
use crate::views::HostArgs;
use folio_device::Kernel;
use std::marker::PhantomData;
use std::sync::Arc;

/// Runs kernels over managed pointers on one device. Cheap to clone.
///
/// Its policies are types: [`Movement`] says who moves the pointers of a task, [`Ordering`] in
/// which order operations run.
///
/// ```
/// use folio_core::managed::{Executor, Explicit, Sequential};
/// # fn example(rt: &folio_core::Runtime) -> folio_core::Result<()> {
/// let usual = rt.executor("cpu")?;
/// let strict = Executor::<Explicit, Sequential>::on(rt, "cpu")?;
/// # drop((usual, strict));
/// # Ok(())
/// # }
/// ```
pub struct Executor<M = Implicit, O = ByAccess> {
    agent: Agent,
    _policies: PhantomData<fn() -> (M, O)>,
}

/// Runs closures over managed pointers on threads of the host. Cheap to clone.
pub struct HostExecutor<M = Implicit, O = ByAccess> {
    agent: Agent,
    _policies: PhantomData<fn() -> (M, O)>,
}

/// Where a managed pointer begins: [`Runtime::managed_in`].
///
/// On a device ([`Executor::allocator`]), in a device's memory that the host shares
/// ([`Executor::shared_allocator`]), or on the host, in memory of a [`HostAllocator`] of the
/// program's: `Allocator::from(&pool)`, of an `Arc`, or `&pool` itself.
#[derive(Clone, Debug)]
pub struct Allocator(pub(super) Begins);

/// In which memory a pointer begins.
#[derive(Clone, Debug)]
pub(super) enum Begins {
    /// A device's own.
    On(Queue, DomainId),
    /// A device's that the host shares.
    Shared(DeviceRef),
    /// The host's, from an allocator of the program.
    With(Program),
}

impl From<&Allocator> for Allocator {
    fn from(allocator: &Allocator) -> Allocator {
        allocator.clone()
    }
}

impl<A: HostAllocator + 'static> From<&Arc<A>> for Allocator {
    fn from(allocator: &Arc<A>) -> Allocator {
        Allocator(Begins::With(Program::new(allocator.clone())))
    }
}

impl Runtime {
    /// An executor of a device, with the usual policies.
    pub fn executor(&self, selector: impl Into<Selector>) -> Result<Executor> {
        Executor::on(self, selector)
    }

    /// An executor of the host, with the usual policies.
    pub fn host_executor(&self) -> Result<HostExecutor> {
        HostExecutor::of(self)
    }

    fn agent<O: Ordering>(&self, selector: Selector, on_host: bool) -> Result<Agent> {
        let queue =
            if O::IN_ORDER { self.in_order_queue_on(selector)? } else { self.queue_on(selector)? };
        Ok(Agent { queue, on_host })
    }
}

macro_rules! common {
    ($name:ident) => {
        impl<M, O> Clone for $name<M, O> {
            fn clone(&self) -> Self {
                $name { agent: self.agent.clone(), _policies: PhantomData }
            }
        }

        impl<M, O> std::fmt::Debug for $name<M, O> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                let engine = &self.agent.queue.inner.core.engine;
                write!(f, "{} on {}", stringify!($name), engine.domain_name(self.agent.domain()))
            }
        }

        impl<M, O> sealed::Sealed for $name<M, O> {}
        impl<M, O> AnyExecutor for $name<M, O> {
            fn agent(&self) -> &Agent {
                &self.agent
            }
        }

        impl<M: Movement, O: Ordering> $name<M, O> {
            /// Moves pointers here: from now on the region where they were has no access, and when
            /// the future is done they are accessible here.
            ///
            /// All of each pointer moves, and bytes move only where those here are outdated. In
            /// memory that the old region shares nothing moves.
            pub fn put(&self, pointers: impl Pointers) -> ManagedFuture {
                self.agent.put(None, &pointers)
            }

            /// Moves pointers to the host.
            pub fn get(&self, pointers: impl Pointers) -> ManagedFuture {
                self.agent.get(None, &pointers)
            }

            /// As [`put`](Self::put), after a future; with its failure, if it fails.
            pub fn then_put(
                &self,
                after: &ManagedFuture,
                pointers: impl Pointers,
            ) -> ManagedFuture {
                self.agent.put(Some(after), &pointers)
            }

            /// As [`get`](Self::get), after a future; with its failure, if it fails.
            pub fn then_get(
                &self,
                after: &ManagedFuture,
                pointers: impl Pointers,
            ) -> ManagedFuture {
                self.agent.get(Some(after), &pointers)
            }

            /// True when both use one memory: between them pointers do not move.
            pub fn shares_memory_with(&self, other: &impl AnyExecutor) -> bool {
                let (mine, theirs) = (&self.agent, other.agent());
                mine.queue.inner.core.same(&theirs.queue.inner.core)
                    && mine.domain() == theirs.domain()
            }

            /// Its queue: for commands over buffers, and to wait for all that it has been given.
            pub fn queue(&self) -> &Queue {
                &self.agent.queue
            }
        }
    };
}
common!(Executor);
common!(HostExecutor);

impl<M: Movement, O: Ordering> Executor<M, O> {
    /// An executor of a device, with these policies.
    pub fn on(runtime: &Runtime, selector: impl Into<Selector>) -> Result<Executor<M, O>> {
        let agent = runtime.agent::<O>(selector.into(), false)?;
        Ok(Executor { agent, _policies: PhantomData })
    }

    /// Its device.
    pub fn device(&self) -> DeviceRef {
        self.agent.queue.device()
    }

    /// Makes managed pointers that begin on its device.
    pub fn allocator(&self) -> Allocator {
        Allocator(Begins::On(self.agent.queue.clone(), self.agent.domain()))
    }

    /// Makes managed pointers in memory that its device and the host share
    /// ([`UsmKind::Shared`](crate::UsmKind::Shared)): a region of its own, in which both have
    /// access and nothing moves. A device without such memory answers
    /// [`Error::Unsupported`](crate::Error::Unsupported) when a pointer is made.
    ///
    /// ```
    /// # fn example(rt: &folio_core::Runtime) -> folio_core::Result<()> {
    /// let gpu = rt.executor("gpu")?;
    /// let x = rt.managed_in::<f32>(&gpu.shared_allocator(), 1024)?;
    /// x.write()?[0] = 2.0;
    /// gpu.put(&x).wait()?; // moves nothing
    /// assert!(x.is_accessible() && x.is_accessible_on(&gpu));
    /// # Ok(())
    /// # }
    /// ```
    pub fn shared_allocator(&self) -> Allocator {
        Allocator(Begins::Shared(self.device()))
    }

    /// Runs a kernel call for `items`; the paper's `async`. Managed pointers among its arguments
    /// move here by themselves ([`Implicit`]).
    ///
    /// ```
    /// use folio_core::ir::device::Kernel;
    /// use folio_core::{managed::Executor, KernelCall, Result};
    ///
    /// fn once<K: Kernel>(gpu: &Executor, call: KernelCall<K, 1>) -> Result<()> {
    ///     gpu.run(1000, call).wait()
    /// }
    /// ```
    pub fn run<K: Kernel, const D: usize>(
        &self,
        items: impl IntoItems<D>,
        call: KernelCall<K, D>,
    ) -> ManagedFuture {
        self.launch(None, &items.into_items().geometry(), call.any)
    }

    /// As [`run`](Self::run), after a future; with its failure, if it fails.
    pub fn then_async<K: Kernel, const D: usize>(
        &self,
        after: &ManagedFuture,
        items: impl IntoItems<D>,
        call: KernelCall<K, D>,
    ) -> ManagedFuture {
        self.launch(Some(after), &items.into_items().geometry(), call.any)
    }

    fn launch(
        &self,
        after: Option<&ManagedFuture>,
        items: &Geometry,
        mut call: AnyCall,
    ) -> ManagedFuture {
        self.agent.submit(after, M::IMPLICIT, &mut |cg| {
            cg.run_here(items, &mut call);
            Ok(())
        })
    }

    /// Submits any command group: managed pointers among its accesses move to where it runs, as by
    /// [`run`](Self::run).
    pub fn submit(&self, build: impl FnOnce(&mut CommandGroup) -> Result<()>) -> ManagedFuture {
        let mut build = Some(build);
        self.agent.submit(None, M::IMPLICIT, &mut |cg| build.take().map_or(Ok(()), |f| f(cg)))
    }
}

impl<M: Movement, O: Ordering> HostExecutor<M, O> {
    /// An executor of the host, with these policies.
    pub fn of(runtime: &Runtime) -> Result<HostExecutor<M, O>> {
        let agent = runtime.agent::<O>(Selector::any(), true)?;
        Ok(HostExecutor { agent, _policies: PhantomData })
    }

    /// Runs a closure once on a thread of the host. Pointers move to the host by themselves
    /// ([`Implicit`]), and the closure gets views of them. It may block.
    ///
    /// ```
    /// # fn example(rt: &folio_core::Runtime) -> folio_core::Result<()> {
    /// let (host, x) = (rt.host_executor()?, rt.managed_from(vec![3, 1, 2])?);
    /// host.run(&x, |mut x| x.sort()).wait()?;
    /// assert_eq!(x.read()?[..], [1, 2, 3]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn run<A, F, R>(&self, pointers: A, task: F) -> ManagedFuture
    where
        A: TaskArgs,
        F: for<'v> FnOnce(<A::Accesses as HostArgs>::Views<'v>) -> R + Send + 'static,
        R: TaskResult,
    {
        self.task(None, pointers, task)
    }

    /// As [`run`](Self::run), after a future; with its failure, if it fails.
    pub fn then_async<A, F, R>(&self, after: &ManagedFuture, pointers: A, task: F) -> ManagedFuture
    where
        A: TaskArgs,
        F: for<'v> FnOnce(<A::Accesses as HostArgs>::Views<'v>) -> R + Send + 'static,
        R: TaskResult,
    {
        self.task(Some(after), pointers, task)
    }

    fn task<A, F, R>(&self, after: Option<&ManagedFuture>, pointers: A, task: F) -> ManagedFuture
    where
        A: TaskArgs,
        F: for<'v> FnOnce(<A::Accesses as HostArgs>::Views<'v>) -> R + Send + 'static,
        R: TaskResult,
    {
        let mut given = Some((pointers, task));
        self.agent.submit(after, M::IMPLICIT, &mut |cg| {
            if let Some((pointers, task)) = given.take() {
                let accesses = pointers.accesses(cg);
                cg.host_task(accesses, task);
            }
            Ok(())
        })
    }
}
