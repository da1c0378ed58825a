//! Calls of kernel functions: a kernel with its arguments, as a value; and the items of a launch.

use crate::buffer::{AsPart, AsPartMut, Part};
use crate::element::DeviceType;
use crate::engine::access::Mode;
use crate::engine::wait::InKernel;
use crate::geom::{Box3, Dims};
use crate::hal::{BlockKernel, Geometry, NativeKernel, ParamPtr, Verdict};
use folio_kernel::access::Reads;
use folio_kernel::device::{
    Atomic, Code, In, InOut, InOutRow, Kernel, Launched, Out, OutChunk, OutGroup, OutRow,
    Positions, Racy, Reach, Reduce, Shared, put_scalar, run, watch,
};
use folio_kernel::{Owner, Param, ParamKind};
use smallvec::SmallVec;
use std::marker::PhantomData;
use std::ops::Range;

/// The items of a launch, by their positions: from a range of positions in each dimension (`1..n - 1`,
/// `[1..rows - 1, 1..columns - 1]`), or how many there are from position 0 on (`n`, `[rows, columns]`,
/// `buffer.range()`). For kernels of work-groups that do not say it themselves, also how many items
/// are a group: `Items::from([rows, columns]).groups([16, 16])`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Items<const D: usize> {
    /// Position of the first item.
    pub offset: [usize; D],
    /// Number of items in each dimension.
    pub range: [usize; D],
    /// Number of items of a work-group in each dimension; if not given, the kernel says it.
    pub group: Option<[usize; D]>,
}

impl<const D: usize> Items<D> {
    /// The same items, in groups of this size, which divides their number in each dimension.
    pub fn groups(self, size: [usize; D]) -> Items<D> {
        Items { group: Some(size), ..self }
    }
}

impl<const D: usize> From<[usize; D]> for Items<D> {
    fn from(range: [usize; D]) -> Items<D> {
        Items { offset: [0; D], range, group: None }
    }
}

impl<const D: usize> From<[Range<usize>; D]> for Items<D> {
    fn from(positions: [Range<usize>; D]) -> Items<D> {
        let offset = std::array::from_fn(|d| positions[d].start);
        let range = positions.map(|of| of.end.saturating_sub(of.start));
        Items { offset, range, group: None }
    }
}

impl From<usize> for Items<1> {
    fn from(range: usize) -> Items<1> {
        [range].into()
    }
}

impl From<Range<usize>> for Items<1> {
    fn from(positions: Range<usize>) -> Items<1> {
        [positions].into()
    }
}

/// What can be passed for a parameter of type `P`. For an `In<T, D>` whatever a command can read
/// ([`AsPart`]), for `Out` and `InOut` what it can write ([`AsPartMut`]).
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be passed for a kernel's parameter of type `{P}`",
    label = "not of this kind, element or number of dimensions",
    note = "`In` takes `&buffer`, `&shared`, `&usm` and slices; `Out`, `InOut` and all others that write take `&mut buffer`, `&shared`, `&mut usm` and mutable slices; `Racy` takes `Shares`"
)]
pub trait Argument<P> {
    #[doc(hidden)]
    fn given(self) -> Given;
}

/// An argument that is memory.
#[doc(hidden)]
pub struct Given {
    /// Which parameter it is for; known when it is passed.
    pub(crate) param: usize,
    pub(crate) part: Part,
    pub(crate) mode: Mode,
}

impl<T: DeviceType, const D: usize, A: AsPart<T, D>> Argument<In<T, D>> for A {
    fn given(self) -> Given {
        Given { param: 0, part: self.as_part(), mode: Mode::Read }
    }
}

