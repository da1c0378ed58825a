//! Arrays in which a launch only counts have copies for blocks (`device::tally`): what is in them
//! afterwards is what one item after the other leaves there, whatever else the kernel does.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use folio::ir::device::{Kernel, Launched, ParamPtr, Positions, run};
use folio::prelude::*;
use folio::{Cause, ViolationKind};

#[kernel]
fn histogram(i: Item, x: In<u32>, bins: Atomic<u32>) {
    bins.add(x[i] as usize % bins.len(), 1);
}

macro_rules! operations {
    ($([$ty:ident] $($name:ident $op:ident $new:expr;)*)*) => {$($(
        #[kernel]
        fn $name(i: Item, x: In<$ty>, bins: Atomic<$ty>) {
            if x[i] % 3 != 1 {
                bins.$op(x[i] as usize % bins.len(), x[i]);
            }
        }
    )*)*

    #[test]
    fn every_operation_counts_as_item_after_item() {
        let rt = folio::runtime().unwrap();
        let q = rt.queue().unwrap();
        for (items, bins) in [(1, 1), (255, 1), (256, 1), (300, 75), (300, 76), (5003, 10), (70_001, 4099)] {
            $($({
                let x: Vec<$ty> = (0..items).map(|k: usize| (k as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) as $ty).collect();
                let mut expected: Vec<$ty> = (0..bins).map(|k: usize| (k * 7919) as $ty).collect();
                let on_device = rt.buffer_from(&x).unwrap();
                let mut y = rt.buffer_from(&expected).unwrap();
                for _ in 0..3 {
                    for x in x.iter().filter(|x| **x % 3 != 1) {
                        let bin = &mut expected[*x as usize % bins];
                        *bin = after(*bin, *x, $new);
                    }
                    q.run(items, $name(&on_device, &mut y)).unwrap();
                }
                assert_eq!(y.to_vec().unwrap(), expected, "{}, {items} in {bins}", stringify!($name));
                assert_eq!(counted::<$name>(), 1, "{}", stringify!($name));
            })*)*
        }
    }};
}
operations! {
    [u32]
        add_u32 add |a, b| a.wrapping_add(b);
        sub_u32 sub |a, b| a.wrapping_sub(b);
        min_u32 min |a, b| a.min(b);
        xor_u32 xor |a, b| a ^ b;
    [i32]
        add_i32 add |a, b| a.wrapping_add(b);
        min_i32 min |a, b| a.min(b);
        max_i32 max |a, b| a.max(b);
        and_i32 and |a, b| a & b;
    [u64]
        max_u64 max |a, b| a.max(b);
        or_u64 or |a, b| a | b;
        and_u64 and |a, b| a & b;
    [i64]
        sub_i64 sub |a, b| a.wrapping_sub(b);
        max_i64 max |a, b| a.max(b);
    [usize]
        add_usize add |a, b| a.wrapping_add(b);
}

fn after<T>(bin: T, x: T, new: fn(T, T) -> T) -> T {
    new(bin, x)
}

/// How many arrays of a kernel can have copies.
fn counted<K: Kernel>() -> usize {
    K::code().as_ref().unwrap().counted.len()
}

fn numbers(n: usize) -> Vec<u32> {
    (0..n as u32).map(|k| k.wrapping_mul(0x9e37_79b9) >> 7).collect()
}

#[device_fn]
fn counts(bins: Atomic<u32>, at: u32) {
    bins.add(at, 2);
}

#[kernel]
fn two_arrays(
    i: Item<2>,
    x: In<u32, 2>,
    few: Atomic<u32, 2>,
    most: Atomic<i64>,
    sum: Reduce<u64, Add>,
) {
    let (r, c) = i.pos();
    few.add((x[i] as usize % 3, (x[i] / 3) as usize % 5), 1);
    match x[i] % 4 {
        0 => {
            few.sub((r % 3, c % 5), 1);
        }
        1 => (),
        _ => {
            most.max((r + c) % 7, x[i] as i64 - 1000);
        }
    }
    sum.give(x[i] as u64);
}

