//! Emitted C against the interpreter: random kernels in OpenCL C run on a device (PoCL will do) and
//! give the same bits, functions are within their limits, and the same kernels in CUDA C++ compile
//! (KRN-01). On GPUs they run by way of the backends, which are held against the interpreter in the
//! same way.
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

mod backend;
pub mod compare;
mod constants;
pub mod launch;

use backend::Machine;
use compare::exact;
use folio_core::hal::{Backend, DeviceInfo};
use folio_kernel::access::of_launch;
use folio_kernel::emit::{Capabilities, Cut, Dialect, Form, Texts, emit_abreast};
use folio_kernel::launch::Launch;
use folio_kernel::tile::tile;
use folio_kernel::{
    Access, Binary, Builder, Combine, Compare, Kernel, Let, Op, Owner, ParamKind, Root, Scalar,
    Stmt, Type, Unary, Violation, ViolationKind, walk,
};
use folio_model::compilers::nvrtc::Nvrtc;
use folio_model::compilers::opencl::{OpenCl, without_remarks};
use folio_model::drivers::{Driver, Opened, VULKAN};
use folio_model::interp::same;
use folio_model::interp::{self, BLOCK, Failure, Order};
use folio_model::kernels::{Case, generate};
use folio_model::suite::{Budget, cases, line};
use launch::{How, Ran};
use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// Runs a suite over the seeds of a budget: how many there were.
fn suite(name: &str, case: &(dyn Fn(u64) -> Result<(), String> + Sync)) -> u64 {
    let (budget, start) = (Budget::of(&name.to_uppercase()), Instant::now());
    let (done, wrong) = cases(budget, 2, case);
    println!("{}", line(name, done, start.elapsed(), wrong.len(), budget.seed));
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    let least = budget.cases.unwrap_or(budget.least);
    assert!(done >= least, "{done} kernels, at least {least} asked");
    done
}

fn seeded(seed: u64, suite: &str, why: String) -> String {
    format!("{why}\nagain: FOLIO_SEED={seed} FOLIO_SOAK_CASES=1 cargo test -p folio-model {suite}")
}

#[test]
fn suite_emit_opencl() {
    let device = match OpenCl::first() {
        Ok(device) => device,
        Err(why) => return println!("skipped: opencl: {why}"),
    };
    println!("{}", device.name);
    let abreast = AtomicU64::new(0);
    let case = |seed| {
        let case = generate(seed).map_err(|error| error.to_string())?;
        let agrees = agrees(device, case, seed);
        let shared = agrees.map_err(|why| seeded(seed, "suite_emit_opencl", why))?;
        abreast.fetch_add(u64::from(shared), Ordering::Relaxed);
        Ok(())
    };
    let (done, abreast) = (suite("emit", &case), abreast.into_inner());
    println!("{abreast} of them with items next to each other");
    assert!(done < 100 || abreast >= done / 50, "{abreast} of {done}");
}

/// The device computes what the interpreter does: with checks, without where none are needed, and
/// with several items for each thread, a block's width apart or next to each other: whether it had
/// the last.
fn agrees(device: &OpenCl, mut case: Case, seed: u64) -> Result<bool, String> {
    exact(&mut case.kernel);
    let mut args = case.args.clone();
    let Ok(ran) = interp::run(&case.kernel, &case.launch, &mut args, Order::Forward, 300_000)
    else {
        return Ok(false);
    };
    let found = of_launch(&case.kernel, &case.launch);
    let proved = found.arrays_proved && found.params.iter().all(|param| param.proved);
    let is_narrow = seed % 4 > 1 && launch::is_narrow(&case.kernel, &case.launch, &case.args);
    let how = |checked: bool| How {
        form: Form {
            rows: seed.is_multiple_of(2),
            narrow: is_narrow && !checked,
            ..Form::new(Dialect::OpenCl, checked)
        },
        block: [1, 3, 4][seed as usize % 3],
        margin: seed as usize % 2,
    };
    let compare = |kernel: &Kernel, how: &How| {
        let there = launch::run(device, kernel, &case.launch, &case.args, how)?;
        outcome(&case, ran.failure.as_ref(), &args, &there)
            .map_err(|why| format!("{why}\n{kernel}\n{:?}\n{}", case.launch, there.text))
    };
    compare(&case.kernel, &how(true))?;
    let mut shared = false;
    if proved {
        compare(&case.kernel, &how(false))?;
        let how = How { form: Form { rows: true, ..how(false).form }, ..how(false) };
        let (items, caps) = (2 + (seed % 3) as u8, launch::capabilities(device));
        let module = emit_abreast(&case.kernel, items, how.form, &caps);
        if let Some(module) = module.map_err(|lacks| lacks.to_string())? {
            shared = true;
            let there =
                launch::run_module(device, &case.kernel, &case.launch, &case.args, &how, module)?;
            outcome(&case, ran.failure.as_ref(), &args, &there)
                .map_err(|why| format!("abreast: {why}\n{}\n{}", case.kernel, there.text))?;
        }
    }
    let last = usize::from(case.kernel.shape.rank) - 1;
    if let Ok(tiled) = tile(&case.kernel, 2)
        && case.launch.range[last].is_multiple_of(2 * BLOCK)
    {
        compare(&tiled, &How { block: BLOCK as usize, ..how(true) })?;
    }
    Ok(shared)
}

