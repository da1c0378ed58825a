//! Copies and fills as commands of a queue.

use crate::cl::{Buffer, Event, Kernel, Queue, call, check, run};
use crate::device::Core;
use crate::graph::Nodes;
use crate::lane::MARK_EVERY;
use crate::launch_batch::LaunchBatch;
use crate::memory::{Block, PointerCache, with_room};
use crate::platform::Shared;
use crate::verdict::Verdicts;
use crate::words::Words;
use folio_core::hal::{
    CopyRect, FillRect, HalError, HalErrorKind, HostPtr, MemBase, MemRef, Side, Tick,
};
use folio_driver::rect::Rect;
use folio_driver::reduce::Scratch;
use opencl_sys::{CL_FALSE, CL_MAP_READ, CL_MAP_WRITE, CL_MAP_WRITE_INVALIDATE_REGION, cl_event};
use std::cell::Cell;
use std::ffi::c_void;
use std::ops::Range;
use std::ptr::{null, null_mut};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Memory that commands use until they have ended: the host's, and memory that it shares with the
/// device.
pub(crate) type KeepAlive = Vec<Box<dyn Send>>;

/// The longest pattern that OpenCL fills with.
const MOST_PATTERN: usize = 128;
/// How much of a repeated pattern is sent at a time.
const CHUNK: usize = 1 << 20;
/// Bytes of a row from which on to copy it, which is to read it too, takes longer than a call.
const LONG_ROW: usize = 64 << 10;

/// Where one operation's commands go.
pub(crate) struct Commands<'q> {
    pub(crate) shared: &'q Shared,
    pub(crate) queue: &'q Queue,
    pub(crate) kept: &'q mut KeepAlive,
    /// Where the words of launches are put, if kernels are given addresses.
    pub(crate) words: Option<&'q mut Words>,
    /// The pointers of parameters.
    pub(crate) known: &'q mut PointerCache,
    pub(crate) verdicts: &'q mut Verdicts,
    pub(crate) scratch: &'q mut Scratch<Buffer>,
    /// Launches that come first.
    pub(crate) batch: &'q mut LaunchBatch,
    pub(crate) tick: Tick,
    /// Parts of buffers begin at multiples of so many bytes.
    pub(crate) part_align: u64,
    /// The last launch has an event.
    told: bool,
    /// There are timestamps of the first and the last command.
    timed: bool,
    /// Commands have events only if they are timed: those of a replay, which is marked as a launch
    /// is.
    pub(crate) is_replay: bool,
    /// The operation counts as so many more of those after which the tail is marked.
    pub(crate) weight: u64,
    /// The first command's end, if launches have events.
    pub(crate) first: Option<Arc<Event>>,
    /// The last command's.
    pub(crate) last: Option<Arc<Event>>,
}

/// An end of a copy.
enum CopyEnd {
    Host(*mut u8),
    Device(Arc<Block>, usize),
}

impl CopyEnd {
    /// The place so many bytes further on.
    fn after(&self, bytes: usize) -> CopyEnd {
        match self {
            CopyEnd::Host(at) => CopyEnd::Host(at.wrapping_add(bytes)),
            CopyEnd::Device(block, offset) => CopyEnd::Device(block.clone(), offset + bytes),
        }
    }
}

/// A plane of a rectangle: rows, bytes, and bytes from one row to the next at both ends.
struct Plane {
    rows: usize,
    bytes: usize,
    pitch: [usize; 2],
}

/// The addresses of rows, and of what is between them.
fn addresses(at: *mut u8, rows: usize, pitch: usize, bytes: usize) -> Range<usize> {
    at.addr()..at.addr() + (rows - 1) * pitch + bytes
}

/// Where a rectangle starts, as OpenCL counts: bytes in a row, and rows.
fn start(at: usize, pitch: usize) -> [usize; 3] {
    [at % pitch, at / pitch, 0]
}

/// Whether OpenCL takes two rectangles of one buffer, which begin there, for ones that do not
/// overlap (`check_copy_overlap` in its specification): one ends before the other begins, or the
/// columns of each are in the gaps between the other's rows.
fn apart([from, to]: [usize; 2], plane: &Plane) -> bool {
    let [pitch, other] = plane.pitch;
    let length = (plane.rows - 1) * pitch + plane.bytes;
    let (x, y) = (from % pitch, to % pitch);
    let beside = |a: usize, b: usize| b >= a + plane.bytes && b + plane.bytes <= a + pitch;
    pitch == other && (from + length <= to || to + length <= from || beside(x, y) || beside(y, x))
}