/// Parameters that are passed as what is written, and how they are accessed: what is discarded has
/// to be defined until it is written, since a kernel may fail.
macro_rules! written {
    ($([$($g:tt)*] $param:ty, $element:ty, $rank:tt, $mode:expr;)*) => {$(
        impl<T: DeviceType, $($g)*, A: AsPartMut<$element, $rank>> Argument<$param> for A {
            fn given(mut self) -> Given {
                Given { param: 0, part: self.as_part_mut(), mode: $mode }
            }
        }
    )*};
}
written! {
    [const D: usize] Out<T, D>, T, D, Mode::Discard { whole: false };
    [const D: usize] InOut<T, D>, T, D, Mode::Update;
    [const N: usize, const D: usize] OutChunk<T, N, D>, [T; N], D, Mode::Discard { whole: false };
    [const D: usize] OutGroup<T, D>, T, D, Mode::Discard { whole: false };
    [const D: usize] Atomic<T, D>, T, D, Mode::Update;
    [O: 'static] Reduce<T, O>, T, 1, Mode::Discard { whole: false };
}

impl<T: DeviceType, A: AsPartMut<T, 2>> Argument<OutRow<T>> for A {
    fn given(mut self) -> Given {
        Given { param: 0, part: self.as_part_mut(), mode: Mode::Discard { whole: false } }
    }
}

impl<T: DeviceType, A: AsPartMut<T, 2>> Argument<InOutRow<T>> for A {
    fn given(mut self) -> Given {
        Given { param: 0, part: self.as_part_mut(), mode: Mode::Update }
    }
}

/// An argument for a [`Racy`] parameter: memory that a launch's items read and write anywhere.
#[derive(Debug)]
pub struct Shares<A>(A);

impl<A> Shares<A> {
    /// Takes what can be passed for an `InOut`.
    ///
    /// # Safety
    /// In the launches that this is passed to, no item writes an element that another item reads or
    /// writes. (Phases of one group are after each other.)
    pub unsafe fn new(memory: A) -> Shares<A> {
        Shares(memory)
    }
}

impl<T: DeviceType, const D: usize, A: AsPartMut<T, D>> Argument<Racy<T, D>> for Shares<A> {
    fn given(mut self) -> Given {
        Given { param: 0, part: self.0.as_part_mut(), mode: Mode::Update }
    }
}

/// The words of scalars; those of most kernels need no memory of their own.
pub(crate) type Scalars = SmallVec<[u64; 8]>;

/// A kernel and what it is called with: what a function with `#[kernel]` returns. Nothing has been
/// computed then; [`Queue::run`](crate::Queue::run) and [`CommandGroup::run`](crate::CommandGroup::run)
/// take it, and the items to compute.
#[must_use = "a kernel call computes nothing until a queue runs it"]
pub struct KernelCall<K, const D: usize> {
    pub(crate) scalars: Scalars,
    pub(crate) given: SmallVec<[Given; 4]>,
    params: usize,
    _kernel: PhantomData<fn() -> K>,
}

impl<K: Kernel, const D: usize> KernelCall<K, D> {
    /// A call without arguments yet.
    ///
    /// # Safety
    /// For the kernel's macro. Arguments of the parameters' types follow in their order.
    #[doc(hidden)]
    pub unsafe fn begin() -> Self {
        KernelCall {
            scalars: Scalars::new(),
            given: SmallVec::new(),
            params: 0,
            _kernel: PhantomData,
        }
    }

    #[doc(hidden)]
    pub fn value<T: Shared>(&mut self, value: T) {
        put_scalar(value, &mut self.scalars);
        self.params += 1;
    }

    #[doc(hidden)]
    pub fn memory<P>(&mut self, argument: impl Argument<P>) {
        self.given.push(Given { param: self.params, ..argument.given() });
        self.params += 1;
    }

    /// A parameter that is no argument.
    #[doc(hidden)]
    pub fn local(&mut self) {
        self.params += 1;
    }
}

impl<K: Kernel, const D: usize> std::fmt::Debug for KernelCall<K, D> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "KernelCall of {} with {} arguments", K::FUNCTION.name, self.params)
    }
}

/// What a launch of a call is about to access.
pub(crate) struct Plan<'c> {
    code: &'c Code,
    offset: Dims,
    range: Dims,
    group: Dims,
    rank: usize,
    /// By parameter, as the kernel numbers dimensions; of no meaning for scalars.
    shapes: SmallVec<[[u64; 3]; 8]>,
    scalars: &'c [u64],
}

impl<'c> Plan<'c> {
    pub(crate) fn new(
        code: &'c Code,
        rank: usize,
        (offset, range, group): (Dims, Dims, Dims),
        (given, scalars): (&[Given], &'c [u64]),
    ) -> Plan<'c> {
        let mut shapes = SmallVec::new();
        for Given { param, part: Part { view, part, .. }, .. } in given {
            shapes.resize(*param, [0; 3]);
            shapes.push(leading(part.extent(), usize::from(view.rank)));
        }
        Plan { code, offset, range, group, rank, shapes, scalars }
    }

