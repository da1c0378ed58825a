//! The page in a browser.

use super::files::folder;
use super::{matrix, row, usual};
use crate::compare::compare;
use crate::output::files;
use crate::record::{LeftOut, Row};
use crate::workloads::ALL;
use std::path::Path;
use std::process::Command;

const BROWSERS: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];

/// The page after its script has run, and the messages of the browser's console.
fn opened(page: &Path) -> Option<[String; 2]> {
    let profile = page.with_file_name("profile");
    let shown = |browser: &&str| {
        Command::new(browser)
            .args([
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--enable-logging=stderr",
                "--v=0",
            ])
            .arg(format!("--user-data-dir={}", profile.display()))
            .args(["--dump-dom", &format!("file://{}", page.display())])
            .output()
            .ok()
    };
    let output = BROWSERS.iter().find_map(shown)?;
    Some([output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()))
}

/// BENCH-01: the page opens without network access and without an error, and has every workload,
/// what was left out, and what changed.
#[test]
fn the_page_opens_in_a_browser_with_every_workload() {
    let rows = |seed| -> Vec<Row> {
        let of =
            |name: &str| Row { workload: name.to_owned(), ..row("a mode", [100.0, 90.0], seed) };
        ALL.iter().map(|workload| of(workload.name())).collect()
    };
    let mut now = matrix([rows(1), usual(1.0, 1).rows].concat());
    *now.rows.last_mut().unwrap() = row("triad", [600.0, 250.0], 1);
    now.left_out.push(LeftOut { what: "vulkan".into(), reason: "no <driver>".into() });
    compare(&mut now, &usual(1.0, 3));
    let folder = folder("page");
    files::write(&now, &folder, None).unwrap();
    let page = folder.join("index.html");
    let text = std::fs::read_to_string(&page).unwrap();
    for remote in ["src=\"http", "href=\"http", "url(http", "@import", "fetch("] {
        assert!(!text.contains(remote), "{remote}");
    }
    let Some([dom, console]) = opened(&page) else {
        return println!("skipped: chromium: none of {BROWSERS:?} is installed");
    };
    let said: Vec<&str> = console.lines().filter(|line| line.contains("CONSOLE")).collect();
    assert!(said.is_empty(), "{said:?}");
    assert!(dom.contains("data-ready=\"yes\""), "the script has run to its end: {console}");
    assert!(dom.contains(&format!("data-shown=\"{}\"", now.rows.len())));
    for workload in ALL {
        assert!(dom.contains(&format!("data-workload=\"{}\"", workload.name())));
    }
    assert!(dom.contains("slower: 2.0"), "what changed is shown");
    assert!(dom.contains("no &lt;driver&gt;") && dom.contains("a &lt;processor&gt; &amp; more"));
    std::fs::remove_dir_all(&folder).unwrap();
}
