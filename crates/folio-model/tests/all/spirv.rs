//! Emitted SPIR-V: random kernels are valid modules of Vulkan, and nothing in them may be
//! contracted (KRN-01, KRN-04). On devices they run by way of the backend.
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

use folio_kernel::emit::spirv::{Adds, Capabilities, Form, emit};
use folio_kernel::soft::{Exact, Fused};
use folio_kernel::tile::tile;
use folio_kernel::{
    Access, Atomic, Binary, Builder, Combine, Fold, Kernel, Op, Owner, ParamKind, Place, Query,
    Scalar, Stmt, Subgroup,
};
use folio_model::compilers::spirv::{
    contractible, instructions, other_functions, validate, validator,
};
use folio_model::kernels::generate;
use folio_model::suite::{Budget, cases, line};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

/// Square roots, fused products, which [`contractible`] looks at, and the places of bits.
const FUNCTIONS: [u32; 4] = [31, 50, 73, 75];
/// Those of fast forms (semantics 5.9), where a kernel has some.
const FAST: [u32; 5] = [13, 14, 29, 30, 32];

/// Emits a kernel in all forms, and says what is wrong; how many operations of floats there are.
fn check(kernel: &Kernel, caps: &Capabilities) -> Result<usize, String> {
    let tiled = tile(kernel, 2).ok();
    let mut floats = 0;
    let fast: &[u32] = if kernel.to_string().contains(" fast_") { &FAST } else { &[] };
    let allowed = [&FUNCTIONS[..], fast].concat();
    for kernel in [Some(kernel), tiled.as_ref()].into_iter().flatten() {
        for checked in [true, false] {
            let module = emit(kernel, Form { checked }, caps).map_err(|lacks| lacks.to_string())?;
            validate(&module.words).map_err(|why| format!("{why}\n{kernel}"))?;
            let (all, free) = contractible(&module.words);
            floats += all;
            if free > 0 {
                return Err(format!("{free} of {all} operations may be contracted\n{kernel}"));
            }
            let others = other_functions(&module.words, &allowed);
            if !others.is_empty() {
                return Err(format!("functions that need not be exact: {others:?}\n{kernel}"));
            }
        }
    }
    Ok(floats)
}

#[test]
fn suite_spirv_is_valid() {
    if let Err(why) = validator() {
        return println!("skipped: vulkan: {why}");
    }
    let all = [
        Capabilities::ALL,
        Capabilities { exact: Exact::NONE, ..Capabilities::ALL },
        Capabilities { turns: Some(100), ..Capabilities::ALL },
    ];
    let floats = AtomicUsize::new(0);
    let case = |seed: u64| {
        let case = generate(seed).map_err(|error| error.to_string())?;
        let found = check(&case.kernel, &all[seed as usize % all.len()])
            .map_err(|why| format!("seed {seed}: {why}"))?;
        floats.fetch_add(found, Ordering::Relaxed);
        Ok(())
    };
    let (budget, start) = (Budget::of("SPIRV"), Instant::now());
    let (done, wrong) = cases(budget, 2, &case);
    println!("{}", line("spirv", done, start.elapsed(), wrong.len(), budget.seed));
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    assert!(floats.into_inner() > 100, "no floats are computed with");
}

