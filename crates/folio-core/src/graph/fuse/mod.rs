//! Fusion of a graph's kernels: what [`folio_kernel::fuse`] plans for them becomes commands, which
//! the engine runs like any other.
//!
//! The commands as they were described stay beside the fused ones: an update exchanges these, and
//! the next run plans anew. Graphs within the graph are fused apart from it.

mod make;
mod options;
mod question;
mod report;

pub use crate::engine::fused::FusionCounters;
pub use options::FinalizeOptions;
pub(in crate::graph) use options::Wanted;
pub(in crate::graph) use question::function_of;

use super::steps::{Step, Steps};
use super::template::Template;
use super::{Inner, conflicts};
use crate::engine::storage::StorageId;
use crate::engine::trace;
use crate::error::{GraphError, Label};
use crate::graph::conflicts::Conflicts;
use folio_kernel::fuse::{self, Explanation, FuseError, FusedKernel, Mode};
use smallvec::SmallVec;
use std::collections::BTreeSet;
use std::sync::Arc;

/// What a run does.
pub(super) struct Ready {
    pub(super) steps: Arc<Steps>,
    /// By command: those that were described that it is.
    members: Vec<SmallVec<[usize; 4]>>,
    /// If fusion was asked for.
    pub(super) report: Option<Explanation>,
    /// What counts as never written after a run.
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

/// What runs as one command.
pub(super) struct Unit {
    /// The commands, by their numbers, in order.
    pub(super) members: SmallVec<[usize; 4]>,
    /// In their place, if they are several.
    pub(super) template: Option<Arc<Template>>,
    /// Of kernels: which fusion they took part in, or why they did not.
    pub(super) fusion: Option<Arc<str>>,
}

/// A graph's commands while they are being fused.
struct Draft<'s> {
    graph: &'s Inner,
    steps: &'s Steps,
    temporaries: BTreeSet<StorageId>,
    units: Vec<Unit>,
    /// By unit: those that it comes after, those by its data included.
    after: Vec<Vec<usize>>,
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
        let mut report = Explanation::default();
        for (part, wanted) in steps.parts.iter().enumerate() {
            let Some(wanted) = wanted else { continue };
            let own = draft.fuse_part(part as u32, *wanted, is_fixed)?;
            report::add(&mut report, own);
        }
        let Draft { units, .. } = draft;
        let after = edges(steps, &units);
        Ok(Fused { units, after, report })
    }
}

