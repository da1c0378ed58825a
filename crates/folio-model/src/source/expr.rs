//! Random expressions: each is in parentheses, or needs none.

use super::types::{FLOATS, Num, Ty, U32, USIZE};
use super::writer::{Writer, Zone};
use super::{Kind, Param};

const FUNCTIONS: [&str; 25] = [
    "exp",
    "exp2",
    "exp_m1",
    "ln",
    "log2",
    "log10",
    "ln_1p",
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "sinh",
    "cosh",
    "tanh",
    "cbrt",
    "rsqrt",
    "fast_rsqrt",
    "fast_exp",
    "fast_exp2",
    "fast_ln",
    "fast_log2",
    "fast_sin",
    "fast_cos",
];

impl Writer {
    /// A value of this type.
    pub fn expr(&mut self, ty: &Ty) -> String {
        self.depth += 1;
        let text = match ty {
            _ if self.depth > 3 => self.leaf(ty),
            Ty::Bool => self.condition(),
            Ty::Num(num) => self.number(*num),
            Ty::Any(_) => self.any_number(ty),
            Ty::Array(..) | Ty::Struct(..) => self.composite(ty),
        };
        self.depth -= 1;
        text
    }

    /// Something known, or a literal.
    pub fn leaf(&mut self, ty: &Ty) -> String {
        let known = self.known(ty);
        match self.some(&known) {
            Some(text) if self.rng.chance(80) => text,
            // A load has indices, in which there may be loads.
            _ if self.depth < 7 && self.rng.chance(50) => {
                self.load(ty).unwrap_or_else(|| self.literal(ty))
            }
            _ => self.literal(ty),
        }
    }

    pub fn literal(&mut self, ty: &Ty) -> String {
        match ty {
            Ty::Bool => self.rng.chance(50).to_string(),
            Ty::Num(num) => self.number_literal(*num),
            Ty::Any(_) => match self.rng.below(12) {
                0 => format!("T::{}", self.rng.pick(&["MAX", "MIN", "ZERO", "ONE"])),
                _ => format!("T::lit({:?})", (self.rng.below(400) as f64 - 160.0) / 16.0),
            },
            Ty::Array(num, n) if self.rng.chance(30) => {
                format!("[{}; {n}]", self.number_literal(*num))
            }
            Ty::Array(num, n) => {
                let all: Vec<_> = (0..*n).map(|_| self.number_literal(*num)).collect();
                format!("[{}]", all.join(", "))
            }
            Ty::Struct(_, [a, b]) => {
                let (a, b) = (self.number_literal(*a), self.number_literal(*b));
                format!("({} {{ a: {a}, b: {b} }})", ty.name())
            }
        }
    }

    fn number_literal(&mut self, num: Num) -> String {
        let name = num.name;
        if num.is_float() {
            let value = (self.rng.below(400) as f64 - 160.0) / 16.0;
            return match self.rng.below(10) {
                0 => format!("{name}::{}", self.rng.pick(&["MAX", "MIN", "INFINITY", "NAN"])),
                _ if num.is_half() => format!("({value:?}f32 as {name})"),
                _ => format!("({value:?}{name})"),
            };
        }
        let small = self.rng.below(12);
        match self.rng.below(10) {
            0 => format!("{name}::{}", self.rng.pick(&["MAX", "MIN"])),
            1 | 2 if num.is_signed() => format!("(-{small}{name})"),
            _ => format!("{small}{name}"),
        }
    }

    /// All that has this type and a name.
    fn known(&self, ty: &Ty) -> Vec<String> {
        let mut found = vec![];
        let items = self.zone == Zone::Items || self.zone == Zone::Gives;
        for var in self.visible().filter(|var| !var.kept || items) {
            let name = if var.kept { format!("{}[i]", var.name) } else { var.name.clone() };
            if var.ty == *ty {
                found.push(name.clone());
            }
            let parts = var.ty.parts().into_iter();
            let fits = parts.filter(|(_, num)| Ty::Num(*num) == *ty);
            found.extend(fits.map(|(part, _)| format!("{name}{part}")));
        }
        found
    }

