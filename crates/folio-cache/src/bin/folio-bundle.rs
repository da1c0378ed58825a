//! Packs what caches have into a bundle: `folio-bundle FILE DIRECTORY..`, where a directory is what
//! `FOLIO_CACHE_DIR` named when a program ran. Several directories: of several kinds of device.

use folio_cache::{Bundle, Cache};
use std::error::Error;
use std::process::ExitCode;

fn pack(words: &[String]) -> Result<(), Box<dyn Error>> {
    let [file, directories @ ..] = words else { return Err("usage".into()) };
    if directories.is_empty() {
        return Err("usage".into());
    }
    let mut bundle = Bundle::default();
    for directory in directories {
        let more = Cache::at(directory).bundle();
        bundle = bundle.with(&more.map_err(|error| format!("{directory}: {error}"))?);
    }
    if bundle.is_empty() {
        return Err("no compiled program is there".into());
    }
    let bytes = bundle.to_bytes();
    std::fs::write(file, &bytes).map_err(|error| format!("{file}: {error}"))?;
    println!("{file}: {} programs, {} bytes", bundle.len(), bytes.len());
    Ok(())
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match pack(&words) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("folio-bundle FILE DIRECTORY..: {why}");
            ExitCode::FAILURE
        }
    }
}