/// KRN-04: where a device rounds `mul_add` once, it is asked for that: by the instruction, with
/// what its extension wants, or by GLSL's; elsewhere for nothing of it. No validator here knows the
/// extension, and no device has it.
#[test]
fn fused_products_are_asked_of_devices_that_have_them() {
    const CAPABILITY: u32 = 17;
    const EXTENSION: u32 = 10;
    const FUSED: u32 = 4427;
    const FUNCTION: u32 = 12;
    const GLSL: u32 = 50;
    let kernel = |of: Scalar| {
        let mut b = Builder::items("k", 1);
        let x = b.view("x", of, 1, Access::InOut, Owner::Item);
        let i = b.position(0);
        let value = b.load_at(x, [i]);
        let fused = b.op(Op::Fma(value, value, value));
        b.store_at(x, [i], fused);
        b.finish().unwrap()
    };
    let used = |of: Scalar, fused: Fused, fma: Fused| {
        let exact = Exact { fused, fuses_normals: false, ..Capabilities::ALL.exact };
        let caps = Capabilities { exact, fma, ..Capabilities::ALL };
        let words = emit(&kernel(of), Form { checked: true }, &caps).unwrap().words;
        let all = instructions(&words);
        let name = u32::from_le_bytes(*b"SPV_");
        let count = |op: u32, is: &dyn Fn(&[u32]) -> bool| {
            all.iter().filter(|(own, operands)| *own == op && is(operands)).count()
        };
        let places = [CAPABILITY, EXTENSION].map(|op| all.iter().rposition(|(own, _)| *own == op));
        if let [capability, Some(extension)] = places {
            assert!(capability < Some(extension), "capabilities come first");
        }
        [
            count(CAPABILITY, &|of| of == [6030]),
            count(EXTENSION, &|of| of.first() == Some(&name)),
            count(FUSED, &|of| of.len() == 5),
            count(FUNCTION, &|of| of.get(3) == Some(&GLSL)),
        ]
    };
    let (none, f32, f64) =
        (Fused::NONE, Fused { f32: true, f64: false }, Fused { f32: false, f64: true });
    // Halves are fused as `f32`.
    let all = [(Scalar::F32, f32), (Scalar::F16, f32), (Scalar::Bf16, f32), (Scalar::F64, f64)];
    for (of, fused) in all {
        let other = Fused { f32: fused.f64, f64: fused.f32 };
        assert_eq!(used(of, fused, fused), [1, 1, 1, 0], "{of}");
        for fma in [none, other] {
            assert_eq!(used(of, fused, fma), [0, 0, 0, 1], "{of}");
        }
        for fused in [none, other] {
            assert_eq!(used(of, fused, none), [0, 0, 0, 0], "{of}");
        }
    }
}

/// Semantics 9.1: a device that adds such floats atomically is asked for that in its own memory.
/// Others compare and exchange, and so does everything in memory of groups.
#[test]
fn atomic_sums_are_asked_of_devices_that_have_them() {
    const CAPABILITY: u32 = 17;
    const EXTENSION: u32 = 10;
    const ADD: u32 = 6035;
    const EXCHANGE: u32 = 230;
    let of_view = |of: Scalar| {
        let mut b = Builder::items("k", 1);
        let n = b.view("n", of, 1, Access::InOut, Owner::Atomic);
        let (zero, by) = (b.index(0), b.bits(of, 0));
        b.atomic(Atomic::Add, Place::element(n, [zero]), &[by]);
        b.finish().unwrap()
    };
    let of_group = |of: Scalar| {
        let mut b = Builder::groups("k", 1);
        let y = b.view("y", of, 1, Access::Out, Owner::Item);
        let tile = b.param("tile", ParamKind::Local { element: of.into(), len: 1 });
        b.phase(|b| {
            let (i, zero, by) = (b.position(0), b.index(0), b.bits(of, 0));
            let before = b.atomic(Atomic::Add, Place::element(tile, [zero]), &[by]);
            b.store_at(y, [i], before);
        });
        b.finish().unwrap()
    };
    let used = |kernel: &Kernel, adds: Adds| {
        let caps = Capabilities { adds, ..Capabilities::ALL };
        let count = |op: u32, is: &dyn Fn(&[u32]) -> bool| {
            operands_of(kernel, &caps, op).iter().filter(|own| is(own)).count()
        };
        let name: Vec<u8> = b"SPV_EXT_shader_atomic_float_add\0".to_vec();
        let named =
            |own: &[u32]| own.iter().flat_map(|word| word.to_le_bytes()).eq(name.iter().copied());
        let capabilities = count(CAPABILITY, &|own| [[6033], [6034]].iter().any(|one| own == one));
        let [add, exchange] = [ADD, EXCHANGE].map(|op| count(op, &|_| true));
        if validator().is_ok() {
            check(kernel, &caps).unwrap();
        }
        [capabilities, count(EXTENSION, &named), add, exchange]
    };
    let (none, f32, f64) =
        (Adds::default(), Adds { f32: true, f64: false }, Adds { f32: false, f64: true });
    for (of, own, other) in [(Scalar::F32, f32, f64), (Scalar::F64, f64, f32)] {
        assert_eq!(used(&of_view(of), own), [1, 1, 1, 0], "{of}");
        assert_eq!(used(&of_view(of), other), [0, 0, 0, 1], "{of}");
        assert_eq!(used(&of_view(of), none), [0, 0, 0, 1], "{of}");
        assert_eq!(used(&of_group(of), Capabilities::ALL.adds), [0, 0, 0, 1], "{of}");
    }
    let whole = used(&of_view(Scalar::U32), Capabilities::ALL.adds);
    assert_eq!(whole, [0; 4]);
}

