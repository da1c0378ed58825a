//! Calls of kernel functions: a kernel with its arguments, as a value.

use crate::buffer::{AsPart, AsPartMut, Part};
use crate::engine::kernels::launch::{Function, Launch, Scalars};
use crate::engine::terms::access::Mode;
use crate::error::{Error, Result};
use crate::foreign::InKernel;
use crate::geom::{Box3, Dims};
use crate::group::run::grouped;
use crate::hal::{self, BlockKernel, Caps, Geometry, HalError, NativeKernel, ParamPtr, Verdict};
use crate::items::IntoItems;
use crate::log::Log;
use folio_device::{
    Atomic, Built, Code, Count, In, InOut, InOutColumn, InOutGroup, InOutRow, Kernel, LEAF,
    Launched, Limited, MOST_GROUP_BYTES, Out, OutChunk, OutColumn, OutGroup, OutRow, OutTile,
    Positions, Racy, Reach, RedBlack, Reduce, Scatter, ScatterLast, Shared, put_scalar, run, watch,
};
use folio_kernel::access::{Ends, Reads};
use folio_kernel::checks::Check;
use folio_kernel::words::bytes;
use folio_kernel::{Owner, ParamKind, source};
use smallvec::SmallVec;
use std::cell::OnceCell;
use std::marker::PhantomData;
use std::sync::Arc;

/// What can be passed for a parameter of type `P`. For an `In<T, D>` whatever a command can read
/// ([`AsPart`]), for `Out` and `InOut` what it can write ([`AsPartMut`]).
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be passed for a kernel's parameter of type `{P}`",
    label = "not of this kind, element or number of dimensions",
    note = "`In` takes `&buffer`, `&shared`, `&usm` and their slices (`buffer.slice(..)?`); `Out`, `InOut` and all others that write take `&mut buffer`, `&shared`, `&mut usm` and their mutable slices; `Racy` takes `RacyMemory`; a `Vec` or array goes into a buffer: `rt.buffer_from(&v)?`"
)]
pub trait Argument<P> {
    #[doc(hidden)]
    fn argument_value(self) -> ArgumentValue<P>;
}

/// An argument for a parameter of type `P`: only what fits one can be made into it.
#[doc(hidden)]
pub struct ArgumentValue<P>(Passed, PhantomData<fn() -> P>);

impl<P> ArgumentValue<P> {
    fn new(part: Part, mode: Mode) -> ArgumentValue<P> {
        ArgumentValue(Passed { param: 0, part, mode, leaves: false }, PhantomData)
    }

    /// In this mode, if the program does not say more.
    fn written(part: Part, mode: Mode) -> ArgumentValue<P> {
        let mode = if part.overwritten { Mode::Discard { whole: true } } else { mode };
        ArgumentValue::new(part, mode)
    }
}

/// An argument that is memory.
#[derive(Clone)]
pub(crate) struct Passed {
    /// Which parameter it is for; known when it is passed.
    pub(crate) param: usize,
    pub(crate) part: Part,
    pub(crate) mode: Mode,
    /// Of a reduction: it gets a value of each leaf of the launch's tree, and not their result.
    pub(crate) leaves: bool,
}

impl<T, const D: usize, A: AsPart<T, D>> Argument<In<T, D>> for A {
    fn argument_value(self) -> ArgumentValue<In<T, D>> {
        ArgumentValue::new(self.as_part(), Mode::Read)
    }
}

