//! `ocl` links `libOpenCL.so`, which packages for development have. Where there is only the loader
//! itself, `libOpenCL.so.1`, this names it so. Leave the file out where that package is there.

use std::path::Path;

/// Where distributions put it.
const FOLDERS: &[&str] =
    &["/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib"];

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let folders = FOLDERS.iter().map(Path::new);
    let mut loaders = folders.map(|folder| folder.join("libOpenCL.so.1"));
    let loader = loaders.find(|loader| loader.exists());
    let (Some(loader), Some(out)) = (loader, std::env::var_os("OUT_DIR")) else { return };
    let link = Path::new(&out).join("libOpenCL.so");
    #[cfg(unix)]
    if link.exists() || std::os::unix::fs::symlink(loader, &link).is_ok() {
        println!("cargo:rustc-link-search=native={}", Path::new(&out).display());
    }
    #[cfg(not(unix))]
    let _ = (loader, link);
}
