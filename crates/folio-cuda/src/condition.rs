//! Conditional nodes, by the driver's own.
//!
//! The driver's node runs a graph of its own by a value that a kernel sets. The kernel is
//! [a few lines of PTX](TEXT): the function that it calls is the driver's, which loads it without
//! NVRTC and without NVIDIA's library of device code. The kernel is launched before the node, and
//! in a loop at the end of each turn, too.

use crate::driver::Context;
use crate::graph::{Ids, Nodes};
use crate::memory::address;
use crate::program::{Entry, Ready};
use crate::way::Start;
use cudarc::driver::sys::{self, CUgraphConditionalNodeType as Kind, CUresult};
use folio_core::hal::{BodyNode, Branch, Choice, HalError};
use folio_driver::verdict::Verdict;
use std::ffi::c_void;
use std::ptr::null;

/// With a zero at its end, for the driver.
const TEXT: &str = concat!(include_str!("condition.ptx"), "\0");

/// `CU_GRAPH_COND_ASSIGN_DEFAULT`: each launch of the graph begins with the value that it has here.
const ASSIGN_DEFAULT: u32 = 1;

/// The kernel.
pub(crate) fn setter() -> Ready {
    Ready::new(TEXT, "condition")
}

/// The arguments of the kernel, in the order of its parameters.
struct Setting {
    handle: u64,
    value: u64,
    bytes: u32,
    kind: u32,
    count: u64,
    limit: u64,
    record: u64,
}

/// See the text: `kind`.
const NOT_ZERO: u32 = 0;
const NUMBER: u32 = 1;
const LOOP_BEGINS: u32 = 2;
const LOOP_GOES_ON: u32 = 3;