#[test]
fn arrays_in_several_dimensions_and_of_slices_count() {
    let rt = folio::runtime().unwrap();
    let q = rt.queue().unwrap();
    let (rows, columns) = (67, 120);
    let x = numbers(rows * columns);
    let on_device = rt.buffer_from((&x, [rows, columns])).unwrap();
    let mut few = rt.buffer_from((&[100u32; 7 * 9], [7, 9])).unwrap();
    let mut most = rt.buffer_from(&[-5i64; 20]).unwrap();
    let mut sum = rt.buffer::<u64, 1>(1).unwrap();
    let (mut few_there, mut most_there) = (vec![100u32; 7 * 9], vec![-5i64; 20]);
    let in_few = |r: usize, c: usize| (r + 2) * 9 + c + 3;
    for (at, x) in x.iter().map(|x| *x as usize).enumerate() {
        let (r, c) = (at / columns, at % columns);
        few_there[in_few(x % 3, x / 3 % 5)] += 1;
        match x % 4 {
            0 => few_there[in_few(r % 3, c % 5)] = few_there[in_few(r % 3, c % 5)].wrapping_sub(1),
            1 => {}
            _ => {
                let most = &mut most_there[4 + (r + c) % 7];
                *most = (*most).max(x as i64 - 1000);
            }
        }
    }
    let call = two_arrays(
        &on_device,
        few.slice_mut([2, 3], [3, 5]).unwrap(),
        most.slice_mut([4], [7]).unwrap(),
        &mut sum,
    );
    q.run([rows, columns], call).unwrap();
    assert_eq!(few.to_vec().unwrap(), few_there);
    assert_eq!(most.to_vec().unwrap(), most_there);
    assert_eq!(sum.to_vec().unwrap(), [x.iter().map(|x| u64::from(*x)).sum::<u64>()]);
    assert_eq!(counted::<two_arrays>(), 2);
}

#[kernel]
fn called(i: Item, x: In<u32>, bins: Atomic<u32>) {
    counts(bins, x[i] % 10);
    if x[i] > 7 {
        bins.add(3usize, 1);
    }
}

#[kernel(group = 64)]
fn groups(g: Group, x: In<u32>, own: LocalAtomic<u32, 10>, bins: Atomic<u32>, firsts: Atomic<u32>) {
    g.each(|i| {
        own.add(x[i] % 10, 1);
    });
    g.each(|i| {
        if i.local_index() < 10 {
            bins.add(i.local_index(), own.load(i.local_index()));
        }
    });
    g.once(|| {
        firsts.add(0usize, 1);
    });
}

#[test]
fn functions_and_groups_count() {
    let rt = folio::runtime().unwrap();
    let q = rt.queue().unwrap();
    let n = 64 * 131;
    let x = numbers(n);
    let on_device = rt.buffer_from(&x).unwrap();
    let count = |k: u32| x.iter().filter(|x| **x % 10 == k).count() as u32;
    let expected: Vec<u32> = (0..10).map(count).collect();

    let mut bins = rt.buffer::<u32, 1>(10).unwrap();
    q.run(n, called(&on_device, &mut bins)).unwrap();
    let mut twice: Vec<u32> = expected.iter().map(|n| 2 * n).collect();
    twice[3] += x.iter().filter(|x| **x > 7).count() as u32;
    assert_eq!(bins.to_vec().unwrap(), twice);
    assert_eq!(counted::<called>(), 1);

    let (mut bins, mut firsts) =
        (rt.buffer::<u32, 1>(10).unwrap(), rt.buffer::<u32, 1>(1).unwrap());
    q.run(n, groups(&on_device, &mut bins, &mut firsts)).unwrap();
    assert_eq!(bins.to_vec().unwrap(), expected);
    assert_eq!(firsts.to_vec().unwrap(), [131]);
    assert_eq!(counted::<groups>(), 2);
}

