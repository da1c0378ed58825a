//! Where an item is: the questions of kernels, and the constants that answer them.

use super::abi::Word;
use super::dialect::Dialect;
use super::writer::Writer;
use crate::ir::{Let, Value};
use crate::op::{Combine, Fold, Query, Subgroup};
use crate::types::Scalar;

impl Writer<'_> {
    /// The name of an answer.
    pub(super) fn query(&mut self, query: Query, dim: u8, copy: u8) -> String {
        match query {
            Query::Range => return self.launch_word("range", Word::Range, dim),
            Query::Offset => return self.launch_word("offset", Word::Offset, dim),
            Query::GroupCount => return self.launch_word("groups", Word::Groups, dim),
            _ => {}
        }
        self.queries.insert((query, dim, copy));
        match query {
            Query::Position => self.position(dim, copy),
            Query::LocalId => format!("local{dim}"),
            Query::GroupId => format!("group{dim}"),
            Query::GroupSize => format!("size{dim}"),
            Query::Lane => "lane".to_owned(),
            Query::SubgroupSize => "subgroup_size".to_owned(),
            _ => "subgroup".to_owned(),
        }
    }

    /// The name of a position; in one dimension it differs between a thread's items.
    fn position(&self, dim: u8, copy: u8) -> String {
        match self.kernel.shape.tile > 1 && self.axis(dim) == 0 {
            true => format!("pos{dim}_{copy}"),
            false => format!("pos{dim}"),
        }
    }

    /// Positions of an item kernel's threads, of which those beyond the launch return.
    pub(super) fn positions(&mut self) {
        let (dialect, tile) = (self.form.dialect, self.kernel.shape.tile);
        let mut beyond = vec![];
        for dim in 0..self.kernel.shape.rank {
            let axis = self.axis(dim);
            let first = self.launch_word("first", Word::First, dim);
            let (block, thread) = (dialect.block(axis), dialect.thread(axis));
            let threads = match self.form.width {
                Some(width) if axis == 0 => format!("{width}"),
                _ => dialect.threads(axis),
            };
            if tile > 1 && axis == 0 {
                let own = format!("{first} + (u64){block} * ({threads} * {tile}) + {thread}");
                self.line(format!("const u64 own = {};", self.short(&own)));
                for copy in 0..tile {
                    if self.queries.contains(&(Query::Position, dim, copy)) {
                        let name = self.position(dim, copy);
                        self.line(format!("const u64 {name} = own + {threads} * {copy};"));
                    }
                }
                continue;
            }
            let (offset, range) = (
                self.launch_word("offset", Word::Offset, dim),
                self.launch_word("range", Word::Range, dim),
            );
            let at = self.short(&format!("{first} + (u64){block} * {threads} + {thread}"));
            self.line(format!("const u64 pos{dim} = {at};"));
            beyond.push(format!("pos{dim} - {offset} >= {range}"));
        }
        if !beyond.is_empty() {
            self.line(format!("if ({}) return;", beyond.join(" || ")));
        }
    }

    /// The row of a thread, and how many of its items are the thread's share of it.
    pub(super) fn share(&mut self) {
        let (dialect, rank) = (self.form.dialect, self.kernel.shape.rank);
        let asks = |w: &Self, dim| w.queries.contains(&(Query::Position, dim, 0));
        for dim in 0..rank - 1 {
            if asks(self, dim) {
                let first = self.launch_word("first", Word::First, dim);
                let row = dialect.block(self.axis(dim));
                self.line(format!("const u64 pos{dim} = {first} + {row};"));
            }
        }
        let last = rank - 1;
        let range = self.launch_word("range", Word::Range, last);
        let (thread, threads) = (dialect.block(0), dialect.blocks(0));
        self.line(format!("const u64 thread = {thread}, threads = {threads};"));
        self.line(format!("const u64 even = {range} / threads, more = {range} % threads;"));
        self.line("const u64 before = thread * even + (thread < more ? thread : more);");
        self.line("const u64 count = even + (thread < more ? 1 : 0);");
    }

    /// Where the next items of that share are.
    pub(super) fn row_positions(&mut self, items: u8) {
        let last = self.kernel.shape.rank - 1;
        for copy in 0..items {
            if self.queries.contains(&(Query::Position, last, copy)) {
                let first = self.launch_word("first", Word::First, last);
                let name = self.position(last, copy);
                let after = if copy > 0 { format!(" + {copy}") } else { String::new() };
                self.line(format!("const u64 {name} = {first} + before + turn{after};"));
            }
        }
    }

    /// The answers that a group kernel asks for.
    pub(super) fn group_answers(&mut self) {
        let dialect = self.form.dialect;
        let asked: Vec<_> = self.queries.iter().copied().collect();
        let asks = |query, dim| asked.iter().any(|(q, d, _)| *q == query && *d == dim);
        let whole = |query| asked.iter().any(|(q, ..)| *q == query);
        self.thread |= whole(Query::Lane) || whole(Query::Subgroup);
        for dim in 0..self.kernel.shape.rank {
            let axis = self.axis(dim);
            let position = asks(Query::Position, dim);
            if asks(Query::GroupSize, dim) || position {
                let size = match (self.kernel.shape.rank, self.kernel.shape.group) {
                    (1, items) if items > 0 => items.to_string(),
                    _ => dialect.threads(axis),
                };
                self.line(format!("const u64 size{dim} = {size};"));
            }
            if asks(Query::LocalId, dim) || position {
                self.line(format!("const u64 local{dim} = {};", dialect.thread(axis)));
            }
            if asks(Query::GroupId, dim) || position {
                let first = self.launch_word("first", Word::First, dim);
                let at = self.short(&format!("{first} + {}", dialect.block(axis)));
                self.line(format!("const u64 group{dim} = {at};"));
            }
            if position {
                let offset = self.launch_word("offset", Word::Offset, dim);
                let at = format!("{offset} + group{dim} * size{dim} + local{dim}");
                self.line(format!("const u64 pos{dim} = {};", self.short(&at)));
            }
        }
        self.counts();
        let (lane, subgroup, size) = match dialect {
            Dialect::OpenCl => ("0", "thread", "1"),
            Dialect::Cuda => ("thread & 31u", "thread >> 5", "32"),
        };
        for (query, name, is) in [
            (Query::Lane, "lane", lane),
            (Query::Subgroup, "subgroup", subgroup),
            (Query::SubgroupSize, "subgroup_size", size),
        ] {
            if whole(query) {
                self.line(format!("const u64 {name} = {is};"));
            }
        }
    }

    /// The thread among those of its block, in row-major order, and how many they are.
    pub(super) fn counts(&mut self) {
        let dialect = self.form.dialect;
        let (thread, threads) = (|a| dialect.thread(a), |a| dialect.threads(a));
        let (index, count) = match self.kernel.shape.rank {
            1 => (thread(0), threads(0)),
            2 => (
                format!("{} * {} + {}", thread(1), threads(0), thread(0)),
                format!("{} * {}", threads(1), threads(0)),
            ),
            _ => (
                format!(
                    "({} * {} + {}) * {} + {}",
                    thread(2),
                    threads(1),
                    thread(1),
                    threads(0),
                    thread(0)
                ),
                format!("{} * {} * {}", threads(2), threads(1), threads(0)),
            ),
        };
        // A number, where the kernel says it: compilers unroll the loops that it ends.
        let count = match self.kernel.shape.group {
            0 => count,
            items => format!("{items}u"),
        };
        if self.thread {
            self.line(format!("const u32 thread = (u32)({index});"));
        }
        if self.threads {
            self.line(format!("const u32 threads = (u32)({count});"));
        }
    }

    /// An operation of a sub-group: of one item in OpenCL C 1.2, of a warp in CUDA (semantics 11).
    pub(super) fn subgroup(&mut self, define: &Let, op: Subgroup, args: &[Value]) {
        let Some(first) = args.first() else { return };
        let (of, a) = (self.scalar(*first), self.atom(*first));
        let other = args.get(1).map(|b| self.atom(*b)).unwrap_or_default();
        if self.form.dialect == Dialect::OpenCl {
            let own = if op == Subgroup::Match { "256u".to_owned() } else { a };
            return self.is(define.value, own);
        }
        (self.thread, self.threads) = (true, true);
        let lanes = self.helpers.fixed("lanes");
        let call = match op {
            Subgroup::Any => format!("__any_sync({lanes}_mask(thread, threads), {a}) != 0"),
            Subgroup::All => format!("__all_sync({lanes}_mask(thread, threads), {a}) != 0"),
            Subgroup::Broadcast => format!("{}({a}, {other}, thread, threads)", self.lane_of(of)),
            Subgroup::ShuffleXor => {
                format!("{}({a}, (thread & 31u) ^ {other}, thread, threads)", self.lane_of(of))
            }
            Subgroup::Match => format!("{}({a}, thread, threads)", self.matched(of)),
        };
        self.constant(define, &call);
    }

    /// A function: the result of a [`Subgroup::Match`]. Of few bits ballots are faster than the
    /// warp's own comparison, which takes a step for each value that there is.
    fn matched(&mut self, of: Scalar) -> String {
        let (t, name) = (of.name(), format!("match_{of}"));
        let bits = match of {
            Scalar::F32 => "F32_BITS(x)".to_owned(),
            Scalar::F64 => "F64_BITS(x)".to_owned(),
            _ if of.bits() == 64 => "(u64)x".to_owned(),
            _ => "(u32)x".to_owned(),
        };
        let few = if of == Scalar::Bool { 1 } else { of.bits() };
        let same = match few {
            1 | 8 => format!(
                "  const u32 bits = {bits};
  u32 same = mask;
#pragma unroll
  for (u32 bit = 0u; bit < {few}u; ++bit) {{
    const bool set = (bits >> bit & 1u) != 0u;
    const u32 votes = __ballot_sync(mask, set);
    same &= set ? votes : ~votes;
  }}
"
            ),
            _ => format!("  const u32 same = __match_any_sync(mask, {bits});\n"),
        };
        self.helpers.fixed("lanes");
        self.helpers.made(&name, |_| {
            format!(
                "FN u32 {name}({t} x, u32 thread, u32 threads) {{
  const u32 mask = lanes_mask(thread, threads);
{same}  const u32 before = __popc(same & ((1u << (thread & 31u)) - 1u));
  return before | (u32)__popc(same) << 8 | (u32)(__ffs(same) - 1) << 16;
}}
"
            )
        });
        name
    }

    /// A function: the value of a lane, or the own one if there is no such lane.
    pub(super) fn lane_of(&mut self, of: Scalar) -> String {
        let (t, name) = (of.name(), format!("lane_of_{of}"));
        let (to, from) = match of {
            Scalar::F32 => ("BITS_F32(x)".to_owned(), "F32_BITS(y)".to_owned()),
            Scalar::F64 => ("BITS_F64(x)".to_owned(), "F64_BITS(y)".to_owned()),
            Scalar::Bool => ("(u32)x".to_owned(), "y != 0".to_owned()),
            _ if of.bits() == 64 => ("(u64)x".to_owned(), format!("({t})y")),
            _ => ("(u32)x".to_owned(), format!("({t})y")),
        };
        let word = if of.bits() == 64 { "u64" } else { "u32" };
        self.helpers.fixed("lanes");
        self.helpers.made(&name, |_| {
            format!(
                "FN {t} {name}({t} x, u32 lane, u32 thread, u32 threads) {{
  const {word} y = __shfl_sync(lanes_mask(thread, threads), {to}, (i32)(lane & 31u));
  return lane < lanes(thread, threads) ? {from} : x;
}}
"
            )
        });
        name
    }

    /// A reduction or scan of a sub-group.
    pub(super) fn subgroup_fold(&mut self, define: &Let, fold: Fold, combine: Combine, a: Value) {
        let (of, a) = (self.scalar(a), self.atom(a));
        let identity = self.literal(of, combine.identity(of).unwrap_or_default());
        if self.form.dialect == Dialect::OpenCl {
            let own = if fold == Fold::Exclusive { identity } else { a };
            return self.is(define.value, own);
        }
        (self.thread, self.threads) = (true, true);
        let (t, lane_of) = (of.name(), self.lane_of(of));
        let name = format!("{fold}_{combine}_{of}");
        let (up, down) = (
            self.scalars().combine(combine, of, "x", "y"),
            self.scalars().combine(combine, of, "y", "x"),
        );
        let body = match fold {
            Fold::Reduce => format!(
                "  for (u32 gap = 16; gap > 0u; gap >>= 1) {{
    const {t} y = {lane_of}(x, lane + gap & 31u, thread, threads);
    if (lane < gap && lane + gap < count) x = {up};
  }}
  return {lane_of}(x, 0u, thread, threads);
"
            ),
            _ => {
                let end = match fold {
                    Fold::Inclusive => "x".to_owned(),
                    _ => format!("lane == 0u ? {identity} : before"),
                };
                let before = match fold {
                    Fold::Inclusive => String::new(),
                    _ => format!(
                        "  const {t} before = {lane_of}(x, lane - 1u & 31u, thread, threads);\n"
                    ),
                };
                format!(
                    "  for (u32 step = 1; step < count; step <<= 1) {{
    const {t} y = {lane_of}(x, lane - step & 31u, thread, threads);
    if (lane >= step) x = {down};
  }}
{before}  return {end};
"
                )
            }
        };
        self.helpers.made(&name, |_| {
            format!(
                "FN {t} {name}({t} x, u32 thread, u32 threads) {{
  const u32 lane = thread & 31u, count = lanes(thread, threads);
{body}}}
"
            )
        });
        self.constant(define, &format!("{name}({a}, thread, threads)"));
    }
}
