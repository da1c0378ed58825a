//! Kernels on their way to a lane. A launch is large, so it is written once, where the command is
//! described, and from there on passed by pointer. Its memory is used again by the thread that has
//! handed it over, which as a rule is the one that will submit the next; where it is a courier, it
//! comes back by way of a depot.

use crate::element::bytes_of;
use crate::engine::kernels::fused::Fused;
use crate::engine::kernels::interop::Task;
use crate::engine::kernels::loaded::LoadedKernel;
use crate::engine::terms::access::RawMem;
use crate::error::Label;
use crate::hal::{Args, Argument, Geometry, KernelHandle, KernelRef, NativeKernel, Op, Param};
use crate::token::Token;
use folio_kernel::ParamKind;
use folio_kernel::checks::Check;
use folio_kernel::code::Code;
use smallvec::SmallVec;
use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::sync::{Arc, Mutex};

/// The words of scalars; those of most kernels need no memory of their own.
pub(crate) type Scalars = SmallVec<[u64; 8]>;

/// A kernel function, until it is known which form of it the device runs.
#[derive(Clone, Copy)]
pub(crate) struct Function {
    pub(crate) code: &'static Code,
    /// Gives a launch its kernel, in the Rust form, with its scalars.
    pub(crate) native: fn(&'static Code, &mut Launch),
}

impl Function {
    /// The name of a parameter: the `nth` of those that are memory.
    pub(crate) fn parameter(&self, nth: usize) -> Label {
        let memory =
            |kind: &ParamKind| !matches!(kind, ParamKind::Scalar(_) | ParamKind::Local { .. });
        let param = self.code.ir.params.iter().filter(|param| memory(&param.kind)).nth(nth);
        param.map_or(Label::NONE, |param| Label::from(param.name.as_str()))
    }
}

/// The arguments of an opaque kernel. Its parameters are first those of accesses, then those of
/// pointers.
#[derive(Clone)]
pub(crate) struct Opaque {
    /// The device that has it, and its name there.
    pub(crate) device: u16,
    pub(crate) loaded: Arc<LoadedKernel>,
    pub(crate) name: Arc<str>,
    pub(crate) arguments: SmallVec<[Argument; 8]>,
    /// Memory for which the caller answers.
    pub(crate) pointers: SmallVec<[RawMem; 2]>,
}

/// A kernel and what it is called with.
pub(crate) struct Launch {
    /// From when it is known until it is handed over.
    pub(crate) kernel: Option<NativeKernel>,
    /// In place of a kernel of the host.
    pub(crate) loaded: Option<KernelHandle>,
    /// A `#[kernel]`, of which the device runs one form or the other.
    pub(crate) function: Option<Function>,
    pub(crate) opaque: Option<Box<Opaque>>,
    /// Several kernel functions that have become one.
    pub(crate) fused: Option<Arc<Fused>>,
    /// In place of a kernel.
    pub(crate) foreign: Option<Box<Task>>,
    /// The reductions of a function, unless its Rust form has them.
    pub(crate) scalars: Scalars,
    /// See [`Args::proved`](crate::hal::Args::proved).
    pub(crate) proved: bool,
    /// The run-time checks that are left in it, if a subscriber listened when it was described.
    pub(crate) checks: Option<Box<[Check]>>,
    pub(crate) geometry: Geometry,
    /// The accesses that are its parameters.
    pub(crate) tokens: SmallVec<[Token; 2]>,
    pub(crate) params: SmallVec<[Param; 1]>,
}

/// How many a thread keeps, and up to how many parameters.
const MOST: usize = 64;
const MOST_PARAMS: usize = 64;

/// Some of them.
type Several = Vec<Box<Launch>>;

thread_local! {
    static KEPT: RefCell<Several> = const { RefCell::new(Vec::new()) };
}

/// What threads have that hand over more than they submit, for threads that submit more: in lots of
/// half of what one keeps.
static DEPOT: Mutex<Vec<Several>> = Mutex::new(Vec::new());
const MOST_LOTS: usize = 4;

/// Takes a lot from the depot into `kept`.
#[cold]
fn fetch(kept: &mut Several) {
    if let Ok(mut depot) = DEPOT.try_lock()
        && let Some(lot) = depot.pop()
    {
        *kept = lot;
    }
}

/// Brings half of `kept` to the depot, if there is room.
#[cold]
fn bring(kept: &mut Several) {
    if let Ok(mut depot) = DEPOT.try_lock()
        && depot.len() < MOST_LOTS
    {
        let mut lot = Vec::with_capacity(MOST);
        lot.extend(kept.drain(MOST / 2..));
        depot.push(lot);
    }
}

impl Launch {
    /// The name of its kernel: that of a `#[kernel]`, or the entry of an opaque one.
    pub(crate) fn kernel_name(&self) -> Option<&str> {
        let function = self.function.as_ref().map(|function| &*function.code.ir.name);
        function.or_else(|| self.opaque.as_ref().map(|opaque| &*opaque.name))
    }

