//! A kernel's IR and the results of its analyses: made once, and looked at in each launch.
//!
//! Imports `ir`, `analysis`, `pass` and `front`.

mod counted;
mod local;
mod param;
mod proofs;
mod table;

pub use counted::Counted;
pub use local::LocalMemory;
pub use param::ParamPtr;

use crate::access::{self, Ends, Pattern, Reads, Summary};
use crate::checks::{self, Check, CheckKind};
use crate::contract::contract;
use crate::fast::{self, fast};
use crate::flow::Use;
use crate::interval::Interval;
use crate::ir::{Hop, Kernel, ParamId, ParamKind, Root, Site, Stmt, walk};
use crate::limit;
use crate::linear::Symbol;
use crate::op::{Op, Query};
use crate::source::{Floats, Function, LowerError, lower};
use crate::types::Scalar;
use counted::counted;
use proofs::{Proofs, known};
use std::sync::{Arc, OnceLock};

/// A kernel's IR, and what launches need to know of it. Kernels of equal content share it.
#[derive(Debug)]
pub struct Code {
    /// Its name.
    pub name: Arc<str>,
    /// Its IR, verified.
    pub ir: Arc<Kernel>,
    /// How views are accessed.
    summary: Summary,
    /// By parameter: whether items access the element at their own position and no other.
    own: Vec<bool>,
    /// By parameter: whether they read it besides, so that no analysis is needed in launches.
    reads_own: Vec<bool>,
    /// The first parameter that limits its launches: counts in memory are the last ones.
    limit: Option<usize>,
    /// Arrays are indexed by values, in variables, in elements, or in local memory.
    pub indexes_arrays: bool,
    /// How many parameters are reductions.
    pub reductions: usize,
    /// Bytes that an item of a group has for its variables, and for what it gives to reductions and
    /// scans.
    item_bytes: u64,
    local: LocalMemory,
    /// The arrays in which it only counts.
    pub counted: Vec<Counted>,
    /// By parameter: the first word and type of scalars that are integers.
    scalars: Vec<Option<(usize, Scalar)>>,
    /// Of launches that forms alone do not prove.
    proofs: Proofs,
    /// Checks that are left in every launch.
    lasting: Vec<Check>,
    /// It has fast forms.
    fast: bool,
    function: &'static Function,
    /// Its IR, and what its function says of checks.
    content: Arc<str>,
}

/// The code, or why there is none.
pub type Built = Result<Arc<Code>, LowerError>;

/// A launch, as far as reads depend on it. Dimensions are the kernel's, the slowest first.
#[derive(Clone, Copy, Debug)]
pub struct Reach<'l> {
    /// Position of the first item.
    pub offset: [u64; 3],
    /// Items.
    pub range: [u64; 3],
    /// Items of a group, for kernels of groups.
    pub group: [u64; 3],
    /// By parameter: the extents of views.
    pub shapes: &'l [[u64; 3]],
    /// The words of the scalars.
    pub scalars: &'l [u64],
}

impl Code {
    /// That of a function: made, if there is none of equal content.
    pub fn of(function: &'static Function) -> Built {
        let mut ir = lower(function)?;
        ir = match function.floats {
            Floats::Exact => ir,
            Floats::Contracted => contract(ir),
            Floats::Fast => contract(fast(ir)),
        };
        let Function { file, looked_at, deny_checks, .. } = *function;
        let content: Arc<str> = format!("{ir}\n{file} {looked_at:?} {deny_checks}").into();
        Ok(table::shared(content.clone(), || Code::new(function, ir, content)))
    }

    /// That of launches of which a count in memory, of this type, says how many items run: it is
    /// the last parameter.
    pub fn limited(&self, count: Scalar) -> Built {
        if let Some(why) = limit::why_not(&self.ir) {
            return Err(LowerError::Limit(why));
        }
        let ir = limit::limit((*self.ir).clone(), count)?;
        let content: Arc<str> = format!("{} limited {count:?}", self.content).into();
        Ok(table::shared(content.clone(), || {
            let mut code = Code::new(self.function, ir, content);
            code.limit = self.limit.or(code.ir.params.len().checked_sub(1));
            code
        }))
    }

    /// Whether its bits may differ between devices (semantics 5.9).
    pub fn is_fast(&self) -> bool {
        self.fast
    }

    /// Whether a parameter limits its launches.
    pub fn is_limit(&self, param: usize) -> bool {
        self.limit.is_some_and(|first| param >= first)
    }

