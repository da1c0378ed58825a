//! Random kernels as Rust source, well typed by construction: text for rustc, and arguments.
//! [`Harness`] is what a program made of them runs each with, in every form that it has.

mod expr;
mod functions;
mod group;
mod harness;
mod items;
mod loads;
mod tile;
mod types;
mod writer;
mod written;

pub use harness::{Harness, LaunchCase, PLANTED};

use crate::interp::Arg;
use crate::rng::Rng;
use std::ops::Range;
use types::Ty;
use writer::Writer;

/// A kernel's text, and what it is launched with.
#[derive(Clone, Debug)]
pub struct Case {
    /// The seed that it was made from.
    pub seed: u64,
    /// The functions and structs that it needs, the kernel `k`, and `launch`, which launches it.
    pub text: String,
    /// The type arguments of `k` and `launch`, one instance after the other: nothing, or a type and
    /// a number.
    pub instances: Vec<String>,
    /// Its functions' results are within limits, and not exact: other devices compute others.
    pub inexact: bool,
    /// Position of the first item, by dimension.
    pub offset: Vec<usize>,
    /// Number of items.
    pub range: Vec<usize>,
    /// Items of a group, of a kernel of groups.
    pub group: Option<Vec<usize>>,
    /// The arguments.
    pub args: Vec<Arg>,
    /// The arguments that are parts of something larger.
    pub framed: Vec<bool>,
    /// The arguments that no source names: claims of what is scattered.
    pub claims: Range<usize>,
    /// The argument that says which turn it is, of a kernel that runs twice.
    pub turn: Option<usize>,
    /// The argument that the kernel prints to.
    pub log: Option<usize>,
}

