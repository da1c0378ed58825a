//! The verifier: what every kernel must keep to be handed to an analysis, an interpreter or an
//! emitter, which rely on it. The error tells the fault, and its place.
//!
//! The verifier checks form: types, visibility, labels, uniformity, what a parameter allows. That
//! outputs are written by their owners, and written at all, is shown by [`crate::outputs`].

use crate::fault::{Fault, VerifyError};
use crate::infer;
use crate::ir::{
    Access, Body, Collision, Kernel, Label, Owner, ParamId, ParamKind, Place, Product, Root,
    SiteId, Stmt, Value, VarId,
};
use crate::op::{Combine, Fold, Op};
use crate::print::{head, type_name};
use crate::types::{Composite, Scalar, Type};

type Checked = Result<(), Fault>;

/// Checks a kernel.
pub fn verify(kernel: &Kernel) -> Result<(), VerifyError> {
    declarations(kernel)?;
    let mut verifier = Verifier {
        kernel,
        state: vec![Seen::Never; kernel.values.len()],
        labels: vec![Seen::Never; kernel.labels as usize],
        visible: vec![],
        open: vec![],
        zone: if kernel.shape.groups { Zone::Uniform } else { Zone::Items },
        depth: 0,
        left: false,
        path: vec![],
    };
    verifier.body(&kernel.body)
}

/// Threads of a block in one dimension: more than any device has.
pub const MOST_THREADS: u32 = 1024;

fn error(kernel: &Kernel, at: String, fault: Fault) -> VerifyError {
    VerifyError { kernel: kernel.name.clone(), at, fault }
}

fn declarations(kernel: &Kernel) -> Result<(), VerifyError> {
    let shape = kernel.shape;
    if !(1..=3).contains(&shape.rank) || shape.tile == 0 {
        let fault = Fault::Misplaced("a kernel has 1 to 3 dimensions and at least one item");
        return Err(error(kernel, "its shape".to_owned(), fault));
    }
    let (asks, has) =
        (shape.block != [0; 3], shape.block.iter().all(|n| (1..=MOST_THREADS).contains(n)));
    if asks && (shape.groups || !has) {
        let fault =
            Fault::Misplaced("a kernel of items has blocks of 1 to 1024 threads in each dimension");
        return Err(error(kernel, "its shape".to_owned(), fault));
    }
    if shape.tile > 1 && shape.groups {
        let fault = Fault::Misplaced("a group kernel computes one item per thread");
        return Err(error(kernel, "its shape".to_owned(), fault));
    }
    let mut depths: Vec<u32> = vec![];
    for (at, composite) in kernel.types.all().iter().enumerate() {
        let fault = |fault| error(kernel, format!("type t{at}"), fault);
        depths.push(depth(&depths, composite));
        if depths[at] > DEEPEST {
            return Err(fault(Fault::Layout(at as u32, "nested too deep")));
        }
        layout(kernel, at as u32, composite).map_err(fault)?;
    }
    for (at, param) in kernel.params.iter().enumerate() {
        let fault = |fault| error(kernel, format!("parameter p{at} ({})", param.name), fault);
        parameter(kernel, ParamId(at as u32), &param.kind).map_err(fault)?;
    }
    for (at, var) in kernel.vars.iter().enumerate() {
        let fault = |fault| error(kernel, format!("variable v{at} ({})", var.name), fault);
        exists(kernel, var.ty).map_err(fault)?;
        if var.uniform && !kernel.shape.groups {
            return Err(fault(Fault::Misplaced("only group kernels have uniform variables")));
        }
    }
    Ok(())
}

fn exists(kernel: &Kernel, ty: Type) -> Checked {
    let there = ty.scalar().is_some() || kernel.types.get(ty).is_some();
    if there { Ok(()) } else { Err(Fault::NoType(ty)) }
}

