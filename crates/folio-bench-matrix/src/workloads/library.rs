//! Calls of `folio::algorithms`, for which a user would otherwise take a library: `--peers`
//! measures these libraries beside them.
//!
//! By hand, a kernel copies as many bytes as the work has to move, so that a ratio says how far the
//! call is from the memory's limit. Results are those of plain Rust.

use super::stream;
use crate::bench::{Bench, Case, Pair, Side, Site, Values, Workload};
use crate::error::Result;
use crate::peers::rust::long_words;
use crate::record::Work;
use folio::algorithms::{self, Direction};
use folio::prelude::*;
use rayon::prelude::*;
use std::cell::{Cell, RefCell};
use std::cmp::Ordering;
use std::rc::Rc;

/// The workload.
pub struct Library;

/// Modes whose results depend on the order of sums; all others are exact.
const ROUNDED: [&str; 5] = ["sum f32", "three sums", "scan f32", "map, scan, map", "segmented sum"];

#[kernel]
fn moments(
    i: Item,
    x: In<f32>,
    most: Reduce<f32, Max>,
    sum: Reduce<f32, Add>,
    square: Reduce<f32, Add>,
) {
    let v = x[i] - 1.0;
    most.give(v.abs());
    sum.give(v.abs());
    square.give(v * v);
}

/// `factor * x + offset`.
#[derive(Clone, Copy, DeviceType)]
#[repr(C)]
struct Line {
    factor: f32,
    offset: f32,
}

#[device_fn]
impl Line {
    fn map(self, x: f32) -> f32 {
        self.factor * x + self.offset
    }
}
algorithms::map!(Line: f32 => f32);

impl Workload for Library {
    fn name(&self) -> &'static str {
        "library"
    }

    fn about(&self) -> &'static str {
        "calls of folio::algorithms; by hand a copy of as many bytes, the memory's limit"
    }

    fn unit(&self) -> &'static str {
        "elements"
    }

    fn modes(&self) -> &'static [&'static str] {
        &[
            "sum f32",
            "three sums",
            "scan f32",
            "scan u32",
            "map, scan, map",
            "segmented sum",
            "sort f32",
            "sort u64",
            "sort by key",
            "sort order",
            "histogram",
            "compact",
            "unique",
            "gather",
            "permute",
        ]
    }

    fn sizes(&self, mode: &str, site: Site) -> Vec<usize> {
        match mode {
            "sort u64" => site.powers(&[20, 16, 24], &[25, 20, 27], 1, 2),
            "permute" => site.powers(&[20, 24], &[26, 20], 1, 2),
            _ => site.powers(&[20, 16, 24], &[26, 20, 28], 1, 2),
        }
    }

    fn prepare(&self, bench: &Bench, case: Case) -> Result<Pair> {
        let Call { bytes, ours, expected } = call(bench, case)?;
        let work = Work {
            bytes: bytes as f64,
            launches: 1.0,
            working_set: bytes as f64,
            ..Work::default()
        };
        let theirs = copy_of(bench, bytes, expected)?;
        let pair = bench.pair(work, ours, theirs);
        let tolerance = if ROUNDED.contains(&case.mode) { pair.tolerance } else { 0.0 };
        Ok(Pair { against: "a copy".to_owned(), tolerance, ..pair })
    }
}

/// A call of the library.
pub struct Call {
    /// Bytes that it has to read and to write.
    pub bytes: usize,
    /// Our side.
    pub ours: Side,
    /// Results by plain Rust.
    pub expected: Values,
}

/// A kernel by hand that copies: as many bytes are read and written in all. The results, once it
/// has run, are the expected ones.
pub fn copy_of(bench: &Bench, bytes: usize, expected: Values) -> Result<Side> {
    let words = (bytes / 8).next_multiple_of(1024).max(1024);
    let (_, mut copy) = stream::by_hand(bench, "copy", words)?;
    let has_run = Rc::new(Cell::new(false));
    let runs = has_run.clone();
    Ok(Side {
        run: Box::new(move |times| {
            runs.set(true);
            (copy.run)(times)
        }),
        results: Box::new(move || {
            Ok(if has_run.get() { expected.clone() } else { Values::U32(Vec::new()) })
        }),
        counted: None,
    })
}

