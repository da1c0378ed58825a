//! The command of a fused kernel: its launch, and what that accesses.

use super::chain::{At, Chain, Scratch, Stage};
use super::question::{Question, function_of};
use super::{Draft, Planned, Template};
use crate::buffer::StorageHandle;
use crate::engine::kernels::blame::Blame;
use crate::engine::kernels::fused::{Fused, NativeChain, ScalarSource};
use crate::engine::kernels::launch::{Launch, Scalars};
use crate::engine::runs::command::{Action, Command};
use crate::engine::terms::access::{Access, Mode};
use crate::error::Label;
use crate::geom::{Box3, Dims};
use crate::graph::NodeKind;
use crate::graph::replay::can_fail;
use crate::graph::steps::Step;
use crate::graph::template::Work;
use crate::group::Leases;
use crate::hal::{Geometry, Param};
use crate::planted::Planted;
use crate::token::{GroupId, Token};
use folio_kernel::fuse::{
    Fate, FusedKernel, Geometry as Over, Home, Memory, MemoryId, Outcome, Source,
};
use folio_kernel::{Access as Does, Owner, ParamId, ParamKind};
use std::ops::Range;
use std::sync::Arc;

/// Memory that a fused launch uses, by one view.
struct Used {
    param: Param,
    handle: Arc<StorageHandle>,
    first: Access,
    /// The hull of the accesses of all its kernels.
    elements: Box3,
    written: bool,
    name: Label,
}

/// The launch of one of the kernels.
struct Member<'d> {
    step: &'d Step,
    launch: &'d Launch,
}

/// A kernel's argument that is memory.
struct MemoryArgument<'d> {
    param: &'d Param,
    access: &'d Access,
    handle: &'d Arc<StorageHandle>,
}

impl<'d> Member<'d> {
    fn of(draft: &Draft<'d>, unit: usize) -> Option<Member<'d>> {
        let step = draft.step(unit)?;
        let (launch, _) = function_of(step)?;
        Some(Member { step, launch })
    }

    /// The arguments of its parameters that are memory, with the numbers of the parameters.
    fn arguments(&self) -> impl Iterator<Item = (usize, MemoryArgument<'d>)> {
        let Member { step, launch } = *self;
        let params = launch.function.iter().flat_map(|function| &function.code.ir.params);
        let memory =
            |kind: &ParamKind| matches!(kind, ParamKind::View { .. } | ParamKind::Reduce { .. });
        let params = params.enumerate().filter(move |(_, param)| memory(&param.kind));
        params.zip(launch.params.iter().zip(&launch.tokens)).filter_map(
            move |((number, _), (param, token))| {
                let access = step.template.command.accesses.get(token.at)?;
                let handle = step.template.leases.get(token.at)?;
                Some((number, MemoryArgument { param, access, handle }))
            },
        )
    }

    fn argument(&self, param: ParamId) -> Option<MemoryArgument<'d>> {
        self.arguments().find(|(number, _)| *number == param.index()).map(|(_, given)| given)
    }

    /// The place of a scalar among those of the launch.
    fn scalar(&self, param: ParamId) -> Option<Range<usize>> {
        let ir = &self.launch.function.as_ref()?.code.ir;
        let words = |kind: &ParamKind| match kind {
            ParamKind::Scalar(ty) => ir.types.layout(*ty).0.div_ceil(8) as usize,
            _ => 0,
        };
        let first: usize =
            ir.params.iter().take(param.index()).map(|param| words(&param.kind)).sum();
        let count = words(&ir.params.get(param.index())?.kind);
        Some(first..first + count)
    }

    fn name_of(&self, param: usize) -> Label {
        let ir = self.launch.function.as_ref().map(|function| &function.code.ir);
        let param = ir.and_then(|ir| ir.params.get(param));
        param.map_or(Label::NONE, |param| Label::from(param.name.as_str()))
    }
}

/// Where an argument begins in its memory.
fn origin(param: &Param) -> Dims {
    std::array::from_fn(|dim| param.origin[dim].wrapping_sub(param.index[dim]))
}

fn accessed(param: &Param) -> Box3 {
    let max = std::array::from_fn(|dim| param.origin[dim] + param.extent[dim]);
    Box3 { min: param.origin, max }
}

