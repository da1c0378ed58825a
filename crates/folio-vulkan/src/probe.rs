//! What is measured of a device's floats.

use crate::platform::Found;

/// Measures, and publishes what was found.
pub(crate) fn measure(found: &mut Found) {
    found.info.caps.denormals = found.target.denormals;
}
