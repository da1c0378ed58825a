//! A reader's first questions: whether there is anything, whether to trust it, and what is worst.

use super::{control, matrix, row, usual};
use crate::output::page::{Summary, page, summaries};
use crate::output::table::table;
use crate::output::terminal::{coloured, has_colours};
use crate::output::{class, trust};
use crate::record::{Estimate, LeftOut, Row};

/// BENCH-02: figures without controls are not trusted.
#[test]
fn trust_without_controls_is_none() {
    let (words, is_trusted) = trust(&usual(1.0, 1));
    assert!(words.starts_with("No control was measured") && !is_trusted, "{words}");
    let mut with = usual(1.0, 1);
    with.rows.push(control(0.99));
    assert_eq!(trust(&with), ("Controls read 1.0 within 1.0 %.".to_owned(), true));
    with.rows.push(control(0.5));
    let (words, is_trusted) = trust(&with);
    assert!(words.starts_with("Controls are up to 100 % off 1.0") && !is_trusted, "{words}");
}

/// BENCH-01: a line for each workload of a device.
#[test]
fn summaries_have_median_worst_and_best() {
    let mut all = usual(1.0, 1);
    all.rows.push(control(1.0));
    let scan = |mode, ours| Row { workload: "scan".into(), ..row(mode, [ours, 100.0], 1) };
    all.rows.extend([scan("a", 100.0), scan("b", 50.0), scan("c", 300.0)]);
    let told = summaries(&all);
    assert_eq!(told.len(), 2, "controls have none: {told:?}");
    let ratio = |ratio: &str, class: &str| [ratio.to_owned(), class.to_owned()];
    let expected = Summary {
        device: "cpu:0".to_owned(),
        workload: "scan".to_owned(),
        rows: 3,
        ratios: vec![ratio("1.00", "near"), ratio("3.00", "slower"), ratio("0.50", "faster")],
        worst: "scan, c, 2^16 f32".to_owned(),
    };
    assert_eq!(told[1], expected);
    assert_eq!(
        (&*told[0].workload, told[0].rows, &*told[0].worst),
        ("stream", 4, "stream, triad, 2^16 f32")
    );
}

/// BENCH-02: a colour is for an interval that lies on one side, not for a median.
#[test]
fn a_ratio_has_a_colour_by_its_interval() {
    let of = |low, high| class(&Estimate { low, median: 1.0, high, ..Estimate::default() });
    assert_eq!([of(0.5, 0.94), of(1.06, 2.0)], ["faster", "slower"]);
    assert_eq!([of(0.5, 1.5), of(0.96, 1.0), of(1.0, 1.04)], ["near"; 3]);
}

/// BENCH-01: the worst rows come first, and what has no figures has no column.
#[test]
fn a_page_begins_with_the_worst_row() {
    let text = page(&usual(1.0, 1), &[]).unwrap();
    let places: Vec<Option<usize>> = ["triad", "copy", "add", "mul"]
        .iter()
        .map(|mode| text.find(&format!(">stream, {mode}</th>")))
        .collect();
    assert!(places.is_sorted() && places[0].is_some(), "{places:?}");
    for none in ["of the peak</button>", "to saved</button>"] {
        assert!(!text.contains(none), "{none}");
    }
    assert!(!table(&usual(1.0, 1), None).contains("saved"));
}

/// BENCH-01: legends are below the axes, whole and within the picture.
#[test]
fn a_legend_is_within_its_plot() {
    let modes: Vec<String> = (0..30).map(|nth| format!("a mode with a long name, {nth}")).collect();
    let all = matrix(modes.iter().map(|mode| row(mode, [100.0, 90.0], 1)).collect());
    let plots = crate::output::plots::plots(&all);
    let roofline = plots.iter().find(|plot| plot.name == "roofline-cpu-0").unwrap();
    let text = roofline.svg.inline();
    assert!(text.contains("hollow: by hand</text>"));
    assert!(modes.iter().all(|mode| text.contains(&format!("stream {mode}</text>"))));
    let number = |text: &str, name: &str| -> f64 {
        let (_, rest) = text.split_once(&format!(" {name}=\"")).unwrap();
        rest.split('"').next().unwrap().parse().unwrap()
    };
    let height = number(&text, "height");
    let lines = text.lines().filter(|line| line.starts_with("<text"));
    assert!(lines.clone().count() > 30);
    lines.for_each(|line| assert!(number(line, "y") < height, "{line}"));
}

/// BENCH-01: failures are red, and nothing else is.
#[test]
fn failures_are_red() {
    let mut failed = usual(1.0, 1);
    failed.failed.push(LeftOut { what: "cpu:0: wrong".into(), reason: "ours 2".into() });
    failed.left_out.push(LeftOut { what: "vulkan".into(), reason: "no driver".into() });
    failed.rows.clear();
    let text = table(&failed, None);
    let shown = coloured(&text);
    let red: Vec<&str> = shown.lines().filter(|line| line.starts_with("\u{1b}[1;31m")).collect();
    let words = [
        "NO ROW of cpu:0 was measured: see what was left out.",
        "FAILED:",
        "  cpu:0: wrong: ours 2",
    ];
    assert_eq!(red, words.map(|words| format!("\u{1b}[1;31m{words}\u{1b}[0m")));
    assert_eq!(shown.replace("\u{1b}[1;31m", "").replace("\u{1b}[0m", ""), text);
    let fine = table(&usual(1.0, 1), None);
    assert_eq!(coloured(&fine), fine);
}

/// BENCH-01
#[test]
fn colours_are_off_by_the_usual_variables() {
    let has = |all: &[(&str, &str)], is_terminal| {
        let of = |name: &str| all.iter().find(|(n, _)| *n == name).map(|(_, v)| v.into());
        has_colours(of, is_terminal)
    };
    assert!(has(&[], true) && !has(&[], false));
    for off in [("NO_COLOR", "1"), ("CLICOLOR", "0"), ("TERM", "dumb")] {
        assert!(!has(&[off], true), "{off:?}");
    }
    assert!(has(&[("NO_COLOR", ""), ("CLICOLOR", "1"), ("TERM", "xterm")], true));
    assert!(has(&[("CLICOLOR_FORCE", "1")], false));
    assert!(!has(&[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")], true));
}
