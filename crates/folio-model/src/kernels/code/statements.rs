//! Random statements.

use super::{Code, Zone};
use crate::kernels::View;
use folio_kernel::{
    Access, Binary, Builder, Compare, Hop, Label, Owner, Place, Scalar, Site, Stmt, Type, Value,
};

impl Code {
    pub(super) fn statements(&mut self) {
        while self.left > 0 {
            self.statement();
        }
    }

    pub(super) fn statements_of(&mut self, many: usize) {
        for _ in 0..many.min(self.left) {
            self.statement();
        }
    }

    fn statement(&mut self) {
        self.left = self.left.saturating_sub(1);
        // Directly in a phase, where every item arrives.
        let whole = self.groups && self.zone == Zone::Items && self.depth == 1 && !self.parted;
        if whole && self.rng.chance(25) {
            return self.together();
        }
        match self.rng.below(16) {
            0..=4 => {
                let value = self.any();
                self.know(value);
            }
            5 | 6 => self.set_variable(),
            7 | 8 => self.store(),
            9 | 10 if self.depth < 4 => self.branch(),
            11 if self.depth < 4 => self.counted(),
            12 if self.depth < 4 => self.nested(),
            13 => self.exit(),
            14 => self.rare(),
            _ => {
                let value = self.memory();
                self.know(value);
            }
        }
    }

    fn set_variable(&mut self) {
        let writable = self.zone != Zone::Once;
        let Some((var, ty)) = self.some(&self.vars.clone()).filter(|_| writable) else { return };
        let (place, ty) = self.within(Place::var(var), ty);
        let value = self.of_type(ty);
        self.builder.store(place, value);
    }

    pub(super) fn some<T: Copy>(&mut self, of: &[T]) -> Option<T> {
        if of.is_empty() { None } else { Some(self.rng.pick(of)) }
    }

    /// A place in a place, sometimes by an index that may be out of bounds.
    pub(super) fn within(&mut self, mut place: Place, mut ty: Type) -> (Place, Type) {
        while self.builder.kernel().types.parts(ty) > 0 && self.rng.chance(60) {
            let parts = self.builder.kernel().types.parts(ty);
            let is_array = matches!(
                self.builder.kernel().types.get(ty),
                Some(folio_kernel::Composite::Array { .. })
            );
            let part = self.rng.below(parts as usize) as u32;
            let next = self.builder.kernel().types.part(ty, part);
            if is_array && self.rng.chance(60) {
                let index = self.index_below(u64::from(parts));
                place.path.push(Hop::At(index));
            } else {
                place.path.push(Hop::Part(part));
            }
            ty = next.unwrap_or(ty);
        }
        (place, ty)
    }

    pub(super) fn store(&mut self) {
        let writes = |view: &View| view.access != Access::In && view.owner != Owner::Atomic;
        let views: Vec<_> = self.views.iter().copied().filter(writes).collect();
        let Some(view) = self.some(&views) else { return };
        if view.owner.line().is_some() {
            return self.write_whole(view);
        }
        let Some(at) = self.own(view) else { return };
        let (place, ty) = self.within(Place::element(view.param, at), view.element);
        let value = self.of_type(ty);
        self.builder.store(place, value);
    }

    fn branch(&mut self) {
        let cond = self.condition();
        let mut builder = self.lend();
        let (mut then, mut otherwise) = (true, self.rng.chance(40));
        // Both closures need the generator: one after the other.
        let code = std::cell::RefCell::new(&mut *self);
        let fill = |go: &mut bool, b: &mut Builder| {
            if *go {
                let mut code = code.borrow_mut();
                code.inside(b, |code| {
                    let many = code.rng.within(1, 3);
                    code.statements_of(many);
                });
            }
        };
        builder.if_else(cond, |b| fill(&mut then, b), |b| fill(&mut otherwise, b));
        self.builder = builder;
    }

    pub(super) fn condition(&mut self) -> Value {
        let scalar = self.rng.pick(&[Scalar::U64, Scalar::F32, Scalar::U64]);
        let (a, b) = (self.of_type(scalar.into()), self.of_type(scalar.into()));
        let op = self.rng.pick(Compare::ALL);
        self.builder.compare(op, a, b)
    }

    fn counted(&mut self) {
        let scalar = self.rng.pick(&[Scalar::U64, Scalar::I32, Scalar::U8]);
        let start = self.rng.below(3) as i128;
        let start = self.builder.int(scalar, start);
        let end = match self.rng.chance(70) {
            true => {
                let end = self.rng.below(5) as i128;
                self.builder.int(scalar, end)
            }
            false => {
                let any = self.of_type(scalar.into());
                let mask = self.builder.int(scalar, 3);
                self.builder.binary(Binary::And, any, mask)
            }
        };
        let mut builder = self.lend();
        builder.for_range(start, end, |b, index, label| {
            self.inside(b, |code| {
                code.know(index);
                code.looped(label, true);
            });
        });
        self.builder = builder;
    }

    fn looped(&mut self, label: Label, is_loop: bool) {
        self.open.push((label, is_loop));
        let many = self.rng.within(1, 3);
        self.statements_of(many);
        self.open.pop();
    }

    /// A block, or a loop that is left when a variable of its own has counted to 3.
    fn nested(&mut self) {
        if self.rng.chance(50) {
            let mut builder = self.lend();
            builder.scope(|b, label| self.inside(b, |code| code.looped(label, false)));
            self.builder = builder;
            return;
        }
        let uniform = self.zone == Zone::Uniform;
        if self.zone == Zone::Once {
            return;
        }
        let count = self.builder.var("count", Scalar::U64, uniform);
        let zero = self.builder.index(0);
        self.builder.set(count, zero);
        let mut builder = self.lend();
        let cond = |b: &mut Builder| {
            let (now, three, one) = (b.get(count), b.index(3), b.index(1));
            let go = b.compare(Compare::Lt, now, three);
            let next = b.binary(Binary::Add, now, one);
            b.set(count, next);
            go
        };
        builder.while_loop(cond, |b, label| {
            self.inside(b, |code| {
                let now = code.builder.get(count);
                code.know(now);
                code.looped(label, true);
            });
        });
        self.builder = builder;
    }

    /// Leaves something, under a condition.
    fn exit(&mut self) {
        let Some((label, is_loop)) = self.some(&self.open.clone()) else {
            // Before outputs are written this would be refused; they are written first.
            if self.zone != Zone::Uniform && self.rng.chance(50) {
                let cond = self.condition();
                self.builder.if_then(cond, |b| b.push(Stmt::Return));
                self.parted = true;
            }
            return;
        };
        let repeats = is_loop && self.rng.chance(50);
        let stmt = if repeats { Stmt::Continue(label) } else { Stmt::Break(label) };
        let cond = self.condition();
        self.builder.if_then(cond, |b| b.push(stmt));
    }

    /// Contributions, assertions, and what there is in phases only.
    fn rare(&mut self) {
        match self.rng.below(3) {
            0 if self.zone != Zone::Uniform => {
                if let Some((param, scalar)) = self.some(&self.reduces.clone()) {
                    let value = self.of_type(scalar.into());
                    self.builder.push(Stmt::Contribute { param, value });
                }
            }
            1 if self.rng.chance(30) => {
                let cond = self.condition();
                let site = Site { file: "k.rs".into(), line: 1, column: 1, message: None };
                self.builder.assert(cond, site);
                self.parted = true;
            }
            _ => {}
        }
    }
}