/// Parameters that are passed as what is written, and how they are accessed: what is discarded has
/// to be defined until it is written, since a kernel may fail.
macro_rules! written {
    ($([$($g:tt)*] $param:ty, $element:ty, $rank:tt, $mode:expr;)*) => {$(
        impl<T, $($g)*, A: AsPartMut<$element, $rank>> Argument<$param> for A {
            fn argument_value(mut self) -> ArgumentValue<$param> {
                ArgumentValue::written(self.as_part_mut(), $mode)
            }
        }
    )*};
}
written! {
    [const D: usize] Out<T, D>, T, D, Mode::Discard { whole: false };
    [const D: usize] InOut<T, D>, T, D, Mode::Update;
    [const N: usize, const D: usize] OutChunk<T, N, D>, [T; N], D, Mode::Discard { whole: false };
    [const D: usize] OutGroup<T, D>, T, D, Mode::Discard { whole: false };
    [const D: usize] InOutGroup<T, D>, T, D, Mode::Update;
    [const R: usize, const C: usize, const D: usize] OutTile<T, R, C, D>, T, D, Mode::Update;
    [const D: usize] Atomic<T, D>, T, D, Mode::Update;
    [const COLOUR: usize, const D: usize] RedBlack<T, COLOUR, D>, T, D, Mode::Update;
    [const D: usize] Scatter<T, D>, T, D, Mode::Update;
    [const D: usize] ScatterLast<T, D>, T, D, Mode::Update;
    [O: 'static] Reduce<T, O>, T, 1, Mode::Discard { whole: false };
}

/// Rows and columns.
macro_rules! lines {
    ($($param:ident, $mode:expr;)*) => {$(
        impl<T, A: AsPartMut<T, 2>> Argument<$param<T>> for A {
            fn argument_value(mut self) -> ArgumentValue<$param<T>> {
                ArgumentValue::new(self.as_part_mut(), $mode)
            }
        }
    )*};
}
lines! {
    OutRow, Mode::Discard { whole: false };
    InOutRow, Mode::Update;
    OutColumn, Mode::Discard { whole: false };
    InOutColumn, Mode::Update;
}

/// An argument for a [`Racy`] parameter: memory that a launch's items read and write anywhere.
#[derive(Debug)]
pub struct RacyMemory<A>(A);

impl<A> RacyMemory<A> {
    /// Takes what can be passed for an `InOut`; [`Overwritten`](crate::buffer::Overwritten) memory,
    /// if each launch writes all of it: then a kernel that comes after it element by element can be
    /// [fused](crate::Queue::batch_fused) with it.
    ///
    /// # Safety
    /// In the launches that this is passed to, no item writes an element that another item reads or
    /// writes. (Phases of one group are after each other.)
    pub unsafe fn new(memory: A) -> RacyMemory<A> {
        RacyMemory(memory)
    }
}

impl<T, const D: usize, A: AsPartMut<T, D>> Argument<Racy<T, D>> for RacyMemory<A> {
    fn argument_value(mut self) -> ArgumentValue<Racy<T, D>> {
        ArgumentValue::written(self.0.as_part_mut(), Mode::Update)
    }
}

/// A kernel and what it is called with: what a function with `#[kernel]` returns. Nothing has been
/// computed then; [`Queue::run`](crate::Queue::run) and
/// [`CommandGroup::run`](crate::CommandGroup::run) take it, and the items to compute.
#[must_use = "a kernel call computes nothing until a queue runs it: `q.run(items, ..)?`"]
pub struct KernelCall<K, const D: usize> {
    pub(crate) any: AnyCall,
    _kernel: PhantomData<fn() -> K>,
}

/// A kernel function, as a value.
pub(crate) struct KernelFn {
    pub(crate) function: &'static source::Function,
    code: fn() -> &'static Built,
    native: fn(&'static Code, &mut Launch),
}

impl KernelFn {
    #[inline]
    fn of<K: Kernel>() -> &'static KernelFn {
        const { &KernelFn { function: K::FUNCTION, code: K::code, native: native::<K> } }
    }

    /// Its code, or the error of its commands that there is none.
    #[inline]
    pub(crate) fn code(&self) -> Result<&'static Arc<Code>> {
        code_of(self.function.name, (self.code)())
    }

    /// For a launch that does not know its device yet.
    pub(crate) fn launched(&self, code: &'static Code) -> Function {
        Function { code, native: self.native }
    }
}

