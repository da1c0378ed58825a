//! The compiler's time for a kernel: `cargo bench -p folio-benches --bench compile [NAME]`. Eleven
//! kernels of each kind are compiled in the example `many_kernels`, and once one alone, which is
//! subtracted; of the large kernel three.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// A name, the kernel, and the arguments of its launch.
const KINDS: [(&str, &str, &str); 5] = [
    ("saxpy", "#[kernel] pub fn k(i: Item, a: f32, x: In<f32>, y: InOut<f32>) { y[i] = a * x[i] + y[i]; }", "9, k(1.0, &rt.buffer::<f32, 1>(9)?, &mut rt.buffer::<f32, 1>(9)?)"),
    (
        "stencil with a guard",
        "#[kernel] pub fn k(i: Item<2>, x: In<f32, 2>, y: Out<f32, 2>) {
            let (r, c) = i.pos();
            if r == 0 || c == 0 || r + 1 == x.shape()[0] || c + 1 == x.shape()[1] { y[i] = x[i]; return; }
            y[i] = 0.25 * (x[(r - 1, c)] + x[(r + 1, c)] + x[(r, c - 1)] + x[(r, c + 1)]);
        }",
        "[9, 9], k(&plane(rt)?, &mut plane(rt)?)",
    ),
    (
        "Mandelbrot",
        "#[kernel] pub fn k(i: Item<2>, w: f32, h: f32, out: Out<u32, 2>) {
            let (r, c) = i.pos();
            let (a, b) = (c as f32 / w * 3.0 - 2.0, r as f32 / h * 2.0 - 1.0);
            let (mut x, mut y, mut n) = (0.0, 0.0, 0);
            while n < 200 && x * x + y * y <= 4.0 {
                let t = x * x - y * y + a;
                y = 2.0 * x * y + b;
                x = t;
                n += 1;
            }
            out[i] = n;
        }",
        "[9, 9], k(9.0, 9.0, &mut plane(rt)?)",
    ),
    (
        "bodies",
        "#[kernel] pub fn k(i: Item, x: In<[f32; 4]>, y: Out<[f32; 3]>) {
            let (mut a, mut b, mut c) = (0.0, 0.0, 0.0);
            for j in 0..x.len() {
                let (u, v, w) = (x[j][0] - x[i][0], x[j][1] - x[i][1], x[j][2] - x[i][2]);
                let r2 = u * u + v * v + w * w + 0.01;
                let by = x[j][3] / (r2 * r2.sqrt());
                a += u * by;
                b += v * by;
                c += w * by;
            }
            y[i] = [a, b, c];
        }",
        "9, k(&rt.buffer(9)?, &mut rt.buffer(9)?)",
    ),
    (
        "sum of groups",
        "#[kernel] pub fn k(g: Group, x: In<f32>, sums: OutGroup<f32>) { sums[g] = g.reduce::<Add>(|i| x[i]); }",
        "Items::from(9).groups([3]), k(&rt.buffer(9)?, &mut rt.buffer(3)?)",
    ),
];

/// The large kernel, of the example `mini_bude`, in two of its forms.
const LARGE: &str = include_str!("../../crates/folio/examples/mini_bude.rs");
const LARGE_LAUNCHES: [&str; 2] = [
    "64, dock::<16>(&rt.buffer::<Atom, 1>(9)?, &rt.buffer::<Atom, 1>(9)?, &rt.buffer::<[f32; 16], 2>([6, 64])?, &mut rt.buffer::<[f32; 16], 1>(64)?)",
    "64, dock::<4>(&rt.buffer::<Atom, 1>(9)?, &rt.buffer::<Atom, 1>(9)?, &rt.buffer::<[f32; 4], 2>([6, 64])?, &mut rt.buffer::<[f32; 4], 1>(64)?)",
];

/// The part of the example that is the kernel, with its constants and types.
fn large() -> &'static str {
    let begin = LARGE.find("/// Factor of").expect("constants");
    let end = LARGE.find("/// What is computed").expect("the end of the kernel");
    &LARGE[begin..end]
}

/// How long cargo takes to compile the example with these kernels.
fn compiled(text: &str, words: &[&str]) -> Duration {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("many_kernels.rs");
    std::fs::write(&file, text).expect("a file for kernels");
    let start = Instant::now();
    let status = Command::new(env!("CARGO"))
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .env("FOLIO_MANY_KERNELS", &file)
        .env("CARGO_INCREMENTAL", "0")
        .args(["rustc", "--quiet", "--offline", "--example", "many_kernels"])
        .args(words)
        .args(["--", "--cfg", "many_kernels"])
        .status()
        .expect("cargo");
    assert!(status.success(), "kernels do not compile");
    start.elapsed()
}

/// A program of `count` kernels, each launched.
fn many(kernel: &str, launch: &str, count: usize) -> String {
    let mut text = "use folio::prelude::*;\n".to_owned();
    text += "fn plane<T: DeviceType>(rt: &Runtime) -> folio::Result<Buffer<T, 2>> {\n";
    text += "    rt.buffer([9, 9])\n}\n";
    let mut main = String::new();
    for at in 0..count {
        text += &format!("mod k{at} {{ use super::*;\n{kernel}\n");
        text += "pub fn launch(rt: &Runtime, q: &Queue) -> folio::Result<Event> {\n";
        text += &format!("q.run({launch})\n}}\n}}\n");
        main += &format!("k{at}::launch(rt, q)?;\n");
    }
    text + "pub fn all(rt: &Runtime, q: &Queue) -> folio::Result<()> {\n" + &main + "Ok(())\n}\n"
}

fn main() {
    let ways: [(&str, &[&str]); 2] =
        [("check", &["--profile", "check"]), ("release", &["--release"])];
    // Cargo has words of its own for benchmarks.
    let only: Vec<String> =
        std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let kinds =
        KINDS.iter().map(|(name, kernel, launch)| (*name, *kernel, (*launch).to_owned(), 11));
    let launches = LARGE_LAUNCHES.join(")?;\nq.run(");
    let kinds = kinds.chain([("docking, two forms", large(), launches, 3)]);
    let kinds: Vec<_> = kinds
        .filter(|(name, ..)| only.is_empty() || only.iter().any(|word| name.contains(&**word)))
        .collect();
    for (way, words) in ways {
        compiled(&many("", "", 0), words);
        for (name, kernel, launch, count) in &kinds {
            // The first one brings what all of them share.
            let one = compiled(&many(kernel, launch, 1), words);
            let took = compiled(&many(kernel, launch, *count), words).saturating_sub(one);
            let each = took.as_secs_f64() * 1e3 / (*count - 1) as f64;
            println!("{name:<24} {way:>8}  {each:>6.0} ms for each");
        }
    }
}
