//! Transfers, by counters.

use super::rig::*;
use super::tests;
use folio_core::hal::{DeviceKind, MemoryHome};
use folio_core::{
    Buffer, BufferOptions, Destination, Error, Queue,
    memory::{Linkage, Links},
};

tests![
    eight_pages_come_back_as_four,
    pages_from_two_devices_meet_on_a_third,
    kernels_on_four_pages_come_back_in_one_copy,
    outdated_rows_are_two_rectangles,
    discard_moves_nothing,
    what_nobody_wrote_is_zero_and_not_moved,
    a_page_of_which_a_part_was_written_moves_as_one,
    what_is_current_is_not_moved_again,
    one_memory_needs_no_copies,
    discard_of_a_part_keeps_the_border,
    discards_of_parts_meet_again,
    pieces_that_are_current_are_not_written,
    stencil_moves_the_halo_rows,
    reinterpreted_buffers_share_storage_and_state,
    default_pages,
    pages_as_asked_for,
    copies_fills_and_uploads,
    copies_of_boxes_between_shapes,
    explicit_updates,
    sizes_of_zero_have_no_effect,
    launches_of_zero_touch_nothing,
    empty_accesses_beside_others,
    pointers_stay,
    page_locked_memory_is_the_hosts,
];

/// BUF-05, PAGE-02, PAGE-03, XFER-01, XFER-03, XFER-04, XFER-06
fn eight_pages_come_back_as_four(rig: &Rig) -> Outcome {
    let q = rig.separate(1)?.remove(0);
    let mut x = paged(&rig.rt, &[0, 1, 2, 3, 4, 5, 6, 7])?;
    for page in [0, 2, 4, 6] {
        set(&q, &mut x, page, 1, 10 + page as i32)?;
    }
    ensure_eq!(x.counters().transfers().bytes, 0, "discard moved something");
    ensure_eq!(x.to_vec()?, [10, 1, 12, 3, 14, 5, 16, 7]);
    let moved = x.counters().device_to_host;
    ensure_eq!((moved.pages, moved.bytes), (4, 16));
    ensure!(moved.operations <= 4, "{moved:?}");
    ensure_eq!(x.counters().host_to_device.operations, 0);
    ensure_eq!(rig.rt.counters().transfers(), x.counters().transfers());
    Ok(())
}

/// BUF-07, XFER-02, XFER-04: exactly two copies, one from each device.
fn pages_from_two_devices_meet_on_a_third(rig: &Rig) -> Outcome {
    let queues = rig.separate(3)?;
    let mut x = rig.rt.buffer_with::<i32, 1>([8], BufferOptions::new().page([1]))?;
    set(&queues[0], &mut x, 0, 1, 7)?;
    set(&queues[1], &mut x, 1, 1, 8)?;
    let mut y = rig.rt.buffer::<i32, 1>(8)?;
    read_into(&queues[2], &x, &mut y)?;
    let moved = x.counters();
    ensure_eq!((moved.device_to_device.operations, moved.device_to_device.pages), (2, 2));
    ensure_eq!(moved.transfers().bytes, 8);
    ensure_eq!(queues[2].counters().transfers(), moved.transfers());
    ensure_eq!(y.to_vec()?, [7, 8, 0, 0, 0, 0, 0, 0]);
    ensure_eq!(x.counters(), moved, "reading the copy moved the original");
    Ok(())
}

/// PAGE-01, PAGE-02, XFER-04, DEP-01: see also `four_pages_need_no_order` of the simulated device.
fn kernels_on_four_pages_come_back_in_one_copy(rig: &Rig) -> Outcome {
    let q = rig.separate(1)?.remove(0);
    let options = BufferOptions::new().page([512, 512]);
    let mut x = rig.rt.buffer_with::<i32, 2>([1000, 1000], options)?;
    for (at, n) in [([0, 0], [512, 512]), ([0, 512], [512, 488])] {
        four_way(&q, &mut x, at, n)?;
    }
    for (at, n) in [([512, 0], [488, 512]), ([512, 512], [488, 488])] {
        four_way(&q, &mut x, at, n)?;
    }
    let all = x.to_vec()?;
    for (i, value) in all.iter().enumerate() {
        let (y, x) = (i / 1000, i % 1000);
        ensure_eq!(*value as usize, y / 512 * 2 + x / 512 + 1, "at {y}, {x}");
    }
    let moved = x.counters().device_to_host;
    ensure_eq!((moved.operations, moved.pages, moved.bytes), (1, 4, 4_000_000));
    Ok(())
}

