//! What algorithms launch, by the number of their elements: on a device that computes nothing.

use folio::algorithms::{self, Direction};
use folio::hal::{Geometry, HalError, ParamPtr};
use folio::ir::emit::{Capabilities, Cut, Dialect, Texts};
use folio::prelude::*;
use folio_model::compilers::nvrtc::Nvrtc;
use folio_sim::{DeviceSpec, IrKernel, IrRunner, SimBackend};
use std::collections::{BTreeSet, HashSet};
use std::sync::{Arc, Mutex};

/// Loads any kernel, and leaves memory as it is.
#[derive(Debug)]
struct Idle;

impl IrRunner for Idle {
    fn load(&self, _: &folio::ir::Kernel) -> Result<Arc<dyn IrKernel>, HalError> {
        Ok(Arc::new(Idle))
    }

    fn subgroup(&self) -> u32 {
        32
    }
}

impl IrKernel for Idle {
    unsafe fn run(&self, _: &Geometry, _: &[u8], _: &[ParamPtr], _: bool) -> Result<(), HalError> {
        Ok(())
    }
}

/// The largest has more chunks than the groups of a sort look at all of.
const SIZES: [usize; 6] = [1, 1000, 1 << 12, 1 << 16, 1 << 20, (1 << 22) + 1];

/// Launches, and fills and copies beside them, of each size.
fn counted(run: impl Fn(&Queue, usize) -> folio::Result<()>) -> folio::Result<[(u64, u64); 6]> {
    let spec = DeviceSpec::new().closures(false).ir(Arc::new(Idle));
    let rt = Runtime::builder().backend(SimBackend::builder().device(spec).build()).build()?;
    let q = rt.queue()?;
    let mut all = [(0, 0); 6];
    for (n, all) in SIZES.into_iter().zip(&mut all) {
        let before = rt.counters();
        run(&q, n)?;
        q.wait()?;
        let after = rt.counters();
        let moved = |c: &folio::Counters| c.zero_fills + c.copies + c.host_to_device.operations;
        *all = (after.launches - before.launches, moved(&after) - moved(&before));
    }
    Ok(all)
}

/// A buffer that commands have written.
fn of<T: DeviceType + Default>(q: &Queue, n: usize) -> folio::Result<Buffer<T>> {
    let mut x = q.runtime().buffer(n)?;
    q.fill(&mut x, T::default())?;
    Ok(x)
}

/// A call with `n` elements.
type Call = fn(&Queue, usize) -> folio::Result<()>;

const UP: Direction = Direction::Ascending;

/// Calls, their launches, and copies and zeroed memory beside them.
const CALLS: &[(&str, Call, [u64; 6], [u64; 6])] = &[
    ("reduce", |q, n| algorithms::reduce(q, Add, &of::<f32>(q, n)?).map(drop), [1; 6], [0; 6]),
    (
        "arg_min",
        |q, n| algorithms::arg_min(q, &of::<f32>(q, n)?).map(drop),
        [1, 1, 2, 2, 2, 2],
        [0; 6],
    ),
    (
        "scan",
        |q, n| {
            let (x, mut y) = (of::<f32>(q, n)?, q.runtime().buffer(n)?);
            algorithms::inclusive_scan(q, Add, &x, &mut y)
        },
        [1, 1, 2, 2, 2, 3],
        [0; 6],
    ),
    (
        "scan by key",
        |q, n| {
            let (keys, x, mut y) = (of::<u8>(q, n)?, of::<f32>(q, n)?, q.runtime().buffer(n)?);
            algorithms::inclusive_scan_by_key(q, Add, &keys, &x, &mut y)
        },
        [1, 1, 3, 3, 3, 3],
        [0; 6],
    ),
    (
        "compact",
        |q, n| algorithms::compact(q, &of::<f32>(q, n)?, &of::<u8>(q, n)?).map(drop),
        [2, 2, 2, 2, 2, 3],
        [0; 6],
    ),
    (
        "partition",
        |q, n| {
            let (x, mut y) = (of::<u8>(q, n)?, of::<u8>(q, n)?);
            algorithms::partition(q, &x, &x, &mut y).map(drop)
        },
        [2, 2, 2, 2, 2, 3],
        [0; 6],
    ),
    (
        "unique",
        |q, n| algorithms::unique(q, &of::<u32>(q, n)?).map(drop),
        [2, 2, 2, 2, 2, 3],
        [0; 6],
    ),
    ("bincount", |q, n| algorithms::bincount(q, &of::<u32>(q, n)?, 256).map(drop), [1; 6], [0; 6]),
    (
        "sort of u8",
        |q, n| algorithms::sort(q, UP, &mut of::<u8>(q, n)?),
        [0, 1, 1, 2, 2, 4],
        [0; 6],
    ),
    (
        "sort of u32",
        |q, n| algorithms::sort(q, UP, &mut of::<u32>(q, n)?),
        [0, 1, 1, 8, 8, 16],
        [0; 6],
    ),
    (
        "sort of u64",
        |q, n| algorithms::sort(q, UP, &mut of::<u64>(q, n)?),
        [0, 1, 16, 16, 16, 32],
        [0; 6],
    ),
    (
        "sort by key",
        |q, n| algorithms::sort_by_key(q, UP, &mut of::<u32>(q, n)?, &mut of::<u32>(q, n)?),
        [0, 1, 1, 8, 8, 16],
        [0, 1, 1, 0, 0, 0],
    ),
    (
        "sort of large values",
        |q, n| algorithms::sort_by_key(q, UP, &mut of::<u32>(q, n)?, &mut of::<[u32; 3]>(q, n)?),
        [2, 3, 3, 10, 10, 18],
        [1, 2, 2, 1, 1, 1],
    ),
    (
        "order",
        |q, n| algorithms::sort_order(q, UP, &of::<u32>(q, n)?).map(drop),
        [1, 2, 2, 9, 9, 17],
        [0, 1, 1, 0, 0, 0],
    ),
    (
        "sort of segments",
        |q, n| algorithms::sort_segments(q, UP, &of::<u32>(q, 1000)?, &mut of::<u32>(q, n)?),
        [1, 3, 3, 13, 13, 25],
        [0, 2, 2, 0, 0, 0],
    ),
    (
        "merge",
        |q, n| {
            let (x, mut y) = (of::<u32>(q, n)?, q.runtime().buffer(2 * n)?);
            algorithms::merge(q, UP, &x, &x, &mut y)
        },
        [1; 6],
        [0; 6],
    ),
    (
        "gather",
        |q, n| {
            let (at, mut y) = (of::<u32>(q, n)?, q.runtime().buffer(n)?);
            algorithms::gather(q, &at, &at, &mut y)
        },
        [1; 6],
        [0; 6],
    ),
    (
        "scatter",
        |q, n| {
            let (at, mut y) = (of::<u32>(q, n)?, of::<u32>(q, n)?);
            algorithms::scatter(q, &at, &at, &mut y)
        },
        [2; 6],
        [0; 6],
    ),
    (
        "transpose",
        |q, n| {
            let x: Buffer<f32, 2> = of::<f32>(q, 4 * n)?.reinterpret([n, 4])?;
            algorithms::transpose(q, &x, &mut q.runtime().buffer([4, n])?)
        },
        [1; 6],
        [0; 6],
    ),
    (
        "permute",
        |q, n| {
            let x: Buffer<f32, 3> = of::<f32>(q, 4 * n)?.reinterpret([2, n, 2])?;
            algorithms::permute(q, [2, 0, 1], &x, &mut q.runtime().buffer([2, 2, n])?)
        },
        [1; 6],
        [0; 6],
    ),
];

