//! From a function's syntax and types to IR.

use super::method::{self, Method};
use super::{At, Block, Entry, Expr, Function, Pattern, Statement};
use crate::build::Builder;
use crate::fault::VerifyError;
use crate::ir::{Kernel, Label, ParamId, Place, Root, Site, Step, Stmt, Value, VarId};
use crate::op::{Binary, Compare, Op, Unary};
use crate::types::{Composite, Scalar, Type};
use std::collections::HashMap;

/// Why a function does not become IR. Syntax and types were accepted before, so these are few.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LowerError {
    /// A device function that calls itself, directly or not.
    #[error("device function `{0}` calls itself; recursion is not possible on devices")]
    Recursion(&'static str),
    /// A number beyond its type.
    #[error("`{0}` is no {1}")]
    Number(&'static str, String),
    /// Something that the macro ought to have refused.
    #[error("`{0}` cannot be used like this in a kernel")]
    Unsupported(&'static str),
    /// The IR is refused.
    #[error(transparent)]
    Refused(#[from] VerifyError),
}

type Result<T> = std::result::Result<T, LowerError>;

/// The IR of a kernel.
pub fn lower(function: &'static Function) -> Result<Kernel> {
    let table = (function.table)();
    let rank = table.iter().find_map(|entry| match entry {
        Entry::Item(rank) => Some(*rank),
        _ => None,
    });
    let builder = Builder::items(function.name, rank.unwrap_or(1));
    let mut lower = Lower { builder, calls: vec![], frame: Frame::of(function, table, None) };
    for (at, name) in function.params.iter().enumerate() {
        let given = match lower.frame.table[at] {
            Entry::Item(_) => Given::Item,
            Entry::View(view) => {
                let element = (view.element)(lower.builder.types());
                let (rank, access, owner) = (view.rank, view.access, view.owner);
                Given::View(lower.builder.view(name, element, rank, access, owner))
            }
            Entry::Type(ty) => {
                let ty = ty(lower.builder.types());
                Given::Value(lower.builder.scalar(name, ty))
            }
            _ => return Err(LowerError::Unsupported("this parameter")),
        };
        lower.frame.locals.insert(at as u16, given);
    }
    lower.block(function.body)?;
    Ok(lower.builder.finish()?)
}

/// What an expression gives.
#[derive(Clone, Debug)]
enum Given {
    Unit,
    Value(Value),
    /// A place, which is loaded when its value is needed.
    Place(Place, Type),
    Item,
    View(ParamId),
    Tuple(Vec<Given>),
    /// The extents of a view: an array whose elements stay known.
    Shape(Vec<Value>),
}

/// One function that is being inlined.
struct Frame {
    function: &'static Function,
    table: Vec<Entry>,
    locals: HashMap<u16, Given>,
    loops: Vec<Label>,
    /// Where `return` goes, in a device function; and where the result is put.
    exit: Option<(Label, Option<VarId>)>,
}

impl Frame {
    fn of(
        function: &'static Function,
        table: Vec<Entry>,
        exit: Option<(Label, Option<VarId>)>,
    ) -> Frame {
        Frame { function, table, locals: HashMap::new(), loops: vec![], exit }
    }
}

struct Lower {
    builder: Builder,
    /// The functions around, by name and address of their bodies.
    calls: Vec<*const Block>,
    frame: Frame,
}

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

    /// What follows is written there.
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

    fn block(&mut self, block: &'static Block) -> Result<Given> {
        for statement in block.statements {
            match statement {
                Statement::Let(pattern, expr) => {
                    let given = self.expr(expr)?;
                    self.bind(pattern, given)?;
                }
                Statement::Expr(expr) => {
                    self.expr(expr)?;
                }
            }
        }
        match block.tail {
            // A place would be read too late: its variable may change, or end.
            Some(tail) => {
                let given = self.expr(tail)?;
                self.settle(given)
            }
            None => Ok(Given::Unit),
        }
    }

    /// The same with every place loaded.
    fn settle(&mut self, given: Given) -> Result<Given> {
        match given {
            Given::Place(..) => Ok(Given::Value(self.value(given)?)),
            Given::Tuple(parts) => {
                let parts: Result<Vec<_>> = parts.into_iter().map(|p| self.settle(p)).collect();
                Ok(Given::Tuple(parts?))
            }
            other => Ok(other),
        }
    }

    fn value(&mut self, given: Given) -> Result<Value> {
        match given {
            Given::Value(value) => Ok(value),
            Given::Place(place, _) => Ok(self.builder.load(place)),
            Given::Tuple(parts) => {
                let parts: Result<Vec<_>> = parts.into_iter().map(|p| self.value(p)).collect();
                Ok(self.tuple(parts?))
            }
            Given::Shape(extents) => self.array(extents).and_then(|array| self.value(array)),
            Given::Unit => Err(LowerError::Unsupported("()")),
            Given::Item => Err(LowerError::Unsupported("the item")),
            Given::View(_) => Err(LowerError::Unsupported("a view")),
        }
    }

    fn tuple(&mut self, parts: Vec<Value>) -> Value {
        let names: Vec<_> = (0..parts.len()).map(|at| at.to_string()).collect();
        let types: Vec<_> = parts.iter().map(|part| self.builder.type_of(*part)).collect();
        let fields: Vec<_> = names.iter().map(String::as_str).zip(types).collect();
        let ty = self.builder.types().structure("tuple", &fields);
        self.builder.op(Op::Make(ty, parts))
    }

    fn of(&mut self, expr: &'static Expr) -> Result<Value> {
        let given = self.expr(expr)?;
        self.value(given)
    }

    fn bind(&mut self, pattern: &'static Pattern, given: Given) -> Result<()> {
        match (pattern, given) {
            (Pattern::Wild, _) => Ok(()),
            (Pattern::Local(local, false), given) => {
                let settled = self.settle(given)?;
                self.frame.locals.insert(*local, settled);
                Ok(())
            }
            (Pattern::Local(local, true), given @ (Given::Item | Given::View(_))) => {
                self.frame.locals.insert(*local, given);
                Ok(())
            }
            (Pattern::Local(local, true), given) => {
                let value = self.value(given)?;
                let ty = self.builder.type_of(value);
                let var = self.builder.var(&format!("l{local}"), ty, false);
                self.builder.set(var, value);
                self.frame.locals.insert(*local, Given::Place(Place::var(var), ty));
                Ok(())
            }
            (Pattern::Tuple(patterns), Given::Tuple(parts)) => {
                patterns.iter().zip(parts).try_for_each(|(pattern, part)| self.bind(pattern, part))
            }
            (Pattern::Tuple(patterns), given) => {
                let value = self.value(given)?;
                for (at, pattern) in patterns.iter().enumerate() {
                    let part = self.builder.op(Op::Part(value, at as u32));
                    self.bind(pattern, Given::Value(part))?;
                }
                Ok(())
            }
        }
    }

    fn expr(&mut self, expr: &'static Expr) -> Result<Given> {
        match expr {
            Expr::Unit => Ok(Given::Unit),
            Expr::Number(digits, ty) => self.number(digits, *ty),
            Expr::Bool(value) => {
                Ok(Given::Value(self.builder.bits(Scalar::Bool, u64::from(*value))))
            }
            Expr::Local(local) => match self.frame.locals.get(local) {
                Some(given) => Ok(given.clone()),
                None => Err(LowerError::Unsupported("this name")),
            },
            Expr::Const(at) => match self.frame.table.get(usize::from(*at)).copied() {
                Some(Entry::Const(ty, bits)) => match ty(self.builder.types()).scalar() {
                    Some(scalar) => Ok(Given::Value(self.builder.bits(scalar, bits))),
                    None => Err(LowerError::Unsupported("a constant that is no number")),
                },
                _ => Err(LowerError::Unsupported("this constant")),
            },
            Expr::Binary(op, a, b, at) => self.binary(op, a, b, *at),
            Expr::Unary(op, a) => {
                let a = self.of(a)?;
                let op = if *op == '-' { Unary::Neg } else { Unary::Not };
                Ok(Given::Value(self.builder.unary(op, a)))
            }
            Expr::Cast(a, ty) => {
                let a = self.of(a)?;
                let to = self.entry_type(*ty)?.scalar();
                let to = to.ok_or(LowerError::Unsupported("as"))?;
                Ok(Given::Value(self.cast(a, to)))
            }
            Expr::Method(receiver, name, args, at) => self.method(receiver, name, args, *at),
            Expr::Call(at, args) => self.call(*at, args),
            Expr::Field(base, name) => self.field(base, name),
            Expr::Index(base, index, at) => self.index(base, index, *at),
            Expr::Tuple(parts) => {
                let part = |part| {
                    let given = self.expr(part)?;
                    self.settle(given)
                };
                let parts: Result<Vec<_>> = parts.iter().map(part).collect();
                Ok(Given::Tuple(parts?))
            }
            Expr::Struct(ty, fields) => self.structure(*ty, fields),
            Expr::Array(parts) => {
                let parts: Result<Vec<_>> = parts.iter().map(|part| self.of(part)).collect();
                self.array(parts?)
            }
            Expr::Repeat(part, count) => {
                let part = self.of(part)?;
                match self.frame.table.get(usize::from(*count)) {
                    Some(Entry::Const(_, count)) => self.array(vec![part; *count as usize]),
                    _ => Err(LowerError::Unsupported("this length")),
                }
            }
            Expr::If(cond, then, otherwise) => self.branch(cond, then, *otherwise),
            Expr::Block(block) => self.block(block),
            other => self.statement(other).map(|()| Given::Unit),
        }
    }

    /// What gives nothing.
    fn statement(&mut self, expr: &'static Expr) -> Result<()> {
        match expr {
            Expr::Assign(to, from, at) => {
                let value = self.of(from)?;
                self.assign(to, value, *at)
            }
            Expr::AssignOp(op, to, from, at) => {
                // As Rust orders operands of numbers: the right side first.
                let by = self.of(from)?;
                let Given::Place(place, _) = self.place(to)? else {
                    return Err(LowerError::Unsupported("this assignment"));
                };
                let old = self.builder.load(place.clone());
                self.site(*at);
                let new = self.operator(op, old, by)?;
                self.builder.store(place, new);
                Ok(())
            }
            Expr::While(cond, body) => self.repeat(Some(cond), body),
            Expr::Loop(body) => self.repeat(None, body),
            Expr::For(pattern, start, end, inclusive, reversed, body) => {
                self.counted(pattern, start, end, (*inclusive, *reversed), body)
            }
            Expr::Break | Expr::Continue => {
                let label = self.frame.loops.last().copied();
                let label = label.ok_or(LowerError::Unsupported("break"))?;
                let leaves = matches!(expr, Expr::Break);
                self.builder.push(if leaves { Stmt::Break(label) } else { Stmt::Continue(label) });
                Ok(())
            }
            Expr::Return(given) => {
                let value = match given {
                    Some(expr) => Some(self.expr(expr)?),
                    None => None,
                };
                self.leave(value)
            }
            Expr::Assert(cond, message, at) => {
                let cond = self.of(cond)?;
                let site = self.site_of(*at, Some(message));
                self.builder.assert(cond, site);
                Ok(())
            }
            Expr::Panic(message, at) => {
                let cond = self.builder.bits(Scalar::Bool, 0);
                let site = self.site_of(*at, Some(message));
                self.builder.assert(cond, site);
                Ok(())
            }
            _ => Err(LowerError::Unsupported("this expression")),
        }
    }

    fn leave(&mut self, given: Option<Given>) -> Result<()> {
        let Some((label, result)) = self.frame.exit else {
            self.builder.push(Stmt::Return);
            return Ok(());
        };
        if let (Some(var), Some(given)) = (result, given) {
            let value = self.value(given)?;
            self.builder.set(var, value);
        }
        self.builder.push(Stmt::Break(label));
        Ok(())
    }

    fn number(&mut self, digits: &'static str, ty: u16) -> Result<Given> {
        let wrong = |scalar: Scalar| LowerError::Number(digits, scalar.to_string());
        let scalar = self.entry_type(ty)?.scalar();
        let scalar = scalar.ok_or(LowerError::Unsupported("this number"))?;
        let bits = match scalar {
            Scalar::F32 => digits.parse::<f32>().map(|x| u64::from(x.to_bits())).ok(),
            Scalar::F64 => digits.parse::<f64>().map(f64::to_bits).ok(),
            _ => digits.parse::<i128>().map(|x| x as u64).ok(),
        };
        let bits = bits.ok_or_else(|| wrong(scalar))?;
        Ok(Given::Value(self.builder.bits(scalar, bits)))
    }

    fn cast(&mut self, a: Value, to: Scalar) -> Value {
        // `bool as f32` is no cast of Rust.
        self.builder.cast(a, to)
    }

    fn operator(&mut self, op: &str, a: Value, b: Value) -> Result<Value> {
        let compare = |op| Some(Op::Compare(op, a, b));
        let binary = |op| Some(Op::Binary(op, a, b));
        let op = match op {
            "+" => binary(Binary::Add),
            "-" => binary(Binary::Sub),
            "*" => binary(Binary::Mul),
            "/" => binary(Binary::Div),
            "%" => binary(Binary::Rem),
            "&" | "&&" => binary(Binary::And),
            "|" | "||" => binary(Binary::Or),
            "^" => binary(Binary::Xor),
            "<<" => binary(Binary::Shl),
            ">>" => binary(Binary::Shr),
            "==" => compare(Compare::Eq),
            "!=" => compare(Compare::Ne),
            "<" => compare(Compare::Lt),
            "<=" => compare(Compare::Le),
            ">" => compare(Compare::Gt),
            ">=" => compare(Compare::Ge),
            _ => None,
        };
        let op = op.ok_or(LowerError::Unsupported("this operator"))?;
        Ok(self.builder.op(op))
    }

    fn binary(
        &mut self,
        op: &'static str,
        a: &'static Expr,
        b: &'static Expr,
        at: At,
    ) -> Result<Given> {
        if matches!(op, "&&" | "||") && !is_plain(b) {
            return self.lazy(op, a, b);
        }
        let a = self.of(a)?;
        let b = self.of(b)?;
        self.site(at);
        Ok(Given::Value(self.operator(op, a, b)?))
    }

    /// The right side only if it decides.
    fn lazy(&mut self, op: &'static str, a: &'static Expr, b: &'static Expr) -> Result<Given> {
        let first = self.of(a)?;
        let var = self.builder.var("lazy", Scalar::Bool, false);
        self.builder.set(var, first);
        self.builder.begin(false);
        let second = self.of(b)?;
        self.builder.set(var, second);
        let decides = self.builder.end();
        let (then, otherwise) = if op == "&&" { (decides, vec![]) } else { (vec![], decides) };
        self.builder.push(Stmt::If { cond: first, then, otherwise });
        Ok(Given::Value(self.builder.get(var)))
    }

    fn field(&mut self, base: &'static Expr, name: &'static str) -> Result<Given> {
        let given = self.expr(base)?;
        if let Given::Tuple(parts) = &given {
            let part = name.parse().ok().and_then(|at: usize| parts.get(at));
            return part.cloned().ok_or(LowerError::Unsupported("this field"));
        }
        let ty = match &given {
            Given::Place(_, ty) => *ty,
            Given::Value(value) => self.builder.type_of(*value),
            _ => return Err(LowerError::Unsupported("this field")),
        };
        let (at, part) = match self.builder.types().get(ty) {
            Some(Composite::Struct(s)) => {
                let at = s.fields.iter().position(|field| field.name == name);
                at.map(|at| (at as u32, s.fields[at].ty))
            }
            _ => None,
        }
        .ok_or(LowerError::Unsupported("this field"))?;
        match given {
            Given::Place(place, _) => Ok(Given::Place(place.part(at), part)),
            other => {
                let value = self.value(other)?;
                Ok(Given::Value(self.builder.op(Op::Part(value, at))))
            }
        }
    }

    /// The indices that an expression means, for a view.
    fn indices(&mut self, param: ParamId, index: &'static Expr) -> Result<Vec<Value>> {
        let rank = self.builder.kernel().elements(param).map_or(1, |(_, rank)| rank);
        match self.expr(index)? {
            Given::Item => Ok((0..rank).map(|dim| self.builder.position(dim)).collect()),
            Given::Tuple(parts) => parts
                .into_iter()
                .map(|part| {
                    let part = self.value(part)?;
                    Ok(self.cast(part, Scalar::U64))
                })
                .collect(),
            other => {
                let value = self.value(other)?;
                let ty = self.builder.type_of(value);
                match self.builder.types().get(ty) {
                    None => Ok(vec![self.cast(value, Scalar::U64)]),
                    // A tuple or array in a variable.
                    Some(_) => Ok((0..rank)
                        .map(|dim| {
                            let part = self.builder.op(Op::Part(value, dim.into()));
                            self.cast(part, Scalar::U64)
                        })
                        .collect()),
                }
            }
        }
    }

    fn index(&mut self, base: &'static Expr, index: &'static Expr, at: At) -> Result<Given> {
        let given = self.element(base, index, at)?;
        // Loaded at once: what follows may store there.
        self.settle(given)
    }

    fn element(&mut self, base: &'static Expr, index: &'static Expr, at: At) -> Result<Given> {
        match self.expr(base)? {
            Given::View(param) => {
                let indices = self.indices(param, index)?;
                self.site(at);
                let ty = self.builder.kernel().elements(param).map_or(U64, |(ty, _)| ty);
                Ok(Given::Place(Place::element(param, indices), ty))
            }
            Given::Place(place, ty) => {
                let value = self.of(index)?;
                let value = self.cast(value, Scalar::U64);
                self.site(at);
                let inner = self.builder.types().part(ty, 0);
                let inner = inner.ok_or(LowerError::Unsupported("this index"))?;
                Ok(Given::Place(place.at(value), inner))
            }
            Given::Shape(extents) if known(index).is_some_and(|at| at < extents.len()) => {
                Ok(Given::Value(extents[known(index).unwrap_or(0)]))
            }
            other => {
                // An array that is a value: only variables can be indexed by values.
                let array = self.value(other)?;
                let ty = self.builder.type_of(array);
                let var = self.builder.var("array", ty, false);
                self.builder.set(var, array);
                let value = self.of(index)?;
                let value = self.cast(value, Scalar::U64);
                self.site(at);
                let inner = self.builder.types().part(ty, 0);
                let inner = inner.ok_or(LowerError::Unsupported("this index"))?;
                Ok(Given::Place(Place::var(var).at(value), inner))
            }
        }
    }

    /// Something that is written to.
    fn place(&mut self, expr: &'static Expr) -> Result<Given> {
        match expr {
            Expr::Index(base, index, at) => {
                let base = self.place(base)?;
                match base {
                    Given::View(param) => {
                        let indices = self.indices(param, index)?;
                        self.site(*at);
                        let ty = self.builder.kernel().elements(param).map_or(U64, |(ty, _)| ty);
                        Ok(Given::Place(Place::element(param, indices), ty))
                    }
                    Given::Place(mut place, ty) => {
                        let value = self.of(index)?;
                        let value = self.cast(value, Scalar::U64);
                        let inner = self.builder.types().part(ty, 0);
                        let inner = inner.ok_or(LowerError::Unsupported("this index"))?;
                        place.path.push(Step::At(value));
                        Ok(Given::Place(place, inner))
                    }
                    _ => Err(LowerError::Unsupported("this assignment")),
                }
            }
            Expr::Field(base, name) => match self.place(base)? {
                Given::Place(place, ty) => {
                    let found = match self.builder.types().get(ty) {
                        Some(Composite::Struct(s)) => {
                            s.fields.iter().position(|field| field.name == *name)
                        }
                        _ => None,
                    };
                    let part = found.ok_or(LowerError::Unsupported("this field"))? as u32;
                    let inner = self.builder.types().part(ty, part).unwrap_or(ty);
                    Ok(Given::Place(place.part(part), inner))
                }
                _ => Err(LowerError::Unsupported("this assignment")),
            },
            Expr::Local(_) => self.expr(expr),
            _ => Err(LowerError::Unsupported("this assignment")),
        }
    }

    fn assign(&mut self, to: &'static Expr, value: Value, at: At) -> Result<()> {
        match self.place(to)? {
            Given::Place(place, _) => {
                if matches!(place.root, Root::Element(..)) {
                    self.site(at);
                }
                self.builder.store(place, value);
                Ok(())
            }
            _ => Err(LowerError::Unsupported("this assignment")),
        }
    }

    fn structure(&mut self, ty: u16, fields: &'static [(&'static str, Expr)]) -> Result<Given> {
        let ty = self.entry_type(ty)?;
        let mut values = HashMap::new();
        for (name, expr) in fields {
            values.insert(*name, self.of(expr)?);
        }
        let names: Vec<_> = match self.builder.types().get(ty) {
            Some(Composite::Struct(s)) => s.fields.iter().map(|f| f.name.clone()).collect(),
            _ => vec![],
        };
        let parts: Option<Vec<_>> =
            names.iter().map(|name| values.get(name.as_str()).copied()).collect();
        let parts = parts.ok_or(LowerError::Unsupported("this struct"))?;
        Ok(Given::Value(self.builder.op(Op::Make(ty, parts))))
    }

    fn array(&mut self, parts: Vec<Value>) -> Result<Given> {
        let first = parts.first().ok_or(LowerError::Unsupported("an empty array"))?;
        let element = self.builder.type_of(*first);
        let ty = self.builder.types().array(element, parts.len() as u32);
        Ok(Given::Value(self.builder.op(Op::Make(ty, parts))))
    }

    fn branch(
        &mut self,
        cond: &'static Expr,
        then: &'static Block,
        otherwise: Option<&'static Block>,
    ) -> Result<Given> {
        let cond = self.of(cond)?;
        let mut result = None;
        self.builder.begin(false);
        let given = self.block(then)?;
        self.keep(&mut result, given)?;
        let then = self.builder.end();
        self.builder.begin(false);
        if let Some(block) = otherwise {
            let given = self.block(block)?;
            self.keep(&mut result, given)?;
        }
        let otherwise = self.builder.end();
        self.builder.push(Stmt::If { cond, then, otherwise });
        Ok(match result {
            Some(var) => Given::Value(self.builder.get(var)),
            None => Given::Unit,
        })
    }

    /// Puts a branch's value to the variable that both branches share.
    fn keep(&mut self, result: &mut Option<VarId>, given: Given) -> Result<()> {
        if matches!(given, Given::Unit) {
            return Ok(());
        }
        let value = self.value(given)?;
        let ty = self.builder.type_of(value);
        let var = *result.get_or_insert_with(|| self.builder.var("if", ty, false));
        self.builder.set(var, value);
        Ok(())
    }

    fn repeat(&mut self, cond: Option<&'static Expr>, body: &'static Block) -> Result<()> {
        let label = self.builder.label();
        self.builder.begin(false);
        if let Some(cond) = cond {
            let go = self.of(cond)?;
            let otherwise = vec![Stmt::Break(label)];
            self.builder.push(Stmt::If { cond: go, then: vec![], otherwise });
        }
        self.frame.loops.push(label);
        self.block(body)?;
        self.frame.loops.pop();
        let body = self.builder.end();
        self.builder.push(Stmt::Loop { label, body });
        Ok(())
    }

    fn counted(
        &mut self,
        pattern: &'static Pattern,
        start: &'static Expr,
        end: &'static Expr,
        (inclusive, reversed): (bool, bool),
        body: &'static Block,
    ) -> Result<()> {
        let (from, to) = (self.of(start)?, self.of(end)?);
        let ty = self.builder.type_of(from);
        let scalar = ty.scalar().ok_or(LowerError::Unsupported("this range"))?;
        let label = self.builder.label();
        let plain = !inclusive && !reversed;
        let (first, last) = if plain { (from, to) } else { self.count(from, to, inclusive) };
        let index = self.builder.value(self.builder.type_of(first));
        self.builder.begin(false);
        let item = if plain {
            index
        } else {
            // Counted from 0: `from + k`, or `last - k`.
            let by = self.cast(index, scalar);
            if !reversed {
                self.builder.binary(Binary::Add, from, by)
            } else if inclusive {
                self.builder.binary(Binary::Sub, to, by)
            } else {
                let one = self.builder.int(scalar, 1);
                let last = self.builder.binary(Binary::Sub, to, one);
                self.builder.binary(Binary::Sub, last, by)
            }
        };
        self.bind(pattern, Given::Value(item))?;
        self.frame.loops.push(label);
        self.block(body)?;
        self.frame.loops.pop();
        let body = self.builder.end();
        self.builder.push(Stmt::For { label, index, start: first, end: last, body });
        Ok(())
    }

    /// 0, and how many values a range has.
    fn count(&mut self, from: Value, to: Value, inclusive: bool) -> (Value, Value) {
        let (wide_from, wide_to) = (self.cast(from, Scalar::U64), self.cast(to, Scalar::U64));
        let mut count = self.builder.binary(Binary::Sub, wide_to, wide_from);
        if inclusive {
            let one = self.builder.index(1);
            count = self.builder.binary(Binary::Add, count, one);
        }
        let op = if inclusive { Compare::Le } else { Compare::Lt };
        let any = self.builder.compare(op, from, to);
        let zero = self.builder.index(0);
        (zero, self.builder.op(Op::Select(any, count, zero)))
    }

    fn call(&mut self, at: u16, args: &'static [Expr]) -> Result<Given> {
        let Some(Entry::Function(function)) = self.frame.table.get(usize::from(at)).copied() else {
            return Err(LowerError::Unsupported("this call"));
        };
        let table = (function.table)();
        // Other instances of one generic function have one body: recursion is through depth.
        let body: *const Block = function.body;
        if self.calls.iter().filter(|call| **call == body).count() > 16 {
            return Err(LowerError::Recursion(function.name));
        }
        let mut given = Vec::with_capacity(args.len());
        for arg in args {
            let value = self.expr(arg)?;
            given.push(self.settle(value)?);
        }
        let result = match table.get(function.params.len()) {
            Some(Entry::Type(ty)) => {
                let ty = ty(self.builder.types());
                Some(self.builder.var(function.name, ty, false))
            }
            _ => None,
        };
        let label = self.builder.label();
        let frame = Frame::of(function, table, Some((label, result)));
        let outer = std::mem::replace(&mut self.frame, frame);
        self.calls.push(body);
        for (at, given) in given.into_iter().enumerate() {
            self.frame.locals.insert(at as u16, given);
        }
        self.builder.begin(false);
        let gives = self.block(function.body)?;
        if let (Some(var), false) = (result, matches!(gives, Given::Unit)) {
            let value = self.value(gives)?;
            self.builder.set(var, value);
        }
        let body = self.builder.end();
        self.calls.pop();
        self.frame = outer;
        self.builder.push(Stmt::Block { label, body });
        Ok(match result {
            Some(var) => Given::Value(self.builder.get(var)),
            None => Given::Unit,
        })
    }

    fn method(
        &mut self,
        receiver: &'static Expr,
        name: &'static str,
        args: &'static [Expr],
        at: At,
    ) -> Result<Given> {
        let given = self.expr(receiver)?;
        match (&given, name) {
            (Given::Item, "index") => return Ok(Given::Value(self.builder.position(0))),
            (Given::Item, "pos") => {
                let rank = self.builder.kernel().shape.rank;
                let part = |dim| Given::Value(self.builder.position(dim));
                return Ok(Given::Tuple((0..rank).map(part).collect()));
            }
            (Given::View(param), "len") => {
                return Ok(Given::Value(self.builder.extent(*param, 0)));
            }
            (Given::View(param), "shape") => {
                let rank = self.builder.kernel().elements(*param).map_or(1, |(_, rank)| rank);
                let extents = (0..rank).map(|dim| self.builder.extent(*param, dim)).collect();
                return Ok(Given::Shape(extents));
            }
            _ => {}
        }
        let a = self.value(given)?;
        let mut rest = Vec::with_capacity(args.len());
        for arg in args {
            rest.push(self.of(arg)?);
        }
        self.site(at);
        let scalar = self.builder.type_of(a).scalar();
        let scalar = scalar.ok_or(LowerError::Unsupported(name))?;
        let b = |at: usize| rest.get(at).copied().ok_or(LowerError::Unsupported(name));
        let value = match method::find(name).ok_or(LowerError::Unsupported(name))? {
            Method::Unary(op) => self.builder.unary(op, a),
            Method::Binary(op) => {
                let b = b(0)?;
                self.builder.binary(op, a, b)
            }
            Method::Fma => {
                let (b, c) = (b(0)?, b(1)?);
                self.builder.op(Op::Fma(a, b, c))
            }
            Method::Clamp => {
                let (lo, hi) = (b(0)?, b(1)?);
                let low = self.builder.binary(Binary::Max, a, lo);
                self.builder.binary(Binary::Min, low, hi)
            }
            Method::Recip => {
                let bits = crate::Combine::Mul.identity(scalar).unwrap_or(1);
                let one = self.builder.bits(scalar, bits);
                self.builder.binary(Binary::Div, one, a)
            }
            Method::Fract => {
                let whole = self.builder.unary(Unary::Trunc, a);
                self.builder.binary(Binary::Sub, a, whole)
            }
            Method::ToBits => {
                let to = if scalar.bits() == 64 { Scalar::U64 } else { Scalar::U32 };
                self.builder.op(Op::Bits(a, to))
            }
        };
        Ok(Given::Value(value))
    }
}

/// A literal index.
fn known(index: &Expr) -> Option<usize> {
    match index {
        Expr::Number(digits, _) => digits.parse().ok(),
        _ => None,
    }
}

/// Computing it when it does not decide changes nothing: no load, division, call, or exit.
fn is_plain(expr: &Expr) -> bool {
    match expr {
        Expr::Number(..) | Expr::Bool(_) | Expr::Local(_) | Expr::Const(_) => true,
        Expr::Binary(op, a, b, _) => !matches!(*op, "/" | "%") && is_plain(a) && is_plain(b),
        Expr::Unary(_, a) | Expr::Cast(a, _) | Expr::Field(a, _) => is_plain(a),
        Expr::Method(a, _, args, _) => is_plain(a) && args.iter().all(is_plain),
        _ => false,
    }
}