/// How deep a type is nested, after those of earlier ones.
fn depth(earlier: &[u32], composite: &Composite) -> u32 {
    let of = |ty: &Type| match ty {
        Type::Composite(at) => earlier.get(*at as usize).copied().unwrap_or(0),
        Type::Scalar(_) => 0,
    };
    1 + match composite {
        Composite::Array { element, .. } => of(element),
        Composite::Struct(s) => s.fields.iter().map(|field| of(&field.ty)).max().unwrap_or(0),
    }
}

/// No type is nested deeper: rustc stops at 128, and what walks over types calls itself.
const DEEPEST: u32 = 256;

/// Types name earlier ones; structs' fields follow each other, aligned, and fit.
fn layout(kernel: &Kernel, at: u32, composite: &Composite) -> Checked {
    let earlier = |ty: Type| match ty {
        Type::Composite(of) if of >= at => Err(Fault::NoType(ty)),
        _ => Ok(()),
    };
    match composite {
        Composite::Array { element, len } => {
            earlier(*element)?;
            let bytes = kernel.types.layout(*element).0.checked_mul(u64::from(*len));
            match bytes {
                _ if *len == 0 => Err(Fault::Layout(at, "an array of no elements")),
                Some(bytes) if bytes <= MAX_BYTES => Ok(()),
                _ => Err(Fault::Layout(at, "too large")),
            }
        }
        Composite::Struct(s) => {
            let mut end = 0u64;
            for field in &s.fields {
                earlier(field.ty)?;
                let (size, align) = kernel.types.layout(field.ty);
                if field.offset < end || field.offset % align != 0 || s.align < align {
                    return Err(Fault::Layout(at, "a field overlaps or is not aligned"));
                }
                end = field.offset.saturating_add(size);
            }
            match end <= s.size && s.size <= MAX_BYTES && s.align.is_power_of_two() {
                true if s.size.is_multiple_of(s.align) => Ok(()),
                _ => Err(Fault::Layout(at, "size and alignment do not fit the fields")),
            }
        }
    }
}

/// No type is larger: private memory and arguments are far smaller on every device.
const MAX_BYTES: u64 = 1 << 32;

fn parameter(kernel: &Kernel, param: ParamId, kind: &ParamKind) -> Checked {
    let wrong = |what| Err(Fault::Declaration { param, what });
    let shared = |ty: Type| match exists(kernel, ty) {
        Ok(()) if !kernel.types.shareable(ty) => wrong("its type has padding or a bool"),
        other => other,
    };
    match kind {
        ParamKind::Scalar(ty) => shared(*ty),
        ParamKind::View { element, rank, access, owner } => {
            shared(*element)?;
            let shape = kernel.shape;
            let scalar = element.scalar();
            match owner {
                _ if !(1..=3).contains(rank) => wrong("a view has 1 to 3 dimensions"),
                _ if *access == Access::In => match owner {
                    Owner::Item => Ok(()),
                    _ => wrong("a view that is only read has no owner but `item`"),
                },
                Owner::Item | Owner::Group if *rank != shape.rank => {
                    wrong("its rank differs from the launch's")
                }
                Owner::Group if !shape.groups => wrong("an item kernel has no groups"),
                Owner::Row | Owner::Column if (*rank, shape.rank) != (2, 1) => {
                    wrong("rows and columns are of a view of rank 2 and a launch of rank 1")
                }
                Owner::Atomic if *access == Access::Out => wrong("atomics read, too: `inout`"),
                Owner::Atomic if !scalar.is_some_and(|s| matches!(s.bits(), 32 | 64)) => {
                    wrong("atomics are of 32 or 64 bits")
                }
                _ => Ok(()),
            }
        }
        ParamKind::Reduce { element, combine } => {
            shared(*element)?;
            reducible(*element, *combine)
        }
        ParamKind::Local { element, len } => {
            exists(kernel, *element)?;
            match (*len, kernel.shape.groups) {
                (0, _) => wrong("local memory of no elements"),
                (_, false) => wrong("an item kernel has no local memory"),
                _ => Ok(()),
            }
        }
    }
}