fn four_way(q: &Queue, x: &mut Buffer<i32, 2>, at: [usize; 2], n: [usize; 2]) -> Outcome {
    let value = (at[0] / 512 * 2 + at[1] / 512 + 1) as i32;
    q.run(n, puts_2(value, x.slice_mut(at, n)?))?;
    Ok(())
}

/// XFER-04
fn outdated_rows_are_two_rectangles(rig: &Rig) -> Outcome {
    let q = rig.separate(1)?.remove(0);
    let options = BufferOptions::new().page([1, 1]);
    let mut x = rig.rt.buffer_with((&[5; 9], [3, 3]), options)?;
    let mut want = vec![5; 9];
    for (y, row) in [[1, 1, 0], [1, 1, 1], [1, 1, 0]].iter().enumerate() {
        for (c, _) in row.iter().enumerate().filter(|(_, outdated)| **outdated == 1) {
            want[3 * y + c] = 9;
            q.run([1, 1], puts_2(9, x.slice_mut([y, c], [1, 1])?))?;
        }
    }
    ensure_eq!(x.to_vec()?, want);
    let moved = x.counters().device_to_host;
    ensure_eq!((moved.operations, moved.pages), (2, 7));
    Ok(())
}

/// XFER-01, BUF-07: closures say what they discard.
fn discard_moves_nothing(rig: &Rig) -> Outcome {
    rig.closures()?;
    let q = rig.separate(1)?.remove(0);
    let mut x = rig.rt.buffer_from(&[3; 100])?;
    q.submit(|cg| {
        let x = cg.discard(&mut x);
        cg.host_kernel([10], x, |i, mut x| x.put(i, 4));
        Ok(())
    })?;
    let values = x.to_vec()?;
    ensure_eq!(x.counters().host_to_device.bytes, 0);
    ensure!(values[..10].iter().all(|v| *v == 4), "{values:?}");
    // Elements that the command left alone: zero, or the old value.
    ensure!(values[10..].iter().all(|v| *v == 0 || *v == 3), "{values:?}");
    Ok(())
}

/// XFER-02, BUF-07, PAGE-02: in one operation, with the zeros beside what was written; pages of
/// which nothing was written stay.
fn a_page_of_which_a_part_was_written_moves_as_one(rig: &Rig) -> Outcome {
    for device in rig.rt.devices() {
        let q = rig.rt.queue_on(&device)?;
        let mut x = rig.rt.buffer_with::<i32, 1>([40], BufferOptions::new().page([10]))?;
        set(&q, &mut x, 12, 1, 7)?;
        set(&q, &mut x, 17, 2, 8)?;
        let mut want = [0; 40];
        (want[12], want[17], want[18]) = (7, 8, 8);
        ensure_eq!(x.to_vec()?, want);
        let moved = x.counters().transfers();
        let elsewhere = device.info().home != MemoryHome::Host;
        let wanted = if elsewhere { (1, 40, 1) } else { (0, 0, 0) };
        ensure_eq!((moved.operations, moved.bytes, moved.pages), wanted, "{device:?}");
    }
    Ok(())
}

/// BUF-05, BUF-07, XFER-02
fn what_nobody_wrote_is_zero_and_not_moved(rig: &Rig) -> Outcome {
    for at in 0..rig.rt.devices().len() {
        let q = rig.on(at)?;
        let mut x = rig.rt.buffer::<i32, 1>(1000)?;
        ensure_eq!(x.counters().allocations, 0, "allocated before its first use");
        let mut y = rig.rt.buffer::<i32, 1>(1000)?;
        read_into(&q, &x, &mut y)?;
        ensure!(y.to_vec()?.iter().all(|v| *v == 0), "device {at} shows what nobody wrote");
        add(&q, &mut x, 3)?;
        ensure!(x.to_vec()?.iter().all(|v| *v == 3), "device {at} updates what nobody wrote");
        ensure_eq!(x.counters().host_to_device.operations, 0);
    }
    let x = rig.rt.buffer::<u64, 1>(77)?;
    ensure_eq!(x.to_vec()?, [0; 77]);
    ensure_eq!(x.counters().transfers().operations, 0);
    Ok(())
}

