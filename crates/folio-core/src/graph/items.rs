//! The items of a run: lists, and the commands between them, which are submitted one by one.

use super::conflicts::{Edges, merge};
use super::profile::{Clocks, time};
use super::replay::Before;
use crate::engine::Engine;
use crate::engine::runs::command::{Action, Command};
use crate::engine::runs::list::List;
use crate::engine::runs::run::Order;
use crate::error::Label;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// One command of a run, as it is submitted.
pub(super) struct Item {
    /// The numbers of its commands.
    pub(super) at: Vec<u32>,
    /// The device of a list.
    pub(super) device: u16,
    /// None if there is one command, which is submitted as it is.
    pub(super) list: Option<Arc<List>>,
}

/// All items of a run, and their order.
pub(super) struct Items {
    pub(super) all: Vec<Item>,
    pub(super) order: Arc<Order>,
}

impl Items {
    /// Items of commands that have this order.
    pub(super) fn new(all: Vec<Item>, order: &Order) -> Items {
        let order = Arc::new(order_of_items(&all, order));
        Items { all, order }
    }

    /// The commands of a run. `single` gives those that are in no list; none of it, if it has one
    /// of them no more.
    pub(super) fn commands(
        &self,
        label: &Label,
        mut single: impl FnMut(u32) -> Option<Command>,
    ) -> Option<Vec<Command>> {
        let command = |item: &Item| match &item.list {
            Some(list) => Some(list.command(item.device, label)),
            None => single(*item.at.first()?),
        };
        self.all.iter().map(command).collect()
    }

    /// Has the commands of a run timed: all of them, or those that were described so.
    pub(super) fn time(&self, commands: &mut [Command], all: bool, engine: &Engine) -> Clocks {
        let numbers = self.all.iter().map(|item| &item.at[..]);
        time(commands, numbers, all, engine)
    }

    /// By item: which fusion its commands took part in, or why they did not.
    pub(super) fn fusion(&self, told: &[Option<Arc<str>>]) -> Vec<Option<Arc<str>>> {
        let of = |item: &Item| {
            let all = item.at.iter().filter_map(|at| told.get(*at as usize)?.as_deref());
            let all: Vec<&str> = all.collect();
            (!all.is_empty()).then(|| all.join("\n").into())
        };
        if told.is_empty() { Vec::new() } else { self.all.iter().map(of).collect() }
    }
}

/// A device has something to do for it.
pub(super) fn works(command: &Command) -> bool {
    match &command.action {
        Action::Nothing | Action::Hint { .. } => false,
        Action::Launch(_)
        | Action::Copy { .. }
        | Action::Fill { .. }
        | Action::Task { .. }
        | Action::Conditional(_)
        | Action::Replay(_) => true,
    }
}

/// Where a run is cut: commands that are a list of a device together, and commands that are in
/// none, in turns. Each command is as early as its predecessors allow, so there are as few lists as
/// possible. `of` says the device of which a command's list is.
pub(super) fn cut(before: &Before, of: &[Option<u16>]) -> Vec<(Vec<u32>, Option<u16>)> {
    let mut levels: Vec<u32> = Vec::with_capacity(before.len());
    let mut all: BTreeMap<(u32, bool, Option<u16>), Vec<u32>> = BTreeMap::new();
    for (at, (edges, device)) in before.iter().zip(of).enumerate() {
        let behind = |&(from, _): &(u32, bool)| {
            // A list that follows a command which is not of the same list is the next one.
            levels[from as usize] + u32::from(device.is_some() && of[from as usize] != *device)
        };
        let level = edges.iter().map(behind).max().unwrap_or(0);
        levels.push(level);
        // Lists come before the other commands of their level.
        all.entry((level, device.is_none(), *device)).or_default().push(at as u32);
    }
    all.into_iter().map(|((_, _, device), at)| (at, device)).collect()
}

/// The order of items, by that of their commands.
fn order_of_items(items: &[Item], order: &Order) -> Order {
    let mut of = vec![0; order.after.len()];
    for (number, item) in (0..).zip(items) {
        item.at.iter().for_each(|at| of[*at as usize] = number);
    }
    let edges = |(number, item): (u32, &Item)| {
        let all = item.at.iter().flat_map(|at| &order.after[*at as usize]);
        let mut edges: Edges = all.map(|(from, uses)| (of[*from as usize], *uses)).collect();
        edges.retain(|(from, _)| *from != number);
        merge(&mut edges);
        edges
    };
    let numbers = |all: &[u32]| -> Vec<u32> {
        let all: BTreeSet<u32> = all.iter().map(|at| of[*at as usize]).collect();
        all.into_iter().collect()
    };
    let after = (0..).zip(items).map(edges).collect();
    Order { after, first: numbers(&order.first), last: numbers(&order.last) }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::super::replay::Before;
    use super::*;

    /// Where commands with these predecessors are cut; `-` is one that is in no list, and `*` one
    /// of another device.
    fn check(commands: &[&str], want: &[(&[u32], bool)]) {
        let (mut before, mut fits) = (Before::new(), Vec::new());
        for text in commands {
            let words = || text.split_whitespace();
            let says = |what| words().any(|word| word == what);
            fits.push((!says("-")).then_some(u16::from(says("*"))));
            let edges = words().filter_map(|word| Some((word.parse().ok()?, true)));
            before.push(edges.collect());
        }
        let got = cut(&before, &fits);
        let got: Vec<(&[u32], bool)> =
            got.iter().map(|(at, list)| (&at[..], list.is_some())).collect();
        assert_eq!(got, want, "{commands:?}");
    }

    /// GRAPH-03: as few lists as the commands between them allow.
    #[test]
    fn runs_are_cut_at_commands_that_are_in_no_list() {
        check(&[], &[]);
        check(&["", "0", "1"], &[(&[0, 1, 2], true)]);
        // A fan, and chains that take turns.
        check(&["", "0", "0", "1 2", "", "4"], &[(&[0, 1, 2, 3, 4, 5], true)]);
        check(&["", "- 0", "1"], &[(&[0], true), (&[1], false), (&[2], true)]);
        // Commands beside the cut are in the first list that they can be in.
        check(&["-", "0", "", "2"], &[(&[2, 3], true), (&[0], false), (&[1], true)]);
        check(&["", "- 0", "", "1 2"], &[(&[0, 2], true), (&[1], false), (&[3], true)]);
        check(&["-", "- 0", "1", "-"], &[(&[0, 1, 3], false), (&[2], true)]);
        // Two devices, each of which has a list until it needs what the other one has done.
        check(&["", "*", "0", "* 1"], &[(&[0, 2], true), (&[1, 3], true)]);
        check(
            &["", "*", "0 1", "* 1 0", "2"],
            &[(&[0], true), (&[1], true), (&[2, 4], true), (&[3], true)],
        );
        check(
            &["", "- 0", "1", "- 2", "3 0", ""],
            &[(&[0, 5], true), (&[1], false), (&[2], true), (&[3], false), (&[4], true)],
        );
    }
}
