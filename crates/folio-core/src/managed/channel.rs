//! Channels: the way from one end to another, known as types. Here, between two executors.

use super::future::ManagedFuture;
use super::moves::{AnyExecutor, Pointers};
use crate::error::{Error, Label, Result};
use crate::pages::DomainId;

/// A way for data, from one end to another.
///
/// | from | to | `send` |
/// | --- | --- | --- |
/// | `&executor` | `&executor` | moves pointers, by the direct way between the two if there is one |
/// | [`Stream`](super::Stream) of a reader | `&executor` | fills a pointer, which moves there |
/// | `&executor` | [`Stream`](super::Stream) of a writer | writes a pointer's elements |
/// | [`AsyncStream`](super::AsyncStream) | `&executor` | as a reader, without blocking |
/// | `&executor` | [`AsyncStream`](super::AsyncStream) | as a writer, without blocking |
///
/// What goes through the host goes in chunks, of which one is on its way while another one is read
/// or written.
///
/// ```
/// use folio_core::managed::Channel;
/// # fn example(rt: &folio_core::Runtime) -> folio_core::Result<()> {
/// let (a, b) = (rt.executor("cuda:0")?, rt.executor("cuda:1")?);
/// let x = rt.managed_in::<f32>(&a.allocator(), 1024)?;
/// Channel::new(&a, &b).send(&x).wait()?;
/// assert!(x.is_accessible_on(&b));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Channel<From, To> {
    pub(super) from: From,
    pub(super) to: To,
    pub(super) chunk_bytes: usize,
}

/// A chunk is worth a transfer of its own, and several fit any host's memory.
const CHUNK_BYTES: usize = 1 << 20;

impl<From, To> Channel<From, To> {
    /// From one end to another.
    pub fn new(from: From, to: To) -> Channel<From, To> {
        Channel { from, to, chunk_bytes: CHUNK_BYTES }
    }

    /// How large the chunks of a stream are, about: whole elements, and whole pages of pointers
    /// that have several.
    #[must_use]
    pub fn chunk_bytes(self, bytes: usize) -> Channel<From, To> {
        Channel { chunk_bytes: bytes, ..self }
    }
}

impl<A: AnyExecutor, B: AnyExecutor> Channel<&A, &B> {
    /// Moves pointers from one executor to the other. A pointer that is elsewhere, and not on its
    /// way to the first, is [`Error::Inaccessible`], and none moves.
    pub fn send(&self, pointers: impl Pointers) -> ManagedFuture {
        let to = self.to.agent();
        to.submit(None, true, &mut |cg| {
            let source = self.domains()?[0];
            cg.named(&"send");
            if to.on_host {
                cg.bring_to_host();
            }
            pointers.declare(cg);
            for storage in cg.take_managed() {
                let Some(managed) = storage.managed.get() else { continue };
                let before = managed.before_command(source);
                let before = before.map_err(|elsewhere| elsewhere.error(&storage, source))?;
                cg.after_all(&before);
            }
            Ok(())
        })
    }

    /// True when data goes directly, not through the host's memory.
    pub fn is_direct(&self) -> Result<bool> {
        let [from, to] = self.domains()?;
        if from.is_host() || to.is_host() || from == to {
            return Ok(true);
        }
        let engine = &self.from.agent().queue.inner.core.engine;
        for agent in [self.from.agent(), self.to.agent()] {
            engine.open(agent.queue.device().at)?;
        }
        Ok(engine.enter(|ledger| ledger.topology.links.contains_key(&(from, to))))
    }

    fn domains(&self) -> Result<[DomainId; 2]> {
        let (from, to) = (self.from.agent(), self.to.agent());
        if !from.queue.inner.core.same(&to.queue.inner.core) {
            let label = Label::from(to.queue.device().name());
            return Err(Error::WrongRuntime { what: "executor", label, by: None });
        }
        Ok([from.domain(), to.domain()])
    }
}