/// XFER-03, PAGE-04
fn what_is_current_is_not_moved_again(rig: &Rig) -> Outcome {
    let queues = rig.separate(2)?;
    let x = paged(&rig.rt, &[1, 2, 3, 4])?;
    let mut y = rig.rt.buffer::<i32, 1>(4)?;
    for _ in 0..3 {
        for q in &queues {
            read_into(q, &x, &mut y)?;
        }
        ensure_eq!(x.to_vec()?, [1, 2, 3, 4]);
    }
    let moved = x.counters();
    ensure_eq!((moved.transfers().pages, moved.transfers().operations), (8, 2));
    ensure_eq!(moved.device_to_host.operations, 0);
    Ok(())
}

/// BUF-04: devices in the host's memory share its allocation.
fn one_memory_needs_no_copies(rig: &Rig) -> Outcome {
    let devices = rig.rt.devices();
    let at_home = |d: &&folio_core::DeviceRef| d.info().home == folio_core::hal::MemoryHome::Host;
    let Some(device) = devices.iter().find(at_home) else {
        return unsupported("a device in the host's memory");
    };
    let q = rig.rt.queue_on(device)?;
    let mut x = rig.rt.buffer_from(&[1; 1000])?;
    for _ in 0..3 {
        add(&q, &mut x, 1)?;
        x.write()?[0] += 1;
    }
    ensure_eq!((x.read()?[0], x.read()?[1]), (7, 4));
    ensure_eq!(x.counters().transfers().operations, 0);
    ensure_eq!(x.counters().allocations, 1);
    Ok(())
}

/// PAGE-06
fn discard_of_a_part_keeps_the_border(rig: &Rig) -> Outcome {
    let q = rig.separate(1)?.remove(0);
    let options = BufferOptions::new().page([8]);
    let data: Vec<i32> = (0..24).collect();
    let mut x = rig.rt.buffer_with(&data, options)?;
    // The middle page whole, its neighbours in part.
    set(&q, &mut x, 5, 14, -1)?;
    ensure_eq!(x.counters().transfers().bytes, 0);
    let want: Vec<i32> = (0..24).map(|i| if (5..19).contains(&i) { -1 } else { i }).collect();
    ensure_eq!(x.to_vec()?, want);
    // No more comes back than what was written there.
    ensure_eq!(x.counters().device_to_host.bytes, 14 * 4);
    // The same with the rest read on the device.
    let mut x = rig.rt.buffer_with(&data, BufferOptions::new().page([8]))?;
    set(&q, &mut x, 5, 14, -1)?;
    add(&q, &mut x, 100)?;
    let want: Vec<i32> = want.iter().map(|v| v + 100).collect();
    ensure_eq!(x.counters().host_to_device.bytes, 10 * 4);
    ensure_eq!(x.to_vec()?, want);
    Ok(())
}

/// PAGE-06: several devices discard parts of one page.
fn discards_of_parts_meet_again(rig: &Rig) -> Outcome {
    let queues = rig.separate(3)?;
    let data: Vec<i32> = (0..12).collect();
    let mut x = rig.rt.buffer_from(&data)?;
    ensure_eq!(x.page(), [1, 1, 12]);
    for (n, q) in queues.iter().enumerate() {
        set(q, &mut x, 3 * n, 3, -1 - n as i32)?;
    }
    set(&queues[2], &mut x, 2, 2, -9)?;
    let want = [-1, -1, -9, -9, -2, -2, -3, -3, -3, 9, 10, 11];
    ensure_eq!(x.to_vec()?, want);
    let moved = x.counters();
    ensure_eq!((moved.device_to_host.bytes, moved.host_to_device.bytes), (9 * 4, 0));
    let mut y = rig.rt.buffer::<i32, 1>(12)?;
    read_into(&queues[0], &x, &mut y)?;
    ensure_eq!(y.to_vec()?, want);
    Ok(())
}

/// PAGE-04: of a page that is whole on a device only what is outdated comes back.
fn pieces_that_are_current_are_not_written(rig: &Rig) -> Outcome {
    let q = &rig.separate(1)?[0];
    let data: Vec<i32> = (0..12).collect();
    let mut x = rig.rt.buffer_from(&data)?;
    let mut y = rig.rt.buffer::<i32, 1>(12)?;
    read_into(q, &x, &mut y)?;
    set(q, &mut x, 4, 2, -1)?;
    ensure_eq!(x.to_vec()?, [0, 1, 2, 3, -1, -1, 6, 7, 8, 9, 10, 11]);
    ensure_eq!(x.counters().device_to_host.bytes, 2 * 4);
    set(q, &mut x, 0, 1, -2)?;
    ensure_eq!(x.to_vec()?[..6], [-2, 1, 2, 3, -1, -1]);
    ensure_eq!(x.counters().device_to_host.bytes, 3 * 4);
    Ok(())
}

