//! The module as Python loads it: `tests/test_folio_example.py`, with NumPy where it is there.

use std::path::Path;
use std::process::Command;

#[test]
fn the_module_passes_its_tests_in_python() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let program = std::env::current_exe().expect("a test is a program");
    let built = program.with_file_name("libfolio_example.so");
    if !cfg!(target_os = "linux") || Command::new("python3").arg("--version").output().is_err() {
        println!("skipped: python: this test is for Linux, with `python3`");
        return;
    }
    let folder = std::env::temp_dir().join(format!("folio-python-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder for temporary files");
    std::fs::copy(&built, folder.join("folio_example.abi3.so")).expect("the library is built");
    // Where `cargo xtask test --setup` unpacks NumPy.
    let target = program.ancestors().nth(3).expect("a target folder");
    let paths = std::env::join_paths([folder.clone(), target.join("numpy")]).expect("paths");
    let mut python = Command::new("python3");
    python.arg(here.join("tests/test_folio_example.py")).env("PYTHONPATH", paths);
    let output = python.output().expect("python3 runs");
    let said =
        [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    println!("{}", said.concat());
    let _ = std::fs::remove_dir_all(&folder);
    assert!(output.status.success(), "{}", said.concat());
}
