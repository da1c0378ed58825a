//! Statements of an item: of a kernel of items, of a phase, of a function.

use super::types::{Ty, U32, USIZE};
use super::writer::{Writer, Zone};
use super::{Kind, Param};

impl Writer {
    /// The kernel, but for its last brace.
    pub fn item_kernel(&mut self) {
        self.preamble();
        self.head("i");
        self.positions();
        if self.rng.chance(50) {
            self.simple();
        }
        self.write_outputs();
        if self.prints() {
            self.print();
        }
        self.complete = true;
        while self.left > 0 {
            self.statement();
        }
        self.write_what_is_known();
    }

    /// In a kernel that is fit for strips, what there is in variables at its end.
    pub fn write_what_is_known(&mut self) {
        let outputs = self.params_of(|p| self.fit && matches!(p.kind, Kind::Out | Kind::InOut));
        for param in outputs {
            let value = self.leaf(&param.element);
            self.line(&format!("{}[i] = {value};", param.name));
        }
    }

    /// Names for the parts of the position.
    pub fn positions(&mut self) {
        self.line(match self.rank {
            1 => "let at0 = i.index();",
            2 => "let (at0, at1) = i.pos();",
            _ => "let (at0, at1, at2) = i.pos();",
        });
    }

    /// Writes all that has to be written as a whole, and some more.
    pub fn write_outputs(&mut self) {
        for param in self.params.clone() {
            match param.kind {
                Kind::Out | Kind::Row | Kind::Column | Kind::Chunk | Kind::Columns("Out") => {
                    self.store(&param);
                }
                _ => {}
            }
        }
    }

    /// Writes the item's part of an output, all of it where it is an output only.
    fn store(&mut self, param: &Param) {
        let (name, element) = (&param.name, &param.element);
        match param.kind {
            Kind::Row | Kind::InOutRow => {
                let column = self.name("c");
                let (inner, width) = (self.vars.len(), format!("{name}.shape()[1]"));
                self.var(&column, Ty::Num(USIZE), false);
                let value = self.expr(element);
                self.vars.truncate(inner);
                self.line(&format!(
                    "for {column} in 0..{width} {{ {name}[(i, {column})] = {value}; }}"
                ));
            }
            Kind::Column | Kind::InOutColumn => {
                let row = self.name("r");
                let (inner, height) = (self.vars.len(), format!("{name}.shape()[0]"));
                self.var(&row, Ty::Num(USIZE), false);
                let value = self.expr(element);
                self.vars.truncate(inner);
                self.line(&format!("for {row} in 0..{height} {{ {name}[({row}, i)] = {value}; }}"));
            }
            Kind::Chunk => match element {
                Ty::Array(num, n) if self.rng.chance(60) => {
                    let slot = self.name("c");
                    let inner = self.vars.len();
                    self.var(&slot, Ty::Num(USIZE), false);
                    let value = self.expr(&Ty::Num(*num));
                    self.vars.truncate(inner);
                    self.line(&format!(
                        "for {slot} in 0..{n}usize {{ {name}[i][{slot}] = {value}; }}"
                    ));
                }
                _ => {
                    let value = self.expr(element);
                    self.line(&format!("{name}[i] = {value};"));
                }
            },
            Kind::Out | Kind::Columns(_)
                if matches!(element, Ty::Struct(..)) && self.rng.chance(60) =>
            {
                let Ty::Struct(_, fields) = element else { return };
                for (field, num) in ["a", "b"].into_iter().zip(fields) {
                    let value = self.expr(&Ty::Num(*num));
                    self.line(&format!("{name}[i].{field} = {value};"));
                }
            }
            _ => {
                let value = self.expr(element);
                self.line(&format!("{name}[i] = {value};"));
            }
        }
    }

    /// Any statement of an item.
    pub fn statement(&mut self) {
        self.left = self.left.saturating_sub(1);
        if self.fit {
            return match self.rng.below(20) {
                0..=5 => self.simple(),
                6..=9 => self.effect(),
                10 | 11 if self.nested < 3 => self.branch(),
                _ if self.nested < 4 => self.swept(),
                _ => self.simple(),
            };
        }
        match self.rng.below(20) {
            0..=6 => self.simple(),
            7..=9 => self.effect(),
            10..=12 if self.nested < 3 => self.branch(),
            13..=15 if self.nested < 3 => self.repeat(),
            16 if self.nested < 3 => {
                let label = self.name("'b");
                self.line(&format!("{label}: {{"));
                self.inside(label, false);
            }
            17 | 18 => self.exit(),
            _ if self.rng.chance(70) => self.written(),
            _ => self.simple(),
        }
    }