/// XFER-03, XFER-04, PAGE-01: pages are rows, each device has a band of rows.
fn stencil_moves_the_halo_rows(rig: &Rig) -> Outcome {
    const BAND: usize = 8;
    const WIDTH: usize = 16;
    let bands = rig.rt.devices().len().min(4);
    if bands < 2 {
        return unsupported("several devices");
    }
    let rows = BAND * bands;
    let options = || BufferOptions::new().page([1, WIDTH]);
    let start: Vec<i32> = (0..rows * WIDTH).map(|i| (i * 7 % 23) as i32).collect();
    let mut x = rig.rt.buffer_with((&start, [rows, WIDTH]), options())?;
    let mut y = rig.rt.buffer_with::<i32, 2>([rows, WIDTH], options())?;
    let mut want = start;
    let queues = (0..bands).map(|at| rig.on(at)).collect::<Result<Vec<_>, _>>()?;
    for step in 0..5 {
        let before = rig.rt.counters().transfers();
        for (band, q) in queues.iter().enumerate() {
            smooth(q, &x, &mut y, band * BAND, BAND)?;
        }
        std::mem::swap(&mut x, &mut y);
        let moved = rig.rt.counters().transfers();
        if step > 0 {
            // Neighbours in one memory need nothing.
            let homes: Vec<_> = queues.iter().map(|q| q.device().info().home).collect();
            let halo = 2 * homes.windows(2).filter(|pair| pair[0] != pair[1]).count() as u64;
            ensure_eq!(moved.pages - before.pages, halo, "step {step}");
            ensure_eq!(moved.bytes - before.bytes, halo * WIDTH as u64 * 4);
            ensure_eq!(moved.operations - before.operations, halo);
        }
        let old = want.clone();
        for (i, value) in want.iter_mut().enumerate() {
            let up = if i >= WIDTH { old[i - WIDTH] } else { 0 };
            *value = up + 2 * old[i] + old.get(i + WIDTH).unwrap_or(&0);
        }
    }
    ensure_eq!(x.to_vec()?, want);
    Ok(())
}

fn smooth(
    q: &Queue,
    x: &Buffer<i32, 2>,
    y: &mut Buffer<i32, 2>,
    first: usize,
    rows: usize,
) -> Outcome {
    let [all, width] = x.range();
    let top = first.saturating_sub(1);
    let end = (first + rows + 1).min(all);
    let from = x.slice([top, 0], [end - top, width])?;
    let to = y.slice_mut([first, 0], [rows, width])?;
    q.run([rows, width], smooths(first - top, from, to))?;
    Ok(())
}

/// BUF-06
fn reinterpreted_buffers_share_storage_and_state(rig: &Rig) -> Outcome {
    for at in 0..rig.rt.devices().len() {
        let q = rig.on(at)?;
        let options = BufferOptions::new().page([3]);
        let x = rig.rt.buffer_with((&[1u32, 2, 3, 4, 5, 6, 7, 8], [8]), options)?.into_shared();
        let bytes = x.reinterpret::<u8, 2>([4, 8])?;
        q.run([2, 3], adds_2(0xf0, bytes.slice_mut([1, 2], [2, 3])?))?;
        let mut want: Vec<u8> = (1u32..=8).flat_map(|v| v.to_ne_bytes()).collect();
        for at in [10, 11, 12, 18, 19, 20] {
            want[at] = want[at].wrapping_add(0xf0);
        }
        ensure_eq!(bytes.to_vec()?, want, "device {at}");
        let words: Vec<u32> =
            want.chunks(4).map(|w| u32::from_ne_bytes([w[0], w[1], w[2], w[3]])).collect();
        ensure_eq!(x.to_vec()?, words);
        // A discard of bytes that do not fill whole elements keeps the rest of those.
        q.run([1, 2], puts_2(0xee, bytes.slice_mut([0, 1], [1, 2])?))?;
        let first = x.read()?[0].to_ne_bytes();
        ensure_eq!((first[0], first[1], first[2], first[3]), (want[0], 0xee, 0xee, want[3]));
        let whole = rig.rt.buffer_from(&[1.5f32; 6])?.reinterpret::<u32, 3>([1, 2, 3])?;
        ensure_eq!(whole.to_vec()?, [1.5f32.to_bits(); 6]);
        ensure_eq!(whole.range(), [1, 2, 3]);
    }
    Ok(())
}