/// The operands of all instructions with an opcode, in the module without tests of indices.
fn operands_of(kernel: &Kernel, caps: &Capabilities, opcode: u32) -> Vec<Vec<u32>> {
    let words = emit(kernel, Form { checked: false }, caps).unwrap().words;
    let all = instructions(&words).into_iter().filter(|(own, _)| *own == opcode);
    all.map(|(_, operands)| operands.to_vec()).collect()
}

/// semantics 11: folds are shuffles in the order of 8.1 and 8.3, as many as the width has halves,
/// and blocks are rows. A device without sub-groups is asked for nothing of that.
#[test]
fn sub_groups_are_shuffles_of_words() {
    const CAPABILITY: u32 = 17;
    const SHUFFLE: u32 = 345;
    const ANY: u32 = 335;
    const OF_GROUPS: [u32; 3] = [61, 62, 65];
    let kernel = |of: Scalar, op: &dyn Fn(folio_kernel::Value) -> Op| {
        let mut b = Builder::groups("k", 2);
        let x = b.view("x", of, 2, Access::InOut, Owner::Item);
        b.phase(|b| {
            let at = [0, 1].map(|dim| b.position(dim));
            let value = b.load_at(x, at);
            let result = b.op(op(value));
            b.store_at(x, at, result);
        });
        b.finish().unwrap()
    };
    let fold = |fold| move |value| Op::SubgroupFold(fold, Combine::Add, value);
    // The last of a reduction gives all lanes what the first has.
    let cases = [
        (Scalar::F32, Fold::Reduce, 32, 5 + 1),
        (Scalar::F32, Fold::Inclusive, 32, 5),
        (Scalar::F32, Fold::Exclusive, 8, 3 + 1),
        (Scalar::F64, Fold::Inclusive, 16, 2 * 4),
        (Scalar::I8, Fold::Reduce, 64, 6 + 1),
    ];
    for (of, which, subgroup, shuffles) in cases {
        let (kernel, caps) =
            (kernel(of, &fold(which)), Capabilities { subgroup, ..Capabilities::ALL });
        assert_eq!(operands_of(&kernel, &caps, SHUFFLE).len(), shuffles, "{of} {which}");
        let module = emit(&kernel, Form { checked: false }, &caps).unwrap();
        assert_eq!(module.subgroup, Some(subgroup));
        // A block is as many threads as there are, one and one: of the constants two are the same.
        let sizes = operands_of(&kernel, &caps, 331);
        let [_, _, x, y, z] = sizes[0][..] else { panic!("{sizes:?}") };
        assert!(y == z && x != y, "{sizes:?}");
        let none = Capabilities { subgroup: 1, ..caps };
        assert!(operands_of(&kernel, &none, SHUFFLE).is_empty());
        assert_eq!(emit(&kernel, Form { checked: false }, &none).unwrap().subgroup, None);
        let needed = |caps: &Capabilities| {
            let all = operands_of(&kernel, caps, CAPABILITY).concat();
            OF_GROUPS.map(|capability| all.contains(&capability))
        };
        assert_eq!((needed(&caps), needed(&none)), ([true, false, true], [false; 3]));
    }
    let mut b = Builder::groups("k", 1);
    let x = b.view("x", Scalar::U64, 1, Access::Out, Owner::Item);
    b.phase(|b| {
        let (i, lane) = (b.position(0), b.query(Query::Lane, 0));
        let zero = b.index(0);
        let first = b.compare(folio_kernel::Compare::Eq, lane, zero);
        let any = b.op(Op::Subgroup(Subgroup::Any, vec![first]));
        let any = b.cast(any, Scalar::U64);
        b.store_at(x, [i], any);
    });
    let kernel = b.finish().unwrap();
    assert_eq!(operands_of(&kernel, &Capabilities::ALL, ANY).len(), 1);
    assert!(operands_of(&kernel, &Capabilities::ALL, CAPABILITY).contains(&vec![OF_GROUPS[1]]));
}

