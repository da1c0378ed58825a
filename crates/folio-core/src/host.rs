//! Kernels on slices of the host: without a runtime, on the calling thread, one item after the
//! other in row-major order. For unit tests, and for debuggers, which stop in the kernel under its
//! caller.

use crate::buffer::{widen, widen_at};
use crate::call::{Places, code_of, group_too_large, owned};
use crate::coords::Coords;
use crate::element::DeviceType;
use crate::engine::kernels::launch::Scalars;
use crate::error::{Cause, Error, Failure, Label, Result};
use crate::geom::{Box3, Dims, checked_volume};
use crate::group::{grouped, out_of_range};
use crate::hal::{Geometry, ParamPtr};
use crate::items::IntoItems;
use crate::scatter::{ends_of, put_ends};
use folio_device::{
    Atomic, Checked, In, InOut, InOutColumn, InOutGroup, InOutRow, Kernel, Launched, Out, OutChunk,
    OutColumn, OutGroup, OutRow, OutTile, Positions, Racy, RedBlack, Reduce, Scatter, ScatterLast,
    Shared, put_scalar, watch,
};
use folio_kernel::words::count;
use folio_kernel::{Access, ParamKind, Violation};
use std::alloc::Layout;
use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// What can be passed for a parameter of type `P` where a kernel runs on the host: in one
/// dimension, what has elements as a slice, by reference, mutable for what is written; in any, a
/// pair of that and its shape, `(&mut x, [rows, columns])`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be passed for a kernel's parameter of type `{P}` on the host",
    label = "not of this kind, element or number of dimensions",
    note = "`In` takes `&x`, others `&mut x`, where `x` is a slice, vector or array; in more dimensions than one with the shape: `(&x, [rows, columns])`"
)]
pub trait HostArgument<P> {
    #[doc(hidden)]
    fn lend<'m>(self) -> HostMemory<'m, P>
    where
        Self: 'm;
}

/// A slice for a parameter of type `P`, borrowed for `'m`: of its elements, and mutably if they are
/// written.
#[doc(hidden)]
pub struct HostMemory<'m, P>(Slice, Borrows<'m, P>);

type Borrows<'m, P> = PhantomData<(&'m mut (), fn() -> P)>;

struct Slice {
    base: *mut u8,
    len: usize,
    shape: Dims,
    /// Dimensions.
    rank: usize,
}

impl Slice {
    fn read<'m, P, T, const D: usize>(slice: &'m [T], shape: [usize; D]) -> HostMemory<'m, P> {
        // What is only read is never written through this.
        let base = slice.as_ptr().cast_mut().cast();
        HostMemory(Slice { base, len: slice.len(), shape: widen(shape), rank: D }, PhantomData)
    }

    fn written<'m, P, T, const D: usize>(
        slice: &'m mut [T],
        shape: [usize; D],
    ) -> HostMemory<'m, P> {
        let (base, len) = (slice.as_mut_ptr().cast(), slice.len());
        HostMemory(Slice { base, len, shape: widen(shape), rank: D }, PhantomData)
    }

    /// Its shape, in its own dimensions.
    fn visible(&self) -> Vec<usize> {
        self.shape[3 - self.rank..].to_vec()
    }
}

/// Parameters, what is passed for them, and how it is lent.
macro_rules! lent {
    ($([$($g:tt)*] $param:ty: $as_slice:ident [$element:ty] for $passed:ty, |$this:ident| $lend:expr;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<T: DeviceType, $($g)* S: $as_slice<[$element]> + ?Sized> HostArgument<$param> for $passed {
            fn lend<'m>(self) -> HostMemory<'m, $param>
            where
                Self: 'm,
            {
                let $this = self;
                $lend
            }
        }
    )*};
}

/// The same, of those that are written: of rank 1 without a shape, and of any rank with one.
macro_rules! written {
    ($([$($g:tt)*] $param:ty: [$element:ty];)*) => {
        lent! {$(
            [$($g)*] $param: AsMut [$element] for &mut S, |it| {
                let slice = it.as_mut();
                let len = slice.len();
                Slice::written(slice, [len])
            };
        )*}
    };
}
macro_rules! written_in_shape {
    ($([$($g:tt)*] $param:ty: [$element:ty; $rank:tt];)*) => {
        lent! {$(
            [$($g)* C: Coords<$rank>,] $param: AsMut [$element] for (&mut S, C), |it| {
                Slice::written(it.0.as_mut(), it.1.coords())
            };
        )*}
    };
}

