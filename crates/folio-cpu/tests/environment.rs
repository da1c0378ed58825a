//! The environment's settings. One test in a process of its own, since it sets variables.

use folio_core::hal::Backend;
use folio_cpu::CpuBackend;

fn set(name: &str, value: &str) {
    // SAFETY: the only test of this process; nobody else reads the environment meanwhile.
    unsafe { std::env::set_var(name, value) };
}

#[test]
fn the_environment_is_read_and_checked() {
    set("FOLIO_CPU_DOMAINS", "3");
    set("FOLIO_CPU_THREADS", "6");
    let devices = CpuBackend::new().unwrap().devices().unwrap();
    assert_eq!((devices.len(), devices[0].compute_units), (3, 2));
    assert_eq!(CpuBackend::builder().build().unwrap().devices().unwrap().len(), 1);
    set("FOLIO_CPU_THREADS", "many");
    let error = CpuBackend::new().err().unwrap();
    let text = r#"FOLIO_CPU_THREADS is "many", allowed is a whole number, 1 to 4096"#;
    assert_eq!(error.to_string(), text);
    set("FOLIO_CPU_DOMAINS", "65");
    assert_eq!(CpuBackend::new().err().unwrap().setting, "FOLIO_CPU_DOMAINS");
}