impl<'s> Draft<'s> {
    fn new(graph: &'s Inner, steps: &'s Steps) -> Draft<'s> {
        let mut conflicts = Conflicts::default();
        let mut after = Vec::with_capacity(steps.all.len());
        for (at, (step, asked)) in steps.all.iter().zip(&steps.order.after).enumerate() {
            let mut before: Vec<usize> = asked.iter().map(|(from, _)| *from as usize).collect();
            let accesses = &step.template.command.accesses;
            conflicts.add(at as u32, accesses, &mut |from, _| before.push(from as usize));
            before.sort_unstable();
            before.dedup();
            after.push(before);
        }
        let unit = |at| Unit { members: SmallVec::from_slice(&[at]), template: None, fusion: None };
        let units = (0..steps.all.len()).map(unit).collect();
        Draft {
            graph,
            steps,
            temporaries: steps.temporaries(graph.core.engine.plant),
            units,
            after,
        }
    }

    /// The step of a unit that has only one.
    fn step(&self, unit: usize) -> Option<&'s Step> {
        match &self.units[unit] {
            Unit { members, template: None, .. } => self.steps.all.get(*members.first()?),
            _ => None,
        }
    }

    fn label(&self, unit: usize) -> Label {
        match (self.step(unit), &self.units[unit].template) {
            (Some(step), _) => step.template.label.clone(),
            (None, Some(template)) => template.label.clone(),
            (None, None) => Label::NONE,
        }
    }

    /// Fuses the commands of the graph itself, or those of a graph within it.
    fn fuse_part(
        &mut self,
        part: u32,
        wanted: Wanted,
        is_fixed: &dyn Fn(usize) -> bool,
    ) -> Result<Explanation, GraphError> {
        let core = &self.graph.core;
        let mut facts = core.engine.fusion_facts(self.graph.device);
        facts.of_plan.costs = wanted.costs.unwrap_or(facts.of_plan.costs);
        let options = wanted.options(facts.bakes);
        let question = self.question(part, is_fixed);
        let plan = core.engine.timed_plan(self.graph.device, || {
            fuse::planted(&question.graph, &facts.of_plan, options, core.engine.plant.of_fusion())
        });
        let plan = plan.map_err(|why| self.refused(why))?;
        let mut report = plan.explain(&question.graph);
        if !facts.of_plan.fuses {
            report::add_reason(&mut report, &self.graph.device_name(), "it does not fuse kernels");
        }
        let mut units: Vec<Unit> = Vec::with_capacity(plan.steps.len());
        // By old unit: the new one.
        let mut now = vec![0; self.units.len()];
        let (graph, fuses) = (&question.graph, facts.of_plan.fuses);
        let refusals = report::by_node(&plan);
        let told = report::Told { plan: &plan, graph, draft: self, refusals, part, fuses };
        // A batch runs once, at once: without a subscriber its lines are not read.
        let listens = !self.graph.once || trace::listening();
        let told = plan.steps.iter().map(|step| if listens { told.of(step) } else { None });
        let told: Vec<Option<Arc<str>>> = told.collect();
        for (step, told) in plan.steps.iter().zip(told) {
            let fused = match step {
                fuse::Step::Node(at) => {
                    now[*at] = units.len();
                    let unit = self.take(*at);
                    units.push(Unit { fusion: told.or(unit.fusion), ..unit });
                    continue;
                }
                fuse::Step::Fused(fused) => fused,
            };
            match self.make(&question, fused) {
                Ok(template) => {
                    let mut members = SmallVec::new();
                    for at in &fused.nodes {
                        now[*at] = units.len();
                        members.extend(self.take(*at).members);
                    }
                    units.push(Unit { members, template: Some(Arc::new(template)), fusion: told });
                }
                Err(why) if options.mode == Mode::Require => {
                    return Err(self.not_made(fused, &question.graph, &why));
                }
                Err(why) => {
                    report::not_made(&mut report, fused, &question.graph, &why);
                    let told: Arc<str> = format!("not fused: {why}").into();
                    for at in &fused.nodes {
                        now[*at] = units.len();
                        units.push(Unit { fusion: Some(told.clone()), ..self.take(*at) });
                    }
                }
            }
        }
        let mut after = vec![Vec::new(); units.len()];
        for (at, before) in self.after.iter().enumerate() {
            after[now[at]].extend(before.iter().map(|from| now[*from]));
        }
        for (at, before) in after.iter_mut().enumerate() {
            before.retain(|from| *from != at);
            before.sort_unstable();
            before.dedup();
        }
        (self.units, self.after) = (units, after);
        Ok(report)
    }

    fn take(&mut self, at: usize) -> Unit {
        let Unit { members, template, fusion } = &mut self.units[at];
        let members = std::mem::take(members);
        Unit { members, template: template.take(), fusion: fusion.take() }
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
    for (at, unit) in units.iter().enumerate() {
        unit.members.iter().for_each(|member| unit_of[*member] = at as u32);
    }
    let edges = units.iter().enumerate().map(|(at, unit)| {
        let before = unit.members.iter().flat_map(|member| &steps.order.after[*member]);
        let before = before.map(|(from, uses)| (unit_of[*from as usize], *uses));
        let mut after: SmallVec<[(u32, bool); 2]> =
            before.filter(|(from, _)| *from as usize != at).collect();
        after.sort_unstable();
        after.dedup_by(|again, first| {
            let same = again.0 == first.0;
            first.1 |= same && again.1;
            same
        });
        after
    });
    edges.collect()
}
