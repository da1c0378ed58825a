//! Launch-wide reductions (semantics 8.4). An item kernel with any is computed in blocks of 4096
//! items in row-major order, each of which leaves one value; a group kernel leaves one value for
//! each group. A second entry for each reduction makes one value of each 4096, as often as it
//! takes.

use super::Reduction;
use super::abi::{COMBINED, LANES, Word};
use super::dialect::Dialect;
use super::names;
use super::writer::Writer;
use crate::ir::ParamId;
use crate::op::{Combine, Query};
use crate::types::Scalar;

/// An array of local memory with the lanes of a reduction.
struct Lanes {
    name: String,
    of: Scalar,
    combine: Combine,
}

impl Writer<'_> {
    /// An item's value for each reduction, beginning with the identity.
    pub(super) fn own_values(&mut self, reduces: &[(ParamId, Scalar, Combine)]) {
        for (param, of, combine) in reduces {
            let identity = self.literal(*of, combine.identity(*of).unwrap_or_default());
            let name = names::param(self.kernel, *param);
            self.line(format!("{of} {name}_own = {identity};"));
        }
    }

    /// At the end of a group: its results.
    pub(super) fn group_results(&mut self, reduces: &[(ParamId, Scalar, Combine)]) {
        let group = self.linear_group();
        for (param, of, combine) in reduces {
            self.params.insert(*param);
            let name = names::param(self.kernel, *param);
            self.open("{");
            self.all(of.name());
            self.line(format!("all[thread] = {name}_own;"));
            self.line("BARRIER;");
            self.tree(*combine, *of);
            self.line(format!("if (thread == 0u) {name}[{group}] = all[0];"));
            self.line("BARRIER;");
            self.close("}");
        }
    }

    /// The group's number in row-major order.
    fn linear_group(&mut self) -> String {
        let mut index = self.query(Query::GroupId, 0, 0);
        for dim in 1..self.kernel.shape.rank {
            let count = self.query(Query::GroupCount, dim, 0);
            let group = self.query(Query::GroupId, dim, 0);
            index = format!("({index} * {count} + {group})");
        }
        index
    }

    /// An item kernel in blocks of items.
    pub(super) fn linear_kernel(&mut self) -> String {
        let reduces = super::phases::reductions(self.kernel);
        let kernel = self.kernel;
        self.exit = Some("item");
        self.thread = true;
        self.threads = true;
        let (body, ()) = self.apart(|w| {
            let (body, _) = w.apart(|w| w.body(&kernel.body));
            let (before, ()) = w.apart(|w| {
                w.linear_positions();
                w.variables();
                w.own_values(&reduces);
            });
            w.lines(&before);
            w.line("  {");
            w.lines(&body);
            w.line("  }");
            if w.left {
                w.line("  item: ;");
            }
        });
        let first = self.word(Word::First(2), "first_block".to_owned());
        let block = self.form.dialect.block(0);
        for (param, of, _) in &reduces {
            self.params.insert(*param);
            let name = names::param(kernel, *param);
            self.line(format!("SHARED {of} {name}_lanes[{LANES}];"));
        }
        let ranges: Vec<_> =
            (0..kernel.shape.rank).map(|dim| self.query(Query::Range, dim, 0)).collect();
        self.line(format!("const u64 items = {};", self.short(&ranges.join(" * "))));
        self.line(format!("const u64 number = {first} + {block};"));
        let from = self.short(&format!("number * {COMBINED}"));
        self.line(format!("const u64 from = {from};"));
        self.line("const u64 count = items - from;");
        self.counts();
        self.end_of_block();
        self.steps(&ranges);
        self.each_lane();
        self.first_position(&ranges);
        // With the identity, of which an item's value is one already: so it stays what it is, to
        // the bit.
        for (param, of, combine) in &reduces {
            let identity = self.literal(*of, combine.identity(*of).unwrap_or_default());
            let name = names::param(kernel, *param);
            self.line(format!("{of} {name}_lane = {identity};"));
        }
        self.unroll(&kernel.body);
        self.open(format!("for (u32 turn = lane; turn < end; turn += {LANES}u) {{"));
        // Written with the right depth: two loops further in.
        self.lines(&body);
        for (param, of, combine) in &reduces {
            let name = names::param(kernel, *param);
            let (lane, own) = (format!("{name}_lane"), format!("{name}_own"));
            let both = self.scalars().combine(*combine, *of, &lane, &own);
            self.line(format!("{lane} = {both};"));
        }
        self.next_position(&ranges);
        self.close("}");
        for (param, ..) in &reduces {
            let name = names::param(kernel, *param);
            self.line(format!("{name}_lanes[lane] = {name}_lane;"));
        }
        self.close("}");
        let all: Vec<_> = reduces
            .iter()
            .map(|(param, of, combine)| Lanes {
                name: format!("{}_lanes", names::param(kernel, *param)),
                of: *of,
                combine: *combine,
            })
            .collect();
        self.lanes(&all);
        for (param, ..) in &reduces {
            let name = names::param(kernel, *param);
            self.line(format!("if (thread == 0u) {name}[number] = {name}_lanes[0];"));
        }
        self.take()
    }

    /// The position of the item of a turn.
    fn linear_positions(&mut self) {
        for dim in (0..self.kernel.shape.rank).rev() {
            if self.queries.iter().any(|(q, d, _)| (*q, *d) == (Query::Position, dim)) {
                let offset = self.query(Query::Offset, dim, 0);
                let at =
                    if self.kernel.shape.rank == 1 { "from + turn" } else { &format!("at{dim}") };
                self.line(format!("const u64 pos{dim} = {offset} + {at};"));
            }
        }
    }

    /// How far the item of the next turn is away in each dimension: divisions of 64 bits for each
    /// item take longer than all else, and hide from compilers that turns are independent.
    fn steps(&mut self, ranges: &[String]) {
        if ranges.len() == 1 {
            return;
        }
        if !self.form.narrow {
            self.line("const bool is_short = items <= 0xffffffffu;");
        }
        self.line(format!("u32 step = {LANES}u;"));
        for (dim, range) in ranges.iter().enumerate().skip(1).rev() {
            self.line(format!(
                "const u32 step{dim} = step < {range} ? step : step % (u32){range};"
            ));
            self.line(format!("step = step < {range} ? 0u : step / (u32){range};"));
        }
    }

    /// Where the item of a lane's first turn is.
    fn first_position(&mut self, ranges: &[String]) {
        if ranges.len() == 1 {
            return;
        }
        let word = if self.form.narrow { "u32" } else { "u64" };
        self.line(format!("{word} at0 = from + lane;"));
        for (dim, range) in ranges.iter().enumerate().skip(1).rev() {
            let short = format!("(u32)at0 / (u32){range}");
            let rest = format!("is_short ? {short} : at0 / {range}");
            let rest = if self.form.narrow { short } else { rest };
            self.line(format!("const {word} rest{dim} = {rest};"));
            self.line(format!("{word} at{dim} = at0 - rest{dim} * {range};"));
            self.line(format!("at0 = rest{dim};"));
        }
    }

    /// Goes on to the item of the next turn.
    fn next_position(&mut self, ranges: &[String]) {
        for (dim, range) in ranges.iter().enumerate().skip(1).rev() {
            self.line(format!("at{dim} += step{dim};"));
            let before = dim - 1;
            self.line(format!("if (at{dim} >= {range}) {{ at{dim} -= {range}; at{before}++; }}"));
        }
        if ranges.len() > 1 {
            self.line("at0 += step;");
        }
    }

    /// How many values a block has. Loops have a single end, so that compilers can unroll them.
    fn end_of_block(&mut self) {
        self.line(format!("const u32 end = count < {COMBINED} ? (u32)count : {COMBINED}u;"));
    }

    /// A loop over the lanes that have values, each of one thread.
    fn each_lane(&mut self) {
        self.open(format!(
            "for (u32 lane = thread; lane < {LANES}u && lane < end; lane += threads) {{"
        ));
    }

    /// The trees over the lanes that have values, of which there are `end` at most: step by step of
    /// all of them.
    fn lanes(&mut self, all: &[Lanes]) {
        self.line("BARRIER;");
        let step = |w: &mut Self, lanes: &Lanes| {
            let (a, b) = (format!("{}[lane]", lanes.name), format!("{}[lane + gap]", lanes.name));
            let both = w.scalars().combine(lanes.combine, lanes.of, &a, &b);
            format!("{a} = {both};")
        };
        let steps: Vec<_> = all.iter().map(|lanes| step(self, lanes)).collect();
        let first = format!("{}u", LANES / 2);
        if self.form.rows {
            return self.tree_of_one(&first, "end", &format!("{{ {} }}", steps.join(" ")));
        }
        if self.form.dialect == Dialect::Cuda {
            return self.lanes_of_warps(all, &steps);
        }
        self.open(format!("for (u32 gap = {first}; gap > 0u; gap >>= 1) {{"));
        self.step_of_lanes(&steps);
        self.close("}");
    }

    fn step_of_lanes(&mut self, steps: &[String]) {
        self.open("for (u32 lane = thread; lane < gap && lane + gap < end; lane += threads) {");
        steps.iter().for_each(|step| self.line(step));
        self.close("}");
        self.line("BARRIER;");
    }

    /// As `lanes`, with the last steps in the registers of the first warp, if it is whole.
    fn lanes_of_warps(&mut self, all: &[Lanes], steps: &[String]) {
        self.open("{");
        self.line(format!("u32 gap = {}u;", LANES / 2));
        self.line("const u32 least = threads < 32u ? 0u : 16u;");
        self.open("for (; gap > least; gap >>= 1) {");
        self.step_of_lanes(steps);
        self.close("}");
        self.open("if (gap > 0u && thread < 32u) {");
        for (at, Lanes { name, of, .. }) in all.iter().enumerate() {
            self.line(format!("{of} own{at} = {name}[thread];"));
        }
        self.open("for (; gap > 0u; gap >>= 1) {");
        for (at, Lanes { of, combine, .. }) in all.iter().enumerate() {
            let (lane_of, own) = (self.lane_of(*of), format!("own{at}"));
            let other = format!("{lane_of}({own}, thread + gap & 31u, thread, threads)");
            self.line(format!("const {of} other{at} = {other};"));
            let both = self.scalars().combine(*combine, *of, &own, &format!("other{at}"));
            self.line(format!("if (thread < gap && thread + gap < end) {own} = {both};"));
        }
        self.close("}");
        for (at, Lanes { name, .. }) in all.iter().enumerate() {
            self.line(format!("if (thread == 0u) {name}[0] = own{at};"));
        }
        self.close("}");
        self.close("}");
    }

    /// The tree over `count` values, by the first thread: where threads are a loop and a barrier
    /// ends it, this is a loop of vectors.
    pub(super) fn tree_of_one(&mut self, first: &str, count: &str, step: &str) {
        self.open("if (thread == 0u) {");
        self.open(format!("for (u32 gap = {first}; gap > 0u; gap >>= 1) {{"));
        self.line(format!("const u32 others = {count} > gap ? {count} - gap : 0u;"));
        self.line("const u32 pairs = others < gap ? others : gap;");
        self.line(format!("for (u32 lane = 0u; lane < pairs; lane++) {step}"));
        self.close("}");
        self.close("}");
    }
}