    /// A variable, or an assignment.
    pub fn simple(&mut self) {
        let targets = self.targets();
        match self.some(&targets) {
            Some((target, ty)) if self.rng.chance(55) => self.assign(&target, &ty),
            _ => self.declared(),
        }
    }

    fn declared(&mut self) {
        if self.fit && self.rng.chance(40) {
            return self.placed();
        }
        let (name, ty) = (self.again("v"), self.any_type());
        match self.rng.below(10) {
            0 => {
                let (other, second) = (self.name("v"), self.any_type());
                let (a, b) = (self.expr(&ty), self.expr(&second));
                self.line(&format!("let ({name}, mut {other}) = ({a}, {b});"));
                self.var(&other, second, true);
                self.var(&name, ty, false);
            }
            1 if !self.fit => {
                let (cond, a, b) = (self.condition(), self.expr(&ty), self.expr(&ty));
                let name = self.name("v");
                self.line(&format!("let {name};"));
                self.line(&format!("if {cond} {{ {name} = {a}; }} else {{ {name} = {b}; }}"));
                self.var(&name, ty, false);
            }
            2 if !self.fit => {
                let count = self.name("n");
                let inner = self.vars.len();
                self.var(&count, Ty::Num(U32), false);
                let (cond, early, late) = (self.condition(), self.expr(&ty), self.expr(&ty));
                self.vars.truncate(inner);
                let most = self.rng.within(1, 4);
                self.line(&format!("let mut {count} = 0u32;"));
                self.line(&format!(
                    "let {name} = loop {{ {count} += 1u32; if {cond} {{ break {early}; }} if {count} > {most}u32 {{ break {late}; }} }};"
                ));
                self.var(&name, ty, false);
            }
            _ => {
                let mutable = self.rng.chance(70);
                let value = self.expr(&ty);
                let annotated =
                    if self.rng.chance(30) { format!(": {}", ty.name()) } else { String::new() };
                let mutability = if mutable { "mut " } else { "" };
                self.line(&format!("let {mutability}{name}{annotated} = {value};"));
                self.var(&name, ty, mutable);
            }
        }
    }

    /// Positions, or what is made of them, alone or in part.
    fn placed(&mut self) {
        let (name, place) = (self.again("d"), self.place_sum());
        if self.rng.chance(70) {
            self.line(&format!("let {name} = {place};"));
            return self.place_var(&name);
        }
        let (other, ty) = (self.name("v"), self.any_type());
        let value = self.expr(&ty);
        self.line(&format!("let ({name}, {other}) = ({place}, {value});"));
        self.place_var(&name);
        self.var(&other, ty, false);
    }

    fn assign(&mut self, target: &str, ty: &Ty) {
        let value = self.expr(ty);
        let op = match ty {
            Ty::Num(num) if num.is_float() => self.rng.pick(&["=", "+=", "-=", "*=", "/="]),
            Ty::Num(_) => self.rng.pick(&["=", "+=", "-=", "*=", "^=", "|=", "<<=", ">>="]),
            Ty::Any(_) => self.rng.pick(&["=", "+=", "-=", "*="]),
            ty if self.adds.contains(ty) => self.rng.pick(&["=", "+="]),
            _ => "=",
        };
        match ty {
            Ty::Array(num, n) if self.rng.chance(50) => {
                let at = self.index(&n.to_string(), *n);
                let value = self.expr(&Ty::Num(*num));
                self.line(&format!("{target}[{at}] = {value};"));
            }
            _ => self.line(&format!("{target} {op} {value};")),
        }
    }