fn reducible(ty: Type, combine: Combine) -> Checked {
    let Some(scalar) = ty.scalar() else {
        return Err(Fault::NotDefined { op: combine.to_string(), ty: type_name(ty) });
    };
    combine.identity(scalar).map(|_| ()).ok_or(Fault::Combine(combine, scalar))
}

#[derive(Clone, Copy, PartialEq)]
enum Seen {
    Never,
    Visible,
    Gone,
}

/// Whose code it is.
#[derive(Clone, Copy, PartialEq)]
enum Zone {
    /// The group's.
    Uniform,
    /// Each item's, in a phase or an item kernel.
    Items,
    /// The first item's.
    Once,
}

struct Verifier<'k> {
    kernel: &'k Kernel,
    state: Vec<Seen>,
    labels: Vec<Seen>,
    visible: Vec<Value>,
    /// Labels around this, and whether they are loops'.
    open: Vec<(Label, bool)>,
    zone: Zone,
    /// Branches and loops between here and the body of the phase.
    depth: usize,
    /// An earlier statement of the phase may have left it.
    left: bool,
    path: Vec<usize>,
}

impl<'k> Verifier<'k> {
    fn body(&mut self, body: &'k Body) -> Result<(), VerifyError> {
        self.body_then(body, None)
    }

    /// Checks a body, and that `last` is visible at its end.
    fn body_then(&mut self, body: &'k Body, last: Option<Value>) -> Result<(), VerifyError> {
        let before = self.visible.len();
        for (at, stmt) in body.iter().enumerate() {
            self.path.push(at);
            self.stmt(stmt).map_err(|fault| self.here(stmt, fault))?;
            self.inside(stmt)?;
            self.path.pop();
        }
        if let Some(value) = last {
            self.see(value).map_err(|f| error(self.kernel, self.place("its end"), f))?;
        }
        for value in self.visible.drain(before..) {
            self.state[value.index()] = Seen::Gone;
        }
        Ok(())
    }

    fn place(&self, text: &str) -> String {
        let path: Vec<_> = self.path.iter().map(ToString::to_string).collect();
        format!("body {}: `{text}`", path.join("."))
    }

    fn here(&self, stmt: &Stmt, fault: Fault) -> VerifyError {
        error(self.kernel, self.place(&head(self.kernel, stmt)), fault)
    }

    fn see(&self, value: Value) -> Checked {
        match self.state.get(value.index()) {
            Some(Seen::Visible) => Ok(()),
            _ => Err(Fault::Unknown(value)),
        }
    }

    fn define(&mut self, value: Value, ty: Type) -> Checked {
        let declared = self.kernel.type_of(value).ok_or(Fault::Unknown(value))?;
        if declared != ty {
            let (declared, found) = (type_name(declared), type_name(ty));
            return Err(Fault::Declared { value, declared, found });
        }
        match self.state.get_mut(value.index()) {
            Some(state) if *state == Seen::Never => *state = Seen::Visible,
            _ => return Err(Fault::Twice(value)),
        }
        self.visible.push(value);
        Ok(())
    }

    fn is(&self, what: &'static str, value: Value, wanted: Type) -> Checked {
        self.see(value)?;
        let found = self.kernel.type_of(value).ok_or(Fault::Unknown(value))?;
        let (name, needed) = (type_name(found), type_name(wanted));
        if found == wanted {
            Ok(())
        } else {
            Err(Fault::Operand { what, found: name, wanted: needed })
        }
    }

