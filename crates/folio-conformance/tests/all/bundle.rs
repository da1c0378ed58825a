//! A program on a machine without the compiler: it runs what a recorded run has compiled, and PTX,
//! and says what is missing if it has nothing of that; and on one without the driver, where it has
//! no device. Each run is a process of its own, so that a library is there for one and not for
//! another.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests may panic")]

use folio::opaque::{OpaqueArg, Source};
use folio::prelude::*;
use folio_core::hal::Backend;
use folio_cpu::CpuBackend;
use folio_cuda::{Bundle, Cache, CudaBackend};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Which of the runs a process is, and the folder of them all.
const RUN: &str = "FOLIO_TEST_BUNDLE_RUN";
const FOLDER: &str = "FOLIO_TEST_BUNDLE_FOLDER";

/// What kernels here are for.
const N: usize = 1000;
const SCALE: &str = "
extern \"C\" __global__ void scale(float *x, unsigned long long n, float by) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= by;
}
";

const PTX: &str = "
.version 7.0
.target sm_50
.address_size 64
.visible .entry seven(.param .u64 at) {
    .reg .u32 %r<2>;
    .reg .u64 %d<3>;
    ld.param.u64 %d0, [at];
    mov.u32 %r0, %tid.x;
    mul.wide.u32 %d1, %r0, 4;
    add.u64 %d2, %d0, %d1;
    mov.u32 %r1, 7;
    st.global.u32 [%d2], %r1;
    ret;
}
";

#[kernel]
fn count(i: Item, x: InOut<f32>) {
    x[i] = x[i] + i.index() as f32;
}

#[kernel]
fn mirror(i: Item, x: In<f32>, y: Out<f32>) {
    y[i] = x[999 - i.index()];
}

/// A program with kernels of both kinds.
fn program(backend: CudaBackend) -> Result<(), folio::Error> {
    let rt = Runtime::builder().backend(backend).build()?;
    let q = rt.queue_on("cuda:0")?;
    let (mut x, mut y) = (rt.buffer_from(&[1.0f32; N])?, rt.buffer::<f32, 1>(N)?);
    q.run(N, count(&mut x))?;
    q.run(N, mirror(&x, &mut y))?;
    let scale = q.device().load(Source::CudaC(SCALE), "scale")?;
    q.submit(|g| {
        let y = g.read_write(&mut y);
        let args = [y.into(), OpaqueArg::value(N as u64), OpaqueArg::value(2.0f32)];
        // SAFETY: it takes these, and stays within them.
        unsafe { g.run_opaque(1024, &scale, args) };
        Ok(())
    })?;
    let expected: Vec<_> = (0..N).map(|k| 2.0 * (N - k) as f32).collect();
    assert_eq!(y.to_vec()?, expected);
    Ok(())
}

/// PTX is the driver's affair.
fn seven() -> Result<(), folio::Error> {
    let rt = Runtime::builder().backend(CudaBackend::new().cache(Cache::off())).build()?;
    let q = rt.queue_on("cuda:0")?;
    let mut x = rt.buffer_from(&[0u32; 32])?;
    let seven = q.device().load(Source::Ptx(PTX), "seven")?;
    q.submit(|g| {
        let x = g.read_write(&mut x);
        // SAFETY: one block of as many threads, of which each writes its element.
        unsafe { g.run_opaque(Items::from(32).groups([32]), &seven, [x.into()]) };
        Ok(())
    })?;
    assert_eq!(x.to_vec()?, [7; 32]);
    Ok(())
}

/// One of the runs.
fn child(run: &str, folder: &Path) {
    // SAFETY: the test's own directory.
    let cache = unsafe { Cache::at(folder.join(run)) };
    let backend = CudaBackend::new().cache(cache.clone());
    match run {
        "recorded" => {
            program(backend).unwrap();
            assert!(cache.counts().made >= 3, "{:?}", cache.counts());
        }
        "bundled" => {
            let file = std::fs::read(folder.join("bundle")).unwrap();
            // SAFETY: the run before has recorded it.
            let bundle = unsafe { Bundle::from_bytes(&file) }.unwrap();
            program(backend.bundle(bundle)).unwrap();
            assert_eq!(cache.counts().made, 0);
        }
        _ => {
            let error = program(backend).unwrap_err();
            let told = error.to_string();
            println!("{told}");
            assert!(told.contains("NVRTC") && told.contains("is kept nowhere"), "{told}");
            seven().unwrap();
        }
    }
}

