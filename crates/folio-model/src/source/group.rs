//! Kernels of groups: uniform code, and phases.

use super::Kind;
use super::types::{INTEGERS, Ty};
use super::writer::{Writer, Zone};

impl Writer {
    /// The kernel, but for its last brace.
    pub fn group_kernel(&mut self) {
        self.preamble();
        self.head("g");
        for _ in 0..self.rng.below(3) {
            self.simple();
        }
        for _ in 0..self.rng.below(3) {
            self.kept();
        }
        self.phase(true);
        self.complete = true;
        self.group_elements();
        for _ in 0..self.rng.within(1, 3) {
            self.step();
        }
    }

    /// A value that items keep from phase to phase.
    fn kept(&mut self) {
        let (name, ty) = (self.name("kept"), self.any_type());
        let value = self.expr(&ty);
        self.line(&format!("let {name} = g.private({value});"));
        self.var(&name, ty, true);
        if let Some(var) = self.vars.last_mut() {
            var.kept = true;
        }
    }

    /// Writes the elements of the group.
    fn group_elements(&mut self) {
        for param in self.params_of(|param| param.kind == Kind::OfGroup) {
            let value = self.expr(&param.element);
            self.line(&format!("{}[g] = {value};", param.name));
        }
    }

    /// Something in uniform code.
    fn step(&mut self) {
        match self.rng.below(14) {
            0..=3 => self.phase(false),
            4 | 5 => self.simple(),
            6 => self.once(),
            7 => self.reduced(),
            8 => self.scanned(),
            9 => self.filled(),
            10 if self.nested < 2 => {
                let cond = self.condition();
                self.line(&format!("if {cond} {{"));
                self.scope(Writer::step);
                self.line("}");
            }
            11 if self.nested < 2 => {
                let (name, num) = (self.name("k"), self.integer());
                let most = self.rng.within(1, 3);
                self.line(&format!("for {name} in 0{}..{most} {{", num.name));
                self.scope(|writer| {
                    writer.var(&name, Ty::Num(num), false);
                    writer.step();
                    writer.step();
                });
                self.line("}");
            }
            12 => {
                let cond = self.condition();
                self.line(&format!("if {cond} {{ return; }}"));
            }
            _ => self.kept(),
        }
    }

    /// In the code of a closure nothing of the group changes.
    pub(super) fn closure<R>(&mut self, zone: Zone, fill: impl FnOnce(&mut Writer) -> R) -> R {
        let before = self.vars.clone();
        self.vars.iter_mut().for_each(|var| var.mutable &= var.kept);
        let open = std::mem::take(&mut self.open);
        let locals = self.params_of(|param| matches!(param.kind, Kind::Local(_)));
        if zone == Zone::Items {
            let written = locals.into_iter().filter(|_| self.rng.chance(60));
            self.written = written.map(|param| param.name).collect();
        }
        self.zone = zone;
        self.nested += 1;
        let spine = std::mem::replace(&mut self.spine, zone == Zone::Items);
        let result = fill(self);
        self.spine = spine;
        self.nested -= 1;
        self.zone = Zone::Uniform;
        self.written.clear();
        self.open = open;
        self.vars = before;
        result
    }

    fn phase(&mut self, first: bool) {
        self.line("g.each(|i| {");
        self.closure(Zone::Items, |writer| {
            writer.positions();
            if first {
                writer.write_outputs();
                writer.complete = true;
                if writer.prints() {
                    writer.print();
                }
            }
            for name in writer.written.clone() {
                let tile = writer.params_of(|param| param.name == name);
                for tile in tile {
                    let value = writer.expr(&tile.element);
                    writer.line(&format!("{name}[i] = {value};"));
                }
            }
            let most = if writer.fit { 5 } else { 2 };
            for _ in 0..writer.rng.within(1, most).min(writer.left) {
                writer.statement();
            }
            writer.write_what_is_known();
        });
        self.line("});");
    }

    fn once(&mut self) {
        self.line("g.once(|| {");
        self.closure(Zone::Once, |writer| {
            for param in writer.params.clone() {
                if let Kind::Local(n) = param.kind
                    && writer.rng.chance(50)
                {
                    let at = writer.index(&n.to_string(), n);
                    let value = writer.expr(&param.element);
                    writer.line(&format!("{}[{at}] = {value};", param.name));
                }
            }
            for counts in writer.params_of(|param| matches!(param.kind, Kind::LocalAtomic(_))) {
                let (name, last) = (writer.name("count"), writer.rng.below(8));
                writer.line(&format!("let {name} = {}.load({last});", counts.name));
                writer.var(&name, counts.element, false);
            }
            writer.group_elements();
            writer.block();
        });
        self.line("});");
    }

    /// The closure's body, behind `|i|`.
    fn given(&mut self, ty: &Ty) -> String {
        self.closure(Zone::Gives, |writer| {
            let value = writer.expr(ty);
            let names = match writer.rank {
                1 => "let at0 = i.index();",
                _ => "let (at0, at1) = i.pos();",
            };
            format!("{{ {names} {value} }}")
        })
    }

    /// A number and what combines it: formats of storage have nothing that does.
    pub(super) fn combining(&mut self) -> (Ty, &'static str) {
        let all = self.nums.iter().copied().filter(|num| !["f16", "bf16"].contains(&num.name));
        let all: Vec<_> = all.collect();
        let num = self.rng.pick(if all.is_empty() { &INTEGERS[..] } else { &all });
        let bits: &[&str] = if num.is_float() { &[] } else { &["And", "Or", "Xor"] };
        let all = [&["Add", "Mul", "Min", "Max"], bits].concat();
        (Ty::Num(num), self.rng.pick(&all))
    }

    fn reduced(&mut self) {
        let (ty, by) = self.combining();
        let (name, value) = (self.name("all"), self.given(&ty));
        self.line(&format!("let {name} = g.reduce::<{by}>(|i| {value});"));
        self.var(&name, ty, false);
    }

    fn scanned(&mut self) {
        let (ty, by) = self.combining();
        let (name, value) = (self.name("scan"), self.given(&ty));
        let how = self.rng.pick(&["inclusive_scan", "exclusive_scan"]);
        self.line(&format!("let {name} = g.{how}::<{by}>(|i| {value});"));
        self.var(&name, ty, true);
        if let Some(var) = self.vars.last_mut() {
            var.kept = true;
        }
    }

    /// A local array as a whole.
    fn filled(&mut self) {
        let tiles = self.params_of(|param| matches!(param.kind, Kind::Local(_)));
        let Some(tile) = self.some(&tiles) else { return self.simple() };
        let slot = self.name("k");
        let value = self.closure(Zone::Once, |writer| {
            writer.written.push(tile.name.clone());
            writer.var(&slot, Ty::Num(super::types::USIZE), false);
            writer.expr(&tile.element)
        });
        self.line(&format!("{}.fill(|{slot}| {value});", tile.name));
    }
}
