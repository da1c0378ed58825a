//! Files that are written and read.

use super::{matrix, row, usual};
use crate::error::Error;
use crate::options::Options;
use crate::output::files;
use crate::record::{Matrix, schema};
use clap::Parser;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// A folder of a test's own.
pub fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("folio-matrix-{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// BENCH-01: the schema in the repository is that of what is written.
/// `FOLIO_BLESS=1 cargo test -p folio-bench-matrix schema` writes it.
#[test]
fn the_schema_is_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/benchmarks/schema.json");
    if std::env::var_os("FOLIO_BLESS").is_some() {
        std::fs::write(&path, schema()).unwrap();
    }
    assert_eq!(std::fs::read_to_string(&path).unwrap(), schema(), "see this test's comment");
}

/// BENCH-01: table, JSON, plots and page; the JSON is read as it was written.
#[test]
fn everything_is_written_and_read_again() {
    let (folder, matrix) = (folder("written"), usual(1.0, 1));
    files::check(&folder).unwrap();
    files::write(&matrix, &folder, None).unwrap();
    let read = Matrix::load(&folder.join("matrix.json")).unwrap();
    assert_eq!(read.json(), matrix.json());
    let mut names: Vec<String> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    let expected =
        ["index.html", "matrix.json", "ratios-cpu-0.svg", "roofline-cpu-0.svg", "table.txt"];
    assert_eq!(names, expected);
    let svg = std::fs::read_to_string(folder.join("ratios-cpu-0.svg")).unwrap();
    assert!(svg.starts_with("<svg ") && svg.contains("<style>") && svg.contains("stream, triad"));
    std::fs::remove_dir_all(&folder).unwrap();
}

/// BENCH-01: the page of a saved run is made again of its JSON, without a measurement.
#[test]
fn a_saved_run_has_a_page() {
    let folder = folder("page-of-saved");
    let (saved, out) = (folder.join("saved.json"), folder.join("out"));
    std::fs::write(&saved, usual(1.0, 1).json()).unwrap();
    let word = OsStr::new;
    let words = [word("x"), word("--page"), saved.as_os_str(), word("--out"), out.as_os_str()];
    let outcome = crate::execute(&Options::parse_from(words), &[]).unwrap();
    assert!(outcome.is_good && outcome.text.contains("stream, triad"), "{}", outcome.text);
    let page = std::fs::read_to_string(out.join("index.html")).unwrap();
    assert!(page.contains("data-title=\"stream, triad, 2^16 f32\""));
    assert_eq!(Matrix::load(&out.join("matrix.json")).unwrap().json(), usual(1.0, 1).json());
    let none = [word("x"), word("--page"), word("none.json")];
    assert!(matches!(crate::execute(&Options::parse_from(none), &[]), Err(Error::File { .. })));
    std::fs::remove_dir_all(&folder).unwrap();
}

/// BENCH-01: sizes of a workload make a curve.
#[test]
fn several_sizes_are_a_curve() {
    let larger = crate::record::Row { size: 1 << 20, ..row("copy", [1e3, 1e3], 1) };
    let matrix = matrix(vec![row("copy", [100.0, 90.0], 1), larger]);
    let plots = crate::output::plots::plots(&matrix);
    let curve = plots.iter().find(|plot| plot.name == "sizes-cpu-0-stream").unwrap();
    assert_eq!(curve.svg.inline().matches("<polyline").count(), 2);
}

/// BENCH-01: each workload's largest size is shown beside the fastest library.
#[test]
fn opponents_are_bars() {
    let peer = |name: &str, ns: f64| crate::record::Peer {
        name: name.to_owned(),
        version: "1.2".to_owned(),
        ns,
        ratio: 100.0 / ns,
        samples: vec![ns],
    };
    let small = row("copy", [100.0, 90.0], 1);
    let large = crate::record::Row {
        size: 1 << 20,
        peers: vec![peer("Swift in a graph", 50.0), peer("Steady", 80.0)],
        ..small.clone()
    };
    let small = crate::record::Row { peers: vec![peer("Steady", 20.0)], ..small };
    let plots = crate::output::plots::plots(&matrix(vec![large, small]));
    let text = plots.iter().find(|plot| plot.name == "opponents-cpu-0").unwrap().svg.inline();
    assert!(text.contains("copy, 2^20 f32: Swift</text>"), "{text}");
    assert!(
        text.contains(">2.00</text>") && text.contains("50 ns of Swift in a graph 1.2"),
        "{text}"
    );
    assert!(!text.contains("Steady"), "{text}");
    let without = crate::output::plots::plots(&usual(1.0, 1));
    assert!(without.iter().all(|plot| !plot.name.starts_with("opponents")));
}

/// BENCH-01: files that are not what they should be.
#[test]
fn unreadable_files_are_named_with_what_is_wrong() {
    let folder = folder("unreadable");
    let missing = Matrix::load(&folder.join("none.json"));
    assert!(matches!(missing, Err(Error::File { doing: "read", .. })));
    let path = folder.join("other.json");
    std::fs::write(&path, "{}").unwrap();
    assert!(matches!(Matrix::load(&path), Err(Error::NotAMatrix { .. })));
    std::fs::write(&path, "{\"format\": 99, \"new\": true}").unwrap();
    let version = Matrix::load(&path).map(drop).unwrap_err();
    assert!(matches!(version, Error::Version { found: 99, expected: 1, .. }));
    assert!(version.to_string().contains("has format 99, and this program reads format 1"));
    std::fs::remove_dir_all(&folder).unwrap();
}

/// BENCH-01: where results cannot be written they are kept elsewhere.
#[test]
fn results_that_cannot_be_written_are_kept() {
    let folder = folder("kept");
    let file = folder.join("file");
    std::fs::write(&file, "").unwrap();
    let (below, matrix) = (file.join("below"), usual(1.0, 1));
    assert!(matches!(files::check(&below), Err(Error::File { doing: "make the folder", .. })));
    let why = files::write_somewhere(&matrix, &below, None).map(drop).unwrap_err();
    let Error::NotWritten { kept, .. } = &why else { panic!("{why}") };
    assert_eq!(Matrix::load(Path::new(kept)).unwrap().json(), matrix.json());
    std::fs::remove_file(kept).unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
}

/// BENCH-01: a run replaces files, and nothing else that has their names.
#[cfg(unix)]
#[test]
fn what_is_no_plain_file_is_refused_and_stays() {
    use std::os::unix::fs::{FileTypeExt, symlink};
    let folder = folder("special");
    let (place, other) = (folder.join("matrix.json"), folder.join("other"));
    let listening = std::os::unix::net::UnixListener::bind(&place).unwrap();
    let refused = files::write(&usual(1.0, 1), &folder, None);
    assert!(matches!(refused, Err(Error::File { doing: "write", .. })), "{refused:?}");
    assert!(std::fs::metadata(&place).unwrap().file_type().is_socket());
    drop(listening);
    std::fs::remove_file(&place).unwrap();
    // A name that a link holds beside the place leads nowhere.
    std::fs::write(&other, "other").unwrap();
    let beside = folder.join(format!(".matrix.json.{}.new", std::process::id()));
    symlink(&other, beside).unwrap();
    assert!(files::write(&usual(1.0, 1), &folder, None).is_err());
    assert_eq!(std::fs::read_to_string(&other).unwrap(), "other");
    std::fs::remove_dir_all(&folder).unwrap();
}
