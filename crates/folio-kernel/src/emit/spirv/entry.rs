//! Whole modules.

use super::super::abi::{Layout, Points, Threads};
use super::super::lacks::{Lacks, Needs};
use super::super::names;
use super::super::phases::reductions;
use super::super::texts::most_threads;
use super::body::returns;
use super::flat::flattened;
use super::turns::believes_ends;
use super::writer::Writer;
use super::{Capabilities, Form, Module, reduce};
use crate::ir::Kernel;
use crate::soft::softened;
use rspirv::spirv::Op;

pub fn emit(kernel: &Kernel, form: Form, caps: &Capabilities) -> Result<Module, Lacks> {
    let needs = Needs::of(kernel);
    caps.check(kernel, &needs)?;
    let soft = flattened(softened(kernel, caps.exact));
    // Proofs of indices believe that loops end as they say.
    let checked = form.checked || caps.turns.is_some() && believes_ends(&soft.body);
    let form = Form { checked };
    let mut w = Writer::new(&soft, form, caps);
    let reduces = !reductions(kernel).is_empty();
    let threads = match kernel.shape {
        shape if shape.groups => Threads::Groups,
        _ if reduces => Threads::Linear,
        shape => Threads::Items { tile: shape.tile },
    };
    w.declare_locals();
    w.begin_function();
    match threads {
        Threads::Groups => w.group_kernel(reduces),
        Threads::Linear => w.linear_kernel(),
        _ => w.item_kernel(),
    }
    w.try_turns();
    w.asm.act(Op::Return, vec![]);
    let name = format!("folio_{}", names::word(&kernel.name));
    write_entry(&mut w, &name, caps);
    let words = std::mem::take(&mut w.words);
    let points = std::mem::take(&mut w.points);
    let finish = reduce::finish(&w, &name);
    for (reduction, of, combine) in &finish {
        let mut own = Writer::new(&soft, form, caps);
        own.asm = std::mem::take(&mut w.asm);
        own.begin_function();
        own.finish_kernel(*of, *combine);
        own.asm.act(Op::Return, vec![]);
        write_entry(&mut own, &reduction.entry, caps);
        w.asm = own.asm;
    }
    let most_threads = match threads {
        Threads::Groups => caps.base.block,
        _ => most_threads(kernel, caps.base.block),
    };
    let layout = Layout {
        words: words.iter().map(|(word, _)| *word).collect(),
        by_value: false,
        pointers: w.pointers.clone(),
        verdict: !points.is_empty(),
        scratch: 0,
        threads,
        most_threads,
        private: needs.private,
        local: needs.local,
    };
    Ok(Module {
        subgroup: w.in_rows.then_some(w.width),
        words: w.asm.finish(),
        entry: name,
        layout,
        points: Points::of(kernel, &points),
        reductions: finish.into_iter().map(|(reduction, ..)| reduction).collect(),
    })
}

fn write_entry(w: &mut Writer<'_>, name: &str, caps: &Capabilities) {
    let own = w.asm.id();
    let code = w.take_function();
    w.asm.function(own, &[]);
    w.asm.end_function(code);
    let uses = std::mem::take(&mut w.uses);
    w.asm.entry(own, name, &uses, w.in_rows);
    w.asm.controls(own, &caps.controls);
}

impl Writer<'_> {
    /// The code of an item for each thread.
    fn item_kernel(&mut self) {
        use super::super::abi::Word;
        let bool = self.asm.bool();
        let mut beyond = None;
        for dim in 0..self.kernel.shape.rank {
            if self.kernel.shape.tile > 1 && self.axis(dim) == 0 {
                continue;
            }
            let own = self.item_position(dim);
            if let Some(position) = self.positions.get_mut(usize::from(dim)) {
                *position = Some(own);
            }
            let offset = self.launch_word(Word::Offset, dim);
            let range = self.launch_word(Word::Range, dim);
            let wide = self.asm.int(64);
            let from = self.asm.of(Op::ISub, wide, &[own, offset]);
            let out = self.asm.of(Op::UGreaterThanEqual, bool, &[from, range]);
            beyond = Some(match beyond {
                None => out,
                Some(before) => self.asm.of(Op::LogicalOr, bool, &[before, out]),
            });
        }
        if let Some(beyond) = beyond {
            self.branches(
                beyond,
                |w| {
                    w.asm.act(Op::Return, vec![]);
                    false
                },
                |_| true,
            );
        }
        self.clear_variables();
        let kernel = self.kernel;
        let falls = match self.turn_limit.is_some() && returns(&kernel.body) {
            true => self.blocked(None, |w| w.body(&kernel.body)),
            false => self.body(&kernel.body),
        };
        if !falls {
            let next = self.asm.id();
            self.asm.label(next);
        }
    }

    /// The code of a group, in each of its threads.
    fn group_kernel(&mut self, reduces: bool) {
        self.clear_variables();
        self.clear_own_values();
        self.clear_locals();
        let (kernel, mut looked) = (self.kernel, false);
        let goes_on = reduces || self.turn_limit.is_some();
        let falls = match goes_on && returns(&kernel.body) {
            true => self.blocked(None, |w| w.uniform(&kernel.body, &mut looked)),
            false => self.uniform(&kernel.body, &mut looked),
        };
        if !falls {
            let next = self.asm.id();
            self.asm.label(next);
        }
        if reduces {
            self.group_results();
        }
    }
}