    /// The places of this type that can be assigned to.
    pub fn targets(&self) -> Vec<(String, Ty)> {
        let mut found = vec![];
        for var in self.visible().filter(|var| var.mutable) {
            if var.kept && self.zone != Zone::Items {
                continue;
            }
            let name = if var.kept { format!("{}[i]", var.name) } else { var.name.clone() };
            let parts = var.ty.parts().into_iter();
            found.extend(parts.map(|(part, num)| (format!("{name}{part}"), Ty::Num(num))));
            found.push((name, var.ty.clone()));
        }
        found
    }

    fn composite(&mut self, ty: &Ty) -> String {
        match self.rng.below(8) {
            0 => self.leaf(ty),
            1..=3 => self.load(ty).unwrap_or_else(|| self.leaf(ty)),
            4 => self.choice(ty),
            5 if self.adds.contains(ty) => {
                let (a, b) = (self.expr(ty), self.expr(ty));
                format!("({a} + {b})")
            }
            _ => self.make(ty),
        }
    }

    fn make(&mut self, ty: &Ty) -> String {
        match ty {
            Ty::Struct(_, [a, b]) => {
                let (a, b) = (self.expr(&Ty::Num(*a)), self.expr(&Ty::Num(*b)));
                format!("({} {{ a: {a}, b: {b} }})", ty.name())
            }
            Ty::Array(num, n) if *n > 2 && self.rng.chance(30) => {
                format!("[{}; {n}]", self.expr(&Ty::Num(*num)))
            }
            Ty::Array(num, n) => {
                let all: Vec<_> = (0..*n).map(|_| self.expr(&Ty::Num(*num))).collect();
                format!("[{}]", all.join(", "))
            }
            _ => self.leaf(ty),
        }
    }

    pub fn condition(&mut self) -> String {
        match self.rng.below(12) {
            0 => self.leaf(&Ty::Bool),
            1 if self.has_item() && self.rng.chance(80) => self.guards(),
            1 => format!("(!{})", self.expr(&Ty::Bool)),
            2 | 3 => {
                let (a, b) = (self.expr(&Ty::Bool), self.expr(&Ty::Bool));
                format!("({a} {} {b})", self.rng.pick(&["&&", "||", "&", "|", "^", "==", "!="]))
            }
            4 => {
                // The second operand fails if it is computed where it does not decide.
                let num = self.integer();
                let (a, b) = (self.expr(&Ty::Num(num)), self.expr(&Ty::Num(num)));
                let (first, second) = (self.name("a"), self.name("a"));
                let (none, how) = self.rng.pick(&[("==", "||"), ("!=", "&&")]);
                format!(
                    "({{ let ({first}, {second}) = ({a}, {b}); {second} {none} 0{ty} {how} {first}.rem_euclid({second}) > 2{ty} }})",
                    ty = num.name
                )
            }
            5 => {
                let num = self.rng.pick(&FLOATS);
                let of = self.expr(&Ty::Num(num));
                format!("{of}.{}()", self.rng.pick(&["is_nan", "is_finite", "is_infinite"]))
            }
            _ => {
                let ty = match self.twins.filter(|_| self.generic && self.rng.chance(20)) {
                    Some([first, _]) => Ty::Any(first),
                    None => Ty::Num(self.rng.pick(&self.nums)),
                };
                let (a, b) = (self.expr(&ty), self.expr(&ty));
                format!("({a} {} {b})", self.rng.pick(&["<", "<=", ">", ">=", "==", "!="]))
            }
        }
    }

