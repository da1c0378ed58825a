//! Why a driver is not there, as programs are told it.

use folio_core::hal::{HalError, HalErrorKind, Unavailable};
use std::fmt;

/// The reason why a driver is missing.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Missing {
    /// Its library cannot be opened.
    Library {
        /// The library's name.
        name: &'static str,
        /// Where it comes from.
        source: &'static str,
        /// The system's message; empty if there is none.
        cause: String,
    },
    /// The driver is older than this backend needs.
    Version {
        /// Whose driver or library it is.
        name: &'static str,
        /// The oldest version that would do.
        needed: &'static str,
    },
    /// The driver is there, and shows no device that can be used: why.
    Devices(String),
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Missing::Library { name, source, cause } => {
                write!(f, "no {name}, which comes {source}")?;
                if cause.is_empty() { Ok(()) } else { write!(f, ": {cause}") }
            }
            Missing::Version { name, needed } => write!(f, "{name} is older than {needed}"),
            Missing::Devices(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for Missing {}

impl From<Missing> for Unavailable {
    fn from(missing: Missing) -> Unavailable {
        Unavailable::new(missing.to_string())
    }
}

impl From<Missing> for HalError {
    fn from(missing: Missing) -> HalError {
        HalError::new(HalErrorKind::Driver, missing.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_driver_says_where_it_comes_from() {
        let cause = "no such file".to_owned();
        let source = "with the driver, or as the package `xyz`";
        let library = Missing::Library { name: "XYZ loader", source, cause };
        let expected =
            "no XYZ loader, which comes with the driver, or as the package `xyz`: no such file";
        assert_eq!(Unavailable::from(library.clone()).reason, expected);
        assert!(matches!(HalError::from(library).kind, HalErrorKind::Driver));
        let old = Missing::Version { name: "XYZ", needed: "2.0" };
        assert_eq!(old.to_string(), "XYZ is older than 2.0");
    }
}
