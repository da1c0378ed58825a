//! The type of an operation's result: the one set of typing rules, used by builder and verifier.

use crate::fault::Fault;
use crate::ir::{Hop, Kernel, ParamId, ParamKind, Place, Root, Value};
use crate::op::{Atomic, Binary, Fold, Op, Subgroup, Unary};
use crate::print::type_name;
use crate::types::{Composite, Scalar, Type};

type Result<T> = std::result::Result<T, Fault>;

/// Checks operands; see [`result`].
struct Rules<'k>(&'k Kernel);

/// The type of an operation's result.
pub fn result(kernel: &Kernel, op: &Op) -> Result<Type> {
    Rules(kernel).op(op)
}

/// The type of what is at a place.
pub fn place(kernel: &Kernel, place: &Place) -> Result<Type> {
    Rules(kernel).place(place)
}

fn undefined(op: impl ToString, ty: Scalar) -> Fault {
    Fault::NotDefined { op: op.to_string(), ty: ty.to_string() }
}

impl Rules<'_> {
    fn ty(&self, value: Value) -> Result<Type> {
        self.0.type_of(value).ok_or(Fault::Unknown(value))
    }

    fn wrong(&self, what: &'static str, found: Type, wanted: &str) -> Fault {
        Fault::Operand { what, found: type_name(found), wanted: wanted.to_owned() }
    }

    fn scalar(&self, what: &'static str, value: Value) -> Result<Scalar> {
        let ty = self.ty(value)?;
        ty.scalar().ok_or_else(|| self.wrong(what, ty, "a scalar"))
    }

    fn is(&self, what: &'static str, value: Value, wanted: Type) -> Result<()> {
        let found = self.ty(value)?;
        if found == wanted {
            return Ok(());
        }
        Err(self.wrong(what, found, &type_name(wanted)))
    }

    fn int(&self, what: &'static str, value: Value) -> Result<Scalar> {
        let scalar = self.scalar(what, value)?;
        if scalar.is_int() {
            return Ok(scalar);
        }
        Err(self.wrong(what, scalar.into(), "an integer"))
    }

    fn op(&self, op: &Op) -> Result<Type> {
        match op {
            Op::Const(scalar, bits) if bits & !scalar.mask() != 0 => {
                Err(Fault::NotDefined { op: format!("{bits:#x}"), ty: scalar.to_string() })
            }
            Op::Const(scalar, _) => Ok((*scalar).into()),
            Op::Zero(ty) => self.known(*ty),
            Op::Arg(param) => match self.param(*param)? {
                ParamKind::Scalar(ty) => Ok(*ty),
                _ => Err(self.kind(*param, "scalar")),
            },
            Op::Extent(param, dim) => self.extent(*param, *dim),
            Op::Query { query, dim, copy } => self.query(*query, *dim, *copy),
            Op::Unary(op, a) => self.unary(*op, self.scalar("the operand", *a)?),
            Op::Binary(op, a, b) => self.binary(*op, *a, *b),
            Op::Compare(op, a, b) => {
                let scalar = self.scalar("the left operand", *a)?;
                self.is("the right operand", *b, scalar.into())?;
                let ordered = !matches!(op.name(), "eq" | "ne");
                if scalar == Scalar::Bool && ordered {
                    return Err(undefined(op, scalar));
                }
                Ok(Scalar::Bool.into())
            }
            Op::Fma(a, b, c) => {
                let scalar = self.scalar("the first operand", *a)?;
                self.is("the second operand", *b, scalar.into())?;
                self.is("the third operand", *c, scalar.into())?;
                if scalar.is_float() { Ok(scalar.into()) } else { Err(undefined("fma", scalar)) }
            }
            Op::Dot4(a, b, c) => {
                self.is("the first operand", *a, Scalar::U32.into())?;
                self.is("the second operand", *b, Scalar::U32.into())?;
                let scalar = self.scalar("the third operand", *c)?;
                let fits = matches!(scalar, Scalar::I32 | Scalar::U32);
                if fits { Ok(scalar.into()) } else { Err(undefined("dot4", scalar)) }
            }
            Op::Select(cond, a, b) => {
                self.is("the condition", *cond, Scalar::Bool.into())?;
                let ty = self.ty(*a)?;
                self.is("the second choice", *b, ty)?;
                Ok(ty)
            }
            Op::Cast(a, to) => {
                let from = self.scalar("the operand", *a)?;
                let fits = *to != Scalar::Bool && !(from == Scalar::Bool && to.is_float());
                if fits { Ok((*to).into()) } else { Err(undefined(format!("as {to}"), from)) }
            }
            Op::Bits(a, to) => {
                let from = self.scalar("the operand", *a)?;
                let fits = from.bits() == to.bits() && from != Scalar::Bool;
                if fits { Ok((*to).into()) } else { Err(undefined(format!("bits {to}"), from)) }
            }
            Op::Make(ty, parts) => self.make(*ty, parts),
            Op::Part(a, part) => self.step(self.ty(*a)?, *part),
            Op::Load(place) => self.place(place),
            Op::Atomic(op, place, args) => self.atomic(*op, place, args),
            Op::Subgroup(op, args) => self.subgroup(*op, args),
            Op::SubgroupFold(_, combine, a) => {
                let scalar = self.scalar("the operand", *a)?;
                combine.identity(scalar).ok_or(Fault::Combine(*combine, scalar))?;
                Ok(scalar.into())
            }
        }
    }

    fn known(&self, ty: Type) -> Result<Type> {
        let there = ty.scalar().is_some() || self.0.types.get(ty).is_some();
        if there { Ok(ty) } else { Err(Fault::NoType(ty)) }
    }

    fn param(&self, param: ParamId) -> Result<&ParamKind> {
        self.0.params.get(param.index()).map(|p| &p.kind).ok_or(Fault::NoParam(param))
    }

    fn kind(&self, param: ParamId, wanted: &'static str) -> Fault {
        let name = self.0.params.get(param.index()).map(|p| p.name.clone()).unwrap_or_default();
        Fault::ParamKind { param, name, wanted }
    }

    fn extent(&self, param: ParamId, dim: u8) -> Result<Type> {
        match self.param(param)? {
            ParamKind::View { rank, .. } if dim < *rank => Ok(Scalar::U64.into()),
            ParamKind::View { rank, .. } => {
                Err(Fault::Rank { what: "dimension", found: dim, rank: *rank })
            }
            _ => Err(self.kind(param, "view")),
        }
    }

    fn query(&self, query: crate::op::Query, dim: u8, copy: u8) -> Result<Type> {
        let shape = self.0.shape;
        let rank = if query.has_dimension() { shape.rank } else { 1 };
        if dim >= rank {
            return Err(Fault::Rank { what: "dimension", found: dim, rank });
        }
        let copies = if query == crate::op::Query::Position { shape.tile } else { 1 };
        if copy >= copies {
            return Err(Fault::Rank { what: "copy", found: copy, rank: copies });
        }
        if query.needs_group() && !shape.groups {
            return Err(Fault::Query(query));
        }
        Ok(Scalar::U64.into())
    }

    fn unary(&self, op: Unary, a: Scalar) -> Result<Type> {
        use Unary::{
            Abs, CountOnes, LeadingZeros, Neg, Not, ReverseBits, SwapBytes, TrailingZeros,
        };
        let fits = match op {
            Neg => a.is_float() || a.is_int(),
            Abs => a.is_float() || a.is_signed(),
            Not => !a.is_float(),
            CountOnes | LeadingZeros | TrailingZeros | ReverseBits | SwapBytes => a.is_int(),
            fast if fast.is_fast() => a == Scalar::F32,
            _ => a.is_float(),
        };
        match op {
            _ if !fits => Err(undefined(op, a)),
            CountOnes | LeadingZeros | TrailingZeros => Ok(Scalar::U32.into()),
            _ => Ok(a.into()),
        }
    }

    fn binary(&self, op: Binary, a: Value, b: Value) -> Result<Type> {
        use Binary::{
            Add, And, Div, Max, Min, Mul, MulHi, Or, Rem, RotateLeft, RotateRight, SatAdd, SatSub,
            Shl, Shr, Sub, Xor,
        };
        let scalar = self.scalar("the left operand", a)?;
        if matches!(op, Shl | Shr | RotateLeft | RotateRight) {
            self.int("the amount", b)?;
        } else {
            self.is("the right operand", b, scalar.into())?;
        }
        let fits = match op {
            Add | Sub | Mul | Div | Rem | Min | Max => scalar != Scalar::Bool,
            And | Or | Xor => !scalar.is_float(),
            Shl | Shr | RotateLeft | RotateRight | SatAdd | SatSub | MulHi => scalar.is_int(),
            _ => scalar.is_float(),
        };
        if fits { Ok(scalar.into()) } else { Err(undefined(op, scalar)) }
    }

    fn make(&self, ty: Type, parts: &[Value]) -> Result<Type> {
        self.known(ty)?;
        let wanted = self.0.types.parts(ty) as usize;
        if ty.scalar().is_some() || parts.len() != wanted {
            return Err(Fault::Count { what: "parts", found: parts.len(), wanted });
        }
        for (at, part) in parts.iter().enumerate() {
            self.is("a part", *part, self.step(ty, at as u32)?)?;
        }
        Ok(ty)
    }

    fn step(&self, ty: Type, part: u32) -> Result<Type> {
        let fault = || Fault::NoPart { ty: type_name(ty), part };
        self.0.types.part(ty, part).ok_or_else(fault)
    }

    fn place(&self, place: &Place) -> Result<Type> {
        let mut ty = match &place.root {
            Root::Var(var) => self.0.vars.get(var.index()).ok_or(Fault::NoVar(*var))?.ty,
            Root::Element(param, at) => self.element(*param, at)?,
        };
        for step in &place.path {
            ty = match step {
                Hop::Part(part) => self.step(ty, *part)?,
                Hop::At(index) => {
                    self.is("an index", *index, Scalar::U64.into())?;
                    match self.0.types.get(ty) {
                        Some(Composite::Array { element, .. }) => *element,
                        _ => return Err(self.wrong("what is indexed", ty, "an array")),
                    }
                }
            };
        }
        Ok(ty)
    }

    fn element(&self, param: ParamId, at: &[Value]) -> Result<Type> {
        self.param(param)?;
        let (ty, rank) = self.0.elements(param).ok_or_else(|| self.kind(param, "view"))?;
        if at.len() != usize::from(rank) {
            return Err(Fault::Count { what: "indices", found: at.len(), wanted: rank.into() });
        }
        for index in at {
            self.is("an index", *index, Scalar::U64.into())?;
        }
        Ok(ty)
    }

    fn atomic(&self, op: Atomic, place: &Place, args: &[Value]) -> Result<Type> {
        let ty = self.place(place)?;
        let Some(scalar) = ty.scalar() else {
            return Err(self.wrong("the place", ty, "a scalar"));
        };
        let wide = matches!(scalar.bits(), 32 | 64);
        let any = matches!(op, Atomic::Load | Atomic::Add | Atomic::Exchange);
        if !wide || (scalar.is_float() && !any) {
            return Err(undefined(format!("atomic {op}"), scalar));
        }
        if args.len() != op.operands() {
            let (found, wanted) = (args.len(), op.operands());
            return Err(Fault::Count { what: "operands", found, wanted });
        }
        args.iter().try_for_each(|arg| self.is("an operand", *arg, ty))?;
        Ok(ty)
    }

    fn subgroup(&self, op: Subgroup, args: &[Value]) -> Result<Type> {
        let wanted = match op {
            Subgroup::Any | Subgroup::All | Subgroup::Match => 1,
            Subgroup::Broadcast | Subgroup::ShuffleXor => 2,
        };
        let (1 | 2, Some(first)) = (args.len(), args.first()) else {
            return Err(Fault::Count { what: "operands", found: args.len(), wanted });
        };
        if args.len() != wanted {
            return Err(Fault::Count { what: "operands", found: args.len(), wanted });
        }
        let scalar = self.scalar("the operand", *first)?;
        if op == Subgroup::Match {
            return Ok(Scalar::U32.into());
        }
        match args.get(1) {
            Some(lane) => self.is("the lane", *lane, Scalar::U32.into())?,
            None => self.is("the operand", *first, Scalar::Bool.into())?,
        }
        Ok(scalar.into())
    }
}

/// Whether a fold gives one result for the group, or one for each item.
pub(crate) fn is_uniform(fold: Fold) -> bool {
    fold == Fold::Reduce
}
