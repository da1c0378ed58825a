//! Kernels whose groups hold tiles.

use super::Kind;
use super::types::{F32, I32, Num, Ty, USIZE};
use super::writer::{Writer, Zone};

/// Items of a group, in each dimension.
pub(super) const SIDE: usize = 8;
/// Rows and columns of tiles.
const EXTENTS: [usize; 5] = [1, 8, 8, 16, 16];
/// Tiles that are made of others, at most so deep.
const DEPTH: usize = 4;

/// A tile's element, rows and columns.
type Shape = (Num, usize, usize);

impl Writer {
    /// Parameters of a kernel whose groups hold tiles.
    pub fn declare_tiles(&mut self, range: &[usize]) {
        (self.tiles, self.twins, self.generic) = (true, None, false);
        let scalar = Ty::Num(self.rng.pick(&self.nums));
        self.param("s0", Kind::Scalar, scalar, vec![1]);
        for at in 0..self.rng.within(1, 3) {
            let element = Ty::Num(self.rng.pick(&self.nums));
            let extent = (0..2).map(|_| self.rng.within(1, 40)).collect();
            self.param(&format!("x{at}"), Kind::In, element, extent);
        }
        for at in 0..self.rng.within(1, 2) {
            let element = Ty::Num(self.rng.pick(&self.nums));
            let size = [self.rng.pick(&EXTENTS), self.rng.pick(&EXTENTS)];
            // What is beyond the last group, or the last tile beyond the view.
            let end = |(groups, size): (usize, usize)| groups * size + self.rng.below(4) - 1;
            let groups = range.iter().map(|items| items / SIDE);
            let extent = groups.zip(size).map(end).map(|n| n.max(1)).collect();
            self.param(&format!("y{at}"), Kind::Tile(size), element, extent);
        }
    }

    /// The kernel, but for its last brace.
    pub fn tile_kernel(&mut self) {
        self.preamble();
        self.head("g");
        self.line("let (row, column) = g.pos();");
        self.place_var("row");
        self.place_var("column");
        for _ in 0..self.rng.below(3) {
            self.simple();
        }
        for param in self.params.clone() {
            let (Kind::Tile([rows, columns]), Ty::Num(num)) = (param.kind, &param.element) else {
                continue;
            };
            let tile = self.tile((*num, rows, columns), DEPTH);
            let put = format!("{}.put(g, {tile});", param.name);
            match self.rng.chance(25) {
                true => {
                    let cond = self.condition();
                    self.line(&format!("if {cond} {{ {put} }}"));
                }
                false => self.line(&put),
            }
        }
    }

    /// A variable that is a tile of this shape.
    fn tile(&mut self, shape: Shape, depth: usize) -> String {
        let made = match self.rng.below(10) {
            _ if depth == 0 => self.loaded(shape),
            0 => self.filled_tile(shape),
            1 | 2 => self.loaded(shape),
            3 => self.mapped(shape, depth - 1),
            4 | 5 => self.zipped(shape, depth - 1),
            6 | 7 => self.folded(shape, depth - 1),
            _ => return self.product(shape, depth - 1),
        };
        let name = self.name("t");
        self.line(&format!("let mut {name} = {made};"));
        name
    }

    fn filled_tile(&mut self, (num, rows, columns): Shape) -> String {
        let of = format!("Tile::<{}, {rows}, {columns}>", num.name);
        match self.rng.chance(40) {
            true => format!("{of}::zero()"),
            false => format!("{of}::fill({})", self.expr(&Ty::Num(num))),
        }
    }

    /// A tile of a view, which may have another element.
    fn loaded(&mut self, (num, rows, columns): Shape) -> String {
        let views = self.params_of(|param| param.kind == Kind::In);
        let same = |view: &&super::Param| view.element == Ty::Num(num);
        let same: Vec<_> = views.iter().filter(same).cloned().collect();
        let view = self.some(&same).or_else(|| self.some(&views));
        let Some(view) = view else { return self.filled_tile((num, rows, columns)) };
        let how = self.rng.pick(&["tile", "tile_transposed"]);
        let mut at = |name: &str, by: usize| match self.rng.below(4) {
            0 => self.rng.below(30).to_string(),
            1 => format!("{name} * {by} + {}", self.rng.below(9)),
            _ => format!("{name} * {by}"),
        };
        let at = [at("row", rows), at("column", columns)].join(", ");
        let load = format!("{}.{how}::<{rows}, {columns}>(({at}))", view.name);
        match view.element {
            Ty::Num(of) if of != num => format!("{load}.map(|e| e as {})", num.name),
            _ => load,
        }
    }

