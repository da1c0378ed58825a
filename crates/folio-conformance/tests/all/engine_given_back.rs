//! Memory that is given back, and memory written by its address, beside devices that are lost and
//! pages in pieces. Random programs found each of these.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests may panic")]

use crate::engine_lost::{KINDS, eventually, kinds, on};
use folio_conformance::pool::Pool;
use folio_core::{
    Buffer, BufferOptions, Cause, Destination, DeviceRef, Error, Runtime,
    buffer::{ReclaimError, ViewPolicy},
    memory::Links,
};
use folio_sim::{DeviceSpec, SimBackend, SimHandle};

fn devices<const N: usize>() -> (Runtime, SimHandle, [DeviceRef; N]) {
    let backend = SimBackend::builder().devices(N, DeviceSpec::new()).build();
    let sim = backend.handle();
    let rt = Runtime::builder().backend(backend).build().unwrap();
    let all = rt.devices();
    let all = std::array::from_fn(|at| all[at].clone());
    (rt, sim, all)
}

fn one_page(rt: &Runtime) -> Buffer<i32> {
    rt.buffer_with((&[1, 2, 3, 4], [4]), BufferOptions::new().page([4]).label("data")).unwrap()
}

/// Adds 1 to every element.
fn add(rt: &Runtime, device: &DeviceRef, x: &mut Buffer<i32>) -> Result<(), Error> {
    let add = rt.queue_on(device)?.submit(|cg| {
        let x = cg.read_write(x);
        cg.host_kernel([4], x, |i, mut x| x[i] += 1);
        Ok(())
    });
    add?.wait()
}

/// Makes a buffer current on a device.
fn bring(rt: &Runtime, device: &DeviceRef, x: &Buffer<i32>) {
    let update = rt.queue_on(device).unwrap().submit(|cg| {
        cg.prefetch(x, Destination::Device);
        Ok(())
    });
    update.unwrap().wait().unwrap();
}

/// Takes away the first device, and lets somebody notice.
fn lose(rt: &Runtime, sim: &SimHandle, device: &DeviceRef) {
    sim.lose(0);
    let work = rt.queue_on(device).unwrap().submit(|cg| {
        cg.host_kernel([1], (), |_, ()| {});
        Ok(())
    });
    work.unwrap().wait().unwrap_err();
}

#[track_caller]
fn only_copy(result: Result<(), Error>) {
    assert!(
        matches!(&result, Err(Error::OnlyCopy { buffer }) if buffer.as_str() == "data"),
        "{result:?}"
    );
}

/// BUF-07, ERR-04: what was on a lost device only is lost. If that memory could be given back, it
/// would be as if nobody had ever written the data, and read as zero.
#[test]
fn what_a_lost_device_alone_had_is_not_given_back() {
    let (rt, sim, [a, b]) = devices();
    let mut x = one_page(&rt);
    add(&rt, &a, &mut x).unwrap();
    let mut y = one_page(&rt);
    bring(&rt, &a, &y);
    lose(&rt, &sim, &a);
    only_copy(x.release(&a));
    for _ in 0..2 {
        match x.to_vec() {
            Err(Error::Failed(failure)) => {
                assert!(matches!(failure.cause(), Cause::DataLost), "{failure}");
            }
            other => panic!("{other:?}"),
        }
        only_copy(x.release(&a));
    }
    // What is elsewhere, too, needs no lost memory.
    y.release(&a).unwrap();
    add(&rt, &b, &mut y).unwrap();
    assert_eq!(y.to_vec().unwrap(), [2, 3, 4, 5]);
}

/// USM-02, ERR-04: what was written by its address on a device that is lost is not there.
#[test]
fn writes_by_address_on_a_lost_device_are_refused() {
    let (rt, sim, [a, b]) = devices();
    let mut x = one_page(&rt);
    bring(&rt, &a, &x);
    lose(&rt, &sim, &a);
    // SAFETY: the device that could write it is gone, and nothing else uses the buffer.
    let refused = unsafe { x.assume_written([0], [4], &a) };
    assert!(
        matches!(&refused, Err(Error::Device { device, .. }) if device == "sim:0"),
        "{refused:?}"
    );
    assert_eq!(x.to_vec().unwrap(), [1, 2, 3, 4], "it has changed nothing");
    add(&rt, &b, &mut x).unwrap();
    assert_eq!(x.to_vec().unwrap(), [2, 3, 4, 5]);
}

