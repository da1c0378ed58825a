//! Properties: both tables, row by row, and what they do.

use super::graph::{ADD, Chain, FIVE, GATHER, NEXT};
use folio_kernel::fuse::AccessScope::{Group, Item};
use folio_kernel::fuse::{
    AccessScope, Contradiction, Fate, FuseError, Incompatible, MemoryId, Mode, Obstacle, Outcome,
    Plan, Reason, Wishes, of_access, of_both,
};

/// FUSE-05: the seed's first table: accessor, buffer, result.
#[test]
fn scope_of_an_access_is_that_of_the_table() {
    let error = |access, buffer| Err(Incompatible { access, buffer });
    let rows: [(Option<AccessScope>, Option<AccessScope>, Result<_, Incompatible>); 9] = [
        (None, None, Ok(None)),
        (None, Some(Group), Ok(Some(Group))),
        (None, Some(Item), Ok(Some(Item))),
        (Some(Group), None, Ok(Some(Group))),
        (Some(Group), Some(Group), Ok(Some(Group))),
        (Some(Group), Some(Item), error(Group, Item)),
        (Some(Item), None, Ok(Some(Item))),
        (Some(Item), Some(Group), error(Item, Group)),
        (Some(Item), Some(Item), Ok(Some(Item))),
    ];
    for (access, buffer, wanted) in rows {
        assert_eq!(of_access(access, buffer), wanted, "{access:?}, {buffer:?}");
    }
}

const SCOPES: [Option<AccessScope>; 3] = [None, Some(Group), Some(Item)];

/// FUSE-05: the seed's second table, which is commutative and associative.
#[test]
fn scope_of_two_accesses_is_that_of_the_table() {
    for any in SCOPES {
        assert_eq!(of_both(None, any), None);
    }
    assert_eq!(of_both(Some(Group), Some(Group)), Some(Group));
    assert_eq!(of_both(Some(Group), Some(Item)), None);
    assert_eq!(of_both(Some(Item), Some(Item)), Some(Item));
    for a in SCOPES {
        for b in SCOPES {
            assert_eq!(of_both(a, b), of_both(b, a));
            for c in SCOPES {
                assert_eq!(of_both(of_both(a, b), c), of_both(a, of_both(b, c)));
            }
        }
    }
}

fn internal(scope: Option<AccessScope>) -> Wishes {
    Wishes { scope, internal: true, no_init: true, ..Wishes::default() }
}

/// `add` writes `tmp`, and `five` reads it.
fn passing() -> (Chain, MemoryId) {
    let mut chain = Chain::new();
    let [x, y, tmp, out] = ["x", "y", "tmp", "out"].map(|name| chain.memory(name, 64));
    chain.call("add", ADD, 64, &[x, y, tmp]);
    chain.call("five", FIVE, 64, &[tmp, out]);
    (chain, tmp)
}

pub fn outcome(plan: &Plan, memory: MemoryId) -> Outcome {
    let mut all = plan.fused().flat_map(|fused| &fused.outcomes);
    all.find(|outcome| outcome.memory == memory).unwrap().clone()
}

/// FUSE-01, FUSE-05: an incompatible pair is an error if fusion is required, with node and memory.
/// If it is enabled, the kernel of that access stays alone, and the report says why.
#[test]
fn incompatible_scopes_are_an_error_or_a_reason() {
    for (access, buffer) in [(Group, Item), (Item, Group)] {
        let (mut chain, tmp) = passing();
        chain.wish(tmp, internal(Some(buffer)));
        chain.wish_access(1, 0, Wishes { scope: Some(access), ..Wishes::default() });
        let why = Incompatible { access, buffer };
        let wrong = Contradiction { node: "five".to_owned(), memory: "tmp".to_owned(), why };
        let refused = chain.plan(Mode::Require).unwrap_err();
        assert_eq!(refused, FuseError::Scopes(wrong.clone()));
        let plan = chain.plan(Mode::Enable).unwrap();
        assert_eq!(plan.steps.len(), 2);
        assert_eq!(plan.unfused[0].reason, Reason::Scopes(wrong));
        let line = format!("`five`, `tmp`: {why}");
        assert!(plan.explain(&chain.graph).to_string().contains(&line));
    }
}