impl Used {
    fn new(given: &MemoryArgument<'_>, name: Label) -> Used {
        Used {
            param: *given.param,
            handle: given.handle.clone(),
            first: *given.access,
            elements: given.access.elements,
            written: given.access.mode.writes(),
            name,
        }
    }

    /// Both are the same view of one memory.
    fn is(&self, given: &MemoryArgument<'_>) -> bool {
        let same = |a: &Param, b: &Param| {
            (a.dims, a.size, a.shape, origin(a)) == (b.dims, b.size, b.shape, origin(b))
        };
        self.first.storage == given.access.storage && same(&self.param, given.param)
    }

    fn set_box(&mut self, accessed: Box3) {
        let begin = origin(&self.param);
        self.param.origin = accessed.min;
        self.param.extent = accessed.extent();
        self.param.index = std::array::from_fn(|dim| accessed.min[dim].wrapping_sub(begin[dim]));
    }

    /// Adds the use by another kernel.
    fn add(&mut self, given: &MemoryArgument<'_>) {
        self.set_box(accessed(&self.param).hull(&accessed(given.param)));
        self.elements = self.elements.hull(&given.access.elements);
        self.written |= given.access.mode.writes();
    }

    /// All of the view may be read, whatever the kernels access.
    fn read_all(&mut self) {
        let begin = origin(&self.param);
        let max = std::array::from_fn(|dim| begin[dim] + self.param.shape[dim]);
        self.set_box(Box3 { min: begin, max });
        let grid = &self.handle.grid;
        let own =
            self.param.dims == grid.dims && self.param.size as usize == self.handle.element_bytes;
        self.elements = if own { accessed(&self.param) } else { Box3::whole(grid.dims) };
    }

    fn access(&self, reads_first: bool) -> Access {
        let covers = self.first.elements == self.elements && !reads_first;
        let mode = match (self.written, self.first.mode.discards() && covers) {
            (false, _) => Mode::Read,
            (true, true) => Mode::Discard { whole: false },
            (true, false) => Mode::Update,
        };
        let which = (self.first.storage, &self.handle.grid);
        Access::new(which, self.elements, mode, self.first.domain)
    }
}

/// A launch in the making: what it accesses.
struct Launching {
    launch: Box<Launch>,
    accesses: Vec<Access>,
    names: Vec<Label>,
    group: GroupId,
}

impl Launching {
    fn new(geometry: Geometry) -> Launching {
        let (launch, group) = (Launch::new(geometry), GroupId::next());
        Launching { launch, accesses: vec![], names: vec![], group }
    }

    fn uses(&mut self, used: &Used, reads_first: bool) {
        let access = used.access(reads_first);
        self.launch.params.push(Param { write: access.mode.writes(), ..used.param });
        self.launch.tokens.push(Token { group: self.group, at: self.accesses.len() });
        self.accesses.push(access);
        self.names.push(used.name.clone());
    }
}

/// A kernel's dimensions as the engine has them.
fn widened(size: [u64; 3], rank: u8, beyond: usize) -> Dims {
    let mut dims = [beyond; 3];
    let first = 3 - usize::from(rank);
    for (dim, size) in dims[first..].iter_mut().zip(size) {
        *dim = size as usize;
    }
    dims
}

fn geometry(over: &Over, rank: u8, groups: bool) -> Geometry {
    Geometry {
        rank,
        offset: widened(over.offset, rank, 0),
        range: widened(over.range, rank, 1),
        group: over.group.filter(|_| groups).map(|group| widened(group, rank, 1)),
        shape: 0,
    }
}

/// The fate of a memory, if it is not used.
fn internal(fused: &FusedKernel, memory: MemoryId) -> Option<&Outcome> {
    let outcome = fused.outcomes.iter().find(|outcome| outcome.memory == memory)?;
    let gone = matches!(outcome.fate, Fate::Register | Fate::Local { stored: false, .. });
    gone.then_some(outcome)
}

