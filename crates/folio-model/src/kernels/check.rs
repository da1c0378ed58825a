//! Rules that hold of every kernel.

use super::{Case, generate};
use crate::interp::{Arg, BLOCK, Device, Order, Ran, Stop, run_like};
use folio_kernel::access::{LaunchUse, Summary, of_launch};
use folio_kernel::launch::Launch;
use folio_kernel::{
    Kernel, Op, ParamId, Stmt, ViolationKind, parse::parse, tile::tile, verify::verify, walk,
};

/// Statements that a kernel may run before it counts as endless.
const BUDGET: u64 = 300_000;
/// In sub-groups of more than one, of which the last one of a group may be narrower.
const DEVICE: Device = Device { width: 3, cpu_functions: false };

/// The case of the suite.
pub fn case(seed: u64) -> Result<(), String> {
    let again = format!(
        "again: FOLIO_SEED={seed} FOLIO_SOAK_CASES=1 cargo test -p folio-model suite_kernels"
    );
    let case = generate(seed).map_err(|error| format!("not well formed: {error}\n{again}"))?;
    check(&case).map_err(|why| format!("{why}\n{}\n{:?}\n{again}", case.kernel, case.launch))
}

/// Says what is wrong with a case: with its text, its runs, what analyses say of them, or with
/// what passes make of it.
pub fn check(case: &Case) -> Result<(), String> {
    text(&case.kernel)?;
    let first = go(&case.kernel, &case.launch, &case.args, Order::Forward);
    let second = go(&case.kernel, &case.launch, &case.args, Order::Forward);
    if first != second {
        return Err("two runs differ".to_owned());
    }
    let Ok((ran, after)) = first else { return Ok(()) };
    analyses(case, &ran)?;
    orders(case, &ran, &after)?;
    tiles(case)
}

fn text(kernel: &Kernel) -> Result<(), String> {
    let text = kernel.to_string();
    let again = parse(&text).map_err(|error| format!("not read back: {error}"))?;
    verify(&again).map_err(|error| format!("read back, not verified: {error}"))?;
    match again == *kernel && again.content_hash() == kernel.content_hash() {
        true => Ok(()),
        false => Err("read back as something else".to_owned()),
    }
}

type Outcome = Result<(Ran, Vec<Arg>), Stop>;

fn go(kernel: &Kernel, launch: &Launch, args: &[Arg], order: Order) -> Outcome {
    let mut args = args.to_vec();
    run_like(kernel, launch, &mut args, order, DEVICE, BUDGET).map(|ran| (ran, args))
}

/// The run agrees with the proofs of analyses.
fn analyses(case: &Case, ran: &Ran) -> Result<(), String> {
    let LaunchUse { params, arrays_proved } = of_launch(&case.kernel, &case.launch);
    let summary = Summary::of(&case.kernel);
    let of = |symbol| case.launch.symbol(symbol);
    let box_of = |at: usize| summary.read_box(ParamId(at as u32), &case.launch.extents[at], &of);
    if let Some(failure) = &ran.failure
        && let ViolationKind::OutOfBounds { param, .. } = &failure.kind
    {
        let named = |name: &String| case.kernel.params.iter().position(|param| param.name == *name);
        let read = param.as_ref().and_then(named).filter(|at| !params[*at].written);
        if read.is_some_and(|at| box_of(at).proved) {
            return Err(format!("{failure:?}, but all reads were proved to be in a box"));
        }
        let arrays = || arrays_proved && params.iter().all(|param| param.proved);
        if param.as_ref().and_then(named).map_or_else(arrays, |param| params[param].proved) {
            return Err(format!("{failure:?}, but that was proved to be in bounds"));
        }
    }
    for (at, touched) in ran.touched.iter().enumerate() {
        let Some(touched) = touched else { continue };
        let name = &case.kernel.params[at].name;
        let hull = params[at].hull.as_ref().ok_or(format!("`{name}` was found to be unused"))?;
        let outside = |(range, (lo, hi)): (&folio_kernel::interval::Interval, &(u64, u64))| {
            range.lo > i128::from(*lo) || range.hi < i128::from(*hi)
        };
        if hull.iter().zip(touched).any(outside) {
            return Err(format!("`{name}`: {touched:?} touched, but {hull:?} found"));
        }
        let only_read = params[at].read && !params[at].written;
        let inside = case.launch.extents[at].iter().zip(touched).all(|(n, (_, hi))| hi < n);
        let found = box_of(at);
        if only_read && inside {
            let read = found.ends.ok_or(format!("`{name}`: {touched:?} read, but no box found"))?;
            let outside = read.iter().zip(touched).any(|(r, t)| t.0 < r.0 || t.1 >= r.1);
            if outside {
                return Err(format!("`{name}`: {touched:?} read, but the box is {read:?}"));
            }
        }
    }
    Ok(())
}

fn has_atomics(kernel: &Kernel) -> bool {
    let mut found = false;
    walk(&kernel.body, &mut |stmt| {
        found |= matches!(stmt, Stmt::Let(define) if matches!(define.op, Op::Atomic(..)));
    });
    found
}

/// The order of items cannot be seen (semantics 1.2, KRN-02).
fn orders(case: &Case, ran: &Ran, after: &[Arg]) -> Result<(), String> {
    if has_atomics(&case.kernel) {
        return Ok(());
    }
    match go(&case.kernel, &case.launch, &case.args, Order::Backward) {
        Err(_) => Ok(()),
        Ok((other, _)) if ran.failure.is_some() != other.failure.is_some() => {
            Err("fails in one order only".to_owned())
        }
        Ok((_, args)) if ran.failure.is_none() && args != after => {
            Err("the order of items can be seen".to_owned())
        }
        Ok(_) => Ok(()),
    }
}

/// Several items per thread compute the same.
fn tiles(case: &Case) -> Result<(), String> {
    let Ok(tiled) = tile(&case.kernel, 2) else { return Ok(()) };
    verify(&tiled).map_err(|error| format!("tiled, not verified: {error}\n{tiled}"))?;
    folio_kernel::outputs::check(&tiled).map_err(|error| format!("tiled: {error}\n{tiled}"))?;
    let last = usize::from(case.kernel.shape.rank) - 1;
    let fits = case.launch.range[last].is_multiple_of(2 * BLOCK);
    if !fits || has_atomics(&case.kernel) {
        return Ok(());
    }
    let single = go(&case.kernel, &case.launch, &case.args, Order::Forward);
    let double = go(&tiled, &case.launch, &case.args, Order::Forward);
    match (single, double) {
        (Ok((a, x)), Ok((b, y))) => match (a.failure.is_some(), b.failure.is_some()) {
            (false, false) if x != y => Err(format!("tiled, it computes something else\n{tiled}")),
            (a, b) if a != b => Err(format!("tiled, it fails otherwise\n{tiled}")),
            _ => Ok(()),
        },
        _ => Ok(()),
    }
}
