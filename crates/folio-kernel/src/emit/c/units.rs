//! Relaxed products by matrix units, in CUDA C: a call of a template (`units.cu`), which copies
//! parts of both factors to local memory ahead of the warps that multiply them.

use super::dialect::Dialect;
use super::names;
use super::writer::Writer;
use crate::ir::{Corner, Product, ProductForm};
use crate::types::Scalar;

/// The template.
const UNITS: &str = include_str!("units.cu");

/// Elements of the depth that a step takes.
const DEPTH: u32 = 32;

/// Steps in local memory at a time, at most.
const MOST_STAGES: u32 = 4;

/// Bytes that are copied, or read by a lane, at once.
const PIECE: u32 = 16;

/// Sums that a thread has in registers, at most.
const MOST_SUMS: u32 = 128;

/// A number that is no row or column of any view.
const BEYOND: &str = "0x80000000u";

/// How a group computes a product.
struct Plan {
    form: ProductForm,
    /// Warps that are beside each other.
    across: u32,
    stages: u32,
    factors: [Staged; 2],
    /// Bytes of local memory.
    bytes: u32,
}

/// A step of a factor in local memory, in lines of pieces.
#[derive(Clone, Copy)]
struct Staged {
    /// Neighbours in memory are so along the depth.
    deep: bool,
    lines: u32,
    /// From line to line, in pieces.
    pitch: u32,
}

impl Staged {
    /// Of a factor with so many rows or columns. Lines are so far apart that the pieces that a warp
    /// reads together are in different banks.
    fn new(deep: bool, extent: u32, element: Scalar) -> Staged {
        let (lines, line) = if deep { (extent, DEPTH) } else { (DEPTH, extent) };
        let pieces = line * element.size() as u32 / PIECE;
        // Words that are not along the depth are read one by one.
        let single = element == Scalar::F32 && !deep;
        let pitch = if single { (pieces + 5) / 8 * 8 + 2 } else { pieces | 1 };
        Staged { deep, lines, pitch }
    }

    fn bytes(self) -> u32 {
        self.lines * self.pitch * PIECE
    }
}

impl Plan {
    /// In so much local memory, if it can be.
    fn new(form: ProductForm, turned: [bool; 2], local: u32) -> Option<Plan> {
        let ProductForm { rows, columns, side, element } = form;
        let warps = side * side / 32;
        let fits = |across: &u32| {
            let down = warps / across;
            down * across == warps
                && rows.is_multiple_of(16 * down)
                && columns.is_multiple_of(16 * across)
        };
        let edges = |across: &u32| rows * across / warps + columns / across;
        let across = (1..=warps).filter(fits).min_by_key(edges)?;
        if rows * columns > MOST_SUMS * side * side {
            return None;
        }
        let factors =
            [Staged::new(!turned[0], rows, element), Staged::new(turned[1], columns, element)];
        let stage = factors[0].bytes() + factors[1].bytes();
        // At the end 16 rows of each warp are there.
        let end = warps / across * 16 * (columns + 8) * 4;
        let stages = (2..=MOST_STAGES).rev().find(|stages| stages * stage <= local)?;
        let bytes = (stages * stage).max(end);
        (bytes <= local).then_some(Plan { form, across, stages, factors, bytes })
    }

    /// The template's arguments.
    fn arguments(&self) -> String {
        let ProductForm { rows, columns, side, element } = self.form;
        let kind = match element {
            Scalar::F16 => 0,
            Scalar::Bf16 => 1,
            _ => 2,
        };
        let [a, b] = self.factors;
        format!(
            "{kind}, {rows}, {columns}, {side}, {}, {DEPTH}, {}, {}, {}, {}, {}",
            self.across, self.stages, a.deep, b.deep, a.pitch, b.pitch
        )
    }
}

impl Writer<'_> {
    /// Writes a product for matrix units, if the text is for a device that has them and they can
    /// compute it.
    pub(super) fn by_units(&mut self, product: &Product) -> bool {
        // Other texts test each access, or have numbers of 64 bits.
        if self.form.dialect != Dialect::Cuda || self.form.checked || !self.form.narrow {
            return false;
        }
        let Some(form) = product.form(self.kernel) else { return false };
        let turned = [product.factors[0].turned, product.factors[1].turned];
        let Some(plan) = Plan::new(form, turned, self.units) else { return false };
        let threads = form.side * form.side;
        self.scratch = self.scratch.max(plan.bytes.div_ceil(threads).next_multiple_of(8));
        self.thread();
        self.helpers.made("units", |_| UNITS.to_owned());
        self.open("{");
        for (name, corner) in ["a", "b"].into_iter().zip(&product.factors) {
            self.corner(name, corner);
        }
        let (sum, depth) = (names::var(self.kernel, product.sum), self.atom(product.depth));
        let arguments = plan.arguments();
        self.line(format!("add_product<{arguments}>({sum}, scratch, thread, a, b, (u32){depth});"));
        self.close("}");
        true
    }

    /// The corner of a view, as the template takes it. Elements outside of the accessed box are
    /// not read, whatever the numbers are.
    fn corner(&mut self, name: &str, corner: &Corner) {
        self.params.insert(corner.view);
        let (view, rank) = (names::param(self.kernel, corner.view), corner.at.len() as u8);
        let mut from = vec![];
        for (dim, at) in (0..rank).zip(&corner.at) {
            let [low, size] =
                ["low", "size"].map(|word| self.view_word(corner.view, word, rank, dim));
            let at = self.atom(*at);
            self.line(format!("const u64 {name}{dim} = {at} - {low};"));
            from.push((format!("{name}{dim}"), size));
        }
        let (row, column) = (usize::from(rank) - 2, usize::from(rank) - 1);
        let pitch = self.view_word(corner.view, "pitch", rank, row as u8);
        let index = |(at, size): &(String, String)| format!("{at} < {size} ? (u32){at} : {BEYOND}");
        let (mut first, mut rows) = (view, format!("(u32){}", from[row].1));
        if let Some((at, size)) = from.first().filter(|_| rank > 2) {
            let slices = self.view_word(corner.view, "pitch", rank, 0);
            first = format!("{first} + ({at} < {size} ? {at} * {slices} : 0)");
            rows = format!("{at} < {size} ? {rows} : 0u");
        }
        let (row, column, columns) = (index(&from[row]), index(&from[column]), &from[column].1);
        self.line(format!(
            "const Corner {name} = {{(const u8 *)({first}), (u32){pitch}, {row}, {column}, {rows}, (u32){columns}}};"
        ));
    }
}
