//! Writebacks of views of which a part has failed: what is well comes back.

use super::rig::*;
use super::tests;
use folio_core::hal::MemoryHome;
use folio_core::{
    Buffer, BufferOptions, Error, Event, Queue, Runtime, buffer::ViewPolicy, memory::Links,
};

tests![
    pages_that_are_well_are_written_back,
    pages_are_written_back_by_their_writers,
    borrowed_pages_that_are_well_are_written_back,
];

/// As many elements as a page of a large view has at least.
const PAGE: usize = 1 << 14;

/// Runtimes without links, and with them.
fn with_and_without_links(rig: &Rig) -> Result<[Runtime; 2], Stop> {
    Ok([rig.builder().build()?, rig.builder().links(Links::On).build()?])
}

/// Has `value` written to `n` elements from `at` on, after an event if there is one.
fn set_after(
    q: &Queue,
    x: &mut Buffer<i32>,
    (at, n, value): (usize, usize, i32),
    after: Option<&Event>,
) -> Outcome {
    let call = puts(value, x.slice_mut([at], [n])?);
    q.submit(|cg| {
        if let Some(event) = after {
            cg.after(event);
        }
        cg.run(n, call);
        Ok(())
    })?;
    Ok(())
}

/// Has a kernel fail on all elements from `at` on.
fn fail_after(q: &Queue, x: &mut Buffer<i32>, at: usize, after: Option<&Event>) -> Outcome {
    let n = x.len() - at;
    let call = fails(1, x.slice_mut([at], [n])?);
    q.submit(|cg| {
        if let Some(event) = after {
            cg.after(event);
        }
        cg.run(n, call);
        Ok(())
    })?;
    Ok(())
}

/// POL-03, ERR-02: a page that is well comes back beside one whose kernel has failed, or fails
/// after the drop, or may.
fn pages_that_are_well_are_written_back(rig: &Rig) -> Outcome {
    for rt in with_and_without_links(rig)? {
        for at in 0..rt.devices().len() {
            let q = on(&rt, at)?;
            for (is_sync, is_known, is_held) in [
                (false, true, false),
                (false, false, false),
                (false, false, true),
                (true, true, false),
                (true, false, false),
            ] {
                let policy = match is_sync {
                    true => ViewPolicy::SyncWriteback,
                    false => ViewPolicy::AsyncWriteback(&q),
                };
                let gate = Gate::new();
                let event = if is_held { Some(gated(&q, &gate)?) } else { None };
                let options = BufferOptions::new().page([4]);
                let made = rt.view(8, vec![1; 8], policy.with(options));
                let (mut x, mut back) = made.map_err(Error::from)?;
                set_after(&q, &mut x, (0, 4, 9), event.as_ref())?;
                fail_after(&q, &mut x, 4, event.as_ref())?;
                if is_known {
                    failure(q.wait())?;
                }
                drop(x);
                gate.open();
                let (came, root) = failed_storage(back.take())?;
                ensure_eq!(panic_message(&root).as_deref(), Some("on purpose"));
                let case = format!("device {at}: sync {is_sync}, {is_known}, {is_held}");
                ensure_eq!(came[..4], [9; 4], "{case}");
                let _ = q.wait();
            }
        }
    }
    Ok(())
}

/// POL-03: each page once, also where several kernels that have not ended have written them, and
/// one of these fails.
fn pages_are_written_back_by_their_writers(rig: &Rig) -> Outcome {
    for at in 0..rig.rt.devices().len() {
        let q = rig.on(at)?;
        let gate = Gate::new();
        let event = gated(&q, &gate)?;
        let options = BufferOptions::new().page([4]);
        let made = rig.rt.view(32, vec![1; 32], ViewPolicy::AsyncWriteback(&q).with(options));
        let (mut x, mut back) = made.map_err(Error::from)?;
        set_after(&q, &mut x, (0, 4, 2), Some(&event))?;
        set_after(&q, &mut x, (8, 8, 3), Some(&event))?;
        set_after(&q, &mut x, (12, 4, 4), Some(&event))?;
        fail_after(&q, &mut x, 24, Some(&event))?;
        let before = rig.rt.counters().device_to_host;
        drop(x);
        let after = rig.rt.counters().device_to_host;
        let on_host = q.device().info().home == MemoryHome::Host;
        let moved = if on_host { [0; 2] } else { [5, 80] };
        ensure_eq!([after.pages - before.pages, after.bytes - before.bytes], moved, "{at}");
        gate.open();
        let (came, _) = failed_storage(back.take())?;
        let expected = |at: usize| [2, 1, 3, 4, 1, 1][at / 4];
        ensure_eq!(came[..24], (0..24).map(expected).collect::<Vec<_>>(), "{at}");
        let _ = q.wait();
    }
    Ok(())
}

/// POL-05, ERR-02: the same of a borrowed slice, by the drop, the close and the scope's end.
fn borrowed_pages_that_are_well_are_written_back(rig: &Rig) -> Outcome {
    for rt in with_and_without_links(rig)? {
        for at in 0..rt.devices().len() {
            let q = on(&rt, at)?;
            for how in ["drop", "sync drop", "close", "leak"] {
                let mut data = vec![1; 3 * PAGE];
                let ended = rt.scope(|scope| -> Outcome {
                    let mut x = match how {
                        "drop" => scope.view_mut(&mut data)?,
                        _ => scope.view_mut_with(3 * PAGE, &mut data, ViewPolicy::SyncWriteback)?,
                    };
                    set_after(&q, &mut x, (0, PAGE, 9), None)?;
                    fail_after(&q, &mut x, PAGE, None)?;
                    match how {
                        "close" => drop(failure(x.close())?),
                        "leak" => std::mem::forget(x),
                        _ => drop(x),
                    }
                    Ok(())
                });
                failure(ended.map(|inner| inner.map(drop)))?;
                ensure!(data[..PAGE].iter().all(|x| *x == 9), "device {at}, {how}: {:?}", data[0]);
                let _ = q.wait();
            }
        }
    }
    Ok(())
}