/// The results of atomic operations depend on the order of items: there are several kinds, or
/// something is done with the old value.
fn shows_order(kernel: &Kernel) -> bool {
    let (mut kinds, mut before, mut used) = (vec![], HashSet::new(), HashSet::new());
    walk(&kernel.body, &mut |stmt| {
        if let Stmt::Let(Let { value, op: Op::Atomic(kind, ..), .. }) = stmt {
            kinds.push(*kind);
            before.insert(*value);
        }
        used.extend(stmt.operands());
    });
    kinds.windows(2).any(|two| two[0] != two[1]) || !before.is_disjoint(&used)
}

/// The machine computes what the interpreter does: with tests of indices, and without where none
/// are needed. Where the order of items shows, there is one.
fn agrees_with(machine: &Machine, seed: u64) -> Result<(), String> {
    let mut case = generate(seed).map_err(|error| error.to_string())?;
    exact(&mut case.kernel);
    if shows_order(&case.kernel) {
        if case.kernel.shape.groups {
            return Ok(());
        }
        case.launch.range = [1; 3];
    }
    let (mut args, device) = (case.args.clone(), machine.like);
    let (kernel, launch) = (&case.kernel, &case.launch);
    let ran = interp::run_like(kernel, launch, &mut args, Order::Forward, device, 300_000);
    let Ok(ran) = ran else { return Ok(()) };
    let found = of_launch(&case.kernel, &case.launch);
    let proved = found.arrays_proved && found.params.iter().all(|param| param.proved);
    for proved in [false, true].into_iter().take(1 + usize::from(proved)) {
        let compared = machine
            .run(&case, seed as usize % 2, proved)
            .and_then(|there| outcome(&case, ran.failure.as_ref(), &args, &there));
        compared
            .map_err(|why| format!("seed {seed}: {why}\n{}\n{:?}", case.kernel, case.launch))?;
    }
    Ok(())
}

/// All devices of these backends.
fn open(backends: impl IntoIterator<Item = Opened>) -> Vec<Machine> {
    let all = |backend: Opened| {
        let count = backend.devices().unwrap().len();
        (0..count).map(move |at| Machine::open(&backend, at).unwrap())
    };
    backends.into_iter().flat_map(all).collect()
}

/// Whether a compiler may know a float to be zero: a literal, what is computed of literals and
/// variables alone, or what is made of an integer.
fn may_know_zero(kernel: &Kernel) -> bool {
    let is_float = |ty: Option<Type>| matches!(ty, Some(Type::Scalar(s)) if s.is_float());
    let mut known = HashSet::new();
    let mut found = false;
    walk(&kernel.body, &mut |stmt| {
        let Stmt::Let(Let { value, op, .. }) = stmt else { return };
        let hidden = match op {
            Op::Const(scalar, bits) => {
                let sign = 1u64 << (8 * scalar.size() - 1);
                found |= scalar.is_float() && bits & !sign == 0;
                known.insert(*value);
                return;
            }
            Op::Arg(_) | Op::Extent(..) | Op::Query { .. } => true,
            Op::Atomic(..) | Op::Subgroup(..) | Op::SubgroupFold(..) => true,
            Op::Load(place) => matches!(place.root, Root::Element(..)),
            Op::Cast(of, _) | Op::Bits(of, _) => {
                is_float(kernel.type_of(*of)) && !known.contains(of)
            }
            _ => op.operands().iter().any(|of| !known.contains(of)),
        };
        if !hidden {
            found |= is_float(kernel.type_of(*value));
            known.insert(*value);
        }
    });
    found
}