impl Nodes<'_> {
    /// A conditional node, the kernels that set its value, and the nodes of its bodies.
    pub(crate) fn condition(&self, branch: &Branch<'_>) -> Result<(), HalError> {
        let context = &*self.of.device.context;
        let several = branch.bodies.len() > 1 || branch.choice == Choice::Switch;
        let since = match several {
            true => context.optional.choices.then_some(()).ok_or("12.8"),
            false => context.optional.conditions.then_some(()).ok_or("12.4"),
        };
        if let Err(since) = since {
            let what = format!("this conditional node (the driver is older than CUDA {since})");
            return Err(HalError::unsupported(&what));
        }
        if !self.adds() {
            return Err(HalError::unsupported("exchanging a conditional node"));
        }
        let entry = self.of.device.setter.entry(context)?;
        let mut handle = 0;
        // SAFETY: a live graph and context; a place for the answer.
        let made = unsafe {
            let (graph, context) = (self.graph, context.raw);
            sys::cuGraphConditionalHandleCreate(&raw mut handle, graph, context, 0, ASSIGN_DEFAULT)
        };
        context.check("cuGraphConditionalHandleCreate", made)?;
        let (kind, sets) = match branch.choice {
            Choice::If => (Kind::CU_GRAPH_COND_TYPE_IF, NOT_ZERO),
            Choice::While { .. } => (Kind::CU_GRAPH_COND_TYPE_WHILE, LOOP_BEGINS),
            Choice::Switch => (Kind::CU_GRAPH_COND_TYPE_SWITCH, NUMBER),
        };
        let (value, bytes) = (address(&branch.value), branch.bytes as u32);
        let mut setting =
            Setting { handle, value, bytes, kind: sets, count: 0, limit: 0, record: 0 };
        if let Choice::While { limit } = branch.choice {
            setting.limit = limit;
            [setting.count, _] = self.scratch([size_of::<u64>() as u64, 0])?;
            setting.record = self.record(Verdict::Limit(branch.number))?;
        }
        self.set_condition(context, entry, &mut setting)?;
        let bodies = self.conditional(context, (kind, branch.bodies.len() as u32), handle)?;
        for (steps, graph) in branch.bodies.iter().zip(bodies) {
            let mut after = Ids::new();
            for step in steps {
                after = self.within(graph, &after, |nodes| match step {
                    BodyNode::Op(op) => nodes.all(op),
                    BodyNode::Branch(branch) => nodes.condition(branch),
                })?;
            }
            if sets == LOOP_BEGINS {
                setting.kind = LOOP_GOES_ON;
                self.within(graph, &after, |nodes| {
                    nodes.set_condition(context, entry, &mut setting)
                })?;
            }
        }
        Ok(())
    }

    /// A launch of the kernel.
    fn set_condition(
        &self,
        context: &Context,
        entry: Entry,
        setting: &mut Setting,
    ) -> Result<(), HalError> {
        let Setting { handle, value, bytes, kind, count, limit, record } = setting;
        let mut arguments: [*mut c_void; 7] = [
            (&raw mut *handle).cast(),
            (&raw mut *value).cast(),
            (&raw mut *bytes).cast(),
            (&raw mut *kind).cast(),
            (&raw mut *count).cast(),
            (&raw mut *limit).cast(),
            (&raw mut *record).cast(),
        ];
        let start = Start { entry, blocks: [1; 3], block: [1; 3], shared: 0 };
        // SAFETY: the arguments are what the kernel has. The value is live memory that the edges
        // order (the caller's part of the contract), the count and the record are the graph's.
        unsafe { self.start(context, &start, arguments.as_mut_ptr()) }
    }

    /// The driver's node. Returns the graphs of its bodies, which are empty and live as long as it.
    fn conditional(
        &self,
        context: &Context,
        (kind, size): (Kind, u32),
        handle: u64,
    ) -> Result<Vec<sys::CUgraph>, HalError> {
        // SAFETY: all bits of it may be 0: a kernel's parameters without a kernel.
        let mut params: sys::CUgraphNodeParams = unsafe { std::mem::zeroed() };
        params.type_ = sys::CUgraphNodeType::CU_GRAPH_NODE_TYPE_CONDITIONAL;
        params.__bindgen_anon_1.conditional = sys::CUDA_CONDITIONAL_NODE_PARAMS {
            handle,
            type_: kind,
            size,
            phGraph_out: std::ptr::null_mut(),
            ctx: context.raw,
        };
        let (graph, params) = (self.graph, &raw mut params);
        self.command(
            "cuGraphAddNode",
            // SAFETY: a place for the answer; nodes of this graph, without data of edges; the
            // parameters of its kind.
            |node, after, n| unsafe {
                sys::cuGraphAddNode_v2(node, graph, after, null(), n, params)
            },
            |_| CUresult::CUDA_ERROR_NOT_SUPPORTED,
        )?;
        // SAFETY: the driver has set the member of this kind of node: so many graphs.
        unsafe {
            let graphs = (*params).__bindgen_anon_1.conditional.phGraph_out;
            if graphs.is_null() {
                return Err(HalError::unsupported("a conditional node without bodies"));
            }
            Ok(std::slice::from_raw_parts(graphs, size as usize).to_vec())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// GRAPH-05: the kernel's parameters are those that it is launched with, in their order.
    #[test]
    fn the_condition_kernel_is_text_that_the_driver_takes() {
        let (head, rest) = TEXT.split_once(".visible .entry condition").unwrap();
        assert!(head.contains(".extern .func cudaGraphSetConditional"));
        let (params, body) = rest.split_once('{').unwrap();
        let params: Vec<&str> = params
            .split(".param .")
            .skip(1)
            .map(|p| p.split(&[',', '\n', ' '][..]).next().unwrap())
            .collect();
        assert_eq!(params, ["u64", "u64", "u32", "u32", "u64", "u64", "u64"]);
        assert!(body.trim_end_matches('\0').trim_end().ends_with('}'));
        assert_eq!(TEXT.matches('\0').count(), 1);
    }
}
