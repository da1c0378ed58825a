//! The writer of a kernel: the text so far, and the variables that are visible at this point of it.

use super::types::{F32, I32, INTEGERS, Num, TWINS, Ty, U32, USIZE};
use super::written::Change;
use super::{Kind, LIMITED, Param};
use crate::rng::Rng;

/// Whose code is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Zone {
    /// An item's.
    Items,
    /// The group's.
    Uniform,
    /// An item's, that gives a value to a reduction or a scan.
    Gives,
    /// The first item's.
    Once,
    /// A device function's.
    Function,
}

/// Something that has a name and a value.
#[derive(Clone, Debug)]
pub(super) struct Var {
    pub name: String,
    pub ty: Ty,
    pub mutable: bool,
    /// The variable is read only in the code of items.
    pub kept: bool,
    /// A position, or what is made of such.
    pub place: bool,
}

/// A device function.
#[derive(Clone, Debug)]
pub(super) struct Function {
    pub name: String,
    /// Of a struct: the first parameter is `self`.
    pub method: bool,
    pub params: Vec<Ty>,
    pub result: Ty,
}

/// Words of what a kernel prints to, with the two before the first line.
const LOG_WORDS: usize = 20_000;

pub(super) struct Writer {
    pub rng: Rng,
    pub rank: usize,
    pub groups: bool,
    pub inexact: bool,
    pub text: String,
    pub params: Vec<Param>,
    pub vars: Vec<Var>,
    pub functions: Vec<Function>,
    /// Functions that change what they are given.
    pub changes: Vec<Change>,
    /// Structs that have `+`.
    pub adds: Vec<Ty>,
    pub nums: Vec<Num>,
    pub structs: Vec<Ty>,
    /// The types that a generic kernel's `T` stands for. The kernel has a number `N`, too.
    pub twins: Option<[Num; 2]>,
    /// There is a `T` here.
    pub generic: bool,
    /// Labels around, and whether they are loops'.
    pub open: Vec<(String, bool)>,
    pub zone: Zone,
    /// Local arrays that the phase writes; it reads the others.
    pub written: Vec<String>,
    /// Items scatter, and the last one writes: the kernel runs twice.
    pub last: bool,
    /// The ends of the launch's items.
    pub ends: Vec<usize>,
    /// Integers are checked.
    pub checked: bool,
    /// The group holds tiles.
    pub tiles: bool,
    /// All outputs have been written.
    pub complete: bool,
    /// There is only what loops that run for strips of items can have around and in them.
    pub fit: bool,
    /// Here is such a loop, or could be.
    pub spine: bool,
    pub depth: usize,
    /// Loops and branches around.
    pub nested: usize,
    /// Statements that may still be written.
    pub left: usize,
    names: usize,
}

impl Writer {
    pub fn new(mut rng: Rng, rank: usize, groups: bool) -> Writer {
        let mut nums = vec![F32, U32, I32, USIZE];
        nums.extend((0..2).map(|_| Num::any(&mut rng)));
        let first = rng.pick(&nums);
        // Fields of one size leave no padding.
        let fits: Vec<_> =
            nums.iter().copied().filter(|n| n.scalar.size() == first.scalar.size()).collect();
        let second = rng.pick(&fits);
        let (inexact, fit) = (rng.chance(12), rng.chance(30));
        let twins = rng.chance(25).then(|| rng.pick(&TWINS));
        let left = if fit { rng.within(6, 14) } else { rng.within(1, 7) };
        let zone = if groups { Zone::Uniform } else { Zone::Items };
        let (last, checked) = (!groups && !fit && rng.chance(12), !groups && rng.chance(6));
        Writer {
            rng,
            rank,
            groups,
            inexact,
            text: String::new(),
            params: vec![],
            vars: vec![],
            functions: vec![],
            changes: vec![],
            adds: vec![],
            nums,
            structs: vec![Ty::Struct(0, [first, second])],
            twins,
            generic: twins.is_some(),
            open: vec![],
            zone,
            written: vec![],
            last,
            ends: vec![],
            checked,
            tiles: false,
            complete: false,
            fit,
            spine: !groups,
            depth: 0,
            nested: 0,
            left,
            names: 0,
        }
    }

