//! Which recordings are open, so that the host does not take what was there before a command for
//! what that command will have written.

use super::Inner;
use crate::buffer::StorageHandle;
use crate::engine::terms::access::Mode;
use crate::error::{GraphError, Result};
use crate::geom::Box3;
use crate::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use std::thread::{self, ThreadId};

/// The recordings of a runtime.
#[derive(Default)]
pub(crate) struct Recordings {
    /// How many there are: host accesses take the lock only if there is one.
    count: AtomicUsize,
    open: Mutex<Vec<Open>>,
}

/// A recording.
struct Open {
    graph: Weak<Inner>,
    number: u64,
    /// The thread that began it, whose host accesses would be expected to see its commands.
    thread: ThreadId,
    /// The first node that it may have added.
    first: usize,
}

impl Recordings {
    pub(super) fn begin(&self, graph: &Arc<Inner>, number: u64, first: usize) {
        let (graph, thread) = (Arc::downgrade(graph), thread::current().id());
        let mut open = self.open.lock();
        open.push(Open { graph, number, thread, first });
        self.count.store(open.len(), Ordering::Relaxed);
    }

    pub(super) fn end(&self, graph: &Arc<Inner>, number: u64) {
        let mut open = self.open.lock();
        open.retain(|one| one.number != number || one.graph.as_ptr() != Arc::as_ptr(graph));
        self.count.store(open.len(), Ordering::Relaxed);
    }

    /// That no command which this thread has recorded writes elements that the host is to access,
    /// or uses elements that the host is to write.
    #[inline]
    pub(crate) fn check(&self, at: &StorageHandle, elements: &Box3, mode: Mode) -> Result<()> {
        // The thread sees its own stores.
        match self.count.load(Ordering::Relaxed) {
            0 => Ok(()),
            _ => self.check_open(at, elements, mode),
        }
    }

    #[cold]
    fn check_open(&self, at: &StorageHandle, elements: &Box3, mode: Mode) -> Result<()> {
        let thread = thread::current().id();
        let own: Vec<(Arc<Inner>, usize)> = {
            let open = self.open.lock();
            let own = open.iter().filter(|one| one.thread == thread);
            own.filter_map(|one| Some((one.graph.upgrade()?, one.first))).collect()
        };
        for (graph, first) in own {
            let found = graph.state.lock().conflicting(at.id, elements, mode);
            if let Some((_, command, writes)) = found.filter(|(at, ..)| *at >= first) {
                return Err(graph.error(GraphError::NotRunYet {
                    buffer: at.label.clone(),
                    doing: if mode.writes() { "written" } else { "read" },
                    command,
                    uses: if writes { "write" } else { "read" },
                    instead: match graph.once {
                        true => "do it after the block",
                        false => "end the recording, and run the graph",
                    },
                }));
            }
        }
        Ok(())
    }
}
