//! The report: what was fused, what became of temporaries, what was not fused and why (FUSE-10).

use super::cost::{Balance, Limit, Load};
use super::input::{Graph, Work};
use super::intern::Fate;
use super::plan::{FusedKernel, Plan, PlanNode};
use super::pressure::registers;
use super::reason::Reason;
use crate::words::{bytes, count};
use std::fmt::{self, Display, Formatter, Write};

/// A memory in a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryReport {
    /// Its label.
    pub memory: String,
    /// `register`, `local`, `forwarded` or `memory`.
    pub fate: &'static str,
    /// Why it is not in registers or local memory alone.
    pub why: Option<String>,
    /// Bytes of traffic that a run saves.
    pub bytes_saved: u64,
}

/// A fused kernel in a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClusterReport {
    /// The fused kernel's name.
    pub kernel: String,
    /// The content hash of its code.
    pub key: String,
    /// The labels of its nodes.
    pub nodes: Vec<String>,
    /// Arguments that one parameter gives to several kernels.
    pub merged: usize,
    /// Scalars that are constants in the code.
    pub baked: u32,
    /// About how many registers an item needs ([`registers`]).
    pub registers: u32,
    /// The same for that of its kernels which needs most.
    pub registers_before: u32,
    /// The cost model's estimate.
    pub balance: Balance,
    /// The fates of the memories that it writes.
    pub memories: Vec<MemoryReport>,
}

/// Two kernels that were not fused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PairReport {
    /// The label of one.
    pub first: String,
    /// The label of the other.
    pub second: String,
    /// Why.
    pub why: String,
    /// The numbers behind it, if the cost model has decided.
    pub balance: Option<Balance>,
}

/// A plan for people: prints as text, and as JSON by [`Explanation::json`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Explanation {
    /// Launches of the graph as it was recorded.
    pub launches: usize,
    /// Launches of the plan.
    pub launches_left: usize,
    /// Bytes of traffic that a run saves.
    pub bytes_saved: u64,
    /// The fused kernels.
    pub clusters: Vec<ClusterReport>,
    /// Pairs of kernels that were not fused.
    pub unfused: Vec<PairReport>,
    /// Properties that are wrong.
    pub refuted: Vec<String>,
}

impl Plan {
    /// The report of this plan of the graph.
    pub fn explain(&self, graph: &Graph) -> Explanation {
        let is_kernel = |node: &usize| {
            graph.nodes.get(*node).is_some_and(|node| matches!(node.work, Work::Kernel(_)))
        };
        let all: Vec<usize> = (0..graph.nodes.len()).collect();
        let mut report = Explanation {
            launches: all.iter().filter(|node| is_kernel(node)).count(),
            ..Explanation::default()
        };
        for step in &self.steps {
            match step {
                PlanNode::Node(node) => report.launches_left += usize::from(is_kernel(node)),
                PlanNode::Fused(_) => report.launches_left += 1,
            }
        }
        for fused in self.fused() {
            let cluster = fused.explain(graph);
            let saved = cluster.memories.iter().map(|memory| memory.bytes_saved);
            report.bytes_saved = saved.fold(report.bytes_saved, u64::saturating_add);
            report.clusters.push(cluster);
        }
        report.unfused = self
            .unfused
            .iter()
            .map(|pair| PairReport {
                first: graph.node_label(pair.first),
                second: graph.node_label(pair.second),
                why: pair.reason.to_string(),
                balance: match &pair.reason {
                    Reason::NoGain(balance) => Some(**balance),
                    _ => None,
                },
            })
            .collect();
        report.refuted = self.refuted.iter().map(ToString::to_string).collect();
        report
    }
}

impl FusedKernel {
    /// Its report.
    pub fn explain(&self, graph: &Graph) -> ClusterReport {
        let fused = self;
        let memories = fused.outcomes.iter().map(|outcome| MemoryReport {
            memory: graph.memory_label(outcome.memory),
            fate: outcome.fate.name(),
            why: outcome.kept.as_ref().map(ToString::to_string),
            bytes_saved: outcome.bytes_saved,
        });
        let more = |n: usize| n.saturating_sub(1);
        let calls = fused.nodes.iter().filter_map(|node| graph.nodes.get(*node)?.call());
        let before = calls.map(|call| registers(&call.kernel)).max();
        ClusterReport {
            kernel: fused.kernel.name.clone(),
            key: fused.key().to_string(),
            nodes: fused.nodes.iter().map(|node| graph.node_label(*node)).collect(),
            merged: fused.parameters.iter().map(|p| more(p.stands_for.len())).sum(),
            baked: fused.baked,
            registers: fused.balance.load.registers,
            registers_before: before.unwrap_or(0),
            balance: fused.balance,
            memories: memories.collect(),
        }
    }
}

impl Fate {
    /// The fate's name.
    pub fn name(&self) -> &'static str {
        match self {
            Fate::Register => "register",
            Fate::Local { .. } => "local",
            Fate::Forwarded { .. } => "forwarded",
            Fate::Memory => "memory",
        }
    }
}