    /// A line of text.
    pub fn line(&mut self, text: &str) {
        let indent = "    ".repeat(self.nested + 1);
        self.text += &format!("{indent}{text}\n");
    }

    /// A name: sometimes one that a variable has, which is then hidden.
    pub fn again(&mut self, first: &str) -> String {
        let fixed = ["self", "N", "row", "column"];
        let names = self.vars.iter().map(|var| var.name.clone());
        let names = names.filter(|name| !fixed.contains(&name.as_str()) && !name.contains('*'));
        let mut names: Vec<_> = names.collect();
        if self.zone != Zone::Function && self.rng.chance(25) {
            // A view, or an own one of this name.
            names
                .extend(self.params_of(|param| param.kind == Kind::In).into_iter().map(|p| p.name));
        }
        match self.some(&names) {
            Some(name) if self.rng.chance(25) => name,
            _ => self.name(first),
        }
    }

    /// The variables that nothing hides.
    pub fn visible(&self) -> impl Iterator<Item = &Var> {
        let hidden =
            |at: usize, name: &str| self.vars[at + 1..].iter().any(|other| other.name == name);
        self.vars
            .iter()
            .enumerate()
            .filter(move |(at, var)| !hidden(*at, &var.name))
            .map(|(_, v)| v)
    }

    /// A name that nothing else has.
    pub fn name(&mut self, first: &str) -> String {
        self.names += 1;
        format!("{first}{}", self.names)
    }

    pub fn some<T: Clone>(&mut self, of: &[T]) -> Option<T> {
        match of.len() {
            0 => None,
            n => Some(of[self.rng.below(n)].clone()),
        }
    }

    /// The type `T`, sometimes.
    fn parameter(&mut self) -> Option<Ty> {
        let [first, _] = self.twins.filter(|_| self.generic && self.rng.chance(30))?;
        Some(Ty::Any(first))
    }

    /// A type that variables have.
    pub fn any_type(&mut self) -> Ty {
        if let Some(ty) = self.parameter() {
            return ty;
        }
        match self.rng.below(12) {
            0 => Ty::Bool,
            1 | 2 => self.memory_type(),
            _ => Ty::Num(self.rng.pick(&self.nums)),
        }
    }

    /// A type that can be in memory.
    pub fn memory_type(&mut self) -> Ty {
        if let Some(ty) = self.parameter() {
            return ty;
        }
        match self.rng.below(8) {
            0 => Ty::Array(self.rng.pick(&self.nums), self.rng.within(1, 4)),
            1 | 2 => self.structs[0].clone(),
            _ => Ty::Num(self.rng.pick(&self.nums)),
        }
    }

    pub fn integer(&mut self) -> Num {
        let known: Vec<_> = self.nums.iter().copied().filter(|n| !n.is_float()).collect();
        if self.rng.chance(80) { self.rng.pick(&known) } else { self.rng.pick(&INTEGERS) }
    }

    pub fn var(&mut self, name: &str, ty: Ty, mutable: bool) {
        self.vars.push(Var { name: name.to_owned(), ty, mutable, kept: false, place: false });
    }

    /// A variable that is a position, or made of such.
    pub fn place_var(&mut self, name: &str) {
        self.var(name, Ty::Num(USIZE), false);
        if let Some(var) = self.vars.last_mut() {
            var.place = true;
        }
    }

    /// Code that is an item's own.
    pub fn has_item(&self) -> bool {
        matches!(self.zone, Zone::Items | Zone::Gives)
    }