    fn number(&mut self, num: Num) -> String {
        let ty = Ty::Num(num);
        match self.rng.below(20) {
            0 => self.number_literal(num),
            1..=3 => self.leaf(&ty),
            4..=8 => self.load(&ty).unwrap_or_else(|| self.leaf(&ty)),
            9 | 10 => self.cast(num),
            11 => self.choice(&ty),
            12 => self.called(&ty).unwrap_or_else(|| self.leaf(&ty)),
            13 if num == USIZE => self.question(),
            13 | 14 => match num.is_float() {
                true => self.float_method(num),
                false => self.integer_method(num),
            },
            _ => match num.is_float() {
                true => self.float_operation(num),
                false => self.integer_operation(num),
            },
        }
    }

    /// A number of the type `T`.
    fn any_number(&mut self, ty: &Ty) -> String {
        match self.rng.below(20) {
            0..=3 => self.leaf(ty),
            4..=7 => self.load(ty).unwrap_or_else(|| self.leaf(ty)),
            8 | 9 => {
                let from = Ty::Num(self.rng.pick(&self.nums));
                format!("({} as T)", self.expr(&from))
            }
            10 => self.choice(ty),
            11 => self.called(ty).unwrap_or_else(|| self.leaf(ty)),
            12 => format!("(-{})", self.expr(ty)),
            13 => format!("{}.abs()", self.expr(ty)),
            14 => {
                let (a, b) = (self.expr(ty), self.expr(ty));
                format!("{a}.{}({b})", self.rng.pick(&["min", "max"]))
            }
            15 => {
                let (a, by) = (self.expr(ty), self.rng.within(1, 9));
                format!("({a} {} T::lit({by}.0))", self.rng.pick(&["/", "%"]))
            }
            _ => {
                let (a, b) = (self.expr(ty), self.expr(ty));
                format!("({a} {} {b})", self.rng.pick(&["+", "-", "*"]))
            }
        }
    }

    fn cast(&mut self, num: Num) -> String {
        let from =
            if self.rng.chance(75) { self.rng.pick(&self.nums) } else { Num::any(&mut self.rng) };
        if !num.is_float() && self.rng.chance(15) {
            return format!("({} as {})", self.expr(&Ty::Bool), num.name);
        }
        if !num.is_float() && self.rng.chance(10) {
            return self.bits_of(num);
        }
        let of = self.expr(&Ty::Num(from));
        format!("({of} as {})", num.name)
    }

    /// A float's bits; of a NaN, nobody knows which.
    fn bits_of(&mut self, num: Num) -> String {
        let (float, name) = (self.rng.pick(&FLOATS), self.name("f"));
        let of = self.expr(&Ty::Num(float));
        let bits = format!("{name}.to_bits() as {}", num.name);
        format!(
            "({{ let {name} = {of}; if {name}.is_nan() {{ 0{} }} else {{ {bits} }} }})",
            num.name
        )
    }

    fn question(&mut self) -> String {
        let dim = self.rng.below(self.rank);
        let views = self.params_of(|p| p.kind == Kind::In);
        match self.some(&views) {
            Some(view) if self.rng.chance(50) && self.zone != Zone::Function => {
                self.extent(&view, self.rng.clone().below(view.rank()))
            }
            _ if self.has_item() => format!("at{dim}"),
            _ if self.groups && self.zone != Zone::Function => {
                let what = match self.rank {
                    1 => self.rng.pick(&["g.index()", "g.size()[0]", "g.count()[0]"]),
                    _ => self.rng.pick(&["g.pos().1", "g.size()[1]", "g.count()[0]"]),
                };
                format!("({what})")
            }
            _ => self.number_literal(USIZE),
        }
    }

    pub fn extent(&self, view: &Param, dim: usize) -> String {
        match view.rank() {
            1 => format!("{}.len()", view.name),
            _ => format!("{}.shape()[{dim}]", view.name),
        }
    }

