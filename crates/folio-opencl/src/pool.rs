//! Freed memory that is kept for the next who asks, since drivers take long to allocate and free
//! some of it.
//!
//! No more is kept than a device had in use at some time beyond what it has now. Memory in use and
//! kept memory are therefore never more together than was in use at once: a budget that holds for
//! the one holds for both. If that is changed, what is kept goes by the new one.

use std::collections::BTreeMap;

/// Of one device: how much is in use, and what is kept.
#[derive(Debug)]
pub(crate) struct Pool<T> {
    /// Bytes.
    in_use: u64,
    /// As many as were in use at once.
    most: u64,
    /// The most bytes that may be kept and in use together, as far as those in use allow.
    limit: u64,
    /// By its bytes.
    kept: BTreeMap<u64, Vec<T>>,
    in_kept: u64,
}

impl<T> Default for Pool<T> {
    fn default() -> Pool<T> {
        Pool { in_use: 0, most: 0, limit: u64::MAX, kept: BTreeMap::new(), in_kept: 0 }
    }
}

impl<T> Pool<T> {
    pub(crate) fn in_use(&self) -> u64 {
        self.in_use
    }

    /// Counts so many bytes as used; not if that would be more than the limit.
    pub(crate) fn take(&mut self, bytes: u64, limit: u64) -> bool {
        let sum = self.in_use.checked_add(bytes).filter(|sum| *sum <= limit);
        self.in_use = sum.unwrap_or(self.in_use);
        self.most = self.most.max(self.in_use);
        sum.is_some()
    }

    /// Takes what is kept, of so many bytes or up to an eighth more.
    pub(crate) fn take_kept(&mut self, bytes: u64, limit: u64) -> Option<T> {
        let near = bytes..=bytes.saturating_add(bytes / 8);
        let size = *self.kept.range(near).next()?.0;
        if self.take(size, limit) { self.remove(size) } else { None }
    }

    /// The bytes are used no more.
    pub(crate) fn give(&mut self, bytes: u64) {
        self.in_use -= bytes;
    }

    /// Keeps what has been given.
    pub(crate) fn keep(&mut self, bytes: u64, memory: T) {
        self.in_kept += bytes;
        self.kept.entry(bytes).or_default().push(memory);
    }

    /// Keeps no more than so many bytes from now on, with what is in use.
    pub(crate) fn trim(&mut self, limit: u64) {
        self.limit = limit;
    }

    /// The memory that may be kept no longer, since something else is in use, or the limit is
    /// lower.
    pub(crate) fn beyond(&mut self) -> Vec<T> {
        let (mut gone, most) = (Vec::new(), self.most.min(self.limit));
        while self.in_use + self.in_kept > most {
            let over = self.in_use + self.in_kept - most;
            // The next that is large enough, or else the largest.
            let next = self.kept.range(over..).next().or(self.kept.last_key_value());
            let Some(size) = next.map(|(size, _)| *size) else { break };
            gone.extend(self.remove(size));
        }
        gone
    }

    /// All that is kept.
    pub(crate) fn all(&mut self) -> Vec<T> {
        self.in_kept = 0;
        std::mem::take(&mut self.kept).into_values().flatten().collect()
    }