    /// The launch combines values of all items.
    pub(crate) fn reduces(&self) -> bool {
        let function = self.function.as_ref().is_some_and(|function| function.code.reductions > 0);
        function || self.fused.as_ref().is_some_and(|fused| fused.reduces)
    }

    /// A launch without kernel and parameters yet.
    pub(crate) fn new(geometry: Geometry) -> Box<Launch> {
        // A thread that is ending has none to give.
        let take = |kept: &RefCell<Several>| {
            let mut kept = kept.borrow_mut();
            if kept.is_empty() {
                fetch(&mut kept);
            }
            kept.pop()
        };
        let kept = KEPT.try_with(take).ok().flatten();
        match kept {
            Some(mut launch) => {
                launch.loaded = None;
                launch.function = None;
                launch.proved = false;
                launch.checks = None;
                launch.geometry = geometry;
                launch.scalars.clear();
                launch.params.clear();
                launch.tokens.clear();
                launch
            }
            None => Box::new(Launch {
                kernel: None,
                loaded: None,
                function: None,
                opaque: None,
                fused: None,
                foreign: None,
                scalars: Scalars::new(),
                proved: false,
                checks: None,
                geometry,
                tokens: SmallVec::new(),
                params: SmallVec::new(),
            }),
        }
    }

    /// The same launch once more. `None` if what it calls can be called only once: a kernel that is
    /// not [shared](NativeKernel::shared), or such an interop task. A function that has no kernel
    /// yet has none in the copy, either: see [`arm`](Self::arm).
    pub(crate) fn again(&self) -> Option<Box<Launch>> {
        // As with functions, each launch has a kernel of its own: it has the state of reductions.
        let chain = self.fused.as_ref().and_then(|fused| fused.chain.as_ref());
        let kernel = match (chain, &self.kernel) {
            (Some(chain), _) => Some(chain.clone().native()?),
            (None, Some(kernel)) => Some(kernel.again()?),
            (None, None) => None,
        };
        let foreign = match &self.foreign {
            Some(task) => Some(Box::new(task.again()?)),
            None => None,
        };
        let mut launch = Launch::new(self.geometry);
        (launch.kernel, launch.foreign) = (kernel, foreign);
        (launch.loaded, launch.function, launch.proved) = (self.loaded, self.function, self.proved);
        launch.checks.clone_from(&self.checks);
        launch.opaque.clone_from(&self.opaque);
        launch.fused.clone_from(&self.fused);
        launch.scalars.extend_from_slice(&self.scalars);
        launch.params.extend_from_slice(&self.params);
        launch.tokens.extend_from_slice(&self.tokens);
        Some(launch)
    }

