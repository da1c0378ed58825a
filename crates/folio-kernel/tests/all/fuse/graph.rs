//! Graphs of kernels in text, for tests.

use crate::common::read;
use folio_kernel::fuse::{
    Argument, Call, Facts, FuseError, Geometry, Graph, Memory, MemoryId, Mode, Node, Options,
    OtherWork, Plan, Region, Wishes, Work, plan,
};
use folio_kernel::{Kernel, ParamKind};
use std::sync::Arc;

pub const ADD: &str = r#"kernel "add" items 1 tile 1
param p0 = "x" view f32 1 in item
param p1 = "y" view f32 1 in item
param p2 = "z" view f32 1 out item
body {
  %0 u64 = query position 0 0
  %1 f32 = load p0[%0]
  %2 f32 = load p1[%0]
  %3 f32 = add %1, %2
  store p2[%0] = %3
}
"#;

pub const MUL: &str = r#"kernel "mul" items 1 tile 1
param p0 = "x" view f32 1 in item
param p1 = "y" view f32 1 in item
param p2 = "z" view f32 1 out item
body {
  %0 u64 = query position 0 0
  %1 f32 = load p0[%0]
  %2 f32 = load p1[%0]
  %3 f32 = mul %1, %2
  store p2[%0] = %3
}
"#;

pub const FIVE: &str = r#"kernel "five" items 1 tile 1
param p0 = "x" view f32 1 in item
param p1 = "z" view f32 1 out item
body {
  %0 u64 = query position 0 0
  %1 f32 = load p0[%0]
  %2 f32 = const f32 5.0
  %3 f32 = mul %1, %2
  store p1[%0] = %3
}
"#;

/// A graph that is made node by node, each after all that uses its memories.
pub struct Chain {
    pub graph: Graph,
    sizes: Vec<u64>,
}

impl Chain {
    pub fn new() -> Chain {
        Chain { graph: Graph::default(), sizes: vec![] }
    }

    pub fn memory(&mut self, label: &str, size: u64) -> MemoryId {
        self.graph.memories.push(Memory { label: label.to_owned(), ..Memory::default() });
        self.sizes.push(size);
        MemoryId(self.sizes.len() as u32 - 1)
    }

    pub fn temporary(&mut self, label: &str, size: u64) -> MemoryId {
        let memory = self.memory(label, size);
        self.graph.memories[memory.index()].temporary = true;
        memory
    }

    pub fn wish(&mut self, memory: MemoryId, wishes: Wishes) {
        self.graph.memories[memory.index()].wishes = wishes;
    }

    /// A node after all earlier ones that use these memories.
    pub fn node(&mut self, label: &str, work: Work, memories: &[MemoryId]) -> usize {
        let uses = |node: &Node, memory: &MemoryId| match &node.work {
            Work::Kernel(call) => call.arguments.iter().any(|a| a.memory() == Some(*memory)),
            Work::Other(_, all) => all.contains(memory),
        };
        let nodes = self.graph.nodes.iter().enumerate();
        let after = nodes.filter(|(_, node)| memories.iter().any(|memory| uses(node, memory)));
        let after = after.map(|(at, _)| at).collect();
        self.graph.nodes.push(Node { label: label.to_owned(), work, after });
        self.graph.nodes.len() - 1
    }

    pub fn other(&mut self, what: OtherWork, memories: &[MemoryId]) -> usize {
        self.node(&what.to_string(), Work::Other(what, memories.to_vec()), memories)
    }

    /// A call over one dimension; memories are given to views and reductions, in order.
    pub fn call(&mut self, label: &str, text: &str, range: u64, memories: &[MemoryId]) -> usize {
        self.launch(label, read(text), Geometry::over([range, 1, 1]), memories)
    }

    pub fn grouped(&mut self, text: &str, range: u64, size: u64, memories: &[MemoryId]) -> usize {
        let kernel = read(text);
        let group = Some([size, 1, 1]);
        let geometry = Geometry { group, ..Geometry::over([range, 1, 1]) };
        self.launch(&kernel.name.clone(), kernel, geometry, memories)
    }

    pub fn launch(
        &mut self,
        label: &str,
        kernel: Kernel,
        geometry: Geometry,
        memories: &[MemoryId],
    ) -> usize {
        let mut left = memories.iter();
        let arguments = kernel.params.iter().map(|param| match &param.kind {
            ParamKind::Scalar(ty) => {
                let size = kernel.types.layout(*ty).0 as usize;
                let mut bytes = vec![0; size];
                bytes[0] = 3;
                Argument::Scalar { bytes, fixed: true }
            }
            ParamKind::View { .. } => {
                let memory = *left.next().unwrap();
                let region = Region::whole(memory, [self.sizes[memory.index()], 1, 1]);
                Argument::View { region, wishes: Wishes::default() }
            }
            ParamKind::Reduce { .. } => Argument::Reduce(*left.next().unwrap()),
            ParamKind::Local { .. } => Argument::Local,
        });
        let arguments = arguments.collect();
        let call = Call {
            kernel: Arc::new(kernel),
            geometry,
            arguments,
            infallible: false,
            covers: vec![],
        };
        self.node(label, Work::Kernel(call), memories)
    }

