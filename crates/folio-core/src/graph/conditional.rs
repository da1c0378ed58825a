//! Conditional nodes: whether, which, and how often graphs run within another one.

use super::items::works;
use super::run::Renewed;
use super::steps::{Step, Steps};
use super::template::{Template, Work};
use super::{Executable, Graph, Inner, Node, NodeKind, What};
use crate::buffer::AsPart;
use crate::element::DeviceType;
use crate::engine::plan::union::Union;
use crate::engine::runs::command::{Action, Command, End, MemRect};
use crate::engine::runs::conditional::{Conditional, Value, Within};
use crate::engine::terms::access::RawMem;
use crate::error::{GraphError, Label, Result};
use crate::group::Leases;
use crate::hal::Choice;
use crate::pages::DomainId;
use std::ops::{Bound, RangeBounds};
use std::sync::Arc;

/// The type of a condition's value: an integer.
pub trait Condition: DeviceType + sealed::Sealed {}

/// The type of a value that [`Graph::while_in`] compares: a number of 32 or 64 bits.
pub trait Compared: DeviceType + PartialOrd + sealed::FromBits {}

mod sealed {
    pub trait Sealed {}

    pub trait FromBits: Sized {
        /// The value with these bits, the lowest of them.
        fn from_word(bits: u64) -> Self;
        /// Its bits.
        fn word(self) -> u64;
    }
}

macro_rules! compared {
    ($($t:ident $bits:ident |$x:ident| $from:expr, $word:expr;)*) => {$(
        impl sealed::FromBits for $t {
            fn from_word(bits: u64) -> Self {
                let $x = bits as $bits;
                $from
            }
            fn word(self) -> u64 {
                let $x = self;
                ($word as $bits).into()
            }
        }
        impl Compared for $t {}
    )*};
}
compared! {
    f32 u32 |x| f32::from_bits(x), x.to_bits();
    f64 u64 |x| f64::from_bits(x), x.to_bits();
    u32 u32 |x| x, x;
    i32 u32 |x| x as i32, x;
    u64 u64 |x| x, x;
    i64 u64 |x| x as i64, x;
}

/// Whether a value is between these ends, all of them by their bits.
fn is_within<C: Compared>(value: u64, [low, high]: [Bound<u64>; 2]) -> bool {
    (low.map(C::from_word), high.map(C::from_word)).contains(&C::from_word(value))
}

macro_rules! conditions {
    ($($t:ty)*) => {$(
        impl sealed::Sealed for $t {}
        impl Condition for $t {}
    )*};
}
conditions!(u8 i8 u16 i16 u32 i32 u64 i64);

/// How deep conditional nodes may be nested: a thread that runs one calls itself for each level.
const MAX_DEPTH: usize = 64;

/// The parts of a conditional node, to make it again when one of its bodies changes.
pub(super) struct Bodies {
    choice: Choice,
    value: Value,
    /// Of the value's buffer.
    leases: Leases,
    label: Label,
    all: Vec<Arc<Steps>>,
}

impl Graph {
    /// Adds a node that is another graph, if a value is not 0 when the node's turn comes. The value
    /// is one element, which as a rule an earlier node writes.
    ///
    /// Conditional nodes are nested at most 64 deep: [`GraphError::NotInBody`] otherwise.
    ///
    /// The body is the graph as it is now. It holds kernels, copies, fills, interop tasks, graphs
    /// and conditional nodes over memory of the graph's device, and runs in order. The node uses
    /// what its bodies use, whether they run or not, and brings that to the device.
    ///
    /// ```
    /// # use folio_core::{Result, Runtime};
    /// fn example(rt: &Runtime) -> Result<()> {
    ///     let flag = rt.buffer::<u32, 1>(1)?.into_shared();
    ///     let x = rt.buffer::<i32, 1>(4)?.into_shared();
    ///     let body = rt.graph("cpu")?;
    ///     body.add(|cg| cg.fill(&x, 7))?;
    ///     let body = body.finalize()?;
    ///     let graph = rt.graph("cpu")?;
    ///     graph.add(|cg| cg.fill(&flag, 1))?;
    ///     graph.if_(&[], &flag, &body)?;
    ///     rt.queue_on("cpu")?.run_graph(&graph.finalize()?)?;
    ///     assert_eq!(x.to_vec()?, [7; 4]);
    ///     Ok(())
    /// }
    /// ```
    pub fn if_<C: Condition>(
        &self,
        after: &[Node],
        value: impl AsPart<C, 1>,
        then: &Executable,
    ) -> Result<Node> {
        self.conditional(after, value, None, Choice::If, &[then])
    }