    /// Something that others see.
    fn effect(&mut self) {
        let items = self.zone == Zone::Items;
        let params = self.params_of(|param| match param.kind {
            Kind::Out | Kind::InOut | Kind::Row | Kind::InOutRow => items,
            Kind::Column | Kind::InOutColumn | Kind::Chunk | Kind::Log => items,
            Kind::Columns(view) => items && view != "In",
            Kind::RedBlack(_) | Kind::Scatter | Kind::ScatterLast => items,
            Kind::Reduce(_) => items,
            Kind::Atomic(_) | Kind::LocalAtomic(_) => items,
            _ => false,
        });
        let Some(param) = self.some(&params) else { return self.simple() };
        let (name, element) = (&param.name, &param.element);
        match param.kind {
            Kind::Atomic(op) => {
                let at = self.index(&format!("{name}.len()"), param.extent[0]);
                let value = self.expr(element);
                match element {
                    // The old value depends on the order of items; that it is a number does not.
                    Ty::Num(num) if !num.is_float() && self.rng.chance(40) => {
                        let (var, cond) = (self.name("v"), self.condition());
                        let (and, is) = self.rng.pick(&[("&&", "<="), ("||", ">")]);
                        self.line(&format!(
                            "let {var} = {cond} {and} {name}.{op}({at}, {value}) {is} {}::MAX;",
                            num.name
                        ));
                        self.var(&var, Ty::Bool, false);
                    }
                    _ => self.line(&format!("{name}.{op}({at}, {value});")),
                }
            }
            Kind::LocalAtomic(n) => {
                let at = self.index(&n.to_string(), n);
                let value = self.expr(element);
                self.line(&format!("{name}.add({at}, {value});"));
            }
            Kind::Reduce(_) => {
                let value = self.expr(element);
                self.line(&format!("{name}.give({value});"));
            }
            Kind::Scatter | Kind::ScatterLast => {
                let wild = if param.kind == Kind::Scatter { 10 } else { 60 };
                let at = match self.rng.chance(wild) {
                    true => self.index(&format!("{name}.len()"), param.extent[0]),
                    // A place of the item's own.
                    false => {
                        format!(
                            "({} + {}) % {name}.len()",
                            self.position_number(),
                            param.extent[0] / 3
                        )
                    }
                };
                let value = self.expr(element);
                self.line(&format!("{name}[{at}] = {value};"));
            }
            Kind::RedBlack(_) if self.rng.chance(60) => {
                self.assign(&format!("{name}[i]"), element);
            }
            Kind::Log => self.print(),
            Kind::InOut | Kind::Columns("InOut")
                if self.rng.chance(50) && !element.parts().is_empty() =>
            {
                let parts = element.parts();
                let (part, num) = parts[self.rng.below(parts.len())].clone();
                let value = self.expr(&Ty::Num(num));
                self.line(&format!("{name}[i]{part} = {value};"));
            }
            Kind::InOut if self.rng.chance(60) => self.assign(&format!("{name}[i]"), element),
            _ => self.store(&param),
        }
    }

    /// The number of the item's position.
    fn position_number(&self) -> String {
        let dims = self.ends.iter().enumerate().skip(1);
        dims.fold("at0".to_owned(), |number, (dim, n)| format!("({number} * {n} + at{dim})"))
    }

    /// A line of values, which a function may print.
    pub(super) fn print(&mut self) {
        if self.rng.chance(40) {
            let (name, ty) = (self.name("v"), Ty::Num(self.nums[0]));
            let value = self.expr(&ty);
            self.line(&format!("let {name} = said({value}, i, log);"));
            return self.var(&name, ty, false);
        }
        let all: Vec<_> = (0..self.rng.within(1, 3)).map(|_| self.any_number_type()).collect();
        let values: Vec<_> = all.iter().map(|ty| self.expr(ty)).collect();
        let text = vec!["{}"; values.len()].join(" ");
        self.line(&format!("print!(\"{text}\", {});", values.join(", ")));
    }

    pub(super) fn prints(&self) -> bool {
        self.params.iter().any(|param| param.kind == Kind::Log)
    }

    fn any_number_type(&mut self) -> Ty {
        match self.rng.chance(15) {
            true => Ty::Bool,
            false => Ty::Num(self.rng.pick(&self.nums)),
        }
    }

    /// Statements, up to the brace that ends them.
    fn inside(&mut self, label: String, is_loop: bool) {
        self.open.push((label, is_loop));
        self.block();
        self.open.pop();
        self.line("}");
    }

    pub fn block(&mut self) {
        self.scope(|writer| {
            let most = if writer.fit && writer.spine { 4 } else { 2 };
            for _ in 0..writer.rng.within(1, most).min(writer.left.max(1)) {
                writer.statement();
            }
        });
    }

    fn branch(&mut self) {
        if self.rng.chance(25) {
            return self.apart(Writer::chosen);
        }
        self.apart(Writer::branches);
    }

    /// Of an item, or only by where it is.
    fn condition_of_branch(&mut self) -> String {
        if self.has_item() && self.rng.chance(35) { self.guards() } else { self.condition() }
    }

    fn branches(&mut self) {
        let cond = self.condition_of_branch();
        self.line(&format!("if {cond} {{"));
        self.block();
        if self.rng.chance(40) {
            let cond = self.condition();
            self.line(&format!("}} else if {cond} {{"));
            self.block();
        }
        if self.rng.chance(50) {
            self.line("} else {");
            self.block();
        }
        self.line("}");
    }

    /// A `match` as a statement.
    fn chosen(&mut self) {
        let of = match self.has_item() && self.rng.chance(50) {
            true => format!("at{}", self.rng.below(self.rank)),
            false => {
                let num = self.integer();
                self.expr(&Ty::Num(num))
            }
        };
        self.line(&format!("match {of} {{"));
        let (name, low) = (self.name("n"), self.rng.below(9));
        let heads = [format!("{low} | 11..=14 => {{"), format!("{name} if {name} > 20 => {{")];
        for head in heads {
            self.line(&head);
            self.block();
            self.line("}");
        }
        self.line("_ => {");
        self.block();
        self.line("}");
        self.line("}");
    }