/// A call that makes its results: those of the last one are told.
pub fn returning<R: 'static>(
    bench: &Bench,
    mut call: impl FnMut(&Queue) -> folio::Result<R> + 'static,
    tell: impl Fn(&R) -> Result<Values> + 'static,
) -> Side {
    let (q, last) = (bench.q.clone(), Rc::new(RefCell::new(None)));
    let told = last.clone();
    Side {
        run: Box::new(move |times| {
            for _ in 0..times {
                *last.borrow_mut() = Some(call(&q)?);
            }
            Ok(q.wait()?)
        }),
        results: Box::new(move || {
            told.borrow().as_ref().map_or_else(|| Ok(Values::U32(Vec::new())), &tell)
        }),
        counted: None,
    }
}

fn call(bench: &Bench, Case { mode, size: n }: Case) -> Result<Call> {
    match mode {
        "sum f32" | "three sums" => sums(bench, mode, n),
        "scan f32" | "map, scan, map" => scans(bench, mode, n),
        "scan u32" => {
            let x = bench.words(n, 1);
            let expected = scanned(&x, 0, u32::wrapping_add).into();
            let (x, y) = (bench.buffer([n], &x)?, bench.buffer([n], &vec![0u32; n])?);
            let out = y.clone();
            let ours = bench.ours(&out, move |q| algorithms::inclusive_scan(q, Add, &x, &y));
            Ok(Call { bytes: 8 * n, ours, expected })
        }
        "sort f32" => sorted(bench, bench.floats(n, 1), f32::total_cmp),
        "sort u64" => sorted(bench, long_words(bench.seed, n), u64::cmp),
        "sort by key" | "sort order" => orders(bench, mode, n),
        "compact" => compacted(bench, n),
        "segmented sum" => segments(bench, n),
        "histogram" => counted(bench, n),
        "unique" => uniques(bench, n),
        "permute" => permuted(bench, n),
        _ => gathered(bench, n),
    }
}

fn sums(bench: &Bench, mode: &str, n: usize) -> Result<Call> {
    let values = bench.floats(n, 1);
    let x = bench.buffer([n], &values)?;
    if mode == "sum f32" {
        let sum: f64 = values.iter().map(|x| f64::from(*x)).sum();
        let work = move |q: &Queue| algorithms::reduce(q, Add, &x);
        let ours = returning(bench, work, |sum| Ok(sum.to_vec()?.into()));
        return Ok(Call { bytes: 4 * n, ours, expected: vec![sum as f32].into() });
    }
    let size = |x: &f32| f64::from((x - 1.0).abs());
    let mean = |total: f64| (total / n as f64) as f32;
    let expected = vec![
        values.iter().map(size).fold(0.0, f64::max) as f32,
        mean(values.iter().map(size).sum()),
        mean(values.iter().map(size).map(|x| x * x).sum()),
    ];
    let all =
        [bench.buffer([1], &[0.0f32])?, bench.buffer([1], &[0.0])?, bench.buffer([1], &[0.0])?];
    let work = move |q: &Queue| {
        q.run(n, moments(&x, &all[0], &all[1], &all[2]))?;
        Ok(all.clone())
    };
    let ours = returning(bench, work, move |all| {
        let [most, sum, square] = all.each_ref().map(|one| one.get(0));
        Ok(vec![most?, sum? / n as f32, square? / n as f32].into())
    });
    Ok(Call { bytes: 4 * n, ours, expected: expected.into() })
}

/// For each element, all up to it as one.
fn scanned<T: Copy, U: Copy>(x: &[T], zero: U, add: impl Fn(U, T) -> U) -> Vec<U> {
    let next = |sum: &mut U, x: &T| {
        *sum = add(*sum, *x);
        Some(*sum)
    };
    x.iter().scan(zero, next).collect()
}

