//! Channels from and to I/O streams, in chunks: while one is on its way between the host and the
//! executor, the stream reads or writes another one.
//!
//! Elements pass as they lie in memory. A pointer is seen as bytes here (`reinterpreted`), so that
//! chunks need no conversion.

use super::channel::Channel;
use super::future::ManagedFuture;
use super::moves::{Agent, AnyExecutor, out_of_reach, reaches, refuse_in_task};
use super::pointer::{ManagedPtr, Permission};
use super::whereabouts::{Ticket, held};
use crate::buffer::{SliceMut, View, reinterpreted, vec_from_anywhere};
use crate::element::DeviceType;
use crate::error::{Error, Result};
use crate::event::Event;
use crate::geom::Box3;
use smallvec::SmallVec;
use std::future::poll_fn;
use std::io::{self, ErrorKind, Read, Write};
use std::sync::Arc;
use std::task::{Context, Poll};

/// Chunks that are on their way at once: one moves while the stream has another one.
const IN_FLIGHT: usize = 2;

/// A reader or a writer at the end of a [`Channel`], also by `&mut`.
///
/// ```
/// use folio_core::managed::{Channel, Stream};
/// # fn example(rt: &folio_core::Runtime) -> Result<(), Box<dyn std::error::Error>> {
/// let gpu = rt.executor("gpu")?;
/// let image = rt.managed::<u8>(1920 * 1080)?;
/// let file = std::fs::File::open("image.raw")?;
/// Channel::new(Stream(file), &gpu).send(&image).wait()?;
/// let mut out = std::fs::File::create("copy.raw")?;
/// Channel::new(&gpu, Stream(&mut out)).send(&image)?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Stream<S>(pub S);

/// A stream at the end of a [`Channel`] that is polled: a closure, so that any library's will do.
///
/// ```
/// use folio_core::managed::{AsyncStream, Channel};
/// # use std::task::Poll;
/// # async fn example(rt: &folio_core::Runtime) -> folio_core::Result<()> {
/// # let mut file = std::io::empty();
/// let (gpu, x) = (rt.executor("gpu")?, rt.managed::<u32>(1024)?);
/// // With the trait of the crate `futures`: `Pin::new(&mut file).poll_read(cx, bytes)`.
/// # let mut read = |bytes: &mut [u8]| std::io::Read::read(&mut file, bytes);
/// let stream = AsyncStream::reader(|_cx, bytes| Poll::Ready(read(bytes)));
/// Channel::new(stream, &gpu).send(&x).await.await
/// # }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct AsyncStream<F>(F);

impl<F: FnMut(&mut Context<'_>, &mut [u8]) -> Poll<io::Result<usize>>> AsyncStream<F> {
    /// One that is read: `poll` puts bytes into a slice and says how many, none at the end.
    pub fn reader(poll: F) -> AsyncStream<F> {
        AsyncStream(poll)
    }
}

impl<F: FnMut(&mut Context<'_>, &[u8]) -> Poll<io::Result<usize>>> AsyncStream<F> {
    /// One that is written: `poll` takes bytes from a slice and says how many.
    pub fn writer(poll: F) -> AsyncStream<F> {
        AsyncStream(poll)
    }
}

impl<R: Read, B: AnyExecutor> Channel<Stream<R>, &B> {
    /// Fills a pointer from the stream and moves it to the executor. Blocks while the stream does;
    /// the last chunks arrive with the future.
    ///
    /// A stream that ends early or fails is [`Error::Stream`]. Then the pointer stays where it was,
    /// and the elements of complete chunks are the stream's.
    pub fn send<T: DeviceType>(&mut self, pointer: &ManagedPtr<T>) -> ManagedFuture {
        ManagedFuture { result: self.try_send(pointer) }
    }

    fn try_send<T: DeviceType>(&mut self, pointer: &ManagedPtr<T>) -> Result<Event> {
        let mut inflow = Inflow::begin(self.to.agent(), pointer, self.chunk_bytes)?;
        let mut bytes = Vec::new();
        while let Some((_, len)) = inflow.chunks.at(inflow.given.len()) {
            if let Some(event) = inflow.must_wait_for() {
                event.wait()?;
            }
            bytes.resize(len, 0);
            let read = self.from.0.read_exact(&mut bytes);
            read.map_err(|cause| inflow.chunks.failed(inflow.given.len(), cause))?;
            inflow.give(&bytes)?;
        }
        inflow.end()
    }
}

