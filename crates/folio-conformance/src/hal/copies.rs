//! Rectangles: copied, filled, in every dimension and direction.

use super::Test;
use super::rig::{
    Memory, Outcome, Queue, Rig, ensure, host, host_mut, line, noise, run, unsupported,
};
use folio_core::hal::{AllocKind, CopyRect, FillRect, LaneKind, MemBase, MemRef};

pub(super) const TESTS: &[Test] = &[
    ("copies_lines_at_offsets", copies_lines_at_offsets),
    ("copies_pitched_rectangles", copies_pitched_rectangles),
    ("copies_several_rectangles_at_once", copies_several_rectangles_at_once),
    ("copies_inside_a_device", copies_inside_a_device),
    ("copies_between_devices", copies_between_devices),
    ("copies_inside_the_host", copies_inside_the_host),
    ("uploads_take_what_downloads_bring", uploads_take_what_downloads_bring),
    ("fills_with_patterns_of_1_to_32_bytes", fills_with_patterns_of_1_to_32_bytes),
    ("fills_pitched_rectangles", fills_pitched_rectangles),
];

/// Bytes of the memories that rectangles are cut from.
const SIZE: u64 = 4096;

/// Byte offsets of the rows of a rectangle.
fn rows(offset: u64, pitch: [u64; 2], extent: [u64; 3]) -> Vec<usize> {
    let slices = 0..extent[0];
    let row = |z, y| (offset + z * pitch[0] + y * pitch[1]) as usize;
    slices.flat_map(|z| (0..extent[1]).map(move |y| row(z, y))).collect()
}

/// The effect of a copy, by definition.
fn oracle(rect: &CopyRect, src: &[u8], dst: &mut [u8]) {
    let from = rows(rect.src.offset, rect.src_pitch, rect.extent);
    let to = rows(rect.dst.offset, rect.dst_pitch, rect.extent);
    let bytes = rect.extent[2] as usize;
    for (s, d) in from.into_iter().zip(to) {
        dst[d..d + bytes].copy_from_slice(&src[s..s + bytes]);
    }
}

/// Offset and pitches of source and destination; extent.
type Shape = (u64, [u64; 2], u64, [u64; 2], [u64; 3]);

/// Lines, planes, cubes; odd sizes and exact fits.
const SHAPES: &[Shape] = &[
    (0, [64, 64], 0, [64, 64], [1, 1, 64]),
    (3, [1, 1], 1001, [1, 1], [1, 1, 577]),
    (0, [4096, 64], 0, [4096, 64], [1, 64, 64]),
    (5, [4096, 50], 7, [4096, 33], [1, 20, 17]),
    (128, [4096, 128], 0, [4096, 16], [1, 16, 16]),
    (9, [600, 20], 11, [400, 40], [3, 7, 13]),
    (0, [512, 32], 0, [256, 16], [4, 8, 16]),
    (1, [1000, 300], 2, [700, 200], [4, 3, 1]),
];

fn shape(i: usize) -> CopyRect {
    let (src, src_pitch, dst, dst_pitch, extent) = SHAPES[i];
    let mut rect = line(host(&[]), host(&[]), 1);
    (rect.src.offset, rect.dst.offset) = (src, dst);
    CopyRect { src_pitch, dst_pitch, extent, ..rect }
}

fn copies_lines_at_offsets(rig: &Rig) -> Outcome {
    rig.each(|seat| {
        let memory = seat.memory(SIZE)?;
        let mut queue = seat.queue(LaneKind::Upload)?;
        let mut expect = noise(SIZE, 0);
        queue.write(&memory, &expect)?;
        for (offset, bytes) in [(0, 1), (1, 2), (7, 9), (63, 130), (1000, 3096), (4095, 1)] {
            let data = noise(bytes, 0x5C);
            queue.copy(&[], &[line(host(&data), memory.at(offset), bytes)])?;
            queue.finish()?;
            expect[offset as usize..(offset + bytes) as usize].copy_from_slice(&data);
            ensure!(queue.read(&memory)? == expect, "{bytes} bytes to {offset}");
            let mut back = vec![0; bytes as usize];
            queue.copy(&[], &[line(memory.at(offset), host_mut(&mut back), bytes)])?;
            queue.finish()?;
            ensure!(back == data, "{bytes} bytes from {offset}");
        }
        Ok(())
    })
}