/// A call of any kernel, for code that is compiled once for all of them. Its arguments are those of
/// the parameters of `kernel`, in their order: only [`KernelCall`] makes a call and adds to it, as
/// the kernel's macro promises, and no other code changes which kernel it has.
#[derive(Clone)]
pub(crate) struct AnyCall {
    pub(crate) kernel: &'static KernelFn,
    pub(crate) scalars: Scalars,
    pub(crate) given: SmallVec<[Passed; 4]>,
    /// Of a kernel that scatters.
    pub(crate) claims: Claims,
    params: usize,
}

impl AnyCall {
    /// A queue runs it by several commands.
    #[inline]
    pub(crate) fn scatters(&self) -> bool {
        !self.claims.of.is_empty()
    }

    /// The next argument, memory.
    fn pass(&mut self, passed: Passed) {
        self.given.push(Passed { param: self.params, ..passed });
        self.params += 1;
    }

    /// The next parameter has the claims of the argument of this number.
    fn claim(&mut self, of: usize) {
        let Some(Passed { part, .. }) = self.given.get(of) else { return };
        let (part, mode) = (Part { overwritten: false, ..part.clone() }, Mode::Update);
        self.claims.of.push(self.given.len());
        self.pass(Passed { param: 0, part, mode, leaves: false });
    }

    /// The next parameter is a number that the launch says.
    fn number(&mut self) {
        put_scalar(0u32, &mut self.scalars);
        self.params += 1;
    }

    /// The last parameter is a count of items in memory: other items leave what they had.
    fn limit(&mut self, count: Part) {
        for passed in &mut self.given {
            if passed.mode.discards() {
                passed.mode = Mode::Update;
            }
        }
        self.pass(Passed { param: 0, part: count, mode: Mode::Read, leaves: false });
    }

    /// The run-time checks that are left in a launch.
    fn checks(&self, items: &Geometry) -> Result<Vec<Check>> {
        let code = self.kernel.code()?;
        let group = grouped(self.kernel.function, &code.ir, items)?;
        let Geometry { offset, range, rank, .. } = *items;
        if range.contains(&0) {
            return Ok(vec![]);
        }
        let (places, rank) =
            (Places { offset, range, group: group.unwrap_or([1; 3]) }, rank.into());
        let plan = Plan::new(code, rank, places, (&self.given, &self.scalars));
        let [offset, range, group] = [offset, range, places.group].map(|dims| leading(dims, rank));
        let (shapes, scalars) = (&*plan.shapes(), &*self.scalars);
        Ok(code.checks(&Reach { offset, range, group, shapes, scalars }))
    }
}

/// What the launches of a kernel that scatters need.
#[derive(Clone, Default)]
pub(crate) struct Claims {
    /// Which arguments are claims: each stands for memory of its shape, zero before the launch.
    pub(crate) of: SmallVec<[usize; 1]>,
    /// How many scalars are ends of the launch's items, in the dimensions but the first.
    pub(crate) ends: usize,
    /// The kernel runs twice, and its last scalar says which time.
    pub(crate) twice: bool,
}

/// A call of a kernel with items, or groups, in `D` dimensions. It is for rustc, which tells of a
/// launch in other dimensions what this kernel has.
#[diagnostic::on_unimplemented(
    message = "this is no call of a kernel with items in {D} dimension(s), as the launch has",
    label = "this is `{Self}`, and the launch has {D} dimension(s)",
    note = "a kernel with `i: Item` runs for `n` or `0..n`, one with `i: Item<2>` for `[rows, columns]`; `y.range()` has the \
        dimensions of `y`; groups and blocks are in the kernel's own attribute, `#[kernel(group = 256)]`",
    note = "what is launched is what a function with `#[kernel]` returns: `q.run(n, f(..))`; a closure runs on the CPU, in a \
        `q.submit`: `cg.host_kernel([n], accesses, |i, views| ..)`"
)]
pub trait RunsIn<const D: usize> {
    #[doc(hidden)]
    type Kernel: Kernel;
    #[doc(hidden)]
    fn call(self) -> KernelCall<Self::Kernel, D>;
}

impl<K: Kernel, const D: usize> RunsIn<D> for KernelCall<K, D> {
    type Kernel = K;
    #[inline(always)]
    fn call(self) -> KernelCall<K, D> {
        self
    }
}

