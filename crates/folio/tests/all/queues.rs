//! Fills, copies and timed commands of queues. XFER-01, OBS-01
#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests may panic")]

use folio::cpu::CpuBackend;
use folio::prelude::*;
use folio::sched::RoundRobin;
use folio::{UsmKind, error::UseSite};

fn cpu(domains: usize) -> Runtime {
    let backend = CpuBackend::builder().domains(domains).threads(2).build().unwrap();
    Runtime::builder().backend(backend).build().unwrap()
}

/// OBS-01: a host task is timed as well, by the host's clock; one that is not asked is not.
#[test]
fn timed_host_tasks_tell_when_they_ran() {
    let rt = cpu(1);
    let q = rt.queue().unwrap();
    let mut x = rt.buffer::<i32, 1>(1).unwrap();
    let mut task = |q: &Queue| {
        let command = q.submit(|cg| {
            let x = cg.write(&mut x);
            cg.host_task(x, |mut x| x[0] += 1);
            Ok(())
        });
        command.unwrap()
    };
    let (first, second, plain) = (task(&q.timed()), task(&q.timed()), task(&q));
    plain.wait().unwrap();
    let [first, second] = [first, second].map(|event| event.timing().unwrap());
    assert!(first.queued <= first.started && first.started <= first.ended, "{first:?}");
    assert!(first.queued <= second.queued && first.ended <= second.started, "{second:?}");
    assert!(plain.timing().is_none());
    assert_eq!(x.get(0).unwrap(), 3);
}

/// Whatever a command can write is filled, and nothing is brought for it. XFER-01
#[test]
fn fills_write_all_of_what_they_take() {
    let rt = cpu(2);
    let q = rt.queue_on("cpu:1").unwrap();
    let mut x = rt.buffer_from((&[1i32; 16], [4, 4])).unwrap();
    q.fill(&mut x, 7).unwrap();
    assert_eq!(x.counters().host_to_device.bytes, 0);
    q.fill(x.slice_mut([1, 1], [2, 2]).unwrap(), 8).unwrap();
    let mut row = x.slice_mut([3, 0], [1, 4]).unwrap();
    q.fill(&mut row, 9).unwrap().wait().unwrap();
    assert_eq!(x.to_vec().unwrap(), [7, 7, 7, 7, 7, 8, 8, 7, 7, 8, 8, 7, 9, 9, 9, 9]);
    assert_eq!(q.counters().fills, 3);

    let shared = rt.buffer::<f64, 1>(3).unwrap().into_shared();
    q.fill(&shared, 0.5).unwrap();
    assert_eq!(shared.to_vec().unwrap(), [0.5; 3]);
    let mut usm = rt.usm::<u8>(&q.device(), UsmKind::Device, 4).unwrap();
    q.fill(&mut usm, 3).unwrap();
    assert_eq!(usm.into_buffer().to_vec().unwrap(), [3; 4]);
    q.fill(&mut rt.buffer::<u8, 2>([0, 3]).unwrap(), 1).unwrap().wait().unwrap();
}

#[test]
fn copies_are_between_equal_extents() {
    let rt = cpu(2);
    let q = rt.queue_on("cpu:1").unwrap();
    let x = rt.buffer_from((0..12).collect::<Vec<u16>>()).unwrap();
    let mut y = rt.buffer(12).unwrap();
    q.copy(&x, &mut y).unwrap();
    q.copy(x.slice([10], [2]).unwrap(), y.slice_mut([0], [2]).unwrap()).unwrap();
    assert_eq!(y.to_vec().unwrap(), [10, 11, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
    assert_eq!(q.counters().copies, 2);

    let refused = q.copy(&x, y.slice_mut([0], [5]).unwrap());
    let Err(Error::Mismatch { source_extent, target, .. }) = refused else { panic!("{refused:?}") };
    assert_eq!((source_extent, target), (vec![12], vec![5]));
    let y = y.into_shared();
    let refused = q.copy(&y, &y);
    assert!(matches!(refused, Err(Error::Aliasing { .. })), "{refused:?}");
    let other = cpu(1).buffer::<u16, 1>(12).unwrap();
    let refused = q.copy(&other, &y);
    let Err(Error::WrongRuntime { by: Some(UseSite { access, .. }), .. }) = refused else {
        panic!("{refused:?}")
    };
    assert_eq!((access, q.counters().copies), (Some(0), 2));
}

#[kernel]
fn counted(i: Item, x: InOut<u32>) {
    x[i] += 1;
}

/// OBS-01: times of each kind of command, on the same queue.
#[test]
fn commands_through_a_timed_queue_have_times() {
    let rt = cpu(2);
    for q in [rt.queue_on("cpu:1").unwrap(), rt.queue_over(&[], RoundRobin).unwrap()] {
        let (mut x, mut y) = (rt.buffer::<u32, 1>(100).unwrap(), rt.buffer::<u32, 1>(100).unwrap());
        let timed = q.timed();
        let events = [
            timed.run(100, counted(&mut x)).unwrap(),
            timed.run_each([Items::from(0..50), Items::from(50..100)], counted(&mut x)).unwrap(),
            timed.fill(&mut x, 5).unwrap(),
            timed.clone().copy(&x, &mut y).unwrap(),
            timed
                .submit(|cg| {
                    cg.run(100, counted(&mut y));
                    Ok(())
                })
                .unwrap(),
        ];
        q.wait().unwrap();
        for (nth, event) in events.iter().enumerate() {
            // The second one is two commands.
            let times = event.timing().map(|times| times.started <= times.ended);
            assert_eq!(times, (nth != 1).then_some(true), "{nth}");
        }
        let event = q.run(100, counted(&mut y)).unwrap();
        event.wait().unwrap();
        assert!(event.timing().is_none());
        assert_eq!((y.get(99).unwrap(), timed.counters().launches), (7, 5));
    }
}
