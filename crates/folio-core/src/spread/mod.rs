//! Launches that all devices of a queue share: each device computes a part of the items, as a
//! command of its own. What a part reads and writes follows from the kernel, and pages bring it,
//! as for any command.

mod boxes;
mod memory;
mod meter;
mod owners;
mod report;
mod results;
mod shares;

use boxes::Boxes;
pub(crate) use meter::Meter;
pub(crate) use owners::Owners;
pub use report::{Spread, SpreadPart, SpreadRead};
use results::Results;

use crate::buffer::{StorageHandle, View};
use crate::call::{AnyCall, KernelCall, Passed, Places, Plan, RunsIn};
use crate::engine::kernels::launch::Function;
use crate::error::{Error, Label, Result};
use crate::event::Event;
use crate::geom::{Box3, Dims};
use crate::group::{CommandGroup, Several, grouped};
use crate::hal::Geometry;
use crate::items::IntoItems;
use crate::planted::Planted;
use crate::queue::Queue;
use crate::sched::{Parts, Split, taking_part};
use folio_device::{Code, Combiner, Kernel};
use folio_kernel::{Owner, ParamKind, divide};
use smallvec::SmallVec;

/// A launch that is to be divided.
struct WholeLaunch<'c> {
    function: Function,
    code: &'static Code,
    geometry: Geometry,
    given: &'c [Passed],
    scalars: &'c [u64],
}

/// A launch that all devices of a queue are to share, as a command group describes it.
pub(crate) fn spreading(items: Geometry, call: AnyCall) -> Several {
    Several::spread(call.kernel.function.name, move |q: &Queue, group: &CommandGroup| {
        q.spread_as(&items, &call, &|part| group.describe_part(part))
    })
}

/// A launch's parts.
struct Divided {
    /// How they were made.
    owners: Owners,
    /// By device of the queue.
    parts: Parts,
}

impl Queue {
    /// Runs a kernel call for `items` on all devices of the queue, each of which computes a part of
    /// them: as the queue's [`Split`](crate::sched::Split) says, and where its scheduler has none,
    /// in bands of rows. The result is that of [`run`](Self::run), bit for bit, whatever the
    /// devices and the split.
    ///
    /// What a part reads and writes follows from the kernel, as for any launch. A device gets what
    /// its part reads and it does not have: of a stencil the halo, of an `In` whose indices are no
    /// sums of positions all of it. [`explain_spread`](Self::explain_spread) tells which.
    ///
    /// The event is done when all parts are, and fails if one does; the failure names the device.
    /// A kernel of which no part can be computed by itself is [`Error::NotSpread`]: one that asks
    /// for its launch's range or computes with the index of its group, and one that writes what is
    /// not its items' own.
    ///
    /// ```
    /// use folio_core::ir::device::Kernel;
    /// use folio_core::sched::Split;
    /// use folio_core::{Items, KernelCall, Result, Runtime};
    ///
    /// fn step<K: Kernel>(rt: &Runtime, items: Items<2>, call: KernelCall<K, 2>) -> Result<()> {
    ///     let q = rt.queue_over(&rt.devices(), Split::rows())?;
    ///     println!("{}", q.explain_spread(items, &call)?);
    ///     q.spread(items, call)?.wait()
    /// }
    /// ```
    pub fn spread<const D: usize>(
        &self,
        items: impl IntoItems<D>,
        call: impl RunsIn<D>,
    ) -> Result<Event> {
        self.spread_as(&items.into_items().geometry(), &call.call().any, &|_| ())
    }

    /// Runs a call as [`spread`](Self::spread) does if the queue has a [split](Self::split), and as
    /// [`run`](Self::run) otherwise.
    ///
    /// ```
    /// use folio_core::ir::device::Kernel;
    /// use folio_core::{Event, KernelCall, Queue, Result};
    ///
    /// fn square<K: Kernel>(q: &Queue, call: KernelCall<K, 1>) -> Result<Event> {
    ///     q.share(1000, call) // one device, or all of them
    /// }
    /// ```
    pub fn share<const D: usize>(
        &self,
        items: impl IntoItems<D>,
        call: impl RunsIn<D>,
    ) -> Result<Event> {
        match self.split() {
            Some(_) => self.spread(items, call),
            None => self.run(items, call),
        }
    }

