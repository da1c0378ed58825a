//! Properties of internalisation, and how those of one memory combine (FUSE-05).

use super::reason::Incompatible;

/// Who accesses an element, as the user says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum AccessScope {
    /// No element is accessed by more than one work-item.
    Item,
    /// No element is accessed by more than one work-group.
    Group,
}

impl std::fmt::Display for AccessScope {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            AccessScope::Item => "work-item",
            AccessScope::Group => "work-group",
        })
    }
}

/// Properties of a buffer, of an access, or of a pointer. The analysis finds most of this by
/// itself; see `README.md` in this folder for what is still needed when.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Wishes {
    /// `access_scope`.
    pub scope: Option<AccessScope>,
    /// `internal_memory`: what kernels leave there is not used after the fused kernel.
    pub internal: bool,
    /// `no_init`: earlier contents are not used.
    pub no_init: bool,
    /// The scope is believed where the analysis can neither show nor refute it: kernels share a
    /// launch by it. Only an `unsafe` call may set this, whose caller promises that the scope is
    /// right. A wrong promise is a race for elements of the memory, within its bounds.
    pub trusted: bool,
}

/// The scope of an access, of its own property and the buffer's: the seed's first table.
pub fn of_access(
    access: Option<AccessScope>,
    buffer: Option<AccessScope>,
) -> Result<Option<AccessScope>, Incompatible> {
    match (access, buffer) {
        (None, inherited) => Ok(inherited),
        (own, None) => Ok(own),
        (Some(access), Some(buffer)) if access == buffer => Ok(Some(access)),
        (Some(access), Some(buffer)) => Err(Incompatible { access, buffer }),
    }
}

/// The scope of a memory, of the scopes of two accesses to it: the seed's second table, which is
/// commutative and associative.
pub fn of_both(a: Option<AccessScope>, b: Option<AccessScope>) -> Option<AccessScope> {
    if a == b { a } else { None }
}

impl Wishes {
    /// An access's properties together with its memory's.
    pub fn within(self, memory: Wishes) -> Result<Wishes, Incompatible> {
        Ok(Wishes {
            scope: of_access(self.scope, memory.scope)?,
            internal: self.internal || memory.internal,
            no_init: self.no_init || memory.no_init,
            trusted: self.trusted || memory.trusted,
        })
    }
}
