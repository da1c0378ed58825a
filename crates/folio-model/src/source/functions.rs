//! Structs and device functions of random kernels.

use super::Kind;
use super::types::{Num, Ty};
use super::writer::{Function, Var, Writer, Zone};

impl Writer {
    /// The structs, functions, methods and operators that the kernel needs.
    pub fn preamble(&mut self) {
        let generic = std::mem::replace(&mut self.generic, false);
        for ty in self.structs.clone() {
            let Ty::Struct(_, [a, b]) = &ty else { continue };
            let columns = self.params.iter().any(|param| matches!(param.kind, Kind::Columns(_)));
            let columns = if columns { ", Columns" } else { "" };
            self.text += &format!(
                "#[derive(Clone, Copy, Debug, PartialEq, DeviceType{columns})]\n#[repr(C)]\n"
            );
            let name = ty.name();
            self.text +=
                &format!("pub struct {name} {{\n    a: {},\n    b: {},\n}}\n\n", a.name, b.name);
            if self.rng.chance(50) {
                self.sum(&ty, [*a, *b]);
            }
            if self.rng.chance(40) {
                self.function(Some(&ty));
            }
        }
        self.enumeration();
        if self.prints() {
            let (of, rank) = (self.nums[0].name, self.rank);
            self.text += &format!(
                "#[device_fn]\nfn said(q: {of}, i: Item<{rank}>, log: Log) -> {of} {{\n    print!(\"{{}}\", q);\n    q\n}}\n\n"
            );
        }
        if self.rng.chance(50) {
            self.changing();
        }
        self.generic = generic;
        if self.rng.chance(50) {
            self.function(None);
        }
    }

    /// Writes with these references alone, the first of which is to be changed.
    pub fn within_references(&mut self, vars: Vec<(String, Ty)>, fill: impl FnOnce(&mut Writer)) {
        self.within(vars, fill);
    }

    /// `+` of a struct.
    fn sum(&mut self, ty: &Ty, [a, b]: [Num; 2]) {
        let name = ty.name();
        self.text += &format!("#[device_fn]\nimpl std::ops::Add for {name} {{\n");
        self.text +=
            &format!("    type Output = {name};\n    fn add(self, other: {name}) -> {name} {{\n");
        let vars = ["self", "other"].map(|name| (name.to_owned(), ty.clone()));
        let (x, y) = self
            .within(vars.to_vec(), |writer| (writer.expr(&Ty::Num(a)), writer.expr(&Ty::Num(b))));
        self.text += &format!("        {name} {{ a: {x}, b: {y} }}\n    }}\n}}\n\n");
        self.adds.push(ty.clone());
    }

    /// A function with some statements, or a method.
    fn function(&mut self, of: Option<&Ty>) {
        let name = self.name(if of.is_some() { "method" } else { "function" });
        let result = self.any_type();
        let mut params: Vec<_> = (0..self.rng.within(1, 2)).map(|_| self.any_type()).collect();
        // A call has to tell `T` by the types of its arguments.
        let generic = self.generic;
        let is_any = |ty: &Ty| matches!(ty, Ty::Any(_));
        if generic && is_any(&result) && !params.iter().any(is_any) {
            params.push(result.clone());
        }
        self.generic = params.iter().any(is_any);
        let of_types = if self.generic { "<T: Number>" } else { "" };
        let named = |at: usize, ty: &Ty| (format!("p{at}"), ty.clone());
        let mut vars: Vec<_> = params.iter().enumerate().map(|(at, ty)| named(at, ty)).collect();
        let list: Vec<_> =
            vars.iter().map(|(name, ty)| format!("mut {name}: {}", ty.name())).collect();
        let (list, out) = (list.join(", "), result.name());
        match of {
            Some(ty) => {
                vars.insert(0, ("self".to_owned(), ty.clone()));
                params.insert(0, ty.clone());
                self.text += &format!("#[device_fn]\nimpl {} {{\n", ty.name());
                self.text += &format!("    fn {name}(self, {list}) -> {out} {{\n");
            }
            None => {
                self.text += &format!("#[device_fn]\nfn {name}{of_types}({list}) -> {out} {{\n")
            }
        }
        self.within(vars, |writer| {
            for _ in 0..writer.rng.below(2) {
                writer.simple();
            }
            if writer.rng.chance(30) {
                let (cond, early) = (writer.condition(), writer.expr(&result));
                writer.line(&format!("if {cond} {{ return {early}; }}"));
            }
            if !writer.groups && writer.rng.chance(10) {
                let cond = writer.condition();
                writer.line(&format!("assert!({cond} || {});", writer.rng.clone().chance(70)));
            }
            let value = writer.expr(&result);
            writer.line(&value);
        });
        self.generic = generic;
        self.text += if of.is_some() { "    }\n}\n\n" } else { "}\n\n" };
        self.functions.push(Function { name, method: of.is_some(), params, result });
    }

    /// Writes with these variables alone.
    fn within<R>(&mut self, vars: Vec<(String, Ty)>, fill: impl FnOnce(&mut Writer) -> R) -> R {
        let mutable = |name: &String| name.trim_start_matches("(*").starts_with('p');
        let inner = vars.into_iter().map(|(name, ty)| Var {
            mutable: mutable(&name),
            name,
            ty,
            kept: false,
            place: false,
        });
        let outer = std::mem::replace(&mut self.vars, inner.collect());
        let zone = std::mem::replace(&mut self.zone, Zone::Function);
        let result = self.apart(fill);
        self.zone = zone;
        self.vars = outer;
        result
    }
}
