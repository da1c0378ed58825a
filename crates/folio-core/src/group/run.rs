//! Kernel calls in command groups: which accesses they make.

use super::finish::param;
use super::{CommandGroup, GroupWork, Several};
use crate::buffer::Part;
use crate::call::{AnyCall, Passed, Places, Plan, RunsIn};
use crate::engine::kernels::launch::{Function, Launch, Scalars};
#[cfg(doc)]
use crate::error::Cause;
use crate::error::{Error, Label, Result};
use crate::geom::{Box3, Dims, checked_volume};
use crate::hal::{Geometry, Param};
use crate::items::IntoItems;
use crate::spread::spreading;
use folio_device::{Code, MOST_REDUCED};
use folio_kernel::{Kernel as Ir, ParamKind, source};
use smallvec::SmallVec;
use std::sync::Arc;

/// The size of the launch's groups: as the launch says, or the kernel.
pub(crate) fn grouped(
    function: &source::Function,
    ir: &Ir,
    items: &Geometry,
) -> Result<Option<Dims>> {
    let first = 3 - usize::from(items.rank);
    let own = (function.group.len() == usize::from(items.rank)).then(|| {
        let mut dims = [1; 3];
        dims[first..].copy_from_slice(function.group);
        dims
    });
    let refuse = |why: &'static str| {
        let group = items.group.or(own).map(|dims| dims[first..].to_vec()).unwrap_or_default();
        let (kernel, launch) = (Arc::from(function.name), items.range[first..].to_vec());
        Err(Error::GroupSize { kernel, launch, group, why })
    };
    match (ir.shape.groups, items.group.or(own)) {
        (false, None) => Ok(None),
        (false, Some(_)) => refuse("it is a kernel of items, without groups"),
        (true, None) => refuse(
            "say how large its groups are: `#[kernel(group = 256)]`, or `Items::from(range).groups([256])`",
        ),
        (true, Some(_)) if own.is_some() && items.group.is_some_and(|size| Some(size) != own) => {
            refuse("the kernel says another size")
        }
        (true, Some(size)) if size.contains(&0) => refuse("a group has at least one item"),
        (true, Some(size)) if (0..3).any(|dim| !items.range[dim].is_multiple_of(size[dim])) => {
            refuse(
                "the size does not divide the number of items; launch more, `n.next_multiple_of(size)`, \
                 and let the kernel leave out those from `n` on",
            )
        }
        (true, size) => Ok(size),
    }
}

/// Whether a launch reduces no more than a launch may.
fn reduces_within(code: &Code, range: Dims, group: Option<Dims>) -> bool {
    let group = group.unwrap_or([1; 3]);
    let groups = std::array::from_fn(|dim| range[dim] / group[dim].max(1));
    code.reductions == 0 || checked_volume(groups).is_some_and(|groups| groups <= MOST_REDUCED)
}

/// What command groups of SYCL have, and this one has not.
#[diagnostic::on_unimplemented(
    message = "a command group has no `parallel_for`",
    label = "no such action",
    note = "write a function with `#[kernel]`, and run it: `cg.run(n, f(&x, &mut y))`, or without a group \
        `q.run(n, f(&x, &mut y))?`",
    note = "a closure runs on the CPU: `cg.host_kernel([n], (x, y), |i, (x, mut y)| y[i] = x[i])`"
)]
pub trait ParallelFor {}

/// Positions in each dimension. Owners multiply theirs, by 2 for red and black cells and by 1,024
/// at most for tiles: no two of a launch come to one element by a number that wraps.
const MOST_POSITIONS: u64 = 1 << 53;

/// Why no kernel runs over these items, if there are too many.
pub(crate) fn out_of_range(code: &Code, geometry: &Geometry) -> Option<&'static str> {
    let Geometry { offset, range, group, .. } = *geometry;
    if checked_volume(range).is_none() {
        return Some(MANY_ITEMS);
    }
    let ends = Box3::at(offset, range).map(|items| items.max);
    if ends.is_none_or(|ends| ends.iter().any(|end| *end as u64 > MOST_POSITIONS)) {
        return Some("the position of the last item does not fit");
    }
    let reduces = reduces_within(code, range, group);
    (!reduces).then_some("so many items do not reduce to one value in one launch")
}

/// Why a launch has too many items for any device.
pub(super) const MANY_ITEMS: &str = "so many items cannot be counted";

impl CommandGroup {
    /// There is none: [`run`](Self::run) a kernel.
    #[doc(hidden)]
    pub fn parallel_for<N: ParallelFor, F>(&mut self, _: N, _: F) {}

