//! The C that is made of each kernel of the suite. A change of it is seen and reviewed: the folder
//! `emitted` has the text of a dozen kernels, and hashes of all others. And the compilers that are
//! there compile it without a warning.
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

use folio_conformance::engine::{Factory, kernel_names, run_engine_where};
use folio_core::hal::{HalError, KernelHandle, KernelSource};
use folio_core::ir::emit::{Capabilities, Cut, Dialect, Form, Texts, emit};
use folio_core::ir::{ContentHash, Kernel};
use folio_layers::{DeviceRef, Hooks, Layer};
use folio_model::compilers::{nvrtc, opencl};
use folio_model::interp::Interpreter;
use folio_sim::{DeviceSpec, SimBackend};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
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
        // Of GPUs with matrix units those with the least memory for these.
        Dialect::Cuda => Capabilities { units: 99 << 10, ..Capabilities::CUDA },
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

/// Kernels whose text is kept, to be read in a review: one for each part of the language.
const READ: [&str; 12] = [
    "asserts",
    "bitonic",
    "group_dot",
    "guarded",
    "local_histogram",
    "loops",
    "matches",
    "matmul",
    "nbody",
    "reduced",
    "saxpy",
    "stencil",
];

/// The file with a line for each other kernel: its name, and the hash of its text.
const HASHES: &str = "others.txt";

/// Kernels' names and texts, in this order: several kernels may have one name.
type Emitted = BTreeSet<(String, String)>;

/// Files of the folder, and what is in them.
type Files = BTreeMap<String, String>;

/// What the folder has for these texts.
fn files_of(emitted: &Emitted) -> Files {
    let mut files = Files::new();
    for (name, text) in emitted {
        if READ.contains(&name.as_str()) {
            *files.entry(format!("{name}.cl")).or_default() += text;
        } else {
            let hash = ContentHash::of(text.as_bytes());
            *files.entry(HASHES.to_owned()).or_default() += &format!("{name} {hash}\n");
        }
    }
    files
}

/// What is in a folder.
fn files_in(folder: &Path) -> Files {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    entries
        .map(|entry| {
            let text = std::fs::read_to_string(entry.path()).unwrap().replace("\r\n", "\n");
            (entry.file_name().into_string().unwrap(), text)
        })
        .collect()
}

/// A line for each kernel of which something else is kept than is found.
fn differences(kept: &Files, found: &Files) -> Vec<String> {
    let mut all = vec![];
    let files: BTreeSet<_> = kept.keys().chain(found.keys()).collect();
    for file in files {
        let [kept, found] = [kept, found].map(|of| of.get(file).map_or("", String::as_str));
        let [mut gone, mut new] = [(kept, found), (found, kept)].map(|(of, other)| {
            let other: BTreeSet<_> = other.lines().collect();
            of.lines().filter(move |line| !other.contains(line)).peekable()
        });
        if file == HASHES {
            let names = gone.chain(new).filter_map(|line| line.split(' ').next());
            let names: BTreeSet<_> = names.collect();
            all.extend(names.iter().map(|name| format!("{name}: its hash in {HASHES} is another")));
        } else if kept != found {
            let name = file.trim_end_matches(".cl");
            let [gone, new] = [gone.peek(), new.peek()].map(|line| line.copied().unwrap_or(""));
            all.push(format!("{name}: {file} has `{gone}`, and emitted is `{new}`"));
        }
    }
    all
}