fn size(n: u64) -> Result<usize, HalError> {
    let beyond = |_| HalError::new(HalErrorKind::Driver, "a size beyond this machine's");
    usize::try_from(n).map_err(beyond)
}

/// Enqueues threads of a kernel whose arguments are set, in groups of a size or in the driver's;
/// the slowest dimension first.
pub(crate) fn enqueue(
    queue: &Queue,
    kernel: &Kernel,
    mut global: [usize; 3],
    mut local: Option<[usize; 3]>,
    event: *mut cl_event,
) -> Result<(), HalError> {
    global.reverse();
    local.iter_mut().for_each(|local| local.reverse());
    let local = local.as_ref().map_or(null(), |local| local.as_ptr());
    // SAFETY: all arguments have been set by the caller, who holds the kernel. Users' memory lives
    // until the tick is reached (the HAL's contract), and the lane's own at least until this call:
    // the command holds it from there on, and shared virtual memory is kept until a mark behind it
    // (`Words`).
    unsafe {
        run!(clEnqueueNDRangeKernel(
            queue.0,
            kernel.0,
            3,
            null(),
            global.as_ptr(),
            local,
            0,
            null(),
            event
        ))
    }
}

impl<'q> Commands<'q> {
    pub(crate) fn new(
        core: &'q Core,
        queue: &'q Queue,
        (kept, words, known, verdicts, scratch, batch): (
            &'q mut KeepAlive,
            &'q mut Words,
            &'q mut PointerCache,
            &'q mut Verdicts,
            &'q mut Scratch<Buffer>,
            &'q mut LaunchBatch,
        ),
        (tick, told, timed): (Tick, bool, bool),
    ) -> Commands<'q> {
        let (shared, part_align) = (&*core.shared, core.target.part_align as u64);
        let words = core.has_addresses().then_some(words);
        let (first, last) = (None, None);
        Commands {
            shared,
            queue,
            kept,
            words,
            known,
            verdicts,
            scratch,
            batch,
            tick,
            part_align,
            told,
            timed,
            is_replay: false,
            weight: 0,
            first,
            last,
        }
    }

    /// A launch has been added to those that are held. They are enqueued if it is to be told of, or
    /// if they are enough.
    pub(crate) fn added(&mut self) {
        if self.told || self.batch.is_full() {
            let event = self.batch.enqueue(self.queue, self.told);
            event.into_iter().for_each(|event| self.ended_by(event));
        }
    }

    /// The same of a replay, which can be held unless it is timed: its first launch has no event.
    pub(crate) fn hold(&mut self, nodes: &Arc<Nodes>) -> bool {
        if !self.timed {
            self.batch.push_replay(self.tick, nodes);
            self.added();
        }
        !self.timed
    }

    /// Later commands wait for these events.
    pub(crate) fn wait_for(&mut self, events: &[Arc<Event>]) {
        if !events.is_empty() {
            self.batch.enqueue(self.queue, false);
            self.queue.waits_for(events);
        }
    }

    /// Enqueues what is held, this operation's launch included, which has to be there for what
    /// comes next.
    pub(crate) fn now(&mut self) -> Result<(), HalError> {
        self.batch.enqueue(self.queue, false);
        self.batch.was_refused(self.tick).map_or(Ok(()), Err)
    }

    fn ended_by(&mut self, event: Event) {
        let event = Arc::new(event);
        if self.told && self.first.is_none() {
            self.first = Some(event.clone());
        }
        self.last = Some(event);
    }

    /// Enqueues threads, in groups of a size or in the driver's; the slowest dimension first.
    pub(crate) fn launch(
        &mut self,
        kernel: &Kernel,
        global: [usize; 3],
        local: Option<[usize; 3]>,
    ) -> Result<(), HalError> {
        let queue = self.queue;
        let enqueue = |event| enqueue(queue, kernel, global, local, event);
        // An event costs more than that, so only few have theirs.
        if self.told {
            return self.command(enqueue);
        }
        self.batch.enqueue(queue, false);
        with_room(|| enqueue(null_mut()))
    }

    /// Enqueues one command, whose event is kept if it has one. Drivers may find room for memory
    /// only when it is used.
    fn command(
        &mut self,
        enqueue: impl Fn(*mut cl_event) -> Result<(), HalError>,
    ) -> Result<(), HalError> {
        self.batch.enqueue(self.queue, false);
        if self.is_replay && !self.timed {
            return with_room(|| enqueue(null_mut()));
        }
        let mut event = null_mut();
        with_room(|| enqueue(&raw mut event))?;
        self.ended_by(Event(event));
        Ok(())
    }

    fn place(&self, at: &MemRef) -> Result<CopyEnd, HalError> {
        let offset = size(at.offset)?;
        Ok(match at.base {
            MemBase::Host(HostPtr(base)) => CopyEnd::Host(base.wrapping_add(offset)),
            MemBase::Device { handle, .. } => {
                CopyEnd::Device(self.shared.memory.find(handle)?, offset)
            }
        })
    }

    /// Copies a rectangle, as planes that OpenCL takes: its slices may be any distance apart.
    pub(crate) fn copy(&mut self, rect: &CopyRect) -> Result<(), HalError> {
        let (from, to) = (self.place(&rect.src)?, self.place(&rect.dst)?);
        let Rect { src_pitch, dst_pitch, extent: [_, rows, bytes], .. } =
            Rect::from(rect).slice(0).joined();
        let (rows, bytes) = (size(rows)?, size(bytes)?);
        let pitch = if rows == 1 { [bytes; 2] } else { [size(src_pitch[1])?, size(dst_pitch[1])?] };
        let plane = Plane { rows, bytes, pitch };
        for slice in 0..rect.extent[0] {
            let from = from.after(size(slice * rect.src_pitch[0])?);
            let to = to.after(size(slice * rect.dst_pitch[0])?);
            self.plane(from, to, &plane)?;
        }
        Ok(())
    }

    fn plane(&mut self, from: CopyEnd, to: CopyEnd, plane: &Plane) -> Result<(), HalError> {
        let queue = self.queue.0;
        let &Plane { rows, bytes, pitch: [from_pitch, to_pitch] } = plane;
        let (region, zero) = ([bytes, rows, 1], [0usize; 3]);
        match (from, to) {
            (CopyEnd::Host(from), CopyEnd::Device(to, offset)) => {
                let origin = [offset, 0, 0];
                // SAFETY: a rectangle within the buffer; the host's memory lives until the tick is
                // reached (the HAL's contract), and nothing writes it any more
                // (`Downloads::wait_before`).
                self.command(|event| unsafe {
                    run!(clEnqueueWriteBufferRect(
                        queue,
                        to.buffer.0,
                        CL_FALSE,
                        origin.as_ptr(),
                        zero.as_ptr(),
                        region.as_ptr(),
                        to_pitch,
                        0,
                        from_pitch,
                        0,
                        from.cast::<c_void>(),
                        0,
                        null(),
                        event
                    ))
                })
            }
            (CopyEnd::Device(from, offset), CopyEnd::Host(to)) => {
                let origin = [offset, 0, 0];
                // SAFETY: a rectangle within the buffer; the host's memory lives until the tick is
                // reached (the HAL's contract).
                self.command(|event| unsafe {
                    run!(clEnqueueReadBufferRect(
                        queue,
                        from.buffer.0,
                        CL_FALSE,
                        origin.as_ptr(),
                        zero.as_ptr(),
                        region.as_ptr(),
                        from_pitch,
                        0,
                        to_pitch,
                        0,
                        to.cast::<c_void>(),
                        0,
                        null(),
                        event
                    ))
                })?;
                let written = addresses(to, rows, to_pitch, bytes);
                let event = self.last.iter().cloned();
                event.for_each(|event| self.shared.downloads.note(written.clone(), event));
                // The flush puts the download on its way, so that whoever waits for it waits for
                // something. If the driver refuses, the lane flushes later, and whoever waits has
                // the driver do it.
                let _ = self.queue.flush();
                Ok(())
            }
            (CopyEnd::Device(from, at), CopyEnd::Device(to, offset)) => {
                self.inside((&from, at), (&to, offset), plane)
            }
            (CopyEnd::Host(from), CopyEnd::Host(to)) => self.inside_the_host(from, to, plane),
        }
    }

    /// Between buffers, or parts of one that do not overlap.
    fn inside(
        &mut self,
        (from, at): (&Arc<Block>, usize),
        (to, offset): (&Arc<Block>, usize),
        plane: &Plane,
    ) -> Result<(), HalError> {
        let (queue, source, target) = (self.queue.0, from.buffer.0, to.buffer.0);
        let &Plane { rows, bytes, pitch: [from_pitch, to_pitch] } = plane;
        if rows == 1 {
            // As rectangles, PoCL takes parts of one buffer for overlapping that are apart.
            return self.command(|event| {
                // SAFETY: within the buffers, without overlap (the HAL's contract).
                unsafe {
                    run!(clEnqueueCopyBuffer(
                        queue,
                        source,
                        target,
                        at,
                        offset,
                        bytes,
                        0,
                        null(),
                        event
                    ))
                }
            });
        }
        let one = source == target;
        if !one || apart([at, offset], plane) {
            let (starts, ends) = (start(at, from_pitch), start(offset, to_pitch));
            let region = [bytes, rows, 1];
            let copied = self.command(|event| {
                // SAFETY: rectangles within the buffers, which do not overlap (the HAL's contract).
                unsafe {
                    run!(clEnqueueCopyBufferRect(
                        queue,
                        source,
                        target,
                        starts.as_ptr(),
                        ends.as_ptr(),
                        region.as_ptr(),
                        from_pitch,
                        0,
                        to_pitch,
                        0,
                        0,
                        null(),
                        event
                    ))
                }
            });
            match copied {
                // Some drivers see overlaps where there are none.
                Err(_) if one => {}
                other => return other,
            }
        }
        let line = Plane { rows: 1, bytes, pitch: [bytes; 2] };
        (0..rows).try_for_each(|row| {
            let (at, offset) = (at + row * from_pitch, offset + row * to_pitch);
            self.inside((from, at), (to, offset), &line)
        })
    }

    /// By way of the device, because the queue's order is there.
    fn inside_the_host(
        &mut self,
        from: *mut u8,
        to: *mut u8,
        plane: &Plane,
    ) -> Result<(), HalError> {
        let room = plane.rows * plane.bytes;
        let buffer = with_room(|| Buffer::new(&self.shared.context, room))?;
        let way = Arc::new(Block::of(buffer, room as u64));
        let (close, [from_pitch, to_pitch]) = (plane.bytes, plane.pitch);
        let up = Plane { pitch: [from_pitch, close], ..*plane };
        let down = Plane { pitch: [close, to_pitch], ..*plane };
        self.plane(CopyEnd::Host(from), CopyEnd::Device(way.clone(), 0), &up)?;
        self.plane(CopyEnd::Device(way, 0), CopyEnd::Host(to), &down)
    }

    /// Maps a linked buffer for the host, or unmaps it.
    pub(crate) fn switch(&mut self, mem: &MemRef, to: Side) -> Result<(), HalError> {
        let CopyEnd::Device(block, 0) = self.place(mem)? else {
            return Err(HalError::unsupported("to map a part of memory"));
        };
        let unlinked = || HalError::unsupported("to map memory that is not linked");
        let mapped = block.mapped.as_ref().ok_or_else(unlinked)?;
        let HostPtr(host) = mapped.at;
        let (queue, buffer, bytes) = (self.queue.0, block.buffer.0, block.size as usize);
        let flags = match to {
            Side::HostReads => CL_MAP_READ,
            Side::HostWrites => CL_MAP_READ | CL_MAP_WRITE,
            Side::HostOverwrites => CL_MAP_WRITE_INVALIDATE_REGION,
            _ => {
                let at = host.cast::<c_void>();
                // SAFETY: a live buffer, which is mapped there (the HAL's contract).
                self.command(|event| unsafe {
                    run!(clEnqueueUnmapMemObject(queue, buffer, at, 0, null(), event))
                })?;
                mapped.now.store(false, Ordering::Relaxed);
                return Ok(());
            }
        };
        let at = Cell::new(null_mut());
        self.command(|event| {
            let mut status = 0;
            // SAFETY: all of a live buffer, which is not mapped (the HAL's contract).
            let place = unsafe {
                call!(clEnqueueMapBuffer(
                    queue,
                    buffer,
                    CL_FALSE,
                    flags,
                    0,
                    bytes,
                    0,
                    null(),
                    event,
                    &raw mut status
                ))
            }?;
            at.set(place);
            check("clEnqueueMapBuffer", status)
        })?;
        mapped.now.store(true, Ordering::Relaxed);
        // OpenCL promises that it is.
        if at.get() == host.cast::<c_void>() {
            Ok(())
        } else {
            Err(HalError::new(HalErrorKind::Driver, "clEnqueueMapBuffer: memory has moved"))
        }
    }

    /// Fills a rectangle: all of it at once where its rows touch, and otherwise the first row of
    /// each slice, which is copied to the next, then both to the next two, and so on. Rows that are
    /// long are filled one by one.
    pub(crate) fn fill(&mut self, rect: &FillRect, pattern: &[u8]) -> Result<(), HalError> {
        let CopyEnd::Device(block, start) = self.place(&rect.dst)? else {
            return Err(HalError::unsupported("filling memory of the host"));
        };
        let Rect { dst_pitch: [slice, row], extent: [slices, rows, bytes], .. } =
            Rect::from(rect).joined();
        let (rows, bytes, row) = (size(rows)?, size(bytes)?, size(row)?);
        for at in 0..slices {
            let first = start + size(at * slice)?;
            let mut done = 0;
            while done < rows {
                let next = first + done * row;
                if done == 0 || bytes >= LONG_ROW {
                    self.fill_row(&block, next, bytes, pattern)?;
                    done += 1;
                } else {
                    let plane = Plane { rows: done.min(rows - done), bytes, pitch: [row; 2] };
                    self.inside((&block, first), (&block, next), &plane)?;
                    done += plane.rows;
                }
            }
        }
        Ok(())
    }

    fn fill_row(
        &mut self,
        block: &Arc<Block>,
        offset: usize,
        bytes: usize,
        pattern: &[u8],
    ) -> Result<(), HalError> {
        let Some(first) = pattern.first().filter(|_| bytes > 0) else { return Ok(()) };
        let alike = pattern.iter().all(|byte| byte == first);
        let pattern = if alike { std::slice::from_ref(first) } else { pattern };
        let len = pattern.len();
        let native = len.is_power_of_two() && len <= MOST_PATTERN;
        if native && offset.is_multiple_of(len) && bytes.is_multiple_of(len) {
            let (queue, at) = (self.queue.0, pattern.as_ptr().cast::<c_void>());
            return self.command(|event| {
                let buffer = block.buffer.0;
                // SAFETY: within the buffer; the pattern is copied in the call.
                unsafe {
                    run!(clEnqueueFillBuffer(
                        queue,
                        buffer,
                        at,
                        len,
                        offset,
                        bytes,
                        0,
                        null(),
                        event
                    ))
                }
            });
        }
        // Other patterns are sent.
        let chunk = bytes.min(CHUNK.next_multiple_of(len));
        let repeated: Box<[u8]> = pattern.iter().copied().cycle().take(chunk).collect();
        let from = repeated.as_ptr().cast_mut();
        // The memory goes with the next mark, so that comes soon.
        self.kept.push(Box::new(repeated));
        self.weight += MARK_EVERY;
        (0..bytes).step_by(chunk).try_for_each(|done| {
            let bytes = chunk.min(bytes - done);
            let line = Plane { rows: 1, bytes, pitch: [bytes; 2] };
            self.plane(CopyEnd::Host(from), CopyEnd::Device(block.clone(), offset + done), &line)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rectangles that count as apart share no byte.
    #[test]
    fn rectangles_that_are_apart_share_no_byte() {
        let mut counts = [0; 2];
        for (rows, bytes, pitch) in [(2, 1, 1), (2, 2, 4), (3, 2, 5), (3, 5, 5), (4, 3, 7)] {
            for (from, to) in (0..30).flat_map(|from| (0..30).map(move |to| (from, to))) {
                let plane = Plane { rows, bytes, pitch: [pitch; 2] };
                let at = |start: usize| {
                    (0..rows).flat_map(move |row| (0..bytes).map(move |b| start + row * pitch + b))
                };
                let meet = at(from).any(|byte| at(to).any(|other| other == byte));
                let apart = apart([from, to], &plane);
                assert!(!(apart && meet), "{rows} x {bytes} of {pitch}: {from}, {to}");
                counts[usize::from(apart)] += 1;
                let uneven = Plane { pitch: [pitch, pitch + 1], ..plane };
                assert!(!super::apart([from, to], &uneven));
            }
        }
        assert!(counts[0] > 500 && counts[1] > 500, "{counts:?}");
    }
}