/// Whether the driver's compiler is known to be wrong about a kernel (docs/drivers.md): lavapipe
/// takes a product with a zero that it knows for zero.
fn is_wrong_about(driver: &Driver, kernel: &Kernel) -> bool {
    driver.name == VULKAN.name && may_know_zero(kernel)
}

/// Random kernels on these machines, in turns.
fn kernels(driver: &Driver, name: &str, machines: &[Machine]) {
    let (together, beside) = (AtomicU64::new(0), AtomicU64::new(0));
    let case = |seed: u64| {
        let may = |of: &u64| generate(*of).is_ok_and(|case| !is_wrong_about(driver, &case.kernel));
        let Some(of) = (seed.wrapping_mul(1_000)..).find(may) else { return Ok(()) };
        let kernel = generate(of).map_err(|error| error.to_string())?.kernel;
        let has = |what: &str| u64::from(kernel.to_string().contains(what));
        together.fetch_add(has("= subgroup"), Ordering::Relaxed);
        beside.fetch_add(has("= atomic") * u64::from(!shows_order(&kernel)), Ordering::Relaxed);
        agrees_with(&machines[of as usize % machines.len()], of)
            .map_err(|why| seeded(seed, &format!("drivers::suite_kernels::{}", driver.name), why))
    };
    let done = suite(&name.to_lowercase(), &case);
    let (together, beside) = (together.into_inner(), beside.into_inner());
    let width = machines[0].like.width;
    println!("{together} of them with operations of sub-groups, of {width} threads");
    println!("{beside} with atomic operations of several items");
    assert!(done < 50 || together > 0 && beside > 0, "no sub-groups or atomics in {done}");
}

/// As the backend launches them, in each of its codes.
pub(crate) fn kernels_on(driver: &Driver) {
    let machines = open(driver.codes.iter().map(|open| open()));
    kernels(driver, &driver.suite("KERNELS"), &machines);
}

/// On one GPU by two drivers.
pub(crate) fn kernels_on_twins(driver: &Driver) {
    let Some(other) = driver.neighbour() else { return };
    let all = [driver, other].map(Driver::open);
    let [ours, theirs] = all.each_ref().map(|backend| backend.devices().unwrap());
    let is_ours = |device: &DeviceInfo| device.uuid.is_some() && device.uuid == ours[0].uuid;
    match theirs.iter().position(is_ours) {
        Some(at) => {
            let machines =
                [(&all[0], 0), (&all[1], at)].map(|(by, at)| Machine::open(by, at).unwrap());
            kernels(driver, "TWINS", &machines);
        }
        None => println!("skipped: twins: {} is not of {}", other.name, ours[0].name),
    }
}

/// Operations of constants, at the edges of types. For Vulkan functions are a test of its own
/// (`soft`): some thousand in one kernel take lavapipe minutes.
pub(crate) fn constants_on(driver: &Driver) {
    let machine = Machine::open(&driver.open(), 0).unwrap();
    if driver.name == VULKAN.name {
        constants::agree_in(&machine, &constants::is_exact);
    } else {
        constants::agree(&machine);
    }
}

fn outcome(
    case: &Case,
    failure: Option<&Failure>,
    args: &[interp::Arg],
    there: &Ran,
) -> Result<(), String> {
    match (failure, &there.violation) {
        (None, None) => same(&case.kernel, args, &there.args),
        (Some(failure), Some(violation)) => {
            let alone = !case.kernel.shape.groups && case.launch.range.iter().product::<u64>() == 1;
            match possible(violation) && (!alone || alike(failure, violation)) {
                true => Ok(()),
                false => Err(format!("{violation:?}, not {failure:?}")),
            }
        }
        (failure, violation) => Err(format!("{violation:?}, not {failure:?}")),
    }
}