/// Copies a rectangle from `src` to the device and another one back.
fn pitched(queue: &mut Queue, memory: &Memory<'_>, shape: CopyRect) -> Outcome {
    let (src, before) = (noise(SIZE, 0x11), noise(SIZE, 0x77));
    let mut expect = before.clone();
    oracle(&shape, &src, &mut expect);
    queue.write(memory, &before)?;
    let mut up = shape;
    (up.src.base, up.dst.base) = (host(&src).base, memory.at(0).base);
    queue.copy(&[], &[up])?;
    ensure!(queue.read(memory)? == expect, "to the device: {shape:?}");

    let mut back = before.clone();
    let mut down = shape;
    (down.src.base, down.dst.base) = (memory.at(0).base, host_mut(&mut back).base);
    queue.write(memory, &src)?;
    queue.copy(&[], &[down])?;
    queue.finish()?;
    expect.copy_from_slice(&before);
    oracle(&shape, &src, &mut expect);
    ensure!(back == expect, "from the device: {shape:?}");
    Ok(())
}

fn copies_pitched_rectangles(rig: &Rig) -> Outcome {
    rig.each(|seat| {
        let memory = seat.memory(SIZE)?;
        let mut queue = seat.queue(LaneKind::Download)?;
        (0..SHAPES.len()).try_for_each(|i| pitched(&mut queue, &memory, shape(i)))
    })
}

fn copies_several_rectangles_at_once(rig: &Rig) -> Outcome {
    rig.each(|seat| {
        let memory = seat.memory(SIZE)?;
        let mut queue = seat.queue(LaneKind::Upload)?;
        let src = noise(SIZE, 0x2A);
        let mut expect = vec![0; SIZE as usize];
        queue.write(&memory, &expect)?;
        let mut rects = Vec::new();
        for i in 0..8 {
            let mut rect = shape(3);
            (rect.src.base, rect.dst.base) = (host(&src).base, memory.at(0).base);
            rect.extent = [1, 8, 30];
            rect.dst.offset = i * 512;
            oracle(&rect, &src, &mut expect);
            rects.push(rect);
        }
        queue.copy(&[], &rects)?;
        ensure!(queue.read(&memory)? == expect, "eight rectangles in one copy");
        let other = seat.memory(SIZE)?;
        queue.write(&other, &src)?;
        many_rows(&mut queue, (&src, other.at(0)), (&mut expect, &memory))?;
        let third = noise(SIZE, 3);
        many_rows(&mut queue, (&third, host(&third)), (&mut expect, &memory))?;
        // Which a driver may reach as it reaches its own.
        for (kind, seed) in [(AllocKind::Host, 4), (AllocKind::Shared, 5)] {
            let Ok(theirs) = seat.memory_of(kind, SIZE) else { continue };
            let at = match (kind, theirs.given.host) {
                (AllocKind::Host, Some(at)) => MemRef { base: MemBase::Host(at), offset: 0 },
                _ => theirs.at(0),
            };
            let src = noise(SIZE, seed);
            queue.copy(&[], &[line(host(&src), at, SIZE)])?;
            many_rows(&mut queue, (&src, at), (&mut expect, &memory))?;
        }
        Ok(())
    })
}