lent! {
    [] In<T>: AsRef [T] for &S, |it| Slice::read(it.as_ref(), [it.as_ref().len()]);
    [C: Coords<D>, const D: usize,] In<T, D>: AsRef [T] for (&S, C), |it| {
        Slice::read(it.0.as_ref(), it.1.coords())
    };
}
written! {
    [] Out<T>: [T];
    [] InOut<T>: [T];
    [const N: usize,] OutChunk<T, N>: [[T; N]];
    [] OutGroup<T>: [T];
    [] InOutGroup<T>: [T];
    [] Atomic<T>: [T];
    [] Racy<T>: [T];
    [] Scatter<T>: [T];
    [] ScatterLast<T>: [T];
    [O: 'static,] Reduce<T, O>: [T];
}
written_in_shape! {
    [const D: usize,] Out<T, D>: [T; D];
    [const D: usize,] InOut<T, D>: [T; D];
    [] OutRow<T>: [T; 2];
    [] InOutRow<T>: [T; 2];
    [] OutColumn<T>: [T; 2];
    [] InOutColumn<T>: [T; 2];
    [const N: usize, const D: usize,] OutChunk<T, N, D>: [[T; N]; D];
    [const D: usize,] OutGroup<T, D>: [T; D];
    [const D: usize,] InOutGroup<T, D>: [T; D];
    [const R: usize, const W: usize, const D: usize,] OutTile<T, R, W, D>: [T; D];
    [const D: usize,] Atomic<T, D>: [T; D];
    [const D: usize,] Racy<T, D>: [T; D];
    [const COLOUR: usize, const D: usize,] RedBlack<T, COLOUR, D>: [T; D];
    [const D: usize,] Scatter<T, D>: [T; D];
    [const D: usize,] ScatterLast<T, D>: [T; D];
}

/// A kernel and its arguments, on the host; for the macro, which makes one in the kernel's `host`.
#[doc(hidden)]
pub struct HostCall<'m, K, const D: usize> {
    scalars: Scalars,
    /// And which parameter each is for.
    lent: Vec<(usize, Slice)>,
    /// The memory of claims, which slices point to.
    claims: Vec<Vec<u32>>,
    /// So many claims are too many: of elements without bytes there may be more than memory has.
    too_many: Option<usize>,
    /// The kernel runs twice.
    ends: usize,
    twice: bool,
    params: usize,
    _kernel: Borrows<'m, K>,
}

impl<'m, K: Kernel, const D: usize> HostCall<'m, K, D> {
    /// A call without arguments yet.
    ///
    /// # Safety
    /// Arguments of the parameters' types follow in their order.
    pub unsafe fn begin() -> Self {
        HostCall {
            scalars: Scalars::new(),
            lent: vec![],
            claims: vec![],
            too_many: None,
            ends: 0,
            twice: false,
            params: 0,
            _kernel: PhantomData,
        }
    }

    /// The next argument, a scalar.
    ///
    /// # Safety
    /// The next parameter is of this type.
    pub unsafe fn value<T: Shared>(&mut self, value: T) {
        put_scalar(value, &mut self.scalars);
        self.params += 1;
    }

    /// The next argument, memory.
    ///
    /// # Safety
    /// As for [`value`](Self::value).
    pub unsafe fn memory<P>(&mut self, argument: impl HostArgument<P> + 'm) {
        let HostMemory(slice, _) = argument.lend::<'m>();
        self.lent.push((self.params, slice));
        self.params += 1;
    }

    /// A parameter that is no argument: the claims of the argument of this number among those that
    /// are memory, which is given.
    ///
    /// # Safety
    /// The next parameter is atomic, of `u32`, and of the argument's rank.
    pub unsafe fn claims(&mut self, of: usize) {
        let Some((_, Slice { len, shape, rank, .. })) = self.lent.get(of) else { return };
        let (len, shape, rank) = (*len, *shape, *rank);
        if Layout::array::<u32>(len).is_err() {
            self.too_many = Some(len);
            return;
        }
        let mut claims = vec![0u32; len];
        let base = claims.as_mut_ptr().cast();
        self.claims.push(claims);
        self.lent.push((self.params, Slice { base, len, shape, rank }));
        self.params += 1;
    }

    /// A parameter that is no argument: the end of the launch's items in the next dimension.
    ///
    /// # Safety
    /// The next parameter is a `u32`, and the last scalar but for others of this kind and the turn.
    pub unsafe fn end(&mut self) {
        put_scalar(0u32, &mut self.scalars);
        self.ends += 1;
        self.params += 1;
    }

    /// A parameter that is no argument: whether the kernel runs for the first time.
    ///
    /// # Safety
    /// The next parameter is a `u32`, and the last scalar.
    pub unsafe fn turn(&mut self) {
        put_scalar(0u32, &mut self.scalars);
        self.twice = true;
        self.params += 1;
    }

    /// A parameter that is no argument.
    ///
    /// # Safety
    /// The next parameter is local memory.
    pub unsafe fn local(&mut self) {
        self.params += 1;
    }