impl Draft<'_> {
    /// The command of a fused kernel; or why the device does not run it.
    pub(super) fn make(
        &self,
        (question, planned): (&Question, &Planned),
        fused: &FusedKernel,
    ) -> Result<Template, String> {
        let members = fused.nodes.iter().map(|at| Member::of(self, *at));
        let members: Vec<Member<'_>> = members.collect::<Option<_>>().ok_or("it has no IR")?;
        let (device, engine) = (self.graph.device, &self.graph.core.engine);
        let shape = fused.kernel.shape;
        let geometry = geometry(&fused.geometry, shape.rank, shape.groups);
        let mut launching = Launching::new(geometry);
        let work = match engine.devices[usize::from(device)].info.caps.closures {
            true => self.chain((question, planned), fused, &members, &mut launching)?,
            false => self.loaded((question, planned), fused, &members, &mut launching)?,
        };
        let Launching { launch, accesses, .. } = launching;
        let mut command = Command::new(None, false);
        command.device = Some(device);
        command.label = Label::from(fused.kernel.name.as_str());
        command.accesses.extend(accesses);
        for Member { step, .. } in &members {
            let one = &step.template.command;
            command.timed |= one.timed;
            command.after.extend_from_slice(&one.after);
        }
        command.action = Action::Launch(Some(launch));
        let (kind, label) = (NodeKind::Kernel, command.label.clone());
        let leases = Leases::default();
        Ok(Template { kind, label, command, work, leases, bodies: None, marks: vec![] })
    }

    /// The kernels one after the other, on a device that runs the host's code.
    fn chain(
        &self,
        (question, planned): (&Question, &Planned),
        fused: &FusedKernel,
        members: &[Member<'_>],
        launching: &mut Launching,
    ) -> Result<Work, String> {
        let mut used: Vec<Used> = vec![];
        let mut scratch: Vec<(MemoryId, Scratch)> = vec![];
        let plant = self.graph.core.engine.plant;
        let whole = widened(fused.geometry.range, fused.kernel.shape.rank, 1);
        let mut stages = vec![];
        for (at, (member, node)) in members.iter().zip(&fused.nodes).enumerate() {
            let Member { launch, .. } = *member;
            let function = launch.function.ok_or("it has no IR")?;
            let is_inlined = fused.inlined.contains(node);
            let (mut params, mut numbers) = (vec![], vec![]);
            for (number, given) in member.arguments() {
                let memory = question.memory(given.access);
                let is_it = |known: &(MemoryId, Scratch)| Some(known.0) == memory;
                let known = scratch.iter().position(is_it).or_else(|| {
                    let memory = memory?;
                    let first = match is_inlined {
                        true => {
                            internal(fused, memory)?;
                            of_stage(&function.code.ir.params.get(number)?.kind, at, given.param)
                        }
                        false => {
                            let first = first_use(question, fused, memory, member, number)?;
                            first.scratch(given.param)
                        }
                    };
                    scratch.push((memory, first));
                    Some(scratch.len() - 1)
                });
                let place = match known {
                    Some(at) => At::Scratch(at),
                    None => At::Param(match used.iter().position(|used| used.is(&given)) {
                        Some(at) => {
                            used[at].add(&given);
                            at
                        }
                        None => {
                            used.push(Used::new(&given, member.name_of(number)));
                            used.len() - 1
                        }
                    }),
                };
                if is_inlined && given.access.mode.writes() && matches!(place, At::Param(_)) {
                    return Err("pieces would compute it for each other".to_owned());
                }
                params.push((*given.param, place));
                numbers.push(number);
            }
            let (mut geometry, scalars) = (launch.geometry, launch.scalars.clone());
            if plant.is(Planted::StageBound) && has_room(&params, whole) {
                geometry.range = whole;
            }
            stages.push(Stage { function, geometry, scalars, params, numbers, is_inlined });
        }
        used.iter().for_each(|used| launching.uses(used, false));
        let bytes: Vec<usize> = used.iter().map(|used| used.param.size as usize).collect();
        let scratch = scratch.into_iter().map(|(_, scratch)| scratch).collect();
        let number = self.graph.core.engine.count_chain(self.graph.device, planned.key_of(fused));
        let group = launching.launch.geometry.group;
        let chain = Chain::new(stages, scratch, (group, &bytes), number);
        if chain.repeats() {
            return Err("pieces would compute the same for each other".to_owned());
        }
        let chain = Arc::new(chain);
        let kernel = chain.clone().native().ok_or("it has no form for the host")?;
        let (names, id) = (std::mem::take(&mut launching.names), kernel.id());
        launching.launch.kernel = Some(kernel);
        let (fails, reduces) = (fails(members), reduce(members));
        let (chain, loaded, sources) = (Some(chain as Arc<dyn NativeChain>), None, vec![]);
        let fused = Fused { names, chain, loaded, fails, reduces, sources };
        launching.launch.fused = Some(Arc::new(fused));
        Ok(Work::Closure(id))
    }

    /// The kernels as one, which the device loads.
    fn loaded(
        &self,
        (question, planned): (&Question, &Planned),
        fused: &FusedKernel,
        members: &[Member<'_>],
        launching: &mut Launching,
    ) -> Result<Work, String> {
        let nth = |node: usize| fused.nodes.iter().position(|known| *known == node);
        let member = |node: usize| members.get(nth(node)?);
        // The scalars of a kernel are behind those of the kernels before it.
        let scalars_of = |node: usize, param| {
            let (nth, member) = (nth(node)?, member(node)?);
            let before: usize = members[..nth].iter().map(|of| of.launch.scalars.len()).sum();
            let own = member.scalar(param)?;
            Some((before + own.start, member.launch.scalars.get(own)?))
        };
        let unfit = || "its parameters do not fit".to_owned();
        let (mut scalars, mut sources) = (Scalars::new(), vec![]);
        for (param, parameter) in fused.kernel.params.iter().zip(&fused.parameters) {
            match (&param.kind, parameter.source) {
                (ParamKind::Local { .. }, _) => {}
                (ParamKind::Scalar(_), Source::Argument { node, param }) => {
                    let (from, words) = scalars_of(node, param).ok_or_else(unfit)?;
                    sources.push(ScalarSource { at: scalars.len(), from, count: words.len() });
                    scalars.extend_from_slice(words);
                }
                (ParamKind::Scalar(_), _) => {
                    let number = fused.number(&question.graph, parameter);
                    scalars.push(number.ok_or_else(unfit)?);
                }
                (kind, _) => {
                    let mut used: Option<Used> = None;
                    for (node, param) in &parameter.stands_for {
                        let member = member(*node).ok_or_else(unfit)?;
                        let given = member.argument(*param).ok_or_else(unfit)?;
                        match &mut used {
                            Some(used) => used.add(&given),
                            None => used = Some(Used::new(&given, member.name_of(param.index()))),
                        }
                    }
                    let mut used = used.ok_or_else(unfit)?;
                    let memory = question.memory(&used.first);
                    // Only its earlier contents are read.
                    let before = memory.is_some_and(|memory| internal(fused, memory).is_some());
                    if before {
                        used.read_all();
                    }
                    if let ParamKind::View { access: Does::In, .. } = kind {
                        used.written = false;
                    }
                    launching.uses(&used, before);
                }
            }
        }
        let Launching { launch, names, .. } = launching;
        launch.scalars = scalars;
        launch.proved = members.iter().all(|member| member.launch.proved);
        let (engine, device) = (&self.graph.core.engine, self.graph.device);
        let load = || engine.load_fused(device, fused, blame(fused, members));
        let loaded = planned.code_of(fused, load).map_err(|error| error.to_string())?;
        let (loaded, is_known) = loaded;
        if is_known {
            engine.count_found(device);
        }
        let handle = loaded.handle;
        if launch.geometry.group.is_some() {
            let opened = engine.open(device).map_err(|error| error.to_string())?;
            let checked = opened.check(handle, &launch.geometry, &[]);
            checked.map_err(|error| error.message.to_string())?;
        }
        launch.loaded = Some(handle);
        let (names, loaded) = (std::mem::take(names), Some(loaded));
        let (fails, reduces) = (fails(members), reduce(members));
        let fused = Fused { names, chain: None, loaded, fails, reduces, sources };
        launch.fused = Some(Arc::new(fused));
        Ok(Work::Loaded(handle))
    }
}

/// Why one of them may fail by itself, if one may.
fn fails(members: &[Member<'_>]) -> Option<Arc<str>> {
    let why = members.iter().find_map(|member| can_fail(member.launch))?;
    Some(format!("it is fused, and {why}").into())
}

fn reduce(members: &[Member<'_>]) -> bool {
    members.iter().any(|member| member.launch.reduces())
}

/// So many items find their elements within the memories of a kernel's parameters.
fn has_room(params: &[(Param, At)], range: Dims) -> bool {
    params.iter().all(|(param, place)| {
        let within = |dim: usize| param.origin[dim] + range[dim] <= param.dims[dim];
        matches!(place, At::Scratch(_)) || (0..3).all(within)
    })
}

/// The first use of a memory that is none, by the kernels in their order.
struct FirstUse {
    home: Home,
    /// The kernel writes all elements of a piece.
    writes_all: bool,
    fresh: bool,
}

/// How a memory is first used that can be scratch of a piece; none if it cannot.
fn first_use(
    question: &Question,
    fused: &FusedKernel,
    memory: MemoryId,
    member: &Member<'_>,
    number: usize,
) -> Option<FirstUse> {
    let home = internal(fused, memory)?.home?;
    let function = member.launch.function.as_ref()?;
    let ParamKind::View { access, owner, .. } = function.code.ir.params.get(number)?.kind else {
        return None;
    };
    let own = match home {
        Home::Items => owner == Owner::Item,
        Home::Groups => owner == Owner::Group,
    };
    let geometry = &member.launch.geometry;
    let whole = widened(fused.geometry.range, fused.kernel.shape.rank, 1) == geometry.range;
    let writes_all = access == Does::Out && own && whole;
    let known = |memory: &Memory| memory.temporary || memory.wishes.no_init;
    let said =
        known(question.graph.memories.get(memory.index())?) || question.says_no_init(fused, memory);
    let fresh = said && question.users.is_unused_before(memory, &fused.nodes);
    (fresh || writes_all).then_some(FirstUse { home, writes_all, fresh })
}

/// Scratch with an element for each item of a stage.
fn of_stage(kind: &ParamKind, stage: usize, param: &Param) -> Scratch {
    let writes_all = matches!(kind, ParamKind::View { access: Does::Out, owner: Owner::Item, .. });
    let (element_bytes, of_stage) = (param.size as usize, Some(stage));
    Scratch { element_bytes, of_groups: false, zeroed: !writes_all, of_stage }
}

impl FirstUse {
    fn scratch(&self, param: &Param) -> Scratch {
        Scratch {
            element_bytes: param.size as usize,
            of_groups: self.home == Home::Groups,
            zeroed: self.fresh && !self.writes_all,
            of_stage: None,
        }
    }
}

/// Whose violations those of a fused kernel are.
fn blame(fused: &FusedKernel, members: &[Member<'_>]) -> Blame {
    let kernels = members.iter().map(|member| {
        let name = member.launch.function.as_ref().map(|function| function.code.name.clone());
        name.unwrap_or_else(|| Arc::from(""))
    });
    let mut params = vec![];
    for (param, parameter) in fused.kernel.params.iter().zip(&fused.parameters) {
        for (node, own) in &parameter.stands_for {
            if let Some(at) = fused.nodes.iter().position(|known| known == node) {
                let own = members[at].name_of(own.index());
                params.push((param.name.clone(), at, own.as_str().to_owned()));
            }
        }
    }
    Blame { kernel: String::new(), kernels: kernels.collect(), params }
}

impl Question {
    fn memory(&self, access: &Access) -> Option<MemoryId> {
        self.memories.get(&access.storage).copied()
    }

    /// All accesses of a memory by these kernels say that earlier contents are not used.
    fn says_no_init(&self, fused: &FusedKernel, memory: MemoryId) -> bool {
        use folio_kernel::fuse::Argument;
        let calls = fused.nodes.iter().filter_map(|at| self.graph.nodes.get(*at)?.call());
        let arguments = calls.flat_map(|call| &call.arguments);
        let mut mine = arguments.filter(|argument| argument.memory() == Some(memory));
        mine.all(|argument| match argument {
            Argument::View { wishes, .. } => wishes.no_init,
            _ => false,
        })
    }
}
