//! The reads of parameters by random kernels, and their indices.

use super::types::{Ty, USIZE};
use super::writer::{Writer, Zone};
use super::{Kind, Param};

impl Writer {
    /// A load of a value of this type from a parameter, if there is one.
    pub(super) fn load(&mut self, ty: &Ty) -> Option<String> {
        if self.zone == Zone::Function {
            return None;
        }
        let has = |param: &Param| {
            param.element == *ty
                || param.element.parts().iter().any(|(_, num)| Ty::Num(*num) == *ty)
        };
        let params = self.params_of(has);
        let param = self.some(&params)?;
        let element = self.element(&param)?;
        if param.element == *ty {
            return Some(element);
        }
        let mut parts = param.element.parts();
        parts.retain(|(_, num)| Ty::Num(*num) == *ty);
        match (self.some(&parts)?, &param.element) {
            (_, Ty::Array(_, n)) if self.rng.chance(50) => {
                let at = self.index(&n.to_string(), *n);
                Some(format!("{element}[{at}]"))
            }
            ((part, _), _) => Some(format!("{element}{part}")),
        }
    }

    /// An element that may be read here.
    fn element(&mut self, param: &Param) -> Option<String> {
        let name = &param.name;
        match param.kind {
            Kind::In => {
                let at = self.place(param);
                Some(format!("{name}[{at}]"))
            }
            Kind::Columns("In") => {
                let at = self.place(param);
                Some(format!("{name}[{at}]"))
            }
            Kind::InOut | Kind::Columns("InOut") if self.has_item() => Some(format!("{name}[i]")),
            Kind::RedBlack(_) if self.has_item() && self.rng.chance(50) => {
                Some(format!("{name}[i]"))
            }
            // The cell beside the own one, in the same pair.
            Kind::RedBlack(colour) if self.has_item() => Some(match self.rank {
                1 => format!("{name}[2 * at0 + {}]", 1 - colour),
                2 => format!("{name}[(at0, 2 * at1 + (at0 + {}) % 2)]", 1 - colour),
                _ => format!("{name}[(at0, at1, 2 * at2 + (at0 + at1 + {}) % 2)]", 1 - colour),
            }),
            Kind::InOutRow if self.has_item() => {
                let at = self.index(&format!("{name}.shape()[1]"), param.extent[1]);
                Some(format!("{name}[(i, {at})]"))
            }
            Kind::InOutColumn if self.has_item() => {
                let at = self.index(&format!("{name}.shape()[0]"), param.extent[0]);
                Some(format!("{name}[({at}, i)]"))
            }
            Kind::Local(_) if self.written.contains(name) => {
                (self.zone == Zone::Items).then(|| format!("{name}[i]"))
            }
            Kind::Local(n) => {
                let at = self.index(&n.to_string(), n);
                Some(format!("{name}[{at}]"))
            }
            Kind::LocalAtomic(n) if self.zone == Zone::Once => {
                let at = self.index(&n.to_string(), n);
                Some(format!("{name}.load({at})"))
            }
            _ => None,
        }
    }

    /// Where a view is read: at the item, beside it, or anywhere.
    fn place(&mut self, view: &Param) -> String {
        let rank = view.rank();
        let near =
            self.has_item() && rank == self.rank && view.extent.iter().all(|n| *n > 6 || rank > 1);
        if near && self.rng.chance(60) {
            if self.rng.chance(60) {
                return "i".to_owned();
            }
            if self.rng.chance(40) {
                let held = |dim| {
                    let extent = self.extent(view, dim);
                    self.held(dim, &extent)
                };
                let all: Vec<_> = (0..rank).map(held).collect();
                return if rank == 1 { all[0].clone() } else { format!("({})", all.join(", ")) };
            }
            let by: Vec<_> = (0..rank).map(|_| self.rng.pick(&["", "", " + 1", " - 1"])).collect();
            return match rank {
                1 if self.groups => format!("at0{}", by[0]),
                1 => format!("i{}", by[0]),
                2 => format!("(at0{}, at1{})", by[0], by[1]),
                _ => format!("(at0{}, at1{}, at2{})", by[0], by[1], by[2]),
            };
        }
        let all: Vec<_> =
            (0..rank).map(|dim| self.index(&self.extent(view, dim), view.extent[dim])).collect();
        if rank == 1 { all[0].clone() } else { format!("({})", all.join(", ")) }
    }

