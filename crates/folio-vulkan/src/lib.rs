//! Vulkan devices for Folio.