    /// Runs it.
    pub fn run(mut self, items: impl IntoItems<D>) -> Result<()> {
        let name = K::FUNCTION.name;
        let code = code_of(name, K::code())?;
        if let Some(len) = self.too_many {
            let (what, label) = ("claims of a launch of", Label::from(name));
            let (extent, element_bytes) = (vec![len], size_of::<u32>());
            return Err(Error::TooLarge { what, label, extent, element_bytes });
        }
        let places = items.into_items();
        let launch = places.geometry();
        if !self.claims.is_empty() {
            let ends = ends_of(name, std::slice::from_ref(&launch))?;
            put_ends(&mut self.scalars, self.ends, &ends, self.twice.then_some(0));
        }
        let group = grouped(K::FUNCTION, &code.ir, &launch)?.unwrap_or([1; 3]);
        if group_too_large(code, group).is_some() {
            return Err(Error::GroupSize {
                kernel: Arc::from(name),
                launch: places.range.to_vec(),
                group: places.group.map(Vec::from).unwrap_or_default(),
                why: "variables and combined values of a group's items take more than 256 MiB",
            });
        }
        let (offset, range) = (widen_at(places.offset), widen(places.range));
        let geometry = Geometry { offset, group: Some(group), ..Geometry::new(D as u8, range) };
        let beyond = |why| Error::LaunchRange {
            command: Label::from(name),
            launch: places.range.to_vec(),
            offset: places.offset.to_vec(),
            why,
        };
        if let Some(why) = out_of_range(code, &geometry) {
            return Err(beyond(why));
        }
        let Some(Box3 { min, max }) = Box3::at(offset, range) else {
            return Err(beyond("its positions do not fit"));
        };
        let mut memory = Vec::with_capacity(self.lent.len());
        for (nth, (param, lent)) in self.lent.iter().enumerate() {
            let described = code.ir.params.get(*param);
            let label = described.map_or(Label::NONE, |param| Label::from(param.name.as_str()));
            let kind = described.map(|param| &param.kind);
            let read = matches!(kind, Some(ParamKind::View { access: Access::In, .. }));
            let reduced = matches!(kind, Some(ParamKind::Reduce { .. }));
            let dims = lent.shape;
            if checked_volume(dims) != Some(lent.len) {
                let (len, shape) = (lent.len, lent.visible());
                let len = count(len as u64, "element");
                let why = format!("{label} has {len}, not {shape:?}");
                return Err(Error::Configuration { what: "slice", why });
            }
            let (accessed, _) = owned(code, *param, dims, &Places { offset, range, group });
            if reduced && lent.len == 0 && !range.contains(&0) {
                let (command, buffer) = (Label::from(name), label.clone());
                return Err(Error::NoElement { command, access: nth, parameter: label, buffer });
            }
            if !read && !range.contains(&0) && !Box3::whole(dims).contains(&accessed) {
                return Err(Error::LaunchTooLarge {
                    command: Label::from(name),
                    launch: places.range.to_vec(),
                    offset: places.offset.to_vec(),
                    access: nth,
                    parameter: label.clone(),
                    buffer: label,
                    extent: lent.visible().into(),
                });
            }
            let extent = if reduced { [1; 3] } else { dims };
            let (base, none) = (lent.base, [0; 3]);
            memory.push(ParamPtr { base, dims, origin: none, extent, index: none, shape: extent });
        }
        if range.contains(&0) {
            return Ok(());
        }
        let launch = Launched::new(offset, range, group, code.reductions);
        let block = Positions { min, max };
        let once = |scalars: &Scalars| {
            // SAFETY: the arguments fit the parameters (`begin`): slices that are borrowed for as
            // long as `self` lives, or that it owns, mutably where they are written, with as many
            // elements as their shapes say. What owns elements by an item's position or a group's
            // index has them there, as was checked, and each position is computed once a turn, in
            // one block. One item after the other scatters.
            let mut run = || unsafe { K::items::<Checked>(scalars, &memory, &block, &launch) };
            watch(K::FUNCTION, &mut run).map_err(|violation| failed(*violation))
        };
        once(&self.scalars)?;
        if self.twice {
            put_ends(&mut self.scalars, 0, &[0; 3], Some(1));
            once(&self.scalars)?;
        }
        Ok(())
    }
}

/// What a kernel did wrong, as queues tell it.
#[cold]
fn failed(violation: Violation) -> Error {
    /// Apart from the numbers that runtimes give.
    static LAST: AtomicU64 = AtomicU64::new(1 << 63);
    let (label, cause) =
        (Label::from(violation.kernel.as_str()), Cause::Kernel(Arc::new(violation)));
    let (id, device) = (LAST.fetch_add(1, Ordering::Relaxed), "host".to_owned());
    Error::failed(Arc::new(Failure::new(id, "kernel", label, device, cause)))
}