/// FUSE-05, FUSE-06: each pair of scopes of two accesses: internal or not.
#[test]
fn scopes_of_two_accesses_decide_what_is_internal() {
    for first in SCOPES {
        for second in SCOPES {
            let (mut chain, tmp) = passing();
            chain.wish_access(0, 2, internal(first));
            chain.wish_access(1, 0, internal(second));
            let plan = chain.plan(Mode::Require).unwrap();
            let found = outcome(&plan, tmp);
            let named = first.is_some() || second.is_some();
            match (named, of_both(first, second)) {
                (true, None) => assert_eq!(found.kept, Some(Obstacle::Scopes)),
                // Where nobody says anything, the analysis finds it (FUSE-10).
                _ => assert_eq!((found.fate, found.kept), (Fate::Register, None)),
            }
        }
    }
}

/// FUSE-06: without `internal_memory` the result is stored, once, and not loaded.
#[test]
fn without_internal_memory_there_is_one_store_and_no_load() {
    let (mut chain, tmp) = passing();
    chain.wish(tmp, Wishes { scope: Some(Item), no_init: true, ..Wishes::default() });
    let plan = chain.plan(Mode::Require).unwrap();
    let found = outcome(&plan, tmp);
    assert_eq!(found.fate, Fate::Forwarded { loads: 1, stores: 0 });
    assert_eq!(found.kept, Some(Obstacle::Needed));
    let text = plan.fused().next().unwrap().kernel.to_string();
    assert_eq!(text.matches("store p2").count(), 1, "{text}");
    assert_eq!(text.matches("load p2").count(), 0, "{text}");
}

/// FUSE-06: a copy of an internal memory needs what is there, so it stays.
#[test]
fn internal_memory_that_another_node_uses_stays_in_memory() {
    let (mut chain, tmp) = passing();
    chain.wish(tmp, internal(None));
    chain.other(folio_kernel::fuse::OtherWork::Copy, &[tmp, MemoryId(0)]);
    let plan = chain.plan(Mode::Require).unwrap();
    assert_eq!(outcome(&plan, tmp).kept, Some(Obstacle::UsedBy { node: "a copy".to_owned() }));
}

/// FUSE-11: a property that is wrong is an error if fusion is required, and told if it is not.
#[test]
fn refuted_scopes_are_an_error_only_under_require() {
    let mut chain = Chain::new();
    let [x, out] = ["x", "out"].map(|name| chain.memory(name, 64));
    let tmp = chain.memory("tmp", 65);
    chain.wish(tmp, internal(Some(Item)));
    chain.call("five", FIVE, 64, &[x, tmp]);
    chain.call("next", NEXT, 64, &[tmp, out]);
    let plan = chain.plan(Mode::Enable).unwrap();
    let wanted = "`tmp` has work-item scope, but `next` accesses it at an item's neighbour (+1)";
    assert_eq!(plan.refuted[0].to_string(), wanted);
    assert_eq!(plan.steps.len(), 2);
    assert_eq!(chain.plan(Mode::Require).unwrap_err().to_string(), wanted);
}

/// FUSE-11: a scope that is neither shown nor refuted is believed only where that was promised. It
/// never moves the memory elsewhere.
#[test]
fn unproved_scope_is_believed_only_where_that_was_promised() {
    let ask = |trusted, scope| {
        let mut chain = Chain::new();
        let [x, at, out] = ["x", "at", "out"].map(|name| chain.memory(name, 64));
        let tmp = chain.temporary("tmp", 64);
        chain.call("five", FIVE, 64, &[x, tmp]);
        chain.call("gather", GATHER, 64, &[at, tmp, out]);
        chain.wish(tmp, Wishes { scope, trusted, ..Wishes::default() });
        (chain.plan(Mode::Require), tmp)
    };
    let (plan, tmp) = ask(true, Some(Item));
    assert_eq!(outcome(&plan.unwrap(), tmp).kept, Some(Obstacle::NotShown));
    for (trusted, scope) in [(false, Some(Item)), (true, None), (true, Some(Group))] {
        let error = ask(trusted, scope).0.unwrap_err().to_string();
        assert!(error.contains("at elements that are not known"), "{error}");
    }
}