fn scans(bench: &Bench, mode: &str, n: usize) -> Result<Call> {
    let values = bench.floats(n, 1);
    let (x, y) = (bench.buffer([n], &values)?, bench.buffer([n], &vec![0.0f32; n])?);
    let out = y.clone();
    if mode == "scan f32" {
        let sums = scanned(&values, 0.0f64, |sum, x| sum + f64::from(x));
        let ours = bench.ours(&out, move |q| algorithms::inclusive_scan(q, Add, &x, &y));
        return Ok(Call { bytes: 8 * n, ours, expected: narrow(sums) });
    }
    let sums = scanned(&values, 0.0f64, |sum, x| sum + 0.5 * f64::from(x) + 0.25);
    let [before, after] =
        [[0.5, 0.25], [0.25, 1.0]].map(|[factor, offset]| Line { factor, offset });
    let ours =
        bench.ours(&out, move |q| algorithms::mapped_inclusive_scan(q, before, Add, after, &x, &y));
    let expected = narrow(sums.into_iter().map(|sum| sum * 0.25 + 1.0).collect());
    Ok(Call { bytes: 8 * n, ours, expected })
}

fn narrow(values: Vec<f64>) -> Values {
    values.into_iter().map(|value| value as f32).collect::<Vec<_>>().into()
}

/// A sort of a copy: a sort has its keys where they are.
fn sorted<K>(bench: &Bench, keys: Vec<K>, order: impl Fn(&K, &K) -> Ordering + Sync) -> Result<Call>
where
    K: algorithms::Key,
    Values: From<Vec<K>>,
{
    let n = keys.len();
    let (x, y) = (bench.buffer([n], &keys)?, bench.buffer([n], &keys)?);
    let out = y.clone();
    let ours = bench.ours(&out, move |q| {
        q.copy(&x, &y)?;
        algorithms::sort(q, Direction::Ascending, &y)
    });
    let mut keys = keys;
    keys.par_sort_unstable_by(order);
    Ok(Call { bytes: 2 * size_of::<K>() * n, ours, expected: keys.into() })
}

fn orders(bench: &Bench, mode: &str, n: usize) -> Result<Call> {
    let (keys, values) = (bench.words(n, 1), bench.words(n, 2));
    let mut order: Vec<u32> = (0..n as u32).collect();
    order.par_sort_by_key(|at| keys[*at as usize]);
    let x = bench.buffer([n], &keys)?;
    if mode == "sort order" {
        let work = move |q: &Queue| algorithms::sort_order(q, Direction::Ascending, &x);
        let ours = returning(bench, work, |order| Ok(order.to_vec()?.into()));
        return Ok(Call { bytes: 8 * n, ours, expected: order.into() });
    }
    let expected: Vec<u32> = order.iter().map(|at| values[*at as usize]).collect();
    let v = bench.buffer([n], &values)?;
    let (keys, values) = (bench.buffer([n], &keys)?, bench.buffer([n], &values)?);
    let out = values.clone();
    let ours = bench.ours(&out, move |q| {
        q.copy(&x, &keys)?;
        q.copy(&v, &values)?;
        algorithms::sort_by_key(q, Direction::Ascending, &keys, &values)
    });
    Ok(Call { bytes: 16 * n, ours, expected: expected.into() })
}

/// Elements of a segment.
const SEGMENT: usize = 1000;

fn segments(bench: &Bench, n: usize) -> Result<Call> {
    let values = bench.floats(n, 1);
    let ends = (0..n as u32).step_by(SEGMENT).chain([n as u32]);
    let ends: Vec<u32> = ends.collect();
    let sum = |part: &[f32]| part.iter().map(|x| f64::from(*x)).sum::<f64>() as f32;
    let expected: Vec<f32> = values.chunks(SEGMENT).map(sum).collect();
    let (x, offsets) = (bench.buffer([n], &values)?, bench.buffer([ends.len()], &ends)?);
    let y = bench.buffer([expected.len()], &vec![0.0f32; expected.len()])?;
    let out = y.clone();
    let ours = bench.ours(&out, move |q| algorithms::segmented_reduce(q, Add, &offsets, &x, &y));
    Ok(Call { bytes: 4 * n, ours, expected: expected.into() })
}

