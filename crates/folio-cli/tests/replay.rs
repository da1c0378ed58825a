//! Launches that fail are kept, and replayed: on every kind of device that is here, and by the
//! program.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests may panic")]

use folio::hal::{Backend, HalErrorKind, OpKind};
use folio::prelude::*;
use folio::{Capsules, ViolationKind};
use folio_interp::interp::{Interpreter, Who};
use folio_interp::replay::{ReplayError, replay};
use folio_layers::{Capsule, Fault, Faults, Site, Validate};
use folio_sim::{DeviceSpec, SimBackend};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Arc;

const N: usize = 100;
/// The item whose element has no root.
const BAD: usize = 37;
/// Set where a test is run as a program.
const PROGRAM: &str = "FOLIO_TEST_REPLAYED";

#[kernel]
fn roots(i: Item, by: f32, x: In<f32>, y: InOut<f32>) {
    assert!(x[i] >= 0.0, "there is no root");
    y[i] = y[i] + by * x[i].sqrt();
}

#[kernel]
fn moved(i: Item<2>, to: In<u32, 2>, x: In<f32>, y: Out<f32, 2>) {
    y[i] = x[to[i] as usize];
}

#[kernel(group = 20)]
fn sums(g: Group, x: In<i32>, y: OutGroup<i32>) {
    g.each(|i| assert!(x[i] != -1, "a hole"));
    y[g] = g.reduce::<Add>(|i| x[i]);
}

#[kernel]
fn total(i: Item, x: In<i32>, sum: Reduce<i32, Add>) {
    assert!(x[i] != -1, "a hole");
    sum.give(x[i]);
}

