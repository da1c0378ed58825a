//! The C that is made of each kernel of the suite: kept in `emitted.cl`, so that a change of it is
//! seen and reviewed, and compiled without a warning by the compilers that are there.
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

use folio_conformance::engine::{Factory, kernel_names, run_engine_where};
use folio_core::hal::{HalError, KernelHandle, KernelSource};
use folio_core::ir::Kernel;
use folio_core::ir::emit::{Capabilities, Cut, Dialect, Form, Texts, emit};
use folio_layers::{DeviceRef, Hooks, Layer};
use folio_model::compilers::{nvrtc, opencl};
use folio_model::interp::Interpreter;
use folio_sim::{DeviceSpec, SimBackend};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

/// By their text, which begins with their name.
type Kernels = BTreeMap<String, Kernel>;

/// Remembers what devices load.
#[derive(Default)]
struct Collect(Arc<Mutex<Kernels>>);

// SAFETY: it looks at kernels, and passes them on.
unsafe impl Hooks for Collect {
    fn load(
        &self,
        device: &DeviceRef,
        source: &KernelSource<'_>,
    ) -> Result<KernelHandle, HalError> {
        if let KernelSource::Ir(kernel) = source {
            let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            all.insert(kernel.to_string(), (*kernel).clone());
        }
        device.inner.load(source)
    }
}

/// What the suite's tests of kernels load.
fn kernels() -> Vec<Kernel> {
    let all: Arc<Mutex<Kernels>> = Arc::default();
    let factory: Factory = {
        let all = all.clone();
        Arc::new(move || {
            let device = DeviceSpec::new().closures(false).ir(Arc::new(Interpreter));
            let sim = Arc::new(SimBackend::builder().device(device).build());
            Box::new(Layer::new(Collect(all.clone()), sim))
        })
    };
    let names = kernel_names();
    let summary = run_engine_where(factory, &[], &|name| names.contains(&name));
    assert!(summary.is_ok(), "{summary}");
    let all = all.lock().unwrap_or_else(PoisonError::into_inner);
    assert!(all.len() >= 100, "the suite has {} kernels", all.len());
    all.values().cloned().collect()
}

fn capabilities(dialect: Dialect) -> Capabilities {
    match dialect {
        Dialect::Cuda => Capabilities::CUDA,
        Dialect::OpenCl => Capabilities { f64: true, atomics64: true, ..Capabilities::LEAST },
    }
}

/// The text, or that the dialect's devices cannot have it.
fn text(kernel: &Kernel, dialect: Dialect, checked: bool) -> Option<String> {
    Some(emit(kernel, Form::new(dialect, checked), &capabilities(dialect)).ok()?.text)
}

/// What backends launch: with tests, without, and for several items; nothing, if the dialect's
/// devices cannot have it.
fn launched(kernel: &Kernel, dialect: Dialect, cut: Cut) -> Vec<String> {
    let Ok(texts) = Texts::of(kernel, dialect, &capabilities(dialect), cut) else { return vec![] };
    let several = texts.several([1 << 10, 1 << 10, 1 << 10], 1).map(|(module, _)| module);
    let all = [Some(texts.text(true)), Some(texts.text(false)), several];
    let mut all: Vec<_> = all.into_iter().flatten().map(|module| module.text.clone()).collect();
    all.dedup();
    all
}

/// Without the lines that all begin with, and without the lines of the source where something
/// stands: these change whenever something is added there.
fn own(text: &str) -> String {
    let head = |line: &&str| {
        line.starts_with('#') || line.starts_with("typedef ") && !line.starts_with("typedef struct")
    };
    let place = |line: &str| match line.split_once(".rs:") {
        Some((file, _)) if line.trim_start().starts_with("// ") => format!("{file}.rs\n"),
        _ => format!("{line}\n"),
    };
    text.lines().skip_while(head).map(place).collect()
}

#[test]
fn compile_suite_kernels_are_as_reviewed() {
    let (mut found, mut without) = (BTreeSet::new(), Vec::new());
    for kernel in kernels() {
        match text(&kernel, Dialect::OpenCl, true) {
            Some(text) => drop(found.insert(format!("// {}\n{}", kernel.name, own(&text)))),
            None => without.push(kernel.name),
        }
    }
    // It takes more local memory than the devices that these texts are for.
    assert_eq!(without, ["combines"]);
    let found: String = found.into_iter().collect();
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/emitted.cl");
    if std::env::var_os("FOLIO_BLESS").is_some() {
        std::fs::write(path, &found).unwrap();
    }
    let kept = std::fs::read_to_string(path).unwrap_or_default();
    let differs = kept.lines().zip(found.lines()).position(|(kept, found)| kept != found);
    let place = differs.unwrap_or(kept.lines().count().min(found.lines().count()));
    let line = |text: &str| text.lines().nth(place).unwrap_or("(its end)").to_owned();
    assert!(
        kept == found,
        "line {} of {path} is\n{}\nand what is emitted is\n{}\nReview it, and FOLIO_BLESS=1 writes the file anew.",
        place + 1,
        line(&kept),
        line(&found),
    );
}