    /// A function of elements, of these types.
    fn of_elements(&mut self, takes: &[(String, Num)], gives: Num) -> String {
        self.closure(Zone::Function, |writer| {
            for (name, num) in takes {
                writer.var(name, Ty::Num(*num), false);
            }
            writer.expr(&Ty::Num(gives))
        })
    }

    fn mapped(&mut self, (num, rows, columns): Shape, depth: usize) -> String {
        let of = self.rng.pick(&self.nums);
        let inner = self.tile((of, rows, columns), depth);
        let [r, c, e] = ["r", "c", "e"].map(|name| self.name(name));
        let indexed = self.rng.chance(50);
        let mut takes = vec![(e.clone(), of)];
        if indexed {
            takes.extend([(r.clone(), USIZE), (c.clone(), USIZE)]);
        }
        let value = self.of_elements(&takes, num);
        match indexed {
            true => format!("{inner}.map_indexed(|({r}, {c}), {e}| {value})"),
            false => format!("{inner}.map(|{e}| {value})"),
        }
    }

    fn zipped(&mut self, (num, rows, columns): Shape, depth: usize) -> String {
        let (of, other) = (self.rng.pick(&self.nums), self.rng.pick(&self.nums));
        let first = self.tile((of, rows, columns), depth);
        let one = |writer: &mut Writer, n| if writer.rng.chance(30) { 1 } else { n };
        let (other_rows, other_columns) = (one(self, rows), one(self, columns));
        let second = self.tile((other, other_rows, other_columns), depth);
        let [a, b] = ["e", "e"].map(|name| self.name(name));
        let value = self.of_elements(&[(a.clone(), of), (b.clone(), other)], num);
        format!("{first}.zip(&{second}, |{a}, {b}| {value})")
    }

    /// Rows or columns that are combined, where the tile has one.
    fn folded(&mut self, shape @ (num, rows, columns): Shape, depth: usize) -> String {
        if num.is_half() || (rows > 1 && columns > 1) {
            return self.mapped(shape, depth);
        }
        let bits: &[&str] = if num.is_float() { &[] } else { &["And", "Or", "Xor"] };
        let by = self.rng.pick(&[&["Add", "Mul", "Min", "Max"], bits].concat());
        let more = self.rng.pick(&[8, 16]);
        let (of, how) = match columns {
            1 => ((num, rows, more), "reduce_rows"),
            _ => ((num, more, columns), "reduce_columns"),
        };
        format!("{}.{how}::<{by}>()", self.tile(of, depth))
    }

    /// A tile to which products are added, or another one where there are none of its type.
    fn product(&mut self, shape @ (num, rows, columns): Shape, depth: usize) -> String {
        let factor = match num.name {
            "f32" => self.rng.pick(&["f32", "f32", "f16", "bf16"]),
            "i32" => self.rng.pick(&["i32", "i8", "u8"]),
            "f64" | "u32" | "i64" | "u64" => num.name,
            _ => {
                let of = self.rng.pick(&[F32, I32]);
                let sum = self.product((of, rows, columns), depth);
                let name = self.name("t");
                self.line(&format!("let mut {name} = {sum}.map(|e| e as {});", num.name));
                return name;
            }
        };
        let Some(factor) = Num::of_name(factor) else { return self.tile(shape, 0) };
        let (sum, inner) = (self.tile(shape, depth), self.rng.pick(&[8, 16]));
        let (a, b) =
            (self.tile((factor, rows, inner), depth), self.tile((factor, inner, columns), depth));
        match self.rng.chance(50) {
            true => self.line(&format!("{sum}.add_product(&{a}, &{b});")),
            false => {
                let (k, turns) = (self.name("k"), self.rng.within(1, 3));
                let again = self.loaded((factor, inner, columns));
                self.line(&format!("for {k} in 0..{turns}usize {{"));
                let first =
                    if self.rng.chance(50) { format!("&{a}") } else { format!("&{a}.clone()") };
                self.line(&format!("    if {k} != 1 {{ {sum}.add_product({first}, &{b}); }}"));
                self.line(&format!("    {sum}.add_product(&{a}, &{again});"));
                self.line("}");
            }
        }
        sum
    }
}