impl<K: Kernel, const D: usize> KernelCall<K, D> {
    /// A call without arguments yet.
    ///
    /// # Safety
    /// For the kernel's macro. Arguments of the parameters' types follow in their order.
    #[doc(hidden)]
    pub unsafe fn begin() -> Self {
        KernelCall {
            any: AnyCall {
                kernel: KernelFn::of::<K>(),
                scalars: Scalars::new(),
                given: SmallVec::new(),
                claims: Claims::default(),
                params: 0,
            },
            _kernel: PhantomData,
        }
    }

    /// The next argument, a scalar.
    ///
    /// # Safety
    /// For the kernel's macro: the next parameter is of this type.
    #[doc(hidden)]
    pub unsafe fn value<T: Shared>(&mut self, value: T) {
        put_scalar(value, &mut self.any.scalars);
        self.any.params += 1;
    }

    /// The next argument, memory.
    ///
    /// # Safety
    /// As for [`value`](Self::value).
    #[doc(hidden)]
    pub unsafe fn memory<P>(&mut self, argument: impl Argument<P>) {
        let ArgumentValue(passed, _) = argument.argument_value();
        self.any.pass(passed);
    }

    /// A parameter that is no argument: the claims of the argument of this number among those that
    /// are memory, which is given.
    ///
    /// # Safety
    /// For the kernel's macro: the next parameter is atomic, of `u32`, and of the argument's rank.
    #[doc(hidden)]
    pub unsafe fn claims(&mut self, of: usize) {
        self.any.claim(of);
    }

    /// A parameter that is no argument: the end of the launch's items in the next dimension.
    ///
    /// # Safety
    /// For the kernel's macro: the next parameter is a `u32`, and the last scalar but for others of
    /// this kind and the turn.
    #[doc(hidden)]
    pub unsafe fn end(&mut self) {
        self.any.number();
        self.any.claims.ends += 1;
    }

    /// A parameter that is no argument: whether the kernel runs for the first time.
    ///
    /// # Safety
    /// For the kernel's macro: the next parameter is a `u32`, and the last scalar.
    #[doc(hidden)]
    pub unsafe fn turn(&mut self) {
        self.any.number();
        self.any.claims.twice = true;
    }

    /// The next argument, what the kernel prints to, and its texts by their numbers.
    ///
    /// # Safety
    /// As for [`value`](Self::value).
    #[doc(hidden)]
    pub unsafe fn log(&mut self, log: &Log) {
        log.learn(&K::FUNCTION.all_printed());
        // SAFETY: the caller's promise: the parameter has words that are changed atomically.
        unsafe { self.memory::<folio_device::Atomic<u32>>(log.words()) };
    }

    /// A parameter that is no argument.
    ///
    /// # Safety
    /// For the kernel's macro: the next parameter is local memory.
    #[doc(hidden)]
    pub unsafe fn local(&mut self) {
        self.any.params += 1;
    }
}

impl<K: Kernel, const D: usize> KernelCall<K, D> {
    /// The run-time checks that are left when a queue runs this for `items`: indices that may be
    /// out of bounds, divisions by what may be zero, assertions. Those that only the CPU's form of
    /// the kernel has say so ([`Check::only_on_hosts`]).
    ///
    /// Of a kernel with `#[kernel(deny_checks)]` a launch with others is [`Error::ChecksLeft`].
    ///
    /// ```
    /// # use folio_core::{DeviceType, Result, RunsIn, KernelCall};
    /// # use folio_device::Kernel;
    /// # fn example<K: Kernel>(call: KernelCall<K, 1>) -> Result<()> {
    /// for check in call.checks(1000)? {
    ///     println!("{check}"); // src/main.rs:7:12: an index of `x`, any number, may be ..
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn checks(&self, items: impl IntoItems<D>) -> Result<Vec<Check>> {
        self.any.checks(&items.into_items().geometry())
    }
}