/// PAGE-01
fn default_pages(rig: &Rig) -> Outcome {
    ensure_eq!(rig.rt.buffer::<u8, 1>(1 << 16)?.page(), [1, 1, 1 << 16]);
    ensure_eq!(rig.rt.buffer::<u8, 1>((1 << 16) + 1)?.page(), [1, 1, 1 << 16]);
    let rows = rig.rt.buffer::<f64, 2>([5000, 100])?;
    ensure_eq!(rows.page(), [1, 82, 100]);
    let cube = rig.rt.buffer::<u8, 3>([300, 300, 300])?;
    ensure_eq!(cube.page(), [1, 219, 300]);
    Ok(())
}

/// PAGE-01: a page larger than the buffer is cut, the last ones may be smaller.
fn pages_as_asked_for(rig: &Rig) -> Outcome {
    let q = rig.queue()?;
    let options = |page: [usize; 3]| BufferOptions::new().page(page);
    let large = rig.rt.buffer_with::<i32, 3>([2, 3, 4], options([9, 9, usize::MAX]))?;
    ensure_eq!(large.page(), [2, 3, 4]);
    let mut x = rig.rt.buffer_with::<i32, 3>([5, 7, 9], options([2, 3, 4]))?;
    ensure_eq!((x.page(), x.range(), x.len()), ([2, 3, 4], [5, 7, 9], 315));
    q.run([4, 5, 6], places(x.slice_mut([1, 2, 3], [4, 5, 6])?))?;
    let all = x.to_vec()?;
    for (i, value) in all.iter().enumerate() {
        let at = [i / 63, i / 9 % 7, i % 9];
        let inside = at[0] >= 1 && at[1] >= 2 && at[2] >= 3;
        let expect = if inside { 100 * (at[0] - 1) + 10 * (at[1] - 2) + at[2] - 2 } else { 0 };
        ensure_eq!(*value as usize, expect, "{at:?}");
    }
    Ok(())
}

/// XFER-06, DEP-04: copies between buffers and ranges, from slices, fills.
fn copies_fills_and_uploads(rig: &Rig) -> Outcome {
    for at in 0..rig.rt.devices().len() {
        let q = rig.on(at)?;
        let x = rig.rt.buffer_from(&[1u16, 2, 3, 4, 5, 6])?;
        let mut y = rig.rt.buffer::<u16, 1>(6)?;
        q.submit(|cg| {
            cg.fill(&mut y, 9);
            Ok(())
        })?;
        q.submit(|cg| {
            cg.copy(x.slice([1], [3])?, y.slice_mut([2], [3])?);
            Ok(())
        })?;
        {
            let data = vec![70u16, 71];
            q.submit(|cg| {
                cg.copy_from_slice(&data, y.slice_mut([0], [2])?);
                Ok(())
            })?;
        }
        ensure_eq!(y.to_vec()?, [70, 71, 2, 3, 4, 9], "device {at}");
        let counters = q.counters();
        ensure_eq!((counters.fills, counters.copies), (1, 2));
        q.wait()?;
    }
    Ok(())
}

/// DEP-04
fn copies_of_boxes_between_shapes(rig: &Rig) -> Outcome {
    for at in 0..rig.rt.devices().len() {
        let q = rig.on(at)?;
        let data: Vec<i32> = (0..60).collect();
        let x = rig.rt.buffer_with((&data, [3, 4, 5]), BufferOptions::new().page([1, 2, 2]))?;
        let mut y = rig.rt.buffer::<i32, 3>([4, 4, 4])?;
        q.submit(|cg| {
            cg.copy(x.slice([1, 1, 2], [2, 3, 2])?, y.slice_mut([2, 0, 1], [2, 3, 2])?);
            Ok(())
        })?;
        let all = y.to_vec()?;
        for (i, value) in all.iter().enumerate() {
            let at = [i / 16, i / 4 % 4, i % 4];
            let inside = at[0] >= 2 && at[1] < 3 && (1..3).contains(&at[2]);
            let from = || 20 * (at[0] - 1) + 5 * (at[1] + 1) + at[2] + 1;
            ensure_eq!(*value as usize, if inside { from() } else { 0 }, "{at:?}");
        }
        // A box is read by the host row by row, or gathered.
        let part = x.slice([1, 1, 2], [2, 2, 2])?;
        ensure_eq!(part.to_vec()?, [27, 28, 32, 33, 47, 48, 52, 53]);
        let guard = part.read_rows()?;
        ensure_eq!(guard.row(3), Some(&[52, 53][..]));
        ensure_eq!(guard.row(4), None);
    }
    Ok(())
}

