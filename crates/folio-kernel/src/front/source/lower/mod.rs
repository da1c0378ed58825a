//! From a function's syntax and types to IR. Here: functions, names, blocks, and what expressions
//! give; beside it `group` for work-groups, `expr` for operators, `place` for what is indexed and
//! written, `flow` for branches and loops, `call` for functions and methods.

mod call;
mod expr;
mod fast;
mod flow;
mod group;
mod integer;
mod method;
mod place;
mod print;
mod relaxed;
mod tile;

use super::tree::{At, Block, Expr, Pattern, Statement};
use super::{Entry, Function, Text};
use crate::build::Builder;
use crate::fault::VerifyError;
use crate::ir::verify::MOST_THREADS;
use crate::ir::{Kernel, Label, ParamId, ParamKind, Place, Site, Value, VarId};
use crate::op::Op;
use crate::types::{Scalar, Type};
use std::collections::HashMap;
use std::rc::Rc;

/// Why a function does not become IR. Syntax and types were accepted before, so these are few.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LowerError {
    /// A device function that calls itself, directly or by way of others.
    #[error("device function `{0}` calls itself{way}; recursion is not possible on devices: write a loop", way = by_way_of(.1))]
    Recursion(&'static str, Vec<&'static str>),
    /// More calls than a kernel can have, as all are inlined.
    #[error("more than {MOST_CALLS} calls are inlined; split the kernel or make loops")]
    Calls,
    /// More local memory than a group can have on any device.
    #[error(
        "local arrays of {0} bytes, and a group has at most {MOST_LOCAL}; use smaller ones, or a buffer"
    )]
    LocalMemory(u64),
    /// Tiles are the square groups'.
    #[error(
        "a kernel with tiles says its group, of 64, 256 or 1024 items: `#[kernel(group = [16, 16])]`"
    )]
    TileGroup,
    /// A tile whose parts would not be those of all items alike.
    #[error("a tile of {0} x {1}; in such groups its extents are 1, or multiples of {2}")]
    TileExtents(u32, u32, u32),
    /// A larger variable, or value, than an item can have.
    #[error(
        "a variable or value of {0} bytes, and items have at most {MOST_VARIABLE} in one; use smaller ones, or a buffer"
    )]
    Variable(u64),
    /// The operands of a comparison are no numbers.
    #[error("`{0}` compares numbers in kernels; of structs, arrays and tuples, compare the parts")]
    Comparison(&'static str),
    /// A number beyond its type.
    #[error("`{0}` is no {1}")]
    Number(&'static str, String),
    /// Something that the macro ought to have refused.
    #[error("`{0}` cannot be used like this in a kernel")]
    Unsupported(&'static str),
    /// Its launches need all of their items.
    #[error("{0}, so no count in memory limits its launches (`at_most`)")]
    Limit(&'static str),
    /// The IR is refused.
    #[error(transparent)]
    Refused(#[from] VerifyError),
}

type Result<T> = std::result::Result<T, LowerError>;

fn by_way_of(functions: &[&str]) -> String {
    match functions {
        [] => String::new(),
        some => format!(" by way of `{}`", some.join("` and `")),
    }
}

/// Items of a group, if the kernel says how many.
fn items_of_group(function: &Function) -> u32 {
    let items = function.group.iter().try_fold(1usize, |all, n| all.checked_mul(*n));
    let said = items.filter(|_| !function.group.is_empty());
    said.and_then(|items| items.try_into().ok()).unwrap_or(0)
}

/// Threads of a block, if the kernel says: the slowest dimension first.
fn block(function: &Function) -> [u32; 3] {
    let own = function.block;
    let of = |n: &usize| u32::try_from(*n).unwrap_or(MOST_THREADS).clamp(1, MOST_THREADS);
    let missing = 3usize.saturating_sub(own.len());
    match own {
        [] => [0; 3],
        own => std::array::from_fn(|dim| {
            dim.checked_sub(missing).and_then(|at| own.get(at)).map_or(1, of)
        }),
    }
}

/// The IR of a kernel.
pub fn lower(function: &'static Function) -> Result<Kernel> {
    let table = (function.table)();
    let shape = table.iter().find_map(|entry| match entry {
        Entry::Item(rank) => Some((*rank, false)),
        Entry::Group(rank) => Some((*rank, true)),
        _ => None,
    });
    let (rank, uniform) = shape.unwrap_or((1, false));
    let builder = match uniform {
        true => Builder::groups(function.name, rank).of_group(items_of_group(function)),
        false => Builder::items(function.name, rank).of_block(block(function)),
    };
    let frame = Frame::of(function, table, None);
    let (calls, bodies) = (vec![function], HashMap::new());
    let colours = HashMap::new();
    let mut lower =
        Lower { builder, calls, inlined: 0, bodies, frame, uniform, gives: false, colours };
    for (at, name) in function.params.iter().enumerate() {
        let given = match lower.frame.table[at] {
            Entry::Item(_) => Operand::Item,
            Entry::Group(_) => Operand::Group,
            Entry::View(view) => {
                let element = (view.element)(lower.builder.types());
                let (rank, access, owner) = (view.rank, view.access, view.owner);
                let param = lower.builder.view(name, element, rank, access, owner);
                lower.colours.extend(view.colour.map(|colour| (param, colour)));
                Operand::View(param)
            }
            Entry::Local(element, len) => {
                let element = element(lower.builder.types());
                Operand::View(lower.builder.param(name, ParamKind::Local { element, len }))
            }
            Entry::Reduce(element, combine) => {
                let element = element(lower.builder.types());
                Operand::View(lower.builder.param(name, ParamKind::Reduce { element, combine }))
            }
            Entry::Type(ty) => {
                let ty = ty(lower.builder.types());
                Operand::Value(lower.builder.scalar(name, ty))
            }
            _ => return Err(LowerError::Unsupported("this parameter")),
        };
        lower.frame.locals.insert(at as u16, given);
    }
    fits_local_memory(lower.builder.kernel())?;
    let body = lower.body(function)?;
    lower.block(&body)?;
    // With the arrays of products and reductions of tiles.
    fits_local_memory(lower.builder.kernel())?;
    let kernel = lower.builder.kernel();
    let types = kernel.vars.iter().map(|var| var.ty).chain(kernel.values.iter().copied());
    let largest = types.map(|ty| kernel.types.layout(ty).0).max().unwrap_or(0);
    fits_a_variable(largest)?;
    Ok(lower.builder.finish()?)
}

/// Refuses more local memory than groups have.
fn fits_local_memory(kernel: &Kernel) -> Result<()> {
    let sizes = kernel.params.iter().map(|param| match param.kind {
        ParamKind::Local { element, len } => {
            kernel.types.layout(element).0.saturating_mul(u64::from(len))
        }
        _ => 0,
    });
    let bytes = sizes.fold(0, u64::saturating_add);
    match bytes > MOST_LOCAL {
        true => Err(LowerError::LocalMemory(bytes)),
        false => Ok(()),
    }
}

/// Refuses what is larger than a variable can be.
fn fits_a_variable(bytes: u64) -> Result<()> {
    match bytes > MOST_VARIABLE {
        true => Err(LowerError::Variable(bytes)),
        false => Ok(()),
    }
}

/// The result of an expression.
#[derive(Clone, Debug)]
enum Operand {
    Unit,
    Value(Value),
    /// A place, which is loaded when its value is needed.
    Place(Place, Type),
    Item,
    Group,
    View(ParamId),
    /// A value that each item keeps between phases.
    Private(VarId, Type),
    Tuple(Vec<Operand>),
    /// The extents of a view: an array whose elements stay known.
    Shape(Vec<Value>),
    Closure(Rc<Closure>),
    /// A value of the whole group.
    Tile(tile::Tile),
}

/// A closure, and what it can name.
#[derive(Debug)]
struct Closure {
    of: Rc<(Pattern, Expr)>,
    function: &'static Function,
    table: Vec<Entry>,
    locals: HashMap<u16, Operand>,
    /// The functions around it, which are not those around its calls.
    calls: Vec<&'static Function>,
}

/// A function that is being inlined.
struct Frame {
    function: &'static Function,
    table: Vec<Entry>,
    locals: HashMap<u16, Operand>,
    /// The loops and labelled blocks around, innermost last.
    around: Vec<Around>,
    /// Where `return` goes, in a device function; and where the result is put.
    exit: Option<(Label, Option<VarId>)>,
}

impl Frame {
    fn of(
        function: &'static Function,
        table: Vec<Entry>,
        exit: Option<(Label, Option<VarId>)>,
    ) -> Frame {
        Frame { function, table, locals: HashMap::new(), around: vec![], exit }
    }
}

/// A loop or labelled block.
struct Around {
    /// The number that the tree has for it.
    number: u16,
    label: Label,
    /// Where `break` puts values.
    result: Option<VarId>,
}

struct Lower {
    builder: Builder,
    /// The functions around.
    calls: Vec<&'static Function>,
    /// How many functions have been inlined.
    inlined: usize,
    /// Of functions that were called, by where their texts are.
    bodies: HashMap<*const Text, Rc<Block>>,
    frame: Frame,
    /// In a group kernel's uniform code.
    uniform: bool,
    /// An item computes what it gives to a reduction or scan, which it cannot leave.
    gives: bool,
    /// Views of which items own every other cell: the cells' colour.
    colours: HashMap<ParamId, u8>,
}

/// Calls that a kernel may have in all: beyond it compilers for devices would not end either.
const MOST_CALLS: usize = 10_000;

/// Bytes of local arrays that a group may have: far more than GPUs have, and no more than a thread
/// of the CPU can be asked to clear for each group.
const MOST_LOCAL: u64 = 16 << 20;

/// Bytes that a variable, or a value, may have: a thread's stack holds several of them, each
/// perhaps more than once, and compilers write down their elements one by one.
const MOST_VARIABLE: u64 = 64 << 10;

const U64: Type = Type::Scalar(Scalar::U64);

impl Lower {
    fn site_of(&self, at: At, message: Option<&str>) -> Site {
        Site {
            file: self.frame.function.file.to_owned(),
            line: at.0,
            column: at.1,
            message: message.map(str::to_owned),
        }
    }

    /// Statements from here on are of this place.
    fn site(&mut self, at: At) {
        let site = self.site_of(at, None);
        self.builder.at(site);
    }

    fn entry_type(&mut self, at: u16) -> Result<Type> {
        match self.frame.table.get(usize::from(at)) {
            Some(Entry::Type(ty) | Entry::Const(ty, _)) => Ok(ty(self.builder.types())),
            _ => Err(LowerError::Unsupported("this type")),
        }
    }

    /// A function's body, which is read once.
    fn body(&mut self, function: &Function) -> Result<Rc<Block>> {
        if let Some(body) = self.bodies.get(&std::ptr::from_ref(function.body)) {
            return Ok(body.clone());
        }
        let body = Rc::new(function.body.read()?);
        self.bodies.insert(function.body, body.clone());
        Ok(body)
    }

    fn block(&mut self, block: &Block) -> Result<Operand> {
        for statement in &block.statements {
            match statement {
                Statement::Let(pattern, expr) => {
                    let given = match (self.expr(expr)?, expr) {
                        // The variable that it was may become another tile.
                        (Operand::Tile(tile), Expr::Local(_)) => Operand::Tile(self.copied(&tile)?),
                        (given, _) => given,
                    };
                    self.bind(pattern, given)?;
                }
                Statement::Expr(expr) => {
                    self.expr(expr)?;
                }
            }
        }
        match &block.tail {
            // A place would be read too late: its variable may change, or end.
            Some(tail) => {
                let given = self.expr(tail)?;
                self.resolve(given)
            }
            None => Ok(Operand::Unit),
        }
    }

    /// The same with every place loaded.
    fn resolve(&mut self, given: Operand) -> Result<Operand> {
        match given {
            Operand::Place(..) => Ok(Operand::Value(self.value(given)?)),
            Operand::Tuple(parts) => {
                let parts: Result<Vec<_>> = parts.into_iter().map(|p| self.resolve(p)).collect();
                Ok(Operand::Tuple(parts?))
            }
            other => Ok(other),
        }
    }

    fn value(&mut self, given: Operand) -> Result<Value> {
        match given {
            Operand::Value(value) => Ok(value),
            Operand::Place(place, _) => Ok(self.builder.load(place)),
            Operand::Tuple(parts) => {
                let parts: Result<Vec<_>> = parts.into_iter().map(|p| self.value(p)).collect();
                Ok(self.tuple(parts?))
            }
            Operand::Shape(extents) => self.array(extents).and_then(|array| self.value(array)),
            Operand::Unit => Err(LowerError::Unsupported("()")),
            Operand::Item => Err(LowerError::Unsupported("the item")),
            Operand::Group => Err(LowerError::Unsupported("the group")),
            Operand::View(_) => Err(LowerError::Unsupported("a view")),
            Operand::Private(..) => Err(LowerError::Unsupported("an item's value")),
            Operand::Closure(_) => Err(LowerError::Unsupported("a closure")),
            Operand::Tile(_) => Err(LowerError::Unsupported("a tile")),
        }
    }

    fn tuple(&mut self, parts: Vec<Value>) -> Value {
        let names: Vec<_> = (0..parts.len()).map(|at| at.to_string()).collect();
        let types: Vec<_> = parts.iter().map(|part| self.builder.type_of(*part)).collect();
        let fields: Vec<_> = names.iter().map(String::as_str).zip(types).collect();
        let ty = self.builder.types().structure("tuple", &fields);
        self.builder.op(Op::Make(ty, parts))
    }

    fn of(&mut self, expr: &Expr) -> Result<Value> {
        let given = self.expr(expr)?;
        self.value(given)
    }

    fn bind(&mut self, pattern: &Pattern, given: Operand) -> Result<()> {
        match (pattern, given) {
            (Pattern::Wild, _) => Ok(()),
            (Pattern::Tuple(parts), Operand::Unit) if parts.is_empty() => Ok(()),
            (Pattern::Local(local, false), given) => {
                let resolved = self.resolve(given)?;
                self.frame.locals.insert(*local, resolved);
                Ok(())
            }
            (
                Pattern::Local(local, true),
                given @ (Operand::Item | Operand::Group | Operand::View(_) | Operand::Private(..)),
            ) => {
                self.frame.locals.insert(*local, given);
                Ok(())
            }
            (Pattern::Local(local, true), Operand::Tile(tile)) => {
                let own = self.own_tile(tile)?;
                self.frame.locals.insert(*local, Operand::Tile(own));
                Ok(())
            }
            (Pattern::Local(local, true), given) => {
                let value = self.value(given)?;
                let ty = self.builder.type_of(value);
                let var = self.var(&format!("l{local}"), ty);
                self.builder.set(var, value);
                self.frame.locals.insert(*local, Operand::Place(Place::var(var), ty));
                Ok(())
            }
            (Pattern::Tuple(patterns), Operand::Tuple(parts)) => {
                patterns.iter().zip(parts).try_for_each(|(pattern, part)| self.bind(pattern, part))
            }
            (Pattern::Tuple(patterns), Operand::Shape(extents)) => {
                let extents = extents.into_iter().map(Operand::Value);
                patterns.iter().zip(extents).try_for_each(|(pattern, of)| self.bind(pattern, of))
            }
            (Pattern::Tuple(patterns), given) => {
                let value = self.value(given)?;
                for (at, pattern) in patterns.iter().enumerate() {
                    let part = self.builder.op(Op::Part(value, at as u32));
                    self.bind(pattern, Operand::Value(part))?;
                }
                Ok(())
            }
        }
    }
}
