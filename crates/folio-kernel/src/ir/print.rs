//! The text form: stable, complete, and read back by [`crate::parse`]. Equal kernels have equal
//! texts; the content hash is of this text.

use crate::ir::{
    Body, Collision, Hop, Kernel, Param, ParamKind, Place, Product, Root, Site, SiteId, Stmt, Value,
};
use crate::op::Op;
use crate::types::{Composite, Scalar, Type};
use std::fmt::{self, Display, Formatter, Write};

/// The name of a type in the text form.
pub fn type_name(ty: Type) -> String {
    TypeName(ty).to_string()
}

struct TypeName(Type);

impl Display for TypeName {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.0 {
            Type::Scalar(scalar) => f.write_str(scalar.name()),
            Type::Composite(at) => write!(f, "t{at}"),
        }
    }
}

/// A text in quotes.
struct Quoted<'a>(&'a str);

impl Display for Quoted<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_char('"')?;
        for c in self.0.chars() {
            match c {
                '"' | '\\' => write!(f, "\\{c}")?,
                c if c.is_control() => write!(f, "\\{{{:x}}}", u32::from(c))?,
                c => f.write_char(c)?,
            }
        }
        f.write_char('"')
    }
}

/// A literal: integers in decimal, floats in Rust's shortest form that reads back to the same
/// bits, or by their bits.
struct Literal(Scalar, u64);

impl Display for Literal {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Literal(scalar, bits) = *self;
        match scalar {
            Scalar::F32 if f32::from_bits(bits as u32).is_finite() => {
                write!(f, "{:?}", f32::from_bits(bits as u32))
            }
            Scalar::F64 if f64::from_bits(bits).is_finite() => {
                write!(f, "{:?}", f64::from_bits(bits))
            }
            _ if scalar.is_float() => write!(f, "{bits:#x}"),
            _ => write!(f, "{}", scalar.int(bits)),
        }
    }
}

impl Display for Value {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "%{}", self.0)
    }
}

fn list<T: Display>(f: &mut Formatter<'_>, items: &[T]) -> fmt::Result {
    items.iter().enumerate().try_for_each(|(at, item)| {
        if at > 0 {
            f.write_str(", ")?;
        }
        item.fmt(f)
    })
}

impl Display for Place {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.root {
            Root::Var(var) => write!(f, "v{}", var.0)?,
            Root::Element(param, at) => {
                write!(f, "p{}[", param.0)?;
                list(f, at)?;
                f.write_char(']')?;
            }
        }
        self.path.iter().try_for_each(|step| match step {
            Hop::Part(part) => write!(f, ".{part}"),
            Hop::At(value) => write!(f, ".[{value}]"),
        })
    }
}

impl Display for Op {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Op::Const(scalar, bits) => write!(f, "const {scalar} {}", Literal(*scalar, *bits)),
            Op::Zero(ty) => write!(f, "zero {}", TypeName(*ty)),
            Op::Arg(param) => write!(f, "arg p{}", param.0),
            Op::Extent(param, dim) => write!(f, "extent p{} {dim}", param.0),
            Op::Query { query, dim, copy } => write!(f, "query {query} {dim} {copy}"),
            Op::Unary(op, a) => write!(f, "{op} {a}"),
            Op::Binary(op, a, b) => write!(f, "{op} {a}, {b}"),
            Op::Compare(op, a, b) => write!(f, "{op} {a}, {b}"),
            Op::Dot4(a, b, c) => write!(f, "dot4 {a}, {b}, {c}"),
            Op::Fma(a, b, c) => write!(f, "fma {a}, {b}, {c}"),
            Op::Select(a, b, c) => write!(f, "select {a}, {b}, {c}"),
            Op::Cast(a, to) => write!(f, "cast {a} {to}"),
            Op::Bits(a, to) => write!(f, "bits {a} {to}"),
            Op::Make(ty, parts) => {
                write!(f, "make {} (", TypeName(*ty))?;
                list(f, parts)?;
                f.write_char(')')
            }
            Op::Part(a, part) => write!(f, "part {a} {part}"),
            Op::Load(place) => write!(f, "load {place}"),
            Op::Atomic(op, place, args) => {
                write!(f, "atomic {op} {place} (")?;
                list(f, args)?;
                f.write_char(')')
            }
            Op::Subgroup(op, args) => {
                write!(f, "subgroup {op} (")?;
                list(f, args)?;
                f.write_char(')')
            }
            Op::SubgroupFold(fold, combine, a) => write!(f, "subgroup_fold {fold} {combine} {a}"),
        }
    }
}

impl Display for Site {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", Quoted(&self.file), self.line, self.column)?;
        self.message.as_ref().map_or(Ok(()), |text| write!(f, " {}", Quoted(text)))
    }
}

impl Display for Param {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{} ", Quoted(&self.name))?;
        match &self.kind {
            ParamKind::Scalar(ty) => write!(f, "scalar {}", TypeName(*ty)),
            ParamKind::View { element, rank, access, owner } => {
                write!(f, "view {} {rank} {access} {owner}", TypeName(*element))
            }
            ParamKind::Reduce { element, combine } => {
                write!(f, "reduce {} {combine}", TypeName(*element))
            }
            ParamKind::Local { element, len } => write!(f, "local {} {len}", TypeName(*element)),
        }
    }
}