    /// Declarations between do not leave.
    pub fn scope<R>(&mut self, fill: impl FnOnce(&mut Writer) -> R) -> R {
        let vars = self.vars.len();
        self.nested += 1;
        let result = fill(self);
        self.nested -= 1;
        self.vars.truncate(vars);
        result
    }

    /// Code that not all items run, or not as a loop for strips of them is run.
    pub fn apart<R>(&mut self, fill: impl FnOnce(&mut Writer) -> R) -> R {
        let spine = std::mem::replace(&mut self.spine, false);
        let result = fill(self);
        self.spine = spine;
        result
    }

    /// Parameters for this launch.
    pub fn declare(&mut self, offset: &[usize], range: &[usize], group: Option<&[usize]>) {
        let ends: Vec<_> = offset.iter().zip(range).map(|(a, b)| a + b).collect();
        self.ends.clone_from(&ends);
        for at in 0..self.rng.below(3) {
            let element = match self.memory_type() {
                _ if self.fit && at == 0 => Ty::Num(USIZE),
                Ty::Array(num, _) => Ty::Num(num),
                other => other,
            };
            self.param(&format!("s{at}"), Kind::Scalar, element, vec![1]);
        }
        for at in 0..self.rng.within(1, 2) {
            let element = self.memory_type();
            // As large as the launch and what is around it, or as may be.
            let extent = match self.rng.chance(70) {
                true => ends.iter().map(|n| n + self.rng.below(3)).collect(),
                false => (0..self.rng.within(1, 3)).map(|_| self.rng.within(1, 6)).collect(),
            };
            self.param(&format!("x{at}"), Kind::In, element, extent);
        }
        if self.rank == 1 && !self.groups && !self.last && self.rng.chance(20) {
            let view = self.rng.pick(&["In", "Out", "InOut"]);
            let len = ends[0] + self.rng.below(3);
            self.param("p", Kind::Columns(view), self.structs[0].clone(), vec![len]);
        }
        self.outputs(&ends, range, group);
        if self.fit {
            return self.local_arrays();
        }
        if !self.last && self.rng.chance(20) {
            let wide = ["i32", "u32", "i64", "u64"];
            let all: Vec<_> =
                INTEGERS.iter().copied().filter(|num| wide.contains(&num.name)).collect();
            let op = self.rng.pick(&["add", "sub", "min", "max", "and", "or", "xor"]);
            let (element, n) = (Ty::Num(self.rng.pick(&all)), self.rng.within(1, 9));
            self.param("bits", Kind::Atomic(op), element, vec![n]);
        }
        if self.rng.chance(20) {
            let (element, by) = self.combining();
            self.param("sum", Kind::Reduce(by), element, vec![1]);
        }
        self.local_arrays();
        if !self.last && self.rng.chance(15) {
            self.param("log", Kind::Log, Ty::Num(U32), vec![LOG_WORDS]);
        }
        if self.rank == 1 && !self.groups && self.rng.chance(15) {
            let sums = self.params.iter().any(|param| matches!(param.kind, Kind::Reduce(_)));
            if !sums {
                self.param("count", Kind::Count, Ty::Num(U32), vec![1]);
            }
        }
        if self.groups && self.rng.chance(25) {
            self.param("counts", Kind::LocalAtomic(8), Ty::Num(U32), vec![1]);
        }
    }

    fn local_arrays(&mut self) {
        if self.groups {
            for at in 0..self.rng.within(0, 2) {
                let element = self.memory_type();
                self.param(&format!("tile{at}"), Kind::Local(16), element, vec![1]);
            }
        }
    }

