//! What OpenCL's compiler has made once: kept on disk, by each process and device; and what is left
//! when runtimes have come and gone. Also the machine that has no OpenCL.
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

use folio::prelude::*;
use folio_core::hal::Backend;
use folio_core::ir::ContentHash;
use folio_cpu::CpuBackend;
use folio_model::drivers::OPENCL;
use folio_model::suite::{Budget, line};
use folio_opencl::{Cache, Counts, OpenClBackend};
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;

#[kernel]
fn scale(i: Item, a: f32, x: InOut<f32>) {
    x[i] = x[i] * a;
}

#[kernel]
fn picks(i: Item, at: In<u32>, x: In<f32>, y: Out<f32>) {
    y[i] = x[at[i] as usize];
}

#[kernel]
fn total(i: Item, x: In<f32>, sum: Reduce<f32, Add>) {
    sum.give(x[i]);
}

#[kernel]
fn halves(i: Item, x: In<f32>, y: Out<f32>) {
    y[i] = 0.5 * x[i];
}

/// Runs each of the kernels in a runtime of its own, two of them fused, and gives what the last
/// one says.
fn run(cache: Cache) -> f32 {
    let rt = Runtime::builder().backend(OpenClBackend::new().cache(cache)).build().unwrap();
    let q = rt.queue().unwrap();
    let n = 10_000;
    let mut x = rt.buffer_from(vec![1.0f32; n]).unwrap();
    let (mut y, mut sum) = (rt.buffer(n).unwrap(), rt.buffer(1).unwrap());
    let at = rt.buffer_from((0..n as u32).rev().collect::<Vec<_>>()).unwrap();
    q.run(n, scale(2.0, &mut x)).unwrap();
    q.run(n, picks(&at, &x, &mut y)).unwrap();
    q.run(n, total(&y, &mut sum)).unwrap();
    let fused = q.batch_fused(|q| {
        let mut half = rt.buffer(n)?;
        q.run(n, halves(&y, &mut half))?;
        q.run(n, total(&half, &mut sum))
    });
    fused.unwrap();
    assert_eq!((q.batch_report().kernels, q.batch_report().launches), (2, 1));
    assert_eq!(sum.to_vec().unwrap()[0], 10_000.0);
    q.run(n, total(&y, &mut sum)).unwrap();
    sum.to_vec().unwrap()[0]
}

struct Folder(PathBuf);