    /// Checks a statement, but for the bodies in it.
    fn stmt(&mut self, stmt: &'k Stmt) -> Checked {
        let bool = Scalar::Bool.into();
        match stmt {
            Stmt::Let(define) => {
                define.op.operands().into_iter().try_for_each(|value| self.see(value))?;
                let ty = infer::result(self.kernel, &define.op)?;
                self.operation(&define.op)?;
                self.site(define.site)?;
                self.define(define.value, ty)
            }
            Stmt::Store { place, value, site } => {
                place.operands().into_iter().try_for_each(|value| self.see(value))?;
                let ty = infer::place(self.kernel, place)?;
                self.is("what is stored", *value, ty)?;
                self.site(*site)?;
                self.write(place)
            }
            Stmt::If { cond, .. } => self.is("the condition", *cond, bool),
            Stmt::For { label, index, start, end, .. } => {
                self.see(*start)?;
                let ty = self.kernel.type_of(*start).ok_or(Fault::Unknown(*start))?;
                self.is("the end", *end, ty)?;
                if !ty.scalar().is_some_and(Scalar::is_int) {
                    let (what, found) = ("the start", type_name(ty));
                    return Err(Fault::Operand { what, found, wanted: "an integer".into() });
                }
                let declared = self.kernel.type_of(*index).ok_or(Fault::Unknown(*index))?;
                if declared != ty {
                    let (declared, found) = (type_name(declared), type_name(ty));
                    return Err(Fault::Declared { value: *index, declared, found });
                }
                self.label(*label)
            }
            Stmt::Loop { label, .. } => self.label(*label),
            Stmt::Block { label, product, .. } => {
                product.iter().try_for_each(|product| self.product(product))?;
                self.label(*label)
            }
            Stmt::Break(label) => self.leave(*label, false),
            Stmt::Continue(label) => self.leave(*label, true),
            Stmt::Return => {
                self.left = true;
                Ok(())
            }
            Stmt::Phase { .. } => self.uniform("a phase is in uniform code of a group kernel"),
            Stmt::Collect { fold, combine, value, into, .. } => {
                self.uniform("a reduction or scan of the group is in its uniform code")?;
                let ty = self.kernel.type_of(*value).ok_or(Fault::Unknown(*value))?;
                reducible(ty, *combine)?;
                self.collects(*fold, *into, ty)
            }
            Stmt::Contribute { param, value } => self.contribute(*param, *value),
            Stmt::Assert { cond, site, collision } => {
                self.left = true;
                self.site(Some(*site))?;
                if let Some(collision) = collision {
                    self.collision(collision)?;
                }
                self.is("the condition", *cond, bool)
            }
        }
    }

    /// What a product reads is tested where it is read, so nothing of its body has to be shown.
    fn product(&self, of: &Product) -> Checked {
        self.uniform("a product is in uniform code of a group kernel")?;
        if of.form(self.kernel).is_none() {
            return Err(Fault::Misplaced(
                "a product adds two matrices' product to a tile of `f32`",
            ));
        }
        for corner in &of.factors {
            let rank = self.kernel.elements(corner.view).map_or(0, |(_, rank)| usize::from(rank));
            if corner.at.len() != rank {
                let found = corner.at.len();
                return Err(Fault::Count { what: "indices", found, wanted: rank });
            }
        }
        let index = "where a product begins, or its depth";
        of.operands().try_for_each(|value| self.is(index, value, Scalar::U64.into()))
    }

    fn collision(&self, of: &Collision) -> Checked {
        let Some((_, rank)) = self.kernel.elements(of.param) else {
            return Err(Fault::NoParam(of.param));
        };
        let (found, wanted) = (of.index.len(), usize::from(rank));
        if found != wanted {
            return Err(Fault::Count { what: "indices", found, wanted });
        }
        of.operands().try_for_each(|value| self.is("a place or an item", value, Scalar::U64.into()))
    }

    /// Checks the bodies in a statement.
    fn inside(&mut self, stmt: &'k Stmt) -> Result<(), VerifyError> {
        match stmt {
            Stmt::If { then, otherwise, .. } => {
                self.depth += 1;
                self.body(then)?;
                self.body(otherwise)?;
                self.depth -= 1;
                Ok(())
            }
            Stmt::For { label, index, body, .. } => {
                let ty = self.kernel.type_of(*index).unwrap_or(Scalar::U64.into());
                self.define(*index, ty).map_err(|fault| self.here(stmt, fault))?;
                self.nested(*label, true, body)?;
                // The index is visible in the body only; nothing was defined after it.
                self.state[index.index()] = Seen::Gone;
                self.visible.retain(|value| value != index);
                Ok(())
            }
            Stmt::Loop { label, body } => self.nested(*label, true, body),
            Stmt::Block { label, body, .. } => self.nested(*label, false, body),
            Stmt::Phase { once, body } => {
                self.phase(if *once { Zone::Once } else { Zone::Items }, body, None)
            }
            Stmt::Collect { body, value, .. } => self.phase(Zone::Items, body, Some(*value)),
            Stmt::Let(_)
            | Stmt::Store { .. }
            | Stmt::Break(_)
            | Stmt::Continue(_)
            | Stmt::Return
            | Stmt::Contribute { .. }
            | Stmt::Assert { .. } => Ok(()),
        }
    }