/// An index that is said to be out of bounds is.
fn possible(violation: &Violation) -> bool {
    match &violation.kind {
        ViolationKind::OutOfBounds { index, extent, .. } => {
            index.len() == extent.len()
                && index.iter().zip(extent).any(|(i, n)| *i as u64 >= *n as u64)
        }
        _ => true,
    }
}

/// The same failure: what an item does first is the same everywhere.
fn alike(failure: &Failure, violation: &Violation) -> bool {
    let site = failure.site.as_ref().is_none_or(|site| *site == violation.site);
    failure.kind == violation.kind && site
}

#[test]
fn suite_nvrtc() {
    let compiler = match Nvrtc::load() {
        Ok(compiler) => compiler,
        Err(why) => return println!("skipped: nvrtc: {why}"),
    };
    let options: Vec<_> =
        Dialect::Cuda.options(true).iter().copied().chain(["--gpu-architecture=sm_90"]).collect();
    let case = |seed| {
        let case = generate(seed).map_err(|error| error.to_string())?;
        let texts = Texts::of(&case.kernel, Dialect::Cuda, &Capabilities::CUDA, Cut::Gpu);
        let texts = texts.map_err(|why| seeded(seed, "suite_nvrtc", why.to_string()))?;
        // One of the forms of each kernel.
        let several = texts.several([1 << 10; 3], 1).filter(|_| seed % 3 == 0);
        let text = &several.map_or(texts.text(seed % 2 == 0), |(several, _)| several).text;
        let compiled = match compiler.compile(text, &options) {
            Ok((_, log)) if log.is_empty() => Ok(()),
            Ok((_, log)) => Err(format!("{log}\n{text}")),
            Err(why) => Err(format!("{why}\n{text}")),
        };
        compiled.map_err(|why| seeded(seed, "suite_nvrtc", why))
    };
    suite("nvrtc", &case);
}

/// A case of one launch over one dimension.
fn launch_over(kernel: Kernel, items: u64, group: u64, args: Vec<interp::Arg>) -> Case {
    let mut launch = Launch {
        range: [items, 1, 1],
        group: [group, 1, 1],
        scalars: vec![None; kernel.params.len()],
        ..Launch::default()
    };
    launch.extents = args
        .iter()
        .map(|arg| match arg {
            interp::Arg::View { extent, .. } => [extent[0], 1, 1],
            _ => [1; 3],
        })
        .collect();
    Case { kernel, launch, args }
}

fn numbers(count: u64) -> interp::Arg {
    let number = |at: u64| (at.wrapping_mul(0x9e37_79b9) % 1000) as f32 / 7.0 - 50.0;
    interp::Arg::View {
        extent: vec![count],
        bytes: (0..count).flat_map(|at| number(at).to_le_bytes()).collect(),
    }
}

/// semantics 8.4: sums of floats, of items and of groups, over several passes.
#[test]
fn opencl_reductions_of_many_values() {
    let device = match OpenCl::first() {
        Ok(device) => device,
        Err(why) => return println!("skipped: opencl: {why}"),
    };
    let sum = ParamKind::Reduce { element: Scalar::F32.into(), combine: Combine::Add };
    for items in [1, 255, 4097, 20_000] {
        let mut b = Builder::items("sum", 1);
        let x = b.view("x", Scalar::F32, 1, Access::In, Owner::Item);
        let total = b.param("total", sum.clone());
        let at = b.position(0);
        let value = b.load_at(x, [at]);
        b.push(Stmt::Contribute { param: total, value });
        let args = vec![numbers(items), interp::Arg::Reduce(vec![0; 4])];
        agrees(device, launch_over(b.finish().unwrap(), items, 0, args), 2).unwrap();
    }
    let mut b = Builder::groups("sum", 1);
    let x = b.view("x", Scalar::F32, 1, Access::In, Owner::Item);
    let total = b.param("total", sum);
    b.phase(|b| {
        let at = b.position(0);
        let value = b.load_at(x, [at]);
        b.push(Stmt::Contribute { param: total, value });
    });
    let args = vec![numbers(15_000), interp::Arg::Reduce(vec![0; 4])];
    agrees(device, launch_over(b.finish().unwrap(), 15_000, 3, args), 2).unwrap();
}

