//! The examples of `src/fuse/README.md` are what fusion does. `FOLIO_BLESS=1` writes them anew.

use super::graph::{ADD, Chain, DOUBLE, FIVE, MIRROR, MUL, SCALED, SUM, UPDATE};
use super::inlined;
use folio_kernel::fuse::{Mode, Options, OtherWork, Plan, PlanNode};
use std::fmt::Write;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/pass/fuse/README.md");

/// A graph, and its plan.
type Example = (Chain, Plan);

fn planned(chain: Chain, options: Options) -> Example {
    let plan = chain.plan_with(options).unwrap();
    (chain, plan)
}

fn require() -> Options {
    Options::new(Mode::Require)
}

fn registers() -> Example {
    let mut chain = Chain::new();
    let [x, y, z, out] = ["x", "y", "z", "out"].map(|name| chain.memory(name, 512));
    let tmp = chain.temporary("tmp", 512);
    chain.call("add", ADD, 512, &[x, y, tmp]);
    chain.call("mul", MUL, 512, &[tmp, z, out]);
    planned(chain, require())
}

fn forwarding() -> Example {
    let mut chain = Chain::new();
    let [x, y] = ["x", "y"].map(|name| chain.memory(name, 512));
    chain.call("five", FIVE, 512, &[x, y]);
    chain.call("update", UPDATE, 512, &[x, y]);
    planned(chain, require())
}

fn guards() -> Example {
    let mut chain = Chain::new();
    let [x, y, z] = ["x", "y", "z"].map(|name| chain.memory(name, 512));
    chain.call("five", FIVE, 512, &[x, y]);
    chain.call("five", FIVE, 300, &[y, z]);
    planned(chain, require())
}

fn barriers() -> Example {
    let mut chain = Chain::new();
    let [x, out] = ["x", "out"].map(|name| chain.memory(name, 512));
    let tmp = chain.temporary("tmp", 512);
    chain.grouped(DOUBLE, 512, 64, &[x, tmp]);
    chain.grouped(MIRROR, 512, 64, &[tmp, out]);
    planned(chain, Options { insert_barriers: true, ..require() })
}

fn phases() -> Example {
    let mut chain = Chain::new();
    let [x, y, z] = ["x", "y", "z"].map(|name| chain.memory(name, 512));
    chain.grouped(DOUBLE, 512, 64, &[x, y]);
    chain.call("five", FIVE, 512, &[y, z]);
    planned(chain, require())
}

fn reductions() -> Example {
    let mut chain = Chain::new();
    let [x, y] = ["x", "y"].map(|name| chain.memory(name, 512));
    let (tmp, total) = (chain.temporary("tmp", 512), chain.memory("total", 1));
    chain.call("mul", MUL, 512, &[x, y, tmp]);
    chain.call("sum", SUM, 512, &[tmp, total]);
    planned(chain, require())
}

/// Two kernels that loop as often as the same number says.
fn loops() -> Chain {
    let mut chain = Chain::new();
    let [x, out] = ["x", "out"].map(|name| chain.memory(name, 512));
    let tmp = chain.temporary("tmp", 512);
    chain.call("scaled", SCALED, 512, &[x, tmp]);
    chain.call("scaled", SCALED, 512, &[tmp, out]);
    chain
}

fn scalars() -> Example {
    planned(loops(), require())
}

fn baked() -> Example {
    planned(loops(), Options { bake: true, ..require() })
}

fn independent() -> Example {
    let mut chain = Chain::new();
    let [a, b, c, d] = ["a", "b", "c", "d"].map(|name| chain.memory(name, 512));
    chain.call("five", FIVE, 512, &[a, b]);
    chain.call("double", DOUBLE_ITEMS, 512, &[c, d]);
    planned(chain, Options::new(Mode::Enable))
}

fn hoisted() -> Example {
    let mut chain = Chain::new();
    let names = ["host", "x", "y", "tmp", "out"];
    let [host, x, y, tmp, out] = names.map(|name| chain.memory(name, 512));
    chain.other(OtherWork::Copy, &[host, x]);
    chain.call("five", FIVE, 512, &[x, tmp]);
    chain.other(OtherWork::Fill, &[y]);
    chain.call("add", ADD, 512, &[tmp, y, out]);
    chain.other(OtherWork::Copy, &[out, host]);
    planned(chain, require())
}

const DOUBLE_ITEMS: &str = r#"kernel "double" items 1 tile 1
param p0 = "x" view f32 1 in item
param p1 = "z" view f32 1 out item
body {
  %0 u64 = query position 0 0
  %1 f32 = load p0[%0]
  %2 f32 = add %1, %1
  store p1[%0] = %2
}
"#;

/// What runs, in order, where something does beside kernels.
fn order((chain, plan): &Example) -> Option<String> {
    let nodes = &chain.graph.nodes;
    nodes.iter().find(|node| node.call().is_none())?;
    let label = |at: &usize| nodes[*at].label.clone();
    let before: Vec<String> = nodes.iter().map(|node| node.label.clone()).collect();
    let after = plan.steps.iter().map(|step| match step {
        PlanNode::Node(at) => label(at),
        PlanNode::Fused(fused) => fused.kernel.name.clone(),
    });
    let after: Vec<String> = after.collect();
    Some(format!("before: {}\nafter:  {}\n", before.join("; "), after.join("; ")))
}

/// A kernel's statements, without its head where that says nothing more.
fn block(text: &str) -> String {
    format!("```text\n{}\n```\n", text.trim_end())
}

fn shown(example: &Example) -> String {
    let (chain, plan) = example;
    let mut text = "\nBefore:\n\n".to_owned();
    let calls = chain.graph.nodes.iter().filter_map(|node| node.call());
    let kernels: Vec<String> = calls.map(|call| call.kernel.to_string()).collect();
    text.push_str(&block(&kernels.concat()));
    text.push_str("\nAfter:\n\n");
    let fused: Vec<String> = plan.fused().map(|fused| fused.kernel.to_string()).collect();
    text.push_str(&block(&fused.concat()));
    if let Some(order) = order(example) {
        write!(text, "\nThe order:\n\n{}", block(&order)).unwrap();
    }
    let report = plan.explain(&chain.graph).to_string();
    write!(text, "\nThe report:\n\n{}\n", block(&report)).unwrap();
    text
}

#[test]
fn examples_of_the_page_are_what_fusion_does() {
    let mut page = std::fs::read_to_string(PAGE).unwrap();
    let examples = [
        ("registers", registers()),
        ("forwarding", forwarding()),
        ("guards", guards()),
        ("barriers", barriers()),
        ("phases", phases()),
        ("reductions", reductions()),
        ("scalars", scalars()),
        ("baked", baked()),
        ("independent", independent()),
        ("hoisted", hoisted()),
        ("producer", planned(inlined::producer(), require())),
        ("consumer", planned(inlined::consumer(), require())),
    ];
    let bless = std::env::var_os("FOLIO_BLESS").is_some();
    for (name, example) in &examples {
        let begin = format!("<!-- example {name} -->\n");
        let from = page.find(&begin).unwrap_or_else(|| panic!("no {begin}")) + begin.len();
        let to = from + page[from..].find("<!-- end -->").unwrap();
        let wanted = shown(example);
        if bless {
            page.replace_range(from..to, &wanted);
        } else {
            assert_eq!(&page[from..to], wanted, "{name}: FOLIO_BLESS=1 writes it anew");
        }
    }
    if bless {
        std::fs::write(PAGE, page).unwrap();
    }
}
