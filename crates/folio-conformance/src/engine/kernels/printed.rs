//! Kernels that print: `print!`, in the order of items.
#![forbid(unsafe_code)]

use crate::engine::rig::*;
use folio::prelude::*;

#[kernel]
fn prints(i: Item, x: In<f32>, y: Out<f32>, log: Log) {
    y[i] = x[i];
    let i = i.index();
    if i % 3 == 1 {
        print!("x[{i}] = {}, {:.2}", x[i], -x[i]);
    }
    if i == 4 {
        for k in [7i8, -7] {
            println!("{{{}}} {:x} {:b} {}", k, i * 60, 5u8, x[i] > 100.0);
        }
    }
}

#[kernel]
fn prints_in_a_plane(i: Item<2>, y: Out<f64, 2>, log: Log) {
    let (r, c) = i.pos();
    let half = f16::from_f32(c as f32 / 2.0);
    y[i] = r as f64;
    print!("{} {half}", y.shape()[0] - r);
}

#[device_fn]
fn root_of(x: f32, i: Item, log: Log) -> f32 {
    if x < 0.0 {
        print!("{x} has no root");
    }
    x.abs().sqrt()
}

#[device_fn]
fn half_of(x: f32, i: Item, log: Log) -> f32 {
    print!("half of {}", x);
    root_of(x / 2.0, i, log)
}

#[kernel]
fn prints_in_functions(i: Item, x: In<f32>, y: Out<f32>, log: Log) {
    y[i] = if i.index() == 2 { half_of(x[i], i, log) } else { root_of(x[i], i, log) };
}

#[device_fn]
fn tells(k: u32, i: Item<2>, log: Log) {
    let (_, c) = i.pos();
    print!("{} of {k}", c as u32 * k);
}

/// Phases print, and functions that they call; lines of an item are in the order of phases.
#[kernel(group = [2, 4])]
fn prints_in_groups(g: Group<2>, y: Out<u32, 2>, log: Log, tile: Local<u32, 8>) {
    let (r, _) = g.pos();
    g.each(|i| {
        tile[i] = i.local_index() as u32;
        if i.local_index() == 5 {
            print!("first {}", tile[i]);
        }
    });
    g.each(|i| {
        y[i] = tile[7];
        if i.local_index() == 5 && r == 1 {
            tells(tile[6], i, log);
        }
    });
}

/// semantics 10.5: functions print with the item and the log that they are given.
pub(super) fn functions_print(rig: &Rig) -> Outcome {
    for device in rig.rt.devices() {
        let (q, log) = (rig.rt.queue_on(&device)?, Log::new(&rig.rt, 1000)?);
        let x = rig.rt.buffer_from(&[4.0f32, -9.0, -8.0, 1.0])?;
        let mut y = rig.rt.buffer::<f32, 1>(4)?;
        let event = q.submit(|cg| {
            cg.run(4, prints_in_functions(&x, &mut y, &log));
            Ok(())
        })?;
        event.wait()?;
        let wanted = "[1] -9.0 has no root\n[2] half of -8.0\n[2] -4.0 has no root\n";
        ensure_eq!(log.take()?.to_string(), wanted, "{}", device.info().name);
        ensure_eq!(y.to_vec()?, [2.0, 3.0, 2.0, 1.0]);
    }
    Ok(())
}

/// semantics 10.5: items of groups print.
pub(super) fn groups_print(rig: &Rig) -> Outcome {
    for device in rig.rt.devices() {
        let (q, log) = (rig.rt.queue_on(&device)?, Log::new(&rig.rt, 1000)?);
        let mut y = rig.rt.buffer::<u32, 2>([4, 4])?;
        q.run([4, 4], prints_in_groups(&mut y, &log))?;
        let wanted = "[1, 1] first 5\n[3, 1] first 5\n[3, 1] 6 of 6\n";
        ensure_eq!(log.take()?.to_string(), wanted, "{}", device.info().name);
        ensure_eq!(y.to_vec()?, [7; 16]);
    }
    Ok(())
}

/// semantics 10.5: what items print comes in the order of items, on every device.
pub(super) fn items_print(rig: &Rig) -> Outcome {
    for device in rig.rt.devices() {
        let (q, log) = (rig.rt.queue_on(&device)?, Log::new(&rig.rt, 1000)?);
        let x = rig.rt.buffer_from(&[0.5f32, 1.0, f32::NAN, -0.0, 1e10, 0.1, 6.0, 7.125])?;
        let mut y = rig.rt.buffer::<f32, 1>(8)?;
        q.run(8, prints(&x, &mut y, &log))?;
        let lines = log.take()?;
        let wanted = "\
            [1] x[1] = 1.0, -1.00\n\
            [4] x[4] = 10000000000.0, -10000000000.00\n\
            [4] {7} f0 101 true\n\
            [4] {-7} f0 101 true\n\
            [7] x[7] = 7.125, -7.12\n";
        ensure_eq!(lines.to_string(), wanted, "{}", device.info().name);
        ensure_eq!(lines.lost, 0);
        ensure!(log.take()?.lines.is_empty(), "there is room again");
        let mut z = rig.rt.buffer::<f64, 2>([2, 2])?;
        q.run([2, 2], prints_in_a_plane(&mut z, &log))?;
        let wanted = "[0, 0] 2 0.0\n[0, 1] 2 0.5\n[1, 0] 1 0.0\n[1, 1] 1 0.5\n";
        ensure_eq!(log.take()?.to_string(), wanted);
    }
    Ok(())
}

/// semantics 10.5: lines for which there is no room are counted.
pub(super) fn logs_have_a_limit(rig: &Rig) -> Outcome {
    for device in rig.rt.devices() {
        // A line of `prints_in_a_plane` has 13 words.
        let (q, log) = (rig.rt.queue_on(&device)?, Log::new(&rig.rt, 40)?);
        let mut y = rig.rt.buffer::<f64, 2>([10, 10])?;
        q.run([10, 10], prints_in_a_plane(&mut y, &log))?;
        let lines = log.take()?;
        ensure_eq!((lines.lines.len(), lines.lost), (3, 97), "{}", device.info().name);
        ensure!(lines.to_string().ends_with("97 more lines had no room\n"), "{lines}");
    }
    Ok(())
}
