//! Features that the backend leaves out, in the words of the suite, and why.

/// Of the contract of `folio_core::hal`.
pub const HAL: &[(&str, &str)] = &[
    ("graphs", "optional: the engine issues the operations one by one"),
    ("hints", "optional: memory here does not move"),
    ("linked memory", "optional: it would be for devices in the host's memory"),
    ("links between devices", "there is one device"),
    ("native waits", "optional: the engine waits on behalf of the lanes"),
    ("notifications", "optional: without a thread there is no news"),
    ("there is no device 1", "there is one device"),
    ("timing", "optional: no clock"),
];

/// Of what the engine does over it.
pub const ENGINE: &[(&str, &str)] = &[
    ("2 devices with memory of their own", "there is one device"),
    ("3 devices with memory of their own", "there is one device"),
    ("several devices", "there is one device"),
    ("a device in the host's memory", "its memory is apart"),
    ("addresses", "optional: `Allocation::address`, and then `UsmAllocator::query`"),
    ("addresses that the host reaches", "as above"),
    ("memory with addresses", "as above"),
    ("devices that link", "optional: `Caps::links`"),
    ("devices that tell when commands ran", "optional: no clock"),
    ("devices with a UUID", "it is no hardware"),
];