/// FOLIO_BLESS=1 writes the folder anew. FOLIO_EMITTED names a folder for the texts of all kernels.
#[test]
fn compile_suite_kernels_are_as_reviewed() {
    let (mut emitted, mut without) = (Emitted::new(), Vec::new());
    for kernel in kernels() {
        match text(&kernel, Dialect::OpenCl, true) {
            Some(text) => drop(emitted.insert((kernel.name.to_string(), own(&text)))),
            None => without.push(kernel.name),
        }
    }
    // It takes more local memory than the devices that these texts are for.
    assert_eq!(without, ["combines"]);
    if let Some(folder) = std::env::var_os("FOLIO_EMITTED") {
        std::fs::create_dir_all(&folder).unwrap();
        for (at, (name, text)) in emitted.iter().enumerate() {
            std::fs::write(Path::new(&folder).join(format!("{name}.{at}.cl")), text).unwrap();
        }
    }
    let (folder, found) =
        (Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/emitted"), files_of(&emitted));
    if std::env::var_os("FOLIO_BLESS").is_some() {
        files_in(&folder).keys().for_each(|old| std::fs::remove_file(folder.join(old)).unwrap());
        found.iter().for_each(|(file, text)| std::fs::write(folder.join(file), text).unwrap());
    }
    let differs = differences(&files_in(&folder), &found);
    assert!(
        differs.is_empty(),
        "{} kernels have another text than {} says:\n{}\n\
        FOLIO_BLESS=1 writes the folder anew, and `git diff` shows what has changed of the kernels in it. To see what \
        has changed of the others, run this test with FOLIO_EMITTED=/tmp/new, the same with /tmp/old on the commit \
        before, and then `diff -r /tmp/old /tmp/new`.",
        differs.len(),
        folder.display(),
        differs.join("\n"),
    );
}

/// The test above names each kernel whose text has changed, and those that are gone or new.
#[test]
fn changed_texts_are_told_by_name() {
    let emitted = |texts: &[(&str, &str)]| {
        files_of(&texts.iter().map(|(name, text)| (name.to_string(), text.to_string())).collect())
    };
    let kept = emitted(&[("saxpy", "a\nb\n"), ("zoo", "x\n"), ("zoo", "y\n"), ("dot", "z\n")]);
    assert_eq!(kept.keys().collect::<Vec<_>>(), [HASHES, "saxpy.cl"]);
    assert!(differences(&kept, &kept).is_empty());
    let found = emitted(&[("saxpy", "a\nc\n"), ("zoo", "x\n"), ("zoo", "w\n"), ("new", "z\n")]);
    let told = differences(&kept, &found);
    let names: Vec<_> = told.iter().filter_map(|line| line.split(':').next()).collect();
    assert_eq!(names, ["dot", "new", "zoo", "saxpy"], "{told:?}");
    assert_eq!(told[3], "saxpy: saxpy.cl has `b`, and emitted is `c`");
    // Gone as a whole, and its order alone.
    assert_eq!(
        differences(&kept, &emitted(&[("zoo", "y\n"), ("zoo", "x\n"), ("dot", "z\n")])).len(),
        1
    );
    assert_eq!(
        differences(
            &kept,
            &emitted(&[("saxpy", "b\na\n"), ("zoo", "x\n"), ("zoo", "y\n"), ("dot", "z\n")])
        )
        .len(),
        1
    );
}

/// So many texts are compiled as one: of a text alone, what compilers bring along takes longer.
const TOGETHER: usize = 24;

/// The last word of a text.
fn last_word(text: &str) -> Option<&str> {
    text.rsplit(|c: char| !c.is_alphanumeric() && c != '_').find(|word| !word.is_empty())
}

/// The names that a line defines for all of a text.
fn defined(line: &str) -> Vec<&str> {
    let first = line.split(' ').next().unwrap_or("");
    let before = match first {
        "typedef" | "}" => {
            let types = line.rsplit('}').next().unwrap_or("").split(';');
            return types.filter(|of| !of.contains('{')).filter_map(last_word).collect();
        }
        _ if first.is_empty() || first.starts_with(['#', '/', '}']) => return vec![],
        _ if first.starts_with("ENTRY(") => line.split_once(") ").map_or("", |(_, rest)| rest),
        _ => line,
    };
    before.split(['(', '[', '=']).next().and_then(last_word).into_iter().collect()
}

/// Texts as one, in which what each defines has names of its own, and ends with it.
fn together(texts: &[(String, String)]) -> String {
    let mut all = String::new();
    for (at, (_, text)) in texts.iter().enumerate() {
        let names: BTreeSet<_> = text.lines().flat_map(defined).collect();
        let macros = text.lines().filter_map(|line| line.strip_prefix("#define "));
        let macros = macros.filter_map(|rest| rest.split([' ', '(']).next());
        names.iter().for_each(|name| all += &format!("#define {name} {name}_{at}\n"));
        all += text;
        let gone: BTreeSet<_> = names.iter().copied().chain(macros).collect();
        gone.iter().for_each(|name| all += &format!("#undef {name}\n"));
        if text.contains("#pragma OPENCL EXTENSION") {
            all += "#pragma OPENCL EXTENSION all : disable\n";
        }
    }
    all
}

/// What is wrong with texts, each with a name; `compile` says what the compiler does.
fn complaints(
    texts: &[(String, String)],
    compile: &dyn Fn(&str) -> Result<String, String>,
) -> Vec<String> {
    let said = |text: &str| match compile(text) {
        Ok(said) | Err(said) if !said.is_empty() => Some(said),
        Ok(_) => None,
        Err(_) => Some("not compiled".to_owned()),
    };
    let mut wrong = vec![];
    for texts in texts.chunks(TOGETHER) {
        let Some(why) = said(&together(texts)) else { continue };
        let before = wrong.len();
        let of = |(name, text): &(String, String)| Some(format!("{name}: {}\n{text}", said(text)?));
        wrong.extend(texts.iter().filter_map(of));
        if wrong.len() == before {
            wrong.push(format!("texts together: {why}\n{}", together(texts)));
        }
    }
    wrong
}

/// Each of them but those `without` a text, in all forms that backends launch, compiles, and the
/// compiler has nothing to say.
fn compiles(
    dialect: Dialect,
    cuts: &[Cut],
    without: &[&str],
    compile: &dyn Fn(&str) -> Result<String, String>,
) {
    // What it has to say would be seen, of each text.
    let begin = match dialect {
        Dialect::OpenCl => "kernel void planted(global int *x)",
        Dialect::Cuda => "extern \"C\" __global__ void planted(int *x)",
    };
    let planted = |name: &str, code: &str| {
        let text = format!("{begin} {{ {code} x[0] = y; }}\n");
        (name.to_owned(), text)
    };
    let [fine, other] = ["fine", "other"].map(|name| planted(name, "int y = 1;"));
    assert_eq!(complaints(&[fine.clone(), other.clone()], compile), [""; 0]);
    let told = complaints(&[fine, planted("wrong", "unsigned char y = 300;"), other], compile);
    assert!(told.len() == 1 && told[0].starts_with("wrong: "), "{told:?}");
    let (mut several, mut unrolled, mut units, mut all) = (0, 0, 0, vec![]);
    let mut none = BTreeSet::new();
    for kernel in kernels() {
        let texts: Vec<_> = cuts.iter().map(|cut| launched(&kernel, dialect, *cut)).collect();
        if texts.iter().any(Vec::is_empty) {
            none.insert(kernel.name.to_string());
        }
        for text in texts.into_iter().flatten() {
            several += usize::from(text.contains("const u64 own = "));
            unrolled += usize::from(text.contains("#pragma unroll"));
            units += usize::from(text.contains("add_product<"));
            all.push((kernel.name.to_string(), text));
        }
    }
    let (count, wrong) = (all.len(), complaints(&all, compile));
    println!(
        "{count} texts compiled, {several} of several items, {unrolled} with unrolled loops, {units} by units"
    );
    assert!(none.iter().eq(without), "without a text: {none:?}");
    assert!(wrong.is_empty(), "{} of {count}:\n{}", wrong.len(), wrong[0]);
    assert!(count >= 200 && several >= 20 && unrolled > 0, "{count}, {several}, {unrolled}");
    assert_eq!(units, if dialect == Dialect::Cuda { 5 } else { 0 });
}

/// KRN-04: each kernel of the suite is a valid module of Vulkan in all forms, in which nothing may
/// be contracted; also where the device rounds nothing correctly but sums and products.
#[test]
fn suite_kernels_are_valid_vulkan() {
    use folio_core::ir::emit::spirv::{Capabilities, texts};
    use folio_core::ir::soft::Exact;
    use folio_model::compilers::spirv::{contractible, validate, validator};
    if let Err(why) = validator() {
        return println!("skipped: vulkan: {why}");
    }
    let exact = Exact { conversions: true, comparisons: true, ..Exact::NONE };
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
