//! Graphs of the shapes that steps of programs have: `cargo bench -p folio-benches --bench steps`.

use folio_benches::steps::{costs, mesh, molecular_dynamics, transformer};

/// How often each is made and run; the least times are told.
const TIMES: usize = 50;

fn main() {
    let shapes = [
        ("molecular dynamics", molecular_dynamics()),
        ("mesh", mesh()),
        ("transformer", transformer()),
    ];
    for (name, nodes) in shapes {
        let (costs, report) = costs(&nodes, TIMES).expect("the benchmark's program is right");
        let parts = report.parts.iter().filter(|part| part.why_not.is_none());
        let (parts, within) =
            (parts.clone().count(), parts.map(|part| part.commands).sum::<usize>());
        println!("{name}, {} nodes: {costs:.1?}; {within} in {parts} parts", nodes.len());
    }
}
