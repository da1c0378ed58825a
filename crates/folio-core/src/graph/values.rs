//! Scalars of launches in the place of those that the commands of a block have. Blocks that differ
//! in these only share their commands.

/// The scalars of some launches, by the numbers of their commands.
#[derive(Default)]
pub(super) struct Values {
    /// In order: the number of a command, and where its words begin.
    begins: Vec<(u32, u32)>,
    words: Vec<u64>,
}

impl Values {
    pub(super) fn is_empty(&self) -> bool {
        self.begins.is_empty()
    }

    /// Adds those of a later command, of so many in all.
    pub(super) fn push(&mut self, at: u32, words: &[u64], count: usize) {
        if self.begins.is_empty() {
            self.begins.reserve(count);
            self.words.reserve(count * words.len());
        }
        self.begins.push((at, self.words.len() as u32));
        self.words.extend_from_slice(words);
    }

    fn nth(&self, nth: usize) -> &[u64] {
        let Some((_, begin)) = self.begins.get(nth) else { return &[] };
        let end = self.begins.get(nth + 1).map_or(self.words.len(), |(_, end)| *end as usize);
        self.words.get(*begin as usize..end).unwrap_or_default()
    }

    /// Those of a command.
    pub(super) fn of(&self, at: u32) -> Option<&[u64]> {
        // Often all commands have some.
        let nth = match self.begins.get(at as usize) {
            Some((of, _)) if *of == at => at as usize,
            _ => self.begins.binary_search_by_key(&at, |(of, _)| *of).ok()?,
        };
        Some(self.nth(nth))
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, &[u64])> {
        self.begins.iter().enumerate().map(|(nth, (at, _))| (*at, self.nth(nth)))
    }

    /// These, and those of others that are of other commands.
    pub(super) fn over(self, others: &Values) -> Values {
        if others.begins.iter().all(|(at, _)| self.of(*at).is_some()) {
            return self;
        }
        let (mut all, mut own) = (Values::default(), self.iter().peekable());
        for (at, words) in others.iter() {
            while let Some((own, words)) = own.next_if(|(own, _)| *own < at) {
                all.push(own, words, self.begins.len());
            }
            let words = own.next_if(|(own, _)| *own == at).map_or(words, |(_, words)| words);
            all.push(at, words, self.begins.len());
        }
        own.for_each(|(at, words)| all.push(at, words, self.begins.len()));
        all
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn values(all: &[(u32, &[u64])]) -> Values {
        let mut values = Values::default();
        all.iter().for_each(|(at, words)| values.push(*at, words, all.len()));
        values
    }

    fn check(own: &[(u32, &[u64])], others: &[(u32, &[u64])], want: &[(u32, &[u64])]) {
        let all = values(own).over(&values(others));
        assert_eq!(all.iter().collect::<Vec<_>>(), want);
        want.iter().for_each(|(at, words)| assert_eq!(all.of(*at), Some(*words)));
        assert_eq!(all.of(9), None);
    }

    #[test]
    fn values_take_the_places_of_others() {
        check(&[(0, &[1]), (2, &[2, 3])], &[], &[(0, &[1]), (2, &[2, 3])]);
        check(&[], &[(1, &[4]), (3, &[])], &[(1, &[4]), (3, &[])]);
        check(
            &[(0, &[1]), (2, &[2, 3]), (5, &[6])],
            &[(1, &[4]), (2, &[7, 8]), (4, &[9])],
            &[(0, &[1]), (1, &[4]), (2, &[2, 3]), (4, &[9]), (5, &[6])],
        );
        check(&[(1, &[2])], &[(1, &[3])], &[(1, &[2])]);
    }
}