    fn outputs(&mut self, ends: &[usize], range: &[usize], group: Option<&[usize]>) {
        for at in 0..self.rng.within(1, 3) {
            let (name, element) = (format!("y{at}"), self.memory_type());
            let kind = self.rng.pick(&[Kind::Out, Kind::InOut]);
            let count = ends.iter().product::<usize>();
            match self.rng.below(10) {
                _ if self.fit => self.param(&name, kind, element, ends.to_vec()),
                _ if self.last => {
                    let kinds = [Kind::Out, Kind::Scatter, Kind::ScatterLast];
                    let kind = if at == 0 { Kind::ScatterLast } else { self.rng.pick(&kinds) };
                    let extent = match kind {
                        Kind::Out => ends.to_vec(),
                        _ => vec![count + self.rng.below(3)],
                    };
                    self.param(&name, kind, element, extent);
                }
                8 => {
                    let len = count + self.rng.below(3);
                    self.param(&name, Kind::Scatter, element, vec![len]);
                }
                9 if !self.groups => {
                    let mut extent = ends.to_vec();
                    extent.iter_mut().rev().take(1).for_each(|n| *n *= 2);
                    let colour = self.rng.below(2);
                    self.param(&name, Kind::RedBlack(colour), element, extent);
                }
                0 | 1 if self.rank == 1 && !self.groups => {
                    let [width, items] = [self.rng.clone().within(1, 5), ends[0]];
                    match self.rng.below(4) {
                        0 => self.param(&name, Kind::Row, element, vec![items, width]),
                        1 => self.param(&name, Kind::InOutRow, element, vec![items, width]),
                        2 => self.param(&name, Kind::Column, element, vec![width, items]),
                        _ => self.param(&name, Kind::InOutColumn, element, vec![width, items]),
                    }
                }
                0 if !self.groups => {
                    let element = Ty::Array(self.rng.pick(&self.nums), self.rng.within(1, 4));
                    self.param(&name, Kind::Chunk, element, ends.to_vec());
                }
                0..=2 if at > 0 && group.is_some() => {
                    let size = group.unwrap_or(&[]);
                    let count = range.iter().zip(size).map(|(n, size)| n / size).collect();
                    self.param(&name, Kind::OfGroup, element, count);
                }
                _ => self.param(&name, kind, element, ends.to_vec()),
            }
        }
    }

    pub fn param(&mut self, name: &str, kind: Kind, element: Ty, extent: Vec<usize>) {
        if kind == Kind::Scalar {
            self.var(name, element.clone(), false);
        }
        self.params.push(Param { name: name.to_owned(), kind, element, extent });
    }

    /// The parameters of this kind.
    pub fn params_of(&self, fits: impl Fn(&Param) -> bool) -> Vec<Param> {
        let hidden = |param: &&Param| self.vars.iter().any(|var| var.name == param.name);
        let seen = self.params.iter().filter(|param| param.kind == Kind::Scalar || !hidden(param));
        seen.filter(|param| fits(param)).cloned().collect()
    }

    /// The head of the kernel.
    pub fn head(&mut self, first: &str) {
        let rank = self.rank;
        let mut list = vec![match self.groups {
            true => format!("{first}: Group<{rank}>"),
            false => format!("{first}: Item<{rank}>"),
        }];
        let named = self.params.iter().filter(|param| param.kind != Kind::Count);
        list.extend(named.map(|param| format!("{}: {}", param.name, param.ty())));
        let of = self.generics();
        let checked = match (self.tiles, self.checked) {
            (true, _) => "(group = [8, 8])".to_owned(),
            (_, true) => "(checked)".to_owned(),
            _ if !self.groups && self.rng.chance(15) => {
                let sizes = [1, 2, 3, 8, 16, 64];
                let block: Vec<_> =
                    (0..self.rank).map(|_| self.rng.pick(&sizes).to_string()).collect();
                format!("(block = [{}])", block.join(", "))
            }
            _ => String::new(),
        };
        self.text += &format!("#[kernel{checked}]\npub fn k{of}({}) {{\n", list.join(", "));
        if self.generic {
            self.place_var("N");
        }
    }

