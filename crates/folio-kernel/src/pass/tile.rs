//! Several items per thread: a body that computes `k` items, for devices on which that hides
//! latency, or makes vectors of them.
//!
//! Statements without control flow are repeated one by one, so that the loads of all items come
//! before what uses them, and stores last. A loop that takes equal turns for all of a thread's
//! items is one loop for all of them; any other statement with control flow is repeated as a whole.
//! Items of an item kernel do not see each other, so any interleaving is right (semantics 1.2).
//! Which items a thread has, the emitter chooses: on GPUs they lie apart by as many as there are
//! threads that run together, copy `c` of thread `t` in a block of `b` threads is item `c * b + t`
//! of the block; on CPUs they are neighbours.

use crate::fault::Fault;
use crate::ir::{Body, Kernel, Label, Let, ParamKind, Stmt, Value, walk};
use crate::op::{Op, Query};
use crate::rename::Renamer;
use crate::types::Scalar;

/// Statements of a body that is worth repeating, at most.
const MOST: usize = 128;

/// How many items per thread are good for a kernel that mostly waits for memory: 16 bytes of the
/// widest element that it accesses. None for a kernel with loops or many statements, or in which
/// items do not write elements of their own.
pub fn items_per_thread(kernel: &Kernel) -> Option<u8> {
    let (mut statements, mut loops) = (0, false);
    walk(&kernel.body, &mut |stmt| {
        statements += 1;
        loops |= matches!(stmt, Stmt::For { .. } | Stmt::Loop { .. });
        loops |= matches!(stmt, Stmt::Let(Let { op: Op::Atomic(..), .. }));
    });
    let widest = kernel.params.iter().filter_map(|param| match &param.kind {
        ParamKind::View { element, .. } => Some(kernel.types.layout(*element).0),
        _ => None,
    });
    let widest = widest.max()?;
    let wanted = (16 / widest.max(1)).min(8) as u8;
    let groups = kernel.shape.groups || kernel.shape.tile != 1;
    (!groups && !loops && statements <= MOST && wanted >= 2).then_some(wanted)
}

/// The same kernel with `k` items per thread, all of which there are: in blocks, for launches of
/// which the last dimension is a multiple of what one block computes.
pub fn tile(kernel: &Kernel, k: u8) -> Result<Kernel, Fault> {
    if kernel.shape.groups || kernel.shape.tile != 1 || !(2..=16).contains(&k) {
        return Err(Fault::Misplaced("2 to 16 items per thread, of an item kernel of one"));
    }
    let reduces = |param: &crate::Param| matches!(param.kind, ParamKind::Reduce { .. });
    if kernel.params.iter().any(reduces) {
        // Which item contributed would be lost, and with it the fixed order (semantics 8.4).
        return Err(Fault::Misplaced("a kernel with launch-wide reductions is not tiled"));
    }
    let mut out = Kernel { body: vec![], ..kernel.clone() };
    out.shape.tile = k;
    let copies = (0..k).map(|copy| of_copy(&mut out, kernel, copy)).collect();
    let mut tile = Tile { out, copies, alike: alike(kernel) };
    let mut exits = false;
    walk(&kernel.body, &mut |stmt| {
        exits |= matches!(stmt, Stmt::Return | Stmt::Assert { .. });
    });
    tile.out.body = if exits { tile.apart(&kernel.body) } else { tile.woven(&kernel.body) };
    Ok(tile.out)
}

/// Neighbours in a row that a CPU computes together: as many `f32` as a vector has.
const ABREAST: u8 = 8;

/// The same kernel with several items per thread, where that pays on a CPU: if all it does with
/// floats in a loop, it does in a loop of equal turns for neighbours. One item's sum is a chain in
/// which nothing may be reordered, and its neighbours' beside it are vectors. (Compilers see that
/// themselves only where an item has no loop.)
pub fn abreast(kernel: &Kernel) -> Option<Kernel> {
    let mut statements = 0;
    let mut simple = kernel.shape.tile == 1 && !kernel.shape.groups;
    walk(&kernel.body, &mut |stmt| {
        statements += 1;
        simple &= !matches!(stmt, Stmt::Return | Stmt::Assert { .. } | Stmt::Loop { .. });
        simple &= !matches!(stmt, Stmt::Let(Let { op: Op::Atomic(..), .. }));
    });
    let pays = || chains(kernel, &alike(kernel), &kernel.body, false) == Some(true);
    if simple && statements <= MOST && pays() { tile(kernel, ABREAST).ok() } else { None }
}

/// The kernel with labels that `other` does not have: both are parts of one text.
pub(crate) fn relabelled(kernel: &Kernel, other: &Kernel) -> Kernel {
    let labels = (0..kernel.labels).map(|label| Label(other.labels + label)).collect();
    let body = Renamer { labels, ..Renamer::identity(kernel) }.body(&kernel.body);
    Kernel { body, labels: kernel.labels + other.labels, ..kernel.clone() }
}

