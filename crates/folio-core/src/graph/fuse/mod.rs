//! Fusion of a graph's kernels: what [`folio_kernel::fuse`] plans for them becomes commands, which
//! the engine runs like any other.
//!
//! The commands as they were described stay beside the fused ones: an update exchanges these, and
//! the next run plans anew. Graphs within the graph are fused apart from it.

mod chain;
mod device;
mod make;
mod options;
mod plans;
mod question;
mod report;

pub use crate::engine::kernels::fused::FusionCounters;
pub(crate) use device::default_costs;
pub use options::FinalizeOptions;
pub(in crate::graph) use options::Wanted;
pub(in crate::graph) use plans::{Planned, Plans};
pub(in crate::graph) use question::function_of;

use super::steps::{Step, Steps};
use super::template::Template;
use super::{Inner, conflicts};
use crate::engine::pages::storage::StorageId;
use crate::error::{GraphError, Label};
use crate::foreign;
use crate::graph::conflicts::Conflicts;
use folio_kernel::fuse::{self, Elsewhere, Explanation, FuseError, FusedKernel, Mode};
use smallvec::SmallVec;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

/// The commands of a run.
pub(super) struct Ready {
    pub(super) steps: Arc<Steps>,
    /// By command: those that were described that it is.
    pub(super) members: Vec<SmallVec<[usize; 4]>>,
    /// If fusion was asked for.
    pub(super) report: Option<Explanation>,
    /// Memory that counts as never written after a run.
    pub(super) internal: Vec<StorageId>,
    /// By command: which fusion it took part in or why it did not, if fusion was asked for.
    pub(super) fusion: Vec<Option<Arc<str>>>,
}

/// A graph's commands after fusion.
pub(super) struct Fused {
    pub(super) units: Vec<Unit>,
    /// By unit: the units that it follows by an edge of the graph, and whether it fails with them.
    pub(super) after: conflicts::After,
    pub(super) report: Explanation,
}

/// Commands that run as one.
#[derive(Default)]
pub(super) struct Unit {
    /// The commands, by their numbers, in order.
    pub(super) members: SmallVec<[usize; 4]>,
    /// In their place, if they are several, and the plan that says so.
    pub(super) template: Option<Arc<Template>>,
    pub(super) plan: Option<Arc<Planned>>,
    /// Of kernels: which fusion they took part in, or why they did not.
    pub(super) fusion: Option<Arc<str>>,
}

/// An element of a part, in order.
enum Piece {
    Unit(Unit),
    Part(FusedPart),
}

/// A graph within a graph, when it has been fused. To what is around it, it is one thing.
struct FusedPart {
    range: Range<usize>,
    /// The commands outside of it that its own come after.
    before: Vec<usize>,
    pieces: Vec<Piece>,
}

/// A graph's commands while they are being fused: of one part after the other, the inner ones
/// first. A part is asked about between its first and its last command; what is outside of these is
/// only known to use memories. So each command is looked at once, however many parts there are, and
/// however deep they are nested.
struct Draft<'s> {
    graph: &'s Inner,
    steps: &'s Steps,
    temporaries: BTreeSet<StorageId>,
    of_several_sizes: HashSet<StorageId>,
    /// By command: those that it comes after, those by its data included.
    before: Vec<SmallVec<[u32; 4]>>,
    /// By memory: the commands that use it, in order.
    users: HashMap<StorageId, Vec<u32>>,
    /// The commands of the part, and the parts within it.
    pieces: Vec<Piece>,
    within: Range<usize>,
}

