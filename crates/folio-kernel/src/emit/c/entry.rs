//! Whole texts: head, types, functions, argument block, entry.

use super::super::texts::most_threads;
use super::abi::{Layout, Points, Threads, Word};
use super::lacks::{Capabilities, Lacks, Needs};
use super::phases::reductions;
use super::writer::Writer;
use super::{Dialect, Form, Module, live, names, reduce, types};
use crate::ir::{Access, Kernel, ParamId, ParamKind, Stmt, VarId, walk};
use crate::tile::{abreast, relabelled, tile};
use crate::types::{Scalar, Type};

/// Bytes of an item's that are not in registers, at most, where several items are computed at a
/// time.
const MOST_PRIVATE: u64 = 256;

/// Statements of a body of which several vectors are worth what they take a compiler, at most.
const SHORT: usize = 32;

pub fn emit(kernel: &Kernel, form: Form, caps: &Capabilities) -> Result<Module, Lacks> {
    let module = text(kernel, None, form, caps)?;
    let small = module.layout.private <= MOST_PRIVATE;
    match if small && may_share(&module, form) { abreast(kernel) } else { None } {
        Some(several) => text(&several, Some(&relabelled(kernel, &several)), form, caps),
        None => Ok(module),
    }
}

/// The same of rows, of so many items at a time whether that pays or not; none where that cannot
/// be.
pub fn emit_abreast(
    kernel: &Kernel,
    items: u8,
    form: Form,
    caps: &Capabilities,
) -> Result<Option<Module>, Lacks> {
    let mut may = may_share(&text(kernel, None, form, caps)?, form);
    walk(&kernel.body, &mut |stmt| may &= !matches!(stmt, Stmt::Return));
    let several = if may { tile(kernel, items).ok() } else { None };
    let text = |several: Kernel| text(&several, Some(&relabelled(kernel, &several)), form, caps);
    several.map(text).transpose()
}

/// Whether items of a row may be computed together: where they fail, each does for itself.
fn may_share(module: &Module, form: Form) -> bool {
    module.layout.threads == Threads::Rows && !form.checked && !module.layout.verdict
}

/// The text of a kernel; or of rows, in which that computes several items at a time, and `rest`
/// those that are left.
fn text(
    kernel: &Kernel,
    rest: Option<&Kernel>,
    form: Form,
    caps: &Capabilities,
) -> Result<Module, Lacks> {
    let needs = Needs::of(kernel);
    needs.check(kernel, caps)?;
    let mut w = Writer::new(kernel, form);
    w.units = caps.units.saturating_sub(needs.local as u32);
    let reduces = reductions(kernel);
    let threads = match kernel.shape {
        shape if shape.groups => Threads::Groups,
        _ if !reduces.is_empty() => Threads::Linear,
        shape if rest.is_some() || (form.rows && shape.tile == 1) => Threads::Rows,
        shape => Threads::Items { tile: shape.tile },
    };
    let code = match threads {
        Threads::Groups => w.group_kernel(),
        Threads::Linear => w.linear_kernel(),
        Threads::Rows => w.row_kernel(rest),
        Threads::Items { .. } => w.item_kernel(),
    };
    w.argument_words();
    let most = match threads {
        Threads::Groups if kernel.shape.group > 0 => caps.block.min(kernel.shape.group),
        Threads::Groups => caps.block,
        Threads::Rows => 1,
        Threads::Items { .. } | Threads::Linear => most_threads(kernel, caps.block),
    };
    let memory =
        |kind: &ParamKind| matches!(kind, ParamKind::View { .. } | ParamKind::Reduce { .. });
    let ids = (0..kernel.params.len() as u32).map(ParamId);
    let pointers: Vec<_> = ids.filter(|at| memory(&kernel.params[at.index()].kind)).collect();
    let layout = Layout {
        by_value: Layout::fits(w.words.len(), pointers.len(), caps),
        words: w.words.iter().map(|(word, _)| *word).collect(),
        pointers,
        verdict: !w.points.is_empty(),
        scratch: w.scratch,
        threads,
        most_threads: most,
        private: needs.private,
        local: needs.local,
    };
    let name = format!("folio_{}", names::word(&kernel.name));
    let finish = reduce::finish(&mut w, &name, most);
    let entry = w.signature(&name, &layout);
    let begin = w.arguments(&layout);
    let f64 = needs.f64.is_some();
    let text = [
        form.dialect.head(f64, needs.atomics64.is_some()),
        types::declarations(kernel, &needs),
        w.helpers.text.clone(),
        w.block_type(&layout),
        entry,
        begin,
        code,
        "}\n".to_owned(),
        finish.iter().map(|(_, text)| text.as_str()).collect(),
    ]
    .concat();
    let reductions = finish.into_iter().map(|(reduction, _)| reduction).collect();
    Ok(Module { text, entry: name, layout, points: Points::of(kernel, &w.points), reductions })
}