impl Display for Composite {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Composite::Array { element, len } => write!(f, "array {} {len}", TypeName(*element)),
            Composite::Struct(s) => {
                write!(f, "struct {} {} {} (", Quoted(&s.name), s.size, s.align)?;
                for (at, field) in s.fields.iter().enumerate() {
                    let comma = if at > 0 { ", " } else { "" };
                    let (name, ty) = (Quoted(&field.name), TypeName(field.ty));
                    write!(f, "{comma}{name} {ty} {}", field.offset)?;
                }
                f.write_char(')')
            }
        }
    }
}

struct Printer<'a, 'f> {
    kernel: &'a Kernel,
    f: &'a mut Formatter<'f>,
    depth: usize,
}

/// The first line of a statement, without the bodies in it.
pub(crate) fn head(kernel: &Kernel, stmt: &Stmt) -> String {
    struct Head<'a>(&'a Kernel, &'a Stmt);
    impl Display for Head<'_> {
        fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
            Printer { kernel: self.0, f, depth: 0 }.head(self.1)
        }
    }
    Head(kernel, stmt).to_string()
}

impl Printer<'_, '_> {
    fn site(&mut self, site: Option<SiteId>) -> fmt::Result {
        site.map_or(Ok(()), |site| write!(self.f, " @{}", site.0))
    }

    fn head(&mut self, stmt: &Stmt) -> fmt::Result {
        match stmt {
            Stmt::Let(define) => {
                write!(self.f, "{} ", define.value)?;
                let ty = self.kernel.type_of(define.value);
                ty.map_or(Ok(()), |ty| write!(self.f, "{} ", TypeName(ty)))?;
                write!(self.f, "= {}", define.op)?;
                self.site(define.site)
            }
            Stmt::Store { place, value, site } => {
                write!(self.f, "store {place} = {value}")?;
                self.site(*site)
            }
            Stmt::If { cond, .. } => write!(self.f, "if {cond}"),
            Stmt::For { label, index, start, end, .. } => {
                write!(self.f, "for l{} {index} in {start}, {end}", label.0)
            }
            Stmt::Loop { label, .. } => write!(self.f, "loop l{}", label.0),
            Stmt::Block { label, product, .. } => {
                write!(self.f, "block l{}", label.0)?;
                product.as_ref().map_or(Ok(()), |product| self.product(product))
            }
            Stmt::Break(label) => write!(self.f, "break l{}", label.0),
            Stmt::Continue(label) => write!(self.f, "continue l{}", label.0),
            Stmt::Return => self.f.write_str("return"),
            Stmt::Phase { once: false, .. } => self.f.write_str("phase"),
            Stmt::Phase { once: true, .. } => self.f.write_str("once"),
            Stmt::Collect { fold, combine, value, into, .. } => {
                write!(self.f, "collect {fold} {combine} {value} into v{}", into.0)
            }
            Stmt::Contribute { param, value } => {
                write!(self.f, "contribute p{} = {value}", param.0)
            }
            Stmt::Assert { cond, site, collision } => {
                write!(self.f, "assert {cond} @{}", site.0)?;
                let Some(Collision { param, index, items }) = collision else { return Ok(()) };
                write!(self.f, " collides p{} [", param.0)?;
                list(self.f, index)?;
                write!(self.f, "] {} {}", items[0], items[1])
            }
        }
    }

    fn product(&mut self, product: &Product) -> fmt::Result {
        write!(self.f, " product v{}", product.sum.0)?;
        for corner in &product.factors {
            write!(self.f, " p{}[", corner.view.0)?;
            list(self.f, &corner.at)?;
            self.f.write_str(if corner.turned { "] turned" } else { "]" })?;
        }
        write!(self.f, " {}", product.depth)
    }

    fn indent(&mut self) -> fmt::Result {
        (0..self.depth).try_for_each(|_| self.f.write_str("  "))
    }

    fn block(&mut self, body: &Body) -> fmt::Result {
        self.f.write_str("{\n")?;
        self.depth += 1;
        for stmt in body {
            self.indent()?;
            self.head(stmt)?;
            for (at, inner) in stmt.bodies().into_iter().enumerate() {
                match (at, inner.is_empty()) {
                    (0, _) => self.f.write_char(' ')?,
                    (_, true) => continue,
                    (_, false) => self.f.write_str(" else ")?,
                }
                self.block(inner)?;
            }
            self.f.write_char('\n')?;
        }
        self.depth -= 1;
        self.indent()?;
        self.f.write_char('}')
    }
}

impl Display for Kernel {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let kind = if self.shape.groups { "groups" } else { "items" };
        let (rank, tile) = (self.shape.rank, self.shape.tile);
        write!(f, "kernel {} {kind} {rank} tile {tile}", Quoted(&self.name))?;
        if self.shape.group > 0 {
            write!(f, " group {}", self.shape.group)?;
        }
        match self.shape.block {
            [0, 0, 0] => writeln!(f)?,
            [x, y, z] => writeln!(f, " block {x} {y} {z}")?,
        }
        for (at, ty) in self.types.all().iter().enumerate() {
            writeln!(f, "type t{at} = {ty}")?;
        }
        for (at, param) in self.params.iter().enumerate() {
            writeln!(f, "param p{at} = {param}")?;
        }
        for (at, var) in self.vars.iter().enumerate() {
            let uniform = if var.uniform { "uniform " } else { "" };
            writeln!(f, "var v{at} = {uniform}{} {}", Quoted(&var.name), TypeName(var.ty))?;
        }
        for (at, site) in self.sites.iter().enumerate() {
            writeln!(f, "site @{at} = {site}")?;
        }
        f.write_str("body ")?;
        Printer { kernel: self, f: &mut *f, depth: 0 }.block(&self.body)?;
        f.write_char('\n')
    }
}
