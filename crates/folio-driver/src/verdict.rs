//! The verdicts of launches. A launch that can fail has a [`Record`] in memory that the host reads
//! when the launch has ended.

use folio_core::hal::HalError;
use folio_kernel::emit::{Points, Record};
use std::sync::Arc;

/// The meaning of a record that is not zero.
#[derive(Clone, Debug)]
pub enum Verdict {
    /// A launch has failed, at one of these points.
    Points(Arc<Points>),
    /// The loop of this number has reached its limit.
    Limit(u32),
}

impl Verdict {
    /// The failure that a record tells, if it tells one.
    pub fn failure(&self, record: &Record) -> Option<HalError> {
        match self {
            Verdict::Points(points) => failure(points, record),
            Verdict::Limit(number) => (!record.is_clear()).then(|| HalError::limit(*number)),
        }
    }
}

/// The failure that a launch's record tells, if it tells one.
pub fn failure(points: &Points, record: &Record) -> Option<HalError> {
    Some(HalError::violation(Box::new(points.violation(record)?)))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests may panic")]
mod tests {
    use super::*;
    use folio_core::hal::HalErrorKind;
    use folio_kernel::emit::{Capabilities, Cut, Dialect, Texts};

    const KERNEL: &str = "kernel \"gather\" items 1 tile 1
        param p0 = \"x\" view f32 1 inout item
        param p1 = \"y\" view f32 1 in item
        param p2 = \"at\" view u64 1 in item
        body {
        %0 u64 = query position 0 0
        %1 u64 = load p2[%0]
        %2 f32 = load p1[%1]
        store p0[%0] = %2
        }";

    #[test]
    fn a_record_that_is_not_clear_is_a_failure() {
        let kernel = folio_kernel::parse::parse(KERNEL).unwrap();
        let texts = Texts::of(&kernel, Dialect::OpenCl, &Capabilities::LEAST, Cut::Gpu).unwrap();
        let points = Verdict::Points(Arc::new(texts.text(false).points.clone()));
        let clear = Record::default();
        let first = Record([1, 12, 0, 0, 10, 0, 0]);
        assert!(points.failure(&clear).is_none());
        let error = points.failure(&first).unwrap();
        assert!(matches!(error.kind, HalErrorKind::Violation(_)), "{error}");
        // No launch of this text leaves such a record.
        assert!(points.failure(&Record([99; Record::WORDS])).is_none());
        let limit = Verdict::Limit(3);
        assert!(limit.failure(&clear).is_none());
        assert!(matches!(limit.failure(&first).unwrap().kind, HalErrorKind::Limit(3)));
    }
}