impl Inner {
    /// Makes of commands as they were described what runs. Those in `exchanged` have been exchanged
    /// before, and so may be again.
    pub(super) fn prepare(
        &self,
        steps: &Arc<Steps>,
        exchanged: &BTreeSet<usize>,
    ) -> Result<Ready, GraphError> {
        let internal = steps.internal(self.core.engine.plant);
        if steps.parts.iter().all(Option::is_none) {
            let members = (0..steps.all.len()).map(|at| SmallVec::from_slice(&[at])).collect();
            let (steps, fusion) = (steps.clone(), vec![]);
            return Ok(Ready { steps, members, report: None, internal, fusion });
        }
        let is_fixed = |at: usize| {
            let step = steps.all.get(at);
            step.is_some_and(|step| step.update.is_none()) && !exchanged.contains(&at)
        };
        let Fused { units, after, report } = self.fuse(steps, &is_fixed)?;
        let mut members = Vec::with_capacity(units.len());
        let mut all = Vec::with_capacity(units.len());
        let mut fusion = Vec::with_capacity(units.len());
        for unit in units {
            let Some(step) = unit.members.first().and_then(|at| steps.all.get(*at)) else {
                continue;
            };
            all.push(match unit.template {
                None => step.clone(),
                Some(template) => Step { node: None, template, update: None, part: step.part },
            });
            members.push(unit.members);
            fusion.push(unit.fusion);
        }
        let steps = Arc::new(steps.with(all, after));
        Ok(Ready { steps, members, report: Some(report), internal, fusion })
    }

    /// Fuses commands. `is_fixed` tells of which ones the scalars stay as they are.
    pub(super) fn fuse(
        &self,
        steps: &Steps,
        is_fixed: &dyn Fn(usize) -> bool,
    ) -> Result<Fused, GraphError> {
        let mut draft = Draft::new(self, steps);
        let mut reports: BTreeMap<u32, Explanation> = BTreeMap::new();
        let (none, windows): (Vec<_>, Vec<_>) =
            windows(steps).into_iter().partition(|window| window.range.start == window.range.end);
        for window in none {
            let (_, report) = draft.fuse_part(&window, vec![], is_fixed)?;
            reports.insert(window.part, report);
        }
        let mut windows = windows.into_iter().peekable();
        // Windows that have begun, each within the one before it.
        let mut open: Vec<(Window, Vec<Piece>)> = vec![];
        let mut pieces = vec![];
        for at in 0..steps.all.len() {
            if let Some(window) = windows.next_if(|window| window.range.start == at) {
                open.push((window, std::mem::take(&mut pieces)));
            }
            pieces.push(Piece::Unit(Unit::of(at)));
            if let Some((window, before)) = open.pop_if(|(of, _)| of.range.end == at + 1) {
                let (fused, report) = draft.fuse_part(&window, pieces, is_fixed)?;
                reports.insert(window.part, report);
                pieces = before;
                pieces.push(Piece::Part(fused));
            }
        }
        let units = units(pieces);
        let mut report = Explanation::default();
        reports.into_values().for_each(|own| report::add(&mut report, own));
        let after = edges(steps, &units);
        Ok(Fused { units, after, report })
    }
}

/// A part that is to be fused, from its first command to its last.
#[derive(Clone, Debug, PartialEq)]
struct Window {
    part: u32,
    wanted: Wanted,
    range: Range<usize>,
}

/// Those of all parts, by where they begin. Two of them are one within the other or apart, as the
/// commands of a graph within a graph are neighbours. One without commands is empty.
fn windows(steps: &Steps) -> Vec<Window> {
    let mut ranges: Vec<Range<usize>> = vec![0..0; steps.parts.len()];
    for (at, step) in steps.all.iter().enumerate() {
        if let Some(range) = ranges.get_mut(step.part as usize) {
            let start = if range.start == range.end { at } else { range.start };
            *range = start..at + 1;
        }
    }
    let parts = (0..).zip(&steps.parts).zip(ranges);
    let windows = parts
        .filter_map(|((part, wanted), range)| Some(Window { part, wanted: (*wanted)?, range }));
    let mut windows: Vec<Window> = windows.collect();
    windows.sort_by_key(|window| window.range.start);
    windows
}

impl Unit {
    /// A command by itself.
    fn of(at: usize) -> Unit {
        Unit { members: SmallVec::from_slice(&[at]), ..Unit::default() }
    }
}

impl Piece {
    /// Where its commands begin.
    fn first(&self) -> usize {
        match self {
            Piece::Unit(unit) => unit.members.first().copied().unwrap_or(0),
            Piece::Part(part) => part.range.start,
        }
    }

    /// With what is told of it, if it is one of the part's own.
    fn told(self, told: Option<Arc<str>>) -> Piece {
        match self {
            Piece::Unit(unit) => Piece::Unit(Unit { fusion: told.or(unit.fusion), ..unit }),
            part @ Piece::Part(_) => part,
        }
    }
}