    fn new(function: &'static Function, ir: Kernel, content: Arc<str>) -> Code {
        let summary = Summary::of(&ir);
        let only_own = |(param, list): (&crate::Param, &Vec<Pattern>)| {
            let whole = matches!(param.kind, ParamKind::View { rank, .. } if rank == ir.shape.rank);
            whole && list.iter().all(|pattern| access::is_own(&pattern.forms))
        };
        let own: Vec<bool> = ir.params.iter().zip(&summary.params).map(only_own).collect();
        let reads = |list: &Vec<Pattern>| list.iter().any(|pattern| pattern.does != Use::Write);
        let reads_own = own.iter().zip(&summary.params).map(|(own, list)| *own && reads(list));
        let reads_own = reads_own.collect();
        let mut word = 0;
        let scalars = ir.params.iter().map(|param| {
            let ParamKind::Scalar(ty) = param.kind else { return None };
            let first = word;
            word += ir.types.layout(ty).0.div_ceil(8) as usize;
            ty.scalar().filter(|scalar| scalar.is_int()).map(|scalar| (first, scalar))
        });
        let scalars = scalars.collect();
        let indexes_arrays = indexes_arrays(&ir);
        let reduces = |param: &&crate::Param| matches!(param.kind, ParamKind::Reduce { .. });
        let reductions = ir.params.iter().filter(reduces).count();
        let (item_bytes, local) = (item_bytes(&ir), LocalMemory::of(&ir));
        let name = Arc::from(function.name);
        let (counted, proofs) = (counted(&ir), Proofs::default());
        let (lasting, fast) = (checks::of_kernel(&ir), fast::is_fast(&ir));
        Code {
            name,
            ir: Arc::new(ir),
            summary,
            own,
            reads_own,
            limit: None,
            indexes_arrays,
            reductions,
            item_bytes,
            local,
            counted,
            scalars,
            proofs,
            lasting,
            fast,
            function,
            content,
        }
    }

    /// The elements of a view that a launch reads; see [`Summary::read_box`].
    pub fn read_box(&self, param: usize, launch: &Reach<'_>) -> Reads {
        let Some(shape) = launch.shapes.get(param) else {
            return Reads { ends: None, proved: false };
        };
        let of = |symbol| self.symbol(symbol, launch);
        self.summary.read_box(ParamId(param as u32), shape, &of)
    }

    /// The elements of a view that a launch reads, in boxes; see [`Summary::read_boxes`].
    pub fn read_boxes(&self, param: usize, launch: &Reach<'_>) -> Vec<Ends> {
        let Some(shape) = launch.shapes.get(param) else { return vec![] };
        let of = |symbol| self.symbol(symbol, launch);
        self.summary.read_boxes(ParamId(param as u32), shape, &of)
    }

    /// Whether items access of a view the element at their own position and no other.
    pub fn is_own(&self, param: usize) -> bool {
        self.own.get(param).is_some_and(|own| *own)
    }

    /// Whether each item reads of a view the element at its own position, and none reads another.
    pub fn reads_own(&self, param: usize) -> bool {
        self.reads_own.get(param).is_some_and(|own| *own)
    }

    /// No access of a launch can be out of bounds, as an analysis along the flow of control finds:
    /// for what forms alone do not prove, such as kernels of groups and indices behind conditions.
    pub fn proves(&self, launch: &Reach<'_>) -> bool {
        self.proofs.hold(&self.ir, launch, false)
    }

    /// Analyses know integers alone: launches that differ in other scalars access the same, and the
    /// same checks are left in them.
    pub fn knows_as_equal(&self, one: &[u64], other: &[u64]) -> bool {
        self.scalars.iter().flatten().all(|(at, _)| one.get(*at) == other.get(*at))
    }

    /// Launches in which a check is left are refused (KRN-10).
    pub fn denies_checks(&self) -> bool {
        self.function.deny_checks
    }

    /// No check is left in a launch, but those that only hosts have of what cannot fail. Answers
    /// are kept, as those of [`proves`](Self::proves).
    pub fn is_free_of_checks(&self, launch: &Reach<'_>) -> bool {
        self.lasting.is_empty() && self.proofs.hold(&self.ir, launch, true)
    }

    /// The checks that are left in a launch, in the order of the source: assertions and divisions
    /// behind those, and what has hosts compute loops item by item last. (KRN-10)
    pub fn checks(&self, launch: &Reach<'_>) -> Vec<Check> {
        let Function { file, looked_at, item_by_item, .. } = *self.function;
        let tested =
            |site: &Site| site.file != file || !looked_at.contains(&(site.line, site.column));
        let mut left = checks::of_launch(&self.ir, &known(&self.ir, launch), &tested);
        left.extend_from_slice(&self.lasting);
        left.extend(item_by_item.map(|(line, column)| {
            let site = Site { file: file.to_owned(), line, column, message: None };
            Check::new(CheckKind::ItemByItem, site)
        }));
        left
    }

