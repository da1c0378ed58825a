//! The loss of a device, which is remembered with its first reason.

use folio_core::hal::{HalError, HalErrorKind, Lost};
use std::sync::{Arc, OnceLock};

/// Whether a device is lost, and why.
///
/// Calls refuse from then on. When lanes tell the loss depends on the driver: not before nothing of
/// the device touches memory any more.
#[derive(Debug, Default)]
pub struct Loss(OnceLock<Lost>);

impl Loss {
    /// The device takes no more. Returns the first reason that was given.
    pub fn lose(&self, reason: impl Into<Arc<str>>) -> Lost {
        self.0.get_or_init(|| Lost::new(reason)).clone()
    }

    /// The loss, if the device is lost.
    #[inline]
    pub fn check(&self) -> Result<(), Lost> {
        self.0.get().cloned().map_or(Ok(()), Err)
    }

    /// Passes an answer of the driver on. A loss in it is remembered.
    pub fn told<T>(&self, answer: Result<T, HalError>) -> Result<T, HalError> {
        answer.inspect_err(|error| {
            if matches!(error.kind, HalErrorKind::Lost) {
                self.lose(error.message.clone());
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_reason_stays() {
        let loss = Loss::default();
        assert!(loss.told(Ok(1)).is_ok());
        assert!(loss.told::<()>(Err(HalError::unsupported("this"))).is_err());
        assert!(loss.check().is_ok());
        assert!(loss.told::<()>(Err(HalError::new(HalErrorKind::Lost, "unplugged"))).is_err());
        assert_eq!(&*loss.lose("later").reason, "unplugged");
        assert!(loss.check().is_err_and(|lost| &*lost.reason == "unplugged"));
    }
}