#[kernel]
fn places(i: Item, x: In<u32>, next: Atomic<u32>, y: Racy<u32>) {
    if x[i] % 2 == 0 {
        let at = next.add(0usize, 1);
        y[at] = x[i];
    }
}

#[kernel]
fn several(i: Item, x: In<u32>, bins: Atomic<u32>) {
    bins.add(x[i] % 10, 1);
    bins.max(x[i] % 10, 5);
}

#[kernel]
fn looks(i: Item, x: In<u32>, bins: Atomic<u32>, seen: Atomic<u32>) {
    bins.add(x[i] % 10, 1);
    if bins.load(x[i] % 10) == 0 {
        seen.add(0usize, 1);
    }
}

#[kernel]
fn passed_on(i: Item, x: In<u32>, bins: Atomic<u32>, sum: Reduce<u32, Add>) {
    let before = if x[i] > 5 { bins.add(x[i] % 10, 1) } else { 0 };
    sum.give(before);
}

#[kernel]
fn floats(i: Item, x: In<u32>, bins: Atomic<f32>) {
    bins.add(x[i] % 10, 1.0);
}

/// An array whose old values are asked for, or that has several operations, or an order, has no
/// copies.
#[test]
fn arrays_whose_contents_are_asked_for_have_no_copies() {
    let copies = [
        counted::<places>(),
        counted::<several>(),
        counted::<looks>(),
        counted::<passed_on>(),
        counted::<floats>(),
    ];
    assert_eq!(copies, [0, 0, 1, 0, 0], "one counts what it has seen");
    let rt = folio::runtime().unwrap();
    let q = rt.queue().unwrap();
    let n = 20_000;
    let x = numbers(n);
    let on_device = rt.buffer_from(&x).unwrap();
    let (mut next, mut y) = (rt.buffer::<u32, 1>(1).unwrap(), rt.buffer::<u32, 1>(n).unwrap());
    // SAFETY: each item that writes has a place of its own.
    let shares = unsafe { folio::RacyMemory::new(&mut y) };
    q.run(n, places(&on_device, &mut next, shares)).unwrap();
    let mut even: Vec<u32> = x.iter().copied().filter(|x| x % 2 == 0).collect();
    assert_eq!(next.to_vec().unwrap(), [even.len() as u32]);
    let mut found = y.to_vec().unwrap()[..even.len()].to_vec();
    even.sort_unstable();
    found.sort_unstable();
    assert_eq!(found, even);

    let (mut bins, mut seen) = (rt.buffer::<u32, 1>(10).unwrap(), rt.buffer::<u32, 1>(1).unwrap());
    q.run(n, looks(&on_device, &mut bins, &mut seen)).unwrap();
    assert_eq!(seen.to_vec().unwrap(), [0], "each sees what it has added");
    let mut bins = rt.buffer::<f32, 1>(10).unwrap();
    q.run(n, floats(&on_device, &mut bins)).unwrap();
    assert_eq!(bins.to_vec().unwrap().iter().sum::<f32>(), n as f32);
}

#[device_fn]
fn below(x: u32, most: u32) -> u32 {
    assert!(x < most, "too large");
    x
}

#[kernel]
fn fails(i: Item, most: u32, x: In<u32>, bins: Atomic<u32>) {
    bins.add(below(x[i], most) % 1000, 1);
}

