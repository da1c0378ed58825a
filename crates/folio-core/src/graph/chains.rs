//! Chains: commands of a graph that follow one another, so that the device can do them as one.
//!
//! Each command of a chain comes after the one before it, and fails if the first one does. It comes
//! after nothing outside of the chain that the first does not come after. What comes after one of
//! them, and is not of the chain, comes after the last. So a chain can stand where its first
//! command stands, and nothing waits longer for it than for its commands, but for its own members.

use super::conflicts::{Conflicts, Edges};
use super::steps::Steps;
use crate::engine::terms::access::Access;
use smallvec::SmallVec;
use std::collections::HashSet;

/// By command: those that it comes after, by edges or by data, and whether it fails with them.
pub(super) type Before = Vec<SmallVec<[(u32, bool); 4]>>;

/// What each command comes after.
pub(super) fn before(steps: &Steps) -> Before {
    let accesses = steps.all.iter().map(|step| &step.template.command.accesses[..]);
    before_of(&steps.order.after, accesses)
}

/// As [`before`], of commands with these edges and accesses.
pub(super) fn before_of<'a>(
    after: &[Edges],
    accesses: impl Iterator<Item = &'a [Access]>,
) -> Before {
    let mut conflicts = Conflicts::default();
    let all = after.iter().zip(accesses).enumerate().map(|(at, (edges, accesses))| {
        let mut before: SmallVec<[(u32, bool); 4]> = SmallVec::new();
        before.extend(edges.iter().copied());
        conflicts.add(at as u32, accesses, &mut |from, uses| {
            before.push((from, uses));
        });
        before.sort_unstable();
        // Of two the one along which failure travels is the later one.
        before.dedup_by(|again, first| {
            let same = again.0 == first.0;
            first.1 |= same && again.1;
            same
        });
        before
    });
    all.collect()
}

/// What a command can be of a chain.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Fit {
    /// It cannot be of one.
    No,
    /// It does nothing, so it begins none.
    Idle,
    /// It can be any command of one.
    Any,
}

/// All chains of two or more commands that do something, each in order, by their first commands.
pub(super) fn chains(before: &Before, fits: &[Fit]) -> Vec<Vec<u32>> {
    let mut after: Vec<SmallVec<[u32; 2]>> = vec![SmallVec::new(); before.len()];
    for (at, edges) in before.iter().enumerate() {
        edges.iter().for_each(|(from, _)| after[*from as usize].push(at as u32));
    }
    let mut chains: Vec<Vec<u32>> = Vec::new();
    let mut of: Vec<Option<usize>> = vec![None; before.len()];
    for (at, fit) in fits.iter().enumerate().filter(|(_, fit)| **fit != Fit::No) {
        let own = at as u32;
        let joins = |chain: usize| {
            let (first, last) = (chains[chain].first(), chains[chain].last());
            let (Some(first), Some(last)) = (first, last) else { return false };
            let within = |from: u32| of[from as usize] == Some(chain);
            let as_first = |edge: &(u32, bool)| leads(before, edge.0, *first, edge.1);
            before[at].iter().all(|edge| within(edge.0) || as_first(edge))
                && before[at].iter().any(|(from, uses)| *uses && within(*from))
                && all_follow(before, &after[*last as usize], own)
        };
        let ends = before[at].iter().filter_map(|(from, _)| {
            of[*from as usize].filter(|chain| chains[*chain].last() == Some(from))
        });
        let chain = ends.clone().find(|chain| joins(*chain));
        match chain {
            Some(chain) => chains[chain].push(own),
            None if *fit == Fit::Any => chains.push(vec![own]),
            None => continue,
        }
        of[at] = Some(chain.unwrap_or(chains.len() - 1));
    }
    let works = |at: &&u32| fits[**at as usize] == Fit::Any;
    chains.retain(|chain| chain.iter().filter(works).count() > 1);
    chains
}

/// How many earlier commands are looked at to find that a command comes after another one.
const LOOKED_AT: usize = 256;

