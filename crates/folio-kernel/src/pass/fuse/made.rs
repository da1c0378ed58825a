//! A step of a plan in the making: a node, or kernels that have become one, with what is known of
//! their calls.

use super::cost::Load;
use super::input::{Geometry, MemoryId, Region};
use super::intern::Outcome;
use super::join::{JoinedKernel, Parameter, Source};
use super::plan::PlanNode;
use super::touch::PreparedCall;
use crate::ir::{Access, Kernel, Owner, Param, ParamId, ParamKind};

/// A step, and its kernels.
#[derive(Clone, Debug)]
pub(crate) struct Made<'g> {
    pub step: PlanNode,
    /// Its kernels; none where it is no kernel that can be fused.
    pub calls: Vec<PreparedCall<'g>>,
    pub geometry: Geometry,
    /// The load of its kernels.
    pub load: Load,
}

impl Made<'_> {
    pub fn nodes(&self) -> &[usize] {
        match &self.step {
            PlanNode::Node(node) => std::slice::from_ref(node),
            PlanNode::Fused(fused) => &fused.nodes,
        }
    }

    /// Its kernel, whose names are not those of a fused one where it is a node's.
    pub fn kernel(&self) -> Option<&Kernel> {
        match &self.step {
            PlanNode::Node(_) => Some(&*self.calls.first()?.call.kernel),
            PlanNode::Fused(fused) => Some(&fused.kernel),
        }
    }

    pub fn outcomes(&self) -> &[Outcome] {
        match &self.step {
            PlanNode::Node(_) => &[],
            PlanNode::Fused(fused) => &fused.outcomes,
        }
    }

    pub fn inlined(&self) -> &[usize] {
        match &self.step {
            PlanNode::Node(_) => &[],
            PlanNode::Fused(fused) => &fused.inlined,
        }
    }

    pub fn baked(&self) -> u32 {
        match &self.step {
            PlanNode::Node(_) => 0,
            PlanNode::Fused(fused) => fused.baked,
        }
    }

    /// The argument that a parameter of the kernel has.
    fn argument(&self, param: ParamId) -> Option<(usize, ParamId)> {
        match &self.step {
            PlanNode::Node(node) => Some((*node, param)),
            PlanNode::Fused(fused) => match fused.parameters.get(param.index())?.source {
                Source::Argument { node, param } => Some((node, param)),
                _ => None,
            },
        }
    }

    /// The region of a view.
    pub fn region(&self, param: ParamId) -> Option<&Region> {
        let (node, param) = self.argument(param)?;
        let call = self.calls.iter().find(|call| call.node == node)?;
        call.call.region(param)
    }

    /// The one view of a memory.
    pub fn param_of(&self, memory: MemoryId) -> Option<ParamId> {
        let ids = (0..self.kernel()?.params.len()).map(|at| ParamId(at as u32));
        let mut of_memory =
            ids.filter(|id| self.region(*id).is_some_and(|region| region.memory == memory));
        of_memory.next().filter(|_| of_memory.next().is_none())
    }

    /// Its kernel with the names that kernels have in a fused one behind so many others.
    pub fn joined(&self, behind: usize) -> Option<JoinedKernel> {
        let mut kernel = self.kernel()?.clone();
        let parameters = match &self.step {
            PlanNode::Fused(fused) => {
                let params = kernel.params.iter_mut().map(|param| &mut param.name);
                params.for_each(|name| *name = shifted(name, '.', behind));
                let sites = kernel.sites.iter_mut().map(|site| &mut site.file);
                sites.for_each(|file| *file = shifted(file, ':', behind));
                fused.parameters.clone()
            }
            PlanNode::Node(node) => {
                for param in &mut kernel.params {
                    param.name = format!("{behind}.{}", param.name);
                }
                for site in &mut kernel.sites {
                    site.file = format!("{behind}:{}", site.file);
                }
                let ids = (0..).map(ParamId).zip(&kernel.params);
                ids.map(|(id, param)| of_argument((*node, id), param)).collect()
            }
        };
        Some(JoinedKernel { kernel, parameters })
    }
}

/// The parameter of a kernel by itself.
fn of_argument(of: (usize, ParamId), param: &Param) -> Parameter {
    let discards = matches!(
        param.kind,
        ParamKind::View { access: Access::Out, owner, .. } if owner != Owner::Anyone
    );
    let source = Source::Argument { node: of.0, param: of.1 };
    Parameter { source, stands_for: vec![of], discards }
}

/// A name or a file that begins with the number of a kernel, which is by so much larger.
fn shifted(name: &str, separator: char, by: usize) -> String {
    let number = |(at, rest): (&str, &str)| {
        let at: usize = at.parse().ok()?;
        Some(format!("{}{separator}{rest}", at + by))
    };
    name.split_once(separator).and_then(number).unwrap_or_else(|| name.to_owned())
}
