//! The devices that a program finds, and why others are not there.
//!
//! Built with every backend: `--features opencl,cuda,vulkan`.
#![forbid(unsafe_code)]

fn main() -> folio::Result<()> {
    let rt = folio::runtime()?;
    for device in rt.devices() {
        println!("{}: {}", device.name(), device.info().name);
    }
    for why in rt.missing_backends() {
        println!("not there: {why}");
    }
    Ok(())
}