    /// The kernel's parameters that are types and constants.
    fn generics(&self) -> &'static str {
        if self.generic { "<T: Number + DeviceType, const N: usize>" } else { "" }
    }

    /// The type arguments of the instances.
    pub fn instances(&self) -> Vec<String> {
        let of = |(num, n): (Num, usize)| format!("<{}, {n}>", num.name);
        self.twins.map_or(vec![String::new()], |[a, b]| [(a, 1), (b, 4)].map(of).to_vec())
    }

    /// How many ends of the launch's items are arguments that no source names.
    pub fn hidden_ends(&self) -> usize {
        if self.scattered().is_empty() { 0 } else { self.rank - 1 }
    }

    /// The extents of what is scattered.
    pub fn scattered(&self) -> Vec<Vec<usize>> {
        let scatters = |kind| matches!(kind, Kind::Scatter | Kind::ScatterLast);
        let all = self.params.iter().filter(|param| scatters(param.kind));
        all.map(|param| param.extent.clone()).collect()
    }

    /// The function that launches the kernel, and gives the bytes of all views.
    pub fn launch(&mut self, offset: &[usize], range: &[usize], group: Option<&[usize]>) {
        let of = self.generics();
        self.text += &format!(
            "}}\n\npub fn launch{of}(rt: &Runtime, q: &Queue, given: &LaunchCase) -> folio::Result<()> {{\n"
        );
        let (mut passed, mut read, mut limit) = (vec![], vec![], String::new());
        let hidden = self.scattered().len() + self.hidden_ends() + usize::from(self.last);
        let mut at = 0;
        for param in &self.params.clone() {
            let (name, element, rank) = (&param.name, param.element.name(), param.rank());
            match param.kind {
                Kind::Local(_) | Kind::LocalAtomic(_) => {}
                Kind::Scalar => passed.push(format!("given.scalar::<{element}>({at})")),
                Kind::Count => {
                    let at = at + hidden;
                    self.line(&format!("let {name} = given.buffer::<u32, 1>(rt, {at})?;"));
                    limit = format!("{LIMITED}given.part({at}, &{name})?)");
                }
                Kind::Log => {
                    self.line(&format!("let {name} = given.log(rt, {at})?;"));
                    passed.push(format!("&{name}"));
                    read.push(format!("given.keep_log({at}, &{name})"));
                }
                Kind::Columns(view) => {
                    let (next, by) = (at + 1, if view == "In" { "&" } else { "&mut " });
                    self.line(&format!(
                        "let mut {name} = {element}Columns {{ a: given.buffer(rt, {at})?, b: given.buffer(rt, {next})? }};"
                    ));
                    passed.push(format!("{by}{name}"));
                    read.push(format!("given.keep({at}, &{name}.a)"));
                    read.push(format!("given.keep({next}, &{name}.b)"));
                }
                kind => {
                    let line =
                        format!("let mut {name} = given.buffer::<{element}, {rank}>(rt, {at})?;");
                    self.line(&line);
                    let how = if kind == Kind::In { "part" } else { "part_mut" };
                    let by = if kind == Kind::In { "&" } else { "&mut " };
                    passed.push(format!("given.{how}({at}, {by}{name})?"));
                    read.push(format!("given.keep({at}, &{name})"));
                }
            }
            at += if matches!(param.kind, Kind::Columns(_)) { 2 } else { 1 };
        }
        let ends: Vec<_> =
            offset.iter().zip(range).map(|(a, n)| format!("{a}..{}", a + n)).collect();
        let group = group.filter(|_| !self.tiles);
        let groups = group.map_or_else(String::new, |size| format!(".groups({size:?})"));
        let items = format!("Items::from([{}]){groups}", ends.join(", "));
        let kernel = if self.generic { "k::<T, N>" } else { "k" };
        self.line(&format!("q.run({items}, {kernel}({}){limit})?;", passed.join(", ")));
        // All of them, also when the first one says that the kernel has failed.
        self.line(&format!("[{}].into_iter().collect()", read.join(", ")));
        self.text += "}\n";
    }
}