    /// Spreads a launch, whose parts `describe` describes further.
    fn spread_as(
        &self,
        items: &Geometry,
        call: &AnyCall,
        describe: &dyn Fn(&mut CommandGroup),
    ) -> Result<Event> {
        let whole = self.whole(items, call)?;
        let divided = self.divide(&whole)?;
        self.cut(&whole, &divided.parts);
        let (mut groups, mut results) = (Vec::new(), Results::of(&whole));
        for (device, part) in self.on_devices().iter().zip(&divided.parts) {
            if part.is_empty() {
                continue;
            }
            results.begin((self, *device), (&whole, part), &mut groups)?;
            let (mut own, items) = (call.clone(), narrow(part, items));
            whole.move_groups(part, &mut own.given)?;
            results.take(&mut own.given);
            let mut group = self.group_on(*device);
            group.run_here(&items, &mut own);
            let mut several = whole.several_boxes(part);
            if self.inner.core.engine.plant.is(Planted::FirstBox) {
                several.iter_mut().for_each(|(_, boxes)| boxes.truncate(1));
            }
            if !several.is_empty() {
                group.rare().boxes = several;
            }
            groups.push(group);
        }
        if groups.is_empty() {
            groups.push(self.as_one(items, call));
        }
        results.end(self, &whole.code.name, &mut groups);
        groups.iter_mut().for_each(describe);
        let event = self.submit_parts(groups)?;
        divided.owners.remember(&whole);
        Ok(event)
    }

    /// What [`spread`](Self::spread) would do with a call: which items each device has, what of its
    /// inputs it reads beyond its own part, and which inputs it needs as a whole. Submits nothing.
    pub fn explain_spread<K: Kernel, const D: usize>(
        &self,
        items: impl IntoItems<D>,
        call: &KernelCall<K, D>,
    ) -> Result<Spread> {
        let items = items.into_items().geometry();
        let whole = self.whole(&items, &call.any)?;
        let divided = self.divide(&whole)?;
        let part = |(at, part): (usize, &Box3)| self.explain(&whole, (at, part), &items);
        let parts = divided.parts.iter().enumerate().map(part).collect();
        Ok(Spread { kernel: whole.code.name.clone(), parts })
    }

    /// Checks a launch that is to be spread, as a whole.
    fn whole<'c>(&self, items: &Geometry, call: &'c AnyCall) -> Result<WholeLaunch<'c>> {
        let AnyCall { kernel, scalars, given, .. } = call;
        let code = kernel.code()?;
        let group = grouped(kernel.function, &code.ir, items)?;
        let geometry = Geometry { group, ..*items };
        let whole = WholeLaunch { function: kernel.launched(code), code, geometry, given, scalars };
        whole.check()?;
        // What is wrong with one launch is wrong with its parts.
        self.check(&mut self.as_one(items, call))?;
        Ok(whole)
    }

    /// The launch as one command.
    fn as_one(&self, items: &Geometry, call: &AnyCall) -> CommandGroup {
        let mut group = self.group_on(self.on_devices()[0]);
        group.run_here(items, &mut call.clone());
        group
    }

    /// Cuts the pages of a launch's memory where its parts end: so no part waits for another that
    /// writes beside it, and none is brought more than it reads.
    fn cut(&self, whole: &WholeLaunch<'_>, parts: &Parts) {
        let touched = |passed: &Passed| {
            let of = |part: &Box3| whole.touched(passed, part);
            let boxes = parts.iter().filter(|part| !part.is_empty()).flat_map(of);
            boxes.collect::<SmallVec<[Box3; 8]>>()
        };
        let own_shape = |passed: &&Passed| has_own_shape(&passed.part.view);
        let all: SmallVec<[_; 4]> = (whole.given.iter().filter(own_shape))
            .map(|passed| (passed.part.view.storage.id, touched(passed)))
            .collect();
        let plant = self.inner.core.engine.plant;
        self.inner.core.engine.enter(|ledger| {
            all.iter().for_each(|(id, boxes)| ledger.storages.cut(*id, boxes, plant));
        });
    }

    fn divide(&self, whole: &WholeLaunch<'_>) -> Result<Divided> {
        let split = self.split().unwrap_or_else(Split::rows);
        let devices = self.on_devices();
        let Geometry { rank, offset, range, .. } = whole.geometry;
        let unit = whole.unit();
        let items = Box3::at(offset, range).unwrap_or(Box3::EMPTY);
        let speeds = self.speeds(&split, &whole.code.name);
        let by_speed = speeds.as_deref().map(|speeds| Split::weights(&taking_part(speeds)));
        let fresh = by_speed.as_ref().unwrap_or(&split);
        let fresh = fresh.parts(&items, (rank.into(), unit), devices.len());
        let fresh = fresh.map_err(|why| Error::Configuration { what: "split", why })?;
        let keeps = |storage: &StorageHandle, parts: &Parts| match &speeds {
            Some(speeds) => !self.is_worth(speeds, storage, [parts, &fresh]),
            None => split.is_measured() || owners::is_even(&items, [parts, &fresh]),
        };
        let kept = owners::kept((devices, &split), whole, (&items, unit), &keeps);
        let parts = kept.unwrap_or(fresh);
        let owners = Owners { devices: devices.into(), split, items, parts: parts.clone() };
        Ok(Divided { owners, parts })
    }
}

