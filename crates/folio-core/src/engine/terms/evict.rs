//! Rules for copies of a buffer when memory is short.

/// The rule for a buffer's copies when memory is short.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Evict {
    pub(crate) priority: i32,
    pub(crate) dirty: bool,
}

impl Evict {
    /// Copies that are current elsewhere, too, may be freed: those that were used least recently
    /// first.
    pub fn clean() -> Evict {
        Evict::default()
    }

    /// As [`clean`](Self::clean), and copies of devices that are the only current ones may be
    /// written to the host and then be freed.
    pub fn dirty() -> Evict {
        Evict { priority: 0, dirty: true }
    }

    /// Buffers of lower priority give way first, whenever they were used, and also where commands
    /// use them still. Of one priority, those that no command uses go before those that some do.
    #[must_use]
    pub fn priority(self, priority: i32) -> Evict {
        Evict { priority, ..self }
    }
}
