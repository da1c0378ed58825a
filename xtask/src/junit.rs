//! Reads the outcomes out of a JUnit file, as cargo-nextest writes it.

use crate::outcome::{Outcome, Status};

/// The test cases of a JUnit text.
pub fn parse(text: &str) -> Vec<Outcome> {
    text.split("<testcase ").skip(1).map(case).collect()
}

fn case(text: &str) -> Outcome {
    let (tag, rest) = text.split_once('>').unwrap_or((text, ""));
    let body = match tag.ends_with('/') {
        true => "",
        false => rest.split("</testcase>").next().unwrap_or(rest),
    };
    let failed = body.contains("<failure") || body.contains("<error");
    let status = match failed {
        true if body.contains("type=\"test timeout\"") => Status::TimedOut,
        true => Status::Failed,
        false => Status::Passed,
    };
    let output = ["system-out", "system-err"].map(|name| element(body, name)).join("\n");
    let secs = attribute(tag, "time").parse().unwrap_or(0.0);
    Outcome::new(&attribute(tag, "classname"), &attribute(tag, "name"), status, secs, &output)
}

fn attribute(tag: &str, name: &str) -> String {
    let start = format!("{name}=\"");
    let found = tag.split_whitespace().find_map(|word| word.strip_prefix(start.as_str()));
    plain(found.and_then(|value| value.split('"').next()).unwrap_or(""))
}

fn element(body: &str, name: &str) -> String {
    let inside = |text: &str| {
        let (_, rest) = text.split_once(&format!("<{name}>"))?;
        rest.split_once(&format!("</{name}>")).map(|(text, _)| plain(text))
    };
    inside(body).unwrap_or_default()
}

fn plain(text: &str) -> String {
    let marks = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"), ("&amp;", "&")];
    marks.iter().fold(text.to_owned(), |text, (mark, c)| text.replace(mark, c))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = r#"<testsuites name="nextest-run" tests="3" failures="2" errors="0">
    <testsuite name="folio-model::all" tests="3">
        <testcase name="suite_programs" classname="folio-model::all" timestamp="x" time="2.5">
            <system-out>
running 1 test
suite programs: 12 cases in 2.0 s, 0 divergences (seed &lt;1&gt;)
</system-out>
            <system-err></system-err>
        </testcase>
        <testcase name="a::b" classname="folio-core" time="0.1">
            <failure message="m" type="test failure">words</failure>
            <system-out>said &amp; done</system-out>
        </testcase>
        <testcase name="slow" classname="folio-core" time="60.0">
            <failure type="test timeout"/>
        </testcase>
        <testcase name="plain" classname="folio-core" time="0.2"/>
    </testsuite>
</testsuites>"#;

    #[test]
    fn cases_are_read() {
        let cases = parse(FILE);
        let statuses: Vec<_> = cases.iter().map(|c| c.status).collect();
        use Status::{Failed, Passed, TimedOut};
        assert_eq!(statuses, [Passed, Failed, TimedOut, Passed]);
        assert_eq!(cases[0].name(), "folio-model::all suite_programs");
        assert_eq!(cases[0].secs, 2.5);
        assert!(cases[0].output.contains("(seed <1>)"));
        assert!(cases[1].output.contains("said & done"));
    }
}
