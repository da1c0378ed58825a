//! Statements as in every Rust function: references, options, closures, loops over arrays,
//! assignments of several variables.

use super::types::Ty;
use super::writer::Writer;

/// A function that changes what it is given.
#[derive(Clone, Debug)]
pub(super) struct Change {
    name: String,
    ty: Ty,
}

impl Writer {
    /// A function with a reference to what it changes, and one to what it reads.
    pub fn changing(&mut self) {
        let ty = match self.rng.chance(40) {
            true => self.structs[0].clone(),
            false => Ty::Num(self.rng.pick(&self.nums)),
        };
        let (name, of) = (self.name("change"), ty.name());
        self.text += &format!("#[device_fn]\nfn {name}(p0: &mut {of}, q: &{of}) -> bool {{\n");
        let vars = vec![("(*p0)".to_owned(), ty.clone()), ("(*q)".to_owned(), ty.clone())];
        self.within_references(vars, |writer| {
            let (cond, value, last) = (writer.condition(), writer.expr(&ty), writer.condition());
            writer.line(&format!("if {cond} {{ return true; }}"));
            writer.line(&format!("*p0 = {value};"));
            writer.simple();
            writer.line(&last);
        });
        self.text += "}\n\n";
        let applies = format!("of_{name}");
        self.text += &format!(
            "#[device_fn]\nfn {applies}(f: impl Fn({of}) -> {of}, q: &{of}) -> {of} {{\n    f(f(*q))\n}}\n\n"
        );
        self.changes.push(Change { name, ty });
    }

    /// A statement with one of these.
    pub fn written(&mut self) {
        match self.rng.below(6) {
            0 => self.changed(),
            1 => self.several(),
            2 => self.gone_through(),
            3 if !self.groups => self.applied(),
            4 => self.variant(),
            _ => self.option(),
        }
    }

    fn changed(&mut self) {
        let changes = self.changes.clone();
        let Some(change) = self.some(&changes) else { return self.several() };
        let all = self.targets();
        let fits = |(name, ty): &&(String, Ty)| *ty == change.ty && !name.contains('[');
        let fitting: Vec<_> = all.iter().filter(fits).cloned().collect();
        let target = match self.some(&fitting) {
            Some((target, _)) => target,
            None => {
                let (name, value) = (self.name("v"), self.expr(&change.ty));
                self.line(&format!("let mut {name} = {value};"));
                self.var(&name, change.ty.clone(), true);
                name
            }
        };
        let (by, [kept, told]) = (self.expr(&change.ty), ["b", "v"].map(|name| self.name(name)));
        self.line(&format!("let {kept} = {by};"));
        self.line(&format!("let {told} = {}(&mut {target}, &{kept});", change.name));
        self.var(&told, Ty::Bool, false);
    }

    fn applied(&mut self) {
        let changes = self.changes.clone();
        let Some(Change { name, ty }) = self.some(&changes) else { return self.several() };
        let (first, [part, kept]) = (self.expr(&ty), ["s", "v"].map(|name| self.name(name)));
        let inner = self.vars.len();
        self.var(&part, ty.clone(), false);
        let value = self.expr(&ty);
        self.vars.truncate(inner);
        self.line(&format!("let {kept} = of_{name}(|{part}| {value}, &({first}));"));
        self.var(&kept, ty, false);
    }

    fn several(&mut self) {
        let targets = self.targets();
        let (Some((a, first)), Some((b, second))) = (self.some(&targets), self.some(&targets))
        else {
            return self.simple();
        };
        let (x, y) = (self.expr(&first), self.expr(&second));
        self.line(&format!("({a}, {b}) = ({x}, {y});"));
    }

