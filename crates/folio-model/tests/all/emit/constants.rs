//! Operations on values that a compiler knows, at the edges of their types.

use super::backend::Machine;
use super::{compare, launch_over};
use folio_kernel::{Access, Binary, Builder, Compare, Kernel, Op, Owner, Scalar, Unary, Value};
use folio_model::interp::{Arg, Order, float, run_like, same};

/// A machine computes the same as the interpreter.
pub fn agree(machine: &Machine) {
    agree_in(machine, &|_| true);
}

/// The same of some operations.
pub fn agree_in(machine: &Machine, wanted: &dyn Fn(&Op) -> bool) {
    let (mut results, mut wrong) = (0, vec![]);
    for from in Scalar::ALL {
        let operations = operations(*from);
        for to in Scalar::ALL {
            let (kernel, all) = kernel(*from, *to, &operations, wanted);
            if all.is_empty() {
                continue;
            }
            let size = to.size() as usize;
            let bytes = vec![0; all.len() * size];
            let view = Arg::View { extent: vec![all.len() as u64], bytes };
            let case = launch_over(kernel, 1, 1, vec![view]);
            let (kernel, launch, like) = (&case.kernel, &case.launch, machine.like);
            let mut wanted = case.args.clone();
            let ran = run_like(kernel, launch, &mut wanted, Order::Forward, like, 1 << 20).unwrap();
            assert!(ran.failure.is_none(), "{:?}", ran.failure);
            let found = machine.run(&case, 0, true).unwrap().args;
            let (Arg::View { bytes: wanted, .. }, Arg::View { bytes: found, .. }) =
                (&wanted[0], &found[0])
            else {
                unreachable!()
            };
            results += all.len();
            let pairs = wanted.chunks(size).zip(found.chunks(size));
            for ((op, operands), (wanted, found)) in all.iter().zip(pairs) {
                if !equal(kernel, *to, op, wanted, found) {
                    wrong.push(format!(
                        "{from}: {op:?} of {operands:x?} is {found:x?}, not {wanted:x?}\n"
                    ));
                }
            }
        }
    }
    println!("{results} results");
    assert!(results > 9_000, "{results}");
    assert!(wrong.is_empty(), "{} of {results}:\n{}", wrong.len(), wrong.concat());
}

/// The same, or nearly so where the operation need not be exact.
fn equal(kernel: &Kernel, of: Scalar, op: &Op, wanted: &[u8], found: &[u8]) -> bool {
    let one = |bytes: &[u8]| [Arg::View { extent: vec![1], bytes: bytes.to_vec() }];
    let value = |bytes: &[u8]| {
        let bits = bytes.iter().rev().fold(0, |bits, byte| bits << 8 | u64::from(*byte));
        float::value(of, bits)
    };
    let near = || {
        let (wanted, found) = (value(wanted), value(found));
        // Infinity is the float behind the greatest (semantics 5.8), which CUDA's `hypot` rounds to
        // it.
        let greatest = if of == Scalar::F64 { f64::MAX } else { f32::MAX.into() };
        if wanted.abs() == greatest && found == f64::INFINITY.copysign(wanted) {
            return true;
        }
        let apart = (wanted - found).abs();
        // Denormal results are a capability of their own (semantics 5.4).
        let normal = if of == Scalar::F64 { f64::MIN_POSITIVE } else { f32::MIN_POSITIVE.into() };
        let close = apart <= wanted.abs() / 100.0 || (wanted.abs() < normal && apart < normal);
        wanted.is_finite() && close
    };
    same(kernel, &one(wanted), &one(found)).is_ok() || (!is_exact(op) && near())
}

/// Not of the functions of semantics 5.8.
pub fn is_exact(op: &Op) -> bool {
    match op {
        Op::Unary(op, _) => compare::unary(*op) == *op,
        Op::Binary(op, ..) => compare::binary(*op) == *op,
        _ => true,
    }
}

/// Fails, or semantics leave it to the device: functions of denormals (5.4), and which sign a NaN
/// has.
fn is_left_open(from: Scalar, op: &Op, operands: &[u64]) -> bool {
    let nan = |bits: &u64| from.is_float() && float::value(from, *bits).is_nan();
    match op {
        Op::Binary(Binary::Div | Binary::Rem, ..) if from.is_int() => operands[1] == 0,
        Op::Binary(Binary::CopySign, ..) => nan(&operands[1]),
        // The smallest of either sign.
        _ => !is_exact(op) && operands.iter().any(|bits| bits & from.mask() >> 1 == 1),
    }
}