    /// A position that is held to a border, as programs write it.
    fn held(&mut self, dim: usize, extent: &str) -> String {
        let n = self.rng.below(4);
        match self.rng.below(12) {
            0 => format!("at{dim}.max({n}) - {n}"),
            1 => format!("(at{dim} + {n}).min({extent} - 1)"),
            2 => format!("at{dim}.saturating_sub({n})"),
            3 => format!("(at{dim}.saturating_add({n})).clamp(0, {extent} - 1)"),
            4 => format!("(at{dim} as isize - {n}).max(0) as usize"),
            5 => format!("(at{dim} as i32 + {n}).clamp(0, {extent} as i32 - 1) as usize"),
            6 => format!("(if at{dim} > {n} {{ at{dim} - {n} }} else {{ 0 }})"),
            7 => format!(
                "(if at{dim} + {n} >= {extent} {{ {extent} - 1 }} else {{ at{dim} + {n} }})"
            ),
            8 => format!("({extent} - 1).min(at{dim})"),
            9 => format!("({}u32.max(at{dim} as u32) - {n}) as usize % {extent}", n + 1),
            _ => format!("at{dim}"),
        }
    }

    /// Guards: one, or some together, perhaps with a condition of another kind.
    pub fn guards(&mut self) -> String {
        let mut text = self.guard();
        while self.rng.chance(45) {
            let other = match self.rng.chance(15) {
                true => self.leaf(&Ty::Bool),
                false => self.guard(),
            };
            let both = self.rng.pick(&["&&", "&&", "||", "&& !", "|| !"]);
            text = match self.rng.chance(15) {
                true => format!("(!({text} {both}{other}))"),
                false => format!("({text} {both}{other})"),
            };
        }
        text
    }

    /// A guard: a comparison of a position with what is the same for all items.
    fn guard(&mut self) -> String {
        let (dim, n) = (self.rng.below(self.rank), self.rng.below(4));
        let views = self.params_of(|param| param.kind == Kind::In);
        let view = self.some(&views);
        let extent = match view {
            Some(view) => {
                let of = self.rng.below(view.rank());
                self.extent(&view, of)
            }
            None => "7usize".to_owned(),
        };
        let than = self.rng.pick(&["<", "<=", ">", ">=", "==", "!="]);
        match self.rng.below(10) {
            // One row, or a half.
            6 | 7 => format!("(at{dim} {} {extent} / 2)", self.rng.pick(&["==", "==", "!=", than])),
            8 => format!("(at{dim} + {n} {than} {})", self.leaf(&Ty::Num(USIZE))),
            9 => format!("(at{dim} * 2 {than} {extent})"),
            0 | 1 => format!("(at{dim} {than} {n})"),
            2 => format!("(at{dim} + {n} {than} {extent})"),
            3 => format!("({extent} - 1 {than} at{dim})"),
            4 => format!("((at{dim} as isize - {n}) {than} 0)"),
            _ => format!("((at{dim} as i32) + {n} {than} ({extent} as i32))"),
        }
    }

    /// A sum of positions and what does not change.
    pub fn place_sum(&mut self) -> String {
        let places: Vec<_> =
            self.visible().filter(|var| var.place).map(|var| var.name.clone()).collect();
        let mut text = String::new();
        for _ in 0..self.rng.within(1, 3) {
            let literal = format!("{}usize", self.rng.within(1, 9));
            let term = match self.some(&places) {
                Some(name) if self.rng.chance(70) => name,
                _ if self.has_item() => format!("at{}", self.rng.below(self.rank)),
                _ => literal.clone(),
            };
            text = match (text.is_empty(), self.rng.below(16)) {
                (true, _) => term,
                (_, 0) => format!("({text} - {term})"),
                (_, 1 | 2) => format!("({text} * {literal})"),
                (_, 3) => format!("({text} / {literal})"),
                (_, 4) => format!("({text} % {literal})"),
                _ => format!("({text} + {term})"),
            };
        }
        text
    }

    /// An index, mostly below the extent; seldom anything.
    pub fn index(&mut self, extent: &str, known: usize) -> String {
        if self.rng.chance(if self.fit { 95 } else { 20 }) {
            return format!("({} % {extent})", self.place_sum());
        }
        match self.rng.below(90) {
            0 => self.expr(&Ty::Num(USIZE)),
            1..=12 => self.rng.below(known).to_string() + "usize",
            13..=36 => {
                let any = self.integer();
                format!("({} as usize % {extent})", self.expr(&Ty::Num(any)))
            }
            _ => format!("{}.min({extent} - 1)", self.expr(&Ty::Num(USIZE))),
        }
    }
}
