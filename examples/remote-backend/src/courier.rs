//! The courier: a thread that has this end of the socket, and what it tells.

use crate::wire::{Message, receive, rows, send, words};
use crate::{lock, server};
use folio_core::hal::*;
use std::collections::HashMap;
use std::io::{self, BufReader, BufWriter};
use std::os::unix::net::UnixStream;
use std::process::Child;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex};

/// The tasks of the courier.
pub enum Task {
    /// Something that is no operation, and cannot fail but with the device.
    Request(Message),
    /// An operation of a lane.
    Operation { lane: u64, tick: Tick, work: Work },
}

/// The work of an operation.
pub enum Work {
    Copy(Vec<CopyRect>),
    Fill(Vec<FillRect>, Vec<u8>),
    Launch(Message),
    Join,
}

/// How far the lanes are.
#[derive(Default)]
pub struct Progress {
    pub lost: Option<Lost>,
    pub lanes: HashMap<u64, LaneProgress>,
}

#[derive(Default)]
pub struct LaneProgress {
    pub ended: Tick,
    pub failures: Vec<(Tick, HalError)>,
}

/// This end of the device. The thread ends, and the process, when the last clone is dropped.
#[derive(Clone)]
pub struct Courier {
    tasks: Sender<Task>,
    pub shared: Arc<(Mutex<Progress>, Condvar)>,
}

impl Courier {
    pub fn start(socket: UnixStream, process: Child, notify: Notify) -> io::Result<Courier> {
        let (tasks, given) = channel();
        let shared = Arc::<(Mutex<Progress>, Condvar)>::default();
        let (from, to) = (BufReader::new(socket.try_clone()?), BufWriter::new(socket));
        let thread = Thread { from, to, shared: shared.clone(), notify };
        std::thread::Builder::new()
            .name("remote courier".into())
            .spawn(move || thread.work(&given, process))?;
        Ok(Courier { tasks, shared })
    }

    pub fn give(&self, task: Task) -> Result<(), HalError> {
        if let Some(lost) = &lock(&self.shared.0).lost {
            return Err(lost.clone().into());
        }
        let lost = |_| Lost::new("the courier has ended").into();
        self.tasks.send(task).map_err(lost)
    }
}

struct Thread {
    from: BufReader<UnixStream>,
    to: BufWriter<UnixStream>,
    shared: Arc<(Mutex<Progress>, Condvar)>,
    notify: Notify,
}

impl Thread {
    fn work(mut self, given: &Receiver<Task>, mut process: Child) {
        for task in given {
            let tried = match task {
                Task::Request(request) => self.ask(&request).map(drop),
                Task::Operation { lane, tick, work } => {
                    self.perform(&work).map(|ended| self.end(lane, tick, ended.err()))
                }
            };
            if let Err(error) = tried {
                // From here on nothing touches the program's memory: this thread alone does.
                let said = format!("process {}: {error}", process.id());
                lock(&self.shared.0).lost = Some(Lost::new(said));
                self.told();
                break;
            }
        }
        drop(self);
        // It ends when its socket is closed, if it has not ended before.
        let _ = process.wait();
    }

    fn told(&self) {
        self.shared.1.notify_all();
        self.notify.progress();
    }

    fn end(&mut self, lane: u64, tick: Tick, failure: Option<HalError>) {
        if let Some(lane) = lock(&self.shared.0).lanes.get_mut(&lane) {
            lane.failures.extend(failure.map(|error| (tick, error)));
            lane.ended = tick;
        }
        self.told();
    }

    /// The inner error is the operation's; the outer one is the end of the device.
    fn ask(&mut self, request: &Message) -> io::Result<Result<Vec<u8>, HalError>> {
        send(&mut self.to, &request.iter().map(Vec::as_slice).collect::<Vec<_>>())?;
        receive(&mut self.from).map(server::result)
    }

    fn perform(&mut self, work: &Work) -> io::Result<Result<(), HalError>> {
        let mut ended = Ok(());
        match work {
            Work::Join => {}
            Work::Launch(request) => ended = self.ask(request)?.map(drop),
            Work::Copy(rects) => {
                for r in rects {
                    let bytes = self.load(r.src, r.src_pitch, r.extent)?;
                    let stored = match bytes {
                        Ok(bytes) => self.store(r.dst, r.dst_pitch, r.extent, bytes)?,
                        Err(error) => Err(error),
                    };
                    ended = ended.and(stored);
                }
            }
            Work::Fill(rects, pattern) => {
                for r in rects {
                    let bytes = (r.bytes() as usize) / pattern.len();
                    ended =
                        ended.and(self.store(r.dst, r.pitch, r.extent, pattern.repeat(bytes))?);
                }
            }
        }
        Ok(ended)
    }

    /// The bytes of a rectangle, row after row.
    fn load(
        &mut self,
        at: MemRef,
        pitch: [u64; 2],
        n: [u64; 3],
    ) -> io::Result<Result<Vec<u8>, HalError>> {
        let MemBase::Host(HostPtr(base)) = at.base else {
            return self.ask(&vec![b"read".to_vec(), rectangle(at, pitch, n)]);
        };
        let start = base.wrapping_add(at.offset as usize);
        let row = |offset| {
            // SAFETY: the engine gives rectangles in live memory that no other writes meanwhile.
            unsafe { std::slice::from_raw_parts(start.wrapping_add(offset), n[2] as usize) }
        };
        Ok(Ok(rows(pitch, n).flat_map(row).copied().collect()))
    }

    fn store(
        &mut self,
        at: MemRef,
        pitch: [u64; 2],
        n: [u64; 3],
        bytes: Vec<u8>,
    ) -> io::Result<Result<(), HalError>> {
        let MemBase::Host(HostPtr(base)) = at.base else {
            let request = vec![b"write".to_vec(), rectangle(at, pitch, n), bytes];
            return Ok(self.ask(&request)?.map(drop));
        };
        let start = base.wrapping_add(at.offset as usize);
        for (offset, row) in rows(pitch, n).zip(bytes.chunks_exact(n[2] as usize)) {
            let to = start.wrapping_add(offset);
            // SAFETY: as in `load`, and no other reads it.
            unsafe { to.copy_from_nonoverlapping(row.as_ptr(), row.len()) };
        }
        Ok(Ok(()))
    }
}

fn rectangle(at: MemRef, [slice, row]: [u64; 2], [a, b, c]: [u64; 3]) -> Vec<u8> {
    let handle = match at.base {
        MemBase::Device { handle, .. } => handle,
        MemBase::Host(_) => 0,
    };
    words([handle, at.offset, slice, row, a, b, c])
}