impl<K: Kernel> KernelCall<K, 1> {
    /// The same call for items at positions below `count[0]` only, a number that the device reads
    /// when the launch runs: for the first `count[0]` items of a launch from 0 on. No host waits
    /// for the count, and beyond the launch's end a larger one means no more. Elements of an `Out`
    /// that belong to the other items keep what they had.
    ///
    /// Bounds are checked and memory is moved as for all items of the launch, of which a device
    /// starts all. Kernels of groups, and kernels with a [`Reduce`], need all of their items:
    /// [`Error::Kernel`].
    ///
    /// ```
    /// # use folio_core::{Buffer, KernelCall, Queue, Result};
    /// # use folio_device::Kernel;
    /// /// Runs a kernel for what a compaction has kept: how much that is, only the device knows.
    /// fn kept<K: Kernel>(
    ///     q: &Queue,
    ///     n: usize,
    ///     of: KernelCall<K, 1>,
    ///     count: &Buffer<u64>,
    /// ) -> Result<()> {
    ///     q.run(n, of.at_most(count))?;
    ///     Ok(())
    /// }
    /// ```
    pub fn at_most<C: Count>(self, count: impl AsPart<C, 1>) -> KernelCall<Limited<K, C>, 1> {
        let KernelCall { mut any, .. } = self;
        any.limit(count.as_part());
        any.kernel = KernelFn::of::<Limited<K, C>>();
        KernelCall { any, _kernel: PhantomData }
    }
}

impl<K: Kernel, const D: usize> std::fmt::Debug for KernelCall<K, D> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "KernelCall of {} with {} arguments", K::FUNCTION.name, self.any.params)
    }
}

/// Where a launch's items are.
#[derive(Clone, Copy)]
pub(crate) struct Places {
    /// The first.
    pub(crate) offset: Dims,
    /// Items.
    pub(crate) range: Dims,
    /// Items of a group; ones without groups.
    pub(crate) group: Dims,
}

/// What a launch of a call is about to access.
pub(crate) struct Plan<'c> {
    code: &'c Code,
    places: Places,
    rank: usize,
    given: &'c [Passed],
    /// By parameter, as the kernel numbers dimensions; of no meaning for scalars. Most launches
    /// need none.
    shapes: OnceCell<SmallVec<[[u64; 3]; 8]>>,
    scalars: &'c [u64],
}

impl<'c> Plan<'c> {
    pub(crate) fn new(
        code: &'c Code,
        rank: usize,
        places: Places,
        (given, scalars): (&'c [Passed], &'c [u64]),
    ) -> Plan<'c> {
        Plan { code, places, rank, given, shapes: OnceCell::new(), scalars }
    }

    fn shapes(&self) -> SmallVec<[[u64; 3]; 8]> {
        let mut shapes = SmallVec::new();
        for Passed { param, part: Part { view, part, .. }, .. } in self.given {
            shapes.resize(*param, [0; 3]);
            shapes.push(leading(part.extent(), usize::from(view.rank)));
        }
        shapes
    }

    /// Which indices of an argument the launch accesses, and whether no other can occur.
    pub(crate) fn accessed(&self, given: &Passed) -> (Box3, bool) {
        let Places { offset, range, .. } = self.places;
        if range.contains(&0) {
            return (Box3::EMPTY, true);
        }
        if self.code.is_limit(given.param) {
            return (Box3::whole([1; 3]), true);
        }
        if given.leaves {
            let groups = std::array::from_fn(|d| range[d] / self.places.group[d].max(1));
            return (Box3::whole([1, 1, leaves(self.code, groups)]), true);
        }
        if given.mode.writes() {
            return owned(self.code, given.param, given.part.part.extent(), &self.places);
        }
        if self.code.reads_own(given.param)
            && let Some(own) = Box3::at(offset, range)
            && Box3::whole(given.part.part.extent()).contains(&own)
        {
            return (own, true);
        }
        let Reads { ends, proved } = self.code.read_box(given.param, &self.reach());
        (ends.map_or(Box3::EMPTY, |ends| box_of(&ends, given)), proved)
    }

    /// Boxes that together have all indices of an argument that the launch reads.
    pub(crate) fn read(&self, given: &Passed) -> SmallVec<[Box3; 8]> {
        let boxes = self.code.read_boxes(given.param, &self.reach());
        boxes.iter().map(|ends| box_of(ends, given)).collect()
    }

    fn reach(&self) -> Reach<'_> {
        let Places { offset, range, group } = self.places;
        let [offset, range, group] = [offset, range, group].map(|dims| leading(dims, self.rank));
        let shapes = self.shapes.get_or_init(|| self.shapes());
        Reach { offset, range, group, shapes, scalars: self.scalars }
    }
}