/// The functions of semantics 5.8 with one argument, and their limits.
const FUNCTIONS: [(Unary, u64); 18] = [
    (Unary::Exp, 3),
    (Unary::Exp2, 3),
    (Unary::ExpM1, 3),
    (Unary::Ln, 3),
    (Unary::Log2, 3),
    (Unary::Log10, 3),
    (Unary::Ln1p, 3),
    (Unary::Sin, 4),
    (Unary::Cos, 4),
    (Unary::Tan, 5),
    (Unary::Asin, 4),
    (Unary::Acos, 4),
    (Unary::Atan, 5),
    (Unary::Sinh, 4),
    (Unary::Cosh, 4),
    (Unary::Tanh, 5),
    (Unary::Cbrt, 2),
    (Unary::Rsqrt, 2),
];

/// semantics 5.8, of single precision.
#[test]
fn opencl_functions_are_within_their_limits() {
    let device = match OpenCl::first() {
        Ok(device) => device,
        Err(why) => return println!("skipped: opencl: {why}"),
    };
    let special = [0.0, -0.0, 1.0, -1.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, 1e-30, 1e30];
    let some = (0..400).map(|at: u32| f32::from_bits(at.wrapping_mul(0x9e37_79b9)));
    let near = (0..400).map(|at: u32| at as f32 / 40.0 - 5.0);
    let values: Vec<f32> = special.into_iter().chain(some).chain(near).collect();
    // Denormal arguments and results are a capability of their own (semantics 5.4).
    let values: Vec<_> = values.into_iter().filter(|x| !x.is_subnormal()).collect();
    let count = values.len() as u64;
    let mut b = Builder::items("functions", 1);
    let x = b.view("x", Scalar::F32, 1, Access::In, Owner::Item);
    let results = b.types().array(Scalar::F32, FUNCTIONS.len() as u32);
    let y = b.view("y", results, 1, Access::Out, Owner::Item);
    let at = b.position(0);
    let value = b.load_at(x, [at]);
    let parts = FUNCTIONS.iter().map(|(op, _)| b.unary(*op, value)).collect();
    let all = b.op(Op::Make(results, parts));
    b.store_at(y, [at], all);
    let bytes = values.iter().flat_map(|x| x.to_le_bytes()).collect();
    let args = vec![
        interp::Arg::View { extent: vec![count], bytes },
        interp::Arg::View {
            extent: vec![count],
            bytes: vec![0; 4 * FUNCTIONS.len() * values.len()],
        },
    ];
    let case = launch_over(b.finish().unwrap(), count, 0, args);
    let mut wanted = case.args.clone();
    interp::run(&case.kernel, &case.launch, &mut wanted, Order::Forward, u64::MAX).unwrap();
    let form = Form::new(Dialect::OpenCl, false);
    let how = How { form, block: 4, margin: 0 };
    let found = launch::run(device, &case.kernel, &case.launch, &case.args, &how).unwrap();
    let floats = |arg: &interp::Arg| match arg {
        interp::Arg::View { bytes, .. } => {
            bytes.chunks(4).map(|b| f32::from_le_bytes(b.try_into().unwrap())).collect()
        }
        _ => vec![],
    };
    let mut worst = [0; FUNCTIONS.len()];
    for (at, (a, b)) in floats(&wanted[1]).into_iter().zip(floats(&found.args[1])).enumerate() {
        let (function, x) = (at % FUNCTIONS.len(), values[at / FUNCTIONS.len()]);
        let apart = distance(a, b);
        worst[function] = worst[function].max(if a.is_subnormal() { 0 } else { apart });
        let (op, limit) = FUNCTIONS[function];
        assert!(worst[function] <= limit, "{op}({x:e}) is {b:e}, not {a:e}");
    }
    println!("{} arguments; most floats away: {worst:?}", values.len());
}

/// How many floats two numbers are apart; all NaN are one.
fn distance(a: f32, b: f32) -> u64 {
    let place = |x: f32| {
        let size = i64::from(x.to_bits() & 0x7fff_ffff);
        if x.is_sign_negative() { -size } else { size }
    };
    match (a.is_nan(), b.is_nan()) {
        (true, true) => 0,
        (false, false) => place(a).abs_diff(place(b)),
        _ => u64::MAX,
    }
}