    /// The local memory of its groups.
    pub fn local_memory(&self) -> LocalMemory {
        self.local
    }

    /// Bytes that the host's form of a kernel may take for a group of so many items; more than
    /// `MOST_GROUP_BYTES` of `folio-device` is too much.
    pub fn group_bytes(&self, group: [usize; 3]) -> u64 {
        let items = group.iter().fold(1u64, |items, n| items.saturating_mul(*n as u64));
        items.saturating_mul(self.item_bytes)
    }

    fn symbol(&self, symbol: Symbol, launch: &Reach<'_>) -> Option<Interval> {
        let exactly = |n: u64| Some(Interval::exactly(n.into()));
        match symbol {
            Symbol::Query(Query::Position, dim, _) => {
                let dim = usize::from(dim);
                let (first, range) = (*launch.offset.get(dim)?, *launch.range.get(dim)?);
                let last = i128::from(first) + i128::from(range) - 1;
                Some(Interval::new(first.into(), last.max(first.into())))
            }
            Symbol::Query(query @ (Query::GroupId | Query::LocalId | Query::GroupSize), dim, _) => {
                let dim = usize::from(dim);
                let (range, size) = (*launch.range.get(dim)?, *launch.group.get(dim)?);
                let below = |n: u64| Some(Interval::new(0, i128::from(n.max(1)) - 1));
                match query {
                    Query::GroupSize => exactly(size),
                    Query::LocalId => below(size),
                    _ => below(range.checked_div(size)?),
                }
            }
            Symbol::Query(Query::Range, dim, _) => exactly(*launch.range.get(usize::from(dim))?),
            Symbol::Query(Query::Offset, dim, _) => exactly(*launch.offset.get(usize::from(dim))?),
            Symbol::Extent(ParamId(param), dim) => {
                exactly(*launch.shapes.get(param as usize)?.get(usize::from(dim))?)
            }
            Symbol::Arg(param) => {
                let (word, scalar) = (*self.scalars.get(param.index())?)?;
                Some(Interval::exactly(scalar.int(*launch.scalars.get(word)?)))
            }
            Symbol::Query(..) | Symbol::Value(_) => None,
        }
    }
}

impl Drop for Code {
    fn drop(&mut self) {
        table::forget(&self.content);
    }
}

/// Of a group's items: what they keep between phases is among their variables.
fn item_bytes(ir: &Kernel) -> u64 {
    let size = |ty| ir.types.layout(ty).0;
    let variables = ir.vars.iter().filter(|var| !var.uniform).map(|var| size(var.ty));
    let reduced = ir.params.iter().filter_map(|param| match param.kind {
        ParamKind::Reduce { element, .. } => Some(size(element)),
        _ => None,
    });
    let mut sum = variables.chain(reduced).fold(0u64, u64::saturating_add);
    walk(&ir.body, &mut |stmt| {
        if let Stmt::Collect { value, .. } = stmt {
            sum = sum.saturating_add(ir.type_of(*value).map_or(0, size));
        }
    });
    sum
}

fn indexes_arrays(ir: &Kernel) -> bool {
    let mut found = false;
    walk(&ir.body, &mut |stmt| {
        let place = match stmt {
            Stmt::Let(define) => match &define.op {
                Op::Load(place) | Op::Atomic(_, place, _) => place,
                _ => return,
            },
            Stmt::Store { place, .. } => place,
            _ => return,
        };
        let local = match &place.root {
            Root::Element(param, _) => {
                let param = ir.params.get(param.index());
                param.is_some_and(|param| matches!(param.kind, ParamKind::Local { .. }))
            }
            Root::Var(_) => false,
        };
        found |= local || place.path.iter().any(|step| matches!(step, Hop::At(_)));
    });
    found
}

/// The code of a kernel that has a place for it: made once in the program.
#[inline]
pub fn built(place: &'static OnceLock<Built>, function: &'static Function) -> &'static Built {
    /// Compiled once, and not for each kernel.
    #[cold]
    fn make(place: &'static OnceLock<Built>, function: &'static Function) -> &'static Built {
        place.get_or_init(|| Code::of(function))
    }
    place.get().unwrap_or_else(|| make(place, function))
}
