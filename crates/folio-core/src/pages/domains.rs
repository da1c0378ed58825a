//! Memory domains and sets of them.
//!
//! A domain is a memory in which a buffer has at most one allocation: the host's, or a device's.
//! Every set of domains in the engine is this one type, so that its width is decided here only.

/// A memory: the host's or a device's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DomainId(pub u8);

impl DomainId {
    /// True for the host's memory.
    pub const fn is_host(self) -> bool {
        self.0 == DomainId::HOST.0
    }

    /// The host's memory.
    pub const HOST: DomainId = DomainId(0);

    /// How many domains there can be: the ids below this one. It is the number of bits of a
    /// [`DomainSet`], which is one machine word because every page has one.
    pub const LIMIT: u8 = 64;
}

/// A set of at most [`DomainId::LIMIT`] domains. An id at or above the limit is in no set.
///
/// ```
/// use folio_core::pages::{DomainId, DomainSet};
///
/// let mut set = DomainSet::of(DomainId::HOST);
/// set.insert(DomainId(3));
/// assert_eq!(format!("{set:?}"), "{0, 3}");
/// assert!(set.contains(DomainId(3)) && set.len() == 2);
/// ```
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DomainSet(u64);

impl DomainSet {
    /// No domain.
    pub const EMPTY: DomainSet = DomainSet(0);

    /// The set of `domain` alone.
    pub const fn of(domain: DomainId) -> DomainSet {
        match 1u64.checked_shl(domain.0 as u32) {
            Some(bit) => DomainSet(bit),
            None => DomainSet::EMPTY,
        }
    }

    /// True when `domain` is in the set.
    pub const fn contains(self, domain: DomainId) -> bool {
        self.0 & DomainSet::of(domain).0 != 0
    }

    /// Adds `domain`.
    pub const fn insert(&mut self, domain: DomainId) {
        self.0 |= DomainSet::of(domain).0;
    }

    /// Takes `domain` out.
    pub const fn remove(&mut self, domain: DomainId) {
        self.0 &= !DomainSet::of(domain).0;
    }

    /// This set and `domain`.
    #[must_use]
    pub const fn with(mut self, domain: DomainId) -> DomainSet {
        self.insert(domain);
        self
    }

    /// This set but `domain`.
    #[must_use]
    pub const fn without(mut self, domain: DomainId) -> DomainSet {
        self.remove(domain);
        self
    }

    /// The domains of either.
    #[must_use]
    pub const fn union(self, other: DomainSet) -> DomainSet {
        DomainSet(self.0 | other.0)
    }

    /// The domains of both.
    #[must_use]
    pub const fn intersect(self, other: DomainSet) -> DomainSet {
        DomainSet(self.0 & other.0)
    }

    /// The domains of `self` that are not in `other`.
    #[must_use]
    pub const fn minus(self, other: DomainSet) -> DomainSet {
        DomainSet(self.0 & !other.0)
    }

    /// True when no domain is in the set.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// How many domains are in the set.
    pub const fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    /// The lowest domain of the set.
    pub fn first(self) -> Option<DomainId> {
        self.iter().next()
    }

    /// The domains, lowest first.
    pub const fn iter(self) -> DomainIter {
        DomainIter(self.0)
    }
}

impl std::fmt::Debug for DomainSet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Not `debug_set`: a set is one word of a message, on one line in `{:#?}` too.
        f.write_str("{")?;
        for (i, domain) in self.iter().enumerate() {
            let comma = if i == 0 { "" } else { ", " };
            write!(f, "{comma}{}", domain.0)?;
        }
        f.write_str("}")
    }
}

impl IntoIterator for DomainSet {
    type Item = DomainId;
    type IntoIter = DomainIter;

    fn into_iter(self) -> DomainIter {
        self.iter()
    }
}

impl FromIterator<DomainId> for DomainSet {
    fn from_iter<I: IntoIterator<Item = DomainId>>(domains: I) -> DomainSet {
        domains.into_iter().fold(DomainSet::EMPTY, |set, d| set.union(DomainSet::of(d)))
    }
}

/// The domains of a [`DomainSet`], lowest first.
#[derive(Clone, Debug)]
pub struct DomainIter(u64);

impl Iterator for DomainIter {
    type Item = DomainId;

    fn next(&mut self) -> Option<DomainId> {
        if self.0 == 0 {
            return None;
        }
        let lowest = self.0.trailing_zeros() as u8;
        self.0 &= self.0 - 1;
        Some(DomainId(lowest))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.0.count_ones() as usize;
        (left, Some(left))
    }
}

impl ExactSizeIterator for DomainIter {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_is_what_was_put_in() {
        let mut set = DomainSet::EMPTY;
        for id in [5, 0, 63, 5] {
            set.insert(DomainId(id));
        }
        assert_eq!(set.iter().map(|d| d.0).collect::<Vec<_>>(), [0, 5, 63]);
        assert_eq!(set.iter().len(), 3);
        set.remove(DomainId(5));
        set.remove(DomainId(7));
        assert_eq!(set, [DomainId(63), DomainId::HOST].into_iter().collect());
        assert_eq!(format!("{set:?} {:?}", DomainSet::EMPTY), "{0, 63} {}");
        assert_eq!(set.first(), Some(DomainId::HOST));
        assert!(!set.contains(DomainId(1)) && !set.is_empty());
    }

    #[test]
    fn algebra() {
        let a: DomainSet = [DomainId(1), DomainId(2)].into_iter().collect();
        let b: DomainSet = [DomainId(2), DomainId(3)].into_iter().collect();
        assert_eq!(a.intersect(b), DomainSet::of(DomainId(2)));
        assert_eq!(a.union(b).len(), 3);
        assert_eq!(a.minus(b), DomainSet::of(DomainId(1)));
    }

    #[test]
    fn ids_beyond_the_limit_are_in_no_set() {
        for id in [64, 65, 128, 255] {
            let mut set = DomainSet::of(DomainId(id));
            set.insert(DomainId(id));
            assert!(set.is_empty() && !set.contains(DomainId(id)));
        }
    }
}
