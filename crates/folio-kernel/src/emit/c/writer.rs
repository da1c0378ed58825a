//! The writer of all parts of the emitter: lines of code, and the declarations that the code needs.

use super::abi::{Fails, Point, Word, numbers};
use super::helpers::Helpers;
use super::scalar::Scalars;
use super::{Form, live, names, rows, types};
use crate::ir::{Kernel, Label, Let, ParamId, SiteId, Value};
use crate::op::Query;
use crate::types::{Scalar, Type};
use std::collections::BTreeSet;

/// An entry in the making.
pub struct Writer<'k> {
    pub kernel: &'k Kernel,
    pub form: Form,
    pub helpers: Helpers,
    lines: String,
    depth: usize,
    /// By value: how its uses name it.
    atoms: Vec<String>,
    /// By value: it is used.
    live: Vec<bool>,
    /// By value: `row * width + column`, where a group's items are a loop.
    pub in_rows: Vec<Option<(Value, u64, Value)>>,
    /// The words of the argument block, and their names.
    pub words: Vec<(Word, String)>,
    /// By parameter: see [`numbers`].
    pub numbers: Vec<u32>,
    /// Parameters that code names.
    pub params: BTreeSet<ParamId>,
    /// Queries of the code: question, dimension, copy.
    pub queries: BTreeSet<(Query, u8, u8)>,
    pub points: Vec<Point>,
    /// Group code names its thread; their number.
    pub thread: bool,
    pub threads: bool,
    /// Bytes of local memory for each thread, for what a group combines.
    pub scratch: u32,
    /// Bytes of local memory for products by matrix units.
    pub units: u32,
    /// Loops and blocks around, from outside in.
    pub open: Vec<Open>,
    /// Where `return` goes; none for a return.
    pub exit: Option<&'static str>,
    /// Somebody went there.
    pub left: bool,
    /// Numbers of phases.
    pub phases: u32,
    site: Option<SiteId>,
}

/// A loop or block that is open.
pub struct Open {
    pub label: Label,
    pub is_loop: bool,
    /// Somebody jumps to its end; to its next turn.
    pub breaks: bool,
    pub continues: bool,
}

impl<'k> Writer<'k> {
    pub fn new(kernel: &'k Kernel, form: Form) -> Writer<'k> {
        Writer {
            kernel,
            form,
            helpers: Helpers::new(form.dialect, kernel.shape.group),
            lines: String::new(),
            depth: 1,
            atoms: kernel.values.iter().map(|_| String::new()).collect(),
            live: live::values(kernel, form.checked),
            in_rows: if form.rows { rows::in_rows(kernel) } else { vec![] },
            words: vec![],
            numbers: numbers(kernel),
            params: BTreeSet::new(),
            queries: BTreeSet::new(),
            points: vec![],
            thread: false,
            threads: false,
            scratch: 0,
            units: 0,
            open: vec![],
            exit: None,
            left: false,
            phases: 0,
            site: None,
        }
    }

    /// A line of code.
    pub fn line(&mut self, text: impl AsRef<str>) {
        self.lines.extend(std::iter::repeat_n("  ", self.depth));
        self.lines.push_str(text.as_ref());
        self.lines.push('\n');
    }

    /// A line that opens a brace.
    pub fn open(&mut self, text: impl AsRef<str>) {
        self.line(text);
        self.depth += 1;
    }

    /// A line that closes one.
    pub fn close(&mut self, text: impl AsRef<str>) {
        self.depth -= 1;
        self.line(text);
    }

    /// The lines that `write` writes, apart, one level further in.
    pub fn apart<T>(&mut self, write: impl FnOnce(&mut Self) -> T) -> (String, T) {
        let before = std::mem::take(&mut self.lines);
        self.depth += 1;
        let result = write(self);
        self.depth -= 1;
        (std::mem::replace(&mut self.lines, before), result)
    }

    /// Lines that were written apart.
    pub fn lines(&mut self, text: &str) {
        self.lines.push_str(text);
    }

    /// All lines.
    pub fn take(&mut self) -> String {
        std::mem::take(&mut self.lines)
    }

    /// A comment that says from where in the source the next lines are, if that has changed.
    pub fn at(&mut self, site: Option<SiteId>) {
        let Some(id) = site.filter(|_| site != self.site) else { return };
        self.site = site;
        if let Some(site) = self.kernel.sites.get(id.index()) {
            self.line(format!("// {}", names::site(site)));
        }
    }

    /// Expressions.
    pub fn scalars(&mut self) -> Scalars<'_> {
        Scalars { dialect: self.form.dialect, helpers: &mut self.helpers }
    }

    pub fn literal(&self, scalar: Scalar, bits: u64) -> String {
        types::literal(self.form.dialect, scalar, bits)
    }

    /// How a value is named.
    pub fn atom(&self, value: Value) -> String {
        self.atoms.get(value.index()).cloned().unwrap_or_default()
    }

    /// A value is this, wherever it is used.
    pub fn is(&mut self, value: Value, atom: String) {
        if let Some(have) = self.atoms.get_mut(value.index()) {
            *have = atom;
        }
    }

    /// The value is used.
    pub fn is_live(&self, value: Value) -> bool {
        self.live.get(value.index()).is_some_and(|live| *live)
    }

    pub fn ty(&self, value: Value) -> Type {
        self.kernel.type_of(value).unwrap_or(Scalar::U64.into())
    }

    pub fn scalar(&self, value: Value) -> Scalar {
        self.ty(value).scalar().unwrap_or(Scalar::U64)
    }

    /// The C name of a type.
    pub fn type_name(&self, ty: impl Into<Type>) -> String {
        types::name(self.kernel, ty.into())
    }

    /// Defines a value by an expression or initialiser, if it is used.
    pub fn constant(&mut self, define: &Let, expression: &str) {
        if self.is_live(define.value) {
            let ty = self.type_name(self.ty(define.value));
            let name = format!("t{}", define.value.0);
            self.line(format!("const {ty} {name} = {expression};"));
            self.is(define.value, name);
        }
    }

    /// The name of a word of the argument block, which is put there if it is not.
    pub fn word(&mut self, word: Word, name: String) -> String {
        if !self.words.iter().any(|(have, _)| *have == word) {
            self.words.push((word, name.clone()));
        }
        name
    }

    /// A dimension of the kernel among the three of a launch.
    pub fn of_three(&self, dim: u8) -> u8 {
        3 - self.kernel.shape.rank.min(3) + dim
    }

    /// The device's axis of a dimension.
    pub fn axis(&self, dim: u8) -> u8 {
        self.kernel.shape.rank.saturating_sub(1 + dim)
    }

    /// A word of the launch in this dimension.
    pub fn launch_word(&mut self, name: &str, word: impl Fn(u8) -> Word, dim: u8) -> String {
        self.word(word(self.of_three(dim)), format!("{name}{dim}"))
    }

    /// The number of a parameter; see [`numbers`].
    pub fn number(&self, param: ParamId) -> u32 {
        self.numbers.get(param.index()).copied().unwrap_or_default()
    }

    /// A point at which the command can fail; its number in the text.
    pub fn point(&mut self, what: Fails, site: Option<SiteId>) -> usize {
        self.points.push(Point { what, site });
        self.points.len()
    }
}