    /// The call of a node, to change it.
    pub fn at(&mut self, node: usize) -> &mut Call {
        match &mut self.graph.nodes[node].work {
            Work::Kernel(call) => call,
            Work::Other(what, _) => panic!("{what}"),
        }
    }

    /// The properties of the accesses of a node's n-th view.
    pub fn wish_access(&mut self, node: usize, view: usize, of: Wishes) {
        let views = self.at(node).arguments.iter_mut().filter_map(|argument| match argument {
            Argument::View { wishes, .. } => Some(wishes),
            _ => None,
        });
        *views.into_iter().nth(view).unwrap() = of;
    }

    pub fn plan_with(&self, options: Options) -> Result<Plan, FuseError> {
        plan(&self.graph, &Facts::GPU, options)
    }

    pub fn plan(&self, mode: Mode) -> Result<Plan, FuseError> {
        plan(&self.graph, &Facts::GPU, Options::new(mode))
    }
}

/// `z[i] = x[i + 1]`, without a test.
pub const NEXT: &str = r#"kernel "next" items 1 tile 1
param p0 = "x" view f32 1 in item
param p1 = "z" view f32 1 out item
body {
  %0 u64 = query position 0 0
  %1 u64 = const u64 1
  %2 u64 = add %0, %1
  %3 f32 = load p0[%2]
  store p1[%0] = %3
}
"#;

/// `z[i] += x[i]`
pub const UPDATE: &str = r#"kernel "update" items 1 tile 1
param p0 = "x" view f32 1 in item
param p1 = "z" view f32 1 inout item
body {
  %0 u64 = query position 0 0
  %1 f32 = load p0[%0]
  %2 f32 = load p1[%0]
  %3 f32 = add %1, %2
  store p1[%0] = %3
}
"#;

/// `z[i] = x[at[i]]`
pub const GATHER: &str = r#"kernel "gather" items 1 tile 1
param p0 = "at" view u64 1 in item
param p1 = "x" view f32 1 in item
param p2 = "z" view f32 1 out item
body {
  %0 u64 = query position 0 0
  %1 u64 = load p0[%0]
  %2 f32 = load p1[%1]
  store p2[%0] = %2
}
"#;

/// The sum of all elements.
pub const SUM: &str = r#"kernel "sum" items 1 tile 1
param p0 = "x" view f32 1 in item
param p1 = "total" reduce f32 add
body {
  %0 u64 = query position 0 0
  %1 f32 = load p0[%0]
  contribute p1 = %1
}
"#;

/// Each item of a group doubles its element.
pub const DOUBLE: &str = r#"kernel "double" groups 1 tile 1
param p0 = "x" view f32 1 in item
param p1 = "z" view f32 1 out item
body {
  phase {
    %0 u64 = query position 0 0
    %1 f32 = load p0[%0]
    %2 f32 = add %1, %1
    store p1[%0] = %2
  }
}
"#;

/// Each item takes the element at the mirrored place of its group.
pub const MIRROR: &str = r#"kernel "mirror" groups 1 tile 1
param p0 = "x" view f32 1 in item
param p1 = "z" view f32 1 out item
body {
  %1 u64 = query group_size 0 0
  phase {
    %3 u64 = query position 0 0
    %4 u64 = query local_id 0 0
    %5 u64 = sub %3, %4
    %6 u64 = const u64 1
    %7 u64 = sub %1, %6
    %8 u64 = sub %7, %4
    %9 u64 = add %5, %8
    %10 f32 = load p0[%9]
    store p1[%3] = %10
  }
}
"#;

/// `z[i]` is the sum of `n` times `x[i]`.
pub const SCALED: &str = r#"kernel "scaled" items 1 tile 1
param p0 = "n" scalar u64
param p1 = "x" view f32 1 in item
param p2 = "z" view f32 1 out item
var v0 = "sum" f32
body {
  %0 u64 = arg p0
  %1 u64 = query position 0 0
  %2 u64 = const u64 0
  for l0 %3 in %2, %0 {
    %4 f32 = load p1[%1]
    %5 f32 = load v0
    %6 f32 = add %4, %5
    store v0 = %6
  }
  %7 f32 = load v0
  store p2[%1] = %7
}
"#;