/// Each of them but those `without` a text, in all forms that backends launch, compiles, and the
/// compiler has nothing to say.
fn compiles(
    dialect: Dialect,
    cuts: &[Cut],
    without: &[&str],
    compile: &dyn Fn(&str) -> Result<String, String>,
) {
    // What it has to say would be seen.
    let begin = match dialect {
        Dialect::OpenCl => "kernel void planted(global int *x)",
        Dialect::Cuda => "extern \"C\" __global__ void planted(int *x)",
    };
    let planted = |code: &str| compile(&format!("{begin} {{ {code} x[0] = y; }}\n"));
    assert_eq!(planted("int y = 1;").as_deref(), Ok(""));
    let said = planted("unsigned char y = 300;");
    assert!(said.as_ref().is_ok_and(|said| !said.is_empty()) || said.is_err(), "{said:?}");
    let (mut done, mut several, mut unrolled, mut wrong) = (0, 0, 0, Vec::new());
    let mut none = BTreeSet::new();
    for kernel in kernels() {
        let texts: Vec<_> = cuts.iter().map(|cut| launched(&kernel, dialect, *cut)).collect();
        if texts.iter().any(Vec::is_empty) {
            none.insert(kernel.name.to_string());
        }
        for text in texts.into_iter().flatten() {
            several += usize::from(text.contains("const u64 own = "));
            unrolled += usize::from(text.contains("#pragma unroll"));
            match compile(&text) {
                Ok(said) if said.is_empty() => done += 1,
                Ok(said) | Err(said) => wrong.push(format!("{}: {said}\n{text}", kernel.name)),
            }
        }
    }
    println!("{done} texts compiled, {several} of several items, {unrolled} with unrolled loops");
    assert!(none.iter().eq(without), "without a text: {none:?}");
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), done + wrong.len(), wrong[0]);
    assert!(done >= 200 && several >= 20 && unrolled > 0, "{done}, {several}, {unrolled}");
}

/// KRN-04: each kernel of the suite is a valid module of Vulkan in all forms, in which nothing may be
/// contracted; also where the device rounds nothing correctly but sums and products.
#[test]
fn suite_kernels_are_valid_vulkan() {
    use folio_core::ir::emit::spirv::{Capabilities, texts};
    use folio_core::ir::soft::Exact;
    use folio_model::compilers::spirv::{contractible, validate, validator};
    if let Err(why) = validator() {
        return println!("skipped: vulkan: {why}");
    }
    let exact = Exact { f32: false, f64: false, doubles: false };
    let all = [Capabilities::ALL, Capabilities { exact, ..Capabilities::ALL }];
    let (mut modules, mut floats, mut without) = (0, 0, BTreeSet::new());
    for kernel in kernels() {
        for capabilities in &all {
            let Ok(texts) = texts(&kernel, capabilities) else {
                without.insert(kernel.name.clone());
                continue;
            };
            texts.each(&mut |module| {
                validate(&module.words).unwrap_or_else(|why| panic!("{why}\n{kernel}"));
                let (count, free) = contractible(&module.words);
                assert_eq!(free, 0, "{kernel}");
                (modules, floats) = (modules + 1, floats + count);
            });
        }
    }
    println!("{modules} modules, {floats} operations of floats; without one: {without:?}");
    assert!(modules >= 400 && floats >= 1000, "{modules}, {floats}");
    assert!(without.is_empty(), "{without:?}");
}

#[test]
fn compile_suite_kernels_opencl() {
    let device = match opencl::OpenCl::first() {
        Ok(device) => device,
        Err(why) => return println!("skipped: opencl: {why}"),
    };
    let mut options = Dialect::OpenCl.options(false).to_vec();
    options.push("-Werror");
    let cuts = [Cut::Gpu, Cut::Cpu];
    // It takes more local memory than the devices that these texts are for.
    let without = ["combines"];
    compiles(Dialect::OpenCl, &cuts, &without, &|text| {
        Ok(device.compile(text, &options)?.log.clone())
    });
}

#[test]
fn compile_suite_kernels_nvrtc() {
    let compiler = match nvrtc::Nvrtc::load() {
        Ok(compiler) => compiler,
        Err(why) => return println!("skipped: nvrtc: {why}"),
    };
    let mut options = Dialect::Cuda.options(true).to_vec();
    // To machine code, as the backend has it done.
    options.push("--gpu-architecture=sm_90");
    compiles(Dialect::Cuda, &[Cut::Gpu], &[], &|text| Ok(compiler.compile(text, &options)?.1));
}