/// One command comes before another one, by whatever way; with `uses`, by one along which failure
/// travels.
fn leads(before: &Before, one: u32, to: u32, uses: bool) -> bool {
    let (mut left, mut seen) = (vec![to], HashSet::new());
    while let Some(at) = left.pop().filter(|_| seen.len() < LOOKED_AT) {
        for (from, _) in before[at as usize].iter().filter(|edge| edge.1 || !uses) {
            if *from == one {
                return true;
            }
            if *from > one && seen.insert(*from) {
                left.push(*from);
            }
        }
    }
    false
}

/// All of these commands, which are in order, are one or come after it, by whatever way.
fn all_follow(before: &Before, commands: &[u32], one: u32) -> bool {
    let mut known: HashSet<u32> = HashSet::from([one]);
    for command in commands.iter().filter(|command| **command != one) {
        let (mut left, mut seen) = (vec![*command], HashSet::new());
        let mut follows = false;
        while let Some(at) = left.pop().filter(|_| !follows && seen.len() < LOOKED_AT) {
            for (from, _) in &before[at as usize] {
                follows |= known.contains(from);
                if *from > one && seen.insert(*from) {
                    left.push(*from);
                }
            }
        }
        if !follows {
            return false;
        }
        known.insert(*command);
    }
    true
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// The chains of commands with these predecessors; `-` is one that can be of no chain, `.` one
    /// that does nothing, `!` marks an edge along which no failure travels.
    fn check(commands: &[&str], want: &[&[u32]]) {
        let (mut before, mut fits) = (Before::new(), Vec::new());
        for text in commands {
            let mut edges = SmallVec::new();
            let mut fit = Fit::Any;
            for word in text.split_whitespace() {
                match word {
                    "-" => fit = Fit::No,
                    "." => fit = Fit::Idle,
                    _ => {
                        let number = word.trim_end_matches('!');
                        edges.push((number.parse().unwrap_or(u32::MAX), number == word));
                    }
                }
            }
            before.push(edges);
            fits.push(fit);
        }
        assert_eq!(chains(&before, &fits), want, "{commands:?}");
    }

    /// GRAPH-03: which commands the device may do as one.
    #[test]
    fn chains_have_one_way_in_and_one_way_out() {
        check(&["", "0", "1", "2"], &[&[0, 1, 2, 3]]);
        // Chains that take turns.
        check(&["", "", "0", "1", "2", "3"], &[&[0, 2, 4], &[1, 3, 5]]);
        // What uses something else begins anew; what the first uses, others may.
        check(&["-", "", "1", "0 2", "3"], &[&[1, 2], &[3, 4]]);
        check(&["-", "0", "0 1"], &[&[1, 2]]);
        check(&["-", "0!", "0 1"], &[]);
        check(&["-", "0", "0! 1"], &[&[1, 2]]);
        // By whatever way.
        check(&["-", "- 0", "1", "0! 2"], &[&[2, 3]]);
        check(&["-", "- 0", "1", "0 2"], &[&[2, 3]]);
        check(&["-", "- 0!", "1", "0 2"], &[]);
        // A command that does not fail with the one before it.
        check(&["", "0!", "1"], &[&[1, 2]]);
        // Something else uses what is in the middle: now and later.
        check(&["", "0", "- 0", "1", "3"], &[&[1, 3, 4]]);
        check(&["", "0", "1", "- 1", "2"], &[&[0, 1], &[2, 4]]);
        check(&["", "0", "0 1", "- 0 2"], &[&[0, 1, 2]]);
        check(&["", "0", "1", "0 2", "- 0 3"], &[&[0, 1, 2, 3]]);
        // A fork, and a meeting of two.
        check(&["", "0", "0", "1 2", "3"], &[&[3, 4]]);
        // What does nothing is within one.
        check(&[".", "0", ". 1", "2"], &[&[1, 2, 3]]);
        check(&["", ". 0", "- 1"], &[]);
    }

    #[test]
    fn many_commands_after_one_take_linear_time() {
        let count = 100_000;
        let mut before: Before = vec![SmallVec::new(); count];
        let one = |from: u32| std::iter::once((from, true)).collect();
        before[1..].iter_mut().for_each(|before| *before = one(0));
        assert!(chains(&before, &vec![Fit::Any; count]).is_empty());
        before[1..].iter_mut().enumerate().for_each(|(at, before)| *before = one(at as u32));
        assert_eq!(chains(&before, &vec![Fit::Any; count])[0].len(), count);
    }
}