/// Among random kernels are such whose loops several items share.
#[test]
fn loops_of_several_items_occur() {
    let loops = |kernel: &Kernel| {
        let mut loops = 0;
        walk(&kernel.body, &mut |stmt| loops += usize::from(matches!(stmt, Stmt::For { .. })));
        loops
    };
    let kernels = (0..2000).filter_map(|seed| generate(seed).ok()).map(|case| case.kernel);
    let shared = |kernel: &Kernel| tile(kernel, 2).is_ok_and(|two| loops(&two) < 2 * loops(kernel));
    let (shared, all) = kernels.fold((0, 0), |(n, all), k| (n + usize::from(shared(&k)), all + 1));
    println!("{shared} of {all}");
    assert!(shared >= 40, "{shared} of {all}");
}

/// Numbers that are loaded, widened, negated, and compared with constants: of such, compilers make
/// other comparisons.
pub(crate) fn compares_widened_numbers(driver: &Driver) {
    let machine = Machine::open(&driver.open(), 0).unwrap();
    const COUNT: u64 = 64;
    let numbers = (0..COUNT).flat_map(|k| (k as i32 - 32).to_le_bytes()).collect();
    let view = |bytes: Vec<u8>| interp::Arg::View { extent: vec![COUNT], bytes };
    let mut b = Builder::items("compares", 1);
    let x = b.view("x", Scalar::I32, 1, Access::In, Owner::Item);
    let i = b.position(0);
    let own = b.load_at(x, [i]);
    let (mut args, mut outs) = (vec![view(numbers)], vec![]);
    let ints: Vec<_> = Scalar::ALL.iter().copied().filter(|of| of.is_int()).collect();
    for (from, to) in ints.iter().flat_map(|from| ints.iter().map(move |to| (*from, *to))) {
        let narrow = if from == Scalar::I32 { own } else { b.cast(own, from) };
        let wide = if to == from { narrow } else { b.cast(narrow, to) };
        let mut sum = b.bits(Scalar::U64, 0);
        for (bit, limit) in [0, 1, 5].into_iter().enumerate() {
            let limit = b.bits(to, limit);
            for (op, compare) in [Compare::Lt, Compare::Ge, Compare::Eq].into_iter().enumerate() {
                let holds = b.op(Op::Compare(compare, wide, limit));
                let word = b.cast(holds, Scalar::U64);
                let by = b.bits(Scalar::U64, 3 * bit as u64 + op as u64);
                let shifted = b.binary(Binary::Shl, word, by);
                sum = b.binary(Binary::Or, sum, shifted);
            }
        }
        if to.is_signed() {
            let size = b.op(Op::Unary(Unary::Abs, wide));
            let size = if to == Scalar::U64 { size } else { b.cast(size, Scalar::U64) };
            let by = b.bits(Scalar::U64, 16);
            let shifted = b.binary(Binary::Shl, size, by);
            sum = b.binary(Binary::Or, sum, shifted);
        }
        outs.push((b.view("y", Scalar::U64, 1, Access::Out, Owner::Item), sum));
        args.push(view(vec![0; 8 * COUNT as usize]));
    }
    for (out, sum) in outs {
        b.store_at(out, [i], sum);
    }
    let case = launch_over(b.finish().unwrap(), COUNT, 1, args);
    let mut wanted = case.args.clone();
    let ran = interp::run(&case.kernel, &case.launch, &mut wanted, Order::Forward, 1 << 30);
    assert!(ran.ok().unwrap().failure.is_none());
    let found = machine.run(&case, 0, true).unwrap().args;
    same(&case.kernel, &wanted, &found).unwrap();
}

#[test]
fn only_what_is_said_of_every_kernel_is_left_out() {
    let remark = "warning: Function folio_x is a kernel, so overriding noinline attribute. The \
                  function may be inlined when called.\n";
    assert_eq!(without_remarks(&[remark, "\n", remark].concat()), "");
    let more = [remark, "<kernel>:3:1: warning: unused\n", remark].concat();
    assert_eq!(without_remarks(&more), "<kernel>:3:1: warning: unused");
}