/// For each reduction an entry that makes one value of each 4096, the first at a place in `out`.
pub fn finish(w: &mut Writer<'_>, name: &str, threads: u32) -> Vec<(Reduction, String)> {
    let before = w.take();
    let entries = super::phases::reductions(w.kernel).into_iter().map(|(param, of, combine)| {
        let entry = format!("{name}_finish_p{}", param.0);
        let (block, thread, count) =
            (w.form.dialect.block(0), w.form.dialect.thread(0), w.form.dialect.threads(0));
        w.line(format!("SHARED {of} lanes[{LANES}];"));
        w.line(format!("const u64 from = (u64){block} * {COMBINED};"));
        w.line("const u64 count = values - from;");
        w.line(format!("const u32 thread = (u32){thread};"));
        w.line(format!("const u32 threads = (u32){count};"));
        w.end_of_block();
        w.each_lane();
        w.line(format!("{of} sum = in[from + lane];"));
        w.unroll_short();
        w.open(format!("for (u32 turn = lane + {LANES}u; turn < end; turn += {LANES}u) {{"));
        let both = w.scalars().combine(combine, of, "sum", "in[from + turn]");
        w.line(format!("sum = {both};"));
        w.close("}");
        w.line("lanes[lane] = sum;");
        w.close("}");
        w.lanes(&[Lanes { name: "lanes".to_owned(), of, combine }]);
        w.line(format!("if (thread == 0u) out[place + (u64){block}] = lanes[0];"));
        let code = w.take();
        let text = format!(
            "ENTRY({threads}) {entry}(
    GLOBAL const {of} *RESTRICT in,
    GLOBAL {of} *RESTRICT out,
    const u64 values,
    const u64 place) {{
{code}}}
"
        );
        (Reduction { param, bytes: of.size() as u32, entry }, text)
    });
    let entries = entries.collect();
    w.lines(&before);
    entries
}
