//! Blocks in the place of others: which commands of a list are exchanged for a block.

use super::conflicts::IdMap;
use super::key::Key;
use super::replay::can_fail_with;
use super::store::{Block, Class, Description, StoredList, Unit};
use super::trail::{is_same_part, uses_same};
use crate::engine::kernels::launch::Function;
use crate::engine::pages::storage::StorageId;
use crate::engine::plan::union::Union;
use crate::engine::runs::command::{Action, Command};
use crate::engine::runs::list::{Change, Exchange};
use crate::engine::terms::access::Access;
use std::sync::Arc;

/// By position: two blocks' commands.
type Pairs<'b> = Vec<(&'b Command, &'b Command)>;

impl StoredList {
    /// Why a command that has other scalars than the list's may fail by itself with these, if one
    /// may.
    pub(super) fn may_fail(&self, class: &Class, all: &[u64]) -> Option<Arc<str>> {
        let Description { templates, scalars, .. } = &self.block.described;
        templates.iter().enumerate().find_map(|(at, template)| {
            let (words, own) = (class.scalars(at, all), class.scalars(at, scalars));
            let Action::Launch(Some(launch)) = &template.command.action else { return None };
            let is_equal = |function: &Function| function.code.knows_as_equal(own, words);
            match words == own || launch.function.as_ref().is_some_and(is_equal) {
                true => None,
                false => can_fail_with(launch, words),
            }
        })
    }

    /// The commands that are exchanged in the list for other scalars.
    pub(super) fn other_scalars<'k>(&'k self, class: &Class, all: &'k [u64]) -> Exchange<'k> {
        let Description { templates, scalars, .. } = &self.block.described;
        let differs = |at: &usize| class.scalars(*at, all) != class.scalars(*at, scalars);
        let changed = match &self.block.units {
            None => {
                let others = (0..templates.len()).filter(differs);
                let change = |at| {
                    let scalars = Some(class.scalars(at, all).into());
                    Change { at, command: &templates[at].command, scalars }
                };
                others.map(change).collect()
            }
            Some(units) => {
                let units = units.all.iter().enumerate();
                let others = units.filter(|(_, unit)| unit.members.iter().any(differs));
                let change = |(at, unit): (usize, &'k Unit)| {
                    let words = unit.members.iter().flat_map(|at| class.scalars(*at, all));
                    let scalars = Some(words.copied().collect());
                    Change { at, command: &unit.command, scalars }
                };
                others.map(change).collect()
            }
        };
        Exchange { changed, accesses: None }
    }

    /// The commands that are exchanged in the list for those of another block. None if these come
    /// after others than before, or are other kernels together.
    pub(super) fn other_commands<'t>(&self, class: &Class, new: &'t Block) -> Option<Exchange<'t>> {
        let all = new.commands();
        let same = self.same_commands(class, new)?;
        let others = all.iter().enumerate().filter(|(at, _)| !same[*at]);
        let changed = others.map(|(at, command)| Change { at, command, scalars: None }).collect();
        let pairs: Pairs<'_> = self.block.commands().into_iter().zip(all.iter().copied()).collect();
        let accesses = self.renamed(&pairs).or_else(|| self.ordered(class, new))?;
        Some(Exchange { changed, accesses: Some(accesses) })
    }

    /// By command: another block's is the same. None if other commands of that one are joined.
    fn same_commands(&self, class: &Class, new: &Block) -> Option<Vec<bool>> {
        let [old, now] = [&self.block.described, &new.described];
        let has_scalars =
            |at: &usize| class.scalars(*at, &now.scalars) == class.scalars(*at, &old.scalars);
        match (&self.block.units, &new.units) {
            (None, None) => {
                let is_same =
                    |at: usize| now.arguments.get(at) == old.arguments.get(at) && has_scalars(&at);
                Some((0..now.templates.len()).map(is_same).collect())
            }
            (Some(units), Some(others)) => {
                let members = |units: &'_ [Unit]| -> Vec<_> {
                    units.iter().map(|unit| unit.members.clone()).collect()
                };
                if members(&units.all) != members(&others.all) {
                    return None;
                }
                let is_same =
                    |(a, b): (&Unit, &Unit)| a.members.iter().all(has_scalars) && a.does_as(b);
                Some(units.all.iter().zip(&others.all).map(is_same).collect())
            }
            _ => None,
        }
    }

    /// What all commands use together, if they are those of the list over other storages: one in
    /// the place of each. Then they come after the same ones.
    fn renamed(&self, pairs: &Pairs<'_>) -> Option<Vec<Access>> {
        let [mut news, mut olds]: [IdMap<StorageId>; 2] = Default::default();
        let mut is_for = |one: StorageId, other: StorageId| {
            *news.entry(one).or_insert(other) == other && *olds.entry(other).or_insert(one) == one
        };
        for (before, now) in pairs {
            let mut pairs = before.accesses.iter().zip(&now.accesses);
            if !pairs.all(|(a, b)| is_same_part(a, b) && is_for(a.storage, b.storage)) {
                return None;
            }
        }
        let rename =
            |access: &Access| Some(Access { storage: *news.get(&access.storage)?, ..*access });
        self.list.accesses().iter().map(rename).collect()
    }

    /// The union of all accesses, if the commands come after the same ones as before.
    fn ordered(&self, class: &Class, new: &Block) -> Option<Vec<Access>> {
        let same = new.after(class) == self.list.fixed.after;
        same.then(|| Union::of(new.commands().iter().flat_map(|command| &command.accesses)))
    }
}

impl Unit {
    /// Both do the same, if their scalars are the same.
    fn does_as(&self, other: &Unit) -> bool {
        let (own, others) = (&self.command, &other.command);
        match (&own.action, &others.action, &self.plan, &other.plan) {
            (Action::Launch(Some(a)), Action::Launch(Some(b)), Some(plan), Some(of)) => {
                Arc::ptr_eq(plan, of)
                    && a.params == b.params
                    && uses_same(&own.accesses, &others.accesses)
            }
            (_, _, None, None) => {
                let [own, others] = [own, others].map(|command| Key::of(command));
                !own.kind.is_unknown() && own == others
            }
            _ => false,
        }
    }
}