/// A folder that goes.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("folio-replay-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir(&path).unwrap();
        Folder(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// All kinds of devices: simulated ones that interpret and that run the host's code, and those of
/// the backends of this program.
fn backends() -> Vec<(&'static str, Arc<dyn Backend>)> {
    let sim = |spec: DeviceSpec| Arc::new(SimBackend::builder().device(spec).build());
    vec![
        ("interpreter", sim(DeviceSpec::new().closures(false).ir(Arc::new(Interpreter)))),
        ("sim", sim(DeviceSpec::new())),
        #[cfg(feature = "cpu")]
        ("cpu", Arc::new(folio::cpu::CpuBackend::new().unwrap())),
        #[cfg(feature = "opencl")]
        ("opencl", Arc::new(folio::opencl::OpenClBackend::new())),
        #[cfg(feature = "vulkan")]
        ("vulkan", Arc::new(folio::vulkan::VulkanBackend::new())),
        #[cfg(feature = "cuda")]
        ("cuda", Arc::new(folio::cuda::CudaBackend::new())),
    ]
}

/// The one capsule that was written since the last look.
fn newest(capsules: &Capsules, seen: &mut usize) -> Capsule {
    let files = capsules.files();
    assert_eq!(files.len(), *seen + 1, "{files:?}");
    *seen += 1;
    Capsule::read(&files[*seen - 1]).unwrap()
}

fn of_items(rt: &Runtime, q: &Queue, capsules: &Capsules, seen: &mut usize) {
    let mut values = [4.0f32; N];
    let mut y = rt.buffer_from(&[1.0f32; N]).unwrap();
    let x = rt.buffer_from(&values).unwrap();
    q.run(N, roots(3.0, &x, &mut y)).unwrap();
    assert_eq!(y.to_vec().unwrap(), [7.0; N]);
    assert_eq!(capsules.files().len(), *seen, "a launch that does not fail is not kept");
    values[BAD] = -1.0;
    let x = rt.buffer_from(&values).unwrap();
    q.run(N, roots(3.0, &x, &mut y)).unwrap();
    assert!(y.read().is_err());
    let capsule = newest(capsules, seen);
    let found = replay(&capsule, None).unwrap();
    let [lines, bad] = [found.violation.as_ref().unwrap().site.line, BAD as u32];
    assert_eq!(found.failed, Some(Who::Item([bad.into(), 0, 0])));
    assert_eq!((found.failures, lines), (1, line_of("there is no root")));
    let [compared] = &found.compared[..] else { panic!("{found:?}") };
    assert_eq!((&*compared.param, compared.different), ("y", 0));
    assert_eq!(compared.equal + compared.left, N as u64);
    let alone = replay(&capsule, Some(&[BAD as u64])).unwrap();
    assert_eq!((alone.failed, alone.compared.len()), (found.failed, 0));
    let read = &alone.accesses[0];
    assert_eq!((&*read.param, &*read.index, &*read.old), ("x", &[BAD as u64][..], "-1.0"));
    // Its neighbour does not fail, and shows what it writes.
    let near = replay(&capsule, Some(&[BAD as u64 + 1])).unwrap();
    let wrote = near.accesses.last().unwrap();
    assert_eq!((near.failed, wrote.old.as_str()), (None, "7.0"));
    assert_eq!(wrote.new.as_deref(), Some("13.0"));
    for item in [&[N as u64][..], &[1, 1], &[]] {
        assert!(matches!(replay(&capsule, Some(item)), Err(ReplayError::Item { .. })));
    }
}

/// Bits that the device did not write are found.
fn of_other_bits(mut capsule: Capsule) {
    let after = capsule.memory[1].after.as_mut().unwrap();
    after[4 * 5] ^= 1;
    let found = replay(&capsule, None).unwrap();
    let [compared] = &found.compared[..] else { panic!("{found:?}") };
    let (index, device, own) = compared.first.clone().unwrap();
    assert_eq!((compared.different, index), (1, [0, 0, 5]));
    assert_eq!(device[0] ^ own[0], 1);
}

fn of_planes(rt: &Runtime, q: &Queue, capsules: &Capsules, seen: &mut usize) {
    let mut to = [[0u32, 1, 2, 3]; 5];
    to[3][2] = 9;
    let to = rt.buffer_from((to.as_flattened(), [5, 4])).unwrap();
    let x = rt.buffer_from(&[5.0f32, 6.0, 7.0, 8.0]).unwrap();
    let mut y = rt.buffer::<f32, 2>([5, 4]).unwrap();
    q.run(y.range(), moved(&to, &x, &mut y)).unwrap();
    assert!(y.read().is_err());
    let capsule = newest(capsules, seen);
    let found = replay(&capsule, None).unwrap();
    assert_eq!(found.failed, Some(Who::Item([3, 2, 0])));
    let violation = found.violation.unwrap();
    let (index, extent) = (vec![9], vec![4]);
    assert_eq!(
        violation.kind,
        ViolationKind::OutOfBounds { param: Some("x".to_owned()), index, extent }
    );
    let alone = replay(&capsule, Some(&[3, 2])).unwrap();
    assert_eq!(alone.violation, Some(violation));
}

fn of_groups(rt: &Runtime, q: &Queue, capsules: &Capsules, seen: &mut usize) {
    let mut values: Vec<i32> = (0..N as i32).collect();
    values[BAD] = -1;
    let x = rt.buffer_from(&values).unwrap();
    let mut y = rt.buffer::<i32, 1>(N / 20).unwrap();
    q.run(N, sums(&x, &mut y)).unwrap();
    assert!(y.read().is_err());
    let capsule = newest(capsules, seen);
    let found = replay(&capsule, None).unwrap();
    assert_eq!(found.failed, Some(Who::Item([BAD as u64, 0, 0])));
    let alone = replay(&capsule, Some(&[BAD as u64])).unwrap();
    assert_eq!(alone.violation, found.violation);
    let mut sum = rt.buffer::<i32, 1>(1).unwrap();
    q.run(N, total(&x, &mut sum)).unwrap();
    assert!(sum.read().is_err());
    let found = replay(&newest(capsules, seen), None).unwrap();
    assert_eq!(found.failed, Some(Who::Item([BAD as u64, 0, 0])));
}

/// The line of this file that has this text first.
fn line_of(text: &str) -> u32 {
    let at = include_str!("replay.rs").lines().position(|line| line.contains(text));
    at.unwrap() as u32 + 1
}

/// A launch that fails is kept and replayed, on every device that is here.
#[test]
fn failed_launches_are_kept_and_replayed_on_every_device() {
    let mut kinds = Vec::new();
    for (kind, backend) in backends() {
        let folder = Folder::new(kind);
        let capsules = Capsules::new(&folder.0).unwrap().most_files(100);
        let builder = Runtime::builder().shared_backend(backend);
        let rt = builder.layer(|backend| capsules.over_shared(backend)).build().unwrap();
        let mut seen = 0;
        for device in rt.devices() {
            eprintln!("{device:?}");
            kinds.push(kind);
            let q = rt.queue_on(&device).unwrap();
            of_items(&rt, &q, &capsules, &mut seen);
            of_other_bits(Capsule::read(&capsules.files()[seen - 1]).unwrap());
            of_planes(&rt, &q, &capsules, &mut seen);
            of_groups(&rt, &q, &capsules, &mut seen);
        }
        let written = fs::read_dir(&folder.0).unwrap().count();
        assert_eq!(written, seen, "nothing is left beside the capsules");
    }
    assert!(kinds.starts_with(&["interpreter", "sim"]), "{kinds:?}");
}

/// Commands give the same results under the layer, in graphs, too.
#[test]
fn programs_do_the_same_where_capsules_are_kept() {
    for (kind, backend) in backends() {
        let folder = Folder::new(&format!("same-{kind}"));
        let capsules = Capsules::new(&folder.0).unwrap();
        let builder = Runtime::builder().shared_backend(backend);
        let rt = builder.layer(|backend| capsules.over_shared(backend)).build().unwrap();
        for device in rt.devices() {
            let q = rt.queue_on(&device).unwrap();
            let x = rt.buffer_from(&[1.0f32; N]).unwrap().into_shared();
            let y = rt.buffer_from(&[0.0f32; N]).unwrap().into_shared();
            let graph = rt.graph(&q.device()).unwrap();
            graph.add(|cg| cg.run(N, roots(1.0, &x, &y))).unwrap();
            let once = graph.finalize().unwrap();
            for _ in 0..10 {
                q.run_graph(&once).unwrap();
            }
            assert_eq!(y.to_vec().unwrap(), [10.0; N]);
        }
        assert_eq!(fs::read_dir(&folder.0).unwrap().count(), 0);
    }
}

/// The layer keeps the contract of backends, towards the one below, too.
#[test]
fn capsules_keep_the_contract_of_backends() {
    let folder = Folder::new("contract");
    let capsules = Capsules::new(&folder.0).unwrap().most_files(100);
    let (below, above) = (Validate::new(), Validate::new());
    let reports = [below.report(), above.report()];
    let spec = DeviceSpec::new().closures(false).ir(Arc::new(Interpreter));
    let sim = SimBackend::builder().devices(2, spec).build();
    let backend = above.over(capsules.over(below.over(sim)));
    let rt = Runtime::builder().backend(backend).build().unwrap();
    let mut seen = 0;
    for device in rt.devices() {
        let q = rt.queue_on(&device).unwrap();
        of_items(&rt, &q, &capsules, &mut seen);
        of_planes(&rt, &q, &capsules, &mut seen);
        of_groups(&rt, &q, &capsules, &mut seen);
    }
    drop(rt);
    reports.iter().for_each(|report| assert!(report.is_silent(), "{report:?}"));
}

/// Limits: files, and bytes of memory in one. A launch that has more is kept without memory.
#[test]
fn capsules_are_bounded() {
    let folder = Folder::new("bounded");
    let limited = Capsules::new(&folder.0).unwrap().most_files(2).most_bytes(100);
    let sim = SimBackend::builder().build();
    let rt = Runtime::builder().backend(limited.over(sim)).build().unwrap();
    let q = rt.queue().unwrap();
    for _ in 0..4 {
        let x = rt.buffer_from(&[-1.0f32; N]).unwrap();
        let mut y = rt.buffer_from(&[0.0f32; N]).unwrap();
        q.run(N, roots(1.0, &x, &mut y)).unwrap();
        assert!(y.read().is_err());
    }
    let files = limited.files();
    assert_eq!((files.len(), fs::read_dir(&folder.0).unwrap().count()), (2, 2));
    let capsule = Capsule::read(&files[0]).unwrap();
    assert!(capsule.memory.iter().all(|m| m.before.is_none() && m.after.is_none()));
    let lacking = ReplayError::Memory { param: "x".to_owned(), bytes: 4 * N as u64 };
    assert_eq!(replay(&capsule, None), Err(lacking));
}

/// Of a device that is lost, the launch under way is kept.
#[test]
fn the_launch_of_a_lost_device_is_kept() {
    let folder = Folder::new("lost");
    let capsules = Capsules::new(&folder.0).unwrap();
    let faults = Faults::new();
    faults.handle().inject(Site::Op(OpKind::Launch), 1, Fault::Later(HalErrorKind::Lost));
    let backend = capsules.over(faults.over(SimBackend::builder().build()));
    let rt = Runtime::builder().backend(backend).build().unwrap();
    let q = rt.queue().unwrap();
    let x = rt.buffer_from(&[4.0f32; N]).unwrap();
    let mut y = rt.buffer_from(&[0.0f32; N]).unwrap();
    q.run(N, roots(1.0, &x, &mut y)).unwrap();
    assert!(y.read().is_err());
    let capsule = newest(&capsules, &mut 0);
    assert_eq!(capsule.kernel.name, "roots");
    assert!(capsule.failure.contains("lost"), "{}", capsule.failure);
    match replay(&capsule, None) {
        Ok(found) => assert_eq!(found.failed, None),
        Err(error) => assert!(matches!(error, ReplayError::Memory { .. }), "{error}"),
    }
}

fn folio(words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_folio")).args(words).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// Is the program of the next test, and does nothing as a test.
#[test]
fn program() {
    if std::env::var_os(PROGRAM).is_none() {
        return;
    }
    let rt = folio::runtime().unwrap();
    let q = rt.queue_on("cpu:0").unwrap();
    let mut values = [4.0f32; N];
    values[BAD] = -1.0;
    let (x, mut y) = (rt.buffer_from(&values).unwrap(), rt.buffer_from(&[0.0; N]).unwrap());
    q.submit(|cg| {
        cg.label("the roots").run(N, roots(1.0, &x, &mut y));
        Ok(())
    })
    .unwrap();
    assert!(y.read().is_err());
}

/// From a program by `FOLIO_CAPSULE` to the item that fails.
#[test]
fn a_program_is_asked_for_capsules_by_a_variable() {
    let folder = Folder::new("variable");
    let kept = folder.0.join("kept");
    let program = |kept: &Path| {
        Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "program", "--nocapture"])
            .env("FOLIO_CAPSULE", kept)
            .env(PROGRAM, "1")
            .output()
            .unwrap()
    };
    let ran = program(&kept);
    assert!(ran.status.success(), "{ran:?}");
    assert!(text(&ran.stderr).contains("folio replay"), "{ran:?}");
    let shown = folio(&["replay", kept.to_str().unwrap()]);
    let out = text(&shown.stdout);
    assert_eq!(shown.status.code(), Some(1), "{shown:?}");
    let line = line_of("there is no root");
    let site = format!("replay.rs:{line}:5: there is no root");
    assert!(out.contains("kernel `roots` on cpu:0") && out.contains("100 items"), "{out}");
    assert!(out.contains("replay: item [37, 0, 0] fails: ") && out.contains(&site), "{out}");
    assert!(out.contains("elements with the device's bits"), "{out}");
    let alone = folio(&["replay", kept.to_str().unwrap(), "--item", "38"]);
    assert_eq!(alone.status.code(), Some(0), "{alone:?}");
    assert!(text(&alone.stdout).contains("x[38] is 4.0"), "{alone:?}");
    let beyond = folio(&["replay", kept.to_str().unwrap(), "--item", "100"]);
    assert_eq!(beyond.status.code(), Some(2), "{beyond:?}");
    // A place that is no folder is an error of the program.
    let file = folder.0.join("file");
    fs::write(&file, "").unwrap();
    let refused = program(&file);
    assert!(!refused.status.success() && text(&refused.stderr).contains("FOLIO_CAPSULE"));
    // Nor is a link followed, or a file read that is something else.
    let other = folio(&["replay", file.to_str().unwrap()]);
    assert_eq!(other.status.code(), Some(2));
    assert!(text(&other.stderr).contains("this is no capsule"), "{other:?}");
    #[cfg(unix)]
    {
        let link = folder.0.join("link.capsule");
        std::os::unix::fs::symlink("kept", &link).unwrap();
        let whole = fs::read_dir(&kept).unwrap().next().unwrap().unwrap().path();
        let link = folder.0.join("another.capsule");
        std::os::unix::fs::symlink(whole, &link).unwrap();
        let refused = folio(&["replay", link.to_str().unwrap()]);
        assert!(text(&refused.stderr).contains("no plain file"), "{refused:?}");
    }
}