impl WholeLaunch<'_> {
    fn refused(&self, parameter: Label, why: &str) -> Error {
        Error::NotSpread { kernel: self.code.name.clone(), parameter, why: why.into() }
    }

    /// Why no part of the launch can be computed by itself, if none can.
    fn check(&self) -> Result<()> {
        if let Some(found) = divide::indivisible(&self.code.ir) {
            let name = |param: folio_kernel::ParamId| {
                let param = self.code.ir.params.get(param.index());
                param.map_or(Label::NONE, |param| Label::from(param.name.as_str()))
            };
            return Err(self.refused(found.param.map_or(Label::NONE, name), found.why));
        }
        for (nth, passed) in self.given.iter().enumerate() {
            let why = match self.kind(passed) {
                _ if passed.part.view.storage.managed.get().is_some() => {
                    "it is a managed pointer, which is accessible in one place"
                }
                Some(ParamKind::Reduce { element, combine }) => {
                    match element.scalar().and_then(|of| Combiner::of(of, *combine)) {
                        Some(_) => continue,
                        None => "the host does not combine its values",
                    }
                }
                Some(ParamKind::View { owner, .. }) if passed.mode.writes() => match owner {
                    Owner::Item | Owner::Row | Owner::Column | Owner::Group => continue,
                    Owner::Atomic if self.counted(nth).is_some() => continue,
                    Owner::Atomic => "what its items find there depends on other items",
                    Owner::Anyone => "any item may write any element, so parts may race",
                },
                _ => continue,
            };
            return Err(self.refused(self.function.parameter(nth), why));
        }
        Ok(())
    }

    fn kind(&self, passed: &Passed) -> Option<&ParamKind> {
        self.code.ir.params.get(passed.param).map(|param| &param.kind)
    }

    fn is_of(&self, passed: &Passed, wanted: Owner) -> bool {
        let kind = self.kind(passed);
        passed.mode.writes()
            && matches!(kind, Some(ParamKind::View { owner, .. }) if *owner == wanted)
    }

    /// The elements of an argument's storage, which has the argument's shape, that a part of the
    /// launch accesses, in boxes that may overlap.
    fn touched(&self, passed: &Passed, part: &Box3) -> Boxes {
        let mut moved = passed.clone();
        if self.move_groups(part, std::slice::from_mut(&mut moved)).is_err() {
            return Boxes::new();
        }
        let boxes = match self.reads_around(passed) {
            true => boxes::merged(self.plan(part).read(&moved)),
            false => std::iter::once(self.accessed(&moved, part)).collect(),
        };
        let full = boxes.into_iter().filter(|elements| !elements.is_empty());
        full.map(|elements| elements.shifted(moved.part.part.min)).collect()
    }

    /// An input of which items read other elements than those at their positions.
    fn reads_around(&self, passed: &Passed) -> bool {
        let Passed { param, mode, .. } = *passed;
        !mode.writes() && !self.code.reads_own(param) && !self.code.is_limit(param)
    }

    /// The inputs of which a part reads several boxes, with these: a part's command reads no more
    /// than its items do.
    fn several_boxes(&self, part: &Box3) -> Vec<(usize, Boxes)> {
        let reads = self.given.iter().enumerate();
        let reads = reads
            .filter(|(_, of)| self.reads_around(of) && has_own_shape(&of.part.view))
            .map(|(nth, of)| (nth, self.touched(of, part)));
        reads.filter(|(_, boxes)| boxes.len() > 1).collect()
    }

    /// The elements that belong to groups are counted from a launch's first group on: those of a
    /// part of the launch are a part of the argument.
    fn move_groups(&self, part: &Box3, given: &mut [Passed]) -> Result<()> {
        let Geometry { offset, group: Some(group), .. } = self.geometry else { return Ok(()) };
        let first: Dims = std::array::from_fn(|d| (part.min[d] - offset[d]) / group[d]);
        let count: Dims = std::array::from_fn(|d| part.extent()[d] / group[d]);
        for passed in given.iter_mut().filter(|passed| self.is_of(passed, Owner::Group)) {
            passed.part = passed.part.part(first, count)?;
        }
        Ok(())
    }

    /// The elements of an argument that a part of the launch accesses.
    fn accessed(&self, passed: &Passed, part: &Box3) -> Box3 {
        self.plan(part).accessed(passed).0
    }

    fn plan(&self, part: &Box3) -> Plan<'_> {
        let places = Places {
            offset: part.min,
            range: part.extent(),
            group: self.geometry.group.unwrap_or([1; 3]),
        };
        let rank = usize::from(self.geometry.rank);
        Plan::new(self.code, rank, places, (self.given, self.scalars))
    }
}

/// The view's elements are the storage's.
fn has_own_shape(view: &View) -> bool {
    let StorageHandle { grid, element_bytes, .. } = &*view.storage;
    view.dims == grid.dims && view.element_bytes == *element_bytes
}

/// The items of a part of a launch.
fn narrow(part: &Box3, of: &Geometry) -> Geometry {
    Geometry { offset: part.min, range: part.extent(), ..*of }
}
