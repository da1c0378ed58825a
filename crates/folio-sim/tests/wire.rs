//! Ranks in one process: what is true of each wire, late, out of order, and with losses.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests may panic")]

#[path = "../../folio-mpi/tests/ranks/cases.rs"]
mod cases;

use folio_core::hal::{Arrival, Wire, WireError};
use folio_sim::SimWorld;

/// Runs each case in a world, with a thread for each rank.
fn in_world(world: &SimWorld, ranks: u32) {
    std::thread::scope(|scope| {
        for rank in 0..ranks {
            let mut wire = world.wire(rank);
            scope.spawn(move || {
                for (name, case) in cases::CASES {
                    let outcome = case(&mut wire);
                    assert_eq!(outcome, Ok(()), "{name}, rank {rank} of {ranks}");
                }
            });
        }
    });
}

#[test]
fn worlds_in_time_and_late() {
    for ranks in [1, 2, 3, 5] {
        in_world(&SimWorld::new(ranks), ranks);
        for seed in 0..1 {
            in_world(&SimWorld::new(ranks).late(40).seed(seed), ranks);
        }
    }
}

#[test]
fn late_pieces_overtake_each_other() {
    let world = SimWorld::new(2).late(50).seed(3);
    let (mut first, mut second) = (world.wire(0), world.wire(1));
    let (sent, mut received) = ([7u8; 20], [0u8; 20]);
    for number in 0..20 {
        // SAFETY: both arrays are there until the end of the test, and looked at after the ends.
        unsafe {
            first.send(1, number as u64, &sent[number], 1).unwrap();
            second.receive(0, number as u64, &mut received[number], 1).unwrap();
        }
    }
    let mut order = Vec::new();
    while order.len() < 20 {
        if let Some(Arrival::Received { number, .. }) = second.poll().unwrap() {
            order.push(number);
        }
    }
    assert!(!order.is_sorted(), "{order:?}");
    assert_eq!(received, sent);
    assert_eq!(world.messages(), (20, 20));
}

#[test]
fn lost_messages_and_dead_ranks_say_nothing() -> Result<(), WireError> {
    let world = SimWorld::new(3).lost(4).seed(1);
    let [mut first, mut second, mut third] = [0, 1, 2].map(|rank| world.wire(rank));
    let mut arrived = 0;
    for _ in 0..400 {
        first.post(1, b"x")?;
        arrived += usize::from(second.poll()?.is_some());
    }
    assert!((200..400).contains(&arrived), "{arrived} of 400");
    world.kill(0);
    for _ in 0..100 {
        first.post(2, b"x")?;
        second.post(0, b"x")?;
        assert_eq!((third.poll()?, first.poll()?), (None, None));
    }
    Ok(())
}

/// Pieces of a rank that has left are not touched any more.
#[test]
fn ends_of_a_rank_that_has_left_are_forgotten() -> Result<(), WireError> {
    let world = SimWorld::new(2);
    let mut second = world.wire(1);
    let mut received = [5u8; 4];
    {
        let mut first = world.wire(0);
        let sent = [1u8; 4];
        // SAFETY: the wire is dropped before the memory.
        unsafe { first.send(1, 0, sent.as_ptr(), 4)? };
        drop(first);
        let _ = sent;
    }
    // SAFETY: the memory is there until the end of the test.
    unsafe { second.receive(0, 0, received.as_mut_ptr(), 4)? };
    for _ in 0..10 {
        assert_eq!(second.poll()?, None);
    }
    assert_eq!(received, [5; 4]);
    Ok(())
}