    /// As [`if_`](Self::if_), with another graph that runs if the value is 0.
    pub fn if_else<C: Condition>(
        &self,
        after: &[Node],
        value: impl AsPart<C, 1>,
        then: &Executable,
        otherwise: &Executable,
    ) -> Result<Node> {
        self.conditional(after, value, None, Choice::If, &[then, otherwise])
    }

    /// As [`if_`](Self::if_), with a graph that runs again and again while the value is not 0: the
    /// value is read before each iteration. A node that would go on after `limit` iterations fails:
    /// [`GraphError::LimitReached`] is the cause.
    pub fn while_<C: Condition>(
        &self,
        after: &[Node],
        value: impl AsPart<C, 1>,
        limit: u64,
        body: &Executable,
    ) -> Result<Node> {
        self.conditional(after, value, None, Choice::While { limit }, &[body])
    }

    /// As [`while_`](Self::while_), with a number that is compared: the graph runs again and again
    /// while the number is in a range. No range has a NaN, so that ends the loop. A host thread
    /// reads the number, as devices compare integers with 0 alone.
    ///
    /// ```
    /// # use folio_core::{Result, Runtime};
    /// fn example(rt: &Runtime) -> Result<()> {
    ///     let residual = rt.buffer::<f32, 1>(1)?.into_shared();
    ///     let body = rt.graph("cpu")?;
    ///     body.add(|cg| cg.fill(&residual, 1e-7))?;
    ///     let graph = rt.graph("cpu")?;
    ///     graph.add(|cg| cg.fill(&residual, 1.0))?;
    ///     graph.while_in(&[], &residual, 1e-6.., 100, &body.finalize()?)?;
    ///     rt.queue_on("cpu")?.run_graph(&graph.finalize()?)?;
    ///     assert_eq!(residual.get([0])?, 1e-7);
    ///     Ok(())
    /// }
    /// ```
    pub fn while_in<C: Compared>(
        &self,
        after: &[Node],
        value: impl AsPart<C, 1>,
        range: impl RangeBounds<C>,
        limit: u64,
        body: &Executable,
    ) -> Result<Node> {
        let ends = [range.start_bound(), range.end_bound()].map(|end| end.map(|end| end.word()));
        let within = Within { ends, has: is_within::<C> };
        self.conditional(after, value, Some(within), Choice::While { limit }, &[body])
    }

    /// As [`if_`](Self::if_), with a graph for each of the values 0, 1, 2, ..; other values run
    /// none.
    pub fn switch<C: Condition>(
        &self,
        after: &[Node],
        value: impl AsPart<C, 1>,
        bodies: &[&Executable],
    ) -> Result<Node> {
        self.conditional(after, value, None, Choice::Switch, bodies)
    }

    fn conditional<C: DeviceType>(
        &self,
        after: &[Node],
        value: impl AsPart<C, 1>,
        within: Option<Within>,
        choice: Choice,
        bodies: &[&Executable],
    ) -> Result<Node> {
        let inner = &self.inner;
        // A hint names a place, and is checked as any use of it is.
        let (named, _) = Template::described(inner, |cg| {
            cg.name_part(value);
            Ok(())
        })?;
        let (command, leases) = named.into_parts();
        let value = match (&command.action, command.accesses.first()) {
            (Action::Hint { at, .. }, Some(access))
                if at.extent == [1, 1, size_of::<C>() as u64] =>
            {
                Value { access: *access, offset: at.offset, bytes: size_of::<C>(), within }
            }
            (_, access) => {
                let elements = access.map_or(0, |access| access.elements.volume());
                return Err(inner.error(GraphError::ConditionSize { elements }));
            }
        };
        let (mut all, mut label) = (Vec::with_capacity(bodies.len()), Label::NONE);
        for body in bodies {
            let (steps, name) = inner.steps_of(body)?;
            all.push(steps);
            if label == Label::NONE {
                label = name;
            }
        }
        let bodies = Bodies { choice, value, leases, label, all };
        let template = bodies.into_template(inner)?;
        self.push(What::One(Arc::new(template), None), after, &[])
    }
}