/// A violation is told, and nothing is written beside the array; then it counts again.
#[test]
fn launches_that_fail_harm_nobody() {
    let rt = folio::runtime().unwrap();
    let q = rt.queue().unwrap();
    let n = 50_000;
    let on_device = rt.buffer_from(numbers(n)).unwrap();
    let bins = rt.buffer_from(&[7u32; 40]).unwrap().into_shared();
    let part = || bins.slice_mut([10], [20]).unwrap();
    let fill = || {
        let all = |cg: &mut CommandGroup| {
            cg.fill(&bins, 7);
            Ok(())
        };
        q.submit(all).unwrap();
    };
    for round in 0..3 {
        let Err(Error::Failed(failure)) =
            q.run(n, fails(u32::MAX, &on_device, part())).unwrap().wait()
        else {
            panic!("999 is no index of 20")
        };
        let Cause::Kernel(violation) = failure.cause() else { panic!("{failure}") };
        let ViolationKind::OutOfBounds { param, index, extent } = &violation.kind else {
            panic!("{violation}")
        };
        assert_eq!((param.as_deref(), extent.as_slice()), (Some("bins"), &[20][..]));
        assert!((20..1000).contains(&index[0]), "{index:?} {round}");
        let ended = q.run(n, fails(1000, &on_device, part())).unwrap().wait();
        assert!(ended.is_err(), "it was poisoned, or ends in a function");
        fill();
    }
    q.run(n, fails(0, &on_device, part())).unwrap().wait().unwrap_err();
    fill();
    let few = rt.buffer_from(&[3u32; 300]).unwrap();
    q.run(300, fails(4, &few, part())).unwrap();
    let there = bins.to_vec().unwrap();
    assert_eq!((there[13], there.iter().sum::<u32>()), (307, 7 * 40 + 300));
}

/// Nothing is in the array before the last block ends; then all of it is, and a launch like it
/// begins anew.
#[test]
fn who_ends_the_last_block_combines() {
    let x = [[3u32; 500], [4; 500]].concat();
    let mut bins = [1u32; 5];
    let param = |base: *mut u8, n: usize| {
        let (dims, none) = ([1, 1, n], [0; 3]);
        ParamPtr { base, dims, origin: none, extent: dims, index: none, shape: dims }
    };
    let memory = [param(x.as_ptr().cast_mut().cast(), 1000), param(bins.as_mut_ptr().cast(), 5)];
    let code = <histogram as Kernel>::code().as_ref().unwrap();
    let launch = Launched::new([0; 3], [1, 1, 1000], [1; 3], 0);
    let launch = launch.counting(&code.counted, |at| [Some(1000), Some(5)][at]);
    assert!(!launch.counts_in_place());
    let block = |from: usize, to: usize| {
        let block = Positions { min: [0, 0, from], max: [1, 1, to] };
        // SAFETY: the memory above, of the kernel's parameters, and each position once.
        unsafe { run::<histogram>(&[], &memory, &block, &launch) };
        // SAFETY: within the array.
        unsafe { memory[1].base.cast::<[u32; 5]>().read() }
    };
    for round in 0..2 {
        let before = [1, 1, 1, 1 + 500 * round, 1 + 500 * round];
        assert_eq!([block(700, 1000), block(0, 300), block(300, 300)], [before; 3]);
        assert_eq!(block(300, 700), [1, 1, 1, 501 + 500 * round, 501 + 500 * round]);
    }
    let short = Launched::new([0; 3], [1, 1, 100], [1; 3], 0);
    assert!(short.counting(&code.counted, |_| Some(5)).counts_in_place(), "few items need none");
    let large = Launched::new([0; 3], [1, 1, 1 << 30], [1; 3], 0);
    assert!(
        large.counting(&code.counted, |_| Some(1 << 20)).counts_in_place(),
        "not so large ones"
    );
}

/// Commands on one array, from several threads.
#[test]
fn commands_count_in_turn() {
    let rt = folio::runtime().unwrap();
    let n = 10_000;
    let on_device = rt.buffer_from(numbers(n)).unwrap().into_shared();
    let bins = rt.buffer_from(&[0u32; 10]).unwrap().into_shared();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let q = rt.queue().unwrap();
                for _ in 0..20 {
                    q.run(n, histogram(&on_device, &bins)).unwrap();
                }
                q.wait().unwrap();
            });
        }
    });
    let expected = (0..10).map(|k| 80 * numbers(n).iter().filter(|x| **x % 10 == k).count() as u32);
    assert_eq!(bins.to_vec().unwrap(), expected.collect::<Vec<_>>());
}
