//! Which devices a program has, and what it is told of others (BACK-01, BACK-04).
#![allow(clippy::unwrap_used, reason = "tests")]

use folio::Error;

/// Names are those of devices, of backends, or parts of the product's, in upper or lower case.
#[test]
fn names_are_found_in_any_case() {
    let rt = folio::runtime().unwrap();
    let device = rt.device("cpu:0").unwrap();
    let product = device.info().name.clone();
    for name in ["CPU:0".to_owned(), "Cpu".to_owned(), product.to_uppercase()] {
        assert_eq!(rt.device(&name).unwrap().name(), "cpu:0", "{name}");
    }
}

/// A device that is not there is an error that says what is, by both of its names, and why a
/// backend is not: it may be a Cargo feature away.
#[test]
fn what_is_not_there_is_told() {
    let rt = folio::runtime().unwrap();
    let found = rt.device("toaster").err().unwrap();
    assert!(matches!(found, Error::DeviceNotFound { .. }), "{found}");
    let (text, product) = (found.to_string(), rt.device("cpu:0").unwrap().info().name.clone());
    assert!(text.contains(&format!("cpu:0 ({product})")), "{text}");
    let features = [
        ("opencl", cfg!(feature = "opencl")),
        ("cuda", cfg!(feature = "cuda")),
        ("vulkan", cfg!(feature = "vulkan")),
    ];
    for (name, there) in features {
        let feature = format!("without Folio's feature `{name}`");
        assert_eq!(text.contains(&feature), !there, "{text}");
        assert_eq!(rt.absent().iter().any(|why| why.contains(&feature)), !there);
    }
}
