//! Policies of executors, as types: who moves pointers, and in which order operations run.

/// Who moves the pointers that a task uses.
pub trait Movement: sealed::Sealed + Send + Sync + 'static {
    #[doc(hidden)]
    const IMPLICIT: bool;
}

/// A task puts its pointers by itself. The default.
#[derive(Clone, Copy, Debug)]
pub struct Implicit;

/// Only `put` and `get` move. A task over a pointer that is not accessible on its executor is
/// [`Error::Inaccessible`](crate::Error::Inaccessible).
#[derive(Clone, Copy, Debug)]
pub struct Explicit;

/// In which order an executor's operations run.
pub trait Ordering: sealed::Sealed + Send + Sync + 'static {
    #[doc(hidden)]
    const IN_ORDER: bool;
}

/// As their accesses demand: what does not conflict runs at the same time. The default.
#[derive(Clone, Copy, Debug)]
pub struct ByAccess;

/// Each after the one before.
#[derive(Clone, Copy, Debug)]
pub struct Sequential;

impl Movement for Implicit {
    const IMPLICIT: bool = true;
}
impl Movement for Explicit {
    const IMPLICIT: bool = false;
}
impl Ordering for ByAccess {
    const IN_ORDER: bool = false;
}
impl Ordering for Sequential {
    const IN_ORDER: bool = true;
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::Implicit {}
    impl Sealed for super::Explicit {}
    impl Sealed for super::ByAccess {}
    impl Sealed for super::Sequential {}
}