fn counted(bench: &Bench, n: usize) -> Result<Call> {
    let values: Vec<u32> = bench.words(n, 1).into_iter().map(|word| word % 256).collect();
    let mut expected = vec![0u32; 256];
    values.iter().for_each(|value| expected[*value as usize] += 1);
    let x = bench.buffer([n], &values)?;
    let work = move |q: &Queue| algorithms::bincount(q, &x, 256);
    let ours = returning(bench, work, |bins| Ok(bins.to_vec()?.into()));
    Ok(Call { bytes: 4 * n, ours, expected: expected.into() })
}

/// Of equal neighbours the first: three quarters of the elements.
fn uniques(bench: &Bench, n: usize) -> Result<Call> {
    let values: Vec<u32> = bench.words(n, 1).into_iter().map(|word| word >> 30).collect();
    let mut expected = values.clone();
    expected.dedup();
    let x = bench.buffer([n], &values)?;
    let ours = returning(bench, move |q: &Queue| algorithms::unique(q, &x), beginning);
    Ok(Call { bytes: 7 * n, ours, expected: expected.into() })
}

/// The elements that a call has kept.
fn beginning<T: DeviceType>((y, count): &(Buffer<T>, Buffer<u64>)) -> Result<Values>
where
    Values: From<Vec<T>>,
{
    let mut values = y.to_vec()?;
    values.truncate(count.get(0)? as usize);
    Ok(values.into())
}

/// Planes of 512 by 512, whose last axis becomes the first.
fn permuted(bench: &Bench, n: usize) -> Result<Call> {
    const SIDE: usize = 512;
    let (values, planes) = (bench.floats(n, 1), n / (SIDE * SIDE));
    let place = |at: usize| {
        let (a, b, c) = (at / (planes * SIDE), at / SIDE % planes, at % SIDE);
        (b * SIDE + c) * SIDE + a
    };
    let expected: Vec<f32> = (0..n).map(|at| values[place(at)]).collect();
    let x = bench.buffer([planes, SIDE, SIDE], &values)?;
    let y = bench.buffer([SIDE, planes, SIDE], &vec![0.0f32; n])?;
    let out = y.clone();
    let ours = bench.ours(&out, move |q| algorithms::permute(q, [2, 0, 1], &x, &y));
    Ok(Call { bytes: 8 * n, ours, expected: expected.into() })
}

/// About half of the elements.
fn compacted(bench: &Bench, n: usize) -> Result<Call> {
    let values = bench.floats(n, 1);
    let flags: Vec<u32> = bench.words(n, 2).into_iter().map(|word| word & 1).collect();
    let chosen = values.iter().zip(&flags).filter(|(_, flag)| **flag == 1).map(|(x, _)| *x);
    let chosen: Vec<f32> = chosen.collect();
    let (x, keep) = (bench.buffer([n], &values)?, bench.buffer([n], &flags)?);
    let ours = returning(bench, move |q: &Queue| algorithms::compact(q, &x, &keep), beginning);
    Ok(Call { bytes: 10 * n, ours, expected: chosen.into() })
}

fn gathered(bench: &Bench, n: usize) -> Result<Call> {
    let at: Vec<u32> = bench.words(n, 1).into_iter().map(|word| word % n as u32).collect();
    let values = bench.floats(n, 2);
    let expected: Vec<f32> = at.iter().map(|at| values[*at as usize]).collect();
    let (at, x) = (bench.buffer([n], &at)?, bench.buffer([n], &values)?);
    let y = bench.buffer([n], &vec![0.0f32; n])?;
    let out = y.clone();
    let ours = bench.ours(&out, move |q| algorithms::gather(q, &at, &x, &y));
    Ok(Call { bytes: 12 * n, ours, expected: expected.into() })
}