/// XFER-03, XFER-06
fn explicit_updates(rig: &Rig) -> Outcome {
    let q = rig.separate(1)?.remove(0);
    let mut x = paged(&rig.rt, &[1, 2, 3, 4])?;
    q.submit(|cg| {
        cg.prefetch(x.slice([1], [2])?, Destination::Device);
        Ok(())
    })?;
    ensure_eq!(x.counters().host_to_device.pages, 2);
    add(&q, &mut x, 10)?;
    ensure_eq!(x.counters().host_to_device.pages, 4);
    q.submit(|cg| {
        cg.prefetch(&x, Destination::Host);
        Ok(())
    })?
    .wait()?;
    ensure_eq!(x.counters().device_to_host.pages, 4);
    ensure_eq!(x.to_vec()?, [11, 12, 13, 14]);
    ensure_eq!(x.counters().device_to_host.operations, 1);
    Ok(())
}

/// BUF-01, BUF-05: legal, without effect.
fn sizes_of_zero_have_no_effect(rig: &Rig) -> Outcome {
    let q = rig.queue()?;
    let mut none = rig.rt.buffer::<i32, 1>(0)?;
    ensure!(none.is_empty(), "not empty");
    let mut flat = rig.rt.buffer::<i32, 3>([4, 0, 2])?;
    let mut x = rig.rt.buffer_from(&[1, 2, 3])?;
    let of_nothing = rig.rt.buffer_from::<f32, 1>(&[])?;
    q.run(0, adds_up(x.slice([3], [0])?, &mut none))?.wait()?;
    q.submit(|cg| {
        cg.fill(&mut flat, 3);
        Ok(())
    })?
    .wait()?;
    q.submit(|cg| {
        cg.copy(none.slice([0], [0])?, x.slice_mut([1], [0])?);
        Ok(())
    })?
    .wait()?;
    q.submit(|cg| {
        cg.copy_from_slice(&[], x.slice_mut([3], [0])?);
        Ok(())
    })?
    .wait()?;
    q.submit(|cg| {
        let (a, b, c) = (cg.read(&none), cg.write(&mut flat), cg.read(&x));
        cg.host_task((a, b, c), |(a, mut b, c)| {
            assert_eq!((a.len(), b.row_mut(0).map(|r| r.len()), c.len()), (0, None, 3));
        });
        Ok(())
    })?
    .wait()?;
    q.submit(|_| Ok(()))?.wait()?;
    ensure!(none.read()?.is_empty() && flat.to_vec()?.is_empty(), "elements out of nothing");
    ensure!(none.write()?.is_empty() && of_nothing.to_vec()?.is_empty(), "elements");
    ensure_eq!(none.reinterpret::<u8, 2>([0, 7])?.to_vec()?.len(), 0);
    let (low, high) = x.split_at_mut(3)?;
    drop((low, high));
    ensure_eq!(x.to_vec()?, [1, 2, 3]);
    ensure_eq!(rig.rt.counters().transfers().bytes, 0);
    q.wait()?;
    Ok(())
}

/// BUF-07: a launch of nothing does not even discard.
fn launches_of_zero_touch_nothing(rig: &Rig) -> Outcome {
    rig.closures()?;
    for at in 0..rig.rt.devices().len() {
        let q = rig.on(at)?;
        let mut x = rig.rt.buffer_from(&[1, 2, 3])?;
        let event = q.submit(|cg| {
            let x = cg.discard(&mut x);
            cg.host_kernel([0], x, |i, mut x| x.put(i, 9));
            Ok(())
        })?;
        event.wait()?;
        ensure_eq!(x.to_vec()?, [1, 2, 3], "device {at}");
        ensure_eq!(x.counters().transfers().operations, 0);
        // Nothing is kept of what a launch of nothing names.
        let rt = rig.rt.clone();
        q.submit(|cg| {
            let own = rt.buffer_from(&[1, 2, 3])?;
            let own = cg.read(&own);
            cg.host_kernel([0], own, |_, _| {});
            Ok(())
        })?
        .wait()?;
    }
    Ok(())
}