    fn gone_through(&mut self) {
        let ty = Ty::Num(self.rng.pick(&self.nums));
        let values: Vec<_> = (0..self.rng.within(1, 4)).map(|_| self.expr(&ty)).collect();
        let (sum, first) = (self.name("v"), self.expr(&ty));
        let [array, part, turn] = ["a", "e", "k"].map(|name| self.name(name));
        self.line(&format!("let {array} = [{}];", values.join(", ")));
        self.line(&format!("let mut {sum} = {first};"));
        self.var(&sum, ty.clone(), true);
        let inner = self.vars.len();
        self.var(&format!("(*{part})"), ty.clone(), false);
        let value = self.expr(&ty);
        self.vars.truncate(inner);
        let way = self.rng.pick(&["", ".rev()"]);
        let text = match self.rng.below(3) {
            0 => format!("for {part} in {array}.iter(){way} {{ {sum} = {value}; }}"),
            1 => format!(
                "for ({turn}, {part}) in {array}.iter().enumerate(){way} {{ if {turn} != 1 {{ {sum} = {value}; }} }}"
            ),
            _ => format!(
                "for ({part}, &{turn}) in {array}.iter().zip(&{array}){way} {{ {sum} = {value}; {sum} += {turn}; }}"
            ),
        };
        self.line(&text);
    }

    /// The enum with data that kernels have: of a struct, and of that struct's fields.
    pub fn enumeration(&mut self) {
        let Ty::Struct(_, [a, b]) = &self.structs[0] else { return };
        let of = self.structs[0].name();
        self.text += &format!(
            "#[derive(Clone, Copy, DeviceType)]\n#[repr(u32)]\npub enum E {{\n    Neither,\n    One({of}),\n    \
             Two {{ a: {}, b: {} }},\n}}\n\n",
            a.name, b.name
        );
    }

    fn variant(&mut self) {
        let of = self.structs[0].clone();
        let Ty::Struct(_, [a, b]) = &of else { return self.several() };
        let (first, second) = (Ty::Num(*a), Ty::Num(*b));
        let (one, two) = (self.expr(&of), [self.expr(&first), self.expr(&second)]);
        let (cond, other, result) = (self.condition(), self.condition(), self.any_type());
        let [kept, part, name] = ["e", "s", "v"].map(|name| self.name(name));
        self.line(&format!(
            "let {kept} = if {cond} {{ E::One({one}) }} else if {other} {{ E::Two {{ a: {}, b: {} }} }} else {{ E::Neither }};",
            two[0], two[1]
        ));
        let otherwise = self.expr(&result);
        let inner = self.vars.len();
        self.var(&part, of.clone(), false);
        let of_one = self.expr(&result);
        self.vars.truncate(inner);
        self.var(&part, second, false);
        let (guard, of_two) = (self.condition(), self.expr(&result));
        self.vars.truncate(inner);
        self.line(&format!(
            "let {name} = match {kept} {{ E::One({part}) => {of_one}, E::Two {{ b: {part}, .. }} if {guard} => {of_two}, \
             E::Two {{ .. }} | E::Neither => {otherwise} }};"
        ));
        self.var(&name, result, false);
    }

    fn option(&mut self) {
        let (ty, result) = (Ty::Num(self.rng.pick(&self.nums)), self.any_type());
        let (cond, value, otherwise) = (self.condition(), self.expr(&ty), self.expr(&result));
        let [kept, part, name] = ["o", "s", "v"].map(|name| self.name(name));
        self.line(&format!("let {kept} = if {cond} {{ Some({value}) }} else {{ None }};"));
        let inner = self.vars.len();
        self.var(&part, ty, false);
        let (guard, given) = (self.condition(), self.expr(&result));
        self.vars.truncate(inner);
        let text = match self.rng.below(3) {
            0 => format!(
                "let {name} = if let Some({part}) = {kept} {{ {given} }} else {{ {otherwise} }};"
            ),
            1 => format!(
                "let {name} = if let Some({part}) = {kept} && {guard} {{ {given} }} else {{ {otherwise} }};"
            ),
            _ => format!(
                "let {name} = match {kept} {{ Some({part}) if {guard} => {given}, Some(_) | None => {otherwise} }};"
            ),
        };
        self.line(&text);
        self.var(&name, result, false);
    }
}