/// The sum of a row, up to a number of columns or the row's extent.
fn sums_of_rows(columns: Option<u64>) -> Kernel {
    let mut b = Builder::items("k", 1);
    let x = b.view("x", Scalar::F32, 2, Access::In, Owner::Item);
    let y = b.view("y", Scalar::F32, 1, Access::Out, Owner::Item);
    let sum = b.var("sum", Scalar::F32, false);
    let i = b.position(0);
    let (start, end) = (b.index(0), columns.map(|columns| b.index(columns)));
    let end = end.unwrap_or_else(|| b.extent(x, 1));
    b.for_range(start, end, |b, k, _| {
        let (before, value) = (b.get(sum), b.load_at(x, [i, k]));
        let after = b.binary(Binary::Add, before, value);
        b.set(sum, after);
    });
    let sum = b.get(sum);
    b.store_at(y, [i], sum);
    b.finish().unwrap()
}

/// The sum of a column.
fn sums_of_columns() -> Kernel {
    let mut b = Builder::items("k", 1);
    let x = b.view("x", Scalar::F32, 2, Access::In, Owner::Item);
    let y = b.view("y", Scalar::F32, 1, Access::Out, Owner::Item);
    let sum = b.var("sum", Scalar::F32, false);
    let i = b.position(0);
    let (start, end) = (b.index(0), b.extent(x, 0));
    b.for_range(start, end, |b, k, _| {
        let (before, value) = (b.get(sum), b.load_at(x, [k, i]));
        let after = b.binary(Binary::Add, before, value);
        b.set(sum, after);
    });
    let sum = b.get(sum);
    b.store_at(y, [i], sum);
    b.finish().unwrap()
}

/// Short loops that load are unrolled 16 times, as in C (docs/decisions/29): those that are known
/// to have no more turns by the driver, others are written down so, with a loop for what is left.
/// None are in modules with tests of indices.
#[test]
fn short_loops_are_unrolled_in_part() {
    const LOOP_MERGE: u32 = 246;
    const LOAD: u32 = 61;
    const UNROLL: u32 = 1;
    const PARTIAL_COUNT: u32 = 0x100;
    let caps = Capabilities::ALL;
    let control = |columns| {
        let kernel = sums_of_rows(columns);
        let merges = operands_of(&kernel, &caps, LOOP_MERGE);
        let loads = operands_of(&kernel, &caps, LOAD);
        let elements = loads.iter().filter(|of| of.last() == Some(&4)).count();
        (merges.into_iter().map(|of| of[2..].to_vec()).collect::<Vec<_>>(), elements)
    };
    assert_eq!(control(None), (vec![vec![0], vec![0]], 17));
    assert_eq!(control(Some(16)), (vec![vec![UNROLL | PARTIAL_COUNT, 16]], 1));
    assert_eq!(control(Some(17)), (vec![vec![0], vec![0]], 17));
    // A launch-wide reduction: the items of a lane, and the values that a second entry combines;
    // besides a block's lanes, its tree, and the lanes of the tree, twice.
    let mut b = Builder::items("k", 1);
    let x = b.view("x", Scalar::F32, 1, Access::In, Owner::Item);
    let element = Scalar::F32.into();
    let sum = b.param("sum", ParamKind::Reduce { element, combine: Combine::Add });
    let i = b.position(0);
    let value = b.load_at(x, [i]);
    b.push(Stmt::Contribute { param: sum, value });
    let merges = operands_of(&b.finish().unwrap(), &caps, LOOP_MERGE);
    let unrolled = merges.iter().filter(|of| of[2..] == [UNROLL | PARTIAL_COUNT, 16]);
    assert_eq!((merges.len(), unrolled.count()), (8, 2));
    let checked = emit(&sums_of_rows(None), Form { checked: true }, &caps).unwrap().words;
    let merges = instructions(&checked).into_iter().filter(|(own, _)| *own == LOOP_MERGE);
    assert!(merges.into_iter().all(|(_, of)| of[2..] == [0]));
}

/// Of turns that are written down only the first one multiplies to find an element: in the others
/// it is a stride further. The loop for what is left multiplies, too.
#[test]
fn turns_step_from_element_to_element() {
    const MULTIPLY: u32 = 132;
    let caps = Capabilities::ALL;
    let products = |kernel: &Kernel| operands_of(kernel, &caps, MULTIPLY).len();
    // A row's number, columns apart from that, and bytes: in the first turn, and in the loop.
    let (few, many) = (products(&sums_of_rows(Some(16))), products(&sums_of_rows(None)));
    assert_eq!(many - few, 2, "a row's number, and bytes, once more");
    // The stride is computed, too.
    assert_eq!(products(&sums_of_columns()), many + 1);
}