impl Bodies {
    /// The node.
    fn into_template(self, graph: &Inner) -> Result<Template> {
        let mut union = Union::default();
        union.add(&self.value.access, true);
        let mut leases = self.leases.clone();
        let (mut bodies, mut raw) = (Vec::with_capacity(self.all.len()), Vec::new());
        let mut depth = 1;
        for steps in &self.all {
            let mut commands: Vec<Command> = Vec::with_capacity(steps.all.len());
            for template in steps.all.iter().map(|step| &step.template) {
                let command = &template.command;
                let domain = self.value.access.domain;
                if let Some(why) = refused(command, graph.domain(), domain) {
                    let command = template.called();
                    return Err(graph.error(GraphError::NotInBody { command, why }));
                }
                if !works(command) {
                    continue;
                }
                if let Action::Conditional(inner) = &command.action {
                    depth = depth.max(inner.depth + 1);
                }
                if depth > MAX_DEPTH {
                    let (command, why) = (template.called(), "it is nested more than 64 deep");
                    return Err(graph.error(GraphError::NotInBody { command, why }));
                }
                command.accesses.iter().for_each(|access| union.add(access, false));
                raw.extend(command.action.raw().copied());
                leases.extend(template.leases.iter().cloned());
                commands.extend(command.again());
            }
            bodies.push(commands.into());
        }
        leases.sort_unstable_by_key(|storage| storage.id);
        leases.dedup_by_key(|storage| storage.id);
        let mut command = Command::new(None, false);
        command.device = Some(graph.device);
        command.label = self.label.clone();
        command.accesses.extend(union.into_accesses());
        command.action = Action::Conditional(Arc::new(Conditional {
            engine: graph.core.engine.me.clone(),
            device: graph.device,
            choice: self.choice,
            value: self.value,
            bodies,
            depth,
            raw,
            timing: None,
        }));
        graph.core.engine.open(graph.device)?;
        Ok(Template {
            kind: self.kind(),
            label: self.label.clone(),
            command,
            work: Work::None,
            leases,
            bodies: Some(Arc::new(self)),
            marks: vec![],
        })
    }

    /// The work of a node in one of its bodies, or in a body of a condition there.
    pub(super) fn find(&self, node: Node) -> Option<&Step> {
        let mut all = self.all.iter().flat_map(|steps| &steps.all);
        all.find_map(|step| match &step.template.bodies {
            _ if step.node == Some(node) => Some(step),
            Some(bodies) => bodies.find(node),
            None => None,
        })
    }

    /// Its bodies, and what pictures call them.
    pub(super) fn named(&self) -> impl Iterator<Item = (String, &Steps)> {
        let name = |nth: usize| match (self.choice, nth) {
            (Choice::If, 0) => "if not 0".to_owned(),
            (Choice::If, _) => "if 0".to_owned(),
            (Choice::While { .. }, _) if self.value.within.is_some() => "while in range".to_owned(),
            (Choice::While { .. }, _) => "while not 0".to_owned(),
            (Choice::Switch, nth) => format!("if {nth}"),
        };
        self.all.iter().enumerate().map(move |(nth, steps)| (name(nth), &**steps))
    }

    fn kind(&self) -> NodeKind {
        match self.choice {
            Choice::If => NodeKind::If,
            Choice::While { .. } => NodeKind::While,
            Choice::Switch => NodeKind::Switch,
        }
    }

    /// The text by which two are equal but for buffers, ranges and scalars.
    pub(super) fn shape(&self) -> Vec<Vec<String>> {
        self.all.iter().map(|steps| steps.shape()).collect()
    }

    /// The node with its bodies described again, if one of them has to be.
    pub(super) fn renewed(&self, graph: &Inner) -> Result<Option<Template>> {
        let mut all = self.all.clone();
        let mut renewed = false;
        for steps in &mut all {
            let new: Vec<Renewed> = steps.renewed(graph)?;
            if new.is_empty() {
                continue;
            }
            renewed = true;
            let steps = Arc::make_mut(steps);
            if steps.exchange(&new).1 {
                steps.sort_again();
            }
        }
        if !renewed {
            return Ok(None);
        }
        let (leases, label) = (self.leases.clone(), self.label.clone());
        let bodies = Bodies { choice: self.choice, value: self.value, leases, label, all };
        bodies.into_template(graph).map(Some)
    }
}

/// Why a command cannot be in a body, if it cannot.
pub(super) fn refused(
    command: &Command,
    device: DomainId,
    value: DomainId,
) -> Option<&'static str> {
    const ELSEWHERE: &str = "it uses memory of another place";
    if value != device {
        return Some("the value of the condition is in another place");
    }
    let other = |domain: DomainId| domain != device;
    let raw = |raw: &RawMem| raw.storage.is_some() && other(raw.domain);
    let ends = |at: &MemRect| matches!(&at.end, End::Raw(end) if raw(end));
    if matches!(command.action, Action::Task { .. }) {
        return Some("it is a host task");
    }
    if command.action.rects().into_iter().flatten().any(ends) {
        return Some(ELSEWHERE);
    }
    let mut used = command.accesses.iter().filter(|access| !access.elements.is_empty());
    used.any(|access| other(access.domain)).then_some(ELSEWHERE)
}