/// PAGE-06: a page in pieces is whole on one device only, but each piece is somewhere else, too.
#[test]
fn pages_in_pieces_are_given_back_by_their_pieces() {
    let in_pieces = || {
        let (rt, _, devices) = devices::<3>();
        let mut x = one_page(&rt);
        bring(&rt, &devices[1], &x);
        let half = rt.queue_on(&devices[0]).unwrap().submit(|cg| {
            let x = cg.discard(x.slice_mut([0], [2])?);
            cg.host_kernel([2], x, |i, mut x| x.put(i, 7));
            Ok(())
        });
        half.unwrap().wait().unwrap();
        bring(&rt, &devices[2], &x);
        (x, devices)
    };
    let (mut x, [a, _, c]) = in_pieces();
    x.release(&c).unwrap();
    only_copy(x.release(&a));
    assert_eq!(x.to_vec().unwrap(), [7, 7, 3, 4]);
    let (mut x, [a, b, c]) = in_pieces();
    x.release(&a).unwrap();
    x.release(&b).unwrap();
    only_copy(x.release(&c));
    assert_eq!(x.to_vec().unwrap(), [7, 7, 3, 4]);
}

/// POL-03, ERR-04: of a view whose pages are on two devices, of which one is lost, what the other
/// one has is written back. The rest is the error.
#[test]
fn what_a_lost_device_does_not_have_is_written_back() {
    for is_sync in [false, true] {
        let (rt, sim, all) = devices::<2>();
        let q = rt.queue_on(&all[1]).unwrap();
        let policy = match is_sync {
            true => ViewPolicy::SyncWriteback,
            false => ViewPolicy::AsyncWriteback(&q),
        };
        let options = BufferOptions::new().page([4]);
        let Ok((mut x, mut back)) = rt.view(16, vec![1; 16], policy.with(options)) else {
            panic!("no view")
        };
        for (at, device) in [1, 0, 1].into_iter().enumerate() {
            let set = rt.queue_on(&all[device]).unwrap().submit(|cg| {
                let x = cg.discard(x.slice_mut([4 * at], [4])?);
                cg.host_kernel([4], x, move |i, mut x| x.put(i, at as i32 + 5));
                Ok(())
            });
            set.unwrap().wait().unwrap();
        }
        lose(&rt, &sim, &all[0]);
        drop(x);
        let Err(ReclaimError { error, storage: Some(came) }) = back.take() else {
            panic!("nothing is lost")
        };
        assert!(matches!(error, Error::Failed(why) if matches!(why.cause(), Cause::DataLost)));
        assert_eq!((&came[..4], &came[8..]), (&[5; 4][..], &[7, 7, 7, 7, 1, 1, 1, 1][..]));
    }
}

/// ERR-04, MPTR-01: memory of an allocator of the program comes back once, also from a device that
/// is lost with work under way, and that uses the memory as its own.
#[test]
fn memory_of_an_allocator_comes_back_from_a_lost_device() {
    for (name, builder) in kinds() {
        for links in [Links::Off, Links::On] {
            let backend = builder.clone().build();
            let sim = backend.handle();
            let rt = Runtime::builder().backend(backend).links(links).build().unwrap();
            let q = on(&rt, 0);
            let pool = Pool::new(usize::MAX);
            let options = BufferOptions::new().allocator(pool.clone());
            let mut x = rt.buffer_with(&[1; 8], options.clone()).unwrap();
            let mut idle = rt.buffer_with(&[1; 8], options).unwrap();
            q.fill(&mut idle, 2).unwrap().wait().unwrap();
            KINDS.iter().for_each(|lane| sim.hold(0, *lane));
            let added = q.fill(&mut x, 3).unwrap();
            drop(idle);
            sim.lose(0);
            assert!(added.wait().is_err(), "{name}");
            drop((added, x));
            let _ = rt.wait();
            eventually("all memory came back", || pool.out() == 0);
            assert_eq!((pool.given(), pool.wrong()), (2, 0), "{name}");
            eventually("everything is given back", || sim.live_allocations() == (0, 0));
        }
    }
}