impl<F, B: AnyExecutor> Channel<AsyncStream<F>, &B>
where
    F: FnMut(&mut Context<'_>, &mut [u8]) -> Poll<io::Result<usize>>,
{
    /// As that of a [`Stream`], without blocking.
    pub async fn send<T: DeviceType>(&mut self, pointer: &ManagedPtr<T>) -> ManagedFuture {
        ManagedFuture { result: self.try_send(pointer).await }
    }

    async fn try_send<T: DeviceType>(&mut self, pointer: &ManagedPtr<T>) -> Result<Event> {
        let mut inflow = Inflow::begin(self.to.agent(), pointer, self.chunk_bytes)?;
        let mut bytes = Vec::new();
        while let Some((_, len)) = inflow.chunks.at(inflow.given.len()) {
            if let Some(event) = inflow.must_wait_for() {
                event.await?;
            }
            bytes.resize(len, 0);
            let mut done = 0;
            while done < len {
                let read = poll_fn(|cx| (self.from.0)(cx, &mut bytes[done..])).await;
                let read = progress(read, len - done, ErrorKind::UnexpectedEof);
                done += read.map_err(|cause| inflow.chunks.failed(inflow.given.len(), cause))?;
            }
            inflow.give(&bytes)?;
        }
        inflow.end()
    }
}

impl<A: AnyExecutor, W: Write> Channel<&A, Stream<W>> {
    /// Writes a pointer's elements to the stream. The pointer is accessible on the executor, and
    /// stays there.
    pub fn send<T: DeviceType, U: Permission>(&mut self, pointer: &ManagedPtr<T, U>) -> Result<()> {
        let mut outflow = Outflow::begin(self.from.agent(), pointer, self.chunk_bytes)?;
        let mut nth = 0;
        while let Some(arrived) = outflow.ask(nth)? {
            arrived.wait()?;
            let written = self.to.0.write_all(&outflow.take(nth)?);
            written.map_err(|cause| outflow.chunks.failed(nth, cause))?;
            nth += 1;
        }
        self.to.0.flush().map_err(|cause| outflow.chunks.failed(nth, cause))
    }
}

impl<A: AnyExecutor, F> Channel<&A, AsyncStream<F>>
where
    F: FnMut(&mut Context<'_>, &[u8]) -> Poll<io::Result<usize>>,
{
    /// As that of a [`Stream`], without blocking. What the stream buffers is its own to flush.
    pub async fn send<T: DeviceType, U: Permission>(
        &mut self,
        pointer: &ManagedPtr<T, U>,
    ) -> Result<()> {
        let mut outflow = Outflow::begin(self.from.agent(), pointer, self.chunk_bytes)?;
        let mut nth = 0;
        while let Some(arrived) = outflow.ask(nth)? {
            arrived.await?;
            let bytes = outflow.take(nth)?;
            let mut done = 0;
            while done < bytes.len() {
                let wrote = poll_fn(|cx| (self.to.0)(cx, &bytes[done..])).await;
                let wrote = progress(wrote, bytes.len() - done, ErrorKind::WriteZero);
                done += wrote.map_err(|cause| outflow.chunks.failed(nth, cause))?;
            }
            nth += 1;
        }
        Ok(())
    }
}

/// What a stream has done, of at most `most` bytes: an error, if it was nothing.
fn progress(done: io::Result<usize>, most: usize, nothing: ErrorKind) -> io::Result<usize> {
    match done {
        Ok(0) => Err(nothing.into()),
        Err(error) if error.kind() == ErrorKind::Interrupted => Ok(0),
        done => done.map(|done| done.min(most)),
    }
}

/// A pointer's bytes in chunks.
struct Chunks {
    bytes: View,
    chunk: usize,
}

impl Chunks {
    fn of(view: &View, chunk_bytes: usize) -> Result<Chunks> {
        let (len, element) = (Box3::whole(view.dims).volume(), view.element_bytes);
        // Cut elsewhere than at a page's end, a chunk would bring what belongs to the next one.
        let page = view.storage.grid.page[2] * element;
        let chunk = chunk_bytes.max(1).div_ceil(page).saturating_mul(page);
        let whole = len * element;
        Ok(Chunks { bytes: reinterpreted::<u8, 1>(view, [whole])?, chunk: chunk.min(whole) })
    }

    /// Where chunk `nth` begins, and its bytes.
    fn at(&self, nth: usize) -> Option<(usize, usize)> {
        let (first, all) = (nth.checked_mul(self.chunk)?, self.bytes.dims[2]);
        (first < all).then(|| (first, self.chunk.min(all - first)))
    }

    fn slice(&self, nth: usize) -> Result<Option<SliceMut<'_, u8>>> {
        let slice = |(at, len)| SliceMut::new(&self.bytes, [0, 0, at], [1, 1, len]);
        self.at(nth).map(slice).transpose()
    }

    /// The stream failed in chunk `nth`.
    #[cold]
    fn failed(&self, nth: usize, cause: io::Error) -> Error {
        let (pointer, bytes) = (self.bytes.storage.label.clone(), (nth * self.chunk) as u64);
        Error::Stream { pointer, bytes, cause: Arc::new(cause) }
    }
}

/// A pointer that is being filled from a stream. Dropped before its end, it stays where it was.
struct Inflow<'a> {
    agent: &'a Agent,
    chunks: Chunks,
    ticket: Option<Ticket>,
    given: SmallVec<[Event; 6]>,
}

