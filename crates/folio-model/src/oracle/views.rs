//! The memory that views give back.

use super::{Leeway, Oracle, Verdict};
use crate::program::{Access, Mode};
use crate::run::{Outcome, Record, Seen};
use folio_core::buffer::Policy;

impl Oracle<'_> {
    /// A handle is dropped.
    pub(super) fn drop_buffer(&mut self, buffer: usize, seen: &Seen) -> Verdict {
        if self.program.buffers[buffer].policy.is_view() {
            self.comes_back(buffer, seen)?;
        }
        self.storages[buffer].dropped = true;
        self.deallocate(buffer);
        Ok(())
    }

    /// The memory of a view has come back: with the latest contents, if they are written back.
    fn comes_back(&mut self, buffer: usize, seen: &Seen) -> Verdict {
        let policy = self.program.buffers[buffer].policy;
        let whole = self.whole(buffer);
        if policy.writes_back() {
            if let (Policy::AsyncWritebackView, Outcome::Failed(_, label)) = (policy, &seen.call) {
                let queue = self.program.queue_of(buffer);
                self.roots[queue].iter_mut().for_each(|roots| {
                    roots.insert(label.clone());
                });
            }
            return self.host(&whole, Mode::Read, None, seen).map(|_| ());
        }
        // The read fails with the failure of a command that should have written.
        let mut must = Vec::new();
        let may = self.meet(&[Access { view: whole, mode: Mode::Read }], 0, &mut must);
        let right = match &seen.call {
            Outcome::Fine => must.is_empty(),
            Outcome::Failed(_, label) => {
                must.contains(label) || may.contains(label) || self.excused(&whole, label)
            }
            _ => false,
        };
        if !right {
            return Err(format!("it ended with {:?}, not with {must:?} {may:?}", seen.call));
        }
        if let Outcome::Failed(_, label) = &seen.call
            && !must.contains(label)
            && !may.contains(label)
        {
            self.own.push(label.clone());
        }
        if self.leeway != Leeway::None && seen.call != Outcome::Fine {
            // Memory that a device has failed to write holds anything.
            return Ok(());
        }
        // Anything that was there once.
        self.storages[buffer].compare(&whole, &seen.data, true)
    }

    /// The results of views at the end.
    pub(super) fn backs(&mut self, record: &Record) -> Verdict {
        for (at, back) in record.backs.iter().enumerate() {
            let Some((call, data)) = back else { continue };
            let seen = Seen::at_the_end(call.clone(), data.clone());
            self.comes_back(at, &seen).map_err(|why| format!("buffer {at} came back: {why}"))?;
        }
        Ok(())
    }
}