    /// `if`, `match`, or a block as a value.
    fn choice(&mut self, ty: &Ty) -> String {
        match self.rng.below(6) {
            0 => {
                let (name, inner) = (self.again("t"), self.any_type());
                let value = self.expr(&inner);
                let all = self.vars.len();
                self.var(&name, inner, false);
                let result = self.expr(ty);
                self.vars.truncate(all);
                format!("({{ let {name} = {value}; {result} }})")
            }
            1 if !self.fit => {
                let (label, early, cond) = (self.name("'l"), self.expr(ty), self.condition());
                let late = self.expr(ty);
                format!("({label}: {{ if {cond} {{ break {label} {early}; }} {late} }})")
            }
            2 | 3 => self.arms(ty),
            _ => {
                let (cond, a, b) = (self.condition(), self.expr(ty), self.expr(ty));
                format!("(if {cond} {{ {a} }} else {{ {b} }})")
            }
        }
    }

    fn arms(&mut self, ty: &Ty) -> String {
        let num = self.integer();
        let of = self.expr(&Ty::Num(num));
        let (a, b, c, d) = (self.expr(ty), self.expr(ty), self.expr(ty), self.expr(ty));
        let (low, high) = (self.rng.below(5), self.rng.within(6, 20));
        let least = if num.is_signed() { -3 } else { 0 };
        match self.rng.below(4) {
            0 => {
                let (name, second) = (self.again("n"), self.expr(&Ty::Num(num)));
                let all = self.vars.len();
                self.var(&name, Ty::Num(num), false);
                let (bound, other) = (self.expr(ty), self.expr(ty));
                self.vars.truncate(all);
                format!(
                    "(match ({of}, {second}) {{ ({name}, {low}) | ({low} | {high}, {name}) => {bound}, ({least}..=9, {name}) | ({name}, _) => {other} }})"
                )
            }
            1 => format!(
                "(match {of} {{ {low} | {high} => {a}, {least}..=7 => {b}, 8..12 => {c}, _ => {d} }})"
            ),
            2 => {
                let name = self.again("n");
                let all = self.vars.len();
                self.var(&name, Ty::Num(num), false);
                let (guarded, guard) = (self.expr(ty), self.condition());
                self.vars.truncate(all);
                format!("(match {of} {{ {low} => {a}, {name} if {guard} => {guarded}, _ => {b} }})")
            }
            _ => {
                let cond = self.condition();
                format!(
                    "(match ({cond}, {of}) {{ (true, {low}) => {a}, (false, {least}..{high}) => {b}, (true, _) => {c}, _ => {d} }})"
                )
            }
        }
    }

    fn integer_operation(&mut self, num: Num) -> String {
        let ty = Ty::Num(num);
        let (a, b) = (self.expr(&ty), self.expr(&ty));
        match self.rng.below(16) {
            0 | 1 => {
                let amount = Ty::Num(self.integer());
                let by = self.expr(&amount);
                format!("({a} {} {by})", self.rng.pick(&["<<", ">>"]))
            }
            2 | 3 => {
                let op = self.rng.pick(&["/", "%"]);
                // Divisions by zero end what can be compared: seldom.
                if self.rng.chance(4) {
                    format!("({a} {op} {b})")
                } else {
                    format!("({a} {op} ({b} | 1))")
                }
            }
            _ => format!("({a} {} {b})", self.rng.pick(&["+", "-", "*", "+", "-", "&", "|", "^"])),
        }
    }