/// Of an integer and 1 NVIDIA's compiler makes wrong products: the bit is chosen.
#[test]
fn lowest_bits_are_chosen() {
    const SELECT: u32 = 169;
    const DIVIDE: [u32; 3] = [134, 135, 137];
    let caps = Capabilities::ALL;
    // How many operations choose, and how many divide.
    let of = |of: Scalar, op: Binary, by: u64, swapped: bool| {
        let mut b = Builder::items("k", 1);
        let x = b.view("x", of, 1, Access::InOut, Owner::Item);
        let i = b.position(0);
        let (value, by) = (b.load_at(x, [i]), b.bits(of, by));
        let (left, right) = if swapped { (by, value) } else { (value, by) };
        let result = b.binary(op, left, right);
        b.store_at(x, [i], result);
        let kernel = b.finish().unwrap();
        let count = |op| operands_of(&kernel, &caps, op).len();
        (count(SELECT), DIVIDE.map(count).iter().sum::<usize>())
    };
    for scalar in [Scalar::U8, Scalar::U16, Scalar::U32, Scalar::U64] {
        let choices = |op, by, swapped| of(scalar, op, by, swapped).0;
        let others = choices(Binary::And, 3, false);
        assert_eq!(choices(Binary::And, 1, false), others + 1, "{scalar}");
        assert_eq!(choices(Binary::And, 1, true), others + 1, "{scalar}");
        assert_eq!(of(scalar, Binary::Rem, 2, false), (others + 1, 0), "{scalar}");
        assert_eq!(of(scalar, Binary::Rem, 6, false), (others, 1), "{scalar}");
    }
    assert_eq!(of(Scalar::I32, Binary::Rem, 2, false).1, 1);
}

/// What no other thread stores to is loaded so that compilers may move it; what threads share is
/// not. The words of arguments are loaded in pairs.
#[test]
fn loads_say_who_shares_the_memory() {
    const LOAD: u32 = 61;
    const STORE: u32 = 62;
    const ALIGNED: u32 = 2;
    const NON_PRIVATE: u32 = 0x20;
    let of_four_bytes = |all: Vec<Vec<u32>>, from: usize| {
        let access = all.into_iter().filter_map(|of| Some(of.get(from..)?.to_vec()));
        access.filter(|access| access.last() == Some(&4)).collect::<Vec<_>>()
    };
    let caps = Capabilities::ALL;
    let accesses = |kernel: &Kernel| {
        let loads = of_four_bytes(operands_of(kernel, &caps, LOAD), 3);
        (loads, of_four_bytes(operands_of(kernel, &caps, STORE), 2))
    };
    let private = vec![ALIGNED, 4];
    let shared = vec![ALIGNED | NON_PRIVATE, 4];
    let kernel = |groups: bool, access: Access, owner: Owner| {
        let mut b = if groups { Builder::groups("k", 1) } else { Builder::items("k", 1) };
        let x = b.view("x", Scalar::U32, 1, access, owner);
        let y = b.view("y", Scalar::U32, 1, Access::Out, Owner::Item);
        let copy = |b: &mut Builder| {
            let i = b.position(0);
            let value = b.load_at(x, [i]);
            b.store_at(y, [i], value);
        };
        if groups {
            b.phase(copy)
        } else {
            copy(&mut b)
        }
        b.finish().unwrap()
    };
    let cases = [
        (false, Access::In, Owner::Item, &private, &private),
        (false, Access::InOut, Owner::Item, &private, &private),
        (false, Access::InOut, Owner::Anyone, &shared, &private),
        (true, Access::In, Owner::Item, &private, &shared),
        (true, Access::InOut, Owner::Item, &shared, &shared),
    ];
    for (groups, access, owner, load, store) in cases {
        let found = accesses(&kernel(groups, access, owner));
        let wanted = (vec![load.clone()], vec![store.clone()]);
        assert_eq!(found, wanted, "{groups} {access} {owner}");
    }
    // Two addresses, the record's, and of each view its start, lowest index, and of the launch the
    // range, offset and first item.
    let loads = operands_of(&kernel(false, Access::In, Owner::Item), &caps, LOAD);
    let pairs = loads.iter().filter(|of| of.get(3..) == Some(&[ALIGNED, 16])).count();
    let single = loads.iter().filter(|of| of.get(3..) == Some(&[ALIGNED, 8])).count();
    assert_eq!((pairs, single), (5, 0));
}
