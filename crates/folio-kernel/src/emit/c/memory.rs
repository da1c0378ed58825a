//! Places: where they are, and what must hold for them to be there (semantics 7.5).

use super::abi::{Fails, Word};
use super::dialect::Dialect;
use super::writer::Writer;
use super::{names, types};
use crate::ir::{Hop, Let, ParamId, ParamKind, Place, Root, SiteId, Value};
use crate::op::{Atomic, Op};
use crate::types::{Scalar, Type};

/// A place in C.
struct Spot {
    lvalue: String,
    /// The space of memory: a macro.
    space: &'static str,
    checks: Vec<Check>,
}

/// A condition that must hold, and the call that notes its failure.
struct Check {
    holds: String,
    fails: String,
}

impl Writer<'_> {
    /// A number that has 31 bits in a text that is narrow: compilers compute it in 32.
    pub fn short(&self, number: &str) -> String {
        if self.form.narrow { format!("(u32)({number})") } else { number.to_owned() }
    }

    /// A word of a view in one of its dimensions.
    pub fn view_word(&mut self, param: ParamId, name: &str, rank: u8, dim: u8) -> String {
        let (at, of_three) = (self.number(param), 3 - rank.min(3) + dim);
        let word = match name {
            "low" => Word::Low(at, of_three),
            "size" => Word::Size(at, of_three),
            "shape" => Word::Shape(at, of_three),
            _ => Word::Pitch(at, of_three),
        };
        let name = format!("{}_{name}{dim}", names::param(self.kernel, param));
        self.word(word, name)
    }

    /// The extent of a view, as the kernel sees it.
    pub fn extent(&mut self, param: ParamId, dim: u8) -> String {
        let rank = self.kernel.elements(param).map_or(1, |(_, rank)| rank);
        self.view_word(param, "shape", rank, dim)
    }

    fn spot(&mut self, place: &Place, site: Option<SiteId>) -> Spot {
        let (mut spot, mut ty, param) = match &place.root {
            Root::Var(var) => {
                let lvalue = names::var(self.kernel, *var);
                let ty = self.kernel.vars.get(var.index()).map_or(Scalar::U64.into(), |v| v.ty);
                (Spot { lvalue, space: "", checks: vec![] }, ty, None)
            }
            Root::Element(param, at) => {
                let ty = self.kernel.elements(*param).map_or(Scalar::U64.into(), |(ty, _)| ty);
                (self.element(*param, at, site), ty, Some(*param))
            }
        };
        for step in &place.path {
            let next = match step {
                Hop::Part(part) => {
                    spot.lvalue.push_str(&types::part(self.kernel, ty, *part));
                    *part
                }
                Hop::At(index) => {
                    let index = self.atom(*index);
                    spot.lvalue.push_str(&format!(".at[{index}]"));
                    let len = u64::from(self.kernel.types.parts(ty));
                    self.check_slot(&mut spot, param, &index, len, site);
                    0
                }
            };
            ty = self.kernel.types.part(ty, next).unwrap_or(ty);
        }
        spot
    }

    fn element(&mut self, param: ParamId, values: &[Value], site: Option<SiteId>) -> Spot {
        self.params.insert(param);
        let name = names::param(self.kernel, param);
        let at: Vec<_> = values.iter().map(|value| self.atom(*value)).collect();
        if let Some(ParamKind::Local { len, .. }) =
            self.kernel.params.get(param.index()).map(|p| &p.kind)
        {
            let index = at.concat();
            let lvalue = self.slot_in_rows(param, &name, values);
            let lvalue = lvalue.unwrap_or_else(|| format!("{name}[{index}]"));
            let mut spot = Spot { lvalue, space: "LOCAL", checks: vec![] };
            self.check_slot(&mut spot, Some(param), &index, u64::from(*len), site);
            return spot;
        }
        let rank = at.len() as u8;
        let mut terms = vec![];
        let mut inside = vec![];
        for (dim, index) in (0..rank).zip(&at) {
            let low = self.view_word(param, "low", rank, dim);
            let from = format!("{index} - {low}");
            if self.form.checked {
                let size = self.view_word(param, "size", rank, dim);
                inside.push(format!("{from} < {size}"));
            }
            terms.push(match dim + 1 == rank {
                true if rank == 1 => from,
                true => format!("({from})"),
                false => {
                    let pitch = self.view_word(param, "pitch", rank, dim);
                    match self.form.narrow {
                        // The columns are added in 64 bits: what neighbours have in common is
                        // part of their instructions then.
                        true => format!("(u64)((u32)({from}) * (u32){pitch})"),
                        false => format!("({from}) * {pitch}"),
                    }
                }
            });
        }
        let mut spot = Spot {
            lvalue: format!("{name}[{}]", terms.join(" + ")),
            space: "GLOBAL",
            checks: vec![],
        };
        if self.form.checked {
            let extent: Vec<_> = (0..rank).map(|dim| self.extent(param, dim)).collect();
            let fails =
                self.outside(Fails::Bounds(Some(param), at.len() as u8), &at, &extent, site);
            spot.checks.push(Check { holds: inside.join(" && "), fails });
        }
        spot
    }

    /// A slot of local memory that is used as rows, as one of an array of arrays. Where a group's
    /// items are a loop, PoCL keeps for each of them where its row begins, unless that is part of
    /// the place.
    fn slot_in_rows(&self, param: ParamId, name: &str, at: &[Value]) -> Option<String> {
        let ([at], false) = (at, self.form.checked) else { return None };
        let (row, width, column) = self.in_rows.get(at.index()).copied().flatten()?;
        let (element, _) = self.kernel.elements(param)?;
        let (ty, row, column) = (self.type_name(element), self.atom(row), self.atom(column));
        Some(format!("((LOCAL {ty} (*)[{width}]){name})[{row}][{column}]"))
    }

    /// An index into an array whose length is known.
    fn check_slot(
        &mut self,
        spot: &mut Spot,
        param: Option<ParamId>,
        index: &str,
        len: u64,
        site: Option<SiteId>,
    ) {
        if !self.form.checked || self.known(index).is_some_and(|index| index < len) {
            return;
        }
        let len = self.literal(Scalar::U64, len);
        let holds = format!("{index} < {len}");
        let fails = self.outside(Fails::Bounds(param, 1), &[index.to_owned()], &[len], site);
        spot.checks.push(Check { holds, fails });
    }

    /// The number that a literal of 64 bits is.
    pub(super) fn known(&self, literal: &str) -> Option<u64> {
        let (_, end) = self.form.dialect.long();
        literal.strip_suffix(end).and_then(|number| number.parse().ok())
    }

    /// The call that notes a failure at an index: with the extent, or the items that meet there.
    pub(super) fn outside(
        &mut self,
        what: Fails,
        index: &[String],
        extent: &[String],
        site: Option<SiteId>,
    ) -> String {
        let point = self.point(what, site);
        let name = self.helpers.fixed("outside");
        let three = |of: &[String]| {
            let at = |dim: usize| of.get(dim).map_or("0", String::as_str).to_owned();
            [at(0), at(1), at(2)].join(", ")
        };
        format!("{name}(verdict, {point}u, {}, {});", three(index), three(extent))
    }

    /// Does something, or nothing, if all checks hold, and else says which does not.
    fn guarded(&mut self, checks: &[Check], action: &str) {
        let all: Vec<_> = checks.iter().map(|check| check.holds.as_str()).collect();
        let acts = !action.is_empty();
        if acts {
            self.line(format!("if ({}) {action}", all.join(" && ")));
        }
        let mut otherwise = if acts { "else " } else { "" };
        for (at, check) in checks.iter().enumerate() {
            // Where something is done if all hold, the last is the one that is left.
            match acts && at + 1 == checks.len() {
                true => self.line(format!("else {}", check.fails)),
                false => self.line(format!("{otherwise}if (!({})) {}", check.holds, check.fails)),
            }
            otherwise = "else ";
        }
    }

    pub fn load(&mut self, define: &Let, place: &Place) {
        let spot = self.spot(place, define.site);
        let live = self.is_live(define.value);
        if spot.checks.is_empty() {
            return self.constant(define, &spot.lvalue);
        }
        self.checked(define, &spot, live, &spot.lvalue);
    }

    /// Defines a value that is zero if a check does not hold.
    fn checked(&mut self, define: &Let, spot: &Spot, live: bool, expression: &str) {
        if !live {
            let action = match define.op {
                Op::Load(_) => String::new(),
                _ => format!("{expression};"),
            };
            return self.guarded(&spot.checks, &action);
        }
        let ty = self.ty(define.value);
        let name = format!("t{}", define.value.0);
        let zero = types::zero(self.kernel, ty);
        self.line(format!("{} {name} = {zero};", self.type_name(ty)));
        self.guarded(&spot.checks, &format!("{name} = {expression};"));
        self.is(define.value, name);
    }

    pub fn store(&mut self, place: &Place, value: Value, site: Option<SiteId>) {
        let spot = self.spot(place, site);
        let action = format!("{} = {};", spot.lvalue, self.atom(value));
        match spot.checks.is_empty() {
            true => self.line(action),
            false => self.guarded(&spot.checks, &action),
        }
    }

    pub fn atomic(&mut self, define: &Let, op: Atomic, place: &Place, args: &[Value]) {
        let spot = self.spot(place, define.site);
        let args: Vec<_> = args.iter().map(|arg| self.atom(*arg)).collect();
        let scalar = self.scalar(define.value);
        let live = self.is_live(define.value);
        let expression = match (self.form.dialect, op, args.first()) {
            // What was there before is not asked for: a store is one step of the memory.
            (Dialect::Cuda, Atomic::Exchange, Some(arg)) if !live => {
                format!("*(volatile {} *)&{} = {arg}", scalar.name(), spot.lvalue)
            }
            _ => self.atomically(op, scalar, &spot.lvalue, spot.space, &args),
        };
        match (spot.checks.is_empty(), live) {
            (true, true) => self.constant(define, &expression),
            (true, false) => self.line(format!("{expression};")),
            _ => self.checked(define, &spot, live, &expression),
        }
    }

    /// A variable's declaration, zero (semantics 7.4).
    pub fn declare(&mut self, name: &str, ty: Type) {
        let zero = types::zero(self.kernel, ty);
        self.line(format!("{} {name} = {zero};", self.type_name(ty)));
    }
}