#[test]
fn launches_by_size() -> folio::Result<()> {
    for (name, call, launches, others) in CALLS {
        let wanted: Vec<(u64, u64)> =
            launches.iter().copied().zip(others.iter().copied()).collect();
        assert_eq!(counted(call)?[..], wanted, "{name}");
    }
    Ok(())
}

/// Keeps the text of each kernel that is loaded, and the names of those that are launched with
/// tests of their indices.
#[derive(Debug, Default)]
struct Written {
    texts: Mutex<HashSet<String>>,
    tested: Arc<Mutex<BTreeSet<String>>>,
}

/// Notes whether it is launched with tests.
#[derive(Debug)]
struct Noted {
    name: String,
    tested: Arc<Mutex<BTreeSet<String>>>,
}

impl IrKernel for Noted {
    unsafe fn run(
        &self,
        _: &Geometry,
        _: &[u8],
        _: &[ParamPtr],
        proved: bool,
    ) -> Result<(), HalError> {
        if !proved {
            self.tested.lock().unwrap().insert(self.name.clone());
        }
        Ok(())
    }
}

impl IrRunner for Written {
    fn load(&self, kernel: &folio::ir::Kernel) -> Result<Arc<dyn IrKernel>, HalError> {
        let texts = Texts::of(kernel, Dialect::Cuda, &Capabilities::CUDA, Cut::Gpu).unwrap();
        self.texts.lock().unwrap().insert(texts.text(false).text.clone());
        Ok(Arc::new(Noted { name: kernel.name.to_string(), tested: self.tested.clone() }))
    }

    fn subgroup(&self) -> u32 {
        32
    }
}

/// Kernels whose indices come from data, or may fail.
const TESTED: [&str; 8] = [
    "count_groups",
    "first_extreme",
    "gathered",
    "merged",
    "place_chunks",
    "refused",
    "scattered",
    "sort_tile",
];

/// Both of few and of many elements.
#[test]
fn compile_texts_nvrtc() {
    let compiler = match Nvrtc::load() {
        Ok(compiler) => compiler,
        Err(why) => return println!("skipped: nvrtc: {why}"),
    };
    let written = Arc::new(Written::default());
    let spec = DeviceSpec::new().closures(false).ir(written.clone());
    let rt = Runtime::builder().backend(SimBackend::builder().device(spec).build()).build();
    let q = rt.unwrap().queue().unwrap();
    for (_, call, ..) in CALLS {
        call(&q, 1000).unwrap();
        call(&q, 9000).unwrap();
    }
    q.wait().unwrap();
    let options: Vec<_> =
        Dialect::Cuda.options(true).iter().copied().chain(["--gpu-architecture=sm_90"]).collect();
    assert_eq!(written.tested.lock().unwrap().iter().collect::<Vec<_>>(), TESTED);
    let texts = written.texts.lock().unwrap();
    for text in texts.iter() {
        let said = compiler.compile(text, &options).map(|(_, log)| log);
        assert_eq!(said.as_deref(), Ok(""), "{text}");
    }
    assert!(texts.len() > 30, "{} kernels", texts.len());
}