/// Whether something is computed with floats in a loop that is one for all items; none if it is so
/// in another loop, and where a loop has more than straight code of few instructions, of which no
/// vectors are made.
fn chains(kernel: &Kernel, alike: &[bool], body: &Body, within: bool) -> Option<bool> {
    let is_float = |value: &Value| {
        let scalar = kernel.type_of(*value).and_then(crate::Type::scalar);
        scalar.is_some_and(Scalar::is_float)
    };
    let mut found = false;
    for stmt in body {
        found |= match stmt {
            Stmt::For { index, body, .. } => {
                let inner = chains(kernel, alike, body, true)?;
                if inner && !alike[index.index()] {
                    return None;
                }
                inner
            }
            Stmt::Block { body, .. } if is_closed(body) => chains(kernel, alike, body, within)?,
            Stmt::Let(Let { value, op, .. }) if within => {
                if !op.is_short() {
                    return None;
                }
                is_float(value) && matches!(op, Op::Binary(..) | Op::Fma(..))
            }
            Stmt::Let(_) | Stmt::Store { .. } => false,
            other => {
                let mut loops = false;
                let is_loop = |stmt: &Stmt| matches!(stmt, Stmt::For { .. });
                other
                    .bodies()
                    .into_iter()
                    .for_each(|body| walk(body, &mut |s| loops |= is_loop(s)));
                if within || loops {
                    return None;
                }
                false
            }
        };
    }
    Some(found)
}

/// By value: all items of a thread have the same. Of a loop's index: it takes equal turns for them,
/// and nothing leaves it.
fn alike(kernel: &Kernel) -> Vec<bool> {
    let mut alike = vec![false; kernel.values.len()];
    walk(&kernel.body, &mut |stmt| match stmt {
        Stmt::Let(Let { value, op, .. }) => {
            let same = match op {
                Op::Query { query: Query::Position, dim, .. } => *dim + 1 < kernel.shape.rank,
                Op::Query { query, .. } => {
                    matches!(query, Query::Range | Query::Offset | Query::GroupCount)
                }
                Op::Load(_) | Op::Atomic(..) | Op::Subgroup(..) | Op::SubgroupFold(..) => false,
                _ => true,
            };
            alike[value.index()] = same && op.operands().iter().all(|value| alike[value.index()]);
        }
        Stmt::For { index, start, end, body, .. } => {
            let turns = alike[start.index()] && alike[end.index()];
            alike[index.index()] = turns && is_closed(body);
        }
        _ => {}
    });
    alike
}

/// Whether all jumps in it stay in it.
fn is_closed(body: &Body) -> bool {
    let (mut labels, mut jumps, mut closed) = (vec![], vec![], true);
    walk(body, &mut |stmt| match stmt {
        Stmt::For { label, .. } | Stmt::Loop { label, .. } | Stmt::Block { label, .. } => {
            labels.push(*label);
        }
        Stmt::Break(label) | Stmt::Continue(label) => jumps.push(*label),
        Stmt::Return | Stmt::Assert { .. } => closed = false,
        _ => {}
    });
    closed && jumps.iter().all(|label| labels.contains(label))
}

struct Tile {
    out: Kernel,
    /// What each item's things are called.
    copies: Vec<Renamer>,
    /// By value, as [`alike`] says.
    alike: Vec<bool>,
}

/// The names of one item's things; the first item keeps those of the kernel. A failed command's
/// results do not count, so where one item fails an `assert!` the thread's other items may go, too.
fn of_copy(out: &mut Kernel, of: &Kernel, at: u8) -> Renamer {
    let names = if at == 0 { Renamer::identity(of) } else { Renamer::duplicate(out, of) };
    Renamer { copy: Some(at), ..names }
}

impl Tile {
    /// Each statement for all items, before the next statement.
    fn woven(&mut self, body: &Body) -> Body {
        let mut woven = vec![];
        for stmt in body {
            match stmt {
                Stmt::For { label, index, start, end, body } if self.alike[index.index()] => {
                    self.copies.iter_mut().for_each(|copy| copy.values[index.index()] = *index);
                    let (label, index, start, end) = (*label, *index, *start, *end);
                    let body = self.woven(body);
                    woven.push(Stmt::For { label, index, start, end, body });
                }
                Stmt::Block { label, body, .. } if is_closed(body) => {
                    let body = self.woven(body);
                    woven.push(Stmt::Block { label: *label, body, product: None });
                }
                _ => woven.extend(self.copies.iter().map(|copy| copy.stmt(stmt))),
            }
        }
        woven
    }

    /// One item after the other, each in a block that its returns leave.
    fn apart(&mut self, body: &Body) -> Body {
        let Tile { out, copies, .. } = self;
        let item = |copy: &mut Renamer| {
            let label = Label(out.labels);
            out.labels += 1;
            copy.exit = Some(label);
            Stmt::Block { label, body: copy.body(body), product: None }
        };
        copies.iter_mut().map(item).collect()
    }
}