impl Writer<'_> {
    /// The code of an item for each thread.
    fn item_kernel(&mut self) -> String {
        self.body(&self.kernel.body);
        let body = self.take();
        self.positions();
        self.variables();
        self.lines(&body);
        self.take()
    }

    /// The code of a row's items, in a loop over those of a thread; or in two, of several items at
    /// a time and of those that are left.
    fn row_kernel(&mut self, rest: Option<&Kernel>) -> String {
        let kernel = self.kernel;
        self.exit = Some("next");
        let (body, _) = self.apart(|w| w.body(&kernel.body));
        let left = rest.map(|rest| self.apart(|w| w.body(&rest.body)).0);
        self.share();
        match (rest, left) {
            (Some(rest), Some(left)) => {
                let tile = kernel.shape.tile;
                self.line("u64 turn = 0;");
                self.open(format!("for (; count - turn >= {tile}; turn += {tile}) {{"));
                self.turn(tile, kernel.vars.len(), &body);
                self.open("for (; turn < count; turn++) {");
                self.turn(1, rest.vars.len(), &left);
            }
            _ => {
                let (mut loops, mut statements) = (false, 0);
                walk(&kernel.body, &mut |stmt| {
                    statements += 1;
                    loops |= matches!(stmt, Stmt::For { .. } | Stmt::Loop { .. });
                });
                if !loops && statements <= SHORT {
                    // Compilers make vectors of it, and of one for each turn less than a processor
                    // can do. Rows of several dimensions are shorter: what more vectors leave over
                    // would be computed one by one.
                    let vectors = if kernel.shape.rank == 1 { 4 } else { 2 };
                    self.line(format!("#pragma clang loop interleave_count({vectors})"));
                }
                self.open("for (u64 turn = 0; turn < count; turn++) {");
                self.turn(1, kernel.vars.len(), &body);
            }
        }
        self.take()
    }

    /// A turn of such a loop, which it closes: `body`, of so many items and with the first
    /// variables.
    fn turn(&mut self, items: u8, vars: usize, body: &str) {
        self.row_positions(items);
        self.first_variables(vars);
        if self.left {
            // Braces, so that no jump passes over a definition.
            self.line("{");
        }
        self.lines(body);
        if self.left {
            self.line("}");
            self.line("next: ;");
        }
        self.close("}");
    }

    /// The code of a group, in each of its threads.
    fn group_kernel(&mut self) -> String {
        let reduces = reductions(self.kernel);
        self.exit = if reduces.is_empty() { None } else { Some("done") };
        let (mut looked, kernel) = (false, self.kernel);
        if reduces.is_empty() {
            self.uniform(&kernel.body, &mut looked);
        } else {
            self.open("{");
            self.uniform(&kernel.body, &mut looked);
            self.close("}");
            if self.left {
                self.line("done: ;");
            }
            self.group_results(&reduces);
        }
        let body = self.take();
        self.locals();
        self.variables();
        self.own_values(&reduces);
        self.lines(&body);
        let body = self.take();
        self.group_answers();
        self.lines(&body);
        self.take()
    }

    /// The kernel's variables.
    pub(super) fn variables(&mut self) {
        self.first_variables(self.kernel.vars.len());
    }

    fn first_variables(&mut self, count: usize) {
        let named = live::variables(self.kernel);
        for (at, var) in self.kernel.vars.iter().enumerate().take(count) {
            if named[at] {
                let name = names::var(self.kernel, VarId(at as u32));
                self.declare(&name, var.ty);
            }
        }
    }

    fn block_type(&self, layout: &Layout) -> String {
        match layout.words.len() {
            0 => String::new(),
            _ if !layout.by_value => String::new(),
            words => format!("typedef struct {{ u64 words[{words}]; }} Block;\n"),
        }
    }

    fn signature(&mut self, name: &str, layout: &Layout) -> String {
        let mut arguments = vec![];
        if !layout.words.is_empty() {
            arguments.push(match layout.by_value {
                true => "const Block block".to_owned(),
                false => "GLOBAL const u64 *RESTRICT block".to_owned(),
            });
        }
        for param in &layout.pointers {
            let name = names::param(self.kernel, *param);
            let (ty, constant, restrict) = self.pointee(*param);
            arguments.push(format!("GLOBAL {constant}{ty} *{restrict}{name}_base"));
        }
        if layout.verdict {
            self.helpers.fixed("fail");
            arguments.push("GLOBAL Record *verdict".to_owned());
        }
        if layout.scratch > 0 && self.form.dialect == Dialect::OpenCl {
            arguments.push("LOCAL u64 *scratch".to_owned());
        }
        let list = arguments.join(",\n    ");
        format!("ENTRY({}) {name}(\n    {list}) {{\n", layout.most_threads)
    }

    /// The type of what a parameter points to, `const` if it is only read, and `RESTRICT` if no
    /// other parameter writes there: of such a pointer a compiler takes what a thread has read for
    /// what is there, also after a barrier: elements that several threads share have it only where
    /// none writes.
    fn pointee(&self, param: ParamId) -> (String, &'static str, &'static str) {
        match self.kernel.params.get(param.index()).map(|p| &p.kind) {
            Some(ParamKind::View { element, access, owner, .. }) => {
                let constant = if *access == Access::In { "const " } else { "" };
                let own = *access == Access::In || owner.is_of_items();
                (self.type_name(*element), constant, if own { "RESTRICT " } else { "" })
            }
            Some(ParamKind::Reduce { element, .. }) => (self.type_name(*element), "", "RESTRICT "),
            _ => (self.type_name(Scalar::U8), "", "RESTRICT "),
        }
    }

    /// The arguments under the names that code has for them.
    fn arguments(&mut self, layout: &Layout) -> String {
        let access = |at: usize| match layout.by_value {
            true => format!("block.words[{at}]"),
            false => format!("block[{at}]"),
        };
        if layout.scratch > 0 && self.form.dialect == Dialect::Cuda {
            self.line("extern SHARED u64 scratch[];");
        }
        let words = self.words.clone();
        for (at, (word, name)) in words.iter().enumerate() {
            match word {
                Word::Scalar(_) => {}
                Word::Start(_) => {
                    let param =
                        layout.pointers.iter().find(|p| Word::Start(self.number(**p)) == *word);
                    let Some(param) = param.copied() else { continue };
                    let (ty, constant, _) = self.pointee(param);
                    let own = names::param(self.kernel, param);
                    self.line(format!(
                        "GLOBAL {constant}{ty} *{own} = {own}_base + {};",
                        access(at)
                    ));
                }
                _ => self.line(format!("const u64 {name} = {};", self.short(&access(at)))),
            }
        }
        for (param, at, ty) in self.scalar_params() {
            self.scalar_argument(param, ty, &|word| access(at + word));
        }
        self.take()
    }

    /// The scalars that code names, and where their words are in the block.
    fn scalar_params(&self) -> Vec<(ParamId, usize, Type)> {
        let scalar = |param: &ParamId| match self.kernel.params.get(param.index())?.kind {
            ParamKind::Scalar(ty) => {
                let word = Word::Scalar(self.number(*param));
                let at = self.words.iter().position(|(have, _)| *have == word)?;
                Some((*param, at, ty))
            }
            _ => None,
        };
        self.params.iter().filter_map(scalar).collect()
    }

    fn scalar_argument(&mut self, param: ParamId, ty: Type, word: &dyn Fn(usize) -> String) {
        let (name, t) = (names::param(self.kernel, param), self.type_name(ty));
        match ty.scalar() {
            Some(scalar) => {
                let value = self.scalars().bits(Scalar::U64, &word(0), scalar);
                self.line(format!("const {t} {name} = {value};"));
            }
            None => {
                let words = self.kernel.types.layout(ty).0.div_ceil(8) as usize;
                self.line(format!("union {{ u64 words[{words}]; {t} value; }} {name}_words;"));
                for at in 0..words {
                    self.line(format!("{name}_words.words[{at}] = {};", word(at)));
                }
                self.line(format!("const {t} {name} = {name}_words.value;"));
            }
        }
    }

    /// Puts into the block what the named parameters need.
    pub(super) fn argument_words(&mut self) {
        for param in self.params.clone() {
            let (at, name) = (self.number(param), names::param(self.kernel, param));
            match self.kernel.params.get(param.index()).map(|p| &p.kind) {
                Some(ParamKind::Scalar(ty)) => {
                    let words = self.kernel.types.layout(*ty).0.div_ceil(8) as u32;
                    for word in 0..words {
                        self.word(Word::Scalar(at + word), format!("{name}_{word}"));
                    }
                }
                Some(ParamKind::View { .. } | ParamKind::Reduce { .. }) => {
                    self.word(Word::Start(at), format!("{name}_start"));
                }
                _ => {}
            }
        }
    }
}