    /// Runs a kernel call for `items`, on the queue's device.
    ///
    /// What is accessed follows from the kernel. An `In` is read where the launch indexes it, if
    /// indices are sums of positions, extents and scalars (so a stencil's halo is found); in
    /// dimensions of other indices, all of it. An `Out` is discarded, and an `InOut` read and
    /// written, at the items' positions, [`OutRow`](crate::OutRow) and
    /// [`InOutRow`](crate::InOutRow) in the rows of these, [`OutColumn`](crate::OutColumn) and
    /// [`InOutColumn`](crate::InOutColumn) in their columns; an [`OutGroup`](crate::OutGroup) is
    /// discarded, and an [`InOutGroup`](crate::InOutGroup) read and written, at the groups'
    /// indices, and a [`Reduce`](crate::Reduce) at its first element; [`Atomic`](crate::Atomic) and
    /// [`Racy`](crate::Racy) are read and written as a whole. A kernel with a
    /// [`Scatter`](crate::Scatter) takes several commands: it is all that the group does. Positions
    /// count from the beginning of the argument; a launch that reaches beyond what it writes is
    /// [`Error::LaunchTooLarge`].
    ///
    /// An index out of bounds, an integer divided by zero, a failed `assert!` or a `panic!` fail
    /// the command with [`Cause::Kernel`]. Without a [`label`](Self::label) the command has the
    /// kernel's name.
    pub fn run<const D: usize>(&mut self, items: impl IntoItems<D>, call: impl RunsIn<D>) {
        self.run_here(&items.into_items().geometry(), &mut call.call().any);
    }

    /// Runs a kernel call for `items` on all devices of the queue, as
    /// [`Queue::spread`](crate::Queue::spread) does: all parts start after what this group comes
    /// after, and have its label. The group does and accesses nothing else.
    ///
    /// ```
    /// use folio_core::ir::device::Kernel;
    /// use folio_core::{Event, Items, KernelCall, Queue, Result};
    ///
    /// fn step<K: Kernel>(q: &Queue, call: KernelCall<K, 2>, before: &Event) -> Result<Event> {
    ///     q.submit(|cg| {
    ///         cg.label("a step").after(before).spread([100, 100], call);
    ///         Ok(())
    ///     })
    /// }
    /// ```
    pub fn spread<const D: usize>(&mut self, items: impl IntoItems<D>, call: impl RunsIn<D>) {
        self.actions += 1;
        self.rare().several = Some(spreading(items.into_items().geometry(), call.call().any));
    }

    /// As [`run`](Self::run) where the call lies, since it is large; it is left without arguments.
    pub(crate) fn run_here(&mut self, places: &Geometry, call: &mut AnyCall) {
        let kernel = call.kernel;
        let found =
            kernel.code().and_then(|code| Ok((code, grouped(kernel.function, &code.ir, places)?)));
        let (code, group) = match found {
            Ok(found) => found,
            Err(error) => return self.refuse(error),
        };
        if call.scatters() {
            self.actions += 1;
            self.rare().several = Some(Several::scatter(*places, call.clone()));
            return;
        }
        let (geometry, name) = (Geometry { group, ..*places }, &kernel.function.name);
        let AnyCall { scalars, given, .. } = call;
        self.run_function(name, kernel.launched(code), geometry, given, scalars);
    }

    /// The launch that was described has this shape.
    pub(crate) fn set_shape(&mut self, shape: u8) {
        if let GroupWork::Kernel(Some(launch)) = &mut self.work {
            launch.geometry.shape = shape;
        }
    }

    /// What is the same for all kernels, compiled once: a program has a copy of the rest for each.
    fn run_function(
        &mut self,
        name: &'static &'static str,
        function: Function,
        geometry: Geometry,
        given: &mut SmallVec<[Passed; 4]>,
        scalars: &mut Scalars,
    ) {
        let Geometry { rank, offset, range, group, .. } = geometry;
        let code = function.code;
        if self.label == Label::NONE {
            self.label = Label::of(name);
        }
        if let Some(why) = out_of_range(code, &geometry) {
            return self.refuse(self.launch_range(&geometry, why));
        }
        let places = Places { offset, range, group: group.unwrap_or([1; 3]) };
        let plan = Plan::new(code, rank.into(), places, (given, scalars));
        let mut launch = Launch::new(geometry);
        launch.proved = !code.indexes_arrays && group.is_none();
        for (nth, passed) in given.iter().enumerate() {
            let (accessed, proved) = plan.accessed(passed);
            let Passed { part: part @ Part { view, part: whole, .. }, mode, .. } = passed;
            if !Box3::whole(whole.extent()).contains(&accessed) {
                let parameter = function.parameter(nth);
                let error = match code.ir.params.get(passed.param).map(|param| &param.kind) {
                    _ if code.is_limit(passed.param) => self.no_element(nth, part, parameter),
                    Some(ParamKind::Reduce { .. }) => self.no_element(nth, part, parameter),
                    _ => self.launch_too_large(&launch.geometry, nth, part, parameter),
                };
                launch.recycle();
                return self.refuse(error);
            }
            launch.proved &= proved;
            let param = param(view, &accessed.shifted(whole.min), *mode);
            launch.params.push(Param { index: accessed.min, shape: plan.shape(passed), ..param });
        }
        for (nth, (Passed { mut part, mode, .. }, param)) in
            given.drain(..).zip(&launch.params).enumerate()
        {
            if !part.marks.is_none() {
                self.rare().marks.push((nth, part.marks));
            }
            part.whole &= param.extent == part.part.extent();
            let max = std::array::from_fn(|dim| param.origin[dim] + param.extent[dim]);
            part.part = Box3 { min: param.origin, max };
            let parameter = || function.parameter(nth);
            launch.tokens.push(self.access_for(part, mode, parameter));
        }
        launch.function = Some(function);
        launch.scalars = std::mem::take(scalars);
        self.act(GroupWork::Kernel(Some(launch)));
    }
}