impl Folder {
    fn new(test: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("folio-opencl-{test}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        Folder(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A test of this file, in a process of its own.
#[track_caller]
fn again(test: &str, variables: &[(&str, &str)]) {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.envs(variables.iter().copied());
    passes(test, &mut command);
}

/// What a test says that runs in another process.
fn passes(test: &str, command: &mut Command) -> String {
    let name = format!("opencl_programs::{test}");
    let output = command.args(["--exact", &name, "--nocapture"]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success() && said.contains("1 passed"), "{output:?}");
    said
}

fn at(folder: impl Into<PathBuf>) -> Cache {
    // SAFETY: a test's own directory.
    unsafe { Cache::at(folder) }
}

const SECOND: &str = "FOLIO_TEST_SECOND";

/// CACHE-01, FUSE-08
#[test]
fn the_second_process_compiles_nothing() {
    if let Some(directory) = std::env::var_os(SECOND) {
        let cache = at(directory);
        assert_eq!(run(cache.clone()), 20_000.0);
        assert_eq!(cache.counts().made, 0, "{:?}", cache.counts());
        assert!(cache.counts().found >= 3, "{:?}", cache.counts());
        return;
    }
    if !OPENCL.is_there() {
        return;
    }
    let folder = Folder::new("second");
    let first = at(&folder.0);
    assert_eq!(run(first.clone()), 20_000.0);
    let made = first.counts().made;
    // `picks` has a text for launches that are proved and one for others.
    assert!(first.counts().found == 0 && made >= 4, "{:?}", first.counts());
    assert_eq!(fs::read_dir(folder.0.join("programs")).unwrap().count() as u64, made);
    again("the_second_process_compiles_nothing", &[(SECOND, folder.0.to_str().unwrap())]);
    let off = Cache::off();
    assert_eq!(run(off.clone()), 20_000.0);
    assert_eq!((off.counts().made, off.counts().found), (made, 0));
}

/// CACHE-01: what the driver does not take is compiled and written anew, although its checksum is
/// right.
#[test]
fn programs_that_the_driver_refuses_are_compiled() {
    if !OPENCL.is_there() {
        return;
    }
    let folder = Folder::new("refused");
    run(at(&folder.0));
    let mut spoilt = 0;
    for file in fs::read_dir(folder.0.join("programs")).unwrap() {
        let path = file.unwrap().path();
        let mut entry = fs::read(&path).unwrap();
        let key = u64::from_le_bytes(entry[24..32].try_into().unwrap()) as usize;
        entry.truncate(32 + key);
        entry.extend_from_slice(b"no program of this driver");
        let sum = ContentHash::of(&entry[24..]).0.to_le_bytes();
        entry[8..24].copy_from_slice(&sum);
        fs::write(&path, entry).unwrap();
        spoilt += 1;
    }
    let second = at(&folder.0);
    assert_eq!(run(second.clone()), 20_000.0);
    assert_eq!((second.counts().made, second.counts().found), (spoilt, 0));
    let third = at(&folder.0);
    assert_eq!(run(third.clone()), 20_000.0);
    assert_eq!(third.counts().made, 0);
}

/// What a machine says that has no OpenCL.
const ABSENT: &str = "FOLIO_TEST_ABSENT";

/// In a process without OpenCL there are no devices, and a reason; other backends work on.
fn is_absent(reason: &str) {
    let why = OpenClBackend::new().devices().unwrap_err();
    assert!(why.reason.contains(reason), "{}", why.reason);
    let cpu = CpuBackend::builder().threads(1).build().unwrap();
    let rt = Runtime::builder().backend(OpenClBackend::new()).backend(cpu).build().unwrap();
    assert_eq!(rt.devices().len(), 1, "{:?}", rt.devices());
    assert!(
        rt.missing_backends().iter().any(|why| why.contains(reason)),
        "{:?}",
        rt.missing_backends()
    );
    assert_eq!(rt.buffer_from(&[1, 2, 3]).unwrap().to_vec().unwrap(), [1, 2, 3]);
}

/// A file that is no library stands where the loader would be found first.
#[cfg(target_os = "linux")]
#[test]
fn there_may_be_no_loader() {
    if let Some(reason) = std::env::var_os(ABSENT) {
        return is_absent(reason.to_str().unwrap());
    }
    let folder = Folder::new("loader");
    fs::create_dir_all(&folder.0).unwrap();
    fs::write(folder.0.join("libOpenCL.so.1"), "no library").unwrap();
    let before = std::env::var("LD_LIBRARY_PATH").unwrap_or_default();
    let path = format!("{}:{before}", folder.0.display());
    let absent = (ABSENT, "no OpenCL loader");
    again("there_may_be_no_loader", &[("LD_LIBRARY_PATH", &path), absent]);
}

/// A loader that finds no driver.
#[cfg(target_os = "linux")]
#[test]
fn there_may_be_no_driver() {
    if let Some(reason) = std::env::var_os(ABSENT) {
        return is_absent(reason.to_str().unwrap());
    }
    if !OPENCL.is_there() {
        return;
    }
    let absent = (ABSENT, "no OpenCL platform");
    again("there_may_be_no_driver", &[("OCL_ICD_VENDORS", "/nowhere"), absent]);
}

/// Bytes that this process, its driver included, has from `malloc` and has not given back. What of
/// the process is in memory tells less: an allocator that is asked by many threads keeps pages for
/// each of them.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn allocated() -> usize {
    /// glibc's `struct mallinfo2`.
    #[repr(C)]
    struct Info {
        counts: [usize; 4],
        mapped: usize,
        fast: [usize; 2],
        in_use: usize,
        free: [usize; 2],
    }
    unsafe extern "C" {
        safe fn mallinfo2() -> Info;
    }
    let Info { mapped, in_use, .. } = mallinfo2();
    mapped + in_use
}

/// Files that are open, and threads.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn held() -> [usize; 2] {
    ["/proc/self/fd", "/proc/self/task"].map(|all| fs::read_dir(all).unwrap().count())
}

/// Runtimes, their buffers and kernels come and go a thousand times, or as often as a soak says,
/// compile nothing but the first time, and leave nothing behind: no file, no thread, and not 33
/// bytes of memory for each of them.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[test]
fn suite_cycles_opencl() {
    // PoCL 3.1 keeps some 500 bytes of each program that its compiler does not optimise.
    const FLAGS: &str = "POCL_EXTRA_BUILD_FLAGS";
    if !OPENCL.is_there() {
        return;
    }
    if std::env::var_os(FLAGS).is_some() {
        let mut command = Command::new(std::env::current_exe().unwrap());
        print!("{}", passes("suite_cycles_opencl", command.env_remove(FLAGS)));
        return;
    }
    let (budget, start) = (Budget::of("CYCLES_OPENCL"), Instant::now());
    let cycles = budget.cases.unwrap_or(1_000);
    let folder = Folder::new("cycles");
    let cache = at(&folder.0);
    let cycle = |_| {
        assert_eq!(run(cache.clone()), 20_000.0);
        allocated()
    };
    // PoCL keeps some megabytes for a while, and gives them back with a later runtime: the least of
    // a turn is without them, but for one turn in ten or so. A leak shows in each.
    let mut turns = 0;
    let mut least = || {
        turns += 1;
        let bytes = (0..cycles).map(cycle).min().unwrap();
        println!("{bytes} bytes are allocated at least");
        bytes
    };
    let mut before = least();
    let others = held();
    let mut calm = 0;
    let is_as_before = (0..12).any(|_| {
        let after = least();
        calm = if after < before + 33 * cycles as usize { calm + 1 } else { 0 };
        before = after;
        // Of one alone the turn before may have been the odd one.
        calm == 2
    });
    assert!(is_as_before, "turns have more than those before");
    // The last runtime's threads may be on their way out.
    let now = held();
    assert!(now.iter().zip(&others).all(|(now, then)| *now < then + 10), "{now:?}, {others:?}");
    let Counts { found, made } = cache.counts();
    assert_eq!(found, (turns * cycles - 1) * made);
    println!("{}", line("cycles_opencl", cycles, start.elapsed(), 0, budget.seed));
}
