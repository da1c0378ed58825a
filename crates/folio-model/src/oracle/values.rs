//! The outputs of commands that ran.

use super::Oracle;
use crate::compute;
use crate::program::{Access, Action, Mode, Skip, View};
use crate::run::Seen;
use crate::typed::task_value;
use folio_core::geom::{Box3, Dims, linear};

pub(super) type Put = (View, Dims, Option<u64>);

impl Oracle<'_> {
    /// The outputs of a command, or those that it would have had: views, cells, values if known.
    pub(super) fn compute(
        &self,
        seen: &Seen,
        action: &Action,
        failed: Option<&str>,
    ) -> Result<Vec<Put>, String> {
        let salt = seen.id;
        let mut out = Vec::new();
        match action {
            Action::Kernel { range, accesses, skip, .. } => {
                self.kernel(salt, *range, accesses, *skip, &mut out);
            }
            Action::Task { read, write, skip, .. } => {
                let input: Vec<Option<u64>> = read.map(|r| self.values(&r)).unwrap_or_default();
                let known: Option<Vec<u64>> = input.iter().copied().collect();
                if let Some(known) = known.filter(|_| failed.is_none()) {
                    let digest = known.iter().fold(1, |d, v| compute::with(d, *v));
                    if digest != seen.digest {
                        return Err("a host task read something else".to_owned());
                    }
                }
                if let Some(w) = write {
                    self.task(salt, &input, w, *skip, &mut out);
                }
            }
            Action::Copy { from, to } | Action::RawCopy { from, to } => {
                for (source, target) in from.part.cells().zip(to.part.cells()) {
                    let value = self.storages[from.buffer].get(from, source);
                    out.push((*to, target, value));
                }
            }
            Action::Upload { to } | Action::Fill { to } | Action::RawFill { to } => {
                let fill = !matches!(action, Action::Upload { .. });
                for (item, cell) in to.part.cells().enumerate() {
                    let item = if fill { 0 } else { item };
                    out.push((*to, cell, Some(compute::given(salt, item))));
                }
            }
            Action::RawRun { read, write, .. } => {
                let input: Vec<Option<u64>> = read.map(|r| self.values(&r)).unwrap_or_default();
                let write = Access { view: *write, mode: Mode::Discard };
                self.task(salt, &input, &write, None, &mut out);
            }
            Action::UpdateHost { .. }
            | Action::Prefetch { .. }
            | Action::Advise { .. }
            | Action::RawHint { .. } => {}
        }
        Ok(out)
    }

    fn kernel(&self, salt: u32, range: Dims, accesses: &[Access], skip: Skip, out: &mut Vec<Put>) {
        for item in Box3::whole(range).cells() {
            let number = linear(range, item);
            let mut acc = Some(compute::start(salt, number));
            let reads = accesses.iter().filter(|a| a.mode == Mode::Read);
            for (nth, read) in reads.enumerate() {
                let [_, rows, columns] = read.view.part.extent();
                let volume = read.view.part.volume();
                if volume > 0 {
                    let at = compute::reads_at(salt, number, nth, volume);
                    let cell = [at / (rows * columns), at / columns % rows, at % columns];
                    let cell = plus(read.view.part.min, cell);
                    let value = self.storages[read.view.buffer].get(&read.view, cell);
                    acc = acc.zip(value).map(|(acc, v)| compute::with(acc, v));
                }
            }
            if !compute::writes(skip, number) {
                continue;
            }
            let (mut outs, mut inouts) = (0, 0);
            for access in accesses.iter().filter(|a| a.mode != Mode::Read) {
                let cell = plus(access.view.part.min, item);
                let value = if access.mode == Mode::ReadWrite {
                    inouts += 1;
                    let old = self.storages[access.view.buffer].get(&access.view, cell);
                    acc.zip(old).map(|(acc, old)| compute::updated(acc, old, inouts - 1))
                } else {
                    outs += 1;
                    acc.map(|acc| compute::written(acc, outs - 1))
                };
                out.push((access.view, cell, value));
            }
        }
    }

    fn task(
        &self,
        salt: u32,
        input: &[Option<u64>],
        write: &Access,
        skip: Skip,
        out: &mut Vec<Put>,
    ) {
        for (item, cell) in write.view.part.cells().enumerate() {
            if !compute::writes(skip, item) {
                continue;
            }
            let old = self.storages[write.view.buffer].get(&write.view, cell);
            let keep = !write.mode.discards();
            let at = compute::reads_at(salt, item, 0, input.len());
            let known = (input.is_empty() || input[at].is_some()) && (!keep || old.is_some());
            let plain: Vec<u64> = input.iter().map(|v| v.unwrap_or(0)).collect();
            let old = old.filter(|_| keep);
            out.push((write.view, cell, known.then(|| task_value(salt, item, &plain, old))));
        }
    }

    fn values(&self, view: &View) -> Vec<Option<u64>> {
        view.part.cells().map(|cell| self.storages[view.buffer].get(view, cell)).collect()
    }
}

fn plus(a: Dims, b: Dims) -> Dims {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}
