//! All code of the program by content: kernels of equal content share one. The table owns none of
//! it: code is there for as long as something uses it. A hash would not do as the key: launches
//! believe what was found out about a kernel, and texts with one hash can be made.

use super::Code;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

static ALL: Mutex<BTreeMap<Arc<str>, Weak<Code>>> = Mutex::new(BTreeMap::new());

fn all() -> MutexGuard<'static, BTreeMap<Arc<str>, Weak<Code>>> {
    ALL.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The code of this content, which is made if there is none.
pub(super) fn shared(content: Arc<str>, make: impl FnOnce() -> Code) -> Arc<Code> {
    let mut all = all();
    if let Some(code) = all.get(&content).and_then(Weak::upgrade) {
        return code;
    }
    let code = Arc::new(make());
    all.insert(content, Arc::downgrade(&code));
    code
}

/// The last user of this content has let go of it. Another one may have made it again since.
pub(super) fn forget(content: &str) {
    let mut all = all();
    if all.get(content).is_some_and(|code| code.strong_count() == 0) {
        all.remove(content);
    }
}

#[cfg(test)]
mod tests {
    use super::super::Built;
    use super::*;
    use crate::ir::{Access, Owner};
    use crate::source::{Entry, Floats, Function, Text, ViewType};
    use crate::types::{Scalar, Type, Types};

    fn u32_type(_: &mut Types) -> Type {
        Type::Scalar(Scalar::U32)
    }

    fn table() -> Vec<Entry> {
        let view = |access| ViewType {
            element: u32_type,
            rank: 1,
            access,
            owner: Owner::Item,
            colour: None,
        };
        vec![
            Entry::Item(1),
            Entry::View(view(Access::In)),
            Entry::View(view(Access::InOut)),
            Entry::Unit,
        ]
    }

    /// `y[i] += x[i]`, as the macro says it, once more.
    fn code(name: &'static str, looked_at: &'static [(u32, u32)]) -> Built {
        static TEXT: Text =
            Text("local 2 local 0 index 1 1 local 1 local 0 index 1 1 assign_op + - 1 1 body 1 - ");
        Code::of(Box::leak(Box::new(Function {
            name,
            file: "table.rs",
            group: &[],
            block: &[],
            floats: Floats::Exact,
            deny_checks: false,
            looked_at,
            item_by_item: None,
            params: &["i", "x", "y"],
            printed: &[],
            body: &TEXT,
            table,
        })))
    }

    fn known(name: &str) -> usize {
        let codes = all().values().filter_map(Weak::upgrade).collect::<Vec<_>>();
        codes.iter().filter(|code| &*code.name == name).count()
    }

    #[test]
    fn kernels_of_equal_content_share_code_until_the_last_one_is_dropped() {
        let [one, same] = [(), ()].map(|()| code("shared", &[]).expect("code"));
        assert!(Arc::ptr_eq(&one, &same));
        let other = code("shared", &[(1, 1)]).expect("code");
        assert!(!Arc::ptr_eq(&one, &other), "its checks are others");
        let (first, second) = (one.content.clone(), other.content.clone());
        assert_eq!(known("shared"), 2);
        drop(one);
        assert_eq!(known("shared"), 2, "it is used still");
        drop(same);
        assert_eq!(known("shared"), 1);
        assert!(!all().contains_key(&first) && all().contains_key(&second));
        drop(other);
        assert!(!all().contains_key(&second));
        let again = code("shared", &[]).expect("code");
        assert_eq!((&again.content, known("shared")), (&first, 1));
    }
}