    fn nested(&mut self, label: Label, is_loop: bool, body: &'k Body) -> Result<(), VerifyError> {
        self.open.push((label, is_loop));
        self.depth += 1;
        self.body(body)?;
        self.depth -= 1;
        self.open.pop();
        Ok(())
    }

    fn phase(
        &mut self,
        zone: Zone,
        body: &'k Body,
        gives: Option<Value>,
    ) -> Result<(), VerifyError> {
        let open = std::mem::take(&mut self.open);
        let depth = std::mem::replace(&mut self.depth, 0);
        let left = std::mem::replace(&mut self.left, false);
        self.zone = zone;
        self.body_then(body, gives)?;
        if gives.is_some() && self.left {
            let fault = Fault::Misplaced("an item that leaves gives no value");
            return Err(error(self.kernel, self.place("collect"), fault));
        }
        self.zone = Zone::Uniform;
        (self.open, self.depth, self.left) = (open, depth, left);
        Ok(())
    }

    fn uniform(&self, what: &'static str) -> Checked {
        if self.zone == Zone::Uniform { Ok(()) } else { Err(Fault::Misplaced(what)) }
    }

    fn site(&self, site: Option<SiteId>) -> Checked {
        match site {
            Some(site) if site.index() >= self.kernel.sites.len() => Err(Fault::NoSite(site)),
            _ => Ok(()),
        }
    }

    fn label(&mut self, label: Label) -> Checked {
        let wanted = "a declared loop or block";
        match self.labels.get_mut(label.index()) {
            None => Err(Fault::Label { label, wanted }),
            Some(seen) if *seen != Seen::Never => Err(Fault::LabelTwice(label)),
            Some(seen) => {
                *seen = Seen::Visible;
                Ok(())
            }
        }
    }

    fn leave(&mut self, label: Label, repeats: bool) -> Checked {
        let fits = |open: &&(Label, bool)| open.0 == label && (open.1 || !repeats);
        let wanted = if repeats { "a loop" } else { "a loop or block" };
        self.open.iter().find(fits).map(|_| ()).ok_or(Fault::Label { label, wanted })
    }

    /// The conditions of an operation beside operands of the right types.
    fn operation(&self, op: &Op) -> Checked {
        match op {
            Op::Query { query, .. } if self.zone == Zone::Uniform && !query.is_uniform() => {
                Err(Fault::Query(*query))
            }
            Op::Load(place) => self.read(place),
            Op::Atomic(_, place, _) => self.atomic(place),
            Op::Subgroup(..) | Op::SubgroupFold(..) => {
                let whole = self.zone == Zone::Items && self.depth == 0 && !self.left;
                match self.kernel.shape.groups && whole {
                    true => Ok(()),
                    false => Err(Fault::Misplaced(
                        "sub-group operations are directly in a phase, where every item arrives",
                    )),
                }
            }
            Op::Const(..)
            | Op::Zero(_)
            | Op::Arg(_)
            | Op::Extent(..)
            | Op::Query { .. }
            | Op::Unary(..)
            | Op::Binary(..)
            | Op::Compare(..)
            | Op::Fma(..)
            | Op::Dot4(..)
            | Op::Select(..)
            | Op::Cast(..)
            | Op::Bits(..)
            | Op::Make(..)
            | Op::Part(..) => Ok(()),
        }
    }