    fn integer_method(&mut self, num: Num) -> String {
        let ty = Ty::Num(num);
        let a = self.expr(&ty);
        if num == U32 && self.rng.chance(30) {
            let of = Ty::Num(self.integer());
            let what = self.rng.pick(&["count_ones", "leading_zeros", "trailing_zeros"]);
            return format!("{}.{what}()", self.expr(&of));
        }
        match self.rng.below(7) {
            0 => {
                let by = self.expr(&Ty::Num(U32));
                format!("{a}.{}({by})", self.rng.pick(&["rotate_left", "rotate_right"]))
            }
            1 => format!("{a}.{}()", self.rng.pick(&["reverse_bits", "swap_bytes"])),
            2 if num.is_signed() => self.rng.pick(&["{}.abs()", "(-{})"]).replace("{}", &a),
            3 => format!("(!{a})"),
            4 => format!("{a}.clamp({}, {})", self.expr(&ty), self.expr(&ty)),
            _ => {
                let all = ["min", "max", "saturating_add", "saturating_sub", "wrapping_mul"];
                let by = self.expr(&ty);
                format!("{a}.{}({by})", self.rng.pick(&all))
            }
        }
    }

    fn float_operation(&mut self, num: Num) -> String {
        if self.inexact && self.rng.chance(60) {
            return self.float_method(num);
        }
        let ty = Ty::Num(num);
        let (a, b) = (self.expr(&ty), self.expr(&ty));
        format!("({a} {} {b})", self.rng.pick(&["+", "-", "*", "/", "+", "-", "*", "%"]))
    }

    fn float_method(&mut self, num: Num) -> String {
        let ty = Ty::Num(num);
        let a = self.expr(&ty);
        if self.inexact && self.rng.chance(60) {
            return match self.rng.chance(75) {
                true => format!("{a}.{}()", self.rng.pick(&FUNCTIONS)),
                false => {
                    let by = self.expr(&ty);
                    format!("{a}.{}({by})", self.rng.pick(&["powf", "atan2", "hypot", "fast_powf"]))
                }
            };
        }
        match self.rng.below(11) {
            9 => format!("{a}.fast_div({})", self.expr(&ty)),
            // Rounded once or twice: of small integers that is the same.
            10 => {
                let small = |writer: &mut Writer| {
                    let of = Ty::Num(writer.integer());
                    format!("({} % 5) as {}", writer.expr(&of), num.name)
                };
                let (a, b, c) = (small(self), small(self), small(self));
                format!("({a}).fast_mul_add({b}, {c})")
            }
            0 => format!("{a}.mul_add({}, {})", self.expr(&ty), self.expr(&ty)),
            1 => format!("{a}.clamp({}, {})", self.expr(&ty), self.expr(&ty)),
            2 => {
                // Which sign a NaN has is unspecified.
                let (name, by) = (self.name("f"), self.expr(&ty));
                let sign =
                    format!("if {name}.is_nan() {{ 1u8 as {} }} else {{ {name} }}", num.name);
                format!("{a}.copysign({{ let {name} = {by}; {sign} }})")
            }
            3 => format!("(-{a})"),
            4 => {
                let by = self.expr(&ty);
                format!("{a}.{}({by})", self.rng.pick(&["min", "max"]))
            }
            5 => {
                let bits = match num.scalar.size() {
                    2 => "u16",
                    4 => "u32",
                    _ => "u64",
                };
                let int = self.integer();
                format!("{}::from_bits({} as {bits})", num.name, self.expr(&Ty::Num(int)))
            }
            _ => {
                let all = [
                    "sqrt",
                    "abs",
                    "floor",
                    "ceil",
                    "trunc",
                    "round",
                    "round_ties_even",
                    "fract",
                    "recip",
                    "signum",
                    "fast_sqrt",
                    "fast_recip",
                ];
                format!("{a}.{}()", self.rng.pick(&all))
            }
        }
    }

    /// A call of a device function.
    fn called(&mut self, ty: &Ty) -> Option<String> {
        let fits: Vec<_> = self.functions.iter().filter(|f| f.result == *ty).cloned().collect();
        let function = self.some(&fits)?;
        let mut args: Vec<_> = function.params.iter().map(|ty| self.expr(ty)).collect();
        let name = &function.name;
        Some(match function.method {
            true => {
                let of = args.remove(0);
                format!("{of}.{name}({})", args.join(", "))
            }
            false => format!("{name}({})", args.join(", ")),
        })
    }
}