    /// Which indices of an argument the launch accesses, and whether no other can occur.
    pub(crate) fn accessed(&self, given: &Given) -> (Box3, bool) {
        if self.range.contains(&0) {
            return (Box3::EMPTY, true);
        }
        if given.mode.writes() {
            return self.written(given);
        }
        let (offset, range) = (leading(self.offset, self.rank), leading(self.range, self.rank));
        let reach = Reach { offset, range, shapes: &self.shapes, scalars: self.scalars };
        let Reads { ends, proved } = self.code.read_box(given.param, &reach);
        let Some(ends) = ends else { return (Box3::EMPTY, proved) };
        let rank = usize::from(given.part.view.rank);
        let mut accessed = Box3 { min: [0; 3], max: [1; 3] };
        for (dim, (first, end)) in ends.iter().take(rank).enumerate() {
            (accessed.min[3 - rank + dim], accessed.max[3 - rank + dim]) =
                (*first as usize, *end as usize);
        }
        (accessed, proved)
    }
}

impl Plan<'_> {
    /// The extent that the kernel sees of an argument.
    pub(crate) fn shape(&self, given: &Given) -> Dims {
        match self.code.ir.params.get(given.param).map(|param| &param.kind) {
            Some(ParamKind::Reduce { .. }) => [1; 3],
            _ => given.part.part.extent(),
        }
    }

    /// Which indices of an argument that is written are those of their owners, and whether no other can
    /// occur. That ends do not overflow has been checked.
    fn written(&self, given: &Given) -> (Box3, bool) {
        let shape = given.part.part.extent();
        let mut proved = false;
        let owned = match self.code.ir.params.get(given.param).map(|param| &param.kind) {
            Some(ParamKind::Reduce { .. }) => {
                proved = true;
                Some(Box3::whole([1; 3]))
            }
            Some(ParamKind::View { owner, .. }) => match owner {
                Owner::Item => {
                    proved = self.code.is_own(given.param);
                    Box3::at(self.offset, self.range)
                }
                Owner::Row => Box3::at([0, self.offset[2], 0], [1, self.range[2], shape[2]]),
                Owner::Group => {
                    let count = |dim: usize| self.range[dim].checked_div(self.group[dim]);
                    Some(Box3::whole(std::array::from_fn(|dim| count(dim).unwrap_or(0))))
                }
                Owner::Atomic | Owner::Anyone => Some(Box3::whole(shape)),
            },
            _ => None,
        };
        (owned.unwrap_or(Box3::EMPTY), proved)
    }
}

/// Three dimensions as a kernel of this rank numbers them: its own first.
fn leading(dims: Dims, rank: usize) -> [u64; 3] {
    std::array::from_fn(|dim| dims.get(3 - rank + dim).map_or(0, |n| *n as u64))
}

/// A kernel function, before it is known which form of it runs.
#[derive(Clone, Copy)]
pub(crate) struct Function {
    pub(crate) code: &'static Code,
    /// The Rust form, of these scalars and for such a launch.
    pub(crate) native: fn(&Code, Scalars, &Geometry) -> NativeKernel,
}

impl Function {
    pub(crate) fn of<K: Kernel>(code: &'static Code) -> Function {
        let native = |code: &Code, scalars, geometry: &Geometry| {
            NativeKernel::new(Native::<K>::new(code, scalars, geometry))
        };
        Function { code, native }
    }
}

/// The Rust form of a kernel, as a kernel of blocks.
struct Native<K> {
    scalars: Scalars,
    offset: Dims,
    /// What kernels of groups, and of reductions, need to know besides.
    launch: Option<Box<Launched>>,
    _kernel: PhantomData<fn() -> K>,
}

impl<K: Kernel> Native<K> {
    fn new(code: &Code, scalars: Scalars, geometry: &Geometry) -> Native<K> {
        let Geometry { offset, range, group, .. } = *geometry;
        let reduces = |param: &&Param| matches!(param.kind, ParamKind::Reduce { .. });
        let reductions = code.ir.params.iter().filter(reduces).count();
        let launch = (group.is_some() || reductions > 0)
            .then(|| Box::new(Launched::new(offset, range, group.unwrap_or([1; 3]), reductions)));
        Native { scalars, offset, launch, _kernel: PhantomData }
    }
}

impl<K: Kernel> BlockKernel for Native<K> {
    unsafe fn run(&self, params: &[ParamPtr], block: &Box3) -> Verdict {
        static PLAIN: Launched = Launched::plain();
        let _in_kernel = InKernel::new();
        let Box3 { min, max } = block.shifted(self.offset);
        let (block, launch) = (Positions { min, max }, self.launch.as_deref().unwrap_or(&PLAIN));
        // SAFETY: the call has the arguments of the parameters' types in their order, and the engine
        // gives their memory in this order; the caller keeps others away. The launch is no larger than
        // what is written (`CommandGroup::run`), and its blocks are disjoint and of whole groups.
        watch(K::FUNCTION, || unsafe { run::<K>(&self.scalars, params, &block, launch) })
    }
}
