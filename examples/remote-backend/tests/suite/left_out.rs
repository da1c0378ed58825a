//! Features that the backend leaves out, in the words of the suite, and why.

/// Tests of the contract that fail.
pub const FAILS: &[(&str, &str)] = &[("every_kind_is_usm", "memory is in the other process only")];

/// Of the contract of `folio_core::hal`.
pub const HAL: &[(&str, &str)] = &[
    ("closures", "the other process has other code"),
    ("graphs", "optional: the engine issues the operations one by one"),
    ("hints", "optional: memory here does not move"),
    ("linked memory", "no memory is in both processes"),
    ("links between devices", "there is one device"),
    ("there is no device 1", "there is one device"),
    ("timing", "optional: the other process looks at no clock"),
];

/// Tests of the engine that fail.
pub const ENGINE_FAILS: &[(&str, &str)] = &[];

/// Of what the engine does over it.
pub const ENGINE: &[(&str, &str)] = &[
    ("2 devices with memory of their own", "there is one device"),
    ("3 devices with memory of their own", "there is one device"),
    ("several devices", "there is one device"),
    ("a device in the host's memory", "its memory is in the other process"),
    ("addresses", "addresses of the other process mean nothing here"),
    ("addresses that the host reaches", "as above"),
    ("memory with addresses", "as above"),
    ("devices that link", "no memory is in both processes"),
    ("devices that run closures", "the other process has other code"),
    ("devices that tell when commands ran", "optional: the other process looks at no clock"),
    ("devices with a UUID", "it is no hardware"),
];