    fn remove(&mut self, bytes: u64) -> Option<T> {
        let alike = self.kept.get_mut(&bytes)?;
        let memory = alike.pop()?;
        if alike.is_empty() {
            self.kept.remove(&bytes);
        }
        self.in_kept -= bytes;
        Some(memory)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests may panic")]
mod tests {
    use super::*;

    const LIMIT: u64 = 10_000;

    /// The driver's memory, in use and kept, is never more than was in use at once, nor beyond the
    /// limit; each piece is with one user, and has the size that was asked for.
    #[test]
    fn no_more_is_held_than_was_in_use() {
        let (mut pool, mut live, mut seed) = (Pool::default(), Vec::<(u64, u32)>::new(), 1u64);
        let (mut made, mut gone, mut most, mut again) = (0u32, Vec::new(), 0, 0);
        let mut random = |below: u64| {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 33) % below
        };
        for _ in 0..20_000 {
            let bytes = [100, 110, 700, 1 + random(3_000)][random(4) as usize];
            if random(2) == 0 {
                if let Some((size, id)) = pool.take_kept(bytes, LIMIT) {
                    assert!((bytes..=bytes + bytes / 8).contains(&size));
                    live.push((size, id));
                    again += 1;
                } else if pool.take(bytes, LIMIT) {
                    gone.extend(pool.beyond());
                    live.push((bytes, made));
                    made += 1;
                }
            } else if !live.is_empty() {
                let (size, id) = live.swap_remove(random(live.len() as u64) as usize);
                pool.give(size);
                pool.keep(size, (size, id));
            }
            let in_use: u64 = live.iter().map(|(size, _)| size).sum();
            most = most.max(in_use);
            let kept: u64 = pool.kept.values().flatten().map(|(size, _)| size).sum();
            assert_eq!((pool.in_use(), pool.in_kept), (in_use, kept));
            assert!(in_use + kept <= most && most <= LIMIT, "{in_use} and {kept} of {most}");
        }
        assert!(again > 5_000 && gone.len() > 100, "{again} again, {} gone", gone.len());
        let left = pool.all();
        assert!(pool.all().is_empty() && pool.in_kept == 0);
        let mut all: Vec<u32> = live.iter().chain(&gone).chain(&left).map(|(_, id)| *id).collect();
        all.sort_unstable();
        assert_eq!(all, (0..made).collect::<Vec<_>>());
    }

    /// A limit that is lowered holds at once for what is kept, and for what is freed later; one
    /// that is raised allows as much as was in use.
    #[test]
    fn a_limit_holds_from_then_on() {
        let mut pool = Pool::default();
        let free = |pool: &mut Pool<u64>, bytes| {
            pool.give(bytes);
            pool.keep(bytes, bytes);
            pool.beyond()
        };
        assert!(pool.take(400, LIMIT) && pool.take(300, LIMIT) && pool.take(100, LIMIT));
        assert_eq!(free(&mut pool, 100), []);
        pool.trim(750);
        assert_eq!(pool.beyond(), [100]);
        pool.trim(500);
        // The limit does not hold for memory in use.
        assert_eq!((pool.beyond(), pool.in_use()), (vec![], 700));
        assert_eq!(free(&mut pool, 300), [300]);
        assert_eq!(free(&mut pool, 400), []);
        pool.trim(0);
        assert_eq!(pool.beyond(), [400]);
        pool.trim(u64::MAX);
        assert!(pool.take(500, LIMIT) && pool.take(400, LIMIT));
        assert_eq!((free(&mut pool, 500), free(&mut pool, 400)), (vec![], vec![]));
        assert_eq!(pool.in_kept, 900);
    }

    /// Of what is kept one piece goes, if that is enough.
    #[test]
    fn as_little_goes_as_possible() {
        let mut pool = Pool::default();
        for bytes in [100, 200, 400, 800] {
            assert!(pool.take(bytes, LIMIT));
        }
        for bytes in [100, 200, 400, 800] {
            pool.give(bytes);
            pool.keep(bytes, bytes);
        }
        assert_eq!(pool.take_kept(90, LIMIT), Some(100));
        assert_eq!(pool.take_kept(90, LIMIT), None);
        assert!(pool.take(300, LIMIT));
        assert_eq!(pool.beyond(), [400]);
        assert!(pool.take(1_000, LIMIT));
        assert_eq!(pool.beyond(), [800, 200]);
        assert_eq!(pool.in_use(), 1_400);
        // A piece that fits is not taken beyond the limit.
        pool.give(1_400);
        pool.keep(108, 108);
        assert_eq!(pool.take_kept(100, 107), None);
        assert_eq!(pool.take_kept(100, 108), Some(108));
    }
}
