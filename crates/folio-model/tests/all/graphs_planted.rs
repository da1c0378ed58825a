//! Bugs on purpose in random programs of graphs are found, and those that only some programs show.
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

use crate::graphs::case;
use crate::graphs_steps::puts;
use crate::graphs_world::{Seen, builder};
use folio::prelude::*;
use folio_core::Result;
use folio_core::planted::Planted;
use folio_cpu::CpuBackend;

/// Runs cases with the bug until one shows it.
fn caught(bug: Planted) {
    let seen = Seen::default();
    let caught = (1..=1000).any(|seed| {
        // SAFETY: the bug leaves wrong numbers in buffers, within their bounds.
        let rt = unsafe { builder(seed).plant(bug) }.build().unwrap();
        case(rt, seed, &seen).is_err()
    });
    assert!(caught, "{bug:?} was not caught: {:?}", seen.lock().unwrap());
}

#[test]
fn planted_lost_edge_of_a_graph_is_caught() {
    caught(Planted::LostEdge);
}

#[test]
fn planted_list_that_waits_for_its_first_access_only_is_caught() {
    caught(Planted::FirstOnly);
}

#[test]
fn planted_list_of_earlier_commands_is_caught() {
    caught(Planted::OldList);
}

#[test]
fn planted_exchange_while_a_replay_is_on_its_way_is_caught() {
    caught(Planted::EarlyExchange);
}

#[test]
fn planted_block_whose_arguments_are_not_exchanged_is_caught() {
    caught(Planted::StaleScalar);
}

#[test]
fn planted_temporary_that_shares_memory_while_alive_is_caught() {
    caught(Planted::SharedAlive);
}

/// A CPU's runtime with a bug, or without one.
fn one_cpu(bug: Option<Planted>) -> Runtime {
    let cpu = CpuBackend::builder().domains(1).threads(1).build().unwrap();
    let builder = Runtime::builder().backend(cpu);
    let builder = match bug {
        // SAFETY: the bugs of these tests leave another number.
        Some(bug) => unsafe { builder.plant(bug) },
        None => builder,
    };
    builder.build().unwrap()
}

/// A block of which the first command has this value; the others are always the same.
fn with_value(q: &Queue, value: i64, [x, y]: [&Shared<i64>; 2]) -> Result<()> {
    q.run(4, puts(value, x))?;
    (0..9).try_for_each(|_| q.run(4, puts(1, y)).map(drop))
}

/// GRAPH-08
#[test]
fn planted_block_with_the_values_of_an_earlier_one_is_caught() {
    let left = |bug| {
        let rt = one_cpu(bug);
        let [x, y] = [0; 2].map(|_| rt.buffer::<i64, 1>(4).unwrap().into_shared());
        let q = rt.queue().unwrap();
        let block = |q: &Queue, value| with_value(q, value, [&x, &y]);
        for _ in 0..50 {
            q.batch(|q| block(q, 1)).unwrap().1.wait().unwrap();
        }
        assert!(q.batch_report().replayed > 0, "{:?}", q.batch_report());
        q.batch(|q| block(q, 100)).unwrap();
        x.get([0]).unwrap()
    };
    assert_eq!((left(None), left(Some(Planted::OtherValues))), (100, 1));
}

/// GRAPH-08: the graph of a known block does something else by the time it is submitted.
#[test]
fn planted_block_of_another_version_is_caught() {
    let left = |bug| {
        let rt = one_cpu(bug);
        let [x, y] = [0; 2].map(|_| rt.buffer::<i64, 1>(4).unwrap().into_shared());
        let q = rt.queue().unwrap();
        let block = |q: &Queue, value| with_value(q, value, [&x, &y]);
        for value in 0..50 {
            q.batch(|q| block(q, value)).unwrap().1.wait().unwrap();
        }
        let before = q.batch_report();
        assert!(before.exchanged > 0, "{before:?}");
        q.batch(|outer| {
            block(outer, 49)?;
            q.batch(|q| block(q, 100)).map(drop)
        })
        .unwrap();
        assert_eq!(q.batch_report().exchanged, before.exchanged + 1);
        x.get([0]).unwrap()
    };
    assert_eq!((left(None), left(Some(Planted::OldVersion))), (49, 100));
}