/// All that runs, in order.
fn units(pieces: Vec<Piece>) -> Vec<Unit> {
    let (mut all, mut open) = (vec![], vec![pieces.into_iter()]);
    while let Some(innermost) = open.last_mut() {
        match innermost.next() {
            Some(Piece::Unit(unit)) => all.push(unit),
            Some(Piece::Part(part)) => open.push(part.pieces.into_iter()),
            None => drop(open.pop()),
        }
    }
    all
}

/// The command of a fused kernel, or why there is none.
type Made = Result<Template, String>;

impl<'s> Draft<'s> {
    fn new(graph: &'s Inner, steps: &'s Steps) -> Draft<'s> {
        let mut conflicts = Conflicts::default();
        let mut before = Vec::with_capacity(steps.all.len());
        let mut users: HashMap<StorageId, Vec<u32>> = HashMap::new();
        for (at, (step, asked)) in (0..).zip(steps.all.iter().zip(&steps.order.after)) {
            let mut own: SmallVec<[u32; 4]> = asked.iter().map(|(from, _)| *from).collect();
            let accesses = &step.template.command.accesses;
            conflicts.add(at, accesses, &mut |from, _| own.push(from));
            before.push(own);
            accesses.iter().for_each(|access| users.entry(access.storage).or_default().push(at));
        }
        Draft {
            graph,
            steps,
            temporaries: steps.temporaries(graph.core.engine.plant),
            of_several_sizes: question::of_several_sizes(steps),
            before,
            users,
            pieces: vec![],
            within: 0..0,
        }
    }

    /// The commands that a piece comes after.
    fn before(&self, piece: &Piece) -> impl Iterator<Item = usize> {
        let (members, further) = match piece {
            Piece::Unit(unit) => (&unit.members[..], &[][..]),
            Piece::Part(part) => (&[][..], &part.before[..]),
        };
        let of_members = members.iter().flat_map(|member| &self.before[*member]);
        of_members.map(|from| *from as usize).chain(further.iter().copied())
    }

    /// The piece that a command of the part is of.
    fn piece_of(&self, command: usize) -> usize {
        self.pieces.partition_point(|piece| piece.first() <= command).saturating_sub(1)
    }

    /// The pieces that a piece comes after.
    fn pieces_before(&self, piece: usize) -> Vec<usize> {
        let within = self.before(&self.pieces[piece]).filter(|from| self.within.contains(from));
        let mut before: Vec<usize> = within.map(|from| self.piece_of(from)).collect();
        before.retain(|from| *from != piece);
        before.sort_unstable();
        before.dedup();
        before
    }

    /// Who else uses a memory of the part.
    fn elsewhere(&self, memory: StorageId) -> Option<Elsewhere> {
        let users = self.users.get(&memory)?;
        let first = *users.first()? as usize;
        let after = users.partition_point(|at| (*at as usize) < self.within.end);
        let before = first < self.within.start;
        let one = if before { first } else { *users.get(after)? as usize };
        let label = self.steps.all.get(one).map(|step| step.template.label.as_str());
        let label = label.filter(|label| !label.is_empty());
        Some(Elsewhere { label: label.map_or(format!("node {one}"), str::to_owned), before })
    }

    /// The step of a piece that is a command of the part.
    fn step(&self, piece: usize) -> Option<&'s Step> {
        match &self.pieces[piece] {
            Piece::Unit(unit) => self.steps.all.get(*unit.members.first()?),
            Piece::Part(_) => None,
        }
    }

    /// The name of a command, and that of a part's first.
    fn label(&self, piece: usize) -> Label {
        let step = self.steps.all.get(self.pieces[piece].first());
        step.map_or(Label::NONE, |step| step.template.label.clone())
    }

    /// Fuses the commands of the graph itself, or those of a graph within it. Gives what they
    /// become.
    fn fuse_part(
        &mut self,
        &Window { part, wanted, ref range }: &Window,
        pieces: Vec<Piece>,
        is_fixed: &dyn Fn(usize) -> bool,
    ) -> Result<(FusedPart, Explanation), GraphError> {
        (self.pieces, self.within) = (pieces, range.clone());
        let before = self.pieces.iter().flat_map(|piece| self.before(piece));
        let mut before: Vec<usize> = before.filter(|from| *from < range.start).collect();
        before.sort_unstable();
        before.dedup();
        let core = &self.graph.core;
        let mut facts = core.engine.fusion_facts(self.graph.device);
        facts.of_plan.costs = wanted.costs.unwrap_or(facts.of_plan.costs);
        let options = wanted.options(facts.bakes);
        let question = self.question(part, is_fixed);
        let asked = question.graph.nodes.len();
        // A batch runs once, at once: without a subscriber its lines are not read.
        let listens = !self.graph.once || foreign::listening();
        let of = (facts.of_plan, options, listens);
        let (planned, made) = self.answer(&question, of, asked)?;
        let plan = &planned.plan;
        let mut report = match listens {
            true => plan.explain(&question.graph),
            false => Explanation::default(),
        };
        if !facts.of_plan.fuses {
            report::add_reason(&mut report, &self.graph.device_name(), "it does not fuse kernels");
        }
        let mut pieces: Vec<Piece> = Vec::with_capacity(plan.steps.len());
        let (graph, fuses) = (&question.graph, facts.of_plan.fuses);
        let refusals = report::by_node(plan);
        let told = report::FusionLines { plan, graph, draft: self, refusals, part, fuses };
        let told = plan.steps.iter().map(|step| if listens { told.of(step) } else { None });
        let told: Vec<Option<Arc<str>>> = told.collect();
        let first_of: Vec<usize> = self.pieces.iter().map(Piece::first).collect();
        for ((step, made), told) in plan.steps.iter().zip(made).zip(told) {
            let (fused, made) = match (step, made) {
                (fuse::PlanNode::Fused(fused), Some(made)) => (fused, made),
                (fuse::PlanNode::Node(at), _) => {
                    pieces.push(self.take(*at).told(told));
                    continue;
                }
                (fuse::PlanNode::Fused(_), None) => continue,
            };
            match made {
                Ok(template) => {
                    let members = fused.nodes.iter().map(|at| first_of[*at]).collect();
                    fused.nodes.iter().for_each(|at| drop(self.take(*at)));
                    let (template, plan) = (Some(Arc::new(template)), Some(planned.clone()));
                    pieces.push(Piece::Unit(Unit { members, template, plan, fusion: told }));
                }
                Err(why) if options.mode == Mode::Require => {
                    return Err(self.not_made(fused, &question.graph, &why));
                }
                Err(why) => {
                    report::not_made(&mut report, fused, &question.graph, &why);
                    let told: Arc<str> = format!("not fused: {why}").into();
                    let apart = fused.nodes.iter().map(|at| self.take(*at));
                    pieces.extend(apart.map(|piece| piece.told(Some(told.clone()))));
                }
            }
        }
        Ok((FusedPart { range: range.clone(), before, pieces }, report))
    }

    /// The plan for a question of so many nodes, and by step of it the command of a fused kernel,
    /// or why there is none.
    fn answer(
        &self,
        question: &question::Question,
        (mut facts, options, listens): (fuse::Facts, fuse::Options, bool),
        asked: usize,
    ) -> Result<(Arc<Planned>, Vec<Option<Made>>), GraphError> {
        let planned = self.planned(question, (facts, options, listens), asked)?;
        let made = self.templates(question, &planned);
        // Where one is not made, its nodes run, and may need what only others compute.
        let is_lacking = planned.plan.steps.iter().zip(&made).any(|(step, made)| {
            let inlines = matches!(step, fuse::PlanNode::Fused(of) if !of.inlined.is_empty());
            inlines && matches!(made, Some(Err(_)))
        });
        if !is_lacking {
            return Ok((planned, made));
        }
        facts.inlines = fuse::Inlining::None;
        let planned = self.planned(question, (facts, options, listens), asked)?;
        let made = self.templates(question, &planned);
        Ok((planned, made))
    }

    /// The plan for a question, of so many nodes.
    fn planned(
        &self,
        question: &question::Question,
        of: (fuse::Facts, fuse::Options, bool),
        asked: usize,
    ) -> Result<Arc<Planned>, GraphError> {
        let engine = &self.graph.core.engine;
        let planned = self.graph.plans.find(&question.graph, of, || {
            engine.timed_plan((self.graph.device, asked), || {
                let plant = engine.plant.of_fusion();
                fuse::planted(&question.graph, &of.0, of.1, plant)
            })
        });
        planned.map_err(|why| self.refused(why))
    }

    /// By step of a plan: the command of a fused kernel.
    fn templates(&self, question: &question::Question, planned: &Planned) -> Vec<Option<Made>> {
        let made = planned.plan.steps.iter().map(|step| match step {
            fuse::PlanNode::Node(_) => None,
            fuse::PlanNode::Fused(fused) => Some(self.make((question, planned), fused)),
        });
        made.collect()
    }

    fn take(&mut self, at: usize) -> Piece {
        std::mem::replace(&mut self.pieces[at], Piece::Unit(Unit::default()))
    }

    fn refused(&self, why: FuseError) -> GraphError {
        match why {
            FuseError::Device => {
                GraphError::FeatureNotSupported { device: self.graph.device_name() }
            }
            FuseError::Scopes { .. } | FuseError::Refuted(_) => GraphError::WrongMark { why },
            why => GraphError::KernelNotSupported { why },
        }
    }

    /// The device refuses a fused kernel.
    fn not_made(&self, fused: &FusedKernel, graph: &fuse::Graph, why: &str) -> GraphError {
        let name = |at: Option<&usize>| {
            at.and_then(|at| graph.nodes.get(*at)).map(|node| node.label.clone())
        };
        let (first, second) = (name(fused.nodes.first()), name(fused.nodes.last()));
        let (first, second) = (first.unwrap_or_default(), second.unwrap_or_default());
        let device = self.graph.device_name();
        GraphError::FusedKernelRefused { device, first, second, why: why.to_owned() }
    }
}

