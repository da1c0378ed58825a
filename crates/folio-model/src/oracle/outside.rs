//! Changes of a buffer past its commands, when nothing is under way: memory given back, and memory
//! written by its address.

use super::{Guard, Leeway, Oracle, Verdict};
use crate::compute;
use crate::program::{Access, Mode, View};
use crate::run::{Outcome, Seen};

impl Oracle<'_> {
    /// Memory in `domain` goes unless somebody needs it.
    pub(super) fn release(&mut self, buffer: usize, domain: usize, seen: &Seen) -> Verdict {
        let holds = |guard: &Guard| guard.buffer == buffer && !guard.pages.is_empty();
        let held = self.guards.iter().any(holds);
        let pages = &mut self.storages[buffer].pages;
        let spec = &self.program.buffers[buffer];
        let expected = match pages.only_on(domain) {
            _ if domain == 0 && spec.policy.is_view() => &[Outcome::InUse][..],
            // Where there is no memory, nobody can be in the way.
            _ if held && (!pages.some_on(domain) || spec.evict.is_some()) => {
                &[Outcome::Fine, Outcome::InUse]
            }
            _ if held && !pages.doubted() => &[Outcome::InUse],
            _ if pages.doubted() || self.leeway == Leeway::Loss => {
                &[Outcome::Fine, Outcome::OnlyCopy, Outcome::InUse]
            }
            // Another copy may have gone, or this one.
            _ if spec.evict.is_some() => &[Outcome::Fine, Outcome::OnlyCopy],
            true => &[Outcome::OnlyCopy],
            false => &[Outcome::Fine],
        };
        if !expected.contains(&seen.call) {
            return Err(format!("release: {:?}, expected {expected:?}", seen.call));
        }
        if seen.call == Outcome::Fine {
            pages.leave(domain);
            self.released(buffer, domain);
        }
        Ok(())
    }

    /// A part was written in `domain`, unless a guard or a scope is in the way.
    pub(super) fn assume(&mut self, view: &View, domain: usize, seen: &Seen) -> Verdict {
        let access = Access { view: *view, mode: Mode::Discard };
        if self.refused(&seen.call) {
            return Ok(());
        }
        let expected = if self.held(&access) { Outcome::Held } else { Outcome::Fine };
        if seen.call != expected {
            return Err(format!("written by address: {:?}, expected {expected:?}", seen.call));
        }
        if expected == Outcome::Fine {
            self.assumed.push(view.buffer);
            self.mark(&[access], domain, None);
            if self.leeway != Leeway::None {
                let label = self.program.buffer_label(view.buffer);
                let (elements, _) = self.resolve(&access);
                let pages = &mut self.storages[view.buffer].pages;
                pages.taint(&elements, domain, &label);
                pages.doubt(&elements);
            }
            for (item, cell) in view.part.cells().enumerate() {
                let value = Some(compute::given(seen.id, item));
                self.storages[view.buffer].put(view, cell, value);
            }
        }
        Ok(())
    }
}