/// A box of an argument's indices, by the ends of its own dimensions.
fn box_of(ends: &Ends, given: &Passed) -> Box3 {
    let rank = usize::from(given.part.view.rank);
    let mut indices = Box3 { min: [0; 3], max: [1; 3] };
    for (dim, (first, end)) in ends.iter().take(rank).enumerate() {
        (indices.min[3 - rank + dim], indices.max[3 - rank + dim]) =
            (*first as usize, *end as usize);
    }
    indices
}

impl Plan<'_> {
    /// The extent that the kernel sees of an argument.
    pub(crate) fn shape(&self, given: &Passed) -> Dims {
        match self.code.ir.params.get(given.param).map(|param| &param.kind) {
            Some(ParamKind::Reduce { .. }) if !given.leaves => [1; 3],
            _ => given.part.part.extent(),
        }
    }
}

/// Values that a launch of so many groups, or items, leaves of a reduction: see
/// [`Passed::leaves`].
pub(crate) fn leaves(code: &Code, groups: Dims) -> usize {
    let values = groups.iter().product::<usize>();
    if code.ir.shape.groups { values } else { values.div_ceil(LEAF) }
}

/// Which indices of an argument of this shape that is written are those of their owners in a
/// launch, and whether no other can occur. That ends do not overflow has been checked.
pub(crate) fn owned(
    code: &Code,
    param: usize,
    shape: Dims,
    &Places { offset, range, group }: &Places,
) -> (Box3, bool) {
    let mut proved = false;
    let owned = match code.ir.params.get(param).map(|param| &param.kind) {
        Some(ParamKind::Reduce { .. }) => {
            proved = true;
            Some(Box3::whole([1; 3]))
        }
        Some(ParamKind::View { owner, .. }) => match owner {
            Owner::Item => {
                proved = code.is_own(param);
                Box3::at(offset, range)
            }
            Owner::Row => Box3::at([0, offset[2], 0], [1, range[2], shape[2]]),
            Owner::Column => Box3::at([0, 0, offset[2]], [1, shape[1], range[2]]),
            Owner::Group => {
                let count = |dim: usize| range[dim].checked_div(group[dim]);
                Some(Box3::whole(std::array::from_fn(|dim| count(dim).unwrap_or(0))))
            }
            Owner::Atomic | Owner::Anyone => Some(Box3::whole(shape)),
        },
        _ => None,
    };
    (owned.unwrap_or(Box3::EMPTY), proved)
}

/// No access of a launch can be out of bounds. `params` are those that are memory, in their order.
pub(crate) fn proves(
    code: &Code,
    geometry: &Geometry,
    params: &[hal::Param],
    scalars: &[u64],
) -> bool {
    reaching(code, geometry, params, scalars, |reach| code.proves(reach))
}

/// The checks that are left in a launch on a device that runs the host's code, or another.
pub(crate) fn checks(
    code: &Code,
    geometry: &Geometry,
    params: &[hal::Param],
    scalars: &[u64],
    on_host: bool,
) -> Vec<Check> {
    let mut left = reaching(code, geometry, params, scalars, |reach| code.checks(reach));
    left.retain(|check| on_host || !check.only_on_hosts());
    left
}