/// The edges between units: those that were asked for between their commands.
fn edges(steps: &Steps, units: &[Unit]) -> conflicts::After {
    let mut unit_of = vec![0u32; steps.all.len()];
    // A kernel that several compute is over before the first of them ends.
    for (at, unit) in units.iter().enumerate().rev() {
        unit.members.iter().for_each(|member| unit_of[*member] = at as u32);
    }
    let edges = units.iter().enumerate().map(|(at, unit)| {
        let before = unit.members.iter().flat_map(|member| &steps.order.after[*member]);
        let before = before.map(|(from, uses)| (unit_of[*from as usize], *uses));
        let mut after: SmallVec<[(u32, bool); 2]> =
            before.filter(|(from, _)| *from as usize != at).collect();
        conflicts::merge(&mut after);
        after
    });
    edges.collect()
}

#[cfg(all(test, not(loom), not(miri)))]
mod tests {
    use super::FinalizeOptions;
    use crate::engine::null::Null;
    use crate::{Result, Runtime};

    /// FUSE-01: what fusion is asked about: each command, and each graph within a graph, once,
    /// however deep graphs are nested.
    #[test]
    fn twice_the_depth_takes_twice_the_nodes_asked_about() {
        let rt = Runtime::builder().backend(Null::new(1)).build().unwrap();
        let device = &rt.devices()[0];
        let asked = |depth: u32| -> Result<u64> {
            let (x, y) =
                (rt.buffer::<u32, 1>(4)?.into_shared(), rt.buffer::<u32, 1>(4)?.into_shared());
            let mut graph = rt.graph(device)?;
            for _ in 0..depth {
                let inner = graph.finalize()?;
                graph = rt.graph(device)?;
                let first = graph.add(|cg| cg.fill(&x, 1))?;
                graph.add_graph(&[first], &inner)?;
                graph.add(|cg| cg.copy(&x, &y))?;
            }
            let before = device.fusion_counters().nodes;
            graph.finalize_with(FinalizeOptions::new().enable_fusion())?;
            Ok(device.fusion_counters().nodes - before)
        };
        let [once, twice] = [100, 200].map(|depth| asked(depth).unwrap());
        assert!(once >= 400 && twice <= 2 * once + 10, "{once}, {twice}");
    }
}