/// Stores what operations make of constants, where that is of a type, and says what and of which.
fn kernel(
    from: Scalar,
    to: Scalar,
    operations: &[Operation],
    wanted: &dyn Fn(&Op) -> bool,
) -> (Kernel, Vec<(Op, Vec<u64>)>) {
    let mut b = Builder::items("constants", 1);
    // Views have no `bool`s.
    let element = if to == Scalar::Bool { Scalar::U8 } else { to };
    let out = b.view("out", element, 1, Access::Out, Owner::Anyone);
    let edges = edges(from);
    let values: Vec<_> = edges.iter().map(|bits| b.bits(from, *bits)).collect();
    let mut all = vec![];
    for Operation { arity, make, .. } in operations.iter().filter(|op| op.to == to) {
        // Of several operands some will do; that many values have no such factor.
        let step = [1, 3, 11][arity - 1];
        for case in (0..values.len().pow(*arity as u32)).step_by(step) {
            let at = [0, 1, 2].map(|n| case / values.len().pow(n) % values.len());
            let op = make(at.map(|at| values[at]));
            let operands: Vec<_> = at[..*arity].iter().map(|at| edges[*at]).collect();
            if is_left_open(from, &op, &operands) || !wanted(&op) {
                continue;
            }
            let place = b.index(all.len() as u64);
            let value = b.op(op.clone());
            let value = if to == element { value } else { b.cast(value, element) };
            b.store_at(out, [place], value);
            all.push((op, operands));
        }
    }
    (b.finish().unwrap(), all)
}

/// An operation on a type.
struct Operation {
    arity: usize,
    to: Scalar,
    make: Make,
}

type Make = Box<dyn Fn([Value; 3]) -> Op>;

/// All that there are, but fast functions, which have other bits on each device.
fn operations(from: Scalar) -> Vec<Operation> {
    let mut all: Vec<(usize, Make)> = vec![(3, Box::new(|[a, b, c]| Op::Fma(a, b, c)))];
    for to in Scalar::ALL {
        all.push((1, Box::new(|[a, ..]| Op::Cast(a, *to))));
        all.push((1, Box::new(|[a, ..]| Op::Bits(a, *to))));
    }
    for op in Unary::ALL.iter().filter(|op| !op.is_fast()) {
        all.push((1, Box::new(|[a, ..]| Op::Unary(*op, a))));
    }
    for op in Binary::ALL {
        all.push((2, Box::new(|[a, b, _]| Op::Binary(*op, a, b))));
    }
    for op in Compare::ALL {
        all.push((2, Box::new(|[a, b, _]| Op::Compare(*op, a, b))));
    }
    let there = |(arity, make): (usize, Make)| {
        let mut b = Builder::items("one", 1);
        let a = b.bits(from, 1);
        let value = b.op(make([a; 3]));
        let to = b.type_of(value).scalar()?;
        b.finish().ok().map(|_| Operation { arity, to, make })
    };
    all.into_iter().filter_map(there).collect()
}

/// The bits of values that operations treat in a way of their own, and of some others.
fn edges(of: Scalar) -> Vec<u64> {
    match of.limits() {
        Some((least, most)) => {
            let mut all: Vec<_> = [0, 1, -1, least, least + 1, most, most / 3, 13, 31, -77]
                .iter()
                .map(|value| *value as u64 & of.mask())
                .collect();
            all.sort_unstable();
            all.dedup();
            all
        }
        None => {
            let (one, half_to_even, infinity, nan) = match of {
                Scalar::F16 => (0x3c00, 0x4100, 0x7c00, 0x7e00),
                Scalar::Bf16 => (0x3f80, 0x4020, 0x7f80, 0x7fc0),
                Scalar::F32 => (0x3f80_0000, 0x4020_0000, 0x7f80_0000, 0x7fc0_0000),
                _ => (0x3ff0 << 48, 0x4004 << 48, 0x7ff0 << 48, 0x7ff8 << 48),
            };
            let sign = 1 << (of.bits() - 1);
            let positive = [0, 1, one, half_to_even, infinity - 1, infinity, nan];
            positive.iter().flat_map(|bits| [*bits, *bits | sign]).collect()
        }
    }
}