    fn refuse(&self, param: ParamId, what: &'static str) -> Fault {
        let name = self.kernel.params.get(param.index()).map(|p| p.name.clone());
        Fault::Access { param, name: name.unwrap_or_default(), what }
    }

    fn read(&self, place: &Place) -> Checked {
        match &place.root {
            Root::Var(var) => self.variable(*var, false),
            Root::Element(param, _) => match self.kernel.params.get(param.index()).map(|p| &p.kind)
            {
                Some(ParamKind::View { access: Access::Out, .. }) => {
                    Err(self.refuse(*param, "read: it is `Out`"))
                }
                Some(ParamKind::View { owner: Owner::Atomic, .. }) => {
                    Err(self.refuse(*param, "read but by atomic operations"))
                }
                _ => Ok(()),
            },
        }
    }

    fn write(&self, place: &Place) -> Checked {
        match &place.root {
            Root::Var(var) => self.variable(*var, true),
            Root::Element(param, _) => match self.kernel.params.get(param.index()).map(|p| &p.kind)
            {
                _ if self.zone == Zone::Uniform => {
                    Err(self.refuse(*param, "written in uniform code; use a `once` phase"))
                }
                Some(ParamKind::View { access: Access::In, .. }) => {
                    Err(self.refuse(*param, "written: it is `In`"))
                }
                Some(ParamKind::View { owner: Owner::Atomic, .. }) => {
                    Err(self.refuse(*param, "written but by atomic operations"))
                }
                _ => Ok(()),
            },
        }
    }

    fn atomic(&self, place: &Place) -> Checked {
        let Root::Element(param, _) = &place.root else {
            return Err(Fault::Misplaced("atomic operations are on views and local memory"));
        };
        if self.zone == Zone::Uniform {
            return Err(self.refuse(*param, "changed in uniform code; use a `once` phase"));
        }
        match self.kernel.params.get(param.index()).map(|p| &p.kind) {
            Some(ParamKind::View { owner: Owner::Atomic | Owner::Anyone, access, .. })
                if *access == Access::InOut =>
            {
                Ok(())
            }
            Some(ParamKind::Local { .. }) => Ok(()),
            _ => Err(self.refuse(*param, "used atomically: it is not `atomic`")),
        }
    }

    fn variable(&self, var: VarId, write: bool) -> Checked {
        let declared = self.kernel.vars.get(var.index()).ok_or(Fault::NoVar(var))?;
        let name = declared.name.clone();
        match (declared.uniform, self.zone) {
            (true, Zone::Items | Zone::Once) if write => {
                Err(Fault::VarUse { var, name, what: "uniform, but written by an item" })
            }
            (false, Zone::Uniform) => {
                Err(Fault::VarUse { var, name, what: "an item's, but used in uniform code" })
            }
            _ => Ok(()),
        }
    }

    fn collects(&self, fold: Fold, into: VarId, ty: Type) -> Checked {
        let declared = self.kernel.vars.get(into.index()).ok_or(Fault::NoVar(into))?;
        let (var, name) = (into, declared.name.clone());
        if declared.ty != ty {
            let (found, wanted) = (type_name(declared.ty), type_name(ty));
            return Err(Fault::Operand { what: "the result's variable", found, wanted });
        }
        match (infer::is_uniform(fold), declared.uniform) {
            (true, false) => Err(Fault::VarUse { var, name, what: "a reduction's is uniform" }),
            (false, true) => Err(Fault::VarUse { var, name, what: "a scan's is of the items" }),
            _ => Ok(()),
        }
    }

    fn contribute(&self, param: ParamId, value: Value) -> Checked {
        if self.zone == Zone::Uniform {
            return Err(self.refuse(param, "added to in uniform code; use a `once` phase"));
        }
        match self.kernel.params.get(param.index()).map(|p| &p.kind) {
            Some(ParamKind::Reduce { element, .. }) => {
                self.is("what is contributed", value, *element)
            }
            Some(_) => Err(self.refuse(param, "added to: it is no `reduce`")),
            None => Err(Fault::NoParam(param)),
        }
    }
}