/// The kinds of parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Scalar,
    In,
    Out,
    InOut,
    Row,
    InOutRow,
    Column,
    InOutColumn,
    /// The slots of its element, an array.
    Chunk,
    OfGroup,
    /// The group's tile, of so many rows and columns.
    Tile([usize; 2]),
    /// Columns of a struct, each a view of this kind.
    Columns(&'static str),
    /// The words that the kernel prints to.
    Log,
    /// With the one operation that the kernel uses.
    Atomic(&'static str),
    Reduce(&'static str),
    /// Every other cell, those of a colour.
    RedBlack(usize),
    Scatter,
    ScatterLast,
    /// How many items of the launch run.
    Count,
    Local(usize),
    LocalAtomic(usize),
}

#[derive(Clone, Debug)]
struct Param {
    name: String,
    kind: Kind,
    element: Ty,
    extent: Vec<usize>,
}

impl Param {
    fn rank(&self) -> usize {
        self.extent.len()
    }

    /// Its type in the kernel.
    fn ty(&self) -> String {
        let element = self.element.name();
        let rank = self.rank();
        match self.kind {
            Kind::Scalar => element,
            Kind::In => format!("In<{element}, {rank}>"),
            Kind::Out => format!("Out<{element}, {rank}>"),
            Kind::InOut => format!("InOut<{element}, {rank}>"),
            Kind::Row => format!("OutRow<{element}>"),
            Kind::InOutRow => format!("InOutRow<{element}>"),
            Kind::Column => format!("OutColumn<{element}>"),
            Kind::InOutColumn => format!("InOutColumn<{element}>"),
            Kind::Chunk => match &self.element {
                Ty::Array(num, n) => format!("OutChunk<{}, {n}, {rank}>", num.name),
                _ => format!("Out<{element}, {rank}>"),
            },
            Kind::OfGroup => format!("OutGroup<{element}, {rank}>"),
            Kind::Tile([r, c]) => format!("OutTile<{element}, {r}, {c}>"),
            Kind::Columns(view) => format!("{view}Columns<{element}>"),
            Kind::Log => "Log".to_owned(),
            Kind::Atomic(_) => format!("Atomic<{element}, {rank}>"),
            Kind::Reduce(by) => format!("Reduce<{element}, {by}>"),
            Kind::RedBlack(colour) => format!("RedBlack<{element}, {colour}, {rank}>"),
            Kind::Scatter => format!("Scatter<{element}, {rank}>"),
            Kind::ScatterLast => format!("ScatterLast<{element}, {rank}>"),
            Kind::Count => element,
            Kind::Local(n) => format!("Local<{element}, {n}>"),
            Kind::LocalAtomic(n) => format!("LocalAtomic<{element}, {n}>"),
        }
    }
}

/// How a launch is limited.
const LIMITED: &str = ".at_most(";

/// Makes the case with this seed.
pub fn generate(seed: u64) -> Case {
    let mut rng = Rng::new(seed);
    let groups = rng.chance(35);
    let rank = if groups { rng.within(1, 2) } else { rng.pick(&[1, 1, 2, 2, 3]) };
    let (mut offset, mut range, mut group) = (vec![], vec![], vec![]);
    for dim in 0..rank {
        // The last dimension is long enough for whole vectors, and some items beyond.
        let most = if dim + 1 < rank { 6 } else { 150 / rank };
        let size = rng.within(1, if rank == 1 { 12 } else { 4 });
        let count = if groups { size * rng.within(1, most / 8 + 1) } else { rng.within(1, most) };
        group.push(size);
        range.push(count);
        offset.push(if rng.chance(40) { rng.within(1, 3) } else { 0 });
    }
    let tiles = groups && rank == 2 && rng.chance(20);
    if tiles {
        (offset, group) = (vec![0; 2], vec![tile::SIDE; 2]);
        range = (0..2).map(|_| tile::SIDE * rng.within(1, 2)).collect();
    }
    let group = groups.then_some(group);
    let mut writer = Writer::new(rng, rank, groups);
    match tiles {
        true => writer.declare_tiles(&range),
        false => writer.declare(&offset, &range, group.as_deref()),
    }
    match groups {
        true if tiles => writer.tile_kernel(),
        true => writer.group_kernel(),
        false => writer.item_kernel(),
    }
    writer.launch(&offset, &range, group.as_deref());
    let instances = writer.instances();
    let ends = writer.ends[writer.ends.len() - writer.hidden_ends()..].to_vec();
    let hidden = Hiding { scattered: writer.scattered(), ends, twice: writer.last };
    let Writer { mut rng, params, text, inexact, .. } = writer;
    let (mut args, mut framed) = (vec![], vec![]);
    let (mut claims, mut turn, mut log) = (0..0, None, None);
    for param in &params {
        let count = param.extent.iter().product();
        if param.kind == Kind::Count {
            (claims, turn) = hidden.hide(&mut args, &mut framed);
        }
        if let (Kind::Columns(_), Ty::Struct(_, fields)) = (param.kind, &param.element) {
            for num in fields {
                let extent = vec![count as u64];
                args.push(Arg::View { extent, bytes: Ty::Num(*num).values(count, &mut rng) });
                framed.push(false);
            }
            continue;
        }
        if param.kind == Kind::Log {
            log = Some(args.len());
            args.push(Arg::View { extent: vec![count as u64], bytes: vec![0; count * 4] });
            framed.push(false);
            continue;
        }
        let bytes = param.element.values(count, &mut rng);
        framed.push(param.kind == Kind::In || rng.chance(50));
        args.push(match param.kind {
            Kind::Scalar => Arg::Scalar(bytes),
            Kind::Reduce(_) => Arg::Reduce(bytes),
            Kind::Local(_) | Kind::LocalAtomic(_) => Arg::Local,
            _ => Arg::View { extent: param.extent.iter().map(|n| *n as u64).collect(), bytes },
        });
    }
    if params.last().is_none_or(|param| param.kind != Kind::Count) {
        (claims, turn) = hidden.hide(&mut args, &mut framed);
    }
    Case { seed, text, instances, inexact, offset, range, group, args, framed, claims, turn, log }
}

/// The arguments that no source names.
struct Hiding {
    /// The extents of what is scattered, which has claims.
    scattered: Vec<Vec<usize>>,
    /// The ends of the launch's items, in the dimensions but the first.
    ends: Vec<usize>,
    /// The kernel runs twice, and is told which turn it is.
    twice: bool,
}

impl Hiding {
    /// Adds them. Which are claims, and which one the turn.
    fn hide(&self, args: &mut Vec<Arg>, framed: &mut Vec<bool>) -> (Range<usize>, Option<usize>) {
        let word = |number: usize| Arg::Scalar((number as u32).to_le_bytes().to_vec());
        let first = args.len();
        args.extend(self.scattered.iter().map(|extent| Arg::View {
            extent: extent.iter().map(|n| *n as u64).collect(),
            bytes: vec![0; extent.iter().product::<usize>() * size_of::<u32>()],
        }));
        let claims = first..args.len();
        args.extend(self.ends.iter().map(|end| word(*end)));
        let turn = self.twice.then_some(args.len());
        args.extend(turn.map(|_| word(0)));
        framed.resize(args.len(), false);
        (claims, turn)
    }
}

/// The program of these cases: a module for each, and a `main` that gives all of them to a
/// [`Harness`].
pub fn program(seeds: impl Iterator<Item = u64> + Clone) -> String {
    let mut text = String::new();
    for seed in seeds.clone() {
        let case = generate(seed).text;
        text += &format!("mod k{seed} {{\nuse super::*;\n{case}}}\n\n");
    }
    text += "pub fn main() {\nlet harness = Harness::open();\n";
    for seed in seeds {
        let case = generate(seed);
        let limited = case.text.contains(LIMITED);
        for of in case.instances {
            let call = if of.is_empty() { String::new() } else { format!("::{of}") };
            let kernel = match limited {
                true => format!("folio::ir::device::Limited<k{seed}::k{of}, u32>"),
                false => format!("k{seed}::k{of}"),
            };
            text += &format!("harness.case::<{kernel}>({seed}, &k{seed}::launch{call});\n");
        }
    }
    text + "}\n"
}
