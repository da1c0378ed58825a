//! Channels from and to streams.

use super::super::events::block_on;
use super::super::tests;
use super::*;
use folio_core::managed::{AnyExecutor, AsyncStream, Channel, Stream};
use std::io::{self, Read, Write};
use std::task::Poll;

tests![
    streams_fill_pointers_and_take_their_elements,
    streams_that_are_polled,
    streams_that_fail_leave_pointers_where_they_were,
];

/// Not a multiple of any chunk.
const N: usize = 1001;

fn bytes() -> Vec<u8> {
    (0..N as i32).flat_map(i32::to_ne_bytes).collect()
}

fn numbers() -> Vec<i32> {
    (0..N as i32).collect()
}

/// A stream that gives and takes a few bytes at a time.
struct Slow<S>(S);

impl<R: Read> Read for Slow<R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let few = bytes.len().min(13);
        self.0.read(&mut bytes[..few])
    }
}

impl<W: Write> Write for Slow<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(&bytes[..bytes.len().min(17)])
    }
    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// A pointer with pages of 16 elements, so that it has chunks.
fn paged(rig: &Rig) -> Result<ManagedPtr<i32>, Stop> {
    let options = folio_core::BufferOptions::new().page([16]).label("streamed");
    Ok(rig.rt.managed_with(N, options)?)
}

fn there_and_back(rig: &Rig, executor: &impl AnyExecutor, chunk: usize) -> Outcome {
    let x = paged(rig)?;
    let source = bytes();
    let stream = Stream(Slow(&source[..]));
    Channel::new(stream, executor).chunk_bytes(chunk).send(&x).wait()?;
    ensure!(x.is_accessible_on(executor), "it is where the stream went");
    let mut out = Vec::new();
    Channel::new(executor, Stream(Slow(&mut out))).chunk_bytes(chunk).send(&x)?;
    ensure!(out == source, "other bytes came back");
    ensure!(x.is_accessible_on(executor), "it stays there");
    x.get().wait()?;
    is_home(&x, &numbers())
}

/// MPTR-06
fn streams_fill_pointers_and_take_their_elements(rig: &Rig) -> Outcome {
    for gpu in executors(rig)? {
        for chunk in [1, 64, 500, 1 << 20] {
            there_and_back(rig, &gpu, chunk)?;
        }
    }
    there_and_back(rig, &rig.rt.host_executor()?, 64)?;
    let none = rig.rt.managed::<i32>(0)?;
    let gpu = far(rig)?;
    Channel::new(Stream(io::empty()), &gpu).send(&none).wait()?;
    Channel::new(&gpu, Stream(io::sink())).send(&none)?;
    Ok(())
}

/// MPTR-06
fn streams_that_are_polled(rig: &Rig) -> Outcome {
    for gpu in executors(rig)? {
        let x = paged(rig)?;
        let source = bytes();
        let (mut rest, mut asked) = (&source[..], 0);
        // Ready every other time.
        let stream = AsyncStream::reader(|cx, bytes| {
            asked += 1;
            if asked % 2 == 1 {
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
            let few = bytes.len().min(100);
            Poll::Ready(rest.read(&mut bytes[..few]))
        });
        let sent = async { Channel::new(stream, &gpu).chunk_bytes(64).send(&x).await.await };
        block_on(sent)??;
        is_on(&x, &gpu)?;
        let (mut out, mut asked) = (Vec::new(), 0);
        let stream = AsyncStream::writer(|cx, bytes| {
            asked += 1;
            if asked % 2 == 1 {
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
            out.extend_from_slice(&bytes[..bytes.len().min(50)]);
            Poll::Ready(Ok(bytes.len().min(50)))
        });
        block_on(Channel::new(&gpu, stream).chunk_bytes(64).send(&x))??;
        ensure!(out == source, "other bytes came back");
    }
    Ok(())
}

/// MPTR-04, MPTR-06
fn streams_that_fail_leave_pointers_where_they_were(rig: &Rig) -> Outcome {
    let gpu = far(rig)?;
    let x = paged(rig)?;
    x.discard()?.fill(-1);
    let source = bytes();
    let short = Stream(&source[..160]);
    let sent = Channel::new(short, &gpu).chunk_bytes(64).send(&x);
    refused!(sent.wait(), Error::Stream { bytes: 128, .. });
    ensure!(x.is_accessible(), "it stayed on the host");
    let seen = x.to_vec()?;
    ensure_eq!(seen[..32], numbers()[..32], "complete chunks have arrived");
    ensure_eq!(seen[32..], vec![-1; N - 32]);
    if is_away(&gpu) {
        let sent = Channel::new(&gpu, Stream(io::sink())).send(&x);
        refused!(sent, Error::Inaccessible { .. });
        let guard = x.read()?;
        let sent = Channel::new(Stream(&source[..]), &gpu).send(&x);
        refused!(sent.wait(), Error::HostAccessHeld { .. });
        drop(guard);
    }
    gpu.put(&x).wait()?;
    let mut room = [0; 100];
    let sent = Channel::new(&gpu, Stream(&mut room[..])).chunk_bytes(64).send(&x);
    refused!(sent, Error::Stream { bytes: 64, .. });
    is_on(&x, &gpu)
}