impl<'a> Inflow<'a> {
    fn begin<T: DeviceType>(
        agent: &'a Agent,
        pointer: &ManagedPtr<T>,
        chunk_bytes: usize,
    ) -> Result<Inflow<'a>> {
        let chunks = Chunks::of(&pointer.view, chunk_bytes)?;
        let storage = &pointer.view.storage;
        refuse_in_task(storage)?;
        if !reaches(storage, agent.on_host, agent.domain()) {
            return Err(out_of_reach(storage, agent.queue.device().name()));
        }
        let begun = storage.managed.get().map(|managed| managed.begin(agent.domain()));
        let ticket = begun.transpose().map_err(|_| held(&storage.label))?.flatten();
        Ok(Inflow { agent, chunks, ticket, given: SmallVec::new() })
    }

    /// The chunk that has to arrive before the next one is read.
    fn must_wait_for(&self) -> Option<Event> {
        self.given.len().checked_sub(IN_FLIGHT).map(|at| self.given[at].clone())
    }

    fn give(&mut self, bytes: &[u8]) -> Result<()> {
        let Some(mut slice) = self.chunks.slice(self.given.len())? else { return Ok(()) };
        let event = self.agent.queue.submit(|cg| {
            if self.agent.on_host {
                let (to, bytes) = (cg.discard(&mut slice), bytes.to_vec());
                cg.host_task(to, move |mut to| to.copy_from_slice(&bytes));
            } else {
                cg.copy_from_slice(bytes, &mut slice);
            }
            cg.named(&"receive").take_managed();
            Ok(())
        })?;
        self.given.push(event);
        Ok(())
    }

    fn end(mut self) -> Result<Event> {
        let storage = self.chunks.bytes.storage.clone();
        let event = Event::of_all(&storage.core, std::mem::take(&mut self.given));
        if let Some(managed) = storage.managed.get() {
            managed.moved(self.ticket.take(), &event, &self.agent.queue);
        }
        Ok(event)
    }
}

impl Drop for Inflow<'_> {
    fn drop(&mut self) {
        if let Some(managed) = self.chunks.bytes.storage.managed.get() {
            managed.stayed(self.ticket);
        }
    }
}

/// A pointer that is being written to a stream.
struct Outflow<'a> {
    agent: &'a Agent,
    chunks: Chunks,
    /// The move that brings it to where it is read.
    after: SmallVec<[Event; 2]>,
    asked: Vec<Event>,
}

impl<'a> Outflow<'a> {
    fn begin<T: DeviceType, U: Permission>(
        agent: &'a Agent,
        pointer: &ManagedPtr<T, U>,
        chunk_bytes: usize,
    ) -> Result<Outflow<'a>> {
        let chunks = Chunks::of(&pointer.view, chunk_bytes)?;
        let (storage, domain) = (&pointer.view.storage, agent.domain());
        refuse_in_task(storage)?;
        let after = match storage.managed.get() {
            Some(managed) => managed
                .before_command(domain)
                .map_err(|elsewhere| elsewhere.error(storage, domain))?,
            None => SmallVec::new(),
        };
        Ok(Outflow { agent, chunks, after, asked: Vec::new() })
    }

    /// When chunk `nth` is on the host; the chunks after it are on their way then.
    fn ask(&mut self, nth: usize) -> Result<Option<Event>> {
        while self.asked.len() < nth + IN_FLIGHT
            && let Some(slice) = self.chunks.slice(self.asked.len())?
        {
            let event = self.agent.queue.submit(|cg| {
                cg.after_all(&self.after);
                cg.named(&"send").bring_to_host();
                cg.read(&slice);
                cg.take_managed();
                Ok(())
            })?;
            self.asked.push(event);
        }
        Ok(self.asked.get(nth).cloned())
    }

    /// The bytes of chunk `nth`.
    fn take(&self, nth: usize) -> Result<Vec<u8>> {
        let slice = self.chunks.slice(nth)?;
        slice.map_or(Ok(Vec::new()), |slice| vec_from_anywhere(&slice.part))
    }
}