/// One of the checks by which a launch may fail, if there is one.
pub(crate) fn checks_left(
    code: &Code,
    geometry: &Geometry,
    params: &[hal::Param],
    scalars: &[u64],
) -> Option<Check> {
    // Most launches have none whatever their scalars are: that is known of the next one, too.
    let is_free =
        |scalars| reaching(code, geometry, params, scalars, |reach| code.is_free_of_checks(reach));
    if is_free(&[]) || is_free(scalars) {
        return None;
    }
    checks(code, geometry, params, scalars, false).into_iter().next()
}

/// Refuses a launch in which a check is left of a kernel that denies them (KRN-10).
pub(crate) fn deny_checks(
    code: &Code,
    geometry: &Geometry,
    params: &[hal::Param],
    scalars: &[u64],
) -> Result<()> {
    if reaching(code, geometry, params, scalars, |reach| code.is_free_of_checks(reach)) {
        return Ok(());
    }
    let checks = checks(code, geometry, params, scalars, false).into();
    Err(Error::ChecksLeft { kernel: code.name.clone(), checks })
}

/// The elements of a view that a launch may load.
pub(crate) fn read_box(
    code: &Code,
    number: usize,
    geometry: &Geometry,
    (params, scalars): (&[hal::Param], &[u64]),
) -> Box3 {
    reaching(code, geometry, params, scalars, |reach| {
        let rank = match code.ir.params.get(number).map(|param| &param.kind) {
            Some(ParamKind::View { rank, .. }) => usize::from(*rank),
            _ => return Box3::EMPTY,
        };
        let Some(ends) = code.read_box(number, reach).ends else { return Box3::EMPTY };
        let mut accessed = Box3 { min: [0; 3], max: [1; 3] };
        for (dim, (first, end)) in ends.iter().take(rank).enumerate() {
            (accessed.min[3 - rank + dim], accessed.max[3 - rank + dim]) =
                (*first as usize, *end as usize);
        }
        accessed
    })
}