impl Display for ClusterReport {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let (nodes, now, before) = (self.nodes.join(", "), self.registers, self.registers_before);
        writeln!(
            f,
            "fused `{}`: {nodes}; {}, {before} before",
            self.kernel,
            count(now.into(), "register")
        )?;
        writeln!(f, "  {}", self.balance)?;
        for memory in &self.memories {
            write!(f, "  `{}`: {}", memory.memory, memory.fate)?;
            match (&memory.why, memory.bytes_saved) {
                (Some(why), 0) => writeln!(f, ", because {why}")?,
                (Some(why), saved) => writeln!(f, ", {} saved; {why}", bytes(saved))?,
                (None, saved) => writeln!(f, ", {} saved", bytes(saved))?,
            }
        }
        Ok(())
    }
}

impl Display for Explanation {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Explanation { launches, launches_left, bytes_saved, .. } = self;
        let (launches, saved) = (count(*launches as u64, "launch"), bytes(*bytes_saved));
        writeln!(f, "{launches} became {launches_left}; {saved} saved a run")?;
        self.clusters.iter().try_for_each(|cluster| write!(f, "{cluster}"))?;
        for pair in &self.unfused {
            writeln!(f, "not fused: `{}` and `{}`: {}", pair.first, pair.second, pair.why)?;
        }
        self.refuted.iter().try_for_each(|refuted| writeln!(f, "wrong: {refuted}"))
    }
}

/// A text of JSON.
struct Text<'t>(&'t str);

impl Display for Text<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_char('"')?;
        for c in self.0.chars() {
            match c {
                '"' | '\\' => write!(f, "\\{c}")?,
                c if u32::from(c) < 0x20 => write!(f, "\\u{:04x}", u32::from(c))?,
                c => f.write_char(c)?,
            }
        }
        f.write_char('"')
    }
}

fn balance(of: &Balance) -> String {
    let Balance { load, cached, in_flight, wanted, limit, gained_ns, lost_ns, unfused_ns } = of;
    let Load { launches, traffic, stretched, saved, working_set, .. } = load;
    let Load { registers, registers_alone, items, group, local, .. } = load;
    let limit = match limit {
        Limit::None => "none",
        Limit::Launch => "launch",
        Limit::Registers => "registers",
        Limit::Local => "local",
    };
    format!(
        "{{\"gained_ns\":{gained_ns},\"lost_ns\":{lost_ns},\"unfused_ns\":{unfused_ns},\
         \"launches\":{launches},\"traffic\":{traffic},\"stretched\":{stretched},\
         \"saved\":{saved},\
         \"working_set\":{working_set},\"cached\":{cached},\
         \"registers\":{registers},\"registers_alone\":{registers_alone},\
         \"items\":{items},\"group\":{group},\"local\":{local},\
         \"in_flight\":{in_flight},\"wanted\":{wanted},\"limit\":\"{limit}\"}}"
    )
}

fn list<T>(all: &[T], of: impl Fn(&T) -> String) -> String {
    format!("[{}]", all.iter().map(of).collect::<Vec<_>>().join(","))
}

impl Explanation {
    /// As JSON.
    pub fn json(&self) -> String {
        let memory = |memory: &MemoryReport| {
            let why = memory.why.as_ref().map_or("null".to_owned(), |why| Text(why).to_string());
            let (name, fate) = (Text(&memory.memory), Text(memory.fate));
            let saved = memory.bytes_saved;
            format!("{{\"memory\":{name},\"fate\":{fate},\"why\":{why},\"bytes_saved\":{saved}}}")
        };
        let text = |text: &String| Text(text).to_string();
        let cluster = |cluster: &ClusterReport| {
            format!(
                "{{\"kernel\":{},\"key\":{},\"nodes\":{},\"merged\":{},\"baked\":{},\
                 \"registers\":{},\"registers_before\":{},\"balance\":{},\"memories\":{}}}",
                Text(&cluster.kernel),
                Text(&cluster.key),
                list(&cluster.nodes, text),
                cluster.merged,
                cluster.baked,
                cluster.registers,
                cluster.registers_before,
                balance(&cluster.balance),
                list(&cluster.memories, memory),
            )
        };
        let pair = |pair: &PairReport| {
            let balance = pair.balance.as_ref().map_or("null".to_owned(), balance);
            let (first, second, why) = (Text(&pair.first), Text(&pair.second), Text(&pair.why));
            format!("{{\"first\":{first},\"second\":{second},\"why\":{why},\"balance\":{balance}}}")
        };
        format!(
            "{{\"launches\":{},\"launches_left\":{},\"bytes_saved\":{},\"clusters\":{},\
             \"unfused\":{},\"refuted\":{}}}",
            self.launches,
            self.launches_left,
            self.bytes_saved,
            list(&self.clusters, cluster),
            list(&self.unfused, pair),
            list(&self.refuted, text),
        )
    }
}
