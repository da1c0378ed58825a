//! Shapes of launches that are found by measuring: with the same bits on each backend, measured
//! once in a process, and not again in the next one.
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

use folio::prelude::*;
use folio_cpu::CpuBackend;
use folio_model::drivers::{OPENCL, VULKAN};
use folio_opencl::{Cache, OpenClBackend};
use folio_vulkan::VulkanBackend;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const ROWS: usize = 70;
const COLUMNS: usize = 130;
/// More than the measurements of four shapes, twice each.
const STEPS: usize = 12;

#[kernel]
fn spread(i: Item<2>, x: In<f32, 2>, y: InOut<f32, 2>) {
    let (r, c) = i.pos();
    let left = if c > 0 { x[(r, c - 1)] } else { 0.5 };
    let above = if r > 0 { x[(r - 1, c)] } else { 0.25 };
    y[i] = y[i] * 0.75 + left.sqrt() + above * x[i];
}

#[kernel]
fn squares(i: Item, x: InOut<f32>) {
    x[i] = x[i] * x[i] + 0.1;
}

/// The bits after some steps that are run in this way.
fn steps(q: &Queue, tuned: bool) -> Vec<u32> {
    let rt = q.runtime();
    let start = |n: usize| (0..n).map(|k| (k % 97) as f32 * 0.01).collect::<Vec<_>>();
    let x = rt.buffer_from((start(ROWS * COLUMNS), [ROWS, COLUMNS])).unwrap();
    let mut y = rt.buffer_from((start(ROWS * COLUMNS), [ROWS, COLUMNS])).unwrap();
    let mut z = rt.buffer_from(start(5000)).unwrap();
    for _ in 0..STEPS {
        let (grid, line) = (spread(&x, &mut y), squares(&mut z));
        match tuned {
            true => {
                q.tune([ROWS, COLUMNS], grid).unwrap();
                q.tune(5000, line).unwrap();
            }
            false => {
                q.run([ROWS, COLUMNS], grid).unwrap();
                q.run(5000, line).unwrap();
            }
        }
    }
    let bits = |x: Vec<f32>| x.into_iter().map(f32::to_bits);
    bits(y.to_vec().unwrap()).chain(bits(z.to_vec().unwrap())).collect()
}

fn runtime(backend: &str) -> Runtime {
    let builder = Runtime::builder();
    let builder = match backend {
        "opencl" => builder.backend(OpenClBackend::new()),
        "vulkan" => builder.backend(VulkanBackend::new()),
        _ => builder.backend(CpuBackend::new().unwrap()),
    };
    builder.build().unwrap()
}

const CHILD: &str = "FOLIO_TEST_TUNED";

/// What a child process says: how many launches each kernel has measured, and its choice.
fn child(backend: &str, tunes: &str) {
    let host = runtime("cpu");
    let expected = steps(&host.queue().unwrap(), true);
    assert!(host.shapes().is_empty(), "the host's code has one shape: {:?}", host.shapes());
    let rt = runtime(backend);
    let q = rt.queue_on(backend).unwrap();
    let first = rt.shapes();
    assert!(first.is_empty(), "{first:?}");
    // By the call, or by a variable for each call.
    assert!(steps(&q, tunes == "call") == expected, "other bits");
    let shapes = rt.shapes();
    println!("{shapes:?}");
    assert_eq!(shapes.iter().map(|of| of.kernel).collect::<Vec<_>>(), ["spread", "squares"]);
    assert_eq!(shapes.iter().map(|of| of.items).collect::<Vec<_>>(), [8192, 4096]);
    assert!(shapes.iter().all(|of| of.chosen.is_some_and(|shape| shape < 4)), "{shapes:?}");
    println!("measurements: {}", shapes.iter().map(|of| of.measured).sum::<usize>());
    // The next steps run in the chosen shape, whatever asks for it.
    assert!(steps(&q, false) == expected && rt.shapes() == shapes);
}

/// Runs this test as a child process; tells how many launches it has measured.
#[track_caller]
fn again(backend: &str, tunes: &str, folder: &Path) -> usize {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "shapes_are_measured_once_and_kept", "--nocapture"]);
    command.env(CHILD, format!("{backend} {tunes}")).env("FOLIO_CACHE_DIR", folder);
    command.env_remove("FOLIO_CACHE").env("FOLIO_TUNE", if tunes == "call" { "off" } else { "on" });
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("1 passed"), "{output:?}");
    let count = said.split_once("measurements: ").and_then(|(_, rest)| rest.lines().next());
    count.unwrap().trim().parse().unwrap()
}

/// The entries of a cache, choices and others.
fn entries(folder: &Path) -> (usize, usize) {
    // SAFETY: the test's own directory.
    let all = unsafe { Cache::at(folder) }.entries().unwrap();
    let shapes = all.iter().filter(|entry| entry.kind == "shape").count();
    (shapes, all.len() - shapes)
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let all = fs::read_dir(folder.join("programs")).unwrap();
    all.map(|file| file.unwrap().path()).filter(|path| path.is_file()).collect()
}

#[test]
fn shapes_are_measured_once_and_kept() {
    if let Ok(words) = std::env::var(CHILD) {
        let (backend, tunes) = words.split_once(' ').unwrap();
        return child(backend, tunes);
    }
    for (backend, is_there) in [("opencl", OPENCL.is_there()), ("vulkan", VULKAN.is_there())] {
        if !is_there {
            continue;
        }
        for tunes in ["call", "variable"] {
            let name = format!("folio-tuned-{backend}-{tunes}-{}", std::process::id());
            let folder = std::env::temp_dir().join(name);
            let _ = fs::remove_dir_all(&folder);
            // Two kernels, four shapes, twice.
            assert_eq!(again(backend, tunes, &folder), 16, "{backend}");
            let made = entries(&folder);
            assert_eq!(made.0, 2, "{backend}: {made:?}");
            assert_eq!(again(backend, tunes, &folder), 0, "{backend}: the choice is on disk");
            assert_eq!(entries(&folder), made, "{backend}: a text is compiled once");
            for file in files(&folder) {
                fs::write(file, b"damaged").unwrap();
            }
            assert_eq!(again(backend, tunes, &folder), 16, "{backend}: damage is no choice");
            fs::remove_dir_all(folder).unwrap();
        }
    }
}