fn reaching<R>(
    code: &Code,
    geometry: &Geometry,
    params: &[hal::Param],
    scalars: &[u64],
    ask: impl FnOnce(&Reach<'_>) -> R,
) -> R {
    let mut shapes: SmallVec<[[u64; 3]; 8]> = SmallVec::new();
    let mut params = params.iter();
    for param in &code.ir.params {
        let shape = match param.kind {
            ParamKind::View { rank, .. } => {
                params.next().map(|param| leading(param.shape, usize::from(rank)))
            }
            ParamKind::Reduce { .. } => params.next().map(|_| [1; 3]),
            ParamKind::Scalar(_) | ParamKind::Local { .. } => None,
        };
        shapes.push(shape.unwrap_or_default());
    }
    let rank = usize::from(geometry.rank);
    let [offset, range] = [geometry.offset, geometry.range].map(|dims| leading(dims, rank));
    let group = geometry.group.map_or([0; 3], |group| leading(group, rank));
    ask(&Reach { offset, range, group, shapes: &shapes, scalars })
}

/// Three dimensions as a kernel of this rank numbers them: its own first.
fn leading(dims: Dims, rank: usize) -> [u64; 3] {
    std::array::from_fn(|dim| dims.get(3 - rank + dim).map_or(0, |n| *n as u64))
}

/// Why a device that runs the host's form of a kernel does not run it in such groups, if it does
/// not.
pub(crate) fn group_beyond(caps: &Caps, code: &Code, group: Dims) -> Option<HalError> {
    let items = group.iter().fold(1u64, |items, n| items.saturating_mul(*n as u64));
    let (most, available) = (caps.group_items, caps.local_memory);
    if items > most {
        let limit = format!("the device has groups of {most} items at most");
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        return Some(HalError::large_group(format!("{group:?}"), most, limit));
    }
    let needed = code.local_memory().of_group(items);
    if needed > available {
        let [needed, available] = [needed, available].map(bytes);
        return Some(HalError::unsupported(&format!(
            "{needed} of local memory for a group of {group:?} (the device has {available} at most)"
        )));
    }
    group_too_large(code, group).map(|why| HalError::unsupported(&why))
}

/// Why the host's form of a kernel does not run in such groups, if it does not.
pub(crate) fn group_too_large(code: &Code, group: Dims) -> Option<String> {
    let size = code.group_bytes(group);
    (size > MOST_GROUP_BYTES).then(|| {
        format!(
            "a group of {group:?} has {} of variables and combined values (the host's limit is {}): \
             launch smaller groups",
            bytes(size),
            bytes(MOST_GROUP_BYTES)
        )
    })
}

/// Gives a launch its kernel in the Rust form.
fn native<K: Kernel>(code: &'static Code, launch: &mut Launch) {
    let scalars = std::mem::take(&mut launch.scalars);
    let native = Native::<K>::new(code, scalars, &launch.geometry, &launch.params);
    launch.kernel = Some(NativeKernel::new(native));
}

/// What a kernel needs to know besides of its launch, if anything.
fn launched(code: &Code, geometry: &Geometry, params: &[hal::Param]) -> Option<Box<Launched>> {
    let &Geometry { offset, range, group, .. } = geometry;
    let (reductions, groups) = (code.reductions, group.is_some());
    if !groups && reductions == 0 && code.counted.is_empty() {
        return None;
    }
    let elements = |at: usize| Some(params.get(at)?.extent.iter().product());
    let mut launch = Launched::new(offset, range, group.unwrap_or([1; 3]), reductions);
    // A reduction that has memory for several values leaves one for each leaf.
    let kinds = code.ir.params.iter().map(|param| &param.kind);
    let memory =
        kinds.filter(|kind| matches!(kind, ParamKind::View { .. } | ParamKind::Reduce { .. }));
    if memory
        .zip(params)
        .any(|(kind, param)| matches!(kind, ParamKind::Reduce { .. }) && param.extent[2] > 1)
    {
        launch = launch.leaving();
    }
    let launch = launch.counting(&code.counted, elements);
    let needed = groups || reductions > 0 || !launch.counts_in_place();
    needed.then(|| Box::new(launch))
}

/// The Rust form of a kernel, as a kernel of blocks.
struct Native<K> {
    code: &'static Code,
    scalars: Scalars,
    offset: Dims,
    /// What kernels of groups, and of reductions, need to know besides.
    launch: Option<Box<Launched>>,
    _kernel: PhantomData<fn() -> K>,
}

impl<K: Kernel> Native<K> {
    fn new(
        code: &'static Code,
        scalars: Scalars,
        geometry: &Geometry,
        params: &[hal::Param],
    ) -> Native<K> {
        let launch = launched(code, geometry, params);
        Native { code, scalars, offset: geometry.offset, launch, _kernel: PhantomData }
    }
}

/// The code of a kernel of this name, or the error of its commands that there is none.
pub(crate) fn code_of(name: &str, code: &'static Built) -> Result<&'static Arc<Code>> {
    code.as_ref()
        .map_err(|cause| Error::Kernel { kernel: name.into(), cause: Arc::new(cause.clone()) })
}

impl<K: Kernel> BlockKernel for Native<K> {
    unsafe fn run(&self, params: &[ParamPtr], block: &Box3) -> Verdict {
        static PLAIN: Launched = Launched::plain();
        let _in_kernel = InKernel::new();
        let Box3 { min, max } = block.shifted(self.offset);
        let (block, launch) = (Positions { min, max }, self.launch.as_deref().unwrap_or(&PLAIN));
        // SAFETY: the call has the arguments of the parameters' types in their order, and the
        // engine gives their memory in this order; the caller keeps others away. The launch is no
        // larger than what is written (`CommandGroup::run`), and its blocks are disjoint and of
        // whole groups.
        let mut run = || unsafe { run::<K>(&self.scalars, params, &block, launch) };
        watch(K::FUNCTION, &mut run)
    }

    fn begin(&self) {
        if let Some(launch) = &self.launch {
            launch.begin();
        }
    }

    fn grain(&self) -> usize {
        self.launch.as_ref().map_or(1, |launch| launch.grain())
    }

    fn described(&self) -> Option<hal::NativeIr<'_>> {
        Some(hal::NativeIr { ir: &self.code.ir, scalars: &self.scalars })
    }
}
