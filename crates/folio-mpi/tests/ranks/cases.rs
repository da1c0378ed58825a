//! What is true of a wire in a world of any size.

use folio_core::hal::{Arrival, NOTE, NUMBERS, Rank, Wire, WireError};
use std::time::{Duration, Instant};

type Case = fn(&mut dyn Wire) -> Result<(), WireError>;

/// Each case, by its name.
pub const CASES: &[(&str, Case)] = &[
    ("notes", notes_arrive_in_order),
    ("pieces", pieces_go_where_they_belong),
    ("backwards", ends_may_begin_in_any_order),
    ("sizes", another_size_is_an_error),
    ("input", bad_input_is_refused),
];

/// Polls until something has happened; a world that stands still is a failure.
fn next(wire: &mut dyn Wire) -> Result<Arrival, WireError> {
    let start = Instant::now();
    loop {
        if let Some(arrival) = wire.poll()? {
            return Ok(arrival);
        }
        assert!(start.elapsed() < Duration::from_secs(30), "rank {} waits for ever", wire.me());
        std::thread::yield_now();
    }
}

/// Meets the others, behind which nothing of this case comes.
fn meet(wire: &mut dyn Wire) -> Result<(), WireError> {
    wire.meet()?;
    assert_eq!(next(wire)?, Arrival::Together);
    Ok(())
}

/// The bytes that a rank sends to another one as a piece.
fn bytes(from: Rank, to: Rank, number: u64, count: usize) -> Vec<u8> {
    let seed = u64::from(from) * 7919 + u64::from(to) * 104_729 + number * 31;
    (0..count as u64).map(|k| ((seed + k * k + k / 251) % 251) as u8).collect()
}

fn notes_arrive_in_order(wire: &mut dyn Wire) -> Result<(), WireError> {
    const COUNT: usize = 200;
    let (me, ranks) = (wire.me(), wire.ranks());
    let note = |from: Rank, to: Rank, k: usize| bytes(from, to, k as u64, k % (NOTE + 1));
    for k in 0..COUNT {
        for to in 0..ranks {
            wire.post(to, &note(me, to, k))?;
        }
    }
    let mut seen = vec![0; ranks as usize];
    while seen.iter().any(|&count| count < COUNT) {
        let arrival = next(wire)?;
        let Arrival::Note { from, note: found } = arrival else { panic!("{arrival:?}") };
        let k = &mut seen[from as usize];
        assert_eq!(found, note(from, me, *k), "note {k} of rank {from} to {me}");
        *k += 1;
    }
    meet(wire)
}

/// Sends a piece of each size to each rank, itself too, and awaits as many, in the order that
/// `order` makes of them.
fn exchange(
    wire: &mut dyn Wire,
    sizes: &[usize],
    numbers: impl Fn(usize) -> u64,
    order: impl Fn(&mut Vec<(Rank, usize)>),
) -> Result<(), WireError> {
    let (me, ranks) = (wire.me(), wire.ranks());
    let mut all: Vec<_> =
        (0..ranks).flat_map(|rank| (0..sizes.len()).map(move |k| (rank, k))).collect();
    let sent: Vec<Vec<u8>> =
        all.iter().map(|&(to, k)| bytes(me, to, numbers(k), sizes[k])).collect();
    let mut received: Vec<Vec<u8>> = all.iter().map(|&(_, k)| vec![0xee; sizes[k] + 3]).collect();
    for (&(to, k), memory) in all.iter().zip(&sent) {
        // SAFETY: `sent` is neither written nor dropped before all pieces have ended.
        unsafe { wire.send(to, numbers(k), memory.as_ptr(), sizes[k])? };
    }
    let place = |rank: Rank, k: usize| rank as usize * sizes.len() + k;
    order(&mut all);
    for &(from, k) in &all {
        let into = received[place(from, k)].as_mut_ptr();
        // SAFETY: `received` is not looked at before all pieces have ended, and does not move.
        unsafe { wire.receive(from, numbers(k), into, sizes[k])? };
    }
    let mut ended = (0, 0);
    while ended != (all.len(), all.len()) {
        match next(wire)? {
            Arrival::Sent { .. } => ended.0 += 1,
            Arrival::Received { .. } => ended.1 += 1,
            other => panic!("{other:?}"),
        }
    }
    for &(from, k) in &all {
        let found = &received[place(from, k)];
        assert!(found[..sizes[k]] == bytes(from, me, numbers(k), sizes[k]), "{from} to {me}: {k}");
        assert_eq!(found[sizes[k]..], [0xee; 3], "nothing behind the memory is written");
    }
    meet(wire)
}

fn pieces_go_where_they_belong(wire: &mut dyn Wire) -> Result<(), WireError> {
    let sizes = [0, 1, 7, 4096, 65_537, 700_000];
    exchange(wire, &sizes, |k| k as u64, |_| {})?;
    // Numbers go on for ever, and so beyond what a message's tag can hold.
    exchange(wire, &sizes, |k| 5 * NUMBERS - 3 + k as u64, |_| {})
}

fn ends_may_begin_in_any_order(wire: &mut dyn Wire) -> Result<(), WireError> {
    let sizes: Vec<usize> = (0..50).map(|k| (k * 7919) % 100_000).collect();
    exchange(wire, &sizes, |k| k as u64, |all| all.reverse())
}

fn another_size_is_an_error(wire: &mut dyn Wire) -> Result<(), WireError> {
    let me = wire.me();
    let (sent, mut received) = ([1u8; 10], [0u8; 20]);
    // SAFETY: both arrays stay until the ends are told, and are not looked at before.
    unsafe {
        wire.send(me, 1, sent.as_ptr(), sent.len())?;
        wire.receive(me, 1, received.as_mut_ptr(), received.len())?;
    }
    let mut seen = 0;
    while seen < 2 {
        match next(wire) {
            Ok(Arrival::Sent { number: 1, .. }) => seen += 1,
            Err(WireError::Size { from, number: 1, expected: 20 }) if from == me => seen += 1,
            other => panic!("{other:?}"),
        }
    }
    meet(wire)
}

fn bad_input_is_refused(wire: &mut dyn Wire) -> Result<(), WireError> {
    let ranks = wire.ranks();
    let nobody = WireError::NoRank { rank: ranks, ranks };
    assert_eq!(wire.post(ranks, &[1]), Err(nobody.clone()));
    assert_eq!(wire.post(0, &[0; NOTE + 1]), Err(WireError::Note { bytes: NOTE + 1 }));
    let mut memory = [0u8; 4];
    // SAFETY: both are refused, and use no memory.
    unsafe {
        assert_eq!(wire.send(ranks, 0, memory.as_ptr(), 4), Err(nobody.clone()));
        assert_eq!(wire.receive(ranks, 0, memory.as_mut_ptr(), 4), Err(nobody));
    }
    assert_eq!(wire.poll()?, None);
    meet(wire)
}