    /// A loop without label: where it can be one for strips of items, of many turns, the same for
    /// all.
    fn swept(&mut self) {
        let (name, few) = (self.again("k"), self.rng.within(1, 6));
        let wide = self.params_of(|param| param.name == "s0" && param.element == Ty::Num(USIZE));
        let seen = self.vars.iter().filter(|var| var.name == "s0").count() == 1;
        let end = match self.rng.below(3) {
            _ if !self.spine || self.nested > 1 => format!("{few}usize"),
            0 if seen && !wide.is_empty() => "(s0 % 24)".to_owned(),
            1 => format!("{}usize", self.rng.within(17, 24)),
            _ => {
                let views = self.params_of(|param| param.kind == Kind::In);
                self.some(&views).map_or("17usize".to_owned(), |view| self.extent(&view, 0))
            }
        };
        let how = self.rng.pick(&["", "", "", ".rev()", ".step_by(2)"]);
        self.line(&match how {
            "" => format!("for {name} in 0..{end} {{"),
            how => format!("for {name} in (0..{end}){how} {{"),
        });
        let inner = self.vars.len();
        self.place_var(&name);
        self.block();
        self.line("}");
        self.vars.truncate(inner);
    }

    fn repeat(&mut self) {
        if self.rng.chance(20) {
            return self.swept();
        }
        let label = self.name("'l");
        if self.rng.chance(25) {
            let count = self.name("n");
            let most = self.rng.within(1, 4);
            let cond = if self.rng.chance(50) { "true".to_owned() } else { self.condition() };
            self.line(&format!("let mut {count} = 0u32;"));
            self.line(&format!("{label}: while {cond} && {count} < {most}u32 {{"));
            self.line(&format!("{count} += 1u32;"));
            return self.inside(label, true);
        }
        let (name, num) = (self.again("k"), self.integer());
        let (first, last) = (self.rng.below(3), self.rng.within(1, 5));
        let any = self.leaf(&Ty::Num(num));
        let ty = num.name;
        let end = if self.rng.chance(60) { format!("{last}{ty}") } else { format!("({any} & 3)") };
        let views = self.params_of(|param| param.kind == Kind::In);
        let mut endless = String::new();
        let range = match self.rng.below(10) {
            0 => format!("({first}{ty}..={end}).rev()"),
            1 => format!("({first}{ty}..{end}).step_by({}usize)", self.rng.within(0, 3)),
            2 => format!("({first}{ty}..{end}).rev().step_by(2)"),
            3 => format!("{first}{ty}..={end}"),
            4 => format!("{ty}::MAX - {last}{ty}..={ty}::MAX"),
            5 => {
                endless = format!("if {name} > {last}{ty} {{ break {label}; }}");
                format!("{first}{ty}..={ty}::MAX")
            }
            _ => format!("{first}{ty}..{end}"),
        };
        let inner = self.vars.len();
        if let Some(view) = self.some(&views)
            && self.zone != Zone::Function
            && self.rng.chance(35)
        {
            let dim = self.rng.below(view.rank());
            let extent = self.extent(&view, dim);
            // Long loops within long ones take too long to interpret.
            let end = if self.nested > 0 { format!("{extent}.min(3)") } else { extent };
            self.line(&format!("{label}: for {name} in 0..{end} {{"));
            self.var(&name, Ty::Num(USIZE), false);
        } else {
            self.line(&format!("{label}: for {name} in {range} {{{endless}"));
            self.var(&name, Ty::Num(num), false);
        }
        self.inside(label, true);
        self.vars.truncate(inner);
    }

    /// Leaves something, under a condition.
    fn exit(&mut self) {
        let cond = self.condition_of_branch();
        let open = self.open.clone();
        if let Some((label, is_loop)) = self.some(&open) {
            let how = if is_loop && self.rng.chance(50) { "continue" } else { "break" };
            return self.line(&format!("if {cond} {{ {how} {label}; }}"));
        }
        let leaves = matches!(self.zone, Zone::Items | Zone::Once) && self.complete;
        match self.rng.below(12) {
            0 if leaves => self.line(&format!("assert!({cond});")),
            1 if leaves => self.line(&format!("if {cond} {{ panic!(\"no\"); }}")),
            2..=9 if leaves => self.line(&format!("if {cond} {{ return; }}")),
            _ => self.simple(),
        }
    }
}