/// Rows of many lengths, in an order of their own, from where `src` is to memory that has the bytes
/// of `expect`, and then others.
fn many_rows(
    queue: &mut Queue,
    (src, from): (&[u8], MemRef),
    (expect, to): (&mut [u8], &Memory<'_>),
) -> Outcome {
    let row = |k: u64| {
        let at = |mem: MemRef, row, offset| MemRef { offset: row * 96 + offset, ..mem };
        let (src, dst) = (at(from, k, k % 7), at(to.at(0), 39 - k, k % 5));
        let pitch = [96; 2];
        CopyRect { src, src_pitch: pitch, dst, dst_pitch: pitch, extent: [1, 1, 1 + k * 13 % 89] }
    };
    let rows: Vec<CopyRect> = (0..40).map(row).collect();
    rows.iter().for_each(|row| oracle(row, src, expect));
    queue.copy(&[], &rows)?;
    ensure!(queue.read(to)? == expect, "forty rows in one copy");
    Ok(())
}

fn copies_inside_a_device(rig: &Rig) -> Outcome {
    rig.each(|seat| {
        let (a, b) = (seat.memory(SIZE)?, seat.memory(SIZE)?);
        let mut queue = seat.queue(LaneKind::Compute)?;
        let (src, before) = (noise(SIZE, 1), noise(SIZE, 2));
        queue.write(&a, &src)?;
        for i in 0..SHAPES.len() {
            let (mut rect, mut expect) = (shape(i), before.clone());
            oracle(&rect, &src, &mut expect);
            queue.write(&b, &before)?;
            (rect.src.base, rect.dst.base) = (a.at(0).base, b.at(0).base);
            queue.copy(&[], &[rect])?;
            ensure!(queue.read(&b)? == expect, "inside the device: {rect:?}");
        }
        Ok(())
    })
}

fn copies_between_devices(rig: &Rig) -> Outcome {
    let mut linked = false;
    rig.each(|to| {
        rig.each(|from| {
            let known = to.index != from.index && to.device.peer(&**from.device).is_some();
            if !known {
                return Ok(());
            }
            linked = true;
            let (a, b) = (from.memory(SIZE)?, to.memory(SIZE)?);
            let (src, before) = (noise(SIZE, 1), noise(SIZE, 2));
            let mut source = from.queue(LaneKind::Upload)?;
            source.write(&a, &src)?;
            let mut queue = to.queue(LaneKind::Peer)?;
            for i in 0..SHAPES.len() {
                let (mut rect, mut expect) = (shape(i), before.clone());
                oracle(&rect, &src, &mut expect);
                queue.write(&b, &before)?;
                (rect.src.base, rect.dst.base) = (a.at(0).base, b.at(0).base);
                queue.copy(&[], &[rect])?;
                ensure!(queue.read(&b)? == expect, "{} to {}: {rect:?}", from.index, to.index);
            }
            let mut expect = queue.read(&b)?;
            many_rows(&mut queue, (&src, a.at(0)), (&mut expect, &b))?;
            Ok(())
        })
    })?;
    if linked { Ok(()) } else { unsupported("links between devices") }
}

fn copies_inside_the_host(rig: &Rig) -> Outcome {
    rig.each(|seat| {
        let (src, mut dst) = (noise(SIZE, 1), vec![0; SIZE as usize]);
        let mut queue = seat.queue(LaneKind::Download)?;
        queue.copy(&[], &[line(host(&src), host_mut(&mut dst), SIZE)])?;
        queue.finish()?;
        ensure!(src == dst, "host to host");
        Ok(())
    })
}

/// Memory of the host is read when the copy's turn has come, and not when it is issued.
fn uploads_take_what_downloads_bring(rig: &Rig) -> Outcome {
    rig.each(|seat| {
        for size in [16, SIZE, 8 * SIZE] {
            let (a, b) = (seat.memory(size)?, seat.memory(size)?);
            let mut hosts = vec![vec![0; size as usize]; 8];
            let mut queue = seat.queue(LaneKind::Compute)?;
            for (round, host) in hosts.iter_mut().enumerate() {
                queue.fill(&[run(a.at(0), size)], &[round as u8 + 1])?;
                queue.copy(&[], &[line(a.at(0), host_mut(host), size)])?;
                queue.copy(&[], &[line(host_mut(host), b.at(0), size)])?;
                queue.copy(&[], &[line(b.at(0), a.at(0), size)])?;
                queue.copy(&[], &[line(a.at(0), host_mut(host), size)])?;
            }
            queue.finish()?;
            for (round, host) in hosts.iter().enumerate() {
                let expect = vec![round as u8 + 1; size as usize];
                ensure!(*host == expect, "{size} bytes, round {round}: {}", host[0]);
            }
        }
        Ok(())
    })
}

fn fills_with_patterns_of_1_to_32_bytes(rig: &Rig) -> Outcome {
    rig.each(|seat| {
        let memory = seat.memory(SIZE)?;
        let mut queue = seat.queue(LaneKind::Compute)?;
        for n in 1..=32 {
            let pattern = noise(n, 0x3D);
            let bytes = n * 20;
            queue.write(&memory, &vec![0; SIZE as usize])?;
            queue.fill(&[run(memory.at(n * 4), bytes)], &pattern)?;
            let mut expect = vec![0; SIZE as usize];
            for i in 0..bytes as usize {
                expect[(n * 4) as usize + i] = pattern[i % n as usize];
            }
            ensure!(queue.read(&memory)? == expect, "a pattern of {n} bytes");
        }
        Ok(())
    })
}

fn fills_pitched_rectangles(rig: &Rig) -> Outcome {
    rig.each(|seat| {
        let memory = seat.memory(SIZE)?;
        let mut queue = seat.queue(LaneKind::Compute)?;
        for (offset, pitch, extent) in
            [(4, [4096, 100], [1, 9, 36]), (12, [1200, 70], [3, 5, 24]), (0, [64, 64], [4, 1, 12])]
        {
            let before = noise(SIZE, 0x66);
            let (mut expect, pattern) = (before.clone(), noise(12, 1));
            for row in rows(offset, pitch, extent) {
                for i in 0..extent[2] as usize {
                    expect[row + i] = pattern[i % 12];
                }
            }
            queue.write(&memory, &before)?;
            queue.fill(&[FillRect { dst: memory.at(offset), pitch, extent }], &pattern)?;
            ensure!(queue.read(&memory)? == expect, "{extent:?} at {offset}");
        }
        Ok(())
    })
}