/// A process that is one of a test's runs; whether it went well.
fn ends_well(test: &str, run: &str, folder: &Path, libraries: Option<&Path>) -> bool {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", &format!("bundle::{test}"), "--nocapture"])
        .env(RUN, run)
        .env(FOLDER, folder);
    // The environment's cache is out of this.
    command.env("FOLIO_CACHE", "off");
    if let Some(first) = libraries {
        let others = std::env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
        let others = std::env::split_paths(&others).map(|path| path.into_os_string());
        let all = std::env::join_paths([first.into()].into_iter().chain(others)).unwrap();
        command.env("LD_LIBRARY_PATH", all);
    }
    command.status().unwrap().success()
}

/// A folder where what is called by a library's names is none.
fn no_library(folder: &Path, name: &str) -> PathBuf {
    let empty = folder.join("libraries");
    std::fs::create_dir_all(&empty).unwrap();
    for name in cudarc::get_lib_name_candidates(name) {
        std::fs::write(empty.join(name), "").unwrap();
    }
    empty
}

/// Where the driver is missing there are no devices, and a reason; others work on.
#[cfg(target_os = "linux")]
#[test]
fn there_may_be_no_cuda() {
    if std::env::var_os(RUN).is_none() {
        let folder = std::env::temp_dir().join(format!("folio-no-cuda-{}", std::process::id()));
        let empty = no_library(&folder, "cuda");
        assert!(ends_well("there_may_be_no_cuda", "absent", &folder, Some(&empty)));
        return std::fs::remove_dir_all(folder).unwrap();
    }
    let reason = "no libcuda of NVIDIA's, which comes with the driver, the package `nvidia-driver`";
    assert_eq!(CudaBackend::new().devices().unwrap_err().reason, reason);
    let cpu = CpuBackend::builder().threads(1).build().unwrap();
    let rt = Runtime::builder().backend(CudaBackend::new()).backend(cpu).build().unwrap();
    assert_eq!(rt.devices().len(), 1, "{:?}", rt.devices());
    assert!(
        rt.missing_backends().iter().any(|why| why.contains(reason)),
        "{:?}",
        rt.missing_backends()
    );
    assert_eq!(rt.buffer_from(&[1, 2, 3]).unwrap().to_vec().unwrap(), [1, 2, 3]);
}

/// Recorded where NVRTC is; then, where what is called by its names is no library, with the bundle
/// and without.
#[test]
fn cuda_runs_what_is_bundled() {
    if let Err(why) = CudaBackend::new().devices() {
        return println!("skipped: cuda: {}", why.reason);
    }
    if let (Ok(run), Some(folder)) = (std::env::var(RUN), std::env::var_os(FOLDER)) {
        return child(&run, Path::new(&folder));
    }
    let folder = std::env::temp_dir().join(format!("folio-bundled-{}", std::process::id()));
    let empty = no_library(&folder, "nvrtc");
    let ends_well =
        |run, libraries| ends_well("cuda_runs_what_is_bundled", run, &folder, libraries);
    assert!(ends_well("recorded", None));
    // What `folio bundle` does, and so `cargo xtask bundle`.
    // SAFETY: the run before has recorded it.
    let bundle = unsafe { Cache::at(folder.join("recorded")) }.bundle().unwrap();
    assert!(bundle.len() >= 3, "{} programs", bundle.len());
    std::fs::write(folder.join("bundle"), bundle.to_bytes()).unwrap();
    assert!(ends_well("bundled", Some(&empty)));
    assert!(ends_well("bare", Some(&empty)));
    std::fs::remove_dir_all(folder).unwrap();
}