    /// Gives it other scalars: those of all of its kernels, if it is fused. A launch that is not
    /// fused has no kernel yet.
    pub(crate) fn set_scalars(&mut self, words: &[u64]) {
        let Some(fused) = &self.fused else {
            self.scalars.clear();
            self.scalars.extend_from_slice(words);
            return;
        };
        let Some(chain) = &fused.chain else {
            return fused.set_scalars(&mut self.scalars, words);
        };
        let chain = chain.with_scalars(words);
        self.kernel = chain.clone().native();
        self.fused = Some(Arc::new(Fused { chain: Some(chain), ..(**fused).clone() }));
    }

    /// The scalars that a launch of loaded code gets by those of its kernels. None for other code.
    pub(crate) fn loaded_scalars<'w>(&self, words: &'w [u64]) -> Option<Cow<'w, [u64]>> {
        if self.loaded.is_none() || self.opaque.is_some() {
            return None;
        }
        let Some(fused) = &self.fused else { return Some(words.into()) };
        let mut own = self.scalars.to_vec();
        fused.set_scalars(&mut own, words);
        Some(own.into())
    }

    /// Gives a function of the host its kernel, which can be called once. The device of any other
    /// launch has its code already.
    pub(crate) fn arm(&mut self) {
        if let (Some(function), None, None) = (self.function, &self.loaded, &self.kernel) {
            (function.native)(function.code, self);
        }
    }

    /// The operation. A native kernel or a task is taken out by what accepts the operation.
    pub(crate) fn op(&mut self) -> Op<'_> {
        let Launch { kernel, foreign, loaded, scalars, opaque, params, proved, .. } = self;
        let kernel = match *loaded {
            Some(handle) => KernelRef::Loaded(handle),
            None if foreign.is_some() => KernelRef::Foreign(Cell::from_mut(foreign)),
            None => KernelRef::Native(Cell::from_mut(kernel)),
        };
        let arguments = opaque.as_ref().map_or(&[][..], |opaque| &opaque.arguments);
        let args = Args { blob: bytes_of(scalars), params, proved: *proved, arguments };
        Op::Launch(kernel, &self.geometry, args)
    }

    /// The parameters, and the positions of their accesses.
    pub(crate) fn places(&mut self) -> impl Iterator<Item = (&mut Param, usize)> {
        self.params.iter_mut().zip(&self.tokens).map(|(param, token)| (param, token.at))
    }

    /// The name of the parameter that access `at` is for, if it is a `#[kernel]`'s.
    #[cold]
    pub(crate) fn parameter(&self, at: usize) -> Label {
        let nth = self.tokens.iter().position(|token| token.at == at);
        if let Some(fused) = &self.fused {
            return nth.and_then(|nth| fused.names.get(nth).cloned()).unwrap_or(Label::NONE);
        }
        let named = self.function.zip(nth).map(|(function, nth)| function.parameter(nth));
        named.unwrap_or(Label::NONE)
    }

    /// The memory that it names by pointers.
    pub(crate) fn pointers(&self) -> &[RawMem] {
        self.opaque.as_ref().map_or(&[], |opaque| &opaque.pointers)
    }

    /// The code that is loaded for as long as something uses it, if this launch does.
    #[inline]
    pub(crate) fn uses(&self) -> Option<&Arc<LoadedKernel>> {
        match (&self.fused, &self.opaque) {
            (Some(fused), _) => fused.loaded.as_ref(),
            (None, Some(opaque)) => Some(&opaque.loaded),
            (None, None) => None,
        }
    }

    /// Keeps the memory for another one, whose submitter clears it: that thread writes it anyway.
    /// What the kernel holds, if it is still there, is dropped.
    pub(crate) fn recycle(mut self: Box<Launch>) {
        if self.kernel.is_some() || self.opaque.is_some() || self.foreign.is_some() {
            (self.kernel, self.opaque, self.foreign) = (None, None, None);
        }
        self.fused = None;
        if self.params.capacity() > MOST_PARAMS {
            return;
        }
        let _ = KEPT.try_with(|kept| {
            let mut kept = kept.borrow_mut();
            if kept.len() == MOST {
                bring(&mut kept);
            }
            if kept.len() < MOST {
                kept.push(self);
            }
        });
    }
}