/// BUF-05: an empty access beside another one has no memory, and the kernel runs all the same.
fn empty_accesses_beside_others(rig: &Rig) -> Outcome {
    for at in 0..rig.rt.devices().len() {
        let q = rig.on(at)?;
        let none = rig.rt.buffer::<i32, 1>(0)?;
        let full = rig.rt.buffer_from(&[4, 5])?;
        let mut x = rig.rt.buffer::<i32, 1>(2)?;
        q.run(2, extents(&none, full.slice([1], [0])?, &mut x))?;
        ensure_eq!(x.to_vec()?, [7, 7], "device {at}");
    }
    Ok(())
}

/// BUF-01, BUF-02: kernels of one device find the buffer at one place, whoever used it meanwhile.
fn pointers_stay(rig: &Rig) -> Outcome {
    rig.closures()?;
    let count = rig.rt.devices().len();
    let mut x = rig.rt.buffer::<u64, 1>(100)?;
    let mut seen = vec![Vec::new(); count];
    for round in 0..3 {
        for (at, seen) in seen.iter_mut().enumerate() {
            let q = rig.on(at)?;
            let mut place = rig.rt.buffer::<u64, 1>(1)?;
            q.submit(|cg| {
                let (x, place) = (cg.read_write(&mut x), cg.discard(&mut place));
                cg.host_kernel([1], (x, place), |i, (mut x, mut place)| {
                    x[i] += 1;
                    place.put(i, std::ptr::from_ref(&x[i]) as u64);
                });
                Ok(())
            })?;
            seen.push(place.to_vec()?[0]);
            x.write()?[1] = round;
        }
    }
    for seen in &seen {
        ensure!(seen.iter().all(|p| *p == seen[0] && *p != 0), "{seen:?}");
    }
    ensure_eq!(x.to_vec()?[..2], [3 * count as u64, 2]);
    Ok(())
}

/// LINK-02, MEM-01, USM-01: a buffer that asks for it has page-locked memory on the host, within
/// the host's budget; what is moved is the same. A device that has none says so.
fn page_locked_memory_is_the_hosts(rig: &Rig) -> Outcome {
    let name = rig.separate(1)?.remove(0).device().name().to_owned();
    const BYTES: u64 = 4000;
    let n = 1000;
    let rt = rig.builder().links(Links::On).budget("host", BYTES).build()?;
    let q = rt.queue_on(name.as_str())?;
    let device = q.device();
    let in_use = || device.budget().1;
    let options = BufferOptions::new().label("x").page_locked(&device);
    let before = in_use();
    let made = rt.buffer_with(vec![1; n], options.clone());
    if let (Err(Error::Unsupported { .. }), true) =
        (&made, device.info().kind != DeviceKind::Simulated)
    {
        ensure_eq!((rt.counters().page_locked_bytes, in_use()), (0, before));
        return Ok(());
    }
    let mut x = made?;
    ensure_eq!((rt.counters().page_locked_bytes, in_use()), (BYTES, before));
    ensure_eq!(x.allocations().len(), 1);
    let full = rt.buffer_with::<i32, 1>(n, options.clone());
    refused!(full, Error::OutOfMemory { in_use: BYTES, limit: BYTES, .. });
    add(&q, &mut x, 1)?;
    ensure!(matches!(x.linkage(&device)?, Linkage::NotLinked(_)), "it is no link");
    ensure_eq!(x.to_vec()?, vec![2; n]);
    let moved = x.counters();
    ensure_eq!((moved.host_to_device.bytes, moved.device_to_host.bytes), (BYTES, BYTES));
    drop(x);
    let mut y = rt.buffer_with::<i32, 1>(n, options.clone())?;
    ensure_eq!(y.to_vec()?, vec![0; n]);
    y.write()?.fill(5);
    add(&q, &mut y, 1)?;
    ensure_eq!(y.to_vec()?, vec![6; n]);
    drop(y);
    rt.wait()?;
    ensure_eq!(in_use(), before, "all of it is given back");
    let view = rt.view(n, vec![1; n], folio_core::buffer::ViewPolicy::Async.with(options));
    refused!(view.map_err(Error::from), Error::Configuration { .. });
    Ok(())
}
